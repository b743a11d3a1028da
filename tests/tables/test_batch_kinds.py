"""Batches of every kind: frames, dicts, Arrow, CSV in chunks, Parquet."""

import json
import sys
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest
from batch_cases import NAMES, make

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import read_table

KINDS = {
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "dict": dict,
    "record batch": lambda c: pytest.importorskip("pyarrow").RecordBatch.from_pydict(c),
    "table": lambda c: pytest.importorskip("pyarrow").table(c),
}


@pytest.fixture
def columns():
    data = make(shuffle=True)
    return {"label": data.y_true.astype(int), "other": data.qid, "score": data.y_score, "qid": data.qid.astype(str)}


@pytest.fixture
def expected(columns):
    return evaluate(columns["label"], columns["score"], qid=columns["qid"].tolist(), metrics=NAMES)


def assert_equal_values(found, expected):
    """As `assert_same`, but ids may be objects."""
    assert found.qid.tolist() == expected.qid.tolist()
    assert found.per_query["map"].tobytes() == expected.per_query["map"].tobytes()
    assert found.mean() == expected.mean()


def test_ids_in_the_index(columns, expected):
    frame = pd.DataFrame(columns)
    assert_equal_values(evaluate_table([frame.set_index("qid")], metrics=NAMES), expected)
    assert_equal_values(evaluate_table(frame.set_index(["other", "qid"]), metrics=NAMES), expected)
    assert_equal_values(evaluate_table([frame.set_index(frame.qid * 2)], metrics=NAMES), expected)  # the column counts
    with pytest.raises(ValueError, match="Got no 'qid' among 'label', 'other', 'score', 'q'"):
        evaluate_table([frame.rename(columns={"qid": "q"}).set_index("q")], metrics=NAMES)


@pytest.mark.parametrize("column", ["label", "score", "qid"])
@pytest.mark.parametrize("kind", ["record batch", "polars", "pandas"])
@pytest.mark.parametrize("grouped", [False, True])
def test_nulls_are_refused(column, kind, grouped):
    rows = {"label": [1, 0], "score": [2, 1], "qid": [7, 7]}
    message = {"label": "y_true .* must not contain NaN", "score": "y_score must not", "qid": "qid must not"}[column]
    bad = KINDS[kind](rows | {column: [1, None]})
    with pytest.raises(ValueError, match=message + r".*This is batch 1, whose row 0 is row 2 of the stream"):
        evaluate_table([KINDS[kind](rows), bad], metrics="map", assume_grouped=grouped)


def test_parquet(columns, expected, tmp_path):
    pq, dataset = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow.dataset")
    table = pytest.importorskip("pyarrow").table(columns)
    pq.write_table(table, tmp_path / "one.parquet", row_group_size=30)
    (tmp_path / "many").mkdir()
    for i in range(4):
        pq.write_table(table[i * 100 : (i + 1) * 100], tmp_path / "many" / f"{i}.parquet")
    pq.write_table(table[:0], tmp_path / "many" / "4.parquet")
    pq.write_table(table[400:], tmp_path / "many" / "5.parquet")
    for source in (tmp_path / "one.parquet", str(tmp_path / "many"), dataset.dataset(tmp_path / "many")):
        assert_equal_values(evaluate_table(source, metrics=NAMES, memory_limit=2000), expected)


def as_csv(table, path, separator=","):
    pd.DataFrame(table).to_csv(path, index=False, sep=separator)


def as_arrow(table, path, new="new_file"):
    pa = pytest.importorskip("pyarrow")
    table = pa.table(table)
    with getattr(pa.ipc, new)(path, table.schema) as file:
        file.write_table(table, max_chunksize=50)


WRITTEN = {
    "rows.csv": as_csv,
    "rows.tsv": partial(as_csv, separator="\t"),
    "semicolons": partial(as_csv, separator=";"),
    "rows.csv.gz": as_csv,
    "rows.arrow": as_arrow,
    "stream": partial(as_arrow, new="new_stream"),
    "rows.jsonl": lambda table, path: path.write_text(
        "\n".join(map(json.dumps, pd.DataFrame(table).to_dict("records")))
    ),
}


@pytest.mark.parametrize("name", WRITTEN)
def test_files_are_known_by_their_content(columns, expected, name, tmp_path):
    WRITTEN[name](columns, tmp_path / name)
    assert_equal_values(evaluate_table(tmp_path / name, metrics=NAMES, memory_limit=2000), expected)
    assert_equal_values(evaluate_table(tmp_path, metrics=NAMES), expected)
    with pytest.raises(ValueError, match=r"data must have each of the columns once: y_true='y'"):
        evaluate_table(tmp_path / name, metrics=NAMES, y_true="y")


