"""Arrays of query ids from any container: entries are equal where the ids are."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray

from sklearn_rank._engine.columns import one_column
from sklearn_rank._utils.containers import as_numpy, is_tensor
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Index

EXACT_BELOW = {"bfloat16": 2**8, "float16": 2**11, "float32": 2**24, "float64": 2**53, "float": 2**53}
"""Types of floats are exact up to these whole numbers."""

COMPLETE = {str, bytes, int, bool}
"""Types of ids that cannot be missing, because they have no NaN."""

ASCII_BLANKS = " \t\n\r\v\f\x1c\x1d\x1e\x1f"
"""ASCII that `str.strip` removes."""

MISSING = "Every row needs a query, so qid must not contain missing values. Got None or NaN."


def id_array(qid: Any, missing: str = MISSING) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
    """Array whose entries are equal where the ids are, and a function from entries to ids."""
    # An id that is missing is refused with the text `missing`, if it is seen here.
    if type(qid) is np.ndarray and qid.ndim == 1 and qid.dtype.kind not in "fV":
        return qid, as_they_are
    if isinstance(qid, (list, tuple)):
        return _of_list(qid)
    if str(getattr(qid, "dtype", "")).endswith("bfloat16"):
        # NumPy has no such type, and gets a wider one.
        refuse_rounded_ids(np.asarray(as_numpy(qid)), "bfloat16")
    qid = one_column(as_numpy(qid))
    if isinstance(qid, MaskedArray) and np.ma.is_masked(qid):
        raise ValueError(missing)
    dtype = getattr(qid, "dtype", None)
    if dtype is None and isinstance(qid, Sequence) and not isinstance(qid, (str, bytes)):
        return _of_list(qid)
    if isinstance(dtype, np.dtype) or getattr(dtype, "storage", None) == "python":
        return np.asarray(qid), as_they_are
    array = getattr(qid, "array", qid)  # what a Series or an Index of pandas holds
    if hasattr(array, "categories") and hasattr(array, "codes"):  # a Categorical of pandas
        code, names = array.codes, array.categories
    elif hasattr(array, "factorize"):  # it is no array of NumPy
        code, names = array.factorize()
    elif str(dtype).startswith(("Categorical", "Enum")) and hasattr(qid, "to_physical"):  # a Series of polars
        return _of_polars_categories(qid, missing)
    elif str(dtype) == "String" and hasattr(qid, "replace_strict"):  # a Series of polars, without pyarrow
        distinct = qid.unique(maintain_order=True)
        code, names = np.asarray(qid.replace_strict(distinct, np.arange(len(distinct)))), np.asarray(distinct)
        names = ids_of(distinct.to_list()) if names.dtype.kind == "U" else names  # NumPy drops a NUL at the end
    else:
        return np.asarray(qid), as_they_are
    names = np.asarray(names)
    if code.min(initial=0) < 0:
        raise ValueError(missing)
    return code, lambda distinct: names[distinct]


def ids_of(qid: Any, missing: str = MISSING) -> NDArray[Any]:
    """The ids themselves, as an array."""
    array, to_qid = id_array(qid, missing)
    return to_qid(array)


def joined_ids(parts: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays of ids; as objects where NumPy would convert some."""
    if len({part.dtype.kind for part in parts}) > 1:
        parts = [part.astype(object) for part in parts]
    return np.concatenate(parts)


def refuse_missing_ids(ids: NDArray[Any], missing: str = MISSING) -> None:
    """Refuse missing ids with the text `missing`."""
    kind = ids.dtype.kind
    if kind in "iubSU":
        return
    if kind in "fcmM":
        lacks = bool((ids != ids).any())
    else:
        entries = ids.tolist()
        lacks = may_be_missing({*map(type, entries)}) and any(map(is_missing, entries))
    if lacks:
        raise ValueError(missing)


