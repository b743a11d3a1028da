"""Evaluate complete queries part by part, and join the results.

The values of a query do not depend on other queries, so parts can be computed anywhere and in any order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.look import Evidence, evidence_of
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import read, refuse_bad_weight
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.kept_data import (
    DataCounts,
    compute_with_settled,
    judged_shares,
    n_retrieved,
    settled_by_values,
    with_counts,
)
from sklearn_rank._evaluation.references import told_apart
from sklearn_rank._evaluation.remarks import orders_in_words
from sklearn_rank._evaluation.result import Evaluation, computed_values
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.columns import Columns
from sklearn_rank._utils.numbers import refuse_inexact
from sklearn_rank._utils.threads import effective_n_jobs, with_helpers
from sklearn_rank._utils.typing import Array, Index

P = TypeVar("P")
NO_ADDED: Mapping[str, MetricSpec] = {}
FIELDS = ("numerator", "denominator", "undefined")
SETTLED = "settled"
"""Column of a metric whose values do not say which queries are settled, see `metrics_to_add`."""
JUDGED = "judged"
"""Column of the judged shares of a metric by score, NaN for labels by subtopic."""


def check_part(columns: Columns, n_jobs: int | None = None) -> Queries | None:
    """Check the rows of a part as `evaluate` does, but let all weights be zero; None without rows."""
    y_true, y_score, qid, sample_weight = columns[:4]
    qid = find_qid(y_true, qid)
    if all(hasattr(column, "__len__") and len(column) == 0 for column in (y_true, y_score, qid)):
        return None
    for name, numbers in (("y_true", y_true), ("y_score", y_score)):
        refuse_inexact(numbers, name)
    return read(y_true, y_score, qid=qid, sample_weight=sample_weight, n_jobs=n_jobs, weight_may_be_zero=True)


def evaluate_part(
    queries: Queries, specs: Mapping[str, MetricSpec], added: Mapping[str, MetricSpec] = NO_ADDED
) -> Evaluation:  # fmt: skip
    """Evaluate checked queries, without keeping them in the result; `added` are `metrics_to_add`, or none."""
    named, settled = compute_with_settled(queries, specs, added)
    judged = judged_shares(queries, {name: spec for name, spec in specs.items() if spec.order is None})
    counts = DataCounts(
        queries.grouping.sizes, fingerprints_of(queries), judged, known_settled=settled,
        n_retrieved=n_retrieved(queries),
    )  # fmt: skip
    return Evaluation(queries.grouping.ids, queries.weight, named, counts)


def evidence_of_part(
    queries: Queries, specs: Mapping[str, MetricSpec], name: Any = None, *, has_agreement: bool = False
) -> Evidence:
    # `name` names the column of scores; `has_agreement` says that enough is known of the agreement with the labels.
    specs = {name: spec for name, spec in specs.items() if spec.order is None}
    return evidence_of(queries, specs, name=name, has_agreement=has_agreement)


class PartResult(NamedTuple):
    """Values of the queries of a part, and what must be known of all parts together."""

    evaluation: Evaluation
    evidence: Evidence
    longest: int


def evaluate_parts(
    parts: Iterable[P], queries_of_part: Callable[[P, int | None], Queries], specs: Mapping[str, MetricSpec],
    added: Mapping[str, MetricSpec], n_jobs: int | None = None, name: Any = None,
) -> Iterator[PartResult]:  # fmt: skip
    """Evaluate complete queries part by part; raise ValueError if a callable discount differs between parts."""
    # `added` are `metrics_to_add`, or none if settled queries are not asked for. `name` names the column of scores.
    # Parts are taken by the calling thread, while other threads evaluate earlier ones. A single part is divided.
    discounts, n_threads, inside = discounts_of(specs.values()), effective_n_jobs(n_jobs), 1
    if n_threads > 1:
        parts = iter(parts)
        first = [*islice(parts, 2)]
        if len(first) < 2:
            n_threads, inside = 1, n_threads
        parts = chain(_popped(first), parts)

    def evaluate(part: P) -> PartResult:
        queries = queries_of_part(part, inside)
        result = evaluate_part(queries, specs, added)
        return PartResult(result, evidence_of_part(queries, specs, name), queries.longest)

    for result in with_helpers(evaluate, parts, n_threads):
        for discount in discounts:
            discount.check(result.longest)
        yield result


def _popped(items: list[P]) -> Iterator[P]:
    """Items that are freed as soon as they are taken."""
    while items:
        yield items.pop(0)


def discounts_of(specs: Iterable[MetricSpec]) -> list[Discount]:
    discounted = (spec for spec in specs if "discount" in spec.metric.formula_params)
    return [Discount(spec["discount"]) for spec in discounted if callable(spec["discount"])]


class Discount:
    """A user's function of ranks; each part calls it with as many ranks as its longest list has."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function = function
        self._known: NDArray[Any] = np.empty(0)

    def check(self, longest: int) -> None:
        """Raise ValueError if the weight of a rank depends on the number of ranks: values would depend on the parts."""
        if longest == len(self._known):
            return
        weights = np.asarray(self._function(np.arange(1, longest + 1)))
        n = min(longest, len(self._known))
        if not np.array_equal(weights[:n], self._known[:n]):
            raise ValueError(
                "A callable 'discount' must give a rank the same weight whatever ranks it is given beside it. "
                f"Got others for {longest} ranks than for {len(self._known)}."
            )
        if longest > n:
            self._known = weights


