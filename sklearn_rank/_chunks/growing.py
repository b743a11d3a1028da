"""Columns that grow: rows are added at the end in time proportional to their number."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray


class GrowingColumns:
    """Columns of one length, with room for more rows. The owner knows how many rows count."""

    def __init__(self) -> None:
        self._room: dict[str, NDArray[Any]] = {}

    def write(self, start: int, columns: Mapping[str, NDArray[Any]]) -> None:
        """Write rows from `start` on; those before stay as they are."""
        stop = start + len(next(iter(columns.values())))
        if stop > len(next(iter(self._room.values()), ())):
            room = {name: np.empty(max(2 * start, stop), column.dtype) for name, column in columns.items()}
            for name, column in self._room.items():
                room[name][:start] = column[:start]
            self._room = room
        for name, column in columns.items():
            self._room[name][start:stop] = column

    def read(self, stop: int) -> dict[str, NDArray[Any]]:
        """Copies of the rows before `stop`."""
        return {name: column[:stop].copy() for name, column in self._room.items()}

    def take(self, rows: list[int]) -> dict[str, NDArray[Any]]:
        """Copies of some rows."""
        return {name: column[rows] for name, column in self._room.items()}
