"""Grades that do not start at 0: negative ones with a table of gains, and scales of which every grade is relevant."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from sklearn_rank import RankingAccumulator, RankingEvaluator, compare_systems, evaluate, evaluate_batches, parse_metric
from sklearn_rank._evaluation.all_relevant import OF_RELEVANCE
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.datasets import make_ranking
from sklearn_rank.metrics import dcg_score, ndcg_score
from sklearn_rank.results import Evaluation

SPAM = {-1: 0, 0: 0, 1: 1, 2: 3}
LABELS = [2, 1, 0, -1, -1]


def test_a_table_says_what_negative_labels_gain():
    """The order -1, -1, 0, 1, 2: (1 / log2(5) + 3 / log2(6)) / (3 / log2(2) + 1 / log2(3))."""
    expected = (1 / np.log2(5) + 3 / np.log2(6)) / (3 + 1 / np.log2(3))
    assert ndcg_score(LABELS, [1, 2, 3, 5, 4], qid=[0] * 5, gain=SPAM) == pytest.approx(expected, abs=1e-15)
    for gain in (SPAM, lambda label: np.maximum(2.0**label - 1, 0)):
        assert ndcg_score(LABELS, [5, 4, 3, 2, 1], qid=[0] * 5, gain=gain) == 1
        assert ndcg_score([-1, -1], [5, 4], qid=[0] * 2, gain=gain) == 0, "an ideal of zero is undefined"


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("gain", [SPAM, {-1: 0.5, 0: 1, 1: 1, 2: 4}])
def test_negative_labels_in_every_order(gain, k):
    """The ideal is the best of all lists, and ties are the mean over their orders."""
    orders = [*permutations(LABELS)]
    values = [ndcg_score(order, range(5, 0, -1), qid=[0] * 5, gain=gain, k=k) for order in orders]
    lists = [dcg_score(order, range(5, 0, -1), qid=[0] * 5, gain=gain, k=k) for order in orders]
    np.testing.assert_allclose(values, np.array(lists) / max(lists), atol=1e-14)
    assert ndcg_score(LABELS, [0] * 5, qid=[0] * 5, gain=gain, k=k) == pytest.approx(np.mean(values))
    by_qrels = ndcg_score([*LABELS, 2, -1], [5, 4, 3, 2, 1, -np.inf, -np.inf], qid=[0] * 7, gain=gain, k=k)
    ideal = dcg_score([2, *LABELS, -1], range(7, 0, -1), qid=[0] * 7, gain=gain, k=k)
    assert by_qrels == pytest.approx(dcg_score(LABELS, range(5, 0, -1), qid=[0] * 5, gain=gain, k=k) / ideal)


@pytest.mark.parametrize(
    ("gain", "message"),
    [
        ("exp2", r"must not be below 0\. Got -1.*gain=\{-1: 0, 0: 0, 1: 1, 2: 3\} says what each label gains"),
        ("binary", "must not be below 0"),
        ([0, 1, 3], "must have an entry for every value in y_true. Got -1 in row 3"),
        ({-1: -1, 0: 0, 1: 1, 2: 3}, r"must not be negative\. Got -1 for label -1\. dcg_score takes negative gains"),
        (lambda label: label, "must not be negative.* Got -1 for label -1"),
        ({-1: 1, 0: 0, 1: 1, 2: 3}, "gains by grade that do not fall"),
    ],
    ids=["exp2", "binary", "array", "negative", "callable", "falls"],
)
def test_negative_labels_that_raise(gain, message):
    with pytest.raises(ValueError, match=message):
        ndcg_score(LABELS, [1, 2, 3, 5, 4], qid=[0] * 5, gain=gain)


def test_negative_gains_of_dcg():
    table = {-1: -1, 0: 0, 1: 1, 2: 3}
    assert dcg_score([-1, 2], [2, 1], qid=[0] * 2, gain=table) == pytest.approx(-1 + 3 / np.log2(3))


# --- every document is relevant ------------------------------------------------------------------------------

FIVE = {"y_true": [1, 5, 3, 1, 2], "y_score": [1, 2, 3, 4, 5], "qid": [0, 0, 0, 1, 1]}


def told(**arguments):
    """Warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(**(FIVE | {"metrics": ["map", "ndcg", "p@2"]} | arguments))
    return [str(warning.message) for warning in caught]


