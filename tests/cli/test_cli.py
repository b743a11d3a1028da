"""The command line: printed output, written files, and errors."""

import csv
import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from known_cases import read, write_trec_files

import sklearn_rank
from sklearn_rank import compare_systems, evaluate, get_metric_names
from sklearn_rank._cli import arguments, commands, main
from sklearn_rank._estimates.significance import TESTS
from sklearn_rank._utils.table import cell
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare_all

QRELS = "301 0 a 2\n301 0 b 0\n301 0 c 1\n302 0 a 1\n303 0 z 1\n"
RUN = "301 Q0 a 1 7.5 t\n301 Q0 b 2 7.5 t\n302 Q0 b 1 5 t\n302 Q0 a 1 4 t\n304 Q0 a 1 1 t\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Judgments and two runs in the working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "run").write_text(RUN)
    (tmp_path / "other").write_text(RUN.replace("7.5", "1.5", 1))
    return tmp_path


@pytest.fixture
def cli(capsys):
    """Run the command line and check the exit code; return output and errors."""

    def call(*words, code=0):
        try:
            found = main(words)
        except SystemExit as error:
            found = error.code
        out, err = capsys.readouterr()
        assert found == code, err
        return out, err

    return call


def test_evaluate_command(files, cli):
    out, err = cli("evaluate", "qrels", "run", "other", "-m", "map", "-m", "ndcg(gain=linear)@1", "-m", "bpref")
    lines = out.splitlines()
    assert lines[0].split() == ["run", "MAP", "nDCG(gain=linear)@1", "bpref"]
    assert lines[1].split()[:2] == ["run", f"{(3 / 8 + 1 / 2) / 3:.4f}"]
    assert lines[2].split()[:2] == ["other", f"{(1 / 4 + 1 / 2) / 3:.4f}"]
    first = "run: 4 documents retrieved, 3 of them judged, 2 judged only; "
    first += "queries not in the run: 1, counted as zero (303); queries without judgments: 1, left out (304)"
    assert err.splitlines()[0] == first


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_order_of_judged_lines_has_no_effect(files, cli, ties):
    """a and c were retrieved, b and d not: 2.5 of 4 pairs, whichever lines come first; no scores are tied."""
    (files / "run").write_text("301 Q0 a 1 2 t\n301 Q0 c 2 1 t\n")
    lines = ["301 0 a 1\n", "301 0 b 1\n", "301 0 c 0\n", "301 0 d 0\n"]
    for judged in (lines, lines[::-1], lines[1::2] + lines[::2]):
        (files / "qrels").write_text("".join(judged))
        out, err = cli("evaluate", "qrels", "run", "-m", "auc", "--ties", ties)
        assert "0.6250" in out
        assert "tied scores" not in err


def test_standard_error_counts_missing_and_tied_documents(files, cli):
    """The counts come before the line about conventions."""
    (files / "qrels").write_text("301 0 a 1\n302 0 a 1\n302 0 b 0\n")
    (files / "run").write_text("301 Q0 a 1 2 t\n302 Q0 a 1 2 t\n302 Q0 b 2 1 t\n302 Q0 c 3 0 t\n")
    (files / "other").write_text("301 Q0 a 1 2 t\n302 Q0 a 1 3 t\n302 Q0 b 2 1 t\n302 Q0 c 3 1 t\n")
    said = "nDCG: gain 2^grade - 1, log2; ties averaged; queries without relevant documents score 0"
    assert cli("evaluate", "qrels", "run")[1].splitlines() == [said]
    words = ["evaluate", "qrels", "run", "other", "-m", "ndcg(ties=worst)@1,map", "-m", "num_ret"]
    # b and c are equal below the cutoff of nDCG.
    tied = "other: tied scores in 1 of 2 queries, read as --ties "
    assert cli(*words[:-2])[1].splitlines()[:-1] == [f"{tied}worst, average"]
    assert cli(*words, "--convention", "trec_eval")[1].splitlines()[0] == f"{tied}worst, stable"
    assert cli(*words[:4], "-m", "mse")[1] == ""
    (files / "run").write_text("301 Q0 a 1 2 t\n")
    assert cli("evaluate", "qrels", "run")[1].startswith("run: 1 documents retrieved, 1 of them judged, 2 judged only;")


def test_quiet(files, cli, monkeypatch):
    (files / "qrels").write_text("301 0 a 0\n")
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda _: True)
    words = ["evaluate", "qrels", "run", "-m", "map(replace_undefined_by=nan)"]
    assert "warning" in cli(*words)[1]
    out, err = cli(*words, "--quiet")
    assert (out.split()[-1], err) == ("nan", "")
    assert cli("evaluate", "qrels", "nothing", "--quiet", code=2)[1].count("\n") == 1


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


