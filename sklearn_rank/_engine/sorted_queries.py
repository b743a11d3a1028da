"""Whole lists that were counted, or sorted, as they were made: nothing is sorted again, nor made unless it is read."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.queries import Facts, InputNames, Origin, Queries
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking, tables_of_grades
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Grade, Index


class SortedQueries(Queries):
    """Queries whose rows stand by falling score, equal ones in their first order; arrays are made when they are read.

    `make_label` makes the label of each row, as bytes if all are grades, `make_score` its score and where runs of equal
    scores end, if any `has_ties`. `of_grade` has the documents of each query by grade, shape (n_queries, n_grades), and
    `count_ties` counts them by tie block besides, the best first, shape (n_queries, n_blocks, n_grades); blocks may be
    empty. None: not counted.
    """

    def __init__(
        self,
        make_label: Callable[[], NDArray[Any]],
        make_score: Callable[[], tuple[NDArray[Any], Index]],
        indptr: Index,
        facts: Facts,
        first: int,
        *,
        has_ties: bool = True,
        of_grade: Index | None = None,
        count_ties: Callable[[], Index] | None = None,
    ) -> None:
        vars(self).update(
            indptr=indptr, order=None, qid=np.arange(len(indptr) - 1), weight=None, facts=facts, unlisted=None,
            origin=Origin(first_query=first), make_label=make_label, make_score=make_score, has_ties=has_ties,
            of_grade=of_grade, count_ties=count_ties,
        )  # fmt: skip

    make_label: Callable[[], NDArray[Any]]
    make_score: Callable[[], tuple[NDArray[Any], Index]]
    has_ties: bool
    of_grade: Index | None
    count_ties: Callable[[], Index] | None
    has_subtopics = False

    @cached_property
    def row_label(self) -> NDArray[Any]:
        """Label of each row, as a byte if all are grades."""
        return self.make_label()

    @cached_property
    def label(self) -> Array:
        """Label of each row."""
        return self.row_label.astype(np.float64, copy=False)

    @cached_property
    def grade(self) -> Grade | None:
        """Label of each row as a byte; None if labels are no grades."""
        return None if self.of_grade is None else self.row_label

    @cached_property
    def scores(self) -> tuple[NDArray[Any], Index]:
        """Score of each row, which may be of a smaller type, and where runs of equal scores end."""
        return self.make_score()

    @cached_property
    def score(self) -> NDArray[Any]:
        """Score of each row, which may be of a smaller type."""
        return self.scores[0]

    def tie_ends_of(self, first: int, last: int) -> Index:
        """Where runs of equal scores end, counted from the first row of the query `first`."""
        ends, (start, stop) = self.scores[1], self.indptr[[first, last]]
        begin, end = np.searchsorted(ends, [start, stop], side="right")
        return ends[begin:end] - start

    @cached_property
    def without_negative(self) -> Queries:
        """The same queries without negative labels, as other queries have them."""
        return Queries(
            self.label, self.score, self.indptr, None, self.qid, None, self.facts, origin=self.origin
        ).without_negative

    def named(self, names: InputNames) -> Queries:
        """The same queries with other names in errors."""
        other = copy(self)
        other.origin = self.origin._replace(names=names)
        return other

    def ranking(self, first: int, last: int, ties: str) -> Ranking:
        """Ranking of the queries `first` to `last` as they stand, ties as one of the policies that keep their order."""
        return SortedRanking(self, first, last, ties)


class SortedRanking(Ranking):
    """Ranking of rows as they stand; its arrays are made when they are read."""

    def __init__(self, queries: SortedQueries, first: int, last: int, ties: str) -> None:
        self._queries, self._first, self._last, self._averages = queries, first, last, ties == "average"
        self.indptr = self.ptr = queries.indptr[first : last + 1] - queries.indptr[first]
        self._order = self._sorted_label = self.unlisted = None
        self.depth = NO_CUTOFF

    def _of_block(self, x: NDArray[Any]) -> NDArray[Any]:
        return x[self._queries.indptr[self._first] : self._queries.indptr[self._last]]

    @cached_property
    def _row_label(self) -> Array:
        return self._of_block(self._queries.label)

    @cached_property
    def grade(self) -> Grade | None:
        """Label at each position as a byte; None if labels are no grades."""
        return None if self._queries.grade is None else self._of_block(self._queries.grade)

    @cached_property
    def _row_score(self) -> NDArray[Any]:
        return self._of_block(self._queries.score)

    @cached_property
    def tie_end(self) -> Index | None:
        """End of the tie block around each position; None without ties."""
        if not (self._averages and self._queries.has_ties):
            return None
        ends = self._queries.tie_ends_of(self._first, self._last)
        return np.repeat(ends, np.diff(ends, prepend=0)) if len(ends) < self.ptr[-1] else None

    @cached_property
    def labels(self) -> BlockLabels:
        """What depends on the labels alone."""
        queries, first, last = self._queries, self._first, self._last
        if queries.of_grade is None:
            return super().labels
        rows = slice(queries.indptr[first], queries.indptr[last])
        # It must not know this ranking: of a circle no memory would be free before Python looks for circles.
        return CountedLabels(lambda: queries.row_label[rows], self.indptr, queries.of_grade[first:last])

    def sums_of_means(self, cutoffs: Index, min_relevance: float, of_labels: bool) -> Array | None:
        """From the counts of each tie block, if there are any: the same sums in the same order."""
        count_ties = self._queries.count_ties
        if not self._averages or count_ties is None:
            return super().sums_of_means(cutoffs, min_relevance, of_labels)
        relevant, value = tables_of_grades(min_relevance, of_labels)
        out = np.empty((self._last - self._first, len(cutoffs)))
        rank_kernels.means_of_counts(count_ties()[self._first : self._last], relevant, value, cutoffs, out)
        return out


class CountedLabels(BlockLabels):
    """Labels of a block that were counted by grade; `make_grade` makes them one by one."""

    def __init__(self, make_grade: Callable[[], Grade], indptr: Index, of_grade: Index) -> None:
        self._make_grade, self.indptr, self._of_grade = make_grade, indptr, of_grade
        self._label = self.unlisted = self.kept = None
        self.shared = {}

    @cached_property
    def grade(self) -> Grade | None:
        """Label of each row as a byte."""
        return self._make_grade()

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query with a label of at least `threshold`, shape (n_queries, 1)."""
        least = np.arange(self._of_grade.shape[1]) >= threshold
        return (self._of_grade @ least).astype(np.float64)[:, None]
