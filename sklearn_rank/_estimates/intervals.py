"""Confidence intervals of a mean over queries, and of a difference of two."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np
from scipy import special

from sklearn_rank._estimates.arguments import numbers
from sklearn_rank._estimates.proportions import (
    Interval,
    are_rates,
    are_successes,
    newcombe,
    normal_quantile,
    wilson,
    with_pseudo_pairs,
)
from sklearn_rank._estimates.resampling import resamples
from sklearn_rank._estimates.runs import ONE_RUN, Between
from sklearn_rank._estimates.samples import (
    NOT_SEEN,
    SKEWED,
    Paired,
    Sample,
    Unpaired,
    counted,
    exact_mean,
    has_no_spread,
    is_skewed,
    sample_of,
    scaled,
    some,
    with_bounds_seen,
)
from sklearn_rank._utils.typing import Array, Index, RandomState


def interval_by_method(
    values: Any, cluster: Index | None, weight: Array | None, bounds: Interval, *, method: str, confidence_level: float,
    n_resamples: int, random_state: RandomState,
) -> Interval:  # fmt: skip
    """Confidence interval of the mean over queries, described in `sklearn_rank.stats.confidence_interval`."""
    x, cluster, weights = counted_values(values, cluster, weight)
    low, high = bounds
    if method == "wilson":
        _check_successes(x, weights, cluster)
    if method in ("auto", "t"):
        return mean_interval(x, cluster, weights, bounds, confidence_level, method=method).ends
    if len(x) < 2 or (sample := sample_of(x, cluster, weights)).n < 2:
        return math.nan, math.nan
    if method == "wilson":
        return wilson(x, normal_quantile(confidence_level))
    if not sample.standard_error > 0:
        return math.nan, math.nan
    means, _ = bootstrap_distribution(sample, n_resamples, random_state)
    ends = _quantiles(means, (1 - confidence_level) / 2, (1 + confidence_level) / 2, "two-sided")
    if method == "bca":
        ends = bca_interval(sample, means, confidence_level, "two-sided")
    return max(ends[0], low), min(ends[1], high)


class MeanEstimate(NamedTuple):
    """Center of the interval of a mean, its standard error and degrees of freedom, and the note of the interval."""

    center: float
    standard_error: float
    df: float
    note: str = ""

    def widened(self, between: Between) -> MeanEstimate:
        """The estimate with the variance between runs."""
        error, df = between.widened(self.standard_error, self.df)
        return self._replace(standard_error=error, df=df)


class MeanInterval(NamedTuple):
    """Interval of a mean, and its note: `NOT_SEEN`, `SKEWED` or none."""

    ends: Interval
    note: str = ""


def mean_interval(
    x: Array, cluster: Index | None, weight: Array | None, bounds: Interval, confidence_level: float, *,
    is_binary: bool = False, between: Between = ONE_RUN, method: str = "auto",
) -> MeanInterval:  # fmt: skip
    """The interval of a mean, by the one rule for all functions: Wilson's of success rates, otherwise Student's t."""
    # Values that are skewed for their number, or all equal, get a query at each bound, unless `method` is "t".
    if len(x) < 2 or (sample := sample_of(x, cluster, weight)).n < 2:
        return MeanInterval((math.nan, math.nan))
    if method == "auto" and is_binary and cluster is None and weight is None and are_successes(x):
        return MeanInterval(wilson(x, normal_quantile(confidence_level)))
    mean = exact_mean(x, weight)
    estimate = estimate_of_mean(mean, sample, (-math.inf, math.inf) if method == "t" else bounds)
    return interval_of(estimate.widened(between), mean, bounds, confidence_level)


def estimate_of_mean(mean: float, sample: Sample, bounds: Interval) -> MeanEstimate:
    """Estimate of a mean of two units or more, with a query at each bound if values are skewed or all equal."""
    skewed = is_skewed(sample)
    if math.isfinite(bounds[1] - bounds[0]) and (skewed or not sample.standard_error > 0):
        return MeanEstimate(*with_bounds_seen(sample, bounds), sample.df, NOT_SEEN)
    return MeanEstimate(mean, sample.standard_error, sample.df, SKEWED if skewed else "")


def interval_of(estimate: MeanEstimate, mean: float, bounds: Interval, confidence_level: float) -> MeanInterval:
    """Interval of an estimate, which ends at the bounds and reaches the mean of the values."""
    if not estimate.standard_error > 0:
        return MeanInterval((math.nan, math.nan))
    low, high = t_interval(*estimate[:3], confidence_level, "two-sided")
    return MeanInterval((min(max(low, bounds[0]), mean), max(min(high, bounds[1]), mean)), estimate.note)


def counted_values(
    values: Any, cluster: Index | None, weight: Array | None
) -> tuple[Array, Index | None, Array | None]:  # fmt: skip
    """Values in the mean, their clusters, and their weights unless all are equal."""
    x = numbers(values, "values", "confidence_interval")
    kept = counted(x, weight)
    return x[kept], some(cluster, kept), scaled(some(weight, kept))


def _check_successes(x: Array, weight: Array | None, cluster: Index | None) -> None:
    rule = "method='wilson' of confidence_interval is for values 0 and 1, without weights and clusters."
    if weight is not None or cluster is not None:
        raise ValueError(f"{rule} Got {'weights' if cluster is None else 'clusters'}: use method='t'.")
    if not are_successes(x):
        raise ValueError(f"{rule} Got {x[(x != 0) & (x != 1)][0]:g}.")


def t_interval(center: float, standard_error: float, df: float, confidence_level: float, alternative: str) -> Interval:
    """Interval by Student's t; a one-sided alternative leaves the other side open."""
    upper = (1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level
    # scipy.stats.t.ppf without its checks, which are slow.
    reach = float(special.stdtrit(df, upper)) * standard_error
    return _opened(center - reach, center + reach, alternative)


def difference_interval(
    sample: Paired | Unpaired, *, is_binary: bool, confidence_level: float, alternative: str, most: float = math.inf
) -> tuple[str, Interval]:
    """Method and ends of the interval of a difference, cut at `most`; without spread, no interval and the method ""."""
    rates = are_rates(sample, is_binary=is_binary)
    if rates and isinstance(sample, Unpaired):
        return "newcombe", _opened(*newcombe(sample, normal_quantile(confidence_level, alternative)), alternative)
    if not rates and has_no_spread(sample):
        return "", (math.nan, math.nan)
    # The pseudo queries do not add degrees of freedom.
    tested = with_pseudo_pairs(sample) if rates and isinstance(sample, Paired) else sample
    low, high = t_interval(tested.difference, tested.standard_error, sample.df, confidence_level, alternative)
    name = "bonett-price" if rates else "t" if isinstance(sample, Paired) else "welch"
    return name, _opened(max(low, -most), min(high, most), alternative)


def bootstrap_distribution(sample: Sample, n_resamples: int, random_state: RandomState) -> Array:
    """Means and standard errors of bootstrap samples of queries or clusters, shape (2, n_resamples)."""
    drawn, compute = resamples(sample.n, n_resamples, random_state), cast(Callable[..., Array], sample.mean_and_error)
    return np.concatenate([compute(*(x[at] for x in sample.data)) for at in drawn], axis=-1)


def bca_interval(sample: Sample, means: Array, confidence_level: float, alternative: str) -> Interval:
    """Bias-corrected and accelerated interval, from the means of bootstrap samples."""
    # For a mean, the acceleration is the skewness of the deviations, summed within clusters, over 6 sqrt(n):
    # one pass, where `scipy.stats.bootstrap` leaves out one query at a time.
    center, u = sample.center, sample.deviations
    below = (np.count_nonzero(means < center) + np.count_nonzero(means <= center)) / (2 * len(means))
    # Clipped, so that the bias is finite where all resamples are on one side.
    bias = special.ndtri(np.clip(below, 1 / (4 * len(means)), 1 - 1 / (4 * len(means))))
    acceleration = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    z = normal_quantile(confidence_level, alternative)
    low, high = (special.ndtr(bias + q / (1 - acceleration * q)) for q in (bias - z, bias + z))
    return _quantiles(means, low, high, alternative)


def _quantiles(means: Array, low: float, high: float, alternative: str) -> Interval:
    return _opened(float(np.quantile(means, low)), float(np.quantile(means, high)), alternative)


def _opened(low: float, high: float, alternative: str) -> Interval:
    return (-math.inf if alternative == "less" else low), (math.inf if alternative == "greater" else high)
