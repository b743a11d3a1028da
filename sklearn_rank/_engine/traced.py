"""A formula as the steps that it takes: recorded once, and taken again for other scores of the same labels.

A formula is called with a `TracedRanked`. What scores decide it gets as a `Step`, which knows how to be computed from a
ranking, and of which primitives and ufuncs make new steps. A formula that does anything else with one, such as to look
at its values, is not traced. What depends on labels alone it gets as arrays, for good, from `TracedScores`, and as
steps too from `TracedQueries`, which is for any labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from operator import attrgetter
from typing import Any, NoReturn, Protocol

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import N_GRADES, NO_CUTOFF
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Grade, Index

OF_LABELS = frozenset({"cutoff", "ideal", "k", "n", "n_judged", "n_relevant", "n_subtopics", "shape"})
"""Attributes of ranked queries that are the same for all scores, if none is -inf."""


GRADES = np.arange(float(N_GRADES))
"""Labels that a table has an entry for."""


class Order(Protocol):
    """A ranking that computes steps: each method returns the array of a step, from the arrays of others.

    They are the primitives of `Ranked`; a number that stands for all items is an array of it alone.
    """

    def apply(self, ufunc: np.ufunc, operands: list[Array]) -> Array:
        """A function of each entry."""

    def cumsum(
        self, value: Array, grade: Grade | None, weight: Array, discount: Array | None, over_rank: bool, cutoffs: Index
    ) -> Array:  # fmt: skip
        """Sum of value times weight of each query down to each cutoff."""

    def joint(self, x: Array, y: Array, most: Array | None) -> Array:
        """`x` at each position times the sum of `y` down to it."""

    def sums_of_means(self, relevant: Array, value: Array, cutoffs: Index) -> Array:
        """Sum over the relevant items of the mean value down to each."""

    def cascade(self, p: Array, work: Array) -> Array:
        """Probability of each position to be the last one seen."""


Computation = Callable[[Any, list[Any]], Array]
Items = tuple[Callable[[list[Any]], Any], Callable[[Any], Grade | None]]
"""How to get the value of each item, or of each grade and the grade of each item."""


class NotTraced(Exception):
    """The formula does something that has no step."""


class Step(NDArrayOperatorsMixin):
    """An array that scores decide: the place of its value among those of all steps."""

    def __init__(self, steps: Steps, compute: Computation) -> None:
        self._steps, self.place = steps, len(steps.computations)
        steps.computations.append(compute)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Step:
        """Make a step of a function of each entry."""
        if method != "__call__" or options:
            raise NotTraced
        read = [operand(x) for x in inputs]
        self._steps.has_ufuncs = True
        return Step(self._steps, lambda ranking, values: ranking.apply(ufunc, [x(values) for x in read]))

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be an array: its values are not known yet."""
        raise NotTraced

    __bool__ = __len__ = __iter__ = __getitem__ = __float__ = __array__


class Steps:
    """Steps of one formula, and which of them are its numerator and its denominator."""

    def __init__(
        self, formula: Callable[..., Any], keywords: Mapping[str, Any], queries: Callable[[Steps], TracedRanked]
    ) -> None:
        self.computations: list[Computation] = []
        self.has_ufuncs = False
        try:
            curve = formula(queries(self), **keywords)
        except Exception as error:  # of whatever a formula does with what is no array
            raise NotTraced from error
        self._parts = [_table(part) for part in (curve if isinstance(curve, tuple) else (curve, 1.0))]

    def take(self, ranking: Order) -> tuple[Array, Array]:
        """Numerator and denominator, each with two axes, of a ranking, as `divide` reads them."""
        values: list[Any] = []
        for compute in self.computations:
            values.append(compute(ranking, values))
        numerator, denominator = self._parts
        return numerator(values), denominator(values)


