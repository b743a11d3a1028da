"""Small probabilities, labels and parameters: nothing cancels, and many of them do not take for ever."""

from fractions import Fraction
from itertools import pairwise
from math import comb, expm1, log
from time import process_time

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import together

from sklearn_rank import evaluate, metrics
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Labels, Ranking

ZERO = {"qid": [0, 0]}
SMALL = [0.5, 1e-3, 1e-9, 1e-15, 1e-17, 1e-100, 1e-280]


def cascade(stop, depth=NO_CUTOFF):
    labels = Labels(stop, np.array([0, len(stop)]))
    ranked = Ranked(Ranking.by_score(labels, np.zeros(len(stop)), depth=depth), np.array([depth]))
    return ranked.cascade(ranked.label)


def exact(stop):
    """Probability to stop at each place, in fractions: of the mean over subsets of the product of 1 - p."""
    one = max(Fraction(p).denominator for p in stop.tolist())  # a power of two: all are multiples of 1 / one
    symmetric = [1] + [0] * len(stop)
    for p in stop.tolist():
        go_on = int((1 - Fraction(p)) * one)
        for j in range(len(stop), 0, -1):
            symmetric[j] += go_on * symmetric[j - 1]
    alive = [Fraction(e, comb(len(stop), j) * one**j) for j, e in enumerate(symmetric)]
    return [a - b for a, b in pairwise(alive)]


DRAWN = {
    "tiny": lambda rng, m: rng.random(m) * 1e-17,
    "small": lambda rng, m: rng.random(m) * 1e-4,
    "of all sizes": lambda rng, m: 10.0 ** rng.integers(-20, 0, size=m),
    "one large": lambda rng, m: np.append(rng.random(m - 1) * 1e-9, 0.7),
    "three large": lambda rng, m: np.append(rng.random(m) * 1e-9, [0.5, 1, 2.0**-6]),
    "rising": lambda rng, m: np.sort(rng.random(m)) ** 4,
    "alike": lambda rng, m: 0.3 + 0.1 * rng.random(m),
    "near 1": lambda rng, m: 1 - rng.random(m) * 1e-10,
    "hardly a number": lambda rng, m: rng.random(m) * 1e-305,
    "zero and one": lambda rng, m: (rng.random(m) < 0.1) * 1.0,
    "few of few": lambda rng, m: rng.choice([0, 1e-12, 0.25], p=[0.5, 0.4, 0.1], size=m),
}


