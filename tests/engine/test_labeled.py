"""Queries with few labeled rows: only labeled rows are placed, without sorting the others."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine.kernels.order import rank_queries
from sklearn_rank._engine.kernels.sorting import memory_for
from sklearn_rank._engine.ranking import NO_CUTOFF, TIE_POLICIES

LENGTHS = [1, 2, 15, 16, 17, 18, 19, 20, 21, 23, 24, 31, 40, 41, 42, 43, 44, 64, 100, 127, 128, 129, 300, 1000, 1001]


def lists(n_labels, tied, rng):
    """Grades and scores of lists of each length; labels are scattered, at the start, or at the end."""
    for n in LENGTHS:
        for k in range(6):
            score, grade = rng.permutation(n) - n / 2, np.zeros(n, dtype=np.uint8)
            m = min(n_labels, n)
            at = [rng.choice(n, m, replace=False), np.arange(m), np.arange(n - m, n)][k % 3]
            grade[at] = rng.integers(1, 32, m)
            if tied == "others":
                others = np.flatnonzero(grade == 0)
                score[others[: len(others) // 2]] = rng.choice(score, len(others) // 2)
                score = np.where(np.isin(score, score[at]) & (grade == 0), -n, score)
            elif tied == "a label" and n > m > 0:
                score[at[k % m]] = score[rng.choice(np.flatnonzero(grade == 0))]
            elif tied == "two labels" and m > 1:
                score[at[0]] = score[at[1]]
            yield grade, score


def ranked(grade, score, indptr, depth, ties, only_grades):
    """Grades by rank, starts of lists, and ends of ties if requested."""
    n = len(grade)
    out, tie_end, ptr = np.full(n, 99, dtype=np.uint8), np.full(n, -1), np.empty(len(indptr), dtype=np.int64)
    of_type = (None, score) if score.dtype == np.float32 else (score, None)
    rows, memory = (None, grade, indptr), np.empty(memory_for(max(LENGTHS)))
    tied = rank_queries(
        *of_type, *rows, depth, TIE_POLICIES[ties], False, max(LENGTHS), None, tie_end, ptr, out, memory, only_grades
    )
    assert (out[ptr[-1] :] == 99).all()
    return out, ptr, tie_end if tied else None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("ties", ["average", "stable"])
@pytest.mark.parametrize("depth", [1, 10, 41, NO_CUTOFF])
@pytest.mark.parametrize("tied", ["none", "others", "a label", "two labels"])
def test_grades_are_placed_as_by_a_sort(tied, depth, ties, dtype, rng):
    for n_labels in (0, 1, 2, 3, 4, 5, 8, 12, 13):
        parts = [*lists(n_labels, tied, rng)]
        grade, score = (np.concatenate(part) for part in zip(*parts, strict=True))
        indptr = np.cumsum([0, *(len(labels) for labels, _ in parts)])
        of_all = ranked(grade, score.astype(dtype), indptr, depth, ties, only_grades=False)
        of_labeled = ranked(grade, score.astype(dtype), indptr, depth, ties, only_grades=True)
        for q in range(len(parts)):
            n = min(depth, len(parts[q][0]))
            expected, found = (out[ptr[q] : ptr[q + 1]] for out, ptr, _ in (of_all, of_labeled))
            assert len(expected) >= len(found) >= n
            ends_expected, ends_found = (ends_of(*one[1:], q) for one in (of_all, of_labeled))
            if found_alone(parts[q], depth):
                assert_array_equal(found, expected[:n])
                assert ends_found is None
            else:
                assert_array_equal(found, expected)
                assert_array_equal(ends_found, ends_expected)


@pytest.mark.parametrize("depth", [1, 10, 99])
def test_nothing_is_written_below_a_cutoff(depth):
    """The only labeled row is the first below the cutoff."""
    grade, score = np.zeros(100, dtype=np.uint8), -np.arange(100.0)
    grade[depth] = 1
    out, ptr, tie_end = ranked(grade, score, np.array([0, 100]), depth, "average", only_grades=True)
    assert list(ptr) == [0, depth]
    assert not out[:depth].any()
    assert tie_end is None


def ends_of(ptr, tie_end, q):
    """Tie ends of a list, from its start on; None if none were requested."""
    start, stop = ptr[q : q + 2]
    return None if tie_end is None or tie_end[start] == 0 else block_ends(tie_end, start, stop)


def block_ends(tie_end, start, stop):
    ends = [start]
    while ends[-1] < stop and len(ends) <= stop - start:
        ends.append(tie_end[ends[-1]])
    return np.array(ends) - start


def found_alone(rows, depth):
    """Whether so few rows have a label that only they are placed, and none of them is tied."""
    grade, score = rows
    n, labeled = len(grade), score[grade > 0]
    few = min(n // 5, 3 if depth < n else 12)
    untied = len(np.unique(labeled)) == len(labeled) and not np.isin(score[grade == 0], labeled).any()
    return n >= 16 and score[0] != score[-1] and len(labeled) <= few and (grade[-8:] > 0).sum() <= 3 and untied
