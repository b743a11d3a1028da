"""scikit-learn callbacks on a `QueryRanker`: tasks, lineage, and scores of the training rows."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_rank import QueryKFold, QueryRanker, RankingEvaluator, get_scorer, make_ranking_scorer
from sklearn_rank._ranker import callbacks as of_rankers

callback = pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")

RNG = np.random.default_rng(0)
QID = RNG.permutation(np.repeat(["a", "b", "c", "d", "e", "f"], 8))  # rows of a query are not adjacent
X = RNG.normal(size=(48, 3))
Y = np.clip((X[:, 0] + RNG.normal(size=48)).round(), 0, 2).astype(int)
LABELED = pd.Series(Y, index=pd.Index(QID, name="qid"))
GIVEN = {"index": (LABELED, {}), "argument": (Y, {"qid": QID}), "column": (Y[:, None], {"qid": QID[:, None]})}
GIVEN["tuples"] = Y, {"qid": [(ord(q), 1) for q in QID]}


class Tasks:
    """Callback that is passed on to inner models and records its calls."""

    max_propagation_depth = None

    def __init__(self):
        self.seen, self.n_inside, self.running = [], [], 0

    def setup(self, estimator, context):
        self.running += 1

    def teardown(self, estimator, context):
        self.running -= 1

    def on_fit_task_begin(self, estimator, context):
        self.seen.append(f"begin {context.estimator_name} {context.task_name}")
        self.n_inside.append(context.max_subtasks)

    def on_fit_task_end(self, estimator, context):
        self.seen.append(f"end {context.estimator_name} {context.task_name}")


@pytest.mark.parametrize("routing", [False, True], ids=["index", "routing"])
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("scoring", ["score", "many", "dict", "r2"])
def test_a_monitor_scores_the_rows_of_the_fit(given, scoring, routing):
    y, keywords = GIVEN[given]
    asked = {"score": get_scorer("ndcg@3"), "many": make_ranking_scorer(["ndcg@3", "mse"]), "r2": "r2",
             "dict": {"a": get_scorer("ndcg@3"), "b": get_scorer("mrr")}}[scoring]  # fmt: skip
    with sklearn.config_context(enable_metadata_routing=routing):
        monitor = callback.ScoringMonitor(scoring=asked)
        ranker = QueryRanker(Ridge()).set_callbacks(monitor).fit(X, y, **keywords)
    (row,) = monitor.get_logs().data
    expected = {"score": {"score": get_scorer("ndcg@3")(ranker, X, LABELED)},
                "many": make_ranking_scorer(["ndcg@3", "mse"])(ranker, X, LABELED),
                "dict": {n: get_scorer(m)(ranker, X, LABELED) for n, m in (("a", "ndcg@3"), ("b", "mrr"))},
                "r2": {"r2": sklearn.metrics.r2_score(Y, ranker.predict(X))}}[scoring]  # fmt: skip
    assert {name: row[name] for name in expected} == expected
    assert pickle.loads(pickle.dumps(ranker)).predict(X).tolist() == ranker.predict(X).tolist()


def test_a_monitor_gets_weights_of_queries():
    weight = np.where(QID < "d", 1.0, 5.0)
    monitor = callback.ScoringMonitor(scoring=get_scorer("ndcg@3"))
    ranker = QueryRanker(Ridge()).set_callbacks(monitor).fit(X, Y, qid=QID, sample_weight=weight)
    expected = make_ranking_scorer(["ndcg@3"])(ranker, X, Y, qid=QID, sample_weight=weight)["ndcg@3"]
    assert monitor.get_logs().data[0]["score"] == expected != get_scorer("ndcg@3")(ranker, X, LABELED)


def test_a_monitor_without_queries_raises():
    monitor = callback.ScoringMonitor(scoring=get_scorer("ndcg@3"))
    with pytest.raises(ValueError, match="the query of each row must be known"):
        QueryRanker(Ridge()).set_callbacks(monitor).fit(X, Y)


def test_a_monitor_of_rows_needs_no_queries():
    monitor = callback.ScoringMonitor(scoring="r2")
    QueryRanker(Ridge()).set_callbacks(monitor).fit(X, Y)
    assert monitor.get_logs()


def test_a_monitor_of_the_inner_model_reports_missing_queries():
    """scikit-learn's models pass on arrays, and a model of whole queries gets them in another order."""
    monitor = callback.ScoringMonitor(scoring=get_scorer("ndcg@3"))
    with pytest.raises(ValueError, match="the query of each row must be known"):
        QueryRanker(LogisticRegression().set_callbacks(monitor)).fit(X, LABELED)


