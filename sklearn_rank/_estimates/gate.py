"""Claims of a gate by all metrics, segments and floors: the decision, and the number of queries that decides."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from sklearn_rank._estimates.floors import MET, MISSED, FloorQueries, FloorTest
from sklearn_rank._estimates.margins import (
    IS_WORSE,
    NO_LOSS_SHOWN,
    NO_WORSE,
    UNDECIDED,
    MarginTest,
    PairedQueries,
    SegmentTest,
    above_margin,
    margin_test,
)
from sklearn_rank._estimates.noninferiority import Aim, n_for_all, n_for_some, smallest_margin
from sklearn_rank._utils.lazy import cached_property

CHANCE = 0.8
"""Probability that the number of needed queries decides."""


@dataclass(frozen=True, eq=False)
class Gate:
    """Values of a gate by metric, and what they show.

    `nothing`: reason why no query can tell the systems apart, for each such metric. `n_changed`: number of ranked lists
    that differ, if known.
    """

    alpha: float
    margin: dict[str, float] | None
    largest_loss: dict[str, float]
    pairs: Mapping[str, PairedQueries]
    floors: Mapping[str, FloorQueries]
    segments: list[SegmentTest]
    nothing: Mapping[str, str]
    n_changed: int | None

    @cached_property
    def tests(self) -> dict[str, MarginTest]:
        """Bounds, p-value and decision of each metric."""
        tests = {}
        for name, pair in self.pairs.items():
            margin = None if self.margin is None else self.margin[name]
            test = margin_test(pair, margin, self.largest_loss[name], self.alpha, len(self.pairs))
            if self.n_changed == 0:
                test = test._replace(decision=NO_LOSS_SHOWN if margin is None else NO_WORSE)
            undecided = margin is not None and name in self.nothing
            tests[name] = test._replace(decision=UNDECIDED) if undecided else test
        return tests

    @cached_property
    def floor_tests(self) -> dict[str, FloorTest]:
        """Bounds and decision of each floor."""
        return {name: floor.test(self.alpha, len(self.floors)) for name, floor in self.floors.items()}

    @property
    def decisions(self) -> dict[str, str]:
        """Decision of each metric."""
        return {name: test.decision for name, test in self.tests.items()}

    @property
    def decision(self) -> str:
        """The decision by all metrics, segments and floors: the worst of them."""
        decided = {*self.decisions.values(), *(IS_WORSE for one in self.segments if one.decision == IS_WORSE)}
        of_all = decided | {test.decision for test in self.floor_tests.values()}
        bad = (one for one in (IS_WORSE, MISSED, UNDECIDED) if one in of_all)
        return next(bad, decided.pop() if decided else MET)

    def of(self, decision: str) -> list[str]:
        """Metrics with a decision by all queries."""
        return [name for name, test in self.tests.items() if test.decision == decision]

    def floors_with(self, decision: str) -> list[str]:
        """Metrics whose floors have a decision."""
        return [name for name, test in self.floor_tests.items() if test.decision == decision]

    @property
    def difference(self) -> dict[str, float]:
        """Mean difference by each metric, new minus old."""
        return {name: pair.difference for name, pair in self.pairs.items()}

    @property
    def behind(self) -> list[str]:
        """Metrics whose mean loss is above the margin."""
        return [name for name, margin in (self.margin or {}).items() if above_margin(self.pairs[name], margin) < 0]

    @cached_property
    def n_needed(self) -> int | None:
        """Number of queries that would decide with probability `CHANCE` if their differences are like these."""
        # All metrics must pass on these queries, including those that pass here.
        if self.decision != UNDECIDED or self.nothing:
            return None
        floors = [self.floors[name].aim(self.alpha, len(self.floors)) for name in self.floors_with(UNDECIDED)]
        needed = [n_for_all(floors, CHANCE)] if floors else []
        if self.of(UNDECIDED):
            needed.append(self._n_for_margins())
        return None if math.isinf(n := max(needed)) else int(n)

    def _n_for_margins(self) -> float:
        aims, level = self.aims, self.alpha / len(self.pairs)
        if behind := self.behind:
            seen = {name: self.pairs[name].largest_difference for name in behind}
            return n_for_some(
                [replace(aims[name].mirrored, largest_loss=seen[name], alpha=level) for name in behind], CHANCE
            )
        is_at_margin = any(above_margin(self.pairs[name], aim.margin) == 0 for name, aim in aims.items())
        return math.inf if is_at_margin else n_for_all([*aims.values()], CHANCE)

    @property
    def aims(self) -> dict[str, Aim]:
        """Test of each metric for no worse."""
        return {
            name: Aim(pair.sums, len(pair.qid), margin, self.largest_loss[name], self.alpha, pair.between)
            for name, margin in (self.margin or {}).items()
            for pair in [self.pairs[name]]
        }

    @cached_property
    def n_least(self) -> dict[str, int]:
        """Smallest number of queries that can show each margin if no query differs; empty without a margin."""
        return {name: aim.n_least for name, aim in self.aims.items() if aim.margin > 0}

    @property
    def smallest_margin(self) -> dict[str, float]:
        """Smallest margin of each metric that these queries can show if no query differs."""
        return {
            name: smallest_margin(pair.sums, self.largest_loss[name], self.alpha) for name, pair in self.pairs.items()
        }
