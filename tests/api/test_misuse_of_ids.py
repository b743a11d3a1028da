"""Checks of ids: those that are none, and those that match nothing."""

import io

import numpy as np
import pytest
from misuse_cases import seen

from sklearn_rank import evaluate, evaluate_run, evaluate_table
from sklearn_rank._cli import main
from sklearn_rank._misuse.runs import are_other_ids
from sklearn_rank.io import join, read_run

N = 12
OTHER_IDS = {
    "prefix": ([f"doc{i}" for i in range(3)], [f"d{i}" for i in range(3)]),
    "case": (["A", "B"], ["a", "b"]),
    "names in another case": ([f"Title {c}" for c in "abcdefghijklm"], [f"title {c}" for c in "abcdefghijklm"]),
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


@pytest.mark.parametrize("name", OTHER_IDS)
def test_ids_that_are_others(name):
    of_run, judged = OTHER_IDS[name]
    assert are_other_ids(of_run, judged)
    half = len(of_run) // 2
    run = {"u": of_run[:half], "v": of_run[half:]}
    warned = seen(evaluate_run, {"u": dict.fromkeys(judged, 0), "v": {judged[0]: 1}}, run)
    assert warned == (["ids without a match"], "")


@pytest.mark.parametrize("name", MAY_BE_THE_SAME)
def test_ids_that_may_be_the_same(name):
    assert not are_other_ids(*MAY_BE_THE_SAME[name])


def odd(*ids):
    """A call of `evaluate` with two rows of each of some ids."""
    n = 2 * len(ids)
    return lambda: evaluate([1, 0] * len(ids), np.arange(n), qid=np.repeat(np.array(ids), 2), metrics="mrr")


def test_ids_that_are_none():
    name = "ids that are none"
    lowest = -(2**63)
    for ids in ([0, 1, -1], [0.0, 1.0, -1.0], [5, 6, lowest], ["nan", "a"], ["<NA>", "a"], [True, False], [False]):
        assert seen(odd(*ids)) == ([name], ""), ids
        assert seen(odd(*(str(one).removesuffix(".0") for one in ids))) == ([name], ""), ids
    for ids in ([0, -1], [1, -1, -2], [-5, 1, 2], ["nanny", "a"], ["no", "NA"], [0, 1, 2]):
        assert seen(odd(*ids)) == seen(odd(*map(str, ids))) == ([], ""), ids
    for ids in (["True", "a"], ["True", "False", "1"], ["-", "--1", "-1a"], ["", "-0", "1"]):
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
    """The command line says of text what other functions say of numbers."""
    rows = [f"{i},{label},{score}\n" for i in ids for label, score in ((1, 2), (0, 3))]
    (tmp_path / "table.csv").write_text("qid,label,score\n" + "".join(rows))
    assert main(["evaluate", "--table", str(tmp_path / "table.csv"), "-m", "mrr"]) == 0
    assert capsys.readouterr().err.count("is no id of a query") == 1


def test_documents_that_are_none_as_text():
    judged = {q: {"1": 1, "2": 0} for q in "ab"}
    for odd_id, others, told in (
        ("-1", [], True),
        ("-1", ["-2"], False),
        (str(-(2**63)), [], True),
        ("-1a", [], False),
    ):
        run = {q: ["2", "1", odd_id, *others] for q in judged}
        expected = (["documents that are none"] * told, "")
        assert seen(evaluate_run, judged, run, metrics="map") == expected
        lines = "".join(f"{q} Q0 {d} 1 {-i} me\n" for q, listed in run.items() for i, d in enumerate(listed))
        entries = read_run(io.BytesIO(lines.encode()))
        assert seen(join, judged, entries) == expected
