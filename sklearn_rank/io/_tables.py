"""Tables by column names: frames of pandas and polars, tables of Arrow, files of CSV, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from gzip import GzipFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._chunks.columns import column_names, find_column
from sklearn_rank._engine.check import read
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.io._entries import Entries, QueryIds, checked
from sklearn_rank.io._join import RankingData
from sklearn_rank.io._source import Memory, open_to_read, read_bytes, source_name

PER_BYTE, PER_ROW, PER_TEXT = 6, 64, 64
"""Bytes of memory for each byte of CSV, and for each row and each id that is text once columns are arrays.

The shortest field, "1,", takes 8 bytes for its number, and Arrow reads a copy of the text.
"""

PIECE_OF_ROWS = 2**16
"""Rows of Parquet and Arrow that are read at a time."""


def read_table(
    table: Any, *, y_true: str = "label", y_score: str = "score", qid: str = "qid", doc_id: str | None = None,
    memory_limit: int | None = None,
) -> RankingData:  # fmt: skip
    """Read labels, scores and queries from the columns of a table.

    Parameters
    ----------
    table : frame of pandas or polars, table of Arrow, mapping of arrays, path or binary file
        Files are of CSV (with a header), Parquet or Arrow, known by their first bytes, and need the extra "arrow". In
        CSV ids are strings, as they stand there.
    y_true : str, default="label"
        Column of relevance; a missing value is a document that was not judged.
    y_score : str, default="score"
        Column of scores; -inf is a document that was not retrieved.
    qid : str, default="qid"
        Column, or level of the index, of queries.
    doc_id : str, default=None
        Column of documents, if they matter.
    memory_limit : int, default=None
        Bytes of memory that a file may take at most, by an estimate. None: 64 MiB plus 50 times the bytes of the
        file. A small packed file may hold gigabytes.

    Returns
    -------
    RankingData
        The rows of the table, in their order.

    Raises
    ------
    ValueError
        If there is no such column, it has a missing value where none may be, a document is in a query twice, or there
        is no row.
    TypeError
        If labels or scores are not numbers.
    ImportError
        If a file is given and pyarrow is not installed.

    Examples
    --------
    >>> from sklearn_rank.io import read_table
    >>> data = read_table(
    ...     {"query": ["a", "a"], "label": [0, 1], "model": [0.2, 0.1]},
    ...     y_score="model",
    ...     qid="query",
    ... )
    >>> data.y_true, data.y_score, data.qid
    (array([0., 1.]), array([0.2, 0.1]), array(['a', 'a'], dtype='<U1'))
    """
    table = opened(table, [qid] if doc_id is None else [qid, doc_id], memory_limit)
    _check_labels(table, y_true, y_score, qid, doc_id)
    columns = _numbers(table, y_true), _numbers(table, y_score), _ids(table, qid)
    queries = read(columns[0], columns[1], qid=columns[2])
    documents = () if doc_id is None else (_entries(queries.score, columns[2], _ids(table, doc_id)).doc_id,)
    nothing = np.empty(0, dtype=object)
    return RankingData(queries.label, queries.score, columns[2], nothing, nothing, "zero", "drop", documents)


def read_entries(
    table: Any, *, value: str, qid: str = "qid", doc_id: str = "doc_id", memory_limit: int | None = None
) -> Entries:
    """Read a run or judgements from the columns of a table, to `join` them.

    Parameters
    ----------
    table : frame of pandas or polars, table of Arrow, mapping of arrays, path or binary file
        As in `read_table`.
    value : str
        Column of the scores, or of relevance.
    qid : str, default="qid"
        Column, or level of the index, of queries.
    doc_id : str, default="doc_id"
        Column of documents.
    memory_limit : int, default=None
        As in `read_table`.

    Returns
    -------
    Entries

    Raises
    ------
    ValueError
        If there is no such column, it has a missing value, a value is not finite, or a document is in a query twice.
    TypeError
        If values are not numbers.
    ImportError
        If a file is given and pyarrow is not installed.

    Examples
    --------
    >>> from sklearn_rank.io import read_entries
    >>> read_entries(
    ...     {"qid": [1, 1, 2], "doc_id": [7, 8, 7], "score": [0.5, 0.4, 0.1]}, value="score"
    ... )
    Entries of 3 rows and 2 queries
    """
    table = opened(table, [qid, doc_id], memory_limit)
    _check_labels(table, value, qid, doc_id)
    numbers, queries, documents = _numbers(table, value), _ids(table, qid), _ids(table, doc_id)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"Column {echo(value)} must hold finite numbers. Got {numbers[row]} in row {row}.")
    return _entries(numbers, queries, documents)


def _entries(values: NDArray[np.float64], queries: NDArray[Any], documents: NDArray[Any]) -> Entries:
    if not len(values) == len(queries) == len(documents) > 0:
        raise ValueError(
            f"Columns must have one entry per row, and at least one row. "
            f"Got {len(values)}, {len(queries)} and {len(documents)} entries."
        )
    names, (code,) = number_together([queries])
    return checked(Entries(QueryIds(code.astype(np.uint32), names), documents, values), lambda row: f"in row {row}")


# --- columns -------------------------------------------------------------------------------------------------


def _column(table: Any, name: str) -> Any:
    names = column_names(table) or [*table]
    if names.count(name) == 1:
        column = find_column(table, name)
        n_rows_of(column, f"Column {echo(name)}")
        return column
    known = echo_all(names)
    raise ValueError(
        f"A column must be one of the table's: {known}. Got {echo(name)}, {names.count(name)} times there."
    )


def _check_labels(table: Any, *names: str | None) -> None:
    """Refuse names of columns that are none, and a mapping of pandas objects whose rows are not the same, in order."""
    for name in names:
        if isinstance(name, (list, tuple, dict, set, np.ndarray)):
            raise TypeError(f"A column is named by a str. Got {echo(name)} instead.")
    if isinstance(table, Mapping):
        check_rows(**{name: table[name] for name in names if name is not None and name in table})


def _missing(column: Any) -> NDArray[np.bool_]:
    """Whether each entry is missing, by the rules of the column's library; in an array, None and NaN are."""
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.getmaskarray(column)
    # pandas has isna, polars and Arrow have is_null.
    for method in ("isna", "is_null"):
        if hasattr(column, method):
            return np.asarray(getattr(column, method)())
    array = ids_of(column) if isinstance(column, (list, tuple)) else np.asarray(column)
    none = [*map(_is_missing, array.tolist())] if array.dtype == object else np.zeros(len(array))
    return np.array(none, dtype=bool)


