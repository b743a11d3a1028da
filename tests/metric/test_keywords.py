"""Keywords that the others leave without any effect are refused, and those that have one are read."""

import copy

import numpy as np
import pandas as pd
import pytest
from registry import cutoffs, each_metric, rough_data_for, tie_policy, value
from sklearn.linear_model import Ridge

from sklearn_rank import (
    RankingAccumulator,
    RankingEvaluator,
    evaluate,
    get_scorer,
    get_scorers,
    make_ranking_scorer,
    parse_metric,
)
from sklearn_rank._metric.conventions import CONVENTIONS, keywords_of
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank.metrics import dcg_score, err_score, pfound_score, rbp_score

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
def test_a_keyword_without_effect_is_refused(name, keywords, keyword, why):
    metric = parse_metric(name).metric
    message = rf"The '{keyword}' parameter of {metric.function_name} is read with {why}.* only\. Got {keyword}="
    words = {n: v for n, v in keywords.items() if not isinstance(v, list)}
    in_name = f"{name}({', '.join(f'{n}={v}' for n, v in words.items())})"
    for call in (
        lambda: metric(np.minimum(Y, 1), S, qid=Q, **keywords),
        lambda: parse_metric(name, **keywords),
        lambda: make_ranking_scorer(name, **keywords),
        lambda: evaluate(np.minimum(Y, 1), S, qid=Q, metrics=[name, "map"], **keywords),
        lambda: get_scorers([name, "map"], **keywords),
        lambda: parse_metric(in_name),
        lambda: get_scorer(f"{in_name}@5"),
        lambda: RankingEvaluator([in_name, "map"]).compare({}, None, None),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_a_keyword_that_one_of_several_metrics_reads_is_for_that_one():
    result = evaluate(Y, S, qid=Q, metrics=["rbp", "err", "ndcg@2", "dcg(discount=jarvelin)"], max_grade=2, base=10)
    assert result.mean()["rbp"] == rbp_score(Y, S, qid=Q)
    assert result.mean()["err"] == err_score(Y, S, qid=Q, max_grade=2) != err_score(Y, S, qid=Q)
    assert result.mean()["dcg(discount=jarvelin)"] == dcg_score(Y, S, qid=Q, discount="jarvelin", base=10)
    named = evaluate(Y, S, qid=Q, metrics="dcg(base=10)", discount="jarvelin").mean()["dcg(base=10)"]
    assert named == result.mean()["dcg(discount=jarvelin)"]


def test_a_default_may_be_given_with_the_rest():
    assert dcg_score(Y, S, qid=Q, gain="exp2", discount="log2", base=2) == dcg_score(Y, S, qid=Q)
    assert rbp_score(Y, S, qid=Q, p=0.8, gain="binary", max_grade=4) == rbp_score(Y, S, qid=Q)
    assert pfound_score([1, 0], S[:2], qid=Q[:2], stop="label", max_grade=4) == 1


@pytest.mark.parametrize("table", [np.array([0.0, 1, 3]), [0.0, 1, 3], {0: 0.0, 1: 1.0, 2: 3.0}], ids=type)
def test_tables_that_change_afterwards_change_nothing(table):
    """Those of what lasts beyond a call."""
    table = copy.copy(table)
    y = pd.Series([0, 2], index=pd.Index(["a", "a"], name="qid"))
    X, model = [[1.0], [2.0]], Ridge().fit([[0.0], [1.0]], [0, 1])
    expected = dcg_score(y, model.predict(X), gain=table)
    spec, accumulator = parse_metric("dcg", gain=table), RankingAccumulator("dcg", gain=table)
    scorers = [make_ranking_scorer("dcg", gain=table), make_ranking_scorer(spec), get_scorers(["dcg"], gain=table)]
    evaluator = RankingEvaluator("dcg", gain=table)
    table[2] = 9.0
    accumulator.update(y, model.predict(X))
    found = [evaluate(y, model.predict(X), metrics={"dcg": spec}).mean()["dcg"], accumulator.compute().mean()["dcg"]]
    found += [scorers[0](model, X, y), scorers[1](model, X, y), scorers[2](model, X, y)["dcg"]]
    assert [*found, evaluator.scorers(model, X, y)["dcg"]] == [expected] * 6


def test_cutoffs_of_a_table_are_points_of_one_curve():
    """One sort and one sum for both."""
    at_1, at_2 = parse_metrics(["dcg@1", "dcg@2"], gain=[0.0, 1, 3]).values()
    assert at_1.curve_key == at_2.curve_key


@each_metric
def test_conventions_are_their_keywords_on_tied_documents(metric):
    for convention in CONVENTIONS:
        assert_it_is_its_keywords(metric, convention)


def assert_it_is_its_keywords(metric, convention):
    """Those that the metric has; of subtopics only the orders of tied documents that they have."""
    table = keywords_of(convention, metric.name)
    keywords = {name: value for name, value in table.items() if metric.takes(name, value)}
    if metric.reads_unjudged:  # no convention blinds these
        keywords.pop("unjudged", None)
    assert keywords.keys() >= table.keys() & metric.formula_params.keys()
    policy = tie_policy(metric) if keywords.get("ties", "average") == "average" else {}
    data = rough_data_for(metric, unjudged="unjudged" in keywords and not metric.reads_unjudged)
    if keywords.get("stop") == "label":
        data = data._replace(y_true=data.y_true / 4)
    given = {**cutoffs(metric, 1, 3, 9), **policy}
    found, expected = (value(metric, data, **given, **k) for k in ({"convention": convention}, keywords))
    np.testing.assert_array_equal(found, expected, err_msg=convention)
