"""RankingEvaluator sets up models and searches, and leaves the caller's objects unchanged."""

import gc
import os
import sys
import threading
import weakref

import joblib
import numpy as np
import pandas as pd
import pytest
import sklearn
from scipy import stats
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    HalvingGridSearchCV,
    KFold,
    RandomizedSearchCV,
    cross_validate,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    RankingEvaluator,
    evaluate,
    get_scorer,
    make_ranking_scorer,
    parse_metric,
    query_learning_curve,
    query_permutation_importance,
)
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank.metrics import map_score, ndcg_score
from sklearn_rank.retrieval import make_retrieval_scorer

METRICS = ["ndcg@5", "map", "rmse"]


@pytest.fixture(params=[True, False], ids=["routing on", "routing off"])
def configuration(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        before = sklearn.get_config()
        yield
        assert sklearn.get_config() == before


def test_real_rankers(configuration, shuffled):
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    catboost = pytest.importorskip("catboost")
    X, y, qid = shuffled
    models = {
        "xgb": xgboost.XGBRanker(n_estimators=5),
        "lgbm": lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, verbose=-1),
        "catboost": catboost.CatBoostRanker(iterations=5, verbose=0, allow_writing_files=False),
        "ridge": Ridge(),
        "pipeline": make_pipeline(StandardScaler(), xgboost.XGBRanker(n_estimators=5)),
        "classifier": RandomForestClassifier(5, random_state=0),
        "search": GridSearchCV(
            QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1]}, scoring=get_scorer("ndcg@5"), cv=QueryKFold(2)
        ),
    }
    report = RankingEvaluator(METRICS, cv=3).compare(models, X, y, qid=qid)
    assert list(report.results) == list(models)
    table = report.summary().to_frame()
    assert len(table) == len(models) * len(METRICS)
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    constant = evaluate(y, np.zeros(len(y)), qid=qid, metrics="ndcg@5").mean()["ndcg@5"]
    assert (table[table["metric"] == "ndcg@5"]["mean"] > constant).all()
    np.testing.assert_allclose(  # standardizing changes no tree, so the pipeline equals the model
        report.results["pipeline"].mean()["ndcg@5"], report.results["xgb"].mean()["ndcg@5"], atol=0.05
    )


