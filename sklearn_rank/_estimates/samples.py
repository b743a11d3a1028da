"""Samples of two systems, on the same queries or on different ones, for tests, intervals and effect sizes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._estimates.runs import ONE_RUN, Between
from sklearn_rank._utils.typing import Array, Index

QueryNumbers = TypeVar("QueryNumbers", bound=NDArray[Any])

NOT_SEEN, SKEWED = "not seen", "skewed"
"""Notes of intervals: it allows for values that were not seen, or it may not keep its level."""

EQUAL_WITHIN = 1e-12
"""Values of a query are equal up to this relative difference: the order of sums changes the rounding."""

FEW_UNITS = 20
"""Number of units of equal weight from which an interval keeps its level."""


MANY_VALUES = 512
"""Number of values from which `exact_sum` is faster than `math.fsum`."""


def exact_sum(x: Array) -> float:
    """Rounded exact sum, like `math.fsum`, but faster for many values."""
    if len(x) < MANY_VALUES:
        return math.fsum(x)
    sums, errors = x, []
    with np.errstate(all="ignore"):
        while (half := len(sums) // 2) > MANY_VALUES // 8:
            a, b = sums[:half], sums[half : 2 * half]
            of_pairs = a + b
            # What a + b loses by rounding: the exact two-sum of D. E. Knuth.
            second = of_pairs - a
            errors.append((a - (of_pairs - second)) + (b - second))
            sums = np.concatenate([of_pairs, sums[2 * half :]])
        lost = np.concatenate(errors)
        error, reach = float(lost.sum()), len(lost) * 2.0**-52 * float(np.abs(lost).sum())
    if not math.isfinite(reach):
        return math.fsum(x)
    low, high = (math.fsum([*sums.tolist(), error, end]) for end in (-reach, reach))
    return low if low == high else math.fsum(x)


def exact_mean(x: Array, weight: Array | None = None) -> float:
    """Mean with the same bits in any order, and with the opposite sign for opposite values."""
    return exact_sum(x) / len(x) if weight is None else exact_sum(weight * x) / exact_sum(weight)


def spread(x: Array, weight: Array | None = None) -> float:
    """Standard deviation (n - 1); exactly zero if values differ only by rounding."""
    if np.ptp(x) <= EQUAL_WITHIN * np.abs(x).max():
        return 0.0
    if weight is None:
        return float(x.std(ddof=1))
    n, squares = len(x), weight * (x - exact_mean(x, weight)) ** 2
    return math.sqrt(n / (n - 1) * exact_sum(squares) / exact_sum(weight))


def counted(values: Array, weight: Array | None) -> NDArray[np.bool_]:
    """Mask of the queries in the mean, which have a value and a weight above 0."""
    defined: NDArray[np.bool_] = ~np.isnan(values)
    return defined if weight is None else defined & (weight > 0)


def some(of_queries: QueryNumbers | None, chosen: Any) -> QueryNumbers | None:
    """Entries of the chosen queries; None stays None."""
    return None if of_queries is None else of_queries[chosen]


def scaled(weight: Array | None) -> Array | None:
    """Weights relative to the highest, because only ratios count; None if all are equal."""
    if weight is None or len(weight) == 0 or weight.min() == weight.max():
        return None
    return weight / weight.max()


def ratio(x: float, y: float) -> float:
    """Quotient x / y for y >= 0; 0 or infinity if y is zero."""
    return x / y if y > 0 else math.copysign(math.inf, x) if x else 0.0


@dataclass(frozen=True)
class Units:
    """Independent units, which are queries or clusters of queries, and their values or sums of values."""

    total: Array

    @property
    def n(self) -> int:
        """Number of units."""
        return len(self.total)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.n - 1.0


class IndependentValues(Units):
    """Values of independent queries, and the standard error of their mean."""

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.n)

    @cached_property
    def spread(self) -> float:
        """Standard deviation."""
        return spread(self.total)

    @property
    def standard_error(self) -> float:
        """Standard error of the mean."""
        return self.spread / math.sqrt(self.n)

    @property
    def center(self) -> float:
        """Mean, by the bootstrap's summation."""
        return float(self.total.mean())

    @property
    def deviations(self) -> Array:
        """Deviations from the mean."""
        return self.total - self.center

    @property
    def data(self) -> tuple[Array, ...]:
        """Arrays that a resample indexes together."""
        return (self.total,)

    @staticmethod
    def mean_and_error(x: Array, axis: int = -1) -> Array:
        """Mean and standard error of resamples."""
        mean = x.mean(axis=axis, keepdims=True)
        error = x.std(axis=axis, ddof=1, mean=mean) / np.sqrt(x.shape[axis])
        return np.stack([mean.squeeze(axis), error])


