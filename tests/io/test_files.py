"""`read_run` and `read_qrels`: common file formats give the same result as dictionaries."""

import gzip
import io
import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from registry import together

from sklearn_rank import evaluate_run
from sklearn_rank.io import join, read_qrels, read_run, read_table

METRICS = ["mrr", "ndcg@2"]
JUDGED = {"1": {"a": 1, "b": 0}, "2": {"c": 2}}
RELEVANT = {"1": {"a": 1}, "2": {"c": 1}}
RUN = {"1": {"b": 0.9, "a": 0.8}, "2": {"x": 0.7, "c": 0.6}}
QRELS = {
    "TREC": "1 0 a 1\n1 0 b 0\n2 0 c 2\n",
    "TREC, tabs, blank lines": "\n1\t0\ta\t1\n\n1\t0\tb\t0\n2\t0\tc\t2\n",
    "BEIR": "query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t2\n",
    "BEIR, of Windows": "\ufeffquery-id\tcorpus-id\tscore\r\n1\ta\t1\r\n1\tb\t0\r\n2\tc\t2\r\n",
    "three fields": "1\ta\t1\n1\tb\t0\n2\tc\t2\n",
    "other columns": "iter\tdocno\tqid\trel\n0\ta\t1\t1\n0\tb\t1\t0\n0\tc\t2\t2\n",
    "semicolons": "qid;docno;label\n1;a;1\n1;b;0\n2;c;2\n",
    "commas": 'query_id,doc_id,relevance\n1,"a",1\n1,b,0\n2,c,2\n',
    "commas without a header": "1,a,1\n1,b,0\n2,c,2\n",
    "JSON": json.dumps(JUDGED),
    "JSON, indented": json.dumps(JUDGED, indent=1),
    "JSON lines": '{"query-id": "1", "corpus-id": "a", "score": 1}\n{"query-id": "1", "corpus-id": "b", "score": 0}\n'
    '{"query-id": "2", "corpus-id": "c", "score": 2}\n',
}
SETS = {
    "MS MARCO": "1\ta\n2\tc\n",
    "a header": "qid pid\n1 a\n2 c\n",
    "JSON": '{"1": ["a"], "2": ["c"]}',
    "commas": "qid,doc_id\n1,a\n2,c\n",
    "one line of JSON": '{"qid": "1", "doc_id": "a"}\n\n{"qid": "2", "doc_id": "c"}',
}
RUNS = {
    "TREC": "1 Q0 b 1 0.9 me\n1 Q0 a 2 0.8 me\n2 Q0 x 1 0.7 me\n2 Q0 c 2 0.6 me\n",
    "MS MARCO": "1\tb\t1\n1\ta\t2\n2\tx\t1\n2\tc\t2\n",
    "three fields": "1 b 0.9\n1 a 0.8\n2 x 0.7\n2 c 0.6\n",
    "scores that look like ranks from below": "1 b 2\n1 a 1\n2 x 2\n2 c 1\n",
    "queries that come again": "1 b 1\n2 x 1\n1 a 2\n2 c 2\n",
    "a header": "query-id\tcorpus-id\tscore\n1\tb\t0.9\n1\ta\t0.8\n2\tx\t0.7\n2\tc\t0.6\n",
    "ranks with a header": "qid\tdocno\trank\n1\ta\t7\n1\tb\t3\n2\tx\t1\n2\tc\t9\n",
    "semicolons": "score;qid;docno\n0.9;1;b\n0.8;1;a\n0.7;2;x\n0.6;2;c\n",
    "commas without a header": "1,b,1\n1,a,2\n2,x,1\n2,c,2\n",
    "commas of TREC": "1,Q0,b,1,0.9,me\n1,Q0,a,2,0.8,me\n2,Q0,x,1,0.7,me\n2,Q0,c,2,0.6,me\n",
    "JSON": json.dumps(RUN),
    "JSON of lists": '{"1": ["b", "a"], "2": ["x", "c"]}',
    "JSON of MTEB": json.dumps({"mteb_model_meta": {"model_name": "m", "revision": "1"}, "default": {"test": RUN}}),
    "JSON of hits": json.dumps({q: [{"doc_id": d, "score": s} for d, s in run.items()] for q, run in RUN.items()}),
    "JSON of rows": json.dumps([{"qid": q, "docno": d, "score": s} for q, r in RUN.items() for d, s in r.items()]),
}


