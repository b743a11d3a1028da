"""Strict and non-strict bounds, one value that differs, and limits of types."""

import numpy as np
import pytest
from sklearn.ensemble import GradientBoostingRegressor

from sklearn_rank import QueryRanker, evaluate, evaluate_table
from sklearn_rank.metrics import map_score, pfound_score, rbp_score, set_precision_score, set_recall_score
from sklearn_rank.stats import power_of

Y, S, Q = np.array([0, 2, 1, 0, 1]), np.array([0.5, 0.25, 0.125, 1, 2]), np.array([1, 1, 1, 2, 2])


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(("dtype", "limit"), [("float16", 2**11), ("float32", 2**24)])
def test_ids_that_are_equal_as_floats(sign, dtype, limit):
    ids = np.array([sign * (limit - 2), sign * (limit - 1)], dtype=dtype)
    assert evaluate([1, 1], [1, 2], qid=ids, metrics="map").qid.tolist() == ids.tolist()
    with pytest.raises(ValueError, match="Ids must stay different"):
        evaluate([1, 1], [1, 2], qid=np.array([0, sign * limit], dtype=dtype), metrics="map")


@pytest.mark.parametrize("limit", [2**24, 2**53])
def test_whole_ids_and_labels_around_the_limits_of_floats(limit):
    ids = limit + np.arange(-2, 3)
    result = evaluate([1, 0, 1, 0, 1], np.arange(5.0), qid=ids, metrics="hit@1")
    assert result.qid.tolist() == ids.tolist()
    assert result.per_query["hit@1"].tolist() == [1, 0, 1, 0, 1]


def test_a_score_at_the_threshold_is_not_chosen():
    assert set_precision_score([1, 0, 1], [0.5, 0.7, 0.9], qid=[1, 1, 1], threshold=0.5) == 0.5
    assert set_recall_score([1, 0, 1], [0.5, 0.7, 0.9], qid=[1, 1, 1], threshold=0.5) == 0.5


def test_a_label_at_min_relevance_is_relevant():
    assert map_score([2, 1, 0], [1, 2, 3], qid=[1, 1, 1], min_relevance=2) == 1 / 3


@pytest.mark.parametrize("value", [0, 1])
def test_bounds_of_probabilities(value):
    with pytest.raises(ValueError, match="'p' parameter"):
        rbp_score(Y, S, qid=Q, p=value)
    if value == 1:
        assert np.isfinite(pfound_score(Y, S, qid=Q, decay=value, max_grade=4))
    else:
        with pytest.raises(ValueError, match="'decay' parameter"):
            pfound_score(Y, S, qid=Q, decay=value, max_grade=4)


def test_the_weight_of_one_query_differs():
    rows = (np.array([1, 0, 1]), np.array([1.0, 2, 3]), np.array([1, 2, 3]))
    batches = [(*rows, np.array(weight)) for weight in ([1.0, 1, 1], [1.0, 2, 1])]
    with pytest.raises(ValueError, match="weight"):
        evaluate_table(batches, metrics="map")


def test_number_of_queries_reaches_the_maximum():
    assert power_of(1.0, difference=1e-7, power=0.8) == 784886050932622
    with pytest.raises(ValueError, match=r"More than 1e\+15 queries"):
        power_of(1.0, difference=8e-8, power=0.8)


@pytest.mark.parametrize("metric", ["map", "ranking_loss"])
def test_an_equal_round_does_not_improve(metric):
    """All rounds rank perfectly, so the first is the best."""
    X, qid = np.tile([[0.0], [1.0]], (20, 1)), np.repeat(np.arange(20), 2)
    model = GradientBoostingRegressor(n_estimators=4, random_state=0)
    ranker = QueryRanker(model, eval_fraction=0.5, eval_metric=metric, random_state=0, on_misuse="ignore").fit(
        X, X[:, 0], qid=qid
    )
    assert len({*ranker.eval_curve_}) == 1 < len(ranker.eval_curve_)
    assert ranker.best_iteration_ == 0
