"""Grades of items for queries, from labels or from judgments, a slice of queries at a time.

Knows neither features nor metrics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sklearn_rank._engine.ids import ids_of
from sklearn_rank._engine.ranking import N_GRADES
from sklearn_rank._engine.sparse import Grades, Groups, Judgments, csr
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import refuse_masked
from sklearn_rank._utils.typing import Array, Index, MatrixLike
from sklearn_rank.retrieval._distances import with_one_entry_each

WORD = 64
"""Number of labels whose indicators are packed into one word."""


def make_grades(
    query_labels: MatrixLike, database_labels: MatrixLike, relevance: Any, n_queries: int, n_items: int
) -> Grades:
    """Grades of `relevance` if given, else 1 for equal labels, or the number of shared ones."""
    sources = {"query_labels": query_labels, "database_labels": database_labels, "relevance": relevance}
    given = [name for name, x in sources.items() if x is not None]
    if given not in (["query_labels", "database_labels"], ["relevance"]):
        raise TypeError(
            f"Pass either query_labels and database_labels, or relevance. Got {' and '.join(given) or 'neither'}."
        )
    if relevance is not None:
        return _judged(relevance, n_queries, n_items)
    query, items = (
        _one_column(_label_array(x, name))
        for x, name in ((query_labels, "query_labels"), (database_labels, "database_labels"))
    )
    for x, n, name, whose in ((query, n_queries, "query", "query"), (items, n_items, "database", "database item")):
        if x.ndim not in (1, 2) or x.shape[0] != n:
            raise ValueError(
                f"{name}_labels must have an entry, or a row, for each {whose} ({n}). Got shape {x.shape}."
            )
    if query.ndim != items.ndim or query.shape[1:] != items.shape[1:]:
        raise ValueError(
            "query_labels and database_labels must both be one-dimensional, or indicator matrices with as many "
            f"columns. Got shapes {query.shape} and {items.shape}."
        )
    return Classes(query, items) if query.ndim == 1 else SharedLabels(query, items)


def _one_column(labels: Any) -> Any:
    """One label each, of labels that are a column; anything else as it is."""
    if labels.shape[1:] != (1,):
        return labels
    return labels.toarray().ravel() if sparse.issparse(labels) else labels.ravel()


def _label_array(labels: Any, name: str) -> Any:
    if sparse.issparse(labels):
        return with_one_entry_each(sparse.csr_array(labels))
    refuse_masked(labels, name)
    labels = as_numpy(labels)
    flat = isinstance(labels, (list, tuple)) and not any(np.ndim(label) for label in labels[:1])
    array = ids_of(labels) if flat else np.asarray(labels)
    try:
        missing = array != array
        if array.dtype == object:
            missing |= array == np.array(None)
    except TypeError:
        # pandas.NA is neither equal to itself nor different.
        raise ValueError(f"{name} must not be missing. Got NA.") from None
    if np.any(missing):
        raise ValueError(f"{name} must not be missing. Got {array[missing][0]}, the first of {missing.sum()}.")
    # Sets do not sort: < asks whether one is a part of the other.
    sets = [label for label in array.flat if isinstance(label, (set, frozenset))] if array.dtype == object else []
    if sets:
        raise ValueError(
            f"{name} must be one label each, or indicators: make them of sets of labels with "
            f"sklearn.preprocessing.MultiLabelBinarizer. Got {echo(sets[0])}."
        )
    return array


class Classes(Grades):
    """Grade 1 for the same label, 0 otherwise."""

    highest = 1

    def __init__(self, query: NDArray[Any], items: NDArray[Any]) -> None:
        numeric = {x.dtype.kind in "biuf" for x in (query, items) if x.dtype != object}
        try:
            if len(numeric) > 1:
                raise TypeError(f"dtypes {query.dtype} and {items.dtype}")
            classes, self.item = _distinct(items)
            kinds = {classes.dtype.kind, query.dtype.kind}
            rounds = kinds & {*"iu"} and np.result_type(classes, query).kind == "f"
            # NumPy would compare rounded numbers, and bytes as if they were text.
            if rounds or kinds == {*"SU"}:
                classes, query = classes.astype(object), query.astype(object)
            at = np.minimum(np.searchsorted(classes, query), len(classes) - 1)
        except TypeError as error:
            raise ValueError(f"Labels of queries and of the database must be of one kind. Got {error}.") from None
        self.query = np.where(classes[at] == query, at, -1)
        self.item = self.item.astype(np.int32)
        # The last is the size of a class without items, whose number is -1.
        self.size = np.append(np.bincount(self.item), 0)
        self.n_documents = len(items)

    def write(self, rows: slice, out: Array) -> None:
        """Write the grades of all documents."""
        same = out if out.dtype == np.float64 else out.view(bool)
        np.equal(self.query[rows, None].astype(np.int32), self.item, out=same)

    def split(self, rows: slice, query: Index, item: Index) -> tuple[Array, Groups]:
        """Grades of some documents, and groups of all others."""
        wanted, n_queries = self.query[rows], rows.stop - rows.start
        label = (self.item[item] == wanted[query]).astype(np.float64)
        rest = self.size[wanted] - np.bincount(query[label > 0], minlength=n_queries)
        others = self.n_documents - np.bincount(query, minlength=n_queries) - rest
        return label, (np.tile(np.arange(n_queries), 2), np.repeat([1.0, 0.0], n_queries), np.append(rest, others))


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], Index]:
    """Distinct labels, ascending, and the number of each entry's; whole numbers close together are not sorted."""
    if labels.dtype.kind not in "iu" or (span := int(labels.max()) - int(labels.min())) > len(labels):
        return np.unique(labels, return_inverse=True)
    low = labels.min()
    # Differences are taken modulo 2**64, so none overflows.
    place = labels.astype(np.uint64) - low.astype(np.uint64)
    found = np.bincount(place.astype(np.int64), minlength=span + 1) > 0
    classes = (np.flatnonzero(found).astype(np.uint64) + low.astype(np.uint64)).astype(labels.dtype)
    return classes, (np.cumsum(found) - 1)[place]


