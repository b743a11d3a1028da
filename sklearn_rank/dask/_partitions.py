"""Tasks that score the partitions of a dask DataFrame, each with all rows of its queries.

Knows dask and rows; may not touch averages.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._chunks.column_arguments import (
    ColumnNames,
    ColumnRequest,
    refuse_missing_columns,
    refuse_other_types,
)
from sklearn_rank._chunks.columns import find_column, read_columns
from sklearn_rank._chunks.parts import check_part, evaluate_part, evidence_of
from sklearn_rank._chunks.value_table import refuse_other_frame
from sklearn_rank._engine.grouping import sort_by_number
from sklearn_rank._engine.queries import Queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._signs.evidence import Evidence
from sklearn_rank._utils.echo import echo, extended
from sklearn_rank._utils.optional import import_dask
from sklearn_rank._utils.typing import Index

T = TypeVar("T", bound=np.generic)

ROWS_IN_PARTITION = 2**40
"""Most rows of a partition: the number of a row says which partition it was in."""


class PartitionResult(NamedTuple):
    """Results of the queries of a partition, the number of the first row of each in the frame, and signs."""

    result: Evaluation
    first: Index
    evidence: Evidence


class Parts(NamedTuple):
    """Tasks that each compute a `PartitionResult`, or None without rows.

    `may_share`: disjoint queries were assumed, not established. `qid_dtype` is the dtype of ids in frames; it is a
    category only if the type of the categories is unknown.
    """

    tasks: list[Any]
    may_share: bool
    qid_dtype: Any


def check_frame(ddf: Any, name: str) -> None:
    """Raise TypeError if `ddf` is not a dask DataFrame."""
    if not isinstance(ddf, import_dask().dataframe.DataFrame):
        refuse_other_frame(ddf, name, "dask")


def parts_of(ddf: Any, request: ColumnRequest, assume_grouped: bool) -> Parts:
    """Tasks that score the partitions, after rows are moved to their query where necessary.

    Raises
    ------
    TypeError
        If `ddf` is not a dask DataFrame, or a column does not hold numbers.
    ValueError
        If a column is missing.
    """
    check_frame(ddf, "data")
    frame, dtypes = _selected(ddf, request.names)
    refuse_other_types(request.names, dtypes, _may_be_number)
    qid_dtype = _dtype_of_values(dtypes[request.names.qid])
    delayed = import_dask().delayed
    shared = delayed(request, traverse=False, pure=False)
    bounds = None if assume_grouped else _bounds(frame, request.names.qid)
    if assume_grouped or bounds is not None or frame.npartitions == 1:
        score, partitions = delayed(_score, pure=False), frame.to_delayed(optimize_graph=False)
        of_each = [None] * len(partitions) if bounds is None else bounds
        tasks = [score(p, shared, i, b) for i, (p, b) in enumerate(zip(partitions, of_each, strict=True))]
        return Parts(tasks, assume_grouped and len(tasks) > 1, qid_dtype)
    known = dtypes[request.names.qid]
    rows = frame.map_partitions(_prepared, request, known, meta=_no_rows(request.names, known))
    score = delayed(_score_moved, pure=False)
    return Parts([score(p, shared) for p in rows.shuffle("bucket").to_delayed()], False, qid_dtype)


# --- what the schema tells -----------------------------------------------------------------------------------


def _selected(ddf: Any, names: ColumnNames) -> tuple[Any, dict[str, Any]]:
    """Select the columns that are needed; return the frame and the dtype of each column.

    Ids may stay in the index. dask may read several files as one partition if it needs little of each, so divisions can
    change.
    """
    dtypes = dict(ddf.dtypes)
    columns = names.distinct()
    if names.qid not in dtypes and ddf.index.name == names.qid:
        dtypes[names.qid] = ddf.index.dtype
        columns.remove(names.qid)
    refuse_missing_columns(names, [*ddf.columns, *(dtypes.keys() - set(ddf.columns))])
    return ddf[columns].optimize(), dtypes


def _may_be_number(dtype: Any) -> bool:
    """Whether a column of this dtype may hold numbers: objects and categories may."""
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype

    return str(dtype) in ("object", "category") or is_any_real_numeric_dtype(dtype) or is_bool_dtype(dtype)


def _bounds(ddf: Any, qid: str) -> list[tuple[Any, Any, bool]] | None:
    """Index bounds (start, stop, closed) of each partition, or None if unknown.

    The divisions that dask reads from Parquet do not exclude that an id is in two partitions, so each must be checked.
    """
    if qid in ddf.columns or not ddf.known_divisions or str(ddf.index.dtype) == "category":
        return None
    divisions = ddf.divisions
    last = len(divisions) - 2
    return [(divisions[i], divisions[i + 1], i == last) for i in range(last + 1)]


def _dtype_of_values(dtype: Any) -> Any:
    """The dtype of values: of the categories, if dask knows them."""
    from dask.dataframe.utils import has_known_categories
    from pandas import Series

    is_known = str(dtype) == "category" and has_known_categories(Series([], dtype=dtype))
    return dtype.categories.dtype if is_known else dtype


# --- on the workers ------------------------------------------------------------------------------------------


def _score(
    frame: Any, request: ColumnRequest, number: int, bounds: tuple[Any, Any, bool] | None
) -> PartitionResult | None:
    """Score a partition as it is."""
    try:
        queries = check_part(read_columns(frame, request.names))
        if queries is None:
            return None
        if bounds is not None:
            _refuse_outside(queries.qid, *bounds)
        return _part(queries, request, _numbers(number, len(frame)))
    except (TypeError, ValueError) as error:
        raise extended(error, f"This is partition {number} of the dask DataFrame.") from error


def _prepared(frame: Any, request: ColumnRequest, known: Any, partition_info: Any = None) -> Any:
    """Check the rows of a partition; add the number of each row and the `bucket` that its query goes to."""
    number, qid = partition_info["number"], find_column(frame, request.names.qid)
    try:
        queries = check_part(read_columns(frame, request.names))
        if queries is None:
            return _no_rows(request.names, qid.dtype)
        for spec in request.specs.values():
            # It refuses labels while their partition is known.
            spec.bind(queries)
        _refuse_other_ids(queries.qid, known)
        bucket = _of_rows(queries, _buckets(queries.qid))
    except (TypeError, ValueError) as error:
        raise extended(error, f"This is partition {number} of the dask DataFrame.") from error
    weight = None if queries.weight is None else _of_rows(queries, queries.weight)
    return _rows(request.names, queries.label, queries.score, qid.array, weight, bucket, _numbers(number, len(frame)))


def _score_moved(rows: Any, request: ColumnRequest) -> PartitionResult | None:
    """Score rows that were brought together; the rows of each query are put in the order of the frame."""
    if request.names.sample_weight is not None:
        # An error names the first weight that differs.
        rows = rows.sort_index()
    row = rows.index.to_numpy()
    queries = check_part(read_columns(rows.reset_index(drop=True), request.names.standard()))
    return None if queries is None else _part(_in_order(queries, row), request, row)


def _in_order(queries: Queries, row: Index) -> Queries:
    """The same queries; the rows of each rise."""
    if (row[1:] > row[:-1]).all():
        return queries
    # The stable sort merges the runs that came from each partition.
    rising = np.argsort(row, kind="stable")
    number = _of_rows(queries, np.arange(len(queries.qid), dtype=np.uint32))
    _, order = sort_by_number(number.take(rising), len(queries.qid), None, len(row), None)
    return replace(queries, order=rising.take(order))


def _part(queries: Queries, request: ColumnRequest, row: Index) -> PartitionResult:
    begins = queries.indptr[:-1] if queries.order is None else queries.order[queries.indptr[:-1]]
    evidence = evidence_of(queries, request.specs, request.names.y_score)
    return PartitionResult(evaluate_part(queries, request.specs), row[begins], evidence)


def _numbers(number: int, n_rows: int) -> Index:
    return np.arange(n_rows) + number * ROWS_IN_PARTITION


def _of_rows(queries: Queries, values: NDArray[T]) -> NDArray[T]:
    """Repeat values of queries for each of their rows."""
    out = np.repeat(values, queries.n_documents)
    if queries.order is not None:
        out[queries.order] = out.copy()
    return out


def _refuse_outside(ids: NDArray[Any], low: Any, high: Any, closed: bool) -> None:
    """Raise ValueError for queries outside the divisions: another partition may have more of their rows."""
    from pandas import Index

    index = Index(ids, tupleize_cols=False)
    outside = ~((index >= low) & ((index <= high) if closed else (index < high)))
    if outside.any():
        query = ids[outside][:1].tolist()[0]
        raise ValueError(
            "Queries must be in the partitions that the divisions of the index say, so that none is in two; with "
            "data.clear_divisions() rows are moved instead. "
            f"Got query {echo(query)}, where {echo(low)} up to {echo(high)}, "
            f"{'included' if closed else 'not included'}, belong."
        )


def _refuse_other_ids(ids: NDArray[Any], known: Any) -> None:
    """Raise TypeError for numbers where dask expects text, or vice versa: one query would become two."""
    from pandas.api.types import is_numeric_dtype

    if str(known) not in ("object", "category") and is_numeric_dtype(known) != (ids.dtype.kind in "biuf"):
        raise TypeError(
            "qid must hold ids of one type in all partitions, so that one query has equal ids. "
            f"Got {ids.dtype} where the dtype of the dask DataFrame is {known}."
        )


def _buckets(ids: NDArray[Any]) -> NDArray[np.uint32]:
    """Hash of each id, the same in all partitions and for equal ids of different types."""
    from pandas.util import hash_array

    if ids.dtype.kind in "biuf":
        # Zero is added because -0.0 and 0.0 are one query.
        keys: NDArray[Any] = ids.astype(np.float64) + 0.0
    elif ids.dtype.kind in "mM":
        keys = ids.astype(f"{ids.dtype.kind}8[s]").astype(np.int64)
    else:
        keys = ids.astype(object)
        listed = keys.tolist()
        other = None if {*map(type, listed)} == {str} else next((q for q in listed if not isinstance(q, str)), None)
        if other is not None:
            raise TypeError(
                "To bring the rows of a query together, ids must be numbers, all str, or dates without "
                f"a time zone; assume_grouped=True does not move rows. Got {echo(other)}."
            )
    return (hash_array(keys, categorize=False) >> np.uint64(32)).astype(np.uint32)


# --- rows that are moved ---------------------------------------------------------------------------------------


def _rows(names: ColumnNames, label: Any, score: Any, qid: ArrayLike, weight: Any, bucket: Any, row: Any) -> Any:
    """Frame of rows to be moved, their numbers in the index: labels and scores as floats, ids as they are."""
    from pandas import DataFrame

    columns = [*np.atleast_2d(label.T), score, qid, *([] if weight is None else [weight])]
    named = dict(zip(names.standard().flat(), columns, strict=True))
    # dask moves the index anyway, so the numbers come for free.
    return DataFrame(named | {"bucket": bucket}, index=row)


def _no_rows(names: ColumnNames, qid_dtype: Any) -> Any:
    """The same frame without rows."""
    from pandas import Series

    none = np.empty(0)
    label = none if isinstance(names.y_true, str) else np.empty((0, len(names.y_true)))
    weight = None if names.sample_weight is None else none
    qid = Series([], dtype=qid_dtype).array
    return _rows(names, label, none, qid, weight, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int64))
