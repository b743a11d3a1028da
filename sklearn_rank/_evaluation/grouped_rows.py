"""Rows grouped by query: done once for all models of a comparison, and once for each of its folds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._engine.attributes import AttributesLike, ClustersLike, QueryAttributes, check_attributes
from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import Grouping, group_rows
from sklearn_rank._engine.ids import id_order
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import queries_of, query_weight, refuse_bad_weight, with_columns
from sklearn_rank._evaluation.prepared import PreparedMetrics
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._evaluation.score_rows import ScoreRows
from sklearn_rank._metric.names import columns_of
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.check import Door
from sklearn_rank._misuse.evidence import Evidence
from sklearn_rank._misuse.rows import look
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.typing import Array, Index


@dataclass(frozen=True)
class GroupedRows:
    """Labels of rows, and the query of each.

    Levels of the `index` of the labels, if they have several, may be columns that metrics read.
    """

    label: Array
    grouping: Grouping
    weight: Array | None = None
    properties: QueryAttributes = QueryAttributes({}, None)
    index: Any = None

    @classmethod
    def of(
        cls, y: ArrayLike, qid: ArrayLike, sample_weight: ArrayLike | None = None, *, by: AttributesLike = None,
        clusters: ClustersLike = None,
    ) -> GroupedRows:  # fmt: skip
        """Group checked rows."""
        label = column(as_floats(y, "y"))
        grouping = group_rows(qid, len(label))
        weight = None if sample_weight is None else query_weight(sample_weight, grouping)
        properties = check_attributes(by, clusters, grouping, y=y)
        index = labels_of(y)
        return cls(label, grouping, weight, properties, index if index is not None and index.nlevels > 1 else None)

    @cached_property
    def number(self) -> Index:
        """Number of each row's query, in the order of the ids, whatever the order of the rows."""
        rank = np.empty(self.grouping.n_queries, np.int64)
        rank[id_order(self.grouping.ids)] = np.arange(len(rank))
        return rank[self.grouping.query_of_row]

    def take(self, rows: Index) -> GroupedRows:
        """Some of the rows, with whole queries; at least one of their weights is above 0."""
        query, grouping = self.grouping.with_rows(rows)
        weight = None if self.weight is None else self.weight[query]
        if weight is not None:
            refuse_bad_weight(weight)
        attributes, clusters = self.properties
        properties = QueryAttributes(
            {name: values[query] for name, values in attributes.items()}, None if clusters is None else clusters[query]
        )
        index = None if self.index is None else self.index[rows]
        return GroupedRows(self.label[rows], grouping, weight, properties, index)

    def look(self, door: Door, metrics: Mapping[str, MetricSpec], *, on_misuse: str = "raise") -> None:
        """Check labels and ids for misuse; raise ValueError where they are an error."""
        look(
            door,
            self._with_scores(np.zeros(len(self.label))),
            metrics,
            kinds="labels ids qid",
            on_misuse=on_misuse,
        )

    def evidence(self, metrics: Mapping[str, MetricSpec]) -> Evidence:
        """What labels and ids show."""
        return Evidence.of(self._with_scores(np.zeros(len(self.label))), metrics, kinds="labels ids qid")

    def look_at_scores(self, door: Door, y_score: Array, metrics: Mapping[str, MetricSpec], *, on_misuse: str) -> None:
        """Check scores for misuse."""
        look(
            door,
            self._with_scores(np.ascontiguousarray(y_score)),
            metrics,
            kinds="scores",
            on_misuse=on_misuse,
        )

    def _with_scores(self, y_score: Array, n_jobs: int | None = None) -> Queries:
        """Queries with these scores."""
        return queries_of(self.label, y_score, self.grouping, self.weight, n_jobs)

    def n_queries_in(self, rows: Index) -> int:
        """Number of queries with one of these rows."""
        return int(np.count_nonzero(np.bincount(self.number[rows])))

    def prepare(self, metrics: Mapping[str, MetricSpec], n_jobs: int | None = None) -> PreparedMetrics:
        """Metrics of these rows, to be given scores again and again."""
        queries = self._with_scores(np.zeros(len(self.label)), n_jobs)
        queries = with_columns(queries, self, columns_of(metrics), {})
        rows = ScoreRows((len(self.label),), self.grouping, self.grouping.order)
        return PreparedMetrics(queries, rows, metrics, n_jobs, properties=self.properties)

    def evaluate(self, y_score: ArrayLike, metrics: Mapping[str, MetricSpec], n_jobs: int | None = None) -> Evaluation:
        """Metrics of scores, one for each row."""
        return self.prepare(metrics, n_jobs).evaluate(y_score)
