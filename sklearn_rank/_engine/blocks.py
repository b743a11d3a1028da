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


@dataclass(frozen=True)
class LazyQueries:
    """Queries that are made a block at a time, each when it is its turn, and never kept.

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
            found = []
            with suppress(RowNotBuilt):
                found.append(function(first, last, self.make(first, last, depth)))
            if not found:  # a fault that is to be told of is in no row: it must have one
                found.append(function(first, last, self.make(first, last, None)))
            self.done(last - first)
            return found[0]

        return for_each(compute, self.blocks(depth), n_jobs)
