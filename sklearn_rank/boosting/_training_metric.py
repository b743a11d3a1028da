"""Metrics by name, evaluated in each round on data sets that are checked, grouped and prepared once."""

from __future__ import annotations

import math
import weakref
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.doors import BOOSTING
from sklearn_rank._data.look import look_at_labels
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import check_shapes, data_of, query_weight
from sklearn_rank._evaluation.prepared import PreparedMetrics, prepare_rows
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._utils.echo import one_line
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array


class TrainingMetric:
    """One or several metrics of a training loop.

    Two objects are equal if they are for the same library and compute the same metrics. A copy or a pickle keeps no
    rows.
    """

    maker: str
    """Public function that creates the metric."""

    value_of: Callable[[Any], float] | None = None
    """Value of predictions for the validation rows of early stopping; None: for the rows that the library passes."""

    def __init__(self, metrics: MetricsLike, n_jobs: int | None, keywords: dict[str, Any]) -> None:
        check_n_jobs(n_jobs)
        self._specs = parse_metrics(metrics, **keywords)
        self._n_jobs = n_jobs
        self._seen = SeenRows(self._specs, n_jobs)

    @property
    def __name__(self) -> str:
        """Names of the metrics, which the library prints."""
        return ", ".join(self._specs)

    @property
    def _one(self) -> str:
        """Name of the first metric, for calls that errors suggest."""
        return one_line(str(next(iter(self._specs.values()))), 100)

    def __repr__(self) -> str:
        """The call that creates this object."""
        return f"{self.maker}({', '.join(map(repr, self._specs))})"

    def __eq__(self, other: object) -> bool:
        """Whether `other` computes the same metrics for the same library."""
        return isinstance(other, TrainingMetric) and type(other) is type(self) and other._meaning == self._meaning

    def __hash__(self) -> int:
        """Hash of the names."""
        return hash((type(self), *self._specs))

    @property
    def _meaning(self) -> dict[str, str]:
        """Canonical text of each metric, with all its keywords."""
        return {name: spec.meaning for name, spec in self._specs.items()}

    def __getstate__(self) -> dict[str, Any]:
        """State without the stored rows."""
        return {**vars(self), "_seen": SeenRows(self._specs, self._n_jobs)}

    def _values(self, prepared: PreparedMetrics, y_score: NDArray[Any]) -> dict[str, float]:
        """Mean of each metric; raise if a metric is undefined for all queries."""
        result = prepared.evaluate(y_score)
        n_queries = len(result.qid)
        for name, spec in self._specs.items():
            if math.isnan(spec["replace_undefined_by"]) and result.n_undefined[name] == n_queries:
                raise ValueError(f"{name} is undefined for all {n_queries} queries, so no round is the best.")
        return result.mean()


def scores_of(predictions: NDArray[Any]) -> Array:
    """One score per row: a prediction, or the expected grade from probabilities of the grades 0, 1, 2, ..."""
    if predictions.ndim == 1:
        return predictions
    total = predictions.sum(axis=1)
    if not (predictions.min() >= 0 and np.abs(total - 1).max() < 1e-3):
        raise ValueError(
            "Predictions with a column for each grade rank by the expected grade, so the probabilities of each row "
            f"must add up to 1. Got sums from {total.min():g} to {total.max():g}: a custom objective returns no "
            "probabilities."
        )
    return np.asarray(predictions @ np.arange(predictions.shape[1], dtype=np.float64))


# --- rows of data sets -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SeenRowsEntry:
    """Prepared metrics for the rows of a data set, and the labels, sizes and weights at that time.

    An array that is the owner itself is stored as None, so that the entry does not keep the owner alive.
    """

    owner: weakref.ref[Any]
    arrays: tuple[NDArray[Any] | None, ...]
    label: Array
    prepared: PreparedMetrics

    def is_of(self, owner: Any, arrays: tuple[NDArray[Any] | None, ...], label: NDArray[Any]) -> bool:
        """Whether the owner still has the same rows: its labels, queries or weights may have been replaced."""
        same = self.owner() is owner and all(map(_same, self.arrays, arrays))
        # Labels may have been modified in place.
        return same and np.array_equal(self.label, np.ravel(label))


class SeenRows:
    """Cache of prepared metrics by the object that owns the rows, for the lifetime of the object."""

    def __init__(self, specs: Mapping[str, MetricSpec], n_jobs: int | None) -> None:
        self._specs, self._n_jobs = specs, n_jobs
        self._entries: dict[int, SeenRowsEntry] = {}

    def metrics_of(
        self, owner: Any, label: NDArray[Any], sizes: NDArray[Any], weight: NDArray[Any] | None,
        check: Callable[[], None] = lambda: None,
    ) -> PreparedMetrics:  # fmt: skip
        """Return prepared metrics of the owner's rows; the first call checks (also with `check`) and groups them."""
        key, arrays = id(owner), tuple(None if x is owner else x for x in (label, sizes, weight))
        entry = self._entries.get(key)
        if entry is None or not entry.is_of(owner, arrays, label):
            check()
            data = group_adjacent(label, sizes, weight)
            data.grouping.n_jobs = self._n_jobs
            look_at_labels(BOOSTING, data, self._specs)
            forget = weakref.ref(owner, lambda _: self._entries.pop(key, None))
            prepared = prepare_rows(data, self._specs)
            entry = self._entries[key] = SeenRowsEntry(forget, arrays, data.label, prepared)
        return entry.prepared


def group_adjacent(label: NDArray[Any], sizes: NDArray[Any], weight: NDArray[Any] | None) -> Data:
    """Group rows into adjacent queries of the given sizes; weights are by row, by query, or None."""
    y, kept = np.array(column(as_floats(label, "y"))), np.asarray(sizes)[np.asarray(sizes) > 0].astype(np.int64)
    grouping = Grouping.by_sizes(kept)
    check_shapes(y, y)
    if grouping.n_rows != len(y):
        raise ValueError(f"Sizes of queries must add up to the {len(y)} rows. Got {grouping.n_rows}.")
    if weight is None:
        return data_of(y, grouping)
    if len(weight) == len(kept):
        weight = np.repeat(weight, kept)
    try:
        of_query = query_weight(weight, grouping)
    except ValueError as error:
        raise ValueError(
            f"{error} Row weights affect only training: evaluate on a data set without weights, "
            "or with the same weight for all rows of a query."
        ) from None
    return data_of(y, grouping, of_query)


def _same(kept: NDArray[Any] | None, given: NDArray[Any] | None) -> bool:
    """Whether both are the same array, or hold the same numbers."""
    return kept is given or (kept is not None and given is not None and np.array_equal(kept, given))
