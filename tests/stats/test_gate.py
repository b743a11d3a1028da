"""The gate: decisions by hand, laws, error rates, errors, and the formats of the result."""

import math
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from registry import together
from scipy import stats

from sklearn_rank import compare_systems, evaluate
from sklearn_rank._estimates.noninferiority import UnitSums, WithLosses, n_for_all, n_for_some
from sklearn_rank._estimates.samples import sample_of
from sklearn_rank._metric.notation import display_name
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, confidence_interval, no_worse

ALPHA = 0.05


def results(new, old, *, metric="ndcg@10", **keywords):
    """Results with given values, in the order of the queries."""
    values = {"new": new, "old": old}
    return {name: Evaluation.from_values(range(len(x)), {metric: x}, **keywords) for name, x in values.items()}


def drawn(rng, n, loss=0.0, spread=0.1):
    old = np.clip(rng.normal(0.5, 0.2, n), 0, 1)
    return results(old - loss + rng.normal(0, spread, n), old)


# --- by hand -----------------------------------------------------------------------------------------------------


def extended(d, largest_loss=1.0, weight=None, cluster=None, alpha=ALPHA):
    """Student's t of the gains, with lost queries added."""
    return WithLosses(UnitSums.of(sample_of(np.asarray(d, float), cluster, weight)), largest_loss, alpha)


def test_decisions_by_hand():
    """Differences 0.01 and -0.01, n = 100, plus 1.5 queries of -1: mean -1.5 / 101.5, t(0.95, 100) = 1.66023."""
    old = np.full(100, 0.5)
    new = old + 0.01 * np.array([1, -1] * 50)
    mean = -1.5 / 101.5
    low = mean - 1.660234 * math.sqrt((1.51 / 101.5 - mean**2) / 100)
    found = no_worse(**results(new, old), margin=0.036)
    assert (found.decision, found.decisions, bool(found)) == ("no worse", {"ndcg@10": "no worse"}, True)
    assert found.low["ndcg@10"] == pytest.approx(low, rel=1e-6)
    found = no_worse(**results(new, old), margin=0.034)
    assert (found.decision, bool(found)) == ("undecided", False)
    found = no_worse(**results(new - 0.1, old), margin=0.09)
    assert (found.decision, bool(found)) == ("worse", False)
    assert found.difference["ndcg@10"] == pytest.approx(-0.1)
    largest = no_worse(**results(new, old), margin=0.02, largest_loss=0.5)
    assert (largest.decision, largest.largest_loss) == ("no worse", {"ndcg@10": 0.5})
    assert "Assumed: no query loses more than 0.5 in nDCG@10." in str(largest)
    assert "Assumed" not in str(found)


def test_few_queries_are_not_enough_for_worse():
    """The t test of two queries with equal losses has a p-value of 0."""
    for n, decision in ((2, "no loss shown"), (4, "no loss shown"), (12, "worse")):
        assert no_worse(**results(np.full(n, 0.4), np.full(n, 0.5))).decision == decision


def test_gate_without_a_margin_looks_for_losses(rng):
    """Without a margin the gate tests for a loss, at alpha over the number of metrics; it proves nothing else."""
    old = np.full(80, 0.5)
    d = np.zeros(80)
    d[:19] = [0.05] * 12 + [-0.058] * 7
    found = no_worse(**results(old + d, old))
    assert (found.decision, bool(found), found.margin, found.n_needed) == ("no loss shown", True, None, None)
    assert found.verdict == (
        "No loss is shown on 80 queries: +0.0024 (12 won, 7 lost). Losses up to about 0.042 cannot be ruled out."
    )
    assert str(found).startswith("No loss is shown on 80 queries")
    errors = no_worse(**results(old - d, old, metric="fallout@5"))
    assert errors.verdict == found.verdict.replace("+0.0024", "-0.0024")
    assert not {"margin", "no worse if"} & {*found.table.columns}
    assert "no worse" not in f"{found}{found.to_markdown()}".lower()
    worse = no_worse(**results(old - 0.1 + rng.normal(0, 0.1, 80), old))
    assert (worse.decision, worse.verdict) == ("worse", "Worse: new loses in nDCG@10, alpha=0.05")
    assert worse.high["ndcg@10"] < 0
    assert worse.pvalue["ndcg@10"] <= 0.05
    both = Evaluation.from_values(range(80), {"map": old + d, "mse": old})
    two = no_worse(new=both, old=Evaluation.from_values(range(80), {"map": old, "mse": old + d}))
    assert "MAP +0.0024 (12 won, 7 lost), MSE -0.0024 (12 won, 7 lost)" in two.verdict
    better = no_worse(**results(old + 0.2, old))
    assert "(80 won, 0 lost). Losses are ruled out, alpha=0.05." in better.verdict


