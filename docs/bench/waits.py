"""Calls that users wait for, each beside a peer that does the same work: processor time, one thread, in turns.

    python docs/bench/waits.py [NAME ...] [--rounds 5] [--scale 1]

The least time of the rounds counts, of this process and of those that it starts. A peer that is not installed is named
and left out. `--scale 0.1` makes the data smaller; the floors are for all of it.
"""

from __future__ import annotations

import argparse
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from tables import machine, ms, verdict
from targets import WAITS, judge_wait
from threadpoolctl import threadpool_limits

Call = Callable[[], Any]


def small_run(scale: float, folder: str) -> tuple[Call, Call]:
    """A small run evaluated on the shell, against the command of ir_measures."""
    import ir_measures  # noqa: F401

    files = qrels, run = Path(folder, "qrels"), Path(folder, "run")
    qrels.write_text("q1 0 a 1\nq2 0 b 1\n")
    run.write_text("q1 Q0 b 1 0.9 x\nq1 Q0 a 2 0.8 x\nq2 Q0 b 1 0.7 x\n")

    def command(*words: Any) -> Call:
        def call() -> list[float]:
            done = subprocess.run([sys.executable, "-m", *words], check=True, capture_output=True, text=True)
            return [float(number) for number in re.findall(r"\d\.\d{4}", done.stdout)]

        return call

    return command("sklearn_rank", "evaluate", *files), command("ir_measures", *files, "nDCG@10", "AP")


def folds(scale: float, folder: str) -> tuple[Call, Call]:
    """Five folds of two million rows, against GroupKFold: rows in the test sets."""
    from sklearn.model_selection import GroupKFold

    from sklearn_rank import QueryKFold

    qid = np.random.default_rng(0).integers(0, max(int(20_000 * scale), 5), int(2_000_000 * scale))
    X = np.zeros((len(qid), 1))

    def split(splitter: Any) -> Call:
        return lambda: sum(len(test) for _, test in splitter(5).split(X, groups=qid))

    return split(QueryKFold), split(GroupKFold)


def users_and_items(scale: float) -> tuple[dict[str, list[str]], dict[str, set[str]]]:
    """Ten of 5,000 items for each of 20,000 users, and five relevant ones, two of them among these for every other."""
    rng, n = np.random.default_rng(0), max(int(20_000 * scale), 2)
    ranked, relevant = (
        np.argsort(rng.random((n, 200)), axis=1)[:, :k] + rng.integers(0, 4800, (n, 1)) for k in (10, 5)
    )
    relevant[::2, :2] = ranked[::2, 3:5]
    run = {f"u{user}": [f"i{item}" for item in items] for user, items in enumerate(ranked.tolist())}
    return run, {f"u{user}": {f"i{item}" for item in items} for user, items in enumerate(relevant.tolist())}


def run_of_lists(scale: float, folder: str, as_dictionaries: bool = False) -> tuple[Call, Call]:
    """Lists of ten for 20,000 users, against pytrec_eval on dictionaries that were made before."""
    import pytrec_eval

    from sklearn_rank import evaluate_run

    run, judged = users_and_items(scale)
    scores = {user: dict(zip(items, map(float, range(10, 0, -1)), strict=True)) for user, items in run.items()}
    grades = {user: dict.fromkeys(items, 1) for user, items in judged.items()}
    measures = {"ndcg@10": "ndcg_cut_10", "map": "map", "mrr": "recip_rank", "p@10": "P_10"}
    evaluator = pytrec_eval.RelevanceEvaluator(grades, {*measures.values()})
    sides = (grades, scores) if as_dictionaries else (judged, run)

    def peer() -> list[Any]:
        values = evaluator.evaluate(scores).values()
        return [np.mean([of_user[name] for of_user in values]) for name in measures.values()]

    return lambda: [*evaluate_run(*sides, metrics=[*measures]).mean().values()], peer


def exposure_of_lists(scale: float, folder: str) -> tuple[Call, Call]:
    """Exposure of these lists with ten items of training for each user, against three metrics of RecTools on frames."""
    import pandas
    from rectools.metrics import AvgRecPopularity, CatalogCoverage, MeanInvUserFreq

    from sklearn_rank.recommenders import exposure

    run, _ = users_and_items(scale)
    items, rng = [f"i{item}" for item in range(5000)], np.random.default_rng(1)
    train = {user: [items[i] for i in rng.choice(5000, 10, replace=False)] for user in run}
    shown, seen = (
        pandas.DataFrame({"user_id": np.repeat([*by_user], 10), "item_id": np.concatenate([*by_user.values()])})
        for by_user in (run, train)
    )
    shown["rank"] = np.tile(np.arange(1, 11), len(run))

    def ours() -> list[float]:
        found = exposure(run, items=items, k=10, train=train)
        return [found.coverage, found.popularity, found.novelty]

    def peer() -> list[float]:
        popularity, novelty = (metric(k=10).calc(shown, seen) for metric in (AvgRecPopularity, MeanInvUserFreq))
        return [CatalogCoverage(k=10, normalize=True).calc(shown, items), popularity, novelty]

    return ours, peer


def all_pairs(scale: float, folder: str) -> tuple[Call, Call]:
    """All pairs of 20 systems on 10,000 queries, against a loop of ttest_rel: p-values."""
    from scipy.stats import ttest_rel

    from sklearn_rank.stats import compare_all

    rng, n = np.random.default_rng(0), max(int(10_000 * scale), 20)
    base = rng.random(n)
    values = {f"system {i}": np.clip(base + rng.normal(0.001 * i, 0.1, n), 0, 1) for i in range(20)}
    pairs = [*combinations(values, 2)]

    def ours() -> list[float]:
        tests = compare_all(values)
        return [tests[pair].pvalue for pair in pairs]

    return ours, lambda: [ttest_rel(values[a], values[b]).pvalue for a, b in pairs]


