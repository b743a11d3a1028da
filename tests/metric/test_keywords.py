"""Keywords without effect are rejected, and keywords with an effect are read."""

import copy

import numpy as np
import pandas as pd
import pytest
from registry import METRICS, cutoffs, each_metric, rough_data_for, tie_policy, together, value
from sklearn.linear_model import Ridge

from sklearn_rank import RankingAccumulator, RankingEvaluator, evaluate, get_scorer, make_ranking_scorer, parse_metric
from sklearn_rank._metric.conventions import CONVENTIONS, keywords_of
from sklearn_rank.metrics import (
    dcg_score,
    err_score,
    kendall_score,
    map_score,
    ndcg_score,
    nerr_score,
    pfound_score,
    precision_at_k_score,
    q_score,
    query_mse_error,
    rbp_score,
)

Y, S, Q = [2, 0, 1, 0], [4.0, 3.0, 2.0, 1.0], ["a", "a", "b", "b"]

WITHOUT_EFFECT = [
    ("dcg", {"base": 10}, "base", "discount='jarvelin'"),
    ("ndcg", {"base": 10, "discount": "reciprocal"}, "base", "discount='jarvelin'"),
    ("err", {"base": 3, "discount": [1, 0.5, 0.1, 0]}, "base", "discount='jarvelin'"),
    ("alpha_ndcg", {"base": 3}, "base", "discount='jarvelin'"),
    ("rbp", {"max_grade": 2}, "max_grade", "a graded gain"),
    ("rbp", {"max_grade": 2, "gain": "binary"}, "max_grade", "a graded gain"),
    ("err", {"max_grade": 2, "convention": "catboost"}, "max_grade", "stop='exp2'"),
    ("pfound", {"max_grade": 2, "stop": "label"}, "max_grade", "stop='exp2'"),
]