def test_several_metrics_between_commas(files, cli):
    def columns(*words):
        return csv.DictReader(io.StringIO(cli("evaluate", "qrels", "run", "--format", "csv", *words)[0])).fieldnames[1:]

    assert columns("-m", "ndcg@5,10,map", "-m", "mrr") == ["ndcg@5", "ndcg@10", "map", "mrr"]
    several = columns("-m", "rbp(p=0.8, gain=binary)@1,2, p@3")
    assert several == ["rbp(p=0.8, gain=binary)@1", "rbp(p=0.8, gain=binary)@2", "p@3"]
    assert columns("-m", "dcg,2,11pt", "--ties", "stable") == ["dcg", "dcg@2", "11pt"]
    of_trec = ["-m", "P.5,10,map", "-m", "utility_1,-1,0,0,ndcg_1=3,2=9,mrr@5,6,11pt_avg"]
    names = "P_5 P_10 map utility_1,-1,0,0 ndcg_1=3,2=9 mrr@5 mrr@6 11pt_avg".split()
    assert columns("--convention", "trec_eval", *of_trec) == names
    assert "Got 'ndcg@5' twice" in cli("evaluate", "qrels", "run", "-m", "ndcg@5,5", code=2)[1]
    assert "Got ''." in cli("evaluate", "qrels", "run", "-m", "map,", code=2)[1]


def test_metrics_without_their_option(files, cli):
    hint = "Metrics follow -m: -m ndcg@10,map. Got 'ndcg@10,map' among the files"
    for words in (["qrels", "run"], ["qrels"], ["--table", "t.csv"]):
        assert hint in cli("evaluate", *words, "ndcg@10,map", code=2)[1]
    assert hint in cli("gate", "qrels", "run", "ndcg@10,map", "--baseline", "run", "--margin", "1", code=2)[1]
    assert "There is no file" in cli("evaluate", "qrels", "rum", code=2)[1]
    assert "metrics follow -m" in cli("evaluate", "qrels", "run", "-m", "ndcg@10", "P_10", code=2)[1]
    assert "metrics" not in cli("evaluate", "qrels", "-m", "ndcg@10", "run", code=2)[1]
    (files / "map").write_text(RUN)
    assert cli("evaluate", "qrels", "map")[0].splitlines()[1].startswith("map ")


def test_chance(files, cli):
    words = "evaluate qrels run -m map -m infap --ties best --chance --save saved.npz".split()
    means = {"score": 1 / 3, "random": (3 / 8 + 3 / 4) / 3, "best": 1 / 2}
    rows = [line.split() for line in cli(*words)[0].splitlines()]
    assert rows[0] == ["run", "order", "MAP", "infAP"]
    assert [row[:3] for row in rows[1:]] == [["run", order, f"{mean:.4f}"] for order, mean in means.items()]
    found = json.loads(cli(*words, "--format", "json")[0])["run"]
    assert {order: values["map"] for order, values in found.items()} == pytest.approx(means)
    assert "infap" not in found["random"]
    assert Evaluation.load("saved.npz").chance().mean() == pytest.approx({"map": means["random"]})


def test_command_missing_queries(files, cli):
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


def test_files_of_other_forms_and_chunks(files, cli):
    """Judgments of BEIR, a run in JSON, and a file that maps chunks to documents."""
    (files / "qrels.tsv").write_text("query-id\tcorpus-id\tscore\n1\ta\t1\n1\tb\t0\n2\tc\t2\n")
    chunks = {"1": {"b#1": 0.9, "a#1": 0.5, "a#2": 0.5}, "2": {"x#1": 0.7, "c#2": 0.6}}
    (files / "run.json").write_text(json.dumps(chunks))
    (files / "chunks").write_text("".join(f"{chunk} {chunk[0]}\n" for run in chunks.values() for chunk in run))
    words = "evaluate", "qrels.tsv", "run.json", "--document-of", "chunks", "-m", "mrr"
    assert cli(*words)[0].split()[-1] == "0.5000"
    assert cli(*words, "--aggregate", "sum")[0].split()[-1] == "0.7500"
    (files / "chunks").write_text("a#1 a\na#1 b\n")
    assert "must have each chunk once. Got 'a#1' with several documents" in cli(*words, code=2)[1]
    pytest.importorskip("pyarrow")
    (files / "qrels.bars").write_text((files / "qrels.tsv").read_text().replace("\t", "|"))
    (files / "chunks.bars").write_text("".join(f"{chunk}|{chunk[0]}\n" for run in chunks.values() for chunk in run))
    (files / "run.bars").write_text(
        "".join(f"{q}|Q0|{d}|1|{s}|me\n" for q, of in chunks.items() for d, s in of.items())
    )
    words_of_text = (
        "evaluate",
        "qrels.bars",
        "run.bars",
        "--document-of",
        "chunks.bars",
        "-m",
        "mrr",
        "--separator",
        "|",
    )
    assert cli(*words_of_text)[0].split()[-1] == "0.5000"
    (files / "table.tsv").write_text("qid\tlabel\tscore\n1\t1\t2\n1\t0\t3\n")
    table = "evaluate", "--table", "table.tsv", "-m", "mrr"
    assert cli(*table)[0] == cli(*table, "--separator", r"\t")[0] == "run        MRR\nscore   0.5000\n"
    assert "--document-of is for runs with judgments" in cli(*table, "--document-of", "chunks", code=2)[1]