def test_losses_of_three_metrics_are_listed():
    old, new = (Evaluation.from_values(range(9), dict.fromkeys(["map", "mrr", "p@1"], [0.5] * 9)) for _ in "ab")
    assert "0.36 in MAP, about 0.36 in MRR and about 0.36 in P@1 cannot be" in no_worse(new=new, old=old).verdict


def test_metrics_without_bounds(rng):
    """The range of all values replaces the largest loss, and a note says so."""
    new, old = rng.random((2, 30)) * 4
    for metric in ("dcg", "mse", "clicks"):
        found = no_worse(**results(new, old, metric=metric), margin=1)
        span = max(new.max(), old.max()) - min(new.min(), old.min())
        assert found.largest_loss == {metric: pytest.approx(span)}
        assert f"The level is not guaranteed for {display_name(metric)}: no bounds are known." in str(found)
    assert no_worse(**results(new / 4, old / 4, metric="kendall"), margin=0.1).largest_loss == {"kendall": 2}
    assert no_worse(**results(np.ones(9), np.ones(9), metric="clicks"), margin=0.1).decision == "undecided"


def test_every_metric_must_pass_and_one_may_fail():
    """The bound of "worse" is at alpha over two metrics, the bound of "no worse" at alpha."""
    old = np.linspace(0.2, 0.8, 90)
    d = 0.03 * np.tile([-1, 1, -1, 1, 0, 1, -1, 1, -1], 10)
    new = Evaluation.from_values(range(90), {"map": old + d, "mrr": old + d - 0.05})
    old = Evaluation.from_values(range(90), {"map": old, "mrr": old})
    found = no_worse(new=new, old=old, margin=0.04)
    assert found.decisions == {"map": "no worse", "mrr": "worse"}
    assert found.decision == "worse"
    lose = d - 0.05
    highs = {
        level: max(
            lose.mean() + stats.t.isf(level, 89) * stats.sem(lose),
            -extended(-lose, np.abs(lose).max(), alpha=level).low(),
        )
        for level in (0.05, 0.025)
    }
    assert found.low["mrr"] == pytest.approx(extended(lose).low())
    assert found.high["mrr"] == pytest.approx(highs[0.025])
    just = -(highs[0.05] + highs[0.025]) / 2
    assert no_worse(new=new, old=old, margin={"mrr": just}).decision == "worse"
    assert no_worse(new=new, old=old, margin={"map": 0.04, "mrr": just}).decision == "undecided"
    assert no_worse(new=new, old=old, margin={"map": 0.04, "mrr": 0.2}).decision == "no worse"
    assert no_worse(new=new, old=old, margin={"map": 0.001, "mrr": 0.2}).decision == "undecided"


def test_the_upper_bound_decides_for_errors(rng):
    """The same values, as an error and negated as a metric: the bounds change sides with the sign."""
    new, old = rng.random((2, 30))
    lower, higher = results(new, old, metric="mse"), results(-new, -old, metric="minus")
    found, expected = no_worse(**lower, margin=0.1), no_worse(**higher, margin=0.1)
    assert found.difference["mse"] == -expected.difference["minus"] == pytest.approx(float(np.mean(new - old)))
    assert (found.low["mse"], found.high["mse"]) == (-expected.high["minus"], -expected.low["minus"])
    assert (found.pvalue["mse"], found.decision) == (expected.pvalue["minus"], expected.decision)
    assert "Lower is better in MSE." in str(found)
    assert (found.table.rows[0][9], expected.table.rows[0][9]) == ("high < 0.1", "low > -0.1")
    (query, before, after, difference) = found.lost_most(1).rows[0]
    assert (before, after, difference) == (old[query], new[query], max(new - old))


