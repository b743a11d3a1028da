"""The gate on the command line: exit codes of the process, printed output, written files, and errors."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sklearn_rank
from sklearn_rank._cli import main
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import no_worse

N = 60
PACKAGE = str(Path(sklearn_rank.__file__).parents[1])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Judgments, an old run, a run as good, a worse run, and an undecided run; a table."""
    folder, rng = tmp_path_factory.mktemp("gate"), np.random.default_rng(0)
    grades = rng.integers(0, 3, (N, 8))
    old = grades + rng.normal(0, 2, grades.shape)
    scores = {"old": old, "same": old + rng.normal(0, 0.05, old.shape), "bad": rng.normal(size=old.shape),
              "unsure": old + rng.normal(0, 0.6, old.shape)}  # fmt: skip
    lines = [f"q{i} 0 d{j} {grades[i, j]}" for i in range(N) for j in range(8)]
    (folder / "qrels").write_text("\n".join(lines) + "\n")
    (folder / "other_qrels").write_text("\n".join([*lines[:-1], f"q{N - 1} 0 d7 {3 - grades[-1, -1]}"]) + "\n")
    for name, x in scores.items():
        lines = [f"q{i} Q0 d{j} 1 {x[i, j]:.6f} t" for i in range(N) for j in range(8)]
        (folder / name).write_text("\n".join(lines) + "\n")
    (folder / "languages.tsv").write_text("".join(f"q{i}\t{'de' if i < 20 else 'en'}\n" for i in range(N)))
    rows = [f"q{i},d{j},{grades[i, j]},{'de' if i < 20 else 'en'}" for i in range(N) for j in range(8)]
    (folder / "qrels.csv").write_text("\n".join(["qid,doc_id,relevance,languages", *rows]) + "\n")
    (folder / "short").write_text("\n".join(lines[:-8]) + "\n")
    table = [f"q{i},{grades[i, j]},{old[i, j]:.6f},{scores['same'][i, j]:.6f}" for i in range(N) for j in range(8)]
    (folder / "table.csv").write_text("\n".join(["qid,label,old,score", *table]) + "\n")
    return folder


@pytest.fixture
def cli(files, monkeypatch, capsys):
    """Call the gate in this process: exit code, output, errors."""
    monkeypatch.chdir(files)

    def call(*words):
        try:
            code = main(["gate", *words])
        except SystemExit as error:
            code = error.code
        return code, *capsys.readouterr()

    return call


SAME = ("qrels", "same", "--baseline", "old", "--margin", "0.1")
UNSURE = ("qrels", "unsure", "--baseline", "old", "--margin", "0.02")


@pytest.mark.parametrize(
    ("words", "code", "out"),
    [
        (SAME, 0, "No worse: "),
        (("qrels", "bad", "--baseline", "old", "--margin", "0.02"), 3, "Worse: "),
        (SAME[:-2], 0, "No loss is shown on 60 queries: "),
        (("qrels", "bad", "--baseline", "old"), 3, "Worse: "),
        (UNSURE, 4, "Not decided: "),
        ((*UNSURE, "--undecided", "pass"), 0, "Not decided: "),
        (("qrels", "same", "--at-least", "ndcg@10=0.5"), 0, "Met: nDCG@10 is at least 0.5"),
        (("qrels", "bad", "--at-least", "ndcg@10=0.9"), 3, "Missed: nDCG@10 is not at least 0.9"),
        (("qrels", "same", "--at-least", "ndcg@10=0.84"), 4, "Not decided: "),
        (("qrels", "same", "--at-least", "ndcg@10=0.84", "--undecided", "pass"), 0, "Not decided: "),
        ((*SAME, "--by", "languages.tsv"), 0, "No worse: "),
        (("qrels", "bad", *SAME[2:-1], "0.4", "--by", "languages.tsv", "--segment-margin", "de=0"), 3, "Worse: "),
        (("qrels", "same", "--baseline", "nothing", "--margin", "0.02"), 2, ""),
    ],
)
def test_exit_codes(words, code, out, cli):
    found, printed, err = cli(*words)
    assert found == code, err
    assert printed.startswith(out)
    assert bool(printed) == bool(out)


@pytest.mark.slow
def test_the_process_has_the_exit_code(files):
    environment = os.environ | {"PYTHONPATH": PACKAGE}
    command = [sys.executable, "-m", "sklearn_rank", "gate", *UNSURE]
    assert subprocess.run(command, cwd=files, env=environment, capture_output=True, timeout=120).returncode == 4


