"""Training and validation rows: checked, grouped by query, and selected by whole queries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from sklearn_rank._engine.columns import check_features, check_rows, one_column
from sklearn_rank._engine.grouping import Grouping, find_qid, group_rows, number_together
from sklearn_rank._engine.read import query_weight
from sklearn_rank._utils.containers import check_lengths, n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import refuse_masked


@dataclass(frozen=True)
class FitData:
    """Training or validation rows, with the rows of a query adjacent.

    `grouping` is None if the queries are unknown; `weight` has a value for each row; `more` holds further arguments of
    the model's `fit`, whose arrays have an entry for each row.
    """

    X: Any
    y: Any
    grouping: Any
    weight: NDArray[Any] | None
    more: Mapping[str, Any] = field(default_factory=dict)

    def weight_for(self, takes: str | None) -> NDArray[Any] | None:
        """Weights of queries for a model that accepts qid; weights of rows for other models."""
        if self.weight is None or takes != "qid":
            return self.weight
        return self.weight[self.grouping.first_rows]


@dataclass(frozen=True)
class QueryData:
    """Rows with known queries."""

    X: Any
    y: Any
    weight: NDArray[Any] | None
    grouping: Grouping
    more: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, X: Any, y: Any, qid: Any, weight: NDArray[Any] | None, more: Mapping[str, Any] | None = None
    ) -> QueryData:
        """Group checked rows."""
        return cls(X, y, weight, group_rows(qid, len(y)), more or {})

    def take(self, chosen: NDArray[np.bool_]) -> FitData:
        """Return the rows of the chosen queries, without a copy if these are all rows in order."""
        X, y, weight, more, grouping = self.X, self.y, self.weight, self.more, self.grouping
        rows = grouping.order if chosen.all() else grouping.rows_of(np.flatnonzero(chosen))
        if rows is not None:
            X, y, weight = index_rows(X, rows), index_rows(y, rows), None if weight is None else weight[rows]
            # Like scikit-learn: an array whose length is the number of rows has an entry for each row.
            of_rows = {name for name, x in more.items() if getattr(x, "shape", ())[:1] == (len(self.y),)}
            more = {name: index_rows(x, rows) if name in of_rows else x for name, x in more.items()}
        return FitData(X, y, Grouping.by_sizes(grouping.sizes[chosen], grouping.ids[chosen]), weight, more)

    def take_all(self) -> FitData:
        """All rows, with the rows of a query adjacent."""
        return self.take(np.ones(self.grouping.n_queries, dtype=bool))

    def refuse_varying_weights(self, takes: str | None) -> None:
        """Refuse weights that vary within a query, if the model accepts queries by this keyword."""
        if self.weight is not None and takes in ("qid", "group_id"):
            query_weight(self.weight, self.grouping)


def index_rows(X: Any, rows: NDArray[np.int64]) -> Any:
    """Rows of an array, sparse matrix, frame or list."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "tocsr"):
        return X.tocsr()[rows]
    return X[rows] if hasattr(X, "shape") else np.asarray(X)[rows]


def read_rows(X: Any, y: Any, qid: Any, sample_weight: Any) -> tuple[Any, Any, NDArray[Any] | None]:
    """Check that features, labels and weights have the same rows, and return them with a length and without a mask."""
    n_rows_of(X, "X"), n_rows_of(y, "y")
    check_lengths(X=X, y=y, sample_weight=sample_weight)
    check_rows(y=y, qid=qid, sample_weight=sample_weight)
    check_features(X, y=y, qid=qid, sample_weight=sample_weight)
    for name, data in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        refuse_masked(data, name)
    weight = None if sample_weight is None else np.asarray(one_column(sample_weight))
    # Tensors of some libraries have no shape and no length before the conversion to an array.
    X, y = (x if hasattr(x, "shape") or hasattr(x, "__len__") else np.asarray(x) for x in (X, one_column(y)))
    if not len(y):
        raise ValueError("There must be at least one row. Got none.")
    return X, y, weight


# --- validation rows of the user: fit(..., eval_set=(X, y, qid)) ---------------------------------------------------


def one_eval_set(eval_set: Any, eval_qid: Any) -> Any:
    """Return validation rows as a tuple; XGBoost expects lists of tuples and of their queries."""
    if isinstance(eval_set, list) and len(eval_set) == 1 and isinstance(eval_set[0], tuple):
        eval_set = eval_set[0]
    if eval_qid is None:
        return eval_set
    if not isinstance(eval_set, tuple) or len(eval_set) != 2:
        length = f" of {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise TypeError(
            "eval_qid is the query of each row of eval_set=(X, y), or of a list with one such tuple. "
            f"Got eval_qid={echo(eval_qid)} with eval_set={type(eval_set).__name__}{length}."
        )
    if isinstance(eval_qid, list) and len(eval_qid) == 1 and np.ndim(eval_qid[0]) == 1:
        eval_qid = eval_qid[0]
    return (*eval_set, eval_qid)


def read_eval_set(ranker: Any, eval_set: Any) -> QueryData:
    """Check validation rows against the training features of `ranker`, and group them by query."""
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= 4:
        length = f" of {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else ""
        raise TypeError(
            "eval_set must be a tuple (X, y, qid) or (X, y, qid, sample_weight) of validation rows, or (X, y) where "
            f"the index of y has the level 'qid'. Got {type(eval_set).__name__}{length}."
        )
    X, y, qid, sample_weight = (*eval_set, None, None)[:4]
    try:
        validate_data(ranker, X, skip_check_array=True, reset=False)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        X, y = (x if hasattr(x, "shape") else np.asarray(x) for x in (X, y))
        return QueryData.of(X, y, find_qid(y, qid, name="y"), weight)
    except ValueError as error:
        raise ValueError(
            "X, y and qid in eval_set must have the form of fit, X with the same columns; without qid the index of y "
            f"must have the level 'qid'. {error}"
        ) from None


def refuse_trained_on(ids: NDArray[Any], eval_ids: NDArray[Any]) -> None:
    """Refuse validation queries that are also training queries."""
    number = positions_in(ids, eval_ids)
    (shared,) = np.nonzero(number < len(ids))
    if len(shared):
        raise ValueError(
            "Queries of eval_set must not be training queries, because the model would be validated on its own "
            "training data. If the queries differ but both sets number them from 0, make the ids distinct: qid = "
            f"np.char.add('eval-', qid.astype(str)). Got {len(shared)} of {len(eval_ids)} queries in both, for example "
            f"{echo_id(eval_ids[shared[0]])}."
        )


# --- ids of two data sets ------------------------------------------------------------------------------------------


def positions_in(known: NDArray[Any], ids: NDArray[Any]) -> NDArray[np.int64]:
    """Position of each id in `known`; the length of `known` if it is absent."""
    # NumPy would turn 1 into "1", and refuse dates together with numbers.
    if known.dtype.kind != ids.dtype.kind:
        known, ids = known.astype(object), ids.astype(object)
    return number_together([known, ids])[1][1]


def echo_id(one: Any) -> str:
    """Format an id as Python notation."""
    return echo(one.item() if isinstance(one, np.generic) else one)
