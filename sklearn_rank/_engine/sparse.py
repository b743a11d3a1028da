"""Sparse input: short retrieved lists and sparse relevance judgments."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import DataSummary, DocumentsWithoutRow, LazyQueries, Queries
from sklearn_rank._engine.read import (
    check_matrix_shapes,
    check_query_weight,
    ids_of_matrix,
    queries_of_matrix,
    refuse_one_column,
    summary_of,
)
from sklearn_rank._utils.blocks import BLOCK_ROWS, ROWS_IN_MEMORY, cut_queries, cut_rows
from sklearn_rank._utils.numbers import as_floats, as_reals
from sklearn_rank._utils.typing import Array, Index, MatrixLike

Groups = tuple[Index, Array, Index]


class Grades(ABC):
    """Grades of `n_documents` documents for queries, which are asked for in slices.

    They are whole numbers from 0 to `highest` that bytes hold, or any numbers if it is None.
    """

    n_documents: int
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
        """Grades of some documents, and query, label and count of groups of all others."""
        # The queries count from the first of `rows`.

    def listed(
        self, rows: slice, query: Index, item: Index, *, depth: int, ranked: bool, without_self: bool = False,
        left_out: Any = None,
    ) -> tuple[Array, DocumentsWithoutRow]:  # fmt: skip
        """Grades of listed documents, and the others."""
        # Document i does not count for query i if `without_self`, nor do the entries of the matrix `left_out`.
        n_listed, n_queries = len(query), rows.stop - rows.start
        if without_self:
            query = np.append(query, np.arange(n_queries))
            item = np.append(item, np.arange(rows.start, rows.stop))
        if left_out is not None:
            out = left_out[rows]
            query = np.append(query, np.repeat(np.arange(n_queries), np.diff(out.indptr)))
            item = np.append(item, out.indices)
        label, groups = self.split(rows, query, item)
        return label[:n_listed], DocumentsWithoutRow.groups(*groups, n_queries, depth=depth, ranked=ranked)


class Judgments(Grades):
    """Grades from a sparse matrix of them, which is asked for in slices of rows; 0 where it has no entry."""

    def __init__(self, rows: Callable[[slice], Any], n_documents: int) -> None:
        self.rows, self.n_documents = rows, n_documents

    def write(self, rows: slice, out: Array) -> None:
        """Write the grades of all documents."""
        self.rows(rows).toarray(out=out)

    def split(self, rows: slice, query: Index, item: Index) -> tuple[Array, Groups]:
        """Grades of some documents, and groups of all others: one of each that has an entry, one of the rest."""
        matrix, n_queries = self.rows(rows), rows.stop - rows.start
        judged = np.repeat(np.arange(n_queries), np.diff(matrix.indptr))
        position, rest = judged * self.n_documents + matrix.indices, np.ones(len(judged) + 1, dtype=bool)
        asked = query * self.n_documents + item
        at = np.searchsorted(position, asked)
        judged_here = np.append(position, -1)[at] == asked
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
    """Sparse matrix of float64 in canonical form; missing values (NaN) are kept, infinite ones refused."""
    # Its first row is row `first` of the whole.
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
    """Matrix, sparse or not, of real numbers that float64 keeps apart."""
    if not sparse.issparse(matrix):
        return as_reals(matrix, name)
    if matrix.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers. Got dtype {matrix.dtype} instead.")
    as_reals(matrix.tocsr().data, name)
    return matrix


def as_queries(
    label: Array, score: NDArray[Any], grouping: Grouping, *, unlisted: DocumentsWithoutRow | None = None
) -> Queries:
    """Queries of rows that need no check."""
    labels = label if unlisted is None else np.append(label, unlisted.label[unlisted.count > 0])
    summary, seen = summary_of_labels(labels), summary_of(None, score)[0]
    summary = summary._replace(scores_are_whole=seen.scores_are_whole, score_range=seen.score_range)
    return Queries(label, grouping, None, summary, unlisted, score=score)


def summary_of_labels(labels: Array) -> DataSummary:
    """Facts about labels where documents without an entry have label 0."""
    summary, _, _ = summary_of(labels, None)
    low, high = summary.label_range
    return summary._replace(label_range=(min(low, 0.0), max(high, 0.0)))


def list_batches(
    indptr: Index, item: Index, score: Array, grades: Grades, *, without_self: bool = False, left_out: Any = None
) -> LazyQueries:
    """Lazy queries from lists: query q has the documents ``item[indptr[q] : indptr[q + 1]]``, and no others."""
    # `left_out` are the pairs of a query and a document that do not count; lists do not have them.
    n_queries, indptr, item = len(indptr) - 1, indptr.astype(np.int64), item.astype(np.int64)

    def blocks(depth: int | None) -> list[tuple[int, int]]:
        if depth is None:
            return cut_rows(n_queries, ROWS_IN_MEMORY // grades.n_documents)
        return [block for a, b in cut_queries(indptr, BLOCK_ROWS) for block in cut_rows(b, BLOCK_ROWS, a)]

    def make(first: int, last: int, depth: int | None) -> Queries:
        rows, part = slice(first, last), slice(indptr[first], indptr[last])
        grouping = Grouping.by_sizes(np.diff(indptr[first : last + 1]), first_query=first)
        query = grouping.query_of_row
        if depth is not None:
            label, unlisted = grades.listed(
                rows, query, item[part], depth=depth, ranked=False, without_self=without_self, left_out=left_out
            )
            return as_queries(label, score[part], grouping, unlisted=unlisted)
        labels = np.empty((last - first, grades.n_documents))
        scores = np.full(labels.shape, -np.inf)
        scores[query, item[part]] = score[part]
        grades.write(rows, labels)
        if without_self:
            labels, scores = drop_self(labels, first), drop_self(scores, first)
        mask = None if left_out is None else ~left_out[rows].toarray()
        return queries_of_matrix(labels, scores, mask=mask, first_query=first)

    n_documents = np.full(n_queries, grades.n_documents - without_self)
    sizes = n_documents if left_out is None else n_documents - np.diff(left_out.indptr)
    return LazyQueries(
        Grouping.by_sizes(sizes, first_query=0), blocks, make, is_by_column=not without_self and left_out is None
    )


def drop_self(x: NDArray[Any], first: int) -> NDArray[Any]:
    """The rows without the column of each row's own number, the first row's being `first`; `x` is changed."""
    for i, row in enumerate(x):
        row[first + i : -1] = row[first + i + 1 :]
    return x[:, :-1]


NONE_LEFT = (
    "exclude removes every relevant document: pass only documents that were known before, such as "
    "the documents of training."
)


def check_sparse(
    y_true: MatrixLike, y_score: MatrixLike, *, qid: ArrayLike | None, sample_weight: ArrayLike | None,
    tie_break: ArrayLike | None, exclude: Any = None,
) -> LazyQueries:  # fmt: skip
    """Check sparse judgments and their scores, sparse or not, a row a query."""
    # Entries of the matrix `exclude` are no documents.
    if tie_break is not None:
        raise ValueError("With sparse matrices tie_break must be None. Got a tie_break.")
    label, scores = csr(y_true, "y_true"), _reals(y_score, "y_score")
    n_queries, n_documents = check_matrix_shapes(label.shape, scores.shape, "y_score")
    refuse_one_column(label.shape)
    weight = None if sample_weight is None else check_query_weight(sample_weight, n_queries)
    out = None if exclude is None else exclusion_matrix(exclude, label.shape)
    if out is not None and (relevant := label > 0).nnz and relevant.multiply(out).nnz == relevant.nnz:
        raise ValueError(NONE_LEFT)
    grades = Judgments((label if out is None else _without(label, out)).__getitem__, n_documents)
    if not sparse.issparse(scores):
        if out is not None:
            scores = np.where(out.toarray(), -np.inf, scores)
        _refuse_bad_scores(scores, lambda at: at // n_documents)
        batches = _dense_batches(scores, grades, out)
    else:
        score = _list_scores(scores if out is None else _without(sparse.csr_array(scores, dtype=np.float64), out))
        batches = list_batches(score.indptr, score.indices, score.data, grades, left_out=out)
    if qid is not None:
        batches.grouping.ids = ids_of_matrix(qid, label.shape)
    return replace(batches, weight=weight)


def exclusion_matrix(exclude: Any, shape: tuple[int, ...]) -> Any:
    """Matrix of bools with an entry for each document that is left out of a query."""
    matrix = _reals(exclude, "exclude")
    if matrix.shape != shape:
        raise ValueError(
            "exclude must be a matrix of the shape of y_true, with an entry that is not 0 for each document that is "
            f"left out of a query. Got shape {matrix.shape} for {shape}."
        )
    # To compare a sparse matrix adds up its repeated entries, so this is a copy.
    out = sparse.csr_array(matrix, copy=True) != 0
    nothing_left = np.diff(out.indptr) == shape[1]
    if nothing_left.any():
        raise ValueError(
            "exclude must leave a document to each query; leave queries without one out of all matrices. "
            f"Got {np.count_nonzero(nothing_left)} of {shape[0]} rows without, the first is row "
            f"{int(np.argmax(nothing_left))}."
        )
    return out


def _without(matrix: Any, out: Any) -> Any:
    """The matrix without the entries that another one has."""
    matrix = matrix.copy()
    matrix.sum_duplicates()
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    out_row = np.repeat(np.arange(out.shape[0]), np.diff(out.indptr))
    n = matrix.shape[1]
    kept = ~np.isin(row * n + matrix.indices, out_row * n + out.indices)
    indptr = np.append(0, np.cumsum(np.bincount(row[kept], minlength=matrix.shape[0])))
    return sparse.csr_array((matrix.data[kept], matrix.indices[kept], indptr), shape=matrix.shape)


def _list_scores(y_score: ArrayLike) -> Any:
    """Scores of listed documents, one for each; -inf and a missing entry mean not retrieved."""
    score = sparse.csr_array(y_score, dtype=np.float64, copy=True)
    score.sum_duplicates()
    _refuse_bad_scores(score.data, lambda at: np.searchsorted(score.indptr, at, side="right") - 1)
    return score


def _refuse_bad_scores(score: NDArray[Any], row_of: Callable[[Any], Any]) -> None:
    fault = ~(score < np.inf)  # catches NaN too
    if fault.any():
        raise ValueError(
            "y_score must not contain NaN or +inf (a document without an entry, or with -inf, was not retrieved). "
            f"Got {score[fault][0]} in row {row_of(np.argmax(fault))}."
        )


def _dense_batches(score: NDArray[Any], grades: Grades, left_out: Any = None) -> LazyQueries:
    """Batches of a dense matrix of scores; entries of `left_out` are no documents."""
    n_queries, n_documents = score.shape

    def make(first: int, last: int, depth: int | None) -> Queries:
        label = np.empty((last - first, n_documents))
        grades.write(slice(first, last), label)
        mask = None if left_out is None else ~left_out[first:last].toarray()
        scores = as_floats(score[first:last], "y_score")
        return queries_of_matrix(label, scores, mask=mask, first_query=first)

    n_rows, sizes = ROWS_IN_MEMORY // n_documents, np.full(n_queries, n_documents)
    sizes = sizes if left_out is None else sizes - np.diff(left_out.indptr)
    grouping = Grouping.by_sizes(sizes, first_query=0)
    return LazyQueries(grouping, lambda depth: cut_rows(n_queries, n_rows), make, is_by_column=left_out is None)
