"""Plans of metrics: made for the rows at hand, or for any rows like them, and then remembered."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.per_query import fill_by_plan
from sklearn_rank._engine.plan import Curve, Plan, can_be_planned
from sklearn_rank._engine.queries import Facts, Queries
from sklearn_rank._engine.ranking import N_GRADES
from sklearn_rank._engine.traced import NotTraced
from sklearn_rank._engine.values import PerQuery, rooms_for_values
from sklearn_rank._metric.spec import MetricSpec

LONGEST = 2**16
"""Rows of a query up to which metrics are planned, as a plan has tables of its ranks and room for it."""

LONGEST_OF_MANY = 2**20
"""The same where there are `MANY` times as many rows, so that tables and room serve several queries."""

MANY = 4
"""Times the rows of the longest query."""

LONGEST_REMEMBERED = 2**14
"""The same of plans that are remembered with their tables."""

SHORT = 100
"""Rows of a query below which a plan is for as many: there cutoffs beyond them are not rare, and are computed once."""

FEW_ROWS = 2**10
"""Rows up to which one plan is for any grades and queries: what a closer one gains is less than to look for it."""

MOST_PLANS = 64
"""Plans that are remembered."""

MOST_NUMBERS = 2**18
"""Numbers that a remembered plan has room for between two calls."""


class Kind(NamedTuple):
    """Rows that one plan is for: those of queries of no more rows, with any of some grades, a bit each."""

    longest: int
    grades: int


ANY_FEW = Kind(FEW_ROWS, 2**N_GRADES - 1)

_PLANS: dict[tuple[int, ...], tuple[Sequence[MetricSpec], PlannedMetrics | None]] = {}
"""Plans by the kind of rows and the identities of their metrics, which live as long as they do."""


class PlannedMetrics:
    """Metrics as points of curves, and the plan of these.

    Raises
    ------
    NotTraced
        If a metric is not simple enough.
    """

    def __init__(
        self, specs: Sequence[MetricSpec], curves: Mapping[Any, Curve], kind: Kind, *, most_kept: float = math.inf
    ) -> None:  # fmt: skip
        grades = np.array([g for g in range(N_GRADES) if kind.grades >> g & 1], dtype=np.float64)
        self.plan = Plan([*curves.values()], kind.longest, grades, most_kept=most_kept)
        self._curves = [*zip([curve.spec for curve in curves.values()], self.plan.cutoffs, strict=True)]
        places = {key: place for place, key in enumerate(curves)}
        self._points = [(spec, places[spec.curve_key]) for spec in specs]
        self.highest_label = min([spec.highest_label for spec in specs])

    def compute(self, queries: Queries, n_jobs: int | None) -> list[PerQuery] | None:
        """Values of each metric; None where the general path must compute them, or tell what is wrong."""
        values = self.empty(len(queries.indptr) - 1)
        if not fill_by_plan(queries, self.plan, values, n_jobs):
            return None
        return [values[place].at(spec) for spec, place in self._points]

    def empty(self, n_queries: int) -> list[PerQuery]:
        """Room for the values of so many queries."""
        rooms = rooms_for_values(n_queries, [len(cutoffs) for _, cutoffs in self._curves])
        return [
            PerQuery.empty(spec, cutoffs, n_queries, room)
            for (spec, cutoffs), room in zip(self._curves, rooms, strict=True)
        ]


def curves_of(queries: Queries, specs: Sequence[MetricSpec]) -> dict[Any, Curve]:
    """Curves of metrics that differ in their cutoff alone, with their keywords bound to the labels of queries."""
    alike: dict[Any, list[MetricSpec]] = {}
    for spec in specs:
        alike.setdefault(spec.curve_key, []).append(spec)
    return {key: _bind(queries, group) for key, group in alike.items()}


def _bind(queries: Queries, group: Sequence[MetricSpec]) -> Curve:
    deepest = max(group, key=lambda spec: spec.depth)
    cutoffs = group[0].cutoffs if len(group) == 1 else np.unique(np.concatenate([s.cutoffs for s in group]))
    return Curve(deepest, cutoffs, deepest.bind(queries))


def planned(queries: Queries, specs: Sequence[MetricSpec], curves: Mapping[Any, Curve]) -> PlannedMetrics | None:
    """Plan of metrics for queries with grades, and any scores of theirs; None if there is none."""
    if queries.longest > (LONGEST_OF_MANY if len(queries.score) >= MANY * queries.longest else LONGEST):
        return None
    with suppress(NotTraced):
        return PlannedMetrics(specs, curves, Kind(queries.longest, _grades_of(queries)))
    return None


def remembered(queries: Queries, specs: Sequence[MetricSpec]) -> PlannedMetrics | None:
    """Plan for any rows like these, remembered for metrics that are shared; None if there is none for these."""
    if not can_be_planned(queries):
        return None
    kind = ANY_FEW if queries.indptr.item(-1) <= FEW_ROWS else _kind_of(queries)
    if kind.longest > LONGEST_REMEMBERED:
        return None
    metrics = plan_of(specs, kind)
    return None if metrics is None or queries.facts.label_range[1] > metrics.highest_label else metrics


def plan_of(specs: Sequence[MetricSpec], kind: Kind) -> PlannedMetrics | None:
    """Plan for any rows of a kind, remembered for metrics that are shared; None if there is none."""
    key = *kind, *map(id, specs)
    known = _PLANS.get(key)
    if known is None:
        if not all([spec.is_shared for spec in specs]):
            return None
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        known = _PLANS[key] = specs, planned_for_any(specs, kind)
    return known[1]


def _kind_of(queries: Queries) -> Kind:
    """Kind of rows, of which others are."""
    longest = queries.longest
    return Kind(longest if longest < SHORT else 2 ** (longest - 1).bit_length(), _grades_of(queries))


def _grades_of(queries: Queries) -> int:
    assert queries.grade is not None
    return rank_kernels.find_grades(queries.grade, int(queries.facts.label_range[1]))


def planned_for_any(specs: Sequence[MetricSpec], kind: Kind) -> PlannedMetrics | None:
    """Plan of metrics for any rows of a kind; None if there is none."""
    with suppress(NotTraced, ValueError):  # what is wrong depends on the labels, or the general path says it too
        return PlannedMetrics(specs, curves_of(any_rows(kind.longest), specs), kind, most_kept=MOST_NUMBERS)
    return None


def any_rows(longest: int) -> Queries:
    """Queries that keywords are bound to for any others: one of as many rows as there may be."""
    zeros, ends = np.zeros(longest), np.array([0, longest])
    return Queries(zeros, zeros, ends, None, zeros[:1], None, Facts())
