"""Comparison of many systems: all pairs, or all with a baseline, p-values corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.entry_points import STATISTICS, VERDICTS
from sklearn_rank._misuse.nothing import without_evidence
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.typing import Array, RandomState
from sklearn_rank.stats._align import align
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._compare import check_options, check_test, paired_test
from sklearn_rank.stats._corrections import tukey
from sklearn_rank.stats._paired_test import PairedTest, PairRow
from sklearn_rank.stats._samples import sums_by_cluster
from sklearn_rank.stats._significance import TESTS, ComparisonOptions
from sklearn_rank.stats._weights import WeightLike


@named_arguments
def compare_all(
    results: Mapping[str, Any],
    *,
    metric: str | None = None,
    baseline: str | None = None,
    test: str = "t",
    correction: str | None = "holm",
    clusters: ClustersLike = None,
    weight: WeightLike = None,
    alternative: str = "two-sided",
    confidence_level: float = 0.95,
    missing: Any = "raise",
    greater_is_better: bool | None = None,
    n_resamples: int = 9999,
    random_state: RandomState = None,
) -> PairedTest:
    """Compare several systems: all pairs, or all systems against a baseline.

    The difference is a less b. Without a baseline, a comes before b in `results`. With a baseline, b is the baseline.

    Parameters
    ----------
    results : dict of str to Evaluation or array-like of shape (n_queries,), or Comparison
        Two systems or more, each in a form that `compare` takes. All systems are compared on the same queries: a query
        that is undefined for one system is left out for all. Tests for different queries use all queries of a system.
    metric : str, default=None
        Name of the metric in `evaluate`. None: the only metric of the results.
    baseline : str, default=None
        Name of the system to compare all others with. None: all pairs.
    test : str, default="t"
        As in `compare`.
    correction : {"holm", "bonferroni", "bh", "tukey"} or None, default="holm"
        "bh" is Benjamini-Hochberg. "tukey" is a randomized Tukey's HSD test for all pairs, blocked by query, which
        replaces the p-values of the test.
    clusters : array-like of shape (n_queries,), or dict from queries to clusters, default=None
        As in `compare`. Tukey's HSD moves the values of a whole cluster together.
    weight : array-like of shape (n_queries,), or dict from queries to weights, default=None
        As in `compare`. Tukey's HSD moves the weighted values.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        As in `compare`.
    confidence_level : float, default=0.95
        Level of each interval before the correction.
    missing : "raise" or float, default="raise"
        Value of a query that is missing in a system. ``nan`` leaves the query out of all.
    greater_is_better : bool, default=None
        As in `compare`.
    n_resamples : int, default=9999
        As in `compare`; Tukey's HSD draws the same number.
    random_state : int, RandomState, Generator or None, default=None
        Source of the resamples.

    Returns
    -------
    PairedTest
        A row for each pair; ``test[a, b]`` is the test of one pair.

    Raises
    ------
    ValueError
        As in `compare`, and if the baseline is not among the systems.
    TypeError
        If `results` is not a mapping of two systems or more.

    References
    ----------
    B. Carterette: Multiple testing in statistical analysis of systems-based information retrieval experiments.
    ACM Transactions on Information Systems 30(1), 2012.

    Examples
    --------
    Holm doubles the smaller of the two p-values:

    >>> from sklearn_rank.stats import compare_all
    >>> values = {
    ...     "new": [0.7, 0.5, 0.9, 0.4],
    ...     "old": [0.5, 0.4, 0.6, 0.4],
    ...     "odd": [0.1, 0.9, 0.8, 0.2],
    ... }
    >>> test = compare_all(values, baseline="old", test="randomization")["new", "old"]
    >>> test.pvalue, test.corrected_pvalue
    (0.25, 0.5)
    """
    options = ComparisonOptions(
        test, alternative, confidence_level, missing, greater_is_better, n_resamples, random_state
    )
    check_plan("compare_all", test=test, correction=correction, alternative=alternative, baseline=baseline)
    check_options("compare_all", options)
    if not isinstance(results, Mapping) or len(results) < 2:
        raise TypeError(f"compare_all takes a mapping from names to results, two or more. Got {echo(results)}.")
    if baseline is not None and not is_key(baseline, results):
        raise ValueError(f"The 'baseline' must be one of {echo_all(results)}. Got {echo(baseline)}.")
    aligned = align(results, metric, options, "compare_all", clusters, weight)
    report(VERDICTS, without_evidence({aligned.metric or "": aligned.nothing}))
    report(STATISTICS, aligned.findings)
    names = [*results]
    pairs = [*combinations(names, 2)] if baseline is None else [(name, baseline) for name in names if name != baseline]

    def by_tukey(rows: Sequence[PairRow]) -> Array:
        sums, total = aligned.values, float(len(aligned.values[0]))
        if aligned.weight is not None:
            sums, total = [aligned.weight * x for x in sums], math.fsum(aligned.weight)
        if aligned.cluster is not None:
            sums = [sums_by_cluster(x, aligned.cluster)[0] for x in sums]
        differences = np.array([row.difference for row in rows])
        return tukey(np.column_stack(sums), differences * total, n_resamples, random_state)

    adjust = by_tukey if correction == "tukey" else None
    return paired_test(names, pairs, aligned, options, correction=correction, baseline=baseline, adjust=adjust)


def check_plan(
    function_name: str, *, test: Any, correction: Any, alternative: Any = "two-sided", baseline: str | None = None
) -> None:
    """Refuse an unknown test or correction, and those that do not go together.

    Raises
    ------
    ValueError
        If a word is unknown, or Tukey's correction is not for all pairs of the same queries.
    """
    check_test(function_name, test)
    check_arguments(function_name, alternative=alternative, correction=correction)
    if correction == "tukey" and not (TESTS[test].paired and baseline is None and alternative == "two-sided"):
        raise ValueError(
            "correction='tukey' is for all pairs, two-sided, on the same queries. "
            f"Got test={echo(test)}, alternative={echo(alternative)}, baseline={echo(baseline)}."
        )