@dataclass(frozen=True)
class RatioOfSums(Units):
    """Weighted sum of values and sum of weights of each independent unit, and the standard error of the mean."""

    size: Array
    center: float

    @classmethod
    def of(cls, x: Array, cluster: Index | None, weight: Array | None) -> Self:
        """Sums of values, which do not depend on the order of queries or clusters, to the last bit."""
        size = np.ones(len(x)) if weight is None else weight
        total, size = (size * x, size) if cluster is None else sums_by_cluster(x, cluster, weight)
        by_total = np.lexsort((size, total))
        return cls(total[by_total], size[by_total], exact_mean(x, weight))

    @property
    def weight(self) -> float:
        """Sum of the weights."""
        return float(self.size.sum())

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean, by linearization: HC1 for queries, CR1 of Liang and Zeger, 1986, for clusters."""
        squares = exact_sum(self.deviations**2)
        return math.sqrt(self.n / (self.n - 1) * squares) / self.weight if self.n > 1 else math.nan

    @cached_property
    def deviations(self) -> Array:
        """Weighted sum of the deviations from the mean in each unit; exactly zero if they are only rounding errors."""
        sums = self.total - self.center * self.size
        return sums if np.ptp(sums) > EQUAL_WITHIN * np.abs(self.total).max() else np.zeros(self.n)

    @property
    def data(self) -> tuple[Array, ...]:
        """Arrays that a resample indexes together."""
        return self.total, self.size

    @staticmethod
    def mean_and_error(total: Array, size: Array, axis: int = -1) -> Array:
        """Mean and standard error of resamples of units."""
        weight, n = size.sum(axis=axis), total.shape[axis]
        mean = total.sum(axis=axis) / weight
        squares = ((total - np.expand_dims(mean, axis) * size) ** 2).sum(axis=axis)
        return np.stack([mean, np.sqrt(n / (n - 1) * squares) / weight])


Sample = IndependentValues | RatioOfSums
"""Values of queries, or their sums by unit."""


def sums_by_cluster(x: Array, cluster: Index, weight: Array | None = None) -> tuple[Array, Array]:
    """Weighted sum of the values of each cluster, in the order of their numbers, and sum of their weights."""
    weighted = x if weight is None else weight * x
    order = np.lexsort((weighted, np.abs(weighted), cluster))
    starts = np.flatnonzero(np.diff(cluster[order], prepend=-1))
    if weight is None:
        sizes = np.diff(starts, append=len(x)).astype(np.float64)
    else:
        sizes = sums_by_cluster(weight, cluster)[0]
    return np.add.reduceat(weighted[order], starts), sizes


def sample_of(x: Array, cluster: Index | None, weight: Array | None = None) -> Sample:
    """Sample of values per query, with clusters and weights if there are any."""
    return IndependentValues(x) if cluster is None and weight is None else RatioOfSums.of(x, cluster, weight)


@dataclass(frozen=True)
class Paired:
    """Two systems on the same queries; tests use the differences, or their sums within each cluster."""

    a: Array
    b: Array
    cluster: Index | None = None
    weight: Array | None = None
    between: Between = ONE_RUN

    @cached_property
    def values(self) -> Array:
        """Difference of each query, a - b."""
        d = self.a - self.b
        largest = max(-self.a.min(initial=0), self.a.max(initial=0), -self.b.min(initial=0), self.b.max(initial=0))
        # Differences as small as this are rare.
        if not ((np.abs(d) <= EQUAL_WITHIN * largest) & (d != 0)).any():
            return d + 0.0
        return np.where(np.abs(d) <= EQUAL_WITHIN * np.maximum(np.abs(self.a), np.abs(self.b)), 0.0, d)

    @cached_property
    def rank_sums(self) -> tuple[float, float, float]:
        """Sum of the ranks of positive differences, of negative ones, and of t^3 - t for each t that are tied."""
        d = self.values[self.values != 0]
        order = np.argsort(np.abs(d))
        starts = np.flatnonzero(np.diff(np.abs(d)[order], prepend=-1.0))
        n_tied = np.diff(starts, append=len(d)).astype(np.float64)
        above = np.diff(np.append(0, np.cumsum(d[order] > 0))[np.append(starts, len(d))])
        rank = starts + (n_tied + 1) / 2
        return float(above @ rank), float((n_tied - above) @ rank), float((n_tied**3 - n_tied).sum())

    @property
    def weighted(self) -> Array:
        """Difference of each query, times its weight."""
        return self.values if self.weight is None else self.weight * self.values

    @cached_property
    def difference(self) -> float:
        """Mean difference."""
        return exact_mean(self.values, self.weight)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.values)

    @cached_property
    def sample(self) -> Sample:
        """The differences, weighted if there are weights, summed over each cluster if there are clusters."""
        return sample_of(self.values, self.cluster, self.weight)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.between.widened(self.sample.standard_error, self.sample.df)[1]

    @property
    def standard_error(self) -> float:
        """Standard error of the mean difference, for other queries and other runs."""
        return self.between.widened(self.sample.standard_error, self.sample.df)[0]

    @property
    def identical(self) -> bool:
        """Whether all queries have equal values."""
        return not self.values.any()

    @property
    def cohen(self) -> float:
        """Cohen's d_z: mean over standard deviation of the differences."""
        of_units = self.sample
        own = of_units.spread if isinstance(of_units, IndependentValues) else spread(self.values, self.weight)
        return ratio(self.difference, own)


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
    def deviations(self) -> Array:
        """Contribution of each query to the difference of the means."""
        a, b = ((x - x.mean()) / len(x) for x in (self.a, self.b))
        return np.concatenate([a, -b])

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


