"""Plans: a recorded formula gives the bits of the formula itself, on any rows, and the same errors."""

import gc
import weakref
from itertools import count
from threading import Barrier

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, each, policies

from sklearn_rank import evaluate, prepare
from sklearn_rank._engine import plan as plans
from sklearn_rank._metric import compute
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._utils import blocks
from sklearn_rank.metrics import ndcg_score

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


def assert_same(one, other):
    """Assert that two results have the same bits."""
    assert repr(one.mean()) == repr(other.mean())
    assert one.n_undefined == other.n_undefined
    for name, values in other.per_query.items():
        assert_array_equal(one.per_query[name], values, err_msg=name)


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
            found = evaluate(y_true, scores, metrics=names, **given)
            assert_same(found, eagerly(evaluate, y_true, scores, metrics=names, **given))
            mean = found.mean()
            assert prepare(y_true, metrics=names, **given)(scores) == mean
            by_k = metric(y_true, scores, **given, **({"k": [3, 2000, 1]} if metric.has_cutoff else {}))
            assert np.ravel(by_k).tolist() == [mean[name] for name in at_cutoffs(metric, "@3", "@2000", "@1")]
    assert len(runs) == 9 * len(policies(metric))


@each(RECORDED)
def test_more_cutoffs_than_queries(metric, eagerly, runs):
    """Lists have the length of a cutoff, one less and one more."""
    names = at_cutoffs(metric, "@1", "@2", "@3", "@7", "@8", "@9", "@64", "")
    for seed, lengths in enumerate(([1], [8], [8, 3], [2, 9, 8])):
        for decimals in (0, 9):
            y_true, y_score, qid = rows_for(metric, seed, decimals, lengths)
            expected = eagerly(evaluate, y_true, y_score, qid=qid, metrics=names)
            assert_same(evaluate(y_true, y_score, qid=qid, metrics=names), expected)
            by_k = metric(y_true, y_score, qid=qid, average=None, **({"k": [9, 1, 8]} if metric.has_cutoff else {}))
            one_by_one = [expected.per_query[name] for name in at_cutoffs(metric, "@9", "@1", "@8")]
            assert_array_equal(by_k.T, one_by_one if metric.has_cutoff else one_by_one[0])
    assert len(runs) == 16


@pytest.mark.filterwarnings("ignore::sklearn_rank.exceptions.RankingWarning")
@each(RECORDED)
def test_unretrieved_rows_in_plans(metric, small_blocks, eagerly, runs):
    """One row, some, all rows of a query and all rows; formulas that rank or count such rows are called with rows."""
    asked = [*at_cutoffs(metric, "@3", ""), *(f"{metric.name}(ties={ties})" for ties in policies(metric))]
    names = dict(zip(asked, asked, strict=True))
    for seed, share in enumerate((0.001, 0.3, 0.9, 1.0)):
        y_true, y_score, qid = rows_for(metric, seed)
        y_score[(np.random.default_rng(seed).random(len(qid)) < share) | (qid == 3)] = -np.inf
        given = {"qid": qid, "metrics": names}
        # Lists of few labeled rows are ranked by these rows only.
        for labels in (y_true, y_true * (np.arange(len(qid)) % 20 == 0)):
            assert_same(evaluate(labels, y_score, **given), eagerly(evaluate, labels, y_score, **given))
    assert len(runs) == 0 if metric.keeps_unretrieved else len(runs) in (0, 8)


@each(RECORDED)
def test_few_labels_in_plans(metric, small_blocks, eagerly, runs):
    """If few grades are not 0, the other rows are not sorted, unless a step reads their ties."""
    names = [*at_cutoffs(metric, "@3", ""), *(f"{metric.name}(ties={ties})" for ties in policies(metric))]
    for seed, decimals in ((0, 9), (1, 1), (2, 0)):
        y_true, y_score, qid = rows_for(metric, seed, decimals)
        y_true[np.random.default_rng(seed).random(len(y_true)) < 0.98] = 0
        for others in ([], ["kendall", "spearman", "ndcg@2"]):
            given = {"qid": qid, "metrics": {name: name for name in [*names, *others]}}
            assert_same(evaluate(y_true, y_score, **given), eagerly(evaluate, y_true, y_score, **given))
    assert len(runs) == 6


@pytest.mark.parametrize("ties", ["average", "stable", "worst", "best"])
def test_constant_scores(ties, small_blocks, eagerly, runs):
    """Also if only some blocks are constant."""
    y_true, y_score, qid = rows(2, highest=1)
    names = [name for metric in RECORDED for name in at_cutoffs(metric, "@1", "@10", "")]
    for score in (np.zeros(len(qid)), np.full(len(qid), -2.5, dtype=np.float32), np.where(qid < 8, y_score, 0.5)):
        given = {"qid": qid, "metrics": names, "ties": ties}
        assert_same(evaluate(y_true, score, **given), eagerly(evaluate, y_true, score, **given))
    assert len(runs) == 3


