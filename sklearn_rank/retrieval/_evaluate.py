"""`evaluate_retrieval`: queries ranked against a database, a chunk of them at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from joblib import effective_n_jobs
from numpy.typing import NDArray

from sklearn_rank._check import Queries, check_queries, check_query_weight
from sklearn_rank._compute import Batches, per_query
from sklearn_rank.evaluate import Evaluation, parse_metrics
from sklearn_rank.retrieval._relevance import Grades, make_grades
from sklearn_rank.retrieval._similarity import Scores, make_scores

BYTES = 40
"""Of memory for each pair of a query and a database item that is looked at."""

PAIRS = 2**21
"""Pairs in a chunk, where memory allows: few enough to stay in the cache, enough to be worth a call."""


def evaluate_retrieval(
    query_features: Any, database_features: Any = None, query_labels: Any = None, database_labels: Any = None, *,
    metric: Any = "cosine", metrics: Any = ("ndcg@10", "map"), relevance: Any = None, exclude_self: bool = False,
    query_ids: Any = None, sample_weight: Any = None, working_memory: float | None = None, progress: bool = False,
    n_jobs: int | None = None, **keywords: Any,
) -> Evaluation:  # fmt: skip
    """Rank a database for each query by their features, and judge the rankings by labels that they share.

    Distances are made for a chunk of queries at a time, and only values query by query are kept.

    Parameters
    ----------
    query_features : array-like or sparse matrix of shape (n_queries, n_features)
    database_features : array-like or sparse matrix of shape (n_database, n_features), default=None
        None: the queries are searched among themselves, each left out of its own ranking.
    query_labels, database_labels : array-like of shape (n,) or indicator matrix of shape (n, n_labels), default=None
        One label each: an item is relevant (grade 1) if it has the query's. Indicators of 0 and 1, dense or sparse: the
        grade is the number of labels that both have, ``l_q^T l_i``. Without a database, `query_labels` alone.
    metric : str or callable, default="cosine"
        "cosine" and "inner_product", higher is nearer (a zero vector has cosine 0 with all); "euclidean"; "hamming" for
        codes of {-1, 1}, {0, 1} or packed uint8; or what `sklearn.metrics.pairwise_distances` takes, lower is nearer.
    metrics : str, metric function or sequence of them, default=("ndcg@10", "map")
        As `evaluate` takes them.
    relevance : matrix of shape (n_queries, n_database) or callable, default=None
        Graded judgements in place of labels, dense or sparse, or a function that returns the rows of some queries, by
        an array of their numbers.
    exclude_self : bool, default=False
        Whether row i of the database is query i and is left out of its ranking.
    query_ids : array-like of shape (n_queries,), default=None
        None: 0, 1, ...
    sample_weight : array-like of shape (n_queries,), default=None
        Weight of each query in the mean.
    working_memory : float, default=None
        MiB for the distances that live at a time. None: as scikit-learn's configuration has it.
    progress : bool, default=False
        Whether to show a progress bar over chunks; needs the extra "progress".
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`. With ``metric="hamming"`` ties are the rule:
        the default is the exact expectation over all orders of items at the same distance.

    Returns
    -------
    Evaluation
        What `evaluate` returns. Its `tie_range` and `n_tied` make the distances again.

    Raises
    ------
    ValueError
        If shapes do not fit, features are not finite, codes are outside their alphabet or labels are not indicators.
    TypeError
        If nothing, or too much, says what is relevant.

    References
    ----------
    K. He, F. Cakir, S. Bargal and S. Sclaroff, "Hashing as tie-aware learning to rank", CVPR 2018.

    Examples
    --------
    The first code is nearest to the query, the other two are tied, one of them relevant: AP = (1/1 + (2/2 + 2/3) / 2) / 2:

    >>> from sklearn_rank.retrieval import evaluate_retrieval
    >>> codes, labels = [[1, 1, 1], [1, -1, -1], [-1, 1, -1]], ["cat", "cat", "dog"]
    >>> result = evaluate_retrieval([[1, 1, 1]], codes, ["cat"], labels, metric="hamming", metrics="map")
    >>> round(result.mean()["map"], 4)
    0.9167
    """
    specs = parse_metrics(metrics, **keywords)
    if database_features is None:
        if database_labels is not None:
            raise TypeError("Without database_features the queries are the database, and database_labels must be None.")
        database_features, database_labels, exclude_self = query_features, query_labels, True
    write_scores, n_queries, n_database = make_scores(metric, query_features, database_features)
    if exclude_self and n_queries != n_database:
        raise ValueError(
            "With exclude_self row i of the database is query i, so there must be as many. "
            f"Got {n_queries} queries and {n_database} database items."
        )
    if exclude_self and n_database < 2:
        raise ValueError("With exclude_self there must be at least two items. Got one.")
    write_grades = make_grades(query_labels, database_labels, relevance, n_queries, n_database)
    ids = np.arange(n_queries) if query_ids is None else np.asarray(query_ids)
    if ids.shape != (n_queries,):
        raise ValueError(f"query_ids must have one entry per query ({n_queries}). Got shape {ids.shape}.")
    weight = None if sample_weight is None else check_query_weight(sample_weight, n_queries)

    def make(first: int, last: int) -> Queries:
        return _rank_chunk(write_scores, write_grades, slice(first, last), n_database, exclude_self)

    memory = sklearn.get_config()["working_memory"] if working_memory is None else working_memory
    pairs = min(PAIRS, memory * 2**20 / BYTES / effective_n_jobs(n_jobs))
    rows = max(int(pairs // n_database), 1)
    blocks = [(a, min(a + rows, n_queries)) for a in range(0, n_queries, rows)]
    batches = Batches(n_queries, blocks, make)
    results = per_query(batches, list(specs.values()), n_jobs)
    return Evaluation(ids, weight, dict(zip(specs, results, strict=True)), batches, n_jobs)


def _rank_chunk(
    write_scores: Scores, write_grades: Grades, rows: slice, n_database: int, exclude_self: bool
) -> Queries:
    shape = rows.stop - rows.start, n_database
    score, grade = np.empty(shape), np.empty(shape)
    write_scores(rows, score)
    write_grades(rows, grade)
    if exclude_self:
        score, grade = (_without_self(x, rows.start) for x in (score, grade))
    return check_queries(grade, score)


def _without_self(x: NDArray[np.float64], first: int) -> NDArray[np.float64]:
    """The rows without the column of each row's own number, the first row's being `first`."""
    others = np.arange(x.shape[1])[None] != np.arange(first, first + len(x))[:, None]
    return x[others].reshape(len(x), -1)
