"""Memory and time of `evaluate_table`, beside `evaluate` on the same rows at once.

    python docs/bench/batches.py [--rows 10000000] [--length 100] [--way grouped scattered parquet memory] [--markdown]

Rows are made batch by batch, a million at a time, and each line is a process of its own. `grouped`: rows of a query are
adjacent, and batches cut queries; `scattered`: rows of each query are spread over the whole stream, so that all go to
disk; `parquet`: rows of a file, which is written before (needs pyarrow); `memory`: all in arrays, for `evaluate`.

    python docs/bench/batches.py --floors [--rows 10000000] [--n-jobs 2] [--rounds 5]

Whose part is what: seconds by the clock and of all processors, in turns, from the same file of scattered rows and on as
many threads. `read`: pyarrow reads the three columns and drops them; `read and sort`: it sorts the table by query, in
memory; `ours`: from the file to the means. A line says where ours is below half the speed of `read and sort`.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from measure import added_memory
from tables import Lines, machine

from sklearn_rank import evaluate, evaluate_table

METRICS = ["ndcg@10", "map"]
WAYS = ["grouped", "scattered", "parquet", "memory"]
BATCH = 2**20
STEP = 999_999_937  # a prime, so that a row goes to another place, and each place has a row
Batch = tuple[np.ndarray, np.ndarray, np.ndarray]


def batches(n_rows: int, length: int, scattered: bool) -> Iterator[Batch]:
    """Labels, scores and ids of rows."""
    for start in range(0, n_rows, BATCH):
        row = np.arange(start, min(start + BATCH, n_rows))
        rng = np.random.default_rng([0, start])
        label, score = rng.integers(0, 5, len(row)).astype(np.float64), rng.random(len(row))
        yield label, score, (row * STEP % n_rows if scattered else row) // length


def write(path: Path, n_rows: int, length: int) -> None:
    """The scattered rows as a Parquet file."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetWriter(path, pa.schema({"label": pa.float64(), "score": pa.float64(), "qid": pa.int64()})) as file:
        for batch in batches(n_rows, length, True):
            file.write_batch(pa.record_batch(list(batch), schema=file.schema))


def result_of(way: str, n_rows: int, length: int, path: Path) -> Any:
    """What is measured."""
    if way == "memory":
        label, score, qid = map(np.concatenate, zip(*batches(n_rows, length, True), strict=True))
        return evaluate(label, score, qid=qid, metrics=METRICS)
    source = path if way == "parquet" else batches(n_rows, length, way == "scattered")
    return evaluate_table(source, metrics=METRICS, assume_grouped=way == "grouped")


def seconds(call: Any) -> float:
    """Time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(way: str, n_rows: int, length: int, path: Path) -> str:
    """Peak of the memory added in MiB, seconds, and seconds to make the rows; the mean last, for all ways to agree."""
    making = 0.0 if way == "parquet" else seconds(lambda: [None for _ in batches(n_rows, length, way != "grouped")])
    result_of(way, 2 * BATCH, length, path) if way != "parquet" else None  # for what is loaded at the first call
    found: list[Any] = []
    taken = 0.0

    def call() -> None:
        nonlocal taken
        taken = seconds(lambda: found.append(result_of(way, n_rows, length, path)))

    added = added_memory(call)
    return f"{added / 2**20:.0f} {taken:.1f} {making:.1f} {found[0].mean()['map']!r}"


# --- floors --------------------------------------------------------------------------------------------------


def floors(path: Path, n_rows: int, length: int, n_jobs: int, rounds: int) -> None:
    """Print what reading, reading and sorting, and `evaluate_table` take of the same file."""
    import pyarrow as pa
    import pyarrow.dataset as ds

    pa.set_cpu_count(n_jobs)
    write(path, n_rows, length)
    columns = ["label", "score", "qid"]
    calls: dict[str, Any] = {
        "read": lambda: [None for _ in ds.dataset(path).to_batches(columns=columns, use_threads=n_jobs > 1)],
        "read and sort": lambda: ds.dataset(path).to_table(columns=columns, use_threads=n_jobs > 1).sort_by("qid"),
        "ours": lambda: evaluate_table(path, metrics=METRICS, n_jobs=n_jobs, folder=path.parent).mean(),
    }
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in calls}
    for i in range(rounds + 1):
        for name, call in calls.items():
            cpu = time.process_time()
            wall = seconds(call)
            found[name] += [(wall, time.process_time() - cpu)] * (i > 0)  # the first does not count
    clock, processors = ({name: min(t[j] for t in times) for name, times in found.items()} for j in range(2))
    print(f"{n_rows:,} rows of {length}, {n_jobs} threads: minima of {rounds} turns in seconds")
    for name in calls:
        print(f"{name:14} clock {clock[name]:7.2f}   processors {processors[name]:7.2f}")
    for name, of in (("clock", clock), ("processors", processors)):
        ratio = of["read and sort"] / of["ours"]
        print(f"speed of ours over read and sort, {name}: {ratio:.2f}{'' if ratio >= 0.5 else '   BELOW ONE HALF'}")


def main() -> None:
    """Print a line for each way and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000_000])
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--floors", action="store_true")
    parser.add_argument("--n-jobs", type=int, default=2, help="of --floors")
    parser.add_argument("--rounds", type=int, default=5, help="of --floors")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the path, in a process of its own
    options = parser.parse_args()
    if options.one:
        return print(measure(options.way[0], options.rows[0], options.length, Path(options.one)))
    if options.floors:
        for n_rows in options.rows:
            with tempfile.TemporaryDirectory() as folder:
                floors(Path(folder) / "rows.parquet", n_rows, options.length, options.n_jobs, options.rounds)
        return print(machine())
    lines = Lines({"rows": 13, "way": 10, "MiB added": 10, "seconds": 8, "making rows": 12, "MAP": 8}, options.markdown)
    for n_rows in options.rows:
        for way in options.way:
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "rows.parquet"
                if way == "parquet":
                    write(path, n_rows, options.length)
                sizes = ["--rows", str(n_rows), "--length", str(options.length)]
                command = [sys.executable, __file__, "--way", way, *sizes, "--one", str(path)]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            lines.add([f"{n_rows:,}", way, *out.split()])
    lines.note(machine())


if __name__ == "__main__":
    main()
