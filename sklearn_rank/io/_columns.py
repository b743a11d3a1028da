"""Columns of runs and judgements: ids and numbers in them, and the names that libraries give them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._engine.ids import ids_of, is_missing
from sklearn_rank._tables.columns import column_names, find_column
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank.io._entries import Entries, QueryIds, checked

QUERY_NAMES = (
    "qid", "query_id", "queryid", "q_id", "topic_id", "user_id", "userid", "query", "topic", "user",
)  # fmt: skip
DOCUMENT_NAMES = (
    "docno", "doc_id", "docid", "document_id", "corpus_id", "passage_id", "pid", "did", "item_id", "itemid", "movieid",
    "document", "doc", "item",
)  # fmt: skip
VALUE_NAMES = {
    "judgements": ("relevance", "label", "rel", "grade", "qrel", "rating", "score"),
    "run": ("score", "similarity", "sim", "rank"),
}
"""Names of columns in BEIR, MS MARCO, PyTerrier, ir_measures, MovieLens and others; those that stand first win."""


KnownColumns = tuple[Any, Any, Any]
"""Names of the columns of queries, documents and values; None where the name is unknown."""
USUAL_NAMES: KnownColumns = (None, None, None)


def known_columns(names: Iterable[Any], kind: str, given: KnownColumns = USUAL_NAMES) -> KnownColumns:
    """Columns of a run or of judgements (`kind`): the `given` names, or else the names that libraries give them."""
    known = {str(name).lower().replace("-", "_").replace(" ", "_"): name for name in names}
    usual = QUERY_NAMES, DOCUMENT_NAMES, VALUE_NAMES[kind]
    query, document, value = (
        next((known[name] for name in some if name in known), None) if own is None else own
        for own, some in zip(given, usual, strict=True)
    )
    return query, document, value


def entries_of_frame(
    frame: Any, kind: str, duplicates: str, given: KnownColumns = USUAL_NAMES,
    with_scores: Callable[[Entries], Entries] | None = None,
) -> Entries:  # fmt: skip
    """Entries of a table whose columns have the `given` names, or names that libraries give them.

    A column "rank" is better the lower it is. Judgements without a column of grades are relevant documents.

    Raises
    ------
    TypeError
        If a needed column is not there.
    ValueError
        As `entries_in`.
    """
    names = column_names(frame) or [*frame]
    query, document, value = known_columns(names, kind, given)
    if query is None or document is None or (value is None and kind == "run"):
        reader = "read_run" if kind == "run" else "read_qrels"
        by_query = isinstance(frame, Mapping) and {*map(type, frame.values())} <= {dict, set}
        hint = " evaluate_run and io.join take a dictionary by query as it is." * by_query
        raise TypeError(
            f"A table as {kind} needs a column of queries, such as 'qid' or 'query_id', one of documents, such as "
            f"'doc_id' or 'docno', and one of values, such as {VALUE_NAMES[kind][0]!r}. Got {echo_all(names)}; "
            f"io.{reader}(table, value=..., qid=..., doc_id=...) reads columns of other names.{hint}"
        )
    if with_scores is None and kind == "run" and str(value).lower() == "rank":
        with_scores = negated
    return entries_in(frame, value, query, document, duplicates, kind, with_scores)


def negated(entries: Entries) -> Entries:
    """The entries of ranks, with scores."""
    return replace(entries, value=-entries.value)


def entries_in(
    table: Any, value: Any, qid: Any, doc_id: Any, duplicates: str, kind: str | None = None,
    with_scores: Callable[[Entries], Entries] | None = None,
) -> Entries:  # fmt: skip
    """Entries of three columns of a table.

    Raises
    ------
    ValueError
        If there is no such column, it has a missing value, a value is not finite, or a document is in a query twice.
    TypeError
        If values are not numbers.
    """
    check_names(table, value, qid, doc_id)
    queries, documents = ids_in(table, qid), ids_in(table, doc_id)
    numbers = np.ones(len(queries)) if value is None else numbers_in(table, value)
    if not np.isfinite(numbers).all():
        row = int(np.argmin(np.isfinite(numbers)))
        raise ValueError(f"Column {echo(value)} must hold finite numbers. Got {numbers[row]} in row {row}.")
    entries = replace(column_entries(numbers, queries, documents), _kind=kind)
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
    check_column(column_names(table) or [*table], name)
    column = find_column(table, name)
    n_rows_of(column, f"Column {echo(name)}")
    return column


def check_column(names: list[Any], name: str) -> None:
    """Refuse a column that is not once among the names of a table."""
    if names.count(name) != 1:
        known, n_times = echo_all(names), names.count(name)
        raise ValueError(f"A column must be one of the table's: {known}. Got {echo(name)}, {n_times} times there.")


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


def ids_in(table: Any, name: str) -> NDArray[Any]:
    """Column of ids; each row must have one."""
    column = column_of(table, name)
    array, missing = ids_of(column) if isinstance(column, (list, tuple)) else np.asarray(column), _missing(column)
    if array.dtype.kind in "fcmM":
        missing = missing | (array != array)
    if missing.any():
        raise ValueError(
            f"Every row needs an id, so column {echo(name)} must not have missing values. "
            f"Got {missing.sum()}, the first in row {int(np.argmax(missing))}."
        )
    return array
