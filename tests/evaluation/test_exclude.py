"""exclude= of matrices drops documents of a query, dense or sparse."""

import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from registry import REGISTRY
from scipy import sparse

from sklearn_rank import compare_systems, evaluate, evaluate_run
from sklearn_rank.exceptions import RankingWarning

N_QUERIES, N_DOCUMENTS = 40, 30
RNG = np.random.default_rng(0)
LABELS = (RNG.random((N_QUERIES, N_DOCUMENTS)) < 0.2) * RNG.integers(1, 4, (N_QUERIES, N_DOCUMENTS)).astype(float)
SCORES = RNG.integers(1, 10, (N_QUERIES, N_DOCUMENTS)) / 2
SEEN = RNG.random((N_QUERIES, N_DOCUMENTS)) < 0.3
LISTED = RNG.random((N_QUERIES, N_DOCUMENTS)) < 0.5
OTHER = {"iprec", "infap"}
"""Metrics that take no tied documents."""

NAMES = [
    f"{name}@5" if metric.has_cutoff else name
    for name, metric in REGISTRY.items()
    if metric.is_built_in and not (metric.subtopics or metric.pointwise or metric.reads_scores or name in OTHER)
] + ["ndcg", "map", "snips"]


def expected(scores):
    """Values of rows without the excluded ones."""
    rows = ~SEEN
    qid = np.nonzero(rows)[0]
    return evaluate(LABELS[rows], scores[rows], qid=qid, metrics=NAMES).per_query


def same(found, values):
    for name in NAMES:
        np.testing.assert_allclose(found.per_query[name], values[name], rtol=1e-12, err_msg=name)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix, lambda x: x * 2.0, sparse.coo_array])
def test_values_without_excluded_rows(kind):
    exclude, labels = kind(SEEN), sparse.csr_array(LABELS)
    lists = sparse.csr_array((SCORES[LISTED], np.nonzero(LISTED)), shape=SCORES.shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RankingWarning)
        same(evaluate(LABELS, SCORES, metrics=NAMES, exclude=exclude), expected(SCORES))
        same(evaluate(labels, SCORES, metrics=NAMES, exclude=exclude), expected(SCORES))
        values = expected(np.where(LISTED, SCORES, -np.inf))
        result = evaluate(labels, lists, metrics=NAMES, exclude=exclude)
        same(result, values)
        assert_array_equal(result.n_documents, (~SEEN).sum(axis=1))
        # A single metric reads no deeper than its cutoff.
        for name in ("ndcg@5", "fallout@5", "precision@5"):
            found = evaluate(labels, lists, metrics=name, exclude=exclude).per_query[name]
            np.testing.assert_allclose(found, values[name], rtol=1e-12)


def test_excluded_documents_are_not_read():
    scores, labels = np.where(SEEN, np.nan, SCORES), np.where(SEEN, np.inf, LABELS)
    first = np.zeros_like(SEEN)
    first[:, 0] = True
    found = evaluate(labels, scores, metrics="ndcg@5", exclude=SEEN).mean()
    assert found == evaluate(LABELS, SCORES, metrics="ndcg@5", exclude=SEEN).mean()
    left = evaluate(LABELS, SCORES, metrics="ndcg@5", exclude=first).mean()
    assert left == evaluate(LABELS[:, 1:], SCORES[:, 1:], metrics="ndcg@5").mean()
    both = evaluate(LABELS, SCORES, metrics="ndcg@5", exclude=first, mask=~SEEN).mean()
    assert both == evaluate(LABELS, SCORES, metrics="ndcg@5", exclude=first | SEEN).mean()


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_labels_of_excluded_documents_are_not_checked(kind):
    """Not even if they look like an inverted mask."""
    labels, exclude = kind(np.array([[1.0, 0, 0, 1]])), kind(np.array([[1.0, 1, 0, 0]]))
    result = evaluate(labels, np.array([[4.0, 3, 2, 1]]), metrics=["p@1", "auc"], exclude=exclude)
    assert result.mean() == {"p@1": 0, "auc": 0}


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, pd.DataFrame])
def test_a_relevant_document_must_remain(kind):
    labels, scores = np.array([[1.0, 0, 0, 0], [0, 2, 0, 0]]), np.array([[4.0, 3, 2, 1]] * 2)
    with pytest.raises(ValueError, match="exclude removes every relevant document"):
        evaluate(kind(labels), scores, exclude=kind(labels))
    assert evaluate(kind(0 * labels), scores, metrics="map", exclude=kind(labels)).mean() == {"map": 0}
    run, judged = {"q": ["a", "b"], "r": ["a", "b"]}, {"q": {"a": 1, "b": 0}, "r": {"b": 1}}
    with pytest.raises(ValueError, match="exclude removes every relevant document.* Got 2 judged"):
        evaluate_run(judged, run, exclude={"q": ["a"], "r": ["b"]})
    assert evaluate_run(judged, run, metrics="mrr", exclude={"q": ["a"]}).mean() == {"mrr": 0.25}


