"""Segments of queries: the test that they differ, and the mean over segments."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from sklearn_rank._estimates.intervals import MeanEstimate, interval_of, t_interval
from sklearn_rank._estimates.runs import Between
from sklearn_rank._estimates.samples import (
    NOT_SEEN,
    SKEWED,
    Paired,
    Sample,
    are_skewed,
    exact_mean,
    ratio,
    sample_of,
    scaled,
    some,
    sums_by_cluster,
    with_bounds_seen,
)
from sklearn_rank._estimates.significance import ComparisonOptions, randomization, t_pvalue
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index

WELCH, WALD = "Welch's ANOVA", "Wald test by cluster"


class Heterogeneity(NamedTuple):
    """Result of the test; NaN if fewer than two segments have a standard error."""

    statistic: float = math.nan
    df: tuple[float, float] = (math.nan, math.nan)
    pvalue: float = math.nan
    test: str = WELCH
    n_segments: int = 0


def equal_means(x: Array, segment: Index, cluster: Index | None = None, weight: Array | None = None) -> Heterogeneity:
    """Test whether the means of segments are equal; segments of one value, or of equal values, are left out."""
    # Welch's ANOVA (Biometrika 38, 1951) with linearized standard errors. If a cluster has queries in several segments,
    # it is a Wald test of all contrasts, scaled as Hotelling's T^2 with one observation per cluster.
    parts = _parts(segment)
    samples = [_sample(x, rows, cluster, weight) for rows in parts]
    kept = [i for i, sample in enumerate(samples) if sample.n > 1 and sample.standard_error > 0]
    if len(kept) < 2:
        return Heterogeneity(n_segments=len(kept))
    parts, samples = [parts[i] for i in kept], [samples[i] for i in kept]
    mean = _means(x, parts, weight)
    if cluster is not None and _overlap(samples, parts, cluster):
        return _wald(mean, _covariance(x, mean, parts, cluster, weight))
    errors = np.array([sample.standard_error for sample in samples])
    return _welch(mean, errors, np.array([sample.df for sample in samples]))


class MacroMean(NamedTuple):
    """Mean of the means of segments; NaN as the standard error if a segment has none."""

    mean: float
    standard_error: float
    df: float
    n_segments: int


def macro_mean(x: Array, segment: Index, cluster: Index | None = None, weight: Array | None = None) -> MacroMean:
    """Mean of the means of segments, with the standard error of a stratified sample."""
    # Degrees of freedom: F. E. Satterthwaite, Biometrics Bulletin 2, 1946. The deviations of a cluster with queries in
    # several segments are summed over all of them, and the degrees of freedom are the number of clusters less one.
    parts = _parts(segment)
    samples, means, k = [_sample(x, rows, cluster, weight) for rows in parts], _means(x, parts, weight), len(parts)
    mean = exact_mean(means)
    if any(sample.n < 2 for sample in samples):
        return MacroMean(mean, math.nan, math.nan, k)
    if cluster is not None and _overlap(samples, parts, cluster):
        V, n = _covariance(x, means, parts, cluster, weight)
        return MacroMean(mean, math.sqrt(max(float(V.sum()), 0.0)) / k, n - 1, k)
    error, df = _stratified([sample.standard_error for sample in samples], samples)
    return MacroMean(mean, error, df, k)


def _stratified(errors: Sequence[float], samples: Sequence[Sample]) -> tuple[float, float]:
    """Standard error of a mean over segments, and Satterthwaite's degrees of freedom."""
    variance, df = np.array(errors) ** 2, np.array([sample.df for sample in samples])
    total = math.fsum(variance)
    return math.sqrt(total) / len(samples), ratio(total**2, math.fsum(variance**2 / df)) or math.inf


