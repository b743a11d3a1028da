"""Scores after each stage of a model that can predict by stages."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from numpy.typing import NDArray

from sklearn_rank.model_selection._response import RESPONSE, predict_scores


def staged_methods(model: Any) -> list[str]:
    """Methods to get scores from that a model has for its stages too."""
    return [method for method in RESPONSE if hasattr(model, f"staged_{method}")]


def staged_scores(model: Any, X: Any) -> Iterator[NDArray[Any]]:
    """Scores after each stage, by the method that `predict_scores` would call."""
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
    """Scores of a model, or of a Pipeline, after one of its stages; None: after the last."""
    if stage is None:
        return predict_scores(model, X)
    if hasattr(model, "steps"):
        return predict_scores_at(model.steps[-1][1], model[:-1].transform(X) if len(model.steps) > 1 else X, stage)
    return next(islice(staged_scores(model, X), stage, None))
