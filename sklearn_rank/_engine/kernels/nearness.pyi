"""Types of `nearness.pyx`."""

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8] | NDArray[np.float64]
Near = NDArray[np.float32] | NDArray[np.float64]

def sort_labels(
    near: NDArray[np.float64],
    label: Labels,
    out: Labels,
    is_sorted: NDArray[np.bool_],
    is_tied: NDArray[np.bool_],
    order: NDArray[np.int64],
    word: NDArray[np.uint64],
    count: NDArray[np.int64],
) -> None: ...
def from_products(near: Near, of_item: Near, of_query: Near) -> None: ...
def widen_lanes(near: Near, best: Near) -> bool: ...
def select_near(
    near: Near, bar: Near, start: int, query: NDArray[np.int64], item: NDArray[np.int64], out: Near
) -> int: ...
