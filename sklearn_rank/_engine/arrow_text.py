"""Text in the memory of Arrow, which pandas, polars and pyarrow share: read there, and not made Python strings of."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.qid import as_text, as_they_are
from sklearn_rank._utils.typing import Index

TEXT = ("string", "large_string", "string_view", "String", "str", "string[pyarrow]", "large_string[pyarrow]")
"""Names of types of text."""


def arrow_text(x: Any) -> ArrowText | None:
    """Text of a Series or array in the memory of Arrow; None for anything else, and without pyarrow."""
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

    @property
    def has_missing(self) -> bool:
        """Whether a row has no text."""
        return bool(self.array.null_count)

    def ids(self) -> NDArray[Any]:
        """The strings as ids."""
        return self.to_qid(np.asarray(self.array, dtype=object))
