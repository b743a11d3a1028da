"""Plain arrays in one pass: each block is checked, grouped, ranked and computed while the cache holds it.

It is for three columns of numbers, of queries whose ids rise, and for one metric. What is anything else, or wrong, is
left to the general path, which begins again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.at_once import NotPlain, PlainBlock, falls_somewhere, next_start, read_block
from sklearn_rank._engine.values import PerQuery, places_of, room_for_values, totals
from sklearn_rank._metric.plans import ANY_FEW, FEW_ROWS, LONGEST_REMEMBERED, SHORT, Kind, PlannedMetrics, plan_of
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.threads import for_each, heed, is_one_block, row_blocks
from sklearn_rank._utils.typing import Array

LONGEST = LONGEST_REMEMBERED - 56
"""Rows that a query may have; no power of 2, at which arrays of a plan would share their places in the cache."""


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
            return _of_block(spec, y_true, y_score, qid)[0]
        return PerQuery.joined(_of_blocks(spec, y_true, y_score, qid, n_jobs))
    except NotPlain:
        return None


def mean_in_one_pass(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None
) -> list[float] | None:  # fmt: skip
    """Mean at each cutoff of a metric on plain arrays; None where the general path has more to do.

    Of one block it keeps no values of queries: a call on ten rows takes 0.63 of the time.
    """
    try:
        if is_one_block(qid.size):
            values = _values_of_block(spec, y_true, y_score, qid)
        else:
            parts = _of_blocks(spec, y_true, y_score, qid, n_jobs)
            values = np.concatenate([part.numerator.T for part in parts], axis=1).T
    except NotPlain:
        return None
    means = [total / len(values) for total in totals(values, None)]
    return means if math.isfinite(sum(means)) else None


def _values_of_block(spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any]) -> Array:
    """Values alone of the queries of one block, at each cutoff."""
    block, metrics = _read(spec, y_true, y_score, qid, is_few=len(qid) <= FEW_ROWS)
    (cutoffs,) = metrics.plan.cutoffs
    out = room_for_values(len(block.rows.indptr) - 1, len(cutoffs))
    if not metrics.plan.fill(block.rows, [out]):
        raise NotPlain
    return out[0] if cutoffs is spec.cutoffs else out[0][:, places_of(spec.cutoffs, cutoffs)]


def _of_blocks(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None
) -> list[PerQuery]:  # fmt: skip
    """Values of many rows, block by block; raises NotPlain where there are none."""
    if falls_somewhere(qid):
        raise NotPlain
    blocks = row_blocks(qid.size, n_jobs)
    n_rows = blocks[0][1] + LONGEST + 1  # of the largest block, which may go on to the end of a query
    plans: set[PlannedMetrics] = set()

    def compute(start: int, stop: int) -> PerQuery | None:
        heed()
        start, stop = next_start(qid, start, LONGEST), next_start(qid, stop, LONGEST)
        if start == stop:
            return None
        values, metrics = _of_block(spec, y_true[start:stop], y_score[start:stop], qid[start:stop], n_rows)
        plans.add(metrics)
        return values

    try:
        parts = for_each(compute, blocks, n_jobs)
        return [part for part in parts if part is not None]
    finally:
        for metrics in plans:
            metrics.plan.let_go()


def _of_block(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_rows: int = 0
) -> tuple[PerQuery, PlannedMetrics]:
    """Values of whole queries, of which the largest block has `n_rows` if there are others, and what computed them."""
    block, metrics = _read(spec, y_true, y_score, qid, is_few=not n_rows and len(qid) <= FEW_ROWS)
    n_queries = len(block.rows.indptr) - 1
    (values,) = metrics.empty(n_queries)
    out = values.numerator, values.undefined
    if not metrics.plan.fill(block.rows, [out], n_rows, n_rows and 1 << n_queries.bit_length()):
        raise NotPlain
    return values.at(spec), metrics  # plans for short lists leave out cutoffs


def _read(
    spec: MetricSpec, y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], *, is_few: bool
) -> tuple[PlainBlock, PlannedMetrics]:
    """Whole queries, and what computes them; raises NotPlain where nothing does."""
    block = read_block(y_true, y_score, qid)
    metrics = None if block is None else plan_of([spec], ANY_FEW if is_few else _kind_of(block))
    if block is None or metrics is None or block.longest > LONGEST or block.highest > metrics.highest_label:
        raise NotPlain
    return block, metrics


def _kind_of(block: PlainBlock) -> Kind:
    """Kind of the rows of a block, the same for blocks of short queries of one length, and for all others."""
    alike = block.longest < SHORT and block.longest * (len(block.rows.indptr) - 1) == len(block.rows.grade)
    return Kind(block.longest if alike else LONGEST, (2 << block.highest) - 1)
