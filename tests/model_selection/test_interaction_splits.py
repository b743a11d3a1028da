"""`LeaveLastOut` and `GlobalTimeSplit`: the tested interactions, and the sources of users and times."""

import datetime
import pickle

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict, cross_validate

from sklearn_rank import GlobalTimeSplit, InteractionRecommender, LeaveLastOut, make_recommender_scorer

pd = pytest.importorskip("pandas")

USERS = [3, 3, 5, 5, 2, 1, 2, 3, 4, 5, 5, 2, 2, 4, 4, 5, 1, 9, 2, 2, 1, 1, 5, 4]
ITEMS = [20, 14, 23, 39, 28, 35, 34, 24, 39, 35, 27, 26, 13, 17, 16, 31, 23, 99, 11, 39, 25, 28, 33, 25]
DAYS = [10, 4, 5, 7, 10, 8, 6, 0, 0, 7, 11, 9, 2, 6, 4, 3, 2, 12, 5, 9, 3, 1, 8, 1]
LAST = {1: [0, 4, 5, 10, 13, 17], 2: [0, 1, 4, 5, 10, 13, 14, 17, 19, 20, 22]}
"""Rows that LensKit 2025.8 (LastN) and RecTools 0.19 (LastNSplitter) test, by n; user 9 has one row."""
LATEST = {0.1: [0, 4, 10, 17], 0.2: [0, 4, 10, 11, 17, 19], 0.5: [0, 3, 4, 5, 6, 9, 10, 11, 13, 17, 19, 22]}
"""Rows that LensKit (split_temporal_fraction) tests; RecTools (TimeRangeSplitter) tests those of 0.2 as "4D"."""


def interactions():
    time = np.datetime64("2020-09-13") + np.array(DAYS, "m8[D]")
    return pd.DataFrame({"user_id": USERS, "item_id": ITEMS, "time": time})


def rows_tested(splitter, *args, **keywords):
    ((train, test),) = splitter.split(*args, **keywords)
    assert sorted([*train, *test]) == [*range(len(train) + len(test))]
    return test.tolist()


@pytest.mark.filterwarnings("ignore:.*puts all rows")
@pytest.mark.parametrize("n", LAST)
def test_last_rows_match_other_libraries(n):
    assert rows_tested(LeaveLastOut(n), interactions()) == LAST[n]


@pytest.mark.filterwarnings("ignore:.*puts all rows")
@pytest.mark.parametrize("share", LATEST)
def test_latest_rows_match_other_libraries(share):
    assert rows_tested(GlobalTimeSplit(share), interactions()) == LATEST[share]


@pytest.mark.filterwarnings("ignore:.*puts all rows")
def test_interaction_splits_by_hand():
    X = pd.DataFrame({"user_id": [*"abaab"], "item_id": [*"xxxxx"], "timestamp": [5, 4, 3, 3, 4]})
    assert rows_tested(LeaveLastOut(), X) == [0, 4]
    assert rows_tested(GlobalTimeSplit(1), X) == [0]
    assert rows_tested(GlobalTimeSplit(2), X) == [0, 1, 4], "equal times stay together"
    assert rows_tested(GlobalTimeSplit(3), X) == [0, 1, 4]
    assert rows_tested(GlobalTimeSplit(0.2), X) == [0]
    assert rows_tested(GlobalTimeSplit(0.21), X) == [0, 1, 4], "a share is rounded up"


def test_a_whole_share_is_not_rounded_up():
    time = np.arange(100)
    X = np.zeros((100, 2))
    assert len(rows_tested(GlobalTimeSplit(0.07), X, groups=time % 2, time=time)) == 7


@pytest.mark.filterwarnings("ignore:.*puts all rows")
@pytest.mark.parametrize("splitter", [LeaveLastOut(2), GlobalTimeSplit(0.3)], ids=repr)
def test_folds_depend_on_times_and_not_on_row_order(splitter):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {"user_id": rng.integers(0, 9, 60), "item_id": rng.integers(0, 5, 60), "time": rng.permutation(60)}
    )
    order = rng.permutation(60)
    assert sorted(order[rows_tested(splitter, X.iloc[order])]) == rows_tested(splitter, X)


