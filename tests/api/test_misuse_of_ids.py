"""Checks of ids: placeholder ids, and ids without a match."""

import io
import re

import numpy as np
import pandas as pd
import pytest
from misuse_cases import Given, command, seen

from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
)
from sklearn_rank._cli import main
from sklearn_rank._data import doors
from sklearn_rank._data.table import ALL_DOORS
from sklearn_rank._misuse.ids import BOTH_MISSING, CASE, RUNS_AS_QUERIES, SHIFTED
from sklearn_rank._misuse.ids import SPELLED as SPELLED_IDS
from sklearn_rank._misuse.runs import are_other_ids
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.io import join, read_run

N = 12
OTHER_IDS = {
    "prefix": ([f"doc{i}" for i in range(3)], [f"d{i}" for i in range(3)]),
    "numbers apart": ([*range(N)], [*range(100, 100 + N)]),
    "numbers in text": ([f"d{i}" for i in range(N)], [f"d{i}" for i in range(100, 100 + N)]),
    "a match by chance": ([f"x{i}" for i in range(200)] + ["d1"], [f"d{i}" for i in range(30)]),
}
MAY_BE_THE_SAME = {
    "a match": (["a", "b"], ["b", "c"]),
    "numbers of one range": ([*range(0, 100, 2)], [*range(1, 100, 2)]),
    "few numbers apart": ([*range(N - 1)], [*range(100, 200)]),
    "names": ([f"{c} one" for c in "abcdefghijklm"], [f"two {c}" for c in "abcdefghijklm"]),
    "hashes": ([f"{i * 7919 + 10**6:x}z" for i in range(60)], [f"{i * 104729 + 10**6:x}y" for i in range(60)]),
}


def test_one_document_in_a_hundred_is_judged_by_chance():
    of_run = [f"x{i}" for i in range(99)]
    judged = dict.fromkeys([f"d{i}" for i in range(30)], 0)
    for more, names in (["d1"], []), (["x99", "d1"], ["ids without a match"]):
        run = {"u": of_run[:50], "v": [*of_run[50:], *more]}
        assert seen(evaluate_run, {"u": judged, "v": {"d0": 1}}, run) == (names, "")


@pytest.mark.parametrize("name", OTHER_IDS)
def test_ids_without_a_match(name):
    of_run, judged = OTHER_IDS[name]
    assert are_other_ids(of_run, judged)
    half = len(of_run) // 2
    run = {"u": of_run[:half], "v": of_run[half:]}
    warned = seen(evaluate_run, {"u": dict.fromkeys(judged, 0), "v": {judged[0]: 1}}, run)
    assert warned == (["ids without a match"], "")


# --- other spellings, lists of another query, runs as queries --------------------------------------------------

JUDGED = {f"q{q}": {f"d{q}x{d}": int(d < 2) for d in range(5)} for q in range(12)}


def run_of(judged=JUDGED, document=str, query=str, shift=0):
    """The judged documents as a run, spelled by a function; with a shift, the documents of another query."""
    queries = [*judged]
    lists = zip(queries, queries[shift:] + queries[:shift], strict=True)
    return {query(q): {document(d): len(judged[of]) - i for i, d in enumerate(judged[of])} for q, of in lists}


def numbers(form):
    return {q: {form.format(10 * i + d): 1 - d % 2 for d in range(5)} for i, q in enumerate(JUDGED)}


SPELLED = {
    "zeros": (numbers("{:06d}"), numbers("{}"), "str(int(float(id)))"),
    "floats": (numbers("{}.0"), numbers("{}"), "str(int(float(id)))"),
    "queries": (JUDGED, run_of(query=lambda q: q.upper() if q > "q3" else q), "Ids of queries"),
    "one document": ({"q": ["01"], "r": ["b"]}, {"q": ["1"], "r": ["b"]}, "'1' and '01'"),
}


@pytest.mark.parametrize("name", SPELLED)
def test_ids_in_another_spelling(name):
    judged, run, way_out = SPELLED[name]
    given = {"missing_from_run": "zero", "missing_from_qrels": "drop"}
    assert seen(evaluate_run, judged, run, **given) == (["ids in another spelling"], "")
    with pytest.warns(RankingWarning, match=re.escape(way_out)):
        evaluate_run(judged, run, **given)


def test_query_ids_all_spelled_differently():
    with pytest.raises(ValueError, match="'q0' and 'Q0' would be equal by id.casefold"):
        evaluate_run(JUDGED, run_of(query=str.upper))