def test_any_other_failure_is_1(cli, monkeypatch):
    monkeypatch.setattr("sklearn_rank.stats.no_worse", lambda *_, **__: 1 / 0)
    code, out, err = cli(*SAME)
    assert (code, out) == (1, "")
    assert "error: ZeroDivisionError" in err


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--margin", "2"), "A margin is in units of the metric"),
        (("--margin", "-1"), "--margin must be a finite number that is not negative. Got '-1'"),
        (("--margin", "nan"), "--margin must be a finite number that is not negative. Got 'nan'"),
        (("--margin", "0.01", "--alpha", "0.7"), "--alpha must be above 0 and below 0.5"),
        (("--margin", "0.3", "--largest-loss", "0.2"), "--largest-loss"),
    ],
)
def test_errors_name_options(words, message, cli):
    code, out, err = cli("qrels", "unsure", "--baseline", "old", *words)
    assert (code, out) == (2, "")
    assert message in " ".join(err.split())
    for python in ("no_worse", "margin=", "alpha=", "largest_loss"):
        assert python not in err


def evaluated(files, name, metrics):
    qrels, run = read_qrels(files / "qrels"), read_run(files / name)
    return sklearn_rank.evaluate_run(qrels, run, metrics=metrics)


def test_gate_command_matches_no_worse(cli, files):
    metrics = ["ndcg@5", "map"]
    new, old = (evaluated(files, name, metrics) for name in ("unsure", "old"))
    expected = no_worse(new=new, old=old, margin={"ndcg@5": 0.05, "map": 0.01}, alpha=0.1, largest_loss={"map": 0.9})
    words = ("qrels", "unsure", "--baseline", "old", "-m", "ndcg@5", "-m", "map", "--alpha", "0.1")
    margins = ("--margin", "0.01", "--margin", "ndcg@5=0.05", "--largest-loss", "map=0.9")
    code, out, _ = cli(*words, *margins, "--format", "json")
    found = json.loads(out)
    assert code == {"no worse": 0, "worse": 3, "undecided": 4}[expected.decision]
    assert (found["decision"], found["n_needed"]) == (expected.decision, expected.n_needed)
    assert found["verdict"] == expected.verdict
    assert {name: row["low"] for name, row in found["metrics"].items()} == expected.low
    assert cli(*words, *margins)[1] == f"{expected}\n"
    assert cli(*words, *margins, "--format", "markdown", "--markdown", "comment.md")[1] == f"{expected.to_markdown()}\n"
    assert (files / "comment.md").read_text() == f"{expected.to_markdown()}\n"
    assert cli(*words, *margins, "--json", "gate.json")[1] == f"{expected}\n"
    assert json.loads((files / "gate.json").read_text()) == found
    assert cli(*words, *margins, "--format", "latex")[1].startswith(r"\begin{tabular}")
    assert cli(*words, *margins, "--format", "csv")[1].count("\n") == 3


def test_a_saved_baseline(cli, files):
    assert main(["evaluate", "qrels", "old", "-m", "ndcg@10", "-m", "map", "--save", "old.npz"]) == 0
    assert Evaluation.load("old.npz").per_query.keys() == {"ndcg@10", "map"}
    code, out, err = cli("qrels", "same", "--baseline", "old.npz", "--margin", "0.1")
    assert code == 0
    assert "No worse" in out
    assert f"old.npz: {N} queries, saved" in err
    # Other metrics of the saved result do not count, and one with only a floor need not be in it.
    for words in ((), ("--margin", "0.1")):
        code, out, err = cli("qrels", "same", "--baseline", "old.npz", *words, "--at-least", "mrr=0.1")
        assert (code, err.count("map"), "MRR is at least 0.1" in out) == (0, 0, True)
    evaluated(files, "old", ["ndcg@10"]).save("own.npz")
    assert cli("qrels", "same", "--baseline", "own.npz", "--margin", "0.1")[0] == 0
    code, out, err = cli("other_qrels", "same", "--baseline", "old.npz", "--margin", "0.02")
    assert (code, out) == (2, "")
    assert "judged by the same labels" in err
    assert f"Got other labels in 'old' than in 'new' for 1 query, the first of them 'q{N - 1}'" in err
    code, _, err = cli("qrels", "same", "--baseline", "old.npz", "-m", "mrr", "--margin", "0.02")
    assert (code, "must have the metrics that are compared: mrr. Got ndcg@10, map in 'old.npz'" in err) == (2, True)
    code, _, err = cli("qrels", "same", "--baseline", "old.npz", "-l", "2", "--margin", "0.02")
    assert (code, "with min_relevance=2 in 'new' and min_relevance=1 in 'old'" in err) == (2, True)
    Evaluation.from_values([f"q{i}" for i in range(N)], {"ndcg@10": np.ones(N)}).save("bare.npz")
    code, _, err = cli("qrels", "same", "--baseline", "bare.npz", "--margin", "0.02")
    assert (code, "must have fingerprints of its labels" in err) == (2, True)


