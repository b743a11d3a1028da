"""From checked queries and metrics to values: blocks, shared rankings, undefined queries, averages.

Knows no formula and no user input.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.check import Index, Queries, RowNotBuilt, rows_of
from sklearn_rank._engine.ranked import NO_CUTOFF, AsGiven, InOrder, Ranked, Ranking
from sklearn_rank._utils.threads import for_each, heed, query_blocks

if TYPE_CHECKING:
    from sklearn_rank._metric.metric import MetricSpec

Array = NDArray[np.float64]
Transform = Callable[[Any], Any]
T = TypeVar("T")

FLOOR = 1e-5
"""What a query counts at least in a geometric mean, so that one of value 0 does not decide it: as trec_eval has it."""

HIGHEST = float(np.finfo(np.float64).max)
LEAST = 1e-292
"""Least denominator that is not 0: what is below it is rounded to few digits."""


def refuse_range(function_name: str, found: str) -> None:
    """Say that numbers are too large, or too small, to be computed with."""
    raise ValueError(
        f"{function_name} must be computed from numbers of which no sum or product is beyond the range of a float, "
        f"1e-292 to 1.7e308; scale labels, predictions, gains or replacements. Got {found}."
    )


@dataclass(frozen=True)
class PerQuery:
    """A metric on every query: numerator over denominator, shape (n_queries, n_cutoffs), and where undefined."""

    spec: MetricSpec
    cutoffs: Index
    numerator: Array
    denominator: Array
    undefined: NDArray[np.bool_]

    @classmethod
    def empty(cls, specs: Sequence[MetricSpec], n_queries: int) -> PerQuery:
        """Room for the curve of metrics that differ in their cutoff alone."""
        spec, cutoffs = specs[0], specs[0].cutoffs
        if len(specs) > 1:
            spec = max(specs, key=lambda spec: spec.depth)
            cutoffs = np.unique(np.concatenate([spec.cutoffs for spec in specs]))
        shape = n_queries, len(cutoffs)
        return cls(spec, cutoffs, np.empty(shape), np.empty(shape), np.empty(shape, dtype=bool))

    def fill(self, first: int, last: int, ranking: Ranking, keywords: Mapping[str, Any]) -> None:
        """Compute the queries `first` to `last`."""
        metric, undefined = self.spec.metric, self.undefined[first:last]
        numerator, denominator = self.numerator[first:last], self.denominator[first:last]
        for points, ranked in self._read(ranking):
            numerator[:, points], denominator[:, points] = metric.ratio(ranked, keywords)
        np.equal(denominator, 0, out=undefined)
        if metric.needs_relevant:
            undefined |= ranked.n_relevant == 0
        if not (_within(numerator, -HIGHEST) and _within(denominator, LEAST)):
            self._check_range(numerator, denominator, undefined)
        if math.isnan(self.spec["replace_undefined_by"]):  # left out of means, also of those that are pooled
            numerator[undefined] = denominator[undefined] = 0

    def _check_range(self, numerator: Array, denominator: Array, undefined: NDArray[np.bool_]) -> None:
        """Refuse what is not finite, or was rounded to few digits, where the metric is defined; elsewhere it is 0."""
        lost = ~(np.isfinite(numerator) & np.isfinite(denominator) & (np.abs(denominator) >= LEAST))
        numerator[lost & undefined] = 0
        denominator[lost & undefined] = 0
        if self.spec.metric.finite and (lost := lost & ~undefined).any():
            refuse_range(
                self.spec.metric.function_name, f"{numerator[lost][0]:g} over {denominator[lost][0]:g} for a query"
            )

    def _read(self, ranking: Ranking) -> Iterator[tuple[slice, Ranked]]:
        """Points of the curve, and what the formula reads for them: at once, or of each the lists cut there."""
        least = self.spec["min_relevance"]
        if self.spec.metric.is_built_in:
            yield slice(None), Ranked(ranking, self.cutoffs, least)
            return
        for i, cutoff in enumerate(self.cutoffs.tolist()):
            yield slice(i, i + 1), Ranked(ranking.cut(cutoff), self.cutoffs[i : i + 1], least)

    def at(self, spec: MetricSpec) -> PerQuery:
        """Results of one of the metrics that this is the curve of."""
        if len(self.cutoffs) == len(spec.cutoffs):
            return self
        at = np.searchsorted(self.cutoffs, spec.cutoffs)
        return PerQuery(spec, spec.cutoffs, self.numerator[:, at], self.denominator[:, at], self.undefined[:, at])

    @property
    def meaning(self) -> str:
        """The metric with all its keywords, in words: values of another meaning are not comparable."""
        return self.spec.meaning

    @property
    def average_kind(self) -> str:
        """How its mean over queries is taken."""
        return str(self.spec["average"])

    @property
    def greater_is_better(self) -> bool:
        """Whether the higher value is the better one."""
        return self.spec.metric.greater_is_better

    def values(self) -> Array:
        """Value of each query at each cutoff, undefined queries replaced."""
        return self._ratio(~self.undefined)

    def average(self, weight: Array | None) -> Array:
        """Mean over queries at each cutoff, macro, micro or geometric as the metric's keyword says."""
        return self.sums(weight).average(self.spec, stacklevel=5)

    @np.errstate(over="ignore", invalid="ignore")  # the mean is looked at
    def sums(self, weight: Array | None) -> PartialSums:
        """What the mean is made of."""
        average, defined = self.spec["average"], ~self.undefined

        def total(x: NDArray[Any]) -> NDArray[Any]:
            return _sum(x if weight is None else weight[:, None] * x)

        if average == "micro":
            return PartialSums(total(self.numerator), total(self.denominator), total(defined))
        values = self._ratio(defined)
        if average == "geometric":
            values = np.log(np.maximum(values, FLOOR))
        if math.isnan(self.spec["replace_undefined_by"]):
            counted = total(defined)  # what is not defined is not counted, neither value nor weight
            return PartialSums(total(np.where(defined, values, 0.0)), counted, counted)
        counted = np.full(values.shape[1:], len(values) if weight is None else weight.sum())
        return PartialSums(total(values), counted, counted)

    def _ratio(self, defined: NDArray[np.bool_]) -> Array:
        transform, otherwise = self.spec.metric.transform, self.spec["replace_undefined_by"]
        return _ratio(self.numerator, self.denominator, defined, transform, otherwise)


