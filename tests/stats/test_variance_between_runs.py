"""Variance between runs in standard errors, intervals, tests and the gate, by hand and by a naive computation."""

from math import sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats
from sklearn.dummy import DummyRegressor

from sklearn_rank import RankingEvaluator, compare_systems
from sklearn_rank.display import CriticalDifferenceDisplay
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, no_worse

OLD = np.array([[20, 40, 60, 30, 50], [30, 40, 50, 30, 50], [40, 70, 70, 30, 40]]) / 100
NEW = np.array([[50, 60, 70, 30, 60], [40, 80, 70, 50, 40], [60, 70, 90, 40, 70]]) / 100
"""Run means .40, .40, .50 and .54, .56, .66: s2 is 1/300 and 31/7500, e2 / n is 11/6000 and 23/10000."""

DIFFERENCE, OF_QUERIES, OF_OLD, OF_NEW = 23 / 150, 23 / 45000, 1 / 2000, 11 / 18000
PARTS_OF_DF = ((31 / 22500) ** 2 / 2, (1 / 900) ** 2 / 2)
BY_PART = list("aaabb")


def results_of(runs, metric="mrr", **keywords):
    return [Evaluation.from_values(range(runs.shape[1]), {metric: run}, **keywords) for run in runs]


def naive_spread(runs, weight, cluster):
    """s2, and the part of it that is due to queries, query by query and cluster by cluster."""
    k, n = runs.shape
    means = [np.average(run, weights=weight) for run in runs]
    of_queries, clusters = 0.0, sorted({*cluster})
    for r in range(k):
        residual = [weight[q] * (runs[r, q] - runs[:, q].mean() - means[r] + np.mean(means)) for q in range(n)]
        of_queries += sum(sum(residual[q] for q in range(n) if cluster[q] == c) ** 2 for c in clusters)
    g = len(clusters)
    return np.var(means, ddof=1), of_queries * g / (g - 1) / (k - 1) / weight.sum() ** 2


# --- a difference and a mean -------------------------------------------------------------------------------------


def test_runs_by_hand():
    variance = OF_QUERIES + OF_OLD + OF_NEW
    df = variance**2 / (OF_QUERIES**2 / 4 + sum(PARTS_OF_DF))
    t = DIFFERENCE / sqrt(variance)
    reach = stats.t.isf(0.025, df) * sqrt(variance)
    new, old = (Evaluation.of_runs(results_of(runs)) for runs in (NEW, OLD))
    report = compare_systems({"old": old, "new": new})
    for found in (compare(new, old), compare_all({"new": new, "old": results_of(OLD)})["new", "old"]):
        assert_allclose((found.difference, found.standard_error, found.df), (DIFFERENCE, sqrt(variance), df))
        assert_allclose((found.statistic, found.pvalue), (t, 2 * stats.t.sf(t, df)))
        assert_allclose(found.confidence_interval, (max(DIFFERENCE - reach, -1), DIFFERENCE + reach))
        a, b = found.pairs[0]
        assert f"Between runs: {a} sd 0.064 (3 runs), {b} sd 0.058 (3 runs), allowed for." in " ".join(
            str(found).split()
        )
    row = dict(zip(report.summary().columns, report.summary().rows[1], strict=True))
    assert row["p"] == pytest.approx(2 * stats.t.sf(t, df))
    assert_allclose(row["difference"], DIFFERENCE)
    assert "Between runs: old sd 0.058 (3 runs), new sd 0.064 (3 runs), allowed for." in " ".join(str(report).split())


def test_the_mean_of_one_system():
    """Values of "clicks" have no bounds: plain t with V = v + b, also over segments."""
    of_queries = NEW.mean(axis=0).var(ddof=1) / 5
    variance = of_queries + OF_NEW
    df = variance**2 / (of_queries**2 / 4 + PARTS_OF_DF[0])
    mean, reach = NEW.mean(), stats.t.isf(0.025, df) * sqrt(variance)
    result = Evaluation.of_runs(results_of(NEW, "clicks", by={"all": [0] * 5}))
    for method in ("auto", "t"):
        assert_allclose(result.confidence_interval(method=method)["clicks"], (mean - reach, mean + reach))
    assert_allclose(result.summary().rows[0][2:4], (mean - reach, mean + reach))
    segments = result.segments()
    assert_allclose(segments.table.rows[0][4:6], (mean - reach, mean + reach))
    assert_allclose(segments.macro().rows[0][4:], (mean - reach, mean + reach, sqrt(variance), df))
    with pytest.raises(ValueError, match="Only method='auto' and 't' .* Got method='bca'"):
        result.confidence_interval(method="bca")


