"""A query torn by a splitter is detected when it is scored; whole queries are never rejected."""

import pickle

import numpy as np
import pytest
import sklearn
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.decomposition import PCA
from sklearn.inspection import permutation_importance
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, get_scorer, make_ranking_scorer, query_permutation_importance
from sklearn_rank._scoring.fitted_queries import hash_rows, project_rows
from sklearn_rank.datasets import make_ranking

pd = pytest.importorskip("pandas")
RANKER, SCORER = QueryRanker(Ridge()), get_scorer("ndcg@5")
GRID = {"estimator__alpha": [0.1, 10.0]}
TORN = "queries with other rows than in fit"
SCORING = {"one": SCORER, "many": make_ranking_scorer(["ndcg@5", "map"]), "dict": {"a": SCORER, "b": get_scorer("map")}}


@pytest.fixture(params=["routing", "index"])
def data(request, shuffled):
    """X, y and the keywords for qid, in both configurations."""
    X, y, qid = shuffled
    if request.param == "index":
        yield X, pd.Series(y, index=pd.Index(qid, name="qid")), {}
        return
    with sklearn.config_context(enable_metadata_routing=True):
        yield X, y, {"params": {"qid": qid}}


@pytest.mark.parametrize("scoring", SCORING.values(), ids=SCORING)
@pytest.mark.parametrize("cv", [KFold(5, shuffle=True, random_state=0), KFold(2), [(range(100), range(100, 200))]])
def test_plain_splitters_are_rejected(data, scoring, cv):
    X, y, qid = data
    with pytest.raises(ValueError, match=rf"QueryKFold.*Got \d+ of \d+ {TORN}"):
        cross_validate(RANKER, X, y, scoring=scoring, cv=cv, error_score="raise", **qid)


def test_torn_queries_raise_even_if_errors_become_nan(data):
    X, y, qid = data
    with pytest.warns(UserWarning, match=TORN):
        scores = cross_val_score(RANKER, X, y, scoring=SCORER, cv=KFold(3), **qid)
    assert np.isnan(scores).all()


class Mean(BaseEstimator):
    """Keeps its fitted models in a list."""

    def __init__(self, models):
        self.models = models

    def fit(self, X, y):
        self.models_ = [clone(model).fit(X, y) for model in self.models]
        return self

    def predict(self, X):
        return np.mean([model.predict(X) for model in self.models_], axis=0)


@pytest.mark.parametrize(
    "model",
    [
        make_pipeline(StandardScaler(), RANKER),
        make_pipeline(make_pipeline(StandardScaler(), PCA(3)), make_pipeline(RANKER)),
        GridSearchCV(RANKER, GRID, scoring=SCORER, cv=QueryKFold(2)),
        make_pipeline(StandardScaler(), GridSearchCV(RANKER, GRID, scoring=SCORER, cv=QueryKFold(2))),
        Mean([Ridge(), RANKER]),
        pickle.loads(pickle.dumps(clone(RANKER))),
        QueryRanker(Ridge(), max_queries=5),
    ],
    ids=["pipeline", "pipelines", "search", "search in pipeline", "mean", "pickled", "drawn"],
)
def test_the_ranker_is_found_inside(shuffled, model):
    X, y, qid = shuffled
    y = pd.Series(y, index=pd.Index(qid, name="qid"))
    keywords = {"scoring": SCORER, "error_score": "raise"}
    whole = cross_validate(model, X, y, cv=QueryKFold(3), return_train_score=True, **keywords)
    assert np.isfinite([whole["test_score"], whole["train_score"]]).all()
    with pytest.raises(ValueError, match=TORN):
        cross_val_score(model, X, y, cv=KFold(3), **keywords)


