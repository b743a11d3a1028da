"""Numbers, names and lists of them as text; on pages, every text from the data passes through `visible`."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sklearn_rank._utils.table import cell

LONGEST_NAME, LONGEST_TEXT = 200, 300
"""Maximum number of characters of an id or a name, and of the text of a document or a query."""

MOST_CANDIDATES = 4
"""Number of systems that a sentence names."""

MINUS = "\N{MINUS SIGN}"

Parts = list[tuple[str, str]]
"""A sentence in parts: "" is plain text, "name" comes from the data, "+" and "-" are a gain and a loss."""


def visible(value: Any, longest: int = LONGEST_NAME) -> str:
    r"""Escape invisible characters in text from the data: controls, direction marks, zero width, surrogates.

    Examples
    --------
    >>> print(visible("safe\u202egpj"), visible(" "), visible("x" * 300, 4))
    safe\u202egpj " " xxx…
    """
    text = str(value)
    if len(text) > longest:
        text = f"{text[: longest - 1]}…"
    text = escaped(text)
    return text if text and not text[0].isspace() and not text[-1].isspace() else f'"{text}"'


def escaped(text: str) -> str:
    """The text with escapes for invisible characters."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def visible_text(value: Any) -> str:
    """The text of a document or a query on a single line."""
    words = "" if value is None else " ".join(str(value).split())
    return visible(words, LONGEST_TEXT) if words else ""


def number(x: float | None, *, signed: bool = False) -> str:
    """A number with the decimals of printed tables, and a typographic minus."""
    if x is None or math.isnan(x):
        return ""
    text = cell(float(x) or 0.0).replace("-", MINUS)
    return f"+{text}" if signed and x > 0 else text


def p_value(p: float | None) -> str:
    """A p-value with four decimals."""
    return "" if p is None or math.isnan(p) else "< 0.0001" if p < 1e-4 else f"{p:.4f}"


def p_in_words(p: float | None) -> str:
    """A p-value for a sentence; "" if there is none."""
    written = p_value(p)
    return f"p {written}" if written.startswith("<") else f"p = {written}" if written else ""


def between(low: float | None, high: float | None, *, signed: bool = False) -> str:
    """An interval in words: "0.1 to 0.2"."""
    return "" if low is None or high is None else f"{number(low, signed=signed)} to {number(high, signed=signed)}"


def listed(names: list[str]) -> str:
    """Join names for a sentence: "a, b and c"."""
    return " and ".join([*([", ".join(names[:-1])] if names[1:] else []), *names[-1:]])


def sign_of(x: float) -> str:
    """Kind of the part of a sentence for a gain."""
    return "+" if x > 0 else "-" if x < 0 else ""


def without_last_zeros(x: float) -> str:
    """A grade or a rank without trailing zeros."""
    return f"{x:g}".replace("-", MINUS)


def plain(parts: Parts) -> str:
    """Join the parts of a sentence to plain text."""
    return "".join(visible(text) if kind == "name" else escaped(text) for kind, text in parts)


def named(names: Sequence[str], last: str = " and ") -> Parts:
    """Parts of a sentence that name systems: "a, b and c", or "a, b, c, d and 3 others"."""
    first, others = [*names[:MOST_CANDIDATES]], len(names) - MOST_CANDIDATES
    parts: Parts = [("name", name) for name in first]
    if others > 0:
        parts.append(("", f"{others} other{'s' * (others > 1)}"))
    commas = [("", ", ")] * (len(parts) - 2) + [("", last)] * (len(parts) > 1)
    return [part for i, one in enumerate(parts) for part in (*commas[i - 1 : i] * (i > 0), one)]


def count_of(counts: Sequence[int], n_queries: int) -> str:
    """Format the range of numbers of queries: "400", "20 of 100", "2 to 4 of 9"."""
    least, most = min(counts), max(counts)
    some = str(most) if least == most else f"{least} to {most}"
    return some if least == n_queries else f"{some} of {n_queries}"


def written_count(n: int | tuple[int, int]) -> int | str:
    """Number of queries, or "12 and 15" if each system has its own queries."""
    return " and ".join(map(str, n)) if isinstance(n, tuple) else n


def ends_of(interval: tuple[float, float]) -> tuple[float | None, float | None]:
    """Cells of an interval; empty without an interval."""
    return (None, None) if math.isnan(interval[0]) else interval


def level_in_words(level: float) -> str:
    """Head of a column of intervals: "95 % interval"."""
    return f"{100 * level:g} % interval"


def in_clusters(clusters: Any) -> str:
    """The number of distinct clusters, after a number of queries; "" without clusters."""
    return "" if clusters is None else f" in {len({*clusters.tolist()})} clusters"
