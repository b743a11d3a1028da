"""Scorers over all items, and the wrapper that remembers seen items."""

import copy
import pickle

import numpy as np
import pytest
import sklearn
from recommenders import Factors, Fixed, Lists, item_by_item, tastes
from registry import together
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder

from sklearn_rank import (
    InteractionRecommender,
    LeaveLastOut,
    QueryRanker,
    RankingEvaluator,
    get_metric_names,
    get_scorer,
    make_recommender_scorer,
    parse_metric,
)
from sklearn_rank.io import read_qrels
from sklearn_rank.recommenders import exposure

pd = pytest.importorskip("pandas")

NO_SENSE = [
    name for name in get_metric_names()
    if any(getattr(parse_metric(name).metric, what) for what in ("pointwise", "reads_unjudged", "subtopics"))
]  # fmt: skip
OF_THE_ORDER = [name for name in get_metric_names() if name not in NO_SENSE]


# --- by hand, and against other libraries --------------------------------------------------------------------


def frame(pairs):
    return pd.DataFrame(pairs, columns=["user_id", "item_id"])


def test_recommender_scorer_by_hand():
    """Scores decrease from item 0 to item 4.

    User 0 has seen 0 and 2, so 1, 3 and 4 are ranked; user 1 has seen none.
    """
    model = InteractionRecommender(Fixed([[5, 4, 3, 2, 1]] * 3)).fit(frame([(0, 0), (0, 2), (2, 1)]))
    test = frame([(0, 3), (0, 4), (2, 0)])
    scorer = make_recommender_scorer(["mrr", "recall@2", "ndcg@2", "map"], items=range(5))
    result = scorer.evaluate(model, test)
    assert result.qid.tolist() == [0, 2]
    assert result.n_documents.tolist() == [3, 4]
    assert result.per_query["mrr"].tolist() == [1 / 2, 1]
    assert result.per_query["recall@2"].tolist() == [1 / 2, 1]
    dcg = 1 / np.log2(3)
    assert result.per_query["ndcg@2"].tolist() == pytest.approx([dcg / (1 + dcg), 1])
    assert result.per_query["map"].tolist() == pytest.approx([(1 / 2 + 2 / 3) / 2, 1])
    assert scorer(model, test) == result.mean()
    all_items = make_recommender_scorer("mrr", items=range(5), exclude=None)
    assert all_items(model, test) == (1 / 4 + 1) / 2
    own = make_recommender_scorer("mrr", items=range(5), exclude={0: [0, 1, 2], 7: [3]})
    assert own(model, test) == own(Fixed([[5, 4, 3, 2, 1]] * 3).fit(test), test) == 1


A = [[17, -19], [-17, 18], [17, -8], [-14, -7], [-18, 15], [6, 3], [-10, -1], [-12, 11]]
B = [[-1, -18], [-10, 8], [1, -5], [-10, -16], [4, 6], [1, 17], [17, -11], [4, 5], [-10, -8], [0, 9], [-8, 9], [6, -11]]
TRAIN = [
    (0, 2), (0, 7), (0, 8), (1, 1), (1, 5), (1, 7), (2, 8), (2, 1), (2, 3), (3, 8), (3, 11), (3, 6), (4, 1), (4, 5),
    (4, 11), (5, 1), (5, 6), (5, 7), (6, 8), (6, 0), (6, 5), (7, 10), (7, 4), (7, 1),
]  # fmt: skip
TEST = [
    (0, 9), (1, 2), (1, 3), (2, 2), (2, 10), (2, 6), (3, 3), (4, 10), (4, 6), (5, 11), (5, 8), (5, 9), (6, 6),
]  # fmt: skip
OF_OTHERS = {
    # implicit 0.7.3, ranking_metrics_at_k
    "ndcg@3": 0.3310093259713705, "ndcg@5": 0.4226396696528549,
    "map(denominator=min_k_relevant)@3": 0.2777777777777778, "map(denominator=min_k_relevant)@5": 0.3396825396825397,
    # recometrics 0.1.6, calc_reco_metrics; its ndcg and TAP equal nDCG and MAP of implicit
    "p@3": 0.19047619047619047, "p@5": 0.19999999999999998, "recall@3": 0.3095238095238095,
    "recall@5": 0.47619047619047616, "map@3": 0.2777777777777778, "map@5": 0.3396825396825397,
    "hit@3": 0.5714285714285714, "hit@5": 0.7142857142857143, "mrr@3": 0.4761904761904762, "mrr@5": 0.5047619047619049,
    "auc": 0.47987528344671204,
    # LensKit 2025.8; its p, recall, hit and RecipRank equal those of recometrics
    "ndcg(discount=jarvelin)@3": 0.3028437476120094, "ndcg(discount=jarvelin)@5": 0.3879054684338138,
}  # fmt: skip
"""Means over the seven users with a test row."""


@pytest.mark.parametrize("form", [Fixed, None], ids=["pairs", "lists"])
def test_values_of_implicit_recometrics_and_lenskit(form):
    scores = np.array(A) @ np.array(B).T
    model = form(scores) if form else _Listing(scores)
    model = InteractionRecommender(model).fit(frame(TRAIN))
    means = make_recommender_scorer([*OF_OTHERS], items=range(12))(model, frame(TEST))
    if form is None:
        assert means.pop("auc") > 0
    assert means == pytest.approx({name: OF_OTHERS[name] for name in means}, abs=1e-7)  # implicit uses single precision


class _Listing(Fixed):
    """The items of highest score, including those seen in training."""

    predict = None

    def recommend(self, users, k):
        return np.argsort(-self.scores[users], axis=1)[:, :k]


