"""`evaluate_retrieval`: rank a database for a chunk of queries at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import RETRIEVAL
from sklearn_rank._data.look import look
from sklearn_rank._engine.columns import (
    check_columns,
    check_features,
    check_ids,
    check_items,
    check_positions,
    check_rows,
)
from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._engine.ids import SpellingError
from sklearn_rank._engine.queries import InputNames, LazyQueries, Queries
from sklearn_rank._engine.read import check_query_weight, summary_of
from sklearn_rank._engine.sparse import Grades, as_queries, drop_self
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.blocks import SCANNED_ITEMS, SCANNED_PAIRS, SCANNED_QUERIES, SEARCHED_PAIRS, cut_rows
from sklearn_rank._utils.constraints import BOOL, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank._utils.threads import check_n_jobs, effective_n_jobs
from sklearn_rank._utils.typing import Index
from sklearn_rank.retrieval._distances import Distances, make_distances, queries_among_items
from sklearn_rank.retrieval._relevance import make_grades

RETRIEVAL_NAMES = InputNames("grades", "nearness", "query")
"""Names in errors for labels, scores and rows."""

MOST_ITEMS = 2**31
"""Most items of a database: classes of items are numbered in 31 bits."""
RETRIEVAL_METRICS = ("ndcg@10", "map", "wap@100", "acg@100", "p@5")


@named_arguments
def evaluate_retrieval(
    query_features: Any,
    database_features: Any = None,
    query_labels: Any = None,
    database_labels: Any = None,
    *,
    distance: Any = "cosine",
    metrics: Any = RETRIEVAL_METRICS,
    distance_params: Mapping[str, Any] | None = None,
    relevance: Any = None,
    exclude_self: bool = False,
    query_ids: ArrayLike | None = None,
    sample_weight: Any = None,
    working_memory: float | None = None,
    progress: bool = False,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Rank a database by distance for each query, and score the rankings by shared labels.

    Distances are computed for one chunk of queries at a time, and only values per query are kept.

    Parameters
    ----------
    query_features : array-like or sparse matrix of shape (n_queries, n_features)
        Features of the queries, or their codes.
    database_features : array-like or sparse matrix of shape (n_database, n_features), default=None
        Features of the items. None: each query searches the other queries.
    query_labels, database_labels : array-like of shape (n,) or indicator matrix of shape (n, n_labels), default=None
        Shape (n,) or (n, 1), one label each: an item with the label of the query has grade 1, other items 0. Indicators
        of 0 and 1 in several columns, dense or sparse: the grade is the number of shared labels, ``l_q^T l_i``. Without
        a database pass only `query_labels`.
    distance : str or callable, default="cosine"
        "cosine" (0 for a zero vector) and "inner_product", higher is nearer; "euclidean"; "hamming" for codes of
        {-1, 1}, {0, 1} or packed uint8; or a `metric` of `sklearn.metrics.pairwise_distances`, lower is nearer.
    metrics : str, metric function or sequence of them, default=("ndcg@10", "map", "wap@100", "acg@100", "p@5")
        As in `evaluate`. If all have a cutoff, only the head of each list is ranked; "map" needs all of it.
    distance_params : mapping, default=None
        Keywords for `sklearn.metrics.pairwise_distances`, such as ``{"p": 3}`` for "minkowski".
    relevance : matrix of shape (n_queries, n_database) or callable, default=None
        Grades instead of labels, dense or sparse, or a function from an array of query numbers to the rows of these
        queries.
    exclude_self : bool, default=False
        Whether row i of the database is query i, which is then left out of its own ranking.
    query_ids : array-like of shape (n_queries,), default=None
        Ids of the queries in the result. None: 0, 1, ...
    sample_weight : array-like of shape (n_queries,), default=None
        Weight of each query in the mean.
    working_memory : float, default=None
        MiB for the distances and rankings of a chunk. A single list that metrics read to its end may need more. None:
        the setting of scikit-learn's configuration.
    progress : bool, default=False
        Whether to show a progress bar over chunks; needs the extra "progress".
    n_jobs : int or None, default=None
        Threads to use, counted as in joblib.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`. Ties are common with ``distance="hamming"``:
        the default is the exact expectation over all orders of items at the same distance.

    Returns
    -------
    Evaluation
        As from `evaluate`. Its `tie_range` and `n_tied` compute the distances again.

    Raises
    ------
    ValueError
        If shapes do not match, frames have their rows or columns in different orders, features are not finite or
        extremely small or large (for cosines a vector below 1e-14 that is not 0), codes have other values, labels are
        not indicators, or an argument is out of range.
    TypeError
        If you pass both labels and `relevance`, or none.

    References
    ----------
    K. He, F. Cakir, S. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank", CVPR 2018; nDCG with the number
    of shared labels: F. Zhao, Y. Huang, L. Wang and T. Tan, "Deep semantic ranking based hashing for multi-label image
    retrieval", CVPR 2015.

    Examples
    --------
    The first code is nearest to the query, the other two are tied, one of them relevant: (1/1 + (2/2 + 2/3) / 2) / 2:

    >>> from sklearn_rank.retrieval import evaluate_retrieval
    >>> codes, labels = [[1, 1, 1], [1, -1, -1], [-1, 1, -1]], ["cat", "cat", "dog"]
    >>> result = evaluate_retrieval(
    ...     [[1, 1, 1]], codes, ["cat"], labels, distance="hamming", metrics="map"
    ... )
    >>> round(result.mean()["map"], 4)
    0.9167
    """
    specs = parse_metrics(metrics, **keywords)
    for spec in specs.values():
        spec._refuse_empty()
    BOOL("exclude_self", exclude_self, "evaluate_retrieval")
    BOOL("progress", progress, "evaluate_retrieval")
    if distance_params is not None and not isinstance(distance_params, Mapping):
        raise TypeError(
            f"distance_params must be a dict of keywords of the distance, or None. Got {echo(distance_params)}."
        )
    if database_features is None:
        if database_labels is not None:
            raise TypeError("Without database_features the queries are the database, and database_labels must be None.")
        database_features, database_labels, exclude_self = query_features, query_labels, True
    check_n_jobs(n_jobs)
    distances = make_distances(distance, query_features, database_features, distance_params or {})
    n_queries, n_items = distances.n_queries, distances.n_items
    if distances.between_items is not None:
        look(RETRIEVAL, distances=(distances.between_items, distance))
    if n_items > MOST_ITEMS:
        raise ValueError(
            f"The database must have at most {MOST_ITEMS} items, whose numbers take 31 bits. Got {n_items}. "
            "Search it with an index and use score_neighbors."
        )
    if exclude_self:
        check_self(n_queries, n_items)
    else:
        found = queries_among_items(query_features, database_features)
        look(RETRIEVAL, itself=(*found, relevance, specs, database_features is query_features))
    of_queries = {
        "query_labels": query_labels, "query_ids": query_ids, "sample_weight": sample_weight, "relevance": relevance,
    }  # fmt: skip
    of_items = {"database_features": database_features, "database_labels": database_labels}
    check_rows(**of_queries)
    check_positions(query_features=query_features, database_features=database_features)
    check_order({"query_features": query_features, **of_queries}, of_items, exclude_self)
    grades = make_grades(query_labels, database_labels, relevance, n_queries, n_items)
    ids, weight = check_queries_data(query_ids, sample_weight, n_queries)
    check_ids(ids, query_features=query_features, query_labels=query_labels, relevance=relevance)
    memory = sklearn.get_config()["working_memory"] if working_memory is None else working_memory
    if not (is_real(memory) and memory > 0):
        raise ValueError(f"working_memory must be a number of MiB above 0, or None. Got {echo(working_memory)}.")
    batches = search(distances, grades, without_self=exclude_self, memory=memory, n_threads=effective_n_jobs(n_jobs))
    batches = naming_features(batches).of(ids, weight, n_jobs)
    if not progress:
        return evaluate_queries(batches, specs, door=RETRIEVAL)
    with import_tqdm()(total=n_queries, unit=" queries") as bar:
        return evaluate_queries(replace(batches, done=bar.update), specs, kept=batches, door=RETRIEVAL)