def _table(part: Any) -> Callable[[list[Any]], Array]:
    """How to get the numerator or the denominator, which may be a number."""
    if isinstance(part, Step):
        return operand(part)
    array = np.array(part, dtype=np.float64)
    view = rank_kernels.table_of(array if array.ndim else array.reshape(1, 1))
    return lambda _: view


def _read_by_kernel(x: Any) -> Callable[[list[Any]], Any]:
    """As `operand`, for an array that kernels alone read."""
    if isinstance(x, Step):
        return operand(x)
    view = rank_kernels.view_of(np.array(x, dtype=np.float64, ndmin=1))
    return lambda _: view


def _no_grade(_: Any) -> None:
    """Grades of items whose values are not looked up."""


def operand(x: Any) -> Callable[[list[Any]], Array]:
    """How to get an operand of a step: the value of another one, or an array that is the same for all scores."""
    if isinstance(x, Step):
        place = x.place
        return lambda values: values[place]
    array = np.asarray(x, dtype=np.float64)
    array = array.reshape(1) if array.ndim == 0 else array
    return lambda _: array


class TracedRanked:
    """Ranked queries whose order is not known yet, as a formula reads them: all but what is said of their labels."""

    def __init__(self, cutoffs: Index, ranks: Index, steps: Steps) -> None:
        self._cutoffs, self._ranks, self._steps = cutoffs, ranks, steps
        self._known: dict[Any, Step] = {}

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what has no step."""
        raise NotTraced

    def _step(self, compute: Computation) -> Step:
        return Step(self._steps, compute)

    def cumsum(
        self, value: Any = 1.0, weight: Any = 1.0, *, by_label: Callable[[Array], Array] | None = None,
        by_rank: Callable[[Index], Array] | None = None, over_rank: bool = False,
    ) -> Step:  # fmt: skip
        """Sum of the value of each item times the weight of its position, down to each cutoff."""
        if by_label is not None and value != 1:  # no formula of ours gives both
            raise NotTraced
        items = _read_by_kernel(value), _no_grade
        of_value, of_grade = items if by_label is None else self._items(by_label)
        of_weight = _read_by_kernel(weight)
        cutoffs = rank_kernels.view_of(self._cutoffs)
        table = None if by_rank is None else rank_kernels.view_of(np.array(by_rank(self._ranks), dtype=np.float64))

        def compute(ranking: Order, values: list[Any]) -> Array:
            return ranking.cumsum(of_value(values), of_grade(ranking), of_weight(values), table, over_rank, cutoffs)

        return self._step(compute)

    def _items(self, function: Callable[[Array], Array]) -> Items:
        """How to get a function of each item's label."""
        return _read_by_kernel(self.by_label(function)), _no_grade

    def joint(self, x: Any, y: Any, most: Array | None = None) -> Step:
        """`x` of the item at each position times the sum of `y` over the items down to it."""
        if isinstance(most, Step):
            raise NotTraced
        of_x, of_y, most = operand(x), operand(y), None if most is None else most.ravel()
        return self._step(lambda ranking, values: ranking.joint(of_x(values), of_y(values), most))

    def sums_of_means(self, *, of_labels: bool = False) -> Step:
        """Sum over the relevant items down to each cutoff of the mean down to each."""
        relevant, cutoffs = operand(self.relevant), rank_kernels.view_of(self._cutoffs)
        value = operand(self.label) if of_labels else relevant
        return self._step(lambda ranking, values: ranking.sums_of_means(relevant(values), value(values), cutoffs))

    def cascade(self, p: Any) -> Step:
        """Probability of each position to be the last one seen."""
        if not isinstance(p, Step):
            raise NotTraced
        of_p, n_work = operand(p), len(self._ranks) + 1
        return self._step(lambda ranking, values: ranking.cascade(of_p(values), np.empty(n_work)))


