"""One split of arrays into training and test queries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.model_selection import GroupShuffleSplit

from sklearn_rank._engine.columns import check_features, check_rows, one_column, queries_in
from sklearn_rank._engine.grouping import refuse_other_queries
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import RANDOM_STATE
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lengths import n_rows_of
from sklearn_rank._utils.typing import Index, RandomState
from sklearn_rank.model_selection._query_data import take_rows
from sklearn_rank.model_selection._split import check_size, random_halves, unit_numbers

TEST_SIZE = 0.25


@named_arguments
def query_train_test_split(
    *arrays: Any,
    qid: ArrayLike | None = None,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: RandomState = None,
    clusters: ArrayLike | None = None,
) -> list[Any]:
    """Split arrays into training and test queries: `sklearn.model_selection.train_test_split` of whole queries.

    Which queries are tested is a function of their ids and the seed, not of the order of the rows. The rows keep their
    order.

    Parameters
    ----------
    *arrays : arrays, lists, sparse matrices or frames of n_samples rows each
        Such as X, y and weights.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: taken from the level "qid" of the index of one of the arrays.
    test_size : float or int, default=None
        Share or number of queries (not rows) in the test set, of clusters where there are some. None: what is not in
        the training set, 0.25 if neither is given.
    train_size : float or int, default=None
        Share or number of queries or clusters in the training set. None: what is not in the test set.
    random_state : int, RandomState instance or None, default=None
    clusters : array-like of shape (n_samples,), default=None
        What is coarser than a query and must be on one side, too: the user, session or site of each row.

    Returns
    -------
    list
        The training and the test rows of each array, in its type (sparse: CSR), then those of qid, which is an array
        where it was taken from an index: ``X_train, X_test, y_train, y_test, qid_train, qid_test``.

    Raises
    ------
    ValueError
        If there is no array, no qid or no query for one side, the arrays do not have the same rows, or a query lies in
        two clusters.
    TypeError
        If an array has no rows.

    Examples
    --------
    >>> from sklearn_rank import query_train_test_split
    >>> X, y, qid = [[5], [6], [7], [8], [9]], [1, 0, 0, 1, 2], ["a", "b", "a", "c", "b"]
    >>> X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(
    ...     X, y, qid=qid, random_state=0
    ... )
    >>> qid_train, qid_test
    (['a', 'b', 'a', 'b'], ['c'])
    >>> X_test, y_test
    ([[8]], [1])
    """
    check_size("test_size", test_size, "query_train_test_split")
    check_size("train_size", train_size, "query_train_test_split")
    RANDOM_STATE.check("random_state", random_state, "query_train_test_split")
    if not arrays:
        raise ValueError("query_train_test_split needs at least one array: X, y, ... Got none.")
    named = dict(
        zip(["X", "y"] if len(arrays) == 2 else [f"arrays[{i}]" for i in range(len(arrays))], arrays, strict=True)
    )
    ids = _find_ids(named, qid)
    _check_alike(named, qid=ids, clusters=clusters)
    of_queries = next((array for array in arrays if queries_in(array) is not None), None)
    unit = unit_numbers(arrays[0], of_queries, ids_of(ids), clusters)  # whose labels have been checked
    if test_size is None and train_size is None:
        test_size = TEST_SIZE
    halves = GroupShuffleSplit(1, test_size=test_size, train_size=train_size, random_state=random_state)
    train, test = next(random_halves(halves, unit))
    return [_rows_of(array, rows) for array in (*arrays, ids) for rows in (train, test)]


def _find_ids(arrays: dict[str, Any], qid: ArrayLike | None) -> Any:
    """Query of each row: as given, or the level "qid" of the index of one of the arrays."""
    if isinstance(qid, str):
        raise ValueError(
            f"qid must be the query of each row, as frame[{echo(qid)}] is; columns are not known by name here."
        )
    if qid is not None:
        return qid
    level = next((level for array in arrays.values() if (level := queries_in(array)) is not None), None)
    if level is None:
        raise ValueError(
            "query_train_test_split keeps queries whole, so pass qid=, the query of each row, or a pandas Series whose "
            "index has the level 'qid'. Got neither; train_test_split of scikit-learn would not raise, but put rows of "
            "one query on both sides, and judge models on queries they were trained on."
        )
    return ids_of(level)


def _check_alike(arrays: dict[str, Any], **columns: Any) -> None:
    """Refuse arrays of other numbers of rows, or whose labels are those of other rows."""
    n_rows = n_rows_of(next(iter(arrays.values())), next(iter(arrays)))
    for name, array in arrays.items():
        if n_rows_of(array, name) != n_rows:
            found = f"{n_rows} in {next(iter(arrays))}, {n_rows_of(array, name)} in {name}"
            raise ValueError(f"All arrays must have the same rows. Got {found}.")
        refuse_other_queries(array, columns["qid"], name=name)
    matrices = {name: array for name, array in arrays.items() if np.ndim(one_column(array)) != 1}
    check_rows(**{name: array for name, array in arrays.items() if name not in matrices}, **columns)
    for name, matrix in matrices.items():
        check_features(matrix, name, **{n: x for n, x in (arrays | columns).items() if n != name})


def _rows_of(array: Any, rows: Index) -> Any:
    """Rows of an array in its type."""
    if hasattr(array, "iloc") or hasattr(array, "tocsr"):
        return take_rows(array, rows)
    if hasattr(array, "combine_chunks") or hasattr(array, "to_pylist"):  # pyarrow
        return array.take(rows)
    return array[rows] if hasattr(array, "shape") else [array[row] for row in rows.tolist()]
