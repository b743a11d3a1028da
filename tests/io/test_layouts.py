"""Layouts that people have: each is read, or an error names the columns and the keyword."""

import io
import itertools
import json
import re
import warnings
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from registry import together

from sklearn_rank import compare_systems, evaluate, evaluate_run, evaluate_table
from sklearn_rank._cli import main
from sklearn_rank._tables.roles import normalized_name
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import read_qrels, read_run, read_svmlight, read_table

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")


def file(text):
    return io.BytesIO(text.encode())


def parquet(frame):
    return io.BytesIO(frame.to_parquet())


def mean(judgments, run, metric="mrr"):
    return evaluate_run(judgments, run, metrics=metric).mean()[metric]


def value_or_words(call, expected):
    """A call gives a value, or an error or a warning with some words."""
    if not isinstance(expected, str):
        assert call() == pytest.approx(expected, rel=1e-5)
        return
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always", RankingWarning)
        try:
            call()
        except (TypeError, ValueError) as error:
            texts = [str(error)]
        else:
            texts = [str(one.message) for one in told]
    assert any(re.search(expected, text) for text in texts), texts


# --- grades under any name -----------------------------------------------------------------------------------

KNOWN = (
    "judgment judgment relevancy is_relevant isRelevant gain target gold gold_label esci_label annotation relevance "
    "label rel grade qrel rating score RELEVANCY relevance-label"
).split()
UNKNOWN = ["quality", "clicks", "a number"]
FORMS = {
    "pandas": lambda frame: frame,
    "polars": pl.from_pandas,
    "commas": lambda frame: file(frame.to_csv(index=False)),
    "commas and blanks": lambda frame: file(frame.to_csv(index=False).replace(",", ", ")),
    "tabs": lambda frame: file(frame.to_csv(index=False, sep="\t")),
    "blanks": lambda frame: file(frame.to_csv(index=False, sep=" ")),
    "JSON lines": lambda frame: file(frame.to_json(orient="records", lines=True)),
    "JSON with text": lambda frame: file(frame.astype(str).to_json(orient="records")),
    "Parquet": parquet,
}
"""Doors for a table."""


@pytest.mark.slow
@together("form", FORMS)
def test_grades_under_any_name(form):
    for name in [*KNOWN, *UNKNOWN]:
        if form in ("blanks", "JSON with text") and name in UNKNOWN:
            continue
        frame = pd.DataFrame({"query_id": ["p", "p", "s", "s"], "doc_id": [*"abcd"], name: [0, 1, 2, 0]})
        table = FORMS[form](frame)
        if name in KNOWN:
            qrels = read_qrels(table)
            assert qrels.value.tolist() == [0, 1, 2, 0]
            assert qrels.columns == {"qid": "query_id", "doc_id": "doc_id", "value": name}
            assert mean(qrels, {"p": ["a", "b"], "s": ["c", "d"]}) == 0.75
            continue
        with pytest.raises(ValueError, match=rf"Got 'query_id', 'doc_id', '{name}'.*value='{name}'.*value=False"):
            read_qrels(table)
        for value, grades in ((False, [1] * 4), (name, [0, 1, 2, 0])):
            assert read_qrels(FORMS[form](frame), value=value).value.tolist() == grades
    if form in ("pandas", "polars"):
        with pytest.raises(ValueError, match="Which column has the grades"):
            mean(table, {"p": ["a", "b"]})


TAKEN = {"user_id": [1, 1, 2], "item_id": [7, 8, 7]}


