"""Time and memory of `sklearn_rank.dask` on two worker processes, beside other ways to the same numbers.

    python docs/bench/dask_frames.py [--rows 1000000 10000000] [--length 100] [--way grouped moved ...] [--markdown]

Rows are in Parquet files of 250,000 each. `grouped`: queries are whole in each file; all other ways read files over
which the rows of each query are spread: `moved`: rows are brought together first; `mean`: the same, but only the means
come back; `text`: ids are strings; `compute`: the frame is computed, and `sklearn_rank.evaluate` takes it here;
`batches`: `evaluate_batches` reads the files here, without dask; `groupby`: one call a query, by dask's groupby.
Floors: `read`: dask reads the files and drops them; `shuffle`, `shuffle text`: it also brings rows of a query together.
A line says where `moved`, `mean` or `text` is below half the speed of its shuffle.
Each line is a process of its own, with workers of its own; time is the shorter of two calls, after one on few rows.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from tables import Lines, machine

from sklearn_rank import dask as on_dask
from sklearn_rank import evaluate, evaluate_batches
from sklearn_rank.metrics import map_score, ndcg_score

METRICS = ["ndcg@10", "map"]
FLOORS = {"read": "moved", "shuffle": "moved", "shuffle text": "text"}
"""What dask does without us, and whose files it reads."""
WAYS = ["grouped", *FLOORS, "moved", "mean", "text", "compute", "batches", "groupby"]
IN_A_FILE = 250_000
STEP = 999_999_937  # a prime, so that a row goes to another place, and each place has a row


def write(folder: Path, way: str, n_rows: int, length: int) -> None:
    """Files of rows: labels, scores and ids."""
    in_a_file = max(IN_A_FILE // length, 1) * length
    for i, start in enumerate(range(0, n_rows, in_a_file)):
        row = np.arange(start, min(start + in_a_file, n_rows))
        rng = np.random.default_rng([0, start])
        label, score = rng.integers(0, 5, len(row)).astype(np.float64), rng.random(len(row))
        qid: Any = (row if way == "grouped" else row * STEP % n_rows) // length
        qid = [f"q{i}" for i in qid.tolist()] if way == "text" else qid
        pd.DataFrame({"label": label, "score": score, "qid": qid}).to_parquet(folder / f"{i:05}.parquet", index=False)


def of_query(rows: pd.DataFrame) -> pd.Series:
    """What one writes without `sklearn_rank.dask`: metrics of the rows of one query."""
    data = {"y_true": rows.label, "y_score": rows.score, "qid": np.zeros(len(rows))}
    return pd.Series({"ndcg@10": ndcg_score(k=10, **data), "map": map_score(**data)})


def by_groups(ddf: Any) -> dict[str, float]:
    """Means of a call for each query."""
    meta = {name: float for name in METRICS}
    frame = ddf.groupby("qid")[["label", "score"]].apply(of_query, meta=meta)
    means: dict[str, float] = frame.mean().compute().to_dict()
    return means


def means_of(way: str, folder: Path) -> dict[str, float]:
    """What is measured."""
    if way == "batches":
        return evaluate_batches(folder, metrics=METRICS).mean()
    import dask.dataframe as dd

    ddf = dd.read_parquet(folder)
    if way in FLOORS:
        moved = ddf if way == "read" else ddf.shuffle("qid")
        return {"n_rows": float(moved.map_partitions(len, meta=(None, int)).sum().compute())}
    if way == "groupby":
        return by_groups(ddf)
    if way == "compute":
        rows = ddf.compute()
        return evaluate(rows.label, rows.score, qid=rows.qid, metrics=METRICS).mean()
    if way == "mean":
        return on_dask.mean(ddf, metrics=METRICS)
    return on_dask.evaluate(ddf, metrics=METRICS, assume_grouped=way == "grouped").mean()


def peak() -> int:
    """MiB that this process had at its highest."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM:"))
    return int(line.split()[1]) // 1024


def seconds(call: Callable[[], Any]) -> float:
    """Time of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def measure(way: str, folder: Path) -> str:
    """Seconds, peak of this process and of the larger worker in MiB, and the mean, for all ways but floors to agree."""
    from distributed import Client, LocalCluster

    warnings.simplefilter("ignore")
    found: list[dict[str, float]] = []
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": "127.0.0.1:0", "memory_limit": 0}
    with LocalCluster(**options, silence_logs="CRITICAL") as cluster, Client(cluster) as client:
        means_of(way, folder / "few")
        taken = min(seconds(lambda: found.append(means_of(way, folder / "all"))) for _ in range(2))
        of_workers = client.run(peak).values()
    of_map = "-" if way in FLOORS else f"{found[0]['map']:.12f}"
    return f"{taken} {peak()} {max(of_workers)} {of_map}"


def main() -> None:
    """Print a line for each way and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--way", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--markdown", action="store_true")
    parser.add_argument("--one", help=argparse.SUPPRESS)  # the folder, in a process of its own
    options = parser.parse_args()
    if options.one:
        return print(measure(options.way[0], Path(options.one)))
    widths = {"rows": 13, "way": 9, "seconds": 9, "rows a second": 14, "MiB here": 9, "MiB a worker": 13, "MAP": 16}
    lines = Lines(widths, options.markdown)
    for n_rows in options.rows:
        of_way: dict[str, float] = {}
        for way in options.way:
            with tempfile.TemporaryDirectory() as folder:
                for name, n in (("few", min(n_rows, 10_000)), ("all", n_rows)):
                    Path(folder, name).mkdir()
                    write(Path(folder, name), FLOORS.get(way, way), n, options.length)
                command = [sys.executable, __file__, "--way", way, "--one", folder]
                out = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            taken, *others = out.split()
            of_way[way] = float(taken)
            lines.add([f"{n_rows:,}", way, f"{float(taken):.2f}", f"{n_rows / float(taken):,.0f}", *others])
        for way, floor in (("moved", "shuffle"), ("mean", "shuffle"), ("text", "shuffle text")):
            if {way, floor} <= of_way.keys():
                ratio = of_way[floor] / of_way[way]
                verdict = "" if ratio >= 0.5 else ": BELOW ONE HALF"
                lines.note(f"{n_rows:,} rows: {way} has {ratio:.2f} of the speed of {floor}{verdict}")
    lines.note(machine())


if __name__ == "__main__":
    main()