def mean(judgments, run, **options):
    return evaluate_run(judgments, run, metrics=METRICS, **options).mean()


def file(text):
    return io.BytesIO(text.encode())


@pytest.mark.parametrize("form", QRELS)
def test_judgments(form, tmp_path):
    if "comma" in form or "semi" in form or "other" in form:
        pytest.importorskip("pyarrow")
    expected = mean(JUDGED, RUN)
    assert mean(read_qrels(file(QRELS[form])), RUN) == expected
    (tmp_path / "qrels").write_bytes(gzip.compress(QRELS[form].encode()))
    assert mean(read_qrels(tmp_path / "qrels"), read_run(file(RUNS["TREC"]))) == expected


@pytest.mark.parametrize("form", SETS)
def test_relevant_documents(form):
    if form == "commas":
        pytest.importorskip("pyarrow")
    assert mean(read_qrels(file(SETS[form])), RUN) == mean(RELEVANT, RUN)


@pytest.mark.parametrize("form", RUNS)
def test_read_run_forms(form, tmp_path):
    if "comma" in form or "semi" in form:
        pytest.importorskip("pyarrow")
    expected = mean(JUDGED, RUN)
    run = read_run(file(RUNS[form]))
    assert mean(JUDGED, run) == expected
    assert mean(read_qrels(file(QRELS["TREC"])), run) == expected
    (tmp_path / "run").write_text(RUNS[form])
    assert mean(JUDGED, read_run(tmp_path / "run", n_jobs=2)) == expected
    with pytest.raises(ValueError, match="the judgments first, then the run"):
        join(run, JUDGED)


def test_tables_of_ranx_and_others(tmp_path):
    pytest.importorskip("pyarrow")
    rows = [(q, d, s) for q, values in RUN.items() for d, s in values.items()]
    pd.DataFrame(rows, columns=["q_id", "doc_id", "score"]).to_parquet(tmp_path / "run.parquet")
    assert mean(JUDGED, read_run(tmp_path / "run.parquet")) == mean(JUDGED, RUN)
    with open(tmp_path / "run.parquet", "rb") as opened:
        assert mean(JUDGED, read_run(opened)) == mean(JUDGED, RUN)


def test_ranks_and_scores_of_three_fields():
    text = "1 a 2\n1 b 1\n2 x 1\n2 c 2\n"
    assert read_run(file(text), format="ranks").value.tolist() == [-2, -1, -1, -2]
    assert read_run(file(text), format="scores").value.tolist() == [2, 1, 1, 2]
    with pytest.raises(ValueError, match="may be a rank or a score: pass format='ranks' or format='scores'"):
        read_run(file(text))
    assert read_run(file("1 a 0\n1 b 1.5\n")).value.tolist() == [0, 1.5]
    assert read_run(file("1 a 7\n2 b 9\n")).value.tolist() == [7, 9]


@pytest.mark.parametrize("mark", ["\t", ","])
def test_a_document_that_is_twice_in_a_run_of_ranks_keeps_its_better_rank(mark):
    if mark == ",":
        pytest.importorskip("pyarrow")
    text = "1\tb\t1\n1\ta\t2\n1\tb\t3\n".replace("\t", mark)
    for options in ({}, {"format": "ranks"}):
        assert read_run(file(text), duplicates="first", **options).value.tolist() == [-1, -2]
    header = "qid\tdocno\trank\n".replace("\t", mark)
    assert read_run(file(header + text), duplicates="first").value.tolist() == [-1, -2]


# --- named columns, and ambiguous files -----------------------------------------------------------------------

ROWS = [(q, d, s) for q, values in RUN.items() for d, s in values.items()]
GRADES = [(q, d, g) for q, values in JUDGED.items() for d, g in values.items()]
OTHERS = ["topic of mine", "page", "bm25"]
"""Names of columns that no library gives them."""
NAMES = dict(zip(("qid", "doc_id", "value"), OTHERS, strict=True))


