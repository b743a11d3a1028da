"""Labels and scores of many rows in any type and layout have the bits and errors of float64."""

import numpy as np
import pytest
from properties import forms
from registry import together

from sklearn_rank import evaluate
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._engine.read import read
from sklearn_rank.metrics import ndcg_score

RNG = np.random.default_rng(0)
N = 5000
LABEL, SCORE, QID = RNG.integers(0, 5, N), RNG.normal(size=N).astype(np.float16), RNG.integers(0, 300, N) // 7
METRICS = ["ndcg@10", "map", "mse", "err(max_grade=40)", "ndcg(ties=worst)@3"]


def bits(label, score):
    result = evaluate(label, score, qid=QID, metrics=METRICS, n_jobs=2)
    return (
        [*result.mean().values()],
        [result.per_query[name].tobytes() for name in METRICS],
        fingerprints_of(read(label, score, qid=QID)).tobytes(),
    )


@pytest.mark.filterwarnings("ignore:A label has the gain")
@pytest.mark.parametrize("form", forms.NUMBERS)
@pytest.mark.parametrize("factor", [1, 9])
def test_containers_change_no_bit(factor, form, monkeypatch):
    """Also if labels are not grades, and if rows are read in blocks."""
    monkeypatch.setattr("sklearn_rank._utils.blocks.BLOCK_ROWS", 1000)
    score = SCORE.astype(float)
    for label in (LABEL * float(factor), (LABEL > 1) * 1.0):
        if (held := forms.NUMBERS[form](label.tolist())) is not None:
            assert bits(held, SCORE) == bits(label, score)
    if (held := forms.NUMBERS[form](score.tolist())) is not None:
        assert bits(LABEL, held) == bits(LABEL, score)


@pytest.mark.parametrize("kind", ["f2", "f4", ">f4", "i4", "f8"])
@together("odd", [-np.inf, -0.0, 6e-8])
def test_odd_scores_change_no_bit(kind, odd):
    score = np.where(RNG.random(N) < 0.1, odd if kind != "i4" else 0, SCORE).astype(kind)
    if odd == -np.inf:
        values = ndcg_score(LABEL, score, qid=QID), ndcg_score(LABEL.astype(float), score.astype(float), qid=QID)
        assert values[0] == values[1]
    else:
        assert bits(LABEL, score) == bits(LABEL.astype(float), score.astype(float))


# --- errors --------------------------------------------------------------------------------------------------


def wide_label(*values):
    label = LABEL.astype(np.int64)
    label[[3, N - 1]] = values
    return label


@pytest.mark.parametrize("given", [{}, {"qid": QID[1:]}, {"sample_weight": -np.ones(N)}], ids=str)
@pytest.mark.parametrize("pair", [(2**53, 2**53 + 1), (-(2**53), -(2**53) - 1), (2**63 - 1, 2**63 - 2)], ids=str)
def test_merged_labels_are_the_first_error(pair, given):
    """As for labels that become floats at once, whatever else is wrong."""
    with pytest.raises(ValueError, match="which would be equal"):
        evaluate(wide_label(*pair), SCORE, metrics="dcg(gain=linear)", **{"qid": QID} | given)


@pytest.mark.parametrize("kind", ["f4", "f8", ">f4"])
@pytest.mark.parametrize("place", ["label", "score"])
def test_odd_rows_are_named(kind, place):
    x = np.zeros(N)
    x[N - 5] = np.inf
    label, score = (x, SCORE) if place == "label" else (LABEL, x)
    message = f"Got an infinite label in row {N - 5}" if place == "label" else f"Got inf in row {N - 5}"
    with pytest.raises(ValueError, match=message):
        evaluate(label.astype(kind), score.astype(kind), qid=QID, metrics="dcg(gain=linear)")


@pytest.mark.parametrize("n_finite", [0, 1, 3, 60])
def test_the_lowest_score_of_narrow_types_and_of_no_rows(n_finite):
    """Rows without a score are below the lowest score, for metrics that read all rows."""
    n, lowest = 80, np.finfo(np.float32).min
    score = np.full((80, n), -np.inf, dtype=np.float32)
    score[:, :n_finite] = RNG.normal(size=(80, n_finite))
    score[:, n_finite // 2] = lowest
    score = RNG.permuted(score, axis=1)
    label, qid = RNG.integers(0, 5, (80, n)), np.repeat(np.arange(80), n)
    given = {"qid": qid, "metrics": ["ndcg@10", "map@3", "p@1", "recall", "auc", "kendall"]}
    narrow, wide = (evaluate(label.ravel() > 2, score.ravel().astype(kind), **given) for kind in ("f4", "f8"))
    for name, values in wide.per_query.items():
        np.testing.assert_array_equal(narrow.per_query[name], values)
    assert wide.per_query["recall"].mean() < 1
