"""Folds of whole queries for `RankingEvaluator`: models score rows, metrics score queries."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import Any

import numpy as np
import sklearn
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import SEARCH, Door
from sklearn_rank._data.look import look, look_at_labels, look_at_scores
from sklearn_rank._engine.attributes import AttributesLike, by_row
from sklearn_rank._engine.columns import check_features, check_rows, one_column, queries_in
from sklearn_rank._engine.grouping import find_qid
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import read_labels, some_rows
from sklearn_rank._evaluation.prepared import PreparedMetrics, prepare_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.several_runs import mean_result
from sklearn_rank._evaluator.folds import BaseFolds, FoldResult, check_splitter, fit_folds, query_folds
from sklearn_rank._evaluator.search_setup import SearchSetup, check_inner_searches, warn_of_objective, with_qid
from sklearn_rank._metric.names import listed_metrics, parse_metrics
from sklearn_rank._scoring.model_checks import look_at_frozen
from sklearn_rank._scoring.response import call_method, low_scores, predict_scores
from sklearn_rank._scoring.routing import consumes, with_queries, with_weights_on_request
from sklearn_rank._scoring.scorer import RankingScorers, metrics_of
from sklearn_rank._scoring.split import QueryKFold
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import as_floats, column, refuse_masked
from sklearn_rank._utils.typing import Array, Estimator, Index, MatrixLike


@dataclass(frozen=True)
class QueryFolds(BaseFolds):
    """Folds of whole queries: each model scores the test rows, which it was not fitted on."""

    data: Data
    _metrics_of: dict[int, PreparedMetrics] = field(default_factory=dict)

    must_predict = True
    """Whether a model needs `predict`."""

    @staticmethod
    def read_metrics(metrics: Any, keywords: Mapping[str, Any]) -> Any:
        """Check the metrics; return a list, or the dict of named metrics."""
        listed = metrics if isinstance(metrics, Mapping) else listed_metrics(metrics)
        parse_metrics(listed, **keywords)
        return listed

    @staticmethod
    def scorers(metrics: Any, keywords: Mapping[str, Any]) -> RankingScorers:
        """Scorer of all metrics."""
        return RankingScorers(metrics, **keywords)

    @staticmethod
    def splitter(cv: Any, class_name: str) -> Any:
        """Check `cv` and return a splitter or a list of splits; `class_name` is for messages."""
        return check_splitter(cv, class_name)

    @classmethod
    def of(
        cls, scorer: RankingScorers, inner_cv: Any, X: MatrixLike, y: ArrayLike, cv: Any, *,
        qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None, by: AttributesLike = None,
        clusters: ArrayLike | None = None, time: ArrayLike | None = None,
    ) -> QueryFolds:  # fmt: skip
        """Check the rows, group them by query, and split them with `cv`."""
        queries, n_rows = queries_in(y) if qid is None else qid, n_rows_of(y, "y")
        sample_weight, clusters, time = (
            by_row(values, name, queries, n_rows)
            for name, values in (("sample_weight", sample_weight), ("clusters", clusters), ("time", time))
        )
        check_rows(y=y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time)
        check_features(X, y=y, qid=qid, sample_weight=sample_weight, clusters=clusters, time=time)
        for name, given in (("X", X), ("y", y), ("sample_weight", sample_weight)):
            refuse_masked(given, name)
        y = one_column(y)
        weight = None if sample_weight is None else column(as_floats(sample_weight, "sample_weight"))
        ids = ids_of(find_qid(y, qid, name="y"))
        routed = {"qid": ids, "sample_weight": weight, "clusters": clusters, "time": time}
        metadata = {name: values for name, values in routed.items() if values is not None}
        data = read_labels(y, ids, weight, by=by, clusters=clusters)
        folds = query_folds(cv, X, y, data.grouping.number_by_id, metadata)
        return cls(scorer, inner_cv, X, y, metadata, folds, data)

    def prepare(self, estimator: Estimator, name: str = "The estimator") -> Any:
        """Return an estimator that accepts qid, with scorers and splitter set in its searches."""
        ready = self._setup().prepare(estimator, name)
        self._check_inside(ready)
        return self._with_weights(ready)

    def set_up(self, search: Any) -> Any:
        """Return a copy of a search, with the scorers if it has none."""
        ready = self._setup().search(search)
        self._check_inside(ready.estimator)
        warn_of_objective(ready)
        return self._with_weights(ready)

    def _setup(self) -> SearchSetup:
        """Scorers and splitter for nested searches: a splitter that ignores queries works only for the outer rows."""
        cv = with_qid(self.cv) if consumes(self.cv, "split", "groups", "qid") else QueryKFold()
        scorers = self.scorer if self.data.weight is None else self.scorer.set_score_request(sample_weight=True)
        return SearchSetup(scorers.without_checks(), cv, self.data.grouping.n_queries)

    def _check_inside(self, estimator: Estimator) -> None:
        """Refuse nested searches that split queries."""
        check_inner_searches(estimator, self.X, self.y, self.data.grouping.number_by_id, self.folds, self.metadata)

    def _with_weights(self, ready: Any) -> Any:
        """Return the estimator; if rows have weights, request them for its fits."""
        return ready if self.data.weight is None else with_weights_on_request(ready)

    def look(self, door: Door, models: Iterable[Any], on_misuse: str) -> None:
        """Check labels, ids and models for misuse, before any fit."""
        look_at_labels(door, self.data, self.metrics, on_misuse)
        look(door, on_misuse, copies=(self.X, self.y))
        for model in models:
            look_at_frozen(door, model, self.X, self.y, self.metadata["qid"], on_misuse=on_misuse)

    def look_at_search(self, ready: Any, scoring: Any, on_misuse: str) -> None:
        """Do the same for the metrics of the search: the metrics of its own scorers if it has any."""
        metrics = metrics_of(self.scorer if scoring is None else scoring)
        refit = getattr(ready, "refit", True)
        first = [refit] if isinstance(refit, str) and refit in metrics else []
        if metrics:
            metrics = {name: metrics[name] for name in [*first, *metrics]}
            look_at_labels(SEARCH, self.data, metrics, on_misuse)
        look(SEARCH, on_misuse, copies=(self.X, self.y))
        look_at_frozen(SEARCH, ready, self.X, self.y, self.metadata["qid"], on_misuse=on_misuse)

    def fit(self, models: Sequence[Any], n_jobs: int | None, **keep: bool) -> Generator[FoldResult]:
        """Fit all models on all folds."""
        return fit_folds(self, models, predict_rows, n_jobs, **keep)

    @cached_property
    def n_repeats(self) -> int | None:
        """How often rows are tested: at most once (1), or the same number > 1 for all rows; otherwise None."""
        # Identical folds do not count as repeats, because they would count one result twice.
        n_repeats = int(self._n_tests.max())
        if n_repeats == 1:
            return 1
        n_different = len({np.sort(test).tobytes() for _, test in self.folds})
        return n_repeats if self._n_tests.min() == n_repeats and n_different * n_repeats > len(self.folds) else None

    @cached_property
    def _test_sets(self) -> list[Data]:
        """Rows of each test set."""
        return [some_rows(self.data, test) for _, test in self.folds]

    @cached_property
    def _tested(self) -> Data:
        """Rows in at least one test set."""
        return self.data if self._n_tests.all() else some_rows(self.data, np.flatnonzero(self._n_tests))

    @cached_property
    def _n_tests(self) -> Index:
        """Number of test sets that contain each row."""
        return np.bincount(np.concatenate([test for _, test in self.folds]), minlength=len(self.data.row_label))

    @property
    def n_queries(self) -> list[tuple[int, int]]:
        """Numbers of queries in the training and the test set of each fold."""
        sizes, number = zip(self.folds, self._test_sets, strict=True), self.data.grouping.number_by_id
        return [
            (int(np.count_nonzero(np.bincount(number[train]))), test.grouping.n_queries) for (train, _), test in sizes
        ]

    def mean(self, fold: int, y_score: Array | None, *, of_train: bool = False) -> dict[str, float]:
        """Mean of each metric in one test or training set; NaN without scores."""
        if y_score is None:
            return dict.fromkeys(self.metrics, np.nan)
        scores = low_scores(y_score, self.metrics.values())
        if of_train:
            return prepare_rows(some_rows(self.data, self.folds[fold][0]), self.metrics).evaluate(scores).mean()
        return self._prepared(self._test_sets[fold]).evaluate(scores).mean()

    def evaluate(self, results: Sequence[FoldResult]) -> Evaluation:
        """Return the result over the tested queries; with repeats, the value of a query is its mean over them."""
        y_score = low_scores(self._y_score(results), self.metrics.values())
        if y_score.ndim == 2:
            mean: Evaluation = mean_result([self._prepared(self.data).evaluate(one) for one in y_score.T])
            return mean
        tested = ~np.isnan(y_score)
        return self._prepared(self._tested).evaluate(y_score if tested.all() else y_score[tested])

    def y_score(self, results: Mapping[str, Sequence[FoldResult]]) -> dict[str, Array]:
        """Test scores of each row by each model, NaN if the row is not tested; one column for each repeat."""
        return {name: self._y_score(of_model) for name, of_model in results.items()}

    def look_at_scores(self, door: Door, results: Sequence[FoldResult], on_misuse: str) -> None:
        """Check the scores of a model for misuse; with repeats, only the first repeat."""
        y_score = self._y_score(results)
        y_score = low_scores(y_score if y_score.ndim == 1 else y_score[:, 0], self.metrics.values())
        tested = ~np.isnan(y_score)
        data, scores = (self.data, y_score) if tested.all() else (self._tested, y_score[tested])
        look_at_scores(door, data, scores, self.metrics, on_misuse)

    def _y_score(self, results: Sequence[FoldResult]) -> Array:
        """Scores of each row by one model."""
        y_score, n_before = (
            np.full((len(self.data.row_label), self._n_tests.max()), np.nan),
            np.zeros_like(self._n_tests),
        )
        for (_, test), result in zip(self.folds, results, strict=True):
            y_score[test, n_before[test]] = result.output
            n_before[test] += 1
        return y_score[:, 0] if y_score.shape[1] == 1 else y_score

    def _prepared(self, data: Data) -> PreparedMetrics:
        """Prepare the metrics of some rows once for all models."""
        # `id` is a safe key, because this object keeps the data alive.
        if id(data) not in self._metrics_of:
            self._metrics_of[id(data)] = prepare_rows(data, self.metrics)
        return self._metrics_of[id(data)]


def predict_rows(estimator: Estimator, X: MatrixLike, y: Any, qid: Any = None) -> NDArray[Any]:
    """Predict scores of rows with a fitted model, and pass queries to the steps that request them."""
    with sklearn.config_context(enable_metadata_routing=True):
        call = with_queries(call_method, qid)
        return check_predictions(predict_scores(estimator, X, call=call), len(y))


def check_predictions(y_score: ArrayLike, n_rows: int) -> NDArray[Any]:
    """Check predictions: one real number for each row, not NaN or +inf; a matrix with a single column is accepted."""
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
