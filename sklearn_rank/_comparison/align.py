"""Aligned values of several systems, from results, arrays or pandas Series: which metric, which queries."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.judged import mean_shares
from sklearn_rank._data.look import Finding, findings_in, look
from sklearn_rank._data.nothing import Nothing, ValuesOfSystem, nothing_in
from sklearn_rank._engine.grouping import number_of_rows, number_together
from sklearn_rank._estimates.arguments import numbers
from sklearn_rank._estimates.clusters import check_clusters, refuse_one_cluster, refuse_weight
from sklearn_rank._estimates.runs import Between, RunMeans, between_runs_of, refuse_runs, spread_of
from sklearn_rank._estimates.samples import counted, scaled, some
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.alignment import about_data, refuse_other_data, with_one_meaning
from sklearn_rank._evaluation.clusters import clusters_of_queries, joined_by_query, named_queries, weights_of_queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.choices import QueryCounts
from sklearn_rank._metric.key_signs import other_spelling
from sklearn_rank._metric.names import direction_of
from sklearn_rank._metric.value_bounds import UNBOUNDED, bounds_of
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array, Index


def refuse_values(results: Mapping[str, Any], function_name: str) -> None:
    """Refuse values of a function that needs results."""
    for name, result in results.items():
        if not isinstance(result, Evaluation):
            raise TypeError(
                f"{function_name} takes results of evaluate. Wrap values computed elsewhere: "
                f"Evaluation.from_values(qid, {{'ndcg@10': values}}). Got {type(result).__name__} for {echo(name)}."
            )


@dataclass(frozen=True)
class SystemValues:
    """Values of one system; `qid` is None if queries are matched by position."""

    values: Array
    qid: NDArray[Any] | None
    metric: str | None
    meaning: Any
    greater_is_better: bool
    label_fingerprints: NDArray[np.uint32] | None = None
    column_fingerprints: NDArray[np.uint32] | None = None
    clusters: NDArray[Any] | None = None
    weight: Array | None = None
    is_binary: bool = False
    judged: Array | None = None
    judges_both: Callable[[], bool] = bool
    settled: NDArray[np.bool_] | None = None
    tells: NDArray[np.bool_] | None = None
    counts: QueryCounts | None = None
    run_means: Sequence[float] = ()
    run_values: Array | None = None
    mean: Callable[[], float] = float
    n_in_mean: int = 0


@dataclass(frozen=True)
class Aligned:
    """Values of several systems after alignment, with the number of queries left out and values filled in.

    `cluster`: number of each query's cluster; None if queries are independent. `qid`: ids of paired queries; None if
    they are matched by position. `weight`: relative to the highest; None if all are equal. `meaning`: the metric with
    its keywords, if known. `judged`: mean share of judged documents of each system, if known. `findings`: a system with
    far fewer judged documents, or the same object twice. `settled`: queries whose judgments fix the value for every
    system, if known; `counts` counts them. `nothing`: reason why no query can tell the systems apart, if known.
    `run_means`: mean of each run of systems with several runs. `run_values`: their values, of shape (n_queries,
    n_runs), if known. `means`: means of results all of whose queries count. `about_data`: notes on lists of other
    lengths, and on unknown data.
    """

    values: list[Array]
    metric: str | None
    greater_is_better: bool
    n_left_out: int
    n_filled: int
    cluster: Index | None
    qid: NDArray[Any] | None
    weight: Array | None
    is_binary: bool
    meaning: str | None
    judged: dict[str, float]
    findings: tuple[Finding, ...]
    settled: NDArray[np.bool_] | None = None
    counts: QueryCounts | None = None
    nothing: Nothing | None = None
    run_means: RunMeans = field(default_factory=dict)
    run_values: Mapping[str, Array] = field(default_factory=dict)
    means: Mapping[str, float] = field(default_factory=dict)
    about_data: tuple[str, ...] = ()

    def between(self, systems: Sequence[str], at: Any = slice(None), weight: Array | None = None) -> Between:
        """Variance between runs of the mean of a system or the difference of two, on some queries."""
        cluster, weight = some(self.cluster, at), some(self.weight, at) if weight is None else weight
        runs = ((some(self.run_values.get(name), at), self.run_means.get(name, ())) for name in systems)
        return between_runs_of([spread_of(*of_system, cluster, weight) for of_system in runs])

    def means_of(self, systems: Sequence[str], n_queries: int) -> tuple[float, ...] | None:
        """Means of the results of systems, if all their queries count and are `n_queries`."""
        is_known = n_queries == len(self.values[0]) and all(name in self.means for name in systems)
        return tuple(self.means[name] for name in systems) if is_known else None

    @cached_property
    def bounds(self) -> tuple[float, float]:
        """Lowest and highest value of the metric; infinite if unknown, or if a value is outside."""
        low, high = bounds_of(self.metric or "", self.meaning or "")
        within = all(x.min() >= low and x.max() <= high for x in self.values)
        return (float(low), float(high)) if within else UNBOUNDED

    @property
    def largest_difference(self) -> float:
        """Largest difference of two values of the metric; infinite if the bounds are unknown."""
        low, high = self.bounds
        return high - low


class _Bounded(NamedTuple):
    """Lowest and highest value of a metric, infinite if unknown, and its direction."""

    metric: str | None
    low: float
    high: float
    greater_is_better: bool

    @property
    def best(self) -> float:
        """Best value."""
        return self.high if self.greater_is_better else self.low

    @property
    def worst(self) -> float:
        """Worst value."""
        return self.low if self.greater_is_better else self.high


class _SameQueries(NamedTuple):
    """Values of shape (n_systems, n_queries), ids, each system's positions in them, and number of filled values."""

    table: Array
    ids: NDArray[Any] | None
    positions: Sequence[Any]
    n_filled: int = 0