@pytest.mark.parametrize(
    ("judged", "run"),
    [
        (JUDGED, run_of()),
        ({"q": {"a": 1, "A": 0, "B": 0}}, {"q": ["b", "B", "A", "a"]}),
        ({"q": {"aB": 1, "ab": 0}}, {"q": ["Ab", "AB"]}),
        (JUDGED, run_of(document=str.upper)),
        ({"q": {"1": 1}, "r": {"01": 0}}, {"q": ["01"], "r": ["1"]}),
        ({"q": {"x1": 1, "x2": 0, "y1": 0, "y2": 0}}, {"q": ["X1", "z2", "z3", "x2"]}),
    ],
    ids=["the same", "both matched", "case tells them apart", "case of documents", "of two queries", "one of three"],
)
def test_spellings_without_a_warning(judged, run):
    assert "ids in another spelling" not in seen(evaluate_run, judged, run)[0]


def test_lists_of_another_query():
    name = "lists of another query"
    assert seen(evaluate_run, JUDGED, run_of(shift=1)) == ([name], "")
    part = {q: (run_of(shift=1) if i < 5 else run_of())[q] for i, q in enumerate(JUDGED)}
    assert seen(evaluate_run, JUDGED, part) == ([name], "")
    part["q4"] = run_of()["q4"]
    assert seen(evaluate_run, JUDGED, part) == ([], "")
    # Items shared by many users: no list belongs entirely to another user.
    rng = np.random.default_rng(0)
    users = {u: [*map(str, rng.permutation(60)[:4])] for u in range(40)}
    lists = {u: [d for d in map(str, rng.permutation(60)) if d not in users[u]][:10] for u in users}
    assert seen(evaluate_run, users, lists) == ([], "")


def repeated(name="q{}#run{}", n_runs=2):
    """Rows of eight queries from two runs each, with one score per run."""
    rng = np.random.default_rng(0)
    label, n = rng.integers(0, 3, (8, 6)), 48 * n_runs
    qid = [name.format(q, run) for run in range(n_runs) for q in range(8) for _ in range(6)]
    return np.tile(label.ravel(), n_runs), np.round(rng.random(n), 3), np.array(qid)


def by_query(values, qid):
    return {str(q): {f"d{i}": v for i, v in enumerate(values[qid == q].tolist())} for q in np.unique(qid)}


def of_accumulator(label, score, qid):
    RankingAccumulator("map").update(label, score, qid=qid).compute()


def of_table(label, score, qid, folder):
    pd.DataFrame({"label": label, "score": score, "qid": qid}).to_csv(folder / "rows.csv", index=False)
    command("evaluate", "--table", folder / "rows.csv", "-m", "map")


RUNS = {
    doors.EVALUATE: lambda y, s, qid, _: evaluate(y, s, qid=qid),
    doors.TABLE: lambda y, s, qid, _: evaluate_table(pd.DataFrame({"label": y, "score": s, "qid": qid})),
    doors.RUN: lambda y, s, qid, _: evaluate_run(by_query(y, qid), by_query(s, qid)),
    doors.ACCUMULATOR: lambda y, s, qid, _: of_accumulator(y, s, qid),
    doors.SYSTEMS: lambda y, s, qid, _: compare_systems(y, {"a": s, "b": s[::-1]}, qid=qid),
    doors.COMPARE: lambda y, s, qid, _: RankingEvaluator(cv=2).compare({"a": Given()}, s[:, None], y, qid=qid),
    doors.CROSS_VALIDATE: lambda y, s, qid, _: RankingEvaluator(cv=2).cross_validate(Given(), s[:, None], y, qid=qid),
    doors.COMMAND: of_table,
}


def test_runs_as_queries(tmp_path):
    name = "repeated runs as queries"
    assert {*RUNS} == {door for door in ALL_DOORS if door.outcome(RUNS_AS_QUERIES)}
    for call in RUNS.values():
        assert seen(call, *repeated(), tmp_path) == ([name], "")
    batches = [[part[i : i + 48] for part in repeated()] for i in (0, 48)]
    assert seen(evaluate_table, batches) == ([name], "")
    for form in ("q{}-{}", "query-{}/{}", "q {} ({})", "run{1}-q{0}", "seed_{1}/{0}", "[rep 0{1}] query {0}"):
        assert seen(evaluate, *repeated(form)[:2], qid=repeated(form)[2]) == ([name], "")
    label, score, qid = repeated()
    assert seen(evaluate, label, score, qid=np.char.replace(qid, "#run0", "")) == ([name], "")
    assert seen(evaluate, np.arange(96) % 6 == 0, score, qid=qid) == ([name], "")
    for silent in (
        lambda: evaluate(label, score, qid=qid, clusters=[q.split("#")[0] for q in qid]),
        lambda: evaluate(np.arange(96) % 6 == 0, score, qid=repeated("user{}_{}")[2]),
        lambda: evaluate(np.sort(label), score, qid=qid),
        lambda: evaluate(np.sort(label), score, qid=repeated("run{1}-q{0}")[2]),
        lambda: evaluate(label, score, qid=repeated("language{1}-{0}")[2]),
        lambda: evaluate(label, score, qid=[f"run {i // 6}" for i in range(96)]),
        lambda: evaluate(label[:48], score[:48], qid=qid[:48]),
    ):
        assert seen(silent) == ([], "")