def macro_estimate(
    x: Array, segment: Index, cluster: Index | None, weight: Array | None, bounds: tuple[float, float]
) -> MeanEstimate:
    """Estimate of a mean over segments, by the rule of `mean_interval`: each segment gets 1/k of both added queries."""
    found, parts = macro_mean(x, segment, cluster, weight), _parts(segment)
    if math.isnan(found.standard_error):
        return MeanEstimate(*found[:3])
    samples, k = [_sample(x, rows, cluster, weight) for rows in parts], len(parts)
    skewed = found.standard_error > 0 and are_skewed(*_contributions(x, parts, cluster, weight))
    is_seen = not skewed and all(sample.standard_error > 0 for sample in samples)
    if is_seen or not math.isfinite(bounds[1] - bounds[0]):
        return MeanEstimate(*found[:3], SKEWED if skewed else "")
    means, errors = zip(*(with_bounds_seen(sample, bounds, 1 / k) for sample in samples), strict=True)
    error, df = _stratified(errors, samples)
    if cluster is not None and _overlap(samples, parts, cluster):
        V, n = _covariance(x, _means(x, parts, weight), parts, cluster, weight)
        error, df = math.sqrt(max(error**2 + float(V.sum() - V.trace()) / k**2, 0.0)), n - 1
    return MeanEstimate(exact_mean(np.array(means)), error, df, NOT_SEEN)


def _contributions(
    x: Array, parts: list[Index], cluster: Index | None, weight: Array | None
) -> tuple[Array, Array | None]:
    """Deviation of each unit from the mean over segments, and its size if there are weights or clusters."""
    size = np.ones(len(x)) if weight is None else weight.copy()
    deviations = np.zeros(len(x))
    for rows, mean in zip(parts, _means(x, parts, weight), strict=True):
        size[rows] /= size[rows].sum()
        deviations[rows] = size[rows] * (x[rows] - mean)
    if cluster is not None:
        return sums_by_cluster(deviations, cluster)[0], sums_by_cluster(size, cluster)[0]
    return deviations, None if weight is None else size


def macro_row(
    x: Array, segment: Index, cluster: Index | None, weight: Array | None, bounds: tuple[float, float],
    confidence_level: float, between: Between,
) -> tuple[tuple[Any, ...], str]:  # fmt: skip
    """Number of segments and queries, the mean over segments, its interval, error and df; note of the interval."""
    if len(x) == 0:
        return (0, 0, *[None] * 5), ""
    parts = _parts(segment)
    mean, estimate = exact_mean(_means(x, parts, weight)), macro_estimate(x, segment, cluster, weight, bounds)
    estimate = estimate.widened(between)
    ends, note = interval_of(estimate, mean, bounds, confidence_level)
    return (len(parts), len(x), mean, *_numbers(estimate, ends)), note


def macro_share(segment: Index, weight: Array | None) -> Array:
    """Weight of each query in the mean over segments, up to a factor."""
    share = np.ones(len(segment)) if weight is None else weight
    return share / np.bincount(segment, share)[segment] if len(segment) else share


def macro_difference(
    pair: Paired, segment: Index, options: ComparisonOptions, between: Between, most: float, *, are_rates: bool
) -> tuple[Any, ...]:
    """The numbers of `macro_row` for a difference, whose interval ends at `most`, and p; without spread no interval."""
    found = macro_mean(pair.values, segment, pair.cluster, pair.weight)
    estimate = MeanEstimate(*found[:3]).widened(between)
    if are_rates:
        estimate = _with_pseudo_pairs(pair.values, segment)
    low, high = t_interval(*estimate[:3], options.confidence_level, "two-sided")
    cells = _numbers(estimate, (max(low, -most), min(high, most)))
    return (found.n_segments, pair.n, found.mean, *cells, _macro_pvalue(pair, segment, options, estimate))


def _with_pseudo_pairs(x: Array, segment: Index) -> MeanEstimate:
    """Mean over segments of differences of success rates, with two queries won and two lost, divided over segments."""
    parts = _parts(segment)
    n = np.array([len(rows) for rows in parts]) + 4 / len(parts)
    mean = np.array([x[rows].sum() for rows in parts]) / n
    square = np.array([(x[rows] ** 2).sum() + 4 / len(parts) for rows in parts]) / n
    return MeanEstimate(exact_mean(mean), math.sqrt(math.fsum((square - mean**2) / n)) / len(parts), math.inf)


