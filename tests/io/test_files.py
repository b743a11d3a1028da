"""`read_run` and `read_qrels`: the files that everyone has give what dictionaries give."""

import gzip
import io
import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from registry import together

from sklearn_rank import evaluate_run
from sklearn_rank.io import join, read_entries, read_qrels, read_run, read_table, read_trec_qrels, read_trec_run

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


def mean(judgements, run, **options):
    return evaluate_run(judgements, run, metrics=METRICS, **options).mean()


def file(text):
    return io.BytesIO(text.encode())


@pytest.mark.parametrize("form", QRELS)
def test_judgements(form, tmp_path):
    if "comma" in form or "semi" in form or "other" in form:
        pytest.importorskip("pyarrow")
    expected = mean(JUDGED, RUN)
    assert mean(read_qrels(file(QRELS[form])), RUN) == expected
    (tmp_path / "qrels").write_bytes(gzip.compress(QRELS[form].encode()))
    assert mean(read_qrels(tmp_path / "qrels"), read_trec_run(file(RUNS["TREC"]))) == expected


@pytest.mark.parametrize("form", SETS)
def test_relevant_documents(form):
    if form == "commas":
        pytest.importorskip("pyarrow")
    assert mean(read_qrels(file(SETS[form])), RUN) == mean(RELEVANT, RUN)


@pytest.mark.parametrize("form", RUNS)
def test_runs(form, tmp_path):
    if "comma" in form or "semi" in form:
        pytest.importorskip("pyarrow")
    expected = mean(JUDGED, RUN)
    run = read_run(file(RUNS[form]))
    assert mean(JUDGED, run) == expected
    assert mean(read_trec_qrels(file(QRELS["TREC"])), run) == expected
    (tmp_path / "run").write_text(RUNS[form])
    assert mean(JUDGED, read_run(tmp_path / "run", n_jobs=2)) == expected
    with pytest.raises(ValueError, match="the judgements first, then the run"):
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
    assert read_run(file(text), value="rank").value.tolist() == [-2, -1, -1, -2]
    assert read_run(file(text), value="score").value.tolist() == [2, 1, 1, 2]
    with pytest.raises(ValueError, match="may be a rank or a score: pass value='rank' or value='score'"):
        read_run(file(text))
    assert read_run(file("1 a 0\n1 b 1\n")).value.tolist() == [0, 1]


@pytest.mark.parametrize("mark", ["\t", ","])
def test_a_document_that_is_twice_in_a_run_of_ranks_keeps_its_better_rank(mark):
    if mark == ",":
        pytest.importorskip("pyarrow")
    text = "1\tb\t1\n1\ta\t2\n1\tb\t3\n".replace("\t", mark)
    for options in ({}, {"value": "rank"}):
        assert read_run(file(text), duplicates="first", **options).value.tolist() == [-1, -2]
    header = "qid\tdocno\trank\n".replace("\t", mark)
    assert read_run(file(header + text), duplicates="first").value.tolist() == [-1, -2]


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
        assert read_entries(file(text), value="score", **options).value.tolist() == [0.5, 0.9]
    other = "\t" if mark == "," else ","
    name = other.join("abcdef")
    quoted = f'qid{mark}label{mark}"{name}"\n1{mark}1{mark}0.5\n'
    assert read_table(file(quoted), y_score=name).y_score.tolist() == [0.5]
    with pytest.raises(ValueError, match="one of the table's: 'qid', 'doc_id', 'label', 'score'. Got 'nope'"):
        read_table(file(text), y_score="nope")
    with pytest.raises(TypeError, match="separator= is for a file of CSV. Got DataFrame"):
        read_table(pd.DataFrame({"qid": [1]}), separator=mark)


@pytest.mark.parametrize(
    ("read", "text", "message"),
    [
        (read_qrels, "1 0 a 1\n1 0 b\n", r"TREC's judgements has lines of 4 fields.*Got 3 in line 2"),
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
        (
            read_run,
            '{"qid": "1", "docno": "a", "score": 1}\n{"qid": "1", "score": 2}',
            "'docno' must not have",
        ),
        (read_run, "[]", "Rows of JSON are objects.*Got none"),
        (read_run, "[1]", "Rows of JSON are objects.*Got 1"),
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


def test_a_number_of_fields_of_a_run_is_no_judgement():
    with pytest.raises(ValueError, match="lines of 4 fields.*This looks like a run: use"):
        read_qrels(file(RUNS["TREC"]))


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


def test_duplicates_of_json():
    assert read_run(file('{"1": ["a", "b", "a"]}'), duplicates="first").value.tolist() == [2, 1]
    with pytest.raises(ValueError, match="Got document 'a' 2 times"):
        read_run(file('{"1": ["a", "b", "a"]}'))


def test_a_header_whose_names_have_blanks(tmp_path):
    for mark in ",\t;":
        (tmp_path / "run").write_text("qid,doc_id,score,my note\n1,a,0.5,x y\n1,b,0.7,z\n".replace(",", mark))
        found = read_run(tmp_path / "run")
        assert (np.asarray(found.doc_id).tolist(), found.value.tolist()) == (["a", "b"], [0.5, 0.7])
