"""What the columns of a table of values per query mean, means over them, and comparisons."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from sklearn_rank import stats
from sklearn_rank._chunks.column_arguments import column_arguments
from sklearn_rank._engine.values import PartialSums
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.names import direction_of, is_binary
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.stats._align import read_values
from sklearn_rank.stats._compare import ComparisonResult, check_options
from sklearn_rank.stats._significance import ComparisonOptions

KEY = "sklearn_rank"
"""Key of the description in the metadata of a column."""


class MetricColumn(NamedTuple):
    """Description of a column of values."""

    name: str
    """Name of the metric as it was asked for."""
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
        """Read what `to_json` wrote."""
        known = {name: saved[name] for name in cls._fields}
        return cls(**known | {"replace_undefined_by": float(saved["replace_undefined_by"])})

    def to_json(self) -> dict[str, Any]:
        """Values that JSON has: nan is text."""
        return self._asdict() | {"replace_undefined_by": str(self.replace_undefined_by)}


# --- means ---------------------------------------------------------------------------------------------------


def mean_of_sums(column: MetricColumn, sums: PartialSums) -> float:
    """Mean of a column from sums over its queries.

    Raises
    ------
    ValueError
        If the mean is pooled by a metric that is not defined in this process.
    """
    name, otherwise = column.metric, column.replace_undefined_by
    if math.isnan(otherwise) and not sums.counted[0] > 0:
        warn_caller(f"{name} is not defined for any query, so its mean is nan.")
    transform, metric = None, REGISTRY.get(name)
    if column.average == "micro":
        if metric is None:
            raise ValueError(
                f"A pooled mean takes the definition of its metric. Got {echo(name)}, which is not defined here."
            )
        transform = metric.transform
    function_name = None if metric is None or not metric.finite else metric.function_name
    return float(sums.mean(column.average, transform, otherwise, function_name)[0])


# --- errors --------------------------------------------------------------------------------------------------


def refuse_options(given: Mapping[str, Any]) -> None:
    """Raise TypeError if `mean` of a table gets arguments that only rows have, other than their defaults."""
    defaults = {name: p.default for name, p in inspect.signature(column_arguments).parameters.items()}
    defaults["assume_grouped"] = False
    names = [name for name, value in given.items() if name not in defaults or value != defaults[name]]
    if names:
        raise TypeError(
            "Without metrics= mean takes a table that per_query made and no other argument: the table says how its "
            f"means are taken. Got {one_line(', '.join(f'{name}=' for name in names), 300)}."
        )


def refuse_cut_queries(got: str) -> NoReturn:
    """Raise ValueError because a query is in two partitions."""
    raise ValueError(
        "With assume_grouped=True all rows of a query must be in one partition; without it they are brought together. "
        f"Got {got}."
    )


def refuse_other_ids(types: Sequence[Any]) -> NoReturn:
    """Raise TypeError because ids of two tables are of different types."""
    raise TypeError(
        f"qid must hold ids of one type in both tables; cast one. Got {types[0]} in 'a' and {types[1]} in 'b'."
    )


def refuse_repeated(query: Any) -> NoReturn:
    """Raise ValueError because a table has two rows of a query."""
    raise ValueError(
        "compare takes one value a query; with assume_grouped=True all rows of a query must be in one partition. "
        f"Got query {echo(query)} twice."
    )


# --- comparisons ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TableValues:
    """Values of a table as `sklearn_rank.stats` reads them; without queries, what is known of it before an action."""

    columns: Mapping[str, MetricColumn]
    qid: NDArray[Any] = field(default_factory=lambda: np.empty(0))
    values: Mapping[str, Array] = field(default_factory=dict)
    label_fingerprints: None = None
    clusters: None = None
    weight: Array | None = None
    judged: Mapping[str, Array] = field(default_factory=dict)
    judges_both: bool = False

    @property
    def per_query(self) -> dict[str, Array]:
        """Values of each metric, as far as they are known."""
        return {name: np.asarray(self.values.get(name, ()), dtype=np.float64) for name in self.columns}

    @property
    def meaning(self) -> dict[str, str]:
        """Each metric with all its keywords, in words."""
        return {name: column.meaning for name, column in self.columns.items()}

    @property
    def greater_is_better(self) -> dict[str, bool]:
        """Whether a higher value of a metric is better."""
        return {name: column.greater_is_better for name, column in self.columns.items()}

    @property
    def average(self) -> dict[str, str]:
        """Kind of each mean."""
        return {name: column.average for name, column in self.columns.items()}

    @property
    def is_binary(self) -> dict[str, bool]:
        """Whether a metric is 0 or 1 for each query by its definition, which names of the user's own do not say."""
        return {name: is_binary(column.name) for name, column in self.columns.items()}


class TableComparison(NamedTuple):
    """What `compare` knows of two tables before it joins them: the metric, its column in each, and the options."""

    metric: str
    columns: Mapping[str, MetricColumn]
    options: ComparisonOptions

    @classmethod
    def of(
        cls, tables: Mapping[str, Mapping[str, MetricColumn]], metric: str | None, options: Mapping[str, Any]
    ) -> TableComparison:
        """Check the options, and choose the metric by the descriptions of the columns of both tables.

        Raises
        ------
        ValueError
            If an option is invalid, the tables have no such metric, or it was computed otherwise in one of them.
        """
        checked = ComparisonOptions(**options)
        check_options("compare", checked)
        read = read_values({name: TableValues(columns) for name, columns in tables.items()}, metric, "compare")
        chosen = read[0].metric
        assert chosen is not None
        if tables["a"][chosen].metric == "" and checked.greater_is_better is None:
            checked = replace(checked, greater_is_better=direction_of(chosen, argument="greater_is_better=False"))
        return cls(chosen, {name: columns[chosen] for name, columns in tables.items()}, checked)

    def result(self, values: Mapping[str, tuple[NDArray[Any], Array, Array | None]]) -> ComparisonResult:
        """Compare ids, values and weights of both systems."""
        a, b = (
            TableValues({self.metric: self.columns[name]}, qid, {self.metric: of_system}, weight=weight)
            for name, (qid, of_system, weight) in values.items()
        )
        return stats.compare(a, b, metric=self.metric, **vars(self.options))
