"""Ratios of numerators and denominators of each shape, for one block of queries and for several."""

import math

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import together

from sklearn_rank._engine.kernels.plan import divide

N = [1, 2, 511, 512, 513, 1300]

DENOMINATORS = {
    "1": lambda rng, n, c: np.ones((1, 1)),
    "of a cutoff": lambda rng, n, c: np.arange(1.0, c + 1)[None],
    "0 at a cutoff": lambda rng, n, c: np.arange(0.0, c)[None],
    "of a query": lambda rng, n, c: rng.integers(0, 9, (n, 1)) * 1.0,
    "of both": lambda rng, n, c: np.asfortranarray(rng.integers(0, 9, (n, c)) * 1.0),
    "of both, by row": lambda rng, n, c: rng.integers(0, 9, (n, c)) * 1.0,
}

NUMERATORS = {
    "1": lambda rng, n, c: np.ones((1, 1)),
    "of a query": lambda rng, n, c: rng.random((n, 1)),
    "of both": lambda rng, n, c: np.asfortranarray(rng.random((n, c))),
    "of some queries": lambda rng, n, c: np.asfortranarray(rng.random((2 * n, c)))[:n],
    "by row": lambda rng, n, c: rng.random((n, c)),
}


def ratios(numerator, denominator, needed, n, c):
    """Values, undefined mask, whether all are in range, and values and mask by NumPy."""
    out, undefined = np.full((n, c), -7.0, order="F"), np.zeros((n, c), dtype=np.uint8, order="F")
    told = divide(numerator, denominator, needed, 0.25, out, undefined)
    zero = np.broadcast_to((denominator == 0) | (False if needed is None else needed == 0), (n, c))
    with np.errstate(all="ignore"):
        expected = np.where(zero, 0.25, numerator / denominator)
    return out, undefined, told, expected, zero


@together("n", N)
@together("needs", [False, True])
@pytest.mark.parametrize("denominators", DENOMINATORS)
@pytest.mark.parametrize("numerators", NUMERATORS)
def test_ratios_of_each_shape(numerators, denominators, needs, n):
    for c in (1, 3):
        rng = np.random.default_rng([n, c])
        needed = (rng.integers(0, 4, (n, 2)) * 1.0)[:, :1] if needs else None
        x, y = NUMERATORS[numerators](rng, n, c), DENOMINATORS[denominators](rng, n, c)
        out, undefined, told, expected, zero = ratios(x, y, needed, n, c)
        assert told
        assert_array_equal(out, expected)
        assert_array_equal(undefined, zero)


@together("n", N)
@pytest.mark.parametrize("denominators", DENOMINATORS)
@pytest.mark.parametrize("wrong", [math.inf, math.nan])
def test_ratios_out_of_range_at_each_position(wrong, denominators, n):
    """Except if the ratio there is undefined."""
    rng = np.random.default_rng(n)
    y, needed = DENOMINATORS[denominators](rng, n, 3), rng.integers(0, 2, (n, 1)) * 1.0
    for q in {0, n // 2, n - 1} | {*range(508, min(n, 516))}:
        for c in range(3):
            x = np.full((n, 3), 2.0, order="F")
            x[q, c] = wrong
            for needs in (None, needed):
                _, undefined, told, _, zero = ratios(x, y, needs, n, 3)
                assert_array_equal(undefined, zero)
                assert told == zero[q, c]