def test_keywords_of_all_metrics(files, cli):
    def value(*words):
        return json.loads(cli("evaluate", "qrels", "run", "-m", "p@1", "--format", "json", *words)[0])["run"]["p@1"]

    assert value() == pytest.approx(0.5 / 3)
    assert value("--ties", "best") == pytest.approx(1 / 3)
    assert value("--ties", "stable", "--min-relevance", "3") == 0
    assert value("--unjudged", "drop", "--ties", "worst") == pytest.approx(1 / 3)
    assert value("--convention", "trec_eval") == 0  # b before a
    assert value("--n-jobs", "2") == value("--keep-negative")
    (files / "qrels").write_text(QRELS.replace("b 0", "b -1"))
    dropped = [value("--unjudged", "drop", "--ties", "worst", *words) for words in ([], ["--keep-negative"])]
    assert dropped == pytest.approx([2 / 3, 1 / 3])


def test_standard_input_and_gzip(files, cli, monkeypatch):
    class Input:
        buffer = io.BytesIO(RUN.encode())

    expected = json.loads(cli("evaluate", "qrels", "run", "--format", "json")[0])["run"]
    monkeypatch.setattr(sys, "stdin", Input)
    assert json.loads(cli("evaluate", "qrels", "-", "--format", "json")[0]) == {"-": expected}
    assert "once. Got '-' 2 times" in cli("evaluate", "-", "-", code=2)[1]


TREC_QRELS = """\
301 0 d1 2
301 0 d2 0
301 0 d3 1
301 0 d4 -1
301 0 d5 1
301 0 d9 3
302 0 d1 0
302 0 d7 1
303 0 d1 1
304 0 d2 0
"""
TREC_RUN = """\
301 Q0 d2 1 9.5 own
301 Q0 d1 2 9.5 own
301 Q0 d8 3 7.25 own
301 Q0 d4 4 7.25 own
301 Q0 d3 5 7.25 own
301 Q0 d5 6 -1e-3 own
302 Q0 d1 1 3 own
302 Q0 d3 2 2 own
302 Q0 d7 3 2 own
304 Q0 d2 1 1 own
304 Q0 d1 2 1 own
305 Q0 d1 1 1 own
"""
PRINTED = """\
P_10                 0.3000 0.1000 0.0000 0.1333
P_5                  0.4000 0.2000 0.0000 0.2000
Rprec                0.2500 0.0000 0.0000 0.0833
bpref                0.0000 0.0000 0.0000 0.0000
infAP                0.4028 0.5000 0.0000 0.3009
map                  0.3500 0.5000 0.0000 0.2833
map_cut_5            0.2250 0.5000 0.0000 0.2417
ndcg                 0.3861 0.6309 0.0000 0.3390
ndcg_cut_5           0.3175 0.6309 0.0000 0.3161
num_rel                   4      1      0      5
num_rel_ret               3      1      0      4
num_ret                   6      3      2     11
recall_10            0.7500 1.0000 0.0000 0.5833
recall_5             0.5000 1.0000 0.0000 0.5000
recip_rank           0.5000 0.5000 0.0000 0.3333
set_F                0.6000 0.5000 0.0000 0.3667
set_P                0.5000 0.3333 0.0000 0.2778
set_recall           0.7500 1.0000 0.0000 0.5833
success_1            0.0000 0.0000 0.0000 0.0000
success_5            1.0000 1.0000 0.0000 0.6667
iprec_at_recall_0.50 0.5000 0.5000 0.0000 0.3333
"""
"""What pytrec_eval 0.5.11 says of these: measure, queries 301, 302 and 304, all."""


