"""Scores of rows by models that had not seen them, put together fold by fold, and their results over queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from sklearn_rank._evaluation.grouped_rows import GroupedRows
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array
from sklearn_rank.model_selection._folds import FoldResult, Split
from sklearn_rank.model_selection._whole_folds import count_repeats


@dataclass(frozen=True)
class OutOfFold:
    """Rows and the folds that test them."""

    rows: GroupedRows
    folds: Sequence[Split]
    _known: dict[tuple[int, int], PreparedMetrics] = field(default_factory=dict)

    @cached_property
    def n_repeats(self) -> int | None:
        """How often rows are tested; None if some are tested more often than others."""
        return count_repeats(self.folds, len(self.rows.label))

    @cached_property
    def test_sets(self) -> list[GroupedRows]:
        """Rows of each test set."""
        return [self.rows.take(test) for _, test in self.folds]

    @cached_property
    def tested(self) -> GroupedRows:
        """Rows that any fold tests."""
        n_tests = np.bincount(np.concatenate([test for _, test in self.folds]), minlength=len(self.rows.label))
        return self.rows if n_tests.all() else self.rows.take(np.flatnonzero(n_tests))

    @property
    def n_queries(self) -> list[tuple[int, int]]:
        """Queries in the training and the test set of each fold."""
        sizes = zip(self.folds, self.test_sets, strict=True)
        return [(self.rows.n_queries_in(train), len(test.ids)) for (train, _), test in sizes]

    def y_score(self, results: Sequence[FoldResult]) -> Array:
        """Scores of each row where it was tested, NaN elsewhere; with repeats a column for each time."""
        n_rows, n_repeats = len(self.rows.label), self.n_repeats or 0
        y_score, n_before = np.full((n_rows, n_repeats), np.nan), np.zeros(n_rows, dtype=np.int64)
        for (_, test), result in zip(self.folds, results, strict=True):
            y_score[test, n_before[test]] = result.y_score
            n_before[test] += 1
        return y_score[:, 0] if n_repeats == 1 else y_score

    def evaluate(self, y_score: Array, metrics: Mapping[str, MetricSpec]) -> Evaluation:
        """Result over the queries that were tested; with repeats of the mean value of each query."""
        if y_score.ndim == 2:
            return _mean_result([self._prepared(self.rows, metrics).evaluate(one) for one in y_score.T])
        tested = ~np.isnan(y_score)
        return self._prepared(self.tested, metrics).evaluate(y_score if tested.all() else y_score[tested])

    def mean(self, fold: int, y_score: Array | None, metrics: Mapping[str, MetricSpec]) -> dict[str, float]:
        """Mean of each metric in one test set; NaN without scores."""
        if y_score is None:
            return dict.fromkeys(metrics, np.nan)
        return self._prepared(self.test_sets[fold], metrics).evaluate(y_score).mean()

    def _prepared(self, rows: GroupedRows, metrics: Mapping[str, MetricSpec]) -> PreparedMetrics:
        """Metrics of some rows, prepared for all models that score them."""
        key = id(rows), id(metrics)  # both live as long as all folds are evaluated
        if key not in self._known:
            self._known[key] = rows.prepare(metrics)
        return self._known[key]


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
