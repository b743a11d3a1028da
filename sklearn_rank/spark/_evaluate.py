"""`evaluate` and `per_query` for Spark DataFrames, computed on the workers."""

from __future__ import annotations

import json
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial, reduce
from operator import or_
from typing import Any

import numpy as np

from sklearn_rank._data.doors import SPARK
from sklearn_rank._data.look import Evidence, look_at_parts
from sklearn_rank._engine.attributes import check_attributes
from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.settled import metrics_to_add
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.column_arguments import (
    OF_QUERIES,
    ColumnNames,
    ColumnRequest,
    checked_names,
    column_arguments,
    refuse_missing_columns,
    refuse_no_rows,
    refuse_other_types,
)
from sklearn_rank._tables.columns import read_column
from sklearn_rank._tables.parts import FIELDS, JUDGED, NO_ADDED, SETTLED, result_from_columns, with_evidence
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional
from sklearn_rank._version import __version__
from sklearn_rank.spark._worker import (
    FINDINGS,
    PARTS,
    column_name,
    evaluate_partition,
    parts_name,
    result_columns,
    value_columns,
)

INTEGERS = ("tinyint", "smallint", "int", "bigint")
NUMBER_TYPES = (*INTEGERS, "decimal", "float", "double", "boolean", "void")
ID_TYPES = (
    *INTEGERS, "decimal", "float", "double", "boolean", "string", "char", "varchar", "binary", "date", "timestamp",
    "timestamp_ntz",
)  # fmt: skip
"""Id types for which Python and Spark agree on equality; strings with a collation are excluded."""

QUERY = "query of several columns"
"""Column of queries that several columns name, as JSON."""
OF_SEVERAL = (*INTEGERS, "boolean", "string")
"""Types of these columns, which JSON keeps."""


