"""Rank items by distance, a chunk of queries at a time, no deeper than metrics read.

Knows neither features nor labels nor metrics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._engine.read import summary_of
from sklearn_rank._engine.sparse import Grades, as_queries, drop_self
from sklearn_rank._utils.blocks import SEARCHED_PAIRS, cut_rows
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.retrieval._distances import Distances

BYTES_PER_PAIR = 100
"""Memory per pair."""

LANES_PER_ITEM = 4
"""Lanes per item that is asked for."""

LEAST_LANES = 256
"""Least number of lanes: NumPy takes the minima of many of them at once."""

WORTH = 16
"""Least number of items for each that is asked for: else whole lists are ranked. The same for each that may be among
the nearest: else distances are not computed once more pair by pair."""


def search(
    distances: Distances, grades: Grades, *, without_self: bool, memory: float, n_threads: int
) -> LazyQueries:  # fmt: skip
    """Lists of items for all queries, made lazily; `without_self` leaves item i out of the list of query i."""
    n_queries, n_items = distances.n_queries, distances.n_items
    n_rows = int(min(SEARCHED_PAIRS, memory * 2**20 / BYTES_PER_PAIR / n_threads)) // n_items

    def make(first: int, last: int, depth: int | None) -> Queries:
        rows = slice(first, last)
        if depth is None or WORTH * depth > n_items:
            return whole_lists(distances.of(rows), grades, rows, without_self)
        query, item, near = nearest(distances, rows, depth + without_self)
        if without_self:
            others = item != query + first
            query, item, near = query[others], item[others], near[others]
        label, unlisted = grades.listed(rows, query, item, depth=depth, ranked=True, without_self=without_self)
        grouping = Grouping.by_sizes(np.bincount(query, minlength=last - first), first_query=first)
        return as_queries(label, 0.0 - near, grouping, unlisted=unlisted)

    grouping = Grouping.by_matrix(np.arange(n_queries), n_items - without_self)
    return LazyQueries(grouping, lambda depth: cut_rows(n_queries, n_rows), make)


# --- the nearest items ---------------------------------------------------------------------------------------


def nearest(distances: Distances, rows: slice, depth: int) -> tuple[Index, Index, NDArray[Any]]:
    """Find the `depth` nearest items of each query, all ties of the last one and a few more: query, item, distance.

    Items are dealt out to lanes. The `depth` nearest lanes have an item each that is no further away than the last of
    them, so neither is the last item that is asked for. If a distance may be off by `slack`, that one may be as much
    further away, and another item as much nearer. Distances in float32, if there are some, leave so few candidates
    that pairs are compared one by one in float64, or are made anew in float64.
    """
    if distances.narrow is not None and distances.of_pairs is not None:
        of, slack = distances.narrow
        distance = of(rows)
        # As far again, so that no candidate of float64 is missing.
        query, item = _candidates(distance, slack[rows], depth, 3.0)
        if WORTH * len(query) <= distance.size:
            return query, item, distances.of_pairs(query + rows.start, item)
    distance = distances.of(rows)
    query, item = _candidates(distance, None if distances.slack is None else distances.slack[rows], depth, 2.0)
    if distances.of_pairs is None or WORTH * len(query) > distance.size:
        return query, item, distance[query, item]
    return query, item, distances.of_pairs(query + rows.start, item)


def _candidates(distance: NDArray[Any], slack: Array | None, depth: int, n_slack: float) -> tuple[Index, Index]:
    """Query and item of the pairs that may be among the nearest."""
    n_queries, n_items = distance.shape
    n_lanes = min(max(LANES_PER_ITEM * depth, LEAST_LANES), n_items)
    n_dealt = n_items // n_lanes * n_lanes
    lanes = distance[:, :n_dealt].reshape(n_queries, -1, n_lanes).min(axis=1)
    bar = np.partition(lanes, depth - 1, axis=1)[:, depth - 1 : depth]
    if slack is not None:
        # Rounded up in float32.
        bar = np.nextafter((bar + n_slack * slack[:, None]).astype(distance.dtype), distance.dtype.type(np.inf))
    query, item = np.divmod(np.flatnonzero(distance <= bar), n_items)
    return query, item


# --- whole lists ---------------------------------------------------------------------------------------------


def whole_lists(distance: NDArray[Any], grades: Grades, rows: slice, without_self: bool) -> Queries:
    """Queries with a row for each item."""
    label: NDArray[Any] = np.empty(distance.shape, dtype=grades.dtype)
    grades.write(rows, label)
    if without_self:
        distance, label = drop_self(distance, rows.start), drop_self(label, rows.start)
    n_queries, n_items = label.shape
    grouping = Grouping.by_matrix(np.arange(n_queries), n_items, rows.start)
    # Whole numbers of two bytes are exact in float32, which takes half the memory.
    score = np.subtract(0, distance, dtype=np.float32 if distance.dtype.itemsize <= 2 else np.float64).ravel()
    summary, labels, _ = summary_of(label.ravel(), score)
    return Queries(labels, grouping, None, summary, score=score)
