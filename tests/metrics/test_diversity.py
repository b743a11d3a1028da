"""Metrics of diversity: labels with subtopics, the greedy ideal, and the case of a single subtopic."""

from fractions import Fraction
from math import log2

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import METRICS, each
from sklearn.base import BaseEstimator, RegressorMixin

from sklearn_rank import evaluate, get_scorer, metric, metrics

each_metric = each([m for m in METRICS if m.subtopics])


# --- the ideal -----------------------------------------------------------------------------------------------


def test_a_better_order_than_the_greedy_one():
    """Greedy takes the document of four subtopics first, which leaves one: 4 + 1 against 3 + 3."""
    y_true = [[1, 1, 1, 1, 0, 0], [1, 1, 0, 0, 1, 0], [0, 0, 1, 1, 0, 1]]
    found = metrics.alpha_ndcg_score(y_true, [1, 3, 2], qid=[0] * 3, alpha=1, k=2)
    assert_allclose(found, (3 + 3 / log2(3)) / (4 + 1 / log2(3)))
    assert 1 < found < np.e / (np.e - 1)


def greedy_exactly(relevant, keep):
    """Rows in greedy order of exact gains; the first row wins among equal gains."""
    worth, left, order = [Fraction(1)] * relevant.shape[1], [*range(len(relevant))], []
    while left:
        adds = [sum(w for w, r in zip(worth, relevant[row], strict=True) if r) for row in left]
        row = left.pop(adds.index(max(adds)))
        worth = [w * keep if r else w for w, r in zip(worth, relevant[row], strict=True)]
        order.append(row)
    return order


@pytest.mark.parametrize("seed", range(20))
def test_rounding_does_not_choose_the_most_novel(seed):
    """Gains that are equal up to rounding are equal in any order of summation."""
    relevant = np.random.default_rng(seed).random((40, 6)) < 0.5
    relevant = relevant[np.lexsort([*~relevant.T[::-1]])]
    place = np.argsort(greedy_exactly(relevant, Fraction(7, 10)))
    found = metrics.alpha_ndcg_score(relevant, -place, qid=np.zeros(40), alpha=0.3, k=range(1, 41))
    assert_allclose(found, 1, rtol=1e-12)


def test_unretrieved_documents_are_in_the_ideal():
    value = metrics.alpha_ndcg_score([[1, 0], [0, 1], [1, 1]], [2, 1, -np.inf], qid=[0] * 3, k=1)
    assert value == 1 / 2
    assert metrics.subtopic_recall_score([[1, 0], [0, 1]], [2, -np.inf], qid=[0, 0]) == 1 / 2


# --- subtopics -----------------------------------------------------------------------------------------------


@each_metric
def test_unjudged_subtopics(metric):
    """A document with some labels stays, not relevant to the others; without any it is not relevant or dropped."""
    nan = np.nan
    label, score, qid = np.array([[1, nan], [nan, nan], [0, 1], [nan, 1]]), [4, 3, 2, 1], np.zeros(4)
    zero, rows = np.nan_to_num(label), [0, 2, 3]
    assert metric(label, score, qid=qid, unjudged="nonrelevant") == metric(zero, score, qid=qid)
    dropped = metric(zero[rows], [4, 2, 1], qid=qid[rows])
    assert metric(label, score, qid=qid, unjudged="drop") == dropped
    with pytest.raises(ValueError, match=r"must not contain NaN .* Got 4 NaN, the first in row 0"):
        metric(label, score, qid=qid)
    with pytest.raises(ValueError, match="unjudged='drop' reads .* min_relevance must be above 0. Got"):
        metric(label, score, qid=qid, unjudged="drop", min_relevance=0)


@each_metric
@pytest.mark.parametrize("ties", ["worst", "best"])
def test_diversity_has_no_worst_and_best_order(metric, ties):
    with pytest.raises(ValueError, match=f"'average' or 'stable' .* subtopics .* Got '{ties}' instead"):
        metric([[1, 0], [0, 1]], [1, 1], qid=[0, 0], ties=ties)


def test_err_ia_denominator_of_ndeval():
    everything = np.ones((10, 3))
    found = metrics.err_ia_score(everything, np.zeros(10), qid=[0] * 10, k=range(1, 11))
    assert_allclose(found, np.cumsum([2.0**-i / i for i in range(1, 11)]))


# --- calls ----------------------------------------------------------------------------------------------------


def test_evaluate_a_frame():
    pd = pytest.importorskip("pandas")
    y_true = pd.DataFrame({"a": [1, 0, 0], "b": [0, 1, 1]}, index=pd.Index([1, 1, 2], name="qid"))
    names = ["alpha_ndcg@5", "err_ia@5", "subtopic_recall@1", "precision_ia@1"]
    result = evaluate(y_true, [1, 1, 1], metrics=names)
    assert list(result.mean()) == names
    assert_array_equal(result.per_query["subtopic_recall@1"], [0.5, 1])
    assert result.n_tied == {"alpha_ndcg@5": 0, "err_ia@5": 0, "subtopic_recall@1": 1, "precision_ia@1": 1}
    assert result.tie_range().rows == ()
    tied = metrics.subtopic_recall_score(y_true, [1, 1, 1], k=1, ties="stable", tie_break=["x", "y", "z"])
    assert tied == 0.75


def test_a_scorer_of_a_frame():
    pd = pytest.importorskip("pandas")

    class Model(RegressorMixin, BaseEstimator):
        def fit(self, X, y):
            return self

        def predict(self, X):
            return np.asarray(X)[:, 0]

    y = pd.DataFrame([[1, 0], [0, 1]], index=pd.Index([1, 1], name="qid"))
    assert get_scorer("s_recall@1")(Model(), np.array([[2.0], [1.0]]), y) == 0.5


def test_own_functions_of_subtopics():
    @metric("covered", subtopics=True)
    def covered_score(r):
        """Number of subtopics covered."""
        return r.over_subtopics(lambda s: s.cumsum(weight=s.cascade(s.relevant))).sum(axis=0)

    def most(y_true, y_score):
        return y_true.sum(axis=0).max()

    result = evaluate([[1, 0], [1, 1], [0, 0]], [1, 1, 2], qid=[0, 0, 1], metrics=["covered@1", most])
    assert_array_equal(result.per_query["covered@1"], [1.5, 0])
    assert_array_equal(result.per_query["most"], [2, 0])
