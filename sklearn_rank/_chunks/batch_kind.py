"""What all batches of a stream have in common: subtopics of a label, and whether there are weights."""

from __future__ import annotations

from typing import NamedTuple

from sklearn_rank._engine.queries import Queries


class BatchKind(NamedTuple):
    """Shape of the labels of a row, and whether queries have weights."""

    shape: tuple[int, ...]
    weighted: bool

    @classmethod
    def of(cls, queries: Queries) -> BatchKind:
        """Kind of some queries."""
        return cls(queries.row_label.shape[1:], queries.weight is not None)

    def check_after(self, before: BatchKind | None, where: str = "batches") -> None:
        """Raise ValueError if the batch has other columns than those before."""
        if before is None:
            return
        if self.shape != before.shape:
            raise ValueError(
                f"y_true must have the same subtopics in all {where}. "
                f"Got rows of shape {self.shape} after {before.shape}."
            )
        if self.weighted != before.weighted:
            having = ("with", "without") if self.weighted else ("without", "with")
            raise ValueError(
                f"Either all {where} have sample_weight or none. Got one {having[0]} after one {having[1]}."
            )