def refuse_rounded_ids(ids: NDArray[Any], dtype: str = "") -> None:
    """Refuse floats so large that their type does not tell whole numbers apart; `dtype` is theirs, if known."""
    # Two ids may have become one before they get here.
    if ids.dtype.kind == "f":
        exact, largest = EXACT_BELOW.get(dtype or ids.dtype.name), np.nanmax(np.abs(ids), initial=0)
    elif ids.dtype == object:
        floats = [*_floats_in(ids.tolist())]
        largest = max(floats, key=lambda x: abs(x) / EXACT_BELOW.get(type(x).__name__, np.inf), default=0)
        dtype = type(largest).__name__
        exact, largest = EXACT_BELOW.get(dtype), abs(largest)
    else:
        return
    if exact is not None and largest >= exact:
        name = "float64" if dtype == "float" else dtype or ids.dtype.name
        raise ValueError(
            f"Ids must stay different, and {name} tells whole numbers apart up to {exact}, so keep ids as integers or "
            f"strings. Got {largest:.0f}."
        )


def _floats_in(ids: Iterable[Any]) -> Iterator[Any]:
    """Floats among ids, and among the parts of ids that are tuples."""
    for one in ids:
        if isinstance(one, (float, np.floating)):
            yield one
        elif isinstance(one, tuple):
            yield from _floats_in(one)


def refuse_unfit_ids(ids: NDArray[Any], missing: str = MISSING) -> None:
    """Refuse ids that are missing, with the text `missing`, that may be others than they were, or in two spellings."""
    if ids.dtype == object:
        entries = ids.tolist()
        types = {*map(type, entries)}
        if not types <= COMPLETE:
            refuse_missing_ids(ids, missing)
            refuse_rounded_ids(ids)
        refuse_two_spellings(entries, types=types)
        return
    refuse_missing_ids(ids, missing)
    refuse_rounded_ids(ids)
    if ids.dtype.kind in "ST" or (ids.dtype.kind == "U" and _array_may_have_blanks(ids)):
        refuse_two_spellings(ids.tolist())


class SpellingError(ValueError):
    """Ids are blank, or one id has two spellings."""


def refuse_two_spellings(*lists: Collection[Any], types: Iterable[type] | None = None) -> None:
    """Refuse texts that are blank, that differ only by blanks around them, or that are one of the numbers as text."""
    # Entries of all lists are compared with each other, and those of `types`, if known, need not be looked at again.
    types = {*map(type, chain.from_iterable(lists))} if types is None else {*types}
    for kind in (str, bytes):
        of_kind = [one for one in types if issubclass(one, kind)]
        is_pure = len(of_kind) == len(types)
        if not of_kind or (is_pure and kind is str and not any(map(may_have_blanks, lists))):
            continue
        texts = dict[Any, Any]()
        for one in chain.from_iterable(lists):
            if is_pure or isinstance(one, kind):
                text = one.strip()
                if not text:
                    raise SpellingError(
                        "Ids must not be blank, because blank ones match each other: remove these rows, or give each "
                        f"an id of its own. Got {echo(one)}."
                    )
                if (other := texts.setdefault(text, one)) != one:
                    raise SpellingError(
                        "An id must have one spelling, and these differ only by blanks: id.strip() removes them. "
                        f"Got {echo(other)} and {echo(one)}."
                    )
        if kind is bytes or not any(issubclass(one, Real) and one is not bool for one in types):
            continue
        for one in chain.from_iterable(lists):
            if isinstance(one, Real) and type(one) is not bool:
                is_whole = isinstance(one, (float, np.floating)) and one.is_integer()
                if (other := texts.get(str(one), texts.get(f"{one:.0f}") if is_whole else None)) is not None:
                    raise SpellingError(
                        "Ids must be of one type, or a number and its text are two ids: str(id) makes strings of all. "
                        f"Got {echo(one)} and {echo(other)}."
                    )


