"""Kernels bound to arrays that stay: an order that computes nothing until its steps are called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.kernels import plan as plan_kernels
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index


class Values(NamedTuple):
    """Values of items: one of each, one for all, or one of each grade, to be looked up."""

    of: Array
    by_grade: bool = False


class BoundOrder:
    """The primitives of `Ranked` on arrays for so many rows and queries, each of which one of `steps` writes.

    These are to be called in turn whenever `lists`, which is what kernels know of the order, are other ones. A number
    that stands for all items is an array of it alone.
    """

    def __init__(
        self, lists: Any, n_rows: int, n_queries: int, longest: int, steps: list[Callable[[], object]]
    ) -> None:
        self.lists, self.n_rows, self.n_queries, self.steps = lists, n_rows, n_queries, steps
        self.room = np.empty((2, longest + 1))
        self._means: dict[tuple[bytes, bytes], plan_kernels.BoundMeans] = {}

    def apply(self, ufunc: np.ufunc, operands: list[Array]) -> Array:
        """A function of each entry."""
        shape = np.broadcast_shapes(*[x.shape for x in operands])
        lists, of_items, out = self.lists, len(shape) == 1, np.empty(shape, order="F")

        def step() -> None:
            n = lists.n_positions if of_items else lists.n_queries
            ufunc(*[x if len(x) == 1 else x[:n] for x in operands], out=out[:n])

        self.steps.append(step)
        return out

    def cumsum(
        self, value: Values, weight: Array, discount: Array | None, over_rank: bool, cutoffs: Index
    ) -> Array:  # fmt: skip
        """Sum of value times weight of each query down to each cutoff."""
        return self.of_queries(plan_kernels.BoundSum, len(cutoffs), *value, weight, discount, over_rank, cutoffs)

    def joint(self, x: Values, y: Values, most: Array | None) -> Array:
        """`x` at each position times the sum of `y` down to it."""
        return self.of_items(plan_kernels.BoundJoint, *x, *y, most, self.room)

    def sums_of_means(self, relevant: Values, value: Values, cutoffs: Index) -> Array:
        """Sum over the relevant items of the mean value down to each; two such sums by grade are one step."""
        if not value.by_grade:
            return self.of_queries(plan_kernels.BoundMeans, len(cutoffs), relevant.of, *value, cutoffs)
        key = relevant.of.tobytes(), cutoffs.tobytes()
        means, out = self._means.get(key), np.empty((self.n_queries, len(cutoffs)), order="F")
        if means is not None and not means.has_other:
            means.add(value.of, out)
            return out
        means = self._means[key] = plan_kernels.BoundMeans(self.lists, relevant.of, *value, cutoffs, out)
        self.steps.append(means)
        return out

    def cascade(self, p: Values) -> Cascade:
        """Probability of each position to be the last one seen; a step returns False if p are no probabilities."""
        return Cascade(self, p)

    def cascade_upwards(self, p: Values) -> Array:
        """The same for a user who goes up from the end; an array, as no sum needs it for one list at a time."""
        room = np.empty((5, self.room.shape[1]))
        return self.of_items(plan_kernels.BoundCascadeUpwards, *p, room)

    def look_up(self, table: Array) -> Array:
        """Entry of a table for the grade at each position."""
        return self.of_items(plan_kernels.BoundGrades, table)

    def ranks(self) -> Array:
        """Rank at each position."""
        return self.of_items(plan_kernels.BoundRanks)

    def spread(self, x: Array) -> Array:
        """A number of each query, shape (n_queries, 1), at each of its positions."""
        return self.of_items(plan_kernels.BoundSpread, x)

    def of_items(self, kernel: Callable[..., Callable[[], object]], *operands: Any) -> Array:
        """Array of a number for each position; nobody reads what is beyond the lists."""
        return self._bind(kernel, np.empty(self.n_rows), operands)

    def of_queries(self, kernel: Callable[..., Callable[[], object]], n_columns: int, *operands: Any) -> Array:
        """Array of a row for each query."""
        return self._bind(kernel, np.empty((self.n_queries, n_columns), order="F"), operands)

    def _bind(self, kernel: Callable[..., Callable[[], object]], out: Array, operands: tuple[Any, ...]) -> Array:
        self.steps.append(kernel(self.lists, *operands, out))
        return out


class Cascade:
    """Probability of each position of an order to be the last one seen: an array only where one is asked for."""

    def __init__(self, order: BoundOrder, p: Values) -> None:
        self._order, self._p = order, p
        self._sums: plan_kernels.BoundStops | None = None

    @cached_property
    def array(self) -> Array:
        """Array of a number for each position."""
        return self._order.of_items(plan_kernels.BoundCascade, *self._p, self._order.room)

    def sum(self, discount: Array | None, over_rank: bool, cutoffs: Index) -> Array:
        """Sum of each query down to each cutoff, times a weight by rank: the probabilities are found once for all."""
        order = self._order
        if self._sums is None or self._sums.n_left == 0:
            stops = np.empty(order.room.shape[1])
            self._sums = plan_kernels.BoundStops(order.lists, *self._p, order.room, stops)
            order.steps.append(self._sums)
        out = np.empty((order.n_queries, len(cutoffs)), order="F")
        self._sums.add(discount, over_rank, cutoffs, out)
        return out
