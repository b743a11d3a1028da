"""Arguments of the wrong function: the error names the right function and never comes from a third-party library."""

import io
import re
from collections import UserDict

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import dataset, parquet
from registry import together

from sklearn_rank import RankingEvaluator, compare_systems, evaluate, evaluate_table
from sklearn_rank.io import join, read_qrels, read_run
from sklearn_rank.metrics import map_score, ndcg_score

Y, S, Q = np.array([0, 1, 2, 0.0]), np.array([0.4, 0.3, 0.2, 0.1]), np.array([7, 7, 8, 8])
FRAME = pd.DataFrame({"label": Y, "score": S, "qid": Q})
TEXT = FRAME.assign(qid=["a", "a", "b", "b"])
QRELS, RUN = {"q1": {"d1": 1}}, {"q1": {"d1": 0.5, "d2": 0.3}}
RESULT = evaluate(Y, S, qid=Q)
ENTRIES = read_qrels(io.BytesIO(b"q1 0 d1 1\n")), read_run(io.BytesIO(b"q1 Q0 d1 1 0.5 me\n"))
RANX = [type(name, (), {"__module__": "ranx.data_structures", "__getitem__": lambda s, i: 1 / 0}) for name in "qr"]
TO_FRAME, TO_RUN = "evaluate_table(data, y_true='label'", "evaluate_run(judgments, run)"
TO_SYSTEMS, TO_RESULTS = "compare_systems(y_true, {name: y_score}, qid=qid)", "compare_systems({name: result})"

WRONG = [
    ("a frame", (FRAME,), TO_FRAME),
    ("a frame with text", (TEXT,), TO_FRAME),
    ("a frame and a name", (FRAME, "score"), TO_FRAME),
    ("a frame twice", (FRAME, FRAME), TO_FRAME),
    ("a frame with text twice", (TEXT, TEXT), TO_FRAME),
    ("two frames with ids", (FRAME, FRAME.copy()), TO_FRAME),
    ("a frame and scores", (FRAME, S), TO_FRAME),
    ("polars", (pl.from_pandas(TEXT), "score"), TO_FRAME),
    ("polars twice", (pl.from_pandas(FRAME),) * 2, TO_FRAME),
    ("a plan", (pl.from_pandas(TEXT).lazy(), "score"), TO_FRAME),
    ("Arrow", (pa.Table.from_pandas(TEXT), "score"), TO_FRAME),
    ("DuckDB", (duckdb.connect().from_df(TEXT), "score"), TO_FRAME),
    ("a table of arrays", ({"label": Y, "score": S, "qid": Q},), TO_FRAME),
    ("a table of arrays and a name", ({"label": Y, "score": S, "qid": Q}, "score"), TO_FRAME),
    ("names", ("label", "score"), "with their table, or with the path of a file, to evaluate_table"),
    ("labels and a name", (Y, "score"), "with their table, or with the path of a file, to evaluate_table"),
    ("rows as dicts", (FRAME.to_dict("records"), S), "evaluate_table(pandas.DataFrame(rows))"),
    ("dictionaries", (QRELS, RUN), TO_RUN),
    ("one dictionary", (QRELS,), TO_RUN),
    ("sets and lists", ({"q": {"d"}}, {"q": ["d", "e"]}), TO_RUN),
    ("mappings", (UserDict(QRELS), UserDict(RUN)), TO_RUN),
    ("lists of ids", ([["d1", "d2"], ["d3"]], [["d1"], ["d3"]]), TO_RUN),
    ("lists of numbers", ([[1, 2], [3]], [[1], [3]]), TO_RUN),
    ("lists of sets", ([{"d1"}, {"d2"}], [["d1"], ["d2"]]), TO_RUN),
    ("Entries", ENTRIES, TO_RUN),
    ("ranx", (RANX[0](), RANX[1]()), TO_RUN),
    ("systems by name", (Y, {"a": S, "b": S}), TO_SYSTEMS),
    ("a frame of systems", (Y, pd.DataFrame({"a": S, "b": S})), TO_SYSTEMS),
    ("a list of systems", (Y, [S, S]), TO_SYSTEMS),
    ("a result", (RESULT,), TO_RESULTS),
    ("two results", (RESULT, RESULT), TO_RESULTS),
    ("results by name", ({"a": RESULT, "b": RESULT},), TO_RESULTS),
    ("a list of results", ([RESULT, RESULT],), TO_RESULTS),
    ("rows that were joined", (join(ENTRIES[0], ENTRIES[1]),), "evaluate(data.y_true, data.y_score, qid=data.qid)"),
    ("a path", ("rows.parquet",), "evaluate_table"),
]


