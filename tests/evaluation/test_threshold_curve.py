"""`threshold_curve`: against one evaluation for each threshold, and against all orders of tied documents."""

import numpy as np
import pytest
from oracle import orders

from sklearn_rank import evaluate
from sklearn_rank.retrieval import threshold_curve

SETS = {"precision": "set_precision", "recall": "set_recall", "f": "set_f"}


def rows(seed, n_levels=9, n_queries=40):
    rng = np.random.default_rng(seed)
    qid = rng.permutation(np.repeat(np.arange(n_queries), rng.integers(1, 8, n_queries)))
    score = rng.integers(0, n_levels, len(qid)) / 4 - 1
    score[rng.random(len(qid)) < 0.1] = -np.inf
    return rng.integers(0, 3, len(qid)) * (qid % 3 > 0), score, qid


def by_query(y, s, qid):
    return [(y[qid == q], s[qid == q]) for q in np.unique(qid)]


def check(curve, threshold, answers, n_relevant):
    """Compare a point with answers, of which each is a list of (documents, relevant ones) by order of ties."""
    at = int(np.flatnonzero(curve.threshold == threshold)[0])
    answerable = n_relevant > 0
    expected = {name: [] for name in SETS}
    for of_query, R in zip(answers, n_relevant, strict=True):
        if R:
            n, hits = np.array(of_query, dtype=float).T
            expected["precision"].append(np.mean(hits / np.maximum(n, 1)))
            expected["recall"].append(np.mean(hits / R))
            expected["f"].append(np.mean(2 * hits / (R + n)))
    for name, values in expected.items():
        assert getattr(curve, name)[at] == pytest.approx(np.mean(values), abs=1e-12)
    is_empty = np.array([of_query[0][0] == 0 for of_query in answers])
    assert curve.empty[at] == pytest.approx(is_empty[answerable].mean(), abs=1e-12)
    assert curve.answered[at] == pytest.approx((~is_empty)[~answerable].mean(), abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_each_point_is_an_evaluation_of_sets(seed):
    y, s, qid = rows(seed)
    curve = threshold_curve(y, s, qid=qid)
    assert curve.threshold.tolist() == [-np.inf, *np.unique(s[s > -np.inf])]
    answerable = np.isin(qid, qid[y >= 1])
    for i, threshold in enumerate(curve.threshold):
        values = evaluate(
            y[answerable], s[answerable], qid=qid[answerable], metrics=[*SETS.values()], threshold=float(threshold)
        ).mean()
        for name, metric in SETS.items():
            assert getattr(curve, name)[i] == pytest.approx(values[metric], abs=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 50])
@pytest.mark.parametrize("seed", range(2))
def test_each_point_is_the_mean_over_orders_of_ties(seed, k):
    y, s, qid = rows(seed, n_levels=4, n_queries=15)
    curve = threshold_curve(y, s, qid=qid, k=k)
    queries = by_query(y, s, qid)
    n_relevant = np.array([np.count_nonzero(label) for label, _ in queries])
    for threshold in curve.threshold:
        answers = []
        for label, score in queries:
            tops = [[i for i in order if score[i] > threshold][:k] for order in orders(score)]
            answers.append([(len(top), int(sum(label[i] >= 1 for i in top))) for top in tops])
        check(curve, threshold, answers, n_relevant)


def test_labels_that_are_missing():
    y, s, qid = [1, np.nan, 0, np.nan], [0.5, 0.9, 0.2, 0.8], [0, 0, 0, 1]
    filled = threshold_curve(y, s, qid=qid, unjudged="nonrelevant")
    assert filled.precision.tolist() == pytest.approx([1 / 3, 1 / 2, 0, 0, 0])
    assert filled.answered.tolist() == [1, 1, 1, 0, 0]
    dropped = threshold_curve(y, s, qid=qid, unjudged="drop")
    assert dropped.threshold.tolist() == [-np.inf, 0.2, 0.5]
    assert dropped.precision.tolist() == [0.5, 1, 0]
    assert dropped.answered.tolist() == [0, 0, 0]
    with pytest.raises(ValueError, match="y_true of threshold_curve must not contain NaN"):
        threshold_curve(y, s, qid=qid)


