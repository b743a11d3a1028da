"""Early stopping that a model does by itself: how long it waits, how to switch it off, and what it found."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sklearn_rank._utils.constraints import is_count
from sklearn_rank.model_selection._fit_arguments import comes_from

ROUNDS = ("early_stopping_rounds", "early_stopping_round", "early_stopping", "od_wait", "n_iter_no_change")
"""Parameters for the number of rounds without improvement after which models stop."""


def switched_off(model: Any) -> dict[str, Any]:
    """Parameters under which a model does not stop by itself."""
    given = model.get_params()
    if {"early_stopping", "n_iter_no_change"} <= given.keys():  # HistGradientBoosting
        return {"early_stopping": False}
    return {name: None for name in ROUNDS if name in given}


def own_rounds(model: Any) -> int | None:
    """Rounds without improvement after which a model is set to stop; None if it goes on to the last."""
    given = model.get_params()
    if given.get("early_stopping", True) in (False, "auto"):
        return None
    return next((int(given[name]) for name in ROUNDS if is_count(given.get(name)) and given[name] is not True), None)


@contextmanager
def changed(model: Any, **parameters: Any) -> Iterator[Any]:
    """A model with other parameters for a while."""
    given = model.get_params()
    model.set_params(**parameters)
    try:
        yield model
    finally:
        model.set_params(**{name: given.get(name) for name in parameters})
        for name in parameters.keys() - given.keys():  # LightGBM takes more than it has, and keeps it
            vars(model).pop(name, None)
            getattr(model, "_other_params", {}).pop(name, None)


def best_of(model: Any) -> dict[str, Any]:
    """Iteration at which a model stopped by itself, from 0, and its value where it has one; empty if it has none."""
    from_one = comes_from(model, "lightgbm")
    try:
        iteration = model.best_iteration_ if hasattr(model, "best_iteration_") else model.best_iteration
    except AttributeError:  # it did not stop early
        return {}
    if not is_count(iteration + 1 - from_one):
        return {}
    found: dict[str, Any] = {"best_iteration_": int(iteration) - from_one}
    value = _only(getattr(model, "best_score_" if hasattr(model, "best_score_") else "best_score", None))
    return found if value is None else found | {"best_score_": value}


def _only(value: Any) -> float | None:
    """A number, or the only one of the validation rows in a dict of dicts."""
    if isinstance(value, Mapping):
        of_rows = [values for name, values in value.items() if name.startswith("valid")]
        numbers = [number for values in of_rows for number in values.values()]
        return float(numbers[0]) if len(numbers) == 1 else None
    return None if value is None else float(value)
