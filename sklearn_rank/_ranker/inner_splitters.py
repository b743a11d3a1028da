"""Query splitters inside a model to which scikit-learn routes no queries, such as `StackingRegressor`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numpy.typing import NDArray

from sklearn_rank._scoring.fit_data import FitData
from sklearn_rank._scoring.routing import IN_RANKER, consumes


@contextmanager
def with_splits(model: Any, train: FitData, queries: NDArray[Any] | None) -> Iterator[None]:
    """Replace query splitters in a model, or in steps of a Pipeline, by their splits of the training rows.

    This works because such a model is fitted on all training rows. A model nested in another model, such as an
    ensemble, may be fitted on part of the rows, so its splitter is not replaced.
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
    """The steps of a Pipeline, including nested Pipelines; otherwise the model itself."""
    if not hasattr(model, "steps"):
        return [model]
    return [inner for _, step in model.steps for inner in _steps(step)]
