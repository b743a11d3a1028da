"""Formulas as the steps that they take: recorded once, and taken again for other rows.

A formula is called with a `TracedRanked`. What scores decide it gets as a `Step`, which knows how to be computed from
an order, and of which primitives and ufuncs make new steps. Steps alike are one, whichever formula asks. A formula that
does anything else with one, such as to look at its values, is not traced. What depends on labels alone it gets as
arrays, for good, from `TracedScores`. `TracedQueries` are any with grades: there a function of the label is a table,
`OfGrade`, and no step, as long as nothing but tables and numbers go into it.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from numbers import Number
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from sklearn_rank._engine.bound import BoundOrder, Cascade, Values
from sklearn_rank._engine.kernels import plan as plan_kernels
from sklearn_rank._engine.ranked import Pairs, Ranked
from sklearn_rank._engine.ranking import N_GRADES, NO_CUTOFF
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index

OF_LABELS = frozenset({"cutoff", "ideal", "k", "n", "n_judged", "n_relevant", "n_subtopics", "shape"})
"""Attributes of ranked queries that are the same for all scores, if none is -inf."""


GRADES = np.arange(float(N_GRADES))
"""Labels that a table has an entry for."""


Found = list[Array | Cascade]
"""Arrays that steps have found, and cascades, of which an array is made where one is asked for."""

Computation = Callable[[Any, Found], Array | Cascade]
"""Array of a step, from an order and the arrays of the steps before."""

Operand = Callable[[Found], Any]
"""How to get an operand of a step from the arrays of those before."""


class NotTraced(Exception):
    """The formula does something that has no step."""


class Step(NDArrayOperatorsMixin):
    """An array that scores decide: the place of its value among those of all steps.

    `of_best` says of a number for each position whether it is one of the best order; it is None for one of each query.
    """

    def __init__(self, steps: Steps, compute: Computation, of_best: bool | None) -> None:
        self._steps, self.place, self.of_best = steps, len(steps.computations), of_best
        steps.computations.append(compute)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Step:
        """Make a step of a function of each entry."""
        if method != "__call__" or options or ufunc.nout > 1:
            raise NotTraced
        return self._steps.apply(ufunc, inputs)

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be an array: its values are not known yet."""
        raise NotTraced

    __bool__ = __len__ = __iter__ = __getitem__ = __float__ = __array__


class OfGrade(NDArrayOperatorsMixin):
    """A function of the grade at each position of an order: a table of its values."""

    def __init__(self, queries: TracedQueries, table: Array) -> None:
        self.queries, self.table, self.of_best = queries, table, queries.is_best

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> OfGrade | Step:
        """Make a table of a function of tables and numbers, and a step of a function of anything else."""
        if method != "__call__" or options or ufunc.nout > 1:
            raise NotTraced
        if all(isinstance(x, Number) or (isinstance(x, OfGrade) and x.of_best == self.of_best) for x in inputs):
            return OfGrade(self.queries, ufunc(*(x.table if isinstance(x, OfGrade) else x for x in inputs)))
        return self.queries.steps.apply(ufunc, inputs)

    def step(self) -> Step:
        """The same as an array of a value for each position."""
        if self.table.dtype != np.float64:  # of which Python and NumPy may make something else
            raise NotTraced
        table = self.table
        return self.queries.step(("look_up", table.tobytes()), lambda order, _: order.look_up(table))

    __array__ = __bool__ = __len__ = __iter__ = __getitem__ = __float__ = Step.__array__


