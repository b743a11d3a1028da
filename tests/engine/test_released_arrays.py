"""Kernels let go of the arrays that they read as bytes, whatever they return or raise."""

import gc
import weakref

import numpy as np
import pytest

from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.kernels.grouping import copy_strings, find_starts, take_rows


def ids_that_cannot_be_written(ids, heads):
    heads.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        find_starts(ids, 8, 0, 0, 8, np.empty(9, dtype=np.int64), heads)


def rows_are_read(ids, numbers, heads):
    starts, grade = np.empty(9, dtype=np.int64), np.empty(8, dtype=np.uint8)
    return read_rows(numbers, numbers, ids, 0, 8, grade, starts, heads)


CALLS = {
    "starts": lambda ids, heads: find_starts(ids, 8, 0, 0, 8, np.empty(9, dtype=np.int64), heads),
    "nowhere to write": ids_that_cannot_be_written,
    "entries": lambda x, out: take_rows(x, 8, np.array([3, 1]), out),
    "objects": lambda x, out: copy_strings(x, 0, np.empty(99, dtype=np.uint8), out),
    "rows": lambda ids, heads: rows_are_read(ids, heads.astype(float), heads),
    "falling ids": lambda ids, heads: rows_are_read(np.negative(ids, out=ids), heads.astype(float), heads),
    "ids with gaps": lambda ids, heads: rows_are_read(ids[::2], heads.astype(float), heads),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_are_let_go(name):
    call = CALLS[name]
    arrays = [np.arange(8) for _ in range(call.__code__.co_argcount)]
    if name == "objects":
        arrays[0] = np.array(["a"] * 8, dtype=object)
    alive = [weakref.ref(array) for array in arrays]
    call(*arrays)
    del arrays
    gc.collect()
    assert all(array() is None for array in alive)
