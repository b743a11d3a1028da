"""The name of a metric carries the sign of its value: "neg_rmse" is negative, in scorers; "rmse" positive, in results.

No object has a key whose sign depends on the entry point.
"""

import re
from collections.abc import Mapping
from functools import cache

import numpy as np
import pandas as pd
import pytest
from bad_input import RETURNED, arguments_of, called, doors
from sklearn.base import BaseEstimator
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.preprocessing import StandardScaler

from sklearn_rank import (
    InteractionRecommender,
    QueryKFold,
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    get_scorer,
    make_ranking_scorer,
    make_recommender_scorer,
    metric,
    prepare,
    query_permutation_importance,
)
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Evaluation
from sklearn_rank.retrieval import evaluate_retrieval, make_retrieval_scorer

X, LABEL, QID = make_ranking(n_queries=20, random_state=0)
Y = pd.Series(LABEL, index=pd.Index(QID, name="qid"))
CLASS = LABEL > np.median(LABEL)
METRICS = {"a list": ["ndcg@5", "rmse"], "own names": {"order": "ndcg@5", "error": "rmse"}}
OF_USERS = {"a list": ["mrr", "relevance_position"], "own names": {"order": "mrr", "error": "relevance_position"}}
FOLDS = {"cv": QueryKFold(2)}
GRID = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1.0, 10.0]})


class Popular(BaseEstimator):
    def fit(self, X, y=None):
        self.items_, count = np.unique(np.asarray(X)[:, 1], return_counts=True)
        self.items_ = self.items_[np.argsort(-count, kind="stable")]
        return self

    def recommend(self, users, k):
        return [self.items_[:k]] * len(users)


PAIRS = np.random.default_rng(0).integers(0, [8, 12], (160, 2))
PAIRS = PAIRS[np.sort(np.unique(PAIRS, axis=0, return_index=True)[1])]
LAST = np.arange(len(PAIRS)) % 3 == 0
SPLITS = [(np.flatnonzero(~LAST), np.flatnonzero(LAST))]


# --- keys and their signs, of every result ----------------------------------------------------------------------


def mappings_in(found, depth=3):
    """Dictionaries of an object: itself, its public attributes, and results of its methods without arguments."""
    if isinstance(found, Mapping):
        yield found
        values = [*found.values()]
    elif isinstance(found, (list, tuple)):
        values = [*found]
    elif type(found).__module__.startswith("sklearn_rank"):
        values = [attribute(found, name) for name in dir(found) if not name.startswith("_")]
    else:
        return
    means = [getattr(found, name)() for name in ("mean", "mean_over_folds", "mean_over_queries", "to_dict")
             if type(found).__module__.startswith("sklearn_rank") and hasattr(found, name)]  # fmt: skip
    for value in [*values, *means]:
        if depth and not callable(value):
            yield from mappings_in(value, depth - 1)


def attribute(found, name):
    """None if the data for the call were not kept."""
    try:
        return getattr(found, name)
    except ValueError:
        return None


def signs_in(found):
    """Sign of the numbers under each key of an error, without scikit-learn's prefixes."""
    signs = {}
    for mapping in mappings_in(found):
        for key, value in mapping.items():
            # Ranks and standard deviations have no sign.
            if not isinstance(key, str) or key.startswith(("std_", "rank_")):
                continue
            name = re.sub(r"^(?:mean_|split\d_)?(?:test_|train_)?", "", key)
            numbers = np.asarray(value) if np.shape(value) else np.array([value])
            if numbers.dtype.kind == "f" and re.fullmatch("(?:neg_)*(?:rmse|error|relevance_position)", name):
                signs.setdefault(name, set()).update(np.sign(numbers[~np.isnan(numbers)]).ravel().tolist())
    return signs


@cache
def reports(kind):
    evaluator, told = RankingEvaluator(METRICS[kind], **FOLDS), {"cross_validate": [], "compare": []}
    cross_validated = evaluator.cross_validate(
        Ridge(), X, LABEL, qid=QID, on_fold=told["cross_validate"].append, return_train_score=True
    )
    models = {"flat": DummyRegressor(), "ridge": Ridge()}
    return cross_validated, evaluator.compare(models, X, LABEL, qid=QID, on_fold=told["compare"].append), told