@named_arguments
@with_arguments_of(column_arguments)
def evaluate(
    data: Any, *, by: str | Sequence[str] | None = None, clusters: str | None = None, assume_grouped: bool = False,
    chance: bool = False, **columns: Any,
) -> Evaluation:  # fmt: skip
    """Compute metrics of a Spark DataFrame, with the same values as `sklearn_rank.evaluate` in memory.

    Spark collects the rows of each query (``repartition``), sorts each partition by query, and evaluates it on the
    workers (``mapInArrow``), which need this library. Only ids and values return to the driver, about 20 bytes per
    query and metric. If they do not fit there, use `per_query`. Spark Connect is supported.

    Parameters
    ----------
    data : pyspark.sql.DataFrame
        One row per document, in any order; only the named columns are read. Ids are numbers, strings, bytes, booleans,
        dates or timestamps.
    by : str, list of str or None, default=None
        Column of an attribute of each row's query, such as its country, for `Evaluation.segments`; or several. Constant
        within a query.
    clusters : str or None, default=None
        Column of what each row's query belongs to, such as a user, as in `sklearn_rank.evaluate_table`.
    assume_grouped : bool, default=False
        Whether each partition has all rows of its queries, adjacent or not. If True, Spark moves no rows, and a query
        in two partitions is an error. If False, Spark first moves all rows of a query to the same partition.
    **keywords
        Keywords of metrics, such as `unjudged` or `gain`. Each applies to all metrics that accept it; a keyword in a
        metric's name takes precedence. ``ties="stable"`` is an error, because rows have no order.

    Returns
    -------
    Evaluation
        Queries in the order of their ids. The result does not keep the data, so `tie_range` and `n_tied` are not
        available.

    Raises
    ------
    TypeError
        If `data` is not a Spark DataFrame, a column does not hold numbers, or ids have another type; or as for
        `sklearn_rank.evaluate`.
    ValueError
        If a column is missing, a metric has ``ties="stable"``, there are no rows, or a query is in two partitions with
        ``assume_grouped=True``; or as for `sklearn_rank.evaluate`.
    pyspark.errors.PythonException
        If a worker finds an error that `sklearn_rank.evaluate` would raise: a missing id, a score that is NaN or NULL,
        a label that a metric does not support; or if the worker lacks this library or has another version.
    ImportError
        If pyspark is not installed: it needs the extra "spark".

    See Also
    --------
    per_query : The values as a lazy table, whose means SQL computes.

    Notes
    -----
    Values are equal, to the last bit, to `sklearn_rank.evaluate` on rows in descending order of score and ascending
    order of label, so they are reproducible. In another order, values of queries with ties and pointwise errors may
    differ by rounding. A plain function gets the rows of a query in this order. A worker keeps in memory one batch of
    Spark, about 300,000 rows or the largest query, and the ids of the queries of its partition.

    Examples
    --------
    In query "a", the relevant document is at rank 2:

    >>> from pyspark.sql import SparkSession
    >>> from sklearn_rank.spark import evaluate
    >>> spark = SparkSession.builder.master("local[2]").getOrCreate()
    >>> rows = [("a", 0, 2.0), ("a", 1, 1.0), ("b", 1, 2.0), ("b", 0, 1.0)]
    >>> data = spark.createDataFrame(rows, "qid string, label int, score double")
    >>> evaluate(data, metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs, given = column_arguments(data, **columns)
    given = checked_names(given._replace(by=by, clusters=clusters))
    rows, (specs, names) = _prepared(data, ColumnRequest(specs, given))
    computed = with_references(specs) if chance else specs
    added = metrics_to_add(specs)
    schema = _result_schema(computed, added, rows.schema, names)
    score_name = str(given.y_score)
    table = _map(rows, names, computed, assume_grouped, result_columns, schema, score_name, added).toArrow()
    if not len(table):
        refuse_no_rows("a Spark DataFrame")
    grouping = group_rows(read_column(table, "qid"), len(table))
    ids = grouping.ids
    if len(ids) < len(table):
        raise ValueError(
            "With assume_grouped=True all rows of a query must be in the same partition; without it, Spark moves them "
            f"together. Got query {echo(ids[grouping.sizes > 1][:1].tolist()[0])} in two partitions."
        )
    if not isinstance(given.qid, str):
        ids[:] = [tuple(json.loads(one).values()) for one in ids]
    order = np.argsort(ids, kind="stable")
    evidence = map(Evidence.from_json, table[FINDINGS].drop_null().to_pylist())
    found = look_at_parts(SPARK, evidence, specs, name=score_name)
    values = {name: table[name].to_numpy()[order] for name in table.column_names if name not in ("qid", FINDINGS)}
    ids = ids[order]
    result = with_evidence(result_from_columns(computed, values, ids, values.get("weight")), found, specs)
    of_queries = {name: read_column(table, name)[order].tolist() for name in names.of_queries()}
    asked = (name for role, name in given.by_role() if role == "by")
    attributes = {name: of_queries[f"by{i}"] for i, name in enumerate(asked)} or None
    found_of = check_attributes(attributes, of_queries.get("clusters"), Grouping.one_row_each(ids))
    return replace(result, **found_of._asdict())


@named_arguments
@with_arguments_of(evaluate, "chance", "by", "clusters")
def per_query(data: Any, *, assume_grouped: bool = False, **columns: Any) -> Any:
    """Compute metrics by query as a lazy Spark DataFrame.

    Returns
    -------
    pyspark.sql.DataFrame
        One row per query, in any order: the column "qid", or the columns of a list `qid`; a column of doubles for each
        metric; and "weight" if `sample_weight` is given. Each action recomputes the table, unless it is cached or
        written. The name of a column is the name of its metric, with ``_`` for each dot and backtick, because Spark
        does not find columns with these characters: ``rbp(p=0_9)``. In SQL, put names between backticks:
        ``"avg(`ndcg@10`)"``. A query that is left out of the mean is NULL, so Spark's ``avg`` also leaves it out; other
        undefined queries have the value `replace_undefined_by`. With ``average="micro"`` a metric has a second column
        with the suffix ``_parts``, a struct of ``numerator``, ``denominator`` and ``defined``.

    Raises
    ------
    ValueError or TypeError
        As for `sklearn_rank.spark.evaluate`; or if two columns would have the same name. With ``assume_grouped=True``,
        a query in two partitions becomes two rows, because finding it would need a shuffle.
    pyspark.errors.PythonException
        When the table is computed, as for `sklearn_rank.spark.evaluate`.
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
    request = column_arguments(data, **columns)
    rows, (specs, names) = _prepared(data, request)
    schema = _table_schema(specs, rows.schema[names.qid].dataType, names.sample_weight is not None)
    table = _map(rows, names, specs, assume_grouped, value_columns, schema, None)
    if isinstance(request.names.qid, str):
        return table
    from pyspark.sql import functions, types

    fields = [types.StructField(str(i), data.schema[name].dataType) for i, name in enumerate(request.names.qid)]
    query = functions.from_json("qid", types.StructType(fields))
    ids = [query.getField(str(i)).alias(name) for i, name in enumerate(request.names.qid)]
    return table.select(*ids, *(functions.col(f"`{name}`") for name in table.columns[1:]))


