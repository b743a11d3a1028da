"""Small tables as plain text, Markdown, LaTeX, HTML and pandas frames, and results that print as tables."""

from __future__ import annotations

import math
import re
import textwrap
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from numbers import Real
from typing import Any, Self

from sklearn_rank._utils.optional import frame_of
from sklearn_rank._utils.typing import DataFrame

LATEX_SPECIAL = {c: "\\" + c for c in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "|": r"\textbar{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
}
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
"""Characters that control a terminal, end a line, or change the direction of text."""

WIDTH = 100
"""Columns of a terminal that a report may take."""

SHORTEST = 8
"""Characters of a word that is cut to fit, at least."""

VALUE_WIDTH = 24
"""Characters of the value of an attribute where tables are printed."""

MARKUP = re.compile(r"[\\|<`*\[]|(?<!\w)_|_(?!\w)")
"""Characters that Markdown interprets in the cell of a table."""


class LabeledName(str):
    """A name that programs read as it is, and that tables print as its `label`.

    Examples
    --------
    >>> print(Table(("metric", "mean"), ((LabeledName("ndcg@10", "nDCG@10"), 0.5),)))
    metric      mean
    nDCG@10   0.5000
    """

    label: str

    def __new__(cls, name: str, label: str = "") -> Self:
        """Keep the label with the name."""
        self = super().__new__(cls, name)
        self.label = label
        return self


class PValueName(LabeledName):
    """The name of a column of p-values, which print as `pvalue_cell`."""


P, P_CORRECTED, P_OF_FOLDS = (PValueName(name, name) for name in ("p", "p corrected", "p folds"))
"""Names of columns of p-values."""


