"""Rows of the data sets that a training loop evaluates each round: checked, grouped and prepared once."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.check import check_shapes, query_weight
from sklearn_rank._evaluation.all_relevant import warn_if_all_relevant
from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.typing import Array, Index

Arrays = tuple[NDArray[Any] | None, ...]


@dataclass(frozen=True)
class SeenRowsEntry:
    """Metrics of the rows of one data set, and the labels, sizes and weights that they were made of.

    Arrays that are the owner itself are None, so that the entry does not keep the owner alive.
    """

    owner: weakref.ref[Any]
    arrays: Arrays
    label: Array
    prepared: PreparedMetrics

    def is_of(self, owner: Any, arrays: Arrays, label: NDArray[Any]) -> bool:
        """Whether these are still the rows of the owner: its labels, queries or weights may have been set anew."""
        same = self.owner() is owner and all(map(_same, self.arrays, arrays))
        return same and np.array_equal(self.label, np.ravel(label))  # which may have been changed in place


class SeenRows:
    """Metrics of grouped rows by the object that owns these, for as long as it lives."""

    def __init__(self, specs: Mapping[str, MetricSpec], n_jobs: int | None) -> None:
        self._specs, self._n_jobs = specs, n_jobs
        self._entries: dict[int, SeenRowsEntry] = {}

    def metrics_of(
        self, owner: Any, label: NDArray[Any], sizes: NDArray[Any], weight: NDArray[Any] | None,
        check: Callable[[], None] = lambda: None,
    ) -> PreparedMetrics:  # fmt: skip
        """Metrics of the owner's rows; checked, also by `check`, and grouped when they are first asked for."""
        key, arrays = id(owner), tuple(None if x is owner else x for x in (label, sizes, weight))
        entry = self._entries.get(key)
        if entry is None or not entry.is_of(owner, arrays, label):
            check()
            rows = group_adjacent(label, sizes, weight)
            warn_if_all_relevant(rows.label_range, self._specs)
            forget = weakref.ref(owner, lambda _: self._entries.pop(key, None))
            prepared = rows.prepare(self._specs, self._n_jobs)
            entry = self._entries[key] = SeenRowsEntry(forget, arrays, rows.label, prepared)
        return entry.prepared


def group_adjacent(label: NDArray[Any], sizes: NDArray[Any], weight: NDArray[Any] | None) -> GroupedRows:
    """Rows of adjacent queries of these sizes, with one weight a row or one a query, or none.

    Raises
    ------
    ValueError
        If the sizes are not those of the rows, or weights vary inside a query.
    """
    y, kept = np.array(column(as_floats(label, "y"))), np.asarray(sizes)[np.asarray(sizes) > 0].astype(np.int64)
    indptr = np.append(0, np.cumsum(kept))
    check_shapes(y, y)
    if indptr[-1] != len(y):
        raise ValueError(f"Sizes of queries must add up to the {len(y)} rows. Got {indptr[-1]}.")
    ids = np.arange(len(kept))
    return GroupedRows(y, ids, indptr, None, None if weight is None else _query_weight(weight, ids, indptr))


def _query_weight(weight: NDArray[Any], ids: Index, indptr: Index) -> NDArray[np.float64]:
    """Weight of each query, of weights for rows or for queries."""
    if len(weight) == len(ids):
        weight = np.repeat(weight, np.diff(indptr))
    try:
        return query_weight(weight, ids, indptr, None)
    except ValueError as error:
        raise ValueError(
            f"{error} Weights of rows are for training: evaluate on a data set without them, "
            "or with one weight for all rows of a query."
        ) from None


def _same(kept: NDArray[Any] | None, given: NDArray[Any] | None) -> bool:
    """Whether both are the same array, or hold the same numbers."""
    return kept is given or (kept is not None and given is not None and np.array_equal(kept, given))
