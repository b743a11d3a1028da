"""QueryRanker(eval_metric=..., early_stopping_rounds=...): the best round agrees with staged predictions by hand."""

import pickle
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, cross_validate
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, evaluate, get_scorer, parse_metric

ROUNDS = 12


def xgb(kind, **more):
    return getattr(pytest.importorskip("xgboost"), f"XGB{kind}")(
        n_estimators=ROUNDS, max_depth=3, learning_rate=0.5, n_jobs=1, random_state=0, **more
    )


def lgbm(kind, **more):
    return getattr(pytest.importorskip("lightgbm"), f"LGBM{kind}")(
        n_estimators=ROUNDS, num_leaves=6, min_child_samples=5, n_jobs=1, verbose=-1, random_state=0, **more
    )


def cat(kind, **more):
    return getattr(pytest.importorskip("catboost"), f"CatBoost{kind}")(
        iterations=ROUNDS, depth=3, verbose=0, allow_writing_files=False, thread_count=1, random_seed=0, **more
    )


def hist(kind, **more):
    model = {"Regressor": HistGradientBoostingRegressor, "Classifier": HistGradientBoostingClassifier}[kind]
    return model(max_iter=ROUNDS, max_leaf_nodes=6, learning_rate=0.4, random_state=0, **more)


def ensemble(model, **more):
    return model(n_estimators=ROUNDS, random_state=0, **more)


class Stages(RegressorMixin, BaseEstimator):
    """A model without a library: stage i predicts feature i."""

    def __init__(self, n=4):
        self.n = n

    def fit(self, X, y):
        return self

    def staged_predict(self, X):
        return (np.asarray(X)[:, i] for i in range(self.n))

    def predict(self, X):
        return np.asarray(X)[:, self.n - 1]


MODELS = {
    "xgb-ranker": lambda: xgb("Ranker"),
    "xgb-regressor": lambda: xgb("Regressor", num_parallel_tree=2, subsample=0.7),
    "xgb-classifier": lambda: xgb("Classifier"),
    "xgb-softmax": lambda: xgb("Classifier", objective="multi:softmax"),
    "lgbm-ranker": lambda: lgbm("Ranker"),
    "lgbm-regressor": lambda: lgbm("Regressor", objective="poisson"),
    "lgbm-classifier": lambda: lgbm("Classifier"),
    "lgbm-forest": lambda: lgbm("Regressor", boosting_type="rf", subsample=0.6, subsample_freq=1),
    "cat-ranker": lambda: cat("Ranker"),
    "cat-regressor": lambda: cat("Regressor", loss_function="Poisson", metric_period=3),
    "cat-classifier": lambda: cat("Classifier"),
    "cat-one-vs-all": lambda: cat("Classifier", loss_function="MultiClassOneVsAll"),
    "hist-regressor": lambda: hist("Regressor"),
    "hist-classifier": lambda: hist("Classifier"),
    "boosting-regressor": lambda: ensemble(GradientBoostingRegressor),
    "boosting-classifier": lambda: ensemble(GradientBoostingClassifier),
    "ada-regressor": lambda: ensemble(AdaBoostRegressor),
    "ada-classifier": lambda: ensemble(AdaBoostClassifier),
    "stages": lambda: Stages(),
}
ONE_EACH = ["xgb-ranker", "lgbm-ranker", "cat-ranker", "hist-regressor", "boosting-regressor", "stages"]


def stages(model, X):
    """Scores of a fitted model after each of its rounds."""
    package = type(model).__module__.partition(".")[0]
    probable, rounds = hasattr(model, "predict_proba"), range(1, ROUNDS + 1)
    method = "predict_proba" if probable else "predict"
    if package == "xgboost":
        outputs = (getattr(model, method)(X, iteration_range=(0, i)) for i in rounds)
    elif package == "lightgbm":
        outputs = (getattr(model, method)(X, num_iteration=i) for i in rounds)
    else:
        poisson = package == "catboost" and model.get_params().get("loss_function") == "Poisson"
        outputs = getattr(model, f"staged_{method}")(X, **({"prediction_type": "Exponent"} if poisson else {}))
    return [output @ model.classes_.astype(float) if probable else output.copy() for output in outputs]


