"""Values adjusted for chance, from values by score, in a random order and in the best one."""

from __future__ import annotations

import math

import numpy as np

from sklearn_rank._engine.values import PerQuery
from sklearn_rank._metric.spec import MetricSpec

SUM_ROUNDING = 1e-12
"""Largest difference between sums of the same numbers in two orders, relative to one of them."""


def adjusted_mean(mean: float, chance: float, best: float) -> float:
    """A mean adjusted by the means of both orders; nan where both are equal."""
    gap = best - chance
    return (mean - chance) / gap if abs(gap) > SUM_ROUNDING * abs(best) else math.nan


def adjusted_values(spec: MetricSpec, by_score: PerQuery, chance: PerQuery, best: PerQuery) -> PerQuery:
    """Values (value - chance) / (best - chance) of a metric, undefined where the best order does not beat chance."""
    # They are in the order of the queries of all three, and have the cutoffs of `by_score`.
    value, luck, most = (x.values() for x in (by_score, chance, best))
    gap = most - luck
    better = gap if spec.metric.greater_is_better else -gap
    undefined = by_score.undefined | ~(better > SUM_ROUNDING * np.abs(most))
    otherwise = spec["replace_undefined_by"]
    values = np.full_like(value, 0.0 if math.isnan(otherwise) else otherwise)
    np.divide(value - luck, gap, out=values, where=~undefined)
    return PerQuery.of_curve(spec, by_score.cutoffs, values, undefined)
