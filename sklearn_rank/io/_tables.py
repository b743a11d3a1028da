"""Tables by column names: frames of pandas and polars, tables of Arrow, files of CSV, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from csv import Error, reader
from gzip import GzipFile
from io import StringIO
from typing import Any

import numpy as np

from sklearn_rank._engine.check import read
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional
from sklearn_rank.io._arrow_sizes import is_text, text_size, unpacked_size
from sklearn_rank.io._columns import check_column, check_names, column_entries, entries_in, ids_in, in_row, numbers_in
from sklearn_rank.io._entries import DUPLICATES, Entries, repeated_rows
from sklearn_rank.io._join import RankingData
from sklearn_rank.io._source import BYTE_ORDER_MARK, MEMORY_LIMIT, Memory, open_to_read, read_bytes, source_name

PER_BYTE_OF_BUFFER, PER_BYTE_OF_CSV, PER_ROW, PER_TEXT, PER_BYTE_OF_TEXT = 3, 7, 64, 64, 5
"""Bytes of memory for each byte that is unpacked, the same of CSV, for each row and each id that is text once columns
are arrays, and for each byte of these.

A text may need four bytes for each character, and Arrow has a copy.
"""
PER_COLUMN, PER_BYTE_OF_FOOTER = 2**13, 32
"""Bytes of memory for a column of CSV, whether it is needed or not, and for each byte that describes Parquet."""

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
HEADER_SIZE = 2**20
"""Bytes that are searched for a header."""
MAGIC = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""First bytes of Parquet, and of files and streams of Arrow."""


def opened(
    table: Any, ids: list[str], others: Sequence[str] = (), separator: str | None = None,
    memory_limit: int | None = None,
) -> Any:  # fmt: skip
    """The table: a file is read, and a lazy frame of polars is collected.

    Columns of `ids` and `others` tell the separator of CSV.
    """
    SEPARATOR.check("separator", separator, "a file of CSV")
    MEMORY_LIMIT.check("memory_limit", memory_limit, "a reader")
    names = [*ids, *others]
    check_names(None, *names)
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "read"):
        _import_arrow()
        with open_to_read(table, memory_limit) as (file, memory):
            return table_in(file, memory, table, lambda _: names, ids, separator, names=names)
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
    file: Any, memory: Memory, source: Any, needed: Callable[[list[str]], list[str]], ids: Sequence[str] = (),
    separator: str | None = None, header: Sequence[str] | None = None, names: Iterable[str] = (),
) -> Any:  # fmt: skip
    """The columns of the table in a source, which is open, that are `needed`; without a row if there is no such column.

    Columns of `ids` are text in CSV, columns of `names` tell its separator, and `header` has the names of columns if
    the file has none.
    """
    _import_arrow()
    from pyarrow import ArrowException

    name = source_name(source)
    start = file.read(6)
    file.seek(0)
    is_csv = not start.startswith(MAGIC)
    file = _file_of_arrow(source, file, memory, ids if is_csv else None)
    try:
        if is_csv:
            return _of_csv(file, memory, needed, ids, separator, header, names)
        if start.startswith(b"PAR1"):
            return _of_parquet(file, memory, needed)
        return _of_arrow(file, memory, needed, is_file=start.startswith(b"ARROW1"))
    except (ArrowException, OSError) as error:
        # An error with a number is about the disk, and not about what is in the file.
        if getattr(error, "errno", None) is not None:
            raise
        raise ValueError(
            f"A table is a file of CSV, with commas, tabs or semicolons between fields, Parquet or Arrow. "
            f"Got {name}: {error}"
        ) from None


