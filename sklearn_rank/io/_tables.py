"""Tables by column names: frames of pandas and polars, tables of Arrow, files of CSV, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from csv import reader
from gzip import GzipFile
from typing import Any

import numpy as np

from sklearn_rank._engine.check import read
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.io._columns import check_names, column_entries, entries_in, ids_in, in_row, numbers_in
from sklearn_rank.io._entries import DUPLICATES, Entries, repeated_rows
from sklearn_rank.io._join import RankingData
from sklearn_rank.io._source import BYTE_ORDER_MARK, MEMORY_LIMIT, Memory, open_to_read, read_bytes, source_name

PER_BYTE_OF_CSV, PER_ROW, PER_TEXT = 6, 64, 64
"""Bytes of memory for each byte of CSV, and for each row and each id that is text once columns are arrays.

The shortest field, "1,", takes 8 bytes for its number, and Arrow reads a copy of the text.
"""

PIECE_OF_ROWS = 2**16
"""Rows of Parquet and Arrow that are read at a time."""


def read_table(
    table: Any, *, y_true: str = "label", y_score: str = "score", qid: str = "qid", doc_id: str | None = None,
    duplicates: str = "raise", separator: str | None = None, memory_limit: int | None = None,
) -> RankingData:  # fmt: skip
    """Read labels, scores and queries from the columns of a table.

    Parameters
    ----------
    table : frame of pandas or polars, table of Arrow, mapping of arrays, path or binary file
        Files are of CSV (with a header), Parquet or Arrow, known by their first bytes, and need the extra "arrow". In
        CSV ids are strings, unchanged.
    y_true : str, default="label"
        Column of relevance; a missing value is a document that was not judged.
    y_score : str, default="score"
        Column of scores; -inf is a document that was not retrieved.
    qid : str, default="qid"
        Column, or level of the index, of queries.
    doc_id : str, default=None
        Column of documents, if they matter.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        A document of `doc_id` that is in a query twice: refuse it; take its row of the highest score; or keep its other
        rows, too, for unjudged documents.
    separator : str, default=None
        Character between the fields of a CSV file. None: a comma, tab or semicolon, with which its header has the named
        columns.
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
    DUPLICATES.check("duplicates", duplicates, "read_table")
    table = opened(table, [qid] if doc_id is None else [qid, doc_id], [y_true, y_score], separator, memory_limit)
    check_names(table, y_true, y_score, qid, doc_id)
    columns = numbers_in(table, y_true), numbers_in(table, y_score), ids_in(table, qid)
    queries = read(columns[0], columns[1], qid=columns[2])
    label, score, ids, nothing = queries.label, queries.score, columns[2], np.empty(0, dtype=object)
    if doc_id is None and duplicates != "raise":
        raise ValueError(f"duplicates={echo(duplicates)} is about documents, so it needs doc_id=. Got none.")
    if doc_id is None:
        return RankingData(label, score, ids, nothing, nothing, "zero", "drop", ())
    entries = column_entries(score, ids, ids_in(table, doc_id))
    documents, again = entries.doc_id, repeated_rows(entries, in_row, duplicates)
    if again is not None and duplicates == "first":
        label, score, ids, documents = (column[~again] for column in (label, score, ids, documents))
    elif again is not None:
        label = np.where(again, np.nan, label)
    return RankingData(label, score, ids, nothing, nothing, "zero", "drop", (documents,))


