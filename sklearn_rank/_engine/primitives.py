"""The primitives that formulas are written with: for each its kernel and the shape of its result.

A `Call` is a primitive with its operands. An order that is known computes it. An order that is not known yet records
it, to compute it on one block of rows after the other. Both bind the kernel here, so a primitive is written once.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.kernels import plan as kernels
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index


class Primitive(NamedTuple):
    """A kernel, and what it writes.

    `columns` is the number of columns of a table with a row for each query: None for one for each cutoff, and 0 for an
    array of a number for each position.
    """

    kernel: int
    columns: int | None = 0


CUMSUM = Primitive(kernels.KERNEL_CUMSUM, None)
"""Sum of x of each item times y of its position, down to each cutoff."""

JOINT = Primitive(kernels.KERNEL_JOINT)
"""x of the item at each position times the sum of y over the items down to it."""

MEANS = Primitive(kernels.KERNEL_MEANS, None)
"""Sum over the items whose x is 1 of the mean of y down to each, down to each cutoff."""

CASCADE = Primitive(kernels.KERNEL_CASCADE)
"""Probability of each position to be the last one seen, where an item stops a user with probability x."""

CASCADE_UPWARDS = Primitive(kernels.KERNEL_CASCADE_UPWARDS)
"""The same for a user who goes up from the end of the list."""

PAIRS = Primitive(kernels.KERNEL_PAIRS, 4)
"""Pairs of items: ranked as x is, the other way, tied in score alone, and in x alone."""

CENTERED_RANKS = Primitive(kernels.KERNEL_CENTERED_RANKS)
"""Rank of each item by x less the mean rank of its query; without x by what the list is in the order of."""

LOOK_UP = Primitive(kernels.KERNEL_LOOK_UP)
"""Entry of the table x for the grade at each position."""

RANKS = Primitive(kernels.KERNEL_RANKS)
"""Rank of each position."""

SPREAD = Primitive(kernels.KERNEL_SPREAD)
"""A number of each query at each of its positions."""

AT_RANKS = Primitive(kernels.KERNEL_AT_RANKS)
"""The number x that the best order has at the rank of each position."""

COUNT_ROWS = Primitive(kernels.KERNEL_COUNT, 1)
"""Rows of each query whose grade is at least `least`."""


class ByGrade(NamedTuple):
    """Values of items, one for each grade."""

    table: Array


class Call(NamedTuple):
    """A primitive with its operands: arrays, what stands for arrays that are not known yet, or values by grade."""

    primitive: Primitive
    x: Any = None
    y: Any = None
    by_rank: Array | None = None
    over_rank: bool = False
    cutoffs: Index | None = None
    of_query: Any = None
    least: int = 0

    def key(self, key_of: Callable[[Any], Hashable]) -> Hashable:
        """Equal for calls with the same result."""
        operands = (self.x, self.y, self.by_rank, self.cutoffs, self.of_query)
        return (self.primitive.kernel, self.over_rank, self.least, *map(key_of, operands))

    def bind(
        self, lists: kernels.Lists, scratch: Scratch, n_positions: int, n_queries: int, *,
        array_of: Callable[[Any], Any] = lambda x: x, best: kernels.Lists | None = None,
    ) -> tuple[kernels.Step, Array]:  # fmt: skip
        """Kernel bound to lists and operands, and the array that it writes when it is called."""
        columns = self.primitive.columns
        if columns is None:
            assert self.cutoffs is not None
            columns = len(self.cutoffs)
        out = np.empty((n_queries, columns), order="F") if columns else np.empty(n_positions)
        x, x_by_grade = _values(array_of(self.x))
        y, y_by_grade = _values(array_of(self.y))
        # The kernel reads both by grade or both by item.
        assert self.primitive != MEANS or x_by_grade == y_by_grade
        sorts = self.primitive in (PAIRS, CENTERED_RANKS)
        step = kernels.Step(
            self.primitive.kernel, lists, x=x, x_by_grade=x_by_grade, y=y, y_by_grade=y_by_grade,
            by_rank=self.by_rank, over_rank=self.over_rank, cutoffs=self.cutoffs, of_query=array_of(self.of_query),
            least=self.least, other=best, work=scratch.numbers, work_places=scratch.indices if sorts else None, out=out,
        )  # fmt: skip
        return step, out


def _values(x: Any) -> tuple[Array | None, bool]:
    """Values of items, and whether they are by grade."""
    return (x.table, True) if isinstance(x, ByGrade) else (x, False)


class Scratch:
    """Memory that kernels use for one list at a time, of at most so many positions."""

    def __init__(self, longest: int) -> None:
        self._longest = longest

    @property
    def n_bytes(self) -> int:
        """Bytes of all rows."""
        return 8 * (5 + 2) * (self._longest + 1)

    @cached_property
    def numbers(self) -> Array:
        """Rows of numbers, one more each than there are positions."""
        return np.empty((5, self._longest + 1))

    @cached_property
    def indices(self) -> Index:
        """Rows of indices."""
        return np.empty((2, self._longest + 1), dtype=np.int64)
