"""The page without a browser: its text, limits, content security policy and bytes."""

import base64
import hashlib
import json
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pages import Reader, comparison, of_values, runs_of, text_of
from sklearn.exceptions import FitFailedWarning
from sklearn.linear_model import Ridge

from sklearn_rank import compare_systems, evaluate_run, metric
from sklearn_rank._cli import main
from sklearn_rank._report import page as page_module
from sklearn_rank._tell.text import between, number, visible
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.model_selection import RankingEvaluator
from sklearn_rank.results import Comparison, Evaluation, Table
from sklearn_rank.stats import no_worse


@pytest.fixture(scope="module")
def report():
    return comparison()


def text_and_data(result, **options):
    found = Reader(result.to_html(**options))
    return found.text, found.data


# --- text ---------------------------------------------------------------------------------------------------------


def test_numbers_on_the_page_match_the_print(report):
    text, _ = text_and_data(report)
    pair = report.significance("ndcg@10")["two-tower", "bm25"]
    assert report.verdict == "two-tower is better than bm25"
    assert repr(report).splitlines()[1] == f"{report.verdict} by nDCG@10"
    low, high = pair.corrected_interval
    for said in (
        report.verdict,
        f"nDCG@10 is {report['two-tower']['ndcg@10']:.4f} instead of {report['bm25']['ndcg@10']:.4f}",
        f"{number(pair.difference, signed=True)} (95 % interval {between(low, high, signed=True)}",
        f"better on {pair.won} queries, worse on {pair.lost}",
        "MAP says the same. MRR shows no difference.",
        report._footer(),
        *report._notes(),
    ):
        assert said in text
    summary = report.summary(full=True)
    for row in summary.rows:
        for column in ("mean", "difference"):
            assert number(row[summary.columns.index(column)], signed=column == "difference") in text


def test_order_of_the_parts(report):
    found = Reader(report.to_html(text=text_of))
    heads = [attrs.get("id") for tag, attrs in found.elements if tag == "section"]
    assert heads == ["means", "queries", None, "judge", "made"]


def values(new, old, **keywords):
    made = {
        name: Evaluation.from_values(range(len(x)), {"m": x}, **keywords) for name, x in (("old", old), ("new", new))
    }
    return compare_systems(made, baseline="old", on_misuse="ignore")


GAIN = np.linspace(0.1, 0.3, 30)


@pytest.mark.parametrize(
    ("new", "keywords", "verdict"),
    [
        (0.5 + GAIN, {}, "new is better than old"),
        (0.5 - GAIN, {}, "new is worse than old"),
        (0.5 + GAIN * np.tile([1, -1], 15), {}, "No difference is shown between new and old"),
        (0.5 + GAIN, {"greater_is_better": {"m": False}}, "new is worse than old"),
        (0.5 - GAIN, {"greater_is_better": {"m": False}}, "new is better than old"),
        (np.where(GAIN < 0.15, np.nan, 0.5 + GAIN), {}, "new is better than old"),
        (0.5 + GAIN, {"weight": np.arange(1.0, 31)}, "new is better than old"),
        (0.5 + GAIN, {"average": {"m": "micro"}, "means": {"m": 0.5}}, "new and old were not tested"),
        (np.full(30, 0.5), {}, "No difference is shown between new and old"),
    ],
)
def test_verdicts(new, keywords, verdict):
    report = values(new, np.full(30, 0.5), **keywords)
    text, _ = text_and_data(report)
    assert report.verdict == verdict
    assert verdict in text
    assert (verdict in repr(report)) == ("not tested" not in verdict)


NAN = np.nan


