"""Which way for how many rows: seconds and memory of `evaluate`, `evaluate_table` and Spark on the same files.

    python docs/bench/scale.py [--rows 1000000 10000000 100000000] [--length 100] [--way evaluate batches spark]
                               [--order scattered grouped] [--markdown]

Rows are in Parquet files of a million each, with the rows of each query spread over all files (`scattered`), or
together and whole in a file (`grouped`), which the ways are told. `evaluate` reads them by pandas; `spark` has two
threads of Java and two Python workers. Each line is a process of its own. `start` is what it takes until a session is
there and few rows are done; `seconds` is from files to two means. `MiB` is the most that the process and all it
started had at a time, files that they map left out (Linux).
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from batches import BATCH, batches
from tables import Lines, machine

METRICS = ["ndcg@10", "map"]
Means = Callable[[Path], dict[str, float]]


def write(folder: Path, n_rows: int, length: int, order: str) -> None:
    """Files of rows; a grouped one goes to the end of its last query."""
    folder.mkdir()
    schema = pa.schema({"label": pa.float64(), "score": pa.float64(), "qid": pa.int64()})
    held = schema.empty_table()
    for i, batch in enumerate(batches(n_rows, length, order == "scattered")):
        table = pa.concat_tables([held, pa.table(list(batch), schema=schema)])
        end = len(table)
        if order == "grouped" and (i + 1) * BATCH < n_rows:
            end -= (i + 1) * BATCH % length
        pq.write_table(table.slice(0, end), folder / f"{i:05}.parquet")
        held = table.slice(end)


# --- ways ----------------------------------------------------------------------------------------------------


@contextmanager
def with_evaluate(grouped: bool) -> Iterator[Means]:
    import pandas as pd

    from sklearn_rank import evaluate

    def means(folder: Path) -> dict[str, float]:
        rows = pd.read_parquet(folder)
        return evaluate(rows.label, rows.score, qid=rows.qid, metrics=METRICS, n_jobs=2).mean()

    yield means


@contextmanager
def with_batches(grouped: bool) -> Iterator[Means]:
    from sklearn_rank import evaluate_table

    yield lambda folder: evaluate_table(
        folder, metrics=METRICS, assume_grouped=grouped, folder=folder.parent, n_jobs=2
    ).mean()


@contextmanager
def with_spark(grouped: bool) -> Iterator[Means]:
    from pyspark.sql import SparkSession

    from sklearn_rank.spark import evaluate

    os.environ["PYSPARK_PYTHON"] = sys.executable
    local = dict.fromkeys(["spark.driver.host", "spark.driver.bindAddress"], "127.0.0.1")
    quiet = {"spark.ui.enabled": "false", "spark.log.level": "OFF", "spark.ui.showConsoleProgress": "false"}
    options = local | quiet | {"spark.driver.memory": "4g", "spark.local.dir": tempfile.gettempdir()}
    spark = SparkSession.builder.master("local[2]").config(map=options).getOrCreate()
    yield lambda folder: evaluate(spark.read.parquet(str(folder)), metrics=METRICS, assume_grouped=grouped).mean()
    spark.stop()


WAYS = {"evaluate": with_evaluate, "batches": with_batches, "spark": with_spark}


def measure(way: str, order: str, folder: Path) -> str:
    """Seconds to start, seconds, and the mean, for all ways to agree."""
    begin = time.perf_counter()
    with WAYS[way](order == "grouped") as means:
        means(folder / "few")
        ready = time.perf_counter()
        found = means(folder / "all")
        end = time.perf_counter()
    return f"{ready - begin} {end - ready} {found['map']:.10f}"


# --- memory --------------------------------------------------------------------------------------------------


def run(command: list[str]) -> tuple[str, float]:
    """What a process prints, and the most MiB that it and its children had."""
    most = 0.0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        while process.poll() is None:
            most = max(most, _memory(process.pid))
            time.sleep(0.2)
        assert process.stdout
        out = process.stdout.read()
    if process.returncode:
        raise SystemExit(process.returncode)
    return out, most / 1024


def _memory(pid: int) -> int:
    """KiB of a process and of those that it started."""
    try:
        status = Path(f"/proc/{pid}/status").read_text().splitlines()
        tasks = [*Path(f"/proc/{pid}/task").iterdir()]
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:  # it has ended
        return 0
    own = sum(int(line.split()[1]) for line in status if line.startswith(("RssAnon:", "RssShmem:")))
    return own + sum(_memory(int(child)) for child in children)


def main() -> None:
    """Print a line for each number and order of rows and each way."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=list(WAYS))
    parser.add_argument("--order", nargs="+", choices=["scattered", "grouped"], default=["scattered", "grouped"])
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the folder, in a process of its own
    options = parser.parse_args()
    if options.one:
        return print(measure(options.way[0], options.order[0], Path(options.one)))
    widths = {"rows": 13, "order": 10, "way": 9, "start": 6, "seconds": 8, "rows a second": 14, "MiB": 7, "MAP": 13}
    lines = Lines(widths, options.markdown)
    for n_rows in options.rows:
        for order in options.order:
            with tempfile.TemporaryDirectory() as folder:
                write(Path(folder, "few"), min(n_rows, 10_000), options.length, order)
                write(Path(folder, "all"), n_rows, options.length, order)
                for way in options.way:
                    out, memory = run([sys.executable, __file__, "--way", way, "--order", order, "--one", folder])
                    start, taken, value = map(float, out.split())
                    cells = [f"{start:.1f}", f"{taken:.1f}", f"{n_rows / taken:,.0f}", f"{memory:,.0f}", f"{value:.9f}"]
                    lines.add([f"{n_rows:,}", order, way, *cells])
    lines.note(machine())


if __name__ == "__main__":
    main()
