"""The three arrays: qid of any type and order, labels and scores of any real type, shapes, weights."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from sklearn_rank import QueryRanker, evaluate
from sklearn_rank.metrics import map_score, mrr_score, ndcg_score, precision_at_k_score

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

Y = np.array([0, 2, 1, 0, 1, 3])
S = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
Q = np.array([7, 3, 7, 3, 3, 5])
EXPECTED = ndcg_score(Y, S, qid=Q, average=None)  # queries 7, 3, 5


def test_one_and_the_string_one_are_two_queries():
    result = evaluate([1, 0], [2, 1], qid=[1, "1"], metrics="map")
    assert result.qid.tolist() == [1, "1"]


@pytest.mark.parametrize("missing", [pd.NA, None, np.nan, pd.NaT])
def test_missing_ids(missing):
    with pytest.raises(ValueError, match="missing"):
        ndcg_score(Y, S, qid=pd.Series([7, 3, missing, 3, 3, 5], dtype=object))
    with pytest.raises(ValueError, match="missing"):
        ndcg_score(Y, S, qid=[7, 3, missing, 3, 3, 5])


def test_index_with_qid():
    y = pd.Series(Y, index=pd.Index(Q, name="qid"))
    np.testing.assert_array_equal(ndcg_score(y, S, average=None), EXPECTED)
    levels = pd.MultiIndex.from_arrays([range(6), Q], names=["doc", "qid"])
    np.testing.assert_array_equal(ndcg_score(pd.Series(Y, index=levels), S, average=None), EXPECTED)
    np.testing.assert_array_equal(ndcg_score(y, S, qid=[f"q{i}" for i in Q], average=None), EXPECTED)
    with pytest.raises(ValueError, match="must name the same queries.*from row 1 on"):
        ndcg_score(y, S, qid=[0, 0, 0, 1, 1, 1])
    with pytest.raises(ValueError, match="level named 'qid'"):
        ndcg_score(pd.Series(Y, index=pd.Index(Q, name="query")), S)


def test_queries_in_order_of_first_appearance():
    result = evaluate(Y, S, qid=Q, metrics="ndcg")
    assert result.qid.tolist() == [7, 3, 5]


@pytest.mark.parametrize("n_rows", [4, 400])
def test_all_labels_may_be_missing(n_rows):
    result = evaluate([np.nan] * n_rows, np.arange(n_rows), qid=[1] * n_rows, metrics="p@2", unjudged="nonrelevant")
    assert result.mean() == {"p@2": 0}


def test_missing_labels_are_unjudged():
    expected = ndcg_score([np.nan, 2, 1], [3, 2, 1], qid=[1] * 3, unjudged="drop")
    for labels in (pd.Series([None, 2, 1], dtype="Int64"), pl.Series([None, 2, 1]), [None, 2, 1]):
        assert ndcg_score(labels, [3, 2, 1], qid=[1] * 3, unjudged="drop") == expected
    assert expected == ndcg_score([2, 1], [2, 1], qid=[1] * 2) == 1
    below = ndcg_score([np.nan, 2, 1], [3, 2, 1], qid=[1] * 3, unjudged="nonrelevant")
    assert below == ndcg_score([0, 2, 1], [3, 2, 1], qid=[1] * 3) < 1


def test_a_query_without_judgments_stays():
    result = evaluate([np.nan, 1], [1, 1], qid=["a", "b"], metrics=["map", "p@1"], unjudged="drop")
    assert result.qid.tolist() == ["a", "b"]
    assert result.n_undefined == {"map": 1, "p@1": 0}
    assert result.mean() == {"map": 0.5, "p@1": 0.5}


def test_unretrieved_documents_are_judged_without_a_rank():
    inf = np.inf
    assert mrr_score([0, 1, 1], [-inf, 1, 0.5], qid=[1] * 3) == 1
    assert map_score([1, 0, 1, 0, 1, 1, 1], [5, 4, 3, 2, 1, -inf, -inf], qid=[1] * 7) == pytest.approx(0.45, abs=0.004)
    assert precision_at_k_score([1, 1], [-inf, 1], qid=[1, 1]) == 1  # the list has one document
    assert precision_at_k_score([1, 1], [-inf, -inf], qid=[1, 1]) == 0


def test_undefined_everywhere_warns():
    with pytest.warns(UserWarning, match="map is not defined for any query"):
        assert np.isnan(map_score([0, 0], [1, 2], qid=[1, 1], replace_undefined_by=np.nan))


def test_gains_and_discounts():
    y, s, q = [2, 0, 1], [3, 2, 1], [1] * 3
    table = ndcg_score(y, s, qid=q, gain=[0, 1, 3])
    assert table == ndcg_score(y, s, qid=q) == ndcg_score(y, s, qid=q, gain={0: 0, 1: 1, 2: 3})
    assert table == ndcg_score(y, s, qid=q, gain=lambda label: 2.0**label - 1)
    assert ndcg_score(y, s, qid=q, discount=lambda rank: 1 / rank) == ndcg_score(y, s, qid=q, discount="reciprocal")
    assert ndcg_score(y, s, qid=q, discount=[1, 1 / 2, 1 / 3]) == ndcg_score(y, s, qid=q, discount="reciprocal")
    assert ndcg_score(y, s, qid=q, discount=[1, 0.5], k=2) == ndcg_score(y, s, qid=q, discount="reciprocal", k=2)
    assert ndcg_score([0.5, 1.5], [2, 1], qid=[1, 1], gain={0.5: 1, 1.5: 2}) < 1


def test_discount_table_and_ties_across_the_cutoff():
    y, s = [1, 0, 1, 0, 0], [1.0] * 5
    assert ndcg_score(y, s, qid=[1] * 5, k=2, discount=[1, 0.5]) == pytest.approx(2 / 5)


@pytest.mark.parametrize("labels", [[0.0, 0.5, 1.5, 0.0], [[0.0, 0.5], [0.5, 0.0], [1.0, 0.0], [0.0, 0.0]]])
def test_negative_zero_is_the_same_label(labels):
    metric = "map" if np.ndim(labels) == 1 else "alpha_ndcg"
    either = [np.where(np.array(labels) == 0, zero, labels) for zero in (0.0, -0.0)]
    plus, minus = (evaluate(y, [4, 3, 2, 1], qid=[1, 1, 2, 2], metrics=metric) for y in either)
    assert plus.label_fingerprints.tolist() == minus.label_fingerprints.tolist()
    assert plus.label_fingerprints.all()


def test_features_with_other_labels_match_by_position():
    """Concatenated frames repeat their row labels."""
    X = pd.DataFrame({"a": [1.0, 2, 3, 4]}, index=[0, 1, 0, 1])
    y = pd.Series([0, 1, 1, 0], index=range(4))
    assert QueryRanker(LinearRegression()).fit(X, y, qid=[1, 1, 2, 2]).predict(X).shape == (4,)
    with pytest.raises(ValueError, match="X and y must have the same index"):
        QueryRanker(LinearRegression()).fit(X.set_axis([1, 0, 3, 2]), y, qid=[1, 1, 2, 2])
