"""Blocks of rows that fit the cache, and threads to run them on. Knows nothing of ranking."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from numbers import Integral

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import NDArray

BLOCK_ROWS = 2**17


def check_n_jobs(n_jobs: object) -> None:
    """Refuse what joblib would, but also where there is too little to do to ask it.

    Raises
    ------
    ValueError
        If `n_jobs` is neither None nor an int other than 0.
    """
    if n_jobs is not None and (not isinstance(n_jobs, Integral) or isinstance(n_jobs, bool) or n_jobs == 0):
        raise ValueError(f"The 'n_jobs' parameter must be an int other than 0, or None. Got {n_jobs!r} instead.")


def row_blocks(n_rows: int) -> list[tuple[int, int]]:
    """Cut rows into (start, stop) pieces of at most `BLOCK_ROWS`."""
    return [(a, min(a + BLOCK_ROWS, n_rows)) for a in range(0, n_rows, BLOCK_ROWS)]


def query_blocks(indptr: NDArray[np.int64]) -> list[tuple[int, int]]:
    """Cut queries into (first, last) pieces of about `BLOCK_ROWS` rows; no query is cut."""
    starts = np.searchsorted(indptr[:-1], np.arange(0, max(indptr[-1], 1), BLOCK_ROWS))
    edges = np.unique(np.append(starts, [0, len(indptr) - 1])).tolist()
    return list(zip(edges[:-1], edges[1:], strict=True))


def for_each(function: Callable[[int, int], object], blocks: Iterable[tuple[int, int]], n_jobs: int | None) -> None:
    """Call ``function(start, stop)`` for each block, on as many threads as joblib's `n_jobs` means."""
    blocks = list(blocks)
    n_threads = min(effective_n_jobs(n_jobs), len(blocks)) if len(blocks) > 1 else 1
    if n_threads == 1:
        for block in blocks:
            function(*block)
        return
    with ThreadPoolExecutor(n_threads) as pool:
        for _ in pool.map(lambda block: function(*block), blocks):
            pass