@pytest.mark.filterwarnings("ignore:.*puts all rows")
@pytest.mark.parametrize("splitter", [LeaveLastOut(2), GlobalTimeSplit(0.3)], ids=repr)
def test_users_and_times_from_any_source(splitter):
    X = interactions()
    expected = rows_tested(splitter, X)
    users, time, plain = X["user_id"].to_numpy(), X["time"].to_numpy(), np.zeros((len(X), 1))
    levels = pd.MultiIndex.from_arrays([users, time], names=["qid", "time"])
    y = pd.Series(np.ones(len(X)), index=levels)
    renamed = X.rename(columns={"user_id": "who", "item_id": "what", "time": "when"})
    named = clone(splitter, safe=False)
    named.user, named.item, named.time = "who", "what", "when"
    numbered = type(splitter)(*([2] if isinstance(splitter, LeaveLastOut) else [0.3]), user=1, item=2, time=0)
    array = np.column_stack([DAYS, USERS, ITEMS])
    times = [time, [*time.astype("M8[D]").tolist()], DAYS, pd.Series(time).dt.tz_localize("Asia/Tokyo")]
    for given in times:
        assert rows_tested(splitter, plain, groups=users, time=given) == expected
        assert rows_tested(splitter, plain, None, [f"u{u}" for u in users], given) == expected
    assert rows_tested(splitter, plain, y) == expected
    assert rows_tested(named, renamed) == expected
    assert rows_tested(numbered, array) == rows_tested(numbered, array.tolist()) == expected
    assert rows_tested(numbered, array.astype(object)) == expected
    assert rows_tested(splitter, X.rename(columns={"time": "datetime"})) == expected
    assert rows_tested(splitter, X.drop(columns="time"), time=time) == expected
    pl = pytest.importorskip("polars")
    assert rows_tested(splitter, pl.from_pandas(X)) == expected


@pytest.mark.filterwarnings("ignore:.*puts all rows")
def test_routing_passes_users_and_times():
    X = interactions()
    seen = []

    class Spy(LeaveLastOut):
        def _is_test(self, user, time):
            seen.append((user.tolist(), time.tolist()))
            return super()._is_test(user, time)

    model = InteractionRecommender(Popular())
    scorer = make_recommender_scorer("mrr", items=sorted({*ITEMS}))
    with sklearn.config_context(enable_metadata_routing=True):
        times = {"params": {"qid": np.array(USERS), "time": -np.array(DAYS)}, "scoring": scorer}
        cross_validate(model, X[["user_id", "item_id"]], cv=Spy(), error_score="raise", **times)
        cross_validate(model, X, cv=Spy(), error_score="raise", scoring=scorer)
    assert seen[0][0] == seen[1][0]
    assert seen[0][1] == [-day for day in DAYS]


def test_new_users_and_items_are_counted():
    """User b and the items z and w have all their rows in the test set."""
    X = pd.DataFrame({"user_id": [*"aaab"], "item_id": [*"xyzw"], "time": [1, 2, 3, 3]})
    for splitter in (LeaveLastOut(), GlobalTimeSplit()):
        message = (
            f"{type(splitter).__name__} puts all rows of 1 of 2 users and 2 of 4 items into the test set, so the model"
        )
        with pytest.warns(UserWarning, match=message) as caught:
            assert rows_tested(splitter, X) == [2, 3]
        assert caught[0].filename == __file__
    rows_tested(LeaveLastOut(), X.iloc[[0, 1, 0, 1]].assign(time=[1, 2, 3, 4]))  # no warning


def test_item_features_are_not_counted():
    """If users are given, the second column of an array may be any feature."""
    X = np.random.default_rng(0).random((6, 3))
    assert rows_tested(LeaveLastOut(), X, groups=[*"aabbcc"], time=[1, 2] * 3) == [1, 3, 5]
    with pytest.warns(
        UserWarning, match="all rows of 3 of 6 items into the test set, so the model cannot learn them.$"
    ):
        rows_tested(LeaveLastOut(item=1), X, groups=[*"aabbcc"], time=[1, 2] * 3)


X3 = [["a", "x"], ["a", "y"], ["b", "x"]]


