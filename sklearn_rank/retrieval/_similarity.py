"""How near a database's items are to queries: features in, scores by chunks of queries out, higher is nearer.

Knows no labels and no metric of ranking.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.metrics import pairwise_distances
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import normalize
from sklearn.utils import check_array
from sklearn.utils.extmath import safe_sparse_dot

Scores = Callable[[slice, NDArray[np.float64]], None]
"""Writes the scores of some queries, shape (n_rows, n_database)."""

HAMMING_RULE = (
    "Codes for metric='hamming' must all be of -1 and 1, of 0 and 1, or packed into uint8 as numpy.packbits does. "
)


def make_scores(metric: Any, queries: Any, database: Any) -> tuple[Scores, int, int]:
    """Function that writes scores, and the numbers of queries and of database items.

    Raises
    ------
    ValueError
        If shapes do not fit, values are not finite, or codes are outside their alphabet.
    """
    queries, database = _features(queries, "query_features"), _features(database, "database_features")
    if queries.shape[1] != database.shape[1]:
        raise ValueError(
            "query_features and database_features must have as many columns. "
            f"Got {queries.shape[1]} and {database.shape[1]}."
        )
    return _scores(metric, queries, database), queries.shape[0], database.shape[0]


def _features(features: Any, name: str) -> Any:
    dtype = None if getattr(features, "dtype", None) in (np.uint8, bool) else np.float64
    return check_array(features, accept_sparse="csr", dtype=dtype, input_name=name)


def _scores(metric: Any, queries: Any, database: Any) -> Scores:
    if metric == "hamming":
        return _hamming(queries, database)
    if metric == "cosine":
        queries, database = normalize(queries.astype(np.float64)), normalize(database.astype(np.float64))
    if metric in ("cosine", "inner_product"):
        return lambda rows, out: _product(queries[rows], database, out)
    if metric == "euclidean":
        return lambda rows, out: np.negative(euclidean_distances(queries[rows], database, squared=True), out=out)
    pairwise_distances(queries[:1], database[:1], metric=metric)  # refuses what it does not know, before any work
    return lambda rows, out: np.negative(pairwise_distances(queries[rows], database, metric=metric), out=out)


def _product(queries: Any, database: Any, out: NDArray[np.float64]) -> None:
    if isinstance(queries, np.ndarray) and isinstance(database, np.ndarray):
        np.matmul(queries.astype(np.float64, copy=False), database.T, out=out)
    else:
        out[:] = safe_sparse_dot(queries, database.T, dense_output=True)


def _hamming(queries: Any, database: Any) -> Scores:
    """Numbers of bits that differ, 64 at a time."""
    words, of_database = _words(queries, database)

    def write(rows: slice, out: NDArray[np.float64]) -> None:
        differ = np.empty(out.shape, dtype=np.uint64)
        count = np.empty(out.shape, dtype=np.uint8)
        out[:] = 0.0
        for word, of_item in zip(words[rows].T, of_database.T, strict=True):
            np.bitwise_xor(word[:, None], of_item, out=differ)
            np.bitwise_count(differ, out=count)
            np.subtract(out, count, out=out)

    return write


def _words(queries: Any, database: Any) -> tuple[NDArray[np.uint64], NDArray[np.uint64]]:
    """Codes as rows of 64-bit words."""
    codes = [queries, database]
    if not all(isinstance(c, np.ndarray) for c in codes):
        raise TypeError(HAMMING_RULE + "Got a sparse matrix.")
    found = np.unique(np.concatenate([np.unique(c) for c in codes]))
    if set(found) <= {0, 1} or set(found) <= {-1, 1}:
        codes = [np.packbits(c > 0, axis=1) for c in codes]
    elif not all(c.dtype == np.uint8 for c in codes):
        shown = ", ".join(f"{v:g}" for v in found[:5])
        raise ValueError(HAMMING_RULE + f"Got dtypes {queries.dtype} and {database.dtype} with values {shown}, ...")
    padding = (0, 0), (0, -codes[0].shape[1] % 8)
    first, second = (np.ascontiguousarray(np.pad(c, padding)).view(np.uint64) for c in codes)
    return first, second
