"""The order of a block of queries, shared by all metrics that agree on it, and the labels that it is an order of."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.grouping import take_rows
from sklearn_rank._engine.kernels import grades as grade_kernels
from sklearn_rank._engine.kernels import order as order_kernels
from sklearn_rank._engine.kernels import plan as plan_kernels
from sklearn_rank._engine.kernels import sorting as sorting_kernels
from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.primitives import AT_RANKS, CUMSUM, JOINT, Call, Scratch
from sklearn_rank._engine.queries import DocumentsWithoutRow, LazyQueries, Queries
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.read_only import read_only
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import Array, Grade, Index

NO_CUTOFF = 2**62
"""Depth of a list that is read to its end."""

N_GRADES = 32
"""Whole labels from 0 on that are kept as bytes."""

TIE_POLICIES = {
    "average": order_kernels.AVERAGE,
    "stable": order_kernels.STABLE,
    "worst": order_kernels.WORST,
    "best": order_kernels.BEST,
}


class Labels:
    """Labels of the rows ``indptr[q]:indptr[q + 1]`` of each query q, and of documents that have no row.

    `kept`: mask of the block's rows that have labels here; None for all. `grade` is `label` as bytes. Pass `label` or
    `grade`, not both; no grade is above `highest`. Rankings of the same labels by other scores share the ideal orders.
    """

    def __init__(
        self, label: Array | None, indptr: Index, unlisted: DocumentsWithoutRow | None = None,
        kept: NDArray[np.bool_] | None = None, grade: Grade | None = None, highest: int = N_GRADES - 1,
    ) -> None:  # fmt: skip
        self._label, self.indptr, self.unlisted, self.kept, self.grade = label, indptr, unlisted, kept, grade
        self.highest = highest
        self._best: dict[int, Ranking] = {}
        self.columns: Callable[[str], Array] | None = None

    @cached_property
    def label(self) -> Array:
        """Label of each row."""
        if self._label is not None:
            return self._label
        assert self.grade is not None
        return self.grade.astype(np.float64)

    @cached_property
    def judged(self) -> tuple[Array, Index]:
        """Labels of the documents that an ideal list is made of, and where each query starts."""
        rows = self.label, self.indptr
        return rows if self.unlisted is None else self.unlisted.add_kept(*rows)

    @cached_property
    def subtopics(self) -> list[Labels]:
        """The labels of each subtopic."""
        return [Labels(label, self.indptr, self.unlisted) for label in np.ascontiguousarray(self.label.T)]

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query with a label of at least `threshold`, shape (n_queries, 1)."""
        if self.grade is None:
            count = rows_at_least(self.label, self.indptr, threshold)
        else:
            count = np.empty((len(self.indptr) - 1, 1))
            grade_kernels.count_grades_at_least(self.grade, self.indptr, least_grade(threshold), count)
        return count if self.unlisted is None else count + self.unlisted.count_at_least(threshold)

    def best(self, depth: int) -> Ranking:
        """The best order of the documents, down to a depth."""
        if depth not in self._best:
            self._best[depth] = self._best_order(depth)
        return self._best[depth]

    def _best_order(self, depth: int) -> Ranking:
        if self.grade is not None and self.unlisted is None:
            return Ranking.by_grade(self.grade, self.indptr, depth, self.highest)
        label, indptr = self.judged
        grade = as_grades(label)
        return Ranking.by_label(label, indptr, depth) if grade is None else Ranking.by_grade(grade, indptr, depth)


def rows_at_least(x: Array, indptr: Index, threshold: float) -> Array:
    """Rows of each query with a value of at least `threshold`, shape (n_queries, 1)."""
    count = np.empty((len(indptr) - 1, 1))
    grade_kernels.count_at_least(x, indptr, threshold, count)
    return count


def least_grade(threshold: float) -> int:
    """Least grade that is at least a threshold; `N_GRADES`, which no row has, above all of them."""
    return math.ceil(min(max(threshold, 0.0), N_GRADES))


def as_grades(label: Array) -> Grade | None:
    """Labels as bytes, None if one of them is no whole number from 0 to 31."""
    if label.ndim == 2:
        return None
    grade = np.empty(len(label), dtype=np.uint8)
    seen = read_rows(np.ascontiguousarray(label), None, None, 0, len(label), grade, None, None)
    return grade if seen is not None and seen[2] else None


