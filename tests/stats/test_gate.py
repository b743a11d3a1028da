"""The gate: decisions by hand, laws, references, error rates, what is refused, and the result in all its forms."""

import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from changed_files import changed
from known_cases import references
from numpy.testing import assert_allclose
from registry import together
from scipy import stats

from sklearn_rank import compare_systems, evaluate
from sklearn_rank.results import Evaluation, GateResult
from sklearn_rank.stats import confidence_interval, no_worse, power_of
from sklearn_rank.stats._gate import estimate_mean

ALPHA = 0.05


def results(new, old, *, metric="ndcg@10", **keywords):
    """Results of values, queries in their order."""
    values = {"new": new, "old": old}
    return {name: Evaluation.from_values(range(len(x)), {metric: x}, **keywords) for name, x in values.items()}


def drawn(rng, n, loss=0.0, spread=0.1):
    old = np.clip(rng.normal(0.5, 0.2, n), 0, 1)
    return results(old - loss + rng.normal(0, spread, n), old)


# --- by hand -----------------------------------------------------------------------------------------------------


def test_three_decisions_by_hand():
    """Differences 0.01 and -0.01, n = 8: mean 0, standard error 0.01 sqrt(8/7) / sqrt(8), t(0.95, 7) = 1.8946."""
    old = np.full(8, 0.5)
    new = old + 0.01 * np.array([1, -1] * 4)
    reach = 1.894578605 * 0.01 / math.sqrt(7)
    found = no_worse(**results(new, old), margin=0.008)
    assert (found.decision, found.decisions, bool(found)) == ("no worse", {"ndcg@10": "no worse"}, True)
    assert found.low["ndcg@10"] == pytest.approx(-reach)
    assert found.high["ndcg@10"] == pytest.approx(reach)
    found = no_worse(**results(new, old), margin=0.007)
    assert (found.decision, bool(found)) == ("undecided", False)
    found = no_worse(**results(new - 0.1, old), margin=0.09)
    assert (found.decision, bool(found)) == ("worse", False)
    assert found.difference["ndcg@10"] == pytest.approx(-0.1)


def test_every_metric_must_pass_and_one_may_fail():
    """The bound of worse is at alpha over two metrics, the one of no worse at alpha."""
    old = np.linspace(0.2, 0.8, 9)
    d = 0.03 * np.array([-1, 1, -1, 1, 0, 1, -1, 1, -1])
    same, lower = old + d, old + d - 0.05
    new = Evaluation.from_values(range(9), {"map": same, "mrr": lower})
    old = Evaluation.from_values(range(9), {"map": old, "mrr": old})
    found = no_worse(new=new, old=old, margin=0.02)
    assert found.decisions == {"map": "no worse", "mrr": "worse"}
    assert found.decision == "worse"
    error = d.std(ddof=1) / 3
    assert found.low["mrr"] == pytest.approx(-0.05 - stats.t.isf(0.05, 8) * error)
    assert found.high["mrr"] == pytest.approx(-0.05 + stats.t.isf(0.025, 8) * error)
    just = 0.05 - stats.t.isf(0.04, 8) * error
    assert no_worse(new=new, old=old, margin={"mrr": just}).decision == "worse"
    assert no_worse(new=new, old=old, margin={"map": 0.02, "mrr": just}).decision == "undecided"
    assert no_worse(new=new, old=old, margin={"map": 0.02, "mrr": 0.2}).decision == "no worse"
    assert no_worse(new=new, old=old, margin={"map": 0.001, "mrr": 0.2}).decision == "undecided"


