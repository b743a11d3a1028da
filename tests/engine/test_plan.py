"""Plans: a recorded formula gives the bits of the formula itself, on any rows, and the same errors."""

import gc
import tracemalloc
import weakref
from itertools import count
from threading import Barrier

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, each, policies, together

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank._engine import plan as plans
from sklearn_rank._metric import compute
from sklearn_rank._metric.decorator import _define_again
from sklearn_rank._utils import blocks
from sklearn_rank.metrics import err_score, ndcg_score, rbp_score

LENGTHS = np.array([5, 1, 40, 3, 900, 2, 17, 60, 8, 1, 7, 130, 30, 6, 2, 300])

EAGER = """
    alpha_dcg alpha_ndcg err_ia map_ia p_ia s_recall nrbp infap rbp_residual iprec rbo snips mse rmse mae
    set_precision set_recall set_f
""".split()
"""Metrics that cannot be recorded: they read subtopics, the order of labels, or predictions."""

RECORDED = [metric for metric in METRICS if metric.name not in EAGER]


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """The cache of plans, empty at the start."""
    monkeypatch.setattr(compute, "_REMEMBERED", {})
    return compute._REMEMBERED


@pytest.fixture
def small_blocks(monkeypatch):
    """Several blocks with different numbers of rows and queries."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", 200)


def rows(seed=0, highest=4, decimals=1, lengths=LENGTHS):
    """Grades, scores with ties, and ids, which are interleaved if the seed is odd."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(lengths)), lengths)
    if seed % 2:
        rng.shuffle(qid)
    return rng.integers(0, highest + 1, len(qid)) * 1.0, rng.normal(size=len(qid)).round(decimals), qid


def rows_for(metric, seed, decimals=1, lengths=LENGTHS):
    """The same, with grades that the metric accepts."""
    return rows(seed, 1 if metric.labels[1] == 1 else 4, decimals, lengths)


def assert_planned(eagerly, y_true, y_score, **given):
    """Assert that a plan gives the bits of the formulas; the result of the plan."""
    one, other = evaluate(y_true, y_score, **given), eagerly(evaluate, y_true, y_score, **given)
    assert repr(one.mean()) == repr(other.mean())
    assert one.n_undefined == other.n_undefined
    for name, values in other.per_query.items():
        assert_array_equal(one.per_query[name], values, err_msg=name)
    return one


def outcome(call, *args, **given):
    """What a call returns, or its error."""
    try:
        return repr(call(*args, **given))
    except (TypeError, ValueError) as error:
        return str(error)


def at_cutoffs(metric, *cutoffs):
    """Names of a metric at cutoffs; "" for whole lists, if the metric has no cutoff."""
    return [metric.name + k for k in (cutoffs if metric.has_cutoff else [""])]


# --- the same numbers ----------------------------------------------------------------------------------------


