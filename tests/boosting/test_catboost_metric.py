"""Metrics in CatBoost's training loop, which passes no queries: they come from the pools given to the metric."""

import pickle

import numpy as np
import pandas as pd
import pytest
from boosting_cases import TRAIN, VALID, by_hand, first_best
from numpy.testing import assert_allclose

from sklearn_rank.boosting import catboost_metric

catboost = pytest.importorskip("catboost")
QUIET = {"verbose": 0, "allow_writing_files": False, "thread_count": 1, "learning_rate": 0.3, "depth": 3}


def pool(rows, **keywords):
    X, y, qid, _ = rows
    return catboost.Pool(X, y, **({"group_id": qid} | keywords))


def fit(metric, valid, train=None, model=catboost.CatBoostRanker, **keywords):
    made = model(eval_metric=metric, **{**QUIET, "iterations": 15, **keywords})
    return made.fit(train or pool(TRAIN), eval_set=valid)


def stages(model, rows=VALID):
    return [*model.staged_predict(pool(rows))]


@pytest.mark.parametrize("metric", ["map@10", "rmse", "relevance_position(replace_undefined_by=0)"])
def test_catboost_values_and_round_match_staged_predictions(metric):
    valid, train = pool(VALID), pool(TRAIN)
    model = fit(catboost_metric(metric, [valid, train]), valid, train, use_best_model=False)
    values, curve = model.evals_result_, by_hand(metric, stages(model))
    assert_allclose(values["validation"][metric], curve, rtol=1e-9)
    assert_allclose(values["learn"][metric], by_hand(metric, stages(model, TRAIN), TRAIN), rtol=1e-9)
    stopped = fit(catboost_metric(metric, valid), valid, early_stopping_rounds=3)
    assert stopped.best_iteration_ == first_best(curve, 3, metric == "map@10")
    assert set(stopped.evals_result_["learn"][metric]) == {-1.0}


def test_several_pools_and_a_second_training():
    valid = [pool(VALID), pool(TRAIN)]
    metric = catboost_metric("mrr", valid)
    for rows in (TRAIN, VALID):
        model = fit(metric, valid, pool(rows))
        for number, of in enumerate((VALID, TRAIN)):
            values = model.evals_result_[f"validation_{number}"]["mrr"]
            assert_allclose(values[: model.tree_count_], by_hand("mrr", stages(model, of), of), rtol=1e-9)


def test_training_rows_in_an_order_of_catboosts_own():
    """With categorical features CatBoost shuffles the training rows, but not those of eval_set."""
    frames = [pd.DataFrame(X).assign(c=np.where(X[:, 1] > 0, "a", "b")) for X in (TRAIN[0], VALID[0])]
    train, valid = (pool((X, *rows[1:]), cat_features=["c"]) for X, rows in zip(frames, (TRAIN, VALID), strict=True))
    model = fit(catboost_metric("map", [train, valid]), valid, train, use_best_model=False)
    assert set(model.evals_result_["learn"]["map"]) == {-1.0}
    curve = by_hand("map", [*model.staged_predict(valid)])
    assert_allclose(model.evals_result_["validation"]["map"], curve, rtol=1e-9)


def test_catboost_query_weights():
    weight = 1.0 + VALID[2] % 3
    valid = pool(VALID, group_weight=weight)
    model = fit(catboost_metric("map", valid), valid, use_best_model=False)
    assert_allclose(model.evals_result_["validation"]["map"], by_hand("map", stages(model), sample_weight=weight))
    metric, scores, memory = catboost_metric("mrr", valid), [VALID[0][:, 0]], weight.copy()
    before = metric.evaluate(scores, VALID[1], memory)
    memory[VALID[2] == 0] *= 9  # CatBoost uses it again
    assert metric.evaluate(scores, VALID[1], memory) != before


def test_other_rows_are_refused():
    other = TRAIN[0][:50], TRAIN[1][:50], TRAIN[2][:50], None
    with pytest.raises(catboost.CatBoostError, match="Pass all pools of eval_set.*Got 50 other rows"):
        fit(catboost_metric("map", pool(VALID)), pool(other))
    with pytest.raises(catboost.CatBoostError, match="Got 50 other rows"):
        fit(catboost_metric("map", [pool(VALID), pool(TRAIN)]), pool(other))
    y = [0, 1, 0, 1]
    two = [pool((np.zeros((4, 1)), y, qid, None)) for qid in ([0, 0, 1, 1], [0, 1, 1, 1])]
    with pytest.raises(ValueError, match="two pools with the same labels"):
        catboost_metric("map", two)


def test_catboost_refuses_pools_without_queries():
    with pytest.raises(TypeError, match="catboost_metric.'map@10', pool.*Got None"):
        catboost_metric("map@10")
    for wrong in ([pool(VALID), VALID[0]], [VALID[0], pool(VALID)], []):
        with pytest.raises(TypeError, match="where pool is the catboost.Pool with group_id"):
            catboost_metric("map", wrong)
    with pytest.raises(ValueError, match="QueryRanker.CatBoostRegressor.*Got a pool without group_id"):
        catboost_metric("map@10", catboost.Pool(TRAIN[0], TRAIN[1]))
    with pytest.raises(ValueError, match="single eval_metric. Got map, mrr"):
        catboost_metric(["map", "mrr"], pool(VALID))
    with pytest.raises(catboost.CatBoostError, match="Got 4 scores per row"):
        fit(catboost_metric("map", pool(VALID)), pool(VALID), model=catboost.CatBoostClassifier)


def test_a_pickle_is_as_new():
    valid = pool(VALID)
    metric = catboost_metric("mrr", valid)
    assert metric.evaluate([VALID[0][:, 0]], TRAIN[1], None)[0] == -1
    fit(pickle.loads(pickle.dumps(metric)), valid, train=pool(tuple(part[:40] for part in TRAIN)), iterations=2)
