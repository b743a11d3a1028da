"""Searches that are not of scikit-learn: the scores of a loop by hand, whole queries, and errors instead of guesses."""

import sys
import warnings
from collections import OrderedDict

import numpy as np
import pytest
import sklearn
from search_cases import (
    ALPHAS,
    SEARCHES,
    FiveFolds,
    LoopSearch,
    loop_search,
    of_each_search,
    optuna_search,
    quietly,
)
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    QueryTimeSeriesSplit,
    RankingEvaluator,
    get_scorer,
)
from sklearn_rank.metrics import ndcg_score

pd = pytest.importorskip("pandas")

EVALUATOR = RankingEvaluator(["ndcg@5", "map"], cv=3)


def by_hand(shuffled, alpha):
    """Mean of nDCG@5 over folds, in a loop."""
    X, y, qid = shuffled
    values = []
    for train, test in QueryKFold(3).split(X, groups=qid):
        model = QueryRanker(Ridge(alpha=alpha)).fit(X[train], y[train], qid=qid[train])
        values.append(ndcg_score(y[test], model.predict(X[test]), qid=qid[test], k=5))
    return np.mean(values)


def assert_scores_of_a_loop(found, shuffled):
    name = found.best_params_ and "estimator__alpha"
    expected = {alpha: by_hand(shuffled, alpha) for alpha in ALPHAS}
    assert len({round(value, 9) for value in expected.values()}) == 3
    params = found.cv_results_.get("params") or [trial.params for trial in found.trials_]
    tried = {one[name] for one in params}
    assert tried <= {*ALPHAS}
    for one, value in zip(params, found.cv_results_["mean_test_score"], strict=True):
        assert value == pytest.approx(expected[one[name]], rel=1e-12)
    assert expected[found.best_params_[name]] == max(expected[alpha] for alpha in tried)


# --- scores of a loop ----------------------------------------------------------------------------------------


@quietly
@of_each_search
@pytest.mark.parametrize("routing", [False, True])
def test_search_has_the_scores_of_a_loop(shuffled, search_of, routing):
    X, y, qid = shuffled
    with sklearn.config_context(enable_metadata_routing=routing):
        found = EVALUATOR.search(search_of(Ridge(), "alpha"), X, y, qid=qid)
    assert_scores_of_a_loop(found, shuffled)
    best = QueryRanker(Ridge(found.best_params_["estimator__alpha"])).fit(X, y, qid=qid)
    np.testing.assert_allclose(found.predict(X), best.predict(X), rtol=1e-12)


@quietly
@of_each_search
def test_fit_by_hand_with_qid_in_the_index(with_index, shuffled, search_of):
    model, scoring = QueryRanker(Ridge()), get_scorer("ndcg@5")
    search = search_of(model, "estimator__alpha", scoring=scoring, cv=QueryKFold(3))
    assert_scores_of_a_loop(search.fit(*with_index), shuffled)


@quietly
@pytest.mark.parametrize(
    "search_of", SEARCHES[:-1], ids=lambda make: make.__name__
)  # scikit-learn cannot clone the last
def test_in_a_comparison(shuffled, search_of):
    """Alone, at the end of a Pipeline, and inside another search; scikit-learn cannot clone the last of them."""
    X, y, qid = shuffled
    search = search_of(Ridge(), "alpha")
    unchanged = StandardScaler(with_mean=False, with_std=False)
    models = {
        "alone": search,
        "last": make_pipeline(unchanged, search),
        "inner": GridSearchCV(search, {"refit": [True]}),
    }
    report = EVALUATOR.compare(models | {str(alpha): Ridge(alpha) for alpha in ALPHAS}, X, y, qid=qid)
    assert report.failures == {}
    for name in models:
        for _, test in EVALUATOR.split(X, y, qid=qid):
            chosen = report.y_score[name][test]
            assert any(np.allclose(chosen, report.y_score[str(alpha)][test], rtol=1e-9) for alpha in ALPHAS)


def test_several_at_a_time(shuffled):
    X, y, qid = shuffled
    models = {"loop": loop_search(Ridge(), "alpha"), "grid": GridSearchCV(Ridge(), {"alpha": ALPHAS})}
    report = RankingEvaluator(["ndcg@5", "map"], cv=3, n_jobs=2).compare(models, X, y, qid=qid)
    np.testing.assert_array_equal(report.y_score["loop"], report.y_score["grid"])