@each(RECORDED)
@pytest.mark.parametrize("block", [200, 2**17])
def test_each_metric(metric, block, eagerly, runs, monkeypatch):
    """With each tie policy, with or without weights, grouped rows or not, both types of scores: all combinations."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block)
    names = at_cutoffs(metric, "@1", "@3", "@10", "@2000", "")
    for seed, decimals in ((0, 9), (1, 1), (2, 0)):
        y_true, y_score, qid = rows_for(metric, seed, decimals)
        for ties in policies(metric):
            given = {"qid": qid, "ties": ties, "n_jobs": seed or 1, "sample_weight": [None, qid * 0.3 + 1][seed % 2]}
            scores = y_score.astype(np.float32) if ties == "stable" else y_score
            mean = assert_planned(eagerly, y_true, scores, metrics=names, **given).mean()
            assert prepare(y_true, metrics=names, **given)(scores) == mean
            by_k = metric(y_true, scores, **given, **({"k": [3, 2000, 1]} if metric.has_cutoff else {}))
            assert np.ravel(by_k).tolist() == [mean[name] for name in at_cutoffs(metric, "@3", "@2000", "@1")]
    assert len(runs) == 9 * len(policies(metric))


def few_labels(y_true, y_score, qid):
    """If few grades are not 0, the other rows are not sorted, unless a step reads their ties."""
    return y_true * (np.random.default_rng(0).random(len(qid)) > 0.98), y_score, qid


def unretrieved(share):
    """Formulas that rank or count rows without a rank are called with rows."""

    def drop(y_true, y_score, qid):
        lost = (np.random.default_rng(1).random(len(qid)) < share) | (qid == 3)
        return y_true, np.where(lost, -np.inf, y_score), qid

    return drop


KINDS = {
    "few labels": few_labels,
    "one row unretrieved": unretrieved(0.001),
    "some unretrieved": unretrieved(0.3),
    "few labels, many unretrieved": lambda *data: few_labels(*unretrieved(0.9)(*data)),
    "all unretrieved": unretrieved(1.0),
    "constant scores": lambda y, s, q: (y, np.zeros(len(s)), q),
    "constant in some blocks": lambda y, s, q: (y, np.where(q < 8, s, 0.5), q),
}


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@pytest.mark.parametrize("kind", KINDS)
@each(RECORDED)
def test_kinds_of_rows(metric, kind, small_blocks, eagerly):
    names = [*at_cutoffs(metric, "@3", ""), *(f"{metric.name}(ties={ties})" for ties in policies(metric))]
    for seed, decimals in ((0, 9), (1, 1), (2, 0)):
        y_true, y_score, qid = KINDS[kind](*rows_for(metric, seed, decimals))
        for others in ([], ["kendall", "spearman", "ndcg@2"]):
            assert_planned(eagerly, y_true, y_score, qid=qid, metrics={name: name for name in [*names, *others]})


@each(RECORDED)
def test_more_cutoffs_than_queries(metric, eagerly, runs):
    """Lists have the length of a cutoff, one less and one more."""
    names = at_cutoffs(metric, "@1", "@2", "@3", "@7", "@8", "@9", "@64", "")
    for seed, lengths in enumerate(([1], [8], [8, 3], [2, 9, 8])):
        for decimals in (0, 9):
            y_true, y_score, qid = rows_for(metric, seed, decimals, lengths)
            assert_planned(eagerly, y_true, y_score, qid=qid, metrics=names)
    assert len(runs) == 8


@pytest.mark.parametrize("names", [["ndcg@10"], ["ndcg@10", "map", "err", "kendall", "iprec(ties=stable)"]], ids=len)
def test_more_rows_than_a_block(names, eagerly, runs):
    """As many rows as a block, one more, and a longer query."""
    for n_jobs, lengths in ((1, np.full(2**14, 8)), (2, np.append(np.full(2**14, 8), 1)), (2, [3, 2**17 + 5, 4])):
        y_true, y_score, qid = rows(0, decimals=2, lengths=lengths)
        assert_planned(eagerly, y_true, y_score, qid=qid, metrics=names, n_jobs=n_jobs)
    assert len(runs) == 3


@pytest.mark.filterwarnings(
    "ignore:ndcg is not defined for any query:UserWarning", "ignore:.*cannot tell good rankings"
)
@pytest.mark.parametrize("highest", [4, 1, 0, 31])
def test_metrics_share_only_equal_steps(highest, small_blocks, eagerly):
    """Together, in both orders; some of them are not recorded."""
    metrics = [m for m in RECORDED if highest <= 4 or m.labels[1] is None or m.labels[1] == np.inf]
    keywords = ("ties=average", "ties=worst", "ties=stable", "min_relevance=2", "min_relevance=3")
    names = [
        metric.name + f"({keyword})" + at
        for metric in metrics
        for keyword in keywords
        for at in (("@2", "@40", "") if metric.has_cutoff else ("",))
        if keyword.partition("=")[0] in metric.defaults
    ]
    names += [
        "ndcg(gain=linear)", "ndcg(gain=binary)@5", "q(beta=3)@5", "q(gain=exp2)", "f(beta=2)@3",
        "dcg(discount=reciprocal)@7", "dcg(discount=jarvelin)", "dcg(discount=jarvelin, base=4)",
        "rbp(p=0.5)@4", "rbp(p=0.5, gain=linear, max_grade=31)", "rbp(p=0.5, gain=linear, max_grade=32)",
        "map(average=geometric)", "ndcg(replace_undefined_by=nan)@3", "p(replace_undefined_by=1)@3",
        "p(average=micro)@3", "infap(ties=stable)", "iprec(ties=worst)@4", "mse", "rbo@3",
    ]  # fmt: skip
    y_true, y_score, qid = rows(highest, highest)
    for order in (names, names[::-1]):
        with np.errstate(all="raise"):
            assert_planned(eagerly, y_true, y_score, qid=qid, metrics={name: name for name in order}, n_jobs=2)


@pytest.mark.parametrize(
    "keywords",
    [
        {"gain": {0: 0, 1: 1, 2: 5, 3: 7, 4: 7}}, {"gain": lambda label: (label / 3).astype(np.float32)},
        {"gain": np.sqrt}, {"discount": lambda rank: 0.9**rank}, {"discount": [1, 0.5, 0.1] + [0] * 900},
        {"convention": "lightgbm"}, {"replace_undefined_by": 0.5}, {"replace_undefined_by": np.nan},
        {"average": "geometric"}, {"average": None, "k": 3},
    ],
    ids="-".join,
)  # fmt: skip
def test_plan_with_keywords(keywords, small_blocks, eagerly, runs):
    y_true, y_score, qid = rows(1)
    y_true[qid % 3 == 0] = 0
    value = ndcg_score(y_true, y_score, qid=qid, **keywords)
    expected = eagerly(ndcg_score, y_true, y_score, qid=qid, **keywords)
    assert type(value) is type(expected)
    assert_array_equal(value, expected)
    assert len(runs) == 1


def test_a_function_is_called_only_for_grades_in_the_data():
    """It may fail for other grades."""
    y_true, y_score, qid = rows(0, highest=1)
    asked = set()

    def gain(label):
        asked.update(label.tolist())
        return 2.0 * label

    by_function, by_name = (ndcg_score(3 * y_true, y_score, qid=qid, gain=of) for of in (gain, "linear"))
    assert by_function == by_name
    assert asked == {0, 3}


def test_means_of_metrics_of_several_kinds():
    """Arithmetic, root, pooled and geometric means, and means that drop queries, of prepared labels."""
    y_true, y_score, qid = rows(lengths=(5, 1, 4, 3))
    y_true[:6] = 0
    specs = {
        "plain": parse_metric("ndcg"), "root": parse_metric("rmse"), "pooled": parse_metric("p@3", average="micro"),
        "geometric": parse_metric("map", average="geometric"), "some": parse_metric("map(replace_undefined_by=nan)"),
    }  # fmt: skip
    alone = {n: evaluate(y_true, y_score, qid=qid, metrics={n: spec}).mean()[n] for n, spec in specs.items()}
    assert prepare(y_true, qid=qid, metrics=specs)(y_score) == alone
    for name in ("pooled", "geometric", "some"):
        pair = prepare(y_true, qid=qid, metrics={"plain": specs["plain"], name: specs[name]})(y_score)
        assert pair == {"plain": alone["plain"], name: alone[name]}


# --- formulas --------------------------------------------------------------------------------------------------


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
    y_true, y_score, qid = rows(0, decimals=decimals)
    ours(formula)
    metrics, n_before = {str(k): parse_metric("own", k=k, min_relevance=2) for k in cutoffs}, len(runs)
    assert_planned(eagerly, y_true, y_score, qid=qid, metrics=metrics)
    assert len(runs) == n_before + 1


NOT_RECORDED = [
    lambda r: r.cumsum(np.minimum(r.label, 2) + r.ideal.label),
    lambda r: r.cumsum(r.ideal.label),
    lambda r: r.ideal.cumsum(r.rank),
    lambda r: r.cumsum(weight=r.rank * r.ideal.rank),
    lambda r: r.ideal.cumsum(weight=r.rank * r.ideal.rank),
    lambda r: r.cumsum(weight=r.joint(r.ideal.relevant, 1.0)),
    lambda r: r.cumsum(weight=r.cascade(r.ideal.relevant)),
    lambda r: r.cumsum(weight=r.ideal_sum(r.label)),
    lambda r: r.cumsum(weight=r.joint(r.relevant, 1 - r.relevant, r.rank)),
    lambda r: r.cumsum(weight=r.of_query(r.rank)),
    lambda r: r.cumsum(weight=r.of_query(2.0)),
    lambda r: r.cumsum(weight=r.rank * r.n),
    lambda r: r.cumsum(by_rank=lambda rank: rank[:1]),
    lambda r: r.cumsum(np.modf(r.label)),
    lambda r: r.cumsum(np.add(r.relevant, 1, where=True)),
    lambda r: r.cumsum(r.relevant * np.ones(1)[:, None]) if r.label.sum() else 0.0,
    lambda r: r.cumsum(r.relevant, by_label=np.sqrt) if len(r.rank) else 0.0,
    lambda r: r.cumsum(weight=r.rank * r.score),
    lambda r: r.cumsum(r.ideal.centered_ranks(r.ideal.score)),
    lambda r: r.pairs().right[0],
    lambda r: r.label,
]


def per_query(y_true, y_score, qid, metrics):
    """Values of each query."""
    found = evaluate(y_true, y_score, qid=qid, metrics=metrics).per_query
    return {name: values.tolist() for name, values in found.items()}


@together("formula, k", [(f, k) for f in NOT_RECORDED for k in (None, 3)] + [(f, 3) for f in OF_WHOLE_LISTS])
def test_formulas_that_cannot_be_recorded(formula, k, eagerly):
    """For example formulas that combine positions of two orders: the same values or error beside other metrics."""
    for seed, kind in enumerate(("some unretrieved", "constant scores", "few labels")):
        y_true, y_score, qid = KINDS[kind](*rows(seed, lengths=[5, 1, 40, 3]))
        for others in ([], ["fallout@3", "recall@3"]):
            metrics = [*others[:1], parse_metric(ours(formula), k=k), *others[1:]]
            asked = per_query, y_true, y_score, qid, metrics
            assert outcome(*asked) == outcome(eagerly, *asked)


def n_steps(*metrics):
    """Number of steps of the plan of some metrics at a cutoff."""
    specs = [parse_metric(metric, k=3) for metric in metrics]
    plan = plans.Plan([plans.CurveRequest(spec, spec.cutoffs, {}) for spec in specs], 900)
    return len(plan.recordings["average"].entries)


def test_plan_has_each_step_once():
    """And none of formulas that could not be recorded."""
    n_of_both = n_steps("fallout", "recall")
    assert n_of_both < n_steps("fallout") + n_steps("recall")
    for formula in NOT_RECORDED:
        assert n_steps("fallout", ours(formula), "recall") == n_of_both


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
def test_errors_match_those_of_the_formula(way, formula, message, eagerly, monkeypatch):
    asked = [0, 0, 0, 2, 0], [1, 2, 3, 2, 1]
    for block, n_jobs in ((2**17, 1), (2, 2)):
        monkeypatch.setattr(blocks, "BLOCK_ROWS", block)
        given = {"qid": [0, 0, 1, 1, 1], "n_jobs": n_jobs}
        with pytest.raises(ValueError, match=message) as raised:
            WAYS[way](ours(formula), *asked, **given)
        assert str(raised.value) == outcome(eagerly, WAYS[way], ours(formula), *asked, **given)


@pytest.mark.parametrize("way", WAYS)
def test_a_metric_that_may_be_infinite(way, eagerly):
    own = ours(lambda r: 1e308 * r.cumsum(r.label * 10), finite=False)
    asked = own, [0, 0, 0, 2, 0], [1, 2, 3, 2, 1]
    assert repr(WAYS[way](*asked, qid=[0, 0, 1, 1, 1])) == repr(eagerly(WAYS[way], *asked, qid=[0, 0, 1, 1, 1]))


@pytest.mark.filterwarnings("ignore:ndcg is not defined for any query:UserWarning")
@pytest.mark.parametrize("weight", [None, [1] * 5, [1e-100] * 5])
@pytest.mark.parametrize("otherwise", [1.7e308, 1e-300, 1.0, np.nan])
def test_sums_over_queries_that_overflow(otherwise, weight, eagerly):
    """Each value is finite."""
    y, s = [0, 0, 0, 0, 0], [1, 2, 3, 2, 1]
    given = {"qid": [0, 0, 1, 1, 1], "sample_weight": weight, "replace_undefined_by": otherwise}
    expected = outcome(eagerly, ndcg_score, y, s, **given)
    assert outcome(ndcg_score, y, s, **given) == expected
    assert outcome(lambda: evaluate(y, s, metrics="ndcg", **given).mean()["ndcg"]) == expected
    assert outcome(lambda: prepare(y, metrics="ndcg", **given)(s)) == expected


@pytest.mark.parametrize("n_before", [0, 2])
def test_grades_above_a_scale_are_rejected(n_before):
    for _ in range(n_before):
        assert err_score([4, 0], [2, 1], qid=[1, 1]) == 15 / 16
        err_score([2, 0], [2, 1], qid=[1, 1], max_grade=2)
        rbp_score([2, 0], [2, 1], qid=[1, 1], gain="linear", max_grade=2)
    for function, keywords in ((err_score, {}), (rbp_score, {"gain": "linear"})):
        with pytest.raises(ValueError, match="must not be above max_grade=2"):
            function([3, 0], [2, 1], qid=[1, 1], max_grade=2, **keywords)


# --- consecutive and concurrent calls ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings", "ignore:Every query has one row")
def test_cached_plans_serve_larger_and_smaller_calls_in_turn(remembered, eagerly):
    """They keep no ties, labels or longer lists of the previous call; other grades and lengths have other plans."""
    names = ["ndcg@2", "ndcg", "map@3", "err(max_grade=30)@5", "q(beta=2)", "kendall", "p(ties=worst)@4"]
    names += ["ndcg(gain=linear)", "rbp(gain=linear, max_grade=30)"]
    sizes = [[4], [900], [300, 2, 40], [1], [7] * 90, [1025], [2, 1], [3] * 5, [1000, 24], [1] * 600, [2048], [5, 30]]
    kinds = set()
    for turn in range(6):
        for seed, lengths in enumerate(sizes):
            highest = (5 * turn + 7 * seed) % 31
            kinds.add((max(lengths) > 1024, np.searchsorted([1, 4, 7], highest)))
            y_true, y_score, qid = rows(seed, highest, (0, 9, 1)[(turn + seed) % 3], lengths)
            y_true[0] = highest
            assert_planned(eagerly, y_true, y_score, qid=qid, metrics=names)
    assert len(remembered) == len(kinds)


@pytest.mark.parametrize("n_rows", [n + more for n in (2**10, 2**14) for more in (0, 1)])
def test_queries_of_the_longest_length_of_a_plan(n_rows):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, n_rows), rng.random(n_rows)
    discount = 1 / np.log2(np.arange(n_rows) + 2)
    expected = (y[np.argsort(-score)] * discount).sum() / discount[: y.sum()].sum()
    for _ in range(2):
        assert ndcg_score(y, score, qid=np.zeros(n_rows)) == pytest.approx(expected, rel=1e-13)


def test_concurrent_calls_use_separate_programs(small_blocks, monkeypatch):
    """Both calls start before either continues."""
    used, both, run = [], Barrier(2), plans.BoundProgram.run

    def run_and_note(program, *args):
        used.append(program)
        if len(used) <= 2:
            both.wait(60)
        return run(program, *args)

    y_true, y_score, qid = rows()
    prepared = prepare(y_true, qid=qid, metrics=["ndcg@10", "map"], n_jobs=2)
    prepared(y_score)
    monkeypatch.setattr(plans.BoundProgram, "run", run_and_note)
    prepared(y_score)
    assert used[0] is not used[1]
    assert len({*map(id, used)}) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("n_before", range(3))
def test_an_interrupt_does_not_damage_a_plan(n_before, n_jobs, small_blocks, monkeypatch):
    """Whether it comes before the first block or later."""
    y_true, y_score, qid = rows()
    prepared, n = prepare(y_true, qid=qid, metrics=["ndcg@10", "map"], n_jobs=n_jobs), count()
    expected = prepared(y_score)

    def interrupt():
        if next(n) >= n_before:
            raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(plans, "check_interrupt", interrupt)
        pytest.raises(KeyboardInterrupt, prepared, -y_score)
    assert prepared(y_score) == expected


# --- memory ------------------------------------------------------------------------------------------------------


def test_cached_plans_have_a_limit(remembered, monkeypatch):
    """Plans of functions and of other orders are not cached; those dropped are made again."""
    monkeypatch.setattr(compute, "MOST_RANKS", 3 * 1024)
    y_true, y_score, qid = rows()
    evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg(adjusted=True)"])
    ndcg_score(y_true, y_score, qid=qid, gain=np.sqrt)
    assert not remembered
    values = {}
    for k in range(1, 20):
        values[k] = ndcg_score(y_true, y_score, qid=qid, k=k)
        assert len(remembered) <= 3
    for k in (3, 19, 1):
        assert evaluate(y_true, y_score, qid=qid, metrics=f"ndcg@{k}").mean()[f"ndcg@{k}"] == values[k]


def test_idle_programs_have_a_limit():
    """A program for each of 80 cutoffs would take 100 MiB, and the limit is 8."""
    y_true, y_score, qid = rows(lengths=[600] * 100)
    ndcg_score(y_true, y_score, qid=qid)
    tracemalloc.start()
    try:
        for k in range(1, 81):
            ndcg_score(y_true, y_score, qid=qid, k=k)
        assert tracemalloc.get_traced_memory()[0] < 16 * 2**20
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("keywords", [{}, {"gain": np.sqrt}, {"gain": [0.0, 1.0, 2.0, 3.0, 9.0]}], ids=str)
def test_a_call_creates_no_reference_cycles(keywords):
    """Cycles would keep the arrays of each call until the collector runs."""
    y_true, y_score, qid = rows()

    def call():
        ndcg_score(y_true, y_score, qid=qid, **keywords)
        evaluate(y_true, y_score, qid=qid, metrics=["ndcg@10", "q", "err", "kendall", "infap(ties=stable)"], **keywords)

    call()
    gc.collect()
    gc.disable()
    try:
        call()
        assert gc.collect() == 0
    finally:
        gc.enable()


def test_a_plan_keeps_neither_rows_nor_functions():
    """A view of few rows would keep the whole array."""

    def gain(label):
        return label * 2

    y_true, y_score, qid = rows()
    for keywords in ({}, {"gain": gain}):
        ndcg_score(y_true, y_score, qid=qid, **keywords)
        ndcg_score(y_true, np.zeros(len(qid)), qid=qid, **keywords)
    alive = [weakref.ref(x) for x in (y_true, y_score, qid, gain)]
    del y_true, y_score, qid, gain, keywords
    assert [ref() for ref in alive] == [None] * 4
