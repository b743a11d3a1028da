"""Metrics in XGBoost's training loops: values, the best round, and errors."""

import numpy as np
import pytest
from boosting_cases import TRAIN, VALID, by_hand, first_best
from numpy.testing import assert_allclose

from sklearn_rank.boosting import xgboost_early_stopping, xgboost_metric

xgb = pytest.importorskip("xgboost")
ROUNDS = 15
PARAMS = {"objective": "rank:ndcg", "nthread": 1, "max_depth": 3}


def matrix(rows, kind=xgb.DMatrix, **keywords):
    X, y, qid, _ = rows
    return kind(X, y, **({"qid": qid} | keywords))


def train(metric, *, valid=VALID, rounds=ROUNDS, params=PARAMS, **keywords):
    """Booster, and the values of each round by data set and metric; the validation rows are the last."""
    data, values = matrix(TRAIN), {}
    valid = matrix(valid) if isinstance(valid, tuple) else valid
    booster = xgb.train(
        params, data, rounds, evals=[(data, "train"), (valid, "valid")], custom_metric=metric, evals_result=values,
        verbose_eval=False, **keywords,
    )  # fmt: skip
    return booster, values


def stages(booster, rows=VALID, rounds=ROUNDS):
    return [booster.predict(matrix(rows), iteration_range=(0, i + 1)) for i in range(rounds)]


SIX_DIGITS = {"rtol": 0, "atol": 5.001e-7}
"""XGBoost writes the value of a metric to a line of text with six digits after the point."""


def test_xgboost_values_match_staged_predictions():
    names = ["map@10", "ndcg@3"]
    booster, values = train(xgboost_metric(names))
    for part, rows in (("train", TRAIN), ("valid", VALID)):
        assert [*values[part]][-2:] == names
        for name in names:
            assert_allclose(values[part][name], by_hand(name, stages(booster, rows), rows), **SIX_DIGITS)


@pytest.mark.parametrize(("metric", "by"), [("map@10", "rounds"), ("mrr", "callback"), ("rmse", "callback")])
def test_xgboost_best_round(metric, by):
    maximize = metric != "rmse"
    long, _ = train(xgboost_metric(metric), rounds=25)
    curve = np.round(by_hand(metric, stages(long, rounds=25)), 6)
    for patience in (3, 100):
        how = {"early_stopping_rounds": patience, "maximize": maximize}
        if by == "callback":
            how = {"callbacks": [xgboost_early_stopping(metric, patience)]}
        booster, _ = train(xgboost_metric(metric), rounds=25, **how)
        assert booster.best_iteration == first_best(curve, patience, maximize)
    assert len(set(curve)) > 1


def precision_loss(y_true, y_score):
    return 1 - np.mean(y_true[np.argmax(y_score)] > 0)


LOSS = xgboost_metric(precision_loss, greater_is_better=False)


@pytest.mark.parametrize(
    ("metric", "name", "maximize"),
    [
        ("mrr@10", "mrr@10", True),
        ("err(ties=worst, unjudged=drop)", "err(ties=worst,unjudged=drop)", True),
        ({"pretty bad": "rmse"}, "prettybad", False),
        ({"mape": "map"}, "mape", True),
        (LOSS, "precision_loss", False),
        (xgboost_metric("ndcg", gain="linear"), "ndcg", True),
    ],
    ids=str,
)
def test_early_stopping_has_the_name_and_direction_of_the_metric(metric, name, maximize):
    stop = xgboost_early_stopping(metric, 3)
    assert (stop.metric_name, stop.maximize, stop.rounds) == (name, maximize, 3)
    given = metric if metric is LOSS or hasattr(metric, "maker") else xgboost_metric(metric)
    booster, values = train(given, rounds=12, callbacks=[stop])
    assert booster.best_iteration == first_best(values["valid"][name], 3, maximize)


def test_early_stopping_by_a_chosen_metric():
    both = xgboost_metric(["map@10", "rmse"])
    booster, values = train(both, rounds=25, callbacks=[xgboost_early_stopping("map@10", 4)])
    assert booster.best_iteration == first_best(values["valid"]["map@10"], 4)
    kept, values = train(both, callbacks=[xgboost_early_stopping("map@10", 4, data_name="train", save_best=True)])
    assert kept.num_boosted_rounds() == first_best(values["train"]["map@10"], 4) + 1
    assert xgboost_early_stopping("map", 1, min_delta=0.5)._min_delta == 0.5
    with pytest.raises(ValueError, match="Early stopping needs a single metric. Got map@10, rmse"):
        xgboost_early_stopping(both, 3)
    with pytest.raises(TypeError, match="drop the keywords. Got ties"):
        xgboost_early_stopping(LOSS, 3, ties="worst")
    with pytest.raises(ValueError, match="'rounds' parameter of xgboost_early_stopping must be an int >= 1. Got 0"):
        xgboost_early_stopping("map", 0)
    with pytest.raises(ValueError, match="No metric named: mrr"):
        train(both, callbacks=[xgboost_early_stopping("mrr", 3)])


def test_names_without_blanks():
    """XGBoost parses its values from a line of text, and splits words at colons."""
    _, values = train(xgboost_metric("ndcg(gain=linear, ties=worst)@10"), rounds=2)
    assert [*values["valid"]][-1] == "ndcg(gain=linear,ties=worst)@10"
    with pytest.raises(ValueError, match="a name must not contain a colon. Got 'NDCG:top=10'"):
        xgboost_metric("NDCG:top=10")


