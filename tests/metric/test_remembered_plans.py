"""Plans of shared metrics are cached between calls."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank._engine.plan import BoundProgram, ProgramPool
from sklearn_rank._metric import compute
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._utils import blocks
from sklearn_rank.metrics import err_score, ndcg_score, rbp_score


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """The cache of plans, empty at the start."""
    monkeypatch.setattr(compute, "_REMEMBERED", {})
    return compute._REMEMBERED


def rows(seed=0, highest=4, lengths=(5, 1, 40, 3, 900, 2)):
    """Grades, scores with ties, and ids."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(lengths)), lengths)
    return rng.integers(0, highest + 1, len(qid)) * 1.0, rng.normal(size=len(qid)).round(1), qid


def test_different_kinds_of_rows_have_different_plans(eagerly, runs, remembered):
    """Alternate longer queries and other grades; a plan serves later rows of its kind."""
    data = [rows(0), rows(1, highest=1), rows(2, highest=3), rows(3), rows(4, lengths=[1025]), rows(5, lengths=[2048])]
    given = {"metrics": ["ndcg@10", "ndcg", "err@5", "q(beta=2)", "map@3"]}
    for _ in range(2):
        for y_true, y_score, qid in data:
            found = evaluate(y_true, y_score, qid=qid, **given)
            expected = eagerly(evaluate, y_true, y_score, qid=qid, **given)
            assert found.mean() == expected.mean()
            for name, values in expected.per_query.items():
                assert_array_equal(found.per_query[name], values, err_msg=name)
    assert runs[:6] == runs[6:]
    assert [plan.longest for plan in runs[:6]] == [1024] * 4 + [2048] * 2
    assert [plan.highest for plan in runs[:6]] == [4, 1, 4, 4, 4, 4]
    assert len({*map(id, runs)}) == len(remembered) == 3


def test_grades_of_a_class_share_a_plan(eagerly, runs, remembered):
    """Also if the scale of a metric ends within the class."""
    names = ["ndcg@10", "ndcg(gain=linear)", "err(max_grade=30)", "rbp(gain=linear, max_grade=30)", "q", "map", "auc"]
    for highest in range(31):
        y_true, y_score, qid = rows(highest, highest, lengths=(5, 30, 12))
        y_true[0] = highest
        given = {"qid": qid, "metrics": names}
        found, expected = evaluate(y_true, y_score, **given), eagerly(evaluate, y_true, y_score, **given)
        for name, values in expected.per_query.items():
            assert_array_equal(found.per_query[name], values, err_msg=name)
    assert [plan.highest for plan in runs] == [1] * 2 + [4] * 3 + [7] * 3 + [30] * 23
    assert len({*map(id, runs)}) == len(remembered) == 4


def test_many_functions_of_small_queries_reuse_plans(monkeypatch, remembered):
    """Thirteen functions used to have a plan for each of five highest grades, one more than the cache holds."""

    def ask():
        for k in range(1, 40):
            for highest in range(5):
                ndcg_score([highest, 0, 0], [3, 2, 1], qid=[0, 0, 0], k=k)

    ask()
    assert len(remembered) == 2 * 39
    monkeypatch.setattr(compute.BoundMetrics, "reusable", None)
    ask()


def test_plans_are_cached_by_identity(remembered, monkeypatch):
    """The key has the identities of shared metrics, and the entry keeps them alive."""
    monkeypatch.setattr(compute, "MOST_RANKS", 3 * 1024)
    y_true, y_score, qid = rows()
    values = {}
    for k in range(1, 20):
        values[k] = ndcg_score(y_true, y_score, qid=qid, k=k)
        assert len(remembered) <= 3
    for k in (3, 19, 1):
        assert evaluate(y_true, y_score, qid=qid, metrics=f"ndcg@{k}").mean()[f"ndcg@{k}"] == values[k]
        own = parse_metric(f"ndcg@{k}")
        assert evaluate(y_true, y_score, qid=qid, metrics=own).mean()[f"ndcg@{k}"] == values[k]
        assert not any(own is spec for known in remembered.values() for spec in known.specs)