def test_of_errors_the_upper_bound_decides(rng):
    """The same values as an error and, negated, as a metric: the bounds change sides with the sign."""
    new, old = rng.random((2, 30))
    lower, higher = results(new, old, metric="mse"), results(-new, -old, metric="minus")
    found, expected = no_worse(**lower, margin=0.1), no_worse(**higher, margin=0.1)
    assert found.difference["mse"] == -expected.difference["minus"] == pytest.approx(float(np.mean(new - old)))
    assert (found.low["mse"], found.high["mse"]) == (-expected.high["minus"], -expected.low["minus"])
    assert (found.pvalue["mse"], found.decision) == (expected.pvalue["minus"], expected.decision)
    assert "Lower is better in mse." in str(found)
    assert (found.table.rows[0][9], expected.table.rows[0][9]) == ("high < 0.1", "low > -0.1")
    (query, before, after, difference) = found.lost_most(1).rows[0]
    assert (before, after, difference) == (old[query], new[query], max(new - old))


def test_levels_of_the_bound_that_decides_and_of_the_other():
    """Of two metrics the other bound is at 1 - alpha / 2, on whichever side it is."""
    d = np.array([0.3, 0.1, -0.2, 0.0, 0.2, -0.1])
    new = Evaluation.from_values(range(6), {"map": 0.5 + d, "mse": 0.5 + d})
    old = Evaluation.from_values(range(6), dict.fromkeys(("map", "mse"), np.full(6, 0.5)))
    found = no_worse(new=new, old=old, margin=0.2)
    decides, other = (stats.t.isf(level, 5) * stats.sem(d) for level in (0.05, 0.025))
    assert (found.low["map"], found.high["map"]) == pytest.approx((d.mean() - decides, d.mean() + other))
    assert (found.low["mse"], found.high["mse"]) == pytest.approx((d.mean() - other, d.mean() + decides))


def test_no_difference_of_errors_is_no_negative_zero():
    found = no_worse(**results([0.5, 0.7], [0.5, 0.7], metric="mse"), margin=0)
    assert "-0.0000" not in str(found)
    assert found.table.rows[0][9] == "high < 0"


@pytest.mark.parametrize("margin", [0, 0.01])
def test_systems_without_a_difference_are_no_worse(margin):
    for values in (np.full(5, 0.3), np.linspace(0, 1, 5), np.zeros(5)):
        assert no_worse(**results(values * (1 + 1e-15), values), margin=margin)
    better = np.linspace(0, 1, 5)
    assert no_worse(**results(better + 0.1, better), margin=margin)


def test_a_loss_of_just_the_margin_is_never_decided():
    old = np.linspace(0.3, 0.9, 7)
    found = no_worse(**results(old - 0.1, old), margin=0.1)
    assert (found.decision, found.n_needed) == ("undecided", None)
    assert "No number of queries would decide" in str(found)
    assert no_worse(**results(old - 0.1, old), margin=0.0999).decision == "worse"
    assert no_worse(**results(old - 0.1, old), margin=0.1001).decision == "no worse"


# --- references --------------------------------------------------------------------------------------------------

PAIRED = (
    [0.0, 0.1553, 0.7369, 0.2415, 0.4142, 0.0, 0.9808, 0.1056, 0.5602, 0.1236, 0.1383, 0.0547],
    [0.0, 0.2489, 0.5977, 0.2812, 0.3878, 0.0, 0.8542, 0.0, 0.5096, 0.2998, 0.1341, 0.0],
)
WEIGHTED = [0.707, 0.547, 0.46, 0.802, 0.187, 1.935, 0.875, 0.243, 0.658, 0.777]
VALUES = [0.4522, 0.7494, 0.2887, 0.8052, 0.8172, 0.4018, 0.3119, 0.4296, 0.509, 0.5939]


def test_the_lower_test_is_the_one_of_statsmodels():
    """ttost_paired(a, b, -0.05, 0.05) and DescrStatsW(a - b).ttest_mean(-0.03, "larger") of statsmodels 0.15."""
    new, old = results(*PAIRED).values()
    assert no_worse(new=new, old=old, margin=0.05).pvalue["ndcg@10"] == pytest.approx(0.01391606415802883, rel=1e-12)
    found = no_worse(new=new, old=old, margin=0.03)
    assert found.pvalue["ndcg@10"] == pytest.approx(0.05212335578087075, rel=1e-12)
    assert found.low["ndcg@10"] == pytest.approx(-0.030655908219566735, rel=1e-12)


