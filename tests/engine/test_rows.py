"""Rows in containers: each column has an entry per row, and pandas labels match or are rejected, everywhere."""

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score, permutation_test_score

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RankingEvaluator,
    RepeatedQueryKFold,
    compare_systems,
    evaluate,
    evaluate_table,
    get_scorer,
    group_sizes,
    prepare,
    query_permutation_importance,
)
from sklearn_rank.display import CutoffDisplay
from sklearn_rank.io import read_run, read_table
from sklearn_rank.metrics import alpha_dcg_score, ndcg_score
from sklearn_rank.retrieval import evaluate_retrieval

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

RNG = np.random.default_rng(0)
N = 24
Y, S, W = RNG.integers(0, 3, N), RNG.random(N), np.repeat([1.0, 2.0], N // 2)
Q = np.repeat(np.array(list("abcdefgh")), 3)
X = np.column_stack([S, RNG.random(N)])
P = RNG.permutation(N)
EXPECTED = ndcg_score(Y, S, qid=Q, sample_weight=W)
BY_QID = pd.Series(Y, index=pd.Index(Q, name="qid"), name="label")
BY_BOTH = pd.Series(Y, index=pd.MultiIndex.from_arrays([Q, np.arange(N)], names=["qid", "doc"]))
ROWS = pd.RangeIndex(N)
Xp = pd.DataFrame(X.round(), columns=["r", "s"])
Ys, Ss, Qs, Ws, Xs = pd.Series(Y), pd.Series(S), pd.Series(Q), pd.Series(W), pd.DataFrame(X)


class Sorted(Ridge):
    def predict(self, X):
        return pd.Series(super().predict(X), index=X.index).sort_values()


class SortedProbabilities(LogisticRegression):
    def predict_proba(self, X):
        return pd.DataFrame(super().predict_proba(X), index=X.index)[::-1]


# --- a column ------------------------------------------------------------------------------------------------

COLUMNS = {
    "array": lambda x: x[:, None],
    "frame": lambda x: pd.DataFrame({"x": x}),
    "polars": lambda x: pl.DataFrame({"x": x}),
    "numbers as lists": lambda x: x[:, None].tolist() if x.dtype.kind in "iuf" else x[:, None],
}


@pytest.mark.parametrize("make", COLUMNS.values(), ids=COLUMNS)
def test_a_column_has_an_entry_per_row(make):
    assert ndcg_score(make(Y), make(S), qid=make(Q), sample_weight=make(W)) == EXPECTED
    assert ndcg_score(make(Y), S, qid=Q, sample_weight=W) == EXPECTED
    assert ndcg_score(Y, make(S), qid=Q, sample_weight=W) == EXPECTED
    assert ndcg_score(BY_QID.to_frame(), make(S), sample_weight=make(W)) == EXPECTED
    assert evaluate(make(Y), make(S), qid=make(Q), metrics="alpha_ndcg").mean() == (
        evaluate(Y, S, qid=Q, metrics="alpha_ndcg").mean()
    )
    stable = {"ties": "stable", "qid": Q}
    assert ndcg_score(Y, make(S), tie_break=make(W), **stable) == ndcg_score(Y, S, tie_break=W, **stable)
    assert group_sizes(make(Q)).tolist() == [3] * 8
    batches = [(make(Y)[:5], make(S)[:5], make(Q)[:5]), (make(Y)[5:], make(S)[5:], make(Q)[5:])]
    assert evaluate_table(batches, metrics="ndcg").mean() == evaluate(Y, S, qid=Q, metrics="ndcg").mean()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_a_column_may_have_any_name(make):
    y, scores = make({"label": Y}), {name: make({name: S}) for name in ("score", "other")}
    assert prepare(y, qid=Q, sample_weight=W, metrics="ndcg")(scores["score"]) == EXPECTED
    compared = compare_systems(y, scores, qid=Q, sample_weight=W, metrics="ndcg")
    assert [one.mean()["ndcg"] for one in compared.results.values()] == [EXPECTED] * 2


def test_two_dimensions_are_queries_by_documents():
    """The ids name the rows, each once; an id per document is an error."""
    y, s, ids = Y.reshape(8, 3), S.reshape(8, 3), list("abcdefgh")
    assert ndcg_score(y, s, gain="exp2") == ndcg_score(Y, S, qid=Q)
    named = pd.DataFrame(y, index=pd.Index(ids, name="qid"))
    for y_true, y_score, qid in ((y, s, ids), (named, s, None), (named, named.copy(), ids)):
        found = evaluate(y_true, y_score, qid=qid, metrics="ndcg")
        assert found.qid.tolist() == ids
        assert found.mean() == evaluate(y, y_score, qid=ids, metrics="ndcg").mean()
    for qid in (Q, Q.reshape(8, 3), ids[:-1], [ids]):
        with pytest.raises(ValueError, match="each row is a query and qid must be None or have one id for each row"):
            ndcg_score(y, s, qid=qid)
    with pytest.raises(ValueError, match=r"must have each id once.*QueryRanker. Got shape \(8, 3\) and query 'g' more"):
        ndcg_score(y, s, qid=[*ids[:-1], "g"])
    with pytest.raises(ValueError, match="Got neither"):
        ndcg_score(y, named)
    with pytest.raises(ValueError, match="must name the same queries"):
        ndcg_score(named, s, qid=["a"] * 8)
    with pytest.raises(ValueError, match=r"y_score must be one score per row.*Got shape \(24, 3\)"):
        ndcg_score(BY_QID, np.ones((N, 3)))
    labels = np.column_stack([Y, Y > 1])
    assert alpha_dcg_score(labels, S[:, None], qid=Q) == alpha_dcg_score(labels, S, qid=Q)


@pytest.mark.parametrize("make", [lambda x: x[:, None], pd.DataFrame, lambda x: sparse.csr_array(x[:, None])])
def test_columns_without_qid_are_not_queries(make):
    with pytest.raises(ValueError, match=r"each query would have one document: pass qid=.*Got shape \(24, 1\)"):
        evaluate(make(Y), make(S), metrics="ndcg")


# --- labels --------------------------------------------------------------------------------------------------


def test_equal_labels_match_in_any_type():
    levels = pd.MultiIndex.from_arrays([Q, np.arange(N)], names=["qid", "doc"])
    for index in (ROWS, ROWS[::-1], pd.Index(P), pd.Index(list("ab") * 12), levels):
        y, s, q, w = (pd.Series(x, index=index) for x in (Y, S, Q, W))
        assert ndcg_score(y, s, qid=q, sample_weight=w) == EXPECTED
        moved = [x.iloc[P] for x in (y, s, q, w)]
        assert ndcg_score(moved[0], moved[1], qid=moved[2], sample_weight=moved[3]) == pytest.approx(EXPECTED)
        assert ndcg_score(y, S, qid=Q, sample_weight=W) == EXPECTED  # data without labels match by position
    assert ndcg_score(pd.Series(Y, index=levels), pd.Series(S, index=levels), sample_weight=W) == EXPECTED
    as_text = pd.Index(ROWS.astype(str), dtype=object), pd.Index(ROWS.astype(str), dtype="string")
    assert ndcg_score(*(pd.Series(x, index=i) for x, i in zip((Y, S), as_text, strict=True)), qid=Q) == (
        ndcg_score(Y, S, qid=Q)
    )


def test_queries_in_an_index_next_to_row_labels():
    assert ndcg_score(BY_QID, BY_QID.set_axis(BY_QID.index) * 0 + S, sample_weight=W) == EXPECTED
    assert ndcg_score(BY_QID, Ss, sample_weight=Ws) == EXPECTED  # a new Series
    assert ndcg_score(BY_QID.iloc[3:], Ss.iloc[3:]) == ndcg_score(Y[3:], S[3:], qid=Q[3:])  # of filtered rows
    assert ndcg_score(BY_QID, Ss.set_axis(np.repeat(range(8), 3)), sample_weight=W) == EXPECTED  # of exploded lists
    assert ndcg_score(BY_QID, Ss.set_axis(Q), sample_weight=W) == EXPECTED  # the same queries without a name
    assert ndcg_score(BY_QID[::-1], Ss.set_axis(Q)[::-1]) == pytest.approx(ndcg_score(Y, S, qid=Q))
    with pytest.raises(ValueError, match=r"y_true and y_score must have the same index.*Got 'a' and"):
        ndcg_score(BY_QID, Ss.iloc[P])


REFUSED = {
    "y_score": lambda: ndcg_score(Ys, Ss.iloc[P], qid=Qs),
    "y_score as a column": lambda: ndcg_score(Ys, Ss.iloc[P].to_frame(), qid=Qs),
    "y_score of other labels": lambda: ndcg_score(Ys, Ss.set_axis(ROWS + 1), qid=Qs),
    "y_score by qid": lambda: ndcg_score(BY_QID, pd.Series(S, index=BY_QID.index[::-1])),
    "queries under no name": lambda: ndcg_score(BY_QID[::-1], Ss.set_axis(Q)),
    "numbers of queries": lambda: ndcg_score(Xs.set_axis(pd.Index(np.arange(N)[::-1], name="qid")).round(), Xs),
    "y_score by document": lambda: ndcg_score(Ys.set_axis(Q + Q), Ss.set_axis(Q + Q[P]), qid=Q),
    "qid": lambda: ndcg_score(Ys, S, qid=Qs.iloc[P]),
    "qid beside y_score": lambda: ndcg_score(Y, Ss, qid=Qs.iloc[P]),
    "sample_weight": lambda: ndcg_score(Ys, S, qid=Q, sample_weight=Ws[::-1]),
    "tie_break": lambda: ndcg_score(Ys, S, qid=Q, ties="stable", tie_break=Ws[::-1]),
    "plain function": lambda: evaluate(Ys, Ss.iloc[P], qid=Q, metrics=lambda y, s: 1.0),
    "rows of a matrix": lambda: ndcg_score(Xs.round(), Xs[::-1]),
    "columns of a matrix": lambda: ndcg_score(Xs.round(), Xs[[1, 0]]),
    "columns of a matrix in polars": lambda: ndcg_score(pl.from_pandas(Xp), pl.from_pandas(Xp[["s", "r"]])),
    "columns of a matrix in Arrow": lambda: ndcg_score(pa.table(Xp), pa.table(Xp[["s", "r"]])),
    "columns of a prepared matrix": lambda: prepare(Xp, metrics="ndcg")(pl.from_pandas(Xp[["s", "r"]])),
    "columns of a prepared matrix in polars": lambda: prepare(pl.from_pandas(Xp), metrics="ndcg")(Xp[["s", "r"]]),
    "columns of two libraries": lambda: ndcg_score(pd.DataFrame({"a": Y, "b": Y}), pl.DataFrame({"b": S, "a": S})),
    "batches": lambda: evaluate_table([(Ys, Ss.iloc[P], Qs)], metrics="ndcg"),
    "batches of dicts": lambda: evaluate_table([{"label": Ys, "score": Ss.iloc[P], "qid": Qs}], metrics="ndcg"),
    "weights of batches": lambda: evaluate_table([(Ys, Ss, Qs, Ws[::-1])], metrics="ndcg"),
    "table": lambda: read_table({"label": Ys, "score": Ss.iloc[P], "qid": Qs}),
    "entries": lambda: read_run({"score": Ss.iloc[P], "qid": Qs, "doc_id": Qs.index.to_series()}, value="score"),
    "display": lambda: CutoffDisplay.from_predictions(Ys, Ss.iloc[P], qid=Qs, metric="ndcg", k=[1, 2]),
    "scorer": lambda: get_scorer("ndcg")(Ridge().fit(X, Y), X, Ys, qid=Qs.iloc[P]),
    "ranker, y": lambda: QueryRanker(Ridge()).fit(Xs, Ys.iloc[P], qid=Q),
    "ranker, queries under no name": lambda: QueryRanker(Ridge()).fit(Xs.set_axis(Q), BY_QID[::-1]),
    "ranker, qid": lambda: QueryRanker(Ridge()).fit(X, Ys, qid=Qs.iloc[P]),
    "ranker, weight": lambda: QueryRanker(Ridge()).fit(X, Ys, qid=Q, sample_weight=Ws[::-1]),
    "ranker, weight and X": lambda: QueryRanker(Ridge()).fit(Xs, Y, qid=Q, sample_weight=Ws[::-1]),
    "split": lambda: [*QueryKFold(3).split(Xs, groups=Qs.iloc[P])],
    "split, y": lambda: [*QueryKFold(3).split(Xs, Ys.iloc[P], Q)],
    "split, y by qid": lambda: [*QueryShuffleSplit(3).split(Xs.set_axis(BY_QID.index[::-1]), BY_QID)],
    "split, y by document": lambda: [*LeaveOneQueryOut().split(Xs.set_axis(BY_BOTH.index), BY_BOTH.iloc[P])],
    "split, y and groups": lambda: [*RepeatedQueryKFold(3).split(X, Ys, Qs.iloc[P])],
    "split by time": lambda: [*QueryTimeSeriesSplit(3).split(Xs, Ys.iloc[P], Q, time=Q.view(np.int32))],
    "split by time, groups": lambda: [*QueryTimeSeriesSplit(3).split(X, Ys, Qs.iloc[P], time=Q.view(np.int32))],
    "cross_val_score": lambda: cross_val_score(
        QueryRanker(Ridge()), Xs, Ys.iloc[P], scoring=get_scorer("ndcg"), cv=QueryKFold(3), params={"qid": Q}
    ),
    "cross_val_predict": lambda: cross_val_predict(Ridge(), X, Ys, cv=QueryKFold(3), params={"qid": Qs.iloc[P]}),
    "predictions": lambda: QueryRanker(Sorted()).fit(Xs, Y, qid=Q).predict(Xs),
    "predictions of probabilities": lambda: get_scorer("ndcg")(SortedProbabilities().fit(X, Y), Xs, Y, qid=Q),
    "predictions, importance": lambda: query_permutation_importance(Sorted().fit(X, Y), Xs, Y, qid=Q),
    "compare, y": lambda: RankingEvaluator("ndcg", cv=3).compare({"r": Ridge()}, Xs, Ys.iloc[P], qid=Q),
    "compare, qid": lambda: RankingEvaluator("ndcg", cv=3).compare({"r": Ridge()}, X, Ys, qid=Qs.iloc[P]),
    "cross_validate": lambda: RankingEvaluator("ndcg", cv=3).cross_validate(Ridge(), Xs, Ys.iloc[P], qid=Q),
    "search": lambda: RankingEvaluator("ndcg").search(GridSearchCV(QueryRanker(Ridge()), {}), Xs, Ys.iloc[P], qid=Q),
    "importance": lambda: query_permutation_importance(Ridge().fit(X, Y), Xs, Ys.iloc[P], qid=Q),
    "retrieval": lambda: evaluate_retrieval(Xs, query_labels=Ys.iloc[P], metrics="map"),
}  # fmt: skip


def test_a_multiindex_is_compared_by_the_levels_that_name_rows():
    """Rows of `both` have the labels 0 to 23 and a query each; labels without queries match them."""
    both = Ys.set_axis(pd.MultiIndex.from_arrays([ROWS, Q], names=["row", "qid"]))
    assert ndcg_score(both, Ss, sample_weight=Ws) == EXPECTED
    assert ndcg_score(both.iloc[P], Ss.iloc[P], sample_weight=Ws.iloc[P]) == pytest.approx(EXPECTED, rel=1e-12)
    QueryRanker(Ridge()).fit(Xs.iloc[P], both.iloc[P])
    with pytest.raises(ValueError, match="y_true and y_score must have the same index"):
        ndcg_score(both, Ss.iloc[P])
    with pytest.raises(ValueError, match="X and y must have the same index"):
        QueryRanker(Ridge()).fit(Xs, both.iloc[P])


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_rows_in_another_order(call):
    message = r"must (have the same index|be the same in the same order).*to_numpy\(\)"
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table], ids=["pandas", "polars", "Arrow"])
def test_columns_of_the_same_documents(make):
    y, s = (make({"a": x[:12], "b": x[12:]}) for x in (Y, S))
    expected = ndcg_score(Y.reshape(2, 12).T, S.reshape(2, 12).T, gain="exp2")
    assert ndcg_score(y, s, gain="exp2") == prepare(y, metrics="ndcg")(s) == expected


