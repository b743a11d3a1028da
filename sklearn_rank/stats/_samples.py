"""Samples of two systems, on the same queries or on different ones, as tests, intervals and effect sizes read them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sklearn_rank._utils.typing import Array

ROUNDING = 1e-12
"""Relative difference up to which two values of a query are equal: sums in another order differ by rounding."""


def exact_mean(x: Array) -> float:
    """Mean that is the same to the last bit in any order, and of opposite sign for opposite values."""
    return math.fsum(x) / len(x)


def spread(x: Array) -> float:
    """Standard deviation (n - 1); exactly zero where values differ by rounding only."""
    constant = np.ptp(x) <= ROUNDING * np.abs(x).max()
    return 0.0 if constant else float(x.std(ddof=1))


def ratio(x: float, y: float) -> float:
    """Quotient x / y for y >= 0; its limit, 0 or an infinity, where y is zero."""
    return x / y if y > 0 else math.copysign(math.inf, x) if x else 0.0


@dataclass(frozen=True)
class Paired:
    """Two systems on the same queries; a test of them reads the differences."""

    a: Array
    b: Array

    @cached_property
    def values(self) -> Array:
        """Difference of each query, a - b."""
        d = self.a - self.b
        return np.where(np.abs(d) <= ROUNDING * np.maximum(np.abs(self.a), np.abs(self.b)), 0.0, d)

    @cached_property
    def difference(self) -> float:
        """Mean difference."""
        return exact_mean(self.values)

    @property
    def n(self) -> int:
        """Number of queries."""
        return len(self.values)

    @property
    def df(self) -> float:
        """Degrees of freedom of the t statistic."""
        return self.n - 1.0

    @cached_property
    def standard_error(self) -> float:
        """Standard error of the mean difference."""
        return spread(self.values) / math.sqrt(self.n)

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
        return 0.0 if abs(a - b) <= ROUNDING * max(abs(a), abs(b)) else a - b

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
