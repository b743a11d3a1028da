"""Files of TREC and how they are joined."""

import gzip
import io

import numpy as np
import pytest
from known_cases import TREC_RUNS, read
from numpy.testing import assert_array_equal
from registry import together

from sklearn_rank import evaluate
from sklearn_rank.io import _source, join, read_qrels, read_run, read_svmlight, write_run

RUN = b"q1 Q0 a 1 2.5 me\nq1 Q0 b 2 1.5 me\nq2 Q0 a 1 -3e-2 me\n"


def run_of(text):
    return read_run(io.BytesIO(text))


def qrels_of(text):
    return read_qrels(io.BytesIO(text))


def rows(entries):
    return [*zip(np.asarray(entries.qid), np.asarray(entries.doc_id), entries.value.tolist(), strict=True)]


@pytest.mark.parametrize(
    "text",
    [
        RUN,
        RUN.replace(b" ", b"\t"),
        RUN.replace(b" ", b"  \t "),
        RUN.replace(b" ", b"\x0b"),
        RUN.replace(b" ", b"\x0c"),
        RUN.replace(b"\n", b"\r\n"),
        RUN.replace(b"\n", b"\n\n \n"),
        b"\xef\xbb\xbf" + RUN,
        RUN.rstrip(),
        b"  " + RUN,
        gzip.compress(RUN),
    ],
    ids=[
        "spaces",
        "tabs",
        "mixed",
        "vertical tabs",
        "form feeds",
        "crlf",
        "blank lines",
        "bom",
        "no newline",
        "indented",
        "gzip",
    ],
)
def test_read_run_layouts(text, tmp_path):
    expected = [("q1", "a", 2.5), ("q1", "b", 1.5), ("q2", "a", -0.03)]
    assert rows(run_of(text)) == expected
    (tmp_path / "run").write_bytes(text)
    assert rows(read_run(tmp_path / "run")) == expected
    assert rows(read_run(str(tmp_path / "run"), n_jobs=2)) == expected
    assert repr(run_of(text)) == "Entries of 3 rows and 2 queries"


def test_ids_with_a_common_prefix_differ():
    """Adjacent ids, with the longer id first and last."""
    queries = ["12", "1", "12", "123", "1", "2"]
    found = qrels_of("".join(f"{q} 0 {d} 1\n" for q, d in zip(queries, "abcdef", strict=True)).encode())
    assert rows(found) == [(q, d, 1.0) for q, d in zip(queries, "abcdef", strict=True)]
    run = run_of(b"q Q0 ab 1 2 me\nq Q0 a 2 1 me\n")
    joined = join(qrels_of(b"q 0 a 1\nq 0 abc 1\n"), run)
    found = dict(zip(joined.doc_id, zip(joined.y_true, joined.y_score, strict=True), strict=True))
    assert found["a"] == (1, 1)
    assert found["abc"] == (1, -np.inf)
    assert np.isnan(found["ab"][0])


def test_text_files_and_unicode():
    entries = read_qrels(io.StringIO("frage 0 straße 1\nвопрос 0 文書\u00a01 2\n"))
    assert rows(entries) == [("frage", "straße", 1.0), ("вопрос", "文書\u00a01", 2.0)]
    assert rows(qrels_of(b"q 0 \xff\xfe 1\n")) == [("q", b"\xff\xfe".decode("utf-8", "surrogateescape"), 1.0)]


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"q1 Q0 c 3 0.5", "lines of 6 fields: query Q0 document rank score tag. Got 5 in line 3 of "),
        (b"q1 Q0 my c 3 0.5 tag", "Got 7 in line 3 of .*: 'q1 Q0 my c 3 0.5 tag'. Ids have no blanks in them."),
        (b"q 1\tQ0\tmy c\t3\t0.5\ttag", r"Got 8 in line 3 of .*If ids contain blanks.* pass separator='\\t'\."),
        (b"q1 0 c 1", "Got 4 in line 3 of .*: 'q1 0 c 1'. This looks like a qrels file: use read_qrels"),
        (b"q1 Q0 c 3 \xff me", "Got '\ufffd' in line 3 of "),
        (b"q1", "Got 1 in line 3 of .*: 'q1'. Blanks part the fields."),
        (b"# a comment, it is", "Got 5 in line 3 of .*. There are no comments."),
        (b"q1 Q0 c\0 3 0.5 me", "must be text in UTF-8, without NUL bytes. Got one in line 3 of "),
        ("q1 Q0 c 3 0.5 me".encode("utf-16"), "without NUL bytes. Got one in line 3 of "),
        (b"q1 Q0 c 3 best me", "must have a finite decimal number as score. Got 'best' in line 3 of "),
        (b"q1 Q0 c 3 -inf me", "Got '-inf' in line 3"),
        (b"q1 Q0 b 3 0.5 me", "Got document 'b' of query q1 again in line 3 of .*, first in line 2"),
        (b"\nq2 Q0 c 1 1 me\nq1 Q0 a 3 0.5 me", "Got document 'a' of query q1 again in line 5 of .*, first in line 1"),
    ],
)
@pytest.mark.parametrize("block", [2**20, 8])
def test_lines_that_are_wrong_are_named(line, message, block, monkeypatch, tmp_path):
    monkeypatch.setattr(_source, "PIECE_OF_FILE", block)
    (tmp_path / "run").write_bytes(b"q1 Q0 a 1 2.5 me\nq1 Q0 b 2 1.5 me\n" + line + b"\nq2 Q0 a 1 1 me\n")
    with pytest.raises(ValueError, match=message):
        read_run(tmp_path / "run", n_jobs=2)


