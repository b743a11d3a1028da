"""QueryRanker: any model, one fit."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils import check_random_state

from sklearn_rank import QueryRanker, RankingEvaluator


class Recorder(BaseEstimator):
    """A ranker that remembers the arguments of fit; subclasses accept different ones."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


class TakesQid(Recorder):
    def fit(self, X, y, *, qid=None, sample_weight=None):
        self.got_ = {"X": X, "y": y, "qid": qid, "sample_weight": sample_weight}
        return self


class TakesGroup(Recorder):
    def fit(self, X, y, sample_weight=None, group=None):
        self.got_ = {"X": X, "y": y, "group": group, "sample_weight": sample_weight}
        return self


class TakesGroupId(Recorder):
    def fit(self, X, y, group_id=None, sample_weight=None, group_weight=None):
        self.got_ = {"X": X, "y": y, "group_id": group_id, "sample_weight": sample_weight, "group_weight": group_weight}
        return self


X, Y, QID, WEIGHT = np.arange(5.0)[:, None], [0, 1, 2, 3, 4], ["b", "a", "b", "c", "a"], [2, 1, 2, 3, 1]


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (TakesQid(), {"qid": [0, 0, 1, 1, 2], "sample_weight": [2, 1, 3]}),
        (TakesGroup(), {"group": [2, 2, 1], "sample_weight": [2, 2, 1, 1, 3]}),
        (TakesGroupId(), {"group_id": [0, 0, 1, 1, 2], "group_weight": [2, 2, 1, 1, 3]}),
    ],
)
def test_each_model_gets_its_arguments(model, expected):
    got = QueryRanker(model).fit(X, Y, qid=QID, sample_weight=WEIGHT).estimator_.got_
    assert got["X"].ravel().tolist() == list(got["y"]) == [0, 2, 1, 4, 3]
    for name, value in expected.items():
        assert list(got[name]) == value
        assert name != "group_weight" or got[name].dtype == float, "CatBoost does not accept integer weights"
    in_pipeline = QueryRanker(make_pipeline(StandardScaler(), model)).fit(X, Y, qid=QID, sample_weight=WEIGHT)
    assert list(in_pipeline.estimator_[-1].got_["y"]) == [0, 2, 1, 4, 3]


@pytest.mark.parametrize("model", [TakesQid(), TakesGroupId()])
def test_weights_of_queries_are_constant(model):
    with pytest.raises(ValueError, match="constant within each. Got 1 and 2 in query 'b'"):
        QueryRanker(model).fit(X, Y, qid=QID, sample_weight=[1, 1, 2, 3, 1])


def test_row_weights_may_differ_if_a_model_weights_rows():
    got = QueryRanker(TakesGroup()).fit(X, Y, qid=QID, sample_weight=[1, 1, 2, 3, 1]).estimator_.got_
    assert list(got["sample_weight"]) == [1, 2, 1, 1, 3]


@pytest.mark.parametrize("model", [TakesQid(), TakesGroup(), TakesGroupId()])
def test_a_ranker_without_qid_is_an_error(model):
    with pytest.raises(ValueError, match="give y as a pandas Series whose index"):
        QueryRanker(model).fit(X, Y)


def test_ranker_without_rows():
    for y, given in (([], {}), (np.empty(0), {"qid": []})):
        with pytest.raises(ValueError, match="^There must be at least one row. Got none.$"):
            QueryRanker(Ridge()).fit(np.empty((0, 2)), y, **given)


def test_pointwise_models_do_not_need_qid():
    np.testing.assert_allclose(QueryRanker(Ridge(alpha=0)).fit(X, Y).predict(X), Y, atol=1e-12)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.coo_array, list])
def test_containers_of_features(container):
    ranker = QueryRanker(Ridge()).fit(container(X), Y, qid=QID)
    np.testing.assert_allclose(ranker.predict(container(X)), QueryRanker(Ridge()).fit(X, Y, qid=QID).predict(X))


