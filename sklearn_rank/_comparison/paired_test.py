"""Result of a test of differences: a row for each pair of systems and each segment of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.judged import judged_note
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._estimates.power import detectable
from sklearn_rank._estimates.proportions import Interval
from sklearn_rank._estimates.runs import RunMeans
from sklearn_rank._estimates.samples import exact_mean, some
from sklearn_rank._metric.choices import QueryCounts, choices_in_words
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.notes import between_runs, notes_without_settled, without_settled
from sklearn_rank._tell.pairs import (
    PAIR_COLUMNS,
    PLURALS,
    Design,
    PairRow,
    has_corrected_intervals,
    notes_on_pairs,
    tables_of_pairs,
    title_of_pairs,
)
from sklearn_rank._tell.text import plain
from sklearn_rank._tell.verdict import best_in_segments
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import ReadAttribute
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank._utils.typing import Array

T = TypeVar("T")

CORRECTED_LEVEL = "at the level of the corrected p"
"""Description of drawn intervals."""


class OfOnePair(ReadAttribute[T]):
    """Attribute of a test with one row, read from this row; a test with several rows does not have it."""

    def read(self, instance: PairedTest) -> T:
        """Value of the only row; an AttributeError if there are several."""
        first, *others = instance._pair_rows
        if others:
            raise AttributeError(
                f"{self.name!r} belongs to one pair. Got a test of {len(others) + 1} rows: choose one, such as "
                f"test[{', '.join(map(echo, first.key))}].{self.name}, or read all rows in test.table."
            )
        value: T = getattr(first, self.name)
        return value


@dataclass(frozen=True)
class SegmentTests:
    """Further tests of systems by segment: on all queries, of the interaction, and of means over segments."""

    by: tuple[str, ...]
    overall: PairedTest
    interaction: dict[tuple[str, str], float]
    interaction_test: str
    macro: Table
    best: Mapping[tuple[Any, ...], Sequence[str]]

    def of_pair(self, a: str, b: str) -> SegmentTests:
        """The tests of one pair."""
        rows = tuple(row for row in self.macro.rows if row[0] == a)
        interaction = {(a, b): self.interaction[a, b]}
        return SegmentTests(
            self.by, self.overall[a, b], interaction, self.interaction_test, replace(self.macro, rows=rows), {}
        )  # fmt: skip


@dataclass(frozen=True, repr=False, kw_only=True)
class PairedTest(TableReport):
    """Tests of the differences between systems, a minus b, for one pair or several, on all queries or in segments.

    `stats.compare`, `stats.compare_all`, `stats.compare_folds`, `Comparison.significance` and `Comparison.segments`
    return it. ``test["new", "old"]`` is the test of one pair, and ``test["new", "old", "fr"]`` the test of this pair in
    one segment.

    Attributes
    ----------
    metric : str or None
    meaning : str
        The metric with all its keywords, in words; "" if unknown.
    test, alternative : str
    correction : str or None
        Correction of the p-values for the number of rows.
    confidence_level : float
        Level of each interval before the correction.
    baseline : str or None
        System that all others are compared with. None: all pairs.
    greater_is_better : bool
        Whether a higher value of the metric is better.
    means : dict of str to float
        Mean of each system over the compared queries.
    unit : {"query", "fold"}
        Unit that has one value per system.
    n_left_out, n_filled : int
        Number of queries left out because a value is undefined or the weight is 0, and of values filled in because a
        query was missing.
    n_clusters : int or None
        Number of clusters; None if queries are independent.
    is_weighted : bool
        Whether queries have different weights in the means.
    judged : dict of str to float
        Mean share of judged documents of each system, down to the cutoff; empty if unknown.
    counts : tuple or None
        Number of all queries, of queries without a value, and of queries whose judgments fix the value for every
        system, such as queries without a relevant document; None if unknown.
    nothing : str
        Reason why no query can tell the systems apart; "" if a query can, or if it is unknown.
    means_without_settled : dict of str to float
        Means without the queries whose judgments fix the value, if they differ from `means`.
    run_means : dict of str to tuple of float
        Mean of each run, for systems with several runs.
    statistic : float
        Only a test with one row has this attribute and those below, from `difference` on: t; the rank sum or U of
        `scipy.stats`; the number of queries on which a is higher (sign); the difference (randomization, permutation).
    corrected_interval : (float, float)
        Interval at the level of the corrected p-value: it excludes 0 if the corrected p-value is below 1 less the
        confidence level. Printed tables show this interval.
    interval_method : {"t", "welch", "bca", "bonett-price", "newcombe", ""}
        "bca" for the bootstrap. For a metric that is 0 or 1 by definition, such as a hit rate, without weights and
        clusters: "bonett-price", with two pseudo queries, or "newcombe" for different queries. Otherwise "t", or
        "welch" for different queries. "" if all differences are equal, so that there is no interval.
    effect_size : float
        Difference in units of its spread: Cohen's d_z (paired) or d. Rank tests have the rank-biserial correlation, and
        the sign test the share won less the share lost, both from -1 to 1.
    is_constant : bool
        Whether the difference is the same for every query. Then there is no interval, and the t test returns the
        p-value of the signs of the differences.

    Examples
    --------
    Holm doubles the smaller of the two p-values:

    >>> from sklearn_rank.stats import compare_all
    >>> values = {"new": [0.7, 0.5, 0.9, 0.4], "old": [0.5, 0.4, 0.6, 0.4]}
    >>> test = compare_all(values | {"odd": [0.1, 0.9, 0.8, 0.2]}, baseline="old")
    >>> test.pairs
    [('new', 'old'), ('odd', 'old')]
    >>> pair = test["new", "old"]
    >>> round(pair.difference, 4), round(pair.pvalue, 4), round(pair.corrected_pvalue, 4)
    (0.15, 0.1027, 0.2055)
    """

    metric: str | None
    meaning: str = ""
    test: str
    alternative: str
    correction: str | None
    confidence_level: float
    baseline: str | None
    greater_is_better: bool
    means: dict[str, float]
    unit: str = "query"
    n_left_out: int = 0
    n_filled: int = 0
    n_clusters: int | None = None
    is_weighted: bool = False
    judged: dict[str, float]
    counts: QueryCounts | None = None
    nothing: str = ""
    means_without_settled: dict[str, float] = field(default_factory=dict)
    run_means: RunMeans = field(default_factory=dict)
    _pair_rows: tuple[PairRow, ...]
    _segments: SegmentTests | None = None
    _about_data: tuple[str, ...] = ()

    difference = OfOnePair[float]("Mean of a minus mean of b.")
    pvalue = OfOnePair[float]("Probability of a difference at least this large if both systems were equally good.")
    corrected_pvalue = OfOnePair[float]("The p-value, corrected for the number of rows.")
    statistic = OfOnePair[float]("Statistic of the test.")
    confidence_interval = OfOnePair[Interval]("Interval of the mean difference, infinite at one end if one-sided.")
    corrected_interval = OfOnePair[Interval]("Interval of the mean difference at the level of the corrected p-value.")
    interval_method = OfOnePair[str]("Name of the method of the interval.")
    effect_size = OfOnePair[float]("Difference in units of its spread.")
    won = OfOnePair[int | None]("Queries on which a is better, without weights; None for different queries.")
    tied = OfOnePair[int | None]("Queries on which both are equal.")
    lost = OfOnePair[int | None]("Queries on which a is worse.")
    standard_error = OfOnePair[float]("Standard error of the difference.")
    df = OfOnePair[float]("Degrees of freedom of the standard error.")
    n_units = OfOnePair[int | tuple[int, int]]("Queries compared, or folds; of a and of b for different queries.")
    is_skewed = OfOnePair[bool]("Whether queries are too few for their skew, so that the interval may be too narrow.")
    is_constant = OfOnePair[bool]("Whether the difference is the same for every query.")

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """The pairs (a, b)."""
        return [*dict.fromkeys((row.a, row.b) for row in self._pair_rows)]

    @property
    def table(self) -> Table:
        """A row for each pair and segment: values, a, b, means, difference, interval, p, effect, won, tied, lost."""
        rows = [row.cells() for row in self._pair_rows]
        columns = (*self.by, *PAIR_COLUMNS[:-1], PLURALS[self.unit])
        if all(row.won is None for row in self._pair_rows) and not self.by:
            rows = [(*row[:-4], row[-1]) for row in rows]
            columns = (*columns[:-4], columns[-1])
        return Table(columns, tuple(rows))

    @property
    def by(self) -> tuple[str, ...]:
        """Attributes that define the segments, by their combinations; empty without segments."""
        return () if self._segments is None else self._segments.by

    @property
    def overall(self) -> PairedTest:
        """Test of the pairs on all queries, corrected for the number of pairs; without segments, the test itself."""
        return self if self._segments is None else self._segments.overall

    @property
    def interaction(self) -> dict[tuple[str, str], float]:
        """P-value of the test that the difference of a pair varies between segments, corrected for pairs; or NaN."""
        return {} if self._segments is None else self._segments.interaction

    def __getitem__(self, key: tuple[Any, ...]) -> PairedTest:
        """Test of one pair, (a, b), or of one pair in one segment, (a, b, value of the first attribute, ...).

        Raises
        ------
        KeyError
            If the pair was not compared, or there is no such segment.
        """
        is_tuple = isinstance(key, tuple) and len(key) > 1
        of_key = [row for row in self._pair_rows if is_tuple and is_key(key, {row.key[: len(key)]: row})]
        if not of_key:
            what, listed = "A pair", self.pairs
            if self.by and is_tuple and is_key(key[:2], dict.fromkeys(listed)):
                what, listed = "A segment of a pair", [row.key for row in self._pair_rows if (row.a, row.b) == key[:2]]
            raise KeyError(f"{what} must be one of {', '.join(map(echo, listed))}. Got {echo(key)}.")
        a, b = of_key[0].a, of_key[0].b
        known: Iterable[Mapping[str, Any]] = (self.means, self.judged, self.means_without_settled, self.run_means)
        means, judged, others, of_runs = ({x: of[x] for x in (a, b) if x in of} for of in known)
        segments = None if self._segments is None else self._segments.of_pair(a, b)
        return replace(
            self, means=means, judged=judged, means_without_settled=others, run_means=of_runs,
            _pair_rows=tuple(of_key), _segments=segments,
        )  # fmt: skip

    def macro(self) -> Table:
        """Means over segments, each segment counting once, and their differences.

        Returns
        -------
        Table
            A row for each pair: number of segments and of queries, mean of the system and of the baseline over
            segments, their difference with its interval, standard error and degrees of freedom, p-value, and p-value
            corrected for the number of pairs. ``to_frame()`` has all columns.

        Raises
        ------
        ValueError
            If there are no segments.

        Notes
        -----
        Intervals are computed as in `Segments.macro`, from paired differences. A t test with the same standard error
        returns the p-value. With test="randomization", the test flips the signs of queries or clusters. Other tests
        have no p-value.
        """
        if self._segments is None:
            raise ValueError(
                "macro() needs segments: call it on the result of Comparison.segments(by). "
                f"Got a test of {', '.join(f'{a} and {b}' for a, b in self.pairs)} without segments."
            )
        return self._segments.macro

    def minimal_detectable_difference(self, *, power: float = 0.8, alpha: float = 0.05) -> float:
        """Smallest true difference of one pair that a t test on the same number of queries finds with this power.

        Parameters
        ----------
        power : float, default=0.8
            Probability that the test finds the difference.
        alpha : float, default=0.05
            Level of the test.

        Raises
        ------
        AttributeError
            If there are several rows.
        """
        check_arguments("minimal_detectable_difference", power=power, alpha=alpha)
        return detectable(self.standard_error, self.df, power, alpha, self.alternative)

    @property
    def _design(self) -> Design:
        return Design(
            self.metric or "", self.test, self.alternative, self.correction, self.baseline, self.unit, self.n_clusters,
            self.is_weighted, self.confidence_level, self.by,
        )  # fmt: skip

    @property
    def _of_all(self) -> tuple[PairRow, ...]:
        return self.overall._pair_rows if self.by else ()

    def _title(self) -> str:
        return title_of_pairs(self._pair_rows, self._design, self.overall._pair_rows[0].n_units)

    @property
    def _has_corrected_intervals(self) -> bool:
        return has_corrected_intervals((*self._pair_rows, *self._of_all))

    def _notes(self) -> list[str]:
        test = "" if self._segments is None else self._segments.interaction_test
        notes = notes_on_pairs(self._pair_rows, self._of_all, self._design, self.interaction, test)
        if self._segments is not None and self._segments.best:
            notes.insert(0, plain(best_in_segments(self._segments.best, len(self.means))))
        name = self.metric or ""
        about_runs = between_runs({name: self.run_means}, self.means)
        of_data = judged_note({name: self.judged}), *self._about_data, about_runs
        return [*notes, *filter(None, [self.nothing, *notes_without_settled([self.without_settled]), *of_data])]

    @property
    def without_settled(self) -> tuple[str, str] | None:
        """Queries whose judgments fix the value, and the means without them; None if the means are the same."""
        if self.counts is None or not self.means_without_settled:
            return None
        pair = self.pairs[0] if len(self.pairs) == 1 else None
        metric = display_name(self.metric or "")
        return without_settled(self.means_without_settled, self.counts, self.meaning, metric, pair)

    def _footer(self) -> str:
        name = self.metric or ""
        return choices_in_words({name: self.meaning}, {} if self.counts is None else {name: self.counts})

    def _tables(self) -> list[Table]:
        return self._printed(is_text=False)

    def _text_tables(self) -> list[Table]:
        return self._printed(is_text=True)

    def _printed(self, *, is_text: bool) -> list[Table]:
        return tables_of_pairs(self._pair_rows, self.means, self._design, self._of_all, is_text=is_text)


def means_without_settled(
    values: Mapping[str, Array], settled: NDArray[np.bool_] | None, weight: Array | None
) -> dict[str, float]:
    """Means without queries whose judgments fix the value or with NaN; empty if they are the same or undefined."""
    if settled is None:
        return {}
    defined = ~np.isnan(np.sum([*values.values()], axis=0))
    kept = defined & ~settled
    if not kept.any() or kept.sum() == defined.sum():
        return {}
    before, after = (
        {name: exact_mean(x[at], some(weight, at)) for name, x in values.items()} for at in (defined, kept)
    )
    return after if after != before else {}
