"""The columns of a ranking: of one table, of a tuple of arrays, of many batches, of data sets on disk.

Knows the containers and nothing of their contents.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.data_sets import DataSetBatches, open_data_set
from sklearn_rank._chunks.named_columns import ColumnNames
from sklearn_rank._chunks.tables import MARKS, TABLES, column_names, stream_of, table_with
from sklearn_rank._utils.hints import has, hint_for_table

BATCHES = f"a tuple (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight) of arrays, {TABLES}"


class Columns(NamedTuple):
    """Columns of a ranking; labels of subtopics have two dimensions, attributes have names."""

    y_true: Any
    y_score: Any
    qid: Any
    sample_weight: Any = None
    by: Any = None
    clusters: Any = None
    tie_break: Any = None


# --- one table -----------------------------------------------------------------------------------------------


def read_columns(batch: Any, names: ColumnNames) -> Columns:
    """Read the columns of one batch.

    Raises
    ------
    TypeError
        If it is not a batch.
    ValueError
        If it lacks a column.
    """
    if isinstance(batch, (tuple, list)):
        return _read_tuple(batch, names)
    return columns_of(table_with(batch, names, "A batch", BATCHES), names)


def columns_of(table: Any, names: ColumnNames) -> Columns:
    """Columns of a table that has them."""
    columns = {name: read_column(table, name) for name in dict.fromkeys(names.flat())}
    found = {role: columns[name] for role, name in names.by_role()}
    if not isinstance(names.y_true, str):
        found["y_true"] = np.column_stack([columns[name] for name in names.y_true])
    if names.by is not None:
        found["by"] = {name: columns[name] for name in ([names.by] if isinstance(names.by, str) else names.by)}
    return Columns(**found)


def _read_tuple(batch: Sequence[Any], names: ColumnNames) -> Columns:
    n_columns = 3 if names.sample_weight is None else 4
    if len(batch) not in (3, 4) or len(batch) < n_columns:
        hint = "; with sample_weight= it needs the fourth" if n_columns == 4 else ""
        raise ValueError(
            "A batch that is a tuple must be (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight)"
            f"{hint}. Got {len(batch)} entries."
        )
    return Columns(*batch)


def find_column(table: Any, name: str) -> Any:
    """Column of a table, or level of its index, as it is."""
    if has(table, "index") and not isinstance(table, Mapping) and name not in table.columns:
        return table.index.get_level_values(name)
    return table[name]


def read_column(table: Any, name: str) -> Any:
    """Column of a table; that of Arrow as an array, text as objects, one for each distinct string."""
    column = find_column(table, name)
    if not hasattr(column, "dictionary_encode"):  # not of Arrow
        return column
    if len(column) > column.null_count == 0 and str(column.type) in ("string", "large_string", "string_view"):
        return np.concatenate([_decode_text(chunk) for chunk in getattr(column, "chunks", [column])])
    return np.asarray(column)


def _decode_text(column: Any) -> NDArray[Any]:
    encoded = column.dictionary_encode()
    return np.asarray(encoded.dictionary).astype(object)[np.asarray(encoded.indices)]


# --- many batches --------------------------------------------------------------------------------------------


def iterate_batches(data: Any, names: ColumnNames) -> Iterable[Any]:
    """Iterate over the batches of an iterable, of one table, or of a data set on disk.

    Raises
    ------
    TypeError
        If the data are nothing to iterate over.
    ValueError
        If a file is not of Parquet, or a data set lacks a column.
    """
    if isinstance(data, (str, os.PathLike)):
        data = open_data_set(os.fspath(data))
    if has(data, "get_fragments"):
        return DataSetBatches(data, names)
    if isinstance(data, (Iterator, list, tuple)):
        return iter(data)
    door, is_table = hint_for_table(data), any(has(data, mark) for mark in MARKS)
    if door or not (is_table or isinstance(data, Iterable)):
        raise TypeError(
            "data must be an iterable of batches, the path of a Parquet file or folder, or a pyarrow data set. "
            f"{door}{' ' * bool(door)}Got {type(data).__name__} instead."
        )
    if column_names(data) is None and has(data, "__arrow_c_stream__"):
        return iter(stream_of(data, names))
    return iter([data] if is_table or column_names(data) is not None else data)  # a table is one batch
