"""The order of a block of queries, shared by all metrics that agree on it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank import _kernels
from sklearn_rank._engine.unlisted import DocumentsWithoutRow
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index

NO_CUTOFF = 2**62
"""The depth of a list that is read to its end."""


TIE_POLICIES = {
    "average": _kernels.AVERAGE,
    "stable": _kernels.STABLE,
    "worst": _kernels.WORST,
    "best": _kernels.BEST,
}


class Ranking:
    """The order of a block of queries, best score first, down to a depth, under one tie policy.

    `order` holds the row at each position, `ptr` the first position of each query, `tie_end` the end of the
    tie block around each position, or None where the order is taken as it stands. Labels of
    subtopics have a second axis; `subtopics` are then rankings that differ in their labels alone. `unlisted` documents
    have no row, and count where documents are counted.
    """

    unlisted: DocumentsWithoutRow | None = None

    def __init__(
        self,
        label: Array,
        score: Array,
        indptr: Index,
        *,
        depth: int = NO_CUTOFF,
        ties: str = "average",
        keep_unretrieved: bool = False,
        unlisted: DocumentsWithoutRow | None = None,
    ) -> None:
        self.row_label, self.row_score, self.indptr = label, score, indptr
        self.depth, self.unlisted = depth, unlisted
        n_rows, longest = len(score), _longest(indptr)
        order = np.empty(n_rows, dtype=np.int64)
        tie_end = np.empty(n_rows if ties == "average" else 0, dtype=np.int64)
        self.ptr = np.empty(len(indptr), dtype=np.int64)
        tied = _kernels.rank_queries(
            score, label if label.ndim == 1 else score, indptr, depth, TIE_POLICIES[ties], keep_unretrieved,
            order, tie_end, self.ptr,
            np.empty(longest), np.empty(2 * longest), *np.empty((2, 2 * longest + 1), dtype=np.int64),
        )  # fmt: skip
        n_positions = self.ptr[-1]
        self.order = order[:n_positions]
        self.tie_end = tie_end[:n_positions] if tied else None

    def with_other(self, **attributes: Any) -> Ranking:
        """A ranking that differs in some attributes; what was computed of this one is not taken over."""
        kept = ("row_label", "row_score", "indptr", "unlisted", "depth", "order", "ptr", "tie_end")
        other = Ranking.__new__(Ranking)
        vars(other).update({name: getattr(self, name) for name in kept} | attributes)
        return other

    def cut(self, depth: int) -> Ranking:
        """The order down to a depth, as if it had never been ranked deeper: to the end of the tie block at `depth`."""
        if depth >= self.depth:
            return self
        start, length = self.ptr[:-1], np.minimum(self.length, depth)
        if self.tie_end is not None:
            length = np.where(length > 0, self.tie_end.take(start + length - 1, mode="clip") - start, 0)
        kept, ptr = self.rank <= np.repeat(length, self.length), np.append(0, np.cumsum(length))
        tie_end = None if self.tie_end is None else self.tie_end[kept] - np.repeat(start - ptr[:-1], length)
        return self.with_other(depth=depth, order=self.order[kept], ptr=ptr, tie_end=tie_end)

    @cached_property
    def label(self) -> Array:
        return _read_only(self.row_label.take(self.order, axis=0))

    @cached_property
    def score(self) -> Array:
        return _read_only(self.row_score.take(self.order))

    @cached_property
    def length(self) -> Index:
        """Positions of each query."""
        return np.diff(self.ptr)

    @cached_property
    def rank(self) -> Index:
        rank = np.empty(self.ptr[-1], dtype=np.int64)
        _kernels.number(self.ptr, rank)
        return _read_only(rank)

    @cached_property
    def shared(self) -> dict[Any, Array]:
        """What one formula has computed and others may read."""
        return {}

    @cached_property
    def judged(self) -> tuple[Array, Index]:
        """Labels of the documents that an ideal list is made of, and where each query starts."""
        rows = self.row_label, self.indptr
        return rows if self.unlisted is None else self.unlisted.add_kept(*rows)

    @cached_property
    def ideal(self) -> Ranking:
        return Ideal(*self.judged, self.depth)

    @cached_property
    def subtopics(self) -> list[Ranking]:
        """The same order with the labels of each subtopic; labels without a second axis are one subtopic."""
        if self.row_label.ndim == 1:
            return [self]
        of_all = {"rank": self.rank, "length": self.length}
        return [self.with_other(row_label=label, **of_all) for label in np.ascontiguousarray(self.row_label.T)]


def _read_only(x: NDArray[Any]) -> Any:
    """View that no formula can change, as several read it."""
    x = x.view()
    x.flags.writeable = False
    return x


def _longest(indptr: Index) -> int:
    """Rows of the longest query."""
    length = indptr[1:] - indptr[:-1]
    return int(length[length.argmax()])


class Ideal(Ranking):
    """The best order of each query: every judged document, highest label first."""

    def __init__(self, label: Array, indptr: Index, depth: int) -> None:
        self.row_label, self.row_score, self.indptr = label, label, indptr
        self.depth, self.tie_end = depth, None
        longest = _longest(indptr)
        out, self.ptr = np.empty(len(label)), np.empty(len(indptr), dtype=np.int64)
        _kernels.rank_labels(
            label, indptr, depth, out, self.ptr,
            np.empty(2 * longest), *np.empty((3, 2 * longest + 1), dtype=np.int64),
        )  # fmt: skip
        self.label = self.score = _read_only(out[: self.ptr[-1]])


class Greedy(Ranking):
    """An order of all judged documents in which each adds most to those before it.

    A document adds the sum of its relevant subtopics, each worth (1 - alpha)**(relevant documents before). Among
    equals the one relevant to the first subtopic comes first, then to the second, and so on, so that the order of the
    rows decides nothing but which of several with the same labels it is.
    """

    def __init__(self, label: Array, indptr: Index, *, depth: int, alpha: float, min_relevance: float) -> None:
        self.row_label, self.row_score, self.indptr = label, np.zeros(len(label)), indptr
        self.depth, self.tie_end = depth, None
        relevant = (label.reshape(len(label), label.shape[-1] if label.ndim == 2 else 1) >= min_relevance) * 1.0
        query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        by_labels = np.lexsort([*-relevant.T[::-1], query])
        order, self.ptr = np.empty(len(label), dtype=np.int64), np.empty(len(indptr), dtype=np.int64)
        _kernels.rank_greedily(
            relevant[by_labels], indptr, depth, 1.0 - alpha, order, self.ptr,
            np.empty(relevant.shape[1]), np.empty(len(label)), np.empty((2, len(label)), dtype=np.int64),
        )  # fmt: skip
        self.order = by_labels[order[: self.ptr[-1]]]


class AsGiven(Ranking):
    """Rows in the order they came: for pointwise errors, which no order can change."""

    def __init__(self, label: Array, score: Array, indptr: Index) -> None:
        self.row_label, self.row_score, self.indptr, self.ptr = label, score, indptr, indptr
        self.depth, self.tie_end = NO_CUTOFF, None
        self.label, self.score = _read_only(label), _read_only(score)

    @cached_property
    def order(self) -> Index:
        return np.arange(len(self.label))


class InOrder(AsGiven):
    """Whole lists whose rows come best score first; runs of equal scores end at `tie_ends`, None: ties are no ties.

    Few formulas read scores, which may be of a smaller type until then.
    """

    def __init__(self, label: Array, score: NDArray[Any], indptr: Index, tie_ends: Index | None) -> None:
        self.row_label, self.small_score, self.indptr, self.ptr = label, score, indptr, indptr
        self.label, self.depth, self.tie_end = _read_only(label), NO_CUTOFF, None
        if tie_ends is not None and len(tie_ends) < len(score):
            self.tie_end = np.repeat(tie_ends, np.diff(tie_ends, prepend=0))

    @cached_property
    def score(self) -> Array:
        return _read_only(self.small_score.astype(np.float64))

    @cached_property
    def row_score(self) -> Array:
        return self.score
