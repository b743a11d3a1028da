"""Expected sums of whole numbers over tied items are exact except for the share of one block."""

from itertools import pairwise

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import together
from sklearn_rank._engine.kernels.sums import cumsum

from sklearn_rank._engine.ranking import NO_CUTOFF

LENGTHS = [1, 2, 3, 5, 8, 9, 10, 15, 16, 17, 31, 32, 40, 200, 1024, 1025, 3000]

VALUES = {
    "relevant": (np.arange(32) > 1) * 1.0,
    "two grades alike": np.minimum(np.arange(32) // 2, 2) * 1.0,
    "grades": np.arange(32.0),
    "gains": np.exp2(np.arange(32)) - 1,
    "negative": 3.0 - np.arange(32),
    "fractions of grades that no item has": np.where(np.arange(32) > 4, 0.1, np.arange(32)),
    "too large for grades that no item has": np.where(np.arange(32) > 4, 2.0**60, np.arange(32)),
}

CUTOFFS = [[1], [7], [3, 10], [NO_CUTOFF], [1, 3, 5, 10, 20, 1024, NO_CUTOFF]]


def tied_lists(lengths, sizes, seed):
    """Grades, starts of lists, and ends of tie blocks; a list without ties is marked."""
    rng = np.random.default_rng(seed)
    ptr = np.append(0, np.cumsum(lengths))
    tie_end = np.zeros(ptr[-1], dtype=np.int64)
    for start, stop in pairwise(ptr):
        ends = np.minimum(start + np.cumsum(rng.choice(sizes, stop - start)), stop)
        starts = np.unique(np.append(start, ends[ends < stop]))
        tie_end[starts] = np.append(starts[1:], stop)
        if len(starts) == stop - start:
            tie_end[start] = 0
    return rng.integers(0, 5, ptr[-1]).astype(np.uint8), ptr, tie_end


def sums(value, grade, ptr, cutoffs, tie_end):
    """Sums down each list."""
    out = np.empty((len(ptr) - 1, len(cutoffs)))
    cumsum(value, grade, np.ones(1), None, False, ptr, np.array(cutoffs), tie_end, out)
    return out


def expected_sum(value, tie_end, cutoff):
    """Whole blocks above the cutoff, plus the share of the next block."""
    i, n = 0, min(cutoff, len(value))
    while i < n:
        stop = tie_end[i] if tie_end[0] else i + 1
        if stop > n:
            return value[:i].sum() + value[i:stop].sum() / (stop - i) * (n - i)
        i = stop
    return value[:n].sum()


@together("cutoffs", CUTOFFS)
@pytest.mark.parametrize("sizes", [[1, 1, 2], [1, 2, 3, 9], [30], [5000]], ids=str)
@pytest.mark.parametrize("values", VALUES)
def test_sums_of_whole_numbers(values, sizes, cutoffs):
    """Many lists and each list by itself, by grade and by item: the same number each time."""
    lengths = LENGTHS * 3  # more than the number of grades, so that short lists look up products
    grade, ptr, tie_end = tied_lists(lengths, sizes, len(cutoffs))
    value = VALUES[values]
    found = sums(value, grade, ptr, cutoffs, tie_end)
    assert_array_equal(found, sums(value[grade], None, ptr, cutoffs, tie_end))
    for q, (start, stop) in enumerate(pairwise(ptr)):
        ends = np.where(tie_end[start:stop] > 0, tie_end[start:stop] - start, 0)
        alone = sums(value, grade[start:stop], np.array([0, stop - start]), cutoffs, ends)
        assert_array_equal(found[q : q + 1], alone)
        assert found[q].tolist() == [expected_sum(value[grade[start:stop]], ends, k) for k in cutoffs]


@pytest.mark.parametrize("large", [2.0**42 + 1, 2.0**50 + 1])
@pytest.mark.parametrize("sizes", [[1], [1, 2, 3, 9], [5000]], ids=str)
def test_sums_beyond_whole_floats_are_rounded_alike(sizes, large):
    """By grade and by item, although 64-bit integers would hold the sums by grade."""
    grade, ptr, tie_end = tied_lists(LENGTHS * 3, sizes, 0)
    value, cutoffs = large * np.arange(32), [3, 100, NO_CUTOFF]
    found = sums(value, grade, ptr, cutoffs, tie_end)
    assert_array_equal(found, sums(value[grade], None, ptr, cutoffs, tie_end))