def _is_missing(value: Any) -> bool:
    """Whether an entry is missing; what does not compare with itself, such as an array, is refused later."""
    try:
        return value is None or type(value).__name__ == "NAType" or bool(value != value)
    except (ArithmeticError, TypeError, ValueError):
        return False


def _numbers(table: Any, name: str) -> NDArray[np.float64]:
    """Column of numbers, with NaN for missing ones."""
    numbers = as_floats(_column(table, name), f"Column {echo(name)}")
    if numbers.ndim != 1:
        raise TypeError(f"Column {echo(name)} must hold real numbers, one a row. Got shape {numbers.shape} instead.")
    return numbers


def _ids(table: Any, name: str) -> NDArray[Any]:
    """Column of ids; each row must have one."""
    column = _column(table, name)
    array, missing = ids_of(column) if isinstance(column, (list, tuple)) else np.asarray(column), _missing(column)
    if array.dtype.kind in "fcmM":
        missing = missing | (array != array)
    if missing.any():
        raise ValueError(
            f"Every row needs an id, so column {echo(name)} must not have missing values. "
            f"Got {missing.sum()}, the first in row {int(np.argmax(missing))}."
        )
    return array


# --- files ---------------------------------------------------------------------------------------------------


def opened(table: Any, ids: list[str], memory_limit: int | None = None) -> Any:
    """The table: a file is read, and a lazy frame of polars is collected."""
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "read"):
        return _read_file(table, ids, memory_limit)
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        return table.collect()
    if not hasattr(table, "columns") and not hasattr(table, "keys"):
        raise TypeError(f"A table is a frame, a mapping of arrays, or a file. Got {type(table).__name__} instead.")
    return table


