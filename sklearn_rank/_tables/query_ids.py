"""Number query ids that arrive in batches: equal ids get the same number."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Distinct, Keys, Number, distinct_ids, joined
from sklearn_rank._engine.ids import ids_of, refuse_unfit_ids
from sklearn_rank._utils.numbers import aligned


class QueryIdIndex:
    """Distinct ids of a stream, numbered in order of first appearance."""

    def __init__(self) -> None:
        self.n, self._kind = 0, ""
        self._parts: list[NDArray[Any]] = []
        self._distinct, self._entry = Distinct(), dict[Any, int]()

    def number(self, ids: NDArray[Any]) -> Number:
        """Number of each of some distinct ids of `group_rows`; numbers from the previous `n` on are new."""
        kind = kind_after(self._kind, ids, "batches")
        if kind == "objects" and self._kind == "text":
            self._entry = {q: i for i, q in enumerate(self.ids().tolist())}
        self._kind = kind
        number, n_before = self._number(ids), self.n
        self.n = max(n_before, int(number.max()) + 1)
        if self.n > n_before:
            self._parts.append(ids[number >= n_before])
        return number

    def number_rows(self, qid: Any, n_rows: int) -> Number:
        """Number of the query of each row; ids come in any container, and as often as they want."""
        dtype = getattr(qid, "dtype", None)
        if not isinstance(dtype, np.dtype) or dtype.kind not in "iuf" or dtype.itemsize > 8:
            distinct, number = distinct_ids(qid, n_rows)
            return self.number(distinct).take(number)
        ids = ids_of(qid)
        refuse_unfit_ids(ids)
        if ids.shape != (n_rows,):
            raise ValueError(f"qid must name the query of each row. Got shape {ids.shape} for {n_rows} rows.")
        self._kind = kind_after(self._kind, ids, "batches")
        number, n_before = self._number(ids), self.n
        self.n = self._distinct.n
        if self.n > n_before:
            self._parts.append(ids[self._distinct.first[n_before : self.n]])
        return number

    def _number(self, ids: NDArray[Any]) -> Number:
        number = np.empty(len(ids), dtype=np.uint32)
        if self._kind in ("integers", "uint64"):
            self._distinct.number(Keys(aligned(np.ascontiguousarray(ids, dtype=np.int64))), 0, number)
        elif self._kind == "floats":
            self._distinct.number(Keys((ids.astype(np.float64) + 0.0).view(np.int64)), 0, number)
        elif self._kind == "text":
            self._distinct.number(joined(ids.tolist()), 0, number)
        else:
            number[:] = [self._entry.setdefault(q, len(self._entry)) for q in ids.tolist()]
        return number

    def ids_between(self, first: int, last: int) -> NDArray[Any]:
        """Ids numbered from `first` up to `last`; more may come."""
        ends = np.cumsum([len(part) for part in self._parts])
        part, last_part = np.searchsorted(ends, [first, last - 1], side="right")
        start = ends[part] - len(self._parts[part])
        return np.concatenate(self._parts[part : last_part + 1])[first - start : last - start]

    def ids(self) -> NDArray[Any]:
        """All ids; afterwards only ids of another kind may be numbered."""
        self._distinct, self._parts = Distinct(), [np.concatenate(self._parts)]
        refuse_unfit_ids(self._parts[0])
        return self._parts[0]


def kind_after(before: str, ids: NDArray[Any], where: str) -> str:
    """Kind of ids so far, "" before the first; another type is refused, because a query could have two ids."""
    kind = _kind(ids)
    if before and kind != before and {kind, before} != {"text", "objects"}:
        raise TypeError(
            f"qid must hold ids of one type in all {where}, so that one query has equal ids. Got {kind} after {before}."
        )
    return "objects" if before == "objects" else kind


def _kind(ids: NDArray[Any]) -> str:
    """Kind of ids, within which equality is defined."""
    kind = ids.dtype.kind
    if kind in "iu":
        return "uint64" if ids.dtype == np.uint64 else "integers"
    if kind == "f" and ids.dtype.itemsize <= 8:
        return "floats"
    if kind not in "SUTO":
        return str(ids.dtype)
    listed = ids.tolist()
    if all(isinstance(q, str) and "\0" not in q for q in listed):
        return "text"
    return "bytes" if all(isinstance(q, bytes) for q in listed) else "objects"
