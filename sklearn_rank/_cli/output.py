"""Output of rows in one of the formats."""

from __future__ import annotations

import csv
import io
import json
import math
import sys
from typing import Any

from sklearn_rank._utils.numbers import is_number
from sklearn_rank._utils.storage import replacing
from sklearn_rank._utils.table import Table, printable

FORMULA = ("=", "+", "-", "@")
"""First characters of cells that a spreadsheet treats as formulas."""

FORMATS = ["table", "csv", "json", "markdown", "latex"]


def show(
    columns: tuple[str, ...], rows: list[tuple[Any, ...]], nested: dict[str, Any], form: str, *, fit: bool = False,
    note: str = "",
) -> None:  # fmt: skip
    # A note goes to standard error on a terminal, so that programs read only rows.
    put(_text(Table(columns, tuple(rows), note="" if form == "table" else note), nested, form, fit))
    if form == "table" and note:
        tell(note)


def records(table: Table) -> list[dict[str, Any]]:
    """Rows of a table, by column."""
    return [dict(zip(table.columns, row, strict=True)) for row in table.rows]


def by_first(table: Table) -> dict[str, dict[str, Any]]:
    """Other columns of each row, by the value of the first."""
    return {row[0]: dict(zip(table.columns[1:], row[1:], strict=True)) for row in table.rows}


def show_result(found: Any, table: Table, nested: dict[str, Any], form: str) -> None:
    """Print a result in its own words, or its table as CSV and `nested` as JSON."""
    if form in ("csv", "json"):
        show(table.columns, [*table.rows], nested, form, fit=True)
    else:
        put({"markdown": found.to_markdown, "latex": found.to_latex}.get(form, found.__str__)())


def write_json(nested: dict[str, Any], path: str | None) -> None:
    if path is not None:
        with replacing(path) as file:
            file.write(f"{as_json(nested)}\n".encode())


def put(text: Any) -> None:
    try:
        print(text, flush=True)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise OSError(f"Results go to the standard output, which must take all of them. Got {error}.") from None


def _text(table: Table, nested: dict[str, Any], form: str, fit: bool) -> Table | str:
    if form == "csv":
        file = io.StringIO()
        writer = csv.writer(file, lineterminator="\n")
        writer.writerows([_safe(value) for value in row] for row in [table.columns, *table.rows])
        return file.getvalue().removesuffix("\n")
    if form == "json":
        return as_json(nested)
    if form == "markdown":
        return table.to_markdown()
    if form == "latex":
        return table.to_latex()
    return table.fitted() if fit else table


def as_json(nested: Any) -> str:
    """Format numbers with all digits; undefined and infinite numbers become null."""
    return json.dumps(_without_nan(nested), indent=1)


def tell(text: str) -> None:
    print(printable(text), file=sys.stderr)


def _safe(value: Any) -> Any:
    """Text of a cell, with an apostrophe in front if a spreadsheet would treat it as a formula."""
    if not isinstance(value, str):
        return value
    text = printable(value)
    return f"'{text}" if text.startswith(FORMULA) and not is_number(text) else text


def _without_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
