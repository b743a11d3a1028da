"""Rows grouped by query: done once for all models of a comparison, and once for each of its folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import AttributesLike, ClustersLike, QueryAttributes, QueryRows, check_attributes
from sklearn_rank._engine.check import queries_of, query_weight, refuse_bad_weight
from sklearn_rank._engine.grouping import group_rows
from sklearn_rank._engine.ids import id_order
from sklearn_rank._evaluation.all_relevant import LabelRange
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.score_rows import ScoreRows
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.typing import Array, Index


@dataclass(frozen=True)
class GroupedRows:
    """Labels of rows, and the query of each: rows of query q are ``order[indptr[q]:indptr[q + 1]]``.

    Queries are in order of first appearance. `order` is None where their rows are adjacent.
    """

    label: Array
    ids: NDArray[Any]
    indptr: Index
    order: Index | None
    weight: Array | None = None
    properties: QueryAttributes = QueryAttributes({}, None)

    @classmethod
    def of(
        cls, y: ArrayLike, qid: ArrayLike, sample_weight: ArrayLike | None = None, *, by: AttributesLike = None,
        clusters: ClustersLike = None,
    ) -> GroupedRows:  # fmt: skip
        """Group checked rows."""
        label = column(as_floats(y, "y"))
        groups = group_rows(qid, len(label))
        weight = None if sample_weight is None else query_weight(sample_weight, *groups)
        properties = check_attributes(by, clusters, QueryRows(*groups, n_given=len(label)), y=y)
        return cls(label, *groups, weight, properties)

    @cached_property
    def number(self) -> Index:
        """Number of each row's query, in the order of the ids, whatever the order of the rows."""
        rank = np.empty(len(self.ids), dtype=np.int64)
        rank[self._by_id] = np.arange(len(self.ids))
        number = np.repeat(rank, np.diff(self.indptr))
        if self.order is not None:
            number[self.order] = number.copy()
        return number

    @cached_property
    def _by_id(self) -> Index:
        """Queries in the order of their ids."""
        return id_order(self.ids)

    def take(self, rows: Index) -> GroupedRows:
        """Some of the rows, in which queries are whole; one of their weights at least is above 0."""
        numbers, indptr, order = group_rows(self.number[rows], len(rows))
        query = self._by_id[numbers]
        weight = None if self.weight is None else self.weight[query]
        if weight is not None:
            refuse_bad_weight(weight)
        attributes, clusters = self.properties
        properties = QueryAttributes(
            {name: values[query] for name, values in attributes.items()}, None if clusters is None else clusters[query]
        )
        return GroupedRows(self.label[rows], self.ids[query], indptr, order, weight, properties)

    @property
    def label_range(self) -> LabelRange:
        """Lowest and highest label; NaN if there is any."""
        return LabelRange(len(self.ids), float(self.label.min()), float(self.label.max()))

    def n_queries_in(self, rows: Index) -> int:
        """Number of queries of which some rows are."""
        return int(np.count_nonzero(np.bincount(self.number[rows])))

    def prepare(self, metrics: Mapping[str, MetricSpec], n_jobs: int | None = None) -> PreparedMetrics:
        """Metrics of these rows, to be given scores again and again."""
        none = np.zeros(len(self.label))
        queries = queries_of(self.label, none, self.indptr, self.ids, self.order, self.weight, n_jobs)
        rows = ScoreRows((len(self.label),), self.indptr, self.ids, self.order)
        return PreparedMetrics(queries, rows, metrics, n_jobs, properties=self.properties)

    def evaluate(self, y_score: ArrayLike, metrics: Mapping[str, MetricSpec], n_jobs: int | None = None) -> Evaluation:
        """Metrics of scores, one for each row."""
        return self.prepare(metrics, n_jobs).evaluate(y_score)
