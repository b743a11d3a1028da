"""`QueryRanker` and its inner model: attributes, score, and training in batches."""

import numpy as np
import pytest
import sklearn
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.decomposition import PCA
from sklearn.ensemble import RandomForestRegressor
from sklearn.feature_selection import SelectKBest
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier, SGDRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils import get_tags

from sklearn_rank import QueryRanker, get_scorer
from sklearn_rank.metrics import map_score, ndcg_score, query_rmse_error

OF_FEATURES = ("feature_importances_", "coef_", "intercept_", "classes_")


def boosters():
    """Models of each library, and their attributes."""
    xgboost, lightgbm = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    catboost = pytest.importorskip("catboost")
    of_trees, quiet = {"feature_importances_"}, {"verbose": 0, "allow_writing_files": False, "thread_count": 1}
    small = {"n_estimators": 5, "n_jobs": 1}
    return [
        (lightgbm.LGBMRanker(**small, min_child_samples=2, verbose=-1), of_trees),
        (lightgbm.LGBMClassifier(**small, min_child_samples=2, verbose=-1), of_trees | {"classes_"}),
        (xgboost.XGBRanker(**small), of_trees | {"intercept_"}),
        (xgboost.XGBRanker(**small, booster="gblinear"), of_trees | {"coef_", "intercept_"}),
        (catboost.CatBoostRegressor(iterations=5, **quiet), of_trees),
    ]


def is_there(ranker):
    return {name for name in OF_FEATURES if hasattr(ranker, name)}


@pytest.mark.filterwarnings("ignore:.*gblinear. is deprecated:UserWarning")
def test_attributes_match_the_inner_model(ranking):
    X, y, qid = ranking
    models = [
        (Ridge(), {"coef_", "intercept_"}),
        (LogisticRegression(max_iter=1000), {"coef_", "intercept_", "classes_"}),
        (RandomForestRegressor(5, random_state=0), {"feature_importances_"}),
        *boosters(),
    ]
    for model, expected in models:
        ranker = QueryRanker(model)
        assert is_there(ranker) == set()
        ranker.fit(X, y, qid=qid)
        assert is_there(ranker) == expected, model
        for name in expected:
            np.testing.assert_array_equal(getattr(ranker, name), getattr(ranker.estimator_, name))


def test_rankers_of_catboost_have_importances(ranking):
    """Its own attribute is None for losses of whole queries."""
    catboost = pytest.importorskip("catboost")
    X, y, qid = ranking
    model = catboost.CatBoostRanker(iterations=5, verbose=0, allow_writing_files=False, thread_count=1)
    ranker = QueryRanker(model).fit(X, y, qid=qid)
    assert is_there(ranker) == {"feature_importances_"}
    assert ranker.feature_importances_.shape == (X.shape[1],)
    np.testing.assert_allclose(ranker.feature_importances_.sum(), 100)


@pytest.mark.parametrize(
    ("steps", "keeps"),
    [
        ([StandardScaler()], True),
        ([SelectKBest(k="all"), make_pipeline(StandardScaler(), "passthrough")], True),
        ([], True),
        ([SelectKBest(k=2)], False),
        ([StandardScaler(), SelectKBest(k=2)], False),
        ([PCA()], False),  # as many features, with other names
        ([FunctionTransformer(lambda X: X[:, ::-1])], False),  # the importances are unknown
    ],
)
def test_attributes_of_features_if_the_steps_keep_them(steps, keeps, ranking):
    X, y, qid = ranking
    ranker = QueryRanker(make_pipeline(*steps, Ridge())).fit(X, y, qid=qid)
    assert hasattr(ranker, "coef_") == keeps
    nested = QueryRanker(make_pipeline(StandardScaler(), make_pipeline(*steps, Ridge()))).fit(X, y, qid=qid)
    assert hasattr(nested, "coef_") == keeps
    if keeps:
        np.testing.assert_array_equal(ranker.coef_, ranker.estimator_[-1].coef_)
    else:
        with pytest.raises(AttributeError, match=r"Use estimator_\[-1\].coef_"):
            ranker.coef_  # noqa: B018


def test_names_of_features_and_containers_between_steps(ranking):
    pd = pytest.importorskip("pandas")
    X, y, qid = ranking
    frame = pd.DataFrame(X, columns=list("abcdef"))
    ranker = QueryRanker(make_pipeline(StandardScaler(), Ridge())).set_output(transform="pandas")
    ranker.fit(frame, y, qid=qid)
    assert ranker.estimator_[-1].feature_names_in_.tolist() == ranker.feature_names_in_.tolist() == list("abcdef")
    assert ranker.coef_.shape == (6,)
    assert ranker.set_output(transform="default").estimator_[:-1].transform(frame).__class__ is np.ndarray
    assert not hasattr(QueryRanker(Ridge()), "set_output")


