"""Tables by column names: frames of pandas and polars, tables of Arrow, files of CSV, Parquet and Arrow."""

from __future__ import annotations

import os
from collections.abc import Mapping
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
from sklearn_rank.io._entries import DUPLICATES, Entries, QueryIds, checked, repeated_rows
from sklearn_rank.io._join import RankingData
from sklearn_rank.io._source import open_to_read, source_name


def read_table(
    table: Any, *, y_true: str = "label", y_score: str = "score", qid: str = "qid", doc_id: str | None = None,
    duplicates: str = "raise",
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
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        A document of `doc_id` that is in a query twice: refuse it; take its row of the highest score; or keep its other
        rows as those of documents that nobody judged.

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
    table = opened(table, [qid] if doc_id is None else [qid, doc_id])
    _check_labels(table, y_true, y_score, qid, doc_id)
    columns = _numbers(table, y_true), _numbers(table, y_score), _ids(table, qid)
    queries = read(columns[0], columns[1], qid=columns[2])
    label, score, ids, nothing = queries.label, queries.score, columns[2], np.empty(0, dtype=object)
    if doc_id is None and duplicates != "raise":
        raise ValueError(f"duplicates={echo(duplicates)} is about documents, so it needs doc_id=. Got none.")
    if doc_id is None:
        return RankingData(label, score, ids, nothing, nothing, "zero", "drop", ())
    entries = _entries(score, ids, _ids(table, doc_id))
    documents, again = entries.doc_id, repeated_rows(entries, _where, duplicates)
    if again is not None and duplicates == "first":
        label, score, ids, documents = (column[~again] for column in (label, score, ids, documents))
    elif again is not None:
        label = np.where(again, np.nan, label)
    return RankingData(label, score, ids, nothing, nothing, "zero", "drop", (documents,))


def read_entries(
    table: Any, *, value: str, qid: str = "qid", doc_id: str = "doc_id", duplicates: str = "raise"
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
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        A document that is in a query twice: refuse it; keep its row of the highest value; or, of a run, keep its other
        rows as those of documents that nobody judged.

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
    table = opened(table, [qid, doc_id])
    _check_labels(table, value, qid, doc_id)
    numbers, queries, documents = _numbers(table, value), _ids(table, qid), _ids(table, doc_id)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"Column {echo(value)} must hold finite numbers. Got {numbers[row]} in row {row}.")
    return checked(_entries(numbers, queries, documents), _where, duplicates)


def _entries(values: NDArray[np.float64], queries: NDArray[Any], documents: NDArray[Any]) -> Entries:
    if not len(values) == len(queries) == len(documents) > 0:
        raise ValueError(
            f"Columns must have one entry per row, and at least one row. "
            f"Got {len(values)}, {len(queries)} and {len(documents)} entries."
        )
    names, (code,) = number_together([queries])
    return Entries(QueryIds(code.astype(np.uint32), names), documents, values)


def _where(row: int) -> str:
    return f"in row {row}"


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


def opened(table: Any, ids: list[str]) -> Any:
    """The table: a file is read, and a lazy frame of polars is collected."""
    if isinstance(table, (str, os.PathLike)) or hasattr(table, "read"):
        return _read_file(table, ids)
    if hasattr(table, "collect") and hasattr(table, "collect_schema"):
        return table.collect()
    if not hasattr(table, "columns") and not hasattr(table, "keys"):
        raise TypeError(f"A table is a frame, a mapping of arrays, or a file. Got {type(table).__name__} instead.")
    return table


def _read_file(source: Any, ids: list[str]) -> Any:
    import_optional("pyarrow", extra="arrow", purpose="Tables in files")
    from pyarrow import ArrowException, csv, ipc, parquet, string

    file, name = _file_of_arrow(source), source_name(source)
    try:
        data = file.read(6)
        file.seek(0)
        if data[:4] == b"PAR1":
            return parquet.ParquetFile(file).read()
        if data == b"ARROW1":
            return ipc.open_file(file).read_all()
        if data[:4] == b"\xff\xff\xff\xff":
            return ipc.open_stream(file).read_all()
        options = csv.ConvertOptions(
            column_types=dict.fromkeys(ids, string()), null_values=["", "nan", "NaN", "NA", "null"],
            strings_can_be_null=False,
        )  # fmt: skip
        return _without_empty(csv.read_csv(file, convert_options=options), ids)
    except (ArrowException, OSError) as error:
        # An error with a number is about the disk, and not about what is in the file.
        if getattr(error, "errno", None) is not None:
            raise
        raise ValueError(
            f"A table is a file of CSV, with commas between fields, Parquet or Arrow. Got {name}: {error}"
        ) from None


def _file_of_arrow(source: Any) -> Any:
    """The file as Arrow reads it: nothing that is read stays a view of it, nor is any of it memory of Python.

    A thread of Arrow may let go of a file late. To give memory back to Python it needs Python's lock, and where Python
    has ended by then, the process aborts: on a busy machine one call of the command line in eleven did.
    """
    from pyarrow import BufferReader, OSFile, allocate_buffer

    with open_to_read(source) as file:
        if isinstance(source, (str, os.PathLike)) and not isinstance(file, GzipFile) and os.path.isfile(source):
            return OSFile(os.fsencode(source))
        data = file.read()
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
