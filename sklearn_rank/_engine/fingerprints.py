"""Fingerprints of the labels of each query, so that results on different labels are not compared.

A fingerprint is a sum of hashes over the documents of a query, so their order does not matter. Documents with label 0
and without a label do not count, because their number depends on what a system retrieved.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.queries import Queries, blocks_of, rows_of
from sklearn_rank._utils.threads import for_each

Fingerprints = NDArray[np.uint32]
HASHED_PER_BLOCK = 2**14
"""Documents at a time: their arrays come from memory that was used before."""


def fingerprints_of(queries: Queries, n_jobs: int | None = None) -> Fingerprints:
    """Sum of the hashes of the labels of each query, with documents that have no row."""
    sums, indptr = np.empty(len(queries.indptr) - 1, dtype=np.uint32), queries.indptr

    def add(first: int, last: int) -> None:
        label = rows_of(queries.row_label, indptr, queries.order, first, last)
        total = np.zeros(len(label) + 1, dtype=np.uint32)
        np.cumsum(_hashes(label, queries.facts.has_unjudged), out=total[1:])
        ends = total[indptr[first : last + 1] - indptr[first]]
        np.subtract(ends[1:], ends[:-1], out=sums[first:last])

    for_each(add, blocks_of(indptr, HASHED_PER_BLOCK), n_jobs)
    if (unlisted := queries.unlisted) is not None:
        hashes = _hashes(unlisted.label, queries.facts.has_unjudged)
        np.add.at(sums, unlisted.query, hashes * unlisted.count.astype(np.uint32))
    return sums


def _hashes(label: NDArray[Any], has_unjudged: bool) -> Fingerprints:
    """Hash of the label, or of the labels for all subtopics, of each document; 0 if there is no other label than 0."""
    with np.errstate(over="ignore"):  # 0.1 is 0.1 in both precisions, and -0.0 is 0.0
        hashes = _mixed((label + 0.0).astype(np.float32).view(np.uint32))
    if has_unjudged:
        hashes[np.isnan(label)] = 0
    if label.ndim == 1:
        return hashes
    number = np.arange(1, 2 * label.shape[1], 2, dtype=np.uint32)  # of the subtopic
    return _mixed((hashes * number).sum(axis=1, dtype=np.uint32))


def _mixed(x: NDArray[np.uint32]) -> Fingerprints:
    """Mix bits in place, so that sums of different hashes differ; 0 stays 0 (last steps of MurmurHash3)."""
    x ^= x >> np.uint32(16)  # without it the sign, the highest bit, would only add the same to every hash
    for multiplier, shift in ((0x85EBCA6B, 13), (0xC2B2AE35, 16)):
        x *= np.uint32(multiplier)
        x ^= x >> np.uint32(shift)
    return x
