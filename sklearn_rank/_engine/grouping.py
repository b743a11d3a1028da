"""Group rows by query, queries in order of first appearance.

Runs of equal ids are processed as units, so grouped input costs one comparison per row. Other ids are numbered by
hashing and ordered by a counting sort.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.columns import labels_of, queries_in
from sklearn_rank._engine.ids import (
    MISSING,
    ArrowText,
    arrow_text,
    id_array,
    id_order,
    ids_of,
    is_missing,
    joined_ids,
    refuse_unfit_ids,
)
from sklearn_rank._engine.kernels import grouping as grouping_kernels
from sklearn_rank._engine.kernels import order as order_kernels
from sklearn_rank._utils.arguments import NAMES_OF_LEVELS
from sklearn_rank._utils.blocks import CACHED_ROWS, cut_rows, is_one_block, thread_blocks
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import aligned
from sklearn_rank._utils.threads import effective_n_jobs, map_blocks
from sklearn_rank._utils.typing import Index, MatrixLike

Number = NDArray[np.uint32]
T = TypeVar("T", bound=np.generic)

N_SAMPLED = 2**12
"""Rows that are looked at to tell whether most begin a run, and whether the same objects come again."""

AGAIN = 1 / 512
"""Share of these whose object must come again: as many do of a million objects."""

N_IN_PART = 2**18
"""Rows that are worth a thread."""

MOST_IDS = 2**31
"""Distinct ids that numbers of 32 bits, plus one, are enough for."""

MOST_TEXT = 2**19
"""Bytes of text of the rows that are numbered at a time; of longer ones Python makes it."""


MOST_IN_ONE_LIST = 100
"""Rows without queries that may be meant as one list."""

NUMPY_ROWS = 1000
"""Rows that NumPy takes faster than the kernel, which costs a microsecond to call."""

WIDTHS = (1, 4, 8)
"""Bytes of an entry that the kernel has a loop for."""


class Origin(NamedTuple):
    """Rows of the input that were grouped.

    `first_query` is the number of the first query if each row of the input is a query, as in a matrix. `rows` are the
    numbers of the input rows that were kept of `n_given`, in the order here; None for all, in the order given.
    """

    first_query: int | None = None
    rows: Index | None = None
    n_given: int | None = None


ALL_ROWS = Origin()
"""Rows as they were given."""


@dataclass(eq=False, repr=False)  # not frozen, which takes longer to make
class Grouping:
    """Rows grouped by query, queries in order of first appearance.

    Query q has the rows ``order[indptr[q]:indptr[q + 1]]``, or the rows from ``indptr[q]`` up to ``indptr[q + 1]`` if
    `order` is None, because the rows of each query are adjacent. `n_jobs` is the number of threads that work on the
    rows, counted as in joblib.
    """

    ids: NDArray[Any]
    indptr: Index
    order: Index | None = None
    origin: Origin = ALL_ROWS
    n_jobs: int | None = 1

    @classmethod
    def by_matrix(cls, ids: NDArray[Any], n_documents: int, first_query: int = 0) -> Grouping:
        """Entries of a matrix, whose rows are queries with so many documents each."""
        return cls(ids, np.arange(len(ids) + 1) * n_documents, None, Origin(first_query))

    @classmethod
    def one_row_each(cls, ids: NDArray[Any]) -> Grouping:
        """Queries that have one entry each."""
        return cls.by_matrix(ids, 1)

    @classmethod
    def by_sizes(cls, sizes: ArrayLike, ids: NDArray[Any] | None = None, first_query: int | None = None) -> Grouping:
        """Adjacent rows of queries of these sizes."""
        indptr = np.append(0, np.cumsum(sizes))
        return cls(np.arange(len(indptr) - 1) if ids is None else ids, indptr, None, Origin(first_query))

    @property
    def n_queries(self) -> int:
        """Number of queries."""
        return len(self.indptr) - 1

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.indptr[-1])

    @property
    def sizes(self) -> Index:
        """Number of rows of each query."""
        return self.indptr[1:] - self.indptr[:-1]  # np.diff takes longer

    @cached_property
    def longest(self) -> int:
        """Number of rows of the longest query."""
        return order_kernels.longest(self.indptr)

    @property
    def row_is_query(self) -> bool:
        """Whether each row of the input is a query, as in a matrix."""
        return self.origin.first_query is not None

    @property
    def n_given(self) -> int:
        """Number of rows of the input."""
        if self.row_is_query:
            return self.n_queries
        return self.n_rows if self.origin.n_given is None else self.origin.n_given

    @property
    def first_rows(self) -> Index:
        """First row of each query."""
        starts = self.indptr[:-1]
        return starts if self.order is None else self.order[starts]

    @property
    def query_of_row(self) -> Index:
        """Number of the query of each row."""
        number = np.repeat(np.arange(self.n_queries), self.sizes)
        if self.order is not None:
            number[self.order] = number.copy()
        return number

    @cached_property
    def number_by_id(self) -> Index:
        """Number of the query of each row, with queries in the order of their ids, whatever the order of the rows."""
        rank = np.empty(self.n_queries, dtype=np.int64)
        rank[id_order(self.ids)] = np.arange(self.n_queries)
        return rank[self.query_of_row]

    def input_rows(self, first: int = 0, last: int | None = None) -> Index:
        """Rows of the input of the queries from `first` up to `last`, by query."""
        rows = np.arange(self.indptr[first], self.indptr[-1 if last is None else last])
        rows = rows if self.order is None else self.order[rows]
        return rows if self.origin.rows is None else self.origin.rows[rows]

    def rows_of(self, queries: Index) -> Index:
        """Rows of some queries, by query."""
        rows, _ = concatenate_ranges(self.indptr[queries], self.indptr[queries + 1])
        return rows if self.order is None else self.order[rows]

    def take(self, x: NDArray[T], first: int = 0, last: int | None = None) -> NDArray[T]:
        """Entries of `x` for the rows of the queries from `first` up to `last`, by query."""
        rows = slice(self.indptr[first], self.indptr[-1 if last is None else last])
        return x[rows] if self.order is None else take_rows(x, self.order[rows])

    def reduce(self, x: NDArray[Any], ufunc: np.ufunc = np.add) -> NDArray[Any]:
        """Result of the ufunc over the rows of each query, such as their sum."""
        reduced: NDArray[Any] = ufunc.reduceat(self.take(x), self.indptr[:-1])
        return reduced

    def starts(self, first: int, last: int) -> Index:
        """Where the queries from `first` up to `last` start, and the last one ends, in what `take` returns."""
        return self.indptr[first : last + 1] - self.indptr[first]

    def first_queries(self, n: int) -> Grouping:
        """The first `n` queries, for the rows that `take` returns of them."""
        return Grouping(self.ids[:n], self.indptr[: n + 1], None, self.origin)

    def in_order(self) -> Grouping:
        """The same queries with their rows in order; the origin keeps the rows of the input."""
        rows, order = self.origin.rows, self.order
        rows = rows if order is None else order if rows is None else rows[order]
        return Grouping(self.ids, self.indptr, None, self.origin._replace(rows=rows), self.n_jobs)

    def query_at(self, position: int) -> int:
        """Number of the query that has a position of the rows by query."""
        return int(np.searchsorted(self.indptr, position, side="right")) - 1

    def with_rows(self, rows: Index) -> tuple[Index, Grouping]:
        """Numbers of the queries of some rows; and these rows, grouped."""
        number = self.query_of_row[rows]
        found = group_rows(number, len(number), self.n_jobs)
        return found.ids, replace(found, ids=self.ids[found.ids])

    def first_row(self, invalid: NDArray[np.bool_]) -> int:
        """First invalid row of the input, or its query if a row is a query; RowNotBuilt if it has no row here."""
        if not self.row_is_query:
            rows = self.origin.rows
            return first_row(invalid) if rows is None else int(rows[np.nonzero(invalid)[0]].min())
        if not invalid.any():
            raise RowNotBuilt
        assert self.origin.first_query is not None
        return self.origin.first_query + self.query_at(first_row(invalid))


class RowNotBuilt(Exception):
    """The invalid document has no row that an error could name."""


def first_row(invalid: NDArray[np.bool_]) -> int:
    """First row with an invalid entry."""
    return int(np.argmax(invalid if invalid.ndim == 1 else invalid.any(axis=1)))


def concatenate_ranges(first: Index, last: Index) -> tuple[Index, Index]:
    """All numbers of some ranges, and the number of the range of each."""
    sizes = last - first
    number = np.repeat(np.arange(len(sizes)), sizes)
    return np.arange(len(number)) + (first - np.cumsum(sizes) + sizes)[number], number


def take_rows(x: NDArray[T], rows: Index, out: NDArray[T] | None = None) -> NDArray[T]:
    """Entries of `x` along its first axis for rows that it has, into `out` if there is one."""
    if out is None and len(rows) <= NUMPY_ROWS:
        return x.take(rows, axis=0)
    if x.ndim > 1 or x.dtype.kind not in "fiub" or x.dtype.itemsize not in WIDTHS or not x.flags.c_contiguous:
        return x.take(rows, axis=0) if out is None else x.take(rows, axis=0, out=out, mode="clip")  # makes no copy
    out = np.empty(len(rows), dtype=x.dtype) if out is None else out
    grouping_kernels.take_rows(x, x.dtype.itemsize, rows, out)
    return out


def find_qid(y: MatrixLike, qid: ArrayLike | None = None, *, name: str = "y_true") -> Any:
    """Query of each row: `qid` if given, else the level "qid" of y's index; never silently one query."""
    if qid is not None:
        refuse_other_queries(y, qid, name=name)
        return qid
    level = queries_in(y)
    if level is None:
        other = _level_of_queries(labels_of(y))
        rename = (
            "" if other is None else f" Rename its level {other!r}: {name}.rename_axis(index={{{other!r}: 'qid'}})."
        )
        # A number has no rows, and a sparse matrix no length.
        n_rows = getattr(y, "shape", (len(y),) if isinstance(y, Sized) else ())[:1]
        is_short = other is None and name == "y_true" and () < n_rows <= (MOST_IN_ONE_LIST,)
        one_list = " If all rows are one query, add a pair of brackets: [y_true], [y_score]." * is_short
        raise ValueError(
            "Ranking metrics are computed query by query, so the query of each row must be known: pass qid=, or give "
            f"{name} as a pandas Series whose index has a level named 'qid'. Got neither.{rename or one_list}"
        )
    return level


