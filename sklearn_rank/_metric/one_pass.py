"""Plain arrays in one pass: each block is checked, grouped, ranked and computed while the cache holds it.

It is for three columns of numbers, of queries whose ids rise, and for one metric. What is anything else, or wrong, is
left to the general path, which begins again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.check import NotPlain, PlainBlock, falls_somewhere, read_block, whole_queries
from sklearn_rank._engine.plan import Out, Plan, Room
from sklearn_rank._engine.values import PerQuery, places_of, room_for_values, totals
from sklearn_rank._metric.plans import ANY_FEW, FEW_ROWS, LONGEST_REMEMBERED, SHORT, Kind, plan_of
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.threads import heed, is_one_block, row_blocks, threads_for, with_own

LONGEST = LONGEST_REMEMBERED - 56
"""Rows that a query may have; no power of 2, at which arrays of a plan would share their places in the cache."""

INT64, UINT8 = np.dtype(np.int64), np.dtype(np.uint8)


def are_plain(spec: MetricSpec, y_true: Any, y_score: Any, qid: Any) -> bool:
    """Whether these are columns of as many numbers, and the metric is one whose plan is remembered."""
    if not (spec.is_shared and type(y_true) is type(y_score) is type(qid) is np.ndarray and qid.dtype.kind in "iu"):
        return False
    return y_true.shape == y_score.shape == qid.shape and qid.size > 0


def in_one_pass(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None
) -> PerQuery | None:  # fmt: skip
    """Values of a metric on plain arrays; None where the general path has more to do, or to say."""
    try:
        if is_one_block(qid.size):
            return PerQuery.of_ratios(spec, *_of_one_block(spec, y_true, y_score, qid))
        values, undefined = zip(*_of_blocks(spec, y_true, y_score, qid, n_jobs), strict=True)
        return PerQuery.of_ratios(spec, _joined(values), _joined(undefined))
    except NotPlain:
        return None


def mean_in_one_pass(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None
) -> list[float] | None:  # fmt: skip
    """Mean at each cutoff of a metric on plain arrays; None where the general path has more to do.

    A call on ten rows takes 0.63 of the time of one that keeps the values of queries.
    """
    try:
        if is_one_block(qid.size):
            values, _ = _of_one_block(spec, y_true, y_score, qid)
        else:
            values = _joined([values for values, _ in _of_blocks(spec, y_true, y_score, qid, n_jobs)])
    except NotPlain:
        return None
    means = [total / len(values) for total in totals(values, None)]
    return means if math.isfinite(sum(means)) else None


def _joined(blocks: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Rows of all blocks; a column is contiguous."""
    return np.concatenate([block.T for block in blocks], axis=1).T


def _of_blocks(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None
) -> list[Out]:  # fmt: skip
    """Values of the queries of each block, and whether they are undefined; raises NotPlain where there are none."""
    if falls_somewhere(qid):
        raise NotPlain
    blocks = row_blocks(qid.size, n_jobs)
    n_rows = blocks[0][1] + LONGEST + 1  # of the largest block, which may go on to the end of a query
    return with_own(
        lambda: OneThread(spec, y_true, y_score, qid, n_rows).compute,
        whole_queries(qid, blocks, LONGEST),
        threads_for(len(blocks), n_jobs),
    )


def _of_one_block(spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any]) -> Out:
    """Values of the only block, in arrays that its plan keeps from one call to the next."""
    n_rows = len(qid)
    block = read_block(y_true, y_score, qid, np.empty(n_rows, UINT8), np.empty(n_rows + 1, INT64))
    plan = _plan_for(block, ANY_FEW if n_rows <= FEW_ROWS else _kind_of(block), spec)
    return _filled(spec, plan, plan, block)


class OneThread:
    """What one thread computes: one block after the other, of up to `n_rows`, in arrays that stay."""

    _plan: Plan
    _room: Room

    def __init__(
        self, spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_rows: int
    ) -> None:  # fmt: skip
        self._spec, self._arrays, self._n_rows = spec, (y_true, y_score, qid), n_rows
        self._grade, self._starts = np.empty(n_rows, UINT8), np.empty(n_rows + 1, INT64)
        self._kind = Kind(0, 0)

    def compute(self, rows: tuple[int, int]) -> Out:
        """Values of the whole queries of some rows, and whether they are undefined."""
        heed()
        y_true, y_score, qid = [x[slice(*rows)] for x in self._arrays]
        block = read_block(y_true, y_score, qid, self._grade, self._starts)
        self._make_room(block)
        return _filled(self._spec, self._plan, self._room, block)

    def _make_room(self, block: PlainBlock) -> None:
        """Plan for a block and room for it: those of the block before, unless it had other lengths or lower grades."""
        kind, n_queries = _kind_of(block), len(block.rows.indptr) - 1
        if kind.longest != self._kind.longest or kind.grades > self._kind.grades:
            self._kind, self._plan = kind, _plan_for(block, kind, self._spec)
        elif self._room.n_queries >= n_queries:
            return
        self._room = Room(self._plan, self._n_rows, 1 << n_queries.bit_length())


def _plan_for(block: PlainBlock, kind: Kind, spec: MetricSpec) -> Plan:
    """Plan for a block of a kind; raises NotPlain where there is none."""
    metrics = plan_of([spec], kind)
    if metrics is None or block.highest > metrics.highest_label:
        raise NotPlain
    return metrics.plan


def _kind_of(block: PlainBlock) -> Kind:
    """Kind of the rows of a block, the same for blocks of short queries of one length, and for all others.

    Raises
    ------
    NotPlain
        If a query is longer than any that there are plans for.
    """
    if block.longest > LONGEST:
        raise NotPlain
    alike = block.longest < SHORT and block.longest * (len(block.rows.indptr) - 1) == len(block.rows.grade)
    return Kind(block.longest if alike else LONGEST, (2 << block.highest) - 1)


def _filled(spec: MetricSpec, plan: Plan, room: Plan | Room, block: PlainBlock) -> Out:
    """Values at each cutoff of a metric; raises NotPlain where the general path has more to say."""
    (cutoffs,) = plan.cutoffs
    out = room_for_values(len(block.rows.indptr) - 1, len(cutoffs))
    if not room.fill(block.rows, [out]):
        raise NotPlain
    if cutoffs is spec.cutoffs:
        return out
    at = places_of(spec.cutoffs, cutoffs)  # plans for short lists leave out those beyond their ends
    return out[0][:, at], out[1][:, at]