@dataclass(frozen=True)
class PartialSums:
    """Sums over queries at each cutoff: the mean is a function of them, and those of parts add up to those of all.

    `numerator` over `denominator` is the mean: sums of numerators and denominators for a micro average, else of values,
    for a geometric one of their logarithms, and of weights. It is not defined where no query, or weight, is `counted`.
    """

    numerator: Array
    denominator: Array
    counted: Array

    def __add__(self, other: PartialSums) -> PartialSums:
        """Sums over the queries of both."""
        with np.errstate(over="ignore", invalid="ignore"):  # the mean is looked at
            return PartialSums(
                self.numerator + other.numerator, self.denominator + other.denominator, self.counted + other.counted
            )

    def average(self, spec: MetricSpec, *, stacklevel: int = 2) -> Array:
        """Mean of the metric that they are sums of."""
        otherwise = spec["replace_undefined_by"]
        if math.isnan(otherwise) and not (self.counted > 0).all():
            text = f"{spec.metric.name} is not defined for any query, so its mean is nan."
            warnings.warn(text, UserWarning, stacklevel=stacklevel)
        function_name = spec.metric.function_name if spec.metric.finite else None
        return self.mean(spec["average"], spec.metric.transform, otherwise, function_name)

    def mean(
        self, average: str, transform: Transform | None, otherwise: float, function_name: str | None = None
    ) -> Array:
        """Mean of a kind, for a metric with such a `transform`, `otherwise` where it is pooled and not defined.

        Raises
        ------
        ValueError
            If sums of the metric of the function `function_name` were beyond the range of a float.
        """
        if function_name is not None and not all(
            map(math.isfinite, self.numerator.tolist() + self.denominator.tolist())
        ):
            refuse_range(function_name, "a sum over queries that is not finite")
        if average == "micro":
            return _ratio(self.numerator, self.denominator, self.counted > 0, transform, otherwise)
        mean = self.numerator / np.where(self.counted > 0, self.denominator, np.nan)
        return np.exp(mean) if average == "geometric" else mean