def best_by_hand(curve, spec, patience):
    """Number of rounds trained, and the best round."""
    best = 0
    for i, value in enumerate(curve):
        if (value > curve[best]) if spec.metric.greater_is_better else (value < curve[best]):
            best = i
        if patience and i - best == patience:
            return i + 1, best
    return len(curve), best


def fit_by_hand(model, X, y, qid, weight):
    """The library itself, on rows with adjacent queries."""
    _, number, sizes = np.unique(qid, return_inverse=True, return_counts=True)
    name = type(model).__name__
    if name == "XGBRanker":
        starts = np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
        return model.fit(X, y, qid=np.repeat(range(len(starts)), np.diff(np.r_[starts, len(y)])),
                         sample_weight=weight[starts])  # fmt: skip
    if name == "LGBMRanker":
        starts = np.flatnonzero(np.r_[True, number[1:] != number[:-1]])
        return model.fit(X, y, group=np.diff(np.r_[starts, len(y)]), sample_weight=weight)
    if name == "CatBoostRanker":
        return model.fit(X, y, group_id=number, group_weight=weight)
    return model.fit(X, y) if name == "Stages" else model.fit(X, y, sample_weight=weight)


def adjacent(qid):
    """Order of rows that makes queries adjacent, by first appearance."""
    first = {q: i for i, q in reversed([*enumerate(qid)])}
    return np.argsort([first[q] for q in qid], kind="stable")


class StagesWithWeight(Stages):
    def fit(self, X, y, sample_weight=None):
        return self


@pytest.mark.parametrize(
    ("name", "metric"), [*((name, "map@10") for name in MODELS), *((name, "relevance_position") for name in ONE_EACH),
                         ("xgb-regressor", "rmse"), ("lgbm-classifier", "rmse"), ("hist-classifier", "ndcg")]
)  # fmt: skip
def test_the_best_round_matches_a_search_by_hand(name, metric, shuffled):
    X, y, qid = shuffled
    model = StagesWithWeight() if name == "stages" else MODELS[name]()
    weight, spec = np.array([1.0 + int(q[1:]) % 3 for q in qid]), parse_metric(metric)
    ranker = QueryRanker(model, eval_fraction=0.4, eval_metric=metric, random_state=1)
    ranker.fit(X, y, qid=qid, sample_weight=weight)
    rows = adjacent(qid)
    train, stop = (rows[np.isin(qid[rows], ranker.eval_qid_, invert=i)] for i in (True, False))
    by_hand = clone(model)
    if "loss_function" in by_hand.get_params() and by_hand.get_params().get("metric_period"):
        by_hand.set_params(metric_period=1)
    by_hand = fit_by_hand(by_hand, X[train], y[train], qid[train], weight[train])
    scores = stages(by_hand, X[stop])
    data = {"qid": qid[stop], "sample_weight": weight[stop], "metrics": {"m": metric}}
    curve = [evaluate(y[stop], score, **data).mean()["m"] for score in scores]
    for patience in (None, 2):
        if patience:
            ranker = clone(ranker).set_params(early_stopping_rounds=2).fit(X, y, qid=qid, sample_weight=weight)
        n, best = best_by_hand(curve, spec, patience)
        np.testing.assert_allclose(ranker.eval_curve_, curve[:n], rtol=1e-12)
        assert (ranker.best_iteration_, ranker.best_value_) == (best, ranker.eval_curve_[best])
        np.testing.assert_allclose(ranker.predict(X[stop]), scores[best], rtol=2e-6)
        if name != "stages":
            alone = QueryRanker(ranker.estimator_)
            alone.estimator_ = ranker.estimator_
            np.testing.assert_array_equal(alone.predict(X), ranker.predict(X))


@pytest.mark.parametrize("name", [name for name in MODELS if name != "stages"])
def test_model_keeps_no_reference(name, ranking):
    X, y, qid = ranking
    train, stop = qid < 30, qid >= 30
    X = X.copy()
    X[stop, 0] = mark = 1234.5678
    model = MODELS[name]()
    ranker = QueryRanker(model, eval_metric="map", early_stopping_rounds=3)
    ranker.fit(X[train], y[train], qid=qid[train], eval_set=(X[stop], y[stop], qid[stop]))
    stored = pickle.dumps(ranker)
    assert np.float64(mark).tobytes() not in stored
    assert np.float32(mark).tobytes() not in stored
    assert b"Monitor" not in stored
    np.testing.assert_array_equal(pickle.loads(stored).predict(X), ranker.predict(X))
    given, kept = model.get_params(), ranker.estimator_.get_params()
    kept = {key: kept[key] for key in given if key != "objective"}  # XGBoost writes the objective of a classifier
    assert {key: given[key] for key in kept} == pytest.approx(kept, nan_ok=True)
    assert ranker.estimator_.get_params().keys() <= given.keys() | {"objective"}


