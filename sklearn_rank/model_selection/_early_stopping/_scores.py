"""Scores out of what a model puts out while it is trained, the same that its predictions give afterwards."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import is_classifier

from sklearn_rank.model_selection._fit_arguments import FitData
from sklearn_rank.model_selection._response import check_grades, expected_grade

ToScores = Callable[[NDArray[Any]], NDArray[Any]]


def scores_of(model: Any, y: Any) -> ToScores:
    """Function from the output of a model trained on labels `y` to scores; of a classifier from probabilities."""
    if not is_classifier(model):
        return np.asarray
    grades = check_grades(np.unique(np.asarray(y)), model)
    if len(grades) == 1:
        return lambda output: np.zeros(len(output))
    return lambda output: expected_grade(np.asarray(output), grades)


def with_known_labels(model: Any, train: FitData, validation: FitData) -> FitData:
    """Validation rows without labels that are new to a classifier, as it refuses them; only our metric reads them."""
    if not is_classifier(model):
        return validation
    seen, y = np.unique(np.asarray(train.y)), np.asarray(validation.y)
    return replace(validation, y=np.where(np.isin(y, seen), y, seen[0]))