def test_other_features_are_rejected(ranking):
    """Ridge checks features itself, but not every model does."""
    pd = pytest.importorskip("pandas")
    X, y, qid = ranking
    frame = pd.DataFrame(X, columns=list("abcdef"))
    ranker, of_frame = (QueryRanker(RandomOrder()).fit(x, y, qid=qid) for x in (X, frame))
    for fitted, wrong, message in (
        (ranker, X[:, :2], "X has 2 features, but QueryRanker is expecting 6"),
        (ranker, X[0], "Reshape your data"),
        (of_frame, frame[list("fedcba")], "(?i)feature names must be in the same order"),
        (of_frame, frame.rename(columns={"a": "z"}), "Feature names unseen at fit time"),
    ):
        with pytest.raises(ValueError, match=message):
            fitted.predict(wrong)
        with pytest.raises(ValueError, match=message):
            fitted.score(wrong, y)  # before the error about qid


class RandomOrder(Ridge):
    """Ignores the features."""

    def predict(self, X):
        return np.zeros(len(X))


def test_a_ranker_is_a_regressor():
    for model in (Ridge(), LogisticRegression(), make_pipeline(StandardScaler(), LogisticRegression())):
        assert is_regressor(QueryRanker(model))
        assert not is_classifier(QueryRanker(model))
        assert get_tags(QueryRanker(model)).regressor_tags.poor_score
    assert get_tags(QueryRanker(NeverTheSame())).non_deterministic