def test_command_prints_a_small_run_like_trec_eval(tmp_path, cli):
    """Ties, pooled unjudged documents, unretrieved documents, unjudged documents, and queries missing on one side."""
    (tmp_path / "qrels").write_text(TREC_QRELS)
    (tmp_path / "run").write_text(TREC_RUN)
    expected = {name: values for name, *values in map(str.split, PRINTED.splitlines())}
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--convention", "trec_eval"]
    for name in expected:
        words += ["-m", name]
    head, *rows = (line.split() for line in cli(*words, "--per-query")[0].splitlines())
    means, all_ = (line.split() for line in cli(*words)[0].splitlines())
    assert [row[1] for row in rows] == ["301", "302", "304"]
    assert head[2:] == means[1:] == [*expected]
    columns = zip(head[2:], *(row[2:] for row in rows), all_[1:], strict=True)
    assert {name: values for name, *values in columns} == expected


@pytest.mark.parametrize(("run", "words"), [("trec_test", []), ("trec_trunc_complete", ["--missing-from-run", "zero"])])
def test_command_prints_the_digits_of_trec_eval(run, words, tmp_path, cli):
    """Its collection, through files, by its own names: query by query and all, with all digits and as printed."""
    write_trec_files(run, tmp_path / "qrels", tmp_path / "run")
    stored = read(f"trec/{run}.json")["trec_eval"]
    names = [name for name in stored if name not in ("G", "ndcg_rel", "Rndcg")]
    assert len(names) == len(stored) - 3
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--convention", "trec_eval", *words]
    (official,) = json.loads(cli(*words, "-m", "official", "--format", "json")[0]).values()
    assert official.pop("num_q") == 3
    assert official == pytest.approx({name: stored[name]["all"] for name in official}, abs=1e-12)
    for name in names:
        words += ["-m", name]
    (means,) = json.loads(cli(*words, "--format", "json")[0]).values()
    (by_query,) = json.loads(cli(*words, "--format", "json", "--per-query")[0]).values()
    shown = dict(zip(names, cli(*words)[0].splitlines()[1].split()[1:], strict=True))
    for name in names:
        expected = dict(stored[name])
        mean = expected.pop("all")
        assert means[name] == pytest.approx(mean, abs=1e-12)
        assert shown[name] == (f"{mean:.0f}" if name.startswith("num_") else f"{mean:.4f}")
        if not name.startswith("gm_"):
            assert by_query[name] == pytest.approx(expected, abs=1e-12)


def test_options_of_trec_eval(tmp_path, cli):
    """-J, -l and -c as pytrec_eval has them; -M as if the run ended there, in the order of ties."""
    pytrec_eval = pytest.importorskip("pytrec_eval")
    (tmp_path / "qrels").write_text(TREC_QRELS)
    (tmp_path / "run").write_text(TREC_RUN)
    names = "map bpref infAP ndcg P_5 num_ret num_rel_ret set_map num_nonrel_judged_ret".split()
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--convention", "trec_eval"]
    words += [word for name in names for word in ("-m", name)] + ["--format", "json"]
    qrels = {"301": {"d1": 2, "d2": 0, "d3": 1, "d4": -1, "d5": 1, "d9": 3}, "302": {"d1": 0, "d7": 1}}
    run = {"301": {"d2": 9.5, "d1": 9.5, "d8": 7.25, "d4": 7.25, "d3": 7.25, "d5": -0.001}}
    run["302"] = {"d1": 3.0, "d3": 2.0, "d7": 2.0}
    flags = {"judged_docs_only_flag": True, "relevance_level": 2}
    measures = {re.sub(r"_(\d+)$", r".\1", name) for name in names}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures, **flags).evaluate(run)
    (found,) = json.loads(cli(*words, "-q", "-J", "-l", "2")[0]).values()
    for query, name in ((query, name) for query in expected for name in names):
        assert found[name][query] == pytest.approx(expected[query][name])
    assert [*found["map"]] == ["301", "302", "304"]
    assert [*json.loads(cli(*words, "-q", "-c")[0]).popitem()[1]["map"]] == ["301", "302", "303", "304"]
    cut = {"301": {"d2": 9.5, "d1": 9.5, "d8": 7.25}, "302": run["302"]}
    expected = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(cut)
    (found,) = json.loads(cli(*words, "-q", "-M", "3")[0]).values()
    for query, name in ((query, name) for query in expected for name in names):
        assert found[name][query] == pytest.approx(expected[query][name])
    assert "must be an int >= 1. Got 0" in cli(*words, "-M", "0", code=2)[1]
    assert "so it needs --convention trec_eval" in cli(*words[:3], "-M", "3", code=2)[1]