def naming_features(batches: LazyQueries) -> LazyQueries:
    """LazyQueries whose errors name what the user gave: features and classes, neither labels nor rows."""

    def make(*block: Any) -> Queries:
        return batches.make(*block).named(RETRIEVAL_NAMES)

    return replace(batches, make=make)


def check_self(n_queries: int, n_items: int) -> None:
    """Raise ValueError unless there are as many items as queries, and at least two."""
    if n_queries != n_items:
        raise ValueError(
            "With exclude_self row i of the database is query i, so their numbers must be equal. "
            f"Got {n_queries} queries and {n_items} database items."
        )
    if n_items < 2:
        raise ValueError("Queries search each other, so there must be at least two. Got one.")


def check_order(queries: Mapping[str, Any], items: Mapping[str, Any], without_self: bool) -> None:
    """Refuse data of queries, and of items, whose labels are the same in another order; item i may be query i."""
    alike = [{**queries, **items}] if without_self else [queries, items]
    for given in alike:
        for name, x in given.items():
            check_features(x, name, **given)
    check_items(queries["relevance"], **alike[-1])
    labels = queries["query_labels"], items["database_labels"]
    check_columns(*labels, "database_labels", of_first="query_labels", are="labels")


def check_queries_data(query_ids: ArrayLike | None, sample_weight: ArrayLike | None, n_queries: int) -> tuple[Any, Any]:
    """Check ids and weights of queries; raise ValueError if one is missing or an id is repeated."""
    try:
        ids = np.arange(n_queries) if query_ids is None else group_rows(query_ids, n_queries).ids
    except SpellingError:
        raise
    except ValueError:
        # The message of `group_rows` speaks of rows.
        raise ValueError(
            f"query_ids must have one entry per query ({n_queries}), without missing ones. Got {echo(query_ids)}."
        ) from None
    if len(ids) < n_queries:
        raise ValueError(f"query_ids must name each query once. Got {len(ids)} ids of {n_queries} queries.")
    return ids, None if sample_weight is None else check_query_weight(sample_weight, n_queries)


