"""Splitters that keep queries whole: scikit-learn's splitters, with qid as groups.

Each splitter requests `qid` by metadata routing, and `clusters` (users, sessions, sites), which stay whole as well.
Without routing, pass ``groups=`` and ``clusters=``, or put the levels "qid" and "clusters" into the index of y. Without
qid, a splitter raises an error. Folds are a function of the ids and the seed: they depend neither on the order of the
rows nor on the container of the ids.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator, GroupKFold, GroupShuffleSplit, LeaveOneGroupOut

from sklearn_rank._engine.attributes import by_row
from sklearn_rank._engine.columns import check_features, check_rows, labels_of, one_column, queries_in
from sklearn_rank._engine.grouping import group_rows, number_of_rows, query_numbers, refuse_other_queries
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._scoring.fit_data import index_rows
from sklearn_rank._scoring.routing import ROUTING_IS_OFF, SplitRequests, find_routed_qid
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import (
    BOOL,
    COUNT,
    RANDOM_STATE,
    Constraint,
    built_in,
    is_count,
    is_real,
    random_of,
)
from sklearn_rank._utils.containers import check_lengths, n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Index, MatrixLike, RandomState
from sklearn_rank._utils.warning import own_filters

Folds = Iterator[tuple[NDArray[Any], NDArray[Any]]]


class _QuerySplitter(SplitRequests):
    """Pass qid or clusters as groups; must precede a scikit-learn group splitter in the bases."""

    __metadata_request__split = {"groups": "qid", "clusters": True}

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets; no query and no cluster is in both.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length and its pandas index are used: y and `groups` must have the same order of rows.
        y : array-like of shape (n_samples,), default=None
            If `groups` is None, qid is read from its index.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : array-like of shape (n_samples,), default=None
            Cluster of each row, such as a user, session or site: a group of queries that must be on the same side.
            None: the level "clusters" of the index of y, if it has one.

        Yields
        ------
        train, test : ndarray
        """
        number = unit_numbers(X, y, groups, clusters)
        # LeaveOneQueryOut has no n_splits, and needs a query to leave out and a query for training.
        refuse_many_folds(getattr(self, "n_splits", 2), number)
        yield from checked_folds(super().split(X, y, number))  # type: ignore[misc]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, clusters: Any = None) -> int:
        """Number of folds; ignores the arguments, which exist for searches."""
        return self.n_splits  # type: ignore[attr-defined]


def unit_numbers(X: MatrixLike, y: Any, groups: Any, clusters: ArrayLike | None) -> Index:
    """Number the units that must stay whole: clusters if there are any, otherwise queries."""
    check_split_rows(X, y, groups)
    qid, n_rows = find_routed_qid(y, groups, ROUTING_IS_OFF), n_rows_of(X, "X")
    clusters = find_attribute(X, y, groups, clusters, "clusters")
    return query_numbers(qid, n_rows) if clusters is None else clusters_of_rows(clusters, qid, n_rows)


def checked_folds(folds: Folds) -> Folds:
    """Yield scikit-learn's folds; it checks groups with `check_array` before the first fold."""
    with own_filters():
        first = next(folds)
    yield first
    yield from folds


def refuse_many_folds(n_splits: int, number: Index) -> None:
    """Refuse more folds than queries or clusters."""
    n_units = int(np.count_nonzero(np.bincount(number)))
    if n_splits > n_units:
        raise ValueError(f"There must be a query, or a cluster, for each fold. Got n_splits={n_splits} and {n_units}.")


def check_size(name: str, size: Any, class_name: str) -> None:
    """Check that a size is a share or a number of queries."""
    if size is not None and not is_count(size) and not (is_real(size) and 0 < size < 1):
        raise ValueError(
            f"The {echo(name)} parameter of {class_name} must be a number of queries, an int >= 1, or a "
            f"share of the queries, between 0 and 1, exclusive, or None. Got {echo(size)} instead."
        )


