"""Selecting rows equals NumPy's indexing for every item size, and for arrays that the kernel cannot read."""

import numpy as np
import pytest

from sklearn_rank._engine.grouping import NUMPY_ROWS, take_rows

N_ROWS = [*range(18), NUMPY_ROWS, NUMPY_ROWS + 1, 5000]


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "uint8", "bool", "int16", "int64", "U3", "O"])
def test_selected_entries_match_numpy(dtype, rng):
    x = rng.integers(0, 100, 6000).astype(dtype)
    read_only = x.copy()
    read_only.flags.writeable = False
    for n_rows in N_ROWS:
        for array in (x, read_only, x[::2], x[::-1], x.reshape(-1, 3)):
            rows = rng.integers(0, len(array), n_rows)
            expected, room = array[rows], np.zeros((n_rows, *array.shape[1:]), dtype=dtype)
            found = take_rows(array, rows)
            assert found.dtype == array.dtype
            np.testing.assert_array_equal(found, expected)
            assert take_rows(array, rows, room) is room
            np.testing.assert_array_equal(room, expected)
