"""Signs of ids: those that are none, and those that match nothing."""

import numpy as np
import pytest
from sign_cases import seen

from sklearn_rank import evaluate, evaluate_batches, evaluate_run
from sklearn_rank._signs.runs import are_other_ids

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
    for ids in ([0, 1, -1], [0.0, 1.0, -1.0], [5, 6, -(2**63)], ["nan", "a"], ["<NA>", "a"], [True, False], [False]):
        assert seen(odd(*ids)) == ([name], ""), ids
    for ids in ([0, -1], [1, -1, -2], [-5, 1, 2], ["nanny", "a"], ["no", "NA"], [0, 1, 2]):
        assert seen(odd(*ids)) == ([], ""), ids
    many = [*range(200)]
    for ids in ([*many, -1], [*map(str, many), "nan"], [*map(str, many), "None"]):
        assert seen(odd(*ids)) == ([name], "")
        assert seen(odd(*ids[:-1])) == ([], "")
        objects = np.array(ids, dtype=object) if isinstance(ids[0], str) else np.array(ids)
        batches = [([1, 0], [1, 2], np.repeat(objects[i : i + 1], 2)) for i in range(len(ids))]
        assert seen(evaluate_batches, batches, metrics="mrr") == ([name], "")
