"""Scores of each fold during a run: passed to a function and shown on progress bars, equal to the results."""

import pickle
import time

import numpy as np
import pytest
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, RandomizedSearchCV

from sklearn_rank import QueryRanker, RankingEvaluator
from sklearn_rank.results import FoldScores

METRICS = ["ndcg@5", "rmse"]
HAS_CALLBACKS = hasattr(GridSearchCV, "set_callbacks")


class Stopped(Exception):
    pass


class Records(Ridge):
    """Ridge that records each fit, in any process."""

    def __init__(self, path=None, seconds=0.0):
        super().__init__()
        self.path, self.seconds = path, seconds

    def fit(self, X, y):
        with open(self.path, "a") as file:
            file.write("fit\n")
        time.sleep(self.seconds)
        return super().fit(X, y)


class Fails(Ridge):
    def fit(self, X, y):
        raise ValueError("no fit")


def stop_after(n_folds):
    told = []

    def on_fold(scores):
        told.append(scores)
        if len(told) == n_folds:
            raise Stopped

    return told, on_fold


# --- on_fold ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_cross_validate_passes_its_results(shuffled, n_jobs):
    X, y, qid = shuffled
    told = []
    evaluator = RankingEvaluator(METRICS, cv=3, n_jobs=n_jobs)
    found = evaluator.cross_validate(Ridge(), X, y, qid=qid, on_fold=told.append)
    assert [(one.model, one.fold, one.n_folds, one.error) for one in told] == [("Ridge", i, 3, None) for i in range(3)]
    for one in told:
        assert one.scores == {"ndcg@5": found["test_ndcg@5"][one.fold], "rmse": -found["test_neg_rmse"][one.fold]}
        assert one.fit_time == found["fit_time"][one.fold]
        assert min(one.scores["rmse"], one.scores["ndcg@5"]) > 0


def test_compare_passes_scores_model_by_model(shuffled):
    X, y, qid = shuffled
    told, models = [], {"weak": Ridge(1e6), "strong": Ridge()}
    report = RankingEvaluator(METRICS, cv=3).compare(models, X, y, qid=qid, on_fold=told.append)
    assert [(one.model, one.fold) for one in told] == [(name, i) for name in models for i in range(3)]
    for one in told:
        assert one.scores == {name: report.fold_means[one.model][name][one.fold] for name in METRICS}
        assert one.fit_time == report.fit_time[one.model][one.fold]
        assert one.scores["rmse"] > 0


