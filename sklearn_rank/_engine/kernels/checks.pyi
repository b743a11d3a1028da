"""Types of `checks.pyx`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Numbers = tuple[float, float, bool, bool, bool, bool]

def read_rows(
    label: NDArray[Any] | None,
    score: NDArray[Any] | None,
    ids: NDArray[Any] | None,
    begin: int,
    end: int,
    grade: NDArray[np.uint8] | None,
    starts: NDArray[np.int64] | None,
    heads: NDArray[Any] | None,
) -> tuple[Numbers, Numbers, bool, int] | None: ...
