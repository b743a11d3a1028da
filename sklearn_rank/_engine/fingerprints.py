"""Fingerprints of the labels of each query, and of its ranked list.

Results on different labels or columns are not compared, and two systems with the same lists are known as such. A
fingerprint is a sum of hashes over the documents of a query, so their order in the input does not matter. For labels,
documents with label 0 and without a label do not count, because their number depends on what a system retrieved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranking import Labels, Ranking
from sklearn_rank._utils.blocks import CACHED_ROWS, cut_queries
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import Index

Fingerprints = NDArray[np.uint32]


def fingerprints_of(queries: Queries) -> Fingerprints:
    """Sum of the hashes of the labels of each query, with documents that have no row."""
    grouping = queries.grouping
    sums = np.empty(grouping.n_queries, dtype=np.uint32)

    def add(first: int, last: int) -> None:
        label = grouping.take(queries.row_label, first, last)
        total = np.zeros(len(label) + 1, dtype=np.uint32)
        np.cumsum(_hashes(label, queries.summary.has_unjudged), out=total[1:])
        ends = total[grouping.starts(first, last)]
        np.subtract(ends[1:], ends[:-1], out=sums[first:last])

    map_blocks(add, cut_queries(grouping.indptr, CACHED_ROWS), queries.n_jobs)
    if (unlisted := queries.unlisted) is not None:
        hashes = _hashes(unlisted.label, queries.summary.has_unjudged)
        np.add.at(sums, unlisted.query, hashes * unlisted.count.astype(np.uint32))
    return sums


def fingerprints_of_columns(queries: Queries, names: Iterable[str]) -> Fingerprints:
    """Sum of the hashes of the values that columns have for the documents of each query, with the labels of these."""
    grouping, columns = queries.grouping, queries.columns or {}
    labels = _hashes(grouping.take(queries.row_label), queries.summary.has_unjudged)
    sums = np.zeros(grouping.n_queries, dtype=np.uint32)
    for name in names:
        hashes = _mixed(_hashes(grouping.take(columns[name]), False) + labels * np.uint32(0x9E3779B1))
        total = np.append(np.uint32(0), np.cumsum(hashes, dtype=np.uint32))
        sums = _mixed(sums + total[grouping.indptr[1:]] - total[grouping.indptr[:-1]])
    return sums


def fingerprints_of_rankings(
    queries: Queries, documents: Callable[[Index], NDArray[Any]] | None
) -> Fingerprints | None:
    """Sum of hashes of the retrieved documents of each query, each with its rank and the number of ties."""
    # `documents` maps rows of the input to ids. Without it, a document is known by its place among the rows of its
    # query. Places do not identify documents if all rows come in the order of their ranks; then the result is None.
    grouping = queries.grouping
    sums = np.zeros(grouping.n_queries, dtype=np.uint32)
    in_order: list[bool] = []
    if queries.unlisted is not None:
        return None

    def add(first: int, last: int) -> None:
        score, starts = grouping.take(queries.score, first, last), grouping.starts(first, last)
        query = np.repeat(np.arange(last - first), np.diff(starts))
        labels = Labels(np.zeros(len(score)), starts)
        by_rank = Ranking.by_score(labels, score, ties="stable", keep_unretrieved=True).order
        ranked = score[by_rank]
        in_order.append(bool((by_rank[1:] > by_rank[:-1]).all()))
        is_new = (query[1:] != query[:-1]) | (ranked[1:] != ranked[:-1])
        begins = np.flatnonzero(np.append(True, is_new))
        n_tied = np.diff(begins, append=len(score))
        rank = np.repeat((begins - starts[query[begins]]).astype(np.uint32), n_tied)
        place = _mixed(rank * np.uint32(0x9E3779B1) + np.repeat(n_tied.astype(np.uint32), n_tied))
        if documents is None:
            ids = _mixed((by_rank - starts[query] + 1).astype(np.uint32))
        else:
            ids = _hashes_of_ids(documents(grouping.input_rows(first, last)[by_rank]))
        hashes = _mixed(ids + place)
        hashes[np.isneginf(ranked)] = 0
        total = np.append(np.uint32(0), np.cumsum(hashes, dtype=np.uint32))
        np.subtract(total[starts[1:]], total[starts[:-1]], out=sums[first:last])

    map_blocks(add, cut_queries(grouping.indptr, CACHED_ROWS), queries.n_jobs)
    return None if documents is None and all(in_order) else sums


def _hashes_of_ids(ids: NDArray[Any]) -> Fingerprints:
    """Hash of each id, the same in every process; a number and its text differ."""
    if ids.dtype.kind not in "iuUS":
        ids = np.array([*map(str, ids.tolist())], dtype=str)
    if ids.dtype.kind in "iu":
        ids = ids.astype(np.int64)
    parts = np.ascontiguousarray(ids).view(np.uint8 if ids.dtype.kind == "S" else np.uint32)
    words: NDArray[np.uint32] = parts.reshape(len(ids), -1).astype(np.uint32)
    hashes = np.zeros(len(ids), dtype=np.uint32)
    for number, word in enumerate(words.T):  # a word of 0 is the padding of a shorter text
        hashes += np.where(word == 0, 0, _mixed(word ^ np.uint32((number + 1) * 0x9E3779B1 % 2**32)))
    return hashes


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
