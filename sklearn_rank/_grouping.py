"""The query of each row: found, numbered in order of first appearance, and rows grouped by it.

Where most rows are of the query of the row before, runs of rows stand for their rows, so that grouped rows cost one
comparison each and no memory. What is left is numbered by hashing, and put in order by counting; nothing is sorted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from itertools import count
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank import _kernels
from sklearn_rank._threads import for_each, row_blocks

Index = NDArray[np.int64]
Number = NDArray[np.uint32]
T = TypeVar("T", bound=np.generic)

NO_QID = (
    "Ranking metrics are computed query by query, so the query of each row must be known: pass qid=, or give "
    "{y} as a pandas Series whose index has a level named 'qid'. Got neither."
)
MISSING = "Every row needs a query, so qid must not contain missing values. Got None or NaN."
N_SAMPLED = 1024  # pairs of rows that are looked at to tell whether rows are grouped
N_OBJECTS = 2**18  # objects that are told apart by their addresses before it is asked whether that is worth it
N_AT_ONCE = 2**14  # rows whose keys stay in the cache between being made and being numbered


def find_qid(y: Any, qid: Any = None, *, name: str = "y_true") -> Any:
    """Query of each row: `qid` if given, else the level "qid" of y's index; never silently one query."""
    if qid is not None:
        return qid
    index = getattr(y, "index", None)
    if index is not None and "qid" in (getattr(index, "names", None) or ()):
        return index.get_level_values("qid")
    raise ValueError(NO_QID.format(y=name))


