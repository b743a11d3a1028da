"""p-values, intervals, corrections and power match scipy.stats and statsmodels."""

from itertools import product
from math import fsum, inf, sqrt

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import stats

from sklearn_rank import compare_systems, evaluate
from sklearn_rank._estimates.intervals import t_interval
from sklearn_rank._estimates.samples import exact_sum
from sklearn_rank._estimates.significance import t_pvalue
from sklearn_rank.results import Evaluation
from sklearn_rank.stats import adjust_pvalues, compare, compare_all, compare_folds, confidence_interval, power_of

ALTERNATIVES = ["two-sided", "greater", "less"]
CLOSE = {"rtol": 1e-12, "atol": 1e-15}


def pair(n_a, n_b=None, seed=0):
    rng = np.random.default_rng(seed)
    n_b = n_a if n_b is None else n_b
    return rng.beta(0.7, 0.6, n_a), rng.beta(0.6, 0.7, n_b)


@pytest.mark.parametrize("alternative", ALTERNATIVES)
class TestOfScipy:
    def test_t(self, alternative):
        a, b = pair(40)
        expected = stats.ttest_rel(a, b, alternative=alternative)
        got = compare(a, b, alternative=alternative, confidence_level=0.9)
        assert_allclose(
            (got.statistic, got.pvalue, got.df), (expected.statistic, expected.pvalue, expected.df), **CLOSE
        )
        assert_allclose(got.confidence_interval, expected.confidence_interval(0.9), **CLOSE)

    @pytest.mark.parametrize("n", [9, 40, 200])
    def test_wilcoxon(self, alternative, n):
        a, b = pair(n)
        a[:2] = b[:2]
        # Rounded differences are tied, from 50 on with SciPy's correction of the variance.
        for x in (a, np.round(4 * (a - b)) / 4 + b) if n > 50 else (a,):
            expected = stats.wilcoxon(np.round(x - b, 9), alternative=alternative)
            got = compare(np.round(x - b, 9), np.zeros(n), test="wilcoxon", alternative=alternative)
            assert_allclose((got.statistic, got.pvalue), (expected.statistic, expected.pvalue), **CLOSE)

    def test_sign(self, alternative):
        a, b = pair(40)
        a[:3] = b[:3]
        expected = stats.binomtest(int((a > b).sum()), 37, alternative=alternative)
        assert_allclose(compare(a, b, test="sign", alternative=alternative).pvalue, expected.pvalue, **CLOSE)

    def test_exact_randomization(self, alternative):
        a, b = pair(10)
        expected = stats.permutation_test((a - b,), np.mean, permutation_type="samples", alternative=alternative)
        got = compare(a, b, test="randomization", alternative=alternative)
        assert_allclose((got.statistic, got.pvalue), (expected.statistic, expected.pvalue), **CLOSE)

    @pytest.mark.parametrize("sizes", [(4, 6), (6, 4), (5, 5)])
    def test_exact_permutation(self, alternative, sizes):
        a, b = pair(*sizes)
        expected = stats.permutation_test(
            (a, b), lambda a, b, axis: a.mean(axis) - b.mean(axis), vectorized=True, alternative=alternative
        )
        got = compare(a, b, test="permutation", alternative=alternative)
        assert_allclose((got.statistic, got.pvalue), (expected.statistic, expected.pvalue), **CLOSE)

    def test_welch(self, alternative):
        a, b = pair(40, 25)
        expected = stats.ttest_ind(a, b, equal_var=False, alternative=alternative)
        got = compare(a, b, test="welch", alternative=alternative)
        assert_allclose(
            (got.statistic, got.pvalue, got.df), (expected.statistic, expected.pvalue, expected.df), **CLOSE
        )
        assert_allclose(got.confidence_interval, expected.confidence_interval(0.95), **CLOSE)

    @pytest.mark.parametrize("sizes", [(6, 7), (40, 25)])
    def test_mannwhitney(self, alternative, sizes):
        a, b = pair(*sizes)
        expected = stats.mannwhitneyu(a, b, alternative=alternative)
        got = compare(a, b, test="mannwhitney", alternative=alternative)
        assert_allclose((got.statistic, got.pvalue), (expected.statistic, expected.pvalue), **CLOSE)

    @pytest.mark.parametrize("source", [3, np.random.RandomState, np.random.default_rng])
    def test_bootstrap(self, alternative, source):
        a, b = pair(30)
        seeded = (lambda: source) if source == 3 else (lambda: source(3))
        options = {"n_resamples": 499, "alternative": alternative, "random_state": seeded()}
        expected = stats.bootstrap((a - b,), np.mean, method="BCa", **options)
        got = compare(a, b, test="bootstrap", **options | {"random_state": seeded()})
        assert_allclose(got.confidence_interval, expected.confidence_interval, **CLOSE)

        def t(d, axis):
            return (d.mean(axis) - np.mean(a - b)) / (d.std(axis, ddof=1) / sqrt(30))

        options |= {"random_state": seeded(), "method": "percentile", "vectorized": True}
        null, observed = stats.bootstrap((a - b,), t, **options).bootstrap_distribution, got.statistic
        assert_allclose(observed, stats.ttest_rel(a, b).statistic)
        as_far = {"two-sided": abs(null) >= abs(observed), "greater": null >= observed, "less": null <= observed}
        assert got.pvalue == (as_far[alternative].sum() + 1) / 500


