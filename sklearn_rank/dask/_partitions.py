"""From a dask DataFrame to tasks that score its partitions, each with all rows of its queries.

Knows dask, and what rows are; may not touch averages.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.columns import Columns, check_names, read_columns, refuse_missing
from sklearn_rank._chunks.evaluate import check_part, evaluate_part
from sklearn_rank._engine.queries import Queries
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.optional import import_dask
from sklearn_rank._utils.typing import Index

T = TypeVar("T", bound=np.generic)

ROWS_IN_PARTITION = 2**40
"""Rows that a partition may have, for the number of a row to say where it was."""


ATTRIBUTE = "sklearn_rank"
"""Of a frame of values: what each column means, and whether more of it is better; lost in merges and files."""


class EvaluationRequest(NamedTuple):
    """Metrics, and the columns that they are of."""

    specs: Mapping[str, MetricSpec]
    names: Columns


class PartitionResult(NamedTuple):
    """Results of the queries of a partition, and the number of the row of the frame where each query begins."""

    result: Evaluation
    first: Index


class Parts(NamedTuple):
    """Tasks that each make a `PartitionResult`, or None of no rows.

    `may_share` where it was only said that no two parts have the same query; `qid_dtype` is that of frames of ids, a
    category only where it is not known of what.
    """

    tasks: list[Any]
    may_share: bool
    qid_dtype: Any


def check_frame(ddf: Any, name: str) -> None:
    """Refuse what is no dask DataFrame.

    Raises
    ------
    TypeError
        If it is something else.
    """
    if not isinstance(ddf, import_dask().dataframe.DataFrame):
        raise TypeError(
            f"{name} must be a dask DataFrame; what is in memory is for sklearn_rank.evaluate. "
            f"Got {type(ddf).__name__} instead."
        )


def parts_of(ddf: Any, asked: EvaluationRequest, assume_grouped: bool) -> Parts:
    """Tasks that score the partitions, after rows were moved so that each has whole queries, where they must be.

    Raises
    ------
    TypeError
        If `ddf` is no dask DataFrame, or a column is of a type that it cannot be of.
    ValueError
        If a column is missing.
    """
    check_frame(ddf, "ddf")
    check_names(asked.names)
    frame, dtypes = _selected(ddf, asked.names)
    _refuse_types(dtypes, asked.names)
    qid_dtype = _plain(dtypes[asked.names.qid])
    delayed = import_dask().delayed
    shared = delayed(asked, traverse=False, pure=False)
    bounds = None if assume_grouped else _bounds(frame, asked.names.qid)
    if assume_grouped or bounds is not None or frame.npartitions == 1:
        score, partitions = delayed(_score, pure=False), frame.to_delayed(optimize_graph=False)
        of_each = [None] * len(partitions) if bounds is None else bounds
        tasks = [score(p, shared, i, b) for i, (p, b) in enumerate(zip(partitions, of_each, strict=True))]
        return Parts(tasks, assume_grouped and len(tasks) > 1, qid_dtype)
    known = dtypes[asked.names.qid]
    rows = frame.map_partitions(_prepared, asked, known, meta=_no_rows(asked.names, known))
    score = delayed(_score_moved, pure=False)
    return Parts([score(p, shared) for p in rows.shuffle("bucket").to_delayed()], False, qid_dtype)


# --- what the schema tells -----------------------------------------------------------------------------------


def _selected(ddf: Any, names: Columns) -> tuple[Any, dict[str, Any]]:
    """The columns that are needed, in the partitions that dask makes of them, and the dtype of each.

    The query of a row may stay in the index. dask may read several files with few columns as one partition, with
    divisions of its own.
    """
    dtypes = dict(ddf.dtypes)
    columns = list(dict.fromkeys(names.flat()))
    if names.qid not in dtypes and ddf.index.name == names.qid:
        dtypes[names.qid] = ddf.index.dtype
        columns.remove(names.qid)
    refuse_missing(names, [*ddf.columns, *(dtypes.keys() - set(ddf.columns))], "The dask DataFrame")
    return ddf[columns].optimize(), dtypes


def _refuse_types(dtypes: Any, names: Columns) -> None:
    """Refuse columns that cannot hold numbers; objects and categories may."""
    from pandas.api.types import is_any_real_numeric_dtype, is_bool_dtype

    several = [names.y_true] if isinstance(names.y_true, str) else names.y_true
    roles = [("y_true", name) for name in several] + [
        ("y_score", names.y_score),
        ("sample_weight", names.sample_weight),
    ]
    for role, name in roles:
        dtype = None if name is None else dtypes[name]
        if dtype is None or str(dtype) in ("object", "category"):
            continue
        if not (is_any_real_numeric_dtype(dtype) or is_bool_dtype(dtype)):
            raise TypeError(f"{role} must hold real numbers. Got the column {name!r} of dtype {dtype} instead.")


def _bounds(ddf: Any, qid: str) -> list[tuple[Any, Any, bool]] | None:
    """What each partition may hold of the index, from, up to, and whether the latter too; None if that is not known.

    Of Parquet dask reads divisions though an id may be in two partitions, so that each has to be looked at.
    """
    if qid in ddf.columns or not ddf.known_divisions or str(ddf.index.dtype) == "category":
        return None
    divisions = ddf.divisions
    last = len(divisions) - 2
    return [(divisions[i], divisions[i + 1], i == last) for i in range(last + 1)]


def _plain(dtype: Any) -> Any:
    """What categories are of, where dask knows that."""
    from dask.dataframe.utils import has_known_categories
    from pandas import Series

    is_known = str(dtype) == "category" and has_known_categories(Series([], dtype=dtype))
    return dtype.categories.dtype if is_known else dtype


# --- on the workers ------------------------------------------------------------------------------------------


def _score(
    frame: Any, asked: EvaluationRequest, number: int, bounds: tuple[Any, Any, bool] | None
) -> PartitionResult | None:
    """Values of a partition as it is."""
    try:
        queries = check_part(read_columns(_flat(frame, asked.names), asked.names))
        if queries is None:
            return None
        if bounds is not None:
            _refuse_outside(queries.qid, *bounds)
        return _part(queries, asked, _numbers(number, len(frame)))
    except (TypeError, ValueError) as error:
        raise _named(error, number) from error


def _prepared(frame: Any, asked: EvaluationRequest, known: Any, partition_info: Any = None) -> Any:
    """Rows of a partition, checked, that know where they were and, by `bucket`, where all of their query goes."""
    number, frame = partition_info["number"], _flat(frame, asked.names)
    qid = frame[asked.names.qid]
    try:
        queries = check_part(read_columns(frame, asked.names))
        if queries is None:
            return _no_rows(asked.names, qid.dtype)
        for spec in asked.specs.values():
            spec.bind(queries)  # refuses labels, while it is known where they were
        _refuse_other_ids(queries.qid, known)
        bucket = _of_rows(queries, _buckets(queries.qid))
    except (TypeError, ValueError) as error:
        raise _named(error, number) from error
    weight = None if queries.weight is None else _of_rows(queries, queries.weight)
    return _rows(asked.names, queries.label, queries.score, qid.array, weight, bucket, _numbers(number, len(frame)))


def _score_moved(rows: Any, asked: EvaluationRequest) -> PartitionResult | None:
    """Values of rows that were brought together, once they are in the order of the frame again."""
    row = rows["row"].to_numpy()
    if not (row[1:] > row[:-1]).all():
        order = np.argsort(row)
        rows, row = rows.take(order), row[order]
    queries = check_part(read_columns(rows, _names_of_rows(asked.names)))
    return None if queries is None else _part(queries, asked, row)


def _flat(frame: Any, names: Columns) -> Any:
    """The frame with the query of each row in a column."""
    return frame if names.qid in frame.columns else frame.reset_index()


def _part(queries: Queries, asked: EvaluationRequest, row: Index) -> PartitionResult:
    begins = queries.indptr[:-1] if queries.order is None else queries.order[queries.indptr[:-1]]
    return PartitionResult(evaluate_part(queries, asked.specs), row[begins])


def _numbers(number: int, n_rows: int) -> Index:
    return np.arange(n_rows) + number * ROWS_IN_PARTITION


def _of_rows(queries: Queries, values: NDArray[T]) -> NDArray[T]:
    """What queries have, for each of their rows."""
    out = np.repeat(values, queries.n_documents)
    if queries.order is not None:
        out[queries.order] = out.copy()
    return out


def _named(error: Exception, number: int) -> Exception:
    """The same error, which says where."""
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(f"{error} This is partition {number} of the dask DataFrame.")


def _refuse_outside(ids: NDArray[Any], low: Any, high: Any, closed: bool) -> None:
    """Refuse queries that the divisions give to another partition, which may have more of their rows."""
    from pandas import Index

    index = Index(ids, tupleize_cols=False)
    outside = ~((index >= low) & ((index <= high) if closed else (index < high)))
    if outside.any():
        query = ids[outside][:1].tolist()[0]
        raise ValueError(
            "Queries must be in the partitions that the divisions of the index say, so that none is in two; of "
            "ddf.clear_divisions() rows are moved instead. "
            f"Got query {query!r}, where {low!r} up to {high!r}, {'included' if closed else 'not included'}, belong."
        )


def _refuse_other_ids(ids: NDArray[Any], known: Any) -> None:
    """Refuse numbers where dask knows of text, or the other way round: the same query would be two."""
    from pandas.api.types import is_numeric_dtype

    if str(known) not in ("object", "category") and is_numeric_dtype(known) != (ids.dtype.kind in "biuf"):
        raise TypeError(
            "qid must hold ids of one type in all partitions, so that those of one query are equal. "
            f"Got {ids.dtype} where the dtype of the dask DataFrame is {known}."
        )


def _buckets(ids: NDArray[Any]) -> NDArray[np.uint32]:
    """A number for each id, the same wherever it is, and for equal ids of other types."""
    from pandas.util import hash_array

    if ids.dtype.kind in "biuf":
        keys: NDArray[Any] = ids.astype(np.float64) + 0.0  # -0.0 is 0.0
    elif ids.dtype.kind in "mM":
        keys = ids.astype(f"{ids.dtype.kind}8[s]").astype(np.int64)
    else:
        keys = ids.astype(object)
        other = next((q for q in keys.tolist() if not isinstance(q, str)), None)
        if other is not None:
            raise TypeError(
                "For rows to be moved to those of the same query, ids must be numbers, all str, or dates without "
                f"a time zone; assume_grouped=True moves none. Got {other!r}."
            )
    return (hash_array(keys, categorize=False) >> np.uint64(32)).astype(np.uint32)


# --- rows on their way ---------------------------------------------------------------------------------------


def _names_of_rows(names: Columns) -> Columns:
    """Names that columns have meanwhile, each its own even if one was asked for twice."""
    y_true = "label" if isinstance(names.y_true, str) else [f"label {i}" for i in range(len(names.y_true))]
    return Columns(y_true, "score", "qid", None if names.sample_weight is None else "weight")


def _rows(names: Columns, label: Any, score: Any, qid: Any, weight: Any, bucket: Any, row: Any) -> Any:
    """A frame of rows: numbers as floats, ids as they came."""
    from pandas import DataFrame

    columns = [*np.atleast_2d(label.T), score, qid, *([] if weight is None else [weight])]
    named = dict(zip(_names_of_rows(names).flat(), columns, strict=True))
    return DataFrame(named | {"bucket": bucket, "row": row})


def _no_rows(names: Columns, qid_dtype: Any) -> Any:
    """The same of none."""
    from pandas import Series

    none = np.empty(0)
    label = none if isinstance(names.y_true, str) else np.empty((0, len(names.y_true)))
    weight = None if names.sample_weight is None else none
    qid = Series([], dtype=qid_dtype).array
    return _rows(names, label, none, qid, weight, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int64))
