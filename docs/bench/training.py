"""What a metric costs in training: ours and the library's own, a round of each and whole trainings.

    python docs/bench/training.py [--rows 100000] [--features 20] [--rounds 30] [--n-jobs 1] [--repeats 3] [--seed 0]
    python docs/bench/training.py --rows 3800000 --rounds 0     # rounds alone, on the size of MSLR-WEB30K

A round is one evaluation of the rows by a booster that holds their scores: LightGBM's `Booster.eval_train`, XGBoost's
`Booster.eval_set`. Whole trainings end after all rounds; the validation rows are a fifth of the queries. All calls of a
line take turns, after one of each that is not counted. Times are processor times, with all threads, so that
other work on the machine counts little; medians, with minima in parentheses. No time is asserted here.
"""

import argparse
import time
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import lightgbm as lgb
import numpy as np
import xgboost as xgb
from shapes import Data, make

from sklearn_rank import QueryRanker, group_sizes
from sklearn_rank.boosting import lightgbm_metric, xgboost_metric

METRICS = "ndcg@10", "map@10"
Call = Callable[[], Any]


def in_turns(calls: Iterable[Call], repeats: int) -> list[np.ndarray]:
    """Processor times of each call in seconds."""
    taken = []
    for _ in range(repeats + 1):
        taken.append([])
        for call in calls:
            start = time.process_time()
            call()
            taken[-1].append(time.process_time() - start)
    return [*np.transpose(taken[1:])]


def shown(times: np.ndarray, digits: int) -> str:
    """Median, and minimum in parentheses."""
    return f"{np.median(times):.{digits}f} ({times.min():.{digits}f})"


def lightgbm_round(data: Data, metric: str, n_jobs: int) -> tuple[Call, Call]:
    """LightGBM's own metric and ours, of scores that are in the data set already."""
    name, _, k = metric.partition("@")
    X, sizes = data.y_score[:, None], group_sizes(data.qid)
    calls: list[Call] = []
    for own in (True, False):
        params = {"objective": "lambdarank", "metric": name if own else "None", "eval_at": [int(k)], "verbose": -1}
        params["num_threads"] = n_jobs
        rows = lgb.Dataset(X, data.y_true, group=sizes, init_score=data.y_score, params=params)
        booster = lgb.Booster(params, rows.construct())
        calls.append(partial(booster.eval_train, None if own else lightgbm_metric(metric, n_jobs=n_jobs)))
    return calls[0], calls[1]


def xgboost_round(data: Data, metric: str, n_jobs: int) -> tuple[Call, Call]:
    """XGBoost's own metric and ours, of scores that are in the matrix already; MAP is of binary labels there."""
    y = data.y_true if metric.startswith("ndcg") else (data.y_true >= 1).astype(float)
    rows = xgb.DMatrix(data.y_score[:, None], y, qid=data.qid, base_margin=data.y_score, nthread=n_jobs)
    calls: list[Call] = []
    for own in (True, False):
        params = {"objective": "rank:ndcg", "nthread": n_jobs, "disable_default_eval_metric": not own}
        booster = xgb.Booster(params | ({"eval_metric": metric} if own else {}), [rows])
        ours = None if own else xgboost_metric(metric, n_jobs=n_jobs)
        calls.append(partial(booster.eval_set, [(rows, "all")], 0, ours, output_margin=False))
    return calls[0], calls[1]


def split(data: Data, n_features: int, seed: int) -> tuple[Any, Any]:
    """Training and validation rows: X of noisy copies of the score, y, qid."""
    rng = np.random.default_rng(seed)
    X = data.y_score[:, None] + rng.normal(scale=3, size=(len(data.qid), n_features)).astype(np.float32)
    valid = data.qid % 5 == 0
    return tuple((X[part], data.y_true[part], data.qid[part]) for part in (~valid, valid))


