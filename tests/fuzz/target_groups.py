"""Rows are grouped by id as with a Python dict, in order of first appearance."""

import numpy as np

from sklearn_rank._engine.grouping import distinct_ids, group_rows, query_numbers

TYPES = "i1 u1 i2 >i2 u2 i4 >u4 i8 u8 >i8 f2 f4 f8 >f8 ? S1 S3 S8 S13 M8[s] m8[ms]".split()


def check(data: bytes) -> None:
    """The first byte chooses the type, or objects of a type, the second the stride of rows."""
    if len(data) < 2:
        return
    kind, step, data = data[0], 1 + data[1] % 3, data[2:]
    if kind % 32 < len(TYPES):
        dtype = np.dtype(TYPES[kind % 32])
        data = bytes(byte & 1 for byte in data) if dtype.kind == "b" else data
        ids = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype=dtype)[::step]
        ids = ids.astype(object) if kind >= 128 else ids
    else:
        parts = data.decode("utf-8", "surrogateescape").split("," if kind < 128 else "\n")
        ids = np.empty(len(parts), dtype=object)
        ids[:] = [tuple(part.split(";")) if ";" in part else part for part in parts]
        if kind % 2 and not any(type(one) is tuple for one in ids):
            ids = ids.astype(str)
    if len(ids) == 0:  # refused before
        return
    values = ids.tolist()
    try:
        grouping = group_rows(ids, len(ids))
    except ValueError as error:
        assert any(value is None or value != value for value in values) or any(
            words in str(error) for words in ("stay different", "must not be blank", "one spelling", "of one type")
        )
        return
    found, indptr, order = grouping.ids, grouping.indptr, grouping.order
    first, rows = {}, {}
    for row, value in enumerate(values):
        rows.setdefault(first.setdefault(value, value), []).append(row)
    expected = [row for of_query in rows.values() for row in of_query]
    assert [*found.tolist()] == [*rows], (found, rows)
    assert indptr.tolist() == np.cumsum([0, *map(len, rows.values())]).tolist()
    assert (
        (range(len(ids)) if order is None else order).tolist() == expected
        if order is not None
        else expected == [*range(len(ids))]
    )
    names, number = distinct_ids(ids, len(ids))
    assert names.tolist() == [*rows]
    assert number.tolist() == [[*rows].index(value) for value in values]
    numbers = query_numbers(ids, len(ids))
    assert len({*numbers.tolist()}) == len(rows)
