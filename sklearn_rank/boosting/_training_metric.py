"""Metrics by name, evaluated round after round on rows whose queries are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.echo import one_line
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array
from sklearn_rank.boosting._seen_rows import SeenRows


class TrainingMetric:
    """One or several metrics of a training loop.

    Two are equal if they are of one library and compute the same. A copy or a pickle keeps no rows.
    """

    maker: str
    """Public function that makes it."""

    def __init__(self, metrics: MetricsLike, n_jobs: int | None, keywords: dict[str, Any]) -> None:
        check_n_jobs(n_jobs)
        self._specs = parse_metrics(metrics, **keywords)
        self._n_jobs = n_jobs
        self._seen = SeenRows(self._specs, n_jobs)

    @property
    def __name__(self) -> str:
        """Names of the metrics, as the library prints them."""
        return ", ".join(self._specs)

    @property
    def _one(self) -> str:
        """Name of the first metric, for calls that errors suggest."""
        return one_line(str(next(iter(self._specs.values()))), 100)

    def __repr__(self) -> str:
        """Call that makes it."""
        return f"{self.maker}({', '.join(map(repr, self._specs))})"

    def __eq__(self, other: object) -> bool:
        """Whether `other` computes the same for the same library."""
        return isinstance(other, TrainingMetric) and type(other) is type(self) and other._meaning == self._meaning

    def __hash__(self) -> int:
        """Hash of the names."""
        return hash((type(self), *self._specs))

    @property
    def _meaning(self) -> dict[str, str]:
        """Each metric with all its keywords, in words."""
        return {name: spec.meaning for name, spec in self._specs.items()}

    def __getstate__(self) -> dict[str, Any]:
        """State without the rows that were seen."""
        return {**vars(self), "_seen": SeenRows(self._specs, self._n_jobs)}

    def _values(self, prepared: PreparedMetrics, y_score: NDArray[Any]) -> dict[str, float]:
        """Mean of each metric.

        Raises
        ------
        ValueError
            If one is not defined for any query.
        """
        result = prepared.evaluate(y_score)
        n_queries = len(result.qid)
        for name, spec in self._specs.items():
            if math.isnan(spec["replace_undefined_by"]) and result.n_undefined[name] == n_queries:
                raise ValueError(f"{name} is not defined for any of the {n_queries} queries, so no round is best.")
        return result.mean()


def scores_of(predictions: NDArray[Any]) -> Array:
    """One score a row: a prediction, or the expected grade of the probabilities of the grades 0, 1, 2, ...

    Raises
    ------
    ValueError
        If there are several columns that are no probabilities.
    """
    if predictions.ndim == 1:
        return predictions
    total = predictions.sum(axis=1)
    if not (predictions.min() >= 0 and np.abs(total - 1).max() < 1e-3):
        raise ValueError(
            "Predictions with a column for each grade rank by the expected grade, so each row must be probabilities. "
            f"Got rows with sums from {total.min():g} to {total.max():g}: a custom objective gives no probabilities."
        )
    return np.asarray(predictions @ np.arange(predictions.shape[1], dtype=np.float64))
