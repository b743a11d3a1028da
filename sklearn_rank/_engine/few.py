"""Values of metrics on few rows: where a general path takes longer than the work.

Each formula is traced once, for any grades and scores. After that a call ranks the rows, takes the steps of the
formulas, and divides. What is rare is left to the general path.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.queries import DataSummary, Queries
from sklearn_rank._engine.quick import FEW_ROWS
from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._engine.traced import NotTraced, Steps, TracedQueries
from sklearn_rank._engine.values import ONE, PerQuery
from sklearn_rank._utils.typing import Array, Grade, Index


def longest_of_few() -> Queries:
    """Queries that keywords are bound to for any few rows: one of as many rows as there may be."""
    zeros, ends = np.zeros(FEW_ROWS), np.array([0, FEW_ROWS])
    return Queries(zeros, zeros, ends, None, np.zeros(1), None, DataSummary((0.0, 0.0), False, False))


class FewSteps:
    """Steps of one metric, for all grades up to `highest`.

    Raises
    ------
    NotTraced
        If the metric is not simple enough.
    """

    def __init__(self, spec: MetricRequest, keywords: Mapping[str, Any], highest: float) -> None:
        metric, self._otherwise = spec.metric, spec["replace_undefined_by"]
        rare = metric.pointwise or not metric.is_built_in or metric.transform is not None
        if rare or spec["average"] not in ("macro", None) or math.isnan(self._otherwise):
            raise NotTraced
        self.ties, self.depth, self.highest, self._n_cutoffs = spec["ties"], spec.depth, highest, len(spec.cutoffs)
        self._needed = spec["min_relevance"] if metric.needs_relevant else None
        self._ones = np.ndarray((FEW_ROWS, self._n_cutoffs), buffer=ONE, strides=(0, 0))
        ranks = np.arange(1, FEW_ROWS + 1)
        with np.errstate(over="ignore", invalid="ignore"):
            self._steps = Steps(
                metric.formula, keywords,
                lambda steps: TracedQueries(spec["min_relevance"], spec.cutoffs, ranks, steps),
            )  # fmt: skip
        self.has_ufuncs = self._steps.has_ufuncs  # which may warn of what is not finite, and each metric looks for it

    def values(self, spec: MetricRequest, ranking: FewRanked) -> PerQuery | None:
        """Values of each query; None where the general path has more to say."""
        numerator, denominator = self._steps.take(ranking)
        shape = len(ranking.ptr) - 1, self._n_cutoffs
        out, undefined = np.empty(shape, order="F"), np.zeros(shape, dtype=bool, order="F")
        needed = None if self._needed is None else ranking.n_relevant(self._needed)
        if not rank_kernels.divide(numerator, denominator, needed, self._otherwise, out, undefined):
            return None
        return PerQuery(spec, spec.cutoffs, out, self._ones[: len(out)], undefined)


def values_of_few(
    queries: Queries, metrics: Iterable[tuple[MetricRequest, FewSteps | None]]
) -> list[PerQuery] | None:  # fmt: skip
    """Values of each metric; None where the general path must compute them, or tell what is wrong."""
    grade, highest = queries.grade, queries.summary.label_range[1]
    if grade is None or len(grade) > FEW_ROWS or type(queries) is not Queries:
        return None
    if queries.summary.has_unretrieved or queries.unlisted is not None:
        return None
    depths: dict[str, int] = {}
    wanted: list[tuple[MetricRequest, FewSteps]] = []
    has_ufuncs = False
    for spec, steps in metrics:
        if steps is None or highest > steps.highest:
            return None
        wanted.append((spec, steps))
        has_ufuncs |= steps.has_ufuncs
        depths[steps.ties] = max(depths.get(steps.ties, 0), steps.depth)
    score, order = queries.score, queries.order
    if order is not None:
        grade, score = grade.take(order), score.take(order)
    labels = BlockLabels(None, queries.indptr, grade=grade)
    best: dict[int, FewRanked] = {}
    rankings = {ties: FewRanked(labels, score, ties, depth, best) for ties, depth in depths.items()}
    try:
        if not has_ufuncs:
            return _take_all(wanted, rankings)
        with np.errstate(over="ignore", invalid="ignore"):
            return _take_all(wanted, rankings)
    except NotTraced:
        return None


def _take_all(
    metrics: Sequence[tuple[MetricRequest, FewSteps]], rankings: Mapping[str, FewRanked]
) -> list[PerQuery] | None:  # fmt: skip
    """Values of each metric; None if one of them has none here."""
    values = []
    for spec, steps in metrics:
        of_queries = steps.values(spec, rankings[steps.ties])
        if of_queries is None:
            return None
        values.append(of_queries)
    return values


class FewRanked:
    """Rows in the order of their scores, or by falling grade where there are none, and what formulas read of them.

    `best` are the best orders by depth, which rankings share. It is no part of what these refer to: a call that leaves
    a circle of objects behind leaves its arrays to the collector of garbage, and takes a tenth longer.
    """

    def __init__(
        self, labels: BlockLabels, score: NDArray[Any] | None, ties: str, depth: int, best: dict[int, FewRanked]
    ) -> None:
        assert labels.grade is not None
        self._labels, self.depth, self._best, indptr = labels, depth, best, labels.indptr
        n_rows, self.ptr = len(labels.grade), np.empty(len(indptr), dtype=np.int64)
        self.tie_end: Index | None = None
        grade = np.empty(n_rows, dtype=np.uint8)
        if score is None:
            rank_kernels.rank_grades(labels.grade, indptr, depth, labels.highest, grade, self.ptr)
        else:
            self._rank(score, ties, grade)
        self.n_positions = n = self.ptr.item(-1)
        self.grade: Grade = grade if n == n_rows else grade[:n]
        self._known: dict[Any, Array] = {}

    def _rank(self, score: NDArray[Any], ties: str, grade: Grade) -> None:
        """Rank by falling score, and write the grade at each position."""
        labels, tie_end, n_rows = self._labels, np.empty(len(score), dtype=np.int64), len(score)
        narrow, reads = score.dtype == np.float32, ties in ("worst", "best")
        tied = rank_kernels.rank_queries(
            None if narrow else score, score if narrow else None, labels.label if reads else None, labels.grade,
            labels.indptr, self.depth, TIE_POLICIES[ties], False, n_rows, None, tie_end, self.ptr, grade,
            np.empty(rank_kernels.room_for(n_rows)),
        )  # fmt: skip
        self.tie_end = tie_end[: self.ptr.item(-1)] if tied else None

    @property
    def ideal(self) -> FewRanked:
        """The best order, to the same depth."""
        best = self._best.get(self.depth)
        if best is None:
            best = self._best[self.depth] = FewRanked(self._labels, None, "stable", self.depth, {})
        return best

    def apply(self, ufunc: np.ufunc, operands: list[Array]) -> Array:
        """A function of each entry."""
        values: Array = ufunc(*operands)
        return values

    def cumsum(
        self, value: Array, grade: Grade | None, weight: Array, discount: Array | None, over_rank: bool, cutoffs: Index
    ) -> Array:  # fmt: skip
        """See `Order.cumsum`."""
        out, ptr = np.empty((len(self.ptr) - 1, len(cutoffs)), order="F"), self.ptr
        rank_kernels.cumsum(value, grade, weight, discount, over_rank, ptr, cutoffs, self.tie_end, out)
        return out

    def joint(self, x: Array, y: Array, most: Array | None) -> Array:
        """See `Order.joint`."""
        out = np.empty(self.n_positions)
        rank_kernels.joint(x, y, most, self.ptr, self.tie_end, out)
        return out

    def sums_of_means(self, relevant: Array, value: Array, cutoffs: Index) -> Array:
        """See `Order.sums_of_means`."""
        out = np.empty((len(self.ptr) - 1, len(cutoffs)), order="F")
        rank_kernels.means_of_items(relevant, value, self.ptr, cutoffs, self.tie_end, out)
        return out

    def cascade(self, p: Array, work: Array) -> Array:
        """See `Order.cascade`."""
        out = np.empty(self.n_positions)
        if not rank_kernels.cascade(p, self.ptr, self.tie_end, self.depth, work, out):
            raise NotTraced  # which the formula itself says more of
        return out

    def of_grade(self, key: Any, table: Array) -> Array:
        """Entry of a table for the grade at each position; a key stands for one table."""
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = np.empty(self.n_positions)
            rank_kernels.look_up(table, self.grade, known)
        return known

    def n_relevant(self, least: float) -> Array:
        """Rows of each query with a label of at least `least`, shape (n_queries, 1)."""
        shared = self._labels.shared
        if least not in shared:
            shared[least] = self._labels.count_at_least(least)
        count: Array = shared[least]
        return count

    @property
    def n(self) -> Array:
        """Rows of each query, shape (n_queries, 1)."""
        return self.n_relevant(0.0)
