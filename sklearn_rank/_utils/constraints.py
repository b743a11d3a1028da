"""Rules for the values of parameters."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeGuard

import numpy as np

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import RandomState


@dataclass(frozen=True, eq=False)
class Constraint:
    """Values that a keyword accepts.

    Attributes
    ----------
    rule : str
        End of the sentence "The 'x' parameter of f must be ...".
    accepts : callable
        Whether a value is accepted.
    doc : str
        Entry of the keyword in a docstring.
    choices : tuple
        Values among which the one that is meant is looked for.
    """

    rule: str
    accepts: Callable[[Any], bool]
    doc: str
    choices: tuple[Any, ...] = ()

    def __call__(self, name: str, value: Any, function_name: str) -> None:
        """Raise ValueError if `value` is not accepted."""
        if not self.accepts(value):
            words = [choice for choice in self.choices if isinstance(choice, str)]
            near = difflib.get_close_matches(value, words, 1) if isinstance(value, str) else []
            meant = f" Did you mean {near[0]!r}?" if near else ""
            raise ValueError(
                f"The {name!r} parameter of {function_name} must be {self.rule}. Got {echo(value)} instead.{meant}"
            )


def is_key(value: Any, known: Mapping[Any, Any]) -> bool:
    """Whether a value is one of the keys; False if it cannot be hashed."""
    try:
        return value in known
    except TypeError:  # not hashable
        return False


def is_word(value: Any, word: str) -> bool:
    """Whether a value is this word; False for an array, which would compare elementwise."""
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
    """Convert a number of any type to int or float, so that formulas compute in double precision."""
    if type(value) in (int, float) and -(2**53) <= value <= 2**53:
        return value
    if not isinstance(value, Real) or isinstance(value, (bool, np.bool_)):
        return value
    return int(value) if isinstance(value, Integral) and abs(int(value)) <= 2**53 else float(value)


def is_count(value: Any) -> TypeGuard[int]:
    """Whether a value is an int >= 1; bool does not count as one."""
    return isinstance(value, Integral) and not isinstance(value, (bool, np.bool_)) and int(value) >= 1


COUNT = Constraint("an int >= 1", is_count, "")
"""Constraint of arguments that are counts."""


def one_of(*choices: Any, doc: str) -> Constraint:
    """Constraint to one of some choices."""
    names = ", ".join(map(repr, choices[:-1]))
    return Constraint(
        f"{names} or {choices[-1]!r}",
        lambda v: v in choices if isinstance(v, str) else any(v is c for c in choices),
        doc,
        choices,
    )


def real(rule: str, inside: Callable[[float], bool], doc: str) -> Constraint:
    """Constraint to finite numbers that are `inside`."""
    return Constraint(rule, lambda v: is_real(v) and inside(v), doc)


def is_bool(value: Any) -> bool:
    """Whether a value is True or False; 1 and 0 count too, like everywhere in Python."""
    return isinstance(value, (bool, np.bool_)) or (type(value) is int and value in (0, 1))


def is_random_state(value: Any) -> bool:
    """Whether scikit-learn takes a value as the source of random numbers."""
    if isinstance(value, (int, np.integer)):
        return 0 <= int(value) < 2**32
    return value is None or value is np.random or isinstance(value, np.random.RandomState)


BOOL = Constraint("True or False", is_bool, "")
SHARE = Constraint("between 0 and 1, exclusive", lambda v: is_real(v) and 0 < v < 1, "")
RANDOM_STATE = Constraint("an int from 0 to 2**32 - 1, a RandomState or None", is_random_state, "")
"""Constraints of arguments that many functions have."""


def random_of(random_state: RandomState, function_name: str) -> np.random.RandomState:
    """Source of random numbers of a function, made by scikit-learn."""
    # It loads scipy.stats and pandas.
    from sklearn.utils import check_random_state

    RANDOM_STATE("random_state", random_state, function_name)
    return check_random_state(random_state)
