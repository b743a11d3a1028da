"""`RankingEvaluator` with scorers over all items: folds of interactions, comparisons, searches, and errors."""

import numpy as np
import pytest
from recommenders import Factors, Lists, tastes
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV, KFold
from sklearn.pipeline import make_pipeline

from sklearn_rank import (
    GlobalTimeSplit,
    InteractionRecommender,
    LeaveLastOut,
    QueryKFold,
    QueryRanker,
    RankingEvaluator,
    make_recommender_scorer,
)
from sklearn_rank.exceptions import RankingWarning

pd = pytest.importorskip("pandas")

X = tastes(0, n_users=80, n_items=40, n_each=12)
SCORER = make_recommender_scorer(["ndcg@10", "recall@10"], items=np.arange(40))
ONE = make_recommender_scorer("ndcg@10", items=np.arange(40))
CV = LeaveLastOut(3)
RECOMMENDER = InteractionRecommender(Factors())


def by_hand(scorer, model, cv=CV):
    ((train, test),) = cv.split(X)
    return scorer.evaluate(InteractionRecommender(model).fit(X.iloc[train]), X.iloc[test])


@pytest.mark.parametrize("cv", [1, 0])
def test_the_number_of_folds_of_a_search_comes_from_the_evaluator(cv):
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1.0]}, cv=cv)
    with pytest.raises(ValueError, match=f"'cv' parameter of GridSearchCV must be an int >= 2 or .* Got {cv} instead"):
        RankingEvaluator("map").search(search, np.ones((4, 1)), [0, 1, 0, 1], qid=[1, 1, 2, 2])


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_models_are_compared_on_all_items(n_jobs):
    models = {"one": Factors(1), "eight": InteractionRecommender(Factors(8)), "lists": Lists(8)}
    told = []
    report = RankingEvaluator(SCORER, cv=CV, n_jobs=n_jobs).compare(models, X, None, on_fold=told.append)
    for name, model in (("one", Factors(1)), ("eight", Factors(8)), ("lists", Lists(8))):
        expected = by_hand(SCORER, model)
        result = report.results[name]
        assert result.qid.tolist() == expected.qid.tolist()
        for metric, values in expected.per_query.items():
            assert result.per_query[metric].tolist() == values.tolist()
        assert report.fold_means[name]["ndcg@10"].tolist() == [result.mean()["ndcg@10"]]
    assert [fold.model for fold in told] == [*models]
    assert told[0].scores == report.results["one"].mean()
    assert report.n_queries == [(80, 80)]
    assert report.y_score == {}
    assert report.significance("ndcg@10")["eight", "one"].pvalue < 0.01
    assert report.summary().to_frame().set_index(["model", "metric"])["mean"]["lists", "recall@10"] > 0
    by = {user: user % 2 for user in range(80)}
    assert len(report.segments(by).table.rows) == 4


def test_scores_of_folds():
    evaluator = RankingEvaluator(SCORER, cv=CV)
    scores = evaluator.cross_validate(Factors(8), X, None, return_estimator=True, return_indices=True)
    expected = by_hand(SCORER, Factors(8)).mean()
    assert {name: values.tolist() for name, values in scores.items() if name.startswith("test_")} == {
        f"test_{name}": [value] for name, value in expected.items()
    }
    assert scores.mean_over_queries() == expected
    assert isinstance(scores["estimator"][0], InteractionRecommender)
    ((_, test),) = CV.split(X)
    assert scores["indices"]["test"][0].tolist() == test.tolist()
    assert [[*map(len, split)] for split in evaluator.split(X, None)] == [[720, 240]]
    assert evaluator.scorers is SCORER
    assert repr(evaluator).startswith("RankingEvaluator(make_recommender_scorer(['ndcg@10', 'recall@10'], items=<40>")
    negative = RankingEvaluator(make_recommender_scorer("relevance_position", items=range(40)), cv=CV)
    assert negative.cross_validate(Factors(8), X, None)["test_neg_relevance_position"][0] < 0
    assert negative.compare({"a": Factors(8)}, X, None).results["a"].mean()["relevance_position"] > 0


