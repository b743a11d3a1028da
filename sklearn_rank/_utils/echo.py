"""Texts of errors: values, shortened to one line, and what is added to the errors of others."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice
from typing import Any

import numpy as np


def echo(value: Any, width: int = 60) -> str:
    """Repr of a value on one line, shortened in the middle to `width` characters; NumPy's scalars as Python's."""
    # Dates would become numbers.
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":
        value = value.item()
    return one_line(_repr_of(value), width)


def one_line(text: str, width: int = 60) -> str:
    """Text on one line, shortened in the middle to `width` characters."""
    text = " ".join(text.split())
    return text if len(text) <= width else f"{text[: width - 20]} ... {text[-15:]}"


def echo_all(values: Iterable[Any], most: int = 10) -> str:
    """The first values, each shortened, with commas between them."""
    values = iter(values)
    shown = [echo(value) for value in islice(values, most)]
    return ", ".join([*shown, "..."] if next(values, shown) is not shown else shown)


def query_count(n: int) -> str:
    """A number of queries in words."""
    return "1 query" if n == 1 else f"{n} queries"


def _repr_of(value: Any) -> str:
    try:
        return repr(value)
    # An int of too many digits, nested too deeply, or an own class.
    except Exception:
        return f"a {type(value).__name__} without a repr"


def extended(error: Exception, sentence: str) -> TypeError | ValueError:
    """A TypeError, or else a ValueError, that adds a sentence to the text of another error."""
    return (TypeError if isinstance(error, TypeError) else ValueError)(f"{error} {sentence}")
