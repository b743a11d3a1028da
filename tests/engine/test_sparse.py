"""Sparse judgments and scores, as in recommenders, equal dense ones with -inf for missing scores."""

import numpy as np
import pytest
from registry import METRICS, each, labels_of, policies, tie_policy
from scipy import sparse

from sklearn_rank import evaluate
from sklearn_rank._engine.queries import DocumentsWithoutRow
from sklearn_rank.retrieval import score_neighbors

SHAPE = N_QUERIES, N_DOCUMENTS = 12, 30


def judged(metric, rng):
    high = min(int(labels_of(metric)[-1]), 3)
    return rng.integers(0, high + 1, SHAPE) * (rng.random(SHAPE) < 0.3) * 1.0


def scored(rng):
    """Scores with ties and zeros, lists of any length, and an empty list."""
    score = np.where(rng.random(SHAPE) < rng.random((N_QUERIES, 1)), rng.integers(-1, 3, SHAPE), -np.inf)
    score[3] = -np.inf
    return score


def as_sparse(score, kind=sparse.csr_array):
    query, document = np.nonzero(score > -np.inf)
    return kind((score[query, document], (query, document)), shape=score.shape)


@each(METRICS)
def test_same_as_dense(metric, rng):
    label, score = judged(metric, rng), scored(rng)
    names = [metric.name, *(f"{metric.name}@{k}" for k in (1, 4, 50) if metric.has_cutoff)]
    for ties in [p for p in policies(metric) if p != "average" or not tie_policy(metric)] or [None]:
        options = {} if ties is None else {"ties": ties}
        pairs = [(score, sparse.csr_matrix(label), score), (score, label, as_sparse(score, sparse.csc_array))]
        for dense, y_true, y_score in [*pairs, (score, sparse.coo_array(label), as_sparse(score))]:
            if metric.pointwise:
                dense = np.where(dense > -np.inf, dense, 0.0)
                y_score = dense if isinstance(y_score, np.ndarray) else as_sparse(dense)
            expected = evaluate(label, dense, metrics=names, **options)
            for wanted in (names, *([name] for name in names)):
                found = evaluate(y_true, y_score, metrics=wanted, **options)
                for name in wanted:
                    np.testing.assert_allclose(found.per_query[name], expected.per_query[name], rtol=1e-12, atol=1e-12)
                    assert found.n_undefined[name] == expected.n_undefined[name]


def test_tie_range_weights_and_threads(rng):
    label, score, weight = rng.integers(0, 3, SHAPE), scored(rng), rng.random(N_QUERIES)
    names = ["ndcg@5", "map", "auc"]
    expected = evaluate(label, score, metrics=names, sample_weight=weight)
    found = evaluate(sparse.csr_array(label), as_sparse(score), metrics=names, sample_weight=weight, n_jobs=2)
    assert found.mean() == pytest.approx(expected.mean(), abs=1e-12)
    assert found.n_tied == expected.n_tied
    for ours, theirs in zip(found.tie_range().rows, expected.tie_range().rows, strict=True):
        assert ours[1:] == pytest.approx(theirs[1:], abs=1e-12)


def test_explicit_zeros_are_retrieved_and_minus_infinity_is_not():
    label = sparse.csr_array([[1, 0, 0]])
    score = sparse.csr_array(([0.0, -np.inf], ([0, 0], [1, 0])), shape=(1, 3))
    assert score.nnz == 2
    assert evaluate(label, score, metrics=["mrr", "judged@1"]).mean() == {"mrr": 0.0, "judged@1": 1.0}


def test_unjudged_documents(rng):
    label = np.where(rng.random(SHAPE) < 0.2, np.nan, rng.integers(0, 2, SHAPE))
    score = scored(rng)
    for name in (
        "bpref",
        "judged@3",
        "ndcg(unjudged=nonrelevant)@5",
        "ndcg(unjudged=drop)@5",
        "fallout(unjudged=drop)",
    ):
        expected = evaluate(label, score, metrics=name).per_query[name]
        found = evaluate(sparse.csr_array(label), as_sparse(score), metrics=name).per_query[name]
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-12)


