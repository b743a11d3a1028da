"""Cascades by grade against those of arrays of numbers, and of each list alone, to the last bit."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn_rank._engine.kernels.cascade import cascade

from sklearn_rank._engine.ranking import NO_CUTOFF

LENGTHS = np.array([1, 2, 3, 4, 5, 7, 8, 9, 10, 11, 12, 13, 16, 17, 18, 40, 200, 1023, 1024, 1025, 1500, 0, 3] * 2)
"""Lists about as long as a turn, a block without a series and what is rounded as it is, and longer ones."""

PROBABILITIES = {
    "none is sure": np.arange(32) / 40,
    "of ERR": np.where(np.arange(32) < 5, np.exp2(np.arange(32)) - 1, 0) / 16,
    "some are sure": np.minimum(np.arange(32) / 6, 1),
    "all or nothing": (np.arange(32) > 2) * 1.0,
    "above 1 from 9 on": np.arange(32) / 8,
}


def lists(rng, sizes, grades):
    """Grades, where lists start, and ends of tie blocks of some sizes; every fourth list has no ties."""
    lengths = np.tile(LENGTHS, 6)
    ptr = np.append(0, np.cumsum(lengths))
    grade, tie_end = rng.integers(0, grades, ptr[-1]).astype(np.uint8), np.full(ptr[-1], -9)
    for q, (start, stop) in enumerate(zip(ptr[:-1], ptr[1:], strict=True)):
        ends = np.minimum(start + np.cumsum(rng.choice(sizes, stop - start)), stop)
        starts = np.unique(np.append(start, ends[ends < stop]))
        tie_end[starts] = np.append(starts[1:], stop)
        if start < stop and (len(starts) == stop - start or q % 4 == 0):
            tie_end[start] = 0
    return grade, ptr, tie_end


def cascades(p, grade, ptr, tie_end):
    """Probabilities to stop, and whether these are some."""
    memory, out = np.empty((2, 1501)), np.full(len(grade), np.nan)
    known = cascade(p, grade, ptr, tie_end, NO_CUTOFF, memory, out)
    return known, out


@pytest.mark.parametrize("grades", [2, 5, 8, 9, 12])
@pytest.mark.parametrize("sizes", [[1], [1, 1, 1, 2], [1, 2, 3], [2, 3], [1, 4, 8], [3, 8, 9], [1, 20]], ids=str)
@pytest.mark.parametrize("name", PROBABILITIES)
def test_a_list_has_the_bits_that_it_has_alone(name, sizes, grades):
    """Beside others, alone, and with a number for each item."""
    rng, p = np.random.default_rng(grades), PROBABILITIES[name]
    grade, ptr, tie_end = lists(rng, sizes, grades)
    known, found = cascades(p, grade, ptr, tie_end)
    assert known == (p[grades - 1] <= 1)
    if not known:
        return
    by_number = np.empty(len(grade))
    assert cascade(p[grade], None, ptr, tie_end, NO_CUTOFF, np.empty((1, 1501)), by_number)
    assert_array_equal(found, by_number)
    for start, stop in zip(ptr[:-1], ptr[1:], strict=True):
        if start < stop:
            ends = np.where(tie_end[start:stop] > 0, tie_end[start:stop] - start, tie_end[start:stop])
            alone = cascades(p, grade[start:stop], np.array([0, stop - start]), ends)[1]
            assert_array_equal(found[start:stop], alone)


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6, 7, 8])
def test_blocks_of_each_size(size):
    """By what is left of all users who stop at one of the items first."""
    rng, p = np.random.default_rng(size), PROBABILITIES["none is sure"]
    n = 8 * (6000 // size)
    grade, start = rng.integers(0, 8, (n // 8, size)).astype(np.uint8), np.arange(0, n // 8 * size, size)
    _, found = cascades(p, grade.ravel(), np.append(start, n // 8 * size), np.repeat(start + size, size))
    found, x = found.reshape(-1, size), 1 - p[grade]
    e = np.zeros((len(grade), size + 1))
    e[:, 0] = 1
    for i in range(size):
        e[:, 1:] += e[:, :-1] * x[:, i : i + 1]
    ways = np.array([1.0] + [np.prod((size - np.arange(j)) / (1 + np.arange(j))) for j in range(1, size + 1)])
    survive = e / ways
    assert_allclose(found, survive[:, :-1] - survive[:, 1:], rtol=1e-12, atol=1e-15)
