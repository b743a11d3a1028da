"""Filters of warnings, which are the whole process's, changed by one thread at a time.

`warnings.catch_warnings` puts back at its end what it found at its start. Of two threads that are in it at the same
time, the later one puts back what the earlier one had changed.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from threading import RLock

_lock = RLock()
if hasattr(os, "register_at_fork"):  # a child whose parent forks inside such a block could never enter one
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


@contextmanager
def own_filters() -> Generator[None]:
    """Enter what changes filters, scikit-learn's `check_array` too; it must not wait for another thread in here."""
    with _lock, warnings.catch_warnings():
        yield
