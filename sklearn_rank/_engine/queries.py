"""Rows grouped by query: the result of the checks, and the input of ranking."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import grouping as grouping_kernels
from sklearn_rank._engine.kernels import order as order_kernels
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.threads import for_each
from sklearn_rank._utils.typing import Array, Grade, Index

S = TypeVar("S", bound=np.generic)
T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsWithoutRow:
    """Groups of documents of one query and label: they stand below the list (`ranked`), or were not retrieved.

    `kept` is how many of each group an ideal list can hold: none of a label that is not above 0, else as many as such a
    list is deep.
    """

    query: Index
    label: Array
    count: Index
    kept: Index
    n_queries: int
    ranked: bool

    @classmethod
    def groups(
        cls, query: Index, label: Array, count: Index, n_queries: int, *, depth: int, ranked: bool
    ) -> DocumentsWithoutRow:
        """Keep what ideal lists of at most `depth` documents need of these groups."""
        kept = np.where(label > 0, np.minimum(count, depth), 0)
        return cls(query, label, count, kept, n_queries, ranked)

    def of_queries(self, first: int, last: int) -> DocumentsWithoutRow:
        """Those of the queries `first` to `last`."""
        return self._where((self.query >= first) & (self.query < last), -first, last - first)

    def read_unjudged(self, unjudged: str | None) -> DocumentsWithoutRow:
        """The same with NaN labels read as a metric's keyword says."""
        if unjudged == "drop":
            return self._where(~np.isnan(self.label), 0, self.n_queries)
        return self if unjudged is None else replace(self, label=np.nan_to_num(self.label))

    def _where(self, chosen: NDArray[np.bool_], shift: int, n_queries: int) -> DocumentsWithoutRow:
        query, label = self.query[chosen] + shift, self.label[chosen]
        return DocumentsWithoutRow(query, label, self.count[chosen], self.kept[chosen], n_queries, self.ranked)

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query whose label is at least `threshold`, shape (n_queries, 1)."""
        return self._count(self.count * (self.label >= threshold))

    @property
    def n_ranked(self) -> Array:
        """Documents of each query that have a rank, shape (n_queries, 1)."""
        return self._count(self.count * self.ranked)

    @property
    def n_kept(self) -> Array:
        """Documents of each query that an ideal list can hold, shape (n_queries, 1)."""
        return self._count(self.kept)

    def _count(self, count: Index) -> Array:
        return np.bincount(self.query, count, self.n_queries)[:, None].astype(np.float64)

    def add_kept(self, label: Array, indptr: Index) -> tuple[Array, Index]:
        """Labels of listed documents, and of those that an ideal list can hold besides."""
        added = np.repeat(self.query, self.kept)
        n_added = np.bincount(added, minlength=self.n_queries)
        label = np.insert(label, indptr[added + 1], np.repeat(self.label, self.kept))
        return label, indptr + np.append(0, np.cumsum(n_added))


POOLED = np.array(0x7FF8_706F_0000_0000, dtype=np.uint64).view(np.float64)
"""Label of a document that was in the pool but not judged; only infAP tells it from other NaN.

It differs from other NaN in its bits, which survive copies, files of Parquet and Arrow, and single precision.
"""


def is_pooled(label: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each label is that of a document that was in the pool and not judged."""
    return np.ascontiguousarray(label).view(np.uint64) == POOLED.view(np.uint64)


