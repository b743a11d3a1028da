"""Grades that do not start at 0: negative grades with a table of gains, and scales with only relevant grades."""

import re
import warnings
from itertools import permutations

import numpy as np
import pytest
from sklearn.dummy import DummyRegressor

from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    parse_metric,
)
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.datasets import make_ranking
from sklearn_rank.exceptions import RankingWarning
from sklearn_rank.metrics import dcg_score, ndcg_score, set_f_score, set_precision_score, set_recall_score

SPAM = {-1: 0, 0: 0, 1: 1, 2: 3}
LABELS = [2, 1, 0, -1, -1]


def test_a_table_maps_negative_labels_to_gains():
    """The order -1, -1, 0, 1, 2: (1 / log2(5) + 3 / log2(6)) / (3 / log2(2) + 1 / log2(3))."""
    expected = (1 / np.log2(5) + 3 / np.log2(6)) / (3 + 1 / np.log2(3))
    assert ndcg_score(LABELS, [1, 2, 3, 5, 4], qid=[0] * 5, gain=SPAM) == pytest.approx(expected, abs=1e-15)
    for gain in (SPAM, lambda label: np.maximum(2.0**label - 1, 0)):
        assert ndcg_score(LABELS, [5, 4, 3, 2, 1], qid=[0] * 5, gain=gain) == 1
        assert ndcg_score([-1, -1], [5, 4], qid=[0] * 2, gain=gain) == 0, "an ideal of zero is undefined"


@pytest.mark.parametrize("k", [None, 1, 3])
@pytest.mark.parametrize("gain", [SPAM, {-1: 0.5, 0: 1, 1: 1, 2: 4}])
def test_negative_labels_in_every_order(gain, k):
    """The ideal is the best of all orders, and the value of ties is the mean over their orders."""
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


# --- only relevant documents ----------------------------------------------------------------------------------

RNG = np.random.default_rng(0)
FIVE = {"y_true": RNG.integers(1, 6, 100), "y_score": RNG.random(100), "qid": np.repeat(np.arange(20), 5)}
"""Twenty lists, the least that shows a scale."""


