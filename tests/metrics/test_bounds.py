"""Values stay within the declared bounds for all accepted gains, discounts and other keywords."""

import numpy as np
import pytest
from registry import METRICS, curve, data_for, each_metric, rough_data_for, tie_policy

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.metrics import (
    alpha_ndcg_score,
    dcg_score,
    err_ia_score,
    err_score,
    ndcg_score,
    nerr_score,
    q_score,
    rbp_score,
)

GAINS = [
    *("exp2", "linear", "binary", [0, 1, 1, 1, 9], [5, 5, 5, 5, 5], [0, 0, 0, 0, 1e-9], [-1, 0, 0, 3, 9], [-2] * 5),
    *({0: 0, 1: 1e-5, 2: 7, 3: 7, 4: 1e6}, np.sqrt, lambda r: 1.3 - 0.1 * r, lambda r: r - 1, lambda r: 1.0 + r**3),
]
DISCOUNTS = [
    *(
        "log2",
        "jarvelin",
        "reciprocal",
        "flat",
        np.ones(60),
        np.linspace(1, 0, 60),
        np.linspace(0, 1, 60),
        np.full(60, 7.0),
    ),
    *(-np.ones(60), np.zeros(60), np.r_[1, np.zeros(59)], np.r_[1, 0.2, 0.9, np.zeros(57)], np.r_[0.1, np.ones(59)]),
    *(lambda i: 0.9**i, lambda i: i / 9, lambda i: 5 / i, lambda i: 1 - i / 3, lambda i: -1 / i),
]
NUMBERS = {
    "alpha": [0, 0.2, 0.5, 1],
    "base": [1.01, 2, 3, 10, 1e9],
    "beta": [1e-9, 0.3, 1, 7, 1e9],
    "decay": [1e-9, 0.3, 0.85, 1],
    "max_fpr": [1e-9, 0.1, 0.5, 1, None],
    "max_grade": [4, 5, 9.5],
    "min_relevance": [-3, 0, 0.5, 1, 2, 9],
    "p": [1e-9, 0.2, 0.5, 0.9, 1 - 1e-9],
    "recall": [0, 0.1, 0.5, 1, "11pt"],
    "threshold": [-9, 0, 1, 99],
}
CHOICES = {  # not drawn: probabilities as labels, and means of queries
    "denominator": ["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"],
    "adjusted": [False],
    "need": ["any", "all"],
    "negative": ["keep", "unjudged"],
    "no_relevant": ["zero", "undefined"],
    "ranks": ["all", "relevant"],
    "precision_at": ["rank", "threshold"],
    "rounding": ["up", "nearest", "cut"],
    "stop": ["exp2"],
    "tied_curve": ["expected", "straight"],
    "ties": ["average", "stable", "worst", "best"],
    "variant": ["a", "b"],
    "gain": GAINS,
    "discount": DISCOUNTS,
    **NUMBERS,
}


def drawn(metric, rng):
    """Random values of some of a metric's keywords, valid or not."""
    names = [name for name in metric.defaults if name in CHOICES and rng.random() < 0.7]
    found = {name: CHOICES[name][rng.integers(len(CHOICES[name]))] for name in names}
    return found | {"max_grade": 4} if found.get("gain") is not None and "max_grade" in found else found


REFUSALS = (
    *("must", "is read with", "no closed form for tied documents", "A callable"),
    *("A gain of", "The 'gain' table", "The 'discount' of", "overflowed: a sum"),
)


def test_all_keywords_are_drawn():
    """Exceptions: keywords for unjudged documents, undefined queries and means, and sets of keywords."""
    others = {"unjudged", "replace_undefined_by", "convention", "average"}
    assert {name for metric in METRICS for name in metric.defaults} - others == CHOICES.keys()


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings")
@each_metric
def test_accepted_keywords_keep_values_within_the_bounds(metric):
    rng, (low, high), n_accepted = np.random.default_rng(len(metric.name)), metric.bounds, 0
    for seed in range(80):
        keywords, make = drawn(metric, rng), rough_data_for if seed % 2 else data_for
        try:
            found = curve(metric, make(metric, seed, n_queries=12, longest=40), **keywords)
        except ValueError as error:
            if not any(words in str(error) for words in REFUSALS):
                raise
            continue
        n_accepted += 1
        defined = found >= low - 1e-12  # 0 if a query is undefined
        assert (defined | (found == 0)).all(), (keywords, found.min())
        assert (found <= high + 1e-9).all(), (keywords, found.max())
        assert np.isfinite(found).all(), keywords
    assert n_accepted >= 8


