"""Relevance of documents to queries as grades that are looked up, not stored as rows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from sklearn_rank._engine.unlisted import DocumentsWithoutRow
from sklearn_rank._utils.numbers import as_reals
from sklearn_rank._utils.typing import Array, Index

Groups = tuple[Index, Array, Index]


class Grades(ABC):
    """Grades of `n_documents` documents for queries, which are asked for in slices.

    To look them up, a query takes room for `width` numbers. They are whole numbers from 0 to `highest` that bytes hold,
    or any numbers if it is None.
    """

    n_documents: int
    width: int = 1
    highest: int | None = None

    @property
    def dtype(self) -> type:
        """Smallest type that holds all grades."""
        return np.float64 if self.highest is None else np.uint8

    @abstractmethod
    def write(self, rows: slice, out: Array) -> None:
        """Write the grades of all documents, shape (n_rows, n_documents), into float64 or into `dtype`."""

    @abstractmethod
    def split(self, rows: slice, query: Index, item: Index) -> tuple[Array, Groups]:
        """Grades of some documents, and query, label and count of groups of all others.

        The queries count from the first of `rows`.
        """

    def listed(
        self, rows: slice, query: Index, item: Index, *, depth: int, ranked: bool, without_self: bool = False
    ) -> tuple[Array, DocumentsWithoutRow]:
        """Grades of listed documents, and the others; document i does not count for query i if `without_self`."""
        n_listed, n_queries = len(query), rows.stop - rows.start
        if without_self:
            query = np.append(query, np.arange(n_queries))
            item = np.append(item, np.arange(rows.start, rows.stop))
        label, groups = self.split(rows, query, item)
        return label[:n_listed], DocumentsWithoutRow.groups(*groups, n_queries, depth=depth, ranked=ranked)


class Judgements(Grades):
    """Grades from a sparse matrix of them, which is asked for in slices of rows; 0 where it has no entry."""

    def __init__(self, rows: Callable[[slice], Any], n_documents: int) -> None:
        self.rows, self.n_documents, self.width = rows, n_documents, n_documents

    def write(self, rows: slice, out: Array) -> None:
        """Write the grades of all documents."""
        self.rows(rows).toarray(out=out)

    def split(self, rows: slice, query: Index, item: Index) -> tuple[Array, Groups]:
        """Grades of some documents, and groups of all others: one of each that has an entry, one of the rest."""
        matrix, n_queries = self.rows(rows), rows.stop - rows.start
        judged = np.repeat(np.arange(n_queries), np.diff(matrix.indptr))
        place, rest = judged * self.n_documents + matrix.indices, np.ones(len(judged) + 1, dtype=bool)
        asked = query * self.n_documents + item
        at = np.searchsorted(place, asked)
        judged_here = np.append(place, -1)[at] == asked
        label = np.where(judged_here, np.append(matrix.data, 0.0)[at], 0.0)
        rest[at[judged_here]] = False
        judged, grade = judged[rest[:-1]], matrix.data[rest[:-1]]
        n_others = self.n_documents - np.bincount(query, minlength=n_queries) - np.bincount(judged, minlength=n_queries)
        return label, (
            np.append(judged, np.arange(n_queries)),
            np.append(grade, np.zeros(n_queries)),
            np.append(np.ones(len(judged), dtype=np.int64), n_others),
        )


def csr(matrix: Any, name: str, first: int = 0) -> Any:
    """Sparse matrix of float64 in canonical form; missing values (NaN) are kept, infinite ones refused.

    Its first row is row `first` of the whole.

    Raises
    ------
    TypeError
        If it does not hold real numbers.
    ValueError
        If it has not two dimensions, or an entry is infinite.
    """
    matrix = _reals(matrix, name)
    if matrix.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, a row for each query. Got shape {matrix.shape} instead.")
    matrix = sparse.csr_array(matrix, dtype=np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    if np.isinf(matrix.data).any():
        row = first + np.searchsorted(matrix.indptr, np.argmax(np.isinf(matrix.data)), side="right") - 1
        raise ValueError(f"{name} must be finite. Got an infinite entry in row {row}.")
    return matrix


def _reals(matrix: Any, name: str) -> Any:
    """Matrix, sparse or not, of real numbers, none of which is lost as float64."""
    if not sparse.issparse(matrix):
        return as_reals(matrix, name)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers. Got dtype {matrix.dtype} instead.")
    as_reals(matrix.tocsr().data, name)
    return matrix