def test_one_run_against_several():
    """Old has one run, so its variance between runs is that of new: (s2 - e2 / n) (1 + 1 / 3)."""
    single = Evaluation.from_values(range(5), {"mrr": OLD[0]})
    found = compare(Evaluation.of_runs(results_of(NEW)), single)
    of_queries = (NEW.mean(axis=0) - OLD[0]).var(ddof=1) / 5
    variance = of_queries + 4 * OF_NEW
    df = variance**2 / (of_queries**2 / 4 + (4 * 31 / 22500) ** 2 / 2)
    assert_allclose((found.standard_error, found.df), (sqrt(variance), df))
    assert "b has one run: its variance is assumed to be equal." in " ".join(str(found).split())
    two = compare(Evaluation.of_runs(results_of(NEW[:2])), Evaluation.of_runs(results_of(OLD)))
    assert "Two runs estimate a variance badly." in " ".join(str(two).split())
    alone = compare(*(Evaluation.from_values(range(5), {"mrr": runs[0]}) for runs in (NEW, OLD)))
    assert alone.pvalue == pytest.approx(stats.ttest_rel(NEW[0], OLD[0]).pvalue)


@pytest.mark.parametrize(
    "keywords", [{"clusters": [0, 0, 1, 2, 2]}, {"clusters": [0, 0, 1, 2, 2], "weight": np.array([1.0, 2, 1, 3, 1])}]
)
def test_runs_with_clusters_and_weights(keywords):
    weight, cluster = keywords.get("weight", np.ones(5)), keywords["clusters"]
    new, old = NEW + [[-0.1], [0], [0.2]], OLD
    averages = [Evaluation.from_values(range(5), {"own": runs.mean(axis=0)}, **keywords) for runs in (new, old)]
    variance, squares = (v := compare(*averages).standard_error ** 2), 0.0
    for runs in (new, old):
        s2, of_queries = naive_spread(runs, weight, cluster)
        if s2 > of_queries:
            variance += (s2 - of_queries) / 3
            squares += (s2 / 3) ** 2 / 2
    assert variance > v
    found = compare(*(Evaluation.of_runs(results_of(runs, "own", **keywords)) for runs in (new, old)))
    df = variance**2 / (v**2 / 2 + squares)
    assert_allclose((found.standard_error, found.df), (sqrt(variance), df))


def test_weights_of_runs():
    """e2 / n becomes e2 sum w^2 / (sum w)^2."""
    weight, runs = np.array([1.0, 2, 1, 3, 1]), NEW + [[-0.1], [0], [0.2]]
    means = runs @ weight / weight.sum()
    residual = runs - runs.mean(axis=0) - (means - means.mean())[:, None]
    of_queries = (residual**2).sum() / 8 * (weight**2).sum() / weight.sum() ** 2
    result = Evaluation.of_runs(results_of(runs, "own", weight=weight))
    average = Evaluation.from_values(range(5), {"own": runs.mean(axis=0)}, weight=weight)
    low, high = average.confidence_interval()["own"]
    v = ((high - low) / 2 / stats.t.isf(0.025, 4)) ** 2
    variance = v + (means.var(ddof=1) - of_queries) / 3
    df = variance**2 / (v**2 / 4 + (means.var(ddof=1) / 3) ** 2 / 2)
    low, high = result.confidence_interval()["own"]
    assert_allclose((high - low) / 2, stats.t.isf(0.025, df) * sqrt(variance))


def test_runs_in_segments():
    """A segment has the variance between runs of its own queries, and so has a subset."""
    new, old = ([*results_of(runs, by={"part": BY_PART})] for runs in (NEW, OLD))
    report = compare_systems({"old": old, "new": new})
    segments = report.segments("part", metric="mrr")
    of_a = [Evaluation.of_runs([run.subset([0, 1, 2]) for run in runs]) for runs in (new, old)]
    expected = compare(*of_a)
    row = segments["new", "old", "a"]
    assert_allclose((row.standard_error, row.df, row.pvalue), (expected.standard_error, expected.df, expected.pvalue))
    whole = Evaluation.of_runs(new)
    part = whole.subset([0, 1, 2])
    assert part.confidence_interval() == of_a[0].confidence_interval()
    assert_allclose(part.run_means["mrr"], of_a[0].run_means["mrr"])
    assert whole.segments("part").table.rows[0][4:6] == of_a[0].confidence_interval()["mrr"]
    alone = compare_systems(
        {"old": [run.subset([0, 1, 2]) for run in old], "new": [run.subset([0, 1, 2]) for run in new]}
    )
    macro = dict(zip(alone.segments("part").macro().columns, alone.segments("part").macro().rows[0], strict=True))
    assert_allclose((macro["standard error"], macro["df"], macro["p"]), (row.standard_error, row.df, row.pvalue))


