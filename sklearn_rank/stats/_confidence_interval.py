"""Confidence interval of a mean over queries, from values."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._estimates.arguments import check_arguments, numbers
from sklearn_rank._estimates.intervals import interval_by_method
from sklearn_rank._estimates.proportions import Interval
from sklearn_rank._evaluation.clusters import WeightLike, clusters_of_queries, named_queries, weights_of_queries
from sklearn_rank._metric.value_bounds import UNBOUNDED
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, RandomState


@named_arguments
def confidence_interval(
    values: Any,
    *,
    weight: WeightLike = None,
    clusters: ClustersLike = None,
    method: str = "auto",
    bounds: tuple[float, float] | None = None,
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> Interval:
    """Confidence interval of the mean over queries.

    The interval covers other queries of the same kind. It does not cover other training sets.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        One value per query. NaN, an undefined query, is left out.
    weight : array-like of shape (n_queries,), or dict from queries to weights, default=None
        Weight of each query in the mean, such as how often it is asked. Only ratios of weights count; a query of weight
        0 is left out. A query of weight 2 is not two independent queries. None: equal weights.
    clusters : array-like of shape (n_queries,), default=None
        Cluster of each query, such as its user or session; queries of one cluster may depend on each other. "t" then
        uses a standard error that is robust to clusters, with one degree of freedom less than there are clusters, and
        the bootstrap draws whole clusters. With fewer than 10 clusters, intervals can be too short;
        ``docs/decide/measured.md`` has figures. None: queries are independent.
    method : {"auto", "t", "wilson", "percentile", "bca"}, default="auto"
        "auto": Student's t, which with `bounds` allows for values that were not seen. "t": Student's t. "wilson":
        Wilson's score interval of a success rate, for values 0 and 1 without weights and clusters. "percentile":
        percentiles of the bootstrap. "bca": percentiles corrected for bias and skewness (Efron, 1987). The bootstrap
        needs about 50 queries: with 20 queries, 91 % of BCa intervals of level 0.95 contain the mean of skewed values.
    bounds : (float, float), default=None
        Lowest and highest value that a query can have, such as ``(0, 1)``. The interval ends there. If values are
        skewed for their number, or all equal, "auto" adds one query at each bound. None: unbounded.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    n_resamples : int, default=9999
        Number of bootstrap samples.
    random_state : int, RandomState, Generator or None, default=None
        Source of the bootstrap samples.

    Returns
    -------
    (float, float)
        (nan, nan) with fewer than two values or clusters, and if all values are equal, except with `bounds` or
        method="wilson".

    Raises
    ------
    ValueError
        If a value is infinite or outside of the bounds, or a keyword is invalid.

    Notes
    -----
    With weights w and deviations e from the weighted mean of n queries, the squared standard error is
    ``n / (n - 1) * sum of (w e)^2 / (sum of w)^2``, with n - 1 degrees of freedom: linearization, as in R's
    ``survey::svymean`` and statsmodels' ``WLS`` with ``cov_type="HC1"`` (D. A. Binder: On the variances of
    asymptotically normal estimators from complex surveys. International Statistical Review 51, 1983).

    With G clusters it is ``G / (G - 1) * sum over clusters of (sum of w e in it)^2 / (sum of w)^2``, with G - 1 degrees
    of freedom (CR1: Liang and Zeger, 1986; C. Cameron, D. Miller: A practitioner's guide to cluster-robust inference.
    Journal of Human Resources 50, 2015). For the bootstrap of clusters see C. Field, A. Welsh: Bootstrapping clustered
    data. Journal of the Royal Statistical Society B 69, 2007.

    Values are skewed for their number n if n < 25 skewness^2 (Cochran's rule), or weights leave fewer than 20 effective
    queries. With bounds lo and hi, "auto" then uses the mean ``(sum x + lo + hi) / (n + 2)`` and the squared standard
    error ``((sum x^2 + lo^2 + hi^2) / (n + 2) - mean^2) / (n + 2)`` with the same degrees of freedom. With weights or
    clusters of sizes s, an added query has the size ``sum s^2 / sum s``.

    Examples
    --------
    The mean is 0.5, the standard error 0.5 / sqrt(3), and the t quantile for two degrees of freedom 4.303:

    >>> from sklearn_rank.stats import confidence_interval
    >>> low, high = confidence_interval([0.0, 0.5, 1.0])
    >>> round(low, 4), round(high, 4)
    (-0.7421, 1.7421)

    If the first query counts twice, the mean is 0.375, the weighted deviations are -0.75, 0.125, 0.625, and the
    standard error is 0.3014:

    >>> low, high = confidence_interval([0.0, 0.5, 1.0], weight=[2, 1, 1])
    >>> round(low, 4), round(high, 4)
    (-0.9217, 1.6717)

    Twenty equal values do not show that other queries have this value:

    >>> low, high = confidence_interval([1.0] * 20, bounds=(0, 1))
    >>> round(low, 4), round(high, 4)
    (0.8616, 1.0)
    """
    options: dict[str, Any] = {
        "method": method, "confidence_level": confidence_level, "n_resamples": n_resamples, "random_state": random_state
    }  # fmt: skip
    check_arguments("confidence_interval", **options)
    x, ids = numbers(values, "values", "confidence_interval"), named_queries(values)
    cluster = None if clusters is None else clusters_of_queries(clusters, ids, len(x))
    weights = None if weight is None else weights_of_queries(weight, ids, len(x))
    return interval_by_method(x, cluster, weights, _checked_bounds(bounds, x), **options)


def _checked_bounds(bounds: Any, x: Array) -> Interval:
    """Bounds of values; infinite if there are none."""
    if bounds is None:
        return UNBOUNDED
    rule = "bounds of confidence_interval must be the lowest and highest value that a query can have, such as (0, 1)."
    pair = isinstance(bounds, (tuple, list, np.ndarray)) and len(bounds) == 2
    if not pair or not all(isinstance(end, (int, float, np.number)) for end in bounds) or not bounds[0] < bounds[1]:
        raise ValueError(f"{rule} Got {echo(bounds)}.")
    if (outside := x[(x < bounds[0]) | (x > bounds[1])]).size:
        raise ValueError(f"{rule} Got {echo(bounds)} and the value {outside[0]:g}.")
    return float(bounds[0]), float(bounds[1])
