"""Scores of a model follow one rule in scorers, `QueryRanker`, the evaluator, pictures and curves."""

import pickle
import warnings

import numpy as np
import pytest
import sklearn
from misuse_cases import Given
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import HistGradientBoostingClassifier, VotingClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, Ridge, RidgeClassifier, SGDClassifier
from sklearn.model_selection import cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingEvaluator,
    evaluate,
    get_scorer,
    make_ranking_scorer,
    query_permutation_importance,
)
from sklearn_rank.display import DistributionDisplay

plt = pytest.importorskip("matplotlib.pyplot")

NO_PROBABILITIES = [
    LinearSVC(random_state=0),
    SVC(),
    RidgeClassifier(),
    SGDClassifier(random_state=0),
    Perceptron(),
    make_pipeline(StandardScaler(), LinearSVC(random_state=0)),
]
PROBABILITIES = [
    LogisticRegression(),
    HistGradientBoostingClassifier(max_iter=5),
    make_pipeline(StandardScaler(), LogisticRegression()),
    CalibratedClassifierCV(LinearSVC(random_state=0), ensemble=False),
]


def values_at_every_door(model, X, y, qid):
    """NDCG@10 of one fitted model, by each entry point."""
    ranker = QueryRanker(model).fit(X, y, qid=qid)  # a clone, fitted on the same rows
    with sklearn.config_context(enable_metadata_routing=True):
        yield evaluate(y, ranker.predict(X), qid=qid, metrics="ndcg@10").mean()["ndcg@10"]
        yield get_scorer("ndcg@10")(ranker, X, y, qid=qid)
        yield pickle.loads(pickle.dumps(get_scorer("ndcg@10")))(model, X, y, qid=qid)
        yield make_ranking_scorer(["ndcg@10"])(model, X, y, qid=qid)["ndcg@10"]
        everything = [(np.arange(len(y)),) * 2] * 2  # a dict of scorers shares the predictions
        scoring = {"a": get_scorer("ndcg@10"), "b": get_scorer("map")}
        found = cross_validate(model, X, y, scoring=scoring, cv=everything, params={"qid": qid}, error_score="raise")
        yield found["test_a"][0]
    display = DistributionDisplay.from_estimator(model, X, y, qid=qid, metric="ndcg@10")
    yield display.values.mean()
    plt.close(display.figure_)


def expected(y, y_score, qid):
    return evaluate(y, y_score, qid=qid, metrics="ndcg@10").mean()["ndcg@10"]


@pytest.mark.parametrize("model", NO_PROBABILITIES, ids=repr)
@pytest.mark.parametrize("grades", [(0, 1), (0, 3), (False, True), (-1.0, 2.0)], ids=str)
def test_two_grades_without_probabilities(model, grades, ranking):
    X, y, qid = ranking
    y = np.array(grades)[(y > 1).astype(int)]
    y_true = np.maximum(y, 0)  # negative labels have no gain
    model = sklearn.clone(model).fit(X, y)
    value = expected(y_true, model.decision_function(X), qid)
    assert value > expected(y_true, model.predict(X), qid)
    if grades[0] == 0:
        assert [*values_at_every_door(model, X, y, qid)] == pytest.approx([value] * 6, abs=1e-15)
    np.testing.assert_array_equal(QueryRanker(model).fit(X, y).predict(X), model.decision_function(X))


@pytest.mark.parametrize("model", PROBABILITIES, ids=repr)
@pytest.mark.parametrize("n_grades", [2, 5])
def test_probabilities_give_the_expected_grade(model, n_grades, ranking):
    X, y, qid = ranking
    y = 2 * np.minimum(y, n_grades - 1)
    model = sklearn.clone(model).fit(X, y)
    grade = model.predict_proba(X) @ model.classes_
    assert [*values_at_every_door(model, X, y, qid)] == pytest.approx([expected(y, grade, qid)] * 6, abs=1e-15)
    np.testing.assert_allclose(QueryRanker(model).fit(X, y).predict(X), grade, rtol=1e-15)
    error = make_ranking_scorer(["mse"])(model, X, y, qid=qid)["neg_mse"]  # this metric reads the values
    assert error == pytest.approx(-evaluate(y, grade, qid=qid, metrics="mse").mean()["mse"])


@pytest.mark.parametrize("model", [*NO_PROBABILITIES, VotingClassifier([("a", LogisticRegression())])], ids=repr)
def test_many_grades_without_probabilities(model, ranking):
    X, y, qid = ranking
    model = sklearn.clone(model).fit(X, y)
    with pytest.warns(
        UserWarning, match="without probabilities and without a single decision .* wrap it in CalibratedClassifierCV"
    ):
        found = [*values_at_every_door(model, X, y, qid)]
    assert found == pytest.approx([expected(y, model.predict(X), qid)] * 6, abs=1e-15)
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a warning would have no use here
        assert make_ranking_scorer(["ndcg@10"], response_method="predict")(model, X, y, qid=qid)["ndcg@10"] == found[0]


