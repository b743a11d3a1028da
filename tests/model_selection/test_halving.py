"""Halving searches in `RankingEvaluator`: the first metric decides, and the resource counts whole queries."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryRanker,
    QueryShuffleSplit,
    RankingEvaluator,
    get_scorer,
    make_ranking_scorer,
)

RANKER, GRID = QueryRanker(Ridge(solver="lsqr")), {"estimator__alpha": [0.1, 100.0, 1e4]}
EVALUATOR = RankingEvaluator(["ndcg@5", "map"], cv=3)


@pytest.mark.parametrize("search", [HalvingGridSearchCV, HalvingRandomSearchCV])
@pytest.mark.parametrize("resource", ["max_queries", "estimator__max_iter"])
@pytest.mark.filterwarnings("ignore:The total space of parameters")
def test_halving_matches_a_loop(shuffled, search, resource):
    X, y, qid = shuffled
    limits = {} if resource == "max_queries" else {"max_resources": 30, "min_resources": 10}
    found = EVALUATOR.search(search(RANKER, GRID, resource=resource, random_state=0, **limits), X, y, qid=qid)
    if resource == "max_queries" and search is HalvingRandomSearchCV:  # it begins with the smallest
        assert found.n_resources_[0] == found.min_resources_ == 6, "two queries a fold"
    for params, value in zip(found.cv_results_["params"], found.cv_results_["mean_test_score"], strict=True):
        loop = EVALUATOR.cross_validate(clone(found.estimator).set_params(**params), X, y, qid=qid)
        assert value == pytest.approx(loop["test_ndcg@5"].mean(), rel=1e-12)


@pytest.mark.parametrize(
    ("cv", "n_queries", "smallest"),
    [
        pytest.param(4, 13, 6, marks=pytest.mark.fast),
        (LeaveOneQueryOut(), 40, 10),
        (QueryShuffleSplit(4, random_state=0), 9, 4),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_the_smallest_number_of_queries_of_halving(shuffled, cv, n_queries, smallest):
    X, y, qid = shuffled
    some = np.isin(qid, np.unique(qid)[:n_queries])
    search = HalvingRandomSearchCV(RANKER, GRID, resource="max_queries", random_state=0, cv=cv)
    folds = RankingEvaluator("map", cv=3).cross_validate(search, X[some], y[some], qid=qid[some], return_estimator=True)
    assert {(one.min_resources_, one.max_resources_) for one in folds["estimator"]} == {(smallest, n_queries)}


@pytest.mark.parametrize("first", ["rmse", "ndcg@5"])
def test_halving_decides_by_the_first_metric(shuffled, first):
    X, y, qid = shuffled
    halving = HalvingGridSearchCV(RANKER, GRID, resource="max_queries", min_resources=40)
    found = RankingEvaluator([first, "map"], cv=3).search(halving, X, y, qid=qid)
    by_hand = EVALUATOR.search(clone(halving).set_params(scoring=get_scorer(first)), X, y, qid=qid)
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], by_hand.cv_results_["mean_test_score"])
    assert found.best_score_ == found.cv_results_["mean_test_score"].max()
    with sklearn.config_context(enable_metadata_routing=True):
        assert found.score(X, y, qid=qid) == get_scorer(first)(found, X, y, qid=qid)


@pytest.mark.parametrize("params", [{"scoring": make_ranking_scorer(["mrr", "map"])}, {"refit": "map"}], ids=str)
def test_halving_needs_a_single_metric(shuffled, params):
    X, y, qid = shuffled
    halving = HalvingGridSearchCV(RANKER, GRID, resource="max_queries", **params)
    with pytest.raises(ValueError, match=r"decides by one number: leave scoring=None.*scoring=get_scorer\('map'\)"):
        EVALUATOR.search(halving, X, y, qid=qid)
