"""Compact ids of queries and documents: a code for each row, or strings in one buffer."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Keys, hashed
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Index

ERRORS = "surrogateescape"
"""Error handler that keeps bytes that are not UTF-8, so that they are written as they were read."""


@dataclass(frozen=True, eq=False, repr=False)
class QueryIds:
    """Query of each row, as a number and the distinct ids by number.

    Every function with `qid` takes it. ``numpy.asarray`` converts it to an array of ids.

    Attributes
    ----------
    code : ndarray of shape (n_samples,)
        Number of the query of each row.
    names : ndarray of shape (n_queries,)
        Id of each query.
    """

    code: NDArray[Any]
    names: NDArray[Any]

    def __len__(self) -> int:
        """Number of rows."""
        return len(self.code)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The id of each row."""
        return self.names[self.code].astype(self.names.dtype if dtype is None else dtype, copy=False)

    def factorize(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the codes and the distinct ids, as `factorize` of pandas does."""
        return self.code, self.names

    def __repr__(self) -> str:
        """Number of rows and queries."""
        return f"QueryIds of {len(self.code)} rows and {len(self.names)} queries"


@dataclass(frozen=True, eq=False, repr=False)
class Text:
    """Strings as UTF-8 in one buffer.

    Attributes
    ----------
    data : ndarray of uint8
    end : ndarray of shape (n_strings,)
        End of each string in `data`.
    """

    data: NDArray[np.uint8]
    end: Index

    def __len__(self) -> int:
        """Number of strings."""
        return len(self.end)

    def __getstate__(self) -> dict[str, Any]:
        """State without the hashes, which differ between processes."""
        return {"data": self.data, "end": self.end}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The strings as an array."""
        return np.array(self.strings(range(len(self))), dtype=dtype or np.str_)

    @cached_property
    def keys(self) -> Keys:
        """Hashes of the strings, and the strings."""
        return hashed(self.data, self.end)

    def encoded(self, rows: Iterable[int]) -> list[bytes]:
        """The given strings as bytes."""
        stop = np.fromiter(rows, np.int64)
        start = np.where(stop > 0, self.end[stop - 1], 0)
        data = self.data.data
        return [bytes(data[a:b]) for a, b in zip(start.tolist(), self.end[stop].tolist(), strict=True)]

    def strings(self, rows: Iterable[int]) -> list[str]:
        """The given strings."""
        return [s.decode("utf-8", ERRORS) for s in self.encoded(rows)]

    @classmethod
    def of(cls, strings: list[str]) -> Text:
        """Encode strings."""
        encoded = [s.encode("utf-8", ERRORS) for s in strings]
        end = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), end)