@pytest.mark.parametrize("n_rows", [n + more for n in (2**10, 2**14) for more in (0, 1)])
def test_queries_of_the_longest_length_of_a_plan(n_rows, remembered):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, n_rows), rng.random(n_rows)
    discount = 1 / np.log2(np.arange(n_rows) + 2)
    expected = (y[np.argsort(-score)] * discount).sum() / discount[: y.sum()].sum()
    for _ in range(2):
        assert ndcg_score(y, score, qid=np.zeros(n_rows)) == pytest.approx(expected, rel=1e-13)
    assert len(remembered) == (n_rows <= 2**14)


@pytest.mark.parametrize("n_before", [0, 2])
def test_grades_above_a_scale_are_rejected(n_before):
    for _ in range(n_before):
        err_score([2, 0], [2, 1], qid=[1, 1], max_grade=2)
        rbp_score([2, 0], [2, 1], qid=[1, 1], gain="linear", max_grade=2)
    for function, keywords in ((err_score, {}), (rbp_score, {"gain": "linear"})):
        with pytest.raises(ValueError, match="must not be above max_grade=2"):
            function([3, 0], [2, 1], qid=[1, 1], max_grade=2, **keywords)


def test_a_full_cache_drops_the_oldest_plans(remembered, monkeypatch):
    """It drops a quarter; a plan for longer queries counts in proportion to its ranks."""
    assert compute.MOST_RANKS == 1024 * compute.LEAST_LONGEST
    monkeypatch.setattr(compute, "MOST_RANKS", 64 * compute.LEAST_LONGEST)
    for k in range(1, 65):
        ndcg_score([1, 0], [2, 1], qid=[0, 0], k=k)
    first, *_, last = remembered
    assert len(remembered) == 64
    ndcg_score([1, 0], [2, 1], qid=[0, 0], k=65)
    assert len(remembered) == 64 - 17 + 1
    assert first not in remembered
    assert last in remembered
    y_true, y_score, qid = rows(lengths=[2**14])
    for k in range(1, 10):
        ndcg_score(y_true, y_score, qid=qid, k=k)
        assert sum(longest for longest, *_ in remembered) <= compute.MOST_RANKS
    assert len(remembered) > 3


def test_plans_of_unshared_metrics_are_not_cached(remembered):
    """Functions, values adjusted for chance, and formulas without a plan."""
    y_true, y_score, qid = rows()
    for metrics in (["ndcg(adjusted=True)"], ["map", "ndcg(adjusted=True)"]):
        evaluate(y_true, y_score, qid=qid, metrics=metrics)
        ndcg_score(y_true, y_score, qid=qid, gain=np.sqrt)
    assert not remembered
    evaluate(y_true, y_score, qid=qid, metrics=["map", "rbo"])
    assert [known.bound for known in remembered.values()] == [None]
    evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg"])
    evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg"])
    assert [known.bound is None for known in remembered.values()] == [True, False]
    evaluate(y_true + 0.5, y_score, qid=qid, metrics=["map", "mrr"])
    assert len(remembered) == 2


def test_the_highest_grade_of_a_scale_is_within_it(remembered):
    for _ in range(2):
        assert err_score([4, 0], [2, 1], qid=[0, 0]) == 15 / 16
    assert len(remembered) == 1


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
    assert type(ndcg_score(y_true, y_score, qid=qid)) is float
    for name, spec in specs.items():
        keywords = dict(spec.keywords) | ({"k": spec.k} if spec.k else {})
        assert spec.metric(y_true, y_score, qid=qid, **keywords) == pytest.approx(alone[name], rel=1e-15)


# --- programs between two calls -------------------------------------------------------------------------------


