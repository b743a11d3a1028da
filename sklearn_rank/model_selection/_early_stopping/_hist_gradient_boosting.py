"""HistGradientBoosting: our metric as the scorer of its early stopping.

scikit-learn predicts from the first tree for each call of a scorer. So where nothing is stopped nor watched, the best
stage is chosen afterwards.
"""

from __future__ import annotations

import inspect
from typing import Any

from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._own_stopping import changed
from sklearn_rank.model_selection._early_stopping._staged import fit_staged, shorten
from sklearn_rank.model_selection._fit_arguments import FitData, evaluation_arguments, training_arguments
from sklearn_rank.model_selection._response import predict_scores


def takes_validation_rows(model: Any) -> bool:
    """Whether `fit` of a model takes validation rows as HistGradientBoosting does."""
    return "X_val" in inspect.signature(model.fit).parameters


def fit_hist_gradient_boosting(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model, which goes on as long as the scorer's values rise."""
    if monitor.patience is None and monitor.on_round is None:
        return fit_staged(model, train, validation, monitor)

    def score(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        of_training_rows = len(estimator.train_score_) == len(estimator.validation_score_)
        if of_training_rows or estimator.n_iter_ == 0:
            return 0.0
        monitor.record(predict_scores(estimator, X))
        return float(len(monitor.curve) - monitor.should_stop)

    stopping = {"early_stopping": True, "n_iter_no_change": 1, "tol": 0.0, "scoring": score}
    with changed(model, **stopping):
        model.fit(train.X, train.y, **training_arguments(model, train), **evaluation_arguments(model, validation))
    for name in [name for name, value in vars(model).items() if value is score]:  # it holds the validation rows
        setattr(model, name, None)
    monitor.shortened = shorten(model, monitor.best + 1)
    return model
