"""Whole queries out of batches in which the rows of a query are adjacent."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from sklearn_rank._chunks.checker import Rows
from sklearn_rank._engine.check import queries_of
from sklearn_rank._engine.queries import Queries

ROWS_AT_ONCE = 2**18
"""Adjacent rows that are waited for, so that small batches cost little more than large ones."""


def adjacent_queries(batches: Iterable[Rows], n_jobs: int | None) -> Iterator[Queries]:
    """Whole queries of batches whose rows are grouped; the last query of each may go on in the next."""
    held: list[Rows] = []
    n_held = 0
    for rows in batches:
        held.append(rows)
        n_held += len(rows.score)
        if n_held >= ROWS_AT_ONCE and held[0].number[0] != rows.number[-1]:
            joined = _joined(held)
            end = joined.indptr[-2]
            rest = Rows(joined.label[end:], joined.score[end:], joined.indptr[-2:] - end, None, joined.number[-1:])
            held, n_held = [_copied(rest)], len(rest.score)
            whole = Rows(joined.label[:end], joined.score[:end], joined.indptr[:-1], None, joined.number[:-1])
            yield _queries(whole, n_jobs)
        else:
            held[-1] = _copied(rows)  # the memory of a batch may be used again for the next
    if held:
        yield _queries(_joined(held), n_jobs)


def _joined(held: Sequence[Rows]) -> Rows:
    """Rows of several batches; what is of one query from one to the next becomes one."""
    number = np.concatenate([rows.number for rows in held])
    size = np.concatenate([np.diff(rows.indptr) for rows in held])
    opens = np.append(True, number[1:] != number[:-1])
    indptr = np.append((np.cumsum(size) - size)[opens], size.sum())
    label, score = (np.concatenate([getattr(rows, name) for rows in held]) for name in ("label", "score"))
    return Rows(label, score, indptr, None, number[opens])


def _copied(rows: Rows) -> Rows:
    return rows._replace(label=rows.label.copy(), score=rows.score.copy())


def _queries(rows: Rows, n_jobs: int | None) -> Queries:
    return queries_of(rows.label, rows.score, rows.indptr, rows.number, rows.order, None, n_jobs)
