"""QueryRanker(eval_fraction=...): whole queries of the training rows are held out for early stopping."""

import inspect

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, RegressorMixin, TransformerMixin, clone
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_validate
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.validation import check_is_fitted

from sklearn_rank import QueryKFold, QueryRanker, get_scorer
from sklearn_rank._ranker.early_stopping import drop_later_stages
from sklearn_rank.datasets import make_ranking

ROUNDS = 300


class Recorder(BaseEstimator):
    """A model that remembers the arguments of fit."""

    def predict(self, X):
        return np.asarray(X)[:, 0]


class LikeXGBRanker(Recorder):
    def fit(
        self, X, y, *, group=None, qid=None, sample_weight=None, eval_set=None, eval_group=None, eval_qid=None,
        sample_weight_eval_set=None, verbose=False,
    ):  # fmt: skip
        self.got_ = {name: value for name, value in locals().items() if name != "self" and value is not None}
        return self


class LikeXGBRegressor(RegressorMixin, Recorder):
    def fit(self, X, y, *, sample_weight=None, eval_set=None, verbose=True, sample_weight_eval_set=None):
        self.got_ = {name: value for name, value in locals().items() if name != "self" and value is not None}
        return self


class LikeOldLGBMRanker(Recorder):
    def fit(self, X, y, sample_weight=None, group=None, eval_set=None, eval_sample_weight=None, eval_group=None):
        self.got_ = {name: value for name, value in locals().items() if name != "self" and value is not None}
        return self


class LikeLGBMRanker(Recorder):
    def fit(
        self, X, y, sample_weight=None, group=None, eval_set=None, eval_sample_weight=None, eval_group=None, *,
        eval_X=None, eval_y=None,
    ):  # fmt: skip
        self.got_ = {name: value for name, value in locals().items() if name != "self" and value is not None}
        return self


# Four queries, interleaved: a 0 3, b 1 4 6, c 2, d 5 7. The feature of a row is its number.
X, Y, QID = np.arange(8.0)[:, None], np.arange(8) % 3, list("abcabdbd")
WEIGHT = np.array([{"a": 1, "b": 2, "c": 3, "d": 4}[q] for q in QID])


def flat(value):
    """Arrays inside lists and tuples, as lists."""
    return [flat(v) for v in value] if isinstance(value, (list, tuple)) else np.asarray(value).ravel().tolist()


def by_query(chosen):
    """Rows with adjacent queries; number of each row's query; sizes; weights of rows and queries."""
    rows = [[i for i, q in enumerate(QID) if q == query] for query in chosen]
    flat_rows, sizes = sum(rows, []), [len(r) for r in rows]
    weights = [int(WEIGHT[r[0]]) for r in rows]
    return flat_rows, np.repeat(range(len(rows)), sizes).tolist(), sizes, WEIGHT[flat_rows].tolist(), weights


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "model", [LikeXGBRanker(), LikeXGBRegressor(), LikeOldLGBMRanker(), LikeLGBMRanker()], ids=repr
)
def test_early_stopping_arguments_of_each_model(model, seed):
    ranker = QueryRanker(model, eval_fraction=0.25, random_state=seed).fit(X, Y, qid=QID, sample_weight=WEIGHT)
    (held_out,) = ranker.eval_qid_
    rows, qid, sizes, weight, of_query = by_query([q for q in "abcd" if q != held_out])
    eval_rows, eval_qid, eval_sizes, eval_weight, eval_of_query = by_query([held_out])
    got = {name: flat(value) for name, value in ranker.estimator_.got_.items()}
    eval_y = Y[eval_rows].tolist()
    expected = {"X": rows, "y": Y[rows].tolist(), "sample_weight": weight}
    if isinstance(model, LikeLGBMRanker):
        expected |= {"eval_X": eval_rows, "eval_y": eval_y}
    else:
        expected["eval_set"] = [[eval_rows, eval_y]]
    if isinstance(model, (LikeLGBMRanker, LikeOldLGBMRanker)):
        expected |= {"group": sizes, "eval_group": [eval_sizes], "eval_sample_weight": [eval_weight]}
    elif isinstance(model, LikeXGBRanker):
        expected |= {"sample_weight": of_query, "sample_weight_eval_set": [eval_of_query], "verbose": [False]}
        expected |= {"qid": qid, "eval_qid": [eval_qid]}
    else:
        expected |= {"sample_weight_eval_set": [eval_weight], "verbose": [False]}
    assert got == expected


