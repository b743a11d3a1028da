"""Values in error messages, shortened to one line."""

from __future__ import annotations

from typing import Any

import numpy as np


def echo(value: Any, width: int = 60) -> str:
    """Repr of a value on one line, shortened in the middle to `width` characters; NumPy's scalars as Python's."""
    if isinstance(value, np.generic) and value.dtype.kind not in "mM":  # dates would become numbers
        value = value.item()
    text = " ".join(repr(value).split())
    return text if len(text) <= width else f"{text[: width - 20]} ... {text[-15:]}"