def test_means_of_common_queries_and_undefined_metrics():
    """Of five queries three have values in both systems; the first metric has none."""
    old, new = [NAN, 0.1, 0.2, 0.3, 0.4], [0.5, 0.4, NAN, 0.5, 0.7]
    made = {
        name: Evaluation.from_values(range(5), {"empty": np.full(5, NAN), "m": x})
        for name, x in (("old", old), ("new", new))
    }
    text, data = text_and_data(compare_systems(made, baseline="old", on_misuse="ignore"))
    assert data["metric"] == 1
    assert data["counts"]["1"] == [[0, 0, 0], [3, 0, 0]]
    assert "empty is undefined for every query." in text
    assert "dashed: mean +0.2667" in text
    for first in made.values():
        assert "empty" in text_and_data(first)[0]
    made = {name: Evaluation.from_values(range(5), {"m": x}) for name, x in (("old", old), ("new", new))}
    text, _ = text_and_data(compare_systems(made, baseline="old", on_misuse="ignore"))
    assert "m is 0.5333 instead of 0.2667: +0.2667" in text
    assert "Both means are of the 3 queries where both systems have a value." in text


def test_lists_of_undefined_queries_and_none():
    qrels, runs = runs_of(6)
    qrels["q00002"] = dict.fromkeys(qrels["q00002"], 0)
    undefined = compare_systems(qrels, runs, metrics=["ndcg@10", "map"], replace_undefined_by=NAN, on_misuse="ignore")
    for result in (undefined, undefined["bm25"]):
        _, data = text_and_data(result, lists=["q00002", "q00004"])
        assert [*data["lists"]] == ["4"]
        text, data = text_and_data(result, lists=[])
        assert "Lists of documents were not asked for." in text
        assert "lists" not in data


def test_attributes_are_in_their_order():
    qrels, runs = runs_of(4)
    by = {"length": dict(zip(qrels, (10, 9, 100, 9), strict=True)), "day": dict(zip(qrels, "tsts", strict=True))}
    _, data = text_and_data(evaluate_run(qrels, runs["bm25"], metrics="ndcg@10", by=by))
    assert [(one["values"], one["of"]) for one in data["by"]] == [
        (["9", "10", "100"], [1, 0, 2, 0]),
        (["s", "t"], [1, 0, 1, 0]),
    ]


def test_metrics_of_your_own_have_lists_or_a_reason():
    rng = np.random.default_rng(0)
    qid, label, price = np.repeat(np.arange(9), 5), rng.integers(0, 3, 45).astype(float), rng.integers(1, 9, 45)
    scores = {"old": rng.random(45), "new": rng.random(45) + label}

    @metric("profit_of_page", columns=["price"])
    def profit(r):
        return r.cumsum(r.column("price") * r.relevant)

    def first_is_relevant(y_true, y_score):
        return float(y_true[np.argmax(y_score)] > 0)

    for own, reasons, said in (
        ("profit_of_page@3", ["0", "1"], None),
        ({"own": first_is_relevant, "ndcg@3": "ndcg@3"}, ["1"], "own is not explained by documents."),
    ):
        metrics = [own, "ndcg@3"] if isinstance(own, str) else own
        columns = {"price": price} if isinstance(own, str) else {}
        report = compare_systems(label, scores, qid=qid, metrics=metrics, on_misuse="ignore", **columns)
        text, data = text_and_data(report)
        assert {*data["lists"]} == {str(i) for i in range(9)}
        assert all([*one["1"]["reasons"]] == reasons for one in data["lists"].values())
        assert said is None or said in text


def test_failed_models_and_a_single_model():
    class Fails(Ridge):
        def fit(self, X, y, sample_weight=None):
            raise ValueError("no <fit>")

    rng = np.random.default_rng(0)
    X, qid = rng.normal(size=(120, 2)), np.repeat(np.arange(24), 5)
    y = np.clip(np.round(X[:, 0] + 1 + rng.normal(size=120)), 0, 3)
    for models, said in (
        ({"old": Ridge(1e6), "new": Ridge(), "bad": Fails()}, "and old"),
        ({"bad": Fails(), "old": Ridge(1e6), "new": Ridge()}, "No test of nDCG@3: the baseline bad failed."),
    ):
        with pytest.warns(FitFailedWarning, match="no <fit>"):
            report = RankingEvaluator("ndcg@3", cv=3).compare(models, X, y, qid=qid)
        text, _ = text_and_data(report)
        assert "bad failed in 3 of 3 folds; in fold 0: ValueError: no <fit>" in text
        assert report.verdict in text
        assert said in text
    qrels, runs = runs_of(3)
    one = compare_systems(qrels, {"bm25": runs["bm25"]}, metrics="ndcg@10")
    assert one.verdict == f"bm25: nDCG@10 {one['bm25']['ndcg@10']:.4f}"
    assert one.verdict in text_and_data(one)[0]


