"""From checked queries and metrics to values: blocks, shared rankings, undefined queries, averages.

Knows no formula and no user input.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._check import NoSuchRow, Queries
from sklearn_rank._ranked import FULL, AsGiven, InOrder, Ranked, Ranking
from sklearn_rank._threads import for_each, query_blocks

if TYPE_CHECKING:
    from sklearn_rank._metric import MetricSpec

Array = NDArray[np.float64]
T = TypeVar("T")

FLOOR = 1e-5
"""What a query counts at least in a geometric mean, so that one of value 0 does not decide it: as trec_eval has it."""


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
        return self._ratio(self.numerator, self.denominator, ~self.undefined)

    def average(self, weight: Array | None) -> Array:
        """Mean over queries at each cutoff, macro, micro or geometric as the metric's keyword says."""
        if weight is None:
            weight = np.ones(len(self.numerator))
        weight = weight[:, None]
        defined = _sum(weight * ~self.undefined) > 0
        replacement = float(self.spec["replace_undefined_by"])
        if np.isnan(replacement) and not defined.all():
            name = self.spec.metric.name
            warnings.warn(f"{name} is not defined for any query, so its mean is nan.", UserWarning, stacklevel=4)
        if self.spec["average"] == "micro":
            return self._ratio(_sum(weight * self.numerator), _sum(weight * self.denominator), defined)
        values, geometric = self.values(), self.spec["average"] == "geometric"
        if geometric:
            values = np.log(np.maximum(values, FLOOR))
        if np.isnan(replacement):  # such queries are left out, and so are their weights
            values, weight = np.where(self.undefined, 0.0, values), weight * ~self.undefined
        total, weights = _sum(weight * values), _sum(np.broadcast_to(weight, values.shape))
        mean = np.divide(total, weights, out=np.full(len(total), np.nan), where=weights > 0)
        return np.exp(mean) if geometric else mean

    def _ratio(self, numerator: Array, denominator: Array, defined: NDArray[np.bool_]) -> Array:
        out = np.full(numerator.shape, float(self.spec["replace_undefined_by"]))
        np.divide(numerator, denominator, out=out, where=defined)
        if self.spec.metric.link is not None:
            out[defined] = self.spec.metric.link(out[defined])
        return out


def _sum(x: Array) -> Array:
    """Sum over queries, of each cutoff by itself, so that a cutoff's sum does not depend on the others."""
    return np.asarray(np.ascontiguousarray(x.T).sum(axis=-1))


@dataclass(frozen=True)
class Batches:
    """Queries that are made a block at a time, each when it is its turn, and never kept.

    `blocks` and ``make(first, last, depth)`` take the depth to which documents must have a row, None for all documents,
    also those not retrieved. `done` is told how many queries are done with, each time.
    """

    n_queries: int
    blocks: Callable[[int | None], list[tuple[int, int]]]
    make: Callable[[int, int, int | None], Queries]
    done: Callable[[int], object] = int

    def for_each(self, function: Callable[[int, int, Queries], T], depth: int | None, n_jobs: int | None) -> list[T]:
        """List ``function(first, last, queries)`` for each block."""

        def compute(first: int, last: int) -> T:
            found = []
            with suppress(NoSuchRow):
                found.append(function(first, last, self.make(first, last, depth)))
            if not found:  # a fault that is to be told of is in no row: it must have one
                found.append(function(first, last, self.make(first, last, None)))
            self.done(last - first)
            return found[0]

        return for_each(compute, self.blocks(depth), n_jobs)


def depth_of(specs: Sequence[MetricSpec]) -> int | None:
    """Depth to which documents must have a row, None for all of them."""
    return None if any(spec.needs_all for spec in specs) else max(int(spec.cutoffs[-1]) for spec in specs)


