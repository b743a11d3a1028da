"""Order of query ids, which depends neither on their container nor on the order of the rows.

Draws at random number the queries in this order, so that they are a function of the ids and the seed.
"""

from __future__ import annotations

import datetime
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray


def id_order(ids: NDArray[Any]) -> NDArray[np.int64]:
    """Places of distinct ids in their order: numbers before text, each sorted; other ids by type, then by repr."""
    if ids.dtype != object:
        return np.argsort(ids, kind="stable")
    values = ids.tolist()
    if not all(type(value) is str for value in values):  # text alone sorts much faster without keys
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
