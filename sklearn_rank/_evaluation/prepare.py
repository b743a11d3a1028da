"""Metrics with fixed labels, which are checked once, for changing scores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._data.doors import PREPARE
from sklearn_rank._data.look import KINDS_OF_LABELS, look_at_rows
from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import as_mask, read, with_columns
from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.prepared import PreparedMetrics, labels_of_rows
from sklearn_rank._metric.names import DEFAULT_METRICS, columns_of, is_single_metric, parse_with_columns
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.containers import is_sparse
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import MatrixLike


@described_as(evaluate)
@named_arguments
def prepare(
    y_true: MatrixLike,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    n_jobs: int | None = None,
    **keywords: Any,
) -> PreparedMetrics:
    """Prepare metrics: labels are checked once, and scores may change from call to call.

    For a training loop, a search or a service that scores the same rows many times. Labels, queries, weights and
    keywords are checked once, and what depends on labels alone, such as the ideal order, is computed once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_queries, n_documents)
        Relevance of each document to its query. Shape (n_samples, n_subtopics) for metrics of diversity, with `qid`.
        It is copied.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        Metrics, as for `evaluate`. Functions in keywords, such as a `gain`, must always return the same values.
    n_jobs : int or None, default=None
        Number of threads of a call, counted as in joblib. The result is the same to the last bit.

    Returns
    -------
    PreparedMetrics
        ``prepared(y_score)`` is the mean of the metric, a float, or a dict of means if there are several; the same
        numbers as from `evaluate`, to the last bit. ``prepared.evaluate(y_score)`` is the whole `Evaluation`.

    Raises
    ------
    ValueError
        If a name, a keyword or the data are invalid. In a call: if there is not one score for each label.
    TypeError
        If no metric accepts one of the keywords.

    Notes
    -----
    Memory: 9 bytes per row for the labels; 8 bytes per row for the order if rows are not grouped by query; after the
    first call, up to 17 bytes for each rank down to the deepest cutoff, for the ideal order.

    Examples
    --------
    >>> from sklearn_rank import prepare
    >>> ndcg = prepare([0, 1, 1, 0], qid=["a", "a", "b", "b"], metrics="mrr")
    >>> ndcg([2, 1, 2, 1]), ndcg([1, 2, 2, 1])
    (0.75, 1.0)
    >>> prepare([0, 1, 1, 0], qid=["a", "a", "b", "b"], metrics=["mrr", "p@1"])([2, 1, 2, 1])
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs, columns = parse_with_columns(metrics, keywords)
    for spec in specs.values():
        spec._refuse_empty()
    if is_sparse(y_true):
        raise TypeError("prepare takes dense arrays; pass a sparse matrix of labels to evaluate. Got a sparse matrix.")
    shape, named = as_floats(y_true, "y_true").shape, qid is not None or queries_in(y_true) is not None
    if len(shape) == 2 and named and any(spec.metric.subtopics for spec in specs.values()):
        shape = shape[:1]  # a column is a subtopic, no document
    none = np.zeros(shape)
    queries = read(y_true, none, qid=qid, sample_weight=sample_weight, mask=mask, n_jobs=n_jobs)
    queries = with_columns(queries, y_true, columns_of(specs), columns)
    look_at_rows(PREPARE, queries, specs, kinds=KINDS_OF_LABELS, y_true=y_true)
    # The labels may be the array of the caller; ids and weights are not.
    data = Data(
        queries.row_label.copy(), queries.grouping, queries.weight, queries.summary, names=queries.names,
        columns=queries.columns,
    )  # fmt: skip
    rows = None
    if not data.grouping.row_is_query:
        shape = shape[:1]
    elif mask is not None:
        rows = np.flatnonzero(as_mask(mask, shape))
    labeled = labels_of_rows(y_true=y_true, qid=qid, sample_weight=sample_weight, mask=mask)
    return PreparedMetrics(
        data, specs, shape=shape, rows=rows, labeled=labeled, is_single=is_single_metric(metrics),
        door=PREPARE,
    )  # fmt: skip
