"""Rows grouped by query: the result of the checks, and the input of ranking; and documents that have no row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.attributes import NO_PROPERTIES, QueryAttributes
from sklearn_rank._engine.grouping import Grouping, RowNotBuilt
from sklearn_rank._utils.blocks import cut_rows
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import Array, Grade, Index

T = TypeVar("T")

BYTE = np.dtype(np.uint8)
POOLED = np.array(0x7FF8_706F_0000_0000, dtype=np.uint64).view(np.float64)
"""Label of a document that was in the pool but not judged; only infAP tells it from other NaN.

It differs from other NaN in its bits, which survive copies, files of Parquet and Arrow, and single precision.
"""


class InputNames(NamedTuple):
    """Names used in error messages for labels, scores and positions."""

    label: str = "y_true"
    score: str = "y_score"
    place: str = "row"


DATA_NAMES = InputNames()
"""Names of the arrays that `evaluate` takes."""


class DataSummary(NamedTuple):
    """Facts about all rows, seen while they were read. The length of the longest query is `Queries.longest`.

    Attributes
    ----------
    label_range : tuple of float
        Lowest and highest label. NaN does not count, but where there is any, 0 does, because NaN may be read as 0.
    has_unjudged, has_unretrieved : bool
        Whether a label is NaN, and whether a score is -inf.
    labels_are_whole, scores_are_whole : bool
        Whether all labels, and all scores, that are finite are whole numbers.
    score_range : tuple of float
        Lowest and highest finite score; inf and -inf if there is none, or scores were not read.
    id_kind : str
        What ids are: "int", "float", "str" or "object", which is any other type, and objects of any.
    """

    label_range: tuple[float, float] = (0.0, 0.0)
    has_unjudged: bool = False
    has_unretrieved: bool = False
    labels_are_whole: bool = True
    scores_are_whole: bool = True
    score_range: tuple[float, float] = (math.inf, -math.inf)
    id_kind: str = "int"


@dataclass(eq=False, repr=False)  # not frozen, which takes longer to make
class Data:
    """Checked labels, and their rows by query; `with_scores` makes queries of them.

    `row_label` is in the order of the input. Labels are bytes if each is a grade, a whole number from 0 to 31, or else
    float64, with a second axis if there are several per row, one for each subtopic. `unlisted` are documents without a
    row. `columns` are numbers of each row that a metric reads beside its label, in the order of the input; levels of
    the `index` of the rows may become columns. Errors call labels and scores by their `names`.
    """

    row_label: NDArray[Any]
    grouping: Grouping
    weight: Array | None
    summary: DataSummary
    unlisted: DocumentsWithoutRow | None = None
    names: InputNames = DATA_NAMES
    columns: Mapping[str, Array] | None = None
    properties: QueryAttributes = NO_PROPERTIES
    index: Any = None

    @cached_property
    def label(self) -> Array:
        """Label of each row."""
        return self.row_label.astype(np.float64, copy=False)

    @cached_property
    def grade(self) -> Grade | None:
        """Label of each row as a byte; None if one is no grade, or is not known to be."""
        return self.row_label if self.row_label.dtype == BYTE else None

    @property
    def n_jobs(self) -> int | None:
        """Number of threads that work on the rows, counted as in joblib."""
        return self.grouping.n_jobs

    @property
    def has_subtopics(self) -> bool:
        """Whether there are several labels per row."""
        return self.row_label.ndim == 2

    @cached_property
    def longest(self) -> int:
        """Length of the longest query, with the documents that only its ideal list holds."""
        if self.unlisted is None:
            return self.grouping.longest
        return int((self.grouping.sizes + self.unlisted.n_kept[:, 0].astype(np.int64)).max())

    @cached_property
    def without_negative(self) -> Self:
        """The same data; a negative label means that a document was in the pool and was not judged."""
        lowest, highest = self.summary.label_range
        if lowest >= 0:
            return self
        unlisted = self.unlisted
        if unlisted is not None:
            unlisted = replace(unlisted, label=pooled_if_negative(unlisted.label))
        summary = self.summary._replace(label_range=(0.0, max(highest, 0.0)), has_unjudged=True)
        return replace(self, row_label=pooled_if_negative(self.label), summary=summary, unlisted=unlisted)

    def with_negative(self, negative: str) -> Self:
        """The same data, with negative labels read as the keyword says."""
        return self.without_negative if negative == "unjudged" else self

    def with_scores(self, score: Array, seen: DataSummary) -> Queries:
        """Queries with these scores, in the same order of rows; what is known of the scores is `seen`."""
        other = object.__new__(Queries)  # `copy` takes longer
        vars(other).update(vars(self))
        other.score = score
        other.summary = self.summary._replace(
            has_unretrieved=seen.has_unretrieved, scores_are_whole=seen.scores_are_whole, score_range=seen.score_range
        )
        negative = vars(other).pop("without_negative", self)
        if negative is not self:
            vars(other)["without_negative"] = negative.with_scores(score, seen)
        return other

    @property
    def all_tied(self) -> Queries:
        """Queries with one score for all documents."""
        return self.with_scores(np.zeros(len(self.row_label)), DataSummary(score_range=(0.0, 0.0)))

    def in_order(self) -> Self:
        """The same data with rows in order, to be given scores in this order."""
        grouping = self.grouping
        if grouping.order is None:
            return self
        columns = self.columns and {name: grouping.take(x) for name, x in self.columns.items()}
        return replace(
            self, row_label=grouping.take(self.row_label), columns=columns, grouping=grouping.in_order(), index=None
        )

    def named(self, names: InputNames) -> Self:
        """The same data with other names in errors."""
        return replace(self, names=names)


@dataclass(eq=False, repr=False)
class Queries(Data):
    """Checked labels and scores, both in the order of the input."""

    score: NDArray[Any] = field(kw_only=True)

    @property
    def has_one_score(self) -> bool:
        """Whether all rows are known to have the same score."""
        lowest, highest = self.summary.score_range
        return lowest == highest and not self.summary.has_unretrieved

    @property
    def all_tied(self) -> Queries:
        """The same queries with one score for all documents that have a rank; the others stay without."""
        score = np.zeros_like(self.score)
        if self.summary.has_unretrieved:
            score[np.isneginf(self.score)] = -np.inf
        return self.with_scores(
            score, DataSummary(has_unretrieved=self.summary.has_unretrieved, score_range=(0.0, 0.0))
        )

    def in_order(self) -> Self:
        """The same queries with rows in order."""
        return replace(super().in_order(), score=self.grouping.take(self.score))


def is_pooled(label: Array) -> NDArray[np.bool_]:
    """Whether each label means that a document was in the pool and not judged."""
    return np.ascontiguousarray(label).view(np.uint64) == POOLED.view(np.uint64)


def pooled_if_negative(label: Array) -> Array:
    """The same labels; negative ones become "in the pool, not judged", their meaning in TREC files."""
    return np.where(label < 0, POOLED, label)


# --- documents without a row ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsWithoutRow:
    """Groups of documents of one query and label: they stand below the list (`ranked`), or were not retrieved.

    Most metrics only need their number. `kept` is how many of each group an ideal list can hold: at most its depth if
    the label is above 0, else 0.
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
        """The documents of the queries `first` to `last`."""
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
        """Labels of listed documents, and of others that an ideal list can hold."""
        added = np.repeat(self.query, self.kept)
        n_added = np.bincount(added, minlength=self.n_queries)
        label = np.insert(label, indptr[added + 1], np.repeat(self.label, self.kept))
        return label, indptr + np.append(0, np.cumsum(n_added))


