"""Rank items by nearness, a chunk of queries at a time, no deeper than metrics read.

Knows neither features nor labels nor metrics.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import bits as bits_kernels
from sklearn_rank._engine.kernels import nearness as nearness_kernels
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._engine.sparse import Grades, as_queries, cut_rows, drop_self
from sklearn_rank._utils.typing import Index
from sklearn_rank.retrieval._lists import whole_lists
from sklearn_rank.retrieval._similarity import Codes, Similarity, Write

PAIRS = 2**20
"""Pairs of a query and an item per chunk, if memory allows: they fit in the cache."""

BYTES = 100
"""Memory per pair."""

LISTED = 2**22 - 2**10
"""The same for whole lists by numbers: features are read once for all queries of a chunk, which takes most of the time
if there are few. Most arrays are of a query at a time, or of bytes, so that a pair takes half the memory. Of larger
arrays glibc keeps no memory for the next ones, and to clear new pages takes a fifth of the time."""

AHEAD = 2**23
"""Pairs per chunk if only the nearest are kept, if memory allows: ties can keep all of them."""

ROWS = 256
"""Most queries in such a chunk."""

LANES = 4
"""Lanes per item that is asked for."""

TURNS = 4
"""Least number of items that a tile deals out to each lane."""

WORTH = 16
"""Pairs for each that single precision leaves to double: if there are fewer, all are computed in double."""

Tile = tuple[Index, Index, NDArray[Any]]
"""Query, item and nearness of what is kept of a tile."""


def search(similarity: Similarity, grades: Grades, *, without_self: bool, memory: float, n_threads: int) -> LazyQueries:
    """Lists of items for all queries, made lazily; `without_self` leaves item i out of the list of query i."""
    n_queries, n_items = similarity.n_queries, similarity.n_items
    room = memory * 2**20 / BYTES / n_threads
    pairs, listed = int(min(PAIRS, room)), int(min(LISTED, 2 * room)) if similarity.codes is None else 0
    ahead = int(min(AHEAD, room))

    def is_deep(depth: int | None) -> bool:
        return depth is None or 4 * LANES * depth > n_items

    def is_cut(depth: int | None) -> bool:
        return depth is not None and depth < n_items

    def blocks(depth: int | None) -> list[tuple[int, int]]:
        if depth is None or is_deep(depth):
            return cut_rows(n_queries, (pairs if is_cut(depth) else max(pairs, listed)) // n_items)
        _ = similarity.rough  # made once, before threads ask for it
        return cut_rows(n_queries, min(ahead // max(n_items, grades.width), pairs // (TURNS * LANES * depth), ROWS))

    def make(first: int, last: int, depth: int | None) -> Queries:
        rows = slice(first, last)
        if depth is None or is_deep(depth):
            return _whole(similarity, grades, rows, without_self, is_cut(depth))
        query, item, near = nearest(similarity, rows, depth + without_self, pairs)
        if without_self:
            others = item != query + first
            query, item, near = query[others], item[others], near[others]
        label, unlisted = grades.listed(rows, query, item, depth=depth, ranked=True, without_self=without_self)
        indptr = np.append(0, np.cumsum(np.bincount(query, minlength=last - first)))
        return as_queries(label, similarity.score(near), indptr, first, unlisted=unlisted)

    return LazyQueries(np.full(n_queries, n_items - without_self), blocks, make)


def nearest(similarity: Similarity, rows: slice, depth: int, pairs: int) -> Tile:
    """Find the `depth` nearest items of each query and all ties of the last one: query, item, nearness."""
    if similarity.codes is not None:
        return _joined(*_select_codes(similarity.codes, rows, depth, pairs))
    n_items, rough = similarity.n_items, similarity.rough
    if rough is not None:
        slack = rough.slack[rows]
        query, item, _ = _joined(*_select(rough.write, n_items, rows, depth, pairs, np.float32, slack))
        if WORTH * len(query) <= len(slack) * n_items:
            return query, item, rough.of_pairs(query + rows.start, item)
    return _joined(*_select(similarity.write, n_items, rows, depth, pairs, np.float64, 0.0))


def _joined(tiles: list[Tile], bar: NDArray[Any]) -> Tile:
    """What reaches the bar in all tiles, by query."""
    query, item, near = (np.concatenate(x) for x in zip(*tiles, strict=True))
    kept = np.flatnonzero(near >= bar[query])
    kept = kept[np.argsort(query[kept], kind="stable")]
    return query[kept], item[kept], near[kept]


def _select(
    write: Write, n_items: int, rows: slice, depth: int, pairs: int, dtype: type, slack: NDArray[Any] | float
) -> tuple[list[Tile], NDArray[Any]]:
    """Items of each tile that may be among the nearest, and what the nearest of each query reach.

    Distribute items over lanes; the depth-th largest lane maximum is a lower bound for the depth-th nearest item. If
    each nearness may be wrong by `slack`, it may be as much lower, and the item by as much nearer.
    """
    n_queries, n_lanes = rows.stop - rows.start, max(LANES * depth, 256)
    width = max(pairs // n_queries // n_lanes, 1) * n_lanes
    room, near = np.empty((2, n_queries * width), dtype=dtype)
    query, item = np.empty((2, n_queries * width), dtype=np.int64)
    best, tiles = np.full((n_queries, n_lanes), -np.inf, dtype=dtype), []
    for start in range(0, n_items, width):
        stop = min(start + width, n_items)
        tile = room[: n_queries * (stop - start)].reshape(n_queries, -1)
        write(rows, slice(start, stop), tile)
        if not nearness_kernels.widen_lanes(tile, best):
            refuse_infinite(tile, rows)
        reached = np.partition(best, n_lanes - depth, axis=1)[:, n_lanes - depth]
        bar: NDArray[Any] = np.ascontiguousarray(reached - 2.0 * slack, dtype=dtype)
        n = nearness_kernels.select_near(tile, bar, start, query, item, near)
        tiles.append((query[:n].copy(), item[:n].copy(), near[:n].copy()))
    return tiles, bar


def _select_codes(codes: Codes, rows: slice, depth: int, pairs: int) -> tuple[list[Tile], NDArray[Any]]:
    """The same for codes, whose nearness is looked at as it is counted, and not kept."""
    queries, items = codes
    n_queries, n_items, n_bits = rows.stop - rows.start, len(items), 64 * items.shape[1]
    width = min(max(pairs // n_queries, 1), n_items)
    query, item = np.empty((2, n_queries * width), dtype=np.int64)
    near = np.empty(n_queries * width, dtype=np.uint16)
    count, (bar, n_above) = np.zeros((n_queries, n_bits + 1), dtype=np.int64), np.zeros((2, n_queries), dtype=np.int64)
    tiles = []
    for start in range(0, n_items, width):
        stop = min(start + width, n_items)
        n = bits_kernels.select_codes(queries[rows], items, start, stop, depth, count, bar, n_above, query, item, near)
        tiles.append((query[:n].copy(), item[:n].copy(), near[:n].copy()))
    return tiles, bar


def refuse_infinite(tile: NDArray[np.float64], rows: slice) -> None:
    """Refuse a tile of nearness in which an entry is not finite.

    Raises
    ------
    ValueError
        Naming the first query.
    """
    wrong = ~np.isfinite(tile).all(axis=1)
    if wrong.any():
        at = rows.start + np.argmax(wrong)
        raise ValueError(f"Distances must be finite. Got one that is not, to query {at}.")


def _whole(similarity: Similarity, grades: Grades, rows: slice, without_self: bool, is_cut: bool) -> Queries:
    """Queries with a row for each item, sorted unless only their heads are read."""
    n_queries, n_bits = rows.stop - rows.start, similarity.n_bits
    near = np.empty((n_queries, similarity.n_items), dtype=similarity.dtype)
    label: NDArray[Any] = np.empty(near.shape, dtype=np.float64 if n_bits is None and is_cut else grades.dtype)
    similarity.write(rows, slice(0, similarity.n_items), near)
    if n_bits is None and not similarity.is_finite:
        refuse_infinite(near, rows)
    grades.write(rows, label)
    if without_self:
        near, label = drop_self(near, rows.start), drop_self(label, rows.start)
    indptr = np.arange(n_queries + 1) * near.shape[1]
    if n_bits is not None:
        return whole_lists(near, label, indptr, rows.start)
    if is_cut:
        return as_queries(label.ravel(), near.ravel(), indptr, rows.start)
    return whole_lists(near, label, indptr, rows.start)
