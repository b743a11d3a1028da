"""Plain rows, read 64 at a time by vectors where the processor has them, are what NumPy sees, of whatever types."""

import numpy as np
import pytest

from sklearn_rank._engine.kernels.checks import read_plain

LABELS = [np.float64, np.float32, np.int64, np.int32]
SCORES = [np.float64, np.float32]
IDS = [np.int64, np.int32, np.uint64, np.uint32]
N_ROWS = 400
ROWS = [0, 1, 63, 64, 127, *range(128, 272), 319, 320, 398, 399]
"""Rows that are read in all ways: the first and the last few one by one, the others by vectors, each place in them."""


def read(label, score, ids, begin=0, end=None):
    """Facts about rows, their grades, starts and ids of queries, the longest, and whether all scores are one."""
    end = len(ids) if end is None else end
    grade, starts = np.full(len(ids), 77, dtype=np.uint8), np.empty(end - begin + 1, dtype=np.int64)
    heads = np.empty(end - begin, dtype=ids.dtype)
    found = read_plain(label, score, ids, begin, end, grade, starts, heads)
    if found is None:
        return None
    facts, n, longest, is_constant = found
    return facts, grade[begin:end], starts[:n], heads[: n - (end == len(ids))], longest, is_constant


def check(label, score, ids):
    """Hold it against what NumPy finds."""
    facts, grade, starts, heads, longest, is_constant = read(label, score, ids)
    known = label[label == label]
    are_grades = bool(np.isin(label, np.arange(32)).all())
    bad = np.isnan(score) | np.isposinf(score)
    assert facts == (
        known.min(), known.max(), len(known) < len(label), are_grades, np.isneginf(score).any(), bad.any(),
    )  # fmt: skip
    if are_grades:
        np.testing.assert_array_equal(grade, label)
    begins = np.flatnonzero(np.append(True, ids[1:] != ids[:-1]))
    np.testing.assert_array_equal(starts, np.append(begins, len(ids)))
    np.testing.assert_array_equal(heads, ids[begins])
    assert longest == np.diff(starts).max()
    assert is_constant == (len({x.tobytes() for x in score}) == 1)


def rows(label=np.float64, score=np.float64, ids=np.int64, n_rows=N_ROWS, length=7, seed=0):
    """Some rows of queries of up to so many."""
    rng = np.random.default_rng(seed)
    new = np.append(False, rng.random(n_rows - 1) < 2 / (1 + length))
    first = -40 if np.issubdtype(ids, np.signedinteger) else 2 ** (8 * np.dtype(ids).itemsize - 1) - 40
    numbers = np.cumsum(new).astype(ids) + np.array(first, dtype=ids)  # both halves of an unsigned type
    return rng.integers(2, 6, n_rows).astype(label), rng.normal(size=n_rows).astype(score), numbers


@pytest.mark.parametrize("ids", IDS)
@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("label", LABELS)
def test_rows_of_any_types(label, score, ids):
    for seed, (n_rows, length) in enumerate(
        zip([1, 64, 127, 128, 191, 192, 193, 256, 1000], [1, 2, 5, 9] * 3, strict=False)
    ):
        check(*rows(label, score, ids, n_rows, length, seed))


@pytest.mark.parametrize("label", LABELS)
def test_one_odd_label_anywhere(label):
    odd = [0, 31, 32, -1, 255, 256, 65536, 2**31 - 1, -(2**31)]
    odd += [2**32, 2**32 + 3, -(2**52), 2**53] if np.dtype(label).itemsize == 8 else []
    odd += [-0.0, 0.5, 5e-324, np.nan, np.inf, -np.inf, -(2.0**23), 2.0**24] if np.dtype(label).kind == "f" else []
    labels, score, ids = rows(label)
    for row in ROWS:
        for value in odd:
            changed = labels.copy()
            changed[row] = value
            check(changed, score, ids)


@pytest.mark.parametrize("score", SCORES)
def test_one_odd_score_anywhere(score):
    label, scores, ids = rows(score=score)
    for row in ROWS:
        for value in (np.nan, -np.nan, np.inf, -np.inf, -0.0, np.finfo(score).max, np.finfo(score).smallest_subnormal):
            changed = scores.copy()
            changed[row] = value
            check(label, changed, ids)


@pytest.mark.parametrize("score", SCORES)
def test_all_scores_but_one_are_the_same(score):
    label, _, ids = rows()
    for same, other in ((0.0, -0.0), (1.5, 1.25), (-2.0, 2.0)):
        scores = np.full(N_ROWS, same, dtype=score)
        check(label, scores, ids)
        for row in ROWS:
            changed = scores.copy()
            changed[row] = other
            check(label, changed, ids)


def test_scores_that_change_once():
    """Rows that are read together may all have one score, and those before them another."""
    label, _, ids = rows()
    for row in range(1, N_ROWS):
        check(label, np.where(np.arange(N_ROWS) < row, 0.5, 1.5), ids)


@pytest.mark.parametrize("ids", IDS)
def test_an_id_that_falls_anywhere(ids):
    label, score, numbers = rows(ids=ids)
    for row in ROWS[1:]:
        changed = np.append(numbers[:row], numbers[: N_ROWS - row])  # from the first one on again
        if changed[row] == changed[row - 1]:
            changed[:row] += changed.dtype.type(1)
        assert read(label, score, changed) is None


@pytest.mark.parametrize("begin", [0, 1, 64, 130])
@pytest.mark.parametrize("end", [131, 192, 193, 256, 258, 330, 399, 400])
def test_some_of_the_rows(begin, end):
    """Starts are those of queries that begin there; a first row begins one only if the row before is of another."""
    label, score, ids = rows()
    facts, grade, starts, heads, _, _ = read(label, score, ids, begin, end)
    assert facts[:2] == (label[begin:end].min(), label[begin:end].max())
    np.testing.assert_array_equal(grade, label[begin:end])
    _, _, all_starts, all_heads, _, _ = read(label, score, ids)
    those = (all_starts >= begin) & ((all_starts < end) | (end == N_ROWS))
    np.testing.assert_array_equal(starts, all_starts[those])
    np.testing.assert_array_equal(heads, all_heads[those[:-1]])


def test_the_range_of_labels_is_seen_anywhere():
    label, score, ids = rows()
    for row in ROWS:
        for value in (0.0, 1.0, 6.0, 31.0):
            changed = label.copy()
            changed[row] = value
            facts = read(changed, score, ids)[0]
            assert facts[:2] == (changed.min(), changed.max())
