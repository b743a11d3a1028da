"""Conventions of libraries that are not installed, against their formulas in plain Python; scikit-learn's is run.

Sources of the formulas: keras_rs/src/metrics of keras-rs; recbole/evaluator/metrics.py and collector.py of RecBole;
replay/metrics of RePlay; lenskit/metrics/ranking, _base.py and bulk.py of LensKit.
"""

from math import log2

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from sklearn_rank import evaluate
from sklearn_rank.metrics import precision_at_k_score, recall_at_k_score

QUERIES = {  # labels in ranked order, and the labels of unretrieved relevant documents
    "a": ([1, 0, 1, 1, 0, 0], [1]),
    "b": ([0, 1], []),
    "c": ([0, 0, 0, 0, 1], [1, 1]),
    "d": ([0, 0, 0], []),
}
KS = [1, 2, 3, 5, 9]


def rows(queries):
    y_true = [y for ranked, missing in queries.values() for y in [*ranked, *missing]]
    y_score = [s for ranked, m in queries.values() for s in [*range(len(ranked), 0, -1), *[-np.inf] * len(m)]]
    return {
        "y_true": y_true,
        "y_score": y_score,
        "qid": np.repeat([*queries], [len(a) + len(b) for a, b in queries.values()]),
    }


def average_precision(ranked, k, divisor):
    return sum(sum(ranked[: i + 1]) / (i + 1) for i in range(len(ranked[:k])) if ranked[i]) / divisor if divisor else 0


def ndcg(ranked, n_relevant, k, weight):
    ideal = sum(weight(i) for i in range(1, min(k, n_relevant) + 1))
    return sum(weight(i) for i, y in enumerate(ranked[:k], start=1) if y) / ideal if ideal else 0


def first(ranked, k):
    return next((1 / i for i, y in enumerate(ranked[:k], start=1) if y), 0)


def over(hits, divisor):
    return hits / divisor if divisor else 0


def log_weight(rank):
    return 1 / log2(1 + rank)


def recbole(y, n_relevant, k):
    return {
        "hit": float(any(y[:k])), "mrr": first(y, k), "map": average_precision(y, k, min(k, n_relevant)),
        "recall": over(sum(y[:k]), n_relevant), "precision": sum(y[:k]) / k, "ndcg": ndcg(y, n_relevant, k, log_weight),
    }  # fmt: skip


def lenskit(y, n_relevant, k):
    """NaN without a test item, for which its list_summary counts 0."""
    return {
        "hit": float(any(y[:k])), "mrr": first(y, k), "recall": over(sum(y[:k]), min(k, n_relevant)),
        "precision": sum(y[:k]) / len(y[:k]), "ndcg": ndcg(y, n_relevant, k, lambda rank: 1 / log2(max(rank, 2))),
        "rbp": 0.15 * sum(0.85**i for i, relevant in enumerate(y[:k]) if relevant),
        "dcg": sum(1 / log2(max(i, 2)) for i, relevant in enumerate(y[:k], start=1) if relevant),
    }  # fmt: skip


def keras_rs(y, n_relevant, k):
    """Its lists contain all documents, so unretrieved relevant ones come last; it has no recall above them."""
    return {
        "mrr": first(y, k), "map": average_precision(y, k, n_relevant), "recall": over(sum(y[:k]), n_relevant),
        "precision": sum(y[:k]) / min(k, len(y)), "ndcg": ndcg(y, n_relevant, k, log_weight),
    }  # fmt: skip


FORMULAS = {"recbole": recbole, "replay": recbole, "lenskit": lenskit, "keras_rs": keras_rs}


@pytest.mark.parametrize("k", KS)
@pytest.mark.parametrize("convention", FORMULAS)
def test_formulas_of_recommenders(convention, k):
    of_query = [FORMULAS[convention](ranked, sum(ranked) + len(missing), k) for ranked, missing in QUERIES.values()]
    names = [f"{name}@{k}" for name in of_query[0]]
    found = evaluate(**rows(QUERIES), metrics=names, convention=convention)
    for name in of_query[0]:
        assert found.per_query[f"{name}@{k}"] == pytest.approx([values[name] for values in of_query]), name
        assert found.mean()[f"{name}@{k}"] == pytest.approx(np.mean([values[name] for values in of_query]))