@pytest.mark.parametrize(
    ("fraction", "n_queries", "n_held_out"),
    [(0.1, 40, 4), (0.3, 10, 3), (0.01, 40, 1), (0.99, 40, 39), (0.5, 2, 1), (0.001, 2, 1), (0.999, 2, 1)],
)
def test_at_least_one_query_on_each_side(fraction, n_queries, n_held_out):
    qid = np.arange(n_queries).repeat(2)
    ranker = QueryRanker(LikeXGBRanker(), eval_fraction=fraction).fit(qid[:, None], qid, qid=qid)
    assert len(ranker.eval_qid_) == n_held_out
    assert sorted([*ranker.eval_qid_, *set(ranker.estimator_.got_["y"])]) == list(range(n_queries))


def test_early_stopping_random_state(shuffled):
    X, y, qid = shuffled
    first, again, other = (
        QueryRanker(LikeXGBRanker(), eval_fraction=0.2, random_state=s).fit(X, y, qid=qid).eval_qid_.tolist()
        for s in (0, 0, 1)
    )
    assert first == again != other


def test_fitted_again_without_holding_out():
    ranker = QueryRanker(LikeXGBRanker(), eval_fraction=0.5).fit(X, Y, qid=QID)
    assert len(ranker.eval_qid_) == 2
    ranker.set_params(eval_fraction=None).fit(X, Y, qid=QID)
    assert len(ranker.eval_qid_) == 0
    assert set(ranker.estimator_.got_) == {"X", "y", "qid"} | {"verbose"}
    assert len(ranker.estimator_.got_["X"]) == 8


def test_early_stopping_errors():
    with pytest.raises(
        ValueError, match="eval_fraction needs at least 2 queries, one for training and one to hold out. Got 1"
    ):
        QueryRanker(LikeXGBRanker(), eval_fraction=0.5).fit(X, Y, qid=["a"] * 8)
    for bad in (0, 1, 1.5, -0.1, np.nan, True, "0.1"):
        with pytest.raises(ValueError, match="'eval_fraction' parameter .* between 0 and 1"):
            QueryRanker(LikeXGBRanker(), eval_fraction=bad).fit(X, Y, qid=QID)
    for model in (Ridge(), MLPRegressor(), make_pipeline(StandardScaler(), Ridge()), QueryRanker(Ridge())):
        with pytest.raises(ValueError, match="XGBoost, LightGBM, CatBoost"):
            QueryRanker(model, eval_fraction=0.5).fit(X, Y, qid=QID)
    with pytest.raises(ValueError, match="query of each row must be known"):
        QueryRanker(LikeXGBRegressor(), eval_fraction=0.5).fit(X, Y)
    with pytest.raises(ValueError, match="must have one entry per row"):
        QueryRanker(LikeLGBMRanker(), eval_fraction=0.5).fit(X, Y, qid=QID, sample_weight=[1, 2])


def test_a_ranker_without_validation_queries_is_rejected():
    class Ranker(Recorder):
        def fit(self, X, y, qid=None, eval_set=None):
            return self

    with pytest.raises(ValueError, match="Got .*Ranker"):
        QueryRanker(Ranker(), eval_fraction=0.5).fit(X, Y, qid=QID)


# --- real models ---------------------------------------------------------------------------------------------


def xgboost_model(kind):
    return getattr(pytest.importorskip("xgboost"), f"XGB{kind}")(n_estimators=ROUNDS, early_stopping_rounds=5, n_jobs=1)


def lightgbm_model(kind):
    model = getattr(pytest.importorskip("lightgbm"), f"LGBM{kind}")
    return model(n_estimators=ROUNDS, early_stopping_rounds=5, min_child_samples=5, n_jobs=1, verbose=-1)


def catboost_model(kind):
    model = getattr(pytest.importorskip("catboost"), f"CatBoost{kind}")
    return model(iterations=ROUNDS, early_stopping_rounds=5, verbose=0, allow_writing_files=False)


