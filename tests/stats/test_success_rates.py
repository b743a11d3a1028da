"""Intervals of success rates (Wilson) and of their differences (Bonett and Price), and the metrics that have them."""

import itertools
import math

import numpy as np
import pytest
from known_cases import references
from numpy.testing import assert_allclose
from scipy import stats as scipy_stats
from test_stats_laws import error_rates  # noqa: F401, a fixture

from sklearn_rank import compare_systems, evaluate, get_metric_names, metric, parse_metric
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, confidence_interval


def table(both, only_a, only_b, neither):
    """Successes of a and b, from the number of queries of each outcome."""
    a = np.repeat([1.0, 1, 0, 0], [both, only_a, only_b, neither])
    return a, np.repeat([1.0, 0, 1, 0], [both, only_a, only_b, neither])


def result(values, name="hit@10", **keywords):
    return Evaluation.from_values(range(len(values)), {name: values}, **keywords)


def successes(n, rate=0.3, seed=0):
    return (np.random.default_rng(seed).random(n) < rate).astype(float)


# --- one rate ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("k", "n"), [(0, 2), (0, 10), (1, 20), (7, 25), (45, 50), (10, 10), (480, 500)])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_wilson_matches_scipy(k, n, level):
    expected = scipy_stats.binomtest(k, n).proportion_ci(level, method="wilson")
    found = confidence_interval(np.repeat([1.0, 0.0], [k, n - k]), method="wilson", confidence_level=level)
    assert_allclose(found, (expected.low, expected.high), rtol=1e-12, atol=1e-15)
    assert [end in (0, 1) for end in found] == [k == 0, k == n]


def test_bounds_of_wilson_are_exact():
    for n in range(2, 300):
        assert confidence_interval(np.zeros(n), method="wilson")[0] == 0
        assert confidence_interval(np.ones(n), method="wilson")[1] == 1


def test_wilson_by_hand():
    """One hit in two, z = 2: center 1/2, half the length 2 / (1 + 2) sqrt(1/8 + 1/4)."""
    level = 2 * scipy_stats.norm.cdf(2) - 1
    low, high = confidence_interval([1, 0], method="wilson", confidence_level=level)
    assert_allclose([low, high], [0.5 - math.sqrt(3 / 8) * 2 / 3, 0.5 + math.sqrt(3 / 8) * 2 / 3], rtol=1e-12)


@pytest.mark.parametrize(
    ("options", "got"),
    [
        ({"values": [0, 1, 0.5]}, "Got 0.5"),
        ({"values": [0, 1, 1], "weight": [1, 2, 1]}, "Got weights: use method='t'"),
        ({"values": [0, 1, 1], "clusters": [1, 2, 2]}, "Got clusters: use method='t'"),
    ],
)
def test_wilson_of_other_values_is_rejected(options, got):
    with pytest.raises(ValueError, match=f"is for values 0 and 1, without weights and clusters. {got}"):
        confidence_interval(**options, method="wilson")


def test_wilson_drops_undefined_queries():
    expected = confidence_interval([1, 0, 0], method="wilson")
    assert confidence_interval([1, 0, np.nan, 0], method="wilson") == expected
    assert confidence_interval([1, 0, 0.3, 0], weight=[2, 2, 0, 2], method="wilson") == expected
    assert np.isnan(confidence_interval([1, np.nan], method="wilson")).all()


# --- binary metrics ----------------------------------------------------------------------------------------------

BINARY = [
    "hit", "hit@10", "recall_all@3", "success@3", "p@1", "p(denominator=min_k_n)@1", "mrr@1", "map(denominator=k)@1",
    "judged@1", "map(denominator=min_k_relevant)@1", "recall(denominator=min_k_relevant)@1", "capped_recall@1",
    "ndcg(gain=binary)@1", "rprec(denominator=min_k_relevant)@1", "p(no_relevant=undefined)@1",
]  # fmt: skip
OTHER = ["p@2", "p", "mrr", "map@1", "recall@1", "ndcg@1", "rprec@1", "f1@1", "err@1", "cg@1", "fallout@1"]


def test_metrics_that_are_binary():
    assert all(parse_metric(name).is_binary for name in BINARY)
    assert not any(parse_metric(name).is_binary for name in OTHER)
    assert not parse_metric("p", k=[1]).is_binary