class Ranking:
    """The order of a block of queries, best score first, down to a depth, under one tie policy.

    Query q has the rows ``indptr[q]:indptr[q + 1]`` of `row_label` and `row_score`, and the positions
    ``ptr[q]:ptr[q + 1]`` of `order`, `label`, `grade`, `score`, `rank` and `tie_end`. `order` is the row at each
    position, or a function that returns it. `grade` is the label as a byte, None if labels are not known to be grades.
    Labels of subtopics have a second axis. `unlisted` documents have no row, and count where documents are counted.

    ``tie_end[i]``: end of the tie block that starts at position i (undefined elsewhere). 0 at the first position of a
    query without ties. None: no query has ties.

    Rankings come from `by_score`, `by_label`, `by_novelty` and `as_given`. Without an `order` rows stand in order, or
    `sorted_label` holds the label, which is also the score, at each position.
    """

    def __init__(
        self, labels: Labels, row_score: NDArray[Any], ptr: Index, *, order: Index | Callable[[], Index] | None = None,
        sorted_label: Array | Grade | None = None, tie_end: Index | None = None, depth: int = NO_CUTOFF,
        grade: Grade | None = None,
    ) -> None:  # fmt: skip
        self.labels, self._row_score, self.ptr = labels, row_score, ptr
        self._order, self._sorted_label, self.tie_end = order, sorted_label, tie_end
        self.depth, self.grade = depth, grade
        self.indptr, self.unlisted = labels.indptr, labels.unlisted

    @classmethod
    def by_score(
        cls,
        labels: Labels,
        score: NDArray[Any],
        *,
        depth: int = NO_CUTOFF,
        ties: str = "average",
        keep_unretrieved: bool = False,
    ) -> Ranking:
        """Rank rows by falling score; equal ones as the tie policy says, which may need the labels or grades."""
        # The policy is for retrieved documents. With `keep_unretrieved` the others (-inf) are the last tie block,
        # because no ranking orders them.
        grade, indptr = labels.grade, labels.indptr
        label = labels.label if grade is None and labels.label.ndim == 1 else None  # subtopics have no order
        n_rows, longest, ptr = len(score), order_kernels.longest(indptr), np.empty(len(indptr), dtype=np.int64)
        tie_end = np.empty(n_rows if ties == "average" or keep_unretrieved else 0, dtype=np.int64)
        is_narrow = score.dtype == np.float32
        has_policy = label is not None or grade is not None or ties == "average"
        out_grade = None if grade is None else np.empty(n_rows, dtype=np.uint8)

        def rank(order: Index | None, tie_end: Index, ptr: Index) -> bool:
            return order_kernels.rank_queries(
                None if is_narrow else score, score if is_narrow else None, label, grade, indptr,
                depth, TIE_POLICIES[ties if has_policy else "stable"], keep_unretrieved, longest,
                order, tie_end, ptr, out_grade, np.empty(sorting_kernels.memory_for(longest)),
            )  # fmt: skip

        def rank_again() -> Index:  # few formulas read it; it takes 8 bytes a row to write
            order = np.zeros(n_rows, dtype=np.int64)
            rank(order, np.empty_like(tie_end), np.empty_like(ptr))  # others are there if another thread writes scores
            return order[: ptr[-1]]

        order = np.empty(n_rows, dtype=np.int64) if grade is None else None
        tied, n = rank(order, tie_end, ptr), ptr[-1]
        return cls(
            labels, score, ptr, order=rank_again if order is None else order[:n], tie_end=tie_end[:n] if tied else None,
            depth=depth, grade=None if out_grade is None else read_only(out_grade[:n]),
        )  # fmt: skip

    @classmethod
    def by_label(cls, label: Array, indptr: Index, depth: int) -> Ranking:
        """Rank all rows by falling label: the ideal order."""
        longest, ptr = order_kernels.longest(indptr), np.empty(len(indptr), dtype=np.int64)
        out, memory = np.empty(len(label)), np.empty(sorting_kernels.memory_for(longest))
        order_kernels.rank_labels(label, indptr, depth, longest, out, ptr, memory)
        return cls(Labels(label, indptr), label, ptr, sorted_label=out[: ptr[-1]], depth=depth)

    @classmethod
    def by_grade(cls, grade: Grade, indptr: Index, depth: int, highest: int = N_GRADES - 1) -> Ranking:
        """Rank all rows by falling label, labels being grades of at most `highest`: the ideal order."""
        out, ptr = np.empty(len(grade), dtype=np.uint8), np.empty(len(indptr), dtype=np.int64)
        grade_kernels.rank_grades(grade, indptr, depth, highest, out, ptr)
        best = read_only(out[: ptr[-1]])
        labels = Labels(None, indptr, grade=grade, highest=highest)
        return cls(labels, grade, ptr, sorted_label=best, depth=depth, grade=best)

    @classmethod
    def by_novelty(cls, label: Array, indptr: Index, *, depth: int, alpha: float, min_relevance: float) -> Ranking:
        """Rank all rows greedily, so that each adds most to those before it."""
        # A document adds the sum of its relevant subtopics, each worth (1 - alpha)**(relevant documents before). Among
        # equals the one relevant to the first subtopic comes first, then to the second, and so on, so that the order of
        # the rows only decides between documents with the same labels.
        by_subtopic = label.reshape(len(label), label.shape[-1] if label.ndim == 2 else 1)
        relevant = (by_subtopic >= min_relevance).astype(np.float64)
        query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
        by_labels = np.lexsort([*-relevant.T[::-1], query])
        order, ptr = np.empty(len(label), dtype=np.int64), np.empty(len(indptr), dtype=np.int64)
        order_kernels.rank_greedily(
            relevant[by_labels], indptr, depth, 1.0 - alpha, order, ptr,
            np.empty(relevant.shape[1]), np.empty(len(label)), np.empty((2, len(label)), dtype=np.int64),
        )  # fmt: skip
        return cls(Labels(label, indptr), np.zeros(len(label)), ptr, order=by_labels[order[: ptr[-1]]], depth=depth)

    @classmethod
    def as_given(cls, labels: Labels, score: NDArray[Any]) -> Ranking:
        """Take rows in the order given: equal scores are no ties."""
        return cls(labels, score, labels.indptr)

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
            self.labels, self._row_score, ptr, order=self.order[kept], tie_end=tie_end, depth=depth,
            grade=None if self.grade is None else self.grade[kept],
        )  # fmt: skip

    # --- what a formula reads: see `Ranked` ------------------------------------------------------------------

    @property
    def rows(self) -> Ranking:
        """The order itself, which has rows."""
        return self

    @cached_property
    def label(self) -> Array:
        """Label at each position."""
        if self.grade is not None:
            return read_only(self.grade.astype(np.float64))
        if self._sorted_label is not None:
            return read_only(self._sorted_label)
        return read_only(self.row_label if self._order is None else take_rows(self.row_label, self.order))

    def of_label(self, function: Callable[[Array], Array]) -> Array:
        """A function of the label at each position."""
        return function(self.label)

    @cached_property
    def score(self) -> Array:
        """Score at each position."""
        if self._sorted_label is not None:
            return self.label
        return read_only(self.row_score if self._order is None else take_rows(self.row_score, self.order))

    def column(self, name: str) -> Array:
        """A column of the data at each position."""
        assert self.labels.columns is not None
        return read_only(take_rows(self.labels.columns(name), self.order))

    @cached_property
    def rank(self) -> Index:
        """Rank at each position."""
        rank = np.empty(self.ptr[-1], dtype=np.int64)
        order_kernels.number(self.ptr, rank)
        return read_only(rank)

    @cached_property
    def ranks(self) -> Index:
        """Ranks of the longest list."""
        return np.arange(1, order_kernels.longest(self.ptr) + 1)

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query with a label of at least `threshold`, shape (n_queries, 1)."""
        return self.labels.count_at_least(threshold)

    def count_ranked(self) -> Array:
        """Documents of each query that were retrieved, shape (n_queries, 1)."""
        count = rows_at_least(self.row_score, self.indptr, np.finfo(np.float64).min)
        return count if self.unlisted is None else count + self.unlisted.n_ranked

    @property
    def ideal(self) -> Ranking:
        """The ideal order of all judged documents, to the same depth."""
        return self.labels.best(self.depth)

    def goes_on_below(self, cutoff: int) -> bool:
        """Whether a list goes on below a cutoff, which it does only to the end of a tie block."""
        return self.tie_end is not None and bool((self.length > cutoff).any())

    def apply(self, call: Call) -> Array:
        """Result of a primitive."""
        if call.of_query is not None:
            call = call._replace(of_query=self._one_of_each_query(call.of_query))
        if call.primitive != AT_RANKS:  # whose values are of the positions of the ideal order
            values = self._one_or_flat if call.primitive in (CUMSUM, JOINT) else self.flat
            call = call._replace(
                x=None if call.x is None else values(call.x), y=None if call.y is None else values(call.y)
            )
        scratch, best = Scratch(len(self.ranks)), self.ideal.lists if call.primitive == AT_RANKS else None
        step, out = call.bind(self.lists, scratch, self.n_positions, len(self.ptr) - 1, best=best)
        if not step():
            wrong = call.x[~((call.x >= 0) & (call.x <= 1))][0]
            raise ValueError(f"cascade() of a formula needs probabilities, from 0 to 1. Got {wrong:g}.")
        return out

    @cached_property
    def lists(self) -> plan_kernels.Lists:
        """The lists as kernels see them."""
        return plan_kernels.Lists(self.ptr, self.tie_end, self.grade, self.depth)

    def flat(self, x: ArrayLike) -> Array:
        """An array of a number for each position."""
        x = self._one_or_flat(x)
        return x if len(x) == self.n_positions else np.full(self.n_positions, x[0])

    def _one_of_each_query(self, x: ArrayLike) -> Array:
        """A number of each query, shape (n_queries, 1)."""
        x, n_queries = np.asarray(x, dtype=np.float64), len(self.ptr) - 1
        if x.shape not in ((n_queries, 1), (n_queries,)):
            raise ValueError(
                "of_query() and joint(most=) of a formula take one number for each query, "
                f"shape ({n_queries}, 1). Got shape {x.shape} instead."
            )
        return x.reshape(-1, 1)

    def _one_or_flat(self, x: ArrayLike) -> Array:
        """A number as an array of one, or an array of a number for each position."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim == 0:
            return x.reshape(1)
        if x.shape != (self.n_positions,):
            raise ValueError(
                f"cumsum() of a formula takes a number, or one for each ranked document ({self.n_positions}). Use "
                f"of_query() to repeat a number per query. Got shape {x.shape} instead."
            )
        return np.ascontiguousarray(x)

    # --- rows and positions ----------------------------------------------------------------------------------

    @property
    def n_positions(self) -> int:
        """Positions of all queries."""
        return int(self.ptr[-1])

    @property
    def row_label(self) -> Array:
        """Label of each row."""
        return self.labels.label

    @cached_property
    def row_score(self) -> Array:
        """Score of each row."""
        return self._row_score.astype(np.float64, copy=False)

    @cached_property
    def order(self) -> Index:
        """Row at each position."""
        if self._sorted_label is not None:
            raise AttributeError("r.ideal has no rows; labels and ranks are available.")
        if callable(self._order):
            return self._order()
        return np.arange(self.ptr[-1]) if self._order is None else self._order

    @cached_property
    def tie_ends(self) -> Index | None:
        """End of the tie block around each position; None without ties."""
        if self.tie_end is None:
            return None
        ends = np.empty(len(self.tie_end), dtype=np.int64)
        order_kernels.spread_tie_ends(self.ptr, self.tie_end, ends)
        return ends

    @cached_property
    def length(self) -> Index:
        """Positions per query."""
        return self.ptr[1:] - self.ptr[:-1]

    @cached_property
    def subtopics(self) -> list[Ranking]:
        """The same order with the labels of each subtopic; labels without a second axis are one subtopic."""
        if self.row_label.ndim == 1:
            return [self]
        return [
            Ranking(labels, self._row_score, self.ptr, order=self.order, tie_end=self.tie_end, depth=self.depth)
            for labels in self.labels.subtopics
        ]