def test_pooled_over_queries(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(METRICS, cv=3)
    report = evaluator.compare({"ridge": Ridge()}, X, y, qid=qid)
    out_of_fold = np.empty(len(y))
    for train, test in QueryKFold(3).split(X, groups=qid):
        out_of_fold[test] = Ridge().fit(X[train], y[train]).predict(X[test])
    np.testing.assert_allclose(report.y_score["ridge"], out_of_fold)
    by_hand = ndcg_score(y, report.y_score["ridge"], qid=qid, k=5, average=None)
    np.testing.assert_array_equal(report.results["ridge"].per_query["ndcg@5"], by_hand)
    expected = stats.ttest_1samp(by_hand, 0).confidence_interval(0.95)
    np.testing.assert_allclose(report.results["ridge"].confidence_interval()["ndcg@5"], expected, rtol=1e-12)


@pytest.mark.slow
def test_cross_validate_in_processes(configuration, shuffled):
    X, y, qid = shuffled
    for n_jobs in (None, 2):
        scores = RankingEvaluator(METRICS, cv=3, n_jobs=n_jobs).cross_validate(Ridge(), X, y, qid=qid)
        for i, (train, test) in enumerate(QueryKFold(3).split(X, groups=qid)):
            s = Ridge().fit(X[train], y[train]).predict(X[test])
            result = evaluate(y[test], s, qid=qid[test], metrics=METRICS).mean()
            assert scores["test_ndcg@5"][i] == pytest.approx(result["ndcg@5"])
            assert scores["test_neg_rmse"][i] == pytest.approx(-result["rmse"])
        for name in ("fit_time", "score_time"):
            assert ((scores[name] > 0) & (scores[name] < 60)).all()


def test_cross_validate_matches_scikit_learn(configuration, shuffled):
    X, y, qid = shuffled
    options = {"return_train_score": True, "return_estimator": True, "return_indices": True}
    found = RankingEvaluator(METRICS, cv=3).cross_validate(Ridge(), X, y, qid=qid, **options)
    with sklearn.config_context(enable_metadata_routing=True):
        expected = cross_validate(
            QueryRanker(Ridge()),
            X,
            y,
            scoring=make_ranking_scorer(METRICS),
            cv=QueryKFold(3),
            params={"qid": qid},
            **options,
        )
    assert set(found) == set(expected)
    for name, value in expected.items():
        if name.startswith(("test_", "train_")):
            np.testing.assert_allclose(found[name], value, rtol=1e-12)
    for part in ("train", "test"):
        for a, b in zip(found["indices"][part], expected["indices"][part], strict=True):
            np.testing.assert_array_equal(a, b)
    np.testing.assert_allclose(
        [e.estimator_.coef_ for e in found["estimator"]], [e.estimator_.coef_ for e in expected["estimator"]]
    )


@pytest.mark.parametrize("kind", ["pandas", "polars"])
def test_columns_of_a_frame(shuffled, kind):
    X, y, qid = shuffled
    users, years = np.array([f"u{q[-1]}" for q in qid]), np.char.add("20", np.char.zfill(np.char.lstrip(qid, "q"), 2))
    named = {"label": y, "query": qid, "user": users, "year": years}
    frame = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]).assign(**named)
    features, own = frame.drop(columns=[*named]), {"by": {"year": years}}
    if kind == "polars":
        frame, features = (pytest.importorskip("polars").from_pandas(x) for x in (frame, features))
    evaluator, models = RankingEvaluator(METRICS, cv=3), {"ridge": Ridge(), "constant": DummyRegressor()}
    expected = evaluator.compare(models, X, y, qid=qid, clusters=users, **own)
    for by in ("year", ["year"]):
        found = evaluator.compare(models, frame, "label", qid="query", clusters="user", by=by)
        assert str(found) == str(expected)
        assert [*found.results["ridge"].attributes] == ["year"]
    frame = frame.rename(columns={"query": "qid"}) if kind == "pandas" else frame.rename({"query": "qid"})
    frame = frame[[*features.columns, "label", "qid"]]
    scores = evaluator.cross_validate(Ridge(), frame, "label")
    assert scores.mean_over_queries() == evaluator.cross_validate(Ridge(), X, y, qid=qid).mean_over_queries()
    search = evaluator.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 9]}), frame, "label")
    assert search.n_features_in_ == X.shape[1]
    np.testing.assert_equal(evaluator.split(frame, "label"), evaluator.split(X, y, qid=qid))
    if kind == "pandas":
        assert evaluator.cross_validate(Ridge(), frame.set_index("qid"), "label").mean_over_queries()
    for error, words, given in [
        (ValueError, "Got y='lable' and the columns 'x0', .* Did you mean y='label'?", {"y": "lable"}),
        (ValueError, "Got y='label' and qid='label'", {"qid": "label"}),
        (TypeError, "pass a frame of pandas or polars as X. Got ndarray and y='label'", {"X": X}),
        (TypeError, "The models come first, ", {"estimators": frame}),
    ]:
        arguments = {"estimators": models, "X": frame, "y": "label"} | given
        if "estimators" in given:
            del arguments["y"]
        with pytest.raises(error, match=words):
            evaluator.compare(**arguments)


def test_mean_over_folds_and_mean_over_queries(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(METRICS, cv=3)
    found = evaluator.cross_validate(Ridge(), X, y, qid=qid)
    report = evaluator.compare({"ridge": Ridge()}, X, y, qid=qid)
    assert found.mean_over_queries() == report.results["ridge"].mean()
    assert found.mean_over_folds()["ndcg@5"] == found["test_ndcg@5"].mean()
    assert found.mean_over_folds()["rmse"] == -found["test_neg_rmse"].mean() > 0
    assert found.mean_over_folds() == {name: means.mean() for name, means in report.fold_means["ridge"].items()}
    sizes = np.array([n_test for _, n_test in report.n_queries])
    np.testing.assert_allclose(
        found.mean_over_queries()["ndcg@5"], np.average(found["test_ndcg@5"], weights=sizes), rtol=1e-12
    )
    split = RankingEvaluator("map", cv=QueryShuffleSplit(2, random_state=0)).cross_validate(Ridge(), X, y, qid=qid)
    with pytest.raises(ValueError, match="only if every row is tested at most once"):
        split.mean_over_queries()


def test_evaluator_qid_in_the_index(configuration, with_index, shuffled):
    X, y = with_index
    a = RankingEvaluator("ndcg@5", cv=3).compare({"ridge": Ridge()}, X, y)
    b = RankingEvaluator("ndcg@5", cv=3).compare({"ridge": Ridge()}, X, shuffled[1], qid=shuffled[2])
    assert a.results["ridge"].mean() == b.results["ridge"].mean()
    with pytest.raises(ValueError, match="give y as a pandas Series"):
        RankingEvaluator("map").compare({"ridge": Ridge()}, X, shuffled[1])


def test_torn_queries_are_rejected(shuffled):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match=r"keep queries whole.*KFold.*splits \d+ of \d+ queries in fold 0"):
        RankingEvaluator("map", cv=KFold(3, shuffle=True)).cross_validate(Ridge(), X, y, qid=qid)


