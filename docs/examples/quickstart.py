"""Three rankers and a ridge, tuned and compared on queries they have not seen.

Each model is grid-searched inside every training fold and judged on the fold held out (nested cross-validation), once
on real images and once on made data. Each model has one thread: for so few rows, more would only wait for each other.
"""

from time import perf_counter

import numpy as np
from catboost import CatBoostRanker
from lightgbm import LGBMRanker
from sklearn.datasets import load_digits
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from xgboost import XGBRanker

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, get_scorer
from sklearn_rank.datasets import make_ranking

MODELS = {
    "XGBRanker": (XGBRanker(n_estimators=30, learning_rate=0.2, n_jobs=1), {"estimator__max_depth": [3, 5]}),
    "LGBMRanker": (LGBMRanker(n_estimators=30, n_jobs=1, verbose=-1), {"estimator__num_leaves": [7, 31]}),
    "CatBoostRanker": (
        CatBoostRanker(iterations=30, learning_rate=0.2, thread_count=1, verbose=0, allow_writing_files=False),
        {"estimator__depth": [3, 5]},
    ),
    "Ridge": (Ridge(), {"estimator__alpha": [1.0, 1000.0]}),
}


def digits_as_queries(n_queries=300, n_candidates=40, seed=0):
    """Each query is an image of a digit, its documents other images, relevant when they show the same digit."""
    pixels, digit = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    query = rng.choice(len(pixels), n_queries, replace=False).repeat(n_candidates)
    document = rng.choice(np.setdiff1d(np.arange(len(pixels)), query), len(query))
    features = np.abs(pixels[query] - pixels[document])
    return features, (digit[query] == digit[document]).astype(int), query


def main():
    began = perf_counter()
    searches = {
        name: GridSearchCV(QueryRanker(model), grid, scoring=get_scorer("ndcg@10"), cv=QueryKFold(2))
        for name, (model, grid) in MODELS.items()
    }
    data = {
        "digits: find the images of the same digit": digits_as_queries(),
        "make_ranking: graded labels, string ids, shuffled rows": make_ranking(
            n_queries=300, string_qid=True, shuffle=True, random_state=0
        ),
    }
    for title, (X, y, qid) in data.items():
        print(f"\n{title}\n{len(np.unique(qid))} queries, {len(X)} documents, {X.shape[1]} features")
        evaluator = RankingEvaluator(["ndcg@10", "map", "mrr"], cv=5, progress=True)
        report = evaluator.compare(searches, X, y, qid=qid)
        print(report)
        print(f"\n{report.verdict}.")
    print(f"\nDone in {perf_counter() - began:.0f} s.")
    print("Next: docs/start/boosters.md, the same with your features, grades and query ids.")


if __name__ == "__main__":
    main()