WRONG = {b"q1 Q0 c\0 3 0.5 me": "without NUL bytes", b"q1 Q0 c 3 best me": "Got 'best'", b"q1 Q0 c": "Got 3"}
"""Lines of runs, and what is wrong with them."""


@together("first", WRONG)
@together("second", WRONG)
@together("block", [2**20, 8])
def test_the_first_of_two_wrong_lines_is_named(first, second, block, monkeypatch, tmp_path):
    monkeypatch.setattr(_source, "PIECE_OF_FILE", block)
    (tmp_path / "run").write_bytes(b"q1 Q0 a 1 2.5 me\n" + first + b"\nq1 Q0 b 2 1.5 me\n" + second + b"\n")
    with pytest.raises(ValueError, match=f"{WRONG[first]}.* in line 2 of "):
        read_run(tmp_path / "run", n_jobs=2)


def test_long_lines_are_shown_in_part():
    with pytest.raises(ValueError, match=r"in line 1 of BytesIO: 'a a a .*\.\.\.'"):
        run_of(b"a " * 1000)


def test_queries_in_any_order_of_lines(monkeypatch, rng):
    monkeypatch.setattr(_source, "PIECE_OF_FILE", 100)
    query, document = rng.integers(0, 9, size=500), np.arange(500)
    text = "".join(f"{q} 0 d{d} 1\n" for q, d in zip(query, document, strict=True)).encode()
    entries = qrels_of(text)
    assert_array_equal(np.asarray(entries.qid), query.astype(str))
    assert_array_equal(np.asarray(entries.doc_id), [f"d{d}" for d in document])


# --- joining -------------------------------------------------------------------------------------------------

QRELS = b"q2 0 x 1\nq1 0 b 1\nq1 0 c 2\nq1 0 d -1\nq3 0 a 1\n"


def test_join_by_hand():
    data = join(qrels_of(QRELS), run_of(RUN))
    found = [*zip(np.asarray(data.qid), data.doc_id, data.y_score.tolist(), data.y_true.tolist(), strict=True)]
    inf, nan = np.inf, np.nan
    expected = [
        ("q2", "a", -0.03, nan), ("q2", "x", -inf, 1.0), ("q1", "a", 2.5, nan), ("q1", "b", 1.5, 1.0),
        ("q1", "c", -inf, 2.0), ("q1", "d", -inf, nan), ("q3", "a", -inf, 1.0),
    ]  # fmt: skip
    assert repr(found) == repr([tuple(map(type(found[0][0]), row[:2])) + row[2:] for row in expected])
    assert data.not_in_run.tolist() == ["q3"]
    assert len(data.not_in_qrels) == 0
    assert "queries not in the run: 1, counted as zero (q3); queries without judgments: 0" in repr(data)
    assert join(qrels_of(QRELS), run_of(RUN), negative="keep").y_true[5] == -1


@pytest.mark.parametrize("from_run", ["zero", "drop"])
@pytest.mark.parametrize("from_qrels", ["zero", "drop"])
def test_join_missing_queries(from_run, from_qrels):
    run, qrels = run_of(RUN), qrels_of(b"q1 0 b 1\nq3 0 a 1\n")
    data = join(qrels, run, missing_from_run=from_run, missing_from_qrels=from_qrels)
    result = evaluate(data.y_true, data.y_score, qid=data.qid, metrics="mrr", convention="trec_eval")
    expected = {"q1": 0.5} | ({"q3": 0.0} if from_run == "zero" else {}) | ({"q2": 0.0} if from_qrels == "zero" else {})
    assert dict(zip(result.qid.tolist(), result.per_query["mrr"].tolist(), strict=True)) == expected
    assert (data.not_in_run.tolist(), data.not_in_qrels.tolist()) == (["q3"], ["q2"])
    for n, what in [(1, from_run), (1, from_qrels)]:
        assert f"{n}, {'counted as zero' if what == 'zero' else 'left out'}" in data.counts()


