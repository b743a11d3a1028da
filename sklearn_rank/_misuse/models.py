"""Checks of models: duplicates, frozen rankers, rankers fitted without qid, and copies of the label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from numbers import Real
from typing import Any

import numpy as np

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._utils.echo import echo, echo_all

TWICE = Check(
    "one model twice", "models",
    "One object has two names in a comparison, or two models with equal steps and parameters hold one estimator.",
    "",
    "are one object", "error",
)  # fmt: skip
FROZEN = Check(
    "a model that has seen the test queries", "frozen",
    "A `FrozenEstimator` holds a `QueryRanker` that was fitted on the test queries.",
    "one query with the same rows",
    "is not fitted again", "decision",
)  # fmt: skip
LOST = Check(
    "a ranker without queries", "fitted",
    "Voting, bagging, stacking or a transformed target dropped `qid`, so a `QueryRanker` inside was fitted without "
    "queries.",
    "a fitted `QueryRanker` inside another estimator",
    "was fitted without queries",
)  # fmt: skip
COPY = Check(
    "a copy of the label", "copies",
    "A feature, or the scores of a system, equal the label, or do in another unit, as in 2 * label + 1.",
    "20 rows with two labels",
    "equals the label", "decision",
)  # fmt: skip
CHECKS_OF_MODELS = (TWICE, FROZEN, LOST, COPY)

LEAST_EQUAL, FIRST_ROWS, UNIT_ROUNDING = 20, 64, 1e-12
"""Minimum number of rows for a copy, number of rows to compare first, and error of another unit."""


def models_twice(models: Mapping[str, Any]) -> Iterator[Finding]:
    """Models or results with two names."""
    names: dict[int, list[str]] = {}
    for name, model in models.items():
        if not isinstance(model, str):
            names.setdefault(id(model), []).append(name)
    twice = next((same for same in names.values() if len(same) > 1), None)
    if twice:
        yield Finding(
            TWICE, f"{echo_all(twice)} are one object, so they cannot differ: pass different models, or a copy."
        )
        return
    known = {name: params for name, model in models.items() if (params := _parameters(model))}
    for a, b in combinations(known, 2):
        if type(models[a]) is type(models[b]) and _share_all(known[a], known[b]):
            yield Finding(
                TWICE,
                f"{echo_all([a, b])} have equal steps and parameters, and the estimators inside are one object, whose "
                "parameters both have: pass sklearn.base.clone(model) before you change it.",
            )
            return


def _parameters(model: Any) -> Mapping[str, Any]:
    """Parameters of a model and of nested models; empty if it is not an estimator, or contains a class."""
    try:
        return dict(model.get_params()) if hasattr(model, "get_params") else {}
    except TypeError:
        return {}


def _share_all(params: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """Whether all parameters are equal, and the models share an estimator object."""
    if [*params] != [*other]:
        return False
    pairs = [(params[name], other[name]) for name in params]
    shares = any(a is b and hasattr(a, "fit") for a, b in pairs)
    return shares and all(a is b or hasattr(a, "fit") or repr(a) == repr(b) for a, b in pairs)


def copies_of_label(X: Any, y: Any, system: str = "") -> Iterator[Finding]:
    """Columns of an array or a frame that equal the label in each row, maybe in another unit."""
    # `system` describes a single column of scores.
    label, is_frame = np.asarray(y), hasattr(X, "columns")
    if len(getattr(X, "shape", ())) != 2 or hasattr(X, "tocsc") or hasattr(X, "column_names"):
        return
    if label.ndim != 1 or len(label) < LEAST_EQUAL or label.dtype.kind not in "biuf" or (label == label[0]).all():
        return
    head = np.asarray(X[:FIRST_ROWS])
    if head.dtype.kind not in "biuf":
        head = np.array([[one if isinstance(one, Real) else np.nan for one in row] for row in head.tolist()])
    other = int(np.argmax(label[:FIRST_ROWS] != label[0]))
    low, change = (np.float64(x) for x in (label[0], label[other] - np.float64(label[0])))
    # The first rows have one label where `other` is 0: then only an equal column is found.
    with np.errstate(all="ignore"):
        slope = (head[other] - head[0].astype(np.float64)) / change if other else np.ones(head.shape[1])
        first = head[0] - slope * low if other else np.zeros(head.shape[1])
        alike = np.isclose(head, slope * label[:FIRST_ROWS, None] + first, rtol=UNIT_ROUNDING, atol=0)
    for i in np.flatnonzero(alike.all(axis=0) & (slope > 0)):
        name = X.columns[i] if is_frame else int(i)
        what = system or f"Feature {echo(name)}"
        column = np.asarray(X[name] if is_frame else X[:, i])
        if np.array_equal(column, label):
            yield Finding(COPY, f"{what} equals the label in every row: leave it out.")
            return
        if column.dtype.kind in "biuf" and np.allclose(column, slope[i] * label + first[i], rtol=UNIT_ROUNDING, atol=0):
            yield Finding(
                COPY,
                f"{what} equals the label in another unit in every row, {slope[i]:g} * label + "
                f"{first[i]:g}: leave it out.",
            )
            return


def frozen_ranker(n_seen: int, n_queries: int) -> Iterator[Finding]:
    """A frozen ranker that was fitted on some of the queries."""
    if n_seen:
        yield Finding(
            FROZEN,
            f"A FrozenEstimator is not fitted again, and its ranker was fitted on {n_seen} of the {n_queries} queries "
            "that are scored: pass a model that is fitted in each fold, or score other queries.",
        )


def ranker_without_queries(around: Sequence[Any]) -> Iterator[Finding]:
    """A ranker fitted without queries; `around` holds the surrounding estimators, the outermost first."""
    if around:
        yield Finding(
            LOST,
            f"A QueryRanker inside {echo(type(around[0]).__name__)} was fitted without queries, so queries may be cut "
            f"in two unseen: fit QueryRanker({type(around[0]).__name__}(...)) with qid=.",
        )
