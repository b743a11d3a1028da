"""Warnings of this library: where they point, who may take them, and filters that threads do not mix up.

`warnings.catch_warnings` is for the whole process: it puts back at its end what it found at its start. If two threads
are in it at the same time, the later one puts back what the earlier one had changed.
"""

from __future__ import annotations

import inspect
import os
import warnings
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import RLock
from types import FrameType

from sklearn_rank.exceptions import RankingWarning

_collected: ContextVar[list[str] | None] = ContextVar("collected", default=None)
_printed: set[tuple[str, str, int]] = set()
_lock = RLock()
# A child whose parent forks while a thread holds the lock could never take it.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def warn_caller(message: str, about: str = "") -> None:
    """Warn the code that called this library, or add the message to those that a function inside it collects."""
    # With `about`, a line of the caller is warned about it once, even if messages differ and others change filters.
    collected = _collected.get()
    if collected is not None:
        collected.append(message)
        return
    caller, levels = _caller()
    if about and caller is not None and _acts_by_default(message):
        place = about, caller.f_code.co_filename, caller.f_lineno
        if place in _printed:
            return
        _printed.add(place)
    warnings.warn(message, RankingWarning, stacklevel=levels)


def _acts_by_default(message: str) -> bool:
    """Whether the first filter that is about a message prints it once for each line."""
    for action, text, category, module, line in warnings.filters:
        if issubclass(RankingWarning, category) and module is None and line == 0:
            if text is None or text.match(message):
                return action == "default"
    return True


@contextmanager
def collected_warnings() -> Generator[list[str]]:
    """Collect what this thread, and the threads that work for it, would warn of."""
    messages: list[str] = []
    before = _collected.set(messages)
    try:
        yield messages
    finally:
        _collected.reset(before)


@contextmanager
def own_filters() -> Generator[None]:
    """Enter code that changes filters, such as scikit-learn's `check_array`; it must not wait for another thread."""
    with _lock, warnings.catch_warnings():
        yield


def levels_to_caller() -> int:
    """Frames up to the code that called this library, directly or by scikit-learn and joblib: the `stacklevel`."""
    return _caller()[1] - 1


def _caller() -> tuple[FrameType | None, int]:
    own = ("sklearn_rank.", "sklearn.", "joblib.")
    frame, levels = inspect.currentframe(), 0
    while frame is not None and frame.f_back is not None and frame.f_globals.get("__name__", "").startswith(own):
        frame, levels = frame.f_back, levels + 1
    return frame, levels