BYTES_PER_PAIR = 100
"""Memory per pair."""

LANES_PER_ITEM = 4
"""Lanes per item that is asked for."""

LEAST_LANES = 256
"""Least number of lanes: NumPy takes the minima of many of them at once."""

WORTH = 16
"""Least number of items for each that is asked for: else whole lists are ranked. The same for each that may be among
the nearest: else distances are not computed once more pair by pair."""


def search(distances: Distances, grades: Grades, *, without_self: bool, memory: float, n_threads: int) -> LazyQueries:
    """Lists of items for all queries, made lazily; `without_self` leaves item i out of the list of query i."""
    n_queries, n_items = distances.n_queries, distances.n_items
    n_pairs = int(min(SEARCHED_PAIRS, memory * 2**20 / BYTES_PER_PAIR / n_threads))
    n_rows = n_pairs // n_items

    def blocks(depth: int | None) -> list[tuple[int, int]]:
        if depth is None or WORTH * depth > n_items or distances.rough is None:
            return cut_rows(n_queries, n_rows)
        # Of a query the nearest items are kept and some items are searched at a time; each thread has a block.
        most = min(SCANNED_QUERIES, n_pairs // (WORTH * max(depth, LEAST_LANES)), -(-n_queries // n_threads))
        return cut_rows(n_queries, max(n_rows, most))

    def make(first: int, last: int, depth: int | None) -> Queries:
        rows = slice(first, last)
        if depth is None or WORTH * depth > n_items:
            return whole_lists(distances.of(rows), grades, rows, without_self)
        query, item, near = nearest(distances, rows, depth + without_self, n_rows)
        if without_self:
            others = item != query + first
            query, item, near = query[others], item[others], near[others]
        label, unlisted = grades.listed(rows, query, item, depth=depth, ranked=True, without_self=without_self)
        grouping = Grouping.by_sizes(np.bincount(query, minlength=last - first), first_query=first)
        return as_queries(label, 0.0 - near, grouping, unlisted=unlisted)

    grouping = Grouping.by_matrix(np.arange(n_queries), n_items - without_self)
    return LazyQueries(grouping, blocks, make)


# --- the nearest items ---------------------------------------------------------------------------------------


def nearest(distances: Distances, rows: slice, depth: int, n_rows: int) -> tuple[Index, Index, NDArray[Any]]:
    """Find the `depth` nearest items of each query, all ties of the last one and a few more: query, item, distance."""
    # If a distance may be off by `slack`, the last item that is asked for may be as much further away, and another item
    # as much nearer. Rough distances leave so few candidates that pairs are compared one by one in float64; otherwise
    # all distances are made, of a few rows at a time.
    if distances.rough is not None and distances.of_pairs is not None:
        query, item = _scan(distances, rows, depth)
        if WORTH * len(query) <= (rows.stop - rows.start) * distances.n_items:
            return query, item, distances.of_pairs(query + rows.start, item)
    found = [
        _of_whole(distances, slice(*block), depth, rows.start) for block in cut_rows(rows.stop, n_rows, rows.start)
    ]
    query, item, near = map(np.concatenate, zip(*found, strict=True))
    return query, item, near


def _of_whole(distances: Distances, rows: slice, depth: int, start: int) -> tuple[Index, Index, NDArray[Any]]:
    """The same from all distances; queries are numbered from `start` on."""
    distance = distances.of(rows)
    bar = np.partition(_lanes(distance, depth), depth - 1, axis=1)[:, depth - 1]
    if distances.slack is not None:
        bar = bar + 2.0 * distances.slack[rows]
    query, item = np.divmod(np.flatnonzero(distance <= bar[:, None]), distance.shape[1])
    if distances.of_pairs is None or WORTH * len(query) > distance.size:
        return query + rows.start - start, item, distance[query, item]
    return query + rows.start - start, item, distances.of_pairs(query + rows.start, item)


def _lanes(distance: NDArray[Any], depth: int) -> NDArray[Any]:
    """Minima of lanes to which items are dealt out: the `depth` least belong to as many items."""
    n_queries, n_items = distance.shape
    n_lanes = min(max(LANES_PER_ITEM * depth, LEAST_LANES), n_items)
    lanes: NDArray[Any] = distance[:, : n_items // n_lanes * n_lanes].reshape(n_queries, -1, n_lanes).min(axis=1)
    return lanes


def _scan(distances: Distances, rows: slice, depth: int) -> tuple[Index, Index]:
    """Query and item of the pairs that may be among the nearest, by rough distances of some items after the other."""
    assert distances.rough is not None
    assert distances.rough_slack is not None
    n_queries, n_items = rows.stop - rows.start, distances.n_items
    # As far once more: the true distance of the last item that is asked for is also off.
    slack = 2.0 * distances.rough_slack[rows, None]
    least: Any = np.empty((n_queries, 0))
    query, item, near = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0)
    size = max(min(SCANNED_PAIRS // n_queries, SCANNED_ITEMS), WORTH * depth)
    for first, last in cut_rows(n_items, size):
        distance = distances.rough(rows, slice(first, last))
        least = np.concatenate([least.astype(distance.dtype), _lanes(distance, depth)], axis=1)
        bar = np.full((n_queries, 1), np.inf)
        if least.shape[1] >= depth:
            least = np.partition(least, depth - 1, axis=1)[:, :depth]
            bar = least.max(axis=1, keepdims=True) + slack
        # Rounded up in float32.
        high = np.nextafter(bar.astype(distance.dtype), distance.dtype.type(np.inf))
        at, place = np.divmod(np.flatnonzero(distance <= high), last - first)
        query, item = np.append(query, at), np.append(item, place + first)
        near = np.append(near, distance[at, place])
        kept = near <= bar[query, 0]
        query, item, near = query[kept], item[kept], near[kept]
    order = np.lexsort((item, query))
    return query[order], item[order]


# --- whole lists ---------------------------------------------------------------------------------------------


def whole_lists(distance: NDArray[Any], grades: Grades, rows: slice, without_self: bool) -> Queries:
    """Queries with a row for each item."""
    label: NDArray[Any] = np.empty(distance.shape, dtype=grades.dtype)
    grades.write(rows, label)
    if without_self:
        distance, label = drop_self(distance, rows.start), drop_self(label, rows.start)
    n_queries, n_items = label.shape
    grouping = Grouping.by_matrix(np.arange(n_queries), n_items, rows.start)
    # Whole numbers of two bytes are exact in float32, which takes half the memory.
    score = np.subtract(0, distance, dtype=np.float32 if distance.dtype.itemsize <= 2 else np.float64).ravel()
    summary, labels, _ = summary_of(label.ravel(), score)
    return Queries(labels, grouping, None, summary, score=score)
