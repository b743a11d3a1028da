"""XGBoost: a callback that predicts the validation rows after each round, and keeps the trees up to the best one.

XGBoost calls a metric in Python once for each query, so it is not given ours. As it remembers its predictions for a
matrix, a round costs those of the new trees alone.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any

from numpy.typing import NDArray
from scipy.special import softmax

from sklearn_rank._utils.echo import echo
from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._own_stopping import changed, switched_off
from sklearn_rank.model_selection._early_stopping._scores import scores_of
from sklearn_rank.model_selection._fit_arguments import FitData, training_arguments


def why_not_xgboost(model: Any) -> str:
    """Reason why the best round of a model could not be used; "" if it can."""
    booster = model.get_params().get("booster")
    if booster in ("dart", "gblinear"):
        return f"with booster={echo(booster)} later rounds change what earlier ones have learned, so use 'gbtree'"
    if any(base.__name__.startswith("XGBRF") for base in type(model).__mro__):
        return "a random forest is trained in one round"
    if any(isinstance(callback, _callbacks().EarlyStopping) for callback in model.callbacks or ()):
        return "its callback EarlyStopping is given no rows, so leave it out and set early_stopping_rounds"
    return ""


def fit_xgboost(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model of XGBoost, which is shown no validation rows.

    Callbacks of the user's own come after ours, as XGBoost calls none after one that stops the training.
    """
    follow = _make_callback(model, validation, monitor, scores_of(model, train.y))
    with changed(model, callbacks=[follow, *(model.callbacks or ())], **switched_off(model)):
        return model.fit(train.X, train.y, **training_arguments(model, train))


def _make_callback(estimator: Any, validation: FitData, monitor: Monitor, to_scores: Any) -> Any:
    """Make a callback of XGBoost's own class, which can be imported only where XGBoost is."""
    rows = import_module("xgboost").DMatrix(
        validation.X, missing=estimator.missing, nthread=estimator.n_jobs, feature_types=estimator.feature_types,
        enable_categorical=estimator.enable_categorical,
    )  # fmt: skip

    class Follow(_callbacks().TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            return monitor.record(to_scores(_predict(model, rows, estimator)))

        def after_training(self, model: Any) -> Any:
            loses_categories = "c" in (model.feature_types or ())  # XGBoost's own, when it drops trees
            best = model if loses_categories else model[: monitor.best + 1]
            best.set_attr(best_iteration=str(monitor.best), best_score=str(monitor.curve[monitor.best]))
            return best

    return Follow()


def _predict(booster: Any, rows: Any, estimator: Any) -> NDArray[Any]:
    """Predictions, or probabilities of a classifier."""
    if estimator.get_params().get("objective") == "multi:softmax":  # which predicts classes
        return softmax(booster.predict(rows, output_margin=True), axis=1)
    return booster.predict(rows)


def _callbacks() -> Any:
    return import_module("xgboost.callback")