def test_systems_that_are_judged_unevenly():
    qrels, runs = runs_of(30)
    runs["two-tower"] = {q: {d if i < 3 else f"n{d}": s for i, (d, s) in enumerate(ds.items())} for q, ds in
                         runs["two-tower"].items()}  # fmt: skip
    with pytest.warns(RankingWarning, match="judged far less"):
        report = compare_systems(qrels, runs, metrics="ndcg@10")
    assert "Documents of 'two-tower' were judged far less than documents of 'bm25'" in text_and_data(report)[0]


def test_verdict_of_several():
    report = comparison(systems=("bm25", "two-tower", "rm3", "cross-encoder", "popularity"), n_queries=60)
    text, data = text_and_data(report)
    assert report.verdict == (
        "cross-encoder is the best of 5 systems; two-tower and cross-encoder are better than bm25; popularity is worse"
    )
    assert " ".join(repr(report).splitlines()[1:3]).startswith(report.verdict)
    assert report.verdict in text
    best, baseline = (report[name]["ndcg@10"] for name in ("cross-encoder", "bm25"))
    said = f"cross-encoder: nDCG@10 is {best:.4f} instead of {baseline:.4f}: "
    assert said + number(best - baseline, signed=True) in text
    assert "Of 4 systems against bm25, 2 are better, 1 is not shown to differ and 1 is worse." in text
    assert data["shown"] == 3


def test_a_single_evaluation():
    qrels, runs = runs_of(12)
    result = evaluate_run(qrels, runs["bm25"], metrics=["ndcg@10", "map"])
    text, data = text_and_data(result, title="bm25", text=text_of)
    assert f"bm25: nDCG@10 {result['ndcg@10']:.4f}" in text
    worst = min(data["ids"], key=lambda q: result.per_query["ndcg@10"][data["ids"].index(q)])
    ranks = sorted(
        1 + i for i, d in enumerate(sorted(runs["bm25"][worst], key=lambda d: -runs["bm25"][worst][d]))
        if qrels[worst].get(d, 0) >= 1
    )  # fmt: skip
    said = data["lists"][str(data["ids"].index(worst))]["0"]["reasons"]["0"]["why"][0][1]
    assert [int(x) for x in re.findall(r"\d+", said.partition("rank")[2])][: len(ranks[:10])] == ranks[:10]


def test_lists_have_ranks_grades_and_contributions(report):
    _, data = text_and_data(report, text=text_of)
    for i, systems in data["lists"].items():
        query = data["ids"][int(i)]
        found = report.explain(query, new="two-tower", old="bm25")
        rows, reasons = systems["1"]["rows"], systems["1"]["reasons"]["0"]
        known = dict(
            zip(found.documents.tolist(), zip(found.label, *found.ranks, found.contribution, strict=True), strict=True)
        )
        total = 0.0
        for (document, *numbers), contribution in zip(rows, reasons["adds"], strict=True):
            grade, old, new, expected = known[data["documents"][document]]
            assert np.array_equal(np.array(numbers, float), [grade, old, new], equal_nan=True)
            assert contribution == (number(expected, signed=True) if expected else "")
            total += expected
        assert total == pytest.approx(found.difference)
        why = "".join(text for _, text in reasons["why"])
        first = found.documents[np.argmax(np.sign(found.difference) * found.contribution)]
        assert why.startswith(f"Most of {number(found.difference, signed=True)}: {first} (")


# --- limits --------------------------------------------------------------------------------------------------