# --- blocks --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class LazyQueries:
    """Queries that are built block by block when they are needed, and not kept, because all rows may not fit in memory.

    `blocks` and ``make(first, last, depth)`` take a depth: documents down to it must have a row; None for all
    documents, retrieved or not. `done` is called with the number of queries after each block. With
    `is_by_column` the document at place j of a query whose documents all have a row is column j of the input.
    """

    grouping: Grouping
    blocks: Callable[[int | None], list[tuple[int, int]]]
    make: Callable[[int, int, int | None], Queries]
    done: Callable[[int], object] = int
    is_by_column: bool = False
    weight: Array | None = None
    properties: QueryAttributes = NO_PROPERTIES

    @property
    def n_jobs(self) -> int | None:
        """Number of threads that build and compute blocks, counted as in joblib."""
        return self.grouping.n_jobs

    def of(self, ids: NDArray[Any], weight: Array | None, n_jobs: int | None) -> LazyQueries:
        """The same queries with ids and weights, and with threads to compute them."""
        return replace(self, grouping=replace(self.grouping, ids=ids, n_jobs=n_jobs), weight=weight)

    def for_each(self, function: Callable[[int, int, Queries], T], depth: int | None) -> list[T]:
        """List ``function(first, last, queries)`` for each block."""

        def compute(first: int, last: int) -> T:
            result = self._compute(function, first, last, depth)
            self.done(last - first)
            return result

        return map_blocks(compute, self.blocks(depth), self.n_jobs)

    def _compute(self, function: Callable[[int, int, Queries], T], first: int, last: int, depth: int | None) -> T:
        with suppress(RowNotBuilt):
            return function(first, last, self.make(first, last, depth))
        # Build all rows, of few queries at a time: the error must name the document.
        n = max((b - a for a, b in self.blocks(None)), default=1)
        for block in cut_rows(last, n, first):
            result = function(*block, self.make(*block, None))
        return result