def test_documents_that_are_twice_in_files_and_tables(tmp_path, cli):
    """The relevant b is at rank 3, or at rank 2 if a counts only once."""
    qrels, run, table = (str(tmp_path / name) for name in ("qrels", "run", "rows.csv"))
    (tmp_path / "qrels").write_text("1 0 a 0\n1 0 b 1\n1 0 b 1\n")
    (tmp_path / "run").write_text("1 Q0 b 3 1 t\n1 Q0 a 1 3 t\n1 Q0 a 2 2 t\n")
    (tmp_path / "rows.csv").write_text("qid,doc,label,score\n1,b,1,1\n1,a,0,3\n1,a,0,2\n")
    of_files, of_table = ["evaluate", qrels, run], ["evaluate", "--table", table, "--doc-id", "doc"]
    assert "duplicates='first' takes its first place" in cli(*of_files, code=2)[1]
    assert "Got document 'a' of query 1 again in row 2, first in row 1" in cli(*of_table, code=2)[1]
    for words in (of_files, of_table):
        for duplicates, value in [("first", 1 / 2), ("nonrelevant", 1 / 3)]:
            out = cli(*words, "--duplicates", duplicates, "-m", "mrr", "--format", "json")[0]
            assert [*json.loads(out).values()] == [{"mrr": pytest.approx(value)}]
    assert "which unjudged='drop' leaves out" in cli(*of_files, "-J", "--duplicates", "nonrelevant", code=2)[1]
    assert "needs the column of documents, doc_id=" in cli(*of_table[:3], "--duplicates", "first", code=2)[1]


def test_shares_of_unjudged_documents(tmp_path, cli):
    """Of six documents, d8 has no judgment and d4 is only in the pool; they are at ranks 3 and 4."""
    (tmp_path / "qrels").write_text(TREC_QRELS)
    (tmp_path / "run").write_text(TREC_RUN)
    words = ["evaluate", str(tmp_path / "qrels"), str(tmp_path / "run"), "--convention", "trec_eval", "-q"]
    (found,) = json.loads(cli(*words, "-m", "unj.3,10", "-m", "rbp_resid", "--format", "json")[0]).values()
    assert [found[name]["301"] for name in found] == pytest.approx([1 / 3, 2 / 10, 0.9**6 + 0.1 * (0.9**2 + 0.9**3)])


def test_sets_of_measures_of_trec_eval(files, cli):
    def columns(name):
        out, err = cli("evaluate", "qrels", "run", "--convention", "trec_eval", "-m", name)
        return out.split("\n")[0].split()[1:], err

    shown, err = columns("all_trec")
    assert "all_trec: without relstring, which is a word, and the experiments ndcg_rel, Rndcg and G" in err
    assert len(shown) == len({*shown}) == 92
    assert columns("set")[0][4:] == "utility set_P set_recall set_relative_P set_map set_F".split()
    assert {*columns("official")[0], *columns("set")[0]} <= {*shown}


def test_command_names_of_trec_eval(files, cli):
    def columns(*words):
        return cli("evaluate", "qrels", "run", "--convention", "trec_eval", *words)[0].split("\n")[0].split()[1:]

    assert columns("-m", "P.5,10", "-m", "map_cut.3", "-m", "p@5") == ["P_5", "P_10", "map_cut_3", "p@5"]
    assert columns("-m", "success", "-m", "set_F.0.5") == ["success_1", "success_5", "success_10", "set_F.0.5"]
    assert len(columns("-m", "iprec_at_recall")) == 11
    assert columns("-m", "map", "-m", "official")[:3] == ["map", "num_q", "num_ret"]
    assert columns("-m", "official")[:6] == ["num_q", "num_ret", "num_rel", "num_rel_ret", "map", "gm_map"]
    assert "Got 'Rndcg'" in cli("evaluate", "qrels", "run", "--convention", "trec_eval", "-m", "Rndcg", code=2)[1]
    for name, ours in [("P_10", "precision@10"), ("iprec_at_recall_0.10", "iprec(recall=0.10)")]:
        hint = f"trec_eval's name of '{ours}': convention='trec_eval' reads it"
        assert hint in cli("evaluate", "qrels", "run", "-m", name, code=2)[1]


def test_command_with_table_files(files, cli, rng):
    pytest.importorskip("pyarrow")
    n = 60
    columns = {"query": rng.integers(0, 5, n).tolist(), "label": rng.integers(0, 3, n).tolist()}
    columns |= {"a": rng.integers(0, 9, n).tolist(), "b": rng.normal(size=n).tolist()}
    columns["doc"] = [f"{i:03}" for i in range(n)]  # text: as numbers they would be in another order
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
        tie_break=columns["doc"],
    )  # fmt: skip
    assert json.loads(found)["a"] == result.mean()
    assert "columns" not in cli("compare", *words)[1]
    assert "The table has no column ''" in cli("evaluate", *words[:2], *words[4:6], "--y-true", "", code=2)[1]
    assert "The table has no column 'c'" in cli("evaluate", *words[:2], *words[4:6], "--y-true", "c", code=2)[1]