def test_levels_of_the_deciding_bound_and_of_the_other():
    """With two metrics the other bound is at 1 - alpha / 2, on either side."""
    d = np.array([0.3, 0.1, -0.2, 0.0, 0.2, -0.1])
    new = Evaluation.from_values(range(6), {"map": 0.5 + d, "mse": 0.5 + d})
    old = Evaluation.from_values(range(6), dict.fromkeys(("map", "mse"), np.full(6, 0.5)))
    found = no_worse(new=new, old=old, margin=0.2, largest_loss=0.3)
    assert found.low["map"] == pytest.approx(max(extended(d, 0.3).low(), -0.3))
    assert found.high["map"] == pytest.approx(-extended(-d, 0.3, alpha=0.025).low())
    assert found.high["mse"] == pytest.approx(min(-extended(-d, 0.3).low(), 0.3))
    assert found.low["mse"] == pytest.approx(extended(d, 0.3, alpha=0.025).low())


def test_zero_difference_of_errors_is_not_negative_zero():
    found = no_worse(**results([0.5, 0.7], [0.5, 0.7], metric="mse"), margin=0)
    assert "-0.0000" not in str(found)
    assert found.table.rows[0][9] == "high < 0"


def test_equal_systems_need_queries():
    """A rounding error is no difference."""
    for n, margin, decision in ((351, 0.01, "no worse"), (350, 0.01, "undecided"), (350, 0, "undecided")):
        for values in (np.full(n, 0.3), np.linspace(0, 1, n)):
            found = no_worse(**results(values * (1 + 1e-15), values), margin=margin)
            assert (found.decision, found.pvalue["ndcg@10"] <= 0.05) == (decision, decision == "no worse")
    better = np.linspace(0, 0.9, 50)
    assert no_worse(**results(better + 0.1, better), margin=0)


def test_gate_reports_the_queries_it_needs():
    """With fewer queries than an equal system needs for the margin, the result is "undecided", not an error."""
    same = results(np.full(80, 0.3), np.full(80, 0.3))
    found = no_worse(**same, margin=0.02)
    assert (found.decision, found.n_needed, found.n_least) == ("undecided", 175, {"ndcg@10": 175})
    assert found.smallest_margin == {"ndcg@10": pytest.approx(0.0434, abs=5e-5)}
    assert found.verdict == (
        "Not decided: with differences like these about 175 queries are needed (they would show that new is no worse). "
        "Even if no query differed, 80 could show only 0.044; 0.02 needs 175."
    )
    assert no_worse(**same, margin=0.044)
    two = no_worse(**results([0.3, 0.2], [0.3, 0.2]), margin=0.02)
    assert two.verdict.endswith("Even if no query differed, 2 could show no margin; 0.02 needs 175.")
    assert two.smallest_margin == {"ndcg@10": np.inf}
    assert no_worse(**results(np.full(80, 0.35), np.full(80, 0.3)), margin=0.02).decision == "no worse"
    assert no_worse(**same, margin=0.02, largest_loss=0.4)
    old = Evaluation.from_values(range(80), {"map": np.full(80, 0.3), "mrr": np.full(80, 0.3)})
    two = no_worse(new=old.subset(range(80)), old=old, margin={"map": 0.05, "mrr": 0.01})
    assert two.verdict.endswith("80 could show only 0.044 in MRR; 0.01 needs 351.")


def test_identical_lists_pass(rng, tmp_path):
    """At any size and margin, because lists are identical; equal values of different lists need enough queries."""
    y, score, qid = rng.integers(0, 2, 80), rng.random(80), np.repeat(range(8), 10)
    old, same = (evaluate(y, x, qid=qid, metrics="hit@10") for x in (score, 2 * score))
    swapped = score.copy()
    swapped[[0, 1]] = score[[1, 0]]
    other = evaluate(y, swapped, qid=qid, metrics="hit@10")
    old.save(tmp_path / "old")
    for baseline in (old, Evaluation.load(tmp_path / "old")):
        for margin, head, decision in ((0, "No worse", "no worse"), (None, "No loss is shown", "no loss shown")):
            found = no_worse(new=same, old=baseline, margin=margin)
            assert (found.decision, bool(found)) == (decision, True)
            assert found.verdict == (
                f"{head}: the lists are identical on all 8 queries, so nothing was changed here. This is not a test: "
                "other queries may differ."
            )
        found = no_worse(new=other, old=baseline, margin=0.1)
        assert found.decision == "undecided"
        assert "No query differs in value. With 95 % confidence at most 31 % of other queries do." in str(found)
        assert "The list of 1 query differs." in str(found)
    found = no_worse(new=same.subset(range(8)), old=old, margin=0.1)
    assert (found.decision, "is not known: 'new' has no" in " ".join(str(found).split())) == ("undecided", True)
    less = no_worse(new=same, old=old.subset(range(7)), margin=0.1, missing="worst")
    assert less.decision == "undecided"