def boosting_model(kind):
    model = {"Regressor": HistGradientBoostingRegressor, "Classifier": HistGradientBoostingClassifier}[kind]
    if "X_val" not in inspect.signature(model.fit).parameters:
        pytest.skip("takes rows to stop by from scikit-learn 1.7 on")
    return model(max_iter=ROUNDS, n_iter_no_change=5, early_stopping=True, max_leaf_nodes=4)


def n_rounds(model):
    """Number of rounds trained, and the last round used."""
    if hasattr(model, "best_iteration_"):  # LightGBM, CatBoost
        trained = model.get_evals_result() if hasattr(model, "get_evals_result") else model.evals_result_
        (values,) = (next(iter(of_set.values())) for name, of_set in trained.items() if name.startswith("valid"))
        return len(values), model.best_iteration_
    if hasattr(model, "best_iteration"):
        (values,) = (next(iter(of_set.values())) for of_set in model.evals_result().values())
        return len(values), model.best_iteration
    return model.n_iter_, model.n_iter_


MODELS = [
    *((make, kind) for make in (xgboost_model, lightgbm_model, catboost_model) for kind in ("Ranker", "Regressor")),
    *((make, "Classifier") for make in (xgboost_model, lightgbm_model, catboost_model, boosting_model)),
    (boosting_model, "Regressor"),
]


@pytest.mark.parametrize("in_pipeline", [False, True], ids=["bare", "pipeline"])
@pytest.mark.parametrize(("make", "kind"), MODELS)
def test_real_models_stop_early(make, kind, in_pipeline, shuffled):
    features, y, qid = shuffled
    model = make(kind)
    inside = make_pipeline(StandardScaler(), model) if in_pipeline else model
    weight = np.array([1.0 + int(q[1:]) % 3 for q in qid])
    ranker = QueryRanker(inside, eval_fraction=0.2, random_state=0).fit(features, y, qid=qid, sample_weight=weight)
    trained, used = n_rounds(ranker.estimator_[-1] if in_pipeline else ranker.estimator_)
    assert used <= trained < ROUNDS
    assert len(ranker.eval_qid_) == 8
    assert np.isfinite(ranker.predict(features)).all()


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("make", [xgboost_model, lightgbm_model, catboost_model])
def test_fit_equals_the_library_by_hand(make, weighted, ranking):
    """The library itself, with the remaining queries as training set and the held-out queries as validation set."""
    features, y, qid = ranking
    weight, model = (1.0 + qid % 3 if weighted else np.ones(len(qid))), make("Ranker")
    ranker = QueryRanker(model, eval_fraction=0.2, random_state=0)
    ranker.fit(features, y, qid=qid, **({"sample_weight": weight} if weighted else {}))
    stop = np.isin(qid, ranker.eval_qid_)
    model = clone(model)
    train_X, train_y, train_qid, stop_X, stop_y, stop_qid = (a[s] for s in (~stop, stop) for a in (features, y, qid))
    if make is xgboost_model:
        of_query = 1.0 + np.unique(train_qid) % 3, 1.0 + np.unique(stop_qid) % 3
        weights = {"sample_weight": of_query[0], "sample_weight_eval_set": [of_query[1]]} if weighted else {}
        model.fit(train_X, train_y, qid=train_qid, eval_set=[(stop_X, stop_y)], eval_qid=[stop_qid], **weights)
    elif make is lightgbm_model:
        weights = {"sample_weight": weight[~stop], "eval_sample_weight": [weight[stop]]} if weighted else {}
        sizes = [np.unique(ids, return_counts=True)[1] for ids in (train_qid, stop_qid)]
        model.fit(train_X, train_y, group=sizes[0], eval_X=stop_X, eval_y=stop_y, eval_group=[sizes[1]], **weights)
    else:
        from catboost import Pool

        pools = [Pool(features[s], y[s], group_id=qid[s], group_weight=weight[s]) for s in (~stop, stop)]
        model.fit(pools[0], eval_set=pools[1])
    assert n_rounds(model) == n_rounds(ranker.estimator_)
    np.testing.assert_array_equal(ranker.predict(features), model.predict(features))


