"""Types of `agreement.pyx`, as far as Python calls it."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]

def overlap(
    label: Array, best: Array, ptr: Index, best_ptr: Index, tie_end: Index | None, count: Index, out: Array
) -> None: ...