def random_halves(splitter: GroupShuffleSplit, number: Index) -> Folds:
    """Random splits by scikit-learn, with an error that counts queries."""
    try:
        yield from checked_folds(splitter.split(number, groups=number))
    except ValueError:
        raise ValueError(
            f"Sizes are numbers of queries or clusters, not of rows. There are {len(distinct_values(number))}, and "
            f"each side needs at least 1. Got test_size={echo(splitter.test_size)} and "
            f"train_size={echo(splitter.train_size)}."
        ) from None


FOLDS = Constraint("an int >= 2", lambda v: is_count(v) and v >= 2, "")


class QueryKFold(_QuerySplitter, GroupKFold):
    """K folds of whole queries: `sklearn.model_selection.GroupKFold` with qid as ``groups``.

    Folds have about equal numbers of rows, so their numbers of queries differ. Pass ``clusters=`` to `split`, or as
    metadata, to keep users, sessions or sites whole as well.

    Parameters
    ----------
    n_splits : int, default=5
    shuffle : bool, default=False
        Whether to assign queries to folds at random.
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

    Queries a and c belong to the same user:

    >>> users = ["u", "v", "v", "u", "u"]
    >>> for train, test in QueryKFold(2).split(X, groups=qid, clusters=users):
    ...     print(test)
    [0 3 4]
    [1 2]
    """

    @named_arguments
    def __init__(self, n_splits: int = 5, *, shuffle: bool = False, random_state: RandomState = None) -> None:
        FOLDS("n_splits", n_splits, "QueryKFold")
        BOOL("shuffle", shuffle, "QueryKFold")
        RANDOM_STATE("random_state", random_state, "QueryKFold")
        if random_state is not None and not shuffle:
            raise ValueError(f"random_state= needs shuffle=True. Got {echo(random_state)} with shuffle=False.")
        super().__init__(n_splits, shuffle=bool(shuffle), random_state=random_state)


class RepeatedQueryKFold(_QuerySplitter, BaseCrossValidator):
    """Repeat a shuffled `QueryKFold` with different folds each time.

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

    @named_arguments
    def __init__(self, n_splits: int = 5, *, n_repeats: int = 10, random_state: RandomState = None) -> None:
        COUNT("n_repeats", n_repeats, "RepeatedQueryKFold")
        FOLDS("n_splits", n_splits, "RepeatedQueryKFold")
        RANDOM_STATE("random_state", random_state, "RepeatedQueryKFold")
        self.n_splits, self.n_repeats, self.random_state = n_splits, n_repeats, random_state

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets, with the arguments of `QueryKFold.split`."""
        number, random = unit_numbers(X, y, groups, clusters), random_of(self.random_state, "RepeatedQueryKFold")
        refuse_many_folds(self.n_splits, number)
        for _ in range(self.n_repeats):
            one = GroupKFold(self.n_splits, shuffle=True, random_state=random)
            yield from checked_folds(one.split(X, y, number))

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, clusters: Any = None) -> int:
        """Number of folds of all repetitions; ignores the arguments, which exist for searches."""
        return self.n_splits * self.n_repeats


