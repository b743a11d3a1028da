"""Group sizes, as LightGBM and XGBoost take them, to and from the query of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._grouping import group_rows


def qid_from_group_sizes(sizes: Any) -> NDArray[np.int64]:
    """Query number of each row, from the sizes of adjacent groups.

    Parameters
    ----------
    sizes : array-like of int, shape (n_queries,)
        Rows of each query, each at least 1.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 for the rows of the first group, 1 for those of the second, and so on.

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
    array = np.asarray(sizes)
    if array.ndim != 1 or array.dtype.kind not in "iu" or array.size == 0 or array.min() < 1:
        raise ValueError(f"Group sizes must be a one-dimensional sequence of ints >= 1. Got {sizes!r} instead.")
    return np.repeat(np.arange(len(array)), array)


def group_sizes(qid: Any) -> NDArray[np.int64]:
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
        If the rows of a query are not adjacent: sizes alone could not tell whose they are.

    Examples
    --------
    >>> from sklearn_rank import group_sizes
    >>> group_sizes(["a", "a", "b", "c", "c", "c"])
    array([2, 1, 3])
    """
    _, indptr, order = group_rows(qid, len(qid))
    if order is not None:
        row = int(np.argmax(order != np.arange(len(order))))
        raise ValueError(
            "The rows of each query must be adjacent to be described by group sizes; sort them by qid first. "
            f"Got a query that goes on elsewhere than in row {row}."
        )
    return np.diff(indptr)