def test_pooling_needs_every_row_once(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=QueryShuffleSplit(2, random_state=0))
    assert len(evaluator.cross_validate(Ridge(), X, y, qid=qid)["test_map"]) == 2
    with pytest.raises(ValueError, match="tested at most once, or all rows equally often by different folds"):
        evaluator.compare({"ridge": Ridge()}, X, y, qid=qid)


@pytest.mark.parametrize("estimators", [[Ridge()], {}, Ridge()])
def test_models_have_names(estimators, shuffled):
    X, y, qid = shuffled
    with pytest.raises(TypeError, match="a mapping from names to estimators, at least one. Got"):
        RankingEvaluator("map").compare(estimators, X, y, qid=qid)


@pytest.mark.parametrize("cv", [1, 0, True, 2.5, "five"])
def test_cv_is_a_count_or_a_splitter(cv):
    with pytest.raises(ValueError, match="must be an int >= 2 or a splitter"):
        RankingEvaluator("map", cv=cv)


def test_metrics_keep_their_given_names(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(["P@5", ndcg_score], cv=2)
    assert [k for k in evaluator.cross_validate(Ridge(), X, y, qid=qid) if "test" in k] == ["test_P@5", "test_ndcg"]
    assert list(evaluator.compare({"ridge": Ridge()}, X, y, qid=qid).results["ridge"].mean()) == ["P@5", "ndcg"]


def test_repr(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(["ndcg@5", "map"], cv=3)
    assert repr(evaluator).startswith("RankingEvaluator(['ndcg@5', 'map'], cv=QueryKFold(n_splits=3")
    assert evaluator.scorers.names == ["ndcg@5", "map"]
    text = repr(evaluator.compare({"ridge": Ridge()}, X, y, qid=qid))
    assert text.startswith(
        "Comparison of 1 model on 40 queries, against ridge by test='t', correction='holm'\nnDCG@5\nmodel"
    )


@pytest.mark.parametrize("kind", ["array", "strings", "index"])
def test_rows_are_grouped_once_for_all_models(shuffled, monkeypatch, kind):
    """Once by the splitter, once in each fit (as scikit-learn's interface requires), and once for each test fold."""
    X, y, qid = shuffled
    qid = {"array": qid, "strings": [f"q{i}" for i in qid], "index": None}[kind]
    y = pd.Series(y, index=pd.Index([f"q{i}" for i in shuffled[2]], name="qid")) if kind == "index" else y
    n_calls = 0

    def counted(*args, **keywords):
        nonlocal n_calls
        n_calls += 1
        return group_rows(*args, **keywords)

    for module in [*sys.modules.values()]:
        if getattr(module, "group_rows", None) is group_rows and module.__name__.startswith("sklearn_rank"):
            monkeypatch.setattr(module, "group_rows", counted)
    models = {"constant": DummyRegressor(), "ridge": Ridge(), "smooth": Ridge(100)}
    RankingEvaluator(METRICS, cv=3).compare(models, X, y, qid=qid)
    assert n_calls == 1 + 3 * len(models) + 3


# --- searches ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_search_is_set_up_completely(configuration, shuffled, n_jobs):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(["ndcg@5", "map"], cv=3, n_jobs=n_jobs)
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1e6]})
    found = evaluator.search(search, X, y, qid=qid)
    expected = GridSearchCV(
        QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1e6]}, scoring=make_ranking_scorer(["ndcg@5", "map"]),
        cv=QueryKFold(3), refit="ndcg@5",
    )  # fmt: skip
    with sklearn.config_context(enable_metadata_routing=True):
        expected.fit(X, y, qid=qid)
    np.testing.assert_allclose(found.cv_results_["mean_test_map"], expected.cv_results_["mean_test_map"])
    assert found.best_params_ == expected.best_params_
    assert len(found.predict(X)) == len(X)
    assert not hasattr(search, "best_params_")
    assert (search.scoring, search.cv, search.refit) == (None, None, True)