@cache
def of_users(kind):
    scorer, told = make_recommender_scorer(OF_USERS[kind], items=np.arange(12)), []
    evaluator = RankingEvaluator(scorer, cv=SPLITS)
    found = evaluator.cross_validate(Popular(), PAIRS, None, on_fold=told.append)
    return found, evaluator.compare({"popular": Popular()}, PAIRS, None), told, scorer


def accumulated(metrics):
    accumulator = RankingAccumulator(metrics)
    accumulator.update(LABEL, X[:, 0], QID)
    return accumulator.compute()


def model():
    return Ridge().fit(X, LABEL)


RESULTS = {
    "evaluate": lambda kind: evaluate(LABEL, X[:, 0], qid=QID, metrics=METRICS[kind]),
    "prepare": lambda kind: prepare(LABEL, qid=QID, metrics=METRICS[kind]).evaluate(X[:, 0]),
    "accumulator": lambda kind: accumulated(METRICS[kind]),
    "systems": lambda kind: compare_systems(LABEL, {"a": X[:, 0], "b": X[:, 1]}, qid=QID, metrics=METRICS[kind]),
    "retrieval": lambda kind: evaluate_retrieval(
        X[:60], query_labels=CLASS[:60], metrics=OF_USERS[kind], distance="euclidean"
    ),
    "pooled": lambda kind: reports(kind)[0].pooled,
    "mean over folds": lambda kind: reports(kind)[0].mean_over_folds(),
    "mean over queries": lambda kind: reports(kind)[0].mean_over_queries(),
    "compare": lambda kind: reports(kind)[1],
    "on_fold of cross_validate": lambda kind: [one.scores for one in reports(kind)[2]["cross_validate"]],
    "on_fold of compare": lambda kind: [one.scores for one in reports(kind)[2]["compare"]],
    "pooled users": lambda kind: of_users(kind)[0].pooled,
    "mean of users over folds": lambda kind: of_users(kind)[0].mean_over_folds(),
    "compare of users": lambda kind: of_users(kind)[1],
    "on_fold of users": lambda kind: [one.scores for one in of_users(kind)[2]],
    "users": lambda kind: of_users(kind)[3].evaluate(InteractionRecommender(Popular()).fit(PAIRS[~LAST]), PAIRS[LAST]),
}
SCORERS = {
    "scorer": lambda kind: make_ranking_scorer(METRICS[kind])(model(), X, Y),
    "evaluator's scorer": lambda kind: RankingEvaluator(METRICS[kind]).scorers(model(), X, Y),
    "scikit-learn's cross_validate": lambda kind: cross_validate(
        Ridge(), X, Y, scoring=make_ranking_scorer(METRICS[kind]), return_train_score=True, **FOLDS
    ),
    "cross_validate": lambda kind: dict(reports(kind)[0]),
    "search": lambda kind: RankingEvaluator(METRICS[kind], **FOLDS).search(GRID, X, LABEL, qid=QID).cv_results_,
    "retrieval scorer": lambda kind: make_retrieval_scorer(OF_USERS[kind], distance="euclidean")(
        StandardScaler().fit(X[:60]), X[:60], CLASS[:60]
    ),
    "users": lambda kind: of_users(kind)[3](InteractionRecommender(Popular()).fit(PAIRS[~LAST]), PAIRS[LAST]),
    "cross_validate of users": lambda kind: dict(of_users(kind)[0]),
    "scikit-learn's cross_validate of users": lambda kind: cross_validate(
        InteractionRecommender(Popular()), PAIRS, scoring=of_users(kind)[3], cv=SPLITS
    ),
}


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("door", RESULTS)
def test_keys_of_results_have_no_sign_and_are_positive(door, kind):
    (name,) = signs_in(RESULTS[door](kind)).items()
    assert name in [("rmse", {1.0}), ("error", {1.0}), ("relevance_position", {1.0})]


@pytest.mark.parametrize("kind", METRICS)
@pytest.mark.parametrize("door", SCORERS)
def test_keys_of_scorers_have_the_sign_and_are_negative(door, kind):
    (name,) = signs_in(SCORERS[door](kind)).items()
    assert name in [("neg_rmse", {-1.0}), ("neg_error", {-1.0}), ("neg_relevance_position", {-1.0})]


