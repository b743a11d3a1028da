"""Metrics for XGBoost: `custom_metric=` of train and cv, and the callback that stops by one of them."""

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
    """Metric for XGBoost, of whole queries.

    Parameters
    ----------
    metric : str, metric function, callable, sequence of them, or dict of str to one of them
        As `evaluate` takes them, such as "map@10". Several are computed in one pass; XGBoost stops early by the last.
    n_jobs : int or None, default=None
        Threads to use, counted as in joblib.
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
        If a metric or keyword is unknown or has a bad value, or a name has a colon. In training: if the data have no
        queries; if it trains on several workers, each with some of the queries; or if called by one of its models for
        scikit-learn.

    Notes
    -----
    XGBoost keeps six digits after the point of a metric's value, and names without blanks. Weights of queries weigh
    them in the mean. Multiclass probabilities rank by the expected grade.

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
    """XGBoost's callback for early stopping, with the name and the direction of a metric.

    XGBoost minimizes a metric whose name it does not know, such as "mrr@10", unless it is told otherwise; this callback
    tells it.

    Parameters
    ----------
    metric : str, metric function, callable, dict of str to one of them, or what `xgboost_metric` returned
        The metric to stop by, which ``custom_metric=`` computes.
    rounds : int
        Rounds without a better value after which training stops.
    data_name : str or None, default=None
        Name of the data set to stop by, as in ``evals=``. None: the last.
    save_best : bool, default=False
        Whether the booster is cut after its best round.
    min_delta : float, default=0.0
        Least difference that counts as better.
    **keywords
        Keywords of the metric, the same as of `xgboost_metric`.

    Returns
    -------
    xgboost.callback.EarlyStopping
        For ``xgb.train(callbacks=)`` and ``xgb.cv(callbacks=)``; for one training.

    Raises
    ------
    ValueError, TypeError
        If the metric is unknown or not one, or `rounds` is not an int >= 1.
    ImportError
        If XGBoost is not installed.

    Examples
    --------
    >>> from sklearn_rank.boosting import xgboost_early_stopping
    >>> stop = xgboost_early_stopping("mrr@10", 20)
    >>> stop.metric_name, stop.maximize, stop.rounds
    ('mrr@10', True, 20)
    """
    COUNT.check("rounds", rounds, "xgboost_early_stopping")
    if not isinstance(metric, XGBoostMetric):
        metric = XGBoostMetric(metric, None, keywords)
    elif keywords:
        raise TypeError(f"The metric has its keywords already. Got {', '.join(keywords)}, too.")
    if len(metric._specs) != 1:
        raise ValueError(f"Training stops by one metric; name it alone. Got {', '.join(metric._specs)}.")
    ((name, spec),) = metric._specs.items()
    callback = import_optional("xgboost.callback", extra="rankers", purpose="Early stopping of XGBoost")
    return callback.EarlyStopping(
        rounds=rounds, metric_name=_shown(name), maximize=spec.greater_is_better, data_name=data_name,
        save_best=save_best, min_delta=min_delta,
    )  # fmt: skip


class XGBoostMetric(TrainingMetric):
    """Metric with the signature of XGBoost; made by `xgboost_metric`."""

    maker = "xgboost_metric"

    def __init__(self, metrics: MetricsLike, n_jobs: int | None, keywords: dict[str, Any]) -> None:
        super().__init__(metrics, n_jobs, keywords)
        for name in self._specs:
            if ":" in name:
                raise ValueError(f"XGBoost reads values after a colon, so a name must have none. Got {echo(name)}.")

    def __call__(self, predictions: NDArray[Any], data: Any) -> tuple[str, float] | list[tuple[str, float]]:
        """Name and value.

        Parameters
        ----------
        predictions : ndarray of shape (n_samples,) or (n_samples, n_classes)
            After the link function of the objective.
        data : DMatrix
            With qid or group.
        """
        if not hasattr(data, "get_uint_info"):
            raise TypeError(
                "xgboost_metric is for xgb.train(custom_metric=) and xgb.cv(custom_metric=): the models XGBRanker, "
                "XGBRegressor and XGBClassifier call a metric with only labels and scores, XGBRanker once a query, "
                "whose mean it takes with 1.0 for a query of one document. Use QueryRanker(XGBRanker(...), "
                f"eval_metric={self._one!r}, early_stopping_rounds=...) and fit(X, y, qid=qid, eval_set=(X_valid, "
                f"y_valid, qid_valid)). Got {type(data).__name__}."
            )
        n_workers = sys.modules["xgboost"].collective.get_world_size()
        if n_workers > 1:
            raise ValueError(
                "On several workers XGBoost averages a Python metric over workers, not over "
                "queries: train with its own metrics there, and judge the predictions by sklearn_rank.evaluate or "
                f"sklearn_rank.spark.evaluate. Got {n_workers} workers."
            )
        indptr = data.get_uint_info("group_ptr")
        if len(indptr) < 2:
            raise ValueError(
                "XGBoost gives queries to a metric where the data have them: xgb.DMatrix(X, y, qid=qid), rows sorted "
                f"by qid. For a model without queries, use QueryRanker(XGBRegressor(...), eval_metric={self._one!r}, "
                "early_stopping_rounds=...) and fit(X, y, qid=qid, eval_set=(X_valid, y_valid, qid_valid)). Got a "
                "DMatrix without qid or group."
            )
        weight = data.get_weight()
        prepared = self._seen.metrics_of(data, data.get_label(), np.diff(indptr), weight if len(weight) else None)
        values = self._values(prepared, scores_of(predictions))
        results = [(_shown(name), value) for name, value in values.items()]
        return results[0] if len(results) == 1 else results


def _shown(name: str) -> str:
    """Name without blanks, at which XGBoost would cut it."""
    return "".join(name.split())