def text_of(frame, mark):
    return file(frame.to_csv(index=False, sep=mark))


def arrow_of(frame):
    pa = pytest.importorskip("pyarrow")
    table, target = pa.Table.from_pandas(frame), io.BytesIO()
    with pa.ipc.new_file(target, table.schema) as writer:
        writer.write_table(table)
    return io.BytesIO(target.getvalue())


def stream_of(frame):
    pa = pytest.importorskip("pyarrow")
    return pa.table(frame).to_reader()


def parquet_of(frame):
    pytest.importorskip("pyarrow")
    return io.BytesIO(frame.to_parquet())


TABLES = {
    "pandas": lambda frame: frame,
    "a level of the index": lambda frame: frame.set_index("topic of mine"),
    "polars": lambda frame: pytest.importorskip("polars").from_pandas(frame),
    "a lazy frame": lambda frame: pytest.importorskip("polars").from_pandas(frame).lazy(),
    "Arrow": lambda frame: pytest.importorskip("pyarrow").Table.from_pandas(frame),
    "lists": lambda frame: {name: frame[name].tolist() for name in frame},
    "arrays": lambda frame: {name: frame[name].to_numpy() for name in frame},
    "a stream of Arrow": lambda frame: stream_of(frame),
    "DuckDB": lambda frame: pytest.importorskip("duckdb").sql("SELECT * FROM frame"),
    "structured": lambda frame: frame.to_records(index=False),
    "commas": lambda frame: text_of(frame, ","),
    "tabs": lambda frame: text_of(frame, "\t"),
    "semicolons": lambda frame: text_of(frame, ";"),
    "Parquet": parquet_of,
    "a file of Arrow": arrow_of,
    "JSON of rows": lambda frame: file(frame.to_json(orient="records")),
    "JSON lines": lambda frame: file(frame.to_json(orient="records", lines=True)),
}
OF_ARROW = ("commas", "tabs", "semicolons")
"""Forms that pyarrow reads."""


@together("form", TABLES)
def test_columns_of_any_name_in_tables_of_every_kind(form):
    if form in OF_ARROW:
        pytest.importorskip("pyarrow")
    run, qrels = pd.DataFrame(ROWS, columns=OTHERS), pd.DataFrame(GRADES, columns=OTHERS)
    more = {"another": [*"wxyz"], "number": range(4)}
    read = read_run(TABLES[form](run.assign(**more)), **NAMES)
    assert mean(read_qrels(TABLES[form](qrels), **NAMES), read) == mean(JUDGED, RUN)
    usual = pd.DataFrame(ROWS, columns=["qid", "docno", "bm25"])
    if form != "a level of the index":
        assert mean(JUDGED, read_run(TABLES[form](usual), value="bm25")) == mean(JUDGED, RUN)
    # Without grades each row is relevant.
    taken = qrels[qrels["bm25"] > 0].drop(columns="bm25").rename(columns={"page": "item"})
    read = read_qrels(TABLES[form](taken), qid="topic of mine")
    assert mean(read, RUN) == mean(RELEVANT, RUN)


@together("form", TABLES)
def test_ranks_under_any_name(form):
    """A lower rank is better if the column has that name or `format` says so."""
    if form in OF_ARROW:
        pytest.importorskip("pyarrow")
    ranked = [(q, d, rank) for q, values in RUN.items() for rank, d in enumerate(values, 7)]
    frame = pd.DataFrame(ranked, columns=OTHERS)
    assert mean(JUDGED, read_run(TABLES[form](frame), format="ranks", **NAMES)) == mean(JUDGED, RUN)
    up = {q: dict(zip(values, (7, 8), strict=True)) for q, values in RUN.items()}
    assert mean(JUDGED, read_run(TABLES[form](frame), **NAMES)) == mean(JUDGED, up) != mean(JUDGED, RUN)
    frame, names = frame.rename(columns={"bm25": "Rank"}), NAMES | {"value": "Rank"}
    assert mean(JUDGED, read_run(TABLES[form](frame), **names)) == mean(JUDGED, RUN)
    assert mean(JUDGED, read_run(TABLES[form](frame), format="scores", **names)) == mean(JUDGED, up)