@pytest.mark.parametrize(
    ("splitter", "keywords", "message"),
    [
        (
            LeaveLastOut(),
            {},
            r"LeaveLastOut needs the time of each row: name a column of X.*Got none\. Metadata routing",
        ),
        (LeaveLastOut(time=5), {}, r"LeaveLastOut needs the time of each row"),
        (
            GlobalTimeSplit(user=4),
            {"time": [1, 2, 3]},
            r"GlobalTimeSplit needs the user of each row.*user=4 .*\(3, 2\)",
        ),
        (LeaveLastOut(user=2), {"time": [1, 2, 3]}, r"needs the user of each row.*user=2 .*\(3, 2\)"),
        (LeaveLastOut(user=-1), {"time": [1, 2, 3]}, r"needs the user of each row.*user=-1 .*\(3, 2\)"),
        (LeaveLastOut(), {"time": [1, 2]}, r"time must have one entry for each of the 3 rows"),
        (LeaveLastOut(), {"time": ["1", "2", "3"]}, r"Text may not sort by time"),
        (LeaveLastOut(), {"time": [1, np.nan, 3]}, r"without missing values\. Got nan in row 1"),
        (LeaveLastOut(2), {"time": [1, 2, 3]}, r"The training set must not be empty\. Got LeaveLastOut.* 3 rows of 2"),
        (GlobalTimeSplit(), {"time": [1, 1, 1]}, r"training set must not be empty.* of 2 users at 1 times"),
        (GlobalTimeSplit(3), {"time": [1, 2, 3]}, r"training set must not be empty"),
        (GlobalTimeSplit(9), {"time": [1, 2, 3]}, r"training set must not be empty"),
        (LeaveLastOut(), {"time": [1, 2, 3], "groups": ["a", None, "b"]}, r"missing values"),
        (LeaveLastOut(), {"time": [1, 2, 3], "groups": ["a"]}, r"needs 3 entries"),
    ],
    ids=repr,
)
def test_wrong_input_of_split(splitter, keywords, message):
    with pytest.raises(ValueError, match=message):
        rows_tested(splitter, X3, **keywords)


@pytest.mark.filterwarnings("ignore:.*puts all rows")
def test_rows_of_a_list_keep_their_types():
    X = [["a", "x", 9], ["a", "y", 10], ["b", "x", 7], ["b", "y", 8]]
    assert rows_tested(LeaveLastOut(time=2), X) == [1, 3]


@pytest.mark.parametrize("splitter", [LeaveLastOut(), GlobalTimeSplit()], ids=repr)
def test_interaction_splits_without_rows(splitter):
    with pytest.raises(ValueError, match="The training set must not be empty.* 0 rows of 0 users at 0 times"):
        rows_tested(splitter, np.zeros((0, 2)), groups=[], time=[])


def test_missing_users_and_columns():
    X = pd.DataFrame({"visitors": [1, 1], "item_id": [1, 2], "time": [1, 2]})
    with pytest.raises(ValueError, match="LeaveLastOut needs the user of each row.*'user_id' of a frame.*'visitors'"):
        rows_tested(LeaveLastOut(), X)
    with pytest.raises(ValueError, match="Each row of X needs a user. Got None or NaN"):
        rows_tested(LeaveLastOut(), pd.DataFrame({"user_id": [1, None], "time": [1, 2]}))
    with pytest.raises(ValueError, match="Each row of X needs an item"):
        rows_tested(LeaveLastOut(), pd.DataFrame({"user_id": [1, 1], "item_id": [None, "x"], "time": [1, 2]}))
    y = pd.Series([1, 1], index=pd.Index([1, 2], name="time"))
    with pytest.raises(ValueError, match="of the index of y differ"):
        rows_tested(LeaveLastOut(user="visitors"), X, y, time=[2, 1])


@pytest.mark.parametrize("n", [0, 1.5, True, "1", None])
def test_interaction_splits_invalid_numbers(n):
    with pytest.raises(ValueError, match="The 'n_test' parameter of LeaveLastOut must be an int >= 1"):
        LeaveLastOut(n)


@pytest.mark.parametrize("size", [0, 1.0, -0.2, True, "0.2", None, np.nan])
def test_interaction_splits_invalid_sizes(size):
    with pytest.raises(ValueError, match="The 'test_size' parameter of GlobalTimeSplit must be an int >= 1"):
        GlobalTimeSplit(size)


class Popular(sklearn.base.BaseEstimator):
    """Ranks items by their number of users."""

    def fit(self, X, y=None):
        self.counts_ = pd.Series(np.asarray(X)[:, 1]).value_counts()
        return self

    def predict(self, X):
        return pd.Series(np.asarray(X)[:, 1]).map(self.counts_).fillna(0).to_numpy(dtype=float)


