"""Real numbers from any container as float64: missing ones are NaN, and distinct ones stay distinct."""

from __future__ import annotations

import math
from collections.abc import Iterable
from decimal import Decimal
from typing import Any, TypeVar

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._utils.containers import as_numpy, widened
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

Scalar = TypeVar("Scalar", bound=np.generic)

FLOAT64 = np.dtype(np.float64)
LARGEST_EXACT = 2**53
"""float64 is exact up to this integer."""


def as_floats(x: Any, name: str) -> Array:
    """Contiguous float64 array of one or two dimensions."""
    # An array that is ready does not need the steps below.
    if type(x) is np.ndarray and x.dtype is FLOAT64 and 0 < x.ndim < 3 and x.flags.carray:
        return x
    return aligned(np.ascontiguousarray(as_reals(x, name), dtype=np.float64))


def is_number(text: str) -> bool:
    """Whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def aligned(x: NDArray[Scalar]) -> NDArray[Scalar]:
    """The array, or a copy if its entries do not stand where compiled code may read them, as in a packed record."""
    return x if x.flags.aligned else x.copy()


def as_reals(x: Any, name: str) -> NDArray[Any]:
    """As `as_floats`, but keeps a type whose numbers float64 holds exactly."""
    array = x if type(x) is np.ndarray else _array(x, name)
    kind = array.dtype.kind
    if kind == "O" and array.ndim > 0:
        array, kind = _of_objects(array, name), "f"
    if kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers. Got {type(x).__name__} of dtype {array.dtype} instead.")
    if array.ndim not in (1, 2):
        hint = ": take [..., 0] of it" if array.ndim == 3 and array.shape[-1] == 1 else ""
        raise ValueError(f"{name} must have one or two dimensions. Got {array.ndim} instead{hint}.")
    most = 8 if kind == "f" else 4
    return array if array.dtype.itemsize <= most else _of_wide(array, name)


def refuse_inexact(x: Any, name: str) -> None:
    """Refuse integers and decimals that float64 rounds: numbers that are read later could become equal to them."""
    array = _array(x, name)
    if array.dtype.kind in "iu":
        suspects: list[Any] = array[(array > LARGEST_EXACT) | (array < -LARGEST_EXACT)].tolist()
    else:
        suspects = [v for v in array.ravel().tolist() if isinstance(v, (int, Decimal))] if array.dtype == object else []
    for value in suspects:
        if value == value and not _stays_distinct(value):
            raise ValueError(
                f"{name} that comes in parts must hold numbers that float64 can tell apart, of up to 15 digits, or "
                "equal ones would be ties: subtract a constant from all, or convert them to floats if ties do no harm. "
                f"Got {value}, which would be {float(value)!r}."
            )


def _stays_distinct(value: int | Decimal) -> bool:
    """Whether no other accepted number has the same float64."""
    number = float(value)
    if isinstance(value, int) or not value.is_finite() or value % 1 == 0:
        return number == value
    return Decimal(repr(number)) == value


def column(array: NDArray[Any]) -> NDArray[Any]:
    """Flatten a column of shape (n_samples, 1)."""
    return array.ravel() if array.ndim == 2 and array.shape[1] == 1 else array


def refuse_masked(x: Any, name: str) -> None:
    """Refuse masked entries in data that must be complete."""
    if isinstance(x, MaskedArray) and np.ma.is_masked(x):
        raise ValueError(f"{name} must not have masked entries. Got {np.ma.count_masked(x)}.")


def _array(x: Any, name: str) -> NDArray[Any]:
    """Array of numbers, or of objects where NumPy would lose a mask or digits of large numbers."""
    x = as_numpy(x)
    if isinstance(x, MaskedArray):
        return np.ma.filled(x.astype(object), np.nan) if np.ma.is_masked(x) else np.ma.getdata(x)
    if isinstance(x, (list, tuple)) and any(issubclass(t, MaskedArray) for t in set(map(type, x))):
        return np.array([_array(row, name).tolist() for row in x], dtype=object)
    try:
        array = widened(np.asarray(x))
    except ValueError as error:
        raise ValueError(_not_rectangular(x, name)) from error
    return _objects(x) if array.dtype == np.float64 and not _is_float(x) and _has_large(array) else array


def _has_large(array: Array) -> bool:
    """Whether a finite number is larger than `LARGEST_EXACT`."""
    size = np.abs(array)
    # NaN, which argmax returns first, is not less.
    if array.size == 0 or size.item(size.argmax()) < LARGEST_EXACT:
        return False
    return bool(np.isfinite(array[size >= LARGEST_EXACT]).any())


def _is_float(x: Any) -> bool:
    """Whether the dtype of a container is a float."""
    dtype = getattr(x, "dtype", None)
    return isinstance(dtype, np.dtype) or any(word in str(dtype).lower() for word in ("float", "double"))


def _objects(x: Any) -> NDArray[Any]:
    """Numbers as the objects in the container."""
    to_list = getattr(x, "to_list", None) or getattr(x, "to_pylist", None)
    return np.array(to_list() if to_list else x, dtype=object)


def _not_rectangular(x: Any, name: str) -> str:
    sizes = {len(row) if hasattr(row, "__len__") else 1 for row in x} if isinstance(x, Iterable) else set()
    got = f"rows of {min(sizes)} to {max(sizes)} entries" if len(sizes) > 1 else type(x).__name__
    return (
        f"{name} must have one entry per row, or rows of equal length. Lists of unequal length go one after the other "
        f"into one list, and qid= names the query of each entry: qid_from_group_sizes([len(row) for row in {name}]). "
        "Lists of ids of documents go to evaluate_run(judgments, run). "
        f"Got {got}."
    )


# --- what float64 cannot hold --------------------------------------------------------------------------------


def _of_objects(array: NDArray[Any], name: str) -> Array:
    values = array.ravel().tolist()
    floats = np.array([_as_float(v, name) for v in values], dtype=np.float64)
    if not set(map(type, values)) <= {float, bool, type(None)}:
        first: dict[float, Any] = {}
        for value, number in zip(values, floats.tolist(), strict=True):
            if number == number and (other := first.setdefault(number, value)) != value:
                _refuse_equal((other, value), name)
    return floats.reshape(array.shape)


def _as_float(value: Any, name: str) -> float:
    if value is None or type(value).__name__ == "NAType" or value is np.ma.masked:
        return np.nan
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim > 0):
        raise ValueError(_not_rectangular([value], name))
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must hold real numbers. Got {echo(value)} instead.")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    except (TypeError, ValueError):
        # A signaling NaN cannot be converted.
        raise TypeError(f"{name} must hold real numbers. Got {echo(value)} instead.") from None
    if math.isinf(number) and value != number:
        _refuse_range(name)
    return number


def distinct_values(values: ArrayLike) -> NDArray[Any]:
    """Different values in order. `np.unique` without extras hashes, which takes up to 70 times as long."""
    return np.unique(values, return_counts=True)[0]


def _of_wide(array: NDArray[Any], name: str) -> NDArray[Any]:
    """Numbers of a type with more digits than float64; unchanged if they are integers that it holds exactly."""
    is_integer = array.dtype.kind != "f"
    if is_integer and (array.size == 0 or -LARGEST_EXACT <= array.min() <= array.max() <= LARGEST_EXACT):
        return array
    with np.errstate(over="ignore"):
        floats = array.astype(np.float64)
    if not is_integer and (np.isinf(floats) != np.isinf(array)).any():
        _refuse_range(name)
    distinct = distinct_values(array)
    with np.errstate(over="ignore"):
        equal = np.diff(distinct.astype(np.float64)) == 0
    if equal.any():
        at = int(equal.argmax())
        _refuse_equal((distinct[at], distinct[at + 1]), name)
    return floats


def _refuse_equal(pair: tuple[Any, Any], name: str) -> None:
    raise ValueError(
        f"{name} must hold numbers that are still different as float64, which has whole numbers up to 2**53. "
        f"Subtract an offset, or take ranks: scipy.stats.rankdata(..., method='dense'). "
        f"Got {pair[0]!s} and {pair[1]!s}, which would be equal."
    )


def _refuse_range(name: str) -> None:
    raise ValueError(f"{name} must be within the range of float64, about 1.8e308. Got a number beyond it.")