@together("m", [2, 4, 9, 30, 80])
@pytest.mark.parametrize("drawn", DRAWN)
def test_each_digit_of_a_cascade_is_right(drawn, m):
    rng = np.random.default_rng([m, len(drawn)])
    stop = rng.permutation(DRAWN[drawn](rng, m))[:m]
    expected = exact(stop)
    found = cascade(stop)
    for j in range(m):
        assert abs(Fraction(float(found[j])) - expected[j]) <= Fraction(1, 10**13) * expected[j] + expected[0] / 10**17
    for depth in (1, m // 2 or 1, m - 1):
        assert_array_equal(cascade(stop, depth)[:depth], found[:depth])


@pytest.mark.parametrize("m", [3, 8, 9, 40])
def test_the_order_of_tied_rows_decides_no_digit(m):
    """Of few rows, and of any number that stop a user surely or not at all."""
    rng = np.random.default_rng(m)
    for stop in (rng.random(m), (rng.random(m) < 0.3) * 1.0)[m > 8 :]:
        found = cascade(stop)
        for _ in range(20):
            assert_array_equal(cascade(rng.permutation(stop)), found)


@pytest.mark.parametrize("p", SMALL)
def test_a_tie_of_one_small_probability(p):
    """It stands at rank 1 or 2: (1 + 1/2) / 2 of what it is worth at rank 1."""
    assert_allclose(metrics.nerr_score([p, 0], [1, 1], stop="label", **ZERO), 0.75, rtol=1e-12)
    assert_allclose(metrics.pfound_score([p, 0], [1, 1], stop="label", decay=0.5, **ZERO), 0.75 * p, rtol=1e-12)
    assert_allclose(metrics.err_score([p, 0], [1, 1], stop="label", **ZERO), 0.75 * p, rtol=1e-12)


@pytest.mark.parametrize("alpha", [*SMALL, 1e-320, 0, 1 - 1e-16, 1])
def test_alpha_near_its_ends(alpha):
    """Two relevant documents among three tied ones, each place as likely."""
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


@pytest.mark.parametrize(
    ("drawn", "limit"),
    [("small", 1.0), ("tiny", 0.5), ("rising", 0.5), ("of all sizes", 1.0), ("one large", 1.0)],
)
def test_a_large_block_of_small_probabilities_takes_no_square_time(drawn, limit):
    rng = np.random.default_rng(0)
    stop = DRAWN[drawn](rng, 40_000)
    begin = process_time()
    found = cascade(stop)
    assert process_time() - begin < limit  # 2.5 billion steps and more, one by one
    assert_allclose(found[0], stop.mean(), rtol=1e-12)
    assert_allclose(found.sum(), -expm1(np.log1p(-np.minimum(stop, 1 - 1e-280)).sum()), rtol=1e-11)
    assert (found >= 0).all()
    assert (np.diff(found) <= 1e-15 * found[0]).all()  # those who stopped are gone


def test_large_blocks_agree_with_the_exact_sum_of_few_kinds():
    """1,990 of 2,000 items of one kind and ten of another, by hypergeometric probabilities."""
    m, n, p, q = 2000, 10, 1e-3, 0.25
    others = np.random.default_rng(0).permutation(np.repeat([p, q], [m - n, n]))
    alive = [
        sum(
            Fraction(comb(n, i) * comb(m - n, j - i), comb(m, j)) * (1 - Fraction(q)) ** i * Fraction(0.999) ** (j - i)
            for i in range(max(0, j - m + n), min(n, j) + 1)
        )
        for j in (0, 1, 2, 500, 501, 1999, 2000)
    ]
    found = cascade(others)
    for place, (a, b) in zip([0, 1, 500, 1999], [alive[0:2], alive[1:3], alive[3:5], alive[5:7]], strict=True):
        assert_allclose(found[place], float(a - b), rtol=1e-11)


# --- persistence and partial areas near their ends -----------------------------------------------------------


@pytest.mark.parametrize("p", [0.1, 0.5, 0.9])
def test_the_residual_of_a_long_judged_list_is_what_is_below_it(p):
    found = evaluate(np.ones(200), -np.arange(200), qid=np.zeros(200), metrics="rbp_residual", p=p)
    assert_allclose(found.mean()["rbp_residual"], p**200, rtol=1e-12)


@pytest.mark.parametrize("p", [5e-324, 1e-320, 1e-280, 1e-17, 1 - 2.0**-53])
def test_persistence_near_its_ends(p):
    """Near 0 all weight is on the first rank; near 1 the overlap of the whole lists is what counts."""
    y, s, qid = [2, 0, 1], [3, 2, 1], [0] * 3
    assert_allclose(metrics.rbo_score(y, s, qid=qid, p=p), 1, rtol=1e-12)
    assert_allclose(metrics.rbo_score(y, [3, 2, 1], qid=qid, p=p, k=2), 1 if p < 0.5 else 1 / 2, rtol=1e-12)
    assert_allclose(metrics.rbo_score([1, 0], [1, 2], p=p, **ZERO), p, rtol=1e-12)
    assert_allclose(metrics.rbp_score(y, s, qid=qid, p=p, min_relevance=2), 1 - p, rtol=1e-12)


def test_the_overlap_at_a_deep_cutoff_keeps_its_digits():
    """Few of many: the last overlap is a millionth of the first."""
    n = 10**5
    y = np.append([2.0], np.zeros(n - 1))
    p = 1 - 2.0**-52
    found = metrics.rbo_score(y, -np.arange(n), qid=np.zeros(n), p=p, k=1)
    assert found == 1


@pytest.mark.parametrize("max_fpr", [1e-280, 1e-100, 1e-17, 1e-9])
@pytest.mark.parametrize("tied_curve", ["expected", "straight"])
def test_a_tiny_part_of_the_area_under_the_curve(max_fpr, tied_curve):
    """Where the curve begins it is as high as the share of the relevant documents above all others."""
    y, s, qid = [1, 1, 0, 1, 0, 1], [6, 5, 4, 3, 2, 1], [0] * 6
    found = metrics.query_auc_score(y, s, qid=qid, max_fpr=max_fpr, tied_curve=tied_curve)
    assert_allclose(found, (1 + (1 / 2 - max_fpr / 2) / (1 - max_fpr / 2)) / 2, rtol=1e-12)


@pytest.mark.parametrize("base", [np.nextafter(1, 2), 1 + 1e-12, 1e300])
def test_bases_near_their_ends(base):
    found = metrics.dcg_score([0, 1], [2, 1], discount="jarvelin", base=base, **ZERO)
    assert_allclose(found, 1 if base > 2 else log(base) / log(2), rtol=1e-12)


@pytest.mark.parametrize("name", ["kendall", "spearman"])
def test_labels_that_are_nearly_constant(name):
    y = np.array([1 + 2.0**-52, 1, 1 - 2.0**-53])
    assert_allclose(evaluate(y, [3, 2, 1], qid=[0] * 3, metrics=name).mean()[name], 1, rtol=1e-15)
    assert evaluate([1, 1, 1], [3, 2, 1], qid=[0] * 3, metrics=name).n_undefined[name] == 1


def test_weighted_values_that_are_lost_are_refused():
    """Of weights and errors that are fine alone, and whose products are 0."""
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
def test_a_mean_that_is_lost_at_one_cutoff_is_refused(k):
    """The other one is fine."""
    asked = {"qid": [1, 1, 2, 2], "y_score": [2, 1, 2, 1]}
    weight = {"sample_weight": [1e-150] * 4}
    assert metrics.cg_score([1e-100, 1, 1e-100, 1], **asked, **weight, k=k).tolist() == [1e-100, 1][:: 3 - 2 * k[0]]
    with pytest.raises(ValueError, match="range of a float, .*Got weighted values that are not 0, all less"):
        metrics.cg_score([1e-150, 1, 1e-150, 1], **asked, **weight, k=k)
    with pytest.raises(ValueError, match="range of a float, .*Got a sum over queries that is not finite"):
        metrics.cg_score([1, 1e308, 1, 1e308], **asked, k=k)
