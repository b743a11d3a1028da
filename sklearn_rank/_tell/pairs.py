"""Tests of pairs of systems as tables, titles and notes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from sklearn_rank._estimates.proportions import Interval
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.notes import constant_note, skew_note
from sklearn_rank._tell.text import ends_of, level_in_words, written_count
from sklearn_rank._utils.table import (
    P_CORRECTED,
    VALUE_WIDTH,
    WIDTH,
    LabeledName,
    P,
    PValueName,
    Table,
    pvalue_cell,
    shorten,
    shorten_values,
    with_interval,
)

EQUAL_DIFFERENCES = 1e-12
"""Standard errors below this share of the difference are rounding errors."""

PAIR_NAME_WIDTH = 16
"""Maximum width of a system's name in printed pairs, so that a line fits a terminal."""

DIFFERENCE, CORRECTED = LabeledName("difference", "a - b"), PValueName("p corrected", "corr. p")
"""Columns whose printed heads are no longer than their numbers."""

PAIR_COLUMNS = (
    "a", "b", "mean a", "mean b", DIFFERENCE, "low", "high", P, CORRECTED, "effect", "won", "tied", "lost", "queries",
)  # fmt: skip
"""Columns of the table behind the attributes of segments."""

METHODS_OF_RATES = {"bonett-price": "Bonett and Price's", "newcombe": "Newcombe's"}

PLURALS = {"query": "queries", "fold": "folds"}


@dataclass(frozen=True)
class PairRow:
    """Numbers of a pair, on all queries or in a segment; NaN and None if the queries are too few for a test."""

    a: str
    b: str
    segment: tuple[Any, ...]
    n_units: int | tuple[int, int]
    mean_a: float = math.nan
    mean_b: float = math.nan
    difference: float = math.nan
    pvalue: float = math.nan
    corrected_pvalue: float = math.nan
    statistic: float = math.nan
    confidence_interval: Interval = (math.nan, math.nan)
    corrected_interval: Interval = (math.nan, math.nan)
    interval_method: str = ""
    effect_size: float = math.nan
    won: int | None = None
    tied: int | None = None
    lost: int | None = None
    standard_error: float = math.nan
    df: float = math.nan
    is_skewed: bool = False

    @property
    def key(self) -> tuple[Any, ...]:
        """The pair, and the values of the segment."""
        return (self.a, self.b, *self.segment)

    @property
    def is_constant(self) -> bool:
        """Whether the difference is the same for every query: no interval, and p of a sign test."""
        is_equal = self.standard_error <= EQUAL_DIFFERENCES * abs(self.difference)
        return is_equal and self.difference != 0 and not self.interval_method

    @property
    def ends(self) -> tuple[float | None, float | None]:
        """Ends of the interval at the level of the corrected p-value, if there is one."""
        return ends_of(self.corrected_interval)

    def cells(self) -> tuple[Any, ...]:
        """Cells of a table; None without a number."""
        numbers = (
            self.mean_a, self.mean_b, self.difference, *self.confidence_interval, self.pvalue, self.corrected_pvalue,
            self.effect_size,
        )  # fmt: skip
        known = (None if math.isnan(x) else x for x in numbers)
        return (*self.segment, self.a, self.b, *known, self.won, self.tied, self.lost, written_count(self.n_units))


class Design(NamedTuple):
    """How pairs were tested: names as the result has them, the unit of a value, and the level of each interval."""

    metric: str
    test: str
    alternative: str
    correction: str | None
    baseline: str | None
    unit: str
    n_clusters: int | None
    is_weighted: bool
    level: float
    by: tuple[str, ...]

    def counted(self, n: int | tuple[int, int] | None = None) -> str:
        """Description of the units: "80 weighted queries in 20 clusters"."""
        number = "" if n is None else f"{written_count(n)} "
        clusters = "" if self.n_clusters is None else f" in {self.n_clusters} clusters"
        return f"{number}{'weighted ' if self.is_weighted else ''}{PLURALS[self.unit]}{clusters}"


def title_of_pairs(rows: Sequence[PairRow], design: Design, n_overall: int | tuple[int, int]) -> str:
    """One line that names metric, pair, units, test and correction."""
    test, correction = f"test {design.test!r}", f"correction {design.correction!r}"
    first, *others = rows
    if design.by:
        by = "" if design.by == ("by",) else f" by {' and '.join(design.by)}"
        what = f"Differences in {display_name(design.metric)} from {design.baseline}{by}"
        return f"{what}, {design.counted(n_overall)}, {test}, {correction}"
    what = display_name(design.metric) if design.metric else "a metric"
    if others:
        counted = "" if design.n_clusters is None and not design.is_weighted else f"{design.counted()}, "
        return f"{what}, {counted}{test}, {correction}"
    correction = f", {correction}" if _is_corrected(rows) else ""
    pair = f"{first.a} minus {first.b}"
    return f"{what}: {pair}, {design.counted(first.n_units)}, {test}, {design.alternative}{correction}"


