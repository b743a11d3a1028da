"""Batches as they arrive: checked, ids of queries replaced by numbers, and put together to complete queries.

Rows of a query are adjacent, or they are scattered: then they are checked without being grouped, and stay as narrow as
they came.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.doors import TABLE
from sklearn_rank._data.look import BatchesSeen, look
from sklearn_rank._engine.attributes import check_attributes
from sklearn_rank._engine.columns import check_rows, queries_in
from sklearn_rank._engine.grouping import Grouping, Number, group_rows, refuse_other_queries
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import check_shapes, queries_of
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.column_arguments import ColumnNames, refuse_no_rows
from sklearn_rank._tables.columns import Columns, read_columns
from sklearn_rank._tables.data_sets import DataSetBatches
from sklearn_rank._tables.parts import check_part
from sklearn_rank._tables.query_ids import QueryIdIndex
from sklearn_rank._utils.blocks import COLLECTED_ROWS
from sklearn_rank._utils.echo import echo, extended
from sklearn_rank._utils.numbers import aligned, as_reals, column, refuse_inexact
from sklearn_rank._utils.typing import Array


class NumberedRows(NamedTuple):
    """Checked rows in the order of the stream, which are grouped later: a query may continue in the next batch.

    Each has the number of its query. Labels and scores are of types that float64 holds exactly.
    """

    number: Number
    label: NDArray[Any]
    score: NDArray[Any]

    def part(self, start: int, stop: int) -> NumberedRows:
        return NumberedRows(*(column[start:stop] for column in self))

    def queries(self, n_jobs: int | None = None) -> Queries:
        grouping = group_rows(self.number, len(self.number), n_jobs)
        return queries_of(as_float64(self.label), as_float64(self.score), grouping)


def joined_rows(held: list[NumberedRows]) -> NumberedRows:
    """Rows of several batches, which are freed column by column; the list is empty afterwards."""
    columns = [[*column] for column in zip(*held, strict=True)]
    held.clear()
    return NumberedRows(*(np.concatenate(columns.pop(0)) for _ in range(len(columns))))


class BatchKind(NamedTuple):
    """What all batches have in common: the shape of the labels of a row, and whether queries have weights."""

    shape: tuple[int, ...]
    weighted: bool

    @classmethod
    def of(cls, queries: Queries) -> BatchKind:
        return cls(queries.row_label.shape[1:], queries.weight is not None)

    def check_after(self, before: BatchKind | None, where: str = "batches") -> None:
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


class BatchValidator:
    """Validates batches; remembers the id and the weight of each query so far, by its number."""

    def __init__(
        self, names: ColumnNames, specs: Iterable[MetricSpec], assume_grouped: bool, n_jobs: int | None
    ) -> None:
        self._names, self._specs, self._grouped, self._n_jobs = names, list(specs), assume_grouped, n_jobs
        self.seen, self._of_queries = QueryIdIndex(), dict[tuple[str, str], NDArray[Any]]()
        self.batches = BatchesSeen()
        self._kind: BatchKind | None = None
        # Number of the query that the last batch ended with.
        self._last = -1

    def validate(self, batches: Iterable[Any]) -> Iterator[NumberedRows]:
        """Yield the rows of each batch; errors name the batch and its first row in the stream."""
        return _each(batches, lambda batch: self._check(read_columns(batch, self._names)))

    def validate_scattered(self, batches: Iterable[Any]) -> Iterator[NumberedRows]:
        """Yield the rows of each batch as they come; it raises the errors of `validate`."""
        return map(self._noted, _each(batches, lambda batch: self._check_scattered(read_columns(batch, self._names))))

    def _noted(self, rows: NumberedRows) -> NumberedRows:
        self.batches.add(rows.number, rows.label)
        return rows

    @property
    def weight(self) -> Array | None:
        return self.of_queries("sample_weight").get("sample_weight")

    def of_queries(self, role: str) -> dict[str, NDArray[Any]]:
        """Values of each query so far, by the name of the column: weights, attributes or clusters."""
        return {name: kept[: self.seen.n] for (of, name), kept in self._of_queries.items() if of == role}

    def _check_scattered(self, columns: Columns) -> NumberedRows | None:
        """Rows as they come: each id is numbered once, where the general way groups rows first."""
        of_rows = all(one is None for one in columns[3:])
        if of_rows and columns.qid is not None and queries_in(columns.y_true) is None:
            try:
                queries, score = check_ungrouped(columns, self._n_jobs)
                self._accept(queries)
                number = self.seen.number_rows(columns.qid, len(score))
                return NumberedRows(number, narrow_labels(queries.label), score.copy())
            except (TypeError, ValueError):
                # The general way below says what is wrong.
                pass
        return self._check(columns)

    def _accept(self, queries: Queries) -> None:
        kind = BatchKind.of(queries)
        kind.check_after(self._kind)
        self._kind = kind
        for spec in self._specs:
            spec._bind(queries)

    def _check(self, columns: Columns) -> NumberedRows | None:
        queries = check_part(columns, self._n_jobs)
        if queries is None:
            return None
        self._accept(queries)
        n_before, number = self.seen.n, self.seen.number(queries.grouping.ids)
        if queries.grouping.row_is_query and (number < n_before).any():
            look(TABLE, again=(queries.grouping.ids[number < n_before][:1].tolist()[0],))
        if self._grouped:
            self._check_adjacent(queries, number, n_before)
        self._keep(columns, queries, number, n_before)
        # The memory of a batch may be used again for the next.
        label = narrow_labels(queries.label) if queries.grade is None else queries.grade.copy()
        return NumberedRows(number[queries.grouping.query_of_row], label, queries.score.copy())

    def _check_adjacent(self, queries: Queries, number: Number, n_before: int) -> None:
        row, grouping = None, queries.grouping
        again = number < n_before
        again[0] &= number[0] != self._last
        if grouping.order is not None:
            at = int(np.argmax(grouping.order != np.arange(len(grouping.order))))
            query, row = grouping.query_at(at), int(grouping.order[at])
        elif again.any():
            query = int(np.argmax(again))
            row = int(grouping.indptr[query])
        if row is not None:
            raise ValueError(
                "With assume_grouped=True the rows of a query must be adjacent; without it they may be in any order. "
                f"Got query {_id(queries, query)} again in row {row}."
            )
        self._last = number[-1]

    def _keep(self, columns: Columns, queries: Queries, number: Number, n_before: int) -> None:
        """Keep what each query has; raise ValueError if it differs from that in another batch."""
        by, clusters = check_attributes(columns.by, columns.clusters, queries.grouping)
        given: dict[tuple[str, str], Any] = {("by", name): values for name, values in by.items()}
        given |= {(role, role): values for role, values in (("clusters", clusters), ("sample_weight", queries.weight))}
        known = number < n_before
        for (role, name), values in given.items():
            if values is None:
                continue
            # Texts of other batches may be longer.
            values = values if role == "sample_weight" else values.astype(object)
            kept = self._of_queries.get((role, name), values[:0])
            if len(kept) < self.seen.n:
                kept = np.concatenate([kept, np.empty(self.seen.n, kept.dtype)])
            kept[number[~known]] = values[~known]
            self._of_queries[role, name] = kept
            if (differs := kept[number] != values).any():
                query, show = int(np.argmax(differs)), "{:g}".format if role == "sample_weight" else echo
                raise ValueError(
                    f"{role} is a property of whole queries, so it must be constant within each. "
                    f"Got {show(kept[number[query]])} and {show(values[query])} in query {_id(queries, query)}."
                )


def _each(batches: Iterable[Any], check: Callable[[Any], NumberedRows | None]) -> Iterator[NumberedRows]:
    """Yield the rows of each batch that has any; errors name the batch."""
    start = 0
    for i, batch in enumerate(batches):
        try:
            rows = check(batch)
        except (TypeError, ValueError) as error:
            of = f" of {batches.file}" if isinstance(batches, DataSetBatches) else ""
            raise extended(error, f"This is batch {i}{of}, whose row 0 is row {start} of the stream.") from error
        if rows is not None:
            yield rows
            start += len(rows.score)
    if start == 0:
        refuse_no_rows("batches")


def _id(queries: Queries, query: int) -> str:
    return repr(queries.grouping.ids[query : query + 1].tolist()[0])


def check_ungrouped(columns: Columns, n_jobs: int | None) -> tuple[Queries, NDArray[Any]]:
    """Check rows without weights; each is a query here. Return them, and the scores in the type that they came in."""
    # If there is anything to say, `check_part` then says it, in the words and the order of `evaluate`.
    y_true, y_score, qid, _ = columns[:4]
    label, score = _narrow(y_true, "y_true"), _narrow(y_score, "y_score")
    check_rows(y_true=y_true, y_score=y_score, qid=qid)
    check_shapes(label, score)
    refuse_other_queries(y_score, qid, name="y_score")
    grouping = Grouping.by_sizes(np.ones(len(score), np.int64))
    return queries_of(as_float64(label), as_float64(score), grouping), score


def as_float64(numbers: NDArray[Any]) -> NDArray[np.float64]:
    return aligned(np.ascontiguousarray(numbers, dtype=np.float64))


def _narrow(x: Any, name: str) -> NDArray[Any]:
    array = as_reals(x, name)
    # Floats that came as floats are exact.
    if array.dtype.kind != "f" or array is not x:
        refuse_inexact(x, name)
    return column(array)


def narrow_labels(label: NDArray[np.float64]) -> NDArray[Any]:
    """Labels as bytes, if each is bit by bit what its byte becomes again; else a copy of them."""
    with np.errstate(invalid="ignore"):
        grade = label.astype(np.uint8)
    is_exact = np.array_equal(grade.astype(np.float64).view(np.int64), label.view(np.int64))
    return grade if is_exact else label.copy()


def adjacent_queries(batches: Iterable[NumberedRows]) -> Iterator[NumberedRows]:
    """Yield rows of complete queries; the last query of a batch may continue in the next one."""
    held, n_held = list[NumberedRows](), 0
    for rows in batches:
        held.append(rows)
        n_held += len(rows.number)
        if n_held >= COLLECTED_ROWS and held[0].number[0] != (last := rows.number[-1]):
            rows = joined_rows(held)
            end, n_rows = int(np.flatnonzero(rows.number != last)[-1]) + 1, n_held
            n_held = n_rows - end
            held.append(NumberedRows(*(column.copy() for column in rows.part(end, n_rows))))
            yield rows.part(0, end)
    if held:
        yield joined_rows(held)