@pytest.mark.parametrize(("own", "of_search", "expected"), [(2, None, 2), (2, 1, 1), (None, None, None), (None, 2, 2)])
@pytest.mark.slow
def test_a_search_inherits_n_jobs_of_the_evaluator(shuffled, own, of_search, expected):
    X, y, qid = shuffled
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, n_jobs=of_search)
    found = RankingEvaluator("map", cv=2, n_jobs=own).search(search, X, y, qid=qid)
    assert found.n_jobs == expected


class Process(Ridge):
    """Remembers the process of its fit."""

    def fit(self, X, y):
        self.process_ = os.getpid()
        return super().fit(X, y)


@pytest.mark.slow
def test_jobs_of_a_search_are_processes(shuffled):
    """With n_jobs=2 no candidate is fitted in this process, with None all are."""
    X, y, qid = shuffled
    found = {}
    for n_jobs in (None, 2):
        search = GridSearchCV(
            QueryRanker(Process()), {"estimator__alpha": [1, 2]}, refit=False,
            scoring=lambda estimator, X, y: float(estimator.estimator_.process_),
        )  # fmt: skip
        done = RankingEvaluator("map", cv=2, n_jobs=n_jobs).search(search, X, y, qid=qid)
        pids = [done.cv_results_[f"split{i}_test_score"] for i in range(2)]
        found[n_jobs] = set(np.concatenate(pids).astype(int).tolist())
    assert found[None] == {os.getpid()}
    assert os.getpid() not in found[2]


def test_refit_keeps_the_chosen_metric(shuffled):
    """True becomes the first metric; a name, a function or False is kept."""
    X, y, qid = shuffled
    evaluator = RankingEvaluator(["map", "mrr"], cv=2)
    for given, expected in ((True, "map"), ("mrr", "mrr"), (False, False)):
        found = evaluator.search(
            GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}, refit=given), X, y, qid=qid
        )
        assert found.refit == expected
        assert hasattr(found, "best_estimator_") == (given is not False)


class EachRowTwice(QueryKFold):
    """Tests each row twice."""

    def split(self, X, y=None, groups=None):
        return [fold for fold in super().split(X, y, groups) for _ in range(2)]

    def get_n_splits(self, X=None, y=None, groups=None):
        return 2 * super().get_n_splits(X, y, groups)


def test_rows_tested_twice_are_not_pooled(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=EachRowTwice(2))
    assert evaluator.cross_validate(Ridge(), X, y, qid=qid).pooled is None
    with pytest.raises(ValueError, match="tested at most once, or all rows equally often by different folds"):
        evaluator.compare({"ridge": Ridge()}, X, y, qid=qid)


def test_search_of_a_ranker_at_the_end_of_a_pipeline(shuffled):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = shuffled
    ranker = lightgbm.LGBMRanker(n_estimators=3, min_child_samples=2, verbose=-1)
    pipeline = Pipeline([("scale", StandardScaler()), ("rank", QueryRanker(ranker))])
    space = {"rank__estimator__num_leaves": [3, 5], "scale__with_mean": [True, False]}
    search = RandomizedSearchCV(pipeline, space, n_iter=2, random_state=0)
    found = RankingEvaluator("map", cv=2).search(search, X, y, qid=qid)
    assert set(found.best_params_) == {"rank__estimator__num_leaves", "scale__with_mean"}


def test_a_search_keeps_its_own_settings(shuffled):
    X, y, qid = shuffled
    search = GridSearchCV(
        QueryRanker(Ridge()), [{"estimator__alpha": [1.0]}], scoring=get_scorer("mrr"), cv=QueryKFold(2), refit=False
    )
    found = RankingEvaluator("map", cv=3).search(search, X, y, qid=qid)
    assert found.n_splits_ == 2
    assert str(found.scoring) == str(get_scorer("mrr"))
    assert "mean_test_score" in found.cv_results_
    assert not hasattr(found, "best_estimator_")