# --- rankings of queries -------------------------------------------------------------------------------------


class RankingKey(NamedTuple):
    """Choices that two metrics must share to share a ranking."""

    pointwise: bool
    ties: str
    keep_unretrieved: bool
    unjudged: str | None
    negative: str

    @classmethod
    def of(cls, spec: Any, queries: Queries) -> RankingKey:
        """Ranking that a metric asks for; choices that these data make no difference to are left out."""
        return cls(
            spec.metric.pointwise,
            spec["ties"],
            spec.metric.keeps_unretrieved and queries.summary.has_unretrieved,
            spec["unjudged"] if queries.with_negative(spec["negative"]).summary.has_unjudged else None,
            spec["negative"] if queries.summary.label_range[0] < 0 else "keep",
        )


def rank_block(
    queries: Queries, first: int, last: int, key: RankingKey, depth: int, known: dict[Any, Labels] | None = None
) -> Ranking:
    """Ranking of the queries `first` to `last`; rankings that read labels in the same way share what is `known`."""
    known = {} if known is None else known
    read = key.unjudged, key.negative
    if read not in known:
        known[read] = _labels_of(queries, first, last, *read)
    labels, score = known[read], queries.grouping.take(queries.score, first, last)
    if queries.columns:
        labels.columns = partial(_rows_of_column, queries, first, last, labels.kept)
    if labels.kept is not None:
        score = score[labels.kept]
    if key.pointwise:
        return Ranking.as_given(labels, score)
    return Ranking.by_score(labels, score, depth=depth, ties=key.ties, keep_unretrieved=key.keep_unretrieved)