def _level_of_queries(index: Any) -> Any:
    """Name of the level of an index that may name queries: a known name, or else a level with repeated values."""
    names = [name for name in getattr(index, "names", ()) if name is not None]
    known = [name for name in names if name in NAMES_OF_LEVELS]
    repeated = [name for name in names if not known and not index.get_level_values(name).is_unique]
    return next(iter([*known, *repeated]), None)


def refuse_other_queries(x: Any, qid: ArrayLike, *, name: str) -> None:
    """Refuse a level "qid" of the index of x that groups rows in another way than `qid`, or has its ids elsewhere."""
    level = queries_in(x)
    if level is None or level is qid or (type(qid) is np.ndarray and _is_same_array(np.asarray(level), qid)):
        return
    of_level, of_qid = (number_of_rows(ids, len(level)) for ids in (level, qid))
    if np.array_equal(of_level, of_qid):
        first = np.flatnonzero(np.diff(np.maximum.accumulate(of_qid), prepend=-1))
        known, numbers = number_together([ids_of(level)[first], ids_of(qid)[first]])
        if len(known) == len(first):  # else one has other names for the queries
            of_level, of_qid = (of_query[of_qid] for of_query in numbers)
    if not np.array_equal(of_level, of_qid):
        raise ValueError(
            f"qid and the level 'qid' of the index of {name} must name the same queries; drop one of them, such as "
            f"with {name}.to_numpy(). Got other queries from row {int(np.argmax(of_level != of_qid))} on."
        )