def _prepared(data: Any, request: ColumnRequest) -> tuple[Any, ColumnRequest]:
    """Check the schema; return the needed columns, and the request with their new names."""
    specs, names = request
    for name, spec in specs.items():
        if spec["ties"] == "stable":
            raise ValueError(
                "ties='stable' needs an order of rows, which Spark does not have: pass "
                "ties='average', 'worst' or 'best', also if a convention sets ties='stable', or make the scores of "
                f"a query distinct. Got it for {echo(name)}."
            )
    import_optional("pyspark.sql", extra="spark", purpose="sklearn_rank.spark")
    if not hasattr(data, "mapInArrow") or not hasattr(data, "schema"):
        raise TypeError(
            "data must be a Spark DataFrame; for data in memory use "
            f"sklearn_rank.evaluate. Got {type(data).__name__} instead."
        )
    refuse_missing_columns(names, data.columns)
    types = {field.name: field.dataType.simpleString() for field in data.schema.fields}
    refuse_other_types(names, types, lambda kind: kind.partition("(")[0] in NUMBER_TYPES)
    for role, name in names.by_role():
        known = ID_TYPES if role != "qid" or isinstance(names.qid, str) else OF_SEVERAL
        if role in OF_QUERIES and types[name].partition("(")[0] not in known:
            raise TypeError(
                f"{role} must have one of the types {', '.join(known)}; cast other types to string, for example by "
                f"to_json(). Got the column {echo(name)} of type {types[name]} instead."
            )
    if not isinstance(names.qid, str):
        # Spark groups by text faster than by a struct, and no other columns give the same JSON.
        from pyspark.sql import functions

        ids = [functions.col(f"`{name.replace('`', '``')}`") for name in names.qid]
        of_all = functions.to_json(functions.struct(*(one.alias(str(i)) for i, one in enumerate(ids))))
        is_missing = reduce(or_, (one.isNull() for one in ids))
        data, names = data.withColumn(QUERY, functions.when(~is_missing, of_all)), names._replace(qid=QUERY)
    return _selected(data, names), ColumnRequest(specs, names.standard())


def _map(
    rows: Any, names: ColumnNames, specs: Mapping[str, MetricSpec], assume_grouped: bool,
    columns_of: Callable[[Evaluation, Mapping[str, MetricSpec]], dict[str, Any]], schema: Any, score_name: str | None,
    added: Mapping[str, MetricSpec] = NO_ADDED,
) -> Any:  # fmt: skip
    """Evaluate whole queries on the workers; if the name of the score column is given, collect evidence of misuse."""
    if not assume_grouped:
        rows = rows.repartition(names.qid)
    worker = partial(
        evaluate_partition, names=names, specs=specs, columns_of=columns_of, score_name=score_name, added=added
    )
    return rows.sortWithinPartitions(names.qid).mapInArrow(Shipped(worker), schema)


def _selected(df: Any, names: ColumnNames) -> Any:
    """Select and rename the needed columns, because for Spark "A" and "a" are the same name, and a dot is a field."""
    numbered = df.toDF(*map(str, range(len(df.columns))))
    columns = []
    for name, new in zip(names.flat(), names.standard().flat(), strict=True):
        column = numbered[str(df.columns.index(name))]
        kind = numbered.schema[df.columns.index(name)].dataType.simpleString()
        if new == "score" and (kind == "bigint" or kind.startswith("decimal")):
            # Workers check for lost digits.
            pass
        elif new not in names.standard().of_queries():
            column = column.cast("double")
        elif kind in ("float", "double"):
            # Add 0, because -0.0 and 0.0 are the same query but would go to different partitions.
            column = (column + 0.0).cast(kind)
        columns.append(column.alias(new))
    return numbered.select(*columns)


