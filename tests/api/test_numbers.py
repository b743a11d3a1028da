"""Numbers that float64 merges or cannot hold, masked numbers and missing numbers: kept or rejected."""

from array import array
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import Ridge

from sklearn_rank import QueryRanker, evaluate, evaluate_table, stats
from sklearn_rank.io import read_run, read_table
from sklearn_rank.metrics import mrr_score, ndcg_score
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

B = 2**53
WIDE = {
    "int64": np.array,
    "uint64": lambda v: np.array(v, dtype=np.uint64),
    "big-endian": lambda v: np.array(v, dtype=">i8"),
    "list": list,
    "tuple": tuple,
    "array": lambda v: array("q", v),
    "list with floats": lambda v: [float(v[0]), *v[1:]],
    "numpy ints": lambda v: [np.int64(x) for x in v],
    "objects": lambda v: np.array(v, dtype=object),
    "decimal": lambda v: [Decimal(x) for x in v],
    "fraction": lambda v: [Fraction(x) for x in v],
    "longdouble": lambda v: np.array(v, dtype=np.longdouble),
    "Int64": lambda v: pd.Series(v, dtype="Int64"),
    "UInt64": lambda v: pd.Series(v, dtype="UInt64"),
    "pandas of Arrow": lambda v: pd.Series(v, dtype="int64[pyarrow]"),
    "decimals of Arrow": lambda v: pd.Series([Decimal(x) for x in v], dtype=pd.ArrowDtype(pa.decimal128(20, 0))),
    "polars": pl.Series,
    "Arrow": pa.array,
    "masked": lambda v: np.ma.array(v),
}


@pytest.mark.parametrize("make", WIDE.values(), ids=WIDE)
def test_numbers_do_not_become_equal(make):
    """2**53 and 2**53 + 1 are tied as float64, which would give 0.75."""
    if make is WIDE["longdouble"] and np.longdouble(B + 1) == np.float64(B):
        pytest.skip("long double is double here")
    with pytest.raises(ValueError, match=rf"y_score must hold numbers that are still different.*Got {B}.* and {B + 1}"):
        mrr_score([0, 1], make([B, B + 1]), qid=[1, 1])
    for far in (B + 2, B - 1, 2**62, 7):  # rounded or not, all values are still different
        assert mrr_score([0, 1], make([B, far]), qid=[1, 1]) == (1 if far > B else 0.5)
    with pytest.raises(ValueError, match="y_true must hold numbers that are still different"):
        ndcg_score(make([B, B + 1]), [1, 2], qid=[1, 1], gain="linear")


def test_ints_of_either_sign():
    """NumPy converts such lists to floats."""
    with pytest.raises(ValueError, match=f"Got {2**63} and {2**63 + 1}"):
        mrr_score([0, 1, 0], [2**63, 2**63 + 1, -1], qid=[1] * 3)
    with pytest.raises(ValueError, match=f"Got {-B - 1} and {-B}"):
        mrr_score([0, 1], np.array([-B, -B - 1]), qid=[1] * 2)
    with pytest.raises(ValueError, match="still different"):
        mrr_score([0, 1, 0], [B, B + 1, -np.inf], qid=[1] * 3)
    assert mrr_score([0, 1], np.array([-(2**63), 2**63 - 1]), qid=[1] * 2) == 1
    assert mrr_score([0, 1, 0], [1e300, 2e300, -np.inf], qid=[1] * 3) == 1


@pytest.mark.parametrize(
    "container",
    [lambda v: pd.Series(v, dtype="Int64"), pl.Series, pa.array, lambda v: pd.Series(v, dtype="int64[pyarrow]")],
)
def test_missing_labels_keep_digits(container):
    with pytest.raises(ValueError, match="y_true must hold numbers that are still different"):
        evaluate(container([B, B + 1, None]), [1, 2, 3], qid=[1] * 3, metrics="cg", unjudged="drop")