def per_query(queries: Queries | Batches, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries; metrics that rank alike share one sort."""
    if isinstance(queries, Batches):
        return _of_batches(queries, specs, n_jobs)
    depth: dict[RankingKey, int] = {}
    for spec in specs:
        key = ranking_key(spec, queries)
        depth[key] = max(depth.get(key, 0), int(spec.cutoffs[-1]))
    keyword_values = [spec.resolve(queries) for spec in specs]
    results = [PerQuery.empty(spec, len(queries.indptr) - 1) for spec in specs]

    def compute(first: int, last: int) -> None:
        rankings = {key: rank_block(queries, first, last, key, d) for key, d in depth.items()}
        for spec, keywords, result in zip(specs, keyword_values, results, strict=True):
            ranked = Ranked(rankings[ranking_key(spec, queries)], spec.cutoffs, spec["min_relevance"])
            result.numerator[first:last], result.denominator[first:last] = spec.curve(ranked, keywords)
            undefined = result.denominator[first:last] == 0
            if spec.metric.needs_relevant:
                undefined |= ranked.n_relevant == 0
            result.undefined[first:last] = undefined

    for_each(compute, query_blocks(queries.indptr), n_jobs)
    return results


def _of_batches(batches: Batches, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    results = [PerQuery.empty(spec, batches.n_queries) for spec in specs]

    def compute(first: int, last: int, queries: Queries) -> None:
        for result, part in zip(results, per_query(queries, specs, 1), strict=True):
            result.numerator[first:last] = part.numerator
            result.denominator[first:last] = part.denominator
            result.undefined[first:last] = part.undefined

    batches.for_each(compute, depth_of(specs), n_jobs)
    return results


def tied_across(queries: Queries | Batches, spec: MetricSpec, n_jobs: int | None) -> NDArray[np.bool_]:
    """Whether equal scores stand on both sides of the deepest cutoff, query by query; anywhere, for whole lists."""
    if isinstance(queries, Batches):
        found = queries.for_each(lambda first, last, block: tied_across(block, spec, 1), depth_of([spec]), n_jobs)
        return np.concatenate(found)
    depth = int(spec.cutoffs[-1])
    key = ranking_key(spec, queries)._replace(pointwise=False, ties="average")

    def find(first: int, last: int) -> NDArray[np.bool_]:
        ranking = rank_block(queries, first, last, key, depth)
        if ranking.tie_end is None:
            return np.zeros(last - first, dtype=bool)
        if depth < FULL:  # a list goes on below its cutoff only to the end of a tie block
            return ranking.length > depth
        query = np.repeat(np.arange(last - first), ranking.length)
        tied = ranking.tie_end - np.arange(len(query)) > 1
        return np.bincount(query, weights=tied, minlength=last - first) > 0

    return np.concatenate(for_each(find, query_blocks(queries.indptr), n_jobs))


class RankingKey(NamedTuple):
    """What two metrics must agree on to share a ranking."""

    pointwise: bool
    ties: str
    keep_unretrieved: bool
    unjudged: str | None


def ranking_key(spec: MetricSpec, queries: Queries) -> RankingKey:
    """Ranking that a metric asks for; choices that these data make no difference to are left out."""
    return RankingKey(
        spec.metric.pointwise,
        spec["ties"],
        spec.metric.keeps_unretrieved and queries.has_unretrieved,
        spec["unjudged"] if queries.has_unjudged else None,
    )


def rank_block(queries: Queries, first: int, last: int, key: RankingKey, depth: int) -> Ranking:
    """Ranking of the queries `first` to `last`."""
    start, stop = queries.indptr[first], queries.indptr[last]
    label, score = queries.label[start:stop], queries.score[start:stop]
    indptr = queries.indptr[first : last + 1] - start
    unlisted = queries.unlisted
    if unlisted is not None:
        unlisted = unlisted.of_queries(first, last).read_unjudged(key.unjudged)
    if key.unjudged == "nonrelevant":
        label = np.nan_to_num(label)
    elif key.unjudged == "drop":
        missing = np.isnan(label)
        judged = ~(missing if label.ndim == 1 else missing.all(axis=1))
        label, score = label[judged], score[judged]
        if label.ndim == 2:  # judged for another subtopic
            label = np.nan_to_num(label)
        indptr = np.append(0, np.cumsum(judged))[indptr]
    if key.pointwise:
        return AsGiven(label, score, indptr)
    if queries.tie_ends is not None and key.ties in ("average", "stable") and key.unjudged != "drop" and depth == FULL:
        ends = queries.tie_ends[np.searchsorted(queries.tie_ends, start, "right") :] - start
        ends = ends[: np.searchsorted(ends, stop - start, "right")]
        return InOrder(label, score, indptr, ends if key.ties == "average" else None)
    return Ranking(
        label, score, indptr, depth=depth, ties=key.ties, keep_unretrieved=key.keep_unretrieved, unlisted=unlisted
    )
