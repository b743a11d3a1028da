"""Kernels release the buffers of the arrays they read as bytes, whatever they return or raise."""

import gc
import weakref
from inspect import signature

import numpy as np
import pytest

from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.kernels.grouping import copy_strings, find_starts, take_rows


def ids_that_cannot_be_written(ids, heads):
    heads.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        find_starts(ids, 8, 0, 0, 8, np.empty(9, dtype=np.int64), heads)


def rows_are_read(ids, heads, label, score, grade):
    return read_rows(label, score, ids, 0, 8, grade, np.empty(9, dtype=np.int64), heads)


CALLS = {
    "starts": lambda ids, heads: find_starts(ids, 8, 0, 0, 8, np.empty(9, dtype=np.int64), heads),
    "nowhere to write": ids_that_cannot_be_written,
    "entries": lambda x, out: take_rows(x, 8, np.array([3, 1]), out),
    "objects": lambda objects, out: copy_strings(objects, np.empty(99, dtype=np.uint8), out),
    "rows": rows_are_read,
    "falling ids": lambda ids, heads, label, score, grade: rows_are_read(-ids, heads, label, score, grade),
    "gaps": lambda ids, heads, label, score, grade: rows_are_read(ids[::2], heads, label, score, grade),
}
MAKE = {
    "label": lambda: np.arange(8.0),
    "score": lambda: np.arange(8.0),
    "grade": lambda: np.empty(8, dtype=np.uint8),
    "objects": lambda: np.array(["a"] * 8, dtype=object),
}


@pytest.mark.parametrize("name", CALLS)
def test_arrays_are_released(name):
    call = CALLS[name]
    arrays = [MAKE.get(x, lambda: np.arange(8))() for x in signature(call).parameters]
    alive = [weakref.ref(array) for array in arrays]
    call(*arrays)
    del arrays
    gc.collect()
    assert all(array() is None for array in alive)