def test_lists_that_lose_and_gain_most(report):
    _, data = text_and_data(report, lists=6)
    gain = report.per_query["two-tower"]["ndcg@10"] - report.per_query["bm25"]["ndcg@10"]
    order = np.argsort(gain, kind="stable")
    assert {*map(int, data["lists"])} == {*order[:3].tolist(), *order[-3:].tolist()}
    assert "the file has lists of 6 queries that gain or lose most in nDCG@10" in data["why"]
    _, data = text_and_data(report, lists=["q00003", "q00001"])
    assert sorted(data["lists"]) == ["1", "3"]
    assert "lists" not in text_and_data(report, lists=0)[1]


def test_results_without_documents(report, tmp_path):
    report.save(tmp_path / "report")
    text, data = text_and_data(Comparison.load(tmp_path / "report"))
    assert "There are no lists of documents: results that were loaded" in text
    assert "lists" not in data
    assert report.verdict in text


def test_most_values(report, monkeypatch):
    monkeypatch.setattr(page_module, "MOST_KEPT_VALUES", 60)
    text, data = text_and_data(report)
    gain = report.per_query["two-tower"]["ndcg@10"] - report.per_query["bm25"]["ndcg@10"]
    order = np.argsort(gain, kind="stable")
    kept = sorted([*order[:5].tolist(), *order[-5:].tolist()])
    assert data["ids"] == report["bm25"].qid[kept].tolist()
    assert "The 10 queries of 40 that gain or lose most are kept here." in text
    pair = report.significance("ndcg@10")
    assert data["counts"]["1"][0] == [pair.won, pair.tied, pair.lost]
    np.testing.assert_allclose(data["drawn"]["1"][0], -np.sort(-gain), rtol=1e-6)
    values = {"old": np.linspace(0, 1, 40), "new": np.linspace(0, 1, 40) ** 2 - 0.1}
    errors = compare_systems({name: Evaluation.from_values(range(40), {"mse": x}) for name, x in values.items()})
    text, data = text_and_data(errors)
    pair = errors.significance("mse")
    assert (data["counts"]["1"][0], pair.won > pair.lost) == ([pair.won, pair.tied, pair.lost], True)
    np.testing.assert_allclose(data["drawn"]["1"][0], -np.sort(values["new"] - values["old"]), rtol=1e-6)


def test_large_pages_have_no_texts_then_no_lists(report, monkeypatch):
    pages = report.to_html(text=text_of), report.to_html(), report.to_html(lists=0)
    sizes = [len(page.encode()) for page in pages]
    for least, said, has in ((sizes[0], "", "texts"), (sizes[1] + 200, "Without texts, ", "lists"),
                             (sizes[2] + 3000, "Without texts and lists of documents", ""),
                             (1000, "Without texts, ", "lists")):  # fmt: skip
        monkeypatch.setattr(page_module, "MOST_BYTES", least)
        text, data = text_and_data(report, text=text_of)
        assert said in text
        assert ("with which the file would have more than 2 MB" in text) == bool(said)
        assert [key for key in ("texts", "lists") if key in data][:1] == [has] * bool(has)


def test_size(report):
    """At most 60 kB and 14 bytes for each value without lists."""
    large = values(np.random.default_rng(0).random(5000), np.random.default_rng(1).random(5000))
    for result, n_values in ((report, 40 * 6), (large, 10_000)):
        assert len(result.to_html(lists=0).encode()) < 60_000 + 14 * n_values


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"lists": -1}, ValueError, "lists must be a number of queries, 0 or more"),
        ({"lists": "q00001"}, ValueError, "or a list of query ids. Got 'q00001'"),
        ({"lists": ["q1"]}, ValueError, "lists must name queries such as 'q00000'. Got 'q1'"),
        ({"title": 3}, TypeError, "title must be a str"),
        ({"text": {"x": "y"}}, ValueError, "text must have texts by ids like 'd.*Got none"),
        ({"query_text": {1: "y"}}, ValueError, "query_text must have texts by ids like 'q00000'"),
        ({"text": "words"}, TypeError, "text must be a dict from ids to texts, or a function"),
    ],
)
def test_page_errors(report, options, error, message):
    with pytest.raises(error, match=message):
        report.to_html(**options)


