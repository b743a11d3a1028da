"""Rows as they come into `fit` and `partial_fit`, checked."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.columns import check_features, check_rows, one_column
from sklearn_rank._utils.lengths import check_lengths, n_rows_of
from sklearn_rank._utils.numbers import refuse_masked


def read_rows(X: Any, y: Any, qid: Any, sample_weight: Any) -> tuple[Any, Any, NDArray[Any] | None]:
    """Features, labels and weights whose rows belong together, each with a length and without a mask."""
    n_rows_of(X, "X"), n_rows_of(y, "y")
    check_lengths(X=X, y=y, sample_weight=sample_weight)
    check_rows(y=y, qid=qid, sample_weight=sample_weight)
    check_features(X, y=y, qid=qid, sample_weight=sample_weight)
    for name, data in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        refuse_masked(data, name)
    weight = None if sample_weight is None else np.asarray(one_column(sample_weight))
    X, y = _with_length(X), _with_length(one_column(y))
    if not len(y):
        raise ValueError("There must be one row at least. Got none.")
    return X, y, weight


def _with_length(x: Any) -> Any:
    """An array of what can only be turned into one."""
    return x if hasattr(x, "shape") or hasattr(x, "__len__") else np.asarray(x)
