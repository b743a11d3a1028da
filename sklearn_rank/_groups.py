"""Group sizes of LightGBM and XGBoost, to and from the query of each row."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import LARGEST_EXACT, refuse_masked


def qid_from_group_sizes(sizes: Any) -> NDArray[Any]:
    """Query number of each row, from the sizes of adjacent groups.

    Parameters
    ----------
    sizes : array-like of int, shape (n_queries,)
        Rows of each query, each at least 1; also as whole floats. A Series, such as
        ``frame.groupby("qid").size()``, has the ids of the queries in its index.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 for the rows of the first group, 1 for the second, and so on; or the ids.

    Raises
    ------
    ValueError
        If a size is not an integer >= 1, or there is none.

    Examples
    --------
    >>> from sklearn_rank import qid_from_group_sizes
    >>> qid_from_group_sizes([2, 1, 3])
    array([0, 0, 1, 2, 2, 2])
    """
    refuse_masked(sizes, "Group sizes")
    array = np.asarray(as_numpy(sizes))
    if array.dtype.kind == "f" and (np.abs(array) < LARGEST_EXACT).all() and (array == np.floor(array)).all():
        array = array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0 or array.min() < 1:
        raise ValueError(
            f"Group sizes must be a one-dimensional sequence of ints >= 1. Got {echo(sizes)} instead.{_meant(array)}"
        )
    index = labels_of(sizes)
    return np.repeat(np.arange(len(array)) if index is None else np.asarray(index), array)


def _meant(given: NDArray[Any]) -> str:
    """What was meant by values that are no sizes."""
    if given.ndim != 1 or given.size < 2:
        return ""
    if given.dtype.kind in "iu" and given[0] == 0 and (given[1:] > given[:-1]).all():
        return " Sizes of groups that begin at these rows are np.diff(starts)."
    return " The query of each row is a qid by itself: pass it as qid=." if (given[1:] == given[:-1]).any() else ""


def group_sizes(qid: ArrayLike) -> NDArray[np.int64]:
    """Sizes of the groups of rows, which must be adjacent.

    Parameters
    ----------
    qid : array-like of shape (n_samples,)
        Query of each row.

    Returns
    -------
    ndarray of shape (n_queries,)

    Raises
    ------
    ValueError
        If the rows of a query are not adjacent: sizes could not tell whose they are.

    Examples
    --------
    >>> from sklearn_rank import group_sizes
    >>> group_sizes(["a", "a", "b", "c", "c", "c"])
    array([2, 1, 3])
    """
    if not hasattr(qid, "__len__") or isinstance(qid, (str, bytes)):
        raise TypeError(f"qid must have the query of each row. Got {echo(qid)} instead.")
    grouping = group_rows(qid, len(cast(Sized, qid)))
    if (order := grouping.order) is not None:
        row = int(np.argmax(order != np.arange(len(order))))
        raise ValueError(
            "The rows of each query must be adjacent to be described by group sizes; sort them by qid first. "
            f"Got a query that goes on elsewhere than in row {row}."
        )
    return grouping.sizes