def test_a_monitor_in_a_search_gives_the_training_scores():
    monitor = callback.ScoringMonitor(scoring=get_scorer("ndcg@3"))
    search = GridSearchCV(
        QueryRanker(Ridge()).set_callbacks(monitor), {"estimator__alpha": [1, 1e4]}, scoring=get_scorer("ndcg@3"),
        cv=QueryKFold(3), return_train_score=True,
    ).fit(X, LABELED)  # fmt: skip
    scores = {row["task_id_path"]: row["score"] for row in monitor.get_logs().data}
    splits = np.array([search.cv_results_[f"split{i}_train_score"] for i in range(3)]).T.ravel()
    assert [scores[0, 0, i] for i in range(6)] == splits.tolist()
    assert scores[0, 1] == search.score(X, LABELED)


def test_tasks_of_a_model_without_callbacks():
    tasks = Tasks()
    QueryRanker(Ridge()).set_callbacks(tasks).fit(X, Y, qid=QID)
    assert tasks.seen == [f"{at} QueryRanker {name}" for at, name in
                          (("begin", "fit"), ("begin", "fit-model"), ("end", "fit-model"), ("end", "fit"))]  # fmt: skip
    assert tasks.n_inside[0] == 1, "a progress bar is of one task"
    assert tasks.running == 0


def test_callbacks_reach_an_inner_pipeline():
    tasks = Tasks()
    model = make_pipeline(StandardScaler(), LogisticRegression())
    ranker = QueryRanker(model).set_callbacks(tasks).fit(X, Y, qid=QID)
    assert "begin LogisticRegression fit" in tasks.seen
    assert tasks.seen[0] == "begin QueryRanker fit"
    assert tasks.seen[-1] == "end QueryRanker fit"
    assert not hasattr(ranker.estimator_, "_skl_callbacks"), "they are taken back"


def test_callbacks_of_a_search_are_passed_on_without_a_warning():
    tasks = Tasks()
    search = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 2]}).set_callbacks(tasks)
    RankingEvaluator("ndcg@3", cv=2).search(search, X, Y, qid=QID)
    assert tasks.seen.count("begin QueryRanker fit") == 2 * 2 + 1


def test_a_failed_fit_ends_its_callbacks():
    tasks = Tasks()
    ranker = QueryRanker(Ridge(alpha=-1)).set_callbacks(tasks)
    with pytest.raises(ValueError, match="alpha"):
        ranker.fit(X, Y, qid=QID)
    assert tasks.running == 0
    ranker.set_params(estimator__alpha=1).fit(X, Y, qid=QID)


def test_clones_keep_callbacks_and_fits_do_not_change():
    ranker = QueryRanker(Ridge()).set_callbacks(Tasks())
    bare = QueryRanker(Ridge()).fit(X, Y, qid=QID)
    assert clone(ranker).fit(X, Y, qid=QID).predict(X).tolist() == bare.predict(X).tolist()
    assert "_fit_task" not in vars(ranker.fit(X, Y, qid=QID)) | vars(bare)


def test_positional_arguments_are_rejected():
    with pytest.raises(TypeError, match="qid"):
        QueryRanker(Ridge()).fit(X, Y, QID)


def test_fit_before_scikit_learn_1_9(monkeypatch):
    def fit(self):
        return self

    monkeypatch.setattr(of_rankers, "with_callbacks", None)
    assert of_rankers.as_task(fit) is fit
    with of_rankers.model_task(QueryRanker(Ridge()), Ridge()):
        pass
