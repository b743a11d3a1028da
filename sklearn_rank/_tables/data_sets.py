"""Data in pieces: iterables of tables, streams, and files of CSV, Parquet and Arrow, which are read batch by batch."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import chain
from typing import Any

from sklearn_rank._tables.column_arguments import ColumnNames, refuse_missing_columns
from sklearn_rank._tables.columns import (
    arrow_errors,
    check_arrow,
    import_arrow,
    is_of_disk,
    is_stream,
    open_stream,
    selected_columns,
)
from sklearn_rank._tables.formats import HEADER_SIZE, MAGIC, NULLS, files_of, first_line, separator_in
from sklearn_rank._utils.blocks import BLOCK_ROWS
from sklearn_rank._utils.echo import echo, echo_all, one_line
from sklearn_rank._utils.hints import has

UNTYPED_FORMATS = ("csv", "json")
"""Formats without types: what is read is as the data set says."""
FORMAT_OF = dict(zip((*MAGIC, b"{"), ("parquet", "ipc", "stream", "json"), strict=True))
"""Formats of files by their first bytes; others are of CSV."""


def iterate_batches(data: Any, names: ColumnNames) -> Iterable[Any]:
    """Iterate over the batches of data in pieces, see `is_in_pieces`, or of a stream."""
    files = files_of(data)
    if files or isinstance(data, (str, os.PathLike)):
        return _open_files(data, files or [os.fspath(data)], names)
    if has(data, "get_fragments"):
        return DataSetBatches(data, names)
    if is_stream(data):
        frame = selected_columns(data, names, "data")
        return iter(open_stream(data if frame is None else frame.to_native()))
    return iter(data)


def _open_files(given: Any, files: list[str], names: ColumnNames) -> Iterable[Any]:
    """Batches of files of CSV, JSON lines, Parquet or Arrow, all of the format of the first."""
    data_sets = import_arrow(".dataset")
    shown = os.fspath(given) if isinstance(given, (str, os.PathLike)) else echo_all(files)
    try:
        with import_arrow().input_stream(files[0], compression="detect") as file:
            start = file.read(6)
        kind = next((kind for magic, kind in FORMAT_OF.items() if start.startswith(magic)), "csv")
        if kind == "stream":
            return chain.from_iterable(_of_stream(one, names) for one in files)
        read_as = _csv(files[0], names) if kind == "csv" else kind
        base = shown if os.path.isdir(shown) else None
        data_set = data_sets.dataset(files, format=read_as, partitioning="hive", partition_base_dir=base)
        # Names that are no text are found here.
        _ = data_set.schema.names
    # ArrowTypeError.
    except TypeError as error:
        raise ValueError(
            "A column must be in files or in the names of folders, such as qid=7, not in both; to read it from the "
            f"files give the data set, pyarrow.dataset.dataset(path). Got {shown}: {one_line(str(error), 200)}"
        ) from None
    except arrow_errors(ValueError) as error:
        if is_of_disk(error):
            raise
        raise ValueError(
            "A path must lead to a file of CSV, JSON lines, Parquet or Arrow, or to files of one of these. "
            f"Got {shown}: {one_line(str(error), 200)}"
        ) from None
    return DataSetBatches(data_set, names, is_text=kind == "csv")


def _csv(path: str, names: ColumnNames) -> Any:
    """Format of a file of CSV with a header; all columns are read as text."""
    from pyarrow import csv

    with import_arrow().input_stream(path, compression="detect") as file:
        start = file.read(HEADER_SIZE)
    text = import_arrow().string()
    return import_arrow(".dataset").CsvFileFormat(
        parse_options=csv.ParseOptions(delimiter=separator_in(first_line(start), names.flat())),
        convert_options=csv.ConvertOptions(column_types=dict.fromkeys(names.flat(), text), strings_can_be_null=False),
        read_options=csv.ReadOptions(block_size=HEADER_SIZE),
    )


def _of_stream(path: str, names: ColumnNames) -> Iterator[Any]:
    with _reading(path):
        from pyarrow import ipc

        reader = ipc.open_stream(import_arrow().OSFile(path))
        present, wanted = reader.schema.names, names.distinct()
    refuse_missing_columns(names, present)
    while True:
        with _reading(path):
            batch = next(reader, None)
            if batch is None:
                return
            batch = batch.select(wanted)
            check_arrow(batch)
        yield batch


def _with_numbers(batch: Any, names: ColumnNames) -> Any:
    """A batch of CSV with numbers in place of text, of the type that all of the batch fit; an empty id is null."""
    from pyarrow import compute, scalar, string

    for i, name in enumerate(batch.schema.names):
        column = batch.column(i)
        if column.type != string():
            continue
        nulls = [""] if name in names.of_queries() else NULLS
        trimmed = column if name in names.of_queries() else compute.utf8_trim_whitespace(column)
        missing = compute.is_in(trimmed, import_arrow().array(nulls))
        column = compute.if_else(missing, scalar(None, string()), trimmed)
        batch = batch.set_column(i, name, column if name in names.of_queries() else _as_numbers(column))
    return batch


def _as_numbers(text: Any) -> Any:
    arrow = import_arrow()
    for kind in (arrow.int64(), arrow.float64(), arrow.bool_()):
        try:
            return text.cast(kind)
        except arrow.ArrowInvalid:
            continue
    return text


class DataSetBatches:
    """Batches of the named columns of a data set, each file in its own types; `file` is where the last batch is from.

    Arrow would cast them to the types of the first file, which makes a label of 2 True and the id "007" 7. With
    `is_text` the columns are text, and numbers are made of them batch by batch.
    """

    def __init__(self, dataset: Any, names: ColumnNames, *, is_text: bool = False) -> None:
        self._dataset, self._names, self._is_text, self.file = dataset, names, is_text, ""

    def __iter__(self) -> Iterator[Any]:
        """Check the schemas of all files, then yield the batches of each."""
        dataset, names = self._dataset, self._names
        cast = self._check()
        for fragment in dataset.get_fragments():
            self.file = _file_of(fragment)
            # Arrow would read ahead of the row groups of Parquet.
            split = getattr(fragment, "split_by_row_group", None)
            with _reading(self.file):
                schema = _schema(fragment, dataset.schema, names, cast)
                _try_batches(fragment)
                for part in [fragment] if split is None else split():
                    for batch in part.to_batches(schema=schema, columns=names.distinct(), batch_size=BLOCK_ROWS):
                        check_arrow(batch)
                        yield _with_numbers(batch, names) if self._is_text else batch

    def _check(self) -> set[str]:
        """Check the columns of each file; return those that the caller wants in another type than the first file's."""
        names, schema = self._names, self._dataset.schema
        with _reading("the data set"):
            present = schema.names
        refuse_missing_columns(names, present)
        cast, folders = None, dict[Any, str]()
        for fragment in self._dataset.get_fragments():
            file = _file_of(fragment)
            with _reading(file):
                own = fragment.physical_schema
                present = own.names
            keys = import_arrow(".dataset").get_partition_keys(fragment.partition_expression)
            # Arrow would read missing values of a column that a file lacks.
            refuse_missing_columns(names, [*present, *keys], file)
            for name in names.of_queries():
                _refuse_merged(folders, file, keys, name)
            if cast is None:
                cast = {n for n in names.flat() if n not in keys and schema.field(n).type != own.field(n).type}
        return cast or set()