# --- files -------------------------------------------------------------------------------------------------------


def test_runs_are_saved(tmp_path):
    result = Evaluation.of_runs(results_of(NEW))
    assert_allclose(result.run_values["mrr"], NEW.T)
    result.save(tmp_path / "runs.npz")
    loaded = Evaluation.load(tmp_path / "runs.npz")
    assert loaded.confidence_interval() == result.confidence_interval()
    assert str(loaded) == str(result)
    report = compare_systems({"old": results_of(OLD), "new": result})
    report.save(tmp_path / "report.npz")
    assert str(type(report).load(tmp_path / "report.npz")) == str(report)
    with np.load(tmp_path / "runs.npz") as file:
        arrays = {name: file[name] for name in file.files if name != "run_values"}
    np.savez(tmp_path / "before.npz", **arrays)
    before = Evaluation.load(tmp_path / "before.npz")
    assert "values of each run were not saved" in " ".join(str(before).split())
    of_queries = NEW.mean(axis=0).var(ddof=1) / 5
    error = compare(before, Evaluation.from_values(range(5), {"mrr": np.zeros(5)})).standard_error
    assert error == pytest.approx(sqrt(of_queries + 4 / 3 * 31 / 7500))


# --- the gate ----------------------------------------------------------------------------------------------------


def test_the_gate_allows_for_runs():
    """1.5 lost queries at alpha 0.05 and 1 at a p-value above 0.13, and the variance between runs beside theirs."""
    new, old = (Evaluation.of_runs(results_of(runs)) for runs in (NEW, OLD))
    gate, n, d = no_worse(new=new, old=old, margin=0.1), 5, NEW.mean(axis=0) - OLD.mean(axis=0)
    means, errors, dfs = [], [], []
    for c in (1.5, 1):
        means.append((d.sum() - c) / (n + c))
        v = (((d**2).sum() + c) / (n + c) - means[-1] ** 2) / n
        errors.append(sqrt(v + OF_OLD + OF_NEW))
        dfs.append(errors[-1] ** 4 / (v**2 / n + sum(PARTS_OF_DF)))
    assert gate.low["mrr"] == pytest.approx(max(means[0] - stats.t.isf(0.05, dfs[0]) * errors[0], -1))
    assert gate.pvalue["mrr"] == pytest.approx(stats.t.sf((means[1] + 0.1) / errors[1], dfs[1]))
    new, old = (Evaluation.from_values(range(5), {"mrr": one.per_query["mrr"]}) for one in (new, old))
    plain = no_worse(new=new, old=old, margin=0.1)
    assert (gate.n_least, gate.smallest_margin) == (plain.n_least, plain.smallest_margin)
    assert gate.n_needed is None
    assert plain.n_needed > 5
    assert "more runs, not more queries, would decide" in " ".join(str(gate).split())


# --- other tests -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", ["wilcoxon", "randomization", "bootstrap", "welch"])
def test_other_tests_refuse_runs(test):
    results = {"new": results_of(NEW), "old": Evaluation.of_runs(results_of(OLD))}
    y, runs, other = [1, 0, 1, 0], [[2, 1, 1, 2], [1, 2, 2, 1]], [1, 3, 1, 1]
    models = {"new": [DummyRegressor(), DummyRegressor()]}
    for call in (
        lambda: compare(*results.values(), test=test),
        lambda: compare_all(results, test=test),
        lambda: compare_systems(results, test=test),
        lambda: compare_systems(y, {"new": runs, "old": other}, qid=[0, 0, 1, 1], test=test),
        lambda: RankingEvaluator(test=test).compare(models, np.zeros((4, 1)), y, qid=[0, 0, 1, 1]),
        lambda: CriticalDifferenceDisplay.from_results(results, test=test),
    ):
        with pytest.raises(ValueError, match=f"takes test='t', because .* Got test='{test}' and several runs of"):
            call()
