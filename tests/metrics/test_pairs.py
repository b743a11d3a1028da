"""Pairs and rank correlations: against SciPy for each query, and against counting every pair."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.metrics import roc_auc_score

from sklearn_rank import metrics
from sklearn_rank.metrics import query_auc_score

COEFFICIENTS = {"kendall_score": stats.kendalltau, "spearman_score": stats.spearmanr}


def lists(n_grades, n_scores, n_queries=150):
    """Labels and scores of short lists with some unretrieved documents."""
    rng = np.random.default_rng([n_grades, n_scores])
    for n in rng.integers(1, 14, size=n_queries):
        score = rng.integers(n_scores, size=n) * 0.5
        yield rng.integers(n_grades, size=n) - 1.0, np.where(rng.random(n) < 0.1, -np.inf, score)


def values(score, given):
    label, score_of = map(np.concatenate, zip(*given, strict=True))
    qid = np.repeat(np.arange(len(given)), [len(y) for y, _ in given])
    return score(label, score_of, qid=qid, average=None, replace_undefined_by=np.nan)


@pytest.mark.parametrize("name", COEFFICIENTS)
@pytest.mark.parametrize(("n_grades", "n_scores"), [(2, 2), (3, 4), (5, 100), (100, 3), (100, 100)])
def test_coefficients_match_scipy(name, n_grades, n_scores):
    given = list(lists(n_grades, n_scores))
    found = values(getattr(metrics, name), given)
    expected = [
        np.nan if len(set(y)) < 2 or len(set(s)) < 2 else COEFFICIENTS[name](y, np.maximum(s, -1e9)).statistic
        for y, s in given
    ]
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("name", COEFFICIENTS)
def test_coefficients_of_long_lists(name):
    rng = np.random.default_rng(1)
    for n_scores in (7, 5000, 10**9):
        label, score = rng.integers(0, 5, size=4000), rng.integers(n_scores, size=4000)
        found = getattr(metrics, name)(label, score, qid=np.zeros(4000))
        assert_allclose(found, COEFFICIENTS[name](label, score).statistic, rtol=1e-9)


@pytest.mark.parametrize("n_scores", [720, 5, 1])
@pytest.mark.parametrize("max_fpr", [0.05, 0.3, 0.5, 0.77, 1.0])
def test_partial_auc_matches_scikit_learn(max_fpr, n_scores, rng):
    qid = np.repeat(np.arange(60), 12)
    y, s = (rng.random(720) < 0.4).astype(int), rng.permutation(720) % n_scores / 7
    y[::12], y[1::12] = 0, 1  # both classes in each query
    expected = [roc_auc_score(y[qid == q], s[qid == q], max_fpr=max_fpr) for q in range(60)]
    for convention in ("sklearn", "torchmetrics") if n_scores < 720 else (None, "sklearn"):
        found = query_auc_score(y, s, qid=qid, max_fpr=max_fpr, average=None, convention=convention)
        np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_partial_auc_of_tied_documents():
    """The relevant document first: area 1/2 of 1/2, so 1; second: none, so 1/3. A straight line: 1/8, so 1/2."""
    keywords = {"qid": [0, 0], "max_fpr": 0.5}
    assert query_auc_score([1, 0], [1, 1], ties="best", **keywords) == 1
    assert query_auc_score([1, 0], [1, 1], ties="worst", **keywords) == pytest.approx(1 / 3)
    assert query_auc_score([1, 0], [1, 1], **keywords) == pytest.approx(2 / 3)
    assert query_auc_score([1, 0], [1, 1], tied_curve="straight", **keywords) == pytest.approx(1 / 2)
    with pytest.raises(ValueError, match="The 'max_fpr' parameter of query_auc_score must be a number above 0"):
        query_auc_score([1, 0], [1, 1], qid=[0, 0], max_fpr=0)
