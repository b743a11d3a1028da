"""`evaluate`, `per_query` and `mean` of a Spark DataFrame: its rows are scored on the workers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

import numpy as np

from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.read import refuse_bad_weight
from sklearn_rank._engine.values import FLOOR, PartialSums
from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._misuse.entry_points import SPARK
from sklearn_rank._misuse.evidence import Evidence
from sklearn_rank._misuse.rows import look_at_evidence
from sklearn_rank._tables.column_arguments import (
    ColumnNames,
    ColumnRequest,
    column_arguments,
    refuse_missing_columns,
    refuse_no_rows,
    refuse_other_types,
)
from sklearn_rank._tables.columns import read_column
from sklearn_rank._tables.parts import result_from_columns
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import echo
from sklearn_rank.spark._shipping import Shipped
from sklearn_rank.spark._table import TableColumn, check_frame, read_value_table, result_schema, table_schema
from sklearn_rank.spark._value_table import mean_of_sums, refuse_cut_queries, refuse_options
from sklearn_rank.spark._worker import FINDINGS, evaluate_partition, parts_name, result_columns, value_columns

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBER_TYPES = (*INTEGERS, "decimal", "float", "double", "boolean", "void")
"""Types of columns that may hold numbers."""
ID_TYPES = (
    *INTEGERS, "decimal", "float", "double", "boolean", "string", "char", "varchar", "binary", "date", "timestamp",
    "timestamp_ntz",
)  # fmt: skip
"""Types of ids that are equal for Python where they are for Spark; strings under a collation are not."""


@named_arguments
@with_arguments_of(column_arguments)
def evaluate(data: Any, *, assume_grouped: bool = False, chance: bool = False, **columns: Any) -> Evaluation:
    """Compute many metrics on the rows of a Spark DataFrame, with the values of `sklearn_rank.evaluate` in memory.

    Rows are brought together by query (``repartition``), sorted by it in each partition, and scored on the workers
    (``mapInArrow``), which must have this library. Only ids and values come back to the driver, some 20 bytes per query
    and metric; for more than it can hold there are `per_query` and `mean`. Works with Spark Connect too.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        A row a document, in any order; only the named columns are read. Ids are numbers, strings, bytes, booleans,
        dates or timestamps.
    assume_grouped : bool, default=False
        Whether each partition has all rows of its queries, adjacent or not. If so, no row is moved, and a query in two
        partitions is an error. Otherwise rows are brought to the others of their query first.
    **keywords
        Keywords for all metrics that have them, such as `unjudged` or `gain`; those in a name win. ``ties="stable"`` is
        an error, because rows have no order.

    Returns
    -------
    Evaluation
        Queries in the order of their ids. It does not keep the data, so `tie_range` and `n_tied` are not available.

    Raises
    ------
    TypeError
        If `data` is not a Spark DataFrame, a column does not hold numbers, or ids are of another type; or as in
        `sklearn_rank.evaluate`.
    ValueError
        If a column is missing, a metric asks for ``ties="stable"``, there is no row, or a query is in two partitions
        with ``assume_grouped=True``; or as in `sklearn_rank.evaluate`.
    pyspark.errors.PythonException
        From a worker, with the error that `sklearn_rank.evaluate` would raise: a missing id, a score that is NaN or
        NULL, a label that a metric does not take; or if the worker lacks this library or has another version of it.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    See Also
    --------
    per_query : The values as a lazy table.
    mean : Means only.

    Notes
    -----
    Values are equal to `sklearn_rank.evaluate`, to the last bit, on rows in descending order of score and ascending
    order of label, so they are the same each time. In another order the values of tied documents, and the pointwise
    errors, may differ by rounding. A plain function gets the rows of a query in this order. A worker holds a batch of
    Spark, some 300,000 rows or the largest query, and the ids of the queries of its partition.

    Examples
    --------
    In query "a" the relevant document is ranked second:

    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import evaluate
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0), ("b", 0, 1.0)]
    >>> data = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> evaluate(data, metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    request = column_arguments(data, **columns)
    rows, (specs, names) = _prepared(data, request)
    computed = with_references(specs) if chance else specs
    schema = result_schema(len(computed), rows.schema[names.qid].dataType, names.sample_weight is not None)
    score_name = str(request.names.y_score)
    table = _map(rows, names, computed, assume_grouped, result_columns, schema, score_name).toArrow()
    if not len(table):
        refuse_no_rows("a Spark DataFrame")
    grouping = group_rows(read_column(table, "qid"), len(table))
    ids = grouping.ids
    if len(ids) < len(table):
        refuse_cut_queries(f"query {echo(ids[grouping.sizes > 1][:1].tolist()[0])} in two partitions")
    order = np.argsort(ids, kind="stable")
    _look(table[FINDINGS].drop_null().to_pylist(), specs, score_name)
    values = {name: table[name].to_numpy()[order] for name in table.column_names if name not in ("qid", FINDINGS)}
    return result_from_columns(computed, values, ids[order], values.get("weight"))


@named_arguments
@with_arguments_of(evaluate, "chance")
def per_query(data: Any, *, assume_grouped: bool = False, **columns: Any) -> Any:
    """Compute metrics per query as a Spark DataFrame, lazily.

    Returns
    -------
    pyspark.sql.DataFrame
        A row a query, in any order: the column "qid", a column of doubles for each metric, and "weight" with
        `sample_weight`. Each action computes it anew, unless it was cached or written. `mean` and `compare` take it.

        A column has the name of its metric, but with ``_`` for each dot and backtick, because Spark finds no column by
        these: ``rbp(p=0_9)``. In SQL, names go between backticks: ``"avg(`ndcg@10`)"``. A query that is left out of the
        mean is NULL, so Spark's ``avg`` leaves it out as well; others that are undefined have the value
        `replace_undefined_by`. With ``average="micro"`` a metric has a second column, its name and ``_parts``, a struct
        of ``numerator``, ``denominator`` and ``defined``. The metadata of a column say which metric it holds, and how
        its mean is taken.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.spark.evaluate`; or if two columns would have one name. With ``assume_grouped=True`` a query
        in two partitions becomes two rows, because to find it would take the shuffle that is saved; `mean` and
        `compare` raise.
    pyspark.errors.PythonException
        When the table is computed, as in `sklearn_rank.spark.evaluate`.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    Examples
    --------
    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import per_query
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0), ("b", 0, 1.0)]
    >>> data = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> per_query(data, metrics=["mrr", "p@1"]).orderBy("qid").show()
    +---+---+---+
    |qid|mrr|p@1|
    +---+---+---+
    |  a|0.5|0.0|
    |  b|1.0|1.0|
    +---+---+---+
    """
    return _values(data, column_arguments(data, **columns), assume_grouped)


def _values(data: Any, request: ColumnRequest, assume_grouped: bool, *, with_findings: bool = False) -> Any:
    """Table of values, and of evidence of misuse in its parts."""
    rows, (specs, names) = _prepared(data, request)
    id_type = rows.schema[names.qid].dataType
    schema = table_schema(specs, id_type, names.sample_weight is not None, once=not assume_grouped)
    score_name = None
    if with_findings:
        schema, score_name = schema.add(FINDINGS, "string"), str(request.names.y_score)
    return _map(rows, names, specs, assume_grouped, value_columns, schema, score_name)


def _look(parts: Iterable[str], specs: Mapping[str, MetricSpec], score_name: str) -> None:
    """Report the misuse that parts show."""
    look_at_evidence(SPARK, map(Evidence.from_json, parts), specs, name=score_name)


@named_arguments
@with_arguments_of(evaluate, "chance")
def mean(
    data: Any, *, metrics: MetricsLike | None = None, assume_grouped: bool = False, **columns: Any
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
    if metrics is None:
        refuse_options({"assume_grouped": assume_grouped, **columns})
    else:
        request = column_arguments(data, metrics=metrics, **columns)
        data = _values(data, request, assume_grouped, with_findings=True)
    table = read_value_table(data)
    weight = "1D" if table.weight is None else f"`{table.weight}`"
    n_queries = "count(1)" if table.once else f"count(distinct `{table.qid}`)"
    expressions = ["count(1)", n_queries, f"min({weight})", f"max({weight})"]
    for name, column in table.columns.items():
        expressions += _sums(name, column, weight if column.metric.weighted else "1D")
    # The evidence is the last column of rows that were evaluated here, and nulls are no part of a list.
    parts = "array()" if metrics is None else f"collect_list(`{len(table.frame.columns) - 1}`)"
    (row,) = table.frame.selectExpr(*expressions, parts).collect()
    n_rows, n_distinct, lowest, highest, *sums, parts = row
    if n_rows == 0:
        refuse_no_rows("a Spark DataFrame")
    if n_distinct < n_rows:
        refuse_cut_queries(f"{n_rows} rows of {n_distinct} queries")
    refuse_bad_weight(np.array([lowest, highest]))
    if metrics is not None:
        _look(parts, request.specs, str(request.names.y_score))
    numbers = np.array([0.0 if x is None else x for x in sums]).reshape(-1, 3, 1)
    of_metrics = zip(table.metrics.items(), numbers, strict=True)
    return {name: mean_of_sums(metric, PartialSums(*of_metric)) for (name, metric), of_metric in of_metrics}


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


# --- rows on their way to the workers ------------------------------------------------------------------------


def _prepared(data: Any, request: ColumnRequest) -> tuple[Any, ColumnRequest]:
    """Check what the schema says; return the columns that are needed, and the request with their new names."""
    specs, names = request
    _refuse_order_of_rows(specs)
    check_frame(data, "data")
    refuse_missing_columns(names, data.columns)
    types = {field.name: field.dataType.simpleString() for field in data.schema.fields}
    refuse_other_types(names, types, lambda kind: kind.partition("(")[0] in NUMBER_TYPES)
    if types[names.qid].partition("(")[0] not in ID_TYPES:
        raise TypeError(
            f"qid must be of one of the types {', '.join(ID_TYPES)}; cast others to string, such as by to_json(). "
            f"Got the column {echo(names.qid)} of type {types[names.qid]} instead."
        )
    return _selected(data, names), ColumnRequest(specs, names.standard())


def _map(
    rows: Any,
    names: ColumnNames,
    specs: Mapping[str, MetricSpec],
    assume_grouped: bool,
    columns_of: Callable[[Evaluation, Mapping[str, MetricSpec]], dict[str, Any]],
    schema: Any,
    score_name: str | None,
) -> Any:
    """Evaluate complete queries on the workers; with the name of the column of scores, collect evidence of misuse."""
    if not assume_grouped:
        rows = rows.repartition(names.qid)
    worker = partial(evaluate_partition, names=names, specs=specs, columns_of=columns_of, score_name=score_name)
    return rows.sortWithinPartitions(names.qid).mapInArrow(Shipped(worker), schema)


def _refuse_order_of_rows(specs: Mapping[str, MetricSpec]) -> None:
    for name, spec in specs.items():
        if spec["ties"] == "stable":
            raise ValueError(
                "ties='stable' needs an order of rows, and Spark has none: pass "
                "ties='average', 'worst' or 'best', also beside a convention that asks for it, or make the scores of "
                f"a query distinct. Got it for {echo(name)}."
            )


def _selected(df: Any, names: ColumnNames) -> Any:
    """Select the columns that are needed under new names: to Spark "A" and "a" are one name, and a dot is a field."""
    numbered = df.toDF(*map(str, range(len(df.columns))))
    columns = []
    for name, new in zip(names.flat(), names.standard().flat(), strict=True):
        column = numbered[str(df.columns.index(name))]
        kind = numbered.schema[df.columns.index(name)].dataType.simpleString()
        if new == "score" and (kind == "bigint" or kind.startswith("decimal")):
            # Workers check whether digits would be lost.
            pass
        elif new != "qid":
            column = column.cast("double")
        elif kind in ("float", "double"):
            # Zero is added because -0.0 and 0.0 are one query, and would be sent to two places.
            column = (column + 0.0).cast(kind)
        columns.append(column.alias(new))
    return numbered.select(*columns)