@pytest.mark.parametrize("size", [2, 4])
@pytest.mark.parametrize("model", [RANKER, make_pipeline(StandardScaler(), RANKER)], ids=["bare", "pipeline"])
def test_halves_of_equal_size(rng, size, model):
    X, y = rng.normal(size=(20 * size, 3)), rng.integers(0, 3, 20 * size)
    y = pd.Series(y, index=pd.Index(np.tile(np.repeat(range(20), size // 2), 2), name="qid"))
    with pytest.raises(ValueError, match=rf"Got \d+ of 20 {TORN}.*{size // 2} rows in fit, {size // 2} others here"):
        cross_val_score(model, X, y, scoring=SCORER, cv=KFold(2), error_score="raise")


# --- whole queries -----------------------------------------------------------------------------------------------


def containers(X):
    frame = pd.DataFrame(X, columns=[*"abcdef"])
    return {
        "array": X,
        "float32": X.astype(np.float32),
        "list": X.tolist(),
        "sparse": sparse.csr_array(X),
        "coo": sparse.coo_array(X),
        "frame": frame,
        "polars": pytest.importorskip("polars").DataFrame(X),
    }


@pytest.mark.parametrize("name", ["array", "float32", "list", "sparse", "coo", "frame", "polars"])
@pytest.mark.parametrize("model", [RANKER, make_pipeline(MaxAbsScaler(), RANKER)], ids=["bare", "pipeline"])
def test_training_rows_can_be_scored(shuffled, name, model):
    """In any order, with other labels or other features, but not with both, and not with fewer rows."""
    X, y, qid = shuffled
    rows = np.random.default_rng(0).permutation(len(y))
    features, again = containers(X)[name], containers(X[rows])[name]
    others = containers(X + np.random.default_rng(1).normal(size=X.shape))[name]
    fewer = containers(X[:-20])[name]
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = clone(model).fit(features, y, qid=qid)
        for scorer in (SCORER, make_ranking_scorer(["ndcg@5"])):
            scorer(fitted, again, y[rows], qid=qid[rows])
            scorer(fitted, again, (y > 0)[rows], qid=qid[rows])
            scorer(fitted, others, y, qid=qid)
            with pytest.raises(ValueError, match=TORN):
                scorer(fitted, others, y + 1, qid=qid)
            with pytest.raises(ValueError, match=TORN):
                scorer(fitted, fewer, y[:-20], qid=qid[:-20])


def test_steps_that_round_differently(shuffled):
    """PCA transforms its training rows by another computation than other rows."""
    X, y, qid = shuffled
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = make_pipeline(StandardScaler(), make_pipeline(PCA(3), RANKER)).fit(X, y, qid=qid)
        assert SCORER(fitted, X[::-1], y[::-1] > 0, qid=qid[::-1]) > 0


def test_features_that_are_not_numbers(shuffled):
    """A frame is identified by its numbers; without numeric columns, by the content of its cells."""
    X, y, qid = shuffled
    names = pd.DataFrame({"a": pd.Categorical([f"n{i}" for i in range(len(y))])})
    mixed = pd.DataFrame({"x": X[:, 0], "missing": np.where(X[:, 1] > 0, np.nan, 1.0), "a": names["a"]})
    ranker = QueryRanker(OfNothing())
    with sklearn.config_context(enable_metadata_routing=True):
        for frame in (names, mixed, pytest.importorskip("polars").DataFrame({"a": [f"n{i}" for i in range(len(y))]})):
            fitted = clone(ranker).fit(frame, y, qid=qid)
            SCORER(fitted, frame, y[::-1], qid=qid)
            with pytest.raises(ValueError, match=TORN):
                SCORER(fitted, frame[::-1], y[::-1] + 1, qid=qid)


def test_features_that_fit_no_array(ranking):
    """Ragged lists are identified by their labels; they do not fail a fit."""
    _, y, qid = ranking
    X = [[1] * (i % 5) for i in range(len(y))]
    with sklearn.config_context(enable_metadata_routing=True):
        fitted = QueryRanker(OfNothing()).fit(X, y, qid=qid)
        SCORER(fitted, X[::-1], y, qid=qid)
        with pytest.raises(ValueError, match=TORN):
            SCORER(fitted, X, y + 1, qid=qid)


class OfNothing(Ridge):
    """Ignores the features."""

    def fit(self, X, y):
        return super().fit(np.zeros((len(y), 1)), y)

    def predict(self, X):
        return np.zeros(len(X))


def test_importance_on_the_training_set(with_index, shuffled):
    X, y = with_index
    model = RANKER.fit(X, y)
    assert permutation_importance(model, X, y, scoring=SCORER, n_repeats=2).importances_mean.max() > 0
    assert query_permutation_importance(model, X, y).importances_mean.max() > 0
    with pytest.raises(ValueError, match=TORN):
        query_permutation_importance(model, X[:-20], y[:-20])


def test_importance_on_other_queries(ranking):
    """Internal numbers of queries are not confused with those of the training set."""
    X, y, qid = ranking
    train = qid < 20
    model = QueryRanker(Ridge()).fit(X[train], y[train], qid=qid[train])
    assert query_permutation_importance(model, X[~train], y[~train], qid=qid[~train]).importances.shape == (6, 5)


@pytest.mark.parametrize(
    ("fit_id", "test_id", "same"),
    [
        (int, float, True),
        (int, np.int32, True),
        (str, np.str_, True),
        (str, lambda i: str(i).encode(), False),
        (lambda i: (int(i), "a"), lambda i: (int(i), "a"), True),
        (lambda i: (int(i), "a"), lambda i: (int(i), "b"), False),
        (lambda i: (int(i), "a"), int, False),
        (lambda i: np.datetime64("2026-01-01", "D") + np.timedelta64(int(i), "D"), int, False),
        (lambda i: pd.Timestamp("2026-01-01") + pd.Timedelta(int(i), "D"), str, False),
    ],
)
def test_torn_queries_with_ids_of_any_type(ranking, fit_id, test_id, same):
    X, y, qid = ranking
    fitted = QueryRanker(Ridge()).fit(X, y, qid=[fit_id(i) for i in qid])
    half, ids = slice(0, len(y), 2), [test_id(i) for i in qid[::2]]
    with sklearn.config_context(enable_metadata_routing=True):
        if not same:
            assert SCORER(fitted, X[half], y[half], qid=ids) > 0
            return
        with pytest.raises(ValueError, match=TORN):
            SCORER(fitted, X[half], y[half], qid=ids)


def test_categories_and_texts(ranking):
    X, y, qid = ranking
    names = np.array([f"q{i}" for i in qid])
    fitted = QueryRanker(Ridge()).fit(X, y, qid=pd.Categorical(names))
    with sklearn.config_context(enable_metadata_routing=True):
        SCORER(fitted, X, y, qid=names)
        for ids in (names[::2], names[::2].astype(object), pd.Series(names[::2]), pd.Categorical(names[::2])):
            with pytest.raises(ValueError, match=r"for example 'q\d+'"):
                SCORER(fitted, X[::2], y[::2], qid=ids)


def test_a_new_fit_forgets_the_queries(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        ranker.fit(X[qid < 20], y[qid < 20], qid=qid[qid < 20])
        assert SCORER(ranker, X[qid >= 20], y[qid >= 20], qid=qid[qid >= 20]) > 0
        ranker.fit(X, y)
        assert SCORER(ranker, X[::2], y[::2], qid=qid[::2]) > 0


def test_held_out_and_undrawn_queries_are_remembered(ranking):
    X, y, qid = ranking
    xgboost = pytest.importorskip("xgboost")
    model = xgboost.XGBRanker(n_estimators=2, early_stopping_rounds=1)
    ranker = QueryRanker(model, eval_fraction=0.2, max_queries=10, random_state=0).fit(X, y, qid=qid)
    one = qid == np.bincount(qid).argmax()
    with sklearn.config_context(enable_metadata_routing=True):
        assert SCORER(ranker, X, y, qid=qid) > 0
        assert SCORER(ranker, X[one], y[one], qid=qid[one]) > 0
        with pytest.raises(ValueError, match=f"Got 1 of 1 {TORN}"):
            SCORER(ranker, X[one][1:], y[one][1:], qid=qid[one][1:])


def test_pictures_of_a_torn_test_set(ranking):
    pytest.importorskip("matplotlib").use("agg")
    from sklearn_rank.display import CutoffDisplay

    X, y, qid = ranking
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    CutoffDisplay.from_estimator(ranker, X, y, qid=qid)
    with pytest.raises(ValueError, match=TORN):
        CutoffDisplay.from_estimator(ranker, X[::2], y[::2], qid=qid[::2])


# --- qid without routing -----------------------------------------------------------------------------------------


def test_qid_passed_while_routing_is_off(ranking):
    X, y, qid = ranking
    with pytest.raises(ValueError, match="Metadata routing is off.*enable_metadata_routing=True"):
        cross_val_score(RANKER, X, y, scoring=SCORER, cv=QueryKFold(3), params={"qid": qid})
    with pytest.raises(ValueError, match="Metadata routing is off.*enable_metadata_routing=True"):
        cross_val_score(RANKER, X, y, scoring=SCORER, cv=KFold(3), params={"qid": qid}, error_score="raise")
    with pytest.raises(ValueError, match="Metadata routing is off"):
        cross_validate(Ridge(), X, y, scoring=make_ranking_scorer(["map"]), cv=KFold(3), error_score="raise")
    with pytest.raises(ValueError, match="Metadata routing is off"):
        GridSearchCV(RANKER, GRID, scoring=SCORER, cv=QueryKFold(3)).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match="Got neither.$"):
        cross_val_score(RANKER, X, y, scoring=SCORER, cv=QueryKFold(3))


def test_the_message_is_short(rng):
    X, y = make_ranking(n_queries=2, random_state=0)[:2]
    qid = np.array(["x" * 10_000] * (len(y) - 1) + ["y"])
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True), pytest.raises(ValueError, match=TORN) as error:
        SCORER(ranker, X[1:], y[1:], qid=qid[1:])
    assert len(str(error.value)) < 700


def test_hashes_of_labels_do_not_depend_on_the_version():
    """A ranker loaded from a file recognizes its queries."""
    one = [0, 17939905552214031327, 11119358590593779912, 12195028278565624174, 0]
    assert hash_rows(np.array([0, 1, 2.5, -3, -0.0])).tolist() == one
    two = [10406199853908954186, 12828917829704901894, 17939905552214031327]
    assert hash_rows(np.array([[0, 1], [2, 0.5], [1, 0]])).tolist() == two
    assert hash_rows(np.array(["good", "bad"])).tolist() == [70012912, 3378676062]


def test_projections_of_features_do_not_depend_on_the_version():
    nan, inf, a, b, c = np.nan, np.inf, 1.1369616873214543, 0.7697867137638703, 0.5409735239361947
    rows = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 2, -3.5]])
    expected = [a, b, c, a + 2 * b - 3.5 * c]
    odd = np.array([[nan, 0, 0], [inf, 0, 0], [-inf, 0, 0], [inf, -inf, 1], [1e308] * 3, [-1e308] * 3])
    assert project_rows(rows) == pytest.approx(expected, rel=1e-12)
    assert project_rows(rows.astype(np.float32)) == pytest.approx(expected, rel=1e-6)
    assert project_rows(sparse.csr_array(rows)) == pytest.approx(expected, rel=1e-12)
    assert project_rows(odd) == pytest.approx([a / 2, 2 * a, -2 * a, 2 * a - 2 * b + c, 0, 0], rel=1e-12)
    assert project_rows(sparse.csr_array(odd)).tolist() == [0] * 6
    assert project_rows(np.array([1, 2])) == pytest.approx([a, 2 * a])
    words = pd.DataFrame({"a": ["x", "y"]})
    assert project_rows(words).tolist() == [569981060, 540758707]
    assert project_rows(words.assign(b=[1, 2.0], c=[True, False])) == pytest.approx([a + b, 2 * a])


def test_the_query_that_differs_most_is_named():
    X, qid = np.arange(30.0)[:, None], np.repeat([*"abcde"], 6)
    y = np.tile([0, 1, 2, 0, 1, 2], 5)
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    kept = np.isin(np.arange(30), [6, 7, 8, 12, 13, 14, 15, 16], invert=True)
    labels = y + (qid == "a")
    with sklearn.config_context(enable_metadata_routing=True):
        with pytest.raises(
            ValueError, match="Got 3 of 5 queries with other rows than in fit, for example 'c': 6 rows in fit, 1 here"
        ):
            SCORER(ranker, np.where(qid == "a", X.T + 1, X.T).T[kept], labels[kept], qid=qid[kept])
        with pytest.raises(ValueError, match="Got 1 of 1 .* for example 'a': 6 rows in fit, 6 others here"):
            SCORER(ranker, X[:6] + 1, labels[:6], qid=qid[:6])