def test_explicit_times():
    rows, time = X[["user_id", "item_id"]], X["time"].to_numpy()
    expected = by_hand(ONE, Factors(4)).mean()["ndcg@10"]
    evaluator = RankingEvaluator(ONE, cv=CV)
    assert evaluator.compare({"a": Factors(4)}, rows, None, time=time).results["a"].mean() == {"ndcg@10": expected}
    grid = GridSearchCV(RECOMMENDER, {"estimator__n_factors": [4]})
    assert evaluator.search(grid, rows, None, time=time).best_score_ == expected
    inside = evaluator.compare({"search": grid}, rows, None, time=time)
    assert inside.results["search"].mean() == {"ndcg@10": expected}
    with pytest.raises(TypeError, match="The splitter does not use time=. Use QueryTimeSeriesSplit or Global"):
        RankingEvaluator(ONE, cv=KFold(2)).compare({"a": Factors(4)}, rows, None, time=time)


def test_other_column_names_and_explicit_users():
    renamed = X.rename(columns={"user_id": "who", "item_id": "what"})
    scorer = make_recommender_scorer("ndcg@10", items=np.arange(40), user="who", item="what")
    for cv in (LeaveLastOut(3, user="who"), CV):
        report = RankingEvaluator(scorer, cv=cv).compare({"a": Factors(4)}, renamed, None)
        assert report.results["a"].mean() == by_hand(ONE, Factors(4)).mean()


def test_users_in_several_folds_count_once():
    """The mean of a user's values over the folds with a value."""
    cv, folds = KFold(3, shuffle=True, random_state=0), []
    for train, test in cv.split(X):
        folds.append(SCORER.evaluate(InteractionRecommender(Factors(4)).fit(X.iloc[train]), X.iloc[test]))
    evaluator = RankingEvaluator(SCORER, cv=cv)
    scores = evaluator.cross_validate(Factors(4), X, None)
    assert scores["test_ndcg@10"].tolist() == [fold.mean()["ndcg@10"] for fold in folds]
    pooled = scores.pooled
    for user, value in zip(pooled.qid, pooled.per_query["ndcg@10"], strict=True):
        values = [f.per_query["ndcg@10"][f.qid == user] for f in folds]
        assert value == pytest.approx(np.mean(np.concatenate(values)))
    by_user = pd.concat([pd.Series(f.label_fingerprints, index=f.qid) for f in folds]).groupby(level=0).sum()
    assert pooled.label_fingerprints.tolist() == by_user[pooled.qid].astype(np.uint32).tolist()
    report = evaluator.compare({"a": Factors(4), "b": Factors(1)}, X, None)
    assert report.results["a"].mean() == pooled.mean()
    assert report.significance("ndcg@10")["b", "a"].pvalue < 0.5
    undefined = make_recommender_scorer("ndcg@10", items=np.arange(40), min_relevance=2, gain="binary")
    with pytest.warns(RankingWarning, match="ndcg@10 is 0 for every query: nothing was measured"):
        nothing = RankingEvaluator(undefined, cv=cv).compare({"a": Factors(4)}, X, None).results["a"]
    assert nothing.mean() == {"ndcg@10": 0}
    left_out = make_recommender_scorer("p@5", items=np.arange(40), average="micro", replace_undefined_by=np.nan)
    pooled = RankingEvaluator(left_out, cv=cv).compare({"a": Factors(4)}, X, None).results["a"]
    assert pooled.average == {"p@5": "micro"}


