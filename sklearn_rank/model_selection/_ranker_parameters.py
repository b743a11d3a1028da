"""Parameters of `QueryRanker`, checked before any work is done; and wrapping an estimator in one."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.caller import levels_to_caller
from sklearn_rank._utils.constraints import RANDOM_STATE, is_count, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank.model_selection._early_stopping._own_stopping import own_rounds
from sklearn_rank.model_selection._early_stopping._strategies import strategy_for
from sklearn_rank.model_selection._estimator_checks import check_estimator, refuse_searches
from sklearn_rank.model_selection._fit_arguments import comes_from, last_step, takes_evaluation

DEFAULT_METRIC = "ndcg@10"
"""Metric of early stopping, and of `score`, where none is named."""


def check_parameters(ranker: Any, eval_set: Any, on_round: Any) -> None:
    """Refuse parameters that are out of range, or do not go together.

    Raises
    ------
    TypeError
        If the estimator is none, or `on_round` cannot be called.
    ValueError
        Saying the rule and the value.
    """
    check_estimator(ranker.estimator, "The 'estimator' parameter of QueryRanker")
    refuse_searches(ranker.estimator, ranker)
    for name in ("max_queries", "early_stopping_rounds"):
        value = getattr(ranker, name)
        if value is not None and not is_count(value):
            raise ValueError(
                f"The {echo(name)} parameter of QueryRanker must be an int >= 1, or None. Got {echo(value)}."
            )
    RANDOM_STATE.check("random_state", ranker.random_state, "QueryRanker")
    fraction = ranker.eval_fraction
    if fraction is not None and not (is_real(fraction) and 0 < fraction < 1):
        raise ValueError(
            "The 'eval_fraction' parameter of QueryRanker must be a number between 0 and 1, exclusive, or None. "
            f"Got {echo(fraction)}."
        )
    _check_stopping(ranker, eval_set, on_round)


def _check_stopping(ranker: Any, eval_set: Any, on_round: Any) -> None:
    """Check what training is stopped by, and whether the model can do it."""
    spec, (_, model) = stopping_metric(ranker), last_step(ranker.estimator)
    if on_round is not None and not callable(on_round):
        raise TypeError(f"on_round must be a function of the iteration and the value. Got {echo(on_round)}.")
    if ranker.eval_fraction is not None and eval_set is not None:
        raise ValueError(
            "Validation rows are either a share of the queries or a set of their own, so give eval_fraction to "
            f"QueryRanker or eval_set to fit. Got eval_fraction={echo(ranker.eval_fraction)} and an eval_set."
        )
    if ranker.eval_fraction is None and eval_set is None:
        for name, value in (("early_stopping_rounds", ranker.early_stopping_rounds), ("on_round", on_round)):
            if value is not None:
                raise ValueError(
                    f"{name} needs validation rows, which are not trained on: give QueryRanker an eval_fraction, such "
                    f"as 0.1, or fit an eval_set=(X, y, qid). Got {name}={echo(value)} and neither."
                )
    elif spec is not None:
        strategy_for(model)
    elif on_round is not None:
        raise ValueError(
            "on_round is called with the value of a metric after each round: give QueryRanker an eval_metric, such as "
            f"'ndcg@10'. Got {echo(on_round)} and no eval_metric."
        )
    elif not takes_evaluation(model):
        raise ValueError(
            "Without eval_metric, rows to stop by are for models that take them in fit: those of XGBoost, LightGBM "
            "and CatBoost, and HistGradientBoosting of scikit-learn 1.7 or later. With eval_metric='ndcg@10' the best "
            f"stage of models with staged_predict is chosen, too. Got {echo(model)}."
        )
    else:
        _warn_of_unused_rows(model)


def _warn_of_unused_rows(model: Any) -> None:
    """Warn of validation rows that are kept from training, and that nothing is stopped by."""
    callbacks = model.get_params().get("callbacks") or ()
    stops = own_rounds(model) is not None or any("EarlyStopping" in type(callback).__name__ for callback in callbacks)
    if not stops and (comes_from(model, "lightgbm") or comes_from(model, "xgboost")):
        warnings.warn(
            "Validation queries are not trained on, and this model does not stop early by them: set eval_metric, such "
            "as 'ndcg@10', of QueryRanker, or early_stopping_rounds of QueryRanker or the model. "
            f"Got {type(model).__name__} with neither.",
            UserWarning,
            stacklevel=levels_to_caller(),
        )


def stopping_metric(ranker: Any) -> MetricSpec | None:
    """Metric that training is stopped by; None where the model stops by its own means.

    Raises
    ------
    ValueError
        If it has several cutoffs, or no mean.
    """
    if ranker.eval_metric is None and ranker.early_stopping_rounds is None:
        return None
    spec = parse_metric(DEFAULT_METRIC if ranker.eval_metric is None else ranker.eval_metric)
    if np.ndim(spec.k) or spec["average"] is None:
        raise ValueError(
            "The 'eval_metric' parameter of QueryRanker must be one number a round, so it needs a single cutoff and a "
            f"mean. Got {echo(ranker.eval_metric)}."
        )
    return spec