def test_nested_searches(configuration, shuffled):
    """A search among the models is set up inside each fold, and never sees the test queries."""
    X, y, qid = shuffled
    grid = {"estimator__alpha": [0.1, 1e6]}
    plain = {"plain": GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1e6]}, cv=2)}
    by_hand = {
        "by hand": GridSearchCV(
            QueryRanker(Ridge()), grid, scoring=make_ranking_scorer(METRICS), cv=QueryKFold(2), refit="ndcg@5"
        )
    }
    evaluator = RankingEvaluator(METRICS, cv=3)
    a, b = (evaluator.compare(models, X, y, qid=qid) for models in (plain, by_hand))
    np.testing.assert_allclose(a.y_score["plain"], b.y_score["by hand"])


def test_halving_over_rows_is_rejected(shuffled):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match="halving search over the resource 'n_samples' splits queries"):
        RankingEvaluator("map").search(
            HalvingGridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}), X, y, qid=qid
        )


def test_a_search_is_recognized(shuffled):
    X, y, qid = shuffled
    with pytest.raises(TypeError, match="search needs a scikit-learn search"):
        RankingEvaluator("map").search(Ridge(), X, y, qid=qid)


def test_a_splitter_of_scikit_learn_works_in_searches(shuffled):
    X, y, qid = shuffled
    found = RankingEvaluator("map", cv=GroupKFold(3)).search(
        GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, qid=qid
    )
    assert found.n_splits_ == 3


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_progress(shuffled, capsys, n_jobs):
    pytest.importorskip("tqdm")
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=3, progress=True, n_jobs=n_jobs)
    evaluator.compare({"a": Ridge(), "b": Ridge(2)}, X, y, qid=qid)
    assert "6/6" in capsys.readouterr().err
    evaluator.cross_validate(Ridge(), X, y, qid=qid)
    assert "3/3" in capsys.readouterr().err
    RankingEvaluator("map", cv=3).compare({"a": Ridge()}, X, y, qid=qid)
    assert capsys.readouterr().err == ""


class AtTheSameTime(Ridge):
    """Waits in fit and predict until another model arrives."""

    together = threading.Barrier(2, timeout=120)

    def fit(self, X, y):
        self.together.wait()
        return super().fit(X, y)


def test_two_fits_at_a_time(shuffled):
    X, y, qid = shuffled
    evaluator, model = RankingEvaluator("map", cv=4, n_jobs=2), AtTheSameTime()
    with joblib.parallel_config(backend="threading"):
        evaluator.cross_validate(model, X, y, qid=qid)
        evaluator.compare({"a": model}, X, y, qid=qid)
        query_learning_curve(model, X, y, qid=qid, train_sizes=[5], cv=4, n_jobs=2)
    assert model.together.n_waiting == 0


class Counted(Ridge):
    """Counts the fitted models in memory, and the predicted rows."""

    alive, n_predicted = weakref.WeakSet(), []

    def fit(self, X, y):
        self.alive.add(self)
        return super().fit(X, y)

    def predict(self, X):
        self.n_predicted.append(len(X))
        return super().predict(X)

    def __hash__(self):
        return id(self)


def test_a_comparison_keeps_no_models_and_predicts_only_test_rows(shuffled):
    X, y, qid = shuffled
    n_alive = []
    RankingEvaluator("map", cv=5).compare(
        {"a": Counted()}, X, y, qid=qid, on_fold=lambda fold: (gc.collect(), n_alive.append(len(Counted.alive)))
    )
    assert max(n_alive) <= 2
    assert sum(Counted.n_predicted) == len(y)


class CountsTasks:
    """A scikit-learn callback that counts ended tasks."""

    def __init__(self):
        self.n_ended = 0

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context, **data):
        pass

    def on_fit_task_end(self, estimator, context, **data):
        self.n_ended += 1


@pytest.mark.skipif(not hasattr(GridSearchCV, "set_callbacks"), reason="callbacks came with scikit-learn 1.9")
def test_a_search_keeps_its_callbacks(shuffled):
    X, y, qid = shuffled
    tasks = CountsTasks()
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}).set_callbacks(tasks)
    RankingEvaluator("map", cv=3).search(search, X, y, qid=qid)
    assert tasks.n_ended >= 6


def test_a_progress_bar_without_tqdm_names_the_extra(shuffled, monkeypatch):
    X, y, qid = shuffled
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[progress\]"'):
        RankingEvaluator("map", progress=True).compare({"a": Ridge()}, X, y, qid=qid)


