"""Plans of many rows: the numbers of the general path to the last bit, block by block, and what is left to it."""

import gc
import weakref
from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from registry import METRICS, each_metric

from sklearn_rank import evaluate, prepare
from sklearn_rank._engine.check import read
from sklearn_rank._engine.queries import Rows
from sklearn_rank._metric import plans
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._utils import threads
from sklearn_rank.metrics import ndcg_score

LENGTHS = np.array([5, 1, 40, 3, 900, 2, 17, 60, 8, 1, 7, 130, 30, 6, 2, 300])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Several blocks of other numbers of rows and queries."""
    monkeypatch.setattr(threads, "BLOCK_ROWS", 200)


@pytest.fixture
def in_general(monkeypatch):
    """Evaluate without a plan."""

    def call(*arrays, **keywords):
        with monkeypatch.context() as patched:
            patched.setattr(plans.PlannedMetrics, "compute", lambda *_: None)
            return evaluate(*arrays, **keywords)

    return call


@pytest.fixture
def used(monkeypatch):
    """Plans that calls were computed by."""
    found, compute = [], plans.PlannedMetrics.compute

    def compute_and_tell(metrics, *args):
        values = compute(metrics, *args)
        if values is not None:
            found.append(metrics.plan)
        return values

    monkeypatch.setattr(plans.PlannedMetrics, "compute", compute_and_tell)
    return found


def rows(seed=0, highest=4, decimals=1):
    """Grades, scores with ties, and ids, which are not grouped if the seed is odd."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(LENGTHS)), LENGTHS)
    if seed % 2:
        rng.shuffle(qid)
    return rng.integers(0, highest + 1, len(qid)) * 1.0, rng.normal(size=len(qid)).round(decimals), qid


def assert_same(one, other):
    """Assert that two results are of the same bits."""
    assert repr(one.mean()) == repr(other.mean())
    assert one.n_undefined == other.n_undefined
    for name, values in other.per_query.items():
        assert_array_equal(one.per_query[name], values)


PLANNED = [metric for metric in METRICS if plans.planned_for_any([cached_spec(metric.name)], plans.ANY_FEW) is not None]


# --- the same numbers ----------------------------------------------------------------------------------------


@each_metric
def test_each_metric(metric, in_general, used):
    names = [metric.name + at for at in (["@1", "@3", "@10", "@2000", ""] if metric.has_cutoff else [""])]
    top = metric.labels[1] if isinstance(metric.labels[1], int | float) else 4
    for seed, decimals in ((0, 9), (1, 1), (2, 0)):
        y_true, y_score, qid = rows(seed, min(top, 4), decimals)
        if metric.subtopics:
            y_true = np.minimum(np.stack([y_true, y_true[::-1]], axis=1), 1)
        ties = {"ties": "stable"} if "ties" in metric.defaults and metric not in PLANNED else {}
        for n_jobs in (1, 2):
            given = {"qid": qid, "metrics": names, "n_jobs": n_jobs, **ties}
            for scores in (y_score, y_score.astype(np.float32)):
                assert_same(evaluate(y_true, scores, **given), in_general(y_true, scores, **given))
    assert len(used) == (12 if metric in PLANNED else 0)


@each_metric
def test_few_labels(metric, in_general, used):
    """Where few grades are not 0, the others are not put in order, and their ties not told."""
    top = metric.labels[1] if isinstance(metric.labels[1], int | float) else 4
    names = [metric.name + at for at in (["@3", ""] if metric.has_cutoff else [""])]
    policies = ("worst", "best", "stable") if metric in PLANNED and "ties" in metric.defaults else ()
    names += [f"{metric.name}(ties={ties})" for ties in policies]
    for seed, decimals in ((0, 9), (1, 1), (2, 0)) if metric in PLANNED else ():
        y_true, y_score, qid = rows(seed, min(top, 4), decimals)
        y_true[np.random.default_rng(seed).random(len(y_true)) < 0.98] = 0
        given = {"qid": qid, "metrics": names}
        assert_same(evaluate(y_true, y_score, **given), in_general(y_true, y_score, **given))
    assert len(used) == (3 if metric in PLANNED else 0)


@pytest.mark.parametrize("first", ["ndcg@3", "kendall", "spearman"])
def test_few_labels_for_metrics_that_read_all_ties_and_others(first, in_general, used):
    y_true, y_score, qid = rows(2, decimals=0)
    y_true[np.random.default_rng(2).random(len(y_true)) < 0.98] = 0
    names = {first: first, "ndcg@3": "ndcg@3", "map": "map", "kendall": "kendall", "spearman": "spearman", "opa": "opa"}
    found = evaluate(y_true, y_score, qid=qid, metrics=names)
    assert_same(found, in_general(y_true, y_score, qid=qid, metrics=names))
    alone = evaluate(y_true + 0.5, y_score, qid=qid, metrics=["kendall", "spearman", "opa"])  # which are no grades
    for name, values in alone.per_query.items():
        assert_array_equal(found.per_query[name], values)
    assert len(used) == 1


