"""`evaluate`, `mean` and `per_query` of a dask DataFrame: what of the scored partitions comes back, and how."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.columns import Columns
from sklearn_rank._chunks.discounts import discounts_of
from sklearn_rank._chunks.evaluate import join_parts
from sklearn_rank._chunks.query_ids import QueryIdIndex
from sklearn_rank._engine.check import refuse_bad_weight
from sklearn_rank._engine.qid import joined_ids
from sklearn_rank._engine.values import PartialSums, PerQuery
from sklearn_rank._evaluation.result import Evaluation, computed_values
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.optional import import_dask
from sklearn_rank.dask._partitions import ATTRIBUTE, EvaluationRequest, PartitionResult, Parts, parts_of

FAN = 16
"""Sums that are added up at a time."""


def evaluate(
    ddf: Any,
    *,
    metrics: Any,
    y_true: Any = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics on the rows of a dask DataFrame, as `sklearn_rank.evaluate` would on all of them in memory.

    Partitions are scored where they are; what comes back are ids and values, a few numbers a query.

    Parameters
    ----------
    ddf : dask DataFrame
        Rows in any order; only the columns that are named are read.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them
        As `sklearn_rank.evaluate` takes them.
    y_true : str or list of str, default="label"
        Column of the relevance of each row; a list of columns, one a subtopic, for metrics of diversity.
    y_score : str, default="score"
        Column of the output of the model. ``-inf``: judged but not retrieved.
    qid : str, default="qid"
        Column of the query of each row, or the name of the index. Ids are of one type in all partitions.
    sample_weight : str or None, default=None
        Column of the weight of each row's query in the mean.
    assume_grouped : bool, default=False
        Whether each partition has all rows of its queries. Then no row is moved, and a query found in two partitions is
        an error. Otherwise rows are brought to the others of their query first, unless there is one partition, or
        `qid` is the index and its divisions are known.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win.

    Returns
    -------
    Evaluation
        The same to the last bit, queries in order of first appearance. It can do all but look for ties, which takes the
        data.

    Raises
    ------
    ValueError or TypeError
        As from `sklearn_rank.evaluate`, naming the partition where rows have not been moved yet; or if a column is
        missing or of a wrong type, or a query is in two partitions where it must not be.
    ImportError
        If dask is missing: it needs the extra "dask".

    Examples
    --------
    Query "a" goes on in the second partition, where its relevant document is, ranked second:

    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import evaluate
    >>> rows = pd.DataFrame({"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]})
    >>> evaluate(dd.from_pandas(rows, npartitions=2), metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    asked = EvaluationRequest(parse_metrics(metrics, **keywords), Columns(y_true, y_score, qid, sample_weight))
    tasks = parts_of(ddf, asked, assume_grouped).tasks
    parts = [part for part in import_dask().compute(*tasks) if part is not None]
    _refuse_no_rows(parts)
    _refuse_together(asked.specs, [_facts(part, with_ids=True) for part in parts])
    order = np.argsort(np.concatenate([part.first for part in parts]))
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    places = np.split(place, np.cumsum([len(part.first) for part in parts])[:-1])
    results = [part.result for part in parts]
    weight = None if sample_weight is None else np.concatenate([result.weight for result in results])[order]
    return join_parts(results, places, joined_ids([result.qid for result in results])[order], weight)


def mean(
    ddf: Any,
    *,
    metrics: Any,
    y_true: Any = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> dict[str, float]:
    """Means of metrics over the queries of a dask DataFrame: only sums come back.

    Parameters
    ----------
    ddf, metrics, y_true, y_score, qid, sample_weight, assume_grouped, **keywords
        As `sklearn_rank.dask.evaluate` takes them. With ``assume_grouped=True`` ids of queries go to one worker, which
        looks for those that are in two partitions.

    Returns
    -------
    dict of str to float
        As `Evaluation.mean` has them, up to rounding: weighted, pooled or geometric where they were asked for so.

    Raises
    ------
    ValueError or TypeError
        As from `sklearn_rank.dask.evaluate`.
    ImportError
        If dask is missing: it needs the extra "dask".

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import mean
    >>> rows = pd.DataFrame({"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]})
    >>> mean(dd.from_pandas(rows, npartitions=2), metrics=["mrr", "p@1"])
    {'mrr': 0.75, 'p@1': 0.5}
    """
    asked = EvaluationRequest(parse_metrics(metrics, **keywords), Columns(y_true, y_score, qid, sample_weight))
    parts, dask = parts_of(ddf, asked, assume_grouped), import_dask()
    totals, add = [dask.delayed(_total, pure=False)(task) for task in parts.tasks], dask.delayed(_added, pure=False)
    while len(totals) > 1:
        totals = [add(totals[i : i + FAN]) for i in range(0, len(totals), FAN)]
    total, *_ = dask.compute(*totals, *_checks(parts, asked.specs))
    _refuse_no_rows(total)
    if total.weight is not None:
        refuse_bad_weight(np.array([total.weight]))
    return {name: float(total.sums[name].average(spec, stacklevel=4)[0]) for name, spec in asked.specs.items()}


def per_query(
    ddf: Any,
    *,
    metrics: Any,
    y_true: Any = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> Any:
    """Values of metrics query by query as a dask DataFrame, which is computed when it is asked for.

    Parameters
    ----------
    ddf, metrics, y_true, y_score, qid, sample_weight, assume_grouped, **keywords
        As `sklearn_rank.dask.evaluate` takes them.

    Returns
    -------
    dask DataFrame
        A row a query, in any order: the columns "qid", one for each metric, named as it was asked for, and "weight" if
        there is `sample_weight`. Undefined queries hold their replacement.

    Raises
    ------
    ValueError or TypeError
        As from `sklearn_rank.dask.evaluate`, what is found in the data when it is computed; or if a metric is named
        as one of the other columns.
    ImportError
        If dask is missing: it needs the extra "dask".

    See Also
    --------
    compare : Compare two systems by their values.

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
    asked = EvaluationRequest(parse_metrics(metrics, **keywords), Columns(y_true, y_score, qid, sample_weight))
    taken = {"qid", "weight"} & asked.specs.keys()
    if taken:
        raise ValueError(f"'qid' and 'weight' are columns of the result, no names of metrics. Got {min(taken)!r}.")
    parts, dask = parts_of(ddf, asked, assume_grouped), import_dask()
    meta, checks = _no_values(parts.qid_dtype, asked), _checks(parts, asked.specs)
    frame = dask.delayed(_values, pure=False)
    frames = [frame(task, meta, checks) for task in parts.tasks]
    return dask.dataframe.from_delayed(frames, meta=meta, verify_meta=False)


# --- what parts must be together -----------------------------------------------------------------------------


class PartitionSummary(NamedTuple):
    """Ids of a part, where it is to be known that no other has them, and rows of its largest query."""

    qid: NDArray[Any] | None
    longest: int


def _facts(part: PartitionResult | None, with_ids: bool) -> PartitionSummary:
    if part is None:
        return PartitionSummary(None, 0)
    return PartitionSummary(part.result.qid if with_ids else None, int(part.result.n_documents.max()))


def _checks(parts: Parts, specs: Mapping[str, MetricSpec]) -> list[Any]:
    """A task that fails if parts do not go together; none, where they always do."""
    delayed = import_dask().delayed
    if not parts.may_share and not discounts_of(specs.values()):
        return []
    facts = [delayed(_facts, pure=False)(task, parts.may_share) for task in parts.tasks]
    return [delayed(_refuse_together, pure=False)(delayed(specs, traverse=False, pure=False), facts)]


def _refuse_together(specs: Mapping[str, MetricSpec], facts: Sequence[PartitionSummary]) -> None:
    """Refuse parts that share a query, and discounts that depend on the part."""
    seen = QueryIdIndex("partitions")
    for qid in (one.qid for one in facts if one.qid is not None):
        n_before = seen.n
        again = seen.number(qid) < n_before
        if again.any():
            raise ValueError(
                "With assume_grouped=True all rows of a query must be in one partition; without it they are brought "
                f"together. Got query {qid[again][:1].tolist()[0]!r} in two partitions."
            )
    for discount in discounts_of(specs.values()):
        for one in facts:
            if one.longest:
                discount.check(one.longest)


def _refuse_no_rows(found: Any) -> None:
    if not found:
        raise ValueError("At least one row is needed. Got a dask DataFrame without rows.")


# --- sums ----------------------------------------------------------------------------------------------------


class Total(NamedTuple):
    """Sums that make the means, by metric; the highest weight, if there are any."""

    sums: dict[str, PartialSums]
    weight: float | None


def _total(part: PartitionResult | None) -> Total | None:
    if part is None:
        return None
    weight = part.result.weight
    sums = {name: values.sums(weight) for name, values in computed_values(part.result).items()}
    return Total(sums, None if weight is None else float(weight.max()))


def _added(totals: Sequence[Total | None]) -> Total | None:
    found = [total for total in totals if total is not None]
    if not found:
        return None
    sums = {name: sum((total.sums[name] for total in found[1:]), one) for name, one in found[0].sums.items()}
    weights = [total.weight for total in found if total.weight is not None]
    return Total(sums, max(weights) if weights else None)


# --- values --------------------------------------------------------------------------------------------------


def _no_values(qid_dtype: Any, asked: EvaluationRequest) -> Any:
    """The frame of the values of no query."""
    from pandas import DataFrame, Series

    columns = [*asked.specs, *([] if asked.names.sample_weight is None else ["weight"])]
    frame = DataFrame({"qid": Series([], dtype=qid_dtype)} | {c: Series([], dtype=np.float64) for c in columns})
    results = {name: PerQuery.empty([spec], 0) for name, spec in asked.specs.items()}
    frame.attrs[ATTRIBUTE] = {name: (found.meaning, found.greater_is_better) for name, found in results.items()}
    return frame


def _values(part: PartitionResult | None, meta: Any, checks: Any) -> Any:
    """Values of a part; `checks` are only waited for."""
    from pandas import DataFrame

    if part is None:
        return meta
    columns = {"qid": part.result.qid, **part.result.per_query, "weight": part.result.weight}
    dtype = meta.dtypes["qid"]
    return DataFrame({c: columns[c] for c in meta.columns}).astype(
        {"qid": "category" if str(dtype) == "category" else dtype}
    )
