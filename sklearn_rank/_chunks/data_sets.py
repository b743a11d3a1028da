"""Data sets on disk: batches of the named columns, of each file in the types that it has.

Arrow would cast them to the types of the first file, which makes a label of 2 True and the id "007" 7.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sklearn_rank._chunks.named_columns import ColumnNames, refuse_missing_columns
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_optional

ROWS_PER_READ = 2**17
"""Rows of a data set that are read at a time."""
TEXT = ("csv", "json")
"""Formats without types: what is read is as the data set says."""


def open_data_set(path: str) -> Any:
    """Data set of a Parquet file, or of a folder of them.

    Raises
    ------
    ValueError
        If a file is not of Parquet, or a column is in files and in the names of folders.
    """
    dataset = _import_arrow(".dataset")
    try:
        return dataset.dataset(path, partitioning="hive")
    except ValueError as error:  # ArrowInvalid
        raise ValueError(
            "A path must be that of a Parquet file or of a folder of them; of other files give the data set, "
            f"pyarrow.dataset.dataset(path, format='csv'). Got {path}: {error}"
        ) from None
    except TypeError as error:  # ArrowTypeError
        raise ValueError(
            "A column must be in files or in the names of folders, such as qid=7, not in both; to read it from the "
            f"files give the data set, pyarrow.dataset.dataset(path). Got {path}: {error}"
        ) from None


class DataSetBatches:
    """Batches of a data set; `file` is that of the last one."""

    def __init__(self, dataset: Any, names: ColumnNames) -> None:
        self._dataset, self._names, self.file = dataset, names, ""

    def __iter__(self) -> Iterator[Any]:
        """Check the schemas of all files, then yield the batches of each."""
        dataset, names = self._dataset, self._names
        cast = self._check()
        for fragment in dataset.get_fragments():
            self.file = _name(fragment)
            split = getattr(fragment, "split_by_row_group", None)  # of Parquet, where Arrow would read ahead
            with _explained(self.file):
                schema = _schema(fragment, dataset.schema, names, cast)
                for part in [fragment] if split is None else split():
                    yield from part.to_batches(schema=schema, columns=names.flat(), batch_size=ROWS_PER_READ)

    def _check(self) -> set[str]:
        """Check the columns of each file; return those that the caller wants in another type than the first file's."""
        names, schema = self._names, self._dataset.schema
        refuse_missing_columns(names, schema.names, "The data set")
        cast, folders = None, dict[Any, str]()
        for fragment in self._dataset.get_fragments():
            with _explained(_name(fragment)):
                own = fragment.physical_schema
            keys = _import_arrow(".dataset").get_partition_keys(fragment.partition_expression)
            refuse_missing_columns(names, [*own.names, *keys], _name(fragment))  # Arrow would read missing values
            _refuse_merged(folders, fragment, keys, names.qid)
            if cast is None:
                cast = {n for n in names.flat() if n not in keys and schema.field(n).type != own.field(n).type}
        return cast or set()


def _schema(fragment: Any, schema: Any, names: ColumnNames, cast: set[str]) -> Any:
    """Types to read a file in: its own, but for what is `cast`, and for keys and text, which have none."""
    own, kind = fragment.physical_schema, getattr(getattr(fragment, "format", None), "default_extname", "")
    kept = {*own.names} - cast if kind not in TEXT else ()
    return _import_arrow().schema([(own if n in kept else schema).field(n) for n in dict.fromkeys(names.flat())])


def _refuse_merged(folders: dict[Any, str], fragment: Any, keys: Mapping[str, Any], qid: str) -> None:
    """Raise ValueError if a query has had another folder: their names were read as equal numbers."""
    if qid not in keys or isinstance(keys[qid], str):
        return
    folder = next((part for part in _name(fragment).split("/") if part.startswith(f"{qid}=")), "")
    before = folders.setdefault(keys[qid], folder)
    if before != folder:
        raise ValueError(
            "Folders of one query must be named alike; if they are of two, read their names as text: "
            f"pyarrow.dataset.dataset(path, partitioning=pyarrow.dataset.partitioning(pyarrow.schema([({qid!r}, "
            f"pyarrow.string())]), flavor='hive')). Got {echo(before)} and {echo(folder)}, which are the same number."
        )


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Say which file cannot be read."""
    try:
        yield
    except (ValueError, TypeError, NotImplementedError, OSError) as error:  # of Arrow, where the last has no number
        if getattr(error, "errno", None) is not None:
            raise
        raise ValueError(
            "Each file of a data set must be whole, and of its format; those whose names begin with '.' or '_' are not "
            f"read from a folder. Got {name}: {error}"
        ) from error


def _name(fragment: Any) -> str:
    """Path of a file."""
    return str(getattr(fragment, "path", "a part of the data set"))


def _import_arrow(module: str = "") -> Any:
    return import_optional(f"pyarrow{module}", extra="arrow", purpose="A data set on disk")
