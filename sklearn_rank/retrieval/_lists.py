"""Whole lists by nearness, as queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.queries import DataSummary, Origin, Queries
from sklearn_rank._engine.sparse import summary_of
from sklearn_rank._utils.typing import Array, Index


def whole_lists(near: NDArray[Any], label: NDArray[Any], indptr: Index, first: int) -> Queries:
    """Queries of which each has all items, by their nearness, shape (n_queries, n_items)."""
    score: Array = near.ravel().astype(np.float64, copy=False)
    if label.dtype == np.uint8:
        grade = np.ascontiguousarray(label).reshape(-1)
        summary, values = DataSummary((0.0, float(grade.max())), False, False), grade.astype(np.float64)
    else:
        grade, values = None, label.ravel()
        summary = summary_of(values)
    ids = np.arange(len(indptr) - 1)
    return Queries(values, score, indptr, None, ids, None, summary, grade=grade, origin=Origin(first_query=first))
