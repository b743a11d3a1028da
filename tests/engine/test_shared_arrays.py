"""Metrics beside others: what formulas share changes no bit, and no formula reads what was computed for another one."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import evaluate, parse_metric
from sklearn_rank._engine.check import read
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._engine.shared import SharedArrays
from sklearn_rank._metric.compute import BoundMetrics
from sklearn_rank._metric.decorator import _define_again
from sklearn_rank._metric.spec import MetricSpec

VARIANTS = {
    "gain": ["dcg", "dcg(gain=linear)", "dcg(gain=binary)", "ndcg", "ndcg(gain=linear)@5", "q", "q(gain=exp2)"],
    "discount": [
        "dcg",
        "dcg(discount=reciprocal)",
        "ndcg(discount=jarvelin)",
        "ndcg(discount=jarvelin, base=4)",
        "err",
    ],
    "max_grade": ["err", "err(max_grade=6)", "nerr", "nerr(max_grade=6)", "pfound", "pfound(max_grade=6, decay=0.5)"],
    "min_relevance": [f"{m}(min_relevance={least})" for m in ("map", "p", "mrr", "f1", "hit") for least in (1, 2, 3)],
    "cutoff": ["map", "map@1", "map@7", "p@1", "p@7", "recall@7", "recall", "f1@3", "mrr@2", "mrr", "hit@2", "wap@7"],
    "cutoff and keyword": ["map(replace_undefined_by=1)@2", "map", "map@7", "ndcg@3", "ndcg(replace_undefined_by=1)"],
    "ties": [f"{m}(ties={t})" for m in ("map", "mrr", "err", "ndcg") for t in ("average", "stable", "worst", "best")],
    "p": ["rbp", "rbp(p=0.5)", "rbp(p=0.5, gain=exp2)", "rbp_residual", "rbp_residual(p=0.5)"],
    "beta": ["q", "q(beta=2)", "q(beta=3)", "f1", "f2", "fbeta(beta=3)"],
    "average": ["p@3", "p(average=micro)@3", "mrr(average=geometric)", "mrr", "f1(average=micro)", "f1"],
}


@pytest.fixture(scope="module")
def lists():
    """Queries of one to twelve documents; of some no document is relevant, of some scores are tied."""
    rng = np.random.default_rng(3)
    n = rng.integers(1, 13, size=60)
    grades = rng.integers(0, 5, size=n.sum()) * np.repeat(rng.random(60) < 0.8, n) * 1.0
    return grades, rng.integers(0, 30, size=n.sum()) / 4, np.repeat(np.arange(60), n)


@pytest.mark.parametrize("scale", [1.0, 0.75], ids=["grades", "numbers"])
@pytest.mark.parametrize("kind", VARIANTS)
def test_a_metric_is_the_same_to_the_last_bit_beside_its_variants(lists, kind, scale):
    """Both ways round, so that each of two that must not share is the first once. Grades are kept as bytes."""
    y, s, qid = lists
    y = scale * y
    alone = {name: evaluate(y, s, qid=qid, metrics=name) for name in VARIANTS[kind]}
    for names in (VARIANTS[kind], VARIANTS[kind][::-1]):
        beside = evaluate(y, s, qid=qid, metrics=names)
        for name in names:
            assert_array_equal(beside.per_query[name], alone[name].per_query[name], err_msg=name)
            assert beside.mean()[name] == alone[name].mean()[name]
            assert beside.n_undefined[name] == alone[name].n_undefined[name]


def ranked(lists, *, tied=False, keeps_results=True, cutoffs=(1, 4, NO_CUTOFF)):
    y, s, qid = lists
    s = s if tied else np.arange(len(s)) % 17 + s / 100
    indptr = np.append(0, np.cumsum(np.bincount(qid)))
    return Ranked(Ranking.by_score(y, s, indptr), np.array(cutoffs), keeps_results=keeps_results)


def plain_cumsum(r, value, weight):
    """The same sum by NumPy alone, one term after the other; no documents are tied."""
    starts = np.flatnonzero(r.rank == 1)
    terms = [np.append(0.0, np.add.accumulate(t)) for t in np.split(value * weight, starts[1:])]
    return np.array([[t[min(c, len(t) - 1)] for c in (1, 4, NO_CUTOFF)] for t in terms])


def test_functions_of_the_rank_are_those_of_its_array(lists):
    r = ranked(lists)
    x = np.random.default_rng(0).random(len(r.rank))
    p = 0.7 ** (r.rank - 1.0)
    assert_array_equal(r.cumsum(r.label, by_rank=lambda k: 0.7 ** (k - 1.0)), plain_cumsum(r, r.label, p))
    assert_array_equal(r.cumsum(weight=x, over_rank=True), plain_cumsum(r, 1.0, x / r.rank))
    by_both = r.cumsum(r.label, x, by_rank=lambda k: 0.7 ** (k - 1.0), over_rank=True)
    assert_array_equal(by_both, plain_cumsum(r, r.label, x * p / r.rank))


def test_functions_of_the_rank_with_ties(lists):
    r = ranked(lists, tied=True)
    assert r.tied
    x = r.joint(r.relevant, r.label)
    assert_array_equal(r.cumsum(weight=x, over_rank=True), r.cumsum(weight=x / r.rank))
    assert_array_equal(r.cumsum(r.label, by_rank=np.log2), r.cumsum(r.label, weight=np.log2(r.rank)))


def test_one_computation_is_done_once(lists):
    r = ranked(lists)
    other = Ranked(r._ranking, r._cutoffs.copy(), keeps_results=True)
    assert r.joint(r.relevant, r.label) is other.joint(other.relevant, other.label)
    assert r.cumsum(r.relevant) is other.cumsum(other.relevant)
    assert r.by_label(np.exp2) is other.by_label(np.exp2)


def test_other_computations_are_done_again(lists):
    r = ranked(lists)
    for other in (
        Ranked(r._ranking, np.array([1, 5, NO_CUTOFF]), keeps_results=True),
        Ranked(r._ranking, r._cutoffs, 3.0, keeps_results=True),
    ):
        assert not np.array_equal(r.cumsum(r.relevant), other.cumsum(other.relevant))
    sums = [r.cumsum(r.label), r.cumsum(weight=r.label), r.cumsum(r.label, by_rank=np.log2),
            r.cumsum(r.label, by_rank=np.sqrt), r.cumsum(r.label, over_rank=True), r.cumsum(r.relevant),
            r.cumsum(1.0), r.cumsum(2.0)]  # fmt: skip
    assert len({x.tobytes() for x in sums}) == len(sums) - 1  # a sum of values is one of weights here
    cascades = r.cascade(r.relevant), r.cascade(r.relevant, upwards=True)
    assert not np.array_equal(*cascades)
    assert r.joint(r.relevant, r.label) is not r.joint(r.label, r.relevant)


def test_an_array_of_ones_own_may_change(lists):
    """It is known by no name, so what it was computed of before is not read again."""
    r, x = ranked(lists), np.ones(len(lists[0]))
    before = r.cumsum(x)
    x[:] = 2.0
    assert_array_equal(r.cumsum(x), 2 * before)


def test_a_formula_may_write_to_its_results():
    """Its own curve, weights and gains are arrays of its own; built-in metrics beside it read others."""

    def formula(r):
        gain = r.by_label(lambda label: label * 2.0)
        weight, total = r.joint(r.relevant, r.relevant), r.cumsum(r.relevant)
        for x in (gain, weight, total):
            x += 1
        return total + r.cumsum(gain) + r.cumsum(weight=weight)

    metric = _define_again("writes", formula, {}, {"bounds": (0, np.inf)}).function
    y, s, qid = [1.0, 0.0, 2.0, 0.0], [4.0, 3.0, 2.0, 1.0], [0, 0, 1, 1]
    expected = evaluate(y, s, qid=qid, metrics=["map", "p", "recall", "q"]).mean()
    for names in ([metric, "map", "p", "recall", "q"], ["map", "p", "recall", "q", metric]):
        found = evaluate(y, s, qid=qid, metrics=names)
        assert {name: found.mean()[name] for name in expected} == expected
        assert_array_equal(found.per_query["writes"], [2 + 4 + 3, 2 + 6 + 3])


def test_shared_arrays_are_read_only_views():
    shared, array = SharedArrays(), np.ones(3)
    found = shared.once("x", lambda: array)
    assert not found.flags.writeable
    assert array.flags.writeable
    assert shared.result("y", np.negative, (found,)) is shared.result("y", np.negative, (found,))
    assert shared.result("y", np.negative, (array,)) is not shared.result("y", np.negative, (array,))


# --- values of queries ------------------------------------------------------------------------------------------


def quotient(numerator, denominator, needed=None, otherwise=-1.0):
    """Values, undefined places, and whether all is in range."""
    from sklearn_rank._engine.kernels.plan import divide

    shape = np.broadcast_shapes(numerator.shape, denominator.shape, (5, 1))
    out, undefined = np.full(shape[::-1], np.nan).T, np.zeros(shape[::-1], dtype=np.uint8).T
    return out, undefined, divide(numerator, denominator, needed, otherwise, out, undefined)


@pytest.mark.parametrize("shape", [(5, 3), (5, 1), (1, 3), (1, 1)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_quotients_are_those_of_numpy(shape, order):
    rng = np.random.default_rng(1)
    x = np.asarray(rng.normal(size=(5, 3)), order=order)
    y = np.asarray(rng.normal(size=shape) + 9, order=order)
    out, undefined, in_range = quotient(x, y)
    assert in_range
    assert not undefined.any()
    assert_array_equal(out, x / y)


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_numerator_that_is_not_finite_is_told_unless_it_is_of_an_undefined_query(wrong):
    x, y, needed = np.ones((5, 2)), np.ones((5, 1)), np.ones((5, 1))
    x[3, 1] = wrong
    assert not quotient(x, y)[2]
    y[3] = 0
    out, undefined, in_range = quotient(x, y)
    assert in_range
    assert_array_equal(out[3], -1)
    assert_array_equal(undefined[:, 0], [0, 0, 0, 1, 0])
    y[3], needed[3] = 1, -0.0
    assert quotient(x, y, needed)[2]


@pytest.mark.parametrize(
    ("denominator", "in_range"),
    [(1e-292, True), (-1e-292, True), (9e-293, False), (1.7e308, True), (np.inf, False), (np.nan, False)],
)
def test_denominators_have_a_range(denominator, in_range):
    y = np.ones((5, 1))
    y[2] = denominator
    assert quotient(np.ones((5, 1)), y)[2] == in_range
    assert quotient(np.ones((5, 1)), y, np.ones((5, 1)))[2] == in_range
    y[4] = -0.0
    out, undefined, found = quotient(np.ones((5, 1)), y)
    assert found == in_range
    assert_array_equal(undefined[:, 0], [0, 0, 0, 0, 1])
    assert_array_equal(out[[0, 1, 3, 4], 0], [1, 1, 1, -1])


def test_equal_numbers_of_other_types_are_others():
    shared = SharedArrays()
    known = shared.once("known", lambda: np.array([True, False]))
    assert shared.result("add", np.add, (known, 1)).tolist() == [2, 1]
    assert shared.result("add", np.add, (known, True)).dtype == bool


def test_a_part_of_a_curve_of_several_cutoffs():
    data = [0, 1, 1, 0], [4, 3, 2, 1]
    queries = read(*data, qid=[0] * 4)
    whole, part, one = (MetricSpec(parse_metric("p").metric, k, {}) for k in ([1, 2, 4], [1, 4], 2))
    found = BoundMetrics(queries, [whole, part, one]).compute(queries, None)
    assert [values.numerator.tolist() for values in found] == [[[0, 0.5, 0.5]], [[0, 0.5]], [[0.5]]]
