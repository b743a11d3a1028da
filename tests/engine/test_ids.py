"""Query ids keep their type and value in any container, and match between results from different containers."""

from collections import deque
from datetime import UTC, date, datetime
from enum import Enum

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from registry import together

from sklearn_rank import evaluate, evaluate_table, group_sizes, stats
from sklearn_rank._engine.ids import id_order
from sklearn_rank.display import DifferenceDisplay
from sklearn_rank.io import read_run, read_table

B = 2**53


APART = [
    [2**63, 2**63 + 1, -1],
    [B, B + 1, 0.5],
    [10**30, 10**30 + 1],
    [b"1", 1],
    ["1", 2],
    ["1", b"1"],
    ["a", "a\0"],
    ["\udc80", "\udc81", "?"],
    ["a", "a\0", ("a",)],
    [b"a", b"a\0", b"a\0\0"],
    [np.bytes_(b"a"), b"a\0"],
    [1, 1.5],
    [True, 2, "True"],
    [(1,), (1, 2), 1],
    [date(2020, 1, 1), "2020-01-01"],
    [np.int64(B + 1), float(B - 1)],
    [np.uint64(2**63), -1],
    [np.float32(0.1), 0.1],
]


@together("make", [list, tuple, deque])
@pytest.mark.parametrize("ids", APART, ids=repr)
def test_ids_of_lists_keep_their_type(ids, make):
    for rows in (ids, [q for q in ids for _ in range(2)], [*ids, *ids]):
        found = evaluate([1] * len(rows), [1] * len(rows), qid=make(rows), metrics="map").qid.tolist()
        assert found == ids
        assert [*map(repr, found)] == [*map(repr, ids)] or any(isinstance(q, np.generic) for q in ids)


def test_ids_of_batches_keep_their_type():
    for ids in (["a", "a\0"], [b"a", b"a\0"], [B, B + 1], [(1,), (1, 2)]):
        assert evaluate_table([([1], [1], [q]) for q in ids], metrics="map").qid.tolist() == ids
    for ids in ([1, "1"], [b"1", "1"], [2**63, -1], [1, 1.5]):
        with pytest.raises(TypeError, match="ids of one type"):
            evaluate_table([([1], [1], [q]) for q in ids], metrics="map")


def test_equal_ids_are_one_query():
    for ids in ([1, 1.0], [True, 1], [0.0, -0.0], [np.int8(1), 1], ["a", np.str_("a")], [2**70, float(2**70)]):
        assert len(evaluate([1, 0], [1, 2], qid=ids, metrics="map").qid) == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda ids: pd.Series(ids, dtype=object),
        lambda ids: pd.Series(ids, dtype="str"),
        # pd.Categorical(ids) of pandas 2 makes them equal.
        lambda ids: pd.Categorical.from_codes([len(id) - 1 for id in ids], ["a", "a\0"]),
        lambda ids: pl.Series(ids),
        lambda ids: pl.Series(ids, dtype=pl.Categorical),
        lambda ids: pa.array(ids),
        lambda ids: np.array(ids, dtype=np.dtypes.StringDType()),
    ],
)
def test_a_nul_at_the_end_of_a_string(make):
    assert group_sizes(make(["a", "a\0", "a\0"])).tolist() == [1, 2]
    assert evaluate([1, 0], [1, 2], qid=make(["a", "a\0"]), metrics="map").qid.tolist() == ["a", "a\0"]


def test_missing_strings_of_numpy():
    with pytest.raises(ValueError, match="missing values"):
        evaluate([1, 0], [1, 2], qid=np.array(["a", None], dtype=np.dtypes.StringDType(na_object=None)), metrics="map")


def test_tie_break_and_tables_keep_types_of_ids():
    ranked = {"qid": [1, 1], "ties": "stable", "metrics": "mrr"}
    assert evaluate([1, 0], [1, 1], tie_break=[2**63 + 1, 2**63], **ranked).mean() == {"mrr": 1}
    assert evaluate([1, 0, 0], [1, 1, 0], tie_break=[2**63 + 1, 2**63, -1], **ranked | {"qid": [1] * 3}).mean() == {
        "mrr": 1
    }
    assert evaluate([1, 0], [1, 1], tie_break=["a\0", "a"], **ranked).mean() == {"mrr": 1}
    with pytest.raises(ValueError, match="tie_break must hold values that sort"):
        evaluate([1, 0], [1, 1], tie_break=[1, "1"], **ranked)
    table = {"label": [1, 0], "score": [1, 2], "qid": [1, "2"], "doc": [b"1", 1]}
    assert np.asarray(read_table(table).qid).tolist() == [1, "2"]
    assert read_run(table, value="score", doc_id="doc").doc_id.tolist() == [b"1", 1]


