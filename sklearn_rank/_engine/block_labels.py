"""Labels of a block of queries, as a metric reads them, and what depends on them alone.

Rankings of the same labels by other scores share it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import rank as rank_kernels
from sklearn_rank._engine.unlisted import DocumentsWithoutRow
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index


class BlockLabels:
    """Labels of the rows ``indptr[q]:indptr[q + 1]`` of each query q, and of documents that have no row.

    `kept` is True for the rows of the block that these are, None for all of them. `shared` are arrays that are
    computed for one formula and read by others.
    """

    def __init__(
        self,
        label: Array,
        indptr: Index,
        unlisted: DocumentsWithoutRow | None = None,
        kept: NDArray[np.bool_] | None = None,
    ) -> None:
        self.label, self.indptr, self.unlisted, self.kept = label, indptr, unlisted, kept
        self.shared: dict[Any, Any] = {}

    @cached_property
    def judged(self) -> tuple[Array, Index]:
        """Labels of the documents that an ideal list is made of, and where each query starts."""
        rows = self.label, self.indptr
        return rows if self.unlisted is None else self.unlisted.add_kept(*rows)

    @cached_property
    def subtopics(self) -> list[BlockLabels]:
        """The labels of each subtopic; labels without a second axis are one subtopic."""
        if self.label.ndim == 1:
            return [self]
        return [BlockLabels(label, self.indptr, self.unlisted) for label in np.ascontiguousarray(self.label.T)]

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query with a label of at least `threshold`, shape (n_queries, 1)."""
        count = rows_at_least(self.label, self.indptr, threshold)
        return count if self.unlisted is None else count + self.unlisted.count_at_least(threshold)


def rows_at_least(x: Array, indptr: Index, threshold: float) -> Array:
    """Rows of each query with a value of at least `threshold`, shape (n_queries, 1)."""
    count = np.empty((len(indptr) - 1, 1))
    rank_kernels.count_at_least(x, indptr, threshold, count)
    return count
