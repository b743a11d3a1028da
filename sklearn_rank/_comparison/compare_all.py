"""Comparison of many systems: all pairs, or all with a baseline, p-values corrected for their number."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import combinations
from typing import Any

from sklearn_rank._comparison.align import Aligned, align
from sklearn_rank._comparison.compare import check_options, check_test, compare, paired_test
from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._data.doors import STATISTICS, VERDICTS
from sklearn_rank._data.look import look, report
from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.significance import ComparisonOptions
from sklearn_rank._evaluation.clusters import WeightLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.typing import RandomState


@described_as(compare)
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

    The difference is a minus b. Without a baseline, a comes before b in `results`. With a baseline, b is the baseline.

    Parameters
    ----------
    results : dict of str to Evaluation or array-like of shape (n_queries,), or Comparison
        Two systems or more, each in a form that `compare` takes. All systems are compared on the same queries: a query
        that is undefined for one system is left out for all. Tests for different queries use all queries of a system.
    baseline : str, default=None
        Name of the system to compare all others with. None: all pairs.
    correction : {"holm", "bonferroni", "bh"} or None, default="holm"
        Of the p-values for the number of pairs. "bh" is Benjamini-Hochberg.
    confidence_level : float, default=0.95
        Level of each interval before the correction.

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
    check_plan("compare_all", test=test, correction=correction, alternative=alternative)
    check_options("compare_all", options)
    tested, aligned = aligned_tests(results, metric, options, correction, baseline, clusters, weight)
    look(VERDICTS, evidence=({aligned.metric or "": aligned.nothing},))
    report(STATISTICS, aligned.findings)
    return tested


def aligned_tests(
    results: Mapping[str, Any], metric: str | None, options: ComparisonOptions, correction: str | None,
    baseline: str | None, clusters: ClustersLike = None, weight: WeightLike = None,
) -> tuple[PairedTest, Aligned]:  # fmt: skip
    """Tests of all pairs, or against a baseline, and the aligned values."""
    if not isinstance(results, Mapping) or len(results) < 2:
        raise TypeError(f"compare_all takes a mapping from names to results, two or more. Got {echo(results)}.")
    if baseline is not None and not is_key(baseline, results):
        raise ValueError(f"The 'baseline' must be one of {echo_all(results)}. Got {echo(baseline)}.")
    aligned, names = align(results, metric, options, "compare_all", clusters, weight), [*results]
    pairs = [*combinations(names, 2)] if baseline is None else [(name, baseline) for name in names if name != baseline]
    return paired_test(names, pairs, aligned, options, correction=correction, baseline=baseline), aligned


def check_plan(function_name: str, *, test: Any, correction: Any, alternative: Any = "two-sided") -> None:
    """Refuse an unknown test, correction or alternative."""
    check_test(function_name, test)
    check_arguments(function_name, alternative=alternative, correction=correction)
