"""Models that fail and objects that are not models: our error names them, and the other models are compared."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.exceptions import FitFailedWarning
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import QueryRanker, RankingEvaluator, get_scorer, make_ranking_scorer

EVALUATOR = RankingEvaluator(["map", "ndcg@5"], cv=3)


class Predicts(BaseEstimator):
    """Changes the predictions of Ridge."""

    def __init__(self, change):
        self.change = change

    def fit(self, X, y):
        self.ridge_ = Ridge().fit(X, y)
        return self

    def predict(self, X):
        return self.change(self.ridge_.predict(X))


def with_first(value, dtype=float):
    def change(s):
        s = s.astype(dtype)
        s[0] = value
        return s

    return change


WRONG = {
    "inf": (with_first(np.inf), r"must not be \+inf. Got 1 of"),
    "nan": (with_first(np.nan), r"must not be NaN. Got 1 of"),
    "nan object": (with_first(np.nan, object), r"must not be NaN. Got 1 of"),
    "two columns": (lambda s: np.column_stack([s, s]), r"one score for each of the \d+ rows. Got shape \(\d+, 2\)"),
    "a row": (lambda s: s[None], r"one score for each of the \d+ rows. Got shape \(1, \d+\)"),
    "three dimensions": (lambda s: s[:, None, None], r"one score for each of the \d+ rows. Got shape"),
    "too few": (lambda s: s[1:], r"one score for each of the \d+ rows. Got shape \(\d+,\)"),
    "too many": (lambda s: np.append(s, 0), r"one score for each of the \d+ rows. Got shape \(\d+,\)"),
    "none": (lambda s: None, "Got None instead"),
    "one number": (lambda s: 1.0, r"one score for each of the \d+ rows. Got 1.0 instead"),
    "complex": (lambda s: s + 1j, r"must be a real number. Got .*j"),
    "texts": (lambda s: s.astype(str), r"must be a real number. Got '"),
    "one text": (with_first("a", object), r"must be a real number. Got 'a'"),
    "a date": (lambda s: s.astype("datetime64[s]"), r"must be a real number. Got datetime"),
}


@pytest.mark.parametrize(("change", "message"), WRONG.values(), ids=WRONG)
def test_invalid_prediction_fails_only_its_model(shuffled, change, message):
    X, y, qid = shuffled
    models = {"a": Ridge(), "b": ByItself(change), "wrapped": Predicts(change)}
    with pytest.warns(FitFailedWarning, match="(b|wrapped) failed and is left out"):
        report = EVALUATOR.compare(models, X, y, qid=qid)
    assert [*report.results] == ["a"]
    assert [*report.failures["b"]] == [0, 1, 2]
    for failure in report.failures["b"].values():
        assert re.search(message, failure)
    with pytest.raises(ValueError, match=message):
        EVALUATOR.cross_validate(ByItself(change), X, y, qid=qid)


class ByItself(Predicts):
    """Takes qid, so it is not wrapped."""

    __metadata_request__fit = {"qid": True}

    def fit(self, X, y, qid):
        return super().fit(X, y)


@pytest.mark.parametrize(
    "change",
    [lambda s: s[:, None], lambda s: s.tolist(), lambda s: s.astype(object), lambda s: s.astype(np.float32)],
    ids=["a column", "a list", "objects", "float32"],
)
def test_other_shapes_with_one_score_per_row(shuffled, change):
    X, y, qid = shuffled
    report = EVALUATOR.compare({"a": Ridge(), "b": ByItself(change)}, X, y, qid=qid)
    assert report.results["a"].mean() == pytest.approx(report.results["b"].mean(), abs=1e-6)
    found = EVALUATOR.cross_validate(ByItself(change), X, y, qid=qid, return_train_score=True)
    assert np.isfinite(found["train_map"]).all()


def test_minus_infinity_is_unretrieved(shuffled):
    X, y, qid = shuffled
    assert EVALUATOR.compare({"a": ByItself(with_first(-np.inf))}, X, y, qid=qid).failures == {}


def test_large_integers_are_not_ties(shuffled):
    """2^60 and its neighbors are equal as floats; numbers below 2^53 stay different."""
    X, y, qid = shuffled
    models = {"large": ByItself(lambda s: 2**60 + np.arange(len(s))), "small": ByItself(lambda s: np.arange(len(s)))}
    with pytest.warns(FitFailedWarning, match="large failed.*predictions must hold numbers that are still different"):
        report = EVALUATOR.compare(models, X, y, qid=qid)
    assert [*report.failures] == ["large"]
    assert len(np.unique(report.y_score["small"])) > 70


@pytest.mark.parametrize("n_jobs", [None, pytest.param(2, marks=pytest.mark.slow)])
def test_all_models_fail(shuffled, n_jobs):
    X, y, qid = shuffled
    models = {"a": Predicts(np.full_like) if n_jobs else ByItself(with_first(np.inf)), "b": Fails()}
    with pytest.raises(ValueError, match=r"All models failed.* a: (Type|Value)Error: .*; b: RuntimeError: no idea"):
        RankingEvaluator("map", cv=3, n_jobs=n_jobs).compare(models, X, y, qid=qid)


class Fails(Ridge):
    def fit(self, X, y):
        raise RuntimeError("no idea")


def test_a_search_without_a_score(shuffled):
    X, y, qid = shuffled
    for scoring in (None, get_scorer("map"), make_ranking_scorer(["map"])):
        search = GridSearchCV(
            QueryRanker(ByItself(None)), {"estimator__change": [with_first(np.inf)] * 2}, scoring=scoring
        )
        search.set_params(refit="map" if scoring == make_ranking_scorer(["map"]) else True)
        with (
            pytest.warns(UserWarning, match="non-finite|Scoring failed") as warned,
            pytest.raises(
                ValueError, match="No candidate of the search could be scored. The warnings give the reasons"
            ),
        ):
            EVALUATOR.search(search, X, y, qid=qid)
        reasons = [str(one.message) for one in warned if "Scoring failed" in str(one.message)]
        assert len(reasons) == 6
        assert all("y_score must not contain NaN" in reason for reason in reasons)
    with pytest.warns(FitFailedWarning), pytest.warns(UserWarning, match="non-finite"):  # of a single candidate
        found = EVALUATOR.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [-1, 1]}), X, y, qid=qid)
    assert found.best_params_ == {"estimator__alpha": 1}


SETTINGS = {}, {"scoring": make_ranking_scorer(["p@1", "map"]), "refit": "map"}, {"resource": "max_queries"}


@pytest.mark.filterwarnings("ignore:.*non-finite")
@pytest.mark.parametrize("error_score", [np.nan, -1.0])
@pytest.mark.parametrize("settings", SETTINGS, ids=["all metrics", "own scorers", "halving"])
def test_a_search_with_one_failing_candidate(shuffled, settings, error_score):
    """As in scikit-learn for a single metric, and for candidates whose fit fails."""
    X, y, qid = shuffled
    grid = {"estimator__change": [with_first(np.inf), np.negative]}
    kind = HalvingGridSearchCV if "resource" in settings else GridSearchCV
    with pytest.warns(
        UserWarning, match=r"Scoring failed(; .* are (nan|-1.0): |(?s:.*))y_score must not contain NaN or \+inf"
    ):
        search = EVALUATOR.search(
            kind(QueryRanker(Predicts(None)), grid, error_score=error_score, **settings), X, y, qid=qid
        )
    assert search.best_params_["estimator__change"] is np.negative
    scores = search.cv_results_["mean_test_score" if "resource" in settings else "mean_test_map"][:2]
    np.testing.assert_equal(scores[0], error_score)
    assert 0 < scores[1] < 1
    with pytest.raises(ValueError, match="qid"):  # the error score applies only to candidates
        search.score(X, y)
    with pytest.raises(ValueError, match="y_score must not contain NaN"):
        EVALUATOR.search(kind(QueryRanker(Predicts(None)), grid, error_score="raise", **settings), X, y, qid=qid)


# --- not an estimator --------------------------------------------------------------------------------------------


class NeverFitted(Ridge):
    def fit(self, X, y):
        raise AssertionError("fitted")


class NoParameters:
    def fit(self, X, y):
        return self

    def predict(self, X):
        return X[:, 0]


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (Ridge, r"Create one: Ridge\(\). Got <class"),
        (QueryRanker, "Create one: QueryRanker"),
        (np.zeros(1000), r"Got array\(\[0"),
        ({"alpha": 0.5}, "Got {.alpha.: 0.5}"),
        ("ridge", "Got 'ridge'"),
        (None, "Got None"),
        (Ridge().predict, "Got <bound method"),
        (StandardScaler(), r"Got StandardScaler\(\)"),
        (NoParameters(), "Got <"),
        (make_pipeline(StandardScaler()), "Got Pipeline"),
    ],
)
def test_compare_rejects_objects_that_are_not_estimators(shuffled, model, message):
    X, y, qid = shuffled
    rule = rf"must be an estimator with 'fit' and 'predict'.*{message}"
    with pytest.raises(TypeError, match=f"Model 'b' {rule}") as error:
        EVALUATOR.compare({"a": NeverFitted(), "b": model}, X, y, qid=qid)
    assert len(str(error.value)) < 200
    for call in (
        lambda: EVALUATOR.cross_validate(model, X, y, qid=qid),
        lambda: EVALUATOR.search(GridSearchCV(model, {}), X, y, qid=qid),
        lambda: QueryRanker(model).fit(X, y, qid=qid),
        lambda: EVALUATOR.compare({"a": QueryRanker(model)}, X, y, qid=qid),
    ):
        with pytest.raises(TypeError, match=rule):
            call()


def test_a_class_inside_a_pipeline(shuffled):
    X, y, qid = shuffled
    with pytest.raises(TypeError, match=r"The last step of model 'B' must be an estimator.*Ridge\(\)"):
        EVALUATOR.compare({"a": NeverFitted(), "B": make_pipeline(StandardScaler(), Ridge)}, X, y, qid=qid)


def test_a_search_without_a_model(shuffled):
    X, y, qid = shuffled
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}, refit=False)
    with pytest.raises(TypeError, match="Model 'b' must be an estimator with 'fit' and 'predict'"):
        EVALUATOR.compare({"a": DummyRegressor(), "b": search}, X, y, qid=qid)
