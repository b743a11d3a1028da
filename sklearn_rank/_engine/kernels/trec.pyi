"""Types of `trec.pyx`."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Index = NDArray[np.int64]
Text = NDArray[np.uint8]

def read_fields(
    text: Text,
    n_fields: int,
    document_field: int,
    value_field: int,
    query: Text,
    query_end: Index,
    run_start: Index,
    document: Text,
    document_end: Index,
    value: Array,
    line: Index,
    rank: Array | None,
) -> tuple[int, int, int]: ...
def join_rows(
    score: Array,
    match: Index,
    indptr: Index,
    order: Index | None,
    label: Array,
    judged_indptr: Index,
    judged_order: Index | None,
    keep: NDArray[np.uint8],
    retrieved: NDArray[np.uint8],
    out_label: Array,
    out_score: Array,
    out_row: Index,
) -> int: ...
