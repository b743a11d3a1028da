"""Data of the page in JSON, for its script: values of queries in whole millionths, and lists of documents."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._report.content import Content, ListsOfQuery
from sklearn_rank._report.pictures import chosen
from sklearn_rank._report.text import number, visible, visible_text, without_last_zeros
from sklearn_rank._utils.typing import Array, Index

MOST_KEPT_VALUES = 1_000_000
"""Maximum number of values of queries, systems and metrics."""

MOST_FILTERED = 200
"""Maximum number of values of an attribute for a filter of the table of queries."""

UNITS = 1_000_000
"""Values are integers in this unit: a hundredth of the last displayed digit."""

Millionths = NDArray[np.float64]
"""Integers as floats; NaN for a missing value."""


def kept_queries(content: Content) -> Index:
    """Queries to keep: all, or half with the largest gains and half with the largest losses by the first metric."""
    n = len(content.ids)
    most = MOST_KEPT_VALUES // (len(content.systems) * len(content.metrics))
    if n <= most:
        return np.arange(n)
    gain, kept = content.gain(content.shown, 0), np.zeros(n, bool)
    order = np.argsort(gain, kind="stable")[: np.count_nonzero(~np.isnan(gain))]
    kept[order[: most // 2]] = kept[order[-(most // 2) :]] = True
    return np.flatnonzero(kept)


def as_shown(x: Array) -> Millionths:
    """The four printed decimals of each number, as an integer."""
    scaled = x * 1e4
    rounded = np.rint(scaled)
    # If the product is near a half, its rounding error may decide; Python formats the exact decimals.
    for i in np.flatnonzero(np.abs(np.abs(scaled - np.floor(scaled)) - 0.5) < 1e-4).tolist():
        rounded[i] = int(f"{x[i]:.4f}".replace(".", ""))
    return rounded


def shown_as(millionths: Millionths) -> Millionths:
    """The four decimals that the script shows, as an integer."""
    return np.sign(millionths) * ((np.abs(millionths) + 50) // 100)


def in_millionths(x: Array, base: Array | None = None, base_in_millionths: Millionths | None = None) -> Millionths:
    """Values for which the script shows the printed decimals, also of the differences from the baseline."""
    x = np.where(np.isfinite(x), x, np.nan)
    near, own = np.rint(x * UNITS), as_shown(x)
    found, is_good = near.copy(), np.zeros(len(x), bool)
    difference = None if base is None else as_shown(x - base)
    for goal in (difference, None):
        for step in (0, 1, -1, 2, -2):
            fits = shown_as(near + step) == own
            if goal is not None and base_in_millionths is not None:
                fits &= shown_as(near + step - base_in_millionths) == goal
            found = np.where(fits & ~is_good, near + step, found)
            is_good |= fits
    return found


def ascii_json(data: Any) -> str:
    """JSON in ASCII that cannot end an HTML element."""
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def payload(content: Content, kept: Index, *, with_texts: bool, with_lists: bool) -> dict[str, Any]:
    """Return all data for the script."""
    values: list[list[list[int | None]]] = [[] for _ in content.systems]
    for metric in range(len(content.metrics)):
        at = content.baseline
        base = None if at is None else content.values[at, metric][kept]
        in_base = None if base is None else in_millionths(base)
        for system, columns in enumerate(values):
            of_system = content.values[system, metric][kept]
            whole = in_base if system == at and in_base is not None else in_millionths(of_system, base, in_base)
            columns.append(_whole(whole))
    several = [i for i in range(len(content.systems)) if i != content.baseline]
    data: dict[str, Any] = {
        "systems": [*map(visible, content.systems)], "base": content.baseline, "shown": content.shown,
        "metrics": [*map(visible, content.metrics)], "up": content.greater_is_better, "depth": content.depth,
        "total": len(content.ids), "ids": [visible(content.ids[i]) for i in kept.tolist()], "values": values,
        "counts": {str(s): [_counts(content.gain(s, m)) for m in range(len(content.metrics))] for s in several},
        "by": [_attribute(one.name, one.values, one.of_query[kept]) for one in content.attributes],
        "why": content.why_no_lists,
    }  # fmt: skip
    if len(kept) < len(content.ids):
        data["drawn"] = {str(s): [_drawn(content.gain(s, m)) for m in range(len(content.metrics))] for s in several}
    if with_texts and content.query_text is not None:
        data["queries"] = [visible_text(content.query_text(content.ids[i])) for i in kept.tolist()]
    if with_lists and content.lists:
        data |= _lists(content, kept, with_texts=with_texts)
    return data


def _whole(x: Millionths) -> list[int | None]:
    return [None if math.isnan(one) else int(one) for one in x.tolist()]


def _counts(gain: Array) -> list[int]:
    """Numbers of queries better, equal and worse."""
    return [int((gain > 0).sum()), int((gain == 0).sum()), int((gain < 0).sum())]


def _drawn(gain: Array) -> list[int | None]:
    """Gains in the plot, the largest first."""
    ordered = -np.sort(-gain[~np.isnan(gain)])
    return _whole(in_millionths(ordered[chosen(len(ordered))]))


def _attribute(name: str, values: Sequence[Any], of_query: Index) -> dict[str, Any]:
    return {"name": visible(name), "values": [*map(visible, values)], "of": of_query.tolist(),
            "filtered": len(values) <= MOST_FILTERED}  # fmt: skip


def _lists(content: Content, kept: Index, *, with_texts: bool) -> dict[str, Any]:
    """Lists by query and system, and their documents, each once."""
    at = {query: i for i, query in enumerate(kept.tolist())}
    documents: dict[Any, int] = {}
    lists: dict[str, dict[str, Any]] = {}
    for (query, system), found in content.lists.items():
        if query in at:
            lists.setdefault(str(at[query]), {})[str(system)] = _list(found, documents)
    grades = [one.grade for found in content.lists.values() for one in found.documents if one.grade is not None]
    data = {"lists": lists, "documents": [*map(visible, documents)], "top": max([*grades, 1.0])}
    if with_texts and content.text is not None:
        data["texts"] = [visible_text(content.text(document)) for document in documents]
    return data


def _list(found: ListsOfQuery, documents: dict[Any, int]) -> dict[str, Any]:
    rows = [
        [documents.setdefault(one.id, len(documents)), *map(_word, (one.grade, one.old, one.new)),
         number(one.contribution, signed=True) if one.contribution else ""]
        for one in found.documents
    ]  # fmt: skip
    return {"why": [[kind, visible(text) if kind == "name" else text] for kind, text in found.why], "rows": rows,
            "n": found.n_documents, "neither": found.n_neither, "sum": found.is_sum}  # fmt: skip


def _word(x: float | None) -> Any:
    """A grade or a rank, as a number if possible, so that the script can compare it."""
    return None if x is None else int(x) if float(x).is_integer() else float(without_last_zeros(x).replace("−", "-"))