def test_the_first_metric_decides(shuffled):
    X, y, qid = shuffled
    for metric in ("ndcg@5", "rmse"):
        found = RankingEvaluator([metric, "map"], cv=3).search(loop_search(Ridge(), "alpha"), X, y, qid=qid)
        expected = RankingEvaluator(metric, cv=3).search(GridSearchCV(Ridge(), {"alpha": ALPHAS}), X, y, qid=qid)
        np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected.cv_results_[f"mean_test_{metric}"])
        assert found.best_params_ == expected.best_params_


def test_refit_names_the_metric_that_decides(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator(["map", "ndcg@5"], cv=3)
    found = evaluator.search(loop_search(Ridge(), "alpha", refit="ndcg@5"), X, y, qid=qid)
    assert_scores_of_a_loop(found, shuffled)
    assert found.refit is True
    with pytest.raises(ValueError, match=r"a metric of \['map', 'ndcg@5'\]\. Got refit='mrr'"):
        evaluator.search(loop_search(Ridge(), "alpha", refit="mrr"), X, y, qid=qid)


@quietly
def test_a_number_of_folds_that_nobody_chose_gives_way(shuffled):
    X, y, qid = shuffled
    for cv, n_splits in ((5, 3), (2, 2), (None, 3)):
        found = EVALUATOR.search(FiveFolds(Ridge(), {"alpha": ALPHAS}, cv=cv), X, y, qid=qid)
        assert found.cv.get_n_splits() == n_splits
        inside = EVALUATOR.cross_validate(
            FiveFolds(Ridge(), {"alpha": ALPHAS}, cv=cv), X, y, qid=qid, return_estimator=True
        )
        assert {search.cv.get_n_splits() for search in inside["estimator"]} == {n_splits}
    found = EVALUATOR.search(optuna_search(Ridge(), "alpha"), X, y, qid=qid)
    assert found.cv.get_n_splits() == 3


def test_other_metadata_of_splitters_is_in_the_index_too(shuffled):
    X, y, qid = shuffled
    asked = np.unique(qid, return_inverse=True)[1]
    evaluator = RankingEvaluator("map", cv=QueryTimeSeriesSplit(2))
    models = {"loop": loop_search(Ridge(), "alpha"), "grid": GridSearchCV(Ridge(), {"alpha": ALPHAS})}
    report = evaluator.compare(models, X, y, qid=qid, time=asked, clusters=qid)
    np.testing.assert_array_equal(report.y_score["loop"], report.y_score["grid"])
    by_clusters = [
        RankingEvaluator("map", cv=2).cross_validate(model, X, y, qid=qid, clusters=asked // 4, return_estimator=True)[
            "estimator"
        ]
        for model in models.values()
    ]
    for loop, grid in zip(*by_clusters, strict=True):
        expected = grid.cv_results_["mean_test_map"]
        np.testing.assert_allclose(loop.cv_results_["mean_test_score"], expected, rtol=1e-12)


@pytest.mark.parametrize(
    "as_ids",
    [lambda q: [(i, "a") for i in q.tolist()], lambda q: [f"{i:03}" for i in q.tolist()], pd.Categorical, pd.Series],
    ids=["tuples", "text", "categories", "series"],
)
def test_ids_of_any_type(ranking, as_ids):
    X, y, qid = ranking
    found, expected = (EVALUATOR.search(loop_search(Ridge(), "alpha"), X, y, qid=q) for q in (as_ids(qid), qid))
    assert found.cv_results_ == expected.cv_results_


@quietly
def test_frames_keep_their_labels(ranking):
    X, y, qid = ranking
    rows = np.arange(len(y))[::-1]
    frame, labels = pd.DataFrame(X, index=rows).add_prefix("f"), pd.Series(y, index=rows)
    found = EVALUATOR.search(optuna_search(Ridge(), "alpha"), frame, labels, qid=pd.Series(qid, index=rows))
    assert found.best_score_ == EVALUATOR.search(optuna_search(Ridge(), "alpha"), X, y, qid=qid).best_score_


# --- names of parameters, and the search that was given ------------------------------------------------------


@pytest.mark.parametrize(
    "space",
    [
        {"ridge__alpha": [1.0, 2.0]},
        OrderedDict(ridge__alpha=[1.0, 2.0]),
        [{"ridge__alpha": [1.0]}, {"ridge__alpha": [2.0]}],
    ],
)
def test_names_of_parameters_mean_what_they_meant(shuffled, space):
    X, y, qid = shuffled
    search = LoopSearch(make_pipeline(StandardScaler(), Ridge()), space)
    found = EVALUATOR.search(search, X, y, qid=qid)
    assert found.cv_results_["params"] == [{"ridge__estimator__alpha": value} for value in (1.0, 2.0)]


class Unclonable(LoopSearch):
    def __init__(self, estimator, space, *, scoring=None, cv=None, refit=True, callbacks=None):
        super().__init__(estimator, space, scoring=scoring, cv=cv, refit=refit)
        self.callbacks = callbacks or [print]
        warnings.warn("made", UserWarning, stacklevel=2)


def test_the_search_is_left_as_it_was_and_its_objects_are_its_own(shuffled):
    X, y, qid = shuffled
    seen = []
    model = QueryRanker(Ridge(3.0))
    with pytest.warns(UserWarning, match="made"):
        search = Unclonable(model, {"estimator__alpha": ALPHAS}, callbacks=[seen.append])
    found = EVALUATOR.search(search, X, y, qid=qid)
    assert seen == found.cv_results_["params"]
    assert model.estimator.alpha == 3.0
    assert search.scoring is None
    assert search.cv is None
    assert not hasattr(search, "best_estimator_")


@quietly
def test_a_study_is_the_one_that_was_given(shuffled):
    optuna = pytest.importorskip("optuna")
    X, y, qid = shuffled
    study = optuna.create_study(direction="maximize")
    EVALUATOR.search(optuna_search(Ridge(), "alpha", study=study), X, y, qid=qid)
    assert len(study.trials) == 3


# --- what would be lost or torn ------------------------------------------------------------------------------


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


class Subsampling(LoopSearch):
    def __init__(self, estimator, space, *, scoring=None, cv=None, refit=True, subsample=1.0):
        super().__init__(estimator, space, scoring=scoring, cv=cv, refit=refit)
        self.subsample = subsample


class InSteps(MetaEstimatorMixin, BaseEstimator):
    """Search with a test set of its own, as HyperbandSearchCV of dask-ml has."""

    def __init__(self, estimator, parameters, test_size=None, scoring=None):
        self.estimator, self.parameters, self.test_size, self.scoring = estimator, parameters, test_size, scoring

    def fit(self, X, y):
        raise AssertionError("fitted")

    def predict(self, X):
        raise AssertionError("fitted")


@pytest.mark.parametrize(
    ("search", "error"),
    [
        (
            Subsampling(NeverFitted(), {"alpha": ALPHAS}, subsample=0.5),
            "subsample of Subsampling draws rows.*max_queries",
        ),
        (InSteps(NeverFitted(), {"alpha": ALPHAS}), "InSteps has no cv and draws rows to test on.*use a search with"),
    ],
    ids=["subsample", "no cv"],
)
def test_searches_that_draw_rows_are_refused_anywhere(shuffled, search, error):
    X, y, qid = shuffled
    for call in (
        lambda: EVALUATOR.search(search, X, y, qid=qid),
        lambda: EVALUATOR.compare({"a": NeverFitted(), "b": search}, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(make_pipeline(StandardScaler(), search), X, y, qid=qid),
        lambda: QueryRanker(search).fit(X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match=error):
            call()


def test_a_model_with_a_parameter_of_that_name_is_no_search(shuffled):
    xgboost = pytest.importorskip("xgboost")
    X, y, qid = shuffled
    model = xgboost.XGBRanker(n_estimators=2, subsample=0.5, n_jobs=1)
    assert EVALUATOR.compare({"a": model}, X, y, qid=qid).failures == {}


def test_weights_that_would_be_lost_are_refused(shuffled):
    X, y, qid = shuffled
    weight, search = np.ones(len(y)), LoopSearch(NeverFitted(), {"alpha": ALPHAS})
    for call in (
        lambda: EVALUATOR.search(search, X, y, qid=qid, sample_weight=weight),
        lambda: EVALUATOR.compare({"a": NeverFitted(), "b": search}, X, y, qid=qid, sample_weight=weight),
        lambda: EVALUATOR.cross_validate(make_pipeline(StandardScaler(), search), X, y, qid=qid, sample_weight=weight),
    ):
        with pytest.raises(ValueError, match="LoopSearch hands on no metadata.*without sample_weight"):
            call()


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="scikit-learn itself calls the pandas that is hidden")
def test_without_pandas_the_extra_is_named(shuffled, monkeypatch):
    X, y, qid = shuffled
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r'LoopSearch finds qid.*pip install "sklearn-rank\[pandas\]"'):
        EVALUATOR.search(LoopSearch(NeverFitted(), {"alpha": ALPHAS}), X, y, qid=qid)


class Converting(LoopSearch):
    """Search that makes an array of y, and takes an error for a bad candidate."""

    def fit(self, X, y):
        X, y = np.asarray(X), np.asarray(y)
        for params in ParameterGrid(self.space):
            self.best_params_ = params
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        return self


def test_queries_that_are_lost_on_the_way_are_missed(shuffled):
    X, y, qid = shuffled
    search = Converting(Ridge(), {"alpha": ALPHAS})
    lost = (
        "Converting has lost the queries: it makes labels without an index.*loop over RankingEvaluator.cross_validate"
    )
    with pytest.raises(ValueError, match=lost):
        EVALUATOR.search(search, X, y, qid=qid)
    for model in (search, make_pipeline(StandardScaler(), search)):
        with pytest.raises(ValueError, match=lost):
            EVALUATOR.cross_validate(model, X, y, qid=qid)


class NeverScored(LoopSearch):
    """Search that takes an error for a bad candidate, and goes on to the parameters that it began with."""

    def fit(self, X, y):
        self.cv_results_ = {"mean_test_score": [np.nan] * 3}
        self.best_estimator_ = clone(self.estimator).fit(X, y)
        return self


def test_a_search_without_any_score_is_missed_in_a_comparison(shuffled):
    X, y, qid = shuffled
    search = NeverScored(Ridge(), {"alpha": ALPHAS})
    inside = [make_pipeline(*[StandardScaler()] * n, search) for n in (1, 2)]
    for model in (search, *inside, GridSearchCV(search, {}, error_score="raise")):
        with pytest.raises(ValueError, match="No candidate of the search could be scored"):
            EVALUATOR.cross_validate(model, X, y, qid=qid)


@quietly
def test_a_search_that_fits_no_best_model(shuffled):
    X, y, qid = shuffled
    search = optuna_search(Ridge(), "alpha", refit=False)
    assert not hasattr(EVALUATOR.search(search, X, y, qid=qid), "best_estimator_")


class Fails(Ridge):
    def fit(self, X, y):
        raise ValueError("no fit")


@quietly
def test_a_search_without_any_score_is_refused(shuffled):
    """OptunaSearchCV takes a ValueError for a bad trial, and goes on to the parameters it began with."""
    X, y, qid = shuffled
    with pytest.raises(ValueError, match=r"no fit|could be scored"):
        EVALUATOR.search(optuna_search(Fails(), "alpha"), X, y, qid=qid)


def test_progress_of_a_search_without_callbacks_is_warned_of(shuffled):
    X, y, qid = shuffled
    with pytest.warns(UserWarning, match="which LoopSearch does not call here: use its own verbose") as told:
        RankingEvaluator("map", cv=2, progress=True).search(loop_search(Ridge(), "alpha"), X, y, qid=qid)
    assert told[0].filename == __file__


# --- predictions of a search ---------------------------------------------------------------------------------


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="its scorers take predict_proba of classifiers alone")
def test_a_search_predicts_by_the_methods_of_its_best_model(shuffled):
    """It may show those of any model, and be no classifier where its model is one."""
    X, y, qid = shuffled
    model = DecisionTreeClassifier(max_depth=2).fit(X, y)
    for fitted in (
        loop_of(LinearRegression().fit(X, y)),
        loop_of(model),
        make_pipeline(StandardScaler(), loop_of(model)),
    ):
        inner = fitted[-1].best_estimator_ if hasattr(fitted, "steps") else fitted.best_estimator_
        X_inner = fitted[:-1].fit_transform(X) if hasattr(fitted, "steps") else X
        labels = pd.Series(y, index=pd.Index(qid, name="qid"))
        assert get_scorer("ndcg@5")(fitted, X, labels) == get_scorer("ndcg@5")(inner, X_inner, labels)


def loop_of(model):
    search = LoopSearch(model, {})
    search.best_estimator_, search.classes_ = model, getattr(model, "classes_", None)
    if hasattr(model, "predict_proba"):
        search.predict_proba = model.predict_proba
    return search
