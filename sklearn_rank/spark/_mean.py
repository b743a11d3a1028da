"""`mean`: means of what `evaluate` returned, summed up by Spark."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from sklearn_rank._engine.check import refuse_bad_weight
from sklearn_rank._engine.values import FLOOR, PartialSums
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.spark._partition import parts_name
from sklearn_rank.spark._result import Metric, read_result


def mean(result: Any) -> dict[str, float]:
    """Mean of each metric over queries, weighted, pooled or geometric where it was asked for so.

    One job of Spark, which brings back sums alone. A result that was neither cached nor written is computed by it.

    Parameters
    ----------
    result : pyspark.sql.DataFrame
        What `evaluate` returned; also after a filter, a join, renaming, or read from a Parquet file, as metadata of its
        columns say how means are to be taken. A row is a query: one that a join or union repeats counts as often.

    Returns
    -------
    dict of str to float
        As of ``sklearn_rank.evaluate(...).mean()``, up to rounding: the order of sums is Spark's.

    Raises
    ------
    ValueError
        If the frame is no such result or has no rows, all weights are zero, or a query was in two partitions, with
        ``assume_grouped=True``.
    TypeError
        If it is no DataFrame of Spark.
    ImportError
        If pyspark is missing: it needs the extra "spark".

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import evaluate, mean
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 0, 2.0)]
    >>> df = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> mean(evaluate(df, metrics="mrr", replace_undefined_by=float("nan")))  # nothing is relevant in "b"
    {'mrr': 0.5}
    """
    found = read_result(result, "mean")
    weight = "1D" if found.weight is None else f"`{found.weight}`"
    n_queries = "count(1)" if found.once else f"count(distinct `{found.qid}`)"
    wanted = ["count(1)", n_queries, f"min({weight})", f"max({weight})"]
    for name, metric in found.metrics.items():
        wanted += _sums(name, metric, weight if metric.facts["weighted"] else "1D")
    (row,) = found.frame.selectExpr(*wanted).collect()
    n_rows, n_distinct, lowest, highest, *sums = row
    _refuse_rows(n_rows, n_distinct)
    refuse_bad_weight(np.array([lowest, highest]))
    numbers = np.array([0.0 if x is None else x for x in sums]).reshape(-1, 3)
    return {name: _mean(metric, *three) for (name, metric), three in zip(found.metrics.items(), numbers, strict=True)}


def _sums(name: str, metric: Metric, weight: str) -> list[str]:
    """Expressions of the three sums that a mean is made of."""
    value, parts, average = f"`{metric.column}`", f"`{metric.parts}`", metric.facts["average"]
    if average == "micro":
        if metric.parts is None:
            raise ValueError(f"A pooled mean is made of the column {parts_name(name)!r}. Got a frame without it.")
        defined = f"sum(if({parts}.defined, {weight}, 0D))"
        return [f"sum({parts}.numerator * {weight})", f"sum({parts}.denominator * {weight})", defined]
    counted = f"sum(if({value} is null, 0D, {weight}))"
    if average == "geometric":
        value = f"if({value} is null, null, ln(greatest({value}, {FLOOR!r}D)))"
    return [f"sum({value} * {weight})", counted, counted]


def _refuse_rows(n_rows: int, n_queries: int) -> None:
    if n_rows == 0:
        raise ValueError("At least one query is needed. Got a result without rows.")
    if n_queries < n_rows:
        raise ValueError(
            "A mean takes each query once; with assume_grouped=True all rows of a query must be in one partition. "
            f"Got {n_rows} rows of {n_queries} queries."
        )


def _mean(metric: Metric, total: float, count: float, defined: float) -> float:
    facts = metric.facts
    name, average, otherwise = facts["metric"], facts["average"], float(facts["replace_undefined_by"])
    if math.isnan(otherwise) and not defined > 0:
        warnings.warn(f"{name} is not defined for any query, so its mean is nan.", UserWarning, stacklevel=4)
    transform, entry = None, REGISTRY.get(name)
    if average == "micro":
        if entry is None:
            raise ValueError(
                f"A pooled mean takes the definition of its metric. Got {name!r}, which is not defined here."
            )
        transform = entry.transform
    function_name = None if entry is None else entry.function_name
    return float(
        PartialSums(*np.array([total, count, defined])[:, None]).mean(average, transform, otherwise, function_name)[0]
    )
