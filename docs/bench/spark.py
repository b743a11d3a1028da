"""Time of `sklearn_rank.spark` beside Spark's own ranking metrics, on the same rows.

    python docs/bench/spark.py [--rows 1000000 10000000] [--length 100] [--rounds 3]
                                [--way read shuffle sort hand ours mllib ml] [--batch-bytes 67108864]

Rows are read from Parquet, in no order, with the columns qid, label (0 or 1), score and doc. Five means are asked for:
nDCG@10, P@10, MAP, MAP@10, recall@10; or the first alone. `mllib` is `pyspark.mllib.evaluation.RankingMetrics`, `ml` is
`pyspark.ml.evaluation.RankingEvaluator`. Both take a list of documents a query, which `groupBy` and `collect_list` make
and which is kept in memory for the five; "lists ready" is their time without it. Ways take turns, each after a call on
few rows, for its workers to be there. Floors: `read`: Spark reads qid, label and score and drops them; `shuffle`: it
also brings the rows of a query together (`repartition("qid")`); `sort`: it also sorts each partition by query; `hand`:
it also hands rows to Python, which drops them. A line says where ours is below half the speed of `shuffle`. `workers`
is the most memory that all Python workers had at a time. Needs pyspark and Java.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pyspark.ml.evaluation import RankingEvaluator
from pyspark.mllib.evaluation import RankingMetrics
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from tables import Lines, machine

from sklearn_rank.spark import per_query

STEP = 999_999_937  # a prime, so that a row goes to another place, and each place has a row
NAMES = ["ndcg@10", "p@10", "map", "map(denominator=min_k_relevant)@10", "recall@10"]
MLLIB: list[Callable[[RankingMetrics], float]] = [
    lambda m: m.ndcgAt(10), lambda m: m.precisionAt(10), lambda m: m.meanAveragePrecision,
    lambda m: m.meanAveragePrecisionAt(10), lambda m: m.recallAt(10),
]  # fmt: skip
ML = ["ndcgAtK", "precisionAtK", "meanAveragePrecision", "meanAveragePrecisionAtK", "recallAtK"]


def session(memory: str, partitions: int, folder: str, batch_bytes: int = 2**31 - 1) -> SparkSession:
    """Two threads, on this machine alone; batches of Arrow of 2**31 - 1 bytes are not measured after each row."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    options = {
        "spark.ui.enabled": "false",
        "spark.log.level": "OFF",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": memory,
        "spark.local.dir": folder,
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(partitions),
        "spark.sql.execution.arrow.maxBytesPerBatch": str(batch_bytes),
    }
    return SparkSession.builder.master("local[2]").config(map=options).getOrCreate()


def write(spark: SparkSession, path: str, n_rows: int, length: int) -> None:
    """Rows whose queries are all over the file; a tenth of the documents is relevant, and scores know a little."""
    rows = spark.range(n_rows).withColumn("label", (F.rand(0) < 0.1).cast("int"))
    score = F.rand(1) + 0.2 * F.col("label")
    qid = (F.col("id") * STEP % n_rows / length).cast("long")
    rows.select(qid.alias("qid"), "label", score.alias("score"), F.col("id").alias("doc")).write.parquet(path)


def lists_of(df: DataFrame) -> DataFrame:
    """Documents of each query, best first, and those that are relevant."""
    best_first = F.sort_array(F.collect_list(F.struct("score", "doc", "label")), asc=False)
    lists = df.groupBy("qid").agg(best_first.alias("found"))
    relevant = F.filter("found", lambda row: row.label > 0)
    docs = [F.transform(x, lambda row: row.doc.cast("double")) for x in (F.col("found"), relevant)]
    return lists.select(docs[0].alias("prediction"), docs[1].alias("label")).persist()


def of_mllib(lists: DataFrame, n_metrics: int) -> list[float]:
    """Means by the metrics of RDDs."""
    metrics = RankingMetrics(lists.rdd.map(tuple))
    return [metric(metrics) for metric in MLLIB[:n_metrics]]


def of_ml(lists: DataFrame, n_metrics: int) -> list[float]:
    """Means by the metrics of frames."""
    return [RankingEvaluator(metricName=name, k=10).evaluate(lists) for name in ML[:n_metrics]]


PEERS = {"mllib": of_mllib, "ml": of_ml}
FLOORS: dict[str, Callable[[DataFrame], DataFrame]] = {
    "read": lambda rows: rows,
    "shuffle": lambda rows: rows.repartition("qid"),
    "sort": lambda rows: FLOORS["shuffle"](rows).sortWithinPartitions("qid"),
    "hand": lambda rows: FLOORS["sort"](rows).mapInArrow(dropped, "qid long"),
}
"""What Spark does without us, each with what stands before it."""
WAYS = [*FLOORS, "ours", *PEERS]