def test_ranks_of_lines_and_of_json():
    header = "qid docno rank\n1 a 2\n1 b 1\n"
    assert read_run(file(header)).value.tolist() == [-2, -1]
    assert read_run(file(header), format="scores").value.tolist() == [2, 1]
    assert read_run(file(header.replace("rank", "score")), format="ranks").value.tolist() == [-2, -1]
    by_query = '{"1": {"a": 2, "b": 1}}'
    assert read_run(file(by_query)).value.tolist() == [2, 1]
    assert read_run(file(by_query), format="ranks").value.tolist() == [-2, -1]
    assert read_run(file('{"1": ["a", "b"]}'), format="ranks").value.tolist() == [2, 1]
    assert mean(JUDGED, read_run(file(RUNS["TREC"]), format="scores")) == mean(JUDGED, RUN)


@pytest.mark.parametrize("first", ["[1]", "{1}", "PAR1", "ARROW1", "qid"])
def test_lines_of_trec_after_any_first_line(first):
    run, qrels = f"{first} Q0 docno 1 0.5 me\n", f"{first} 0 docno 1\n"
    entries = read_run(file(run), format="trec")
    assert (np.asarray(entries.qid).tolist(), entries.value.tolist()) == ([first], [0.5])
    assert mean(read_qrels(file(qrels), format="trec"), entries) == {"mrr": 1, "ndcg@2": 1}
    for read, text, n_fields in ((read_run, "1 b 0.9\n", 6), (read_qrels, "1 b 1\n", 4)):
        with pytest.raises(ValueError, match=f"has lines of {n_fields} fields"):
            read(file(text), format="trec")


CSV = "topic,page,bm25\n1,a,0.5\n"


@pytest.mark.parametrize(
    ("read", "source", "keywords", "error", "message"),
    [
        (
            read_run,
            CSV,
            {"value": "bm25", "doc_id": "nope"},
            ValueError,
            "'topic', 'page', 'bm25'. Got 'nope', 0 times",
        ),
        (
            read_run,
            CSV,
            {"value": "nope", "doc_id": "page"},
            ValueError,
            "'topic', 'page', 'bm25'. Got 'nope', 0 times",
        ),
        (read_qrels, CSV, {"value": "nope", "doc_id": "page"}, ValueError, "Got 'nope', 0 times there"),
        (
            read_run,
            CSV,
            {"value": "bm25"},
            TypeError,
            r"as run needs .*Got 'topic', 'page', 'bm25'; io\.read_run\(table",
        ),
        (read_qrels, CSV, {"value": "bm25"}, TypeError, r"as judgments needs .*io\.read_qrels\(table, value="),
        (read_run, CSV, {"doc_id": "page"}, TypeError, "one of values, such as 'score'"),
        (read_run, RUNS["TREC"], {"qid": "topic"}, TypeError, "needs a column"),
        (read_run, RUNS["JSON"], {"qid": "topic"}, ValueError, "JSON by query has none. Got qid='topic' for BytesIO"),
        (read_run, RUNS["JSON of rows"], {"value": "nope"}, ValueError, "'qid', 'docno', 'score'. Got 'nope'"),
        (read_run, RUNS["TREC"], {"format": "ranks"}, ValueError, "Lines of TREC have a rank and a score.*for BytesIO"),
        (read_run, RUNS["commas of TREC"], {"format": "ranks"}, ValueError, "Lines of TREC have a rank and a score"),
        (read_run, RUNS["TREC"], {"format": "trec", "qid": "a"}, TypeError, "leave out .*Got qid='a' for BytesIO"),
        (read_qrels, QRELS["TREC"], {"format": "trec", "separator": " "}, TypeError, "Got separator=' ' for BytesIO"),
        (read_run, pd.DataFrame(ROWS), {"format": "trec"}, TypeError, "Got no file for DataFrame"),
        (read_run, RUNS["TREC"], {"format": "csv"}, ValueError, "'format' parameter of read_run .*'trec'.*Got 'csv'"),
        (read_qrels, RUNS["TREC"], {"format": "ranks"}, ValueError, "'format' parameter of read_qrels .*Got 'ranks'"),
        (
            read_run,
            pd.DataFrame(ROWS),
            {"separator": ","},
            TypeError,
            "separator= applies only to CSV files. Got DataFrame",
        ),
        (read_run, CSV, {"doc_id": ["page"]}, TypeError, r"A column is named by a str. Got \['page'\]"),
        (read_run, read_run(file(RUNS["TREC"])), {}, TypeError, r"go to evaluate_run\(judgments, run\)\. Got Entries"),
        (read_run, pd.Series([1.0]), {}, TypeError, "A table must be a frame.*Got Series instead"),
        (read_run, RUN, {}, TypeError, "A table as run needs a column of queries.*evaluate_run and io.join take"),
        (read_qrels, RELEVANT, {}, TypeError, "A table as judgments needs .*evaluate_run and io.join take"),
    ],
)
def test_names_and_formats_that_cannot_be_meant(read, source, keywords, error, message):
    if isinstance(source, str) and "," in source and "{" not in source:
        pytest.importorskip("pyarrow")
    with pytest.raises(error, match=message):
        read(file(source) if isinstance(source, str) else source, **keywords)