# --- safety --------------------------------------------------------------------------------------------------

HOSTILE = [
    "<script>alert(1)</script>", "</script><img src=x onerror=alert(1)>", "<!--<script>", "\"'&amp;", "\u202egnp",
    "a\nb", "x" * 10_000, "\u0645\u0631\u062d\u0628\u0627", "\x00\x1b[2J", "\u2028", "__proto__", "\ud800", " ",
    "", "constructor", "\u200b", "\ufeff", "{{7*7}}", "%00", "&lt;b&gt;",
]  # fmt: skip


def as_id(text):
    """The text, or if it is blank or blanks surround it, one that may be an id."""
    return text if text and text == text.strip() else f"{text}!"


def hostile_page(system, query, document, text, query_text, segment):
    """A page with names in six places."""
    names = {"old": "old", "new": system + "'"}
    query, document, segment = map(as_id, (query, document, segment))
    qrels = {query: {document: 1, "b": 0}, "q": {"a": 1, "b": 0}}
    runs = {
        names["old"]: {query: {document: 1.0, "b": 2.0}, "q": {"a": 1.0, "b": 2.0}},
        names["new"]: {query: {document: 2.0, "b": 1.0}, "q": {"a": 2.0, "b": 1.0, f"u{document}": 3.0}},
    }
    by = {"segment": {query: segment, "q": "other"}}
    report = compare_systems(qrels, runs, metrics={f"m{system}": "ndcg"}, by=by, on_misuse="ignore")
    return report.to_html(title=text, text=lambda _: text, query_text=lambda _: query_text)


def check_safe(page):
    found = Reader(page)
    tags = [tag for tag, _ in found.elements]
    assert tags.count("script") == 2
    assert not {"img", "iframe", "object", "link", "a", "form", "base"} & {*tags}
    for _, attrs in found.elements:
        assert not [name for name in attrs if name.startswith("on") or name in ("style", "src", "href", "srcdoc")]
    assert all(c.isprintable() or c == "\n" for c in page)
    data = found.scripts[0]
    assert data.isascii()
    assert not {"<", ">", "&"} & {*data}
    return found


@pytest.mark.parametrize("name", HOSTILE)
def test_page_with_hostile_names(name):
    found = check_safe(hostile_page(*[name] * 6))
    assert visible(as_id(name)) in found.data["ids"]


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")  # of any text as a segment
@settings(max_examples=25, deadline=None)
@given(st.lists(st.text(st.characters(), max_size=30), min_size=6, max_size=6))
def test_page_with_any_text(names):
    if names[1] != "q" and names[2] not in ("b", "a"):
        check_safe(hostile_page(*names))


def test_policy_has_the_hashes_of_scripts_and_styles(report):
    page = report.to_html(text=text_of)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)[1]
    contents = {"script-src": page.rpartition("<script>")[2].rpartition("</script>")[0],
                "style-src": page.partition("<style>")[2].partition("</style>")[0]}  # fmt: skip
    for directive, content in contents.items():
        digest = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert page.count("style=") == 0


# --- the same bytes, and the file ----------------------------------------------------------------------------


