"""Many metrics in one pass: `evaluate` and its result, values query by query.

May not touch kernels or formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse

from sklearn_rank import _check, _compute
from sklearn_rank._lists import check_sparse
from sklearn_rank._metric import MetricSpec
from sklearn_rank._names import parse_metric
from sklearn_rank._progress import import_tqdm
from sklearn_rank._table import Table, import_pandas


@dataclass(frozen=True, repr=False)
class Evaluation:
    """Values of metrics, query by query: what `evaluate` returns.

    Attributes
    ----------
    qid : ndarray of shape (n_queries,)
        Query ids, in order of first appearance.
    per_query : dict of str to ndarray of shape (n_queries,)
        Value of each metric for each query; undefined queries hold their replacement.
    n_undefined : dict of str to int
        Number of queries for which a metric is not defined.
    weight : ndarray of shape (n_queries,) or None
        Weight of each query in the mean.

    Notes
    -----
    It keeps the checked data, for `tie_range` and `n_tied`, which rank again.
    """

    qid: NDArray[Any]
    weight: NDArray[np.float64] | None
    _results: Mapping[str, _compute.PerQuery]
    _queries: _check.Queries | _compute.Batches
    _n_jobs: int | None

    @cached_property
    def per_query(self) -> dict[str, NDArray[np.float64]]:
        """Value of each metric for each query."""
        return {name: result.values()[:, 0] for name, result in self._results.items()}

    @cached_property
    def n_undefined(self) -> dict[str, int]:
        """Number of queries for which a metric is not defined."""
        return {name: int(result.undefined.sum()) for name, result in self._results.items()}

    @cached_property
    def n_tied(self) -> dict[str, int]:
        """Number of queries in which equal scores stand on both sides of the cutoff; anywhere, without a cutoff."""
        return {
            name: int(_compute.tied_across(self._queries, result.spec, self._n_jobs).sum())
            for name, result in self._results.items()
            if not result.spec.metric.pointwise
        }

    def tie_range(self) -> Table:
        """How far the order of tied documents could move each mean.

        Returns
        -------
        Table
            For each ranking metric of one label per document: its mean; the mean if tied documents stood lowest
            label first, and highest label first, which are the worst and the best that any order could reach; and
            `n_tied`. Another order can be worse or better where more relevance above need not be better: infAP, AP
            over the relevant documents retrieved, and WAP and Q if documents that are not relevant have a gain.

        Examples
        --------
        The relevant document is tied with another one, so it may stand first or second:

        >>> from sklearn_rank import evaluate
        >>> evaluate([1, 0, 0], [0.5, 0.5, 0.1], qid=["q"] * 3, metrics=["mrr", "p@1", "p@2"]).tie_range()
        metric     mean    worst     best   tied
        mrr      0.7500   0.5000   1.0000      1
        p@1      0.5000   0.0000   1.0000      1
        p@2      0.5000   0.5000   0.5000      0
        """
        means, rows = self.mean(), []
        for name, n_tied in self.n_tied.items():
            spec = self._results[name].spec
            if spec.metric.subtopics:  # of documents with several labels none need be the better one
                continue
            specs = [replace(spec, keywords={**spec.keywords, "ties": ties}) for ties in ("worst", "best")]
            found = _compute.per_query(self._queries, specs, self._n_jobs)
            rows.append((name, means[name], *(float(r.average(self.weight)[0]) for r in found), n_tied))
        return Table(("metric", "mean", "worst", "best", "tied"), tuple(rows))

    def mean(self) -> dict[str, float]:
        """Mean of each metric over queries, weighted, pooled or geometric where the metric was asked for so.

        Returns
        -------
        dict of str to float
        """
        return {name: float(result.average(self.weight)[0]) for name, result in self._results.items()}

    def confidence_interval(self, level: float = 0.95) -> dict[str, tuple[float, float]]:
        """Confidence interval of each metric's mean over queries, by Student's t, every query weighing the same.

        It says how far the mean could move with other queries of the same kind; it knows nothing of other
        training sets. Queries left out of the mean are left out here; with fewer than two, it is (nan, nan).

        Parameters
        ----------
        level : float, default=0.95
            Between 0 and 1, exclusive.

        Returns
        -------
        dict of str to (float, float)

        Raises
        ------
        ValueError
            If `level` is out of range, or means are weighted, pooled or geometric.
        """
        from scipy import stats

        if not 0 < level < 1:
            raise ValueError(f"The 'level' parameter must be between 0 and 1, exclusive. Got {level!r} instead.")
        if self.weight is not None or any(r.spec["average"] != "macro" for r in self._results.values()):
            raise ValueError(
                "confidence_interval is for means in which every query counts once. "
                "Got sample_weight or another average; resample per_query instead."
            )
        intervals = {}
        for name, values in self.per_query.items():
            values = values[~np.isnan(values)]
            if len(values) < 2:
                intervals[name] = (np.nan, np.nan)
                continue
            reach = stats.t.ppf((1 + level) / 2, len(values) - 1) * values.std(ddof=1) / np.sqrt(len(values))
            intervals[name] = (float(values.mean() - reach), float(values.mean() + reach))
        return intervals

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

    def __repr__(self) -> str:
        """Table of means, and how many queries are undefined."""
        rows = ((name, mean, self.n_undefined[name]) for name, mean in self.mean().items())
        return f"Evaluation of {len(self.qid)} queries\n{Table(('metric', 'mean', 'undefined'), tuple(rows))}"


def evaluate(
    y_true: Any,
    y_score: Any,
    *,
    metrics: Any,
    qid: Any = None,
    sample_weight: Any = None,
    tie_break: Any = None,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Compute many metrics in one pass: input is checked once, and each query sorted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_queries, n_documents)
        Relevance of each document to its query; of shape (n_samples, n_subtopics) for metrics of diversity. Or a
        sparse matrix of shape (n_queries, n_documents), label 0 where it has no entry.
    y_score : array-like of shape (n_samples,) or (n_queries, n_documents)
        Output of the model, higher ranks first. ``-inf``: judged but not retrieved. With a sparse `y_true` it may be a
        sparse matrix too, as recommenders make them: what has no entry, not even 0, was not retrieved.
    metrics : str, metric function, callable or sequence of them
        Names such as "ndcg@10", "rbp(p=0.9)" or "P@5", functions of `sklearn_rank.metrics`, or any function
        ``f(y_true, y_score) -> float`` of one query, which is called query by query (nan: undefined).
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: taken from the level "qid" of the index of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean; constant within a query.
    tie_break : array-like of shape (n_samples,), default=None
        For metrics with ``ties="stable"``: among equal scores the higher value ranks first.
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them. The result is the same to the last bit.
    **keywords
        Keywords for all metrics that have them, such as `ties` or `gain`; those in a name win.

    Returns
    -------
    Evaluation
        With ``mean()``, ``per_query``, ``qid``, ``n_undefined``, ``confidence_interval()``, ``to_frame()``.

    Raises
    ------
    ValueError
        If a name, a keyword or the data are not what the metrics take.
    TypeError
        If no metric has one of the keywords.

    Examples
    --------
    Query "a" has its relevant document at rank 2, query "b" at rank 1:

    >>> from sklearn_rank import evaluate
    >>> result = evaluate([0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics=["mrr", "p@1"])
    >>> result.mean()
    {'mrr': 0.75, 'p@1': 0.5}
    >>> result.per_query["mrr"]
    array([0.5, 1. ])
    >>> result
    Evaluation of 2 queries
    metric     mean   undefined
    mrr      0.7500           0
    p@1      0.5000           0
    """
    specs = parse_metrics(metrics, **keywords)
    if tie_break is not None and not any(spec["ties"] == "stable" for spec in specs.values()):
        raise ValueError("tie_break is read with ties='stable' only. Got no metric that asks for it.")
    data = {"qid": qid, "sample_weight": sample_weight, "tie_break": tie_break}
    if issparse(y_true) or issparse(y_score):
        _check.check_n_jobs(n_jobs)
        batches, weight = check_sparse(y_true, y_score, **data)
        return evaluate_batches(batches, specs, np.arange(batches.n_queries), weight, n_jobs)
    queries = _check.check_queries(y_true, y_score, n_jobs=n_jobs, **data)
    results = _compute.per_query(queries, list(specs.values()), n_jobs)
    return Evaluation(queries.qid, queries.weight, dict(zip(specs, results, strict=True)), queries, n_jobs)