def test_many_documents_are_not_made_dense(rng):
    """A dense matrix would have 10**13 entries."""
    n_users, n_items = 100_000, 100_000_000
    items, users = rng.integers(0, n_items, (n_users, 10)), np.repeat(np.arange(n_users), 10)
    falling = np.tile(np.arange(10.0, 0, -1), n_users)
    scores = sparse.csr_array((falling, (users, items.ravel())), shape=(n_users, n_items))
    liked = scores.copy()
    result = evaluate(liked, scores, metrics=["recall@10", "ndcg@5", "map", "mrr"], min_relevance=0.5)
    assert result.mean() == pytest.approx(dict.fromkeys(["recall@10", "ndcg@5", "map", "mrr"], 1.0))


LISTED = ["recall@2", "ndcg@2", "mrr", "map", "auc"]


@pytest.mark.parametrize(
    ("lists", "scores"),
    [
        ([[4, 0, -1], [1, 2, 3]], [[2, 0, 0, 0, 3], [0, 3, 2, 1, 0]]),
        ([[4, 0], [], [1]], [[1, 0, 0, 0, 2], [0] * 5, [0, 2, 0, 0, 0]]),
        ([[4.0, np.nan]], [[0, 0, 0, 0, 1]]),
        (np.ma.masked_array([[4, 0], [3, 1]], mask=[[0, 1], [0, 0]]), [[0, 0, 0, 0, 2], [0, 1, 0, 2, 0]]),
    ],
)
def test_lists_of_items_equal_rows_of_a_sparse_matrix(rng, lists, scores):
    liked = sparse.csr_array(rng.integers(0, 2, (len(scores), 5)))
    found = score_neighbors(None, lists, relevance=liked, metrics=LISTED).per_query
    expected = evaluate(liked, sparse.csr_array(scores), metrics=LISTED).per_query
    assert {name: found[name].tolist() for name in found} == {name: expected[name].tolist() for name in expected}


@pytest.mark.parametrize(
    ("indices", "error", "message"),
    [
        ([[1, 1]], ValueError, r"in a list once. Got 1 twice in row 0 of indices"),
        ([[0, 1], [5, 1]], ValueError, r"from 0 to 4, or -1 for none. Got 5 in row 1"),
        ([[0.5]], TypeError, "must be whole numbers"),
    ],
)
def test_errors_about_lists(indices, error, message):
    with pytest.raises(error, match=message):
        score_neighbors(None, indices, relevance=sparse.csr_array(np.ones((len(indices), 5))))


ONE = sparse.csr_array([[1.0, 0.0, 2.0]])
ONE_OF_TWO = sparse.csr_array(np.array([[1.0, 0], [2, np.inf]]))


@pytest.mark.parametrize(
    ("y_true", "y_score", "options", "error", "message"),
    [
        (ONE, sparse.csr_array((1, 4)), {}, ValueError, r"must have the same shape. Got \(1, 3\) and \(1, 4\)"),
        (ONE, [1, 2, 3], {}, ValueError, r"must have the same shape. Got \(1, 3\) and \(3,\)"),
        (ONE, ONE, {"tie_break": [[1, 2, 3]]}, ValueError, r"tie_break must be None"),
        (ONE, ONE, {"sample_weight": [1, 1]}, ValueError, r"one entry per query \(1\)"),
        (ONE, ONE, {"n_jobs": 0}, ValueError, r"'n_jobs' parameter"),
        (ONE * np.inf, ONE, {}, ValueError, r"y_true must be finite. Got an infinite entry in row 0"),
        (ONE_OF_TWO, ONE_OF_TWO, {}, ValueError, r"y_true must be finite. Got an infinite entry in row 1"),
        (sparse.csr_array(np.eye(2)), ONE_OF_TWO, {}, ValueError, r"Got inf in row 1"),
        (ONE, ONE * np.inf, {}, ValueError, r"y_score must not contain NaN or \+inf .* Got inf in row 0"),
        (ONE, [[np.nan, 1, 2]], {}, ValueError, r"y_score must not contain NaN or \+inf .* Got nan in row 0"),
        (ONE, [["a", "b", "c"]], {}, TypeError, r"y_score must hold real numbers. Got list of dtype"),
        (ONE * 1j, ONE, {}, TypeError, r"y_true must hold real numbers. Got dtype complex128"),
        (sparse.csr_array((0, 3)), sparse.csr_array((0, 3)), {}, ValueError, r"At least one row and one column"),
        (ONE * -1, ONE, {"metrics": "ndcg@2"}, ValueError, r"must not be below 0. Got -2, the first in row 0"),
        (ONE, ONE, {"metrics": "mse"}, ValueError, r"every y_score must be finite. Got -inf in row 0"),
    ],
)
def test_sparse_errors(y_true, y_score, options, error, message):
    with pytest.raises(error, match=message), np.errstate(invalid="ignore"):
        evaluate(
            y_true, y_score, **{"metrics": "map", **({"ties": "stable"} if "tie_break" in options else {}), **options}
        )