del _Listing.predict


# --- against items ranked one by one -------------------------------------------------------------------------


def data(seed=0):
    """Interactions with some repeats, cut in two; user "new" and item 41 are only in the test rows."""
    rng = np.random.default_rng(seed)
    X = frame([(f"u{u}", i) for u, i in zip(rng.integers(0, 30, 400), rng.integers(0, 40, 400), strict=True)])
    is_test = rng.random(400) < 0.3
    test = pd.concat([X[is_test], frame([("new", 41), ("new", 3), ("u1", 41)])], ignore_index=True)
    return X[~is_test], test, rng.integers(0, 4, len(test))


def scores_of(model):
    """Scores of a model for some items, -inf if it does not rank an item."""

    def of_pairs(user, items):
        scores = model.predict(frame([(user, item) for item in items]))
        return np.where(np.isnan(scores), -np.inf, scores)

    def of_lists(user, items):
        (listed,) = ([*one] for one in model.recommend([user], 99))
        return [-listed.index(item) if item in listed else -np.inf for item in items]

    return of_pairs if hasattr(model, "predict") else of_lists


METRICS = [f"{name}@5" if parse_metric(name).metric.has_cutoff else name for name in OF_THE_ORDER]


@pytest.mark.filterwarnings("ignore:.*every score is")
@pytest.mark.parametrize("exclude", ["train", None])
@pytest.mark.parametrize("model", [Factors(5, decimals=1), Lists(5, decimals=1)], ids=["pairs with ties", "lists"])
def test_all_metrics_against_items_ranked_one_by_one(model, exclude):
    train, test, y = data()
    metrics = METRICS if isinstance(model, Lists) else [
        name for name in METRICS if parse_metric(name).metric.name not in ("11pt", "iprec", "infap")
    ]  # fmt: skip
    fitted = InteractionRecommender(model).fit(train)
    result = make_recommender_scorer(metrics, items=range(45), exclude=exclude).evaluate(fitted, test, y)
    pairs = [[*rows.itertuples(index=False, name=None)] for rows in (train, test)]
    expected = item_by_item(
        scores_of(fitted), *pairs, y.tolist(), range(45), exclude=exclude is not None, metrics=metrics
    )
    assert {*result.qid} == {*expected.qid}
    places = [expected.qid.tolist().index(user) for user in result.qid]
    is_known = result.qid != "new"
    for name, values in result.per_query.items():
        np.testing.assert_allclose(
            values[is_known], expected.per_query[name][places][is_known], atol=1e-12, err_msg=name
        )
    assert result.n_documents.tolist() == expected.n_documents[places].tolist()
    assert result.label_fingerprints.tolist() == expected.label_fingerprints[places].tolist()


def test_new_items_are_not_mixed_up_between_users():
    """Pairs are numbered internally: a new item of user 1 is not the last item of user 0."""
    model = InteractionRecommender(Fixed([[3, 2, 1]] * 3)).fit(frame([(0, 0), (0, 1), (1, 0)]))
    result = make_recommender_scorer("mrr", items=range(3)).evaluate(model, frame([(1, 2), (0, 2)]))
    assert result.qid.tolist() == [1, 0]
    assert result.per_query["mrr"].tolist() == [1 / 2, 1]
    assert result.n_documents.tolist() == [2, 1]


def test_a_function_of_one_user():
    def first_label(y_true, y_score):
        return float(y_true[np.argmax(y_score)])

    train, test, _ = data()
    for model in (Factors(5), Lists(5)):
        fitted = InteractionRecommender(model).fit(train)
        values = make_recommender_scorer([first_label, "p@1"], items=range(45)).evaluate(fitted, test).per_query
        assert values["first_label"].tolist() == values["p@1"].tolist()


def test_blocks_have_no_effect_on_scorers(monkeypatch):
    train, test, y = data()
    for model in (Factors(5), Lists(5), Lists(5, form="matrix")):
        test = test[test["user_id"] != "new"] if isinstance(model, Lists) and model.form == "matrix" else test
        fitted = InteractionRecommender(model).fit(train)
        scorer = make_recommender_scorer(["ndcg@5", "map"], items=range(45))
        whole = scorer.evaluate(fitted, test, y[: len(test)])
        for pairs in (1, 100):
            for name in ("PREDICTED_PAIRS", "ROWS_IN_MEMORY"):
                monkeypatch.setattr(f"sklearn_rank.recommenders._recommender_scorer.{name}", pairs)
            parts = scorer.evaluate(fitted, test, y[: len(test)])
            for name, values in whole.per_query.items():
                assert values.tolist() == parts.per_query[name].tolist()
        monkeypatch.undo()
    predicted = make_recommender_scorer("ndcg@5", items=range(45))
    assert predicted(InteractionRecommender(Factors(5)).fit(train), test, y[: len(test)]) == pytest.approx(
        predicted(InteractionRecommender(Lists(5)).fit(train), test, y[: len(test)])
    )


# --- laws ----------------------------------------------------------------------------------------------------


def test_the_order_of_rows_and_items_has_no_effect():
    train, test, y = data()
    rng = np.random.default_rng(0)
    model = InteractionRecommender(Factors(5, decimals=1)).fit(train)
    value = make_recommender_scorer("ndcg@5", items=range(45))(model, test, y)
    order = rng.permutation(len(test))
    shuffled = make_recommender_scorer("ndcg@5", items=rng.permutation(45))
    assert shuffled(model, test.iloc[order], y[order]) == pytest.approx(value, abs=1e-12)


