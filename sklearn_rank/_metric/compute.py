"""From metrics and queries to values: labels are checked and keywords bound first, then curves are computed.

A curve is a metric at all of its cutoffs. A plan computes the curves whose formulas can be recorded; the others are
computed formula by formula. Plans of metrics without functions in their keywords serve any rows, and are remembered.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import METRIC
from sklearn_rank._data.look import compute_with, has_another_gain, look, look_at_rows
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.kernels import grades as grade_kernels
from sklearn_rank._engine.plan import CurveRequest, Plan, ProgramPool, can_be_planned, fill
from sklearn_rank._engine.queries import DataSummary, LazyQueries, Queries
from sklearn_rank._engine.ranking import N_GRADES, depth_of
from sklearn_rank._engine.read import read, with_columns
from sklearn_rank._engine.values import Out, PerQuery, arrays_of_values, places_of, simple_mean
from sklearn_rank._metric.adjustment import adjusted_values
from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import ORDERS, MetricSpec, spec_in_order, spec_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array

LEAST_LONGEST = 2**10
"""Length of the longest query that the smallest remembered plan is for."""

LONGEST_REMEMBERED = 2**14
"""Limit of the largest remembered plan: it keeps tables of all ranks."""

MOST_RANKS = 2**20
"""Ranks that all remembered plans are for together, 1,024 of the smallest."""

HIGHEST_GRADES = 1, 4, 7, N_GRADES - 1
"""Highest grades of cached plans: two grades, five, as many as kernels count in one word, and any."""

_REMEMBERED: dict[tuple[int, ...], Remembered] = {}
"""Metrics bound to any rows, by the longest query, the class of grades, and the identities of metrics."""

_PROGRAMS = ProgramPool(8 * 2**20)
"""Idle programs of all remembered plans."""


class Remembered(NamedTuple):
    """Metrics, which are kept so that their identities stay theirs; bound ones, if they can be; their highest grade."""

    specs: Sequence[MetricSpec]
    bound: BoundMetrics | None
    highest: int


def value_of(
    metric: Metric, y_true: Any, y_score: Any, *, qid: Any = None, k: Any = None,
    sample_weight: ArrayLike | None = None, tie_break: ArrayLike | None = None, mask: ArrayLike | None = None,
    n_jobs: int | None = None, **keywords: Any,
) -> Any:  # fmt: skip
    """Mean over queries, or with ``average=None`` the value of each; on the last axis a value for each cutoff."""
    columns = {name: keywords.pop(name) for name in metric.columns if name in keywords}
    spec = spec_of(metric, k, keywords)
    spec._refuse_unread(keywords)
    spec._refuse_empty()
    if tie_break is not None and not metric.defines_ties and spec["ties"] != "stable":
        raise ValueError(f"tie_break is read with ties='stable' only. Got ties={echo(spec['ties'])}.")
    data: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight, "tie_break": tie_break, "mask": mask}
    queries = read(y_true, y_score, n_jobs=n_jobs, keep_float32=True, **data)
    if metric.columns:
        queries = with_columns(queries, y_true, metric.columns, columns)
    at = spec.curve_index
    value = _value(queries, spec)
    look_at_rows(METRIC, queries, {metric.function_name: spec}, y_true=y_true, y_score=y_score)
    if qid is None and mask is None and has_another_gain(metric.function_name, queries, keywords):
        linear = _value(queries, spec_of(metric, k, keywords | {"gain": "linear"}))
        look(METRIC, form=(metric.function_name, queries, value, linear))
    return value.take(at, axis=-1) if at.ndim or value.ndim > 1 else value.item(at)


def _value(queries: Queries, spec: MetricSpec) -> Array:
    """Mean of a metric at its cutoffs, or with ``average=None`` its value for each query."""
    if spec["average"] is None:
        return compute(queries, [spec])[0].values()
    (value,) = compute_means(queries, [spec])
    return value


def compute(queries: Queries | LazyQueries, specs: Sequence[MetricSpec]) -> list[PerQuery]:
    """Compute all metrics on all queries; metrics that differ only in the cutoff share one curve."""
    if isinstance(queries, LazyQueries):
        return _compute_lazily(queries, specs)
    values = metrics.by_plan(queries) if (metrics := _remembered(queries, specs)) else None
    values = bound_metrics(queries, specs).compute(queries) if values is None else values
    if not queries.summary.has_unretrieved or not any(spec.counts_empty for spec in specs):
        return values
    is_empty = ~queries.grouping.reduce(queries.score > -np.inf, np.logical_or)[:, None]
    return [_with_empty_lists(one, is_empty) if one.spec.counts_empty else one for one in values]


def _with_empty_lists(values: PerQuery, is_empty: NDArray[np.bool_]) -> PerQuery:
    """Values of which undefined queries without a retrieved document have the best value."""
    best = values.spec["replace_undefined_by"].best
    return replace(values, numerator=np.where(values.undefined & is_empty, best, values.numerator))


compute_with(compute)


def compute_means(queries: Queries, specs: Sequence[MetricSpec]) -> list[Array]:
    """Mean over queries of all metrics, each at its cutoffs."""
    return (_remembered(queries, specs) or bound_metrics(queries, specs)).means(queries)


def _compute_lazily(queries: LazyQueries, specs: Sequence[MetricSpec]) -> list[PerQuery]:
    results = [PerQuery.empty(spec, queries.grouping.n_queries) for spec in specs]

    def compute_block(first: int, last: int, block: Queries) -> None:
        for result, part in zip(results, compute(block, specs), strict=True):
            result.put(first, last, part)

    queries.for_each(compute_block, depth_of(specs))
    return results


def bound_metrics(
    queries: Queries, specs: Sequence[MetricSpec], pool: ProgramPool | None = None
) -> BoundMetrics | MetricsInOrders:  # fmt: skip
    """Metrics bound to the labels of queries; programs stay in the pool from one call to the next."""
    kind = MetricsInOrders if any([spec.has_other_order for spec in specs]) else BoundMetrics
    return kind.of(queries, specs, pool)


class BoundMetrics:
    """Metrics whose keywords are bound to the labels of queries: to be computed on any scores of these."""

    def __init__(
        self, specs: Sequence[MetricSpec], curves: Mapping[Any, CurveRequest], longest: int,
        grades: Callable[[], Array], pool: ProgramPool | None,
    ) -> None:  # fmt: skip
        self.specs, self.curves, self._longest, self._grades, self._pool = specs, curves, longest, grades, pool

    @classmethod
    def of(cls, queries: Queries, specs: Sequence[MetricSpec], pool: ProgramPool | None) -> BoundMetrics:
        """Metrics bound to queries; programs stay in the pool from one call to the next."""
        return cls(specs, _curves_of(queries, specs), queries.longest, lambda: _grades_of(queries), pool)

    @classmethod
    def reusable(cls, specs: Sequence[MetricSpec], longest: int, highest: int) -> BoundMetrics | None:
        """Metrics for any queries up to this length and grade; None if one depends on the labels."""
        zeros = np.zeros(longest)
        queries = Queries(zeros, Grouping.by_sizes([longest]), None, DataSummary(), score=zeros)
        try:
            metrics = cls(specs, _curves_of(queries, specs), longest, lambda: np.arange(highest + 1.0), _PROGRAMS)
        except ValueError:  # the labels at hand decide
            return None
        return None if metrics._plan.others else metrics

    def check_scores(self, queries: Queries) -> None:
        """Refuse scores that one of the metrics does not take."""
        for spec in self.specs:
            spec._check_scores(queries)

    def compute(self, queries: Queries) -> list[PerQuery]:
        """Values of each metric, by a plan as far as there is one."""
        values = self.by_plan(queries)
        if values is None:
            curves = [*self.curves.values()]
            results = self._results(curves, arrays_for(curves, queries.grouping.n_queries))
            fill(queries, results)
            values = self._points(results)
        return values

    def by_plan(self, queries: Queries) -> list[PerQuery] | None:
        """Values of each metric; None without a plan, or if a formula must raise its own error."""
        if (plan := self._plan_for(queries)) is None:
            return None
        curves, n_planned = [*plan.curves, *plan.others], len(plan.curves)
        outs = arrays_for(curves, queries.grouping.n_queries)
        if n_planned and not plan.run(queries, outs[:n_planned]):
            return None
        results = self._results(curves, outs)
        if plan.others:
            fill(queries, results[n_planned:])
        return self._points(results)

    def means(self, queries: Queries) -> list[Array]:
        """Mean of each metric at its cutoffs; a mean of ratios is taken without an object for each."""
        if self._averages_ratios and (plan := self._plan_for(queries)) is not None and not plan.others:
            outs = arrays_for(plan.curves, queries.grouping.n_queries)
            if plan.run(queries, outs):
                means = [simple_mean(values, queries.weight) for values, _ in outs]
                if None not in means:
                    return [np.array(means[curve])[at] for curve, at in self._places]
        return [values.average(queries.weight) for values in self.compute(queries)]

    @cached_property
    def _averages_ratios(self) -> bool:
        return all(spec.averages_ratios for spec in self.specs)

    @cached_property
    def _places(self) -> list[tuple[int, Any]]:
        """Curve of each metric, and the places of its cutoffs there."""
        numbers, curves = {key: number for number, key in enumerate(self.curves)}, self.curves
        return [(numbers[s.curve_key], places_of(s.cutoffs, curves[s.curve_key].cutoffs)) for s in self.specs]

    def _plan_for(self, queries: Queries) -> Plan | None:
        """The plan for queries, which depends on whether all rows are ranked; None if their labels are no grades."""
        if not can_be_planned(queries):
            return None
        return self._plan_of_retrieved if queries.summary.has_unretrieved else self._plan

    @cached_property
    def _plan(self) -> Plan:
        return Plan([*self.curves.values()], self._longest, self._grades(), self._pool)

    @cached_property
    def _plan_of_retrieved(self) -> Plan:
        return Plan([*self.curves.values()], self._longest, self._grades(), self._pool, all_ranked=False)

    @staticmethod
    def _results(curves: Sequence[CurveRequest], outs: Sequence[Out]) -> list[tuple[PerQuery, Mapping[str, Any]]]:
        """Values of curves, which are written to arrays, and the keywords of their formulas."""
        return [(PerQuery.of_curve(c.spec, c.cutoffs, *out), c.keywords) for c, out in zip(curves, outs, strict=True)]

    def _points(self, results: Sequence[tuple[PerQuery, Any]]) -> list[PerQuery]:
        """Values of each metric, from the values of the curves."""
        values = {result.spec.curve_key: result for result, _ in results}
        return [values[spec.curve_key].at(spec) for spec in self.specs]


class MetricsInOrders:
    """Bound metrics with some in another order than by score, or adjusted for chance."""

    def __init__(self, specs: Sequence[MetricSpec], by_score: BoundMetrics, tied: BoundMetrics) -> None:
        self.specs, self._by_score, self._tied = specs, by_score, tied
        self._known: list[PerQuery] | None = None

    @classmethod
    def of(cls, queries: Queries, specs: Sequence[MetricSpec], pool: ProgramPool | None) -> MetricsInOrders:
        """Metrics bound to queries; for the pool see `BoundMetrics.of`."""
        by_score = [spec.by_score for spec in specs if spec.order is None]
        orders = [[spec.order] if spec.order else [*ORDERS] if spec["adjusted"] else [] for spec in specs]
        tied = [spec_in_order(spec, order) for spec, of_spec in zip(specs, orders, strict=True) for order in of_spec]
        return cls(specs, BoundMetrics.of(queries, by_score, pool), BoundMetrics.of(queries, tied, pool))

    def check_scores(self, queries: Queries) -> None:
        """Refuse scores that one of the metrics does not take."""
        self._by_score.check_scores(queries)

    def compute(self, queries: Queries) -> list[PerQuery]:
        """Values of each metric."""
        by_score = iter(self._by_score.compute(queries) if self._by_score.specs else ())
        tied, values = iter(self._of_ties(queries)), list[PerQuery]()
        for spec in self.specs:
            if spec.order is not None:
                values.append(replace(next(tied), spec=spec))
            elif spec["adjusted"]:
                values.append(adjusted_values(spec, next(by_score), next(tied), next(tied)))
            else:
                values.append(next(by_score))
        return values

    def means(self, queries: Queries) -> list[Array]:
        """Mean of each metric at its cutoffs."""
        return [values.average(queries.weight) for values in self.compute(queries)]

    def _of_ties(self, queries: Queries) -> list[PerQuery]:
        """Values of documents that are all tied, which no score changes as long as each document has a rank."""
        if queries.summary.has_unretrieved:
            return self._tied.compute(queries.all_tied)
        if self._known is None:
            self._known = self._tied.compute(queries.all_tied)
        return self._known


def arrays_for(curves: Sequence[CurveRequest], n_queries: int) -> list[Out]:
    """Arrays for the values of curves, and for whether they are undefined."""
    return arrays_of_values(n_queries, [len(curve.cutoffs) for curve in curves])


def _curves_of(queries: Queries, specs: Sequence[MetricSpec]) -> dict[Any, CurveRequest]:
    """Curves of metrics that differ only in their cutoff, with their keywords bound to the labels of queries."""
    alike: dict[Any, list[MetricSpec]] = {}
    for spec in specs:
        alike.setdefault(spec.curve_key, []).append(spec)
    return {key: _bind(queries, group) for key, group in alike.items()}


def _bind(queries: Queries, group: Sequence[MetricSpec]) -> CurveRequest:
    deepest = max(group, key=lambda spec: spec.depth)
    cutoffs = group[0].cutoffs if len(group) == 1 else distinct_values(np.concatenate([s.cutoffs for s in group]))
    return CurveRequest(deepest, cutoffs, deepest._bind(queries))


def _grades_of(queries: Queries) -> Array:
    """Grades that the labels of queries have."""
    assert queries.grade is not None
    bits = grade_kernels.find_grades(queries.grade, int(queries.summary.label_range[1]))
    return np.array([float(g) for g in range(bits.bit_length()) if bits >> g & 1])


def _remembered(queries: Queries, specs: Sequence[MetricSpec]) -> BoundMetrics | None:
    """Metrics bound to any rows of this kind, cached for shared metrics; None if no metric can be bound."""
    if not can_be_planned(queries) or queries.longest > LONGEST_REMEMBERED:
        return None
    longest, highest = max(LEAST_LONGEST, 1 << (queries.longest - 1).bit_length()), int(queries.summary.label_range[1])
    highest_of_class = HIGHEST_GRADES[bisect_left(HIGHEST_GRADES, highest)]
    key = longest, highest_of_class, *map(id, specs)
    known = _REMEMBERED.get(key)
    if known is None:
        if not all([s.is_shared and not s.has_other_order and highest <= s.highest_label for s in specs]):
            return None
        known_keys = [*_REMEMBERED]
        n_ranks = longest + sum([of_key[0] for of_key in known_keys])
        most = MOST_RANKS if n_ranks <= MOST_RANKS else MOST_RANKS * 3 // 4
        for oldest in known_keys:
            if n_ranks <= most:
                break
            _REMEMBERED.pop(oldest, None)
            n_ranks -= oldest[0]
        highest_of_class = int(min([highest_of_class, *[s.highest_label for s in specs]]))
        bound = BoundMetrics.reusable(specs, longest, highest_of_class)
        known = _REMEMBERED[key] = Remembered(specs, bound, highest_of_class)
    return known.bound if highest <= known.highest else None
