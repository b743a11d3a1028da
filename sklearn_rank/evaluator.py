"""`RankingEvaluator`: splitter, scorers and metadata routing set up in one object, to compare models fairly."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.model_selection import cross_val_predict, cross_validate
from sklearn.utils.metadata_routing import get_routing_for_object

from sklearn_rank._grouping import find_qid
from sklearn_rank._keywords import is_count
from sklearn_rank._table import Table
from sklearn_rank.evaluate import Evaluation, evaluate, parse_metrics
from sklearn_rank.model_selection import QueryKFold, query_numbers
from sklearn_rank.ranker import as_query_ranker
from sklearn_rank.scorer import RankingScorers, get_scorers

Split = tuple[NDArray[np.int64], NDArray[np.int64]]


class RankingEvaluator:
    """Cross-validate and compare models with ranking metrics, whole queries at a time.

    Models are wrapped in `QueryRanker` as they need it, metadata routing is switched on inside and left as it was
    found, and a splitter that would tear a query apart is refused.

    Parameters
    ----------
    metrics : str, metric function or sequence of them
        As `evaluate` takes them.
    cv : int or splitter, default=5
        Number of folds of `QueryKFold`, or a splitter that keeps queries whole.
    n_jobs : int or None, default=None
        Folds to fit at a time, as joblib counts them.
    verbose : bool, default=False
        Whether `compare` prints a line for each model when it is done.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import RankingEvaluator
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=50, random_state=0)
    >>> evaluator = RankingEvaluator(["ndcg@10", "map"], cv=5)
    >>> report = evaluator.compare({"ridge": Ridge(), "constant": DummyRegressor()}, X, y, qid=qid)
    >>> report.results["ridge"].mean()["map"] > report.results["constant"].mean()["map"]
    True
    """

    def __init__(self, metrics: Any, *, cv: Any = 5, n_jobs: int | None = None, verbose: bool = False) -> None:
        self.metrics = [metrics] if isinstance(metrics, str) or callable(metrics) else list(metrics)
        self._names = list(parse_metrics(self.metrics))
        if not hasattr(cv, "get_n_splits") and not (is_count(cv) and cv > 1):
            raise ValueError(
                f"The 'cv' parameter of RankingEvaluator must be an int >= 2 or a splitter. Got {cv!r} instead."
            )
        self.cv = cv if hasattr(cv, "get_n_splits") else QueryKFold(cv)
        self.n_jobs, self.verbose = n_jobs, verbose

    @property
    def scorers(self) -> RankingScorers:
        """Scorer of all metrics, for ``scoring=``."""
        return get_scorers(self.metrics)

    def split(self, X: Any, y: Any, *, qid: Any = None) -> list[Split]:
        """Folds that all models are given.

        Parameters
        ----------
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.

        Returns
        -------
        list of (ndarray, ndarray)
            Row numbers of each training and test set.

        Raises
        ------
        ValueError
            If qid is missing, or the splitter puts rows of one query into both sets.
        """
        number = query_numbers(find_qid(y, qid, name="y"), len(y))
        takes_groups = get_routing_for_object(self.cv).consumes("split", ["groups", "qid"])
        folds = list(self.cv.split(X, y, number) if takes_groups else self.cv.split(X, y))
        for i, (train, test) in enumerate(folds):
            torn = np.intersect1d(number[train], number[test])
            if len(torn):
                raise ValueError(
                    "A splitter must keep queries whole, or scores are taken on lists cut short and seen in training; "
                    "use QueryKFold, QueryShuffleSplit or LeaveOneQueryOut. "
                    f"Got {self.cv!r}, which tears {len(torn)} queries apart in fold {i}."
                )
        return folds

    def cross_validate(self, estimator: Any, X: Any, y: Any, *, qid: Any = None, **options: Any) -> dict[str, Any]:
        """Scores of each fold, as `sklearn.model_selection.cross_validate` returns them.

        Parameters
        ----------
        estimator : estimator
            Ranker, regressor, classifier of grades, Pipeline or search.
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.
        **options
            More options of scikit-learn's function, such as ``return_estimator=True``.

        Returns
        -------
        dict of str to ndarray of shape (n_splits,)
            ``"test_ndcg@10"``, ..., ``"fit_time"``, ``"score_time"``. Folds get about equal numbers of rows, not of
            queries, so their mean is not the mean over queries, which `compare` gives.
        """
        folds, qid = self.split(X, y, qid=qid), find_qid(y, qid, name="y")
        options = {"error_score": "raise", "n_jobs": self.n_jobs} | options
        with sklearn.config_context(enable_metadata_routing=True):
            return dict(
                cross_validate(
                    as_query_ranker(estimator), X, y, cv=folds, scoring=self.scorers, params={"qid": qid}, **options
                )
            )

    def compare(self, estimators: Mapping[str, Any], X: Any, y: Any, *, qid: Any = None) -> Comparison:
        """Score each model on queries it has not seen, all models on the same folds.

        Parameters
        ----------
        estimators : dict of str to estimator
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.

        Returns
        -------
        Comparison

        Raises
        ------
        ValueError
            If the splitter does not test every row exactly once, or tears queries apart.
        TypeError
            If `estimators` is not a mapping with at least one entry.
        """
        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(f"compare takes a mapping from names to estimators, one or more. Got {estimators!r}.")
        folds, qid = self.split(X, y, qid=qid), find_qid(y, qid, name="y")
        tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=len(y))
        if not (tested == 1).all():
            raise ValueError(
                "compare pools the scores that each query gets while it is held out, so every row must be tested "
                "exactly once: use QueryKFold or LeaveOneQueryOut, or cross_validate for scores by fold. "
                f"Got {self.cv!r}, which tests rows {tested.min()} to {tested.max()} times."
            )
        results, y_score = {}, {}
        for name, estimator in estimators.items():
            began = perf_counter()
            with sklearn.config_context(enable_metadata_routing=True):
                y_score[name] = cross_val_predict(
                    as_query_ranker(estimator), X, y, cv=folds, params={"qid": qid}, n_jobs=self.n_jobs
                )
            results[name] = evaluate(y, y_score[name], qid=qid, metrics=self.metrics)
            if self.verbose:
                means = ", ".join(f"{metric} {mean:.4f}" for metric, mean in results[name].mean().items())
                print(f"{name}: {means} ({perf_counter() - began:.1f} s)", flush=True)
        return Comparison(results, y_score)

    def __repr__(self) -> str:
        """Call that makes this object."""
        return f"RankingEvaluator({self._names}, cv={self.cv!r}, n_jobs={self.n_jobs!r})"


@dataclass(frozen=True, repr=False)
class Comparison:
    """Models on the same queries, each query scored by a model that has not seen it.

    Attributes
    ----------
    results : dict of str to Evaluation
        Values query by query, of each model.
    y_score : dict of str to ndarray of shape (n_samples,)
        The scores behind them, in the order of the input.
    """

    results: dict[str, Evaluation]
    y_score: dict[str, NDArray[np.float64]]

    def summary(self, level: float = 0.95) -> Table:
        """Table of means over queries, with confidence intervals.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level, see `Evaluation.confidence_interval`.

        Returns
        -------
        Table
            Printable; ``to_frame()`` makes a pandas frame of it.
        """
        rows = []
        for model, result in self.results.items():
            intervals = result.confidence_interval(level)
            for metric, mean in result.mean().items():
                rows.append((model, metric, mean, *intervals[metric], result.n_undefined[metric]))
        return Table(("model", "metric", "mean", "low", "high", "undefined"), tuple(rows))

    def __repr__(self) -> str:
        """Summary, and the number of queries."""
        n_queries = len(next(iter(self.results.values())).qid) if self.results else 0
        return f"Comparison of {len(self.results)} models on {n_queries} queries\n{self.summary()}"
