"""Checks of the keywords that the functions of statistics share."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._utils.constraints import COUNT, SHARE, Constraint, is_count, is_real, one_of
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.numbers import as_floats, refuse_masked
from sklearn_rank._utils.typing import Array


def _is_missing(value: Any) -> bool:
    return _is_number_or_nan(value) or (isinstance(value, str) and value in ("raise", "worst"))


def _is_number_or_nan(value: Any) -> bool:
    return is_real(value) or (isinstance(value, float) and value != value)


def _is_random_state(value: Any) -> bool:
    if isinstance(value, (int, np.integer)):
        return 0 <= int(value) < 2**32
    return value is None or isinstance(value, (np.random.RandomState, np.random.Generator))


HIGHEST_VALUE = 1e100
"""Largest value that is accepted: its fourth power and sums of them are still within the range of a float."""

METHODS = ("auto", "t", "wilson", "percentile", "bca")

POSITIVE = Constraint("a finite number > 0", lambda v: is_real(v) and v > 0, "")
RULES = {
    "alternative": one_of("two-sided", "greater", "less", doc=""),
    "confidence_level": SHARE,
    # SciPy has no quantiles of the t distribution far below that.
    "alpha": Constraint("a number from 1e-100 to 1, exclusive", lambda v: is_real(v) and 1e-100 <= v < 1, ""),
    "power": SHARE,
    "n_resamples": COUNT,
    "random_state": Constraint("an int from 0 to 2**32 - 1, a RandomState, a Generator or None", _is_random_state, ""),
    "missing": Constraint("'raise', 'worst', a finite number or nan", _is_missing, ""),
    "replace_undefined_by": Constraint("a finite number, nan or None", lambda v: v is None or _is_number_or_nan(v), ""),
    "correction": one_of(None, "holm", "bonferroni", "bh", doc=""),
    "greater_is_better": Constraint("True, False or None", lambda v: v is None or isinstance(v, (bool, np.bool_)), ""),
    "method": one_of(*METHODS, doc=""),
    "std": Constraint("a finite number >= 0", lambda v: is_real(v) and v >= 0, ""),
    "difference": Constraint("a finite number", is_real, ""),
    "n_queries": Constraint("an int from 2 to 2**53", lambda v: is_count(v) and 2 <= v <= 2**53, ""),
    "n_train": POSITIVE,
    "n_test": POSITIVE,
}


def check_arguments(function_name: str, **values: Any) -> None:
    """Raise ValueError for the first invalid value."""
    for name, value in values.items():
        RULES[name](name, value, function_name)


def numbers(x: Any, name: str, function_name: str, *, squared: bool = True) -> Array:
    """One-dimensional array of finite numbers or NaN; with `squared`, of a size that can be squared."""
    label = f"{name} of {function_name}"
    refuse_masked(x, label)
    # Lists of several lengths make no array.
    try:
        given = np.asarray(as_numpy(x))
    except ValueError:
        given = np.asarray(None)
    if given.dtype.kind not in "biufO" or (given.dtype == object and given.ndim == 0):
        raise TypeError(f"{label} must hold real numbers. Got {type(x).__name__} instead.")
    if given.ndim != 1 or np.isinf(array := as_floats(given, label)).any():
        raise ValueError(
            f"{label} must be a list of finite numbers (NaN: undefined). "
            f"Got {'an infinite value' if given.ndim == 1 else f'shape {given.shape}'} instead."
        )
    largest = np.abs(array[~np.isnan(array)]).max(initial=0)
    if squared and (largest > HIGHEST_VALUE or 0 < largest < 1 / HIGHEST_VALUE):
        raise ValueError(
            f"The largest of {label} must be 0 or from {1 / HIGHEST_VALUE:g} to {HIGHEST_VALUE:g}, "
            f"so that squares can be summed; scale the values. Got {largest:g}."
        )
    return array
