"""`compare` of two systems whose values are Spark DataFrames: joined by Spark, tested in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank import stats
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank.spark._evaluate import INTEGERS
from sklearn_rank.spark._table import ValueTable, read_value_table
from sklearn_rank.spark._value_table import TableComparison, refuse_other_ids, refuse_repeated
from sklearn_rank.spark._worker import column_name
from sklearn_rank.stats._compare import ComparisonResult


@named_arguments
@with_arguments_of(stats.compare, "clusters", "weight")
def compare(a: Any, b: Any, *, metric: str | None = None, **options: Any) -> ComparisonResult:
    """Compare two systems by their values per query, like `sklearn_rank.stats.compare`.

    Spark joins the values by query; two numbers per query come back for the test, 100 MB for some million queries, and
    two more with weights.

    Parameters
    ----------
    a, b : pyspark.sql.DataFrame
        Tables that `per_query` made, with ids of one type.
    metric : str, default=None
        Metric to compare, by its name in `evaluate` or its column; may be left out if there is only one.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples, which are drawn of queries in the order of their values.

    Returns
    -------
    ComparisonResult

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.stats.compare`; or if a table is not a Spark DataFrame, lacks columns or has a query
        twice, or ids are of two types.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import compare, per_query
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0, 1.0), ("a", 1, 1.0, 2.0), ("b", 1, 2.0, 2.0), ("b", 0, 1.0, 1.0)]
    >>> data = spark.createDataFrame(rows, "qid string, label int, ours double, theirs double")
    >>> a, b = (per_query(data, metrics="mrr", y_score=system) for system in ("ours", "theirs"))
    >>> compare(a, b).difference
    -0.25
    """
    tables = {name: read_value_table(table, name, "compare") for name, table in (("a", a), ("b", b))}
    if isinstance(metric, str):
        metric = {column_name(name): name for name in tables["a"].columns}.get(metric, metric)
    comparison = TableComparison.of({name: table.metrics for name, table in tables.items()}, metric, options)
    _check_ids(tables)
    joined = _joined(tables, comparison.metric).toArrow()
    n_rows = {name: np.nan_to_num(joined[f"n_{name}"].to_numpy()).astype(np.int64) for name in tables}
    values = {name: joined[f"value_{name}"].to_numpy() for name in tables}
    weights = {
        name: joined[f"weight_{name}"].to_numpy() for name in tables if comparison.columns[name].weighted
    }  # fmt: skip
    odd = joined["odd"]
    for n in n_rows.values():
        if n.max(initial=0) > 1:
            refuse_repeated(odd[int(n.argmax())].as_py())
    # A join has no order, and without their ids queries are put in the order of their values.
    order = np.lexsort([*weights.values(), *values.values(), *n_rows.values()])
    qid: Any = np.arange(len(order))
    missing = np.minimum(*n_rows.values()) == 0
    if comparison.options.missing == "raise" and comparison.options.paired and missing.any():
        # The error names one of the queries that are missing.
        order, qid = np.flatnonzero(missing), np.array([*odd.to_pylist(), None], dtype=object)
    both = {}
    for name, n in n_rows.items():
        rows = order[n[order] > 0]
        weight = weights[name][rows] if name in weights else None
        both[name] = np.asarray(qid[rows]), values[name][rows], weight
    return comparison.result(both)


def _check_ids(tables: Mapping[str, ValueTable]) -> None:
    """Raise TypeError for ids that Spark would convert in order to match them."""
    types = [table.frame.schema[int(table.qid)].dataType.simpleString() for table in tables.values()]
    if len(set(types)) > 1 and not set(types) <= {*INTEGERS}:
        refuse_other_ids(types)


def _joined(tables: Mapping[str, ValueTable], metric: str) -> Any:
    """A row a query: value, weight and number of rows in each table, and in "odd" the id if it is not once in both."""
    sides = []
    for name, table in tables.items():
        value = f"`{table.columns[metric].values}` as value_{name}"
        n_rows = f"count(1) over (partition by `{table.qid}`) as n_{name}"
        weight = [f"`{table.weight}` as weight_{name}"] if table.metrics[metric].weighted else []
        sides.append(table.frame.selectExpr(f"`{table.qid}` as qid", value, n_rows, *weight))
    columns = [column for side in sides for column in side.columns[1:]]
    return sides[0].join(sides[1], "qid", "full").selectExpr(*columns, "if(n_a = 1 and n_b = 1, null, qid) as odd")
