"""Types of `checks.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

def read_rows(
    label: Array, score: Array, grade: NDArray[np.uint8] | None
) -> tuple[float, float, bool, bool, bool, bool]: ...