@together("exclude", ["train", {0: [1, 7], 1: [7, 8]}, {0: [7], 1: [8]}, {0: [0, 1], 1: [2]}, None])
def test_only_items_of_the_catalog_are_excluded(exclude):
    """Items 7 and 8 of the training rows cannot be recommended, so no item is excluded for them."""
    train, test = frame([(0, 1), (0, 7), (1, 7), (1, 8), (2, 0)]), frame([(0, 3), (1, 1)])
    model = InteractionRecommender(Fixed([[4, 3, 2, 1, 0, 0, 0, 0, 0]] * 3)).fit(train)
    seen = {0: {1, 7}, 1: {7, 8}} if exclude == "train" else exclude or {}
    left = [[item for item in range(4) if item not in seen.get(user, ())] for user in (0, 1)]
    for items in ([0, 1, 2, 3], [3, 1, 2, 0]):
        result = make_recommender_scorer("mrr", items=items, exclude=exclude).evaluate(model, test)
        assert result.n_documents.tolist() == [len(items) for items in left]
        assert result.per_query["mrr"].tolist() == [1 / (left[0].index(3) + 1), 1 / (left[1].index(1) + 1)]


def test_pairs_to_exclude_in_any_form():
    train, test, y = data()
    model = InteractionRecommender(Factors(5)).fit(train)
    lists = {user: rows["item_id"].tolist() for user, rows in train.groupby("user_id")}
    pl = pytest.importorskip("polars")
    values = {
        make_recommender_scorer("ndcg@5", items=range(45), exclude=pairs)(model, test, y)
        for pairs in (
            "train",
            train,
            train.to_numpy(),
            train.to_numpy().tolist(),
            lists,
            pl.from_pandas(train),
            read_qrels(train, value=False, duplicates="first"),
        )
    }
    assert len(values) == 1
    unknown = {**lists, "someone": [1], "u1": [*lists["u1"], 77]}
    assert values == {make_recommender_scorer("ndcg@5", items=range(45), exclude=unknown)(model, test, y)}
    nothing = make_recommender_scorer("ndcg@5", items=range(45), exclude={})(model, test, y)
    assert nothing == make_recommender_scorer("ndcg@5", items=range(45), exclude=None)(model, test, y)


def test_labels_come_from_y_and_default_to_1():
    model = InteractionRecommender(Fixed([[5, 4, 3]])).fit(frame([(0, 0)]))
    test = frame([(0, 1), (0, 2), (0, 2)])
    scorer = make_recommender_scorer("dcg(gain=linear)@2", items=range(3))
    assert scorer(model, test, [1, 2, 5]) == pytest.approx(1 + 5 / np.log2(3)), "the higher label of a pair"
    assert scorer(model, test) == scorer(model, test, np.ones((3, 1))) == pytest.approx(1 + 1 / np.log2(3))
    assert scorer(model, test, pd.Series([0.25, 0.5, 0])) == pytest.approx(0.25 + 0.5 / np.log2(3))
    relevant = make_recommender_scorer("mrr", items=range(3), min_relevance=4)
    assert relevant(model, test, [1, 2, 5]) == 1 / 2


@pytest.mark.parametrize("container", ["pandas", "polars", "array", "objects", "list", "categorical", "names"])
def test_recommender_scorer_containers(container):
    train, test, y = data()
    train, test = (X.assign(user_id=X["user_id"].str[1:].replace("ew", "99").astype(int)) for X in (train, test))
    expected = make_recommender_scorer("ndcg@5", items=range(45))(
        InteractionRecommender(Factors(5)).fit(train), test, y
    )
    names, items = {}, np.arange(45)
    if container == "polars":
        train, test = map(pytest.importorskip("polars").from_pandas, (train, test))
    elif container in ("array", "objects", "list"):
        train, test = (X.to_numpy(object if container == "objects" else None) for X in (train, test))
        train, test = (train.tolist(), test.tolist()) if container == "list" else (train, test)
    elif container == "categorical":
        kinds = {"user_id": pd.CategoricalDtype(range(100)), "item_id": pd.CategoricalDtype(items)}
        train, test = train.astype(kinds), test.astype(kinds)
    elif container == "names":
        names = {"user": "who", "item": "what"}
        train, test = (
            X.rename(columns={"user_id": "who", "item_id": "what"}).assign(time=1)[["time", "what", "who"]]
            for X in (train, test)
        )
    model = InteractionRecommender(Factors(5), **names).fit(train)
    assert make_recommender_scorer("ndcg@5", items=items, **names)(model, test, y) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("dtype", ["Int32", "category", "string", "float32", "object"])
def test_columns_keep_their_types(dtype):
    """Also if items= has another type, because models look up or encode the type of fit."""
    train, test, _ = data()
    train, test = (X.assign(item_id=X["item_id"].astype(str if dtype == "string" else int)) for X in (train, test))
    kind = pd.CategoricalDtype(range(45)) if dtype == "category" else dtype
    train, test = train.astype({"item_id": kind}), test.astype({"item_id": kind})
    asked = []

    class Typed(Factors):
        def predict(self, X):
            asked.append(X.dtypes.to_dict())
            return super().predict(X)

    items = [str(i) for i in range(45)] if dtype == "string" else range(45)
    make_recommender_scorer("mrr", items=items)(InteractionRecommender(Typed()).fit(train), test)
    assert asked[0] == train.dtypes.to_dict()
    pl = pytest.importorskip("polars")
    fitted = InteractionRecommender(Factors()).fit(pl.from_pandas(train))
    assert make_recommender_scorer("mrr", items=items)(fitted, pl.from_pandas(test)) > 0