def result(ids, values=(1, 0, 1, 0)):
    return evaluate(values, [1, 2, 1, 2], qid=ids, metrics="map")


PAIRS = [(B, B + 1), (7, 8)]
SAME = {
    "int64": lambda a, b: np.array([a, a, b, b]),
    "uint64": lambda a, b: np.array([a, a, b, b], dtype=np.uint64),
    "list": lambda a, b: [a, a, b, b],
    "objects": lambda a, b: np.array([a, a, b, b], dtype=object),
    "Int64": lambda a, b: pd.Series([a, a, b, b], dtype="Int64"),
    "categorical": lambda a, b: pd.Series([a, a, b, b], dtype="category"),
    "Arrow": lambda a, b: pd.Series([a, a, b, b], dtype="int64[pyarrow]"),
    "polars": lambda a, b: pl.Series([a, a, b, b], dtype=pl.UInt64),
}


Part = Enum("Part", {"FIRST": "train", "SECOND": "test"}, type=str)
"""Text whose str() is another one."""


def test_members_of_a_text_enum_are_their_text(tmp_path):
    result = evaluate([1, 0, 1], [2, 1, 3], qid=[Part.FIRST, Part.FIRST, Part.SECOND], metrics="map")
    assert result.qid.tolist() == ["train", "test"]
    result.save(tmp_path / "saved")
    assert type(result).load(tmp_path / "saved").qid.tolist() == ["train", "test"]


@pytest.mark.parametrize("make", SAME.values(), ids=SAME)
@together("pair", PAIRS)
def test_equal_ids_in_other_containers(make, pair):
    a, b = pair
    first, second = result([a, a, b, b]), result(make(*pair))
    assert stats.compare(first, second).n_units == 2
    DifferenceDisplay.from_results({"a": first, "b": second}, metric="map")


LARGE_FLOATS = {
    "array": np.array([1e18, 1e18]),
    "negative": np.array([-(2.0**53), 1]),
    "list": [2.0**53, 1.0],
    "mixed list": [2.0**53, "a"],
    "tuples": [(1, 1e18), (1, 2)],
    "float32 in a list": [np.float32(2**24), np.float32(1)],
    "nullable": pd.array([1e18, 1], dtype="Float64"),
    "nullable float32": pd.array([2.0**24, 1], dtype="Float32"),
    "categories": pd.Categorical([1e18, 1.0]),
    "arrow": pa.array([1e18, 1.0]),
    "polars": pl.Series([1e18, 1.0]),
    "infinite": [np.inf, 1.0],
}


@together("name", [*LARGE_FLOATS])
def test_ids_that_float64_may_have_made_equal(name):
    qid = LARGE_FLOATS[name]
    dtype, limit = ("float32", 2**24) if "float32" in name else ("float64", 2**53)
    for call in (
        lambda: evaluate([1, 0], [1, 2], qid=qid),
        lambda: evaluate_table([([1, 0], [1, 2], qid)]),
        lambda: evaluate([1, 0], [1, 2], qid=[1, 2], clusters=qid),
    ):
        with pytest.raises(
            ValueError, match=f"must stay different, and {dtype} tells whole numbers apart up to {limit}"
        ):
            call()


def test_large_floats_are_rejected_as_ids():
    assert evaluate([1, 0], [1, 2], qid=[2.0**53 - 1, 0.5], metrics="mrr").qid.tolist() == [2**53 - 1, 0.5]
    with pytest.raises(ValueError, match="Ids must stay different.* Got 1000"):
        evaluate([1, 0], [1, 2], qid=[1, 2], by=[1e18, 1e20], metrics="mrr")


def test_different_ids_are_not_compared():
    for one, other in (
        ([B, B, B + 1, B + 1], np.array([B, B, B - 1, B - 1], dtype=np.float64) - 1),
        (["1", "1", "2", "2"], [b"1", b"1", b"2", b"2"]),
        (["1", "1", "2", "2"], [1, 1, 2, 2]),
    ):
        with pytest.raises(ValueError, match="needs the same queries|number and its text are two ids.* Got '?1'? and"):
            stats.compare(result(one), result(other))


@pytest.mark.parametrize(
    ("ids", "order"),
    [
        ([2, np.True_, np.float32(0.5)], [2, 1, 0]),
        ([datetime(2020, 1, 2, tzinfo=UTC), datetime(2021, 1, 1), 3, datetime(2020, 1, 1)], [2, 3, 0, 1]),  # by repr
        (["a", date(2020, 10, 1), date(2020, 2, 1)], [2, 1, 0]),
    ],
)
def test_ids_of_several_types_have_an_order(ids, order):
    array = np.empty(len(ids), dtype=object)
    array[:] = ids
    assert id_order(array).tolist() == order
