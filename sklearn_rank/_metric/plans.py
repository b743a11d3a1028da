"""Plans of metrics: made for the rows at hand, or for any few rows, and then remembered."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np

from sklearn_rank._engine.few import longest_of_few
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.plan import Curve, Plan, can_be_planned
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.quick import FEW_ROWS
from sklearn_rank._engine.traced import NotTraced
from sklearn_rank._metric.spec import MetricSpec

LONGEST = 2**16
"""Rows of a query up to which metrics are planned, as a plan has tables of its ranks and room for it."""

MOST_PLANS = 64
"""Plans that are remembered."""

_PLANS: dict[tuple[int, ...], tuple[Sequence[MetricSpec], tuple[Plan, float] | None]] = {}
"""Plans by the identities of their metrics, which live as long as they do."""


def plan_of_rows(queries: Queries, curves: Sequence[Curve]) -> Plan | None:
    """Plan of metrics for queries with grades, and any scores of theirs; None if there is none."""
    assert queries.grade is not None
    if queries.longest > LONGEST:
        return None
    highest = int(queries.summary.label_range[1])
    found = rank_kernels.find_grades(queries.grade, highest)
    grades = np.array([g for g in range(highest + 1) if found >> g & 1], dtype=np.float64)
    try:
        return Plan(curves, queries.longest, grades)
    except NotTraced:
        return None


def plan_of_few(queries: Queries, specs: Sequence[MetricSpec]) -> Plan | None:
    """Plan of metrics for any few rows, remembered for metrics that are shared; None if there is none for these."""
    if not can_be_planned(queries):
        return None
    key = tuple(map(id, specs))
    known = _PLANS.get(key)
    if known is None:
        if not all([spec.is_shared for spec in specs]):
            return None
        if len(_PLANS) >= MOST_PLANS:
            _PLANS.clear()
        known = _PLANS[key] = specs, _plan_any_few(specs)
    plan = known[1]
    return None if plan is None or queries.summary.label_range[1] > plan[1] else plan[0]


def _plan_any_few(specs: Sequence[MetricSpec]) -> tuple[Plan, float] | None:
    """Plan for any few rows, and the highest grade that it is for."""
    rows = longest_of_few()
    with suppress(NotTraced, ValueError):  # what is wrong depends on the labels, or the general path says it too
        plan = Plan([Curve(spec, spec.cutoffs, spec.bind(rows)) for spec in specs], FEW_ROWS)
        return plan, min([spec.highest_label for spec in specs])
    return None