def _within(x: Array, least: float) -> bool:
    """Whether all are numbers from `least` to the highest float; by min() and max() few would take much longer."""
    return bool(least <= x.item(x.argmin()) and x.item(x.argmax()) <= HIGHEST)


def _ratio(
    numerator: Array, denominator: Array, defined: NDArray[np.bool_], transform: Transform | None, otherwise: float
) -> Array:
    """Values where they are defined, and what replaces them elsewhere."""
    out = np.empty(numerator.shape)
    out.fill(otherwise)
    np.divide(numerator, denominator, out=out, where=defined)
    if transform is not None:
        out[defined] = transform(out[defined])
    return out


def _sum(x: NDArray[Any]) -> NDArray[Any]:
    """Sum over queries, of each cutoff by itself, so that a cutoff's sum does not depend on the others."""
    total: NDArray[Any] = np.add.reduce(np.ascontiguousarray(x.T), axis=-1)
    return total


@dataclass(frozen=True)
class LazyQueries:
    """Queries that are made a block at a time, each when it is its turn, and never kept.

    `blocks` and ``make(first, last, depth)`` take the depth to which documents must have a row, None for all documents,
    also those not retrieved. `done` is told how many queries are done with, each time.
    """

    n_documents: Index
    blocks: Callable[[int | None], list[tuple[int, int]]]
    make: Callable[[int, int, int | None], Queries]
    done: Callable[[int], object] = int

    def for_each(self, function: Callable[[int, int, Queries], T], depth: int | None, n_jobs: int | None) -> list[T]:
        """List ``function(first, last, queries)`` for each block."""

        def compute(first: int, last: int) -> T:
            found = []
            with suppress(RowNotBuilt):
                found.append(function(first, last, self.make(first, last, depth)))
            if not found:  # a fault that is to be told of is in no row: it must have one
                found.append(function(first, last, self.make(first, last, None)))
            self.done(last - first)
            return found[0]

        return for_each(compute, self.blocks(depth), n_jobs)


def depth_of(specs: Sequence[MetricSpec]) -> int | None:
    """Depth to which documents must have a row, None for all of them."""
    return None if any(spec.needs_all_documents for spec in specs) else max(spec.depth for spec in specs)


