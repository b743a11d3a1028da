"""Plain arrays are checked and grouped at once: three columns of numbers, of queries whose ids rise.

Each block of rows is read by one call of a kernel. What is anything else, or wrong, is left to `check`. Blocks of whole
queries can be computed as they are read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels.checks import read_plain
from sklearn_rank._engine.queries import DataSummary, GradedQueries, Origin, Queries, Rows
from sklearn_rank._utils.threads import for_each, is_one_block, row_blocks
from sklearn_rank._utils.typing import Grade, Index

Facts = tuple[float, float, bool, bool, bool, bool]
"""Lowest and highest label, whether one is NaN and all are grades, whether a score is -inf, and one is bad."""

FEW_ROWS = 4096
"""Rows of which labels and scores become float64, as nothing is gained by other types."""

N_SAMPLED = 16
"""Ids that are looked at to tell whether those of many rows rise."""

FLOAT64 = np.dtype(np.float64)


def check_at_once(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None, origin: Origin,
    keeps_narrow: bool,
) -> Queries | None:  # fmt: skip
    """Queries of plain arrays whose ids rise, each block by one call of a kernel; None for what needs a closer look.

    A call on ten rows is two thirds shorter by it, and one on 10,000 a quarter.
    """
    n_rows = qid.size
    grade = np.empty(n_rows, dtype=np.uint8)
    if is_one_block(n_rows):
        part = _read_plain(y_true, y_score, qid, grade, 0, n_rows)
        if part is None:
            return None
        facts, indptr, ids = part
    else:
        read = partial(_read_plain, y_true, y_score, qid, grade)
        parts = [] if falls_somewhere(qid) else for_each(read, row_blocks(n_rows, n_jobs), n_jobs)
        found = [part for part in parts if part is not None]
        if len(found) < max(len(parts), 1):
            return None
        facts, starts, heads = zip(*found, strict=True)
        facts = joined(facts)
        n_threads = 1 if is_one_block(sum(map(len, heads))) else n_jobs
        indptr, ids = for_each(lambda i, _: np.concatenate((starts, heads)[i]), [(0, 1), (1, 2)], n_threads)
    lowest, highest, unjudged, are_grades, unretrieved, bad = facts
    label, score = y_true if y_true.dtype is FLOAT64 else None, y_score
    if unjudged or bad or math.isinf(lowest) or math.isinf(highest) or (label is None and not are_grades):
        return None
    if score.dtype is not FLOAT64 and not (keeps_narrow and n_rows > FEW_ROWS):
        score = score.astype(np.float64)
    rows = score, indptr, None, ids, None
    summary = DataSummary((lowest, highest), False, unretrieved)
    queries: Callable[..., Queries] = Queries if label is not None else GradedQueries
    return queries(label, *rows, summary, grade=grade if are_grades else None, origin=origin)


def _read_plain(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], grade: Grade, start: int, stop: int
) -> tuple[Facts, Index, NDArray[Any]] | None:
    """Facts about some rows, and starts and ids of the queries that start there; None for what needs a closer look."""
    starts, ids = np.empty(stop - start + 1, dtype=np.int64), np.empty(stop - start, dtype=qid.dtype)
    found = read_plain(y_true, y_score, qid, start, stop, grade, starts, ids) if stop else None
    if found is None:
        return None
    facts, n, _, _ = found
    starts, ids = starts[:n], ids[: n - (stop == len(qid))]
    return (facts, starts, ids) if stop - start <= FEW_ROWS else (facts, starts.copy(), ids.copy())  # no views


class PlainBlock(NamedTuple):
    """Whole queries: their rows, how many the longest has, and the highest grade."""

    rows: Rows
    longest: int
    highest: int


class NotPlain(Exception):
    """There are rows of which the general path has more to say."""


def read_block(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], grade: Grade, starts: Index
) -> PlainBlock:  # fmt: skip
    """Check and group rows of whole queries, whose scores are all finite.

    The block has views of `grade` and `starts`, which have room for as many rows and one start more.

    Raises
    ------
    NotPlain
        If the rows need a closer look.
    """
    n_rows = len(qid)
    grade = grade[:n_rows]
    found = read_plain(y_true, y_score, qid, 0, n_rows, grade, starts, None)
    if found is None:
        raise NotPlain
    (_, highest, _, are_grades, unretrieved, bad), n, longest, is_constant = found
    if unretrieved or bad or not are_grades:
        raise NotPlain
    return PlainBlock(Rows(grade, y_score, starts[:n], is_constant), longest, int(highest))


def next_start(qid: NDArray[Any], row: int, most: int) -> int:
    """First row from `row` on at which an id rises, or one of the ends.

    Raises
    ------
    NotPlain
        If it is more than `most` rows away.
    """
    last = min(row + most, len(qid))
    found = row + int(qid[row:last].searchsorted(qid[row - 1], side="right")) if row else 0
    if found == last < len(qid):
        raise NotPlain
    return found


def whole_queries(qid: NDArray[Any], blocks: Iterable[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Blocks that go on to the end of their last query; empty ones are left out.

    Raises
    ------
    NotPlain
        If that is more than `most` rows further down.
    """
    start = 0
    for _, row in blocks:
        stop = next_start(qid, row, most)
        if start < stop:
            yield start, stop
        start = stop


def falls_somewhere(qid: NDArray[Any]) -> bool:
    """Whether a sample shows that ids fall; also of ids that are not a column of whole numbers."""
    if qid.ndim != 1 or qid.dtype.kind not in "iu":
        return True
    sample = qid[:: 1 + len(qid) // N_SAMPLED]
    return bool((sample[1:] < sample[:-1]).any())


def joined(blocks: Sequence[Facts]) -> Facts:
    """Facts about all rows from those about blocks of them."""
    lowest, highest, unjudged, are_grades, unretrieved, bad = zip(*blocks, strict=True)
    return min(lowest), max(highest), any(unjudged), all(are_grades), any(unretrieved), any(bad)
