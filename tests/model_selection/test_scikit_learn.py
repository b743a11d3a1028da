"""Scorers and splitters in scikit-learn's tools, with qid by metadata routing and in the index of y."""

import pickle

import numpy as np
import pytest
import sklearn
from registry import labels_of
from sklearn.base import clone
from sklearn.experimental import enable_halving_search_cv  # noqa: F401
from sklearn.linear_model import Ridge
from sklearn.model_selection import (
    GridSearchCV,
    HalvingGridSearchCV,
    RandomizedSearchCV,
    cross_val_score,
    cross_validate,
)

from sklearn_rank import (
    LeaveOneQueryOut,
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    evaluate,
    get_scorer,
    get_scorer_names,
    make_ranking_scorer,
    parse_metric,
)
from sklearn_rank.metrics import ndcg_score

RANKER = QueryRanker(Ridge())
SCORER = get_scorer("ndcg@5")
CV = QueryKFold(3)
GRID = {"estimator__alpha": [0.1, 10.0]}


@pytest.fixture(params=["routing", "index"])
def way(request, shuffled, with_index):
    """X, y and the keyword arguments that carry qid, under each of the two configurations."""
    if request.param == "index":
        X, y = with_index
        yield X, y, {}
        return
    X, y, qid = shuffled
    with sklearn.config_context(enable_metadata_routing=True):
        yield X, y, {"params": {"qid": qid}}


def expected_folds(X, y, qid, metric="ndcg@5", *, alpha=1.0, cv=CV):
    """The values that the tools should compute, by hand."""
    scores = []
    for train, test in cv.split(X, groups=qid):
        s = Ridge(alpha).fit(X[train], y[train]).predict(X[test])
        scores.append(evaluate(y[test], s, qid=qid[test], metrics=metric).mean()[metric])
    return scores


@pytest.mark.slow
def test_cross_validate(way, shuffled):
    X, y, keywords = way
    got = cross_validate(RANKER, X, y, scoring=SCORER, cv=CV, **keywords)
    np.testing.assert_allclose(got["test_score"], expected_folds(*shuffled))
    for n_jobs in (1, 2):
        scores = cross_val_score(RANKER, X, y, scoring=SCORER, cv=CV, n_jobs=n_jobs, **keywords)
        np.testing.assert_allclose(scores, expected_folds(*shuffled))


def test_scorer_of_many_metrics(way, shuffled):
    X, y, keywords = way
    together = cross_validate(
        RANKER, X, y, scoring=make_ranking_scorer(["ndcg@5", "map", "neg_mse"]), cv=CV, **keywords
    )
    scoring = {name: get_scorer(name) for name in ("ndcg@5", "map", "neg_mse")}
    apart = cross_validate(RANKER, X, y, scoring=scoring, cv=CV, return_train_score=True, **keywords)
    for name in scoring:
        np.testing.assert_allclose(together[f"test_{name}"], apart[f"test_{name}"])
    np.testing.assert_allclose(together["test_map"], expected_folds(*shuffled, metric="map"))
    np.testing.assert_allclose(together["test_neg_mse"], -np.array(expected_folds(*shuffled, metric="mse")))


@pytest.mark.parametrize(
    "make",
    [
        lambda: GridSearchCV(RANKER, GRID, scoring=SCORER, cv=CV),
        lambda: GridSearchCV(RANKER, GRID, scoring=make_ranking_scorer(["ndcg@5", "map"]), refit="ndcg@5", cv=CV),
        lambda: GridSearchCV(RANKER, GRID, scoring={"a": SCORER, "b": get_scorer("map")}, refit="a", cv=CV),
        lambda: RandomizedSearchCV(RANKER, GRID, n_iter=2, random_state=0, scoring=SCORER, cv=CV, n_jobs=2),
        lambda: HalvingGridSearchCV(
            RANKER, GRID, scoring=SCORER, cv=CV, resource="estimator__max_iter", max_resources=4, min_resources=2
        ),
    ],
    ids=["grid", "one object of many", "dict of many", "randomized, two jobs", "halving"],
)
def test_scikit_learn_searches(make, way, shuffled):
    X, y, keywords = way
    search = make().fit(X, y, **keywords.get("params", {}))
    found = search.cv_results_[next(c for c in search.cv_results_ if c.startswith("mean_test"))]
    expected = [np.mean(expected_folds(*shuffled, alpha=a)) for a in search.cv_results_["param_estimator__alpha"]]
    np.testing.assert_allclose(found, expected)  # whose iterations stay the same
    assert found[search.best_index_] == max(found)
    model = Ridge(search.best_params_["estimator__alpha"]).fit(*shuffled[:2])
    np.testing.assert_allclose(search.predict(X), model.predict(X))


