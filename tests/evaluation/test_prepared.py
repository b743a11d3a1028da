"""Prepared metrics: the numbers of `evaluate`, bit for bit, for many calls with new scores."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank.metrics import alpha_ndcg_score, dcg_score, ndcg_score
from sklearn_rank.results import PreparedMetrics
from sklearn_rank.stats import compare

FIVE = ["ndcg@10", "map", "mrr", "p@5", "err@20"]
INF = float("inf")


def rows(n_rows=60, n_queries=6, seed=0, *, grouped=False):
    """Labels, scores with ties, and ids."""
    rng = np.random.default_rng(seed)
    qid = rng.integers(0, n_queries, n_rows)
    qid = np.sort(qid) if grouped else qid
    return rng.integers(0, 4, n_rows) * 1.0, rng.integers(0, 2 * n_rows, n_rows) / 7, qid


# --- the same numbers ----------------------------------------------------------------------------------------


def test_a_call_forgets_the_ties_of_the_previous_call():
    """Arrays are reused, also for longer lists: a tie block at the cutoff makes a list longer."""
    y_true, qid = np.arange(8.0) % 3, np.arange(8) // 4
    metrics = ["ndcg@2", "map@2", "err@2", "mrr@2", "rbp@2"]
    prepared = prepare(y_true, qid=qid, metrics=metrics)
    tied, untied = np.array([1.0, 0, 0, 0, 0, 0, 0, 1]), np.array([1.0, 2, 3, 4, 4, 3, 2, 1])
    for scores in (untied, tied, untied, -untied, tied, -tied, untied):
        assert prepared(scores) == evaluate(y_true, scores, qid=qid, metrics=metrics).mean()


def test_matrices_masks_and_subtopics():
    y_true, y_score, _ = rows(48)
    matrix, scores = y_true.reshape(6, 8), y_score.reshape(6, 8).copy()
    mask = np.arange(8) < np.arange(3, 9)[:, None]
    for given in ({}, {"mask": mask}, {"qid": list("abcdef")}, {"sample_weight": np.arange(6.0)}):
        prepared = prepare(matrix, metrics=FIVE, **given)
        assert prepared(scores) == evaluate(matrix, scores, metrics=FIVE, **given).mean()
    scores[~mask] = np.nan  # not read
    assert prepare(matrix, metrics=FIVE, mask=mask)(scores) == evaluate(matrix, scores, metrics=FIVE, mask=mask).mean()
    by_topic, qid = (y_true.reshape(24, 2) > 1).astype(int), np.arange(24) % 5
    prepared = prepare(by_topic, qid=qid, metrics="alpha_ndcg@5")
    assert [prepared(y_score[:24]) for _ in range(2)] == [alpha_ndcg_score(by_topic, y_score[:24], qid=qid, k=5)] * 2
    kept = np.arange(24) % 3 > 0
    given = {"qid": qid, "mask": kept, "metrics": FIVE}
    assert prepare(y_true[:24], **given)(y_score[:24]) == evaluate(y_true[:24], y_score[:24], **given).mean()


def test_means_have_the_bits_of_numpy():
    """Python adds few queries, NumPy many; the mean of one query is its value for any weight."""
    for n_queries in range(1, 40):
        y_true, y_score, _ = rows(5 * n_queries, seed=n_queries)
        qid = np.arange(5 * n_queries) // 5
        for weight in (None, np.arange(1.0, n_queries + 1) ** 2):
            given, values = {"qid": qid}, dcg_score(y_true, y_score, qid=qid, average=None)
            expected = np.add.reduce(values) / n_queries
            if weight is not None:
                given["sample_weight"], expected = weight[qid], np.add.reduce(weight * values) / weight.sum()
            assert prepare(y_true, metrics="dcg", **given)(y_score) == dcg_score(y_true, y_score, **given) == expected
    one = {"qid": [0] * 3, "k": 2}
    assert ndcg_score([0, 2, 1], [3, 2, 1], **one, sample_weight=[5] * 3) == ndcg_score([0, 2, 1], [3, 2, 1], **one)


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_prepared_many_rows(n_jobs):
    """In blocks and on threads."""
    y_true, y_score, qid = rows(300_000, 40_000)
    more = {"qid": qid, "metrics": ["ndcg@10", "map", "auc"], "n_jobs": n_jobs}
    prepared = prepare(y_true, **more)
    for scores in (y_score, -y_score, y_score.astype(np.float32)):
        assert prepared(scores) == evaluate(y_true, scores, **more).mean()
    y_score[-1000:] = -INF  # in the last block
    assert prepared(y_score) == evaluate(y_true, y_score, **more).mean()
    y_score[-1] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        prepared(y_score)


def test_results():
    y_true, y_score, qid = rows()
    prepared = prepare(y_true, qid=qid, metrics=FIVE, sample_weight=qid + 1.0)
    a, b = prepared.evaluate(y_score), evaluate(y_true, y_score, qid=qid, metrics=FIVE, sample_weight=qid + 1.0)
    assert (a.mean(), a.n_undefined, a.n_tied, a.meaning) == (b.mean(), b.n_undefined, b.n_tied, b.meaning)
    for name in ("qid", "weight", "n_documents", "label_fingerprints"):
        assert_array_equal(getattr(a, name), getattr(b, name))
    assert str(a.tie_range()) == str(b.tie_range())
    unweighted = prepare(y_true, qid=qid, metrics="map")
    assert 0 <= compare(unweighted.evaluate(y_score), unweighted.evaluate(-y_score)).pvalue <= 1
    assert isinstance(prepared, PreparedMetrics)
    assert prepared.names == FIVE
    assert repr(prepared) == "PreparedMetrics of ndcg@10, map, mrr, p@5, err@20 for 6 queries"


# --- errors and later changes ------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", [{0: 0.0, 1: 1.0, 2: 3.0, 3: 7.0, 4: 15.0}, [0.0, 1, 3, 7, 15]], ids=["dict", "list"])
@pytest.mark.parametrize("parsed", [False, True])
def test_later_changes_of_tables_and_results_have_no_effect(table, parsed):
    """Even if the metrics are bound again."""
    y_true, y_score, qid = rows(grouped=True)
    table = copy.copy(table)
    metrics, keywords = (parse_metric("dcg", gain=table), {}) if parsed else ("dcg", {"gain": table})
    prepared = prepare(y_true, qid=qid, metrics=metrics, sample_weight=qid + 1.0, **keywords)
    before = prepared(y_score)
    result = prepared.evaluate(y_score)
    table[1] = 100.0
    with pytest.raises(ValueError, match="read-only"):
        result.qid[:] = -1
    for one in (prepared, pickle.loads(pickle.dumps(prepared))):
        assert one(y_score) == before
        assert list(one.evaluate(y_score).mean().values()) == [before]
        assert one.evaluate(y_score).qid.min() >= 0


@pytest.mark.parametrize(
    ("y_score", "match"),
    [
        (np.zeros(59), r"one score for each label that was prepared, so shape \(60,\). Got shape \(59,\)"),
        (np.zeros((60, 3)), r"\[prepared\(column\) for column in y_score.T\]"),
        (np.zeros((6, 10)), r"Got shape \(6, 10\) instead\. Call prepare again"),
        (np.zeros(61), r"Got shape \(61,\) instead\. Call prepare again"),
        (np.r_[np.zeros(7), np.nan, np.zeros(52)], "must not contain NaN or .inf .* Got nan in row 7"),
        (np.r_[np.zeros(3), INF, np.nan, np.zeros(55)], "Got inf in row 3"),
        ([], "Got shape"),
    ],
    ids=["short", "systems", "matrix", "long", "nan", "inf", "empty"],
)
def test_invalid_prepared_scores(y_score, match):
    """The error names the row of the input for any order of queries; the next call works."""
    y_true, good, qid = rows()
    prepared = prepare(y_true, qid=qid, metrics="map")
    with pytest.raises(ValueError, match=match):
        prepared(y_score)
    with pytest.raises(ValueError, match=match):
        prepared.evaluate(y_score)
    assert prepared(good) == evaluate(y_true, good, qid=qid, metrics="map").mean()["map"]
    with pytest.raises(TypeError, match="y_score must hold real numbers"):
        prepared(["a"] * 60)


def test_the_row_of_a_bad_score_under_a_mask():
    y_true, y_score, qid = rows()
    prepared = prepare(y_true, qid=qid, metrics="map", mask=np.arange(60) % 2 == 0)
    y_score[[3, 8]] = np.nan
    with pytest.raises(ValueError, match="in row 8"):
        prepared(y_score)
    matrix = prepare(y_true.reshape(6, 10), metrics="map")
    for position, row in ((3, 0), (39, 3), (59, 5)):
        scores = np.zeros(60)
        scores[position] = np.nan
        with pytest.raises(ValueError, match=f"in row {row}"):
            matrix(scores.reshape(6, 10))


def test_pointwise_metrics_need_finite_predictions():
    y_true, y_score, qid = rows()
    prepared = prepare(y_true, qid=qid, metrics="rmse")
    before = prepared(y_score)
    absent = y_score.copy()
    absent[[9, 50]] = -INF
    with pytest.raises(ValueError, match="Got -inf in row 9"):
        prepared(absent)
    assert prepared(y_score) == before


def test_prepared_rejects_other_row_labels():
    y_true, y_score, qid = rows(grouped=True)
    index = pd.MultiIndex.from_arrays([qid, np.arange(60)], names=["qid", "doc"])
    labels, scores = pd.Series(y_true, index), pd.Series(y_score, index)
    prepared, expected = prepare(labels, metrics="map"), evaluate(labels, scores, metrics="map").mean()["map"]
    assert prepared(scores) == prepared(y_score) == expected
    for wrong in (scores[::-1], scores.reset_index(drop=True).sample(frac=1, random_state=0)):
        with pytest.raises(ValueError, match="must have the same index"):
            prepared(wrong)
        with pytest.raises(ValueError, match="must have the same index"):
            evaluate(labels, wrong, metrics="map")
    by_qid = prepare(y_true, qid=qid, metrics="map")
    with pytest.raises(ValueError, match="must name the same queries"):
        by_qid(pd.Series(y_score, pd.Index(np.roll(qid, 3), name="qid")))
    assert by_qid(pd.Series(y_score, pd.Index(qid, name="qid"))) == expected
    mask = np.arange(60) % 5 > 0
    masked = prepare(y_true, qid=qid, metrics="map", mask=mask)
    other = np.where(mask, qid, 99)  # for rows that are not read
    assert masked(pd.Series(y_score, pd.Index(other, name="qid"))) == masked(y_score)
    frame = pd.DataFrame(y_true.reshape(6, 10))
    with pytest.raises(ValueError, match="columns of y_true and y_score are documents"):
        prepare(frame, metrics="map")(frame[frame.columns[::-1]])
    by_name, other = pd.Index(list("abcdef"), name="qid"), pd.Index(list("bacdef"), name="qid")
    for given in ({}, {"mask": np.arange(60).reshape(6, 10) % 5 > 0}):
        matrix = prepare(frame.to_numpy(), qid=by_name.to_numpy(), metrics="map", **given)
        scores_of = y_score.reshape(6, 10)
        assert matrix(pd.DataFrame(scores_of, by_name)) == matrix(scores_of)
        with pytest.raises(ValueError, match="index of y_score must name the same queries"):
            matrix(pd.DataFrame(scores_of, other))
    of_rows = prepare(labels.to_frame("label"), metrics="map")
    assert of_rows(scores.to_frame("score")) == expected  # a column is not a document


@pytest.mark.parametrize("name", ["y_true", "qid", "sample_weight"])
def test_any_argument_may_have_the_labels_of_the_rows(name):
    y_true, y_score, qid = rows(grouped=True)
    given = {"y_true": y_true, "qid": qid, "sample_weight": qid + 1.0}
    index = np.arange(100, 160)
    prepared = prepare(**given | {name: pd.Series(given[name], index)}, metrics="map")
    assert prepared(pd.Series(y_score, index)) == prepare(**given, metrics="map")(y_score)
    with pytest.raises(ValueError, match=f"{name} and y_score must have the same index"):
        prepared(pd.Series(y_score, index[::-1]))


def test_a_mask_may_have_the_labels_of_the_rows():
    y_true, y_score, qid = rows(grouped=True)
    index, kept = np.arange(100, 160), np.arange(60) % 3 > 0
    prepared = prepare(y_true, qid=qid, mask=pd.Series(kept, index), metrics="map")
    assert prepared(pd.Series(y_score, index)) == prepare(y_true, qid=qid, mask=kept, metrics="map")(y_score)
    with pytest.raises(ValueError, match="mask and y_score must have the same index"):
        prepared(pd.Series(y_score, index[::-1]))


def test_later_changes_of_ids_have_no_effect():
    ids = np.array([7, 8])
    prepared = prepare(np.array([[0.0, 1], [1, 0]]), qid=ids, metrics="mrr")
    ids[:] = 0
    assert prepared.evaluate([[2, 1], [2, 1]]).qid.tolist() == [7, 8]


def test_prepare_errors():
    from scipy.sparse import csr_matrix

    with pytest.raises(TypeError, match="labels to evaluate"):
        prepare(csr_matrix(np.eye(3)), metrics="map")
    with pytest.raises(ValueError, match="the query of each row must be known"):
        prepare([1, 0], metrics="map")
    with pytest.raises(TypeError, match="prepare has no keyword 'gian'"):
        prepare([1, 0], qid=[0, 0], metrics="map", gian=1)
    with pytest.raises(ValueError, match="must not be below 0. Got -1, the first in row 1"):
        prepare([0, -1, 1], qid=[1, 0, 1], metrics="ndcg")
    with pytest.raises(TypeError, match="needs y_true"):
        prepare(metrics="map")
    with pytest.raises(ValueError, match="'n_jobs' parameter"):
        prepare([1, 0], qid=[0, 0], metrics="map", n_jobs=0)


def test_unretrieved_documents_shorten_lists_of_few_rows():
    """Two of three are relevant in "a"; of "b" two documents are retrieved, one of them relevant: (2/3 + 1/2) / 2."""
    label, score, qid = [2, 0, 1, 0, 3, 1], [3, 2, 1, 6, -INF, 5], [*"aaabbb"]
    several = ["precision", "f1", "acg", "ranking_loss", "relevance_position"]
    assert prepare(label, metrics="precision", qid=qid)(score) == pytest.approx(7 / 12)
    assert prepare(label, metrics=several, qid=qid)(score) == evaluate(label, score, qid=qid, metrics=several).mean()


def test_overflow_warns_like_evaluate():
    """Each value is finite, but their sum is not."""
    y, qid = [1.5e308, 1.5e308], [1, 2]

    def outcome(call):
        try:
            return call()
        except ValueError as error:
            return str(error)

    expected = outcome(lambda: evaluate(y, [1, 1], qid=qid, metrics="cg").mean())
    assert outcome(lambda: prepare(y, qid=qid, metrics="cg")([1.0, 1.0])) == expected


def test_labels_of_subtopics_with_a_metric_of_one_label():
    labels, qid = np.ones((4, 2)), [1, 1, 2, 2]
    prepared = prepare(labels, metrics=["alpha_ndcg", "err_ia"], qid=qid)
    assert prepared([1, 2, 2, 1]) == evaluate(labels, [1, 2, 2, 1], metrics=["alpha_ndcg", "err_ia"], qid=qid).mean()
    with pytest.raises(ValueError, match="map.* takes one label per document"):
        prepare(labels, metrics=["alpha_ndcg", "map"], qid=qid)
