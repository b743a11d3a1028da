"""Types of `plan.pyx`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

def divide(
    numerator: Array,
    denominator: Array,
    needed: Array | None,
    otherwise: float,
    out: Array,
    undefined: NDArray[np.uint8] | NDArray[np.bool_],
) -> bool: ...

class BoundLists:
    @property
    def n_queries(self) -> int: ...
    @property
    def n_positions(self) -> int: ...

class BoundRanking(BoundLists):
    def __init__(
        self,
        label: Array | None,
        indptr: Index,
        depth: int,
        ties: int,
        longest: int,
        order: Index,
        tie_end: Index,
        ptr: Index,
        room: Array,
    ) -> None: ...
    def __call__(self, score: Array) -> None: ...

class BoundBlock(BoundLists):
    def __init__(
        self, depth: int, ties: int, longest: int, grade: Grade, tie_end: Index, ptr: Index, room: Array
    ) -> None: ...
    def read_all_ties(self) -> None: ...

class BoundBest(BoundLists):
    def __init__(self, block: BoundBlock, highest: int, grade: Grade, ptr: Index) -> None: ...
    def __call__(self) -> None: ...

class BoundRows:
    def __init__(self, ranking: BoundRanking, of_rows: Array, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundGrades:
    def __init__(self, order: BoundLists, table: Array, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundRanks:
    def __init__(self, order: BoundLists, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundBeside:
    def __init__(self, order: BoundLists, other: BoundLists, x: Array, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundSpread:
    def __init__(self, order: BoundLists, x: Array, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundCount:
    def __init__(self, block: BoundBlock, least: int, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundSum:
    def __init__(
        self,
        order: BoundLists,
        value: Array,
        by_grade: bool,
        weight: Array,
        discount: Array | None,
        per_rank: bool,
        cutoffs: Index,
        out: Array,
    ) -> None: ...
    def __call__(self) -> None: ...

class BoundJoint:
    def __init__(
        self,
        order: BoundLists,
        x: Array,
        x_by_grade: bool,
        y: Array,
        y_by_grade: bool,
        most: Array | None,
        room: Array,
        out: Array,
    ) -> None: ...
    def __call__(self) -> None: ...

class BoundMeans:
    has_other: bool
    def __init__(
        self, order: BoundLists, relevant: Array, value: Array, by_grade: bool, cutoffs: Index, out: Array
    ) -> None: ...
    def add(self, other: Array, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundCascade:
    def __init__(self, order: BoundLists, p: Array, by_grade: bool, room: Array, out: Array) -> None: ...
    def __call__(self) -> bool: ...

class BoundCascadeUpwards(BoundCascade): ...

class BoundStops:
    n_left: int
    def __init__(self, order: BoundLists, p: Array, by_grade: bool, room: Array, stops: Array) -> None: ...
    def add(self, discount: Array | None, per_rank: bool, cutoffs: Index, out: Array) -> None: ...
    def __call__(self) -> bool: ...

class BoundPairs:
    def __init__(self, order: BoundLists, highest: int, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundCentredRanks:
    def __init__(self, order: BoundLists, by_grade: bool, highest: int, out: Array) -> None: ...
    def __call__(self) -> None: ...

class BoundRatio:
    def __init__(
        self,
        numerator: Array,
        denominator: Array,
        needed: Array | None,
        otherwise: float,
        out: Array | None,
        undefined: NDArray[np.uint8] | None,
    ) -> None: ...
    def __call__(self) -> bool: ...

class BoundPlan:
    def __init__(
        self, orders: list[BoundBlock], steps: list[Callable[[], object]], ratios: list[BoundRatio]
    ) -> None: ...
    def __call__(
        self,
        grade: Grade,
        score: NDArray[Any],
        indptr: Index,
        is_constant: bool,
        outs: Sequence[tuple[Array, NDArray[np.bool_]]],
    ) -> bool: ...