def test_compare(files, cli):
    words = ["compare", "qrels", "run", "other", "-m", "map", "--test", "bootstrap", "--format", "json"]
    ((row,),) = json.loads(cli(*words, "--random-state", "3")[0]).values()
    values = json.loads(cli("evaluate", "qrels", "run", "other", "-m", "map", "--per-query", "--format", "json")[0])
    results = {run: [*metrics["map"].values()] for run, metrics in values.items()}
    assert row["p corrected"] == compare_all(results, test="bootstrap", random_state=3)["run", "other"].corrected_pvalue
    assert (row["a"], row["b"], row["won"]) == ("run", "other", 1)
    assert {run: row[f"mean {x}"] for x, run in zip("ab", results, strict=True)} == {
        run: pytest.approx(np.mean(of_run)) for run, of_run in results.items()
    }
    out, _ = cli(*words[:6], "-m", "mrr", "--baseline", "run", "--correction", "none")
    assert [line.split()[:3] for line in out.splitlines()[1:]] == [["MAP", "other", "run"], ["MRR", "other", "run"]]
    assert "'mine'" in cli("compare", "qrels", "run", "other", "--baseline", "mine", code=2)[1].splitlines()[-1]
    assert "two runs, or one and --baseline. Got run." in cli("compare", "qrels", "run", code=2)[1]
    assert set(arguments.STATISTICAL_TESTS) == set(TESTS)
    assert arguments.parser().parse_args(["compare"]).correction == "holm"  # as compare_all has it


@pytest.mark.parametrize("form", ["table", "csv", "json", "markdown", "latex"])
def test_a_baseline_is_one_of_the_runs_or_another_file(files, cli, form):
    words = ["compare", "qrels", "run", "-m", "map,mrr", "--format", form]
    further = cli(*words, "--baseline", "other")[0]
    assert further == cli(*words[:2], "other", *words[2:], "--baseline", "other")[0]
    assert further != cli(*words[:2], "run", "other", *words[3:], "--baseline", "run")[0]
    cli("evaluate", "qrels", "other", "-m", "map,mrr", "--save", "saved.npz")
    assert cli(*words, "--baseline", "saved.npz")[0].replace("saved.npz", "other").split() == further.split()


@pytest.mark.parametrize(
    ("words", "which"),
    [
        ("report qrels run --baseline other -o qrels", "--output 'qrels', which is an input: 'qrels'"),
        ("report qrels run --baseline other -o ./run", "--output './run', which is an input: 'run'"),
        ("report qrels run --baseline A=other -o link", "--output 'link', which is an input: 'other'"),
        ("report qrels A=other run --query-texts texts -o texts", "is an input: 'texts'"),
        ("plot qrels run.svg -o ../{folder}/run.svg", "is an input: 'run.svg'"),
        ("evaluate qrels run --save hard", "--save 'hard', which is an input: 'qrels'"),
        ("evaluate qrels run --by texts --save texts", "--save 'texts', which is an input"),
        ("gate qrels run --baseline other --json qrels", "--json 'qrels'"),
        ("gate qrels run --baseline other --markdown other", "--markdown 'other'"),
        ("gate qrels run --baseline other --html run", "--html 'run'"),
        ("gate qrels run --baseline other --html new --json ./new", "--html 'new', which is the file of --json"),
        ("evaluate --table run --save run", "--save 'run'"),
    ],
)
def test_outputs_replace_no_input(files, cli, words, which):
    """No file is read or written, whatever the name of the input."""
    (files / "run.svg").write_text(RUN)
    (files / "texts").write_text("301 a\n")
    (files / "link").symlink_to(files / "other")
    (files / "hard").hardlink_to(files / "qrels")
    before = {path.name: path.read_bytes() for path in files.iterdir()}
    out, err = cli(*words.format(folder=files.name).split(), code=2)
    assert out == ""
    assert which in err
    assert {path.name: path.read_bytes() for path in files.iterdir()} == before


def test_labels_are_no_scores(files, cli):
    (files / "table.csv").write_text("qid,label,score,copy\n7,1,2,1\n7,0,1,0\n")
    for command in ("evaluate --table table.csv --y-score label", "compare --table table.csv --baseline label"):
        assert "must name another column than --y-true" in cli(*command.split(), "-m", "mrr", code=2)[1]
    for words in (["--y-score", "copy"], ["--y-true", "copy", "--y-score", "label"], []):
        assert "1.0000" in cli("evaluate", "--table", "table.csv", "-m", "mrr", *words)[0]