def test_items_that_the_column_type_cannot_hold():
    X = frame([(0, 1), (0, 2)])
    for rows in (X.astype({"item_id": pd.CategoricalDtype([1, 2])}), X):
        model = InteractionRecommender(Fixed([[0, 3, 2, 1]])).fit(rows.iloc[:1])
        assert make_recommender_scorer("mrr", items=[1, 2, 3])(model, rows.iloc[1:]) == 1
        known = InteractionRecommender(Partly(answer=1.0)).fit(rows.iloc[:1])
        for other in ("3", "x"):
            with pytest.raises(TypeError):
                make_recommender_scorer("mrr", items=[1, 2, other])(known, rows.iloc[1:])  # the model reads numbers


def test_columns_of_an_array_in_any_position():
    train, test, y = data()
    train, test = (X.assign(user_id=X["user_id"].str[1:].replace("ew", "99").astype(int)) for X in (train, test))
    expected = make_recommender_scorer("ndcg@5", items=range(45))(
        InteractionRecommender(Factors(5)).fit(train), test, y
    )
    wide = [np.column_stack([X["item_id"], np.zeros(len(X), int), X["user_id"]]) for X in (train, test)]
    places = {"user": 2, "item": 0}
    model = InteractionRecommender(Factors(5), **places).fit(wide[0])
    assert make_recommender_scorer("ndcg@5", items=range(45), **places)(model, wide[1], y) == expected
    inside = make_pipeline(FunctionTransformer(), InteractionRecommender(Factors(5))).fit(wide[0][:, [2, 0]])
    assert make_recommender_scorer("ndcg@5", items=range(45))(inside, wide[1][:, [2, 0]], y) == expected
    for other in ({}, {"user": 2}, {"user": 0, "item": 2}):
        with pytest.raises(ValueError, match=r"must name the same columns.* of X\."):
            make_recommender_scorer("ndcg@5", items=range(100), **other)(model, wide[1], y)


# --- users and items that the model does not know ------------------------------------------------------------


class Partly(Fixed):
    """Answers for user 9, who is not in training, as configured."""

    def __init__(self, scores=None, answer=None):
        self.scores, self.answer = scores, answer

    def predict(self, X):
        users = np.asarray(X)[:, 0]
        if isinstance(self.answer, Exception) and 9 in users:
            raise self.answer
        return np.where(users == 9, np.nan if self.answer is None else self.answer, 5.0 - np.asarray(X)[:, 1])


ROWS = frame([(0, 0), (1, 0)])


@pytest.mark.parametrize(("otherwise", "value"), [(0.0, 1 / 3), (np.nan, 1 / 2), (0.25, 1.25 / 3)])
@pytest.mark.parametrize("metric", ["mrr", "p(k=1)", "recall@1", "hit@1"])
def test_users_without_a_ranking_are_undefined(metric, otherwise, value):
    metric = "p@1" if metric.startswith("p(") else metric
    test = frame([(0, 1), (9, 1), (1, 4)])
    model = InteractionRecommender(Partly()).fit(ROWS)
    scorer = make_recommender_scorer(metric, items=range(5), replace_undefined_by=otherwise)
    result = scorer.evaluate(model, test)
    assert [*result.n_undefined.values()] == [1]
    assert result.qid.tolist() == [0, 9, 1]
    if metric == "mrr":
        value = value + (1 / 4) / (2 if np.isnan(otherwise) else 3)
    assert scorer(model, test) == pytest.approx(value)
    pooled = make_recommender_scorer("p@1", items=range(5), average="micro", replace_undefined_by=otherwise)
    assert pooled(model, test) == 1 / 2, "as pooled means leave undefined queries out"


def test_a_model_that_ranks_unknown_users_is_called():
    test = frame([(9, 1), (0, 1)])
    model = InteractionRecommender(Partly(answer=1.0)).fit(ROWS)
    result = make_recommender_scorer("mrr", items=range(5)).evaluate(model, test)
    assert result.n_undefined == {"mrr": 0}
    assert 0 < result.per_query["mrr"][0] < 1, "five items are tied"


@pytest.mark.parametrize("error", [KeyError("u9"), IndexError("9 is out of bounds"), ValueError("unknown category")])
def test_recommender_errors_for_unknown_users_become_warnings(error):
    model = InteractionRecommender(Partly(answer=error)).fit(ROWS)
    scorer = make_recommender_scorer("p@1", items=range(5), replace_undefined_by=np.nan)
    with pytest.warns(UserWarning, match=rf"1 of 2 test users are not in training.*Got {type(error).__name__}: "):
        assert scorer(model, frame([(0, 1), (9, 1)])) == 1
    with pytest.raises(type(error)):
        scorer(InteractionRecommender(Partly(answer=error)).fit(frame([(9, 0)])), frame([(9, 1)]))


def test_recommender_scorer_passes_on_errors_of_models():
    class Strict(Answers):
        def recommend(self, users, k):
            return [{0: [1, 2]}[user] for user in users]

    model = InteractionRecommender(Strict([])).fit(ROWS)
    scorer = make_recommender_scorer("p@1", items=range(5))
    with pytest.warns(UserWarning, match="Got KeyError: "):
        assert scorer(model, frame([(0, 1), (9, 1)])) == 1 / 2
    with pytest.raises(KeyError):
        scorer(model, frame([(1, 1)]))