def test_weights_are_linearized():
    """R's survey::svymean of ten values with weights, and statsmodels' WLS with HC1."""
    found = estimate_mean(np.array(VALUES), None, np.array(WEIGHTED))
    assert found == pytest.approx((0.5023204839382561, 0.05911565984413845, 9.0), rel=1e-12)
    assert estimate_mean(np.array(VALUES), None, np.full(10, 3.0)) == pytest.approx(estimate_mean(np.array(VALUES)))
    assert estimate_mean(np.full(4, 0.1), None, np.array([1.0, 2, 3, 4])).standard_error == 0


def test_references():
    n_seen = 0
    for case in references(""):
        name = case["id"]
        given, expected = case["inputs"], case["expected"]
        if name.startswith("tost-paired") and given["low"] < 0:
            found = no_worse(**results(given["a"], given["b"]), margin=-given["low"])
            if "p_low" in expected:
                assert found.pvalue["ndcg@10"] == pytest.approx(expected["p_low"], rel=1e-10)
            t = stats.t.isf(found.pvalue["ndcg@10"], len(given["a"]) - 1)
            assert t == pytest.approx(expected["t_low"], rel=1e-9)
        elif name.startswith("noninferiority-paired"):
            found = no_worse(**results(given["a"], given["b"]), margin=given["margin"])
            assert found.pvalue["ndcg@10"] == pytest.approx(expected["pvalue"], rel=1e-10)
            assert found.low["ndcg@10"] == pytest.approx(expected["low_95_one_sided"], rel=1e-10)
        elif name.startswith("weighted-mean") or (name.startswith("survey") and name.endswith("plain")):
            cluster = np.unique(given["cluster"], return_inverse=True)[1] if "cluster" in given else None
            found = estimate_mean(np.array(given["value"]), cluster, np.array(given["weight"]))
            error = expected["se_CR1" if cluster is not None else "se_HC1" if "se_HC1" in expected else "se"]
            assert found[:2] == pytest.approx((expected["mean"], error), rel=1e-10)
        elif name.startswith("weighted-difference"):
            d = np.array(given["a"]) - np.array(given["b"])
            found = estimate_mean(d, None, np.array(given["weight"]))
            assert found[:2] == pytest.approx((expected["difference"], expected["se"]), rel=1e-10)
        else:
            continue
        n_seen += 1
    assert n_seen > 15


# --- laws --------------------------------------------------------------------------------------------------------


def numbers(found):
    return {name: [getattr(found, name)[metric] for metric in found.margin] for name in ("difference", "low", "high")}


def test_scale_and_order_of_queries(rng):
    new, old = rng.random((2, 25))
    expected = no_worse(**results(new, old), margin=0.1)
    scaled = no_worse(**results(8 * new + 3, 8 * old + 3), margin=0.8)
    assert scaled.decision == expected.decision
    assert scaled.n_needed == expected.n_needed
    assert scaled.pvalue["ndcg@10"] == pytest.approx(expected.pvalue["ndcg@10"], rel=1e-9)
    for name, of in numbers(expected).items():
        assert_allclose(numbers(scaled)[name], 8 * np.array(of), rtol=1e-9)
    order = rng.permutation(25)
    other = Evaluation.from_values(order, {"ndcg@10": new[order]})
    found = no_worse(new=other, old=results(new, old)["old"], margin=0.1)
    for name, of in numbers(expected).items():
        assert_allclose(numbers(found)[name], of, rtol=1e-12)


def test_swapping_systems_mirrors_the_bounds(rng):
    a, b = drawn(rng, 40).values()
    there, back = no_worse(new=a, old=b, margin=0.02), no_worse(new=b, old=a, margin=0.02)
    assert back.difference["ndcg@10"] == -there.difference["ndcg@10"]
    assert back.low["ndcg@10"] == pytest.approx(-there.high["ndcg@10"])


