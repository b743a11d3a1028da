"""Values per query, and the sums over queries that determine their mean."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels.plan import divide
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import Ranking
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank._utils.warning import warn_caller

Transform = Callable[[Any], Any]

Out = tuple[Array, NDArray[np.bool_]]
"""Values of queries at each cutoff, and whether they are undefined, to be written."""


FLOOR = 1e-5
"""Least value of a query in a geometric mean, as in trec_eval; without it a single 0 would make the mean 0."""


ONE = np.broadcast_to(1.0, 1)
"""A read-only 1.0, broadcast to any shape."""


IN_TURN = 8
"""NumPy sums fewer numbers sequentially, so Python's sum has the same bits, and is faster."""


MIN_DENOMINATOR = 1e-292
"""Least positive denominator: smaller ones have few digits."""


def refuse_range(function_name: str, value: str) -> None:
    """Say that numbers are too large, or too small, to be computed with."""
    raise ValueError(
        f"{function_name} overflowed: a sum or product is beyond the range of a float, 1e-292 to 1.7e308. "
        f"Rescale labels, predictions, gains, weights or replacements. Got {value}."
    )


@dataclass(eq=False, repr=False)
class PerQuery:
    """Numerators and denominators of a metric for every query and cutoff.

    Attributes
    ----------
    spec : MetricSpec
        The metric with its keywords.
    cutoffs : ndarray of shape (n_cutoffs,)
        Points of the curve, ascending.
    numerator, denominator : ndarray of shape (n_queries, n_cutoffs)
        For micro averages, which are ratios of their sums. For others, which are means of the ratios, the numerator is
        the ratio already, and the denominator 1.
    undefined : ndarray of bool, shape (n_queries, n_cutoffs)
        Whether the metric is not defined for a query: mostly, where the denominator is 0.
    """

    spec: Any
    cutoffs: Index
    numerator: Array
    denominator: Array
    undefined: NDArray[np.bool_]

    @classmethod
    def of_curve(cls, spec: Any, cutoffs: Index, values: Array, undefined: NDArray[np.bool_]) -> PerQuery:
        """Values that are written to arrays, of a curve that may have more cutoffs than the metric that asks for it."""
        denominator = np.empty_like(values) if spec["average"] == "micro" else _ones(*values.shape)
        return cls(spec, cutoffs, values, denominator, undefined)

    @classmethod
    def empty(cls, spec: Any, n_queries: int) -> PerQuery:
        """Arrays that the values of a metric are to be written to."""
        return cls.of_curve(spec, spec.cutoffs, *arrays_of_values(n_queries, [len(spec.cutoffs)])[0])

    def fill(self, first: int, last: int, ranking: Ranking, keywords: Mapping[str, Any]) -> None:
        """Compute the queries from `first` up to `last`, and write them to the arrays."""
        write = self._write_parts if self.spec["average"] == "micro" else self._write_ratio
        for points, ranked in self._ranked_at(ranking):
            numerator, denominator = self.spec.metric._ratio(ranked, keywords)
            needed = ranked.n_relevant if self.spec.metric.needs_relevant else None
            write((slice(first, last), points), numerator, denominator, needed)

    def put(self, first: int, last: int, part: PerQuery) -> None:
        """Write the queries from `first` up to `last`, computed on their own."""
        self.numerator[first:last], self.undefined[first:last] = part.numerator, part.undefined
        if self.spec["average"] == "micro":
            self.denominator[first:last] = part.denominator

    def _write_ratio(self, at: Any, numerator: Array, denominator: Array, needed: Array | None) -> None:
        if needed is denominator:
            needed = None
        otherwise = self.spec["replace_undefined_by"]
        in_range = divide(
            _table(numerator), _table(denominator), needed, 0.0 if math.isnan(otherwise) else otherwise,
            self.numerator[at], self.undefined[at],
        )  # fmt: skip
        if not in_range:
            self._refuse_lost(_lost(numerator, denominator) & ~self.undefined[at], numerator, denominator)

    def _write_parts(self, at: Any, numerator: Array, denominator: Array, needed: Array | None) -> None:
        self.numerator[at], self.denominator[at] = numerator, denominator
        numerator, denominator, undefined = self.numerator[at], self.denominator[at], self.undefined[at]
        np.equal(denominator, 0, out=undefined)
        if needed is not None:
            undefined |= needed == 0
        lost = _lost(numerator, denominator)
        self._refuse_lost(lost & ~undefined, numerator, denominator)
        if not math.isnan(self.spec["replace_undefined_by"]):
            undefined = lost & undefined
        numerator[undefined] = denominator[undefined] = 0  # with NaN left out of all means, pooled ones too

    def _refuse_lost(self, lost: NDArray[np.bool_], numerator: Array, denominator: Array) -> None:
        """Refuse values that are infinite or lost digits."""
        if self.spec.metric.finite and lost.any():
            first = [np.broadcast_to(part, lost.shape)[lost][0] for part in (numerator, denominator)]
            refuse_range(self.spec.metric.function_name, f"{first[0]:g} over {first[1]:g} for a query")

    def _ranked_at(self, ranking: Ranking) -> Iterator[tuple[slice, Ranked]]:
        """Points of the curve with the queries for the formula; an author's formula gets lists cut at each point."""
        least = self.spec["min_relevance"]
        if self.spec.metric.is_built_in:
            yield slice(None), Ranked(ranking, self.cutoffs, least)
            return
        for i, cutoff in enumerate(self.cutoffs.tolist()):
            yield slice(i, i + 1), Ranked(ranking.cut(cutoff), self.cutoffs[i : i + 1], least)

    def at(self, spec: Any) -> PerQuery:
        """Values of one of the metrics on this curve."""
        if self.cutoffs is spec.cutoffs:
            return self
        at: Any = places_of(spec.cutoffs, self.cutoffs)
        if len(at) == 1:
            at = slice(at[0], at[0] + 1)  # a view
        return PerQuery(spec, spec.cutoffs, self.numerator[:, at], self.denominator[:, at], self.undefined[:, at])

    def take(self, rows: Any, name: str, weight: Array | None) -> PerQuery:
        """Values of the queries at some places; the mean is taken of them as of all."""
        return replace(
            self, numerator=self.numerator[rows], denominator=self.denominator[rows], undefined=self.undefined[rows]
        )

    @property
    def meaning(self) -> str:
        """The metric with all its keywords, in words: only values of one meaning are comparable."""
        return self.spec.meaning

    @property
    def average_kind(self) -> str:
        """Kind of its mean over queries: "macro", "micro" or "geometric"."""
        return str(self.spec["average"])

    @property
    def greater_is_better(self) -> bool:
        """Whether a higher value is better."""
        return self.spec.greater_is_better

    def values(self) -> Array:
        """Value of each query at each cutoff, undefined queries replaced."""
        return np.array(self._values())

    def _values(self) -> Array:
        """The values, which may be those that are kept: not to be written to."""
        transform, otherwise = self.spec.metric.transform, self.spec["replace_undefined_by"]
        if self.spec["average"] == "micro":
            return _ratio(self.numerator, self.denominator, ~self.undefined, transform, otherwise)
        values = self.numerator
        if transform is not None:
            values, defined = values.copy(), ~self.undefined
            values[defined] = transform(values[defined])
        if math.isnan(otherwise) and self.undefined.any():
            values = np.where(self.undefined, np.nan, values)
        return values

    def average(self, weight: Array | None) -> Array:
        """Mean over queries at each cutoff, of the kind that the keyword `average` names."""
        mean = simple_mean(self.numerator, weight) if self.spec.averages_ratios else None
        return self.sums(weight).average(self.spec) if mean is None else np.array(mean)

    @np.errstate(over="ignore", invalid="ignore")  # the mean is checked
    def sums(self, weight: Array | None) -> PartialSums:
        """Sums that the mean is computed from."""
        average = self.spec["average"]

        def total(x: NDArray[Any]) -> NDArray[Any]:
            if weight is None:
                return _sum(x)
            terms = weight[:, None] * x
            if self.spec.metric.finite and _are_lost(terms, x, weight):
                refuse_range(self.spec.metric.function_name, "weighted values that are not 0, all less")
            return _sum(terms)

        if average == "micro":
            return PartialSums(total(self.numerator), total(self.denominator), total(~self.undefined))
        values = self._values()
        if average == "geometric":
            values = np.log(np.maximum(values, FLOOR))
        if math.isnan(self.spec["replace_undefined_by"]) and self.undefined.any():
            counted = total(~self.undefined)  # undefined queries count neither with value nor weight
            return PartialSums(total(np.where(self.undefined, 0.0, values)), counted, counted)
        counted = np.array([len(values) if weight is None else weight.sum()] * values.shape[1], dtype=np.float64)
        return PartialSums(total(values), counted, counted)