def test_average_precision_of_lenskit_divides_by_the_list_size():
    """The denominator is min(R, k); in LensKit also at most the length of the list."""
    found = evaluate(**rows({"a": ([1, 0, 1, 1], [1])}), metrics=["map@1", "map@3", "map"], convention="lenskit").mean()
    assert [*found.values()] == pytest.approx([1, (1 + 2 / 3) / 3, (1 + 2 / 3 + 3 / 4) / 4])


def test_gain_of_keras_rs_is_exponential():
    found = evaluate([1, 2, 0], [3, 2, 1], qid=[0] * 3, metrics="ndcg", convention="keras_rs").mean()["ndcg"]
    assert found == pytest.approx((1 + 3 / log2(3)) / (3 + 1 / log2(3)))


def test_torchmetrics_empty_target_actions():
    """empty_target_action: "neg" is 0, "pos" 1, "skip" drops the query; for precision as well as recall."""
    data = rows({"a": ([1, 0], []), "b": ([0, 0], [])})
    names = ["precision@1", "recall@1", "map@1", "mrr@1", "hit@1", "rprec", "ndcg@1"]
    for value, mean in [(0, 0.5), (1, 1.0), (np.nan, 1.0)]:
        found = evaluate(**data, metrics=names, convention="torchmetrics", replace_undefined_by=value)
        assert [*found.mean().values()] == [mean] * len(names)
        assert {*found.n_undefined.values()} == {1}
    assert evaluate(**data, metrics=names, convention="torchmetrics").mean()["precision@1"] == 0.5


def test_precision_of_a_query_without_a_relevant_document():
    data = rows(QUERIES)
    assert precision_at_k_score(**data, k=2) == (1 / 2 + 1 / 2 + 0 + 0) / 4
    undefined = {"no_relevant": "undefined"}
    for k in (2, [2], None):
        given = precision_at_k_score(**data, k=k, average=None)
        assert (precision_at_k_score(**data, k=k, average=None, **undefined) == given).all()
    assert precision_at_k_score(**data, k=2, replace_undefined_by=np.nan, **undefined) == 1 / 3
    assert precision_at_k_score(**data, k=2, average="micro", **undefined) == 2 / 6
    assert precision_at_k_score(**data, k=2, replace_undefined_by=np.nan) == 1 / 4
    assert precision_at_k_score(**data, k=2, min_relevance=2, replace_undefined_by=-1, **undefined) == -1


def test_capped_recall():
    data = rows(QUERIES)
    capped = recall_at_k_score(**data, k=[1, 2, 9], denominator="min_k_relevant", average=None)
    assert capped.tolist() == [[1, 1 / 2, 3 / 4], [0, 1, 1], [0, 0, 1 / 3], [0, 0, 0]]
    assert recall_at_k_score(**data, denominator="min_k_relevant") == recall_at_k_score(**data)
    assert recall_at_k_score(**data, k=2, denominator="min_k_relevant", average="micro") == 2 / 5
    assert evaluate(**data, metrics="capped_recall@2").mean() == {"capped_recall@2": capped[:, 1].mean()}


def test_top_k_accuracy_of_scikit_learn_is_the_hit_rate():
    """One relevant document per query; among ties it takes the last document."""
    rng = np.random.default_rng(2)
    label, y_score = rng.integers(0, 5, 80), rng.integers(0, 3, (80, 5)) / 2
    columns = np.broadcast_to(np.arange(5), y_score.shape)
    for k in (1, 2, 3):
        found = evaluate(np.eye(5)[label], y_score, metrics=f"hit@{k}", ties="stable", tie_break=columns).mean()
        assert found[f"hit@{k}"] == pytest.approx(
            sklearn_metrics.top_k_accuracy_score(label, y_score, k=k, labels=range(5))
        )