@pytest.mark.parametrize(
    ("more", "is_open"),
    [
        ({}, False),
        ({"timestamp": [1, 2, 3]}, False),
        ({"rated_at": pd.to_datetime(["2024-01-01"] * 3)}, False),
        ({"iteration": [0, 0, 0]}, False),
        ({"session_date": ["x", "y", "z"], "Unnamed: 0": [0, 1, 2], "item": [*"abc"], "genre_id": [1, 1, 2]}, False),
        ({"source": ["web"] * 3}, False),
        ({"price": [1.5, 2.5, 3.5]}, True),
        ({"is_good": [True, False, True]}, True),
        ({"verdict": ["good", "bad", "bad"]}, True),
        ({"verdict": ["good", None, "bad"]}, True),
        ({"verdict": [b"good", b"bad", b"bad"]}, True),
        ({"amount": [Decimal("0.5"), Decimal(0), Decimal(2)]}, True),
        ({"watch_time": [0.0, 12.5, 3.0], "listening_time": [1, 2, 3]}, True),
        ({"time_spent": [0, 12, 3]}, True),
    ],
)
def test_rows_without_grades_are_relevant_if_no_column_can_have_grades(more, is_open):
    table = TAKEN | more
    if is_open:
        with pytest.raises(ValueError, match="Which column has the grades"):
            read_qrels(table)
        assert read_qrels(table, value=False).columns["value"] is None
    else:
        assert read_qrels(table).value.tolist() == [1, 1, 1]
    many = {"user_id": [1] * 11, "item_id": range(11), "title": [f"title {i}" for i in range(11)]}
    assert read_qrels(many).value.tolist() == [1] * 11
    many["title"][:2] = ["1917", "300"]
    assert read_qrels(many).value.tolist() == [1] * 11
    many["title"] = [str(0.1 * i) for i in range(11)]
    with pytest.raises(ValueError, match="Which column has the grades"):
        read_qrels(many)


def test_row_numbers_of_pandas_are_no_grades():
    some = pd.DataFrame({"user_id": [1, 2], "item_id": [7, 8]}, index=[5, 2])
    saved = pl.from_arrow(pa.Table.from_pandas(some))
    assert "__index_level_0__" in saved.columns
    arrow = io.BytesIO(saved.write_ipc(None).getvalue())
    for table in (some, parquet(some), saved, arrow, file(saved.write_csv()), file(saved.write_ndjson())):
        qrels = read_qrels(table)
        assert qrels.value.tolist() == [1, 1]
        assert qrels.columns == {"qid": "user_id", "doc_id": "item_id", "value": None}


def test_grades_at_the_command_line(tmp_path, capsys):
    (tmp_path / "qrels").write_text("qid,doc_id,quality\n1,a,0\n1,b,1\n")
    (tmp_path / "run").write_text("1 Q0 a 1 2 me\n1 Q0 b 2 1 me\n")
    command = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "mrr", "--format", "csv"]
    assert main(command) == 2
    assert "on the command line --value" in capsys.readouterr().err
    for value, expected in (("quality", "0.5"), ("false", "1.0")):
        assert main([*command, "--value", value]) == 0
        assert expected in capsys.readouterr().out


@pytest.mark.parametrize(
    ("qrels", "run", "options"),
    [
        ("qid,user_id,doc_id,label\n1,7,a,0\n1,8,b,1\n", "1 Q0 a 1 2 me\n1 Q0 b 2 1 me\n", ["--qid", "qid"]),
        ("1 0 b 1\n", '[{"q": "1", "docid": "a", "score": 2}, {"q": "1", "docid": "b", "score": 1}]', ["--qid", "q"]),
        ("qid docid passage_id label\n1 x b 1\n", "1 a 0\n1 b 1\n", "--doc-id passage_id --run-format ranks".split()),
        ("qid\tdocid\n1\tb\n", "qid,docid,distance\n1,a,.1\n1,b,.2\n", ["--run-format", "ranks"]),
    ],
)
def test_columns_and_ranks_at_the_command_line(qrels, run, options, tmp_path, capsys):
    (tmp_path / "qrels").write_text(qrels)
    (tmp_path / "run").write_text(run)
    command = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "-m", "mrr", "--format", "csv"]
    if '"q"' not in run:
        assert main(command) == 2
        assert f"on the command line {options[0]}" in capsys.readouterr().err
    assert main([*command, *options]) == 0
    assert "0.5" in capsys.readouterr().out


# --- inputs of reports ---------------------------------------------------------------------------------------