def _macro_pvalue(pair: Paired, segment: Index, options: ComparisonOptions, estimate: MeanEstimate) -> float | None:
    """P-value of a difference of means over segments; None for tests that do not compare means."""
    error = estimate.standard_error
    if options.test not in ("t", "randomization"):
        return None
    if pair.identical:
        return 1.0
    # Without spread, t is infinite, so the test uses the signs.
    if options.test == "t" and error != 0:
        return None if math.isnan(error) else t_pvalue(estimate.center / error, estimate.df, options.alternative)
    return randomization(replace(pair, weight=scaled(macro_share(segment, pair.weight))), options).pvalue


def _numbers(estimate: MeanEstimate, ends: tuple[float, float]) -> tuple[float | None, ...]:
    """Cells of an interval, its standard error and degrees of freedom; empty without spread."""
    if not estimate.standard_error > 0:
        return (None,) * 4
    return (*ends, estimate.standard_error, None if math.isinf(estimate.df) else float(estimate.df))


def _sample(x: Array, rows: Index, cluster: Index | None, weight: Array | None) -> Sample:
    return sample_of(x[rows], some(cluster, rows), scaled(some(weight, rows)))


def _means(x: Array, parts: list[Index], weight: Array | None) -> Array:
    return np.array([exact_mean(x[rows], some(weight, rows)) for rows in parts])


def _overlap(samples: list[Sample], parts: list[Index], cluster: Index) -> bool:
    """Whether a cluster has queries in several segments."""
    return sum(sample.n for sample in samples) > len(distinct_values(cluster[np.concatenate(parts)]))


def _parts(segment: Index) -> list[Index]:
    order = np.argsort(segment, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(segment[order])) + 1)


def _welch(mean: Array, errors: Array, df: Array) -> Heterogeneity:
    k, weight = len(mean), (errors / errors.min()) ** -2
    share = weight / weight.sum()
    between = (weight * (mean - share @ mean) ** 2).sum() / errors.min() ** 2 / (k - 1)
    lost = ((1 - share) ** 2 / df).sum() / (k**2 - 1)
    f, df_within = between / (1 + 2 * (k - 2) * lost), 1 / (3 * lost)
    return Heterogeneity(float(f), (k - 1, float(df_within)), float(special.fdtrc(k - 1, df_within, f)), WELCH, k)


def _covariance(x: Array, mean: Array, parts: list[Index], cluster: Index, weight: Array | None) -> tuple[Array, int]:
    """Covariance of the means of segments whose clusters overlap, and the number of clusters."""
    known = distinct_values(cluster[np.concatenate(parts)])
    n, number = len(known), np.searchsorted(known, cluster)
    sums = np.zeros((n, len(parts)))
    for j, rows in enumerate(parts):
        of_rows = np.ones(len(rows)) if weight is None else weight[rows]
        total, _ = sums_by_cluster(x[rows] - mean[j], number[rows], of_rows)
        sums[distinct_values(number[rows]), j] = total / of_rows.sum()
    return n / (n - 1) * sums.T @ sums, n


def _wald(mean: Array, covariance: tuple[Array, int]) -> Heterogeneity:
    (V, n), q = covariance, len(mean) - 1
    contrast = np.eye(q + 1)[1:] - np.eye(q + 1)[0]
    V = contrast @ V @ contrast.T
    if n <= q or np.linalg.matrix_rank(V) < q:
        return Heterogeneity(test=WALD, n_segments=len(mean))
    difference = contrast @ mean
    f = float((n - q) / ((n - 1) * q) * difference @ np.linalg.solve(V, difference))
    return Heterogeneity(f, (q, n - q), float(special.fdtrc(q, n - q, f)), WALD, len(mean))
