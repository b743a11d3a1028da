"""Searches at any depth get our objective and whole queries, or are rejected with a way out."""

import re

import numpy as np
import pytest
import sklearn
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import BaggingRegressor, ExtraTreesRegressor, StackingRegressor, VotingRegressor
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.feature_selection import RFECV, SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import LassoCV, LogisticRegressionCV, Ridge, RidgeCV
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    GroupShuffleSplit,
    HalvingGridSearchCV,
    HalvingRandomSearchCV,
    KFold,
    LeaveOneGroupOut,
    PredefinedSplit,
    RandomizedSearchCV,
    ShuffleSplit,
    StratifiedGroupKFold,
)
from sklearn.multioutput import MultiOutputRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeRegressor

from sklearn_rank import QueryKFold, QueryRanker, QueryShuffleSplit, RankingEvaluator, get_scorer, make_ranking_scorer

pytestmark = pytest.mark.slow

GRID = {"estimator__alpha": [0.1, 1e6]}
RANKER = QueryRanker(Ridge())
SEARCH = GridSearchCV(RANKER, GRID)
EVALUATOR = RankingEvaluator(["ndcg@5", "map"], cv=3)
WAY_OUT = r"GridSearchCV\(QueryRanker\(model\), grid, scoring=get_scorer\('ndcg@10'\), cv=QueryKFold\(\)\)"


def by_hand(cv=None, **options):
    scoring = options or {"scoring": make_ranking_scorer(["ndcg@5", "map"]), "refit": "ndcg@5"}
    return GridSearchCV(RANKER, GRID, cv=cv or QueryKFold(3), **scoring)


def scores_of(model, shuffled):
    X, y, qid = shuffled
    return EVALUATOR.compare({"model": model}, X, y, qid=qid).y_score["model"]


# --- our objective -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("routing", [True, False])
@pytest.mark.parametrize(
    ("model", "same"),
    [
        (SEARCH, by_hand()),
        (make_pipeline(StandardScaler(), SEARCH), make_pipeline(StandardScaler(), by_hand())),
        (
            make_pipeline(make_pipeline(StandardScaler(), SEARCH)),
            make_pipeline(make_pipeline(StandardScaler(), by_hand())),
        ),
        (GridSearchCV(SEARCH, {}), by_hand()),
        (GridSearchCV(RANKER, GRID, cv=4), by_hand(QueryKFold(4))),
        (GridSearchCV(RANKER, GRID, scoring=get_scorer("mrr")), by_hand(scoring=get_scorer("mrr"))),
        (GridSearchCV(RANKER, GRID, scoring={"a": get_scorer("mrr")}, refit="a"), by_hand(scoring=get_scorer("mrr"))),
    ],
    ids=["bare", "pipeline", "pipelines", "search of a search", "int", "scorer", "dict"],
)
def test_a_search_is_set_up_at_any_depth(shuffled, model, same, routing):
    with sklearn.config_context(enable_metadata_routing=True):
        expected = scores_of(same, shuffled)
    with sklearn.config_context(enable_metadata_routing=routing):
        np.testing.assert_allclose(scores_of(model, shuffled), expected)


def test_the_objective_decides(shuffled):
    """Selection by R^2 gives another candidate, so the test above can fail."""
    X, y, qid = shuffled
    evaluator = RankingEvaluator("ndcg@5", cv=3)
    grid = {"estimator__min_samples_leaf": [1, 3, 10, 100], "estimator__max_features": [1, 2, 3, 6]}
    search = GridSearchCV(QueryRanker(DecisionTreeRegressor(random_state=0)), grid)
    found = evaluator.search(search, X, y, qid=qid).best_params_
    assert found != search.set_params(scoring="r2").fit(X, y).best_params_


