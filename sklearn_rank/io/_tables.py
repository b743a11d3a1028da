"""Tables by column names: frames of pandas and polars, tables of Arrow, files of CSV, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from gzip import GzipFile
from typing import Any

import numpy as np

from sklearn_rank._data.doors import READ_TABLE
from sklearn_rank._data.look import BatchesSeen, Finding, collected_findings, findings_in, look_at_rows, report
from sklearn_rank._engine.read import read
from sklearn_rank._tables.column_arguments import ColumnNames, about_columns
from sklearn_rank._tables.columns import arrow_errors, check_arrow, column_names, import_arrow, is_of_disk
from sklearn_rank._tables.formats import (
    BYTE_ORDER_MARK,
    HEADER_SIZE,
    MAGIC,
    NULLS,
    files_of,
    first_line,
    have_blanks,
    rows_of,
    separator_in,
    without_blanks,
)
from sklearn_rank._tables.query_ids import QueryIdIndex
from sklearn_rank._tables.roles import Roles, rank_beside
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.echo import echo, one_line
from sklearn_rank._utils.hints import has, hint_for_table, is_table
from sklearn_rank.io._columns import (
    check_named_once,
    check_names,
    column_entries,
    column_of,
    ids_in,
    in_row,
    numbers_in,
    with_rows,
)
from sklearn_rank.io._entries import DUPLICATES, repeated_rows
from sklearn_rank.io._ranking_data import RankingData
from sklearn_rank.io._source import open_to_read, read_bytes, source_name


@named_arguments
def read_table(
    table: Any, *, y_true: str = "label", y_score: str = "score", qid: str | Sequence[str] = "qid",
    doc_id: str | None = None, duplicates: str = "raise", separator: str | None = None,
) -> RankingData:  # fmt: skip
    """Read labels, scores and queries from the columns of a table.

    Parameters
    ----------
    table : frame of pandas or polars, table of Arrow or DuckDB, mapping of arrays, path or binary file
        Files are CSV (with a header), JSON lines, Parquet or Arrow, recognized by their first bytes, and need the extra
        "arrow". A path may also be a list of paths, a folder, or a pattern such as ``rows/2026-*.csv``. In CSV ids are
        strings, unchanged.
    y_true : str, default="label"
        Column of relevance; a missing value means that the document was not judged.
    y_score : str, default="score"
        Column of scores; -inf means that the document was not retrieved.
    qid : str or list of str, default="qid"
        Column, or level of the index, of queries; several columns name a query together.
    doc_id : str, default=None
        Column of documents, if they matter.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        Treatment of a document of `doc_id` that is in a query twice: raise an error; take its row with the highest
        score; or keep its other rows as well, as unjudged documents.
    separator : str, default=None
        Character between the fields of a CSV file. None: the comma, tab or semicolon that gives the header the named
        columns.

    Returns
    -------
    RankingData
        The rows of the table, in their order.

    Raises
    ------
    ValueError
        If the table lacks a column or has no row, a query or a score is missing, or a document is in a query twice.
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
    DUPLICATES("duplicates", duplicates, "read_table")
    id_columns = [name for name in Roles(qid, doc_id).flat() if name is not None]
    table = opened(table, id_columns, [y_true, y_score], separator, qid)
    check_names(table, y_true, y_score, *id_columns)
    rank = rank_beside(column_names(table) or [], [y_true, y_score, *id_columns])
    named = [name for name in (y_true, y_score, *id_columns, rank) if name is not None]
    table = with_rows(table, named, [y_true, y_score, doc_id])
    columns = numbers_in(table, y_true), numbers_in(table, y_score), ids_in(table, qid)
    try:
        queries = read(columns[0], columns[1], qid=columns[2])
    except ValueError as error:
        raise about_columns(error, ColumnNames(y_true, y_score, qid)) from error
    with collected_findings() as seen:
        look_at_rows(READ_TABLE, queries, {}, kinds="names", name=y_score)
    if rank is not None:
        seen += findings_in(ranks=(column_of(table, rank), columns[1], columns[2]))
    report(READ_TABLE, seen)
    label, score, ids, nothing = queries.label, queries.score, columns[2], np.empty(0, dtype=object)
    if doc_id is None and duplicates != "raise":
        raise ValueError(f"duplicates={echo(duplicates)} needs the column of documents, doc_id=. Got doc_id=None.")
    if doc_id is None:
        return RankingData(label, score, ids, nothing, nothing, "zero", "drop", ())
    entries = column_entries(score, ids, ids_in(table, doc_id))
    documents, again = entries.doc_id, repeated_rows(entries, in_row, duplicates)
    if again is not None and duplicates == "first":
        label, score, ids, documents = (column[~again] for column in (label, score, ids, documents))
    elif again is not None:
        label = np.where(again, np.nan, label)
    return RankingData(label, score, ids, nothing, nothing, "zero", "drop", (documents,))


