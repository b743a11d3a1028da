"""Values of metrics on few rows: where a general path takes longer than the work.

Metrics are planned once, for any grades and scores. After that a call takes the steps of the plan.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_rank._engine.plan import Plan, Rows
from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.queries import DataSummary, Queries
from sklearn_rank._engine.quick import FEW_ROWS
from sklearn_rank._engine.values import PerQuery


def longest_of_few() -> Queries:
    """Queries that keywords are bound to for any few rows: one of as many rows as there may be."""
    zeros, ends = np.zeros(FEW_ROWS), np.array([0, FEW_ROWS])
    return Queries(zeros, zeros, ends, None, np.zeros(1), None, DataSummary((0.0, 0.0), False, False))


def values_of_few(queries: Queries, specs: Sequence[MetricRequest], plan: Plan) -> list[PerQuery] | None:
    """Values of each metric; None where the general path must compute them, or tell what is wrong."""
    grade, score, order, n_rows = queries.grade, queries.score, queries.order, len(queries.score)
    assert grade is not None
    if order is not None:
        grade, score = grade.take(order), score.take(order)
    n_queries = len(queries.indptr) - 1
    values = [PerQuery.empty(spec, cutoffs, n_queries) for spec, cutoffs in zip(specs, plan.cutoffs, strict=True)]
    room = 2 ** (n_rows - 1).bit_length()
    outs = [(of_metric.numerator, of_metric.undefined) for of_metric in values]
    if not plan.fill(Rows(grade, score, queries.indptr), outs, room, room):
        return None
    return [of_metric.at(spec) for spec, of_metric in zip(specs, values, strict=True)]
