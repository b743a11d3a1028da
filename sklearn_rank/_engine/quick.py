"""Means of metrics on few rows, whose labels stay: where a general path takes longer than the work.

Each formula is traced once. After that a call ranks the rows into arrays that are kept, takes the steps of the
formulas, and divides. What is rare is left to the general path.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.bound import BoundOrder
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.per_query import RankingKey, labels_of, ranking_key
from sklearn_rank._engine.plan import Curve
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import TIE_POLICIES, Ranking
from sklearn_rank._engine.traced import CurveOfSteps, Found, NotTraced, Steps, TracedScores, operand
from sklearn_rank._engine.values import totals
from sklearn_rank._utils.typing import Array

FEW_ROWS = 2**14
"""Rows up to which the steps take less time on float64 labels than a plan of grades and what is done beside it."""

MOST_NUMBERS = 2**18
"""Numbers that the arrays of all steps may hold."""


class TracedCurve(NamedTuple):
    """Steps of the formula, the ranking that they read, and how an undefined query is found and replaced."""

    steps: CurveOfSteps
    key: RankingKey
    n_cutoffs: int
    otherwise: float


class QuickMeans:
    """Means of metrics on the same few rows, which stand by query, for any finite scores.

    `points` are the metrics: the number of a curve, and that of a cutoff on it.

    Raises
    ------
    NotTraced
        If a metric, or the data, are not simple enough.
    """

    def __init__(
        self, queries: Queries, curves: Iterable[Curve], points: Iterable[tuple[int, int]],
        known: dict[Any, BlockLabels],
    ) -> None:  # fmt: skip
        self._queries, self._points, self._known = queries, points, known
        if len(queries.label) > FEW_ROWS or queries.facts.has_unjudged or queries.label.ndim == 2:
            raise NotTraced
        self._n_queries, self._weight = len(queries.indptr) - 1, queries.weight
        self._total = self._n_queries if self._weight is None else float(self._weight.sum())
        self._depth: dict[RankingKey, int] = {}
        self._steps: dict[RankingKey, Steps] = {}
        self._curves = [self._traced(curve) for curve in curves]
        n_steps = sum([len(steps.computations) for steps in self._steps.values()])
        if n_steps * len(queries.label) > MOST_NUMBERS:
            raise NotTraced
        self._has_ufuncs = any(steps.has_ufuncs for steps in self._steps.values())
        self._rooms = [self._room()]

    def _traced(self, curve: Curve) -> TracedCurve:
        spec, metric = curve.spec, curve.spec.metric
        if metric.pointwise or not (metric.is_built_in and spec.averages_ratios):
            raise NotTraced
        key = ranking_key(spec, self._queries)
        self._depth[key] = max(self._depth.get(key, 0), spec.depth)
        labels = labels_of(self._queries, key, self._known)
        rows = Ranking.as_given(labels.label, np.zeros(len(labels.label)), labels.indptr).sharing(labels)
        rows.depth = spec.depth
        ranked = Ranked(rows, curve.cutoffs, spec["min_relevance"], keeps_results=True)
        steps = self._steps.setdefault(key, Steps())
        parts = steps.curve(metric.formula, curve.keywords, TracedScores(ranked, curve.cutoffs, steps))
        if metric.needs_relevant:
            parts = parts._replace(needed=operand(ranked.n_relevant)[1])
        return TracedCurve(parts, key, len(curve.cutoffs), spec["replace_undefined_by"])

    def __call__(self, score: Array) -> list[float] | None:
        """Mean of each metric; None where the general path has more to say."""
        try:
            room = self._rooms.pop()  # each thread has its own
        except IndexError:
            room = self._room()
        try:
            if not self._has_ufuncs:
                return self._means(score, room)
            with np.errstate(all="ignore"):  # each metric looks for what is not finite
                return self._means(score, room)
        finally:
            self._rooms.append(room)

    def _means(self, score: Array, room: Room) -> list[float] | None:
        for rank in room.rankings:
            rank(score)
        for step in room.steps:
            if step() is False:  # of which the formula itself says more
                return None
        means = []
        for divide, out in room.curves:
            if not divide():
                return None
            of_curve = [total / self._total for total in totals(out, self._weight)]
            if not isfinite(sum(of_curve)):
                return None
            means.append(of_curve)
        return [means[curve][point] for curve, point in self._points]

    def _room(self) -> Room:
        rankings = {
            key: RankRoom(labels_of(self._queries, key, self._known), key.ties, depth)
            for key, depth in self._depth.items()
        }
        values = {key: steps.take(rankings[key]) for key, steps in self._steps.items()}
        curves = [self._curve_of(curve, values[curve.key]) for curve in self._curves]
        steps = [step for ranking in rankings.values() for step in ranking.steps]
        return Room([ranking.rank for ranking in rankings.values()], steps, curves)

    def _curve_of(self, curve: TracedCurve, values: Found) -> tuple[Callable[[], bool], Array]:
        """How to divide, and the values that are written then, shape (n_queries, n_cutoffs)."""
        shape = self._n_queries, curve.n_cutoffs
        out, undefined = np.empty(shape, order="F"), np.zeros(shape, dtype=np.uint8, order="F")
        return curve.steps.bind(values, curve.otherwise, out, undefined), out


class Room(NamedTuple):
    """Arrays that one call at a time writes to, by calling what is bound to them in turn."""

    rankings: list[Callable[[Array], None]]
    steps: list[Callable[[], object]]
    curves: list[tuple[Callable[[], bool], Array]]


class RankRoom(BoundOrder):
    """A ranking of the same labels by one score after the other, in arrays that are kept."""

    def __init__(self, labels: BlockLabels, ties: str, depth: int) -> None:
        indptr, n_rows = labels.indptr, len(labels.label)
        longest = rank_kernels.longest(indptr)
        label = labels.label if ties in ("worst", "best") else None
        order, tie_end = np.empty((2, n_rows), dtype=np.int64)
        ptr, room = np.empty(len(indptr), dtype=np.int64), np.empty(rank_kernels.room_for(longest))
        self.rank = rank_kernels.BoundRanking(
            label, indptr, depth, TIE_POLICIES[ties], longest, order, tie_end, ptr, room
        )
        super().__init__(self.rank, n_rows, len(indptr) - 1, longest, [])

    def of_rows(self, values: Array) -> Array:
        """Values of rows, at each position."""
        return self.of_items(rank_kernels.BoundRows, values)