@pytest.mark.filterwarnings("ignore:ndcg is not defined for any query:UserWarning")
@pytest.mark.parametrize("seed", range(4))
def test_all_at_once_with_other_ties_thresholds_and_depths(seed, in_general, used):
    """Metrics that share steps, and those that must not."""
    names = [m.name for m in PLANNED if m.has_cutoff]
    metrics = [
        f"{name}({keywords}){at}"
        for name in names
        for keywords in ("ties=average", "ties=worst", "ties=stable", "min_relevance=2")
        for at in ("@2", "@40", "")
        if "ties" in keywords or "min_relevance" not in cached_spec(name).metric.formula_params
    ]
    metrics += ["ndcg(gain=linear)", "q(beta=3)@5", "q(gain=exp2)", "rbp(p=0.5)@4", "dcg(discount=reciprocal)@7", "auc"]
    metrics += ["map(average=geometric)", "ndcg(replace_undefined_by=nan)@3", "p(replace_undefined_by=1)@3"]
    y_true, y_score, qid = rows(seed, highest=(4, 1, 0, 31)[seed])
    if seed == 3:
        metrics = [name for name in metrics if "err" not in name and "pfound" not in name]
    given = {"qid": qid, "metrics": dict(zip(map(str, range(len(metrics))), metrics, strict=True))}
    with np.errstate(all="raise"):
        found = evaluate(y_true, y_score, n_jobs=2, **given)
    assert_same(found, in_general(y_true, y_score, **given))
    assert len(used) == 1


def test_weights_and_undefined_queries(in_general):
    y_true, y_score, qid = rows(1)
    y_true[qid % 3 == 0] = 0
    given = {"qid": qid, "metrics": ["ndcg@10", "map", "recall@5", "hit@1"], "sample_weight": qid * 0.3 + 1}
    found = evaluate(y_true, y_score, **given)
    assert_same(found, in_general(y_true, y_score, **given))
    assert found.n_undefined["map"] == 6


# --- cutoffs that no list reaches ----------------------------------------------------------------------------


def test_cutoffs_that_no_list_reaches_are_computed_once(used, in_general):
    """But for formulas that read the cutoff, as precision does."""
    y_true, y_score, _ = rows()
    qid = np.arange(len(y_true)) // 5
    names = [
        name + at
        for name in ("ndcg", "p", "acg(denominator=min_k_n)", "map(denominator=k)")
        for at in ("@3", "@5", "@9", "")
    ]
    given = {"qid": qid, "metrics": names}
    found = evaluate(y_true, y_score, **given)
    assert_same(found, in_general(y_true, y_score, **given))
    assert [len(cutoffs) for cutoffs in used[0].cutoffs][:2] == [2, 4]
    curve = ndcg_score(y_true, y_score, qid=qid, k=[9, 3, 7])
    assert curve.tolist() == [found.mean()[f"ndcg@{k}"] for k in (9, 3, 5)]


def test_a_cutoff_as_long_as_the_longest_list(in_general):
    y_true, y_score, _ = rows()
    qid = np.arange(len(y_true)) // 64
    for k in (63, 64, 65):
        given = {"qid": qid, "metrics": [f"ndcg@{k}", f"p@{k}", f"recall@{k + 1}", "ndcg", "recall"]}
        assert_same(evaluate(y_true, y_score, **given), in_general(y_true, y_score, **given))


# --- functions of the user -----------------------------------------------------------------------------------


def test_a_function_is_asked_for_grades_that_occur():
    """A plan has tables of all grades, of which a table of the user's may have a few, and a function may bear a few."""
    y_true, y_score, qid = rows(0, highest=1)
    asked = []

    def gain(label):
        asked.extend(np.unique(label))
        return 2.0 * label

    y_true *= 3
    by_table = ndcg_score(y_true, y_score, qid=qid, gain={0: 0, 3: 6})
    assert (
        by_table
        == ndcg_score(y_true, y_score, qid=qid, gain=gain)
        == ndcg_score(y_true, y_score, qid=qid, gain="linear")
    )
    assert {*asked} == {0, 3}


# --- what is left to the general path ------------------------------------------------------------------------