@pytest.mark.parametrize("kind", METRICS)
def test_scorers_and_results_agree_up_to_the_sign(kind):
    cross_validated, report, told = reports(kind)
    result = evaluate(LABEL, model().predict(X), qid=QID, metrics=METRICS[kind]).mean()
    for name, value in make_ranking_scorer(METRICS[kind])(model(), X, Y).items():
        error = name.removeprefix("neg_")
        assert value == (result[error] if error == name else -result[error])
        by_fold = cross_validated[f"test_{name}"] * (1 if error == name else -1)
        assert cross_validated.mean_over_folds()[error] == by_fold.mean()
        assert by_fold.tolist() == report.fold_means["ridge"][error].tolist()
        assert by_fold.tolist() == [one.scores[error] for one in told["cross_validate"]]


def test_values_without_a_name():
    """A scorer's value is negative, and a result's positive."""
    halves = {"eval_fraction": 0.5, "eval_metric": "rmse", "random_state": 0}
    told = []
    ranker = QueryRanker(GradientBoostingRegressor(n_estimators=3, random_state=0), **halves)
    ranker.fit(X, LABEL, qid=QID, on_round=lambda iteration, value: told.append(value))
    assert ranker.eval_curve_.tolist() == told
    assert ranker.best_value_ == min(told) > 0
    assert not hasattr(ranker, "best_score_")
    assert ranker.score(X, LABEL, qid=QID) == get_scorer("rmse")(ranker, X, Y) < 0
    importance = query_permutation_importance(model(), X, LABEL, qid=QID, metric=["rmse"], random_state=0)
    assert importance["neg_rmse"].importances_mean.max() > 0, "what the scorer loses"


# --- spellings at doors -----------------------------------------------------------------------------------------

TAKES_BOTH = (
    "get_scorer", "make_ranking_scorer", "make_recommender_scorer", "retrieval.make_retrieval_scorer",
    "query_permutation_importance",
)  # fmt: skip
"""Doors where a scorer is named."""
NAMED = [
    (where, argument)
    for where, door in doors().items()
    for argument in arguments_of(door)
    if (argument in ("metric", "metrics") or (where, argument) == ("get_scorer", "name"))
    and where not in RETURNED
    and not re.fullmatch(r"display\.\w+Display", where)
]
IN_RESULTS = re.compile(r"stats\.compare|results\.(Comparison|Evaluation|Gate)|.*\.from_(result|comp)")
LOOKED_UP = [(where, argument) for where, argument in NAMED if argument == "metric" and IN_RESULTS.match(where)]
"""Doors that look a metric up in a result."""
GIVES_RESULTS = [case for case in NAMED if case not in LOOKED_UP and case[0] not in TAKES_BOTH]


def test_each_door_takes_one_kind_of_key():
    assert {where for where, _ in NAMED} >= {*TAKES_BOTH, "evaluate", "RankingEvaluator", "boosting.lightgbm_metric"}
    assert {where for where, _ in LOOKED_UP} >= {"stats.compare_all", "results.Evaluation.mean"}


@pytest.mark.parametrize(("door", "argument"), GIVES_RESULTS)
def test_results_reject_the_sign(door, argument, tmp_path):
    with pytest.raises(ValueError, match="'neg_' begins names of scorers.* positive errors: write 'rmse'"):
        # On Spark this happens before the data are read, so no session is needed.
        doors()[door](None, metrics="neg_rmse") if "spark" in door else called(door, argument, "neg_rmse", tmp_path)


def test_results_reject_the_sign_in_own_names():
    for evaluated in (lambda m: evaluate(LABEL, X[:, 0], qid=QID, metrics=m), RankingEvaluator):
        with pytest.raises(ValueError, match="In a result errors are positive.* write 'error'. Got 'neg_error'"):
            evaluated({"neg_error": "rmse"})


def test_given_values_need_no_sign():
    """Negative values of other programs keep their name if higher is declared better."""
    given = {"neg_rmse": [-1.0, -2.0]}
    for said in (None, {"neg_rmse": False}):
        with pytest.raises(ValueError, match="write 'rmse'. Got 'neg_rmse'"):
            Evaluation.from_values(["a", "b"], given, greater_is_better=said)
    assert Evaluation.from_values(["a", "b"], given, greater_is_better={"neg_rmse": True})["neg_rmse"] == -1.5