@pytest.mark.parametrize("names", [["ndcg@10"], ["ndcg@10", "map", "err", "kendall", "iprec(ties=stable)"]], ids=len)
def test_more_rows_than_a_block(names, eagerly, runs):
    """As many rows as a block, one more, and a longer query."""
    for n_jobs, lengths in ((1, np.full(2**14, 8)), (2, np.append(np.full(2**14, 8), 1)), (2, [3, 2**17 + 5, 4])):
        y_true, y_score, qid = rows(0, decimals=2, lengths=lengths)
        given = {"qid": qid, "metrics": names, "n_jobs": n_jobs}
        assert_same(evaluate(y_true, y_score, **given), eagerly(evaluate, y_true, y_score, **given))
    assert len(runs) == 3


@pytest.mark.filterwarnings(
    "ignore:ndcg is not defined for any query:UserWarning", "ignore:.*cannot tell good rankings"
)
@pytest.mark.parametrize("highest", [4, 1, 0, 31])
def test_metrics_share_only_equal_steps(highest, small_blocks, eagerly, runs):
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
        given = {"qid": qid, "metrics": {name: name for name in order}}
        with np.errstate(all="raise"):
            found = evaluate(y_true, y_score, n_jobs=2, **given)
        assert_same(found, eagerly(evaluate, y_true, y_score, **given))
    # Checks compute again if no label reaches min_relevance.
    assert len(runs) == (2 if highest > 1 else 6)
    assert {curve.spec.metric.name for curve in runs[0].others} == {"precision", "infap", "iprec", "mse", "rbo"}


def plan_of(*names):
    """Plan of metrics for rows of grades up to 4."""
    return compute.BoundMetrics.reusable([cached_spec(name) for name in names], 1024, 4)._plan


def entries(*names):
    """Calls that are recorded for metrics."""
    return plan_of(*names).recordings["average"].entries


def test_equal_calls_are_recorded_once():
    names = ("dcg", "ndcg", "p", "recall", "hit", "f1")
    n_alone = sum(len(entries(name)) for name in names)
    assert len(entries(*names)) <= n_alone - 4  # DCG, hits for two formulas, and the number of relevant documents
    assert len(entries("ndcg", "ndcg(gain=linear)")) == 2 * len(entries("ndcg"))
    assert len(entries("p", "p(min_relevance=2)")) == len(entries("p")) + 1


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


# --- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:ndcg is not defined for any query:UserWarning")
@pytest.mark.parametrize("weight", [None, [1] * 5, [1e-100] * 5])
@pytest.mark.parametrize("otherwise", [1.7e308, 1e-300, 1.0, np.nan])
def test_sums_over_queries_that_overflow(otherwise, weight, eagerly):
    """Each value is finite."""
    y, s = [0, 0, 0, 0, 0], [1, 2, 3, 2, 1]
    given = {"qid": [0, 0, 1, 1, 1], "sample_weight": weight, "replace_undefined_by": otherwise}

    def outcome(call):
        try:
            return repr(call())
        except ValueError as error:
            return str(error)

    expected = outcome(lambda: eagerly(ndcg_score, y, s, **given))
    assert outcome(lambda: ndcg_score(y, s, **given)) == expected
    assert outcome(lambda: evaluate(y, s, metrics="ndcg", **given).mean()["ndcg"]) == expected
    assert outcome(lambda: prepare(y, metrics="ndcg", **given)(s)) == expected


# --- consecutive and concurrent calls ---------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings", "ignore:Every query has one row")
def test_a_plan_serves_larger_and_smaller_calls_in_turn(remembered, eagerly, runs):
    """It keeps no ties, labels or longer lists of the previous call."""
    names = ["ndcg@2", "ndcg", "map@3", "err@5", "q(beta=2)", "kendall", "p(ties=worst)@4"]
    sizes = [[4], [900], [300, 2, 40], [1], [7] * 90, [2, 1], [3] * 5, [1000, 24], [1] * 600]
    for turn in range(3):
        for seed, lengths in enumerate(sizes):
            y_true, y_score, qid = rows(seed, decimals=(0, 9, 1)[(turn + seed) % 3], lengths=lengths)
            y_true[0] = 4
            given = {"qid": qid, "metrics": names}
            assert_same(evaluate(y_true, y_score, **given), eagerly(evaluate, y_true, y_score, **given))
    assert len(runs) == 27
    assert len({*map(id, runs)}) == len(remembered) == 1


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
    kept = prepared._bound._plan._pool._unused
    assert len({*map(id, kept)}) == len(kept) <= n_jobs
    assert prepared(y_score) == expected


# --- memory ------------------------------------------------------------------------------------------------------


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


@pytest.mark.parametrize("constant", [False, True])
def test_a_plan_keeps_no_rows(constant):
    """A view of few rows would keep the whole array."""
    plan, y_true, y_score = plan_of("ndcg", "map"), np.ones(40, dtype=np.uint8), np.arange(40.0)
    out = [(np.empty((1, 1)), np.zeros((1, 1), dtype=bool)) for _ in range(2)]
    program, arrays = plans.BoundProgram(plan, 64, 64), [y_true, y_score, np.array([0, 40])]
    assert program.run(*arrays, constant, out)
    alive = [weakref.ref(x) for x in arrays]
    del arrays, y_true, y_score
    assert [ref() for ref in alive] == [None] * 3


def test_a_plan_keeps_no_user_function():
    def gain(label):
        return label * 2

    y_true, y_score, qid = rows()
    ndcg_score(y_true, y_score, qid=qid, gain=gain)
    alive = weakref.ref(gain)
    del gain
    assert alive() is None
