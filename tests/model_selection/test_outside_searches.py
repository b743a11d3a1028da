"""Searches of other libraries: called by hand they match a loop; the evaluator rejects them."""

import re
import warnings

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, MetaEstimatorMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.linear_model import LinearRegression, Ridge
from sklearn.model_selection import GridSearchCV, ParameterGrid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import (
    InteractionRecommender,
    LeaveLastOut,
    QueryKFold,
    QueryRanker,
    RankingEvaluator,
    get_scorer,
    make_recommender_scorer,
)
from sklearn_rank.metrics import ndcg_score

pd = pytest.importorskip("pandas")

ALPHAS = [0.1, 100.0, 1e4]
NAME = "estimator__alpha"
EVALUATOR = RankingEvaluator(["ndcg@5", "map"], cv=3)
BY_HAND = {"scoring": get_scorer("ndcg@5"), "cv": QueryKFold(3)}


class LoopSearch(MetaEstimatorMixin, BaseEstimator):
    """A search that does not route metadata."""

    def __init__(self, estimator, space, *, scoring=None, cv=None, refit=True, subsample=1.0):
        self.estimator, self.space, self.scoring, self.cv, self.refit = estimator, space, scoring, cv, refit
        self.subsample = subsample

    def fit(self, X, y):
        self.cv_results_ = {"params": [*ParameterGrid(self.space)], "mean_test_score": []}
        for params in self.cv_results_["params"]:
            values = []
            for train, test in self.cv.split(X, y):
                model = clone(self.estimator).set_params(**params).fit(X[train], y.iloc[train])
                values.append(float(self.scoring(model, X[test], y.iloc[test])))
            self.cv_results_["mean_test_score"].append(np.mean(values))
        best = int(np.argmax(self.cv_results_["mean_test_score"]))
        self.best_params_, self.best_score_ = ([*values][best] for values in self.cv_results_.values())
        self.best_estimator_ = clone(self.estimator).set_params(**self.best_params_).fit(X, y)
        return self

    def predict(self, X):
        return self.best_estimator_.predict(X)

    def decision_function(self, X):
        return self.best_estimator_.decision_function(X)  # which it may lack


def loop_search(model, name, **options):
    return LoopSearch(model, {name: ALPHAS}, **options)


def optuna_search(model, name, **options):
    distributions = pytest.importorskip("optuna.distributions")
    search = pytest.importorskip("optuna_integration", reason="no optuna-integration").OptunaSearchCV
    pytest.importorskip("optuna").logging.set_verbosity(40)
    space = {name: distributions.CategoricalDistribution(ALPHAS)}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it is experimental
        return search(model, space, n_trials=3, random_state=0, **options)


of_each_search = pytest.mark.parametrize("search_of", [loop_search, optuna_search], ids=lambda make: make.__name__)
quietly = pytest.mark.filterwarnings(
    "ignore::DeprecationWarning", "ignore::FutureWarning", "ignore:OptunaSearchCV is experimental"
)


def mean_in_a_loop(shuffled, alpha):
    """Mean of nDCG@5 over folds."""
    X, y, qid = shuffled
    values = []
    for train, test in QueryKFold(3).split(X, groups=qid):
        model = QueryRanker(Ridge(alpha=alpha)).fit(X[train], y[train], qid=qid[train])
        values.append(ndcg_score(y[test], model.predict(X[test]), qid=qid[test], k=5))
    return np.mean(values)


@quietly
@of_each_search
def test_fit_by_hand_with_qid_in_the_index(with_index, shuffled, search_of):
    found = search_of(QueryRanker(Ridge()), NAME, **BY_HAND).fit(*with_index)
    expected = {alpha: mean_in_a_loop(shuffled, alpha) for alpha in ALPHAS}
    assert len({round(value, 9) for value in expected.values()}) == 3
    params = found.cv_results_.get("params") or [trial.params for trial in found.trials_]
    tried = {one[NAME] for one in params}
    assert tried <= {*ALPHAS}
    for one, value in zip(params, found.cv_results_["mean_test_score"], strict=True):
        assert value == pytest.approx(expected[one[NAME]], rel=1e-12)
    assert expected[found.best_params_[NAME]] == max(expected[alpha] for alpha in tried)


# --- rejected by the evaluator -----------------------------------------------------------------------------------


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