@pytest.mark.parametrize("form", ["rows.csv", "rows.jsonl", "rows.arrow", "stream"])
def test_files_of_a_folder_a_pattern_and_a_list(form, columns, expected, tmp_path):
    for i in range(5):
        part = {name: np.array_split(column, 5)[i] for name, column in columns.items()}
        WRITTEN[form](dict(reversed(part.items())) if i == 4 and form == "rows.csv" else part, tmp_path / f"{i}{form}")
    for hidden in ("_SUCCESS", ".crc"):
        (tmp_path / hidden).write_text("")
    (tmp_path / "_temporary").mkdir()
    (tmp_path / "_temporary" / "0.csv").write_text("half a li")
    for files in (tmp_path, f"{tmp_path}/*{form}", [str(tmp_path / f"[01]{form}"), *sorted(tmp_path.glob("[2-4]*"))]):
        assert_equal_values(evaluate_table(files, metrics=NAMES), expected)
        read = read_table(files)
        assert_equal_values(evaluate(read.y_true, read.y_score, qid=read.qid, metrics=NAMES), expected)


def test_files_that_number_their_queries_alike(tmp_path):
    rows = pd.DataFrame({"qid": np.repeat(range(25), 4), "label": [0, 1, 0, 0] * 25, "score": [3, 2, 1, 0] * 25})
    for day in (1, 2):
        rows[["qid", "label", "score"]].sort_values(["qid", "score"]).to_csv(tmp_path / f"{day}.csv", index=False)
        rows["label"] = [0, 0, 1, 1] * 25
    for read in (read_table, evaluate_table):
        with pytest.warns(RankingWarning, match="2 batches or files number their queries from 0"):
            read(tmp_path)