# --- faults of other implementations -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["xgb-ranker", "lgbm-ranker", "hist-regressor", "boosting-regressor", "stages"])
def test_a_constant_first_round_is_not_perfect(name, ranking):
    """Rows are sorted by label, so breaking ties by row would look ideal."""
    X, y, qid = ranking
    rows = np.lexsort((-y, qid))
    X, y, qid = np.zeros_like(X), y[rows], qid[rows]
    train, stop = qid < 30, qid >= 30
    ranker = QueryRanker(MODELS[name](), eval_metric="ndcg@5")
    ranker.fit(X[train], y[train], qid=qid[train], eval_set=(X[stop], y[stop], qid[stop]))
    expected = evaluate(y[stop], np.zeros(stop.sum()), qid=qid[stop], metrics="ndcg@5").mean()["ndcg@5"]
    np.testing.assert_allclose(ranker.eval_curve_, expected, rtol=1e-12)
    assert expected < 0.95
    assert ranker.best_iteration_ == 0


@pytest.mark.parametrize("make", [xgb, lgbm, cat, hist])
def test_grades_missing_from_training(make, ranking):
    """They count in the metric, because their documents are ranked like all others."""
    X, y, qid = ranking
    train, stop = qid < 30, qid >= 30
    y = np.where(train, np.minimum(y, 1), y)
    assert set(y[stop]) > set(y[train])
    ranker = QueryRanker(make("Classifier"), eval_metric="ndcg", early_stopping_rounds=5)
    ranker.fit(X[train], y[train], qid=qid[train], eval_set=(X[stop], y[stop], qid[stop]))
    value = evaluate(y[stop], ranker.predict(X[stop]), qid=qid[stop], metrics="ndcg").mean()["ndcg"]
    assert ranker.best_value_ == pytest.approx(value)


def test_a_metric_that_is_never_defined(ranking):
    X, y, qid = ranking
    train, stop = qid < 30, qid >= 30
    nothing = {"qid": qid[train], "eval_set": (X[stop], 0 * y[stop], qid[stop])}
    ranker = QueryRanker(Stages(), eval_metric="map")
    with pytest.raises(ValueError, match="Got 10 queries, and map is defined for none"):
        ranker.fit(X[train], y[train], **nothing)
    ranker = QueryRanker(Stages(0), eval_metric="mae")
    with pytest.raises(ValueError, match="mae is undefined after every round. Got 0 rounds"):
        ranker.fit(X[train], y[train], **nothing)


@pytest.mark.filterwarnings("ignore:kendall is not defined")
def test_undefined_rounds_are_never_the_best(ranking):
    """Only the third feature varies, and the rank correlation with a constant is undefined."""
    X, y, qid = ranking
    X = X * (np.arange(6) == 2)
    ranker = QueryRanker(Stages(), eval_fraction=0.5, eval_metric="kendall(replace_undefined_by=nan)", random_state=0)
    assert np.isnan(ranker.fit(X, y, qid=qid).eval_curve_).tolist() == [True, True, False, True]
    assert ranker.best_iteration_ == 2


def test_invalid_labels_are_rejected_before_training(ranking):
    X, y, qid = ranking
    rounds = []
    ranker = QueryRanker(Stages(), eval_fraction=0.5, eval_metric="err(max_grade=1)")
    with pytest.raises(ValueError, match="max_grade=1"):
        ranker.fit(X, y, qid=qid, on_round=lambda *value: rounds.append(value))
    assert not rounds


def test_two_metrics_at_once(ranking):
    X, y, qid = ranking
    rankers = [
        QueryRanker(MODELS[name](), eval_fraction=0.4, eval_metric=metric, random_state=0)
        for name in ("xgb-ranker", "lgbm-ranker") for metric in ("map", "relevance_position", "ndcg@3")
    ]  # fmt: skip
    alone = [clone(ranker).fit(X, y, qid=qid).eval_curve_ for ranker in rankers]
    with ThreadPoolExecutor(6) as pool:
        together = [*pool.map(lambda ranker: ranker.fit(X, y, qid=qid).eval_curve_, rankers)]
    for one, other in zip(alone, together, strict=True):
        np.testing.assert_array_equal(one, other)


