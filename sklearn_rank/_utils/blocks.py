"""Rows and queries cut into blocks, in three ways, and the sizes of all blocks."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from sklearn_rank._utils.threads import effective_n_jobs
from sklearn_rank._utils.typing import Index

BLOCK_ROWS = 2**17
"""Rows that are worth a thread, and rows of a data set that are read at a time."""

FEW_ARRAYS, SOME_ARRAYS, MANY_ARRAYS = 2.0, 1.5, 0.75
"""Most `BLOCK_ROWS` of a block that a thread computes: smaller blocks stay in the cache if many arrays are made of
them, larger blocks are fewer."""

CACHED_ROWS = 2**14
"""Rows whose keys or hashes stay in the cache, in memory that was used before, until they are numbered or summed."""

CACHED_NUMBERS = 2**17
"""Numbers of features that are copied at a time, to measure their vectors: the copy stays in the cache."""

COLLECTED_ROWS = 2**18
"""Rows of small batches that are collected before they are evaluated, or sorted and written: they fit in the cache, and
a read of each part of them pays."""

ROWS_IN_MEMORY = 2**20
"""Rows that are built together, because each pair of a query and a document needs one, or each change of a list the
whole list: they take tens of MiB."""

NUMBERS_IN_MEMORY = 2**22
"""Numbers of one array of users by columns, or of resamples by values: it takes 32 MiB."""

SEARCHED_PAIRS = 2**22 - 2**10
"""Pairs of a query and an item whose distances are computed together, if memory allows: glibc keeps no memory of larger
arrays for the next block."""

SCANNED_PAIRS, SCANNED_QUERIES, SCANNED_ITEMS = 2**19, 2**9, 2**12
"""Pairs of a query and an item that are searched for the nearest at a time, in the cache, and most of their queries and
items."""

PREDICTED_PAIRS = 2**17
"""Pairs of users and items that a model predicts at a time: it may need hundreds of bytes for each."""

COMPARED_PAIRS = 2**12
"""Pairs of a query and an item that are compared one by one: the features of both are copied."""

CHECKED_CODES = 2**16
"""Rows of binary codes that are checked and packed at a time: each step copies them."""

USERS_COUNTED = 2**10
"""Users whose excluded items are counted at a time: a user can have excluded as many items as there are."""


def cut_rows(stop: int, size: int, start: int = 0) -> list[tuple[int, int]]:
    """Cut rows into (first, last) blocks of `size` rows, at least one; the last block may be shorter."""
    size = max(int(size), 1)
    return [(a, min(a + size, int(stop))) for a in range(int(start), int(stop), size)]


def cut_queries(indptr: Index, size: int) -> list[tuple[int, int]]:
    """Cut queries into (first, last) blocks of `size` rows; a block may exceed it by less than its last query."""
    return _between(indptr, np.arange(0, indptr[-1] + 1, size))


def thread_blocks(
    rows: int | Index, n_jobs: int | None = None, *, largest: float = FEW_ARRAYS
) -> list[tuple[int, int]]:
    """Cut rows, or queries of an `indptr`, into (first, last) blocks of equally many rows, as many for every thread."""
    n_rows, n_items = (int(rows[-1]), len(rows) - 1) if isinstance(rows, np.ndarray) else (rows, rows)
    if is_one_block(n_rows):
        return [(0, n_items)]
    n_threads = min(effective_n_jobs(n_jobs), -(-n_rows // BLOCK_ROWS))
    n_blocks = -(-n_rows // (int(largest * BLOCK_ROWS) * n_threads)) * n_threads
    edges = [i * n_rows // n_blocks for i in range(n_blocks + 1)]
    return _between(rows, edges[:-1]) if isinstance(rows, np.ndarray) else [*pairwise(edges)]


def is_one_block(n_rows: int) -> bool:
    """Whether so many rows are not worth a second thread."""
    return n_rows <= BLOCK_ROWS


def _between(indptr: Index, edges: list[int] | Index) -> list[tuple[int, int]]:
    """Queries from (first, last) between the rows at the edges, without empty blocks."""
    return [*pairwise(sorted({0, len(indptr) - 1, *indptr[:-1].searchsorted(edges).tolist()}))]