def dropped(batches: Iterator[Any]) -> Iterator[Any]:
    """No batch, after all have come."""
    for _ in batches:
        pass
    yield from ()


def measure(way: str, df: DataFrame, n_metrics: int) -> tuple[float, float, list[float]]:
    """Seconds, seconds from ready lists, and the means."""
    start = time.perf_counter()
    if way in FLOORS:
        rows = FLOORS[way](df.select("qid", F.col("label").cast("double"), "score"))
        rows.write.format("noop").mode("overwrite").save()
        return time.perf_counter() - start, np.nan, []
    if way == "ours":
        names = NAMES[:n_metrics]
        means = [*per_query(df, metrics=names).selectExpr(*(f"avg(`{name}`)" for name in names)).first()]
        return time.perf_counter() - start, np.nan, means
    lists = lists_of(df)
    means = PEERS[way](lists, n_metrics)
    middle = time.perf_counter()
    PEERS[way](lists, n_metrics)
    end = time.perf_counter()
    lists.unpersist(blocking=True)
    return middle - start, end - middle, means


@contextmanager
def memory_of_workers() -> Iterator[list[float]]:
    """Most MiB of memory of their own that all Python workers had together, looked at ten times a second (Linux)."""
    peak, done = [0.0], threading.Event()

    def look() -> None:
        while not done.wait(0.1):
            peak[0] = max(peak[0], sum(map(_own_memory, Path("/proc").glob("[0-9]*"))))

    thread = threading.Thread(target=look)
    thread.start()
    yield peak
    done.set()
    thread.join()


def _own_memory(process: Path) -> float:
    try:
        if b"pyspark.daemon" not in (process / "cmdline").read_bytes() or not _is_ours(process):
            return 0.0
        lines = (process / "smaps_rollup").read_text().splitlines()
    except OSError:  # it has ended
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Private_")) / 1024


def _is_ours(process: Path) -> bool:
    while process.name not in ("0", str(os.getpid())):
        process = process.parent / (process / "stat").read_text().rpartition(")")[2].split()[1]
    return process.name != "0"


def main() -> None:
    """Print a line for each way and number of rows."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000])
    parser.add_argument("--length", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--metrics", type=int, nargs="+", choices=range(1, 6), default=[5, 1])
    parser.add_argument("--way", nargs="+", choices=WAYS, default=WAYS)
    parser.add_argument("--memory", default="6g", help="of Java")
    parser.add_argument("--partitions", type=int, default=8, help="of a shuffle; the 200 of Spark are for clusters")
    parser.add_argument("--batch-bytes", type=int, default=2**31 - 1, help="of Arrow; Spark has 67108864 (64 MiB)")
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    titles = {"rows": 12, "metrics": 8, "way": 6, "seconds": 8, "lists ready": 12, "rows a second": 14, "workers": 8}
    lines = Lines(titles, options.markdown)
    with tempfile.TemporaryDirectory() as folder:
        spark = session(options.memory, options.partitions, folder, options.batch_bytes)
        write(spark, f"{folder}/few", 20_000, options.length)
        few = spark.read.parquet(f"{folder}/few")
        for n_rows in options.rows:
            path = f"{folder}/{n_rows}"
            write(spark, path, n_rows, options.length)
            df = spark.read.parquet(path)
            for n_metrics in options.metrics:
                compare(df, few, n_rows, n_metrics, options, lines)
        spark.stop()
    lines.note(machine())


def compare(
    df: DataFrame, few: DataFrame, n_rows: int, n_metrics: int, options: argparse.Namespace, lines: Lines
) -> None:
    """Rounds where the ways take turns; their means must be equal."""
    times: dict[str, list[tuple[float, float]]] = {way: [] for way in options.way}
    peaks = dict.fromkeys(options.way, 0.0)
    found = {}
    for _ in range(options.rounds):
        for way in options.way:
            measure(way, few, n_metrics)
            with memory_of_workers() as peak:
                *seconds, found[way] = measure(way, df, n_metrics)
            times[way].append((seconds[0], seconds[1]))
            peaks[way] = max(peaks[way], peak[0])
    expected = next((means for means in found.values() if means), [])
    for way, means in found.items():
        np.testing.assert_allclose(means or expected, expected, rtol=1e-9, err_msg=way)
        whole, ready = np.median(times[way], axis=0)
        cells = [f"{whole:.1f}", "" if np.isnan(ready) else f"{ready:.1f}", f"{n_rows / whole:,.0f}"]
        lines.add([f"{n_rows:,}", str(n_metrics), way, *cells, f"{peaks[way]:.0f}"])
    if {"ours", "shuffle"} <= times.keys():
        ratio = np.median(times["shuffle"], axis=0)[0] / np.median(times["ours"], axis=0)[0]
        lines.note(f"ours has {ratio:.2f} of the speed of shuffle{'' if ratio >= 0.5 else ': BELOW ONE HALF'}")


if __name__ == "__main__":
    main()