def refuse_queries_elsewhere(qid: Any, **given: Any) -> None:
    """Refuse an index of arguments with an entry for each of `qid` that has these ids elsewhere."""
    for name, x in given.items():
        if hasattr(qid, "__len__") and queries_in(x) is not None and len(x) == len(qid):
            refuse_other_queries(x, qid, name=name)


def _is_same_array(a: NDArray[Any], b: NDArray[Any]) -> bool:
    """Whether two arrays hold equal ids of one type: much faster than grouping the rows by each of them."""
    try:
        return a.dtype == b.dtype and np.array_equal(a, b)
    except (TypeError, ValueError):  # objects that do not compare, such as missing values of pandas
        return False


def group_rows(qid: ArrayLike, n_rows: int, n_jobs: int | None = None) -> Grouping:
    """Group rows by query, queries in order of first appearance."""
    ids, starts, number, first = _numbered_runs(qid, n_rows, n_jobs)
    if number is None:
        return Grouping(ids, np.arange(n_rows + 1) if starts is None else starts, n_jobs=n_jobs)
    if _rises(number, np.less_equal):
        return Grouping(ids, np.append(first if starts is None else starts[first], n_rows), n_jobs=n_jobs)
    return Grouping(ids, *sort_by_number(number, len(ids), starts, n_rows, n_jobs), n_jobs=n_jobs)


