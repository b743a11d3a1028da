"""Rounding errors are below 1e-12; threads and blocks change no bit. `numerical_error.py` runs larger sizes."""

import numerical_error
import pytest
from numerical_error import LIMIT, long_query, means, other_bits, relative, tied_cascades, tied_joint
from registry import each_metric


@each_metric
def test_means_have_the_digits_of_fsum(metric):
    assert relative(*means(metric, 3000)) <= LIMIT


@pytest.mark.filterwarnings("ignore:.*look swapped")
@pytest.mark.parametrize(
    ("kind", "size", "limit"),
    [(long_query, 100_000, LIMIT / 10), (tied_cascades, 150, LIMIT), (tied_joint, 200, LIMIT)],
)
def test_sums_and_ties_have_the_digits_of_exact_ones(kind, size, limit):
    assert {name: relative(*pair) for name, pair in kind(size).items() if relative(*pair) > limit} == {}


@pytest.mark.slow
def test_neither_threads_nor_blocks_change_a_bit(monkeypatch):
    monkeypatch.setattr(numerical_error.blocks, "BLOCK_ROWS", numerical_error.blocks.BLOCK_ROWS)
    assert other_bits(400, block_rows=(1, 7, 30, 2**17), n_jobs=(2,)) == set()