Y, S, Q = [0, 1, 2], [3.0, 2.0, 1.0], [0] * 3
RISES = r"must be above 0.* at rank 1, and must not rise or be negative below it.* Got "


@pytest.mark.parametrize("function", [ndcg_score, err_score, nerr_score, err_ia_score, alpha_ndcg_score])
@pytest.mark.parametrize(
    ("weights", "got"),
    [
        ([0.1, 0.2, 0.9], "0.2 at rank 2, after 0.1"),
        ([0.5, 0.2, 0.9], "0.9 at rank 3, after 0.2"),
        ([0.5, 0.2, -0.9], "-0.9 at rank 3, after 0.2"),
        ([0, 0, 0], "0 at rank 1"),
        ([-1, -2, -3], "-1 at rank 1"),
    ],
)
def test_weights_of_ranks_must_decrease(function, weights, got):
    labels = np.minimum(Y, 1)
    for discount in (weights, tuple(weights), np.array(weights), lambda rank: np.array(weights)[rank - 1]):
        with pytest.raises(ValueError, match=RISES + got):
            function(labels, S, qid=Q, discount=discount)
        with pytest.raises(ValueError, match=RISES + got):
            evaluate(labels, S, qid=Q, metrics=["map", f"{function.metric.name}@3"], discount=discount)
    if function is ndcg_score:
        with pytest.raises(ValueError, match=RISES + got):
            evaluate_table([(labels, S, Q)], metrics="ndcg", discount=lambda rank: np.array(weights)[rank - 1])


@pytest.mark.parametrize("function", [ndcg_score, rbp_score, q_score])
def test_gains_are_not_negative_if_values_begin_at_0(function):
    for gain in ([-1, 0, 3, 4, 5], {0: -1, 1: 1, 2: 2, 4: 4}, lambda label: label - 1.0):
        with pytest.raises(ValueError, match=rf"A gain of {function.__name__} must not be neg.* Got -1 for label 0"):
            function(Y, S, qid=Q, gain=gain)
    above = {-1: -9, 0: 0, 1: 1, 2: 2, 4: 4}  # for a label that graded metrics reject
    assert function(Y, S, qid=Q, gain=above) == function(Y, S, qid=Q, gain=[0, 1, 2, 2, 4])
    assert dcg_score(Y, S, qid=Q, gain=[-1, 0, 3]) == pytest.approx(-1 + 3 / 2)


def test_gains_are_checked_up_to_the_highest_grade():
    with pytest.raises(ValueError, match="must not fall as the label rises. Got 2 for label 2 and 0.5 for label 4"):
        rbp_score(Y, S, qid=Q, gain=lambda label: np.where(label == 4, 0.5, label))


def test_gains_of_unjudged_labels_are_checked_as_label_0():
    labels = [1, np.nan, 2]
    assert ndcg_score(labels, S, qid=Q, gain=np.log, unjudged="drop") > 0  # no metric computes the logarithm of 0
    with pytest.raises(ValueError, match="A gain of ndcg_score must not be negative. Got -0.5 for label 0"):
        ndcg_score(labels, S, qid=Q, gain=lambda label: label - 0.5, unjudged="nonrelevant")
    assert ndcg_score([np.nan, np.nan], [1, 2], qid=[0, 0], gain=lambda label: 1.0 * label, unjudged="drop") == 0


def test_each_metric_with_weights_documents_the_rule():
    normalized = {m.name for m in METRICS if "discount" in m.formula_params and m.max_weight is not None}
    assert {m.name for m in METRICS if "discount" in m.formula_params} - normalized == {"dcg"}
    assert tie_policy(REGISTRY["ndcg"]) == {}
