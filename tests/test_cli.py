"""The command line: what it prints, where it puts the rest, and how it fails."""

import csv
import io
import json
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from shared_cases import SHARED, needs_shared, read

import sklearn_rank
from sklearn_rank import evaluate, get_metric_names
from sklearn_rank._cli import arguments, main
from sklearn_rank.stats import compare_all
from sklearn_rank.stats._tests import TESTS

QRELS = "301 0 a 2\n301 0 b 0\n301 0 c 1\n302 0 a 1\n303 0 z 1\n"
RUN = "301 Q0 a 1 7.5 t\n301 Q0 b 2 7.5 t\n302 Q0 b 1 5 t\n302 Q0 a 1 4 t\n304 Q0 a 1 1 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgements and two runs in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "other").write_text(RUN.replace("7.5", "1.5", 1))
    return tmp_path


@pytest.fixture
def cli(capsys):
    """Call the command line; output, errors, and that the exit code is what it must be."""

    def call(*words, code=0):
        try:
            found = main(words)
        except SystemExit as error:
            found = error.code
        out, err = capsys.readouterr()
        assert found == code, err
        return out, err

    return call


def test_means(files, cli):
    out, err = cli("evaluate", "qrels", "run", "other", "-m", "map", "-m", "ndcg(gain=linear)@1", "-m", "bpref")
    lines = out.splitlines()
    assert lines[0].split() == ["run", "map", "ndcg(gain=linear)@1", "bpref"]
    assert lines[1].split()[:2] == ["run", f"{(3 / 8 + 1 / 2) / 3:.4f}"]
    assert lines[2].split()[:2] == ["other", f"{(1 / 4 + 1 / 2) / 3:.4f}"]
    first = "run: 4 documents retrieved, 3 of them judged, 2 judged only; "
    first += "queries not in the run: 1, counted as zero (303); queries without judgements: 1, left out (304)"
    assert err.splitlines()[0] == first


@pytest.mark.parametrize("per_query", [False, True])
def test_formats_say_the_same(files, cli, per_query):
    words = ["evaluate", "qrels", "run", "other", "-m", "map", "-m", "mrr"] + ["--per-query"] * per_query
    nested = json.loads(cli(*words, "--format", "json")[0])
    head, *rows = csv.reader(io.StringIO(cli(*words, "--format", "csv")[0]))
    assert head == ["run", "qid", "map", "mrr"] if per_query else ["run", "map", "mrr"]
    for row in rows:
        for metric, value in zip(head[-2:], row[-2:], strict=True):
            in_json = nested[row[0]][metric]
            assert float(value) == (in_json[row[1]] if per_query else in_json)
    assert len(rows) == (6 if per_query else 2)
    assert cli(*words, "--format", "markdown")[0].startswith("| run |")
    assert cli(*words, "--format", "latex")[0].startswith(r"\begin{tabular}{l")


