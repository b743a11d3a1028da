"""The columns of a ranking in batches of any kind: tuples of arrays, frames, Arrow, Parquet.

Knows the containers, and nothing of what is in them. pyarrow is imported for a path alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.optional import import_optional

ROWS_AT_ONCE = 2**17
"""Rows of a data set that are read at a time."""


class Columns(NamedTuple):
    """Columns of a batch, or their names; `y_true` may have several names, those of the subtopics."""

    y_true: Any
    y_score: Any
    qid: Any
    sample_weight: Any = None

    def flat(self) -> list[str]:
        """Names, each by itself."""
        several = [self.y_true] if isinstance(self.y_true, str) else self.y_true
        return [*several, *(name for name in self[1:] if name is not None)]


def check_names(names: Columns) -> None:
    """Refuse names that are no names.

    Raises
    ------
    TypeError
        If one is not a str.
    """
    for name in names.flat():
        if not isinstance(name, str):
            raise TypeError(f"A column is named by a str; y_true by a list of them for subtopics. Got {name!r}.")


def batches_of(source: Any, names: Columns) -> Iterator[Any]:
    """Batches of whatever was given.

    Raises
    ------
    TypeError
        If it cannot be iterated over.
    ValueError
        If a data set does not have the columns.
    """
    if isinstance(source, (str, os.PathLike)):
        source = _dataset().dataset(os.fspath(source), partitioning="hive")
    if hasattr(source, "get_fragments"):
        return _of_dataset(source, names)
    if not isinstance(source, Iterator) and _names_of(source) is not None:
        return iter([source])  # it is one batch
    if not isinstance(source, Iterable):
        raise TypeError(
            "batches must be an iterable of batches, the path of a Parquet file or folder, or a pyarrow data set. "
            f"Got {type(source).__name__} instead."
        )
    return iter(source)


def read_columns(batch: Any, names: Columns) -> Columns:
    """Columns of one batch.

    Raises
    ------
    TypeError
        If it is no batch.
    ValueError
        If it does not have the columns.
    """
    if isinstance(batch, (tuple, list)):
        return _of_tuple(batch, names)
    found = _names_of(batch)
    if found is None:
        raise TypeError(
            "A batch must be a tuple (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight) of arrays, a "
            "frame of pandas or polars, a record batch or table of Arrow, or a dict of arrays. "
            f"Got {type(batch).__name__}."
        )
    refuse_missing(names, found)
    several = names.y_true if not isinstance(names.y_true, str) else None
    y_true = _column(batch, names.y_true) if several is None else np.column_stack([_column(batch, n) for n in several])
    return Columns(y_true, *(None if name is None else _column(batch, name) for name in names[1:]))


def _of_tuple(batch: Any, names: Columns) -> Columns:
    n_columns = 3 if names.sample_weight is None else 4
    if len(batch) not in (3, 4) or len(batch) < n_columns:
        hint = "; with sample_weight= it needs the fourth" if n_columns == 4 else ""
        raise ValueError(
            "A batch that is a tuple must be (y_true, y_score, qid) or (y_true, y_score, qid, sample_weight)"
            f"{hint}. Got {len(batch)} entries."
        )
    return Columns(*batch)


def _names_of(batch: Any) -> list[Any] | None:
    """Names of the columns; None if it is nothing that has any."""
    if isinstance(batch, Mapping):
        return [*batch]
    if hasattr(batch, "column_names"):  # of Arrow
        return [*batch.column_names]
    return None if hasattr(batch, "collect") or not hasattr(batch, "columns") else [*batch.columns]


def refuse_missing(names: Columns, found: Iterable[Any], where: str = "A batch") -> None:
    """Refuse columns of which one is missing, or there twice.

    Raises
    ------
    ValueError
        If there is not one of each name.
    """
    found = [*found]
    for name in names.flat():
        if found.count(name) != 1:
            keywords = ", ".join(f"{k}={v!r}" for k, v in names._asdict().items() if v is not None)
            raise ValueError(
                f"{where} must have each of the columns once: {keywords}. "
                f"Got {found.count(name) or 'no'} {name!r} among {', '.join(map(repr, found))}."
            )


def _column(batch: Any, name: str) -> Any:
    column = batch[name]
    if not hasattr(column, "dictionary_encode"):  # not of Arrow
        return column
    if len(column) > column.null_count == 0 and str(column.type) in ("string", "large_string", "string_view"):
        return np.concatenate([_text(chunk) for chunk in getattr(column, "chunks", [column])])
    return np.asarray(column)


def _text(column: Any) -> NDArray[Any]:
    """Strings of Arrow, one object for each distinct one."""
    encoded = column.dictionary_encode()
    return np.asarray(encoded.dictionary).astype(object)[np.asarray(encoded.indices)]


def _of_dataset(dataset: Any, names: Columns) -> Iterator[Any]:
    """Batches of a data set of Arrow; in a file without one of the columns all of it would be read as missing."""
    refuse_missing(names, dataset.schema.names, "The data set")
    keys = _dataset().get_partition_keys
    for fragment in dataset.get_fragments():
        found = [*fragment.physical_schema.names, *keys(fragment.partition_expression)]
        refuse_missing(names, found, getattr(fragment, "path", "A part of the data set"))
    for fragment in dataset.get_fragments():
        split = getattr(fragment, "split_by_row_group", None)  # of Parquet: read ahead would be more than is needed
        for part in [fragment] if split is None else split():
            yield from part.to_batches(schema=dataset.schema, columns=names.flat(), batch_size=ROWS_AT_ONCE)


def _dataset() -> Any:
    return import_optional("pyarrow.dataset", extra="arrow", purpose="A data set on disk")
