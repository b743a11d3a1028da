"""Checks of labels and users of recommenders, at each entry point."""

import numpy as np
import pandas as pd
import pytest
from misuse_cases import seen
from recommenders import Factors
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.model_selection import GridSearchCV, GroupKFold

from sklearn_rank import InteractionRecommender, LeaveLastOut, QueryRanker, RankingEvaluator, make_recommender_scorer
from sklearn_rank._data import doors
from sklearn_rank._data.table import ALL_CHECKS, ALL_DOORS
from sklearn_rank._misuse.ratings import CHECKS_OF_RATINGS

RNG, N_USERS, N_ITEMS = np.random.default_rng(0), 40, 80
N_ROWS = 10 * N_USERS
X = pd.DataFrame({"user_id": np.repeat(np.arange(N_USERS), 10), "time": np.arange(N_ROWS)})
X.insert(1, "item_id", np.concatenate([RNG.permutation(N_ITEMS)[:10] for _ in range(N_USERS)]))
IS_TEST = np.arange(N_ROWS) % 10 > 6
STARS = RNG.choice([1, 2, 3, 4, 5], N_ROWS, p=[0.1, 0.1, 0.2, 0.4, 0.2])
CUT, WHOLE = LeaveLastOut(time="time"), [*GroupKFold(3).split(X, groups=X["user_id"])]
MODEL = InteractionRecommender(Factors())


def scorer(metric, **options):
    return make_recommender_scorer(metric, items=np.arange(N_ITEMS), **options)


def of_scorer(y, metric, cv, **options):
    train, test = (~IS_TEST, IS_TEST) if cv is CUT else cv[0]
    model = InteractionRecommender(Factors()).fit(X[["user_id", "item_id"]].iloc[train])
    scorer(metric)(model, X.iloc[test], None if y is None else y[test])


def of_compare(y, metric, cv, **options):
    RankingEvaluator(scorer(metric), cv=cv, **options).compare({"a": MODEL}, X, y)


def of_cross_validate(y, metric, cv, **options):
    RankingEvaluator(scorer(metric), cv=cv, **options).cross_validate(MODEL, X, y)


def of_search(y, metric, cv, **options):
    search = GridSearchCV(MODEL, {"estimator__n_factors": [2, 3]}, error_score="raise")
    RankingEvaluator(scorer(metric), cv=cv, **options).search(search, X, y)


