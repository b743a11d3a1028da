"""Splitters of queries in a model that scikit-learn does not route queries to, such as `StackingRegressor`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from sklearn_rank._scoring.fit_data import FitData
from sklearn_rank._scoring.routing import IN_RANKER, consumes


@contextmanager
def with_splits(model: Any, train: FitData, queries: NDArray[Any] | None) -> Iterator[None]:
    """Replace splitters of queries in a model, or in steps of a Pipeline, by their splits of the training rows.

    These models are fitted on all training rows. A model inside another one, such as in an ensemble, may be fitted on
    some of them, so its splitter is left alone.
    """
    replaced = []
    inside = IN_RANKER.set(True)
    try:
        for step in _steps(model) if queries is not None else ():
            cv: Any = step.get_params(deep=False).get("cv") if hasattr(step, "get_params") else None
            if hasattr(cv, "split") and not isinstance(cv, str) and consumes(cv, "split", "groups", "qid"):
                replaced.append((step, cv))
                step.set_params(cv=list(cv.split(train.X, train.y, groups=queries)))
        yield
    finally:
        IN_RANKER.reset(inside)
        for step, cv in replaced:
            step.set_params(cv=cv)


def _steps(model: Any) -> list[Any]:
    """The steps of a Pipeline, and of Pipelines among them; else the model itself."""
    if not hasattr(model, "steps"):
        return [model]
    return [inner for _, step in model.steps for inner in _steps(step)]
