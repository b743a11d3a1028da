"""``python -m tests.states --examples 10000``: the same machines, for any number of examples."""

import argparse
import multiprocessing
import os
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from states.run import BATCH, MACHINES, batch  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.states", description=__doc__)
    parser.add_argument("--examples", type=int, default=1000, help="of each machine")
    parser.add_argument("--steps", type=int, default=40, help="most steps of an example")
    parser.add_argument("--seed", type=int, default=0, help="the first; each %(prog)s of another seed is another")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--machine", choices=[*MACHINES], action="append", help="default: all")
    parser.add_argument("--shrink", action="store_true", help="make an example that fails small: minutes")
    asked = parser.parse_args()
    sizes = [min(BATCH, asked.examples - start) for start in range(0, asked.examples, BATCH)]
    of_seeds = [(asked.seed + i, n, asked.steps, asked.shrink) for i, n in enumerate(sizes)]
    tasks = [(name, *of_seed) for of_seed in of_seeds for name in asked.machine or MACHINES]
    counts, failed, start = Counter(), 0, time.monotonic()
    with ProcessPoolExecutor(asked.processes, multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(batch, task) for task in tasks]):
            steps, error = done.result()
            counts.update(steps)
            failed += bool(error)
            print(error or f"\r{counts.total()} steps, {time.monotonic() - start:.0f} s", end="", flush=True)
    print("".join(f"\n{n:>9} steps of {name}" for name, n in sorted(counts.items())))
    print(f"{asked.examples} examples of each machine, {failed} of {len(tasks)} seeds failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
