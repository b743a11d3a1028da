"""Attributes of queries: what puts them into segments (`by`) and into clusters.

They are given per row and constant within each query, or per query where a row is a query.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.columns import check_rows, labels_of
from sklearn_rank._engine.grouping import Grouping, refuse_queries_elsewhere
from sklearn_rank._engine.ids import id_array, ids_of, refuse_missing_ids, refuse_unfit_ids
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import map_blocks
from sklearn_rank._utils.typing import FrameLike

AttributesLike = ArrayLike | Mapping[str, ArrayLike] | Mapping[Hashable, Hashable] | FrameLike | None
ClustersLike = ArrayLike | Mapping[Hashable, Hashable] | None


class QueryAttributes(NamedTuple):
    """Values per query of each attribute, by name, and cluster of each query."""

    attributes: dict[str, NDArray[Any]]
    clusters: NDArray[Any] | None


NO_PROPERTIES = QueryAttributes({}, None)
"""Neither attributes nor clusters."""


class OrderedValues(np.ndarray[Any, np.dtype[Any]]):
    """Values whose order is that of their categories, `order`, not of the values themselves."""

    order: tuple[Any, ...]

    def __array_finalize__(self, other: Any) -> None:
        """Keep the order in views and copies."""
        self.order = getattr(other, "order", ())

    def __reduce__(self) -> Any:
        """Pickle with the order."""
        return in_order, (np.asarray(self), self.order)


def in_order(values: NDArray[Any], order: tuple[Any, ...]) -> OrderedValues:
    """Values with the order of their categories."""
    ordered = values.view(OrderedValues)
    ordered.order = order
    return ordered


def order_of(column: Any) -> tuple[Any, ...]:
    """Categories of an ordered Categorical of pandas or an Enum of polars, in their order; () of other columns."""
    dtype = getattr(column, "dtype", None)
    is_ordered = getattr(dtype, "ordered", False) or str(dtype).startswith("Enum")
    return tuple(dtype.categories) if is_ordered and dtype is not None else getattr(column, "order", ())


def check_attributes(by: Any, clusters: Any, grouping: Grouping, **others: Any) -> QueryAttributes:
    """Check attributes and clusters; pandas objects must have the labels of the `others`, given by name."""
    if by is None and clusters is None:
        return QueryAttributes({}, None)
    columns = attributes_by_name(by)
    words = {name: "by" if columns[name] is by else f"by[{echo(name)}]" for name in columns}
    n_rows = grouping.n_given
    orders = {name: order for name, column in columns.items() if (order := order_of(column))}
    columns = {name: as_mapping(column, n_rows) for name, column in columns.items()}
    clusters = as_mapping(clusters, n_rows)
    given = {words[name]: column for name, column in columns.items()} | {"clusters": clusters}
    check_rows(**others, **given)
    refuse_queries_elsewhere(grouping.ids if grouping.row_is_query else others.get("qid"), **given)
    attributes = {name: of_queries(column, words[name], grouping) for name, column in columns.items()}
    attributes = {
        name: values if name not in orders else in_order(values, orders[name]) for name, values in attributes.items()
    }
    return QueryAttributes(attributes, None if clusters is None else of_queries(clusters, "clusters", grouping))


def attributes_by_name(by: Any) -> dict[str, Any]:
    """Attributes by name: the keys of a dict, the columns of a frame, the name of a Series, or else "by"."""
    if by is None:
        return {}
    if hasattr(type(by), "collect"):
        raise TypeError(f"Attributes of 'by' must be in memory: take collect(). Got {type(by).__name__}.")
    if isinstance(by, Mapping) and not any(map(_is_value, by.values())):
        columns = dict(by)
    elif isinstance(names := getattr(by, "column_names", None), list):  # pyarrow
        columns = {name: by.column(name) for name in names}
    elif (names := getattr(by, "columns", None)) is not None and not callable(names):
        columns = {name: by[name] for name in names}
    else:
        name = getattr(by, "name", None)
        columns = {name if isinstance(name, str) else "by": by}
    for name in columns:
        if not isinstance(name, str):
            raise TypeError(f"Attributes of 'by' must have names that are str. Got {echo(name)}.")
    return columns


def as_mapping(values: Any, n_rows: int) -> Any:
    """A Series with queries as its index, and not with a value for each of the rows, as a dict; others as they are."""
    index = labels_of(values)
    if (
        index is None
        or index.nlevels > 1
        or len(values) == n_rows
        or not index.is_unique
        or not hasattr(values, "array")
    ):
        return values
    return dict(zip(index.tolist(), values.tolist(), strict=True))


def by_row(values: Any, name: str, qid: Any, n_rows: int) -> Any:
    """Values by query, in a dict or a Series, repeated for each row; others unchanged."""
    values = as_mapping(values, n_rows)
    if not isinstance(values, Mapping):
        return values
    queries = range(n_rows) if qid is None else ids_of(qid).tolist()
    lacking = next((query for query in queries if query not in values), None)
    if lacking is not None:
        raise ValueError(f"{name} by query must have a value for each query. Got none for query {echo(lacking)}.")
    return [values[query] for query in queries]


def of_queries(x: Any, name: str, grouping: Grouping) -> NDArray[Any]:
    """Value of each query, of values that are given per row, per query, or as a dict from queries to values."""
    missing = f"{name} must not have missing values: fill them with one of their own, 'unknown' say. Got None or NaN."
    try:
        if isinstance(x, Mapping):
            values = ids_of([_looked_up(x, query, name) for query in grouping.ids.tolist()], missing)
        else:
            entries, to_values = id_array(x, missing)
            _check_shape(x, entries.shape, name, grouping)
            _refuse_unhashable(entries)
            rows = grouping.origin.rows
            entries = entries if rows is None else entries[rows]
            # A result keeps them, and the caller may write to values that were given per query.
            of_query = (
                entries.copy() if grouping.row_is_query else _of_rows(entries, to_values, name, grouping, missing)
            )
            values = to_values(of_query)
        # Weights are no ids: they may be as large as floats are.
        (refuse_missing_ids if name == "weight" else refuse_unfit_ids)(values, missing)
        if values.dtype == object:
            set(values.tolist())
    except TypeError as error:
        raise ValueError(f"{name} must have values that can be hashed, and none missing. Got {error}.") from None
    return values


def _refuse_unhashable(entries: NDArray[Any]) -> None:
    """Raise TypeError for objects that cannot be hashed, before they are compared: arrays would be entry by entry."""
    types = set(map(type, entries.tolist())) if entries.dtype == object else ()
    if unhashable := next((kind for kind in types if kind.__hash__ is None), None):
        raise TypeError(f"unhashable type: {unhashable.__name__!r}")


def _looked_up(values: Mapping[Any, Any], query: Any, name: str) -> Any:
    if query not in values:
        raise ValueError(
            f"A dict {name} must have attributes as its keys and a column of each, or every query and its value. "
            f"Got no entry for query {echo(query)}."
        )
    return values[query]


def _check_shape(x: Any, shape: tuple[int, ...], name: str, grouping: Grouping) -> None:
    expected, per_row = grouping.n_given, not grouping.row_is_query
    if isinstance(x, (str, bytes)):
        raise ValueError(f"{name} must be a column of values; evaluate_table takes the name of one. Got {echo(x)}.")
    if shape != (expected,):
        hint = (
            " Values per query go into a dict from queries to values."
            if per_row and shape == (grouping.n_queries,)
            else ""
        )
        unit = "row" if per_row else "query"
        raise ValueError(f"{name} must have one entry per {unit}, {expected}. Got shape {shape} instead.{hint}")


def _of_rows(
    entries: NDArray[Any], to_values: Callable[[NDArray[Any]], NDArray[Any]], name: str, grouping: Grouping,
    missing: str,
) -> NDArray[Any]:  # fmt: skip
    def show(two: NDArray[Any]) -> str:
        values = to_values(two)
        refuse_missing_ids(values, missing)
        return " and ".join(map(echo, values.tolist()))

    rule = f"{name} is a property of whole queries, so it must be constant within each."
    return constant_within(entries, grouping, rule, show)


def constant_within(
    x: NDArray[Any], grouping: Grouping, rule: str, show: Callable[[NDArray[Any]], str]
) -> NDArray[Any]:
    """Entry of each query, of entries per row."""
    # If they vary inside a query they are refused with the `rule`, and two of them as `show` writes them.
    indptr, of_query = grouping.indptr, x[grouping.first_rows]
    if grouping.order is None:  # mostly no entry differs from the one before, unless a query begins there
        differs = x[1:] != x[:-1]
        if np.count_nonzero(differs) == np.count_nonzero(differs[indptr[1:-1] - 1]):
            return of_query

    def check(first: int, last: int) -> None:
        of_row = grouping.take(x, first, last)
        differs = of_row != np.repeat(of_query[first:last], np.diff(indptr[first : last + 1]))
        if differs.any():
            row = int(np.argmax(differs))
            query = grouping.query_at(indptr[first] + row)
            two = np.append(of_query[query : query + 1], of_row[row : row + 1])
            raise ValueError(f"{rule} Got {show(two)} in query {echo(grouping.ids[query : query + 1].tolist()[0])}.")

    map_blocks(check, thread_blocks(indptr), 1)
    return of_query


def _is_value(x: Any) -> bool:
    """Whether x is the value of one query, not a column of values."""
    return isinstance(x, (str, bytes)) or not hasattr(x, "__len__")
