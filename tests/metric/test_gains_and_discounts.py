"""Gains and discounts of the user: accepted and rejected tables and functions, with the messages."""

from fractions import Fraction

import numpy as np
import pytest

from sklearn_rank import metric, parse_metric
from sklearn_rank.metrics import dcg_score, err_score, ndcg_score, rbp_score

Y, S, QID = [0, 1, 2], [1.0, 3.0, 2.0], [0] * 3
"""Label 1 at rank 1, 2 at rank 2, 0 at rank 3."""


def dcg(**keywords):
    """Gain of label 1, plus the gains of 2 and 0 at ranks 2 and 3."""
    return dcg_score(Y, S, qid=QID, **{"discount": "flat", "gain": "linear"} | keywords)


@pytest.mark.parametrize(
    ("gain", "value"),
    [
        ({2: 4, 0: 0, 1: 1}, 5),
        ({Fraction(0): Fraction(0), Fraction(1): Fraction(1, 4), Fraction(2): Fraction(1, 2)}, 0.75),
        ([0, 0, 0], 0),
        ((0, 3, 3), 6),
        (np.array([1, 1, 2], dtype=np.uint8), 4),
        (lambda y: [0.0, 1.0, 5.0][: len(y)] if len(y) > 2 else y**2 + y // 2, 6),
        (lambda y: y > 0, 2),
        (lambda y: np.minimum(y, 1), 2),
        (lambda y: np.maximum(y - 1, 0), 1),
        (lambda y: np.where(y > 1, 1 - 1e-12, np.minimum(y, 1)), 2),
        (lambda y: -1 + 0 * y, -3),
        (lambda y: y - 2, -3),
        (lambda y: y * (3 - y), 4),
        (lambda y: np.array([Fraction(int(one), 2) for one in y]), 1.5),
    ],
)
def test_accepted_gains(gain, value):
    assert dcg(gain=gain) == pytest.approx(value, rel=1e-11)


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        (lambda y: -y, "must not fall as the label rises. Got -0 for label 0 and -1 for label 1."),
        (lambda y: np.where(y == 2, 1, 2 * y), "Got 2 for label 1 and 1 for label 2."),
        (
            lambda y: y / len(y),
            "the same gain whatever labels it is given beside it. Got 0.333333 and 0.5 for label 1.",
        ),
        (lambda y: y * len(y), "the same gain whatever labels it is given beside it. Got 3 and 2 for label 1."),
        (lambda y: np.log(y), r"one finite number for each entry .* Got shape \(3,\) for \(3,\), 1 of them not finite"),
        (lambda y: y * 1j, r"Got shape \(3,\) for \(3,\), 0 of them not finite"),
        (lambda y: y[:1], r"Got shape \(1,\) for \(3,\), 0 of them not finite"),
        (lambda y: 1.0, r"Got shape \(\) for \(3,\), 0 of them not finite"),
        (lambda y: [[1], [1, 2], 3], r"Got shape \(\) for \(3,\), 1 of them not finite"),
        (lambda y: np.array(["a"] * len(y)), r"Got shape \(\) for \(3,\), 1 of them not finite"),
        (lambda y: np.where(y > 1, np.inf, y), r"Got shape \(3,\) for \(3,\), 1 of them not finite"),
        ({}, "gains by grade that do not fall"),
        ([], "gains by grade that do not fall"),
        ([0, 2, 1], "gains by grade that do not fall"),
        ({0: 0, 2: 1, 1: 2}, "gains by grade that do not fall"),
        ({0: 0, "1": 1}, "gains by grade that do not fall"),
        ([0, 1, np.nan], "gains by grade that do not fall"),
        ([0, "a", 2], "gains by grade that do not fall"),
        (np.ones((1, 3)), "gains by grade that do not fall"),
        (7, "gains by grade that do not fall"),
        ("square", "gains by grade that do not fall"),
        ([0, 1], r"must have an entry for every value in y_true. Got 2 in row 2"),
    ],
)
def test_rejected_gains(gain, message):
    with pytest.raises(ValueError, match=message):
        dcg(gain=gain)


