"""Checks of models that are not what their names say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._utils.echo import echo, echo_all

TWICE = Check(
    "one model twice", "models", "One object has two names in a comparison.", "the object", "are one object", "error"
)
FROZEN = Check(
    "a model that has seen the test queries", "frozen",
    "A `FrozenEstimator` holds a `QueryRanker` that was fitted on the queries that are scored.",
    "one query with the same rows", "is not fitted again", "decision",
)  # fmt: skip
LOST = Check(
    "a ranker without queries", "fitted",
    "Voting, bagging, stacking or a transformed target has lost `qid`, so a `QueryRanker` inside knows no queries.",
    "a fitted `QueryRanker` inside another estimator", "was fitted without queries",
)  # fmt: skip
CHECKS_OF_MODELS = (TWICE, FROZEN, LOST)


def models_twice(models: Mapping[str, Any]) -> Iterator[Finding]:
    """Models or results that have two names."""
    names: dict[int, list[str]] = {}
    for name, model in models.items():
        if not isinstance(model, str):
            names.setdefault(id(model), []).append(name)
    twice = next((same for same in names.values() if len(same) > 1), None)
    if twice:
        yield Finding(TWICE, f"{echo_all(twice)} are one object, so they cannot differ: pass another one, or a copy.")


def frozen_ranker(n_seen: int, n_queries: int) -> Iterator[Finding]:
    """A frozen ranker that was fitted on some of the queries."""
    if n_seen:
        yield Finding(
            FROZEN,
            f"A FrozenEstimator is not fitted again, and its ranker was fitted on {n_seen} of the {n_queries} queries "
            "that are scored: pass a model that is fitted in each fold, or score other queries.",
        )


def ranker_without_queries(around: Sequence[Any]) -> Iterator[Finding]:
    """A ranker that was fitted without queries, inside other estimators, the outermost first."""
    if around:
        yield Finding(
            LOST,
            f"A QueryRanker inside {echo(type(around[0]).__name__)} was fitted without queries, so queries may be cut "
            f"in two unseen: fit QueryRanker({type(around[0]).__name__}(...)) with qid=.",
        )
