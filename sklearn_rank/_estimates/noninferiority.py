"""Non-inferiority of the mean of a bounded difference: Student's t with lost queries added, and the queries it needs.

A sample without losses does not show that losses do not exist. So the test adds queries that lose everything, one and
a half at alpha = 0.05. Student's t of the extended sample then keeps its level even for rare losses;
``docs/decide/measured.md`` has measured levels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from scipy import special

from sklearn_rank._estimates.power import MOST_QUERIES, root, smallest
from sklearn_rank._estimates.runs import ONE_RUN, Between
from sklearn_rank._estimates.samples import RatioOfSums, Sample, ratio
from sklearn_rank._utils.typing import Array

N_LOST = 1.5
"""Number of added queries that lose everything at alpha = 0.05: with 1.2 the largest exact level is 0.0548."""

LEAST_LOST = 1.0
"""Smallest number of added queries that lose everything, at an alpha above 0.13."""

LEAST_PVALUE = 1e-300
"""Smaller p-values are this one."""


def n_lost(alpha: float) -> float:
    """Number of added queries that lose everything: the exact level of rare losses is then at most 1.01 alpha."""
    # The squared normal quantile is the second term of the expansion of Cornish and Fisher, 1938.
    z = max(0.0, float(-special.ndtri(alpha)))
    return max(LEAST_LOST, N_LOST + (z**2 - float(special.ndtri(0.05)) ** 2) / 3)


@dataclass(frozen=True)
class UnitSums:
    """Sums over units, queries or clusters: of sizes s, totals t of gains, their squares and products."""

    n: float
    size: float
    size_squares: float
    total: float
    total_squares: float
    products: float

    @classmethod
    def of(cls, sample: Sample) -> Self:
        """Sums of a sample, which do not depend on the order of its units."""
        total = sample.total
        size = sample.size if isinstance(sample, RatioOfSums) else np.ones(len(total))
        parts = (size, size**2, total, total**2, size * total)
        return cls(len(total), *(math.fsum(part) for part in parts))

    def times(self, factor: float) -> UnitSums:
        """Sums of a multiple of the units."""
        return UnitSums(*(factor * value for value in vars(self).values()))

    @property
    def mirrored(self) -> UnitSums:
        """The same units with losses in place of gains."""
        return replace(self, total=0.0 - self.total, products=0.0 - self.products)

    @property
    def without_difference(self) -> UnitSums:
        """The same units without any difference."""
        return replace(self, total=0.0, total_squares=0.0, products=0.0)

    @property
    def mean(self) -> float:
        """Mean gain."""
        return self.total / self.size

    def with_mean(self, mean: float) -> UnitSums:
        """Sums for another mean gain with the same deviations from the mean."""
        by = mean - self.mean
        return replace(
            self,
            total=mean * self.size,
            total_squares=self.total_squares + 2 * by * self.products + by**2 * self.size_squares,
            products=self.products + by * self.size_squares,
        )

    @property
    def squared_deviations(self) -> float:
        """Sum of the squared deviations of the totals from the mean gain times the size."""
        squares = self.total_squares - 2 * self.mean * self.products + self.mean**2 * self.size_squares
        return max(squares, 0.0)


@dataclass(frozen=True)
class WithLosses:
    """Student's t of units and of queries that lose `largest_loss` each, as many as the level `alpha` needs."""

    # A lost query has the size sum of s^2 / sum of s, 1 for equal weights, and the total -largest_loss times its size.
    # Mean and linearized standard error are of all, with n degrees of freedom for n units.

    sums: UnitSums
    largest_loss: float
    alpha: float
    between: Between = ONE_RUN

    @property
    def n_lost(self) -> float:
        """Number of added queries."""
        return n_lost(self.alpha)

    @property
    def mean(self) -> float:
        """Mean gain of the extended sample."""
        return (self.sums.total - self.n_lost * self._lost_size * self.largest_loss) / self._size

    @property
    def standard_error(self) -> float:
        """Standard error of the mean gain of the extended sample, with the variance between runs."""
        return self.between.widened(self._error, self.sums.n)[0]

    @property
    def df(self) -> float:
        """Degrees of freedom of the standard error."""
        return self.between.widened(self._error, self.sums.n)[1]

    @property
    def _error(self) -> float:
        sums, mean = self.sums, self.mean
        squares = sums.total_squares - 2 * mean * sums.products + mean**2 * sums.size_squares
        squares += self.n_lost * (self._lost_size * (self.largest_loss + mean)) ** 2
        return math.sqrt(max(squares, 0.0) * (1 + self.n_lost / sums.n)) / self._size

    @property
    def _lost_size(self) -> float:
        return self.sums.size_squares / self.sums.size

    @property
    def _size(self) -> float:
        return self.sums.size + self.n_lost * self._lost_size

    def t(self, margin: float) -> float:
        """Statistic of the hypothesis that the mean gain is -margin or less."""
        return ratio(self.mean + margin, self.standard_error)

    def decides(self, margin: float) -> bool:
        """Whether the mean gain is above -margin at the level `alpha`."""
        return self.t(margin) > t_quantile(self.alpha, self.df)

    def pvalue(self, margin: float) -> float:
        """P-value of the hypothesis that the mean gain is -margin or less: the level at which the bound is -margin."""

        def tail(alpha: float) -> float:
            test = replace(self, alpha=alpha)
            return float(special.stdtr(test.df, -test.t(margin)))

        # The number of added queries falls in alpha, down to LEAST_LOST, so the tail does, too.
        most = tail(0.5)
        if n_lost(most) == LEAST_LOST:
            return most
        if tail(LEAST_PVALUE) <= LEAST_PVALUE:
            return LEAST_PVALUE
        return math.exp(root(lambda log: tail(math.exp(log)) - math.exp(log), math.log(LEAST_PVALUE), 0.0, 1e-12))

    def low(self) -> float:
        """Lower bound of the mean gain, of level 1 - alpha: a margin above its negative has p-value < alpha."""
        return self.mean - t_quantile(self.alpha, self.df) * self.standard_error