@pytest.mark.parametrize(
    "model",
    [
        TransformedTargetRegressor(SEARCH),
        VotingRegressor([("a", SEARCH), ("b", Ridge())]),
        BaggingRegressor(SEARCH),
        StackingRegressor([("a", Ridge())], final_estimator=SEARCH),
        MultiOutputRegressor(SEARCH),
        QueryRanker(SEARCH),
        QueryRanker(make_pipeline(StandardScaler(), SEARCH)),
        QueryRanker(by_hand()),
        make_pipeline(StandardScaler(), QueryRanker(SEARCH)),
        make_pipeline(SelectFromModel(SEARCH), Ridge()),
        make_pipeline(FeatureUnion([("a", SelectFromModel(SEARCH))]), Ridge()),
        GridSearchCV(make_pipeline(StandardScaler(), RANKER), {"queryranker__estimator": [Ridge(), SEARCH]}),
        GridSearchCV(TransformedTargetRegressor(SEARCH), {"regressor__cv": [3]}),
    ],
    ids=lambda model: type(model).__name__,
)
def test_a_search_that_cannot_be_set_up_is_rejected(shuffled, model):
    X, y, qid = shuffled
    models = {"a": NeverFitted(), "b": model}
    for call in (
        lambda: EVALUATOR.compare(models, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(model, X, y, qid=qid),
        lambda: EVALUATOR.search(GridSearchCV(model, {}), X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match=rf"A search inside \w+ tunes by its own row-wise objective.*{WAY_OUT}"):
            call()


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


NEVER = QueryRanker(NeverFitted())


@pytest.mark.parametrize("inner", [SEARCH, make_pipeline(StandardScaler(), SEARCH), TransformedTargetRegressor(SEARCH)])
def test_query_ranker_rejects_searches(ranking, inner):
    X, y, qid = ranking
    with pytest.raises(ValueError, match=rf"A search inside QueryRanker.*{WAY_OUT}"):
        QueryRanker(inner).fit(X, y, qid=qid)


def test_a_complete_search_with_qid_may_be_deeper(shuffled):
    X, y, qid = shuffled
    model = TransformedTargetRegressor(by_hand(), func=np.log1p, inverse_func=np.expm1)
    assert EVALUATOR.cross_validate(model, X, y, qid=qid)["test_map"].min() > 0


@pytest.mark.parametrize("selector", [RFECV, SequentialFeatureSelector])
def test_searches_of_features(shuffled, selector):
    X, y, qid = shuffled
    scoring = make_ranking_scorer("ndcg", k=5)
    plain = scores_of(make_pipeline(selector(Ridge()), Ridge()), shuffled)
    cv = QueryKFold(selector(Ridge()).cv or 3)
    same = make_pipeline(selector(Ridge(), scoring=scoring, cv=cv), QueryRanker(Ridge()))
    np.testing.assert_allclose(plain, scores_of(same, shuffled))
    with pytest.raises(ValueError, match="keep queries whole"):
        scores_of(make_pipeline(selector(Ridge(), cv=KFold(3)), Ridge()), shuffled)


@pytest.mark.parametrize("scoring", ["r2", ["r2"], {"a": "r2"}, sklearn.metrics.make_scorer(sklearn.metrics.r2_score)])
def test_an_objective_that_ignores_queries_warns(shuffled, scoring):
    X, y, qid = shuffled
    refit = {list: "r2", dict: "a"}.get(type(scoring), True)
    search = GridSearchCV(RANKER, GRID, scoring=scoring, refit=refit)
    with pytest.warns(UserWarning, match="tunes by scoring=.*ignores queries; leave scoring=None"):
        EVALUATOR.compare({"a": make_pipeline(StandardScaler(), search)}, X, y, qid=qid)
    with pytest.warns(UserWarning, match="ignores queries"):
        EVALUATOR.search(search, X, y, qid=qid)


def test_a_scoring_function_may_use_queries(with_index):
    def score(estimator, X, y):
        return get_scorer("map")(estimator, X, y)

    X, y = with_index
    assert EVALUATOR.search(GridSearchCV(RANKER, GRID, scoring=score), X, y).best_score_ > 0


@pytest.mark.parametrize("model", [RidgeCV(), LassoCV(), make_pipeline(StandardScaler(), LassoCV())])
def test_models_that_tune_themselves_warn(shuffled, model):
    X, y, qid = shuffled
    with pytest.warns(UserWarning, match="chooses its parameters by its own row-wise objective.*use a GridSearchCV of"):
        EVALUATOR.compare({"a": model}, X, y, qid=qid)


def test_other_parameters_named_cv_are_not_searches(shuffled):
    X, y, qid = shuffled
    model = StackingRegressor([("a", Ridge())], final_estimator=Ridge(), cv=3)
    assert EVALUATOR.compare({"a": model, "b": Ridge()}, X, y, qid=qid).failures == {}
    assert LogisticRegressionCV().cv is None  # it has the name that the warning looks for


@pytest.mark.parametrize("name", ["cv", "scoring", "ridge__cv"])
def test_a_search_does_not_try_splitters_or_scorers_of_another(shuffled, name):
    X, y, qid = shuffled
    inner = make_pipeline(StandardScaler(), SEARCH) if "__" in name else SEARCH
    name = name.replace("ridge", "gridsearchcv")
    with pytest.raises(ValueError, match=f"The parameter grid must not vary '{name}'"):
        EVALUATOR.search(GridSearchCV(inner, {name: [KFold(3)]}), X, y, qid=qid)


# --- whole queries -------------------------------------------------------------------------------------------

TEARING = [KFold(3), ShuffleSplit(2, random_state=0)]
TORN = r"A splitter must keep queries whole.*QueryKFold.*splits \d+ of \d+ queries"


@pytest.mark.parametrize("cv", TEARING, ids=lambda cv: type(cv).__name__)
@pytest.mark.parametrize(
    "wrap",
    [
        lambda search: search,
        lambda search: make_pipeline(StandardScaler(), search),
        lambda search: GridSearchCV(make_pipeline(StandardScaler(), search), {"standardscaler__with_mean": [True]}),
    ],
    ids=["bare", "pipeline", "nested"],
)
def test_inner_splitters_are_rejected(shuffled, cv, wrap):
    X, y, qid = shuffled
    model = wrap(GridSearchCV(NEVER, GRID, cv=cv))
    for call in (
        lambda: EVALUATOR.compare({"a": NeverFitted(), "b": model}, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(model, X, y, qid=qid),
        lambda: EVALUATOR.search(GridSearchCV(model, {}), X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match=TORN):
            call()


@pytest.mark.parametrize("kind", ["splitter", "list", "generator"])
def test_search_rejects_splitters_that_tear_queries(shuffled, kind):
    X, y, qid = shuffled
    given = {"splitter": KFold(3), "list": [*KFold(3).split(X)], "generator": KFold(3).split(X)}[kind]
    with pytest.raises(ValueError, match=TORN):
        EVALUATOR.search(GridSearchCV(NEVER, GRID, cv=given), X, y, qid=qid)


@pytest.mark.parametrize("kind", ["list", "generator", "predefined", "evaluator's"])
def test_search_accepts_splitters_that_keep_queries_whole(shuffled, kind):
    X, y, qid = shuffled
    folds = [*QueryKFold(3).split(X, groups=qid)]
    fold_of = np.empty(len(y), int)
    for i, (_, test) in enumerate(folds):
        fold_of[test] = i
    predefined, evaluator = PredefinedSplit(fold_of), EVALUATOR
    cv = {"list": folds, "generator": iter(folds), "predefined": predefined}.get(kind)
    if kind == "evaluator's":
        evaluator = RankingEvaluator(["ndcg@5", "map"], cv=predefined)
    found = evaluator.search(GridSearchCV(RANKER, GRID, cv=cv), X, y, qid=qid)
    expected = EVALUATOR.search(SEARCH, X, y, qid=qid)
    np.testing.assert_array_equal(found.cv_results_["mean_test_map"], expected.cv_results_["mean_test_map"])


@pytest.mark.parametrize("cv", [[(range(9), range(9, 12))], PredefinedSplit([0, 1] * 300)], ids=["list", "predefined"])
def test_row_numbers_of_all_data_are_rejected_inside(shuffled, cv):
    X, y, qid = shuffled
    with pytest.raises(ValueError, match="QueryKFold"):
        EVALUATOR.compare({"a": GridSearchCV(NEVER, GRID, cv=cv)}, X, y, qid=qid)


@pytest.mark.parametrize(
    "cv",
    [
        GroupKFold(3),
        GroupShuffleSplit(2, random_state=0),
        LeaveOneGroupOut(),
        StratifiedGroupKFold(2, shuffle=True, random_state=0),
        QueryShuffleSplit(2, random_state=0),
    ],
    ids=lambda cv: type(cv).__name__,
)
@pytest.mark.filterwarnings("ignore:The least populated class")
def test_splitters_of_groups_get_the_queries(shuffled, cv):
    X, y, qid = shuffled
    few = np.isin(qid, np.unique(qid)[:8])
    X, y, qid = X[few], y[few], qid[few]
    for model in (GridSearchCV(RANKER, GRID, cv=cv), make_pipeline(GridSearchCV(RANKER, GRID, cv=cv))):
        assert EVALUATOR.cross_validate(model, X, y, qid=qid)["test_map"].min() > 0
    assert EVALUATOR.search(GridSearchCV(RANKER, GRID, cv=cv), X, y, qid=qid).best_score_ > 0
    by_default = RankingEvaluator("map", cv=cv).cross_validate(SEARCH, X, y, qid=qid)
    assert by_default["test_map"].mean() > 0.5
    assert "qid" not in str(getattr(cv, "_metadata_request", ""))  # the given splitter is unchanged


def test_a_search_remembers_original_ids(ranking):
    """Internal numbers would also occur in another test set."""
    X, y, qid = ranking
    train = qid >= 20
    found = EVALUATOR.search(SEARCH, X[train], y[train], qid=qid[train])
    models = EVALUATOR.cross_validate(Ridge(), X[train], y[train], qid=qid[train], return_estimator=True)["estimator"]
    with sklearn.config_context(enable_metadata_routing=True):
        for model in (found, *models):
            assert get_scorer("map")(model, X[~train], y[~train], qid=qid[~train]) > 0
        with pytest.raises(ValueError, match="other rows than in fit"):
            get_scorer("map")(found, X[train][1:], y[train][1:], qid=qid[train][1:])


@pytest.mark.parametrize(
    "as_ids", [lambda q: [(i, "a") for i in q.tolist()], lambda q: [f"{i:03}" for i in q.tolist()]]
)
def test_ids_of_any_type_are_passed_on(ranking, as_ids):
    X, y, qid = ranking
    for n_jobs in (None, 2):
        evaluator = RankingEvaluator("map", cv=3, n_jobs=n_jobs)
        found = evaluator.search(SEARCH, X, y, qid=as_ids(qid))
        assert found.best_score_ == evaluator.search(SEARCH, X, y, qid=qid).best_score_


# --- names of parameters -------------------------------------------------------------------------------------

FOREST = ExtraTreesRegressor()
BARE = {
    "grid": (
        GridSearchCV(FOREST, [{"n_estimators": [3], "max_depth": [2]}, {"max_features": [1]}]),
        "GridSearchCV(QueryRanker(ExtraTreesRegressor(...)), {'estimator__n_estimators': ..., 'estimator__max_depth': "
        "..., 'estimator__max_features': ...})",
        QueryRanker(FOREST),
    ),
    "random": (
        RandomizedSearchCV(Pipeline([("scale", StandardScaler()), ("rank", FOREST)]), {"rank__max_depth": [2, 3]}),
        "RandomizedSearchCV(Pipeline([..., ('rank', QueryRanker(ExtraTreesRegressor(...)))]), "
        "{'rank__estimator__max_depth': ...})",
        Pipeline([("scale", StandardScaler()), ("rank", QueryRanker(FOREST))]),
    ),
    "pipelines": (
        GridSearchCV(Pipeline([("a", Pipeline([("b", Ridge())]))]), {"a__b__alpha": [1]}),
        "GridSearchCV(Pipeline([..., ('a', Pipeline([..., ('b', QueryRanker(Ridge(...)))]))]), "
        "{'a__b__estimator__alpha': ...})",
        Pipeline([("a", Pipeline([("b", QueryRanker(Ridge()))]))]),
    ),
    "halving": (
        HalvingRandomSearchCV(Pipeline([("rank", FOREST)]), {"rank__max_depth": [2, 3]}),
        "HalvingRandomSearchCV(Pipeline([..., ('rank', QueryRanker(ExtraTreesRegressor(...)))]), "
        "{'rank__estimator__max_depth': ...}, resource='rank__max_queries')",
        Pipeline([("rank", QueryRanker(FOREST))]),
    ),
}


@pytest.mark.parametrize(("search", "call", "in_ranker"), BARE.values(), ids=BARE)
def test_a_search_over_a_bare_model_is_rejected_with_the_right_call(shuffled, search, call, in_ranker):
    X, y, qid = shuffled
    for run in (
        lambda: EVALUATOR.search(search, X, y, qid=qid),
        lambda: EVALUATOR.compare({"a": NeverFitted(), "b": make_pipeline(search)}, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(search, X, y, qid=qid),
        lambda: EVALUATOR.search(GridSearchCV(search, {"verbose": [0]}), X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match=f"get_params.*: {re.escape(call)}. Got estimator="):
            run()
    named = {*re.findall(r"'(\w+)': \.\.\.", call), *re.findall(r"resource='(\w+)'", call)}
    assert named <= {*in_ranker.get_params()}


# --- halving -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("in_pipeline", [False, True])
@pytest.mark.parametrize("search", [HalvingGridSearchCV, HalvingRandomSearchCV])
def test_halving_by_queries(shuffled, search, in_pipeline):
    X, y, qid = shuffled
    model, prefix = (make_pipeline(StandardScaler(), RANKER), "queryranker__") if in_pipeline else (RANKER, "")
    grid, resource = {f"{prefix}estimator__alpha": [0.1, 1.0, 10.0, 1e3, 1e4, 1e6]}, f"{prefix}max_queries"
    halving = search(model, grid, resource=resource, random_state=0)
    found, again = (EVALUATOR.search(halving, X, y, qid=qid) for _ in range(2))
    assert found.n_resources_ == ([13, 39] if search is HalvingGridSearchCV else [6, 18])
    assert found.max_resources_ == 40
    assert found.cv_results_["mean_test_score"].tolist() == again.cv_results_["mean_test_score"].tolist()
    assert found.best_params_[resource] == found.n_resources_[-1]
    assert halving.max_resources == "auto"


def test_halving_by_other_resources(shuffled):
    lightgbm = pytest.importorskip("lightgbm")
    X, y, qid = shuffled
    ranker = QueryRanker(lightgbm.LGBMRanker(min_child_samples=2, verbose=-1))
    grid = {"estimator__num_leaves": [3, 5, 7]}
    search = HalvingGridSearchCV(ranker, grid, resource="estimator__n_estimators", max_resources=9)
    found = EVALUATOR.search(search, X, y, qid=qid)
    assert found.n_resources_ == [3, 9]
    with pytest.raises(ValueError, match="needs max_resources, an int, unless its resource is 'max_queries'"):
        EVALUATOR.search(search.set_params(max_resources="auto"), X, y, qid=qid)


@pytest.mark.parametrize(
    "model",
    [
        HalvingGridSearchCV(NEVER, GRID),
        HalvingRandomSearchCV(NEVER, GRID),
        make_pipeline(StandardScaler(), HalvingGridSearchCV(NEVER, GRID)),
        RandomizedSearchCV(HalvingGridSearchCV(NEVER, GRID), {"factor": [2]}, n_iter=1),
    ],
)
def test_halving_over_rows_is_rejected_at_any_depth(shuffled, model):
    X, y, qid = shuffled
    for call in (
        lambda: EVALUATOR.compare({"a": model}, X, y, qid=qid),
        lambda: EVALUATOR.cross_validate(model, X, y, qid=qid),
        lambda: EVALUATOR.search(GridSearchCV(model, {}), X, y, qid=qid),
    ):
        with pytest.raises(ValueError, match="'n_samples' splits queries: use resource='max_queries'. Got"):
            call()


def test_a_search_of_features_as_the_model(shuffled):
    cv, scoring = QueryKFold(RFECV(Ridge()).cv or 3), make_ranking_scorer("ndcg", k=5)
    same = scores_of(RFECV(QueryRanker(Ridge()), scoring=scoring, cv=cv), shuffled)
    np.testing.assert_allclose(scores_of(RFECV(Ridge()), shuffled), same)


class ByFirstColumn(KFold):
    """Keeps queries whole by a column of X with their numbers."""

    def split(self, X, y=None, groups=None):
        number = X[:, 0].astype(int)
        for fold in range(self.n_splits):
            yield np.flatnonzero(number % self.n_splits != fold), np.flatnonzero(number % self.n_splits == fold)


def test_a_splitter_without_qid_may_keep_queries_whole(shuffled):
    X, y, qid = shuffled
    X = np.column_stack([np.unique(qid, return_inverse=True)[1], X])
    selector = RFECV(Ridge(), cv=ByFirstColumn(3), scoring=make_ranking_scorer("ndcg", k=5))
    assert EVALUATOR.compare({"a": make_pipeline(selector, Ridge())}, X, y, qid=qid).failures == {}