CALLS = {
    doors.RECOMMENDER_SCORER: of_scorer,
    doors.COMPARE: of_compare,
    doors.CROSS_VALIDATE: of_cross_validate,
    doors.SEARCH: of_search,
}
CASES = {
    "every rating is relevant": (STARS, "recall@10", CUT),
    "users who are not in training": (None, "ndcg@10", WHOLE),
    "large grades": (RNG.integers(0, 101, N_ROWS), "ndcg@10", CUT),
    "no order matters": (np.zeros(N_ROWS), "ndcg@10", CUT),
    "threshold outside of the scale": (RNG.random(N_ROWS), "recall@10", CUT),
}
SILENT = {
    "no ratings": (None, "recall@10", CUT),
    "grades": (STARS - 1, "ndcg@10", CUT),
    "stars of gains": (STARS, "ndcg@10", CUT),
    "counts": (RNG.geometric(0.6, N_ROWS), "recall@10", CUT),
    "few more": (np.resize([1, 1, 1, 2, 2, 2, 2, 3, 3], N_ROWS), "recall@10", CUT),
    "one rating": (np.ones(N_ROWS), "map", CUT),
    "a threshold": (STARS, "recall(min_relevance=4)@10", CUT),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("door", CALLS, ids=lambda door: door.name)
def test_checks_of_recommenders(name, door):
    check = next(check for check in ALL_CHECKS if check.name == name)
    if not door.outcome(check):
        pytest.skip("the table counts users without a value")
    warned, raised = seen(CALLS[door], *CASES[name])
    # A result without a value raises a second warning.
    warned = {*warned} - {"nothing measured"}
    assert (warned, raised) == (({name}, "") if door.outcome(check) == "warning" else (set(), name))
    if door.decides and raised:
        warned, raised = seen(CALLS[door], *CASES[name], on_misuse="ignore")
        assert ({*warned} <= {"nothing measured"}, raised) == (True, "")


@pytest.mark.parametrize("name", SILENT)
def test_ordinary_recommenders_raise_no_warning(name):
    for call in CALLS.values():
        assert seen(call, *SILENT[name]) == ([], "")


@pytest.mark.parametrize("door", CALLS, ids=lambda door: door.name)
def test_user_of_missing_ids(door, monkeypatch):
    """-1 beside other users, as pandas.factorize gives; several negative ids, or none, are ordinary."""
    for first, expected in ((-1, {"invalid query ids"}), (-2, set()), (0, set()), (1, set())):
        monkeypatch.setitem(globals(), "X", X.assign(user_id=np.repeat(np.arange(N_USERS), 10) + first))
        warned, raised = seen(CALLS[door], None, "ndcg@10", CUT)
        assert {*warned, raised} - {""} == expected


def test_recommenders_that_were_fitted_on_test_rows():
    """All pairs are known only if the test rows are training rows; some are where users buy again."""
    name, metric = "test rows that were fitted on", scorer("ndcg@10", exclude=None)
    rows, test, pairs = np.arange(N_ROWS), np.flatnonzero(IS_TEST), X[["user_id", "item_id"]]
    cut, whole = (InteractionRecommender(Factors()).fit(train) for train in (pairs[~IS_TEST], pairs))
    for exclude in (None, pairs[~IS_TEST], {1: [999]}):
        assert seen(scorer("ndcg@10", exclude=exclude), whole, X[IS_TEST]) == ([name], "")
    assert seen(scorer("ndcg@10", exclude=pairs[~IS_TEST]), cut, X[IS_TEST]) == ([], "")
    again = pd.concat([pairs[IS_TEST], pairs.groupby("user_id").head(1)])
    for model, tested in ((cut, pairs[IS_TEST]), (cut, again), (whole, pairs[IS_TEST].head(19))):
        assert seen(metric, model, tested) == ([], "")
    for train, expected in ((rows, name), (rows[~IS_TEST], ""), (rows[:-9], "")):
        evaluator = RankingEvaluator(metric, cv=[(train, test)])
        assert seen(evaluator.compare, {"a": MODEL}, pairs, None) == ([], expected)
        assert seen(evaluator.cross_validate, MODEL, pairs, None) == ([], expected)


def test_ratings_at_every_door():
    for check, without in zip(CHECKS_OF_RATINGS, ([], [doors.SEARCH], []), strict=True):
        assert {door for door in ALL_DOORS if door.outcome(check)} == {*CALLS} - {*without}


def test_recommenders_check_the_deciding_metric():
    assert seen(of_compare, STARS, ["ndcg", "map"], CUT) == (["every rating is relevant"], "")
    assert seen(of_compare, STARS, ["map", "ndcg"], CUT) == ([], "every rating is relevant")


def test_excluded_pairs_have_unknown_ids():
    model = InteractionRecommender(Factors()).fit(X[["user_id", "item_id"]][~IS_TEST])
    for exclude, message in (
        ({"1": ["2"]}, "Items of exclude must have ids of the type .* Got '2' in exclude, and 2"),
        (X[["user_id", "item_id"]].astype(str), "Items of exclude must have ids of the type"),
        ({"1": [2]}, "Users of exclude must have ids of the type .* Got '1' in exclude, and 1"),
    ):
        with pytest.raises(ValueError, match=message):
            scorer("ndcg@10", exclude=exclude)(model, X[IS_TEST])
    assert seen(scorer("ndcg@10", exclude={1: [2], 500: [3]}), model, X[IS_TEST]) == ([], "")
    parts = X[["user_id", "item_id"]].assign(user_id=[("shop", one) for one in X["user_id"]])
    model = InteractionRecommender(Factors()).fit(parts[~IS_TEST])
    with pytest.raises(ValueError, match=r"Users of exclude must have ids of the type .*'1'\) in exclude"):
        scorer("ndcg@10", exclude={("shop", "1"): [2]})(model, parts[IS_TEST])


def test_given_validation_rows_are_checked_separately():
    rng = np.random.default_rng(0)
    features, y, qid = rng.random((600, 3)), rng.integers(1, 6, 600), np.repeat(np.arange(60), 10)
    ranker = QueryRanker(GradientBoostingRegressor(n_estimators=2), eval_metric="map", random_state=0)
    for lower, raised in (((1, 0), True), ((0, 0), True), ((0, 1), False), ((1, 1), False)):
        train, own = y - lower[0], y - lower[1]
        given = {"qid": qid[:400], "eval_set": (features[400:], own[400:], qid[400:])}
        assert seen(ranker.fit, features[:400], train[:400], **given) == ([], "no order matters" * raised)


def test_ten_users_are_enough_to_tell_that_none_is_in_training():
    for n, expected in ((10, ["users who are not in training"]), (9, [])):
        train, test = X[X["user_id"] >= n], X[X["user_id"] < n]
        model = InteractionRecommender(Factors()).fit(train[["user_id", "item_id"]])
        warned, raised = seen(scorer("ndcg@10"), model, test)
        assert ([one for one in warned if one != "nothing measured"], raised) == (expected, "")
