"""The order of a block of queries, shared by all metrics that agree on it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.block_labels import MOST_GRADE, BlockLabels, as_grades
from sklearn_rank._engine.kernels import grades as grades_kernels
from sklearn_rank._engine.kernels import order as order_kernels
from sklearn_rank._engine.kernels import sorting as sorting_kernels
from sklearn_rank._engine.kernels import sums as sums_kernels
from sklearn_rank._engine.shared import SharedArrays
from sklearn_rank._engine.take_rows import take_rows
from sklearn_rank._engine.unlisted import DocumentsWithoutRow
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Grade, Index

NO_CUTOFF = 2**62
"""Depth of a list that is read to its end."""

N_GRADES = MOST_GRADE + 1
"""Whole labels from 0 on that are kept as bytes."""

FEW = 2**9
"""Labels that a function takes as soon as a table is made."""

TIE_POLICIES = {
    "average": order_kernels.AVERAGE,
    "stable": order_kernels.STABLE,
    "worst": order_kernels.WORST,
    "best": order_kernels.BEST,
}


class Ranking:
    """The order of a block of queries, best score first, down to a depth, under one tie policy.

    Query q has the rows ``indptr[q]:indptr[q + 1]`` of `row_label` and `row_score`, and the positions
    ``ptr[q]:ptr[q + 1]`` of `order`, `label`, `grade`, `score`, `rank` and `tie_end`. `order` is the row at each
    position, or what makes it when it is asked for; `tie_end` is where a tie block ends that starts at the position,
    and anything where none does, 0 where a query without ties starts; without one the order is taken as it stands.
    `grade` is the label as a byte, None where labels are not known to be grades. Labels of subtopics have a second
    axis. `unlisted` documents have no row, and count where documents are counted.

    Rankings come from `by_score`, `by_label`, `by_novelty` and `as_given`. Without an `order` rows stand in order, or
    `sorted_label` holds the label, which is also the score, at each position.
    """

    holds_all = False
    """Whether it is known that each row that was retrieved, and no other, has a position."""

    has_all_ties = False
    """Whether it is known that equal scores are tied, and no others."""

    def __init__(
        self,
        row_label: Array | None,
        row_score: NDArray[Any],
        indptr: Index,
        ptr: Index,
        *,
        order: Index | Callable[[], Index] | None = None,
        sorted_label: Array | Grade | None = None,
        tie_end: Index | None = None,
        depth: int = NO_CUTOFF,
        unlisted: DocumentsWithoutRow | None = None,
        grade: Grade | None = None,
    ) -> None:
        self._row_label, self._row_score, self.indptr, self.ptr = row_label, row_score, indptr, ptr
        self._order, self._sorted_label, self.tie_end = order, sorted_label, tie_end
        self.depth, self.unlisted, self.grade = depth, unlisted, grade

    @classmethod
    def by_score(
        cls,
        label: Array | None,
        score: NDArray[Any],
        indptr: Index,
        *,
        depth: int = NO_CUTOFF,
        ties: str = "average",
        keep_unretrieved: bool = False,
        unlisted: DocumentsWithoutRow | None = None,
        grade: Grade | None = None,
    ) -> Ranking:
        """Rank rows by falling score; equal ones as the tie policy says, which may need the labels or grades."""
        n_rows, longest, ptr = len(score), order_kernels.longest(indptr), np.empty(len(indptr), dtype=np.int64)
        tie_end = np.empty(n_rows if ties == "average" else 0, dtype=np.int64)
        is_narrow, by_label = score.dtype == np.float32, grade is None and label is not None and label.ndim == 1
        has_order = by_label or grade is not None or ties == "average"  # subtopics have none
        out_grade = None if grade is None else np.empty(n_rows, dtype=np.uint8)

        def rank(order: Index | None, tie_end: Index, ptr: Index) -> bool:
            return order_kernels.rank_queries(
                None if is_narrow else score, score if is_narrow else None, label if by_label else None, grade, indptr,
                depth, TIE_POLICIES[ties if has_order else "stable"], keep_unretrieved, longest,
                order, tie_end, ptr, out_grade, np.empty(sorting_kernels.room_for(longest)),
            )  # fmt: skip

        def rank_again() -> Index:  # few formulas read it; it takes 8 bytes a row to write
            order = np.zeros(n_rows, dtype=np.int64)
            rank(order, np.empty_like(tie_end), np.empty_like(ptr))  # others are there if another thread writes scores
            return order[: ptr[-1]]

        order = np.empty(n_rows, dtype=np.int64) if grade is None else None
        tied, n = rank(order, tie_end, ptr), ptr[-1]
        ranking = cls(
            label, score, indptr, ptr, order=rank_again if order is None else order[:n],
            tie_end=tie_end[:n] if tied else None, depth=depth, unlisted=unlisted,
            grade=None if out_grade is None else _read_only(out_grade[:n]),
        )  # fmt: skip
        ranking.holds_all = depth == NO_CUTOFF and not keep_unretrieved
        ranking.has_all_ties = ties == "average"
        return ranking

    @classmethod
    def by_label(cls, label: Array, indptr: Index, depth: int) -> Ranking:
        """Rank all rows by falling label: the ideal order."""
        longest, ptr = order_kernels.longest(indptr), np.empty(len(indptr), dtype=np.int64)
        out = np.empty(len(label))
        order_kernels.rank_labels(label, indptr, depth, longest, out, ptr, np.empty(sorting_kernels.room_for(longest)))
        return cls(label, label, indptr, ptr, sorted_label=out[: ptr[-1]], depth=depth)

    @classmethod
    def by_grade(cls, grade: Grade, indptr: Index, depth: int, highest: int = MOST_GRADE) -> Ranking:
        """Rank all rows by falling label, labels being grades of at most `highest`: the ideal order."""
        out, ptr = np.empty(len(grade), dtype=np.uint8), np.empty(len(indptr), dtype=np.int64)
        grades_kernels.rank_grades(grade, indptr, depth, highest, out, ptr)
        best = _read_only(out[: ptr[-1]])
        ranking = cls(None, grade, indptr, ptr, sorted_label=best, depth=depth, grade=best)
        return ranking.sharing(BlockLabels(None, indptr, grade=grade, highest=highest))

    @classmethod
    def by_novelty(cls, label: Array, indptr: Index, *, depth: int, alpha: float, min_relevance: float) -> Ranking:
        """Rank all rows greedily, so that each adds most to those before it.

        A document adds the sum of its relevant subtopics, each worth (1 - alpha)**(relevant documents before). Among
        equals the one relevant to the first subtopic comes first, then to the second, and so on, so that the order of
        the rows only decides between documents with the same labels.
        """
        by_subtopic = label.reshape(len(label), label.shape[-1] if label.ndim == 2 else 1)
        relevant = (by_subtopic >= min_relevance).astype(np.float64)
        query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        by_labels = np.lexsort([*-relevant.T[::-1], query])
        order, ptr = np.empty(len(label), dtype=np.int64), np.empty(len(indptr), dtype=np.int64)
        order_kernels.rank_greedily(
            relevant[by_labels], indptr, depth, 1.0 - alpha, order, ptr,
            np.empty(relevant.shape[1]), np.empty(len(label)), np.empty((2, len(label)), dtype=np.int64),
        )  # fmt: skip
        return cls(label, np.zeros(len(label)), indptr, ptr, order=by_labels[order[: ptr[-1]]], depth=depth)

    @classmethod
    def as_given(cls, label: Array, score: NDArray[Any], indptr: Index) -> Ranking:
        """Take rows in the order in which they stand: ties are no ties."""
        return cls(label, score, indptr, indptr)

    def cut(self, depth: int) -> Ranking:
        """The order down to a depth, as if it had never been ranked deeper: to the end of the tie block at `depth`."""
        if depth >= self.depth:
            return self
        start, length = self.ptr[:-1], np.minimum(self.length, depth)
        ends = self.tie_ends
        if ends is not None:
            length = np.where(length > 0, ends.take(start + length - 1, mode="clip") - start, 0)
        kept, ptr = self.rank <= np.repeat(length, self.length), np.append(0, np.cumsum(length))
        tie_end = None if ends is None else ends[kept] - np.repeat(start - ptr[:-1], length)
        return Ranking(
            self._row_label, self._row_score, self.indptr, ptr, order=self.order[kept], tie_end=tie_end, depth=depth,
            unlisted=self.unlisted, grade=None if self.grade is None else self.grade[kept],
        ).sharing(self.labels)  # fmt: skip

    def _with_labels(self, labels: BlockLabels) -> Ranking:
        """The same order of rows with other labels."""
        other = Ranking(
            labels.label, self._row_score, self.indptr, self.ptr, order=self.order, tie_end=self.tie_end,
            depth=self.depth, unlisted=self.unlisted,
        )  # fmt: skip
        vars(other).update(rank=self.rank, length=self.length)
        return other.sharing(labels)

    def sharing(self, labels: BlockLabels) -> Ranking:
        """Share what depends on the labels alone with other rankings of the same labels; return this one."""
        self.labels = labels
        return self

    @cached_property
    def labels(self) -> BlockLabels:
        """What depends on the labels alone."""
        return BlockLabels(self._row_label, self.indptr, self.unlisted)

    @property
    def row_label(self) -> Array:
        """Label of each row."""
        return self.labels.label

    @cached_property
    def order(self) -> Index:
        """Row at each position."""
        if self._sorted_label is not None:
            raise AttributeError("An ideal order has labels at its positions, and no rows.")
        if callable(self._order):
            return self._order()
        return np.arange(self.ptr[-1]) if self._order is None else self._order

    @cached_property
    def tie_ends(self) -> Index | None:
        """End of the tie block around each position; None if nothing is tied."""
        if self.tie_end is None:
            return None
        ends = np.empty(len(self.tie_end), dtype=np.int64)
        order_kernels.spread_tie_ends(self.ptr, self.tie_end, ends)
        return ends

    @cached_property
    def row_score(self) -> Array:
        """Score of each row."""
        return self._row_score.astype(np.float64, copy=False)

    @cached_property
    def label(self) -> Array:
        """Label at each position."""
        if self.grade is not None:
            return _read_only(self.grade.astype(np.float64))
        if self._sorted_label is not None:
            return _read_only(self._sorted_label)
        return _read_only(self.row_label if self._order is None else take_rows(self.row_label, self.order))

    def of_label(self, function: Callable[[Array], Array]) -> Array:
        """A function of the label at each position."""
        values, grade = self.values_of_label(function)
        if grade is None:
            return values
        out = np.empty(len(grade))
        grades_kernels.look_up(values, grade, out)
        return out

    def values_of_label(self, function: Callable[[Array], Array]) -> tuple[Array, Grade | None]:
        """A function of the label at each position and None, or of each grade and the grade at each position.

        Where there are many grades it is asked for those that occur, once each.
        """
        if self.grade is None or len(self.grade) <= FEW:
            return function(self.label), None
        found = grades_kernels.find_grades(self.grade, self.labels.highest)
        grades = np.flatnonzero([found >> g & 1 for g in range(N_GRADES)])
        table: Array = np.zeros(N_GRADES)
        table[grades] = function(grades.astype(np.float64))
        return table, self.grade

    @cached_property
    def score(self) -> Array:
        """Score at each position."""
        if self._sorted_label is not None:
            return self.label
        return _read_only(self.row_score if self._order is None else take_rows(self.row_score, self.order))

    @cached_property
    def length(self) -> Index:
        """Positions per query."""
        return self.ptr[1:] - self.ptr[:-1]

    @cached_property
    def longest(self) -> int:
        """Positions of the query that has most."""
        return order_kernels.longest(self.ptr)

    @cached_property
    def rank(self) -> Index:
        """Rank at each position."""
        rank = np.empty(self.ptr[-1], dtype=np.int64)
        order_kernels.number(self.ptr, rank)
        return _read_only(rank)

    def sums_of_means(self, cutoffs: Index, min_relevance: float, of_labels: bool) -> Array | None:
        """See `Ranked.sums_of_means`; None where labels are no grades."""
        if self.grade is None:
            return None
        out, tables = np.empty((len(self.ptr) - 1, len(cutoffs))), tables_of_grades(min_relevance, of_labels)
        sums_kernels.means_of_grades(self.grade, *tables, self.ptr, cutoffs, self.tie_end, out)
        return out

    @cached_property
    def shared(self) -> SharedArrays:
        """Arrays that one formula has computed and others read."""
        return SharedArrays()

    @cached_property
    def ideal(self) -> Ranking:
        """The ideal order of all judged documents, to the same depth."""
        ideals = self.labels.shared
        if ("ideal", self.depth) not in ideals:
            ideals["ideal", self.depth] = self._make_ideal()
        ranking: Ranking = ideals["ideal", self.depth]
        return ranking

    def _make_ideal(self) -> Ranking:
        labels = self.labels
        if labels.grade is not None and labels.unlisted is None:
            return Ranking.by_grade(labels.grade, labels.indptr, self.depth, labels.highest)
        label, indptr = labels.judged
        grade = as_grades(label)
        if grade is None:
            return Ranking.by_label(label, indptr, self.depth)
        return Ranking.by_grade(grade, indptr, self.depth)

    @cached_property
    def subtopics(self) -> list[Ranking]:
        """The same order with the labels of each subtopic; labels without a second axis are one subtopic."""
        if self.row_label.ndim == 1:
            return [self]
        return [self._with_labels(labels) for labels in self.labels.subtopics]


def tables_of_grades(min_relevance: float, of_labels: bool) -> tuple[Array, Array]:
    """Whether each grade is relevant, as 0.0 or 1.0, and the grade itself or the same again."""
    grades: Array = np.arange(N_GRADES, dtype=np.float64)
    relevant: Array = (grades >= min_relevance).astype(np.float64)
    return relevant, grades if of_labels else relevant


def _read_only(x: NDArray[Any]) -> Any:
    """View that no formula can change, as several read it."""
    x = x.view()
    x.flags.writeable = False
    return x
