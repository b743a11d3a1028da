"""Entries of some rows, from wherever in memory they are."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.kernels import grouping as grouping_kernels
from sklearn_rank._utils.typing import Index

T = TypeVar("T", bound=np.generic)

WIDTHS = (1, 4, 8)
"""Bytes of an entry that the kernel has a loop for."""

FEW = 2**12
"""Rows up to which NumPy is as fast."""


def take_rows(x: NDArray[T], rows: Index, out: NDArray[T] | None = None) -> NDArray[T]:
    """Entries of `x` along its first axis for rows that it has, into `out` if there is one."""
    is_plain = x.ndim == 1 and x.dtype.kind in "fiub" and x.dtype.itemsize in WIDTHS and x.flags.c_contiguous
    if len(rows) < FEW or not is_plain:
        return x.take(rows, axis=0) if out is None else x.take(rows, axis=0, out=out, mode="clip")  # makes no copy
    out = np.empty(len(rows), dtype=x.dtype) if out is None else out
    grouping_kernels.take_rows(x, x.dtype.itemsize, rows, out)
    return out
