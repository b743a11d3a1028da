"""Time sklearn_rank against the metrics inside LightGBM, XGBoost and scikit-learn, on the same arrays.

    python docs/bench/compare_peers.py [--rows 3775000] [--repeats 7] [--n-jobs 2] [--seed 0]

Our side is the whole call, from arrays to the mean: checks, grouping by qid, ranking, averaging. The other side is the
metric alone, on data that the library has already taken in: scores are given as LightGBM's init_score and XGBoost's
base_margin, so that no tree is grown or walked; for scikit-learn the queries are already rows of a matrix. Both sides
must print the same number before they are timed, ours called with the conventions of the peer. A peer that is not
installed is left out. Nothing here asserts a time.
"""

import argparse
import os
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from sklearn_rank.metrics import map_score, ndcg_score

GRADES = [0.515, 0.325, 0.134, 0.018, 0.008]  # share of the grades 0 to 4 in MSLR-WEB30K


@dataclass
class Data:
    """Queries of 1 to 240 rows, 120 on average; qid sorted."""

    label: np.ndarray
    score: np.ndarray
    qid: np.ndarray
    sizes: np.ndarray


@dataclass
class Duel:
    """One metric of one peer, and ours twice: with the peer's conventions, and as one would call it."""

    metric: str
    peer: str
    theirs: Callable[[], float]
    ours: Callable[[], float]
    default: Callable[[], float]
    repeats: int | None = None


def make_data(n_rows: int, seed: int) -> Data:
    """Skewed grades, scores that know something about them; scores fit in 32 bits, which is what XGBoost keeps."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 241, max(round(n_rows / 120.5), 1))
    label = rng.choice(5, size=sizes.sum(), p=GRADES).astype(float)
    score = (0.4 * label + rng.normal(size=len(label))).astype(np.float32).astype(np.float64)
    return Data(label, score, np.repeat(np.arange(len(sizes)), sizes), sizes)


def lightgbm_duels(data: Data, n_jobs: int) -> Iterator[Duel]:
    """`Booster.eval_train` without trees; map at a depth beyond the longest list."""
    import lightgbm

    for name, k, function in (("ndcg", 10, ndcg_score), ("map", 1000, map_score)):
        params = {"objective": "lambdarank", "metric": name, "eval_at": [k], "num_threads": n_jobs, "verbose": -1}
        train = lightgbm.Dataset(
            data.score[:, None], data.label, group=data.sizes, init_score=data.score, params=params
        )
        booster = lightgbm.Booster(params, train.construct())
        yield duel(
            function, f"LightGBM {lightgbm.__version__}", lambda b=booster: b.eval_train()[0][2], data, data.label,
            n_jobs,
        )  # fmt: skip


def xgboost_duels(data: Data, n_jobs: int) -> Iterator[Duel]:
    """`Booster.eval` without trees; its map takes binary labels."""
    import xgboost

    relevant = (data.label >= 1).astype(float)
    for name, label, function in (("ndcg@10", data.label, ndcg_score), ("map@10000", relevant, map_score)):
        test = xgboost.DMatrix(data.score[:, None], label, group=data.sizes, base_margin=data.score, nthread=n_jobs)
        booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": name, "nthread": n_jobs}, [test])
        yield duel(
            function, f"XGBoost {xgboost.__version__}",
            lambda b=booster, t=test: float(b.eval(t).rsplit(":", 1)[1]), data, label, n_jobs,
        )  # fmt: skip


def sklearn_duels(data: Data, n_jobs: int) -> Iterator[Duel]:
    """`sklearn.metrics.ndcg_score` on a matrix, short lists filled up with documents of no gain; one thread."""
    import sklearn.metrics

    place = np.arange(data.sizes.max()) < data.sizes[:, None]
    gain, score = np.zeros(place.shape), np.full(place.shape, data.score.min() - 1)
    gain[place], score[place] = np.exp2(data.label) - 1, data.score
    theirs = partial(sklearn.metrics.ndcg_score, gain, score, k=10)
    ours = partial(ndcg_score, data.label, data.score, qid=data.qid, k=10, n_jobs=n_jobs)
    yield Duel("nDCG@10", f"scikit-learn {sklearn.__version__}", theirs, ours, ours, repeats=3)


def duel(
    function: Callable[..., float], peer: str, theirs: Callable[[], float], data: Data, label: np.ndarray, n_jobs: int
) -> Duel:
    """LightGBM and XGBoost agree: ties in input order, 1 for a query without a relevant document."""
    arguments = {"k": 10} if function is ndcg_score else {}
    convention = {"ties": "stable", "replace_undefined_by": 1}
    if function is map_score:
        convention["denominator"] = "min_k_relevant"
    default = partial(function, label, data.score, qid=data.qid, n_jobs=n_jobs, **arguments)
    return Duel("nDCG@10" if arguments else "MAP", peer, theirs, partial(default, **convention), default)


def median_ms(functions: list[Callable[[], float]], repeats: int) -> list[float]:
    """Median time of each, in turns, after a pause for the threads of the last one and a call for its own caches."""
    taken: list[list[float]] = [[] for _ in functions]
    for _ in range(repeats):
        for function, times in zip(functions, taken, strict=True):
            time.sleep(0.1)  # OpenMP and OpenBLAS threads spin for a while after their work
            function()
            start = time.perf_counter()
            function()
            times.append(1e3 * (time.perf_counter() - start))
    return [statistics.median(times) for times in taken]


def main() -> None:
    """Check that the numbers agree, then print one line for each metric of each peer."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in (("--rows", 3_775_000), ("--repeats", 7), ("--n-jobs", 2), ("--seed", 0)):
        parser.add_argument(option, type=int, default=default)
    options = parser.parse_args()
    data = make_data(options.rows, options.seed)
    n_rows = len(data.label)
    print(f"{n_rows:,} rows, {len(data.sizes):,} queries; n_jobs={options.n_jobs} of {os.cpu_count()} CPUs.")
    print("ours: the peer's conventions; averaged: the default, ties averaged. Medians in ms; ratio = peer / ours.\n")
    print(f"{'metric':8} {'peer':20} {'value':>9} {'ours':>8} {'averaged':>9} {'peer':>9} {'ratio':>7} {'ns/row':>7}")
    for duels in (lightgbm_duels, xgboost_duels, sklearn_duels):
        try:
            for d in duels(data, options.n_jobs):
                value, expected = d.ours(), d.theirs()
                if abs(value - expected) > 1e-9:
                    raise SystemExit(f"{d.metric}: {d.peer} has {expected!r}, sklearn_rank has {value!r}.")
                ours, averaged, theirs = median_ms([d.ours, d.default, d.theirs], d.repeats or options.repeats)
                print(
                    f"{d.metric:8} {d.peer:20} {value:9.6f} {ours:8.1f} {averaged:9.1f} {theirs:9.1f} "
                    f"{theirs / ours:6.1f}x {1e6 * ours / n_rows:7.2f}"
                )
        except ImportError as error:
            print(f"left out: {error}")


if __name__ == "__main__":
    main()
