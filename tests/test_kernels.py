"""Compiled loops against a line of NumPy or Python each, to the last bit, on numbers that loops go wrong on."""

import math

import numpy as np
from numpy.testing import assert_array_equal

from sklearn_rank._metric.gains import exp2_minus_1


def test_powers_of_two():
    odd = [
        -0.0,
        0.5,
        -1.0,
        -1.5,
        1.0 - 2**-53,
        1.0 + 2**-52,
        1e-300,
        -1e-300,
        63.5,
        1e6,
        -1e6,
        math.inf,
        -math.inf,
        math.nan,
    ]
    x = np.concatenate([np.arange(-70.0, 70.0), np.arange(-70.0, 70.0) + 0.25, odd])
    with np.errstate(over="ignore"):
        expected = [math.expm1(v * math.log(2)) if -1 < v < 1 else float(np.exp2(v)) - 1 for v in x]
    assert_array_equal(exp2_minus_1(x), expected)