SEPARATOR = Constraint(
    "a character or None", lambda v: v is None or (isinstance(v, str) and len(v) == 1 and v.isascii()), ""
)


def opened(
    table: Any, ids: list[str], others: Sequence[str] = (), separator: str | None = None, qid: Any = None
) -> Any:  # fmt: skip
    """The table: files are read, and a lazy frame of polars is collected."""
    # Columns of `ids` and `others` tell the separator of CSV. With `qid`, files are looked at, and labels come first.
    SEPARATOR("separator", separator, "a file of CSV")
    names = [*ids, *others]
    check_names(None, *names)
    if files := files_of(table):
        tables = [opened(file, ids, others, separator) for file in files]
        if qid is not None:
            report(READ_TABLE, _on_batches(tables, qid, others[0]))
        return import_arrow().concat_tables(tables, promote_options="permissive")
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "read"):
        import_arrow()
        with open_to_read(table) as file:
            return table_in(file, table, lambda known: [*names, *_ranks(known, names)], ids, separator, names=names)
    if separator is not None:
        raise TypeError(f"separator= applies only to CSV files. Got {type(table).__name__}.")
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        return table.collect()
    hint = "" if isinstance(table, Mapping) else hint_for_table(table)
    if not hint and column_names(table) is not None:
        return table
    if not hint and is_table(table) and has(table, "__arrow_c_stream__"):
        return import_arrow().table(table)
    rule = f"A table must be a frame, a mapping of arrays, or a file. {hint}".strip()
    raise TypeError(f"{rule} Got {type(table).__name__} instead.")


def _on_batches(tables: list[Any], qid: Any, y_true: str) -> Iterable[Finding]:
    """Files with the queries of other files."""
    batches, index = BatchesSeen(), QueryIdIndex()
    for table in filter(len, tables):
        batches.add(index.number_rows(ids_in(table, qid), len(table)), numbers_in(table, y_true))
    return batches.findings(index.ids()) if index.n else ()


def _ranks(known: list[str], names: list[str]) -> list[str]:
    """The column of ranks that a file has beside the named columns, if it has one."""
    rank = rank_beside(known, names)
    return [] if rank is None or known.count(rank) > 1 else [rank]


def table_in(
    file: Any, source: Any, needed: Callable[[list[str]], list[str]], ids: Sequence[str] = (),
    separator: str | None = None, header: Sequence[str] | None = None, names: Iterable[str] = (),
) -> Any:  # fmt: skip
    """The columns of the table in an open source that are `needed`; without a row if there is no such column."""
    # Columns of `ids` are text in CSV, columns of `names` tell its separator, and `header` has the names of columns if
    # the file has none.
    import_arrow()
    start = file.read(6)
    file.seek(0)
    file = _file_of_arrow(source, file)
    try:
        if start.startswith(b"{"):
            from pyarrow import json

            read = json.read_json(file)
            return read.select(_chosen(read.column_names, needed))
        if not start.startswith(MAGIC):
            return _of_csv(file, needed, ids, separator, header, names)
        table = (_of_parquet if start.startswith(b"PAR1") else _of_arrow)(file, needed)
        check_arrow(table)
        return _decoded(table)
    except arrow_errors() as error:
        if is_of_disk(error):
            raise
        raise ValueError(
            "A table is a file of CSV, with commas, tabs or semicolons between fields, JSON lines, Parquet or Arrow. "
            f"Got {source_name(source)}: {one_line(str(error), 200)}"
        ) from None