def _schema(fragment: Any, schema: Any, names: ColumnNames, cast: set[str]) -> Any:
    """Types to read a file in: its own, but for what is `cast`, and for keys and text, which have none."""
    own = fragment.physical_schema
    kept = {*own.names} - cast if _format_of(fragment) not in UNTYPED_FORMATS else ()
    return import_arrow().schema([(own if n in kept else schema).field(n) for n in names.distinct()])


def _try_batches(fragment: Any) -> None:
    """Read a file of Arrow once without threads: a damaged one ends the process while a data set reads ahead."""
    if _format_of(fragment) == "arrow":
        with fragment.open() as file:
            reader = import_arrow(".ipc").open_file(file)
            for i in range(reader.num_record_batches):
                reader.get_batch(i)


def _format_of(fragment: Any) -> str:
    return getattr(getattr(fragment, "format", None), "default_extname", "")


def _refuse_merged(folders: dict[Any, str], file: str, keys: Mapping[str, Any], qid: str) -> None:
    """Raise ValueError if a query has had another folder: their names were read as equal numbers."""
    if qid not in keys or isinstance(keys[qid], str):
        return
    folder = next((part for part in file.split("/") if part.startswith(f"{qid}=")), "")
    before = folders.setdefault((qid, keys[qid]), folder)
    if before != folder:
        raise ValueError(
            "Folders of one query must be named alike; if they are of two, read their names as text: "
            f"pyarrow.dataset.dataset(path, partitioning=pyarrow.dataset.partitioning(pyarrow.schema([({qid!r}, "
            f"pyarrow.string())]), flavor='hive')). Got {echo(before)} and {echo(folder)}, which are the same number."
        )


@contextmanager
def _reading(file: str) -> Iterator[None]:
    try:
        yield
    except arrow_errors(ValueError, TypeError) as error:
        if is_of_disk(error):
            raise
        raise ValueError(
            "Each file of a data set must be whole, and of its format; files whose names begin with '.' or '_' are not "
            f"read from a folder. Got {file}: {one_line(str(error), 200)}"
        ) from error


def _file_of(fragment: Any) -> str:
    return str(getattr(fragment, "path", "a part of the data set"))
