"""Tests of a paired mean difference against a margin: over all queries, and in each segment."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._estimates.corrections import adjusted
from sklearn_rank._estimates.noninferiority import UnitSums, WithLosses, t_quantile
from sklearn_rank._estimates.runs import Between
from sklearn_rank._estimates.samples import EQUAL_WITHIN, Paired, Sample, exact_mean, ratio, sample_of
from sklearn_rank._estimates.significance import t_pvalue
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index

NO_WORSE, IS_WORSE, UNDECIDED, NO_LOSS_SHOWN = "no worse", "worse", "undecided", "no loss shown"
TOO_SMALL = "too small"
"""Decision on a segment whose queries could not show a loss beyond the margin if each lost everything."""


@dataclass(frozen=True, eq=False)
class PairedQueries:
    """Values of the new and the old system by one metric, on the same queries.

    `span`: highest less lowest value of the metric; None if it is unbounded or unknown. `between`: variance between
    runs. `known_means`: means of the new and the old result, if all their queries count.
    """

    qid: NDArray[Any]
    new: Array
    old: Array
    greater_is_better: bool
    cluster: Index | None
    weight: Array | None
    span: float | None
    between: Between
    known_means: tuple[float, ...] | None = None

    @cached_property
    def gain(self) -> Array:
        """Gain of each query: new minus old, or old minus new if lower is better; positive if new is better."""
        better, other = (self.new, self.old) if self.greater_is_better else (self.old, self.new)
        return Paired(better, other).values

    def new_less_old(self, gain: Any) -> Any:
        """Difference, new minus old, that belongs to a gain."""
        return gain if self.greater_is_better else 0.0 - gain  # -gain would print -0.0000

    @cached_property
    def mean_gain(self) -> float:
        """Mean gain."""
        return exact_mean(self.gain, self.weight)

    @property
    def difference(self) -> float:
        """Mean difference, new minus old."""
        return float(self.new_less_old(self.mean_gain))

    @cached_property
    def sample(self) -> Sample:
        """Gains of queries or clusters, with the standard error of their mean."""
        return sample_of(self.gain, self.cluster, self.weight)

    @cached_property
    def sums(self) -> UnitSums:
        """Sums of the gains over queries or clusters."""
        return UnitSums.of(self.sample)

    @cached_property
    def largest_difference(self) -> float:
        """Size of the largest difference of a query."""
        return float(np.abs(self.gain).max())

    @property
    def range_seen(self) -> float:
        """Highest minus lowest value of both systems; if all values are equal, their absolute value, or 1."""
        both = np.concatenate([self.new, self.old])
        return float(np.ptp(both) or np.abs(both).max() or 1.0)

    @property
    def means(self) -> tuple[float, float]:
        """Means of the old and the new system."""
        new, old = self.known_means or (exact_mean(x, self.weight) for x in (self.new, self.old))
        return old, new


class MarginTest(NamedTuple):
    """One-sided bounds of a mean difference, new minus old, the p-value and the decision, for a margin."""

    low: float
    high: float
    pvalue: float
    decision: str


def margin_test(
    pair: PairedQueries, margin: float | None, largest_loss: float, alpha: float, n_metrics: int
) -> MarginTest:
    """Test a mean gain against -margin: for "no worse" at `alpha`, for "worse" at `alpha / n_metrics`."""
    mean, (standard_error, df) = pair.mean_gain, pair.between.widened(pair.sample.standard_error, pair.sample.df)
    level = alpha / n_metrics
    lowest = WithLosses(pair.sums, largest_loss, alpha, pair.between)
    # The other side adds queries that win the largest difference seen, or the largest loss if all differences are 0.
    highest = WithLosses(pair.sums.mirrored, pair.largest_difference or largest_loss, level, pair.between)
    loses = t_pvalue(ratio(above_margin(pair, margin or 0.0), standard_error), df, "less")
    is_worse = max(loses, highest.pvalue(-(margin or 0.0)))
    pvalue = is_worse if margin is None else lowest.pvalue(margin)
    decision = UNDECIDED if margin is not None else NO_LOSS_SHOWN
    if is_worse <= level:
        decision = IS_WORSE
    elif margin is not None and pvalue <= alpha:
        decision = NO_WORSE
    high = max(mean + t_quantile(level, df) * standard_error, -highest.low())
    bounds = max(lowest.low(), -largest_loss), high if pair.span is None else min(high, pair.span)
    low, high = sorted(map(pair.new_less_old, bounds))
    return MarginTest(low, high, pvalue, decision)


def above_margin(pair: PairedQueries, margin: float) -> float:
    """Gain plus the margin; exactly zero if it is only a rounding error."""
    above = pair.mean_gain + margin
    return above if abs(above) > EQUAL_WITHIN * max(np.abs(pair.new).max(), np.abs(pair.old).max()) else 0.0


# --- segments ----------------------------------------------------------------------------------------------------


class SegmentTest(NamedTuple):
    """Test of a segment by a metric: whether a loss beyond its margin is shown; `pvalue` is corrected by Holm."""

    segment: tuple[Any, ...]
    metric: str
    n_queries: int
    old: float
    new: float
    difference: float
    pvalue: float
    margin: float
    decision: str


def segment_tests(
    pairs: Mapping[tuple[tuple[Any, ...], str], PairedQueries], margins: Mapping[tuple[tuple[Any, ...], str], float],
    largest_loss: Mapping[str, float], alpha: float,
) -> list[SegmentTest]:  # fmt: skip
    """Test each segment by each metric: one-sided t, corrected by Holm for the number of these tests."""
    level = alpha / max(len(pairs), 1)
    small = {
        key for key, pair in pairs.items() if pair.sample.n < least_units(margins[key], largest_loss[key[1]], level)
    }
    found = [math.nan if key in small else _loss_pvalue(pair, margins[key]) for key, pair in pairs.items()]
    return [
        SegmentTest(
            *key, len(pair.qid), *pair.means, pair.difference, p, margins[key],
            TOO_SMALL if key in small else IS_WORSE if p <= alpha else NO_LOSS_SHOWN,
        )
        for (key, pair), p in zip(pairs.items(), adjusted(found, "holm"), strict=True)
    ]  # fmt: skip


def least_units(margin: float, largest_loss: float, level: float) -> float:
    """Number of queries or clusters from which losses of everything show a loss beyond the margin."""
    share = (largest_loss + margin) / (2 * largest_loss)
    return max(2.0, math.ceil(math.log(level) / math.log(share))) if share < 1 else math.inf


def _loss_pvalue(pair: PairedQueries, margin: float) -> float:
    """P-value of the hypothesis that the mean loss is at most the margin."""
    standard_error, df = pair.between.widened(pair.sample.standard_error, pair.sample.df)
    p = t_pvalue(ratio(above_margin(pair, margin), standard_error), df, "less")
    # Without spread t is infinite. If a query may also win as much as the largest loss seen, all n of them lose it
    # with this probability where the mean loss is the margin.
    largest = pair.largest_difference or 1.0
    return max(p, min(1.0, (largest + margin) / (2 * largest)) ** pair.sample.n)
