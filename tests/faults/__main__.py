"""Plant faults, one at a time, and see that the tests notice each.

    python tests/faults [NAME ...] [--n-jobs 2]

A name is that of a list, such as `metrics`, or of one fault in it, `metrics-3`. Faults of kernels are compiled
together and chosen at run time. The exit status is 1 if a fault survives that is not said to be equivalent.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Queue

from plant import CHOICE, Fault, compile_faults, copy_project, plant, read_faults

LIMIT = 900
"""Seconds that tests may take; an endless loop is noticed too."""


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
        copies: Queue[Path] = Queue()
        for i in range(args.n_jobs):
            copy = Path(folder, str(i), "project")
            copy_project(copy)
            if compiled:
                compile_faults(compiled, copy)
            copies.put(copy)
        numbers = {fault.name: number for number, fault in enumerate(compiled, start=1)}
        with ThreadPoolExecutor(args.n_jobs) as pool:
            [*pool.map(lambda tests: _see_that_pass(tests, copies), {fault.tests: None for fault in faults})]
            found = pool.map(lambda fault: _is_noticed(fault, numbers.get(fault.name, 0), copies), faults)
            for fault, is_noticed in zip(faults, found, strict=True):
                survived += not is_noticed and not fault.equivalent
                print(
                    f"{_outcome(fault, is_noticed):10} {fault.name:24} {fault.file}: {fault.planted.strip()}",
                    flush=True,
                )
    print(f"{len(faults)} faults planted, {sum(bool(f.equivalent) for f in faults)} equivalent, {survived} survived")
    return survived > 0


def _outcome(fault: Fault, is_noticed: bool) -> str:
    if fault.equivalent:
        return "NOTICED?" if is_noticed else "equivalent"
    return "noticed" if is_noticed else "SURVIVED"


def _see_that_pass(tests: tuple[str, ...], copies: Queue[Path]) -> None:
    """Refuse tests that fail without a fault, or that select nothing: they would notice all faults, or none."""
    copy = copies.get()
    try:
        if _tests_fail(tests, copy, 0):
            raise RuntimeError(f"These tests must pass without a fault: {' '.join(tests)}")
    finally:
        copies.put(copy)


def _is_noticed(fault: Fault, number: int, copies: Queue[Path]) -> bool:
    """Whether the tests fail in a copy of the project that has the fault."""
    copy = copies.get()
    before = None if fault.is_compiled else plant(fault, copy)
    try:
        return _tests_fail(fault.tests, copy, number)
    finally:
        if before is not None:
            (copy / fault.file).write_text(before)
        copies.put(copy)


def _tests_fail(tests: tuple[str, ...], copy: Path, number: int) -> bool:
    env = os.environ | {"PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1", CHOICE: str(number)}
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *tests]
    try:
        run = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return True
    if run.returncode not in (0, 1, 2) and run.returncode > 0:  # a crash is below 0
        raise RuntimeError(f"These tests could not be run: {' '.join(command)}\n{run.stdout}{run.stderr}")
    return run.returncode != 0


if __name__ == "__main__":
    sys.exit(main())