def group_rows(qid: Any, n_rows: int, n_jobs: int | None = None) -> tuple[NDArray[Any], Index, Index | None]:
    """Group rows by query, queries in order of first appearance.

    Returns
    -------
    ids : ndarray of shape (n_queries,)
    indptr : ndarray of shape (n_queries + 1,)
        Where each query starts once its rows are adjacent.
    order : ndarray of shape (n_rows,) or None
        Rows in that order; None if they are adjacent already.
    """
    ids, to_qid = _id_array(qid)
    _check_shape(ids, n_rows)
    try:
        starts = _starts(ids, n_jobs)
        heads = ids if starts is None else ids[starts[:-1]]
        if heads.dtype.kind in "iu" and _rises(heads, np.less):
            _refuse_missing(distinct := to_qid(heads))
            return distinct, np.arange(n_rows + 1) if starts is None else starts, None
        number, first = _number(heads)
        distinct = to_qid(heads[first])
        _refuse_missing(distinct)
    except TypeError as error:
        raise ValueError(f"Query ids must be hashable, and qid must not contain missing values. Got {error}.") from None
    if _rises(number, np.less_equal):
        return distinct, np.append(first if starts is None else starts[first], n_rows), None
    indptr, order = np.zeros(len(first) + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    _kernels.group_runs(number, starts, indptr, order)
    return distinct, indptr, order


def number_together(ids: list[NDArray[Any]]) -> tuple[NDArray[Any], list[Index]]:
    """Distinct ids of several lists in order of first appearance, and the number of each id of each list."""
    if len({one.dtype.kind in "US" for one in ids}) > 1:  # NumPy would turn 1 into "1"
        ids = [one.astype(object) for one in ids]
    together = np.concatenate(ids)
    known, indptr, order = group_rows(together, len(together))
    number = np.repeat(np.arange(len(known)), np.diff(indptr))
    if order is not None:
        number[order] = number.copy()
    return known, np.split(number, np.cumsum([len(one) for one in ids])[:-1])


# --- ids as an array -----------------------------------------------------------------------------------------


def _id_array(qid: Any) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
    """Array that is equal where the ids are, and what turns entries of it into ids."""
    if isinstance(qid, (list, tuple)):
        types = set(map(type, qid))
        if not any(issubclass(t, (str, tuple)) for t in types):
            return np.asarray(qid), _as_they_are
        ids = np.empty(len(qid), dtype=object)  # NumPy would stack tuples, and turn 1 beside "1" into "1"
        ids[:] = qid
        all_text = all(issubclass(t, str) for t in types)
        return ids, (lambda distinct: np.asarray(distinct.tolist())) if all_text else _as_they_are
    dtype = getattr(qid, "dtype", None)
    if isinstance(dtype, np.dtype) or getattr(dtype, "storage", None) == "python":
        return np.asarray(qid), _as_they_are
    array = getattr(qid, "array", qid)  # what a Series or an Index of pandas holds
    if hasattr(array, "factorize"):  # it is no array of NumPy, but a Categorical, say
        code, names = array.factorize()
    elif str(dtype) in ("String", "Categorical") and hasattr(qid, "replace_strict"):  # a Series of polars
        names = qid.unique(maintain_order=True)
        code = np.asarray(qid.replace_strict(names, np.arange(len(names))))
    else:
        return np.asarray(qid), _as_they_are
    names = np.asarray(names)
    if code.min(initial=0) < 0:
        raise ValueError(MISSING)
    return code, lambda distinct: names[distinct]


def _as_they_are(distinct: NDArray[Any]) -> NDArray[Any]:
    return distinct


def _check_shape(ids: NDArray[Any], n_rows: int) -> None:
    if ids.ndim != 1:
        raise ValueError(f"qid must be one-dimensional, the query of each row. Got shape {ids.shape} instead.")
    if len(ids) == n_rows:
        return
    message = f"qid must name the query of each row, so it needs {n_rows} entries. Got {len(ids)} instead."
    if ids.dtype.kind in "iu" and ids.sum() == n_rows:
        message += " Its sum is the number of rows: for group sizes use qid=qid_from_group_sizes(sizes)."
    elif len(ids) < n_rows:
        message += " With one id per group, repeat each id as often as its group has rows: np.repeat(ids, sizes)."
    raise ValueError(message)


def _refuse_missing(ids: NDArray[Any]) -> None:
    if ids.dtype.kind in "iub":
        return
    missing = (q is None for q in ids.tolist()) if ids.dtype == object else iter(())
    if any(missing) or (ids.dtype.kind in "fcmMO" and (ids != ids).any()):
        raise ValueError(MISSING)


# --- runs ----------------------------------------------------------------------------------------------------


def _starts(ids: NDArray[Any], n_jobs: int | None) -> Index | None:
    """Where each run of equal ids starts, and the last one ends; None if most rows seem to be runs of their own."""
    if ids.dtype == object:
        starts = _starts(_addresses(ids), n_jobs)
        if starts is not None:
            return starts
    n_rows = len(ids)
    if n_rows > 16 * N_SAMPLED:
        sampled = np.arange(1, n_rows, n_rows // N_SAMPLED)
        if np.mean(ids[sampled] != ids[sampled - 1]) > 0.5:
            return None

    def find(start: int, stop: int) -> Index:
        start = max(start, 1)
        return (ids[start:stop] != ids[start - 1 : stop - 1]).nonzero()[0] + start

    return np.concatenate([[0], *for_each(find, row_blocks(n_rows), n_jobs), [n_rows]])


def _rises(x: NDArray[Any], compare: np.ufunc) -> bool:
    """Whether each entry compares so with the next one."""
    return all(compare(x[a:b], x[a + 1 : b + 1]).all() for a, b in row_blocks(len(x) - 1))


def _addresses(objects: NDArray[Any]) -> Index:
    """Where the objects are: what is at one address is one object, and need not be looked at again."""
    return np.frombuffer(np.ascontiguousarray(objects), dtype=np.intp).astype(np.int64, copy=False)


# --- numbers -------------------------------------------------------------------------------------------------


def _number(ids: NDArray[Any]) -> tuple[Number, Index]:
    """Number the distinct values in order of first appearance: number of each entry, first entry of each number."""
    kind, width, n_rows = ids.dtype.kind, ids.dtype.itemsize, len(ids)
    if kind in "biumM":
        return _number_keys(n_rows, lambda a, b: Keys(ids[a:b].astype(np.int64)))
    if kind == "f" and width <= 8:
        return _number_keys(
            n_rows, lambda a, b: Keys((ids[a:b].astype(np.float64) + 0.0).view(np.int64))
        )  # -0.0 is 0.0
    if kind in "SU":
        return _number_keys(
            n_rows, lambda a, b: hashed(ids[a:b].copy().view(np.uint8), width * np.arange(1, b - a + 1))
        )
    return _number_objects(ids.astype(object, copy=False))


def _number_objects(ids: NDArray[Any]) -> tuple[Number, Index]:
    """Number what Python's dict tells apart: first by address, then the objects that are left by what they are."""
    address = _addresses(ids)
    try:
        number, first = _number_keys(len(ids), lambda a, b: Keys(address[a:b]), most=N_OBJECTS)
    except _TooManyError:
        return _number_values(ids)
    of_object, first_object = _number_values(ids[first])
    if len(first_object) < len(first):
        for a, b in row_blocks(len(ids)):
            number[a:b] = of_object[number[a:b]]
        first = first[first_object]
    return number, first


def _number_values(ids: NDArray[Any]) -> tuple[Number, Index]:
    """Number objects by their text if all are str, else by a dict."""
    try:
        return _number_keys(len(ids), lambda a, b: _joined(ids[a:b].tolist()))
    except _NotTextError:
        entry: defaultdict[Any, int] = defaultdict(count().__next__)
        look_up = entry.__getitem__
        return _number_keys(len(ids), lambda a, b: Keys(np.fromiter(map(look_up, ids[a:b].tolist()), np.int64, b - a)))


class Keys(NamedTuple):
    """A key for each row; or a text of which each row has a piece, up to its end, and hashes of the pieces for keys."""

    key: Index
    text: NDArray[np.uint8] | None = None
    end: Index | None = None


def hashed(text: NDArray[np.uint8], end: Index) -> Keys:
    """Keys of the pieces of a text."""
    _kernels.hash_pieces(text, end, key := np.empty(len(end), dtype=np.int64))
    return Keys(key, text, end)


def _joined(strings: list[Any]) -> Keys:
    """One text of all strings, each with a NUL at its end.

    Raises
    ------
    _NotTextError
        If one is no str, or has a NUL of its own.
    """
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
    """There is no text that tells these objects apart."""


class _TooManyError(Exception):
    """More distinct keys than it is worth to look for."""


def _number_keys(n_rows: int, keys: Callable[[int, int], Keys], most: int | None = None) -> tuple[Number, Index]:
    """Number keys, given rows by rows.

    Raises
    ------
    _TooManyError
        If more than `most` are found, and more than one in two rows.
    """
    number, n_numbers = np.empty(n_rows, dtype=np.uint32), 0
    key_of, first, kept_end = np.empty((3, 256), dtype=np.int64)
    table, kept = np.zeros(4 * len(first), dtype=np.uint32), np.empty(4096, dtype=np.uint8)
    for begin in range(0, n_rows, N_AT_ONCE):
        rows, n_done = keys(begin, min(begin + N_AT_ONCE, n_rows)), 0
        while True:
            n_done, n_numbers = _kernels.number_keys(
                *rows, n_done, begin, table, n_numbers, number, key_of, first, kept, kept_end
            )
            if n_done == len(rows.key):
                break
            if n_numbers < len(first):
                kept = _doubled(kept)
                continue
            if most is not None and n_numbers > most and 2 * n_numbers > begin:
                raise _TooManyError
            table = np.zeros(2 * len(table), dtype=np.uint32)
            _kernels.fill_table(key_of, table)
            key_of, first, kept_end = _doubled(key_of), _doubled(first), _doubled(kept_end)
    return number, first[:n_numbers]


def _doubled(room: NDArray[T]) -> NDArray[T]:
    return np.concatenate([room, np.empty_like(room)])