def may_have_blanks(texts: Collection[str]) -> bool:
    """Whether a text is empty or has a blank anywhere; TypeError if one is no text."""
    together = "\0".join(texts)
    if not together or "\0\0" in together or "\0" in (together[0], together[-1]):
        return len(texts) > 0
    if together.isascii():
        return any(blank in together for blank in ASCII_BLANKS)
    return len(f"\0{together}\0".split(None, 1)) > 1


def _array_may_have_blanks(strings: NDArray[Any]) -> bool:
    """As `may_have_blanks`, of an array of strings, which may have others than ASCII if it is True."""
    points = np.ascontiguousarray(strings, strings.dtype.newbyteorder("=")).view(np.uint32).reshape(len(strings), -1)
    low, high = points[:, 0].min(initial=1), points.max(initial=1)
    return bool(low == 0 or high > ord("~") or (points - np.uint32(1) < ord(" ")).any())


def is_missing(one: Any) -> bool:
    """Whether an id is None, masked or not equal to itself (NaN, NaT, pandas.NA), or has such a part."""
    if isinstance(one, (tuple, frozenset)):
        return any(map(is_missing, one))
    if one is None or one is np.ma.masked or type(one).__name__ == "NAType":
        return True
    try:
        return bool(one != one)
    # What does not compare with itself, such as an array, is refused elsewhere.
    except (ArithmeticError, TypeError, ValueError):
        return False


def may_be_missing(kinds: Iterable[type]) -> bool:
    """Whether an id of one of these types can be missing."""
    return not all(kind in COMPLETE or issubclass(kind, (str, bytes, int, np.integer)) for kind in kinds)


def _of_list(qid: Sequence[Any]) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
    """Array of entries of one plain type if NumPy keeps them as they are; else an array of objects."""
    types = set(map(type, qid))
    if any(map(is_tensor, types)):
        qid = as_numpy(qid)
        types = set(map(type, qid))
    if all(issubclass(t, str) for t in types):
        return _objects(qid), as_text
    if len(types) > 1 or not _is_plain(*types) or (types == {bytes} and b"\0" in b"".join(qid)):
        return _objects(qid), as_they_are
    array = np.asarray(qid)
    lost = types == {int} and array.dtype.kind == "f"  # ints below 0 together with some from 2**63 on
    return _objects(qid) if lost else array, as_they_are


def _of_polars_categories(qid: Any, missing: str) -> tuple[NDArray[Any], Callable[[NDArray[Any]], NDArray[Any]]]:
    if qid.null_count():
        raise ValueError(missing)
    code, distinct = qid.to_physical().to_numpy(), qid.unique(maintain_order=True)
    names, known = _objects(distinct.to_list()), distinct.to_physical().to_numpy()
    position = np.empty(int(known.max(initial=0)) + 1, dtype=np.int64)
    position[known] = np.arange(len(known))
    return code, lambda entries: names[position[entries]]


def _is_plain(kind: type) -> bool:
    """Whether NumPy has a type of its own for values of this one."""
    return kind in (int, float, bool, bytes) or (issubclass(kind, np.generic) and not issubclass(kind, bytes))


def _objects(qid: Sequence[Any]) -> NDArray[Any]:
    return np.fromiter(qid, dtype=object, count=len(qid))  # an array would stack tuples, and turn 1 beside "1" into "1"


def as_they_are(distinct: NDArray[Any]) -> NDArray[Any]:
    """The ids, which are the entries."""
    return distinct


def as_text(distinct: NDArray[Any]) -> NDArray[Any]:
    """Array of strings; of objects if one has a NUL, which NumPy drops at the end."""
    strings = distinct.tolist()
    return distinct if "\0" in "".join(strings) else np.asarray([*map(str.__str__, strings)])  # also of an Enum of str


# --- text in the memory of Arrow, which is read there ---------------------------------------------------------

