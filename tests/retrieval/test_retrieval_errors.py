"""Errors of retrieval name the argument and come before any work."""

import numpy as np
import pytest
from scipy import sparse

from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

Q, D, QL, DL = np.eye(2), np.eye(3, 2), [0, 1], [0, 1, 1]
TWICE = sparse.csr_array((np.ones(3), [0, 0, 1], [0, 2, 3]), shape=(2, 2))
"""Indicators of which one is there twice."""


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        ((Q, np.eye(3), QL, DL), {}, ValueError, r"must have as many columns. Got 2 and 3"),
        ((Q, D, QL, [0, 1]), {}, ValueError, r"an entry, or a row, .* \(3\). Got shape \(2,\)"),
        ((Q, D, [0], DL), {}, ValueError, r"query_labels must have an entry"),
        ((Q, D, QL, [[0, 1]] * 3), {}, ValueError, r"must both be one-dimensional, or indicator matrices"),
        ((Q, D, [[0, 1]] * 2, [[0, 1, 1]] * 3), {}, ValueError, r"as many columns. Got shapes \(2, 2\) and \(3, 3\)"),
        ((Q, D, [[0, 2]] * 2, [[0, 1]] * 3), {}, ValueError, r"query_labels .* must be indicators, .* Got 2"),
        ((Q, D, [[0, 1]] * 2, sparse.csr_array([[0, 5]] * 3)), {}, ValueError, r"database_labels .* Got 5"),
        ((Q, D, [0, None], DL), {}, ValueError, r"query_labels must not be missing. Got None"),
        ((Q, D, [{1}, {2}], [{1}, {2}, {1}]), {}, ValueError, r"query_labels must be one label each, .* Got \{1\}"),
        ((Q, D, ["a", "b"], DL), {}, ValueError, r"Labels of queries and of the database must be of one kind"),
        ((Q, D, [b"a", b"b"], ["a", "b", "b"]), {}, ValueError, r"of one kind. Got .*'bytes'"),
        ((Q, D, TWICE, np.eye(3, 2)), {}, ValueError, r"query_labels .* must be indicators, .* Got 2"),
        ((Q, D, np.eye(2), TWICE[[0, 1, 0]]), {}, ValueError, r"database_labels .* must be indicators, .* Got 2"),
        ((Q, D), {}, TypeError, r"relevance. Got neither"),
        ((Q, D, QL), {}, TypeError, r"or relevance. Got query_labels\."),
        ((Q, D, QL, DL), {"relevance": np.ones((2, 3))}, TypeError, r"Got .* database_labels and relevance"),
        ((Q, D), {"relevance": np.ones((3, 2))}, ValueError, r"shape \(2, 3\), .* Got \(3, 2\)"),
        ((Q, D), {"relevance": lambda rows: np.ones((1, 3))}, ValueError, r"rows of shape \(2, 3\). Got \(1, 3\)"),
        ((Q, D), {"relevance": np.full((2, 3), np.inf)}, ValueError, r"must be finite. Got an infinite entry in row 0"),
        ((Q, D), {"relevance": np.full((2, 3), "a")}, TypeError, r"relevance must hold real numbers"),
        ((Q, D), {"relevance": [1, 0]}, ValueError, r"relevance must have two dimensions"),
        ((Q * 3, D, QL, DL), {"distance": "hamming"}, ValueError, r"and float64 with values 0, 1, 3"),
        ((Q, D * 2 - 1, QL, DL), {"distance": "hamming"}, ValueError, r"Codes for distance='hamming' must all be"),
        ((Q.astype(np.uint8) + 4, D * 3, QL, DL), {"distance": "hamming"}, ValueError, r"Got dtypes uint8 and"),
        ((sparse.csr_array(Q), D, QL, DL), {"distance": "hamming"}, TypeError, r"Got a sparse matrix"),
        ((Q * np.nan, D, QL, DL), {}, ValueError, r"query_features contains NaN"),
        ((Q, D, QL, DL), {"distance": "cosinus"}, ValueError, r"cosinus"),
        ((Q, D, QL, DL), {"distance": "precomputed"}, ValueError, r"must not be 'precomputed'"),
        ((Q, D, QL, DL), {"distance_params": {"p": 2}}, ValueError, r"distance='cosine' has no parameters"),
        ((Q, D, QL, DL), {"distance": lambda a, b: np.nan}, ValueError, r"must be finite. .* to query 0"),
        ((Q, D, QL, DL), {"exclude_self": True}, ValueError, r"is query i.* Got 2 queries and 3"),
        ((Q[:1], None, [0]), {}, ValueError, r"Queries search each other, so there must be at least two. Got one"),
        ((Q, None, QL, DL), {}, TypeError, r"database_labels must be None"),
        ((Q, D, QL, DL), {"query_ids": [1]}, ValueError, r"query_ids must have one entry per query \(2\).* Got \[1\]"),
        ((Q, D, QL, DL), {"query_ids": [1, None]}, ValueError, r"without missing ones. Got \[1, None\]"),
        ((Q, D, QL, DL), {"query_ids": [1, 1]}, ValueError, r"must name each query once. Got 1 ids of 2 queries"),
        ((Q, D, QL, DL), {"sample_weight": [1]}, ValueError, r"one entry per query \(2\)"),
        ((Q, D, QL, DL), {"n_jobs": 0}, ValueError, r"'n_jobs' parameter"),
        ((Q, D, QL, DL), {"working_memory": 0}, ValueError, r"a number of MiB above 0, or None. Got 0"),
        ((Q, D, QL, DL), {"metrics": "nothing"}, ValueError, r"A metric must be one of"),
        ((Q, D, QL, DL), {"k": 3}, TypeError, r"'ndcg@10'"),
    ],
)  # fmt: skip
def test_retrieval_errors(arguments, options, error, message):
    with pytest.raises(error, match=message):
        evaluate_retrieval(*arguments, **options)


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize(
    ("grade", "metric", "options", "message"),
    [
        (9, "err", {}, r"^grades of err_score must not be above max_grade=4. Got 9, the first in query 1"),
        (-2, "ndcg", {}, r"^grades of ndcg_score must not be below 0. Got -2, the first in query 1"),
        (np.nan, "map", {}, r"^grades of map_score must not contain NaN .* Got 1 NaN, the first in query 1"),
        (3, "ndcg", {"gain": [0, 1]}, r"an entry for every value in grades. Got 3 in query 1"),
        (2000, "ndcg", {}, r"so grades must not be above 1000; .* Got 2000"),
    ],
)
def test_errors_about_grades_name_the_query(grade, metric, options, message, deep):
    """Also if only items far down the list have them; for a function, with the number of the query."""
    queries, items = np.zeros((3, 4), dtype=int), np.repeat([[0, 0, 0, 0], [1, 1, 1, 1]], 200, axis=0)
    grades = np.zeros((3, 400))
    grades[1, 399] = grade
    for relevance in (grades, lambda rows: grades[rows]):
        options = options | {"relevance": relevance, "metrics": metric if deep else f"{metric}@5"}
        with pytest.raises(ValueError, match=message):
            evaluate_retrieval(queries, items, distance="hamming", working_memory=0.01, **options)
        with pytest.raises(ValueError, match=message):
            score_neighbors(None, [[0, 1]] * 3, n_database=400, **options)


