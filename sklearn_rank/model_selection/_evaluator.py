"""`RankingEvaluator`: splitter, scorers and metadata routing set up in one object, to compare models fairly."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray
from sklearn.exceptions import FitFailedWarning

from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.qid import ids_of
from sklearn_rank._engine.rows import check_features, check_rows, one_column
from sklearn_rank._metric.names import listed_metrics, parse_metrics
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import refuse_masked
from sklearn_rank._utils.typing import Array, Estimator, MatrixLike
from sklearn_rank.model_selection._comparison import Comparison, CrossValidation
from sklearn_rank.model_selection._estimator_checks import check_estimator, is_search
from sklearn_rank.model_selection._folds import FoldResult, Split, fit_folds
from sklearn_rank.model_selection._grouped_rows import GroupedRows
from sklearn_rank.model_selection._routing import consumes
from sklearn_rank.model_selection._scorer import RankingScorers, get_scorers
from sklearn_rank.model_selection._search_setup import (
    SearchSetup,
    check_inner_searches,
    warn_of_objective,
    whole_folds,
    with_qid,
)
from sklearn_rank.model_selection._split import QueryKFold


class RankingEvaluator:
    """Cross-validate, compare and tune models with ranking metrics, whole queries at a time.

    Models that need it are wrapped in `QueryRanker`. Metadata routing is on during the fits; the global configuration
    does not change. A splitter that would tear a query apart is refused. A search among the models, such as
    ``GridSearchCV(LGBMRanker(), {"num_leaves": [7, 31]})``, or one at the end of a Pipeline, is given the metrics and
    whole queries too, inside each training fold. A search that cannot be given them is refused.

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
        Whether `compare` and `cross_validate` show a progress bar over the fits of all models and folds; needs the
        extra "progress". A search shows its own by its `verbose`, or its callbacks (scikit-learn 1.9 or later).

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
        self,
        metrics: Any,
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
        baseline: str | None = None,
        test: str = "t",
        correction: str | None = "holm",
        progress: bool = False,
    ) -> None:
        self.metrics = listed_metrics(metrics)
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
    def split(self, X: MatrixLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> list[Split]:
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
        y, _, rows = _check_and_group(X, y, qid)
        return whole_folds(self.cv, X, y, rows.number)

    @named_arguments
    def cross_validate(
        self,
        estimator: Estimator,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        return_train_score: bool = False,
        return_estimator: bool = False,
        return_indices: bool = False,
    ) -> CrossValidation:
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
        y, ids, rows = _check_and_group(X, y, qid)
        folds = whole_folds(self.cv, X, y, rows.number)
        ready = self._prepare(estimator, X, y, rows.number, folds)
        (results,) = fit_folds(
            [ready], X, y, ids, folds,
            n_jobs=self.n_jobs, progress=self.progress, keep_estimator=return_estimator,
            score_train=return_train_score,
        )  # fmt: skip
        if failure := next((result.error for result in results if result.error is not None), None):
            raise failure
        scores = {
            "fit_time": np.array([result.fit_time for result in results]),
            "score_time": np.array([result.score_time for result in results]),
        }
        if return_estimator:
            scores["estimator"] = [result.estimator for result in results]  # type: ignore[assignment]
        if return_indices:
            scores["indices"] = {"train": [a for a, _ in folds], "test": [b for _, b in folds]}  # type: ignore[assignment]
        metrics = parse_metrics(self.metrics)
        means = {"test": _fold_means([rows.take(test) for _, test in folds], [r.y_score for r in results], metrics)}
        if return_train_score:
            of_train = [result.y_score_train for result in results]
            means["train"] = _fold_means([rows.take(train) for train, _ in folds], of_train, metrics)
        for part, of_metric in means.items():
            for name, spec in metrics.items():
                scores[f"{part}_{name}"] = of_metric[name] if spec.metric.greater_is_better else -of_metric[name]
        pooled = None
        if _tested_once(folds, len(y)):
            pooled = rows.evaluate(_out_of_fold(results, folds, len(y)), metrics)
        return CrossValidation(scores, pooled)

    @named_arguments
    def compare(
        self, estimators: Mapping[str, Any], X: MatrixLike, y: Any, *, qid: ArrayLike | None = None
    ) -> Comparison:
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
        y, ids, rows = _check_and_group(X, y, qid)
        folds = whole_folds(self.cv, X, y, rows.number)
        if not _tested_once(folds, len(y)):
            raise ValueError(
                "compare pools the scores that each query gets while it is held out, so every row must be tested "
                "exactly once: use QueryKFold or LeaveOneQueryOut, or cross_validate for scores by fold. "
                f"Got {self.cv!r}."
            )
        models = [self._prepare(e, X, y, rows.number, folds, f"Model {name!r}") for name, e in estimators.items()]
        results_of_models = fit_folds(models, X, y, ids, folds, n_jobs=self.n_jobs, progress=self.progress)
        by_model = dict(zip(estimators, results_of_models, strict=True))
        failures = {name: errors for name, results in by_model.items() if (errors := _errors(results))}
        if len(failures) == len(models):
            told = "; ".join(f"{name}: {next(iter(errors.values()))}" for name, errors in failures.items())
            raise ValueError(f"All models failed, so there is nothing to compare. {told}")
        for name, errors in failures.items():
            told = "; ".join(f"fold {i}: {error}" for i, error in errors.items())
            warnings.warn(f"{name} failed and is left out of the comparison. {told}", FitFailedWarning, stacklevel=3)
        metrics, tested = parse_metrics(self.metrics), [rows.take(test) for _, test in folds]
        y_score = {
            name: _out_of_fold(results, folds, len(y)) for name, results in by_model.items() if name not in failures
        }
        return Comparison(
            results={name: rows.evaluate(scores, metrics) for name, scores in y_score.items()},
            y_score=y_score,
            fold_means={
                name: _fold_means(tested, [r.y_score for r in results], metrics) for name, results in by_model.items()
            },
            fit_time={name: np.array([result.fit_time for result in results]) for name, results in by_model.items()},
            failures=failures,
            n_queries=[
                (rows.n_queries_in(train), len(of_fold.ids)) for (train, _), of_fold in zip(folds, tested, strict=True)
            ],
            baseline=baseline,
            test=self.test,
            correction=self.correction,
        )

    @named_arguments
    def search(self, search: Any, X: MatrixLike, y: ArrayLike, *, qid: ArrayLike | None = None) -> Any:
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
        y, ids, rows = _check_and_group(X, y, qid)
        number = rows.number
        cv = QueryKFold(search.cv) if is_count(search.cv) else self.cv if search.cv is None else search.cv
        folds = whole_folds(cv, X, y, number)
        ready = self._setup(number).search(copy.copy(search).set_params(cv=folds))
        check_inner_searches(ready.estimator, X, y, number, folds)
        warn_of_objective(ready)
        if ready.n_jobs is None:
            ready.set_params(n_jobs=self.n_jobs)
        with sklearn.config_context(enable_metadata_routing=True):
            ready.fit(X, y, qid=ids)
        _check_scored(ready)
        return ready.set_params(cv=with_qid(cv)) if hasattr(cv, "split") else ready  # to be fitted on other rows

    def _setup(self, number: NDArray[np.int64]) -> SearchSetup:
        """Scorers and splitter for searches inside; one that knows no queries fits only the rows it was made for."""
        cv = with_qid(self.cv) if consumes(self.cv, "split", "groups", "qid") else QueryKFold()
        return SearchSetup(self.scorers, cv, int(number.max(initial=-1)) + 1)

    def _prepare(
        self, estimator: Estimator, X: MatrixLike, y: ArrayLike, number: NDArray[np.int64], folds: list[Split],
        name: str = "The estimator",
    ) -> Any:  # fmt: skip
        """The estimator as one that takes qid; its searches get scorers and splitter, or are refused."""
        ready = self._setup(number).prepare(estimator, name)
        check_inner_searches(ready, X, y, number, folds)
        return ready

    def __repr__(self) -> str:
        """Call that makes this object."""
        return f"RankingEvaluator({[*self._specs]}, cv={self.cv!r}, n_jobs={self.n_jobs!r})"


def _check_scored(search: Any) -> None:
    """Refuse a search of which no candidate has a score."""
    scores = [v for name, v in search.cv_results_.items() if name.startswith("mean_test_")]
    if np.isnan(scores).all():
        raise ValueError("No candidate of the search could be scored; error_score='raise' shows why. Got NaN for all.")


def _check_and_group(X: MatrixLike, y: ArrayLike, qid: ArrayLike | None) -> tuple[Any, NDArray[Any], GroupedRows]:
    """Labels, one a row; the id of each row's query, which models remember; and the rows grouped."""
    check_rows(y=y, qid=qid)
    check_features(X, y=y, qid=qid)
    for name, data in (("X", X), ("y", y)):
        refuse_masked(data, name)
    y = one_column(y)
    ids = ids_of(find_qid(y, qid, name="y"))
    return y, ids, GroupedRows.of(y, ids)


def _tested_once(folds: list[Split], n_rows: int) -> bool:
    tested = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
    return bool((tested == 1).all())


def _fold_means(
    folds: Sequence[GroupedRows], y_score: Sequence[Array | None], metrics: Mapping[str, MetricSpec]
) -> dict[str, Array]:
    """Mean of each metric in each fold; NaN where there are no scores."""
    means = {name: np.full(len(folds), np.nan) for name in metrics}
    for i, (rows, scores) in enumerate(zip(folds, y_score, strict=True)):
        if scores is not None:
            for name, mean in rows.evaluate(scores, metrics).mean().items():
                means[name][i] = mean
    return means


def _errors(results: Sequence[FoldResult]) -> dict[int, str]:
    """Errors by fold."""
    return {i: f"{type(r.error).__name__}: {r.error}" for i, r in enumerate(results) if r.error is not None}


def _out_of_fold(results: Sequence[FoldResult], folds: Sequence[Split], n_rows: int) -> Array:
    """Score of each row by the model that had not seen it."""
    y_score = np.empty(n_rows, dtype=np.result_type(*(result.y_score for result in results)))
    for (_, test), result in zip(folds, results, strict=True):
        y_score[test] = result.y_score
    return y_score