def test_outputs_replace_other_files(files, cli):
    """An earlier output, a file beside an input, and a device that takes several outputs."""
    (files / "page.html").write_text("earlier")
    cli("report", "qrels", "run", "--baseline", "other", "-o", "page.html")
    assert (files / "page.html").read_text() != "earlier"
    cli("evaluate", "qrels", "A=run", "--save", "A")
    (files / "table.csv").write_text("qid,label,score\n7,1,1\n7,0,2\n")
    cli("evaluate", "--table", "table.csv", "--save", "score")
    gate = ["gate", "qrels", "run", "--baseline", "other", "--margin", "0.5"]
    cli(*gate, "--json", os.devnull, "--markdown", os.devnull, code=4)


def test_a_further_column_is_the_baseline(files, cli):
    (files / "table.csv").write_text("qid,label,old,score\n7,1,2,1\n7,0,1,2\n8,1,2,1\n8,0,1,0\n")
    words = ["compare", "--table", "table.csv", "-m", "mrr", "--format", "json"]
    assert cli(*words, "--baseline", "old")[0] == cli(
        *words, "--y-score", "old", "--y-score", "score", "--baseline", "old"
    )[0]  # fmt: skip
    ((row,),) = json.loads(cli(*words, "--baseline", "old")[0]).values()
    assert (row["a"], row["b"], row["difference"]) == ("score", "old", -0.25)


def test_compare_prints_the_table_of_a_paper(files, cli):
    qrels, runs = read_qrels("qrels"), {name: read_run(name) for name in ("run", "other")}
    report = compare_systems(
        qrels, runs, metrics=["map", "mrr"], baseline="other", test="randomization",
        missing_from_run="zero", missing_from_qrels="drop",
    )  # fmt: skip
    words = ["compare", "qrels", "run", "other", "-m", "map,mrr", "--test", "randomization", "--format"]
    assert cli(*words, "latex", "--baseline", "other")[0] == f"{report.to_latex()}\n"
    assert cli(*words, "markdown", "--baseline", "other")[0] == f"{report.to_markdown()}\n"
    assert "run (baseline) &" in cli(*words, "latex")[0]


def test_compare_fits_a_terminal(files, cli):
    first, second, alike = "run_of_the_first_system", "another_system_of_this_year", "run_of_the_other_system"
    for name in (first, second, alike):
        (files / name).write_text(RUN.replace("7.5", "1.5", name != first))
    words = ["compare", "qrels", first, second, "-m", "ndcg@10"]
    (row,) = csv.DictReader(io.StringIO(cli(*words, "--format", "csv")[0]))
    assert {"difference", "p corrected"} < {*row}
    head, line = cli(*words)[0].splitlines()
    assert max(len(head), len(line)) <= 100
    shown = "mean a,mean b,difference,low,high,p corrected,won,lost".split(",")
    numbers = [cell(float(row[name]) if "." in row[name] else int(row[name])) for name in shown]
    assert {*row} - {*shown} == {"metric", "a", "b", "p", "effect", "tied", "queries"}
    assert line.split() == ["nDCG@10", "run_of..system", "anothe..s_year", *numbers]
    words[3] = alike  # their ends are the same
    assert cli(*words)[0].splitlines()[1].split()[1:3] == [first, alike]


def test_metrics(cli):
    found = json.loads(cli("metrics", "--format", "json")[0])
    assert [*found] == get_metric_names()
    assert found["ndcg"]["formula"] == "nDCG@k = DCG@k / IDCG@k"
    assert all(facts["formula"] and facts["about"] for facts in found.values())
    assert len(cli("metrics")[0].splitlines()) == len(found) + 1
    assert cli("--version")[0].strip() == sklearn_rank.__version__


@pytest.mark.parametrize("kind", ["distribution", "cutoff", "difference", "critical"])
def test_plot_command(files, cli, kind):
    cli("plot", "qrels", "run", "other", "-m", "ndcg", "--kind", kind, "--max-k", "1", "-o", "picture.png")
    assert int.from_bytes(Path("picture.png").read_bytes()[16:20]) == 1440  # 200 dots an inch
    assert (files / "picture.png").read_bytes()[1:4] == b"PNG"


