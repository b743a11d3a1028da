"""Schemas of the workers' results, and tables of values, identified by column metadata.

Filters, joins, renaming and files keep the metadata of a column. Expressions drop it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.parts import FIELDS
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.spark._value_table import KEY, MetricColumn
from sklearn_rank.spark._worker import FINDINGS, PARTS, column_name, parts_name

ROLES = ("qid", "metric", "parts", "weight")


def check_frame(data: Any, name: str) -> None:
    """Raise TypeError if `data` is not a Spark DataFrame, classic or from Spark Connect."""
    import_optional("pyspark.sql", extra="spark", purpose="sklearn_rank.spark")
    if not hasattr(data, "mapInArrow") or not hasattr(data, "schema"):
        raise TypeError(
            f"{name} must be a Spark DataFrame; for data in memory use "
            f"sklearn_rank.evaluate. Got {type(data).__name__} instead."
        )


# --- writing -------------------------------------------------------------------------------------------------


def result_schema(n_metrics: int, id_type: Any, weighted: bool) -> Any:
    """Columns for an `Evaluation`."""
    from pyspark.sql import types as T

    fields = [("qid", id_type), ("n_documents", T.LongType()), ("label_fingerprints", T.LongType())]
    for i in range(n_metrics):
        fields += [(f"{c}_{i}", T.BooleanType() if c == "undefined" else T.DoubleType()) for c in FIELDS]
    if weighted:
        fields.append(("weight", T.DoubleType()))
    fields.append((FINDINGS, T.StringType()))
    return T.StructType([T.StructField(name, kind) for name, kind in fields])


def table_schema(specs: Mapping[str, MetricSpec], id_type: Any, weighted: bool, once: bool) -> Any:
    """Columns of a table of values; `once`: each query has exactly one row.

    Raises
    ------
    ValueError
        If two columns would have the same name.
    """
    from pyspark.sql import types as T

    parts = T.StructType(
        [T.StructField(name, T.BooleanType() if name == "defined" else T.DoubleType()) for name in PARTS]
    )
    fields: list[tuple[str, Any, dict[str, Any]]] = [("qid", id_type, {"role": "qid", "once": once})]
    for name, spec in specs.items():
        described = {"role": "metric"} | MetricColumn.of_spec(name, spec, weighted).to_json()
        fields.append((column_name(name), T.DoubleType(), described))
        if spec["average"] == "micro":
            fields.append((parts_name(name), parts, {"role": "parts", "name": name}))
    if weighted:
        fields.append(("weight", T.DoubleType(), {"role": "weight"}))
    names = [name.lower() for name, _, _ in fields]
    for name, _, _ in fields:
        if names.count(name.lower()) > 1:
            raise ValueError(
                "Columns of a table must have names that differ in more than case, dots and backticks; "
                f"use metrics=dict(name=metric) to rename. Got {echo(name)} twice."
            )
    return T.StructType([T.StructField(name, kind, metadata={KEY: known}) for name, kind, known in fields])


# --- reading -------------------------------------------------------------------------------------------------


class TableColumn(NamedTuple):
    """A column of values, the column of parts for a pooled mean, and the description."""

    values: str
    parts: str | None
    metric: MetricColumn


class ValueTable(NamedTuple):
    """Table of values with numbers as column names; the other fields hold these names."""

    frame: Any
    qid: str
    once: bool
    weight: str | None
    columns: dict[str, TableColumn]

    @property
    def metrics(self) -> dict[str, MetricColumn]:
        """Description of each metric."""
        return {name: column.metric for name, column in self.columns.items()}


def read_value_table(data: Any) -> ValueTable:
    """Find the columns of a table by their roles.

    Raises
    ------
    TypeError
        If `data` is not a Spark DataFrame.
    ValueError
        If the table does not come from `per_query`, or lacks a column for the means.
    """
    check_frame(data, "data")
    names = data.columns
    known = [field.metadata.get(KEY, {}) for field in data.schema.fields]
    position = {role: [i for i, k in enumerate(known) if k.get("role") == role] for role in ROLES}
    columns = {}
    for i in position["metric"]:
        metric = MetricColumn.from_json(known[i])
        parts = [str(j) for j in position["parts"] if known[j]["name"] == metric.name]
        columns[_name_of(names[i], metric)] = TableColumn(str(i), parts[0] if len(parts) == 1 else None, metric)
    weighted = any(column.metric.weighted for column in columns.values())
    complete = len(position["qid"]) == 1 and weighted <= len(position["weight"]) <= 1
    if not complete or not 0 < len(columns) == len(position["metric"]):
        raise ValueError(
            "mean needs either rows with metrics=, or a table from per_query with its ids, its weights if it has any, "
            "and metrics with different names. Filters, joins and files keep the metadata of columns; expressions drop "
            f"it. Got columns {echo_all(names)}."
        )
    weight = str(position["weight"][0]) if position["weight"] else None
    (qid,) = position["qid"]
    return ValueTable(data.toDF(*map(str, range(len(names)))), str(qid), known[qid]["once"], weight, columns)


def _name_of(column: str, metric: MetricColumn) -> str:
    """Name of a metric as requested, unless the user renamed the column."""
    return metric.name if column == column_name(metric.name) else column
