"""`RankingEvaluator`: one object sets up splitter, scorers and metadata routing, to compare models fairly."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import FitFailedWarning

from sklearn_rank._comparison.comparison import (
    Comparison,
    CrossValidation,
    known_baseline,
    look_at_judged,
    look_at_measured,
)
from sklearn_rank._data.doors import COMPARE, CROSS_VALIDATE
from sklearn_rank._data.look import ON_MISUSE, collected_findings, findings_of_systems, look
from sklearn_rank._engine.attributes import AttributesLike
from sklearn_rank._evaluation.several_runs import names_of_runs, one_by_system
from sklearn_rank._evaluator.folds import FoldReporter, ModelFolds, OnFold, Split, by_metric, refuse_unused
from sklearn_rank._evaluator.query_folds import QueryFolds
from sklearn_rank._evaluator.recommender_folds import RecommenderFolds
from sklearn_rank._evaluator.search_setup import check_scored, chosen_cv, progress_of_search, score_strictly, with_qid
from sklearn_rank._metric.key_signs import ByName
from sklearn_rank._metric.keywords import own_tables
from sklearn_rank._metric.names import DEFAULT_METRICS, signed
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._ranker.estimator_checks import check_estimator, is_search, refuse_torn_search
from sklearn_rank._scoring.model_checks import is_frozen
from sklearn_rank._scoring.routing import fit_routed, named_columns, with_row_arguments
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array, CVLike, Estimator, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller
from sklearn_rank.recommenders._recommender_scorer import RecommenderScorer


class RankingEvaluator:
    """Cross-validate, compare and tune models with ranking metrics, whole queries at a time.

    The evaluator wraps models in `QueryRanker` if necessary. It switches metadata routing on during the fits and leaves
    the global configuration unchanged. It refuses a splitter that splits a query. A scikit-learn search among the
    models, such as ``GridSearchCV(QueryRanker(LGBMRanker()), {"estimator__num_leaves": [7, 31]})``, or a search at the
    end of a Pipeline, gets the same metrics and whole queries inside each training fold. The evaluator refuses other
    searches.

    Parameters
    ----------
    metrics : str, metric function, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        Metrics as for `evaluate`. Searches decide by the first metric. With a scorer from `make_recommender_scorer`, X
        holds interactions, `cv` must split the interactions of a user, like `LeaveLastOut`, models are wrapped in
        `InteractionRecommender`, and y may be None.
    cv : int, splitter or list of splits, default=5
        Number of folds of `QueryKFold`; a splitter that keeps queries whole, such as `QueryShuffleSplit` and
        scikit-learn's `PredefinedSplit`; or a list of pairs of row numbers, such as ``[(train, test)]`` for a single
        split.
    n_jobs : int or None, default=None
        Number of parallel fits, counted as in joblib. A joblib backend that cannot return a generator, such as
        "multiprocessing", runs `n_jobs` fits and reports them before it starts the next ones.
    baseline : str, default=None
        Name of the model that `compare` tests the others against. A difference is model minus baseline. None: the first
        model.
    test : str, default="t"
        Paired test over queries, see `sklearn_rank.stats.compare`.
    correction : str or None, default="holm"
        Correction of the p-values of several models, see `sklearn_rank.stats.compare_all`.
    progress : bool, default=False
        Whether to show a progress bar. `compare` and `cross_validate` count the fits of all models and folds, and show
        the first metric of the latest fit; `search` shows the progress bar of scikit-learn (1.9 or later). Needs the
        extra "progress".
    on_misuse : {"raise", "warn", "ignore"}, default="raise"
        Whether to raise an error, warn or do nothing if labels, ids or models look like misuse
        (``docs/conventions/misuse.md``), so that the first metric would mislead.
    **keywords
        Keywords of metrics, such as `ties` or `gain`, see `evaluate`. Each applies to all metrics that accept it.

    Attributes
    ----------
    cv : splitter or list of splits
        For ``cv=``.

    Notes
    -----
    X may be a pandas or polars frame. Then y, `qid`, `sample_weight`, `by`, `clusters` and `time` may be names of its
    columns: ``compare(models, frame, "label", qid="qid")``. The other columns are the features. If `qid` is not given,
    the column "qid" is used if there is one.

    Results cover the queries in the test sets. Either each row is tested at most once, or all rows are tested equally
    often. The second case is a repeated cross-validation: the value of a query is its mean over the repeats.

    `sample_weight` is the weight of a row's query in the means. To fit a model with the weights as well, request them
    by scikit-learn's metadata routing: ``LGBMRanker().set_fit_request(sample_weight=True)``, or the same on its
    `QueryRanker` if you wrap it yourself. Intervals and tests refer to the weighted means; tests other than "t",
    "randomization" and "bootstrap" do not test weighted means.

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import RankingEvaluator
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=50, random_state=0)
    >>> evaluator = RankingEvaluator(["ndcg@10", "map"], cv=5)
    >>> report = evaluator.compare(
    ...     {"constant": DummyRegressor(), "ridge": Ridge()}, X, y, qid=qid
    ... )
    >>> report.results["ridge"].mean()["map"] > report.results["constant"].mean()["map"]
    True
    """

    @named_arguments
    def __init__(
        self,
        metrics: MetricsLike = DEFAULT_METRICS,
        *,
        cv: CVLike = 5,
        n_jobs: int | None = None,
        baseline: str | None = None,
        test: str = "t",
        correction: str | None = "holm",
        progress: bool = False,
        on_misuse: str = "raise",
        **keywords: Any,
    ) -> None:
        self._kind = folds_of(metrics)
        self.keywords = own_tables(keywords)
        self.metrics = self._kind.read_metrics(metrics, self.keywords)
        self._specs = self.scorers.specs
        self.cv = self._kind.splitter(cv, "RankingEvaluator")
        self.n_jobs, self.baseline, self.test, self.correction = n_jobs, baseline, test, correction
        check_n_jobs(n_jobs)
        BOOL("progress", progress, "RankingEvaluator")
        ON_MISUSE("on_misuse", on_misuse, "RankingEvaluator")
        self.progress, self.on_misuse = progress, on_misuse

    @property
    def scorers(self) -> Any:
        """Scorer of all metrics, for ``scoring=``; errors are negative, under names that begin with ``"neg_"``."""
        return self._kind.scorers(self.metrics, self.keywords)

    @with_row_arguments
    @named_arguments
    def split(
        self,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> list[Split]:
        """Return the folds, which are the same for all models.

        Returns
        -------
        list of (ndarray, ndarray)
            Row numbers of each training and test set.

        Raises
        ------
        ValueError
            If qid is missing, or the splitter puts rows of one query into both sets.
        """
        refuse_unused(self.cv, clusters=clusters, time=time)
        return [*self._data(X, y, qid=qid, clusters=clusters, time=time).folds]

    @with_row_arguments
    @named_arguments
    def cross_validate(
        self,
        estimator: Estimator,
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        time: ArrayLike | None = None,
        return_train_score: bool = False,
        return_estimator: bool = False,
        return_indices: bool = False,
        on_fold: OnFold | None = None,
    ) -> CrossValidation:
        """Score a model on each fold, like `sklearn.model_selection.cross_validate`, and on each query.

        Parameters
        ----------
        estimator : estimator
            Ranker, regressor, classifier of grades, Pipeline or search.
        return_train_score, return_estimator, return_indices : bool, default=False
            Additional results, see scikit-learn's function.
        on_fold : callable, default=None
            The evaluator calls it with the `results.FoldScores` of each fold, in the order of the folds and in this
            process for any `n_jobs`. An exception that it raises, such as ``optuna.TrialPruned``, stops the other fits.

        Returns
        -------
        CrossValidation
            A dict of str to ndarray of shape (n_splits,): ``"test_ndcg@10"``, ..., ``"fit_time"``, ``"score_time"``;
            keys and signs follow the scorer, so RMSE is ``"test_neg_rmse"`` and negative. The means over folds and over
            queries contain RMSE as ``"rmse"``, positive. The attribute `pooled` is the `Evaluation` of the queries in
            the test sets, each scored by models that were not fitted on it.

        Raises
        ------
        Exception
            If a fit raises an exception, it is passed on. `compare` reports it instead.
        TypeError
            If `estimator` is not an estimator.
        ValueError
            If the splitter or a nested search splits queries, or a nested search cannot use the metrics.
        """
        refuse_unused(self.cv, time=time)
        data = self._data(X, y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time)
        reporter = FoldReporter([type(estimator).__name__], len(data.folds), on_fold, self.progress)
        ready = data.prepare(estimator)
        data.look(CROSS_VALIDATE, [ready], self.on_misuse)
        fits = data.fit([ready], self.n_jobs, keep_estimator=return_estimator, score_train=return_train_score)
        (of_model,) = reporter.collect(fits, data.mean)
        if of_model.errors:
            raise next(iter(of_model.errors.values()))
        results, of_part = of_model.results, {"test": of_model.by_metric}
        scores: dict[str, Any] = {
            "fit_time": of_model.fit_time,
            "score_time": np.array([result.score_time for result in results]),
        }
        if return_estimator:
            scores["estimator"] = [result.estimator for result in results]
        if return_indices:
            scores["indices"] = {"train": [a for a, _ in data.folds], "test": [b for _, b in data.folds]}
        if return_train_score:
            of_train = [data.mean(fold, result.output_train, of_train=True) for fold, result in enumerate(results)]
            of_part["train"] = by_metric(of_train)
        for part, values in of_part.items():
            scores |= {f"{part}_{name}": of_folds for name, of_folds in signed(values, data.metrics).items()}
        scores |= {f"test_{name}": of_folds for name, of_folds in data.of_lists(results).items()}
        pooled = None if data.n_repeats is None else data.evaluate(results)
        if pooled is not None:
            data.look_at_scores(CROSS_VALIDATE, results, self.on_misuse)
            look(CROSS_VALIDATE, queries=(pooled,))
            look_at_measured(CROSS_VALIDATE, {"": pooled})
        return CrossValidation(scores, pooled, of_model.by_metric)

    @with_row_arguments
    @named_arguments
    def compare(
        self,
        estimators: Mapping[str, Any],
        X: MatrixLike,
        y: Any,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        by: AttributesLike = None,
        clusters: ArrayLike | None = None,
        time: ArrayLike | None = None,
        on_fold: OnFold | None = None,
    ) -> Comparison:
        """Score each model on queries that it was not fitted on, with the same folds for all models.

        Parameters
        ----------
        estimators : dict of str to estimator or list of estimators
            Models by name. A list holds several runs of one model, for example with different seeds; the value of a
            query is then its mean over the runs.
        by : array-like of shape (n_samples,), dict or frame, default=None
            Attributes of each row's query, such as its country, see `evaluate`.
        on_fold : callable, default=None
            The evaluator calls it with the `FoldScores` of each fold, model by model, as in `cross_validate`.

        Returns
        -------
        Comparison
            If a model raises an exception in a fold, or does not predict one number for each row, or predicts NaN or
            +inf, the result and a warning report it, and the other models are compared without it.

        Raises
        ------
        ValueError
            If the splitter tests some rows more often than others; the splitter, or the splitter of a nested search,
            splits queries; a nested search cannot use the metrics; the baseline is not among the models; the test or
            the correction is unknown; or all models fail.
        TypeError
            If `estimators` is not a mapping with at least one entry, an entry is not an estimator, or the splitter does
            not use `time`.
        """
        from sklearn_rank._comparison.compare_all import check_plan
        from sklearn_rank._estimates.clusters import check_clusters
        from sklearn_rank._estimates.runs import refuse_runs

        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(f"compare needs a mapping from names to estimators, at least one. Got {echo(estimators)}.")
        baseline, models_of = known_baseline(self.baseline, estimators), _listed_runs(estimators)
        n_runs = {name: len(models) for name, models in models_of.items()}
        estimators = {
            run: model
            for name, models in models_of.items()
            for run, model in zip(names_of_runs(name, len(models)), models, strict=True)
        }
        check_plan("RankingEvaluator", test=self.test, correction=self.correction)
        for name, estimator in estimators.items():
            check_estimator(estimator, f"Model {echo(name)}", must_predict=self._kind.must_predict)
        look(COMPARE, self.on_misuse, models=(estimators,))
        refuse_unused(self.cv, time=time)
        check_clusters("compare", self.test, clusters)
        refuse_runs("compare", self.test, [name for name, n in n_runs.items() if n > 1])
        data = self._data(X, y, qid=qid, sample_weight=sample_weight, by=by, clusters=clusters, time=time)
        if data.n_repeats is None:
            raise ValueError(
                "compare pools the scores of held-out queries, so every row must be tested at most once, or all rows "
                "equally often by different folds: use QueryKFold, RepeatedQueryKFold, "
                "QueryShuffleSplit(n_splits=1) or a list of splits, or cross_validate for scores by fold. "
                f"Got {echo(self.cv)}."
            )
        n_queries = data.n_queries
        reporter = FoldReporter([*estimators], len(data.folds), on_fold, self.progress)
        models = [data.prepare(one, f"Model {echo(name)}") for name, one in estimators.items()]
        data.look(COMPARE, models, self.on_misuse)
        collected = reporter.collect(data.fit(models, self.n_jobs), data.mean)
        by_model = dict(zip(estimators, collected, strict=True))
        by_system = {name: [by_model[run] for run in names_of_runs(name, n)] for name, n in n_runs.items()}
        failures = _failures(by_system)
        kept = {name: n for name, n in n_runs.items() if name not in failures}
        complete = {run: by_model[run].results for name, n in kept.items() for run in names_of_runs(name, n)}
        with findings_of_systems(COMPARE, self.on_misuse) as seen:
            for name, results in complete.items():
                with collected_findings() as seen[name]:
                    data.look_at_scores(COMPARE, results, self.on_misuse)
        pooled = one_by_system({name: data.evaluate(results) for name, results in complete.items()}, kept)
        look_at_judged(COMPARE, pooled, self.on_misuse)
        look(COMPARE, queries=(next(iter(pooled.values())),))
        look_at_measured(COMPARE, pooled)
        return Comparison(
            results=pooled, y_score=data.y_score({name: complete[name] for name, n in kept.items() if n == 1}),
            fold_means={name: _mean_of_folds(runs) for name, runs in by_system.items()},
            fit_time={name: np.mean([one.fit_time for one in runs], axis=0) for name, runs in by_system.items()},
            failures=failures, n_queries=n_queries, baseline=baseline, test=self.test, correction=self.correction,
            frozen=tuple(name for name, models in models_of.items() if any(map(is_frozen, models))),
        )  # fmt: skip

    @with_row_arguments
    @named_arguments
    def search(
        self,
        search: Any,
        X: MatrixLike,
        y: ArrayLike,
        *,
        qid: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        clusters: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> Any:
        """Fit a hyperparameter search with the metrics, the splitter and the qid of this evaluator.

        Parameters
        ----------
        search : estimator
            A scikit-learn search, such as `GridSearchCV`, over a `QueryRanker` or a Pipeline that ends in a
            `QueryRanker`; with a recommender scorer, over an `InteractionRecommender`. Parameter names are the names in
            `get_params`, such as "estimator__num_leaves". If `scoring` or `cv` is None, the evaluator sets it;
            `refit=True` becomes the first metric; an int as `cv` is a number of folds of `QueryKFold`. If `cv` has its
            default number of folds, such as 5 in a halving search, it counts as None. Successive halving decides by the
            first metric. Its resource is "max_queries", up to the number of queries, or another parameter together with
            `max_resources`.

        Returns
        -------
        estimator
            A fitted copy of the search.

        Raises
        ------
        TypeError
            If `search` is not a search, or its model is not an estimator.
        ValueError
            If the splitter, the splitter of a nested search, or halving over "n_samples" splits queries; if the model
            is not in a `QueryRanker`, or the search is not part of scikit-learn (the error shows the call that works);
            if a nested search cannot use the metrics; or if no candidate can be scored.

        Examples
        --------
        >>> from sklearn.linear_model import Ridge
        >>> from sklearn.model_selection import GridSearchCV
        >>> from sklearn_rank import QueryRanker, RankingEvaluator
        >>> from sklearn_rank.datasets import make_ranking
        >>> X, y, qid = make_ranking(n_queries=50, random_state=0)
        >>> grid = GridSearchCV(QueryRanker(Ridge()), {"estimator__alpha": [1, 1000]})
        >>> RankingEvaluator("ndcg@10").search(grid, X, y, qid=qid).best_params_
        {'estimator__alpha': 1000}
        """
        refuse_torn_search(search)
        if not is_search(search):
            raise TypeError(
                "search needs a scikit-learn search, with parameters 'estimator', 'scoring', 'cv' and 'refit'. "
                f"Got {echo(search)}."
            )
        given = chosen_cv(search)
        cv = self.cv if given is None else self._kind.splitter(given, type(search).__name__)
        refuse_unused(cv, clusters=clusters, time=time)
        data = self._data(X, y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time, cv=cv)
        ready = data.set_up(copy.copy(search).set_params(cv=[*data.folds]))
        data.look_at_search(ready, search.scoring, self.on_misuse)
        if getattr(ready, "n_jobs", 1) is None:
            ready.set_params(n_jobs=self.n_jobs)
        with progress_of_search(ready) if self.progress else nullcontext(), collected_findings():
            fit_routed(ready, data.X, data.y, data.metadata)
        check_scored(ready)
        score_strictly(ready)
        # Keep the splitter, not its folds, so that the fitted search can be fitted again on other rows.
        return ready.set_params(cv=with_qid(cv)) if hasattr(cv, "split") else ready

    def _data(self, X: MatrixLike, y: Any, *, cv: Any = None, **rows: Any) -> QueryFolds | RecommenderFolds:
        """Check the rows and make the folds, by `cv` or the evaluator's own splitter; a str names a column of X."""
        X, y, given = named_columns(X, y, **rows)
        return self._kind.of(self.scorers, self.cv, X, y, self.cv if cv is None else cv, **given)

    def __repr__(self) -> str:
        """The call that creates this object."""
        keywords = "".join(f", {name}={value!r}" for name, value in self.keywords.items())
        metrics = [*self._specs] if isinstance(self.metrics, list) else self.metrics
        return f"RankingEvaluator({metrics}, cv={self.cv!r}, n_jobs={self.n_jobs!r}{keywords})"


