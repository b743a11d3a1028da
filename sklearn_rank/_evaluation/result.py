"""Values of metrics per query: the result of `evaluate`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.blocks import LazyQueries
from sklearn_rank._engine.label_sums import label_sums
from sklearn_rank._engine.per_query import tied_across
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.values import PerQuery, StoredMetric
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.notation import labelled
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.constraints import COUNT, is_key
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.optional import import_pandas
from sklearn_rank._utils.storage import Saveable, SavedArrays, check_saved
from sklearn_rank._utils.table import Table, TableReport


@dataclass(frozen=True, repr=False)
class Evaluation(TableReport, Saveable):
    """Values of metrics, query by query: what `evaluate` returns.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids, in order of first appearance.
    per_query : dict of str to ndarray of shape (n_queries,)
        Value of each metric for each query; undefined queries hold their replacement.
    n_undefined : dict of str to int
        Number of queries for which a metric is not defined.
    n_documents : ndarray of shape (n_queries,)
        Number of documents of each query, also those not retrieved.
    weight : ndarray of shape (n_queries,) or None
        Weight of each query in the mean.

    Notes
    -----
    It keeps the checked data, for `tie_range` and `n_tied`, which rank again. These are not saved with it, so a result
    that was loaded can do all but look for ties. A fingerprint of each query's labels is: results on other labels are
    not compared.
    """

    qid: NDArray[Any]
    weight: NDArray[np.float64] | None
    _results: Mapping[str, PerQuery | StoredMetric]
    _queries: Queries | LazyQueries | None = None
    _n_jobs: int | None = None
    _n_documents: NDArray[np.int64] | None = None
    _known_sums: NDArray[np.uint32] | None = None

    @cached_property
    def per_query(self) -> dict[str, NDArray[np.float64]]:
        """Value of each metric for each query."""
        return {name: result.values()[:, 0] for name, result in self._results.items()}

    @cached_property
    def n_documents(self) -> NDArray[np.int64]:
        """Number of documents of each query, also those not retrieved."""
        return self._data.n_documents if self._n_documents is None else self._n_documents

    @cached_property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries for which a metric is not defined."""
        return {name: int(result.undefined.sum()) for name, result in self._results.items()}

    @cached_property
    def meaning(self) -> dict[str, str]:
        """Each metric with all its keywords, in words."""
        return {name: result.meaning for name, result in self._results.items()}

    @cached_property
    def average(self) -> dict[str, str]:
        """How the mean of each metric is taken: "macro", "micro" or "geometric"."""
        return {name: result.average_kind for name, result in self._results.items()}

    @cached_property
    def greater_is_better(self) -> dict[str, bool]:
        """Whether the higher value of a metric is the better one."""
        return {name: result.greater_is_better for name, result in self._results.items()}

    @cached_property
    def n_tied(self) -> dict[str, int]:
        """Number of queries in which equal scores stand on both sides of the cutoff; anywhere, without a cutoff."""
        data = self._data
        return {
            name: int(tied_across(data, result.spec, self._n_jobs).sum())
            for name, result in self._results.items()
            if isinstance(result, PerQuery) and not result.spec.metric.pointwise
        }

    @cached_property
    def label_fingerprints(self) -> NDArray[np.uint32] | None:
        """Fingerprint of the labels of each query; None if unknown."""
        if self._known_sums is None and isinstance(self._queries, Queries):
            return label_sums(self._queries, self._n_jobs)
        return self._known_sums

    @property
    def _data(self) -> Queries | LazyQueries:
        if self._queries is None:
            raise ValueError(
                "Ties are looked for in the data, which are not saved with a result, nor kept of batches: use evaluate."
            )
        return self._queries

    def tie_range(self) -> Table:
        """How far the order of tied documents could move each mean.

        Returns
        -------
        Table
            For each metric that takes ``ties="worst"`` and ``ties="best"``: its mean; the mean if tied documents stood
            lowest label first, and highest label first, which are the worst and the best that any order could reach;
            and `n_tied`. Another order can be worse or better where more relevance above need not be better: infAP, AP
            over the relevant documents retrieved, and WAP and Q if documents that are not relevant have a gain. Left
            out are errors of predictions, metrics of subtopics, and those of which equal scores are a part, such as
            `kendall` and `set_f`.

        Examples
        --------
        The relevant document is tied with another one, so it may stand first or second:

        >>> from sklearn_rank import evaluate
        >>> evaluate([1, 0, 0], [0.5, 0.5, 0.1], qid=["q"] * 3, metrics=["mrr", "p@1", "p@2"]).tie_range()
        metric     mean    worst     best   tied
        MRR      0.7500   0.5000   1.0000      1
        P@1      0.5000   0.0000   1.0000      1
        P@2      0.5000   0.5000   0.5000      0
        """
        means, rows = self.mean(), []
        for name, n_tied in self.n_tied.items():
            spec = self._results[name].spec  # type: ignore[union-attr]
            if not (isinstance(spec, MetricSpec) and spec.metric.takes("ties", "worst")):
                continue
            specs = [replace(spec, keywords={**spec.keywords, "ties": ties}) for ties in ("worst", "best")]
            found = compute(self._data, specs, self._n_jobs)
            rows.append((labelled(name), means[name], *(float(r.average(self.weight)[0]) for r in found), n_tied))
        return Table(("metric", "mean", "worst", "best", "tied"), tuple(rows))

    def mean(self) -> dict[str, float]:
        """Mean of each metric over queries, weighted, pooled or geometric where the metric was asked for so.

        Returns
        -------
        dict of str to float
        """
        return {name: float(result.average(self.weight)[0]) for name, result in self._results.items()}

    def confidence_interval(
        self, level: float = 0.95, method: str = "t", *, n_resamples: int = 9999, random_state: Any = None
    ) -> dict[str, tuple[float, float]]:
        """Confidence interval of each metric's mean over queries, every query weighing the same.

        It says how far the mean could move with other queries of the same kind; it knows nothing of other
        training sets. Queries left out of the mean are left out here.

        Parameters
        ----------
        level : float, default=0.95
            Between 0 and 1, exclusive.
        method : {"t", "percentile", "bca"}, default="t"
            Student's t; percentiles of the bootstrap; those corrected for bias and skewness. The bootstrap needs about
            50 queries: with 20, a BCa interval of level 0.95 holds the mean of skewed values 0.91 times.
        n_resamples : int, default=9999
            Bootstrap samples.
        random_state : int, RandomState, Generator or None, default=None
            Source of the bootstrap samples.

        Returns
        -------
        dict of str to (float, float)
            (nan, nan) where there is none: with fewer than two queries, and for a mean that is weighted, pooled or
            geometric, for which `per_query` and `weight` can be resampled.

        Raises
        ------
        ValueError
            If a keyword is not what it must be.
        """
        from sklearn_rank.stats._intervals import confidence_interval  # loads scipy.stats

        options = {"method": method, "level": level, "n_resamples": n_resamples, "random_state": random_state}
        return {  # of no values there is none, and keywords are checked all the same
            name: confidence_interval(values if self.counts_queries_equally(name) else [], **options)
            for name, values in self.per_query.items()
        }

    def _known(self, metric: Any) -> str:
        """The name of one of the metrics, as it was given."""
        if not is_key(metric, self._results):
            names = ", ".join(map(repr, self._results))
            raise ValueError(
                f"The 'metric' parameter must be one of the result's metrics: {names}. Got {echo(metric)} instead."
            )
        return str(metric)

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
        return self.weight is None and self.average[metric] == "macro"

    def _interval_cells(self, level: float) -> dict[str, tuple[float | None, float | None]]:
        """Confidence intervals for a table, in which the cells stay empty where there is none."""
        found = self.confidence_interval(level)
        return {name: (None, None) if math.isnan(low) else (low, high) for name, (low, high) in found.items()}

    def worst_queries(self, n: int = 10, *, metric: str | None = None) -> Table:
        """Queries with the worst values of a metric, the worst first.

        Parameters
        ----------
        n : int, default=10
            Number of queries.
        metric : str, default=None
            One of the metrics, as it was named; None: the first.

        Returns
        -------
        Table
            Query ids and values; queries left out of the mean are left out.

        Raises
        ------
        ValueError
            If there is no such metric, or `n` is not an int >= 1.

        Examples
        --------
        >>> from sklearn_rank import evaluate
        >>> evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr").worst_queries(1)
        qid      MRR
        a     0.5000
        """
        metric = next(iter(self._results)) if metric is None else self._known(metric)
        COUNT.check("n", n, "worst_queries")
        values = self.per_query[metric]
        order = np.argsort(values if self.greater_is_better[metric] else -values, kind="stable")  # NaN last
        order = order[: np.count_nonzero(~np.isnan(values))][:n]
        rows = zip(self.qid[order].tolist(), values[order].tolist(), strict=True)
        return Table(("qid", labelled(metric)), tuple(rows))

    def summary(self, level: float = 0.95) -> Table:
        """Table of the means with their confidence intervals.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level, see `confidence_interval`.

        Returns
        -------
        Table
            Without an interval where `confidence_interval` has none.
        """
        intervals = self._interval_cells(level)
        rows = ((labelled(name), mean, *intervals[name], self.n_undefined[name]) for name, mean in self.mean().items())
        return Table(("metric", "mean", "low", "high", "undefined"), tuple(rows))

    def _plain(self) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
        means = self.mean()
        words = [
            {
                "name": name,
                "mean": means[name],
                "meaning": result.meaning,
                "average": result.average_kind,
                "greater_is_better": result.greater_is_better,
            }
            for name, result in self._results.items()
        ]
        arrays = {
            "qid": self.qid,
            "n_documents": self.n_documents,
            "values": np.stack([*self.per_query.values()]),
            "undefined": np.stack([result.undefined[:, 0] for result in self._results.values()]),
        }
        more = {"weight": self.weight, "label_sums": self.label_fingerprints}
        return {"metrics": words}, arrays | {name: array for name, array in more.items() if array is not None}

    @classmethod
    def _of_plain(cls, words: Mapping[str, Any], arrays: SavedArrays) -> Self:
        metrics = check_saved(words, arrays)
        stored = zip(metrics, arrays["values"], arrays["undefined"], strict=True)
        results = {
            m["name"]: StoredMetric(
                values, undefined[:, None], m["mean"], m["meaning"], m["average"], m["greater_is_better"]
            )
            for m, values, undefined in stored
        }
        return cls(
            arrays["qid"], arrays.get("weight"), results, _n_documents=arrays["n_documents"],
            _known_sums=arrays.get("label_sums"),
        )  # fmt: skip

    def to_frame(self) -> Any:
        """Values as a pandas DataFrame: a row per query, a column per metric; needs the extra "pandas".

        Returns
        -------
        pandas.DataFrame
            Its index is named "qid".
        """
        pandas = import_pandas()
        index = pandas.Index(self.qid, name="qid", tupleize_cols=False)
        return pandas.DataFrame(self.per_query, index=index)

    def _title(self) -> str:
        return f"Evaluation of {len(self.qid)} queries"

    def _tables(self) -> list[Table]:
        rows = ((labelled(name), mean, self.n_undefined[name]) for name, mean in self.mean().items())
        return [Table(("metric", "mean", "undefined"), tuple(rows))]