def pooled_if_negative(label: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same labels; negative ones become "in the pool, not judged", their meaning in TREC files."""
    return np.where(label < 0, POOLED, label)


WIDTHS = (1, 4, 8)
"""Bytes of an entry that the kernel has a loop for."""

FEW = 2**12
"""Rows up to which NumPy is as fast."""


def take_rows(x: NDArray[S], rows: Index, out: NDArray[S] | None = None) -> NDArray[S]:
    """Entries of `x` along its first axis for rows that it has, into `out` if there is one."""
    is_plain = x.ndim == 1 and x.dtype.kind in "fiub" and x.dtype.itemsize in WIDTHS and x.flags.c_contiguous
    if len(rows) < FEW or not is_plain:
        return x.take(rows, axis=0) if out is None else x.take(rows, axis=0, out=out, mode="clip")  # makes no copy
    out = np.empty(len(rows), dtype=x.dtype) if out is None else out
    grouping_kernels.take_rows(x, x.dtype.itemsize, rows, out)
    return out


class RowNotBuilt(Exception):
    """The invalid document has no row that an error could name."""


class InputNames(NamedTuple):
    """Names used in error messages for labels, scores and positions."""

    label: str = "y_true"
    score: str = "y_score"
    place: str = "row"


class Origin(NamedTuple):
    """Origin of the rows, for errors.

    `first_query` is the number of the first query where each row is a query; `rows` are those of the input that were
    kept of `n_given`, in the order in which they stand here, None for all as they were given.
    """

    names: InputNames = InputNames()
    first_query: int | None = None
    rows: Index | None = None
    n_given: int | None = None


class DataSummary(NamedTuple):
    """Facts about all labels and scores: lowest and highest label, whether any is NaN, whether any score is -inf."""

    label_range: tuple[float, float]
    has_unjudged: bool
    has_unretrieved: bool


class Rows(NamedTuple):
    """Rows by query: the grade and the score of each, and whether all scores are known to be the same."""

    grade: Grade
    score: NDArray[Any]
    indptr: Index
    is_constant: bool = False


@dataclass(eq=False, repr=False)  # not frozen: that takes 1 microsecond to make in place of 0.3
class Queries:
    """Checked input, and its rows by query, queries in order of first appearance.

    `label` and `score` are in the order of the input; query q has the rows ``order[indptr[q]:indptr[q + 1]]``, or those
    from ``indptr[q]`` up to ``indptr[q + 1]`` where `order` is None because rows were grouped already. `label` has a
    second axis if there are several labels per row, one for each subtopic. `unlisted` are documents without a row;
    `grade` is `label` as bytes where every label is a whole number from 0 to 31; None where one is not, or may not be.
    """

    label: Array
    score: Array
    indptr: Index
    order: Index | None
    qid: NDArray[Any]
    weight: Array | None
    summary: DataSummary
    unlisted: DocumentsWithoutRow | None = None
    grade: Grade | None = None
    origin: Origin = Origin()

    @property
    def n_documents(self) -> Index:
        """Rows of each query."""
        return np.diff(self.indptr)

    @property
    def has_subtopics(self) -> bool:
        """Whether there are several labels per row."""
        return self.label.ndim == 2

    has_one_score = False

    @cached_property
    def longest(self) -> int:
        """Length of the longest query, with the documents that only its ideal list holds."""
        if self.unlisted is None:
            return order_kernels.longest(self.indptr)
        return int((np.diff(self.indptr) + self.unlisted.n_kept[:, 0].astype(np.int64)).max())

    @cached_property
    def without_negative(self) -> Queries:
        """The same queries; negative labels are those of documents that were in the pool and that nobody judged."""
        lowest, highest = self.summary.label_range
        if lowest >= 0:
            return self
        unlisted = self.unlisted
        if unlisted is not None:
            unlisted = replace(unlisted, label=pooled_if_negative(unlisted.label))
        summary = self.summary._replace(label_range=(0.0, max(highest, 0.0)), has_unjudged=True)
        label = pooled_if_negative(self.label)
        return replace(self, label=label, grade=None, summary=summary, unlisted=unlisted)

    def with_scores(self, score: Array, has_unretrieved: bool) -> Queries:
        """The same queries with other scores, in the same order of rows."""
        other = replace(self, score=score, summary=self.summary._replace(has_unretrieved=has_unretrieved))
        for name in {"longest", "without_negative"} & vars(self).keys():
            known = vars(self)[name]
            if known is not self:
                vars(other)[name] = known.with_scores(score, has_unretrieved) if isinstance(known, Queries) else known
        return other

    def by_query(self) -> Queries:
        """The same queries with their rows in order, to be given scores in this order."""
        if self.order is None:
            return self
        label, score = (take_rows(x, self.order) for x in (self.label, self.score))
        grade = None if self.grade is None else take_rows(self.grade, self.order)
        rows = self.order if self.origin.rows is None else self.origin.rows[self.order]
        return replace(self, label=label, score=score, grade=grade, order=None, origin=self.origin._replace(rows=rows))

    def named(self, names: InputNames) -> Queries:
        """The same queries with other names in errors."""
        return replace(self, origin=self.origin._replace(names=names))

    def first_row(self, invalid: NDArray[np.bool_]) -> int:
        """First invalid row of the input, or its query where a row is a query; RowNotBuilt if it is unlisted."""
        if self.origin.first_query is None:
            rows = self.origin.rows
            return first_row(invalid) if rows is None else int(rows[np.nonzero(invalid)[0]].min())
        if not invalid.any():
            raise RowNotBuilt
        return self.origin.first_query + int(np.searchsorted(self.indptr, first_row(invalid), side="right")) - 1


class GradedQueries(Queries):
    """Queries whose labels are kept as bytes alone: a `label` that is None is made when it is read."""

    has_subtopics = False

    def __init__(self, label: Array | None, *others: Any, **named: Any) -> None:
        super().__init__(cast(Array, label), *others, **named)
        if label is None:
            del vars(self)["label"]

    @cached_property
    def label(self) -> Array:
        """Label of each row."""
        assert self.grade is not None
        return self.grade.astype(np.float64)


def rows_of(x: NDArray[S], indptr: Index, order: Index | None, first: int, last: int) -> NDArray[S]:
    """Entries of `x` for the rows of the queries from `first` up to `last`, by query."""
    rows = slice(indptr[first], indptr[last])
    return x[rows] if order is None else take_rows(x, order[rows])


def first_row(invalid: NDArray[np.bool_]) -> int:
    """First row with an invalid entry."""
    return int(np.argmax(invalid if invalid.ndim == 1 else invalid.any(axis=1)))


@dataclass(frozen=True, eq=False, repr=False)
class LazyQueries:
    """Queries that are built block by block when they are needed, and not kept.

    `blocks` and ``make(first, last, depth)`` take the depth to which documents must have a row, None for all documents,
    also those not retrieved. `done` is told how many queries are done with, each time.
    """

    n_documents: Index
    blocks: Callable[[int | None], list[tuple[int, int]]]
    make: Callable[[int, int, int | None], Queries]
    done: Callable[[int], object] = int

    def for_each(self, function: Callable[[int, int, Queries], T], depth: int | None, n_jobs: int | None) -> list[T]:
        """List ``function(first, last, queries)`` for each block."""

        def compute(first: int, last: int) -> T:
            result = self._compute(function, first, last, depth)
            self.done(last - first)
            return result

        return for_each(compute, self.blocks(depth), n_jobs)

    def _compute(self, function: Callable[[int, int, Queries], T], first: int, last: int, depth: int | None) -> T:
        with suppress(RowNotBuilt):
            return function(first, last, self.make(first, last, depth))
        return function(first, last, self.make(first, last, None))  # build all rows: the error must name the document
