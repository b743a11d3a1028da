"""Columns of runs and judgments: ids and numbers in them, and the names that libraries give them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.doors import READ_RUN
from sklearn_rank._data.look import report
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._engine.ids import ids_of, is_missing
from sklearn_rank._misuse.runs import contradicts
from sklearn_rank._tables.columns import cells_of, column_names, exploded, find_column, has_lists, query_of
from sklearn_rank._tables.roles import (
    USUAL,
    Candidates,
    Roles,
    candidates,
    needed,
    normalized_name,
    rank_beside,
    roles_of,
)
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lower_is_better import is_lower_column
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank.io._entries import Entries, QueryIds, checked
from sklearn_rank.io._mappings import entries_of

EXAMPLE = {"judgments": "relevance", "run": "score"}
THREE_COLUMNS = "Make three columns, qid, doc_id and {}, with a row for each document of a query."


def entries_of_frame(
    frame: Any, kind: str, duplicates: str, given: Roles = USUAL, format: str | None = None,
    *, with_scores: Callable[[Entries], Entries] | None = None, value_is_meant: bool = False,
) -> Entries:  # fmt: skip
    """Entries of a table whose columns have the `given` names, or names that libraries give them."""
    # A column "rank" is better the lower it is, unless the `format` is "scores". Judgments without a column of grades
    # are relevant documents. `with_scores` makes scores of what was read.
    names = column_names(frame) or [*frame]
    found = candidates(names, kind, given)
    if (entries := _entries_of_lists(frame, names, kind, found, duplicates)) is not None:
        return entries
    if not found.qid or not found.doc_id or (kind == "run" and not found.value):
        reader = "read_run" if kind == "run" else "read_qrels"
        by_query = isinstance(frame, Mapping) and {*map(type, frame.values())} <= {dict, set}
        hint = " evaluate_run and io.join take a dictionary by query as it is." * by_query
        raise TypeError(
            f"A table as {kind} needs a column of queries, such as 'qid' or 'query_id', one of documents, such as "
            f"'doc_id' or 'docno', and one of values, such as {EXAMPLE[kind]!r}. Got {echo_all(names)}; "
            f"io.{reader}(table, value=..., qid=..., doc_id=...) reads columns of other names. "
            f"{THREE_COLUMNS.format(EXAMPLE[kind])}{hint}"
        )
    frame = with_rows(frame, needed(names, kind, given, value_is_meant), [*found.doc_id, *found.value])
    roles = roles_of(names, kind, given, partial(column_of, frame), value_is_meant=value_is_meant)
    entries = entries_in(
        frame, roles.value, roles.qid, roles.doc_id, duplicates, kind,
        with_scores or partial(as_scores, name=roles.value, format=format) if kind == "run" else None,
    )  # fmt: skip
    rank = rank_beside(names, roles)
    if kind == "run" and rank is not None and len(ranks := numbers_in(frame, rank)) == len(entries):
        seen = [*contradicts(ranks, entries.value, entries.qid.code)]
        report(READ_RUN, seen)
        entries = replace(entries, _told=bool(seen))
    return replace(entries, columns=roles._asdict())


def _entries_of_lists(table: Any, names: list[Any], kind: str, found: Candidates, duplicates: str) -> Entries | None:
    """Entries of a table with a list of documents, best first, for each query; None for any other table."""
    nested = [name for name in names if names.count(name) == 1 and has_lists(find_column(table, name))]
    if len(nested) != 1 or len(found.qid) != 1 or nested == found.qid or found.doc_id not in ([], nested):
        return None
    # Lists of documents whose name says so, and values beside them, are rows.
    if found.value not in ([], nested) or (kind == "judgments" and found.doc_id):
        return None
    queries, lists = ids_in(table, found.qid[0]).tolist(), cells_of(find_column(table, nested[0]))
    if isinstance(queries[0], Mapping):
        return None
    if len({*queries}) < len(queries):
        (again, _), *_ = Counter(queries).most_common(1)
        raise ValueError(f"A query must have one list of documents. Got several for {echo(again)}.")
    by_query = {query: [] if cells is None else [*cells] for query, cells in zip(queries, lists, strict=True)}
    entries, _ = entries_of(by_query, kind, duplicates=duplicates, exclude={})
    return replace(entries, columns=Roles(found.qid[0], nested[0])._asdict())


def as_scores(entries: Entries, name: Any, format: str | None) -> Entries:
    """The entries of a column of scores or ranks, by its name and by what the caller said of it."""
    if format == "ranks":
        return negated(entries)
    is_rank, low = normalized_name(name) == "rank", entries.value.min(initial=np.inf)
    if format is None and is_rank and low >= 0 and (entries.value % 1 == 0).all():
        return negated(entries)
    if format is None and (is_rank or (is_lower_column(name) and low >= 0)):
        found = f"has numbers that are no ranks, such as {low:g}" if is_rank else "seems to be better the lower it is"
        raise ValueError(
            f"Column {echo(name)} {found}: io.read_run(table, format='ranks') ranks the lowest first, and "
            "format='scores' the highest; on the command line --run-format does."
        )
    return entries


def with_rows(table: Any, names: list[Any], of_documents: list[Any]) -> Any:
    """The table, or its named columns without lists in their cells, if one has them."""
    known = column_names(table) or [*table]
    columns = {name: find_column(table, name) for name in names if known.count(name) == 1}
    return exploded(columns, of_documents) if any(map(has_lists, columns.values())) else table


def negated(entries: Entries) -> Entries:
    return replace(entries, value=-entries.value)


def entries_in(
    table: Any, value: Any, qid: Any, doc_id: Any, duplicates: str, kind: str | None = None,
    with_scores: Callable[[Entries], Entries] | None = None,
) -> Entries:  # fmt: skip
    check_names(table, *Roles(qid, doc_id, value).flat())
    queries, documents = ids_in(table, qid), ids_in(table, doc_id)
    numbers = np.ones(len(queries)) if value is None else numbers_in(table, value)
    n_blank = 0
    if kind == "judgments" and (blank := np.isnan(numbers)).any() and not blank.all():
        n_blank, rows = int(blank.sum()), np.flatnonzero(~blank)
        numbers, queries, documents = numbers[rows], queries[rows], documents[rows]
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"Column {echo(value)} must hold finite numbers. Got {numbers[row]} in row {row}.")
    entries = replace(column_entries(numbers, queries, documents), _kind=kind, n_blank=n_blank)
    return checked(entries if with_scores is None else with_scores(entries), in_row, duplicates)


def column_entries(values: NDArray[np.float64], queries: NDArray[Any], documents: NDArray[Any]) -> Entries:
    if not len(values) == len(queries) == len(documents) > 0:
        raise ValueError(
            f"Columns must have one entry per row, and at least one row. "
            f"Got {len(values)}, {len(queries)} and {len(documents)} entries."
        )
    names, (code,) = number_together([queries])
    return Entries(QueryIds(code.astype(np.uint32), names), documents, values)


def in_row(row: int) -> str:
    return f"in row {row}"


def column_of(table: Any, name: str) -> Any:
    check_named_once(column_names(table) or [*table], name)
    column = find_column(table, name)
    n_rows_of(column, f"Column {echo(name)}")
    return column


class WrongColumn(ValueError):
    """A column that is not once among the columns of a table."""

    def __init__(self, message: str, column: str, columns: list[Any]) -> None:
        super().__init__(message)
        self.column, self.columns = column, columns


def check_named_once(names: list[Any], name: str) -> None:
    if names.count(name) != 1:
        known, n_times = echo_all(names), names.count(name)
        raise WrongColumn(
            f"A column must be one of the table's: {known}. Got {echo(name)}, {n_times} times there.", name, names
        )


def check_names(table: Any, *names: str | None) -> None:
    """Refuse names of columns that are none, and a mapping of pandas objects whose rows are not the same, in order."""
    for name in names:
        if isinstance(name, (list, tuple, dict, set, np.ndarray)):
            raise TypeError(f"A column is named by a str. Got {echo(name)} instead.")
    if isinstance(table, Mapping):
        check_rows(**{name: table[name] for name in names if name is not None and name in table})


def _missing(column: Any) -> NDArray[np.bool_]:
    """Whether each entry is missing, by the rules of the column's library; in an array, None and NaN are."""
    if isinstance(column, np.ma.MaskedArray):
        return np.ma.getmaskarray(column)
    # pandas has isna, polars and Arrow have is_null.
    for method in ("isna", "is_null"):
        if hasattr(column, method):
            return np.asarray(getattr(column, method)())
    array = ids_of(column) if isinstance(column, (list, tuple)) else np.asarray(column)
    none = [*map(is_missing, array.tolist())] if array.dtype == object else np.zeros(len(array))
    return np.array(none, dtype=bool)


def numbers_in(table: Any, name: str) -> NDArray[np.float64]:
    """Column of numbers, with NaN for missing ones."""
    numbers = as_floats(column_of(table, name), f"Column {echo(name)}")
    if numbers.ndim != 1:
        raise TypeError(f"Column {echo(name)} must hold real numbers, one a row. Got shape {numbers.shape} instead.")
    return numbers


def ids_in(table: Any, name: str | Sequence[str]) -> NDArray[Any]:
    """Column of ids, or tuples of the ids of several columns; each row must have one."""
    if isinstance(name, (list, tuple)):
        ids: NDArray[Any] = query_of({one: ids_in(table, one) for one in name}, name)
        return ids
    column = column_of(table, cast(str, name))
    array, missing = ids_of(column) if isinstance(column, (list, tuple)) else np.asarray(column), _missing(column)
    if array.dtype.kind in "fcmM":
        missing = missing | (array != array)
    if missing.any():
        raise ValueError(
            f"Every row needs an id, so column {echo(name)} must not have missing values. "
            f"Got {missing.sum()}, the first in row {int(np.argmax(missing))}."
        )
    return array
