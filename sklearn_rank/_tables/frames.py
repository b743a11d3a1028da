"""`evaluate_frame`: evaluate the columns of a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn_rank._evaluation.evaluate import evaluate_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._misuse.doors import FRAME
from sklearn_rank._tables.column_arguments import checked_names, column_arguments
from sklearn_rank._tables.columns import columns_of, table_with
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import extended
from sklearn_rank._utils.threads import check_n_jobs


@named_arguments
@with_arguments_of(column_arguments)
def evaluate_frame(
    data: Any,
    *,
    by: str | Sequence[str] | None = None,
    clusters: str | None = None,
    tie_break: str | None = None,
    chance: bool = False,
    n_jobs: int | None = None,
    **columns: Any,
) -> Evaluation:
    """Compute many metrics on the columns of a table, with the same result as `evaluate` on the arrays.

    Parameters
    ----------
    data : table
        A row a document: a frame of pandas or polars, a record batch, table or stream of Arrow, a relation of DuckDB,
        a dict of arrays, or any other table that narwhals reads (Ibis, Modin, cuDF) or that has Arrow's PyCapsule
        interface. Columns of float64 without nulls are not copied. A plan (LazyFrame, relation, stream) collects only
        the named columns.
    by : str, list of str or None, default=None
        Column of an attribute of each row's query, such as its country, for `Evaluation.segments`; or several. Constant
        within a query.
    clusters : str or None, default=None
        Column of what each row's query belongs to, such as a user or a session; constant within a query. Queries of one
        cluster are not independent: intervals and tests of the result allow for that.
    tie_break : str or None, default=None
        Column for metrics with ``ties="stable"``: among equal scores the higher value ranks first.

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
    specs, names = column_arguments(data, **columns)
    names = checked_names(names._replace(by=by, clusters=clusters, tie_break=tie_break))
    check_n_jobs(n_jobs)
    arrays = columns_of(table_with(data, names), names)._asdict()
    try:
        y_true, y_score = arrays.pop("y_true"), arrays.pop("y_score")
        return evaluate_rows(FRAME, y_true, y_score, specs, n_jobs=n_jobs, name=names.y_score, chance=chance, **arrays)
    except (TypeError, ValueError) as error:
        raise extended(error, f"The columns are {names}.") from error
