"""Splits by time: queries of the past to train on, later ones to test on."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import BaseCrossValidator

from sklearn_rank._engine.columns import one_column
from sklearn_rank._engine.grouping import query_numbers
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, built_in, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lengths import n_rows_of
from sklearn_rank.model_selection._query_attributes import (
    ONE_TIME,
    check_constant,
    check_one_each,
    check_split_rows,
    find_attribute,
    needed,
)
from sklearn_rank.model_selection._routing import find_routed_qid
from sklearn_rank.model_selection._split import Folds

TIMES = "time must be the time of each row, as datetime64, Timestamps, dates, or numbers, none of them missing."


class QueryTimeSeriesSplit(BaseCrossValidator):
    """Train on earlier queries, test on later ones: `sklearn.model_selection.TimeSeriesSplit` of whole queries.

    Queries are put in order of their time, whatever the order of the rows, and cut into blocks; each of the last
    `n_splits` blocks is tested once, by a model that is trained on what comes before it. Queries of one time are in one
    block. The time is metadata under the name `time`.

    Parameters
    ----------
    n_splits : int, default=5
        Number of test sets, at least 1.
    max_train_size : int, default=None
        Most queries (not rows) in a training set, of which the latest are taken. None: all.
    test_size : int, default=None
        Number of queries (not rows) in a test set, more or less where queries of one time are kept together. None:
        ``n_queries // (n_splits + 1)``.
    gap : timedelta64, Timedelta, timedelta or number, default=0
        Span of time, not a number of queries, that at least lies between the last training query and the first test
        query; a number only where times are numbers, in their unit.

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

    At least a week later:

    >>> splitter = QueryTimeSeriesSplit(1, test_size=1, gap=np.timedelta64(7, "D"))
    >>> for train, test in splitter.split(X, qid, qid, time):
    ...     print(train, test)
    [0 1 3] [2]
    """

    __metadata_request__split = {"groups": "qid", "time": True}

    def __init__(
        self, n_splits: int = 5, *, max_train_size: int | None = None, test_size: int | None = None, gap: Any = 0
    ) -> None:
        for name, value in (("n_splits", n_splits), ("max_train_size", max_train_size), ("test_size", test_size)):
            if value is not None or name == "n_splits":
                COUNT.check(name, value, "QueryTimeSeriesSplit")
        self.n_splits, self.max_train_size, self.test_size, self.gap = n_splits, max_train_size, test_size, gap

    @named_arguments
    def split(self, X: Any, y: Any = None, groups: Any = None, time: ArrayLike | None = None) -> Folds:
        """Yield row numbers of training and test sets, in the order of the rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Only its length is used, and labels of pandas: those of y and `groups` in another order are refused.
        y : array-like of shape (n_samples,), default=None
            Searched for qid and time in its index where `groups` or `time` is None.
        groups : array-like of shape (n_samples,), default=None
            Query of each row.
        time : array-like of shape (n_samples,), default=None
            Time of each row's query: datetime64, Timestamps, datetimes with or without a time zone, dates, or numbers;
            not text. It is the same in all rows of a query.

        Yields
        ------
        train, test : ndarray

        Raises
        ------
        ValueError
            If a time is missing or differs within a query, times are in another order than those of the index of y,
            `gap` is no span of such times, or there are too few queries, or times, for so many splits.
        """
        check_split_rows(X, y, groups)
        qid, n_rows = find_routed_qid(y, groups), n_rows_of(X, "X")
        number = query_numbers(qid, n_rows)
        given = needed(find_attribute(X, y, groups, time, "time"), "time", type(self).__name__)
        check_one_each(given, "time", n_rows)
        of_row = as_times(given)
        check_constant(of_row, qid, of_row, ONE_TIME)
        of_query = np.empty(number.max(initial=-1) + 1, dtype=of_row.dtype)
        of_query[number] = of_row
        order = np.argsort(of_query, kind="stable")
        place = np.empty(len(order), dtype=np.int64)
        place[order] = np.arange(len(order))
        place = place[number]
        for train, test in self._blocks(of_query[order]):
            yield tuple(np.flatnonzero((a <= place) & (place < b)) for a, b in (train, test))  # type: ignore[misc]

    def _blocks(self, time: NDArray[Any]) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """Places of training and test queries among those in order of time."""
        n_queries, gap = len(time), as_gap(self.gap, time)
        size = n_queries // (self.n_splits + 1) if self.test_size is None else self.test_size
        if size == 0 or size * self.n_splits >= n_queries:
            raise ValueError(
                f"n_splits={self.n_splits} with test_size={self.test_size} needs more than "
                f"{self.n_splits * max(size, 1)} queries, as some come before the first test set. Got {n_queries}."
            )
        starts = n_queries - size * np.arange(self.n_splits, 0, -1)
        bounds = np.append(np.searchsorted(time, time[starts]), n_queries).tolist()  # queries of one time on one side
        ends = [_n_before(time, start, gap) for start in bounds[:-1]]
        if ends[0] == 0 or (np.diff(bounds) == 0).any():
            raise ValueError(
                "Queries of one time are on one side, and the gap is left out, so a set would be empty: take fewer "
                f"splits, a smaller gap, or finer times. Got {n_queries} queries at {len(np.unique(time))} times, "
                f"n_splits={self.n_splits}, gap={echo(self.gap)}."
            )
        begins = [0 if self.max_train_size is None else max(0, end - self.max_train_size) for end in ends]
        return [((a, b), (c, d)) for a, b, c, d in zip(begins, ends, bounds, bounds[1:], strict=False)]

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None, time: Any = None) -> int:
        """Number of test sets; the arguments, which searches hand on, are not used."""
        return self.n_splits


def _n_before(time: NDArray[Any], start: int, gap: Any) -> int:
    """Number of queries that lie before a test set, by at least the gap."""
    span, unit = time[start] - time[0], np.timedelta64(1, "s") if time.dtype.kind in "mM" else 1
    if gap / unit > span / unit:  # as floats, as a long gap has no value in a fine unit
        return 0
    return int(np.count_nonzero(time[start] - time[:start] >= gap))  # of times in order, so that none is negative


# --- times and spans of time ---------------------------------------------------------------------------------


def as_times(values: Any) -> NDArray[Any]:
    """Times as an array of datetime64 (UTC where there are time zones), timedelta64, int64, uint64 or float64.

    Raises
    ------
    ValueError
        If they are neither, or one is missing.
    """
    values = one_column(values)
    array = getattr(values, "array", values)  # what a Series or an Index of pandas holds
    array = np.asarray(array.tz_convert(None) if getattr(array, "tz", None) is not None else array)
    if array.dtype == object:
        array = _of_objects(array.tolist())
    kind = array.dtype.kind
    if kind not in "mMiuf":
        text = " Text need not sort by time: convert it, as pd.to_datetime(time) does." * (kind in "SUT")
        raise ValueError(f"{TIMES}{text} Got {echo(array[:1].tolist())[1:-1]}.")
    if (array != array).any():
        raise ValueError(f"{TIMES} Got {array[array != array][0]} in row {int(np.argmax(array != array))}.")
    return array.astype(f"{kind}8") if kind in "iuf" else array


def _of_objects(times: list[Any]) -> NDArray[Any]:
    """Array of numbers, dates, or datetimes that all have a time zone or none; of anything else, objects."""
    if times and all(type(time) is date for time in times):
        return np.array(times, dtype="M8[D]")
    if not times or not all(isinstance(time, datetime) for time in times):
        return np.asarray(times)
    zones = {time.tzinfo is not None for time in times}
    if zones == {True}:
        times = [time.astimezone(UTC).replace(tzinfo=None) for time in times]
    return np.array(times, dtype=object if len(zones) > 1 else "M8[us]")


def as_gap(gap: Any, time: NDArray[Any]) -> Any:
    """A span of time as it is subtracted from these times.

    Raises
    ------
    ValueError
        If it is none, or below 0.
    """
    span = np.timedelta64(gap) if isinstance(gap, timedelta) else gap
    if time.dtype.kind in "iuf":
        if not isinstance(span, np.timedelta64) and is_real(span) and span >= 0:
            return built_in(span)
        example = "a number >= 0 in the unit of the times, which are numbers"
    elif isinstance(span, np.timedelta64):
        unit = np.datetime_data(span.dtype)[0]
        if unit not in ("generic", "Y", "M") and span >= np.timedelta64(0, "s"):  # NaT is not
            return span
        example = "a span of time of 0 or more, in weeks or shorter units"
    else:
        if is_real(span) and span == 0:
            return np.timedelta64(0, "s")
        example = "a span of time such as np.timedelta64(7, 'D') or pd.Timedelta('7 days')"
    raise ValueError(
        f"The 'gap' parameter of QueryTimeSeriesSplit must be {example}; it is no number of queries. Got {echo(gap)}."
    )