def test_numbers_beyond_the_range():
    for big in (10**400, -(10**400), Decimal("-1e400"), Fraction(10**400)):
        with pytest.raises(ValueError, match="y_score must be within the range of float64"):
            mrr_score([0, 1], [big, 1], qid=[1, 1])
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        with pytest.raises(ValueError, match="y_score must be within the range of float64"):
            mrr_score([0, 1], np.array(["-1e400", "1"], dtype=np.longdouble), qid=[1, 1])
        assert mrr_score([0, 1], np.array(["-inf", "1"], dtype=np.longdouble), qid=[1, 1]) == 1


WIDE_AT = {
    "weights": lambda v: ndcg_score([0, 1], [1, 2], qid=[1, 2], sample_weight=v),
    "matrix": lambda v: mrr_score([[0, 1]], [v]),
    "sparse": lambda v: evaluate(sparse.csr_array([[0, 1]]), sparse.csr_array([v]), metrics="mrr"),
    "sparse and dense": lambda v: evaluate(sparse.csr_array([[0, 1]]), [v], metrics="mrr"),
    "sparse labels": lambda v: evaluate(sparse.csr_array([v]), [[1, 2]], metrics="cg"),
    "batch": lambda v: evaluate_table([([0, 1], v, [1, 1])], metrics="mrr"),
    "two batches": lambda v: evaluate_table([([0], [v[0]], [1]), ([1], [v[1]], [1])], metrics="mrr"),
    "two batches of arrays": lambda v: evaluate_table(
        [([i], np.array([x]), [1]) for i, x in enumerate(v)], metrics="mrr"
    ),
    "labels in two batches": lambda v: evaluate_table([([x], [1], [1]) for x in v], metrics="cg"),
    "table": lambda v: read_table({"label": [0, 1], "score": v, "qid": [1, 1]}),
    "table with nulls": lambda v: read_table({"label": pl.Series([*v, None]), "score": [1, 2, 3], "qid": [1] * 3}),
    "entries": lambda v: read_run({"doc_id": [0, 1], "s": np.array(v), "qid": [1, 1]}, value="s"),
    "distances": lambda v: score_neighbors([v], [[0, 1]], [0], [0, 1], metrics="mrr"),
}


@pytest.mark.parametrize("call", WIDE_AT.values(), ids=WIDE_AT)
def test_every_door_keeps_numbers_apart(call):
    with pytest.raises(ValueError, match=rf"(still different|can tell apart).*{B + 1}"):
        call([B, B + 1])
    call([B, B + 2])


def test_a_parquet_column_of_ints(tmp_path):
    from pyarrow import parquet

    parquet.write_table(pa.table({"label": [0, 1], "score": [B, B + 1], "qid": [1, 1]}), tmp_path / "t.parquet")
    with pytest.raises(ValueError, match="still different|can tell apart"):
        evaluate_table(tmp_path / "t.parquet", metrics="mrr")
    with pytest.raises(ValueError, match="still different"):
        read_table(tmp_path / "t.parquet")


# --- masks ---------------------------------------------------------------------------------------------------

ONE = np.array([True, False, False])


def masked(values):
    return np.ma.array(values, mask=ONE)


def test_a_masked_label_is_unjudged():
    expected = ndcg_score([np.nan, 0, 1], [3, 2, 1], qid=[1] * 3, unjudged="drop")
    rows = [masked([2, 0, 1]), masked([2.0, 0, 1]), [np.ma.masked, 0, 1], masked(np.array([2, 0, 1], dtype=object))]
    for y in (*rows, masked([2, 0, 1])[:, None]):
        assert ndcg_score(y, [3, 2, 1], qid=[1] * 3, unjudged="drop") == expected
        with pytest.raises(ValueError, match="must not contain NaN.*Got 1 NaN, the first in row 0"):
            ndcg_score(y, [3, 2, 1], qid=[1] * 3)
    for y in ([masked([2, 0, 1])] * 2, np.ma.array([[2, 0, 1]] * 2, mask=[ONE] * 2)):
        assert ndcg_score(y, [[3, 2, 1]] * 2, unjudged="drop") == expected
    assert expected == ndcg_score([0, 1], [2, 1], qid=[1] * 2) != ndcg_score([2, 0, 1], [3, 2, 1], qid=[1] * 3)


