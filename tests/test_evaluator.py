"""RankingEvaluator: everything set up, nothing left changed."""

import numpy as np
import pytest
import sklearn
from scipy import stats
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, QueryShuffleSplit, RankingEvaluator, evaluate, get_scorer
from sklearn_rank.metrics import ndcg_score

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
    assert table.shape == (len(models) * len(METRICS), 6)
    assert ((table["low"] < table["mean"]) & (table["mean"] < table["high"])).all()
    constant = evaluate(y, np.zeros(len(y)), qid=qid, metrics="ndcg@5").mean()["ndcg@5"]
    assert (table[table["metric"] == "ndcg@5"]["mean"] > constant).all()
    np.testing.assert_allclose(  # standardizing changes no tree: the pipeline is the model
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


def test_cross_validate(configuration, shuffled):
    X, y, qid = shuffled
    for n_jobs in (None, 2):
        scores = RankingEvaluator(METRICS, cv=3, n_jobs=n_jobs).cross_validate(Ridge(), X, y, qid=qid)
        for i, (train, test) in enumerate(QueryKFold(3).split(X, groups=qid)):
            s = Ridge().fit(X[train], y[train]).predict(X[test])
            result = evaluate(y[test], s, qid=qid[test], metrics=METRICS).mean()
            assert scores["test_ndcg@5"][i] == pytest.approx(result["ndcg@5"])
            assert scores["test_rmse"][i] == pytest.approx(-result["rmse"])
    options = RankingEvaluator("map", cv=2).cross_validate(Ridge(), X, y, qid=qid, return_estimator=True)
    assert len(options["estimator"]) == 2


def test_qid_in_the_index(configuration, with_index, shuffled):
    X, y = with_index
    a = RankingEvaluator("ndcg@5", cv=3).compare({"ridge": Ridge()}, X, y)
    b = RankingEvaluator("ndcg@5", cv=3).compare({"ridge": Ridge()}, X, shuffled[1], qid=shuffled[2])
    assert a.results["ridge"].mean() == b.results["ridge"].mean()
    with pytest.raises(ValueError, match="give y as a pandas Series"):
        RankingEvaluator("map").compare({"ridge": Ridge()}, X, shuffled[1])


def test_torn_queries_are_refused(shuffled):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match=r"keep queries whole.*KFold.*tears \d+ queries apart in fold 0"):
        RankingEvaluator("map", cv=KFold(3, shuffle=True)).cross_validate(Ridge(), X, y, qid=qid)


def test_pooling_needs_every_row_once(shuffled):
    X, y, qid = shuffled
    evaluator = RankingEvaluator("map", cv=QueryShuffleSplit(2, random_state=0))
    assert len(evaluator.cross_validate(Ridge(), X, y, qid=qid)["test_map"]) == 2
    with pytest.raises(ValueError, match="tested exactly once"):
        evaluator.compare({"ridge": Ridge()}, X, y, qid=qid)


@pytest.mark.parametrize("estimators", [[Ridge()], {}, Ridge()])
def test_models_have_names(estimators, shuffled):
    X, y, qid = shuffled
    with pytest.raises(TypeError, match="a mapping from names to estimators, one or more. Got"):
        RankingEvaluator("map").compare(estimators, X, y, qid=qid)


@pytest.mark.parametrize("cv", [1, 0, True, 2.5, "five"])
def test_cv_is_a_count_or_a_splitter(cv):
    with pytest.raises(ValueError, match="must be an int >= 2 or a splitter"):
        RankingEvaluator("map", cv=cv)


def test_metrics_keep_the_names_they_were_given(shuffled):
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
    assert text.startswith("Comparison of 1 models on 40 queries\nmodel")
