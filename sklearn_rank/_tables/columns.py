"""The columns of a ranking: of one table, or of a tuple of arrays; and which data come in pieces.

Knows the containers, not their contents. Frames of pandas and polars, tables of Arrow, mappings and
structured arrays are read as they are. Plans and frames of other libraries go by way of narwhals, and what else speaks
Arrow's PyCapsule interface by way of pyarrow; of a plan or a stream only the named columns are read.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.ids import ids_of
from sklearn_rank._metric.conventions import BY_DOCUMENT_ID, ID_ORDER
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.column_arguments import ColumnNames, refuse_missing_columns
from sklearn_rank._tables.roles import candidates
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import has, hint_for_table
from sklearn_rank._utils.optional import import_optional

TABLE_KINDS = (
    "a frame of pandas or polars, a record batch or table of Arrow, a relation of DuckDB (con.sql), a dict of arrays, "
    "or another table that narwhals or Arrow's PyCapsule interface reads"
)
DATA_KINDS = (
    f"{TABLE_KINDS}; or, in pieces, files of CSV, JSON lines, Parquet or Arrow (a path, folder, pattern or list of "
    "paths), a pyarrow data set, or an iterable of tables"
)
BATCH_KINDS = f"a tuple (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight) of arrays, {TABLE_KINDS}"
CAPSULES = ("__arrow_c_stream__", "__arrow_c_array__")
TABLE_ATTRIBUTES = ("collect_schema", "columns", "__narwhals_lazyframe__", "__narwhals_dataframe__", *CAPSULES)
"""Attributes of tables; each table has one of them."""


class Columns(NamedTuple):
    """Columns of a ranking; labels of subtopics have two dimensions, attributes have names."""

    y_true: Any
    y_score: Any
    qid: Any
    sample_weight: Any = None
    by: Any = None
    clusters: Any = None
    tie_break: Any = None


def is_in_pieces(data: Any) -> bool:
    """Whether these are data on disk, or an iterable of tables or of tuples of arrays."""
    if isinstance(data, (str, os.PathLike)) or has(data, "get_fragments"):
        return True
    if _is_table(data) or column_names(data) is not None or not isinstance(data, Iterable):
        return False
    return isinstance(data, (Iterator, list, tuple)) or not hint_for_table(data)


def is_stream(data: Any) -> bool:
    """Whether a table can be read piece by piece, too: a relation of DuckDB, a reader of Arrow."""
    is_lazy = has(data, "__arrow_c_stream__") and column_names(data) is None and not has(data, "to_native")
    return is_lazy and not hint_for_table(data)


def read_columns(batch: Any, names: ColumnNames) -> Columns:
    if not isinstance(batch, (tuple, list)):
        return table_columns(table_with(batch, names, "A batch", BATCH_KINDS), names)
    if names.by is not None or names.clusters is not None:
        raise TypeError("by= and clusters= name columns, so batches must be tables. Got a tuple of arrays.")
    n_columns = 3 if names.sample_weight is None else 4
    if len(batch) not in (3, 4) or len(batch) < n_columns:
        hint = "; with sample_weight= it needs the fourth" if n_columns == 4 else ""
        raise ValueError(
            "A batch that is a tuple must be (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight)"
            f"{hint}. Got {len(batch)} entries."
        )
    return Columns(*batch)


def table_columns(table: Any, names: ColumnNames) -> Columns:
    columns = exploded({name: read_column(table, name) for name in names.distinct()}, names.of_documents())
    by_role: dict[str, Any] = {role: columns[name] for role, name in names.by_role()}
    if not isinstance(names.y_true, str):
        by_role["y_true"] = np.column_stack([columns[name] for name in names.y_true])
    by_role["qid"] = query_of(columns, names.qid)
    if names.by is not None:
        by_role["by"] = {name: columns[name] for role, name in names.by_role() if role == "by"}
    return Columns(**by_role)


def query_of(columns: Mapping[Any, Any], qid: str | Sequence[str]) -> Any:
    if isinstance(qid, str):
        return columns[qid]
    ids = np.empty(n_rows_of(columns[qid[0]], "qid"), object)
    ids[:] = [*zip(*(cells_of(columns[name]) for name in qid), strict=True)]
    return ids


def metric_columns(table: Any, names: ColumnNames, asked: Iterable[str]) -> dict[str, Any]:
    """Columns that metrics read, of those that are asked for and that a table in memory has."""
    if not (found := [name for name in asked if name in (column_names(table) or ())]):
        return {}
    columns = exploded({name: read_column(table, name) for name in (*names.of_queries(), *found)}, [])
    return {name: columns[name] for name in found}


def documents_for_ties(
    table: Any, names: ColumnNames, doc_id: str | None, specs: Iterable[MetricSpec]
) -> dict[str, Any]:
    """The document of each row as text, as `tie_break`, and a note, if a convention orders tied rows by documents."""
    found = candidates(column_names(table) or (), "judgments").doc_id if doc_id is None else [doc_id]
    by_id = all(spec["convention"] in BY_DOCUMENT_ID for spec in specs)
    if not by_id or len(found) != 1 or names.tie_break is not None:
        return {}
    columns = exploded({name: read_column(table, name) for name in (*names.of_queries(), *found)}, found)
    return {"tie_break": np.array([*map(str, cells_of(columns[found[0]]))]), "notes": (ID_ORDER,)}


def exploded(columns: dict[Any, Any], of_documents: Iterable[Any]) -> dict[Any, Any]:
    """The columns, with an entry for each entry of their lists, if some have lists in their cells."""
    # Columns `of_documents` have lists all, or none of them; others may have one entry for a list.
    nested = {name: cells_of(column) for name, column in columns.items() if has_lists(column)}
    if not nested:
        return columns
    (first, lists), *others = nested.items()
    for name in of_documents:
        if name in columns and name not in nested:
            raise ValueError(
                f"Column {echo(first)} must have one entry per row, or column {echo(name)} lists, too, which "
                f"are exploded together. Got {echo(lists[0])} in row 0."
            )
    sizes = [len(cell) if isinstance(cell, (list, np.ndarray)) else 0 for cell in lists]
    if 0 in sizes:
        raise ValueError(
            f"Column {echo(first)} has lists, so each row needs one with an entry or more. "
            f"Got {echo(lists[sizes.index(0)])} in row {sizes.index(0)}."
        )
    for name, cells in others:
        for row, (size, cell) in enumerate(zip(sizes, cells, strict=True)):
            if not isinstance(cell, (list, np.ndarray)) or len(cell) != size:
                raise ValueError(
                    f"Columns {echo(first)} and {echo(name)} have lists, which must have one length in each row. "
                    f"Got {echo(lists[row])} and {echo(cell)} in row {row}."
                )
    rows = np.repeat(np.arange(len(sizes)), sizes)
    flat = {
        name: [np.nan if entry is None else entry for cell in cells for entry in cell] for name, cells in nested.items()
    }
    return {
        name: flat[name] if name in flat else (ids_of(column) if isinstance(column, list) else np.asarray(column))[rows]
        for name, column in columns.items()
    }


def has_lists(column: Any) -> bool:
    """Whether a column has a list in each cell, like the result of groupby().agg(list)."""
    kind = str(getattr(column, "dtype", None) or getattr(column, "type", "object"))
    if kind.lower().startswith(("list", "large_list", "fixed_size_list", "array")):
        return True
    has_cells = isinstance(column, Sized) and getattr(column, "ndim", 1) == 1
    return has_cells and kind == "object" and isinstance(next(iter(column), None), (list, np.ndarray))


def cells_of(column: Any) -> list[Any]:
    """The cells of a column; NumPy and pandas have tolist, polars has to_list, Arrow has to_pylist."""
    for method in ("to_pylist", "to_list", "tolist"):
        if hasattr(column, method):
            cells: list[Any] = getattr(column, method)()
            return cells
    return [*column]


def find_column(table: Any, name: str) -> Any:
    if has(table, "index") and not isinstance(table, Mapping) and name not in table.columns:
        return table.index.get_level_values(name)
    return table[name]


def read_column(table: Any, name: str) -> Any:
    """Column of a table; a column of Arrow as an array, text as objects, one for each distinct string."""
    column = find_column(table, name)
    # Only columns of Arrow have dictionaries.
    if not hasattr(column, "dictionary_encode"):
        return column
    if len(column) > column.null_count == 0 and str(column.type) in ("string", "large_string", "string_view"):
        return np.concatenate([_decode_text(chunk) for chunk in getattr(column, "chunks", [column])])
    return np.asarray(column)


def _decode_text(column: Any) -> NDArray[Any]:
    encoded = column.dictionary_encode()
    return np.asarray(encoded.dictionary).astype(object)[np.asarray(encoded.indices)]


def column_names(table: Any) -> list[Any] | None:
    """Names of the columns of a table in memory and of the levels of its index; None for anything else."""
    if isinstance(table, Mapping):
        return [*table]
    # Tables of Arrow, frames of polars, and frames of pandas.
    if has(table, "column_names"):
        return [*table.column_names]
    if has(table, "get_columns"):
        return [*table.columns]
    if has(table, "iloc") and has(table, "columns") and not has(table, "to_pandas"):
        levels = getattr(table.index, "names", ())
        return [*table.columns, *(name for name in levels if name is not None and name not in table.columns)]
    # Structured arrays.
    fields = getattr(getattr(table, "dtype", None), "names", None)
    return None if fields is None else [*fields]


def table_with(data: Any, names: ColumnNames, where: str = "data", kinds: str = TABLE_KINDS) -> Any:
    """Table in memory that has the named columns; a plan or a stream is collected without its others."""
    hint, present = hint_for_table(data), column_names(data)
    if hint or (present is None and not _is_table(data)):
        raise TypeError(f"{where} must be {kinds}. {hint}{' ' * bool(hint)}Got {type(data).__name__}.")
    if present is not None:
        refuse_missing_columns(names, present, where)
        return data
    frame = selected_columns(data, names, where)
    if frame is not None:
        frame = frame.collect() if has(frame, "collect") else frame.to_arrow()
        return frame.to_native() if has(frame, "to_native") else frame
    stream = open_stream(data)
    refuse_missing_columns(names, stream.schema.names, where)
    arrow, wanted = import_arrow(), names.distinct()
    fields = arrow.schema([stream.schema.field(name) for name in wanted])
    return arrow.Table.from_batches((batch.select(wanted) for batch in stream), fields)


def _is_table(data: Any) -> bool:
    return any(has(data, attribute) for attribute in TABLE_ATTRIBUTES)


def selected_columns(data: Any, names: ColumnNames, where: str) -> Any:
    """Frame or plan of the named columns; None for what only Arrow's interface reads."""
    frame = _frame(data)
    if frame is None:
        return None
    # narwhals gives a name that the table has twice only once.
    given = getattr(data if frame is not data else None, "columns", None)
    refuse_missing_columns(names, frame.collect_schema().names() if given is None else given, where)
    return frame.select(names.distinct())


