"""Pairs and centred ranks against naive twins; cascades upwards are those down lists that are turned round."""

from itertools import pairwise

import naive
import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import stats

from sklearn_rank import evaluate
from sklearn_rank._engine.kernels import agreement as agreement_kernels
from sklearn_rank._engine.kernels import cascade as cascade_kernels
from sklearn_rank._engine.kernels import order as order_kernels
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, TIE_POLICIES, Labels, Ranking

LENGTHS = [0, 1, 2, 3, 7, 8, 9, 40, 0, 100, 1025, 1500]

NO_TIES = 0


def lists(n_grades, mean_block, seed=0):
    """Grades, where lists start, and where tie blocks end: of every list, of every other, or of none."""
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
def test_pairs_and_ranks_are_those_of_each_item_with_each(n_grades, mean_block):
    grade, ptr, tie_end = lists(n_grades, mean_block)
    label, ends = grade.astype(float), np.arange(1, len(grade) + 1)
    if tie_end is not None:
        order_kernels.spread_tie_ends(ptr, tie_end, ends)
    pairs, (by_label, by_score) = np.empty((len(LENGTHS), 4)), np.empty((2, len(grade)))
    agreement_kernels.pairs(label, ptr, tie_end, pairs, *memory_of_sorts())
    agreement_kernels.centred_ranks(label, ptr, by_label, *memory_of_sorts())
    agreement_kernels.centred_ranks_of_ties(ptr, tie_end, by_score)
    for q, (start, stop) in enumerate(pairwise(ptr)):
        assert_array_equal(pairs[q], naive.pairs(label[start:stop], ends[start:stop]))
        assert_array_equal(by_label[start:stop], naive.centred_ranks(label[start:stop]))
        assert_array_equal(by_score[start:stop], naive.centred_ranks(-ends[start:stop]))


@pytest.mark.parametrize("ties", TIE_POLICIES)
@pytest.mark.parametrize("of_grades", [True, False])
def test_ranks_are_of_equal_scores_whatever_their_order(ties, of_grades):
    rng = np.random.default_rng(1)
    grade, score, indptr = rng.integers(0, 5, 300).astype(np.uint8), rng.integers(0, 40, 300) / 7, np.array([0, 300])
    labels = Labels(grade.astype(float), indptr, grade=grade if of_grades else None, highest=4)
    r = Ranked(Ranking.by_score(labels, score, ties=ties), np.array([NO_CUTOFF]))
    for x in (r.score, r.label):
        assert_array_equal(r.centred_ranks(x), stats.rankdata(-x) - 150.5)


@each_list
@pytest.mark.parametrize("of_grades", [True, False])
@pytest.mark.parametrize("worth", [np.arange(32) / 32, np.arange(32) > 3, np.arange(32) / 3000])
def test_a_cascade_upwards_is_one_down_lists_turned_round(worth, of_grades, mean_block):
    grade, ptr, tie_end = lists(5, mean_block)
    p = np.asarray(worth, dtype=float)
    n, longest = len(grade), max(LENGTHS) + 1
    found, expected = np.full((2, n), 7.0)
    given = (p, grade) if of_grades else (p[grade], None)
    assert cascade_kernels.cascade_upwards(*given, ptr, tie_end, np.empty((5, longest)), found)

    turned = np.concatenate([np.arange(start, stop)[::-1] for start, stop in pairwise(ptr)])
    ends = None
    if tie_end is not None:
        all_ends, ends = np.empty(n, dtype=np.int64), np.full(n, -1)
        order_kernels.spread_tie_ends(ptr, tie_end, all_ends)
        for start, stop in pairwise(ptr):
            for first in np.unique(all_ends[start:stop], return_index=True)[1] + start:
                ends[start + stop - all_ends[first]] = start + stop - first
            if start < stop and tie_end[start] == NO_TIES:
                ends[start] = NO_TIES
    given = (p, grade[turned]) if of_grades else (p[grade][turned], None)
    assert cascade_kernels.cascade(*given, ptr, ends, NO_CUTOFF, np.empty((2, longest)), expected)
    assert_array_equal(found[turned], expected)


@pytest.mark.parametrize("of_grades", [True, False])
def test_a_cascade_upwards_says_what_is_no_probability(of_grades):
    p, grade, ptr = np.array([0.5, 2.0]), np.array([0, 1], dtype=np.uint8), np.array([0, 2])
    for ends in (None, np.array([2, 2])):
        table = np.append(p, np.zeros(30)) if of_grades else p
        given = table, grade if of_grades else None, ptr, ends
        assert not cascade_kernels.cascade_upwards(*given, np.empty((5, 3)), np.empty(2))


@pytest.mark.parametrize("n_levels", [3, 40, 10**9])
@pytest.mark.parametrize("n_rows", [20, 300, 20_000])
def test_of_grades_they_are_those_of_scipy(n_rows, n_levels):
    rng = np.random.default_rng(n_levels)
    y_true, y_score = rng.integers(0, 5, n_rows), rng.integers(0, n_levels, n_rows) / 7
    names = {"tau": "kendall", "rho": "spearman", "coverage_error": "coverage_error(min_relevance=4)"}
    means = evaluate(y_true, y_score, qid=np.zeros(n_rows), metrics=names).mean()
    assert_allclose(means["tau"], stats.kendalltau(y_true, y_score).statistic, rtol=1e-12)
    assert_allclose(means["rho"], stats.spearmanr(y_true, y_score).statistic, rtol=1e-12)
    lowest = y_score[y_true == 4].min()
    n_above, n_tied, m = (y_score > lowest).sum(), (y_score == lowest).sum(), (y_true[y_score == lowest] == 4).sum()
    assert_allclose(means["coverage_error"], n_above + m * (n_tied + 1) / (m + 1), rtol=1e-12)
