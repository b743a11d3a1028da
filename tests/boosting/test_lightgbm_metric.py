"""Metrics in LightGBM's training loops: values, the best round, and errors."""

import numpy as np
import pytest
from boosting_cases import TRAIN, VALID, by_hand, first_best
from numpy.testing import assert_allclose
from sklearn.model_selection import KFold

from sklearn_rank import QueryKFold
from sklearn_rank.boosting import lightgbm_metric

lgb = pytest.importorskip("lightgbm")
ROUNDS = 15
PARAMS = {"objective": "lambdarank", "metric": "None", "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}


def datasets(**keywords):
    X, y, _, sizes = TRAIN
    train = lgb.Dataset(X, y, group=sizes)
    X, y, _, sizes = VALID
    return train, lgb.Dataset(X, y, group=sizes, reference=train, **keywords)


def train(feval, *callbacks, rounds=ROUNDS, valid=None, params=PARAMS, **keywords):
    """Booster, and the values of each round by data set and metric."""
    train_set, valid_set = valid or datasets(**keywords)
    values = {}
    booster = lgb.train(
        params, train_set, rounds, valid_sets=[train_set, valid_set], valid_names=["train", "valid"], feval=feval,
        callbacks=[lgb.record_evaluation(values), *callbacks],
    )  # fmt: skip
    return booster, values


def stages(booster, X, rounds=ROUNDS):
    return [booster.predict(X, num_iteration=i + 1) for i in range(rounds)]


@pytest.mark.parametrize("several", ["a list of metrics", "one of several"])
def test_lightgbm_values_match_staged_predictions(several):
    names = ["map@10", "ndcg@3"]
    booster, values = train(
        [*map(lightgbm_metric, names)] if several == "a list of metrics" else lightgbm_metric(names)
    )
    for part, rows in (("train", TRAIN), ("valid", VALID)):
        assert list(values[part]) == names
        for name in names:
            assert_allclose(values[part][name], by_hand(name, stages(booster, rows[0]), rows), rtol=1e-12)


@pytest.mark.parametrize("metric", ["map@10", "mrr", "rmse"])
def test_lightgbm_best_round(metric):
    long, _ = train(lightgbm_metric(metric), rounds=40)
    curve = by_hand(metric, stages(long, VALID[0], 40))
    for patience in (3, 100):
        booster, _ = train(lightgbm_metric(metric), lgb.early_stopping(patience, verbose=False), rounds=40)
        assert booster.best_iteration - 1 == first_best(curve, patience, metric != "rmse")
    assert len(set(curve)) > 1


def ranker(eval_metric, early=(), **keywords):
    X, y, _, sizes = TRAIN
    model = lgb.LGBMRanker(n_estimators=ROUNDS, n_jobs=1, verbose=-1, min_child_samples=5, **keywords)
    valid = {"eval_X": VALID[0], "eval_y": VALID[1], "eval_group": [VALID[3]]}
    return model.fit(X, y, group=sizes, eval_metric=eval_metric, callbacks=[*early], **valid)


def test_values_and_round_of_lgbm_ranker():
    model = ranker(lightgbm_metric("map@10"), metric="None")
    curve = by_hand("map@10", stages(model, VALID[0]))
    assert_allclose(model.evals_result_["valid_0"]["map@10"], curve, rtol=1e-12)
    stopped = ranker(lightgbm_metric("map@10"), [lgb.early_stopping(3, verbose=False)], metric="None")
    assert stopped.best_iteration_ - 1 == first_best(curve, 3)


def test_built_in_metrics_may_be_watched():
    model = ranker([lightgbm_metric("map@10"), "ndcg"])
    assert {"map@10", "ndcg@1"} < set(model.evals_result_["valid_0"])
    _, values = train(lightgbm_metric({"our_ndcg@3": "ndcg@3"}), params={**PARAMS, "metric": "ndcg", "eval_at": [3]})
    assert [*values["valid"]] == ["ndcg@3", "our_ndcg@3"]


def test_folds_of_cv():
    """Means over folds of whole queries for LightGBM's metric and ours, and an error for torn queries."""
    X, y, qid, _ = TRAIN
    metric, folds = lightgbm_metric("map@10"), [*QueryKFold(3).split(X, y, groups=qid)]
    for given in (folds, QueryKFold(3)):
        found = lgb.cv(PARAMS, datasets()[0], 4, feval=metric, folds=given, return_cvbooster=True)
        parts = []
        for booster, (_, test) in zip(found["cvbooster"].boosters, folds, strict=True):
            test = np.sort(test)
            parts.append(by_hand("map@10", stages(booster, X[test], 4), (X[test], y[test], qid[test], None)))
        assert_allclose(found["valid map@10-mean"], np.mean(parts, axis=0), rtol=1e-12)
    assert len(lgb.cv(PARAMS, datasets()[0], 2, feval=metric, nfold=3)["valid map@10-mean"]) == 2
    with pytest.raises(ValueError, match="whole queries"):
        lgb.cv(PARAMS, datasets()[0], 2, feval=metric, folds=[*KFold(3, shuffle=True, random_state=0).split(X)])
    one, others = np.flatnonzero(qid == qid[-1])[:1], np.flatnonzero(qid != qid[-1])
    assert np.count_nonzero(qid == qid[-1]) > 1
    with pytest.raises(ValueError, match="rows of 1 queries"):
        lgb.cv(PARAMS, datasets()[0], 2, feval=metric, folds=[(others, one)])


def test_lightgbm_data_without_queries():
    X, y, _, _ = TRAIN
    with pytest.raises(ValueError, match="QueryRanker.LGBMRegressor"):
        lgb.train({**PARAMS, "objective": "l2"}, lgb.Dataset(X, y), 1, valid_sets=[lgb.Dataset(X, y)],
                  feval=lightgbm_metric("mrr"))  # fmt: skip
    model = lgb.LGBMRegressor(n_estimators=1, n_jobs=1, verbose=-1)
    with pytest.raises(ValueError, match="Got data without group"):
        model.fit(X, y, eval_X=X, eval_y=y, eval_metric=lightgbm_metric("mrr"))
    with pytest.raises(ValueError, match="eval_metric='map@10', early"):
        model.fit(X, y, eval_X=X, eval_y=y, eval_metric=lightgbm_metric({"ours": "map@10", "other": "mrr"}))


def test_lightgbm_weights():
    """Weights that are constant within queries weight the queries; others are rejected."""
    _, y, qid, _ = VALID
    weight = 1.0 + qid % 3
    booster, values = train(lightgbm_metric("map@10"), weight=weight)
    weighted = by_hand("map@10", stages(booster, VALID[0]), sample_weight=weight)
    assert_allclose(values["valid"]["map@10"], weighted, rtol=1e-12)
    assert weighted != by_hand("map@10", stages(booster, VALID[0]))
    with pytest.raises(ValueError, match="constant within each.*Row weights affect only training"):
        train(lightgbm_metric("map@10"), weight=1.0 + np.arange(len(y)))


class Elsewhere:
    """A data set like LightGBM's, with labels and groups that can be set."""

    def __init__(self, y, sizes, weight=None):
        self.arrays = [np.asarray(y, dtype=np.float32), np.asarray(sizes), weight]

    def get_label(self):
        return self.arrays[0]

    def get_group(self):
        return self.arrays[1]

    def get_weight(self):
        return self.arrays[2]


def test_lightgbm_data_that_change():
    """Data sets of equal length, labels and groups that are set anew, and memory that is used again."""
    metric, scores = lightgbm_metric("mrr"), np.array([3.0, 2, 1])
    first, second = Elsewhere([0, 1, 0], [3]), Elsewhere([0, 0, 1], [3])
    assert [metric(scores, data)[1] for data in (first, second, first)] == [1 / 2, 1 / 3, 1 / 2]
    first.arrays[0] = np.array([1, 0, 0], dtype=np.float32)
    assert metric(scores, first)[1] == 1
    second.arrays[1] = np.array([2, 1])
    assert metric(scores, second)[1] == 1 / 2
    second.arrays[2] = np.array([1.0, 1, 3])
    assert metric(scores, second)[1] == 3 / 4
    for i in range(50):
        y = np.zeros(3)
        y[i % 3] = 1
        assert metric(scores, Elsewhere(y, [3]))[1] == 1 / (i % 3 + 1)


def test_labels_and_groups_set_between_trainings():
    X, y, _, sizes = VALID
    data, metric = datasets(), lightgbm_metric("map@10")
    train(metric, rounds=1, valid=data)
    data[1].set_label(y[::-1])
    booster, values = train(metric, rounds=1, valid=data)
    qid = np.repeat(np.arange(len(sizes)), sizes)
    assert_allclose(values["valid"]["map@10"], by_hand("map@10", [booster.predict(X)], (X, y[::-1], qid, sizes)))
    data[1].set_group(sizes[::-1])
    booster, values = train(metric, rounds=1, valid=data)
    qid = np.repeat(np.arange(len(sizes)), sizes[::-1])
    assert_allclose(values["valid"]["map@10"], by_hand("map@10", [booster.predict(X)], (X, y[::-1], qid, sizes)))


def test_lightgbm_multiclass_ranks_by_expected_grade():
    params = {**PARAMS, "objective": "multiclass", "num_class": 4}
    booster, values = train(lightgbm_metric("map@10"), rounds=4, params=params)
    assert booster.predict(VALID[0]).shape == (len(VALID[0]), 4)
    grades = [probability @ np.arange(4) for probability in stages(booster, VALID[0], 4)]
    assert_allclose(values["valid"]["map@10"], by_hand("map@10", grades), rtol=1e-12)
    data = Elsewhere([0, 1], [2])
    with pytest.raises(ValueError, match="probabilities of each row must"):
        lightgbm_metric("map@10")(np.array([[2.0, -1], [0, 1]]), data)


def test_lightgbm_undefined_rounds_are_never_best():
    """A mean over no query at all is not compared."""
    metric = lightgbm_metric("map", replace_undefined_by=float("nan"))
    with pytest.raises(ValueError, match="undefined for all 2 queries"):
        metric(np.array([1.0, 2, 3]), Elsewhere([0, 0, 0], [1, 2]))
    with pytest.raises(ValueError, match="add up to the 3 rows"):
        metric(np.array([1.0, 2, 3]), Elsewhere([1, 0, 0], [1, 1]))


def test_labels_have_one_column():
    with pytest.raises(ValueError, match=r"each row is a query .* Got shape \(4, 2\) and a qid"):
        lightgbm_metric("map")(np.ones((4, 2)), np.arange(4.0), None, np.array([2, 2]))