def align(
    results: Mapping[str, Any], metric: str | None, options: ComparisonOptions, function_name: str,
    clusters: Any = None, weight: Any = None, settled_as: float | None = None,
) -> Aligned:  # fmt: skip
    """Defined values of each system; for a paired test, of the same queries in the same order."""
    # `settled_as` is the value of queries that judgments fix; NaN leaves them out, None keeps the values of results.
    results = joined_runs(results)
    read = read_values(results, metric, function_name)
    refuse_runs(function_name, options.test, [n for n, one in zip(results, read, strict=True) if one.run_means])
    first, n_filled, cluster, qid, weights, runs = read[0], 0, None, None, None, dict[str, Array]()
    replaced, settled, nothing = None, None, _nothing(read)
    counts = first.counts if options.paired else _counts_of_all(read)
    for given in (clusters, *(one.clusters for one in read)):
        check_clusters(function_name, options.test, given)
    for own in (one.weight for one in read):
        refuse_weight(function_name, options.test, own)
    better = options.greater_is_better
    if better is None:
        better = _direction(results) if first.metric is None else first.greater_is_better
    if options.paired:
        metric_name = first.metric or next(iter(_names_of_series(results)), None)
        bounds = bounds_of(metric_name or "", first.meaning or metric_name or "")
        bounded = _Bounded(metric_name, *bounds, better)
        _check_missing(bounded, options.missing)
        same = _same_queries(read, list(results), bounded, options.missing, function_name)
        where = (same, list(results), function_name)
        cluster = _of_queries("clusters", "clusters", clusters, [one.clusters for one in read], *where)
        weights = _of_queries("weight", "weights", weight, [one.weight for one in read], *where)
        settled = _settled(read, same)
        if settled is not None:
            n_settled = int(settled.sum())
            if counts is None or counts.n_settled != n_settled or counts.n_queries != len(settled):
                counts = QueryCounts(len(settled), n_settled, n_settled, ties=counts.ties if counts else "")
            if settled_as is not None and nothing is None:
                same.table[:, settled] = settled_as
                counts = counts._replace(n_undefined=n_settled, counts_as=settled_as)
        elif settled_as is not None and counts is not None:
            counts = counts._replace(n_settled=None)
        defined = counted(same.table.sum(axis=0), weights)
        replaced = settled if settled_as is not None and nothing is None else None
        runs = _values_of_runs(results, read, same, replaced, defined)
        n_filled, n_left_out, values = same.n_filled, int((~defined).sum()), list(same.table[:, defined])
        cluster, weights, qid = some(cluster, defined), some(weights, defined), some(same.ids, defined)
        settled = some(settled, defined)
        refuse_weight(function_name, options.test, weights)
    else:
        _refuse_weight_by_position(weight, options, function_name)
        values = [one.values[~np.isnan(one.values)] for one in read]
        n_left_out = sum(map(len, (one.values for one in read))) - sum(map(len, values))
    # The mean of a result is kept to the last bit where the same queries count.
    is_replaced = replaced is not None and replaced.any() and settled_as == settled_as
    of_systems = zip(results, read, values, strict=True)
    kept = {name: one for name, one, x in of_systems if one.n_in_mean == len(x) and weight is None}
    means = {} if n_filled or is_replaced else {name: one.mean() for name, one in kept.items()}
    _refuse_few(values, n_left_out, cluster, function_name)
    return Aligned(
        values, first.metric, better, n_left_out, n_filled, cluster, qid, scaled(weights),
        all(one.is_binary for one in read), first.meaning, *_judged(results, read), settled, counts, nothing,
        {name: one.run_means for name, one in zip(results, read, strict=True) if one.run_means}, runs, means,
        _about_data(results, first.metric, same if options.paired else None),
    )  # fmt: skip