@pytest.mark.parametrize("function", [evaluate, ndcg_score], ids=["evaluate", "ndcg_score"])
@together("given, hint", [case[1:] for case in WRONG])
def test_wrong_arguments_name_the_right_function(function, given, hint):
    for qid in [Q] if hint == TO_SYSTEMS else [None, Q]:
        with pytest.raises((TypeError, ValueError)) as raised:
            function(*given, **({} if qid is None else {"qid": qid}))
        assert hint in str(raised.value)


def test_a_name_instead_of_the_queries():
    for name in ("qid", "sample_weight"):
        with pytest.raises(
            TypeError, match="Names of columns go with their table, or with the path of a file, to evaluate_table"
        ):
            evaluate(FRAME.label, FRAME.score, **{"qid": Q, name: name})


def test_missing_arguments():
    for function, name in ((evaluate, "evaluate"), (map_score, "map_score")):
        with pytest.raises(TypeError, match=rf"^{name} needs y_true and y_score\.$"):
            function(qid=Q)
        with pytest.raises(TypeError, match=rf"^{name} needs y_score\.$"):
            function(Y, qid=Q)
        with pytest.raises(TypeError, match=rf"^{name} needs y_true\.$"):
            function(y_score=S, qid=Q)
    with pytest.raises(TypeError, match=r"^evaluate_table needs data\.$"):
        evaluate_table(y_score="score")


def test_queries_by_documents_are_unchanged():
    labels, scores = Y.reshape(2, 2), S.reshape(2, 2)
    expected = ndcg_score(labels, scores)
    for make in (pd.DataFrame, lambda x: pl.DataFrame(x, schema=["d1", "d2"])):
        assert ndcg_score(make(labels), make(scores)) == expected
        assert ndcg_score(make(labels), scores) == expected
    with pytest.raises(ValueError, match=r"^y_score must not contain NaN"):
        ndcg_score(pd.DataFrame(labels), pd.DataFrame([[np.nan, 1], [1, 1]]))
    one = FRAME[["label"]]
    assert evaluate(one, S, qid=Q).mean() == evaluate(Y, S, qid=Q).mean()
    assert compare_systems(one, {"a": S}, qid=Q).results["a"].mean() == evaluate(Y, S, qid=Q).mean()
    with pytest.raises(ValueError, match=r"^y_score must not contain NaN .* Got nan in row 0\.$"):
        evaluate(one, np.array([np.nan, 1, 1, 1]), qid=Q)
    assert ndcg_score(pd.DataFrame(labels), (same := pd.DataFrame(labels))) == ndcg_score(same, same) == 1


@pytest.mark.parametrize(
    ("data", "hint"),
    [
        (QRELS, TO_RUN),
        (RESULT, TO_RESULTS),
        (Y, "evaluate(y_true, y_score, qid=qid)"),
        ([Y, S, Q], "evaluate(y_true, y_score, qid=qid)"),
        (FRAME.label, "evaluate(y_true, y_score, qid=qid)"),
    ],
    ids=["qrels", "result", "array", "arrays", "Series"],
)
def test_doors_reject_objects_that_are_not_tables(data, hint):
    with pytest.raises(TypeError) as raised:
        evaluate_table(data)
    assert hint in str(raised.value)
    assert f"Got {type(data).__name__}" in str(raised.value) or isinstance(data, list)


