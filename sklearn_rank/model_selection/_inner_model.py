"""Attributes of the model inside a fitted `QueryRanker`: importances, coefficients, classes; and its tags.

Uses the public API of scikit-learn alone; no ranking library is imported.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier
from sklearn.utils import RegressorTags, get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import validate_data

from sklearn_rank._utils.echo import echo
from sklearn_rank.model_selection._fit_arguments import last_step


def inner_has(method: str) -> Any:
    """Condition of `available_if`: the model inside has the method; its AttributeError names the model."""
    return lambda ranker: bool(getattr(ranker.estimator, method))


class InnerModelMixin:
    """Attributes of the model inside, there where the fitted model has them, and the tags of a regressor."""

    estimator: Any
    estimator_: Any

    @property
    def feature_importances_(self) -> NDArray[Any]:
        """Importance of each feature that came in."""
        return self._of_features("feature_importances_")

    @property
    def coef_(self) -> NDArray[Any]:
        """Coefficient of each feature that came in."""
        return self._of_features("coef_")

    @property
    def intercept_(self) -> Any:
        """Score where all features are zero."""
        return self._of_features("intercept_")

    @property
    def classes_(self) -> NDArray[Any]:
        """Grades that a classifier inside has seen."""
        fitted = self._fitted("classes_")
        if not is_classifier(fitted):
            raise AttributeError(f"classes_ are those of a classifier. Got {type(last_step(fitted)[1]).__name__}.")
        return np.asarray(fitted.classes_)

    @available_if(inner_has("set_output"))
    def set_output(self, *, transform: str | None = None) -> Any:
        """Choose the containers that steps of a Pipeline inside hand to each other.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"} or None, default=None
            None changes nothing.

        Returns
        -------
        self
        """
        for pipeline in (self.estimator, vars(self).get("estimator_")):
            if pipeline is not None:
                pipeline.set_output(transform=transform)
        return self

    def _fitted(self, attribute: str) -> Any:
        """The fitted model; no NotFittedError, as `hasattr` must work."""
        if "estimator_" not in vars(self):
            raise AttributeError(f"{echo(attribute)} of {type(self).__name__} is there after fit.")
        return self.estimator_

    def _of_features(self, attribute: str) -> Any:
        """An attribute of the last step inside that speaks of the features that came in."""
        fitted = self._fitted(attribute)
        model = last_step(fitted)[1]
        value = getattr(model, attribute)
        if _is_nothing(value) and hasattr(model, "get_feature_importance"):  # CatBoost, of losses of whole queries
            value = np.asarray(model.get_feature_importance(type="PredictionValuesChange"))
        if _is_nothing(value):
            raise AttributeError(f"{type(model).__name__} has no {echo(attribute)}.")
        names = getattr(self, "feature_names_in_", [f"x{i}" for i in range(getattr(self, "n_features_in_", 0))])
        if not _keeps_features(fitted, np.asarray(names, dtype=object)):
            raise AttributeError(
                f"{echo(attribute)} of the last step is of features that the steps before it make of "
                f"those that came in, or leave out. Take estimator_[-1].{attribute}."
            )
        return value

    def _check_features(self, X: Any) -> None:
        """Refuse features that are not those of `fit` by number or name; some models would take them."""
        shape: tuple[int, ...] = getattr(X, "shape", ())
        n_features = getattr(self, "n_features_in_", None)
        if len(shape) == 1 and n_features is not None:
            raise ValueError(
                f"X must have rows and columns, {n_features} of these. Reshape your data: X.reshape(1, -1) is "
                f"one document. Got shape {shape}."
            )
        if len(shape) == 2 and (shape[1] != n_features or hasattr(X, "columns")):
            validate_data(self, X, reset=False, skip_check_array=True)

    def __sklearn_tags__(self) -> Any:
        """Tags of a regressor, whose input is that of the model inside; its R^2 may be anything."""
        tags, inner = super().__sklearn_tags__(), get_tags(self.estimator)  # type: ignore[misc]
        tags.estimator_type, tags.regressor_tags = "regressor", RegressorTags(poor_score=True)
        tags.input_tags, tags.target_tags = inner.input_tags, inner.target_tags
        tags.non_deterministic = inner.non_deterministic
        return tags


def _is_nothing(value: Any) -> bool:
    """Whether a value is None, or None in an array."""
    return np.ndim(value) == 0 and np.asarray(value).item() is None


def _keeps_features(fitted: Any, names: NDArray[Any]) -> bool:
    """Whether the steps before the last hand on the features that came in, all and in their order."""
    if not hasattr(fitted, "steps"):
        return True
    try:
        kept = list(fitted[:-1].get_feature_names_out(names)) if len(fitted.steps) > 1 else list(names)
    except (AttributeError, ValueError):
        return False
    return kept == list(names) and _keeps_features(fitted.steps[-1][1], names)
