"""Validate batches as they arrive and replace query ids by numbers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sklearn_rank._chunks.batch_kind import BatchKind
from sklearn_rank._chunks.columns import Columns, read_columns
from sklearn_rank._chunks.data_sets import DataSetBatches
from sklearn_rank._chunks.named_columns import ColumnNames
from sklearn_rank._chunks.parts import check_part
from sklearn_rank._chunks.query_ids import QueryIdIndex
from sklearn_rank._chunks.scattered_rows import ScatteredRows, check_ungrouped, narrow_labels
from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.grouping import Number
from sklearn_rank._engine.queries import Queries
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array, Index

R = TypeVar("R", "Rows", ScatteredRows)


class Rows(NamedTuple):
    """Checked rows of a batch by query, as in `Queries`, with the number of each query; it may continue elsewhere."""

    label: Array
    score: Array
    indptr: Index
    order: Index | None
    number: Number


class BatchValidator:
    """Validates batches; remembers the id and the weight of each query so far, by its number."""

    def __init__(
        self, names: ColumnNames, specs: Iterable[MetricSpec], assume_grouped: bool, n_jobs: int | None
    ) -> None:
        self._names, self._specs, self._grouped, self._n_jobs = names, list(specs), assume_grouped, n_jobs
        self.seen, self._weight = QueryIdIndex(), np.empty(256)
        self._kind: BatchKind | None = None
        self._last = -1  # number of the query that the last batch ended with

    def validate(self, batches: Iterable[Any]) -> Iterator[Rows]:
        """Yield the rows of each batch by query; errors name the batch and its first row in the stream."""
        return _each(batches, lambda batch: self._check(read_columns(batch, self._names)))

    def validate_scattered(self, batches: Iterable[Any]) -> Iterator[ScatteredRows]:
        """Yield the rows of each batch as they come; errors are those of `validate`."""
        return _each(batches, lambda batch: self._check_scattered(read_columns(batch, self._names)))

    @property
    def weight(self) -> Array | None:
        """Weight of each query so far."""
        return self._weight[: self.seen.n] if self._kind is not None and self._kind.weighted else None

    def _check_scattered(self, columns: Columns) -> ScatteredRows | None:
        """Rows as they come: each id is numbered once, where the general way groups rows first."""
        if columns.sample_weight is None and columns.qid is not None and queries_in(columns.y_true) is None:
            try:
                queries, score = check_ungrouped(columns, self._n_jobs)
                self._accept(queries)
                number = self.seen.number_rows(columns.qid, len(score))
                return ScatteredRows(number, narrow_labels(queries.label), score.copy())
            except (TypeError, ValueError):
                pass
        rows = self._check(columns)
        if rows is None:
            return None
        number = np.repeat(rows.number, np.diff(rows.indptr))
        if rows.order is not None:
            number[rows.order] = number.copy()
        return ScatteredRows(number, narrow_labels(rows.label), rows.score.copy())

    def _accept(self, queries: Queries) -> None:
        """Raise ValueError if rows are of another kind than those before, or have labels that a metric refuses."""
        kind = BatchKind.of(queries)
        kind.check_after(self._kind)
        self._kind = kind
        for spec in self._specs:
            spec.bind(queries)

    def _check(self, columns: Columns) -> Rows | None:
        queries = check_part(columns, self._n_jobs)
        if queries is None:
            return None
        self._accept(queries)
        n_before, number = self.seen.n, self.seen.number(queries.qid)
        if self._grouped:
            self._check_adjacent(queries, number, n_before)
        if queries.weight is not None:
            self._check_weight(queries.weight, queries, number, n_before)
        return Rows(queries.label, queries.score, queries.indptr, queries.order, number)

    def _check_adjacent(self, queries: Queries, number: Number, n_before: int) -> None:
        """Raise ValueError if other rows stand between those of a query."""
        row = None
        again = number < n_before
        again[0] &= number[0] != self._last
        if queries.order is not None:
            place = int(np.argmax(queries.order != np.arange(len(queries.order))))
            query, row = int(np.searchsorted(queries.indptr, place, side="right")) - 1, int(queries.order[place])
        elif again.any():
            query = int(np.argmax(again))
            row = int(queries.indptr[query])
        if row is not None:
            raise ValueError(
                "With assume_grouped=True the rows of a query must be adjacent; without it they may be in any order. "
                f"Got query {_id(queries, query)} again in row {row}."
            )
        self._last = number[-1]

    def _check_weight(self, weight: Array, queries: Queries, number: Number, n_before: int) -> None:
        """Keep the weight of each query; raise ValueError if it differs from that in another batch."""
        while len(self._weight) < self.seen.n:
            self._weight = np.concatenate([self._weight, np.empty_like(self._weight)])
        known = number < n_before
        self._weight[number[~known]] = weight[~known]
        differs = self._weight[number] != weight
        if differs.any():
            query = int(np.argmax(differs))
            raise ValueError(
                "sample_weight weights whole queries, so it must be constant within each. Got "
                f"{self._weight[number[query]]:g} and {weight[query]:g} in query {_id(queries, query)}."
            )


def _each(batches: Iterable[Any], check: Callable[[Any], R | None]) -> Iterator[R]:
    """Yield the rows of each batch that has any; errors name the batch."""
    start = 0
    for i, batch in enumerate(batches):
        try:
            rows = check(batch)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            of = f" of {batches.file}" if isinstance(batches, DataSetBatches) else ""
            raise kind(f"{error} This is batch {i}{of}, whose row 0 is row {start} of the stream.") from error
        if rows is not None:
            yield rows
            start += len(rows.score)
    if start == 0:
        raise ValueError("At least one row is needed. Got batches without rows.")


def _id(queries: Queries, query: int) -> str:
    return repr(queries.qid[query : query + 1].tolist()[0])
