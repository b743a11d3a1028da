"""CatBoost: our metric as its evaluation metric, and a callback that stops by it; later trees are dropped.

CatBoost calls a metric once for all training rows, and then once for all validation rows in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import is_classifier

from sklearn_rank.model_selection._early_stopping._monitor import Monitor
from sklearn_rank.model_selection._early_stopping._own_stopping import ROUNDS
from sklearn_rank.model_selection._early_stopping._scores import scores_of
from sklearn_rank.model_selection._fit_arguments import FitData, evaluation_arguments, training_arguments

LEFT_OUT = {*ROUNDS, "od_type", "od_pval", "use_best_model", "metric_period"}
"""Parameters that stop the training, shorten the model, or leave out rounds."""


def why_not_catboost(model: Any) -> str:
    """Reason why a model could not be trained by a metric in Python; "" if it can."""
    if model.get_params().get("task_type") == "GPU":
        return "with task_type='GPU' CatBoost takes no callbacks, so use 'CPU'"
    return ""


def fit_catboost(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model of CatBoost, its own stopping switched off."""
    to_scores, output = scores_of(model, train.y), _output_of(model)
    metric = _Metric(monitor, lambda approxes: to_scores(output(approxes)))
    own = model._init_params  # a fitted model has no set_params, and would keep the metric
    model._init_params = {name: value for name, value in own.items() if name not in LEFT_OUT}
    model.set_params(eval_metric=metric).fit(
        train.X, train.y, **training_arguments(model, train), **evaluation_arguments(model, validation),
        callbacks=[metric], use_best_model=False,
    )  # fmt: skip
    model._init_params = own
    if metric.error is not None:
        raise metric.error
    model.shrink(monitor.best + 1)
    return model


class _Metric:
    """A metric and a callback as CatBoost takes them; CatBoost would turn an error in it into one of its own."""

    no_jit = True  # or CatBoost compiles it, where Numba is installed

    def __init__(self, monitor: Monitor, to_scores: Callable[[Any], NDArray[Any]]) -> None:
        self.monitor, self.to_scores, self.n_calls = monitor, to_scores, 0
        self.error: BaseException | None = None

    def __deepcopy__(self, memo: Any) -> _Metric:
        """Return the same object, as CatBoost copies its parameters."""
        return self

    def evaluate(self, approxes: Any, target: Any, weight: Any) -> tuple[float, float]:
        """Record a round if these are the validation rows."""
        self.n_calls += 1
        if self.n_calls % 2 or self.error is not None:
            return 0.0, 1.0
        try:
            self.monitor.record(self.to_scores(approxes))
        except BaseException as error:
            self.error = error
            return 0.0, 1.0
        return self.monitor.curve[-1], 1.0

    def is_max_optimal(self) -> bool:
        """Whether a higher value is better."""
        return self.monitor.greater_is_better

    def get_final_error(self, error: float, weight: float) -> float:
        """Value of the metric out of its sum over blocks, of which there is one."""
        return error

    def after_iteration(self, info: Any) -> bool:
        """Whether to go on."""
        return self.error is None and not self.monitor.should_stop


def _output_of(model: Any) -> Callable[[Any], NDArray[Any]]:
    """Function from the raw values of a model to what it predicts."""
    given = model.get_params()
    loss = str(next((given[name] for name in ("loss_function", "objective") if given.get(name)), "")).partition(":")[0]
    if is_classifier(model):
        if loss == "MultiClassOneVsAll":
            return lambda approxes: expit(np.transpose(approxes))
        return lambda approxes: expit(approxes[0]) if len(approxes) == 1 else softmax(np.transpose(approxes), axis=1)
    return lambda approxes: np.exp(approxes[0]) if loss in ("Poisson", "Tweedie") else np.array(approxes[0])
