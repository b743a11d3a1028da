"""Splitters of interactions: what a user did first is in the training set, what came later in the test set.

They cut users on purpose, so they go with scorers that rank all items, from `make_recommender_scorer`.
"""

from __future__ import annotations

import inspect
import math
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from sklearn_rank._engine.columns import queries_in
from sklearn_rank._engine.grouping import number_of_rows
from sklearn_rank._scoring.routing import ROUTING_IS_OFF, SplitRequests, find_routed_qid
from sklearn_rank._scoring.split import Folds, as_times, check_one_each, check_split_rows, find_attribute
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, is_count, is_real
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Index
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.recommenders._interactions import (
    Column,
    InteractionColumns,
    check_column_name,
    has_column,
    interaction_column,
)


class InteractionSplitter(SplitRequests, BaseCrossValidator):
    """One split of interactions by their times, which cuts users."""

    __metadata_request__split = {"groups": "qid", "time": True}

    user: Column
    item: Column
    time: Column

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, time: ArrayLike | None = None) -> Folds:
        """Yield row numbers of the training and the test set, in the order of the rows.

        Parameters
        ----------
        X : frame or array-like of shape (n_samples, n_columns)
            Interactions. Searched for columns of users and times where `groups` or `time` is None, and of items.
        y : array-like of shape (n_samples,), default=None
            Searched for users and times in the levels "qid" and "time" of its index, before X.
        groups : array-like of shape (n_samples,), default=None
            User of each row.
        time : array-like of shape (n_samples,), default=None
            Time of each row: datetime64, Timestamps, datetimes with or without a time zone, dates, or numbers; not
            text.

        Yields
        ------
        train, test : ndarray

        Raises
        ------
        ValueError
            If users or times are not known, a time is missing, or no row is left to train on.

        Warns
        -----
        UserWarning
            If the test set has users or items that the training set does not have, with their numbers.
        """
        check_split_rows(X, y, groups)
        n_rows = n_rows_of(X, "X")
        X = np.array(X, dtype=object) if isinstance(X, (list, tuple)) else X
        user = number_of_rows(self._users(X, y, groups), n_rows)
        of_row = self._times(X, y, groups, time, n_rows)
        is_test = self._is_test(user, of_row)
        if is_test.all():
            raise ValueError(
                f"The training set must not be empty. Got {echo(self)} and {n_rows} rows of {user.max(initial=-1) + 1} "
                f"users at {len(distinct_values(of_row))} times, all of them in the test set."
            )
        self._warn_of_new(X, groups, user, is_test)
        yield np.flatnonzero(~is_test), np.flatnonzero(is_test)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, time: Any = None) -> int:
        """One; the arguments, which searches hand on, are not used."""
        return 1

    def __repr__(self) -> str:
        """Call that makes this object."""
        defaults = {name: p.default for name, p in inspect.signature(type(self)).parameters.items()}
        given = (f"{name}={getattr(self, name)!r}" for name in defaults if getattr(self, name) != defaults[name])
        return f"{type(self).__name__}({', '.join(given)})"

    def _set_columns(self, **columns: Column) -> None:
        """Keep the names of columns."""
        for name, value in columns.items():
            check_column_name(name, value, type(self).__name__)
            setattr(self, name, value)

    def _is_test(self, user: Index, time: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is tested, by the number of its user and its time."""
        raise NotImplementedError

    def _users(self, X: Any, y: Any, groups: Any) -> Any:
        """User of each row."""
        if groups is not None or queries_in(y) is not None:
            return find_routed_qid(y, groups, ROUTING_IS_OFF)
        return InteractionColumns(self.user, self.item, type(self).__name__).ids(X, "user")

    def _times(self, X: Any, y: Any, groups: Any, time: ArrayLike | None, n_rows: int) -> NDArray[Any]:
        """Time of each row."""
        given = find_attribute(X, y, groups, time, "time")
        if given is None:
            if not has_column(X, "time", self.time):
                lost = "" if sklearn.get_config()["enable_metadata_routing"] else ROUTING_IS_OFF.replace("qid", "time")
                raise ValueError(
                    f"{type(self).__name__} needs the time of each row: name a column of X, "
                    f"{type(self).__name__}(time='timestamp'), pass time= to split or RankingEvaluator, or "
                    f"params={{'time': time}} to cross_validate. Got none.{lost}"
                )
            given = interaction_column(X, "time", self.time, type(self).__name__)
        check_one_each(given, "time", n_rows)
        # A column of an array of objects may hold only times.
        return as_times(given.tolist() if isinstance(given, np.ndarray) and given.dtype.kind == "O" else given)

    def _warn_of_new(self, X: Any, groups: Any, user: Index, is_test: NDArray[np.bool_]) -> None:
        """Warn of users and items that a model cannot learn, because the training set does not have them."""
        units = {"users": user}
        # Only the owner of an array knows whether a column holds items.
        is_known = has_column(X, "item", self.item) and (groups is None or hasattr(X, "columns"))
        if is_known or self.item is not None:
            ids = InteractionColumns(self.user, self.item, type(self).__name__).ids(X, "item")
            units["items"] = number_of_rows(ids, len(ids))
        n_new = {
            name: int(np.count_nonzero(np.bincount(number) == np.bincount(number[is_test], minlength=number.max() + 1)))
            for name, number in units.items()
        }
        if any(n_new.values()):
            counts = " and ".join(f"{n} of {units[name].max() + 1} {name}" for name, n in n_new.items() if n)
            undefined = " Users without training rows are undefined, unless the model ranks items for them."
            warn_caller(
                f"{type(self).__name__} puts all rows of {counts} into the test set, so the model cannot learn them."
                f"{undefined if n_new['users'] else ''}"
            )


class LeaveLastOut(InteractionSplitter):
    """Test on the last interactions of each user, train on the earlier ones.

    It splits users on purpose: use it with `make_recommender_scorer`. There is one split, and some rows are never
    tested, so `sklearn.model_selection.cross_val_predict` cannot use it. If interactions of one user have the same
    time, the last in the data is the latest. All rows of a user with no more than `n_test` are tested.

    Users, items and times are columns of X. Users and times can also be given: ``split(X, groups=users, time=times)``,
    ``params={"qid": users, "time": times}`` with metadata routing, or levels "qid" and "time" of the index of y.

    Parameters
    ----------
    n_test : int, default=1
        Interactions of each user in the test set.
    user, item, time : str or int, default=None
        Columns of X: names in a frame of pandas or polars, numbers in an array. None: "user_id", "item_id", and "time",
        "timestamp" or "datetime" of a frame; the first two columns of an array, and no time.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_rank import LeaveLastOut
    >>> X = pd.DataFrame(
    ...     {"user_id": [*"ababa"], "item_id": [*"xyyxz"], "time": [1, 2, 5, 4, 3]}
    ... )
    >>> for train, test in LeaveLastOut().split(X):
    ...     print(train, test)
    [0 1 4] [2 3]
    """

    @named_arguments
    def __init__(self, n_test: int = 1, *, user: Column = None, item: Column = None, time: Column = None) -> None:
        COUNT("n_test", n_test, "LeaveLastOut")
        self.n_test = n_test
        self._set_columns(user=user, item=item, time=time)

    def _is_test(self, user: Index, time: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is among the last ones of its user."""
        order = np.lexsort((time, user))
        n_of_user = np.bincount(user)
        is_test = np.empty(len(user), dtype=bool)
        is_test[order] = np.arange(len(user)) >= np.repeat(np.cumsum(n_of_user), n_of_user) - self.n_test
        return is_test


class GlobalTimeSplit(InteractionSplitter):
    """Train on the interactions of all users before a point in time, test on the later interactions.

    It splits users on purpose: use it with `make_recommender_scorer`. There is one split, and some rows are never
    tested, so `sklearn.model_selection.cross_val_predict` cannot use it. Interactions of equal time stay together, on
    the side of the test set.

    Users, items and times are columns of X. Users and times can also be given: ``split(X, groups=users, time=times)``,
    ``params={"qid": users, "time": times}`` with metadata routing, or levels "qid" and "time" of the index of y.

    Parameters
    ----------
    test_size : float or int, default=0.2
        Share or number of the interactions in the test set, and more where the first of them are of the same time as
        others. A share is rounded up.
    start : date, datetime, datetime64, str or number, default=None
        In place of a size, the first time of the test set: a date or an ISO 8601 text such as "2026-03-01", or a number
        where times are numbers.
    user, item, time : str or int, default=None
        Columns of X: names in a frame of pandas or polars, numbers in an array. None: "user_id", "item_id", and "time",
        "timestamp" or "datetime" of a frame; the first two columns of an array, and no time.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_rank import GlobalTimeSplit
    >>> X = pd.DataFrame(
    ...     {"user_id": [*"abaab"], "item_id": [*"xyxyx"], "time": [1, 2, 5, 4, 5]}
    ... )
    >>> for train, test in GlobalTimeSplit(test_size=1).split(X):
    ...     print(train, test)
    [0 1 3] [2 4]
    >>> X["time"] = pd.to_datetime(X["time"], unit="D", origin="2026-03-01")
    >>> for train, test in GlobalTimeSplit(start="2026-03-05").split(X):
    ...     print(train, test)
    [0 1] [2 3 4]
    """

    @named_arguments
    def __init__(
        self,
        test_size: float = 0.2,
        *,
        start: Any = None,
        user: Column = None,
        item: Column = None,
        time: Column = None,
    ) -> None:
        if start is not None and test_size != 0.2:
            raise ValueError(
                "GlobalTimeSplit takes the first time of the test set, start=, or its size, test_size=. "
                f"Got start={echo(start)} and test_size={echo(test_size)}."
            )
        if not is_count(test_size) and not (is_real(test_size) and 0 < test_size < 1):
            raise ValueError(
                "The 'test_size' parameter of GlobalTimeSplit must be an int >= 1, which counts interactions, or a "
                f"number between 0 and 1, exclusive, their share. Got {echo(test_size)} instead."
            )
        self.test_size, self.start = test_size, start
        self._set_columns(user=user, item=item, time=time)

    def _is_test(self, user: Index, time: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is as late as the start, or the first of the last ones."""
        if self.start is not None:
            return self._is_from_start(time)
        # 0.07 * 100 is a little more than 7.
        n_test = self.test_size if is_count(self.test_size) else math.ceil(self.test_size * len(time) - 1e-9)
        start = len(time) - min(int(n_test), len(time))
        is_test: NDArray[np.bool_] = time >= np.partition(time, start)[start : start + 1]
        return is_test

    def _is_from_start(self, time: NDArray[Any]) -> NDArray[np.bool_]:
        """Whether each row is not before the start; both are dates, or both numbers."""
        start, are_dates = self.start, time.dtype.kind == "M"
        try:
            first = np.datetime64(start, "us") if isinstance(start, str) else as_times([start])[0]
        except (TypeError, ValueError):
            first = None
        if first is None or isinstance(first, np.datetime64) != are_dates or first != first:
            takes = "a date, such as '2026-03-01'" if are_dates else "a number, as times are"
            raise ValueError(f"The 'start' parameter of GlobalTimeSplit must be {takes}. Got {echo(start)} instead.")
        is_test: NDArray[np.bool_] = time >= first
        if not is_test.any():
            raise ValueError(
                f"The test set must not be empty. Got start={echo(start)} and {len(time)} rows, the last at "
                f"{time.max()}."
            )
        return is_test
