"""A small table of results: plain text on a terminal, a pandas frame on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Table:
    """Column names and rows of equal length.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuples

    Examples
    --------
    >>> print(Table(("metric", "mean"), (("ndcg@10", 0.5), ("map", 0.25))))
    metric      mean
    ndcg@10   0.5000
    map       0.2500
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]

    def __str__(self) -> str:
        """Text with words to the left and numbers to the right."""
        cells = [[_cell(value) for value in row] for row in self.rows]
        widths = [max(map(len, column)) for column in zip(self.columns, *cells, strict=True)]
        numeric = [not isinstance(v, str) for v in self.rows[0]] if self.rows else [False] * len(widths)
        lines = [_line(row, widths, numeric) for row in ([*self.columns], *cells)]
        return "\n".join(lines)

    __repr__ = __str__

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame; needs the extra "pandas"."""
        return import_pandas().DataFrame(list(self.rows), columns=list(self.columns))


def import_pandas() -> Any:
    """Pandas, or an ImportError that names the extra to install."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError('A frame needs pandas: pip install "sklearn-rank[pandas]".') from error
    return pandas


def _cell(value: Any) -> str:
    if not isinstance(value, float):
        return str(value)
    return f"{value:.4f}" if value == 0 or abs(value) >= 0.00005 else f"{value:.1e}"


def _line(cells: Sequence[str], widths: Sequence[int], numeric: Sequence[bool]) -> str:
    aligned = (c.rjust(w) if right else c.ljust(w) for c, w, right in zip(cells, widths, numeric, strict=True))
    return "   ".join(aligned).rstrip()