AT_1 = [f"{name}@1" for name, one in REGISTRY.items() if one.has_cutoff]


DECLARED = {*BINARY, *(name for name in [*get_metric_names(), *AT_1] if parse_metric(name).is_binary)}


@pytest.mark.parametrize("name", sorted(DECLARED))
def test_binary_metrics_are_0_or_1(name):
    """For lists with several relevant documents, some unretrieved, and grades above 1."""
    spec = parse_metric(name)
    rng = np.random.default_rng(0)
    qid = np.repeat(np.arange(60), rng.integers(1, 9, 60))
    y = rng.choice([0, 0, 1, 3], len(qid)).astype(float)
    s = rng.permutation(len(qid)).astype(float)
    s[rng.random(len(qid)) < 0.1] = -np.inf
    if spec.metric.reads_unjudged:
        y[rng.random(len(qid)) < 0.3] = np.nan
    values = evaluate(y, s, qid=qid, metrics=name).per_query[name]
    assert set(values.tolist()) == {0.0, 1.0}


def test_metrics_declare_success_rates():
    @metric("first_two", bounds=(0, 1), binary=True)
    def first_two_score(r):
        return r.cumsum(weight=r.cascade(r.relevant) * (r.rank <= 2))

    try:
        found = evaluate([0, 1, 0, 0], [2, 1, 2, 1], qid=[1, 1, 2, 2], metrics="first_two")
        assert found.is_binary == {"first_two": True}
        assert found.confidence_interval()["first_two"] == confidence_interval([1, 0], method="wilson")
        assert "binary" not in found.meaning["first_two"]  # the declaration changes no value
    finally:
        del REGISTRY["first_two"]


