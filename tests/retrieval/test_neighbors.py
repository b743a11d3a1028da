"""Neighbours that an index found: against exact search, and lists of which the rest was not retrieved."""

import numpy as np
import pytest
from registry import METRICS, each, labels_of, policies, tie_policy
from sklearn.neighbors import NearestNeighbors

from sklearn_rank import evaluate
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

N_QUERIES, N_ITEMS = 9, 400


def test_neighbors_of_exact_search(rng):
    queries, items = rng.normal(size=(N_QUERIES, 8)), rng.normal(size=(N_ITEMS, 8))
    labels = rng.integers(0, 3, N_QUERIES), rng.integers(0, 3, N_ITEMS)
    found = NearestNeighbors(n_neighbors=30).fit(items).kneighbors(queries)
    names = ["ndcg@10", "map@30", "recall@20", "p@5", "fallout@30"]
    expected = evaluate_retrieval(queries, items, *labels, distance="euclidean", metrics=names).mean()
    for distances in (found[0], None):
        assert score_neighbors(distances, found[1], *labels, metrics=names).mean() == pytest.approx(expected, abs=1e-12)
    similar = score_neighbors(-found[0], found[1], *labels, metrics=names, higher_is_nearer=True)
    assert similar.mean() == pytest.approx(expected, abs=1e-12)


@each([m for m in METRICS if not m.pointwise])
def test_neighbors_are_lists_of_few_documents(metric, rng):
    """What is not in a list was not retrieved, as with -inf."""
    high = min(int(labels_of(metric)[-1]), 3)
    score = np.full((N_QUERIES, 40), -np.inf)
    indices = np.array([rng.permutation(40)[:6] for _ in range(N_QUERIES)])
    indices[2, 3:] = -1
    indices[4] = -1
    distances = np.where(indices < 0, np.inf, rng.integers(0, 3, indices.shape))
    for q, row in enumerate(indices):
        score[q, row[row >= 0]] = -distances[q, row >= 0]
    grade = rng.integers(0, high + 1, score.shape) * (rng.random(score.shape) < 0.4) * 1.0
    names = [metric.name, *(f"{metric.name}@{k}" for k in (1, 4, 30) if metric.has_cutoff)]
    for ties in ["average"] * (not tie_policy(metric)) + ["worst"] * ("worst" in policies(metric)):
        options = {"ties": ties} if "ties" in metric.defaults else {}
        for name in names:
            expected = evaluate(grade, score, metrics=name, **options)
            found = score_neighbors(distances, indices, relevance=grade, metrics=name, **options)
            np.testing.assert_allclose(found.per_query[name], expected.per_query[name], rtol=1e-12, atol=1e-12)


def test_recall_of_an_index():
    true = [[1, 2, 3], [4, 5, 6]]
    found = [[2, 0, 1], [-1, -1, -1]]
    result = score_neighbors(None, found, true_indices=true, metrics=["recall@3", "recall@1"])
    assert result.per_query["recall@3"].tolist() == [2 / 3, 0.0]
    assert result.per_query["recall@1"].tolist() == [1 / 3, 0.0]
    nan = [[2, 0, 1], [np.nan] * 3]
    assert score_neighbors(None, nan, true_indices=true, metrics="recall@3").mean() == {"recall@3": 1 / 3}


def test_neighbors_without_self(rng):
    items, labels = rng.normal(size=(60, 4)), rng.integers(0, 3, 60)
    distances, indices = NearestNeighbors(n_neighbors=9).fit(items).kneighbors(items)
    names = ["map@8", "recall@5", "ndcg@3"]
    expected = evaluate_retrieval(items, query_labels=labels, distance="euclidean", metrics=names).mean()
    found = score_neighbors(distances, indices, labels, labels, exclude_self=True, metrics=names).mean()
    assert found == pytest.approx(expected, abs=1e-12)
    score, others = np.full((60, 60), -np.inf), ~np.eye(60, dtype=bool)
    np.put_along_axis(score, indices, -distances, axis=1)
    dense = [x[others].reshape(60, -1) for x in (np.equal.outer(labels, labels) * 1, score)]
    found = score_neighbors(distances, indices, labels, labels, exclude_self=True, metrics="auc").mean()
    assert found == pytest.approx(evaluate(*dense, metrics="auc").mean(), abs=1e-12)