def test_a_loss_equal_to_the_margin_is_undecided():
    old = np.linspace(0.3, 0.9, 70)
    found = no_worse(**results(old - 0.1, old), margin=0.1)
    assert (found.decision, found.n_needed) == ("undecided", None)
    assert "Not decided: no number of queries would decide" in str(found)
    assert no_worse(**results(old - 0.1, old), margin=0.09).decision == "worse"
    assert no_worse(**results(old - 0.1, old), margin=0.16).decision == "no worse"


# --- laws --------------------------------------------------------------------------------------------------------


def numbers(found):
    return {name: [getattr(found, name)[metric] for metric in found.margin] for name in ("difference", "low", "high")}


def test_gate_is_independent_of_scale_and_order(rng):
    new, old = rng.random((2, 25))
    expected = no_worse(**results(new, old), margin=0.1, largest_loss=1)
    scaled = no_worse(**results(8 * new + 3, 8 * old + 3), margin=0.8, largest_loss=8)
    assert scaled.decision == expected.decision
    assert scaled.n_needed == expected.n_needed
    assert scaled.pvalue["ndcg@10"] == pytest.approx(expected.pvalue["ndcg@10"], rel=1e-9)
    for name, of in numbers(expected).items():
        assert_allclose(numbers(scaled)[name], 8 * np.array(of), rtol=1e-9)
    order = rng.permutation(25)
    other = Evaluation.from_values(order, {"ndcg@10": new[order]})
    found = no_worse(new=other, old=results(new, old)["old"], margin=0.1, largest_loss=1)
    for name, of in numbers(expected).items():
        assert_allclose(numbers(found)[name], of, rtol=1e-12)


def test_swapping_systems_mirrors_the_bounds(rng):
    a, b = drawn(rng, 40).values()
    there, back = no_worse(new=a, old=b, margin=0.02), no_worse(new=b, old=a, margin=0.02)
    assert back.difference["ndcg@10"] == -there.difference["ndcg@10"]
    for one, other in ((there, back), (back, there)):
        assert -one.low["ndcg@10"] > other.high["ndcg@10"] > other.difference["ndcg@10"]


def test_a_larger_margin_never_hurts(rng):
    order = ["worse", "undecided", "no worse"]
    for _ in range(20):
        pair = drawn(rng, 15, loss=0.05)
        decisions = [no_worse(**pair, margin=m).decision for m in (0, 0.01, 0.03, 0.1, 0.3)]
        assert decisions == sorted(decisions, key=order.index)


def test_decisions_p_values_and_bounds_agree():
    for seed in range(40):
        found = no_worse(**drawn(np.random.default_rng(seed), 90, loss=0.02), margin=0.06)
        low, high, p = (of["ndcg@10"] for of in (found.low, found.high, found.pvalue))
        assert (found.decision == "no worse") == (low > -0.06) == (p < ALPHA)
        assert (found.decision == "worse") == (high < -0.06)


def test_the_number_of_queries_that_decides(rng):
    """The number for all metrics to pass; for a system behind the margin, the number that shows it is worse."""
    d = rng.normal(0, 0.1, 30)
    d -= d.mean()
    old = Evaluation.from_values(range(30), dict.fromkeys("ab", np.full(30, 0.5)), greater_is_better={})

    def gate(shift, margin):
        new = Evaluation.from_values(range(30), {"a": 0.5 + d + shift, "b": 0.5 + d})
        return no_worse(new=new, old=old, margin=margin, largest_loss=1)

    one, both = gate(0.0, {"b": 0.02}), gate(0.0, {"a": 0.02, "b": 0.02})
    assert one.n_needed == n_for_all([*one._parts.aims.values()], 0.8)
    assert f"about {one.n_needed} queries are needed (they would show that new is no worse)." in one.verdict
    assert "decides with a chance of about 0.8, less for rare losses." in str(one)
    assert one.n_needed < both.n_needed == n_for_all([*both._parts.aims.values()], 0.8)
    assert gate(0.0, {"b": 0.4}).n_needed is None
    losing = gate(-0.05, {"a": 0.02, "b": 0.02})
    aim = replace(losing._parts.aims["a"].mirrored, alpha=ALPHA / 2, largest_loss=np.abs(d - 0.05).max())
    assert (losing.decision, losing.n_needed) == ("undecided", n_for_some([aim], 0.8))
    assert f"about {losing.n_needed} queries are needed (they would show that new is worse)." in losing.verdict


