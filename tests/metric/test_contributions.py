"""The share of each document in metrics that are sums over documents, and expected ranks of documents."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_rank import evaluate, parse_metric
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.read import queries_of
from sklearn_rank._metric.contributions import contributions, expected_ranks
from sklearn_rank._metric.decorator import _define_again

NO = -np.inf


def added(metric, label, score, **keywords):
    """The contribution of each row; None if the metric is not a sum."""
    spec, qid = parse_metric(metric, **keywords), [0] * len(label)
    value = evaluate(label, score, qid=qid, metrics={"one": spec}).per_query["one"].item()
    found, is_sum = contributions(query(label, score), spec, np.array([value]))
    return found if is_sum.item() else None


def query(label, score):
    label, score = np.array(label, dtype=float), np.array(score, dtype=float)
    return queries_of(label, score, Grouping.by_sizes([len(label)]))


@pytest.mark.parametrize(
    ("metric", "label", "score", "expected"),
    [
        ("cg", [2, 0, 1, 3], [4, 3, 2, 1], [2, 0, 1, 3]),
        ("cg@3", [2, 0, 1, 3], [4, 3, 2, 1], [2, 0, 1, 0]),
        ("cg@3", [2, 0, 1, 3], [1, 2, 3, 4], [0, 0, 1, 3]),
        ("cg@1", [2, 0, 1, 3], [2, 2, 1, 1], [2 / 2, 0, 0, 0]),
        ("cg@3", [2, 0, 1, 3], [2, 2, 1, 1], [2, 0, 1 / 2, 3 / 2]),
        ("acg@3", [2, 0, 1, 3], [4, 3, 2, 1], [2 / 3, 0, 1 / 3, 0]),
        ("dcg(gain=linear, discount=reciprocal)", [2, 0, 1, 3], [4, 3, 2, 1], [2, 0, 1 / 3, 3 / 4]),
        ("dcg(gain=linear, discount=reciprocal)", [2, 0, 1, 3], [2, 2, 1, 1], [2 * 3 / 4, 0, 7 / 24, 3 * 7 / 24]),
        ("dcg(ties=stable, gain=linear, discount=reciprocal)", [2, 0, 1, 3], [2, 2, 1, 1], [2, 0, 1 / 3, 3 / 4]),
        ("rbp(p=0.5)", [1, 0, 1], [3, 2, 1], [1 / 2, 0, 1 / 8]),
        ("precision@2", [1, 1, 0], [3, 2, 1], [1 / 2, 1 / 2, 0]),
        ("precision@2", [0, 0, 0], [3, 2, 1], [0, 0, 0]),
        ("recall", [1, 1, 0], [3, NO, 1], [1 / 2, 0, 0]),
        ("recall", [1, 0], [2, 1], [1, 0]),
        ("rprec", [1, 1, 0], [3, 1, 2], [1 / 2, 0, 0]),
        ("ndcg", [0, 0], [2, 1], [0, 0]),
        ("ndcg@1", [1, 0], [2, 1], [1, 0]),
        ("ndcg", [1, 0], [1, 2], [1 / np.log2(3), 0]),
        ("ndcg(unjudged=drop)", [np.nan, 1, 0, np.nan, 1], [5, 1, 2, 4, 3], None),
        ("cg(unjudged=drop)@2", [np.nan, 1, 0, np.nan, 1], [5, 1, 2, 4, 3], [0, 0, 0, 0, 1]),
        ("snips", [0.5, 1, 0.5], [3, 2, NO], [1 / 4, 1 / 2, 0]),
        ("mae", [1, 2], [1.5, 1], [0.25, 0.5]),
        ("cg", [0.1, 0.2, -0.3], [2, 1, 3], [0.1, 0.2, -0.3]),
        ("cg", [-1, -2], [2, 1], [-1, -2]),
    ],
)
def test_contributions_by_hand(metric, label, score, expected):
    found = added(metric, label, score)
    if expected is None:
        ideal = 1 + 1 / np.log2(3)
        expected = np.array([0, 1 / 2, 0, 0, 1]) / ideal
    assert_allclose(found, expected, rtol=1e-13, atol=0)


@pytest.mark.parametrize("score", [[4, 3, 2, 1], [1, 1, 1, 1], [2, 2, 1, 1], [3, 2, 2, NO]])
@pytest.mark.parametrize(
    "formula",
    [
        lambda r: r.cumsum(r.label, over_rank=True),
        lambda r: r.cumsum(weight=1 / r.rank),
        lambda r: r.cumsum(r.label, by_rank=lambda rank: [1.0 / i for i in rank]) + np.zeros(r.shape),
        lambda r: (r.cumsum(r.label, weight=1 / r.rank), r.total(lambda label: label)),
        lambda r: (r.cumsum(r.label), r.ideal.cumsum(r.ideal.label)),
        lambda r: (r.cumsum(by_label=np.sqrt), 1),
        lambda r: (r.cumsum(r.label), 2.0),
    ],
)
def test_contributions_of_own_formulas(formula, score):
    _define_again("own_sum", formula, {}, {})
    label = [3, 0, 1, 2]
    value = evaluate(label, score, qid=[0] * 4, metrics="own_sum").mean()["own_sum"]
    found = added("own_sum", label, score)
    assert found.sum() == pytest.approx(value, rel=1e-13)
    assert (found[np.array(score) == NO] == 0).all()


@pytest.mark.parametrize(
    "metric",
    [
        "map", "mrr", "hit", "err", "auc", "opa", "kendall", "spearman", "coverage_error", "q", "bpref", "rbo", "pwa",
        "judged", "iprec", "infap", "rmse", "alpha_dcg", "err_ia", "map(precision_at=threshold)", "rbp_residual",
    ],
)  # fmt: skip
def test_metrics_that_are_not_sums(metric):
    assert added(metric, [1, 0, 1], [3, 2, 1]) is None


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: (r.refuse_ties("x"), r.cumsum(r.label) ** 2)[1],
        lambda r: (r.refuse_ties("x"), np.sqrt(r.cumsum(r.label)))[1],
        lambda r: r.cumsum(r.label) + 1,
        lambda r: r.cumsum(r.most_novel(0.5).label),
        lambda r: np.array([[y.sum()] for y, s in r.queries()]),
    ],
)
def test_contributions_reject_unsupported_formulas(formula):
    _define_again("no_sum", formula, {}, {})
    assert added("no_sum", [1, 3], [2, 1]) is None


def test_the_root_of_an_error_is_not_a_sum():
    """Although its square is a sum."""
    assert added("rmse", [1], [0]) is None
    assert added("mse", [1], [0]) == [1]
    assert added(lambda y, s: y.sum(), [1], [0]) is None


@pytest.mark.parametrize(
    ("metric", "label", "score", "ranks"),
    [
        ("ndcg", [0, 1, 2], [1, 2, 3], [3, 2, 1]),
        ("ndcg@1", [0, 1, 2], [1, 2, 2], [3, 1.5, 1.5]),
        ("ndcg(ties=worst)@1", [0, 1, 2], [1, 2, 2], [3, 1, 2]),
        ("auc", [0, 1, 1], [1, NO, 3], [2, np.nan, 1]),
        ("mse", [0, 1, 1], [1, 5, 3], [3, 1, 2]),
        ("ndcg(unjudged=drop)", [np.nan, 1, 0], [3, 2, 1], [1, 2, 3]),
        ("ndcg(unjudged=nonrelevant)", [np.nan, 1, 0], [2, 2, 1], [1.5, 1.5, 3]),
    ],
)
def test_expected_ranks_of_documents(metric, label, score, ranks):
    assert_allclose(expected_ranks(query(label, score), parse_metric(metric)), ranks)
