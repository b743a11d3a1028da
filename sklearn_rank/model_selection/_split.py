"""Splitters that keep queries whole: scikit-learn's group splitters, with groups taken from qid.

Each asks metadata routing for `qid` under that name, and for `clusters` (users, sessions, sites) that must not be
torn either; without routing, ``groups=`` and ``clusters=``, or levels of these names of the index of y, serve. Where
there is no qid they raise. Folds are a function of the ids and the seed: neither the order of the rows nor what holds
the ids changes which queries are tested together.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, GroupKFold, GroupShuffleSplit, LeaveOneGroupOut

from sklearn_rank._engine.grouping import group_rows, query_numbers
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL, COUNT, RANDOM_STATE, Constraint, is_count, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.filters import own_filters
from sklearn_rank._utils.lengths import n_rows_of
from sklearn_rank._utils.random_state import random_of
from sklearn_rank._utils.typing import Index, MatrixLike, RandomState
from sklearn_rank.model_selection._query_attributes import check_split_rows, clusters_of_rows, find_attribute
from sklearn_rank.model_selection._routing import find_routed_qid

Folds = Iterator[tuple[NDArray[Any], NDArray[Any]]]


class _QuerySplitter:
    """Take groups from qid, or clusters; comes before a group splitter of scikit-learn in the bases."""

    __metadata_request__split = {"groups": "qid", "clusters": True}

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets; no query is in both, nor is a cluster.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length is used, and labels of pandas: those of y and `groups` in another order are refused.
        y : array-like of shape (n_samples,), default=None
            Searched for qid in its index where `groups` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : array-like of shape (n_samples,), default=None
            What is coarser than a query and must be on one side, too: the user, session or site of each row. None:
            the level "clusters" of the index of y, if it has one.

        Yields
        ------
        train, test : ndarray
        """
        number = unit_numbers(X, y, groups, clusters)
        refuse_many_folds(getattr(self, "n_splits", 2), number)  # one query left out leaves one
        yield from checked_folds(super().split(X, y, number))  # type: ignore[misc]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, clusters: Any = None) -> int:
        """Number of folds; the arguments, which searches hand on, are not used."""
        return self.n_splits  # type: ignore[attr-defined]


def unit_numbers(X: MatrixLike, y: Any, groups: Any, clusters: ArrayLike | None) -> Index:
    """Number of what a row must not be parted from: its cluster, where there are clusters, else its query."""
    check_split_rows(X, y, groups)
    qid, n_rows = find_routed_qid(y, groups), n_rows_of(X, "X")
    clusters = find_attribute(X, y, groups, clusters, "clusters")
    return query_numbers(qid, n_rows) if clusters is None else clusters_of_rows(clusters, qid, n_rows)


def checked_folds(folds: Folds) -> Folds:
    """Folds of scikit-learn, which checks groups with `check_array` before the first one."""
    with own_filters():
        first = next(folds)
    yield first
    yield from folds


def refuse_many_folds(n_splits: int, number: Index) -> None:
    """Refuse more folds than there are queries, or clusters."""
    n_units = len(np.unique(number))
    if n_splits > n_units:
        raise ValueError(f"There must be a query, or a cluster, for each fold. Got n_splits={n_splits} and {n_units}.")


def check_size(name: str, size: Any, class_name: str) -> None:
    """Check a share or a number of queries."""
    if size is not None and not is_count(size) and not (is_real(size) and 0 < size < 1):
        raise ValueError(
            f"The {echo(name)} parameter of {class_name} must be an int >= 1, which counts queries, a "
            f"number between 0 and 1, exclusive, their share, or None. Got {echo(size)} instead."
        )


def random_halves(splitter: GroupShuffleSplit, number: Index) -> Folds:
    """Random halves, as scikit-learn draws them; an error counts queries."""
    try:
        yield from checked_folds(splitter.split(number, groups=number))
    except ValueError:
        raise ValueError(
            f"Sizes count queries, or clusters, not rows, and there are {len(np.unique(number))} of them; each side "
            f"needs one. Got test_size={echo(splitter.test_size)} and train_size={echo(splitter.train_size)}."
        ) from None


FOLDS = Constraint("an int >= 2", lambda v: is_count(v) and v >= 2, "")


class QueryKFold(_QuerySplitter, GroupKFold):
    """K folds of whole queries: `sklearn.model_selection.GroupKFold` with ``groups`` taken from qid.

    Folds get about equal numbers of rows, so not the same number of queries each. ``clusters=`` in `split`, or in the
    metadata, keeps users, sessions or sites whole, too.

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

    Queries a and c are of one user:

    >>> users = ["u", "v", "v", "u", "u"]
    >>> for train, test in QueryKFold(2).split(X, groups=qid, clusters=users):
    ...     print(test)
    [0 3 4]
    [1 2]
    """

    def __init__(self, n_splits=5, *, shuffle=False, random_state=None):
        FOLDS.check("n_splits", n_splits, "QueryKFold")
        BOOL.check("shuffle", shuffle, "QueryKFold")
        RANDOM_STATE.check("random_state", random_state, "QueryKFold")
        if random_state is not None and not shuffle:
            raise ValueError(f"random_state= has an effect with shuffle=True only. Got {echo(random_state)} without.")
        super().__init__(n_splits, shuffle=bool(shuffle), random_state=random_state)