def test_dependent_queries_have_wider_bounds(rng):
    shared = np.repeat(rng.normal(0, 0.1, 12), 10)
    old = np.full(120, 0.5)
    user = np.repeat(range(12), 10)
    new = old + shared
    alone = no_worse(**results(new, old), margin=0.1)
    given = no_worse(**results(new, old), margin=0.1, clusters=dict(enumerate(user)))
    own = no_worse(**results(new, old, clusters=user), margin=0.1)
    expected = extended(new - old, cluster=user).low()
    assert given.low == own.low == {"ndcg@10": pytest.approx(expected)}
    assert given.low["ndcg@10"] < alone.low["ndcg@10"]
    assert "Queries come in 12 clusters; the level holds if losses do not depend on size." in str(given)
    assert (alone.n_least, given.n_least) == ({"ndcg@10": 35}, {"ndcg@10": 350 - 7})


def test_gate_uses_weights_of_results(rng):
    weight = rng.random(30) + 0.1
    new, old = (Evaluation.from_values(range(30), {"map": x}, weight=weight) for x in rng.random((2, 30)))
    found = no_worse(new=new, old=old, margin=0.2)
    d = new.per_query["map"] - old.per_query["map"]
    by_t = confidence_interval(d, weight=weight, confidence_level=0.9)[1]
    mirrored = -extended(-d, np.abs(d).max(), weight).low()
    expected = extended(d, weight=weight).low(), max(by_t, mirrored)
    assert (found.low["map"], found.high["map"]) == pytest.approx(expected)
    assert found.table.rows[0][2:4] == pytest.approx((old.mean()["map"], new.mean()["map"]))
    assert "Means are weighted; the level holds if losses do not depend on weight." in " ".join(str(found).split())
    other = Evaluation.from_values(range(30), {"map": d + 1}, weight=weight + 1)
    with pytest.raises(ValueError, match="no_worse takes results with the same weights"):
        no_worse(new=new, old=other, margin=0.2)


@together("metric", ["map", "mse"])
@together("with_clusters", [False, True])
@together("with_weight", [False, True])
def test_bounds_with_clusters_and_weights_of_results(metric, with_clusters, with_weight, rng):
    weight = rng.integers(0, 3, 30).astype(float) if with_weight else None
    clusters = np.arange(30) // 3 if with_clusters else None
    options = {"weight": weight, "clusters": clusters}
    values = rng.random((2, 30))
    values[0, 4] = np.nan
    new, old = (Evaluation.from_values(range(30), {metric: x}, **options) for x in values)
    found = no_worse(new=new, old=old, margin=0.2, alpha=0.1)
    gain = (values[0] - values[1]) * (1 if metric == "map" else -1)
    kept = ~np.isnan(gain) & (True if weight is None else weight > 0)
    size = {name: None if x is None else x[kept] for name, x in (("weight", weight), ("cluster", clusters))}
    low = extended(gain[kept], found.largest_loss[metric], **size, alpha=0.1).low()
    seen = -extended(-gain[kept], np.abs(gain[kept]).max(), **size, alpha=0.1).low()
    high = max(seen, confidence_interval(gain, confidence_level=0.8, **options)[1])
    expected = (low, high) if metric == "map" else (-high, -low)
    assert (found.low[metric], found.high[metric]) == pytest.approx(expected)
    n_left_out = 1 + (0 if weight is None else np.count_nonzero(np.delete(weight, 4) == 0))
    assert found.table.rows[0][1] == 30 - n_left_out
    left = "1 query is" if n_left_out == 1 else f"{n_left_out} queries are"
    zero = " or the weight is 0" if with_weight else ""
    assert f"{left} left out of {display_name(metric)}: it is undefined there{zero}." in str(found)
    assert ("Means are weighted;" in str(found), "Queries come in " in str(found)) == (with_weight, with_clusters)


