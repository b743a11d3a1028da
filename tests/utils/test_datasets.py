"""make_ranking."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank.datasets import make_ranking
from sklearn_rank.metrics import ndcg_score


def test_shapes_and_shares():
    X, y, qid = make_ranking(n_queries=500, n_features=7, n_documents=(3, 9), grades=(0.6, 0.3, 0.1), random_state=0)
    sizes = np.bincount(qid)
    assert X.shape == (len(y), 7)
    assert (sizes.min(), sizes.max()) == (3, 9)
    np.testing.assert_allclose(np.bincount(y) / len(y), [0.6, 0.3, 0.1], atol=0.01)


def test_bounds_of_accepted_arguments():
    y = make_ranking(grades=(0.5, 0, 0.5), random_state=0)[1]
    assert set(y.tolist()) == {0, 2}
    X, y, qid = make_ranking(n_queries=1, n_documents=(1, 1))  # a signal without a deviation
    assert (len(X), y.tolist(), qid.tolist()) == (1, [0], [0])


def test_features_are_normal_around_an_offset_of_each_query():
    """Including features that act through their squares."""
    X = make_ranking(n_queries=20, n_documents=(500, 500), random_state=0)[0].reshape(20, 500, -1)
    offset = X.mean(axis=1)
    assert offset.std(axis=0).min() > 0.5
    assert np.abs(((X - offset[:, None]) ** 3).mean(axis=(0, 1))).max() < 0.2


def test_signal_and_noise():
    X, y, qid = make_ranking(n_queries=300, noise=0.1, random_state=0)
    half = len(y) // 2
    learned = ndcg_score(y[half:], Ridge().fit(X[:half], y[:half]).predict(X[half:]), qid=qid[half:], k=5)
    noisy = make_ranking(n_queries=300, noise=100, random_state=0)
    lost = ndcg_score(noisy[1][half:], Ridge().fit(X[:half], noisy[1][:half]).predict(X[half:]), qid=qid[half:], k=5)
    assert learned > lost + 0.1


def test_same_seed_same_data():
    first, again, other = (make_ranking(n_queries=5, random_state=s) for s in (0, 0, 1))
    for a, b in zip(first, again, strict=True):
        np.testing.assert_array_equal(a, b)
    assert len(first[1]) != len(other[1]) or not np.array_equal(first[0], other[0])


def test_ids_and_order_do_not_change_the_documents():
    X, y, qid = make_ranking(n_queries=10, random_state=0)
    Xs, ys, qs = make_ranking(n_queries=10, string_qid=True, shuffle=True, random_state=0)
    assert {(q, *x) for q, x in zip(qid, X.tolist(), strict=True)} == {
        (int(q[1:]), *x) for q, x in zip(qs, Xs.tolist(), strict=True)
    }
    assert not np.array_equal(X, Xs)
    assert sorted(y) == sorted(ys)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"n_queries": 0}, "The 'n_queries' parameter of make_ranking must be an int >= 1. Got 0"),
        ({"n_features": 2.0}, "'n_features'"),
        ({"n_informative": 30}, "must not be above 'n_features'. Got 30 and 20"),
        ({"n_documents": (5, 2)}, r"Got \(5, 2\)"),
        ({"n_documents": (0, 2)}, r"Got \(0, 2\)"),
        ({"grades": (0.5, 0.2)}, "add up to 1"),
        ({"noise": -1}, "must be a number >= 0. Got -1"),
    ],
)
def test_bad_parameters(keywords, message):
    with pytest.raises(ValueError, match=message):
        make_ranking(**keywords)


@pytest.mark.parametrize("n_documents", [5, None, "ab", (5,), {2, 4}, (1, 2, 3), ((1, 2), (3, 4)), (2.0, 4.0), (4, 2)])
def test_n_documents_must_be_a_minimum_and_maximum(n_documents):
    message = r"must be the minimum and maximum number of documents, two ints >= 1 such as \(5, 5\). Got "
    with pytest.raises(ValueError, match=message):
        make_ranking(n_documents=n_documents)


@pytest.mark.parametrize("grades", [3, "ab", None, [[0.5], [0.5, 0.2]], [0.5, np.nan], [1.0], [1.5, -0.5]])
def test_grades_are_shares(grades):
    with pytest.raises(ValueError, match="'grades' must be two or more shares that add up to 1. Got"):
        make_ranking(grades=grades)


def test_few_features_are_all_informative():
    assert make_ranking(n_features=4, random_state=0)[0].shape[1] == 4
    few, asked = (make_ranking(n_features=4, random_state=0, **k) for k in ({}, {"n_informative": 4}))
    many, five = (make_ranking(random_state=0, **k) for k in ({}, {"n_informative": 5}))
    for found, expected in ((few, asked), (many, five)):
        np.testing.assert_array_equal(found[1], expected[1])
