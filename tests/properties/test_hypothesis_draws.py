"""Rows that hypothesis draws: values are those of the oracle, and the same by other ways."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from properties import cases, same

pytestmark = pytest.mark.slow

few_examples = settings(
    max_examples=60, deadline=None, derandomize=True, database=None, suppress_health_check=[*HealthCheck]
)
randoms = st.randoms(use_true_random=False)


@few_examples
@given(randoms)
def test_values_are_those_of_the_oracle(rng):
    for case in cases.draw_cases(rng, n_calls=4):
        assert not (wrong := cases.fails(case)), f"{wrong}\n{case.code()}"


@few_examples
@given(randoms)
def test_what_means_the_same_has_the_same_value(rng):
    same.check_all(rng, [same.alone, same.other_row_order, same.batches])
