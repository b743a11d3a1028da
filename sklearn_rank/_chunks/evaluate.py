"""Results of some of the queries, whole ones, and what they make together: for data that come in parts.

A query's values do not depend on the queries beside it, so parts can be computed anywhere, in any order.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.columns import Columns
from sklearn_rank._chunks.discounts import discounts_of
from sklearn_rank._engine.check import check_queries, refuse_bad_weight
from sklearn_rank._engine.grouping import find_qid, group_rows
from sklearn_rank._engine.label_sums import label_sums
from sklearn_rank._engine.per_query import per_query
from sklearn_rank._engine.qid import joined_ids
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.result import Evaluation, computed_values
from sklearn_rank._evaluation.source import DataSummary
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.numbers import refuse_inexact
from sklearn_rank._utils.typing import Index


def check_part(columns: Columns, n_jobs: int | None = None) -> Queries | None:
    """Rows of a part, checked as `evaluate` checks all of them, but for weights that are all zero; None without rows.

    Raises
    ------
    ValueError or TypeError
        As `evaluate` does.
    """
    y_true, y_score, qid, sample_weight = columns
    qid = find_qid(y_true, qid)
    if all(hasattr(column, "__len__") and len(column) == 0 for column in (y_true, y_score, qid)):
        return None
    for name, numbers in (("y_true", y_true), ("y_score", y_score)):
        refuse_inexact(numbers, name)
    return check_queries(y_true, y_score, qid=qid, sample_weight=sample_weight, n_jobs=n_jobs, weight_may_be_zero=True)


def evaluate_part(queries: Queries, specs: Mapping[str, MetricSpec], n_jobs: int | None = None) -> Evaluation:
    """As `evaluate`, but of checked queries, and without keeping them."""
    results = per_query(queries, list(specs.values()), n_jobs)
    named = dict(zip(specs, results, strict=True))
    sums = label_sums(queries, n_jobs)
    return Evaluation(queries.qid, queries.weight, named, DataSummary(queries.n_documents, sums))


def evaluate_parts(
    whole: Iterable[Queries], specs: Mapping[str, MetricSpec], n_jobs: int | None = None
) -> Iterator[Evaluation]:
    """A result of each part.

    Raises
    ------
    ValueError
        If a user's discount is not the same in all of them.
    """
    discounts = discounts_of(specs.values())
    for queries in whole:
        for discount in discounts:
            discount.check(queries.longest)
        yield evaluate_part(queries, specs, n_jobs)


def concatenate_evaluations(parts: Sequence[Evaluation]) -> Evaluation:
    """One result of results of the same metrics on different queries, which it has in the order of the parts.

    Its values are those of the parts, and its means those of `evaluate` on all data at once, to the last bit.

    Parameters
    ----------
    parts : sequence of Evaluation
        Results that were computed, not loaded.

    Returns
    -------
    Evaluation
        Without the data.

    Raises
    ------
    ValueError
        If there is no part, metrics differ, a query is in two parts, or some parts alone have weights.
    """
    parts = [*parts]
    if not parts:
        raise ValueError("At least one result is needed. Got none.")
    for part in parts:
        _refuse_other_metrics(parts[0], part)
    qid = joined_ids([part.qid for part in parts])
    ids, indptr, order = group_rows(qid, len(qid))
    if len(ids) < len(qid):
        query = ids[np.diff(indptr) > 1][:1]
        raise ValueError(f"All rows of a query must be in one part. Got query {query.tolist()[0]!r} in two.")
    weights = [part.weight for part in parts if part.weight is not None]
    if 0 < len(weights) < len(parts):
        raise ValueError(f"Either all parts have weights or none. Got {len(weights)} of {len(parts)} with them.")
    return join_parts(parts, None, qid, np.concatenate(weights) if weights else None)


def join_parts(
    parts: Sequence[Evaluation], places: Sequence[Index] | None, qid: NDArray[Any], weight: Any
) -> Evaluation:
    """One result of parts, whose queries go to their places among `qid`; None: one after the other.

    Raises
    ------
    ValueError
        If all weights are zero.
    """
    if weight is not None:
        refuse_bad_weight(weight)
    if places is None:
        ends = np.cumsum([len(part.qid) for part in parts])
        places = [np.arange(end - len(part.qid), end) for part, end in zip(parts, ends, strict=True)]

    def join(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
        out = np.empty((len(qid), *arrays[0].shape[1:]), dtype=arrays[0].dtype)
        for array, place in zip(arrays, places, strict=True):
            out[place] = array
        return out

    computed, results = [computed_values(part) for part in parts], {}
    for name, first in computed[0].items():
        of_parts = [metrics[name] for metrics in computed]
        columns = (join([getattr(values, c) for values in of_parts]) for c in ("numerator", "denominator", "undefined"))
        results[name] = PerQuery(first.spec, first.cutoffs, *columns)
    sums = [part.label_fingerprints for part in parts if part.label_fingerprints is not None]
    n_documents = join([part.n_documents for part in parts])
    return Evaluation(qid, weight, results, DataSummary(n_documents, join(sums) if len(sums) == len(parts) else None))


def _refuse_other_metrics(first: Evaluation, other: Evaluation) -> None:
    computed_values(other)  # refuses one that was loaded
    if first.meaning != other.meaning:
        raise ValueError(
            f"All parts must have the same metrics. Got {', '.join(first.meaning.values())} in one "
            f"and {', '.join(other.meaning.values())} in another."
        )