def test_a_fitted_search_scores(way):
    X, y, keywords = way
    search = GridSearchCV(RANKER, GRID, scoring=SCORER, cv=CV).fit(X, y, **keywords.get("params", {}))
    qid = y.index if hasattr(y, "index") else keywords["params"]["qid"]
    value = search.score(X, y, **keywords.get("params", {}))
    assert value == pytest.approx(ndcg_score(y, search.predict(X), qid=qid, k=5))


@pytest.mark.filterwarnings("ignore:.*every score is")
@pytest.mark.parametrize("name", get_scorer_names())
def test_every_scorer(name, ranking, with_index):
    X, y, qid = ranking
    scorer = pickle.loads(pickle.dumps(get_scorer(name)))
    assert str(scorer) == name
    assert repr(clone(scorer, safe=False)) == repr(scorer)
    bare = name.removeprefix("neg_")
    top = labels_of(parse_metric(bare).metric)[-1]
    y, with_index = np.minimum(y, top), (with_index[0], with_index[1].clip(upper=top))
    model = Ridge().fit(X, y)
    with sklearn.config_context(enable_metadata_routing=True):
        value = scorer(model, X, y, qid=qid)
    expected = evaluate(y, model.predict(X), qid=qid, metrics=bare).mean()[bare]
    assert value == (expected if bare == name else -expected)
    X, y = with_index
    of_index = evaluate(y.to_numpy(), model.predict(X), qid=y.index.to_numpy(), metrics=bare).mean()[bare]
    assert scorer(model, X, y) == (of_index if bare == name else -of_index)


def test_names_and_keywords_of_scorers():
    assert "neg_rmse" in get_scorer_names()
    assert get_scorer("rmse")._sign == get_scorer("neg_rmse")._sign == -1
    assert repr(make_ranking_scorer("ndcg(gain=linear)@10")) == repr(
        make_ranking_scorer(ndcg_score, gain="linear", k=10)
    )
    scorers = make_ranking_scorer(["ndcg@5", ndcg_score], gain="linear")
    assert scorers.names == ["ndcg@5", "ndcg"]
    assert repr(scorers) == "make_ranking_scorer(['ndcg@5', 'ndcg'], gain='linear')"
    model = Ridge().fit([[0.0], [1.0]], [0, 1])
    assert make_ranking_scorer(["map", "AP", "rr"])(model, [[0.0], [1.0]], [0, 1], qid=[1, 1]) == {
        "map": 1,
        "AP": 1,
        "rr": 1,
    }
    assert repr(pickle.loads(pickle.dumps(scorers))) == repr(scorers)


def test_weights_only_for_the_scorer(shuffled):
    X, y, qid = shuffled
    weight = np.array([1.0 + len(q) for q in qid])
    both = {"qid": qid, "query_weight": weight}
    with sklearn.config_context(enable_metadata_routing=True):
        one = get_scorer("map").set_score_request(qid=True, sample_weight="query_weight")
        many = make_ranking_scorer(["map"]).set_score_request(sample_weight="query_weight")
        got = [cross_validate(RANKER, X, y, scoring=s, cv=CV, params=both) for s in (one, many)]
    for i, (train, test) in enumerate(CV.split(X, groups=qid)):
        s = Ridge().fit(X[train], y[train]).predict(X[test])
        expected = evaluate(y[test], s, qid=qid[test], metrics="map", sample_weight=weight[test]).mean()["map"]
        assert got[0]["test_score"][i] == pytest.approx(expected)
        assert got[1]["test_map"][i] == pytest.approx(expected)
    with pytest.raises(TypeError, match="use 'qid' and 'sample_weight'. Got weight"):
        many.set_score_request(weight=True)


def test_splitters_find_qid_in_the_index(with_index, shuffled):
    X, y = with_index
    for splitter in (CV, LeaveOneQueryOut(), QueryShuffleSplit(2, random_state=0)):
        assert splitter.get_n_splits(X, y) == splitter.get_n_splits(X, y, shuffled[2])
        for (_, a), (_, b) in zip(splitter.split(X, y), splitter.split(X, groups=shuffled[2]), strict=True):
            np.testing.assert_array_equal(a, b)
    with pytest.raises(ValueError, match="give y as a pandas Series"):
        next(CV.split(X, np.asarray(y)))


def test_same_seed_same_folds(ranking):
    X, _, qid = ranking
    for make in (lambda s: QueryKFold(3, shuffle=True, random_state=s), lambda s: QueryShuffleSplit(3, random_state=s)):
        first, again, other = ([t.tolist() for _, t in make(s).split(X, groups=qid)] for s in (0, 0, 1))
        assert first == again != other