def test_features_with_other_row_labels_match_by_position():
    """As in scikit-learn, where transformers and splitters drop or renumber row labels."""
    expected = QueryRanker(Ridge()).fit(X, Y, qid=Q).predict(X)
    for features, y in ((Xs.set_axis(ROWS + 100), Ys), (Xs, BY_QID), (Xs.set_axis(BY_QID.index), Ys)):
        np.testing.assert_array_equal(QueryRanker(Ridge()).fit(features, y, qid=Q).predict(X), expected)


def test_predictions_with_other_row_labels_match_by_position():
    """For example of a model that renumbers rows."""

    class Renumbered(Ridge):
        def predict(self, X):
            return pd.Series(super().predict(X))

    features, expected = Xs.set_axis(ROWS + 1), QueryRanker(Ridge()).fit(Xs, Y, qid=Q).predict(Xs)
    np.testing.assert_array_equal(QueryRanker(Renumbered()).fit(features, Y, qid=Q).predict(features), expected)


def test_scikit_learn_moves_row_labels():
    with sklearn.config_context(enable_metadata_routing=True):
        expected = cross_val_score(
            QueryRanker(Ridge()), X, Y, scoring=get_scorer("ndcg"), cv=QueryKFold(3), params={"qid": Q}
        )
        for y in (Ys, BY_QID):
            found = cross_val_score(
                QueryRanker(Ridge()), Xs, y, scoring=get_scorer("ndcg"), cv=QueryKFold(3), params={"qid": Qs},
                error_score="raise",
            )  # fmt: skip
            assert (found == expected).all()
    scores = permutation_test_score(
        QueryRanker(Ridge()), Xs, BY_QID, groups=Qs, scoring=get_scorer("ndcg"), cv=QueryKFold(3), n_permutations=2
    )
    assert np.isfinite(scores[1]).all()