def group_numbers(number: NDArray[Any], n_queries: int, n_jobs: int | None = None) -> Grouping:
    """Group rows by the number of the query of each; a query may have no row."""
    ids = np.arange(n_queries)
    if _rises(number, np.less_equal):
        return Grouping(ids, np.searchsorted(number, np.arange(n_queries + 1, dtype=number.dtype)))
    return Grouping(ids, *sort_by_number(number.astype(np.uint32, copy=False), n_queries, None, len(number), n_jobs))


def distinct_ids(qid: ArrayLike, n_rows: int, n_jobs: int | None = None) -> tuple[NDArray[Any], Number]:
    """Distinct ids in order of first appearance, and the number of each row's query."""
    ids, starts, number, _ = _numbered_runs(qid, n_rows, n_jobs)
    number = np.arange(len(ids), dtype=np.uint32) if number is None else number
    return ids, number if starts is None else np.repeat(number, np.diff(starts))


def number_of_rows(qid: ArrayLike, n_rows: int) -> Index:
    """Number of each row's query, in order of first appearance."""
    return distinct_ids(qid, n_rows)[1].astype(np.int64)


def number_together(ids: list[NDArray[Any]]) -> tuple[NDArray[Any], list[Index]]:
    """Distinct ids of several lists in order of first appearance, and the number of each id of each list."""
    together = joined_ids(ids)
    known, number = distinct_ids(together, len(together))
    return known, np.split(number.astype(np.int64), np.cumsum([len(one) for one in ids])[:-1])


def query_numbers(qid: ArrayLike, n_rows: int) -> Index:
    """Number of each row's query, in the order of the ids, whatever their type and the order of the rows."""
    ids, number = distinct_ids(qid, n_rows)
    rank = np.empty(len(ids), dtype=np.int64)
    rank[id_order(ids)] = np.arange(len(ids))
    return rank[number]


def _numbered_runs(qid: ArrayLike, n_rows: int, n_jobs: int | None) -> tuple[NDArray[Any], Any, Number | None, Any]:
    """The same as `_runs_of_ids`; the error of a missing id names its row."""
    try:
        return _runs_of_ids(qid, n_rows, n_jobs)
    except ValueError as error:
        ids: Any = qid if str(error) == MISSING else ()
        row = next((i for i, one in enumerate(ids) if is_missing(one)), None)
        if row is None:
            raise
    raise ValueError(f"{MISSING} The first is in row {row}.")


