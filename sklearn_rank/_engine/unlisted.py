"""Documents without a row. Most metrics only need their number per query and label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.typing import Array, Index


@dataclass(frozen=True, eq=False, repr=False)
class DocumentsWithoutRow:
    """Groups of documents of one query and label: they stand below the list (`ranked`), or were not retrieved.

    `kept` is how many of each group an ideal list can hold: none of a label that is not above 0, else as many as such a
    list is deep.
    """

    query: Index
    label: Array
    count: Index
    kept: Index
    n_queries: int
    ranked: bool

    @classmethod
    def groups(
        cls, query: Index, label: Array, count: Index, n_queries: int, *, depth: int, ranked: bool
    ) -> DocumentsWithoutRow:
        """Keep what ideal lists of at most `depth` documents need of these groups."""
        kept = np.where(label > 0, np.minimum(count, depth), 0)
        return cls(query, label, count, kept, n_queries, ranked)

    def of_queries(self, first: int, last: int) -> DocumentsWithoutRow:
        """Those of the queries `first` to `last`."""
        return self._where((self.query >= first) & (self.query < last), -first, last - first)

    def read_unjudged(self, unjudged: str | None) -> DocumentsWithoutRow:
        """The same with NaN labels read as a metric's keyword says."""
        if unjudged == "drop":
            return self._where(~np.isnan(self.label), 0, self.n_queries)
        return self if unjudged is None else replace(self, label=np.nan_to_num(self.label))

    def _where(self, chosen: NDArray[np.bool_], shift: int, n_queries: int) -> DocumentsWithoutRow:
        query, label = self.query[chosen] + shift, self.label[chosen]
        return DocumentsWithoutRow(query, label, self.count[chosen], self.kept[chosen], n_queries, self.ranked)

    def count_at_least(self, threshold: float) -> Array:
        """Documents of each query whose label is at least `threshold`, shape (n_queries, 1)."""
        return self._count(self.count * (self.label >= threshold))

    @property
    def n_ranked(self) -> Array:
        """Documents of each query that have a rank, shape (n_queries, 1)."""
        return self._count(self.count * self.ranked)

    @property
    def n_kept(self) -> Array:
        """Documents of each query that an ideal list can hold, shape (n_queries, 1)."""
        return self._count(self.kept)

    def _count(self, count: Index) -> Array:
        return np.bincount(self.query, count, self.n_queries)[:, None].astype(np.float64)

    def add_kept(self, label: Array, indptr: Index) -> tuple[Array, Index]:
        """Labels of listed documents, and of those that an ideal list can hold besides."""
        added = np.repeat(self.query, self.kept)
        n_added = np.bincount(added, minlength=self.n_queries)
        label = np.insert(label, indptr[added + 1], np.repeat(self.label, self.kept))
        return label, indptr + np.append(0, np.cumsum(n_added))
