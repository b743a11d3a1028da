"""Folds of whole queries: made by any splitter, fitted in parallel, reported as they come, and put together."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from itertools import islice
from numbers import Real
from time import perf_counter
from typing import Any

import numpy as np
import sklearn
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.key_signs import ByName
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.check import Door
from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.optional import import_tqdm
from sklearn_rank._utils.typing import Array, Estimator, Index, MatrixLike
from sklearn_rank.model_selection._fit_data import take_rows
from sklearn_rank.model_selection._interaction_split import InteractionSplitter
from sklearn_rank.model_selection._response import low_scores, predict_scores
from sklearn_rank.model_selection._routing import Metadata, consumes, fit_routed
from sklearn_rank.model_selection._split import QueryKFold

Split = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Row numbers of a training set and its test set."""


def check_splitter(cv: Any, class_name: str) -> Any:
    """Splitter of a number of folds, a splitter as it is, or a list of splits."""
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
    """Folds of a splitter, or of a list of them, which keep queries whole; a splitter gets the metadata it asks for."""
    if isinstance(cv, InteractionSplitter):
        raise ValueError(
            f"{type(cv).__name__} cuts users on purpose, and metrics of rows need whole lists. To rank all items for "
            "each user, make the metrics a scorer: RankingEvaluator(make_recommender_scorer('ndcg@10', items=...), "
            f"cv={type(cv).__name__}()). For whole queries use QueryKFold or QueryTimeSeriesSplit. Got {echo(cv)}."
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
                "A splitter must keep queries whole, or scores are taken on lists cut short and seen in training; "
                "use QueryKFold, QueryShuffleSplit or LeaveOneQueryOut. "
                f"Got {_echo_splitter(cv)}, which tears {len(torn)} queries apart in fold {i}."
            )
        n_tested = np.bincount(number[test], minlength=len(n_rows))
        n_cut = np.count_nonzero((n_tested > 0) & (n_tested != n_rows))
        if n_cut:
            raise ValueError(
                "A test set must have all rows of its queries, each once, or scores are taken on lists cut short. "
                f"Got {_echo_splitter(cv)}, which tests {n_cut} queries of fold {i} on other rows."
            )
    return folds


TAKE = {"time": "QueryTimeSeriesSplit or GlobalTimeSplit", "clusters": "QueryKFold or QueryShuffleSplit"}
"""Splitters that take metadata of a name."""


def refuse_unused(cv: Any, **metadata: Any) -> None:
    """Refuse metadata, given by name, that a splitter does not take; the error names splitters that do."""
    for name, values in metadata.items():
        if values is not None and not (hasattr(cv, "split") and consumes(cv, "split", name)):
            raise TypeError(f"The splitter does not take {name}=. Use {TAKE[name]}. Got {_echo_splitter(cv)}.")


def row_numbers(folds: Iterable[Any], n_rows: int, cv: Any) -> list[Split]:
    """Row numbers of the training and test sets that a splitter gave, checked."""
    return [(_row_numbers(train, n_rows, cv), _row_numbers(test, n_rows, cv)) for train, test in folds]


def _row_numbers(rows: Any, n_rows: int, cv: Any) -> NDArray[np.int64]:
    """Row numbers of a training or test set; a mask becomes the numbers of its rows."""
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
        raise ValueError(
            f"A split must have rows to train on and rows to test. Got {_echo_splitter(cv)}, with an empty set."
        )
    if array.max() >= n_rows or array.min() < 0:
        raise ValueError(
            f"A splitter must split the {n_rows} rows it is given, like QueryKFold. Got {_echo_splitter(cv)}."
        )
    return array.astype(np.int64)


def _echo_splitter(cv: Any) -> str:
    """A splitter in a message."""
    return echo(cv) if hasattr(cv, "split") else f"a list of {len(cv)} splits"


# --- fits and predictions ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class FoldResult:
    """What a model, fitted on the training rows of a fold, gave for the test rows; None if it failed.

    These are scores of the rows, or for a recommender the `Evaluation` of the users.
    """

    output: Any
    output_train: Any
    fit_time: float
    score_time: float
    estimator: Any
    error: Exception | None = None


def predict_rows(estimator: Estimator, X: MatrixLike, y: Any) -> NDArray[Any]:
    """Scores that a fitted model predicts for rows."""
    return check_predictions(predict_scores(estimator, X), len(y))