class TracedScores(TracedRanked):
    """Queries whose labels stay: `rows` are these as they stand."""

    def __init__(self, rows: Ranked, cutoffs: Index, steps: Steps) -> None:
        super().__init__(cutoffs, np.arange(1, int(rows.n.max()) + 1), steps)
        self._rows = rows

    def __getattr__(self, name: str) -> Any:
        """What depends on labels alone."""
        if name not in OF_LABELS:
            raise NotTraced
        return getattr(self._rows, name)

    @property
    def label(self) -> Step:
        """Label of each item."""
        return self._of_rows("label", lambda rows: rows.label)

    @property
    def relevant(self) -> Step:
        """Whether each item's label is at least `min_relevance`."""
        return self._of_rows("relevant", lambda rows: rows.relevant)

    @property
    def judged(self) -> Step:
        """Whether each item has a label that is not NaN."""
        return self._of_rows("judged", lambda rows: rows.judged)

    def by_label(self, function: Callable[[Array], Array]) -> Step:
        """A function of each item's label."""
        return self._of_rows(function, lambda rows: rows.by_label(function))

    def _of_rows(self, key: Any, function: Callable[[Ranked], Array]) -> Step:
        """Values of rows, in the order of the ranking."""
        if key not in self._known:
            values = np.array(function(self._rows), dtype=np.float64)
            self._known[key] = self._step(lambda ranking, _: ranking.of_rows(values))
        return self._known[key]


class TracedQueries(TracedRanked):
    """Queries with any grades, none missing and all retrieved, of which the longest has no more rows than `ranks`."""

    def __init__(self, min_relevance: float, cutoffs: Index, ranks: Index, steps: Steps, *, best: bool = False) -> None:
        super().__init__(cutoffs, ranks, steps)
        self._least, self._best = min_relevance, best

    @cached_property
    def ideal(self) -> TracedQueries:
        """The best order, with the same cutoffs."""
        return TracedQueries(self._least, self._cutoffs, self._ranks, self._steps, best=True)

    @property
    def cutoff(self) -> Array:
        """Cutoff at each point of the curve."""
        return self._cutoffs[None].astype(np.float64)

    @property
    def k(self) -> Any:
        """Cutoff at each point of the curve; a list read to its end is cut at its length."""
        cutoffs = self._cutoffs[:, None]
        if cutoffs[-1] < NO_CUTOFF:
            return self.cutoff
        return self._once("k", lambda ranking: np.where(cutoffs == NO_CUTOFF, ranking.n.T, cutoffs).T)

    @property
    def label(self) -> Step:
        """Label of each item."""
        return self._of_grades("label", GRADES)

    @property
    def relevant(self) -> Step:
        """Whether each item's label is at least `min_relevance`."""
        return self._of_grades(("relevant", self._least), GRADES >= self._least)

    def by_label(self, function: Callable[[Array], Array]) -> Step:
        """A function of each item's label."""
        return self._of_grades(function, function(GRADES))

    def _items(self, function: Callable[[Array], Array]) -> Items:
        """A function of each grade, which the kernel looks up."""
        return _read_by_kernel(function(GRADES)), attrgetter("grade")

    def _of_grades(self, key: Any, value: Any) -> Step:
        """Value of the grade of each item, which other metrics find by the same key."""
        table = np.ascontiguousarray(value, dtype=np.float64)
        return self._once(key, lambda ranking: ranking.of_grade(key, table))

    @property
    def n_relevant(self) -> Step:
        """Relevant documents of each query."""
        least = self._least
        return self._once("n_relevant", lambda ranking: ranking.n_relevant(least))

    @property
    def n(self) -> Step:
        """Documents of each query, all of which have a label and a rank."""
        return self._once("n", lambda ranking: ranking.n)

    n_judged = n

    def _once(self, key: Any, function: Callable[[Any], Array]) -> Step:
        if key not in self._known:
            self._known[key] = self._step(lambda ranking, _: function(ranking))
        return self._known[key]

    def _step(self, compute: Computation) -> Step:
        if not self._best:
            return Step(self._steps, compute)
        return Step(self._steps, lambda ranking, values: compute(ranking.ideal, values))
