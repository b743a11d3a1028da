"""Memory that data of Arrow take once they are unpacked, counted before they are."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is text or bytes of any length, or repeats such values."""
    from pyarrow import types

    if types.is_dictionary(kind) or types.is_run_end_encoded(kind):
        return is_text(kind.value_type)
    checks = "string", "large_string", "string_view", "binary", "large_binary", "binary_view", "fixed_size_binary"
    return any(getattr(types, f"is_{name}")(kind) for name in checks)


def text_size(column: Any) -> int:
    """Bytes of all texts of an array, where each row has its own."""
    from pyarrow import types

    if types.is_dictionary(column.type):
        sizes = _sizes(column.dictionary)
        return int(sizes[column.indices.drop_null().to_numpy()].sum())
    if types.is_run_end_encoded(column.type):
        return len(column) * int(_sizes(column.values).max(initial=0))
    return int(_sizes(column).sum())


def _sizes(column: Any) -> NDArray[np.int64]:
    """Bytes of each text; 0 for one that is missing."""
    from pyarrow import compute, int64, types

    if types.is_string_view(column.type) or types.is_binary_view(column.type):
        # A view has sixteen bytes, the first four for its size.
        views = np.frombuffer(column.buffers()[1], dtype=np.int32).reshape(-1, 4)
        return views[column.offset : column.offset + len(column), 0].astype(np.int64)
    sizes: NDArray[np.int64] = compute.fill_null(compute.binary_length(column).cast(int64()), 0).to_numpy()
    return sizes


def unpacked_size(message: Any) -> int:
    """Bytes of the packed buffers of a message of a file or stream of Arrow, once they are unpacked; else 0.

    A message is a table of FlatBuffers: https://arrow.apache.org/docs/format/Columnar.html
    """
    if message.type not in ("record batch", "dictionary"):
        return 0
    data = np.frombuffer(message.metadata, dtype=np.uint8)
    header = _field(data, _number(data, 0, "<u4"), 2)
    batch = header if message.type == "record batch" else _field(data, header, 1)
    if not batch or not _field(data, batch, 3):
        return 0
    buffers = _field(data, batch, 2)
    n_buffers = _number(data, buffers, "<u4")
    places = data[buffers + 4 :][: 16 * n_buffers].view("<i8").reshape(-1, 2)
    body = np.frombuffer(message.body, dtype=np.uint8)
    # The size of a packed buffer stands before it, or -1 if it was left as it is.
    return sum(max(0, _number(body, start, "<i8")) for start, size in places.tolist() if size >= 8)


def _field(data: NDArray[np.uint8], table: int, i: int) -> int:
    """Place of what the field of a table refers to, or 0 if the table has no such field."""
    fields = table - _number(data, table, "<i4")
    if 4 + 2 * i >= _number(data, fields, "<u2"):
        return 0
    offset = _number(data, fields + 4 + 2 * i, "<u2")
    return table + offset + _number(data, table + offset, "<u4") if offset else 0


def _number(data: NDArray[np.uint8], at: int, dtype: str) -> int:
    size = np.dtype(dtype).itemsize
    if not 0 <= at <= len(data) - size:
        raise ValueError("A message of Arrow must refer to places in it.")
    return int(data[at : at + size].copy().view(dtype)[0])