@dataclass(frozen=True)
class Table:
    """Column names and rows of equal length.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuples
    note : str
        A line under the printed table.

    Examples
    --------
    >>> table = Table(("metric", "mean"), (("ndcg@10", 0.5), ("map", 0.25)))
    >>> print(table)
    metric      mean
    ndcg@10   0.5000
    map       0.2500
    >>> print(table.to_markdown())
    | metric | mean |
    |---|---:|
    | ndcg@10 | 0.5000 |
    | map | 0.2500 |
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    note: str = field(default="", kw_only=True)

    def __str__(self) -> str:
        """Plain text; words are aligned to the left, numbers to the right, closer together in long lines."""
        cells = self._all_cells()
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        gap = "   " if _columns_left(widths, 3) >= 0 else "  "
        return "\n".join([*(_line(row, widths, self._numeric(), gap) for row in cells), *self._note_lines()])

    def _note_lines(self) -> list[str]:
        """The note, in lines that fit a terminal."""
        return textwrap.wrap(printable(self.note), WIDTH)

    __repr__ = __str__

    def fitted(self) -> Table:
        """The table with words cut until its text fits a terminal.

        Returns
        -------
        Table
            The same if it fits, if it cannot be made to fit, or if two words would look alike.
        """
        cells, numeric = self._all_cells(), self._numeric()
        words = [i for i, right in enumerate(numeric) if not right]
        for longest in range(WIDTH, SHORTEST - 1, -1):
            cut = [cells[0], *([_cut(c, i in words, longest) for i, c in enumerate(row)] for row in cells[1:])]
            if _columns_left([max(map(len, column)) for column in zip(*cut, strict=True)], 2) >= 0:
                break
        else:
            return self
        before, after = ({row[i] for row in table[1:] for i in words} for table in (cells, cut))
        if len(after) < len(before):
            return self
        rows = (
            tuple(new if i in words else value for i, (value, new) in enumerate(zip(row, short, strict=True)))
            for row, short in zip(self.rows, cut[1:], strict=True)
        )
        return Table(self.columns, tuple(rows), note=self.note)

    def to_markdown(self) -> str:
        """The table in Markdown."""
        rule = "|" + "|".join("---:" if right else "---" for right in self._numeric()) + "|"
        head, *body = ("| " + " | ".join(map(markdown_text, row)) + " |" for row in self._all_cells())
        note = ["", markdown_text(printable(self.note))] if self.note else []
        return "\n".join([head, rule, *body, *note])

    def to_latex(self) -> str:
        """The table as a LaTeX tabular, with plain rules."""
        spec = "".join("r" if right else "l" for right in self._numeric())
        head, *body = (" & ".join(map(latex_text, row)) + r" \\" for row in self._all_cells())
        lines = [f"\\begin{{tabular}}{{{spec}}}", r"\hline", head, r"\hline", *body, r"\hline", r"\end{tabular}"]
        note = [latex_note(self.note)] if self.note else []
        return "\n".join([*lines, *note])

    def _repr_html_(self) -> str:
        """The table for a notebook."""
        align = ["right" if right else "left" for right in self._numeric()]
        head, *body = (
            "".join(f'<{tag} style="text-align: {a}">{escape(c)}</{tag}>' for a, c in zip(align, row, strict=True))
            for tag, row in zip(["th"] + ["td"] * len(self.rows), self._all_cells(), strict=True)
        )
        rows = "\n".join(f"<tr>{row}</tr>" for row in body)
        note = f"\n<p>{escape(printable(self.note))}</p>" if self.note else ""
        return f"<table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}\n</tbody>\n</table>{note}"

    def to_frame(self) -> DataFrame:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        rows = [[_plain(value) for value in row] for row in self.rows]
        return frame_of(rows, [_plain(name) for name in self.columns])

    def _all_cells(self) -> list[list[str]]:
        written = [pvalue_cell if isinstance(name, PValueName) else cell for name in self.columns]
        rows = ([write(value) for write, value in zip(written, row, strict=True)] for row in self.rows)
        return [[cell(name) for name in self.columns], *rows]

    def _numeric(self) -> list[bool]:
        return [all(isinstance(v, Real) or v is None for v in column) for column in zip(*self.rows, strict=True)] or [
            False
        ] * len(self.columns)


@dataclass(frozen=True, repr=False)
class PartlyPrinted(Table):
    """A table that prints some of its columns; `columns`, `rows` and `to_frame` have everything.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuples
    printed : tuple of str
        Columns that are printed.
    """

    printed: tuple[str, ...] = field(default=(), kw_only=True)

    def __str__(self) -> str:
        """The printed columns, names cut where a line would not fit a terminal."""
        return str(self._printed().fitted())

    __repr__ = __str__

    def to_markdown(self) -> str:
        """The printed columns in Markdown."""
        return self._printed().to_markdown()

    def to_latex(self) -> str:
        """The printed columns as a LaTeX tabular, with plain rules."""
        return self._printed().to_latex()

    def _repr_html_(self) -> str:
        """The printed columns for a notebook."""
        return self._printed()._repr_html_()

    def _printed(self) -> Table:
        places = [self.columns.index(name) for name in self.printed]
        return Table(self.printed, tuple(tuple(row[place] for place in places) for row in self.rows), note=self.note)


class TableReport(ABC):
    """A result that prints as a title and tables, and converts the tables to other formats."""

    @abstractmethod
    def _title(self) -> str:
        """One line that names the result."""

    @abstractmethod
    def _tables(self) -> list[Table]:
        """Tables to print."""

    def _text_tables(self) -> list[Table]:
        """Tables to print as text, where names may have to be shortened."""
        return self._tables()

    def _notes(self) -> list[str]:
        """Lines under the title."""
        return []

    def _head(self) -> list[str]:
        """Lines above the tables."""
        return [self._title(), *self._notes()]

    def _footer(self) -> str:
        """A line under the tables."""
        return ""

    def to_frame(self: Any) -> DataFrame:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        return self.table.to_frame()

    def to_markdown(self) -> str:
        """The printed tables in Markdown, and the line under them."""
        footer = [markdown_text(printable(self._footer()))] if self._footer() else []
        return "\n\n".join([*(table.to_markdown() for table in self._tables()), *footer])

    def to_latex(self) -> str:
        """The printed tables as LaTeX tabulars with plain rules, and the line under them."""
        footer = [latex_note(self._footer())] if self._footer() else []
        return "\n\n".join([*(table.to_latex() for table in self._tables()), *footer])

    def __repr__(self) -> str:
        """The title, the notes, the tables and the line under them."""
        head = [textwrap.fill(printable(line), WIDTH) for line in self._head()]
        footer = [textwrap.fill(printable(self._footer()), WIDTH)] if self._footer() else []
        return "\n".join([*head, "\n\n".join(map(str, self._text_tables())), *footer])

    def _repr_html_(self) -> str:
        """The same for a notebook."""
        head = [f"<p>{escape(printable(line))}</p>" for line in self._head()]
        footer = [f"<p>{escape(printable(self._footer()))}</p>"] if self._footer() else []
        return "\n".join([*head, *(table._repr_html_() for table in self._tables()), *footer])


def cell(value: Any) -> str:
    """Text of a value: four decimals, powers of ten for very small and large numbers, no control characters."""
    if value is None:
        return ""
    if isinstance(value, float):
        if 0 < abs(value) < 5e-5:
            return f"{value:.1e}"
        return f"{value:.4e}" if 1e6 <= abs(value) < math.inf else f"{value:.4f}"
    return printable(value.label if isinstance(value, LabeledName) else str(value))


def pvalue_cell(value: float | None) -> str:
    """Text of a p-value; one too small for a float is not zero."""
    return "< 1e-300" if value is not None and value < 1e-300 else cell(value)


def _plain(value: Any) -> Any:
    return str(value) if isinstance(value, LabeledName) else value


def shorten(text: str, width: int) -> str:
    """Printable text, its middle left out where it is longer than `width`."""
    text = printable(text)
    head = (width - 1) // 2
    return text if len(text) <= width else f"{text[:head]}..{text[head + 2 - width :]}"


def shorten_values(values: Sequence[Any], width: int) -> Iterator[str]:
    """Values of attributes as they are printed; None is all queries."""
    return (shorten("all" if value is None else str(value), width) for value in values)


def with_interval(mean: float | None, low: float | None, high: float | None, *rest: Any) -> tuple[Any, ...]:
    """Cells of a row, the ends of its interval as one text."""
    return (mean, None if low is None else f"[{cell(low)}, {cell(high)}]", *rest)


def printable(text: str) -> str:
    """Escape control characters as Python does."""
    return CONTROL.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def latex_text(text: str) -> str:
    """Text for LaTeX, its special characters escaped."""
    return "".join(LATEX_SPECIAL.get(c, c) for c in text)


def latex_note(text: str) -> str:
    """A small line under a tabular."""
    return rf"\par\smallskip{{\footnotesize {latex_text(printable(text))}\par}}"


def markdown_text(text: str) -> str:
    """Text for a cell of a table in Markdown, its markup escaped."""
    return MARKUP.sub(r"\\\g<0>", text)


def _cut(text: str, is_word: bool, width: int) -> str:
    return shorten(text, width) if is_word else text


def _columns_left(widths: Sequence[int], gap: int) -> int:
    """Columns that are left in a line."""
    return WIDTH - sum(widths) - gap * (len(widths) - 1)


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool], gap: str) -> str:
    aligned = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, numeric, strict=True))
    return gap.join(aligned).rstrip()
