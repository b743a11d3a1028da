"""The tests by name: each is a function of two samples that returns a statistic and a p-value."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import special

from sklearn_rank._estimates import resampling as _resampling
from sklearn_rank._estimates.intervals import Interval, bca_interval, bootstrap_distribution
from sklearn_rank._estimates.proportions import are_rates, with_pseudo_pairs
from sklearn_rank._estimates.samples import Paired, Unpaired, has_no_spread, ratio
from sklearn_rank._utils.typing import Array

MOST_EXACT = 50
"""Number of queries up to which SciPy's p-value of Wilcoxon's test may be exact."""


@dataclass(frozen=True)
class ComparisonOptions:
    """Options that every comparison takes, described in `sklearn_rank.stats.compare`."""

    test: str = "t"
    alternative: str = "two-sided"
    confidence_level: float = 0.95
    missing: Any = "raise"
    greater_is_better: bool | None = None
    n_resamples: int = 9999
    random_state: Any = None

    @property
    def paired(self) -> bool:
        """Whether the test needs the same queries for both systems."""
        return TESTS[self.test].paired


class Outcome(NamedTuple):
    """Result of a test; `interval` is None for tests whose interval is Student's or Welch's."""

    statistic: float
    pvalue: float
    interval: Interval | None = None


class SignificanceTest(NamedTuple):
    """Kind of sample of a test, the test, and its effect size."""

    sample: Callable[[Array, Array], Any]
    outcome: Callable[[Any, ComparisonOptions], Outcome]
    effect: Callable[[Any], float]

    @property
    def paired(self) -> bool:
        """Whether the test needs the same queries for both systems."""
        return self.sample is Paired


def student(sample: Paired | Unpaired, options: ComparisonOptions) -> Outcome:
    """Student's t test of paired samples, otherwise Welch's; without spread, p of a sign or permutation test."""
    t = ratio(sample.difference, sample.standard_error)
    if has_no_spread(sample):
        return Outcome(t, pvalue_without_spread(sample, options.alternative))
    return Outcome(t, t_pvalue(t, sample.df, options.alternative))


def pvalue_without_spread(sample: Paired | Unpaired, alternative: str) -> float:
    """Exact p-value if all differences are equal, or all values of each system."""
    if sample.difference == 0:
        return 1.0
    if isinstance(sample, Paired):
        return _binomial_pvalue(np.full(sample.sample.n, sample.difference), alternative)
    # Only one assignment of the values to the systems is as extreme.
    p = 1 / math.comb(sum(sample.n), sample.n[0])
    if alternative == "two-sided":
        return min(2 * p, 1.0)
    return p if (sample.difference > 0) == (alternative == "greater") else 1.0


def t_pvalue(t: float, df: float, alternative: str) -> float:
    """P-value of a t statistic: `scipy.stats.t.sf` without its checks, which are slow."""
    if alternative == "two-sided":
        return float(2 * special.stdtr(df, -abs(t)))
    return float(special.stdtr(df, -t if alternative == "greater" else t))


def wilcoxon(sample: Paired, options: ComparisonOptions) -> Outcome:
    """Wilcoxon's signed-rank test without the queries that do not differ."""
    if sample.n <= MOST_EXACT:
        from scipy import stats

        result = stats.wilcoxon(sample.values, alternative=options.alternative)
        return Outcome(float(result.statistic), float(result.pvalue))
    # The normal approximation of SciPy, which would rank the differences again.
    (above, below, ties), n = sample.rank_sums, float(np.count_nonzero(sample.values))
    z = (above - n * (n + 1) * 0.25) / math.sqrt((n * (n + 1) * (2 * n + 1) - ties / 2) / 24)
    if options.alternative == "two-sided":
        return Outcome(min(above, below), float(2 * special.ndtr(-abs(z))))
    return Outcome(above, float(special.ndtr(-z if options.alternative == "greater" else z)))


def sign(sample: Paired, options: ComparisonOptions) -> Outcome:
    """Sign test of the hypothesis that a is above b as often as below, without the queries that do not differ."""
    d = sample.values[sample.values != 0]
    return Outcome(float((d > 0).sum()), _binomial_pvalue(d, options.alternative))


def _binomial_pvalue(d: Array, alternative: str) -> float:
    """P-value of the number of positive values if both signs are equally likely; `d` has no zeros."""
    n, won = len(d), int((d > 0).sum())
    if alternative == "two-sided":
        return min(1.0, 2 * _tail_of_half(max(won, n - won), n))
    return _tail_of_half(won if alternative == "greater" else n - won, n)


def _tail_of_half(k: int, n: int) -> float:
    return float(special.betainc(k, n - k + 1, 0.5)) if k else 1.0


