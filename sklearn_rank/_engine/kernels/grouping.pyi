"""Types of `grouping.pyx`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Number = NDArray[np.uint32]
Text = NDArray[np.uint8]

def find_starts(
    ids: NDArray[Any], width: int, sign: int, begin: int, end: int, starts: Index, heads: NDArray[Any]
) -> tuple[int, bool]: ...
def number_keys(
    key: Index,
    text: Text | None,
    end: Index | None,
    n_done: int,
    begin: int,
    table: Number,
    n_numbers: int,
    number: Number,
    key_of: Index,
    first: Index,
    kept: Text,
    kept_end: Index,
) -> tuple[int, int]: ...
def number_near_keys(
    key: Index, lowest: int, begin: int, table: Number, n_numbers: int, number: Number, first: Index
) -> int: ...
def fill_table(key_of: Index, table: Number) -> None: ...
def slots(key: Index, n_slots: int, out: Index) -> None: ...
def copy_strings(objects: NDArray[np.object_], text: NDArray[np.uint8], end: NDArray[np.int64]) -> bool: ...
def hash_pieces(text: Text, end: Index, out: Index) -> None: ...
def count_rows(number: Number, starts: Index | None, count: Index) -> None: ...
def place_rows(number: Number, starts: Index | None, row: int, at: Index, order: Index) -> None: ...
def take_rows(x: NDArray[Any], width: int, rows: Index, out: NDArray[Any]) -> None: ...
def match_rows(
    key: Index,
    text: Text | None,
    end: Index | None,
    indptr: Index,
    order: Index | None,
    other_key: Index,
    other_text: Text | None,
    other_end: Index | None,
    other_indptr: Index,
    other_order: Index | None,
    table: Index,
    match: Index,
) -> tuple[int, int]: ...
