"""From metrics and queries to values per query: labels are checked and keywords bound first, then curves are filled."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from sklearn_rank._engine.per_query import KnownLabels, depth_of, fill
from sklearn_rank._engine.plan import can_be_planned
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._engine.quick import QuickMeans
from sklearn_rank._engine.traced import NotTraced
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._metric.plans import PlannedMetrics, curves_of, planned, remembered
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array


def compute(queries: Queries | LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries; those that differ in their cutoff alone are points of one curve."""
    if isinstance(queries, LazyQueries):
        return _compute_lazily(queries, specs, n_jobs)
    metrics = remembered(queries, specs)
    values = None if metrics is None else metrics.compute(queries, n_jobs)
    return BoundMetrics(queries, specs).compute(queries, n_jobs) if values is None else values


class BoundMetrics:
    """Metrics whose keywords are bound to the labels of queries: to be computed on any scores of these."""

    def __init__(self, queries: Queries, specs: Sequence[MetricSpec]) -> None:
        self.specs, self.curves, self._queries = specs, curves_of(queries, specs), queries

    def check_scores(self, queries: Queries) -> None:
        """Refuse scores that one of the metrics does not take."""
        for spec in self.specs:
            spec.check_scores(queries)

    def compute(self, queries: Queries, n_jobs: int | None, known: KnownLabels | None = None) -> list[PerQuery]:
        """Values of each metric; what depends on labels alone is kept in `known`."""
        metrics = self._planned if can_be_planned(queries) else None
        values = None if metrics is None else metrics.compute(queries, n_jobs)
        return self._in_general(queries, n_jobs, known) if values is None else values

    @cached_property
    def _planned(self) -> PlannedMetrics | None:
        """Plan for any scores of the queries that have one."""
        return planned(self._queries, self.specs, self.curves)

    def _in_general(self, queries: Queries, n_jobs: int | None, known: KnownLabels | None) -> list[PerQuery]:
        n_queries = len(queries.indptr) - 1
        values = {key: PerQuery.empty(of.spec, of.cutoffs, n_queries) for key, of in self.curves.items()}
        keywords = [of.keywords for of in self.curves.values()]
        fill(queries, [*zip(values.values(), keywords, strict=True)], n_jobs, known)
        return [values[spec.curve_key].at(spec) for spec in self.specs]

    def quick_means(self, queries: Queries, known: KnownLabels) -> Callable[[Array], list[float] | None]:
        """Mean of each metric for scores of few rows; None where `compute` has more to do."""
        numbers = {key: number for number, key in enumerate(self.curves)}
        points = []
        for spec in self.specs:
            curve = self.curves[spec.curve_key]
            points.append((numbers[spec.curve_key], int(np.searchsorted(curve.cutoffs, spec.depth))))
        of_block = known.setdefault((0, len(queries.indptr) - 1), {})
        with suppress(NotTraced):
            return QuickMeans(queries, [*self.curves.values()], points, of_block)
        return lambda score: None


def _compute_lazily(queries: LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    results = [PerQuery.empty(spec, spec.cutoffs, len(queries.n_documents)) for spec in specs]

    def compute_block(first: int, last: int, block: Queries) -> None:
        for result, part in zip(results, compute(block, specs, 1), strict=True):
            result.put(first, last, part)

    queries.for_each(compute_block, depth_of(specs), n_jobs)
    return results
