"""Faults around the library: a clock that jumps, a locale with commas, long names, models that fail in one fold."""

import io
import itertools
import locale
import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate, parse_metric
from sklearn_rank.io import read_table, read_trec_run
from sklearn_rank.stats import compare

LONG = "x" * 2**20


@pytest.fixture
def commas():
    """A locale whose numbers have commas."""
    for name in ("de_DE.UTF-8", "de_DE.utf8", "de_DE", "fr_FR.UTF-8", "German"):
        try:
            before = locale.setlocale(locale.LC_ALL)
            locale.setlocale(locale.LC_ALL, name)
        except locale.Error:
            continue
        yield
        locale.setlocale(locale.LC_ALL, before)
        return
    pytest.skip("no locale with commas is installed")


def test_numbers_have_points_in_every_locale(commas):
    run = read_trec_run(io.BytesIO(b"q1 Q0 a 1 2.5 me\nq1 Q0 b 2 -1.25e-1 me\n"))
    assert run.value.tolist() == [2.5, -0.125]
    assert parse_metric("rbp(p=0.9)@10")["p"] == 0.9
    assert read_table(io.BytesIO(b"label,score,qid\n1,2.5,q1\n0,1.5,q1\n")).y_score.tolist() == [2.5, 1.5]
    assert "0.6309" in str(evaluate([0, 1], [2, 1], qid=[1, 1], metrics="ndcg"))


def test_a_clock_that_goes_back(shuffled, monkeypatch):
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=2)
    expected = evaluator.compare({"a": Ridge()}, X, y, qid=qid).results["a"]
    clock = itertools.count(10**9, -1000)
    monkeypatch.setattr(time, "time", lambda: float(next(clock)))
    report = evaluator.compare({"a": Ridge()}, X, y, qid=qid)
    assert report.results["a"].mean() == expected.mean()
    assert len(str(report)) > 0


@pytest.mark.parametrize("call", [
    lambda: parse_metric(LONG), lambda: evaluate([1, 0], [2, 1], qid=[1, 1], metrics={LONG: LONG}),
    lambda: evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map", ties=LONG),
    lambda: evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map", n_jobs=LONG),
    lambda: evaluate([1, 0], [2, np.nan], qid=[LONG, LONG], metrics="map"),
    lambda: evaluate([1, 0], [2, 1], qid=[LONG, LONG], sample_weight=[1, 2], metrics="map"),
    lambda: compare(evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map"), 3, metric=LONG),
    lambda: read_trec_run(io.BytesIO(f"{LONG} Q0 a 1\n".encode())),
], ids=range(8))  # fmt: skip
def test_a_name_of_a_megabyte_makes_no_message_of_one(call):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert len(str(raised.value)) < 2000


class InOneFold(RegressorMixin, BaseEstimator):
    """A model that predicts something else where the first row is in the test set."""

    def __init__(self, become):
        self.become = become

    def fit(self, X, y):
        self.ridge_ = Ridge().fit(X, y)
        self.is_fault_ = 0.0 not in np.asarray(X)[:, 0]
        return self

    def predict(self, X):
        scores = self.ridge_.predict(X)
        return self.become(scores) if self.is_fault_ else scores


def fall(scores):
    raise RuntimeError("no prediction")


@pytest.mark.parametrize("become", [
    lambda s: s * np.nan, lambda s: s + np.inf, lambda s: np.column_stack([s, s]), lambda s: None, lambda s: s[:0],
    fall,
], ids=["NaN", "inf", "two columns", "None", "nothing", "raises"])  # fmt: skip
def test_a_model_that_fails_in_one_fold_is_left_out(shuffled, become):
    X, y, qid = shuffled
    X = np.column_stack([(qid != qid[0]).astype(float), X])
    with pytest.warns(FitFailedWarning, match="bad failed and is left out"):
        report = RankingEvaluator("map", cv=3).compare({"good": Ridge(), "bad": InOneFold(become)}, X, y, qid=qid)
    assert [*report.results] == ["good"]
    assert len(report.failures["bad"]) == 1


def test_a_constant_in_one_fold_is_a_tie(shuffled):
    X, y, qid = shuffled
    X = np.column_stack([(qid != qid[0]).astype(float), X])
    report = RankingEvaluator("map", cv=3).compare({"good": Ridge(), "flat": InOneFold(lambda s: 0 * s)}, X, y, qid=qid)
    assert 0 < report.results["flat"].mean()["map"] < report.results["good"].mean()["map"]


@pytest.mark.parametrize("form", ["parquet", "csv"])
def test_a_table_may_end_anywhere(form, tmp_path):
    """An error, or for lines of a CSV that are whole, fewer rows; never other numbers."""
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"label": [1.0, 0.0, 2.0], "score": [0.25, 0.5, 0.75], "qid": ["a", "a", "b"]})
    path = tmp_path / f"table.{form}"
    frame.to_parquet(path) if form == "parquet" else frame.to_csv(path, index=False)
    whole = path.read_bytes()
    for stop in range(0, len(whole) - 1, 1 if form == "csv" else 97):
        path.write_bytes(whole[:stop])
        try:
            found = read_table(path)
        except (ValueError, OSError):
            continue
        assert form == "csv"
        kept = len(found.y_true) - (whole[stop - 1 : stop] != b"\n")
        assert found.y_score[:kept].tolist() == frame.score[:kept].tolist()
