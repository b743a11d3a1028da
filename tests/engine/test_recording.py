"""Recorded calls of a formula give its bits; a formula that cannot be recorded leaves no recorded calls."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import together

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank._engine import plan as plans
from sklearn_rank._metric.decorator import _define_again
from sklearn_rank._utils import blocks


def rows(decimals):
    """Grades, scores with ties, and ids of lists of many lengths."""
    rng, lengths = np.random.default_rng(0), [5, 1, 40, 3, 900, 2, 17, 60, 8, 1, 7, 130, 30, 6, 2, 300]
    n = sum(lengths)
    return rng.integers(0, 5, n) * 1.0, rng.normal(size=n).round(decimals), np.repeat(np.arange(len(lengths)), lengths)


def ours(formula, **facts):
    """A metric that is recorded if its formula allows, like the built-in ones."""
    formula.__module__ = "sklearn_rank.metrics.own"
    return _define_again("own", formula, {}, {"bounds": (-np.inf, np.inf), **facts}).function


FORMULAS = [
    lambda r: r.cumsum(r.relevant * 2 - 1, weight=1 / r.rank),
    lambda r: r.cumsum((r.label > 1) * 1.0, over_rank=True),
    lambda r: r.cumsum(r.label > 1),
    lambda r: r.cumsum(np.minimum(r.label, 2) + r.label),
    lambda r: r.ideal.cumsum(r.ideal.relevant, by_rank=np.sqrt),
    lambda r: r.ideal.ideal.cumsum(r.ideal.label),
    lambda r: r.cumsum(weight=r.relevant),
    lambda r: r.cumsum(2.0, by_label=np.sqrt, weight=r.relevant, by_rank=np.log1p, over_rank=True),
    lambda r: r.cumsum(weight=r.cascade(r.relevant / 3) * r.rank),
    lambda r: r.cumsum(weight=r.cascade(r.joint(0.001, r.label) / r.rank)),
    lambda r: r.cumsum(weight=r.joint(r.relevant, r.joint(r.relevant, r.label))),
    lambda r: r.cumsum(weight=r.label / r.ideal_sum(1 + r.ideal.label)),
    lambda r: r.cumsum(weight=r.ideal_sum(0.5)),
    lambda r: (r.sums_of_means(of_labels=True), np.minimum(r.k, r.n_relevant)),
    lambda r: (r.ideal.sums_of_means(), r.k + r.cutoff / r.n),
    lambda r: (r.ideal.n_relevant, r.ideal.k + r.n_judged),
    lambda r: r.cumsum(weight=r.joint(r.relevant, r.judged - r.relevant, np.minimum(r.n_relevant, 3))),
    lambda r: r.cumsum(r.relevant, weight=r.rank <= r.of_query(r.n_relevant * 2)),
    lambda r: (r.n_relevant, r.n),
    lambda r: 3.0,
]

OF_WHOLE_LISTS = [
    lambda r: (r.pairs().right - r.pairs().wrong, r.pairs().equal_scores - r.pairs().equal_labels + 1e9),
    lambda r: r.cumsum(r.centered_ranks(r.score) * r.centered_ranks(r.label)),
    lambda r: r.cumsum(weight=r.cascade(r.label / 5, upwards=True), by_rank=np.sqrt),
    lambda r: r.ideal.cumsum(weight=r.ideal.cascade(r.ideal.label / 5, upwards=True), by_rank=np.sqrt),
]


@pytest.mark.parametrize("decimals", [0, 1, 9])
@together(
    "formula, cutoffs",
    [(f, k) for f in FORMULAS for k in ([3], [None], [1, 4, None])] + [(f, [None]) for f in OF_WHOLE_LISTS],
)
def test_a_formula(formula, cutoffs, decimals, eagerly, runs, monkeypatch):
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 200)
    y_true, y_score, qid = rows(decimals)
    ours(formula)
    given = {"qid": qid, "metrics": {str(k): parse_metric("own", k=k, min_relevance=2) for k in cutoffs}}
    n_before = len(runs)
    found, expected = (call(evaluate, y_true, y_score, **given) for call in (lambda f, *a, **k: f(*a, **k), eagerly))
    assert len(runs) == n_before + 1
    assert found.n_undefined == expected.n_undefined
    for k, values in expected.per_query.items():
        assert_array_equal(found.per_query[k], values)


NOT_RECORDED = [
    lambda r: r.cumsum(np.minimum(r.label, 2) + r.ideal.label),
    lambda r: r.cumsum(r.ideal.label),
    lambda r: r.cumsum(r.label, weight=r.ideal.rank),
    lambda r: r.ideal.cumsum(r.rank),
    lambda r: r.cumsum(weight=r.rank * r.ideal.rank),
    lambda r: r.cumsum(weight=r.joint(r.ideal.relevant, 1.0)),
    lambda r: r.cumsum(weight=r.cascade(r.ideal.relevant)),
    lambda r: r.cumsum(weight=r.ideal_sum(r.label)),
    lambda r: r.cumsum(weight=r.joint(r.relevant, 1 - r.relevant, r.rank)),
    lambda r: r.cumsum(weight=r.joint(r.relevant, 1 - r.relevant, 2.0)),
    lambda r: r.cumsum(weight=r.of_query(r.rank)),
    lambda r: r.cumsum(weight=r.of_query(2.0)),
    lambda r: r.cumsum(weight=r.rank * r.n),
    lambda r: r.cumsum(by_rank=lambda rank: rank[:1]),
    lambda r: r.cumsum(weight=~(r.label > 1) + r.rank),
    lambda r: r.cumsum(np.modf(r.label)),
    lambda r: r.cumsum(np.add.reduce(r.relevant)),
    lambda r: r.cumsum(np.add(r.relevant, 1, where=True)),
    lambda r: r.cumsum(r.relevant * np.ones(1)[:, None]) if r.label.sum() else 0.0,
    lambda r: r.cumsum(weight=r.cascade(0.5)),
    lambda r: r.cumsum(r.relevant, by_label=np.sqrt) if len(r.rank) else 0.0,
    lambda r: r.cumsum(r.score * 2),
    lambda r: r.cumsum((r.score == 0) * 1.0),
    lambda r: r.cumsum(weight=r.score),
    lambda r: r.cumsum(weight=r.rank * r.score),
    lambda r: r.ideal.pairs().right,
    lambda r: r.cumsum(r.ideal.centered_ranks(r.ideal.score)),
    lambda r: r.pairs().right[:, 0:1],
    lambda r: r.pairs().right[0],
    lambda r: r.label,
    lambda r: np.zeros(r.shape),
]


@together("formula, k", [(f, None) for f in NOT_RECORDED] + [(f, 3) for f in NOT_RECORDED + OF_WHOLE_LISTS])
def test_formulas_that_cannot_be_recorded_leave_no_entries(formula, k):
    """For example formulas that combine positions of two orders, whose depths may differ."""
    specs = [parse_metric("fallout", k=3), parse_metric(ours(formula), k=k), parse_metric("recall", k=3)]
    curves = [plans.CurveRequest(spec, spec.cutoffs, {}) for spec in specs]
    plan, without = plans.Plan(curves, 900), plans.Plan(curves[::2], 900)
    assert plan.others == curves[1:2]
    recording, n_entries = plan.recordings["average"], len(without.recordings["average"].entries)
    assert [*recording._slots.values()] == [*range(len(recording.entries))] == [*range(n_entries)]


# --- errors ------------------------------------------------------------------------------------------------------


WAYS = {
    "evaluate": lambda own, y, s, **given: evaluate(y, s, metrics=["map", own, "p"], **given).mean(),
    "mean": lambda own, y, s, **given: own(y, s, **given),
    "values": lambda own, y, s, **given: own(y, s, average=None, **given).tolist(),
    "prepared": lambda own, y, s, **given: prepare(y, metrics=[own, "map"], **given)(s),
}


@pytest.mark.parametrize("way", WAYS)
@together(
    "formula, message",
    [
        (lambda r: r.cumsum(weight=r.cascade(r.label)), "needs probabilities, from 0 to 1. Got 2."),
        (lambda r: r.cumsum(weight=r.cascade(1 - r.label, upwards=True)), "probabilities, from 0 to 1. Got -1."),
        (lambda r: 1e308 * r.cumsum(r.label * 10), "range of a float, .* Got inf over 1 for a query"),
        (lambda r: (r.n, np.maximum(2 - r.cumsum(r.label), 1e-300)), "range of a float, .* Got 3 over 1e-300 for a"),
    ],
)
def test_errors_match_those_of_the_formula(way, formula, message, eagerly, runs, monkeypatch):
    arrays, given = ([0, 0, 0, 2, 0], [1, 2, 3, 2, 1]), {"qid": [0, 0, 1, 1, 1]}
    for block, n_jobs in ((2**17, 1), (2, 2)):
        monkeypatch.setattr(blocks, "BLOCK_ROWS", block)
        with pytest.raises(ValueError, match=message) as raised:
            WAYS[way](ours(formula), *arrays, n_jobs=n_jobs, **given)
        with pytest.raises(ValueError, match=message) as expected:
            eagerly(WAYS[way], ours(formula), *arrays, n_jobs=n_jobs, **given)
        assert str(raised.value) == str(expected.value)
    assert not runs


@pytest.mark.parametrize("way", WAYS)
def test_a_metric_that_may_be_infinite(way, eagerly):
    own = ours(lambda r: 1e308 * r.cumsum(r.label * 10), finite=False)
    asked = own, [0, 0, 0, 2, 0], [1, 2, 3, 2, 1]
    assert repr(WAYS[way](*asked, qid=[0, 0, 1, 1, 1])) == repr(eagerly(WAYS[way], *asked, qid=[0, 0, 1, 1, 1]))
