"""`QueryRanker` in scikit-learn's meta-estimators: values by hand; lost queries are detected."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import AdaBoostRegressor, BaggingRegressor, StackingRegressor, VotingRegressor
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.frozen import FrozenEstimator
from sklearn.inspection import permutation_importance
from sklearn.linear_model import (
    LinearRegression,
    LogisticRegression,
    LogisticRegressionCV,
    Ridge,
    RidgeClassifier,
    RidgeCV,
)
from sklearn.model_selection import GridSearchCV, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, get_scorer, make_ranking_scorer
from sklearn_rank.datasets import make_ranking
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.metrics import ndcg_score

SCORER, CV = get_scorer("ndcg@10"), QueryKFold(3)
LOST, TORN = "the query of each row must be known", "an incomplete list"


@pytest.fixture(scope="module")
def data():
    """Interleaved rows: X, y, qid."""
    return make_ranking(n_queries=24, n_features=4, n_documents=(3, 9), shuffle=True, random_state=0)


@pytest.fixture
def with_index(data):
    """X, and y with qid in its index."""
    pd = pytest.importorskip("pandas")
    X, y, qid = data
    return X, pd.Series(y, index=pd.Index(qid, name="qid"))


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


@pytest.fixture
def lgbm():
    lightgbm = pytest.importorskip("lightgbm")
    return QueryRanker(lightgbm.LGBMRanker(n_estimators=5, min_child_samples=2, n_jobs=1, verbose=-1))


def ndcg_of(model, features, rows, data, train):
    """nDCG@10 on `rows` of a ranker fitted on `train`, using only the selected features."""
    X, y, qid = data
    fitted = sklearn.clone(model).fit(X[np.ix_(train, features)], y[train], qid=qid[train])
    return fitted, ndcg_score(y[rows], fitted.predict(X[np.ix_(rows, features)]), qid=qid[rows], k=10)


# --- choosing features ---------------------------------------------------------------------------------------


def test_select_from_model(lgbm, data, with_index, routing):
    X, y, qid = data
    importances = lgbm.fit(X, y, qid=qid).feature_importances_
    expected = importances >= importances.mean()
    assert 0 < expected.sum() < 4
    for selector in (
        SelectFromModel(lgbm).fit(X, y, qid=qid),
        SelectFromModel(lgbm).fit(*with_index),
        SelectFromModel(lgbm, prefit=True).fit(X, y),
    ):
        assert selector.get_support().tolist() == expected.tolist()
    pipeline = make_pipeline(SelectFromModel(lgbm), lgbm).fit(*with_index)  # qid= is passed on in scikit-learn 1.9
    by_hand = sklearn.clone(lgbm).fit(X[:, expected], y, qid=qid).predict(X[:, expected])
    np.testing.assert_array_equal(pipeline.predict(X), by_hand)
    assert pipeline.score(X, y, qid=qid) == ndcg_score(y, by_hand, qid=qid, k=10)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["lgbm", "ridge"])
def test_recursive_elimination(kind, lgbm, data, routing):
    X, y, qid = data
    model = lgbm if kind == "lgbm" else QueryRanker(Ridge())
    found = RFECV(model, cv=CV, scoring=SCORER).fit(X, y, qid=qid)
    by_number = {}
    for train, test in CV.split(X, y, qid):
        features = np.arange(4)
        while len(features):
            fitted, value = ndcg_of(model, features, test, data, train)
            by_number.setdefault(len(features), []).append(value)
            weight = fitted.feature_importances_ if kind == "lgbm" else fitted.coef_**2
            features = np.delete(features, np.argsort(weight)[0])
    expected = [np.mean(by_number[n]) for n in found.cv_results_["n_features"]]
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], expected, rtol=1e-12)
    assert found.n_features_ == 1 + np.argmax(expected)
    assert found.score(X, y, qid=qid) == found.estimator_.score(X[:, found.support_], y, qid=qid)


@pytest.mark.slow
def test_selection_on_torn_queries_is_detected(lgbm, data, with_index, routing):
    X, y, qid = data
    with pytest.raises(ValueError, match=TORN):
        RFECV(lgbm, scoring=SCORER).fit(X, y, qid=qid)
    for selector in (SequentialFeatureSelector(lgbm), SequentialFeatureSelector(lgbm, scoring=SCORER)):
        with pytest.warns(UserWarning, match="(?s)Scoring failed.*an incomplete"):
            selector.set_params(n_features_to_select=1).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=False), pytest.raises(ValueError, match="routing is off"):
        RFECV(lgbm, cv=CV, scoring=SCORER).fit(*with_index)  # this converts y to an array


# --- several rankers -----------------------------------------------------------------------------------------


def test_voting_is_the_mean(lgbm, data, routing):
    X, y, qid = data
    rankers = [lgbm, QueryRanker(Ridge())]
    voting = VotingRegressor([("trees", rankers[0]), ("line", rankers[1])], weights=[1, 3])
    expected = np.average([m.fit(X, y, qid=qid).predict(X) for m in rankers], axis=0, weights=[1, 3])
    np.testing.assert_allclose(voting.fit(X, y, qid=qid).predict(X), expected, rtol=1e-12)
    assert SCORER(voting, X, y, qid=qid) == ndcg_score(y, voting.predict(X), qid=qid, k=10)
    with pytest.raises(ValueError, match=TORN):
        SCORER(voting, X[::2], y[::2], qid=qid[::2])


def test_stacking_trains_on_whole_folds(lgbm, data, routing):
    X, y, qid = data
    rankers = {"trees": lgbm, "line": QueryRanker(Ridge())}
    final = QueryRanker(LinearRegression(positive=True))
    stacking = StackingRegressor([*rankers.items()], final_estimator=final, cv=CV).fit(X, y, qid=qid)
    out_of_fold = np.empty((len(y), 2))
    for train, test in CV.split(X, y, qid):
        for column, model in enumerate(rankers.values()):
            fitted = sklearn.clone(model).fit(X[train], y[train], qid=qid[train])
            out_of_fold[test, column] = fitted.predict(X[test])
    by_hand = sklearn.clone(final).fit(out_of_fold, y, qid=qid)
    fitted = np.column_stack([model.fit(X, y, qid=qid).predict(X) for model in rankers.values()])
    np.testing.assert_allclose(stacking.predict(X), by_hand.predict(fitted), rtol=1e-9)
    with pytest.raises(TypeError, match="RidgeCV.fit got unexpected argument"):
        StackingRegressor([*rankers.items()], cv=CV).fit(X, y, qid=qid)


@pytest.mark.parametrize("around", ["voting", "stacking", "bagging", "boosting", "target"])
@pytest.mark.parametrize("routing_is_on", [False, True])
def test_rankers_without_queries_are_an_error(around, routing_is_on, lgbm, with_index):
    """They convert y to an array, which drops the level "qid", and qid= is not passed."""
    meta = {
        "voting": VotingRegressor([("a", lgbm)]),
        "stacking": StackingRegressor([("a", lgbm)], cv=CV),
        "bagging": BaggingRegressor(lgbm, n_estimators=2),
        "boosting": AdaBoostRegressor(lgbm, n_estimators=2),
        "target": TransformedTargetRegressor(lgbm),
    }
    with sklearn.config_context(enable_metadata_routing=routing_is_on), pytest.raises(ValueError, match=LOST):
        meta[around].fit(*with_index)


# --- around a ranker, and inside -----------------------------------------------------------------------------


def test_calibration_belongs_inside(data):
    X, y, qid = data
    grade = (y > 1).astype(int)
    with pytest.raises(ValueError, match="CalibratedClassifierCV must be an object implementing"):
        CalibratedClassifierCV(QueryRanker(LogisticRegression())).fit(X, grade)
    inside = CalibratedClassifierCV(RidgeClassifier(), cv=2)
    ranker = QueryRanker(inside).fit(X, grade, qid=qid)
    assert ranker.classes_.tolist() == [0, 1]
    np.testing.assert_array_equal(ranker.predict(X), ranker.estimator_.predict_proba(X)[:, 1])


def test_transformed_labels(data, routing):
    X, y, qid = data
    around = TransformedTargetRegressor(QueryRanker(Ridge()), func=np.log1p, inverse_func=np.expm1)
    by_hand = QueryRanker(Ridge()).fit(X, np.log1p(y), qid=qid).predict(X)
    np.testing.assert_allclose(around.fit(X, y, qid=qid).predict(X), np.expm1(by_hand), rtol=1e-9)
    assert SCORER(around, X, y, qid=qid) == ndcg_score(y, by_hand, qid=qid, k=10)
    with pytest.raises(ValueError, match=TORN):
        SCORER(around, X[::2], y[::2], qid=qid[::2])


def test_frozen(lgbm, data):
    X, y, qid = data
    frozen = FrozenEstimator(lgbm.fit(X, y, qid=qid))
    assert frozen.fit(X[:5], y[:5]).score(X, y, qid=qid) == lgbm.score(X, y, qid=qid)
    assert SelectFromModel(frozen).fit(X, y).get_support().any()
    inside = QueryRanker(FrozenEstimator(lgbm.estimator_)).fit(X[:5], y[:5])
    np.testing.assert_array_equal(inside.predict(X), lgbm.predict(X))


def test_stacking_inside_shows_predict_only_after_fit(data):
    X, y, qid = (part[np.argsort(data[2], kind="stable")] for part in data)
    stacked = StackingRegressor([("line", Ridge()), ("steep", Ridge(alpha=9))])
    ranker = QueryRanker(stacked).fit(X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(X), sklearn.clone(stacked).fit(X, y).predict(X))
    found = RankingEvaluator("ndcg@10", cv=CV).cross_validate(stacked, X, y, qid=qid)
    assert np.isfinite(found["test_ndcg@10"]).all()


def test_permutation_importance_reads_qid_from_the_index(lgbm, with_index):
    X, y = with_index
    found = permutation_importance(lgbm.fit(X, y), X, y, n_repeats=1, random_state=0)
    for j in range(4):
        rows = np.random.RandomState(np.random.RandomState(0).randint(np.iinfo(np.int32).max + 1)).permutation(len(y))
        changed = X.copy()
        changed[:, j] = X[rows, j]
        assert found.importances[j, 0] == pytest.approx(lgbm.score(X, y) - lgbm.score(changed, y), abs=1e-12)
    with pytest.raises(ValueError, match=LOST):
        permutation_importance(lgbm, X, y.to_numpy())
    with pytest.raises(ValueError, match=TORN):
        permutation_importance(lgbm, X, y, max_samples=0.5)


def test_scores_of_folds_without_scoring(lgbm, data, routing):
    X, y, qid = data
    params = {"qid": qid}
    expected = cross_val_score(lgbm, X, y, cv=CV, scoring=SCORER, params=params)
    np.testing.assert_array_equal(cross_val_score(lgbm, X, y, cv=CV, params=params), expected)
    by_map = sklearn.clone(lgbm).set_params(eval_metric="map@3")
    expected = cross_val_score(lgbm, X, y, cv=CV, scoring=get_scorer("map@3"), params=params)
    np.testing.assert_array_equal(cross_val_score(by_map, X, y, cv=CV, params=params), expected)
    around = make_pipeline(StandardScaler(), lgbm)
    assert np.isfinite(cross_val_score(around, X, y, cv=CV, scoring=SCORER, params=params)).all()


# --- splitters of queries inside models ----------------------------------------------------------------------

# From 1.8 on scikit-learn warns without these that its defaults change.
KNOWS = hasattr(LogisticRegressionCV(), "use_legacy_attributes")
OF_LATER_VERSIONS = {"use_legacy_attributes": False, "l1_ratios": (0,)} if KNOWS else {}
SPLITTING = [
    StackingRegressor([("a", Ridge()), ("b", LinearRegression())], cv=CV),
    RidgeCV(alphas=(0.1, 100.0), cv=CV),
    LogisticRegressionCV(Cs=[0.1, 1.0], cv=CV, scoring="neg_log_loss", **OF_LATER_VERSIONS),
    CalibratedClassifierCV(LogisticRegression(), cv=CV),
    make_pipeline(StandardScaler(), RidgeCV(alphas=(0.1, 100.0), cv=CV)),
]


@pytest.mark.filterwarnings("ignore:.*chooses its parameters by its own row-wise objective")
@pytest.mark.parametrize("model", SPLITTING, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("routed", [False, True])
def test_inner_splitters_get_the_queries(model, routed, data):
    """As if the model had been given splits of the sorted rows."""
    X, y, qid = data
    y = (y > 0).astype(int)
    rows = np.concatenate([np.flatnonzero(qid == one) for one in dict.fromkeys(qid.tolist())])
    splits = list(CV.split(X[rows], y[rows], groups=qid[rows]))
    by_hand = sklearn.clone(model)
    last = by_hand.steps[-1][1] if hasattr(by_hand, "steps") else by_hand
    last.set_params(cv=splits)
    expected = QueryRanker(by_hand.fit(X[rows], y[rows])).estimator
    method = "predict_proba" if hasattr(expected, "predict_proba") else "predict"
    expected = getattr(expected, method)(X)
    with sklearn.config_context(enable_metadata_routing=routed):
        ranker = QueryRanker(model).fit(X, y, qid=qid)
        RankingEvaluator("ndcg@10", cv=2).cross_validate(model, X, y, qid=qid)
    np.testing.assert_allclose(ranker.predict(X), expected[:, 1] if expected.ndim == 2 else expected)
    fitted = ranker.estimator_
    assert isinstance((fitted.steps[-1][1] if hasattr(fitted, "steps") else fitted).cv, QueryKFold)


def test_a_splitter_that_is_too_deep_is_reported(data, routing):
    X, y, qid = data
    deep = StackingRegressor([("a", RidgeCV(alphas=(0.1, 1.0), cv=CV))], cv=3)
    with pytest.raises(ValueError, match="QueryRanker passes queries to the splitter of its model") as caught:
        QueryRanker(deep).fit(X, y, qid=qid)
    assert "routing is off" not in str(caught.value)


# --- steps that normalize by query ---------------------------------------------------------------------------


class ByQuery(TransformerMixin, BaseEstimator):
    """Features minus their mean by query; the query is a column or an index level of X."""

    def fit(self, X, y=None):
        self.is_fitted_ = True
        return self

    def transform(self, X):
        features = X.drop(columns="qid", errors="ignore")
        return features - X.groupby("qid")[[*features.columns]].transform("mean")


class Routed(ByQuery):
    """The same with routing."""

    __metadata_request__transform = {"qid": True}
    __metadata_request__fit_transform = {"qid": True}

    def fit_transform(self, X, y=None, qid=None):
        return self.fit(X).transform(X, qid)

    def transform(self, X, qid):
        number = np.unique(np.asarray(qid), return_inverse=True)[1]
        sums = np.zeros((number.max() + 1, X.shape[1]))
        np.add.at(sums, number, X)
        return X - (sums / np.bincount(number)[:, None])[number]


@pytest.mark.slow
def test_steps_that_normalize_by_query(data, with_index):
    """With a column, the index or routing: the same numbers in a ranker, a search and the evaluator."""
    pd = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pd.DataFrame(X, columns=[*"abcd"])
    scores = get_scorer("ndcg@10")
    expected = [
        ndcg_score(y[test], by_mean(X, y, qid, train, test), qid=qid[test], k=10)
        for train, test in CV.split(X, y, groups=qid)
    ]
    for rows in (frame.assign(qid=qid), frame.set_index(pd.Index(qid, name="qid"))):
        ranker = QueryRanker(make_pipeline(ByQuery(), Ridge()))
        search = GridSearchCV(ranker, {"estimator__ridge__alpha": [1]}, scoring=scores, cv=CV).fit(rows, with_index[1])
        assert search.best_score_ == pytest.approx(np.mean(expected))
        report = RankingEvaluator("ndcg@10", cv=CV).cross_validate(make_pipeline(ByQuery(), Ridge()), rows, y, qid=qid)
        np.testing.assert_allclose(report["test_ndcg@10"], expected)
    for last in (Ridge(), QueryRanker(Ridge())):
        report = RankingEvaluator("ndcg@10", cv=CV).cross_validate(make_pipeline(Routed(), last), X, y, qid=qid)
        np.testing.assert_allclose(report["test_ndcg@10"], expected)
    with sklearn.config_context(enable_metadata_routing=True):
        model = make_pipeline(Routed(), QueryRanker(Ridge()))
        for scoring in (scores, {"one": scores, "two": get_scorer("map")}, make_ranking_scorer(["ndcg@10", "map"])):
            found = cross_validate(model, X, y, scoring=scoring, cv=CV, params={"qid": qid})
            (values,) = (v for name, v in found.items() if name in ("test_score", "test_one", "test_ndcg@10"))
            np.testing.assert_allclose(values, expected)


def by_mean(X, y, qid, train, test):
    """Predictions of ridge regression on features minus their mean by query."""
    step = Routed().fit(X)
    return Ridge().fit(step.transform(X[train], qid[train]), y[train]).predict(step.transform(X[test], qid[test]))


@pytest.mark.parametrize("routed", [False, True])
def test_an_inner_step_cannot_request_queries(routed, data):
    X, y, qid = data
    with sklearn.config_context(enable_metadata_routing=routed):
        with pytest.raises(ValueError, match="A step inside QueryRanker requests the queries"):
            QueryRanker(make_pipeline(Routed(), Ridge())).fit(X, y, qid=qid)


def test_a_query_column_among_the_features_is_reported(lgbm, data):
    pd = pytest.importorskip("pandas")
    X, y, qid = data
    frame = pd.DataFrame(X, columns=[*"abcd"])
    lgbm.fit(frame, y, qid=qid)
    with pytest.warns(RankingWarning, match="X has a column 'qid', and LightGBM uses it as a feature"):
        lgbm.fit(frame.assign(qid=np.arange(len(y))), y, qid=qid)
