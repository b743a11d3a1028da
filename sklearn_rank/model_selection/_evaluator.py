"""`RankingEvaluator`: splitter, scorers and metadata routing set up in one object, to compare models fairly."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping
from contextlib import nullcontext
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.exceptions import FitFailedWarning

from sklearn_rank._engine.grouping import find_qid, query_numbers
from sklearn_rank._engine.qid import ids_of
from sklearn_rank._engine.rows import check_features, check_rows, one_column
from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._metric.names import is_single_metric, parse_metrics
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import refuse_masked
from sklearn_rank.model_selection._comparison import Comparison, CrossValidation
from sklearn_rank.model_selection._folds import FoldResult, Split, fit_folds
from sklearn_rank.model_selection._progress import counted_fits
from sklearn_rank.model_selection._query_ranker import take_rows
from sklearn_rank.model_selection._routing import consumes
from sklearn_rank.model_selection._scorer import RankingScorers, get_scorers
from sklearn_rank.model_selection._searches import (
    SearchSetup,
    check_inner_searches,
    warn_of_objective,
    whole_folds,
    with_qid,
)
from sklearn_rank.model_selection._split import QueryKFold
from sklearn_rank.model_selection._tuning import check_estimator, is_search


class RankingEvaluator:
    """Cross-validate, compare and tune models with ranking metrics, whole queries at a time.

    Models are wrapped in `QueryRanker` as they need it, metadata routing is switched on inside and left as it was
    found, and a splitter that would tear a query apart is refused. A search among the models, such as
    ``GridSearchCV(LGBMRanker(), {"num_leaves": [7, 31]})``, or one at the end of a Pipeline, is set up likewise, inside
    each training fold; a search that cannot be is refused.

    Parameters
    ----------
    metrics : str, metric function or sequence of them
        As `evaluate` takes them. The first decides in searches.
    cv : int or splitter, default=5
        Number of folds of `QueryKFold`, or a splitter that keeps queries whole.
    n_jobs : int or None, default=None
        Fits at a time, as joblib counts them.
    baseline : str, default=None
        Name of the model that `compare` tests the others against. None: the first.
    test : str, default="t"
        Paired test over queries, see `sklearn_rank.stats.compare`.
    correction : str or None, default="holm"
        Of the p-values of several models, see `sklearn_rank.stats.compare_all`.
    progress : bool, default=False
        Whether to show a progress bar over all fits, of all models and folds; needs the extra "progress".

    Attributes
    ----------
    scorers : RankingScorers
        Of all metrics, for ``scoring=``.
    cv : splitter
        For ``cv=``.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import RankingEvaluator
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=50, random_state=0)
    >>> evaluator = RankingEvaluator(["ndcg@10", "map"], cv=5)
    >>> report = evaluator.compare({"constant": DummyRegressor(), "ridge": Ridge()}, X, y, qid=qid)
    >>> report.results["ridge"].mean()["map"] > report.results["constant"].mean()["map"]
    True
    """

    def __init__(
        self, metrics: Any, *, cv: Any = 5, n_jobs: int | None = None, baseline: str | None = None, test: str = "t",
        correction: str | None = "holm", progress: bool = False,
    ) -> None:  # fmt: skip
        self.metrics = [metrics] if is_single_metric(metrics) else [*metrics]
        self._specs = parse_metrics(self.metrics)
        if not hasattr(cv, "get_n_splits") and not (is_count(cv) and cv > 1):
            raise ValueError(
                f"The 'cv' parameter of RankingEvaluator must be an int >= 2 or a splitter. Got {cv!r} instead."
            )
        self.cv = cv if hasattr(cv, "get_n_splits") else QueryKFold(cv)
        self.n_jobs, self.baseline, self.test, self.correction = n_jobs, baseline, test, correction
        self.progress = progress

    @property
    def scorers(self) -> RankingScorers:
        """Scorer of all metrics, for ``scoring=``."""
        return get_scorers(self.metrics)

    @named_arguments
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
        y, _, number = _rows_and_queries(X, y, qid)
        return whole_folds(self.cv, X, y, number)

    @named_arguments
    def cross_validate(
        self, estimator: Any, X: Any, y: Any, *, qid: Any = None, return_train_score: bool = False,
        return_estimator: bool = False, return_indices: bool = False,
    ) -> CrossValidation:  # fmt: skip
        """Scores of each fold, as `sklearn.model_selection.cross_validate` returns them, and those of each query.

        Parameters
        ----------
        estimator : estimator
            Ranker, regressor, classifier of grades, Pipeline or search.
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.
        return_train_score, return_estimator, return_indices : bool, default=False
            What else to return, as scikit-learn's function does.

        Returns
        -------
        CrossValidation
            A dict of str to ndarray of shape (n_splits,): ``"test_ndcg@10"``, ..., ``"fit_time"``, ``"score_time"``;
            errors are negative, as scorers have them. Its `pooled` is the `Evaluation` of all queries, each scored by
            the model that had not seen it.

        Raises
        ------
        Exception
            What a fit raises; `compare` reports it instead.
        TypeError
            If it is no estimator.
        ValueError
            If queries are torn apart, by a search inside too, or a search inside cannot be given the metrics.
        """
        y, ids, number = _rows_and_queries(X, y, qid)
        folds = whole_folds(self.cv, X, y, number)
        ready = self._prepare(estimator, X, y, number, folds)
        (held,) = fit_folds(
            [ready], X, y, ids, folds,
            n_jobs=self.n_jobs, progress=self.progress, keep_estimator=return_estimator,
            score_train=return_train_score,
        )  # fmt: skip
        if failure := next((h.error for h in held if h.error is not None), None):
            raise failure
        scores = {
            "fit_time": np.array([h.fit_time for h in held]),
            "score_time": np.array([h.score_time for h in held]),
        }
        if return_estimator:
            scores["estimator"] = [h.estimator for h in held]  # type: ignore[assignment]
        if return_indices:
            scores["indices"] = {"train": [a for a, _ in folds], "test": [b for _, b in folds]}  # type: ignore[assignment]
        parts = {"test": _tests(held, folds)}
        if return_train_score:
            parts["train"] = [(train, h.y_score_train) for (train, _), h in zip(folds, held, strict=True)]
        for part, rows in parts.items():
            found = self._score_folds(y, number, rows)
            for name, spec in self._specs.items():
                scores[f"{part}_{name}"] = found[name] if spec.metric.greater_is_better else -found[name]
        pooled = None
        if _tested_once(folds, len(y)):
            pooled = evaluate(y, _pool(held, folds, len(y)), qid=ids, metrics=self.metrics)
        return CrossValidation(scores, pooled)

    @named_arguments
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
            A model that raises in a fold is reported there, and in a warning; the others are compared without it. So
            is a model that predicts NaN, +inf, or other than one number a row.

        Raises
        ------
        ValueError
            If the splitter does not test every row exactly once, it or that of a search inside tears queries apart, a
            search inside cannot be given the metrics, the baseline is not among the models, there is no such test
            against one, or correction of several, or all models fail.
        TypeError
            If `estimators` is not a mapping with at least one entry, or one is no estimator.
        """
        from sklearn_rank.stats._compare_all import check_plan  # loads scipy.stats

        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(f"compare takes a mapping from names to estimators, one or more. Got {estimators!r}.")
        if self.baseline is not None and self.baseline not in estimators:
            raise ValueError(f"The baseline must be one of the models, {[*estimators]}. Got {self.baseline!r}.")
        baseline = next(iter(estimators)) if self.baseline is None else self.baseline
        check_plan("RankingEvaluator", test=self.test, correction=self.correction, baseline=baseline)
        for name, estimator in estimators.items():
            check_estimator(estimator, f"Model {name!r}")
        y, ids, number = _rows_and_queries(X, y, qid)
        folds = whole_folds(self.cv, X, y, number)
        if not _tested_once(folds, len(y)):
            raise ValueError(
                "compare pools the scores that each query gets while it is held out, so every row must be tested "
                "exactly once: use QueryKFold or LeaveOneQueryOut, or cross_validate for scores by fold. "
                f"Got {self.cv!r}."
            )
        models = [self._prepare(e, X, y, number, folds, f"Model {name!r}") for name, e in estimators.items()]
        outcomes = dict(
            zip(
                estimators,
                fit_folds(models, X, y, ids, folds, n_jobs=self.n_jobs, progress=self.progress),
                strict=True,
            )
        )
        failures = {name: _errors(held) for name, held in outcomes.items() if _errors(held)}
        if len(failures) == len(models):
            told = "; ".join(f"{name}: {next(iter(errors.values()))}" for name, errors in failures.items())
            raise ValueError(f"All models failed, so there is nothing to compare. {told}")
        for name, errors in failures.items():
            told = "; ".join(f"fold {i}: {error}" for i, error in errors.items())
            warnings.warn(f"{name} failed and is left out of the comparison. {told}", FitFailedWarning, stacklevel=3)
        y_score = {name: _pool(held, folds, len(y)) for name, held in outcomes.items() if name not in failures}
        return Comparison(
            results={name: evaluate(y, s, qid=ids, metrics=self.metrics) for name, s in y_score.items()},
            y_score=y_score,
            fold_means={name: self._score_folds(y, number, _tests(held, folds)) for name, held in outcomes.items()},
            fit_time={name: np.array([h.fit_time for h in held]) for name, held in outcomes.items()},
            failures=failures,
            n_queries=[(len(np.unique(number[train])), len(np.unique(number[test]))) for train, test in folds],
            baseline=baseline,
            test=self.test,
            correction=self.correction,
        )

    @named_arguments
    def search(self, search: Any, X: Any, y: Any, *, qid: Any = None) -> Any:
        """Fit a search of scikit-learn with these metrics, this splitter, and qid routed.

        Parameters
        ----------
        search : estimator
            `GridSearchCV`, `RandomizedSearchCV` or another with the parameters `estimator`, `scoring`, `cv`, `refit`.
            Its `scoring` and `cv` are set where they are None, `refit` to the first metric where it is True; an int as
            `cv` is a number of folds of `QueryKFold`. Its estimator is wrapped as it needs it, and names of parameters
            go on meaning what they meant. Successive halving takes the first metric, and the resource "max_queries",
            of which there are as many as queries, or another with `max_resources`.
        X : array-like or frame of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        qid : array-like of shape (n_samples,), default=None
            Query of each row. None: taken from the level "qid" of the index of y.

        Returns
        -------
        estimator
            A fitted copy of the search; in ``best_params_`` the parameters have the names they have in `QueryRanker`,
            such as "estimator__num_leaves".

        Raises
        ------
        TypeError
            If it is not a search, or what it tunes is no estimator.
        ValueError
            If queries are torn apart, by its splitter, that of a search inside, or halving over "n_samples"; if a
            search inside cannot be given the metrics, or no candidate can be scored.
        """
        if not is_search(search):
            raise TypeError(
                "search takes a search of scikit-learn, with parameters 'estimator', 'scoring', 'cv' and 'refit'. "
                f"Got {echo(search)}."
            )
        y, ids, number = _rows_and_queries(X, y, qid)
        cv = QueryKFold(search.cv) if is_count(search.cv) else self.cv if search.cv is None else search.cv
        folds = whole_folds(cv, X, y, number)
        ready = self._setup(number).search(copy.copy(search).set_params(cv=folds))
        check_inner_searches(ready.estimator, X, y, number, folds)
        warn_of_objective(ready)
        if ready.n_jobs is None:
            ready.set_params(n_jobs=self.n_jobs)
        counted = self.progress and isinstance(ready.scoring, RankingScorers)
        with (
            sklearn.config_context(enable_metadata_routing=True),
            counted_fits(ready, len(folds)) if counted else nullcontext(),
        ):
            ready.fit(X, y, qid=ids)
        _check_scored(ready)
        return ready.set_params(cv=with_qid(cv)) if hasattr(cv, "split") else ready  # to be fitted on other rows

    def _setup(self, number: NDArray[np.int64]) -> SearchSetup:
        """What searches inside are given; a splitter that knows no queries serves only on the rows it was made for."""
        cv = with_qid(self.cv) if consumes(self.cv, "split", "groups", "qid") else QueryKFold()
        return SearchSetup(self.scorers, cv, int(number.max(initial=-1)) + 1)

    def _prepare(
        self, estimator: Any, X: Any, y: Any, number: NDArray[np.int64], folds: list[Split],
        name: str = "The estimator",
    ) -> Any:  # fmt: skip
        """The estimator as one that takes qid; its searches get scorers and splitter, or are refused."""
        ready = self._setup(number).prepare(estimator, name)
        check_inner_searches(ready, X, y, number, folds)
        return ready

    def _score_folds(
        self, y: Any, number: NDArray[np.int64], scored: list[tuple[NDArray[np.int64], Any]]
    ) -> dict[str, NDArray[np.float64]]:
        """Mean of each metric in each fold; NaN where there are no scores."""
        means = {name: np.full(len(scored), np.nan) for name in self._specs}
        for i, (rows, y_score) in enumerate(scored):
            if y_score is not None:
                result = evaluate(take_rows(y, rows), y_score, qid=number[rows], metrics=self.metrics)
                for name, mean in result.mean().items():
                    means[name][i] = mean
        return means

    def __repr__(self) -> str:
        """Call that makes this object."""
        return f"RankingEvaluator({[*self._specs]}, cv={self.cv!r}, n_jobs={self.n_jobs!r})"