# --- query ids given twice -------------------------------------------------------------------------------------


def test_qid_and_the_index_agree():
    names = np.array([f"query {q}" for q in Q])
    assert ndcg_score(BY_QID, S, qid=names, sample_weight=W) == EXPECTED
    other = np.roll(names, 1)
    calls = {
        "y_true": lambda: ndcg_score(BY_QID, S, qid=other),
        "y_score": lambda: ndcg_score(Y, BY_QID * 0 + S, qid=other),
        "y": lambda: QueryRanker(Ridge()).fit(X, BY_QID, qid=other),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"level 'qid' of the index of {name} must name the same queries.*row 1"):
            call()


def test_times_and_the_index_agree():
    """Clusters may have other names; times are equal only in the same order."""
    qid, X = np.repeat([3, 1, 2, 0], 2), np.zeros((8, 1))
    time = qid * 10
    y = pd.Series(np.zeros(8), index=pd.MultiIndex.from_arrays([qid, time], names=["qid", "time"]))
    splitter = QueryTimeSeriesSplit(1, test_size=1)
    ((_, latest),) = splitter.split(X, y)
    assert latest.tolist() == [0, 1]
    for same in (time, time / 2, [*time], np.datetime64("2024-01-01") + time, y.set_axis(y.index) * 0 + time):
        ((_, test),) = splitter.split(X, y, time=same)
        assert test.tolist() == [0, 1]
    for other in (-time, time[::-1], np.roll(time, 2), time * 0):
        with pytest.raises(ValueError, match="time= and the level 'time' of the index of y differ"):
            next(splitter.split(X, y, time=other))
    with pytest.raises(ValueError, match="time= and the level 'time' of the index of y differ"):
        RankingEvaluator("mae", cv=splitter).cross_validate(Ridge(), X, y, time=-time)