@pytest.mark.parametrize("what", ["unjudged", "fractions", "not retrieved", "subtopics", "own", "long", "micro"])
def test_rows_and_metrics_without_a_plan(what, used, in_general, monkeypatch):
    y_true, y_score, qid = rows()
    metrics, given = ["ndcg@5", "map"], {}
    if what == "unjudged":
        y_true[::7], given["unjudged"] = np.nan, "drop"
    elif what == "fractions":
        y_true[3] = 0.5
    elif what == "not retrieved":
        y_score[::7] = -np.inf
    elif what == "subtopics":
        y_true, metrics = np.stack([y_true, y_true], axis=1), ["alpha_ndcg"]
    elif what == "own":
        metrics.append(lambda y, s: float(y[s.argmax()]))
    elif what == "long":
        monkeypatch.setattr(plans, "LONGEST", 899)
        monkeypatch.setattr(plans, "LONGEST_REMEMBERED", 899)
    else:
        metrics, given["average"] = ["p@5"], "micro"
    given |= {"qid": qid, "metrics": metrics}
    assert_same(evaluate(y_true, y_score, **given), in_general(y_true, y_score, **given))
    assert not used


@pytest.mark.parametrize("longest", ["LONGEST", "LONGEST_REMEMBERED"])
def test_a_query_as_long_as_is_planned(longest, used, monkeypatch):
    """Those that are not remembered have tables of as many ranks as there are."""
    monkeypatch.setattr(plans, "LONGEST", 900)
    monkeypatch.setattr(plans, "LONGEST_REMEMBERED", 899)
    monkeypatch.setattr(plans, longest, 900 if longest == "LONGEST" else 1024)
    y_true, y_score, qid = rows()
    evaluate(y_true, y_score, qid=qid, metrics="map")
    assert [plan.longest for plan in used] == [900 if longest == "LONGEST" else 1024]


