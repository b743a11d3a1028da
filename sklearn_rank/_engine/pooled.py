"""NaN that marks documents which were in the pool but not judged; only infAP tells it from other NaN.

It differs from other NaN in its bits, which survive copies, files of Parquet and Arrow, and single precision.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

POOLED = np.array(0x7FF8_706F_0000_0000, dtype=np.uint64).view(np.float64)
"""Label of such a document."""


def is_pooled(label: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether each label is that of a document that was in the pool and not judged."""
    return np.ascontiguousarray(label).view(np.uint64) == POOLED.view(np.uint64)


def pooled_if_negative(label: NDArray[np.float64]) -> NDArray[np.float64]:
    """The same labels; negative ones become "in the pool, not judged", their meaning in TREC files."""
    return np.where(label < 0, POOLED, label)
