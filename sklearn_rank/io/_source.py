"""Files to read from and write to: paths, open files, and gzip."""

from __future__ import annotations

import gzip
import io
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any, BinaryIO

from sklearn_rank._utils.constraints import Constraint, is_count
from sklearn_rank._utils.storage import replacing
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

BYTE_ORDER_MARK = b"\xef\xbb\xbf"
PIECE_OF_FILE = 2**20
"""Bytes that are read at a time; memory of this size is reused for the next piece."""
PIECES_OF_THREADS = 2**22
"""Bytes that all threads read at a time."""
PER_BYTE_OF_LONG_LINE = 16
"""Bytes of memory for each byte of a line that is longer than a piece: its copies, two fields, and their text."""

MEMORY_AT_LEAST, MEMORY_PER_BYTE = 2**26, 50
"""Memory that a reader may take by default: so many bytes, and so many for each byte of the file."""

MEMORY_LIMIT = Constraint("a number of bytes, an int >= 1, or None", lambda value: value is None or is_count(value), "")


class Memory:
    """Memory that a reader takes for what is in a file, by its own estimate, and the limit.

    A file as it is on disk never needs as much as the default limit; what was packed may.
    """

    def __init__(self, limit: int | None, n_bytes: int, name: str) -> None:
        self._limit = MEMORY_AT_LEAST + MEMORY_PER_BYTE * n_bytes if limit is None else limit
        self._taken, self._name, self._counting = 0, name, Lock()

    @property
    def left(self) -> int:
        """Bytes that may still be taken."""
        return self._limit - self._taken

    def take(self, n_bytes: int) -> None:
        """Count bytes that are taken for good.

        Raises
        ------
        ValueError
            If there are more than the limit.
        """
        with self._counting:
            self._taken += n_bytes
        if self._taken > self._limit:
            raise ValueError(
                f"A reader takes at most 64 MiB of memory plus {MEMORY_PER_BYTE} times the bytes of the file, because "
                "a small packed file may hold gigabytes. If you trust the file, raise memory_limit= of the reader, or "
                f"unpack the file. Got {self._name}, which needs more than {self._limit} bytes."
            )

    def take_array(self, ids: Iterable[Any]) -> None:
        """Count an array of ids, where each text takes as much as the longest."""
        lengths = [len(one) for one in ids if isinstance(one, str)]
        self.take(4 * len(lengths) * max(lengths, default=0))


@contextmanager
def open_to_read(source: Any, memory_limit: int | None = None) -> Iterator[tuple[Any, Memory]]:
    """Open a path or an open file for reading bytes; gzip is unpacked. Count the memory that is taken for it.

    Raises
    ------
    TypeError
        If it is neither a path nor a file.
    ValueError
        If gzip data are truncated or damaged, or the file is packed by another program or in UTF-16, or
        `memory_limit` is no number of bytes.
    """
    MEMORY_LIMIT.check("memory_limit", memory_limit, "a reader")
    if isinstance(source, (str, os.PathLike)):
        opened = open(source, "rb")
        if not os.path.isfile(source):
            # The size of a pipe is known once it is read.
            with opened:
                opened = io.BufferedReader(io.BytesIO(opened.read()))
    elif hasattr(source, "read"):
        data = source.read()
        if not isinstance(data, (str, bytes, bytearray, memoryview)):
            raise TypeError(f"A file is a path or an open file of bytes or text. Got {type(data).__name__}.")
        opened = io.BufferedReader(io.BytesIO(data.encode("utf-8", ERRORS) if isinstance(data, str) else data))
    else:
        raise TypeError(f"A file is a path or an open file. Got {type(source).__name__} instead.")
    with opened:
        start = opened.peek(16)
        for kind, pattern in OTHER_KINDS.items():
            if re.match(pattern, start):
                raise ValueError(
                    "A file must be plain or packed by gzip, and text in UTF-8. "
                    f"Got {source_name(source)}, which is {kind}."
                )
        memory = Memory(memory_limit, opened.seek(0, os.SEEK_END), source_name(source))
        opened.seek(0)
        try:
            yield gzip.GzipFile(fileobj=opened) if start.startswith(GZIP) else opened, memory
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            raise ValueError(f"The gzip file is truncated or damaged. Got {source_name(source)}: {error}.") from None


def read_bytes(file: Any, memory: Memory, per_byte: int, per_line: int = 0) -> bytes:
    """All bytes; each takes `per_byte` bytes of memory until all is understood, and each line `per_line`."""
    pieces = []
    while piece := file.read(PIECE_OF_FILE):
        n_lines = piece.count(b"\n") + piece.count(b"\r") - piece.count(b"\r\n") if per_line else 0
        memory.take(len(piece) * per_byte + n_lines * per_line)
        pieces.append(piece)
    return b"".join(pieces)


def complete_lines(file: BinaryIO, memory: Memory, n_threads: int = 1) -> Iterator[bytes]:
    """Pieces of a file that end with a newline, without a byte order mark; the last piece may be a newline alone.

    A piece with a zero byte, which is not text, is the last: gzip makes a line of many zeros small. A line that is
    longer than a piece takes memory.
    """
    rest: list[bytes] = []
    n_bytes = min(PIECE_OF_FILE, max(1, PIECES_OF_THREADS // n_threads))
    piece = file.read(n_bytes).removeprefix(BYTE_ORDER_MARK)
    while piece:
        if b"\0" in piece:
            yield b"".join([*rest, piece, b"\n"])
            return
        cut = piece.rfind(b"\n") + 1
        if cut:
            yield b"".join([*rest, piece[:cut]])
            rest = []
        else:
            memory.take(PER_BYTE_OF_LONG_LINE * len(piece))
        rest.append(piece[cut:])
        piece = file.read(n_bytes)
    yield b"".join([*rest, b"\n"])


def source_name(source: Any) -> str:
    """Name of a file for messages."""
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source)
    name = getattr(source, "name", None)
    return name if isinstance(name, str) else type(source).__name__


@contextmanager
def open_to_write(target: Any) -> Iterator[Any]:
    """Open a path for writing bytes, with gzip if its name ends in ".gz"; an open binary file is used and left open.

    Raises
    ------
    TypeError
        If it is neither a path nor a binary file.
    OSError
        If not all could be written; a file at the path is unchanged then.
    """
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
            "A file to write is a path, or a file that was opened as binary ('wb'). "
            f"Got {type(target).__name__} instead."
        )


class _AllWritten:
    """A raw file, which may take less than it is given and only say how much."""

    def __init__(self, file: io.RawIOBase) -> None:
        self._file = file

    def write(self, data: bytes) -> None:
        """Write all of it."""
        while data:
            n_written = self._file.write(data)
            if not n_written:
                raise OSError(
                    f"All must be written. Got {len(data)} bytes that {source_name(self._file)} did not take."
                )
            data = data[n_written:]