def test_all_queries_answerable():
    curve = threshold_curve([1, 2], [0.5, 0.9], qid=[0, 1], min_relevance=1)
    assert np.isnan(curve.answered).all()
    best = curve.threshold[curve.f.argmax()]
    assert repr(curve).startswith("ThresholdCurve of 3 thresholds\n")
    assert repr(curve).endswith(f"highest F: {curve.f.max():.4f}, of documents above {best:.4g}")
    many = threshold_curve(np.arange(40) >= 7, np.arange(40), qid=[0] * 40)
    assert (6, 1) in [(row[0], row[3]) for row in many.table.rows]
    assert [row[0] for row in curve.table.rows] == curve.threshold.tolist()
    assert np.array_equal(threshold_curve([1, 2], [0.5, 0.9], qid=[0, 1], min_relevance=2).answered, [1, 0, 0])


def test_thresholds_are_scores_of_documents_in_an_answer():
    """The second document is below the first in every answer of one document."""
    curve = threshold_curve([1, 0, 0], [0.9, 0.4, 0.6], qid=[0, 0, 1], k=1)
    assert curve.threshold.tolist() == [-np.inf, 0.6, 0.9]
    assert curve.precision.tolist() == [1, 1, 0]


@pytest.mark.filterwarnings("ignore:.*every label is 1")
@pytest.mark.parametrize("n_documents", [3, 5, 6, 7, 10])
def test_means_are_shares(n_documents, rng):
    """Sums of thirds and tenths end at 1, not above it."""
    for n_queries in range(1, 30):
        qid = np.repeat(np.arange(n_queries), n_documents)
        curve = threshold_curve(np.ones(len(qid)), rng.random(len(qid)), qid=qid)
        for name in SETS:
            values = getattr(curve, name)
            assert values.min() >= 0
            assert values.max() <= 1, name


def test_labels_are_of_documents():
    with pytest.raises(ValueError, match="threshold_curve takes one label per document"):
        threshold_curve([[1, 0], [0, 1]], [0.5, 0.9], qid=[0, 1])
    assert threshold_curve([-1, 2], [0.5, 0.9], qid=[0, 0]).recall.tolist() == [1, 1, 0]


def test_no_document_retrieved():
    curve = threshold_curve([1, 0], [-np.inf, -np.inf], qid=[0, 1])
    assert [curve.threshold.tolist(), curve.recall.tolist()] == [[-np.inf], [0]]
    assert [curve.empty.tolist(), curve.answered.tolist()] == [[1], [0]]


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"k": 0}, "'k' parameter of threshold_curve must be an int >= 1"),
        ({"min_relevance": 3}, "needs a query with a relevant document, of label 3 or more. Got none in 2 queries"),
        ({"unjudged": "skip"}, "'unjudged' parameter of threshold_curve"),
    ],
)
def test_threshold_curve_errors(keywords, message):
    with pytest.raises(ValueError, match=message):
        threshold_curve([1, 2], [0.5, 0.9], qid=[0, 1], **keywords)


def test_picture():
    plt = pytest.importorskip("matplotlib.pyplot")
    from sklearn_rank.display import ThresholdDisplay

    y, s, qid = rows(0)
    curve = threshold_curve(y, s, qid=qid, k=3)
    display = ThresholdDisplay.from_predictions(y, s, qid=qid, k=3)
    for name in ("precision", "recall", "f", "empty", "answered"):
        assert display.lines_[name].get_ydata().tolist() == getattr(curve, name).tolist()
    x = display.lines_["f"].get_xdata()
    assert x[1:].tolist() == curve.threshold[1:].tolist()
    assert x[0] < x[1]
    again = ThresholdDisplay(**vars(threshold_curve([1], [2.0], qid=[0]))).plot(display.ax_)
    assert [*again.lines_] == ["precision", "recall", "f", "empty"]
    plt.close(display.figure_)
