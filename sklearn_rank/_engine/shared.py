"""Arrays that one formula has computed and others read: common subexpressions, known by what they are made of."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from sklearn_rank._utils.typing import Array


class SharedArrays:
    """Arrays by what they are made of: the name of a computation and its operands.

    An operand is known if it is one of these arrays, the same object, or no array at all but a number or a function.
    All arrays are read-only, and live as long as this does, so neither their values nor their identities change.
    """

    def __init__(self) -> None:
        self._arrays: dict[Hashable, Array] = {}

    def __len__(self) -> int:
        """Number of arrays, each under two names."""
        return len(self._arrays) // 2

    def once(self, key: Hashable, compute: Callable[[], Array]) -> Array:
        """The array of this key, computed when it is first asked for."""
        array = self._arrays.get(key)
        if array is None:
            array = compute().view()
            array.flags.writeable = False
            self._arrays[key] = self._arrays[id(array)] = array
        return array

    def result(self, name: Hashable, compute: Callable[..., Array], operands: tuple[Any, ...]) -> Array:
        """Result of a computation, kept if all of its operands are known."""
        known = [self._known(x) for x in operands]
        if None in known:
            return compute(*operands)
        return self.once((name, *known), lambda: compute(*operands))

    def _known(self, x: Any) -> tuple[Any, ...] | None:
        """What tells an operand from others; None for an array from elsewhere, which may change."""
        if isinstance(x, np.ndarray):
            return (id(x),) if self._arrays.get(id(x)) is x else None
        return type(x), x
