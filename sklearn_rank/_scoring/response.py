"""Scores of documents by a fitted model: the same in scorers, `QueryRanker`, the evaluator and pictures."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from functools import partial
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sklearn_rank._engine.columns import check_features
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Estimator, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller

RESPONSE = ("predict_proba", "decision_function", "predict")
"""Methods that return scores; the first that the model has and that returns one score per document is used."""

CallMethod = Callable[[Any, str, Any], Any]


def call_method(estimator: Estimator, method: str, X: MatrixLike) -> Any:
    return getattr(estimator, method)(X)


def _answer(call: CallMethod, estimator: Estimator, method: str, X: MatrixLike) -> Any:
    """Call a method on X and check that the rows of the output are in the same order."""
    answer = call(estimator, method, X)
    check_features(X, **{f"{method}(X)": answer})
    return answer


def check_response_method(response_method: Any) -> None:
    """Check that the value names one or several methods that return scores."""
    asked = (response_method,) if isinstance(response_method, str) else response_method
    if (
        not isinstance(asked, (list, tuple))
        or not asked
        or not all(is_key(name, dict.fromkeys(RESPONSE)) for name in asked)
    ):
        names = ", ".join(map(repr, RESPONSE))
        raise ValueError(
            f"The 'response_method' parameter must be one or more of {names}. Got {echo(response_method)} instead."
        )


def predict_scores(estimator: Any, X: Any, response_method: Any = RESPONSE, call: CallMethod = call_method) -> Any:
    """Return scores of documents: expected grades from probabilities, otherwise decisions, otherwise predictions."""
    # ``call(estimator, method, X)`` calls a method; scikit-learn's `call` caches the output for several scorers.
    call = partial(_answer, call)
    asked = (response_method,) if isinstance(response_method, str) else tuple(response_method)
    model = _model_inside(estimator)
    methods = [method for method in asked if hasattr(estimator, method) and hasattr(model, method)]
    if not methods:
        raise TypeError(f"A model that ranks needs one of the methods {', '.join(asked)}. Got {echo(estimator)}.")
    if not is_classifier(model):
        methods = [method for method in methods if method != "predict_proba"] or methods
        return call(estimator, methods[0], X)
    grades = check_classes(estimator.classes_, estimator)
    if len(grades) == 1:
        return np.asarray(call(estimator, "predict", X), dtype=np.float64)
    y_score, method = _scores_of_grades(estimator, X, methods, grades, call)
    if method == "predict" and len(asked) > 1:
        warnings.warn(
            "A classifier without probabilities and without a single decision value per document ranks by the "
            "predicted grade, which ties most documents: wrap it in CalibratedClassifierCV, or use a regressor. Got "
            f"{type(estimator).__name__} of {len(grades)} grades.",
            UserWarning,
            stacklevel=levels_to_caller(),
        )
    return y_score


def _model_inside(estimator: Any) -> Any:
    """The predicting model in a search or a Pipeline, which may expose methods that they lack (OptunaSearchCV)."""
    if hasattr(estimator, "best_estimator_"):
        return _model_inside(estimator.best_estimator_)
    steps = getattr(estimator, "steps", None)
    return _model_inside(steps[-1][1]) if steps else estimator


def _scores_of_grades(
    estimator: Estimator, X: MatrixLike, methods: list[str], grades: NDArray[np.float64], call: CallMethod
) -> tuple[NDArray[Any], str]:
    """Return the scores by the first method that returns one score per document, and that method."""
    for method in methods:
        y_score = np.asarray(call(estimator, method, X))
        if method == "predict_proba":
            return expected_grade(y_score, grades), method
        # With two grades the decision value is positive for the second grade.
        if method == "decision_function" and len(grades) == 2:
            y_score = -y_score if grades[1] < grades[0] else y_score
        if y_score.ndim == 1:
            break
    return y_score, method


def expected_grade(probability: NDArray[Any], grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum of grades times probabilities; with two grades, `probability` may hold only the second."""
    if len(grades) > 2:
        return np.asarray(probability @ grades)
    of_second = probability if probability.ndim == 1 else probability[:, 1]
    return np.asarray(grades[0] + of_second * (grades[1] - grades[0]))


def low_scores(y_score: Any, specs: Iterable[MetricSpec]) -> Any:
    """Replace -inf, which models may predict and elsewhere means "not retrieved", by a value below all other scores."""
    # Metrics that compare predictions with labels refuse -inf.
    scores = np.asarray(as_numpy(y_score))
    if scores.dtype.kind != "f" or not np.isneginf(scores).any():
        return y_score
    if any(spec.metric.pointwise and spec.metric.finite for spec in specs):
        return y_score
    scores = scores.astype(np.float64)
    lowest = float(scores[scores > -np.inf].min(initial=np.inf))
    below = lowest - max(1.0, abs(lowest)) if lowest < np.inf else 0.0
    # No float lies below the lowest score, so use ranks, which have the same order.
    if below == -np.inf:
        return np.unique(scores, return_inverse=True)[1].reshape(scores.shape).astype(np.float64)
    return np.where(scores > -np.inf, scores, below)


def check_classes(classes: Any, estimator: Any) -> NDArray[np.float64]:
    """Check that the classes of a classifier are numbers, because they are grades."""
    if not all(isinstance(grade, Real) for grade in np.asarray(classes, dtype=object).tolist()):
        raise TypeError(
            "A classifier ranks documents by its classes as grades, so classes must be numbers, higher for more "
            "relevant "
            f"documents: encode the labels before fit. Got classes {echo(classes)} of {type(estimator).__name__}."
        )
    return np.asarray(classes, dtype=np.float64)