def test_missing_queries(files, cli):
    def queries(*words):
        return [
            *json.loads(cli("evaluate", "qrels", "run", "--per-query", "--format", "json", *words)[0])["run"]["map"]
        ]

    assert queries("-m", "map") == ["301", "302", "303"]
    assert queries("-m", "map", "--missing-from-run", "drop") == ["301", "302"]
    assert queries("-m", "map", "--convention", "trec_eval") == ["301", "302"]
    assert queries("-m", "map", "--missing-from-qrels", "zero") == ["301", "302", "303", "304"]
    out, err = cli("evaluate", "qrels", "run", "--missing-from-run", "raise", code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert "Got 1 missing, the first '303'" in err


def test_keywords_of_all_metrics(files, cli):
    def value(*words):
        return json.loads(cli("evaluate", "qrels", "run", "-m", "p@1", "--format", "json", *words)[0])["run"]["p@1"]

    assert value() == pytest.approx(0.5 / 3)
    assert value("--ties", "best") == pytest.approx(1 / 3)
    assert value("--ties", "stable", "--min-relevance", "3") == 0
    assert value("--unjudged", "drop", "--ties", "worst") == pytest.approx(1 / 3)
    assert value("--convention", "trec_eval") == 0  # b before a
    assert value("--n-jobs", "2") == value("--float32") == value("--keep-negative")


def test_standard_input_and_gzip(files, cli, monkeypatch):
    class Input:
        buffer = io.BytesIO(RUN.encode())

    expected = json.loads(cli("evaluate", "qrels", "run", "--format", "json")[0])["run"]
    monkeypatch.setattr(sys, "stdin", Input)
    assert json.loads(cli("evaluate", "qrels", "-", "--format", "json")[0]) == {"-": expected}
    assert "once. Got '-' 2 times" in cli("evaluate", "-", "-", code=2)[1]


@needs_shared
@pytest.mark.parametrize(("run", "words"), [("trec_test", []), ("trec_trunc_complete", ["--missing-from-run", "zero"])])
def test_what_trec_eval_prints(run, words, tmp_path, cli):
    """Its collection, through files, for the standard measures: query by query, and the means as printed."""
    with np.load(SHARED / f"data/trec/{run}.npz") as found:
        data = {name: found[name].tolist() for name in found}
    rows = [
        *zip(data["qid"], data["docno"], data["rel"], data["score"], data["retrieved"], data["judged"], strict=True)
    ]
    (tmp_path / "qrels").write_text("".join(f"{q} 0 {d} {r}\n" for q, d, r, _, _, judged in rows if judged))
    (tmp_path / "run").write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, d, _, s, got, _ in reversed(rows) if got))
    names = {"map": "map", "Rprec": "rprec", "bpref": "bpref", "recip_rank": "mrr", "ndcg": "ndcg", "infAP": "infap"}
    names |= {"11pt_avg": "11pt", "set_P": "precision", "set_recall": "recall", "gm_map": "gm_map"}
    names |= {f"iprec_at_recall_{x / 10:.2f}": f"iprec(recall={x / 10})" for x in range(11)}
    cutoffs = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
    for theirs, ours in [("P", "p"), ("recall", "recall"), ("ndcg_cut", "ndcg"), ("map_cut", "map")]:
        names |= {f"{theirs}_{k}": f"{ours}@{k}" for k in cutoffs}
    names |= {f"success_{k}": f"success@{k}" for k in (1, 5, 10)}
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--convention", "trec_eval", *words]
    for ours in names.values():
        words += ["-m", ours]
    (means,) = json.loads(cli(*words, "--format", "json")[0]).values()
    (by_query,) = json.loads(cli(*words, "--format", "json", "--per-query")[0]).values()
    stored = read(f"data/trec/{run}.json")["trec_eval"]
    for theirs, ours in names.items():
        expected = dict(stored[theirs])
        assert means[ours] == pytest.approx(expected.pop("all"), abs=1e-12)
        if theirs != "gm_map":
            assert by_query[ours] == pytest.approx(expected, abs=1e-12)
    shown = cli(*words)[0].splitlines()[1].split()[1:]
    assert [*map(float, shown)] == pytest.approx([stored[theirs]["all"] for theirs in names], abs=5.1e-5)


def test_tables(files, cli, rng):
    pytest.importorskip("pyarrow")
    n = 60
    columns = {"query": rng.integers(0, 5, n).tolist(), "label": rng.integers(0, 3, n).tolist()}
    columns |= {"a": rng.integers(0, 9, n).tolist(), "b": rng.normal(size=n).tolist(), "doc": [*range(n)]}
    lines = [",".join(columns), *(",".join(map(str, row)) for row in zip(*columns.values(), strict=True))]
    (files / "table.csv").write_text("\n".join(lines) + "\n")
    words = ["--table", "table.csv", "--y-true", "label", "--qid", "query", "--y-score", "a", "--y-score", "b"]
    found = json.loads(cli("evaluate", *words, "-m", "ndcg@5", "--format", "json", "--per-query")[0])
    for name in "ab":
        result = evaluate(columns["label"], columns[name], qid=columns["query"], metrics="ndcg@5")
        assert [*found[name]["ndcg@5"].values()] == result.per_query["ndcg@5"].tolist()
    found = cli("evaluate", *words, "-m", "map", "--format", "json", "--convention", "trec_eval", "--doc-id", "doc")[0]
    result = evaluate(
        columns["label"], columns["a"], qid=columns["query"], metrics="map", convention="trec_eval",
        tie_break=[*map(str, columns["doc"])],
    )  # fmt: skip
    assert json.loads(found)["a"] == result.mean()
    assert "columns" not in cli("compare", *words)[1]
    assert "Got 'c', 0 times there" in cli("evaluate", "--table", "table.csv", "--y-true", "c", code=2)[1]


def test_compare(files, cli):
    words = ["compare", "qrels", "run", "other", "-m", "map", "--test", "sign", "--format", "json"]
    ((row,),) = json.loads(cli(*words)[0]).values()
    values = json.loads(cli("evaluate", "qrels", "run", "other", "-m", "map", "--per-query", "--format", "json")[0])
    results = {run: [*metrics["map"].values()] for run, metrics in values.items()}
    expected = compare_all(results, test="sign")
    assert row["corrected"] == expected.pvalue("run", "other")
    assert (row["a"], row["b"], row["wins"]) == ("run", "other", 1)
    out, _ = cli(
        "compare", "qrels", "run", "other", "-m", "map", "-m", "mrr", "--baseline", "run", "--correction", "none"
    )
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [["map", "other", "run"], ["mrr", "other", "run"]]
    assert "Got 'mine'" in cli("compare", "qrels", "run", "other", "--baseline", "mine", code=2)[1].splitlines()[-1]
    assert "Two runs or more" in cli("compare", "qrels", "run", code=2)[1]
    assert set(arguments.TESTS) == set(TESTS)


