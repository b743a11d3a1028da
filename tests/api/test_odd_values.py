"""Values that do not fit their container: rejected with our message, or read as intended, never by position."""

import datetime
import io
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import Ridge

from sklearn_rank import LeaveOneQueryOut, compare_systems, evaluate, get_scorer, make_ranking_scorer, stats
from sklearn_rank.io import join, read_run, read_table, write_run

Y, S, Q = [0, 1, 1, 0], [2.0, 1.0, 2.0, 1.0], ["a", "a", "b", "b"]
A, B = [0.1, 0.2, 0.3, 0.5], [0.2, 0.3, 0.1, 0.1]
NAMED = pd.Series(A, index=list("wxyz")), pd.Series(B, index=list("wxyz"))
SIGNALING = Decimal("sNaN")
ARRAYS = [np.array([1, 2]), np.array([1, 2]), np.array([3, 4]), np.array([3, 4])]
RESULT = evaluate(Y, S, qid=Q, metrics="map")
JUDGED = {"q": {"a": 1, "b": 0}}


def evaluated(y=Y, s=S, q=Q, **keywords):
    return evaluate(y, s, qid=q, metrics="map", **keywords)


def table(**columns):
    return read_table({"label": [0, 1], "score": [1.0, 2.0], "qid": ["a", "a"]} | columns)


def written(doc_id, y_score=(1.0, 2.0)):
    write_run(io.BytesIO(), y_score, qid=["a", "a"], doc_id=doc_id)


class Reader:
    def read(self):
        return 3