# --- error rates -------------------------------------------------------------------------------------------------


def test_error_rates_at_the_margin():
    """A system that loses exactly the margin passes in at most 5 of 100 gates, and fails in at most 5."""
    rng, n_gates = np.random.default_rng(0), 200
    decisions = [no_worse(**drawn(rng, 150, loss=0.03), margin=0.03).decision for _ in range(n_gates)]
    high = stats.binom.ppf(0.9995, n_gates, ALPHA) / n_gates
    for decision in ("no worse", "worse"):
        assert decisions.count(decision) / n_gates <= high, decision


@pytest.fixture(scope="module")
def error_rates():
    """The script of docs/decide/measured.md."""
    return runpy.run_path(str(Path(__file__).parents[2] / "docs" / "bench" / "error_rates.py"))


def test_the_script_loses_the_stated_margin(error_rates):
    for shape, (draw, gain, loss) in error_rates["PAIRS"].items():
        old, new = draw(np.random.default_rng(0), 100_000, gain)
        assert old.mean() - new.mean() == pytest.approx(loss, abs=0.003), shape
        found = error_rates["decisions"](shape, 20, 1, 1, 10, seed=0)
        assert sum(found.values()) == pytest.approx(1)
    *_, width = error_rates["judged_coverage"]("good", 20, 10, seed=0, n_model=200)
    assert 0 < width < 0.9


# --- compared results ------------------------------------------------------------------------------------------


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


def test_missing_and_undefined_queries():
    new = Evaluation.from_values(list("abcde"), {"map": [0.1, 0.2, 0.5, 0.4, np.nan]})
    old = Evaluation.from_values(list("abcdf"), {"map": [0.1, 0.3, 0.4, 0.4, 0.5]})
    rule = "needs the same queries.*missing=nan to leave them out{}. Got 2 missing, the first 'f' in '"
    with pytest.raises(ValueError, match="no_worse " + rule.format("")):
        no_worse(new=new, old=old, margin=0.1)
    with pytest.raises(ValueError, match="compare " + rule.format("; for different queries use test='welch', .*")):
        compare(new, old)
    found = no_worse(new=new, old=old, margin=0.1, missing=0)
    assert "1 query is left out of MAP: it is undefined there." in str(found)
    assert "2 values of missing queries are filled in." in str(found)
    assert found.table.rows[0][1] == 5
    assert found.lost_most().rows[0] == ("f", 0.5, 0.0, -0.5)
    assert no_worse(new=new, old=old, margin=0.1, missing=math.nan).table.rows[0][1] == 4


