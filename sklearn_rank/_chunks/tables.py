"""Tables of any library, in memory: of a plan or a stream only the columns that are asked for.

Frames of pandas and polars, tables of Arrow, mappings and structured arrays are read as they are. Plans and frames of
other libraries go by way of narwhals, and what else speaks Arrow's PyCapsule interface by way of pyarrow.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any

from sklearn_rank._chunks.named_columns import ColumnNames, refuse_missing_columns
from sklearn_rank._utils.hints import has, hint_for_table
from sklearn_rank._utils.optional import import_optional

TABLES = (
    "a frame of pandas or polars, a record batch or table of Arrow, a relation of DuckDB (con.sql), a dict of arrays, "
    "or another table that narwhals or Arrow's PyCapsule interface reads"
)
CAPSULES = ("__arrow_c_stream__", "__arrow_c_array__")
MARKS = ("collect_schema", "columns", "__narwhals_lazyframe__", "__narwhals_dataframe__", *CAPSULES)
"""Attributes of tables, one of which each has."""


def column_names(table: Any) -> list[Any] | None:
    """Names of the columns of a table in memory and of the levels of its index; None for anything else."""
    if isinstance(table, Mapping):
        return [*table]
    if has(table, "column_names"):  # of Arrow
        return [*table.column_names]
    if has(table, "get_columns"):  # of polars
        return [*table.columns]
    if has(table, "iloc") and has(table, "columns") and not has(table, "to_pandas"):  # of pandas
        levels = getattr(table.index, "names", ())
        return [*table.columns, *(name for name in levels if name is not None and name not in table.columns)]
    fields = getattr(getattr(table, "dtype", None), "names", None)  # of a structured array
    return None if fields is None else [*fields]


def table_with(data: Any, names: ColumnNames, where: str, kinds: str = TABLES) -> Any:
    """Table in memory that has the named columns; a plan or a stream is collected without its others.

    Raises
    ------
    TypeError
        If it is no table; `where` and `kinds` say what it must be.
    ValueError
        If it lacks a column.
    ImportError
        If a library is needed to read it that is not installed.
    """
    door, present = hint_for_table(data), column_names(data)
    if door or (present is None and not any(has(data, mark) for mark in MARKS)):
        raise TypeError(f"{where} must be {kinds}. {door}{' ' * bool(door)}Got {type(data).__name__}.")
    if present is None:
        return _collected(data, names, where)
    refuse_missing_columns(names, present, where)
    return data


def _collected(data: Any, names: ColumnNames, where: str) -> Any:
    """Table of the named columns of what is not a table in memory yet."""
    frame = _selected(data, names, where)
    if frame is not None:
        frame = frame.collect() if has(frame, "collect") else frame.to_arrow()
        return frame.to_native() if has(frame, "to_native") else frame
    stream, wanted = _open_stream(data), [*dict.fromkeys(names.flat())]
    refuse_missing_columns(names, stream.schema.names, where)
    fields = _import_arrow().schema([stream.schema.field(name) for name in wanted])
    return _import_arrow().Table.from_batches((batch.select(wanted) for batch in stream), fields)


def stream_of(data: Any, names: ColumnNames) -> Any:
    """Record batches of Arrow with the named columns of what speaks its PyCapsule interface.

    Raises
    ------
    TypeError
        If it has no columns.
    ValueError
        If it lacks one of them.
    """
    frame = _selected(data, names, "data")
    return _open_stream(data if frame is None else frame.to_native())


def _selected(data: Any, names: ColumnNames, where: str) -> Any:
    """Frame or plan of the named columns; None for what only Arrow's interface reads."""
    frame = _frame(data)
    if frame is None:
        return None
    given = getattr(data if frame is not data else None, "columns", None)  # narwhals gives a name once
    refuse_missing_columns(names, frame.collect_schema().names() if given is None else given, where)
    return frame.select([*dict.fromkeys(names.flat())])


def _frame(data: Any) -> Any:
    """Frame or plan as narwhals has it, or of polars; None for what only Arrow's interface reads."""
    if has(data, "collect_schema"):
        return data
    if any(has(data, capsule) for capsule in CAPSULES) and find_spec("narwhals") is None:
        return None
    narwhals = import_optional("narwhals", extra="frames", purpose=f"A table of type {type(data).__name__}")
    frame = narwhals.from_native(data, pass_through=True)
    return None if frame is data else frame


def _open_stream(data: Any) -> Any:
    """Record batches of Arrow of what speaks its PyCapsule interface."""
    if not any(has(data, capsule) for capsule in CAPSULES):
        raise TypeError(f"data must be {TABLES}. Got {type(data).__name__}.")
    arrow = _import_arrow()
    try:
        if has(data, "__arrow_c_array__"):
            batch = arrow.record_batch(data)
            return arrow.RecordBatchReader.from_batches(batch.schema, [batch])
        return arrow.RecordBatchReader.from_stream(data)
    except arrow.ArrowException as error:
        raise TypeError(f"Data in the format of Arrow must have columns. Got {type(data).__name__}: {error}") from None


def _import_arrow() -> Any:
    return import_optional("pyarrow", extra="arrow", purpose="Data in the format of Arrow")
