"""Splits by query, by clusters of queries, and by time."""

import copy

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    RepeatedKFold,
    TimeSeriesSplit,
    cross_validate,
    train_test_split,
)

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RepeatedQueryKFold,
    get_scorer,
    query_train_test_split,
)

RANKER = QueryRanker(Ridge())
BY_CLUSTER = [
    QueryKFold(3),
    QueryKFold(3, shuffle=True, random_state=0),
    QueryShuffleSplit(3, random_state=0),
    RepeatedQueryKFold(3, n_repeats=2, random_state=0),
]
BY_TIME = [
    QueryTimeSeriesSplit(4),
    QueryTimeSeriesSplit(3, test_size=5),
    QueryTimeSeriesSplit(1, max_train_size=7),
    QueryTimeSeriesSplit(2, gap=3),
]


@pytest.fixture
def rows(shuffled):
    """X, y, qid, and for each row the user (one of nine) and time (an int, shared by some queries) of its query."""
    X, y, qid = shuffled
    number = np.unique(qid, return_inverse=True)[1]
    return X, y, qid, np.array([f"user{n % 9}" for n in number]), (number * 7 % 40) // 2


def sets(splitter, X, ids, **attribute):
    """Ids in the training set and in the test set of each fold."""
    return [({*ids[a]}, {*ids[b]}) for a, b in splitter.split(X, groups=ids, **attribute)]


# --- clusters ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("splitter", BY_CLUSTER, ids=repr)
def test_clusters_are_on_one_side(splitter, rows, rng):
    X, _, qid, users, _ = rows
    folds = list(splitter.split(X, groups=qid, clusters=users))
    assert len(folds) == splitter.get_n_splits()
    for train, test in folds:
        assert not {*users[train]} & {*users[test]}
        assert not {*qid[train]} & {*qid[test]}
        assert len(train) + len(test) == len(qid)
    torn = [{*users[train]} & {*users[test]} for train, test in splitter.split(X, groups=qid)]
    assert all(torn), "without clusters, users are on both sides, or this test shows nothing"
    order = rng.permutation(len(qid))
    assert sets(splitter, X, qid[order], clusters=users[order]) == sets(splitter, X, qid, clusters=users)


def test_folds_of_clusters_match_group_k_fold(rows):
    X, _, qid, users, _ = rows
    for ours, theirs in zip(QueryKFold(4).split(X, None, qid, users), GroupKFold(4).split(X, None, users), strict=True):
        np.testing.assert_array_equal(ours[1], theirs[1])


def test_sizes_count_clusters(rows):
    X, _, qid, users, _ = rows
    for _, test in QueryShuffleSplit(3, test_size=2).split(X, groups=qid, clusters=users):
        assert len({*users[test]}) == 2