def test_a_larger_margin_never_hurts(rng):
    order = ["worse", "undecided", "no worse"]
    for _ in range(20):
        pair = drawn(rng, 15, loss=0.05)
        decisions = [no_worse(**pair, margin=m).decision for m in (0, 0.01, 0.03, 0.1, 0.3)]
        assert decisions == sorted(decisions, key=order.index)


def test_decisions_p_values_and_intervals_agree(rng):
    for seed in range(40):
        new, old = drawn(np.random.default_rng(seed), 20, loss=0.02).values()
        found = no_worse(new=new, old=old, margin=0.04)
        d = new.per_query["ndcg@10"] - old.per_query["ndcg@10"]
        low, high = confidence_interval(d, confidence_level=1 - 2 * ALPHA)
        assert (found.low["ndcg@10"], found.high["ndcg@10"]) == pytest.approx((low, high))
        assert (found.decision == "no worse") == (low > -0.04) == (found.pvalue["ndcg@10"] < ALPHA)
        assert (found.decision == "worse") == (high < -0.04)


def test_the_number_of_queries_that_decides(rng):
    """The power of the test that the difference is above the margin; below it the one of the other test."""
    new, old = drawn(rng, 30, loss=0.0).values()
    d = new.per_query["ndcg@10"] - old.per_query["ndcg@10"]
    new, old = results(d - d.mean() + 0.5, np.full(30, 0.5)).values()  # no difference at all
    found = no_worse(new=new, old=old, margin=0.02)
    expected = power_of(d.std(ddof=1), difference=0.02, power=0.8, alternative="greater")
    assert (found.decision, found.n_needed) == ("undecided", expected)
    assert f"About {expected} queries would decide, with a chance of 0.8" in str(found)
    losing = no_worse(**results(d - d.mean() + 0.47, np.full(30, 0.5)), margin=0.02)
    expected = power_of(d.std(ddof=1), difference=-0.01, power=0.8, alternative="less")
    assert (losing.decision, losing.n_needed) == ("undecided", expected)
    assert no_worse(new=new, old=old, margin=0.4).n_needed is None
    old = Evaluation.from_values(range(30), dict.fromkeys("ab", np.full(30, 0.5)))
    new = Evaluation.from_values(range(30), dict.fromkeys("ab", d - d.mean() + 0.5))
    two = no_worse(new=new, old=old, margin={"a": 0.02, "b": 0.01})
    assert two.n_needed == power_of(d.std(ddof=1), difference=0.01, power=0.8, alternative="greater")
    new = Evaluation.from_values(range(30), dict.fromkeys("ab", d - d.mean() + 0.47))
    both_lose = no_worse(new=new, old=old, margin={"a": 0.02, "b": 0.01})
    expected = power_of(d.std(ddof=1), difference=-0.02, power=0.8, alpha=ALPHA / 2, alternative="less")
    assert (both_lose.decision, both_lose.n_needed) == ("undecided", expected)


def test_queries_of_one_cluster_say_less(rng):
    shared = np.repeat(rng.normal(0, 0.1, 12), 10)
    old = np.full(120, 0.5)
    user = np.repeat(range(12), 10)
    new = old + shared
    alone = no_worse(**results(new, old), margin=0.1)
    given = no_worse(**results(new, old), margin=0.1, clusters=dict(enumerate(user)))
    own = no_worse(**results(new, old, clusters=user), margin=0.1)
    low, _ = confidence_interval(new - old, clusters=user, confidence_level=0.9)
    assert given.low == own.low == {"ndcg@10": pytest.approx(low)}
    assert given.low["ndcg@10"] < alone.low["ndcg@10"]
    assert "Queries come in 12 clusters." in str(given)
    undecided = no_worse(**results(new, old, clusters=user), margin=0.01)
    spread = stats.t.isf(0.05, 11)
    error = (undecided.difference["ndcg@10"] - undecided.low["ndcg@10"]) / spread
    above = undecided.difference["ndcg@10"] + 0.01
    side = "greater" if above > 0 else "less"
    assert undecided.n_needed == 10 * power_of(error * math.sqrt(12), difference=above, power=0.8, alternative=side)


