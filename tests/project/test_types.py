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
from collections.abc import Mapping
from typing import Any, assert_type

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

import sklearn_rank
from sklearn_rank import (
    LeaveOneQueryOut, QueryKFold, QueryRanker, QueryShuffleSplit, RankingAccumulator, RankingEvaluator, check_metric,
    compare_systems, evaluate, evaluate_run, evaluate_table, get_scorer, make_ranking_scorer, metric, parse_metric,
    prepare,
)
from sklearn_rank.metrics import MetricFunction, Ranked, map_score, ndcg_score, precision_at_k_score, query_rmse_error
from sklearn_rank.results import Comparison, Evaluation, PairedTest
from sklearn_rank.stats import compare

y, s, qid = [1, 0, 1, 0], np.array([0.1, 0.2, 0.3, 0.4]), ["a", "a", "b", "b"]
result = evaluate(y, s, qid=qid, metrics=["ndcg@10", ndcg_score, "map"])
assert_type(result, Evaluation)
assert_type(result.mean(), dict[str, float])
low, high = result.confidence_interval()["map"]
evaluate(pd.Series(y), pd.Series(s), qid=pd.Series(qid), metrics="map", sample_weight=[1, 1, 1, 1])
evaluate(csr_array(np.eye(2)), csr_array(np.eye(2)), metrics={"mine": "ndcg(gain=linear)@5"})
assert_type(ndcg_score(y, s, qid=qid), float)
assert_type(ndcg_score(y, s, qid=qid, k=10, gain="linear", ties="worst"), float)
assert_type(ndcg_score(y, s, qid=qid, k=[1, 10], gain=[0, 1, 3]), NDArray[np.float64])
assert_type(ndcg_score(y, s, qid=qid, average=None), NDArray[np.float64])
assert_type(ndcg_score(y, s, qid=qid, k=range(1, 11), average=None), NDArray[np.float64])
assert_type(precision_at_k_score(y, s, qid=qid, k=np.int64(10), average="micro"), float)
assert_type(query_rmse_error(y, s, qid=qid), float)
ndcg_score(np.eye(2), np.eye(2), discount=lambda rank: 1 / rank, n_jobs=2, replace_undefined_by=float("nan"))
ndcg_score(y, s, qid=qid, gain={0: 0.0, 1: 3.0}, min_relevance=np.float32(2), convention="trec_eval")
functions: list[MetricFunction] = [ndcg_score, map_score]
by_name: Mapping[str, MetricFunction] = {"ndcg": ndcg_score, "rmse": query_rmse_error}
assert_type(ndcg_score.metric.name, str)
parse_metric("rbp(p=0.9)@10").metric.bounds
parse_metric("rbp", k=10, p=0.9)
assert_type(compare(result, result, metric="map"), PairedTest)


@metric("hits_in_view", undefined_when="no relevant document", needs_relevant=True, bounds=(0, 1))
def hits_in_view_score(r: Ranked, *, p: float = 0.5) -> tuple[Any, Any]:
    return r.cumsum(r.relevant, weight=p**r.rank), r.n_relevant


@metric("revenue", columns=["price"])
def revenue_score(r: Ranked) -> Any:
    return r.cumsum(r.relevant * r.column("price"))


hits_in_view_score(y, s, qid=qid, p=0.4)
check_metric(hits_in_view_score, p=0.3)
evaluate(y, s, qid=qid, metrics=[revenue_score, "map"], price=[1.0, 2.0, 3.0, 4.0], ties="stable", tie_break=s)
evaluate(y, s, qid=qid, metrics=[revenue_score], price=pd.Series([1.0, 2.0, 3.0, 4.0]), by={"shop": qid}, chance=True)
X = np.ones((4, 2))
scorer = get_scorer("ndcg@10")
GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}, scoring=scorer, cv=QueryKFold(2, shuffle=True))
GridSearchCV(Ridge(), {}, scoring=make_ranking_scorer(ndcg_score, k=10, gain="linear").set_score_request(qid=True))
assert_type(scorer(Ridge().fit(X, y), X, y, qid), float)
assert_type(make_ranking_scorer(["ndcg@10", "map"])(Ridge(), X, y, qid=qid), dict[str, float])
for train, test in QueryShuffleSplit(3, test_size=0.25, random_state=0).split(X, y, qid):
    print(X[train].shape, s[test])