@quietly
@of_each_search
def test_the_evaluator_rejects_outside_searches_with_the_call_by_hand(shuffled, search_of):
    X, y, qid = shuffled
    models = search_of(NeverFitted(), "alpha"), search_of(QueryRanker(NeverFitted()), NAME, **BY_HAND)
    for search in models:
        name = type(search).__name__
        call = f"{name}(QueryRanker(model), ..., scoring=get_scorer('ndcg@10'), cv=QueryKFold()).fit(X, y), where y is"
        message = f"accepts only scikit-learn searches.*Fit {name} by hand: {re.escape(call)}"
        for run in (
            lambda search=search: EVALUATOR.search(search, X, y, qid=qid),
            lambda search=search: EVALUATOR.compare({"a": NeverFitted(), "b": search}, X, y, qid=qid),
            lambda search=search: EVALUATOR.cross_validate(make_pipeline(StandardScaler(), search), X, y, qid=qid),
        ):
            with pytest.raises(ValueError, match=message):
                run()


def test_outside_searches_are_rejected_inside_other_models(shuffled):
    X, y, qid = shuffled
    search = loop_search(QueryRanker(NeverFitted()), NAME, **BY_HAND)
    with pytest.raises(ValueError, match="Fit LoopSearch by hand"):
        EVALUATOR.search(GridSearchCV(search, {"refit": [True]}), X, y, qid=qid)
    with pytest.raises(ValueError, match="A search inside TransformedTargetRegressor"):
        EVALUATOR.cross_validate(TransformedTargetRegressor(search), X, y, qid=qid)


def test_outside_searches_are_rejected_among_recommenders():
    X = pd.DataFrame({"user_id": [0, 0, 1, 1], "item_id": [0, 1, 1, 0], "time": [1, 2, 3, 4]})
    evaluator = RankingEvaluator(make_recommender_scorer("ndcg@10", items=[0, 1]), cv=LeaveLastOut())
    search = loop_search(InteractionRecommender(NeverFitted()), NAME)
    message = r"LoopSearch\(InteractionRecommender\(model\), \.\.\., scoring=make_recommender_scorer\('ndcg@10'\)"
    for run in (lambda: evaluator.search(search, X, None), lambda: evaluator.compare({"a": search}, X, None)):
        with pytest.raises(ValueError, match=message):
            run()


class InSteps(MetaEstimatorMixin, BaseEstimator):
    """A search with its own test set, like HyperbandSearchCV of dask-ml."""

    def __init__(self, estimator, parameters, test_size=None, scoring=None):
        self.estimator, self.parameters, self.test_size, self.scoring = estimator, parameters, test_size, scoring

    def fit(self, X, y):
        raise AssertionError("fitted")

    def predict(self, X):
        raise AssertionError("fitted")


@pytest.mark.parametrize(
    ("search", "error"),
    [
        (loop_search(NeverFitted(), "alpha", subsample=0.5), "subsample of LoopSearch draws rows.*max_queries"),
        (
            InSteps(NeverFitted(), {"alpha": ALPHAS}),
            "InSteps has no cv and draws its test rows at random.*use a search with",
        ),
    ],
    ids=["subsample", "no cv"],
)
def test_searches_that_draw_rows_are_rejected_anywhere(shuffled, search, error):
    X, y, qid = shuffled
    for call in (
        lambda: EVALUATOR.search(search, X, y, qid=qid),
        lambda: EVALUATOR.compare({"a": NeverFitted(), "b": search}, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(make_pipeline(StandardScaler(), search), X, y, qid=qid),
        lambda: QueryRanker(search).fit(X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match=error):
            call()


def test_a_model_with_a_similar_parameter_is_not_a_search(shuffled):
    xgboost = pytest.importorskip("xgboost")
    X, y, qid = shuffled
    model = xgboost.XGBRanker(n_estimators=2, subsample=0.5, n_jobs=1)
    assert EVALUATOR.compare({"a": model}, X, y, qid=qid).failures == {}


# --- predictions of a search ---------------------------------------------------------------------------------


@pytest.mark.skipif(sklearn.__version__ < "1.9", reason="its scorers take predict_proba of classifiers alone")
def test_a_search_predicts_with_methods_of_its_best_model(shuffled):
    """It may have methods of all models, and may not be a classifier although its model is."""
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
