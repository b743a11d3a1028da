"""Intervals of results, comparisons and segments in tables, and what a note under them says."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.value_bounds import UNBOUNDED, bounds_of
from sklearn_rank._utils.typing import Array


def note_of_intervals(skewed: Sequence[str], constant: Sequence[str] = ()) -> str:
    """Note under the intervals of metrics: which may not keep their level, and which have no width."""
    from sklearn_rank._estimates.intervals import skew_note, width_note  # loads scipy.stats

    notes = [
        note([*map(display_name, names)]) for note, names in ((skew_note, skewed), (width_note, constant)) if names
    ]
    return " ".join(notes)


def note_of_rates(result: Any, names: Sequence[str]) -> str:
    """Note under means of segments: clusters or weights leave success rates an interval that rare events make short."""
    rates = [display_name(name) for name in names if result.is_binary[name] and result.average[name] == "macro"]
    if not rates or (result.clusters is None and result.weight is None):
        return ""
    which = "clusters" if result.weight is None else "weights"
    return f"With {which} the interval of {', '.join(rates)} may be too short if hits or misses are rare."


def has_no_width(low: float | None, high: float | None) -> bool:
    """Whether an interval is a point."""
    return low is not None and low == high


def interval_cells(intervals: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float | None, float | None]]:
    """Confidence intervals for a table; cells are empty where there is none."""
    return {name: (None, None) if math.isnan(low) else (low, high) for name, (low, high) in intervals.items()}


def cut(interval: tuple[float, float], name: str, meaning: str, values: Array) -> tuple[float, float]:
    """Cut the interval of a mean at the bounds of the metric."""
    lowest, highest = bounds_of_values(name, meaning, values)
    return max(interval[0], lowest), min(interval[1], highest)


def bounds_of_values(name: str, meaning: str, values: Array) -> tuple[float, float]:
    """Bounds of a metric by its name and meaning; infinite if unknown, or if a value is outside."""
    (low, high), known = bounds_of(name, meaning), values[~np.isnan(values)]
    return (float(low), float(high)) if ((known >= low) & (known <= high)).all() else UNBOUNDED