@pytest.mark.parametrize(("door", "argument"), LOOKED_UP)
def test_look_up_in_the_other_spelling(door, argument, tmp_path):
    """These results hold nDCG or MAP; a picture of cutoffs looks up a name without its cutoff."""
    said = [message_of(door, argument, key, tmp_path) for key in ("neg_map", "neg_ndcg")]
    if "CutoffDisplay" in door:
        assert all("Did you mean" in text for text in said)
    else:
        assert any(re.search("'(map|ndcg)' is there: errors are negative in scorers", text) for text in said)


def message_of(door, argument, value, folder):
    with pytest.raises(ValueError, match="Got") as raised:
        called(door, argument, value, folder)
    return str(raised.value)


LOOKS = {
    "a result": (lambda: RESULTS["evaluate"]("a list"), "neg_rmse", "rmse"),
    "means": (lambda: RESULTS["evaluate"]("a list").mean(), "neg_rmse", "rmse"),
    "values": (lambda: RESULTS["evaluate"]("a list").per_query, "neg_rmse", "rmse"),
    "intervals": (lambda: RESULTS["evaluate"]("a list").confidence_interval(), "neg_rmse", "rmse"),
    "a scorer's": (lambda: SCORERS["scorer"]("a list"), "rmse", "neg_rmse"),
    "own names": (lambda: SCORERS["scorer"]("own names"), "error", "neg_error"),
    "cross-validation": (lambda: reports("a list")[0], "test_rmse", "test_neg_rmse"),
    "training sets": (lambda: reports("a list")[0], "train_rmse", "train_neg_rmse"),
    "folds": (lambda: RESULTS["mean over folds"]("a list"), "neg_rmse", "rmse"),
    "queries": (lambda: RESULTS["mean over queries"]("a list"), "neg_rmse", "rmse"),
    "on_fold": (lambda: RESULTS["on_fold of cross_validate"]("a list")[0], "neg_rmse", "rmse"),
    "fold means": (lambda: RESULTS["compare"]("a list").fold_means["ridge"], "neg_rmse", "rmse"),
}


@pytest.mark.parametrize("case", LOOKS)
def test_keys_in_the_other_spelling(case):
    found, other, there = LOOKS[case]
    with pytest.raises((KeyError, ValueError), match=f"Got '{other}'.*'{there}' is there: errors are negative in"):
        found()[other]
    assert found()[there] is not None
    with pytest.raises((KeyError, ValueError), match="nothing"):
        found()["nothing"]


@pytest.mark.parametrize("kind", METRICS)
def test_refit_by_the_other_spelling(kind):
    """The evaluator fails before any fit; scikit-learn's search fails after the first."""
    name = {"a list": "rmse", "own names": "error"}[kind]
    evaluator = RankingEvaluator(METRICS[kind], **FOLDS)
    by_result, by_scorer = (GridSearchCV(QueryRanker(Ridge()), GRID.param_grid, refit=r) for r in (name, f"neg_{name}"))
    for call in (
        lambda: evaluator.search(by_result, X, LABEL, qid=QID),
        lambda: evaluator.compare({"tuned": by_result}, X, LABEL, qid=QID),
    ):
        with pytest.raises(ValueError, match=f"names: '?.*Got '{name}'. 'neg_{name}' is there"):
            call()
    found = evaluator.search(by_scorer, X, LABEL, qid=QID)
    assert found.best_score_ == found.cv_results_[f"mean_test_neg_{name}"].max() < 0
    assert RankingEvaluator("rmse", **FOLDS).search(GRID, X, LABEL, qid=QID).refit == "neg_rmse"
    scorer = make_recommender_scorer(["relevance_position"], items=np.arange(12))
    search = GridSearchCV(InteractionRecommender(Popular()), {}, refit="relevance_position")
    with pytest.raises(ValueError, match="'neg_relevance_position' is there"):
        RankingEvaluator(scorer, cv=SPLITS).search(search, PAIRS, None)


def test_own_metrics_have_no_sign_in_their_name():
    with pytest.raises(ValueError, match="must not start with 'neg_'"):
        metric("neg_mine")