def test_metrics(cli):
    found = json.loads(cli("metrics", "--format", "json")[0])
    assert [*found] == get_metric_names()
    assert found["ndcg"]["formula"] == "nDCG@k = DCG@k / IDCG@k"
    assert all(facts["formula"] and facts["about"] for facts in found.values())
    assert len(cli("metrics")[0].splitlines()) == len(found) + 1
    assert cli("--version")[0].strip() == sklearn_rank.__version__


@pytest.mark.parametrize("kind", ["distribution", "cutoff", "difference", "critical"])
def test_pictures(files, cli, kind):
    cli("plot", "qrels", "run", "other", "-m", "ndcg", "--kind", kind, "--max-k", "3", "-o", "picture.png")
    assert (files / "picture.png").read_bytes()[1:4] == b"PNG"


def test_pictures_that_cannot_be(files, cli, monkeypatch):
    assert (
        "of one metric. Got map, mrr" in cli("plot", "qrels", "run", "-m", "map", "-m", "mrr", "-o", "x.svg", code=2)[1]
    )
    assert "two runs or more. Got run" in cli("plot", "qrels", "run", "--kind", "critical", "-o", "x.svg", code=2)[1]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install "sklearn-rank[plot]"' in cli("plot", "qrels", "run", "-o", "x.svg", code=2)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "qrels", "nothing"], "No such file or directory: 'nothing'"),
        (["evaluate", "qrels"], "Judgements and at least one run must be given"),
        (["evaluate", "qrels", "run", "-m", "ndgc"], "Did you mean 'ndcg'"),
        (["evaluate", "qrels", "run", "-m", "map", "-m", "map"], "Got 'map' twice"),
        (["evaluate", "run", "qrels"], "has lines of 4 fields: query iteration document relevance. Got 6 in line 1"),
        (["evaluate", "qrels", "run", "--ties", "maybe"], "argument --ties: invalid choice"),
        (["evaluate", "qrels", "run", "--y-score", "a"], "columns of a --table"),
        (["evaluate", "--table", "t.csv", "run"], "With --table there are no other files. Got run"),
        (["evaluate", "qrels", "run", "--n-jobs", "0"], "'n_jobs' parameter"),
        (["guess"], "invalid choice"),
        ([], "required: COMMAND"),
    ],
)
def test_errors_are_one_line(files, cli, words, message):
    out, err = cli(*words, code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("sklearn-rank")
    assert message in err


def test_what_is_not_the_users_fault(files, cli, monkeypatch):
    def stop(*_, **__):
        raise KeyError("lost")

    monkeypatch.setattr("sklearn_rank._cli.data.join", stop)
    assert cli("evaluate", "qrels", "run", code=1) == ("", "sklearn-rank: error: KeyError: 'lost'\n")
    monkeypatch.setattr("sklearn_rank._cli.data.join", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert cli("evaluate", "qrels", "run", code=130) == ("", "")


def test_warnings_are_one_line(files, cli):
    (files / "qrels").write_text("301 0 a 0\n")
    out, err = cli("evaluate", "qrels", "run", "-m", "map(replace_undefined_by=nan)", "--format", "json")
    assert json.loads(out)["run"] == {"map(replace_undefined_by=nan)": None}
    assert re.search(r"^sklearn-rank: warning: map is not defined for any query.*\n\Z", err, re.MULTILINE)


def test_progress_on_a_terminal_only(files, cli, monkeypatch):
    assert "1/1" not in cli("evaluate", "qrels", "run")[1]
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    assert "1/1 run" in cli("evaluate", "qrels", "run")[1]


def test_as_a_program(files):
    """The module runs, reads its standard input, and is quiet when nobody reads on."""
    command, here = [sys.executable, "-m", "sklearn_rank"], Path(__file__).parents[1]
    words, given = [*command, "evaluate", str(files / "qrels"), "-"], RUN.encode()
    done = subprocess.run(words, input=given, capture_output=True, check=True, timeout=120, cwd=here)
    assert done.stdout.decode().splitlines()[0].split() == ["run", "ndcg@10", "map"]
    with subprocess.Popen([*command, "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here) as process:
        process.stdout.close()
        assert process.wait(timeout=120) == 1
        assert process.stderr.read() == b""