def _is_corrected(rows: Iterable[PairRow]) -> bool:
    return any(row.corrected_pvalue > row.pvalue for row in rows)


def has_corrected_intervals(rows: Iterable[PairRow]) -> bool:
    """Whether a printed interval is at the level of a corrected p-value."""
    return any(row.ends not in ((None, None), row.confidence_interval) for row in rows)


def notes_on_pairs(
    rows: Sequence[PairRow], of_all: Sequence[PairRow], design: Design, interaction: Mapping[tuple[str, str], float],
    interaction_test: str,
) -> list[str]:  # fmt: skip
    """Notes on segments that differ, and on intervals; `of_all` are the rows of all queries beside segments."""
    alone = len(rows) == 1 and not design.by
    skewed = [f"{row.a} - {row.b}" for row in rows if row.is_skewed]
    constant = [f"{row.a} - {row.b}" for row in rows if row.is_constant]
    notes = []
    if design.by:
        skewed, constant = [display_name(design.metric)] * any(row.is_skewed for row in (*rows, *of_all)), []
    for (a, _), p in interaction.items():
        tested = "No test." if math.isnan(p) else f"{interaction_test}, corrected p = {pvalue_cell(p)}"
        notes.append(f"{a}: does the difference vary between segments? {tested}")
    if alone and (name := METHODS_OF_RATES.get(rows[0].interval_method)):
        notes.append(f"The interval is {name}, of a difference of success rates.")
    notes += [skew_note(() if alone else skewed)] * bool(skewed)
    notes += [constant_note(() if alone else constant, design.unit)] * bool(constant)
    which = "The" if alone else "Each"
    is_corrected = has_corrected_intervals((*rows, *of_all))
    return notes + [f"{which} interval has the level of its corrected p."] * is_corrected


def tables_of_pairs(
    rows: Sequence[PairRow], means: Mapping[str, float], design: Design, of_all: Sequence[PairRow], *, is_text: bool
) -> list[Table]:
    """The most important columns; as text, with shortened names and values of attributes."""
    if design.by:
        pairs = dict.fromkeys((row.a, row.b) for row in rows)
        of_pairs = ([row for row in (*rows, *of_all) if (row.a, row.b) == pair] for pair in pairs)
        return [_of_segments(of_pair, design, is_text=is_text) for of_pair in of_pairs]
    if is_text:
        rows = [replace(row, a=_short(row.a), b=_short(row.b)) for row in rows]
        means = {_short(name): mean for name, mean in means.items()}
    return [_alone(rows[0])] if len(rows) == 1 else _of_pairs(rows, means, design)


def _short(name: str) -> str:
    return shorten(str(name), PAIR_NAME_WIDTH)


def _alone(row: PairRow) -> Table:
    corrected: dict[str, Any] = {P_CORRECTED: row.corrected_pvalue} if _is_corrected([row]) else {}
    counts = {} if row.won is None else {"won": row.won, "tied": row.tied, "lost": row.lost}
    low, high = row.ends
    numbers: dict[str, Any] = {"difference": row.difference, "low": low, "high": high, P: row.pvalue, **corrected}
    numbers |= {"effect": row.effect_size, **counts}
    return Table((row.a, row.b, *numbers), ((row.mean_a, row.mean_b, *numbers.values()),))


def _of_pairs(rows: Sequence[PairRow], means: Mapping[str, float], design: Design) -> list[Table]:
    n_of: dict[str, int] = {}
    for row in rows:
        n_a, n_b = row.n_units if isinstance(row.n_units, tuple) else (row.n_units, row.n_units)
        n_of |= {row.a: n_a, row.b: n_b}
    of_systems = tuple((name, n_of[name], mean) for name, mean in means.items())
    columns = ("a", "b", DIFFERENCE, level_in_words(design.level), P_CORRECTED, "won", "lost")
    of_rows = [
        (row.a, row.b, *with_interval(row.difference, *row.ends), row.corrected_pvalue,
         *(() if row.won is None else (row.won, row.lost)))
        for row in rows
    ]  # fmt: skip
    systems = Table(("system", PLURALS[design.unit], "mean"), of_systems)
    return [systems, Table(columns[: len(of_rows[0])], tuple(of_rows))]


def _of_segments(rows: Sequence[PairRow], design: Design, *, is_text: bool) -> Table:
    by, width = design.by, max(6, VALUE_WIDTH // len(design.by)) if is_text else WIDTH
    cells = []
    for row in rows:
        difference, p = (None if math.isnan(x) else x for x in (row.difference, row.corrected_pvalue))
        segment = row.segment or (None,) * len(by)
        numbers = with_interval(difference, *row.ends)
        cells.append((*shorten_values(segment, width), row.n_units, *numbers, p, row.won, row.lost))
    of_difference = f"{shorten(rows[0].a, VALUE_WIDTH)} difference"
    columns = (PLURALS[design.unit], of_difference, level_in_words(design.level), P_CORRECTED, "won", "lost")
    return Table((*(shorten(name, width) for name in by), *columns), tuple(cells))
