"""Samples of two systems, on the same queries or on different ones, as tests, intervals and effect sizes read them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Self

import numpy as np

from sklearn_rank._utils.typing import Array, Index

EQUAL_WITHIN = 1e-12
"""Relative difference up to which two values of a query are equal: sums in another order differ by rounding."""


def exact_mean(x: Array) -> float:
    """Mean that is the same to the last bit in any order, and of opposite sign for opposite values."""
    return math.fsum(x) / len(x)


def spread(x: Array) -> float:
    """Standard deviation (n - 1); exactly zero where values differ by rounding only."""
    constant = np.ptp(x) <= EQUAL_WITHIN * np.abs(x).max()
    return 0.0 if constant else float(x.std(ddof=1))


def ratio(x: float, y: float) -> float:
    """Quotient x / y for y >= 0; its limit, 0 or an infinity, where y is zero."""
    return x / y if y > 0 else math.copysign(math.inf, x) if x else 0.0


@dataclass(frozen=True)
class IndependentValues:
    """Values of independent queries, and how far their mean is from the true one."""

    total: Array

    @property
    def n(self) -> int:
        """Number of independent values."""
        return len(self.total)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.n - 1.0

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return spread(self.total) / math.sqrt(self.n)

    @property
    def centre(self) -> float:
        """Mean, as the bootstrap computes it."""
        return float(self.total.mean())

    @property
    def deviations(self) -> Array:
        """Deviations from the mean."""
        return self.total - self.centre

    @property
    def data(self) -> tuple[Array, ...]:
        """What a resample draws together."""
        return (self.total,)

    @staticmethod
    def mean_and_error(x: Array, axis: int = -1) -> Array:
        """Mean and its standard error, of resamples."""
        return np.stack([x.mean(axis=axis), x.std(axis=axis, ddof=1) / np.sqrt(x.shape[axis])])


@dataclass(frozen=True)
class ClusterSums:
    """Sums of values and numbers of queries of each cluster, and how far the mean over queries is from the true one.

    Sums of different clusters are independent of each other.
    """

    total: Array
    size: Array
    centre: float

    @classmethod
    def of(cls, x: Array, cluster: Index) -> Self:
        """Sums of values, which do not depend on the order of queries or clusters, to the last bit."""
        total, size = sums_by_cluster(x, cluster)
        by_total = np.lexsort((size, total))
        return cls(total[by_total], size[by_total], exact_mean(x))

    @property
    def n(self) -> int:
        """Number of clusters."""
        return len(self.total)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.n - 1.0

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean: squares of the deviations of n queries, summed up in each of G clusters first.

        G / (G - 1) times the sum of squares, over n^2: CR1 of K.-Y. Liang and S. Zeger, 1986, for a mean.
        """
        squares = math.fsum(self.deviations**2)
        return math.sqrt(self.n / (self.n - 1) * squares) / float(self.size.sum()) if self.n > 1 else math.nan

    @cached_property
    def deviations(self) -> Array:
        """Sum of the deviations from the mean in each cluster; exactly zero where these are rounding only."""
        sums = self.total - self.centre * self.size
        return sums if np.abs(sums).max() > EQUAL_WITHIN * np.abs(self.total).max() else np.zeros(self.n)

    @property
    def data(self) -> tuple[Array, ...]:
        """What a resample draws together."""
        return self.total, self.size

    @staticmethod
    def mean_and_error(total: Array, size: Array, axis: int = -1) -> Array:
        """Mean over queries and its standard error, of resamples of clusters."""
        n_queries, n = size.sum(axis=axis), total.shape[axis]
        mean = total.sum(axis=axis) / n_queries
        squares = ((total - np.expand_dims(mean, axis) * size) ** 2).sum(axis=axis)
        return np.stack([mean, np.sqrt(n / (n - 1) * squares) / n_queries])


def sums_by_cluster(x: Array, cluster: Index) -> tuple[Array, Array]:
    """Sum of the values of each cluster, in the order of their numbers, and how many there are."""
    order = np.lexsort((x, np.abs(x), cluster))
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    return np.add.reduceat(x[order], starts), np.diff(starts, append=len(x)).astype(np.float64)


def sample_of(x: Array, cluster: Index | None) -> IndependentValues | ClusterSums:
    """Values of queries, which are independent unless the number of each query's cluster is given."""
    return IndependentValues(x) if cluster is None else ClusterSums.of(x, cluster)


@dataclass(frozen=True)
class Paired:
    """Two systems on the same queries; a test of them reads the differences, or their sums in each cluster."""

    a: Array
    b: Array
    cluster: Index | None = None

    @cached_property
    def values(self) -> Array:
        """Difference of each query, a - b."""
        d = self.a - self.b
        return np.where(np.abs(d) <= EQUAL_WITHIN * np.maximum(np.abs(self.a), np.abs(self.b)), 0.0, d)

    @cached_property
    def difference(self) -> float:
        """Mean difference."""
        return exact_mean(self.values)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.values)

    @cached_property
    def sample(self) -> IndependentValues | ClusterSums:
        """The differences, summed over each cluster if there are clusters."""
        return sample_of(self.values, self.cluster)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.sample.df

    @property
    def standard_error(self) -> float:
        """Standard error of the mean difference."""
        return self.sample.standard_error

    @property
    def identical(self) -> bool:
        """Whether all queries have equal values."""
        return not self.values.any()

    @property
    def cohen(self) -> float:
        """Cohen's d_z: mean over standard deviation of the differences."""
        return ratio(self.difference, spread(self.values))


@dataclass(frozen=True)
class Unpaired:
    """Two systems on different queries."""

    a: Array
    b: Array

    @cached_property
    def difference(self) -> float:
        """Difference of the means."""
        a, b = exact_mean(self.a), exact_mean(self.b)
        return 0.0 if abs(a - b) <= EQUAL_WITHIN * max(abs(a), abs(b)) else a - b

    @property
    def n(self) -> tuple[int, int]:
        """Number of queries of each."""
        return len(self.a), len(self.b)

    @cached_property
    def _variances(self) -> tuple[float, float]:
        return spread(self.a) ** 2, spread(self.b) ** 2

    @property
    def df(self) -> float:
        """Degrees of freedom of Welch's t statistic (Welch-Satterthwaite); infinite without any spread."""
        u, v = self._variances[0] / len(self.a), self._variances[1] / len(self.b)
        return ratio((u + v) ** 2, u**2 / (len(self.a) - 1) + v**2 / (len(self.b) - 1)) or math.inf

    @property
    def standard_error(self) -> float:
        """Standard error of the difference of means, without assuming equal variances."""
        return math.sqrt(self._variances[0] / len(self.a) + self._variances[1] / len(self.b))

    @property
    def identical(self) -> bool:
        """Whether both have the same values."""
        if len(self.a) == len(self.b):
            return Paired(np.sort(self.a), np.sort(self.b)).identical
        return self.difference == 0 and self.standard_error == 0

    @property
    def cohen(self) -> float:
        """Cohen's d: difference of means over the pooled standard deviation."""
        weights = len(self.a) - 1, len(self.b) - 1
        return ratio(self.difference, math.sqrt(np.average(self._variances, weights=weights)))
