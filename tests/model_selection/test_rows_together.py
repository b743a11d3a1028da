"""Arguments with an entry per row must have equal lengths and, if pandas labels the rows, the same order."""

import numpy as np
import pandas as pd
import pytest
from recommenders import Factors
from sklearn.linear_model import Ridge, SGDRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import (
    InteractionRecommender,
    LeaveLastOut,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RankingEvaluator,
    RepeatedQueryKFold,
    make_ranking_scorer,
    make_recommender_scorer,
    query_train_test_split,
)

N = 12
QUERY = np.repeat(range(4), 3)
ROWS = {
    "y": pd.Series(np.tile([0, 1, 2], 4)),
    "qid": pd.Series(QUERY),
    "groups": pd.Series(QUERY),
    "sample_weight": pd.Series(QUERY + 1.0),
    "clusters": pd.Series(QUERY),
    "time": pd.Series(QUERY),
    "by": pd.Series(QUERY % 2),
}
FEATURES = pd.DataFrame(np.random.default_rng(0).normal(size=(N, 2)), columns=["a", "b"])
PAIRS = pd.DataFrame({"user_id": np.tile([0, 1], 6), "item_id": np.repeat(range(6), 2)})
FITTED = QueryRanker(Ridge()).fit(FEATURES, ROWS["y"], qid=ROWS["qid"])
SCORER = make_recommender_scorer("map", items=range(6), exclude=None)
BY_TIME = RankingEvaluator("map", cv=QueryTimeSeriesSplit(2))
OVER_ITEMS = RankingEvaluator(SCORER, cv=LeaveLastOut(2))


CALLS = {
    "QueryRanker.fit": (QueryRanker(Ridge()).fit, FEATURES, ["y", "qid", "sample_weight"]),
    "QueryRanker.fit, queries": (QueryRanker(Ridge(), max_queries=3).fit, FEATURES, ["y", "qid", "sample_weight"]),
    "partial_fit": (QueryRanker(SGDRegressor()).partial_fit, FEATURES, ["y", "qid", "sample_weight"]),
    "score": (FITTED.score, FEATURES, ["y", "qid", "sample_weight"]),
    "scorers": (
        lambda X, y, **k: make_ranking_scorer(["map"])(FITTED, X, y, **k),
        FEATURES,
        ["y", "qid", "sample_weight"],
    ),
    "compare": (
        lambda X, y, **k: RankingEvaluator("map", cv=2).compare({"a": Ridge()}, X, y, **k),
        FEATURES,
        ["y", "qid", "sample_weight", "clusters", "by"],
    ),
    "compare by time": (lambda X, y, **k: BY_TIME.compare({"a": Ridge()}, X, y, **k), FEATURES, ["y", "qid", "time"]),
    "cross_validate": (
        lambda X, y, **k: RankingEvaluator("map", cv=2).cross_validate(Ridge(), X, y, **k),
        FEATURES,
        ["y", "qid", "sample_weight", "clusters"],
    ),
    "search": (
        lambda X, y, **k: BY_TIME.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, **k),
        FEATURES,
        ["y", "qid", "time"],
    ),
    "split": (RankingEvaluator("map", cv=2).split, FEATURES, ["y", "qid", "clusters"]),
    "k fold": (lambda *a, **k: [*QueryKFold(2).split(*a, **k)], FEATURES, ["y", "groups", "clusters"]),
    "repeated": (lambda *a, **k: [*RepeatedQueryKFold(2).split(*a, **k)], FEATURES, ["y", "groups", "clusters"]),
    "halves": (lambda *a, **k: [*QueryShuffleSplit(1).split(*a, **k)], FEATURES, ["y", "groups", "clusters"]),
    "times": (lambda *a, **k: [*QueryTimeSeriesSplit(2).split(*a, **k)], FEATURES, ["y", "groups", "time"]),
    "one split": (query_train_test_split, FEATURES, ["y", "qid", "clusters"]),
    "last out": (lambda *a, **k: [*LeaveLastOut(2).split(*a, **k)], PAIRS, ["y", "groups", "time"]),
    "recommender": (InteractionRecommender(Ridge()).fit, PAIRS, ["y", "sample_weight"]),
    "over items": (
        lambda X, y: SCORER(InteractionRecommender(DecisionTreeRegressor()).fit(PAIRS, ROWS["y"]), X, y),
        PAIRS,
        ["y"],
    ),
    "compare over items": (lambda X, y, **k: OVER_ITEMS.compare({"a": Factors(2)}, X, y, **k), PAIRS, ["y", "time"]),
}
EACH = [(call, name) for call, (_, _, names) in CALLS.items() for name in names]


def call_with(call, X, **columns):
    function, _, names = CALLS[call]
    columns = {name: ROWS[name] for name in names} | columns
    return function(X, columns.pop("y"), **columns)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "name"), EACH)
def test_rows_in_another_order_are_rejected(call, name):
    _, X, names = CALLS[call]
    call_with(call, X)
    with pytest.raises(ValueError, match="must have the same index"):
        call_with(call, X, **{name: ROWS[name][::-1]})
    if len(names) > 1:
        with pytest.raises(ValueError, match="must have the same index"):
            call_with(call, X.to_numpy(), **{name: ROWS[name][::-1]})


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("call", "name"), EACH)
def test_columns_of_another_length_are_rejected(call, name):
    X = CALLS[call][1].to_numpy()
    arrays = {n: ROWS[n].to_numpy() for n in CALLS[call][2]}
    call_with(call, X, **arrays)
    short = arrays[name][:-1]
    with pytest.raises(ValueError, match=r"one entry (per|for each)|needs 1[12] entries|same rows. Got 12"):
        call_with(call, X, **(arrays | {name: short}))