def test_frames_keep_their_names():
    pd = pytest.importorskip("pandas")
    pl = pytest.importorskip("polars")
    for frame in (pd.DataFrame(X, columns=["f"], index=list("vwxyz")), pl.DataFrame(X, schema=["f"])):
        ranker = QueryRanker(TakesGroup()).fit(frame, Y, qid=QID)
        assert type(ranker.estimator_.got_["X"]) is type(frame)
        assert ranker.feature_names_in_.tolist() == ["f"]


def test_wrapping():
    def fitted(model):
        scores = RankingEvaluator("mrr", cv=2).cross_validate(model, X, Y, qid=QID, return_estimator=True)
        return scores["estimator"][0]

    for model in (Ridge(), QueryRanker(Ridge())):
        ranker = fitted(model)
        assert isinstance(ranker, QueryRanker)
        assert isinstance(ranker.estimator_, Ridge)
    pipeline = make_pipeline(StandardScaler(), Ridge())
    assert isinstance(fitted(pipeline)[-1], QueryRanker)
    assert isinstance(pipeline[-1], Ridge)


@pytest.mark.parametrize("seed", range(5))
def test_max_queries_takes_whole_queries(seed):
    got = QueryRanker(TakesQid(), max_queries=2, random_state=seed).fit(X, Y, qid=QID, sample_weight=WEIGHT).estimator_
    rows = [int(x) for x in got.got_["X"].ravel()]
    queries = [QID[row] for row in rows]
    assert len(set(queries)) == len(set(got.got_["qid"])) == 2
    assert sorted(rows) == [row for row in range(5) if QID[row] in queries]
    assert got.got_["sample_weight"].tolist() == [{"a": 1, "b": 2, "c": 3}[q] for q in dict.fromkeys(queries)]


def test_larger_draws_contain_smaller_ones(shuffled):
    features, y, qid = shuffled
    row_of, before = {tuple(row): i for i, row in enumerate(features)}, set()
    for n in (1, 5, 39, 40, 1000):
        got = QueryRanker(TakesQid(), max_queries=n, random_state=0).fit(features, y, qid=qid).estimator_.got_
        queries = {str(qid[row_of[tuple(row)]]) for row in got["X"]}
        assert len(queries) == min(n, 40)
        assert before <= queries
        before = queries


def test_held_out_queries_are_among_the_drawn_ones(shuffled):
    model = pytest.importorskip("xgboost").XGBRanker(n_estimators=10)
    features, y, qid = shuffled
    ranker = QueryRanker(model, eval_fraction=0.2, eval_metric="map", max_queries=10, random_state=0).fit(
        features, y, qid=qid
    )
    assert len(ranker.eval_qid_) == 2


def test_max_queries_needs_queries():
    for bad in (0, -1, 2.0, True, "all"):
        with pytest.raises(ValueError, match="'max_queries' parameter of QueryRanker must be an int >= 1"):
            QueryRanker(Ridge(), max_queries=bad).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="query of each row must be known"):
        QueryRanker(Ridge(), max_queries=2).fit(X, Y)


def test_ranker_does_not_change_the_random_state():
    state = check_random_state(0)
    QueryRanker(Ridge(), random_state=state).fit(X, Y, qid=QID)
    assert state.randint(10**9) == check_random_state(0).randint(10**9)


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline], ids=["alone", "pipeline"])
def test_lists_copied_by_catboost_are_rejected(wrap, ranking):
    """scikit-learn's clone reports a modified parameter, but no way out."""
    X, y, qid = ranking
    ranker = QueryRanker(wrap(pytest.importorskip("catboost").CatBoostRanker(cat_features=["word"])))
    for fit in (ranker.fit, RankingEvaluator("map").cross_validate):
        with pytest.raises(ValueError, match=r"Pass columns as a tuple.*Got cat_features=\['word'\]"):
            fit(*((X, y) if fit == ranker.fit else (ranker, X, y)), qid=qid)