def test_cv():
    """Means over folds of whole queries."""
    folds = []
    found = xgb.cv(
        PARAMS, matrix(TRAIN), 4, nfold=3, custom_metric=xgboost_metric("mrr"), as_pandas=False,
        callbacks=[xgboost_early_stopping("mrr", 10)], fpreproc=lambda *fold: folds.append(fold[:2]) or fold,
    )  # fmt: skip
    means = []
    for learn, test in folds:
        booster = xgb.train(PARAMS, learn, 4)
        rows = None, test.get_label(), np.repeat(np.arange(len(test.get_group())), test.get_group()), None
        means.append(by_hand("mrr", [booster.predict(test, iteration_range=(0, i + 1)) for i in range(4)], rows))
    assert_allclose(found["test-mrr-mean"], np.mean(means, axis=0), **SIX_DIGITS)


@pytest.mark.parametrize("how", ["group", "set_group", "quantile"])
def test_queries_of_every_kind_of_matrix(how):
    X, y, qid, sizes = VALID
    if how == "quantile":
        valid = xgb.QuantileDMatrix(X, y, qid=qid)
        data = xgb.QuantileDMatrix(TRAIN[0], TRAIN[1], qid=TRAIN[2])
        valid, values = xgb.QuantileDMatrix(X, y, qid=qid, ref=data), {}
        booster = xgb.train(PARAMS, data, ROUNDS, evals=[(valid, "valid")], custom_metric=xgboost_metric("map@10"),
                            evals_result=values, verbose_eval=False)  # fmt: skip
    else:
        valid = xgb.DMatrix(X, y, group=sizes) if how == "group" else xgb.DMatrix(X, y)
        if how == "set_group":
            valid.set_group(sizes)
        booster, values = train(xgboost_metric("map@10"), valid=valid)
    assert_allclose(values["valid"]["map@10"], by_hand("map@10", stages(booster)), **SIX_DIGITS)


def test_xgboost_data_without_queries():
    X, y, _, _ = TRAIN
    data = xgb.DMatrix(X, y)
    with pytest.raises(ValueError, match="QueryRanker.XGBRegressor.*Got a DMatrix without qid or group"):
        xgb.train({"nthread": 1}, data, 1, evals=[(data, "train")], custom_metric=xgboost_metric("map"))


@pytest.mark.parametrize("name", ["XGBRanker", "XGBRegressor", "XGBClassifier"])
def test_models_for_scikit_learn(name):
    """XGBRanker calls the metric once per query, and would score single documents 1.0; others pass no queries."""
    model = getattr(xgb, name)(n_estimators=1, n_jobs=1, eval_metric=xgboost_metric("map@10"))
    queries = {"qid": TRAIN[2], "eval_qid": [VALID[2]]} if name == "XGBRanker" else {}
    with pytest.raises(TypeError, match=r"QueryRanker\(XGBRanker\(...\), eval_metric='map@10'"):
        model.fit(TRAIN[0], TRAIN[1], eval_set=[VALID[:2]], verbose=False, **queries)


def test_xgboost_query_weights():
    weight = 1.0 + np.arange(30) % 3
    booster, values = train(xgboost_metric("map@10"), valid=matrix(VALID, weight=weight))
    weighted = by_hand("map@10", stages(booster), sample_weight=weight[VALID[2]])
    assert_allclose(values["valid"]["map@10"], weighted, **SIX_DIGITS)
    assert weighted != by_hand("map@10", stages(booster))


def test_xgboost_data_that_change():
    """Matrices of equal length, labels and groups that are set anew, and memory that is used again."""
    metric, scores, X = xgboost_metric("mrr"), np.array([3.0, 2, 1]), np.zeros((3, 1))
    first, second = xgb.DMatrix(X, [0, 1, 0], group=[3]), xgb.DMatrix(X, [0, 0, 1], group=[3])
    assert [metric(scores, data)[1] for data in (first, second, first)] == [1 / 2, 1 / 3, 1 / 2]
    first.set_label([1, 0, 0])
    assert metric(scores, first)[1] == 1
    second.set_group([2, 1])
    assert metric(scores, second)[1] == 1 / 2
    second.set_weight([1, 3])
    assert metric(scores, second)[1] == 3 / 4
    for i in range(50):
        assert metric(scores, xgb.DMatrix(X, np.eye(3)[i % 3], group=[3]))[1] == 1 / (i % 3 + 1)
    assert len(metric._seen._entries) == 2


def test_xgboost_multiclass_ranks_by_expected_grade():
    params = {**PARAMS, "objective": "multi:softprob", "num_class": 4}
    booster, values = train(xgboost_metric("map@10"), rounds=4, params=params)
    grades = [probability @ np.arange(4.0) for probability in stages(booster, rounds=4)]
    assert_allclose(values["valid"]["map@10"], by_hand("map@10", grades), **SIX_DIGITS)


def test_several_workers(monkeypatch):
    """XGBoost would take the mean over workers of the means over queries of each."""
    monkeypatch.setattr(xgb.collective, "get_world_size", lambda: 2)
    with pytest.raises(ValueError, match="Got 2 workers"):
        xgboost_metric("map")(np.zeros(1), xgb.DMatrix([[0]], [1], group=[1]))