def with_bounds_seen(sample: Sample, bounds: tuple[float, float], share: float = 1.0) -> tuple[float, float]:
    """Mean and standard error of a sample and of a query at each bound, which counts `share` times."""
    # The query has the size sum of s^2 / sum of s of units of sizes s, which is 1 for queries of equal weight.
    total, size = sample.total, sample.size if isinstance(sample, RatioOfSums) else np.ones(sample.n)
    of_query = exact_sum(size**2) / exact_sum(size)
    whole = exact_sum(size) + 2 * share * of_query
    mean = (exact_sum(total) + share * of_query * sum(bounds)) / whole
    squares = exact_sum((total - mean * size) ** 2) + share * of_query**2 * sum((end - mean) ** 2 for end in bounds)
    return mean, math.sqrt(squares) / whole


def has_no_spread(sample: Paired | Unpaired) -> bool:
    """Whether differences are equal up to rounding, so that their standard error has no meaning."""
    return sample.standard_error <= EQUAL_WITHIN * abs(sample.difference)


def is_skewed(sample: Sample | Paired | Unpaired) -> bool:
    """Whether a t interval may not keep its level, because units are too few for the skew of values or weights."""
    # Values: n < 25 skewness^2, W. G. Cochran: Sampling techniques, 3rd ed., 1977, p. 42.
    of_units = sample.sample if isinstance(sample, Paired) else sample
    if not of_units.standard_error > 0:
        return False
    return are_skewed(of_units.deviations, of_units.size if isinstance(of_units, RatioOfSums) else None)


def are_skewed(deviations: Array, size: Array | None) -> bool:
    """Whether units are too few for the skew of their deviations from a mean, not all 0, or of their sizes."""
    if size is not None and _few_hold_most(size):
        return True
    u = deviations / np.abs(deviations).max()
    squares = u * u
    return abs(float((squares * u).sum())) > 0.2 * float(squares.sum()) ** 1.5


def is_concentrated(sample: Sample | Paired | Unpaired) -> bool:
    """Whether few units hold most of the weight: L. Kish's effective sample size (Survey sampling, 1965) is low."""
    of_units = sample.sample if isinstance(sample, Paired) else sample
    return isinstance(of_units, RatioOfSums) and _few_hold_most(of_units.size)


def _few_hold_most(size: Array) -> bool:
    return float(size.sum()) ** 2 / float((size**2).sum()) < min(FEW_UNITS, 0.9 * len(size))