class QueryShuffleSplit(_QuerySplitter, GroupShuffleSplit):
    """Random splits of whole queries: `sklearn.model_selection.GroupShuffleSplit` with qid as ``groups``.

    Parameters
    ----------
    n_splits : int, default=5
    test_size : float or int, default=None
        Share or number of queries (not rows) in the test set, or of clusters if there are any. None: the complement of
        the training set, or 0.2 if both sizes are None.
    train_size : float or int, default=None
        Share or number of queries or clusters in the training set. None: the complement of the test set.
    random_state : int, RandomState instance or None, default=None

    Examples
    --------
    >>> from sklearn_rank import QueryShuffleSplit
    >>> X, qid = [[0]] * 4, [1, 1, 2, 2]
    >>> splitter = QueryShuffleSplit(2, test_size=1, random_state=0)
    >>> [len(test) for _, test in splitter.split(X, groups=qid)]
    [2, 2]
    """

    @named_arguments
    def __init__(
        self, n_splits: int = 5, *, test_size: float | None = None, train_size: float | None = None,
        random_state: RandomState = None,
    ) -> None:  # fmt: skip
        COUNT("n_splits", n_splits, "QueryShuffleSplit")
        check_size("test_size", test_size, "QueryShuffleSplit")
        check_size("train_size", train_size, "QueryShuffleSplit")
        RANDOM_STATE("random_state", random_state, "QueryShuffleSplit")
        super().__init__(n_splits, test_size=test_size, train_size=train_size, random_state=random_state)

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, clusters: ArrayLike | None = None) -> Folds:
        """Yield row numbers of random training and test sets, with the arguments of `QueryKFold.split`."""
        halves = GroupShuffleSplit(
            self.n_splits, test_size=self.test_size, train_size=self.train_size, random_state=self.random_state
        )
        yield from random_halves(halves, unit_numbers(X, y, groups, clusters))


class LeaveOneQueryOut(_QuerySplitter, LeaveOneGroupOut):
    """One fold for each query: `sklearn.model_selection.LeaveOneGroupOut` with qid as ``groups``.

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
        """Yield row numbers of training and test sets; each query is a test set once.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length and its pandas index are used: y and `groups` must have the same order of rows.
        y : array-like of shape (n_samples,), default=None
            If `groups` is None, qid is read from its index.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : None
            Refused, because leaving out a query splits its cluster.

        Yields
        ------
        train, test : ndarray
        """
        if find_attribute(X, y, groups, clusters, "clusters") is not None:
            raise ValueError(
                "LeaveOneQueryOut leaves out one query, which splits its cluster. Use QueryKFold with clusters=, or "
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
            If `groups` is None, qid is read from its index.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        clusters : None
            Ignored; `split` refuses it.
        """
        qid = find_routed_qid(y, groups, ROUTING_IS_OFF)
        return group_rows(qid, len(qid)).n_queries


TIMES = "time must be the time of each row: datetime64, Timestamps, dates, or numbers, without missing values."