def lightgbm_trainings(data: Data, options: argparse.Namespace) -> list[Call]:
    """Without a metric, with LightGBM's ndcg@10, with ours; QueryRanker without a metric and with ours."""
    (X, y, qid), valid = split(data, options.features, options.seed)
    params = {"objective": "lambdarank", "verbose": -1, "num_threads": options.n_jobs, "eval_at": [10]}
    train_set = lgb.Dataset(X, y, group=group_sizes(qid), params=params, free_raw_data=False).construct()
    valid_set = lgb.Dataset(*valid[:2], group=group_sizes(valid[2]), reference=train_set, free_raw_data=False)
    valid_set.construct()

    def train(metric: str, valid_sets: Any = (), feval: Any = None) -> None:
        lgb.train({**params, "metric": metric}, train_set, options.rounds, valid_sets=[*valid_sets], feval=feval)

    model = lgb.LGBMRanker(n_estimators=options.rounds, n_jobs=options.n_jobs, verbose=-1)
    return [
        lambda: train("None"),
        lambda: train("ndcg", [valid_set]),
        lambda: train("None", [valid_set], lightgbm_metric("ndcg@10", n_jobs=options.n_jobs)),
        lambda: QueryRanker(model).fit(X, y, qid=qid),
        lambda: QueryRanker(model, eval_metric="ndcg@10").fit(X, y, qid=qid, eval_set=valid),
    ]


def xgboost_trainings(data: Data, options: argparse.Namespace) -> list[Call]:
    """Without a metric, with XGBoost's ndcg@10, with ours; QueryRanker without a metric and with ours."""
    (X, y, qid), valid = split(data, options.features, options.seed)
    matrix, held_out = xgb.DMatrix(X, y, qid=qid), xgb.DMatrix(*valid[:2], qid=valid[2])
    params = {"objective": "rank:ndcg", "nthread": options.n_jobs}

    def train(own: bool, evals: Any = (), metric: Any = None) -> None:
        chosen = {"eval_metric": "ndcg@10"} if own else {"disable_default_eval_metric": True}
        evaluated = [(rows, "valid") for rows in evals]
        xgb.train(params | chosen, matrix, options.rounds, evals=evaluated, custom_metric=metric, verbose_eval=False)

    model = xgb.XGBRanker(n_estimators=options.rounds, n_jobs=options.n_jobs)
    return [
        lambda: train(False),
        lambda: train(True, [held_out]),
        lambda: train(False, [held_out], xgboost_metric("ndcg@10", n_jobs=options.n_jobs)),
        lambda: QueryRanker(model).fit(X, y, qid=qid),
        lambda: QueryRanker(model, eval_metric="ndcg@10").fit(X, y, qid=qid, eval_set=valid),
    ]


def main() -> None:
    """Print both tables; medians, in ms and seconds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    numbers = {"rows": 100_000, "features": 20, "rounds": 30, "n-jobs": 1, "repeats": 3, "seed": 0}
    for name, default in numbers.items():
        parser.add_argument(f"--{name}", type=int, default=default)
    options = parser.parse_args()
    data = make("mslr", options.rows, options.seed)
    data = data._replace(qid=np.ascontiguousarray(data.qid, dtype=np.int64))
    print(f"{len(data.qid):,} rows, {options.n_jobs} threads\n\n| a round, ms | metric | own | ours | own / ours |")
    print("| --- | --- | --- | --- | --- |")
    for library, prepare in (("LightGBM", lightgbm_round), ("XGBoost", xgboost_round)):
        for metric in METRICS:
            own, ours = (1e3 * times for times in in_turns(prepare(data, metric, options.n_jobs), options.repeats))
            ratio = np.median(own) / np.median(ours)
            print(f"| {library} | {metric} | {shown(own, 1)} | {shown(ours, 1)} | {ratio:.1f} |")
    if not options.rounds:
        return
    print(f"\n| {options.rounds} rounds, s | no metric | its own | ours | QueryRanker, no metric | QueryRanker, ours |")
    print("| --- | --- | --- | --- | --- | --- |")
    for library, trainings in (("LightGBM", lightgbm_trainings), ("XGBoost", xgboost_trainings)):
        taken = in_turns(trainings(data, options), options.repeats)
        print(f"| {library} | {' | '.join(shown(times, 2) for times in taken)} |")


if __name__ == "__main__":
    main()
