"""Cascades by grade against those of arrays of numbers, and of each list alone, to the last bit."""

from fractions import Fraction
from math import comb

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
    memory, out = np.empty((2, 1501)), np.full(ptr[-1], np.nan)
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


@pytest.mark.parametrize("n_values", [1, 2, 15, 16])
@pytest.mark.parametrize("size", [2, 3, 5, 8, 9, 16, 17, 40, 300])
def test_the_order_of_tied_items_changes_no_bit(size, n_values, rng):
    """Of up to 16 distinct probabilities, by one that is likely and by many that are not."""
    for most in (0.04, 0.4, 1.0):
        p = most * rng.integers(1, n_values + 1, size) / n_values
        first, second = (
            cascades(x, None, np.array([0, size]), np.append(size, np.zeros(size - 1, dtype=np.int64)))[1]
            for x in (p, rng.permutation(p))
        )
        assert_array_equal(first, second)
        assert_allclose(first.sum(), 1 - np.prod(1 - p), rtol=1e-13)


@pytest.mark.parametrize("size", [2, 8, 9, 40])
@pytest.mark.parametrize("n_sure", [0, 1, 7])
@pytest.mark.parametrize("other", [0, 1, 0.25])
def test_items_that_all_or_none_stop_at(size, n_sure, other):
    """One other beside them, and one below: the mean of the products over any of the items is who goes on."""
    p = np.zeros(size + 1)
    p[1:size][:n_sure], p[0], p[size] = 1, other, 0.5
    found = cascades(p, None, np.array([0, size + 1]), np.array([size] * size + [size + 1]))[1]
    products = [Fraction(1)] + [Fraction(0)] * size
    for x in p[:size].tolist():
        products = [a + (1 - Fraction(x)) * b for a, b in zip(products, [Fraction(0), *products], strict=False)]
    alive = [float(product / comb(size, j)) for j, product in enumerate(products)]
    assert_allclose(found[:size], np.subtract(alive[:-1], alive[1:]), rtol=1e-13, atol=1e-17)
    assert_allclose(found[size], alive[-1] / 2, rtol=1e-15)


def test_probabilities_may_be_off_by_what_is_rounded():
    lowest = 0.5 - (0.5 + 1e-9)
    for p, known in {lowest: True, 2 * lowest: False, 1 - lowest / 2: True, 1 - 2 * lowest: False}.items():
        assert cascade(np.array([p]), None, np.array([0, 1]), None, 1, np.empty((1, 2)), np.empty(1)) == known
