"""Labels, scores and hits that do not mean what a caller thinks: for each sign a wrong input, and legitimate ones."""

from types import SimpleNamespace

import numpy as np
import pytest
from misuse_cases import seen
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import (
    QueryRanker,
    RankingAccumulator,
    RankingEvaluator,
    compare_systems,
    evaluate,
    evaluate_run,
    evaluate_table,
    prepare,
)
from sklearn_rank.datasets import make_ranking
from sklearn_rank.io import join
from sklearn_rank.metrics import map_score, ndcg_score
from sklearn_rank.recommenders import make_recommender_scorer
from sklearn_rank.retrieval import evaluate_retrieval, score_neighbors

NO_ORDER, WORSE, IDS = "no order matters", "worse than chance", "ids as labels and scores"
ITSELF, PROPENSITIES = "queries in the database", "labels without propensities"


def judged(low, high, n=20, n_queries=50, seed=0):
    """Judgments of grades from `low` to `high`, and a run of scores that do not depend on them."""
    rng = np.random.default_rng(seed)
    grades = {f"q{q}": {f"d{d}": int(rng.integers(low, high + 1)) for d in range(n)} for q in range(n_queries)}
    return grades, {q: {d: float(rng.random()) for d in of} for q, of in grades.items()}


def cut(run, k):
    """The best `k` documents of each query."""
    return {q: dict(sorted(of.items(), key=lambda pair: -pair[1])[:k]) for q, of in run.items()}


def with_unjudged(run, n=1):
    """The run with documents that nobody judged, which come last."""
    return {q: of | {f"x{i}": -1.0 - i for i in range(n)} for q, of in run.items()}


def positives(grades):
    """Judgments that name relevant documents only."""
    return {q: {d: g for d, g in of.items() if g > 0} for q, of in grades.items()}


def of_run(grades, run, metrics=("mrr", "p@10")):
    return seen(evaluate_run, grades, run, metrics=[*metrics])


def of_systems(grades, run, metrics=("mrr", "p@10")):
    other = {q: dict(zip(of, [*of.values()][::-1], strict=True)) for q, of in run.items()}
    return seen(compare_systems, grades, {"a": run, "b": other}, metrics=[*metrics])


def of_join(grades, run, metrics=("mrr", "p@10")):
    data = join(grades, run)
    return seen(evaluate, data.y_true, data.y_score, qid=data.qid, metrics=[*metrics], unjudged="nonrelevant")


@pytest.mark.parametrize("call", [of_run, of_systems, of_join])
@pytest.mark.parametrize("form", [dict, lambda run: cut(run, 10), with_unjudged])
def test_judged_documents_that_are_all_relevant(call, form):
    """A model and noise have the same MRR, also if lists are cut, or hold a document without a judgment."""
    grades, run = judged(1, 4)
    assert call(grades, form(run)) == ([NO_ORDER], "")
    assert call(grades, form(run), ["ndcg@10"]) == ([], "")
    for low, high in ((0, 4), (0, 1)):
        grades, run = judged(low, high)
        assert call(grades, form(run)) == ([], "")
        assert call(positives(grades), form(run)) == ([], "")
    assert call(positives(grades), with_unjudged(run, 5)) == ([], "")


def test_lists_of_one_relevant_document():
    """A perfect run of one document a query."""
    right = {f"q{q}": {f"d{q}": 1} for q in range(30)}
    graded = {q: {**dict.fromkeys(of, 2), "b": 1, "c": 1} for q, of in right.items()}
    for grades in (right, graded):
        assert [call(grades, right) for call in (of_run, of_systems, of_join)] == [([], "")] * 3