class QueryTimeSeriesSplit(SplitRequests, BaseCrossValidator):
    """Train on earlier queries, test on later queries: `sklearn.model_selection.TimeSeriesSplit` of whole queries.

    The splitter sorts queries by time, regardless of the order of the rows, and cuts them into blocks. Each of the last
    `n_splits` blocks is a test set once; its training set is the queries before it. Queries with equal times are in the
    same block. The time is metadata with the name `time`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of test sets, at least 1.
    max_train_size : int, default=None
        Maximum number of queries (not rows) in a training set; the latest queries are kept. None: all.
    test_size : int, default=None
        Number of queries (not rows) in a test set; it can deviate, because queries with equal times stay together.
        None: ``n_queries // (n_splits + 1)``.
    gap : timedelta64, Timedelta, timedelta or number, default=0
        Minimum time, not number of queries, between the last training query and the first test query. Pass a number
        only if times are numbers, in their unit.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_rank import QueryTimeSeriesSplit
    >>> X, qid = [[0]] * 6, ["b", "b", "a", "c", "d", "d"]
    >>> time = np.datetime64("2024-03-01") + np.array([1, 1, 8, 0, 4, 4])
    >>> for train, test in QueryTimeSeriesSplit(2).split(X, groups=qid, time=time):
    ...     print(train, test)
    [0 1 3] [4 5]
    [0 1 3 4 5] [2]

    With a gap of at least a week:

    >>> splitter = QueryTimeSeriesSplit(1, test_size=1, gap=np.timedelta64(7, "D"))
    >>> for train, test in splitter.split(X, qid, qid, time):
    ...     print(train, test)
    [0 1 3] [2]
    """

    __metadata_request__split = {"groups": "qid", "time": True}

    @named_arguments
    def __init__(
        self, n_splits: int = 5, *, max_train_size: int | None = None, test_size: int | None = None, gap: Any = 0
    ) -> None:
        for name, value in (("n_splits", n_splits), ("max_train_size", max_train_size), ("test_size", test_size)):
            if value is not None or name == "n_splits":
                COUNT(name, value, "QueryTimeSeriesSplit")
        self.n_splits, self.max_train_size, self.test_size, self.gap = n_splits, max_train_size, test_size, gap

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, time: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets, in the order of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length and its pandas index are used: y and `groups` must have the same order of rows.
        y : array-like of shape (n_samples,), default=None
            If `groups` or `time` is None, it is read from the index.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        time : array-like of shape (n_samples,), default=None
            Time of each row's query: datetime64, Timestamps, datetimes with or without a time zone, dates, or numbers;
            not text. All rows of a query must have the same time.

        Yields
        ------
        train, test : ndarray

        Raises
        ------
        ValueError
            If a time is missing or differs within a query, times are in another order than the index of y, `gap` is not
            a difference of such times, or there are too few queries or distinct times for `n_splits`.
        """
        check_split_rows(X, y, groups)
        qid, n_rows = find_routed_qid(y, groups, ROUTING_IS_OFF), n_rows_of(X, "X")
        number = query_numbers(qid, n_rows)
        given = find_attribute(X, y, groups, time, "time")
        if given is None:
            lost = "" if sklearn.get_config()["enable_metadata_routing"] else ROUTING_IS_OFF.replace("qid", "time")
            raise ValueError(
                f"{type(self).__name__} needs the time of each row: pass time= to split or RankingEvaluator, "
                "params={'qid': qid, 'time': time} to cross_validate, or pass y as a pandas Series whose index has the "
                f"levels 'qid' and 'time'. Got none.{lost}"
            )
        check_one_each(given, "time", n_rows)
        of_row = as_times(given)
        check_constant(of_row, qid, of_row, ONE_TIME)
        of_query = np.empty(number.max(initial=-1) + 1, dtype=of_row.dtype)
        of_query[number] = of_row
        order = np.argsort(of_query, kind="stable")
        rank = np.argsort(order)[number]
        for train, test in self._blocks(of_query[order]):
            yield tuple(np.flatnonzero((a <= rank) & (rank < b)) for a, b in (train, test))  # type: ignore[misc]

    def _blocks(self, time: NDArray[Any]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Bounds of the training and test queries of each split, in order of time."""
        n_queries, gap = len(time), as_gap(self.gap, time)
        size = n_queries // (self.n_splits + 1) if self.test_size is None else self.test_size
        if size == 0 or size * self.n_splits >= n_queries:
            raise ValueError(
                f"n_splits={self.n_splits} with test_size={self.test_size} needs more than "
                f"{self.n_splits * max(size, 1)} queries, because the first training set needs some. Got {n_queries}."
            )
        starts = n_queries - size * np.arange(self.n_splits, 0, -1)
        # Queries with equal times are on the same side.
        bounds = np.append(np.searchsorted(time, time[starts]), n_queries).tolist()
        ends = [_n_before(time, start, gap) for start in bounds[:-1]]
        if ends[0] == 0 or (np.diff(bounds) == 0).any():
            raise ValueError(
                "A training or test set would be empty, because queries with equal times stay together and the gap is "
                f"left out: use fewer splits, a smaller gap, or finer times. Got {n_queries} queries at "
                f"{len(distinct_values(time))} "
                f"times, n_splits={self.n_splits}, gap={echo(self.gap)}."
            )
        begins = [0 if self.max_train_size is None else max(0, end - self.max_train_size) for end in ends]
        return [((a, b), (c, d)) for a, b, c, d in zip(begins, ends, bounds, bounds[1:], strict=False)]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, time: Any = None) -> int:
        """Number of test sets; ignores the arguments, which exist for searches."""
        return self.n_splits


