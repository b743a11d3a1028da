"""Checks of fitted models in scorers and the evaluator: FrozenEstimators, and QueryRankers fitted without qid."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.frozen import FrozenEstimator

from sklearn_rank._data.doors import Door
from sklearn_rank._data.look import look
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._scoring.fitted_queries import FITTED, FittedQueries, check_test_queries
from sklearn_rank._scoring.routing import find_routed_qid
from sklearn_rank._utils.typing import Estimator, MatrixLike


class FittedRanker(NamedTuple):
    """Queries that a fitted `QueryRanker` remembers (None without qid), and the estimators around it."""

    queries: FittedQueries | None
    around: tuple[Any, ...]

    @property
    def is_frozen(self) -> bool:
        """Whether the ranker is frozen, so that fits leave it unchanged."""
        return any(isinstance(outer, FrozenEstimator) for outer in self.around)


def is_frozen(model: Any) -> bool:
    """Whether the ranking part of a model is frozen, so that fits leave it unchanged."""
    if isinstance(model, FrozenEstimator):
        return True
    inner = model.steps[-1][1] if hasattr(model, "steps") else getattr(model, "estimator", None)
    return inner is not None and is_frozen(inner)


def check_model(door: Door, estimator: Estimator, X: MatrixLike, y: Any, qid: Any = None) -> None:
    """Refuse split queries, and check the model that scores these rows."""
    check_test_queries(estimator, X, y, qid)
    rankers = [*_rankers_in(estimator, (), set())]
    if any(ranker.is_frozen for ranker in rankers) and len(np.shape(y)) == 1:
        look_at_frozen(door, estimator, X, y, find_routed_qid(y, qid))
    lost = next((one.around for one in rankers if one.queries is None and one.around), ())
    look(door, fitted=(lost,))


def look_at_frozen(
    door: Door, estimator: Estimator, X: MatrixLike, y: Any, qid: Any, *, on_misuse: str = "raise"
) -> None:
    """Look for a frozen ranker, fitted on some of these queries, in a model that may be unfitted itself."""
    parts = [estimator]
    if hasattr(estimator, "get_params") and not isinstance(estimator, type):
        parts += estimator.get_params(deep=True).values()
    rankers = [one for part in parts for one in _rankers_in(part, (), set()) if one.is_frozen]
    n_seen = max((one.queries.n_same(X, y, qid) for one in rankers if one.queries is not None), default=0)
    if n_seen:
        look(door, on_misuse, frozen=(n_seen, group_rows(qid, len(y)).n_queries))


def _rankers_in(estimator: Any, around: tuple[Any, ...], seen: set[int]) -> Iterator[FittedRanker]:
    """Yield fitted rankers inside an estimator; Pipelines and searches do not count as surrounding estimators."""
    if id(estimator) in seen or isinstance(estimator, type) or not hasattr(estimator, "__dict__"):
        return
    seen.add(id(estimator))
    # A FrozenEstimator exposes the attributes of its inner estimator.
    known = vars(estimator)
    if FITTED in known:
        yield FittedRanker(known[FITTED], around)
        if known[FITTED] is not None:
            inside = _rankers_in(known.get("estimator_"), around, seen)
            yield from (one for one in inside if one.is_frozen)
    elif "best_estimator_" in known:
        yield from _rankers_in(known["best_estimator_"], around, seen)
    elif "steps" in known:
        yield from _rankers_in(known["steps"][-1][1], around, seen)
    else:
        for value in known.values():
            for part in value if isinstance(value, (list, tuple)) else [value]:
                if hasattr(part, "fit"):
                    yield from _rankers_in(part, (*around, estimator), seen)