def test_missing_queries_may_be_an_error():
    run, qrels = run_of(RUN), qrels_of(b"q1 0 b 1\nq3 0 a 1\n")
    with pytest.raises(ValueError, match="every query must be in the run; .* Got 1 missing, the first 'q3'"):
        join(qrels, run, missing_from_run="raise")
    with pytest.raises(ValueError, match="every query must be in the judgments; .* Got 1 missing, the first 'q2'"):
        join(qrels, run, missing_from_qrels="raise")
    with pytest.raises(ValueError, match="'missing_from_run' parameter of join must be 'zero', 'drop' or 'raise'"):
        join(qrels, run, missing_from_run="ignore")
    with pytest.raises(ValueError, match="a query in common.* 'q9' in the judgments and 'q1' in the run"):
        join(qrels_of(b"q9 0 a 1\n"), run)


def test_order_of_ties():
    text = "q Q0 a 1 1 t\nq Q0 é 2 1 t\nq Q0 b 3 2 t\nq Q0 z 4 1 t\np Q0 b 1 0 t\np Q0 c 1 0 t\nq Q0 x 5 2 t\n".encode()
    qrels = qrels_of(b"p 0 c 1\nq 0 u 1\nq 0 v 1\n")
    assert join(qrels, run_of(text)).doc_id.tolist() == [*"bc", *"aébzx", *"uv"]
    data = join(qrels, run_of(text), tie_order="trec_eval")
    assert data.doc_id.tolist() == [*"cb", *"xbéza", *"uv"]
    assert data.y_score.tolist() == [0, 0, 2, 2, 1, 1, 1, -np.inf, -np.inf]
    assert data.y_true[0] == 1


def test_single_precision_of_version_9():
    text = b"q Q0 a 1 1.000000001 t\nq Q0 b 2 1 t\n"
    qrels = qrels_of(b"q 0 a 1\n")
    assert join(qrels, run_of(text), tie_order="trec_eval").doc_id.tolist() == ["a", "b"]
    assert join(qrels, run_of(text), tie_order="trec_eval", float32=True).doc_id.tolist() == ["b", "a"]


def test_join_ids_of_other_types(rng):
    """Numbers on both sides; a mix of numbers and strings is an error, not two kinds of documents."""
    run = {"qid": [1, 1, 2], "doc_id": [10, 20, 10], "score": [1.0, 1.0, 2.0]}
    qrels = {"qid": [2, 1], "doc_id": [10, 20], "label": [1, 2]}
    data = join(read_qrels(qrels, value="label"), read_run(run, value="score"), tie_order="trec_eval")
    assert (data.doc_id.tolist(), data.y_true.tolist()) == ([10, 20, 10], [1, 2, pytest.approx(np.nan, nan_ok=True)])
    text = read_run(run | {"doc_id": ["10", "20", "10"]}, value="score")
    with pytest.raises(TypeError, match="Document ids must be of one type.* Got strings and 10; .*astype"):
        join(read_qrels(qrels, value="label"), text)
    with pytest.raises(TypeError, match="Document ids must be of one type"):
        join(qrels_of(b"1 0 10 1\n"), read_run(run | {"qid": ["1", "1", "2"]}, value="score"))
    with pytest.raises(ValueError, match="Ids must be of one type.* Got 1 and '1'"):
        join(qrels_of(b"1 0 10 1\n"), text)
    strings = read_run(run | {"qid": ["1", "1", "2"], "doc_id": np.array(["10", "20", "10"])}, value="score")
    assert join(qrels_of(b"1 0 20 3\n"), strings).y_true[1] == 3


@pytest.mark.parametrize("run", TREC_RUNS)
def test_files_of_trec_eval_are_joined_in_its_order(run, rng):
    rows = read(f"trec/{run}.npz")
    shuffled = rng.permutation(np.flatnonzero(rows["retrieved"]))
    lines = (f"{rows['qid'][i]} Q0 {rows['docno'][i]} 1 {rows['score'][i]!r} t\n" for i in shuffled)
    judged = (f"{rows['qid'][i]}\t0\t{rows['docno'][i]}\t{rows['rel'][i]}\n" for i in np.flatnonzero(rows["judged"]))
    text = "".join(lines).replace("np.float64(", "").replace(")", "").encode()
    data = join(qrels_of("".join(judged).encode()), run_of(text), tie_order="trec_eval")
    place = {q: np.flatnonzero(rows["qid"] == q) for q in dict.fromkeys(np.asarray(data.qid).tolist())}
    expected = np.concatenate([*place.values()])
    n = rows["retrieved"][expected]
    assert_array_equal(data.doc_id[n], rows["docno"][expected][n])
    assert sorted(data.doc_id[~n]) == sorted(rows["docno"][expected][~n])
    assert_array_equal(data.y_true[n], np.where(rows["rel"] < 0, np.nan, rows["rel"])[expected][n])
    assert_array_equal(data.y_score, np.where(rows["retrieved"], rows["score"], -np.inf)[expected])