# --- progress ---------------------------------------------------------------------------------------------------


class Pruned(Exception):
    pass


@pytest.mark.parametrize("name", ONE_EACH)
def test_each_round_is_reported_and_can_end_the_training(name, ranking):
    X, y, qid = ranking
    ranker, rounds = QueryRanker(MODELS[name](), eval_fraction=0.4, eval_metric="map", random_state=0), []
    ranker.fit(X, y, qid=qid, on_round=lambda i, value: rounds.append((i, value)))
    assert rounds == [*enumerate(ranker.eval_curve_)]

    def prune(i, value):
        rounds.append(i)
        if i == 2:
            raise Pruned(str(value))

    rounds.clear()
    with pytest.raises(Pruned, match=str(ranker.eval_curve_[2])):
        clone(ranker).fit(X, y, qid=qid, on_round=prune)
    assert rounds == [0, 1, 2]


@pytest.mark.parametrize("error", [Pruned, KeyboardInterrupt], ids=lambda error: error.__name__)
def test_a_failed_fit_changes_nothing(error, ranking):
    """Not even a staged model, which would then predict from its last stage instead of its best."""
    X, y, qid = ranking

    def fail(i, value):
        raise error

    ranker = QueryRanker(Stages(), eval_fraction=0.4, eval_metric="map", early_stopping_rounds=1, random_state=0)
    with pytest.raises(error):
        ranker.fit(X, y, qid=qid, on_round=fail)
    with pytest.raises(NotFittedError):
        ranker.predict(X)
    ranker.fit(X, y, qid=qid)
    before, scores = dict(vars(ranker)), ranker.predict(X)
    assert ranker.best_iteration_ < ranker.estimator.n - 1
    with pytest.raises(error):
        ranker.fit(X[:, ::-1], y, qid=qid, on_round=fail)
    assert vars(ranker) == before
    np.testing.assert_array_equal(ranker.predict(X), scores)


def test_categories_of_xgboost_are_kept(ranking):
    """XGBoost loses them when it drops trees, so later trees are kept but not used."""
    pd, (X, y, qid) = pytest.importorskip("pandas"), ranking
    frame = pd.DataFrame({"x": X[:, 0], "word": pd.Categorical(np.where(X[:, 2] > 0, "up", "down"))})
    ranker = QueryRanker(xgb("Ranker", enable_categorical=True), eval_fraction=0.4, eval_metric="map", random_state=0)
    ranker.set_params(early_stopping_rounds=2).fit(frame, y, qid=qid)
    kept = ranker.estimator_.predict(frame, iteration_range=(0, ranker.best_iteration_ + 1))
    assert ranker.best_iteration_ < len(ranker.eval_curve_) - 1
    np.testing.assert_array_equal(ranker.predict(frame), kept)
    coded_otherwise = frame.assign(word=frame["word"].cat.reorder_categories(["up", "down"]))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(ranker)).predict(coded_otherwise), kept)
    held_out = np.isin(qid, ranker.eval_qid_)
    found = evaluate(y[held_out], kept[held_out], qid=qid[held_out], metrics="map").mean()["map"]
    assert ranker.best_value_ == pytest.approx(found, rel=1e-12)


