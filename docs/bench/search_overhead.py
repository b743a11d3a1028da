"""Share of a grid search that twelve metrics cost.

    python docs/bench/search_overhead.py [--rows 50000] [--features 20] [--seed 0]

GridSearchCV with a scorer of twelve metrics, five folds, on an estimator that takes next to no time and on one
that takes a little. All times are medians over the fits of the search: of a fit, of a prediction, and of the rest of a
call of the scorer, which is the metrics; "share" is the metrics over all three. No time is asserted here.
"""

import argparse
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import QueryKFold, make_ranking_scorer

METRICS = [
    "ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "ndcg@20", "ndcg", "map", "map@10", "mrr", "p@5", "recall@10", "err@20",
]  # fmt: skip

TAKEN: dict[str, list[float]] = defaultdict(list)
"""Milliseconds of each call, by what was called."""


def timed(name: str, function: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which notes how long it takes."""

    @wraps(function)
    def call(*arguments: Any, **keywords: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments, **keywords)
        TAKEN[name].append(1e3 * (time.perf_counter() - start))
        return result

    return call


def make_data(n_rows: int, n_features: int, seed: int) -> tuple[np.ndarray, pd.Series]:
    """Queries of 1 to 240 rows; grades 0 to 4 by the sum of some features; the query in the index of y."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_features))
    y = np.clip(np.floor((X[:, :5].sum(axis=1) + 2 * rng.normal(size=n_rows)) / 1.5), 0, 4)
    qid = np.repeat(np.arange(n_rows), rng.integers(1, 241, n_rows))[:n_rows]
    return X, pd.Series(y, index=pd.Index(qid, name="qid"))


def main() -> None:
    """Print one line for each estimator."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option, default in (("--rows", 50_000), ("--features", 20), ("--seed", 0)):
        parser.add_argument(option, type=int, default=default)
    options = parser.parse_args()
    X, y = make_data(options.rows, options.features, options.seed)
    print(f"{options.rows:,} rows, {options.features} features, {y.index.nunique()} queries; {len(METRICS)} metrics\n")
    print(f"{'estimator':30} {'fit, ms':>9} {'predict, ms':>12} {'metrics, ms':>12} {'share':>7}")
    for cls, grid in (
        (Ridge, {"alpha": [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]}),
        (DecisionTreeRegressor, {"max_depth": [4, 6, 8]}),
    ):
        TAKEN.clear()
        class_ = type(cls.__name__, (cls,), {n: timed(n, getattr(cls, n)) for n in ("fit", "predict")})
        scoring = timed("score", make_ranking_scorer(METRICS).__call__)
        GridSearchCV(class_(), grid, scoring=scoring, cv=QueryKFold(5), refit=False, error_score="raise").fit(X, y)
        fit, predict, score = (statistics.median(TAKEN[name]) for name in ("fit", "predict", "score"))
        metrics = score - predict
        print(f"{cls.__name__:30} {fit:9.1f} {predict:12.2f} {metrics:12.2f} {metrics / (fit + score):7.1%}")


if __name__ == "__main__":
    main()
