"""From batches in which queries may be cut to whole queries: adjacent rows are carried over, others sorted on disk.

Ids in the results are the numbers of queries. Knows nothing of metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from sklearn_rank._chunks.adjacent import _queries
from sklearn_rank._chunks.checker import Rows
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.queries import Queries
from sklearn_rank.batches._spool import Extent, Records, Spool, pieces

FAN = 64
"""Parts that rows are divided into at a time."""

SHARE = 5
"""Memory that rows of a part take while they are divided, or evaluated, over what they take on disk."""


# --- adjacent rows -------------------------------------------------------------------------------------------


# --- rows in any order ---------------------------------------------------------------------------------------


def scattered_queries(
    batches: Iterable[Rows], n_queries: Callable[[], int], memory_limit: int, folder: Any, n_jobs: int | None
) -> Iterator[Queries]:
    """Whole queries of batches with rows in any order; `n_queries` says how many there have been so far."""
    for records in _divided(map(_records, batches), n_queries, memory_limit, folder, 0):
        label, score = (np.ascontiguousarray(records[name]) for name in ("label", "score"))
        number, indptr, order = group_rows(np.ascontiguousarray(records["number"]), len(records))
        del records
        yield _queries(Rows(label, score, indptr, order, number), n_jobs)


def _records(rows: Rows) -> Records:
    """Rows in the order of the batch, each with the number of its query."""
    kinds: list[Any] = [("number", "u4"), ("score", "f8"), ("label", "f8", rows.label.shape[1:])]
    records = np.empty(len(rows.score), dtype=kinds)
    number = np.repeat(rows.number, np.diff(rows.indptr))
    records["label"], records["score"] = rows.label, rows.score
    records["number"][slice(None) if rows.order is None else rows.order] = number
    return records


def _divided(
    parts: Iterable[Records], n_queries: Callable[[], int], memory_limit: int, folder: Any, level: int
) -> Iterator[Records]:
    """Rows of whole queries, few enough for the memory; by one more digit of their numbers while they are too many.

    On each level the digit before is the same for all queries, and the last level has one query a digit.
    """
    share, held, n_bytes = memory_limit // SHARE, list[Records](), 0
    extents = [list[Extent]() for _ in range(FAN)]
    with Spool(folder) as spool:
        if folder is not None and level == 0:
            spool.open()  # a folder that cannot be used is told of before rows are read
        for part in parts:
            held.append(part)
            n_bytes += part.nbytes
            kind = part.dtype
            del part  # or it would be kept while its rows are evaluated
            if n_bytes > share and FAN**level < n_queries():
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
            if size > share and FAN ** (level + 1) < n_queries():
                at_once = max(share // 2 // kind.itemsize, 1) * kind.itemsize
                rows = (spool.read([piece], kind) for piece in pieces(of_digit, at_once))
                yield from _divided(rows, n_queries, memory_limit, folder, level + 1)
            else:
                yield spool.read(of_digit, kind)


def _append(held: Sequence[Records], spool: Spool, extents: Sequence[list[Extent]], level: int) -> None:
    """Write rows by their digit, those of each query in the order they came, and note where those of each digit are."""
    records = np.concatenate(held)
    digit = (records["number"] // FAN**level % FAN).astype(np.uint8)
    start = spool.append(records[np.argsort(digit, kind="stable")])
    for of_digit, n_rows in zip(extents, np.bincount(digit, minlength=FAN).tolist(), strict=True):
        stop = start + n_rows * records.itemsize
        if n_rows:
            of_digit.append((start, stop))
        start = stop