def test_weights_of_results_count(rng, tmp_path):
    weight = rng.random(30) + 0.1
    new, old = (Evaluation.from_values(range(30), {"map": x}, weight=weight) for x in rng.random((2, 30)))
    found = no_worse(new=new, old=old, margin=0.2)
    d = new.per_query["map"] - old.per_query["map"]
    low, high = confidence_interval(d, weight=weight, confidence_level=0.9)
    assert (found.low["map"], found.high["map"]) == pytest.approx((low, high))
    assert found.table.rows[0][2:4] == pytest.approx((old.mean()["map"], new.mean()["map"]))
    assert "Means are weighted." in str(found)
    found.save(tmp_path / "weighted")
    assert str(GateResult.load(tmp_path / "weighted")) == str(found)
    other = Evaluation.from_values(range(30), {"map": d + 1}, weight=weight + 1)
    with pytest.raises(ValueError, match="no_worse takes results with the same weights"):
        no_worse(new=new, old=other, margin=0.2)


@together("metric", ["map", "mse"])
@together("with_clusters", [False, True])
@together("with_weight", [False, True])
def test_bounds_with_clusters_and_weights_of_results_are_those_of_the_interval(
    metric, with_clusters, with_weight, rng, tmp_path
):
    weight = rng.integers(0, 3, 30).astype(float) if with_weight else None
    clusters = np.arange(30) // 3 if with_clusters else None
    options = {"weight": weight, "clusters": clusters}
    values = rng.random((2, 30))
    values[0, 4] = np.nan
    new, old = (Evaluation.from_values(range(30), {metric: x}, **options) for x in values)
    found = no_worse(new=new, old=old, margin=0.2, alpha=0.1)
    low, high = confidence_interval(values[0] - values[1], confidence_level=0.8, **options)
    assert (found.low[metric], found.high[metric]) == pytest.approx((low, high))
    n_left_out = 1 + (0 if weight is None else np.count_nonzero(np.delete(weight, 4) == 0))
    assert found.table.rows[0][1] == 30 - n_left_out
    assert f"{n_left_out} queries are left out of {metric}" in str(found)
    assert ("Means are weighted." in str(found), "Queries come in " in str(found)) == (with_weight, with_clusters)
    path = tmp_path / f"{metric} {with_clusters} {with_weight}"
    found.save(path)
    again = GateResult.load(path)
    assert str(again) == str(found)
    assert again.table == found.table


def test_skewed_differences_of_few_queries_are_told(rng):
    old = np.full(20, 0.5)
    note = "Skewed values and few queries: the intervals of ndcg@10 may not keep their level."
    assert note in " ".join(str(no_worse(**results(old - 0.4 * (np.arange(20) == 0), old), margin=0.1)).split())
    assert "Skewed" not in str(no_worse(**results(old + rng.normal(0, 0.1, 20), old), margin=0.1))


# --- error rates -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [10, 40])
def test_error_rates_at_the_margin(n):
    """A system that loses just the margin passes, and is called worse, in 5 of 100 gates."""
    rng, n_gates = np.random.default_rng(0), 400
    decisions = [no_worse(**drawn(rng, n, loss=0.03), margin=0.03).decision for _ in range(n_gates)]
    low, high = stats.binom.ppf([0.0005, 0.9995], n_gates, ALPHA) / n_gates
    for decision in ("no worse", "worse"):
        assert low <= decisions.count(decision) / n_gates <= high, decision