REFUSED = {
    "other labels": (lambda a, b: (a, ranked(range(24), labels=np.tile([0, 2, 2, 0], 6))), {}, "Got other labels"),
    "other queries": (lambda a, b: (a, b.subset(list("abc"))), {}, "needs the same queries.*Got 3 missing"),
    "other keywords": (lambda a, b: (a, ranked(range(24), gain="linear")), {}, "gain=exp2 in 'new'"),
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
    "a largest loss of 0": (lambda a, b: (a, b), {"largest_loss": 0}, "'largest_loss' parameter of no_worse must be a"),
    "a largest loss in words": (lambda a, b: (a, b), {"largest_loss": "1"}, "'largest_loss' parameter.*Got '1'"),
    "a loss of no metric": (lambda a, b: (a, b), {"largest_loss": {"map": 1}}, "must name metrics of.*Got 'map'"),
    "a loss in percent": (lambda a, b: (a, b), {"largest_loss": 50}, "Got 50 for 'ndcg@10', whose range is 1"),
    "a larger loss": (lambda a, b: (b, a), {"largest_loss": 0.05}, "for all queries. Got 0.05 for 'ndcg.*'a' lost"),
    "an alpha above a half": (lambda a, b: (a, b), {"alpha": 0.6}, "'alpha' parameter of no_worse must be above 0 and"),
    "a list as clusters": (lambda a, b: (a, b), {"clusters": [1] * 6}, "Pass clusters by query"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_gate_errors(what):
    make, options, message = REFUSED[what]
    new, old = make(ranked(np.arange(24)), ranked(-np.arange(24)))
    with pytest.raises((ValueError, TypeError), match=message):
        no_worse(new=new, old=old, **{"margin": 0.01} | options)


def test_a_margin_as_large_as_the_range():
    new, old = results([0.0, 0.1, 0.2], [0.5, 0.9, 1.0]).values()
    with pytest.raises(ValueError, match="every system would be no worse. Got 1 for 'ndcg@10'"):
        no_worse(new=new, old=old, margin=1)
    assert no_worse(new=new, old=old, margin=0.99).decision == "undecided"
    with pytest.raises(ValueError, match="Got 0.95 for 'ndcg@10', whose largest_loss is 0.9"):
        no_worse(new=new, old=old, margin=0.95, largest_loss=0.9)


def test_values_that_are_not_results():
    with pytest.raises(TypeError, match=r"no_worse takes results of evaluate\. .*from_values\(qid.*Got list for 'old'"):
        no_worse(new=ranked(np.arange(24)), old=[0.1, 0.2], margin=0.1)


# --- the result --------------------------------------------------------------------------------------------------


@pytest.fixture
def found(rng):
    old = rng.random(50)
    ids = [f"a query with quite a long name |{i}|" for i in range(50)]
    values = [{"ndcg(gain=linear)@10": x, "mse": 1 - x} for x in (old + rng.normal(-0.02, 0.05, 50), old)]
    new, old = (Evaluation.from_values(ids, x, clusters=np.arange(50) // 2) for x in values)
    return no_worse(new=new, old=old, margin={"ndcg(gain=linear)@10": 0.02, "mse": 0.03}, largest_loss={"mse": 0.6})


def test_gate_prints_in_a_terminal_and_a_notebook(found):
    assert max(map(len, str(found).splitlines())) <= 100
    assert found._repr_html_().count("<table>") == 2
    assert found.to_latex().count(r"\begin{tabular}") == 2
    assert [*found.to_frame()["metric"]] == [*found.margin]


def test_a_comment_on_a_pull_request(found):
    text = found.to_markdown()
    assert text.startswith("**Not decided**: ")
    assert text.count("|---") >= 2
    assert "| lost most | query | old | new | difference |" in text
    assert r"long name \|" in text


def test_queries_with_the_largest_losses(found):
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


@pytest.mark.parametrize("metric", ["clicks", "ndcg@10"])
def test_zeros_of_given_values_are_no_evidence(metric):
    """Zeros of errors are perfect, and correlations of 0 are luck."""
    zeros = np.zeros(100)
    with pytest.raises(ValueError, match=f"{metric} is 0 for every query of both runs: nothing was compared"):
        no_worse(**results(zeros, zeros, metric=metric), margin=0.1)
    assert no_worse(**results(np.append(zeros, 0.1), np.append(zeros, 0), metric=metric), margin=0.09)
    for other in ("mse", "kendall"):
        assert no_worse(**results(zeros, zeros, metric=other), margin=0.1).decision != "worse"


def test_gate_notes_concentrated_weights(rng):
    weight = np.append(np.ones(40), [200.0, 300.0])
    pair = [Evaluation.from_values(range(42), {"map": x}, weight=weight) for x in rng.random((2, 42))]
    found = " ".join(str(no_worse(new=pair[0], old=pair[1], margin=0.2)).split())
    assert "The intervals of MAP may be too narrow: few queries, skewed values." in found
    assert "is beyond the margin, if no query gains more than those seen." in found


def test_levels_of_several_metrics_add_lost_queries(rng):
    """At 0.05 / 2 the other side has 1.5 + (1.96^2 - 1.645^2) / 3 = 1.8786 added queries."""
    d = rng.normal(-0.1, 0.1, 30)
    new = Evaluation.from_values(range(30), {"a": 0.5 + d, "b": 0.5 + d})
    old = Evaluation.from_values(range(30), dict.fromkeys("ab", np.full(30, 0.5)))
    most = np.abs(d).max()
    mean = (-d.sum() - 1.8786385 * most) / 31.8786385
    error = math.sqrt((((d**2).sum() + 1.8786385 * most**2) / 31.8786385 - mean**2) / 30)
    by_t = d.mean() + stats.t.isf(0.025, 29) * stats.sem(d)
    high = max(by_t, -(mean - stats.t.isf(0.025, 30) * error))
    assert no_worse(new=new, old=old, margin=0.01).high["a"] == pytest.approx(high, rel=1e-6)