@pytest.mark.slow
def test_same_bytes_in_other_processes(report):
    code = (
        "import sys, hashlib; sys.path[:0] = ['tests', 'tests/report']; from pages import comparison, text_of; "
        "page = comparison().to_html(text=text_of).encode(); print(hashlib.sha256(page).hexdigest(), "
        "{'matplotlib', 'pandas'} & {*sys.modules} or 'light')"
    )
    expected = hashlib.sha256(report.to_html(text=text_of).encode()).hexdigest()
    for seed in ("1", "2"):
        run = subprocess.run(
            [sys.executable, "-c", code], env={"PYTHONHASHSEED": seed, "PATH": ""}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
        assert run.stdout.split()[0] == expected


def test_file(report, tmp_path):
    report.save_html(tmp_path / "report.html", title="Tuesday", code="sklearn-rank report")
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert page == report.to_html(title="Tuesday", code="sklearn-rank report")
    assert "<title>Tuesday</title>" in page
    assert f"<title>{report.verdict}</title>" in report.to_html()
    assert str(tmp_path) not in page
    assert not re.search(r"20\d\d-\d\d", page)
    with pytest.raises(OSError, match="nowhere"):
        report.save_html(tmp_path / "nowhere" / "report.html")
    assert [path.name for path in tmp_path.iterdir()] == ["report.html"]


# --- the gate, and the command line --------------------------------------------------------------------------


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Runs as files of TREC, and texts of documents and queries."""
    folder = tmp_path_factory.mktemp("runs")
    qrels, runs = runs_of(30, ("bm25", "two-tower", "rm3"))
    lines = [f"{q} 0 {d} {grade}\n" for q, grades in qrels.items() for d, grade in grades.items()]
    (folder / "qrels").write_text("".join(lines))
    for name, run in runs.items():
        (folder / name).write_text("".join(f"{q} Q0 {d} 0 {s} t\n" for q, ds in run.items() for d, s in ds.items()))
    documents = sorted({d for run in runs.values() for ds in run.values() for d in ds})
    (folder / "texts.tsv").write_text("".join(f"{d}\t{text_of(d)}\n" for d in documents))
    (folder / "queries.jsonl").write_text("".join(json.dumps({"_id": q, "text": text_of(q)}) + "\n" for q in qrels))
    return folder


@pytest.fixture
def run(files, monkeypatch, capsys):
    """Run the command line: exit code, printed output, and the page."""
    monkeypatch.chdir(files)

    def call(*arguments):
        code = main([*arguments])
        path = files / "page.html"
        page = path.read_text(encoding="utf-8") if path.exists() else ""
        path.unlink(missing_ok=True)
        out, told = capsys.readouterr()
        return code, out or told, page

    return call


def test_command_writes_the_page_of_the_comparison(files, run):
    texts = ("--texts", "texts.tsv", "--query-texts", "queries.jsonl")
    code, out, page = run("report", "qrels", "two-tower", "--baseline", "bm25", "-m", "ndcg@5,map", "-o", "page.html",
                          *texts, "--title", "Tuesday", "--lists", "7")  # fmt: skip
    runs = {name: read_run(files / name) for name in ("bm25", "two-tower")}
    report = compare_systems(read_qrels(files / "qrels"), runs, metrics=["ndcg@5", "map"])
    command = (
        "sklearn-rank report qrels two-tower --baseline bm25 -m ndcg@5,map -o page.html --texts texts.tsv "
        "--query-texts queries.jsonl --title Tuesday --lists 7"
    )
    expected = report.to_html(title="Tuesday", text=text_of, query_text=text_of, lists=7, code=command)
    assert (code, out) == (0, f"{report.verdict}\n")
    assert Reader(page).data == Reader(expected).data
    assert page == expected


def test_command_of_a_single_run_and_of_several(run):
    code, out, page = run("report", "qrels", "bm25", "-o", "page.html")
    assert (code, out[:16]) == (0, "bm25: nDCG@10 0.")
    assert Reader(page).data["base"] is None
    code, out, page = run("report", "qrels", "two-tower", "rm3", "bm25", "--baseline", "bm25", "-o", "page.html")
    assert (code, out) == (0, "two-tower is the best of 3 systems; two-tower is better than bm25\n")
    assert Reader(page).data["systems"] == ["two-tower", "rm3", "bm25"]


@pytest.mark.parametrize("new", ["two-tower", "rm3"])
def test_page_of_a_gate(files, run, new):
    margin = ("--baseline", "bm25", "--margin", "0.3")
    code, out, page = run("gate", "qrels", new, *margin, "--html", "page.html", "--format", "json")
    again, verdict, same = run("report", "qrels", new, *margin, "-o", "page.html")
    assert code == again == 0
    assert json.loads(out)["verdict"] == verdict.strip()
    assert Reader(page).data == Reader(same).data
    text = Reader(page).text
    qrels = read_qrels(files / "qrels")
    old, new = (evaluate_run(qrels, read_run(files / name), metrics="ndcg@10") for name in ("bm25", new))
    gate = no_worse(new=new, old=old, margin=0.3)
    assert gate.verdict.partition(": ")[0] in text
    assert f"bounds {between(gate.low['ndcg@10'], gate.high['ndcg@10'], signed=True)}" in text
    assert Reader(gate.to_html()).data == Reader(page).data


def test_page_says_whether_segments_differ_or_why_it_does_not():
    """A segment cannot have the name of a column of the table."""
    rng = np.random.default_rng(0)
    old, by = rng.random(12), dict.fromkeys(["half", "p"], [*"aaaaaabbbbbb"])
    values = {"old": old, "new": old + rng.random(12) / 9, "mid": old + rng.random(12) / 9}
    for names in (("old", "new"), ("old", "new", "mid")):
        report = of_values({name: values[name] for name in names}, by=by)
        p, text = report.segments("half").interaction, Reader(report.to_html()).text
        told = [f"{name}: not shown (p = {p[name, 'old']:.4f})" for name in names[1:]]
        told = "; ".join(told) if len(told) > 1 else told[0].removeprefix("new: ").capitalize()
        assert f"vary between segments? {told}. m." in text
        with pytest.raises(ValueError, match="Got 'p'") as refused:
            report.segments("p")
        assert str(refused.value) in text


def test_page_of_a_gate_shows_what_is_printed():
    """Decisions, floors and segments, with the names and numbers of the printed tables, and what p is of."""
    rng = np.random.default_rng(0)
    old, by = rng.uniform(0.3, 0.9, 60), {"language": ["de"] * 20 + ["en"] * 40}
    new = np.clip(old - np.repeat([0.25, 0], [20, 40]) + rng.normal(0, 0.05, 60), 0, 1)
    systems = {
        name: Evaluation.from_values(range(60), {"ndcg@10": x, "recall@5": x})
        for name, x in (("new", new), ("old", old))
    }
    gate = no_worse(**systems, margin={"ndcg@10": 0.05}, at_least={"recall@5": 0.3}, by=by)
    page = Reader(gate.to_html()).text
    for table in (gate.table, gate.floors, gate.segments):
        for cell in str(Table(table.columns, table.rows)).split():
            assert cell in page or cell == "p", cell
    assert "p of a loss of the margin or more" in page
    assert gate.verdict.partition(": ")[2][1:] in page


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("report", "qrels", "bm25", "rm3", "-o", "page.html", "--margin", "0.1", "--baseline", "x"), "one new run"),
        (("report", "qrels", "bm25", "-o", "page.html", "--texts", "qrels"), "must be an id, a tab and a text"),
        (("report", "qrels", "bm25", "-o", "page.html", "--query-texts", "texts.tsv"), "must have texts by ids like"),
        (("report", "qrels", "bm25", "-o", "page.html", "--lists", "-1"), "lists must be a number of queries"),
        (("report", "qrels", "bm25", "-o", "nowhere/page.html"), "nowhere/page.html"),
    ],
)
def test_wrong_commands(run, arguments, message):
    code, out, page = run(*arguments)
    assert (code, page) == (2, "")
    assert message in out


def test_lower_errors_are_colored_as_better():
    rng, y = np.random.default_rng(0), np.tile([1, 0, 0, 0], 60)
    systems = {"a": rng.random(240), "b": rng.random(240) + 2 * y}
    for name in ("relevance_position", "mrr"):
        page = compare_systems(y, systems, qid=np.arange(240) // 4, metrics=name, on_misuse="ignore").to_html()
        assert {*re.findall("number (better|worse)", page)} == {"better"}