def test_equal_systems_pass_with_the_number_of_queries_that_power_names():
    rng, margin = np.random.default_rng(0), 0.03
    n = power_of(0.1, difference=margin, power=0.8, alternative="greater")
    passed = np.mean([bool(no_worse(**drawn(rng, n), margin=margin)) for _ in range(300)])
    low, high = stats.binom.ppf([0.0005, 0.9995], 300, 0.8) / 300
    assert low <= passed <= high


@pytest.fixture(scope="module")
def error_rates():
    """The script of docs/statistics.md."""
    return runpy.run_path(str(Path(__file__).parents[2] / "docs" / "bench" / "error_rates.py"))


def test_the_script_loses_what_it_says(error_rates):
    for shape, (draw, gain, loss) in error_rates["PAIRS"].items():
        old, new = draw(np.random.default_rng(0), 100_000, gain)
        assert old.mean() - new.mean() == pytest.approx(loss, abs=0.003), shape
        found = error_rates["decisions"](shape, 20, 1, 1, 10, seed=0)
        assert sum(found.values()) == pytest.approx(1)
    *_, width = error_rates["judged_coverage"]("good", 20, 10, seed=0, n_model=200)
    assert 0 < width < 0.9


# --- what is compared --------------------------------------------------------------------------------------------


def ranked(scores, *, labels=None, metrics="ndcg@10", **keywords):
    labels = np.tile([0, 1, 2, 0], 6) if labels is None else labels
    return evaluate(labels, scores, qid=np.repeat(list("abcdef"), 4), metrics=metrics, **keywords)


def test_results_of_evaluate_and_of_a_comparison(rng):
    scores = {"new": rng.random(24), "old": rng.random(24)}
    new, old = (ranked(x, metrics=["ndcg@10", "map"]) for x in scores.values())
    found = no_worse(new=new, old=old, margin=0.5)
    labels, qid = np.tile([0, 1, 2, 0], 6), np.repeat(list("abcdef"), 4)
    report = compare_systems(labels, scores, qid=qid, metrics=["ndcg@10", "map"])
    assert str(no_worse(**report.results, margin=0.5)) == str(found)
    assert no_worse(new=new, old=old, margin={"map": 0.5}).margin == {"map": 0.5}


def test_queries_that_are_missing_or_undefined(tmp_path):
    new = Evaluation.from_values(list("abcde"), {"map": [0.1, 0.2, 0.5, 0.4, np.nan]})
    old = Evaluation.from_values(list("abcdf"), {"map": [0.1, 0.3, 0.4, 0.4, 0.5]})
    with pytest.raises(ValueError, match="no_worse needs the same queries.*Got 2 missing, the first 'f' in 'new'"):
        no_worse(new=new, old=old, margin=0.1)
    found = no_worse(new=new, old=old, margin=0.1, missing=0)
    assert "1 queries are left out of map: it is undefined there." in str(found)
    assert "2 values of missing queries are filled in." in str(found)
    assert found.table.rows[0][1] == 5
    assert found.lost_most().rows[0] == ("f", 0.5, 0.0, -0.5)
    assert no_worse(new=new, old=old, margin=0.1, missing=math.nan).table.rows[0][1] == 4
    found.save(tmp_path / "gate")
    assert str(GateResult.load(tmp_path / "gate")) == str(found)