TAB = [(i, f"d{i}-{k}", k + 1, round(0.2 * (k + 1), 1)) for i in range(25) for k in range(4)]
J25 = {i: [f"d{i}-0"] for i in range(25)}
J25_OF_TEXT = {str(q): documents for q, documents in J25.items()}
TWO = {"user_id": [9] * 4, "query": ["tea", "tea", "cups", "cups"], "doc_id": [*"abcd"], "score": [0.9, 0.8, 0.3, 0.2]}
HITS = {"1": [{"docid": "a", "score": 2}, {"docid": "b", "score": 1}]}
LISTS = pl.DataFrame({"qid": [1, 2], "label": [[1, 0, 0], [0, 1]], "score": [[0.2, 0.9, 0.1], [0.1, 0.8]]})
RATINGS = "".join(f"{u} {7 * u + i} {1 + u * i % 5} {i}\n" for u in range(5) for i in range(10))
COVID = "".join(f"{q} {0.5 * d} d{q}-{d} {d % 3}\n" for q in range(5) for d in range(1, 11))
SUBTOPICS = "".join(f"{q} {s} {d} {d % 3}\n" for q in range(5) for d in range(10) for s in (1, 2))
AB = {"1": ["a", "b"]}


def ranked(rank):
    return pd.DataFrame({"qid": "1", "docid": [*"cb"], "rank": rank})


def table_of(names):
    return pd.DataFrame(TAB, columns=names.split())


def run_of(text):
    return mean({"1": ["b"]}, read_run(file(text)))


def qrels_of(text, **options):
    return read_qrels(file(text), **options).value.tolist()