def _of_csv(
    file: Any, memory: Memory, needed: Callable[[list[str]], list[str]], ids: Sequence[str], separator: str | None,
    header: Sequence[str] | None, names: Iterable[str],
) -> Any:  # fmt: skip
    from pyarrow import csv, string, table

    # Arrow looks for the header in as many bytes.
    start = file.read(HEADER_SIZE).removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace")
    file.seek(0)
    mark = separator or separator_in(first_line_of(start), names)
    columns = next(filter(None, rows_of(start, mark)), [])
    memory.take(PER_COLUMN * len(columns))
    known = columns if header is None else [*header]
    # Arrow says what is wrong with an empty file.
    chosen = _chosen(known, needed) if known else []
    if known and not chosen:
        return table([[]] * len(known), names=known)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys(ids, string()), null_values=["", "nan", "NaN", "NA", "null"],
        strings_can_be_null=False, include_columns=chosen,
    )  # fmt: skip
    read_options = csv.ReadOptions(column_names=None if header is None else known, block_size=HEADER_SIZE)
    parse = csv.ParseOptions(delimiter=mark)
    read = csv.read_csv(file, read_options=read_options, parse_options=parse, convert_options=convert)
    memory.take(_per_row(read.schema, ids) * len(read))
    return _without_empty(read, [*ids])