def test_swapped_ids_are_different_queries():
    """The grouping is the same, but "a" and "h" are swapped."""
    other, y, s = Q[::-1], Y.reshape(8, 3), S.reshape(8, 3)
    frame = pd.DataFrame(s, index=pd.Index(list("abcdefgh"), name="qid"))
    calls = {
        "y_true": lambda: ndcg_score(BY_QID, S, qid=other),
        "y_score": lambda: prepare(Y, qid=other, metrics="ndcg")(BY_QID * 0 + S),
        "y_score of a matrix": lambda: ndcg_score(y, frame, qid=list("hgfedcba")),
        "y_score of a prepared matrix": lambda: prepare(y, qid=list("hgfedcba"), metrics="ndcg")(frame),
        "sample_weight": lambda: ndcg_score(Y, S, qid=other, sample_weight=BY_QID * 0 + W),
        "by": lambda: evaluate(Y, S, qid=other, metrics="ndcg", by=BY_QID * 0),
        "by of a matrix": lambda: evaluate(
            y, s, qid=list("hgfedcba"), metrics="ndcg", by=frame[[0]].set_axis(["x"], axis=1)
        ),
        "clusters": lambda: evaluate(Y, S, qid=other, metrics="ndcg", clusters=BY_QID * 0),
    }
    for name, call in calls.items():
        with pytest.raises(ValueError, match=f"of the index of {name.split()[0]}.* must name the same.*row 0 on"):
            call()


def test_duplicate_row_labels_do_not_fix_the_order():
    """All labels of y are in X, but not all of X in y."""
    X, y = pd.DataFrame({"x": [3.0, 1.0, 2.0, 4.0]}), pd.Series([1, 0, 0, 1], index=[0, 1, 0, 1])
    QueryRanker(Ridge()).fit(X, y, qid=[1, 1, 2, 2])


def test_equal_labels_of_other_types_are_equal():
    labels = pd.Index([1, 2, 3, 4])
    assert not labels.equals(labels.astype("Int64"))
    y, score = pd.Series([0, 1, 1, 0], index=labels), pd.Series([1.0, 2, 2, 1], index=labels.astype("Int64"))
    assert evaluate(y, score, qid=[1, 1, 2, 2], metrics="map").mean() == {"map": 1}


def test_prepared_matrices_have_their_queries():
    mrr = prepare(np.array([[0, 1], [1, 0]]), metrics="mrr")
    scores = pd.DataFrame([[1.0, 2.0], [2.0, 1.0]], index=pd.Index([7, 8], name="qid"))
    assert mrr(scores) == 1
    with pytest.raises(ValueError, match="Got other queries from row 1 on"):
        mrr(scores.set_index(pd.Index([7, 7], name="qid")))
