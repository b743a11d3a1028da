"""Files of tables: which a path means, and their format by their first bytes and their first line."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from csv import Error, reader
from io import StringIO
from typing import Any

from sklearn_rank._utils.echo import echo

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS = ",\t;"
HEADER_SIZE = 2**20
MAGIC = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""First bytes of Parquet, and of files and streams of Arrow."""
NULLS = ["", "nan", "NaN", "NA", "null"]


def files_of(source: Any) -> list[str]:
    """Files of a list, a folder or a pattern, by name in folders and patterns; none for a single file or a table."""
    if isinstance(source, (list, tuple)):
        are_paths = all(isinstance(one, (str, os.PathLike)) for one in source)
        return [file for one in source for file in files_of(one) or [os.fspath(one)]] if are_paths else []
    if isinstance(source, (str, os.PathLike)) and os.path.isdir(source):
        folder, found = source, glob.glob("**", root_dir=source, recursive=True)
        found = [one for one in found if not any(part.startswith("_") for part in one.split(os.sep))]
    elif isinstance(source, str) and glob.has_magic(source) and not os.path.exists(source):
        folder, found = "", glob.glob(source, recursive=True)
        found = [one for one in found if not os.path.basename(one).startswith("_")]
    else:
        return []
    files = sorted(filter(os.path.isfile, (os.path.join(folder, one) for one in found)))
    if not files:
        raise FileNotFoundError(f"A folder or a pattern must have a file. Got none in {echo(source)}.")
    return files


def first_line(data: bytes) -> str:
    """First line of the beginning of a file, without its end."""
    return data.removeprefix(BYTE_ORDER_MARK).partition(b"\n")[0].decode("utf-8", "replace").rstrip("\r")


def rows_of(text: str, separator: str) -> Iterator[list[str]]:
    """Fields of the rows of CSV, which may have quotes and lines in them."""
    with suppress(Error):
        yield from reader(StringIO(text, newline=""), delimiter=separator)


def fields_of(line: str, separator: str) -> list[str]:
    return without_blanks(next(rows_of(line, separator), []))


def have_blanks(fields: list[str]) -> bool:
    """Whether a blank follows each separator, as in "qid, doc_id, score"."""
    return len(fields) > 1 and all(field.startswith(" ") for field in fields[1:])


def without_blanks(fields: list[str]) -> list[str]:
    """The fields, without the blanks that follow separators."""
    return [*map(str.strip, fields)] if have_blanks(fields) else fields


def separator_in(header: str, names: Iterable[str]) -> str:
    """Separator with which a header has the named columns, or else most columns."""
    columns = {separator: fields_of(header, separator) for separator in SEPARATORS}
    named = {name for name in names if isinstance(name, str)}
    with_names = [separator for separator in SEPARATORS if named and named <= {*columns[separator]}]
    return (with_names or sorted(SEPARATORS, key=lambda separator: -len(columns[separator])))[0]