def result_to_columns(part: Evaluation) -> dict[str, NDArray[Any]]:
    """Columns that `result_from_columns` makes a result of, without ids and weights."""
    assert part.label_fingerprints is not None
    # Spark has no unsigned numbers.
    fingerprints = part.label_fingerprints.astype(np.int64)
    kept = part._kept_data
    columns: dict[str, NDArray[Any]] = {"n_documents": part.n_documents, "label_fingerprints": fingerprints}
    columns["n_retrieved"] = part.n_documents if kept.n_retrieved is None else kept.n_retrieved
    unknown = np.full(len(part.qid), np.nan)
    for i, (name, values) in enumerate(computed_values(part).items()):
        columns |= {f"{c}_{i}": getattr(values, c)[:, 0] for c in FIELDS}
        if name in part.settled:
            columns[f"{SETTLED}_{i}"] = part.settled[name]
        if values.spec.order is None:
            columns[f"{JUDGED}_{i}"] = part.judged.get(name, unknown)
    return columns


def columns_in_order(
    columns: Mapping[str, NDArray[Any]], names: Sequence[str], order: Iterable[str]
) -> dict[str, NDArray[Any]]:
    """Columns of `result_to_columns` with metrics in another order."""
    new_number = {names.index(name): i for i, name in enumerate(order)}
    moved = dict[str, NDArray[Any]]()
    for name, column in columns.items():
        field, _, number = name.rpartition("_")
        moved[f"{field}_{new_number[int(number)]}" if field in (*FIELDS, SETTLED, JUDGED) else name] = column
    return moved


def result_from_columns(
    specs: Mapping[str, MetricSpec], columns: Mapping[str, NDArray[Any]], qid: NDArray[Any], weight: Array | None
) -> Evaluation:
    """Result of single metrics; raise ValueError if all weights are zero."""
    if weight is not None:
        refuse_bad_weight(weight)
    results = {
        name: PerQuery(spec, spec.cutoffs, *(columns[f"{c}_{i}"][:, None] for c in FIELDS))
        for i, (name, spec) in enumerate(specs.items())
    }
    sums = columns["label_fingerprints"].astype(np.uint32)
    by_score, kept = told_apart(results)
    settled = settled_by_values({name: specs[name] for name in by_score}, by_score)
    settled |= {name: columns[key] for i, name in enumerate(specs) if (key := f"{SETTLED}_{i}") in columns}
    judged = {name: columns[key] for i, name in enumerate(specs) if (key := f"{JUDGED}_{i}") in columns}
    judged = {} if any(np.isnan(share).all() for share in judged.values()) else judged
    counts = DataCounts(columns["n_documents"], sums, judged, known_settled=settled, n_retrieved=columns["n_retrieved"])
    return Evaluation(qid, weight, by_score, counts, _kept_references=kept)


def with_evidence(result: Evaluation, evidence: Evidence, specs: Mapping[str, MetricSpec]) -> Evaluation:
    n_retrieved = result._kept_data.n_retrieved
    if n_retrieved is not None and (n_retrieved == result.n_documents).all():
        for spec in specs.values():
            spec._refuse_empty()
    remarks = orders_in_words(evidence.full, evidence.longest, specs)
    counted: Evaluation = with_counts(result, known_remarks=remarks, judges_both=evidence.counts.judges_both)
    return counted


def join_parts(
    parts: Sequence[Evaluation], positions: Sequence[Index], qid: NDArray[Any], weight: Array | None
) -> Evaluation:
    """Join results whose queries go to their positions among `qid`; raise ValueError if all weights are zero."""
    specs: dict[str, Any] = {name: values.spec for name, values in computed_values(parts[0]).items()}
    of_parts, joined = [result_to_columns(part) for part in parts], dict[str, NDArray[Any]]()
    for name, first in of_parts[0].items():
        joined[name] = np.empty(len(qid), first.dtype)
        for columns, position in zip(of_parts, positions, strict=True):
            joined[name][position] = columns[name]
    return result_from_columns(specs, joined, qid, weight)


class ColumnBuffer:
    """Columns of one length with capacity for more rows: to append takes time in proportion to the rows appended.

    The owner knows how many rows count.
    """

    def __init__(self) -> None:
        self._columns: dict[str, NDArray[Any]] = {}

    def write(self, start: int, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write rows from `start` on; those before stay as they are."""
        stop = start + len(next(iter(columns.values())))
        if stop > len(next(iter(self._columns.values()), ())):
            larger = {name: np.empty(max(2 * start, stop), column.dtype) for name, column in columns.items()}
            for name, column in self._columns.items():
                larger[name][:start] = column[:start]
            self._columns = larger
        for name, column in columns.items():
            self._columns[name][start:stop] = column

    def read(self, stop: int) -> dict[str, NDArray[Any]]:
        return {name: column[:stop].copy() for name, column in self._columns.items()}

    def take(self, rows: list[int]) -> dict[str, NDArray[Any]]:
        return {name: column[rows] for name, column in self._columns.items()}
