"""Formats of files of tables, by their first bytes and their first line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from csv import Error, reader
from io import StringIO

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
SEPARATORS = ",\t;"
HEADER_SIZE = 2**20
"""Bytes that are searched for a header."""
MAGIC = b"PAR1", b"ARROW1", b"\xff\xff\xff\xff"
"""First bytes of Parquet, and of files and streams of Arrow."""
NULLS = ["", "nan", "NaN", "NA", "null"]
"""Missing numbers in CSV."""


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
