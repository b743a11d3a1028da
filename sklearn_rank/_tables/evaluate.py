"""`evaluate_table`: evaluate the columns of a table, in memory or in pieces."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from numbers import Integral
from typing import Any

from sklearn_rank._data.doors import TABLE
from sklearn_rank._data.look import Evidence, collected_findings, findings_in, look, look_at_parts, report
from sklearn_rank._engine.attributes import check_attributes
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._evaluation.evaluate import evaluate_rows
from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import columns_of
from sklearn_rank._metric.settled import metrics_to_add
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.batch_validator import BatchValidator, NumberedRows, adjacent_queries
from sklearn_rank._tables.column_arguments import ColumnNames, about_columns, checked_names, column_arguments
from sklearn_rank._tables.columns import (
    DATA_KINDS,
    column_names,
    documents_for_ties,
    is_in_pieces,
    is_stream,
    metric_columns,
    table_columns,
    table_with,
)
from sklearn_rank._tables.data_sets import iterate_batches
from sklearn_rank._tables.parts import evaluate_parts, join_parts, with_evidence
from sklearn_rank._tables.roles import rank_beside
from sklearn_rank._tables.scattered_queries import Part, scattered_parts
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import check_n_jobs

MEMORY_LIMIT = 2**28


@named_arguments
@with_arguments_of(column_arguments)
def evaluate_table(
    data: Any, *, by: str | Sequence[str] | None = None, clusters: str | None = None, tie_break: str | None = None,
    doc_id: str | None = None, assume_grouped: bool = False, memory_limit: int | None = None, folder: Any = None,
    chance: bool = False, n_jobs: int | None = None, **columns: Any,
) -> Evaluation:  # fmt: skip
    """Compute many metrics on the columns of a table, with the same result as `evaluate` on the arrays.

    The table may be in memory, or come in pieces that together are larger than memory: then memory holds one piece, the
    largest query, and the id, the values and the weight of each query.

    Parameters
    ----------
    data : table, path, data set or iterable of tables
        A row a document. In memory: a frame of pandas or polars, a record batch or table of Arrow, a dict of arrays, or
        any other table that narwhals reads (Ibis, Modin, cuDF) or that has Arrow's PyCapsule interface. Columns of
        float64 without nulls are not copied. Of a plan (LazyFrame) or a stream (a relation of DuckDB, a reader of
        Arrow) the named columns are collected.

        In pieces: the path of a file of CSV (with a header), JSON lines, Parquet or Arrow, or of a folder of them, a
        list of paths, or a pattern such as ``rows/2026-*.csv``, which need the extra "arrow"; a
        ``pyarrow.dataset.Dataset``; an iterable of tables, or of tuples of arrays ``(y_true, y_score,
        qid)`` or ``(y_true, y_score, qid, sample_weight)``, for which names of columns do not matter; or a stream, with
        `assume_grouped`, `memory_limit` or `folder`. A query may continue in other pieces. In CSV ids are strings,
        unchanged.
    by : str, list of str or None, default=None
        Column of an attribute of each row's query, such as its country, for `Evaluation.segments`; or several. Constant
        within a query. Columns of CSV in pieces are text.
    clusters : str or None, default=None
        Column of what each row's query belongs to, such as a user or a session; constant within a query. Queries of one
        cluster are not independent: intervals and tests of the result allow for that.
    tie_break : str or None, default=None
        Column for metrics with ``ties="stable"``: among equal scores the higher value ranks first. Only for a table in
        memory.
    doc_id : str or None, default=None
        Column of documents, which ``convention="trec_eval"`` orders equal scores by. None: found by its name, as in
        `sklearn_rank.io.read_run`, if the table has one.
    assume_grouped : bool, default=False
        Whether the rows of each query are adjacent. If so, each query is evaluated as soon as it ends, and no file is
        written; a query that comes again later is an error. Otherwise rows that exceed the memory limit are
        partitioned by query on disk first. Like `memory_limit` and `folder` only for data in pieces.
    memory_limit : int or None, default=None
        Bytes that rows held back from pieces may take without ``assume_grouped=True``, unless a single query takes
        more; None is 2**28. The piece itself and the results of queries are not counted.
    folder : str, path or None, default=None
        Where to keep rows on disk, about 20 bytes each. None: the folder of temporary files, which may be memory. The
        file has no name, so it is gone however the process ends.

    Returns
    -------
    Evaluation
        As from `evaluate`. Queries are in order of first appearance. Of data in pieces it does not keep the data, so
        `tie_range`, `n_tied` and `chance` are not available, the last unless it was asked for here.

    Raises
    ------
    ValueError
        If a column is missing, is there twice or has two roles, which is checked before any data are read; as in
        `evaluate`, naming the piece; if the type of ids differs between pieces, or rows of a query are not adjacent
        with ``assume_grouped=True``.
    TypeError
        If `data` is none of these, or an argument is for the other kind of data: the error names the function that
        takes it, such as `sklearn_rank.spark.evaluate`; or as in `evaluate`.
    OSError
        If a file cannot be read, or rows cannot be written to `folder` or read back.
    ImportError
        If a table needs narwhals (the extra "frames") or pyarrow (the extra "arrow"), and it is not installed.

    See Also
    --------
    evaluate : The same for arrays.
    RankingAccumulator : The same in a loop of your own, such as training.

    Examples
    --------
    Query "a" has its relevant document at rank 2, query "b" at rank 1:

    >>> import pandas as pd
    >>> from sklearn_rank import evaluate_table
    >>> rows = {
    ...     "query": ["a", "a", "b", "b"],
    ...     "label": [0, 1, 1, 0],
    ...     "bm25": [2.5, 1.5, 2.0, 1.0],
    ... }
    >>> names = {"y_score": "bm25", "qid": "query", "metrics": ["mrr", "p@1"]}
    >>> evaluate_table(pd.DataFrame(rows), **names).mean()
    {'mrr': 0.75, 'p@1': 0.5}

    The same in pieces, where query "a" continues in the second:

    >>> frame = pd.DataFrame(rows)
    >>> evaluate_table(iter([frame[:1], frame[1:]]), **names).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs, names = column_arguments(data, **columns)
    names = checked_names(names._replace(by=by, clusters=clusters, tie_break=tie_break))
    check_n_jobs(n_jobs)
    BOOL("assume_grouped", assume_grouped, "evaluate_table")
    of_pieces = {"assume_grouped": assume_grouped or None, "memory_limit": memory_limit, "folder": folder}
    if is_in_pieces(data) or (is_stream(data) and _given(of_pieces)):
        rule = "tie_break= is read of a table in memory, such as pandas.read_parquet(path)."
        _refuse(data, {"tie_break": tie_break}, rule, "data in pieces")
        limit = MEMORY_LIMIT if memory_limit is None else memory_limit
        if not isinstance(limit, Integral) or isinstance(limit, bool) or limit < 1:
            raise ValueError(
                f"The 'memory_limit' parameter must be a number of bytes, an int >= 1, or None. Got {echo(limit)}."
            )
        return _evaluate_pieces(data, specs, names, assume_grouped, int(limit), folder, chance, n_jobs)
    return _of_memory(data, specs, names, of_pieces, chance, n_jobs, doc_id)