def _frame(data: Any) -> Any:
    """Frame or plan as narwhals has it, or of polars; None for what only Arrow's interface reads."""
    if has(data, "collect_schema"):
        return data
    if any(has(data, capsule) for capsule in CAPSULES) and find_spec("narwhals") is None:
        return None
    narwhals = import_optional("narwhals", extra="frames", purpose=f"A table of type {type(data).__name__}")
    frame = narwhals.from_native(data, pass_through=True)
    return None if frame is data else frame


def open_stream(data: Any) -> Any:
    """Record batches of Arrow of what speaks its PyCapsule interface."""
    if not any(has(data, capsule) for capsule in CAPSULES):
        raise TypeError(f"data must be {TABLE_KINDS}. Got {type(data).__name__}.")
    arrow = import_arrow()
    try:
        if has(data, "__arrow_c_array__"):
            batch = arrow.record_batch(data)
            return arrow.RecordBatchReader.from_batches(batch.schema, [batch])
        return arrow.RecordBatchReader.from_stream(data)
    except arrow.ArrowException as error:
        raise TypeError(f"Data in the format of Arrow must have columns. Got {type(data).__name__}: {error}") from None


def arrow_errors(*more: type[Exception]) -> tuple[type[Exception], ...]:
    """What Arrow and the values of its columns raise if a file is damaged, and more types of errors."""
    return import_arrow().ArrowException, LookupError, ArithmeticError, UnicodeDecodeError, OSError, *more


def is_of_disk(error: Exception) -> bool:
    """Whether a file is missing or the disk fails; Arrow raises OSErrors without a number if a file is damaged."""
    return isinstance(error, OSError) and (type(error) is not OSError or error.errno is not None)


def check_arrow(table: Any) -> None:
    """Check what a file made of a table or batch of Arrow, before anything else reads it."""
    # Offsets may lead beyond an array, text may be no UTF-8, and Python may have no such decimal or time.
    from pyarrow import types

    table.validate(full=True)
    for column in table.columns:
        kind = getattr(column.type, "value_type", column.type)
        if types.is_primitive(kind) or types.is_decimal(kind):
            np.asarray(column)


def import_arrow(module: str = "") -> Any:
    return import_optional(f"pyarrow{module}", extra="arrow", purpose="Data in the format of Arrow")
