"""Pairs and centered ranks against naive twins; upward cascades equal downward cascades of reversed lists."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine.kernels import agreement as agreement_kernels
from sklearn_rank._engine.kernels import cascade as cascade_kernels
from sklearn_rank._engine.kernels import order as order_kernels

LENGTHS = [0, 1, 2, 3, 7, 8, 9, 40, 0, 100, 1025, 1500]

NO_TIES = 0


def lists(n_grades, mean_block, seed=0):
    """Grades, starts of lists, and ends of tie blocks: for every list, every other list, or none."""
    rng = np.random.default_rng([n_grades, int(mean_block), seed])
    ptr = np.append(0, np.cumsum(LENGTHS))
    grade = rng.integers(0, n_grades, ptr[-1]).astype(np.uint8)
    tie_end = np.full(ptr[-1], -1)
    for q, (start, stop) in enumerate(pairwise(ptr)):
        is_start = rng.random(stop - start) < 1 / mean_block
        starts = start + np.flatnonzero(np.append(True, is_start[1:]))[: stop - start]
        if q % 4 == 3 or len(starts) == stop - start:
            tie_end[start : min(start + 1, stop)] = NO_TIES
        else:
            tie_end[starts] = np.append(starts[1:], stop)
    return grade, ptr, None if mean_block == 1 else tie_end


def memory_of_sorts():
    n = max(LENGTHS)
    return np.empty(n), np.empty(n), *np.empty((2, n), dtype=np.int64)


each_list = pytest.mark.parametrize("mean_block", [1, 2, 20])
each_scale = pytest.mark.parametrize("n_grades", [1, 2, 4, 5, 6, 12, 32])


@each_list
@each_scale
def test_pairs_and_ranks_match_all_pairs(n_grades, mean_block):
    grade, ptr, tie_end = lists(n_grades, mean_block)
    label, ends = grade.astype(float), np.arange(1, len(grade) + 1)
    if tie_end is not None:
        order_kernels.spread_tie_ends(ptr, tie_end, ends)
    pairs, (by_label, by_score) = np.empty((len(LENGTHS), 4)), np.empty((2, len(grade)))
    agreement_kernels.pairs(label, ptr, tie_end, pairs, *memory_of_sorts())
    agreement_kernels.centered_ranks(label, ptr, by_label, *memory_of_sorts())
    agreement_kernels.centered_ranks_of_ties(ptr, tie_end, by_score)
    for q, (start, stop) in enumerate(pairwise(ptr)):
        assert_array_equal(pairs[q], naive.pairs(label[start:stop], ends[start:stop]))
        assert_array_equal(by_label[start:stop], naive.centered_ranks(label[start:stop]))
        assert_array_equal(by_score[start:stop], naive.centered_ranks(-ends[start:stop]))


@pytest.mark.parametrize("of_grades", [True, False])
def test_a_cascade_upwards_reports_invalid_probabilities(of_grades):
    p, grade, ptr = np.array([0.5, 2.0]), np.array([0, 1], dtype=np.uint8), np.array([0, 2])
    for ends in (None, np.array([2, 2])):
        table = np.append(p, np.zeros(30)) if of_grades else p
        given = table, grade if of_grades else None, ptr, ends
        assert not cascade_kernels.cascade_upwards(*given, np.empty((5, 3)), np.empty(2))
