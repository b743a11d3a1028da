"""`sklearn-rank explain`: the same as `Comparison.explain` and `to_judge`."""

import csv
import io
import json
from pathlib import Path

import pytest

from sklearn_rank import compare_systems
from sklearn_rank._cli import main

QRELS = {"1": {"a": 2, "b": 0, "c": 1}, "2": {"a": 1, "b": 0}}
OLD = {"1": {"a": 3.0, "b": 2.0, "c": 1.0}, "2": {"a": 2.0, "x": 1.0}}
NEW = {"1": {"b": 3.0, "y": 2.0, "a": 1.0}, "2": {"x": 2.0, "z": 1.5, "a": 1.0}}


@pytest.fixture
def files(tmp_path, monkeypatch):
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {g}\n" for q, ds in QRELS.items() for d, g in ds.items()))
    for name, run in (("old", OLD), ("new", NEW)):
        lines = (f"{q} Q0 {d} 1 {s} {name}\n" for q, ds in run.items() for d, s in ds.items())
        (tmp_path / name).write_text("".join(lines))
    rows = "qid,label,old,new\n7,1,2,1\n7,0,1,2\n8,1,2,1\n8,0,1,0\n"
    (tmp_path / "table.csv").write_text(rows)
    monkeypatch.chdir(tmp_path)


def explain(capsys, *arguments, code=0):
    assert main(["explain", *arguments]) == code
    out, told = capsys.readouterr()
    return out if code == 0 else told


@pytest.mark.parametrize("metric", ["ndcg@2", "map"])
def test_explain_command_prints_the_explanation(files, capsys, metric):
    report = compare_systems(QRELS, {"old": OLD, "new": NEW}, metrics=metric)
    found = report.explain("1", new="new", old="old")
    given = ["qrels", "new", "--baseline", "old", "-m", metric]
    assert explain(capsys, *given, "--query", "1") == f"{found}\n"
    assert explain(capsys, *given, "--query", "1", "--format", "markdown") == f"{found.to_markdown()}\n"
    assert explain(capsys, *given, "--query", "1", "--format", "latex") == f"{found.to_latex()}\n"
    nested = json.loads(explain(capsys, *given, "--query", "1", "--format", "json"))
    assert nested["difference"] == pytest.approx(found.difference)
    assert (nested["is_sum"], nested["query"]) == (found.is_sum, "1")
    assert [tuple(row.values()) for row in nested["documents"]] == [*found.table.rows]
    rows = [*csv.reader(io.StringIO(explain(capsys, *given, "--query", "1", "--format", "csv")))]
    assert rows[0] == ["document", "grade", "judged", "rank old", "rank new", "contribution"]
    assert [float(row[-1]) for row in rows[1:]] == [row[-1] for row in found.table.rows]
    assert explain(capsys, *given, "--to-judge", "2") == f"{report.to_judge(2, new='new', old='old')}\n"
    assert explain(capsys, *given, "--query", "1", "--to-judge", "2") == f"{found.to_judge(2)}\n"


def test_without_a_query_it_takes_the_largest_loss(files, capsys):
    report = compare_systems(QRELS, {"old": OLD, "new": NEW}, metrics="mrr")
    (query, *_), *_ = report.most_different("new", "old", 1).rows
    assert f"MRR of query {query}: " in explain(capsys, "qrels", "new", "--baseline", "old", "-m", "mrr")
    table = ("--table", "table.csv", "--y-score", "new", "--baseline", "old")
    assert "of query 7: new" in explain(capsys, *table)
    assert "of query 8: new" in explain(capsys, *table, "--query", "8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("qrels",), "explain takes one new run: QRELS and NEW; the old one is --baseline. Got none."),
        (("qrels", "old", "new"), "explain takes one new run: QRELS and NEW; the old one is --baseline. Got old, new."),
        (("qrels", "old"), "the old one is --baseline. Got old, as --baseline too."),
        (("qrels", "new", "-m", "map", "-m", "mrr"), "explain takes one metric. Got map, mrr."),
        (("qrels", "new", "--query", "9"), "--query must be one of 2 queries, such as '1'. Got '9'."),
        (("qrels", "new", "--to-judge", "0"), "parameter of to_judge"),
    ],
)
def test_explain_command_errors(files, capsys, arguments, message):
    assert message in explain(capsys, *arguments, "--baseline", "old", code=2)


def test_the_old_run_is_named(files, capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["explain", "qrels", "old", "new"])
    assert "the following arguments are required: --baseline" in capsys.readouterr().err


def test_a_saved_baseline_has_no_documents(files, capsys):
    assert main(["evaluate", "qrels", "old", "-m", "mrr", "--save", "old.npz"]) == 0
    assert "'old.npz' without documents" in explain(
        capsys, "qrels", "new", "--baseline", "old.npz", "-m", "mrr", code=2
    )


def test_the_query_that_lost_most_by_an_error(files, capsys):
    """Without --query it is that in which the error rose."""
    for name, (first, second) in (("old", ("abc", "bca")), ("new", ("bca", "abc"))):
        lines = (f"{q} Q0 {d} 1 {9 - i} {name}\n" for q, ds in ((1, first), (2, second)) for i, d in enumerate(ds))
        Path(name).write_text("".join(lines))
    Path("qrels").write_text("".join(f"{q} 0 {d} {int(d == 'a')}\n" for q in (1, 2) for d in "abc"))
    out = explain(capsys, "qrels", "new", "--baseline", "old", "-m", "relevance_position")
    assert out.startswith("Relevance position of query 1: new 3.0000 - old 1.0000 = 2.0000")
