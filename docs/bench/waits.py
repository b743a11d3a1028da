"""Calls that users wait for, each beside a peer that does the same work: processor time, one thread, in turns.

    python docs/bench/waits.py [NAME ...] [--rounds 5] [--scale 1]

The least time of the rounds counts, of this process and of those that it starts. A peer that is not installed is named
and left out. `--scale 0.1` makes the data smaller; the floors are for all of it.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from itertools import combinations, cycle
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


def vectors(scale: float, folder: str, n_queries: int = 2000, n_items: int = 100_000) -> tuple[Call, Call]:
    """The nearest ten of many vectors, float32: MAP@10, against an exact search by a peer."""
    from sklearn.neighbors import NearestNeighbors

    from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

    rng, sizes = np.random.default_rng(0), (max(int(n_queries * scale), 2), max(int(n_items * scale), 50))
    queries, items = (rng.standard_normal((n, 128), dtype=np.float32) for n in sizes)
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


def short_lists(scale: float, folder: str, size: int = 1, grades: int = 2) -> tuple[Call, Call]:
    """nDCG@10 of a million queries of one document, or of labels that are all 0, against lists of two: queries."""
    from sklearn_rank import evaluate

    rng, n = np.random.default_rng(0), int(1_000_000 * scale)
    score, qid = rng.random(2 * n), np.arange(2 * n)

    def call(label: np.ndarray, qid: np.ndarray) -> Call:
        def computed() -> int:
            with warnings.catch_warnings(action="ignore"):
                evaluate(label, score[: len(qid)], qid=qid, metrics="ndcg@10")
            return n

        return computed

    return call(rng.integers(0, grades, n), qid[:n] // size), call(rng.integers(0, 2, 2 * n), qid // 2)


def made_before(result: Call, use: Callable[[Any], Any]) -> Call:
    """Use a new result in each round: it remembers much of what it once computed."""
    results = cycle([result() for _ in range(6)])
    return lambda: use(next(results))


def comparison(n_queries: int, n_systems: int, metrics: list[str]) -> Call:
    """Systems on lists of ten."""
    from sklearn_rank import compare_systems

    rng, n = np.random.default_rng(0), 10 * n_queries
    label, qid = rng.integers(0, 3, n), np.repeat(np.arange(n_queries), 10)
    systems = {f"system {i}": rng.random(n) + 0.1 * i * label for i in range(n_systems)}
    return lambda: compare_systems(label, systems, qid=qid, metrics=metrics)


def saved(scale: float, folder: str) -> tuple[Call, Call]:
    """A comparison of two systems on a million rows, against `numpy.savez` of the same arrays."""
    make, path = comparison(max(int(100_000 * scale), 50), 2, ["ndcg@10"]), Path(folder, "saved.npz")
    make().save(path)
    with np.load(path) as file:
        arrays = {name: file[name] for name in file}

    def theirs() -> int:
        np.savez(path, **arrays)
        return 0

    return made_before(make, lambda one: one.save(path) or 0), theirs


def page(scale: float, folder: str) -> tuple[Call, Call]:
    """A page of 50,000 queries, 3 metrics and 8 systems, against the values in JSON."""
    make = comparison(max(int(50_000 * scale), 50), 8, ["ndcg@10", "map", "p@5"])
    values = [list(result.per_query.values()) for result in make().results.values()]

    def theirs() -> int:
        rounded = [[x.round(6).tolist() for x in of_system] for of_system in values]
        Path(folder, "values.json").write_text(json.dumps(rounded))
        return 0

    return made_before(make, lambda one: one.save_html(Path(folder, "page.html")) or 0), theirs


def bootstrap(scale: float, folder: str) -> tuple[Call, Call]:
    """Percentiles of 1,000 bootstrap means of 10,000 queries, against SciPy with the same draws."""
    from scipy import stats

    from sklearn_rank.stats import confidence_interval

    x, options = np.random.default_rng(0).random(int(10_000 * scale)), {"n_resamples": 1000, "method": "percentile"}

    def peer() -> tuple[float, float]:
        return stats.bootstrap((x,), np.mean, **options, random_state=0, vectorized=True).confidence_interval

    return lambda: confidence_interval(x, **options, random_state=0), peer


def wilcoxon(scale: float, folder: str) -> tuple[Call, Call]:
    """Wilcoxon's test of 10,000 queries, a hundred times, against SciPy: p-values."""
    from scipy import stats

    from sklearn_rank.stats import compare

    rng, n = np.random.default_rng(0), int(10_000 * scale)
    a = rng.random(n)
    b = np.clip(a + rng.normal(0.002, 0.1, n), 0, 1)

    def often(p: Callable[[], float]) -> Call:
        return lambda: [p() for _ in range(100)]

    return often(lambda: compare(b, a, test="wilcoxon").pvalue), often(lambda: stats.wilcoxon(b, a).pvalue)


def few_rows(scale: float, folder: str) -> tuple[Call, Call]:
    """`ndcg_score` of 60 lists of ten, a thousand times, against scikit-learn's."""
    from sklearn import metrics as peer

    from sklearn_rank.metrics import ndcg_score

    rng, qid = np.random.default_rng(0), np.repeat(np.arange(60), 10)
    label, score = rng.integers(0, 5, (60, 10)), rng.random((60, 10))
    rows = label.ravel(), score.ravel()

    def often(value: Callable[[], float]) -> Call:
        return lambda: [value() for _ in range(max(int(1000 * scale), 1))]

    return often(lambda: ndcg_score(*rows, qid=qid, gain="linear")), often(lambda: peer.ndcg_score(label, score))


ROWS: dict[str, Callable[[float, str], tuple[Call, Call]]] = {
    "small run, shell": small_run,
    "run, lists": run_of_lists,
    "run, dictionaries": partial(run_of_lists, as_dictionaries=True),
    "exposure of lists": exposure_of_lists,
    "compare_all": all_pairs,
    "vectors": vectors,
    "vectors, few queries": partial(vectors, n_queries=50, n_items=1_000_000),
    "Hamming": whole_lists_of_codes,
    "lists of one": short_lists,
    "labels all 0": partial(short_lists, size=10, grades=1),
    "save": saved,
    "save_html": page,
    "bootstrap": bootstrap,
    "wilcoxon": wilcoxon,
    "ndcg_score, 600 rows": few_rows,
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
