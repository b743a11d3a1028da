"""Inputs that a fuzzer found, checked again; `python tests/fuzz` looks for more."""

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "fuzz"))

import targets
from leaks import CALLS, growth

from sklearn_rank import evaluate
from sklearn_rank._engine import grouping
from sklearn_rank.retrieval import _evaluate, evaluate_retrieval


@pytest.mark.parametrize("name", targets.NAMES)
def test_saved_inputs(name):
    inputs = targets.corpus(name)
    assert inputs
    for data in inputs:
        targets.load(name)(data)


@pytest.mark.parametrize("name", CALLS)
def test_calls_restore_the_state(name):
    assert growth(CALLS[name], 200)[1] < 20


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
