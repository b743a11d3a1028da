"""A test that segments of queries differ at all."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy import stats

from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.stats._samples import sample_of, sums_by_cluster

WELCH, WALD = "Welch's ANOVA", "Wald test by cluster"


class Heterogeneity(NamedTuple):
    """Result of the test; NaN where fewer than two segments have a standard error."""

    statistic: float = math.nan
    df: tuple[float, float] = (math.nan, math.nan)
    pvalue: float = math.nan
    test: str = WELCH
    n_segments: int = 0


def equal_means(x: Array, segment: Index, cluster: Index | None = None) -> Heterogeneity:
    """Test whether the means of segments may be equal; a segment of one value, or of equal values, is left out.

    Welch's ANOVA: B. L. Welch: On the comparison of several mean values: an alternative approach. Biometrika 38, 1951,
    on cluster-robust standard errors where there are clusters. Where a cluster has queries in several segments, their
    means depend on each other: then it is a Wald test of all contrasts, scaled as Hotelling's T^2 of as many
    observations as there are clusters.
    """
    parts = _parts(segment)
    samples = [sample_of(x[rows], None if cluster is None else cluster[rows]) for rows in parts]
    kept = [i for i, sample in enumerate(samples) if sample.n > 1 and sample.standard_error > 0]
    if len(kept) < 2:
        return Heterogeneity(n_segments=len(kept))
    parts, samples = [parts[i] for i in kept], [samples[i] for i in kept]
    mean = np.array([x[rows].mean() for rows in parts])
    if cluster is not None and sum(sample.n for sample in samples) > len(np.unique(cluster[np.concatenate(parts)])):
        return _wald(mean, _covariance(x, mean, parts, cluster))
    errors = np.array([sample.standard_error for sample in samples])
    return _welch(mean, errors, np.array([sample.df for sample in samples]))


def _parts(segment: Index) -> list[Index]:
    """Places of the values of each segment."""
    order = np.argsort(segment, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(segment[order])) + 1)


def _welch(mean: Array, errors: Array, df: Array) -> Heterogeneity:
    k, weight = len(mean), (errors / errors.min()) ** -2
    share = weight / weight.sum()
    between = (weight * (mean - share @ mean) ** 2).sum() / errors.min() ** 2 / (k - 1)
    lost = ((1 - share) ** 2 / df).sum() / (k**2 - 1)
    f, df_within = between / (1 + 2 * (k - 2) * lost), 1 / (3 * lost)
    return Heterogeneity(float(f), (k - 1, float(df_within)), float(stats.f.sf(f, k - 1, df_within)), WELCH, k)


def _covariance(x: Array, mean: Array, parts: list[Index], cluster: Index) -> tuple[Array, int]:
    """Covariance of the means of segments whose clusters overlap, and the number of clusters."""
    known = np.unique(cluster[np.concatenate(parts)])
    n, number = len(known), np.searchsorted(known, cluster)
    sums = np.zeros((n, len(parts)))
    for j, rows in enumerate(parts):
        total, _ = sums_by_cluster(x[rows] - mean[j], number[rows])
        sums[np.unique(number[rows]), j] = total / len(rows)
    return n / (n - 1) * sums.T @ sums, n


def _wald(mean: Array, covariance: tuple[Array, int]) -> Heterogeneity:
    (V, n), q = covariance, len(mean) - 1
    contrast = np.eye(q + 1)[1:] - np.eye(q + 1)[0]
    V = contrast @ V @ contrast.T
    if n <= q or np.linalg.matrix_rank(V) < q:
        return Heterogeneity(test=WALD, n_segments=len(mean))
    difference = contrast @ mean
    f = float((n - q) / ((n - 1) * q) * difference @ np.linalg.solve(V, difference))
    return Heterogeneity(f, (q, n - q), float(stats.f.sf(f, q, n - q)), WALD, len(mean))