def _of_parquet(file: Any, memory: Memory, needed: Callable[[list[str]], list[str]]) -> Any:
    from pyarrow import parquet, types

    n_bytes = file.size()
    file.seek(max(0, n_bytes - 8))
    memory.take(PER_BYTE_OF_FOOTER * min(n_bytes, int.from_bytes(file.read(4), "little")))
    file.seek(0)
    opened = parquet.ParquetFile(file)
    schema, metadata = opened.schema_arrow, opened.metadata
    chosen = _chosen(schema.names, needed)
    if not chosen:
        return schema.empty_table()
    _check_types(schema, chosen)
    places = [j for j in range(metadata.num_columns) if metadata.schema.column(j).path in chosen]
    columns = [metadata.row_group(i).column(j) for i in range(metadata.num_row_groups) for j in places]
    memory.take(sum(column.total_uncompressed_size for column in columns))
    of_text = [column for column in columns if is_text(schema.field(column.path_in_schema).type)]
    memory.take(PER_BYTE_OF_TEXT * max((column.total_uncompressed_size for column in of_text), default=0))
    # Bytes of a value that a batch may have in each row: of fixed size, or made of those before it.
    kinds = [schema.field(name).type for name in chosen]
    largest = [kind.byte_width for kind in kinds if types.is_fixed_size_binary(kind)]
    delta = {c.path_in_schema: c.total_uncompressed_size for c in of_text if "DELTA_BYTE_ARRAY" in c.encodings}
    largest += delta.values()
    n_rows = min(PIECE_OF_ROWS, max(1, memory.left // (PER_BYTE_OF_TEXT * max(largest, default=1))))
    # A dictionary may have one long text for all rows. Values of other encodings are no larger than their bytes.
    text = [name for name, kind in zip(chosen, kinds, strict=True) if is_text(kind) and name not in delta]
    file.seek(0)
    opened = parquet.ParquetFile(file, metadata=metadata, read_dictionary=text, pre_buffer=False)
    return _table_of(opened.iter_batches(n_rows, columns=chosen, use_threads=False), schema, chosen, memory)


def _of_arrow(file: Any, memory: Memory, needed: Callable[[list[str]], list[str]], is_file: bool) -> Any:
    from pyarrow import ipc

    # A file of Arrow is a stream after its first eight bytes.
    file.seek(8 * is_file)
    for message in ipc.MessageReader.open_stream(file):
        memory.take(unpacked_size(message))
    file.seek(0)
    opening = ipc.open_file if is_file else ipc.open_stream
    schema = opening(file).schema
    chosen = _chosen(schema.names, needed)
    if not chosen:
        return schema.empty_table()
    _check_types(schema, chosen)
    file.seek(0)
    read = opening(file, options=ipc.IpcReadOptions(included_fields=[*map(schema.get_field_index, chosen)]))
    return _table_of(map(read.get_batch, range(read.num_record_batches)) if is_file else read, schema, chosen, memory)


def _chosen(names: list[str], needed: Callable[[list[str]], list[str]]) -> list[str]:
    """Columns to read; each must be once in the table."""
    chosen = [*dict.fromkeys(needed(names))]
    for name in chosen:
        check_column(names, name)
    return chosen


def _check_types(schema: Any, names: list[str]) -> None:
    """Refuse lists and the like, because a row of them may be of any size."""
    from pyarrow import types

    for name in names:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) or types.is_run_end_encoded(kind) else kind
        if types.is_nested(kind):
            raise TypeError(f"Column {echo(name)} must hold numbers or ids, one a row. Got {kind} instead.")


def first_line(data: bytes) -> str:
    """First line of the beginning of a file, without its end."""
    return first_line_of(data.removeprefix(BYTE_ORDER_MARK).decode("utf-8", "replace"))


def first_line_of(text: str) -> str:
    """First line of a text, without its end."""
    return text.partition("\n")[0].rstrip("\r")


def rows_of(text: str, separator: str) -> Iterator[list[str]]:
    """Fields of the rows of CSV, which may have quotes and lines in them."""
    with suppress(Error):
        yield from reader(StringIO(text, newline=""), delimiter=separator)


def fields_of(line: str, separator: str) -> list[str]:
    """Fields of a line of CSV."""
    return next(rows_of(line, separator), [])


def separator_in(header: str, names: Iterable[str]) -> str:
    """Separator with which a header has the named columns, or else most columns."""
    columns = {separator: fields_of(header, separator) for separator in SEPARATORS}
    named = {name for name in names if isinstance(name, str)}
    with_names = [separator for separator in SEPARATORS if named and named <= {*columns[separator]}]
    return (with_names or sorted(SEPARATORS, key=lambda separator: -len(columns[separator])))[0]


def _per_row(schema: Any, ids: Sequence[str]) -> int:
    """Bytes of memory for a row once its columns are arrays; without `ids` each text may be one."""
    from pyarrow import types

    ids = ids or [field.name for field in schema if not types.is_floating(field.type)]
    numbers = [types.is_integer(schema.field(name).type) for name in ids if schema.names.count(name) == 1]
    return PER_ROW + PER_TEXT * numbers.count(False)


def _table_of(batches: Iterable[Any], schema: Any, names: list[str], memory: Memory) -> Any:
    """The table of batches, each read after the memory of those before it was counted."""
    from pyarrow import Table, concat_tables, types

    kept = []
    for batch in batches:
        memory.take(_per_row(batch.schema, ()) * len(batch))
        columns = [batch.column(name) for name in names]
        for column in columns:
            memory.take(PER_BYTE_OF_TEXT * text_size(column) if is_text(column.type) else column.nbytes)
        # A batch has its own dictionary.
        decoded = [column.dictionary_decode() if types.is_dictionary(column.type) else column for column in columns]
        kept.append(Table.from_arrays(decoded, names))
    return concat_tables(kept) if kept else schema.empty_table()


def _file_of_arrow(source: Any, file: Any, memory: Memory, ids: Sequence[str] | None) -> Any:
    """The file as Arrow reads it: what is read is no view of it, and it is not memory of Python.

    A thread of Arrow may let go of a file late. To give memory back to Python it needs Python's lock, and where Python
    has ended by then, the process aborts: on a busy machine one call of the command line in eleven did. Rows of CSV,
    with `ids`, are counted while they are unpacked.
    """
    from pyarrow import BufferReader, OSFile, allocate_buffer

    if isinstance(source, (str, os.PathLike)) and not isinstance(file, GzipFile) and os.path.isfile(source):
        return OSFile(os.fsencode(source))
    per_line = 0 if ids is None else PER_ROW + PER_TEXT * max(1, len(ids))
    data = read_bytes(file, memory, PER_BYTE_OF_BUFFER if ids is None else PER_BYTE_OF_CSV, per_line)
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
