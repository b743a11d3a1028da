"""Formulas as plans: recorded once, bound to arrays, and run on one block of rows after the other.

A formula is called with a `Ranked` whose order is not known yet, and what it asks for is recorded. A primitive or a
ufunc gives a `Recorded`, which stands for its result. A function of the label gives a table by grade. Equal calls are
recorded once, whichever formula makes them. A formula that does anything else, such as to look at values, raises
`NotRecorded`. It runs eagerly: `fill` calls it with rankings of rows. A plan is for labels that are grades. Where some
rows have no rank, because they were not retrieved, it is for formulas that leave them out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from contextlib import suppress
from enum import Enum
from numbers import Number
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import plan as kernels
from sklearn_rank._engine.kernels import sorting as sorting_kernels
from sklearn_rank._engine.primitives import (
    AT_RANKS,
    CASCADE,
    CASCADE_UPWARDS,
    CENTERED_RANKS,
    COUNT_ROWS,
    CUMSUM,
    LOOK_UP,
    PAIRS,
    RANKS,
    ByGrade,
    Call,
    Scratch,
)  # fmt: skip
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import N_GRADES, NO_CUTOFF, TIE_POLICIES, RankingKey, least_grade, rank_block
from sklearn_rank._engine.values import Out, PerQuery
from sklearn_rank._utils.blocks import FEW_ARRAYS, MANY_ARRAYS, SOME_ARRAYS, is_one_block, thread_blocks
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.threads import check_interrupt, map_blocks
from sklearn_rank._utils.typing import Array, Grade, Index

GRADES = np.arange(float(N_GRADES))
"""Labels that a table has an entry for."""

BYTES_OF_STEP = 3072
"""Bytes that an order, a step or a ratio takes beside its arrays: up to 2,860 as measured."""


class NotRecorded(Exception):
    """The formula does something that cannot be recorded."""


class Axis(Enum):
    """The positions that a recorded array has a number for, or queries."""

    SCORE = "positions of the order by score"
    IDEAL = "positions of the ideal order"
    QUERY = "queries"


class CurveRequest(NamedTuple):
    """A metric at some cutoffs, and the keywords of its formula."""

    spec: Any
    cutoffs: Index
    keywords: Mapping[str, Any]


# --- what a formula gets while it is recorded ----------------------------------------------------------------


class Result(NamedTuple):
    """Index of the array of a call in the list of all, and the columns that are meant, None for all."""

    slot: int
    columns: slice | None = None

    def of(self, arrays: Sequence[Array]) -> Array:
        """The array, out of the arrays of all calls."""
        array = arrays[self.slot]
        return array if self.columns is None else array[:, self.columns]


class Unknown(NDArrayOperatorsMixin):
    """What stands for an array whose values are not known yet, and refuses to be looked at."""

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        """Record a function of each entry."""
        if method != "__call__" or options or ufunc.nout > 1:
            raise NotRecorded
        return self.apply_ufunc(ufunc, inputs)

    def apply_ufunc(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Any:
        """Record a function of each entry."""
        raise NotRecorded

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        """Refuse to be an array."""
        raise NotRecorded

    __bool__ = __len__ = __iter__ = __float__ = __array__

    def __getitem__(self, at: Any) -> Any:
        """Refuse to be an array."""
        raise NotRecorded


class Recorded(Unknown):
    """The result of a call that formulas see.

    `axis`: positions of the score order, positions of the ideal order, or queries.
    """

    def __init__(self, recording: Recording, result: Result, axis: Axis) -> None:
        self.recording, self.result, self.axis = recording, result, axis

    def apply_ufunc(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Recorded:
        """Record a function of each entry."""
        return self.recording.apply_ufunc(ufunc, inputs)

    def __getitem__(self, at: Any) -> Recorded:
        """Take a column of a table with a row for each query: ``[:, i : i + 1]``."""
        is_column = isinstance(at, tuple) and at[0] == slice(None) and isinstance(at[1], slice)
        if is_column and self.axis is Axis.QUERY and self.result.columns is None:
            return Recorded(self.recording, self.result._replace(columns=at[1]), Axis.QUERY)
        raise NotRecorded


class OfGrade(Unknown):
    """A function of the grade at each position: a table, and no array as long as tables and numbers go into it."""

    def __init__(self, order: RecordedOrder, table: Array) -> None:
        self.order, self.table, self.axis = order, table, order.axis

    def apply_ufunc(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> OfGrade | Recorded:
        """Make a table of a function of tables and numbers, and record a function of anything else."""
        if all(isinstance(x, Number) or (isinstance(x, OfGrade) and x.axis is self.axis) for x in inputs):
            return OfGrade(self.order, ufunc(*(x.table if isinstance(x, OfGrade) else x for x in inputs)))
        return self.order.recording.apply_ufunc(ufunc, inputs)

    def looked_up(self) -> Recorded:
        """The same with a number for each position."""
        if self.table.dtype != np.float64:  # NumPy may compute something else with other types
            raise NotRecorded
        return self.order.apply(Call(LOOK_UP, ByGrade(self.table)))


class OfScore(Unknown):
    """The score at each position, which has only ranks."""


class RecordedOrder:
    """An order that is not known yet, for `Ranked`: by score, or the ideal one."""

    def __init__(self, recording: Recording, axis: Axis = Axis.SCORE) -> None:
        self.recording, self.axis = recording, axis

    def __getattr__(self, name: str) -> NoReturn:
        """Refuse what only rows can tell."""
        raise NotRecorded

    @property
    def ranks(self) -> Index:
        """Ranks of the longest list."""
        return self.recording.ranks

    @property
    def rank(self) -> Recorded:
        """Rank at each position."""
        return self.apply(Call(RANKS))

    @property
    def label(self) -> OfGrade:
        """Label at each position."""
        return OfGrade(self, GRADES)

    @property
    def score(self) -> OfScore:
        """Score at each position."""
        if self.axis is Axis.IDEAL:
            raise NotRecorded
        return OfScore()

    def of_label(self, function: Callable[[Array], Array]) -> OfGrade:
        """A function of the label at each position, asked for the grades that there are."""
        grades, table = self.recording.grades, np.zeros(N_GRADES)
        table[grades.astype(np.int64)] = function(grades)
        return OfGrade(self, table)

    def count_at_least(self, threshold: float) -> Recorded:
        """Rows of each query with a label of at least `threshold`."""
        return self.recording.once(Call(COUNT_ROWS, least=least_grade(threshold)), Axis.SCORE, Axis.QUERY)

    def count_ranked(self) -> Recorded:
        """Rows of each query, if all have a rank."""
        if not self.recording.all_ranked:
            raise NotRecorded
        return self.count_at_least(0.0)

    @cached_property
    def ideal(self) -> RecordedOrder:
        """The ideal order, to the same depth."""
        return RecordedOrder(self.recording, Axis.IDEAL)

    def goes_on_below(self, cutoff: int) -> bool:
        """Whether a list goes on below a cutoff: not known, unless lists are whole."""
        if cutoff < NO_CUTOFF:
            raise NotRecorded
        return False

    def apply(self, call: Call) -> Recorded:
        """Record a primitive."""
        primitive, x, y = call.primitive, call.x, call.y
        if primitive in (PAIRS, CENTERED_RANKS):
            if self.axis is Axis.IDEAL:
                raise NotRecorded
            x = None if isinstance(x, OfScore) else x.looked_up() if isinstance(x, OfGrade) else x
        elif primitive == CUMSUM and isinstance(y, OfGrade):
            y = y.looked_up()
        elif primitive in (CASCADE, CASCADE_UPWARDS) and not isinstance(x, Unknown):
            raise NotRecorded
        axis = Axis.IDEAL if primitive == AT_RANKS else self.axis
        if any(isinstance(values, Unknown) and getattr(values, "axis", None) is not axis for values in (x, y)):
            raise NotRecorded  # operands of different orders cannot be combined
        of_query = call.of_query
        if of_query is not None:
            if not isinstance(of_query, Recorded) or of_query.axis is not Axis.QUERY:
                raise NotRecorded
            of_query = of_query.result
        call = call._replace(x=self._values(x), y=self._values(y), of_query=of_query)
        return self.recording.once(call, self.axis, self.axis if primitive.columns == 0 else Axis.QUERY)

    @staticmethod
    def _values(x: Any) -> Any:
        """Values of items: a result, a table by grade, or a number for all in an array of it."""
        if isinstance(x, OfGrade):
            return ByGrade(np.ascontiguousarray(x.table, dtype=np.float64))
        if isinstance(x, Recorded):
            return x.result
        return x if x is None or isinstance(x, ByGrade) else np.array(x, dtype=np.float64, ndmin=1)


class Entry(NamedTuple):
    """A call, or a ufunc with its operands, and whether it reads the ideal order."""

    call: Call | tuple[np.ufunc, Sequence[Any]]
    is_ideal: bool


class Recording:
    """Calls of formulas under one tie policy, in turn, on rows with some grades and ranks.

    It keeps no object that refers to it, so that a plan and its arrays go when they are no longer needed.
    """

    def __init__(self, ranks: Index, grades: Array, all_ranked: bool = True) -> None:
        self.ranks, self.grades, self.all_ranked, self.depth = ranks, grades, all_ranked, 0
        self.entries: list[Entry] = []
        self._slots: dict[Hashable, int] = {}

    def once(self, call: Call, order: Axis, axis: Axis) -> Recorded:
        """Result of a call on an order, with numbers along `axis`; equal calls are recorded once."""
        is_ideal = order is Axis.IDEAL
        return self._once((is_ideal, call.key(_key_of)), Entry(call, is_ideal), axis)

    def apply_ufunc(self, ufunc: np.ufunc, inputs: Sequence[Any]) -> Recorded:
        """Record a function of each entry."""
        axis, *others = {x.axis for x in inputs if isinstance(x, (Recorded, OfGrade))}
        if others:  # arrays of different lengths
            raise NotRecorded
        operands = []
        for x in inputs:
            x = x.looked_up() if isinstance(x, OfGrade) else x
            operands.append(x.result if isinstance(x, Recorded) else np.array(x, dtype=np.float64, ndmin=1))
        return self._once((ufunc, *map(_key_of, operands)), Entry((ufunc, operands), axis is Axis.IDEAL), axis)

    def _once(self, key: Hashable, entry: Entry, axis: Axis) -> Recorded:
        slot = self._slots.setdefault(key, len(self.entries))
        if slot == len(self.entries):
            self.entries.append(entry)
        return Recorded(self, Result(slot), axis)

    def record(self, curve: CurveRequest) -> tuple[Any, Any, Any]:
        """Numerator and denominator of a formula, and what a query needs to have a value."""
        # NotRecorded is raised if it does something that cannot be recorded.
        n, spec = len(self.entries), curve.spec
        ranked = Ranked(RecordedOrder(self), curve.cutoffs, spec["min_relevance"])
        try:
            result = spec.metric.formula(ranked, **curve.keywords)
            numerator, denominator = result if isinstance(result, tuple) else (result, 1.0)
            needed = _table(ranked.n_relevant) if spec.metric.needs_relevant else None
            parts = _table(numerator), _table(denominator), needed
        except Exception as error:  # whatever a formula does with what is no array
            del self.entries[n:]
            self._slots = {key: slot for key, slot in self._slots.items() if slot < n}
            raise NotRecorded from error
        self.depth = max(self.depth, spec.depth)
        return parts


def _table(part: Any) -> Any:
    """A part of a curve with a row for each query; a number is one of all."""
    if isinstance(part, Recorded) and part.axis is Axis.QUERY:
        return part.result
    return np.array(part, dtype=np.float64, ndmin=2)


def _key_of(x: Any) -> Hashable:
    """What tells an operand from others."""
    if isinstance(x, Result):
        return x.slot, None if x.columns is None else (x.columns.start, x.columns.stop, x.columns.step)
    if isinstance(x, ByGrade):
        return "by grade", x.table.tobytes()
    return None if x is None else (x.shape, x.tobytes())


# --- plans ---------------------------------------------------------------------------------------------------


def can_be_planned(queries: Queries) -> bool:
    """Whether labels are grades, and all documents have a row."""
    return queries.grade is not None and queries.unlisted is None


class Plan:
    """Calls of some metrics, shared where they are alike, on queries that are not longer than `longest`.

    `curves` are those that can be recorded, `others` those that cannot, which depends on whether all rows are ranked.
    Programs come from a pool and go back to it; without a pool, no program outlives its call.
    """

    def __init__(
        self, curves: Sequence[CurveRequest], longest: int, grades: Array = GRADES, pool: ProgramPool | None = None,
        all_ranked: bool = True,
    ) -> None:  # fmt: skip
        self.longest, self.highest, self.key = longest, int(grades.max(initial=0)), object()
        self._pool = ProgramPool(0) if pool is None else pool
        self._grades, self._ranks, self._all_ranked = grades, np.arange(1, longest + 1), all_ranked
        self.recordings: dict[str, Recording] = {}
        self.curves: list[CurveRequest] = []
        self.others: list[CurveRequest] = []
        self.parts: list[tuple[Any, Any, Any]] = []
        for curve in curves:
            try:
                with np.errstate(all="ignore"):
                    self.parts.append(self._record(curve))
                self.curves.append(curve)
            except NotRecorded:
                self.others.append(curve)

    def _record(self, curve: CurveRequest) -> tuple[Any, Any, Any]:
        spec = curve.spec
        if spec.metric.pointwise or not spec.metric.is_built_in or spec["average"] == "micro":
            raise NotRecorded
        if spec.metric.keeps_unretrieved and not self._all_ranked:
            raise NotRecorded
        ties = spec["ties"]
        recording = self.recordings.get(ties) or Recording(self._ranks, self._grades, self._all_ranked)
        parts = recording.record(curve)
        self.recordings[ties] = recording
        return parts

    def run(self, queries: Queries, outs: Sequence[Out]) -> bool:
        """Write the values of each recorded curve; return False where a formula must say what is wrong."""
        indptr, pool = queries.grouping.indptr, self._pool
        if is_one_block(len(queries.score)):
            n_rows, n_queries = len(queries.score), len(indptr) - 1
            # Powers of two, so that other calls fit.
            program = pool.acquire(self, 1 << (n_rows - 1).bit_length(), 1 << (n_queries - 1).bit_length())
            try:
                return self._run_block(program, queries, 0, n_queries, outs)
            finally:
                pool.release(program)
        blocks = thread_blocks(indptr, queries.n_jobs, largest=FEW_ARRAYS if len(self.curves) == 1 else MANY_ARRAYS)
        n_rows = max([int(indptr[last] - indptr[first]) for first, last in blocks])
        n_queries = max([last - first for first, last in blocks])
        unused: list[BoundProgram] = []

        def run_block(first: int, last: int) -> bool:
            check_interrupt()
            parts = [(values[first:last], undefined[first:last]) for values, undefined in outs]
            try:
                program = unused.pop()
            except IndexError:
                program = pool.acquire(self, n_rows, n_queries)
            try:
                return self._run_block(program, queries, first, last, parts)
            finally:
                unused.append(program)

        try:
            return all(map_blocks(run_block, blocks, queries.n_jobs))
        finally:
            for program in unused:
                pool.release(program)

    @staticmethod
    def _run_block(program: BoundProgram, queries: Queries, first: int, last: int, outs: Sequence[Out]) -> bool:
        """Run on some queries."""
        grouping, grade = queries.grouping, queries.grade
        assert grade is not None
        indptr, score = grouping.indptr, grouping.take(queries.score, first, last)
        starts = indptr[: last + 1]
        if first:
            starts = np.subtract(indptr[first : last + 1], indptr[first], out=program.starts[: last - first + 1])
        rows = grouping.take(grade, first, last), score, starts
        return program.run(*rows, queries.has_one_score, outs)


class ProgramPool:
    """Idle programs with their arrays, at most `max_bytes` of memory: the last used stay.

    It needs no lock, because each step is one operation of a list: a call that finds no idle program makes a new one.
    """

    def __init__(self, max_bytes: float) -> None:
        self._max_bytes = max_bytes
        self._unused: list[BoundProgram] = []

    def acquire(self, plan: Plan, n_rows: int, n_queries: int) -> BoundProgram:
        """An idle program of a plan, or a new one, with room for a block."""
        for program in self._unused[::-1]:
            if program.key is plan.key:
                # Another thread may take it first.
                with suppress(ValueError):
                    self._unused.remove(program)
                    if program.n_rows >= n_rows and program.n_queries >= n_queries:
                        return program
                    break
        return BoundProgram(plan, n_rows, n_queries)

    def release(self, program: BoundProgram) -> None:
        """Keep a program if it is not too large; then drop the oldest until all fit into `max_bytes`."""
        if program.n_bytes > self._max_bytes:
            return
        self._unused.append(program)
        n_bytes = 0
        for kept in self._unused[::-1]:
            n_bytes += kept.n_bytes
            if n_bytes > self._max_bytes:
                with suppress(ValueError):
                    self._unused.remove(kept)


class BoundProgram:
    """The calls of a plan bound to arrays, with room for a block of rows: one thread at a time runs it."""

    def __init__(self, plan: Plan, n_rows: int, n_queries: int) -> None:
        self.key, self.n_rows, self.n_queries, self._highest = plan.key, n_rows, n_queries, plan.highest
        self.n_bytes, self._longest = 0, min(plan.longest, n_rows)
        self.starts = self._empty(n_queries + 1, np.int64)
        self._steps: list[Callable[[], object]] = []
        self._scratch = Scratch(self._longest)
        orders, arrays = [], {}
        for ties, recording in plan.recordings.items():
            order = self._order(ties, recording.depth)
            if not recording.all_ranked:
                # Lists of few relevant rows would be ranked with the rows that were not retrieved.
                order.read_all_ties()
            orders.append(order)
            arrays[ties] = self._bind(recording, order)
        ratios = []
        for curve, parts in zip(plan.curves, plan.parts, strict=True):
            numerator, denominator, needed = [_array_of(part, arrays[curve.spec["ties"]]) for part in parts]
            otherwise = curve.spec["replace_undefined_by"]
            needed = None if parts[2] is parts[1] else needed
            ratios.append(kernels.Ratio(numerator, denominator, needed, 0.0 if math.isnan(otherwise) else otherwise))
        self._program = kernels.Program(orders, self._steps, ratios)
        self._has_ufuncs = any(
            not isinstance(entry.call, Call) for of in plan.recordings.values() for entry in of.entries
        )
        self.n_bytes += self._scratch.n_bytes + sum(x.nbytes for of in arrays.values() for x in of)
        self.n_bytes += BYTES_OF_STEP * (len(orders) + len(self._steps) + len(ratios))

    def run(self, grade: Grade, score: NDArray[Any], indptr: Index, is_constant: bool, outs: Sequence[Out]) -> bool:
        """Write the values of each curve for some rows; return False where a formula must say what is wrong."""
        if not self._has_ufuncs:
            return self._program(grade, score, indptr, is_constant, outs)
        with np.errstate(all="ignore"):  # each metric looks for what is not finite
            return self._program(grade, score, indptr, is_constant, outs)

    def _order(self, ties: str, depth: int) -> kernels.ScoreOrder:
        grade, tie_end = self._empty(self.n_rows, np.uint8), self._empty(self.n_rows, np.int64)
        ptr, work = self._empty(self.n_queries + 1, np.int64), self._empty(sorting_kernels.memory_for(self._longest))
        return kernels.ScoreOrder(depth, TIE_POLICIES[ties], self._longest, grade, tie_end, ptr, work)

    def _bind(self, recording: Recording, order: kernels.ScoreOrder) -> list[Array]:
        """Arrays of all calls, each written by a step."""
        arrays: list[Array] = []
        best: kernels.BestOrder | None = None
        for entry in recording.entries:
            call = entry.call
            if best is None and entry.is_ideal:
                best = self._best(order)
            lists: Any = best if entry.is_ideal else order
            step: Callable[[], object]
            if isinstance(call, Call):
                if call.primitive in (PAIRS, CENTERED_RANKS):
                    order.read_all_ties()
                step, out = call.bind(
                    lists, self._scratch, self.n_rows, self.n_queries, array_of=lambda x: _array_of(x, arrays),
                    best=best,
                )  # fmt: skip
            else:
                ufunc, operands = call
                step, out = _bound_ufunc(lists, ufunc, operands, arrays)
            self._steps.append(step)
            arrays.append(out)
        return arrays

    def _best(self, order: kernels.ScoreOrder) -> kernels.BestOrder:
        grade, ptr = self._empty(self.n_rows, np.uint8), self._empty(self.n_queries + 1, np.int64)
        best = kernels.BestOrder(order, self._highest, grade, ptr)
        self._steps.append(best)
        return best

    def _empty(self, length: int, dtype: Any = np.float64) -> NDArray[Any]:
        """Memory that counts."""
        self.n_bytes += length * np.dtype(dtype).itemsize
        return np.empty(length, dtype=dtype)


def _array_of(x: Any, arrays: Sequence[Array]) -> Any:
    """The array that an operand stands for; other operands are arrays already."""
    return x.of(arrays) if isinstance(x, Result) else x


def _bound_ufunc(
    lists: kernels.Lists, ufunc: np.ufunc, operands: Sequence[Any], arrays: Sequence[Array]
) -> tuple[Callable[[], object], Array]:  # fmt: skip
    """A function of the first entries of arrays, and of constants; and the array of results."""
    known = [(_array_of(x, arrays), isinstance(x, Result)) for x in operands]
    out = np.empty(np.broadcast_shapes(*[x.shape for x, _ in known]), order="F")
    of_items = out.ndim == 1

    def step() -> None:
        n = lists.n_positions if of_items else lists.n_queries
        ufunc(*[x[:n] if is_recorded else x for x, is_recorded in known], out=out[:n])

    return step, out


# --- formulas that are not recorded --------------------------------------------------------------------------


def fill(queries: Queries, curves: Sequence[tuple[PerQuery, Mapping[str, Any]]]) -> None:
    """Compute curves formula by formula, each with its keywords; those that rank alike share one sort."""
    asked = [(curve, RankingKey.of(curve.spec, queries), keywords) for curve, keywords in curves]
    depth: dict[RankingKey, int] = {}
    for curve, key, _ in asked:
        depth[key] = max(depth.get(key, 0), curve.spec.depth)

    def fill_block(first: int, last: int) -> None:
        known: dict[Any, Any] = {}
        rankings = {key: rank_block(queries, first, last, key, d, known) for key, d in depth.items()}
        with np.errstate(over="ignore", invalid="ignore"):  # each metric looks for what is not finite
            for curve, key, keywords in asked:
                check_interrupt()
                curve.fill(first, last, rankings[key], keywords)

    largest = FEW_ARRAYS if len(asked) == 1 else SOME_ARRAYS
    map_blocks(fill_block, thread_blocks(queries.grouping.indptr, queries.n_jobs, largest=largest), queries.n_jobs)