def test_queries_and_segments_that_differ_by_case(tmp_path):
    name, words = CASE.name, ["Berlin", "rome", "berlin", "Oslo", "new york", "bonn", "wien", "BERN"]
    assert {*RUNS} == {door for door in ALL_DOORS if door.outcome(CASE)}
    label, score, _ = repeated(n_runs=1)
    for call in RUNS.values():
        assert seen(call, label, score, np.repeat(words, 6), tmp_path) == ([name], "")
    for values in (["DE", "de"], ["Shoes", "SHOES", "a1"], ["red shoes", "Red shoes", "Red hats"]):
        assert seen(attributes(values)) == seen(attributes(values, clusters=True)) == ([name], "")
        assert seen(odd(*values)) == ([name], "")
    for values in (["aB", "ab", "Cd"], ["a", "A"], ["d1", "D1"], ["x-1y", "X-1Y"], ["iPhone", "iphone"]):
        assert seen(attributes(values)) == seen(odd(*values)) == ([], ""), values


def test_words_for_missing_ids_on_both_sides():
    name, others = BOTH_MISSING.name, {f"q{i}": {f"d{i}": 1} for i in range(3)}
    for word in ("NULL", "null", "N/A", r"\N", "undefined", "NA", "none"):
        both = {"q0": {"d0": 1, word: 1}}
        assert seen(evaluate_run, others | both, others | both) == ([name], "")
        assert seen(evaluate_run, others | {word: {"d7": 1}}, others | {word: {"d7": 1}}) == ([name], "")
        for judged, run in ((others, both), (both, others), (both, others | {"q1": {"d1": 2, word: 1}})):
            assert name not in seen(evaluate_run, others | judged, others | run, metrics="map")[0]
    for values in (["null", "red shoes", "hats"], ["NA", "DE", "AT"]):
        assert seen(evaluate_run, {q: {"d": 1} for q in values}, {q: {"d": 1} for q in values}) == ([], "")
        assert seen(evaluate_run, {"q": dict.fromkeys(values, 1)}, {"q": dict.fromkeys(values, 1)}) == ([], "")
        assert seen(attributes(values)) == seen(odd(*values)) == ([], "")


def attributes(values, clusters=False):
    """A call with one value per query that triggers no other check."""
    rng, n = np.random.default_rng(0), len(values)
    given = {"clusters" if clusters else "by": np.repeat(np.array(values), 6)}
    return lambda: evaluate(rng.integers(0, 3, 6 * n), rng.random(6 * n), qid=np.repeat(np.arange(n), 6), **given)


def test_placeholder_values_of_attributes():
    name = "placeholder values"
    for values in ([0, 1, 2, 3, 4, -1], ["a", "nan"], ["4", "None", "5"], [*map(str, range(6)), "-1"], [1, -(2**63)]):
        assert seen(attributes(values)) == ([name], "")
        assert seen(attributes(values, clusters=True)) == ([name], "")
    assert seen(attributes([0, 1, -1], clusters=True)) == ([name], "")
    for values in ([0, 1, -1], [0, 1, 2, 3, 4, -1, -2], ["a", "nano"], [True, False], [0.5, 1.5]):
        assert seen(attributes(values)) == ([], "")
    for clusters in (True, False):
        assert "Ids must stay different" in seen(attributes([2.0**53, 1.0, 3.0], clusters))[1]
    frame = pd.DataFrame({"label": [1, 0] * 3, "score": [0.1, 0.2] * 3, "qid": [1, 1, 2, 2, 3, 3]})
    frame["country"] = ["nan", "nan", "de", "de", "fr", "fr"]
    assert seen(evaluate_table, frame, by="country") == ([name], "")
    assert seen(evaluate_run, {"q": {"a": 1}}, {"q": ["b", "a"]}, clusters={"q": "nan"}) == ([name], "")


