"""Folds: make them with any splitter, check them, fit them in parallel, and report each result."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_rank._data.doors import Door
from sklearn_rank._metric.key_signs import ByName
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._scoring.fit_data import index_rows
from sklearn_rank._scoring.routing import Metadata, consumes, fit_routed
from sklearn_rank._scoring.split import QueryKFold
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank._utils.threads import effective_n_jobs
from sklearn_rank._utils.typing import Array, Estimator, Index, MatrixLike
from sklearn_rank.recommenders._interaction_split import InteractionSplitter

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row numbers of a training set and its test set."""


def check_splitter(cv: Any, class_name: str) -> Any:
    """Return a splitter or a list of splits; a number of folds becomes a `QueryKFold`."""
    if is_count(cv) and cv > 1:
        return QueryKFold(cv)
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    splits = list(cv) if isinstance(cv, Iterable) and not isinstance(cv, (str, bytes)) else []
    if not splits or not all(isinstance(split, (tuple, list)) and len(split) == 2 for split in splits):
        is_numbers = bool(splits) and all(isinstance(one, (int, np.integer)) for one in splits)
        hint = " If you have the fold number of each row (-1: only trained on), use PredefinedSplit." * is_numbers
        raise ValueError(
            f"The 'cv' parameter of {class_name} must be an int >= 2 or a splitter, or a list of splits, "
            f"[(train, test)], of row numbers.{hint} Got {echo(cv)} instead."
        )
    return splits


def query_folds(cv: Any, X: Any, y: Any, number: Index, metadata: Metadata) -> list[Split]:
    """Return folds that keep queries whole, from a splitter, which gets the metadata it requests, or from a list."""
    if isinstance(cv, InteractionSplitter):
        raise ValueError(
            f"{type(cv).__name__} splits the interactions of each user on purpose, but metrics need whole lists. To "
            "rank all items for each user, use a recommender scorer: "
            f"RankingEvaluator(make_recommender_scorer('ndcg@10', items=...), cv={type(cv).__name__}()). For whole "
            f"queries use QueryKFold or QueryTimeSeriesSplit. Got {echo(cv)}."
        )
    if hasattr(cv, "split"):
        groups = {"groups": number} if consumes(cv, "split", "groups", "qid") else {}
        names = [name for name in ("clusters", "time") if name in metadata and consumes(cv, "split", name)]
        folds = list(cv.split(X, y, **groups, **{name: metadata[name] for name in names}))
    else:
        folds = cv = list(cv)
    folds = row_numbers(folds, len(number), cv)
    n_rows = np.bincount(number)
    for i, (train, test) in enumerate(folds):
        torn = np.intersect1d(number[train], number[test])
        if len(torn):
            raise ValueError(
                "A splitter must keep queries whole. Otherwise metrics are computed on incomplete lists, and the model "
                "has seen part of each list; use QueryKFold, QueryShuffleSplit or LeaveOneQueryOut. Got "
                f"{_echo_splitter(cv)}, which splits {len(torn)} of {len(n_rows)} queries in fold {i}."
            )
        n_tested = np.bincount(number[test], minlength=len(n_rows))
        n_cut = np.count_nonzero((n_tested > 0) & (n_tested != n_rows))
        if n_cut:
            raise ValueError(
                "A test set must contain each row of its queries exactly once. Otherwise metrics are computed on "
                "incomplete lists. "
                f"Got {_echo_splitter(cv)}, which tests {n_cut} queries of fold {i} on other rows."
            )
    return folds


TAKE = {"time": "QueryTimeSeriesSplit or GlobalTimeSplit", "clusters": "QueryKFold or QueryShuffleSplit"}
"""Splitters that use each kind of metadata, for error messages."""


def refuse_unused(cv: Any, **metadata: Any) -> None:
    """Refuse metadata that the splitter does not use; the error names splitters that use it."""
    for name, values in metadata.items():
        if values is not None and not (hasattr(cv, "split") and consumes(cv, "split", name)):
            raise TypeError(f"The splitter does not use {name}=. Use {TAKE[name]}. Got {_echo_splitter(cv)}.")


def row_numbers(folds: Iterable[Any], n_rows: int, cv: Any) -> list[Split]:
    """Check the training and test sets of a splitter and return their row numbers."""
    return [(_row_numbers(train, n_rows, cv), _row_numbers(test, n_rows, cv)) for train, test in folds]