def test_separators_by_keyword():
    pytest.importorskip("pyarrow")
    qrels = read_qrels(file("1|a b|1\n1|b|0\n2|c|2\n"), separator="|")
    assert np.asarray(qrels.doc_id).tolist() == ["a b", "b", "c"]
    assert np.asarray(read_qrels(file("01\ta b\n"), separator="\t").qid).tolist() == ["01"]
    with pytest.raises(ValueError, match="'separator' parameter of .* must be a character or None. Got '::'"):
        read_qrels(file("1::a::1\n"), separator="::")


@pytest.mark.parametrize("mark", [",", "\t", ";"])
def test_separators_of_tables_are_noticed(mark):
    pytest.importorskip("pyarrow")
    text = f"qid{mark}doc_id{mark}label{mark}score\n1{mark}a{mark}1{mark}0.5\n1{mark}b{mark}0{mark}0.9\n"
    for options in ({}, {"separator": mark}):
        assert read_table(file(text), **options).y_score.tolist() == [0.5, 0.9]
        assert read_run(file(text), value="score", **options).value.tolist() == [0.5, 0.9]
    other = "\t" if mark == "," else ","
    name = other.join("abcdef")
    quoted = f'qid{mark}label{mark}"{name}"\n1{mark}1{mark}0.5\n'
    assert read_table(file(quoted), y_score=name).y_score.tolist() == [0.5]
    with pytest.raises(ValueError, match="one of the table's: 'qid', 'doc_id', 'label', 'score'. Got 'nope'"):
        read_table(file(text), y_score="nope")
    with pytest.raises(TypeError, match="separator= applies only to CSV files. Got DataFrame"):
        read_table(pd.DataFrame({"qid": [1]}), separator=mark)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_qrels, "1 0 a 1\n1 0 b\n", r"TREC's judgments has lines of 4 fields.*Got 3 in line 2"),
        (read_qrels, "query-id\tcorpus-id\tscore\n1\ta\tx\n", "finite decimal number as relevance. Got 'x' in line 2"),
        (read_qrels, "query-id\tcorpus-id\tscore\n1\ta\t1\n1\ta\t1\n", "again in line 3 of BytesIO, first in line 2"),
        (read_qrels, "\n\nqid\tdocno\trel\n1\ta\tx\n", "Got 'x' in line 4"),
        (read_qrels, "a b c d e\n", "lines of 4 fields.*Got 5 in line 1"),
        (read_run, "1 a\n", "A run of TREC has lines of 6 fields.*Got 2 in line 1"),
        (read_run, "1 a 0.5\n1 b\n", "A file of run that begins as this one has lines of 3 fields"),
        (read_run, "", "must have at least one line"),
        (read_run, "one,two,three\n1,a,1\n", r"A file of run has lines of TREC, BEIR.*Got 'one, two, three' in line 1"),
        (read_run, '{"1": {"a": 1}', "is JSON, or JSON lines. Got BytesIO"),
        (read_run, '{"1": {"a": 1, "b": 2, "a": 3}}', "once. Got 'a' more than once in BytesIO"),
        (read_run, "[" * 100_000, "is JSON, or JSON lines"),
        (read_run, '{"qid": "1", "docno": "a", "score": 1}\n{"qid": "1", "score": 2}', "'docno' must not have"),
        (read_run, "[]", "Each JSON row must be an object.*Got none"),
        (read_run, "[1]", "Each JSON row must be an object.*Got 1"),
        (
            read_run,
            json.dumps({"mteb_model_meta": {}, "default": {"test": RUN, "dev": RUN}}),
            r"one subset and split.*Got 'default/test', 'default/dev'",
        ),
    ],
)
def test_files_that_cannot_be_meant(read, text, message):
    if "," in text and "{" not in text:
        pytest.importorskip("pyarrow")
    with pytest.raises(ValueError, match=message):
        read(file(text))


