"""Steps of formulas: those of the formula to the last bit, on blocks of other sizes, and what has none."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.kernels.plan import BoundPlan
from sklearn_rank._engine.plan import BlockOrder, Curve, Plan
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._engine.traced import NotTraced, Steps, TracedQueries
from sklearn_rank._metric import plans
from sklearn_rank._metric.names import cached_spec

LENGTHS = np.array([5, 1, 40, 3, 900, 2, 17, 60, 8, 1, 7, 130, 30, 6, 2, 300])


def test_each_metric_has_room_for_its_values():
    """Values of a metric without room would be those that memory had before."""
    order = BlockOrder(2, 1, 2, NO_CUTOFF, "average", 1, [])
    with pytest.raises(ValueError, match="each quotient needs two arrays"):
        BoundPlan([order.lists], [], [])(np.zeros(2, np.uint8), np.zeros(2), np.array([0, 2]), False, [(None, None)])


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: r.cumsum(r.relevant * 2 - 1, weight=1 / r.rank),
        lambda r: r.cumsum((r.label > 1) * 1.0, over_rank=True),
        lambda r: r.cumsum(r.label > 1),
        lambda r: r.cumsum(np.minimum(r.label, 2) + r.label),
        lambda r: r.ideal.cumsum(r.ideal.relevant, by_rank=np.sqrt),
        lambda r: r.cumsum(weight=r.relevant),
        lambda r: r.cumsum(weight=r.cascade(r.relevant / 3) * r.rank),
        lambda r: r.cumsum(weight=r.cascade(r.joint(0.001, r.label) / r.rank)),
        lambda r: r.cumsum(weight=r.joint(r.relevant, r.joint(r.relevant, r.label))),
        lambda r: r.cumsum(weight=r.label / r.ideal_sum(1 + r.ideal.label)),
        lambda r: (r.sums_of_means(of_labels=True), np.minimum(r.k, r.n_relevant)),
        lambda r: (r.ideal.sums_of_means(), r.k + r.cutoff / r.n),
        lambda r: (r.ideal.n_relevant, r.ideal.k + r.n_judged),
        lambda r: r.cumsum(weight=r.joint(r.relevant, r.judged - r.relevant, np.minimum(r.n_relevant, 3))),
        lambda r: r.cumsum(r.relevant, weight=r.rank <= r.of_query(r.n_relevant * 2)),
        lambda r: 3.0,
    ],
)
@pytest.mark.parametrize("cutoffs", [[3], [NO_CUTOFF], [1, 4, NO_CUTOFF]])
@pytest.mark.parametrize("tied", [False, True])
def test_steps_are_those_of_the_formula(formula, cutoffs, tied):
    assert_that_steps_are_those_of(formula, cutoffs, tied)


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: (r.pairs().right - r.pairs().wrong, r.pairs().equal_scores + 3 * r.pairs().equal_labels),
        lambda r: r.cumsum(r.centred_ranks(r.score) * r.centred_ranks(r.label)),
        lambda r: r.cumsum(weight=r.cascade(r.label / 5, upwards=True), by_rank=np.sqrt),
        lambda r: r.ideal.cumsum(weight=r.ideal.cascade(r.ideal.label / 5, upwards=True), by_rank=np.sqrt),
    ],
)
@pytest.mark.parametrize("tied", [False, True])
def test_steps_on_whole_lists_are_those_of_the_formula(formula, tied):
    assert_that_steps_are_those_of(formula, [NO_CUTOFF], tied)


def assert_that_steps_are_those_of(formula, cutoffs, tied):
    """Assert it of a formula twice, so that it finds its steps, on blocks of other sizes."""
    rng = np.random.default_rng(0)
    y_true, y_score = rng.integers(0, 5, LENGTHS.sum()), rng.normal(size=LENGTHS.sum()).round(1 if tied else 9)
    grade, cutoffs, steps = y_true.astype(np.uint8), np.array(cutoffs), Steps()
    for _ in range(2):
        curve = steps.curve(formula, {}, TracedQueries(2, cutoffs, np.arange(1, 901), steps))
    order = BlockOrder(len(y_true), len(LENGTHS), 900, int(cutoffs[-1]), "average", 4, [])
    numerator, denominator = (part(steps.take(order)) for part in curve[:2])
    for first, last in ((0, 4), (3, 16), (0, 16), (5, 6)):
        start, stop = LENGTHS[:first].sum(), LENGTHS[:last].sum()
        indptr = np.append(0, np.cumsum(LENGTHS[first:last]))
        BoundPlan([order.lists], order.steps, [])(grade[start:stop], y_score[start:stop], indptr, False, [])
        labels = BlockLabels(None, indptr, grade=grade[start:stop], highest=4)
        ranking = Ranking.by_score(None, y_score[start:stop], indptr, depth=int(cutoffs[-1]), grade=labels.grade)
        expected = formula(Ranked(ranking.sharing(labels), cutoffs, 2))
        expected = expected if isinstance(expected, tuple) else (expected, 1.0)
        for part, whole in zip((numerator, denominator), expected, strict=True):
            shape = np.shape(whole) or (1, 1)
            assert_array_equal(part[: shape[0]] if len(part) > 1 else part, np.reshape(whole, shape))


@pytest.mark.parametrize(
    "formula",
    [
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
        lambda r: r.pairs().right,
        lambda r: r.cumsum(r.centred_ranks(r.label)),
        lambda r: r.cumsum(weight=r.cascade(r.relevant, upwards=True)),
        lambda r: r.cumsum(weight=~(r.label > 1) + r.rank),
        lambda r: r.cumsum(np.modf(r.label)),
        lambda r: r.label,
    ],
)
def test_what_has_no_steps(formula):
    """Such as numbers of two orders by position: these may be cut at other places."""
    assert_no_steps(formula, [3])


def assert_no_steps(formula, cutoffs):
    steps = Steps()
    with pytest.raises(NotTraced):
        steps.curve(formula, {}, TracedQueries(2, np.array(cutoffs), np.arange(1, 901), steps))
    assert not steps.computations


@pytest.mark.parametrize(
    "formula",
    [
        lambda r: r.ideal.pairs().right,
        lambda r: r.cumsum(r.ideal.centred_ranks(r.ideal.score)),
        lambda r: r.cumsum(r.centred_ranks(r.relevant)),
        lambda r: r.cumsum(r.score * 2),
        lambda r: r.cumsum((r.score == 0) * 1.0),
        lambda r: r.cumsum(r.relevant * (r.score > 0)),
        lambda r: r.cumsum(weight=r.score),
    ],
)
def test_what_has_no_steps_on_whole_lists(formula):
    assert_no_steps(formula, [NO_CUTOFF])


@pytest.mark.parametrize("formula", [lambda r: r.pairs().right, lambda r: r.cumsum(r.centred_ranks(r.score))])
def test_what_has_no_steps_where_some_lists_are_cut(formula):
    assert_no_steps(formula, [3, NO_CUTOFF])


@pytest.mark.parametrize("formula", [lambda r: r.k, lambda r: r.cutoff, lambda r: r.ideal.k, lambda r: r.ideal.cutoff])
def test_a_cutoff_has_no_step_where_some_are_left_out(formula):
    steps = Steps()
    queries = TracedQueries(2, np.array([3, NO_CUTOFF]), np.arange(1, 901), steps, all_cutoffs=False)
    with pytest.raises(NotTraced):
        steps.curve(formula, {}, queries)


def test_steps_alike_are_one():
    spec = [cached_spec(name) for name in ("dcg", "ndcg", "p", "recall", "hit", "f1")]
    curves = [Curve(s, s.cutoffs, s.bind(plans.any_rows(900))) for s in spec]
    steps = Plan(curves, 900)._steps["average"]
    alone = sum(len(Plan([curve], 900)._steps["average"].computations) for curve in curves)
    assert len(steps.computations) <= alone - 4  # a DCG, hits twice, and relevant documents
