"""Score lists of neighbors from an index, or of items from a recommender."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sklearn_rank._data.doors import NEIGHBORS
from sklearn_rank._data.look import look
from sklearn_rank._engine.columns import check_ids, check_positions, check_rows
from sklearn_rank._engine.sparse import Judgments, csr, list_batches
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL, is_count, real
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.retrieval._evaluate import (
    RETRIEVAL_METRICS,
    check_order,
    check_queries_data,
    check_self,
    naming_features,
)
from sklearn_rank.retrieval._relevance import make_grades

RELATIVE_TOLERANCE = real("a number >= 0", lambda v: v >= 0, "")


@named_arguments
def score_neighbors(
    distances: Any,
    indices: Any,
    query_labels: Any = None,
    database_labels: Any = None,
    *,
    metrics: Any = RETRIEVAL_METRICS,
    relevance: Any = None,
    true_indices: Any = None,
    true_distances: Any = None,
    tolerance: float = 0.0,
    n_database: int | None = None,
    higher_is_nearer: bool = False,
    exclude_self: bool = False,
    query_ids: ArrayLike | None = None,
    sample_weight: Any = None,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Score the neighbors that an exact or approximate index found, by labels or by the true neighbors.

    Pass the output of ``NearestNeighbors.kneighbors``, faiss or another index. Items that the index did not find count
    as not retrieved, and lower recall if they are relevant.

    Parameters
    ----------
    distances : array-like of shape (n_queries, n_neighbors) or None
        Distance of each neighbor; equal distances are ties. None: neighbors come nearest first.
    indices : array-like of int, shape (n_queries, n_neighbors)
        Database item of each neighbor; -1 or NaN for a missing neighbor.
    query_labels, database_labels : array-like of shape (n,) or indicator matrix of shape (n, n_labels), default=None
        As in `evaluate_retrieval`.
    metrics : str, metric function or sequence of them, default=("ndcg@10", "map", "wap@100", "acg@100", "p@5")
        As in `evaluate`. Without a cutoff a list is read to its end.
    relevance : matrix of shape (n_queries, n_database) or callable, default=None
        As in `evaluate_retrieval`.
    true_indices : array-like of int, shape (n_queries, n_true), default=None
        True neighbors of each query, found by exact search: only they are relevant. "recall@10" with 10 true neighbors
        is the recall of the index.
    true_distances : array-like of shape (n_queries, n_true), default=None
        Distances of the true neighbors instead of their indices: every neighbor that is as near as the farthest true
        neighbor counts, so ties at this distance cost no recall, as in faiss and ann-benchmarks.
    tolerance : float, default=0.0
        With `true_distances`, how much farther a neighbor may be. Use it for an index in single precision.
    n_database : int, default=None
        Number of items. None: from `database_labels` or a matrix `relevance`, otherwise the highest index plus one.
    higher_is_nearer : bool, default=False
        Whether `distances` are similarities, such as inner products.
    exclude_self : bool, default=False
        Whether item i is query i, which is then left out of its own list; true neighbors must not contain it.
    query_ids : array-like of shape (n_queries,), default=None
        Ids of the queries in the result. None: 0, 1, ...
    sample_weight : array-like of shape (n_queries,), default=None
        Weight of each query in the mean.
    n_jobs : int or None, default=None
        Threads to use, counted as in joblib.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`.

    Returns
    -------
    Evaluation
        As from `evaluate`.

    Raises
    ------
    ValueError
        If shapes do not match, frames have their rows or columns in different orders, an index is out of range, or a
        list repeats an item.
    TypeError
        If you do not pass exactly one of labels, `relevance`, `true_indices` and `true_distances`, or if indices are
        not whole numbers.

    Examples
    --------
    The first neighbor is a true neighbor, the other true neighbor is tied with a wrong item: (1 + 1/2) / 2 at rank 2:

    >>> from sklearn_rank.retrieval import score_neighbors
    >>> metrics = ["recall@2", "recall@3"]
    >>> score_neighbors(
    ...     [[0.1, 0.2, 0.2]], [[7, 2, 5]], true_indices=[[7, 5]], metrics=metrics
    ... ).mean()
    {'recall@2': 0.75, 'recall@3': 1.0}

    By distance item 2 is as near as item 5:

    >>> score_neighbors(
    ...     [[0.1, 0.2]], [[7, 2]], true_distances=[[0.1, 0.2]], metrics="recall@2"
    ... ).mean()
    {'recall@2': 1.0}
    """
    specs = parse_metrics(metrics, **keywords)
    for spec in specs.values():
        spec._refuse_empty()
    check_n_jobs(n_jobs)
    BOOL("higher_is_nearer", higher_is_nearer, "score_neighbors")
    BOOL("exclude_self", exclude_self, "score_neighbors")
    RELATIVE_TOLERANCE("tolerance", tolerance, "score_neighbors")
    for name, labels in (("query_labels", query_labels), ("database_labels", database_labels)):
        if labels is not None:
            n_rows_of(labels, name)
    items = _indices(indices, "indices")
    n_queries = len(items)
    of_queries = {
        "indices": indices, "distances": distances, "true_indices": true_indices,
        "true_distances": true_distances, "query_labels": query_labels, "query_ids": query_ids,
        "sample_weight": sample_weight, "relevance": relevance,
    }  # fmt: skip
    check_rows(**of_queries)
    check_positions(indices=indices, distances=distances)
    check_order(of_queries, {"database_labels": database_labels}, exclude_self)
    near = np.arange(items.shape[1], 0, -1.0) if distances is None else _nearness(distances, items, higher_is_nearer)
    if distances is not None:
        look(NEIGHBORS, neighbors=(near, items, higher_is_nearer))
    if not exclude_self:
        n_found = int(np.count_nonzero(items[:, :1] == np.arange(n_queries)[:, None]))
        look(NEIGHBORS, itself=(n_found, n_queries, relevance, specs))
    true = None if true_indices is None else _indices(true_indices, "true_indices")
    n_items = _n_items(items, true, n_database, database_labels, relevance)
    if exclude_self:
        check_self(n_queries, n_items)
        items = np.where(items == np.arange(n_queries)[:, None], -1, items)
    labels = query_labels, database_labels, relevance
    if sum(x is not None for x in (true_indices, true_distances)) + any(x is not None for x in labels) > 1:
        raise TypeError("Pass only one of true_indices, true_distances, relevance, or the labels. Got more than one.")
    if true_distances is not None:
        if distances is None:
            raise TypeError("true_distances needs distances to compare with. Got distances=None.")
        _matrix(items, near, n_items, "indices")
        near_true = _true_nearness(true_distances, n_queries, higher_is_nearer)
        items, true = _as_near(items, near, near_true, tolerance, n_items)
        n_items += true.shape[1]
    if true is None:
        grades = make_grades(query_labels, database_labels, relevance, n_queries, n_items)
    elif len(true) != n_queries:
        raise ValueError(f"true_indices must have a row for each query ({n_queries}). Got shape {true.shape}.")
    else:
        judged = _matrix(true, np.ones(true.shape[1]), n_items, "true_indices")
        grades = Judgments(csr(judged, "true_indices").__getitem__, n_items)
    ids, weight = check_queries_data(query_ids, sample_weight, n_queries)
    check_ids(ids, indices=indices, query_labels=query_labels, relevance=relevance)
    lists = _matrix(items, near, n_items, "indices")
    batches = list_batches(lists.indptr, lists.indices, lists.data, grades, without_self=exclude_self)
    return evaluate_queries(naming_features(batches).of(ids, weight, n_jobs), specs, door=NEIGHBORS)