def evaluate_batches(
    batches: _compute.Batches, specs: Mapping[str, MetricSpec], ids: NDArray[Any],
    weight: NDArray[np.float64] | None, n_jobs: int | None, progress: bool = False,
) -> Evaluation:  # fmt: skip
    """Values of metrics on queries that are made a block at a time, with a progress bar if asked for."""
    if progress:
        with import_tqdm()(total=batches.n_queries, unit=" queries") as bar:
            results = _compute.per_query(replace(batches, done=bar.update), list(specs.values()), n_jobs)
    else:
        results = _compute.per_query(batches, list(specs.values()), n_jobs)
    return Evaluation(ids, weight, dict(zip(specs, results, strict=True)), batches, n_jobs)


def parse_metrics(metrics: Any, **keywords: Any) -> dict[str, MetricSpec]:
    """Metrics by the name they were given, each with those of the keywords that it takes.

    Raises
    ------
    ValueError
        If there is no metric, one is given twice, or one is asked for more than one number a query.
    TypeError
        If no metric takes one of the keywords.
    """
    listed = [metrics] if isinstance(metrics, (str, MetricSpec)) or not isinstance(metrics, Iterable) else [*metrics]
    specs: dict[str, MetricSpec] = {}
    for metric in listed:
        bare = parse_metric(metric)
        spec = parse_metric(bare, **{n: v for n, v in keywords.items() if n in bare.metric.defaults})
        name = metric.strip() if isinstance(metric, str) else str(bare)
        if name in specs:
            raise ValueError(f"Each metric must be given once. Got {name!r} twice.")
        if np.ndim(spec.k) or spec["average"] is None:
            raise ValueError(f"Here a metric has one cutoff and a mean: name each cutoff, as 'ndcg@10'. Got {name!r}.")
        specs[name] = spec
    if not specs:
        raise ValueError("At least one metric is needed. Got none.")
    for keyword in keywords:
        if not any(keyword in spec.metric.defaults for spec in specs.values()):
            hint = " The cutoff goes into the name: 'ndcg@10'." if keyword == "k" else ""
            raise TypeError(f"No metric of {', '.join(specs)} has a keyword {keyword!r}.{hint}")
    return specs