@pytest.mark.parametrize("kind", ["Regressor", "Classifier"])
def test_catboost_weights_validation_rows(kind, ranking):
    from catboost import Pool

    features, y, qid = ranking
    y, weight = (y > 0).astype(float), np.where(features[:, 1] > 0, 100.0, 0.01)
    ranker = QueryRanker(catboost_model(kind), eval_fraction=0.2, random_state=0)
    ranker.fit(features, y, qid=qid, sample_weight=weight)
    stop = np.isin(qid, ranker.eval_qid_)
    model = clone(catboost_model(kind))
    pools = [Pool(features[s], y[s], weight=weight[s]) for s in (~stop, stop)]
    expected = model.fit(pools[0], eval_set=pools[1]).get_evals_result()["validation"]
    assert ranker.estimator_.get_evals_result()["validation"] == expected


def test_catboost_keeps_its_categories(ranking):
    """A frame with a text column, and a subclass from another module."""
    catboost, pd = pytest.importorskip("catboost"), pytest.importorskip("pandas")
    features, y, qid = ranking
    frame = pd.DataFrame(features[:, :2], columns=["a", "b"]).assign(word=np.where(features[:, 2] > 0, "up", "down"))

    class Ranker(catboost.CatBoostRanker):
        pass

    model = Ranker(
        iterations=ROUNDS, early_stopping_rounds=5, cat_features=("word",), verbose=0, allow_writing_files=False
    )
    ranker = QueryRanker(model, eval_fraction=0.2, random_state=0).fit(frame, y, qid=qid)
    assert n_rounds(ranker.estimator_)[0] < ROUNDS


# --- inside scikit-learn's tools -----------------------------------------------------------------------------


@pytest.fixture(params=["routing", "index"])
def way(request, shuffled, with_index):
    """X, y and the keyword arguments that carry qid, under each of the two configurations."""
    if request.param == "index":
        yield *with_index, {}
        return
    features, y, qid = shuffled
    with sklearn.config_context(enable_metadata_routing=True):
        yield features, y, {"qid": qid}


def test_no_test_fold_leaks(way, shuffled):
    """Every row is in training, validation or test; no query is in two of them."""
    features, y, keywords = way
    qid, row_of = shuffled[2], {tuple(row): i for i, row in enumerate(shuffled[0])}
    ranker = QueryRanker(LikeXGBRanker(), eval_fraction=0.2, random_state=0)
    found = cross_validate(
        ranker, features, y, scoring=get_scorer("ndcg@5"), cv=QueryKFold(3), params=keywords or None,
        return_estimator=True, return_indices=True,
    )  # fmt: skip
    for fitted, test in zip(found["estimator"], found["indices"]["test"], strict=True):
        got = fitted.estimator_.got_
        trained, stopped = ({row_of[tuple(row)] for row in part} for part in (got["X"], got["eval_set"][0][0]))
        assert sorted([*trained, *stopped, *test]) == list(range(len(qid)))
        queries = [set(qid[list(rows)]) for rows in (trained, stopped, test)]
        assert len(set.union(*queries)) == sum(map(len, queries))
        assert queries[1] == set(fitted.eval_qid_)


# --- Pipelines -----------------------------------------------------------------------------------------------


class Remember(TransformerMixin, BaseEstimator):
    """A transformer that adds 100, and remembers its training rows."""

    def fit(self, X, y=None):
        self.rows_ = np.asarray(X)[:, 0].tolist()
        return self

    def transform(self, X):
        return X + 100


@pytest.mark.parametrize("memory", [False, True])
def test_steps_of_a_pipeline_ignore_held_out_rows(memory, tmp_path):
    steps = [("one", Remember()), ("off", "passthrough"), ("model", LikeXGBRanker())]
    pipeline = Pipeline(steps, memory=str(tmp_path) if memory else None)
    ranker = QueryRanker(pipeline, eval_fraction=0.25, random_state=0).fit(X, Y, qid=QID)
    rows, eval_rows = by_query([q for q in "abcd" if q not in ranker.eval_qid_])[0], by_query(ranker.eval_qid_)[0]
    assert ranker.estimator_["one"].rows_ == rows
    got = ranker.estimator_["model"].got_
    assert flat(got["X"]) == [100 + i for i in rows]
    assert flat(got["eval_set"][0][0]) == [100 + i for i in eval_rows]
    assert ranker.predict(X).tolist() == [100 + i for i in range(8)]
    check_is_fitted(ranker.estimator_)
    assert not hasattr(pipeline["model"], "got_")


