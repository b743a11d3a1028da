"""Comparison of two systems by one metric and one test."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sklearn_rank._comparison.align import Aligned, align
from sklearn_rank._comparison.paired_test import PairedTest, means_without_settled
from sklearn_rank._data.doors import STATISTICS, VERDICTS
from sklearn_rank._data.look import look, report
from sklearn_rank._data.nothing import nothing_in_words
from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.corrections import adjusted
from sklearn_rank._estimates.intervals import difference_interval
from sklearn_rank._estimates.proportions import Interval
from sklearn_rank._estimates.runs import Between
from sklearn_rank._estimates.samples import Paired, Unpaired, exact_mean, is_skewed
from sklearn_rank._estimates.significance import TESTS, ComparisonOptions, run_test
from sklearn_rank._evaluation.clusters import WeightLike
from sklearn_rank._tell.pairs import METHODS_OF_RATES, PairRow
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, RandomState


@named_arguments
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
) -> PairedTest:
    """Compare two systems by their values per query: the difference is a minus b, like in `scipy.stats.ttest_rel`.

    Parameters
    ----------
    a, b : Evaluation, or array-like of shape (n_queries,)
        Results of `evaluate`, or values of a metric. Results and pandas Series are matched by query id, other arrays
        by position. A query that is undefined (NaN) in one system is left out of both. A list of results holds several
        runs of one system, see `Evaluation.of_runs`.
    metric : str, default=None
        Name of the metric in `evaluate`. None: the only metric of the results.
    test : str, default="t"
        Tests for the same queries: ``"t"`` (paired), ``"wilcoxon"``, ``"sign"``, ``"randomization"`` (Fisher's),
        ``"bootstrap"``. Tests for different queries: ``"welch"``, ``"mannwhitney"``, ``"permutation"``. If a system has
        several runs, only ``"t"``, whose standard error allows for other runs.
    clusters : array-like of shape (n_queries,), or dict from queries to clusters, default=None
        Cluster of each query, such as its user; a dict or Series if the queries have ids. None: the clusters of the
        results, see ``evaluate(..., clusters=)``. With G clusters, ``"t"`` uses the standard error that
        `confidence_interval` describes and G - 1 degrees of freedom, ``"randomization"`` flips the signs of a whole
        cluster together, and ``"bootstrap"`` draws whole clusters. Other tests raise an error.
    weight : array-like of shape (n_queries,), or dict from queries to weights, default=None
        Weight of each query in the means; a dict or Series if the queries have ids. None: the weights of the results,
        see ``evaluate(..., sample_weight=)``. Only the tests that take clusters take weights. ``"t"`` uses the standard
        error that `confidence_interval` describes.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        "greater" tests whether a has higher values, even if lower values are better.
    confidence_level : float, default=0.95
        Between 0 and 1, exclusive.
    missing : "raise", "worst" or float, default="raise"
        Value of a query that is missing in a system. "worst": the worst value of the metric, such as 0 for nDCG; a
        metric without one, such as an error without an upper bound, needs a number. The best value is refused, because
        a missing list is no success. ``nan`` leaves the query out of all systems.
    greater_is_better : bool, default=None
        Direction of the metric, for `won` and `lost`. None: the direction of the metric, which for a pandas Series is
        its name; True for arrays.
    n_resamples : int, default=9999
        Number of resamples of ``"randomization"``, ``"permutation"`` and ``"bootstrap"``. The first two are exact if
        there are at most this many arrangements. ``"randomization"`` is always exact if all differences have the same
        size, as with success rates.
    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    Returns
    -------
    PairedTest
        Test of one pair, named a and b, with ``difference``, ``pvalue``, ``confidence_interval`` and more.

    Raises
    ------
    ValueError
        If a query is missing, or fewer than two queries are left; if means are pooled or geometric; if the results have
        different keywords of the metric, labels, clusters or weights; if a system has several runs and the test is not
        "t"; if a keyword is invalid; or if no query can tell the systems apart, because no document is relevant or
        neither system found one.
    TypeError
        If one system has query ids and the other does not.

    Notes
    -----
    If both systems have equal values for every query, p is 1 for every test and alternative. Values that differ by
    rounding (relative difference 1e-12) are equal.

    References
    ----------
    M. D. Smucker, J. Allan, B. Carterette: A comparison of statistical significance tests for information retrieval
    evaluation. CIKM 2007.

    Examples
    --------
    The differences 0.2, 0.1, 0.3, 0 have mean 0.15 and standard error 0.0645, so t = 2.32. Two of the 2^3 sign patterns
    have a sum as far from 0:

    >>> from sklearn_rank.stats import compare
    >>> result = compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4])
    >>> result
    a metric: a minus b, 4 queries, test 't', two-sided
         a        b   difference       low     high        p   effect   won   tied   lost
    0.6250   0.4750       0.1500   -0.0554   0.3554   0.1027   1.1619     3      1      0
    >>> compare([0.7, 0.5, 0.9, 0.4], [0.5, 0.4, 0.6, 0.4], test="randomization").pvalue
    0.25
    """
    options = ComparisonOptions(
        test, alternative, confidence_level, missing, greater_is_better, n_resamples, random_state
    )
    check_options("compare", options)
    aligned = align({"a": a, "b": b}, metric, options, "compare", clusters, weight)
    look(VERDICTS, evidence=({aligned.metric or "": aligned.nothing},))
    report(STATISTICS, aligned.findings)
    return paired_test("ab", [("a", "b")], aligned, options)


def check_options(function_name: str, options: ComparisonOptions) -> None:
    """Raise ValueError for the first invalid option."""
    check_test(function_name, options.test)
    check_arguments(function_name, **{name: value for name, value in vars(options).items() if name != "test"})


def check_test(function_name: str, test: Any) -> None:
    """Raise ValueError if there is no such test."""
    one_of(*TESTS, doc="")("test", test, function_name)


def paired_test(
    systems: Sequence[str], pairs: Sequence[tuple[str, str]], aligned: Aligned, options: ComparisonOptions, *,
    correction: str | None = None, baseline: str | None = None,
) -> PairedTest:  # fmt: skip
    """Test pairs of the aligned systems."""
    values = dict(zip(systems, aligned.values, strict=True))
    samples = [sample_of_pair(values[a], values[b], options, aligned, aligned.between((a, b))) for a, b in pairs]
    means = {name: exact_mean(x, aligned.weight) for name, x in values.items()} | dict(aligned.means)
    rows = [
        row_of(a, b, sample, options, aligned, means=(means[a], means[b]))
        for (a, b), sample in zip(pairs, samples, strict=True)
    ]
    p = adjusted([row.pvalue for row in rows], correction)
    return PairedTest(
        **common_to_rows(aligned, options),
        correction=correction, baseline=baseline, judged=aligned.judged,
        means=means,
        means_without_settled=means_without_settled(values, aligned.settled, aligned.weight),
        _pair_rows=corrected_rows(rows, samples, p, options, aligned),
    )  # fmt: skip


def common_to_rows(aligned: Aligned, options: ComparisonOptions) -> dict[str, Any]:
    """Attributes of a test that describe the comparison."""
    return {
        "metric": aligned.metric, "meaning": aligned.meaning or "", "test": options.test,
        "alternative": options.alternative,
        "confidence_level": options.confidence_level, "greater_is_better": aligned.greater_is_better,
        "n_left_out": aligned.n_left_out, "n_filled": aligned.n_filled, "is_weighted": aligned.weight is not None,
        "n_clusters": None if aligned.cluster is None else len(distinct_values(aligned.cluster)),
        "counts": aligned.counts, "run_means": aligned.run_means, "_about_data": aligned.about_data,
        "nothing": "" if aligned.nothing is None else nothing_in_words([aligned.metric or ""], aligned.nothing),
    }  # fmt: skip


def sample_of_pair(
    a: Array, b: Array, options: ComparisonOptions, aligned: Aligned, between: Between
) -> Paired | Unpaired:
    """Values of two systems in the form that the test needs."""
    return Paired(a, b, aligned.cluster, aligned.weight, between) if TESTS[options.test].paired else Unpaired(a, b)


def row_of(
    a: str, b: str, sample: Paired | Unpaired, options: ComparisonOptions, aligned: Aligned,
    segment: tuple[Any, ...] = (), means: Sequence[float] | None = None,
) -> PairRow:  # fmt: skip
    """Test one pair, on all queries or in a segment; `means` belong to the systems, if they are known."""
    test, outcome = TESTS[options.test], run_test(sample, options, is_binary=aligned.is_binary)
    method, interval = difference_interval(
        sample, is_binary=aligned.is_binary, confidence_level=options.confidence_level,
        alternative=options.alternative, most=aligned.largest_difference,
    )  # fmt: skip
    if outcome.interval is not None:
        method, interval = "bca", outcome.interval
    won, tied, lost = None, None, None
    if isinstance(sample, Paired):
        won, tied, lost = counts(sample.values, aligned.greater_is_better)
    if means is None:
        weight = sample.weight if isinstance(sample, Paired) else None
        means = exact_mean(sample.a, weight), exact_mean(sample.b, weight)
    return PairRow(
        a, b, segment, sample.n, means[0], means[1], sample.difference, outcome.pvalue, statistic=outcome.statistic,
        confidence_interval=interval, interval_method=method, won=won, tied=tied, lost=lost,
        effect_size=0.0 if sample.identical else test.effect(sample),
        standard_error=sample.standard_error, df=sample.df,
        is_skewed=method not in METHODS_OF_RATES and is_skewed(sample),
    )  # fmt: skip


def corrected_rows(
    rows: Sequence[PairRow], samples: Sequence[Paired | Unpaired | None], pvalues: Sequence[float],
    options: ComparisonOptions, aligned: Aligned,
) -> tuple[PairRow, ...]:  # fmt: skip
    """The rows with corrected p-values and with intervals at the same level."""
    return tuple(
        replace(
            row, corrected_pvalue=p,
            corrected_interval=row.confidence_interval if sample is None
            else _corrected_interval(row, sample, p, options, aligned),
        )
        for row, sample, p in zip(rows, samples, pvalues, strict=True)
    )  # fmt: skip


def _corrected_interval(
    row: PairRow, sample: Paired | Unpaired, corrected: float, options: ComparisonOptions, aligned: Aligned
) -> Interval:  # fmt: skip
    """Interval of a pair with a corrected p: 1 - level shrinks by the factor by which p grows."""
    level = corrected_level(options.confidence_level, row.pvalue, corrected)
    if level == options.confidence_level:
        return row.confidence_interval
    if options.test == "bootstrap" and (drawn := run_test(sample, replace(options, confidence_level=level)).interval):
        return drawn
    return difference_interval(
        sample, is_binary=aligned.is_binary, confidence_level=level, alternative=options.alternative,
        most=aligned.largest_difference,
    )[1]  # fmt: skip


def corrected_level(level: float, pvalue: float, corrected: float) -> float:
    """Level of an interval that belongs to a corrected p-value."""
    return level if corrected <= pvalue else 1 - (1 - level) * (pvalue / corrected)


def counts(d: Array, greater_is_better: bool) -> tuple[int, int, int]:
    """Numbers of queries on which a is better, equal and worse."""
    above, below = int((d > 0).sum()), int((d < 0).sum())
    return (above if greater_is_better else below), len(d) - above - below, (below if greater_is_better else above)