def _refuse_few(values: Sequence[Array], n_left_out: int, cluster: Index | None, function_name: str) -> None:
    if min(map(len, values)) < 2:
        raise ValueError(
            f"{function_name} needs two queries or more with a defined value. Got {min(map(len, values))}, "
            f"after {n_left_out} undefined ones, or ones of weight 0, were left out."
        )
    if cluster is not None:
        refuse_one_cluster(function_name, cluster)


def _judged(results: Mapping[str, Any], read: list[SystemValues]) -> tuple[dict[str, float], tuple[Finding, ...]]:
    """Mean judged share of each system, and findings on the systems."""
    shares = {name: one.judged for name, one in zip(results, read, strict=True) if one.judged is not None}
    metric, findings = read[0].metric, tuple(findings_in(models=(results,)))
    if metric is not None and 1 < len(shares) == len(read) and all(one.judges_both() for one in read):
        findings += tuple(findings_in(judged=(shares, metric, read[0].meaning)))
    return mean_shares(shares), findings


def _about_data(results: Mapping[str, Any], metric: str | None, same: _SameQueries | None) -> tuple[str, ...]:
    """Notes on the data of results of a metric; empty for values, for a single result, and for different queries."""
    if metric is None or same is None or len(results) < 2:
        return ()
    return about_data(results, metric, same.positions, same.table.shape[1])


def joined_runs(results: Mapping[str, Any]) -> dict[str, Any]:
    """Results by name; a list of results, the runs of a system, becomes one result. No run is of two systems."""
    several = {name for name, result in results.items() if isinstance(result, (list, tuple))}
    if several:
        runs = {name: result if name in several else [result] for name, result in results.items()}
        each = {
            f"{name} [{i + 1}]" if name in several else name: run
            for name, of_system in runs.items()
            for i, run in enumerate(of_system)
            if isinstance(run, Evaluation)
        }
        look(STATISTICS, models=(each,))
    return {name: _joined(result) for name, result in results.items()}


def _joined(result: Any) -> Any:
    several = isinstance(result, (list, tuple)) and any(isinstance(one, Evaluation) for one in result)
    return Evaluation.of_runs(result) if several else result


def _nothing(read: list[SystemValues]) -> Nothing | None:
    """Reason why no query can tell the systems apart, if known for all systems."""
    if any(one.tells is None for one in read):
        return None
    return nothing_in(ValuesOfSystem(one.values, one.tells, one.settled) for one in read if one.tells is not None)


def _counts_of_all(read: list[SystemValues]) -> QueryCounts | None:
    known = [one.counts for one in read if one.counts is not None]
    if len(known) < len(read):
        return None
    settled = [one.n_settled for one in known if one.n_settled is not None]
    n_settled = sum(settled) if len(settled) == len(known) else None
    n_queries, n_undefined = sum(one.n_queries for one in known), sum(one.n_undefined for one in known)
    return QueryCounts(n_queries, n_undefined, n_settled, ties=known[0].ties)


def _settled(read: list[SystemValues], same: _SameQueries) -> NDArray[np.bool_] | None:
    """Whether the judgments of each query fix its value in all systems; None if unknown for a query that counts."""
    # A result that does not know it takes it from others on the same labels, where the values agree.
    if same.ids is None:
        return None
    systems = list(zip(read, same.positions, same.table, strict=True))
    knowing = [system for system in systems if system[0].settled is not None]
    settled, known = np.ones(len(same.ids), bool), np.zeros(len(same.ids), bool)
    for one, at, _ in knowing:
        settled[at] &= one.settled
        known[at] = True
    same_labels = all(one.label_fingerprints is not None for one in read)
    for one, at, values in systems:
        if one.settled is None and same_labels and knowing:
            others = knowing[0][2]
            settled[at] &= ((values == others) | (np.isnan(values) & np.isnan(others)))[at]
        elif one.settled is None:
            known[at] = False
    return settled if (known | np.isnan(same.table).any(axis=0)).all() and knowing else None


