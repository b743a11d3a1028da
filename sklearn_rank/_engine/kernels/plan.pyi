"""Types of `plan.pyx`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

KERNEL_CUMSUM: int
KERNEL_JOINT: int
KERNEL_MEANS: int
KERNEL_CASCADE: int
KERNEL_CASCADE_UPWARDS: int
KERNEL_PAIRS: int
KERNEL_CENTERED_RANKS: int
KERNEL_LOOK_UP: int
KERNEL_RANKS: int
KERNEL_SPREAD: int
KERNEL_AT_RANKS: int
KERNEL_COUNT: int

class Lists:
    depth: int
    def __init__(self, ptr: Index, tie_end: Index | None, grade: Grade | None, depth: int) -> None: ...
    @property
    def n_queries(self) -> int: ...
    @property
    def n_positions(self) -> int: ...

class ScoreOrder(Lists):
    def __init__(
        self, depth: int, ties: int, longest: int, grade: Grade, tie_end: Index, ptr: Index, work: Array
    ) -> None: ...
    def read_all_ties(self) -> None: ...

class BestOrder(Lists):
    def __init__(self, order: ScoreOrder, highest: int, grade: Grade, ptr: Index) -> None: ...
    def __call__(self) -> bool: ...

class Step:
    def __init__(
        self,
        kernel: int,
        lists: Lists,
        *,
        x: Array | None = None,
        x_by_grade: bool = False,
        y: Array | None = None,
        y_by_grade: bool = False,
        by_rank: Array | None = None,
        over_rank: bool = False,
        cutoffs: Index | None = None,
        of_query: Array | None = None,
        least: int = 0,
        other: Lists | None = None,
        work: Array | None = None,
        work_places: Index | None = None,
        out: Array,
    ) -> None: ...
    def __call__(self) -> bool: ...

class Ratio:
    def __init__(self, numerator: Array, denominator: Array, needed: Array | None, otherwise: float) -> None: ...

class Program:
    def __init__(
        self, orders: Sequence[ScoreOrder], steps: Sequence[Callable[[], object]], ratios: Sequence[Ratio]
    ) -> None: ...
    def __call__(
        self,
        grade: Grade,
        score: NDArray[Any],
        indptr: Index,
        is_constant: bool,
        outs: Sequence[tuple[Array, NDArray[np.bool_]]],
    ) -> bool: ...

def divide(
    numerator: Array,
    denominator: Array,
    needed: Array | None,
    otherwise: float,
    out: Array,
    undefined: NDArray[np.uint8] | NDArray[np.bool_],
) -> bool: ...
