"""Clusters of the queries of results, such as users: the cluster of each query."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.attributes import of_queries
from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import Grouping, number_of_rows, number_together
from sklearn_rank._utils.echo import echo, query_count
from sklearn_rank._utils.typing import Index


def named_queries(values: Any) -> NDArray[Any] | None:
    """Query ids of a pandas Series; None if queries are matched by position."""
    # A list has a method `index`, so this asks for the index of a Series only.
    index = labels_of(values)
    return None if index is None else np.asarray(index)


def clusters_of_queries(clusters: Any, ids: NDArray[Any] | None, n_queries: int) -> Index:
    """Number of each query's cluster; `ids` is None if queries are matched by position."""
    values = by_query(clusters, "clusters", ids, n_queries, "evaluate(..., clusters=)")
    return number_of_rows(values, n_queries)


def by_query(given: Any, name: str, ids: NDArray[Any] | None, n_queries: int, elsewhere: str) -> NDArray[Any]:
    """Cluster or weight of each query; `elsewhere` is an alternative that the error names."""
    if ids is not None:
        index = labels_of(given)
        if index is None and not isinstance(given, Mapping):
            raise TypeError(
                f"Pass {name} by query, because these queries have ids: {elsewhere}, or a dict or Series from query "
                f"ids to {name}. Got {type(given).__name__}."
            )
        if index is not None and index.has_duplicates:
            again = index[index.duplicated()].tolist()[0]
            raise ValueError(f"{name} must name each query once in their index. Got query {echo(again)} twice.")
        given = given if index is None else dict(zip(index, given, strict=True))
    return of_queries(given, name, Grouping.one_row_each(np.arange(n_queries) if ids is None else ids))


def joined_clusters(
    given: Sequence[NDArray[Any] | None], positions: Sequence[Any], ids: NDArray[Any], names: Sequence[str],
    function_name: str,
) -> Index | None:  # fmt: skip
    """Number of each query's cluster, from results with clusters; `positions` are their queries in `ids`."""
    known = of_all_or_none(given, names, "clusters", "clusters", function_name)
    if not known:
        return None
    _, numbers = number_together(known)
    rule = f"{function_name} takes results with the same clusters."
    of_query = agreed_by_query(numbers, positions, ids, names, rule, "clusters")
    return number_of_rows(of_query, len(of_query))


def of_all_or_none(
    given: Sequence[NDArray[Any] | None], names: Sequence[str], what: str, keyword: str, function_name: str
) -> list[NDArray[Any]]:
    """Clusters or weights that all results have; an empty list if no result has them."""
    known = [one for one in given if one is not None]
    if 0 < len(known) < len(given):
        without = names[[one is None for one in given].index(True)]
        raise ValueError(
            f"{function_name} takes results that all have {what}, or none: evaluate each with the same {keyword}=. "
            f"Got none in {echo(without)}."
        )
    return known


def agreed_by_query(
    given: Sequence[NDArray[Any] | None], positions: Sequence[Any], ids: NDArray[Any], names: Sequence[str], rule: str,
    what: str,
) -> Index:  # fmt: skip
    """Number of each query on which all systems agree; `positions` are their queries in `ids`, None has no numbers."""
    expected, source = np.full(len(ids), -1, dtype=np.int64), np.full(len(ids), -1)
    for i, (own, position) in enumerate(zip(given, positions, strict=True)):
        if own is None:
            continue
        differs = (source[position] >= 0) & (expected[position] != own)
        if differs.any():
            query = np.arange(len(ids))[position][differs][0]
            raise ValueError(
                f"{rule} Got other {what} in {echo(names[i])} than in {echo(names[source[query]])} for "
                f"{query_count(differs.sum())}, the first of them {echo(ids[query : query + 1].tolist()[0])}."
            )
        expected[position], source[position] = own, i
    return expected
