"""Machines, and how many examples of them are run."""

import traceback
import warnings

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from states.accumulators import Accumulators
from states.machine import STEPS
from states.prepared import Prepared
from states.selection import Selection

MACHINES = {machine.__name__: machine for machine in (Accumulators, Prepared, Selection)}


def run(name, n_examples, n_steps, number=None, *, shrink=False):
    """Run examples of a machine: random by a seed, or always the same. Shrinking a failing example takes minutes."""
    machine = type(name, (MACHINES[name],), {})
    if number is not None:
        machine = seed(number)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=n_examples, stateful_step_count=n_steps, derandomize=number is None, database=None,
            deadline=None, print_blob=False, phases=[Phase.generate] + [Phase.shrink] * shrink,
            suppress_health_check=[*HealthCheck],
        ),
    )  # fmt: skip


BATCH = 25
"""Examples that a process runs at a time, of one seed."""


def batch(task):
    """Number of steps, and the error if any."""
    warnings.simplefilter("error")
    name, number, n_examples, n_steps, shrink = task
    STEPS.clear()
    try:
        run(name, n_examples, n_steps, number, shrink=shrink)
    except BaseException as error:  # of any type: none is expected
        notes = "\n".join(getattr(error, "__notes__", ()))
        return dict(STEPS), f"\n{name}, seed {number}:\n{traceback.format_exc()}\n{notes}\n"
    return dict(STEPS), ""