def test_a_function_of_one_label_is_called_for_each_label():
    with pytest.raises(
        ValueError, match="the same gain whatever labels it is given beside it. Got 0.5 and 1 for label 1."
    ):
        dcg_score([0, 1], [2, 1], qid=[0, 0], gain=lambda y: y / max(len(y), 1))
    assert dcg_score([1, 1], [2, 1], qid=[0, 0], gain=lambda y: y / max(len(y), 1), discount="flat") == 2


@pytest.mark.parametrize(
    ("gain", "label", "message"),
    [
        (
            {-1: -2, 0: 0, 1: 1},
            [-1, 1],
            "A gain of ndcg_score must not be negative. Got -2 for label -1. dcg_score takes",
        ),
        (lambda y: y - 1, [0, 1, 2], "Got -1 for label 0."),
        (lambda y: y - 1, [1, 2], None),
        ({0: 0, 1: 1}, [0, 1], None),
        ({-2: 0, -1: 1}, [-2, -1, np.nan], None),
        (lambda y: y - 1, [np.nan, np.nan], None),
    ],
)
def test_negative_gains_are_rejected_by_metrics_with_an_ideal(gain, label, message):
    def call(function):
        return function(label, np.arange(len(label)), qid=[0] * len(label), gain=gain, unjudged="drop")

    call(dcg_score)
    if message is None:
        call(ndcg_score)
        return
    with pytest.raises(ValueError, match=message):
        call(ndcg_score)


def test_named_gains_respect_the_bounds_of_a_metric():
    own = metric("of_gains", bounds=(0, 9), needs_relevant=True)(lambda r, gain="linear": r.cumsum(by_label=gain))
    assert own([0, 1], [2, 1], qid=[0, 0]) == 1
    with pytest.raises(ValueError, match="A gain of <lambda> must not be negative. Got -1 for label -1."):
        own([-1, 1], [2, 1], qid=[0, 0])
    assert own([-1, 1], [2, 1], qid=[0, 0], gain="binary") == 1


@pytest.mark.parametrize("gain", [lambda y: 0 * y, {grade: 0 for grade in range(5)}])
def test_the_highest_grade_must_have_a_gain(gain):
    with pytest.raises(ValueError, match="The gain of max_grade must be above 0 in rbp_score. Got 0."):
        rbp_score(Y, S, qid=QID, gain=gain)
    assert rbp_score(Y, S, qid=QID, gain=lambda y: y / 16) == rbp_score(Y, S, qid=QID, gain="linear")


# --- discounts -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("discount", "value"),
    [
        ([2, 1, 1], 4),
        ((2, 1, 0), 4),
        (np.array([4, 1, 1, 9, 9], dtype=np.int8), 6),
        ([Fraction(1, 2), Fraction(1, 4), 0], 1),
        (lambda rank: rank, 5),
        (lambda rank: [3, 2, 1][: len(rank)], 7),
        (lambda rank: np.array([Fraction(1, int(i)) for i in rank]), 2),
        ("flat", 3),
        ("reciprocal", 2),
        ("log2", 1 + 2 / np.log2(3)),
        ("jarvelin", 3),
    ],
)
def test_weights_of_dcg(discount, value):
    """Any weights are allowed, and those below the list are not read."""
    assert dcg(discount=discount) == pytest.approx(value, rel=1e-14)


@pytest.mark.parametrize("base", [1.5, 2, 3, 100])
def test_discount_of_jarvelin(base):
    weights = [1 if i < base else np.log(base) / np.log(i) for i in range(1, 8)]
    assert dcg_score([1] * 7, range(7), qid=[0] * 7, discount="jarvelin", base=base) == pytest.approx(sum(weights))


