"""Rows are ranked, and labels put in ideal order, as by a sort of NumPy."""

import numpy as np
from naive import expected_ranking

from sklearn_rank._engine.ranking import NO_CUTOFF, TIE_POLICIES, Labels, Ranking, as_grades

DEPTHS = 1, 2, 3, 7, 8, 10, 16, 33, 100, NO_CUTOFF
KINDS = "f8", "f4", "f2", "i1", "u1"
SCALES = 1.0, 5e-324, 1e307, -1.0


def check(data: bytes) -> None:
    """Four bytes choose the options, five the lengths of queries; the others are scores and labels."""
    if len(data) < 9:
        return
    asked, data = [*data[:4]], data[4:]
    lengths, data = [*data[:5]], data[5:]
    dtype = np.dtype(KINDS[asked[0] % len(KINDS)])
    n = len(data) // (dtype.itemsize + 1)
    with np.errstate(all="ignore"):
        score = np.frombuffer(data[: n * dtype.itemsize], dtype=dtype).astype("f4" if asked[0] >= 128 else "f8")
        score = score * score.dtype.type(SCALES[asked[1] % len(SCALES)])
    score[~(score < np.inf)] = 0.0
    label = np.frombuffer(data[n * dtype.itemsize :][:n], dtype=np.uint8).astype(float)
    label = (label % 32, label, label / 4, np.where(label > 200, np.nan, label % 5))[asked[1] // 64]
    indptr = np.minimum(np.append(0, np.cumsum(lengths)), n)
    indptr[-1] = n
    ties, depth = [*TIE_POLICIES][asked[2] % 4], DEPTHS[asked[3] % len(DEPTHS)]
    grade, keep = as_grades(label), asked[2] >= 128
    labels = Labels(label, indptr, grade=grade)
    got = Ranking.by_score(labels, score, depth=depth, ties=ties, keep_unretrieved=keep)
    order, tie_end, ptr = expected_ranking(score, label, indptr, depth, ties, keep)
    assert got.ptr.tolist() == [*ptr]
    assert got.order.tolist() == [*order]
    if [*tie_end] == [*range(1, len(order) + 1)]:
        assert got.tie_ends is None
    else:
        assert got.tie_ends.tolist() == [*tie_end]
    if np.isnan(label).any():
        return
    best = labels.best(depth)
    expected = [-np.sort(-label[a:b])[:depth] for a, b in zip(indptr[:-1], indptr[1:], strict=True)]
    assert best.label.tolist() == np.concatenate(expected).tolist()
