"""Rows of results in the format that was asked for."""

from __future__ import annotations

import csv
import json
import math
import sys
from typing import Any

from sklearn_rank._table import Table

FORMATS = ["table", "csv", "json", "markdown", "latex"]


def show(columns: tuple[str, ...], rows: list[tuple[Any, ...]], nested: dict[str, Any], form: str) -> None:
    """Print rows, or for JSON what is nested: with all digits in CSV and JSON, four decimals elsewhere."""
    table = Table(columns, tuple(rows))
    if form == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerows([columns, *rows])
    elif form == "json":
        print(json.dumps(_without_nan(nested), indent=1))
    else:
        print(table.to_markdown() if form == "markdown" else table.to_latex() if form == "latex" else table)


def _without_nan(value: Any) -> Any:
    """The same, undefined and infinite numbers being null, as JSON has none."""
    if isinstance(value, dict):
        return {str(name): _without_nan(item) for name, item in value.items()}
    if isinstance(value, list):
        return [_without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
