"""What LightGBM, XGBoost and CatBoost get wrong, with the numbers, and what is right.

A test accepts the wrong number or the right one, by which time the library has mended it.
"""

from math import log2

import numpy as np
import pytest
import sklearn.metrics
from numpy.testing import assert_allclose

from sklearn_rank import evaluate
from sklearn_rank.metrics import (
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    query_auc_score,
    recall_at_k_score,
)


def is_wrong_or_mended(value, wrong, right):
    """Whether a peer still gives its wrong number, or by now ours."""
    return value in (pytest.approx(wrong, abs=1e-6), pytest.approx(right, abs=1e-6))


def xgboost_value(name, label, score, size, weight=None):
    xgboost = pytest.importorskip("xgboost")
    data = xgboost.DMatrix(np.zeros((len(label), 1)), label=label, base_margin=score)
    data.set_group(size)
    if weight is not None:
        data.set_weight(weight)
    booster = xgboost.Booster({"objective": "rank:ndcg", "eval_metric": name}, [data])
    return float(booster.eval(data).rpartition(":")[2])


def lightgbm_value(name, label, score, size, weight=None):
    lightgbm = pytest.importorskip("lightgbm")
    params = {"objective": "lambdarank", "metric": name, "eval_at": [3], "verbose": -1}
    weight = None if weight is None else np.repeat(weight, size)
    keywords = {"group": size, "init_score": score, "weight": weight, "params": {"verbose": -1}}
    data = lightgbm.Dataset(np.zeros((len(label), 1)), label=label, **keywords)
    ((_, _, value, _),) = lightgbm.Booster(params, data).eval_train()
    return value


def catboost_value(name, label, score, qid, weight=None):
    utils = pytest.importorskip("catboost.utils")
    (value,) = utils.eval_metric(
        np.array(label, float), np.array(score, float), name, group_id=qid, group_weight=weight
    )
    return value


# Three queries: ideal; none relevant, which these libraries count as 1; relevant at rank 2.
LABEL, SCORE, QID, SIZE = np.array([1, 0, 0, 0, 1, 0]), np.array([2, 1, 2, 1, 1, 2.0]), [0, 0, 1, 1, 2, 2], [2, 2, 2]
NDCG, AP = np.array([1, 1, 1 / log2(3)]), np.array([1, 1, 1 / 2])


@pytest.mark.parametrize(
    ("weight", "wrong"), [([1, 1, 1], 0.876977), ([1, 5, 1], 0.375847), ([0.1, 0.1, 0.1], 3.876977)]
)
def test_weighted_ndcg_with_a_query_without_relevant_documents(weight, wrong):
    """LightGBM and XGBoost add 1, not its weight, for the undefined query. Their MAP is right."""
    weight = np.array(weight, float)
    ndcg, ap = np.average([NDCG, AP], axis=1, weights=weight)
    keywords = {"qid": QID, "sample_weight": np.repeat(weight, SIZE), "replace_undefined_by": 1}
    assert_allclose([ndcg_score(LABEL, SCORE, **keywords), map_score(LABEL, SCORE, **keywords)], [ndcg, ap])
    assert_allclose((NDCG[0] * weight[0] + 1 + NDCG[2] * weight[2]) / weight.sum(), wrong, atol=1e-6)
    assert is_wrong_or_mended(lightgbm_value("ndcg", LABEL, SCORE, SIZE, weight), wrong, ndcg)
    assert_allclose(lightgbm_value("map", LABEL, SCORE, SIZE, weight), ap, rtol=1e-6)
    assert_allclose(xgboost_value("map@3", LABEL, SCORE, SIZE, weight), ap, rtol=1e-6)
    if wrong < 1:  # it refuses to print more
        assert is_wrong_or_mended(xgboost_value("ndcg@3", LABEL, SCORE, SIZE, weight), wrong, ndcg)