MASKED = {
    "score": lambda m: ndcg_score([1, 0, 1], m, qid=[1] * 3),
    "score in a list": lambda m: ndcg_score([1, 0, 1], [*m], qid=[1] * 3),
    "matrix of scores": lambda m: ndcg_score([[1, 0, 1]], m[None]),
    "rows of scores": lambda m: ndcg_score([[1, 0, 1]], [m]),
    "qid": lambda m: ndcg_score([1, 0, 1], [3, 2, 1], qid=m),
    "qid in a list": lambda m: ndcg_score([1, 0, 1], [3, 2, 1], qid=[*m]),
    "weight": lambda m: ndcg_score([1, 0, 1], [3, 2, 1], qid=[1] * 3, sample_weight=m),
    "weight of queries": lambda m: ndcg_score([[1, 0]] * 3, [[2, 1]] * 3, sample_weight=m),
    "tie_break": lambda m: ndcg_score([1, 0, 1], [3, 2, 1], qid=[1] * 3, ties="stable", tie_break=m),
    "batch": lambda m: evaluate_table([([1, 0, 1], m, [1] * 3)], metrics="ndcg"),
    "ids of a batch": lambda m: evaluate_table([([1, 0, 1], [3, 2, 1], m)], metrics="ndcg"),
    "ids of a table": lambda m: read_table({"label": [1, 0, 1], "score": [3, 2, 1], "qid": m}),
    "entries": lambda m: read_run({"doc_id": [0, 1, 2], "s": m, "qid": [1] * 3}, value="s"),
    "sparse": lambda m: evaluate(sparse.csr_array([[1, 0, 1]]), m[None], metrics="ndcg"),
    "features": lambda m: evaluate_retrieval(m[:, None], query_labels=[1, 1, 2], metrics="map"),
    "classes": lambda m: evaluate_retrieval(np.eye(3), query_labels=m, metrics="map"),
    "values": lambda m: stats.compare(m, [1.0, 2, 3]),
    "labels to fit": lambda m: QueryRanker(Ridge()).fit(np.eye(3), m, qid=[1] * 3),
    "features to fit": lambda m: QueryRanker(Ridge()).fit(m[:, None], [1, 0, 1], qid=[1] * 3),
}


@pytest.mark.parametrize("call", MASKED.values(), ids=MASKED)
def test_masks_are_applied(call):
    call(np.ma.array([1.0, 1.0, 1.0]))  # an all-False mask
    with pytest.raises(ValueError, match=r"mask|NaN|nan|missing|finite"):
        call(masked([1.0, 1.0, 1.0]))


def test_masked_neighbors_are_missing():
    found = np.ma.array([[0, 1], [1, 0]], mask=[[0, 1], [0, 0]])
    arguments = {"query_labels": [0, 1], "database_labels": [0, 0, 1], "metrics": ["recall"]}
    expected = score_neighbors(None, [[0, -1], [1, 0]], **arguments).mean()
    assert score_neighbors(None, found, **arguments).mean() == expected


# --- ragged lists --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ragged",
    [[[1, 0], [1]], ([1, 0], [1]), np.array([[1, 0], [1]], dtype=object), pd.Series([[1, 0], [1]]), [1, [0, 1]]],
)
def test_lists_of_unequal_length(ragged):
    for y_true, y_score, name in ((ragged, [[1, 2], [3]], "y_true"), ([[1, 2], [3, 4]], ragged, "y_score")):
        with pytest.raises(ValueError, match=rf"{name} must have one entry per row.*qid_from_group_sizes"):
            ndcg_score(y_true, y_score)