def fit_folds(
    estimators: Sequence[Any], X: MatrixLike, y: Any, metadata: Metadata, folds: Sequence[Split], *,
    n_jobs: int | None = None, keep_estimator: bool = False, score_train: bool = False,
    output: Callable[[Any, Any, Any], Any] = predict_rows,
) -> Generator[FoldResult]:  # fmt: skip
    """Each estimator on each fold, in that order, `n_jobs` at a time; closed, it stops.

    Each `fit` is given the metadata that it asks for; ``output(estimator, X, y)`` is taken of the test rows.
    """
    calls = (
        delayed(_fit_fold)(clone(e), X, y, metadata, fold, keep_estimator, score_train, output)
        for e in estimators
        for fold in folds
    )
    try:
        parallel = Parallel(n_jobs=n_jobs, return_as="generator")
    except ValueError:
        # A backend that has no generators: multiprocessing, Ray, Spark.
        return _run_in_rounds(calls, n_jobs)
    with sklearn.config_context(enable_metadata_routing=True):
        fits: Generator[FoldResult] = parallel(calls)
    return fits


def _run_in_rounds(calls: Iterator[Any], n_jobs: int | None) -> Generator[FoldResult]:
    """Results of delayed calls, `n_jobs` of them at a time, by a backend that returns lists; closed, it stops."""
    with Parallel(n_jobs=n_jobs) as parallel:
        while batch := list(islice(calls, effective_n_jobs(n_jobs))):
            with sklearn.config_context(enable_metadata_routing=True):
                results = parallel(batch)
            yield from results


def _fit_fold(
    estimator: Estimator,
    X: MatrixLike,
    y: Any,
    metadata: Metadata,
    fold: Split,
    keep_estimator: bool,
    score_train: bool,
    output: Callable[[Any, Any, Any], Any],
) -> FoldResult:
    of_train = {name: take_rows(values, fold[0]) for name, values in metadata.items()}

    def part(rows: Index) -> tuple[Any, Any]:
        return take_rows(X, rows), None if y is None else take_rows(y, rows)

    began = perf_counter()
    try:
        fit_routed(estimator, *part(fold[0]), metadata=of_train)
        fitted = perf_counter()
        of_test, of_training = output(estimator, *part(fold[1])), None
        scored = perf_counter()
        if score_train:
            of_training = output(estimator, *part(fold[0]))
    except Exception as error:
        # A model may fail in any way; the others go on.
        return FoldResult(None, None, perf_counter() - began, np.nan, None, error)
    return FoldResult(of_test, of_training, fitted - began, scored - fitted, estimator if keep_estimator else None)


