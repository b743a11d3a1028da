"""Set precision, recall and F: the documents above a threshold."""

import numpy as np
import pytest

from sklearn_rank.metrics import (
    fbeta_at_k_score,
    precision_at_k_score,
    recall_at_k_score,
    set_f_score,
    set_precision_score,
    set_recall_score,
)

PAIRS = [
    (set_precision_score, precision_at_k_score, {}),
    (set_recall_score, recall_at_k_score, {}),
    (set_f_score, fbeta_at_k_score, {"beta": 2}),
]


@pytest.mark.parametrize(("of_set", "of_list", "keywords"), PAIRS)
@pytest.mark.parametrize("average", ["macro", "micro", None])
def test_a_set_is_a_list_of_what_was_retrieved(of_set, of_list, keywords, average, rng):
    qid = np.repeat(np.arange(50), 8)
    y, s = rng.integers(0, 3, 400), rng.integers(-3, 4, 400) / 2
    y[qid < 3], s[qid == 5] = 0, 0.5  # nothing relevant; and all above the threshold, and tied
    kept = np.where(s > 0.25, s, -np.inf)
    assert all((kept[qid == q] > -np.inf).any() for q in range(50))
    found = of_set(y, s, qid=qid, threshold=0.25, average=average, **keywords)
    np.testing.assert_allclose(found, of_list(y, kept, qid=qid, average=average, **keywords), rtol=1e-12)


def test_an_empty_set():
    y, s, qid = [1, 0], [-1.0, -2.0], ["q", "q"]
    assert set_precision_score(y, s, qid=qid) == 0
    assert set_precision_score(y, s, qid=qid, replace_undefined_by=1) == 1
    assert set_recall_score(y, s, qid=qid, replace_undefined_by=1) == 0
    assert set_f_score(y, s, qid=qid) == 0


def test_above_means_above():
    assert set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], threshold=0.5) == 0.5


def test_thresholds_are_numbers():
    with pytest.raises(ValueError, match="The 'threshold' parameter of set_recall_score must be a finite number"):
        set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], threshold="0.5")
    with pytest.raises(TypeError, match="set_recall_score has no keyword 'ties'"):
        set_recall_score([1, 1], [0.5, 0.6], qid=[0, 0], ties="best")
