"""Meaning of keywords and functions: text that is equal where they mean the same, functions by their code.

Text is the same in every process: functions of modules are named, others are hashed with all that they read. Names and
identities would not do: two lambdas have one name, workers and saved results have other objects of one function, and
source does not show the values that a closure holds.
"""

from __future__ import annotations

import functools
import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from numbers import Real
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

LONGEST = 20
"""Values of an array that are written out."""


def text_of(value: Any) -> str:
    """Text of a keyword's value: functions differ by their code, numbers and arrays by their values."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, (str, bool)) or value is None:
        return str(value)
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Real):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(sorted(f"{text_of(key)}: {text_of(one)}" for key, one in value.items())) + "}"
    if isinstance(value, (list, tuple, range)):
        parts = [text_of(one) for one in value]
        more = [f"... {len(parts)} in all #{_joblib_hash(parts)}"] if len(parts) > LONGEST else []
        return f"[{', '.join(parts[:LONGEST] + more)}]"
    return _text_of_object(value, set())


def place_of(function: Any) -> str | None:
    """Name of a function in its module; None without a name that lasts, such as in a notebook."""
    if isinstance(function, np.ufunc):
        return f"numpy.{function.__name__}"
    module, name = getattr(function, "__module__", None), getattr(function, "__qualname__", None)
    if module is None or name is None or module == "__main__":
        return None
    value: Any = sys.modules.get(module)
    for part in name.split("."):
        value = getattr(value, part, None)
    return f"{module}.{name}" if value is function else None


def _text_of_object(value: Any, seen: set[int]) -> str:
    """Text of a function, or of something that functions read."""
    if isinstance(value, ModuleType):
        return value.__name__
    if (place := place_of(value)) is not None:
        return place
    if id(value) in seen:
        return "itself"
    seen = seen | {id(value)}
    if isinstance(value, functools.partial):
        parts = [value.func, *value.args, *(part for item in sorted(value.keywords.items()) for part in item)]
        return f"partial({', '.join(_text_of_object(part, seen) for part in parts)})"
    if isinstance(value, MethodType):
        return f"{_text_of_object(value.__func__, seen)} of {_text_of_object(value.__self__, seen)}"
    if isinstance(value, FunctionType):
        parts = [*_code(value.__code__), *(_text_of_object(part, seen) for part in _read_by(value))]
        return f"{value.__qualname__} #{_joblib_hash(parts)}"
    called = inspect.getattr_static(type(value), "__call__", None)
    calls = f" {_text_of_object(called, seen)}" if isinstance(called, FunctionType) else ""
    return f"{type(value).__name__}{calls} #{_hash(value)}"


def _joblib_hash(value: Any) -> str:
    """Hash of the contents by joblib, which few metrics need."""
    import joblib

    return str(joblib.hash(value))


def _hash(value: Any) -> str:
    """Hash of the contents of an object, or its address if they cannot be read."""
    try:
        return _joblib_hash(value)
    except Exception:  # whatever pickling it raises
        return str(id(value))


def _code(code: CodeType) -> Iterator[str]:
    """Code of a function, without the values that it reads from outside."""
    yield code.co_code.hex()
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _code(constant)
        else:
            yield str(sorted(map(repr, constant)) if isinstance(constant, frozenset) else repr(constant))


def _read_by(function: FunctionType) -> Iterator[Any]:
    """Values that a function reads from outside: defaults, closure variables, and globals."""
    yield from function.__defaults__ or ()
    yield from (function.__kwdefaults__ or {}).values()
    for cell in function.__closure__ or ():
        with suppress(ValueError):  # an empty one
            yield cell.cell_contents
    for name in _names(function.__code__):
        if name in function.__globals__:
            yield function.__globals__[name]


def _names(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
