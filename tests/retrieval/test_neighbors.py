"""Neighbors found by an index: against exact search, and as truncated lists."""

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
    """Items that are not in a list are unretrieved, as with -inf."""
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


# --- true neighbors by distance -----------------------------------------------------------------------------


@pytest.mark.parametrize("higher", [False, True])
@pytest.mark.parametrize("n_found", [5, 10, 14])
def test_recall_of_an_index_counts_neighbors_within_the_true_distance(n_found, higher):
    """Like faiss and ann-benchmarks: hits in the first ten are within the distance of the tenth true neighbor."""
    rng = np.random.default_rng(n_found)
    items, queries = rng.integers(0, 3, (300, 5)), rng.integers(0, 3, (40, 5))
    all_distances = ((queries[:, None] - items) ** 2).sum(axis=2).astype(float)
    true = np.sort(all_distances, axis=1)[:, :10]
    seen = rng.random(300) < 0.7
    order = np.argsort(np.where(seen, all_distances, np.inf), axis=1, kind="stable")[:, :n_found]
    distances = np.take_along_axis(all_distances, order, axis=1)
    expected = (distances[:, :10] <= true[:, -1:]).sum(axis=1) / 10
    assert 0 < expected.mean() < 1
    sign = -1 if higher else 1
    result = score_neighbors(
        sign * distances, order, true_distances=sign * true, metrics=["recall@10", "recall"], higher_is_nearer=higher
    )
    assert result.per_query["recall@10"].tolist() == pytest.approx(expected.tolist(), abs=1e-12)


def test_neighbors_that_were_not_found_and_a_tolerance():
    arguments = {"true_distances": [[0.1, 0.2, 0.2]], "metrics": "recall@3", "n_database": 9}
    a_third = pytest.approx({"recall@3": 1 / 3})
    assert score_neighbors([[0.1, np.inf, np.inf]], [[7, -1, -1]], **arguments).mean() == a_third
    near = [[0.1, 0.2001, 0.2001]], [[7, 8, 0]]
    assert score_neighbors(*near, **arguments).mean() == a_third
    assert score_neighbors(*near, **arguments, tolerance=1e-3).mean() == {"recall@3": 1.0}
    # Lists need not be in the order of the distances, and a tolerance may accept more items than there are true ones.
    for tolerance in (0, 0.5):
        given = {"true_distances": [[0.1, 0.2]], "metrics": "recall@3", "tolerance": tolerance}
        assert score_neighbors([[0.3, 0.1, 0.2]], [[7, 2, 5]], **given).mean() == {"recall@3": 1.0}
    # Either of two equally near items is a hit.
    found = score_neighbors([[0.2, 0.2]], [[7, 8]], true_distances=[[0.2]], metrics=["recall@1", "recall"])
    assert found.mean() == {"recall@1": 1.0, "recall": 1.0}


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"true_distances": [[0.1]], "true_indices": [[1]]}, TypeError, "Got more than one"),
        ({"true_distances": [[0.1]], "relevance": [[1, 0]]}, TypeError, "Got more than one"),
        ({"true_distances": [[0.1], [0.2]]}, ValueError, "true_distances"),
        ({"true_distances": [[np.nan]]}, ValueError, r"Got shape \(1, 1\) with NaN or inf"),
        ({"true_distances": [[0.1]], "tolerance": -1}, ValueError, "'tolerance' parameter"),
    ],
)
def test_true_distances_that_cannot_be_meant(keywords, error, message):
    with pytest.raises(error, match=message):
        score_neighbors([[0.1, 0.2]], [[0, 1]], metrics="recall@1", **keywords)
    with pytest.raises(TypeError, match="true_distances needs distances to compare with. Got distances=None"):
        score_neighbors(None, [[0, 1]], true_distances=[[0.1]], metrics="recall@1")
    with pytest.raises(ValueError, match="Got 1 twice in row 0 of indices"):
        score_neighbors([[0.1, 0.2]], [[1, 1]], true_distances=[[0.1]], metrics="recall@1")