def test_both_sizes_of_random_halves(rows):
    """If one size is given, the other is the rest; with both sizes, some queries are in neither."""
    X, _, qid, users, _ = rows
    n = len(np.unique(qid))
    for sizes, expected in (
        ({"train_size": 3}, (3, n - 3)),
        ({"train_size": 0.25}, (n // 4, n - n // 4)),
        ({"train_size": 3, "test_size": 2}, (3, 2)),
    ):
        for train, test in QueryShuffleSplit(2, random_state=0, **sizes).split(X, groups=qid):
            assert (len({*qid[train]}), len({*qid[test]})) == expected
    for train, test in QueryShuffleSplit(2, train_size=3, random_state=0).split(X, groups=qid, clusters=users):
        assert (len({*users[train]}), len({*users[test]})) == (3, 6)


@pytest.mark.parametrize(
    ("clusters", "message"),
    [
        ([*"uuvv"], r"Each query must be in a single cluster.* Got 'u' and 'v' of query 2\.$"),
        ([*"uuv"], r"clusters must have one entry for each of the 4 rows\. Got shape \(3,\)"),
        (["u", "u", None, None], "clusters must be the user, session or site.* without missing values"),
        ([[1], [1], [2], [2]], "clusters must be the user, session or site.* hashable"),
        (np.eye(4), r"Got shape \(4, 4\)"),
    ],
)
def test_splits_invalid_clusters(clusters, message):
    with pytest.raises(ValueError, match=message):
        next(QueryKFold(2).split([[0]] * 4, groups=[1, 2, 2, 3], clusters=clusters))


def test_leave_one_out_has_no_clusters(rows):
    X, _, qid, users, _ = rows
    with pytest.raises(ValueError, match=r"LeaveOneGroupOut\(\)\.split\(X, y, groups=clusters\)"):
        next(LeaveOneQueryOut().split(X, groups=qid, clusters=users))


def test_labels_of_clusters_are_read(rows):
    pd = pytest.importorskip("pandas")
    X, y, qid, users, _ = rows
    y = pd.Series(y, index=pd.MultiIndex.from_arrays([qid, users], names=["qid", "clusters"]))
    for (_, of_index), (_, given) in zip(
        QueryKFold(3).split(X, y), QueryKFold(3).split(X, None, qid, users), strict=True
    ):
        np.testing.assert_array_equal(of_index, given)
    with pytest.raises(ValueError, match="clusters= and the level 'clusters' of the index of y differ"):
        next(QueryKFold(3).split(X, y, clusters=qid))


# --- repeats -------------------------------------------------------------------------------------------------


def test_repeats(rows):
    X, _, qid, *_ = rows
    splitter = RepeatedQueryKFold(4, n_repeats=3, random_state=0)
    folds = sets(splitter, X, qid)
    assert folds == sets(splitter, X, qid)
    assert len(folds) == splitter.get_n_splits() == 12
    repeats = [folds[i : i + 4] for i in (0, 4, 8)]
    for repeat in repeats:
        assert sorted(q for _, test in repeat for q in test) == sorted({*qid})
    assert repeats[0] != repeats[1] != repeats[2]
    assert folds[:4] == sets(QueryKFold(4, shuffle=True, random_state=np.random.RandomState(0)), X, qid)
    assert repr(splitter) == "RepeatedQueryKFold(n_repeats=3, n_splits=4, random_state=0)"
    assert RepeatedQueryKFold().get_n_splits() == RepeatedKFold().get_n_splits()
    for arguments in ({"n_repeats": 0}, {"n_splits": 1}):
        with pytest.raises(ValueError, match=r"n_repeats|n_splits"):
            RepeatedQueryKFold(**arguments)


# --- time ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("splitter", BY_TIME, ids=repr)
def test_train_before_test_after(splitter, rows, rng):
    X, _, qid, _, time = rows
    folds = list(splitter.split(X, groups=qid, time=time))
    assert len(folds) == splitter.get_n_splits()
    for train, test in folds:
        assert len(train)
        assert time[train].max() < time[test].min()
        assert time[train].max() + splitter.gap <= time[test].min()
        assert not {*qid[train]} & {*qid[test]}
        assert (np.diff(train) > 0).all()
        assert (np.diff(test) > 0).all()
    after = time >= min(time[test].min() for _, test in folds)
    assert (np.bincount(np.concatenate([test for _, test in folds]), minlength=len(qid)) == after).all()
    order = rng.permutation(len(qid))
    assert sets(splitter, X, qid[order], time=time[order]) == sets(splitter, X, qid, time=time)


@pytest.mark.parametrize(
    "arguments", [{}, {"test_size": 3}, {"max_train_size": 4}, {"gap": 2, "test_size": 2}], ids=repr
)
def test_folds_match_time_series_split(arguments):
    """If each query has one row and its own time, a unit of time is a query, so gaps agree as well."""
    X = np.zeros((20, 1))
    ours, theirs = (s(4, **arguments) for s in (QueryTimeSeriesSplit, TimeSeriesSplit))
    gap = {"gap": arguments["gap"] + 1} if "gap" in arguments else {}  # halfway between its neighbors
    ours = QueryTimeSeriesSplit(4, **(arguments | gap))
    for a, b in zip(ours.split(X, groups=range(20), time=[*range(20)]), theirs.split(X), strict=True):
        assert [x.tolist() for x in a] == [x.tolist() for x in b]


def test_too_many_splits():
    for splitter in (QueryTimeSeriesSplit(12), QueryTimeSeriesSplit(3, test_size=4)):
        with pytest.raises(ValueError, match=r"needs more than 12 queries.* Got 12\."):
            next(splitter.split([[0]] * 12, groups=range(12), time=range(12)))
    with pytest.raises(ValueError, match=r"needs more than 1 queries.* Got 0\."):
        next(QueryTimeSeriesSplit(1).split([], groups=[], time=[]))
    for name, value in (("n_splits", 0.2), ("max_train_size", 0.2), ("test_size", 0.2), ("n_splits", None)):
        with pytest.raises(ValueError, match=f"The {name!r} parameter of QueryTimeSeriesSplit must be an int >= 1"):
            QueryTimeSeriesSplit(**{name: value})


def test_one_of_several_test_sets_would_be_empty():
    """Three queries share a time and stay together, so two of the three test sets would begin with them."""
    with pytest.raises(ValueError, match="set would be empty"):
        next(QueryTimeSeriesSplit(3, test_size=1).split([[0]] * 6, groups=range(6), time=[0, 1, 2, 2, 2, 3]))


def test_the_last_ids_of_equal_times_are_in_training():
    time = [*np.random.default_rng(0).integers(0, 3, 200).tolist(), 3]
    splitter = QueryTimeSeriesSplit(1, test_size=1, max_train_size=7)
    ((train, _),) = splitter.split([[0]] * 201, groups=range(201), time=time)
    assert train.tolist() == [i for i in range(200) if time[i] == 2][-7:]


def test_levels_of_the_index_must_agree_with_arguments():
    """Times have an order, and names of clusters have no order."""
    pd = pytest.importorskip("pandas")
    levels = {"qid": [1, 2, 3, 4], "clusters": [*"bbaa"], "time": [2, 1, 3, 4]}
    y = pd.Series(range(4), index=pd.MultiIndex.from_arrays([*levels.values()], names=[*levels]))
    X = np.zeros((4, 1))
    assert len([*QueryKFold(2).split(X, y, clusters=[*"uuvv"])]) == 2
    assert len([*QueryTimeSeriesSplit(1).split(X, y, time=[20, 10, 30, 40])]) == 1
    for splitter, given in (
        (QueryKFold(2), {"clusters": [*"uvvv"]}),
        (QueryTimeSeriesSplit(1), {"time": [1, 2, 3, 4]}),
    ):
        with pytest.raises(ValueError, match="of the index of y differ; pass only one of them"):
            next(splitter.split(X, y, **given))


# --- in scikit-learn -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("search", [False, True])
def test_routed(search, rows):
    X, y, qid, users, time = rows
    model = GridSearchCV(RANKER, {"estimator__alpha": [1.0]}, scoring=get_scorer("map"), cv=3) if search else RANKER
    with sklearn.config_context(enable_metadata_routing=True):
        for name, values, splitters in (("clusters", users, BY_CLUSTER), ("time", time, BY_TIME)):
            params = {"qid": qid, name: values}
            for splitter in splitters:
                expected = [test.tolist() for _, test in splitter.split(X, y, qid, values)]
                if search:
                    fitted = copy.deepcopy(model).set_params(cv=splitter).fit(X, y, **params)
                    assert fitted.n_splits_ == len(expected)
                    continue
                scores = cross_validate(
                    model, X, y, scoring=get_scorer("map"), cv=splitter, params=params, return_indices=True
                )
                assert [test.tolist() for test in scores["indices"]["test"]] == expected
        with pytest.raises(ValueError, match="QueryTimeSeriesSplit needs the time"):
            cross_validate(model, X, y, scoring=get_scorer("map"), cv=BY_TIME[0], params={"qid": qid})


def test_in_the_index_without_routing(rows):
    pd = pytest.importorskip("pandas")
    X, y, qid, users, time = rows
    for name, values, splitter in (("clusters", users, BY_CLUSTER[0]), ("time", time, BY_TIME[0])):
        labels = pd.Series(y, index=pd.MultiIndex.from_arrays([qid, values], names=["qid", name]))
        scores = cross_validate(RANKER, X, labels, scoring=get_scorer("map"), cv=splitter, return_indices=True)
        for found, (_, test) in zip(scores["indices"]["test"], splitter.split(X, y, qid, values), strict=True):
            np.testing.assert_array_equal(found, test)


def test_unknown_arguments():
    for splitter in (QueryKFold(2), QueryTimeSeriesSplit(2), RepeatedQueryKFold(2), LeaveOneQueryOut()):
        for name in ("qid", "query_id"):
            rule = rf"^{type(splitter).__name__}\.split has no keyword '{name}'\. It takes X, y, groups.* as groups=, "
            with pytest.raises(TypeError, match=rule):
                splitter.split([[0]] * 2, **{name: [1, 2]})


def test_splitters_behave_like_those_of_scikit_learn():
    splitter = QueryTimeSeriesSplit(3, gap=np.timedelta64(7, "D"))
    assert "gap=np.timedelta64(7,'D')" in repr(splitter)
    assert repr(sklearn.clone(splitter, safe=False)) == repr(splitter)
    assert "time" in str(splitter.get_metadata_routing())


# --- one split -----------------------------------------------------------------------------------------------


def test_one_split(rows):
    X, y, qid, *_ = rows
    X_train, X_test, y_train, y_test, qid_train, qid_test = query_train_test_split(X, y, qid=qid, random_state=0)
    assert {*qid_train} | {*qid_test} == {*qid}
    assert not {*qid_train} & {*qid_test}
    assert len({*qid_test}) == 10, "a quarter of 40 queries"
    train = np.isin(qid, qid_train)
    for whole, part, rest in ((X, X_train, X_test), (y, y_train, y_test), (qid, qid_train, qid_test)):
        np.testing.assert_array_equal(part, whole[train])
        np.testing.assert_array_equal(rest, whole[~train])
    expected = next(GroupShuffleSplit(1, test_size=0.25, random_state=0).split(X, groups=qid))
    np.testing.assert_array_equal(np.flatnonzero(train), expected[0])


def test_one_split_of_rows_in_another_order(rows, rng):
    X, y, qid, users, _ = rows
    order = rng.permutation(len(qid))
    for clusters in (None, users):
        moved = None if clusters is None else clusters[order]
        first = query_train_test_split(X, qid=qid, random_state=3, clusters=clusters)
        again = query_train_test_split(X[order], qid=qid[order], random_state=3, clusters=moved)
        assert {*first[-1]} == {*again[-1]}
    assert not {*users[np.isin(qid, first[-1])]} & {*users[np.isin(qid, first[-2])]}


@pytest.mark.parametrize(
    "sizes",
    [{}, {"test_size": 7}, {"train_size": 0.5}, {"train_size": 30}, {"test_size": 0.2, "train_size": 0.3}],
    ids=repr,
)
def test_sizes_match_train_test_split(sizes, rows):
    *_, qid, _, _ = rows
    ids = np.unique(qid)
    expected = [len(part) for part in train_test_split(ids, **sizes)]
    assert [len({*part}) for part in query_train_test_split(qid, qid=qid, **sizes)[:2]] == expected


def test_arrays_keep_their_type(rows):
    pd, pl, pa = (pytest.importorskip(name) for name in ("pandas", "polars", "pyarrow"))
    X, y, qid, *_ = rows
    arrays = [
        X, X.tolist(), sparse.csr_array(X), sparse.coo_matrix(X), pd.DataFrame(X), pl.DataFrame(X), y, y.tolist(),
        pd.Series(y), pl.Series(y), range(len(y)), pd.Index(y), pd.Categorical(y), pa.array(y), pa.chunked_array([y]),
        pa.table({"y": y}), tuple(y),
    ]  # fmt: skip
    rows_of = query_train_test_split(np.arange(len(y)), qid=qid, random_state=0)[:2]
    for array in arrays:
        parts = query_train_test_split(array, y, qid=pd.Series(qid), random_state=0)
        assert len(parts) == 6
        for part, chosen in zip(parts, rows_of, strict=False):
            kind = sparse.csr_matrix if isinstance(array, sparse.coo_matrix) else type(array)
            assert isinstance(part, list if isinstance(array, range | tuple) else kind)
            whole = array.toarray() if sparse.issparse(array) else np.asarray(array)
            np.testing.assert_array_equal(part.toarray() if sparse.issparse(part) else np.asarray(part), whole[chosen])
        assert isinstance(parts[-1], pd.Series)


def test_one_split_by_the_index(with_index, shuffled):
    X, y = with_index
    parts = query_train_test_split(X, y, random_state=0)
    expected = query_train_test_split(X, shuffled[1], qid=shuffled[2], random_state=0)
    for part, other in zip(parts, expected, strict=True):
        np.testing.assert_array_equal(part, other)
    assert parts[2].index.tolist() == parts[4].tolist()


def test_one_split_of_clusters_in_the_index(rows):
    pd = pytest.importorskip("pandas")
    X, y, qid, users, _ = rows
    y = pd.Series(y, index=pd.MultiIndex.from_arrays([qid, users], names=["qid", "clusters"]))
    train, test = query_train_test_split(X, y, random_state=0)[2:4]
    assert not {*train.index.get_level_values("clusters")} & {*test.index.get_level_values("clusters")}


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda X, y, q: query_train_test_split(X, y), ValueError, "train_test_split would not raise an error"),
        (lambda X, y, q: query_train_test_split(qid=q), ValueError, "at least one array"),
        (lambda X, y, q: query_train_test_split(X, y, qid="qid"), ValueError, r"pass frame\['qid'\]"),
        (lambda X, y, q: query_train_test_split(X, y, q), ValueError, r"pass qid="),
        (lambda X, y, q: query_train_test_split(X, y[1:], qid=q), ValueError, "Got 4 in X, 3 in y"),
        (lambda X, y, q: query_train_test_split(X, y, qid=q[1:]), ValueError, "needs 4 entries. Got 3"),
        (lambda X, y, q: query_train_test_split(X, None, qid=q), TypeError, "y must be an array, list.* Got None"),
        (lambda X, y, q: query_train_test_split({"a": 1}, qid=q), TypeError, r"arrays\[0\] must be"),
        (lambda X, y, q: query_train_test_split(X, y, qid=q, groups=q), TypeError, "no keyword 'groups'.*qid= is the"),
        (lambda X, y, q: query_train_test_split(X, y, qid=q, shuffle=False), TypeError, "no keyword 'shuffle'"),
        (lambda X, y, q: query_train_test_split(X, y, qid=q, test_size=100), ValueError, "not of rows. There are 2"),
    ],
)  # fmt: skip
def test_errors_of_one_split(call, error, message):
    with pytest.raises(error, match=message):
        call(np.zeros((4, 1)), [0, 1, 0, 1], [*"aabb"])


