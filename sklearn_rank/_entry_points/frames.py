"""`evaluate_frame`: evaluate the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_rank._chunks.columns import columns_of
from sklearn_rank._chunks.named_columns import ColumnNames, check_column_names
from sklearn_rank._chunks.tables import table_with
from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import DEFAULT_METRICS, parse_metrics
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import check_n_jobs


@named_arguments
def evaluate_frame(
    data: Any,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    y_true: str | Sequence[str] = "label",
    y_score: str = "score",
    qid: str = "qid",
    sample_weight: str | None = None,
    by: str | Sequence[str] | None = None,
    clusters: str | None = None,
    tie_break: str | None = None,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics on the columns of a table, with the same result as `evaluate` on the arrays.

    Parameters
    ----------
    data : table
        A row a document: a frame of pandas or polars, a record batch, table or stream of Arrow, a relation of DuckDB,
        a dict of arrays, or any other table that narwhals reads (Ibis, Modin, cuDF) or that has Arrow's PyCapsule
        interface. Columns of float64 without nulls are not copied. Of a plan (LazyFrame, relation, stream) only the
        named columns are collected.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        As in `evaluate`.
    y_true : str or list of str, default="label"
        Column of the relevance of each row; a list of columns, one a subtopic, for metrics of diversity. A null is a
        document that nobody judged, which `unjudged` says how to read.
    y_score : str, default="score"
        Column of the output of the model. ``-inf``: judged but not retrieved.
    qid : str, default="qid"
        Column of the query of each row, or a level of the index of a frame of pandas.
    sample_weight : str or None, default=None
        Column of the weight of each row's query in the mean; constant within a query.
    by : str, list of str or None, default=None
        Column of an attribute of each row's query, such as its country, for `Evaluation.segments`; or several. Constant
        within a query.
    clusters : str or None, default=None
        Column of what each row's query belongs to, such as a user or a session; constant within a query. Queries of one
        cluster are not independent: intervals and tests of the result allow for that.
    tie_break : str or None, default=None
        Column for metrics with ``ties="stable"``: among equal scores the higher value ranks first.
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them. The result is the same to the last bit.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win.

    Returns
    -------
    Evaluation
        As from `evaluate`.

    Raises
    ------
    ValueError
        If a column is missing, is there twice or has two roles, which is checked before any data are read; or as in
        `evaluate`.
    TypeError
        If `data` is no table in memory: the error names the function that takes it; or as in `evaluate`.
    ImportError
        If a table needs narwhals (the extra "frames") or pyarrow (the extra "arrow"), and it is not installed.

    See Also
    --------
    evaluate : The same for arrays.
    evaluate_batches : The same for files, and for data larger than memory.

    Examples
    --------
    Query "a" has its relevant document at rank 2, query "b" at rank 1:

    >>> import pandas as pd
    >>> from sklearn_rank import evaluate_frame
    >>> rows = {
    ...     "query": ["a", "a", "b", "b"],
    ...     "label": [0, 1, 1, 0],
    ...     "bm25": [2.5, 1.5, 2.0, 1.0],
    ... }
    >>> result = evaluate_frame(
    ...     pd.DataFrame(rows), y_score="bm25", qid="query", metrics=["mrr", "p@1"]
    ... )
    >>> result.mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs = parse_metrics(metrics, **keywords)
    names = ColumnNames(y_true, y_score, qid, sample_weight, by, clusters, tie_break)
    check_column_names(names)
    refuse_two_roles(names)
    check_n_jobs(n_jobs)
    columns = columns_of(table_with(data, names, "data"), names)._asdict()
    try:
        return evaluate(columns.pop("y_true"), columns.pop("y_score"), metrics=specs, n_jobs=n_jobs, **columns)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error} The columns are {names}.") from error


def refuse_two_roles(names: ColumnNames) -> None:
    """Raise ValueError if labels, scores and queries share a column: scores that are the labels are always right."""
    role_of: dict[str, str] = {}
    for role, name in ColumnNames(*names[:3]).by_role():
        if name in role_of:
            raise ValueError(
                "Labels, scores and queries are in different columns; copy one to rank by the labels. "
                f"Got {echo(name)} as {role_of[name]} and as {role}."
            )
        role_of[name] = role