class SharedLabels(Grades):
    """Grade l_q^T l_i, the number of shared labels, computed once for all items with the same labels."""

    def __init__(self, query: Any, items: Any) -> None:
        for labels, name in ((query, "query_labels"), (items, "database_labels")):
            values = labels.data if sparse.issparse(labels) else labels
            other = values[(values != 0) & (values != 1)]
            if other.size:
                raise ValueError(f"{name} of two dimensions must be indicators, 0 or 1 for each label. Got {other[0]}.")
        self.kind, first = _kinds(items)
        self.query, self.of_kind = query.astype(np.float64), items[first].astype(np.float64)
        self.size = np.bincount(self.kind)
        most = int(self.query.sum(axis=1).max())
        self.highest = most if most < N_GRADES else None
        self.n_documents = len(self.kind)

    def _table(self, rows: slice) -> Array:
        """Grade of each kind of item."""
        shared = self.query[rows] @ self.of_kind.T
        return np.asarray(shared.toarray() if sparse.issparse(shared) else shared)

    def write(self, rows: slice, out: Array) -> None:
        """Write the grades of all documents."""
        table = self._table(rows).astype(out.dtype)
        # NumPy makes a copy first in any other mode.
        table.take(self.kind, axis=1, out=out, mode="clip")

    def split(self, rows: slice, query: Index, item: Index) -> tuple[Array, Groups]:
        """Grades of some documents, and groups of all others."""
        table, n_queries = self._table(rows), rows.stop - rows.start
        label, n_grades = table[query, self.kind[item]], int(table.max(initial=0)) + 1
        group = np.arange(n_queries * n_grades)
        of_kind = (table + n_grades * np.arange(n_queries)[:, None]).astype(np.int64)
        count = np.bincount(of_kind.ravel(), np.tile(self.size, n_queries), minlength=len(group)).astype(np.int64)
        count -= np.bincount(query * n_grades + label.astype(np.int64), minlength=len(group))
        return label, (group // n_grades, (group % n_grades).astype(np.float64), count)


def _kinds(items: Any) -> tuple[NDArray[np.int32], Index]:
    """Number each distinct row; return the number of each row, and the first row of each number."""
    n_items, n_labels = items.shape
    kind, first = np.zeros(n_items, dtype=np.int64), np.zeros(1, dtype=np.int64)
    by_column = sparse.csc_array(items) if sparse.issparse(items) else items
    for start in range(0, n_labels, WORD):
        part = by_column[:, start : start + WORD]
        bits = np.packbits((part.toarray() if sparse.issparse(part) else part) != 0, axis=1)
        words = np.ascontiguousarray(np.pad(bits, ((0, 0), (0, -bits.shape[1] % 8)))).view(np.uint64)
        values, code = np.unique(words[:, 0], return_inverse=True)
        _, first, kind = np.unique(kind * len(values) + code, return_index=True, return_inverse=True)
    return kind.astype(np.int32), first


def _judged(relevance: Any, n_queries: int, n_items: int) -> Judgments:
    """Grades from a matrix, or from a function that takes query numbers and returns their rows."""
    name = "What relevance returns" if callable(relevance) else "relevance"
    if not callable(relevance):
        matrix = csr(relevance, name)
        if matrix.shape != (n_queries, n_items):
            raise ValueError(
                "relevance must be a matrix with a row for each query and a column for each database item, shape "
                f"{(n_queries, n_items)}, or a function of row numbers that returns such rows. Got {matrix.shape}."
            )
        return Judgments(matrix.__getitem__, n_items)

    def rows_of(rows: slice) -> Any:
        matrix = csr(relevance(np.arange(rows.start, rows.stop)), name, rows.start)
        shape = (int(rows.stop - rows.start), n_items)
        if matrix.shape != shape:
            raise ValueError(f"relevance must return rows of shape {shape}. Got {matrix.shape}.")
        return matrix

    return Judgments(rows_of, n_items)
