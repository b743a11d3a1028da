"""Result of an evaluation: values of metrics by query."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Self, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import AttributesLike, ClustersLike
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._estimates.arguments import check_arguments
from sklearn_rank._evaluation.given_values import (
    GivenValues,
    check_column,
    check_distinct_ids,
    check_metric_names,
    check_properties,
    check_weight,
    given_metrics,
)
from sklearn_rank._evaluation.informative import counts_of, on_best, tells_of
from sklearn_rank._evaluation.intervals import (
    averaged,
    cluster_of,
    mean_intervals,
)  # fmt: skip
from sklearn_rank._evaluation.kept_data import DataCounts, KeptData, RankedData, counts_of_rows, runs_of_rows
from sklearn_rank._evaluation.page import content_of
from sklearn_rank._evaluation.references import References, means_of, notes_of_adjusted, refuse_without
from sklearn_rank._evaluation.saved import given_references, given_values, with_saved_counts, words_and_arrays
from sklearn_rank._evaluation.segments import Segments, SegmentsBy, segments_of, subset_rows
from sklearn_rank._evaluation.several_runs import OfKeptData, OfRuns, note_on_runs
from sklearn_rank._metric.adjustment import adjusted_mean
from sklearn_rank._metric.choices import closing_line
from sklearn_rank._metric.key_signs import ByName, known_metric
from sklearn_rank._metric.names import tracker_names
from sklearn_rank._metric.notation import display_name, labeled
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._report.has_page import HasPage
from sklearn_rank._tell.notes import note_of_intervals
from sklearn_rank._tell.text import ends_of, in_clusters
from sklearn_rank._utils.constraints import COUNT, one_of
from sklearn_rank._utils.echo import echo, query_count
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.optional import import_pandas, index_of
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.storage import Arrays, Saveable
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank._utils.typing import Array, DataFrame, RandomState


@dataclass(frozen=True, repr=False)
class Evaluation(TableReport, HasPage, Saveable, OfRuns, ReadOnlyArrays):
    """Values of metrics by query, returned by `evaluate`.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids, in order of first appearance.
    weight : ndarray of shape (n_queries,) or None
        Weight of each query in the mean.
    attributes : dict of str to ndarray of shape (n_queries,)
        Attributes of each query, by name, from the argument `by`.
    clusters : ndarray of shape (n_queries,) or None
        Cluster of each query, such as a user; queries of the same cluster are not independent.
    run_means : dict of str to tuple of float
        Mean of each run by metric, if the result is the mean of several runs of a system, see `of_runs`; otherwise
        empty.

    Notes
    -----
    A result keeps the checked data, because `tie_range` and `n_tied` rank again. `save` does not save the data, so a
    loaded result supports everything except ties and explanations of a comparison. `save` does save the fingerprints of
    the labels, so that results on different labels cannot be compared.

    Arrays of results are read-only. To sort or change values, copy them: ``result.per_query["map"].copy()``.

    Examples
    --------
    >>> from sklearn_rank import evaluate
    >>> evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=[7, 7, 9, 9], metrics="mrr").per_query
    {'mrr': array([0.5, 1. ])}
    """

    qid: NDArray[Any]
    weight: Array | None
    _metric_values: Mapping[str, PerQuery | GivenValues]
    _kept_data: KeptData
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    clusters: NDArray[Any] | None = None
    _kept_references: References | None = None
    _list_values: Mapping[str, float] = field(default_factory=dict)
    _more_notes: tuple[str, ...] = ()

    @classmethod
    def from_values(
        cls, qid: ArrayLike, values: Mapping[str, ArrayLike], *, undefined: Mapping[str, ArrayLike] | None = None,
        means: Mapping[str, float] | None = None, meaning: Mapping[str, str] | None = None,
        average: Mapping[str, str] | None = None, greater_is_better: Mapping[str, bool] | None = None,
        is_binary: Mapping[str, bool] | None = None, n_documents: ArrayLike | None = None,
        weight: ArrayLike | None = None,
        label_fingerprints: ArrayLike | None = None, by: AttributesLike = None, clusters: ClustersLike = None,
    ) -> Self:  # fmt: skip
        """Make a result from values that were computed elsewhere.

        Parameters
        ----------
        qid : array-like of shape (n_queries,)
            Query ids, each once.
        values : dict of str to array-like of shape (n_queries,)
            Value of each metric for each query.
        undefined : dict of str to array-like of bool, shape (n_queries,), default=None
            Queries for which a metric is undefined. If missing: the queries with the value NaN.
        means : dict of str to float, default=None
            Mean of each metric. If missing: the weighted mean of the values that are not NaN.
        meaning : dict of str to str, default=None
            Text of each metric with all its keywords: only results with equal texts can be compared. If missing: the
            name.
        average : dict of str to {"macro", "micro", "geometric"}, default=None
            Kind of each mean. If missing: "macro".
        greater_is_better : dict of str to bool, default=None
            Whether a higher value is better. If missing: the direction of the metric with this name; True for your own
            name, which must not mean that lower is better, such as "latency_ms" or "error_rate".
        is_binary : dict of str to bool, default=None
            Whether a metric is 0 or 1 for each query by its definition, see `confidence_interval`. If missing: the
            property of the metric with this name; False for your own name.
        n_documents : array-like of shape (n_queries,), default=None
            Number of documents of each query.
        weight : array-like of shape (n_queries,), default=None
            Weight of each query in the mean.
        label_fingerprints : array-like of shape (n_queries,), default=None
            The attribute `label_fingerprints` of another result, for values on the same labels.
        by : array-like of shape (n_queries,), dict or frame, default=None
            Attribute of each query, such as its country. Pass several attributes as a dict of columns by name, or as a
            frame. A dict from queries to values is accepted as well.
        clusters : array-like of shape (n_queries,) or dict, default=None
            Cluster of each query, such as a user or a session.

        Returns
        -------
        Evaluation
            The result supports everything except ties, which need the data.

        Raises
        ------
        ValueError
            If a query occurs twice, an array does not have one entry per query, a name is not one of the metrics, or a
            required mean or direction is missing.
        TypeError
            If values are not numbers.

        Examples
        --------
        >>> from sklearn_rank.results import Evaluation
        >>> Evaluation.from_values(["a", "b"], {"mrr": [0.5, 1.0], "clicks": [3, 1]}).mean()
        {'mrr': 0.75, 'clicks': 2.0}
        """
        check_metric_names(
            values, undefined=undefined, means=means, meaning=meaning, average=average,
            greater_is_better=greater_is_better, is_binary=is_binary,
        )  # fmt: skip
        ids = check_distinct_ids(qid)
        weight = None if weight is None else check_weight(weight, ids)
        metrics = given_metrics(ids, weight, values, undefined, means, meaning, average, greater_is_better, is_binary)
        given = ("n_documents", n_documents, np.int64), ("label_fingerprints", label_fingerprints, np.uint32)
        checked = [None if x is None else check_column(name, x, ids, kind) for name, x, kind in given]
        counts = DataCounts(checked[0], checked[1])
        return cls(ids, weight, metrics, counts, **check_properties(by, clusters, ids)._asdict())

    label_fingerprints = OfKeptData[NDArray[np.uint32] | None]("Fingerprint of the labels of each query, if known.")
    ranking_fingerprints = OfKeptData[NDArray[np.uint32] | None]("Fingerprint of each ranked list, if known.")
    judges_both = OfKeptData[bool]("Whether some judged documents are known to be not relevant.")

    @cached_property
    def per_query(self) -> dict[str, NDArray[np.float64]]:
        """Value of each metric for each query; undefined queries hold their replacement."""
        return ByName((name, result.values()[:, 0]) for name, result in self._metric_values.items())

    @cached_property
    def n_documents(self) -> NDArray[np.int64]:
        """Number of documents of each query, also those not retrieved."""
        return self._kept_data.n_documents

    @cached_property
    def _column_fingerprints(self) -> dict[str, NDArray[np.uint32]]:
        return dict(self._kept_data.column_fingerprints(self._specs))

    @cached_property
    def judged(self) -> dict[str, NDArray[np.float64]]:
        """Share of judged documents of each query, by metric, down to its cutoff; NaN without any, {} if unknown."""
        return dict(self._kept_data.judged(self._specs, self._metric_values))

    @cached_property
    def settled(self) -> dict[str, NDArray[np.bool_]]:
        """Whether the judgments of a query determine its value for any ranking, by metric, if known."""
        return dict(self._kept_data.settled(self._specs, self._metric_values))

    tells = cached_property(tells_of)
    counts = cached_property(counts_of)

    @cached_property
    def _undefined(self) -> dict[str, NDArray[np.bool_]]:
        return {name: result.undefined[:, 0] for name, result in self._metric_values.items()}

    @cached_property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries without a defined value of a metric."""
        return {name: int(undefined.sum()) for name, undefined in self._undefined.items()}

    @cached_property
    def meaning(self) -> dict[str, str]:
        """Canonical text of each metric, with all its keywords."""
        return {name: result.meaning for name, result in self._metric_values.items()}

    @cached_property
    def average(self) -> dict[str, str]:
        """Kind of each mean: "macro", "micro" or "geometric"."""
        return {name: result.average_kind for name, result in self._metric_values.items()}

    @cached_property
    def is_binary(self) -> dict[str, bool]:
        """Whether a metric is 0 or 1 for each query by its definition, such as a hit rate."""
        return {name: _is_binary(result) for name, result in self._metric_values.items()}

    @cached_property
    def n_in_mean(self) -> dict[str, int]:
        """Number of queries in the mean of each metric: queries with a value and a nonzero weight."""
        counts = True if self.weight is None else self.weight > 0
        return {name: int(np.count_nonzero(~np.isnan(values) & counts)) for name, values in self.per_query.items()}

    @cached_property
    def greater_is_better(self) -> dict[str, bool]:
        """Whether a higher value of a metric is better."""
        return {name: result.greater_is_better for name, result in self._metric_values.items()}

    def __getitem__(self, metric: str) -> float:
        """Mean of a metric over queries, the same as from `mean`."""
        return float(self._metric_values[known_metric(self, metric)].average(self.weight)[0])

    def __iter__(self) -> Iterator[str]:
        """Names of the metrics."""
        return iter(self._metric_values)

    @overload
    def mean(self, metric: None = None) -> dict[str, float]: ...
    @overload
    def mean(self, metric: str) -> float: ...
    def mean(self, metric: str | None = None) -> dict[str, float] | float:
        """Return the mean of each metric over queries; weighted, pooled or geometric as the metric defines.

        Parameters
        ----------
        metric : str, default=None
            Name of one of the metrics. None: all of them.

        Returns
        -------
        dict of str to float, or float
            A number for a single metric, the same as ``result[metric]``.

        Raises
        ------
        ValueError
            If the result has no such metric.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> result = evaluate(
        ...     [1, 0, 0, 1], [0.1, 0.2, 0.1, 0.2], qid=[1, 1, 2, 2], metrics=["mrr", "hit@1"]
        ... )
        >>> result.mean()
        {'mrr': 0.75, 'hit@1': 0.5}
        >>> result["mrr"]
        0.75
        """
        return ByName((name, self[name]) for name in self) if metric is None else self[metric]

    def confidence_interval(
        self, confidence_level: float = 0.95, method: str = "auto", *, n_resamples: int = 9999,
        random_state: RandomState = None,
    ) -> dict[str, tuple[float, float]]:  # fmt: skip
        """Return the confidence interval of the mean over queries for each metric.

        If the result has `weight`, the interval is for the weighted mean, by linearization. If it has `clusters`, the
        interval accounts for dependent queries of a cluster. See `sklearn_rank.stats.confidence_interval`.

        The interval covers the variation over queries of the same kind, not over training sets, and ends at the bounds
        of the metric. It leaves out the same queries as the mean.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.
        method : {"auto", "t", "wilson", "percentile", "bca"}, default="auto"
            Student's t; Wilson's score interval of a success rate; percentile bootstrap; bias-corrected and accelerated
            bootstrap. "auto" chooses Wilson's interval for a metric that is 0 or 1 by its definition (`is_binary`),
            such as a hit rate or P@1, if all its values are 0 or 1 and the result has neither weights nor clusters;
            otherwise Student's t. If values are skewed for their number, or all equal, it adds one query at each bound
            of the metric, because values that were not seen may occur. The bootstrap needs about 50 queries: with 20, a
            BCa interval of level 0.95 covers the mean of skewed values in 91 % of cases.
        n_resamples : int, default=9999
            Bootstrap samples.
        random_state : int, RandomState, Generator or None, default=None
            Source of the bootstrap samples.

        Returns
        -------
        dict of str to (float, float)
            (nan, nan) with fewer than two queries or clusters, for equal values of a metric without bounds, and for a
            pooled or geometric mean.

        Raises
        ------
        ValueError
            If a keyword is invalid, or the method is "wilson" for other values than 0 and 1.

        Examples
        --------
        One hit in three queries:

        >>> from sklearn_rank.results import Evaluation
        >>> result = Evaluation.from_values(["a", "b", "c"], {"hit@10": [1, 0, 0]})
        >>> low, high = result.confidence_interval()["hit@10"]
        >>> round(low, 4), round(high, 4)
        (0.0615, 0.7923)
        """
        from sklearn_rank._estimates.intervals import interval_by_method  # loads scipy.special

        options: dict[str, Any] = {
            "method": method, "confidence_level": confidence_level, "n_resamples": n_resamples,
            "random_state": random_state,
        }  # fmt: skip
        check_arguments("confidence_interval", **options)
        if method in ("auto", "t"):
            found = mean_intervals(self, confidence_level, method)
            return ByName((name, one.ends) for name, one in found.items())
        if self.run_means:
            raise ValueError(
                "Only method='auto' and 't' of confidence_interval know the variance between several runs of a system. "
                f"Got method={echo(method)}: for these runs only, use stats.confidence_interval of per_query."
            )
        return ByName(
            (name, interval_by_method(values, cluster_of(self), self.weight, bounds, **options))
            for name, values, bounds in averaged(self)
        )

    def subset(self, qids: ArrayLike | Set[Any]) -> Self:
        """Return the result of some of the queries, in the order of this result.

        Parameters
        ----------
        qids : array-like or set of query ids, or array-like of bool of shape (n_queries,)
            Queries to keep, each once; or whether to keep each query, such as ``result.n_documents > 10``.

        Returns
        -------
        Evaluation
            Result with weights, attributes, clusters, fingerprints of labels, and pooled means of the chosen queries.
            It does not keep the data, so methods about ties are not available.

        Raises
        ------
        ValueError
            If a query is not in the result or is named twice, if no query is left, or if a mean is pooled or geometric
            and the result was loaded or made from given values, so that the mean cannot be recomputed.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> result = evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr")
        >>> result.subset(["b"]).mean()
        {'mrr': 1.0}
        """
        return self._of_queries(subset_rows(qids, self.qid), self._metric_values)

    def _of_queries(self, rows: Any, metrics: Collection[str]) -> Self:
        return replace(self._taken(rows, metrics), _kept_data=counts_of_rows(self, rows, metrics))

    def _taken(self, rows: Any, metrics: Iterable[str]) -> Self:
        """Values of metrics for the queries at some positions, without information on the data."""
        weight, clusters = (None if x is None else x[rows] for x in (self.weight, self.clusters))
        metrics = [*metrics]
        kept = None if self._kept_references is None else self._kept_references.taken(rows, metrics, weight)
        return replace(
            self, qid=self.qid[rows], weight=weight, clusters=clusters, _kept_references=kept,
            attributes={name: values[rows] for name, values in self.attributes.items()},
            _metric_values={name: self._metric_values[name].take(rows, name, weight) for name in metrics},
            _kept_data=DataCounts(**runs_of_rows(self, rows, metrics)),
        )  # fmt: skip

    @cached_property
    def n_tied(self) -> dict[str, int]:
        """Number of queries with equal scores on both sides of the cutoff; without a cutoff, with any equal scores."""
        data = self._unchanged_data()
        return {name: data.n_tied(spec) for name, spec in self._specs.items() if not spec.metric.pointwise}

    def _unchanged_data(self) -> RankedData:
        if (data := self._kept_data.ranked) is None:
            raise ValueError(
                "Ties need the data, which this result does not keep: it was saved, or is of batches or a subset. "
                "Call evaluate again."
            )
        data.check_unchanged(self._metric_values)
        return data

    @cached_property
    def _references(self) -> References:
        return self._kept_references or self._kept_data.references(self._metric_values, self._specs)

    def chance(self) -> Self:
        """Return the values of a random order: the exact expectation of each metric over all orders.

        Chance is the value of a constant score with ``ties="average"``, regardless of the `ties` of the metric. Only
        documents with a rank are reordered; documents that were not retrieved remain so.

        Returns
        -------
        Evaluation
            Values by query, which you can save, compare and plot like the result of a system. It leaves out metrics
            without a closed form for tied documents (infAP, interpolated precision, AP over the relevant documents
            retrieved), and metrics that read scores or define ties themselves: pointwise errors, set metrics, rank
            correlations and plain functions.

        Raises
        ------
        ValueError
            If the result lacks the data, because it was loaded, is a subset, or comes from batches or Spark (pass
            ``chance=True`` there); or if no metric has such a value.

        See Also
        --------
        best : Values of the best order.
        adjusted : Values between chance and best.

        Examples
        --------
        One of three documents is relevant. In a random order it is at rank 1, 2 or 3, (1 + 1/2 + 1/3) / 3:

        >>> from sklearn_rank import evaluate
        >>> result = evaluate([0, 1, 0], [3, 2, 1], qid=["q"] * 3, metrics=["mrr", "p@2"])
        >>> result.mean()
        {'mrr': 0.5, 'p@2': 0.5}
        >>> {name: round(value, 4) for name, value in result.chance().mean().items()}
        {'mrr': 0.6111, 'p@2': 0.3333}
        """
        return self._reference("chance")

    def best(self) -> Self:
        """Return the values of the best order: highest labels first.

        For example, P@10 cannot reach 1 if only three documents are relevant. Only documents with a rank are reordered;
        documents that were not retrieved remain so. The order by label is the best for metrics that reward higher
        labels nearer to the top. Exceptions are `dcg` with weights that increase with the rank, and Q if documents that
        are not relevant have a gain.

        Returns
        -------
        Evaluation
            Values by query of the metrics of `chance`, without metrics of subtopics, whose best order is unknown.

        Raises
        ------
        ValueError
            If `chance` raises.

        See Also
        --------
        chance : Values of a random order.
        adjusted : Values between chance and best.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> result = evaluate([0, 1, 0], [3, 2, 1], qid=["q"] * 3, metrics=["mrr", "p@2"])
        >>> result.best().mean()
        {'mrr': 1.0, 'p@2': 0.5}
        """
        return self._reference("best")

    @overload
    def adjusted(self, *, average: Literal["macro"] = "macro") -> Self: ...

    @overload
    def adjusted(self, *, average: Literal["micro"]) -> dict[str, float]: ...

    def adjusted(self, *, average: str = "macro") -> Self | dict[str, float]:
        """Return the position of each value between chance and best: ``(value - chance) / (best - chance)``.

        0 is a random order, 1 is the best order of the retrieved documents, and values below 0, without a bound, are
        worse than random. Higher is better, for errors as well. scikit-learn's `balanced_accuracy_score` and Cohen's
        kappa are adjusted in the same way. If the best order is no better than chance, for example with a single
        document or if all are relevant, the value is undefined and replaced by `replace_undefined_by` of the metric.

        Parameters
        ----------
        average : {"macro", "micro"}, default="macro"
            Mean over queries, or ratio of means, in which a query with a larger distance between chance and best counts
            more. For `relevance_position`, `hit` and `mrr`, the ratio is the adjusted mean rank index and its analogs
            for knowledge graphs.

        Returns
        -------
        Evaluation, or dict of str to float with ``average="micro"``
            The same as from `evaluate` with ``adjusted=True``. With "micro", a number for each metric, without tests;
            nan if best and chance have equal means.

        Raises
        ------
        ValueError
            If `best` raises, or `average` has another value.

        References
        ----------
        M. Berrendorf, E. Faerman, L. Vermue and V. Tresp, "On the ambiguity of rank-based evaluation of entity
        alignment or link prediction methods", 2020, for the index; C. T. Hoyt, M. Berrendorf, M. Galkin, V. Tresp and
        B. M. Gyori, "A unified framework for rank-based evaluation metrics for link prediction in knowledge graphs",
        2022, for other metrics.

        Examples
        --------
        At rank 2 of 3 the reciprocal rank is 1/2, below the 0.6111 of a random order: (0.5 - 0.6111) / (1 - 0.6111):

        >>> from sklearn_rank import evaluate
        >>> result = evaluate(
        ...     [0, 1, 0, 1, 0], [3, 2, 1, 2, 1], qid=[1, 1, 1, 2, 2], metrics=["mrr"]
        ... )
        >>> result.adjusted().per_query["mrr"].round(4)
        array([-0.2857,  1.    ])
        >>> round(result.adjusted(average="micro")["mrr"], 4)
        0.2174
        """
        one_of("macro", "micro", doc="")("average", average, "adjusted")
        if average == "macro":
            return self._reference("adjusted")
        best, means = self._reference("best").mean(), self.mean()
        chance = self._reference("chance").mean()
        return {name: adjusted_mean(means[name], chance[name], mean) for name, mean in best.items()}

    def _reference(self, kind: str) -> Self:
        values = getattr(self._references, kind)
        if not values:
            refuse_without(kind, self._specs)
        settled = None if kind == "adjusted" else {name: x for name, x in self.settled.items() if name in values}
        kept = self._kept_data
        counts = DataCounts(
            kept.known_documents, self.label_fingerprints, known_settled=settled, n_retrieved=kept.n_retrieved
        )
        return replace(self, _metric_values=values, _kept_data=counts, _kept_references=None)

    @cached_property
    def _specs(self) -> dict[str, MetricSpec]:
        """Metrics that can be computed again."""
        computed = {n: values.spec for n, values in self._metric_values.items() if isinstance(values, PerQuery)}
        return {name: spec for name, spec in computed.items() if isinstance(spec, MetricSpec)}

    def tie_range(self) -> Table:
        """Return the range of each mean over the possible orders of tied documents.

        Returns
        -------
        Table
            For each metric that supports ``ties="worst"`` and ``ties="best"``: its mean; the means with the lowest and
            with the highest labels first among tied documents, which are the lowest and highest means of any order; and
            `n_tied`. For metrics that need not improve with more relevance at the top, another order can be outside
            this range: infAP, AP over the relevant documents retrieved, and WAP and Q if documents that are not
            relevant have a gain. The table leaves out pointwise errors, metrics of subtopics, and metrics that define
            ties themselves, such as `kendall` and `set_f`.

        Raises
        ------
        ValueError
            If the data were not kept, or the scores were modified after the evaluation.

        Examples
        --------
        The relevant document is tied with another document, so it may be first or second:

        >>> from sklearn_rank import evaluate
        >>> evaluate(
        ...     [1, 0, 0], [0.5, 0.5, 0.1], qid=["q"] * 3, metrics=["mrr", "p@1", "p@2"]
        ... ).tie_range()
        metric     mean    worst     best   tied
        MRR      0.7500   0.5000   1.0000      1
        P@1      0.5000   0.0000   1.0000      1
        P@2      0.5000   0.5000   0.5000      0
        """
        means, specs, rows, data = self.mean(), self._specs, [], self._unchanged_data()
        for name, n_tied in self.n_tied.items():
            if "ties" in specs[name].metric.defaults and not specs[name].metric.subtopics:
                extremes = data.means_with_ties(specs[name], ("worst", "best"), self.weight)
                rows.append((labeled(name), means[name], *extremes, n_tied))
        return Table(("metric", "mean", "worst", "best", "tied"), tuple(rows))

    def to_dict(self, *, prefix: str = "") -> dict[str, float]:
        """Return the means with names that experiment trackers accept: "ndcg_at_10" for "ndcg@10".

        For example ``mlflow.log_metrics(result.to_dict())``, or Weights & Biases. `parse_metric` reads the names, which
        include keywords, as in "rbp-p-0.9_at_10".

        Parameters
        ----------
        prefix : str, default=""
            Prefix of each name, such as ``"test/"`` or ``"test_"``.

        Raises
        ------
        ValueError
            If your own name, or the prefix, has characters other than letters, digits, spaces and ``_-.:/``.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> evaluate([0, 1], [2, 1], qid=[1, 1], metrics=["mrr", "rbp(p=0.5)@2"]).to_dict(
        ...     prefix="test/"
        ... )
        {'test/mrr': 0.5, 'test/rbp-p-0.5_at_2': 0.25}
        """
        if not isinstance(prefix, str):
            raise TypeError(f"prefix must be a str, such as 'test/'. Got {echo(prefix)} instead.")
        means = self.mean()
        return {tracked: means[name] for name, tracked in tracker_names(means, prefix).items()}

    def segments(
        self, by: SegmentsBy = None, *, metric: str | None = None, confidence_level: float = 0.95
    ) -> Segments:  # fmt: skip
        """Return means in each segment of queries, such as each country, and a test whether segments differ.

        Parameters
        ----------
        by : str, list of str, or values per query, default=None
            Name of the attribute that defines the segments, as in `evaluate`; several names define segments by
            combinations of values, such as country and device. None: all attributes. For an attribute that the result
            does not have, pass a dict from queries to values, or one value per query in the order of `qid`.
        metric : str, default=None
            Name of one of the metrics; None: all.
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive; see `confidence_interval`.

        Returns
        -------
        Segments
            ``table``, ``overall``, ``gap``, ``pvalue``, ``macro()``, ``to_frame()``. A segment of fewer than two
            queries, or clusters, has no interval. Neither intervals nor the test are corrected for the number of
            segments.

        Raises
        ------
        ValueError
            If there is no such attribute or metric, an attribute has the name of a column of the table, or values are
            missing or not one per query.

        Notes
        -----
        The test is Welch's ANOVA (B. L. Welch: On the comparison of several mean values. Biometrika 38, 1951), which
        does not assume equal variances. With many small segments, its false positive rate is too high: with ten
        segments of 10 queries, 0.08 instead of 0.05. If clusters have queries in several segments, a Wald test is used
        instead. A segment whose values are all equal is left out of the test.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> y_true, qid = [0, 1, 1, 0, 0, 1, 0, 1], list("aabbccdd")
        >>> country = ["de", "de", "fr", "fr", "de", "de", "fr", "fr"]
        >>> result = evaluate(y_true, [2, 1] * 4, qid=qid, metrics="mrr", by={"country": country})
        >>> result.segments()
        Segments of 4 queries by country
        MRR: gap 0.2500, no test
        The interval of MRR allows for values not seen.
        country   queries      MRR   95 % interval      undefined
        de              2   0.5000   [0.0000, 1.0000]           0
        fr              2   0.7500   [0.0000, 1.0000]           0
        all             4   0.6250   [0.1369, 1.0000]           0
        ties averaged; queries without relevant documents score 0
        """
        return segments_of(self, by, metric, confidence_level)

    def worst_queries(self, n: int = 10, *, metric: str | None = None) -> Table:
        """Return the queries with the worst values of a metric, the worst first.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        metric : str, default=None
            Name of one of the metrics; None: the first.

        Returns
        -------
        Table
            Query ids and values, without the queries that are left out of the mean.

        Raises
        ------
        ValueError
            If there is no such metric, or `n` is not an int >= 1.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> evaluate(
        ...     [0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr"
        ... ).worst_queries(1)
        qid      MRR
        a     0.5000
        """
        metric = next(iter(self._metric_values)) if metric is None else known_metric(self, metric)
        COUNT("n", n, "worst_queries")
        values = self.per_query[metric]
        order = np.argsort(values if self.greater_is_better[metric] else -values, kind="stable")  # NaN last
        order = order[: np.count_nonzero(~np.isnan(values))][:n]
        rows = zip(self.qid[order].tolist(), values[order].tolist(), strict=True)
        return Table(("qid", labeled(metric)), tuple(rows))

    def summary(self, confidence_level: float = 0.95) -> Table:
        """Return a table of the means with confidence intervals.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive; see `confidence_interval`.

        Returns
        -------
        Table
            Metric, mean, interval (empty if there is none) and number of undefined queries. A note names metrics whose
            interval allows for values that were not seen, and metrics without bounds whose interval may have a lower
            level, because values are skewed and queries are few.
        """
        found = mean_intervals(self, confidence_level)
        rows = (
            (labeled(name), mean, *ends_of(found[name].ends), self.n_undefined[name])
            for name, mean in self.mean().items()
        )
        note = note_of_intervals((display_name(name), one.note) for name, one in found.items())
        return Table(("metric", "mean", "low", "high", "undefined"), tuple(rows), note=note)

    _content = content_of
    _to_saved = words_and_arrays

    @classmethod
    def _from_saved(cls, words: Mapping[str, Any], arrays: Arrays) -> Self:
        result = with_saved_counts(cls.from_values(**given_values(words, arrays)), words, arrays)
        if "references" not in words:
            return result
        return replace(result, _kept_references=given_references(words, arrays, result._metric_values))

    def to_frame(self) -> DataFrame:
        """Return the values as a pandas DataFrame, a row per query and a column per metric; needs the extra "pandas".

        Returns
        -------
        pandas.DataFrame
            The name of the index is "qid".
        """
        values, index = dict(enumerate(self.per_query.values())), index_of(self.qid, "qid")
        return import_pandas().DataFrame(values, index=index).set_axis(index_of([*self.per_query]), axis=1)

    def _title(self) -> str:
        return f"Evaluation of {query_count(len(self.qid))}{in_clusters(self.clusters)}"

    def _notes(self) -> list[str]:
        return [*notes_of_adjusted(self.meaning), *note_on_runs({"": self}), *self._more_notes]

    def _footer(self) -> str:
        return closing_line(self.meaning, self.counts, self._remarks)

    @cached_property
    def _remarks(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys([*self._kept_data.remarks(self._specs), *on_best(self)]))

    @cached_property
    def _cut_at(self) -> int | None:
        """Number of documents at which lists are truncated; None if they are complete, or it is unknown."""
        return self._kept_data.cut_at

    def _tables(self) -> list[Table]:
        kept = {} if self._kept_references is None else self._kept_references._asdict()
        known = {kind: means_of(kept[kind], self.weight) for kind in ("chance", "best") if kind in kept}
        rows = (
            (labeled(name), mean, *(means.get(name) for means in known.values()), self.n_undefined[name])
            for name, mean in self.mean().items()
        )
        return [Table(("metric", "mean", *known, "undefined"), tuple(rows))]


def computed_values(result: Evaluation) -> dict[str, PerQuery]:
    """Numerators and denominators of each metric of a result that was computed here, to join parts."""
    return cast("dict[str, PerQuery]", result._metric_values)


def with_chance(result: Evaluation) -> Evaluation:
    """The same result, which keeps and prints chance and best."""
    return replace(result, _kept_references=result._references)


def _is_binary(values: PerQuery | GivenValues) -> bool:
    declared = values.spec if isinstance(values, PerQuery) else values
    return isinstance(declared, (MetricSpec, GivenValues)) and declared.is_binary
