"""Checks of retrieval: similarities and distances, queries in the database, and labels of its scorers."""

import numpy as np
from misuse_cases import seen
from scipy.sparse import csr_array
from sklearn.decomposition import PCA
from sklearn.neighbors import NearestNeighbors
from sklearn.preprocessing import FunctionTransformer

from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer, score_neighbors

N_QUERIES, N_DOCUMENTS = 30, 10


def cosine(a, b):
    return float(a @ b / np.sqrt((a @ a) * (b @ b)))


def test_similarities_as_distances():
    rng = np.random.default_rng(0)
    near = np.sort(rng.random((N_QUERIES, N_DOCUMENTS)), axis=1)
    items = np.tile(np.arange(N_DOCUMENTS), (N_QUERIES, 1))
    given = {"true_indices": items[:, :3], "metrics": "recall@3"}
    name = "similarities as distances"
    assert seen(score_neighbors, near, items, **given) == ([], "")
    assert seen(score_neighbors, near[:, ::-1], items, **given) == ([], name)
    assert seen(score_neighbors, near[:, ::-1], items, **given, higher_is_nearer=True) == ([], "")
    assert seen(score_neighbors, near, items, **given, higher_is_nearer=True) == ([], name)
    assert seen(score_neighbors, near[:1, :2][:, ::-1], items[:1, :2], true_indices=[[0]], metrics="mrr") == ([], "")


def test_a_similarity_as_distance():
    features, labels = np.random.default_rng(0).random((N_QUERIES, 4)), np.arange(N_QUERIES) % 3
    name, given = "a similarity as distance", {"query_labels": labels, "metrics": "map"}
    assert seen(evaluate_retrieval, features, **given, distance=cosine) == ([], name)
    assert seen(evaluate_retrieval, features, **given, distance=lambda a, b: 1 - cosine(a, b)) == ([], "")
    scorer, model = make_retrieval_scorer("map", distance=cosine), PCA(2).fit(features)
    assert seen(scorer, model, features, labels) == ([name], "")


def test_queries_in_the_database():
    rng, name = np.random.default_rng(0), "queries in the database"
    features, labels = rng.random((60, 4)), np.arange(60) % 3
    given = {"metrics": "map"}
    some = rng.permutation(60)[:30]
    for queries, of_queries in ((features, labels), (features.copy(), labels), (features[some], labels[some])):
        assert seen(evaluate_retrieval, queries, features, of_queries, labels, **given) == ([name], "")
    sparse = csr_array(features)
    assert seen(evaluate_retrieval, sparse, sparse.copy(), labels, labels, **given) == ([name], "")
    one = features[:3]
    assert seen(evaluate_retrieval, one, one, labels[:3], labels[:3], **given) == ([name], "")
    assert seen(evaluate_retrieval, one, one.copy(), labels[:3], labels[:3], **given) == ([], "")
    assert seen(evaluate_retrieval, features, features, labels, labels, **given, exclude_self=True) == ([], "")
    grades = np.where(np.eye(60), np.nan, labels[:, None] == labels)
    of_grades = {"relevance": grades, "unjudged": "drop"}
    assert seen(evaluate_retrieval, features, features, **given, **of_grades) == ([], "")
    assert seen(evaluate_retrieval, features, features, **given, relevance=np.nan_to_num(grades)) == ([name], "")
    assert seen(evaluate_retrieval, features[:30], features[30:], labels[:30], labels[30:], **given) == ([], "")
    codes = (features > 0.5).astype(int)
    assert seen(evaluate_retrieval, codes[:30], codes[30:], labels[:30], labels[30:], **given) == ([], "")
    # Class codes repeat by nature, and rows in the order of the classes are equal.
    codes, classes = np.repeat(np.eye(3), 20, axis=0), np.repeat(np.arange(3), 20)
    assert seen(evaluate_retrieval, codes, codes.copy(), classes, classes, **given) == ([], "")
    distances, items = NearestNeighbors(n_neighbors=4).fit(features).kneighbors(features)
    assert seen(score_neighbors, distances, items, labels, labels, **given) == ([name], "")
    assert seen(score_neighbors, distances, items, labels, labels, **given, exclude_self=True) == ([], "")
    assert seen(score_neighbors, distances[:, 1:], items[:, 1:], labels, labels, **given) == ([], "")


def test_labels_of_retrieval_scorers():
    features, scorer = np.random.default_rng(0).random((N_QUERIES, 4)), make_retrieval_scorer("map", distance="cosine")
    model = FunctionTransformer().fit(features)
    assert seen(scorer, model, features, np.zeros(N_QUERIES)) == (["no order matters"], "")
    many = np.zeros((N_QUERIES, 80), dtype=int)
    many[::2, :40] = many[1::2, 40:] = 1
    scorer = make_retrieval_scorer("ndcg@10", distance="cosine")
    assert seen(scorer, model, features, many) == (["large grades"], "")
