"""Comparison of many systems: all pairs, or all with a baseline, p-values corrected for their number."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from sklearn_rank._engine.attributes import ClustersLike
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.doors import STATISTICS
from sklearn_rank._misuse.judged import judged_note
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.table import LabelledName, Table, TableReport, cell, shorten
from sklearn_rank._utils.typing import Array, RandomState
from sklearn_rank.stats._align import Aligned, align
from sklearn_rank.stats._arguments import check_arguments
from sklearn_rank.stats._compare import (
    PAIR_COLUMNS,
    ComparisonResult,
    check_options,
    check_test,
    compare_values,
    constant_note,
    interval_at,
)
from sklearn_rank.stats._corrections import adjust_pvalues, tukey
from sklearn_rank.stats._intervals import skew_note
from sklearn_rank.stats._proportions import Interval
from sklearn_rank.stats._samples import exact_mean, sums_by_cluster
from sklearn_rank.stats._significance import TESTS, ComparisonOptions
from sklearn_rank.stats._weights import WeightLike

PAIR_NAME_WIDTH = 16
"""Characters of a system's name where pairs are printed, so that a line fits a terminal."""

DIFFERENCE, CORRECTED = LabelledName("difference", "a - b"), LabelledName("corrected", "corr. p")
"""Columns whose printed heads are no longer than their numbers."""


