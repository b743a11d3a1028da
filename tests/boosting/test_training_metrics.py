"""Shared behavior of metrics in training loops: names, equality, copies, threads."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank.boosting import catboost_metric, lightgbm_metric, xgboost_metric
from sklearn_rank.exceptions import RankingWarning

Y, SCORES, SIZES = np.array([0.0, 1, 1, 0, 2]), np.array([2.0, 1, 2, 1, 3]), np.array([2, 2, 1])
POOL = SimpleNamespace(get_group_id_hash=lambda: np.repeat([7, 3, 9], SIZES), get_label=lambda: Y)
MAKERS = {
    "lightgbm_metric": lightgbm_metric,
    "xgboost_metric": xgboost_metric,
    "catboost_metric": lambda metric, **keywords: catboost_metric(metric, POOL, **keywords),
}


@pytest.fixture(params=MAKERS)
def make(request):
    return MAKERS[request.param]


def test_names_and_copies(make):
    metric = make("map@10")
    assert metric.__name__ == "map@10"
    assert repr(metric) == f"{metric.maker}('map@10')"
    for other in (make("map@10"), pickle.loads(pickle.dumps(metric)), copy.deepcopy(metric), copy.copy(metric)):
        assert other == metric
        assert hash(other) == hash(metric)
        assert repr(other) == repr(metric)
    for other in (make("map"), make({"map@10": "mrr"}), make("map@10", ties="worst"), "map@10"):
        assert other != metric


def test_of_different_libraries():
    assert len({make("map") for make in MAKERS.values()}) == len(MAKERS)
    assert lightgbm_metric("map") != xgboost_metric("map")


def test_empty_queries_are_ignored():
    assert lightgbm_metric("mrr")(Y, SCORES, None, np.array([2, 0, 2, 1, 0])) == lightgbm_metric("mrr")(
        Y, SCORES, None, SIZES
    )


@pytest.mark.parametrize(("undefined", "of_some", "of_none"), [(0.5, 2.5 / 3, 0.5), (np.nan, 1.0, None)])
def test_queries_without_a_defined_value(undefined, of_some, of_none):
    """A round has no value only if all queries are undefined and undefined values are not replaced."""
    metric = lightgbm_metric("mrr", replace_undefined_by=undefined)
    assert metric(np.array([0.0, 0, 1, 0, 2]), SCORES, None, SIZES)[1] == of_some
    if of_none is not None:
        assert metric(0 * Y, SCORES, None, SIZES)[1] == of_none
        return
    with pytest.raises(ValueError, match="mrr is undefined for all 3 queries"):
        metric(0 * Y, SCORES, None, SIZES)


def test_a_copy_keeps_no_rows():
    metric = lightgbm_metric("mrr")
    metric(Y, SCORES, None, SIZES)
    assert len(pickle.dumps(metric)) < 3000


@pytest.mark.parametrize(
    ("metric", "keywords", "error"),
    [
        ("mpa", {}, ValueError),
        ("map@0", {}, ValueError),
        ("map", {"tie": 1}, TypeError),
        ("ndcg(average=none)", {}, ValueError),
        ([], {}, ValueError),
    ],
)
def test_bad_metrics(make, metric, keywords, error):
    with pytest.raises(error):
        make(metric, **keywords)


def test_threads():
    with pytest.raises(ValueError, match="n_jobs"):
        lightgbm_metric("map", n_jobs=0)
    rng = np.random.default_rng(0)
    y, scores, sizes = rng.integers(0, 3, 300_000).astype(float), rng.random(300_000), np.full(30_000, 10)
    one = lightgbm_metric("ndcg@10")(y, scores, None, sizes)
    assert lightgbm_metric("ndcg@10", n_jobs=2)(y, scores, None, sizes) == one
    assert one[1] == evaluate(y, scores, qid=np.repeat(np.arange(30_000), 10), metrics="ndcg@10").mean()["ndcg@10"]


def test_a_metric_in_several_threads():
    metric = lightgbm_metric("mrr")
    labels = [np.roll(Y, i) for i in range(5)]
    expected = [lightgbm_metric("mrr")(y, SCORES, None, SIZES) for y in labels]
    with ThreadPoolExecutor(4) as threads:
        found = [*threads.map(lambda i: metric(labels[i % 5], SCORES, None, SIZES), range(200))]
    assert found == expected * 40
    assert len(set(expected)) > 1


def test_all_documents_relevant():
    """One warning for each data set, not for each round."""
    metric, y, sizes = lightgbm_metric("map"), np.tile([1.0, 2, 3], 20), np.full(20, 3)
    with pytest.warns(RankingWarning, match="every document is relevant"):
        metric(y, -y, None, sizes)
    metric(y, -y, None, sizes)


def test_labels_changed_in_place_are_seen():
    """Also for labels whose type is kept: the ideal order follows new labels, not the old ones."""
    metric, scores, sizes = lightgbm_metric("ndcg(gain=linear)@1"), np.array([2.0, 1, 2, 1]), np.array([2, 2])
    for dtype in (np.float64, np.float32):
        label = np.array([1, 0, 1, 0], dtype=dtype)
        assert metric(label, scores, None, sizes)[1] == 1.0
        label[:] = [1, 2, 1, 1]
        assert metric(label, scores, None, sizes)[1] == 0.75
