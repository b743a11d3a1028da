"""Turn keywords into functions of arrays: gains of labels, stops at labels, discounts of ranks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.kernels import grades as grade_kernels
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

ArrayFunction = Callable[[Any], Array]

FEW = 1024
"""Weights of up to so many ranks are remembered, because making them is much of a small call."""

ROUNDING = 1e-9
"""Relative difference of two values of a user's function that are meant to be equal."""


def gain_table(gain: Any) -> tuple[Array, Array] | None:
    """Grades and gains of a table, grades ascending; None for a gain that is no table."""
    if isinstance(gain, str) or callable(gain):
        return None
    if not isinstance(gain, Mapping):
        gain = dict(enumerate(gain))
    grades = sorted(gain)
    return np.array(grades, float), np.array([gain[grade] for grade in grades], float)


def make_gain(gain: Any, min_relevance: float) -> ArrayFunction:
    """Function from labels to gains."""
    table = gain_table(gain)
    if table is not None:
        return lambda label: table[1][np.searchsorted(table[0], label)]
    if callable(gain):
        return lambda label: call(gain, label, "gain")
    return {
        "exp2": exp2_minus_1,
        "linear": lambda label: label,
        "binary": lambda label: np.where(label >= min_relevance, 1.0, 0.0),
    }[gain]


def exp2_minus_1(label: Array) -> Array:
    """``2**label - 1``, also where a label is so near 0 that 2**label is 1; exact for whole labels."""
    label = np.ascontiguousarray(label, dtype=np.float64)
    value = np.empty(len(label))
    grade_kernels.exp2_minus_1(label, value)
    return value


@np.errstate(over="ignore")
def check_gain_function(function: ArrayFunction, labels: Array, function_name: str) -> None:
    """Refuse a user's function of labels with bad or falling values. `labels`: the distinct labels, ascending."""
    gains, half = function(labels), (len(labels) + 1) // 2
    alone = np.concatenate([function(labels[:half]), function(labels[half:])])
    _refuse_unlike(gains, alone, labels, "gain", "label", "gain")
    reach = ROUNDING * np.abs(gains)
    if (falls := gains[1:] < (gains - reach)[:-1]).any():
        at = np.argmax(falls)
        raise ValueError(
            f"A callable 'gain' of {function_name} must not fall as the label rises. "
            f"Got {gains[at]:g} for label {labels[at]:g} and {gains[at + 1]:g} for label {labels[at + 1]:g}."
        )


@np.errstate(over="ignore")
def check_weights(weights: Array, highest: float, function_name: str) -> None:
    """Refuse weights by rank with which a list could be better than the best one, or than a value of 1."""
    rises = weights[1:] > weights[:-1] * (1 + ROUNDING)
    first = 0 < weights[0] <= highest * (1 + ROUNDING)
    if first and not rises.any() and weights.min() >= 0:
        return
    at = 0 if not first else int(np.argmax(rises)) + 1 if rises.any() else int(weights.argmin())
    most = "" if highest == np.inf else f" and not above {highest:g}"
    before = f", after {weights[at - 1]:g}" if at else ""
    raise ValueError(
        f"The 'discount' of {function_name} must be above 0{most} at rank 1, and must not rise or be negative below "
        f"it, or values could exceed the best possible one. Got {weights[at]:g} at rank {at + 1}{before}."
    )


def make_stop(stop: str, max_grade: float) -> ArrayFunction:
    """Function from labels to the probability that a user stops there."""
    return {"exp2": lambda label: exp2_minus_1(label) / 2.0**max_grade, "label": lambda label: label}[stop]


def make_discount(discount: Any, base: float, depth: int, longest: int) -> ArrayFunction:
    """Function from ranks to weights: a table of the ranks up to `longest`; only `depth` are read."""
    if isinstance(discount, str):
        make = _named_table if longest > FEW else _remembered_table
        return make(discount, base, longest).take
    table = np.zeros(longest + 1)
    if callable(discount):
        rank, half = np.arange(1, longest + 1), (longest + 1) // 2
        table[1:], head = (call(discount, r, "discount") for r in (rank, rank[:half]))
        _refuse_unlike(table[1 : half + 1], head, rank, "discount", "rank", "weight")
    else:
        if len(discount) < depth:
            raise ValueError(
                f"The 'discount' array must have a weight for each rank that is read, {depth} here. "
                f"Got {len(discount)} weights instead; give more, or cut the lists with k={len(discount)}."
            )
        table[1 : len(discount) + 1] = discount[:longest]
    return table.take


def _named_table(discount: str, base: float, longest: int) -> Array:
    """Weights of the ranks up to `longest`, with rank i at index i."""
    rank = np.append(np.nan, np.arange(longest) + 1.0)
    if discount == "flat":
        return np.ones_like(rank)
    if discount == "jarvelin":
        return np.log(base) / np.log(np.maximum(rank, base))
    weights: Array = 1.0 / (np.log2(1.0 + rank) if discount == "log2" else rank)
    return weights


_remembered_table = lru_cache(_named_table)


@np.errstate(over="ignore")
def _refuse_unlike(values: Array, others: Array, at: NDArray[Any], name: str, of: str, what: str) -> None:
    """Refuse a user's function that gives other values for other arrays, or another time."""
    differs = np.abs(values - others) > ROUNDING * np.abs(values)
    if differs.any():
        i = np.argmax(differs)
        raise ValueError(
            f"A callable {echo(name)} must give a {of} the same {what} whatever {of}s it is given beside it. "
            f"Got {values[i]:g} and {others[i]:g} for {of} {at[i]:g}."
        )


def call(function: Callable[[Any], ArrayLike], of: Any, name: str) -> Array:
    """Call a user's function, and check that it returns one finite number an entry."""
    with np.errstate(all="ignore"):  # values that are not finite raise below
        result = function(of)
    try:
        array = np.asarray(result, dtype=None if np.iscomplexobj(result) else np.float64)
    except (TypeError, ValueError):  # ragged, or no numbers
        array = np.asarray(np.nan)
    if array.shape != np.shape(of) or array.dtype.kind == "c" or not np.isfinite(array).all():
        raise ValueError(
            f"A callable {echo(name)} must return one finite number for each entry of the array it is given. "
            f"Got shape {array.shape} for {np.shape(of)}, {int((~np.isfinite(array)).sum())} of them not finite."
        )
    return array