def test_an_empty_list_is_undefined_only_for_unknown_users():
    class OnlyZero(Fixed):
        predict = None

        def recommend(self, users, k):
            return [[1, 2][:k] if user == 0 else [] for user in users]

    del OnlyZero.predict
    model = InteractionRecommender(OnlyZero([])).fit(ROWS)
    for metric in ("p@1", "auc"):
        result = make_recommender_scorer(metric, items=range(5)).evaluate(model, frame([(0, 1), (9, 1), (1, 1)]))
        assert [*result.n_undefined.values()] == [1]
        assert next(iter(result.per_query.values())).tolist() == [1, 0, {"p@1": 0, "auc": 0.5}[metric]]


def test_items_missing_from_training_may_have_no_score():
    scores = [[5.0, 4.0, np.nan, 1.0]]
    model = InteractionRecommender(Fixed(scores)).fit(frame([(0, 0), (0, 3)]))
    scorer = make_recommender_scorer("recall@4", items=range(4))
    assert scorer(model, frame([(0, 1), (0, 2)])) == 1 / 2
    with pytest.raises(ValueError, match="may predict NaN.*only for users and items.*NaN for user 0 and item 2"):
        scorer(InteractionRecommender(Fixed(scores)).fit(frame([(0, 0), (1, 2)])), frame([(0, 1)]))
    with pytest.raises(ValueError, match=r"Only an InteractionRecommender\(model\) knows"):
        make_recommender_scorer("mrr", items=range(4), exclude=None)(Fixed(scores).fit(ROWS), frame([(0, 1)]))


def test_a_score_of_minus_infinity_is_a_low_score():
    model = InteractionRecommender(Fixed([[1.0, -np.inf, 0.0]])).fit(frame([(0, 2)]))
    assert make_recommender_scorer("mrr", items=range(3))(model, frame([(0, 1)])) == 1 / 2


def test_errors_of_the_model_mention_unknown_items():
    class Strict(Fixed):
        def predict(self, X):
            raise KeyError("item 4")

    model = InteractionRecommender(Strict([])).fit(ROWS)
    with pytest.raises(KeyError) as caught:
        make_recommender_scorer("mrr", items=range(5))(model, frame([(0, 4)]))
    assert "4 of 5 items are not in training: predict may return NaN" in caught.value.__notes__[0]


# --- in scikit-learn -----------------------------------------------------------------------------------------


def one_hot(model):
    return make_pipeline(OneHotEncoder(handle_unknown="ignore"), model)


@pytest.mark.parametrize("routing", [False, True])
def test_in_cross_validate_and_searches(routing):
    X, items = tastes(0, n_users=60, n_items=40), np.arange(40)
    scorer = make_recommender_scorer("ndcg@10", items=items)
    with sklearn.config_context(enable_metadata_routing=routing):
        model = InteractionRecommender(Factors(4))
        (value,) = cross_validate(model, X, cv=LeaveLastOut(2), scoring=scorer, error_score="raise")["test_score"]
        several = cross_validate(model, X, cv=LeaveLastOut(2), scoring={"ndcg": scorer, "mrr": get_all("mrr", items)})
        grid = {"estimator__n_factors": [1, 4]}
        search = GridSearchCV(model, grid, scoring=scorer, cv=LeaveLastOut(2), error_score="raise").fit(X)
        many = make_recommender_scorer(["ndcg@10", "mrr"], items=items)
        other = GridSearchCV(model, grid, scoring=many, refit="mrr", cv=LeaveLastOut(2)).fit(X)
    ((train, test),) = LeaveLastOut(2).split(X)
    assert value == scorer(InteractionRecommender(Factors(4)).fit(X.iloc[train]), X.iloc[test])
    assert several["test_ndcg"] == [value]
    assert value in search.cv_results_["mean_test_score"]
    assert value in other.cv_results_["mean_test_ndcg@10"]
    assert search.score(X.iloc[test].assign(item_id=lambda rows: (rows["item_id"] + 1) % 40)) > 0, "of best_estimator_"


def get_all(metric, items):
    return make_recommender_scorer(metric, items=items)


def test_pipelines_classifiers_and_regressors():
    train, test, _ = data()
    test = test[test["user_id"] != "new"]
    scorer = make_recommender_scorer("auc", items=range(45))
    y = (train["item_id"] % 2).to_numpy()
    for model in (Ridge(), LogisticRegression()):
        inside = InteractionRecommender(one_hot(model)).fit(train, y)
        outside = make_pipeline(FunctionTransformer(), InteractionRecommender(one_hot(model))).fit(train, y)
        odd = test[test["item_id"] % 2 == 1]
        assert scorer(inside, odd) == scorer(outside, odd) > 0.7, "odd items are liked"
    weighted = InteractionRecommender(Ridge()).fit(train[["item_id", "item_id"]].set_axis(
        ["user_id", "item_id"], axis=1), y, sample_weight=np.ones(len(y)),
    )  # fmt: skip
    assert weighted.predict(train[["item_id", "item_id"]].set_axis(["user_id", "item_id"], axis=1)).shape == (len(y),)


def test_columns_of_times_are_not_passed_to_the_model():
    X = tastes(0, n_users=20, n_items=30)
    assert [*InteractionRecommender(Recorder()).fit(X).estimator_.columns_] == ["user_id", "item_id"]
    X = X[["time", "item_id", "user_id"]]
    fitted = InteractionRecommender(Recorder()).fit(X, np.ones((len(X), 1)))
    assert [*fitted.estimator_.columns_] == ["user_id", "item_id"]
    assert fitted.estimator_.y_.shape == (len(X),)
    assert sorted(fitted.users_) == [*range(20)]
    assert len(fitted.items_) == 30