def test_lightgbm_computes_no_other_metric(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(lgbm("Ranker", metric="ndcg"), eval_fraction=0.4, eval_metric="map@10").fit(X, y, qid=qid)
    (values,) = ranker.estimator_.evals_result_.values()
    assert values == {"map@10": ranker.eval_curve_.tolist()}


def test_catboost_reports_the_values_of_the_metric(ranking):
    X, y, qid = ranking
    for metric in ("map@10", "relevance_position"):
        ranker = QueryRanker(cat("Ranker"), eval_fraction=0.4, eval_metric=metric).fit(X, y, qid=qid)
        curves = ranker.estimator_.get_evals_result()["validation"]
        assert curves[metric] == pytest.approx(ranker.eval_curve_.tolist())


def test_callbacks_of_the_user_are_called(ranking):
    callback = pytest.importorskip("xgboost.callback")

    class Count(callback.TrainingCallback):
        rounds = 0

        def after_iteration(self, model, epoch, evals_log):
            Count.rounds += 1
            return epoch == 4

    X, y, qid = ranking
    ranker = QueryRanker(xgb("Ranker", callbacks=[Count()]), eval_fraction=0.4, eval_metric="map").fit(X, y, qid=qid)
    assert len(ranker.eval_curve_) == Count.rounds == 5
    assert [type(c) for c in ranker.estimator_.callbacks] == [Count]
    stop = SimpleNamespace(after_iteration=lambda info: info.iteration < 3)
    ranker = QueryRanker(cat("Ranker"), eval_fraction=0.4, eval_metric="map").fit(X, y, qid=qid, callbacks=[stop])
    assert len(ranker.eval_curve_) == 3


# --- patience ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make",
    [
        lambda: xgb("Ranker", early_stopping_rounds=2),
        lambda: lgbm("Ranker", early_stopping_round=2),
        lambda: cat("Ranker", od_type="Iter", od_wait=2),
        lambda: hist("Regressor", early_stopping=True, n_iter_no_change=2),
        lambda: ensemble(GradientBoostingRegressor, n_iter_no_change=2),
    ],
    ids=["xgb", "lgbm", "cat", "hist", "boosting"],
)
def test_patience_comes_from_the_model(make, ranking):
    X, y, qid = ranking
    settings = {"eval_fraction": 0.4, "eval_metric": "map", "random_state": 0}
    rankers = [QueryRanker(make(), **settings, early_stopping_rounds=n).fit(X, y, qid=qid) for n in (None, 2, 3)]
    of_all = rankers[2].eval_curve_
    spec = parse_metric("map")
    for ranker, patience in zip(rankers, (2, 2, 3), strict=True):
        assert (len(ranker.eval_curve_), ranker.best_iteration_) == best_by_hand(of_all, spec, patience)


def test_rounds_without_a_metric_use_ndcg(ranking):
    X, y, qid = ranking
    one, other = (
        QueryRanker(Stages(), eval_fraction=0.4, eval_metric=m, early_stopping_rounds=2, random_state=0)
        for m in (None, "ndcg@10")
    )
    assert one.fit(X, y, qid=qid).eval_curve_.tolist() == other.fit(X, y, qid=qid).eval_curve_.tolist()


@pytest.mark.parametrize("make", [xgb, lgbm, cat])
def test_the_best_round_of_a_model_that_stops_itself(make, ranking):
    X, y, qid = ranking
    train, stop = qid < 30, qid >= 30
    more = {"eval_metric": "ndcg@3"} if make is xgb else {"metric": "l2"} if make is lgbm else {}
    ranker = QueryRanker(make("Ranker", early_stopping_rounds=2, **more))
    ranker.fit(X[train], y[train], qid=qid[train], eval_set=(X[stop], y[stop], qid[stop]))
    assert ranker.eval_qid_.tolist() == [*range(30, 40)]
    model = ranker.estimator_
    assert ranker.best_iteration_ == (model.best_iteration if make is xgb else model.best_iteration_ - (make is lgbm))
    assert not hasattr(ranker, "eval_curve_")
    if make is not cat:
        assert ranker.best_value_ > 0
    ranker.set_params(estimator=Ridge(), eval_metric="map").fit(X, y, qid=qid)
    assert not hasattr(ranker, "best_iteration_")


# --- inside scikit-learn -------------------------------------------------------------------------------------


def test_in_searches_and_evaluators(with_index, shuffled):
    X, y, qid = shuffled
    ranker = QueryRanker(MODELS["lgbm-ranker"](), eval_fraction=0.3, eval_metric="map@10", random_state=0)
    piped = make_pipeline(StandardScaler(), ranker)
    scoring = get_scorer("ndcg@5")
    options = {"scoring": scoring, "cv": QueryKFold(2), "error_score": "raise"}
    search = GridSearchCV(ranker, {"eval_metric": ["map", "relevance_position"]}, **options).fit(*with_index)
    assert search.best_estimator_.best_value_ == search.best_estimator_.eval_curve_.max()
    assert np.isfinite(cross_validate(piped, *with_index, **options)["test_score"]).all()
    report = RankingEvaluator("ndcg@5", cv=2).compare({"a": ranker, "b": piped}, X, y, qid=qid)
    assert [*report.results] == ["a", "b"]
    halving = HalvingGridSearchCV(ranker, {"early_stopping_rounds": [2, 4]}, resource="max_queries", random_state=0,
                                  min_resources=10)  # fmt: skip
    found = RankingEvaluator("ndcg@5", cv=2).search(halving, X, y, qid=qid)
    assert found.best_estimator_.estimator_.booster_.num_trees() == found.best_estimator_.best_iteration_ + 1