@pytest.mark.parametrize(("name", "ours"), [("ndcg", "ndcg"), ("map", "map(denominator=min_k_relevant)")])
def test_xgboost_cuts_at_32_without_a_cutoff(name, ours):
    """A metric without a cutoff reads the whole list here."""
    rng = np.random.default_rng(0)
    label, score, qid = rng.integers(0, 2, size=100), rng.permutation(100.0 * np.arange(100)), [0] * 100
    at_32, whole = (evaluate(label, score, qid=qid, metrics=of).mean()[of] for of in (f"{ours}@32", ours))
    assert whole > at_32 + 0.1
    assert is_wrong_or_mended(xgboost_value(name, label, score, [100]), at_32, whole)


@pytest.mark.parametrize(
    ("label", "score", "wrong", "right"),
    [
        ([1, 0, 1, 0], [4, 3, 2, 1], 5 / 6, 3 / 4),
        ([0, 1, 0, 1], [1, 2, 3, 4], 1 / 2, 3 / 4),  # the same rows, reversed
        ([1, 0, 1, 0, 0], [5, 4, 3, 2, 1], 9 / 10, 5 / 6),
        ([0, 1, 1], [1, 2, 3], 2 / 3, 1),  # all in order
    ],
)
def test_xgboost_ranking_auc_counts_equal_labels_by_the_order_of_rows(label, score, wrong, right):
    assert_allclose(query_auc_score(label, score, qid=[0] * len(label)), right)
    assert is_wrong_or_mended(xgboost_value("auc", label, np.array(score, float), [len(label)]), wrong, right)


def test_lightgbm_auc_is_pooled_over_queries():
    """Both queries are in order; scores of one are not meant to be compared with those of the other."""
    label, score = [1, 0, 0, 1], np.array([0.9, 0.8, 0.1, 0.2])
    assert query_auc_score(label, score, qid=[0, 0, 1, 1]) == 1
    pooled = sklearn.metrics.roc_auc_score(label, score)
    assert_allclose([pooled, query_auc_score(label, score, qid=[0] * 4)], 3 / 4)
    assert is_wrong_or_mended(lightgbm_value("auc", np.array(label), score, [2, 2]), pooled, 1)


@pytest.mark.parametrize(
    ("name", "score", "of_query"),
    [
        ("MAP:top=2", map_score, (1, 1 / 2)),
        ("PrecisionAt:top=1", precision_at_k_score, (1, 0)),
        ("RecallAt:top=1", recall_at_k_score, (1, 0)),
        ("QueryAUC", query_auc_score, (1, 0)),
        ("MRR:top=2", mrr_score, (1, 1 / 2)),
        ("NDCG:top=2", ndcg_score, (1, 1 / log2(3))),
    ],
)
def test_catboost_ignores_the_weight_of_queries(name, score, of_query):
    """But for MRR and NDCG. The relevant document stands at rank 1, weight 1, and at rank 2, weight 3."""
    label, predicted, qid, weight = [1, 0, 0, 1], [2, 1, 2, 1], [0, 0, 1, 1], [1, 1, 3, 3]
    right, cutoff = np.average(of_query, weights=[1, 3]), {"k": int(name[-1])} if "top" in name else {}
    assert_allclose(score(label, predicted, qid=qid, sample_weight=weight, **cutoff), right)
    wrong = right if name[:4] in ("MRR:", "NDCG") else np.mean(of_query)
    assert is_wrong_or_mended(catboost_value(name, label, predicted, qid, weight), wrong, right)


def test_catboost_ndcg_of_negative_labels_is_silent():
    """Labels -1, 2, 0 in this order: (-1 + 2 / log2(3)) / (2 - 1/2). An error here, as in scikit-learn."""
    wrong = (-1 + 2 / log2(3)) / (2 + 0 - 1 / 2)
    assert_allclose(catboost_value("NDCG", [-1, 2, 0], [3, 2, 1], [0, 0, 0]), wrong)
    with pytest.raises(ValueError, match="ndcg_score"):
        ndcg_score([-1, 2, 0], [3, 2, 1], qid=[0, 0, 0])
