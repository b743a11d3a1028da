"""Times and gaps of `QueryTimeSeriesSplit`: in any container, with any time zone, and invalid ones."""

import datetime

import numpy as np
import pandas as pd
import pytest

from sklearn_rank import QueryTimeSeriesSplit, query_train_test_split

DAYS = np.arange("2024-01-01", "2024-01-13", dtype="M8[D]")


def test_times_in_any_container():
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    days = np.array([5, 5, 1, 3, 2, 2, 4, 6])
    qid, X = [*"aabcddef"], np.zeros((8, 1))
    expected = [[a.tolist(), b.tolist()] for a, b in QueryTimeSeriesSplit(3, gap=2).split(X, groups=qid, time=days)]
    assert expected[0] == [[2, 4, 5], [6]], "a day left out between"
    dates = np.datetime64("2024-03-30") + days.astype("m8[D]")  # across the change to summer time
    stamps = pd.Series(dates).dt.tz_localize("Europe/Berlin")
    moments = [datetime.datetime(2024, 3, 30, tzinfo=datetime.UTC) + datetime.timedelta(int(d)) for d in days]
    numbers = [days, days.tolist(), days.astype("u1"), days / 1, pd.Series(days, dtype="Int64"), [*map(np.int64, days)]]
    spans = [np.timedelta64(2, "D"), datetime.timedelta(2), pd.Timedelta("2D"), np.timedelta64(48, "h")]
    times = [
        dates, dates.astype("M8[ns]"), pd.Series(dates), pd.DatetimeIndex(dates), stamps.dt.tz_convert("Asia/Tokyo"),
        pd.Series(dates).astype("timestamp[us][pyarrow]"), pl.Series(dates), pa.array(dates), pa.chunked_array([dates]),
        dates.tolist(), [*stamps.dt.tz_convert("UTC")], moments, [*dates], days * np.timedelta64(1, "D"),
        pl.Series(moments), pd.DataFrame({"time": dates}), pd.Categorical(dates),
    ]  # fmt: skip
    for gap, time in [*((2, t) for t in numbers), *((gap, t) for t in times for gap in spans)]:
        found = QueryTimeSeriesSplit(3, gap=gap).split(X, groups=qid, time=time)
        assert [[a.tolist(), b.tolist()] for a, b in found] == expected, (gap, time)


def test_a_gap_as_long_as_all_time_leaves_the_first_queries():
    for gap, time in ((2, [0, 1, 2]), (2.5, [0, 1, 2.5]), (np.timedelta64(2, "D"), DAYS[:3])):
        ((train, test),) = QueryTimeSeriesSplit(1, test_size=1, gap=gap).split([[0]] * 3, groups=range(3), time=time)
        assert (train.tolist(), test.tolist()) == ([0], [2])


def test_times_of_several_zones_are_moments():
    """02:30 in Berlin occurs twice in that night, one hour apart."""
    pd = pytest.importorskip("pandas")
    moments = pd.to_datetime(["2024-10-27 00:30", "2024-10-27 01:30", "2024-10-27 02:30"], utc=True)
    local = pd.Series(moments).dt.tz_convert("Europe/Berlin")
    for time in (local, [*local]):
        folds = list(
            QueryTimeSeriesSplit(1, test_size=1, gap=pd.Timedelta("1h")).split([[0]] * 3, None, range(3), time)
        )
        assert folds[0][0].tolist() == [0, 1]
    mixed = [*local[:2], local[2].tz_localize(None)]
    with pytest.raises(ValueError, match="time must be the time of each row"):
        next(QueryTimeSeriesSplit(1).split([[0]] * 3, None, range(3), mixed))


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1, 2, 3, 3], r"must have the same time.*transform\('min'\)\. Got 1 and 2 of query 'a'"),
        (
            ["10/2/2020", "9/2/2020"] * 2,
            r"Text may not sort by time: convert it with pd\.to_datetime\(time\)\. Got '10/2/2020'\.$",
        ),
        (np.array(["2020", "2020", "NaT", "2021"], "M8[D]"), "without missing values. Got NaT in row 2"),
        ([1.0, 1.0, np.nan, 2.0], "Got nan in row 2"),
        ([1, 1, None, 2], "time must be the time of each row"),
        ([True, True, False, False], r"or numbers, without missing values\. Got True\.$"),
        ([1, 2], r"time must have one entry for each of the 4 rows\. Got shape \(2,\)"),
        (None, "QueryTimeSeriesSplit needs the time of each row: pass time= to split or RankingEval.*routing is off"),
        ([1, 1, 1, 1], "use fewer splits, a smaller gap, or finer times. Got 3 queries at 1 times, n_splits=1"),
    ],
)
def test_invalid_times(time, message):
    with pytest.raises(ValueError, match=message):
        next(QueryTimeSeriesSplit(1).split([[0]] * 4, groups=[*"aabc"], time=time))


