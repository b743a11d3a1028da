"""Models that predict by stages: trained to the end, then the best stage is chosen, and later ones are dropped."""

from __future__ import annotations

from typing import Any

from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._own_stopping import changed, switched_off
from sklearn_rank.model_selection._early_stopping._stages import staged_methods, staged_scores
from sklearn_rank.model_selection._fit_arguments import FitData, comes_from, training_arguments

OF_STAGES = (
    "estimators_",
    "estimator_weights_",
    "estimator_errors_",
    "train_score_",
    "oob_improvement_",
    "oob_scores_",
)
"""Attributes of scikit-learn's models with an entry for each stage."""


def is_staged(model: Any) -> bool:
    """Whether a model has scores for each of its stages."""
    return bool(staged_methods(model))


def fit_staged(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model to the last stage, and choose among those up to where early stopping would have ended."""
    with changed(model, **switched_off(model)):
        model.fit(train.X, train.y, **training_arguments(model, train))
    for y_score in staged_scores(model, validation.X):
        if monitor.record(y_score):
            break
    monitor.shortened = shorten(model, monitor.best + 1)
    return model


def shorten(model: Any, n_stages: int) -> bool:
    """Drop later stages of a model of scikit-learn; whether it predicts from the first `n_stages` then."""
    if not comes_from(model, "sklearn"):
        return False
    if hasattr(model, "_predictors"):  # HistGradientBoosting
        del model._predictors[n_stages:]
        return bool(model.n_iter_ == n_stages)
    for name in OF_STAGES:
        if hasattr(model, name):
            setattr(model, name, getattr(model, name)[:n_stages])
    if hasattr(model, "n_estimators_"):
        model.n_estimators_ = n_stages
    return hasattr(model, "estimators_")
