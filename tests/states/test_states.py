"""Some examples of each machine, the same each time."""

import pytest

from states.run import MACHINES, run

pytestmark = pytest.mark.slow

EXAMPLES = {"Accumulators": 25, "Prepared": 12, "Selection": 16}
"""Of each machine, as many as a second or two allows."""


@pytest.mark.parametrize("name", MACHINES)
def test_machine(name):
    run(name, EXAMPLES[name], 20)
