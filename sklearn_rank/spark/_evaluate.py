"""`evaluate` and `per_query` of a Spark DataFrame: its rows are scored on the workers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from sklearn_rank._chunks.columns import read_column
from sklearn_rank._chunks.named_columns import ColumnNames, check_column_names, refuse_missing_columns, refuse_subtopics
from sklearn_rank._chunks.parts import result_from_columns
from sklearn_rank._chunks.value_table import refuse_cut_queries
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank.spark._shipping import Shipped
from sklearn_rank.spark._table import check_frame, result_schema, table_schema
from sklearn_rank.spark._worker import evaluate_partition, result_columns, value_columns

ID_TYPES = (
    "tinyint", "smallint", "int", "bigint", "decimal", "float", "double", "boolean", "string", "char", "varchar",
    "binary", "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
"""Types of ids that are equal for Python where they are for Spark; strings under a collation are not."""


@named_arguments
def evaluate(
    data: Any,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    y_true: str | Sequence[str] = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics on the rows of a Spark DataFrame, with the values of `sklearn_rank.evaluate` in memory.

    Rows are brought together by query (``repartition``), sorted by it in each partition, and scored on the workers
    (``mapInArrow``), which must have this library. Only ids and values come back to the driver, some 20 bytes per query
    and metric; for more than it can hold there are `per_query` and `mean`. Works with Spark Connect too.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        A row a document, in any order; only the named columns are read.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        As in `sklearn_rank.evaluate`.
    y_true : str or list of str, default="label"
        Column of the relevance of each row; a list of columns, one a subtopic, for metrics of diversity. NULL and NaN
        are documents without a judgement, which `unjudged` says how to read.
    y_score : str, default="score"
        Column of the output of the model. ``-inf``: judged but not retrieved.
    qid : str, default="qid"
        Column of the query of each row: numbers, strings, bytes, booleans, dates or timestamps.
    sample_weight : str or None, default=None
        Column of the weight of each row's query in the mean.
    assume_grouped : bool, default=False
        Whether each partition has all rows of its queries, adjacent or not. If so, no row is moved, and a query in two
        partitions is an error. Otherwise rows are brought to the others of their query first.
    **keywords
        Keywords for all metrics that have them, such as `unjudged` or `gain`; those in a name win. ``ties="stable"`` is
        an error, as rows have no order.

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
    mean : The means alone.

    Notes
    -----
    Values are those of `sklearn_rank.evaluate`, to the last bit, on rows in descending order of score and ascending
    order of label, so they are the same each time. In another order those of tied documents, and of the pointwise
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
    specs = parse_metrics(metrics, **keywords)
    rows, names = _prepare(data, specs, ColumnNames(y_true, y_score, qid, sample_weight))
    schema = result_schema(len(specs), rows.schema[names.qid].dataType, sample_weight is not None)
    table = _map(rows, names, specs, assume_grouped, result_columns, schema).toArrow()
    if not len(table):
        raise ValueError("At least one row is needed. Got a Spark DataFrame without rows.")
    ids, indptr, _ = group_rows(read_column(table, "qid"), len(table))
    if len(ids) < len(table):
        refuse_cut_queries(f"query {echo(ids[np.diff(indptr) > 1][:1].tolist()[0])} in two partitions")
    order = np.argsort(ids, kind="stable")
    columns = {name: table[name].to_numpy()[order] for name in table.column_names if name != "qid"}
    return result_from_columns(specs, columns, ids[order], columns.get("weight"))


@named_arguments
def per_query(
    data: Any,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    y_true: str | Sequence[str] = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> Any:
    """Compute metrics per query as a Spark DataFrame, lazily.

    Parameters
    ----------
    data, metrics, y_true, y_score, qid, sample_weight, assume_grouped, **keywords
        As in `sklearn_rank.spark.evaluate`.

    Returns
    -------
    pyspark.sql.DataFrame
        A row a query, in any order: the column "qid", a column of doubles for each metric, and "weight" with
        `sample_weight`. Each action computes it anew, unless it was cached or written. `mean` and `compare` take it.

        A column is named as its metric was asked for, but with ``_`` for each dot and backtick, as Spark cannot find a
        column by such a name: ``rbp(p=0_9)``. In SQL, names go between backticks: ``"avg(`ndcg@10`)"``. A query that is
        left out of the mean is NULL, so Spark's ``avg`` leaves it out as well; others that are undefined have the value
        `replace_undefined_by`. With ``average="micro"`` a metric has a second column, its name and ``_parts``, a struct
        of ``numerator``, ``denominator`` and ``defined``. The metadata of a column say which metric it holds, and how
        its mean is taken.

    Raises
    ------
    ValueError or TypeError
        As in `sklearn_rank.spark.evaluate`; or if two columns would have one name. With ``assume_grouped=True`` a query
        in two partitions becomes two rows, as finding it would take the shuffle that is saved; `mean` and `compare`
        raise.
    pyspark.errors.PythonException
        When the table is computed, as in `sklearn_rank.spark.evaluate`.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    See Also
    --------
    mean : Means of such a table.
    compare : Compare two systems by their tables.

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
    specs = parse_metrics(metrics, **keywords)
    rows, names = _prepare(data, specs, ColumnNames(y_true, y_score, qid, sample_weight))
    id_type = rows.schema[names.qid].dataType
    schema = table_schema(specs, id_type, sample_weight is not None, once=not assume_grouped)
    return _map(rows, names, specs, assume_grouped, value_columns, schema)


