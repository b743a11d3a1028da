"""Many runs on the command line: short names, one line about ties, ranges of shares, and segments of queries."""

import csv
import io
import json

import numpy as np
import pytest
from registry import together

from sklearn_rank import compare_systems, evaluate_run
from sklearn_rank._cli import main
from sklearn_rank._data.judged import judged_note
from sklearn_rank.io import read_qrels, read_run

N, SIZE = 24, 6
RUNS = [f"runs/input.{name}.run" for name in ("bm25", "dense", "fused", "tied")]


@pytest.fixture
def cli(tmp_path, monkeypatch, capsys):
    """Run the command line in a folder with judgments, four runs, a file of countries and a table."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "runs").mkdir()
    rng, rows = np.random.default_rng(0), [(f"q{i}", f"d{j}") for i in range(N) for j in range(SIZE)]
    grades = rng.integers(0, 3, len(rows))
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {y}\n" for (q, d), y in zip(rows, grades, strict=True)))
    (tmp_path / "country.tsv").write_text("".join(f"q{i}\t{'de' if i % 3 else 'fr'}\n" for i in range(N)))
    scores = {}
    for k, name in enumerate(RUNS):
        score = scores[name] = np.round(grades * k / 4 + rng.normal(size=len(rows)), 1 if k % 2 else 9)
        lines = [f"{q} Q0 {d} 1 {s} t\n" for (q, d), s in zip(rows, score, strict=True)]
        (tmp_path / name).write_text("".join(lines))
    columns = zip(rows, grades, scores[RUNS[0]], scores[RUNS[2]], strict=True)
    lines = [f"{q},{y},{'de' if int(q[1:]) % 3 else 'fr'},{a},{b}\n" for (q, _), y, a, b in columns]
    (tmp_path / "table.csv").write_text("".join(["qid,label,country,a,b\n", *lines]))

    def call(*words, code=0):
        assert main([*words]) == code
        return capsys.readouterr()

    return call


def test_names_lose_common_parts(cli):
    head = "evaluate", "qrels", *RUNS, "-m", "map"
    assert [line.split()[0] for line in cli(*head).out.splitlines()[1:]] == ["bm25", "dense", "fused", "tied"]
    assert [*json.loads(cli(*head, "--format", "json").out)] == RUNS
    assert cli("evaluate", "qrels", RUNS[0], "-m", "map").out.splitlines()[1].startswith(RUNS[0])
    compared = "compare", "qrels", *RUNS[:2], "--baseline", RUNS[2]
    assert cli(*compared).out.splitlines()[1].split()[1:3] == ["bm25", "fused"]
    assert "fused (baseline) &" in cli(*compared, "--format", "latex").out
    assert f"nDCG@10   {RUNS[0]}".split()[1] in cli(*compared, "--format", "csv").out


def test_compare_prints_the_verdict(cli):
    """The sentences of `compare_systems`; of all pairs, which systems may be the best."""
    names = "bm25", "dense", "fused"
    results = {
        name: evaluate_run(read_qrels("qrels"), read_run(run), metrics=["ndcg@10", "map"])
        for name, run in zip(names, RUNS, strict=False)
    }
    metrics = "-m", "ndcg@10,map"
    report = compare_systems(results, baseline="bm25")
    best, against = report.verdict.split(";", 1)
    assert "dense and fused may be the best of 3 systems" in best
    told = cli("compare", "qrels", *RUNS[1:3], *metrics, "--baseline", RUNS[0]).err
    first = told.index(f"{report.verdict} by nDCG@10\n")
    assert " ".join(str(report).split()).count("By MAP: ") == told[first:].count("By MAP: ")
    all_pairs = cli("compare", "qrels", *RUNS[:3], *metrics).err
    assert f"{best} by nDCG@10\n" in all_pairs
    assert against not in all_pairs
    pair = compare_systems({name: results[name] for name in names[:2]}, baseline="dense")
    assert f"{pair.verdict} by nDCG@10\n" in cli("compare", "qrels", *RUNS[:2], *metrics).err
    assert "best of" not in cli("compare", "qrels", *RUNS[:3], *metrics, "--format", "csv").err


def test_ties_of_all_runs_are_one_line(cli):
    tied = [line for line in cli("evaluate", "qrels", *RUNS, "-m", "map").err.splitlines() if "tied" in line]
    n = {
        name: cli("evaluate", "qrels", name, "-m", "map").err.partition("tied scores in ")[2].split()[0]
        for name in RUNS[1::2]
    }
    least, most = sorted(map(int, n.values()))
    assert tied == [f"2 of 4 runs: tied scores in {least} to {most} of {N} queries, read as --ties average"]


@together(
    "shares, note",
    [
        ([0.5, 0.51], "Judged of the first 5: s0 50 %, s1 51 %."),
        ([0.5, 0.51, 0.508, 0.505], "Judged share of the first 5: 50 to 51 %."),
        ([0.5] * 12, "Judged share of the first 5: 50 %."),
        ([1.0] * 12, ""),
    ],
)
def test_shares_of_many_runs_are_a_range(shares, note):
    assert judged_note({"ndcg@5": {f"s{i}": share for i, share in enumerate(shares)}}) == note


def test_segments(cli):
    judgments, runs = read_qrels("qrels"), {name: read_run(name) for name in RUNS[::2]}
    countries = {f"q{i}": "de" if i % 3 else "fr" for i in range(N)}
    report = compare_systems(judgments, runs, metrics=["map", "ndcg@5"], by={"country": countries})
    words = "qrels", *RUNS[::2], "-m", "map,ndcg@5", "--by", "country.tsv", "--format"
    rows = [*csv.reader(io.StringIO(cli("evaluate", *words, "csv").out))]
    expected = [(name, *row) for name, one in report.items() for row in one.segments("country").table.rows]
    assert rows[0] == ["run", *report[RUNS[0]].segments("country").table.columns]
    assert [[str(cell) for cell in row] for row in expected] == rows[1:]
    nested = json.loads(cli("compare", *words, "json").out)
    tested = report.segments("country", metric="ndcg@5").table
    assert nested["ndcg@5"] == [dict(zip(tested.columns, row, strict=True)) for row in tested.rows]
    out = cli("compare", *words, "markdown").out
    assert "fused" in out
    assert RUNS[2] not in out
    table = "--table", "table.csv", "--y-score", "a", "--y-score", "b", "-m", "map,ndcg@5", "--format", "csv"
    by_column = [*csv.reader(io.StringIO(cli("evaluate", *table, "--by", "country").out))]
    assert [row[1:] for row in by_column] == [row[1:] for row in rows]
    assert "several for 'q1'" in cli("evaluate", *table, "--by", "a", code=2).err.replace("q0", "q1")


def test_a_report_by_segment_of_a_baseline_named_as_in_the_table(tmp_path, capsys):
    for name, better in (("a", "d1"), ("b", "d0")):
        lines = [f"q{i} Q0 d{j} 1 {2 - (f'd{j}' == better) * -1} t\n" for i in range(8) for j in range(2)]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    (tmp_path / "qrels").write_text("".join(f"q{i} 0 d{j} {j}\n" for i in range(8) for j in range(2)))
    (tmp_path / "country").write_text("".join(f"q{i} {'de' if i < 4 else 'fr'}\n" for i in range(8)))
    files = [str(tmp_path / name) for name in ("qrels", "a.run", "b.run")]
    page = tmp_path / "page.html"
    assert not main(
        ["report", *files, "--baseline", "b", "--by", str(tmp_path / "country"), "-o", str(page), "-m", "mrr"]
    )
    assert "Do the differences vary between segments?" in page.read_text()
    assert not main(["compare", *files, "--baseline", "b", "-m", "mrr"])
    (tmp_path / "train").write_text("q0 d1\n")
    capsys.readouterr()
    assert not main(["evaluate", *files[:2], "--exclude", str(tmp_path / "train"), "-m", "mrr(replace_undefined_by=0)"])
    assert "0.8750" in capsys.readouterr().out
