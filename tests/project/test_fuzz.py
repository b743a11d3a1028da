"""Inputs that a fuzzer found, checked again; `python tests/fuzz` looks for more."""

import gc
import io
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import targets

from sklearn_rank import evaluate, prepare
from sklearn_rank._engine import grouping
from sklearn_rank.io import read_run
from sklearn_rank.metrics import ndcg_score
from sklearn_rank.retrieval import _evaluate, evaluate_retrieval


@pytest.mark.parametrize("name", targets.NAMES)
def test_saved_inputs(name):
    inputs = targets.corpus(name)
    assert inputs
    for data in inputs:
        targets.load(name)(data)


RNG = np.random.default_rng(0)
QID, LABEL, SCORE = np.repeat(np.arange(8), 5), RNG.integers(0, 3, 40), RNG.random(40)
TEXT = [f"query {i}" for i in RNG.integers(0, 9, 40)]
RUN = b"".join(b"q%d Q0 d%d 1 0.%d me\n" % (i % 3, i, i) for i in range(20))
CALLS = {
    "ndcg_score": lambda: ndcg_score(LABEL, SCORE, qid=QID),
    "evaluate": lambda: evaluate(LABEL, SCORE, qid=QID, metrics=["ndcg@3", "map"]),
    "prepare": lambda: prepare(LABEL, qid=QID),
    "read_run": lambda: read_run(io.BytesIO(RUN), n_jobs=1),
    "evaluate, text ids": lambda: evaluate(LABEL, SCORE, qid=TEXT, metrics="mrr"),
}


def new_objects(call, n):
    """Objects that the garbage collector tracks, more after n calls than after the first 20."""
    for _ in range(20):
        call()
    gc.collect()
    objects = len(gc.get_objects())
    for _ in range(n):
        call()
    gc.collect()
    return len(gc.get_objects()) - objects


@pytest.mark.parametrize("name", CALLS)
def test_calls_restore_the_state(name):
    assert new_objects(CALLS[name], 80) < 20


@pytest.mark.parametrize("step", [9, 0.5])
def test_more_ids_than_int32_are_refused(monkeypatch, step):
    monkeypatch.setattr(grouping, "MOST_IDS", 512)
    for n in 512, 513:
        qid, label = step * np.append(np.arange(n)[::-1], n - 1), np.arange(n + 1) % 2
        if n <= 512:
            assert len(evaluate(label, label, qid=qid, metrics="p@1").qid) == n
        else:
            with pytest.raises(ValueError, match="can be of 512 queries at most"):
                evaluate(label, label, qid=qid, metrics="p@1")


def test_more_items_than_31_bits_are_refused(monkeypatch):
    monkeypatch.setattr(_evaluate, "MOST_ITEMS", 3)
    with pytest.raises(ValueError, match="at most 3 items, whose numbers take 31 bits. Got 4. .* use score_neighbors"):
        evaluate_retrieval(np.eye(2, 4), np.eye(4), [0, 1], [0, 1, 1, 0])
