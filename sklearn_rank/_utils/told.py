"""Warnings of this library, which a function inside it may take before they reach the user.

`warnings.catch_warnings` is for the whole process: two threads that are in it at the same time may leave it so that
no later warning is printed.
"""

from __future__ import annotations

import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar

from sklearn_rank._utils.caller import levels_to_caller

_taken: ContextVar[list[str] | None] = ContextVar("taken", default=None)


def tell(message: str) -> None:
    """Warn the code that called this library, or the function inside it that takes warnings."""
    taken = _taken.get()
    if taken is not None:
        taken.append(message)
    else:
        warnings.warn(message, UserWarning, stacklevel=levels_to_caller())


@contextmanager
def told_here() -> Generator[list[str]]:
    """Take what this thread, and those that work for it, would warn of."""
    taken: list[str] = []
    before = _taken.set(taken)
    try:
        yield taken
    finally:
        _taken.reset(before)