def test_counts_prices_and_mean_ratings():
    """The lowest label is rare."""
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(40), 10)
    score = rng.random(400)
    for label in (rng.integers(1, 500, 400), rng.integers(1, 500, 400) / 4 + 1, 1 + 4 * rng.random(400)):
        assert seen(evaluate, label, score, qid=qid, metrics=["map", "mrr"]) == ([NO_ORDER], "")
        assert seen(evaluate, label, score, qid=qid, metrics="ndcg(gain=linear)") == ([], "")
        assert seen(evaluate, label, score, qid=qid, metrics="map", min_relevance=np.median(label)) == ([], "")
        assert seen(evaluate, label * (score > 0.3), score, qid=qid, metrics="map") == ([], "")


def test_a_search_of_a_metric_that_no_order_changes():
    X, y, qid = make_ranking(n_queries=60, random_state=0)
    plays = np.round(np.exp(y + np.random.default_rng(1).normal(0, 0.5, len(y))) * 20) + 1
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1e12, 1.0]})
    for metrics, label, expected in (
        ("map", plays, ([], NO_ORDER)),
        ("map", y, ([], "")),
        ("map(min_relevance=100)", plays, ([], "")),
        ("ndcg(gain=linear)", plays, ([], "")),
    ):
        assert seen(RankingEvaluator(metrics, cv=3).search, search, X, label, qid=qid) == expected
    both = RankingEvaluator(["map", "ndcg(gain=linear)"], cv=3).cross_validate
    assert seen(both, QueryRanker(Ridge()), X, plays, qid=qid) == ([NO_ORDER], "")


def lists_of_ids(n_lists=100, k=10, n_items=3952, seed=0):
    rng = np.random.default_rng(seed)
    return tuple(np.array([rng.permutation(n_items)[:k] + 1 for _ in range(n_lists)]) for _ in "ab")


@pytest.mark.parametrize("ids", [lists_of_ids(), ([[1, 2, 3], [4, 5, 6]], [[2, 9, 1], [4, 6, 8]])])
def test_ids_of_items_as_labels(ids):
    actual, predicted = map(np.array, ids)
    qid = np.repeat(np.arange(len(actual)), actual.shape[1])
    table = {"qid": qid, "label": actual.ravel(), "score": predicted.ravel()}
    wrong = {
        "function": lambda a, p: map_score(a, p),
        "evaluate": lambda a, p: evaluate(a, p, metrics=["map", "mrr"]),
        "rows": lambda a, p: evaluate(a.ravel(), p.ravel(), qid=qid, metrics="mrr"),
        "table": lambda a, p: evaluate_table(table | {"label": a.ravel(), "score": p.ravel()}, metrics="map"),
        "systems": lambda a, p: compare_systems(a, {"a": p, "b": p[:, ::-1]}, metrics="map"),
        "accumulator": lambda a, p: RankingAccumulator("map").update(a, p).compute(),
        "prepare": lambda a, p: prepare(a, metrics="map")(p),
    }
    for name, call in wrong.items():
        assert IDS in seen(call, actual, predicted)[0], name
        assert IDS not in seen(call, actual % 3, predicted)[0]
        assert IDS not in seen(call, actual, predicted + 0.5)[0]
        assert IDS not in seen(call, actual, np.argsort(predicted))[0]
    assert seen(ndcg_score, [[3, 2, 1], [1, 2, 3]], [[9, 2, 1], [10, 20, 5]], gain="exp2") == ([], "")


def test_distances_where_only_relevant_documents_are_judged():
    rng = np.random.default_rng(0)
    near = {f"q{q}": {f"d{i}": float(i + rng.random()) for i in rng.permutation(9)} for q in range(200)}
    best = {q: {"d0": 1} for q in near}
    negated = {q: {d: -s for d, s in of.items()} for q, of in near.items()}
    noise = {q: {d: float(rng.random()) for d in of} for q, of in near.items()}
    for call in (of_run, of_systems, of_join):
        assert call(best, near, ["mrr"]) == ([WORSE], "")
        for run in (negated, noise, cut(noise, 3)):
            assert call(best, run, ["mrr"]) == ([], "")
    label, score = np.tile([1.0] + [np.nan] * 8, 200), np.tile(np.arange(9.0), 200) + rng.random(1800)
    rows = {"qid": np.repeat(np.arange(200), 9), "metrics": "ndcg"}
    assert seen(evaluate, label, score, **rows, unjudged="nonrelevant") == ([WORSE], "")
    assert seen(evaluate, label, score, **rows, unjudged="drop") == ([], "")


