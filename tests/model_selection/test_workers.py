"""Worker processes: metrics of scripts and notebooks are sent to them, and each joblib backend works."""

import subprocess
import sys

import joblib
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator

PROGRAM = '''
import pickle

import joblib
import numpy as np
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn_rank import QueryKFold, QueryRanker, evaluate, make_ranking_scorer, metric
from sklearn_rank.datasets import make_ranking

BASE = 0.5


def worth(rank):
    return BASE ** (rank - 1)


@metric("half_life", aliases=["hl"], bounds=(0, np.inf))
def half_life_score(r, *, top=3.0):
    """Labels, each worth half as much as at the rank above."""
    return r.cumsum(np.minimum(r.label, top), weight=worth(r.rank))


def first_label(y_true, y_score):
    return y_true[np.argmax(y_score)]


def mean_of(seed):
    """What a worker evaluates; the name is known there only with the metric."""
    rng = np.random.default_rng(seed)
    return evaluate(rng.integers(0, 5, 20), rng.normal(size=20), qid=np.arange(20) // 5, metrics=half_life_score).mean()


def searched(scoring, n_jobs, refit=True):
    X, y, qid = make_ranking(n_queries=12, random_state=0)
    search = GridSearchCV(
        QueryRanker(Ridge(), eval_metric=half_life_score), {"estimator__alpha": [1.0, 1e4]}, scoring=scoring,
        cv=QueryKFold(2), n_jobs=n_jobs, refit=refit, error_score="raise",
    )
    with sklearn.config_context(enable_metadata_routing=True):
        results = search.fit(X, y, qid=qid).cv_results_
    return {name: [*values] for name, values in results.items() if "test" in name}


if __name__ == "__main__":
    for scoring, refit in (
        (make_ranking_scorer("hl@5", top=2.0), True),
        (None, True),
        (make_ranking_scorer([half_life_score, "ndcg@5"]), "half_life"),
        ({"own": make_ranking_scorer(half_life_score), "plain": make_ranking_scorer(first_label)}, "own"),
    )[: 4 if "__file__" in globals() else 1]:
        assert searched(scoring, 1, refit) == searched(scoring, 2, refit)
    for backend in ("loky", "multiprocessing"):
        means = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(mean_of)(seed) for seed in range(3))
        assert means == [mean_of(seed) for seed in range(3)], backend
    entry = half_life_score.metric
    assert pickle.loads(pickle.dumps(entry)) is entry
    print("done")
'''
"""A program that defines a metric of its own and uses it in workers."""


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["script", "notebook"])
def test_a_metric_of_the_main_module_reaches_workers(kind, tmp_path):
    """A notebook has no file that a worker could run."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM)
    command, code = ([str(path)], None) if kind == "script" else (["-"], PROGRAM)
    done = subprocess.run([sys.executable, *command], input=code, capture_output=True, text=True, timeout=500)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


BACKENDS = ["loky", "threading", "multiprocessing", "sequential"]


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
def test_each_backend_gives_the_same_results(backend, ranking):
    X, y, qid = ranking
    models = {"a": Ridge(), "b": Ridge(100.0)}
    expected = RankingEvaluator(["ndcg@5", "map"], cv=3).compare(models, X, y, qid=qid)
    seen = []
    with joblib.parallel_config(backend, n_jobs=2):
        got = RankingEvaluator(["ndcg@5", "map"], cv=3).compare(models, X, y, qid=qid, on_fold=seen.append)
    assert str(got) == str(expected)
    assert [(fold.model, fold.fold) for fold in seen] == [(name, i) for name in models for i in range(3)]