def per_query(queries: Queries | LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    """Compute all metrics on all queries.

    Metrics that rank alike share one sort, and those that differ in their cutoff alone are points of one curve.
    """
    if isinstance(queries, LazyQueries):
        return _of_batches(queries, specs, n_jobs)
    alike: dict[Any, list[MetricSpec]] = {}
    for spec in specs:
        alike.setdefault(spec.curve_key, []).append(spec)
    curves = {name: PerQuery.empty(group, len(queries.indptr) - 1) for name, group in alike.items()}
    plan = [(c, ranking_key(c.spec, queries), c.spec.bind(queries)) for c in curves.values()]
    depth: dict[RankingKey, int] = {}
    for curve, key, _ in plan:
        depth[key] = max(depth.get(key, 0), curve.spec.depth)

    def compute(first: int, last: int) -> None:
        rankings = {key: rank_block(queries, first, last, key, d) for key, d in depth.items()}
        with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is told of by each metric
            for curve, key, keywords in plan:
                heed()
                curve.fill(first, last, rankings[key], keywords)

    for_each(compute, query_blocks(queries.indptr, max(depth.values())), n_jobs)
    return [curves[spec.curve_key].at(spec) for spec in specs]


def _of_batches(batches: LazyQueries, specs: Sequence[MetricSpec], n_jobs: int | None) -> list[PerQuery]:
    results = [PerQuery.empty([spec], len(batches.n_documents)) for spec in specs]

    def compute(first: int, last: int, queries: Queries) -> None:
        for result, part in zip(results, per_query(queries, specs, 1), strict=True):
            result.numerator[first:last] = part.numerator
            result.denominator[first:last] = part.denominator
            result.undefined[first:last] = part.undefined

    batches.for_each(compute, depth_of(specs), n_jobs)
    return results


def tied_across(queries: Queries | LazyQueries, spec: MetricSpec, n_jobs: int | None) -> NDArray[np.bool_]:
    """Whether equal scores stand on both sides of the deepest cutoff, query by query; anywhere, for whole lists."""
    if isinstance(queries, LazyQueries):
        found = queries.for_each(lambda first, last, block: tied_across(block, spec, 1), depth_of([spec]), n_jobs)
        return np.concatenate(found)
    depth = spec.depth
    key = ranking_key(spec, queries)._replace(pointwise=False, ties="average")

    def find(first: int, last: int) -> NDArray[np.bool_]:
        ranking = rank_block(queries, first, last, key, depth)
        if ranking.tie_end is None:
            return np.zeros(last - first, dtype=bool)
        if depth < NO_CUTOFF:  # a list goes on below its cutoff only to the end of a tie block
            return ranking.length > depth
        query = np.repeat(np.arange(last - first), ranking.length)
        tied = ranking.tie_end - np.arange(len(query)) > 1
        return np.bincount(query, weights=tied, minlength=last - first) > 0

    return np.concatenate(for_each(find, query_blocks(queries.indptr, depth), n_jobs))


class RankingKey(NamedTuple):
    """What two metrics must agree on to share a ranking."""

    pointwise: bool
    ties: str
    keep_unretrieved: bool
    unjudged: str | None
    negative: str


def ranking_key(spec: MetricSpec, queries: Queries) -> RankingKey:
    """Ranking that a metric asks for; choices that these data make no difference to are left out."""
    return RankingKey(
        spec.metric.pointwise,
        spec["ties"],
        spec.metric.keeps_unretrieved and queries.has_unretrieved,
        spec["unjudged"] if spec.read(queries).has_unjudged else None,
        spec["negative"] if queries.label_range[0] < 0 else "keep",
    )


def rank_block(queries: Queries, first: int, last: int, key: RankingKey, depth: int) -> Ranking:
    """Ranking of the queries `first` to `last`."""
    queries = queries if key.negative == "keep" else queries.without_negative
    label, score = (rows_of(x, queries.indptr, queries.order, first, last) for x in (queries.label, queries.score))
    indptr = queries.indptr[first : last + 1] - queries.indptr[first]
    unlisted = queries.unlisted
    if unlisted is not None:
        unlisted = unlisted.of_queries(first, last).read_unjudged(key.unjudged)
    as_it_stands = (
        key.ties in ("average", "stable") and key.unjudged is None and not key.pointwise and depth == NO_CUTOFF
    )
    if queries.tie_ends is not None and as_it_stands:
        start, stop = queries.indptr[first], queries.indptr[last]
        begin, end = np.searchsorted(queries.tie_ends, [start, stop], side="right")
        return InOrder(label, score, indptr, queries.tie_ends[begin:end] - start if key.ties == "average" else None)
    score = score.astype(np.float64, copy=False)
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
    return Ranking(
        label, score, indptr, depth=depth, ties=key.ties, keep_unretrieved=key.keep_unretrieved, unlisted=unlisted
    )
