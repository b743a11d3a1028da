"""Descriptions of the columns in a table of values by query, and means over them."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from typing import Any, NamedTuple, NoReturn

from sklearn_rank._engine.values import PartialSums
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.column_arguments import column_arguments
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.warning import warn_caller

KEY = "sklearn_rank"
"""Key of the description in the metadata of a column."""


class MetricColumn(NamedTuple):
    """Description of a column of values."""

    name: str
    """Name of the metric as requested."""
    metric: str
    """Name in the registry."""
    meaning: str
    """The metric with all its keywords."""
    average: str
    greater_is_better: bool
    replace_undefined_by: float
    weighted: bool

    @classmethod
    def of_spec(cls, name: str, spec: MetricSpec, weighted: bool) -> MetricColumn:
        """Describe the column of a metric."""
        return cls(
            name, spec.metric.name, spec.meaning, spec["average"], spec.greater_is_better,
            float(spec["replace_undefined_by"]), weighted,
        )  # fmt: skip

    @classmethod
    def from_json(cls, saved: Mapping[str, Any]) -> MetricColumn:
        """Read the output of `to_json`."""
        known = {name: saved[name] for name in cls._fields}
        return cls(**known | {"replace_undefined_by": float(saved["replace_undefined_by"])})

    def to_json(self) -> dict[str, Any]:
        """Values that JSON supports: NaN becomes text."""
        return self._asdict() | {"replace_undefined_by": str(self.replace_undefined_by)}


# --- means ---------------------------------------------------------------------------------------------------


def mean_of_sums(column: MetricColumn, sums: PartialSums) -> float:
    """Compute the mean of a column from sums over its queries.

    Raises
    ------
    ValueError
        If the mean is pooled and its metric is not defined in this process.
    """
    name, otherwise = column.metric, column.replace_undefined_by
    if math.isnan(otherwise) and not sums.counted[0] > 0:
        warn_caller(f"{name} is not defined for any query, so its mean is nan.")
    transform, metric = None, REGISTRY.get(name)
    if column.average == "micro":
        if metric is None:
            raise ValueError(
                f"A pooled mean needs the definition of its metric. Got {echo(name)}, which is not defined here."
            )
        transform = metric.transform
    function_name = None if metric is None or not metric.finite else metric.function_name
    return float(sums.mean(column.average, transform, otherwise, function_name)[0])


# --- errors --------------------------------------------------------------------------------------------------


def refuse_options(given: Mapping[str, Any]) -> None:
    """Raise TypeError if `mean` of a table gets non-default arguments that apply only to rows."""
    defaults = {name: p.default for name, p in inspect.signature(column_arguments).parameters.items()}
    defaults["assume_grouped"] = False
    names = [name for name, value in given.items() if name not in defaults or value != defaults[name]]
    if names:
        raise TypeError(
            "Without metrics=, mean accepts a table from per_query and no other argument, because the table contains "
            f"the kinds of means. Got {one_line(', '.join(f'{name}=' for name in names), 300)}."
        )


def refuse_cut_queries(got: str) -> NoReturn:
    """Raise ValueError because a query is in two partitions."""
    raise ValueError(
        "With assume_grouped=True all rows of a query must be in the same partition; without it, Spark moves them "
        f"together. Got {got}."
    )