def test_rows_of_exclude_have_the_same_labels():
    labels = pd.DataFrame([[1, 0], [0, 1]], index=["q", "r"])
    with pytest.raises(ValueError, match="y_true and exclude must have the same index"):
        evaluate(labels, labels.to_numpy(), exclude=pd.DataFrame([[0, 1], [0, 0]], index=["r", "q"]))


def test_systems_are_compared_with_exclude():
    systems = {"a": SCORES, "b": -SCORES}
    result = compare_systems(LABELS, systems, metrics="ndcg@5", exclude=SEEN).results["a"]
    assert_array_equal(result.per_query["ndcg@5"], expected(SCORES)["ndcg@5"])


def test_frames_must_have_the_same_columns():
    labels, seen = pd.DataFrame(LABELS), pd.DataFrame(SEEN)
    found = evaluate(labels, pd.DataFrame(SCORES), metrics="ndcg@5", exclude=seen)
    assert_array_equal(found.per_query["ndcg@5"], expected(SCORES)["ndcg@5"])
    names = pd.Index([f"q{i}" for i in range(N_QUERIES)], name="qid")
    named = [pd.DataFrame(x, names) for x in (LABELS, SCORES, SEEN)]
    found = evaluate(*named[:2], metrics="ndcg@5", exclude=named[2])
    assert found.qid.tolist() == [*names]
    assert_array_equal(found.per_query["ndcg@5"], expected(SCORES)["ndcg@5"])
    with pytest.raises(ValueError, match="y_true and y_score must have the same index"):
        evaluate(named[0], named[1][::-1], metrics="ndcg@5", exclude=named[2])
    with pytest.raises(ValueError, match="columns"):
        evaluate(labels, pd.DataFrame(SCORES), metrics="ndcg@5", exclude=seen[seen.columns[::-1]])


@pytest.mark.parametrize(
    ("labels", "exclude", "error", "message"),
    [
        (LABELS, SEEN[:5], ValueError, r"shape of y_true.* Got shape \(5, 30\)"),
        (sparse.csr_array(LABELS), SEEN[:5], ValueError, "shape of y_true"),
        (LABELS, SEEN | (np.arange(40) == 7)[:, None], ValueError, "Got 1 of 40 rows without, the first is row 7"),
        (LABELS, {0: [1]}, TypeError, "exclude"),
    ],
)
def test_exclude_rejects_other_matrices(labels, exclude, error, message):
    with pytest.raises(error, match=message):
        evaluate(labels, SCORES, metrics="map", exclude=exclude)


@pytest.mark.parametrize(
    ("mask", "error", "message"),
    [
        (1 - SEEN, TypeError, "mask must be boolean.* mask == 1. Got ndarray of dtype int"),
        (~SEEN[0], ValueError, r"mask must have the shape of y_true, \(40, 30\). Got shape \(30,\)"),
    ],
)
def test_exclude_goes_with_a_mask(mask, error, message):
    for more in ({}, {"exclude": SEEN}):
        with pytest.raises(error, match=message):
            evaluate(LABELS, SCORES, metrics="map", mask=mask, **more)


def test_rows_without_exclude():
    with pytest.raises(ValueError, match="exclude is for matrices"):
        evaluate([1, 0], [2, 1], qid=[0, 0], metrics="map", exclude=[[1, 0]])