# --- failures ------------------------------------------------------------------------------------------------


class FailsWhere(RegressorMixin, BaseEstimator):
    """Fails if a given row is not in the training set; or predicts NaN."""

    def __init__(self, row, nan=False):
        self.row, self.nan = row, nan

    def fit(self, X, y):
        self.fitted_ = (X == self.row).all(axis=1).any()
        if not self.fitted_ and not self.nan:
            raise RuntimeError("the row is missing")
        return self

    def predict(self, X):
        return X[:, 0] * (1.0 if self.fitted_ else np.nan)


@pytest.mark.parametrize("nan", [False, True])
def test_a_model_that_fails_in_one_fold_is_reported(configuration, shuffled, nan):
    X, y, qid = shuffled
    models = {"ridge": Ridge(), "fails": FailsWhere(X[0], nan), "constant": DummyRegressor()}
    message = r"fails failed and is left out of the comparison. fold \d: " + ("ValueError" if nan else "RuntimeError")
    with pytest.warns(FitFailedWarning, match=message) as told:
        report = RankingEvaluator(["map", "mrr"], cv=3).compare(models, X, y, qid=qid)
    assert list(report.results) == ["ridge", "constant"]
    assert told[0].filename == __file__
    (fold,) = report.failures["fails"]
    assert np.flatnonzero(np.isnan(report.fold_means["fails"]["map"])).tolist() == [fold]
    alone = RankingEvaluator(["map", "mrr"], cv=3).compare({"ridge": Ridge()}, X, y, qid=qid)
    assert report.results["ridge"].mean() == alone.results["ridge"].mean()
    frame = report.summary().to_frame()
    assert frame[frame["model"] == "fails"]["mean"].isna().all()
    assert frame[frame["model"] != "fails"]["mean"].notna().all()
    assert "fails failed in 1 of 3 folds; in fold" in repr(report)
    assert all(0 <= seconds < 60 for times in report.fit_time.values() for seconds in times)
    with pytest.raises(ValueError if nan else RuntimeError, match="NaN" if nan else "row is missing"):
        RankingEvaluator("map", cv=3).cross_validate(models["fails"], X, y, qid=qid)


def test_a_failed_baseline_leaves_no_tests(shuffled):
    X, y, qid = shuffled
    with pytest.warns(FitFailedWarning, match="fails failed"):
        report = RankingEvaluator("map", cv=3).compare({"fails": FailsWhere(X[0]), "ridge": Ridge()}, X, y, qid=qid)
    assert report.summary().to_frame()["p"].isna().all()


def test_the_baseline_is_one_of_the_models(shuffled):
    X, y, qid = shuffled
    for given, message in (("lgbm", "Got 'lgbm'.$"), ("rigde", "Got 'rigde'. Did you mean 'ridge'\\?$")):
        with pytest.raises(ValueError, match=rf"The baseline must be one of the models, \['ridge'\]. {message}"):
            RankingEvaluator("map", baseline=given).compare({"ridge": Ridge()}, X, y, qid=qid)


class NeverFitted(Ridge):
    def fit(self, X, y, sample_weight=None):
        raise AssertionError("fitted")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"test": "z"}, "'test' parameter of RankingEvaluator must be 't', "),
        ({"correction": "sidak"}, "'correction' parameter of RankingEvaluator must be None, 'holm'"),
    ],
)
def test_tests_are_checked_before_models_are_fitted(shuffled, options, message):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match=message):
        RankingEvaluator("map", **options).compare({"a": NeverFitted(), "b": NeverFitted()}, X, y, qid=qid)


@pytest.mark.parametrize("metric", ["map", map_score, parse_metric("map")], ids=["name", "function", "parsed"])
def test_a_single_metric_in_any_form(shuffled, metric):
    X, y, qid = shuffled
    model = Ridge().fit(X, y)
    assert make_ranking_scorer(metric).__name__ == "map"
    assert list(RankingEvaluator(metric, cv=2).compare({"ridge": Ridge()}, X, y, qid=qid).results["ridge"].mean()) == [
        "map"
    ]
    assert query_permutation_importance(model, X, y, qid=qid, metric=metric, n_repeats=1).importances.shape[1] == 1
    assert make_retrieval_scorer(metric)(StandardScaler().fit(X), X, y) > 0