def check_predictions(y_score: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Scores that a model predicted, one real number a row, neither NaN nor +inf; a column is one a row, too."""
    scores = np.asarray(y_score)
    scores = scores[:, 0] if scores.ndim == 2 and scores.shape[1] == 1 else scores
    if scores.shape != (n_rows,):
        what = f"shape {np.shape(y_score)}" if np.ndim(y_score) else echo(y_score)
        raise ValueError(f"A model must predict one score for each of the {n_rows} rows. Got {what} instead.")
    if scores.dtype.kind in "iu":
        return as_floats(scores, "predictions")
    not_real = [x for x in scores.tolist() if not isinstance(x, Real)] if scores.dtype.kind not in "bf" else []
    if not_real:
        raise ValueError(f"A prediction must be a real number. Got {echo(not_real[0])}.")
    scores = scores.astype(np.float64)
    for is_bad, name in ((np.isnan, "NaN"), (np.isposinf, "+inf")):
        if is_bad(scores).any():
            raise ValueError(f"A prediction must not be {name}. Got {is_bad(scores).sum()} of {n_rows}.")
    return scores


# --- scores of rows by models that had not seen them ---------------------------------------------------------------


@dataclass(frozen=True)
class OutOfFold:
    """Rows and the folds that test them."""

    rows: GroupedRows
    folds: Sequence[Split]
    metrics: Mapping[str, MetricSpec]
    _metrics_of: dict[int, PreparedMetrics] = field(default_factory=dict)

    @cached_property
    def n_repeats(self) -> int | None:
        """How often rows are tested: 1, where some may be left out, or all as often; None if it is neither.

        The same folds once more are no repeats: they would count twice what was seen once.
        """
        n_repeats = int(self._n_tests.max())
        if n_repeats == 1:
            return 1
        n_different = len({np.sort(test).tobytes() for _, test in self.folds})
        return n_repeats if self._n_tests.min() == n_repeats and n_different * n_repeats > len(self.folds) else None

    @cached_property
    def test_sets(self) -> list[GroupedRows]:
        """Rows of each test set."""
        return [self.rows.take(test) for _, test in self.folds]

    @cached_property
    def tested(self) -> GroupedRows:
        """Rows that any fold tests."""
        return self.rows if self._n_tests.all() else self.rows.take(np.flatnonzero(self._n_tests))

    @cached_property
    def _n_tests(self) -> Index:
        """How often each row is tested."""
        return np.bincount(np.concatenate([test for _, test in self.folds]), minlength=len(self.rows.label))

    @property
    def n_queries(self) -> list[tuple[int, int]]:
        """Queries in the training and the test set of each fold."""
        sizes = zip(self.folds, self.test_sets, strict=True)
        return [(self.rows.n_queries_in(train), len(test.ids)) for (train, _), test in sizes]

    def y_score(self, results: Sequence[FoldResult]) -> Array:
        """Scores of each row where it was tested, NaN elsewhere; with repeats a column for each time."""
        y_score, n_before = np.full((len(self.rows.label), self._n_tests.max()), np.nan), np.zeros_like(self._n_tests)
        for (_, test), result in zip(self.folds, results, strict=True):
            y_score[test, n_before[test]] = result.output
            n_before[test] += 1
        return y_score[:, 0] if y_score.shape[1] == 1 else y_score

    def evaluate(self, results: Sequence[FoldResult]) -> Evaluation:
        """Result over the queries that were tested; with repeats of the mean value of each query."""
        y_score = low_scores(self.y_score(results), self.metrics.values())
        if y_score.ndim == 2:
            return _mean_result([self._prepared(self.rows).evaluate(one) for one in y_score.T])
        tested = ~np.isnan(y_score)
        return self._prepared(self.tested).evaluate(y_score if tested.all() else y_score[tested])

    def mean(self, fold: int, y_score: Array | None) -> dict[str, float]:
        """Mean of each metric in one test set; NaN without scores."""
        if y_score is None:
            return dict.fromkeys(self.metrics, np.nan)
        return self._prepared(self.test_sets[fold]).evaluate(low_scores(y_score, self.metrics.values())).mean()

    def look(self, door: Door, y_score: Array, on_misuse: str) -> None:
        """Check the scores of the first repeat for misuse."""
        y_score = low_scores(y_score if y_score.ndim == 1 else y_score[:, 0], self.metrics.values())
        tested = ~np.isnan(y_score)
        rows, scores = (self.rows, y_score) if tested.all() else (self.tested, y_score[tested])
        rows.look_at_scores(door, scores, self.metrics, on_misuse=on_misuse)

    def mean_train(self, fold: int, y_score: Array) -> dict[str, float]:
        """Mean of each metric in one training set."""
        rows = self.rows.take(self.folds[fold][0])
        return rows.evaluate(low_scores(y_score, self.metrics.values()), self.metrics).mean()

    def _prepared(self, rows: GroupedRows) -> PreparedMetrics:
        """Metrics of some rows, prepared for all models that score them."""
        # The rows live as long as all folds are evaluated.
        if id(rows) not in self._metrics_of:
            self._metrics_of[id(rows)] = rows.prepare(self.metrics)
        return self._metrics_of[id(rows)]


def _mean_result(results: Sequence[Evaluation]) -> Evaluation:
    """Mean over repeats of the value of each query; undefined where it is in one of them."""
    first, means = results[0], [result.mean() for result in results]
    undefined = [{name: values.undefined[:, 0] for name, values in result._metrics.items()} for result in results]
    pooled = [name for name, average in first.average.items() if average != "macro"]
    return Evaluation.from_values(
        first.qid,
        {name: np.mean([result.per_query[name] for result in results], axis=0) for name in first.meaning},
        undefined={name: np.any([of_result[name] for of_result in undefined], axis=0) for name in first.meaning},
        means={name: float(np.mean([of_result[name] for of_result in means])) for name in pooled},
        meaning=first.meaning, average=first.average, greater_is_better=first.greater_is_better,
        n_documents=first.n_documents, weight=first.weight, label_fingerprints=first.label_fingerprints,
        by=first.attributes, clusters=first.clusters,
    )  # fmt: skip


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
        Mean of each metric, the same as in the result: errors are positive. NaN where the model failed.
    fit_time : float
        Seconds.
    error : Exception or None
        What the model raised.
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
        """Exceptions that were raised, by number of the fold."""
        return {i: result.error for i, result in enumerate(self.results) if result.error is not None}


OnFold = Callable[[FoldScores], object]


class FoldReporter:
    """Reports the scores of each fold to a function, and to a progress bar, if there are any."""

    def __init__(self, models: Sequence[str], n_folds: int, on_fold: OnFold | None, progress: bool) -> None:
        if on_fold is not None and not callable(on_fold):
            raise TypeError(f"on_fold must be a function of the scores of a fold, or None. Got {echo(on_fold)}.")
        self.models, self.n_folds, self.on_fold = models, n_folds, on_fold
        self._tqdm = import_tqdm() if progress else None

    def collect(self, fits: Generator[FoldResult], mean: Callable[[int, Any], dict[str, float]]) -> list[ModelFolds]:
        """Folds of each model, each reported as it comes; an exception that `on_fold` raises stops the fits."""
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
                # joblib warns of fits that it had begun when the others were stopped.
                warnings.filterwarnings("ignore", ".*adjusting the input task iterator", UserWarning)
                fits.close()
        return by_model


def by_metric(scores: Sequence[dict[str, float]]) -> dict[str, Array]:
    """Scores of each metric, one for each dict."""
    return ByName((name, np.array([one[name] for one in scores])) for name in scores[0])