def test_missing_times_of_pandas():
    pd = pytest.importorskip("pandas")
    zones = pd.Series(pd.to_datetime(["2020-01-01", None, "2020-01-03"], utc=True))
    for time in (zones, [*zones], pd.Series([1, None, 3], dtype="Int64"), [1, pd.NA, 3], [None, *zones[1:]]):
        with pytest.raises(ValueError, match="time must be the time of each row"):
            next(QueryTimeSeriesSplit(1).split([[0]] * 3, groups=range(3), time=time))


@pytest.mark.parametrize(
    ("gap", "time", "message"),
    [
        (7, DAYS, r"must be a duration such as np\.timedelta64\(7, 'D'\).* not a number of queries\. Got 7\."),
        (np.timedelta64(1, "D"), np.arange(12), "must be a number >= 0 in the unit of the times"),
        (datetime.timedelta(1), np.arange(12), "must be a number >= 0 in the unit of the times"),
        (-1, np.arange(12), "must be a number >= 0"),
        (np.timedelta64(-1, "D"), DAYS, "must be a duration of 0 or more"),
        (np.timedelta64("NaT", "D"), DAYS, "must be a duration of 0 or more"),
        (np.timedelta64(1, "M"), DAYS, "in weeks or shorter units"),
        (np.int64(7).view("m8"), DAYS, "in weeks or shorter units"),
        ("7D", DAYS, "must be a duration such as"),
        (np.timedelta64(11, "D"), DAYS, "use fewer splits, a smaller gap"),
        (np.timedelta64(200_000, "D"), DAYS.astype("M8[ns]"), "use fewer splits, a smaller gap"),
    ],
    ids=repr,
)
def test_invalid_gaps(gap, time, message):
    with pytest.raises(ValueError, match=message):
        next(QueryTimeSeriesSplit(2, gap=gap).split([[0]] * 12, groups=range(12), time=time))


def test_mixed_time_zones_are_compared_as_moments():
    zones = [datetime.timezone(datetime.timedelta(hours=h)) for h in (9, 0, -9)]
    time = [
        datetime.datetime(2024, 1, 1, 12 - i, tzinfo=zone) for i, zone in enumerate(zones)
    ]  # 03:00, 11:00 and 19:00 UTC
    ((train, test),) = QueryTimeSeriesSplit(1, test_size=1).split([[0]] * 3, groups=[0, 1, 2], time=time)
    assert (train.tolist(), test.tolist()) == ([0, 1], [2])


def test_a_gap_of_zero():
    time = np.datetime64("2024-01-01T00:00:00.000") + np.arange(4)
    for gap in (0, np.timedelta64(0, "D"), datetime.timedelta(0)):
        ((train, test),) = QueryTimeSeriesSplit(1, test_size=1, gap=gap).split([[0]] * 4, groups=range(4), time=time)
        assert (train.tolist(), test.tolist()) == ([0, 1, 2], [3]), "milliseconds apart"


@pytest.mark.parametrize(("gap", "n_train"), [(0, 3), (1, 3), (1.5, 2), (3, 1)])
def test_times_beyond_int64(gap, n_train):
    time = np.array([1, 2, 3, 4], dtype=np.uint64) + np.uint64(2**63 - 2)
    ((train, test),) = QueryTimeSeriesSplit(1, test_size=1, gap=gap).split([[0]] * 4, groups=range(4), time=time)
    assert (train.tolist(), test.tolist()) == ([*range(n_train)], [3])
    with pytest.raises(ValueError, match="A training or test set would be empty"):
        next(QueryTimeSeriesSplit(1, test_size=1, gap=4).split([[0]] * 4, groups=range(4), time=time))


def test_the_last_share_of_the_queries_is_tested():
    rows, qid, time = [10, 11, 12, 13, 14, 15], [*"aabcde"], [5, 5, 1, 2, 4, 3]
    train, test, _, of_test = query_train_test_split(rows, qid=qid, time=time, test_size=0.4)
    assert (train, test, of_test) == ([12, 13, 15], [10, 11, 14], ["a", "a", "d"])
    # 0.25 of 5 queries are two.
    assert query_train_test_split(rows, qid=qid, time=time)[1] == test
    # Queries of equal time stay together.
    assert query_train_test_split(rows, qid=qid, time=[5, 5, 1, 2, 5, 3], test_size=1)[1] == test
    with pytest.raises(ValueError, match="only test_size= goes with it"):
        query_train_test_split(rows, qid=qid, time=time, random_state=0)


def test_an_ordered_categorical_keeps_its_order():
    time = pd.Categorical([3, 1, 2], categories=[3, 1, 2], ordered=True)
    folds = QueryTimeSeriesSplit(2).split([[0]] * 3, None, [*"abc"], time)
    assert [(train.tolist(), test.tolist()) for train, test in folds] == [([0], [1]), ([0, 1], [2])]