def read_entries(
    table: Any, *, value: str | None = None, qid: str = "qid", doc_id: str = "doc_id", duplicates: str = "raise",
    separator: str | None = None, memory_limit: int | None = None,
) -> Entries:  # fmt: skip
    """Read a run or judgements from the columns of a table, to `join` them.

    Parameters
    ----------
    table : frame of pandas or polars, table of Arrow, mapping of arrays, path or binary file
        As in `read_table`.
    value : str, default=None
        Column of the scores, or of relevance. None: each row is a relevant document, or an item that a user took, and
        has 1.
    qid : str, default="qid"
        Column, or level of the index, of queries.
    doc_id : str, default="doc_id"
        Column of documents.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        A document that is in a query twice: refuse it; keep its row of the highest value; or, in a run, keep its other
        rows, too, for unjudged documents.
    separator : str, default=None
        As in `read_table`.
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
    DUPLICATES.check("duplicates", duplicates, "read_entries")
    table = opened(table, [qid, doc_id], [] if value is None else [value], separator, memory_limit)
    return entries_in(table, value, qid, doc_id, duplicates)


# --- files ---------------------------------------------------------------------------------------------------


SEPARATOR = Constraint(
    "a character or None", lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v.isascii()), ""
)
SEPARATORS = ",\t;"
HEADER_SIZE = 2**16
"""Bytes that are searched for a header."""


def opened(
    table: Any, ids: list[str], others: Sequence[str] = (), separator: str | None = None,
    memory_limit: int | None = None,
) -> Any:  # fmt: skip
    """The table: a file is read, and a lazy frame of polars is collected.

    Columns of `ids` and `others` tell the separator of CSV.
    """
    SEPARATOR.check("separator", separator, "a file of CSV")
    MEMORY_LIMIT.check("memory_limit", memory_limit, "a reader")
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "read"):
        _import_arrow()
        with open_to_read(table, memory_limit) as (file, memory):
            return table_in(file, memory, table, ids, [*ids, *others], separator)
    if separator is not None:
        raise TypeError(f"separator= is for a file of CSV. Got {type(table).__name__}, whose columns are apart.")
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        return table.collect()
    if not hasattr(table, "columns") and not hasattr(table, "keys"):
        raise TypeError(f"A table is a frame, a mapping of arrays, or a file. Got {type(table).__name__} instead.")
    return table


def _import_arrow() -> None:
    import_optional("pyarrow", extra="arrow", purpose="Reading tables from files")


def table_in(
    file: Any, memory: Memory, source: Any, ids: list[str], names: Iterable[str] = (), separator: str | None = None,
    header: Sequence[str] | None = None,
) -> Any:  # fmt: skip
    """The table in a source, which is open.

    Columns of `names` tell the separator of CSV, and `header` has the names of columns if the file has none.
    """
    _import_arrow()
    from pyarrow import ArrowException, csv, ipc, parquet, string

    file, name = _file_of_arrow(source, file, memory), source_name(source)
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
        first = first_line(file.read(HEADER_SIZE))
        file.seek(0)
        parse = csv.ParseOptions(delimiter=separator or separator_in(first, names))
        read_options = csv.ReadOptions(column_names=None if header is None else [*header])
        table = csv.read_csv(file, read_options=read_options, parse_options=parse, convert_options=options)
        memory.take(_per_row(table.schema, ids) * len(table))
        return _without_empty(table, ids)
    except (ArrowException, OSError) as error:
        # An error with a number is about the disk, and not about what is in the file.
        if getattr(error, "errno", None) is not None:
            raise
        raise ValueError(
            f"A table is a file of CSV, with commas, tabs or semicolons between fields, Parquet or Arrow. "
            f"Got {name}: {error}"
        ) from None


def first_line(data: bytes) -> str:
    """First line of the beginning of a file, without its end."""
    return data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace").partition("\n")[0].rstrip("\r")


def fields_of(line: str, separator: str) -> list[str]:
    """Fields of a line of CSV, which may have quotes."""
    return next(reader([line], delimiter=separator), [])


def separator_in(header: str, names: Iterable[str]) -> str:
    """Separator with which a header has the named columns, or else most columns."""
    columns = {separator: fields_of(header, separator) for separator in SEPARATORS}
    named = {name for name in names if isinstance(name, str)}
    with_names = [separator for separator in SEPARATORS if named and named <= {*columns[separator]}]
    return (with_names or sorted(SEPARATORS, key=lambda separator: -len(columns[separator])))[0]


def _per_row(schema: Any, ids: list[str]) -> int:
    """Bytes of memory for a row once its columns are arrays; without `ids` each text may be one."""
    from pyarrow import types

    ids = ids or [field.name for field in schema if not types.is_floating(field.type)]
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


def _file_of_arrow(source: Any, file: Any, memory: Memory) -> Any:
    """The file as Arrow reads it: what is read is no view of it, and it is not memory of Python.

    A thread of Arrow may let go of a file late. To give memory back to Python it needs Python's lock, and where Python
    has ended by then, the process aborts: on a busy machine one call of the command line in eleven did.
    """
    from pyarrow import BufferReader, OSFile, allocate_buffer

    if isinstance(source, (str, os.PathLike)) and not isinstance(file, GzipFile) and os.path.isfile(source):
        return OSFile(os.fsencode(source))
    data = read_bytes(file, memory, PER_BYTE_OF_CSV)
    file.close()
    buffer = allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return BufferReader(buffer)


def _without_empty(table: Any, ids: list[str]) -> Any:
    """Replace empty ids by null."""
    from pyarrow import compute, scalar, string

    for name in (name for name in {*ids} if table.column_names.count(name) == 1):
        column = table[name]
        given = compute.if_else(compute.equal(column, ""), scalar(None, string()), column)
        table = table.set_column(table.column_names.index(name), name, given)
    return table
