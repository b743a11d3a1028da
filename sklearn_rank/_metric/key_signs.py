"""Keys of metrics: "neg_rmse" in scorers, where errors are negative, and "rmse" in results, where they are positive."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NoReturn, TypeVar

from sklearn_rank._metric.metric import Metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo, echo_all

Value = TypeVar("Value")
SIGN = "neg_"
"""Prefix of the name of an error in a scorer, where its value is negative."""


def scorer_name(name: str, metric: Metric | MetricSpec) -> str:
    """Name in a scorer of a metric that has this name in a result."""
    return name if metric.greater_is_better else f"{SIGN}{name}"


def refuse_sign(name: str, greater_is_better: bool) -> None:
    """Refuse a scorer's name for an error in a result."""
    if name.startswith(SIGN) and not greater_is_better:
        raise ValueError(
            f"In a result errors are positive, and names that start with {SIGN!r} are those of scorers: write "
            f"{echo(name.removeprefix(SIGN))}. Got {echo(name)}."
        )


def other_spelling(key: object, keys: Iterable[str]) -> str:
    """Hint at a key that exists with the opposite sign; "" if there is no such key."""
    there = [known for known in keys if known != key and _bare(known) == _bare(key)]
    if not there:
        return ""
    signs = "errors are negative in scorers, as 'neg_rmse', and positive in results, as 'rmse'"
    return f" {echo(there[0])} is there: {signs}."


def _bare(key: object) -> str:
    return str(key).replace(SIGN, "", 1)


def known_metric(result: Any, metric: object) -> str:
    """Check that a result has a metric, and return its name."""
    if not is_key(metric, result.average):
        raise ValueError(
            "The 'metric' parameter must be one of the result's metrics: "
            f"{echo_all(result.average)}. Got {echo(metric)} instead.{other_spelling(metric, result.average)}"
        )
    return str(metric)


class ByName(dict[str, Value]):
    """A dictionary by names of metrics, which says so if a key is there with the sign of a scorer, or without it."""

    def __missing__(self, key: object) -> NoReturn:
        """Refuse a key that is not there."""
        hint = other_spelling(key, self)
        raise KeyError(f"A key must be one of {echo_all(self)}. Got {echo(key)}.{hint}" if hint else key)
