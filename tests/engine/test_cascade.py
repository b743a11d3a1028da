"""Cascades: exact over tied items for any probabilities; the bits of a list do not depend on other lists."""

from fractions import Fraction
from math import comb, expm1
from time import process_time

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from registry import about, together
from sklearn_rank._engine.kernels.cascade import cascade

from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Labels, Ranking

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
    """Grades, starts of lists, and ends of tie blocks of some sizes; every fourth list has no ties."""
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
    """Stop probabilities, and whether any is above 0."""
    memory, out = np.empty((2, 1501)), np.full(ptr[-1], np.nan)
    known = cascade(p, grade, ptr, tie_end, NO_CUTOFF, memory, out)
    return known, out


@together("grades", [2, 5, 8, 9, 12])
@pytest.mark.parametrize("sizes", [[1], [1, 1, 1, 2], [1, 2, 3], [2, 3], [1, 4, 8], [3, 8, 9], [1, 20]], ids=str)
@pytest.mark.parametrize("name", PROBABILITIES)
def test_cascade_bits_do_not_depend_on_other_lists(name, sizes, grades):
    """With other lists, as a single list, and with a number per item."""
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


def test_probabilities_may_exceed_bounds_by_rounding():
    lowest = 0.5 - (0.5 + 1e-9)
    for p, known in {lowest: True, 2 * lowest: False, 1 - lowest / 2: True, 1 - 2 * lowest: False}.items():
        assert cascade(np.array([p]), None, np.array([0, 1]), None, 1, np.empty((1, 2)), np.empty(1)) == known


# --- exact over tied items -----------------------------------------------------------------------------------

STOPS = {
    "tiny": lambda rng, m: rng.random(m) * 1e-17,
    "small": lambda rng, m: rng.random(m) * 1e-4,
    "middling": lambda rng, m: rng.random(m) * 0.9,
    "near 1": lambda rng, m: 1 - rng.random(m) * 1e-4,
    "nearer 1": lambda rng, m: 1 - rng.random(m) * 1e-10,
    "of all sizes": lambda rng, m: 10.0 ** rng.integers(-20, 0, size=m),
    "one large": lambda rng, m: np.append(rng.random(m) * 1e-9, 0.7)[-m:],
    "three large": lambda rng, m: np.append(rng.random(m) * 1e-9, [0.5, 1, 2.0**-6])[-m:],
    "rising": lambda rng, m: np.sort(rng.random(m)) ** 4,
    "alike": lambda rng, m: 0.3 + 0.1 * rng.random(m),
    "hardly a number": lambda rng, m: rng.random(m) * 1e-305,
}
FEW_STOPS = {  # up to 16 distinct values
    "0": [0],
    "0 and a few 1": [0] * 9 + [1],
    "0 and a few": [0] * 9 + [0.5],
    "0, a few and a small one": [0, 0, 0, 0, 0, 1e-12, 1e-12, 1e-12, 1e-12, 0.25],
    "1 and many small": [1e-3] * 19 + [1],
    "0, 1 and between": [0, 1e-5, 0.3, 0.9, 1],
    "hardly any 0": [0, *[1 / 16] * 600, *[1 / 8] * 400],
    "all equal": [0.25],
    "grades": [0] * 51 + [1 / 16] * 33 + [3 / 16] * 13 + [7 / 16] * 2 + [15 / 16],
    "hardly any": [0] * 995 + [1 / 16] * 2 + [15 / 16] * 3,
    "hardly ever 1": [0] * 900 + [1 / 8] * 99 + [1],
    "sixteenths": [i / 16 for i in range(16)],
}
STOPS |= {
    name: lambda rng, m, values=values: rng.choice(np.array(values, float), m) for name, values in FEW_STOPS.items()
}
STOPS |= {
    "one other": lambda rng, m: np.append(np.zeros(m - 1), 0.25),
    "one other, one certain": lambda rng, m: np.append(np.zeros(m), [0.25, 1.0])[-m:],
    "one other, seven certain": lambda rng, m: np.append(np.zeros(m), [0.25, *[1.0] * 7])[-m:],
}
OF_SIXTEENTHS = "grades", "hardly any", "hardly ever 1", "hardly any 0", "sixteenths", "all equal", "0 and a few"
SIZES = [[m] for m in (2, 3, 4, 5, 7, 8, 9, 16, 17, 30, 80, 100)]
SIZES += [[1, 100], [30, 1, 60], [3] * 20, [99, 1, 2], [2, 40, 40], [8, 1], [9, 1], [40, 1]]


