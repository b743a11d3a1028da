"""Intervals and tests of weighted means: linearized standard errors, resampling, and errors."""

import numpy as np
import pytest
from known_cases import references
from scipy import stats as scipy_stats
from test_stats_laws import error_rates  # noqa: F401, a fixture

from sklearn_rank import evaluate
from sklearn_rank._estimates.samples import is_skewed, sample_of
from sklearn_rank._estimates.segments import equal_means
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import compare, compare_all, confidence_interval

TAKEN = ["t", "randomization", "bootstrap"]
REFUSED = ["wilcoxon", "sign", "welch", "mannwhitney", "permutation"]
METHODS = ["t", "percentile", "bca"]


def weighted(n=40, seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(0.2, 1, n), rng.exponential(size=n) + 0.1


def quick(a, b, **keywords):
    return compare(a, b, **{"n_resamples": 199, "random_state": 0} | keywords)


# --- other programs ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", references("weighted-mean-"), ids=lambda case: case["id"])
def test_standard_errors_match_statsmodels(case):
    """Reference: ``WLS(value, 1, weights).fit(cov_type="HC1")``, and ``cov_type="cluster"``."""
    given, expected = case["inputs"], case["expected"]
    x = np.array(given["value"])
    found = compare(x, 0 * x, weight=given["weight"], clusters=given.get("cluster"))
    n = len(np.unique(given.get("cluster", np.arange(len(x)))))
    error = expected["se_CR1"] if "cluster" in given else expected["se_HC1"]
    np.testing.assert_allclose([found.difference, found.standard_error], [expected["mean"], error], rtol=1e-12)
    assert found.df == n - 1
    low, high = (expected.get(f"{end}_t_cluster", expected.get(end)) for end in ("low", "high"))
    np.testing.assert_allclose(found.confidence_interval, (low, high), rtol=1e-10)
    interval = confidence_interval(x, weight=given["weight"], clusters=given.get("cluster"))
    np.testing.assert_allclose(interval, (low, high), rtol=1e-10)
    if "se_model" in expected:  # by DescrStatsW, whose weights are counts or inverse variances
        assert abs(found.standard_error - expected["se_model"]) > 1e-3


@pytest.mark.parametrize("case", references("weighted-difference-"), ids=lambda case: case["id"])
def test_weighted_t_matches_statsmodels(case):
    given, expected = case["inputs"], case["expected"]
    found = compare(given["a"], given["b"], weight=given["weight"])
    np.testing.assert_allclose(
        [found.difference, found.standard_error, found.statistic, found.pvalue],
        [expected[name] for name in ("difference", "se", "statistic", "pvalue")], rtol=1e-10,
    )  # fmt: skip


NOT_STRATIFIED = [case for case in references("survey-") if "stratum" not in case["inputs"]]  # strata: test_macro.py


@pytest.mark.parametrize("case", NOT_STRATIFIED, ids=lambda case: case["id"])
def test_standard_errors_match_survey_of_r(case):
    given, expected = case["inputs"], case["expected"]
    x, y, weight = (np.array(given[name]) for name in ("value", "other", "weight"))
    found, difference = compare(x, 0 * x, weight=weight), compare(x, y, weight=weight)
    np.testing.assert_allclose(
        [found.difference, found.standard_error, found.df, difference.difference, difference.standard_error],
        [expected[name] for name in ("mean", "se", "df", "difference", "se_difference")], rtol=1e-10,
    )  # fmt: skip
    np.testing.assert_allclose(found.confidence_interval, (expected["low"], expected["high"]), rtol=1e-9)


def test_weights_by_hand():
    """Values 0, 0.5, 1, weights 2, 1, 1: mean 3/8, deviations -6/8, 1/8, 5/8, so 3/2 * (36 + 1 + 25) / 64 / 16."""
    found = compare([0, 0.5, 1], [0.0, 0, 0], weight=[2, 1, 1])
    assert (found.difference, found.df, found.n_units) == (0.375, 2, 3)
    assert found.standard_error == pytest.approx(np.sqrt(1.5 * 62 / 64 / 16), rel=1e-14)
    assert found.effect_size == pytest.approx(0.375 / np.sqrt(1.5 * (2 * 9 + 1 + 25) / 64 / 4), rel=1e-14)
    assert (found.won, found.tied, found.lost) == (2, 1, 0)
    assert str(found).startswith("a metric: a minus b, 3 weighted queries, test 't'")


def test_weights_match_statsmodels():
    """Reference: ``WLS(x, ones, weights)`` of statsmodels 0.15 with ``cov_type="HC1"`` and "cluster"."""
    x, weight, cluster = np.array([0.9, 0.1, 0.4, 0.7, 0.0]), [1, 3, 0.5, 2, 1], [0, 0, 1, 2, 2]
    np.testing.assert_allclose(compare(x, 0 * x, weight=weight).standard_error, 0.18355609362310166)
    found = compare(x, 0 * x, weight=weight, clusters=cluster)
    np.testing.assert_allclose(found.standard_error, 0.0662565161016328)
    assert (found.df, found.n_clusters) == (2, 3)


# --- laws --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("test", TAKEN)
@pytest.mark.parametrize("clusters", [None, np.arange(40) // 3])
def test_equal_weights_have_no_effect(test, clusters):
    x, _ = weighted()
    without = quick(x, 0 * x, test=test, clusters=clusters)
    assert quick(x, 0 * x, test=test, clusters=clusters, weight=np.full(40, 0.3)) == without
    for method in METHODS:
        options = {"method": method, "clusters": clusters, "random_state": 0, "n_resamples": 199}
        assert confidence_interval(x, weight=[7] * 40, **options) == confidence_interval(x, **options)


@pytest.mark.parametrize("test", TAKEN)
def test_the_scale_of_weights_has_no_effect(test):
    x, weight = weighted()
    one = quick(x, 0 * x, test=test, weight=weight)
    assert quick(x, 0 * x, test=test, weight=1024 * weight) == one
    for scale in (3, 1e-80, 1e80):
        other = quick(x, 0 * x, test=test, weight=scale * weight)
        rows = (found.to_frame().select_dtypes("number") for found in (other, one))
        np.testing.assert_allclose(*rows, rtol=1e-10)


@pytest.mark.parametrize("test", TAKEN)
def test_a_query_of_weight_0_is_ignored(test):
    x, weight = weighted()
    more = quick(np.append(x, [9.0, -4.0]), np.zeros(42), test=test, weight=np.append(weight, [0, 0]))
    one = quick(x, 0 * x, test=test, weight=weight)
    assert (more.n_units, more.n_left_out, more.table) == (40, 2, one.table)
    for method in METHODS:
        options = {"method": method, "random_state": 0, "n_resamples": 199}
        longer = confidence_interval(np.append(x, 9.0), weight=np.append(weight, 0), **options)
        assert longer == confidence_interval(x, weight=weight, **options)


@pytest.mark.parametrize("test", TAKEN)
@pytest.mark.parametrize("clusters", [None, np.arange(40) % 7])
def test_the_order_of_queries_has_no_effect_with_weights(test, clusters):
    x, weight = weighted()
    weight[:20] = 2.0
    order = np.random.default_rng(1).permutation(40)
    moved = None if clusters is None else clusters[order]
    assert quick(x[order], 0 * x, test=test, weight=weight[order], clusters=moved) == quick(
        x, 0 * x, test=test, weight=weight, clusters=clusters
    )


@pytest.mark.parametrize("test", ["t", "randomization"])
def test_weighted_compare_is_antisymmetric(test):
    x, weight = weighted()
    there, back = quick(x, 0 * x, test=test, weight=weight), quick(0 * x, x, test=test, weight=weight)
    assert (back.difference, back.pvalue) == (-there.difference, pytest.approx(there.pvalue, rel=1e-12))
    np.testing.assert_allclose(back.confidence_interval, np.negative(there.confidence_interval)[::-1], rtol=1e-10)


def test_a_weight_of_two_is_not_two_queries():
    """The mean is the same; two queries are more evidence than one query with weight 2."""
    x, _ = weighted()
    weight = np.where(np.arange(40) < 20, 2, 1)
    one, two = compare(x, 0 * x, weight=weight), compare(np.repeat(x, weight), np.zeros(60))
    assert one.difference == pytest.approx(two.difference, rel=1e-12)
    assert one.standard_error > 1.05 * two.standard_error
    assert (one.df, two.df) == (39, 59)
    # Copies in the same cluster count as one query again.
    copies = compare(np.repeat(x, weight), np.zeros(60), clusters=np.repeat(np.arange(40), weight))
    np.testing.assert_allclose([copies.standard_error, copies.df], [one.standard_error, one.df])


def test_clusters_of_one_query_are_weighted_queries():
    x, weight = weighted()
    one, other = compare(x, 0 * x, weight=weight), compare(x, 0 * x, weight=weight, clusters=np.arange(40))
    np.testing.assert_allclose([other.standard_error, other.df, other.pvalue], [one.standard_error, one.df, one.pvalue])


def test_the_bootstrap_draws_queries_with_their_weights():
    x, weight = weighted(100)
    drawn = np.random.default_rng(0).integers(0, 100, (20_000, 100))
    means = (x * weight)[drawn].sum(axis=1) / weight[drawn].sum(axis=1)
    found = confidence_interval(x, weight=weight, method="percentile", random_state=1, n_resamples=20_000)
    np.testing.assert_allclose(found, np.quantile(means, [0.025, 0.975]), atol=0.02)


def test_segments_differ_by_weighted_means():
    x, weight = weighted(60)
    segment = np.arange(60) % 2
    found = equal_means(x, segment, None, weight)
    parts = [compare(x[segment == s], np.zeros(30), weight=weight[segment == s]) for s in (0, 1)]
    t = (parts[0].difference - parts[1].difference) / np.hypot(*(part.standard_error for part in parts))
    assert found.statistic == pytest.approx(t**2, rel=1e-10)
    with_weights, without = equal_means(x, segment, None, np.full(60, 2.0)), equal_means(x, segment)
    np.testing.assert_allclose(with_weights[0], without[0], rtol=1e-10)


def test_clusters_across_segments_with_weights():
    x, weight = weighted(60)
    segment, cluster = np.arange(60) % 2, np.arange(60) // 4
    found = equal_means(x, segment, cluster, weight)
    m = np.array([np.average(x[segment == s], weights=weight[segment == s]) for s in (0, 1)])
    sign = np.where(segment == 0, 1, -1)
    u = sign * weight * (x - m[segment]) / np.bincount(segment, weight)[segment]
    variance = 15 / 14 * (np.bincount(cluster, u) ** 2).sum()
    assert found.statistic == pytest.approx((m[0] - m[1]) ** 2 / variance, rel=1e-10)


def test_skewness_uses_weighted_deviations():
    x, weight = weighted(200)
    assert not is_skewed(sample_of(x, None))
    assert is_skewed(sample_of(np.exp(2 * x), None))
    assert not is_skewed(sample_of(x, None, weight))
    weight[0] = 200.0
    assert is_skewed(sample_of(x, None, weight / 200))  # one query has half of the total weight
    assert not is_skewed(sample_of(np.full(9, 0.1), None))
    assert not is_skewed(sample_of(np.arange(8.0), np.arange(8) // 2))
    assert is_skewed(sample_of(np.arange(80.0) % 2, np.minimum(np.arange(80), 9)))


# --- results -----------------------------------------------------------------------------------------------------


def result(values, weight=None, qid=None, **keywords):
    ids = np.arange(len(values)) if qid is None else qid
    return Evaluation.from_values(ids, {"mrr": values}, weight=weight, **keywords)


def test_invalid_weights():
    x, weight = weighted()
    for call in (
        lambda given: compare(x, 0 * x, weight=given),
        lambda given: compare_all({"a": x, "b": 0 * x}, weight=given),
        lambda given: confidence_interval(x, weight=given),
    ):
        with pytest.raises(ValueError, match=r"weight must have one entry per query, 40. Got shape \(39,\)"):
            call(weight[1:])
        with pytest.raises(ValueError, match="not negative and not all zero. Got values from -1"):
            call(np.append(weight[1:], -1))
        with pytest.raises(ValueError, match="must not have missing values"):
            call(np.append(weight[1:], np.nan))
        with pytest.raises(TypeError, match="weight must hold real numbers"):
            call(["a"] * 40)
    with pytest.raises(ValueError, match="two queries or more with a defined value. Got 1, after 2 undefined ones, or"):
        compare([1, 2, np.nan], [0, 0, 0], weight=[1, 0, 1])
    assert np.isnan(confidence_interval([1, 2, np.nan], weight=[1, 0, 1])).all()


def test_queries_in_the_weighted_mean():
    nan = np.nan
    found = Evaluation.from_values(
        range(4), {"mrr": [1, nan, 0, 1], "map": [1, 0.5, 0, 1]}, weight=[1, 1, 0, 2], by={"x": list("aabb")}
    )
    assert found.n_in_mean == {"mrr": 2, "map": 3}
    assert result([0.5, nan]).n_in_mean == {"mrr": 1}
    y, s, qid = [0, 1, 0, 0], [2, 1, 2, 1], [1, 1, 2, 2]
    assert evaluate(y, s, qid=qid, metrics="mrr").n_in_mean == {"mrr": 2}
    assert evaluate(y, s, qid=qid, metrics="mrr", replace_undefined_by=nan).n_in_mean == {"mrr": 1}


# --- error rates -------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("method", TAKEN)
def test_false_positives_with_weights(method, error_rates):  # noqa: F811, the fixture
    low, high = scipy_stats.binom.ppf([0.0005, 0.9995], 200, 0.05) / 200
    for weights in error_rates.WEIGHTS:
        found = error_rates.weight_rejections(method, weights, 50, 200, seed=3, n_resamples=99)
        assert low <= found <= high + 0.03, weights


def test_weights_as_counts_find_too_much(error_rates):  # noqa: F811, the fixture
    weights = "a tenth has half of the weight"
    assert error_rates.weight_rejections("repeated", weights, 50, 200, seed=3) > 0.25