def _result_schema(specs: Mapping[str, MetricSpec], added: Container[str], rows: Any, names: ColumnNames) -> Any:
    from pyspark.sql import types as T

    counts = "n_documents", "label_fingerprints", "n_retrieved"
    fields = [("qid", rows[names.qid].dataType), *((name, T.LongType()) for name in counts)]
    for i, (name, spec) in enumerate(specs.items()):
        fields += [(f"{c}_{i}", T.BooleanType() if c == "undefined" else T.DoubleType()) for c in FIELDS]
        if name in added:
            fields.append((f"{SETTLED}_{i}", T.BooleanType()))
        if spec.order is None:
            fields.append((f"{JUDGED}_{i}", T.DoubleType()))
    if names.sample_weight is not None:
        fields.append(("weight", T.DoubleType()))
    fields += [(name, rows[name].dataType) for name in names.of_queries() if name != names.qid]
    fields.append((FINDINGS, T.StringType()))
    return T.StructType([T.StructField(name, kind) for name, kind in fields])


def _table_schema(specs: Mapping[str, MetricSpec], id_type: Any, weighted: bool) -> Any:
    from pyspark.sql import types as T

    parts = T.StructType(
        [T.StructField(name, T.BooleanType() if name == "defined" else T.DoubleType()) for name in PARTS]
    )
    fields: list[tuple[str, Any]] = [("qid", id_type)]
    for name, spec in specs.items():
        fields.append((column_name(name), T.DoubleType()))
        if spec["average"] == "micro":
            fields.append((parts_name(name), parts))
    if weighted:
        fields.append(("weight", T.DoubleType()))
    names = [name.lower() for name, _ in fields]
    for name, _ in fields:
        if names.count(name.lower()) > 1:
            raise ValueError(
                "Columns of a table must have names that differ in more than case, dots and backticks; "
                f"use metrics=dict(name=metric) to rename. Got {echo(name)} twice."
            )
    return T.StructType([T.StructField(name, kind) for name, kind in fields])


class Shipped:
    """A function of batches; a worker checks its environment before it unpickles the function."""

    def __init__(self, function: Callable[[Iterator[Any]], Iterator[Any]]) -> None:
        self._function = function

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        return self._function(batches)

    def __reduce__(self) -> Any:
        from pyspark import cloudpickle

        here = {"sklearn_rank": __version__, "numpy": np.__version__, "pyarrow": None}
        return _unpacker(), (cloudpickle.dumps(self._function), here)


def _unpacker() -> Callable[..., Any]:
    """Return the unpickling function for workers. It is nested, so that Spark sends it by value."""

    def unpack(packed: bytes, needs: dict[str, str | None]) -> Any:
        import importlib
        import pickle
        import sys

        way = (
            "Set PYSPARK_PYTHON (or spark.pyspark.python) to a Python that has it on every machine, or ship an "
            "environment with spark.archives: docs/larger/spark.md has the commands."
        )
        for name, version in needs.items():
            shown = name if version is None else f"{name} {version}"
            try:
                present = importlib.import_module(name).__version__
            except ImportError as error:
                raise ImportError(
                    f"Workers of Spark need {shown}. Got a worker that cannot import it: {error}. Its Python is "
                    f"{sys.executable}. {way}"
                ) from None
            # NumPy can read pickles of the same major version.
            digits = 1 if name == "numpy" else None
            if version is not None and present.split(".")[:digits] != version.split(".")[:digits]:
                raise ImportError(
                    f"Workers of Spark need {shown}, like the driver. Got {present} on a worker. Its Python is "
                    f"{sys.executable}. {way}"
                )
        try:
            return pickle.loads(packed)
        except (ImportError, AttributeError) as error:
            raise ImportError(
                "Workers of Spark must be able to import the metric functions. Got a worker that cannot: "
                f"{error}. Send their module by addPyFile or addArtifact(..., pyfile=True), or define them in the "
                "script or notebook itself."
            ) from None

    return unpack