class Recorder(Factors):
    def fit(self, X, y=None):
        self.columns_, self.y_ = X.columns, y
        return super().fit(X)


def test_clones_copies_and_pickles():
    train, test, y = data()
    model = InteractionRecommender(Factors(3), user="user_id")
    assert {"estimator__n_factors", "user", "item"} <= {*model.get_params()}
    assert not hasattr(clone(model.fit(train)), "estimator_")
    scorer = make_recommender_scorer(["ndcg@5", "mrr"], items=range(45), exclude=train)
    value = scorer(model, test, y)
    for change in (copy.deepcopy, lambda x: pickle.loads(pickle.dumps(x))):
        assert change(scorer)(change(model), test, y) == value
    assert scorer.names == ["ndcg@5", "mrr"]
    assert scorer.__name__ == "ndcg@5, mrr"


def test_names_of_recommender_scorers():
    one = make_recommender_scorer("ndcg@10", items=range(3), gain="linear", user="who")
    assert repr(one) == "make_recommender_scorer('ndcg@10', items=<3>, exclude='train', user='who', gain='linear')"
    two = make_recommender_scorer({"a": "mrr", "b": "neg_relevance_position"}, items={1, 2}, exclude={1: [2]})
    assert "exclude=..." in repr(two)
    model = InteractionRecommender(Fixed([[3, 2, 1]] * 3)).fit(ROWS)
    values = make_recommender_scorer("relevance_position", items=range(3))(model, frame([(0, 1), (1, 2)]))
    assert values < 0, "errors are negative"


# --- metrics of rows on a recommender ----------------------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*cannot tell good rankings")
def test_metrics_of_rows_name_the_scorer_over_all_items():
    X = tastes(0, n_users=20, n_items=30)
    ((train, test),) = LeaveLastOut(2).split(X)
    y = pd.Series(np.ones(len(X)), index=pd.Index(X["user_id"], name="qid"))
    wrapped = InteractionRecommender(Factors(3)).fit(X.iloc[train], y.iloc[train])
    ranker = QueryRanker(one_hot(Ridge())).fit(X.iloc[train], y.iloc[train])
    for model, got in ((wrapped, "Got 20 of 20 users"), (ranker, "Got 20 of 20 queries")):
        with pytest.raises(ValueError, match=f"Splits of interactions.*make_recommender_scorer.*{got}"):
            get_scorer("ndcg@10")(model, X.iloc[test], y.iloc[test])
    shuffled = np.random.default_rng(0).permutation(train)
    for rows in (train, shuffled):
        assert get_scorer("ndcg@10")(wrapped, X.iloc[rows], y.iloc[rows]) == 1, "the rows of fit"
    with pytest.raises(ValueError, match="Got 1 of 20 users"):
        get_scorer("ndcg@10")(wrapped, X.iloc[shuffled[1:]], y.iloc[shuffled[1:]])
    with pytest.raises(ValueError, match="make_recommender_scorer"):
        cross_validate(
            InteractionRecommender(Factors(3)), X, y, cv=LeaveLastOut(2), scoring=get_scorer("ndcg@10"),
            error_score="raise",
        )  # fmt: skip


def test_metrics_of_rows_on_new_users_and_on_some_items():
    X = frame([("a", 1), ("a", 2), ("b", 1)])
    fitted = InteractionRecommender(Factors(1)).fit(X)
    new = frame([("c", 1), ("c", 2)])
    score = get_scorer("mrr")
    y = pd.Series([1, 0], index=pd.Index(["c", "c"], name="qid"))
    with pytest.raises(ValueError, match="NaN"):
        score(fitted, new, y)  # no user is truncated
    for rows, qid in (([("a", 1)], ["a"]), ([("a", 1), ("a", 3)], ["a", "a"]), ([("b", 2), ("b", 1)], ["b", "b"])):
        with pytest.raises(ValueError, match=f"1 of 1 users with other rows than in fit, one of them '{qid[0]}'"):
            score(fitted, frame(rows), pd.Series(1, index=pd.Index(qid, name="qid")))


# --- wrong use -----------------------------------------------------------------------------------------------


@together("metric", NO_SENSE)
def test_metrics_that_scorers_reject(metric):
    with pytest.raises(ValueError, match="A recommender scorer ranks all items for each user.*such as 'ndcg@10'"):
        make_recommender_scorer(metric, items=range(3))


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (
            {"items": [1, 2, 2]},
            ValueError,
            r"each item once: use pd.unique.*Got 3 items, 2 of them different, and 2 sev",
        ),
        ({"items": []}, ValueError, "items must hold at least one item"),
        ({"items": [1, None]}, ValueError, "items must not contain missing values"),
        ({"items": [[1, 2], [3, 4]]}, ValueError, "items must be ids that can be hashed. Got "),
        ({"items": np.ones((2, 2))}, ValueError, r"one for each item. Got shape \(2, 2\)"),
        ({"items": "abc"}, TypeError, "items must be the ids of all items"),
        ({"items": {1: 2}}, TypeError, "items must be the ids of all items"),
        ({"exclude": "test"}, ValueError, "The 'exclude' parameter of make_recommender_scorer must be 'train', rows"),
        ({"exclude": [1, 2]}, ValueError, "^exclude of make_recommender_scorer needs the user of each row"),
        ({"exclude": {1: 2}}, TypeError, "exclude must have items for each user. Got 2 for user 1"),
        ({"metric": "ndcg", "k": 1}, TypeError, "The cutoff goes into the name of a metric"),
        ({"metric": "ndcg", "average": None}, ValueError, "a metric has one cutoff and a mean"),
        ({"metric": "ndgc"}, ValueError, "ndcg"),
        ({"gian": "linear"}, TypeError, "gian"),
    ],
    ids=repr,
)
def test_recommender_scorer_errors(arguments, error, message):
    with pytest.raises(error, match=message):
        make_recommender_scorer(**{"metric": "ndcg@10", "items": range(3)} | arguments)


