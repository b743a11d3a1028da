"""The data behind a result: kept, so that it can be ranked again, or summarised."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.fingerprints import Fingerprints, fingerprints_of
from sklearn_rank._engine.queries import BYTE, LazyQueries, Queries
from sklearn_rank._engine.ranking import tied_across
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.references import References, specs_in_orders
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, Index

CHECKED_ROWS = 2**10
"""Rows that tell whether labels were changed."""


@dataclass(frozen=True)
class RankedData:
    """Checked data, which can be ranked again.

    Attributes
    ----------
    queries : Queries or LazyQueries
    n_jobs : int or None
        Threads to use when they are ranked again.
    known_fingerprints : ndarray of shape (n_queries,) or None
        Fingerprints of the labels, where they were computed with the metrics. None: they are computed when asked for.
    labels_checksum : int or None
        Of labels that may be an array of the user.
    """

    queries: Queries | LazyQueries
    n_jobs: int | None = None
    known_fingerprints: Fingerprints | None = None
    labels_checksum: int | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        """Remember what labels are, unless they are bytes of our own."""
        if isinstance(self.queries, Queries) and self.queries.row_label.dtype is not BYTE:
            object.__setattr__(self, "labels_checksum", checksum(self.queries.row_label))

    @property
    def n_documents(self) -> Index:
        """Number of documents of each query."""
        return self.queries.n_documents

    known_documents = n_documents

    @cached_property
    def label_fingerprints(self) -> Fingerprints | None:
        """Fingerprint of the labels of each query; None if unknown."""
        if self.known_fingerprints is None and isinstance(self.queries, Queries):
            if self.labels_checksum not in (None, checksum(self.queries.row_label)):
                return None
            return fingerprints_of(self.queries, self.n_jobs)
        return self.known_fingerprints

    def check_unchanged(self, before: Sequence[PerQuery]) -> None:
        """Refuse data that were changed since, so that metrics have other values now than `before`."""
        specs: list[Any] = [one.spec for one in before]
        now = compute(self.queries, specs, self.n_jobs)
        if not all(map(_are_equal, before, now)):
            raise ValueError(
                "Ties are looked for in the data, and the scores were changed since, or the labels: call evaluate "
                "again, or give it copies."
            )

    def n_tied(self, spec: MetricSpec) -> int:
        """Number of queries with equal scores on both sides of the cutoff."""
        return int(tied_across(self.queries, spec, self.n_jobs).sum())

    def references(self, values: Mapping[str, Any], specs: Mapping[str, MetricSpec]) -> References:
        """Values of metrics in other orders of the documents that have a rank, beside those by score."""
        in_orders = specs_in_orders(specs)
        computed = iter(compute(self.queries, [s for of in in_orders.values() for s in of.values()], self.n_jobs))
        return References.of(values, {o: {name: next(computed) for name in of} for o, of in in_orders.items()})

    def means_with_ties(self, spec: MetricSpec, policies: tuple[str, ...], weight: Array | None) -> list[float]:
        """Mean of a metric under each of some policies for ties."""
        specs = [replace(spec, keywords={**spec.keywords, "ties": ties}) for ties in policies]
        return [float(values.average(weight)[0]) for values in compute(self.queries, specs, self.n_jobs)]


def _are_equal(before: PerQuery, now: PerQuery) -> bool:
    """Whether values are the same, also where they are NaN."""
    return np.array_equal(before.values(), now.values(), equal_nan=True)


def checksum(x: NDArray[Any]) -> int:
    """Checksum of some of the rows."""
    return crc32(x[:: len(x) // CHECKED_ROWS + 1].tobytes())


@dataclass(frozen=True)
class DataCounts:
    """Counts and fingerprints of data that were not kept.

    Attributes
    ----------
    known_documents : ndarray of shape (n_queries,) or None
        Number of documents of each query; None if unknown.
    label_fingerprints : ndarray of shape (n_queries,) or None
        Fingerprint of the labels of each query; None if unknown.
    """

    known_documents: Index | None = None
    label_fingerprints: Fingerprints | None = None

    @property
    def n_documents(self) -> Index:
        """Number of documents of each query, if it is known."""
        if self.known_documents is None:
            raise ValueError("The number of documents is known if it was given: use from_values(..., n_documents=...).")
        return self.known_documents