def _check_scored(search: Any) -> None:
    """Refuse a search of which no candidate has a score."""
    scores = [v for name, v in search.cv_results_.items() if name.startswith("mean_test_")]
    if np.isnan(scores).all():
        raise ValueError("No candidate of the search could be scored; error_score='raise' shows why. Got NaN for all.")


def _rows_and_queries(X: Any, y: Any, qid: Any) -> tuple[Any, NDArray[Any], NDArray[np.int64]]:
    """Labels, one a row; the id of each row's query, which models remember, and its number."""
    check_rows(y=y, qid=qid)
    check_features(X, y=y, qid=qid)
    for name, data in (("X", X), ("y", y)):
        refuse_masked(data, name)
    y = one_column(y)
    qid = find_qid(y, qid, name="y")
    return y, ids_of(qid), query_numbers(qid, len(y))


def _tested_once(folds: list[Split], n_rows: int) -> bool:
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
    return bool((tested == 1).all())


def _tests(held: list[FoldResult], folds: list[Split]) -> list[tuple[NDArray[np.int64], Any]]:
    """Rows held out in each fold and their scores."""
    return [(test, fold.y_score) for (_, test), fold in zip(folds, held, strict=True)]


def _errors(held: list[FoldResult]) -> dict[int, str]:
    """What went wrong, by fold."""
    return {i: f"{type(h.error).__name__}: {h.error}" for i, h in enumerate(held) if h.error is not None}


def _pool(held: list[FoldResult], folds: list[Split], n_rows: int) -> NDArray[Any]:
    """Score of each row by the model that had not seen it."""
    y_score = np.empty(n_rows, dtype=np.result_type(*(fold.y_score for fold in held)))
    for (_, test), fold in zip(folds, held, strict=True):
        y_score[test] = fold.y_score
    return y_score
