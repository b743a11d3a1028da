"""Learning curves over queries: the score of a model against the number of training queries."""

from __future__ import annotations

from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import cross_validate

from sklearn_rank._data.doors import LEARNING_CURVE
from sklearn_rank._data.look import look, look_at_labels
from sklearn_rank._engine.columns import check_features, check_rows
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.read import read_labels
from sklearn_rank._evaluator.evaluator import RankingEvaluator
from sklearn_rank._evaluator.folds import query_folds
from sklearn_rank._evaluator.query_folds import QueryFolds
from sklearn_rank._metric.names import parse_signed
from sklearn_rank._metric.spec import MetricLike
from sklearn_rank._scoring.routing import with_row_arguments
from sklearn_rank._scoring.scorer import metrics_of
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import RANDOM_STATE, random_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import CVLike, Estimator
from sklearn_rank.recommenders._recommender_scorer import RecommenderScorer

LearningCurve = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]


@with_row_arguments
@named_arguments
def query_learning_curve(
    estimator: Estimator,
    X: Any,
    y: Any,
    *,
    qid: ArrayLike | None = None,
    metric: MetricLike = "ndcg@10",
    train_sizes: ArrayLike = (0.1, 0.325, 0.55, 0.775, 1.0),
    cv: CVLike = 5,
    n_jobs: int | None = None,
    random_state: int | np.random.RandomState | None = None,
) -> LearningCurve:
    """Score a model trained on an increasing number of queries, like `sklearn.model_selection.learning_curve`.

    The function of scikit-learn truncates each training fold at a number of rows, which splits a query.

    Parameters
    ----------
    estimator : estimator
        Ranker, regressor, classifier of grades, Pipeline or search; wrapped in `QueryRanker` if necessary.
    metric : str, metric function or callable, default="ndcg@10"
        Metric, as for `make_ranking_scorer`. Higher is better, as for scorers: the values of an error are negative,
        whether you write "rmse" or "neg_rmse".
    train_sizes : array-like of int or float, default=(0.1, 0.325, 0.55, 0.775, 1.0)
        Numbers of queries to train on, or shares of the queries of the smallest training fold.
    cv : int or splitter, default=5
        Number of folds of `QueryKFold`, or a splitter that keeps queries whole.
    n_jobs : int or None, default=None
        Fits to run at a time, counted as in joblib.
    random_state : int, RandomState instance or None, default=None
        Seed for the draw of queries from a fold. A larger training set includes the queries of a smaller set.

    Returns
    -------
    train_sizes : ndarray of shape (n_sizes,)
        Numbers of training queries, in increasing order without duplicates.
    train_scores, test_scores : ndarray of shape (n_sizes, n_splits)
        Scores on the training queries, and on the queries of the test fold, which are the same for all sizes. Errors
        are negative.

    Raises
    ------
    ValueError
        If qid is missing, a size is out of range, there is more than one metric, or the splitter splits queries.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import query_learning_curve
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=50, random_state=0)
    >>> sizes, train, test = query_learning_curve(
    ...     Ridge(), X, y, qid=qid, train_sizes=[0.5, 1.0], cv=5
    ... )
    >>> sizes, test.shape
    (array([20, 40]), (2, 5))
    """
    if isinstance(metric, RecommenderScorer):
        raise TypeError(
            "A learning curve draws whole queries for training, but a recommender scorer tests users from the training "
            f"set, so they do not work together. Got {echo(metric)}."
        )
    evaluator = RankingEvaluator(parse_signed(metric), cv=cv)
    check_n_jobs(n_jobs)
    RANDOM_STATE.check("random_state", random_state, "query_learning_curve")
    name, *more = evaluator.scorers.names
    if more:
        raise ValueError(f"A learning curve takes exactly one metric. Got {evaluator.scorers.names}.")
    check_rows(y=y, qid=qid)
    check_features(X, y=y, qid=qid)
    data = read_labels(y, find_qid(y, qid, name="y"))
    number = data.grouping.number_by_id
    folds, random = query_folds(evaluator.cv, X, y, number, {}), random_of(random_state, "query_learning_curve")
    drawn = [random.permutation(distinct_values(number[train])) for train, _ in folds]
    sizes = _query_counts(train_sizes, min(map(len, drawn)))
    parts = [
        (train[np.isin(number[train], queries[:size])], test)
        for (train, test), queries in zip(folds, drawn, strict=True)
        for size in sizes
    ]
    look_at_labels(LEARNING_CURVE, data, metrics_of(evaluator.scorers))
    look(LEARNING_CURVE, copies=(X, y))
    ready = QueryFolds(evaluator.scorers, evaluator.cv, X, y, {"qid": number}, parts, data).prepare(estimator)
    with sklearn.config_context(enable_metadata_routing=True):
        scores = cross_validate(
            ready, X, y, cv=parts, scoring=evaluator.scorers.without_checks(), params={"qid": number},
            n_jobs=n_jobs, return_train_score=True, error_score="raise",
        )  # fmt: skip
    shape = len(folds), len(sizes)
    return sizes, scores[f"train_{name}"].reshape(shape).T, scores[f"test_{name}"].reshape(shape).T


def _query_counts(train_sizes: ArrayLike, n_queries: int) -> NDArray[np.int64]:
    """Convert sizes to numbers of queries; shares refer to `n_queries`."""
    sizes = np.asarray(train_sizes)
    highest = 1.0 if sizes.dtype.kind == "f" else n_queries
    if (
        sizes.ndim != 1
        or sizes.size == 0
        or sizes.dtype.kind not in "iuf"
        or not ((0 < sizes) & (sizes <= highest)).all()
    ):
        raise ValueError(
            "'train_sizes' must be shares above 0 and up to 1.0, or numbers of queries up to "
            f"the smallest training fold, {n_queries}. Got {echo(train_sizes)} instead."
        )
    if sizes.dtype.kind == "f":
        sizes = np.maximum(1, np.round(sizes * n_queries))
    return distinct_values(sizes.astype(np.int64))
