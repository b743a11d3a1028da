"""Types of `order.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

AVERAGE: int
STABLE: int
WORST: int
BEST: int

def rank_queries(
    score: Array | None,
    narrow_score: NDArray[np.float32] | None,
    label: Array | None,
    grade: Grade | None,
    indptr: Index,
    depth: int,
    ties: int,
    keep_unretrieved: bool,
    longest: int,
    order: Index | None,
    tie_end: Index,
    ptr: Index,
    out_grade: Grade | None,
    memory: Array,
    only_grades: bool = False,
) -> bool: ...
def spread_tie_ends(ptr: Index, tie_end: Index, out: Index) -> None: ...
def number(ptr: Index, rank: Index | Array) -> None: ...
def rank_labels(
    label: Array, indptr: Index, depth: int, longest: int, out: Array, ptr: Index, memory: Array
) -> None: ...
def rank_greedily(
    relevant: Array, indptr: Index, depth: int, keep: float, order: Index, ptr: Index, worth: Array, bound: Array,
    kind: Index
) -> None: ...  # fmt: skip
def longest(indptr: Index) -> int: ...