# --- writing, and LETOR --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["run", "run.gz"])
def test_runs_are_read_back_as_they_were_written(name, tmp_path, rng):
    qid, score = rng.integers(0, 5, size=100), np.round(rng.normal(size=100), 1) / 3
    score[7] = -np.inf
    write_run(tmp_path / name, score, qid=qid, doc_id=np.arange(100), tag="mine")
    run = read_run(tmp_path / name)
    found = {(q, d): v for q, d, v in rows(run)}
    expected = {(str(q), str(d)): v for d, (q, v) in enumerate(zip(qid, score.tolist(), strict=True)) if d != 7}
    assert found == expected
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith("gz")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"doc_id": ["a b", "c"]}, "must have no blank and no NUL, and not be empty. Got 'a b'"),
        ({"qid": ["1 ", "1 "]}, "so qid must have no blank"),
        ({"doc_id": ["a\0b", "c"]}, r"so doc_id must have no blank and no NUL, and not be empty. Got 'a\\x00b'"),
        ({"qid": [1, "1"]}, "Ids must be of one type.* Got 1 and '1'"),
        ({"qid": [b"1", "1"]}, "Queries must differ as text.* Got b'1', '1' in qid"),
        ({"doc_id": [1, b"1"]}, "Got document '1' of query 1 again in row 1, first in row 0"),
        ({"tag": "my run"}, "so tag must have no blank"),
        ({"doc_id": ["a", "a"]}, "Got document 'a' of query 1 again in row 1, first in row 0"),
        ({"doc_id": ["a"]}, "doc_id must have one entry per row"),
        ({"y_score": [np.nan, 1]}, "y_score must not contain NaN"),
    ],
)
def test_write_run_errors(change, message):
    given = {"y_score": [2.0, 1.0], "qid": [1, 1], "doc_id": ["a", "b"], "tag": "me"} | change
    file = io.BytesIO()
    with pytest.raises(ValueError, match=message):
        write_run(file, given.pop("y_score"), **given)
    assert file.getvalue() == b""


def test_ids_of_bytes_are_written_as_they_are():
    file = io.BytesIO()
    write_run(file, [2.0, 1.0], qid=np.array([b"q", b"q"]), doc_id=[b"caf\xe9", b"b"], tag="me")
    assert file.getvalue() == b"q Q0 caf\xe9 1 2.0 me\nq Q0 b 2 1.0 me\n"


def test_letor(tmp_path):
    text = b"2 qid:1 1:0.5 2:1 # doc1\n0 qid:1 2:0.25\n1 qid:7 1:1\n"
    (tmp_path / "letor.gz").write_bytes(gzip.compress(text))
    X, y, qid = read_svmlight(tmp_path / "letor.gz", n_features=4)
    assert X.shape == (3, 4)
    assert (y.tolist(), qid.tolist()) == ([2, 0, 1], [1, 1, 7])


@pytest.mark.parametrize("text", [b"2 1:0.5\n", b"2 qid:1 1:0.5\n1 1:1\n", b"two qid:1 1:0.5\n", b"2 qid:1 1=5\n", b""])
def test_letor_that_is_not(text):
    with pytest.raises(ValueError, match="qid"):
        read_svmlight(io.BytesIO(text))


def test_ties_end_with_their_query():
    """The last document of a query and the first of the next have equal scores."""
    judged = {"q1": {"a": 1}, "q2": {"z": 1}}
    data = join(judged, {"q1": {"a": 1.0}, "q2": {"z": 1.0}}, tie_order="trec_eval")
    assert np.asarray(data.qid).tolist() == ["q1", "q2"]
    assert data.doc_id.tolist() == ["a", "z"]


def test_an_error_names_the_document_of_a_later_query():
    with pytest.raises(ValueError, match="Got nan for document 'c' of query 'q2'"):
        join({"q1": {"a": 1}}, {"q1": {"a": 1.0, "b": 1.0}, "q2": {"c": np.nan}})


def test_lines_of_blanks_are_counted():
    with pytest.raises(ValueError, match="again in line 4 of BytesIO, first in line 1"):
        read_run(io.BytesIO(b"q Q0 a 1 1 me\n \t \n\nq Q0 a 1 1 me\n"))


@pytest.mark.parametrize("line", [b"x" * 10**6, b"1 qid:1 1:" + b"x" * 10**6, b"1 qid:1 " + b"9" * 10**6 + b":1"])
def test_a_long_line_of_svmlight_is_not_in_the_message(line):
    with pytest.raises(ValueError, match=r"Lines of SVMlight must be like .* Got BytesIO: ") as caught:
        read_svmlight(io.BytesIO(b"1 qid:1 1:1\n" + line))
    assert len(str(caught.value)) < 1000
