"""`compare` of two systems whose values are dask DataFrames: joined by dask, tested in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank import stats
from sklearn_rank._chunks.value_table import (
    MetricColumn,
    TableComparison,
    refuse_other_ids,
    refuse_other_table,
    refuse_repeated,
)
from sklearn_rank._engine.ids import MISSING
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank.dask._partitions import check_frame
from sklearn_rank.dask._table import described_column
from sklearn_rank.stats._compare import ComparisonResult


@named_arguments
@with_arguments_of(stats.compare, "clusters", "weight")
def compare(a: Any, b: Any, *, metric: str | None = None, **options: Any) -> ComparisonResult:
    """Compare two systems by their values per query, like `sklearn_rank.stats.compare`.

    dask joins the values by query; the ids and two numbers per query come back for the test, with weights four.

    Parameters
    ----------
    a, b : dask DataFrame
        Tables that `per_query` made; other ones are taken too, with a column "qid" and a column of values per metric.
    metric : str, default=None
        Metric to compare, by the name of its column; may be left out if there is only one.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says; for a table that `per_query` did not make, the metric with
        the name of the column. Other names count as True, unless they end in "_error", "_loss" and the like.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples, which are drawn of queries in the order of their ids.

    Returns
    -------
    ComparisonResult

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.stats.compare`; or if a table is not a dask DataFrame, lacks columns or has a query
        twice, or ids are of two types.
    ImportError
        If dask is not installed: it needs the extra "dask".

    Examples
    --------
    >>> import dask.dataframe as dd
    >>> import pandas as pd
    >>> from sklearn_rank.dask import compare, per_query
    >>> rows = pd.DataFrame(
    ...     {"label": [0, 1, 1, 0], "score": [2, 1, 2, 1], "qid": ["a", "a", "b", "b"]}
    ... )
    >>> a = per_query(dd.from_pandas(rows, npartitions=2), metrics="mrr")
    >>> b = per_query(
    ...     dd.from_pandas(rows.assign(score=[1, 2, 2, 1]), npartitions=2), metrics="mrr"
    ... )
    >>> compare(a, b).difference
    -0.25
    """
    comparison = TableComparison.of(_described({"a": a, "b": b}), metric, options)
    joined = _joined({"a": a, "b": b}, comparison)
    values = {}
    for name, other in (("a", "right_only"), ("b", "left_only")):
        rows = joined[joined["_merge"] != other]
        weight = rows[f"weight_{name}"].to_numpy() if comparison.columns[name].weighted else None
        values[name] = np.asarray(rows.index), rows[name].to_numpy(), weight
    return comparison.result(values)


def _described(tables: Mapping[str, Any]) -> dict[str, dict[str, MetricColumn]]:
    """Describe the columns of both tables; what is not known of one is not asked of the other."""
    described: dict[str, dict[str, MetricColumn | None]] = {}
    for name, table in tables.items():
        check_frame(table, name)
        described[name] = {c: described_column(table, c) for c in table.columns if c not in ("qid", "weight")}
        if "qid" not in table.columns or not described[name]:
            refuse_other_table("compare", table.columns, "dask")
    lost = {c for columns in described.values() for c, column in columns.items() if column is None}
    return {
        name: {
            c: _unknown(c, "weight" in tables[name].columns) if c in lost or column is None else column
            for c, column in columns.items()
        }
        for name, columns in described.items()
    }


def _unknown(name: str, weighted: bool) -> MetricColumn:
    """Column of values with only its name known."""
    return MetricColumn(name, "", name, "macro", True, np.nan, weighted)


def _joined(tables: Mapping[str, Any], comparison: TableComparison) -> Any:
    """Values of both in the columns "a" and "b", and weights, in the order of the ids, because a join has no order."""
    types = [table.dtypes["qid"] for table in tables.values()]
    # A join need not match equal ids of different types.
    if types[0] != types[1]:
        refuse_other_ids(types)
    sides = []
    for name, side in tables.items():
        weighted = comparison.columns[name].weighted
        if weighted and "weight" not in side.columns:
            refuse_other_table("compare", side.columns, "dask")
        kept = {comparison.metric: name} | ({"weight": f"weight_{name}"} if weighted else {})
        sides.append(side[["qid", *kept]].rename(columns=kept))
    joined = sides[0].merge(sides[1], on="qid", how="outer", indicator=True).compute()
    if joined["qid"].isna().any():
        raise ValueError(MISSING)
    repeated = joined["qid"].duplicated()
    if repeated.any():
        refuse_repeated(joined["qid"][repeated].tolist()[0])
    return joined.set_index("qid").sort_index()
