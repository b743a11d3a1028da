"""Means of metrics on few rows, whose labels stay: where a general path takes longer than the work.

Each formula is traced once. After that a call ranks the rows into arrays that are kept, takes the steps of the
formulas, and divides. What is rare is left to the general path.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import isfinite, isnan
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.per_query import RankingKey, labels_of, ranking_key
from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import TIE_POLICIES, Ranking
from sklearn_rank._engine.traced import NotTraced, Steps, TracedScores
from sklearn_rank._engine.values import totals
from sklearn_rank._utils.typing import Array, Index

FEW_ROWS = 2**10
"""Rows up to which the work is less than what the general path does beside it."""


class Curve(NamedTuple):
    """A metric at some cutoffs, and the keywords of its formula."""

    spec: MetricRequest
    cutoffs: Index
    keywords: Mapping[str, Any]


class TracedCurve(NamedTuple):
    """Steps of the formula, the ranking that they read, and how an undefined query is found and replaced."""

    steps: Steps
    key: RankingKey
    n_cutoffs: int
    needed: Array | None
    otherwise: float


class QuickMeans:
    """Means of metrics on the same few rows, which stand by query, for any finite scores.

    Raises
    ------
    NotTraced
        If a metric, or the data, are not simple enough.
    """

    def __init__(self, queries: Queries, curves: Iterable[Curve], known: dict[Any, BlockLabels]) -> None:
        self._queries, self._known = queries, known
        if len(queries.label) > FEW_ROWS or queries.summary.has_unjudged or queries.label.ndim == 2:
            raise NotTraced
        self._n_queries, self._weight = len(queries.indptr) - 1, queries.weight
        self._total = self._n_queries if self._weight is None else float(self._weight.sum())
        self._depth: dict[RankingKey, int] = {}
        self._curves = [self._traced(curve) for curve in curves]
        self._has_ufuncs = any(curve.steps.has_ufuncs for curve in self._curves)
        self._rooms = [self._room()]

    def _traced(self, curve: Curve) -> TracedCurve:
        spec, metric = curve.spec, curve.spec.metric
        rare = metric.pointwise or not metric.is_built_in or metric.transform is not None
        if rare or spec["average"] != "macro" or isnan(spec["replace_undefined_by"]):
            raise NotTraced
        key = ranking_key(spec, self._queries)
        self._depth[key] = max(self._depth.get(key, 0), spec.depth)
        labels = labels_of(self._queries, key, self._known)
        rows = Ranking.as_given(labels.label, np.zeros(len(labels.label)), labels.indptr).sharing(labels)
        rows.depth = spec.depth
        ranked = Ranked(rows, curve.cutoffs, spec["min_relevance"], keeps_results=True)
        steps = Steps(metric.formula, curve.keywords, lambda steps: TracedScores(ranked, curve.cutoffs, steps))
        needed = ranked.n_relevant if metric.needs_relevant else None
        return TracedCurve(steps, key, len(curve.cutoffs), needed, spec["replace_undefined_by"])

    def __call__(self, score: Array) -> list[list[float]] | None:
        """Mean of each curve at its cutoffs; None where the general path has more to say."""
        try:
            room = self._rooms.pop()  # each thread has its own
        except IndexError:
            room = self._room()
        try:
            if not self._has_ufuncs:
                return self._means(score, room)
            with np.errstate(over="ignore", invalid="ignore"):
                return self._means(score, room)
        except NotTraced:
            return None
        finally:
            self._rooms.append(room)

    def _means(self, score: Array, room: Room) -> list[list[float]] | None:
        for ranking in room.rankings:
            ranking.rank(score)
        means = []
        for curve, ranking, out, written, undefined in room.curves:
            numerator, denominator = curve.steps.take(ranking)
            if not rank_kernels.divide(numerator, denominator, curve.needed, curve.otherwise, written, undefined):
                return None
            of_curve = [total / self._total for total in totals(out, self._weight)]
            if not isfinite(sum(of_curve)):
                return None
            means.append(of_curve)
        return means

    def _room(self) -> Room:
        rankings = {
            key: RankRoom(labels_of(self._queries, key, self._known), key.ties, depth)
            for key, depth in self._depth.items()
        }
        curves = [self._room_of(curve, rankings[curve.key]) for curve in self._curves]
        return Room([*rankings.values()], curves)

    def _room_of(self, curve: TracedCurve, ranking: RankRoom) -> CurveRoom:
        shape = self._n_queries, curve.n_cutoffs
        out, undefined = np.empty(shape, order="F"), np.zeros(shape, dtype=np.uint8, order="F")
        return CurveRoom(curve, ranking, out, rank_kernels.table_of(out), rank_kernels.table_of(undefined))


class CurveRoom(NamedTuple):
    """A metric, the ranking that it reads, and its values, shape (n_queries, n_cutoffs).

    Kernels write to a view of these, and to one of which values are undefined.
    """

    curve: TracedCurve
    ranking: RankRoom
    out: Array
    written: Any
    undefined: Any


class Room(NamedTuple):
    """Arrays that one call at a time writes to."""

    rankings: list[RankRoom]
    curves: list[CurveRoom]


class RankRoom:
    """A ranking of the same labels by one score after the other, in arrays that are kept.

    `ptr` and `tie_end` are views for kernels.
    """

    def __init__(self, labels: BlockLabels, ties: str, depth: int) -> None:
        n_rows, self.depth, self._ties = len(labels.label), depth, TIE_POLICIES[ties]
        self._indptr, self._longest = rank_kernels.view_of(labels.indptr), int(np.diff(labels.indptr).max())
        self._label = rank_kernels.view_of(labels.label) if ties in ("worst", "best") else None
        self._order, tie_end = np.empty((2, n_rows), dtype=np.int64)
        self._ptr, room = np.empty(len(labels.indptr), dtype=np.int64), np.empty(rank_kernels.room_for(self._longest))
        self.ptr, self._tie_end = rank_kernels.view_of(self._ptr), rank_kernels.view_of(tie_end)
        self._written = [rank_kernels.room_of(x) for x in (self._order, tie_end, self._ptr, room)]

    def rank(self, score: Array) -> None:
        """Rank the rows by falling score."""
        order, tie_end, ptr, room = self._written
        tied = rank_kernels.rank_queries(
            score, None, self._label, None, self._indptr, self.depth, self._ties, False, self._longest,
            order, tie_end, ptr, None, room,
        )  # fmt: skip
        self.n_positions = n = self._ptr.item(-1)
        self.order = self._order if n == len(self._order) else self._order[:n]
        self.tie_end = self._tie_end if tied else None