RNG = np.random.default_rng(5)
PROBABILITIES = RNG.choice([0, 0.07, 0.14, 0.41, 0.61], (30, 5)), RNG.random((30, 5))
INPUTS = {
    "TREC's words": (lambda: qrels_of("TOPIC\tITERATION\tDOCUMENT\tRELEVANCY\n7\t0\ta\t0\n7\t0\tb\t1\n"), [0, 1]),
    "TREC's words, blanks": (lambda: qrels_of("TOPIC ITERATION DOCUMENT RELEVANCY\n7 0 a 0\n7 0 b 1\n"), [0, 1]),
    "a header of a run": (lambda: run_of("qid Q0 docno rank score tag\n1 0 a 1 2 me\n1 0 b 2 1 me\n"), 0.5),
    "ranks from 0": (lambda: run_of("1\ta\t0\n1\tb\t1\n1\tc\t2\n"), "format='ranks' or format='scores'"),
    "ranks from 11": (lambda: run_of("1 a 11\n1 b 12\n"), "format='ranks' or format='scores'"),
    "ranks with gaps": (lambda: run_of("1 a 1\n1 b 3\n2 a 1\n"), "format='ranks' or format='scores'"),
    "ranks with ties": (lambda: run_of("1 a 1\n1 b 1\n1 c 3\n2 a 1\n2 b 1\n"), "format='ranks' or format='scores'"),
    "one score": (lambda: read_run(file("1 a 1\n1 b 1\n2 a 1\n")).value.tolist(), [1, 1, 1]),
    "ranks from 0 in no order": (lambda: run_of("1 a 1\n1 b 0\n1 c 2\n"), "format='ranks' or format='scores'"),
    "scores from 2": (lambda: run_of("1 a 2\n1 b 1\n1 c 0\n"), 0.5),
    "whole scores": (lambda: run_of("1 a 7\n1 b 9\n1 c 0\n"), 1.0),
    "a rank that contradicts": (lambda: mean(J25, table_of("qid docid rank score")), "negate"),
    "a distance": (
        lambda: mean(J25, read_run(table_of("q d rank distance"), value="distance", qid="q", doc_id="d")),
        "'distance' seems to be better the lower .*format='ranks'",
    ),
    "a distance alone": (lambda: mean(J25, table_of("qid docid k l2_distance")), "format='ranks'"),
    **{
        f"lower is better: {name}": (lambda name=name: mean(J25, table_of(f"qid docid k {name}")), "format='ranks'")
        for name in ("latency_ms", "cosineDistance", "val_rmse", "hamming", "NLL", "L1")
    },
    **{
        f"no name of losses: {name}": (
            lambda name=name: len(read_run(table_of(f"qid docid k {name}"), value=name)), 100,
        )
        for name in ("prank", "host", "small2", "ranker", "loss_aware")
    },
    "a distance that is said": (
        lambda: mean(J25, read_run(table_of("qid docid k latency"), format="ranks")), 1.0,
    ),
    "scores that rise": (
        lambda: mean(J25, table_of("qid docid k score")), "rise in the order given",
    ),
    "scores that rise, lines": (
        lambda: mean(J25_OF_TEXT, read_run(file("".join(f"{q} {d} {s}\n" for q, d, _, s in TAB)))),
        "rise in the order given",
    ),
    "user and query": (
        lambda: mean({"tea": ["a"], "cups": ["c"]}, pd.DataFrame(TWO)), "name the query: 'query', 'user_id'.*qid=",
    ),
    "session and request": (
        lambda: qrels_of("session_id,request_id,doc_id\n1,2,a\n"), "'session_id', 'request_id'.*qid=",
    ),
    "an id of queries and a session within": (
        lambda: qrels_of("qid,session_id,doc_id\n1,5,a\n1,6,b\n"), "'qid', 'session_id'.*qid=",
    ),
    "an id of queries, each of a user": (lambda: qrels_of("qid,user_id,doc_id\n1,5,a\n2,5,b\n"), [1, 1]),
    "two documents": (lambda: qrels_of("qid,docid,passage_id\n1,5,a\n"), "name the document: 'docid', 'passage_id'"),
    "PyTerrier": (
        lambda: mean({"1": ["b"]}, read_run(file("qid,query,docid,docno,rank,score\n1,x,7,a,0,2\n1,x,8,b,1,1\n"))), 0.5,
    ),
    "two grades": (lambda: qrels_of("qid,docid,label,gain\n1,a,1,2\n"), "'label', 'gain'.*value="),
    "a score and a number": (lambda: qrels_of("qid,docid,score,quality\n1,a,1,2\n"), "'score', 'quality'.*value="),
    "MovieLens": (lambda: qrels_of("196\t242\t3\t881250949\n186\t302\t5\t891717742\n"), "time.*read_csv"),
    "MovieLens, colons": (lambda: qrels_of("1::1193::5::978300760\n"), "lines of three: query document relevance"),
    "Amazon": (lambda: qrels_of("A1,B01,5.0,1400000000\nA2,B02,4.0,1400000001\n"), "user, item, rating and time.*','"),
    "ratings": (lambda: qrels_of(RATINGS), "the third field repeats"),
    "TREC-COVID": (lambda: len(qrels_of(COVID)), 50),
    "subtopics": (lambda: len(qrels_of(SUBTOPICS, duplicates="first")), 50),
    "an index as a field": (lambda: qrels_of("0,q1,a,2\n1,q1,b,0\n2,q2,b,0\n"), "index=False"),
    "an index as a column": (lambda: qrels_of(",qid,docid,label\n0,q1,a,2\n1,q1,b,0\n"), [2, 0]),
    "RecBole": (lambda: qrels_of("user_id:token\titem_id:token\trating:float\n1\ta\t3\n1\tb\t0\n"), [3, 0]),
    "blanks in the header": (lambda: run_of("qid, docid, score\n1, a, 2\n1, b, 1\n"), 0.5),
    "blanks without a header": (lambda: run_of("1, a, 2.5\n1, b, 1\n"), 0.5),
    "a tag of words": (lambda: run_of("1 Q0 a 1 2 my run\n1 Q0 b 2 1 my run\n"), 0.5),
    "an id of words": (lambda: run_of("1 Q0 my a 1 2 me\n"), "lines of 6 fields.*Got 7"),
    "an id of a number": (lambda: run_of("1 Q0 a 7 1 0.5 me\n"), "lines of 6 fields.*Got 7"),
    "text in JSON": (lambda: run_of('{"1": {"a": "2", "b": "1"}}'), 0.5),
    "to_json() of pandas": (
        lambda: run_of('{"qid":{"0":"1","1":"1"},"docid":{"0":"a","1":"b"},"score":{"0":2,"1":1}}'), 0.5,
    ),
    "to_json(orient='list')": (lambda: run_of('{"qid":["1","1"],"docid":["a","b"],"score":[2,1]}'), 0.5),
    "columns as judgments": (
        lambda: mean({"qid": [1, 2], "docid": [5, 6], "label": [0, 1]}, {1: [5], 2: [6]}),
        "names of columns.*read_qrels",
    ),
    "columns as a run": (
        lambda: mean({1: [5], 2: [6]}, {"qid": {0: 1, 1: 2}, "docid": {0: 5, 1: 6}, "score": {0: 2, 1: 1}}),
        "names of columns.*read_run",
    ),
    "hits": (lambda: run_of(json.dumps(HITS)), 0.5),
    **{
        f"values by query in a table: {name}": (
            lambda call=call, name=name: call(table_of("qid docid label score"), **{name: {0: 1.0}}),
            "Values by query become a column",
        )
        for name in ("sample_weight", "by", "clusters")
        for call in (evaluate_table, lambda table, **given: compare_systems(table, ["score"], **given))
    },
    "hits by distance": (
        lambda: mean(AB, {"1": [{"id": "b", "distance": 0.9}, {"id": "a", "distance": 0.2}]}), 1.0,
    ),
    "hits in no order of distance": (
        lambda: mean(AB, {"1": [{"id": d, "distance": x} for d, x in zip("abc", (0.2, 0.1, 0.3), strict=True)]}),
        "'distance' is not: sort",
    ),
    "hits in no order of rank": (
        lambda: mean(AB, {"1": [{"id": "b", "rank": 2}, {"id": "a", "rank": 1}]}), "best first, but 'rank' is not",
    ),
    "a rank with fractions": (lambda: mean(AB, ranked([0.5, 0.25])), "'rank' has numbers that are no ranks.*0.25"),
    "a rank that is negated": (lambda: mean(AB, ranked([-1, -2])), "'rank' has numbers that are no ranks"),
    "a rank that is said to be a score": (
        lambda: read_run(ranked([0.5, 0.25]), format="scores").value.tolist(), [0.5, 0.25],
    ),
    "ranks from 0 by name": (lambda: read_run(ranked([0, 1])).value.tolist(), [0, -1]),
    "hits with two ids": (
        lambda: mean(AB, {"1": [{"doc_id": "a", "passage_id": "b", "score": 1}]}), "one id.*'doc_id' and 'passage_id'",
    ),
    "hits with two scores": (
        lambda: mean(AB, {"1": [{"doc_id": "a", "score": 1, "_score": 2}]}), "one score.*'score' and '_score'",
    ),
    "LightGCN": (lambda: qrels_of("0 1 2 3 4 5\n1 3 4\n"), "lines of three: query document relevance"),
    "RankLLM": (lambda: run_of('[{"query": {"qid": 1}, "candidates": []}]'), "Make three columns, qid, doc_id"),
    "DPR": (lambda: run_of('[{"question": "x", "ctxs": [{"id": "a"}]}]'), "a query in common"),
    "Tevatron": (lambda: qrels_of('{"query_id": "1", "positive_passages": []}'), "Make three columns"),
    "Elasticsearch": (lambda: run_of('{"took": 5, "hits": {"hits": []}}'), "Make three columns"),
    "Quepid": (lambda: qrels_of("Case Name,Query Text,Doc ID,Doc Position,Rating\nB,x,a,1,3\n"), "lines of three"),
    "Quepid's judgments": (lambda: qrels_of("query,docid,rating\nx,a,3\nx,b,0\n"), [3, 0]),
    "lists in Parquet": (
        lambda: read_run(parquet(pd.DataFrame({"qid": [1], "docid": [["a"]], "score": [[1.0]]}))), "explode",
    ),
    "probabilities as grades": (lambda: evaluate(*PROBABILITIES, metrics="pfound"), "stop='label'.*max_grade=1"),
    "probabilities as gains": (
        lambda: evaluate(*PROBABILITIES, metrics="rbp(gain=linear)"), "another scale: pass max_grade=1",
    ),
    "probabilities": (lambda: evaluate(*PROBABILITIES, metrics={"p": "pfound(stop=label)"}).mean()["p"], 0.62526),
    "svmlight": (lambda: read_svmlight(file("2 qid:1.0 1:0.5\n0 qid:2.0 2:0.1\n"))[2].tolist(), [1, 2]),
}  # fmt: skip