def test_text_of_csv_is_read_as_ids_and_numbers(tmp_path):
    """Ids are unchanged; numbers are whole, with a fraction or missing, each batch in its own type."""
    path = tmp_path / "rows.csv"
    path.write_text('label,score,qid,w\n0, 2,007,1\n1,1.5,"007",1\nNA,-inf,7,2\n1,1e3,7,2\n')
    found = evaluate_table(path, metrics="mrr", sample_weight="w", unjudged="drop")
    assert found.qid.tolist() == ["007", "7"]
    assert found.per_query["mrr"].tolist() == [0.5, 1]
    assert found.weight.tolist() == [1, 2]
    for text, error, message in (
        ("0,2,a\n1,high,a", TypeError, "y_score must hold real numbers. Got '2' instead"),
        ("0,2,a\n1,,a", ValueError, "y_score must not contain NaN"),
        ("0,2,a\n1,1,", ValueError, "qid must not contain missing values"),
        ("0,2,a\n1,9007199254740993,a", ValueError, "numbers that float64 can tell apart"),
        ("0,2,a\n1,1,a,5", ValueError, r"A path must lead to a file of CSV.*Got .*rows\.csv"),
    ):
        path.write_text(f"label,score,qid\n{text}\n")
        with pytest.raises(error, match=message):
            evaluate_table(path, metrics="mrr")
    path.write_text("label,score,query_id\n1,1,a\n")
    with pytest.raises(ValueError, match=r"Got no 'qid' among .*Did you mean qid='query_id'"):
        evaluate_table(path)
    path.write_text("")
    with pytest.raises(
        ValueError, match=r"A path must lead to a file of CSV, JSON lines, Parquet or Arrow.* Got .*rows\.csv"
    ):
        evaluate_table(path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        evaluate_table(tmp_path / "nowhere.csv")
    (tmp_path / "empty").mkdir()
    with pytest.raises(FileNotFoundError, match=r"A folder or a pattern must have a file. Got none in .*empty"):
        evaluate_table(tmp_path / "empty")


def test_parquet_by_folders(tmp_path):
    pytest.importorskip("pyarrow")
    frame = pd.DataFrame({"label": [1, 0, 2, 0], "score": [1, 2, 3, 4], "qid": [7, 7, 8, 8]})
    frame.to_parquet(tmp_path / "rows", partition_cols=["qid"])
    found = evaluate_table(tmp_path / "rows", metrics="map", assume_grouped=True)
    assert_equal_values(found, evaluate(frame.label, frame.score, qid=frame.qid, metrics="map"))


def test_data_set_with_other_columns(columns, tmp_path):
    pq, pa = pytest.importorskip("pyarrow.parquet"), pytest.importorskip("pyarrow")
    table = pa.table(columns)
    pq.write_table(table[:100], tmp_path / "0.parquet")
    with pytest.raises(ValueError, match=r"data must have.*y_true='y'.*Got no 'y' among 'label', 'other'"):
        evaluate_table(tmp_path, metrics="map", y_true="y")
    pq.write_table(table[100:].drop(["label"]), tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1.parquet must have each of the columns.*Got no 'label' among 'other'"):
        evaluate_table(tmp_path, metrics="map", unjudged="nonrelevant")
    pq.write_table(table[100:].set_column(0, "label", pa.array(["high"] * (len(table) - 100))), tmp_path / "1.parquet")
    with pytest.raises(TypeError, match="y_true must hold real numbers. Got 'high'"):
        evaluate_table(tmp_path, metrics="map")
    (tmp_path / "1.parquet").write_bytes((tmp_path / "0.parquet").read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"must be whole.* Got .*1.parquet: .*Parquet"):
        evaluate_table(tmp_path, metrics="map")


def written(folder, *tables):
    """A folder with a Parquet file for each table."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, table in enumerate(tables):
        pd.DataFrame(table).to_parquet(folder / f"{i}.parquet")
    return folder


ROWS = {"label": [0, 1], "score": [2.0, 1.0], "qid": [7, 7]}
MIXED = {
    "bool, then grades": ({"label": [True, False]}, {"label": [2, 1]}),
    "whole labels, then others": ({"label": [1, 0]}, {"label": [0.5, 0.0]}),
    "narrow labels, then wide ones": ({"label": np.array([1, 0], np.int8)}, {"label": [300, 0]}),
    "labels, then text": ({}, {"label": ["0", "1"]}),
    "float32, then float64": ({"score": np.array([1, 2], np.float32)}, {"score": [1.0, 1 + 1e-9]}),
    "bool, then scores": ({"score": [True, False]}, {"score": [0.5, 0.7]}),
    "scores, then text": ({}, {"score": ["2", "1"]}),
    "ids, then text": ({}, {"qid": ["007", "007"]}),
    "ids, then others": ({}, {"qid": [7.5, 7.5]}),
    "text, then ids": ({"qid": ["7", "7"]}, {}),
    "narrow ids, then wide ones": ({"qid": np.array([7, 7], np.int32)}, {"qid": [2**40, 2**40]}),
    "ids of float32, then float64": ({"qid": np.array([1, 1], np.float32)}, {"qid": [1 + 1e-9, 1 + 1e-9]}),
    "text, then categories": ({"qid": ["a", "a"]}, {"qid": pd.Categorical(["b", "b"])}),
    "nothing, then ids": ({"label": [], "score": [], "qid": []}, {}),
}


@pytest.mark.filterwarnings("ignore:A label has the gain")
@pytest.mark.parametrize("case", MIXED)
def test_files_of_several_types_are_read_as_batches_in_memory(case, tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset")
    first, second = MIXED[case]
    frames = [pd.DataFrame(ROWS | first), pd.DataFrame(ROWS | {"qid": [8, 8]} | second)]

    def outcome(data):
        try:
            found = evaluate_table(data, metrics="dcg")
        except TypeError as error:
            return str(error).partition(" This is batch")[0]
        return found.qid.tolist(), found.per_query["dcg"].tolist()

    expected, folder = outcome(frames), written(tmp_path, *frames)
    assert outcome(folder) == outcome(dataset.dataset(folder)) == expected


def test_an_error_names_the_file(tmp_path):
    pytest.importorskip("pyarrow")
    folder = written(tmp_path, ROWS, ROWS | {"qid": ["007", "007"]})
    with pytest.raises(
        TypeError, match=r"Got text after integers\. This is batch 1 of .*1\.parquet, whose row 0 is row 2"
    ):
        evaluate_table(folder, metrics="mrr")


def test_declared_types_of_a_data_set_apply(tmp_path):
    dataset, pa = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow")
    types = pa.schema({"label": pa.int64(), "score": pa.float64(), "qid": pa.string()})
    folder = written(tmp_path / "rows", ROWS, ROWS | {"qid": ["007", "007"]})
    assert evaluate_table(dataset.dataset(folder, schema=types), metrics="mrr").qid.tolist() == ["7", "007"]
    (tmp_path / "rows.csv").write_text("label,score,qid\n0,2,007\n1,1,7\n")
    given = dataset.dataset(tmp_path / "rows.csv", schema=types, format="csv")
    assert evaluate_table(given, metrics="mrr").qid.tolist() == ["007", "7"]
    read = dataset.dataset(tmp_path / "rows.csv", format="csv")
    assert evaluate_table(read, metrics="mrr").qid.tolist() == [7]


def test_folders_of_one_number_are_rejected(tmp_path):
    dataset, pa = pytest.importorskip("pyarrow.dataset"), pytest.importorskip("pyarrow")
    rows = {"label": [0, 1], "score": [2.0, 1.0]}
    for folder in ("day=1/qid=07", "day=2/qid=07", "day=02/qid=8"):
        written(tmp_path / folder, rows)
    assert evaluate_table(tmp_path, metrics="mrr").qid.tolist() == [8, 7]
    written(tmp_path / "day=3" / "qid=7", rows)
    with pytest.raises(ValueError, match=r"Folders of one query must be named alike.* Got 'qid=07' and 'qid=7'"):
        evaluate_table(tmp_path, metrics="mrr")
    as_text = dataset.partitioning(pa.schema([("day", pa.string()), ("qid", pa.string())]), flavor="hive")
    found = evaluate_table(dataset.dataset(tmp_path, partitioning=as_text), metrics="mrr")
    assert sorted(found.qid.tolist()) == ["07", "7", "8"]


def test_unreadable_batches_are_named(tmp_path):
    pytest.importorskip("pyarrow")
    (written(tmp_path / "text", ROWS) / "readme.txt").write_text("The rows of May.")
    (tmp_path / "text" / "_SUCCESS").write_text("")
    with pytest.raises(ValueError, match=r"Each file .* must be whole, and of its format.* Got .*readme\.txt: "):
        evaluate_table(tmp_path / "text", metrics="mrr")
    written(tmp_path / "both" / "qid=7", ROWS)
    with pytest.raises(ValueError, match=r"in files or in the names of folders.*dataset\(path\)\. Got .*both: .*qid"):
        evaluate_table(tmp_path / "both", metrics="mrr")
    pages = written(tmp_path / "pages", ROWS) / "0.parquet"
    pages.write_bytes(b"PAR1" + bytes(200) + pages.read_bytes()[204:])
    with pytest.raises(ValueError, match=r"must be whole, and of its format.* Got .*0\.parquet: "):
        evaluate_table(pages, metrics="mrr")
    end = pages.read_bytes()
    for damaged in end[:-700] + bytes(600) + end[-100:], end.replace(b"label", b"l\xffbel"):
        pages.write_bytes(damaged)
        with pytest.raises(ValueError, match=r"(A path must lead to a file of CSV|must be whole).* Got .*0\.parquet: "):
            evaluate_table(pages, metrics="mrr")


def test_a_file_that_is_gone(tmp_path):
    dataset = pytest.importorskip("pyarrow.dataset").dataset(written(tmp_path / "rows", ROWS))
    (tmp_path / "rows" / "0.parquet").unlink()
    with pytest.raises(FileNotFoundError, match=r"0\.parquet"):
        evaluate_table(dataset, metrics="mrr")


def test_a_path_without_pyarrow_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.dataset", None)
    with pytest.raises(ImportError, match=r'pip install "sklearn-rank\[arrow\]"'):
        evaluate_table("rows.parquet", metrics="map")


def test_text_stays_the_same_query_if_other_types_follow():
    others = np.array([None, None], dtype=object)
    others[:] = ["b", ("b",)]
    found = evaluate_table([([1, 0], [2, 1], ["a", "b"]), ([1, 1], [2, 1], others)], metrics="mrr")
    assert found.qid.tolist() == ["a", "b", ("b",)]
    assert found.n_documents.tolist() == [1, 2, 1]


@pytest.mark.parametrize("first", [3, 4])
def test_weights_in_only_some_batches(first):
    rows = [1, 0], [2, 1], ["a", "a"], [1, 1]
    others = [1, 0], [2, 1], ["b", "b"], [1, 1]
    with pytest.raises(ValueError, match="Either all batches have sample_weight or none"):
        evaluate_table([rows[:first], others[: 7 - first]], metrics="map")


@pytest.mark.parametrize("assume_grouped", [False, True])
@pytest.mark.filterwarnings("ignore:Every query has one row")
def test_weights_of_many_queries_in_one_batch(assume_grouped):
    y, weight = np.arange(1100) % 2, np.arange(1.0, 1101.0)
    result = evaluate_table([(y, y, np.arange(1100), weight)], metrics="p@1", assume_grouped=assume_grouped)
    assert result.weight.tolist() == weight.tolist()
    assert result.mean()["p@1"] == (weight * y).sum() / weight.sum()


def test_arrow_without_columns():
    pa = pytest.importorskip("pyarrow")
    for data in (pa.chunked_array([[1, 2]]), pa.array([1, 2])):
        with pytest.raises(TypeError, match=f"must have columns. Got {type(data).__name__}"):
            evaluate_table(data, metrics="map")