def test_a_number_of_fields_of_a_run_is_no_judgment():
    with pytest.raises(ValueError, match="lines of 4 fields.*This looks like a run: use"):
        read_qrels(file(RUNS["TREC"]))


def test_blanks_in_ids_between_tabs():
    text = "query-id\tcorpus-id\tscore\nmy question\td1\t1\n"
    with pytest.raises(ValueError, match=r"line 2.*contain blanks.*separator='\\t'\.$"):
        read_qrels(file(text))
    judgments = read_qrels(file(text), separator="\t")
    assert mean(judgments, {"my question": ["d1"]}) == mean({"my question": {"d1": 1}}, {"my question": ["d1"]})


ROWS_AGAIN = [("b", 0.9), ("a", 0.8), ("b", 0.7)]
"""Documents of a query and their scores, one of them twice."""
RUNS_AGAIN = {
    "TREC": "".join(f"1 Q0 {d} {i} {s} me\n" for i, (d, s) in enumerate(ROWS_AGAIN)),
    "three fields": "".join(f"1 {d} {s}\n" for d, s in ROWS_AGAIN),
    "ranks": "1 b 1\n1 a 2\n1 b 3\n",
    "a header": "qid\tdocno\tscore\n" + "".join(f"1\t{d}\t{s}\n" for d, s in ROWS_AGAIN),
    "commas": "qid,docno,score\n" + "".join(f"1,{d},{s}\n" for d, s in ROWS_AGAIN),
    "semicolons": "".join(f"1;{d};{s}\n" for d, s in ROWS_AGAIN),
    "JSON of lists": '{"1": ["b", "a", "b"]}',
    "JSON of rows": json.dumps([{"qid": "1", "docno": d, "score": s} for d, s in ROWS_AGAIN]),
    "JSON lines": "".join(json.dumps({"qid": "1", "docno": d, "score": s}) + "\n" for d, s in ROWS_AGAIN),
}


@together("form", RUNS_AGAIN)
def test_duplicates_in_runs_of_every_form(form):
    if form in ("commas", "semicolons") and find_spec("pyarrow") is None:
        return
    options = {"separator": ";"} if form == "semicolons" else {}
    with pytest.raises(ValueError, match="[Gg]ot document 'b'"):
        read_run(file(RUNS_AGAIN[form]), **options)
    for duplicates, judged in (("first", 1), ("nonrelevant", 2 / 3)):
        run = read_run(file(RUNS_AGAIN[form]), duplicates=duplicates, **options)
        found = evaluate_run({"1": {"a": 1, "b": 0}}, run, metrics=["mrr", "judged@3"], duplicates=duplicates).mean()
        assert found == {"mrr": 1 / 2, "judged@3": pytest.approx(judged)}


def test_a_header_with_blanks_in_names(tmp_path):
    for mark in ",\t;":
        (tmp_path / "run").write_text("qid,doc_id,score,my note\n1,a,0.5,x y\n1,b,0.7,z\n".replace(",", mark))
        found = read_run(tmp_path / "run")
        assert (np.asarray(found.doc_id).tolist(), found.value.tolist()) == (["a", "b"], [0.5, 0.7])