@pytest.mark.parametrize("min_relevance", [0, -1, 0.5])
def test_documents_without_an_entry_count_if_label_0_is_relevant(min_relevance):
    """Including documents below the cutoff and documents without label and score."""
    label, score = np.zeros((3, 6)), np.full((3, 6), -np.inf)
    label[0, 2], label[1, 0], score[:, :3] = 2, 1, [[3, 2, 1]]
    names = ["recall@2", "map@2", "rprec@1", "p@2", "ndcg(gain=binary)@5", "alpha_ndcg@5"]  # with an ideal list
    given = {"metrics": names, "min_relevance": min_relevance}
    found = evaluate(sparse.csr_array(label), as_sparse(score), **given)
    assert found.mean() == evaluate(label, score, **given).mean()


def test_labels_of_documents_without_a_score_are_checked():
    scores = sparse.csr_array([[2.0, 0.0], [0.0, 1.0]])
    with pytest.raises(ValueError, match="must not be below 0. Got -1"):
        evaluate(sparse.csr_array([[0.0, -1.0], [0.0, 0.0]]), scores, metrics="ndcg@1")


def test_no_column():
    with pytest.raises(ValueError, match=r"At least one row and one column are needed. Got shape \(3, 0\)"):
        evaluate(sparse.csr_array((3, 0)), np.empty((3, 0)), metrics="map")


def test_duplicate_entries_stay_in_the_input():
    judged = sparse.csr_array(([1.0, 1.0, 0.0, 1.0], [1, 1, 0, 0], [0, 3, 4]), shape=(2, 2))
    scores = sparse.csr_array(([0.5, 2.0, 0.5, 1.0, 2.0], [1, 0, 1, 0, 1], [0, 3, 5]), shape=(2, 2))
    arrays = [x for matrix in (judged, scores) for x in (matrix.data, matrix.indices, matrix.indptr)]
    before = [x.tolist() for x in arrays]
    result = evaluate(judged, scores, metrics="cg@1")
    assert result.per_query["cg@1"].tolist() == [0, 0]
    assert [x.tolist() for x in arrays] == before


def test_labels_without_a_row_that_have_no_judgment():
    ones = np.ones(3, dtype=np.int64)
    rows = DocumentsWithoutRow.groups(ones * 0, np.array([1.0, np.nan, 2.0]), ones, 1, depth=9, ranked=False)
    assert rows.read_unjudged("drop").label.tolist() == [1, 2]
    assert rows.read_unjudged("nonrelevant").label.tolist() == [1, 0, 2]


def test_sparse_scores_without_entries():
    y_true = sparse.csr_array([[0.5, 1.0], [2.0, 0.0]])
    result = evaluate(y_true, sparse.csr_array((2, 2)), metrics=["ndcg@10", "recall"])
    assert result.mean() == {"ndcg@10": 0, "recall": 0}


def test_ids_of_the_rows_of_sparse_matrices():
    label, score = sparse.csr_array([[1, 0, 0], [0, 1, 0]]), sparse.csr_array([[0.5, 0.4, 0], [0.6, 0.4, 0.1]])
    for scores in (score, score.toarray()):
        result = evaluate(label, scores, qid=["u", "v"], metrics="mrr")
        assert dict(zip(result.qid.tolist(), result.per_query["mrr"].tolist(), strict=True)) == {"u": 1, "v": 0.5}
    with pytest.raises(ValueError, match="each row is a query and qid must be None or have one id for each row"):
        evaluate(label, score, qid=["u", "v", "w"], metrics="mrr")
