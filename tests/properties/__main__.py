"""``python -m tests.properties --cases 1000000``: the same properties, for any number of cases."""

import argparse
import multiprocessing
import os
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from properties.run import CHECKS, batch  # noqa: E402


def main():
    parser = argparse.ArgumentParser(prog="python -m tests.properties", description=__doc__)
    parser.add_argument("--cases", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1000, help="the first; each %(prog)s of another seed is another")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    parser.add_argument("--kind", choices=[*CHECKS], action="append", help="default: both")
    parser.add_argument("--spark", type=int, metavar="TABLES", help="so many tables through Spark instead")
    asked = parser.parse_args()
    if asked.spark:
        from properties import on_spark

        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", "PySpark does not yet fully support pandas", FutureWarning)
        return on_spark.main(asked.spark, asked.seed)
    kinds, counts, failed, start = asked.kind or [*CHECKS], Counter(), 0, time.monotonic()
    tasks = ((kind, asked.seed + i) for i in range(asked.cases) for kind in kinds)
    with multiprocessing.get_context("spawn").Pool(asked.processes) as pool:
        for of_kinds, errors in pool.imap_unordered(batch, tasks):
            counts.update(of_kinds)
            failed += len(errors)
            for kind, seed, number, text in errors:
                print(f"\n{kind}, seed {seed}, draw {number}: {text}", flush=True)
            print(f"\r{counts.total()} cases, {failed} wrong, {time.monotonic() - start:.0f} s", end="", flush=True)
            if counts.total() >= asked.cases:
                pool.terminate()
                break
    print("".join(f"\n{n:>9} {kind}" for kind, n in sorted(counts.items())))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