def test_a_scale_from_1_to_5():
    (message,) = told()
    assert message.startswith("Every document is relevant, as labels go from 1 to 5")
    assert "min_relevance=1: map, p@2 say nothing about the ranking" in message
    assert "pass y_true - 1, or min_relevance above 1" in message
    evaluate([1, 2, 3], [1, 2, 3], qid=[0, 0, 0], metrics="map")  # no scale is known by one query
    y_score = FIVE["y_score"]
    for call, scores in ((evaluate, y_score), (compare_systems, {"a": y_score, "b": y_score[::-1]})):
        with pytest.warns(UserWarning, match="Every document is relevant") as caught:
            call(**FIVE | {"y_score": scores}, metrics="mrr")
        assert [warning.filename for warning in caught] == [__file__]


def test_a_scale_from_1_to_5_in_parts():
    """Seen when all parts are there."""
    parts = [([1, 5, 3], [1, 2, 3], [0, 0, 0]), ([1, 2], [4, 5], [1, 1])]
    zero = [*parts, ([0, 2], [4, 5], [2, 2])]
    for make, all_relevant in ((parts, True), (zero, False), ([*parts, ([np.nan, 2], [4, 5], [2, 2])], False)):
        of_parts = RankingAccumulator("map", unjudged="nonrelevant")
        for part in make[::-1]:
            of_parts = RankingAccumulator("map", unjudged="nonrelevant").update(*part).merge(of_parts)
        for call in (of_parts.compute, lambda make=make: evaluate_batches(make, metrics="map", unjudged="nonrelevant")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
            assert [warning.filename for warning in caught] == [__file__] * all_relevant


def test_a_scale_from_1_to_5_in_the_evaluator():
    """Once for all models and folds, before they are fitted."""
    X, y, qid = make_ranking(n_queries=10, random_state=0)
    evaluator, model = RankingEvaluator(["map", "ndcg"], cv=2), DummyRegressor()
    for call in (evaluator.cross_validate, lambda model, *data, **qid: evaluator.compare({"a": model}, *data, **qid)):
        call(model, X, y, qid=qid)
        with pytest.warns(UserWarning, match="labels go from 1 to 5.*: map say nothing") as caught:
            call(model, X, y + 1, qid=qid)
        assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.parametrize(
    "arguments",
    [
        {"y_true": [0, 5, 3, 1, 2]},
        {"y_true": [0, 4, 2, 0, 1]},
        {"min_relevance": 2},
        {"metrics": ["ndcg", "err(max_grade=5)", "q", "rbp(gain=exp2, max_grade=5)", "kendall"]},
        {"y_true": [1, 1, 1, 1, 1]},  # positives alone
        {"y_true": [2, 2, 2, 2, 2]},
        {"y_score": [1, 2, 3, 4, -np.inf]},  # recall of what was not retrieved
        {"y_true": [1, 5, np.nan, 1, 2], "unjudged": "nonrelevant", "metrics": "map"},
        {"metrics": "map(min_relevance=3)"},
    ],
    ids=repr,
)
def test_no_warning(arguments):
    assert told(**arguments) == []


def test_a_function_of_the_name_of_a_metric_is_another():
    def recall(y_true, y_score):
        return float(y_score[0] > y_score[1])

    assert told(metrics=[recall]) == []


def test_relevance_at_0_is_meant():
    assert told(min_relevance=0, y_true=[0, 5, 3, 1, 2], metrics="map") == []


def test_metrics_that_say_nothing_there(rng):
    """Those, and no others, do not change with the order; metrics of one class are undefined and so are counted."""
    y, qid = rng.integers(1, 6, 60), np.repeat(np.arange(6), 10)
    constant = set()
    for name, metric in REGISTRY.items():
        if metric.subtopics or name in ("auc", "ranking_loss", "judged", "rbp_residual", "cg", "acg", "rbp"):
            continue
        asked = parse_metric(name, **({"max_grade": 5} if "max_grade" in metric.defaults else {}))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [evaluate(y, rng.permutation(60), qid=qid, metrics=asked) for _ in range(4)]
        assert all(isinstance(result, Evaluation) for result in found)
        if len({round(next(iter(result.mean().values())), 12) for result in found}) == 1:
            constant.add(name)
    assert constant - {"set_f", "set_precision", "set_recall"} == OF_RELEVANCE
