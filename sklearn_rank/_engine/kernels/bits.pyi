"""Types of `bits.pyx`."""

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Words = NDArray[np.uint64]
Counts = NDArray[np.uint8] | NDArray[np.uint16]
Labels = NDArray[np.uint8] | NDArray[np.float64]

def equal_bits(queries: Words, codes: Words, start: int, out: Counts) -> None: ...
def select_codes(
    queries: Words,
    codes: Words,
    start: int,
    stop: int,
    depth: int,
    count: Index,
    bar: Index,
    n_above: Index,
    query: Index,
    item: Index,
    near: NDArray[np.uint16],
) -> int: ...
def count_grades(near: Counts, grade: NDArray[np.uint8], count: Index) -> None: ...
def sort_counts(near: Counts, label: Labels, begin: Index, item: Index, place: Index, out: Labels) -> None: ...
