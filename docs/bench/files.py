"""A run of TREC read, joined with judgments and scored, against polars reading the same file as a table.

python docs/bench/files.py                      # --queries 5000 --documents 1000 --rounds 7 --n-jobs 2 --seed 0
"""

from __future__ import annotations

import argparse
import gzip
import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars

from sklearn_rank import evaluate
from sklearn_rank.io import join, read_qrels, read_run

JUDGED, FOUND = 70, 50  # documents of each query that are judged, and how many of these the run has


def make(folder: Path, n_queries: int, n_documents: int, seed: int) -> None:
    """Write a run, the same packed, and judgments; ids such as q12 and doc123, scores of four decimals."""
    rng = np.random.default_rng(seed)
    with open(folder / "run", "w") as run, open(folder / "qrels", "w") as qrels:
        for q in range(n_queries):
            documents = rng.choice(1_000_000, n_documents, replace=False)
            scores = np.sort(rng.normal(10, 3, n_documents))[::-1].round(4).tolist()
            rows = enumerate(zip(documents.tolist(), scores, strict=True), 1)
            run.writelines(f"q{q} Q0 doc{d} {rank} {s} bench\n" for rank, (d, s) in rows)
            judged = np.append(rng.choice(documents, FOUND, replace=False), 10**6 + np.arange(JUDGED - FOUND))
            grades = rng.integers(0, 4, JUDGED).tolist()
            qrels.writelines(f"q{q} 0 doc{d} {g}\n" for d, g in zip(judged.tolist(), grades, strict=True))
    with open(folder / "run", "rb") as plain, gzip.open(folder / "run.gz", "wb", compresslevel=6) as packed:
        shutil.copyfileobj(plain, packed)


def score(run: Path, n_jobs: int) -> list[float]:
    """Seconds when it started, and after each step: run read, judgments read, joined, scored."""
    times = [time.perf_counter()]
    entries = read_run(run, n_jobs=n_jobs)
    times.append(time.perf_counter())
    judgments = read_qrels(run.parent / "qrels", n_jobs=n_jobs)
    times.append(time.perf_counter())
    data = join(judgments, entries, tie_order="trec_eval")
    times.append(time.perf_counter())
    metrics = ["ndcg@10", "map"]
    evaluate(data.y_true, data.y_score, qid=data.qid, metrics=metrics, convention="trec_eval", n_jobs=n_jobs).mean()
    return [*times, time.perf_counter()]


def timed(call: Callable[[], Any]) -> tuple[float, float, Any]:
    """Seconds by the clock and of all processors, and what was returned."""
    wall, cpu = time.perf_counter(), time.process_time()
    value = call()
    return time.perf_counter() - wall, time.process_time() - cpu, value


def main() -> None:
    """Take turns, and print minima and medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, default in [("queries", 5000), ("documents", 1000), ("rounds", 7), ("n-jobs", 2), ("seed", 0)]:
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), options.queries, options.documents, options.seed)
        print(f"polars has {polars.thread_pool_size()} threads, we {options.n_jobs}; seconds: minimum (median)")
        for name in ("run", "run.gz"):
            compare(Path(folder) / name, options.rounds, options.n_jobs)


def compare(run: Path, rounds: int, n_jobs: int) -> None:
    """Lines of one file: both, then our steps."""
    calls: dict[str, Callable[[], Any]] = {
        "polars": lambda: polars.read_csv(run, separator=" ", has_header=False, quote_char=None).shape,
        "ours": lambda: score(run, n_jobs),
    }
    found: dict[str, list[Any]] = {who: [timed(call)][1:] for who, call in calls.items()}  # the first does not count
    for _ in range(rounds):
        for who, call in calls.items():
            found[who].append(timed(call))
    for who, rows in found.items():
        wall, cpu = np.array([row[:2] for row in rows]).T
        print(f"{run.name:7} {who:7} clock {_shown(wall)}   processors {_shown(cpu)}")
    steps = np.diff([row[2] for row in found["ours"]])
    parts = ("run read", "judgments read", "joined", "scored")
    print(f"{run.name:7} of this", *(f"{part} {_shown(t)}" for part, t in zip(parts, steps.T, strict=True)), sep="   ")


def _shown(seconds: np.ndarray) -> str:
    return f"{seconds.min():.2f} ({np.median(seconds):.2f})"


if __name__ == "__main__":
    main()