DOORS_OF_RUNS = {
    doors.RUN: lambda judged, run, _: evaluate_run(judged, run),
    doors.JOIN: lambda judged, run, _: join(judged, run),
    doors.SYSTEMS: lambda judged, run, _: compare_systems(judged, {"a": run}),
    doors.COMMAND: lambda judged, run, folder: of_files(judged, run, folder),
}


def of_files(judged, run, folder):
    (folder / "qrels").write_text("".join(f"{q} 0 {d} {v}\n" for q, ds in judged.items() for d, v in ds.items()))
    (folder / "run").write_text("".join(f"{q} Q0 {d} {6 - v} {v} me\n" for q, ds in run.items() for d, v in ds.items()))
    command("evaluate", folder / "qrels", folder / "run", "-m", "map")


def test_ids_at_every_door_of_runs(tmp_path):
    missing = JUDGED | {"q0": JUDGED["q0"] | {"NULL": 1}}
    for check, judged, run in (
        (SPELLED_IDS, *SPELLED["zeros"][:2]), (SHIFTED, JUDGED, run_of(shift=1)),
        (BOTH_MISSING, missing, run_of(missing)),
    ):  # fmt: skip
        assert {*DOORS_OF_RUNS} == {door for door in ALL_DOORS if door.outcome(check)}
        for call in DOORS_OF_RUNS.values():
            assert seen(call, judged, run, tmp_path) == ([check.name], "")


@pytest.mark.parametrize("name", MAY_BE_THE_SAME)
def test_ids_that_may_be_equal(name):
    assert not are_other_ids(*MAY_BE_THE_SAME[name])


def odd(*ids):
    """Call `evaluate` with two rows for each of some ids."""
    n = 2 * len(ids)
    return lambda: evaluate([1, 0] * len(ids), np.arange(n), qid=np.repeat(np.array(ids), 2), metrics="mrr")


def test_invalid_query_ids():
    name = "invalid query ids"
    lowest = -(2**63)
    for ids in ([0, 1, -1], [0.0, 1.0, -1.0], [5, 6, lowest], ["nan", "a"], ["<NA>", "a"], [True, False], [False]):
        assert seen(odd(*ids)) == ([name], ""), ids
        assert seen(odd(*(str(one).removesuffix(".0") for one in ids))) == ([name], ""), ids
    for ids in ([0, -1], [1, -1, -2], [-5, 1, 2], ["nanny", "a"], ["no", "NA"], [0, 1, 2]):
        assert seen(odd(*ids)) == seen(odd(*map(str, ids))) == ([], ""), ids
    for ids in (["True", "a"], ["True", "False", "1"], ["-", "--1", "-1a"], ["-0", "1"]):
        assert seen(odd(*ids)) == ([], ""), ids
    many = [*range(200)]
    for ids in ([*many, -1], [*map(str, many), "nan"], [*map(str, many), "None"], [*map(str, many), "-1"]):
        assert seen(odd(*ids)) == ([name], "")
        assert seen(odd(*ids[:-1])) == ([], "")
        objects = np.array(ids, dtype=object) if isinstance(ids[0], str) else np.array(ids)
        batches = [([1, 0], [1, 2], np.repeat(objects[i : i + 1], 2)) for i in range(len(ids))]
        assert seen(evaluate_table, batches, metrics="mrr") == ([name], "")


@pytest.mark.parametrize("ids", [["0", "1", "-1"], ["True", "False"], ["4", "5", str(-(2**63))], ["4", "nan", "5"]])
def test_ids_in_files_are_text(ids, tmp_path, capsys):
    """The command line checks text as other functions check numbers."""
    rows = [f"{i},{label},{score}\n" for i in ids for label, score in ((1, 2), (0, 3))]
    (tmp_path / "table.csv").write_text("qid,label,score\n" + "".join(rows))
    assert main(["evaluate", "--table", str(tmp_path / "table.csv"), "-m", "mrr"]) == 0
    assert capsys.readouterr().err.count("is no id of a query") == 1


def test_placeholder_documents_as_text():
    judged = {q: {"1": 1, "2": 0} for q in "ab"}
    for odd_id, others, told in (
        ("-1", [], True),
        ("-1", ["-2"], False),
        (str(-(2**63)), [], True),
        ("-1a", [], False),
    ):
        run = {q: ["2", "1", odd_id, *others] for q in judged}
        expected = (["invalid document ids"] * told, "")
        assert seen(evaluate_run, judged, run, metrics="map") == expected
        lines = "".join(f"{q} Q0 {d} 1 {-i} me\n" for q, listed in run.items() for i, d in enumerate(listed))
        entries = read_run(io.BytesIO(lines.encode()))
        assert seen(join, judged, entries) == expected
