"""Columns of rows in any container: labels of pandas must agree, and are never ignored."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from sklearn_rank._utils.echo import echo
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


def queries_in(x: Any) -> Any:
    """Level "qid" of the index of a pandas object, if it has one.

    Raises
    ------
    ValueError
        If it has several.
    """
    index = labels_of(x)
    if index is None or "qid" not in index.names:
        return None
    if [*index.names].count("qid") > 1:
        raise ValueError(f"An index must name the query of each row in one level 'qid'. Got levels {[*index.names]}.")
    return index.get_level_values("qid")


def check_rows(**given: Any) -> None:
    """Refuse objects of pandas, given by the names of arguments, whose labels are not equal.

    An index that is "qid" alone names queries. It must equal others that do; beside labels of rows, which say nothing
    about queries, rows go by position as long as those labels rise.

    Raises
    ------
    ValueError
        Naming the two arguments, the first place where they differ and the ways out.
    """
    labels = {name: index for name, x in given.items() if (index := labels_of(x)) is not None}
    if len(labels) < 2:
        return
    of_queries = [(name, index) for name, index in labels.items() if _names_queries(index)]
    of_rows = [(name, index) for name, index in labels.items() if not _names_queries(index)]
    for alike in (of_queries, of_rows):
        for other in alike[1:]:
            if not _equal(alike[0][1], other[1]):
                _refuse(alike[0], other)
    if of_queries and of_rows and not of_rows[0][1].is_monotonic_increasing:
        _refuse(of_queries[0], of_rows[0])


def check_features(X: MatrixLike, name_of_X: str = "X", /, **given: Any) -> None:
    """Refuse features whose rows have the labels of an argument in another order; other labels go by position.

    Raises
    ------
    ValueError
        Naming the argument, the first place where they differ and the ways out.
    """
    index = labels_of(X)
    for name, x in given.items():
        other = labels_of(x)
        if index is None or other is None or _names_queries(index) != _names_queries(other) or _equal(index, other):
            continue
        of_X, of_x = _of_one_kind(index, other)
        if of_X.nlevels == of_x.nlevels and of_x.isin(of_X).all() and of_X.isin(of_x).all():
            _refuse((name_of_X, of_X), (name, of_x))


def check_columns(first: Any, second: Any, name: str = "y_score") -> None:
    """Refuse frames of queries by documents whose columns are not the same documents in the same order.

    Raises
    ------
    ValueError
        Naming the first place where they differ and the ways out.
    """
    a, b = (getattr(x, "columns", None) for x in (first, second))
    if hasattr(a, "get_level_values") and hasattr(b, "get_level_values") and not _equal(a, b):
        raise ValueError(
            f"The columns of y_true and {name} are documents, so they must be the same in the same order: take "
            f"{name}[y_true.columns], or to_numpy() of both to match them by position. "
            f"Got {_difference(a, b)}."
        )


def _names_queries(index: Any) -> bool:
    return [*index.names] == ["qid"]


def _of_one_kind(index: Any, other: Any) -> tuple[Any, Any]:
    """Two indexes without the level "qid" where one of them alone has it, beside labels of rows."""
    if ("qid" in index.names) == ("qid" in other.names):
        return index, other
    return tuple(x.droplevel("qid") if "qid" in x.names and x.nlevels > 1 else x for x in (index, other))


def _equal(index: Any, other: Any) -> bool:
    """Whether labels are equal; different numbers of labels are reported elsewhere."""
    index, other = _of_one_kind(index, other)
    if other is index or len(other) != len(index) or other.equals(index):
        return True
    return _difference(index, other) is None  # equal ones of different types


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
        f"{a} and {b} must have the same index, as rows with labels are not matched by position. "
        f"Take {b}.loc[{a}.index] if it has the same rows in another order, or {b}.to_numpy() if it has them in the "
        f"same order under other labels. Got {_difference(index, other)}."
    )