def _of_csv(
    file: Any, needed: Callable[[list[str]], list[str]], ids: Sequence[str], separator: str | None,
    header: Sequence[str] | None, names: Iterable[str],
) -> Any:  # fmt: skip
    from pyarrow import csv, string, table

    # Arrow looks for the header in as many bytes.
    start = file.read(HEADER_SIZE).removeprefix(BYTE_ORDER_MARK)
    file.seek(0)
    mark = separator or separator_in(first_line(start), names)
    first = next(filter(None, rows_of(start.decode("utf-8", "replace"), mark)), [])
    known = first if header is None else [*header]
    # Arrow says what is wrong with an empty file.
    trimmed = without_blanks(known)
    chosen = _chosen(trimmed, needed) if known else []
    # Arrow has names as they stand in the file.
    name_of = dict(zip(trimmed, known, strict=True))
    if known and not chosen:
        return table([[]] * len(known), names=trimmed)
    convert = csv.ConvertOptions(
        column_types=dict.fromkeys((name_of.get(name, name) for name in ids), string()), null_values=NULLS,
        strings_can_be_null=False, include_columns=[name_of[name] for name in chosen],
    )  # fmt: skip
    read_options = csv.ReadOptions(column_names=None if header is None else known, block_size=HEADER_SIZE)
    parse = csv.ParseOptions(delimiter=mark)
    read = csv.read_csv(file, read_options=read_options, parse_options=parse, convert_options=convert)
    read = read.rename_columns(chosen) if chosen else read
    return _with_clean_ids(read, [*ids], have_blanks(first))


def _of_parquet(file: Any, needed: Callable[[list[str]], list[str]]) -> Any:
    from pyarrow import parquet

    opened = parquet.ParquetFile(file)
    schema = opened.schema_arrow
    chosen = _chosen(schema.names, needed)
    _check_types(schema, chosen)
    return opened.read(columns=chosen) if chosen else schema.empty_table()


def _of_arrow(file: Any, needed: Callable[[list[str]], list[str]]) -> Any:
    from pyarrow import ipc

    opening = ipc.open_file if file.read(6) == b"ARROW1" else ipc.open_stream
    file.seek(0)
    schema = opening(file).schema
    chosen = _chosen(schema.names, needed)
    _check_types(schema, chosen)
    file.seek(0)
    options = ipc.IpcReadOptions(included_fields=[*map(schema.get_field_index, chosen)])
    return opening(file, options=options).read_all() if chosen else schema.empty_table()


def _chosen(names: list[str], needed: Callable[[list[str]], list[str]]) -> list[str]:
    """Columns to read; each must be once in the table."""
    chosen = [*dict.fromkeys(needed(names))]
    for name in chosen:
        check_named_once(names, name)
    return chosen


def _check_types(schema: Any, names: list[str]) -> None:
    """Refuse lists and the like, because a row of them may be of any size."""
    from pyarrow import types

    for name in names:
        kind = schema.field(name).type
        kind = kind.value_type if types.is_dictionary(kind) or types.is_run_end_encoded(kind) else kind
        if types.is_nested(kind):
            raise TypeError(
                f"Column {echo(name)} must hold numbers or ids, one a row. Got {kind} instead: explode() makes rows of "
                "lists, as reading pandas.read_parquet(path) does."
            )


def _decoded(table: Any) -> Any:
    """The table with texts in place of dictionaries: each batch has its own."""
    from pyarrow import types

    kinds = [kind.value_type if types.is_dictionary(kind) else kind for kind in table.schema.types]
    return table.cast(import_arrow().schema([*zip(table.column_names, kinds, strict=True)]))


def _file_of_arrow(source: Any, file: Any) -> Any:
    """The file as Arrow reads it: what is read is no view of it, and it is not memory of Python."""
    # A thread of Arrow may let go of a file late. To give memory back to Python it needs Python's lock, and where
    # Python has ended by then, the process aborts: on a busy machine one call of the command line in eleven did.
    from pyarrow import BufferReader, OSFile, allocate_buffer

    if isinstance(source, (str, os.PathLike)) and not isinstance(file, GzipFile) and os.path.isfile(source):
        return OSFile(os.fsencode(source))
    data = read_bytes(file)
    file.close()
    buffer = allocate_buffer(len(data))
    np.frombuffer(buffer, dtype=np.uint8)[:] = np.frombuffer(data, dtype=np.uint8)
    return BufferReader(buffer)


def _with_clean_ids(table: Any, ids: list[str], blanks: bool) -> Any:
    """Replace empty ids by null; take blanks around ids away, if there are any."""
    from pyarrow import compute, scalar, string

    for name in (name for name in {*ids} if table.column_names.count(name) == 1):
        column = compute.utf8_trim_whitespace(table[name]) if blanks else table[name]
        given = compute.if_else(compute.equal(column, ""), scalar(None, string()), column)
        table = table.set_column(table.column_names.index(name), name, given)
    return table