def _values_of_runs(
    names: Iterable[str], read: list[SystemValues], same: _SameQueries, replaced: NDArray[np.bool_] | None,
    defined: NDArray[np.bool_],
) -> dict[str, Array]:  # fmt: skip
    """Values of each run of systems that have them; filled and `replaced` values are the same in each run."""
    runs = {}
    for i, (name, one) in enumerate(zip(names, read, strict=True)):
        if one.run_values is not None:
            of_runs = np.repeat(same.table[i][:, None], one.run_values.shape[1], axis=1)
            of_runs[same.positions[i]] = one.run_values
            if replaced is not None:
                of_runs[replaced] = same.table[i][replaced][:, None]
            runs[name] = of_runs[defined]
    return runs


def _direction(series: Mapping[str, Any]) -> bool:
    """Whether higher values are better, by the names of Series."""
    return all([direction_of(name, argument="greater_is_better=False") for name in sorted(_names_of_series(series))])


def _names_of_series(series: Mapping[str, Any]) -> list[str]:
    """Names of Series, which are the metric in columns of results."""
    return [name for one in series.values() if isinstance(name := getattr(one, "name", None), str)]


def _refuse_weight_by_position(weight: Any, options: ComparisonOptions, function_name: str) -> None:
    if weight is not None:
        raise ValueError(
            f"If queries have weights, {function_name} takes test='t', 'randomization' or 'bootstrap'. "
            f"Got test={echo(options.test)}, which is for different queries."
        )


def _of_queries(
    name: str, what: str, given: Any, own: list[Any], same: _SameQueries, names: list[str], function_name: str
) -> Any:
    """Cluster or weight of each query, given here or by the results; None if neither has any."""
    is_cluster = name == "clusters"
    if given is None:
        joined = (
            None if same.ids is None else joined_by_query(own, same.positions, same.ids, names, what, function_name)
        )
        return number_of_rows(joined, len(joined)) if is_cluster and joined is not None else joined
    if any(one is not None for one in own):
        raise ValueError(
            f"The results already have {what}; remove {name}=. To use others, pass only values: "
            f"result.to_frame()[metric]. Got both in {function_name}."
        )
    return (clusters_of_queries if is_cluster else weights_of_queries)(given, same.ids, same.table.shape[1])


def read_values(results: Mapping[str, Any], metric: str | None, function_name: str) -> list[SystemValues]:
    """Values of the one metric that is compared."""
    read = [_values_of(result, name, metric, function_name) for name, result in results.items()]
    if len({one.meaning is None for one in read}) > 1:
        raise TypeError(f"{function_name} takes results of evaluate or values of a metric. Got both.")
    if len({(one.meaning, one.greater_is_better) for one in read}) > 1:
        results = with_one_meaning(results, [str(read[0].metric)], f"{function_name} compares values of one metric")
        read = [_values_of(result, name, metric, function_name) for name, result in results.items()]
    return read


def _values_of(result: Any, name: str, metric: str | None, function_name: str) -> SystemValues:
    if isinstance(result, Evaluation):
        return _of_result(result, name, metric, function_name)
    if metric is not None:
        raise TypeError(
            f"'metric' of {function_name} is for results of evaluate. Got {type(result).__name__} for {echo(name)}."
        )
    values = numbers(result, repr(name), function_name)
    return SystemValues(values, named_queries(result), None, None, True)


def _of_result(result: Evaluation, name: str, metric: str | None, function_name: str) -> SystemValues:
    known = ", ".join(result.per_query)
    if metric is None and len(result.per_query) > 1:
        raise ValueError(
            f"{function_name} compares one metric, so results of several need metric=. Got {known} in {echo(name)}."
        )
    metric = next(iter(result.per_query)) if metric is None else metric
    if not is_key(metric, result.per_query):
        raise ValueError(
            f"The 'metric' parameter of {function_name} must be one of {known} (of {echo(name)}). Got {echo(metric)}."
            f"{other_spelling(metric, result.per_query)}"
        )
    if (average := result.average[metric]) != "macro":
        raise ValueError(
            f"{function_name} is for means over queries. Got average={echo(average)} in {echo(name)}; pass values of "
            "per_query, or evaluate again without it."
        )
    return SystemValues(
        result.per_query[metric], result.qid, metric, result.meaning[metric], result.greater_is_better[metric],
        result.label_fingerprints, result._column_fingerprints.get(metric), result.clusters, result.weight,
        result.is_binary[metric], result.judged.get(metric), lambda: result.judges_both, result.settled.get(metric),
        result.tells[metric], result.counts.get(metric), result.run_means.get(metric, ()),
        result.run_values.get(metric), lambda: result[metric], result.n_in_mean[metric],
    )  # fmt: skip