@together("name", INPUTS)
def test_inputs(name):
    value_or_words(*INPUTS[name])


# --- lists in cells ------------------------------------------------------------------------------------------


def test_lists_in_cells_are_rows():
    assert evaluate_table(LISTS, metrics="mrr").mean() == {"mrr": 0.75}
    rows = pd.DataFrame({"qid": [1, 1, 2], "docid": [*"abc"], "score": [3.0, 2.0, 1.0], "label": [0, 1, 1]})
    lists = rows.groupby("qid").agg(list)
    for table in (lists, lists.reset_index(), pl.from_pandas(lists.reset_index())):
        assert read_run(table).value.tolist() == [3, 2, 1]
        assert read_qrels(table, value="label").value.tolist() == [0, 1, 1]
        assert read_table(table).y_true.tolist() == [0, 1, 1]
        assert evaluate_table(table, metrics="mrr").mean() == {"mrr": 0.75}
    two = lists.assign(b=lists["score"])
    assert compare_systems(two, ["score", "b"], metrics="mrr").results["b"].mean() == {"mrr": 0.75}


@pytest.mark.parametrize(
    ("label", "score", "words"),
    [
        ([[1, 0], [1]], [[1, 2], [1, 2]], "'label' and 'score' have lists, .* one length .*in row 1"),
        ([[1, 0], []], [[1, 2], []], r"'label' has lists, .*Got \[\] in row 1"),
        ([[1, 0], None], [[1, 2], [1]], "'label' has lists, .*Got None in row 1"),
    ],
)
def test_lists_that_do_not_fit(label, score, words):
    with pytest.raises(ValueError, match=words):
        evaluate_table(pd.DataFrame({"qid": [1, 2], "label": label, "score": score}))