def test_recommender_searches():
    ((train, test),) = CV.split(X)
    grid = {"estimator__n_factors": [1, 2, 8]}
    expected = [by_hand(ONE, Factors(k)).mean()["ndcg@10"] for k in (1, 2, 8)]
    search = RankingEvaluator(ONE, cv=CV).search(GridSearchCV(RECOMMENDER, grid), X, None)
    assert search.cv_results_["mean_test_score"].tolist() == expected
    assert search.best_params_ == {"estimator__n_factors": 8}
    assert isinstance(search.cv, LeaveLastOut)
    assert search.fit(X).best_score_ == max(expected), "it can be fitted again"
    scorer = make_recommender_scorer("relevance_position", items=range(40))
    other = RankingEvaluator(ONE, cv=CV).search(GridSearchCV(RECOMMENDER, grid, scoring=scorer), X, None)
    assert (other.cv_results_["mean_test_score"] < 0).all()
    many = RankingEvaluator(SCORER, cv=CV, n_jobs=2).search(GridSearchCV(RECOMMENDER, grid), X, None)
    assert many.cv_results_["mean_test_ndcg@10"].tolist() == expected
    assert many.best_params_ == {"estimator__n_factors": 8}
    own = GridSearchCV(RECOMMENDER, {"estimator__n_factors": [2]}, cv=GlobalTimeSplit(0.25))
    assert (
        RankingEvaluator(ONE, cv=CV).search(own, X, None).best_score_
        == by_hand(ONE, Factors(2), GlobalTimeSplit(0.25)).mean()["ndcg@10"]
    )


def test_a_search_among_the_models_tunes_inside_the_training_rows():
    cv = [next(GlobalTimeSplit(0.25).split(X))]
    search = GridSearchCV(RECOMMENDER, {"estimator__n_factors": [1, 8]})
    with pytest.raises(ValueError, match="A nested search needs a splitter.*LeaveLastOut"):
        RankingEvaluator(ONE, cv=cv).compare({"search": search}, X, None)
    report = RankingEvaluator(ONE, cv=CV).compare({"search": search, "eight": Factors(8)}, X, None)
    assert report.results["search"].mean() == report.results["eight"].mean()
    own = search.set_params(cv=GlobalTimeSplit(0.25), scoring=ONE)
    report = RankingEvaluator(SCORER, cv=cv).compare({"search": own}, X, None)
    assert 0 < report.results["search"].mean()["recall@10"] < 1


def test_a_model_that_fails_is_left_out():
    class Fails(Factors):
        def fit(self, X, y=None):
            raise RuntimeError("no memory")

    with pytest.warns(FitFailedWarning, match="b failed and is left out.*no memory"):
        report = RankingEvaluator(ONE, cv=CV).compare({"a": Factors(2), "b": Fails()}, X, None)
    assert report.failures == {"b": {0: "RuntimeError: no memory"}}
    assert np.isnan(report.fold_means["b"]["ndcg@10"]).all()
    with pytest.raises(RuntimeError, match="no memory"):
        RankingEvaluator(ONE, cv=CV).cross_validate(Fails(), X, None)


@pytest.mark.filterwarnings("ignore:One or more of the test scores are non-finite")
def test_a_search_with_failing_scores_has_its_error_score():
    class Odd(Factors):
        def predict(self, X):
            if self.n_factors == 3:
                raise RuntimeError("of three")
            return super().predict(X)

    grid = GridSearchCV(InteractionRecommender(Odd()), {"estimator__n_factors": [2, 3]})
    with pytest.warns(UserWarning, match="of three"):
        search = RankingEvaluator(SCORER, cv=CV).search(grid, X, None)
    assert search.best_params_ == {"estimator__n_factors": 2}


def test_ratings_reach_the_model_and_the_metric():
    rating = 1 + (X["item_id"] % 3).to_numpy()
    graded = make_recommender_scorer("ndcg(gain=linear)@10", items=np.arange(40))
    ((train, test),) = CV.split(X)
    expected = graded(InteractionRecommender(Factors(4)).fit(X.iloc[train]), X.iloc[test], rating[test])
    report = RankingEvaluator(graded, cv=CV).compare({"a": Factors(4)}, X, rating)
    assert [*report.results["a"].mean().values()] == [expected]
    assert expected != graded(InteractionRecommender(Factors(4)).fit(X.iloc[train]), X.iloc[test])


