"""Weights of the queries of results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.read import refuse_bad_weight
from sklearn_rank._evaluation.clusters import agreed_by_query, by_query, of_all_or_none
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array

WeightLike = ArrayLike | Mapping[Hashable, float] | None


def weights_of_queries(weight: Any, ids: NDArray[Any] | None, n_queries: int) -> Array:
    """Weight of each query; `ids` is None if queries are matched by position."""
    array = as_floats(by_query(weight, "weight", ids, n_queries, "evaluate(..., sample_weight=)"), "weight")
    if len(array):
        refuse_bad_weight(array)
    return array


def joined_weights(
    given: Sequence[Array | None], positions: Sequence[Any], ids: NDArray[Any], names: Sequence[str], function_name: str
) -> Array | None:
    """Weight of each query, from results with weights; `positions` are their queries in `ids`."""
    known = of_all_or_none(given, names, "weights", "sample_weight", function_name)
    if not known:
        return None
    distinct, numbers = np.unique(np.concatenate(known), return_inverse=True)
    of_each = np.split(numbers, np.cumsum([len(one) for one in known])[:-1])
    rule = f"{function_name} takes results with the same weights."
    return np.asarray(distinct[agreed_by_query(of_each, positions, ids, names, rule, "weights")])