@dataclass(frozen=True, eq=False, repr=False)
class PartialSums:
    """Sums over queries at each cutoff. They determine the mean, and sums of parts add up to the sums of the whole.

    Attributes
    ----------
    numerator : ndarray of shape (n_cutoffs,)
        Weighted sum of the numerators (micro), of the values (macro) or of their logarithms (geometric).
    denominator : ndarray of shape (n_cutoffs,)
        Weighted sum of the denominators (micro), else the sum of the weights that count.
    counted : ndarray of shape (n_cutoffs,)
        Sum of the weights that count; the mean is undefined where it is 0. For micro averages undefined queries do
        not count.
    """

    numerator: Array
    denominator: Array
    counted: Array

    def average(self, spec: Any) -> Array:
        """Mean of the metric; warns if it is undefined."""
        metric, otherwise = spec.metric, spec["replace_undefined_by"]
        if math.isnan(otherwise) and not (self.counted > 0).all():
            warn_caller(f"{metric.name} is not defined for any query, so its mean is nan.")
        if metric.finite and not all(map(math.isfinite, self.numerator.tolist() + self.denominator.tolist())):
            refuse_range(metric.function_name, "a sum over queries that is not finite")
        if spec["average"] == "micro":
            lost = (self.counted > 0) & (np.abs(self.denominator) < np.finfo(np.float64).tiny)
            if metric.finite and lost.any():
                pooled = f"{self.numerator[lost][0]:g} over {self.denominator[lost][0]:g}"
                refuse_range(metric.function_name, f"sums over queries, with weights, of {pooled}")
            return _ratio(self.numerator, self.denominator, self.counted > 0, metric.transform, otherwise)
        some = min(self.counted.tolist()) > 0
        mean = self.numerator / (self.denominator if some else np.where(self.counted > 0, self.denominator, np.nan))
        return np.exp(mean) if spec["average"] == "geometric" else mean


