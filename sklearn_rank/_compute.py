"""From checked queries and metrics to values: blocks, shared rankings, undefined queries, averages.

Knows no formula and no user input.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._check import Queries
from sklearn_rank._ranked import FULL, AsGiven, Ranked, Ranking
from sklearn_rank._threads import for_each, query_blocks

if TYPE_CHECKING:
    from sklearn_rank._metric import MetricSpec

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PerQuery:
    """A metric on every query: numerator over denominator, shape (n_queries, n_cutoffs), and where undefined."""

    spec: MetricSpec
    numerator: Array
    denominator: Array
    undefined: NDArray[np.bool_]

    @classmethod
    def empty(cls, spec: MetricSpec, n_queries: int) -> PerQuery:
        """Room for the results of `spec`."""
        shape = n_queries, len(spec.cutoffs)
        return cls(spec, np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool))

    def values(self) -> Array:
        """Value of each query at each cutoff, undefined queries replaced."""
        out = np.full(self.numerator.shape, float(self.spec["replace_undefined_by"]))
        np.divide(self.numerator, self.denominator, out=out, where=~self.undefined)
        if self.spec.metric.link is not None:
            out[~self.undefined] = self.spec.metric.link(out[~self.undefined])
        return out

    def average(self, weight: Array | None) -> Array:
        """Mean over queries at each cutoff, macro or micro as the metric's keyword says."""
        if weight is None:
            weight = np.ones(len(self.numerator))
        replacement = float(self.spec["replace_undefined_by"])
        if self.spec["average"] == "micro":
            top, bottom = weight @ self.numerator, weight @ self.denominator
            mean = np.divide(top, bottom, out=np.full_like(top, replacement), where=bottom != 0)
            return mean if self.spec.metric.link is None else self.spec.metric.link(mean)
        values, weights = self.values(), np.broadcast_to(weight[:, None], self.numerator.shape)
        if np.isnan(replacement):
            values, weights = np.where(self.undefined, 0.0, values), np.where(self.undefined, 0.0, weights)
        top, bottom = (values * weights).sum(axis=0), weights.sum(axis=0)
        if not bottom.all():
            warnings.warn(
                f"{self.spec.metric.name} is not defined for any query, so its mean is nan.", UserWarning, stacklevel=4
            )
        return np.divide(top, bottom, out=np.full_like(top, np.nan), where=bottom != 0)


def per_query(queries: Queries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries; metrics that rank alike share one sort."""
    depth: dict[tuple[object, ...], int] = {}
    for spec in specs:
        key = ranking_key(spec, queries)
        depth[key] = max(depth.get(key, 0), int(spec.cutoffs[-1]))
    keyword_values = [spec.resolve(queries) for spec in specs]
    results = [PerQuery.empty(spec, len(queries.indptr) - 1) for spec in specs]

    def compute(first: int, last: int) -> None:
        rankings = {key: rank_block(queries, first, last, key, d) for key, d in depth.items()}
        for spec, keywords, result in zip(specs, keyword_values, results, strict=True):
            ranked = Ranked(rankings[ranking_key(spec, queries)], spec.cutoffs, spec["min_relevance"])
            found = spec.metric.formula(ranked, **keywords)
            numerator, denominator = found if isinstance(found, tuple) else (found, 1.0)
            result.numerator[first:last] = numerator
            result.denominator[first:last] = denominator
            undefined = result.denominator[first:last] == 0
            if spec.metric.needs_relevant:
                undefined |= ranked.n_relevant == 0
            result.undefined[first:last] = undefined

    for_each(compute, query_blocks(queries.indptr), n_jobs)
    return results


def ranking_key(spec: MetricSpec, queries: Queries) -> tuple[object, ...]:
    """What two metrics must agree on to share a ranking."""
    return (
        spec.metric.pointwise,
        spec["ties"],
        spec.metric.keeps_unretrieved and queries.has_unretrieved,
        spec["unjudged"] if queries.has_unjudged else None,
    )


def rank_block(queries: Queries, first: int, last: int, key: tuple[object, ...], depth: int) -> Ranking:
    """Ranking of the queries `first` to `last`."""
    pointwise, ties, keep_unretrieved, unjudged = key
    start, stop = queries.indptr[first], queries.indptr[last]
    label, score = queries.label[start:stop], queries.score[start:stop]
    indptr = queries.indptr[first : last + 1] - start
    if unjudged == "nonrelevant":
        label = np.nan_to_num(label)
    elif unjudged == "drop":
        judged = ~np.isnan(label)
        label, score = label[judged], score[judged]
        indptr = np.append(0, np.cumsum(judged))[indptr]
    if pointwise:
        return AsGiven(label, score, indptr)
    return Ranking(
        label, score, indptr, depth=min(depth, FULL), ties=str(ties), keep_unretrieved=bool(keep_unretrieved)
    )