class RepeatedQueryKFold(_QuerySplitter, BaseCrossValidator):
    """Shuffled `QueryKFold` several times over, each time with other folds.

    Parameters
    ----------
    n_splits : int, default=5
        Folds of each repetition.
    n_repeats : int, default=10
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from sklearn_rank import RepeatedQueryKFold
    >>> X, qid = [[0]] * 4, [1, 1, 2, 3]
    >>> folds = RepeatedQueryKFold(3, n_repeats=2, random_state=0).split(X, groups=qid)
    >>> [test.tolist() for _, test in folds]
    [[3], [2], [0, 1], [3], [0, 1], [2]]
    """

    def __init__(self, n_splits: int = 5, *, n_repeats: int = 10, random_state: RandomState = None) -> None:
        COUNT.check("n_repeats", n_repeats, "RepeatedQueryKFold")
        FOLDS.check("n_splits", n_splits, "RepeatedQueryKFold")
        RANDOM_STATE.check("random_state", random_state, "RepeatedQueryKFold")
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets, as `QueryKFold` does; see there."""
        number, random = unit_numbers(X, y, groups, clusters), random_of(self.random_state, "RepeatedQueryKFold")
        refuse_many_folds(self.n_splits, number)
        for _ in range(self.n_repeats):
            one = GroupKFold(self.n_splits, shuffle=True, random_state=random)
            yield from checked_folds(one.split(X, y, number))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, clusters: Any = None) -> int:
        """Number of folds of all repetitions; the arguments, which searches hand on, are not used."""
        return self.n_splits * self.n_repeats


class QueryShuffleSplit(_QuerySplitter, GroupShuffleSplit):
    """Random halves of whole queries: `sklearn.model_selection.GroupShuffleSplit` with ``groups`` taken from qid.

    Parameters
    ----------
    n_splits : int, default=5
    test_size : float or int, default=None
        Share or number of queries (not rows) in the test set, of clusters where there are some; None: what is not in
        the training set, 0.2 if neither is given.
    train_size : float or int, default=None
        Share or number of queries or clusters in the training set; None: the rest.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from sklearn_rank import QueryShuffleSplit
    >>> X, qid = [[0]] * 4, [1, 1, 2, 2]
    >>> splitter = QueryShuffleSplit(2, test_size=1, random_state=0)
    >>> [len(test) for _, test in splitter.split(X, groups=qid)]
    [2, 2]
    """

    def __init__(self, n_splits=5, *, test_size=None, train_size=None, random_state=None):
        COUNT.check("n_splits", n_splits, "QueryShuffleSplit")
        check_size("test_size", test_size, "QueryShuffleSplit")
        check_size("train_size", train_size, "QueryShuffleSplit")
        RANDOM_STATE.check("random_state", random_state, "QueryShuffleSplit")
        super().__init__(n_splits, test_size=test_size, train_size=train_size, random_state=random_state)

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets, drawn anew each time; see `QueryKFold`."""
        halves = GroupShuffleSplit(
            self.n_splits, test_size=self.test_size, train_size=self.train_size, random_state=self.random_state
        )
        yield from random_halves(halves, unit_numbers(X, y, groups, clusters))


class LeaveOneQueryOut(_QuerySplitter, LeaveOneGroupOut):
    """As many folds as queries: `sklearn.model_selection.LeaveOneGroupOut` with ``groups`` taken from qid.

    Examples
    --------
    >>> from sklearn_rank import LeaveOneQueryOut
    >>> [
    ...     test.tolist()
    ...     for _, test in LeaveOneQueryOut().split([[0]] * 3, groups=["b", "a", "b"])
    ... ]
    [[1], [0, 2]]
    """

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets; each query is once a test set.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length is used, and labels of pandas: those of y and `groups` in another order are refused.
        y : array-like of shape (n_samples,), default=None
            Searched for qid in its index where `groups` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : None
            Refused, as one query left out of a cluster tears the cluster.

        Yields
        ------
        train, test : ndarray
        """
        if find_attribute(X, y, groups, clusters, "clusters") is not None:
            raise ValueError(
                "LeaveOneQueryOut leaves out one query, and so tears its cluster. Use QueryKFold with clusters=, or "
                "LeaveOneGroupOut().split(X, y, groups=clusters) of scikit-learn to leave out a cluster. Got clusters."
            )
        yield from super().split(X, y, groups)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, clusters: Any = None) -> int:
        """Number of queries.

        Parameters
        ----------
        X : object, default=None
            Not used.
        y : array-like of shape (n_samples,), default=None
            Searched for qid in its index where `groups` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : None
            Not used; `split` refuses it.

        Returns
        -------
        int
        """
        qid = find_routed_qid(y, groups)
        return len(group_rows(qid, len(qid))[0])
