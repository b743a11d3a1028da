"""Checks on fitted models in scorers and the evaluator: frozen rankers, and rankers without queries."""

import numpy as np
import pandas as pd
import pytest
from misuse_cases import seen
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import GradientBoostingRegressor, VotingRegressor
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, get_scorer

QID = np.repeat(range(6), 4)
X = np.random.default_rng(0).normal(size=(24, 3))
Y = pd.Series(np.tile([0, 1, 2, 0], 6), index=pd.Index(QID, name="qid"))
SCORER = get_scorer("ndcg@10")


def ranker():
    return QueryRanker(Ridge()).fit(X, Y)


def frozen():
    return FrozenEstimator(ranker())


def search_of(model, grid):
    return GridSearchCV(model, grid, scoring=lambda model, X, y: 0.0, cv=QueryKFold(2)).fit(X, Y)


@pytest.mark.parametrize(
    ("make", "is_seen"),
    [
        (frozen, True),
        (ranker, False),
        (lambda: make_pipeline(FunctionTransformer(), frozen()).fit(X, Y), True),
        (lambda: make_pipeline(FunctionTransformer(), FunctionTransformer(), frozen()).fit(X, Y), True),
        (lambda: FrozenEstimator(make_pipeline(FunctionTransformer(), QueryRanker(Ridge())).fit(X, Y)), True),
        (lambda: FrozenEstimator(search_of(QueryRanker(Ridge()), {"estimator__alpha": [1]})), True),
        (lambda: search_of(VotingRegressor([("a", frozen())]), {"weights": [None]}), True),
        (lambda: VotingRegressor([("a", Ridge()), ("b", frozen())]).fit(X, Y), True),
        (lambda: QueryRanker(VotingRegressor([("a", frozen())])).fit(X, Y), True),
        (lambda: QueryRanker(VotingRegressor([("a", Ridge())])).fit(X, Y), False),
        (lambda: FrozenEstimator(QueryRanker(Ridge()).fit(X, Y.to_numpy())), False),
    ],
)
def test_a_frozen_ranker_is_found_inside(make, is_seen):
    assert ("a model that has seen the test queries" in seen(SCORER, make(), X, Y)[0]) == is_seen


@pytest.mark.parametrize(
    ("make", "is_lost"),
    [
        (lambda: VotingRegressor([("a", QueryRanker(Ridge()))]).fit(X, Y.to_numpy()), True),
        (lambda: make_pipeline(VotingRegressor([("a", QueryRanker(Ridge()))])).fit(X, Y.to_numpy()), True),
        (lambda: VotingRegressor([("a", Ridge()), ("b", QueryRanker(Ridge()))]).fit(X, Y.to_numpy()), True),
        (lambda: VotingRegressor([("a", frozen())]).fit(X, Y.to_numpy()), False),
        (lambda: make_pipeline(QueryRanker(Ridge())).fit(X, Y.to_numpy()), False),
        (lambda: QueryRanker(Ridge()).fit(X, Y.to_numpy()), False),
    ],
)
def test_a_ranker_without_queries_is_found_inside(make, is_lost):
    model = make()
    assert ("a ranker without queries" in seen(SCORER, model, X, Y)[0]) == is_lost


def test_the_outermost_model_without_queries_is_named():
    inner = VotingRegressor([("a", QueryRanker(Ridge()))])
    with pytest.warns(UserWarning, match="inside 'TransformedTargetRegressor' was fitted without queries"):
        SCORER(TransformedTargetRegressor(inner).fit(X, Y.to_numpy()), X, Y)


def test_number_of_queries_seen_by_a_frozen_ranker():
    """Queries count as seen if the number of rows, the labels and the features are equal."""
    features, labels = X.copy(), Y.to_numpy().copy()
    labels[QID == 1] = [0, 1, 1, 0]
    features[QID == 2] += 1
    longer = np.r_[QID, 3, 6, 6]
    features, labels = np.r_[features, np.zeros((3, 3))], np.r_[labels, 0, 1, 0]
    models = {"frozen": frozen(), "other": Ridge()}
    with pytest.raises(ValueError, match="its ranker was fitted on 3 of the 7 queries that are scored"):
        RankingEvaluator("ndcg@10", cv=2).compare(models, features, labels, qid=longer)
    shuffled = np.random.default_rng(0).permutation(24)
    two = {"two": VotingRegressor([("a", frozen()), ("b", FrozenEstimator(QueryRanker(Ridge()).fit(X[4:], Y[4:])))])}
    with pytest.raises(ValueError, match="its ranker was fitted on 6 of the 6 queries that are scored"):
        RankingEvaluator("ndcg@10", cv=2).compare(two, X[shuffled], Y.to_numpy()[shuffled], qid=QID[shuffled])


# --- implausible labels, checked for the deciding metric ----------------------------------------------------------

GRADES = np.random.default_rng(1).integers(0, 101, 200)
OF_GRADES = np.arange(200).reshape(-1, 1) % 7.0, GRADES
BY_QUERY = {"qid": np.repeat(range(20), 10)}


@pytest.mark.parametrize(
    ("metrics", "search", "decides"),
    [
        ("ndcg@10", {}, True),
        (["map", "ndcg@10"], {"refit": "ndcg@10"}, True),
        (["map", "ndcg@10"], {"refit": "map"}, False),
        (["map", "ndcg@10"], {}, False),
        ("map", {"scoring": get_scorer("ndcg@10")}, True),
        ("ndcg@10", {"scoring": get_scorer("recall(min_relevance=50)@5")}, False),
    ],
)
def test_a_search_checks_labels_for_the_deciding_metric(metrics, search, decides):
    name = "large grades"
    found = seen(
        RankingEvaluator(metrics, cv=2).search,
        GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, **search),
        *OF_GRADES,
        **BY_QUERY,
    )
    assert (found[1] == name) == decides


def test_early_stopping_checks_labels():
    model = GradientBoostingRegressor(n_estimators=3)
    ranker = QueryRanker(model, eval_fraction=0.5, eval_metric="ndcg", random_state=0)
    assert seen(ranker.fit, X, 20 * Y.to_numpy(), qid=QID) == ([], "large grades")
    assert seen(ranker.fit, X, Y.to_numpy(), qid=QID) == ([], "")


def test_labels_and_models_are_checked_before_a_fit():
    evaluator, labels = RankingEvaluator("ndcg@10", cv=2), Y.to_numpy()
    assert seen(evaluator.cross_validate, Ridge(), X, 20 * labels, qid=QID) == ([], "large grades")
    model = Ridge()
    told = seen(evaluator.compare, {"a": model, "b": model}, X, labels, qid=QID)
    assert told == ([], "one model twice")
    assert seen(evaluator.compare, {"a": model, "b": Ridge()}, X, labels, qid=QID) == ([], "")


def test_a_frozen_ranker_scores_labels_by_subtopic():
    """Queries cannot be compared, because labels by subtopic have another shape."""
    subtopics = pd.DataFrame({"a": Y.to_numpy(), "b": 1 - Y.to_numpy().clip(0, 1)}, index=Y.index)
    assert seen(get_scorer("alpha_ndcg"), frozen(), X, subtopics) == ([], "")
