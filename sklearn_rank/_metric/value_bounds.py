"""Lowest and highest value of a metric, from the name and the meaning that a result has."""

from __future__ import annotations

import math

from sklearn_rank._metric.choices import parsed_meaning
from sklearn_rank._metric.metric import REGISTRY, Metric
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._metric.spec import ADJUSTED

UNBOUNDED = (-math.inf, math.inf)


def bounds_of(name: str, meaning: str) -> tuple[float, float]:
    """Lowest and highest value of a metric, infinite if unbounded or unknown.

    Examples
    --------
    >>> from sklearn_rank import parse_metric
    >>> bounds_of("my metric", parse_metric("kendall").meaning)
    (-1, 1)
    >>> bounds_of("mrr", "mrr"), bounds_of("clicks", "clicks")
    ((0, 1), (-inf, inf))
    """
    if meaning.endswith(ADJUSTED):
        return -math.inf, 1.0
    metric = metric_of(name, meaning)
    return UNBOUNDED if metric is None else metric.bounds


def may_be_settled(name: str, meaning: str) -> bool:
    """Whether the judgments of a query may fix the value of a metric; no judgment fixes an error of scores."""
    metric = metric_of(name, meaning)
    return meaning.endswith(ADJUSTED) or metric is None or not metric.pointwise


def metric_of(name: str, meaning: str) -> Metric | None:
    """Metric with a name and a meaning in a result; None if unknown."""
    function_name, _ = parsed_meaning(meaning)
    for metric in [*REGISTRY.values()]:  # another thread may add to them
        if metric.function_name == function_name:
            return metric
    try:
        return cached_spec(name).metric if meaning == name else None
    except (TypeError, ValueError):
        return None