def _labels_of(queries: Queries, first: int, last: int, unjudged: str | None, negative: str) -> Labels:
    """Labels of the queries `first` to `last` as metrics with these keywords read them."""
    queries = queries.with_negative(negative)
    grouping, unlisted = queries.grouping, queries.unlisted
    indptr = grouping.starts(first, last)
    if unlisted is not None:
        unlisted = unlisted.of_queries(first, last).read_unjudged(unjudged)
    if queries.grade is not None and unjudged is None:
        grade = grouping.take(queries.grade, first, last)
        return Labels(None, indptr, unlisted, grade=grade, highest=int(queries.summary.label_range[1]))
    label = grouping.take(queries.label, first, last)
    judged: NDArray[np.bool_] | None = None
    if unjudged == "nonrelevant":
        label = np.nan_to_num(label)
    elif unjudged == "drop":
        missing = np.isnan(label)
        kept: NDArray[np.bool_] = ~(missing if label.ndim == 1 else np.all(missing, axis=1))
        label, judged = label[kept], kept
        if label.ndim == 2:  # judged for another subtopic
            label = np.nan_to_num(label)
        indptr = np.append(0, np.cumsum(kept))[indptr]
    return Labels(label, indptr, unlisted, judged)


def _rows_of_column(queries: Queries, first: int, last: int, kept: NDArray[np.bool_] | None, name: str) -> Array:
    """A column of the queries `first` to `last`, for the rows that are kept."""
    assert queries.columns is not None
    values = queries.grouping.take(queries.columns[name], first, last)
    return values if kept is None else values[kept]


