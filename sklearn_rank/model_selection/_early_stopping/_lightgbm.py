"""LightGBM: our metric as its evaluation function, and a callback that stops by it; LightGBM keeps the best trees."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._own_stopping import changed, switched_off
from sklearn_rank.model_selection._early_stopping._scores import scores_of
from sklearn_rank.model_selection._fit_arguments import FitData, evaluation_arguments, training_arguments


def why_not_lightgbm(model: Any) -> str:
    """Reason why the best round of a model could not be used; "" if it can."""
    given = model.get_params()
    if any(given.get(name) == "dart" for name in ("boosting_type", "boosting", "boost")):
        return "with boosting_type='dart' later rounds change the trees of earlier ones, so use 'gbdt'"
    return ""


def fit_lightgbm(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model of LightGBM, its own metric switched off."""
    to_scores, stop = scores_of(model, train.y), import_module("lightgbm.callback").EarlyStopException

    def metric(_: Any, y_pred: Any) -> tuple[str, float, bool]:
        monitor.record(to_scores(y_pred))
        return str(monitor.spec), monitor.curve[-1], monitor.greater_is_better

    def stop_at_the_best(env: Any) -> None:
        if monitor.should_stop or env.iteration == env.end_iteration - 1:
            raise stop(monitor.best, env.evaluation_result_list)

    vars(stop_at_the_best)["order"] = 30  # after LightGBM has recorded the round
    with changed(model, metric="None", **switched_off(model)):
        return model.fit(
            train.X, train.y, **training_arguments(model, train), **evaluation_arguments(model, validation),
            eval_metric=metric, callbacks=[stop_at_the_best],
        )  # fmt: skip