def told(**arguments):
    """Warnings of a call."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        evaluate(**(FIVE | {"metrics": ["map", "ndcg", "p@2"]} | arguments))
    return [str(warning.message) for warning in caught]


def test_a_scale_from_1_to_5():
    (message,) = told()
    assert message.startswith("map, p@2 cannot tell good rankings from bad ones here: every document is relevant")
    assert "(labels from 1 to 5, min_relevance=1)" in message
    assert "pass y_true - 1, or a higher min_relevance" in message
    assert told(**{name: values[:95] for name, values in FIVE.items()}) == [], "nineteen lists are chance"
    assert told(y_true=np.where(np.arange(100) < 13, 1, 2 + FIVE["y_true"] % 4)) == [message], "a rare 1 is no 0"
    y_score = FIVE["y_score"]
    for call, scores in ((evaluate, y_score), (compare_systems, {"a": y_score, "b": -y_score})):
        with pytest.warns(RankingWarning, match="every document is relevant") as caught:
            call(**FIVE | {"y_score": scores}, metrics="mrr")
        assert [warning.filename for warning in caught] == [__file__]


def test_a_scale_from_1_to_5_in_batches():
    """The check runs after the last batch."""
    columns = [FIVE[name].astype(float) for name in ("y_true", "y_score", "qid")]
    parts = [tuple(column[i : i + 20] for column in columns) for i in range(0, 100, 20)]
    zero = [*parts, ([0, 2], [4, 5], [50.0, 50.0])]
    for make, all_relevant in ((parts, True), (zero, False)):
        of_parts = RankingAccumulator("map", unjudged="nonrelevant")
        for part in make[::-1]:
            of_parts = RankingAccumulator("map", unjudged="nonrelevant").update(*part).merge(of_parts)
        for call in (of_parts.compute, lambda make=make: evaluate_table(make, metrics="map", unjudged="nonrelevant")):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                call()
            assert [warning.filename for warning in caught] == [__file__] * all_relevant


def test_a_scale_from_1_to_5_in_the_evaluator():
    """It warns once for all models and folds, before any fit; if no metric can move, it is an error."""
    X, y, qid = make_ranking(n_queries=20, random_state=0)
    model = DummyRegressor()
    for metrics in (["ndcg", "map"], ["map", "ndcg"], ["map"]):
        evaluator = RankingEvaluator(metrics, cv=2)
        for call, models in ((evaluator.cross_validate, model), (evaluator.compare, {"a": model})):
            call(models, X, y, qid=qid)
            if "ndcg" in metrics:
                with pytest.warns(RankingWarning, match="^map cannot tell .*labels from 1 to 5") as caught:
                    call(models, X, y + 1, qid=qid)
                assert [warning.filename for warning in caught] == [__file__]
            else:
                with pytest.raises(ValueError, match="^map cannot tell .*pass on_misuse='warn' or on_misuse='ignore'"):
                    call(models, X, y + 1, qid=qid)


@pytest.mark.parametrize(
    "arguments",
    [
        {"y_true": FIVE["y_true"] * (np.arange(100) > 0)},
        {"y_true": FIVE["y_true"] - 1},
        {"min_relevance": 2},
        {"metrics": ["ndcg", "err(max_grade=5)", "q", "rbp(gain=exp2, max_grade=5)", "kendall"]},
        {"metrics": "map(min_relevance=3)"},
    ],
    ids=range(5),
)
def test_no_warning_of_grades(arguments):
    assert told(**arguments) == []


def test_a_function_named_like_a_metric():
    def recall(y_true, y_score):
        return float(y_score[0] > y_score[1])

    assert told(metrics=[recall]) == []


@pytest.mark.parametrize(
    ("y_true", "arguments", "message"),
    [
        (
            np.ones(100),
            {},
            "map, ndcg, p@2 cannot .*: every label is 1. Add rows of other documents, or rank all items",
        ),
        (np.repeat(np.arange(20) % 3, 5), {}, "ndcg, p@2 .*: the documents of each query have one label"),
        (FIVE["y_true"] - 1, {"min_relevance": 0}, r"every document is relevant \(labels from 0 to 4, min_relevance=0"),
    ],
    ids=["positives alone", "one label a query", "relevance at 0"],
)
def test_other_labels_for_which_order_has_no_effect(y_true, arguments, message):
    (found,) = told(y_true=y_true, **arguments)
    assert re.search(message, found)


def test_no_relevant_document_is_chance_in_few_queries():
    rows = {name: np.tile(values, 15) for name, values in FIVE.items()}
    rows["qid"] = np.repeat(np.arange(300), 5)
    assert "no document is relevant" in told(min_relevance=6)[0]
    for given in (rows, rows | {"y_true": rows["y_true"] * 0}):
        (message,) = told(**given, min_relevance=6, metrics="map")
        assert "no document is relevant" in message.lower()
    assert told(y_true=np.zeros(100)) == []
    assert "Pass a lower min_relevance" in told(y_true=np.minimum(np.arange(100) // 15, 2), min_relevance=3)[0]


def test_metrics_that_are_constant_for_relevant_documents(rng):
    """Exactly the listed metrics ignore the order there; the remaining constant metrics ignore it for any labels."""
    same_for_any = {"acg", "cg", "fallout", "judged", "rbp_residual", "snips"}
    constant, warned = set(), set()
    for name, metric in REGISTRY.items():
        if metric.subtopics or metric.pointwise or metric.reads_scores:
            continue
        asked = {
            name: parse_metric(name, **({"max_grade": 5} if "max_grade" in metric.defaults and name != "rbp" else {}))
        }
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [evaluate(**FIVE | {"y_score": rng.permutation(100)}, metrics=asked).mean()[name] for _ in range(4)]
        if len({round(value, 12) for value in found}) == 1:
            constant.add(name)
        warned |= {name} if told(metrics=asked) else set()
    assert warned == constant - same_for_any
    assert {"map", "mrr", "precision", "recall", "hit", "f", "bpref", "rprec"} <= warned


@pytest.mark.parametrize("name", ["set_precision", "set_recall", "set_f"])
@pytest.mark.parametrize(("threshold", "words"), [(-1, "above threshold=-1"), (2, "at most threshold=2")])
def test_thresholds_outside_of_the_scores(name, threshold, words):
    rng = np.random.default_rng(0)
    label, score, qid = rng.integers(0, 2, 300), rng.random(300), np.repeat(np.arange(30), 10)
    function = {"set_precision": set_precision_score, "set_recall": set_recall_score, "set_f": set_f_score}[name]
    metric = f"{name}(threshold={threshold})"
    for call in (
        lambda: evaluate(label, score, qid=qid, metrics=metric),
        lambda: function(label, score, qid=qid, threshold=threshold),
        lambda: RankingAccumulator(metric).update(label, score, qid).compute(),
        lambda: evaluate_table({"label": label, "score": score, "qid": qid}, metrics=metric),
    ):
        with pytest.warns(RankingWarning, match=f"cannot tell good rankings.*every score is {words}"):
            call()
    # Thresholds among the scores, few queries, and the lists of a run, which are sets.
    evaluate(label, score - 0.5, qid=qid, metrics=name)
    evaluate(label[:150], score[:150], qid=qid[:150], metrics=metric)
    judged = {q: {f"d{i}": int(label[10 * q + i]) for i in range(10)} for q in range(30)}
    evaluate_run(judged, {q: {f"d{i}": 10.0 - i for i in range(8)} for q in range(30)}, metrics=name)