def _prepare(data: Any, specs: Mapping[str, MetricSpec], names: ColumnNames) -> tuple[Any, ColumnNames]:
    """Check what the schema tells; return the columns that are needed and their new names."""
    check_column_names(names)
    _refuse_order_of_rows(specs)
    types = check_frame(data, "data").types
    refuse_missing_columns(names, data.columns, "The Spark DataFrame")
    _check_types(data, names, types)
    refuse_subtopics(names, specs)
    return _selected(data, names)


def _map(
    rows: Any,
    names: ColumnNames,
    specs: Mapping[str, MetricSpec],
    assume_grouped: bool,
    columns_of: Callable[[Evaluation, Mapping[str, MetricSpec]], dict[str, Any]],
    schema: Any,
) -> Any:
    """Evaluate whole queries on the workers."""
    if not assume_grouped:
        rows = rows.repartition(names.qid)
    worker = partial(evaluate_partition, names=names, specs=specs, columns_of=columns_of)
    return rows.sortWithinPartitions(names.qid).mapInArrow(Shipped(worker), schema)


def _refuse_order_of_rows(specs: Mapping[str, MetricSpec]) -> None:
    for name, spec in specs.items():
        if spec["ties"] == "stable":
            raise ValueError(
                "ties='stable' takes equal scores in the order of the rows, and rows of Spark have none: pass "
                "ties='average', 'worst' or 'best', also beside a convention that asks for it, or make the scores of "
                f"a query distinct. Got it for {echo(name)}."
            )


def _check_types(df: Any, names: ColumnNames, types: Any) -> None:
    """Raise TypeError for columns of wrong types before anything is computed."""
    kinds = {field.name: field.dataType for field in df.schema.fields}
    number = types.NumericType, types.BooleanType, types.NullType
    for role, given in names._asdict().items():
        for name in [given] if isinstance(given, str) else given or ():
            kind = kinds[name].simpleString()
            if role == "qid" and kind.partition("(")[0] not in ID_TYPES:
                raise TypeError(
                    f"qid must be of one of the types {', '.join(ID_TYPES)}; cast others to string, such as by "
                    f"to_json(). Got the column {echo(name)} of type {kind} instead."
                )
            if role != "qid" and not isinstance(kinds[name], number):
                raise TypeError(f"{role} must hold real numbers. Got the column {echo(name)} of type {kind} instead.")


def _selected(df: Any, names: ColumnNames) -> tuple[Any, ColumnNames]:
    """Select the columns that are needed under new names: to Spark "A" and "a" are one name, and a dot is a field."""
    numbered = df.toDF(*map(str, range(len(df.columns))))
    several = None if isinstance(names.y_true, str) else [f"label{i}" for i in range(len(names.y_true))]
    weight = None if names.sample_weight is None else "weight"
    inside = ColumnNames(several or "label", "score", "qid", weight)
    columns = []
    for name, new in zip(names.flat(), inside.flat(), strict=True):
        column = numbered[str(df.columns.index(name))]
        kind = numbered.schema[df.columns.index(name)].dataType.simpleString()
        if new == "score" and (kind == "bigint" or kind.startswith("decimal")):
            pass  # workers check whether digits would be lost
        elif new != "qid":
            column = column.cast("double")
        elif kind in ("float", "double"):
            column = (column + 0.0).cast(kind)  # -0.0 and 0.0 are one query, and would be sent to two places
        columns.append(column.alias(new))
    return numbered.select(*columns), inside
