"""`evaluate`, `per_query` and `mean` of a dask DataFrame: which results of its partitions come back, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.column_arguments import column_arguments, refuse_no_rows
from sklearn_rank._chunks.parts import discounts_of, join_parts
from sklearn_rank._chunks.query_ids import QueryIdIndex
from sklearn_rank._chunks.value_table import mean_of_sums, refuse_cut_queries, refuse_options
from sklearn_rank._engine.check import refuse_bad_weight
from sklearn_rank._engine.ids import joined_ids
from sklearn_rank._engine.values import PartialSums
from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._signs.doors import DASK
from sklearn_rank._signs.evidence import Evidence
from sklearn_rank._signs.rows import look_at_evidence
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_dask
from sklearn_rank.dask._partitions import PartitionResult, Parts, check_frame, parts_of
from sklearn_rank.dask._table import (
    add_totals,
    described_metrics,
    empty_table,
    result_total,
    table_total,
    values_of,
)

TOTALS_PER_TASK = 16
"""Totals that one task adds up."""


@named_arguments
@with_arguments_of(column_arguments)
def evaluate(data: Any, *, assume_grouped: bool = False, chance: bool = False, **columns: Any) -> Evaluation:
    """Compute many metrics on the rows of a dask DataFrame, with the same result as `sklearn_rank.evaluate` in memory.

    Partitions are scored where they are. Only ids and values come back, a few numbers per query.

    Parameters
    ----------
    data : dask DataFrame
        A row a document, in any order; only the named columns are read.
    assume_grouped : bool, default=False
        Whether each partition has all rows of its queries. If so, no row is moved, and a query in two partitions is an
        error. Otherwise rows are brought to the others of their query first, unless there is one partition, or `qid` is
        the index and its divisions are known.

    Returns
    -------
    Evaluation
        The same to the last bit, queries in order of first appearance. It does not keep the data, so `tie_range` and
        `n_tied` are not available.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.evaluate`, naming the partition where rows have not been moved yet; or if a column is
        missing or does not hold numbers, or a query is in two partitions with ``assume_grouped=True``.
    ImportError
        If dask is not installed: it needs the extra "dask".

    See Also
    --------
    per_query : The values as a lazy table.
    mean : Means only.

    Examples
    --------
    Query "a" continues in the second partition, which has its relevant document, at rank 2:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import evaluate
    >>> rows = pd.DataFrame(
    ...     {"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]}
    ... )
    >>> evaluate(dd.from_pandas(rows, npartitions=2), metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    request = column_arguments(data, **columns)
    computed = request._replace(specs=with_references(request.specs)) if chance else request
    tasks = parts_of(data, computed, assume_grouped).tasks
    parts = [part for part in import_dask().compute(*tasks) if part is not None]
    if not parts:
        refuse_no_rows("a dask DataFrame")
    _refuse_together(request.specs, [_summary(part, with_ids=True) for part in parts])
    look_at_evidence(DASK, [part.evidence for part in parts], request.specs, compute, name=request.names.y_score)
    order = np.argsort(np.concatenate([part.first for part in parts]))
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    positions = np.split(position, np.cumsum([len(part.first) for part in parts])[:-1])
    results = [part.result for part in parts]
    weights = [result.weight for result in results if result.weight is not None]
    weight = np.concatenate(weights)[order] if weights else None
    return join_parts(results, positions, joined_ids([result.qid for result in results])[order], weight)


@named_arguments
@with_arguments_of(evaluate, "chance")
def per_query(data: Any, *, assume_grouped: bool = False, **columns: Any) -> Any:
    """Compute metrics per query as a dask DataFrame, lazily.

    Returns
    -------
    dask DataFrame
        A row a query, in any order: the column "qid", a column for each metric, named as it was asked for, and "weight"
        with `sample_weight`. Undefined queries have the value `replace_undefined_by`. Each action computes it anew,
        unless it was persisted. `mean` and `compare` take it.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.dask.evaluate`, for faults of the data when it is computed; or if a metric has the name of
        another column.
    ImportError
        If dask is not installed: it needs the extra "dask".

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import per_query
    >>> rows = pd.DataFrame({"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": [7, 7, 8, 8]})
    >>> per_query(dd.from_pandas(rows, npartitions=1), metrics=["mrr", "p@1"]).compute()
       qid  mrr  p@1
    0    7  0.5  0.0
    1    8  1.0  1.0
    """
    request = column_arguments(data, **columns)
    taken = {"qid", "weight"} & request.specs.keys()
    if taken:
        raise ValueError(f"'qid' and 'weight' are columns of the table, no names of metrics. Got {echo(min(taken))}.")
    parts, dask = parts_of(data, request, assume_grouped), import_dask()
    meta, checks = empty_table(parts.qid_dtype, request), _checks(parts, request.specs)
    frame = dask.delayed(values_of, pure=False)
    frames = [frame(task, meta, checks) for task in parts.tasks]
    return dask.dataframe.from_delayed(frames, meta=meta, verify_meta=False)


@named_arguments
@with_arguments_of(evaluate, "chance")
def mean(
    data: Any, *, metrics: MetricsLike | None = None, assume_grouped: bool = False, **columns: Any
) -> dict[str, float]:
    """Compute means of metrics over queries: only sums come back.

    Parameters
    ----------
    data : dask DataFrame
        Rows, as in `sklearn_rank.dask.evaluate`; or, without `metrics`, a table that `per_query` made, also after
        columns or queries were chosen. A merge or a file loses the description of its columns. A row of a table is a
        query: one that a concatenation repeats counts as often.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=None
        As in `sklearn_rank.evaluate`. None: `data` is a table, which says how its means are taken.
    assume_grouped : bool, default=False
        As in `sklearn_rank.dask.evaluate`. If so, ids of queries go to one worker, which looks for those in two
        partitions.

    Returns
    -------
    dict of str to float
        As from `Evaluation.mean`, up to rounding: weighted, pooled or geometric where it was asked for.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.dask.evaluate`; or if a table was not made by `per_query`, has lost its weights, or has a
        pooled mean, which takes rows.
    ImportError
        If dask is not installed: it needs the extra "dask".

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import mean, per_query
    >>> rows = pd.DataFrame(
    ...     {"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]}
    ... )
    >>> data = dd.from_pandas(rows, npartitions=2)
    >>> mean(data, metrics=["mrr", "p@1"])
    {'mrr': 0.75, 'p@1': 0.5}
    >>> mean(per_query(data, metrics=["mrr", "p@1"]))
    {'mrr': 0.75, 'p@1': 0.5}
    """
    if metrics is None:
        refuse_options({"assume_grouped": assume_grouped, **columns})
        return _mean_of_table(data)
    request = column_arguments(data, metrics=metrics, **columns)
    parts, task = parts_of(data, request, assume_grouped), import_dask().delayed(result_total, pure=False)
    sums, evidence = _sums([task(part) for part in parts.tasks], _checks(parts, request.specs))
    look_at_evidence(DASK, [evidence], request.specs, compute, name=request.names.y_score)
    return {name: float(sums[name].average(spec)[0]) for name, spec in request.specs.items()}


def _mean_of_table(data: Any) -> dict[str, float]:
    check_frame(data, "data")
    columns = described_metrics(data, "mean")
    task = import_dask().delayed(table_total, pure=False)
    sums, _ = _sums([task(part, columns) for part in data.to_delayed()], [])
    return {name: mean_of_sums(column, sums[name]) for name, column in columns.items()}


def _sums(totals: Sequence[Any], checks: Sequence[Any]) -> tuple[dict[str, PartialSums], Evidence]:
    """Sums over all tasks, which are added some at a time, and signs; `checks` are computed at the same time."""
    dask = import_dask()
    add = dask.delayed(add_totals, pure=False)
    while len(totals) > 1:
        totals = [add(totals[i : i + TOTALS_PER_TASK]) for i in range(0, len(totals), TOTALS_PER_TASK)]
    total, *_ = dask.compute(*totals, *checks)
    if total is None:
        refuse_no_rows("a dask DataFrame")
    if total.highest_weight is not None:
        refuse_bad_weight(np.array([total.highest_weight]))
    return total.sums, total.evidence


# --- what parts must be together -----------------------------------------------------------------------------


class PartitionSummary(NamedTuple):
    """Ids of a part, if other parts could have them, and rows of its largest query."""

    qid: NDArray[Any] | None
    longest: int


def _summary(part: PartitionResult | None, with_ids: bool) -> PartitionSummary:
    if part is None:
        return PartitionSummary(None, 0)
    return PartitionSummary(part.result.qid if with_ids else None, int(part.result.n_documents.max()))


def _checks(parts: Parts, specs: Mapping[str, MetricSpec]) -> list[Any]:
    """A task that fails if parts do not fit together; none if they always do."""
    delayed = import_dask().delayed
    if not parts.may_share and not discounts_of(specs.values()):
        return []
    summaries = [delayed(_summary, pure=False)(task, parts.may_share) for task in parts.tasks]
    return [delayed(_refuse_together, pure=False)(delayed(specs, traverse=False, pure=False), summaries)]


def _refuse_together(specs: Mapping[str, MetricSpec], summaries: Sequence[PartitionSummary]) -> None:
    """Raise ValueError if parts share a query, or a callable discount differs between them."""
    seen = QueryIdIndex("partitions")
    for qid in (one.qid for one in summaries if one.qid is not None):
        n_before = seen.n
        again = seen.number(qid) < n_before
        if again.any():
            refuse_cut_queries(f"query {echo(qid[again][:1].tolist()[0])} in two partitions")
    for discount in discounts_of(specs.values()):
        for one in summaries:
            if one.longest:
                discount.check(one.longest)
