"""Comparison of two systems by one metric and one test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.doors import STATISTICS
from sklearn_rank._misuse.judged import judged_note
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank._utils.typing import Array, RandomState
from sklearn_rank.stats._align import Aligned, align
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._intervals import difference_interval, skew_note
from sklearn_rank.stats._power import detectable
from sklearn_rank.stats._proportions import Interval
from sklearn_rank.stats._samples import Paired, Unpaired, is_skewed
from sklearn_rank.stats._significance import TESTS, ComparisonOptions, run_test
from sklearn_rank.stats._weights import WeightLike

EQUAL_DIFFERENCES = 1e-12
"""Share of a difference below which its standard error is rounding."""


@dataclass(frozen=True, repr=False)
class ComparisonResult(TableReport):
    """Difference of two systems, a less b, from `compare`.

    Attributes
    ----------
    difference : float
        Mean of a less mean of b.
    pvalue : float
        Probability of a difference at least this large if both systems were equally good.
    statistic : float
        Statistic of the test: t; the rank sum or U of `scipy.stats`; queries on which a is higher (sign test);
        the difference (randomization, permutation).
    confidence_interval : (float, float)
        Interval of the mean difference. With a one-sided alternative it is open to one side.
    interval_method : {"t", "welch", "bca", "newcombe"}
        BCa for the bootstrap; Newcombe's for a metric that is 0 or 1 by definition, such as a hit rate, where all
        values are 0 or 1 and there are neither weights nor clusters; else Welch's for different queries, and Student's
        t.
    effect_size : float
        Difference in units of its spread: Cohen's d_z (paired) or d; for tests of ranks the rank-biserial correlation,
        for the sign test the share won less the share lost, both from -1 to 1.
    won, tied, lost : int or None
        Queries on which a is better, equal, worse, each counted once; None for different queries.
    standard_error, df : float
        Standard error of the difference, and its degrees of freedom.
    n_queries : int or (int, int)
        Queries compared.
    n_left_out, n_filled : int
        Queries left out because a value was undefined, or the weight 0; values filled in because a query was missing.
    metric : str or None
    test, alternative : str
    confidence_level : float
    n_clusters : int or None
        Clusters of the queries; None where queries are independent.
    is_weighted : bool
        Whether queries count differently in the means.
    is_skewed : bool
        Whether queries are too few for the skew of their differences, or weights, so that the interval may not keep its
        level.
    judged : dict of str to float
        Mean share of the documents of a and of b that are judged, down to the cutoff; empty if unknown.
    """

    metric: str | None
    test: str
    alternative: str
    difference: float
    pvalue: float
    statistic: float
    confidence_interval: Interval
    confidence_level: float
    effect_size: float
    won: int | None
    tied: int | None
    lost: int | None
    standard_error: float
    df: float
    n_queries: int | tuple[int, int]
    n_left_out: int
    n_filled: int
    n_clusters: int | None
    interval_method: str
    is_weighted: bool
    is_skewed: bool
    judged: dict[str, float] = field(default_factory=dict)

    def minimal_detectable_difference(self, *, power: float = 0.8, alpha: float = 0.05) -> float:
        """Smallest true difference that a t test on as many queries of this kind finds with the given power.

        Parameters
        ----------
        power : float, default=0.8
        alpha : float, default=0.05
            Level of the test.

        Returns
        -------
        float
        """
        check_arguments("minimal_detectable_difference", power=power, alpha=alpha)
        return detectable(self.standard_error, self.df, power, alpha, self.alternative)

    def row(self) -> tuple[Any, ...]:
        """Cells of a table: difference, interval, p, effect size, and for the same queries won, tied and lost."""
        counts = () if self.won is None else (self.won, self.tied, self.lost)
        return (self.difference, *self.confidence_interval, self.pvalue, self.effect_size, *counts)

    def _title(self) -> str:
        n = self.n_queries if isinstance(self.n_queries, int) else " and ".join(map(str, self.n_queries))
        n = f"{n} weighted queries" if self.is_weighted else f"{n} queries"
        n = n if self.n_clusters is None else f"{n} in {self.n_clusters} clusters"
        return f"{self.metric or 'a metric'}: a less b, {n}, test {self.test!r}, {self.alternative}"

    @property
    def is_constant(self) -> bool:
        """Whether the difference is the same for every query, so that p and the interval are not of others."""
        return self.difference != 0 and self.standard_error <= EQUAL_DIFFERENCES * abs(self.difference)

    def _notes(self) -> list[str]:
        notes = ["The interval is Newcombe's, of a difference of success rates."] * (self.interval_method == "newcombe")
        notes += [skew_note()] * self.is_skewed + [constant_note()] * self.is_constant
        return notes + [*filter(None, [judged_note({self.metric or "": self.judged})])]

    def _tables(self) -> list[Table]:
        row = self.row()
        return [Table(PAIR_COLUMNS[: len(row)], (row,))]


def constant_note(pairs: Sequence[str] = ()) -> str:
    """What is said of a difference that no query changes, in one comparison or in some pairs."""
    of = f" of {', '.join(pairs)}" if pairs else ""
    return f"The difference{of} is the same for every query, so p and the interval do not say what others would show."


PAIR_COLUMNS = ("difference", "low", "high", "p", "effect", "won", "tied", "lost")


def compare(
    a: Any,
    b: Any,
    *,
    metric: str | None = None,
    test: str = "t",
    clusters: ClustersLike = None,
    weight: WeightLike = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: Any = "raise",
    greater_is_better: bool | None = None,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> ComparisonResult:
    """Compare two systems by their values per query: a less b, like SciPy's paired tests, such as `ttest_rel`.

    Parameters
    ----------
    a, b : Evaluation, or array-like of shape (n_queries,)
        Results of `evaluate`, or values of a metric. Results, and pandas Series, are aligned by query id; other
        arrays by position. NaN is an undefined query, left out of both.
    metric : str, default=None
        Metric to compare, by its name in `evaluate`; may be left out if there is one only.
    test : str, default="t"
        For the same queries ``"t"`` (paired), ``"wilcoxon"``, ``"sign"``, ``"randomization"`` (Fisher's),
        ``"bootstrap"``; for different queries ``"welch"``, ``"mannwhitney"``, ``"permutation"``.
    clusters : array-like of shape (n_queries,), or dict from queries to clusters, default=None
        What each query belongs to, such as a user; a dict, or a Series, where queries have names. None: as the results
        say, see ``evaluate(..., clusters=)``. Then the t test has the standard error that `confidence_interval`
        describes and G - 1 degrees of freedom for G clusters, ``"randomization"`` flips the signs of a cluster
        together, ``"bootstrap"`` draws whole clusters, and other tests are refused.
    weight : array-like of shape (n_queries,), or dict from queries to weights, default=None
        Weight of each query in the means; a dict, or a Series, where queries have names. None: as the results say, see
        ``evaluate(..., sample_weight=)``. Tests are those that take clusters; the t test has the standard error that
        `confidence_interval` describes.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater": a has the higher values, whether or not these are the better ones.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    missing : "raise" or float, default="raise"
        Value of a query that one system lacks; ``nan`` leaves it out.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says, which for a pandas Series is its name; True for arrays.
    n_resamples : int, default=9999
        Resamples of ``"randomization"`` and ``"permutation"``, which are exact if there are no more ways than that, and
        of ``"bootstrap"``. Where all differences are of one size, as with success rates, ``"randomization"`` is exact
        for any number of queries.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples.

    Returns
    -------
    ComparisonResult

    Raises
    ------
    ValueError
        If a query is missing, fewer than two are left, means are pooled or geometric, the metric was computed otherwise
        or by other labels in one of the results, clusters or weights of results differ, or a keyword is not what it
        must be.
    TypeError
        If one system names its queries and the other does not.

    Notes
    -----
    Systems that no query tells apart have p = 1 with every test and alternative. Values of a query that differ by
    rounding (a share of 1e-12) are equal.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette: A comparison of statistical significance tests for information retrieval
    evaluation. CIKM 2007.

    Examples
    --------
    Differences 0.2, 0.1, 0.3, 0, with mean 0.15 and standard error 0.0645, so t = 2.32; of the 2^3 ways to flip their
    signs two give a sum as far from 0:

    >>> from sklearn_rank.stats import compare
    >>> result = compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4])
    >>> result
    a metric: a less b, 4 queries, test 't', two-sided
    difference       low     high        p   effect   won   tied   lost
        0.1500   -0.0554   0.3554   0.1027   1.1619     3      1      0
    >>> compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4], test="randomization").pvalue
    0.25
    """
    options = ComparisonOptions(
        test, alternative, confidence_level, missing, greater_is_better, n_resamples, random_state
    )
    check_options("compare", options)
    aligned = align({"a": a, "b": b}, metric, options, "compare", clusters, weight)
    report(STATISTICS, aligned.findings)
    return replace(compare_values(aligned.values[0], aligned.values[1], options, aligned), judged=aligned.judged)


def check_options(function_name: str, options: ComparisonOptions) -> None:
    """Raise ValueError for the first option that is not what it must be."""
    check_test(function_name, options.test)
    check_arguments(function_name, **{name: value for name, value in vars(options).items() if name != "test"})


def check_test(function_name: str, test: Any) -> None:
    """Raise ValueError if there is no such test."""
    one_of(*TESTS, doc="").check("test", test, function_name)


def compare_values(a: Array, b: Array, options: ComparisonOptions, aligned: Aligned) -> ComparisonResult:
    """Compare two of the systems that were aligned."""
    test = TESTS[options.test]
    sample = Paired(a, b, aligned.cluster, aligned.weight) if test.paired else Unpaired(a, b)
    outcome = run_test(sample, options)
    method, interval = difference_interval(
        sample, is_binary=aligned.is_binary, confidence_level=options.confidence_level, alternative=options.alternative
    )
    if outcome.interval is not None:
        method, interval = "bca", outcome.interval
    won, tied, lost = None, None, None
    if isinstance(sample, Paired):
        won, tied, lost = _counts(sample.values, aligned.greater_is_better)
    return ComparisonResult(
        metric=aligned.metric,
        test=options.test,
        alternative=options.alternative,
        difference=sample.difference,
        pvalue=outcome.pvalue,
        statistic=outcome.statistic,
        confidence_interval=interval,
        confidence_level=options.confidence_level,
        effect_size=0.0 if sample.identical else test.effect(sample),
        won=won,
        tied=tied,
        lost=lost,
        standard_error=sample.standard_error,
        df=sample.df,
        n_queries=sample.n,
        n_left_out=aligned.n_left_out,
        n_filled=aligned.n_filled,
        n_clusters=None if aligned.cluster is None else len(np.unique(aligned.cluster)),
        interval_method=method,
        is_weighted=aligned.weight is not None,
        is_skewed=method != "newcombe" and is_skewed(sample),
    )


def interval_at(a: Array, b: Array, options: ComparisonOptions, aligned: Aligned, level: float) -> Interval:
    """Interval of the difference of two systems at another level."""
    sample = Paired(a, b, aligned.cluster, aligned.weight) if TESTS[options.test].paired else Unpaired(a, b)
    if options.test == "bootstrap" and (drawn := run_test(sample, replace(options, confidence_level=level)).interval):
        return drawn
    return difference_interval(
        sample, is_binary=aligned.is_binary, confidence_level=level, alternative=options.alternative
    )[1]


def _counts(d: Array, greater_is_better: bool) -> tuple[int, int, int]:
    above, below = int((d > 0).sum()), int((d < 0).sum())
    return (above if greater_is_better else below), len(d) - above - below, (below if greater_is_better else above)
