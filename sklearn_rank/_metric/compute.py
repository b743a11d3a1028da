"""From metrics and queries to values per query: labels are checked and keywords bound first, then curves are filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sklearn_rank._engine.blocks import LazyQueries
from sklearn_rank._engine.few import values_of_few
from sklearn_rank._engine.per_query import KnownLabels, depth_of, fill, fill_by_plan
from sklearn_rank._engine.plan import Curve, Plan, can_be_planned
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.quick import FEW_ROWS, QuickMeans
from sklearn_rank._engine.traced import NotTraced
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._metric.plans import plan_of_few, plan_of_rows
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array


def compute(queries: Queries | LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries; those that differ in their cutoff alone are points of one curve."""
    if isinstance(queries, LazyQueries):
        return _compute_lazily(queries, specs, n_jobs)
    if queries.indptr.item(-1) <= FEW_ROWS:
        plan = plan_of_few(queries, specs)
        values = None if plan is None else values_of_few(queries, specs, plan)
        if values is not None:
            return values
    return BoundMetrics(queries, specs).compute(queries, n_jobs)


class BoundMetrics:
    """Metrics whose keywords are bound to the labels of queries: to be computed on any scores of these."""

    def __init__(self, queries: Queries, specs: Sequence[MetricSpec]) -> None:
        alike: dict[Any, list[MetricSpec]] = {}
        for spec in specs:
            alike.setdefault(spec.curve_key, []).append(spec)
        self.specs, self.curves = specs, {key: _bind(queries, group) for key, group in alike.items()}
        self._queries = queries

    def check_scores(self, queries: Queries) -> None:
        """Refuse scores that one of the metrics does not take."""
        for spec in self.specs:
            spec.check_scores(queries)

    def compute(self, queries: Queries, n_jobs: int | None, known: KnownLabels | None = None) -> list[PerQuery]:
        """Values of each metric; what depends on labels alone is kept in `known`."""
        curves, n_queries = [*self.curves.values()], len(queries.indptr) - 1
        plan = self._plan if can_be_planned(queries) else None
        cutoffs = [curve.cutoffs for curve in curves] if plan is None else plan.cutoffs
        empty = [PerQuery.empty(curve.spec, at, n_queries) for curve, at in zip(curves, cutoffs, strict=True)]
        if plan is None or not fill_by_plan(queries, plan, empty, n_jobs):
            fill(queries, [*zip(empty, [curve.keywords for curve in curves], strict=True)], n_jobs, known)
        values = dict(zip(self.curves, empty, strict=True))
        return [values[spec.curve_key].at(spec) for spec in self.specs]

    @cached_property
    def _plan(self) -> Plan | None:
        """Plan for any scores of the queries that have one."""
        return plan_of_rows(self._queries, [*self.curves.values()])

    def quick_means(self, queries: Queries, known: KnownLabels) -> Callable[[Array], list[float] | None]:
        """Mean of each metric for scores of few rows; None where `compute` has more to do."""
        try:
            of_block = known.setdefault((0, len(queries.indptr) - 1), {})
            means = QuickMeans(queries, [*self.curves.values()], of_block)
        except NotTraced:
            return lambda score: None
        numbers = {key: number for number, key in enumerate(self.curves)}
        places = []
        for spec in self.specs:
            curve = self.curves[spec.curve_key]
            places.append((numbers[spec.curve_key], int(np.searchsorted(curve.cutoffs, spec.depth))))

        def of_metrics(score: Array) -> list[float] | None:
            of_curves = means(score)
            return None if of_curves is None else [of_curves[curve][point] for curve, point in places]

        return of_metrics


def _bind(queries: Queries, group: Sequence[MetricSpec]) -> Curve:
    """Curve of metrics that differ in their cutoff alone."""
    deepest = max(group, key=lambda spec: spec.depth)
    cutoffs = group[0].cutoffs if len(group) == 1 else np.unique(np.concatenate([s.cutoffs for s in group]))
    return Curve(deepest, cutoffs, deepest.bind(queries))


def _compute_lazily(queries: LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    results = [PerQuery.empty(spec, spec.cutoffs, len(queries.n_documents)) for spec in specs]

    def compute_block(first: int, last: int, block: Queries) -> None:
        for result, part in zip(results, compute(block, specs, 1), strict=True):
            result.put(first, last, part)

    queries.for_each(compute_block, depth_of(specs), n_jobs)
    return results
