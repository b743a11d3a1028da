"""Clusters and weights of the queries of results."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import of_queries
from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import Grouping, number_of_rows, number_together
from sklearn_rank._engine.read import refuse_bad_weight
from sklearn_rank._utils.echo import echo, query_count
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.typing import Array, Index

WeightLike = ArrayLike | Mapping[Hashable, float] | None


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


def weights_of_queries(weight: Any, ids: NDArray[Any] | None, n_queries: int) -> Array:
    """Weight of each query; `ids` is None if queries are matched by position."""
    array = as_floats(by_query(weight, "weight", ids, n_queries, "evaluate(..., sample_weight=)"), "weight")
    if len(array):
        refuse_bad_weight(array)
    return array


def joined_by_query(
    given: Sequence[NDArray[Any] | None], positions: Sequence[Any], ids: NDArray[Any], names: Sequence[str], what: str,
    function_name: str,
) -> NDArray[Any] | None:  # fmt: skip
    """Cluster or weight of each query, of results that all have one; `positions` are their queries in `ids`."""
    known = [one for one in given if one is not None]
    if not known:
        return None
    if len(known) < len(given):
        without = names[[one is None for one in given].index(True)]
        keyword = "sample_weight" if what == "weights" else what
        raise ValueError(
            f"{function_name} takes results that all have {what}, or none: evaluate each with the same {keyword}=. "
            f"Got none in {echo(without)}."
        )
    distinct, numbers = number_together(known)
    rule = f"{function_name} takes results with the same {what}."
    return np.asarray(distinct[agreed_by_query(numbers, positions, ids, names, rule, what)])


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
