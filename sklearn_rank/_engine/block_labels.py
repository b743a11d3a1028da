"""Labels of a block of queries, as a metric reads them, and what depends on them alone.

Rankings of the same labels by other scores share it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.queries import DocumentsWithoutRow
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Grade, Index

MOST_GRADE = 31
"""Highest label that is kept as a byte."""


class BlockLabels:
    """Labels of the rows ``indptr[q]:indptr[q + 1]`` of each query q, and of documents that have no row.

    `kept` is True for the rows of the block that these are, None for all of them. `grade` is `label` as bytes, None
    where labels are not known to be grades; one of both is given, and no grade is above `highest`. `shared` are arrays
    that are computed for one formula and read by others.
    """

    highest = MOST_GRADE

    def __init__(
        self,
        label: Array | None,
        indptr: Index,
        unlisted: DocumentsWithoutRow | None = None,
        kept: NDArray[np.bool_] | None = None,
        grade: Grade | None = None,
        highest: int = MOST_GRADE,
    ) -> None:
        self._label, self.indptr, self.unlisted, self.kept, self.grade = label, indptr, unlisted, kept, grade
        self.highest = highest
        self.shared: dict[Any, Any] = {}

    @property
    def label(self) -> Array:
        """Label of each row."""
        if self._label is None:
            assert self.grade is not None
            self._label = self.grade.astype(np.float64)
        return self._label

    @cached_property
    def judged(self) -> tuple[Array, Index]:
        """Labels of the documents that an ideal list is made of, and where each query starts."""
        rows = self.label, self.indptr
        return rows if self.unlisted is None else self.unlisted.add_kept(*rows)

    @cached_property
    def subtopics(self) -> list[BlockLabels]:
        """The labels of each subtopic."""
        return [BlockLabels(label, self.indptr, self.unlisted) for label in np.ascontiguousarray(self.label.T)]

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query with a label of at least `threshold`, shape (n_queries, 1)."""
        if self.grade is None:
            count = rows_at_least(self.label, self.indptr, threshold)
        else:
            count = np.empty((len(self.indptr) - 1, 1))
            least = math.ceil(min(max(threshold, 0.0), MOST_GRADE + 1.0))
            rank_kernels.count_grades_at_least(self.grade, self.indptr, least, count)
        return count if self.unlisted is None else count + self.unlisted.count_at_least(threshold)


def rows_at_least(x: Array, indptr: Index, threshold: float) -> Array:
    """Rows of each query with a value of at least `threshold`, shape (n_queries, 1)."""
    count = np.empty((len(indptr) - 1, 1))
    rank_kernels.count_at_least(x, indptr, threshold, count)
    return count


def as_grades(label: Array) -> Grade | None:
    """Labels as bytes, None if one of them is no whole number from 0 to 31."""
    if label.ndim == 2:
        return None
    grade = np.empty(len(label), dtype=np.uint8)
    seen = read_rows(np.ascontiguousarray(label), None, None, 0, len(label), grade, None, None)
    return grade if seen is not None and seen[2] else None
