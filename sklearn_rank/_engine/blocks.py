"""Queries built lazily, one block at a time."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from sklearn_rank._engine.queries import Queries, RowNotBuilt
from sklearn_rank._utils.threads import for_each
from sklearn_rank._utils.typing import Index

T = TypeVar("T")


@dataclass(frozen=True, eq=False, repr=False)
class LazyQueries:
    """Queries that are built block by block when they are needed, and not kept.

    `blocks` and ``make(first, last, depth)`` take the depth to which documents must have a row, None for all documents,
    also those not retrieved. `done` is told how many queries are done with, each time.
    """

    n_documents: Index
    blocks: Callable[[int | None], list[tuple[int, int]]]
    make: Callable[[int, int, int | None], Queries]
    done: Callable[[int], object] = int

    def for_each(self, function: Callable[[int, int, Queries], T], depth: int | None, n_jobs: int | None) -> list[T]:
        """List ``function(first, last, queries)`` for each block."""

        def compute(first: int, last: int) -> T:
            result = self._compute(function, first, last, depth)
            self.done(last - first)
            return result

        return for_each(compute, self.blocks(depth), n_jobs)

    def _compute(self, function: Callable[[int, int, Queries], T], first: int, last: int, depth: int | None) -> T:
        with suppress(RowNotBuilt):
            return function(first, last, self.make(first, last, depth))
        return function(first, last, self.make(first, last, None))  # build all rows: the error must name the document