@pytest.mark.parametrize(("test", "n"), [("randomization", 14), ("permutation", 8)])
@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_random_resamples_agree_with_enumeration(test, n, alternative):
    a, b = pair(n, seed=3)
    exact = compare(a, b, test=test, alternative=alternative, n_resamples=2**14).pvalue
    drawn = compare(a, b, test=test, alternative=alternative, n_resamples=9000, random_state=0).pvalue
    assert drawn * 9001 == pytest.approx(round(drawn * 9001)) or test == "permutation"  # (b + 1) / (n + 1)
    assert drawn != exact
    assert abs(drawn - exact) < 4 * 2 * sqrt(exact * (1 - exact) / 9000) + 2 / 9001


def test_a_random_p_is_never_zero():
    a, b = pair(40)
    assert compare(a + 2, b, test="randomization", n_resamples=99).pvalue == 0.01
    assert compare(a + 2, b, test="permutation", n_resamples=99, alternative="greater").pvalue == 0.01


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_bootstrap_intervals(method):
    x, _ = pair(60)
    name = {"bca": "BCa"}.get(method, method)
    expected = stats.bootstrap((x,), np.mean, method=name, confidence_level=0.9, random_state=5).confidence_interval
    assert_allclose(confidence_interval(x, method=method, confidence_level=0.9, random_state=5), expected, **CLOSE)


@pytest.mark.parametrize("units", [{}, {"weight": [1, 2, 1, 1, 3, 1, 1, 1]}, {"clusters": list("abcdefgh")}])
def test_intervals_allow_for_unseen_values(units):
    """Seven values of 1 and a 0.5: a query at 0 and at 1 more, of the size sum s^2 / sum s."""
    x, s = np.array([1, 1, 1, 1, 1, 1, 1, 0.5]), np.array(units.get("weight", [1] * 8))
    added = (s**2).sum() / s.sum()
    mean = ((s * x).sum() + added) / (s.sum() + 2 * added)
    squares = ((s * (x - mean)) ** 2).sum() + added**2 * (mean**2 + (1 - mean) ** 2)
    low = mean - stats.t.isf(0.025, 7) * np.sqrt(squares) / (s.sum() + 2 * added)
    assert_allclose(confidence_interval(x, bounds=(0, 1), **units), (low, 1), rtol=1e-12)
    given = {"weight": units.get("weight"), "clusters": units.get("clusters")}
    result = Evaluation.from_values(range(8), {"mrr": x, "clicks": x}, **given)
    assert_allclose(result.confidence_interval()["mrr"], (low, 1), rtol=1e-12)
    assert_allclose(result.confidence_interval()["clicks"], confidence_interval(x, **units), rtol=1e-12)
    for method in ("auto", "t"):
        equal = confidence_interval([0.25] * 8, method=method, **units)
        assert np.isnan(equal).all()
    # At a low level the interval still reaches the mean, on both sides.
    low, high = confidence_interval(x, bounds=(0, 1), confidence_level=0.5, **units)
    assert high >= np.average(x, weights=s)
    mirrored = confidence_interval(1 - x, bounds=(0, 1), confidence_level=0.5, **units)
    assert_allclose(mirrored, (1 - high, 1 - low), rtol=1e-12)


