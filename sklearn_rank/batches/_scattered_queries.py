"""Whole queries from batches with rows in any order: partition rows on disk until each part fits in memory.

Rows are partitioned by the base-64 digits of their query number. Ids in the results are these numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sklearn_rank._chunks.adjacent_queries import queries_of_rows
from sklearn_rank._chunks.batch_validator import Rows
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.queries import Queries
from sklearn_rank.batches._spool import Extent, Records, Spool, pieces

BASE = 64
"""Parts that rows are divided into at a time, one for each digit."""

MEMORY_SHARE = 5
"""Ratio of the memory that rows take while they are divided or evaluated to what they take on disk."""


def scattered_queries(
    batches: Iterable[Rows], n_queries: Callable[[], int], memory_limit: int, folder: Any, n_jobs: int | None
) -> Iterator[Queries]:
    """Yield whole queries; `n_queries` returns the number of queries so far."""
    for records in _divided(map(_records, batches), n_queries, memory_limit, folder, 0):
        label, score = (np.ascontiguousarray(records[name]) for name in ("label", "score"))
        number, indptr, order = group_rows(np.ascontiguousarray(records["number"]), len(records))
        del records
        yield queries_of_rows(Rows(label, score, indptr, order, number), n_jobs)


def _records(rows: Rows) -> Records:
    """Rows in the order of the batch with the number of their query."""
    kinds: list[Any] = [("number", "u4"), ("score", "f8"), ("label", "f8", rows.label.shape[1:])]
    records = np.empty(len(rows.score), dtype=kinds)
    number = np.repeat(rows.number, np.diff(rows.indptr))
    records["label"], records["score"] = rows.label, rows.score
    records["number"][slice(None) if rows.order is None else rows.order] = number
    return records


def _divided(
    parts: Iterable[Records], n_queries: Callable[[], int], memory_limit: int, folder: Any, level: int
) -> Iterator[Records]:
    """Yield rows of whole queries that fit in memory; divide by one more digit while they are too many.

    All queries of a level agree in the previous digits, and the last level has one query per digit.
    """
    share, held, n_bytes = memory_limit // MEMORY_SHARE, list[Records](), 0
    extents = [list[Extent]() for _ in range(BASE)]
    with Spool(folder) as spool:
        if folder is not None and level == 0:
            spool.open()  # fail before rows are read if the folder cannot be used
        for part in parts:
            held.append(part)
            n_bytes += part.nbytes
            kind = part.dtype
            del part  # free it before its rows are evaluated
            if n_bytes > share and BASE**level < n_queries():
                _append(held, spool, extents, level)
                held, n_bytes = [], 0
        if held and any(extents):
            _append(held, spool, extents, level)
        elif held:
            held = [np.concatenate(held)] if len(held) > 1 else held
            yield held.pop()
        held.clear()
        for of_digit in filter(None, extents):
            size = sum(stop - start for start, stop in of_digit)
            if size > share and BASE ** (level + 1) < n_queries():
                at_once = max(share // 2 // kind.itemsize, 1) * kind.itemsize
                rows = (spool.read([piece], kind) for piece in pieces(of_digit, at_once))
                yield from _divided(rows, n_queries, memory_limit, folder, level + 1)
            else:
                yield spool.read(of_digit, kind)


def _append(held: Sequence[Records], spool: Spool, extents: Sequence[list[Extent]], level: int) -> None:
    """Write rows sorted by digit, stable within each query, and record the extent of each digit."""
    records = np.concatenate(held)
    digit = (records["number"] // BASE**level % BASE).astype(np.uint8)
    start = spool.append(records[np.argsort(digit, kind="stable")])
    for of_digit, n_rows in zip(extents, np.bincount(digit, minlength=BASE).tolist(), strict=True):
        stop = start + n_rows * records.itemsize
        if n_rows:
            of_digit.append((start, stop))
        start = stop
