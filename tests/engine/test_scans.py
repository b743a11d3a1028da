"""Sums, joint sums, means and cascades down lists equal the mean of a naive twin over all orders of tied items."""

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn_rank._engine.kernels.cascade import cascade, cascade_upwards
from sklearn_rank._engine.kernels.sums import cumsum, joint, means_of_grades, means_of_items

from sklearn_rank._engine.ranking import NO_CUTOFF

SIZES = [[1], [2], [3], [4], [5], [6], [1, 1, 1, 1, 1, 1], [1, 3, 1], [2, 2, 2], [4, 2], [1, 5], [2, 1, 1, 1], [3, 3]]
LONG = [(3, 2, 9), (15, 3, 6), (30, 2, 100), (0, 3, 1023), (1020, 3, 40)]
SIZES += [[1] * n for n in (*range(7, 14), 16, 17, 40, 127, 129, 1025)]
SIZES += [[*[1] * n, size, *[1] * m] for n, size, m in LONG]
SIZES += [[4, *[1] * 20], [2, 2, *[1] * 13, 3], [*[1] * 126, 2, 2, 1, 1], [*[1] * 1022, 2, 2, *[1] * 9]]
"""Sizes of the tie blocks of lists, with few ties where they are long: they have few enough orders to look at each."""

LONGEST = max(map(sum, SIZES))

LISTS = [sizes for seed in range(4) for sizes in np.random.default_rng(seed).permutation(np.array(SIZES, dtype=object))]


def lists(table):
    """Grades, their values, starts of lists, and ends of tie blocks; a list without ties is marked."""
    ptr = np.cumsum([0, *(sum(sizes) for sizes in LISTS)])
    grade = np.random.default_rng(0).integers(0, 5, ptr[-1]).astype(np.uint8)
    tie_end = np.zeros(ptr[-1], dtype=np.int64)
    for start, sizes in zip(ptr[:-1], LISTS, strict=True):
        ends = start + np.cumsum(sizes)
        tie_end[[start, *ends[:-1]]] = ends if max(sizes) > 1 else 0
    return grade, table[grade], ptr, tie_end


def expected(of_order, ptr):
    """Values of a naive twin, list by list, averaged over all orders of the rows."""
    return [
        naive.over_orders(sizes, lambda order, start=start: of_order(start + order))
        for start, sizes in zip(ptr[:-1], LISTS, strict=True)
    ]


def both_ways(table, values, grade):
    """Values by lookup, and as an array."""
    return (table, grade), (values, None)


TABLES = {
    "gains": np.exp2(np.arange(32.0)) - 1,
    "fractions": np.sqrt(np.arange(32.0)) / 9,
    "relevant": (np.arange(32) > 1) * 1.0,
}


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
@pytest.mark.parametrize("cutoffs", [[1], [2, 4], [NO_CUTOFF]], ids=str)
@pytest.mark.parametrize("discounted", [False, True])
@pytest.mark.parametrize("per_rank", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_sums(table, cutoffs, discounted, per_rank, weighted):
    grade, values, ptr, ends = lists(table)
    rng = np.random.default_rng(1)
    weight, discount = rng.random(len(values)) if weighted else np.ones(1), rng.random(LONGEST)
    by_rank = (discount if discounted else np.ones(LONGEST)) / (np.arange(1, LONGEST + 1) if per_rank else 1)

    def sums(rows):
        at = np.sort(rows)
        terms = values[rows] * by_rank[at - at[0]] * (weight[at] if weighted else 1.0)
        return np.append(0.0, np.cumsum(terms))[np.minimum(cutoffs, len(rows))]

    for value, of in both_ways(table, values, grade):
        found = np.empty((len(LISTS), len(cutoffs)))
        cumsum(value, of, weight, discount if discounted else None, per_rank, ptr, np.array(cutoffs), ends, found)
        assert_allclose(found, expected(sums, ptr), rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)
def test_joint_sums(table):
    grade, values, ptr, ends = lists(table)
    twins = np.concatenate(expected(lambda rows: naive.joint(values[rows], grade[rows]), ptr))
    grades = np.arange(32.0)
    for x, of_x in both_ways(table, values, grade):
        for y, of_y in both_ways(grades, grades[grade], grade):
            found = np.empty(len(grade))
            joint(x, of_x, y, of_y, None, ptr, ends, np.empty((2, LONGEST + 1)), found)
            assert_allclose(found, twins, rtol=1e-13)


@pytest.mark.parametrize("most", [0, 1, 2, 9])
def test_joint_sums_up_to_a_limit(most):
    grade, relevant, ptr, ends = lists(TABLES["relevant"])
    others, limits = 1 - relevant, np.full(len(LISTS), float(most))
    twins = np.concatenate(expected(lambda rows: naive.joint(relevant[rows], others[rows], most), ptr))
    found = np.empty(len(grade))
    joint(relevant, None, others, None, limits, ptr, ends, None, found)
    assert_allclose(found, twins, rtol=1e-13, atol=1e-15)


@pytest.mark.parametrize("of_labels", [False, True])
def test_sums_of_means_kernel(of_labels):
    table = TABLES["relevant"]
    grade, relevant, ptr, ends = lists(table)
    of = np.arange(32.0) if of_labels else table
    twins = expected(lambda rows: naive.sum_of_means(relevant[rows], of[grade[rows]]), ptr)
    for at in (1, 3, NO_CUTOFF):
        by_grade, by_item = np.empty((2, len(LISTS), 1))
        means_of_grades(grade, table, of, ptr, np.array([at]), ends, by_grade)
        means_of_items(relevant, of[grade], ptr, np.array([at]), ends, by_item)
        assert_allclose(by_grade[:, 0], [twin[:at][-1] for twin in twins], rtol=1e-13)
        assert_array_equal(by_item, by_grade)


P = {
    "none is sure": np.arange(32) / 40,
    "some are sure": np.minimum(np.arange(32) / 3, 1),
    "all or nothing": TABLES["relevant"],
}


@pytest.mark.parametrize("p", P.values(), ids=P)
def test_cascades(p):
    grade, values, ptr, ends = lists(p)
    down = np.concatenate(expected(lambda rows: naive.cascade(values[rows]), ptr))
    up = np.concatenate(expected(lambda rows: naive.cascade(values[rows[::-1]])[::-1], ptr))
    for x, of in both_ways(p, values, grade):
        found = np.full(len(grade), np.nan)
        assert cascade(x, of, ptr, ends, NO_CUTOFF, np.empty((2, LONGEST + 1)), found)
        assert_allclose(found, down, rtol=1e-13, atol=1e-16)
        assert cascade_upwards(x, of, ptr, ends, np.empty((5, LONGEST + 1)), found)
        assert_allclose(found, up, rtol=1e-13, atol=1e-16)
