"""Types of `checks.pyx`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

def read_rows(
    label: NDArray[Any], score: NDArray[Any], grade: NDArray[np.uint8] | None
) -> tuple[float, float, bool, bool, bool, bool]: ...
def read_scores(score: NDArray[Any]) -> tuple[bool, bool]: ...
def read_plain(
    label: NDArray[Any],
    score: NDArray[Any],
    ids: NDArray[Any],
    begin: int,
    end: int,
    grade: NDArray[np.uint8],
    starts: NDArray[np.int64],
    heads: NDArray[Any] | None,
) -> tuple[tuple[float, float, bool, bool, bool, bool], int, int, bool] | None: ...
