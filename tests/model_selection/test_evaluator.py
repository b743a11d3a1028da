"""RankingEvaluator sets up models and searches, and leaves the caller's objects unchanged."""

import gc
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
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, RandomizedSearchCV, cross_validate
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    RankingEvaluator,
    get_scorer,
    make_ranking_scorer,
    parse_metric,
    query_permutation_importance,
)
from sklearn_rank.metrics import map_score, ndcg_score
from sklearn_rank.retrieval import make_retrieval_scorer

METRICS = ["ndcg@5", "map", "rmse"]


@pytest.fixture(params=[True, False], ids=["routing on", "routing off"])
def configuration(request):
    with sklearn.config_context(enable_metadata_routing=request.param):
        before = sklearn.get_config()
        yield
        assert sklearn.get_config() == before


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
    for name in ("fit_time", "score_time"):
        assert ((found[name] > 0) & (found[name] < 60)).all()
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
    assert text.startswith("Comparison of 1 system on 40 queries; baseline ridge, paired t-test, Holm\nnDCG@5\nsystem")


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


def test_a_search_is_recognized(shuffled):
    X, y, qid = shuffled
    with pytest.raises(TypeError, match="search needs a scikit-learn search"):
        RankingEvaluator("map").search(Ridge(), X, y, qid=qid)


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
