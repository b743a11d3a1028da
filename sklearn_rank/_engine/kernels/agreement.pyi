"""Types of `agreement.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

def pairs(
    label: Array,
    ptr: Index,
    tie_end: Index | None,
    out: Array,
    key: Array,
    spare_key: Array,
    item: Index,
    spare: Index,
) -> None: ...
def centred_ranks(
    x: Array, ptr: Index, out: Array, key: Array, spare_key: Array, item: Index, spare: Index
) -> None: ...
def pairs_of_grades(grade: Grade, ptr: Index, tie_end: Index | None, highest: int, out: Array) -> None: ...
def centred_ranks_of_grades(grade: Grade, ptr: Index, highest: int, out: Array) -> None: ...
def centred_ranks_of_ties(ptr: Index, tie_end: Index | None, out: Array) -> None: ...
def overlap(
    label: Array, best: Array, ptr: Index, best_ptr: Index, tie_end: Index | None, count: Index, out: Array
) -> None: ...
