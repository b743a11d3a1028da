"""Numbers of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._utils.echo import echo


def n_rows_of(x: Any, name: str) -> int:
    """Number of rows of an array, frame, sparse matrix or list.

    Raises
    ------
    TypeError
        If it has none.
    """
    shape = np.asarray(x).shape if hasattr(x, "__array__") and not hasattr(x, "__len__") else getattr(x, "shape", None)
    if isinstance(x, (str, bytes, dict)) or isinstance(x, type) or shape == () or not (shape or _has_rows(x)):
        raise TypeError(f"{name} must be an array, list, sparse matrix or frame of rows. Got {echo(x)}.")
    return int(shape[0]) if shape else len(x)


def _has_rows(x: Any) -> bool:
    """Whether entries have places, as those of a set have not."""
    return hasattr(x, "__len__") and (hasattr(x, "__getitem__") or hasattr(x, "__array__"))


def check_lengths(**given: Any) -> None:
    """Refuse columns of other numbers of rows; None is left out.

    Raises
    ------
    ValueError
        Naming all numbers.
    """
    sizes = {name: n_rows_of(x, name) for name, x in given.items() if x is not None}
    if len({*sizes.values()}) > 1:
        got = ", ".join(f"{size} in {name}" for name, size in sizes.items())
        raise ValueError(f"{', '.join(sizes)} must have one entry per row each. Got {got}.")