# --- errors ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cv", [LeaveLastOut(), GlobalTimeSplit()], ids=repr)
def test_metrics_of_rows_are_rejected_with_splits_of_interactions(cv):
    y, evaluator = np.ones(len(X)), RankingEvaluator("ndcg@10", cv=cv)
    message = rf"{type(cv).__name__} splits the interactions.*RankingEvaluator\(make_recommender_scorer\('ndcg@10'"
    calls = {
        "split": lambda: evaluator.split(X, y, qid=X["user_id"]),
        "compare": lambda: evaluator.compare({"a": Ridge()}, X, y, qid=X["user_id"]),
        "cross_validate": lambda: evaluator.cross_validate(Ridge(), X, y, qid=X["user_id"]),
        "search": lambda: evaluator.search(GridSearchCV(Ridge(), {"alpha": [1]}), X, y, qid=X["user_id"]),
        "its own": lambda: RankingEvaluator("ndcg@10").search(
            GridSearchCV(Ridge(), {"alpha": [1]}, cv=cv), X, y, qid=X["user_id"]
        ),
    }
    for call in calls.values():
        with pytest.raises(ValueError, match=message):
            call()


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: RankingEvaluator(ONE), ValueError, r"cv=LeaveLastOut\(\) or.*Got cv=5, which keeps users whole"),
        (
            lambda: RankingEvaluator(ONE, cv=CV, ties="best"),
            TypeError,
            "pass keywords of metrics to make_recommender_scorer.*Got ties",
        ),
        (
            lambda: RankingEvaluator([ONE], cv=CV),
            TypeError,
            "takes one recommender scorer, which may have several metrics",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).compare({"a": Factors()}, X, None, qid=X["user_id"]),
            TypeError,
            "qid= does not apply to a recommender scorer: its users are a column of X",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).compare({"a": Factors()}, X, None, by=X["user_id"]),
            TypeError,
            r"by= does not apply to a recommender scorer.*segments\(by=\{user: value\}\)",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).cross_validate(Factors(), X, None, return_train_score=True),
            ValueError,
            "cannot score the training set",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).compare({"a": Factors()}, X.rename(columns={"user_id": "u"}), None),
            ValueError,
            "make_recommender_scorer needs the user of each row",
        ),
        (lambda: RankingEvaluator(ONE, cv=CV).compare({"a": Factors}, X, None), TypeError, r"Model 'a'.*Factors\(\)"),
        (
            lambda: RankingEvaluator(ONE, cv=KFold(3)).compare({"a": Factors()}, X, np.ones(3)),
            ValueError,
            "one entry per row each. Got 960 in X, 3 in y",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).search(GridSearchCV(RECOMMENDER, {}, cv=3), X, None),
            ValueError,
            "Got cv=3, which keeps users whole",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).search(HalvingGridSearchCV(RECOMMENDER, {}), X, None),
            ValueError,
            "'n_samples' drops interactions",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).compare(
                {"a": make_pipeline(GridSearchCV(RECOMMENDER, {"estimator__n_factors": [1]}))}, X, None
            ),
            ValueError,
            "A search inside Pipeline tunes by its own objective",
        ),
        (
            lambda: RankingEvaluator(ONE, cv=CV).search(GridSearchCV(Factors(), {"n_factors": [1]}), X, None),
            ValueError,
            r"InteractionRecommender\(Factors\(...\)\), \{'estimator__n_factors': ...\}\). Got estimator=Factors\(",
        ),
    ],
)
def test_recommender_evaluator_errors(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_whole_users_are_undefined_with_a_splitter_of_queries():
    told = [
        pytest.warns(RankingWarning, match=text) for text in ("nothing was measured", "No test user is in training")
    ]
    with told[0], told[1]:
        report = RankingEvaluator(ONE, cv=QueryKFold(2)).compare({"a": Factors(2)}, X, None)
    assert report.results["a"].n_undefined == {"ndcg@10": 80}
    ranks_for_all = RankingEvaluator(ONE, cv=QueryKFold(2)).compare({"a": DummyRegressor()}, X, np.ones(len(X)))
    assert ranks_for_all.results["a"].n_undefined == {"ndcg@10": 0}
