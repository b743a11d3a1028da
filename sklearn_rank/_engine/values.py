"""Values per query, and sums over queries that a mean is made of."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import Ranking
from sklearn_rank._utils.typing import Array, Index

Transform = Callable[[Any], Any]


FLOOR = 1e-5
"""Least value of a query in a geometric mean, as in trec_eval; without it a single 0 would make the mean 0."""


HIGHEST = float(np.finfo(np.float64).max)


LEAST = 1e-292
"""Least denominator that is not 0: what is below it is rounded to few digits."""


def refuse_range(function_name: str, value: str) -> None:
    """Say that numbers are too large, or too small, to be computed with."""
    raise ValueError(
        f"{function_name} must be computed from numbers of which no sum or product is beyond the range of a float, "
        f"1e-292 to 1.7e308; scale labels, predictions, gains or replacements. Got {value}."
    )


@dataclass(frozen=True)
class PerQuery:
    """A metric on every query: numerator over denominator, shape (n_queries, n_cutoffs), and where undefined."""

    spec: MetricRequest
    cutoffs: Index
    numerator: Array
    denominator: Array
    undefined: NDArray[np.bool_]

    @classmethod
    def empty(cls, spec: MetricRequest, cutoffs: Index, n_queries: int) -> PerQuery:
        """Room for a curve, which may have more cutoffs than the metric that asks for it."""
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

    def at(self, spec: MetricRequest) -> PerQuery:
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
        """Kind of its mean over queries: "macro", "micro" or "geometric"."""
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
        """Sums that the mean is computed from."""
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

    def average(self, spec: MetricRequest, *, stacklevel: int = 2) -> Array:
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