def t_quantile(alpha: float, df: float) -> float:
    """Value that Student's t exceeds with probability alpha."""
    return float(-special.stdtrit(df, alpha))


def smallest_margin(sums: UnitSums, largest_loss: float, alpha: float) -> float:
    """Smallest margin that units of these sizes can show if no query differs; infinite from the largest loss on."""
    margin = -WithLosses(sums.without_difference, largest_loss, alpha).low()
    return margin if margin < largest_loss else math.inf


@dataclass(frozen=True)
class Aim:
    """Test of one metric: sums of `n_queries` queries, the margin, and the level."""

    sums: UnitSums
    n_queries: int
    margin: float
    largest_loss: float
    alpha: float
    between: Between = ONE_RUN

    @property
    def mirrored(self) -> Aim:
        """The test that the loss is above the margin."""
        return replace(self, sums=self.sums.mirrored, margin=-self.margin)

    @property
    def n_least(self) -> int:
        """Smallest number of queries with which the test decides if no query differs."""
        same = replace(self, sums=self.sums.without_difference, between=ONE_RUN)
        return int(smallest(lambda n: same._decides(same._of(n))))

    def power(self, n: int) -> float:
        """Probability that the test decides with n queries, if their differences are like these."""
        sums = self._of(n)
        sd = math.hypot(math.sqrt(sums.squared_deviations) / sums.size, math.sqrt(self.between.variance))
        if sd == 0:
            return float(self._decides(sums))
        highest = max(self.largest_loss, sums.mean)
        if not self._decides(sums.with_mean(highest)):
            return 0.0

        def beyond(mean: float) -> float:
            lost = self._with_losses(sums.with_mean(mean))
            return lost.t(self.margin) - (t_quantile(self.alpha, lost.df) if self.between.variance else critical)

        critical = t_quantile(self.alpha, sums.n)
        needed = root(beyond, -self.margin, highest, 1e-9 * self.largest_loss)
        return float(special.ndtr((sums.mean - needed) / sd))

    def _of(self, n: int) -> UnitSums:
        return self.sums.times(n / self.n_queries)

    def _decides(self, sums: UnitSums) -> bool:
        return self._with_losses(sums).decides(self.margin)

    def _with_losses(self, sums: UnitSums) -> WithLosses:
        return WithLosses(sums, self.largest_loss, self.alpha, self.between)


def n_for_all(aims: Sequence[Aim], chance: float) -> float:
    """Smallest number of queries with which all tests decide with this probability; infinite if there is none."""
    # Bonferroni: the probabilities that a test does not decide are summed.
    return _smallest_or_none(lambda n: math.fsum(1 - aim.power(n) for aim in aims) <= 1 - chance)


def n_for_some(aims: Sequence[Aim], chance: float) -> float:
    """Smallest number of queries with which a test decides with this probability; infinite if there is none."""
    return min(_smallest_or_none(lambda n, aim=aim: aim.power(n) >= chance) for aim in aims)  # type: ignore[misc]


def _smallest_or_none(enough: Callable[[int], bool]) -> float:
    return smallest(enough) if enough(MOST_QUERIES) else math.inf


def margin_of_equals(
    differences: Array, n: int, largest_loss: float, alpha: float = 0.05, chance: float = 0.8
) -> float:
    """Smallest margin that a system passes on n queries with this probability if its differences have random signs."""
    # A sample passes each margin above the negative of its lower bound, so the margin is a quantile of the bounds.
    rng, draws = np.random.default_rng(0), int(min(max(4e6 // n, 200), 4000))
    d = rng.choice(differences, (draws, n)) * rng.choice([-1.0, 1.0], (draws, n))
    c, critical = n_lost(alpha), t_quantile(alpha, n)
    mean = (d.sum(axis=1) - c * largest_loss) / (n + c)
    variance = ((d**2).sum(axis=1) + c * largest_loss**2) / (n + c) - mean**2
    return float(np.quantile(critical * np.sqrt(variance / n) - mean, chance))
