"""Rows grouped by query: what checking makes and ranking reads."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.pooled import pooled_if_negative
from sklearn_rank._engine.unlisted import DocumentsWithoutRow
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index


class RowNotBuilt(Exception):
    """A fault was found with documents that have no row."""


class InputNames(NamedTuple):
    """What errors call the labels, the scores, and where one of them stands: as the user gave them."""

    label: str = "y_true"
    score: str = "y_score"
    place: str = "row"


@dataclass(frozen=True)
class Queries:
    """Checked input, and its rows by query, queries in order of first appearance.

    `label` and `score` are in the order of the input; query q has the rows ``order[indptr[q]:indptr[q + 1]]``, or those
    from ``indptr[q]`` up to ``indptr[q + 1]`` where `order` is None because rows were grouped already. `label` has a
    second axis if there are several labels a row, one for each subtopic. `unlisted` are documents without a row;
    `tie_ends` are where runs of equal scores end, known where the rows of each query stand by falling score already.
    `first_query` is the number of the first query where a row of the input is a query. `words` are for errors.
    """

    label: Array
    score: Array
    indptr: Index
    qid: NDArray[Any]
    order: Index | None
    weight: Array | None
    label_range: tuple[float, float]
    has_unjudged: bool
    has_unretrieved: bool
    unlisted: DocumentsWithoutRow | None = None
    tie_ends: Index | None = None
    first_query: int | None = None
    words: InputNames = InputNames()

    @property
    def n_documents(self) -> Index:
        """Rows of each query."""
        return np.diff(self.indptr)

    @cached_property
    def longest(self) -> int:
        """Most rows that a query has, counting what its ideal list may hold besides."""
        length = self.indptr[1:] - self.indptr[:-1]
        if self.unlisted is not None:
            length = length + self.unlisted.n_kept[:, 0].astype(np.int64)
        return int(length[length.argmax()])

    @cached_property
    def without_negative(self) -> Queries:
        """The same queries; negative labels are those of documents that were in the pool and that nobody judged."""
        if self.label_range[0] >= 0:
            return self
        unlisted = self.unlisted
        if unlisted is not None:
            unlisted = replace(unlisted, label=pooled_if_negative(unlisted.label))
        return replace(
            self, label=pooled_if_negative(self.label), label_range=(0.0, max(self.label_range[1], 0.0)),
            has_unjudged=True, unlisted=unlisted,
        )  # fmt: skip

    def first_row(self, found: NDArray[np.bool_]) -> int:
        """Row of the input, or query where a row is one, of the first row that a check found fault with.

        Raises
        ------
        RowNotBuilt
            If what it found fault with is unlisted.
        """
        if self.first_query is None:
            return first_row(found)
        if not found.any():
            raise RowNotBuilt
        return self.first_query + int(np.searchsorted(self.indptr, first_row(found), side="right")) - 1


def rows_of(x: Array, indptr: Index, order: Index | None, first: int, last: int) -> Array:
    """Entries of `x` for the rows of the queries from `first` up to `last`, by query."""
    rows = slice(indptr[first], indptr[last])
    return x[rows] if order is None else x.take(order[rows], axis=0)


def first_row(found: NDArray[np.bool_]) -> int:
    """First row that a check found fault with."""
    return int(np.argmax(found if found.ndim == 1 else found.any(axis=1)))