list(LeaveOneQueryOut().split(X, groups=qid))
report = RankingEvaluator(["ndcg@10", "map"], cv=2, gain="linear").compare({"ridge": Ridge()}, X, y, qid=qid)
assert_type(report, Comparison)
frame = pd.DataFrame({"query": qid, "label": y, "bm25": s, "new": s})
assert_type(compare_systems(frame, ["bm25", "new"], qid="query", metrics="ndcg@10", unjudged="nonrelevant"), Comparison)
assert_type(evaluate_table(frame, y_score="bm25", qid="query", metrics="map", min_relevance=2), Evaluation)
evaluate_run({"q": {"d": 1}}, {"q": {"d": 0.5}}, metrics=["ndcg@10"], missing_from_run="zero").to_frame().head()
prepared = prepare(y, qid=qid, metrics="ndcg@10", gain="linear")
prepared.evaluate(s).mean()
state = RankingAccumulator("ndcg@10")
state.update(y, s, qid=qid)
sklearn_rank.stats.compare(result, result, metric="map").pvalue
sklearn_rank.metrics.err_score(y, s, qid=qid, max_grade=4, stop="exp2")
for average in ("macro", "micro"):
    print(average)
"""

IMPORTS = """
import sklearn_rank
from sklearn_rank import *
from sklearn_rank.metrics import ndcg_score, precision_at_k_score, query_rmse_error, rbp_score
"""
WRONG = """
evaluate([1], [1], metrics="map", qid=[1], n_jobs="all")
evaluate([1], [1], metrics=10)
evaluate([1], [1], qid=[1], metric="map")
evaluate([1], [1], qid=[1], ties="averge")
evaluate([1], [1], qid=[1], metrics="map").averages
metric("mine", undefined_if="no label")
metric("mine", bounds=1)
sklearn_rank.nonsense
ndcg_score([1], [1], kk=10)
ndcg_score([1], [1], k="10")
ndcg_score([1], [1], k=10.5)
ndcg_score([1], [1], gain="log")
ndcg_score([1], [1], [1])
ndcg_score([1], [1], average="mean")
ndcg_score([1], [1], k=[1, 5]).upper()
ndcg_score([1], [1], k=10).mean()
query_rmse_error([1], [1], k=10)
rbp_score([1], [1], p="high")
precision_at_k_score([1], [1], denominator="n")
get_scorer(10)
get_scorer("ndcg@10", k=10)
make_ranking_scorer("ndcg", k="10")
QueryKFold(folds=3)
QueryShuffleSplit(test_size="half")
RankingEvaluator("ndcg@10", cv="five", baseline=1)
RankingEvaluator("ndcg@10", gain="log")
RankingEvaluator("ndcg@10", progres="yes")
compare_systems({}, {}, metric="map")
evaluate_run({}, {}, metrics="map", missing_from_run=0)
parse_metric("ndcg", k="10")
check_metric("ndcg", gain="log")
prepare([1], metric="map")
"""

CONFIG = f"--config-file={ROOT / 'pyproject.toml'}"
CHECKERS = {
    "mypy": ["-m", "mypy", "--strict", "--no-error-summary", "--cache-dir", os.devnull, CONFIG],
    "pyright": ["-m", "basedpyright", "--level=error"],
}
"""Pyright by way of basedpyright, which brings its own node."""


@pytest.fixture(scope="module", params=CHECKERS)
def printed(request, tmp_path_factory):
    """Output of a checker for both snippets; each wrong use has its own line, so that no error hides another."""
    pytest.importorskip(CHECKERS[request.param][1])
    folder = tmp_path_factory.mktemp("snippets")
    (folder / "right.py").write_text(RIGHT)
    (folder / "wrong.py").write_text(IMPORTS + WRONG)
    here = str(Path(sklearn_rank.__file__).parents[1])  # type checkers do not see the package in an editable install
    (folder / "pyrightconfig.json").write_text(json.dumps({"typeCheckingMode": "standard", "extraPaths": [here]}))
    command = [sys.executable, *CHECKERS[request.param], "right.py", "wrong.py"]
    environment = os.environ | {"MYPYPATH": here}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 1, done.stdout + done.stderr  # one error per wrong use
    return done.stdout.splitlines()


def test_type_checkers_accept_right_calls(printed):
    assert not [line for line in printed if "right.py:" in line and "error:" in line]


def test_type_checkers_find_wrong_calls(printed):
    first = IMPORTS.count("\n") + 2
    for number, call in enumerate(WRONG.split("\n")[1:-1], first):
        assert any(f"wrong.py:{number}:" in error for error in printed), (call, printed)