class NeverTheSame(Ridge):
    """A model with the tag `non_deterministic`."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


@pytest.mark.parametrize(
    ("metric", "expected"),
    [
        (None, lambda y, s, q, w: ndcg_score(y, s, qid=q, sample_weight=w, k=10)),
        ("map@3", lambda y, s, q, w: map_score(y, s, qid=q, sample_weight=w, k=3)),
        ("rmse", lambda y, s, q, w: -query_rmse_error(y, s, qid=q, sample_weight=w)),
    ],
    ids=["ndcg@10", "map@3", "rmse"],
)
def test_score_matches_the_scorer(metric, expected, shuffled):
    pd = pytest.importorskip("pandas")
    X, y, qid = shuffled
    weight = np.unique(qid, return_inverse=True)[1] % 3 + 1.0
    ranker = QueryRanker(Ridge(), eval_metric=metric).fit(X, y, qid=qid)
    y_score = ranker.predict(X)
    assert ranker.score(X, y, qid=qid) == pytest.approx(expected(y, y_score, qid, None), rel=1e-15)
    weighted = ranker.score(X, y, qid=qid, sample_weight=weight)
    assert weighted == pytest.approx(expected(y, y_score, qid, weight), rel=1e-15)
    assert ranker.score(X, pd.Series(y, index=pd.Index(qid, name="qid"))) == ranker.score(X, y, qid=qid)
    with sklearn.config_context(enable_metadata_routing=True):
        assert get_scorer(metric or "ndcg@10")(ranker, X, y, qid=qid) == ranker.score(X, y, qid=qid)


def test_score_rejects_what_scorers_reject(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(Ridge()).fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="the query of each row must be known"):
        ranker.score(X, y)
    with pytest.raises(ValueError, match="an incomplete list"):
        ranker.score(X[1::2], y[1::2], qid=qid[1::2])
    with pytest.raises(TypeError, match=r"QueryRanker.score takes X, y by position and all else by name, such as qid="):
        ranker.score(X, y, qid)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        QueryRanker(Ridge()).score(X, y, qid=qid)


def batches(qid, n=3):
    return [np.isin(qid, part) for part in np.array_split(np.unique(qid), n)]


def test_batches(ranking):
    X, y, qid = ranking
    ranker, model = QueryRanker(SGDRegressor(random_state=0)), SGDRegressor(random_state=0)
    for _ in range(2):
        for batch in batches(qid):
            assert ranker.partial_fit(X[batch], y[batch], qid=qid[batch]) is ranker
            model.partial_fit(X[batch], y[batch])
    np.testing.assert_array_equal(ranker.predict(X), model.predict(X))
    assert ranker.score(X, y, qid=qid) == ndcg_score(y, model.predict(X), qid=qid, k=10)
    for batch in batches(qid):  # the ranker remembers each query
        with pytest.raises(ValueError, match="an incomplete list"):
            ranker.score(X[batch][2:-2], y[batch][2:-2], qid=qid[batch][2:-2])
    with pytest.raises(ValueError, match="X has 2 features, but QueryRanker is expecting 6"):
        ranker.partial_fit(X[:, :2], y, qid=qid)
    ranker.fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), SGDRegressor(random_state=0).fit(X, y).predict(X))


def test_batches_take_whole_queries(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(SGDRegressor(random_state=0)).partial_fit(X[:50], y[:50], qid=qid[:50])
    before = ranker.predict(X)
    assert qid[49] == qid[50]
    with pytest.raises(ValueError, match="A batch must contain whole queries"):
        ranker.partial_fit(X[50:], y[50:], qid=qid[50:])
    np.testing.assert_array_equal(ranker.predict(X), before)
    ranker.partial_fit(X[50:], y[50:])  # without qid a pointwise model has no queries


def test_a_batch_may_contain_old_and_new_queries(ranking):
    X, y, qid = ranking
    (first, *_), ranker = batches(qid), QueryRanker(SGDRegressor(random_state=0))
    ranker.partial_fit(X[first], y[first], qid=qid[first]).partial_fit(X, y, qid=qid)
    assert 0 < ranker.score(X, np.roll(y, 1), qid=qid) < 1  # other labels of the same documents


def test_batches_of_grades(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(SGDClassifier(loss="log_loss", random_state=0))
    (first, *_), grades = batches(qid), np.unique(y)
    with pytest.raises(ValueError, match="classes must be passed on the first call"):
        ranker.partial_fit(X[first], y[first], qid=qid[first])
    ranker.partial_fit(X[first], y[first], qid=qid[first], classes=grades).partial_fit(X, y)
    assert ranker.classes_.tolist() == grades.tolist()


@pytest.mark.parametrize("name", ["eval_fraction", "early_stopping_rounds", "max_queries"])
def test_models_train_on_whole_batches(name, ranking):
    X, y, qid = ranking
    ranker = QueryRanker(SGDRegressor(), **{name: 0.5 if name == "eval_fraction" else 5})
    with pytest.raises(ValueError, match=f"partial_fit trains on all rows of a batch, so only fit supports {name}"):
        ranker.partial_fit(X, y, qid=qid)


def test_batches_only_if_the_model_supports_them():
    assert hasattr(QueryRanker(SGDRegressor()), "partial_fit")
    assert not hasattr(QueryRanker(Ridge()), "partial_fit")


class InBatches(Ridge):
    """Takes the sizes of queries in batches."""

    def partial_fit(self, X, y, group, sample_weight=None):
        self.got_ = [np.asarray(y).tolist(), group.tolist(), sample_weight.tolist()]
        return self


def test_a_ranker_in_batches_gets_its_arguments():
    X, y, qid, weight = np.arange(5.0)[:, None], [0, 1, 2, 3, 4], ["b", "a", "b", "c", "a"], [1, 2, 3, 4, 5]
    ranker = QueryRanker(InBatches()).partial_fit(X, y, qid=qid, sample_weight=weight)
    assert ranker.estimator_.got_ == [[0, 2, 1, 4, 3], [2, 2, 1], [1, 3, 2, 5, 4]]
    with pytest.raises(ValueError, match="the query of each row must be known"):
        QueryRanker(InBatches()).partial_fit(X, y)


class InStages(Ridge):
    """Has 2 stages after `fit` and 3 after a batch; each stage scores by one feature."""

    def staged_predict(self, X):
        return (X[:, stage] for stage in range(self.n_stages_))

    def fit(self, X, y):
        self.n_stages_ = 2
        return self

    def predict(self, X):
        return X[:, self.n_stages_ - 1]

    def partial_fit(self, X, y):
        self.n_stages_ = 3
        return self


def test_a_batch_resets_the_best_round(ranking):
    X, y, qid = ranking
    X = np.column_stack([y**2, -y, X[:, 0]])
    ranker = QueryRanker(InStages(), eval_fraction=0.5, eval_metric="ndcg@10", random_state=0).fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), X[:, 0])  # of the best round
    ranker.set_params(eval_fraction=None).partial_fit(X, y, qid=qid)
    np.testing.assert_array_equal(ranker.predict(X), X[:, 2])
    assert not {"best_iteration_", "best_value_", "eval_curve_"} & set(vars(ranker))
    assert not len(ranker.eval_qid_)


def test_a_query_may_return_with_the_same_labels():
    X, y, qid = np.arange(4.0)[:, None], [0, 1, 0, 2], [1, 1, 2, 2]
    ranker = QueryRanker(SGDRegressor()).partial_fit(X, y, qid=qid).partial_fit(X, y, qid=qid)
    with pytest.raises(ValueError, match="Got 1 of 2 queries with other rows than before, for example 2"):
        ranker.partial_fit(X, [0, 1, 0, 1], qid=qid)


def test_ids_of_batches_have_one_spelling():
    X, y = np.arange(4.0)[:, None], [0, 1, 0, 2]
    ranker = QueryRanker(SGDRegressor()).partial_fit(X, y, qid=[1, 1, 2, 2]).partial_fit(X, y, qid=list("aabb"))
    with pytest.raises(ValueError, match="Ids must be of one type"):
        ranker.partial_fit(X[:2], [2, 2], qid=["1", "1"])
    with pytest.raises(ValueError, match="for example 1: 2 rows before, 4 now"):
        ranker.partial_fit(X, y, qid=[1, 1, 1, 1])


def test_masked_weights_are_rejected(ranking):
    X, y, qid = ranking
    weight = np.ma.array(np.ones(len(y)), mask=np.arange(len(y)) == 3)
    for method in ("fit", "partial_fit"):
        with pytest.raises(ValueError, match="sample_weight must not have masked entries. Got 1"):
            getattr(QueryRanker(SGDRegressor()), method)(X, y, qid=qid, sample_weight=weight)


class WeighsQueries(Ridge):
    """Takes queries in batches, with a weight per query."""

    def partial_fit(self, X, y, qid, sample_weight=None):
        return self


def test_weights_of_batches_are_per_query(ranking):
    X, y, qid = ranking
    ranker = QueryRanker(WeighsQueries()).partial_fit(X, y, qid=qid, sample_weight=1.0 + qid)
    with pytest.raises(ValueError, match="constant within"):
        ranker.partial_fit(X, y, qid=qid, sample_weight=np.arange(len(y)) + 1.0)


def test_inner_model_without_importances(ranking):
    class Without(Ridge):
        feature_importances_ = None

    X, y, qid = ranking
    ranker = QueryRanker(Without()).fit(X, y, qid=qid)
    with pytest.raises(AttributeError, match="Without has no 'feature_importances_'"):
        _ = ranker.feature_importances_


# --- arguments of fit of the model ---------------------------------------------------------------------------


def test_arguments_of_fit_are_passed_on(shuffled):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = shuffled
    model = lightgbm.LGBMRanker(n_estimators=4, min_child_samples=2, n_jobs=1, verbose=-1)
    number = np.unique(qid, return_inverse=True)[1]
    first = {one: i for i, one in reversed([*enumerate(number.tolist())])}
    rows = np.lexsort((np.arange(len(y)), [first[one] for one in number.tolist()]))
    sizes = [np.count_nonzero(number == one) for one in dict.fromkeys(number.tolist())]
    init_score, rounds = np.random.default_rng(0).normal(size=len(y)), []
    by_hand = clone(model).fit(X[rows], y[rows], group=sizes, init_score=init_score[rows], categorical_feature=[0])
    arguments = {"categorical_feature": [0], "callbacks": [lambda env: rounds.append(env.iteration)]}
    for ranker in (
        QueryRanker(model),
        QueryRanker(make_pipeline(StandardScaler(with_mean=False, with_std=False), model)),
    ):
        ranker.fit(X, y, qid=qid, init_score=init_score, **arguments)
        np.testing.assert_array_equal(ranker.predict(X), by_hand.predict(X))
    assert rounds == [0, 1, 2, 3] * 2
    rounds.clear()
    stopping = QueryRanker(model, eval_fraction=0.3, eval_metric="ndcg@5", random_state=0)
    stopping.fit(X, y, qid=qid, **arguments)
    assert len(rounds) == len(stopping.eval_curve_)
    for given, error, message in (
        ({"position": init_score}, TypeError, "has no keyword 'position'. LGBMRanker.fit does not accept it"),
        ({"init_score": init_score[:3]}, ValueError, "must have one entry per row each"),
        ({"callback": []}, TypeError, "Did you mean 'callbacks'"),
        ({"group": sizes}, TypeError, "has no keyword 'group'. qid= is the query of each row"),
    ):
        with pytest.raises(error, match=message):
            QueryRanker(model).fit(X, y, qid=qid, **given)
    with pytest.raises(ValueError, match="init_score has values for the rows of X but not for the validation rows"):
        stopping.fit(X, y, qid=qid, init_score=init_score)
    with pytest.raises(TypeError, match="has no keyword 'callbacks'. Models that support callbacks"):
        QueryRanker(Ridge()).fit(X, y, qid=qid, callbacks=[])


def test_positional_arguments_are_rejected(shuffled):
    with pytest.raises(TypeError, match="qid"):
        QueryRanker(Ridge()).fit(*shuffled)
