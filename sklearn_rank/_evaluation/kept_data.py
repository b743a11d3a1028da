"""The data behind a result: kept, so that it can be ranked again, or summarized."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple, NoReturn
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.look import LabelCounts
from sklearn_rank._engine.fingerprints import (
    Fingerprints,
    fingerprints_of,
    fingerprints_of_columns,
    fingerprints_of_rankings,
)
from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import BYTE, LazyQueries, Queries
from sklearn_rank._engine.ranking import tied_across
from sklearn_rank._engine.read import queries_of
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._estimates.runs import RunMeans
from sklearn_rank._evaluation.references import References, specs_in_orders
from sklearn_rank._evaluation.remarks import cut_at, remarks_on
from sklearn_rank._metric.choices import orders_of_ties
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.names import columns_of, parse_metric
from sklearn_rank._metric.plain import PlainMetric
from sklearn_rank._metric.settled import metrics_to_add, said_by_others, settled_as_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.typing import Array, Index

CHECKED_ROWS = 1000
"""Rows that tell whether labels were changed."""

DocumentsOfRows = Callable[[Index], NDArray[Any]]
"""Ids of the documents of some rows of the input."""


Settled = Mapping[str, NDArray[np.bool_]]
"""Whether the judgments of a query alone fix its value, by metric."""


class RowsOfQueries(NamedTuple):
    """Copies of the documents of some queries, in the order of stable ties: label, score, id or place, and columns."""

    label: Array
    score: Array
    document: NDArray[Any]
    grouping: Grouping
    has_ids: bool
    columns: Mapping[str, Array]

    @property
    def queries(self) -> Queries:
        """Queries to be ranked again."""
        return replace(queries_of(self.label, self.score, self.grouping), columns=self.columns)


def with_counts(result: Any, **counts: Any) -> Any:
    """A result of given values that knows more of its data: fields of `DataCounts`."""
    return replace(result, _kept_data=replace(result._kept_data, **counts))


@dataclass(frozen=True)
class RankedData(ReadOnlyArrays):
    """Checked data, which can be ranked again.

    Attributes
    ----------
    queries : Queries or LazyQueries
    known_fingerprints : ndarray of shape (n_queries,) or None
        Fingerprints of the labels, where they were computed with the metrics. None: they are computed when asked for.
    documents : callable or None
        From rows of the input to ids of documents; None where documents are known by their place.
    labels_checksum : int or None
        Checksum of labels that may be an array of the user.
    scores_checksum : int or None
        Checksum of scores, which may be an array of the user.
    known_settled : dict of str to ndarray of shape (n_queries,) or None
        Queries whose judgments alone fix the value of a metric, where they were computed with the metrics.
    known_remarks : tuple of str
        What queries showed while they were built.
    notes : tuple of str
        Remarks of the function that read the data.
    """

    queries: Queries | LazyQueries
    known_fingerprints: Fingerprints | None = None
    documents: DocumentsOfRows | None = None
    labels_checksum: int | None = None
    scores_checksum: int | None = None
    known_settled: Settled | None = None
    known_remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    run_means: ClassVar[RunMeans] = {}
    run_values: ClassVar[Mapping[str, Array]] = {}

    def __post_init__(self) -> None:
        """Remember scores, and labels unless they are bytes of our own."""
        super().__post_init__()
        if isinstance(self.queries, Queries):
            object.__setattr__(self, "scores_checksum", checksum(self.queries.score))
        if isinstance(self.queries, Queries) and self.queries.row_label.dtype is not BYTE:
            object.__setattr__(self, "labels_checksum", checksum(self.queries.row_label))

    @property
    def ranked(self) -> RankedData:
        """The data themselves."""
        return self

    @property
    def keeps_documents(self) -> bool:
        """Whether documents are known by id, row or column."""
        return isinstance(self.queries, Queries) or self.queries.is_by_column

    @property
    def n_documents(self) -> Index:
        """Number of documents of each query."""
        return self.queries.grouping.sizes

    known_documents = n_documents

    @cached_property
    def n_retrieved(self) -> Index | None:
        """Number of retrieved documents of each query; None for queries that are built when they are needed."""
        queries = self.queries
        if isinstance(queries, LazyQueries) or self.scores_checksum != checksum(queries.score):
            return None
        return n_retrieved(queries)

    @property
    def cut_at(self) -> int | None:
        """Number of documents at which lists are cut; None if they are not, or it is unknown."""
        return cut_at(self.queries)

    def remarks(self, specs: Mapping[str, MetricSpec]) -> tuple[str, ...]:
        """What the data show that the values do not."""
        found = self.known_remarks or remarks_on(self.queries, specs)
        unread = orders_of_ties(found) if orders_of_ties(self.notes) else []
        return (*(remark for remark in found if remark not in unread), *self.notes)

    @cached_property
    def label_fingerprints(self) -> Fingerprints | None:
        """Fingerprint of the labels of each query; None if unknown."""
        if self.known_fingerprints is None and isinstance(self.queries, Queries):
            if self._labels_were_changed():
                return None
            return fingerprints_of(self.queries)
        return self.known_fingerprints

    @cached_property
    def ranking_fingerprints(self) -> Fingerprints | None:
        """Fingerprint of the ranked list of each query; None if unknown, or if scores were changed since."""
        queries = self.queries
        if isinstance(queries, LazyQueries) or self.scores_checksum != checksum(queries.score):
            return None
        return fingerprints_of_rankings(queries, self.documents)

    def column_fingerprints(self, specs: Mapping[str, MetricSpec]) -> dict[str, Fingerprints]:
        """Fingerprint of the columns that a metric reads, by metric that reads some."""
        queries = self.queries
        if isinstance(queries, LazyQueries) or not queries.columns:
            return {}
        read = {name: [*columns_of({name: spec})] for name, spec in specs.items()}
        return {name: fingerprints_of_columns(queries, columns) for name, columns in read.items() if columns}

    def _labels_were_changed(self) -> bool:
        known = self.labels_checksum
        return isinstance(self.queries, Queries) and known not in (None, checksum(self.queries.row_label))

    def settled(self, specs: Mapping[str, MetricSpec], values: Mapping[str, Any]) -> Settled:
        """Queries whose judgments alone fix the value of a metric, as far as that is known."""
        known = settled_by_values(specs, values) | dict(self.known_settled or {})
        added = {name: other for name, other in metrics_to_add(specs).items() if name not in known}
        if added and isinstance(self.queries, Queries) and not self._labels_were_changed():
            known |= settled_by(added, values, compute(self.queries, [*added.values()]))
        return known

    def judged(self, specs: Mapping[str, MetricSpec], values: Mapping[str, Any]) -> dict[str, Array]:
        """Share of the documents of each query that are judged, down to the cutoff of each metric."""
        # NaN without documents. Empty for labels by subtopic, queries built when they are needed, and changed data.
        queries = self.queries
        if isinstance(queries, LazyQueries):
            return {}
        may_vary = queries.summary.has_unretrieved or queries.summary.has_unjudged
        return {} if may_vary and self.was_changed(values) else judged_shares(queries, specs)

    @cached_property
    def judges_both(self) -> bool:
        """Whether some of the judged documents are not relevant, and judgments do not just name relevant ones."""
        if isinstance(self.queries, LazyQueries) or self.queries.has_subtopics:
            return False
        return LabelCounts.of(self.queries, leaves_out=False).judges_both

    def rows_of(self, numbers: Index) -> RowsOfQueries:
        """Documents of some queries, by the numbers of the queries."""
        queries = self.queries
        if isinstance(queries, Queries):
            return self._rows_of(queries, numbers)
        # Queries are built in runs of successive ones.
        runs = np.split(numbers, np.flatnonzero(np.diff(numbers) != 1) + 1)
        built = [(queries.make(run[0], run[-1] + 1, None), np.arange(len(run))) for run in runs]
        parts = [self._rows_of(*part) for part in built]
        label, score, document, groups, (has_ids, *_), _ = zip(*parts, strict=True)
        sizes = [part.sizes for part in groups]
        labels, scores, documents, size = (np.concatenate(columns) for columns in (label, score, document, sizes))
        return RowsOfQueries(labels, scores, documents, Grouping.by_sizes(size), has_ids, {})

    def _rows_of(self, queries: Queries, numbers: Index) -> RowsOfQueries:
        of_all = queries.grouping
        rows, grouping = of_all.rows_of(numbers), Grouping.by_sizes(of_all.sizes[numbers])
        label, score = queries.label[rows], queries.score[rows].astype(np.float64)
        columns = {name: column[rows] for name, column in (queries.columns or {}).items()}
        if of_all.origin.rows is not None:
            rows = of_all.origin.rows[rows]
        if self.documents is not None:
            return RowsOfQueries(label, score, self.documents(rows), grouping, True, columns)
        place = rows - np.repeat(of_all.indptr[numbers], grouping.sizes) if of_all.row_is_query else rows
        return RowsOfQueries(label, score, place, grouping, False, columns)

    @property
    def highest_label(self) -> float:
        """Highest label of all queries; -inf where that is not known."""
        return -math.inf if isinstance(self.queries, LazyQueries) else self.queries.summary.label_range[1]

    def was_changed(self, values: Mapping[str, Any]) -> bool:
        """Whether data were changed since, so that formulas have other values than before."""
        known: list[Any] = [one for one in values.values() if isinstance(one, PerQuery)]
        before = [one for one in known if not isinstance(one.spec.metric, PlainMetric)]
        if len(before) < len(known) and isinstance(self.queries, Queries):
            if self._labels_were_changed() or self.scores_checksum != checksum(self.queries.score):
                return True
        return not all(map(_are_equal, before, compute(self.queries, [one.spec for one in before])))

    def check_unchanged(self, values: Mapping[str, Any]) -> None:
        """Refuse data that were changed since."""
        if self.was_changed(values):
            raise ValueError(
                "The labels or scores were modified after evaluate(); ties, chance and best need the original data. "
                "Call evaluate() again, or pass copies."
            )

    def n_tied(self, spec: MetricSpec) -> int:
        """Number of queries with equal scores on both sides of the cutoff."""
        return int(tied_across(self.queries, spec).sum())

    def references(self, values: Mapping[str, Any], specs: Mapping[str, MetricSpec]) -> References:
        """Values of metrics in other orders of the documents that have a rank, beside those by score."""
        self.check_unchanged(values)
        in_orders = specs_in_orders(specs)
        computed = iter(compute(self.queries, [s for of in in_orders.values() for s in of.values()]))
        return References.of(values, {o: {name: next(computed) for name in of} for o, of in in_orders.items()})

    def means_with_ties(self, spec: MetricSpec, policies: tuple[str, ...], weight: Array | None) -> list[float]:
        """Mean of a metric under each of some policies for ties."""
        specs = [replace(spec, keywords={**spec.keywords, "ties": ties}) for ties in policies]
        return [float(values.average(weight)[0]) for values in compute(self.queries, specs)]


def _are_equal(before: PerQuery, now: PerQuery) -> bool:
    """Whether values are the same, also where they are NaN."""
    return np.array_equal(before.values(), now.values(), equal_nan=True)


def checksum(x: NDArray[Any]) -> int:
    """Checksum of some of the rows."""
    return crc32(x[:: len(x) // CHECKED_ROWS + 1].tobytes())


@dataclass(frozen=True)
class DataCounts(ReadOnlyArrays):
    """Counts and fingerprints of data that were not kept.

    Attributes
    ----------
    known_documents : ndarray of shape (n_queries,) or None
        Number of documents of each query; None if unknown.
    label_fingerprints : ndarray of shape (n_queries,) or None
        Fingerprint of the labels of each query; None if unknown.
    known_judged : dict of str to ndarray of shape (n_queries,)
        Share of the documents of each query that are judged, by metric, as far as it is known.
    judges_both : bool
        Whether some of the judged documents are known to be not relevant.
    ranking_fingerprints : ndarray of shape (n_queries,) or None
        Fingerprint of the ranked list of each query; None if unknown.
    known_settled : dict of str to ndarray of shape (n_queries,) or None
        Queries whose judgments alone fix the value of a metric; None: as far as the values say it.
    known_remarks : tuple of str
        What a table says of the data.
    cut_at : int or None
        Number of documents at which lists are cut.
    known_columns : dict of str to ndarray of shape (n_queries,)
        Fingerprint of the columns that a metric reads, by metric.
    run_means : dict of str to tuple of float
        Mean of each run by metric, where these are several runs of one system.
    run_values : dict of str to ndarray of shape (n_queries, n_runs)
        Values of each run by metric; empty if an earlier version saved the result.
    n_retrieved : ndarray of shape (n_queries,) or None
        Number of retrieved documents of each query; None if unknown.
    """

    known_documents: Index | None = None
    label_fingerprints: Fingerprints | None = None
    known_judged: Mapping[str, Array] = field(default_factory=dict)
    judges_both: bool = False
    ranking_fingerprints: Fingerprints | None = None
    known_settled: Settled | None = None
    known_remarks: tuple[str, ...] = ()
    cut_at: int | None = None
    known_columns: Mapping[str, Fingerprints] = field(default_factory=dict)
    run_means: RunMeans = field(default_factory=dict)
    run_values: Mapping[str, Array] = field(default_factory=dict)
    n_retrieved: Index | None = None
    ranked: ClassVar[None] = None
    keeps_documents: ClassVar[bool] = False

    def remarks(self, specs: Mapping[str, MetricSpec]) -> tuple[str, ...]:
        """What the data showed that the values do not, as far as that is known."""
        return self.known_remarks

    def column_fingerprints(self, specs: Mapping[str, MetricSpec]) -> Mapping[str, Fingerprints]:
        """Fingerprint of the columns that a metric reads, as far as it is known."""
        return self.known_columns

    def settled(self, specs: Mapping[str, MetricSpec], values: Mapping[str, Any]) -> Settled:
        """Queries whose judgments alone fix the value of a metric, as far as that is known."""
        return settled_by_values(specs, values) if self.known_settled is None else self.known_settled

    def judged(self, specs: Mapping[str, MetricSpec], values: Mapping[str, Any]) -> Mapping[str, Array]:
        """Share of the documents of each query that are judged, as far as it is known."""
        return self.known_judged

    def references(self, values: Mapping[str, Any], specs: Mapping[str, MetricSpec]) -> NoReturn:
        """Say what keeps chance and best."""
        raise ValueError(
            "Chance and best take the data, which are not saved with a result, nor kept of batches or subsets: use "
            "evaluate, or pass chance=True to the function that makes the result, which keeps their values."
        )

    @property
    def n_documents(self) -> Index:
        """Number of documents of each query, if it is known."""
        if self.known_documents is None:
            raise ValueError("The number of documents is known if it was given: use from_values(..., n_documents=...).")
        return self.known_documents


KeptData = RankedData | DataCounts
"""What a result knows of its data: all of it, or counts."""


def counts_of_rows(result: Any, rows: Any, metrics: Collection[str]) -> DataCounts:
    """What is known of the data of an evaluation, for some of its queries."""
    kept = result._kept_data
    known = result.judged, result.settled, result._column_fingerprints
    judged, settled, columns = ({n: of[n][rows] for n in metrics if n in of} for of in known)
    counted = kept.known_documents, result.label_fingerprints, kept.n_retrieved
    documents, sums, n_retrieved = (None if x is None else x[rows] for x in counted)
    return DataCounts(
        documents, sums, judged, result.judges_both, known_settled=settled, known_columns=columns,
        n_retrieved=n_retrieved, **runs_of_rows(result, rows, metrics),
    )  # fmt: skip


def runs_of_rows(result: Any, rows: Any, metrics: Iterable[str]) -> dict[str, Any]:
    """Values and means of each run for some of the queries of an evaluation, if the values are known."""
    weight = np.ones(len(result.qid)) if result.weight is None else result.weight
    values = {name: result.run_values[name][rows] for name in metrics if name in result.run_values}
    means = {}
    for name, of_runs in values.items():
        kept = ~np.isnan(of_runs).any(axis=1) & (weight[rows] > 0)
        if kept.any() and result.average[name] == "macro":
            means[name] = tuple(np.average(of_runs[kept], axis=0, weights=weight[rows][kept]).tolist())
    return {"run_values": values, "run_means": means}


def settled_by_values(specs: Mapping[str, MetricSpec], values: Mapping[str, Any]) -> dict[str, NDArray[np.bool_]]:
    """Queries that are settled for metrics that are undefined there, or where another metric says so."""
    said = said_by_others(specs)
    own = {name: values[name].undefined[:, 0] for name, spec in specs.items() if settled_as_metric(spec) is spec}
    own |= {name: settled & False for name, settled in own.items() if specs[name].counts_empty}
    return own | settled_by(said, values, [values[other] for other in said.values()])


def compute_with_settled(
    queries: Queries | LazyQueries, specs: Mapping[str, MetricSpec], added: Mapping[str, MetricSpec]
) -> tuple[dict[str, PerQuery], Settled]:
    """Values of metrics, and the queries that are settled for those with an added metric, see `metrics_to_add`."""
    computed = compute(queries, [*specs.values(), *added.values()])
    values = dict(zip(specs, computed[: len(specs)], strict=True))
    return values, settled_by(added, values, computed[len(specs) :])


def settled_by(
    others: Iterable[str], values: Mapping[str, Any], computed: Sequence[PerQuery]
) -> dict[str, NDArray[np.bool_]]:
    """Queries that are settled for metrics, by the other metrics that say so; negative labels settle nothing."""
    return {
        name: one.undefined[:, 0] & ((values[name].values()[:, 0] == 0) | values[name].undefined[:, 0])
        for name, one in zip(others, computed, strict=True)
    }


def n_retrieved(queries: Queries) -> Index:
    """Number of retrieved documents of each query."""
    if not queries.summary.has_unretrieved:
        return queries.grouping.sizes
    return queries.grouping.reduce((queries.score > -np.inf).astype(np.int64))


def judged_shares(queries: Queries, specs: Mapping[str, MetricSpec]) -> dict[str, Array]:
    """Share of the documents of each query that are judged, down to the cutoff of each metric; empty for subtopics."""
    if queries.has_subtopics:
        return {}
    retrieved = np.ones(queries.grouping.n_queries, bool)
    if queries.summary.has_unretrieved:
        retrieved = queries.grouping.reduce(queries.score > -np.inf, np.logical_or)
    all_judged = np.where(retrieved, 1.0, np.nan)
    read = {name: queries.with_negative(spec["negative"]).summary for name, spec in specs.items()}
    asked = {name: judged_as_metric(spec) for name, spec in specs.items() if read[name].has_unjudged}
    computed = zip(asked, compute(queries, [*asked.values()]), strict=True) if asked else ()
    shares = {name: np.where(retrieved, one.values()[:, 0], np.nan) for name, one in computed}
    return {name: shares.get(name, all_judged) for name in specs}


def judged_as_metric(spec: MetricSpec) -> MetricSpec:
    """Share of judged documents down to the cutoff of a metric, ties and negative labels read as the metric does."""
    ties = {} if spec.metric.pointwise or spec.metric.defines_ties else {"ties": spec["ties"]}
    negative = {"negative": spec["negative"]}
    return replace(parse_metric("judged", **ties, **negative), k=spec.k)
