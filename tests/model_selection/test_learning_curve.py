"""Learning curves over queries."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import Ridge
from sklearn.model_selection import KFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_rank import LeaveOneQueryOut, QueryKFold, QueryRanker, evaluate, query_learning_curve

CV = QueryKFold(4)


class Recorder(Ridge):
    """Remembers the number of training rows of each query."""

    fits = []

    def fit(self, X, y, *, qid=None):
        self.fits.append(np.bincount(qid))
        return super().fit(X, y)


def test_learning_curve_by_hand(shuffled):
    """All queries outside a fold are its training set, as in cross-validation."""
    X, y, qid = shuffled
    sizes, train, test = query_learning_curve(
        Ridge(), X, y, qid=qid, metric="map", train_sizes=[3, 30, 7, 7], cv=QueryKFold(4, shuffle=True, random_state=3)
    )
    assert sizes.tolist() == [3, 7, 30]
    assert train.shape == test.shape == (3, 4)
    (_, whole), *scores = query_learning_curve(Ridge(), X, y, qid=qid, metric="map", train_sizes=[0.5, 1.0], cv=CV)
    n_queries = [len(set(qid[rows])) for rows, _ in CV.split(X, groups=qid)]
    assert whole == min(n_queries)
    for i, (rows, held_out) in enumerate(CV.split(X, groups=qid)):
        if n_queries[i] == whole:
            model = Ridge().fit(X[rows], y[rows])
            for part, found in zip((rows, held_out), scores, strict=True):
                expected = evaluate(y[part], model.predict(X[part]), qid=qid[part], metrics="map").mean()["map"]
                assert found[1, i] == pytest.approx(expected)


def test_queries_stay_whole(shuffled):
    X, y, qid = shuffled
    Recorder.fits.clear()
    sizes, _, _ = query_learning_curve(Recorder(), X, y, qid=qid, train_sizes=[1, 5, 20], cv=CV, random_state=0)
    assert [len(counts) for counts in Recorder.fits] == [1, 5, 20] * 4
    whole = np.unique(qid, return_counts=True)[1].tolist()
    for fold in range(4):
        smaller = []
        for counts in Recorder.fits[3 * fold : 3 * fold + 3]:
            left = whole.copy()
            for n in counts.tolist():
                left.remove(n)  # the number of queries of this length
            for n in smaller:
                assert counts.tolist().count(n) >= smaller.count(n)
            smaller = counts.tolist()


@pytest.mark.parametrize("routing", [True, False])
@pytest.mark.slow
def test_both_sources_of_qid_and_any_model(routing, with_index, shuffled):
    X, y, qid = shuffled
    models = [
        QueryRanker(Ridge()),
        Ridge(),
        make_pipeline(StandardScaler(), Ridge()),
        DecisionTreeClassifier(random_state=0),
    ]
    for model in models:
        with sklearn.config_context(enable_metadata_routing=routing):
            before = sklearn.get_config()
            keywords = {"cv": CV, "random_state": 0, "train_sizes": [0.1, 1.0]}
            given = query_learning_curve(model, X, y, qid=qid, **keywords)
            n_jobs = 2 if model is models[0] else None
            index = query_learning_curve(model, *with_index, n_jobs=n_jobs, **keywords)
            assert sklearn.get_config() == before
        for a, b in zip(given, index, strict=True):
            np.testing.assert_array_equal(a, b)
        assert given[1].shape == (len(given[0]), CV.get_n_splits())
        assert ((given[1] > 0.2) & (given[1] <= 1)).all()


def test_five_sizes_by_default(shuffled):
    X, y, qid = shuffled
    sizes, _, errors = query_learning_curve(Ridge(), X, y, qid=qid, metric="rmse", cv=CV)
    assert (errors < 0).all()
    assert sizes.tolist() == np.round(np.array([0.1, 0.325, 0.55, 0.775, 1.0]) * sizes[-1]).astype(int).tolist()


def test_learning_curve_random_state(shuffled):
    X, y, qid = shuffled
    first, again, other = (
        query_learning_curve(Ridge(), X, y, qid=qid, train_sizes=[5], cv=CV, random_state=s)[2] for s in (0, 0, 1)
    )
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_learning_curve_errors(shuffled):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match="query of each row must be known"):
        query_learning_curve(Ridge(), X, y)
    for bad in ([0], [0, 5], [5, 31], [31], [1.2], [0.0], [], 5, ["all"], [np.nan], [True]):
        with pytest.raises(ValueError, match="'train_sizes' must be"):
            query_learning_curve(Ridge(), X, y, qid=qid, train_sizes=bad, cv=CV)
    with pytest.raises(ValueError, match=r"takes exactly one metric. Got \['map', 'mrr'\]"):
        query_learning_curve(Ridge(), X, y, qid=qid, metric=["map", "mrr"])
    with pytest.raises(ValueError, match="keep queries whole"):
        query_learning_curve(Ridge(), X, y, qid=qid, cv=KFold(3))
    assert query_learning_curve(Ridge(), X, y, qid=qid, train_sizes=[0.001], cv=CV)[0].tolist() == [1]
    assert len(query_learning_curve(Ridge(), X, y, qid=qid, cv=LeaveOneQueryOut(), train_sizes=[39])[2][0]) == 40