def _count(value: Any, name: str) -> int:
    if not is_count(value):
        raise ValueError(f"{name} must be an int >= 1. Got {echo(value)}.")
    return int(value)


def _indices(indices: Any, name: str) -> Index:
    """Matrix of whole numbers, filled up with -1."""
    n_rows_of(indices, name)
    if not hasattr(indices, "shape") and len({np.size(row) for row in indices}) > 1:
        width = max(np.size(row) for row in indices)
        indices = [[*row, *[-1] * (width - len(row))] for row in indices]
    array = np.ma.filled(indices, -1) if isinstance(indices, np.ma.MaskedArray) else np.asarray(indices)
    if array.ndim != 2:
        raise ValueError(f"{name} must have two dimensions, a row for each query. Got shape {array.shape} instead.")
    if len(array) == 0:
        raise ValueError(f"{name} must have at least one row. Got none.")
    if array.dtype.kind == "f":
        array = np.where(np.isnan(array), -1, array)
        if (array != np.rint(array)).any():
            raise TypeError(f"{name} must be whole numbers. Got {array[array != np.rint(array)][0]}.")
    elif array.size and array.dtype.kind not in "iu":
        raise TypeError(f"{name} must be whole numbers. Got dtype {array.dtype}.")
    return array.astype(np.int64)