def randomization(sample: Paired, options: ComparisonOptions) -> Outcome:
    """Fisher's randomization test: swap the two values of queries, at random or in all ways if there are few."""
    d = sample.sample.total[sample.sample.total != 0]
    if len(d) and np.ptp(np.abs(d)) == 0:
        return Outcome(sample.difference, _binomial_pvalue(d, options.alternative))
    sums, exact = _resampling.sign_flips(d, options.n_resamples, options.random_state)
    observed, scale = sample.difference * sample.sample.weight, float(np.abs(sample.weighted).sum())
    alternative = options.alternative
    # "less" flips the same signs as "greater" for b less a.
    if alternative == "less":
        observed, alternative = -observed, "greater"
    p = _resampling.tail_of_symmetric(sums, observed, alternative, exact=exact, scale=scale)
    return Outcome(sample.difference, p)


def bootstrap(sample: Paired, options: ComparisonOptions) -> Outcome:
    """Bootstrap test of the t statistic for a mean difference of 0, and a BCa interval of the same resamples."""
    drawn_from, t = sample.sample, ratio(sample.difference, sample.standard_error)
    # Without spread, all resamples are equal.
    if has_no_spread(sample):
        return student(sample, options)
    means, errors = bootstrap_distribution(drawn_from, options.n_resamples, options.random_state)
    # The statistic of a resample without spread is infinite or 0.
    with np.errstate(divide="ignore", invalid="ignore"):
        resampled = np.nan_to_num((means - sample.difference) / errors)
    p = _resampling.tail_of_symmetric(resampled, t, options.alternative, exact=False, scale=abs(t))
    return Outcome(t, p, bca_interval(drawn_from, means, options.confidence_level, options.alternative))


def mannwhitney(sample: Unpaired, options: ComparisonOptions) -> Outcome:
    """Mann-Whitney U test."""
    from scipy import stats

    result = stats.mannwhitneyu(sample.a, sample.b, alternative=options.alternative)
    return Outcome(float(result.statistic), float(result.pvalue))


def permutation(sample: Unpaired, options: ComparisonOptions) -> Outcome:
    """Permutation test of the difference of means: reassign queries at random, or in all ways if there are few."""
    a, b, alternative = sample.a, sample.b, options.alternative
    # Draw the smaller sample; of two equal sizes, the lower sample.
    if (len(a), sample.difference) > (len(b), 0.0):
        a, b = b, a
        alternative = {"greater": "less", "less": "greater"}.get(alternative, alternative)
    pooled = np.concatenate([a, b])
    sums, exact = _resampling.partitions(pooled, len(a), options.n_resamples, options.random_state)
    p = _resampling.tail(sums, float(a.sum()), alternative, exact=exact, scale=float(np.abs(pooled).sum()))
    return Outcome(sample.difference, p)


def rank_biserial(sample: Paired) -> float:
    """Matched-pairs rank-biserial correlation: share of the rank sum for a minus the share for b."""
    above, below, _ = sample.rank_sums
    return ratio(above - below, above + below)


def won_less_lost(sample: Paired) -> float:
    """Share of untied queries that a wins, minus the share that it loses."""
    signs = np.sign(sample.values)
    return ratio(float(signs.sum()), float(np.abs(signs).sum()))


def cliff(sample: Unpaired) -> float:
    """Rank-biserial correlation (Cliff's delta): share of pairs with a above b minus the share with a below b."""
    from scipy import stats

    u = stats.mannwhitneyu(sample.a, sample.b, method="asymptotic").statistic
    return float(2 * u / (len(sample.a) * len(sample.b)) - 1)


def cohen(sample: Paired | Unpaired) -> float:
    """Cohen's d_z of paired samples, otherwise Cohen's d."""
    return sample.cohen


TESTS = {
    "t": SignificanceTest(Paired, student, cohen),
    "wilcoxon": SignificanceTest(Paired, wilcoxon, rank_biserial),
    "sign": SignificanceTest(Paired, sign, won_less_lost),
    "randomization": SignificanceTest(Paired, randomization, cohen),
    "bootstrap": SignificanceTest(Paired, bootstrap, cohen),
    "welch": SignificanceTest(Unpaired, student, cohen),
    "mannwhitney": SignificanceTest(Unpaired, mannwhitney, cliff),
    "permutation": SignificanceTest(Unpaired, permutation, cohen),
}


def run_test(sample: Paired | Unpaired, options: ComparisonOptions, *, is_binary: bool = False) -> Outcome:
    """Outcome of the test; p is 1 for identical systems with every test and alternative."""
    if sample.identical and isinstance(sample, Paired):
        return Outcome(0.0, 1.0)
    if options.test == "t" and isinstance(sample, Paired) and are_rates(sample, is_binary=is_binary):
        adjusted = with_pseudo_pairs(sample)
        t = adjusted.difference / adjusted.standard_error
        return Outcome(t, t_pvalue(t, sample.df, options.alternative))
    outcome = TESTS[options.test].outcome(sample, options)
    return outcome._replace(pvalue=1.0) if sample.identical else outcome