def thresholds(scale: float, folder: str) -> tuple[Call, Call]:
    """A curve of a million rows, against precision_recall_curve, which knows no queries: its thresholds are as many."""
    from sklearn.metrics import precision_recall_curve

    from sklearn_rank.retrieval import threshold_curve

    rng, n = np.random.default_rng(0), int(1_000_000 * scale)
    label = (rng.random(n) < 0.1).astype(float)
    score, qid = rng.normal(size=n) + label, np.arange(n) // 50
    return (
        lambda: len(threshold_curve(label, score, qid=qid).threshold) - 1,
        lambda: len(precision_recall_curve(label, score)[2]),
    )


def one_not_retrieved(scale: float, folder: str) -> tuple[Call, Call]:
    """Four metrics of 400,000 rows, one of them -inf, against the same rows without it."""
    from sklearn_rank import evaluate

    rng, n = np.random.default_rng(0), int(400_000 * scale)
    label, score, qid = rng.choice(3, n, p=[0.8, 0.15, 0.05]), rng.normal(size=n), np.arange(n) // 100
    label[0], score[0] = 0, score.min() - 1
    without = np.append(-np.inf, score[1:])
    metrics = ["ndcg@10", "map", "mrr", "p@10"]

    def call(scores: np.ndarray) -> Call:
        return lambda: [*evaluate(label, scores, qid=qid, metrics=metrics).mean().values()]

    return call(without), call(score)


def vectors(scale: float, folder: str) -> tuple[Call, Call]:
    """The nearest ten of 100,000 vectors for 2,000 queries, float32: MAP@10, against an exact search by a peer."""
    from sklearn.neighbors import NearestNeighbors

    from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

    rng, sizes = np.random.default_rng(0), (max(int(2000 * scale), 2), max(int(100_000 * scale), 50))
    queries, items = (rng.normal(size=(n, 128)).astype(np.float32) for n in sizes)
    labels = [rng.integers(0, 10, n) for n in sizes]

    def ours() -> float:
        return evaluate_retrieval(queries, items, *labels, distance="euclidean", metrics="map@10").mean()["map@10"]

    def theirs() -> float:
        found = NearestNeighbors(n_neighbors=10, algorithm="brute").fit(items).kneighbors(queries)
        return score_neighbors(*found, *labels, metrics="map@10").mean()["map@10"]

    return ours, theirs


def whole_lists_of_codes(scale: float, folder: str) -> tuple[Call, Call]:
    """MAP of whole lists by Hamming distance, 100 codes of 64 bits in 100,000, against NumPy's stable argsort."""
    from sklearn_rank.retrieval import evaluate_retrieval

    rng, sizes = np.random.default_rng(0), (max(int(100 * scale), 2), max(int(100_000 * scale), 50))
    codes = [rng.integers(0, 256, (n, 8), dtype=np.uint8) for n in sizes]
    labels = [rng.integers(0, 10, n) for n in sizes]
    keywords = {"distance": "hamming", "metrics": "map", "ties": "stable"}
    words, n_relevant = [x.view(np.uint64)[:, 0] for x in codes], np.bincount(labels[1], minlength=10)

    def average_precision(distance: np.ndarray, wanted: int) -> float:
        rank = np.flatnonzero(labels[1][np.argsort(distance, kind="stable")] == wanted) + 1
        return (np.arange(1, len(rank) + 1) / rank).sum() / max(n_relevant[wanted], 1)

    def theirs() -> float:
        chunks = [words[0][i : i + 32, None] for i in range(0, len(words[0]), 32)]
        distances = (row for chunk in chunks for row in np.bitwise_count(chunk ^ words[1]))
        return float(np.mean([*map(average_precision, distances, labels[0])]))

    return lambda: evaluate_retrieval(*codes, *labels, **keywords).mean()["map"], theirs


ROWS: dict[str, Callable[[float, str], tuple[Call, Call]]] = {
    "small run, shell": small_run,
    "QueryKFold": folds,
    "run, lists": run_of_lists,
    "run, dictionaries": partial(run_of_lists, as_dictionaries=True),
    "exposure of lists": exposure_of_lists,
    "compare_all": all_pairs,
    "threshold_curve": thresholds,
    "one row not retrieved": one_not_retrieved,
    "vectors": vectors,
    "Hamming": whole_lists_of_codes,
}


def cpu_seconds() -> float:
    """Processor time of this process and of those that it started."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def in_turns(calls: tuple[Call, ...], rounds: int) -> list[float]:
    """Least processor time of each call. All return the same numbers, in a round before."""
    ours, *others = [call() for call in calls]
    for found in others:
        np.testing.assert_allclose(found, ours, rtol=1e-6)
    least = [float("inf")] * len(calls)
    for _ in range(rounds):
        for i, call in enumerate(calls):
            start = cpu_seconds()
            call()
            least[i] = min(least[i], cpu_seconds() - start)
    return least


def main() -> None:
    """Print a line for each row, and the verdict."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", nargs="*", help=", ".join(ROWS))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--scale", type=float, default=1.0)
    options = parser.parse_args()
    print(machine())
    judged = []
    with tempfile.TemporaryDirectory() as folder, threadpool_limits(1):
        for name in options.name or ROWS:
            try:
                ours, peer = in_turns(ROWS[name](options.scale, folder), options.rounds)
            except ImportError as error:
                print(f"{name}: {error}")
                continue
            print(f"{name:24} {ms(ours)} ms   {WAITS[name][0]} {ms(peer)} ms   {ours / peer:.2f} times", flush=True)
            judged.append(judge_wait(name, ours / peer))
    print(verdict(judged))


if __name__ == "__main__":
    main()