REFUSED = {
    "other labels": (lambda a, b: (a, ranked(range(24), labels=np.tile([0, 2, 2, 0], 6))), {}, "Got other labels"),
    "other queries": (lambda a, b: (a, b.subset(list("abc"))), {}, "needs the same queries.*Got 3 missing"),
    "other keywords": (lambda a, b: (a, ranked(range(24), gain="linear")), {}, "alike. Got 'ndcg@10' with other"),
    "another metric": (lambda a, b: (a, ranked(range(24), metrics="map")), {}, "same metrics; a dict.*Got 'ndcg"),
    "a metric not computed": (
        lambda a, b: (a, b), {"margin": {"ndgc@10": 0.1}}, "metrics of both results.*Got 'ndgc@10'. Did you mean"
    ),
    "a metric of one": (
        lambda a, b: (ranked(range(24), metrics=["map", "ndcg@10"]), b), {"margin": {"map": 0.1}}, "Got 'map'"
    ),
    "a negative margin": (lambda a, b: (a, b), {"margin": -0.01}, ">= 0, the loss.*use stats.compare. Got -0.01 for"),
    "a margin in percent": (lambda a, b: (a, b), {"margin": 1}, "below its largest value, or every.*Got 1 for 'ndcg"),
    "a pooled mean": (
        lambda a, b: (ranked(range(24), metrics="p@2", average="micro"),) * 2, {}, "no_worse is for means"
    ),
    "one query": (lambda a, b: (a.subset(["a"]), b.subset(["a"])), {}, "two queries or more"),
    "an alpha above a half": (lambda a, b: (a, b), {"alpha": 0.6}, "'alpha' parameter of no_worse must be above 0 and"),
    "a list as clusters": (lambda a, b: (a, b), {"clusters": [1] * 6}, "Pass clusters by query"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_wrong_use(what):
    make, options, message = REFUSED[what]
    new, old = make(ranked(np.arange(24)), ranked(-np.arange(24)))
    with pytest.raises((ValueError, TypeError), match=message):
        no_worse(new=new, old=old, **{"margin": 0.01} | options)


def test_a_margin_as_large_as_all_values():
    new, old = results([0.0, 0.1, 0.2], [0.5, 0.9, 1.0]).values()
    with pytest.raises(ValueError, match="every system would be no worse. Got 1 for 'ndcg@10'"):
        no_worse(new=new, old=old, margin=1)
    assert no_worse(new=new, old=old, margin=0.99).decision == "undecided"


def test_values_that_are_no_results():
    with pytest.raises(TypeError, match=r"two results of evaluate; .*from_values\(qid.*Got list for 'old'"):
        no_worse(new=ranked(np.arange(24)), old=[0.1, 0.2], margin=0.1)


# --- the result --------------------------------------------------------------------------------------------------


@pytest.fixture
def found(rng):
    old = rng.random(50)
    ids = [f"a query with quite a long name |{i}|" for i in range(50)]
    values = [{"ndcg(gain=linear)@10": x, "mse": 1 - x} for x in (old + rng.normal(-0.02, 0.05, 50), old)]
    new, old = (Evaluation.from_values(ids, x, clusters=np.arange(50) // 2) for x in values)
    return no_worse(new=new, old=old, margin={"ndcg(gain=linear)@10": 0.02, "mse": 0.03})


def test_it_fits_a_terminal_and_a_notebook(found):
    assert max(map(len, str(found).splitlines())) <= 100
    assert found._repr_html_().count("<table>") == 2
    assert found.to_latex().count(r"\begin{tabular}") == 2
    assert [*found.to_frame()["metric"]] == [*found.margin]


def test_a_comment_on_a_pull_request(found):
    text = found.to_markdown()
    assert text.startswith(f"**{found.decision.capitalize()}**: ")
    assert text.count("|---") >= 2
    assert "| lost most | query | old | new | difference |" in text
    assert r"long name \|" in text


def test_queries_that_lost_most(found):
    rows = found.lost_most(4, metric="mse").rows
    losses = [row[3] for row in rows]
    assert losses == sorted(losses, reverse=True)
    assert all(loss > 0 for loss in losses)
    assert all(difference == pytest.approx(new - old) for _, old, new, difference in rows)
    assert all(row[3] < 0 for row in found.lost_most(4).rows)
    assert len(found.lost_most(1000).rows) < 50
    with pytest.raises(ValueError, match="'metric' parameter of lost_most must be one of 'ndcg.*Got 'map'"):
        found.lost_most(metric="map")


def test_equal_losses_keep_the_order_of_the_queries():
    old = np.full(30, 0.5)
    new = old - 0.1 * (np.arange(30) % 2) + 0.05 * (np.arange(30) % 3 == 0)
    found = no_worse(**results(new, old), margin=0.4)
    rows = found.lost_most(100).rows
    assert [row[0] for row in rows] == [q for q in range(30) if q % 2 and q % 3] + [q for q in range(30) if q % 6 == 3]
    assert found.lost_most(3).rows == rows[:3]


def of_metric(**entries):
    """Change of the description of the first metric."""
    return {"description": lambda words: words["metrics"][0].update(entries)}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"description": {"alpha": 0.5}}, "alpha' parameter of no_worse must be above 0 and below 0.5"),
        ({"description": {"alpha": 1}}, "'alpha' as float"),
        ({"description": {"metrics": []}}, "list of distinct names"),
        (of_metric(name="mrr"), "list of distinct names"),
        (of_metric(name=1), "'name' as str"),
        (of_metric(margin=-1.0), "margin"),
        (of_metric(margin="a"), "margin"),
        (of_metric(greater_is_better=1), "'greater_is_better' as bool"),
        (of_metric(n_left_out=None), "'n_left_out' as int"),
        (of_metric(n_filled=0.5), "'n_filled' as int"),
        ({"new_at_0": np.zeros(5)}, "new must have shape"),
        ({"old_at_0": np.zeros(6, int)}, "old must not have dtype int"),
        ({"new_at_1": None}, "new 1"),
        ({"cluster_at_0": np.zeros(5, int)}, "cluster must have shape"),
        ({"cluster_at_0": np.zeros(6)}, "cluster must not have dtype float"),
        ({"weight_at_0": np.ones(6, int)}, "weight must not have dtype int"),
        ({"qid_at_0": np.zeros(1, int), "new_at_0": np.zeros(1), "old_at_0": np.zeros(1)}, "two queries or more"),
    ],
)
def test_parts_of_a_saved_gate_fit_together(change, message, tmp_path):
    values = np.arange(6) / 10
    new, old = (Evaluation.from_values(range(6), {"map": x, "mrr": x}) for x in (values, values[::-1]))
    result = no_worse(new=new, old=old, margin=0.1)
    result.save(tmp_path / "saved")
    assert str(GateResult.load(changed(tmp_path / "saved"))) == str(result)
    with pytest.raises(ValueError, match=f"must hold a saved GateResult.*{message}"):
        GateResult.load(changed(tmp_path / "saved", **change))


