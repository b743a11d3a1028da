"""Metrics of labels that stay: given scores again and again, they are checked, grouped and bound once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from sklearn_rank._engine.attributes import QueryAttributes
from sklearn_rank._engine.plan import ProgramPool
from sklearn_rank._engine.queries import DataSummary, Queries
from sklearn_rank._evaluation.kept_data import RankedData
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.score_rows import ScoreRows
from sklearn_rank._metric.compute import bound_metrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.check import Door
from sklearn_rank._misuse.rows import look
from sklearn_rank._utils.typing import MatrixLike

NO_PROPERTIES = QueryAttributes({}, None)


class PreparedMetrics:
    """Metrics of labels that stay, to be called with scores again and again; made by `prepare`.

    Threads may call it at the same time. A copy or a pickle has the labels, the queries and the metrics, and makes the
    rest anew when it is first called.

    Attributes
    ----------
    names : list of str
        Metrics, by the names that were given.
    """

    def __init__(
        self,
        queries: Queries,
        rows: ScoreRows,
        specs: Mapping[str, MetricSpec],
        n_jobs: int | None = None,
        *,
        is_single: bool = False,
        properties: QueryAttributes = NO_PROPERTIES,
        door: Door | None = None,
    ) -> None:
        self._queries = queries.by_query().with_scores(np.empty(0), DataSummary())
        self._rows, self._specs, self._n_jobs = rows, dict(specs), n_jobs
        self._is_single, self._properties, self._door = is_single, properties, door
        self._bind()

    def _bind(self) -> None:
        """Bind the metrics to the labels, before anything else is known of them."""
        self._bound = bound_metrics(self._queries, [*self._specs.values()], ProgramPool(math.inf))

    @property
    def names(self) -> list[str]:
        """Metrics, by the names that were given."""
        return [*self._specs]

    def __call__(self, y_score: MatrixLike) -> float | dict[str, float]:
        """Mean of each metric over queries.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,) or (n_queries, n_documents)
            Output of a model for the rows that were prepared, in their order.

        Returns
        -------
        float, or dict of str to float
            A dict if there are several metrics: the same numbers as ``evaluate(...).mean()``, to the last bit.

        Raises
        ------
        ValueError
            If there is not one score for each label, or one is NaN or +inf.
        TypeError
            If scores are no real numbers.
        """
        queries = self._with_scores(y_score)
        means = [float(mean[0]) for mean in self._bound.means(queries, self._n_jobs)]
        self._look(queries, y_score)
        return means[0] if self._is_single else dict(zip(self._specs, means, strict=True))

    def evaluate(self, y_score: MatrixLike) -> Evaluation:
        """Compute the metrics of every query.

        Parameters
        ----------
        y_score : array-like of shape (n_samples,) or (n_queries, n_documents)
            Output of a model for the rows that were prepared, in their order.

        Returns
        -------
        Evaluation
            As `sklearn_rank.evaluate` returns it.

        Raises
        ------
        ValueError, TypeError
            As a call does.
        """
        queries = self._with_scores(y_score)
        metrics = dict(zip(self._specs, self._bound.compute(queries, self._n_jobs), strict=True))
        self._look(queries, y_score)
        weight = None if queries.weight is None else queries.weight.copy()  # who gets them may write to them
        return Evaluation(
            queries.grouping.ids.copy(), weight, metrics, RankedData(queries, self._n_jobs), *self._properties
        )

    def _with_scores(self, y_score: MatrixLike) -> Queries:
        """Queries with these scores, which are checked."""
        score, seen = self._rows.read(y_score, self._n_jobs)
        queries = self._queries.with_scores(score, seen)
        if seen.has_unretrieved:
            self._bound.check_scores(queries)
        return queries

    def _look(self, queries: Queries, y_score: MatrixLike) -> None:
        """Check scores for misuse; `prepare` has checked the labels."""
        if self._door is not None and (queries.summary.scores_are_whole or type(y_score) is not np.ndarray):
            look(self._door, queries, self._specs, kinds="scores retrieved arguments names", y_score=y_score)

    def __repr__(self) -> str:
        """Metrics and the number of queries."""
        return f"PreparedMetrics of {', '.join(self._specs)} for {self._queries.grouping.n_queries} queries"

    def __getstate__(self) -> dict[str, Any]:
        """State without what is made of labels and metrics."""
        return {name: value for name, value in vars(self).items() if name != "_bound"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, and bind the metrics again."""
        vars(self).update(state)
        self._bind()