@pytest.mark.parametrize("more", [["run", "--baseline", "other"], ["run", "other", "--baseline", "other"]])
def test_topics_are_sorted_by_the_baseline(files, cli, more):
    words = ["plot", "qrels", *more, "-m", "ndcg", "--kind", "topics", "-o", "x.png"]
    axes = commands.picture(arguments.parser().parse_args(words), "ndcg")
    ids = [label.get_text() for label in axes.get_xticklabels()]
    printed = json.loads(cli("evaluate", "qrels", "run", "other", "-m", "ndcg", "--per-query", "--format", "json")[0])
    drawn = {line.get_label(): dict(zip(ids, line.get_ydata().tolist(), strict=True)) for line in axes.lines}
    assert drawn == {name: pytest.approx(values["ndcg"]) for name, values in printed.items()}
    assert [*drawn["other"].values()] == sorted(drawn["other"].values(), reverse=True)
    assert "sorted by the value of other" in axes.get_xlabel()


def test_pictures_that_cannot_be(files, cli, monkeypatch):
    plot = ["plot", "qrels", "run", "-o", "x.svg"]
    assert "exactly one metric. Got map, mrr" in cli(*plot, "-m", "map", "-m", "mrr", code=2)[1]
    assert "two runs, or one and --baseline. Got run" in cli(*plot, "--kind", "critical", code=2)[1]
    wrong = cli(*plot, "--baseline", "other", code=2)[1]
    assert "--baseline is for --kind difference, critical or topics. Got --kind distribution" in wrong
    assert "--max-k must be 1 or more. Got 0" in cli(*plot, "--kind", "cutoff", "--max-k", "0", code=2)[1]
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert 'pip install "sklearn-rank[plot]"' in cli(*plot, code=2)[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["evaluate", "qrels", "nothing"], "There is no file 'nothing' in"),
        (["evaluate", "qrels"], "Judgments and at least one run must be given"),
        (["evaluate", "qrels", "run", "-m", "ndgc"], "Did you mean 'ndcg'"),
        (["evaluate", "qrels", "run", "-m", "map", "-m", "map"], "Got 'map' twice"),
        (["evaluate", "run", "qrels"], "has lines of 4 fields: query iteration document relevance. Got 6 in line 1"),
        (["evaluate", "qrels", "run", "--ties", "maybe"], "argument --ties: invalid choice"),
        (["evaluate", "qrels", "run", "--y-score", "a"], "--y-score names a column of a --table; pass --table, too"),
        (["evaluate", "qrels", "run", "--qid", "x"], "--qid names a column of QRELS, of RUN or of a --table. Got 'x'"),
        (
            ["evaluate", "--table", "t.csv", "--missing-from-run", "zero"],
            "--missing-from-run is for runs with judgments",
        ),
        (["evaluate", "--table", "t.csv", "-M", "0"], "--max-documents is for runs with judgments"),
        (["evaluate", "qrels", "run", "--doc-id", ""], "--doc-id names a column of QRELS, of RUN or of a --table"),
        (["evaluate", "--table", "t.csv", "--run-format", "ranks"], "--run-format is for runs with judgments"),
        (["evaluate", "--table", "t.csv", "run"], "With --table there are no other files. Got run"),
        (["evaluate", "qrels", "run", "--n-jobs", "0"], "'n_jobs' parameter"),
        (["guess"], "invalid choice"),
        ([], "required: COMMAND"),
    ],
)
def test_command_errors_are_one_line(files, cli, words, message):
    out, err = cli(*words, code=2)
    assert (out, err.count("\n")) == ("", 1)
    assert err.startswith("sklearn-rank")
    assert message in err


def test_command_internal_errors(files, cli, monkeypatch):
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


def test_streams_that_are_closed(files, capsys, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdin", None)
        assert main(["evaluate", "qrels", "-"]) == 2
        assert "so it must be open" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stdout", None)
        assert main(["evaluate", "qrels", "run"]) == 2
        assert "so it must be open" in capsys.readouterr().err
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", None)
        assert main(["evaluate", "qrels", "run"]) == 0
        sys.stderr.close()
        assert len(capsys.readouterr().out.splitlines()) == 2


@pytest.mark.slow
def test_command_as_a_module(files):
    """The module runs, reads its standard input, and is silent if the reader closes the pipe."""
    command, here = [sys.executable, "-m", "sklearn_rank"], Path(__file__).parents[2]
    words = [*command, "evaluate", str(files / "qrels"), "-", "-q", "--missing-from-qrels", "zero"]
    given, env = RUN.replace("304", "ä").encode(), {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(words, input=given, capture_output=True, check=True, timeout=120, cwd=here, env=env)
    lines = [line.split()[:2] for line in done.stdout.decode().splitlines()]
    assert [lines[0], lines[-1]] == [["run", "qid"], ["-", r"\xe4"]]
    with subprocess.Popen([*command, "metrics"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=here) as process:
        process.stdout.close()
        assert process.wait(timeout=120) == 1
        assert process.stderr.read() == b""
