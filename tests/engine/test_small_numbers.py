"""Small probabilities, labels and parameters: no cancellation, and no slow loops."""

from math import expm1, log

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_rank import evaluate, metrics

ZERO = {"qid": [0, 0]}
SMALL = [0.5, 1e-3, 1e-9, 1e-15, 1e-17, 1e-100, 1e-280]


@pytest.mark.parametrize("p", SMALL)
def test_a_tie_of_one_small_probability(p):
    """It is at rank 1 or 2: (1 + 1/2) / 2 of its value at rank 1."""
    assert_allclose(metrics.nerr_score([p, 0], [1, 1], stop="label", **ZERO), 0.75, rtol=1e-12)
    assert_allclose(metrics.pfound_score([p, 0], [1, 1], stop="label", decay=0.5, **ZERO), 0.75 * p, rtol=1e-12)
    assert_allclose(metrics.err_score([p, 0], [1, 1], stop="label", **ZERO), 0.75 * p, rtol=1e-12)


@pytest.mark.parametrize("alpha", [*SMALL, 1e-320, 0, 1 - 1e-16, 1])
def test_alpha_near_its_bounds(alpha):
    """Two relevant documents among three tied ones; all orders have equal chance."""
    y, s, qid = [1, 1, 0], [1, 1, 1], [0] * 3
    places = [(0, 1), (0, 2), (1, 2)]
    expected = np.mean([0.5**a + (1 - alpha) * 0.5**b for a, b in places])
    found = metrics.alpha_dcg_score(y, s, qid=qid, alpha=alpha, discount=[1, 0.5, 0.25])
    assert_allclose(found, expected, rtol=1e-12)
    found = metrics.nrbp_score(y, s, qid=qid, alpha=alpha, p=0.5)
    assert_allclose(found, expected * (0.5 + alpha * 0.5), rtol=1e-12)
    assert metrics.alpha_ndcg_score(y, [3, 2, 1], qid=qid, alpha=alpha) == 1


@pytest.mark.parametrize("alpha", [1e-3, 1e-12, 1e-17])
def test_nrbp_of_great_patience(alpha):
    """1 - (1 - alpha) p is 1 - p + alpha p."""
    p = 1 - 2.0**-50
    expected = (2.0**-50 + alpha * p) * (1 + (1 - alpha) * p)
    assert_allclose(metrics.nrbp_score([1, 1], [2, 1], alpha=alpha, p=p, **ZERO), expected, rtol=1e-13)


@pytest.mark.parametrize("label", [1e-16, 1e-280, 1e-9, 0.3, 0.999, -1e-16, -0.5])
def test_gains_of_small_labels(label):
    expected = expm1(abs(label) * log(2)) if label > 0 else expm1(label * log(2))
    assert_allclose(metrics.dcg_score([label, 0], [2, 1], **ZERO), expected, rtol=1e-14)
    if label > 0:
        assert metrics.ndcg_score([label, 0, 0], [3, 2, 1], qid=[0] * 3) == 1
        assert_allclose(metrics.err_score([label], [1], qid=[0], max_grade=2), expected / 4, rtol=1e-14)


@pytest.mark.filterwarnings("ignore:A label has the gain", "ignore:Every query has one row")
def test_gains_of_grades_are_exact():
    grades = np.arange(-5, 1001) * 1.0
    found = metrics.dcg_score(grades, np.zeros(len(grades)), qid=np.arange(len(grades)), average=None)
    assert_array_equal(found, np.exp2(grades) - 1)
    halves = np.arange(2, 40) / 2
    found = metrics.dcg_score(halves, halves, qid=halves, average=None)
    assert_array_equal(found, np.exp2(halves) - 1)


# --- persistence and partial areas near their bounds -----------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_residual_of_a_long_judged_list_is_below_it(p):
    found = evaluate(np.ones(200), -np.arange(200), qid=np.zeros(200), metrics="rbp_residual", p=p)
    assert_allclose(found.mean()["rbp_residual"], p**200, rtol=1e-12)


