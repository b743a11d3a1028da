"""Rows in any order with the number of their query: checked without being grouped, and as narrow as they came."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.columns import Columns
from sklearn_rank._engine.check import check_shapes, queries_of
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import Number, refuse_other_queries
from sklearn_rank._engine.queries import Queries
from sklearn_rank._utils.numbers import aligned, as_reals, column, refuse_inexact


class ScatteredRows(NamedTuple):
    """Rows in the order of the stream. Labels and scores are of types that float64 holds exactly."""

    number: Number
    label: NDArray[Any]
    score: NDArray[Any]


def check_ungrouped(columns: Columns, n_jobs: int | None) -> tuple[Queries, NDArray[Any]]:
    """Check rows without weights; each is a query here. Return them, and the scores in the type that they came in.

    Raises
    ------
    ValueError or TypeError
        If they are not plain rows: `check_part` then says what is wrong, in the words and the order of `evaluate`.
    """
    y_true, y_score, qid, _ = columns[:4]
    label, score = _narrow(y_true, "y_true"), _narrow(y_score, "y_score")
    check_rows(y_true=y_true, y_score=y_score, qid=qid)
    check_shapes(label, score)
    refuse_other_queries(y_score, qid, name="y_score")
    row = np.arange(len(score) + 1)
    return queries_of(widened(label), widened(score), row, row[:-1], None, None, n_jobs), score


def widened(numbers: NDArray[Any]) -> NDArray[np.float64]:
    """The numbers as float64."""
    return aligned(np.ascontiguousarray(numbers, dtype=np.float64))


def _narrow(x: Any, name: str) -> NDArray[Any]:
    array = as_reals(x, name)
    if array.dtype.kind != "f" or array is not x:  # floats that came as floats are as they were
        refuse_inexact(x, name)
    return column(array)


def narrow_labels(label: NDArray[np.float64]) -> NDArray[Any]:
    """Labels as bytes, if each is bit by bit what its byte becomes again; else a copy of them."""
    with np.errstate(invalid="ignore"):
        grade = label.astype(np.uint8)
    is_exact = np.array_equal(grade.astype(np.float64).view(np.int64), label.view(np.int64))
    return grade if is_exact else label.copy()
