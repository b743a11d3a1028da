"""The summary of a comparison: a table of many columns, of which the decisive ones are printed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.table import WIDTH, Table, cell, shorten

PRINTED = ("model", "metric", "mean", "low", "high", "difference", "p corrected", "won", "lost")
"""Columns that are printed; the text for a terminal has the interval in one of them, and a block for each metric."""


@dataclass(frozen=True, repr=False)
class Summary(Table):
    """Models, each by each metric, against a baseline: what `Comparison.summary` returns.

    Printed, and in Markdown, LaTeX and HTML, it has the mean with its interval, the difference from the baseline, the
    corrected p-value, and the queries won and lost. The text is at most 100 columns wide: long names of models are
    shortened. `columns`, `rows` and `to_frame` have everything.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuples
        A row for each model and metric; names as they were given.
    confidence_level : float
        Of the intervals.
    """

    confidence_level: float = 0.95

    def __str__(self) -> str:
        """A block for each metric, a line for each model."""
        blocks = groupby(zip(self.rows, self._printed().rows, strict=True), key=lambda pair: pair[0][1])
        return "\n\n".join(
            f"{shorten(display_name(metric), WIDTH)}\n{self._block([row for _, row in pairs])}"
            for metric, pairs in blocks
        )

    __repr__ = __str__

    def to_markdown(self) -> str:
        """The printed columns in Markdown.

        Returns
        -------
        str
        """
        return self._printed().to_markdown()

    def to_latex(self) -> str:
        """The printed columns as a LaTeX tabular, with plain rules.

        Returns
        -------
        str
        """
        return self._printed().to_latex()

    def _repr_html_(self) -> str:
        """The printed columns for a notebook."""
        return self._printed()._repr_html_()

    def _printed(self) -> Table:
        """The decisive columns, metrics under the names that the field has for them."""
        places = [self.columns.index(name) for name in PRINTED]
        rows = ([row[place] for place in places] for row in self.rows)
        return Table(PRINTED, tuple((model, display_name(metric), *rest) for model, metric, *rest in rows))

    def _block(self, rows: Sequence[tuple[Any, ...]]) -> Table:
        """One metric, the interval in one column, names of models as long as there is room for them."""
        interval = f"{100 * self.confidence_level:g} % interval"
        names, numbers = [str(row[0]) for row in rows], [_with_interval(*row[2:]) for row in rows]

        def table(width: int) -> Table:
            columns = ("model", "mean", interval, "difference", "p corrected", "won", "lost")
            return Table(columns, tuple((name, *row) for name, row in zip(_short(names, width), numbers, strict=True)))

        room = WIDTH - max(map(len, str(table(len("model"))).splitlines())) + len("model")
        return table(room)


def _with_interval(mean: float, low: float | None, high: float | None, *rest: Any) -> tuple[Any, ...]:
    """The numbers of a row, the ends of the interval as one text."""
    return (mean, None if low is None else f"[{cell(low)}, {cell(high)}]", *rest)


def _short(names: Sequence[str], width: int) -> Iterator[str]:
    """Names of at most this width, with their number in front where they would not differ."""
    short = [shorten(name, width) for name in names]
    if len(set(short)) == len(names):
        return iter(short)
    return (shorten(f"{i} {name}", width) for i, name in enumerate(names, start=1))
