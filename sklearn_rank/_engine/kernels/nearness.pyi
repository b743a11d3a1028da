"""Types of `nearness.pyx`."""

import numpy as np
from numpy.typing import NDArray

def order_rows(
    near: NDArray[np.float64],
    order: NDArray[np.int64],
    is_sorted: NDArray[np.bool_],
    is_tied: NDArray[np.bool_],
    word: NDArray[np.uint64],
    count: NDArray[np.int64],
) -> None: ...
