"""What a frame of results is: columns that say in their metadata what they are, and how a mean is to be taken.

Metadata stay with a column through filters, joins, renaming and files, and are lost where it goes into an expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.spark._partition import PARTS, column_name, parts_name

KEY = "sklearn_rank"
"""Of the metadata."""

KNOWN = ("meaning", "average", "greater_is_better")
"""Properties of a metric that its column keeps."""

ROLES = ("qid", "metric", "parts", "weight")


def import_spark(df: Any, function_name: str) -> Any:
    """pyspark.sql, once it is known that `df` is a frame of it, classic or of Connect.

    Raises
    ------
    ImportError
        If pyspark is missing.
    TypeError
        If it is another kind of frame.
    """
    sql = import_optional("pyspark.sql", extra="spark", purpose="sklearn_rank.spark")
    import_optional("pyspark.sql.types", extra="spark", purpose="sklearn_rank.spark")
    if not hasattr(df, "mapInArrow") or not hasattr(df, "schema"):
        raise TypeError(f"{function_name} takes a DataFrame of Spark. Got {type(df).__name__} instead.")
    return sql


# --- written -------------------------------------------------------------------------------------------------


def result_schema(specs: Mapping[str, MetricSpec], type_of_ids: Any, weighted: bool, once: bool) -> Any:
    """Columns of a result; `once`: whether it is sure that each query has one row.

    Raises
    ------
    ValueError
        If two would have one name.
    """
    from pyspark.sql import types as T

    parts = T.StructType(
        [T.StructField(name, T.BooleanType() if name == "defined" else T.DoubleType()) for name in PARTS]
    )
    fields = [("qid", type_of_ids, {"role": "qid", "once": once})]
    for name, spec in specs.items():
        fields.append((column_name(name), T.DoubleType(), _facts(name, spec, weighted)))
        if spec["average"] == "micro":
            fields.append((parts_name(name), parts, {"role": "parts", "name": name}))
    if weighted:
        fields.append(("weight", T.DoubleType(), {"role": "weight"}))
    names = [name.lower() for name, _, _ in fields]
    for name, _, _ in fields:
        if names.count(name.lower()) > 1:
            raise ValueError(
                "Columns of a result must have names that differ in more than case, dots and backticks; "
                f"metrics=dict(name=metric) gives others. Got {name!r} twice."
            )
    return T.StructType([T.StructField(name, kind, metadata={KEY: facts}) for name, kind, facts in fields])


def _facts(name: str, spec: MetricSpec, weighted: bool) -> dict[str, Any]:
    result = PerQuery.empty([spec], 0)
    return {
        "role": "metric",
        "name": name,
        "metric": spec.metric.name,
        "meaning": result.meaning,
        "average": result.average_kind,
        "greater_is_better": result.greater_is_better,
        "replace_undefined_by": str(float(spec["replace_undefined_by"])),  # JSON has no nan
        "weighted": weighted,
    }


# --- read ----------------------------------------------------------------------------------------------------


class Metric(NamedTuple):
    """A column of values, that of the parts of a pooled mean, and what the metadata say."""

    column: str
    parts: str | None
    facts: Mapping[str, Any]


class Result(NamedTuple):
    """A frame of results whose columns are named by their numbers, as the other fields have them."""

    frame: Any
    qid: str
    once: bool
    weight: str | None
    metrics: dict[str, Metric]

    def evaluation(self, qid: Any = (), values: Mapping[str, Any] = MappingProxyType({})) -> Evaluation:
        """What the metadata say, with the values that are known."""
        weighted = any(metric.facts["weighted"] for metric in self.metrics.values())
        known = {key: {name: metric.facts[key] for name, metric in self.metrics.items()} for key in KNOWN}
        return Evaluation.from_values(
            qid,
            {name: values.get(name, np.full(len(qid), np.nan)) for name in self.metrics},
            means=dict.fromkeys(self.metrics, np.nan),
            meaning=known["meaning"],
            average=known["average"],
            greater_is_better=known["greater_is_better"],
            weight=np.ones(len(qid)) if weighted else None,
        )


def read_result(df: Any, function_name: str) -> Result:
    """Columns of a result by what they are.

    Raises
    ------
    TypeError
        If it is no frame of Spark.
    ValueError
        If it is not what `evaluate` returned, or no longer has what means are made of.
    """
    import_spark(df, function_name)
    names = df.columns
    facts = [field.metadata.get(KEY, {}) for field in df.schema.fields]
    place = {role: [i for i, f in enumerate(facts) if f.get("role") == role] for role in ROLES}
    metrics = {}
    for i in place["metric"]:
        parts = [str(j) for j in place["parts"] if facts[j]["name"] == facts[i]["name"]]
        metrics[_name_of(names[i], facts[i])] = Metric(str(i), parts[0] if len(parts) == 1 else None, facts[i])
    weighted = any(metric.facts["weighted"] for metric in metrics.values())
    whole = len(place["qid"]) == 1 and len(place["weight"]) >= weighted and len(place["weight"]) <= 1
    if not whole or not 0 < len(metrics) == len(place["metric"]):
        raise ValueError(
            f"{function_name} takes what sklearn_rank.spark.evaluate returned, filtered or joined at will, with its "
            "ids, its weights if it has any, and metrics of different names; a column that went through an expression "
            f"is another one. Got columns {', '.join(map(repr, names))}."
        )
    weight = str(place["weight"][0]) if place["weight"] else None
    (qid,) = place["qid"]
    return Result(df.toDF(*map(str, range(len(names)))), str(qid), facts[qid]["once"], weight, metrics)


def _name_of(column: str, facts: Mapping[str, Any]) -> str:
    """Name of a metric: as it was asked for, unless the user renamed the column."""
    asked: str = facts["name"]
    return asked if column == column_name(asked) else column
