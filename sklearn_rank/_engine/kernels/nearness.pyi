"""Types of `nearness.pyx`."""

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.uint8] | NDArray[np.float64]
Near = NDArray[np.float32] | NDArray[np.float64]

def room_for(n: int) -> int: ...
def sort_labels(
    near: NDArray[np.float64],
    label: Labels,
    out: Labels,
    is_sorted: NDArray[np.bool_],
    is_tied: NDArray[np.bool_],
    room: NDArray[np.uint64],
) -> None: ...
def from_products(near: Near, of_item: Near, of_query: Near) -> None: ...
def widen_lanes(near: Near, best: Near) -> bool: ...
def select_near(
    near: Near, bar: Near, start: int, query: NDArray[np.int64], item: NDArray[np.int64], out: Near
) -> int: ...
