"""Types of `rank.pyx`."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Grade = NDArray[np.uint8]

AVERAGE: int
STABLE: int
WORST: int
BEST: int

def room_for(longest: int) -> int: ...
def view_of(x: NDArray[Any]) -> Any: ...
def table_of(x: NDArray[Any]) -> Any: ...
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
    room: Array,
    only_grades: bool = False,
) -> bool: ...
def spread_tie_ends(ptr: Index, tie_end: Index, out: Index) -> None: ...
def number(ptr: Index, rank: Index | Array) -> None: ...
def rank_labels(
    label: Array,
    indptr: Index,
    depth: int,
    longest: int,
    out: Array,
    ptr: Index,
    room: Array,
) -> None: ...
def rank_grades(grade: Grade, indptr: Index, depth: int, highest: int, out: Grade, ptr: Index) -> None: ...
def rank_greedily(
    relevant: Array,
    indptr: Index,
    depth: int,
    keep: float,
    order: Index,
    ptr: Index,
    worth: Array,
    bound: Array,
    kind: Index,
) -> None: ...
def exp2_minus_1(x: Array, out: Array) -> None: ...
def count_at_least(x: Array, indptr: Index, threshold: float, out: Array) -> None: ...
def count_grades_at_least(grade: Grade, indptr: Index, least: int, out: Array) -> None: ...
def find_grades(grade: Grade, highest: int) -> int: ...
def longest(indptr: Index) -> int: ...
def look_up(table: Array, grade: Grade, out: Array) -> None: ...
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
def cumsum(
    value: Array,
    grade: Grade | None,
    weight: Array,
    discount: Array | None,
    per_rank: bool,
    ptr: Index,
    cutoffs: Index,
    tie_end: Index | None,
    out: Array,
) -> None: ...
def joint(
    x: Array,
    x_grade: Grade | None,
    y: Array,
    y_grade: Grade | None,
    most: Array | None,
    ptr: Index,
    tie_end: Index | None,
    room: Array | None,
    out: Array,
) -> None: ...
def cascade(
    p: Array, grade: Grade | None, ptr: Index, tie_end: Index | None, depth: int, room: Array, out: Array
) -> bool: ...
def cascade_upwards(
    p: Array, grade: Grade | None, ptr: Index, tie_end: Index | None, room: Array, out: Array
) -> bool: ...
def overlap(
    label: Array, best: Array, ptr: Index, best_ptr: Index, tie_end: Index | None, count: Index, out: Array
) -> None: ...
def means_of_items(
    relevant: Array, value: Array, ptr: Index, cutoffs: Index, tie_end: Index | None, out: Array
) -> None: ...
def means_of_grades(
    grade: Grade, relevant: Array, value: Array, ptr: Index, cutoffs: Index, tie_end: Index | None, out: Array
) -> None: ...
def means_of_counts(count: Index, relevant: Array, value: Array, cutoffs: Index, out: Array) -> None: ...
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