def test_a_relevance_function_with_invalid_results():
    """Called for one query at a time, of which the second is invalid."""
    grades = np.zeros((3, 40))
    grades[1, 7] = np.inf
    with pytest.raises(ValueError, match=r"What relevance returns must be finite. Got an infinite entry in row 1\."):
        evaluate_retrieval(
            np.eye(3), np.ones((40, 3)), relevance=lambda rows: grades[rows], metrics="map", working_memory=0.001
        )


def test_labels_of_pandas_that_are_missing():
    pd = pytest.importorskip("pandas")
    with pytest.raises(ValueError, match=r"query_labels must not be missing. Got NA"):
        evaluate_retrieval(Q, D, pd.Series(["a", None], dtype="string"), ["a", "b", "b"])


def test_pointwise_metrics_need_predictions_of_all_items():
    with pytest.raises(ValueError, match=r"so every nearness must be finite. Got -inf in query 0"):
        score_neighbors(None, [[0]], relevance=[[1, 0]], metrics="mse")


@pytest.mark.parametrize(
    ("arguments", "options", "error", "message"),
    [
        (([[0.1]], [[0, 1]], [0], DL), {}, ValueError, r"must have the same shape. Got \(1, 1\) and \(1, 2\)"),
        ((None, [[0, 3]], [0], DL), {}, ValueError, r"from 0 to 2, or -1 for none. Got 3 in row 0"),
        ((None, [[0, -2]], [0], DL), {}, ValueError, r"or -1 for none. Got -2"),
        ((None, [[0, 1], [2, 2]], QL, DL), {}, ValueError, r"in a list once. Got 2 twice in row 1 of indices"),
        ((None, [[0.5]], [0], DL), {}, TypeError, r"indices must be whole numbers. Got 0.5"),
        ((None, [["a"]], [0], DL), {}, TypeError, r"indices must be whole numbers. Got dtype"),
        ((None, [0, 1], [0], DL), {}, ValueError, r"indices must have two dimensions"),
        ((None, np.empty((0, 3), int), [], DL), {}, ValueError, r"at least one row"),
        (([["a"]], [[0]], [0], DL), {}, TypeError, r"distances must hold real numbers. Got list of dtype <U1"),
        (([[np.nan]], [[0]], [0], DL), {}, ValueError, r"must be finite where a neighbor was found. .* row 0"),
        (([[1], [np.inf]], [[-1], [0]], QL, DL), {}, ValueError, r"must be finite where .* not in row 1"),
        ((None, [[0]], [0], DL), {"true_indices": [[1]]}, TypeError, r"Pass only one of true_indices, true_distances"),
        ((None, [[0]]), {"true_indices": [[1], [2]]}, ValueError, r"must have a row for each query \(1\)"),
        ((None, [[0]]), {}, TypeError, r"query_labels and database_labels, or relevance"),
        ((None, [[0]], [0], DL), {"n_database": 2.5}, ValueError, r"n_database must be an int >= 1. Got 2.5"),
        ((None, [[0]], [0], DL), {"n_database": 2}, ValueError, r"database_labels must have an entry"),
        ((None, [[0]]), {"relevance": lambda rows: np.ones((1, 3))}, ValueError, r"shape \(1, 1\). Got \(1, 3\)"),
        ((None, [[0]], [0], DL), {"exclude_self": True}, ValueError, r"their numbers must be equal"),
    ],
)  # fmt: skip
def test_errors_about_neighbors(arguments, options, error, message):
    with pytest.raises(error, match=message):
        score_neighbors(*arguments, **options)
