"""Confidence intervals of a mean over queries, and of a difference of two."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import stats

from sklearn_rank._utils.typing import Array, RandomState
from sklearn_rank.stats._arguments import check_arguments, numbers
from sklearn_rank.stats._clusters import clusters_of_queries, named_queries
from sklearn_rank.stats._resampling import batch_size
from sklearn_rank.stats._samples import ClusterSums, IndependentValues, exact_mean, sample_of

Interval = tuple[float, float]


def confidence_interval(
    values: Any,
    *,
    clusters: Any = None,
    method: str = "t",
    confidence_level: float = 0.95,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> Interval:
    """Confidence interval of the mean over queries.

    It says how far the mean could move with other queries of the same kind, but not with another training set.

    Parameters
    ----------
    values : array-like of shape (n_queries,)
        One value a query; NaN (an undefined query) is left out.
    clusters : array-like of shape (n_queries,), default=None
        What each query belongs to, such as a user or a session: queries of one cluster may depend on each other, so
        that they say less than as many independent ones. Then "t" has a standard error that is robust to clusters and
        one degree of freedom less than there are clusters, and the bootstrap draws whole clusters. With fewer than 10
        clusters, intervals are too short; ``docs/statistics.md`` has figures. None: queries are independent.
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
        (nan, nan) with fewer than two values, or clusters.

    Raises
    ------
    ValueError
        If a value is infinite, or a keyword is not what it must be.

    Notes
    -----
    With G clusters of the n queries, e the deviations from the mean, the squared standard error is
    ``G / (G - 1) * sum over clusters of (sum of e in it)^2 / n^2`` (CR1: Liang and Zeger, 1986; C. Cameron, D. Miller:
    A practitioner's guide to cluster-robust inference. Journal of Human Resources 50, 2015). For the bootstrap of
    clusters see C. Field, A. Welsh: Bootstrapping clustered data. Journal of the Royal Statistical Society B 69, 2007.

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
    cluster = None if clusters is None else clusters_of_queries(clusters, named_queries(values), len(x))
    defined = ~np.isnan(x)
    x, cluster = x[defined], None if cluster is None else cluster[defined]
    if len(x) < 2 or (sample := sample_of(x, cluster)).n < 2:
        return math.nan, math.nan
    if method == "t" or sample.standard_error == 0:
        return t_interval(exact_mean(x), sample.standard_error, sample.df, confidence_level, "two-sided")
    means, _ = bootstrap_distribution(sample, n_resamples, random_state)
    if method == "bca":
        return bca_interval(sample, means, confidence_level, "two-sided")
    return _quantiles(means, (1 - confidence_level) / 2, (1 + confidence_level) / 2, "two-sided")


def t_interval(centre: float, standard_error: float, df: float, confidence_level: float, alternative: str) -> Interval:
    """Interval by Student's t; a one-sided alternative leaves the other side open."""
    upper = (1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level
    reach = float(stats.t.ppf(upper, df)) * standard_error
    return _opened(centre - reach, centre + reach, alternative)


def bootstrap_distribution(
    sample: IndependentValues | ClusterSums, n_resamples: int, random_state: RandomState
) -> Array:
    """Means and standard errors of bootstrap samples of queries or clusters, shape (2, n_resamples)."""
    # SciPy warns about the spread of a single resample, so it draws two or more.
    result = stats.bootstrap(
        sample.data, sample.mean_and_error, vectorized=True, paired=len(sample.data) > 1, axis=-1,
        n_resamples=max(n_resamples, 2), batch=batch_size(sample.n), method="percentile",
        random_state=np.random.default_rng() if random_state is None else random_state,
    )  # fmt: skip
    return np.asarray(result.bootstrap_distribution)[..., :n_resamples]


def bca_interval(
    sample: IndependentValues | ClusterSums, means: Array, confidence_level: float, alternative: str
) -> Interval:
    """Bias-corrected and accelerated interval, from the means of bootstrap samples.

    `scipy.stats.bootstrap` computes the acceleration by leaving out one query at a time, n passes over n values. The
    acceleration of a mean is the skewness of the deviations from it over 6 sqrt(n); those in a cluster are summed up.
    """
    centre, u = sample.centre, sample.deviations
    below = (np.count_nonzero(means < centre) + np.count_nonzero(means <= centre)) / (2 * len(means))
    # Clipped, so that the bias is finite where all resamples are on one side.
    bias = stats.norm.ppf(np.clip(below, 1 / (4 * len(means)), 1 - 1 / (4 * len(means))))
    acceleration = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = stats.norm.ppf((1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level)
    low, high = (stats.norm.cdf(bias + q / (1 - acceleration * q)) for q in (bias - z, bias + z))
    return _quantiles(means, low, high, alternative)


def _quantiles(means: Array, low: float, high: float, alternative: str) -> Interval:
    return _opened(float(np.quantile(means, low)), float(np.quantile(means, high)), alternative)


def _opened(low: float, high: float, alternative: str) -> Interval:
    return (-math.inf if alternative == "less" else low), (math.inf if alternative == "greater" else high)
