"""Set precision, recall and F: the documents above a threshold."""

import pytest

from sklearn_rank.metrics import (
    set_f_score,
    set_precision_score,
    set_recall_score,
)


def test_an_empty_set():
    y, s, qid = [1, 0], [-1.0, -2.0], ["q", "q"]
    assert set_precision_score(y, s, qid=qid) == 0
    assert set_precision_score(y, s, qid=qid, replace_undefined_by=1) == 1
    assert set_recall_score(y, s, qid=qid, replace_undefined_by=1) == 0
    assert set_f_score(y, s, qid=qid) == 0


def test_above_is_strict():
    assert set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], threshold=0.5) == 0.5


def test_thresholds_are_numbers():
    with pytest.raises(ValueError, match="The 'threshold' parameter of set_recall_score must be a finite number"):
        set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], threshold="0.5")
    with pytest.raises(TypeError, match="set_recall_score has no keyword 'ties'"):
        set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], ties="best")
