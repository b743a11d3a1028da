"""Early stopping by a ranking metric, computed on the validation rows after each round.

Libraries differ in how they expose a round and how they stop, so each has its own function here.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit, softmax
from sklearn.base import is_classifier

from sklearn_rank._engine.read import read_labels
from sklearn_rank._evaluation.prepared import prepare_rows
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._ranker.fit_arguments import all_arguments, comes_from, fit_model, last_step, training_arguments
from sklearn_rank._scoring.fit_data import FitData
from sklearn_rank._scoring.response import RESPONSE, check_classes, expected_grade, low_scores, predict_scores
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.private_parts import drop_later_trees, forget_parameter, forget_value, other_parameters
from sklearn_rank.boosting import lightgbm_metric
from sklearn_rank.boosting._catboost import catboost_validation_metric

OnRound = Callable[[int, float], Any]


class Monitor:
    """Records a metric after each round; the first best round wins.

    Attributes
    ----------
    curve : list of float
        Value of each round.
    best : int
        Index of the best round.
    shortened : bool
        Whether the model itself predicts from the best round; set by the strategy.
    """

    def __init__(self, validation: FitData, spec: MetricSpec, patience: int | None, on_round: OnRound | None) -> None:
        self.data = read_labels(validation.y, validation.grouping.query_of_row, _weight_of_queries(validation))
        self._prepared = prepare_rows(self.data, {"metric": spec})
        self.spec, self.patience, self.on_round = spec, patience, on_round
        self.greater_is_better = spec.greater_is_better
        self.curve: list[float] = []
        self.best, self.shortened = 0, True
        # Refuse labels for which the metric is undefined before any training.
        ideal = self._prepared.evaluate(np.nan_to_num(self.data.label))
        if ideal.n_undefined["metric"] == self.data.grouping.n_queries:
            raise ValueError(
                "Early stopping needs a validation query for which the metric is defined, for example a query with a "
                "relevant document: hold out more queries, or choose another metric. Got "
                f"{self.data.grouping.n_queries} queries, and {spec} is defined for none."
            )

    def record(self, y_score: ArrayLike) -> bool:
        """Add the scores of a round and return whether training should stop."""
        y_score = low_scores(y_score, [self.spec])
        iteration, value = len(self.curve), float(self._prepared.evaluate(y_score).mean()["metric"])
        self.curve.append(value)
        best = self.curve[self.best]
        # Any number is better than NaN; the earlier of equal rounds wins.
        improves = math.isnan(best) or (value > best if self.greater_is_better else value < best)
        if improves and not math.isnan(value):
            self.best = iteration
        if self.on_round is not None:
            self.on_round(iteration, value)
        return self.should_stop

    @property
    def should_stop(self) -> bool:
        """Whether there was no improvement for `patience` rounds."""
        return self.patience is not None and len(self.curve) - 1 - self.best >= self.patience


def _weight_of_queries(validation: FitData) -> Any:
    """Row weights if they are constant within queries; None otherwise, because row weights do not weight a query."""
    if validation.weight is None:
        return None
    weight, grouping = validation.weight, validation.grouping
    varies = grouping.reduce(weight, np.maximum) != grouping.reduce(weight, np.minimum)
    return None if varies.any() else weight


# --- the model's own early stopping --------------------------------------------------------------------------------


ROUNDS = ("early_stopping_rounds", "early_stopping_round", "early_stopping", "od_wait", "n_iter_no_change")
"""Parameter names for the number of rounds without improvement before a model stops."""


def switched_off(model: Any) -> dict[str, Any]:
    """Parameters that switch off a model's own early stopping."""
    given = model.get_params()
    if {"early_stopping", "n_iter_no_change"} <= given.keys():  # HistGradientBoosting
        return {"early_stopping": False}
    return {name: None for name in ROUNDS if name in given}


def own_rounds(model: Any) -> int | None:
    """Number of rounds without improvement before a model stops; None if early stopping is off."""
    given = model.get_params()
    if given.get("early_stopping", True) in (False, "auto"):
        return None
    return next((int(given[name]) for name in ROUNDS if is_count(given.get(name)) and given[name] is not True), None)


def stops_early(model: Any) -> bool:
    """Whether a model stops early by its own parameters or by a callback of its library."""
    callbacks = model.get_params().get("callbacks") or ()
    return own_rounds(model) is not None or any("EarlyStopping" in type(one).__name__ for one in callbacks)


@contextmanager
def with_parameters(model: Any, **parameters: Any) -> Iterator[Any]:
    """Change parameters of a model within the context."""
    given = model.get_params()
    model.set_params(**parameters)
    try:
        yield model
    finally:
        model.set_params(**{name: given.get(name) for name in parameters})
        # LightGBM accepts unknown parameters and keeps them.
        for name in parameters.keys() - given.keys():
            forget_parameter(model, name)


