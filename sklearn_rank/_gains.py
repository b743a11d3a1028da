"""Gains of labels, stops at labels and discounts of ranks: from the user's keyword to a function of an array."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank import _kernels

Array = NDArray[np.float64]
Function = Callable[[Any], Array]

FEW = 2**10
"""Ranks whose weights are worth remembering, as much of a small call is making them."""


def gain_table(gain: Any) -> tuple[Array, Array] | None:
    """Grades and gains of a table, grades ascending; None for a gain that is no table."""
    if isinstance(gain, str) or callable(gain):
        return None
    if not isinstance(gain, Mapping):
        gain = dict(enumerate(gain))
    grades = np.array(sorted(gain), dtype=np.float64)
    return grades, np.array([gain[g] for g in sorted(gain)], dtype=np.float64)


def make_gain(gain: Any, min_relevance: float) -> Function:
    """Function from labels to gains."""
    table = gain_table(gain)
    if table is not None:
        return lambda label: table[1][np.searchsorted(table[0], label)]
    if callable(gain):
        return lambda label: same_shape(gain(label), label, "gain")
    return {
        "exp2": exp2_minus_1,
        "linear": lambda label: label,
        "binary": lambda label: np.asarray(label >= min_relevance, dtype=np.float64),
    }[gain]


def exp2_minus_1(label: Array) -> Array:
    """``2**label - 1``, also where a label is so near 0 that 2**label is 1; exact for whole labels."""
    label = np.ascontiguousarray(label, dtype=np.float64)
    value = np.empty(len(label))
    _kernels.exp2_minus_1(label, value)
    return value


def make_stop(stop: str, max_grade: float) -> Function:
    """Function from labels to the probability that a user stops there."""
    return {"exp2": lambda label: exp2_minus_1(label) / 2.0**max_grade, "label": lambda label: label}[stop]


def make_discount(discount: Any, base: float, depth: int, longest: int) -> Function:
    """Function from ranks to weights: a table of the ranks up to `longest`, of which `depth` are read.

    Raises
    ------
    ValueError
        If an array of weights is shorter than `depth`.
    """
    if isinstance(discount, str):
        make = _named_table if longest > FEW else _remembered_table
        return make(discount, base, longest).take
    table = np.full(longest + 1, np.nan)
    if callable(discount):
        rank = np.arange(1, longest + 1)
        table[1:] = same_shape(discount(rank), rank, "discount")
    else:
        given = np.asarray(discount, dtype=np.float64)
        if len(given) < depth:
            raise ValueError(
                f"The 'discount' array must have a weight for each rank that is read, {depth} here. "
                f"Got {len(given)} weights instead; give more, or cut the lists with k={len(given)}."
            )
        table[1:] = 0.0  # what lies below the array is below the cutoff
        table[1 : len(given) + 1] = given[:longest]
    return table.take


def _named_table(discount: str, base: float, longest: int) -> Array:
    """Weights of the ranks up to `longest`, that of rank i at i."""
    rank = np.arange(longest + 1.0)
    rank[0] = np.nan
    if discount == "jarvelin":
        return np.where(rank < base, 1.0, np.log(base) / np.log(np.maximum(rank, base)))
    return np.asarray(1.0 / (np.log2(1.0 + rank) if discount == "log2" else rank))


_remembered_table = lru_cache(maxsize=64, typed=True)(_named_table)


def same_shape(result: ArrayLike, like: Any, name: str) -> Array:
    """What a user's function returned, if it is one finite number an entry.

    Raises
    ------
    ValueError
        If it is not.
    """
    array = np.asarray(result, dtype=np.float64)
    if array.shape != np.shape(like) or not np.isfinite(array).all():
        raise ValueError(
            f"A callable {name!r} must return one finite number for each entry of the array it is given. "
            f"Got shape {array.shape} for {np.shape(like)}, {int((~np.isfinite(array)).sum())} of them not finite."
        )
    return array
