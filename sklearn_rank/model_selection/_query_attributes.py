"""Attributes of queries given by row, which splitters read: the cluster of a query, and its time."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.columns import check_features, check_rows, labels_of, one_column
from sklearn_rank._engine.grouping import number_of_rows, query_numbers
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lengths import check_lengths
from sklearn_rank._utils.typing import Index, MatrixLike
from sklearn_rank.model_selection._routing import ROUTING_IS_OFF

ONE_CLUSTER = (
    "Each query must lie in one cluster, or its rows cannot be on one side with its cluster; make ids of both, as in "
    "qid=[*zip(clusters, qid)], where ids repeat from cluster to cluster."
)
ONE_TIME = (
    "The rows of a query must have one time, or a query could be on both sides of it; give each query its "
    "earliest, as pd.Series(time).groupby(qid).transform('min') does."
)


def check_split_rows(X: MatrixLike, y: Any, groups: Any) -> None:
    """Refuse rows in another order than those of X: the parts that scorers see no longer show it.

    Raises
    ------
    ValueError
        If X, y and groups have other numbers of rows, or labels that do not belong together.
    """
    check_lengths(X=X, y=y)
    check_rows(y=y, groups=groups)
    check_features(X, y=y, groups=groups)


def find_attribute(X: MatrixLike, y: Any, groups: Any, values: ArrayLike | None, name: str) -> Any:
    """An attribute of each row's query: `values` if given, else the level of that name of y's index; None if neither.

    Raises
    ------
    ValueError
        If its labels are others than those of the rows, or there are both and they are not the same.
    """
    index = labels_of(y)
    level = index.get_level_values(name) if index is not None and name in index.names else None
    if values is None:
        return level
    check_features(X, **{name: values})
    for other_name, other in (("y", y), ("groups", groups)):
        check_rows(**{other_name: other, name: values})
    numbers_of = query_numbers if name == "time" else number_of_rows  # times have an order, clusters names
    if level is not None and not np.array_equal(numbers_of(level, len(level)), numbers_of(values, len(level))):
        raise ValueError(f"{name} and the level {echo(name)} of the index of y must say the same; drop one of them.")
    return values


def needed(values: Any, name: str, splitter: str) -> Any:
    """An attribute that a splitter cannot do without.

    Raises
    ------
    ValueError
        If it is None.
    """
    if values is not None:
        return values
    lost = "" if sklearn.get_config()["enable_metadata_routing"] else ROUTING_IS_OFF.replace("qid", name)
    raise ValueError(
        f"{splitter} needs the {name} of each row: pass {name}= to split or RankingEvaluator, "
        f"params={{'qid': qid, '{name}': {name}}} to cross_validate, or give y as a pandas Series "
        f"whose index has the levels 'qid' and {echo(name)}. Got none.{lost}"
    )


def clusters_of_rows(clusters: ArrayLike, qid: ArrayLike, n_rows: int) -> Index:
    """Number of each row's cluster, in the order of their ids, each query in one.

    Raises
    ------
    ValueError
        If there is not one hashable id for each row, one is missing, or a query lies in two clusters.
    """
    check_one_each(clusters, "clusters", n_rows)
    try:
        number = query_numbers(clusters, n_rows)
    except ValueError:
        raise ValueError(
            "clusters must name the user, session or site of each row by hashable ids, none of them missing. "
            f"Got {echo(clusters)}."
        ) from None
    check_constant(number, qid, clusters, ONE_CLUSTER)
    return number


def check_one_each(values: Any, name: str, n_rows: int) -> None:
    """Refuse an attribute that is not one value for each row.

    Raises
    ------
    ValueError
        Saying how many there are.
    """
    shape = (len(values),) if isinstance(values, list | tuple) else np.shape(one_column(values))
    if shape != (n_rows,):
        raise ValueError(f"{name} must have one entry for each of the {n_rows} rows. Got shape {shape}.")


def check_constant(key: NDArray[Any], qid: ArrayLike, values: Any, rule: str) -> None:
    """Refuse keys that differ within a query.

    Raises
    ------
    ValueError
        With `rule`, the query and the two of the `values`.
    """
    number = number_of_rows(qid, len(key))
    row = np.empty(number.max(initial=-1) + 1, dtype=np.int64)
    row[number[::-1]] = np.arange(len(key))[::-1]
    first = row[number]
    (torn,) = np.nonzero(key != key[first])
    if len(torn):
        of_rows = ids_of(values)
        a, b = of_rows[first[torn[0]]], of_rows[torn[0]]
        raise ValueError(f"{rule} Got {_bare(a)} and {_bare(b)} of query {_bare(ids_of(qid)[torn[0]])}.")


def _bare(value: Any) -> str:
    """A value in a message, dates as text."""
    return str(value) if isinstance(value, np.datetime64 | np.timedelta64) else echo(value)