def _row_numbers(rows: Any, n_rows: int, cv: Any) -> NDArray[np.int64]:
    """Check a training or test set and return its row numbers; a mask becomes row numbers."""
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    array = array if array.size else array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"A split must be a pair (train, test) of lists of row numbers, or of masks of all {n_rows} rows. "
            f"Got {echo(rows)}."
        )
    if not array.size:
        raise ValueError(f"The training set and the test set of a split must not be empty. Got {_echo_splitter(cv)}.")
    if array.max() >= n_rows or array.min() < 0:
        raise ValueError(
            f"A splitter must return row numbers of the {n_rows} rows, like QueryKFold. Got {_echo_splitter(cv)}."
        )
    return array.astype(np.int64)


def _echo_splitter(cv: Any) -> str:
    """Format a splitter for a message."""
    return echo(cv) if hasattr(cv, "split") else f"a list of {len(cv)} splits"


# --- fits and predictions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldResult:
    """Output of a model fitted on the training rows of a fold, for the test rows; None if the model failed.

    The output is the scores of the rows, or the `Evaluation` of the users for a recommender.
    """

    output: Any
    output_train: Any
    fit_time: float
    score_time: float
    estimator: Any
    error: Exception | None = None


def fit_folds(
    data: BaseFolds, estimators: Sequence[Any], output: Callable[..., Any], n_jobs: int | None, *,
    keep_estimator: bool = False, score_train: bool = False,
) -> Generator[FoldResult]:  # fmt: skip
    """Fit each estimator on each fold, in that order, `n_jobs` at a time. Closing the generator stops the fits."""
    # Each `fit` gets the metadata it requests; the result holds ``output(estimator, X, y)`` for the test rows.
    calls = (
        delayed(_fit_fold)(clone(e), data.X, data.y, data.metadata, fold, keep_estimator, score_train, output)
        for e in estimators
        for fold in data.folds
    )
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:
        # This backend cannot return a generator: multiprocessing, Ray, Spark.
        return _run_in_rounds(calls, n_jobs)
    with sklearn.config_context(enable_metadata_routing=True):
        fits: Generator[FoldResult] = parallel(calls)
    return fits


def _run_in_rounds(calls: Iterator[Any], n_jobs: int | None) -> Generator[FoldResult]:
    """Run delayed calls on a backend that returns lists, `n_jobs` at a time. Closing the generator stops the fits."""
    with Parallel(n_jobs=n_jobs) as parallel:
        while batch := list(islice(calls, effective_n_jobs(n_jobs))):
            with sklearn.config_context(enable_metadata_routing=True):
                results = parallel(batch)
            yield from results


def _fit_fold(
    estimator: Estimator, X: MatrixLike, y: Any, metadata: Metadata, fold: Split, keep_estimator: bool,
    score_train: bool, output: Callable[..., Any],
) -> FoldResult:  # fmt: skip
    of_train = {name: index_rows(values, fold[0]) for name, values in metadata.items()}

    def part(rows: Index) -> tuple[Any, Any]:
        return index_rows(X, rows), None if y is None else index_rows(y, rows)

    def output_of(rows: Index) -> Any:
        queries = {"qid": index_rows(metadata["qid"], rows)} if "qid" in metadata else {}
        return output(estimator, *part(rows), **queries)

    began = perf_counter()
    try:
        fit_routed(estimator, *part(fold[0]), metadata=of_train)
        fitted = perf_counter()
        of_test, of_training = output_of(fold[1]), None
        scored = perf_counter()
        if score_train:
            of_training = output_of(fold[0])
    except Exception as error:
        # A model may raise any exception; the other models continue.
        return FoldResult(None, None, perf_counter() - began, np.nan, None, error)
    return FoldResult(of_test, of_training, fitted - began, scored - fitted, estimator if keep_estimator else None)


# --- base class of folds -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BaseFolds:
    """Rows and their folds. The subclasses `QueryFolds` and `RecommenderFolds` score the test rows."""

    scorer: Any
    cv: Any
    """Splitter for nested searches."""
    X: Any
    y: Any
    metadata: Metadata
    folds: Sequence[Split]

    @property
    def metrics(self) -> Mapping[str, MetricSpec]:
        """Metrics by name."""
        specs: Mapping[str, MetricSpec] = self.scorer.specs
        return specs

    def look(self, door: Door, models: Iterable[Any], on_misuse: str) -> None:
        """Check labels, ids and models for misuse, before any fit."""

    def look_at_search(self, ready: Any, scoring: Any, on_misuse: str) -> None:
        """Do the same for a search after setup; `scoring` is its original scoring."""

    def look_at_scores(self, door: Door, results: Sequence[FoldResult], on_misuse: str) -> None:
        """Check the scores of a model for misuse."""

    def of_lists(self, results: Sequence[FoldResult]) -> dict[str, Array]:
        """Values of metrics of all lists together, one for each fold; empty except for recommenders."""
        return {}

    def y_score(self, results: Mapping[str, Sequence[FoldResult]]) -> dict[str, Array]:
        """Scores of the rows by each model; empty if rows have no scores."""
        return {}