def test_decision_function_in_evaluator_and_importance(ranking):
    X, y, qid = ranking
    y, model = (y > 1).astype(int), LinearSVC(random_state=0)
    folds = [*QueryKFold(3).split(X, groups=qid)]
    decisions = np.empty(len(y))
    for train, test in folds:
        decisions[test] = model.fit(X[train], y[train]).decision_function(X[test])
    report = RankingEvaluator("ndcg@10", cv=3).compare({"a": model, "b": make_pipeline(model)}, X, y, qid=qid)
    for name in "ab":
        np.testing.assert_array_equal(report.y_score[name], decisions)
    fitted = model.fit(X, y)
    by_model, by_scores = (
        query_permutation_importance(m, X, y, qid=qid, random_state=0).importances
        for m in (fitted, QueryRanker(LinearSVC(random_state=0)).fit(X, y))
    )
    np.testing.assert_array_equal(by_model, by_scores)


@pytest.mark.parametrize("model", [LinearSVC(random_state=0), LogisticRegression()], ids=repr)
def test_classes_that_are_not_numbers(model):
    """As text, "10" sorts before "9", and scikit-learn takes the last class as positive."""
    X, y = [[0.0], [1.0], [2.0], [3.0]], ["10", "9", "10", "9"]
    for y_true in (y, np.array(y, dtype=object)):
        with pytest.raises(TypeError, match=r"so classes must be numbers, .*encode the labels before fit. Got classes"):
            QueryRanker(model).fit(X, y_true).predict(X)
    with pytest.raises(TypeError, match="so classes must be numbers"):
        make_ranking_scorer(["map"])(model.fit(X, y), X, [0, 1, 0, 1], qid=[1, 1, 2, 2])


class Reversed(ClassifierMixin, BaseEstimator):
    """Lists its classes in descending order, so a positive decision means the lower class."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)[::-1]
        return self

    def decision_function(self, X):
        return -np.ravel(X)


def test_positive_is_the_second_class():
    X, y = [[1.0], [2.0], [3.0]], [0, 0, 1]
    assert QueryRanker(Reversed()).fit(X, y).predict(X).tolist() == [1, 2, 3]


def test_training_data_with_a_single_grade():
    X, y, qid = [[0.0], [1.0], [2.0]], [2, 2, 2], ["a", "a", "a"]
    ranker = QueryRanker(DummyClassifier())
    assert ranker.fit(X, y, qid=qid).predict(X).tolist() == [2, 2, 2]
    with sklearn.config_context(enable_metadata_routing=True):
        assert get_scorer("p@1")(ranker.estimator_, X, y, qid=qid) == 1


def test_requested_methods(ranking):
    X, y, qid = ranking
    model = LogisticRegression().fit(X, y > 1)
    by = {m: make_ranking_scorer("rmse", response_method=m) for m in ("predict_proba", "decision_function", "predict")}
    with sklearn.config_context(enable_metadata_routing=True):
        found = {name: scorer(model, X, y > 1, qid=qid) for name, scorer in by.items()}
    assert len({*found.values()}) == 3
    with pytest.raises(TypeError, match="needs one of the methods predict_proba. Got Ridge"):
        make_ranking_scorer(["map"], response_method="predict_proba")(Ridge().fit(X, y), X, y, qid=qid)


def test_only_decisions_of_many_grades(ranking):
    X, y, qid = ranking
    scorer = make_ranking_scorer(["ndcg@10"], response_method="decision_function")
    with pytest.raises(ValueError, match=r"must be one score per row .*; for class probabilities wrap"):
        scorer(LinearSVC(random_state=0).fit(X, y), X, y, qid=qid)


@pytest.mark.parametrize("lowest", [0.0, -0.25, 3.0, -1e20, -1.7e308])
def test_minus_infinity_is_below_all_others(lowest):
    """A scorer ranks such a document last; metrics that compare predictions with labels refuse it."""
    scores, y, qid = (
        [-np.inf, lowest, 5.0, lowest, -np.inf, 4.0, -np.inf, -np.inf],
        [2, 1, 0, 0, 1, 2, 1, 0],
        [*"aaabbbcc"],
    )
    for dtype in (np.float64, *([] if lowest < -1e300 else [np.float32])):
        X = np.array(scores, dtype=dtype)[:, None]
        found = make_ranking_scorer(["map", "ndcg"])(Given().fit(X, y), X, y, qid=qid)
        assert found == evaluate(y, [0, 1, 3, 1, 0, 2, 0, 0], qid=qid, metrics=["map", "ndcg"]).mean()
        with pytest.raises(ValueError, match="-inf"):
            make_ranking_scorer(["map", "rmse"])(Given().fit(X, y), X, y, qid=qid)


def test_one_of_several_methods_is_unknown():
    with pytest.raises(ValueError, match=r"must be one or more of .* Got \['predict', 'guess'\] instead"):
        make_ranking_scorer("map", response_method=["predict", "guess"])
