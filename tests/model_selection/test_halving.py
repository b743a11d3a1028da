"""Halving searches in `RankingEvaluator`: all metrics in the results, the first of which decides."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import HalvingGridSearchCV, HalvingRandomSearchCV

from sklearn_rank import LeaveOneQueryOut, QueryShuffleSplit, RankingEvaluator, get_scorer, get_scorers

ALPHAS = [0.1, 100.0, 1e4]
EVALUATOR = RankingEvaluator(["ndcg@5", "map"], cv=3)


@pytest.mark.parametrize("search", [HalvingGridSearchCV, HalvingRandomSearchCV])
@pytest.mark.parametrize("resource", ["max_queries", "max_iter"])
@pytest.mark.filterwarnings("ignore:The total space of parameters")
def test_halving_keeps_all_metrics(shuffled, search, resource):
    X, y, qid = shuffled
    limits = {} if resource == "max_queries" else {"max_resources": 30, "min_resources": 10}
    halving = search(Ridge(solver="lsqr"), {"alpha": ALPHAS}, resource=resource, random_state=0, **limits)
    found = EVALUATOR.search(halving, X, y, qid=qid)
    if resource == "max_queries" and search is HalvingRandomSearchCV:  # which begins with the smallest
        assert found.n_resources_[0] == found.min_resources_ == 6, "two queries a fold"
    results = found.cv_results_
    assert {name for name in results if name.startswith("mean_test")} == {
        "mean_test_score",
        "mean_test_ndcg@5",
        "mean_test_map",
    }
    np.testing.assert_array_equal(results["mean_test_score"], results["mean_test_ndcg@5"])
    assert found.best_score_ == results["mean_test_ndcg@5"][found.best_index_]
    for params, *values in zip(results["params"], results["mean_test_ndcg@5"], results["mean_test_map"], strict=True):
        loop = EVALUATOR.cross_validate(clone(found.estimator).set_params(**params), X, y, qid=qid)
        np.testing.assert_allclose(values, [loop["test_ndcg@5"].mean(), loop["test_map"].mean()], rtol=1e-12)


@pytest.mark.parametrize(
    ("cv", "n_queries", "smallest"),
    [
        (2, 40, 4),
        (4, 40, 8),
        (4, 13, 6),
        (LeaveOneQueryOut(), 40, 10),
        (None, 40, 6),
        (QueryShuffleSplit(4, random_state=0), 9, 4),
    ],
    ids=str,
)
@pytest.mark.filterwarnings("ignore")
def test_the_smallest_number_of_queries_is_two_a_fold_and_not_more_than_half(shuffled, cv, n_queries, smallest):
    X, y, qid = shuffled
    some = np.isin(qid, np.unique(qid)[:n_queries])
    search = HalvingRandomSearchCV(Ridge(), {"alpha": ALPHAS}, resource="max_queries", random_state=0, cv=cv)
    folds = RankingEvaluator("map", cv=3).cross_validate(search, X[some], y[some], qid=qid[some], return_estimator=True)
    assert {(one.min_resources_, one.max_resources_) for one in folds["estimator"]} == {(smallest, n_queries)}


def test_halving_decides_by_the_first_metric(shuffled):
    X, y, qid = shuffled
    for first in ("rmse", "ndcg@5"):
        halving = HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, resource="max_queries", min_resources=40)
        found = RankingEvaluator([first, "map"], cv=3).search(halving, X, y, qid=qid)
        assert found.cv_results_["mean_test_score"].tolist() == found.cv_results_[f"mean_test_{first}"].tolist()
        assert found.best_score_ == found.cv_results_[f"mean_test_{first}"].max()
    with sklearn.config_context(enable_metadata_routing=True):
        assert found.score(X, y, qid=qid) == get_scorer("ndcg@5")(found, X, y, qid=qid)


def test_refit_names_the_metric_that_decides(shuffled):
    X, y, qid = shuffled
    halving = HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, resource="max_queries", min_resources=40, refit="rmse")
    found = RankingEvaluator(["map", "rmse"], cv=3).search(halving, X, y, qid=qid)
    results = found.cv_results_
    assert (
        results["mean_test_score"].tolist() == results["mean_test_rmse"].tolist() != results["mean_test_map"].tolist()
    )
    with pytest.raises(ValueError, match=r"refit must be .* Got refit='mrr'"):
        EVALUATOR.search(clone(halving).set_params(refit="mrr"), X, y, qid=qid)


def test_halving_keeps_what_was_asked(shuffled):
    X, y, qid = shuffled
    halving = HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, resource="max_queries", cv=3)

    def metrics_of(evaluator=EVALUATOR, **params):
        found = evaluator.search(clone(halving).set_params(**params), X, y, qid=qid)
        return [name.removeprefix("mean_test_") for name in found.cv_results_ if name.startswith("mean_test_")]

    assert metrics_of(scoring=get_scorer("mrr")) == ["score"]
    assert metrics_of(scoring=get_scorers(["mrr", "map"])) == ["score", "mrr", "map"]
    assert metrics_of(refit=False) == ["score"]
    with pytest.raises(ValueError, match='decides by "score", so no metric may have that name'):
        metrics_of(RankingEvaluator({"score": "map"}))


def test_as_many_queries_as_were_asked_for(shuffled):
    X, y, qid = shuffled
    halving = HalvingGridSearchCV(Ridge(), {"alpha": ALPHAS}, resource="max_queries", min_resources=6, max_resources=18)
    assert EVALUATOR.search(halving, X, y, qid=qid).n_resources_ == [6, 18]
