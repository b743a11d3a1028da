"""Types of `sums.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

def cumsum(
    value: Array,
    grade: Grade | None,
    weight: Array,
    discount: Array | None,
    per_rank: bool,
    ptr: Index,
    cutoffs: Index,
    tie_end: Index | None,
    out: Array,
) -> None: ...
def joint(
    x: Array,
    x_grade: Grade | None,
    y: Array,
    y_grade: Grade | None,
    most: Array | None,
    ptr: Index,
    tie_end: Index | None,
    memory: Array | None,
    out: Array,
) -> None: ...
def means_of_items(
    relevant: Array, value: Array, ptr: Index, cutoffs: Index, tie_end: Index | None, out: Array
) -> None: ...
def means_of_grades(
    grade: Grade, relevant: Array, value: Array, ptr: Index, cutoffs: Index, tie_end: Index | None, out: Array
) -> None: ...
def means_of_counts(count: Index, relevant: Array, value: Array, cutoffs: Index, out: Array) -> None: ...
