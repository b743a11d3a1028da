"""Each form of judgments with each form of a run, in every function that takes both."""

import gzip
import json
import shutil
from collections import namedtuple
from functools import partial

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sklearn_rank import compare_systems, evaluate, evaluate_run, evaluate_table, stats
from sklearn_rank.__main__ import main
from sklearn_rank.io import join, read_qrels, read_run, read_table

ranx = pytest.importorskip("ranx")

JUDGED = {"q1": {"a": 1, "b": 0}, "q2": {"c": 1}, "q3": {"d": 1}}
RUN = {"q1": {"b": 3.0, "a": 2.0}, "q2": {"x": 2.0, "y": 1.5, "c": 1.0}, "q3": {"d": 1.0}}
MRR = (1 / 2 + 1 / 3 + 1) / 3
ROWS = [(q, d, value) for q, values in RUN.items() for d, value in values.items()]
JUDGED_ROWS = [(q, d, value) for q, values in JUDGED.items() for d, value in values.items()]
Qrel = namedtuple("Qrel", "query_id doc_id relevance")
ScoredDoc = namedtuple("ScoredDoc", "query_id doc_id score")


def columns(rows, value):
    return dict(zip(["qid", "docno", value], [[*column] for column in zip(*rows, strict=True)], strict=True))


def written(path, rows, field):
    path.write_text("".join(field.format(*row) for row in rows))
    return path


JUDGMENTS = {
    "grades": lambda folder: JUDGED,
    "sets": lambda folder: {q: {d for d, grade in of.items() if grade} for q, of in JUDGED.items()},
    "pandas": lambda folder: pd.DataFrame(columns(JUDGED_ROWS, "label")),
    "polars": lambda folder: pl.DataFrame(columns(JUDGED_ROWS, "label")),
    "Arrow": lambda folder: pa.table(columns(JUDGED_ROWS, "label")),
    "Series of lists": lambda folder: pd.Series({"q1": ["a"], "q2": ["c"], "q3": ["d"]}),
    "ir_measures": lambda folder: [Qrel(*row) for row in JUDGED_ROWS],
    "ranx": lambda folder: ranx.Qrels(JUDGED),
    "reader": lambda folder: read_qrels(written(folder / "qrels", JUDGED_ROWS, "{} 0 {} {}\n")),
    "path": lambda folder: str(written(folder / "qrels", JUDGED_ROWS, "{} 0 {} {}\n")),
}  # fmt: skip
RUNS = {
    "scores": lambda folder: dict(RUN),
    "lists": lambda folder: {q: [*of] for q, of in RUN.items()},
    "pairs": lambda folder: {q: [*of.items()] for q, of in RUN.items()},
    "hits": lambda folder: {q: [{"_id": d, "_score": s} for d, s in of.items()] for q, of in RUN.items()},
    "pandas": lambda folder: pd.DataFrame(columns(ROWS, "score")),
    "polars": lambda folder: pl.DataFrame(columns(ROWS, "score")),
    "Series of lists": lambda folder: pd.Series({q: [*of] for q, of in RUN.items()}),
    "ir_measures": lambda folder: [ScoredDoc(*row) for row in ROWS],
    "ranx": lambda folder: ranx.Run(RUN),
    "path": lambda folder: written(folder / "run", ROWS, "{0} Q0 {1} 1 {2} me\n"),
}


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("judgments", JUDGMENTS)
def test_each_form_of_judgments_with_each_form_of_a_run(judgments, run, tmp_path):
    judged, ranked = JUDGMENTS[judgments](tmp_path), RUNS[run](tmp_path)
    assert evaluate_run(judged, ranked, metrics="mrr").mean()["mrr"] == pytest.approx(MRR)
    data = join(judged, ranked)
    assert (data.y_true == 1).sum() == 3
    systems = {"one": ranked, "both": [RUNS[run](tmp_path), RUNS["hits"](tmp_path)], "other": RUNS["scores"](tmp_path)}
    for result in compare_systems(judged, systems, metrics="mrr").results.values():
        assert result.mean()["mrr"] == pytest.approx(MRR)


def as_json(of_query):
    """A file of an object by query, of which each is made of the documents and their values."""
    return lambda path, by_query: path.write_text(json.dumps({q: of_query(of) for q, of in by_query.items()}))


