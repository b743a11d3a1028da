"""Whole queries from batches in which the rows of a query are adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sklearn_rank._chunks.batch_validator import Rows
from sklearn_rank._engine.check import queries_of
from sklearn_rank._engine.queries import Queries

ROWS_PER_PART = 2**18
"""Rows that are collected before they are evaluated, so that small batches cost little more than large ones."""


def adjacent_queries(batches: Iterable[Rows]) -> Iterator[Rows]:
    """Yield rows of whole queries; the last query of a batch may continue in the next one."""
    held: list[Rows] = []
    n_held = 0
    for rows in batches:
        held.append(rows)
        n_held += len(rows.score)
        if n_held >= ROWS_PER_PART and held[0].number[0] != rows.number[-1]:
            joined = _joined(held)
            end = joined.indptr[-2]
            rest = Rows(joined.label[end:], joined.score[end:], joined.indptr[-2:] - end, None, joined.number[-1:])
            held, n_held = [_copied(rest)], len(rest.score)
            yield Rows(joined.label[:end], joined.score[:end], joined.indptr[:-1], None, joined.number[:-1])
        else:
            held[-1] = _copied(rows)  # the memory of a batch may be used again for the next
    if held:
        yield _joined(held)


def _joined(held: Sequence[Rows]) -> Rows:
    """Join rows of several batches; a query that continues in the next batch becomes one."""
    number = np.concatenate([rows.number for rows in held])
    size = np.concatenate([np.diff(rows.indptr) for rows in held])
    opens = np.append(True, number[1:] != number[:-1])
    indptr = np.append((np.cumsum(size) - size)[opens], size.sum())
    label, score = (np.concatenate([getattr(rows, name) for rows in held]) for name in ("label", "score"))
    return Rows(label, score, indptr, None, number[opens])


def _copied(rows: Rows) -> Rows:
    return rows._replace(label=rows.label.copy(), score=rows.score.copy())


def queries_of_rows(rows: Rows, n_jobs: int | None = None) -> Queries:
    """Queries of rows that are whole."""
    return queries_of(rows.label, rows.score, rows.indptr, rows.number, rows.order, None, n_jobs)