# --- no false alarms, and words ------------------------------------------------------------------------------

NAMES = (
    ["qid", "query_id", "Query ID", "user_id", "topic", "q_id", "user_id:token"],
    ["docno", "doc_id", "docId", "passage-id", "item_id", "movieId", "corpus-id"],
    ["label", "relevance", "rating", "score", "gain"],
    ["score", "similarity", "rank", "sim"],
)


@pytest.mark.slow
def test_usual_tables_are_read_in_silence():
    """One in eleven combinations of usual names, with other columns in between, in one format after the other."""
    rng = np.random.default_rng(0)
    for i, (query, document, grade, value) in enumerate([*itertools.product(*NAMES)][::11]):
        rows = pd.DataFrame({query: np.repeat(np.arange(4), 5), document: np.tile(np.arange(5), 4)})
        ranks = np.concatenate([rng.permutation(5) for _ in range(4)]) + 1.0
        more = [{}, {"text": "x", "timestamp": range(20)}, {"title": [f"t{i}" for i in range(20)]}][i % 3]
        form = [*FORMS.values()][i % len(FORMS)]
        if "blanks" in [*FORMS][i % len(FORMS)]:
            more, rows = {}, rows.rename(columns={"Query ID": "QueryID"})
        qrels = read_qrels(form(rows.assign(**{grade: rng.integers(0, 3, 20)}, **more)))
        run = read_run(form(rows.assign(**{value: ranks if value == "rank" else -ranks + rng.random()}, **more)))
        assert normalized_name(qrels.columns["value"]) == grade
        assert normalized_name(run.columns["value"]) == value
        assert np.array_equal(run.value.argsort(kind="stable"), (-ranks).argsort(kind="stable"))


def test_errors_about_a_table_speak_of_the_table():
    table = pd.DataFrame({"qid": [1, 1], "grade": [0, 1], "bm25": [np.nan, 1.0], "b": [1.0, 2.0]})
    for call in (
        lambda: evaluate_table(table, y_true="grade", y_score="bm25"),
        lambda: compare_systems(table, ["bm25", "b"], y_true="grade"),
        lambda: read_table(table, y_true="grade", y_score="bm25"),
    ):
        with pytest.raises(ValueError, match="^column 'bm25' must not contain NaN"):
            call()
    many = pd.DataFrame({"qid": np.repeat(np.arange(20), 3), "grade": 3, "bm25": 1.0})
    with pytest.warns(RankingWarning, match="every label is 3"):
        evaluate_table(many, y_true="grade", y_score="bm25", metrics="map")