@pytest.mark.parametrize("p", [5e-324, 1e-320, 1e-280, 1e-17, 1 - 2.0**-53])
def test_persistence_near_its_bounds(p):
    """Near 0 all weight is on the first rank; near 1 only the overlap of whole lists counts."""
    y, s, qid = [2, 0, 1], [3, 2, 1], [0] * 3
    assert_allclose(metrics.rbo_score(y, s, qid=qid, p=p), 1, rtol=1e-12)
    assert_allclose(metrics.rbo_score(y, [3, 2, 1], qid=qid, p=p, k=2), 1 if p < 0.5 else 1 / 2, rtol=1e-12)
    assert_allclose(metrics.rbo_score([1, 0], [1, 2], p=p, **ZERO), p, rtol=1e-12)
    assert_allclose(metrics.rbp_score(y, s, qid=qid, p=p, min_relevance=2), 1 - p, rtol=1e-12)


def test_the_overlap_at_a_deep_cutoff_keeps_its_digits():
    """The overlap at the end is a millionth of the overlap at the start."""
    n = 10**5
    y = np.append([2.0], np.zeros(n - 1))
    p = 1 - 2.0**-52
    found = metrics.rbo_score(y, -np.arange(n), qid=np.zeros(n), p=p, k=1)
    assert found == 1


@pytest.mark.parametrize("max_fpr", [1e-280, 1e-100, 1e-17, 1e-9])
@pytest.mark.parametrize("tied_curve", ["expected", "straight"])
def test_a_tiny_part_of_the_area_under_the_curve(max_fpr, tied_curve):
    """The curve starts at the share of relevant documents above all others."""
    y, s, qid = [1, 1, 0, 1, 0, 1], [6, 5, 4, 3, 2, 1], [0] * 6
    found = metrics.query_auc_score(y, s, qid=qid, max_fpr=max_fpr, tied_curve=tied_curve)
    assert_allclose(found, (1 + (1 / 2 - max_fpr / 2) / (1 - max_fpr / 2)) / 2, rtol=1e-12)


@pytest.mark.parametrize("base", [np.nextafter(1, 2), 1 + 1e-12, 1e300])
def test_bases_near_their_bounds(base):
    found = metrics.dcg_score([0, 1], [2, 1], discount="jarvelin", base=base, **ZERO)
    assert_allclose(found, 1 if base > 2 else log(base) / log(2), rtol=1e-12)


@pytest.mark.parametrize("name", ["kendall", "spearman"])
def test_labels_that_are_nearly_constant(name):
    y = np.array([1 + 2.0**-52, 1, 1 - 2.0**-53])
    assert_allclose(evaluate(y, [3, 2, 1], qid=[0] * 3, metrics=name).mean()[name], 1, rtol=1e-15)
    assert evaluate([1, 1, 1], [3, 2, 1], qid=[0] * 3, metrics=name).n_undefined[name] == 1


def test_weighted_values_that_underflow_are_rejected():
    """Weights and errors are in range, but their products are 0."""
    asked = {"qid": [1, 1, 2, 2], "sample_weight": [1e-200] * 4}
    small = [1e-100, 1e-100, 2e-100, 2e-100]
    assert metrics.query_mse_error([0] * 4, [1, 1, 2, 2], **asked) == 2.5
    assert metrics.query_mse_error([0] * 4, [0] * 4, **asked) == 0
    of_none = {"qid": asked["qid"], "sample_weight": [0, 0, 1, 1]}
    assert metrics.query_mse_error([0] * 4, [1, 2, 0, 0], **of_none) == 0
    assert metrics.query_mse_error([0] * 4, small, qid=asked["qid"]) == pytest.approx(2.5e-200, rel=1e-15)
    with pytest.raises(ValueError, match="range of a float, .*Got weighted values that are not 0, all less"):
        metrics.query_mse_error([0] * 4, small, **asked)


@pytest.mark.parametrize("k", [[1, 2], [2, 1]])
def test_a_mean_that_underflows_at_one_cutoff_is_rejected(k):
    """At the other cutoff it is in range."""
    asked = {"qid": [1, 1, 2, 2], "y_score": [2, 1, 2, 1]}
    weight = {"sample_weight": [1e-150] * 4}
    assert metrics.cg_score([1e-100, 1, 1e-100, 1], **asked, **weight, k=k).tolist() == [1e-100, 1][:: 3 - 2 * k[0]]
    with pytest.raises(ValueError, match="range of a float, .*Got weighted values that are not 0, all less"):
        metrics.cg_score([1e-150, 1, 1e-150, 1], **asked, **weight, k=k)
    with pytest.raises(ValueError, match="range of a float, .*Got a sum over queries that is not finite"):
        metrics.cg_score([1, 1e308, 1, 1e308], **asked, k=k)