def test_columns_of_a_table(cli):
    pytest.importorskip("pyarrow")
    code, out, _ = cli("--table", "table.csv", "--baseline", "old", "--margin", "0.1")
    assert code == 0
    assert out == cli(*SAME)[1]
    assert cli("--table", "table.csv", "--y-score", "old", "--baseline", "score", "--margin", "0.1")[0] == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("qrels", "--baseline", "old", "--margin", "0.01"), "one new run: QRELS and NEW.*Got none"),
        (("qrels", "same", "bad", "--baseline", "old", "--margin", "0.01"), "one new run.*Got same, bad"),
        (("qrels", "same", "--baseline", "same", "--margin", "0.01"), "one new run.*Got same, as --baseline too"),
        (("qrels", "same", "--margin", "0.01"), "gate needs an old run, --baseline OLD, or a floor.*Got neither"),
        ((*SAME[:-1], "much"), "--margin must be a number such as 0.01, or NAME=0.01. Got 'much'"),
        ((*SAME, "--largest-loss", "mrr=0.1"), "--largest-loss must name a metric of -m: ndcg@10. Got 'mrr'"),
        ((*SAME, "--largest-loss", "0"), "--largest-loss must be a finite number above 0. Got '0'"),
        ((*SAME, "--largest-loss", "3"), "--largest-loss must be at most the range.*Got 3.*whose range is"),
        ((*SAME, "--margin", "mrr=0.1"), "--margin must name a metric of -m: ndcg@10. Got 'mrr'"),
        ((*SAME, "--margin", "0.3"), "once for each metric. Got '0.3'"),
        ((*SAME[:-1], "ndcg@10=0.1", "-m", "ndcg@10", "-m", "map"), "one number for all. Got none for map"),
        (
            ("qrels", "short", *SAME[2:], "--missing-from-run", "drop"),
            "gate needs the same queries in all systems. Without --missing-from-run drop they count as 0. "
            f"Got 1 missing, the first 'q{N - 1}' in 'new'",
        ),
        ((*SAME[:-1], "2"), "A margin is in units of the metric"),
        ((*SAME, "--alpha", "5"), "--alpha must be a number"),
        ((*SAME, "--undecided", "maybe"), "invalid choice"),
        ((*SAME, "-m", "ndgc"), "Did you mean"),
        (("qrels", "same", "--at-least", "0.5"), "--at-least must be NAME=X, such as recall@10=0.8. Got '0.5'"),
        (("qrels", "same", "--at-least", "mrr=1"), "A floor of --at-least .* between the lowest and the highest"),
        (("qrels", "same", "--at-least", "mrr=0.1", "--margin", "0.1"), "--margin .*compares with an old run"),
        ((*SAME, "--segment-margin", "0.1"), "pass --by, too"),
        ((*SAME, "--by", "languages.tsv", "--segment-margin", "xx=0.1"), "must name a segment: .*Got 'xx'"),
        ((*SAME[:-1], "-0.02"), "--margin must be a finite number that is not negative. Got '-0.02'"),
    ],
)
def test_gate_errors_are_one_line(words, message, cli):
    code, out, err = cli(*words)
    assert (code, out) == (2, "")
    last = err.splitlines()[-1]
    assert last.startswith("sklearn-rank")
    assert re.search(message, last)


def test_pass_is_for_undecided_only(cli):
    assert cli("qrels", "bad", "--baseline", "old", "--margin", "0.02", "--undecided", "pass")[0] == 3


def test_a_single_run_is_saved(cli, capsys):
    assert main(["evaluate", "qrels", "old", "same", "--save", "x.npz"]) == 2
    assert "--save takes exactly one run. Got old, same." in capsys.readouterr().err


def test_floors_and_segments_match_no_worse(cli, files):
    new, old = (evaluated(files, name, ["ndcg@10", "recall@5"]) for name in ("bad", "old"))
    languages = {"languages": {f"q{i}": "de" if i < 20 else "en" for i in range(N)}}
    expected = no_worse(
        new=new, old=old, margin={"ndcg@10": 0.3}, at_least={"recall@5": 0.4}, by=languages, segment_margin={"de": 0.02}
    )
    words = ("bad", "--baseline", "old", "--margin", "0.3", "--at-least", "recall@5=.4", "--segment-margin", "de=0.02")
    code, out, _ = cli("qrels", *words, "--by", "languages.tsv", "--html", "page.html")
    assert (code, out) == (3, f"{expected}\n")
    assert "de" in (files / "page.html").read_text()
    assert cli("qrels.csv", *words, "--by", "languages")[1] == out
    found = json.loads(cli("qrels", *words, "--by", "languages.tsv", "--format", "json")[1])
    assert found["floors"]["recall@5"]["decision"] == expected.floors.rows[0][-1]
    assert [tuple(row.values()) for row in found["segments"]] == [*expected.segments.rows]