# --- cures ---------------------------------------------------------------------------------------------------

SMART = "01 1410  0 0\n01 1572  0 0\n02 2434  0 0\n"
COLBERT = "".join(f"{q}\t{10 * q + p}\t{p}\t{20 - p}.5\n" for q in (1, 2) for p in (1, 2, 3))
RATED = "".join(f"{u}\t{25 + u}\t5\t97882{4351 + u}\n" for u in range(30))
INDEXED = pd.DataFrame({"qid": ["q1", "q1", "q2"], "docid": [*"abc"], "score": [2, 1, 1]})


@pytest.mark.parametrize(
    ("read", "text", "expected"),
    [
        (read_run, INDEXED.to_csv(sep="\t"), [2, 1, 1]),
        (read_qrels, INDEXED.rename(columns={"score": "label"}).to_csv(sep="\t"), [2, 1, 1]),
        (read_run, COLBERT, [19.5, 18.5, 17.5] * 2),
        (read_run, "q1 Q0 d1 1 2.0\nq1 Q0 d2 2 1.0\n", [2, 1]),
    ],
)
def test_files_whose_structure_is_certain(read, text, expected):
    assert read(io.BytesIO(text.encode())).value.tolist() == expected


CURED = {
    "SMART's judgments": (read_qrels, SMART, "value=False reads them", [1, 1, 1]),
    "unknown header": (read_qrels, "customer\tsku\n1\t6\n2\t7\n3\t8\n", "if it names the columns, pass", [1, 1, 1]),
    "a word as id": (read_qrels, "first one\n1 6\n2 7\n", "separator=' ' if it does not", [1, 1, 1]),
    "ratings": (read_qrels, RATED, "user, item, rating and time", [5] * 30),
    "implicit ratings": (read_qrels, RATED.replace("\t5\t", "\t1\t"), "the fourth field is a time", [1] * 30),
    "a ranking as judgments": (read_qrels, COLBERT, "use read_run", [19.5, 18.5, 17.5] * 2),
    "judgments as a run": (read_run, "q1 0 d1 2\nq1 0 d2 0\n", "use read_qrels", [2, 0]),
    "a run as judgments": (read_qrels, "q1 Q0 d1 1 2.5 me\nq1 Q0 d2 2 1.5 me\n", "use read_run", [2.5, 1.5]),
    "an index": (read_qrels, INDEXED.to_csv(sep=" ", header=False), "index=False and a header", [2, 1, 1]),
}


@pytest.mark.parametrize("name", CURED)
def test_the_cure_that_an_error_prints(name, tmp_path):
    """The cure is followed as it is printed, and gives the right values."""
    read, text, message, expected = CURED[name]
    path = tmp_path / "file.txt"
    path.write_text(text)
    with pytest.raises(ValueError, match=re.escape(message)) as raised:
        read(path)
    told = str(raised.value)
    if "pandas.read_csv" in told:
        call = re.search(r"io\.(read_qrels\(pandas\.read_csv\(.*\)\)) reads", told)[1]
        entries = eval(call, {"read_qrels": read_qrels, "pandas": pd, "path": path})
    elif "index=False" in told:
        INDEXED.rename(columns={"score": "label"}).to_csv(path, index=False)
        entries = read(path)
    elif "separator=' '" in told and "a word" in name:
        entries = read(path, separator=" ")
    elif "pass qid=" in told:
        given = dict(re.findall(r"(qid|doc_id)='(\w+)'", told))
        entries = read(path, **given, value=False)
    elif "value=False" in told:
        entries = read(path, value=False)
    else:
        entries = {"read_run": read_run, "read_qrels": read_qrels}[re.search(r"use (\w+)", told)[1]](path)
    assert entries.value.tolist() == expected
    # No file was read as queries of its header, or as documents of its grades.
    assert not {"customer", "0"} & {*np.asarray(entries.qid).tolist(), *np.asarray(entries.doc_id).tolist()}
