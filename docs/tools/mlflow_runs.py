"""Ranking models in MLflow: searches by autolog, metrics of a comparison, and `mlflow.models.evaluate`.

Needs ``pip install mlflow pandas``, and writes to a temporary folder. Takes a minute or less, most of it MLflow's.
"""

import tempfile
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import skops.io
from mlflow.metrics import MetricValue
from mlflow.models import infer_signature, make_metric
from sklearn.linear_model import Ridge
from sklearn.model_selection import GridSearchCV

from sklearn_rank import (
    QueryKFold,
    QueryRanker,
    RankingEvaluator,
    evaluate,
    make_ranking_scorer,
    query_train_test_split,
)
from sklearn_rank.datasets import make_ranking

METRICS = ["ndcg_at_10", "mrr"]  # names that MLflow takes


def ranking(predictions, targets, metrics, qid):
    """Metrics of `mlflow.models.evaluate`; MLflow gives the column "qid" of the data to an argument of that name."""
    rows = targets.to_numpy(), predictions.to_numpy()
    return MetricValue(
        aggregate_results=evaluate(*rows, qid=qid.to_numpy(), metrics=METRICS).to_dict()
    )


def search(X, y, qid):
    """A search logged by autolog: a run for each candidate, with its metrics."""
    mlflow.sklearn.autolog(log_models=False, log_datasets=False)
    y = pd.Series(
        y, index=pd.Index(qid, name="qid")
    )  # MLflow scores the training data by search.score(X, y)
    grid, scoring = {"estimator__alpha": [1, 100, 10_000]}, make_ranking_scorer(METRICS)
    found = GridSearchCV(
        QueryRanker(Ridge()), grid, scoring=scoring, refit=METRICS[0], cv=QueryKFold(3)
    )
    with mlflow.start_run(run_name="search") as run:
        found.fit(X, y)
    mlflow.sklearn.autolog(disable=True)  # or else each model below makes a run of its own
    children = mlflow.search_runs(filter_string=f"tags.mlflow.parentRunId = '{run.info.run_id}'")
    print(
        children[
            ["params.estimator__alpha", "metrics.mean_test_ndcg_at_10", "metrics.mean_test_mrr"]
        ]
    )
    print(mlflow.get_run(run.info.run_id).data.metrics)
    assert sorted(children["metrics.mean_test_ndcg_at_10"]) == sorted(
        found.cv_results_["mean_test_ndcg_at_10"]
    )
    return found.best_estimator_


def compare(models, X, y, qid):
    """Means of a comparison, a run for each model."""
    report = RankingEvaluator(METRICS, cv=3).compare(models, X, y, qid=qid)
    for name, result in report.results.items():
        with mlflow.start_run(run_name=name):
            mlflow.log_metrics(result.to_dict(prefix="cv/"))
            mlflow.log_text(report.to_markdown(), "comparison.md")


def judge(model, X, y, qid):
    """Log a model, and judge it on a test set by `mlflow.models.evaluate`."""
    trusted = skops.io.get_untrusted_types(
        data=skops.io.dumps(model)
    )  # read them before you trust them
    with mlflow.start_run(run_name="test"):
        signature = infer_signature(X, model.predict(X))
        info = mlflow.sklearn.log_model(
            model,
            name="ranker",
            signature=signature,
            skops_trusted_types=trusted,
            pip_requirements=["sklearn-rank"],
        )
        loaded = mlflow.sklearn.load_model(info.model_uri)
        assert np.array_equal(loaded.predict(X), model.predict(X))
        # Scores and labels with their queries: among features "qid" would be one of them.
        table = pd.DataFrame({"score": loaded.predict(X), "grade": y, "qid": qid})
        metric = make_metric(eval_fn=ranking, greater_is_better=True, name="ranking")
        result = mlflow.models.evaluate(
            data=table, targets="grade", predictions="score", extra_metrics=[metric]
        )
    print(result.metrics)
    by_hand = evaluate(y, model.predict(X), qid=qid, metrics=METRICS).to_dict(prefix="ranking/")
    assert np.allclose(
        [result.metrics[name] for name in by_hand], [*by_hand.values()], rtol=0, atol=1e-12
    )


def main():
    """Run all of it in a temporary folder."""
    X, y, qid = make_ranking(n_queries=120, n_features=6, noise=2, shuffle=True, random_state=0)
    X = pd.DataFrame(X, columns=[f"f{i}" for i in range(X.shape[1])])
    X, X_test, y, y_test, qid, qid_test = query_train_test_split(X, y, qid=qid, random_state=0)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        mlflow.set_tracking_uri(f"sqlite:///{Path(folder) / 'mlflow.db'}")
        mlflow.set_experiment(
            experiment_id=mlflow.create_experiment(
                "ranking", artifact_location=f"file://{folder}/runs"
            )
        )
        best = search(X, y, qid)
        compare({"ridge": Ridge(), "flat": Ridge(alpha=1e6)}, X, y, qid)
        judge(best, X_test, y_test, qid_test)


if __name__ == "__main__":
    main()