FILES_OF_BOTH = {
    "three.tsv": lambda path, rows, value: written(path, rows, "{}\t{}\t{}\n"),
    "table.csv": lambda path, rows, value: pd.DataFrame(columns(rows, value)).to_csv(path, index=False),
    "table.parquet": lambda path, rows, value: pd.DataFrame(columns(rows, value)).to_parquet(path),
    "table.arrow": lambda path, rows, value: pl.DataFrame(columns(rows, value)).write_ipc(path),
    "rows.jsonl": lambda path, rows, value: pd.DataFrame(columns(rows, value)).to_json(
        path, orient="records", lines=True
    ),
}
FILES_OF_JUDGMENTS = {
    "qrels": lambda path: written(path, JUDGED_ROWS, "{} 0 {} {}\n"),
    "qrels.gz": lambda path: path.write_bytes(gzip.compress(b"q1 0 a 1\nq1 0 b 0\nq2 0 c 1\nq3 0 d 1\n")),
    "relevant.txt": lambda path: written(path, [row for row in JUDGED_ROWS if row[2]], "{} {}\n"),
    "grades.json": lambda path: as_json(dict)(path, JUDGED),
    "lists.json": lambda path: as_json(lambda of: [d for d, grade in of.items() if grade])(path, JUDGED),
    **{name: partial(write, rows=JUDGED_ROWS, value="label") for name, write in FILES_OF_BOTH.items()},
}
FILES_OF_RUNS = {
    "trec.run": lambda path: written(path, ROWS, "{0} Q0 {1} 1 {2} me\n"),
    "scores.json": lambda path: as_json(dict)(path, RUN),
    "lists.json": lambda path: as_json(list)(path, RUN),
    "lists.jsonl": lambda path: path.write_text(
        "".join(json.dumps({"question_id": q, "retrieved": [*of]}) + "\n" for q, of in RUN.items())
    ),
    "hits.json": lambda path: as_json(lambda of: [{"_id": d, "_score": s} for d, s in of.items()])(path, RUN),
    "search.json": lambda path: as_json(
        lambda of: {"took": 3, "hits": {"hits": [{"_id": d, "_score": s} for d, s in of.items()]}}
    )(path, RUN),
    **{name: partial(write, rows=ROWS, value="score") for name, write in FILES_OF_BOTH.items()},
}


