"""Whole lists by nearness, as queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.queries import Facts, Origin, Queries
from sklearn_rank._engine.sparse import facts_of_labels
from sklearn_rank._utils.typing import Array, Index


def whole_lists(near: NDArray[Any], label: NDArray[Any], indptr: Index, first: int) -> Queries:
    """Queries of which each has all items, by their nearness, shape (n_queries, n_items)."""
    score: Array = near.ravel().astype(np.float64, copy=False)
    if label.dtype == np.uint8:
        labels: NDArray[Any] = np.ascontiguousarray(label).reshape(-1)
        facts = Facts((0.0, float(labels.max())))
    else:
        labels = label.ravel()
        facts = facts_of_labels(labels)
    return Queries(
        labels, score, indptr, None, np.arange(len(indptr) - 1), None, facts, origin=Origin(first_query=first)
    )