@pytest.mark.parametrize(("name", "keywords", "keyword", "why"), WITHOUT_EFFECT)
def test_a_keyword_without_effect_is_rejected(name, keywords, keyword, why):
    metric = parse_metric(name).metric
    message = rf"The '{keyword}' parameter of {metric.function_name} is read with {why}.* only\. Got {keyword}="
    words = {n: v for n, v in keywords.items() if not isinstance(v, list)}
    in_name = f"{name}({', '.join(f'{n}={v}' for n, v in words.items())})"
    for call in (
        lambda: metric(np.minimum(Y, 1), S, qid=Q, **keywords),
        lambda: parse_metric(name, **keywords),
        lambda: make_ranking_scorer(name, **keywords),
        lambda: evaluate(np.minimum(Y, 1), S, qid=Q, metrics=[name, "map"], **keywords),
        lambda: make_ranking_scorer([name, "map"], **keywords),
        lambda: parse_metric(in_name),
        lambda: get_scorer(f"{in_name}@5"),
        lambda: RankingEvaluator([in_name, "map"]).compare({}, None, None),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_keyword_applies_to_the_metrics_that_read_it():
    result = evaluate(Y, S, qid=Q, metrics=["rbp", "err", "ndcg@2", "dcg(discount=jarvelin)"], max_grade=2, base=10)
    assert result.mean()["rbp"] == rbp_score(Y, S, qid=Q)
    assert result.mean()["err"] == err_score(Y, S, qid=Q, max_grade=2) != err_score(Y, S, qid=Q)
    assert result.mean()["dcg(discount=jarvelin)"] == dcg_score(Y, S, qid=Q, discount="jarvelin", base=10)
    named = evaluate(Y, S, qid=Q, metrics="dcg(base=10)", discount="jarvelin").mean()["dcg(base=10)"]
    assert named == result.mean()["dcg(discount=jarvelin)"]


def test_a_default_may_be_passed_with_other_keywords():
    assert dcg_score(Y, S, qid=Q, gain="exp2", discount="log2", base=2) == dcg_score(Y, S, qid=Q)
    assert rbp_score(Y, S, qid=Q, p=0.8, gain="binary", max_grade=4) == rbp_score(Y, S, qid=Q)
    assert pfound_score([1, 0], S[:2], qid=Q[:2], stop="label", max_grade=4) == 1


@pytest.mark.parametrize("table", [np.array([0.0, 1, 3]), [0.0, 1, 3], {0: 0.0, 1: 1.0, 2: 3.0}], ids=type)
def test_later_changes_of_tables_have_no_effect(table):
    """For objects that outlive a call."""
    table = copy.copy(table)
    y = pd.Series([0, 2], index=pd.Index(["a", "a"], name="qid"))
    X, model = [[1.0], [2.0]], Ridge().fit([[0.0], [1.0]], [0, 1])
    expected = dcg_score(y, model.predict(X), gain=table)
    spec, accumulator = parse_metric("dcg", gain=table), RankingAccumulator("dcg", gain=table)
    scorers = [
        make_ranking_scorer("dcg", gain=table),
        make_ranking_scorer(spec),
        make_ranking_scorer(["dcg"], gain=table),
    ]
    evaluator = RankingEvaluator("dcg", gain=table)
    table[2] = 9.0
    accumulator.update(y, model.predict(X))
    found = [evaluate(y, model.predict(X), metrics={"dcg": spec}).mean()["dcg"], accumulator.compute().mean()["dcg"]]
    found += [scorers[0](model, X, y), scorers[1](model, X, y), scorers[2](model, X, y)["dcg"]]
    assert [*found, evaluator.scorers(model, X, y)["dcg"]] == [expected] * 6


DEFAULTS = {
    "base": dict.fromkeys("dcg ndcg snips err nerr alpha_dcg alpha_ndcg err_ia".split(), 2),
    "max_grade": {"err": 4, "nerr": 4, "pfound": 4, "rbp": 4, "err_ia": 1},
    "alpha": {"alpha_dcg": 0.5, "alpha_ndcg": 0.5, "nrbp": 0.5},
    "p": {"rbp": 0.8, "rbp_residual": 0.8, "rbo": 0.9, "nrbp": 0.5},
    "beta": {"f": 1, "q": 1, "set_f": 1},
    "decay": {"pfound": 0.85},
    "recall": {"iprec": 0.5},
    "threshold": {"set_precision": 0, "set_recall": 0, "set_f": 0},
    "max_fpr": {"auc": None},
    "min_relevance": {"map": 1},
    "replace_undefined_by": {"map": 0},
    "adjusted": {"map": False},
    "unjudged": {"map": None},
}


def test_default_numbers_of_metrics():
    found = {
        keyword: {m.name: m.defaults[keyword] for m in METRICS if keyword in m.formula_params or m.name in table}
        for keyword, table in DEFAULTS.items()
    }
    assert found == DEFAULTS


BOUNDS = [
    ("alpha_ndcg", "alpha", [0, 0.5, 1], [-0.01, 1.01, "x", np.nan]),
    ("ndcg(discount=jarvelin)", "base", [1.01, 2, 1e9], [1, 0.5, np.inf, None]),
    ("err", "max_grade", [0.5, 4, 1000], [0, -1, 1000.5, "x"]),
    ("rbp", "p", [0.001, 0.999], [0, 1, -1]),
    ("rbo", "p", [0.001, 0.999], [0, 1, 2]),
    ("nrbp", "p", [0.001, 0.999], [0, 1, True]),
    ("f", "beta", [0.01, 2], [0, -1]),
    ("set_f", "beta", [0.01, 2], [0, -1]),
    ("q", "beta", [0, 2], [-0.01]),
    ("pfound", "decay", [0.01, 1], [0, 1.01]),
    ("iprec", "recall", [0, 0.3, 1, "11pt"], [-0.01, 1.01, "12pt", None]),
    ("auc", "max_fpr", [0.01, 1, None], [0, 1.01, "x"]),
    ("set_recall", "threshold", [-np.inf, 0, -3.5], [np.inf, np.nan, "0", None]),
    ("map", "min_relevance", [-2, 0, 0.5], [np.inf, "1", None, True]),
    ("map", "replace_undefined_by", [0, -1, np.nan, np.float32("nan")], [np.inf, "x", None, True]),
    ("map", "ties", ["average", "stable", "worst", "best"], ["random", None, 1]),
    ("map_ia", "ties", ["average", "stable"], ["worst", "best", None, 1]),
    ("map_ia", "unjudged", [None, "drop", "nonrelevant"], ["keep", True]),
    ("map", "unjudged", [None, "drop", "nonrelevant"], ["keep", True]),
    ("map", "negative", ["keep", "unjudged"], [None, "drop"]),
    ("map", "average", ["macro", "geometric", None], ["mean", True]),
    ("map", "adjusted", [True, False, 0, np.True_], [2, None, "yes"]),
    ("dcg", "discount", ["flat", [1], (1, 2), np.array([0.5, 2]), np.sqrt], ["cube", [], [np.nan], np.ones((1, 2))]),
    ("dcg", "gain", ["exp2", [1], (1, 2), np.array([0.5, 2]), np.sqrt, {0: 1}], ["cube", [], [np.nan], [True], None]),
    ("dcg", "no_relevant", ["zero", "undefined"], ["one", None]),
    ("err", "stop", ["exp2", "label"], ["linear", len]),
    ("ndcg", "k", [None, 1, [1, 2], (3,), range(1, 3), np.array([1, 2]), np.int8(3)],
     [0, -1, 1.5, True, [], [0], [1, 1.5], [1, True], np.array([[1]]), np.array([1.5]), "5", {1}]),
]  # fmt: skip


@together("name, keyword, good, bad", BOUNDS)
def test_accepted_values_of_keywords(name, keyword, good, bad):
    for one in good:
        parse_metric(name, **{keyword: one})
    for one in bad:
        with pytest.raises(ValueError, match=f"The '{keyword}' parameter of .* must be "):
            parse_metric(name, **{keyword: one})


@pytest.mark.parametrize("k", [2**62 - 1, 2**62, 2**62 + 1, 2**63, 2**80])
def test_a_cutoff_beyond_any_list_is_accepted(k):
    for one in (k, [k]):
        assert 0 < precision_at_k_score([1, 0], [2, 1], qid=[0, 0], k=one) < 1e-18


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: parse_metric("map", average="micro"), "map_score has no micro average, because it cannot be pooled"),
        (lambda: parse_metric("kendall", average="geometric"), "has no geometric mean: its values can be negative"),
        (lambda: parse_metric("auc", k=3), "query_auc_score has no cutoff: it is computed on the whole list. Got k=3"),
        (
            lambda: err_score([1.5, 0], [2, 1], qid=[0, 0], stop="label"),
            "not be above the probability 1 with stop='label'",
        ),
        (lambda: err_score([5, 0], [2, 1], qid=[0, 0]), "must not be above max_grade=4. Got 5, the first in row 0"),
        (lambda: nerr_score([-1, 0], [2, 1], qid=[0, 0]), r"nerr_score must not be below 0. Got -1, .* judgment\.$"),
        (
            lambda: ndcg_score([-1, 0], [2, 1], qid=[0, 0]),
            "ndcg_score must not be below 0. .* says what each label gains",
        ),
        (lambda: dcg_score([1001, 0], [2, 1], qid=[0, 0]), "computes 2..label, so y_true must not be above 1000"),
        (
            lambda: rbp_score([1, 0], [2, 1], qid=[0, 0], gain=[0, 1]),
            "must have an entry for max_grade. Got max_grade=4",
        ),
        (lambda: dcg_score([np.nan, 1], [2, 1], qid=[0, 0]), "must not contain NaN"),
        (lambda: dcg_score([[1, 0], [0, 1]], [2, 1], qid=[0, 0]), "takes one label per document"),
        (lambda: query_mse_error([1, 0], [2, -np.inf], qid=[0, 0]), "every y_score must be finite. Got -inf in row 1"),
        (lambda: map_score([1, 0], [1, 2], qid=[0, 0], tie_break=[1, 2]), "tie_break is read with ties='stable' only"),
        (
            lambda: map_score([np.nan, 0], [1, 2], qid=[0, 0], min_relevance=0, unjudged="nonrelevant"),
            "must be above 0",
        ),
    ],
)
def test_keyword_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_a_function_checks_the_labels_it_reads():
    def gain(label):
        return np.where((label == 0) | (label == 3), label, np.nan)

    assert dcg_score([0, 3, 0], [3, 2, 1], qid=[0] * 3, gain=gain, discount="flat") == 3
    assert dcg_score([0, 3, 0], [2, 2, 1], qid=[0] * 3, gain=gain, discount="flat", k=1) == 3 / 2


