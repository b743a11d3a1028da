"""Complete queries from batches with rows in any order: partition rows on disk until each part fits in memory.

Rows are partitioned by the digits of their query number. Ids in the results are these numbers. They are on disk in a
file without a name, so it is gone however the process ends.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping, group_numbers, sort_by_number
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import queries_of
from sklearn_rank._tables.batch_validator import NumberedRows, as_float64, joined_rows
from sklearn_rank._utils.blocks import BLOCK_ROWS, COLLECTED_ROWS, cut_rows
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import effective_n_jobs
from sklearn_rank._utils.typing import Index

BASE = 64
"""Parts that rows are divided into at a time, one for each digit."""

MEMORY_SHARE = 5
"""Ratio of the memory that rows take while they are divided or evaluated to what a row of float64 takes."""


class Part(NamedTuple):
    """Rows of complete queries: of those whose number, divided by `step`, has a last digit from one up to another."""

    rows: NumberedRows
    step: int
    digits: tuple[int, int] | None = None

    def queries(self, n_jobs: int | None = None) -> Queries:
        """The rows by query. Numbers without gaps follow from the digits, so that rows need only be counted."""
        number, label, score = self.rows
        dense = number // np.uint32(self.step)
        if self.digits is not None:
            first, last = self.digits
            high = dense // np.uint32(BASE)
            dense -= high * np.uint32(BASE - (last - first)) + np.uint32(first)
        of_all = group_numbers(dense, int(dense.max()) + 1, n_jobs)
        has_rows, sizes = of_all.sizes > 0, of_all.sizes
        grouping = Grouping.by_sizes(sizes[has_rows], number[of_all.first_rows[has_rows]])
        grouping.n_jobs = n_jobs
        return queries_of(as_float64(of_all.take(label)), as_float64(of_all.take(score)), grouping)


def scattered_parts(
    batches: Iterable[NumberedRows], n_queries: Callable[[], int], memory_limit: int, folder: Any, n_jobs: int | None
) -> Generator[Part, None, None]:
    """Yield rows of complete queries; `n_queries` returns the number of queries so far."""
    return _Division(n_queries, memory_limit, folder, effective_n_jobs(n_jobs)).divided(batches, 1)


class _Division(NamedTuple):
    """How rows are divided by the digits of their numbers, the lowest first.

    All queries of a level agree in the previous digits, and the last level has one query per digit.
    """

    n_queries: Callable[[], int]
    memory_limit: int
    folder: Any
    n_threads: int

    def divided(self, batches: Iterable[NumberedRows], step: int) -> Generator[Part, None, None]:
        """Yield the rows in parts; a part for each thread fits in memory."""
        held, n_rows, runs = list[NumberedRows](), 0, list[_Run]()
        with Spool(self.folder) as spool:
            if self.folder is not None and step == 1:
                # Fail before rows are read if the folder cannot be used.
                spool.open()
            for rows in batches:
                held.append(rows)
                n_rows += len(rows.number)
                # Bytes of a number, and of labels and a score of float64.
                of_row = 12 + 8 * (rows.label[:1].size or 1)
                most = max(self.memory_limit // (MEMORY_SHARE * of_row), 1)
                # Free them before they are evaluated.
                del rows
                if n_rows > (min(most, COLLECTED_ROWS) if runs else most) and step < self.n_queries():
                    runs += _write(spool, held, step)
                    n_rows = 0
            if not runs:
                yield Part(joined_rows(held), step)
                return
            if held:
                runs += _write(spool, held, step)
            yield from self._read(spool, runs, step, most)

    def _read(self, spool: Spool, runs: Sequence[_Run], step: int, most: int) -> Iterator[Part]:
        """Yield what was written, and divide what does not fit by one digit more."""
        most_of_part = max(most // self.n_threads, 1)
        size = np.sum([np.diff(run.starts) for run in runs], axis=0)
        for digits in _digits_together(size.tolist(), min(most_of_part, BLOCK_ROWS)):
            extents = [(run, *run.starts[[*digits]].tolist()) for run in runs]
            if size[slice(*digits)].sum() > most_of_part and step * BASE < self.n_queries():
                pieces = (_read(spool, [piece]) for piece in _pieces(extents, max(most // 2, 1)))
                yield from self.divided(pieces, step * BASE)
            else:
                yield Part(_read(spool, extents), step, digits)


def _digits_together(size: list[int], most: int) -> Iterator[tuple[int, int]]:
    """Join digits, so that parts are neither many nor large: the first of each part, and the end."""
    first = n_rows = 0
    for digit, n in enumerate(size):
        if n and n_rows and n_rows + n > most:
            yield first, digit
            first, n_rows = digit, 0
        n_rows += n
    yield first, len(size)


class _Run(NamedTuple):
    """Rows in a file by digit, column by column: the first row of each digit, and where and what each column is."""

    starts: Index
    begin: list[int]
    dtypes: list[np.dtype[Any]]
    shapes: list[tuple[int, ...]]


Extent = tuple[_Run, int, int]
"""Some rows of a run: the first, and the end."""


def _write(spool: Spool, held: list[NumberedRows], step: int) -> list[_Run]:
    rows = joined_rows(held)
    return [_write_run(spool, rows.part(*block), step) for block in cut_rows(len(rows.number), COLLECTED_ROWS)]


def _write_run(spool: Spool, rows: NumberedRows, step: int) -> _Run:
    """Sort rows by digit, stable within each query, and append their columns."""
    digit = rows.number // np.uint32(step) % np.uint32(BASE)
    starts, order = sort_by_number(digit, BASE, None, len(digit), None)
    begin = [spool.append(column.take(order, axis=0)) for column in rows]
    return _Run(starts, begin, [column.dtype for column in rows], [column.shape[1:] for column in rows])


def _pieces(extents: Iterable[Extent], most: int) -> Iterator[Extent]:
    for run, start, stop in extents:
        yield from ((run, *rows) for rows in cut_rows(stop, most, start))


def _read(spool: Spool, extents: Sequence[Extent]) -> NumberedRows:
    """Rows of some extents, each column in a type that holds the values of all."""
    columns = []
    for i in range(len(NumberedRows._fields)):
        dtype = np.result_type(*(run.dtypes[i] for run, _, _ in extents))
        n_rows = sum(stop - start for _, start, stop in extents)
        column, at = np.empty((n_rows, *extents[0][0].shapes[i]), dtype), 0
        for run, start, stop in extents:
            out = column[at : at + stop - start]
            written = out if run.dtypes[i] == dtype else np.empty(out.shape, run.dtypes[i])
            spool.read(run.begin[i] + start * written[:1].nbytes, written)
            if written is not out:
                out[:] = written
            at += stop - start
        columns.append(column)
    return NumberedRows(*columns)


class Spool:
    """A temporary file of arrays, which counts what is written and read; one thread at a time may use it.

    The file is created when it is first needed. It is removed from its folder as soon as it is open (on Windows when it
    is closed), so that it is gone after signals and crashes.
    """

    def __init__(self, folder: Any) -> None:
        if folder is not None and not isinstance(folder, (str, os.PathLike)):
            raise TypeError(f"folder must be the path of a folder, or None. Got {type(folder).__name__} instead.")
        self._folder: Any = tempfile.gettempdir() if folder is None else folder
        self._file: Any = None
        self._n_bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            with _writing(self._folder, self._n_bytes):
                self._file.close()

    def open(self) -> None:
        if self._file is None:
            with _writing(self._folder, 0):
                self._file = tempfile.TemporaryFile(prefix="sklearn_rank_", dir=self._folder, buffering=0)

    def append(self, array: NDArray[Any]) -> int:
        self.open()
        start, left = self._n_bytes, array.reshape(-1).view(np.uint8).data
        self._file.seek(start)
        while left:
            with _writing(self._folder, self._n_bytes):
                n_written = self._file.write(left)
            self._n_bytes += n_written
            left = left[n_written:]
        return start

    def read(self, start: int, out: NDArray[Any]) -> None:
        left = out.reshape(-1).view(np.uint8).data
        self._file.seek(start)
        while left:
            # A context manager for each of many short reads costs more than they do.
            try:
                n_read = self._file.readinto(left)
            except OSError as error:
                raise _explanation(error, self._folder, self._n_bytes) from error
            if n_read == 0:
                raise OSError(
                    f"Rows that were written to a temporary file in {str(self._folder)!r} must be there when they "
                    f"are read. Got {start} of {self._n_bytes} bytes: the file was cut short."
                )
            start, left = start + n_read, left[n_read:]


@contextmanager
def _writing(folder: Any, n_bytes: int) -> Iterator[None]:
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
        f"a row; name another with folder=, raise memory_limit=, or use assume_grouped=True, which writes no file. "
        f"Got {error.strerror or error} after {n_bytes} bytes.",
    )
