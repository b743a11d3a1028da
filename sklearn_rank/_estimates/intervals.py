"""Confidence intervals of a mean over queries, and of a difference of two."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import special, stats

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
from sklearn_rank._estimates.resampling import batch_size
from sklearn_rank._estimates.samples import (
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
)
from sklearn_rank._utils.typing import Array, Index, RandomState

MOST_NAMED = 6
"""Largest number of names in a note."""


def mean_interval(
    values: Any, cluster: Index | None, weight: Array | None, *, method: str, confidence_level: float, n_resamples: int,
    random_state: RandomState,
) -> Interval:  # fmt: skip
    """Confidence interval of the mean over queries, described in `sklearn_rank.stats.confidence_interval`."""
    x, cluster, weights = _counted(values, weight, cluster)
    if method == "wilson":
        _check_successes(x, weights, cluster)
    if len(x) < 2 or (sample := sample_of(x, cluster, weights)).n < 2:
        return math.nan, math.nan
    if method == "wilson":
        return wilson(x, normal_quantile(confidence_level))
    if method == "t" or sample.standard_error == 0:
        return t_interval(exact_mean(x, weights), sample.standard_error, sample.df, confidence_level, "two-sided")
    means, _ = bootstrap_distribution(sample, n_resamples, random_state)
    if method == "bca":
        return bca_interval(sample, means, confidence_level, "two-sided")
    return _quantiles(means, (1 - confidence_level) / 2, (1 + confidence_level) / 2, "two-sided")


def _counted(
    values: Any, weight: Array | None, cluster: Index | None
) -> tuple[Array, Index | None, Array | None]:  # fmt: skip
    """Values in the mean, their clusters, and their weights unless all are equal."""
    x = numbers(values, "values", "confidence_interval")
    kept = counted(x, weight)
    return x[kept], some(cluster, kept), scaled(some(weight, kept))


def _check_successes(x: Array, weight: Array | None, cluster: Index | None) -> None:
    """Raise ValueError if Wilson's interval does not apply."""
    rule = "method='wilson' of confidence_interval is for values 0 and 1, without weights and clusters."
    if weight is not None or cluster is not None:
        raise ValueError(f"{rule} Got {'weights' if cluster is None else 'clusters'}: use method='t'.")
    if not are_successes(x):
        raise ValueError(f"{rule} Got {x[(x != 0) & (x != 1)][0]:g}.")


def method_of_metric(method: str, values: Array, weight: Array | None, cluster: Any, *, is_binary: bool) -> str:
    """Method of the interval of a metric; "auto" is Wilson's for binary metrics if it applies, otherwise t."""
    if method != "auto":
        return method
    kept = counted(values, weight)
    equal = scaled(some(weight, kept)) is None
    return "wilson" if is_binary and cluster is None and equal and are_successes(values[kept]) else "t"


def skew_note(which: Sequence[str] = ()) -> str:
    """Note on intervals that may not keep their level; ``docs/decide/measured.md`` has figures."""
    whose = f"the intervals of {_named(which)}" if which else "the interval"
    return f"Skewed values and few queries: {whose} may not keep {'their' if which else 'its'} level."


def width_note(which: Sequence[str]) -> str:
    """Note on intervals without width."""
    return f"All queries behind an interval of {_named(which)} have the same value: other queries may differ."


def _named(which: Sequence[str]) -> str:
    """The first names, and the number of others."""
    return ", ".join([*which[:MOST_NAMED], *([f"{len(which) - MOST_NAMED} others"] if len(which) > MOST_NAMED else [])])


def t_interval(center: float, standard_error: float, df: float, confidence_level: float, alternative: str) -> Interval:
    """Interval by Student's t; a one-sided alternative leaves the other side open."""
    upper = (1 + confidence_level) / 2 if alternative == "two-sided" else confidence_level
    # scipy.stats.t.ppf without its checks, which are slow.
    reach = float(special.stdtrit(df, upper)) * standard_error
    return _opened(center - reach, center + reach, alternative)


def may_not_keep_level(values: Array, weight: Array | None, cluster: Index | None, *, is_binary: bool) -> bool:
    """Whether queries are too few for the skew of values or weights, and the interval is not Wilson's."""
    if method_of_metric("auto", values, weight, cluster, is_binary=is_binary) == "wilson":
        return False
    x, cluster, weights = _counted(values, weight, cluster)
    return len(x) > 1 and is_skewed(sample_of(x, cluster, weights))


def difference_interval(
    sample: Paired | Unpaired, *, is_binary: bool, confidence_level: float, alternative: str, most: float = math.inf
) -> tuple[str, Interval]:
    """Method and ends of the interval of a difference: an interval of success rates if they are, otherwise t.

    The interval is cut at `most`, the largest difference that the metric allows. Differences without spread have no
    interval, and "" as the method.
    """
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
    # SciPy warns about the spread of a single resample, so it draws two or more.
    result = stats.bootstrap(
        sample.data, sample.mean_and_error, vectorized=True, paired=len(sample.data) > 1, axis=-1,
        n_resamples=max(n_resamples, 2), batch=batch_size(sample.n), method="percentile",
        random_state=np.random.default_rng() if random_state is None else random_state,
    )  # fmt: skip
    return np.asarray(result.bootstrap_distribution)[..., :n_resamples]


def bca_interval(sample: Sample, means: Array, confidence_level: float, alternative: str) -> Interval:
    """Bias-corrected and accelerated interval, from the means of bootstrap samples.

    `scipy.stats.bootstrap` computes the acceleration by leaving out one query at a time, n passes over n values. For a
    mean, the acceleration is the skewness of the deviations over 6 sqrt(n); deviations are summed within clusters.
    """
    center, u = sample.center, sample.deviations
    below = (np.count_nonzero(means < center) + np.count_nonzero(means <= center)) / (2 * len(means))
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
