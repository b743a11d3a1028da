"""Many draws from one seed, counted."""

import warnings
from random import Random

from properties import cases, same
from properties.cases import COUNTS

CHECKS = {"oracle": cases.check_all, "same": same.check_all}
"""What is done with one draw of rows."""


def draws(kind, seed, n_cases):
    """Check draw after draw until there are so many cases; yields the number and the error of each that failed."""
    before, number = COUNTS.total, 0
    while COUNTS.total - before < n_cases:
        try:
            CHECKS[kind](Random(f"{kind} {seed} {number}"))
        except Exception as error:  # of any type: none is expected
            COUNTS.add("wrong")
            yield number, error
        number += 1


BATCH = 2000
"""Cases that a process checks at a time."""


def batch(task):
    """Counts by kind, and errors, of one kind of check and one seed."""
    warnings.simplefilter("error")
    kind, seed = task
    COUNTS.kinds.clear()
    errors = [(kind, seed, n, f"{error}\n{same.notes(error)}") for n, error in draws(kind, seed, BATCH)]
    return dict(COUNTS.kinds), errors
