"""Plant faults, one at a time, and see that the tests notice each.

    python tests/faults [NAME ...] [--n-jobs 2]

A name is that of a list, such as `metrics`, or of one fault in it, `metrics-3`. Faults of kernels are compiled
together and chosen at run time. The exit status is 1 if a fault survives that is not said to be equivalent.
"""

from __future__ import annotations

import argparse
import math
import shutil
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from queue import Queue

from plant import LIMIT, Fault, compile_faults, copy_project, failure, plant, read_faults


def main() -> int:
    """Plant the faults that are named, or all, and print what becomes of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="*", help="lists, or faults in them")
    parser.add_argument("--n-jobs", type=int, default=2, help="faults at a time")
    args = parser.parse_args()
    faults = [f for f in read_faults() if not args.name or {f.name, f.name.rpartition("-")[0]} & set(args.name)]
    compiled = [fault for fault in faults if fault.is_compiled]
    survived = 0
    with tempfile.TemporaryDirectory() as folder:
        first = Path(folder, "0")
        copy_project(first)
        if compiled:
            compile_faults(compiled, first)
        copies: Queue[Path] = Queue()
        copies.put(first)
        for i in range(1, args.n_jobs):
            copies.put(shutil.copytree(first, Path(folder, str(i))))
        numbers = {fault.name: number for number, fault in enumerate(compiled, start=1)}
        with ThreadPoolExecutor(args.n_jobs) as pool:
            tests = [*{fault.tests: None for fault in faults}]
            seconds = dict(zip(tests, pool.map(lambda tests: _seconds_to_pass(tests, copies), tests), strict=True))
            runs = {
                pool.submit(_outcome, fault, numbers.get(fault.name, 0), seconds[fault.tests], copies): fault
                for fault in faults
            }
            for run in as_completed(runs):
                outcome, fault = run.result(), runs[run]
                survived += outcome in FAILURES
                print(f"{outcome:10} {fault.name:24} {fault.file}: {fault.planted.strip()}", flush=True)
    print(f"{len(faults)} faults planted, {sum(bool(f.equivalent) for f in faults)} equivalent, {survived} survived")
    return survived > 0


FAILURES = ("SURVIVED", "NOT RUN")


def _seconds_to_pass(tests: tuple[str, ...], copies: Queue[Path]) -> float:
    """Seconds that tests take without a fault; infinity if one fails, as it would notice all, or none is selected."""
    start = time.monotonic()
    failure = _failure((), tests, copies, LIMIT)
    if failure:
        print(f"These tests must pass without a fault: {' '.join(tests)}\n{failure}", flush=True)
    return math.inf if failure else time.monotonic() - start


def _outcome(fault: Fault, number: int, seconds: float, copies: Queue[Path]) -> str:
    """What became of a fault whose tests take so many seconds without it; an endless loop is noticed too."""
    if seconds == math.inf:
        return "NOT RUN"
    is_noticed = bool(_failure((fault, number), fault.tests, copies, 60 + 10 * seconds))
    if fault.equivalent:
        return "NOTICED?" if is_noticed else "equivalent"
    return "noticed" if is_noticed else "SURVIVED"


def _failure(planted: tuple[Fault, int] | tuple[()], tests: tuple[str, ...], copies: Queue[Path], limit: float) -> str:
    """What tests print when they fail in a copy of the project that may have a fault; nothing if they pass."""
    copy = copies.get()
    fault, number = planted or (None, 0)
    before = plant(fault, copy) if fault and not fault.is_compiled else None
    try:
        return failure(tests, copy, number, limit)
    finally:
        if fault and before is not None:
            (copy / fault.file).write_text(before)
        copies.put(copy)


if __name__ == "__main__":
    sys.exit(main())