@pytest.mark.parametrize(("n_rows", "longest"), [(3599, 900), (3600, 900), (3600, 899)])
def test_queries_too_long_for_a_plan_have_one_where_there_are_several(n_rows, longest, used, in_general, monkeypatch):
    for name, value in {"LONGEST": 10, "LONGEST_REMEMBERED": 10, "LONGEST_OF_MANY": longest}.items():
        monkeypatch.setattr(plans, name, value)
    y_true, y_score, qid = (np.tile(x, 3)[:n_rows] for x in rows())
    qid += 16 * np.repeat([0, 1, 2], len(qid) // 3 + 1)[:n_rows]
    given = {"qid": qid, "metrics": ["ndcg", "dcg@7", "dcg@700", "map", "rbp@800"]}
    assert_same(evaluate(y_true, y_score, **given), in_general(y_true, y_score, **given))
    assert [plan.longest for plan in used] == [900] * (n_rows == 3600 and longest == 900)


# --- plans that are remembered -------------------------------------------------------------------------------


def test_rows_of_other_kinds_have_other_plans(used, in_general, monkeypatch):
    """By turns: longer queries, other grades, fewer rows; and a plan serves the next rows of its kind."""
    monkeypatch.setattr(plans, "_PLANS", {})
    given = {"metrics": ["ndcg@10", "ndcg", "err@5", "q(beta=2)", "map@3"]}
    data = [rows(0), rows(1, highest=1), rows(2, highest=3), rows(3, decimals=0)]
    data += [(y, score, np.arange(len(y)) // n) for n, (y, score, _) in zip((5, 64, 101, 1500), data, strict=True)]
    data += [tuple(x[:900] for x in data[0])]
    for _ in range(2):
        for y_true, y_score, qid in data:
            found = evaluate(y_true, y_score, qid=qid, **given)
            assert_same(found, in_general(y_true, y_score, qid=qid, **given))
    assert len(used) == 2 * len(data)
    assert used[: len(data)] == used[len(data) :]
    assert [plan.longest for plan in used[: len(data)]] == [1024, 1024, 1024, 1024, 5, 64, 128, 2048, plans.FEW_ROWS]
    assert used[0] is used[3]
    assert used[0].highest == 4


def test_labels_beyond_a_scale_are_refused_where_a_plan_is_remembered(used):
    y_true, y_score, qid = rows()
    for _ in range(2):
        evaluate(y_true, y_score, qid=qid, metrics="err(max_grade=4)")
    y_true[7] = 5
    with pytest.raises(ValueError, match="must not be above max_grade=4"):
        evaluate(y_true, y_score, qid=qid, metrics="err(max_grade=4)")
    assert len(used) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("in_blocks", [True, False])
def test_a_remembered_plan_keeps_small_arrays_alone(n_jobs, in_blocks, used, monkeypatch):
    """Those of prepared labels, which their owner lets go of, stay."""
    monkeypatch.setattr(plans, "_PLANS", {})
    if not in_blocks:
        monkeypatch.setattr(threads, "BLOCK_ROWS", 10**6)
    y_true, y_score, qid = rows()
    for most_kept, n_kept in ((0, 0), (10**6, 1)):
        monkeypatch.setattr(plans, "MOST_NUMBERS", most_kept)
        plans._PLANS.clear()
        for _ in range(2):
            evaluate(y_true, y_score, qid=qid, metrics=["ndcg@10", "map"], n_jobs=n_jobs)
        assert n_kept <= len(used[-1]._rooms) <= n_kept * n_jobs
    monkeypatch.setattr(plans, "MOST_NUMBERS", 0)
    prepare(y_true, qid=qid, metrics=["q", "map"], n_jobs=n_jobs).evaluate(y_score)
    assert used[-1]._rooms


def test_arrays_that_another_thread_takes_are_not_kept_as_well(used):
    """Two threads would write to them. Here the other one takes them while they are looked at."""
    y_true, y_score, qid = rows()
    evaluate(y_true, y_score, qid=qid, metrics=["ndcg@10", "map"])
    (plan,) = used
    taken = []

    class Room:
        @property
        def n_numbers(self):
            taken.extend(plan._rooms)
            plan._rooms.clear()
            return 1

    plan._rooms[:] = [Room(), Room(), Room()]
    plan.let_go()
    assert len(plan._rooms) + len(taken) == 3
    assert not {*map(id, plan._rooms)} & {*map(id, taken)}
    plan._rooms.clear()


# --- rooms ---------------------------------------------------------------------------------------------------


def test_prepared_labels_keep_their_plan(used, in_general):
    """It is left aside for scores that have none, and taken again."""
    y_true, _, qid = rows(1)
    given = {"qid": qid, "metrics": ["ndcg@10", "map", "q@3", "p@5"]}
    prepared = prepare(y_true, **given)
    for seed in range(4):
        scores = rows(seed)[1]
        if seed == 2:
            scores[::7] = -np.inf
        assert_same(prepared.evaluate(scores), in_general(y_true, scores, **given))
        assert prepared(scores) == in_general(y_true, scores, **given).mean()
    assert len(used) == 6
    assert len({*map(id, used)}) == 1


def test_threads_share_a_prepared_plan():
    """Each call has arrays of its own."""
    y_true, _, qid = rows(1)
    scores = [rows(seed, decimals=2)[1] for seed in range(12)]
    metrics = ["ndcg@10", "map", "q@3", "err"]
    prepared = prepare(y_true, qid=qid, metrics=metrics)
    expected = [evaluate(y_true, score, qid=qid, metrics=metrics) for score in scores]
    with ThreadPoolExecutor(4) as pool:
        for found, alone in zip(pool.map(prepared.evaluate, scores * 5), expected * 5, strict=True):
            assert_same(found, alone)


def test_a_plan_keeps_no_rows():
    """A view of a few would keep all that it is a view of."""
    y_true, y_score, _ = rows()
    plan = plans.planned_for_any([cached_spec("ndcg"), cached_spec("map")], plans.ANY_FEW).plan
    out = [(np.empty((1, 1)), np.zeros((1, 1), dtype=bool)) for _ in range(2)]
    arrays = y_true[:40].astype(np.uint8), y_score[:40].copy(), np.array([0, 40])
    assert plan.fill(Rows(*arrays), out, 64, 64)
    alive = [weakref.ref(x) for x in arrays]
    del arrays
    assert [ref() for ref in alive] == [None] * 3


def test_a_plan_keeps_no_function_of_the_user():
    def gain(label):
        return label * 2

    y_true, y_score, qid = (x[:40] for x in rows())
    assert ndcg_score(y_true, y_score, qid=qid, gain=gain) == ndcg_score(y_true, y_score, qid=qid, gain="linear")
    alive = weakref.ref(gain)
    del gain
    gc.collect()
    assert alive() is None


def test_values_are_one_piece_of_memory():
    """Of which no two metrics, and no two of their cutoffs, share a part."""
    specs = [cached_spec(name) for name in ("ndcg@3", "ndcg", "map", "err@5")]
    y = np.arange(20) % 3
    queries = read(y, -y * 1.0, qid=np.arange(20) // 10)
    curves = plans.planned(queries, specs, plans.curves_of(queries, specs)).empty(1000)
    for parts in zip(*[(curve.numerator, curve.undefined) for curve in curves], strict=True):
        assert len({id(part.base) for part in parts}) == 1
        columns = [column for part in parts for column in part.T]
        assert len(columns) == 4
        assert all(column.flags.c_contiguous for column in columns)
        assert not any(np.shares_memory(a, b) for a, b in combinations(columns, 2))
