"""Files to read from and write to: paths, open files, and gzip."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, BinaryIO

from sklearn_rank._tables.formats import BYTE_ORDER_MARK
from sklearn_rank._utils.storage import MOST_RATIO, replacing, unpacks_too_far
from sklearn_rank.io._entries import ERRORS

GZIP = b"\x1f\x8b"
OTHER_KINDS = {
    "packed by bzip2": rb"BZh[1-9](1AY&SY|\x17rE8P\x90)",
    "packed by xz": rb"\xfd7zXZ\0",
    "packed by zstd": rb"\x28\xb5\x2f\xfd",
    "packed by lz4": rb"\x04\x22\x4d\x18",
    "packed by compress": rb"\x1f\x9d",
    "packed by 7-Zip": rb"7z\xbc\xaf\x27\x1c",
    "a zip archive": rb"PK(\x03\x04|\x05\x06)",
    # A stream of Arrow begins with four bytes of 255.
    "text in UTF-16": rb"\xfe\xff|\xff\xfe(?!\xff\xff)",
}
"""Formats that are refused, by the first bytes of the file."""

PIECE_OF_FILE = 2**20
"""Bytes that are read at a time; memory of this size is reused for the next piece."""


@contextmanager
def open_to_read(source: Any) -> Iterator[Any]:
    """Open a path or an open file for reading bytes; gzip is unpacked."""
    if isinstance(source, (str, os.PathLike)):
        opened = open(source, "rb")
        if not os.path.isfile(source):
            # The size of a pipe is known once it is read.
            with opened:
                opened = io.BufferedReader(io.BytesIO(opened.read()))
    elif hasattr(source, "read"):
        data = source.read()
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"A file must be a path, or an open file of bytes or text. Got {type(data).__name__}.")
        opened = io.BufferedReader(io.BytesIO(data.encode("utf-8", ERRORS) if isinstance(data, str) else data))
    else:
        raise TypeError(f"A file must be a path or an open file. Got {type(source).__name__} instead.")
    with opened:
        start = opened.peek(16)
        for kind, pattern in OTHER_KINDS.items():
            if re.match(pattern, start):
                raise ValueError(
                    "A file must be plain or packed by gzip, and text in UTF-8. "
                    f"Got {source_name(source)}, which is {kind}."
                )
        try:
            yield _Unpacked(opened, source_name(source)) if start.startswith(GZIP) else opened
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"The gzip file is truncated or damaged. Got {source_name(source)}: {error}.") from None


class _Unpacked(gzip.GzipFile):
    """What gzip packed, up to a limit."""

    def __init__(self, file: Any, source: str) -> None:
        self._source, self._n_bytes = source, file.seek(0, os.SEEK_END)
        file.seek(0)
        super().__init__(fileobj=file, mode="rb")

    def read(self, size: int | None = -1) -> bytes:
        data = super().read(size)
        if unpacks_too_far(self.tell(), self._n_bytes):
            raise ValueError(
                f"A gzip file must not unpack to more than 1 GiB and {MOST_RATIO} times its size; if you trust it, "
                f"gunzip it first. Got {self._source}, {self._n_bytes} bytes that become more than {self.tell()}."
            )
        return data


def read_bytes(file: Any) -> bytes:
    """All bytes, piece by piece: each is counted if gzip is unpacked."""
    return b"".join(iter(partial(file.read, PIECE_OF_FILE), b""))


def complete_lines(file: BinaryIO) -> Iterator[bytes]:
    """Pieces of a file that end with a newline, without a byte order mark; the last piece may be a newline alone."""
    # A piece with a zero byte, which is not text, is the last: gzip makes a line of many zeros small.
    rest: list[bytes] = []
    piece = file.read(PIECE_OF_FILE).removeprefix(BYTE_ORDER_MARK)
    while piece:
        if b"\0" in piece:
            yield b"".join([*rest, piece, b"\n"])
            return
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, piece[:cut]])
            rest = []
        rest.append(piece[cut:])
        piece = file.read(PIECE_OF_FILE)
    yield b"".join([*rest, b"\n"])


def source_name(source: Any) -> str:
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else type(source).__name__


@contextmanager
def open_to_write(target: Any) -> Iterator[Any]:
    """Open a path for writing bytes, with gzip if its name ends in ".gz"; an open binary file is used and left open."""
    # If not all could be written, a file at the path is unchanged.
    if isinstance(target, io.RawIOBase):
        yield _AllWritten(target)
    elif isinstance(target, (str, os.PathLike)):
        with replacing(target) as file:
            if os.fspath(target).endswith(".gz"):
                with gzip.GzipFile(os.path.basename(target), "wb", fileobj=file) as packed:
                    yield packed
            else:
                yield file
    elif hasattr(target, "write") and not isinstance(target, io.TextIOBase):
        yield target
    else:
        raise TypeError(
            f"The file to write must be a path, or a file opened as binary ('wb'). Got {type(target).__name__} instead."
        )


class _AllWritten:
    """A raw file, which may take less than it is given and only say how much."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        while data:
            n_written = self._file.write(data)
            if not n_written:
                raise OSError(
                    f"The file must accept all bytes. Got {len(data)} bytes that {source_name(self._file)} refused."
                )
            data = data[n_written:]