def depth_of(specs: Sequence[Any]) -> int | None:
    """Documents down to this depth must have a row for some metrics; None for all documents."""
    return None if any(spec.needs_all_documents for spec in specs) else max(spec.depth_of_rows for spec in specs)


def tied_across(queries: Queries | LazyQueries, spec: Any) -> NDArray[np.bool_]:
    """Whether equal scores stand on both sides of the deepest cutoff, query by query; anywhere, for whole lists."""
    # Documents that were not retrieved have no scores.
    if isinstance(queries, LazyQueries):
        blocks = queries.for_each(lambda first, last, block: tied_across(block, spec), depth_of([spec]))
        return np.concatenate(blocks)
    depth = spec.depth
    key = RankingKey.of(spec, queries)._replace(pointwise=False, ties="average", keep_unretrieved=False)

    def find(first: int, last: int) -> NDArray[np.bool_]:
        ranking = rank_block(queries, first, last, key, depth)
        ends = ranking.tie_ends
        if ends is None:
            return np.zeros(last - first, dtype=bool)
        if depth < NO_CUTOFF:  # a list goes on below its cutoff only to the end of a tie block
            return ranking.length > depth
        query = np.repeat(np.arange(last - first), ranking.length)
        tied = ends - np.arange(len(query)) > 1
        return np.bincount(query, weights=tied, minlength=last - first) > 0

    return np.concatenate(map_blocks(find, thread_blocks(queries.grouping.indptr, queries.n_jobs), queries.n_jobs))