@together(
    "X, y, error, message",
    [
        (
            ROWS.rename(columns={"user_id": "walrus"}),
            None,
            ValueError,
            "^make_recommender_scorer needs the user.*'walrus'",
        ),
        (ROWS[["user_id"]], None, ValueError, "make_recommender_scorer needs the item of each row"),
        (np.zeros((2, 1), int), None, ValueError, r"needs the item of each row.*column 1 of an array.*\(2, 1\)"),
        (
            frame([(0, 1), (1, 8)]),
            None,
            ValueError,
            "every item of the test rows.*Got 1 rows of other items, the first 8",
        ),
        (frame([(0, 1), (1, "1")]), None, ValueError, "Ids must be of one type.* Got 1 and '1'"),
        (frame([(0, 1), (None, 2)]), None, ValueError, "Each row of X needs a user"),
        (frame([(0, 1), (0, None)]), None, ValueError, "Each row of X needs an item"),
        (ROWS, None, ValueError, r"No test row is left: all of their pairs are excluded.*Got 2 rows of 2 users"),
        (frame([(0, 1)]), [np.nan], ValueError, "^y must say how relevant each row is.*Got nan in row 0"),
        (frame([(0, 1), (0, 2)]), [1, np.inf], ValueError, "^y must say how relevant each row is.*Got inf in row 1"),
        (frame([(0, 1)]), [1, 2], ValueError, "one entry per row"),
        (frame([(0, 1)]), ["x"], TypeError, "y must hold real numbers"),
        (frame([(0, 1)]), [-1], ValueError, "y of ndcg_score must not be below 0"),
        ("X", None, TypeError, "X must be"),
    ],
)
def test_invalid_test_rows(X, y, error, message):
    model = InteractionRecommender(Fixed(np.zeros((2, 4)))).fit(ROWS)
    with pytest.raises(error, match=message):
        make_recommender_scorer("ndcg@10", items=range(4))(model, X, y)


def test_exclude_seen_needs_a_model_with_interactions():
    scorer = make_recommender_scorer("mrr", items=range(4))
    model = Fixed(np.zeros((2, 4))).fit(ROWS)
    with pytest.raises(
        ValueError, match=r"exclude='train' needs the pairs.*InteractionRecommender\(model\).*Got Fixed"
    ):
        scorer(model, frame([(0, 1)]))
    with pytest.raises(TypeError, match="needs one of the methods"):
        make_recommender_scorer("mrr", items=range(4), exclude=None)(FunctionTransformer(), frame([(0, 1)]))


class Answers(Fixed):
    predict = None

    def recommend(self, users, k):
        return self.scores


del Answers.predict


@pytest.mark.parametrize(
    ("listed", "message"),
    [
        ([[1, 1]], "must return an item once for each user. Got 1 twice for user 0"),
        ([[1, 2, 1]], "must return an item once for each user. Got 1 twice for user 0"),
        (
            [[1, 9]],
            "must return items of make_recommender_scorer.* Got 9 for user 0, which is not among these 4: 0, 1, 2",
        ),
        (np.array([[1, 9]]), "Got 9 for user 0"),
        ([[1], [2]], "must return a list of items for each user"),
        (None, "must return a list of items for each user"),
    ],
    ids=repr,
)
def test_invalid_lists(listed, message):
    model = InteractionRecommender(Answers(listed)).fit(ROWS)
    with pytest.raises(ValueError, match=message):
        make_recommender_scorer("mrr@2", items=range(4))(model, frame([(0, 1)]))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (np.full((2, 4), np.inf), r"must not be \+inf. Got 4 of 4"),
        (np.zeros((2, 4, 2)), r"one score for each of 4 pairs"),
        (np.zeros((2, 4, 1, 1)), r"one score for each of 4 pairs.*Got shape \(4, 1, 1\)"),
    ],
    ids=["infinite", "two columns", "three dimensions"],
)
def test_invalid_predictions(scores, message):
    model = InteractionRecommender(Fixed(scores)).fit(ROWS)
    with pytest.raises(ValueError, match=message):
        make_recommender_scorer("mrr", items=range(4))(model, frame([(0, 1)]))


def test_invalid_fits():
    sparse = pytest.importorskip("scipy.sparse")
    with pytest.raises(TypeError, match=r"must be an estimator with 'fit' and 'predict'. Create one: Factors\("):
        InteractionRecommender(Factors).fit(ROWS)
    with pytest.raises(
        ValueError, match="InteractionRecommender needs the user of each row: the column 'user_id' of a"
    ):
        InteractionRecommender(Factors()).fit(ROWS.set_axis(["a", "b"], axis=1))
    with pytest.raises(ValueError, match="needs the user of each row: the column user='who' of a frame"):
        InteractionRecommender(Factors(), user="who").fit(ROWS)
    with pytest.raises(TypeError, match="must be a frame of pandas or polars, or an array. Got csr_array"):
        InteractionRecommender(Factors()).fit(sparse.csr_array(np.eye(2)))
    with pytest.raises(ValueError, match="one entry per row"):
        InteractionRecommender(Factors()).fit(ROWS, [1])
    with pytest.raises(sklearn.exceptions.NotFittedError):
        InteractionRecommender(Factors()).predict(ROWS)
    with pytest.raises(sklearn.exceptions.NotFittedError):
        InteractionRecommender(Lists()).recommend([0], 1)
    assert not hasattr(InteractionRecommender(Lists()), "predict")