@pytest.mark.parametrize(
    ("bounds", "got"), [((0, 0.5), r"\(0, 0.5\) and the value 1"), ((1, 0), r"\(1, 0\)"), (1, "1"), (("a", 1), "'a'")]
)
def test_invalid_bounds(bounds, got):
    with pytest.raises(ValueError, match=f"must be the lowest and highest value that a query can have.*Got .*{got}"):
        confidence_interval([0.5, 1], bounds=bounds)


def test_intervals_of_a_result():
    rng = np.random.default_rng(0)
    result = evaluate(rng.integers(0, 2, 200), rng.random(200), qid=np.arange(200) // 5, metrics=["mrr", "p@2"])
    for method in ("t", "percentile", "bca"):
        got = result.confidence_interval(0.9, method, random_state=1)
        for name, values in result.per_query.items():
            assert got[name] == confidence_interval(values, confidence_level=0.9, method=method, random_state=1)


def test_effect_sizes():
    a, b = np.array([0.5, 0.7, 0.6, 0.2, 0.4]), np.array([0.2, 0.6, 0.6, 0.4, 0.0])
    assert compare(a, b).effect_size == pytest.approx(0.12 / np.std([0.3, 0.1, 0, -0.2, 0.4], ddof=1))
    assert compare(a, b, test="wilcoxon").effect_size == pytest.approx((3 + 1 - 2 + 4) / 10)
    assert compare(a, b, test="sign").effect_size == pytest.approx((3 - 1) / 4)
    pooled = sqrt((a.var(ddof=1) + b.var(ddof=1)) / 2)
    assert compare(a, b, test="welch").effect_size == pytest.approx(0.12 / pooled)
    fewer = b[:3]  # the pooled variance uses degrees of freedom
    pooled = sqrt((4 * a.var(ddof=1) + 2 * fewer.var(ddof=1)) / 6)
    found = compare(a, fewer, test="welch").effect_size
    assert found == pytest.approx((a.mean() - fewer.mean()) / pooled)
    signs = [np.sign(x - y) for x, y in product(a, b)]
    assert compare(a, b, test="mannwhitney").effect_size == pytest.approx(np.mean(signs))


P = [0.041, 0.003, 0.2, 0.003, 0.0004, 0.9, 0.013]
MULTIPLETESTS = {  # statsmodels 0.15.0, multipletests(P, method=...)
    "holm": [0.123, 0.018, 0.4, 0.018, 0.0028, 0.9, 0.052],
    "bonferroni": [0.287, 0.021, 1.0, 0.021, 0.0028, 1.0, 0.091],
    "bh": [0.0574, 0.007, 0.7 / 3, 0.007, 0.0028, 0.9, 0.02275],
    None: P,
}


@pytest.mark.parametrize("correction", MULTIPLETESTS)
def test_corrections(correction):
    assert_allclose(adjust_pvalues(P, correction), MULTIPLETESTS[correction], **CLOSE)
    assert len(adjust_pvalues([], correction)) == 0


def test_pvalues_of_any_size_are_printed():
    """The t test of 3,000 queries has p below 1e-100, or below the smallest float."""
    assert_allclose(adjust_pvalues([1e-200, 0.0, 1e-300]), [1e-200, 0.0, 2e-300])
    noise = np.random.default_rng(0).random((3, 3000)) * 0.2
    systems = zip(("old", "new", "best"), noise + [[0.3], [0.35], [0.7]], strict=True)
    segments = {"half": np.arange(3000) % 2}
    report = compare_systems(
        {name: Evaluation.from_values(range(3000), {"ndcg": values}, by=segments) for name, values in systems}
    )
    found = report.significance("ndcg")
    assert found["best", "old"].pvalue == 0.0 < found["new", "old"].pvalue < 1e-100
    by_half = report.segments("half")
    for table in (report.summary(), report.summary(full=True), found, by_half, by_half.macro()):
        assert all("< 1e-300" in text for text in (str(table), table.to_markdown().replace("\\", "")))
        assert r"\textless{} 1e-300" in table.to_latex()
    assert "< 1e-300" in str(report)
    assert "significantly better than old" in report.to_latex()


POWER = [  # statsmodels 0.15.0, TTestPower().power(difference, n, alpha, alternative=...)
    (0.3, 50, 0.05, "two-sided", 0.5476570389705147),
    (0.3, 50, 0.05, "greater", 0.6725739831252316),
    (-0.2, 20, 0.01, "less", 0.06762735712945774),
    (0.05, 5000, 0.05, "two-sided", 0.9423591728304449),
    (0.3, 50, 0.05, "less", 9.295587540409864e-05),
]


@pytest.mark.parametrize(("difference", "n", "alpha", "alternative", "expected"), POWER)
def test_power(difference, n, alpha, alternative, expected):
    got = power_of(2.0, difference=2 * difference, n_queries=n, alpha=alpha, alternative=alternative)
    assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.slow
def test_power_and_needed_queries():
    assert power_of(1.0, difference=0.15, power=0.9) == 469  # TTestPower: 0.89944 with 468, 0.90005 with 469
    assert power_of(1.0, difference=-0.15, power=0.9) == 469
    assert power_of(0.0, difference=5.0, power=0.8) == 2
    for alternative in ALTERNATIVES:
        found = power_of(0.2, n_queries=60, power=0.7, alternative=alternative)
        found = -found if alternative == "less" else found
        assert power_of(0.2, difference=found, n_queries=60, alternative=alternative) == pytest.approx(0.7, abs=1e-12)
    assert power_of(0.0, difference=0.3, n_queries=10) == 1
    assert power_of(0.1, difference=0.0, n_queries=10) == pytest.approx(0.05)
    assert power_of(0.1, difference=90.0, n_queries=10) == 1
    assert power_of(1.0, difference=1e7, n_queries=2, alpha=1e-6) > 0.9  # SciPy warns and returns nan
    assert power_of(1.0, n_queries=2, power=0.9999, alpha=1e-5) > 1e5
    assert power_of(0.1, n_queries=10, power=0.04) == 0
    a, b = pair(50)
    expected = power_of(np.std(a - b, ddof=1), n_queries=50, power=0.8)
    assert compare(a, b).minimal_detectable_difference() == pytest.approx(expected)


@pytest.mark.parametrize("n_sides", [1, 2])
@pytest.mark.parametrize(
    ("difference", "std", "power"), [(1e-7, 1.0, 0.8), (1e-5, 1, 0.9999), (1e-300, 1e-293, 0.8), (1e300, 1e306, 0.06)]
)
def test_small_effects_need_the_queries_of_the_normal_distribution(difference, std, power, n_sides):
    n = power_of(std, difference=difference, power=power, alternative="two-sided" if n_sides == 2 else "greater")
    critical, shift = stats.norm.isf(0.05 / n_sides), sqrt(n) * (difference / std)
    assert stats.norm.sf(critical - shift) + (n_sides - 1) * stats.norm.sf(critical + shift) == pytest.approx(
        power, abs=1e-9
    )


def test_the_limits_of_power():
    for wrong in ({"difference": 0.1, "n_queries": 0}, {"n_queries": 9, "power": 0}):
        with pytest.raises(ValueError, match=f"'{min(wrong, key=wrong.get)}' parameter of power_of"):
            power_of(1.0, **wrong)
    assert power_of(1.0, difference=8.86e-8, power=0.8) < 1e15
    with pytest.raises(ValueError, match=r"More than 1e\+15 queries would be needed. Got difference=8.85e-08"):
        power_of(1.0, difference=8.85e-8, power=0.8)
    # The t distribution needs z**2 / 2 more queries than the normal distribution.
    for alpha, power in ((0.05, 1 - 1e-12), (1e-100, 0.8)):
        z = stats.norm.isf(alpha / 2)
        expected = ((z + stats.norm.isf(1 - power)) / 0.1) ** 2 + z**2 / 2
        assert power_of(1.0, difference=0.1, power=power, alpha=alpha) == pytest.approx(expected, abs=1)
    assert power_of(1.0, difference=1e-9, power=0.04) == 2
    with pytest.raises(ValueError, match="'alpha' parameter of power_of must be a number from 1e-100 to 1, exclusive"):
        power_of(1.0, difference=0.1, power=0.8, alpha=1e-300)


def test_folds():
    a, b = [0.81, 0.79, 0.84, 0.80, 0.78], [0.78, 0.79, 0.80, 0.78, 0.77]
    d = np.subtract(a, b)
    t = d.mean() / sqrt((1 / 5 + 20 / 80) * d.var(ddof=1))
    got = compare_folds(a, b, n_train=80, n_test=20)
    assert_allclose((got.statistic, got.pvalue), (t, 2 * stats.t.sf(t, 4)), **CLOSE)
    assert got.pvalue > stats.ttest_rel(a, b).pvalue
    low, high = got.confidence_interval
    assert (low + high) / 2 == pytest.approx(d.mean())
    assert compare_folds(a, a, n_train=80, n_test=20).pvalue == 1
    assert compare_folds(a, a, n_train=80, n_test=20, alternative="greater").pvalue == 1


@pytest.mark.parametrize("alternative", ALTERNATIVES)
def test_the_interval_of_folds_agrees_with_their_test(alternative):
    """An interval at a level of 1 - p ends at 0."""
    a, b = [0.81, 0.79, 0.84, 0.80, 0.78], [0.78, 0.79, 0.80, 0.78, 0.77]
    a, b = (b, a) if alternative == "less" else (a, b)
    p = compare_folds(a, b, n_train=80, n_test=20, alternative=alternative).pvalue
    found = compare_folds(a, b, n_train=80, n_test=20, alternative=alternative, confidence_level=1 - p)
    low, high = found.confidence_interval
    assert (high if alternative == "less" else low) == pytest.approx(0, abs=1e-12)
    assert np.isinf([low, high]).tolist() == [alternative == "less", alternative == "greater"]


@pytest.mark.parametrize(("test", "ways"), [("randomization", 2**5), ("permutation", 252)])
def test_enough_resamples_enumerate_all(test, ways):
    a, b = pair(5, seed=2)
    exact = compare(a, b, test=test).pvalue
    assert {compare(a, b, test=test, n_resamples=ways, random_state=seed).pvalue for seed in range(5)} == {exact}
    drawn = {compare(a, b, test=test, n_resamples=ways - 1, random_state=seed).pvalue for seed in range(5)}
    assert len(drawn) > 1


def test_bca_if_resamples_have_the_same_mean():
    """For binary values many resamples have exactly the mean of the data; count half of them as below."""
    x = np.repeat([0.0, 1.0], [9, 7])
    expected = stats.bootstrap((x,), np.mean, method="BCa", n_resamples=999, random_state=5).confidence_interval
    assert_allclose(confidence_interval(x, method="bca", n_resamples=999, random_state=5), expected, **CLOSE)


def test_a_single_resample():
    """The p-value uses one resample and the observation; all intervals are points, including BCa."""
    a, b = pair(12)
    for seed in range(5):
        found = compare(a, b, test="bootstrap", n_resamples=1, random_state=seed)
        assert found.pvalue in (1 / 2, 1)
        for method in ("percentile", "bca"):
            low, high = confidence_interval(a - b, method=method, n_resamples=1, random_state=seed)
            assert low == high


@pytest.mark.parametrize("method", ["t", "percentile", "bca"])
def test_rounding_differences_are_not_variance(method):
    x = [0.3, 0.1 + 0.2, 0.3, 0.3]
    assert x[0] != x[1]
    assert np.isnan(confidence_interval(x, method=method, random_state=0)).all()
    assert compare(np.add(x, 1.0), [0.3] * 4, test="t").pvalue == 1 / 8  # a constant difference


def test_rounding_is_relative_to_the_larger_of_two_values():
    """The difference is 1e-12 times the larger value, so more than 1e-12 times the smaller one."""
    difference = 4504 * 2.0**-52
    larger = difference * 1e12
    smaller = larger - difference
    assert larger * 1e-12 == larger - smaller > smaller * 1e-12
    for a, b in ((larger, smaller), (smaller, larger)):
        assert compare([a, 0.5, 0.2], [b, 0.1, 0.9]).tied == 1
        assert compare([a, a], [b, b], test="welch").difference == 0


@pytest.mark.parametrize("alternative", ALTERNATIVES)
@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.2])
def test_power_at_another_level(alpha, alternative):
    found = power_of(0.2, n_queries=60, power=0.8, alpha=alpha, alternative=alternative)
    found = -found if alternative == "less" else found
    power = power_of(0.2, difference=found, n_queries=60, alpha=alpha, alternative=alternative)
    assert power == pytest.approx(0.8, abs=1e-12)
    a, b = pair(50)
    expected = power_of(np.std(a - b, ddof=1), n_queries=50, alpha=alpha, power=0.6, alternative=alternative)
    got = compare(a, b, alternative=alternative).minimal_detectable_difference(alpha=alpha, power=0.6)
    assert got == pytest.approx(expected)


