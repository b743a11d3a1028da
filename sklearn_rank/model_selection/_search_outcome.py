"""Whether a search did what it says: some candidate has a score, and its models got their queries."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sklearn_rank.model_selection._fitted_queries import remembers_queries


def check_scored(search: Any) -> None:
    """Refuse a search of which no candidate has a score.

    Raises
    ------
    ValueError
        If all scores are NaN.
    """
    results = getattr(search, "cv_results_", {})
    scores = [np.asarray(values, dtype=float) for name, values in results.items() if name.startswith("mean_test_")]
    if scores and np.isnan(scores).all():
        raise ValueError(
            "No candidate of the search could be scored; error_score='raise', or cross_validate of its estimator, "
            "shows why. Got NaN for all."
        )


def check_outcome(estimator: Any, search_name: str) -> None:
    """Refuse a fitted estimator with a search inside that scored nothing, or lost the queries on the way.

    Raises
    ------
    ValueError
        If all scores of a search are NaN, or the model that predicts was fitted without queries.
    """
    last = estimator
    for last in _from_the_outside_in(estimator):
        check_scored(last)
    if not hasattr(last, "cv") and not remembers_queries(estimator):
        raise ValueError(
            f"{search_name} has lost the queries: it makes labels without an index of y, so its models and metrics do "
            "not know them. Use a search of scikit-learn, OptunaSearchCV, or a loop over "
            "RankingEvaluator.cross_validate."
        )


def _from_the_outside_in(estimator: Any) -> Iterator[Any]:
    """A search or Pipeline, and what predicts for it, down to the model; a search that fits no best model is last."""
    yield estimator
    inner = getattr(estimator, "best_estimator_", None)
    if inner is None and hasattr(estimator, "steps"):
        inner = estimator.steps[-1][1]
    if inner is not None:
        yield from _from_the_outside_in(inner)