@pytest.mark.parametrize(
    ("discount", "message"),
    [
        ([1, 1], "a weight for each rank that is read, 3 here. Got 2 weights instead; .* cut the lists with k=2."),
        (lambda rank: rank / len(rank), "the same weight whatever ranks .* Got 0.333333 and 0.5 for rank 1."),
        (lambda rank: rank * len(rank), "the same weight whatever ranks .* Got 3 and 2 for rank 1."),
        (lambda rank: 1.0, r"Got shape \(\) for \(3,\)"),
        (lambda rank: 1 / (rank - 1), r"Got shape \(3,\) for \(3,\), 1 of them not finite"),
    ],
)
def test_rejected_weights_of_dcg(discount, message):
    with pytest.raises(ValueError, match=message):
        dcg(discount=discount)


def test_a_function_of_one_rank_is_called_for_each_rank():
    with pytest.raises(ValueError, match="Got 0.5 and 1 for rank 1."):
        dcg_score([0, 1], [2, 1], qid=[0, 0], discount=lambda rank: rank / max(len(rank), 1))


def test_weights_below_the_cutoff_are_not_needed():
    assert dcg(discount=[2, 1], k=2) == 4
    assert dcg(discount=[2, 1, 1], k=10) == 4
    with pytest.raises(ValueError, match="each rank that is read, 2 here. Got 1 weights"):
        dcg(discount=[2], k=2)


NEARLY = 1 + 1e-9
AT_RANK_1 = (
    r"must be above 0 and not above 1 at rank 1, and must not rise or be negative below it, .* Got {} at rank {}\."
)
LATER = "Got {} at rank {}, after {}."


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1, 1, 1], None),
        ([1, 0, 0], None),
        ([0.5, 0.25, 0.125], None),
        ([NEARLY, 1, NEARLY], None),
        ([1, 1, 1 + 1e-8], LATER.format(1, 3, 1)),
        ([1 + 1e-8, 1, 1], AT_RANK_1.format(1, 1)),
        ([1.5, 1, 1], AT_RANK_1.format(1.5, 1)),
        ([0, 0, 0], AT_RANK_1.format(0, 1)),
        ([0, 1, 1], AT_RANK_1.format(0, 1)),
        ([-1, 0, 0], AT_RANK_1.format(-1, 1)),
        ([1, 0.5, 0.7], LATER.format(0.7, 3, 0.5)),
        ([0.5, 0.7, 0.1], LATER.format(0.7, 2, 0.5)),
        ([1, 0.5, -0.5], LATER.format(-0.5, 3, 0.5)),
        ([1, 0, -0.5], LATER.format(-0.5, 3, 0)),
        ([Fraction(1), Fraction(1, 2), Fraction(3, 4)], LATER.format(0.75, 3, 0.5)),
    ],
)
def test_weights_that_respect_a_bound(weights, message):
    """Invalid arrays are rejected before any data are read; functions when the lengths of lists are known."""

    def function(rank):
        return np.array(weights, dtype=float)[rank - 1]

    if message is None:
        assert err_score(Y, S, qid=QID, discount=weights) == err_score(Y, S, qid=QID, discount=function) > 0
        return
    with pytest.raises(ValueError, match=message):
        parse_metric("err", discount=weights)
    with pytest.raises(ValueError, match=message):
        err_score(Y, S, qid=QID, discount=function)


def test_a_function_of_ranks_is_checked_down_to_the_cutoff():
    def rising(rank):
        return np.where(rank < 3, 1 / rank, 1.0)

    assert ndcg_score(Y, S, qid=QID, discount=rising, k=2) < 1
    with pytest.raises(ValueError, match="Got 1 at rank 3, after 0.5"):
        ndcg_score(Y, S, qid=QID, discount=rising, k=3)


def test_the_base_defaults_to_2():
    own = metric("of_ranks", greater_is_better=True)(lambda r, discount="jarvelin": r.cumsum(by_rank=discount))
    assert own([0] * 4, [4, 3, 2, 1], qid=[0] * 4, k=4) == pytest.approx(1 + 1 + np.log(2) / np.log(3) + 1 / 2)
