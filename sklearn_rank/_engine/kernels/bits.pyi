"""Types of `bits.pyx`."""

import numpy as np
from numpy.typing import NDArray

Words = NDArray[np.uint64]
Counts = NDArray[np.uint8] | NDArray[np.uint16]

def equal_bits(queries: Words, codes: Words, start: int, out: Counts) -> None: ...
def sort_counts(
    near: Counts,
    label: NDArray[np.uint8] | NDArray[np.float64],
    end: NDArray[np.int64],
    sorted_label: NDArray[np.float64],
) -> None: ...