def of_blocks(blocks, depth=NO_CUTOFF):
    """Stop probabilities in a list of tie blocks; one by one in the order of the items if the list has one block."""
    stop, score = np.concatenate(blocks), -np.repeat(np.arange(len(blocks)), [len(block) for block in blocks])
    ranked = Ranked(
        Ranking.by_score(Labels(stop, np.array([0, len(stop)])), score * 1.0, depth=depth), np.array([depth])
    )
    return ranked.cascade(ranked.label)


@pytest.mark.parametrize("drawn", STOPS)
def test_stops_over_tied_items_are_exact(drawn):
    """At any depth; lists with few items or few distinct values have the same bits in any order."""
    for sizes in SIZES[: 12 if drawn == "hardly a number" else None] + [[1000], [300, 700]] * (drawn in OF_SIXTEENTHS):
        with about(sizes):
            rng = np.random.default_rng([len(drawn), *sizes])
            blocks = [rng.permutation(STOPS[drawn](rng, size)) for size in sizes]
            found, exact = of_blocks(blocks), naive.stops(blocks)
            expected = np.array([*map(float, exact)])
            atol = expected[0] / 1e17
            assert_allclose(found, expected, rtol=1e-12, atol=atol)
            for depth in {1, 7, sizes[0], len(found) // 2, len(found) - 1} - {0}:
                assert_allclose(of_blocks(blocks, depth)[:depth], expected[:depth], rtol=1e-12, atol=atol)
            if drawn in FEW_STOPS or max(sizes) <= 8:
                assert_array_equal(of_blocks([*map(rng.permutation, blocks)]), found)


@pytest.mark.parametrize("n_relevant", [1, 5, 300, 100_000])
def test_cascade_over_a_huge_block(n_relevant):
    """After j items, C(n - h, j) / C(n, j) of the users are left, a product of ratios; h items stop with 1/2."""
    n = 200_000
    stop = np.repeat([1.0, 0.0], [n_relevant, n - n_relevant])
    left = np.arange(n, 0, -1.0)
    alive = np.append(1.0, np.cumprod(np.maximum(left - n_relevant, 0) / left))
    assert_allclose(of_blocks([stop]), -np.diff(alive), rtol=1e-9, atol=1e-17)
    half = of_blocks([stop / 2])  # the total stop probability is that of h coin flips
    assert_allclose([half[0], half.sum()], [n_relevant / n / 2, 1 - 0.5**n_relevant], rtol=1e-9)


def test_no_stop_without_a_stop_probability():
    """Not even by a rounding error."""
    assert_array_equal(of_blocks([np.zeros(10**5)]), 0.0)


@pytest.mark.parametrize(
    ("drawn", "limit"), [("small", 1.0), ("tiny", 0.5), ("rising", 0.5), ("of all sizes", 1.0), ("one large", 1.0)]
)
def test_a_large_block_of_small_probabilities_is_not_quadratic(drawn, limit):
    rng = np.random.default_rng(0)
    stop = STOPS[drawn](rng, 40_000)
    begin = process_time()
    found = of_blocks([stop])
    assert process_time() - begin < limit  # at least 2.5 billion single steps
    assert_allclose(found[0], stop.mean(), rtol=1e-12)
    assert_allclose(found.sum(), -expm1(np.log1p(-np.minimum(stop, 1 - 1e-280)).sum()), rtol=1e-11)
    assert (found >= 0).all()
    assert (np.diff(found) <= 1e-15 * found[0]).all()  # users who stopped


def test_large_blocks_agree_with_the_exact_sum_of_two_values():
    """1,990 of 2,000 items with one probability and ten with another, by hypergeometric probabilities."""
    m, n, p, q = 2000, 10, 1e-3, 0.25
    others = np.random.default_rng(0).permutation(np.repeat([p, q], [m - n, n]))
    alive = [
        sum(
            Fraction(comb(n, i) * comb(m - n, j - i), comb(m, j)) * (1 - Fraction(q)) ** i * Fraction(0.999) ** (j - i)
            for i in range(max(0, j - m + n), min(n, j) + 1)
        )
        for j in (0, 1, 2, 500, 501, 1999, 2000)
    ]
    found = of_blocks([others])
    for place, (a, b) in zip([0, 1, 500, 1999], [alive[0:2], alive[1:3], alive[3:5], alive[5:7]], strict=True):
        assert_allclose(found[place], float(a - b), rtol=1e-11)