TWO_LEVELS = pd.MultiIndex.from_arrays([Q, Q], names=["qid", "qid"])
REFUSED = {
    "two levels of queries": (lambda: evaluated(y=pd.Series(Y, index=TWO_LEVELS), q=None), "one level 'qid'"),
    "nan in a tuple": (lambda: evaluated(q=[(1, float("nan")), (1, float("nan")), 2, 2]), "missing values"),
    "nan in tuples in a tuple": (lambda: evaluated(q=[((1, float("nan")),), ((1, float("nan")),), 2, 2]), "missing"),
    "nan in a set": (lambda: evaluated(q=[frozenset([np.nan]), frozenset([np.nan]), 2, 2]), "missing values"),
    "nan in a level": (lambda: evaluated(q=pd.MultiIndex.from_arrays([Q, [np.nan] * 4])), "missing values"),
    "nan in a record": (lambda: evaluated(q=np.array([(1, np.nan)] * 4, dtype="i8,f8")), "missing values"),
    "signaling nan as score": (lambda: evaluated(s=[SIGNALING, 1, 2, 3]), r"y_score must hold real.*Decimal\('sNaN'\)"),
    "arrays as attributes": (lambda: evaluated(by=ARRAYS), "by must have values that can be hashed"),
    "attributes in a plan": (lambda: evaluated(by=pl.LazyFrame({"a": Q})), "'by' must be in memory.*LazyFrame"),
    "systems in a plan": (lambda: compare_systems(Y, pl.LazyFrame({"a": S}), qid=Q), "in memory.*LazyFrame"),
    "text among numbers": (lambda: stats.compare(np.array(["1", 2, 3, 4], dtype=object), B), "'a' of compare.*'1'"),
    "bytes among numbers": (lambda: stats.confidence_interval(np.array([b"1", 2], dtype=object)), "values of.*b'1'"),
    "a series of text": (lambda: stats.compare(pd.Series(["1", "2"], dtype=object), pd.Series(A[:2])), "'1'"),
    "a huge int": (lambda: stats.compare([10**400, 1, 2, 3], B), "'a' of compare must be within the range"),
    "lists of other lengths": (lambda: stats.compare([[1], [1, 2]], A[:2]), "real numbers. Got list instead"),
    "a huge number of queries": (lambda: stats.power_of(0.1, n_queries=10**400, power=0.8), "an int from 2 to 2"),
    "a result beside values": (lambda: stats.compare(RESULT, A[:2]), "Got both"),
    "a query twice": (lambda: stats.compare(*(pd.Series(x, index=list("wxyy")) for x in (A, B))), "query twice in 'a'"),
    "clusters twice": (lambda: stats.compare(*NAMED, clusters=pd.Series(range(5), index=list("wxyzz"))), "'z' twice"),
    "folds in another order": (
        lambda: stats.compare_folds(pd.Series(A), pd.Series(B, index=range(4)[::-1]), n_train=2, n_test=1),
        "scores_a and scores_b must have the same index",
    ),
    "a generator as column": (lambda: table(score=(x for x in S)), "'score' must be an array.*generator"),
    "a set as column": (lambda: table(score={1.0, 2.0}), "'score' must be an array"),
    "a view of keys as column": (lambda: table(qid={"a": 0, "b": 0}.keys()), "'qid' must be an array"),
    "one number as column": (lambda: table(score=1.0), "'score' must be an array.*1.0"),
    "no dimension as column": (lambda: table(label=np.array(1)), "'label' must be an array"),
    "lists as column": (lambda: table(label=[[1], [1, 2]]), "'label' must have one entry per row"),
    "signaling nan in a column": (lambda: table(label=[1, SIGNALING]), r"'label' must hold real.*Decimal\('sNaN'\)"),
    "NA in a list": (lambda: table(qid=["a", pd.NA]), "'qid' must not have missing values. Got 1, the first in row 1"),
    "a list as name": (lambda: read_table({"label": Y}, y_true=["label"]), r"named by a str. Got \['label'\]"),
    "what reads numbers": (lambda: read_run(Reader()), "bytes or text. Got int"),
    "an array as score": (lambda: join(JUDGED, {"q": {"a": np.array([1.0])}}), "Scores must be finite.*'a' of query"),
    "one document as array": (lambda: join(JUDGED, {"q": np.array("ab")}), "dictionary or list of documents"),
    "lists to exclude": (lambda: join(JUDGED, JUDGED, exclude={"q": [["a"]]}), "can be hashed"),
    "no document": (lambda: written(["a", None]), "doc_id must not contain missing"),
    "documents under a mask": (lambda: written(np.ma.array([1, 2], mask=[1, 0])), "doc_id must not contain missing"),
    "a set of documents": (lambda: written({"a", "b"}), "doc_id must be an array"),
    "documents of other rows": (
        lambda: written(pd.Series(["x", "y"], index=[1, 0]), pd.Series([1.0, 2.0])),
        "y_score and doc_id must have the same index",
    ),
    "one query to leave out": (lambda: [*LeaveOneQueryOut().split([[0]] * 2, groups=[1, 1])], "a query.*and 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_odd_values_are_rejected(what):
    call, message = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=message):
        call()


@pytest.mark.parametrize("scorer", [get_scorer("map"), make_ranking_scorer(["map"])], ids=["one", "many"])
def test_scorers_do_not_match_rows_by_position(scorer):
    X = pd.DataFrame({"x": S})
    model, index = Ridge().fit(X, Y), pd.MultiIndex.from_arrays([Q, [3, 2, 1, 0]], names=["qid", None])
    assert scorer(model, X, pd.Series(Y, index=pd.Index(Q, name="qid"))) is not None
    with pytest.raises(ValueError, match="X and y must have the same index"):
        scorer(model, X, pd.Series(Y, index=index))


def test_numeric_names_are_printed():
    assert "a metric: 1 minus 2, 4 queries" in str(stats.compare_all({1: A, 2: B}))


def test_none_in_a_tuple_is_a_missing_id():
    day = datetime.date(2020, 1, 1)
    assert evaluated(q=[(1, ""), (1, ""), (day, 2), (day, 2)]).qid.tolist() == [(1, ""), (day, 2)]
    with pytest.raises(ValueError, match="must not contain missing values"):
        evaluated(q=[(1, None), (1, None), (day, 2), (day, 2)])


@pytest.mark.parametrize("n_resamples", [1, 2])
def test_few_resamples_have_an_interval(n_resamples):
    for seed in range(8):
        result = stats.compare(A, B, test="bootstrap", n_resamples=n_resamples, random_state=seed)
        low, high = result.confidence_interval
        assert low <= high