def _runs_of_ids(qid: ArrayLike, n_rows: int, n_jobs: int | None) -> tuple[NDArray[Any], Any, Number | None, Any]:
    """Distinct ids, starts of runs of rows, number of the query of each run, and first run of each query."""
    # Starts are None if each row is a run. Numbers are None if each run is a query, which rising ids show.
    number: Number | None = None
    first: Index | None = None
    text = None if isinstance(qid, (np.ndarray, list)) else arrow_text(qid, n_rows)
    if text is not None:
        number, first = _number_in_parts(text, n_jobs)
        refuse_unfit_ids(distinct := text[first].ids())
        return distinct, None, number, first
    ids, to_qid = id_array(qid)
    _check_shape(ids, n_rows)
    try:
        starts, heads, rises = _runs(ids, n_jobs)
        if not rises:
            number, first = _number_in_parts(heads, n_jobs)
        # A result keeps the ids, and the caller may write to an array that names each row another query.
        heads = heads.copy() if starts is None and first is None else heads
        refuse_unfit_ids(distinct := to_qid(heads if first is None else heads[first]))
    except TypeError as error:
        raise ValueError(f"Query ids must be hashable, and qid must not contain missing values. Got {error}.") from None
    return distinct, starts, number, first


def _check_shape(ids: NDArray[Any], n_rows: int) -> None:
    if ids.ndim != 1:
        hint = " If all rows are of one query, repeat its id: [qid] * n_rows." if ids.ndim == 0 else ""
        raise ValueError(f"qid must be one-dimensional, the query of each row. Got shape {ids.shape} instead.{hint}")
    if len(ids) == n_rows:
        return
    message = f"qid must name the query of each row, so it needs {n_rows} entries. Got {len(ids)} instead."
    if ids.dtype.kind in "iu" and ids.sum() == n_rows:
        message += " Its sum is the number of rows: for group sizes use qid=qid_from_group_sizes(sizes)."
    elif len(ids) < n_rows:
        message += " With one id per group, repeat each id as often as its group has rows: np.repeat(ids, sizes)."
    raise ValueError(message)


# --- runs ----------------------------------------------------------------------------------------------------


