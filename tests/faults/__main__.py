"""Plant the faults of kernels.toml, one at a time, and check that the tests detect each.

    python tests/faults [NAME ...] [--n-jobs 2]

A name is that of a fault, such as `kernels-3`. The faults are compiled together, and an environment variable chooses
one at run time. The exit status is 1 if a fault survives that is not listed as equivalent.
"""

from __future__ import annotations

import argparse
import math
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from plant import LIMIT, Fault, compile_faults, copy_project, failure, read_faults


def main() -> int:
    """Plant the named faults, or all, and print the outcome of each."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="*", help="names of faults; all by default")
    parser.add_argument("--n-jobs", type=int, default=2, help="faults at a time")
    args = parser.parse_args()
    faults = [fault for fault in read_faults("kernels") if not args.name or fault.name in args.name]
    if unknown := {*args.name} - {fault.name for fault in faults}:
        parser.error(f"kernels.toml has no {' '.join(sorted(unknown))}")
    survived = 0
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(args.n_jobs) as pool:
        copy_project(copy := Path(folder, "project"))
        compile_faults(faults, copy)
        tests = [*{fault.tests: None for fault in faults}]
        seconds = dict(zip(tests, pool.map(lambda tests: _seconds_to_pass(tests, copy), tests), strict=True))
        runs = {
            pool.submit(_outcome, fault, number, seconds[fault.tests], copy): fault
            for number, fault in enumerate(faults, start=1)
        }
        for run in as_completed(runs):
            outcome, fault = run.result(), runs[run]
            survived += outcome in FAILURES
            print(f"{outcome:10} {fault.name:12} {fault.file}: {fault.planted.strip()}", flush=True)
    print(f"{len(faults)} faults planted, {sum(bool(f.equivalent) for f in faults)} equivalent, {survived} survived")
    return survived > 0


FAILURES = ("SURVIVED", "NOT RUN")


def _seconds_to_pass(tests: tuple[str, ...], copy: Path) -> float:
    """Seconds that tests take without a fault; infinity if they fail or no test is selected."""
    start = time.monotonic()
    printed = failure(tests, copy, 0, LIMIT)
    if printed:
        print(f"These tests must pass without a fault: {' '.join(tests)}\n{printed}", flush=True)
    return math.inf if printed else time.monotonic() - start


def _outcome(fault: Fault, number: int, seconds: float, copy: Path) -> str:
    """Outcome of a fault, given the seconds that its tests take without it; an endless loop counts as noticed."""
    if seconds == math.inf:
        return "NOT RUN"
    is_noticed = bool(failure(fault.tests, copy, number, 60 + 10 * seconds))
    if fault.equivalent:
        return "NOTICED?" if is_noticed else "equivalent"
    return "noticed" if is_noticed else "SURVIVED"


if __name__ == "__main__":
    sys.exit(main())
