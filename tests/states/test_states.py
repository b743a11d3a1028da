"""Some examples of each machine, the same each time; ``STATES=10000 pytest tests/states`` takes as many random ones."""

import os

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis.stateful import run_state_machine_as_test

from states.accumulators import Accumulators
from states.prepared import Prepared
from states.selection import Selection

pytestmark = pytest.mark.slow

EXAMPLES = {Accumulators: 25, Prepared: 12, Selection: 16}
"""Of each machine, as many as a second or two allows."""
ASKED = int(os.environ.get("STATES", "0"))


@pytest.mark.parametrize("machine", EXAMPLES, ids=lambda machine: machine.__name__)
def test_machine(machine):
    """Without shrinking, which takes minutes."""
    chosen = settings(
        max_examples=ASKED or EXAMPLES[machine], stateful_step_count=40 if ASKED else 20, derandomize=not ASKED,
        database=None, deadline=None, phases=[Phase.generate], suppress_health_check=[*HealthCheck],
    )  # fmt: skip
    run_state_machine_as_test(machine, settings=chosen)