def test_reports_fit_a_terminal():
    """Long names are cut in the terminal but not in frames and Markdown."""
    rng = np.random.default_rng(0)
    many = compare_all({f"a very long name of a system, number {i}": rng.random(30) for i in range(3)})
    assert max(map(len, repr(many).splitlines())) <= 100
    assert set(many.to_frame()["a"]) <= {*many.means}
    assert all(name in many.to_markdown() for name in many.means)
    folds = compare_folds([0.5, 0.7, 0.9], [0.4, 0.5, 0.6], n_train=200, n_test=100)
    assert repr(folds).splitlines()[1].split() == "a b difference low high p effect won tied lost".split()
    assert folds.table.columns[-1] == "folds"
    assert (folds.unit, folds.n_units, folds.won, folds.means) == ("fold", 3, 3, pytest.approx({"a": 0.7, "b": 0.5}))


def test_a_generator_advances():
    """A second call with the same generator draws other resamples; a new generator of the same seed draws the same."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0.3, 1, 40), rng.normal(size=40)

    def pvalue(generator):
        return compare(a, b, test="randomization", n_resamples=999, random_state=generator).pvalue

    drawn, again = np.random.default_rng(7), np.random.default_rng(7)
    first = pvalue(drawn)
    assert first == pvalue(again)
    assert drawn.bit_generator.state == again.bit_generator.state != np.random.default_rng(7).bit_generator.state


# --- notes, and intervals of corrected p ------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*worse than a random order")
def test_a_column_of_a_result_has_the_direction_of_its_metric():
    """The better system has the lower error on 19 of 20 queries."""
    rng = np.random.default_rng(0)
    y, qid = rng.integers(0, 2, 100), np.repeat(np.arange(20), 5)
    y[::5] = 1
    good, bad = (
        evaluate(y, sign * y + rng.random(100) / 2, qid=qid, metrics="ranking_loss").to_frame() for sign in (1, -1)
    )
    a, b = good["ranking_loss"], bad["ranking_loss"]
    assert compare(a, b).won > compare(a, b).lost == 0
    assert compare(a, b, greater_is_better=True).won == 0
    assert compare(a.to_numpy(), b.to_numpy()).won == 0
    assert compare(a.rename("mine"), b.rename("mine")).won == 0
    with pytest.raises(ValueError, match="'my_loss' suggests that lower is better. Pass greater_is_better=False"):
        compare(a.rename("my_loss"), b.rename("my_loss"))


def test_a_constant_difference_has_a_note():
    settled = compare([0.3, 0.5, 0.7], [0.2, 0.4, 0.6])
    assert settled.is_constant
    assert settled.pvalue == 1 / 4
    assert np.isnan(settled.confidence_interval).all()
    assert "The difference is the same for every query: it has no interval, and p counts signs." in str(settled)
    for other in ([0.3, 0.5, 0.71], [0.2, 0.4, 0.6]):
        assert not compare(other, [0.2, 0.4, 0.6]).is_constant
    several = compare_all({"a": [0.3, 0.5, 0.7], "b": [0.2, 0.4, 0.6], "c": [0.1, 0.9, 0.4]})
    assert "The difference of a - b is the same for every query" in str(several)


@pytest.mark.parametrize("correction", ["holm", "bonferroni", "bh", None])
def test_printed_intervals_agree_with_the_corrected_p(correction):
    """An interval excludes 0 if and only if the corrected p is below 0.05."""
    rng = np.random.default_rng(0)
    base = rng.random(30)
    values = {f"s{i}": base + shift + rng.normal(0, 0.1, 30) for i, shift in enumerate((0, 0.04, 0.05, 0.06))}
    result = compare_all(values, correction=correction)
    for one in map(result.__getitem__, result.pairs):
        low, high = one.corrected_interval
        assert (low > 0 or high < 0) == (one.corrected_pvalue < 0.05)
        assert (low <= one.confidence_interval[0]) == (high >= one.confidence_interval[1]) is True
        assert f"[{low:.4f}, {high:.4f}]" in str(result)
    assert ("the level of its corrected p" in str(result)) == (correction is not None)


def test_exact_sums_equal_fsum(rng):
    n = 3001
    x = rng.normal(size=n)
    cases = {
        "random": x, "tenths": rng.integers(-3, 4, n) / 10, "cancelling": np.append(x, 1e-17 - x),
        "zero": rng.permutation(np.append(x, -x)), "wide": x * 10.0 ** rng.integers(-300, 300, n),
        "halfway": np.append(np.full(n, 2.0**53), np.ones(n)), "tiny": np.full(n, 5e-324), "few": x[:9],
    }  # fmt: skip
    assert {name: exact_sum(case) for name, case in cases.items()} == {k: fsum(case) for k, case in cases.items()}


@pytest.mark.parametrize("df", [1.0, 2.5, 19.0, 9999.0, inf])
def test_t_has_the_bits_of_scipy(df):
    for t in (0.0, 1e-9, 0.3, 2.0, 12.5, inf):
        p = [t_pvalue(t, df, alternative) for alternative in ("two-sided", "greater", "less")]
        assert p == [2 * stats.t.sf(t, df), stats.t.sf(t, df), stats.t.sf(-t, df)]
    for level in (0.5, 0.95, 1 - 1e-9):
        assert t_interval(0.0, 1.0, df, level, "two-sided")[1] == stats.t.ppf((1 + level) / 2, df)
