"""Arrays on disk in a file without a name: nothing is left of it however the process ends."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.echo import echo


class Spool:
    """A temporary file of arrays, which counts what is written and read; one thread at a time may use it.

    The file is created when it is first needed. It is removed from its folder as soon as it is open (on Windows when it
    is closed), so that signals and crashes leave nothing behind.
    """

    def __init__(self, folder: Any) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folder must be the path of a folder, or None. Got {type(folder).__name__} instead.")
        self._folder: Any = tempfile.gettempdir() if folder is None else folder
        self._file: Any = None
        self._n_bytes = 0

    def __enter__(self) -> Self:
        """The spool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Close the file, which frees the disk space."""
        if self._file is not None:
            with _explained(self._folder, self._n_bytes):
                self._file.close()

    def open(self) -> None:
        """Create the file; raise OSError with the name of the folder if that fails."""
        if self._file is None:
            with _explained(self._folder, 0):
                self._file = tempfile.TemporaryFile(prefix="sklearn_rank_", dir=self._folder, buffering=0)

    def append(self, array: NDArray[Any]) -> int:
        """Append a contiguous array and return its start in bytes; raise OSError unless all is written."""
        self.open()
        start, left = self._n_bytes, array.reshape(-1).view(np.uint8).data
        self._file.seek(start)
        while left:
            with _explained(self._folder, self._n_bytes):
                n_written = self._file.write(left)
            self._n_bytes += n_written
            left = left[n_written:]
        return start

    def read(self, start: int, out: NDArray[Any]) -> None:
        """Fill a contiguous array with what is in the file from `start` on; raise OSError if the file is too short."""
        room = out.reshape(-1).view(np.uint8).data
        self._file.seek(start)
        while room:
            try:  # a context manager for each of many short reads costs more than they do
                n_read = self._file.readinto(room)
            except OSError as error:
                raise _explanation(error, self._folder, self._n_bytes) from error
            if n_read == 0:
                raise OSError(
                    f"Rows that were written to a temporary file in {str(self._folder)!r} must be there when they "
                    f"are read. Got {start} of {self._n_bytes} bytes: the file was cut short."
                )
            start, room = start + n_read, room[n_read:]


@contextmanager
def _explained(folder: Any, n_bytes: int) -> Iterator[None]:
    """Say which folder is full, how much was written, and what to do."""
    try:
        yield
    except OSError as error:
        raise _explanation(error, folder, n_bytes) from error


def _explanation(error: OSError, folder: Any, n_bytes: int) -> OSError:
    shown = echo(str(folder), 300)
    return OSError(
        error.errno,
        f"Rows beyond memory_limit= go to a temporary file, so the folder {shown} must take about 20 bytes "
        f"a row; name another with folder=, raise memory_limit=, or use assume_grouped=True, which writes nothing. "
        f"Got {error.strerror or error} after {n_bytes} bytes.",
    )
