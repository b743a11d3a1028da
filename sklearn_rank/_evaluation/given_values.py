"""Values of a metric that were computed elsewhere or loaded."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import (
    AttributesLike,
    ClustersLike,
    QueryAttributes,
    attributes_by_name,
    check_attributes,
)
from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._engine.ids import ids_of, refuse_unfit_ids
from sklearn_rank._engine.read import refuse_bad_weight
from sklearn_rank._metric.key_signs import refuse_sign
from sklearn_rank._metric.names import direction_of
from sklearn_rank._metric.names import is_binary as is_binary_by_name
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.numbers import as_floats, refuse_masked
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.typing import Array

AVERAGES = ("macro", "micro", "geometric")

MEAN_TOLERANCE = 1e-9
"""A mean may differ from one in another order of summation by this share of the largest value."""


@dataclass(frozen=True)
class GivenValues(ReadOnlyArrays):
    """Values of a metric per query, with its mean. They are used like computed ones, but cannot be computed again."""

    of_queries: Array
    undefined: NDArray[np.bool_]
    mean: float
    meaning: str
    average_kind: str
    greater_is_better: bool
    is_binary: bool = False

    def values(self) -> Array:
        """Value of each query, shape (n_queries, 1)."""
        return self.of_queries[:, None]

    def average(self, weight: Array | None) -> Array:
        """Mean over queries, which was given; it already has the weights."""
        return np.array([self.mean])

    def take(self, rows: Any, name: str, weight: Array | None) -> GivenValues:
        """Values of the queries at some positions; a pooled or geometric mean cannot be taken again."""
        values = self.of_queries[rows]
        if len(values) == len(self.of_queries):
            return replace(self, of_queries=values, undefined=self.undefined[rows])
        if self.average_kind != "macro":
            raise ValueError(
                f"A {self.average_kind} mean of some queries needs the data, which this result does not keep. Call "
                f"evaluate again. Got {echo(name)}."
            )
        return replace(
            self, of_queries=values, undefined=self.undefined[rows], mean=mean_of(name, values, weight, "macro")
        )


def given_metrics(
    ids: NDArray[Any], weight: Array | None, values: Mapping[str, ArrayLike],
    undefined: Mapping[str, ArrayLike] | None, means: Mapping[str, float] | None, meaning: Mapping[str, str] | None,
    average: Mapping[str, str] | None, greater_is_better: Mapping[str, bool] | None,
    is_binary: Mapping[str, bool] | None,
) -> dict[str, GivenValues]:  # fmt: skip
    """Values of each metric, with the arguments of `Evaluation.from_values`."""
    metrics = {}
    for name, column in values.items():
        of_queries, kind = check_column(f"values of {echo(name)}", column, ids), (average or {}).get(name, "macro")
        if (infinite := np.isinf(of_queries)).any():
            raise ValueError(
                f"values of {echo(name)} must be finite, or nan where a query has no value. Got "
                f"{of_queries[infinite][0]:g} for query {echo(ids[infinite].tolist()[0])}."
            )
        missing = (undefined or {}).get(name, np.isnan(of_queries))
        direction = (greater_is_better or {}).get(name)
        refuse_sign(name, direction is None or bool(direction))
        if direction is None:
            direction = direction_of(name, argument=f"greater_is_better={{{echo(name)}: False}}")
        metrics[name] = GivenValues(
            of_queries,
            check_column(f"undefined of {echo(name)}", missing, ids, bool)[:, None],
            mean_of(name, of_queries, weight, kind, (means or {}).get(name)),
            (meaning or {}).get(name, name),
            kind,
            bool(direction),
            bool((is_binary or {}).get(name, is_binary_by_name(name))),
        )
    return metrics


def check_distinct_ids(qid: ArrayLike) -> NDArray[Any]:
    """Query ids as an array of distinct ones."""
    ids = ids_of(qid).copy()
    if ids.ndim != 1:
        raise ValueError(f"qid of from_values must be a list of ids, one a query. Got shape {ids.shape}.")
    if len(ids) and _has_twice(ids):
        raise ValueError("qid of from_values must have each query once. Got a query twice.")
    refuse_unfit_ids(ids)
    return ids


def _has_twice(ids: NDArray[Any]) -> bool:
    """Whether an id is there twice. Text is sorted, because grouping takes three times its memory."""
    if ids.dtype.kind in "US":
        ids = np.sort(ids)
        return bool((ids[1:] == ids[:-1]).any())
    return group_rows(ids, len(ids)).n_queries < len(ids)


def check_column(name: str, column: ArrayLike, ids: NDArray[Any], dtype: type[Any] = np.float64) -> NDArray[Any]:
    """Array of one number per query; labels of pandas must be the ids, or default ones that cannot be ids."""
    refuse_masked(column, name)
    numbers = as_floats(column, name)
    if numbers.shape != ids.shape:
        raise ValueError(f"{name} must have one entry per query, {len(ids)}. Got shape {numbers.shape}.")
    _check_labels(name, column, ids)
    # NaN and infinity are refused below.
    with np.errstate(invalid="ignore"):
        array = numbers.astype(dtype)
    if (array != numbers)[~np.isnan(numbers)].any() or (dtype is not np.float64 and np.isnan(numbers).any()):
        raise ValueError(f"{name} must hold values of {dtype.__name__}. Got {echo(numbers.tolist())}.")
    return array


def _check_labels(name: str, column: Any, ids: NDArray[Any]) -> None:
    """Refuse a column of pandas whose labels are neither the ids nor default ones, which must not be ids, too."""
    index = labels_of(column)
    if index is None:
        return
    known, default = ids.tolist(), [*range(len(ids))]
    if [*index] == known or (ids.dtype.kind == "M" and np.array_equal(index, ids)):
        return
    if [*index] != default or "qid" in index.names or {*known} == {*default}:
        raise ValueError(
            f"The index of {name} must be qid, in the same order, or a default index, which is not mistaken for ids: "
            "take its values at qid by reindex(qid), or to_numpy() to match them by position. "
            f"Got an index that begins with {echo_all(index, 3)} for the queries {echo_all(ids, 3)}."
        )


def check_properties(by: AttributesLike, clusters: ClustersLike, ids: NDArray[Any]) -> QueryAttributes:
    """Attributes and clusters that are given per query."""
    for name, column in {**attributes_by_name(by), "clusters": clusters}.items():
        _check_labels(name, column, ids)
    return check_attributes(by, clusters, Grouping.one_row_each(ids))


def check_weight(weight: ArrayLike, ids: NDArray[Any]) -> Array:
    """Weights of queries that allow a mean."""
    array = check_column("weight", weight, ids)
    if len(array):
        refuse_bad_weight(array)
    return array


def check_metric_names(values: Mapping[str, Any], **by_metric: Mapping[str, Any] | None) -> None:
    """Refuse a dictionary with a key that is not a metric of `values`."""
    if not isinstance(values, Mapping) or not values:
        raise TypeError(
            f"values of from_values must be a dict of metrics to their values, one or more. Got {echo(values)}."
        )
    for name, given in by_metric.items():
        if given is not None and not isinstance(given, Mapping):
            raise TypeError(f"{name} of from_values must be a dict by metric, or None. Got {echo(given)}.")
        for metric in given or {}:
            if metric not in values:
                raise ValueError(f"{name} of from_values must be by metric, {', '.join(values)}. Got {echo(metric)}.")


def mean_of(metric: str, values: Array, weight: Array | None, average: str, given: float | None = None) -> float:
    """Mean of given values; NaN is left out. A mean that was given is kept to the last bit."""
    if average not in AVERAGES:
        raise ValueError(
            f"average must be one of {', '.join(map(repr, AVERAGES))}. Got {echo(average)} for {echo(metric)}."
        )
    if average != "macro":
        if given is not None:
            return float(given)
        raise ValueError(f"A {average} mean cannot be taken of values: pass it as means=. Got none for {echo(metric)}.")
    defined = ~np.isnan(values)
    mean = math.nan
    if defined.any():
        mean = float(np.average(values[defined], weights=None if weight is None else weight[defined]))
    if given is None:
        return mean
    rounding = MEAN_TOLERANCE * np.abs(values[defined]).max(initial=0)
    if not np.isclose(given, mean, rtol=0, atol=rounding, equal_nan=True):
        raise ValueError(
            f"A macro mean must equal the mean of the values, {mean:g}: leave it out, or pass another average=. "
            f"Got means={echo(given)} for {echo(metric)}."
        )
    return float(given)