def _of_memory(
    data: Any, specs: Mapping[str, MetricSpec], names: ColumnNames, of_pieces: Mapping[str, Any], chance: bool,
    n_jobs: int | None, doc_id: str | None,
) -> Evaluation:  # fmt: skip
    table = table_with(data, names, kinds=DATA_KINDS)
    rule = (
        "assume_grouped=, memory_limit= and folder= are for data in pieces: a path, a data set, an iterable of tables, "
        "or a stream."
    )
    _refuse(data, of_pieces, rule, "a table in memory")
    arrays, rank = table_columns(table, names)._asdict(), rank_beside(column_names(table), names.flat())
    y_true, y_score = arrays.pop("y_true"), arrays.pop("y_score")
    arrays |= documents_for_ties(table, names, doc_id, specs.values())
    try:
        with collected_findings() as seen:
            result = evaluate_rows(
                TABLE.of_columns(names.y_true, names.y_score), y_true, y_score, specs,
                metric_columns(table, names, columns_of(specs)), n_jobs=n_jobs, name=names.y_score, chance=chance,
                **arrays,
            )  # fmt: skip
        if rank is not None:
            seen += findings_in(ranks=(metric_columns(table, names, [rank])[rank], y_score, arrays["qid"]))
        report(TABLE, seen)
    except (TypeError, ValueError) as error:
        raise about_columns(error, names) from error
    return result


def _given(arguments: Mapping[str, Any]) -> list[str]:
    return [f"{name}={echo(value)}" for name, value in arguments.items() if value is not None]


def _refuse(data: Any, arguments: Mapping[str, Any], rule: str, kind: str) -> None:
    if given := _given(arguments):
        raise TypeError(f"{rule} Got {' and '.join(given)} with {kind}: {type(data).__name__}.")


def _evaluate_pieces(
    data: Any, specs: Mapping[str, MetricSpec], names: ColumnNames, assume_grouped: bool, memory_limit: int,
    folder: Any, chance: bool, n_jobs: int | None,
) -> Evaluation:  # fmt: skip
    """Result of rows that come in pieces, each a batch; see `evaluate_table`."""
    asked = with_references(specs) if chance else specs
    added = metrics_to_add(specs)
    validator = BatchValidator(names, specs.values(), assume_grouped, n_jobs)
    stream = iterate_batches(data, names)
    results, evidence = list[Evaluation](), Evidence()
    with ExitStack() as stack:
        if assume_grouped:
            grouped = adjacent_queries(validator.validate(stream))
            parts = evaluate_parts(grouped, NumberedRows.queries, asked, added, n_jobs, names.y_score)
        else:
            rows = validator.validate_scattered(stream)
            scattered = scattered_parts(rows, lambda: validator.seen.n, memory_limit, folder, n_jobs)
            # The traceback of an error would hold the file on disk.
            stack.enter_context(closing(scattered))
            parts = evaluate_parts(scattered, Part.queries, asked, added, n_jobs, names.y_score)
        for part in parts:
            results.append(part.evaluation)
            evidence = evidence.joined(part.evidence)
    # Until here a query is known by its number.
    numbers, ids = [result.qid for result in results], validator.seen.ids()
    look_at_parts(TABLE, [evidence.with_ids(ids)], specs, name=names.y_score)
    report(TABLE, validator.batches.findings(ids))
    result = join_parts(results, numbers, ids, validator.weight)
    result = with_evidence(result, evidence, specs)
    by, clusters = (
        {name: kept.tolist() for name, kept in validator.of_queries(role).items()} for role in ("by", "clusters")
    )
    of_queries = check_attributes(by or None, clusters.get("clusters"), Grouping.one_row_each(ids))
    result = replace(result, **of_queries._asdict())
    look(TABLE, queries=(result,))
    return result