def _read_file(source: Any, ids: list[str], memory_limit: int | None) -> Any:
    import_optional("pyarrow", extra="arrow", purpose="Tables in files")
    from pyarrow import ArrowException, csv, ipc, parquet, string

    (file, memory), name = _file_of_arrow(source, memory_limit), source_name(source)
    try:
        data = file.read(6)
        file.seek(0)
        if data[:4] == b"PAR1":
            packed = parquet.ParquetFile(file)
            memory.take(sum(packed.metadata.row_group(i).total_byte_size for i in range(packed.num_row_groups)))
            return _table_of(packed.iter_batches(PIECE_OF_ROWS), packed.schema_arrow, ids, memory)
        if data == b"ARROW1":
            batches = ipc.open_file(file)
            return _table_of(map(batches.get_batch, range(batches.num_record_batches)), batches.schema, ids, memory)
        if data[:4] == b"\xff\xff\xff\xff":
            batches = ipc.open_stream(file)
            return _table_of(batches, batches.schema, ids, memory)
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(ids, string()), null_values=["", "nan", "NaN", "NA", "null"],
            strings_can_be_null=False,
        )  # fmt: skip
        table = csv.read_csv(file, convert_options=options)
        memory.take(_per_row(table.schema, ids) * len(table))
        return _without_empty(table, ids)
    except (ArrowException, OSError) as error:
        # An error with a number is about the disk, and not about what is in the file.
        if getattr(error, "errno", None) is not None:
            raise
        raise ValueError(
            f"A table is a file of CSV, with commas between fields, Parquet or Arrow. Got {name}: {error}"
        ) from None


def _per_row(schema: Any, ids: list[str]) -> int:
    """Bytes of memory for a row once its columns are arrays."""
    from pyarrow import types

    numbers = [types.is_integer(schema.field(name).type) for name in ids if schema.names.count(name) == 1]
    return PER_ROW + PER_TEXT * numbers.count(False)


def _table_of(batches: Iterable[Any], schema: Any, ids: list[str], memory: Memory) -> Any:
    """The table of batches, each read after the memory of those before it was counted."""
    from pyarrow import Table

    kept = []
    for batch in batches:
        memory.take(_per_row(schema, ids) * len(batch) + batch.nbytes)
        kept.append(batch)
    return Table.from_batches(kept, schema)


def _file_of_arrow(source: Any, memory_limit: int | None) -> tuple[Any, Memory]:
    """The file as Arrow reads it, with its memory: nothing that is read stays a view of it or is memory of Python.

    A thread of Arrow may let go of a file late. To give memory back to Python it needs Python's lock, and where Python
    has ended by then, the process aborts: on a busy machine one call of the command line in eleven did.
    """
    from pyarrow import BufferReader, OSFile, allocate_buffer

    with open_to_read(source, memory_limit) as (file, memory):
        if isinstance(source, (str, os.PathLike)) and not isinstance(file, GzipFile) and os.path.isfile(source):
            return OSFile(os.fsencode(source)), memory
        data = read_bytes(file, memory, PER_BYTE)
    buffer = allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return BufferReader(buffer), memory


def _without_empty(table: Any, ids: list[str]) -> Any:
    """Replace empty ids by null."""
    from pyarrow import compute, scalar, string

    for name in (name for name in {*ids} if table.column_names.count(name) == 1):
        column = table[name]
        given = compute.if_else(compute.equal(column, ""), scalar(None, string()), column)
        table = table.set_column(table.column_names.index(name), name, given)
    return table
