"""Ranks inside queries."""

import numpy as np
import pytest
from scipy.stats import rankdata

from sklearn_rank import qid_from_group_sizes, rank_within

METHODS = ["average", "min", "max", "dense", "ordinal"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(5))
def test_as_scipy_ranks_each_query(method, seed):
    rng = np.random.default_rng(seed)
    number, score = rng.integers(0, 15, size=200), rng.integers(0, 6, size=200) / 2
    expected = np.empty(200)
    for q in set(number.tolist()):
        expected[number == q] = rankdata(-score[number == q], method=method)
    for qid in (number, [f"q{n}" for n in number], [(int(n), "x") for n in number]):
        found = rank_within(score, qid=qid, method=method)
        assert found.dtype == np.float64
        np.testing.assert_array_equal(found, expected)
    order = np.argsort(number, kind="stable")  # rows of a query adjacent
    np.testing.assert_array_equal(rank_within(score[order], qid=number[order], method=method), expected[order])


@pytest.mark.parametrize("method", METHODS)
def test_not_retrieved_takes_no_rank(method):
    found = rank_within([-np.inf, 1, -np.inf, 3, -np.inf], qid=["a", "a", "a", "b", "c"], method=method)
    np.testing.assert_array_equal(found, [np.nan, 1, np.nan, 1, np.nan])


def test_qid_in_the_index():
    pd = pytest.importorskip("pandas")
    score = pd.Series([1.0, 2.0, 3.0], index=pd.Index(["a", "a", "b"], name="qid"))
    assert rank_within(score).tolist() == [2, 1, 1]


def test_sizes_may_be_whole_floats():
    assert qid_from_group_sizes(np.array([2.0, 1.0])).tolist() == qid_from_group_sizes([2, 1]).tolist() == [0, 0, 1]
    for bad in ([2.5, 1.0], [np.nan, 1.0], [np.inf], [0.0, 1.0], [1e300], []):
        with pytest.raises(ValueError, match="sequence of ints >= 1. Got"):
            qid_from_group_sizes(bad)


def test_errors():
    with pytest.raises(ValueError, match="pass qid=, or give score as a pandas Series"):
        rank_within([1, 2])
    with pytest.raises(ValueError, match="'method' parameter of rank_within .*'ordinal'. Got 'first'"):
        rank_within([1, 2], qid=[1, 1], method="first")
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match=rf"score must not contain NaN or \+inf .* Got {bad} in row 1"):
            rank_within([1, bad], qid=[1, 1])
    with pytest.raises(ValueError, match="score must be one-dimensional"):
        rank_within([[1, 2]], qid=[1, 1])
    with pytest.raises(ValueError, match="At least one row is needed. Got empty score"):
        rank_within([], qid=[])
    with pytest.raises(ValueError, match="needs 2 entries"):
        rank_within([1, 2], qid=[1])
    with pytest.raises(TypeError, match="score must hold real numbers"):
        rank_within(["high", "low"], qid=[1, 1])
