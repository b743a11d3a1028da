"""Lowest and highest value of a metric, from the name and the meaning that a result has."""

from __future__ import annotations

import math

from sklearn_rank._metric.choices import parsed_meaning
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._metric.spec import ADJUSTED

UNBOUNDED = (-math.inf, math.inf)


def bounds_of(name: str, meaning: str) -> tuple[float, float]:
    """Lowest and highest value of a metric, infinite if unbounded or unknown.

    Parameters
    ----------
    name, meaning : str
        Name and meaning of the metric in a result. Values that were given without a meaning are known by their name.

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
    function_name, _ = parsed_meaning(meaning)
    for metric in [*REGISTRY.values()]:  # another thread may add to them
        if metric.function_name == function_name:
            return metric.bounds
    try:
        return cached_spec(name).metric.bounds if meaning == name else UNBOUNDED
    except (TypeError, ValueError):
        return UNBOUNDED