class OfScore(NDArrayOperatorsMixin):
    """The score at each position, of which nothing but ranks has a step."""

    def __array_ufunc__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse functions of scores."""
        raise NotTraced

    __array__ = __bool__ = __len__ = __iter__ = __getitem__ = __float__ = Step.__array__


class Steps:
    """Steps of formulas, in turn."""

    def __init__(self) -> None:
        self.computations: list[Computation] = []
        self.has_ufuncs = False
        self._known: dict[Hashable, Step] = {}

    def once(self, key: Hashable, compute: Computation, of_best: bool | None = None) -> Step:
        """The step of this key, made when it is first asked for."""
        step = self._known.get(key)
        if step is None:
            step = self._known[key] = Step(self, compute, of_best)
        return step

    def apply(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Step:
        """Step of a function of each entry."""
        of_best, *others = {x.of_best for x in inputs if isinstance(x, (Step, OfGrade))}
        if others:  # which may have other numbers of positions
            raise NotTraced
        keys, read = zip(*[operand(x) for x in inputs], strict=True)
        self.has_ufuncs = True
        return self.once((ufunc, keys), lambda order, values: order.apply(ufunc, [x(values) for x in read]), of_best)

    def curve(self, formula: Callable[..., Any], keywords: Mapping[str, Any], queries: TracedRanked) -> CurveOfSteps:
        """Trace a formula.

        Raises
        ------
        NotTraced
            If it does something that has no step.
        """
        n = len(self.computations)
        try:
            curve = formula(queries, **keywords)
            return CurveOfSteps(*map(_table, curve if isinstance(curve, tuple) else (curve, 1.0)))
        except Exception as error:  # of whatever a formula does with what is no array
            del self.computations[n:]
            self._known = {key: step for key, step in self._known.items() if step.place < n}
            raise NotTraced from error

    def take(self, order: BoundOrder) -> Found:
        """Arrays of all steps, computed from an order."""
        values: Found = []
        for compute in self.computations:
            values.append(compute(order, values))
        return values


class CurveOfSteps(NamedTuple):
    """How to get the numerator and the denominator of a formula, and what it needs, as `divide` reads them."""

    numerator: Operand
    denominator: Operand
    needed: Operand = lambda _: None

    def bind(
        self, values: Found, otherwise: float, out: Array | None = None, undefined: Any = None
    ) -> plan_kernels.BoundRatio:  # fmt: skip
        """Quotient of the arrays of steps, where it is defined."""
        numerator, denominator, needed = (part(values) for part in self)
        if needed is denominator:
            needed = None
        return plan_kernels.BoundRatio(numerator, denominator, needed, otherwise, out, undefined)


def _table(part: Any) -> Operand:
    """How to get a part of a curve, which may be a number."""
    return operand(part if isinstance(part, Step) else np.array(part, dtype=np.float64, ndmin=2))[1]


def operand(x: Any) -> tuple[Hashable, Operand]:
    """What tells an operand from others, and how to get its array."""
    if isinstance(x, OfGrade):
        x = x.step()
    if isinstance(x, Step):
        return x.place, _array_at(x.place)
    array = np.array(x, dtype=np.float64, ndmin=1)
    return (array.shape, array.tobytes()), lambda _: array


def _array_at(place: int) -> Callable[[Found], Array]:
    """How to get the array of a step."""

    def find(values: Found) -> Array:
        value = values[place]
        return value.array if isinstance(value, Cascade) else value

    return find


def _row_at(place: int, row: int) -> Computation:
    """A row of the array of a step, a number for each query, as a column."""
    table = _array_at(place)
    return lambda _, values: table(values)[row][:, None]


def _of_queries(x: Any) -> tuple[Hashable, Operand]:
    """The same as `operand` of a number for each query, shape (n_queries, 1)."""
    is_step, is_array = isinstance(x, Step) and x.of_best is None, isinstance(x, np.ndarray) and x.ndim == 2
    if not (is_step or is_array):
        raise NotTraced
    return operand(x)


ONE = operand(1.0)[0]
"""Key of the value 1 for all items."""


class TracedRanked:
    """Ranked queries whose order is not known yet, as a formula reads them: all but what is said of their labels."""

    is_best = False
    """Whether the order is the best one."""

    def __init__(self, cutoffs: Index, ranks: Index, steps: Steps) -> None:
        self._cutoffs, self._ranks, self.steps = cutoffs, ranks, steps

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what has no step."""
        raise NotTraced

    def step(self, key: tuple[Hashable, ...], compute: Computation, *, per_item: bool = True) -> Step:
        """Step of this order, of a number for each position or for each query."""
        of_best = self.is_best if per_item else None
        if not self.is_best:
            return self.steps.once((False, *key), compute, of_best)
        return self.steps.once((True, *key), lambda order, values: compute(order.ideal, values), of_best)

    def _values(self, x: Any) -> tuple[Hashable, Callable[[Found], Values]]:
        """What tells values of items from others, and how to get them."""
        if isinstance(x, (Step, OfGrade)) and x.of_best != self.is_best:
            raise NotTraced
        if isinstance(x, OfGrade):
            values = Values(np.ascontiguousarray(x.table, dtype=np.float64), True)
            return ("by grade", values.of.tobytes()), lambda _: values
        key, of = operand(x)
        return key, lambda values: Values(of(values))

    def cumsum(
        self, value: Any = 1.0, weight: Any = 1.0, *, by_label: Callable[[Array], Array] | None = None,
        by_rank: Callable[[Index], Array] | None = None, over_rank: bool = False,
    ) -> Step:  # fmt: skip
        """Sum of the value of each item times the weight of its position, down to each cutoff."""
        if by_label is not None:
            if value != 1:  # no formula of ours gives both
                raise NotTraced
            value = self.by_label(by_label)
        value_key, of_value = self._values(value)
        weight_key, of_weight = self._values(weight.step() if isinstance(weight, OfGrade) else weight)
        table, cutoffs = None, self._cutoffs
        if by_rank is not None:
            table = np.array(by_rank(self._ranks[: cutoffs[-1]]), dtype=np.float64)
        keys = value_key, weight_key, None if table is None else table.tobytes(), over_rank, cutoffs.tobytes()

        def compute(order: BoundOrder, values: Found) -> Array:
            stops = values[weight.place] if isinstance(weight, Step) and value_key == ONE else None
            if isinstance(stops, Cascade):
                return stops.sum(table, over_rank, cutoffs)
            return order.cumsum(of_value(values), of_weight(values).of, table, over_rank, cutoffs)

        return self.step(("cumsum", *keys), compute, per_item=False)

    def joint(self, x: Any, y: Any, most: Any = None) -> Step:
        """`x` of the item at each position times the sum of `y` over the items down to it."""
        (x_key, of_x), (y_key, of_y) = self._values(x), self._values(y)
        most_key, limits = (None, None) if most is None else _of_queries(most)

        def compute(order: BoundOrder, values: Found) -> Array:
            return order.joint(of_x(values), of_y(values), None if limits is None else limits(values)[:, 0])

        return self.step(("joint", x_key, y_key, most_key), compute)

    def sums_of_means(self, *, of_labels: bool = False) -> Step:
        """Sum over the relevant items down to each cutoff of the mean down to each."""
        relevant_key, relevant = self._values(self.relevant)
        value_key, value = self._values(self.label if of_labels else self.relevant)
        cutoffs = self._cutoffs
        return self.step(
            ("means", relevant_key, value_key, cutoffs.tobytes()),
            lambda order, values: order.sums_of_means(relevant(values), value(values), cutoffs),
            per_item=False,
        )

    def cascade(self, p: Any, *, upwards: bool = False) -> Step:
        """Probability of each position to be the last one seen."""
        if not isinstance(p, (Step, OfGrade)):
            raise NotTraced
        key, of_p = self._values(p)
        if not upwards:
            return self.step(("cascade", key), lambda order, values: order.cascade(of_p(values)))
        self._need_whole_lists()
        return self.step(("cascade upwards", key), lambda order, values: order.cascade_upwards(of_p(values)))

    def _need_whole_lists(self) -> None:
        """Leave lists that may end inside a tie block to the general path."""
        if self._cutoffs[0] < NO_CUTOFF:
            raise NotTraced


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
        return self._of_rows(self._rows.label)

    @property
    def relevant(self) -> Step:
        """Whether each item's label is at least `min_relevance`."""
        return self._of_rows(self._rows.relevant)

    @property
    def judged(self) -> Step:
        """Whether each item has a label that is not NaN."""
        return self._of_rows(self._rows.judged)

    def by_label(self, function: Callable[[Array], Array]) -> Step:
        """A function of each item's label."""
        return self._of_rows(self._rows.by_label(function))

    def _of_rows(self, x: Array) -> Step:
        """Values of rows, in their order."""
        values = np.array(x, dtype=np.float64)
        return self.step(("rows", values.tobytes()), lambda order, _: order.of_rows(values))