class Items(BaseEstimator):
    """A recommender that scores items by their distance from a user, times `sign`."""

    def __init__(self, sign=1):
        self.sign = sign

    def fit(self, X, y=None):
        return self

    def predict(self, X):
        X = np.asarray(X)
        return self.sign * np.abs(X[:, 0] % 30 - X[:, 1]).astype(float)


@pytest.mark.parametrize(("sign", "told"), [(1, [WORSE]), (-1, []), (0, [])])
def test_a_recommender_that_scores_by_distance(sign, told):
    users = np.arange(60)
    X = np.column_stack([users, users % 30])
    scorer = make_recommender_scorer("ndcg@10", items=np.arange(30), exclude=None)
    assert seen(scorer, Items(sign), X) == (told, "")


@pytest.mark.parametrize("name", [
    "rerank_score", "relevance_score", "@search.score", "@search.rerankerScore", "similarity", "prob", "logit",
    "distance",
])  # fmt: skip
@pytest.mark.parametrize("form", [dict, SimpleNamespace])
def test_hits_out_of_order(name, form):
    def run(name, values):
        return {"q": [form(**{"id": one, name: value}) for one, value in zip("xyr", values, strict=True)]}

    call = lambda run: evaluate_run({"q": {"r": 1}}, run, metrics="mrr").mean()["mrr"]  # noqa: E731
    with pytest.raises(ValueError, match="must be in order"):
        call(run(name, [0.2, 0.1, 0.9]))
    assert call(run(name, [0.9, 0.2, 0.1])) == pytest.approx(1 / 3)
    if form is dict:
        for other in ("price", "year", "page", "chunk", "timestamp", "review_score", "relevance"):
            assert call(run(other, [0.2, 0.1, 0.9])) == pytest.approx(1 / 3)
        several = {
            "q": [{"id": "x", "bm25_score": 1, "vector_score": 2}, {"id": "r", "bm25_score": 2, "vector_score": 1}]
        }
        assert call(several) == 0.5


def test_labels_times_propensities():
    rng, qid = np.random.default_rng(0), np.repeat(np.arange(40), 10)
    relevant, propensity, score = rng.random(400) < 0.3, rng.uniform(0.1, 0.9, 400), rng.random(400)
    for metric in ("ips_dcg@5", "psp@5", "psndcg@5", "snips@5"):
        assert seen(evaluate, relevant * propensity, score, qid=qid, metrics=metric)[0] == [PROPENSITIES]
        assert seen(evaluate, relevant / propensity, score, qid=qid, metrics=metric) == ([], "")
    assert seen(evaluate, np.zeros(400), score, qid=qid, metrics="ips_dcg@5") == ([], "")


def test_queries_that_leave_themselves_out():
    """NaN for the query itself, which is not counted."""
    features, labels = np.random.default_rng(0).random((40, 4)), np.arange(40) % 5
    relevance = (labels[:, None] == labels).astype(float)
    others = np.where(np.eye(40, dtype=bool), np.nan, relevance)
    near = ((features[:, None] - features) ** 2).sum(axis=-1).argsort(axis=1)
    search = lambda **given: evaluate_retrieval(features, features, metrics="map", **given)  # noqa: E731
    listed = lambda **given: score_neighbors(None, near, metrics="map", **given)  # noqa: E731
    for call in (search, listed):
        assert seen(call, relevance=others, unjudged="drop") == ([], "")
        assert seen(call, relevance=others, unjudged="nonrelevant") == ([ITSELF], "")
        assert seen(call, relevance=relevance) == ([ITSELF], "")
        assert seen(call, relevance=relevance, exclude_self=True) == ([], "")