def test_one_split_gives_no_out_of_fold_predictions():
    X = pd.DataFrame({"user_id": [1, 1, 2, 2], "item_id": [1, 2, 2, 1], "time": [1, 2, 1, 2]})
    assert LeaveLastOut().get_n_splits(X) == GlobalTimeSplit().get_n_splits() == 1
    with pytest.raises(ValueError, match="only works for partitions"):
        cross_val_predict(InteractionRecommender(Popular()), X, cv=LeaveLastOut())
    for splitter in (LeaveLastOut, GlobalTimeSplit):
        assert "cross_val_predict` cannot use it" in splitter.__doc__


@pytest.mark.filterwarnings("ignore:.*puts all rows")
def test_copies_and_pickles_split_equally():
    X = interactions()
    for splitter in (LeaveLastOut(2), GlobalTimeSplit(0.5)):
        for other in (pickle.loads(pickle.dumps(splitter)), clone(splitter, safe=False)):
            assert rows_tested(other, X) == rows_tested(splitter, X)
            assert repr(other) == repr(splitter)
    assert repr(LeaveLastOut()) == "LeaveLastOut()"
    assert repr(LeaveLastOut(2, user="who", time=3)) == "LeaveLastOut(n_test=2, user='who', time=3)"
    assert repr(GlobalTimeSplit(0.5, item="what")) == "GlobalTimeSplit(test_size=0.5, item='what')"
    assert repr(GlobalTimeSplit(0.2)) == "GlobalTimeSplit()"


def test_time_zones_and_dates():
    zone = datetime.timezone(datetime.timedelta(hours=9))
    time = [datetime.datetime(2024, 1, 1, hour, tzinfo=zone) for hour in (5, 3, 4)]
    X = pd.DataFrame({"user_id": 1, "item_id": 1, "time": time})
    assert rows_tested(LeaveLastOut(), X) == [0]
    assert rows_tested(GlobalTimeSplit(2), X) == [0, 2]


@pytest.mark.parametrize("column", [True, 1.5, ["u"]])
@pytest.mark.parametrize("name", ["user", "item"])
def test_interaction_splits_invalid_columns(name, column):
    for make in (LeaveLastOut, lambda **given: make_recommender_scorer("mrr", items=["x"], **given)):
        with pytest.raises(TypeError, match=f"The '{name}' parameter of .* must be the name of a column of a frame"):
            make(**{name: column})


@pytest.mark.filterwarnings("ignore:.*puts all rows")
def test_a_start_instead_of_a_size():
    X = interactions()
    day = np.datetime64("2020-09-22")
    expected = [row for row, one in enumerate(DAYS) if one >= 9]
    forms = ["2020-09-22", day, pd.Timestamp(day), day.astype(object), datetime.datetime(2020, 9, 22)]
    for start in forms:
        assert rows_tested(GlobalTimeSplit(start=start), X) == expected
        assert rows_tested(GlobalTimeSplit(start=start), X.assign(time=X["time"].dt.tz_localize("UTC"))) == expected
    assert repr(GlobalTimeSplit(start="2020-09-22")) == "GlobalTimeSplit(start='2020-09-22')"
    numbers = X.assign(time=DAYS)
    assert rows_tested(GlobalTimeSplit(start=9), numbers) == expected
    for start, rows, message in (
        (9, X, "must be a date, such as '2026-03-01'. Got 9"),
        ("then", X, "must be a date"),
        ("NaT", X, "must be a date"),
        ("2020-09-22", numbers, "must be a number, as times are"),
        ("2021-01-01", X, "The test set must not be empty"),
        ("2020-01-01", X, "The training set must not be empty"),
    ):
        with pytest.raises(ValueError, match=message):
            rows_tested(GlobalTimeSplit(start=start), rows)
    with pytest.raises(ValueError, match="takes the first time of the test set, start=, or its size"):
        GlobalTimeSplit(3, start=9)


@pytest.mark.parametrize(
    "names", [["userId", "movieId", "timestamp"], ["user", "item", "Timestamp"], ["user_id:token", "asin", "time"]]
)
def test_columns_with_the_names_of_known_data_sets(names):
    X = pd.DataFrame({names[0]: [*"ababa"], names[1]: [*"xyyxz"], names[2]: [1, 2, 5, 4, 3]})
    ((train, test),) = LeaveLastOut().split(X)
    assert (train.tolist(), test.tolist()) == ([0, 1, 4], [2, 3])
