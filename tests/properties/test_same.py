"""What means the same has the same value: other containers, orders, names, cuts and doors."""

from random import Random

import dask.dataframe as dd
import pandas as pd
import pytest

import sklearn_rank.dask
from properties import same
from properties.cases import odd_data
from properties.run import draws

N_CASES = 160
"""Cases of one test."""


@pytest.mark.parametrize("seed", range(20))
def test_what_means_the_same_has_the_same_value(seed):
    for number, error in draws("same", seed, N_CASES):
        pytest.fail(f"draw {number}: {error}\n{same.notes(error)}", pytrace=False)


@pytest.mark.parametrize("seed", range(4))
def test_metrics_together_are_each_alone(seed):
    """Without keywords, most calls on few rows go a way of their own."""
    for number in range(60):
        rng = Random(f"plain {seed} {number}")
        with odd_data():
            base = same.draw_base(rng, plain=True)
            if base:
                same.check(same.alone, rng, base)


@pytest.mark.parametrize("seed", range(6))
def test_partitions_have_the_same_values(seed):
    """Dask tears queries apart."""
    rng, n = Random(seed), 0
    while n < 2:
        with odd_data():
            base = same.draw_base(rng)
            if base and not base.several and base.data.keys is None and len(base.data.rows) > 3:
                same.check(partitions, rng, base)
                n += 1


def partitions(rng, base):
    frame = pd.DataFrame(same.frame_of(base.data))
    data = dd.from_pandas(frame, npartitions=rng.randint(1, 4))
    weight = {} if base.data.weights is None else {"sample_weight": "weight"}
    yield same.result_of(base, sklearn_rank.dask.evaluate(data, metrics=base.metrics, **weight))