@dataclass(frozen=True, repr=False)
class MultipleComparison(TableReport):
    """Comparison of many systems by one metric, from `compare_all`: a difference of a row is a less b.

    Attributes
    ----------
    means : dict of str to float
        Mean of each system over the queries compared.
    n_queries : dict of str to int
        Number of these queries.
    comparisons : dict of (str, str) to ComparisonResult
        Comparison of each pair, not corrected.
    corrected : dict of (str, str) to float
        P-value of each pair, corrected.
    metric : str or None
    test, correction : str
    baseline : str or None
    greater_is_better : bool
        Whether a higher value of the metric is better.
    intervals : dict of (str, str) to (float, float)
        Interval of each pair at the level that belongs to its corrected p: it leaves out 0 where that is below 1 less
        the confidence level. These are printed; `comparisons` has the intervals of each pair by itself.
    judged : dict of str to float
        Mean share of the documents of each system that are judged, down to the cutoff; empty if unknown.
    """

    metric: str | None
    test: str
    correction: str | None
    baseline: str | None
    means: dict[str, float]
    comparisons: dict[tuple[str, str], ComparisonResult]
    corrected: dict[tuple[str, str], float]
    greater_is_better: bool
    n_queries: dict[str, int]
    intervals: dict[tuple[str, str], Interval]
    judged: dict[str, float]

    def corrected_pvalue(self, a: str, b: str) -> float:
        """Corrected p-value of a pair; of a two-sided comparison in either order.

        Raises
        ------
        KeyError
            If the pair was not compared.
        """
        two_sided = all(result.alternative == "two-sided" for result in self.comparisons.values())
        pair = (b, a) if two_sided and is_key((b, a), self.corrected) else (a, b)
        if not is_key(pair, self.corrected):
            listed = ", ".join(f"{echo(x)} and {echo(y)}" for x, y in self.corrected)
            raise KeyError(f"A pair must be one of {listed}. Got {echo(a)} and {echo(b)}.")
        return self.corrected[pair]

    @property
    def table(self) -> Table:
        """A row for each pair: difference a less b, interval, p, corrected p, effect size, won, tied, lost, queries."""
        rows = []
        for (a, b), result in self.comparisons.items():
            row, n = result.row(), result.n_queries
            queries = n if isinstance(n, int) else " and ".join(map(str, n))
            rows.append((a, b, *row[:4], self.corrected[a, b], *row[4:], queries))
        columns = ("a", "b", DIFFERENCE, *PAIR_COLUMNS[1:4], CORRECTED, *PAIR_COLUMNS[4:])
        return Table((*columns[: len(rows[0]) - 1], "queries"), tuple(rows))

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        return self.table.to_frame()

    def _title(self) -> str:
        first = next(iter(self.comparisons.values()))
        queries = "weighted queries" if first.is_weighted else "queries"
        if first.n_clusters is not None:
            queries += f" in {first.n_clusters} clusters"
        queries = "" if queries == "queries" else f"{queries}, "
        return f"{self.metric or 'a metric'}, {queries}test {self.test!r}, correction {self.correction!r}"

    def _notes(self) -> list[str]:
        skewed = [f"{a} - {b}" for (a, b), pair in self.comparisons.items() if pair.is_skewed]
        constant = [f"{a} - {b}" for (a, b), pair in self.comparisons.items() if pair.is_constant]
        notes = [skew_note(skewed)] * bool(skewed) + [constant_note(constant)] * bool(constant)
        is_corrected = any(
            interval != self.comparisons[pair].confidence_interval for pair, interval in self.intervals.items()
        )
        notes += ["Intervals are at the level of the corrected p."] * is_corrected
        return notes + [*filter(None, [judged_note({self.metric or "": self.judged})])]

    def _tables(self) -> list[Table]:
        return self._decisive(lambda name: name)

    def _text_tables(self) -> list[Table]:
        return self._decisive(lambda name: shorten(str(name), PAIR_NAME_WIDTH))

    def _decisive(self, written: Callable[[str], str]) -> list[Table]:
        """Means, and the columns of the pairs that decide; `table` has the others."""
        level = next(iter(self.comparisons.values())).confidence_level
        columns = ("a", "b", DIFFERENCE, f"{100 * level:g} % interval", "p corrected", "won", "lost")
        rows = []
        for (a, b), pair in self.comparisons.items():
            low, high = map(cell, self.intervals.get((a, b), pair.confidence_interval))
            counts = () if pair.won is None else (pair.won, pair.lost)
            rows.append((written(a), written(b), pair.difference, f"[{low}, {high}]", self.corrected[a, b], *counts))
        means = tuple((written(name), self.n_queries[name], mean) for name, mean in self.means.items())
        return [Table(("system", "queries", "mean"), means), Table(columns[: len(rows[0])], tuple(rows))]


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
) -> MultipleComparison:
    """Compare many systems, all pairs or all against a baseline.

    A difference is a less b: of all pairs an earlier system less a later one, else a system less the baseline.

    Parameters
    ----------
    results : dict of str to Evaluation or array-like of shape (n_queries,)
        Two systems or more, in the forms of `compare`. All are compared on the same queries: one that is undefined for
        one system is left out for all. (Tests for different queries take each system's own.)
    metric : str, default=None
        Metric to compare, by its name in `evaluate`; may be left out if there is one only.
    baseline : str, default=None
        System that every other is compared with, other less baseline. None: all pairs.
    test : str, default="t"
        As in `compare`.
    correction : {"holm", "bonferroni", "bh", "tukey"} or None, default="holm"
        "bh" is Benjamini-Hochberg. "tukey" is Tukey's HSD for all pairs, blocked by query and randomised, which takes
        the place of the test's own p-values.
    clusters : array-like of shape (n_queries,), or dict from queries to clusters, default=None
        As in `compare`. Tukey's HSD deals the values of a cluster together.
    weight : array-like of shape (n_queries,), or dict from queries to weights, default=None
        As in `compare`. Tukey's HSD deals the weighted values.
    alternative : {"two-sided", "greater", "less"}, default="two-sided"
        As in `compare`.
    confidence_level : float, default=0.95
        Level of each interval by itself.
    missing : "raise" or float, default="raise"
        Value of a query that a system lacks; ``nan`` leaves it out.
    greater_is_better : bool, default=None
        For `won` and `lost`. None: as the metric says, which for a pandas Series is its name; True for arrays.
    n_resamples : int, default=9999
        As in `compare`, and of Tukey's HSD.
    random_state : int, RandomState, Generator or None, default=None
        Source of resamples.

    Returns
    -------
    MultipleComparison

    Raises
    ------
    ValueError
        If a query is missing, the metric was computed otherwise or by other labels in one of the results, the baseline
        is not among the systems, or a keyword is not what it must be.
    TypeError
        If `results` is not a mapping of two systems or more.

    References
    ----------
    B. Carterette: Multiple testing in statistical analysis of systems-based information retrieval experiments.
    ACM Transactions on Information Systems 30(1), 2012.

    Examples
    --------
    Holm takes the smaller p twice:

    >>> from sklearn_rank.stats import compare_all
    >>> values = {
    ...     "new": [0.7, 0.5, 0.9, 0.4],
    ...     "old": [0.5, 0.4, 0.6, 0.4],
    ...     "odd": [0.1, 0.9, 0.8, 0.2],
    ... }
    >>> result = compare_all(values, baseline="old", test="randomization")
    >>> result.comparisons["new", "old"].pvalue, result.corrected_pvalue("new", "old")
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
    report(STATISTICS, aligned.findings)
    values = dict(zip(results, aligned.values, strict=True))
    pairs = (
        [*combinations(values, 2)] if baseline is None else [(name, baseline) for name in values if name != baseline]
    )
    compared = {(a, b): compare_values(values[a], values[b], options, aligned) for a, b in pairs}
    if correction == "tukey":
        differences = np.array([result.difference for result in compared.values()])
        sums, total = aligned.values, float(len(aligned.values[0]))
        if aligned.weight is not None:
            sums, total = [aligned.weight * x for x in sums], math.fsum(aligned.weight)
        if aligned.cluster is not None:
            sums = [sums_by_cluster(x, aligned.cluster)[0] for x in sums]
        corrected = tukey(np.column_stack(sums), differences * total, n_resamples, random_state)
    else:
        corrected = adjust_pvalues([result.pvalue for result in compared.values()], correction)
    means = {name: exact_mean(x, aligned.weight) for name, x in values.items()}
    by_pair = dict(zip(compared, corrected.tolist(), strict=True))
    intervals = {
        (a, b): _corrected_interval(values[a], values[b], options, aligned, one, by_pair[a, b], len(pairs))
        for (a, b), one in compared.items()
    }
    return MultipleComparison(
        aligned.metric, test, correction, baseline, means, compared, by_pair, aligned.greater_is_better,
        {name: len(x) for name, x in values.items()}, intervals, aligned.judged,
    )  # fmt: skip


def _corrected_interval(
    a: Array, b: Array, options: ComparisonOptions, aligned: Aligned, result: ComparisonResult, corrected: float,
    n_pairs: int,
) -> Interval:  # fmt: skip
    """Interval of a pair whose p was corrected: by what p has grown, the chance to miss is smaller."""
    if corrected <= result.pvalue:
        return result.confidence_interval
    share = result.pvalue / corrected if result.pvalue > 0 else 1 / n_pairs
    return interval_at(a, b, options, aligned, 1 - (1 - options.confidence_level) * share)


def check_plan(
    function_name: str, *, test: Any, correction: Any, alternative: Any = "two-sided", baseline: str | None = None
) -> None:
    """Refuse an unknown test or correction, and those that do not go together.

    Raises
    ------
    ValueError
        If a word is unknown, or Tukey's correction is asked of something else than all pairs of the same queries.
    """
    check_test(function_name, test)
    check_arguments(function_name, alternative=alternative, correction=correction)
    if correction == "tukey" and not (TESTS[test].paired and baseline is None and alternative == "two-sided"):
        raise ValueError(
            "correction='tukey' is for all pairs, two-sided, on the same queries. "
            f"Got test={echo(test)}, alternative={echo(alternative)}, baseline={echo(baseline)}."
        )
