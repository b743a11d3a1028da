"""Sums and cascades of lists in which few grades are not 0, against those of arrays of numbers, to the last bit."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.kernels.plan import BoundPlan
from sklearn_rank._engine.kernels.sums import cumsum
from sklearn_rank._engine.plan import BlockOrder
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._engine.traced import Steps, TracedQueries

LENGTHS = np.array([0, 1, 8, 15, 16, 17, 18, 23, 24, 25, 31, 40, 100, 101, 255, 1023, 1024, 1025, 1500])

CUTOFFS = [[1], [7], [16], [20], [1, 3, 5, 10, 20, 100], [17, 1024, NO_CUTOFF], [NO_CUTOFF]]

GAINS = {
    "gains": np.exp2(np.arange(32)) - 1,
    "fractions": np.sqrt(np.arange(32)),
    "gains below 0": -np.sqrt(np.arange(32)),
    "a gain of 0": np.sqrt(np.arange(32) + 1),
}


def few(rng, counts, times):
    """Grades of lists, of which 0, 1, ... are not 0, and where lists start."""
    lengths = np.tile(np.repeat(LENGTHS, len(counts)), times)
    ptr = np.append(0, np.cumsum(lengths))
    grade = np.zeros(ptr[-1], dtype=np.uint8)
    for q, (start, stop) in enumerate(pairwise(ptr)):
        n = min(counts[q % len(counts)], stop - start)
        grade[rng.choice(stop - start, n, replace=False) + start] = rng.integers(1, 5, n)
    return grade, ptr


def ends_of_ties(rng, ptr):
    """Ends of tie blocks, in every third list, of blocks of random sizes."""
    tie_end = np.zeros(ptr[-1], dtype=np.int64)
    for start, stop in [*pairwise(ptr)][::3]:
        starts = np.unique(np.append(start, rng.integers(start, stop, stop - start))) if start < stop else []
        if 0 < len(starts) < stop - start:
            tie_end[starts] = np.append(starts[1:], stop)
    return tie_end


def discounts(cutoffs, special=1.0):
    """One for each rank that counts, and no more; the 20th is `special` times as much."""
    return np.append(1 / np.log2(np.arange(2.0, 21)), special / np.log2(np.arange(21.0, 1502)))[: cutoffs[-1]]


def sums(value, grade, discount, ptr, cutoffs, tie_end):
    """Sums down each list."""
    out = np.full((len(ptr) - 1, len(cutoffs)), 7.0)
    cumsum(value, grade, np.ones(1), discount, False, ptr, np.array(cutoffs), tie_end, out)
    return out


@pytest.mark.parametrize("cutoffs", CUTOFFS, ids=str)
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("gain", GAINS)
@pytest.mark.parametrize("counts", [(0, 1, 2, 3), range(16), (1, 50, 0, 12, 13)], ids=str)
def test_few_are_summed_as_all_are(counts, gain, tied, cutoffs):
    """Lists beside longer, tied and full ones, and alone."""
    rng, value, discount = np.random.default_rng(5), GAINS[gain], discounts(cutoffs)
    grade, ptr = few(rng, [*counts], 2)
    tie_end = ends_of_ties(rng, ptr) if tied else None
    found = sums(value, grade, discount, ptr, cutoffs, tie_end)
    assert_array_equal(found, sums(value[grade], None, discount, ptr, cutoffs, tie_end))
    for q in range(0, len(ptr) - 1, 3 + tied):
        start, stop = ptr[q : q + 2]
        if start < stop and not (tied and q % 3 == 0):
            alone = sums(value, grade[start:stop], discount, np.array([0, stop - start]), cutoffs, None)
            assert_array_equal(found[q : q + 1], alone)


@pytest.mark.parametrize("special", [np.inf, np.nan, 1e308])
def test_weights_that_make_something_else_of_0(special):
    """An infinite one counts wherever it stands; the largest number does not."""
    rng, cutoffs = np.random.default_rng(6), [3, 40]
    grade, ptr = few(rng, [0, 1, 2], 1)
    value, discount = GAINS["fractions"], discounts(cutoffs, special)
    with np.errstate(invalid="ignore"):
        found = sums(value, grade, discount, ptr, cutoffs, None)
        assert_array_equal(found, sums(value[grade], None, discount, ptr, cutoffs, None))
    assert np.isnan(found[-1, 1]) == (not np.isfinite(special))


FORMULAS = {
    "over the rank": lambda p: lambda r: r.cumsum(weight=r.cascade(p(r)), over_rank=True),
    "as they are": lambda p: lambda r: r.cumsum(weight=r.cascade(p(r))),
    "discounted": lambda p: lambda r: r.cumsum(weight=r.cascade(p(r)), by_rank=lambda rank: 0.9**rank),
    "both": lambda p: lambda r: r.cumsum(1.0, weight=r.cascade(p(r)), by_rank=np.sqrt, over_rank=True),
}

P = {
    "relevant": lambda r: r.relevant,
    "by label": lambda r: r.by_label(lambda y: np.minimum(y, 5) / 7),
    "up to 1": lambda r: r.by_label(lambda y: np.minimum(y / 2, 1)),
    "some at 0": lambda r: r.by_label(lambda y: (np.minimum(y, 5) + 1) / 7),
}


@pytest.mark.parametrize("at", [[3], [1, 16, 17, 100], [NO_CUTOFF]], ids=str)
@pytest.mark.parametrize(("p", "tied"), [*[(p, False) for p in P], *[(p, True) for p in P if p != "some at 0"]])
@pytest.mark.parametrize("counts", [(0, 1, 2, 3), range(16), (1, 50, 0, 12, 13)], ids=str)
def test_few_stop_users_as_all_do(counts, p, tied, at):
    """Sums of one cascade, of several weights, against those of an array."""
    rng, cutoffs, steps = np.random.default_rng(7), np.array(at), Steps()
    grade, indptr = few(rng, [*counts], 2)
    score = rng.permutation(indptr[-1]) * 1.0
    if tied:
        score[: len(score) // 2] //= 50
    curves = [
        steps.curve(make(P[p]), {}, TracedQueries(1, cutoffs, np.arange(1, 1501), steps)) for make in FORMULAS.values()
    ]
    order = BlockOrder(len(score), len(indptr) - 1, 1500, NO_CUTOFF, "average", 4, [])
    values = steps.take(order)
    BoundPlan([order.lists], order.steps, [])(grade, score, indptr, False, [])
    labels = BlockLabels(None, indptr, grade=grade, highest=4)
    ranked = Ranked(Ranking.by_score(None, score, indptr, depth=NO_CUTOFF, grade=labels.grade).sharing(labels), cutoffs)
    for make, curve in zip(FORMULAS.values(), curves, strict=True):
        assert_array_equal(curve.numerator(values), make(P[p])(ranked))
