"""Rows given to `fit`, grouped by query, and parts of them that are whole queries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.check import query_weight
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._utils.typing import Index
from sklearn_rank.model_selection._fit_arguments import FitData


@dataclass(frozen=True)
class QueryData:
    """Rows whose query is known: rows of query q are ``order[indptr[q]:indptr[q + 1]]``."""

    X: Any
    y: Any
    weight: NDArray[Any] | None
    ids: NDArray[Any]
    indptr: Index
    order: Index | None

    @classmethod
    def of(cls, X: Any, y: Any, qid: Any, weight: NDArray[Any] | None) -> QueryData:
        """Group checked rows."""
        return cls(X, y, weight, *group_rows(qid, len(y)))

    def take(self, chosen: NDArray[np.bool_]) -> FitData:
        """Rows of the chosen queries; the data as they are where these are all rows in their order."""
        X, y, weight, rows, sizes = self.X, self.y, self.weight, self.order, np.diff(self.indptr)
        if not chosen.all():
            rows = np.flatnonzero(np.repeat(chosen, sizes))
            rows = rows if self.order is None else self.order[rows]
        if rows is not None:
            X, y, weight = take_rows(X, rows), take_rows(y, rows), None if weight is None else weight[rows]
        return FitData(X, y, sizes[chosen], weight)

    def refuse_varying_weights(self, takes: str | None) -> None:
        """Refuse weights that vary inside a query, for a model that takes queries by this keyword."""
        if self.weight is not None and takes in ("qid", "group_id"):
            query_weight(self.weight, self.ids, self.indptr, self.order)

    def take_all(self) -> FitData:
        """All rows, those of a query adjacent."""
        return self.take(np.ones(len(self.ids), dtype=bool))


def take_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array, sparse matrix, frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]
