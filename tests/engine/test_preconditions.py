"""Callers assert the preconditions that kernels do not check."""

import numpy as np
import pytest

from sklearn_rank import evaluate
from sklearn_rank._engine import ranked
from sklearn_rank._engine.kernels.plan import Lists
from sklearn_rank._engine.primitives import MEANS, ByGrade, Call, Scratch
from sklearn_rank._engine.ranking import Ranking
from sklearn_rank.io import _trec


@pytest.mark.parametrize("by_grade", ["x", "y"])
def test_means_of_values_by_grade_and_by_item(by_grade):
    values = {"x": np.ones(2), "y": np.ones(2), by_grade: ByGrade(np.ones(32))}
    lists = Lists(np.array([0, 2]), None, np.ones(2, dtype=np.uint8), 2)
    with pytest.raises(AssertionError):
        Call(MEANS, **values, cutoffs=np.array([2])).bind(lists, Scratch(2), 2, 1)


def test_overlap_with_a_shorter_ideal(monkeypatch):
    best = Ranking.by_label
    monkeypatch.setattr(ranked.Ranking, "by_label", lambda label, ptr, depth: best(label[:0], 0 * ptr, depth))
    with pytest.raises(AssertionError):
        evaluate([1, 0], [2, 1], qid=[0, 0], metrics="rbo")


@pytest.mark.parametrize("text", [b"q Q0 a 1 1 me", b"q Q0 a 1 1 me\nq"])
def test_text_without_a_last_newline(text):
    with pytest.raises(AssertionError):
        _trec._read_lines(text, _trec.RUN_FIELDS)