def test_data_on_disk_go_to_tables():
    for data in ("rows.parquet", dataset.dataset(pa.Table.from_pandas(FRAME))):
        with pytest.raises(TypeError, match=r"Data on disk go to evaluate_table\(path\), or to io.read_table"):
            evaluate(data, S)


def test_the_error_for_two_columns_works_when_followed(tmp_path):
    """The call that the error of compare_systems names works; other errors do not lead back to the same call."""
    rows = FRAME.assign(bm25=FRAME.score, lgbm=-FRAME.score)
    parquet.write_table(pa.Table.from_pandas(rows), tmp_path / "rows.parquet")
    path = str(tmp_path / "rows.parquet")
    with pytest.raises(TypeError, match="reads only tables in memory. Evaluate each column") as raised:
        compare_systems(path, ["bm25", "lgbm"], metrics="mrr")
    call = re.search(r"compare_systems\((.*)\)\. Got", str(raised.value))[1]
    names = {"data": path, "evaluate_table": evaluate_table}
    results = eval(call.replace("y_score=name", "y_score=name, metrics='mrr'"), names)
    assert compare_systems(results).summary() == compare_systems(rows, ["bm25", "lgbm"], metrics="mrr").summary()
    with pytest.raises(TypeError, match=r"evaluate_table\(data, y_score=name\).* Got list_iterator"):
        compare_systems(iter([rows]), ["bm25", "lgbm"])
    for data in (path, rows):
        with pytest.raises(TypeError, match=r"of other data evaluate each column, and pass the results: compare_sys"):
            evaluate_table(data, y_score=["bm25", "lgbm"])


@pytest.mark.parametrize(
    ("keyword", "says"),
    [
        ("random_state", "stats.compare and stats.compare_all have random_state="),
        ("duplicates", "evaluate_run, io.join and readers of files have duplicates="),
    ],
)
def test_keywords_of_other_doors(keyword, says):
    data = FRAME.label, FRAME.score
    report = compare_systems(FRAME, ["score"], metrics="mrr")
    for call in (
        lambda **more: evaluate(*data, qid=FRAME.qid, **more),
        lambda **more: ndcg_score(*data, qid=FRAME.qid, **more),
        lambda **more: evaluate_table(FRAME, **more),
        lambda **more: evaluate_table([FRAME], **more),
        lambda **more: compare_systems(FRAME, ["score"], **more),
        lambda **more: report.significance("mrr", **more),
        lambda **more: RankingEvaluator("mrr", **more),
    ):
        with pytest.raises(TypeError, match=re.escape(says)):
            call(**{keyword: 1})
    with pytest.raises(TypeError, match=r"RankingEvaluator and evaluate_retrieval have progress="):
        evaluate(*data, qid=FRAME.qid, progress=True)
    seen = np.array([[0, 1, 0], [0, 0, 1]])
    assert evaluate(np.eye(2, 3), [[1, 2, 0], [1, 0, 2]], metrics="mrr", mask=seen == 0).mean() == {"mrr": 0.75}


def test_spark_frames_are_recognized_without_spark():
    frame = type("DataFrame", (), {"__module__": "pyspark.sql.connect.dataframe", "columns": ["label"]})()
    for call in (evaluate_table, evaluate, ndcg_score):
        with pytest.raises(TypeError, match=r"sklearn_rank.spark.evaluate\(data\), which has the same columns"):
            call(frame)


def test_doors_keep_errors_without_a_hint():
    with pytest.raises(TypeError, match="^y_true must hold real numbers"):
        evaluate(["a", "b"], [1, 2], qid=[1, 1])
    with pytest.raises(TypeError, match="^data must be a frame of pandas or polars.*Got DuckDBPyConnection"):
        evaluate_table(duckdb.connect())


def test_frames_of_labels_with_other_faults():
    """Labels may be of subtopics, so the error names the other fault first."""
    labels = pd.DataFrame({"a": [1.0, 0, 0, np.inf], "b": [0.0, 1, 0, 1]})
    with pytest.raises(ValueError, match=r"^y_true must be finite.* in row 3. A table goes to evaluate_table"):
        evaluate(labels, S, qid=Q)