def _n_before(time: NDArray[Any], start: int, gap: Any) -> int:
    """Number of queries that are earlier than a test set by at least the gap."""
    span, unit = time[start] - time[0], np.timedelta64(1, "s") if time.dtype.kind in "mM" else 1
    # Compare floats, because a long gap overflows in a fine unit.
    if gap / unit > span / unit:
        return 0
    return int(np.count_nonzero(time[start] - time[:start] >= gap))


@named_arguments
def query_train_test_split(
    *arrays: Any,
    qid: ArrayLike | None = None,
    test_size: float | int | None = None,
    train_size: float | int | None = None,
    random_state: RandomState = None,
    clusters: ArrayLike | None = None,
    time: ArrayLike | None = None,
) -> list[Any]:
    """Split arrays into training and test queries: `sklearn.model_selection.train_test_split` of whole queries.

    The choice of test queries depends on the ids and the seed, not on the order of the rows. The rows keep their order.

    Parameters
    ----------
    *arrays : arrays, lists, sparse matrices or frames of n_samples rows each
        Such as X, y and weights.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: read from the level "qid" of the index of one of the arrays.
    test_size : float or int, default=None
        Share or number of queries (not rows) in the test set, or of clusters if there are any. None: the complement of
        the training set, or 0.25 if both sizes are None.
    train_size : float or int, default=None
        Share or number of queries or clusters in the training set. None: the complement of the test set.
    random_state : int, RandomState instance or None, default=None
    clusters : array-like of shape (n_samples,), default=None
        Cluster of each row, such as a user, session or site: a group of queries that must be on the same side.
    time : array-like of shape (n_samples,), default=None
        Time of each row's query, see `QueryTimeSeriesSplit`: the last queries are tested, and queries of equal time
        stay together, in the test set.

    Returns
    -------
    list
        The training and the test rows of each array, in the type of the array (sparse: CSR), then of qid, which is an
        array if it was read from an index: ``X_train, X_test, y_train, y_test, qid_train, qid_test``.

    Raises
    ------
    ValueError
        If there is no array, no qid or no query for a side, the arrays do not have the same rows, or a query is in two
        clusters.
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
    RANDOM_STATE("random_state", random_state, "query_train_test_split")
    if not arrays:
        raise ValueError("query_train_test_split needs at least one array: X, y, ... Got none.")
    names = ["X", "y"] if len(arrays) == 2 else [f"arrays[{i}]" for i in range(len(arrays))]
    named = dict(zip(names, arrays, strict=True))
    ids = _find_ids(named, qid)
    _check_alike(named, qid=ids, clusters=clusters)
    of_queries = next((array for array in arrays if queries_in(array) is not None), None)
    unit = unit_numbers(arrays[0], of_queries, ids_of(ids), clusters)
    if test_size is None and train_size is None:
        test_size = 0.25
    if time is not None:
        if clusters is not None or train_size is not None or random_state is not None:
            raise ValueError("time= tests the last queries: only test_size= goes with it. Got another keyword, too.")
        size = 0.25 if test_size is None else test_size
        n_test = int(size if is_count(size) else math.ceil(size * (int(unit.max()) + 1) - 1e-9))
        train, test = next(QueryTimeSeriesSplit(1, test_size=n_test).split(arrays[0], None, ids_of(ids), time))
        return [_rows_of(array, rows) for array in (*arrays, ids) for rows in (train, test)]
    halves = GroupShuffleSplit(1, test_size=test_size, train_size=train_size, random_state=random_state)
    train, test = next(random_halves(halves, unit))
    return [_rows_of(array, rows) for array in (*arrays, ids) for rows in (train, test)]


def _find_ids(arrays: dict[str, Any], qid: ArrayLike | None) -> Any:
    """Query of each row: `qid`, or the level "qid" of the index of one of the arrays."""
    if isinstance(qid, str):
        raise ValueError(
            f"qid must be the query of each row: pass frame[{echo(qid)}]. Names of columns are not supported here."
        )
    if qid is not None:
        return qid
    level = next((level for array in arrays.values() if (level := queries_in(array)) is not None), None)
    if level is None:
        raise ValueError(
            "query_train_test_split keeps queries whole, so pass qid=, the query of each row, or a pandas Series whose "
            "index has the level 'qid'. Got neither. scikit-learn's train_test_split would not raise an error, but put "
            "rows of a query on both sides, so models would be tested on training queries."
        )
    return ids_of(level)


def _check_alike(arrays: dict[str, Any], **columns: Any) -> None:
    """Refuse arrays with different numbers or labels of rows."""
    n_rows = n_rows_of(next(iter(arrays.values())), next(iter(arrays)))
    for name, array in arrays.items():
        if n_rows_of(array, name) != n_rows:
            got = f"{n_rows} in {next(iter(arrays))}, {n_rows_of(array, name)} in {name}"
            raise ValueError(f"All arrays must have the same rows. Got {got}.")
        refuse_other_queries(array, columns["qid"], name=name)
    matrices = {name: array for name, array in arrays.items() if np.ndim(one_column(array)) != 1}
    check_rows(**{name: array for name, array in arrays.items() if name not in matrices}, **columns)
    for name, matrix in matrices.items():
        check_features(matrix, name, **{n: x for n, x in (arrays | columns).items() if n != name})


def _rows_of(array: Any, rows: Index) -> Any:
    """Rows of an array, in the type of the array."""
    if hasattr(array, "iloc") or hasattr(array, "tocsr"):
        return index_rows(array, rows)
    # pyarrow
    if hasattr(array, "combine_chunks") or hasattr(array, "to_pylist"):
        return array.take(rows)
    return array[rows] if hasattr(array, "shape") else [array[row] for row in rows.tolist()]


# --- attributes of queries, given by row: cluster and time ---------------------------------------------------------


ONE_CLUSTER = (
    "Each query must be in a single cluster, so that all its rows are on the same side. If clusters reuse query ids, "
    "combine both, as in qid=[*zip(clusters, qid)]."
)
ONE_TIME = (
    "All rows of a query must have the same time, so that they are on the same side. Use the earliest time of "
    "each query: pd.Series(time).groupby(qid).transform('min')."
)


def check_split_rows(X: MatrixLike, y: Any, groups: Any) -> None:
    """Refuse rows in another order than X, because the parts that scorers see no longer show it."""
    check_lengths(X=X, y=y)
    check_rows(y=y, groups=groups)
    check_features(X, y=y, groups=groups)


def find_attribute(X: MatrixLike, y: Any, groups: Any, values: ArrayLike | None, name: str) -> Any:
    """An attribute of each row's query: `values`, or the level `name` of the index of y; None if both are missing."""
    index = labels_of(y)
    level = index.get_level_values(name) if index is not None and name in index.names else None
    if values is None:
        return level
    values = by_row(values, name, queries_in(y) if groups is None else groups, n_rows_of(X, "X"))
    check_features(X, **{name: values})
    for other_name, other in (("y", y), ("groups", groups)):
        check_rows(**{other_name: other, name: values})
    # Times are ordered; clusters only have names.
    numbers_of = query_numbers if name == "time" else number_of_rows
    if level is not None and not np.array_equal(numbers_of(level, len(level)), numbers_of(values, len(level))):
        raise ValueError(f"{name}= and the level {echo(name)} of the index of y differ; pass only one of them.")
    return values


