"""Types of `cascade.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

def cascade(
    p: Array, grade: Grade | None, ptr: Index, tie_end: Index | None, depth: int, memory: Array, out: Array
) -> bool: ...
def cascade_upwards(
    p: Array, grade: Grade | None, ptr: Index, tie_end: Index | None, memory: Array, out: Array
) -> bool: ...