def arrays_of_values(n_queries: int, n_cutoffs: Sequence[int]) -> list[Out]:
    """Allocate outputs in Fortran order: values (uninitialized) and `undefined` (all False)."""
    values, undefined = (
        np.empty((n_queries, sum(n_cutoffs)), np.float64, "F"),
        np.zeros((n_queries, sum(n_cutoffs)), np.bool_, "F"),
    )
    if len(n_cutoffs) == 1:
        return [(values, undefined)]
    outs, end = [], 0
    for n in n_cutoffs:
        start, end = end, end + n
        outs.append((values[:, start:end], undefined[:, start:end]))
    return outs


def places_of(cutoffs: Index, computed: Index) -> Index:
    """Indices of cutoffs in `computed`, which contains them."""
    return np.searchsorted(computed, cutoffs)


@functools.lru_cache(maxsize=128)
def _ones(n_queries: int, n_cutoffs: int) -> Array:
    """Denominators of ratios, read only and of no memory, shape (n_queries, n_cutoffs)."""
    return np.ndarray((n_queries, n_cutoffs), buffer=ONE, strides=(0, 0))


def _lost(numerator: Array, denominator: Array) -> NDArray[np.bool_]:
    """Where one is infinite or NaN, or the denominator has few digits."""
    lost: NDArray[np.bool_] = ~(
        np.isfinite(numerator) & np.isfinite(denominator) & (np.abs(denominator) >= MIN_DENOMINATOR)
    )
    return lost


def _are_lost(terms: Array, x: NDArray[Any], weight: Array) -> bool:
    """Whether all terms of a sum have few digits, and not because they are 0."""
    small = np.abs(terms).max(axis=0, initial=0.0) < MIN_DENOMINATOR
    return bool(small.any() and ((x[:, small] != 0) & (weight[:, None] > 0)).any())


def _table(x: Array) -> Array:
    """As float64, with rows and columns: one of each, if it is a number."""
    x = np.asarray(x, dtype=np.float64)
    return x if x.ndim else x.reshape(1, 1)


def _ratio(
    numerator: Array, denominator: Array, defined: NDArray[np.bool_], transform: Transform | None, otherwise: float
) -> Array:
    """Ratio where it is defined, and `otherwise` elsewhere."""
    out = np.empty(numerator.shape)
    out.fill(otherwise)
    np.divide(numerator, denominator, out=out, where=defined)
    if transform is not None:
        out[defined] = transform(out[defined])
    return out


def simple_mean(values: Array, weight: Array | None) -> list[float] | None:
    """Mean over queries at each cutoff, equal to `sums` and `average`; None where these have more to say."""
    total = _totals(values, weight)
    counted = len(values) if weight is None else weight.sum()
    least = MIN_DENOMINATOR if weight is not None else 0
    if not (counted > 0 and all([least <= abs(x) < math.inf for x in total])):
        return None
    return [x / counted for x in total]


def _totals(values: Array, weight: Array | None) -> list[float]:
    """Weighted sum over queries at each cutoff, with the bits of `_sum`, which may not be finite."""
    total: list[float]
    if weight is None and len(values) == 1:
        total = values.tolist()[0]
    elif weight is None and 0 < len(values) < IN_TURN:
        total = [functools.reduce(operator.add, column) for column in values.T.tolist()]
    else:
        with np.errstate(over="ignore", invalid="ignore"):
            total = _sum(values if weight is None else weight[:, None] * values).tolist()
    return total


def _sum(x: NDArray[Any]) -> NDArray[Any]:
    """Sum over queries, column by column, so that the sum at a cutoff does not depend on other cutoffs."""
    total: NDArray[Any] = np.add.reduce(np.ascontiguousarray(x.T), axis=-1)
    return total
