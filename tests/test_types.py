"""Type checkers on code that uses the library."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

RIGHT = """
from typing import assert_type

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import (
    Comparison, Evaluation, QueryKFold, QueryRanker, Ranked, RankingEvaluator, evaluate, get_scorer, metric,
    parse_metric,
)
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.stats import ComparisonResult, compare

y, s, qid = [1, 0, 1, 0], np.array([0.1, 0.2, 0.3, 0.4]), ["a", "a", "b", "b"]
result = evaluate(y, s, qid=qid, metrics=["ndcg@10", ndcg_score, "map"])
assert_type(result, Evaluation)
assert_type(result.mean(), dict[str, float])
low, high = result.confidence_interval()["map"]
evaluate(pd.Series(y), pd.Series(s), qid=pd.Series(qid), metrics="map", sample_weight=[1, 1, 1, 1])
evaluate(csr_array(np.eye(2)), csr_array(np.eye(2)), metrics={"mine": "ndcg(gain=linear)@5"})
ndcg_score(y, s, qid=qid, k=[1, 10], gain="linear")
parse_metric("rbp(p=0.9)@10").metric.bounds
assert_type(compare(result, result, metric="map"), ComparisonResult)


@metric("hits_in_view", undefined_when="no relevant document", needs_relevant=True, bounds=(0, 1))
def hits_in_view_score(r: Ranked, *, p: float = 0.5):
    return r.cumsum(r.relevant, weight=p**r.rank), r.n_relevant


hits_in_view_score(y, s, qid=qid)
X = np.ones((4, 2))
GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}, scoring=get_scorer("ndcg@10"), cv=QueryKFold(2))
report = RankingEvaluator(["ndcg@10", "map"], cv=2).compare({"ridge": Ridge()}, X, y, qid=qid)
assert_type(report, Comparison)
"""

WRONG = {
    "evaluate([1], [1], metrics='map', quid=[1], n_jobs='all')": "n_jobs",
    "metric('mine', undefined_if='no label')": "undefined_if",
    "metric('mine', bounds=1)": "bounds",
    "evaluate([1], [1], metrics=10)": "metrics",
    "evaluate([1], [1], metrics='map', qid=[1]).averages": "averages",
}

CHECKERS = {
    "mypy": ["-m", "mypy", "--no-error-summary", "--disable-error-code=import-untyped"],
    "pyright": ["-m", "basedpyright", "--level=error"],
}
"""Pyright by way of basedpyright, which brings its own node."""


def check(checker, code, folder):
    (folder / "snippet.py").write_text(code)
    here = str(Path(sklearn_rank.__file__).parents[1])  # which checkers do not see in an editable install
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [here]}))
    command = [sys.executable, *CHECKERS[checker], "snippet.py"]
    environment = os.environ | {"MYPYPATH": here}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.parametrize("checker", CHECKERS)
def test_right_use(checker, tmp_path):
    done = check(checker, RIGHT, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize("checker", CHECKERS)
def test_wrong_use(checker, tmp_path):
    """Each in a line of its own, so that one does not hide another."""
    lines = ["from sklearn_rank import evaluate, metric", *WRONG]
    errors = check(checker, "\n".join(lines), tmp_path).stdout.splitlines()
    for number, name in enumerate(WRONG.values(), start=2):
        assert any(f"snippet.py:{number}:" in error and name in error for error in errors), (number, errors)