def test_auto_is_wilson_for_binary_metrics():
    x = successes(30)
    assert result(x).confidence_interval()["hit@10"] == confidence_interval(x, method="wilson")
    assert result(x).confidence_interval(method="t")["hit@10"] == confidence_interval(x)
    assert result(x).confidence_interval(0.8, "wilson") == result(x).confidence_interval(0.8)
    equal = np.full(30, 0.25)
    assert result(x, weight=equal).confidence_interval() == result(x).confidence_interval()
    holes = np.append(x, np.nan)
    assert result(holes).confidence_interval() == result(x).confidence_interval()
    for keywords in ({"weight": 1.0 + np.arange(30)}, {"clusters": np.arange(30) // 2}):
        by_id = {name: dict(enumerate(v)) for name, v in keywords.items()}
        given = confidence_interval(x, bounds=(0, 1), **keywords)
        assert result(x, **keywords).confidence_interval()["hit@10"] == given
        assert confidence_interval(x, bounds=(0, 1), **by_id) == given
    assert result(x, "own").confidence_interval()["own"] == confidence_interval(x)
    assert result(x, "own", is_binary={"own": True}).confidence_interval()["own"] == confidence_interval(
        x, method="wilson"
    )
    of_values = result(x, is_binary={"hit@10": False}).confidence_interval()["hit@10"]
    assert of_values == confidence_interval(x, bounds=(0, 1))
    tied = np.where(np.arange(30) == 3, 0.5, x)
    assert result(tied).confidence_interval()["hit@10"] == confidence_interval(tied, bounds=(0, 1))
    with pytest.raises(ValueError, match="is for values 0 and 1"):
        result(tied).confidence_interval(method="wilson")


def test_results_keep_that_they_are_binary(tmp_path):
    qid, y = np.repeat(np.arange(30), 3), np.tile([0, 1, 0], 30)
    s = np.random.default_rng(0).permutation(90)
    metrics = {"mine": "hit@1", "other": "mrr"}
    found = evaluate(y, s, qid=qid, metrics=metrics, by={"x": qid % 2})
    assert found.is_binary == {"mine": True, "other": False}
    found.save(tmp_path / "result.npz")
    loaded = Evaluation.load(tmp_path / "result.npz")
    assert loaded.is_binary == found.is_binary == found.subset(range(9)).is_binary
    assert loaded.confidence_interval() == found.confidence_interval()
    row = found.segments(metric="mine").table.rows[0]
    assert row[4:6] == confidence_interval(found.per_query["mine"][::2], method="wilson")
    assert found.summary().rows[0][2:4] == found.confidence_interval()["mine"]


# --- differences -------------------------------------------------------------------------------------------------


def bonett_price(only_a, only_b, n, level=0.95):
    """Interval and p by t with two more queries, a win each, and the degrees of freedom of the data."""
    n, rate = n + 2, (only_a - only_b) / (n + 2)
    error = math.sqrt(((only_a + only_b + 2) / n - rate**2) / (n - 1))
    reach = scipy_stats.t.isf((1 - level) / 2, n - 3) * error
    return rate - reach, rate + reach, 2 * scipy_stats.t.sf(abs(rate) / error, n - 3)


@pytest.mark.parametrize(("only_a", "only_b", "both"), [(0, 0, 20), (5, 0, 1), (5, 1, 194), (3, 9, 0), (5, 0, 0)])
def test_few_discordant_queries(only_a, only_b, both):
    """The interval has a closed form and a positive length, and excludes 0 if p is small; p is near the exact p."""
    a, b = table(both, only_a, only_b, 0)
    found, low_high_p = compare(result(a), result(b)), bonett_price(only_a, only_b, len(a))
    assert_allclose(found.confidence_interval, np.clip(low_high_p[:2], -1, 1), rtol=1e-10)
    assert found.pvalue == pytest.approx(low_high_p[2], rel=1e-10)
    low, high = found.confidence_interval
    assert low <= found.difference <= high
    assert low < high
    assert (found.pvalue < 0.05) == (not low <= 0 <= high)
    exact = compare(a, b, test="sign").pvalue
    assert exact / 2 < found.pvalue < exact * 2
    assert not found.is_constant


@pytest.mark.slow
def test_coverage_of_few_discordant_queries():
    """Exact: each number of wins and losses in n queries, with its probability."""
    for n, won, lost in itertools.product((10, 100), (0, 0.005, 0.02), (0.005, 0.02, 0.1)):
        held = 0.0
        for only_a, only_b in itertools.product(range(min(n, 14)), range(min(n, 30))):
            if only_a + only_b <= n:
                low, high, _ = bonett_price(only_a, only_b, n)
                counts = [only_a, only_b, n - only_a - only_b]
                held += (low <= won - lost <= high) * scipy_stats.multinomial.pmf(
                    counts, n, [won, lost, 1 - won - lost]
                )
        assert held > 0.93


@pytest.mark.parametrize("case", references("newcombe-independent-"), ids=lambda case: case["id"])
def test_newcombe_of_different_queries(case):
    given, expected = case["inputs"], case["expected"]
    a, b = (np.repeat([1.0, 0], [given[f"successes{i}"], given[f"n{i}"] - given[f"successes{i}"]]) for i in (1, 2))
    found = compare(result(a), result(b), test="welch")
    assert_allclose(found.confidence_interval, (expected["low"], expected["high"]), rtol=1e-10)


@pytest.mark.parametrize("case", references("mcnemar-"), ids=lambda case: case["id"])
def test_randomization_of_success_rates_is_mcnemar(case):
    given = case["inputs"]
    a, b = table(*(given[name] for name in ("both", "only_a", "only_b", "neither")))
    found = compare(a, b, test="randomization", n_resamples=1)
    assert found.pvalue == pytest.approx(case["expected"]["pvalue_exact"], rel=1e-12)
    assert compare(a, b, test="sign").pvalue == found.pvalue


def test_newcombe_by_hand():
    """One hit in two against one in two: the distance of each bound combines the bounds of Wilson's intervals."""
    low, high = confidence_interval([1, 0], method="wilson")
    reach = math.hypot(0.5 - low, high - 0.5)
    found = compare(result([1.0, 0]), result([1.0, 0, 0, 1]), test="welch")
    by_hand = math.hypot(0.5 - low, confidence_interval([1, 0, 0, 1], method="wilson")[1] - 0.5)
    assert found.confidence_interval[0] == pytest.approx(-by_hand, rel=1e-12)
    assert by_hand < reach


@pytest.mark.parametrize("alternative", ["two-sided", "greater", "less"])
def test_laws_of_the_interval(alternative):
    for seed in range(20):
        a, b = successes(40, 0.5, seed), successes(40, 0.3, seed + 99)
        found = compare(result(a), result(b), alternative=alternative)
        mirrored = {"greater": "less", "less": "greater"}.get(alternative, alternative)
        back = compare(result(b), result(a), alternative=mirrored)
        assert_allclose(back.confidence_interval, np.negative(found.confidence_interval)[::-1], rtol=1e-12)
        low, high = found.confidence_interval
        assert low <= found.difference <= high
        assert (low == -math.inf, high == math.inf) == (alternative == "less", alternative == "greater")
        if alternative != "two-sided":
            wide = compare(result(a), result(b), confidence_level=0.9).confidence_interval
            assert wide[alternative == "less"] == pytest.approx(low if alternative == "greater" else high, rel=1e-12)


def test_equal_systems_have_an_interval_of_positive_length():
    a = successes(30)
    found = compare(result(a), result(a))
    assert (found.pvalue, found.difference) == (1.0, 0.0)
    low, high = found.confidence_interval
    assert low == -high < 0


@pytest.mark.parametrize("test", ["t", "randomization", "sign", "wilcoxon"])
def test_comparisons_with_success_rates(test):
    a, b = successes(30, 0.6), successes(30, 0.4, 1)
    found, by_t = compare(result(a), result(b), test=test), compare(a, b, test=test)
    assert (found.interval_method, by_t.interval_method) == ("bonett-price", "t")
    assert (found.pvalue == by_t.pvalue) == (test != "t")
    assert "The interval is Bonett and Price's, of a difference of success rates." in str(found)
    assert not found.is_skewed
    assert compare(result(a), result(b), test="bootstrap", random_state=0).interval_method == "bca"
    assert compare(result(a), result(b - 0.5 * b)).interval_method == "t"
    assert compare(result(a, "own"), result(b, "own")).interval_method == "t"
    declared, unknown = result(a, "own", is_binary={"own": True}), result(b, "own")
    assert compare(declared, unknown).interval_method == compare(unknown, declared).interval_method == "t"
    assert compare(result(a), result(b), test="mannwhitney").interval_method == "newcombe"
    assert compare(a, b, test="welch").interval_method == "welch"
    weight = 1.0 + np.arange(30)
    assert compare(result(a, weight=weight), result(b, weight=weight)).interval_method == "t"
    pairs = np.arange(30) // 2
    assert compare(result(a, clusters=pairs), result(b, clusters=pairs)).interval_method == "t"


def test_tables_of_comparisons_have_success_rates():
    a, b = successes(30, 0.6), successes(30, 0.4, 1)
    expected = compare(result(a), result(b)).confidence_interval
    by = {"x": np.zeros(30)}
    report = compare_systems({"b": result(b, by=by), "a": result(a, by=by)})
    assert compare_all({"a": result(a), "b": result(b)}).table.rows[0][5:7] == expected
    assert report.significance("hit@10")["a", "b"].confidence_interval == expected
    assert report.segments()["a", "b"].confidence_interval == expected
    assert report.summary().rows[1][3:5] == confidence_interval(a, method="wilson")


def test_differences_of_one_size_have_an_exact_test():
    a, b = successes(3000, 0.5), successes(3000, 0.48, 1)
    d = a - b
    above, n = int((d > 0).sum()), int(np.count_nonzero(d))
    for alternative in ("two-sided", "greater", "less"):
        found = compare(a, b, test="randomization", alternative=alternative, n_resamples=1)
        assert found.pvalue == pytest.approx(scipy_stats.binomtest(above, n, alternative=alternative).pvalue, rel=1e-12)
    sums = [abs(sum(signs)) for signs in itertools.product([-1, 1], repeat=8)]
    expected = np.mean(np.array(sums) >= 2)
    assert compare(*table(2, 5, 3, 1), test="randomization").pvalue == pytest.approx(expected, rel=1e-12)
    no_sum = compare([1.0, 0, 1, 0], [0, 1.0, 0, 1], test="randomization", clusters=[1, 1, 2, 2])
    assert no_sum.pvalue == 1.0


# --- error rates -------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_coverage_of_success_rates(error_rates):  # noqa: F811, the fixture
    """For rare successes t misses its level; Wilson keeps it."""
    rates = {m: [error_rates.success_coverage(m, 0.05, n, 400, 0) for n in (5, 20, 100)] for m in ("t", "wilson")}
    assert_allclose(rates["t"], [0.23, 0.64, 0.885], atol=0.06)
    assert min(rates["wilson"]) > 0.9
    for method, most in (("bonett-price", 0.06), ("randomization", 0.05)):
        assert error_rates.success_differences(method, 0.3, 50, 200, 0) <= most
