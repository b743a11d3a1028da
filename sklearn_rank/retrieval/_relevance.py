"""What is relevant to what: labels or judgements in, grades by chunks of queries out.

Knows no features and no metric of ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

Grades = Callable[[slice, NDArray[np.float64]], None]
"""Writes the grades of all database items for some queries, shape (n_rows, n_database)."""


def make_grades(query_labels: Any, database_labels: Any, relevance: Any, n_queries: int, n_database: int) -> Grades:
    """Function that writes grades: of `relevance` if given, else 1 for equal labels, or the number of shared ones.

    Raises
    ------
    ValueError
        If shapes do not fit, or indicators are not 0 and 1.
    TypeError
        If there are neither labels nor `relevance`, or both.
    """
    labels = query_labels, database_labels
    if (relevance is None) != all(x is not None for x in labels) or (relevance is not None and labels != (None, None)):
        raise TypeError("Either query_labels and database_labels or relevance must say what is relevant. Got not that.")
    if relevance is not None:
        return _judged(relevance, n_queries, n_database)
    query, database = (_label_array(x) for x in labels)
    for x, n, name in ((query, n_queries, "query"), (database, n_database, "database")):
        if x.ndim > 2 or x.shape[0] != n:
            raise ValueError(
                f"{name}_labels must have an entry, or a row, for each row of {name}_features, which has {n}. "
                f"Got shape {x.shape}."
            )
    if query.ndim != database.ndim or query.shape[1:] != database.shape[1:]:
        raise ValueError(
            "query_labels and database_labels must both be one-dimensional, or indicator matrices with as many "
            f"columns. Got shapes {query.shape} and {database.shape}."
        )
    return _equal(query, database) if query.ndim == 1 else _shared(query, database)


def _label_array(labels: Any) -> Any:
    return sparse.csr_array(labels) if sparse.issparse(labels) else np.asarray(labels)


def _equal(query: NDArray[Any], database: NDArray[Any]) -> Grades:
    """Grade 1 for the same label."""
    _, code = np.unique(np.concatenate([query, database]), return_inverse=True)
    code = code.astype(np.int32)
    of_query, of_database = code[: len(query), None], code[len(query) :]
    return lambda rows, out: np.equal(of_query[rows], of_database, out=out)


def _shared(query: Any, database: Any) -> Grades:
    """Grade l_q^T l_i, the number of labels that both have."""
    for labels, name in ((query, "query_labels"), (database, "database_labels")):
        values = labels.data if sparse.issparse(labels) else labels
        other = values[(values != 0) & (values != 1)]
        if other.size:
            raise ValueError(f"{name} of two dimensions must be indicators, 0 or 1 for each label. Got {other[0]}.")
    query, database = query.astype(np.float64), database.astype(np.float64)

    def write(rows: slice, out: NDArray[np.float64]) -> None:
        shared = query[rows] @ database.T
        out[:] = shared.toarray() if sparse.issparse(shared) else shared

    return write


def _judged(relevance: Any, n_queries: int, n_database: int) -> Grades:
    """Grades from a matrix, or from a function of the row numbers of queries that returns one."""
    if not callable(relevance):
        matrix = _label_array(relevance)
        if matrix.shape != (n_queries, n_database):
            raise ValueError(
                "relevance must be a matrix with a row for each query and a column for each database item, shape "
                f"{(n_queries, n_database)}, or a function of row numbers that returns such rows. Got {matrix.shape}."
            )
        relevance = matrix.__getitem__

    def write(rows: slice, out: NDArray[np.float64]) -> None:
        grades = relevance(np.arange(n_queries)[rows])
        grades = grades.toarray() if sparse.issparse(grades) else np.asarray(grades)
        if grades.shape != out.shape:
            raise ValueError(f"relevance must return rows of shape {out.shape}. Got {grades.shape}.")
        out[:] = grades

    return write