def _listed_runs(estimators: Mapping[str, Any]) -> dict[str, list[Any]]:
    """Map each name to its list of models: a single model, or several runs of a model."""
    listed = {name: [*model] if isinstance(model, (list, tuple)) else [model] for name, model in estimators.items()}
    empty = next((name for name, models in listed.items() if not models), None)
    if empty is not None:
        raise TypeError(
            f"A list of estimators must have at least one run of a model. The list of {echo(empty)} is empty."
        )
    return listed


def _failures(by_system: Mapping[str, Sequence[Any]]) -> dict[str, dict[int, str]]:
    """Errors of the models that failed, by fold; warn of them, or raise ValueError if all models failed."""
    failures = {
        name: {i: f"{type(error).__name__}: {error}" for one in runs for i, error in one.errors.items()}
        for name, runs in by_system.items()
        if any(one.errors for one in runs)
    }
    if len(failures) == len(by_system):
        text = "; ".join(f"{name}: {next(iter(errors.values()))}" for name, errors in failures.items())
        raise ValueError(f"All models failed, so there is nothing to compare. {text}")
    for name, errors in failures.items():
        text = "; ".join(f"fold {i}: {error}" for i, error in errors.items())
        message = f"{name} failed and is left out of the comparison. {text}"
        warnings.warn(message, FitFailedWarning, stacklevel=levels_to_caller())
    return failures


def _mean_of_folds(runs: Sequence[ModelFolds]) -> dict[str, Array]:
    """Mean over the runs of a model, for each metric and fold."""
    means = [one.by_metric for one in runs]
    return ByName((metric, np.mean([of_run[metric] for of_run in means], axis=0)) for metric in means[0])


def folds_of(metrics: Any) -> type[QueryFolds | RecommenderFolds]:
    """Return the class of folds: users for a recommender scorer, queries for metrics."""
    if isinstance(metrics, RecommenderScorer):
        return RecommenderFolds
    several = metrics.values() if isinstance(metrics, Mapping) else metrics
    if isinstance(several, Iterable) and any(isinstance(one, RecommenderScorer) for one in several):
        raise TypeError(
            "RankingEvaluator takes one recommender scorer, which may have several metrics: "
            f"make_recommender_scorer(['ndcg@10', 'recall@10'], items=...). Got {echo(metrics)}."
        )
    return QueryFolds
