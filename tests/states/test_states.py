"""Some examples of the machine, the same each time; ``STATES=10000 pytest tests/states`` takes as many random ones."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from states.accumulators import Accumulators

pytestmark = pytest.mark.slow

ASKED = int(os.environ.get("STATES", "0"))


def test_machine():
    """As many examples as a second or two allows, without shrinking, which takes minutes."""
    chosen = settings(
        max_examples=ASKED or 25, stateful_step_count=40 if ASKED else 20, derandomize=not ASKED,
        database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    run_state_machine_as_test(Accumulators, settings=chosen)
