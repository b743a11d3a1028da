"""Threads that run blocks of rows and stop together.

Threads are kept from one call to the next: to wake one is faster than to start one. They end before the process forks,
unless one is at work: a child does not get them, and Python warns of threads that it lacks.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from contextvars import copy_context
from numbers import Integral
from threading import Event, Lock, local, main_thread
from typing import Any, TypeVar

from sklearn_rank._utils.echo import echo

Item = TypeVar("Item")
T = TypeVar("T")


def check_n_jobs(n_jobs: object) -> None:
    """Refuse an `n_jobs` that joblib would refuse, also for work too small for threads."""
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"The 'n_jobs' parameter must be an int other than 0, or None. Got {echo(n_jobs)} instead.")


def effective_n_jobs(n_jobs: int | None) -> int:
    """Threads that joblib's `n_jobs` means. It is imported where more than its default may be meant."""
    if n_jobs == 1 or (n_jobs is None and "joblib" not in sys.modules):
        return 1
    # While a process ends, joblib cannot be imported any more.
    if not can_start():
        return 1
    import joblib

    return int(joblib.effective_n_jobs(n_jobs))


def map_blocks(function: Callable[..., T], blocks: Sequence[tuple[Any, ...]], n_jobs: int | None) -> list[T]:
    """List ``function(*block)`` for each block, as (start, stop), on as many threads as joblib's `n_jobs` means."""
    if len(blocks) == 1:
        return [function(*blocks[0])]
    return map_items(lambda block: function(*block), blocks, threads_for(len(blocks), n_jobs))


def threads_for(n_blocks: int, n_jobs: int | None) -> int:
    """Number of threads that joblib's `n_jobs` means for so many blocks."""
    return 1 if n_jobs == 1 else min(effective_n_jobs(n_jobs), n_blocks)


def can_start() -> bool:
    """Whether other threads can start and run: they cannot while Python ends, in `atexit` and in ``__del__``."""
    return main_thread().is_alive() and not sys.is_finalizing()


def map_items(function: Callable[[Item], T], items: Iterable[Item], n_threads: int) -> list[T]:
    """List ``function(item)`` for each item; all threads call one function."""
    return map_with_state(lambda: function, items, n_threads)


def map_with_state(make_function: Callable[[], Callable[[Item], T]], items: Iterable[Item], n_threads: int) -> list[T]:
    """List ``function(item)`` for each item; each thread makes a function of its own, such as one with its arrays."""
    # An error or an interrupt in one thread stops all of them, and is raised unchanged.
    if n_threads == 1 or not can_start():
        return [*map(make_function(), items)]
    results: dict[int, T] = {}
    # The first error, and others that were raised before the threads stopped.
    errors: list[BaseException] = []
    todo, taking, stop = enumerate(items), Lock(), Event()
    before = _stop_events()

    def work() -> None:
        outer, _thread.stop_events = _stop_events(), (*before, stop)
        try:
            # One that begins after the end is there because the system let no thread start for it.
            if stop.is_set():
                return
            function = make_function()
            while not stop.is_set():
                with taking:
                    i, item = next(todo, (-1, None))
                if item is None:
                    return
                results[i] = function(item)
        except BaseException as error:
            is_first = not stop.is_set()
            stop.set()
            if is_first:
                errors.append(error)
        finally:
            _thread.stop_events = outer

    helpers: list[Future[None]] = []
    try:
        # The system may refuse: "can't start new thread".
        with suppress(RuntimeError):
            for _ in range(n_threads - 1):
                helpers.append(_executor.submit(copy_context().run, _help, work))
        work()
        _wait_for(helpers)
        is_stopped = stop.is_set()
    finally:
        stop.set()
        _wait_for(helpers)
    if errors:
        raise errors.pop(0)
    # There was no memory to keep the error.
    if is_stopped:
        raise MemoryError
    return [results[i] for i in range(len(results))]


def _wait_for(helpers: list[Future[None]]) -> None:
    """Wait until helpers are done; those that have not begun after a while, because all threads are busy, never do."""
    for helper in helpers:
        with suppress(CancelledError):
            try:
                helper.exception(TIME_TO_BEGIN)
            except TimeoutError:
                if not helper.cancel():
                    helper.exception()


def with_helpers(function: Callable[[Item], T], items: Iterable[Item], n_threads: int) -> Iterator[T]:
    """Yield ``function(item)`` in order; if all helpers are busy, the calling thread calls the function."""
    if n_threads == 1 or not can_start():
        yield from map(function, items)
        return
    stop, before = Event(), _stop_events()

    def help_with(item: Item) -> T:
        _thread.stop_events = (*before, stop)
        return function(item)

    results: list[Future[T]] = []
    with ThreadPoolExecutor(n_threads - 1) as pool:
        try:
            busy: list[Future[T]] = []
            for item in items:
                for future in [future for future in busy if future.done()]:
                    # An error in the thread is raised here.
                    future.result()
                    busy.remove(future)
                if len(busy) < n_threads - 1:
                    busy.append(pool.submit(help_with, item))
                    results.append(busy[-1])
                else:
                    results.append(Future())
                    results[-1].set_result(function(item))
                del item
            wait(results)
        finally:
            stop.set()
    yield from (future.result() for future in results)


def check_interrupt() -> None:
    """Raise if another thread has failed, or if the user interrupts; kernels, which run without Python, call it."""
    if any(stop.is_set() for stop in _stop_events()):
        raise StoppedError


class StoppedError(BaseException):
    """Raised in a thread that stops because another one has failed."""


_thread = local()


def _stop_events() -> tuple[Event, ...]:
    """Stop events of the `map_items` calls that this thread works for."""
    events: tuple[Event, ...] = getattr(_thread, "stop_events", ())
    return events


# --- threads that are kept ---------------------------------------------------------------------------------------


TIME_TO_BEGIN = 0.01
"""Seconds that a helper has to begin once the work is done: if it were cancelled at once, the next call would find no
thread idle, and start another."""

MOST_THREADS = max(32, os.cpu_count() or 1)
"""Threads that are kept at most; calls that ask for more have to do with fewer."""

_at_work: list[Callable[[], None]] = []
"""Functions that kept threads work at."""


def _help(work: Callable[[], None]) -> None:
    """Work in a kept thread."""
    _at_work.append(work)
    try:
        work()
    finally:
        _at_work.remove(work)


def _new_executor() -> ThreadPoolExecutor:
    """An executor, which starts a thread when none is idle."""
    return ThreadPoolExecutor(MOST_THREADS, thread_name_prefix="sklearn_rank")


_executor = _new_executor()


def _end_threads() -> None:
    """End the threads if none is at work; the next call has others."""
    global _executor
    if not _at_work:
        ended, _executor = _executor, _new_executor()
        ended.shutdown()


def _begin_anew() -> None:
    """Forget threads that a child does not have."""
    global _executor
    _executor = _new_executor()
    _at_work.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_end_threads, after_in_child=_begin_anew)