TEXT = ("string", "large_string", "string_view", "String", "str", "string[pyarrow]", "large_string[pyarrow]")
"""Names of types of text."""


def arrow_text(x: Any, n_rows: int) -> ArrowText | None:
    """Text of so many rows in the memory of Arrow, none missing; None for anything else, and without pyarrow."""
    x = one_column(x)
    dtype = getattr(x, "dtype", getattr(x, "type", None))
    if isinstance(dtype, np.dtype) or getattr(dtype, "storage", None) == "python" or str(dtype) not in TEXT:
        return None
    try:
        import pyarrow
    except ImportError:
        return None
    of_polars = hasattr(x, "to_arrow")
    array = x.to_arrow() if of_polars else getattr(x, "array", x)  # what a Series or an Index of pandas holds
    array = array if isinstance(array, pyarrow.ChunkedArray) else pyarrow.array(array)
    array = array.cast(pyarrow.large_string())
    array = array.combine_chunks() if isinstance(array, pyarrow.ChunkedArray) else array
    if not len(array) == n_rows > 0:
        return None
    if array.null_count:
        raise ValueError(MISSING)
    return ArrowText(array, as_text if of_polars else as_they_are)


class ArrowText:
    """Strings one after the other in one `text`: row i has the bytes from `edges[i]` up to `edges[i + 1]`.

    Objects go through `to_qid`, so that ids have the type that NumPy gives to their container.
    """

    def __init__(self, array: Any, to_qid: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
        self.array, self.to_qid = array, to_qid
        _, edges, text = array.buffers()
        self.edges: Index = np.frombuffer(edges, dtype=np.int64, count=len(array) + 1, offset=8 * array.offset)
        is_empty = text is None or text.size == 0
        self.text = np.empty(0, dtype=np.uint8) if is_empty else np.frombuffer(text, dtype=np.uint8)

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, rows: slice | Index) -> ArrowText:
        return ArrowText(self.array[rows] if isinstance(rows, slice) else self.array.take(rows), self.to_qid)

    def pieces(self, begin: int, end: int) -> tuple[NDArray[np.uint8], Index]:
        """Text of some rows, and where in it each of them ends."""
        start = self.edges[begin]
        return self.text[start : self.edges[end]], self.edges[begin + 1 : end + 1] - start

    def ids(self) -> NDArray[Any]:
        """The strings as ids."""
        return self.to_qid(np.asarray(self.array, dtype=object))


# --- the order of ids -----------------------------------------------------------------------------------------


def id_order(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Positions of distinct ids in their order: numbers before text, each sorted; other ids by type, then by repr."""
    # It depends neither on the container nor on the order of the rows, so that draws are a function of ids and seed.
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    values = ids.tolist()
    if not all(type(value) is str for value in values):  # mere text sorts much faster without keys
        values = [_key(value) for value in values]
    try:
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)
    except TypeError:  # dates of one type that do not compare, say
        values = [_key(value, by_repr=True) for value in ids.tolist()]
        return np.array(sorted(range(len(values)), key=values.__getitem__), dtype=np.int64)


def _key(value: Any, by_repr: bool = False) -> Any:
    """Key that sorts an id among ids of any types; equal for equal ids."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Real):
        return "", value
    if isinstance(value, (str, bytes)):
        return "str" if isinstance(value, str) else "bytes", value
    if isinstance(value, tuple):
        return "tuple", tuple(_key(part, by_repr) for part in value)
    if isinstance(value, frozenset):
        return "frozenset", tuple(sorted(_key(part, by_repr) for part in value))
    if isinstance(value, (datetime.date, datetime.timedelta)) and not by_repr:
        return "datetime", value
    if hasattr(value, "left") and hasattr(value, "right") and not by_repr:  # an Interval of pandas.cut
        return type(value).__name__, (value.left, value.right)
    named = type(value).__repr__ is not object.__repr__  # else the repr is an address
    return type(value).__name__, repr(value) if named else ""
