"""Test of a mean against a floor, or a ceiling of an error: Student's t with queries at the worst or best value."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._estimates.noninferiority import Aim, UnitSums, WithLosses
from sklearn_rank._estimates.power import root, smallest
from sklearn_rank._estimates.runs import Between
from sklearn_rank._estimates.samples import exact_mean, sample_of
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index

MET, MISSED, UNDECIDED = "met", "missed", "undecided"


class FloorTest(NamedTuple):
    """Mean of a metric, its one-sided bounds, the p-value of "met", the decision, and the least mean that passes.

    `least_mean` is NaN if no mean of these queries passes.
    """

    mean: float
    low: float
    high: float
    pvalue: float
    decision: str
    least_mean: float


@dataclass(frozen=True, eq=False)
class FloorQueries:
    """Values of a system by one metric, its lowest and highest value, and the floor, or the ceiling of an error."""

    qid: NDArray[Any]
    values: Array
    floor: float
    bounds: tuple[float, float]
    greater_is_better: bool
    cluster: Index | None
    weight: Array | None
    between: Between
    known_means: tuple[float, ...] | None = None

    @property
    def sign(self) -> int:
        """1, or -1 if lower is better."""
        return 1 if self.greater_is_better else -1

    @property
    def mean(self) -> float:
        """Mean of the values."""
        return exact_mean(self.values, self.weight) if self.known_means is None else self.known_means[0]

    @property
    def depth(self) -> float:
        """Distance of the worst value from the floor."""
        return abs(self.floor - self.bounds[0 if self.greater_is_better else 1])

    @property
    def height(self) -> float:
        """Distance of the best value from the floor."""
        return abs(self.floor - self.bounds[1 if self.greater_is_better else 0])

    @cached_property
    def sums(self) -> UnitSums:
        """Sums over queries or clusters of what each value is better than the floor."""
        return UnitSums.of(sample_of(self.sign * (self.values - self.floor), self.cluster, self.weight))

    @property
    def is_rate(self) -> bool:
        """Whether the mean is a share of the queries."""
        return bool(np.isin(self.values, self.bounds).all()) and self.cluster is None and self.weight is None

    def test(self, alpha: float, n_floors: int) -> FloorTest:
        """Test for "met" at `alpha`, for "missed" at `alpha / n_floors`."""
        met = WithLosses(self.sums, self.depth, alpha, self.between)
        missed = WithLosses(self.sums.mirrored, self.height, alpha / n_floors, self.between)
        pvalue = met.pvalue(0.0)
        is_missed = missed.pvalue(0.0) <= alpha / n_floors
        decision = MET if pvalue <= alpha else MISSED if is_missed else UNDECIDED
        ends = sorted(self.floor + self.sign * end for end in (met.low(), -missed.low()))
        low, high = np.clip(ends, *self.bounds).tolist()
        return FloorTest(self.mean, low, high, pvalue, decision, self._least_mean(alpha))

    def nearest_rates(self) -> tuple[int, int]:
        """Numbers of successes beside the floor: the most below it, and the fewest that reach it."""
        low, high = self.bounds
        least = math.ceil(len(self.qid) * (self.floor - low) / (high - low) - 1e-9)
        return least - 1, least

    def n_least(self, alpha: float) -> int:
        """Smallest number of queries that meet the floor if all have the best value."""
        best = self._shrunk(0.0)
        return int(smallest(lambda n: self._meets(best.times(n / len(self.qid)), alpha)))

    def aim(self, alpha: float, n_floors: int) -> Aim:
        """Test of the side on which the mean is."""
        above, n = self.sums.mean >= 0, len(self.qid)
        if above:
            return Aim(self.sums, n, 0.0, self.depth, alpha, self.between)
        return Aim(self.sums.mirrored, n, 0.0, self.height, alpha / n_floors, self.between)

    def _meets(self, sums: UnitSums, alpha: float) -> bool:
        return WithLosses(sums, self.depth, alpha, self.between).decides(0.0)

    def _shrunk(self, factor: float) -> UnitSums:
        """Sums with this multiple of each value's distance from the best value."""
        sums, shift = self.sums, self.height * (1 - factor)
        return UnitSums(
            sums.n, sums.size, sums.size_squares, shift * sums.size + factor * sums.total,
            shift**2 * sums.size_squares + 2 * shift * factor * sums.products + factor**2 * sums.total_squares,
            shift * sums.size_squares + factor * sums.products,
        )  # fmt: skip

    def _least_mean(self, alpha: float) -> float:
        """Smallest mean that meets the floor, with the spread of a rate, or that of the values nearer to the best."""
        if not self._meets(self._shrunk(0.0), alpha):
            return math.nan
        n, short = len(self.qid), self.height - self.sums.mean
        if self.is_rate:
            best, worst = self.height, -self.depth

            def passes(missing: int) -> bool:
                total, squares = best * (n - missing) + worst * missing, best**2 * (n - missing) + worst**2 * missing
                return self._meets(UnitSums(n, n, n, total, squares, total), alpha)

            most = smallest(lambda missing: not passes(int(missing))) - 1 if passes(1) else 0
            return self.floor + self.sign * (best * (n - most) + worst * most) / n
        if short <= 0:
            return self.mean
        highest = self.height / short
        above = root(
            lambda factor: WithLosses(self._shrunk(factor), self.depth, alpha, self.between).low(),
            0.0, highest, 1e-12 * highest,
        )  # fmt: skip
        return self.floor + self.sign * self._shrunk(above).mean
