"""Arrays that cannot be written to, and results that keep no others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np


def read_only(x: Any) -> Any:
    """Read-only view of an array, or a dict or tuple of such views. Anything else is returned as it is."""
    if isinstance(x, np.ndarray):
        if x.flags.writeable:
            x = x.view()
            x.flags.writeable = False
    elif isinstance(x, dict):
        x = type(x)(zip(x, map(read_only, x.values()), strict=True))
    elif type(x) is tuple:
        x = tuple(map(read_only, x))
    return x


class ReadOnlyArrays:
    """A dataclass whose arrays are read-only: fields, cached properties, and the arrays of a copy or a pickle.

    An array that belongs to the caller must be copied before it gets here: a result does not change with it.
    """

    def __post_init__(self) -> None:
        """Replace the arrays of the fields."""
        self.__setstate__(vars(self))

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        """Restore a copy or a pickle, whose arrays are writable."""
        vars(self).update({name: read_only(value) for name, value in state.items()})