@pytest.mark.parametrize("form", FILES_OF_JUDGMENTS)
def test_each_file_of_judgments_with_each_file_of_a_run_in_gate_and_report(form, tmp_path, capsys):
    judged, runs = str(tmp_path / form), []
    FILES_OF_JUDGMENTS[form](tmp_path / form)
    for name, write in FILES_OF_RUNS.items():
        runs.append(f"{name}={tmp_path / f'run.{name}'}")
        write(tmp_path / f"run.{name}")
        floors = ["--at-least", "mrr=0.5", "--json", str(tmp_path / "gate")]
        assert main(["gate", judged, runs[-1], *floors, "--quiet"]) == 4  # three queries decide nothing
        assert json.loads((tmp_path / "gate").read_text())["floors"]["mrr"]["mean"] == pytest.approx(MRR)
    assert main(["evaluate", judged, *runs, "-m", "mrr", "--format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().out.count(str(MRR)[:8]) == len(runs)
    assert main(["report", judged, *runs, "-m", "mrr", "-o", str(tmp_path / "page.html"), "--quiet"]) == 0
    page = (tmp_path / "page.html").read_text()
    assert all(name in page for name in FILES_OF_RUNS)


def test_texts_are_columns_or_files(tmp_path):
    judged, run = JUDGMENTS["path"](tmp_path), str(RUNS["path"](tmp_path))
    for judgments in (judged, JUDGED, JUDGMENTS["pandas"](tmp_path)):
        found = compare_systems(judgments, {"a": run, "b": [run, str(tmp_path / "r*n")]}, metrics="mrr")
        assert [result.mean()["mrr"] for result in found.results.values()] == pytest.approx([MRR, MRR])
    # A column is read even if a file has its name.
    table = pd.DataFrame({"qid": [1, 1], "label": [0, 1], run: [2.0, 1.0], "b": [1.0, 2.0]})
    assert compare_systems(table, [run, "b"], metrics="mrr").results[run].mean() == {"mrr": 0.5}


def test_files_of_a_list_a_folder_and_a_pattern(tmp_path):
    folder = tmp_path / "days" / "deep"
    folder.mkdir(parents=True)
    (folder / "_SUCCESS").write_text("")
    judged = [written(tmp_path / "0.qrels", JUDGED_ROWS[::2], "{} 0 {} {}\n"), str(tmp_path / "1.qrels")]
    written(tmp_path / "1.qrels", JUDGED_ROWS[1::2], "{} 0 {} {}\n")
    for n in (2, 3):
        written(folder / "0.run", ROWS[:n], "{0} Q0 {1} 1 {2} me\n")
        written(folder / "1.run", ROWS[n:], "{0} Q0 {1} 1 {2} me\n")
        for run in (tmp_path / "days", str(folder / "*.run"), [folder / "0.run", folder / "1.run"]):
            if n == 2:
                assert evaluate_run(judged, run).mean() == evaluate_run(JUDGED, RUN).mean()
            else:
                with pytest.raises(ValueError, match="Got query 'q2' in .*0.run and in .*1.run"):
                    evaluate_run(judged, run)
    with pytest.raises(ValueError, match="document 'a' of query q1 again in .*0.qrels"):
        read_qrels([*judged, judged[0]])
    with pytest.raises(FileNotFoundError, match=r"must have a file. Got none in .*\*\.txt"):
        evaluate_run(judged, str(tmp_path / "*.txt"))


TENANTS = pd.DataFrame({
    "tenant": [*"aaaabbbb"], "query_id": [*"11221122"], "doc_id": [*"xyxyxyxy"], "label": [0, 1] * 4,
    "score": [2, 1, 2, 1, 1, 2, 1, 2],
})  # fmt: skip


@pytest.mark.parametrize("form", ["pandas", "polars", "csv", "parquet"])
def test_columns_that_name_a_query_together(form, tmp_path, capsys):
    """The document of tenant a is second, that of b first."""
    path, both = tmp_path / f"rows.{form}", ["tenant", "query_id"]
    table = {"pandas": TENANTS, "polars": pl.DataFrame(TENANTS)}.get(form, path)
    if table is path:
        (TENANTS.to_csv if form == "csv" else TENANTS.to_parquet)(path, index=False)
        main(["evaluate", "--table", str(path), "--qid", "tenant,query_id", "-m", "mrr"])
        main(
            [
                "evaluate",
                str(path),
                str(shutil.copy(path, tmp_path / f"run.{form}")),
                "--qid",
                "tenant,query_id",
                "-m",
                "mrr",
                "--quiet",
            ]
        )
        assert capsys.readouterr().out.count("0.7500") == 2
    expected = {("a", "1"): 0.5, ("a", "2"): 0.5, ("b", "1"): 1, ("b", "2"): 1}
    of_rows = read_table(table, qid=both, doc_id="doc_id")
    for result in (
        evaluate_table(table, qid=both, metrics="mrr"),
        evaluate_run(read_qrels(table, qid=both), read_run(table, qid=both), metrics="mrr"),
        evaluate(of_rows.y_true, of_rows.y_score, qid=of_rows.qid, metrics="mrr"),
    ):
        assert dict(zip(result.qid.tolist(), result.per_query["mrr"], strict=True)) == expected


def test_trec_evals_order_of_ties_in_tables():
    """nDCG@1 of two equal scores: trec_eval ranks document "b" before "a"."""
    table = pd.DataFrame({"qid": [1, 1], "docno": ["a", "b"], "label": [1, 0], "score": [0.5, 0.5], "other": [1, 0]})
    named = table.rename(columns={"docno": "text"})
    options = {"metrics": "ndcg@1", "convention": "trec_eval"}
    run = {1: {"a": 0.5, "b": 0.5}}
    for result in (
        evaluate_table(table, **options),
        evaluate_table(pl.DataFrame(table), **options),
        evaluate_table(named, doc_id="text", **options),
        compare_systems(table, ["score", "other"], **options).results["score"],
        evaluate_run({1: {"a": 1}}, run, **options),
    ):
        assert result.mean() == {"ndcg@1": 0}
        assert "ties by document id, highest first" in " ".join(repr(result).split())
    result = evaluate_table(named, **options)
    assert result.mean() == {"ndcg@1": 1}
    assert "ties in the order of rows (trec_eval orders" in " ".join(repr(result).split())
    assert "order of rows" not in repr(evaluate_table(named, y_score="other", **options))
    assert "ties by tie_break, highest first" in repr(evaluate([1, 0], [1, 1], qid=[1, 1], tie_break=[0, 1], **options))


def test_each_door_says_the_order_of_ties_that_was_used(tmp_path, capsys):
    queries = [f"q{i}" for i in range(30)]
    judged = {q: {"a": i % 3 > 0, "b": i % 3 == 0} for i, q in enumerate(queries)}
    runs = {"old": {q: {"a": 1, "b": 1} for q in queries}, "new": {q: {"a": 2, "b": 1} for q in queries}}
    results = {name: evaluate_run(judged, run, convention="trec_eval", metrics="mrr") for name, run in runs.items()}
    tests = stats.compare(results["new"], results["old"], metric="mrr")
    gate = stats.no_worse(new=results["new"], old=results["old"], margin=0.1)
    report = compare_systems(results)
    files = {name: tmp_path / f"{name}.json" for name in (*runs, "judged")}
    for name, path in files.items():
        path.write_text(json.dumps(({"judged": judged} | runs)[name]))
    for command in (["compare", "{new}", "{old}"], ["gate", "{new}", "--baseline", "{old}"], ["evaluate", "{new}"]):
        first, *others = [text.format_map(files) for text in command]
        assert main([first, str(files["judged"]), *others, "-m", "mrr", "--convention", "trec_eval"]) in (0, 3, 4)
    printed = capsys.readouterr()
    said = [printed.out + printed.err, report.to_latex(), *map(str, (tests, gate, report, report.segments(
        {q: i % 2 for i, q in enumerate(queries)})))]  # fmt: skip
    for text in said:
        assert "ties by document id, highest first" in " ".join(text.split())
        assert "in the given order" not in text
    assert (printed.out + printed.err).count("ties by document id, highest first") == 3