def test_a_saved_gate_of_two_queries_is_loaded(tmp_path):
    new, old = (
        Evaluation.from_values([1, 2], {"map": x}, clusters=[1, 2], weight=[1, 2]) for x in ([0.5, 1], [1, 0.5])
    )
    result = no_worse(new=new, old=old, margin=0.1)
    result.save(tmp_path / "saved")
    assert str(GateResult.load(tmp_path / "saved")) == str(result)


def test_saved_and_loaded(found, tmp_path):
    for i, result in enumerate((found, no_worse(**results([0.1, 0.2, 0.3], [0.3, 0.2, 0.1]), margin=0.25))):
        result.save(tmp_path / f"gate{i}")
        loaded = GateResult.load(tmp_path / f"gate{i}")
        assert str(loaded) == str(result)
        assert loaded.table == result.table
        assert loaded.lost_most(100).rows == result.lost_most(100).rows
    with pytest.raises(ValueError, match="must hold a saved Evaluation .* Got GateResult"):
        Evaluation.load(tmp_path / "gate0")
    pairs = {name: replace(pair, new=pair.new[:-1]) for name, pair in found._pairs.items()}
    GateResult(found.margin, found.alpha, pairs).save(tmp_path / "torn")
    with pytest.raises(ValueError, match="must hold a saved GateResult"):
        GateResult.load(tmp_path / "torn")
