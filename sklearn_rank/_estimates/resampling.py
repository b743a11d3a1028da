"""Null distributions by resampling, in blocks of bounded memory and without a loop over queries.

Random draws depend on the values, not on their order or on which system is called a.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import combinations
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._estimates.samples import EQUAL_WITHIN
from sklearn_rank._utils.blocks import CACHED_NUMBERS, NUMBERS_IN_MEMORY, cut_rows
from sklearn_rank._utils.typing import Array, Index, RandomState


def generator(random_state: RandomState) -> np.random.Generator:
    """NumPy generator for a `random_state` of scikit-learn."""
    if isinstance(random_state, np.random.Generator):
        return random_state
    from sklearn.utils import check_random_state

    return np.random.default_rng(check_random_state(random_state).randint(2**31, size=4))


def resamples(n: int, n_resamples: int, random_state: RandomState) -> Iterator[Index]:
    """Blocks of bootstrap samples of n units, a row each: the draws of `scipy.stats.bootstrap`, in the cache."""
    rng: Any = np.random.default_rng() if random_state is None else random_state
    rng = np.random.RandomState(int(rng)) if isinstance(rng, Integral) else rng
    draw = rng.integers if isinstance(rng, np.random.Generator) else rng.randint
    for first, last in cut_rows(n_resamples, CACHED_NUMBERS // n):
        yield draw(0, n, (last - first, n), dtype=np.int64)


def sign_flips(d: Array, n_resamples: int, random_state: RandomState) -> tuple[Array, bool]:
    """Sums of d with random signs, and whether all possible sums are included."""
    # A zero has no sign to flip.
    size = np.sort(np.abs(d[d != 0]))
    n = len(size)
    if n < 63 and 2**n <= n_resamples:
        return _flipped(size, (np.arange(2**n)[:, None] >> np.arange(n)) & 1), True
    rng, sums = generator(random_state), []
    for first, last in cut_rows(n_resamples, max(1, NUMBERS_IN_MEMORY // n)):
        block = last - first
        packed = np.frombuffer(rng.bytes(block * -(-n // 8)), dtype=np.uint8).reshape(block, -1)
        sums.append(_flipped(size, np.unpackbits(packed, axis=1, count=n)))
    return np.concatenate(sums), False


def _flipped(size: Array, positive: NDArray[Any]) -> Array:
    return np.asarray(2 * (positive @ size) - size.sum())


def partitions(values: Array, k: int, n_resamples: int, random_state: RandomState) -> tuple[Array, bool]:
    """Sums of k of the values, and whether all possible sums are included."""
    values, n = np.sort(values), len(values)
    if math.comb(n, k) <= n_resamples:
        return values[list(combinations(range(n), k))].sum(axis=1), True
    rng = generator(random_state)
    drawn = (values[rng.choice(n, k, replace=False, shuffle=False)].sum() for _ in range(n_resamples))
    return np.fromiter(drawn, np.float64, n_resamples), False


def tail(null: Array, observed: float, alternative: str, *, exact: bool, scale: float) -> float:
    """Share of the null distribution at least as extreme as `observed`, which counts as one of random resamples."""
    # Values that differ by rounding, relative to `scale`, are equal. Two-sided is twice the smaller tail.
    reach, one = EQUAL_WITHIN * scale, 0 if exact else 1
    greater = (int((null >= observed - reach).sum()) + one) / (len(null) + one)
    less = (int((null <= observed + reach).sum()) + one) / (len(null) + one)
    return {"greater": greater, "less": less, "two-sided": min(1.0, 2 * min(greater, less))}[alternative]


def tail_of_symmetric(null: Array, observed: float, alternative: str, *, exact: bool, scale: float) -> float:
    """As `tail`, but two-sided is the share of absolute values that are at least as large."""
    if alternative == "two-sided":
        null, observed, alternative = np.abs(null), abs(observed), "greater"
    return tail(null, observed, alternative, exact=exact, scale=scale)