def _runs(ids: NDArray[Any], n_jobs: int | None) -> tuple[Index | None, NDArray[Any], bool]:
    """Starts of runs of equal ids, and the end of the last one; their ids; and whether these are known to rise."""
    # A run may be cut in two. If most runs seem to have one row, the starts are None, and the ids have an entry for
    # each row.
    kind, n_rows = ids.dtype.kind, len(ids)
    if kind == "O":  # an object at the address of the one before need not be looked at again
        starts, _, _ = _runs(_addresses(ids), n_jobs)
        return starts, ids if starts is None else ids[starts[:-1]], False
    sampled = np.arange(1, n_rows, n_rows // N_SAMPLED + 1)
    if n_rows > 4 * N_SAMPLED and np.mean(ids[sampled] != ids[sampled - 1]) > 0.5:
        return None, ids, kind in "iu" and _rises(ids, np.less)
    if kind not in "biufcmMSU" or ids.dtype.itemsize == 0:
        starts = np.append(np.flatnonzero(np.append(n_rows > 0, ids[1:] != ids[:-1])), n_rows)
        return starts, ids[starts[:-1]], False
    ids = aligned(np.ascontiguousarray(ids))
    width = ids.dtype.itemsize
    is_number = kind in "iu" and ids.dtype.isnative
    words, sign = ids.view(np.int64) if kind in "mM" else ids, 1 << (8 * width - 1) if kind == "i" else 0

    def find(start: int, stop: int) -> tuple[Index, NDArray[Any], bool]:
        starts, heads = np.empty(stop - start + 1, dtype=np.int64), np.empty(stop - start, dtype=words.dtype)
        n, falls = grouping_kernels.find_starts(words, width, sign, start, stop, starts, heads)
        starts.resize(n, refcheck=False)
        heads.resize(n - (stop == n_rows), refcheck=False)
        return starts, heads.view(ids.dtype), falls

    starts, heads, falls = zip(*map_blocks(find, thread_blocks(n_rows, n_jobs), n_jobs), strict=True)
    return together(starts, n_jobs), together(heads, n_jobs), is_number and not any(falls)


def together(parts: Sequence[NDArray[T]], n_jobs: int | None) -> NDArray[T]:
    """Arrays of blocks as one; a copy if there are several, made on several threads if they are large."""
    if len(parts) == 1:
        return parts[0]
    edges = np.cumsum([0, *map(len, parts)]).tolist()
    if is_one_block(edges[-1]):
        return np.concatenate(parts)
    out = np.empty(edges[-1], dtype=parts[0].dtype)

    def copy(part: NDArray[T], start: int, stop: int) -> None:
        out[start:stop] = part

    map_blocks(copy, list(zip(parts, edges[:-1], edges[1:], strict=True)), n_jobs)
    return out


def _rises(x: NDArray[Any], compare: np.ufunc) -> bool:
    """Result of comparing each entry with the next one."""
    return all(compare(x[a:b], x[a + 1 : b + 1]).all() for a, b in thread_blocks(len(x) - 1))


def _addresses(objects: NDArray[Any]) -> Index:
    return np.frombuffer(np.ascontiguousarray(objects), dtype=np.intp).astype(np.int64, copy=False)


# --- numbers -------------------------------------------------------------------------------------------------


def _parts(n_rows: int, n_jobs: int | None) -> list[tuple[int, int]]:
    """Cut rows into one large part per thread."""
    n_parts = max(min(effective_n_jobs(n_jobs), n_rows // N_IN_PART), 1) if n_rows > N_IN_PART else 1
    return [(n_rows * i // n_parts, n_rows * (i + 1) // n_parts) for i in range(n_parts)]


def _number_in_parts(ids: NDArray[Any] | ArrowText, n_jobs: int | None) -> tuple[Number, Index]:
    """As `_number`, in parts: each part is numbered by itself, then the distinct values of all parts are."""
    blocks = _parts(len(ids), n_jobs)
    if len(blocks) == 1:
        return _number(ids)
    numbers, firsts = zip(*map_blocks(lambda a, b: _number(ids[a:b]), blocks, n_jobs), strict=True)
    heads = np.concatenate([first + a for first, (a, _) in zip(firsts, blocks, strict=True)])
    of_head, first = _number(ids[heads])
    begin = np.append(0, np.cumsum([len(first) for first in firsts]))
    number = np.empty(len(ids), dtype=np.uint32)

    def renumber(i: int, _: int) -> None:
        number[slice(*blocks[i])] = of_head[begin[i] : begin[i + 1]].take(numbers[i])

    map_blocks(renumber, [(i, i + 1) for i in range(len(blocks))], n_jobs)
    return number, heads[first]


def sort_by_number(
    number: Number, n_numbers: int, starts: Index | None, n_rows: int, n_jobs: int | None
) -> tuple[Index, Index]:
    """Counting sort of rows, or of runs of rows from `starts` on: where each number starts, and the rows in order."""
    blocks = _parts(len(number), n_jobs) if starts is None and 8 * n_numbers < n_rows else [(0, len(number))]
    at, order = np.zeros((len(blocks), n_numbers), dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    parts = [(i, i + 1) for i in range(len(blocks))]
    map_blocks(lambda i, _: grouping_kernels.count_rows(number[slice(*blocks[i])], starts, at[i]), parts, n_jobs)
    indptr = np.zeros(n_numbers + 1, dtype=np.int64)
    at.sum(axis=0).cumsum(out=indptr[1:])
    at = indptr[:-1] + at.cumsum(axis=0) - at  # from counts to where the rows of each part go
    map_blocks(
        lambda i, _: grouping_kernels.place_rows(number[slice(*blocks[i])], starts, blocks[i][0], at[i], order),
        parts,
        n_jobs,
    )
    return indptr, order


def _number(ids: NDArray[Any] | ArrowText) -> tuple[Number, Index]:
    """Number the distinct values in order of first appearance: number of each entry, first entry of each number."""
    if isinstance(ids, ArrowText):
        return _number_keys(len(ids), lambda a, b: hashed(*ids.pieces(a, b)))
    kind, width, n_rows = ids.dtype.kind, ids.dtype.itemsize, len(ids)
    if kind in "iu" and n_rows > 1:
        lowest, highest = int(ids.min()), int(ids.max())
        if highest - lowest < min(n_rows, MOST_IDS) and highest < 2**63:
            return _number_near(ids, lowest, highest - lowest + 1)
    if kind in "biumM":
        return _number_keys(n_rows, lambda a, b: Keys(ids[a:b].astype(np.int64)))
    if kind == "f" and width <= 8:
        # Adding 0.0 makes 0.0 of -0.0, which is the same id.
        return _number_keys(n_rows, lambda a, b: Keys((ids[a:b].astype(np.float64) + 0.0).view(np.int64)))
    if kind in "SU":
        words = _narrowed(ids) if kind == "U" else ids
        ends = words.dtype.itemsize * np.arange(1, CACHED_ROWS + 1)
        return _number_keys(n_rows, lambda a, b: hashed(words[a:b].copy().view(np.uint8), ends[: b - a]))
    return _number_objects(ids.astype(object, copy=False))


def _narrowed(strings: NDArray[Any]) -> NDArray[Any]:
    """The strings with one byte a character, if that is enough for all."""
    points = np.ascontiguousarray(strings).view(np.dtype(np.uint32).newbyteorder(strings.dtype.byteorder))
    width = strings.dtype.itemsize // 4
    return points.astype(np.uint8).view(f"S{width}") if points.max(initial=0) < 256 else strings


def _number_near(ids: NDArray[Any], lowest: int, n_slots: int) -> tuple[Number, Index]:
    """As `_number`, of whole numbers that are no more than rows, through a table of all of them, without hashing."""
    number, first, n = np.empty(len(ids), dtype=np.uint32), np.empty(n_slots, dtype=np.int64), 0
    table = np.zeros(n_slots, dtype=np.uint32)
    for begin, end in cut_rows(len(ids), CACHED_ROWS):
        key = ids[begin:end].astype(np.int64)
        n = grouping_kernels.number_near_keys(key, lowest, begin, table, n, number, first)
        if n < 0:
            raise ValueError(
                "qid must not change while it is read: pass a copy if another thread writes to it. "
                f"Got other ids than a moment ago, from row {begin} on."
            )
    return number, first[:n].copy()


def _number_objects(ids: NDArray[Any]) -> tuple[Number, Index]:
    """Number objects that differ as keys of a dict: by address first, if some come again, then by equality."""
    address = _addresses(ids)
    if not _come_again(address):
        return _number_values(ids)
    number, first = _number_keys(len(ids), lambda a, b: Keys(address[a:b]))
    of_object, first_object = _number_values(ids[first])
    if len(first_object) < len(first):
        for a, b in thread_blocks(len(ids)):
            number[a:b] = of_object[number[a:b]]
        first = first[first_object]
    return number, first


def _come_again(address: Index) -> bool:
    """Whether the same objects are in several rows: many of them, or a few in most rows."""
    sampled = address[:: max(len(address) // N_SAMPLED, 1)]
    n_rows = np.unique(sampled, return_counts=True)[1]
    return bool(2 * len(n_rows) < len(sampled) or np.count_nonzero(n_rows > 1) >= AGAIN * len(sampled))


def _number_values(ids: NDArray[Any]) -> tuple[Number, Index]:
    """Number objects by their text if all are str, else by a dict."""
    text, ends = np.empty(MOST_TEXT, dtype=np.uint8), np.empty(min(len(ids), CACHED_ROWS), dtype=np.int64)

    def keys(a: int, b: int) -> Keys:
        # Its references keep the strings while they are read; the caller may write to the ids.
        own, end = ids[a:b].copy(), ends[: b - a]
        return hashed(text, end) if grouping_kernels.copy_strings(own, text, end) else joined(own.tolist())

    try:
        return _number_keys(len(ids), keys)
    except _NotTextError:
        entry: defaultdict[Any, int] = defaultdict(count().__next__)
        look_up = entry.__getitem__
        return _number_keys(len(ids), lambda a, b: Keys(np.fromiter(map(look_up, ids[a:b].tolist()), np.int64, b - a)))


class Keys(NamedTuple):
    """Keys of the rows; or a text with one piece per row, its end per row, and hashes of the pieces as keys."""

    key: Index
    text: NDArray[np.uint8] | None = None
    end: Index | None = None


def hashed(text: NDArray[np.uint8], end: Index) -> Keys:
    """Keys of the pieces of a text."""
    grouping_kernels.hash_pieces(text, end, key := np.empty(len(end), dtype=np.int64))
    return Keys(key, text, end)


def joined(strings: list[Any]) -> Keys:
    """One text of all strings, each with a NUL at its end; _NotTextError if one is no str, or has a NUL of its own."""
    try:
        text = "\0".join(strings) + "\0"
    except TypeError:
        raise _NotTextError from None
    encoded = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    end = np.flatnonzero(encoded == 0) + 1
    if len(end) != len(strings):
        raise _NotTextError
    return hashed(encoded, end)


class _NotTextError(Exception):
    """The objects cannot be told apart by text."""


def _number_keys(n_rows: int, keys: Callable[[int, int], Keys]) -> tuple[Number, Index]:
    """Number keys, given rows by rows."""
    number, distinct = np.empty(n_rows, dtype=np.uint32), Distinct()
    for begin, end in cut_rows(n_rows, CACHED_ROWS):
        distinct.number(keys(begin, end), begin, number)
    return number, distinct.first[: distinct.n]


class Distinct:
    """The `n` distinct keys so far, and the row where each appeared `first`."""

    def __init__(self) -> None:
        self.n = 0
        self._key_of, self.first, self._kept_end = np.empty((3, 256), dtype=np.int64)
        self._table, self._kept = np.zeros(4 * len(self.first), dtype=np.uint32), np.empty(4096, dtype=np.uint8)

    def number(self, rows: Keys, begin: int, number: Number) -> None:
        """Write the number of each key to `number`, from the row `begin` on."""
        n_done = 0
        while True:
            n_done, self.n = grouping_kernels.number_keys(
                *rows, n_done, begin, self._table, self.n, number, self._key_of, self.first, self._kept, self._kept_end
            )
            if n_done == len(rows.key):
                return
            if self.n < len(self.first):
                self._kept = _doubled(self._kept)
                continue
            if 2 * self.n > MOST_IDS:
                raise ValueError(
                    f"Rows can be of {MOST_IDS} queries at most, unless they are sorted by a qid of whole numbers. Got "
                    f"more after {begin + n_done} rows. Sort them, or evaluate whole queries in parts."
                )
            self._table = np.zeros(2 * len(self._table), dtype=np.uint32)
            grouping_kernels.fill_table(self._key_of, self._table)
            self._key_of, self.first = _doubled(self._key_of), _doubled(self.first)
            self._kept_end = _doubled(self._kept_end)


def _doubled(x: NDArray[T]) -> NDArray[T]:
    return np.concatenate([x, np.empty_like(x)])