@pytest.fixture
def pool(monkeypatch):
    """The pool of idle programs, empty at the start."""
    monkeypatch.setattr(compute, "_PROGRAMS", ProgramPool(compute._PROGRAMS._max_bytes))
    return compute._PROGRAMS


def n_bytes(pool):
    return sum(program.n_bytes for program in pool._unused)


def test_idle_programs_fit_into_the_limit(pool):
    """Also if each cutoff of 60,000 rows has a plan; Python and NumPy allocate no more than estimated."""
    y_true, y_score, qid = rows(lengths=[600] * 100)
    for ask in (
        lambda k: ndcg_score(y_true, y_score, qid=qid, k=k),
        lambda k: ndcg_score([1, 0], [2, 1], qid=[0, 0], k=k),
    ):
        for k in range(1, 41):
            ask(k)
            assert n_bytes(pool) <= 8 * 2**20
    assert n_bytes(pool) > 4 * 2**20
    tracemalloc.start()
    try:
        for k in range(1, 41):
            plan_of_k = compute.BoundMetrics.reusable([cached_spec(f"ndcg@{k}")], 1024, 4)._plan
            before = tracemalloc.get_traced_memory()[0]
            program = BoundProgram(plan_of_k, 2 ** k.bit_length(), k)
            assert tracemalloc.get_traced_memory()[0] - before <= program.n_bytes
    finally:
        tracemalloc.stop()


def test_the_last_used_programs_are_kept(pool, remembered):
    y_true, y_score, qid = rows(lengths=[600] * 100)
    for k in range(1, 41):
        ndcg_score(y_true, y_score, qid=qid, k=1)
        ndcg_score(y_true, y_score, qid=qid, k=k)
    keys, known = [known.bound._plan.key for known in remembered.values()], {b.key for b in pool._unused}
    assert {keys[0], keys[-1]} < known < {*keys}


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("block", [200, 2**17])
def test_programs_beyond_the_limit_are_dropped(n_jobs, block, runs, pool, monkeypatch):
    """Programs of prepared metrics are dropped as well, together with the metrics."""
    monkeypatch.setattr(blocks, "BLOCK_ROWS", block)
    y_true, y_score, qid = rows()
    for most, n_kept in ((0, 0), (10**7, 1)):
        pool._max_bytes = most
        for _ in range(2):
            evaluate(y_true, y_score, qid=qid, metrics=["ndcg@10", "map"], n_jobs=n_jobs)
        assert n_kept <= len(pool._unused) <= n_kept * n_jobs
    pool._max_bytes = 0
    prepare(y_true, qid=qid, metrics=["q", "map"], n_jobs=n_jobs).evaluate(y_score)
    assert runs[-1]._pool._unused


def test_a_program_that_is_too_large_evicts_no_other(pool):
    ndcg_score([1, 0], [2, 1], qid=[0, 0])
    before = [*pool._unused]
    assert before
    y_true, y_score, qid = rows(lengths=[2] * 30_000)
    ndcg_score(y_true, y_score, qid=qid, k=[*range(1, 41)])
    assert pool._unused == before


@pytest.mark.parametrize("step", ["take", "give"])
def test_a_program_that_another_thread_takes_first(step):
    """Two threads would write to the same arrays; here the other thread takes the program during the lookup."""
    plan, taken = compute.BoundMetrics.reusable([cached_spec("map")], 1024, 4)._plan, []

    class Unused(list):
        def remove(self, x):
            super().remove(x)
            taken.append(x)
            super().remove(x)

    pool = ProgramPool(10**6)
    first, second = BoundProgram(plan, 16, 1), BoundProgram(plan, 16, 1)
    pool._unused = Unused([first, second])
    if step == "take":
        third = pool.acquire(plan, 16, 1)
        assert third not in (first, second)
        assert taken == [second, first]
        assert not pool._unused
    else:
        pool._max_bytes = 2 * first.n_bytes
        pool.release(third := BoundProgram(plan, 16, 1))
        assert taken == [first]
        assert pool._unused == [second, third]
