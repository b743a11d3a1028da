"""`evaluate_retrieval`: rank a database for a chunk of queries at a time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike

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
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.queries import InputNames, LazyQueries, Queries
from sklearn_rank._engine.read import check_query_weight
from sklearn_rank._evaluation.evaluate import evaluate_queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank._utils.threads import check_n_jobs, effective_n_jobs
from sklearn_rank.retrieval._distances import make_distances, queries_among_items
from sklearn_rank.retrieval._relevance import make_grades
from sklearn_rank.retrieval._search import search

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
    BOOL.check("exclude_self", exclude_self, "evaluate_retrieval")
    BOOL.check("progress", progress, "evaluate_retrieval")
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
    except ValueError:
        # The message of `group_rows` speaks of rows.
        raise ValueError(
            f"query_ids must have one entry per query ({n_queries}), without missing ones. Got {echo(query_ids)}."
        ) from None
    if len(ids) < n_queries:
        raise ValueError(f"query_ids must name each query once. Got {len(ids)} ids of {n_queries} queries.")
    return ids, None if sample_weight is None else check_query_weight(sample_weight, n_queries)
