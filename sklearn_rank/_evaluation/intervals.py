"""Intervals of results, comparisons and segments in tables, and the note under them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np

from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.value_bounds import UNBOUNDED, bounds_of
from sklearn_rank._utils.typing import Array


def note_of_intervals(notes: Iterable[tuple[str, str]]) -> str:
    """Sentences under the intervals of metrics, given the name of each metric with the note of an interval."""
    from sklearn_rank._estimates.intervals import NOT_SEEN, SKEWED, skew_note, unseen_note  # loads scipy.stats

    named: dict[str, dict[str, None]] = {SKEWED: {}, NOT_SEEN: {}, "": {}}
    for metric, note in notes:
        named[note][display_name(metric)] = None
    sentences = ((skew_note, named[SKEWED]), (unseen_note, named[NOT_SEEN]))
    return " ".join(sentence([*names]) for sentence, names in sentences if names)


def interval_cells(intervals: Mapping[str, tuple[float, float]]) -> dict[str, tuple[float | None, float | None]]:
    """Confidence intervals for a table; cells are empty where there is none."""
    return {name: (None, None) if math.isnan(low) else (low, high) for name, (low, high) in intervals.items()}


def bounds_of_values(name: str, meaning: str, values: Array) -> tuple[float, float]:
    """Bounds of a metric by its name and meaning; infinite if unknown, or if a value is outside."""
    (low, high), known = bounds_of(name, meaning), values[~np.isnan(values)]
    return (float(low), float(high)) if ((known >= low) & (known <= high)).all() else UNBOUNDED
