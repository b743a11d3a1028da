"""Evaluation of data larger than memory, batch by batch: the same numbers as `evaluate`, to the last bit."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Integral
from typing import Any

from sklearn_rank._chunks.adjacent import adjacent_queries
from sklearn_rank._chunks.checker import BatchValidator
from sklearn_rank._chunks.columns import Columns, batches_of, check_names
from sklearn_rank._chunks.evaluate import evaluate_parts, join_parts
from sklearn_rank._engine.queries import Queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank.batches._partition_on_disk import scattered_queries


@named_arguments
def evaluate_batches(
    batches: Any,
    *,
    metrics: Any,
    y_true: Any = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    grouped: bool = False,
    memory_limit: int = 2**28,
    folder: Any = None,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics on rows that come in batches, as `evaluate` would on all of them at once.

    Held in memory are a batch, the largest query, and the id, the values and the weight of each query.

    Parameters
    ----------
    batches : iterable, path or data set
        LazyQueries, each a tuple of arrays ``(y_true, y_score, qid)`` or ``(y_true, y_score, qid, sample_weight)``, a
        frame of pandas or polars, a record batch or table of Arrow, or a dict of arrays; or the path of a Parquet file
        or of a folder of them, or a ``pyarrow.dataset.Dataset``, of which the named columns are read. A query may go on
        from one batch to others.
    metrics : str, metric function, callable or sequence of them
        As `evaluate` takes them.
    y_true : str or list of str, default="label"
        Column of the relevance of each row; a list of columns, one a subtopic, for metrics of diversity. Names of
        columns are not read where batches are tuples.
    y_score : str, default="score"
        Column of the output of the model. ``-inf``: judged but not retrieved.
    qid : str, default="qid"
        Column of the query of each row. Ids are of one type in all batches.
    sample_weight : str or None, default=None
        Column of the weight of each row's query in the mean; None: there is none, but for tuples of four arrays.
    grouped : bool, default=False
        Whether the rows of each query are adjacent. Then each query is evaluated when it has ended, and nothing is
        written to disk; rows that are not adjacent are an error. Otherwise rows that take more than the memory limit
        are divided on disk first, by query.
    memory_limit : int, default=2**28
        Bytes that rows kept back from a batch may take with ``grouped=False``, unless a single query takes more. It
        does not count batches themselves, and what is kept of each query.
    folder : str or path, default=None
        Where to keep rows on disk, about 20 bytes each; None: where temporary files go, which may be memory. The
        file has no name there, so nothing is left of it however the process ends.
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them. The result is the same to the last bit.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win.

    Returns
    -------
    Evaluation
        Queries in order of first appearance. It can do all but look for ties, which takes the data.

    Raises
    ------
    ValueError or TypeError
        As from `evaluate`, naming the batch; or if a batch is nothing that has the columns, qid has other types in
        other batches, or rows of a query are not adjacent with ``grouped=True``.
    OSError
        If rows cannot be written to `folder`, or read back.
    ImportError
        If a path is given and pyarrow is missing: it needs the extra "arrow".

    Examples
    --------
    Query "a" goes on in the second batch, where its relevant document is, ranked second:

    >>> from sklearn_rank import evaluate_batches
    >>> first = [0], [2], ["a"]
    >>> second = [1, 1, 0], [1, 2, 1], ["a", "b", "b"]
    >>> evaluate_batches([first, second], metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs = parse_metrics(metrics, **keywords)
    names = Columns(y_true, y_score, qid, sample_weight)
    check_names(names)
    check_n_jobs(n_jobs)
    if not isinstance(memory_limit, Integral) or isinstance(memory_limit, bool) or memory_limit < 1:
        raise ValueError(f"The 'memory_limit' parameter must be a number of bytes, an int >= 1. Got {memory_limit!r}.")
    checker = BatchValidator(names, specs.values(), grouped, n_jobs)
    rows = checker.checked(batches_of(batches, names))
    if grouped:
        return _evaluated(adjacent_queries(rows, n_jobs), specs, checker, n_jobs)
    whole = scattered_queries(rows, lambda: checker.seen.n, int(memory_limit), folder, n_jobs)
    return _evaluated(whole, specs, checker, n_jobs)


def _evaluated(
    whole: Iterable[Queries], specs: dict[str, MetricSpec], checker: BatchValidator, n_jobs: int | None
) -> Evaluation:
    """One result of whole queries, whose ids are their numbers."""
    parts = [*evaluate_parts(whole, specs, n_jobs)]
    return join_parts(parts, [part.qid for part in parts], checker.seen.ids(), checker.weight)
