"""Values of metrics per query with their means and intervals, and those of some of the queries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.plain import PlainValues
from sklearn_rank._evaluation.segments import places_of
from sklearn_rank._evaluation.source import DataCounts, RankedData
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Array, RandomState


@dataclass(frozen=True, repr=False)
class QueryValues:
    """Values of metrics per query: the part of an `Evaluation` that says what they are, and how sure the means are."""

    qid: NDArray[Any]
    weight: Array | None
    _metrics: Mapping[str, PerQuery | PlainValues]
    _source: RankedData | DataCounts
    attributes: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    clusters: NDArray[Any] | None = None

    @cached_property
    def per_query(self) -> dict[str, NDArray[np.float64]]:
        """Value of each metric for each query."""
        return {name: result.values()[:, 0] for name, result in self._metrics.items()}

    @cached_property
    def n_documents(self) -> NDArray[np.int64]:
        """Number of documents of each query, also those not retrieved."""
        return self._source.n_documents

    @property
    def label_fingerprints(self) -> NDArray[np.uint32] | None:
        """Fingerprint of the labels of each query; None if unknown."""
        return self._source.label_fingerprints

    @cached_property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries for which a metric is not defined."""
        return {name: int(result.undefined.sum()) for name, result in self._metrics.items()}

    @cached_property
    def meaning(self) -> dict[str, str]:
        """Each metric with all its keywords, in words."""
        return {name: result.meaning for name, result in self._metrics.items()}

    @cached_property
    def average(self) -> dict[str, str]:
        """Kind of each mean: "macro", "micro" or "geometric"."""
        return {name: result.average_kind for name, result in self._metrics.items()}

    @cached_property
    def greater_is_better(self) -> dict[str, bool]:
        """Whether a higher value of a metric is better."""
        return {name: result.greater_is_better for name, result in self._metrics.items()}

    def mean(self) -> dict[str, float]:
        """Mean of each metric over queries; weighted, pooled or geometric as the metric was asked for.

        Returns
        -------
        dict of str to float
        """
        return {name: float(result.average(self.weight)[0]) for name, result in self._metrics.items()}

    def confidence_interval(
        self,
        confidence_level: float = 0.95,
        method: str = "t",
        *,
        n_resamples: int = 9999,
        random_state: RandomState = None,
    ) -> dict[str, tuple[float, float]]:
        """Confidence interval of the mean over queries of each metric; every query has the same weight.

        Where the result has `clusters`, it allows for queries of one cluster that depend on each other.

        The interval covers other queries of the same kind, not other training sets. Queries that are left out of the
        mean are left out here.

        Parameters
        ----------
        confidence_level : float, default=0.95
            Between 0 and 1, exclusive.
        method : {"t", "percentile", "bca"}, default="t"
            Student's t; percentiles of the bootstrap; bias-corrected and accelerated ones. The bootstrap needs about
            50 queries: with 20, a BCa interval of level 0.95 holds the mean of skewed values 0.91 times.
        n_resamples : int, default=9999
            Bootstrap samples.
        random_state : int, RandomState, Generator or None, default=None
            Source of the bootstrap samples.

        Returns
        -------
        dict of str to (float, float)
            (nan, nan) with fewer than two queries or clusters, and for a mean that is weighted, pooled or geometric;
            for these, resample `per_query` and `weight`.

        Raises
        ------
        ValueError
            If a keyword is invalid.
        """
        from sklearn_rank.stats._intervals import confidence_interval  # loads scipy.stats

        options: dict[str, Any] = {
            "method": method,
            "confidence_level": confidence_level,
            "n_resamples": n_resamples,
            "random_state": random_state,
            "clusters": self.clusters,
        }
        return {  # undefined values give no interval, but keywords are checked
            name: confidence_interval(
                values if self.counts_queries_equally(name) else np.full_like(values, np.nan), **options
            )
            for name, values in self.per_query.items()
        }

    def counts_queries_equally(self, metric: str) -> bool:
        """Whether the mean of a metric gives every query the same weight, as tests and intervals assume.

        Parameters
        ----------
        metric : str
            One of the metrics, as it was named.

        Returns
        -------
        bool
            False if the result has weights, and for a pooled or geometric mean.
        """
        return self.weight is None and self.average[one_of_these(metric, self.average)] == "macro"

    def subset(self, qids: ArrayLike | Set[Any]) -> Self:
        """Result of some of the queries, in the order of this one.

        Parameters
        ----------
        qids : array-like or set of query ids, or array-like of bool of shape (n_queries,)
            Queries to keep, each once; or whether to keep each query, such as ``result.n_documents > 10``.

        Returns
        -------
        Evaluation
            With weights, attributes, clusters and fingerprints of labels, and pooled means of these queries. The data
            are not kept, so ties are not looked for.

        Raises
        ------
        ValueError
            If a query is not in the result, is named twice, or none is left; or if a mean is pooled or geometric and
            the result was loaded or made of plain values, of which such a mean cannot be taken again.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> result = evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr")
        >>> result.subset(["b"]).mean()
        {'mrr': 1.0}
        """
        rows, source = places_of(qids, self.qid), self._source
        sums = source.label_fingerprints
        documents = source.known_documents if isinstance(source, DataCounts) else source.n_documents
        counts = DataCounts(
            None if documents is None else documents[rows], None if sums is None else sums[rows]
        )  # fmt: skip
        return replace(self._taken(rows, [*self._metrics]), _source=counts)

    def _taken(self, rows: Any, metrics: Iterable[str]) -> Self:
        """Values of metrics for the queries at some places, without what is known of the data."""
        weight, clusters = (None if x is None else x[rows] for x in (self.weight, self.clusters))
        return replace(
            self,
            qid=self.qid[rows],
            weight=weight,
            clusters=clusters,
            attributes={name: values[rows] for name, values in self.attributes.items()},
            _metrics={name: self._metrics[name].take(rows, name, weight) for name in metrics},
            _source=DataCounts(),
        )


def one_of_these(metric: object, per_metric: Mapping[str, Any]) -> str:
    """Check that a result has a metric, and return its name."""
    if not is_key(metric, per_metric):
        names = echo_all(per_metric)
        raise ValueError(
            f"The 'metric' parameter must be one of the result's metrics: {names}. Got {echo(metric)} instead."
        )
    return str(metric)