def _same_queries(
    read: list[SystemValues], names: list[str], bounded: _Bounded, missing: Any, function_name: str
) -> _SameQueries:  # fmt: skip
    """Values of all systems for the same queries, in the order of the first."""
    ids = [one.qid for one in read if one.qid is not None]
    if len(ids) not in (0, len(read)):
        raise TypeError(f"{function_name} needs query ids in all systems, or in none. Got both.")
    if not ids:
        sizes = [len(one.values) for one in read]
        if len(set(sizes)) > 1:
            raise ValueError(
                f"{function_name} pairs values query by query, so arrays must be of equal length; for different "
                f"queries use test='welch', 'mannwhitney' or 'permutation'. Got lengths {', '.join(map(str, sizes))}."
            )
        return _SameQueries(np.stack([one.values for one in read]), None, [])
    everywhere, sums = [slice(None)] * len(ids), [one.label_fingerprints for one in read]
    columns = [[one.column_fingerprints for one in read]]
    if all(ids[0].dtype.kind == other.dtype.kind and np.array_equal(ids[0], other) for other in ids[1:]):
        if read[0].metric is None and len({*ids[0].tolist()}) < len(ids[0]):
            raise ValueError(f"{function_name} takes one value a query. Got a query twice in {echo(names[0])}.")
        refuse_other_data(sums, columns, everywhere, ids[0], names, function_name)
        return _SameQueries(np.stack([one.values for one in read]), ids[0], everywhere)
    known, column = number_together(ids)
    table, present = np.full((len(read), len(known)), np.nan), np.zeros((len(read), len(known)), dtype=bool)
    for i, (one, own) in enumerate(zip(read, column, strict=True)):
        table[i, own], present[i, own] = one.values, True
        if present[i].sum() < len(own):
            raise ValueError(f"{function_name} takes one value a query. Got a query twice in {echo(names[i])}.")
    filled = np.nan
    if not present.all():
        i, j = np.argwhere(~present)[0]
        got = f"Got {(~present).sum()} missing, the first {echo(known[j : j + 1].tolist()[0])} in {echo(names[i])}."
        filled = _value_of_missing(table, bounded, missing, function_name, got)
    refuse_other_data(sums, columns, column, known, names, function_name)
    table[~present] = filled
    return _SameQueries(table, known, column, int((~present).sum()))


def _check_missing(bounded: _Bounded, missing: Any) -> None:
    metric, has_worst = bounded.metric or "the values", math.isfinite(bounded.worst)
    sign = 1 if bounded.greater_is_better else -1
    if missing == "worst" and not has_worst:
        side = "lowest" if bounded.greater_is_better else "highest"
        raise ValueError(
            f"missing='worst' needs a metric with a {side} value: pass missing= a number that is bad enough, or nan to "
            f"leave missing queries out. Got 'worst', and no {side} value is known for {metric}."
        )
    if not isinstance(missing, str) and sign * missing >= sign * bounded.best:
        instead = "missing='worst'" if has_worst else "a worse number"
        raise ValueError(
            f"'missing' must be worse than {bounded.best:g}, the best value of {metric}, because a query without a "
            f"list is no success: pass {instead}, or nan to leave missing queries out. Got {missing:g}."
        )


def _value_of_missing(table: Array, bounded: _Bounded, missing: Any, function_name: str, got: str) -> float:
    """Value of a missing query, given that one is missing; `got` ends the error."""
    worst, metric = bounded.worst, bounded.metric or "the values"
    has_worst = math.isfinite(worst) and not ((table < bounded.low).any() or (table > bounded.high).any())
    if missing == "worst" and has_worst:
        return worst
    if not isinstance(missing, str):
        return float(missing)
    side = "lowest" if bounded.greater_is_better else "highest"
    fill = f"missing='worst' to count missing queries as {worst:g}, the worst value of {metric}"
    if not has_worst:
        fill = f"missing= a number to count missing queries as, because no {side} value is known for {metric}"
    others = "; for different queries use test='welch', 'mannwhitney' or 'permutation'"
    others = "" if function_name == "no_worse" else others
    raise ValueError(
        f"{function_name} needs the same queries in all systems. Pass {fill}, or missing=nan to leave them out"
        f"{others}. {got}"
    )
