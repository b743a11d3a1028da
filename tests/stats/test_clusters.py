"""Intervals and tests with dependent queries in clusters, for example queries of the same user."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats as scipy_stats
from test_stats_laws import error_rates  # noqa: F401, a fixture

from sklearn_rank.stats import compare, confidence_interval, power_of

CLUSTERED = ["t", "randomization", "bootstrap"]


def clustered(n=40, n_clusters=7, seed=0):
    rng = np.random.default_rng(seed)
    cluster = rng.integers(0, n_clusters, n)
    return rng.normal(size=n) + rng.normal(size=n_clusters)[cluster], cluster


def quick(a, b, **keywords):
    return compare(a, b, **{"n_resamples": 199, "random_state": 0} | keywords)


def test_statsmodels_agrees():
    """Reference: ``OLS(x, ones).fit(cov_type="cluster", use_t=True)`` of statsmodels 0.15."""
    x, cluster = clustered()
    result = compare(x, np.zeros(40), clusters=cluster)
    assert (result.df, result.n_units, result.n_clusters) == (6, 40, 7)
    np.testing.assert_allclose([result.standard_error, result.pvalue], [0.42661276782340807, 0.5300304030038359])
    expected = [-0.7596605755786563, 1.3281070992950605]
    np.testing.assert_allclose(result.confidence_interval, expected)
    np.testing.assert_allclose(confidence_interval(x, clusters=cluster), expected)


def test_clusters_by_hand():
    """Deviations -1, 0 | 0, 1 in two clusters: sums -1 and 1, so the standard error is sqrt(2 * 2) / 4 = 0.5."""
    result = compare([1.0, 2, 2, 3], [0.0, 0, 0, 0], clusters=["u", "u", "v", "v"])
    assert (result.standard_error, result.df, result.statistic) == (0.5, 1, 4)
    assert "4 queries in 2 clusters" in str(result)


def test_power_follows_from_the_standard_error():
    x, cluster = clustered()
    result = compare(x, 0 * x, clusters=cluster)
    difference = result.minimal_detectable_difference(power=0.8)
    std = result.standard_error * np.sqrt(7)  # power of seven queries
    assert power_of(std, difference=difference, n_queries=7) == pytest.approx(0.8)


@pytest.mark.parametrize("test", CLUSTERED)
def test_clusters_of_one_query_are_independent_queries(test):
    x, _ = clustered()
    one, other = quick(x, 0 * x, test=test), quick(x, 0 * x, test=test, clusters=np.arange(40))
    np.testing.assert_allclose([other.standard_error, other.df], [one.standard_error, one.df])
    assert other.pvalue == pytest.approx(one.pvalue, rel=1e-9 if test != "bootstrap" else 0.2)
    for method in ("t", "percentile", "bca"):
        options = {"method": method, "random_state": 0}
        rounding = 1e-9 if method == "t" else 0.1
        intervals = [confidence_interval(x, clusters=c, **options) for c in (None, np.arange(40))]
        np.testing.assert_allclose(*intervals, rtol=rounding)


def test_the_bootstrap_draws_whole_clusters():
    x, cluster = clustered(200, 12, seed=2)
    rng = np.random.default_rng(0)
    sums, sizes = np.bincount(cluster, x), np.bincount(cluster)
    drawn = rng.integers(0, 12, (20_000, 12))
    means = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    got = confidence_interval(x, method="percentile", clusters=cluster, random_state=1, n_resamples=20_000)
    np.testing.assert_allclose(got, np.quantile(means, [0.025, 0.975]), atol=0.03)
    jackknife = (sums.sum() - sums) / (sizes.sum() - sizes)
    u = jackknife.mean() - jackknife
    acceleration = (u**3).sum() / (6 * (u**2).sum() ** 1.5)
    bias = scipy_stats.norm.ppf((means < x.mean()).mean())
    z = np.array([-1.96, 1.96]) + bias
    expected = np.quantile(means, scipy_stats.norm.cdf(bias + z / (1 - acceleration * z)))
    got = confidence_interval(x, method="bca", clusters=cluster, random_state=1, n_resamples=20_000)
    np.testing.assert_allclose(got, expected, atol=0.04)


@pytest.mark.parametrize("test", CLUSTERED)
def test_order_and_names_of_clusters_have_no_effect(test):
    x, cluster = clustered()
    order = np.random.default_rng(1).permutation(40)
    names = np.array([f"user {c * 37 % 11}" for c in cluster])
    assert quick(x, 0 * x, test=test, clusters=cluster) == quick(
        x[order], 0 * x, test=test, clusters=pd.Categorical(names[order])
    )


def test_dependent_queries_have_wider_intervals():
    rng = np.random.default_rng(0)
    users = rng.normal(size=10)
    x, cluster = np.repeat(users, 20), np.repeat(np.arange(10), 20)
    narrow, wide = np.diff(confidence_interval(x)), np.diff(confidence_interval(x, clusters=cluster))
    np.testing.assert_allclose(wide, np.diff(confidence_interval(users)))  # each user is a single value
    assert wide > 4 * narrow


def test_clusters_omit_undefined_queries():
    x, cluster = clustered()
    holes = np.append(x, [np.nan, np.nan])
    more = np.append(cluster, [99, 99])
    assert confidence_interval(holes, clusters=more) == confidence_interval(x, clusters=cluster)
    assert compare(holes, np.zeros(42), clusters=more).n_clusters == 7


def test_one_cluster_is_rejected():
    for method in ("t", "percentile", "bca"):
        for values in ([1.0, 2.0, 3.0], [np.nan] * 3):
            assert np.isnan(confidence_interval(values, clusters=[1, 1, 1], method=method)).all()
        one_is_defined = confidence_interval([1.0, 2.0, np.nan], clusters=[1, 1, 2], method=method)
        assert np.isnan(one_is_defined).all()
    with pytest.raises(ValueError, match="two clusters or more. Got one"):
        compare([1.0, 2.0, 3.0], [0.0, 0, 0], clusters=[1, 1, 1])


def test_false_positives_with_clusters(error_rates):  # noqa: F811, the fixture
    """Ignoring clusters finds a difference in half of the experiments; clustered tests keep their level."""
    settings = {"n_clusters": 20, "icc": 0.5, "equal": True, "n_pairs": 150, "seed": 1, "n_resamples": 99}
    assert error_rates.cluster_rejections("t without clusters", **settings) > 0.4
    low, high = scipy_stats.binom.ppf([0.0005, 0.9995], 150, 0.05) / 150
    for method in ("t", "randomization"):
        assert low <= error_rates.cluster_rejections(method, **settings) <= high + 0.02, method
