"""Metrics with fixed labels, for repeated calls with scores: labels are checked, grouped and bound once."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._data.doors import Door
from sklearn_rank._data.look import look_at_rows
from sklearn_rank._engine.columns import check_columns, check_rows, labels_of, names_of, queries_in
from sklearn_rank._engine.grouping import refuse_other_queries, take_rows
from sklearn_rank._engine.plan import ProgramPool
from sklearn_rank._engine.queries import Data, DataSummary, Queries
from sklearn_rank._engine.read import refuse_scores, summary_of, with_columns
from sklearn_rank._evaluation.kept_data import RankedData
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.compute import bound_metrics
from sklearn_rank._metric.names import columns_of
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import Array, Index, MatrixLike


class RowLabels(NamedTuple):
    """Labels of rows of an object of pandas, and of columns of any frame, without the object."""

    index: Any
    columns: Any = None


NO_LABELS: Mapping[str, RowLabels] = {}


class PreparedMetrics:
    """Metrics with fixed labels, for repeated calls with scores; created by `prepare`.

    Several threads may call it at the same time. A copy or a pickle has the labels, the queries and the metrics, and
    recomputes the rest at its first call.

    Examples
    --------
    >>> from sklearn_rank import prepare
    >>> mrr = prepare([0, 1, 1, 0], qid=[7, 7, 9, 9], metrics="mrr")
    >>> mrr([2, 1, 2, 1]), mrr([1, 2, 2, 1]), mrr.names
    (0.75, 1.0, ['mrr'])
    """

    def __init__(
        self, data: Data, specs: Mapping[str, MetricSpec], *, shape: tuple[int, ...] | None = None,
        rows: Index | None = None, labeled: Mapping[str, RowLabels] = NO_LABELS, is_single: bool = False,
        door: Door | None = None,
    ) -> None:  # fmt: skip
        self._data, self._specs = data.in_order(), dict(specs)
        # Shape of the scores: (n_queries, n_documents) if a row is a query.
        self._shape = (data.grouping.n_given,) if shape is None else shape
        # Row of the input at each row by query; None if they are the same. Rows under a mask are left out.
        self._rows = self._data.grouping.origin.rows if rows is None else rows
        # Arguments that had labels, which scores with labels must have too.
        self._labeled = dict(labeled)
        self._is_single, self._door = is_single, door
        self._bind()

    def _bind(self) -> None:
        """Bind the metrics to the labels, before anything else is known of them."""
        labels = self._data.with_scores(np.empty(0), DataSummary())
        self._bound = bound_metrics(labels, [*self._specs.values()], ProgramPool(math.inf))

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
            If the number of scores differs from the number of labels, or a score is NaN or +inf.
        TypeError
            If scores are not real numbers.
        """
        queries = self._with_scores(y_score)
        means = [float(mean[0]) for mean in self._bound.means(queries)]
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
            The same result as from `sklearn_rank.evaluate`.

        Raises
        ------
        ValueError, TypeError
            As for a call.
        """
        queries = self._with_scores(y_score)
        metrics = dict(zip(self._specs, self._bound.compute(queries), strict=True))
        self._look(queries, y_score)
        return Evaluation(queries.grouping.ids, queries.weight, metrics, RankedData(queries), *self._data.properties)

    def _with_scores(self, y_score: MatrixLike) -> Queries:
        score, seen = self._read(y_score)
        queries = self._data.with_scores(score, seen)
        if seen.has_unretrieved:
            self._bound.check_scores(queries)
        return queries

    def _look(self, queries: Queries, y_score: MatrixLike) -> None:
        """Check scores for misuse; `prepare` has checked the labels."""
        if self._door is not None and (queries.summary.scores_are_whole or type(y_score) is not np.ndarray):
            look_at_rows(self._door, queries, self._specs, kinds="scores retrieved arguments names", y_score=y_score)

    # --- scores --------------------------------------------------------------------------------------------------

    def _read(self, y_score: Any) -> tuple[Array, DataSummary]:
        """Scores by query, checked, and a summary of them."""
        if type(y_score) is not np.ndarray:
            self._check_labels(y_score)
        score = as_floats(y_score, "y_score")
        if len(self._shape) == 1:
            score = column(score)
        if score.shape != self._shape:
            hint = ""
            if score.ndim == 2 and score.shape[:1] == self._shape:
                hint = " Pass the scores of several systems one after the other: "
                hint += "[prepared(column) for column in y_score.T]."
            raise ValueError(
                f"y_score must have one score for each label that was prepared, so shape {self._shape}. Got shape "
                f"{score.shape} instead.{hint} Call prepare again for other rows."
            )
        if score.ndim == 2:
            score = score.ravel()
        by_query = score if self._rows is None else self._taken(score, self._rows)
        summary, _, are_good = summary_of(None, by_query, n_jobs=self._data.n_jobs)
        if not are_good:
            self._refuse(score)
        return by_query, summary

    def _taken(self, score: Array, rows: Index) -> Array:
        by_query = np.empty(len(rows))
        blocks = thread_blocks(len(rows), self._data.n_jobs)
        map_blocks(lambda a, b: take_rows(score, rows[a:b], by_query[a:b]), blocks, self._data.n_jobs)
        return by_query

    def _refuse(self, score: Array) -> None:
        """Refuse the first score that is NaN or +inf, under no mask."""
        kept, n_documents = score, math.prod(self._shape[1:])
        if self._rows is not None:
            kept = np.zeros(len(score))
            kept[self._rows] = score[self._rows]
        refuse_scores(kept, "y_score", lambda invalid: int(np.argmax(invalid)) // n_documents)

    def _check_labels(self, y_score: Any) -> None:
        """Refuse scores whose rows or columns have other labels than `y_true`."""
        check_rows(**self._labeled, y_score=y_score)
        if "y_true" in self._labeled and len(self._shape) == 2:
            check_columns(self._labeled["y_true"], y_score, "y_score")
        # Another number of rows is refused later, by its shape.
        if queries_in(y_score) is None or len(labels_of(y_score)) != self._shape[0]:
            return
        if len(self._shape) == 2:
            refuse_other_queries(y_score, self._data.grouping.ids, name="y_score")
            return
        qid = np.repeat(self._data.grouping.ids, self._data.grouping.sizes)
        if self._rows is None:
            refuse_other_queries(y_score, qid, name="y_score")
        else:
            kept = RowLabels(labels_of(y_score)[np.sort(self._rows)])
            refuse_other_queries(kept, qid[np.argsort(self._rows)], name="y_score")

    # --- the object itself ---------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        """Metrics and the number of queries."""
        return f"PreparedMetrics of {', '.join(self._specs)} for {self._data.grouping.n_queries} queries"

    def __getstate__(self) -> dict[str, Any]:
        """State without what is made of labels and metrics."""
        return {name: value for name, value in vars(self).items() if name != "_bound"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore the state, and bind the metrics again."""
        vars(self).update(state)
        self._bind()


def prepare_rows(data: Data, specs: Mapping[str, MetricSpec]) -> PreparedMetrics:
    """Prepare metrics of rows, with the columns that they read of the index."""
    return PreparedMetrics(with_columns(data, data, columns_of(specs), {}), specs)


def labels_of_rows(**given: Any) -> dict[str, RowLabels]:
    """Labels of the arguments that have some."""
    labels = {name: RowLabels(labels_of(x), names_of(x)) for name, x in given.items()}
    return {name: of_one for name, of_one in labels.items() if any(part is not None for part in of_one)}
