"""External faults: clocks that jump, locales with commas, long names, models that fail in one fold."""

import errno
import gzip
import io
import itertools
import locale
import signal
import sys
import tempfile
import time
import tracemalloc
import zipfile

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge

from sklearn_rank import RankingEvaluator, evaluate, evaluate_table, parse_metric
from sklearn_rank.io import read_run, read_table
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
    run = read_run(io.BytesIO(b"q1 Q0 a 1 2.5 me\nq1 Q0 b 2 -1.25e-1 me\n"))
    assert run.value.tolist() == [2.5, -0.125]
    assert parse_metric("rbp(p=0.9)@10")["p"] == 0.9
    assert read_table(io.BytesIO(b"label,score,qid\n1,2.5,q1\n0,1.5,q1\n")).y_score.tolist() == [2.5, 1.5]
    assert "0.6309" in str(evaluate([0, 1], [2, 1], qid=[1, 1], metrics="ndcg"))


def test_a_clock_that_goes_backwards(shuffled, monkeypatch):
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
    lambda: read_run(io.BytesIO(f"{LONG} Q0 a 1\n".encode())),
], ids=range(8))  # fmt: skip
def test_long_names_are_shortened_in_messages(call):
    with pytest.raises((TypeError, ValueError)) as raised:
        call()
    assert len(str(raised.value)) < 2000


class InOneFold(RegressorMixin, BaseEstimator):
    """A model that predicts something else if the first row is in the test set."""

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


@pytest.mark.parametrize("before", [b"", b"q Q0 d 1 1 me\nq Q0 e"], ids=["at once", "within a line"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_large_files_of_zeros_are_rejected_before_allocation(before, n_jobs):
    packed = io.BytesIO(gzip.compress(before + bytes(2**26), 1))
    tracemalloc.start()
    with pytest.raises(ValueError, match=f"without NUL bytes. Got one in line {1 + bool(before)} of") as raised:
        read_run(packed, n_jobs=n_jobs)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2**24
    assert len(str(raised.value)) < 1000


def full(*_, **__):
    raise OSError(errno.EDQUOT, "Disk quota exceeded")


def test_an_exceeded_quota(tmp_path, monkeypatch):
    """Errors name the folder or the file; the old file is kept, and no temporary file is left."""
    result = evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map")
    result.save(tmp_path / "kept.npz")
    before = (tmp_path / "kept.npz").read_bytes()
    monkeypatch.setattr(zipfile.ZipFile, "open", full)
    with pytest.raises(OSError, match=r"quota.*kept\.npz"):
        result.save(tmp_path / "kept.npz")
    monkeypatch.undo()
    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("kept.npz", before)]
    monkeypatch.setattr(tempfile, "TemporaryFile", full)
    rows = np.ones(99), np.ones(99), np.arange(99)
    with pytest.raises(OSError, match=f"the folder '{tmp_path}' must take .*Got Disk quota exceeded after 0 bytes"):
        evaluate_table([rows] * 9, metrics="map", memory_limit=100, folder=tmp_path)


@pytest.mark.parametrize("suffix", [".csv", ".parquet", ".PKL"])
def test_results_are_not_saved_under_names_of_other_formats(suffix, tmp_path):
    result = evaluate([1, 0], [2, 1], qid=[1, 1], metrics="map")
    with pytest.raises(ValueError, match="so its name must not end like a file of another format"):
        result.save(tmp_path / f"one{suffix}")
    assert [*tmp_path.iterdir()] == []


SLOW = """
import sys, time
import numpy as np
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn_rank import QueryRanker, RankingEvaluator

def works(seconds):
    print("works", flush=True)
    time.sleep(seconds)

class Slow(Ridge):
    def fit(self, X, y):
        works(60)

y = np.arange(40) % 2
X, qid = np.arange(40)[:, None], np.arange(40) // 4

def compare():
    RankingEvaluator("map", cv=2).compare({"a": Slow()}, X, y, qid=qid)

def search():
    grid = GridSearchCV(QueryRanker(Slow()), {"estimator__alpha": [1, 2]})
    RankingEvaluator("map", cv=2, n_jobs=2).search(grid, X, y, qid=qid)

globals()[sys.argv[1]]()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(("call", "name"), [("compare", "SIGINT"), ("compare", "SIGTERM"), ("search", "SIGINT")])
@pytest.mark.slow
def test_an_interrupted_call_leaves_no_files_or_processes(forks, call, name, tmp_path):
    """A leftover process would keep the pipe open."""
    with forks.run(SLOW, call, TMPDIR=str(tmp_path), JOBLIB_TEMP_FOLDER=str(tmp_path)) as process:
        assert process.stdout.readline().startswith(b"works")
        process.send_signal(getattr(signal, name))
        printed = process.communicate(timeout=30)[1]
        status = process.wait(0)
    assert status in (-getattr(signal, name), 1, 130)
    assert (b"KeyboardInterrupt" in printed) == (name == "SIGINT")
    assert [*tmp_path.iterdir()] == []
