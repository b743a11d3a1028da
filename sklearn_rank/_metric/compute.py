"""From metrics and queries to values per query: labels are checked and keywords bound first, then curves are filled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_rank._engine.blocks import LazyQueries
from sklearn_rank._engine.per_query import depth_of, fill
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._metric.spec import MetricSpec


def compute(queries: Queries | LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries; those that differ in their cutoff alone are points of one curve."""
    if isinstance(queries, LazyQueries):
        return _compute_lazily(queries, specs, n_jobs)
    alike: dict[Any, list[MetricSpec]] = {}
    for spec in specs:
        alike.setdefault(spec.curve_key, []).append(spec)
    curves: dict[Any, PerQuery] = {}
    bound = []
    for key, group in alike.items():
        deepest = max(group, key=lambda spec: spec.depth)
        cutoffs = group[0].cutoffs if len(group) == 1 else np.unique(np.concatenate([s.cutoffs for s in group]))
        curves[key] = PerQuery.empty(deepest, cutoffs, len(queries.indptr) - 1)
        bound.append((curves[key], deepest.bind(queries)))
    fill(queries, bound, n_jobs)
    return [curves[spec.curve_key].at(spec) for spec in specs]


def _compute_lazily(queries: LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    results = [PerQuery.empty(spec, spec.cutoffs, len(queries.n_documents)) for spec in specs]

    def compute_block(first: int, last: int, block: Queries) -> None:
        for result, part in zip(results, compute(block, specs, 1), strict=True):
            result.put(first, last, part)

    queries.for_each(compute_block, depth_of(specs), n_jobs)
    return results