# --- values of all lists, and lists to show ----------------------------------------------------------------------

OF_LISTS = ["coverage@5", "novelty@5", "long_tail@3", "entropy@5", "gini@5", "popularity@5"]


@pytest.mark.parametrize("model", [Factors(5, decimals=1), Lists(5, decimals=1)], ids=["pairs with ties", "lists"])
def test_values_of_lists_match_exposure(model):
    X = tastes(0, n_users=40, n_items=45, n_each=12)
    ((train, test),) = LeaveLastOut(n_test=3).split(X)
    scorer = make_recommender_scorer(["ndcg@2", *OF_LISTS], items=range(45))
    fitted = InteractionRecommender(model).fit(X.iloc[train])
    pairs = X.iloc[train][["user_id", "item_id"]]
    if isinstance(model, Lists):
        lists = fitted.recommend(range(40), 45)
        run = {user: [int(item) for item in listed] for user, listed in enumerate(lists)}
    else:
        run = {
            user: dict(
                zip(range(45), fitted.predict(frame([(user, item) for item in range(45)])).tolist(), strict=True)
            )
            for user in range(40)
        }
    values = scorer(fitted, X.iloc[test])
    for one in OF_LISTS:
        name, k = one.split("@")
        shown = exposure(run, items=range(45), k=int(k), train=pairs, exclude=pairs).to_dict()[name]
        sign = -1 if name in ("gini", "popularity") else 1
        assert values[("neg_" if sign < 0 else "") + one] == pytest.approx(sign * shown), one
    result = scorer.evaluate(fitted, X.iloc[test])
    assert f"coverage@5 {values['coverage@5']:.4f}, novelty@5" in str(result)
    assert "(lists of 40 users)." in str(result)
    folds = [(train, test[:60]), (train, test[60:])]
    report = RankingEvaluator(scorer, cv=folds).cross_validate(clone(model), X, None)
    assert report["test_neg_gini@5"].shape == (2,)
    assert "(lists of 20 + 20 users, mean of 2 folds)." in str(report.pooled)
    compared = str(RankingEvaluator(scorer, cv=folds[:1]).compare({"a": clone(model), "b": Factors(2)}, X, None))
    assert "b: coverage@5" in compared


def test_lists_of_small_blocks_have_the_same_values(monkeypatch):
    X = tastes(1, n_users=30, n_items=45, n_each=12)
    ((train, test),) = LeaveLastOut(n_test=3).split(X)
    fitted = InteractionRecommender(Factors(5, decimals=1)).fit(X.iloc[train])
    scorer = make_recommender_scorer({"a": "ndcg@5", "shown": "coverage@5"}, items=range(45))
    expected = scorer(fitted, X.iloc[test])
    monkeypatch.setattr("sklearn_rank.recommenders._recommender_scorer.PREDICTED_PAIRS", 100)
    assert scorer(fitted, X.iloc[test]) == pytest.approx(expected)
    assert [*expected] == ["a", "shown"]


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("coverage@10", "need a metric of users"),
        (["ndcg@10", "coverage"], "needs a cutoff"),
        (["ndcg@10", "neg_coverage@10"], "only if lower is better"),
    ],
)
def test_bad_values_of_lists(metrics, message):
    with pytest.raises(ValueError, match=message):
        make_recommender_scorer(metrics, items=range(5))


def test_values_from_training_need_training_rows():
    train = frame([(0, 0), (0, 2), (2, 1)])
    model = Fixed([[5, 4, 3, 2, 1]] * 3).fit(train)
    scorer = make_recommender_scorer(["mrr", "novelty@2"], items=range(5), exclude=None)
    with pytest.raises(ValueError, match="novelty@2 reads the pairs of users and items in training"):
        scorer(model, frame([(0, 3)]))


@pytest.mark.parametrize("container", [lambda X: X, lambda X: X.to_numpy()])
def test_recommendations_of_a_model_with_predict(container, monkeypatch):
    scores = [[5, 4, 3, 2, np.nan], [1, 1, 2, 2, 0], [0, 0, 0, 0, 1]]
    train = container(frame([(0, 0), (0, 2), (2, 1), (1, 3), (1, 4)]))
    model = InteractionRecommender(Fixed(scores)).fit(train)
    monkeypatch.setattr("sklearn_rank.recommenders._interactions.PREDICTED_PAIRS", 5)
    assert model.recommend([0, 1], 2, items=range(5)) == [[0, 1], [2, 3]]
    assert model.recommend([0, 1], 9, items=range(5), exclude="train") == [[1, 3], [2, 0, 1]]
    assert model.recommend([2, 0], 1, exclude={2: [4]}) == [[0], [0]]
    assert model.recommend([0], 9, items=[3, 4, 1]) == [[1, 3]]
    lists = InteractionRecommender(Lists(2)).fit(train)
    (listed,) = lists.recommend([0], 5)
    assert lists.recommend([0], 5, exclude="train") == [[one for one in listed if one not in (0, 2)]]
    assert lists.recommend([0], 1, items=[listed[3]]) == [[listed[3]]]
    for given, message in (({"k": 0}, "must be an int >= 1"), ({"k": 1, "exclude": "seen"}, "must be 'train'")):
        with pytest.raises(ValueError, match=message):
            model.recommend([0], **given)
