"""Intervals of results, comparisons and segments in tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.runs import Between, between_runs_of, spread_of
from sklearn_rank._estimates.samples import counted, some
from sklearn_rank._evaluation.clusters import clusters_of_queries
from sklearn_rank._metric.value_bounds import UNBOUNDED, bounds_of
from sklearn_rank._utils.typing import Array, Index

if TYPE_CHECKING:
    from sklearn_rank._estimates.intervals import MeanInterval


def bounds_of_values(name: str, meaning: str, values: Array) -> tuple[float, float]:
    """Bounds of a metric by its name and meaning; infinite if unknown, or if a value is outside."""
    (low, high), known = bounds_of(name, meaning), values[~np.isnan(values)]
    return (float(low), float(high)) if ((known >= low) & (known <= high)).all() else UNBOUNDED


def averaged(result: Any) -> Iterator[tuple[str, Array, tuple[float, float]]]:
    """Values of each metric, and their bounds; NaN if the mean is pooled or geometric, which has no interval."""
    for name, values in result.per_query.items():
        of_queries = values if result.average[name] == "macro" else np.full_like(values, np.nan)
        yield name, of_queries, bounds_of_values(name, result.meaning[name], of_queries)


def cluster_of(result: Any) -> Index | None:
    """Number of the cluster of each query; None if queries are independent."""
    return None if result.clusters is None else clusters_of_queries(result.clusters, None, len(result.qid))


def mean_intervals(result: Any, confidence_level: float, method: str = "auto") -> dict[str, MeanInterval]:
    """Interval of the mean of each metric, and its note."""
    from sklearn_rank._estimates.intervals import counted_values, mean_interval

    check_arguments("confidence_interval", confidence_level=confidence_level)
    found = {}
    for name, values, bounds in averaged(result):
        x, cluster, weight = counted_values(values, cluster_of(result), result.weight)
        found[name] = mean_interval(
            x, cluster, weight, bounds, confidence_level, is_binary=result.is_binary[name],
            between=runs_variance(result, name, cluster, weight), method=method,
        )  # fmt: skip
    return found


def runs_variance(result: Any, metric: str, cluster: Any, weight: Array | None) -> Between:
    """Variance between runs of a mean, given clusters and weights of the queries in it."""
    runs = some(result.run_values.get(metric), counted(result.per_query[metric], result.weight))
    return between_runs_of([spread_of(runs, result.run_means.get(metric, ()), cluster, weight)])
