"""How each kind of model is trained by one of our metrics."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn_rank._utils.echo import echo
from sklearn_rank.model_selection._early_stopping._catboost import fit_catboost, why_not_catboost
from sklearn_rank.model_selection._early_stopping._hist_gradient_boosting import (
    fit_hist_gradient_boosting,
    takes_validation_rows,
)
from sklearn_rank.model_selection._early_stopping._lightgbm import fit_lightgbm, why_not_lightgbm
from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._staged import fit_staged, is_staged
from sklearn_rank.model_selection._early_stopping._xgboost import fit_xgboost, why_not_xgboost
from sklearn_rank.model_selection._fit_arguments import FitData, comes_from


@dataclass(frozen=True)
class Strategy:
    """A way to train some models by a metric.

    `takes` says whether a model is one of these; `why_not`, why its settings do not go with it ("" if they do); `fit`
    trains it, and has the monitor record each round.
    """

    takes: Callable[[Any], bool]
    fit: Callable[[Any, FitData, FitData, Monitor], Any]
    why_not: Callable[[Any], str] = lambda model: ""


STRATEGIES = (
    Strategy(lambda model: comes_from(model, "lightgbm"), fit_lightgbm, why_not_lightgbm),
    Strategy(lambda model: comes_from(model, "xgboost"), fit_xgboost, why_not_xgboost),
    Strategy(lambda model: comes_from(model, "catboost"), fit_catboost, why_not_catboost),
    Strategy(takes_validation_rows, fit_hist_gradient_boosting),
    Strategy(is_staged, fit_staged),
)
"""The first that takes a model is the one."""


def strategy_for(model: Any) -> Strategy:
    """How to train a model by a metric.

    Raises
    ------
    ValueError
        If its rounds cannot be told apart.
    """
    strategy = next((strategy for strategy in STRATEGIES if strategy.takes(model)), None)
    why_not = "it has none that can be told apart" if strategy is None else strategy.why_not(model)
    if strategy is None or why_not:
        raise ValueError(
            "Early stopping by a metric is for models trained in rounds, of which the best is used: those of XGBoost, "
            "LightGBM and CatBoost, HistGradientBoosting, and models with staged_predict, such as GradientBoosting. "
            f"Got {echo(model)}: {why_not}."
        )
    return strategy
