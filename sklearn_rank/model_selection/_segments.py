"""Differences of systems in each segment of the queries."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_rank._evaluation.intervals import note_of_intervals
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.segments import VALUE_WIDTH, SegmentsBy, partition, shorten_values, with_interval
from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.table import WIDTH, PartlyPrinted, Table, TableReport, cell, shorten
from sklearn_rank._utils.typing import Array, Index

if TYPE_CHECKING:
    from sklearn_rank.stats._align import Aligned
    from sklearn_rank.stats._samples import Paired
    from sklearn_rank.stats._significance import ComparisonOptions

DIFFERENCE_COLUMNS = (
    "system", "queries", "mean", "baseline", "difference", "low", "high", "won", "tied", "lost", "p", "p corrected",
)  # fmt: skip
"""Columns of the table behind the attributes."""

MACRO_DIFFERENCE_COLUMNS = (
    "segments", "queries", "mean", "baseline", "difference", "low", "high", "standard error", "df", "p", "p corrected",
)  # fmt: skip
"""Columns of the means over segments."""

MACRO_PRINTED = ("system", "mean", "difference", "low", "high", "standard error", "df", "p", "p corrected")
"""Columns that are printed."""


@dataclass(frozen=True, repr=False)
class SegmentComparison(TableReport):
    """Differences of systems from a baseline in each segment of the queries, from `Comparison.segments`.

    Attributes
    ----------
    by : tuple of str
        Attributes that make the segments; segments of several are their combinations, as far as there are any.
    table : Table
        A row for each system and segment: the values of the attributes, the system, number of queries, mean of the
        system and of the baseline, difference with its interval, queries won, tied and lost, p-value, and the same
        corrected for the number of systems and segments. Values are None where a segment is too small for a test, or
        has no query where the metric is defined for all systems.
    overall : Table
        The same for all queries, corrected for the number of systems.
    interaction : dict of str to float
        P-value of a test that the differences of a system from the baseline differ between segments at all, corrected
        for the number of systems; NaN where there is none.
    interaction_test : str
        Name of that test.
    metric, baseline, test : str
    correction : str or None
    confidence_level : float
    n_clusters : int or None
        Clusters of the queries; intervals and tests allow for them. None where queries are independent.
    """

    by: tuple[str, ...]
    table: Table
    overall: Table
    interaction: dict[str, float]
    interaction_test: str
    metric: str
    baseline: str
    test: str
    correction: str | None
    confidence_level: float
    n_clusters: int | None
    _macro: Table
    _note: str

    def macro(self) -> Table:
        """Means over segments, each segment counting once, and their differences from the baseline.

        Returns
        -------
        Table
            A row for each system but the baseline: number of segments and of queries, mean of the system and of the
            baseline over segments, their difference with its interval, standard error and degrees of freedom, p-value,
            and the same corrected for the number of systems; ``to_frame()`` has all columns.

        Notes
        -----
        Intervals are like in `Segments.macro`, of paired differences. P-values are of the t test with that standard
        error; for a comparison by "randomization" the signs of queries, or clusters, are flipped. Other tests than
        these two give no p-value.
        """
        return self._macro

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame, without the rows of all queries; needs the extra "pandas"."""
        return self.table.to_frame()

    def _title(self) -> str:
        n_queries = self.overall.rows[0][len(self.by) + 1]
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        by = "" if self.by == ("by",) else f" by {' and '.join(self.by)}"
        return (
            f"Differences in {display_name(self.metric)} from {self.baseline}{by}, {n_queries} queries{clusters}, "
            f"test={self.test!r}, correction={self.correction!r}"
        )

    def _notes(self) -> list[str]:
        return [
            f"{system}: {'no test' if math.isnan(p) else f'{self.interaction_test} p corrected = {cell(p)}'} "
            "of whether its difference varies between segments"
            for system, p in self.interaction.items()
        ] + ([self._note] if self._note else [])

    def _tables(self) -> list[Table]:
        return [self._of_system(system, WIDTH) for system in self.interaction]

    def _text_tables(self) -> list[Table]:
        return [self._of_system(system, max(6, VALUE_WIDTH // len(self.by))) for system in self.interaction]

    def _of_system(self, system: str, width: int) -> Table:
        """The rows of a system: what decides, the interval in one column."""
        at, rows = len(self.by), []
        for row in (*self.table.rows, *self.overall.rows):
            if row[at] == system:
                n, _, _, difference, low, high, won, _, lost, _, p = row[at + 1 :]
                rows.append((*shorten_values(row[:at], width), *with_interval(n, difference, low, high, p, won, lost)))
        name = f"{shorten(system, VALUE_WIDTH)} difference"
        columns = ("queries", name, f"{100 * self.confidence_level:g} % interval", "p corrected", "won", "lost")
        return Table((*(shorten(one, width) for one in self.by), *columns), tuple(rows))


def compare_segments(
    results: Mapping[str, Evaluation],
    metric: str,
    by: SegmentsBy,
    *,
    baseline: str,
    test: str,
    correction: str | None,
    confidence_level: float,
) -> SegmentComparison:
    """Compare systems with the baseline in each segment; all results have the same queries in the same order."""
    from sklearn_rank.stats._align import align  # loads scipy.stats
    from sklearn_rank.stats._compare import check_options
    from sklearn_rank.stats._samples import Paired, counted
    from sklearn_rank.stats._segments import equal_means
    from sklearn_rank.stats._significance import ComparisonOptions

    options = ComparisonOptions(test, confidence_level=confidence_level, random_state=0)
    check_options("segments", options)
    others = [name for name in results if name != baseline]
    if baseline not in results or not others:
        raise ValueError(
            f"Segments of a comparison need the baseline, {echo(baseline)}, and another system. "
            f"Got {', '.join(results)}."
        )
    parts = partition(results[baseline], by, "segments", DIFFERENCE_COLUMNS)
    aligned = align(results, metric, options, "segments")
    values = dict(zip(results, aligned.values, strict=True))
    of_all = np.array([result.per_query[metric] for result in results.values()])
    parts = parts._replace(segment=parts.segment[counted(of_all.sum(axis=0), results[baseline].weight)])
    everything = [((None,) * len(parts.by), np.arange(len(parts.segment)))]

    is_skewed: list[bool] = []

    def table_of(segments: Iterable[tuple[tuple[Any, ...], Index]]) -> Table:
        rows = []
        for name, (named, at) in product(others, segments):
            *numbers, skewed = _numbers(values[name][at], values[baseline][at], options, _part(aligned, at))
            rows.append((*named, name, *numbers))
            is_skewed.append(skewed)
        return Table((*parts.by, *DIFFERENCE_COLUMNS), _corrected(rows, correction))

    paired = [Paired(values[name], values[baseline], aligned.cluster, aligned.weight) for name in others]
    tests = [equal_means(one.values, parts.segment, one.cluster, one.weight) for one in paired]
    macro = [(name, *_macro_row(one, parts.segment, options)) for name, one in zip(others, paired, strict=True)]
    interaction = _adjusted([one.pvalue for one in tests], correction)
    return SegmentComparison(
        parts.by, table_of(parts.rows()), table_of(everything), dict(zip(others, interaction, strict=True)),
        next((one.test for one in tests if not math.isnan(one.pvalue)), tests[0].test),
        metric, baseline, test, correction, confidence_level,
        None if aligned.cluster is None else len(np.unique(aligned.cluster)),
        PartlyPrinted(
            ("system", *MACRO_DIFFERENCE_COLUMNS), _corrected(macro, correction), printed=MACRO_PRINTED,
            note=f"Means over {macro[0][1]} segments, {macro[0][2]} queries; differences from {baseline}.",
        ),
        note_of_intervals([metric]) if any(is_skewed) else "",
    )  # fmt: skip


def _macro_row(pair: Paired, segment: Index, options: ComparisonOptions) -> tuple[Any, ...]:
    """Numbers of the means over segments up to the p-value."""
    from sklearn_rank.stats._segments import macro_mean, macro_pvalue, macro_row

    n_segments, n, difference, *rest = macro_row(
        pair.values, segment, pair.cluster, pair.weight, confidence_level=options.confidence_level
    )
    means = (macro_mean(x, segment, pair.cluster, pair.weight).mean for x in (pair.a, pair.b))
    return (n_segments, n, *means, difference, *rest, macro_pvalue(pair, segment, options))


def _part(aligned: Aligned, at: Index) -> Aligned:
    """What was aligned, of some of the queries."""
    from sklearn_rank.stats._samples import scaled, some

    cluster, weight = some(aligned.cluster, at), scaled(some(aligned.weight, at))
    return replace(aligned, cluster=cluster, weight=weight)


def _numbers(a: Array, b: Array, options: ComparisonOptions, aligned: Aligned) -> tuple[Any, ...]:
    """Numbers of a segment up to the p-value, without a test where there are fewer than two queries or clusters.

    Behind them, whether the interval may not keep its level.
    """
    from sklearn_rank.stats._compare import compare_values
    from sklearn_rank.stats._samples import exact_mean

    if len(a) == 0:
        return (0, *[None] * 9, False)
    head = len(a), exact_mean(a, aligned.weight), exact_mean(b, aligned.weight)
    if len(a) < 2 or (aligned.cluster is not None and len(np.unique(aligned.cluster)) < 2):
        return (*head, head[1] - head[2], *[None] * 6, False)
    pair = compare_values(a, b, options, aligned)
    counts = pair.won, pair.tied, pair.lost
    return (*head, pair.difference, *pair.confidence_interval, *counts, pair.pvalue, pair.is_skewed)


def _corrected(rows: Sequence[tuple[Any, ...]], correction: str | None) -> tuple[tuple[Any, ...], ...]:
    """The rows, which end in a p-value, with the corrected ones behind."""
    corrected = _adjusted([math.nan if row[-1] is None else row[-1] for row in rows], correction)
    return tuple((*row, None if math.isnan(p) else p) for row, p in zip(rows, corrected, strict=True))


def _adjusted(pvalues: Sequence[float], correction: str | None) -> list[float]:
    """P-values corrected for their number; NaN, where there was no test, does not count."""
    from sklearn_rank.stats import adjust_pvalues

    p = np.array(pvalues, dtype=np.float64)
    tested = ~np.isnan(p)
    p[tested] = adjust_pvalues(p[tested], correction)
    return p.tolist()