def clusters_of_rows(clusters: ArrayLike, qid: ArrayLike, n_rows: int) -> Index:
    """Number of each row's cluster, in the order of cluster ids; each query must be in a single cluster."""
    check_one_each(clusters, "clusters", n_rows)
    try:
        number = query_numbers(clusters, n_rows)
    except ValueError:
        raise ValueError(
            "clusters must be the user, session or site of each row, as hashable ids without missing values. "
            f"Got {echo(clusters)}."
        ) from None
    check_constant(number, qid, clusters, ONE_CLUSTER)
    return number


def check_one_each(values: Any, name: str, n_rows: int) -> None:
    """Refuse an attribute without exactly one value for each row."""
    shape = (len(values),) if isinstance(values, list | tuple) else np.shape(one_column(values))
    if shape != (n_rows,):
        raise ValueError(f"{name} must have one entry for each of the {n_rows} rows. Got shape {shape}.")


def check_constant(key: NDArray[Any], qid: ArrayLike, values: Any, rule: str) -> None:
    """Refuse keys that differ within a query."""
    number = number_of_rows(qid, len(key))
    row = np.empty(len(key), dtype=np.int64)
    row[number[::-1]] = np.arange(len(key))[::-1]
    first = row[number]
    (torn,) = np.nonzero(key != key[first])
    if len(torn):
        of_rows = ids_of(values)
        values = (of_rows[first[torn[0]]], of_rows[torn[0]], ids_of(qid)[torn[0]])
        # Dates are written as text.
        a, b, query = (str(v) if isinstance(v, np.datetime64 | np.timedelta64) else echo(v) for v in values)
        raise ValueError(f"{rule} Got {a} and {b} of query {query}.")


