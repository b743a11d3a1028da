"""Group sizes of LightGBM and XGBoost, to and from the query of each row; ranks inside each query."""

from __future__ import annotations

from collections.abc import Sized
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.check import check_scores
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import find_qid, group_rows
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import LARGEST_EXACT, refuse_masked


def qid_from_group_sizes(sizes: Any) -> NDArray[np.int64]:
    """Query number of each row, from the sizes of adjacent groups.

    Parameters
    ----------
    sizes : array-like of int, shape (n_queries,)
        Rows of each query, each at least 1; also as whole floats.

    Returns
    -------
    ndarray of shape (n_samples,)
        0 for the rows of the first group, 1 for the second, and so on.

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
        raise ValueError(f"Group sizes must be a one-dimensional sequence of ints >= 1. Got {echo(sizes)} instead.")
    return np.repeat(np.arange(len(array)), array)


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
    _, indptr, order = group_rows(qid, len(cast(Sized, qid)))
    if order is not None:
        row = int(np.argmax(order != np.arange(len(order))))
        raise ValueError(
            "The rows of each query must be adjacent to be described by group sizes; sort them by qid first. "
            f"Got a query that goes on elsewhere than in row {row}."
        )
    return np.diff(indptr)


RANK_METHODS = ("average", "min", "max", "dense", "ordinal")


@named_arguments
def rank_within(score: Any, *, qid: ArrayLike | None = None, method: str = "average") -> NDArray[np.float64]:
    """Rank of each row inside its query, 1 for the highest score.

    Scores of a ranking model are comparable within a query only. So are ranks, but people can read them, and cut a list
    at one.

    Parameters
    ----------
    score : array-like of shape (n_samples,)
        Output of the model, higher ranks first. ``-inf`` (judged but not retrieved) takes no rank.
    qid : array-like of shape (n_samples,), default=None
        Query of each row; the rows of a query need not be adjacent. None: taken from the level "qid" of the index of
        `score`.
    method : {"average", "min", "max", "dense", "ordinal"}, default="average"
        Rank of rows with equal scores, as in `scipy.stats.rankdata`. "average", "min" and "max" give all of them the
        mean, the lowest or the highest of their places. "dense" gives them one place, and the next score the next.
        "ordinal" gives each a place of its own, in the order of the rows.

    Returns
    -------
    ndarray of shape (n_samples,)
        In the order of the input; nan for a score of ``-inf``.

    Raises
    ------
    ValueError
        If qid is missing, a score is NaN or +inf, or `method` is unknown.

    Examples
    --------
    >>> from sklearn_rank import rank_within
    >>> rank_within([0.2, 0.9, 0.5, 0.9, 0.1], qid=["a", "b", "a", "b", "b"])
    array([2. , 1.5, 1. , 1.5, 3. ])
    """
    if method not in RANK_METHODS:
        raise ValueError(
            f"The 'method' parameter of rank_within must be one of {', '.join(map(repr, RANK_METHODS))}. "
            f"Got {echo(method)}."
        )
    check_rows(score=score, qid=qid)
    values = check_scores(score, "score")
    _, indptr, order = group_rows(find_qid(score, qid, name="score"), len(values))
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.arange(len(values)) if order is None else order
    # The sort is stable, so ties stay in the order of the rows.
    order = order[np.lexsort((-values[order], query))]
    position = np.arange(len(values)) - indptr[query] + 1.0

    values = values[order]
    # Whether a row opens a block of tied rows.
    opens = np.append(True, (query[1:] != query[:-1]) | (values[1:] != values[:-1]))
    block = np.cumsum(opens) - 1
    first, last = position[opens], position[np.append(opens[1:], True)]
    if method == "ordinal":
        ranks = position
    elif method == "dense":
        ranks = block - block[indptr[query]] + 1.0
    else:
        ranks = {"average": (first + last) / 2, "min": first, "max": last}[method][block]
    result = np.empty(len(values))
    result[order] = np.where(values == -np.inf, np.nan, ranks)
    return result
