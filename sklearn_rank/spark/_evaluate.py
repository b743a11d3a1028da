"""`evaluate`: from a frame of Spark with a row a document to one with a row a query."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

from sklearn_rank._chunks.columns import Columns, check_names, refuse_missing
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank.spark._on_workers import OnWorkers
from sklearn_rank.spark._partition import column_name, evaluate_partition
from sklearn_rank.spark._result import import_spark, result_schema

IDS = (
    "tinyint", "smallint", "int", "bigint", "decimal", "float", "double", "boolean", "string", "char", "varchar",
    "binary", "date", "timestamp", "timestamp_ntz",
)  # fmt: skip
"""Types of ids, equal for Python where they are for Spark; strings under a collation are not."""


def evaluate(
    df: Any,
    *,
    metrics: Any,
    y_true: Any = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    assume_grouped: bool = False,
    **keywords: Any,
) -> Any:
    """Compute many metrics on a DataFrame of Spark, query by query, where its rows are.

    Rows are brought together by query (``repartition``), sorted by it inside each partition, and evaluated on the
    workers (``mapInArrow``), which must have this library. Nothing runs before the result is asked for something, and
    then each time anew, unless it was cached or written. Works with Spark Connect too.

    Parameters
    ----------
    df : pyspark.sql.DataFrame
        A row a document.
    metrics : str, metric function, callable or sequence of them
        As `sklearn_rank.evaluate` takes them; a dict gives them names of your own.
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
        Whether all rows of a query are in one partition already; they need not be adjacent. Then nothing is shuffled.
        It is not checked here, where it would take what it saves: a query in two partitions becomes two rows, which
        `mean` and `compare` find and refuse.
    **keywords
        Keywords for all metrics that have them, such as `unjudged` or `gain`; those in a name win. ``ties="stable"``
        is refused, as rows have no order here.

    Returns
    -------
    pyspark.sql.DataFrame
        A row a query: column ``qid``, of the type it had; for each metric a column of doubles, named as asked, but
        with ``_`` for each dot and backtick, with which Spark cannot find a column by its name: ``rbp(p=0_9)``;
        ``weight``, with `sample_weight`. A query that is left out of the mean is NULL, so that Spark's ``avg`` leaves
        it out as well. For ``average="micro"`` a metric has a second column, its name and ``_parts``, a struct of
        ``numerator``, ``denominator`` and ``defined``. In SQL, names go between backticks: ``"avg(`ndcg@10`)"``.
        Metadata of the columns say how each mean is to be taken, and of which metric as it was asked for.

    Raises
    ------
    TypeError
        If `df` is no DataFrame of Spark, a column is not of numbers, or ids are of a type that is no id; or as from
        `sklearn_rank.evaluate`.
    ValueError
        If a column is not there once, a metric asks for ``ties="stable"``, or two columns of the result would have one
        name; or as from `sklearn_rank.evaluate`.
    pyspark.errors.PythonException
        When the result is computed, from a worker, with the error that `sklearn_rank.evaluate` would raise: a missing
        id, a score that is NaN or NULL, a label that a metric does not take; or that the worker lacks this library, or
        has another version of it.
    ImportError
        If pyspark is missing: it needs the extra "spark".

    Notes
    -----
    Values are those of `sklearn_rank.evaluate`, to the last bit, on rows in descending order of score and ascending of
    label, so they are the same each time. In another order those of tied documents, and of the pointwise errors, may
    differ by rounding. A plain function gets the rows of a query in this order. A worker holds a batch of Spark, some
    300,000 rows or the largest query, and the ids of the queries of its partition.

    Examples
    --------
    In query "a" the relevant document is ranked second:

    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import evaluate, mean
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0), ("b", 0, 1.0)]
    >>> df = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> result = evaluate(df, metrics=["mrr", "p@1"])
    >>> result.orderBy("qid").show()
    +---+---+---+
    |qid|mrr|p@1|
    +---+---+---+
    |  a|0.5|0.0|
    |  b|1.0|1.0|
    +---+---+---+
    >>> mean(result)
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs = parse_metrics(metrics, **keywords)
    names = Columns(y_true, y_score, qid, sample_weight)
    check_names(names)
    _refuse_order_of_rows(specs)
    types = import_spark(df, "evaluate").types
    refuse_missing(names, df.columns, "The frame")
    _check_types(df, names, types)
    rows, inside = _selected(df, names)
    weighted = sample_weight is not None
    schema = result_schema(specs, rows.schema[inside.qid].dataType, weighted, once=not assume_grouped)
    if not assume_grouped:
        rows = rows.repartition(inside.qid)
    columns = {column_name(name): spec for name, spec in specs.items()}
    function = OnWorkers(partial(evaluate_partition, names=inside, specs=columns))
    return rows.sortWithinPartitions(inside.qid).mapInArrow(function, schema)


def _refuse_order_of_rows(specs: Mapping[str, MetricSpec]) -> None:
    for name, spec in specs.items():
        if spec["ties"] == "stable":
            raise ValueError(
                "ties='stable' takes equal scores in the order of the rows, and rows of Spark have none: pass "
                "ties='average', 'worst' or 'best', also beside a convention that asks for it, or make the scores of "
                f"a query distinct. Got it for {name!r}."
            )


def _check_types(df: Any, names: Columns, types: Any) -> None:
    """Refuse columns by their types, before anything is computed."""
    kinds = {field.name: field.dataType for field in df.schema.fields}
    number = types.NumericType, types.BooleanType, types.NullType
    for role, asked in names._asdict().items():
        for name in [asked] if isinstance(asked, str) else asked or ():
            kind = kinds[name].simpleString()
            if role == "qid" and kind.partition("(")[0] not in IDS:
                raise TypeError(
                    f"qid must be of one of the types {', '.join(IDS)}; cast others to string, such as by to_json(). "
                    f"Got {name!r} of type {kind} instead."
                )
            if role != "qid" and not isinstance(kinds[name], number):
                raise TypeError(f"{role} must hold real numbers. Got {name!r} of type {kind} instead.")


def _selected(df: Any, names: Columns) -> tuple[Any, Columns]:
    """The columns that are needed, under names of our own: for Spark "A" and "a" are one name, and a dot is no dot."""
    numbered = df.toDF(*map(str, range(len(df.columns))))
    several = None if isinstance(names.y_true, str) else [f"label{i}" for i in range(len(names.y_true))]
    weight = None if names.sample_weight is None else "weight"
    inside = Columns(several or "label", "score", "qid", weight)
    columns = []
    for name, new in zip(names.flat(), inside.flat(), strict=True):
        column = numbered[str(df.columns.index(name))]
        kind = numbered.schema[df.columns.index(name)].dataType.simpleString()
        if new == "score" and (kind == "bigint" or kind.startswith("decimal")):
            pass  # workers see whether digits would be lost
        elif new != "qid":
            column = column.cast("double")
        elif kind in ("float", "double"):
            column = (column + 0.0).cast(kind)  # -0.0 and 0.0 are one query, and would be sent to two places
        columns.append(column.alias(new))
    return numbered.select(*columns), inside
