"""Type checkers accept right uses of the library and reject wrong ones."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import sklearn_rank

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("types")]  # run each checker once

ROOT = Path(__file__).parents[2]

RIGHT = """
from typing import assert_type

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, evaluate, get_scorer, metric, parse_metric
from sklearn_rank.metrics import Ranked
from sklearn_rank.results import Comparison
from sklearn_rank.results import Evaluation
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.results import PairedTest
from sklearn_rank.stats import compare

y, s, qid = [1, 0, 1, 0], np.array([0.1, 0.2, 0.3, 0.4]), ["a", "a", "b", "b"]
result = evaluate(y, s, qid=qid, metrics=["ndcg@10", ndcg_score, "map"])
assert_type(result, Evaluation)
assert_type(result.mean(), dict[str, float])
low, high = result.confidence_interval()["map"]
evaluate(pd.Series(y), pd.Series(s), qid=pd.Series(qid), metrics="map", sample_weight=[1, 1, 1, 1])
evaluate(csr_array(np.eye(2)), csr_array(np.eye(2)), metrics={"mine": "ndcg(gain=linear)@5"})
ndcg_score(y, s, qid=qid, k=[1, 10], gain="linear")
parse_metric("rbp(p=0.9)@10").metric.bounds
assert_type(compare(result, result, metric="map"), PairedTest)


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
    "mypy": ["-m", "mypy", "--no-error-summary", "--cache-dir", os.devnull, f"--config-file={ROOT / 'pyproject.toml'}"],
    "pyright": ["-m", "basedpyright", "--level=error"],
}
"""Pyright by way of basedpyright, which brings its own node."""


@pytest.fixture(scope="module", params=CHECKERS)
def printed(request, tmp_path_factory):
    """Output of a checker for both snippets; each wrong use has its own line, so that no error hides another."""
    pytest.importorskip(CHECKERS[request.param][1])
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text("\n".join(["from sklearn_rank import evaluate, metric", *WRONG]))
    here = str(Path(sklearn_rank.__file__).parents[1])  # type checkers do not see the package in an editable install
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [here]}))
    command = [sys.executable, *CHECKERS[request.param], "right.py", "wrong.py"]
    environment = os.environ | {"MYPYPATH": here}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr  # one error per wrong use
    return done.stdout.splitlines()


def test_type_checkers_accept_right_calls(printed):
    assert not [line for line in printed if "error:" in line and "wrong.py:" not in line]


def test_type_checkers_find_wrong_calls(printed):
    for number, name in enumerate(WRONG.values(), start=2):
        assert any(f"wrong.py:{number}:" in error and name in error for error in printed), (number, printed)