# --- times and spans of time ---------------------------------------------------------------------------------------


def as_times(values: Any) -> NDArray[Any]:
    """Convert times without missing values to datetime64 (UTC if zoned), timedelta64, int64, uint64 or float64."""
    values = one_column(values)
    # A Series or an Index of pandas holds an array.
    array = getattr(values, "array", values)
    # An ordered Categorical has an order of its own.
    array = array.codes if getattr(array, "ordered", False) and (array.codes >= 0).all() else array
    array = np.asarray(array.tz_convert(None) if getattr(array, "tz", None) is not None else array)
    if array.dtype == object:
        array = _of_objects(array.tolist())
    kind = array.dtype.kind
    if kind not in "mMiuf":
        text = " Text may not sort by time: convert it with pd.to_datetime(time)." * (kind in "SUT")
        raise ValueError(f"{TIMES}{text} Got {echo(array[:1].tolist())[1:-1]}.")
    if (array != array).any():
        raise ValueError(f"{TIMES} Got {array[array != array][0]} in row {int(np.argmax(array != array))}.")
    return array.astype(f"{kind}8") if kind in "iuf" else array


def _of_objects(times: list[Any]) -> NDArray[Any]:
    """Array of numbers, dates, or datetimes (all with or all without a time zone); otherwise an object array."""
    if times and all(type(time) is date for time in times):
        return np.array(times, dtype="M8[D]")
    if not times or not all(isinstance(time, datetime) for time in times):
        return np.asarray(times)
    zones = {time.tzinfo is not None for time in times}
    if zones == {True}:
        times = [time.astimezone(UTC).replace(tzinfo=None) for time in times]
    return np.array(times, dtype=object if len(zones) > 1 else "M8[us]")


def as_gap(gap: Any, time: NDArray[Any]) -> Any:
    """Convert a gap of 0 or more to a type that can be subtracted from the times."""
    span = np.timedelta64(gap) if isinstance(gap, timedelta) else gap
    if time.dtype.kind in "iuf":
        if not isinstance(span, np.timedelta64) and is_real(span) and span >= 0:
            return built_in(span)
        example = "a number >= 0 in the unit of the times, which are numbers"
    elif isinstance(span, np.timedelta64):
        unit = np.datetime_data(span.dtype)[0]
        # NaT is not >= 0.
        if unit not in ("generic", "Y", "M") and span >= np.timedelta64(0, "s"):
            return span
        example = "a duration of 0 or more, in weeks or shorter units"
    else:
        if is_real(span) and span == 0:
            return np.timedelta64(0, "s")
        example = "a duration such as np.timedelta64(7, 'D') or pd.Timedelta('7 days')"
    raise ValueError(
        f"The 'gap' parameter of QueryTimeSeriesSplit must be {example}, not a number of queries. Got {echo(gap)}."
    )
