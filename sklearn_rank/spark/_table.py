"""Schemas of the workers' results."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.parts import FIELDS
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.spark._worker import FINDINGS, PARTS, column_name, parts_name


def check_frame(data: Any, name: str) -> None:
    """Raise TypeError if `data` is not a Spark DataFrame, classic or from Spark Connect."""
    import_optional("pyspark.sql", extra="spark", purpose="sklearn_rank.spark")
    if not hasattr(data, "mapInArrow") or not hasattr(data, "schema"):
        raise TypeError(
            f"{name} must be a Spark DataFrame; for data in memory use "
            f"sklearn_rank.evaluate. Got {type(data).__name__} instead."
        )


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


def table_schema(specs: Mapping[str, MetricSpec], id_type: Any, weighted: bool) -> Any:
    """Columns of a table of values.

    Raises
    ------
    ValueError
        If two columns would have the same name.
    """
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
