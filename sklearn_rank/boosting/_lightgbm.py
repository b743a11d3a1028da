"""Metrics for LightGBM: `feval=` of train and cv, `eval_metric=` of LGBMRanker."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank.boosting._training_metric import TrainingMetric, scores_of


@named_arguments
def lightgbm_metric(metric: MetricsLike, *, n_jobs: int | None = None, **keywords: Any) -> LightGBMMetric:
    """Make a metric for LightGBM that evaluates whole queries.

    Parameters
    ----------
    metric : str, metric function, callable, sequence of them, or dict of str to one of them
        Metrics, as for `evaluate`, such as "map@10". Several metrics are computed in a single pass.
    n_jobs : int or None, default=None
        Number of threads, counted as in joblib.
    **keywords
        Keywords of the metrics, such as `ties` or `gain`.

    Returns
    -------
    LightGBMMetric
        For ``lgb.train(feval=)``, ``lgb.cv(feval=)`` and ``LGBMRanker.fit(eval_metric=)``, by itself or in a list. It
        returns name, value, and whether higher is better. For early stopping by this metric, switch off LightGBM's own
        metrics by ``metric="None"``, because training stops as soon as any metric stops improving.

    Raises
    ------
    ValueError, TypeError
        If a metric or keyword is unknown or has a bad value. During training: if the data have no groups; if weights
        vary within a query; or if a fold of ``lgb.cv`` splits a query.

    Notes
    -----
    Row weights that are constant within a query are weights of the query. Multiclass predictions rank by the expected
    grade.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank.boosting import lightgbm_metric
    >>> metric = lightgbm_metric("mrr")
    >>> metric
    lightgbm_metric('mrr')

    LightGBM calls the metric with labels, predictions, weights and sizes of queries. Here the first of two queries has
    its relevant document at rank 2, the second at rank 1:

    >>> metric(np.array([0, 1, 1, 0]), np.array([2, 1, 2, 1]), None, np.array([2, 2]))
    ('mrr', 0.75, True)
    """
    return LightGBMMetric(metric, n_jobs, keywords)


class LightGBMMetric(TrainingMetric):
    """Metric with the two signatures of LightGBM; created by `lightgbm_metric`."""

    maker = "lightgbm_metric"

    def __call__(
        self, first: Any, second: Any, weight: Any = None, group: Any = None, /
    ) -> tuple[str, float, bool] | list[tuple[str, float, bool]]:
        """Return name, value and direction.

        Parameters
        ----------
        first, second : ndarray and Dataset, or two ndarrays
            Predictions and their data set; or labels and predictions if LGBMRanker calls the metric.
        weight, group : ndarray or None, default=None
            Weight of each row and number of rows of each query, if LGBMRanker calls the metric.
        """
        if self.value_of is not None:
            ((name, spec),) = self._specs.items()
            return name, self.value_of(second), spec.greater_is_better
        label, predictions = first, second
        if hasattr(second, "get_group"):
            label, predictions = second.get_label(), first
            weight, group = second.get_weight(), second.get_group()
        if group is None:
            raise ValueError(
                "LightGBM passes queries to a metric only if the data have them: lgb.Dataset(X, y, group=...), or "
                "LGBMRanker with group= and eval_group=. For a model without queries, use QueryRanker("
                f"LGBMRegressor(...), eval_metric={self._one!r}, early_stopping_rounds=...) and fit(X, y, qid=qid, "
                "eval_set=(X_valid, y_valid, qid_valid)). Got data without group."
            )
        prepared = self._seen.metrics_of(label, label, group, weight, check=lambda: _refuse_torn(second))
        values = self._values(prepared, scores_of(predictions))
        results = [(n, v, self._specs[n].greater_is_better) for n, v in values.items()]
        return results[0] if len(results) == 1 else results


def _refuse_torn(dataset: Any) -> None:
    """Refuse a subset of rows, such as a fold, that contains only some rows of a query."""
    used, full = (getattr(dataset, name, None) for name in ("used_indices", "reference"))
    if used is None or full is None or full.get_group() is None:
        return
    grouping = Grouping.by_sizes(np.asarray(full.get_group()))
    held = np.bincount(grouping.query_of_row[np.asarray(used)], minlength=grouping.n_queries)
    n_torn = np.count_nonzero((held > 0) & (held < grouping.sizes))
    if n_torn:
        raise ValueError(
            "A fold must hold whole queries: use lgb.cv without folds=, or folds=QueryKFold(). Got rows of "
            f"{n_torn} queries whose other rows are in another fold."
        )
