"""Splitters that keep queries whole: scikit-learn's group splitters, with groups taken from qid.

Each asks metadata routing for `qid` under that name; without routing, ``groups=`` or the level "qid" of the index of
y serves. Where there is none of these they raise. Folds are a function of the ids and the seed: neither the order of
the rows nor what holds the ids changes which queries are tested together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numpy.typing import NDArray
from sklearn.model_selection import GroupKFold, GroupShuffleSplit, LeaveOneGroupOut

from sklearn_rank._engine.grouping import group_rows, query_numbers
from sklearn_rank._engine.rows import check_features
from sklearn_rank._utils.typing import MatrixLike
from sklearn_rank.model_selection._routing import find_routed_qid


class _QuerySplitter:
    """Take groups from qid; comes before a group splitter of scikit-learn in the bases."""

    __metadata_request__split = {"groups": "qid"}

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[NDArray[Any], NDArray[Any]]]:
        """Yield row numbers of training and test sets; no query is in both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length is used.
        y : array-like of shape (n_samples,), default=None
            Searched for qid in its index where `groups` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.

        Yields
        ------
        train, test : ndarray
        """
        check_features(X, groups=groups)
        yield from super().split(X, y, query_numbers(find_routed_qid(y, groups), _length(X)))  # type: ignore[misc]


def _length(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


class QueryKFold(_QuerySplitter, GroupKFold):
    """K folds of whole queries: `sklearn.model_selection.GroupKFold` with ``groups`` taken from qid.

    Folds get about equal numbers of rows, so not the same number of queries each.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
        Whether to deal the queries out at random.
    random_state : int, RandomState instance or None, default=None
        Used with ``shuffle=True``.

    Examples
    --------
    >>> from sklearn_rank import QueryKFold
    >>> X, qid = [[0]] * 5, ["a", "b", "b", "c", "a"]
    >>> for train, test in QueryKFold(3).split(X, groups=qid):
    ...     print(test)
    [1 2]
    [0 4]
    [3]
    """


class QueryShuffleSplit(_QuerySplitter, GroupShuffleSplit):
    """Random halves of whole queries: `sklearn.model_selection.GroupShuffleSplit` with ``groups`` taken from qid.

    Parameters
    ----------
    n_splits : int, default=5
    test_size : float or int, default=None
        Share or number of queries (not rows) in the test set; None: 0.2.
    train_size : float or int, default=None
        Share or number of queries in the training set; None: the rest.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from sklearn_rank import QueryShuffleSplit
    >>> X, qid = [[0]] * 4, [1, 1, 2, 2]
    >>> [len(test) for _, test in QueryShuffleSplit(2, test_size=1, random_state=0).split(X, groups=qid)]
    [2, 2]
    """


class LeaveOneQueryOut(_QuerySplitter, LeaveOneGroupOut):
    """As many folds as queries: `sklearn.model_selection.LeaveOneGroupOut` with ``groups`` taken from qid.

    Examples
    --------
    >>> from sklearn_rank import LeaveOneQueryOut
    >>> [test.tolist() for _, test in LeaveOneQueryOut().split([[0]] * 3, groups=["b", "a", "b"])]
    [[1], [0, 2]]
    """

    def get_n_splits(self, X: MatrixLike | None = None, y: Any = None, groups: Any = None) -> int:
        """Number of queries.

        Parameters
        ----------
        X : object, default=None
            Not used.
        y : array-like of shape (n_samples,), default=None
            Searched for qid in its index where `groups` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.

        Returns
        -------
        int
        """
        qid = find_routed_qid(y, groups)
        return len(group_rows(qid, len(qid))[0])