def test_on_fold_has_no_effect_on_results(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(METRICS, cv=3)
    plain, watched = (evaluator.cross_validate(Ridge(), X, y, qid=qid, on_fold=f) for f in (None, spoil))
    for name in ("test_ndcg@5", "test_neg_rmse"):
        np.testing.assert_array_equal(plain[name], watched[name])
    assert plain.mean_over_folds() == watched.mean_over_folds()


def spoil(of_fold):
    of_fold.scores.clear()


def test_watching_reports_failing_models(shuffled):
    X, y, qid = shuffled
    told, evaluator = [], RankingEvaluator(METRICS, cv=2)
    with pytest.warns(FitFailedWarning, match="bad failed"):
        report = evaluator.compare({"bad": Fails(), "good": Ridge()}, X, y, qid=qid, on_fold=told.append)
    assert [str(one.error) for one in told[:2]] == ["no fit"] * 2
    assert all(np.isnan(value) for one in told[:2] for value in one.scores.values())
    assert [one.error for one in told[2:]] == [None] * 2
    assert np.isnan(report.fold_means["bad"]["rmse"]).all()
    told.clear()
    with pytest.raises(ValueError, match="no fit"):
        evaluator.cross_validate(Fails(), X, y, qid=qid, on_fold=told.append)
    assert len(told) == 2


def test_fold_scores_are_values():
    one = FoldScores("a", 0, 2, {"map": 0.5}, 0.1)
    assert pickle.loads(pickle.dumps(one)) == one
    with pytest.raises(AttributeError):
        one.fold = 1


# --- stopping ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("n_jobs", "most_fits"), [(None, 2), (2, 19)])
@pytest.mark.slow
def test_an_exception_stops_the_remaining_fits(shuffled, tmp_path, n_jobs, most_fits):
    X, y, qid = shuffled
    path = tmp_path / "fits"
    told, on_fold = stop_after(2)
    evaluator = RankingEvaluator("map", cv=20, n_jobs=n_jobs)
    with pytest.raises(Stopped):
        evaluator.cross_validate(Records(str(path), 0.05), X, y, qid=qid, on_fold=on_fold)
    assert [one.fold for one in told] == [0, 1]
    n_fits = len(path.read_text().split())
    time.sleep(0.3)
    assert n_fits <= most_fits
    assert len(path.read_text().split()) == n_fits


def test_an_exception_stops_a_comparison(shuffled, tmp_path):
    X, y, qid = shuffled
    path = tmp_path / "fits"
    told, on_fold = stop_after(4)
    models = {"a": Ridge(), "b": Records(str(path)), "c": Records(str(path))}
    with pytest.raises(Stopped):
        RankingEvaluator("map", cv=3).compare(models, X, y, qid=qid, on_fold=on_fold)
    assert [(one.model, one.fold) for one in told] == [("a", 0), ("a", 1), ("a", 2), ("b", 0)]
    assert path.read_text().split() == ["fit"]


def test_on_fold_is_checked_before_any_fit(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=3)
    for call in (
        lambda: evaluator.cross_validate(Records("/"), X, y, qid=qid, on_fold="print"),
        lambda: evaluator.compare({"a": Records("/")}, X, y, qid=qid, on_fold=[]),
    ):
        with pytest.raises(TypeError, match="on_fold must be a function that takes a FoldScores"):
            call()


# --- progress ------------------------------------------------------------------------------------------------


def test_the_bar_shows_the_first_metric_of_each_fold(shuffled, capsys):
    pytest.importorskip("tqdm")
    X, y, qid = shuffled
    models = {"good": Ridge(), "bad": Fails()}
    with pytest.warns(FitFailedWarning, match="bad failed"):
        report = RankingEvaluator(METRICS, cv=2, progress=True).compare(models, X, y, qid=qid)
    shown = capsys.readouterr().err
    assert f"good, fold 1: ndcg@5 {report.fold_means['good']['ndcg@5'][1]:.4f}" in shown
    assert "bad, fold 1: failed" in shown
    assert "4/4" in shown
    assert "/2 " not in shown


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
@pytest.mark.parametrize(
    "search",
    [
        GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}),
        RandomizedSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}, n_iter=2),
        HalvingGridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}, resource="max_queries", random_state=0),
    ],
    ids=lambda search: type(search).__name__,
)
def test_scikit_learn_shows_the_bar_of_a_search(shuffled, search, capsys):
    pytest.importorskip("rich")
    X, y, qid = shuffled
    found = RankingEvaluator("map", cv=2, progress=True).search(search, X, y, qid=qid)
    shown = capsys.readouterr().out
    assert f"{type(search).__name__} - search" in shown
    assert shown.count(" - ") <= 3, "fits inside are not shown"
    assert not getattr(found, "_skl_callbacks", [])
    RankingEvaluator("map", cv=2).search(search, X, y, qid=qid)
    assert capsys.readouterr().out == ""


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
def test_callbacks_of_the_user_are_kept(shuffled):
    callback = pytest.importorskip("sklearn.callback").ScoringMonitor(scoring="r2")
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1.0, 2.0]}).set_callbacks(callback)
    X, y, qid = shuffled
    found = RankingEvaluator(METRICS, cv=2, progress=True).search(search, X, y, qid=qid)
    assert [type(one) for one in found._skl_callbacks] == [type(callback)]


@pytest.mark.skipif(not HAS_CALLBACKS, reason="callbacks came with scikit-learn 1.9")
def test_the_bar_of_a_search_names_the_extra(shuffled, monkeypatch):
    X, y, qid = shuffled
    monkeypatch.setitem(__import__("sys").modules, "rich", None)
    with pytest.raises(ImportError, match=r'needs rich: pip install "sklearn-rank\[progress\]"'):
        RankingEvaluator("map", progress=True).search(
            GridSearchCV(QueryRanker(Records("/")), {"estimator__alpha": [1]}), X, y, qid=qid
        )


@pytest.mark.skipif(HAS_CALLBACKS, reason="there are callbacks")
def test_a_search_without_a_bar_warns(shuffled):
    X, y, qid = shuffled
    with pytest.warns(UserWarning, match="callbacks of scikit-learn 1.9"):
        RankingEvaluator("map", cv=2, progress=True).search(
            GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, qid=qid
        )
