"""Columns of rows in any container: labels of pandas must agree, and are never ignored."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import has
from sklearn_rank._utils.typing import MatrixLike


def one_column(x: Any) -> Any:
    """The column of a frame, table or array of shape (n_samples, 1); anything else as it is."""
    if getattr(x, "shape", ())[1:] != (1,):
        return x
    if hasattr(x, "iloc"):  # pandas
        return x.iloc[:, 0]
    if hasattr(x, "to_series"):  # polars
        return x.to_series()
    return x.column(0) if hasattr(x, "column") else x[:, 0]


def labels_of(x: Any) -> Any:
    """Index of a pandas object; None for other objects."""
    index = getattr(x, "index", None)
    return index if hasattr(index, "get_level_values") else None


def names_of(x: Any) -> Any:
    """Names of the columns of a frame of pandas or polars, or of an Arrow table; None for other objects."""
    if has(x, "column_names"):
        return x.column_names
    return x.columns if has(x, "columns") and hasattr(x.columns, "__len__") else None


def queries_in(x: Any) -> Any:
    """Level "qid" of the index of a pandas object, if it has one; several are refused."""
    index = labels_of(x)
    if index is None or "qid" not in index.names:
        return None
    if [*index.names].count("qid") > 1:
        raise ValueError(f"An index must name the query of each row in one level 'qid'. Got levels {[*index.names]}.")
    return index.get_level_values("qid")


def check_rows(**given: Any) -> None:
    """Refuse objects of pandas, given by the names of arguments, whose labels are not equal."""
    # An index whose only level is "qid" names queries, and must equal all other such indices. A row index next to it is
    # matched by position if it is sorted and is not the query ids in another order.
    labels = {name: index for name, x in given.items() if (index := labels_of(x)) is not None}
    if len(labels) < 2:
        return
    of_queries = [(name, index) for name, index in labels.items() if _names_queries(index)]
    of_rows = [(name, index) for name, index in labels.items() if not _names_queries(index)]
    for alike in (of_queries, of_rows):
        for other in alike[1:]:
            if not _equal(alike[0][1], other[1]):
                _refuse(alike[0], other)
    if of_queries and of_rows:
        queries, rows = of_queries[0][1], of_rows[0][1]
        if (not rows.is_monotonic_increasing or _are_queries(rows, queries)) and not _equal(queries, rows):
            _refuse(of_queries[0], of_rows[0])


def check_features(X: MatrixLike, name_of_X: str = "X", /, **given: Any) -> None:
    """Refuse features whose rows have the labels of an argument in another order; other labels go by position."""
    index = labels_of(X)
    for name, x in given.items():
        other = labels_of(x)
        if index is None or other is None or _equal(index, other):
            continue
        of_X, of_x = _of_one_kind(index, other)
        if _names_queries(index) != _names_queries(other):
            are_alike = _are_queries(*((other, index) if _names_queries(index) else (index, other)))
        else:
            are_alike = of_X.nlevels == of_x.nlevels and of_x.isin(of_X).all() and of_X.isin(of_x).all()
        if are_alike:
            _refuse((name_of_X, of_X), (name, of_x))


def check_columns(
    first: Any, second: Any, name: str = "y_score", *, of_first: str = "y_true", are: str = "documents"
) -> None:
    """Refuse frames of queries by documents, or by what else columns `are`, that do not have the same in one order."""
    # One column of labels or scores is no document, and may have any name.
    a, b = names_of(first), names_of(second)
    if not _same_names(a, b) and (len(a) > 1 or are != "documents"):
        raise ValueError(
            f"The columns of {of_first} and {name} are {are}, so they must be the same in the same order: take "
            f"{name}[{of_first}.columns], or to_numpy() of both to match them by position. "
            f"Got {_difference(a, b)}."
        )


def check_positions(**given: Any) -> None:
    """Refuse two frames whose columns of one name stand at different positions; other columns go by position."""
    (first, a), (second, b) = ((name, names_of(x)) for name, x in given.items())
    if _same_names(a, b):
        return
    both = {*a} & {*b}
    if any(x != y and not both.isdisjoint((x, y)) for x, y in zip(a, b, strict=True)):
        raise ValueError(
            f"Columns of {first} and {second} that have the same name must stand at the same place: take "
            f"{second}[{first}.columns], or to_numpy() of both to match them by position. "
            f"Got {_difference(a, b)}."
        )


def check_items(relevance: Any, /, **given: Any) -> None:
    """Refuse a frame of queries by items whose columns are the rows of an argument in another order."""
    names = names_of(relevance)
    for name, x in given.items():
        if _is_reordered(names, index := labels_of(x)):
            raise ValueError(
                f"The columns of relevance and the rows of {name} are items, so they must be in the same order: take "
                f"relevance[{name}.index], or relevance.to_numpy() to match them by position. "
                f"Got {_difference(names, index)}."
            )


def check_items_in_order(items: Any, /, **given: Any) -> None:
    """Refuse frames whose rows, or both rows and columns, are `items` in another order."""
    for name, x in given.items():
        for labels in (labels_of(x), names_of(x)):
            if _is_reordered(items, labels):
                raise ValueError(
                    f"The rows of {name} are items, so they must be in the order of items: take {name}.loc[items], or "
                    f"items={name}.index. Got {_difference(items, labels)}."
                )


def check_ids(ids: Any, /, **given: Any) -> None:
    """Refuse `query_ids` that are the labels of an argument in another order; 0, 1, ... are positions."""
    for name, x in given.items():
        index = labels_of(x)
        if _is_reordered(ids, index) and [*range(len(ids))] not in ([*ids], [*index]):
            raise ValueError(
                f"query_ids must be in the order of the index of {name}: take {name}.loc[query_ids], or "
                f"{name}.to_numpy() if the ids are of the rows as they stand. Got {_difference(ids, index)}."
            )


def _names_queries(index: Any) -> bool:
    return [*index.names] == ["qid"]


def _are_queries(rows: Any, queries: Any) -> bool:
    """Whether labels of rows are ids of the queries; labels that differ cannot be, where a query has two rows."""
    some = queries[:100].tolist()  # which tells in nearly all cases
    if rows.nlevels > 1 or (rows.is_unique and len({*some}) < len(some)):
        return False
    return bool(rows.isin(queries).all())


def _of_one_kind(index: Any, other: Any) -> tuple[Any, Any]:
    """Two indexes without the level "qid" where only one of them has it, together with labels of rows."""
    if ("qid" in index.names) == ("qid" in other.names):
        return index, other
    return tuple(x.droplevel("qid") if "qid" in x.names and x.nlevels > 1 else x for x in (index, other))


def _equal(index: Any, other: Any) -> bool:
    """Whether labels are equal; different numbers of labels are reported elsewhere."""
    index, other = _of_one_kind(index, other)
    if other is index or len(other) != len(index) or other.equals(index):
        return True
    return _difference(index, other) is None  # equal ones of different types


def _same_names(a: Any, b: Any) -> bool:
    """Whether names of columns are equal, as far as there are; different numbers of columns are reported elsewhere."""
    if a is None or b is None or len(a) != len(b):
        return True
    return (hasattr(a, "equals") and a.equals(b)) or [*a] == [*b]


def _is_reordered(a: Any, b: Any) -> bool:
    """Whether labels are the same in another order."""
    return not _same_names(a, b) and {*a} == {*b}


def _difference(index: Any, other: Any) -> str | None:
    """First labels that differ, and their place."""
    for row, (a, b) in enumerate(zip(index, other, strict=True)):
        if a is not b and not np.all(a == b):
            return f"{echo(a)} and {echo(b)} at position {row}"
    return None


def _refuse(first: tuple[str, Any], second: tuple[str, Any]) -> NoReturn:
    (a, index), (b, other) = first, second
    index, other = _of_one_kind(index, other)
    raise ValueError(
        f"{a} and {b} must have the same index: rows with labels are not matched by position. "
        f"Take {b}.loc[{a}.index] if it has the same rows in another order, or {b}.to_numpy() if it has them in the "
        f"same order under other labels. Got {_difference(index, other)}."
    )
