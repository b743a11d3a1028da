"""Plans that are remembered from one call to the next, for metrics that are shared."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sklearn_rank import evaluate, parse_metric, prepare
from sklearn_rank._metric import compute
from sklearn_rank._utils import threads
from sklearn_rank.metrics import err_score, ndcg_score, rbp_score


@pytest.fixture(autouse=True)
def remembered(monkeypatch):
    """Plans that are remembered: at first none."""
    monkeypatch.setattr(compute, "_REMEMBERED", {})
    return compute._REMEMBERED


def rows(seed=0, highest=4, lengths=(5, 1, 40, 3, 900, 2)):
    """Grades, scores with ties, and ids."""
    rng = np.random.default_rng(seed)
    qid = np.repeat(np.arange(len(lengths)), lengths)
    return rng.integers(0, highest + 1, len(qid)) * 1.0, rng.normal(size=len(qid)).round(1), qid


def test_rows_of_other_kinds_have_other_plans(eagerly, runs, remembered):
    """By turns longer queries and other grades; a plan serves the next rows of its kind."""
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
    assert [plan.highest for plan in runs[:6]] == [4, 1, 3, 4, 4, 4]
    assert len({*map(id, runs)}) == len(remembered) == 4


def test_plans_are_remembered_for_a_while(remembered, monkeypatch):
    """By the identities of shared metrics, which they keep."""
    monkeypatch.setattr(compute, "MOST_REMEMBERED", 3)
    y_true, y_score, qid = rows()
    values = {}
    for k in range(1, 20):
        values[k] = ndcg_score(y_true, y_score, qid=qid, k=k)
        assert len(remembered) <= 3
    for k in (3, 19, 1):
        assert evaluate(y_true, y_score, qid=qid, metrics=f"ndcg@{k}").mean()[f"ndcg@{k}"] == values[k]
        own = parse_metric(f"ndcg@{k}")
        assert evaluate(y_true, y_score, qid=qid, metrics=own).mean()[f"ndcg@{k}"] == values[k]
        assert not any(own is spec for specs, _ in remembered.values() for spec in specs)


@pytest.mark.parametrize("n_rows", [n + more for n in (2**10, 2**14) for more in (0, 1)])
def test_queries_as_long_as_a_remembered_plan_is_for(n_rows, remembered):
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, 2, n_rows), rng.random(n_rows)
    discount = 1 / np.log2(np.arange(n_rows) + 2)
    expected = (y[np.argsort(-score)] * discount).sum() / discount[: y.sum()].sum()
    for _ in range(2):
        assert ndcg_score(y, score, qid=np.zeros(n_rows)) == pytest.approx(expected, rel=1e-13)
    assert len(remembered) == (n_rows <= 2**14)


@pytest.mark.parametrize("n_before", [0, 2])
def test_grades_above_a_scale_are_refused(n_before):
    for _ in range(n_before):
        err_score([2, 0], [2, 1], qid=[1, 1], max_grade=2)
        rbp_score([2, 0], [2, 1], qid=[1, 1], gain="linear", max_grade=2)
    for function, keywords in ((err_score, {}), (rbp_score, {"gain": "linear"})):
        with pytest.raises(ValueError, match="must not be above max_grade=2"):
            function([3, 0], [2, 1], qid=[1, 1], max_grade=2, **keywords)


def test_as_many_plans_are_remembered_as_lists_of_metrics(remembered):
    for k in range(1, 65):
        ndcg_score([1, 0], [2, 1], qid=[0, 0], k=k)
    assert len(remembered) == 64
    ndcg_score([1, 0], [2, 1], qid=[0, 0], k=65)
    assert len(remembered) == 1


def test_metrics_that_are_not_shared_have_no_plan_that_is_remembered(remembered):
    """Functions, values adjusted for chance, and formulas that no plan computes."""
    y_true, y_score, qid = rows()
    for metrics in (["ndcg(adjusted=True)"], ["map", "ndcg(adjusted=True)"]):
        evaluate(y_true, y_score, qid=qid, metrics=metrics)
        ndcg_score(y_true, y_score, qid=qid, gain=np.sqrt)
    assert not remembered
    evaluate(y_true, y_score, qid=qid, metrics=["map", "rbo"])
    assert [bound for _, bound in remembered.values()] == [None]
    evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg"])
    evaluate(y_true, y_score, qid=qid, metrics=["map", "ndcg"])
    assert [bound is None for _, bound in remembered.values()] == [True, False]
    evaluate(y_true + 0.5, y_score, qid=qid, metrics=["map", "mrr"])
    assert len(remembered) == 2


def test_the_highest_grade_of_a_scale_is_within_it(remembered):
    for _ in range(2):
        assert err_score([4, 0], [2, 1], qid=[0, 0]) == 15 / 16
    assert len(remembered) == 1


def test_means_of_metrics_of_several_kinds():
    """Plain means, roots, pooled and geometric ones, and those that leave queries out, of labels that were prepared."""
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


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("block", [200, 2**17])
def test_a_remembered_plan_keeps_small_arrays_alone(n_jobs, block, runs, monkeypatch):
    """Prepared metrics keep theirs, which go with them."""
    monkeypatch.setattr(threads, "BLOCK_ROWS", block)
    y_true, y_score, qid = rows()
    for most, n_kept in ((0, 0), (10**6, 1)):
        monkeypatch.setattr(compute, "MOST_NUMBERS", most)
        compute._REMEMBERED.clear()
        for _ in range(2):
            evaluate(y_true, y_score, qid=qid, metrics=["ndcg@10", "map"], n_jobs=n_jobs)
        assert n_kept <= len(runs[-1]._kept) <= n_kept * n_jobs
    monkeypatch.setattr(compute, "MOST_NUMBERS", 0)
    prepare(y_true, qid=qid, metrics=["q", "map"], n_jobs=n_jobs).evaluate(y_score)
    assert runs[-1]._kept