# --- scores by fold, reported as they come -------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldScores:
    """Scores of one model on the queries that one fold tests, for `on_fold` of `RankingEvaluator`.

    Attributes
    ----------
    model : str
        Its name in `compare`; the name of its class in `cross_validate`.
    fold : int
        Number of the fold, from 0.
    n_folds : int
    scores : dict of str to float
        Mean of each metric, the same as in the result: errors are positive. NaN if the model failed.
    fit_time : float
        Seconds.
    error : Exception or None
        Exception that the model raised.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> from sklearn_rank import RankingEvaluator
    >>> from sklearn_rank.datasets import make_ranking
    >>> X, y, qid = make_ranking(n_queries=20, random_state=0)
    >>> folds = []
    >>> _ = RankingEvaluator("mrr", cv=2).cross_validate(
    ...     Ridge(), X, y, qid=qid, on_fold=folds.append
    ... )
    >>> [(one.model, one.fold, one.n_folds, round(one.scores["mrr"], 3)) for one in folds]
    [('Ridge', 0, 2, 0.95), ('Ridge', 1, 2, 0.933)]
    """

    model: str
    fold: int
    n_folds: int
    scores: dict[str, float]
    fit_time: float
    error: Exception | None = None


@dataclass(frozen=True)
class ModelFolds:
    """All folds of one model."""

    results: list[FoldResult]
    scores: list[dict[str, float]]

    @property
    def by_metric(self) -> dict[str, Array]:
        """Scores of each metric, one for each fold."""
        return by_metric(self.scores)

    @property
    def fit_time(self) -> Array:
        """Seconds of each fold."""
        return np.array([result.fit_time for result in self.results])

    @property
    def errors(self) -> dict[int, Exception]:
        """Exceptions by fold number."""
        return {i: result.error for i, result in enumerate(self.results) if result.error is not None}


OnFold = Callable[[FoldScores], object]


class FoldReporter:
    """Report the scores of each fold to an optional function and an optional progress bar."""

    def __init__(self, models: Sequence[str], n_folds: int, on_fold: OnFold | None, progress: bool) -> None:
        if on_fold is not None and not callable(on_fold):
            raise TypeError(f"on_fold must be a function that takes a FoldScores, or None. Got {echo(on_fold)}.")
        self.models, self.n_folds, self.on_fold = models, n_folds, on_fold
        self._tqdm = import_tqdm() if progress else None

    def collect(self, fits: Generator[FoldResult], mean: Callable[[int, Any], dict[str, float]]) -> list[ModelFolds]:
        """Collect the folds of each model and report each at once; an exception from `on_fold` stops the fits."""
        n_fits = len(self.models) * self.n_folds
        by_model = [ModelFolds([], []) for _ in self.models]
        bar: Any = nullcontext() if self._tqdm is None else self._tqdm(total=n_fits, unit=" fits")
        try:
            with bar:
                for i, result in enumerate(fits):
                    model, fold = divmod(i, self.n_folds)
                    scores = mean(fold, result.output)
                    by_model[model].results.append(result)
                    by_model[model].scores.append(scores)
                    name = self.models[model]
                    if self._tqdm is not None:
                        first, value = next(iter(scores.items()))
                        text = "failed" if result.error else f"{first} {value:.4f}"
                        bar.update()
                        bar.set_postfix_str(f"{name}, fold {fold}: {text}")
                    if self.on_fold is not None:
                        self.on_fold(
                            FoldScores(name, fold, self.n_folds, ByName(scores), result.fit_time, result.error)
                        )
        finally:
            with warnings.catch_warnings():
                # joblib warns about the fits that were running when the generator was closed.
                warnings.filterwarnings("ignore", ".*adjusting the input task iterator", UserWarning)
                fits.close()
        return by_model


def by_metric(scores: Sequence[dict[str, float]]) -> dict[str, Array]:
    """Turn a list of dicts into an array of scores for each metric."""
    return ByName((name, np.array([one[name] for one in scores])) for name in scores[0])
