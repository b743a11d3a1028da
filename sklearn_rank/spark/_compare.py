"""`compare` of two systems whose values are Spark DataFrames: joined by Spark, tested in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank import stats
from sklearn_rank._chunks.value_table import TableValues, refuse_other_ids, refuse_repeated
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.typing import RandomState
from sklearn_rank.spark._table import ValueTable, read_value_table
from sklearn_rank.spark._worker import column_name
from sklearn_rank.stats._align import read_values
from sklearn_rank.stats._compare import ComparisonResult, check_options
from sklearn_rank.stats._significance import ComparisonOptions

INTEGERS = ("tinyint", "smallint", "int", "bigint")


@named_arguments
def compare(
    a: Any,
    b: Any,
    *,
    metric: str | None = None,
    test: str = "t",
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: Any = "raise",
    greater_is_better: bool | None = None,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> ComparisonResult:
    """Compare two systems by their values per query, as `sklearn_rank.stats.compare` does.

    Spark joins the values by query; two numbers per query come back for the test, 100 MB for some million queries.

    Parameters
    ----------
    a, b : pyspark.sql.DataFrame
        Tables that `per_query` made, with ids of one type.
    metric : str, default=None
        Metric to compare, as it was asked for or as its column is named; may be left out if there is only one.
    test : str, default="t"
        For the same queries ``"t"`` (paired), ``"wilcoxon"``, ``"sign"``, ``"randomization"`` (Fisher's),
        ``"bootstrap"``; for different queries ``"welch"``, ``"mannwhitney"``, ``"permutation"``.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater": a has the higher values, whether or not these are the better ones.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    missing : "raise" or float, default="raise"
        Value of a query that one system lacks; ``nan`` leaves it out.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says.
    n_resamples : int, default=9999
        Resamples of ``"randomization"``, ``"permutation"`` and ``"bootstrap"``.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples, which are drawn of queries in the order of their values.

    Returns
    -------
    ComparisonResult
        As from `sklearn_rank.stats.compare`.

    Raises
    ------
    ValueError
        If a query is missing or twice in a table, fewer than two are left, metrics were computed with different
        keywords, means are weighted, pooled or geometric, columns are missing, or a keyword is invalid.
    TypeError
        If ids are of two types, or a table is not a Spark DataFrame.
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
    options = ComparisonOptions(
        test, alternative, confidence_level, missing, greater_is_better, n_resamples, random_state
    )
    check_options("compare", options)
    tables = {name: read_value_table(table, name, "compare") for name, table in (("a", a), ("b", b))}
    if isinstance(metric, str):
        metric = {column_name(name): name for name in tables["a"].columns}.get(metric, metric)
    systems = {name: TableValues(table.metrics) for name, table in tables.items()}
    chosen = read_values(systems, metric, "compare")[0].metric
    assert chosen is not None
    _check_ids(tables)
    joined = _joined(tables, chosen).toArrow()
    n_rows = {name: np.nan_to_num(joined[f"n_{name}"].to_numpy()).astype(np.int64) for name in tables}
    values = {name: joined[f"value_{name}"].to_numpy() for name in tables}
    odd = joined["odd"]  # ids of queries that are not once in both
    for n in n_rows.values():
        if n.max(initial=0) > 1:
            refuse_repeated(odd[int(n.argmax())].as_py())
    order = np.lexsort([*values.values(), *n_rows.values()])  # a join has no order
    qid: Any = np.arange(len(order))
    gone = np.minimum(*n_rows.values()) == 0
    if missing == "raise" and options.paired and gone.any():  # the error names one of them
        order, qid = np.flatnonzero(gone), np.array([*odd.to_pylist(), None], dtype=object)
    both = []
    for name, n in n_rows.items():
        rows, column = order[n[order] > 0], {chosen: tables[name].metrics[chosen]}
        both.append(TableValues(column, np.asarray(qid[rows]), {chosen: values[name][rows]}))
    return stats.compare(*both, metric=chosen, **vars(options))


def _check_ids(tables: Mapping[str, ValueTable]) -> None:
    """Raise TypeError for ids that Spark would convert in order to match them."""
    types = [table.frame.schema[int(table.qid)].dataType.simpleString() for table in tables.values()]
    if len(set(types)) > 1 and not set(types) <= {*INTEGERS}:
        refuse_other_ids(types)


def _joined(tables: Mapping[str, ValueTable], metric: str) -> Any:
    """A row a query: value and number of rows in each table, and the id if it is not once in both."""
    sides = []
    for name, table in tables.items():
        value = f"`{table.columns[metric].values}` as value_{name}"
        n_rows = f"count(1) over (partition by `{table.qid}`) as n_{name}"
        sides.append(table.frame.selectExpr(f"`{table.qid}` as qid", value, n_rows))
    columns = [column for side in sides for column in side.columns[1:]]
    return sides[0].join(sides[1], "qid", "full").selectExpr(*columns, "if(n_a = 1 and n_b = 1, null, qid) as odd")