def best_of(model: Any) -> dict[str, Any]:
    """Best iteration of a model that stopped early, from 0, and the value there if known; empty otherwise."""
    from_one = comes_from(model, "lightgbm")
    try:
        iteration = model.best_iteration_ if hasattr(model, "best_iteration_") else model.best_iteration
    except AttributeError:
        # It did not stop early.
        return {}
    if not is_count(iteration + 1 - from_one):
        return {}
    best: dict[str, Any] = {"best_iteration_": int(iteration) - from_one}
    value = getattr(model, "best_score_" if hasattr(model, "best_score_") else "best_score", None)
    # LightGBM and CatBoost have a dict of metrics for each data set. With several metrics the value is ambiguous.
    if isinstance(value, Mapping):
        of_rows = [values for name, values in value.items() if name.startswith("valid")]
        numbers = [number for values in of_rows for number in values.values()]
        value = numbers[0] if len(numbers) == 1 else None
    return best if value is None else best | {"best_value_": float(value)}


# --- scores by round -----------------------------------------------------------------------------------------------


def output_to_scores(model: Any, y: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that converts a model's output to scores; `y` are the training labels of a classifier."""
    if not is_classifier(model):
        return np.asarray
    grades = check_classes(distinct_values(np.asarray(y)), model)
    if len(grades) == 1:
        return lambda output: np.zeros(len(output))
    return lambda output: expected_grade(np.asarray(output), grades)


def with_known_labels(model: Any, train: FitData, validation: FitData) -> FitData:
    """Replace validation labels that a classifier does not know and would refuse; only our metric reads the labels."""
    if not is_classifier(model):
        return validation
    seen, y = distinct_values(np.asarray(train.y)), np.asarray(validation.y)
    return replace(validation, y=np.where(np.isin(y, seen), y, seen[0]))


def staged_methods(model: Any) -> list[str]:
    """Methods for scores that a model also has in a staged version."""
    return [method for method in RESPONSE if hasattr(model, f"staged_{method}")]


def staged_scores(model: Any, X: Any) -> Iterator[NDArray[Any]]:
    """Yield the scores after each stage, by the method that `predict_scores` would call."""
    stages: dict[str, Iterator[Any]] = {}

    def next_stage(estimator: Any, method: str, X: Any) -> Any:
        if method not in stages:
            stages[method] = iter(getattr(estimator, f"staged_{method}")(X))
        return next(stages[method])

    while True:
        try:
            yield predict_scores(model, X, staged_methods(model), next_stage)
        except StopIteration:
            return


def predict_scores_at(model: Any, X: Any, stage: int | None) -> NDArray[Any]:
    """Scores of a model or a Pipeline after a stage; None: after the last stage."""
    if stage is None:
        return predict_scores(model, X)
    if hasattr(model, "steps"):
        return predict_scores_at(model.steps[-1][1], model[:-1].transform(X) if len(model.steps) > 1 else X, stage)
    return next(islice(staged_scores(model, X), stage, None))


# --- models with staged_predict ------------------------------------------------------------------------------------


OF_STAGES = (
    "estimators_", "estimator_weights_", "estimator_errors_", "train_score_", "oob_improvement_", "oob_scores_",
)  # fmt: skip
"""Attributes of scikit-learn models with an entry for each stage."""


def fit_staged(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit all stages of a model, then choose the best stage before the point where early stopping would have ended."""
    with with_parameters(model, **switched_off(model)):
        model.fit(train.X, train.y, **training_arguments(model, train))
    for y_score in staged_scores(model, validation.X):
        if monitor.record(y_score):
            break
    monitor.shortened = drop_later_stages(model, monitor.best + 1)
    return model


def drop_later_stages(model: Any, n_stages: int) -> bool:
    """Drop later stages of a scikit-learn model; return whether it now predicts from the first `n_stages`."""
    if not comes_from(model, "sklearn"):
        return False
    if (is_right := drop_later_trees(model, n_stages)) is not None:
        return is_right
    for name in OF_STAGES:
        if hasattr(model, name):
            setattr(model, name, getattr(model, name)[:n_stages])
    if hasattr(model, "n_estimators_"):
        model.n_estimators_ = n_stages
    return hasattr(model, "estimators_")


# --- HistGradientBoosting ------------------------------------------------------------------------------------------


def fit_hist_gradient_boosting(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a model with our metric as the scorer of its early stopping."""
    # For each call of a scorer, scikit-learn predicts with all trees from the first one. So if training neither stops
    # early nor calls `on_round`, the best stage is chosen afterwards.
    if monitor.patience is None and monitor.on_round is None:
        return fit_staged(model, train, validation, monitor)

    def score(estimator: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
        of_training_rows = len(estimator.train_score_) == len(estimator.validation_score_)
        if of_training_rows or estimator.n_iter_ == 0:
            return 0.0
        monitor.record(predict_scores(estimator, X))
        return float(len(monitor.curve) - monitor.should_stop)

    stopping = {"early_stopping": True, "n_iter_no_change": 1, "tol": 0.0, "scoring": score}
    with with_parameters(model, **stopping):
        model.fit(train.X, train.y, **all_arguments(model, train, validation))
    # The scorer holds a reference to the validation rows.
    forget_value(model, score)
    monitor.shortened = drop_later_stages(model, monitor.best + 1)
    return model


# --- LightGBM ------------------------------------------------------------------------------------------------------


def why_not_lightgbm(model: Any) -> str:
    """Reason why the best round of a model cannot be used; "" if it can."""
    given = model.get_params()
    if any(given.get(name) == "dart" for name in ("boosting_type", "boosting", "boost")):
        return "with boosting_type='dart' later rounds change earlier trees, so use 'gbdt'"
    return ""


def fit_lightgbm(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a LightGBM model with our metric as its evaluation function; its own metrics are off."""
    # A callback stops the training; LightGBM keeps the best trees.
    to_scores, stop = output_to_scores(model, train.y), import_module("lightgbm.callback").EarlyStopException

    def record(y_pred: Any) -> float:
        monitor.record(to_scores(y_pred))
        return monitor.curve[-1]

    metric = lightgbm_metric(monitor.spec)
    metric.value_of = record

    def stop_at_the_best(env: Any) -> None:
        if monitor.should_stop or env.iteration == env.end_iteration - 1:
            raise stop(monitor.best, env.evaluation_result_list)

    # LightGBM calls callbacks in this order; at 30 it has recorded the round.
    vars(stop_at_the_best)["order"] = 30
    with with_parameters(model, metric="None", **switched_off(model)):
        keywords = all_arguments(model, train, validation)
        callbacks = [stop_at_the_best, *(keywords.pop("callbacks", None) or ())]
        return model.fit(train.X, train.y, **keywords, eval_metric=metric, callbacks=callbacks)


# --- XGBoost -------------------------------------------------------------------------------------------------------


def why_not_xgboost(model: Any) -> str:
    """Reason why the best round of a model cannot be used; "" if it can."""
    booster = model.get_params().get("booster")
    if booster in ("dart", "gblinear"):
        return f"with booster={echo(booster)} later rounds change the result of earlier rounds, so use 'gbtree'"
    if any(base.__name__.startswith("XGBRF") for base in type(model).__mro__):
        return "a random forest is trained in one round"
    if any(isinstance(callback, import_module("xgboost.callback").EarlyStopping) for callback in model.callbacks or ()):
        return "its callback EarlyStopping gets no validation rows, so remove it and set early_stopping_rounds"
    return ""


def fit_xgboost(estimator: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit an XGBoost model with a callback that predicts the validation rows after each round."""
    # We do not use a Python metric, because XGBoost calls it once for each query. XGBoost caches its predictions for a
    # matrix, so a round costs only the predictions of the new trees. The callbacks of the user run after ours, because
    # XGBoost skips callbacks after the first that stops the training.
    to_scores = output_to_scores(estimator, train.y)
    rows = import_module("xgboost").DMatrix(
        validation.X, missing=estimator.missing, nthread=estimator.n_jobs, feature_types=estimator.feature_types,
        enable_categorical=estimator.enable_categorical,
    )  # fmt: skip
    # This objective predicts classes, so compute probabilities from the margins.
    predicts_classes = estimator.get_params().get("objective") == "multi:softmax"

    class Follow(import_module("xgboost.callback").TrainingCallback):  # type: ignore[misc]
        def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
            output = model.predict(rows, output_margin=predicts_classes)
            return monitor.record(to_scores(softmax(output, axis=1) if predicts_classes else output))

        def after_training(self, model: Any) -> Any:
            # XGBoost loses the categories of features when it drops trees.
            loses_categories = "c" in (model.feature_types or ())
            best = model if loses_categories else model[: monitor.best + 1]
            best.set_attr(best_iteration=str(monitor.best), best_score=str(monitor.curve[monitor.best]))
            return best

    with with_parameters(estimator, callbacks=[Follow(), *(estimator.callbacks or ())], **switched_off(estimator)):
        return estimator.fit(train.X, train.y, **training_arguments(estimator, train))


# --- CatBoost ------------------------------------------------------------------------------------------------------


CATBOOST_STOPPING = {*ROUNDS, "od_type", "od_pval", "use_best_model", "metric_period"}
"""Parameters of CatBoost that stop the training, shorten the model, or skip rounds."""


def why_not_catboost(model: Any) -> str:
    """Reason why a model cannot be trained with a Python metric; "" if it can."""
    if model.get_params().get("task_type") == "GPU":
        return "with task_type='GPU' CatBoost accepts no callbacks, so use 'CPU'"
    return ""


def fit_catboost(model: Any, train: FitData, validation: FitData, monitor: Monitor) -> Any:
    """Fit a CatBoost model with our metric as its evaluation metric; its own early stopping is off."""
    # A callback stops the training; the trees after the best round are dropped.
    to_scores, output = output_to_scores(model, train.y), _output_of(model)
    errors: list[BaseException] = []

    def record(approxes: Any) -> float:
        # CatBoost would replace the error by its own.
        if not errors:
            try:
                monitor.record(to_scores(output(approxes)))
                return monitor.curve[-1]
            except BaseException as error:
                errors.append(error)
        return 0.0

    class Stop:
        def after_iteration(self, info: Any) -> bool:
            return not errors and not monitor.should_stop

    metric = catboost_validation_metric(monitor.spec, record)
    going_on = {name: value for name, value in model.get_params().items() if name not in CATBOOST_STOPPING}
    with other_parameters(model, going_on | {"eval_metric": metric}):
        keywords = all_arguments(model, train, validation)
        callbacks = [Stop(), *(keywords.pop("callbacks", None) or ())]
        model.fit(train.X, train.y, **keywords, callbacks=callbacks, use_best_model=False)
    if errors:
        raise errors[0]
    model.shrink(monitor.best + 1)
    return model


def _output_of(model: Any) -> Callable[[Any], NDArray[Any]]:
    """Return a function that converts raw values of a model to its predictions."""
    given = model.get_params()
    loss = str(next((given[name] for name in ("loss_function", "objective") if given.get(name)), "")).partition(":")[0]
    if is_classifier(model):
        if loss == "MultiClassOneVsAll":
            return lambda approxes: expit(np.transpose(approxes))
        return lambda approxes: expit(approxes[0]) if len(approxes) == 1 else softmax(np.transpose(approxes), axis=1)
    return lambda approxes: np.exp(approxes[0]) if loss in ("Poisson", "Tweedie") else np.array(approxes[0])


# --- any model -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Strategy:
    """A way to train some models by a metric.

    `takes` returns whether it applies to a model; `why_not` returns why the model's settings do not permit it ("" if
    they do); `fit` trains the model while the monitor records each round.
    """

    takes: Callable[[Any], object]
    fit: Callable[[Any, FitData, FitData, Monitor], Any]
    why_not: Callable[[Any], str] = lambda model: ""


STRATEGIES = (
    Strategy(lambda model: comes_from(model, "lightgbm"), fit_lightgbm, why_not_lightgbm),
    Strategy(lambda model: comes_from(model, "xgboost"), fit_xgboost, why_not_xgboost),
    Strategy(lambda model: comes_from(model, "catboost"), fit_catboost, why_not_catboost),
    Strategy(lambda model: "X_val" in inspect.signature(model.fit).parameters, fit_hist_gradient_boosting),
    Strategy(staged_methods, fit_staged),
)
"""Strategies in order; the first that applies to a model is used."""


def strategy_for(model: Any) -> Strategy:
    """Return the strategy to train a model by a metric; raise an error if there is none."""
    strategy = next((strategy for strategy in STRATEGIES if strategy.takes(model)), None)
    why_not = "it does not expose its rounds" if strategy is None else strategy.why_not(model)
    if strategy is None or why_not:
        raise ValueError(
            "Early stopping by a metric needs a model that trains in rounds and can use the best round: XGBoost, "
            "LightGBM, CatBoost, HistGradientBoosting, and models with staged_predict, such as GradientBoosting. Got "
            f"{echo(model)}: {why_not}."
        )
    return strategy


def train_by_metric(
    model: Any, train: FitData, validation: FitData, spec: MetricSpec, patience: int | None, on_round: OnRound | None
) -> tuple[Any, Monitor]:
    """Fit a model, or the last step of a Pipeline; if `patience` is None, the model's own patience applies."""
    inner = last_step(model)[1]
    strategy = strategy_for(inner)
    monitor = Monitor(validation, spec, own_rounds(inner) if patience is None else patience, on_round)

    def fit_last(last: Any, rows: FitData, to_stop_by: FitData) -> Any:
        return strategy.fit(last, rows, with_known_labels(last, rows, to_stop_by), monitor)

    fitted = fit_model(model, train, validation, fit_last)
    if not monitor.curve or math.isnan(monitor.curve[monitor.best]):
        raise ValueError(f"{spec} is undefined after every round. Got {len(monitor.curve)} rounds.")
    return fitted, monitor
