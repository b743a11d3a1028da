"""Sums of means over long tie blocks, against fractions, for labels that are grades and for other labels."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from sklearn_rank._engine.kernels import sums as sums_kernels
from sklearn_rank._engine.ranking import NO_CUTOFF

# Items of each tie block, and the number of relevant ones.
LISTS = {
    "one block": [(300, 40)],
    "one relevant": [(2000, 1)],
    "all relevant": [(500, 500), (90, 90)],
    "as dense everywhere": [(700, 70), (1500, 150), (900, 90), (17, 2)],
    "thin, then dense": [(400, 1), (400, 390)],
    "dense, then thin": [(400, 390), (400, 1)],
    "first relevant far down": [(20_000, 0), (17, 1), (40, 20), (300, 7)],
    "beyond the table": [(1023, 5), (2, 1), (1, 1), (3000, 9), (60_000, 4000)],
    "short": [(1, 1), (2, 1), (16, 3), (17, 3), (1, 0), (3, 3)],
}


def sums_of(blocks, cutoffs):
    """Sums down to each cutoff, as fractions: expected relevant * (relevant so far) / rank."""
    sums, total, done, before = {0: Fraction(0)}, Fraction(0), 0, 0
    for size, n in blocks:
        level = Fraction(n * before + n, size)
        slope = Fraction(n * (n - 1), size * (size - 1)) if size > 1 else 0
        stops = [done, *(c for c in cutoffs if done < c < done + size), done + size]
        for start, stop in zip(stops[:-1], stops[1:], strict=True):
            total += sum_of(level, slope, done, start, stop)
            sums[stop] = total
        done, before = done + size, before + n
    return [float(sums[min(c, done)]) for c in cutoffs]


def sum_of(level, slope, done, start, stop):
    """Sum of (level + slope * (i - done)) / (i + 1), with 60 digits."""
    scale = 10**60
    numerators = (level + slope * (i - done) for i in range(start, stop))
    return Fraction(sum(int(x * scale) // (i + 1) for i, x in enumerate(numerators, start)), scale)


def tables_of_grades(min_relevance, of_labels):
    """Relevance of each grade as 0.0 or 1.0, and the grade itself or the relevance again."""
    grades = np.arange(32.0)
    relevant = (grades >= min_relevance) * 1.0
    return relevant, grades if of_labels else relevant


def ways(blocks, cutoffs):
    """Sums of both kernels; grades of a block are in random order."""
    rng, tables = np.random.default_rng(0), tables_of_grades(1.0, False)
    grade = np.concatenate([rng.permutation(np.repeat([1, 0], [n, size - n])) for size, n in blocks]).astype(np.uint8)
    ends = np.cumsum([size for size, _ in blocks])
    tie_end, ptr = np.repeat(ends, [size for size, _ in blocks]), np.array([0, len(grade)])
    cutoffs = np.array(cutoffs)
    out = np.empty((2, 1, len(cutoffs)))
    sums_kernels.means_of_items(*[grade.astype(float)] * 2, ptr, cutoffs, tie_end, out[0])
    sums_kernels.means_of_grades(grade, *tables, ptr, cutoffs, tie_end, out[1])
    return out[:, 0]


@pytest.mark.parametrize("name", LISTS)
def test_sums_equal_fractions(name):
    blocks = LISTS[name]
    length = sum(size for size, _ in blocks)
    cutoffs = sorted({1, 10, 16, 17, 18, 100, 1000, 1024, 1025, 1300, 20_018, 20_050, length})
    by_kernel = ways(blocks, cutoffs)
    assert_allclose(by_kernel[0], sums_of(blocks, cutoffs), rtol=5e-14)
    assert_array_equal(*by_kernel)


def test_all_relevant_is_exact():
    """Each mean is 1, so MAP is exactly 1."""
    assert_array_equal(ways(LISTS["all relevant"], [10, 17, 100, 590]), [[10, 17, 100, 590]] * 2)


@pytest.mark.parametrize("least", [0, 1, 2, 31, 32])
@pytest.mark.parametrize("tied", [False, True])
@pytest.mark.parametrize("of_labels", [False, True])
def test_lists_of_each_length_have_exact_sums(least, tied, of_labels, rng):
    sizes = [*range(1, 262), 320, *rng.integers(1, 300, 99), 8]
    ptr, n = np.cumsum([0, *sizes]), sum(sizes)
    for grades in (rng.integers(0, 4, n), rng.choice([0, 1, 2, 31], n, p=[0.85, 0.05, 0.05, 0.05]), np.full(n, 31)):
        grade, (relevant, value) = grades.astype(np.uint8), tables_of_grades(least, of_labels)
        tie_end = np.arange(1, n + 1)
        if tied:  # two items in some places, but never of two lists
            first = [i for i in range(0, n - 1, 23) if i + 1 not in ptr]
            tie_end[first] += 1
        several = [2, 7, 8, 9, 15, 16, 63, 64, 65, 71, 72, 73, 128, 300]
        for cutoffs in ([NO_CUTOFF], [7], [8], [100], [256], [16, 200], several):
            out, asked = np.empty((2, len(sizes), len(cutoffs))), np.array(cutoffs)
            ends = tie_end if tied else None
            sums_kernels.means_of_items(relevant[grade], value[grade], ptr, asked, ends, out[0])
            sums_kernels.means_of_grades(grade, relevant, value, ptr, asked, ends, out[1])
            assert_array_equal(*out)
