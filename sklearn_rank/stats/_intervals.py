"""Confidence intervals of a mean over queries, and of a difference of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from sklearn_rank._utils.typing import Array, RandomState
from sklearn_rank.stats._arguments import check_arguments, numbers
from sklearn_rank.stats._resampling import batch_size
from sklearn_rank.stats._samples import exact_mean, spread

Interval = tuple[float, float]


def confidence_interval(
    values: Any,
    *,
    method: str = "t",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> Interval:
    """Confidence interval of the mean over queries.

    It says how far the mean could move with other queries of the same kind; it knows nothing of other training sets.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        One value a query; NaN (an undefined query) is left out.
    method : {"t", "percentile", "bca"}, default="t"
        Student's t; percentiles of the bootstrap; those corrected for bias and skewness (Efron, 1987). The bootstrap
        needs about 50 queries: with 20, a BCa interval of level 0.95 holds the mean of skewed values 0.91 times.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    n_resamples : int, default=9999
        Bootstrap samples.
    random_state : int, RandomState, Generator or None, default=None
        Source of the bootstrap samples.

    Returns
    -------
    (float, float)
        (nan, nan) with fewer than two values.

    Raises
    ------
    ValueError
        If a value is infinite, or a keyword is not what it must be.

    Examples
    --------
    Mean 0.5, standard error 0.5 / sqrt(3), and 4.303 for two degrees of freedom:

    >>> from sklearn_rank.stats import confidence_interval
    >>> low, high = confidence_interval([0.0, 0.5, 1.0])
    >>> round(low, 4), round(high, 4)
    (-0.7421, 1.7421)
    """
    check_arguments(
        "confidence_interval",
        method=method,
        confidence_level=confidence_level,
        n_resamples=n_resamples,
        random_state=random_state,
    )
    x = numbers(values, "values", "confidence_interval")
    x = x[~np.isnan(x)]
    if len(x) < 2:
        return math.nan, math.nan
    centre, deviation = exact_mean(x), spread(x)
    if method == "t" or deviation == 0:
        return t_interval(centre, deviation / math.sqrt(len(x)), len(x) - 1, confidence_level, "two-sided")
    means = bootstrap_distribution(x, np.mean, n_resamples, random_state)
    if method == "bca":
        return bca_interval(x, means, confidence_level, "two-sided")
    return _quantiles(means, (1 - confidence_level) / 2, (1 + confidence_level) / 2, "two-sided")


def t_interval(centre: float, standard_error: float, df: float, confidence_level: float, alternative: str) -> Interval:
    """Interval by Student's t; a one-sided alternative leaves the other side open."""
    upper = (1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level
    reach = float(stats.t.ppf(upper, df)) * standard_error
    return _opened(centre - reach, centre + reach, alternative)


def bootstrap_distribution(x: Array, statistic: Any, n_resamples: int, random_state: RandomState) -> Array:
    """Values of a statistic on bootstrap samples of x."""
    result = stats.bootstrap(
        (x,), statistic, vectorized=True, axis=-1, n_resamples=n_resamples, batch=batch_size(len(x)),
        method="percentile", random_state=np.random.default_rng() if random_state is None else random_state,
    )  # fmt: skip
    return np.asarray(result.bootstrap_distribution)


def bca_interval(x: Array, means: Array, confidence_level: float, alternative: str) -> Interval:
    """Bias-corrected and accelerated interval, from the means of bootstrap samples.

    `scipy.stats.bootstrap` computes the acceleration by leaving out one query at a time, n passes over n values. The
    acceleration of a mean is the skewness of x over 6 sqrt(n).
    """
    centre = x.mean()
    below = (np.count_nonzero(means < centre) + np.count_nonzero(means <= centre)) / (2 * len(means))
    bias, u = stats.norm.ppf(below), x - centre
    acceleration = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = stats.norm.ppf((1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level)
    low, high = (stats.norm.cdf(bias + q / (1 - acceleration * q)) for q in (bias - z, bias + z))
    return _quantiles(means, low, high, alternative)


def _quantiles(means: Array, low: float, high: float, alternative: str) -> Interval:
    return _opened(float(np.quantile(means, low)), float(np.quantile(means, high)), alternative)


def _opened(low: float, high: float, alternative: str) -> Interval:
    return (-math.inf if alternative == "less" else low), (math.inf if alternative == "greater" else high)
