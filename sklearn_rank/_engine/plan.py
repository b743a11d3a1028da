"""Plan of metrics: the steps that they take, shared where they are alike, on one block of rows after the other.

It is for labels that are grades and for rows that all have a rank, in arrays that are kept. What is rare is left to the
general path.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.bound import BoundOrder
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.queries import Queries, Rows
from sklearn_rank._engine.ranking import N_GRADES, NO_CUTOFF, TIE_POLICIES
from sklearn_rank._engine.sorted_queries import SortedQueries
from sklearn_rank._engine.traced import GRADES, CurveOfSteps, NotTraced, Steps, TracedQueries, operand
from sklearn_rank._engine.values import Out
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index


class Curve(NamedTuple):
    """A metric at some cutoffs, and the keywords of its formula."""

    spec: MetricRequest
    cutoffs: Index
    keywords: Mapping[str, Any]


def can_be_planned(queries: Queries) -> bool:
    """Whether labels are grades, and rows all documents, each of which has a rank."""
    if isinstance(queries, SortedQueries) or queries.grade is None:  # the first were ranked as they were made
        return False
    return queries.unlisted is None and not queries.facts.has_unretrieved


class Plan:
    """Steps of metrics on rows that have any of some grades, and on queries that are not longer than `longest`.

    `cutoffs` are those of each metric that are computed: of those that no list reaches the first one, unless the
    formula reads the cutoff itself. After a call arrays of up to about `most_kept` numbers stay for the next one.

    Raises
    ------
    NotTraced
        If a metric is not simple enough.
    """

    def __init__(
        self, curves: Sequence[Curve], longest: int, grades: Array = GRADES, *, most_kept: float = math.inf
    ) -> None:  # fmt: skip
        self.longest, self.highest, self._grades, self._most_kept = longest, int(grades[-1]), grades, most_kept
        self.depth: dict[str, int] = {}
        self._steps: dict[str, Steps] = {}
        ranks: Index = np.arange(1, longest + 1)
        self._curves: list[tuple[MetricRequest, CurveOfSteps]] = []
        self.cutoffs: list[Index] = []
        with np.errstate(all="ignore"):
            for curve in curves:
                self._add(*curve, ranks)
        self.has_ufuncs = any(steps.has_ufuncs for steps in self._steps.values())
        self._rooms: list[Room] = []

    def _add(self, spec: MetricRequest, cutoffs: Index, keywords: Mapping[str, Any], ranks: Index) -> None:
        metric, ties = spec.metric, spec["ties"]
        if metric.pointwise or not metric.is_built_in or spec["average"] == "micro":
            raise NotTraced
        steps = self._steps.setdefault(ties, Steps())
        self.depth[ties] = max(self.depth.get(ties, 0), spec.depth)
        reached = cutoffs[: int(np.searchsorted(cutoffs, self.longest)) + 1]
        if len(reached) < len(cutoffs):
            with suppress(NotTraced):
                return self._trace(spec, reached, keywords, ranks, steps, all_cutoffs=False)
        return self._trace(spec, cutoffs, keywords, ranks, steps, all_cutoffs=True)

    def _trace(
        self, spec: MetricRequest, cutoffs: Index, keywords: Mapping[str, Any], ranks: Index, steps: Steps, *,
        all_cutoffs: bool,
    ) -> None:  # fmt: skip
        least = spec["min_relevance"]
        queries = TracedQueries(least, cutoffs, ranks, steps, self._grades, all_cutoffs=all_cutoffs)
        curve = steps.curve(spec.metric.formula, keywords, queries)
        if spec.metric.needs_relevant:
            curve = curve._replace(needed=operand(queries.n_relevant)[1])
        self._curves.append((spec, curve))
        self.cutoffs.append(cutoffs)

    def fill(self, rows: Rows, outs: Sequence[Out], n_rows: int = 0, n_queries: int = 0) -> bool:
        """Write the values of each metric for some rows; return False where the general path must say what is wrong.

        `n_rows` and `n_queries` are as many as there are in the largest block of a call, after which to `let_go`.
        Without them this is the only one.
        """
        try:
            room = self._rooms.pop()  # each thread has its own
        except IndexError:
            room = None
        if room is None or room.n_rows < len(rows.grade) or room.n_queries < len(rows.indptr) - 1:
            room = Room(self, n_rows or _rounded(len(rows.grade)), n_queries or _rounded(len(rows.indptr)))
        try:
            return room.fill(rows, outs)
        finally:
            if n_rows or room.n_numbers <= self._most_kept:
                self._rooms.append(room)

    def let_go(self) -> None:
        """Let go of arrays that are too large to stay until the next call.

        Each is taken out before it is looked at, so that no other thread gets it meanwhile.
        """
        kept = []
        with suppress(IndexError):
            while True:
                room = self._rooms.pop()
                if room.n_numbers <= self._most_kept:
                    kept.append(room)
        self._rooms.extend(kept)

    def bind(self, orders: Mapping[str, BlockOrder]) -> list[rank_kernels.BoundRatio]:
        """Quotients of each metric, of steps that are bound to orders."""
        values = {ties: steps.take(orders[ties]) for ties, steps in self._steps.items()}
        ratios = []
        for spec, curve in self._curves:
            otherwise = spec["replace_undefined_by"]
            ratios.append(curve.bind(values[spec["ties"]], 0.0 if math.isnan(otherwise) else otherwise))
        return ratios


def _rounded(n: int) -> int:
    """The next power of two, so that there is room for other numbers of rows."""
    return 1 << (n - 1).bit_length()


class Room:
    """Arrays for the steps of a plan: one call at a time writes to them."""

    def __init__(self, plan: Plan, n_rows: int, n_queries: int) -> None:
        self.n_rows, self.n_queries = n_rows, n_queries
        steps: list[Callable[[], object]] = []
        orders = {
            ties: BlockOrder(n_rows, n_queries, plan.longest, depth, ties, plan.highest, steps)
            for ties, depth in plan.depth.items()
        }
        ratios = plan.bind(orders)
        self._fill = rank_kernels.BoundPlan([order.lists for order in orders.values()], steps, ratios)
        self._has_ufuncs = plan.has_ufuncs
        self.n_numbers = n_rows * (len(steps) + len(orders))

    def fill(self, rows: Rows, outs: Sequence[Out]) -> bool:
        """Write the values of each metric for some rows; return False where the general path must say what is wrong."""
        if not self._has_ufuncs:
            return self._fill(*rows, outs)
        with np.errstate(all="ignore"):  # each metric looks for what is not finite
            return self._fill(*rows, outs)


class BlockOrder(BoundOrder):
    """Rows of one block after the other in the order of their scores."""

    def __init__(
        self, n_rows: int, n_queries: int, longest: int, depth: int, ties: str, highest: int,
        steps: list[Callable[[], object]],
    ) -> None:  # fmt: skip
        self.ties, self._depth, self._longest, self._highest = ties, depth, longest, highest
        grade, room = np.empty(n_rows, dtype=np.uint8), np.empty(rank_kernels.room_for(longest))
        tie_end, ptr = np.empty(n_rows, dtype=np.int64), np.empty(n_queries + 1, dtype=np.int64)
        block = rank_kernels.BoundBlock(depth, TIE_POLICIES[ties], longest, grade, tie_end, ptr, room)
        super().__init__(block, n_rows, n_queries, longest, steps)

    @cached_property
    def ideal(self) -> BoundOrder:
        """The best order."""
        grade, ptr = np.empty(self.n_rows, dtype=np.uint8), np.empty(self.n_queries + 1, dtype=np.int64)
        best = rank_kernels.BoundBest(self.lists, self._highest, grade, ptr)
        self.steps.append(best)
        return BoundOrder(best, self.n_rows, self.n_queries, self._longest, self.steps)

    def count_at_least(self, least: float) -> Array:
        """Rows of each query with a label of at least `least`, shape (n_queries, 1)."""
        return self.of_queries(rank_kernels.BoundCount, 1, math.ceil(min(max(least, 0.0), N_GRADES)))

    def pairs(self) -> Array:
        """Pairs of each query, shape (4, n_queries)."""
        self.lists.read_all_ties()
        out = np.empty((4, self.n_queries))
        self.steps.append(rank_kernels.BoundPairs(self.lists, self._highest, out))
        return out

    def centred_ranks(self, *, of_labels: bool) -> Array:
        """Rank of each item by label or score less the mean rank of the query, equal ones sharing theirs."""
        if not of_labels:
            self.lists.read_all_ties()
        return self.of_items(rank_kernels.BoundCentredRanks, of_labels, self._highest)

    def at_ranks_of_best(self, x: Array) -> Array:
        """Number of each position of the best order, at the same rank of this one, which may end below it."""
        if self._depth == NO_CUTOFF:
            return x
        return self.of_items(rank_kernels.BoundBeside, self.ideal.lists, x)
