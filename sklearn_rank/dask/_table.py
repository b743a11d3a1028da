"""Tables of values as dask DataFrames: what they hold, what is known of their columns, and sums over their rows."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._chunks.column_arguments import ColumnRequest
from sklearn_rank._chunks.value_table import KEY, MetricColumn, refuse_other_table, sums_of_values
from sklearn_rank._engine.values import PartialSums
from sklearn_rank._evaluation.result import computed_values
from sklearn_rank._signs.evidence import Evidence
from sklearn_rank._utils.echo import echo
from sklearn_rank.dask._partitions import PartitionResult

# --- written -------------------------------------------------------------------------------------------------


def empty_table(qid_dtype: Any, request: ColumnRequest) -> Any:
    """Table of no query, with the description of each metric in its attributes."""
    from pandas import DataFrame, Series

    weighted = request.names.sample_weight is not None
    columns = [*request.specs, *(["weight"] if weighted else [])]
    frame = DataFrame({"qid": Series([], dtype=qid_dtype)} | {c: Series([], dtype=np.float64) for c in columns})
    frame.attrs[KEY] = {
        name: MetricColumn.of_spec(name, spec, weighted).to_json() for name, spec in request.specs.items()
    }
    return frame


def values_of(part: PartitionResult | None, meta: Any, checks: Any) -> Any:
    """Table of a part; `checks` are only waited for."""
    from pandas import DataFrame

    if part is None:
        return meta
    columns = {"qid": part.result.qid, **part.result.per_query, "weight": part.result.weight}
    dtype = meta.dtypes["qid"]
    return DataFrame({c: columns[c] for c in meta.columns}).astype(
        {"qid": "category" if str(dtype) == "category" else dtype}
    )


# --- read ----------------------------------------------------------------------------------------------------


def described_column(data: Any, name: str) -> MetricColumn | None:
    """Description of a column of values; None if it is lost."""
    saved = data._meta.attrs.get(KEY, {}).get(name)
    return None if saved is None else MetricColumn.from_json(saved)


def described_metrics(data: Any, function_name: str) -> dict[str, MetricColumn]:
    """Descriptions of all metrics whose means can be taken.

    Raises
    ------
    ValueError
        If `per_query` did not make the table, its weights are lost, or a mean is pooled.
    """
    described = {name: described_column(data, name) for name in data.columns}
    columns = {name: column for name, column in described.items() if column is not None}
    if not columns or any(c.weighted for c in columns.values()) > ("weight" in data.columns):
        refuse_other_table(function_name, data.columns, "dask")
    for name, column in columns.items():
        if column.average == "micro":
            raise ValueError(
                "A pooled mean is made of sums that a table of dask does not have: pass the rows with metrics=. "
                f"Got {echo(name)}."
            )
    return columns


# --- sums ----------------------------------------------------------------------------------------------------


class Total(NamedTuple):
    """Sums that the mean of each metric is made of, the highest weight if there are weights, and signs of rows."""

    sums: dict[str, PartialSums]
    highest_weight: float | None
    evidence: Evidence = Evidence()


def result_total(part: PartitionResult | None) -> Total | None:
    """Total of a part; None without rows."""
    if part is None:
        return None
    weight = part.result.weight
    results = computed_values(part.result)
    sums = {name: result.sums(weight) for name, result in results.items()}
    return Total(sums, None if weight is None else float(weight.max()), part.evidence)


def table_total(frame: Any, columns: Mapping[str, MetricColumn]) -> Total | None:
    """Total of a partition of a table; None without rows."""
    if not len(frame):
        return None
    weighted = any(column.weighted for column in columns.values())
    weight = frame["weight"].to_numpy(np.float64) if weighted else None
    sums = {name: sums_of_values(c, frame[name].to_numpy(np.float64), weight) for name, c in columns.items()}
    return Total(sums, None if weight is None else float(weight.max()))


def add_totals(totals: Sequence[Total | None]) -> Total | None:
    """Total of several parts."""
    given = [total for total in totals if total is not None]
    if not given:
        return None
    sums = {name: sum((total.sums[name] for total in given[1:]), first) for name, first in given[0].sums.items()}
    weights = [total.highest_weight for total in given if total.highest_weight is not None]
    evidence = functools.reduce(Evidence.joined, [total.evidence for total in given])
    return Total(sums, max(weights) if weights else None, evidence)
