"""Which judgements a result is of: a number for each query, so that results on other labels are not compared.

It is a sum of hashes over the documents of a query, so that their order does not matter. Documents of label 0 and those
without a label do not count: what a system retrieved decides how many there are.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._check import Queries, rows_of
from sklearn_rank._threads import for_each, query_blocks

Sums = NDArray[np.uint64]
MULTIPLIER, SHIFT = np.uint64(0x9E3779B97F4A7C15), np.uint64(32)


def label_sums(queries: Queries, n_jobs: int | None = None) -> Sums:
    """Sum over the documents of each query, also those without a row, of hashes of their labels."""
    sums = np.empty(len(queries.indptr) - 1, dtype=np.uint64)

    def add(first: int, last: int) -> None:
        label = rows_of(queries.label, queries.indptr, queries.order, first, last)
        total = np.zeros(len(label) + 1, dtype=np.uint64)
        np.cumsum(_hashes(label, queries.has_unjudged), out=total[1:])
        ends = queries.indptr[first : last + 1] - queries.indptr[first]
        np.subtract(total[ends[1:]], total[ends[:-1]], out=sums[first:last])

    for_each(add, query_blocks(queries.indptr), n_jobs)
    if (unlisted := queries.unlisted) is not None:
        hashes = _hashes(unlisted.label, queries.has_unjudged)
        np.add.at(sums, unlisted.query, hashes * unlisted.count.astype(np.uint64))
    return sums


def _hashes(label: NDArray[np.float64], has_unjudged: bool) -> Sums:
    """Hash of the label, or of the labels for all subtopics, of each document; 0 if there is no other label than 0."""
    with np.errstate(over="ignore"):  # 0.1 is 0.1 in both precisions, and -0.0 is 0.0
        short = np.add(label, 0.0, dtype=np.float32, casting="same_kind")
    hashes = _mixed(short.view(np.uint32), MULTIPLIER)
    if has_unjudged:
        hashes[np.isnan(label)] = 0
    if label.ndim == 1:
        return hashes
    number = np.arange(1, 2 * label.shape[1], 2, dtype=np.uint64)  # of the subtopic
    return _mixed((hashes * number).sum(axis=1), MULTIPLIER)


def _mixed(x: NDArray[np.unsignedinteger], multiplier: np.uint64) -> Sums:
    """Numbers of which sums tell apart what they are sums of; 0 stays 0."""
    product: Sums = np.multiply(x, multiplier, dtype=np.uint64)
    product ^= product >> SHIFT
    product *= product
    return product