def _nearness(distances: Any, items: Index, higher_is_nearer: bool) -> NDArray[np.float64]:
    near = as_floats(distances, "distances")
    if near.shape != items.shape:
        raise ValueError(f"distances and indices must have the same shape. Got {near.shape} and {items.shape}.")
    near = near if higher_is_nearer else -near
    fault = (items >= 0) & ~np.isfinite(near)
    if fault.any():
        row = int(np.argmax(fault.any(axis=1)))
        raise ValueError(f"distances must be finite where a neighbor was found. Got one that is not in row {row}.")
    return near


def _true_nearness(distances: Any, n_queries: int, higher_is_nearer: bool) -> Array:
    """Nearness of the true neighbors."""
    true = as_floats(distances, "true_distances")
    if true.ndim != 2 or len(true) != n_queries or not true.shape[1] or not np.isfinite(true).all():
        raise ValueError(
            f"true_distances must be finite and have a row for each query ({n_queries}). Got shape {true.shape}"
            f"{'' if np.isfinite(true).all() else ' with NaN or inf'}."
        )
    return true if higher_is_nearer else -true


def _as_near(items: Index, near: Array, true: Array, tolerance: float, n_items: int) -> tuple[Index, Index]:
    """Neighbors, and the ones that are as near as the farthest true one, filled up with items not in the list."""
    # If more neighbors are so near than there are true ones, the surplus leaves the list: any of them will do.
    n_true = true.shape[1]
    hit = (items >= 0) & (near >= true.min(axis=1, keepdims=True) - tolerance)
    order = np.argsort(np.where(hit, -near, np.inf), axis=1, kind="stable")
    first = np.argsort(order, axis=1) < n_true
    found = np.full((len(items), n_true), -1)
    width = min(n_true, items.shape[1])
    found[:, :width] = np.take_along_axis(np.where(hit, items, -1), order[:, :width], axis=1)
    others = n_items + np.arange(n_true)
    return np.where(hit & ~first, -1, items), np.where(found < 0, others, found)


def _n_items(items: Index, true: Index | None, n_database: int | None, labels: Any, relevance: Any) -> int:
    if n_database is not None:
        return _count(n_database, "n_database")
    if labels is not None:
        return int(labels.shape[0]) if hasattr(labels, "shape") else len(labels)
    shape = np.shape(relevance)
    if len(shape) == 2:
        return int(shape[1])
    return int(max(items.max(initial=0), -1 if true is None else true.max(initial=0))) + 1


def _matrix(items: Index, value: NDArray[np.float64], n_items: int, name: str) -> Any:
    """Sparse matrix with the value of each listed item; raise ValueError for invalid or repeated items."""
    wrong = (items < -1) | (items >= n_items)
    if wrong.any():
        row = int(np.argmax(wrong.any(axis=1)))
        raise ValueError(f"{name} must be from 0 to {n_items - 1}, or -1 for none. Got {items[wrong][0]} in row {row}.")
    query, place = np.nonzero(items >= 0)
    item = items[query, place]
    order = np.lexsort((item, query))
    twice = (np.diff(query[order]) == 0) & (np.diff(item[order]) == 0)
    if twice.any():
        at = order[np.argmax(twice)]
        raise ValueError(f"An item must be in a list once. Got {item[at]} twice in row {query[at]} of {name}.")
    indptr = np.append(0, np.cumsum(np.bincount(query, minlength=len(items))))
    values = np.broadcast_to(value, items.shape)[query, place]
    return sparse.csr_array((values, item, indptr), shape=(len(items), n_items))
