"""Equivalent calls have equal values: other containers, orders, names, batches and entry points."""

from random import Random

import pytest

from properties import same
from properties.cases import odd_data
from properties.run import draws

N_CASES = 160
"""Cases of one test."""

each_seed = pytest.mark.parametrize("seed", range(20))


@each_seed
def test_equivalent_calls_have_equal_values(seed):
    for number, error in draws("same", seed, N_CASES):
        pytest.fail(f"draw {number}: {error}\n{same.notes(error)}", pytrace=False)


@pytest.mark.parametrize("seed", range(4))
def test_metrics_together_equal_single_calls(seed):
    """Without keywords, most calls on few rows take the fast path."""
    for number in range(60):
        rng = Random(f"plain {seed} {number}")
        with odd_data():
            base = same.draw_base(rng, plain=True)
            if base:
                same.check(same.alone, rng, base)
