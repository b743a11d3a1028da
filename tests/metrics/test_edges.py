"""Numbers at the limits of float64: results are right, or the library raises its own error."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.testing import assert_allclose
from registry import METRICS, curve, cutoffs, data_for, each, each_metric, labels_of, mean, tie_policy

from sklearn_rank import evaluate, evaluate_table
from sklearn_rank.metrics import (
    alpha_dcg_score,
    cg_score,
    fbeta_at_k_score,
    map_score,
    mrr_score,
    ndcg_score,
    precision_at_k_score,
    q_score,
    query_auc_score,
    query_mse_error,
    query_rmse_error,
    rbo_score,
    rbp_score,
    recall_at_k_score,
    relevance_position_error,
    set_f_score,
)

TINY, SMALL, HUGE = 5e-324, 2.3e-308, 1.7976931348623157e308
NUMBERS = [0.0, -0.0, TINY, 1e-320, SMALL, 1e-300, 1e-9, 1.0, np.nextafter(1, 2), 2.0, 1e9, 2.0**53, 1e150, 1e300, HUGE]
EDGES = np.array([*NUMBERS, *np.negative(NUMBERS)])
WORDS_OF_OTHERS = ("operand", "ufunc", "dtype(", "math range", "overflow encountered", "convert", "array with")
OURS = ("must", "is read with", "no closed form", "overflowed: a sum")


def right_or_refused(metric, y_true, y_score, qid, **keywords):
    """Values of queries and their mean, within the bounds; None if the call was rejected."""
    low, high = metric.bounds
    try:
        for average in (None, "macro", *["micro"] * metric.supports_micro, *["geometric"] * (low >= 0)):
            given = cutoffs(metric) | tie_policy(metric) | keywords | {"average": average}
            found = np.asarray(metric(y_true, y_score, qid=qid, **given))
            assert np.isfinite(found).all(), given
            least = np.where(found == 0, 0, low) if average is None else min(low, 0)  # undefined queries are 0
            assert (found >= least - 1e-12).all(), (given, found)
            assert (found <= high + 1e-9).all(), (given, found)
    except ValueError as error:
        if any(words in str(error) for words in WORDS_OF_OTHERS) or not any(words in str(error) for words in OURS):
            raise
        return None
    return found


@each_metric
def test_labels_and_scores_at_the_limits(metric):
    rng, n_right = np.random.default_rng(len(metric.name)), 0
    for _ in range(40):
        edges = rng.choice(EDGES, size=4)
        edges = np.abs(edges) if metric.labels[0] == 0 else edges
        labels = np.append(rng.choice(edges, size=11), 1.0)
        scores, qid = rng.choice(EDGES, size=12), rng.integers(0, 3, size=12)
        n_right += right_or_refused(metric, labels, scores, qid) is not None
        labels = rng.choice(labels_of(metric), size=12)  # ordinary weights
        found = right_or_refused(metric, labels, scores, qid)
        assert metric.pointwise or found is not None
    assert n_right or metric.labels[1] is not None or metric.pointwise


KEYWORDS = {
    "alpha": [0, TINY, 1e-320, 1 - 2**-53, 1],
    "base": [np.nextafter(1, 2), 1e300, HUGE, 10**300],
    "beta": [TINY, 1e-200, 1e200, HUGE, 10**200, np.int8(100), np.float32(1e30), Fraction(1, 3)],
    "decay": [TINY, 1e-320, 1 - 2**-53, 1],
    "discount": [[HUGE] * 14, [1e-320] * 14, [1.0, *[TINY] * 13], lambda i: 1e308 / i, lambda i: TINY * (i < 3)],
    "gain": [[0, 1e308, 1.2e308, 1.4e308, 1.7e308], [0, TINY, TINY, 1e-320, SMALL], lambda r: r * 1e307, [HUGE] * 5],
    "max_fpr": [TINY, 1e-320, 1e-200, 1 - 2**-53],
    "max_grade": [1000, 999.5, 1e-320, HUGE],
    "min_relevance": [TINY, HUGE, -HUGE, -0.0, 2**60, 10**300],
    "p": [TINY, 1e-320, 1e-200, 1 - 2**-53, np.float16(0.5)],
    "recall": [TINY, 1e-320, 1 - 2**-53],
    "replace_undefined_by": [HUGE, -HUGE, TINY, 10**300],
    "threshold": [HUGE, -HUGE, TINY, -0.0],
    "k": [2**63, 10**30, np.int64(2**62)],
}


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings", "ignore:A label has the gain")
@each_metric
def test_keywords_at_the_limits(metric):
    data, taken = data_for(metric, tied=True), {*metric.defaults, *["k"] * metric.has_cutoff}
    for keyword, value in [(word, value) for word in taken & KEYWORDS.keys() for value in KEYWORDS[word]]:
        given = {keyword: value} | ({"discount": "jarvelin"} if keyword == "base" else {})
        if keyword == "max_grade" and "gain" in metric.formula_params:
            given["gain"] = "linear"
        if keyword == "replace_undefined_by":
            try:
                assert np.isfinite(mean(metric, data, **given)).all()
            except ValueError as error:
                if "beyond the range of a float" not in str(error):
                    raise
            continue
        right_or_refused(metric, data.y_true, data.y_score, data.qid, **given)


def test_weights_whose_sums_overflow_are_rejected(rng):
    y, s, qid = [0, 1, 1, 0], [2, 1, 2, 1], [1, 1, 2, 2]
    for weight in (1e308, 1e201, 1e-201, 1e-320, TINY):
        weights = [weight] * 4
        for call in (
            lambda w=weights: mrr_score(y, s, qid=qid, sample_weight=w),
            lambda w=weights: evaluate(y, s, qid=qid, metrics="mrr", sample_weight=w),
            lambda w=weights: mrr_score([[0, 1], [1, 0]], [[2, 1], [2, 1]], sample_weight=w[:2]),
            lambda w=weights: evaluate_table([(y, s, qid, w)], metrics="mrr"),
        ):
            with pytest.raises(ValueError, match=r"highest sample_weight must be from 1e-200 to 1e\+200.* divide all"):
                call()
    for largest in (1e200, 1e-200, 1e100, 3.0):
        weights = np.array([1.0, 1, 3, 3]) / 3 * largest
        assert_allclose(mrr_score(y, s, qid=qid, sample_weight=weights), (0.5 + 3) / 4, rtol=1e-15)
    assert mrr_score(y, s, qid=qid, sample_weight=[TINY, TINY, 1, 1]) == 1
    parts = [(y[:2], s[:2], qid[:2], [TINY] * 2), (y[2:], s[2:], qid[2:], [1.0] * 2)]  # one batch has no large weight
    assert evaluate_table(parts, metrics="mrr").mean() == {"mrr": 1}


@pytest.mark.parametrize(
    ("function", "y_true", "y_score", "keywords"),
    [
        (cg_score, [1.7e308, 1.7e308], [1, 2], {}),
        (query_mse_error, [1e200, 0], [1, 2], {}),
        (query_mse_error, [1e308, 0], [-1e308, 2], {}),
        (query_rmse_error, [1e200, 0], [1, 2], {}),
        (ndcg_score, [1.7e308, 1.7e308], [1, 2], {"gain": "linear"}),
        (ndcg_score, [TINY, 0], [1, 2], {"gain": "linear"}),
        (ndcg_score, [1, 0], [1, 2], {"discount": [TINY, TINY]}),
        (ndcg_score, [1, 2], [1, 2], {"gain": [0, 1e308, 1.7e308]}),
        (relevance_position_error, [TINY, 0], [1, 2], {}),
    ],
)
def test_metrics_reject_overflow(function, y_true, y_score, keywords):
    message = f"{function.__name__} overflowed: a sum or product is beyond the range of a float"
    with pytest.raises(ValueError, match=message):
        function(y_true, y_score, qid=[0, 0], **keywords)


def test_means_that_overflow_are_rejected():
    y_true, qid = [1.7e308, 1.7e308], [1, 2]
    assert cg_score(y_true, y_true, qid=qid, average=None).tolist() == y_true
    with pytest.raises(ValueError, match="cg_score overflowed.* Got a sum over queries that is not finite"):
        cg_score(y_true, y_true, qid=qid)
    with pytest.raises(ValueError, match="Got a sum over queries that is not finite"):
        map_score([0, 0], [1, 1], qid=qid, replace_undefined_by=1.7e308)
    infinite = evaluate([0, 0], [1, 1], qid=qid, metrics={"mine": lambda y, s: np.inf}).mean()
    assert infinite == {"mine": np.inf}  # functions of the user may return any number


@pytest.mark.parametrize("least", [1e-291, 1e-160])
def test_pooled_sums_that_underflow_are_rejected(least):
    """Each query and each weight is within the range; their product is 0 or loses digits."""
    given = {"y_true": [least, least], "y_score": [1.0, 2.0], "qid": [0, 1], "sample_weight": [1e-150, 1e-150]}
    with pytest.raises(
        ValueError, match=r"relevance_position_error overflowed.* Got weighted values that are not 0, all less"
    ):
        relevance_position_error(**given, average="micro")
    with pytest.raises(ValueError, match="Got weighted values that are not 0, all less"):
        evaluate_table([tuple(given.values())], metrics="relevance_position(average=micro)").mean()
    assert_allclose(relevance_position_error(**given | {"sample_weight": [1, 1]}, average="micro"), 1.0)


def test_values_in_the_limit():
    y, s, qid = [0, 1, 1, 0], [4, 3, 2, 1], [0] * 4
    recall, precision = (f(y, s, qid=qid, k=1) for f in (recall_at_k_score, precision_at_k_score))
    y_first = [1, 0, 1, 0]
    for beta in (1e101, 1e200, HUGE, 10**300):
        assert fbeta_at_k_score(y, s, qid=qid, k=1, beta=beta) == recall
        assert fbeta_at_k_score(y_first, s, qid=qid, k=1, beta=beta) == 1 / 2
        assert set_f_score(y_first, s, qid=qid, threshold=3.5, beta=beta) == 1 / 2
        assert_allclose(q_score([1, 0, 2], [3, 2, 1], qid=[0] * 3, beta=beta), (1 / 2 + 1) / 2)  # only of gains
    assert fbeta_at_k_score(y_first, s, qid=qid, k=1, beta=1e-200) == 1
    assert precision == 0
    for p in (TINY, 1e-320, 1e-300, 1e-17):
        assert rbo_score([2, 1, 0], [3, 2, 1], qid=[0] * 3, p=p) == 1
        assert rbo_score([1, 2, 0], [3, 2, 1], qid=[0] * 3, p=p) == pytest.approx(0, abs=1e-16)
    tied = {"y_true": [0, 1, 0, 1], "y_score": [3, 3, 1, 1], "qid": qid}
    for x in (TINY, 1e-320, 1e-200, 1e-12):
        assert query_auc_score(**tied, max_fpr=x) == pytest.approx((1 + 1 / 4) / 2, rel=1e-11)  # TPR 1/4 at FPR 0
        assert query_auc_score(**tied, max_fpr=x, tied_curve="straight") == pytest.approx(1 / 2, rel=1e-11)


@each([m for m in METRICS if m.formula_params])
def test_numbers_of_narrow_types(metric):
    """Formulas do not compute in the narrow type of a keyword, with its overflow and few digits."""
    data, plain = data_for(metric), {}
    for name, default in metric.formula_params.items():
        if type(default) in (int, float) and name not in ("base", "max_grade"):
            plain[name] = 100 if name == "beta" else 0.5
    kinds = [np.float64, np.float16, np.longdouble, Fraction]
    for given in plain:
        for kind in [np.int8, np.uint8, np.int64, *kinds] if plain[given] == 100 else kinds:
            expected = curve(metric, data, **{given: plain[given]})
            np.testing.assert_array_equal(curve(metric, data, **{given: kind(plain[given])}), expected)


def test_adjacent_floats_are_not_equal():
    up = np.nextafter(1, 2)
    assert mrr_score([1, 0], [up, 1.0], qid=[0, 0]) == 1
    assert mrr_score([1, 0], [TINY, 0.0], qid=[0, 0]) == 1
    assert mrr_score([1, 0], [0.0, -0.0], qid=[0, 0]) == 0.75
    assert mrr_score([1, 0], [HUGE, np.nextafter(HUGE, 0)], qid=[0, 0]) == 1
    assert precision_at_k_score([1.0, up], [1, 2], qid=[0, 0], min_relevance=up) == 0.5
    assert ndcg_score([-0.0, 1], [1, 2], qid=[0, 0]) == 1
    assert rbp_score([1, -0.0], [2, 1], qid=[0, 0], p=0.5) == 0.5
    assert alpha_dcg_score([[1, -0.0]], [1], qid=[0]) == 1
