"""Metrics for XGBoost: `custom_metric=` of train and cv, and the callback for early stopping."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._metric.spec import MetricLike, MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.boosting._training_metric import TrainingMetric, scores_of


@named_arguments
def xgboost_metric(metric: MetricsLike, *, n_jobs: int | None = None, **keywords: Any) -> XGBoostMetric:
    """Make a metric for XGBoost that evaluates whole queries.

    Parameters
    ----------
    metric : str, metric function, callable, sequence of them, or dict of str to one of them
        Metrics, as for `evaluate`, such as "map@10". Several metrics are computed in a single pass; XGBoost stops early
        by the last metric.
    n_jobs : int or None, default=None
        Number of threads, counted as in joblib.
    **keywords
        Keywords of the metrics, such as `ties` or `gain`.

    Returns
    -------
    XGBoostMetric
        For ``xgb.train(custom_metric=)`` and ``xgb.cv(custom_metric=)``. To stop early, pass the callback of
        `xgboost_early_stopping`, which knows the direction of the metric.

    Raises
    ------
    ValueError, TypeError
        If a metric or keyword is unknown or has a bad value, or a name contains a colon. During training: if the data
        have no queries; if XGBoost trains on several workers, each with some of the queries; or if one of XGBoost's
        scikit-learn models calls the metric.

    Notes
    -----
    XGBoost rounds the value of a metric to six decimals and accepts only names without spaces. Weights of queries are
    weights in the mean. Multiclass probabilities rank by the expected grade.

    Examples
    --------
    >>> from sklearn_rank.boosting import xgboost_metric
    >>> xgboost_metric("ndcg(gain=linear)@10")
    xgboost_metric('ndcg(gain=linear)@10')
    """
    return XGBoostMetric(metric, n_jobs, keywords)


@named_arguments
def xgboost_early_stopping(
    metric: MetricLike | XGBoostMetric,
    rounds: int,
    *,
    data_name: str | None = None,
    save_best: bool = False,
    min_delta: float = 0.0,
    **keywords: Any,
) -> Any:
    """Return XGBoost's callback for early stopping, with the name and the direction of a metric.

    By default XGBoost minimizes a metric with an unknown name, such as "mrr@10". This callback sets the direction.

    Parameters
    ----------
    metric : str, metric function, callable, dict of str to one of them, or a result of `xgboost_metric`
        Metric for early stopping, which ``custom_metric=`` computes.
    rounds : int
        Training stops after this number of rounds without a better value.
    data_name : str or None, default=None
        Name of the data set for early stopping, as in ``evals=``. None: the last data set.
    save_best : bool, default=False
        Whether to drop the trees after the best round.
    min_delta : float, default=0.0
        Minimum improvement that counts as better.
    **keywords
        Keywords of the metric, the same as for `xgboost_metric`.

    Returns
    -------
    xgboost.callback.EarlyStopping
        For ``xgb.train(callbacks=)`` and ``xgb.cv(callbacks=)``; valid for a single training.

    Raises
    ------
    ValueError, TypeError
        If the metric is unknown or there are several metrics, or `rounds` is not an int >= 1.
    ImportError
        If XGBoost is not installed.

    Examples
    --------
    >>> from sklearn_rank.boosting import xgboost_early_stopping
    >>> stop = xgboost_early_stopping("mrr@10", 20)
    >>> stop.metric_name, stop.maximize, stop.rounds
    ('mrr@10', True, 20)
    """
    COUNT("rounds", rounds, "xgboost_early_stopping")
    if not isinstance(metric, XGBoostMetric):
        metric = XGBoostMetric(metric, None, keywords)
    elif keywords:
        raise TypeError(f"metric is already configured; drop the keywords. Got {', '.join(keywords)}.")
    if len(metric._specs) != 1:
        raise ValueError(f"Early stopping needs a single metric. Got {', '.join(metric._specs)}.")
    ((name, spec),) = metric._specs.items()
    callback = import_optional("xgboost.callback", extra="rankers", purpose="Early stopping of XGBoost")
    return callback.EarlyStopping(
        rounds=rounds, metric_name=_shown(name), maximize=spec.greater_is_better, data_name=data_name,
        save_best=save_best, min_delta=min_delta,
    )  # fmt: skip


class XGBoostMetric(TrainingMetric):
    """Metric with the signature of XGBoost; created by `xgboost_metric`."""

    maker = "xgboost_metric"

    def __init__(self, metrics: MetricsLike, n_jobs: int | None, keywords: dict[str, Any]) -> None:
        super().__init__(metrics, n_jobs, keywords)
        for name in self._specs:
            if ":" in name:
                raise ValueError(
                    f"XGBoost parses values after a colon, so a name must not contain a colon. Got {echo(name)}."
                )

    def __call__(self, predictions: NDArray[Any], data: Any) -> tuple[str, float] | list[tuple[str, float]]:
        """Return name and value.

        Parameters
        ----------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            Predictions after the link function of the objective.
        data : DMatrix
            Data set with qid or group.
        """
        if not hasattr(data, "get_uint_info"):
            raise TypeError(
                "xgboost_metric is for xgb.train(custom_metric=) and xgb.cv(custom_metric=): the models XGBRanker, "
                "XGBRegressor and XGBClassifier call a metric with only labels and scores. XGBRanker calls it once per "
                "query, and counts a query of a single document as 1.0. Use QueryRanker(XGBRanker(...), "
                f"eval_metric={self._one!r}, early_stopping_rounds=...) and fit(X, y, qid=qid, eval_set=(X_valid, "
                f"y_valid, qid_valid)). Got {type(data).__name__}."
            )
        n_workers = sys.modules["xgboost"].collective.get_world_size()
        if n_workers > 1:
            raise ValueError(
                "On several workers XGBoost averages a Python metric over workers, not over queries: train with "
                "XGBoost's own metrics, and evaluate the predictions by sklearn_rank.evaluate or "
                f"sklearn_rank.spark.evaluate. Got {n_workers} workers."
            )
        indptr = data.get_uint_info("group_ptr")
        if len(indptr) < 2:
            raise ValueError(
                "XGBoost passes queries to a metric only if the data have them: xgb.DMatrix(X, y, qid=qid), rows "
                "sorted by qid. For a model without queries, use QueryRanker(XGBRegressor(...), "
                f"eval_metric={self._one!r}, early_stopping_rounds=...) and fit(X, y, qid=qid, eval_set=(X_valid, "
                "y_valid, qid_valid)). Got a DMatrix without qid or group."
            )
        weight = data.get_weight()
        prepared = self._seen.metrics_of(data, data.get_label(), np.diff(indptr), weight if len(weight) else None)
        values = self._values(prepared, scores_of(predictions))
        results = [(_shown(name), value) for name, value in values.items()]
        return results[0] if len(results) == 1 else results


def _shown(name: str) -> str:
    """Name without spaces, because XGBoost truncates a name at a space."""
    return "".join(name.split())
