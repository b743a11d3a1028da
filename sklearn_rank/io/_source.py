"""Where bytes come from and go to: a path, a file that is open, what gzip made."""

from __future__ import annotations

import gzip
import mmap
import os
import zlib
from contextlib import AbstractContextManager, nullcontext
from typing import Any, BinaryIO

GZIP = b"\x1f\x8b"
MAPPED = 2**24
"""Bytes that are not copied from a file."""


def read_bytes(source: Any) -> bytes | mmap.mmap:
    """All there is in a path or an open file, unpacked if gzip made it; a large file is mapped into memory.

    Raises
    ------
    TypeError
        If it is neither a path nor a file.
    ValueError
        If gzip's data end too soon or are damaged.
    """
    if isinstance(source, (str, os.PathLike)):
        with open(source, "rb") as file:
            if os.fstat(file.fileno()).st_size < MAPPED or file.peek(2).startswith(GZIP):
                data = file.read()
            else:
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    elif hasattr(source, "read"):
        data = source.read()
        data = data.encode() if isinstance(data, str) else data
    else:
        raise TypeError(f"A file is a path or an open file. Got {type(source).__name__} instead.")
    if data.startswith(GZIP):
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"A file that gzip made must be whole. Got {name_of(source)}: {error}.") from None
    return data


def name_of(source: Any) -> str:
    """What to call it in messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else type(source).__name__


def open_to_write(target: Any) -> AbstractContextManager[BinaryIO]:
    """File of a path, through gzip if its name ends so; an open binary file as it is, and left open."""
    if hasattr(target, "write"):
        return nullcontext(target)
    if os.fspath(target).endswith(".gz"):
        return gzip.open(target, "wb")
    return open(target, "wb")