@pytest.mark.filterwarnings("ignore:A label has the gain")
def test_gains_and_bounds_without_a_scale_are_accepted():
    assert rbp_score([9, 0], [2, 1], qid=[0, 0]) == pytest.approx(0.2)  # a binary gain has no scale
    assert rbp_score([0, 4, 2], [1, 2, 3], qid=[0] * 3, gain="exp2") == pytest.approx(0.2 * (3 / 15 + 0.8 * 15 / 15))
    assert dcg_score([-3, 1], [2, 1], qid=[0, 0], gain=lambda label: label, discount="flat") == -2
    assert dcg_score([1000, 0], [2, 1], qid=[0, 0], discount="flat") == 2.0**1000 - 1
    assert kendall_score([1, 0], [2, 1], qid=[0, 0], tie_break=[1, 2]) == 1
    assert map_score([1, 0], [1, 1], qid=[0, 0], tie_break=[1, 2], ties="stable") == 1 / 2
    assert dcg_score([2, 0], [2, 1], qid=[0, 0], gain={2: 4, 0: 0, 1: 1}, discount="flat") == 4
    narrow = q_score([1, 1, 0], [3, 1, 2], qid=[0] * 3, gain=np.array([0, 200], dtype=np.uint8))
    assert narrow == q_score([1, 1, 0], [3, 1, 2], qid=[0] * 3, gain=[0, 200]) == (1 + 402 / 403) / 2
    assert dcg_score([np.nan, 1], [2, 1], qid=[0, 0], unjudged="drop", gain=[5, 7], discount="flat") == 7
    assert dcg_score([np.nan, 1], [2, 1], qid=[0, 0], unjudged="nonrelevant", gain=[5, 7], discount="flat") == 12


@pytest.mark.filterwarnings("ignore:.*every score is")
@each_metric
def test_conventions_are_their_keywords_on_tied_documents(metric):
    for convention in CONVENTIONS:
        assert_it_is_its_keywords(metric, convention)


def assert_it_is_its_keywords(metric, convention):
    """Keywords that the metric has; for subtopics only the tie policies that they support."""
    table = keywords_of(convention, metric.name)
    keywords = {name: value for name, value in table.items() if metric._takes(name, value)}
    assert keywords.keys() >= table.keys() & metric.formula_params.keys()
    policy = tie_policy(metric) if keywords.get("ties", "average") == "average" else {}
    data = rough_data_for(metric, unjudged="unjudged" in keywords)
    if keywords.get("stop") == "label":
        data = data._replace(y_true=data.y_true / 4)
    given = {**cutoffs(metric, 1, 3, 9), **policy}
    found, expected = (value(metric, data, **given, **k) for k in ({"convention": convention}, keywords))
    np.testing.assert_array_equal(found, expected, err_msg=convention)
