"""`RankingEvaluator`: splitter, scorers and metadata routing set up in one object, to compare models fairly."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import FitFailedWarning

from sklearn_rank._engine.attributes import AttributesLike
from sklearn_rank._engine.columns import check_features, check_rows, one_column
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._metric.keywords import own_tables
from sklearn_rank._metric.names import DEFAULT_METRICS, listed_metrics, parse_metrics
from sklearn_rank._metric.scorer_names import signed
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._misuse.check import ON_MISUSE, Door, collected_findings, findings_of_systems, report
from sklearn_rank._misuse.doors import COMPARE, CROSS_VALIDATE, SEARCH
from sklearn_rank._misuse.models import models_twice
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL, is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats, column, refuse_masked
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import CVLike, Estimator, MatrixLike
from sklearn_rank._utils.warning import levels_to_caller
from sklearn_rank.model_selection._comparison import Comparison, CrossValidation, known_baseline, look_at_judged
from sklearn_rank.model_selection._estimator_checks import check_estimator, is_search, refuse_torn_search
from sklearn_rank.model_selection._folds import (
    FoldReporter,
    FoldResult,
    OnFold,
    OutOfFold,
    Split,
    by_metric,
    check_splitter,
    fit_folds,
    predict_rows,
    query_folds,
    refuse_unused,
)
from sklearn_rank.model_selection._model_checks import look_at_frozen
from sklearn_rank.model_selection._recommender_folds import (
    RecommenderFolds,
    check_interaction_cv,
    interaction_folds,
    prepare_recommender,
    recommender_among,
    recommender_search,
    refuse_arguments_of_rows,
)
from sklearn_rank.model_selection._routing import (
    Metadata,
    consumes,
    fit_routed,
    named_columns,
    with_row_arguments,
    with_weights_on_request,
)
from sklearn_rank.model_selection._scorer import RankingScorers, metrics_of
from sklearn_rank.model_selection._search_setup import (
    SearchSetup,
    check_inner_searches,
    check_scored,
    chosen_cv,
    progress_of_search,
    score_strictly,
    warn_of_objective,
    with_qid,
)
from sklearn_rank.model_selection._split import QueryKFold


class RankingEvaluator:
    """Cross-validate, compare and tune models with ranking metrics, whole queries at a time.

    Models that need it are wrapped in `QueryRanker`. Metadata routing is on during the fits; the global configuration
    does not change. A splitter that would tear a query apart is refused. A search of scikit-learn among the models,
    such as ``GridSearchCV(QueryRanker(LGBMRanker()), {"estimator__num_leaves": [7, 31]})``, or one at the end of a
    Pipeline, is given the metrics and whole queries too, inside each training fold. Other searches are refused.

    Parameters
    ----------
    metrics : str, metric function, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        In the forms of `evaluate`. The first decides in searches. Or a scorer of `make_recommender_scorer`: then X are
        interactions, `cv` must cut users, like `LeaveLastOut`, models are wrapped in `InteractionRecommender`, and y
        may be None.
    cv : int, splitter or list of splits, default=5
        Number of folds of `QueryKFold`; a splitter that keeps queries whole, such as `QueryShuffleSplit` and
        scikit-learn's `PredefinedSplit`; or splits by hand, such as one into a training and a test set:
        ``[(train, test)]`` with the numbers of their rows.
    n_jobs : int or None, default=None
        Fits at a time, counted as in joblib. Backends of joblib that cannot return a generator, such as
        "multiprocessing", run `n_jobs` fits and report them before they run the next.
    baseline : str, default=None
        Name of the model that `compare` tests the others against; a difference is model less baseline. None: the first.
    test : str, default="t"
        Paired test over queries, see `sklearn_rank.stats.compare`.
    correction : str or None, default="holm"
        Correction of the p-values of several models, see `sklearn_rank.stats.compare_all`.
    progress : bool, default=False
        Whether `compare` and `cross_validate` show a progress bar over the fits of all models and folds, with the first
        metric of the last one, and `search` scikit-learn's own (1.9 or later); needs the extra "progress".
    on_misuse : {"raise", "warn", "ignore"}, default="raise"
        What to do where labels, ids or models do not mean what they seem to mean (``docs/misuse.md``): refuse to decide
        by the first metric, warn, or ignore it.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`, see `evaluate`.

    Attributes
    ----------
    scorers : callable
        Scorer of all metrics, for ``scoring=``: of `make_ranking_scorer`, or the recommender scorer. The name of an
        error starts with ``"neg_"`` there, and its value is negative.
    cv : splitter or list of splits
        For ``cv=``.

    Notes
    -----
    X may be a frame of pandas or polars, and y, `qid`, `sample_weight`, `by`, `clusters` and `time` names of its
    columns: ``compare(models, frame, "label", qid="qid")``. The other columns are the features. Without `qid` it is the
    column "qid", if there is one.

    Results are of the queries that are tested. Each row is tested once at most, or all rows equally often: then it is a
    repeated cross-validation, and the value of a query is its mean over the repeats.

    `sample_weight` is the weight of a row's query in the means. A model is fitted with it if its `fit` asks for it,
    ``LGBMRanker().set_fit_request(sample_weight=True)``, or its `QueryRanker` if it has one: scikit-learn's metadata
    routing. Intervals and tests are of the weighted means; tests other than "t", "randomization" and "bootstrap"
    leave them untested.

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
        self._recommender = recommender_among(metrics)
        if self._recommender is not None:
            if keywords:
                raise TypeError(
                    "Keywords of metrics go into make_recommender_scorer where the metrics are a recommender scorer. "
                    f"Got {', '.join(keywords)}."
                )
            check_interaction_cv(cv)
        self.metrics: Any = metrics
        if self._recommender is None and not isinstance(metrics, Mapping):
            self.metrics = listed_metrics(metrics)
        self.keywords = own_tables(keywords)
        self._specs = self._parse_metrics()
        self.cv = check_splitter(cv, "RankingEvaluator")
        self.n_jobs, self.baseline, self.test, self.correction = n_jobs, baseline, test, correction
        check_n_jobs(n_jobs)
        BOOL.check("progress", progress, "RankingEvaluator")
        ON_MISUSE.check("on_misuse", on_misuse, "RankingEvaluator")
        self.progress, self.on_misuse = progress, on_misuse

    def _parse_metrics(self) -> dict[str, MetricSpec]:
        """Metrics by name, functions as they are now."""
        if self._recommender is not None:
            return self._recommender.specs
        return parse_metrics(self.metrics, **self.keywords)

    @property
    def scorers(self) -> Any:
        """Scorer of all metrics, for ``scoring=``."""
        return self._recommender or RankingScorers(self.metrics, **self.keywords)

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
        """Folds that all models are given.

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
        return [*self._data(X, y, qid, clusters=clusters, time=time).folds]

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
        """Scores of each fold, like `sklearn.model_selection.cross_validate`, and of each query.

        Parameters
        ----------
        estimator : estimator
            Ranker, regressor, classifier of grades, Pipeline or search.
        return_train_score, return_estimator, return_indices : bool, default=False
            What else to return, see scikit-learn's function.
        on_fold : callable, default=None
            Called with the `results.FoldScores` of each fold as they come, in the order of the folds and in
            this process, whatever `n_jobs` is. What it raises, such as ``optuna.TrialPruned``, stops the other fits.

        Returns
        -------
        CrossValidation
            A dict of str to ndarray of shape (n_splits,): ``"test_ndcg@10"``, ..., ``"fit_time"``, ``"score_time"``;
            the keys are those of scorers, so RMSE is ``"test_neg_rmse"`` and negative. Its means over folds and over
            queries have RMSE as ``"rmse"``, positive. Its `pooled` is the `Evaluation` of the queries that are tested,
            each scored by models that had not seen it.

        Raises
        ------
        Exception
            What a fit raises; `compare` reports it instead.
        TypeError
            If it is no estimator.
        ValueError
            If queries are torn apart, by a search inside too, or a search inside cannot be given the metrics.
        """
        refuse_unused(self.cv, time=time)
        data = self._data(X, y, qid, sample_weight, clusters=clusters, time=time)
        X = data.X
        if self._recommender is not None and return_train_score:
            raise ValueError(
                "A recommender scorer leaves out the items of training rows, so it cannot score the training set. "
                "Got return_train_score=True."
            )
        reporter = FoldReporter([type(estimator).__name__], len(data.folds), on_fold, self.progress)
        ready, tested = self._prepare(estimator, X, data), data.tested
        self._look(CROSS_VALIDATE, [ready], X, data)
        (of_model,) = reporter.collect(
            self._fit([ready], X, data, keep_estimator=return_estimator, score_train=return_train_score),
            tested.mean,
        )
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
        if return_train_score and isinstance(tested, OutOfFold):
            of_train = [tested.mean_train(fold, result.output_train) for fold, result in enumerate(results)]
            of_part["train"] = by_metric(of_train)
        for part, values in of_part.items():
            scores |= {f"{part}_{name}": of_folds for name, of_folds in signed(values, tested.metrics).items()}
        pooled = None if tested.n_repeats is None else tested.evaluate(results)
        if pooled is not None and isinstance(tested, OutOfFold):
            tested.look(CROSS_VALIDATE, tested.y_score(results), self.on_misuse)
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
        """Score each model on queries it has not seen, all models on the same folds.

        Parameters
        ----------
        estimators : dict of str to estimator
        by : array-like of shape (n_samples,), dict or frame, default=None
            Attributes of each row's query, such as its country, see `evaluate`.
        on_fold : callable, default=None
            Called with the `FoldScores` of each fold as they come, model by model, like in `cross_validate`.

        Returns
        -------
        Comparison
            A model that raises in a fold is reported there, and in a warning; the others are compared without it. So
            is a model that predicts NaN, +inf, or other than one number a row.

        Raises
        ------
        ValueError
            If the splitter tests some rows more often than others, it or a splitter of a search inside tears queries
            apart, a search inside cannot be given the metrics, the baseline is not among the models, there is no such
            test against one, or correction of several, or all models fail.
        TypeError
            If `estimators` is not a mapping with at least one entry, one is no estimator, or the splitter takes no
            time.
        """
        from sklearn_rank.stats._clusters import check_clusters  # loads scipy.stats
        from sklearn_rank.stats._compare_all import check_plan

        if not isinstance(estimators, Mapping) or not estimators:
            raise TypeError(f"compare takes a mapping from names to estimators, one or more. Got {echo(estimators)}.")
        baseline = known_baseline(self.baseline, estimators)
        check_plan("RankingEvaluator", test=self.test, correction=self.correction, baseline=baseline)
        for name, estimator in estimators.items():
            check_estimator(estimator, f"Model {echo(name)}", must_predict=self._recommender is None)
        report(COMPARE, models_twice(estimators), self.on_misuse)
        refuse_unused(self.cv, time=time)
        check_clusters("compare", self.test, clusters)
        data = self._data(X, y, qid, sample_weight, by=by, clusters=clusters, time=time)
        X, tested = data.X, data.tested
        if tested.n_repeats is None:
            raise ValueError(
                "compare pools the scores that queries get while they are held out, so a row must be tested once at "
                "most, or all rows equally often, by folds that differ: use QueryKFold, RepeatedQueryKFold, "
                "QueryShuffleSplit(n_splits=1) or a list of splits, or cross_validate for scores by fold. "
                f"Got {echo(self.cv)}."
            )
        n_queries = tested.n_queries
        reporter = FoldReporter([*estimators], len(data.folds), on_fold, self.progress)
        models = [self._prepare(one, X, data, f"Model {echo(name)}") for name, one in estimators.items()]
        self._look(COMPARE, models, X, data)
        collected = reporter.collect(self._fit(models, X, data), tested.mean)
        by_model = dict(zip(estimators, collected, strict=True))
        failures = {
            name: {i: f"{type(error).__name__}: {error}" for i, error in of_model.errors.items()}
            for name, of_model in by_model.items()
            if of_model.errors
        }
        if len(failures) == len(models):
            text = "; ".join(f"{name}: {next(iter(errors.values()))}" for name, errors in failures.items())
            raise ValueError(f"All models failed, so no comparison is left. {text}")
        for name, errors in failures.items():
            text = "; ".join(f"fold {i}: {error}" for i, error in errors.items())
            message = f"{name} failed and is left out of the comparison. {text}"
            warnings.warn(message, FitFailedWarning, stacklevel=levels_to_caller())
        complete = {name: of.results for name, of in by_model.items() if name not in failures}
        y_score = {}
        if isinstance(tested, OutOfFold):
            y_score = {name: tested.y_score(results) for name, results in complete.items()}
            with findings_of_systems(COMPARE, self.on_misuse) as seen:
                for name, scores in y_score.items():
                    with collected_findings() as seen[name]:
                        tested.look(COMPARE, scores, self.on_misuse)
        pooled = {name: tested.evaluate(results) for name, results in complete.items()}
        look_at_judged(COMPARE, pooled, self.on_misuse)
        return Comparison(
            results=pooled,
            y_score=y_score,
            fold_means={name: of_model.by_metric for name, of_model in by_model.items()},
            fit_time={name: of_model.fit_time for name, of_model in by_model.items()},
            failures=failures,
            n_queries=n_queries,
            baseline=baseline,
            test=self.test,
            correction=self.correction,
        )

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
        """Fit a search of parameters with these metrics, this splitter, and qid handed on.

        Parameters
        ----------
        search : estimator
            A search of scikit-learn, such as `GridSearchCV`, over a `QueryRanker` or a Pipeline that ends in one; with
            a recommender scorer, over an `InteractionRecommender`. The names of the parameters are those of
            `get_params`, such as "estimator__num_leaves". `scoring` and `cv` are set where they are None, `refit` to
            the first metric where it is True; an int as `cv` is a number of folds of `QueryKFold`. Successive halving
            decides by the first metric, and takes the resource "max_queries", up to the number of queries, or another
            with `max_resources`. A number of folds that is the default of `cv`, such as 5 of halving, counts as None.

        Returns
        -------
        estimator
            A fitted copy of the search.

        Raises
        ------
        TypeError
            If it is not a search, or what it tunes is no estimator.
        ValueError
            If queries are torn apart, by its splitter, a splitter of a search inside, or halving over "n_samples"; if
            the model is not in a `QueryRanker`, or the search is not of scikit-learn: the error shows the call that
            works; if a search inside cannot be given the metrics; or if no candidate can be scored.
        """
        refuse_torn_search(search)
        if not is_search(search):
            raise TypeError(
                "search takes a search of scikit-learn, with parameters 'estimator', 'scoring', 'cv' and 'refit'. "
                f"Got {echo(search)}."
            )
        given = chosen_cv(search)
        if self._recommender is None and is_count(given):
            given = QueryKFold(given)
        cv = self.cv if given is None else given
        refuse_unused(cv, clusters=clusters, time=time)
        data = self._data(X, y, qid, sample_weight, clusters=clusters, time=time, cv=cv)
        X = data.X
        with_folds = copy.copy(search).set_params(cv=[*data.folds])
        if self._recommender is not None:
            ready = recommender_search(with_folds, self._recommender, self.cv)
        else:
            ready = self._setup(data).search(with_folds)
            self._check_inside(ready.estimator, X, data)
            warn_of_objective(ready)
            self._look_before_search(ready, search.scoring, X, data)
            if sample_weight is not None:
                ready = with_weights_on_request(ready)
        if getattr(ready, "n_jobs", 1) is None:
            ready.set_params(n_jobs=self.n_jobs)
        with progress_of_search(ready) if self.progress else nullcontext(), collected_findings():
            fit_routed(ready, X, data.y, data.metadata)
        check_scored(ready)
        score_strictly(ready)
        # A splitter, in place of its folds, lets the search be fitted on other rows.
        return ready.set_params(cv=with_qid(cv)) if hasattr(cv, "split") else ready

    def _data(
        self, X: MatrixLike, y: Any, qid: ArrayLike | None, sample_weight: ArrayLike | None = None, *,
        by: AttributesLike = None, clusters: ArrayLike | None = None, time: ArrayLike | None = None, cv: Any = None,
    ) -> FoldedData:  # fmt: skip
        """Checked rows and their folds, of this splitter or another one; a str names a column of X."""
        cv, metrics = self.cv if cv is None else cv, self._parse_metrics()
        X, y, given = named_columns(X, y, qid=qid, sample_weight=sample_weight, by=by, clusters=clusters, time=time)
        time = given.pop("time")
        if self._recommender is not None:
            refuse_arguments_of_rows(**given)
            return FoldedData(X, *interaction_folds(self._recommender, check_interaction_cv(cv), X, y, time))
        y, metadata, rows = _check_and_group(X, y, **given, time=time)
        folds = query_folds(cv, X, y, rows.number, metadata)
        return FoldedData(X, y, metadata, OutOfFold(rows, folds, metrics))

    def _fit(self, models: list[Any], X: MatrixLike, data: FoldedData, **keep: bool) -> Generator[FoldResult]:
        """Results of all models on all folds."""
        output = predict_rows if self._recommender is None else self._recommender.evaluate
        return fit_folds(models, X, data.y, data.metadata, data.folds, n_jobs=self.n_jobs, output=output, **keep)

    def _look(self, door: Door, models: Iterable[Any], X: MatrixLike, data: FoldedData) -> None:
        """Check all labels, ids and models for misuse, before any fit; users and items do not have them."""
        if self._recommender is not None:
            return
        data.rows.look(door, self._parse_metrics(), on_misuse=self.on_misuse)
        for model in models:
            look_at_frozen(door, model, X, data.y, data.metadata["qid"], on_misuse=self.on_misuse)

    def _look_before_search(self, search: Any, scoring: Any, X: MatrixLike, data: FoldedData) -> None:
        """The same, of the metrics that the search decides by: its own scorers' metrics if it has some."""
        specs = decided_by(metrics_of(self.scorers if scoring is None else scoring), getattr(search, "refit", True))
        if specs:
            data.rows.look(SEARCH, specs, on_misuse=self.on_misuse)
        look_at_frozen(SEARCH, search, X, data.y, data.metadata["qid"], on_misuse=self.on_misuse)

    def _setup(self, data: FoldedData) -> SearchSetup:
        """Scorers and splitter for searches inside; one that knows no queries fits only the rows it was made for."""
        cv = with_qid(self.cv) if consumes(self.cv, "split", "groups", "qid") else QueryKFold()
        rows = data.rows
        scorers = self.scorers if rows.weight is None else self.scorers.set_score_request(sample_weight=True)
        return SearchSetup(scorers.without_checks(), cv, len(rows.ids))

    def _prepare(self, estimator: Estimator, X: MatrixLike, data: FoldedData, name: str = "The estimator") -> Any:
        """The estimator as one that takes qid, or remembers pairs; its searches get scorers and splitter."""
        if self._recommender is not None:
            return prepare_recommender(estimator, self._recommender, self.cv, name)
        ready = self._setup(data).prepare(estimator, name)
        self._check_inside(ready, X, data)
        return ready if data.rows.weight is None else with_weights_on_request(ready)

    def _check_inside(self, estimator: Estimator, X: MatrixLike, data: FoldedData) -> None:
        """Refuse searches inside that tear queries apart."""
        check_inner_searches(estimator, X, data.y, data.rows.number, data.folds, data.metadata)

    def __repr__(self) -> str:
        """Call that makes this object."""
        keywords = "".join(f", {name}={value!r}" for name, value in self.keywords.items())
        metrics = [*self._specs]
        if self._recommender is not None or isinstance(self.metrics, Mapping):
            metrics = self.metrics
        return f"RankingEvaluator({metrics}, cv={self.cv!r}, n_jobs={self.n_jobs!r}{keywords})"


class FoldedData(NamedTuple):
    """Features, labels, what is routed, and rows with the folds that test them."""

    X: Any
    y: Any
    metadata: Metadata
    tested: OutOfFold | RecommenderFolds

    @property
    def folds(self) -> Sequence[Split]:
        """Row numbers of each training and test set."""
        return self.tested.folds

    @property
    def rows(self) -> GroupedRows:
        """Rows by query, where metrics are of rows."""
        assert isinstance(self.tested, OutOfFold)
        return self.tested.rows


def _check_and_group(
    X: MatrixLike, y: ArrayLike, qid: ArrayLike | None, sample_weight: ArrayLike | None = None, *,
    by: AttributesLike = None, clusters: ArrayLike | None = None, time: ArrayLike | None = None,
) -> tuple[Any, Metadata, GroupedRows]:  # fmt: skip
    """Labels, one a row; what there is by row to be routed, above all the query; and the rows grouped."""
    check_rows(y=y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time)
    check_features(X, y=y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time)
    for name, data in (("X", X), ("y", y), ("sample_weight", sample_weight)):
        refuse_masked(data, name)
    y = one_column(y)
    weight = None if sample_weight is None else column(as_floats(sample_weight, "sample_weight"))
    ids = ids_of(find_qid(y, qid, name="y"))
    metadata = {"qid": ids, "sample_weight": weight, "clusters": clusters, "time": time}
    rows = GroupedRows.of(y, ids, weight, by=by, clusters=clusters)
    return y, {name: values for name, values in metadata.items() if values is not None}, rows


def decided_by(metrics: Mapping[str, MetricSpec], refit: Any) -> dict[str, MetricSpec]:
    """The metrics, the one that a search decides by first."""
    first = [refit] if isinstance(refit, str) and refit in metrics else []
    return {name: metrics[name] for name in [*first, *metrics]}
