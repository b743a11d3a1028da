"""Rules for the values of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np

from sklearn_rank._utils.echo import echo


@dataclass(frozen=True)
class Constraint:
    """What a keyword accepts: `rule` completes "The 'x' parameter of f must be ..."."""

    rule: str
    accepts: Callable[[Any], bool]
    doc: str

    def check(self, name: str, value: Any, function_name: str) -> None:
        """Raise ValueError if `value` is not what the rule says."""
        if not self.accepts(value):
            raise ValueError(
                f"The {name!r} parameter of {function_name} must be {self.rule}. Got {echo(value)} instead."
            )


def is_key(value: Any, known: Mapping[Any, Any]) -> bool:
    """Whether a value, which may be a list, is one of the keys."""
    try:
        return value in known
    except TypeError:  # it has no hash
        return False


def is_word(value: Any, word: str) -> bool:
    """Whether a keyword, which may be an array, is this word."""
    return isinstance(value, str) and value == word


def is_real(value: Any) -> bool:
    """Whether a value is a finite real number; bool does not count as one."""
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond the range of a float
        return False


def built_in(value: Any) -> Any:
    """A number of any type as an int or a float, so that no formula computes in fewer digits, or in other types."""
    if type(value) in (int, float) and -(2**53) <= value <= 2**53:
        return value
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return value
    return int(value) if isinstance(value, Integral) and abs(int(value)) <= 2**53 else float(value)


def is_count(value: Any) -> bool:
    """Whether a value is an int >= 1; bool does not count as one."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)) and int(value) >= 1


COUNT = Constraint("an int >= 1", is_count, "")
"""Of arguments that say how many."""


def one_of(*choices: Any, doc: str) -> Constraint:
    """Constraint that takes one of a few words."""
    names = ", ".join(map(repr, choices[:-1]))
    return Constraint(
        f"{names} or {choices[-1]!r}",
        lambda v: v in choices if isinstance(v, str) else any(v is c for c in choices),
        doc,
    )


def real(rule: str, inside: Callable[[float], bool], doc: str) -> Constraint:
    """Constraint that takes a finite number."""
    return Constraint(rule, lambda v: is_real(v) and inside(v), doc)
