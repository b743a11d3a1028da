"""RankingEvaluator on fixed test sets, lists of splits and repeats; with weights, clusters, times and keywords."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_array_equal
from sklearn.dummy import DummyRegressor
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV, LeavePGroupsOut, PredefinedSplit

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    QueryShuffleSplit,
    QueryTimeSeriesSplit,
    RankingEvaluator,
    RepeatedQueryKFold,
    evaluate,
    make_ranking_scorer,
    stats,
)
from sklearn_rank.datasets import make_ranking
from sklearn_rank.results import Comparison

MODELS = {"constant": DummyRegressor(), "ridge": Ridge()}
METRICS = ["ndcg@5", "map", "rmse"]


@pytest.fixture(scope="module")
def data():
    """X, y, interleaved qid, and whether each row is in the test set."""
    X, y, qid = make_ranking(n_queries=40, n_documents=(2, 12), shuffle=True, random_state=0)
    return X, y, qid, qid % 4 == 0


def splits_of(test):
    rows = np.flatnonzero(~test), np.flatnonzero(test)
    return {
        "predefined": PredefinedSplit(np.where(test, 0, -1)),
        "rows": [rows],
        "lists": [tuple(part.tolist() for part in rows)],
        "masks": [[~test, test]],
        "generator": (rows for _ in range(1)),
    }


# --- a fixed test set ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["predefined", "rows", "lists", "masks", "generator"])
def test_a_fixed_test_set(data, kind, tmp_path):
    X, y, qid, test = data
    evaluator = RankingEvaluator(METRICS, cv=splits_of(test)[kind])
    report = evaluator.compare(MODELS, X, y, qid=qid)
    y_score = report.y_score["ridge"][test]
    np.testing.assert_allclose(y_score, Ridge().fit(X[~test], y[~test]).predict(X[test]))
    alone = evaluate(y[test], y_score, qid=qid[test], metrics=METRICS)
    assert report.results["ridge"].mean() == alone.mean()
    assert_array_equal(report.results["ridge"].qid, alone.qid)
    assert np.isnan(report.y_score["ridge"][~test]).all()
    assert report.n_queries == [(30, 10)]
    assert repr(report).startswith("Comparison of 2 systems on 10 queries")
    frame = report.summary().to_frame().set_index(["model", "metric"])
    assert frame[["fold sd", "p folds"]].isna().all(axis=None)
    row = frame.loc["ridge", "map"]
    assert row["fold mean"] == row["mean"] == alone.mean()["map"]
    assert row["p"] == stats.compare(alone, report.results["constant"], metric="map").pvalue
    report.save(tmp_path / "report.npz")
    loaded = Comparison.load(tmp_path / "report.npz")
    assert repr(loaded) == repr(report)
    assert_array_equal(loaded.y_score["ridge"], report.y_score["ridge"])
    scores = evaluator.cross_validate(Ridge(), X, y, qid=qid)
    assert scores["test_map"].tolist() == [alone.mean()["map"]]
    assert scores.mean_over_queries() == alone.mean()


def test_a_search_on_a_validation_set(data):
    X, y, qid, test = data
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1e5]}, refit=False)
    found = RankingEvaluator("map", cv=[(~test, test)]).search(search, X, y, qid=qid)
    for alpha, mean in zip((0.1, 1e5), found.cv_results_["mean_test_map"], strict=True):
        y_score = Ridge(alpha).fit(X[~test], y[~test]).predict(X[test])
        assert mean == pytest.approx(evaluate(y[test], y_score, qid=qid[test], metrics="map").mean()["map"])


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (lambda train, test: (train, test), r"a list of splits, \[\(train, test\)\], of row numbers. Got \("),
        (lambda train, test: [], r"a list of splits, \[\(train, test\)\], of row numbers. Got \[\]"),
        (lambda train, test: np.arange(5) % 2, "use PredefinedSplit. Got"),
        (lambda train, test: [([0], [1]), 5], r"of row numbers\. Got \["),
        (lambda train, test: [0, 1, "a"], r"of row numbers\. Got \["),
        (lambda train, test: [([0], [1]), ([0], [1], [2])], r"of row numbers\. Got \["),
    ],
)
def test_splits_are_pairs(data, cv, message):
    test = np.flatnonzero(data[3])
    with pytest.raises(ValueError, match=message):
        RankingEvaluator("map", cv=cv(np.flatnonzero(~data[3]), test))


@pytest.mark.parametrize(
    ("split", "message"),
    [
        (lambda train, test: (train, test[:-1]), "each row of its queries.* tests 1 queries of fold 0 on other rows"),
        (lambda train, test: (train, np.tile(test, 2)), "which tests 10 queries of fold 0 on other rows"),
        (lambda train, test: (np.append(train, test[0]), test), "keep queries whole.* splits 1 of 40 queries"),
        (lambda train, test: (train, []), "must not be empty"),
        (lambda train, test: ([], test), "must not be empty"),
        (lambda train, test: (train - 1000, test), "must return row numbers of the"),
        (lambda train, test: (train, test + 1000), "must return row numbers of the"),
        (lambda train, test: (train, [len(train) + len(test)]), "must return row numbers of the"),
        (lambda train, test: (train, test * 1.0), "a pair .* of lists of row numbers"),
        (lambda train, test: (train, np.ones(9, dtype=bool)), "of masks of all .* rows"),
    ],
)  # fmt: skip
def test_evaluator_split_errors(data, split, message):
    X, y, qid, test = data
    cv = [split(np.flatnonzero(~test), np.flatnonzero(test))]
    with pytest.raises(ValueError, match=message):
        RankingEvaluator("map", cv=cv).compare(MODELS, X, y, qid=qid)


# --- repeats -------------------------------------------------------------------------------------------------


def test_repeated_cross_validation(data, tmp_path):
    """The value of a query is the mean of its values in plain cross-validations; folds are listed for all repeats."""
    X, y, qid, _ = data
    seeds = (0, 1, 2)
    folds = [f for seed in seeds for f in QueryKFold(4, shuffle=True, random_state=seed).split(X, groups=qid)]
    metrics = [*METRICS, "p(average=micro)@5"]
    report = RankingEvaluator(metrics, cv=folds).compare(MODELS, X, y, qid=qid)
    once = [
        RankingEvaluator(metrics, cv=QueryKFold(4, shuffle=True, random_state=seed)).compare(MODELS, X, y, qid=qid)
        for seed in seeds
    ]
    found = report.results["ridge"]
    for metric in METRICS:
        values = np.mean([one.results["ridge"].per_query[metric] for one in once], axis=0)
        np.testing.assert_allclose(found.per_query[metric], values, rtol=1e-12)
        assert found.mean()[metric] == pytest.approx(values.mean(), rel=1e-12)
        of_folds = np.concatenate([one.fold_means["ridge"][metric] for one in once])
        assert_array_equal(report.fold_means["ridge"][metric], of_folds)
    pooled = "p(average=micro)@5"
    assert found.mean()[pooled] == pytest.approx(np.mean([one.results["ridge"].mean()[pooled] for one in once]))
    assert_array_equal(report.y_score["ridge"], np.column_stack([one.y_score["ridge"] for one in once]))
    n_train, n_test = np.mean(report.n_queries, axis=0)
    means = [report.fold_means[model]["map"] for model in ("ridge", "constant")]
    frame = report.summary().to_frame().set_index(["model", "metric"])
    expected = stats.compare_folds(*means, n_train=n_train, n_test=n_test)
    assert expected.n_units == 12
    assert frame.loc["ridge", "map"]["p folds"] == expected.pvalue
    report.save(tmp_path / "report.npz")
    assert repr(Comparison.load(tmp_path / "report.npz")) == repr(report)


@pytest.mark.parametrize(
    ("cv", "n_repeats"), [(RepeatedQueryKFold(4, n_repeats=3, random_state=0), 3), (LeavePGroupsOut(2), 5)]
)
def test_splitters_that_repeat(data, cv, n_repeats):
    X, y, qid, _ = data
    few = qid < 6
    report = RankingEvaluator("map", cv=cv).compare(MODELS, X[few], y[few], qid=qid[few])
    assert report.y_score["ridge"].shape == (few.sum(), n_repeats)
    assert len(report.results["ridge"].qid) == 6


def test_identical_folds_are_not_repeats(data):
    X, y, qid, _ = data
    folds = [*QueryKFold(4).split(X, groups=qid)]
    reversed_folds = [(train, test[::-1]) for train, test in folds]
    for cv in (folds * 2, folds + reversed_folds, QueryShuffleSplit(3, random_state=0), [*folds, folds[0]]):
        evaluator = RankingEvaluator("map", cv=cv)
        assert evaluator.cross_validate(Ridge(), X, y, qid=qid).pooled is None
        with pytest.raises(ValueError, match="tested at most once, or all rows equally often by different folds"):
            evaluator.compare(MODELS, X, y, qid=qid)


class BlindWithout(Ridge):
    """Ties all documents unless the training set has the first query, whose number is the first feature."""

    def fit(self, X, y):
        self.sees_ = (X[:, 0] == 0).any()
        return super().fit(X, y)

    def predict(self, X):
        return X[:, 1] if self.sees_ else np.zeros(len(X))


def test_a_query_is_undefined_if_it_is_in_any_repeat():
    X, y = np.column_stack([np.repeat(np.arange(4), 2), np.tile([0, 1], 4)]), np.tile([0, 1], 4)
    halves = [np.arange(4), np.arange(4, 8)], [np.array([0, 1, 4, 5]), np.array([2, 3, 6, 7])]
    folds = [split for a, b in halves for split in ((a, b), (b, a))]
    evaluator = RankingEvaluator("kendall", cv=folds)
    found = evaluator.compare({"blind": BlindWithout()}, X, y, qid=X[:, 0]).results["blind"]
    assert found.n_undefined == {"kendall": 3}  # only query 3 is tested twice by a model trained with query 0
    assert found.per_query["kendall"][3] == 1


# --- weights -------------------------------------------------------------------------------------------------


class Weighed(Ridge):
    """Remembers the weights passed to fit."""

    def fit(self, X, y, sample_weight=None):
        self.given_ = sample_weight
        return super().fit(X, y, sample_weight)


def asking():
    with sklearn.config_context(enable_metadata_routing=True):
        return Weighed().set_fit_request(sample_weight=True)


def test_weights_and_properties_of_queries_stay_theirs(data):
    X, y, qid, test = data
    weight = qid + 1.0
    report = RankingEvaluator(METRICS, cv=3).compare(MODELS, X, y, qid=qid, sample_weight=weight)
    alone = evaluate(y, report.y_score["ridge"], qid=qid, metrics=METRICS, sample_weight=weight)
    assert report.results["ridge"].mean() == alone.mean()
    _, first = next(iter(QueryKFold(3).split(X, groups=qid)))
    of_fold = evaluate(
        y[first], report.y_score["ridge"][first], qid=qid[first], metrics="map", sample_weight=weight[first]
    )
    assert report.fold_means["ridge"]["map"][0] == pytest.approx(of_fold.mean()["map"], rel=1e-12)
    assert "on 40 weighted queries" in str(report)
    fixed = RankingEvaluator("map", cv=[(~test, test)]).compare(MODELS, X, y, qid=qid, sample_weight=weight)
    assert_array_equal(fixed.results["ridge"].weight, fixed.results["ridge"].qid + 1.0)
    properties = {"by": qid % 3, "clusters": qid % 5}
    some = RankingEvaluator("map", cv=[(~test, test)]).compare(MODELS, X, y, qid=qid, **properties).results["ridge"]
    assert_array_equal(some.attributes["by"], some.qid % 3)
    assert_array_equal(some.clusters, some.qid % 5)
    with pytest.raises(ValueError, match="constant within each"):
        RankingEvaluator("map").compare(MODELS, X, y, qid=qid, sample_weight=np.arange(len(y)))
    with pytest.raises(ValueError, match="not all zero"):
        RankingEvaluator("map", cv=[(~test, test)]).compare(MODELS, X, y, qid=qid, sample_weight=1.0 * ~test)


@pytest.mark.parametrize(("model", "is_given"), [(Weighed(), False), (asking(), True)], ids=["silent", "asking"])
def test_models_that_request_weights_get_them(data, model, is_given):
    X, y, qid, test = data
    weight, evaluator = qid + 1.0, RankingEvaluator("map", cv=[(~test, test)])
    scores = evaluator.cross_validate(model, X, y, qid=qid, sample_weight=weight, return_estimator=True)
    (fitted,) = scores["estimator"]
    ranker = QueryRanker(model)
    if is_given:
        with sklearn.config_context(enable_metadata_routing=True):
            ranker.set_fit_request(sample_weight=True)
    search = GridSearchCV(ranker, {"estimator__alpha": [0.1, 1]})
    search = evaluator.search(search, X, y, qid=qid, sample_weight=weight)
    for ridge, rows in ((fitted.estimator_, ~test), (search.best_estimator_.estimator_, np.ones(len(y), dtype=bool))):
        if is_given:
            assert_array_equal(np.sort(ridge.given_), np.sort(weight[rows]))
        else:
            assert ridge.given_ is None
    y_score = fitted.predict(X[test])
    expected = evaluate(y[test], y_score, qid=qid[test], metrics="map", sample_weight=weight[test]).mean()["map"]
    assert scores["test_map"][0] == pytest.approx(expected, rel=1e-12)


def test_searches_score_with_weights(data):
    X, y, qid, test = data
    weight = np.where(qid == 4, 1e6, 1.0)
    found = RankingEvaluator("map", cv=[(~test, test)]).search(
        GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1.0]}, refit=False),
        X,
        y,
        qid=qid,
        sample_weight=weight,
    )
    one = qid == 4
    alone = evaluate(y[one], Ridge().fit(X[~test], y[~test]).predict(X[one]), qid=qid[one], metrics="map")
    assert found.cv_results_["mean_test_map"][0] == pytest.approx(alone.mean()["map"], rel=1e-4)
    report = RankingEvaluator("map", cv=3).compare(
        {"search": GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1e6]})},
        X,
        y,
        qid=qid,
        sample_weight=weight,
    )
    assert [*report.results] == ["search"]


# --- metrics -------------------------------------------------------------------------------------------------


def test_names_and_keywords_of_metrics(data):
    X, y, qid, _ = data
    evaluator = RankingEvaluator({"mine": "ndcg@5", "loss": "rmse"}, cv=2, gain="linear")
    report = evaluator.compare(MODELS, X, y, qid=qid)
    alone = evaluate(y, report.y_score["ridge"], qid=qid, metrics={"mine": "ndcg@5", "loss": "rmse"}, gain="linear")
    assert report.results["ridge"].mean() == alone.mean()
    assert report.results["ridge"].meaning == alone.meaning
    scores = evaluator.cross_validate(Ridge(), X, y, qid=qid)
    assert {"test_mine", "test_neg_loss"} < {*scores}
    assert (scores["test_neg_loss"] < 0).all()
    assert [*scores.mean_over_folds()] == ["mine", "loss"]
    assert (
        "mean_test_mine"
        in evaluator.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, qid=qid).cv_results_
    )
    assert evaluator.scorers.__name__ == "mine, neg_loss"
    assert repr(evaluator).startswith("RankingEvaluator({'mine': 'ndcg@5', 'loss': 'rmse'}, cv=QueryKFold(")
    assert repr(evaluator).endswith("gain='linear')")
    assert repr(make_ranking_scorer({"mine": "ndcg@5"})) == "make_ranking_scorer({'mine': 'ndcg@5'})"
    with pytest.raises(TypeError, match="RankingEvaluator has no keyword 'gian'. Did you mean 'gain'"):
        RankingEvaluator("ndcg", gian="linear")


def test_metrics_have_a_default(data):
    X, y, qid, _ = data
    report = RankingEvaluator(cv=2).compare({"ridge": Ridge()}, X, y, qid=qid)
    assert report.results["ridge"].mean() == evaluate(y, report.y_score["ridge"], qid=qid).mean()


# --- clusters, times, attributes -----------------------------------------------------------------------------


def test_clusters_stay_whole_and_go_into_the_results(data):
    X, y, qid, test = data
    users = np.array([f"u{i}" for i in qid // 3])
    evaluator = RankingEvaluator("map", cv=3)
    for train, test_rows in evaluator.split(X, y, qid=qid, clusters=users):
        assert not {*users[train]} & {*users[test_rows]}
    report = evaluator.compare(MODELS, X, y, qid=qid, clusters=users, by={"half": qid > 19})
    alone = evaluate(y, report.y_score["ridge"], qid=qid, metrics="map", clusters=users, by={"half": qid > 19})
    assert_array_equal(report.results["ridge"].clusters, alone.clusters)
    assert_array_equal(report.results["ridge"].attributes["half"], alone.attributes["half"])
    assert report.results["ridge"].confidence_interval() == alone.confidence_interval()
    with pytest.raises(ValueError, match="compare takes test='t', 'randomization' or 'bootstrap'"):
        RankingEvaluator("map", test="wilcoxon").compare(MODELS, X, y, qid=qid, clusters=users)
    nested = {"search": GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [0.1, 1]}, cv=QueryKFold(2))}
    evaluator.compare(nested, X, y, qid=qid, clusters=users)
    fixed = RankingEvaluator("map", cv=[(~test, test)])
    result = fixed.cross_validate(Ridge(), X, y, qid=qid, clusters=users).pooled
    assert result.clusters.tolist() == [f"u{q // 3}" for q in result.qid]
    for call in (
        fixed.split,
        lambda X, y, **k: fixed.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, **k),
    ):
        with pytest.raises(TypeError, match="splitter does not use clusters="):
            call(X, y, qid=qid, clusters=users)


def test_times_go_to_the_splitter(data):
    X, y, qid, _ = data
    time = np.datetime64("2024-01-01") + ((qid * 7) % 40).astype("m8[D]")
    evaluator = RankingEvaluator("map", cv=QueryTimeSeriesSplit(3))
    for train, test in evaluator.split(X, y, qid=qid, time=time):
        assert time[train].max() < time[test].min()
    report = evaluator.compare(MODELS, X, y, qid=qid, time=time)
    assert len(report.results["ridge"].qid) == sum(n for _, n in report.n_queries) == 30
    evaluator.search(GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1]}), X, y, qid=qid, time=time)
    with pytest.raises(TypeError, match="splitter does not use time=. Use QueryTimeSeriesSplit"):
        RankingEvaluator("map").compare(MODELS, X, y, qid=qid, time=time)
