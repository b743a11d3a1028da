"""Metrics for XGBoost: `custom_metric=` of train and cv."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.echo import echo
from sklearn_rank.boosting._training_metric import TrainingMetric, scores_of

NAMES_MAXIMIZED = ("auc", "pre", "map", "ndcg")
"""Prefixes of names that XGBoost maximizes where it is not told, but for "mape"; all others it minimizes."""


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
        For ``xgb.train(custom_metric=)`` and ``xgb.cv(custom_metric=)``. Where these stop early, they need
        ``maximize=True`` for "mrr@10" and all other metrics whose names XGBoost does not know, and get an error
        without.

    Raises
    ------
    ValueError, TypeError
        If a metric or keyword is unknown or has a bad value, or a name has a colon. In training: if the data have no
        queries; if XGBoost would take the worst round for the best; if it trains on several workers, where each sees
        some of the queries; or if called by one of its models for scikit-learn.

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
        self._refuse_wrong_way()
        self._refuse_same_name(sys._getframe(1))
        n_workers = sys.modules["xgboost"].collective.get_world_size()
        if n_workers > 1:
            raise ValueError(
                "On several workers XGBoost averages a Python metric over workers, not over "
                "queries: train with its own metrics there, and judge the model by sklearn_rank.dask or "
                f"sklearn_rank.spark. Got {n_workers} workers."
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

    def _refuse_wrong_way(self) -> None:
        """Refuse a callback that stops early by one of these metrics and takes its worst value for its best."""
        shown = {_shown(name): spec.metric.greater_is_better for name, spec in self._specs.items()}
        for callback in _stopping_callbacks(sys._getframe(2)):
            name = callback.metric_name or [*shown][-1]
            if name not in shown:
                continue
            maximizes = _is_maximized(name) if callback.maximize is None else bool(callback.maximize)
            if maximizes != shown[name]:
                right, wrong = ("maximized", "minimized") if shown[name] else ("minimized", "maximized")
                raise ValueError(
                    f"XGBoost cannot know that {name} is to be {right}, and here it would stop as if it were to be "
                    f"{wrong}: pass maximize={shown[name]} to xgb.train or xgb.cv, or EarlyStopping(rounds=..., "
                    f"maximize={shown[name]}). Got maximize={callback.maximize}."
                )

    def _refuse_same_name(self, caller: FrameType) -> None:
        """Refuse names under which XGBoost has written a value of its own to the line that this one is added to."""
        line, data = (caller.f_locals.get(name, "") for name in ("res", "evname"))
        for name in self._specs:
            if f"\t{data}-{_shown(name)}:" in str(line):
                raise ValueError(
                    f"XGBoost computes a metric {name} of its own, and would log both under one name: leave its own "
                    f"out, or call this one otherwise, as in xgboost_metric({{'our_{name}': {name!r}}})."
                )


def _stopping_callbacks(frame: FrameType | None) -> Iterator[Any]:
    """Callbacks for early stopping of the training loops that this call comes from."""
    while frame is not None:
        if frame.f_globals.get("__name__") == "xgboost.callback":
            callbacks = getattr(frame.f_locals.get("self"), "callbacks", ())
            yield from (c for c in callbacks if hasattr(c, "maximize") and hasattr(c, "metric_name"))
        frame = frame.f_back


def _is_maximized(name: str) -> bool:
    """Whether XGBoost maximizes a metric of this name, if it is not told."""
    return name != "mape" and name.startswith(NAMES_MAXIMIZED)


def _shown(name: str) -> str:
    """Name without blanks, at which XGBoost would cut it."""
    return "".join(name.split())