@pytest.mark.parametrize("name", ONE_EACH)
def test_the_last_step_of_a_pipeline(name, ranking):
    X, y, qid = ranking
    options = {"eval_fraction": 0.4, "eval_metric": "map", "random_state": 0}
    bare = QueryRanker(MODELS[name](), **options).fit(X, y, qid=qid)
    for n_negations in (0, 2):
        negations = [FunctionTransformer(np.negative) for _ in range(n_negations)]
        piped = QueryRanker(make_pipeline(*negations, MODELS[name]()), **options)
        np.testing.assert_array_equal(piped.fit(X, y, qid=qid).predict(X), bare.predict(X))
        assert piped.eval_curve_.tolist() == bare.eval_curve_.tolist()


# --- errors --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda: Ridge(), "does not expose its rounds"),
        (lambda: RandomForestRegressor(), "does not expose its rounds"),
        (lambda: MLPRegressor(), "does not expose its rounds"),
        (lambda: make_pipeline(StandardScaler(), Ridge()), "does not expose its rounds"),
        (lambda: xgb("Ranker", booster="dart"), "booster='dart' later rounds change"),
        (lambda: xgb("Regressor", booster="gblinear"), "booster='gblinear' later rounds change"),
        (lambda: xgb("RFRegressor"), "in one round"),
        (lambda: lgbm("Ranker", boosting_type="dart"), "boosting_type='dart' later rounds change"),
        (lambda: cat("Ranker", task_type="GPU"), "task_type='GPU'"),
    ],
)
@pytest.mark.filterwarnings("ignore:.XGBRFRegressor:FutureWarning", "ignore:.*gblinear. is deprecated:UserWarning")
def test_models_without_a_usable_best_round(make, why, ranking):
    X, y, qid = ranking
    with pytest.raises(ValueError, match=f"a model that trains in rounds.*{why}"):
        QueryRanker(make(), eval_fraction=0.4, eval_metric="map").fit(X, y, qid=qid)


def test_contradictory_parameters(ranking):
    X, y, qid = ranking
    fit = {"qid": qid}
    for bad in (0, -1, 2.0, True, "5"):
        with pytest.raises(ValueError, match="'early_stopping_rounds' parameter of QueryRanker must be an int >= 1"):
            QueryRanker(Stages(), eval_fraction=0.5, early_stopping_rounds=bad).fit(X, y, **fit)
    with pytest.raises(ValueError, match="early_stopping_rounds needs validation rows.*eval_fraction.*eval_set"):
        QueryRanker(Stages(), early_stopping_rounds=5).fit(X, y, **fit)
    with pytest.raises(ValueError, match="on_round needs validation rows.*eval_fraction.*eval_set"):
        QueryRanker(Stages(), eval_metric="map").fit(X, y, **fit, on_round=print)
    with pytest.raises(ValueError, match="set eval_metric of QueryRanker"):
        QueryRanker(xgb("Ranker"), eval_fraction=0.5).fit(X, y, **fit, on_round=print)
    with pytest.raises(TypeError, match="on_round must be a function"):
        QueryRanker(Stages(), eval_fraction=0.5, eval_metric="map").fit(X, y, **fit, on_round=3)
    for bad in ("ndcg@5,10", "no_such_metric", parse_metric("map", average=None)):
        with pytest.raises(ValueError, match="single cutoff|must be one of get_metric_names"):
            QueryRanker(Stages(), eval_fraction=0.5, eval_metric=bad).fit(X, y, **fit)
    with pytest.raises(ValueError, match="With eval_metric='ndcg@10' models with"):
        QueryRanker(Stages(), eval_fraction=0.5).fit(X, y, **fit)
    assert QueryRanker(Ridge(), eval_metric="map").fit(X, y, **fit).predict(X).shape == y.shape  # the names of score
