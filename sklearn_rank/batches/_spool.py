"""Rows kept on disk in a file without a name, of which nothing is left however the process ends."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Records = NDArray[np.void]
Extent = tuple[int, int]


class Spool:
    """A temporary file of records; what is written and read is counted.

    The file is removed from its folder as soon as it is open (on Windows when it is closed), so that signals and
    crashes leave nothing behind. It is made when it is first needed.
    """

    def __init__(self, folder: Any) -> None:
        self._folder = tempfile.gettempdir() if folder is None else folder
        self._file: Any = None
        self._n_bytes = 0

    def __enter__(self) -> Self:
        """The spool itself."""
        return self

    def __exit__(self, *_: object) -> None:
        """Give the disk space back."""
        if self._file is not None:
            with _worded(self._folder, self._n_bytes):
                self._file.close()

    def open(self) -> None:
        """Make the file.

        Raises
        ------
        OSError
            If it cannot be made, naming the folder.
        """
        if self._file is None:
            with _worded(self._folder, 0):
                self._file = tempfile.TemporaryFile(prefix="sklearn_rank_", dir=self._folder, buffering=0)

    def append(self, records: Records) -> int:
        """Write records after those before; return where they start, in bytes.

        Raises
        ------
        OSError
            If not all of them could be written.
        """
        self.open()
        start, left = self._n_bytes, records.view(np.uint8).data
        self._file.seek(start)
        while left:
            with _worded(self._folder, self._n_bytes):
                n_written = self._file.write(left)
            self._n_bytes += n_written
            left = left[n_written:]
        return start

    def read(self, extents: Iterable[Extent], kind: np.dtype[Any]) -> Records:
        """Read the records between some (start, stop), in bytes.

        Raises
        ------
        OSError
            If there is less than was written.
        """
        extents = [*extents]
        records = np.empty(sum(stop - start for start, stop in extents) // kind.itemsize, kind)
        room = records.view(np.uint8).data
        for start, stop in extents:
            self._file.seek(start)
            while start < stop:
                with _worded(self._folder, self._n_bytes):
                    n_read = self._file.readinto(room[: stop - start])
                if n_read == 0:
                    raise OSError(
                        f"Rows that were written to a temporary file in {str(self._folder)!r} must be there when they "
                        f"are read. Got {start} of {self._n_bytes} bytes: the file was cut short."
                    )
                start, room = start + n_read, room[n_read:]
        return records


def pieces(extents: Iterable[Extent], n_bytes: int) -> Iterator[Extent]:
    """The same bytes, at most so many at a time."""
    for start, stop in extents:
        yield from ((a, min(a + n_bytes, stop)) for a in range(start, stop, n_bytes))


@contextmanager
def _worded(folder: Any, n_bytes: int) -> Iterator[None]:
    """Say where there was no room, how much was written, and what to do."""
    try:
        yield
    except OSError as error:
        raise OSError(
            error.errno,
            f"Rows beyond memory_limit= go to a temporary file, so the folder {str(folder)!r} must take about 20 bytes "
            f"a row; name another with folder=, raise memory_limit=, or use grouped=True, which writes nothing. "
            f"Got {error.strerror or error} after {n_bytes} bytes.",
        ) from error