def test_nested_pipelines_and_pipelines_of_one_step():
    inner = make_pipeline(Remember(), make_pipeline(Remember(), LikeXGBRanker()))
    nested = QueryRanker(inner, eval_fraction=0.25, random_state=0).fit(X, Y, qid=QID)
    assert nested.predict(X).tolist() == [200 + i for i in range(8)]
    one = QueryRanker(make_pipeline(LikeXGBRanker()), eval_fraction=0.25, random_state=0).fit(X, Y, qid=QID)
    assert flat(one.estimator_[0].got_["eval_set"][0][0]) == by_query(one.eval_qid_)[0]


@pytest.mark.parametrize("library", ["lightgbm", "xgboost"])
def test_unused_validation_rows_warn(library, ranking):
    """They would be missing from training without any use."""
    features, y, qid = ranking
    ranker = {"lightgbm": "LGBMRanker", "xgboost": "XGBRanker"}[library]
    model = getattr(pytest.importorskip(library), ranker)(n_estimators=2, n_jobs=1)
    with pytest.warns(UserWarning, match="this model does not stop early") as told:
        QueryRanker(model, eval_fraction=0.2).fit(features, y, qid=qid)
    assert told[0].filename == __file__
    for stopping in ({"early_stopping_rounds": 1}, {"eval_metric": "map"}):
        QueryRanker(model, eval_fraction=0.2, **stopping).fit(features, y, qid=qid)
    QueryRanker(model.set_params(early_stopping_rounds=1), eval_fraction=0.2).fit(features, y, qid=qid)


@pytest.mark.parametrize(
    ("module", "attributes", "expected"),
    [
        ("lightgbm", {"best_iteration_": 9, "best_score_": {"training": {"l2": 1}, "valid_0": {"l2": 0.5}}}, (8, 0.5)),
        ("lightgbm", {"best_iteration_": 9, "best_score_": {"valid_0": {"l2": 0.5, "l1": 1}}}, (8, None)),
        ("lightgbm", {"best_iteration_": 0, "best_score_": {"valid_0": {"l2": 0.5}}}, None),
        ("catboost", {"best_iteration_": 0, "best_score_": {"validation": {"RMSE": 2}}}, (0, 2)),
        ("xgboost", {"best_iteration": 0, "best_score": 0.25}, (0, 0.25)),
        ("xgboost", {"best_iteration": 3, "best_score": None}, (3, None)),
        ("xgboost", {"best_iteration": -1, "best_score": 1.0}, None),
    ],
)
@pytest.mark.filterwarnings("ignore:.*this model does not stop early")
def test_the_best_round_of_a_model_with_its_own_early_stopping(module, attributes, expected):
    pytest.importorskip(module)
    attributes = {"__module__": f"{module}.sklearn", "get_param": lambda *_: None, **attributes}
    model = type("Model", (LikeXGBRegressor,), attributes)()
    ranker = QueryRanker(model, eval_fraction=0.25).fit(X, Y, qid=QID)
    found = tuple(getattr(ranker, name, None) for name in ("best_iteration_", "best_value_"))
    assert found == (expected or (None, None))


def test_third_party_models_are_not_truncated():
    model = type("Elsewhere", (), {})()
    model._predictors, model.n_iter_ = [1, 2], 1
    assert not drop_later_stages(model, 1)
    assert model._predictors == [1, 2]


@pytest.mark.parametrize(("module", "name"), [("lightgbm", "LGBMRanker"), ("xgboost", "XGBRanker")])
def test_early_stopping_of_a_model_needs_validation_rows(module, name):
    model = getattr(pytest.importorskip(module), name)(n_estimators=3, early_stopping_rounds=2)
    X, y, qid = make_ranking(n_queries=10, random_state=0)
    with pytest.raises(ValueError, match="early stopping of a model needs validation rows: set eval_fraction"):
        QueryRanker(model).fit(X, y, qid=qid)
