"""`mean`: means of rows or of a table of values, summed up by Spark."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sklearn_rank._chunks.value_table import mean_of_sums, refuse_cut_queries, refuse_options
from sklearn_rank._engine.check import refuse_bad_weight
from sklearn_rank._engine.values import FLOOR, PartialSums
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank.spark._evaluate import per_query
from sklearn_rank.spark._table import TableColumn, read_value_table
from sklearn_rank.spark._worker import parts_name


@named_arguments
def mean(
    data: Any,
    *,
    metrics: MetricsLike | None = None,
    y_true: str | Sequence[str] = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> dict[str, float]:
    """Compute means of metrics over queries: only sums come back.

    It is one job of Spark, which also computes a table that was neither cached nor written.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        Rows, as in `sklearn_rank.spark.evaluate`; or, without `metrics`, a table that `per_query` made, also after
        filters, joins and renaming, or read from a Parquet file. A row of a table is a query: one that a join or union
        repeats counts as often.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=None
        As in `sklearn_rank.evaluate`. None: `data` is a table, which says how its means are taken.
    y_true, y_score, qid, sample_weight, assume_grouped, **keywords
        As in `sklearn_rank.spark.evaluate`, for rows.

    Returns
    -------
    dict of str to float
        As from `Evaluation.mean`, up to rounding: weighted, pooled or geometric where it was asked for.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.spark.evaluate`; or if a table was not made by `per_query`, or lacks its ids, its weights or
        the parts of a pooled mean.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import mean, per_query
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0), ("b", 0, 1.0)]
    >>> data = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> mean(data, metrics=["mrr", "p@1"])
    {'mrr': 0.75, 'p@1': 0.5}
    >>> mean(per_query(data, metrics=["mrr", "p@1"]))
    {'mrr': 0.75, 'p@1': 0.5}
    """
    of_rows: dict[str, Any] = {
        "y_true": y_true, "y_score": y_score, "qid": qid, "sample_weight": sample_weight,
        "assume_grouped": assume_grouped,
    }  # fmt: skip
    if metrics is None:
        refuse_options(keywords, **of_rows)
    else:
        data = per_query(data, metrics=metrics, **of_rows, **keywords)
    table = read_value_table(data, "data", "mean")
    weight = "1D" if table.weight is None else f"`{table.weight}`"
    n_queries = "count(1)" if table.once else f"count(distinct `{table.qid}`)"
    expressions = ["count(1)", n_queries, f"min({weight})", f"max({weight})"]
    for name, column in table.columns.items():
        expressions += _sums(name, column, weight if column.metric.weighted else "1D")
    (row,) = table.frame.selectExpr(*expressions).collect()
    n_rows, n_distinct, lowest, highest, *sums = row
    _refuse_rows(n_rows, n_distinct)
    refuse_bad_weight(np.array([lowest, highest]))
    numbers, means = np.array([0.0 if x is None else x for x in sums]).reshape(-1, 3), {}
    for (name, metric), of_metric in zip(table.metrics.items(), numbers, strict=True):
        means[name] = mean_of_sums(metric, PartialSums(*of_metric[:, None]))
    return means


def _sums(name: str, column: TableColumn, weight: str) -> list[str]:
    """Expressions of the three sums that a mean is made of."""
    value, parts, average = f"`{column.values}`", f"`{column.parts}`", column.metric.average
    if average == "micro":
        if column.parts is None:
            raise ValueError(f"A pooled mean is made of the column {echo(parts_name(name))}. Got a table without it.")
        defined = f"sum(if({parts}.defined, {weight}, 0D))"
        return [f"sum({parts}.numerator * {weight})", f"sum({parts}.denominator * {weight})", defined]
    counted = f"sum(if({value} is null, 0D, {weight}))"
    if average == "geometric":
        value = f"if({value} is null, null, ln(greatest({value}, {FLOOR!r}D)))"
    return [f"sum({value} * {weight})", counted, counted]


def _refuse_rows(n_rows: int, n_queries: int) -> None:
    if n_rows == 0:
        raise ValueError("At least one row is needed. Got a Spark DataFrame without rows.")
    if n_queries < n_rows:
        refuse_cut_queries(f"{n_rows} rows of {n_queries} queries")
