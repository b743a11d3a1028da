"""Types of `bits.pyx`."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Counts = NDArray[np.uint8] | NDArray[np.uint16]
Labels = NDArray[np.uint8] | NDArray[np.float64]

def equal_bits(queries: Words, codes: Words, start: int, out: Counts) -> None: ...
def count_grades(near: Counts, grade: NDArray[np.uint8], count: NDArray[np.int64]) -> None: ...
def sort_counts(near: Counts, label: Labels, end: NDArray[np.int64], sorted_label: Labels) -> None: ...