def test_one_split_reads_labels(rows):
    pd = pytest.importorskip("pandas")
    X, y, qid, *_ = rows
    X, y = pd.DataFrame(X), pd.Series(y)
    by_query = y.set_axis(pd.Index(qid, name="qid"))
    other = y.set_axis(pd.MultiIndex.from_arrays([qid[::-1], qid], names=["qid", "document"]))
    for arrays, given, name in (
        ((X.to_numpy(), by_query), qid[::-1], "y"),
        ((by_query, other), qid, "y"),
        ((by_query, X.to_numpy(), other), qid, r"arrays\[2\]"),
    ):
        with pytest.raises(ValueError, match=f"{name}.*must name the same queries"):
            query_train_test_split(*arrays, qid=given)


def test_leave_one_query_out_tears_clusters_in_the_index():
    pd = pytest.importorskip("pandas")
    levels = [["a", "b", "b"], ["u", "u", "u"]]
    labels = pd.Series([0, 1, 0], index=pd.MultiIndex.from_arrays(levels, names=["qid", "clusters"]))
    with pytest.raises(ValueError, match="LeaveOneQueryOut leaves out one query, which splits its cluster"):
        next(LeaveOneQueryOut().split([[0]] * 3, labels))


@pytest.mark.parametrize("size", [0, 0.0, 1.0])
def test_a_share_is_more_than_0_and_less_than_1(size):
    with pytest.raises(ValueError, match="a share of the queries, between 0 and 1, exclusive, or None. Got [01]"):
        QueryShuffleSplit(test_size=size)


def test_a_fold_needs_a_query():
    with pytest.raises(ValueError, match="a query, or a cluster, for each fold. Got n_splits=4 and 3"):
        next(RepeatedQueryKFold(4).split([[0]] * 4, groups=[1, 2, 3, 3]))


def test_a_seed_without_shuffling_has_no_effect():
    with pytest.raises(ValueError, match="random_state= needs shuffle=True. Got 0 with"):
        QueryKFold(3, random_state=0)
