"""Permutation importance of features for a fitted model, query by query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.utils import Bunch
from sklearn.utils.parallel import Parallel, delayed

from sklearn_rank._data.doors import IMPORTANCE
from sklearn_rank._data.look import ON_MISUSE, look, look_at_labels, look_at_scores
from sklearn_rank._engine.columns import check_features, check_rows
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.read import read_labels
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._metric.key_signs import ByName
from sklearn_rank._metric.names import is_single_metric
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._ranker.estimator_checks import check_estimator
from sklearn_rank._scoring.fitted_queries import check_test_queries
from sklearn_rank._scoring.response import low_scores, predict_scores
from sklearn_rank._scoring.routing import with_row_arguments
from sklearn_rank._scoring.scorer import RankingScorers, metrics_of
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT, RANDOM_STATE, one_of, random_of
from sklearn_rank._utils.containers import check_lengths
from sklearn_rank._utils.numbers import as_floats, column, refuse_masked
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Estimator, Index, MatrixLike

__all__ = ["query_permutation_importance"]


@with_row_arguments
@named_arguments
def query_permutation_importance(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    qid: ArrayLike | None = None,
    metric: MetricLike = "ndcg@10",
    scope: str = "within",
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
    sample_weight: ArrayLike | None = None,
    on_misuse: str = "raise",
) -> Any:
    """Compute the drop of a ranking metric when the values of a feature are shuffled.

    Like `sklearn.inspection.permutation_importance`, which shuffles across queries and cannot pass qid to a scorer.

    Parameters
    ----------
    estimator : estimator
        Fitted model. Its scores are the same as in scorers; `predict` needs no qid.
    X : ndarray, sparse matrix, or frame of pandas or polars, of shape (n_samples, n_features)
        Features, preferably of queries outside the training set. Not modified.
    metric : str, metric function or sequence of them, default="ndcg@10"
        Metrics, as for `make_ranking_scorer`.
    scope : {"within", "across"}, default="within"
        Whether to shuffle a feature among the documents of each query, or among all rows. "within" measures which
        features order the documents of a query. A feature that is constant within each query, such as its length, then
        has importance exactly 0, even if the model uses it in interactions; "across" shows such features.
    n_repeats : int, default=5
        Number of shuffles of each feature.
    n_jobs : int or None, default=None
        Number of features to shuffle in parallel, counted as in joblib. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the permutations, which are the same for all features.
    on_misuse : {"raise", "warn", "ignore"}, default="raise"
        Whether to raise an error, warn or do nothing if labels or ids look like misuse
        (``docs/conventions/misuse.md``).

    Returns
    -------
    Bunch or dict of str to Bunch
        `importances` of shape (n_features, n_repeats): the score minus the score after shuffling; higher means more
        important, for errors as well. `importances_mean` and `importances_std` of shape (n_features,). If `metric` is a
        sequence, a dict whose keys are names of scorers, such as "neg_rmse".

    Raises
    ------
    ValueError
        If qid is missing, a parameter is out of range, X is not two-dimensional, or no order of the documents changes
        the metric.

    Examples
    --------
    The label is the first feature; the second is the same for all documents of a query:

    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import query_permutation_importance
    >>> X, y, qid = [[0, 5], [1, 5], [2, 5], [0, 7], [1, 7]], [0, 1, 2, 0, 1], [1, 1, 1, 2, 2]
    >>> result = query_permutation_importance(
    ...     Ridge().fit(X, y), X, y, qid=qid, metric="ndcg", random_state=0
    ... )
    >>> result.importances_mean.round(2)
    array([0.25, 0.  ])
    """
    one_of("within", "across", doc="")("scope", scope, "query_permutation_importance")
    check_estimator(estimator, "estimator of query_permutation_importance")
    RANDOM_STATE("random_state", random_state, "query_permutation_importance")
    COUNT("n_repeats", n_repeats, "query_permutation_importance")
    ON_MISUSE("on_misuse", on_misuse, "query_permutation_importance")
    check_n_jobs(n_jobs)
    check_rows(y=y, qid=qid, sample_weight=sample_weight)
    check_features(X, y=y, qid=qid, sample_weight=sample_weight)
    refuse_masked(X, "X")
    X = X if sparse.issparse(X) or hasattr(X, "isetitem") or hasattr(X, "with_columns") else np.asarray(X)
    if len(X.shape) != 2:
        raise ValueError(f"X must have two dimensions, rows and features. Got shape {X.shape} instead.")
    check_lengths(X=X, y=y, sample_weight=sample_weight)
    ids = find_qid(y, qid, name="y")
    data = read_labels(y, ids, sample_weight)
    check_test_queries(estimator, X, y, ids)
    scorers, random = RankingScorers(metric), random_of(random_state, "query_permutation_importance")
    number = data.grouping.number_by_id
    group = number if scope == "within" else np.zeros_like(number)
    orders = [_shuffle(group, random) for _ in range(n_repeats)]
    prepared, specs = scorers.prepare(data), metrics_of(scorers)
    look_at_labels(IMPORTANCE, data, specs, on_misuse)
    look(IMPORTANCE, on_misuse, copies=(X, y))
    y_score = predict_scores(estimator, X)
    baseline = scorers.score_predictions(y_score, prepared)
    y_score = column(as_floats(low_scores(y_score, specs.values()), "predictions"))
    look_at_scores(IMPORTANCE, data, y_score, specs, on_misuse)
    columns = X.tocsc() if sparse.issparse(X) else X
    shuffled = Parallel(n_jobs=n_jobs)(
        delayed(_scores_without)(scorers, estimator, columns, feature, orders, prepared)
        for feature in range(X.shape[1])
    )
    by_metric: ByName[Bunch] = ByName()
    for name, value in baseline.items():
        importances = value - np.array([[scores[name] for scores in of_feature] for of_feature in shuffled])
        by_metric[name] = Bunch(
            importances_mean=importances.mean(axis=1), importances_std=importances.std(axis=1), importances=importances
        )
    return by_metric[scorers.names[0]] if is_single_metric(metric) else by_metric


def _shuffle(number: Index, random: np.random.RandomState) -> Index:
    """Random permutation of rows within each query; all permutations are equally likely."""
    order = np.empty_like(number)
    order[np.argsort(number, kind="stable")] = np.lexsort((random.random_sample(len(number)), number))
    return order


def _scores_without(
    scorers: RankingScorers, estimator: Estimator, X: MatrixLike, feature: int, orders: list[Index],
    rows: PreparedMetrics,
) -> list[dict[str, float]]:  # fmt: skip
    """Scores after each shuffle of a feature."""
    return [scorers.score_rows(estimator, _with_shuffled(X, feature, order), rows) for order in orders]


def _with_shuffled(X: Any, feature: int, order: Index) -> Any:
    """Copy of X with the values of a feature in another order."""
    # pandas: by position, because names may repeat.
    if hasattr(X, "isetitem"):
        X = X.copy()
        X.isetitem(feature, X.iloc[:, feature].array[order])
        return X
    if hasattr(X, "with_columns"):  # polars
        return X.with_columns(X.to_series(feature)[order])
    if sparse.issparse(X):
        return sparse.hstack([X[:, :feature], X[:, [feature]][order], X[:, feature + 1 :]], format="csr")
    X = np.array(X)
    X[:, feature] = X[order, feature]
    return X