class TracedQueries(TracedRanked):
    """Queries with any of some grades, none missing and all retrieved, of no more rows each than there are `ranks`.

    `all_cutoffs` are False where some are left out, as no list is longer. Then the cutoff itself has no step.
    """

    def __init__(
        self, min_relevance: float, cutoffs: Index, ranks: Index, steps: Steps, grades: Array = GRADES,
        *, all_cutoffs: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(cutoffs, ranks, steps)
        self._least, self._grades, self._all_cutoffs = min_relevance, grades, all_cutoffs

    @cached_property
    def ideal(self) -> TracedBest:
        """The best order, with the same cutoffs."""
        others = self.steps, self._grades
        return TracedBest(self._least, self._cutoffs, self._ranks, *others, all_cutoffs=self._all_cutoffs)

    @property
    def cutoff(self) -> Array:
        """Cutoff at each point of the curve."""
        if not self._all_cutoffs:
            raise NotTraced
        return self._cutoffs[None].astype(np.float64)

    @property
    def k(self) -> Any:
        """Cutoff at each point of the curve; a list read to its end is cut at its length."""
        cutoff, whole = self.cutoff, self._cutoffs == NO_CUTOFF
        if not whole.any():
            return cutoff
        return self.n if whole.all() else np.minimum(self.n + np.where(whole, 0.0, NO_CUTOFF)[None], cutoff)

    @property
    def label(self) -> OfGrade:
        """Label of each item."""
        return OfGrade(self, GRADES)

    @property
    def relevant(self) -> OfGrade:
        """Whether each item's label is at least `min_relevance`."""
        return OfGrade(self, (GRADES >= self._least).astype(np.float64))

    def by_label(self, function: Callable[[Array], Array]) -> OfGrade:
        """A function of each item's label, asked for the grades that there are."""
        table: Array = np.zeros(N_GRADES)
        table[self._grades.astype(np.int64)] = function(self._grades)
        return OfGrade(self, table)

    @property
    def judged(self) -> OfGrade:
        """Whether each item has a label, as all do."""
        return OfGrade(self, np.ones(N_GRADES))

    def of_query(self, x: Any) -> Step:
        """A value of each query at each of its positions."""
        key, of = _of_queries(x)
        return self.step(("of query", key), lambda order, values: order.spread(of(values)))

    @property
    def score(self) -> OfScore:
        """Score of each item."""
        return OfScore()

    def pairs(self) -> Pairs:
        """Number of pairs of items of each query by how they are ordered."""
        self._need_scores_of_whole_lists()
        place = self.steps.once(("pairs",), lambda order, _: order.pairs()).place
        counts: list[Any] = [self.steps.once(("pairs", i), _row_at(place, i)) for i in range(len(Pairs._fields))]
        return Pairs(*counts)

    def centred_ranks(self, x: Any) -> Step:
        """Rank of each item by score or label less the query's mean rank."""
        self._need_scores_of_whole_lists()
        of_labels = isinstance(x, OfGrade) and np.array_equal(x.table, GRADES)
        if not of_labels and not isinstance(x, OfScore):
            raise NotTraced
        return self.step(("centred ranks", of_labels), lambda order, _: order.centred_ranks(of_labels=of_labels))

    def _need_scores_of_whole_lists(self) -> None:
        """Leave the best order, too, to the general path."""
        self._need_whole_lists()
        if self.is_best:
            raise NotTraced

    @property
    def rank(self) -> Step:
        """Rank of each position."""
        return self.step(("rank",), lambda order, _: order.ranks())

    def ideal_sum(self, value: Any) -> Step:
        """Sum of a value of each position of `ideal`, over as many as the rank at each position says."""
        place = self.ideal.joint(1.0, value).place
        x = _array_at(place)
        return self.step(("at ranks of best", place), lambda order, values: order.at_ranks_of_best(x(values)))

    @property
    def n_relevant(self) -> Step:
        """Relevant documents of each query."""
        return self._count(self._least)

    @property
    def n(self) -> Step:
        """Documents of each query, all of which have a label and a rank."""
        return self._count(0.0)

    n_judged = n

    def _count(self, least: float) -> Step:
        """Documents of each query with a label of at least `least`, which no order changes."""
        return self.steps.once(("count", least), lambda order, _: order.count_at_least(least))


class TracedBest(TracedQueries):
    """The best order of such queries."""

    is_best = True
