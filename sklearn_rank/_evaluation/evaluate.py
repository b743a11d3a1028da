"""Many metrics in one pass over the data."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import EVALUATE, SYSTEMS, Door
from sklearn_rank._data.look import (
    Evidence,
    collected_findings,
    evidence_of,
    findings_of_systems,
    look,
    look_at_parts,
    look_at_rows,
)  # fmt: skip
from sklearn_rank._engine.attributes import AttributesLike, ClustersLike, check_attributes
from sklearn_rank._engine.columns import check_columns, check_rows, queries_in
from sklearn_rank._engine.fingerprints import fingerprints_of
from sklearn_rank._engine.grouping import find_qid, refuse_other_queries
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._engine.read import as_mask, read, refuse_column_of_matrix, with_columns, with_scores
from sklearn_rank._evaluation.kept_data import DocumentsOfRows, RankedData, compute_with_settled
from sklearn_rank._evaluation.remarks import orders_in_words
from sklearn_rank._evaluation.result import Evaluation, with_chance
from sklearn_rank._metric.choices import orders_of_ties
from sklearn_rank._metric.names import DEFAULT_METRICS, columns_of, parse_with_columns
from sklearn_rank._metric.settled import metrics_to_add
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.containers import is_sparse
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import MatrixLike

NO_NAMES: dict[str, str] = {}


BY_TIE_BREAK = "ties by tie_break, highest first"
"""Remark on the order of documents of equal score."""


@named_arguments
def evaluate(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    metrics: MetricsLike = DEFAULT_METRICS,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    by: AttributesLike = None,
    clusters: ClustersLike = None,
    tie_break: ArrayLike | None = None,
    mask: ArrayLike | None = None,
    exclude: MatrixLike | None = None,
    chance: bool = False,
    n_jobs: int | None = None,
    **keywords: Any,
) -> Evaluation:
    """Compute metrics in a single pass: the input is checked once, and each query is sorted once.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,) or (n_queries, n_documents)
        Relevance of each document to its query; of shape (n_samples, n_subtopics) for metrics of diversity. Or a sparse
        matrix of shape (n_queries, n_documents); missing entries have label 0.
    y_score : array-like of shape (n_samples,) or (n_queries, n_documents)
        Output of the model, higher ranks first. ``-inf``: judged but not retrieved. If `y_true` is sparse, it may be a
        sparse matrix as well, as recommenders return: a document without an entry was not retrieved, and an explicit 0
        is a score.
    metrics : str, metric function, callable, sequence of them, or dict of str to one of them, default=DEFAULT_METRICS
        Names such as "ndcg@10", "rbp(p=0.9)" or "P@5" (with ``convention="trec_eval"`` also "P_5"), functions of
        `sklearn_rank.metrics`, a parsed metric (`parse_metric`), or any function ``f(y_true, y_score) -> float`` of a
        single query, which is called for each query (nan: undefined). A dict sets your own names. The default covers
        the top grades, the whole list, the first hit, the first page and the input of a second stage: nDCG@10, MAP,
        MRR, P@10 and R@100. All but nDCG count a document as relevant if its label is at least `min_relevance`, 1.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: read from the level "qid" of the index of `y_true`.
    sample_weight : array-like of shape (n_samples,), default=None
        Weight of each row's query in the mean; constant within a query.
    by : array-like of shape (n_samples,), dict or frame, default=None
        Attribute of each row's query, such as its country, for `Evaluation.segments`. Values must be hashable and
        constant within a query. Pass several attributes as a dict of columns by name, or as a frame. A dict from
        queries to values is accepted as well.
    clusters : array-like of shape (n_samples,) or dict, default=None
        Cluster of each row's query, such as a user or a session; constant within a query. Queries of the same cluster
        are not independent; intervals and tests of the result account for this.
    tie_break : array-like of shape (n_samples,), default=None
        For metrics with ``ties="stable"``: of equal scores, the higher value ranks first.
    mask : array-like of bool, shape of `y_true` without subtopics, default=None
        True for documents, False for padding of queries to the same length. Padded entries of other arrays are ignored.
        Every query must have a document.
    exclude : matrix of shape (n_queries, n_documents), default=None
        Nonzero entries mark documents to leave out of `y_true` and `y_score`, such as items that a user has seen in
        training. Dense or sparse; only if `y_true` is a matrix.
    chance : bool, default=False
        Whether to also compute the values of a random order and of the best order. The result prints both, and saves
        them. See `Evaluation.chance`.
    n_jobs : int or None, default=None
        Number of threads, counted as in joblib. The result is the same to the last bit.
    **keywords
        Keywords of metrics, such as `ties` or `gain`. Each applies to all metrics that accept it; a keyword in a
        metric's name takes precedence. Also data columns for your own metrics, see `metric`, and `greater_is_better`
        for plain functions, see `parse_metric`.

    Returns
    -------
    Evaluation
        Result with ``mean()``, ``per_query``, ``qid``, ``n_undefined``, ``confidence_interval()``, ``to_frame()``.

    Raises
    ------
    ValueError
        If a name, a keyword or the data are invalid.
    TypeError
        If no metric accepts one of the keywords.

    Examples
    --------
    Query "a" has its relevant document at rank 2, query "b" at rank 1:

    >>> from sklearn_rank import evaluate
    >>> result = evaluate(
    ...     [0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics=["mrr", "p@1"]
    ... )
    >>> result.mean()
    {'mrr': 0.75, 'p@1': 0.5}
    >>> result.per_query["mrr"]
    array([0.5, 1. ])
    >>> result
    Evaluation of 2 queries
    metric     mean   undefined
    MRR      0.7500           0
    P@1      0.5000           0
    ties averaged; queries without relevant documents score 0

    With the values of a random order and of the best order:

    >>> evaluate(
    ...     [0, 1, 1, 0], [2, 1, 2, 1], qid=["a", "a", "b", "b"], metrics="mrr", chance=True
    ... )
    Evaluation of 2 queries
    metric     mean   chance     best   undefined
    MRR      0.7500   0.7500   1.0000           0
    ties averaged; queries without relevant documents score 0
    """
    specs, columns = parse_with_columns(metrics, keywords)
    return evaluate_rows(
        EVALUATE, y_true, y_score, specs, columns, qid=qid, sample_weight=sample_weight, by=by, clusters=clusters,
        tie_break=tie_break, mask=mask, exclude=exclude, n_jobs=n_jobs, chance=chance,
    )  # fmt: skip


def evaluate_rows(
    door: Door, y_true: MatrixLike, y_score: MatrixLike, specs: Mapping[str, MetricSpec],
    columns: Mapping[str, ArrayLike] | None = None, *, qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None, by: AttributesLike = None,
    clusters: ClustersLike = None, tie_break: ArrayLike | None = None, mask: ArrayLike | None = None,
    exclude: MatrixLike | None = None, n_jobs: int | None = None, name: Any = None, kinds: str = "",
    chance: bool = False, documents: DocumentsOfRows | None = None, notes: tuple[str, ...] = (),
) -> Evaluation:  # fmt: skip
    """Evaluate the rows of a door; `name` is the column of scores, `kinds` those of checks (None: all of the door)."""
    refuse_unread_tie_break(tie_break, specs)
    notes = notes if tie_break is None or orders_of_ties(notes) else (*notes, BY_TIE_BREAK)
    data: dict[str, Any] = {"qid": qid, "sample_weight": sample_weight, "tie_break": tie_break}
    if is_sparse(y_true) or is_sparse(y_score):
        for column, values in (columns or {}).items():
            refuse_column_of_matrix(column, values)
        if mask is not None:
            raise ValueError(
                "mask is for padded arrays: a sparse matrix has a document wherever y_score has an entry. Got mask= "
                "beside a sparse matrix."
            )
        # This import loads scipy.sparse.
        from sklearn_rank._engine.sparse import check_sparse

        check_n_jobs(n_jobs)
        _refuse_empty(specs, [])
        batches = check_sparse(y_true, y_score, **data, exclude=exclude)
        batches.grouping.n_jobs = n_jobs
        properties = check_attributes(by, clusters, batches.grouping)
        result = evaluate_queries(replace(batches, properties=properties), specs, door=door)
        return with_chance(result) if chance else result
    if exclude is not None:
        y_true, mask = without_excluded(y_true, exclude, mask)
    queries = read(y_true, y_score, mask=mask, n_jobs=n_jobs, keep_float32=True, **data)
    queries = with_columns(queries, y_true, columns_of(specs), columns or {})
    queries.properties = check_attributes(by, clusters, queries.grouping, y_true=y_true, y_score=y_score, qid=qid)
    if door is EVALUATE:
        _refuse_empty(specs, [queries])
    result = evaluate_queries(queries, specs, documents=documents, notes=notes)
    look_at_rows(door, queries, specs, kinds=kinds, y_true=y_true, y_score=y_score, name=name)
    look(door, queries=(result,))
    return with_chance(result) if chance else result


def _refuse_empty(specs: Mapping[str, MetricSpec], systems: Iterable[Queries]) -> None:
    """Refuse to count empty lists where each row has a score by every system."""
    if not any(queries.summary.has_unretrieved for queries in systems):
        for spec in specs.values():
            spec._refuse_empty()


def without_excluded(y_true: Any, exclude: Any, mask: Any) -> tuple[Any, NDArray[np.bool_]]:
    """Return labels of matrices, with 0 for excluded documents, and the mask that excludes them."""
    label = as_floats(y_true, "y_true")
    if label.ndim != 2:
        raise ValueError(
            "exclude is for matrices, a row for each query: of rows with a qid leave out what does not count. "
            f"Got y_true of shape {label.shape}."
        )
    check_rows(y_true=y_true, exclude=exclude)
    check_columns(y_true, exclude, "exclude")
    from sklearn_rank._engine.sparse import NONE_LEFT, exclusion_matrix

    kept = ~exclusion_matrix(exclude, label.shape).toarray()
    if (label > 0).any() and not (label > 0)[kept].any():
        raise ValueError(NONE_LEFT)
    label = np.where(kept, label, 0.0)
    if hasattr(y_true, "columns"):
        label = type(y_true)(label, index=y_true.index, columns=y_true.columns)
    return label, kept if mask is None else kept & as_mask(mask, label.shape)


def refuse_unread_tie_break(tie_break: ArrayLike | None, specs: Mapping[str, MetricSpec]) -> None:
    """Refuse an order of tied documents that no metric reads."""
    if tie_break is None:
        return
    # Metrics with their own definition of ties do not break ties.
    policies = {spec["ties"] for spec in specs.values() if not spec.metric.defines_ties}
    if policies and "stable" not in policies:
        raise ValueError("tie_break is read with ties='stable' only. Got no metric that asks for it.")


def evaluate_queries(
    queries: Queries | LazyQueries, specs: Mapping[str, MetricSpec], *,
    kept: LazyQueries | None = None, door: Door = EVALUATE, documents: DocumentsOfRows | None = None,
    notes: tuple[str, ...] = (),
) -> Evaluation:  # fmt: skip
    """Evaluate metrics on checked queries, or on queries that are built block by block."""
    # The result keeps the queries, or those in `kept` if they report their progress.
    fingerprints, built, evidence, added = None, queries, list[Evidence](), dict[str, MetricSpec]()
    # Building queries is expensive, so read their labels at the same time.
    if isinstance(queries, LazyQueries):
        fingerprints = np.zeros(queries.grouping.n_queries, np.uint32)
        built = replace(queries, make=_read_on_the_way(queries.make, fingerprints, evidence, specs))
        added = metrics_to_add(specs)
    metrics, settled = compute_with_settled(built, specs, added)
    found = look_at_parts(door, evidence, specs, kinds="labels")
    remarks = orders_in_words(found.full, found.longest, specs)
    data = RankedData(
        kept or queries, fingerprints, documents, known_settled=settled, known_remarks=remarks, notes=notes
    )
    return Evaluation(queries.grouping.ids, queries.weight, metrics, data, *queries.properties)


def _read_on_the_way(
    make: Callable[..., Queries], fingerprints: NDArray[np.uint32], evidence: list[Evidence],
    specs: Mapping[str, MetricSpec],
) -> Callable[..., Queries]:  # fmt: skip
    """Build queries, and store the fingerprints and the evidence of their labels."""

    def make_and_read(first: int, last: int, depth: int | None) -> Queries:
        queries = make(first, last, depth)
        fingerprints[first:last] = fingerprints_of(queries)
        evidence.append(evidence_of(queries, specs, kinds="labels"))
        return queries

    return make_and_read


def evaluate_systems(
    y_true: MatrixLike, y_score: Mapping[str, Any], *, specs: Mapping[str, MetricSpec], qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None, by: AttributesLike = None, clusters: ClustersLike = None,
    tie_break: ArrayLike | None = None, mask: ArrayLike | None = None, exclude: MatrixLike | None = None,
    n_jobs: int | None = None, names: Mapping[str, str] = NO_NAMES, columns: Mapping[str, ArrayLike] | None = None,
    notes: tuple[str, ...] = (),
) -> dict[str, Evaluation]:  # fmt: skip
    """Evaluate several systems on the same rows, which are checked and grouped once, before a metric is computed."""
    refuse_unread_tie_break(tie_break, specs)
    notes = notes if tie_break is None or orders_of_ties(notes) else (*notes, BY_TIE_BREAK)
    results = dict[str, Evaluation]()
    data: dict[str, Any] = {"sample_weight": sample_weight, "tie_break": tie_break, "mask": mask, "n_jobs": n_jobs}
    if exclude is not None or any(map(is_sparse, (y_true, *y_score.values()))):
        data |= {"qid": qid, "by": by, "clusters": clusters, "exclude": exclude}
        with findings_of_systems(SYSTEMS) as seen:
            for name, scores in y_score.items():
                with collected_findings() as seen[name]:
                    results[name] = evaluate_rows(SYSTEMS, y_true, scores, specs, columns, **data)
        return results
    named = {name: f"y_score[{echo(name)}]" for name in y_score}
    check_rows(y_true=y_true, **{named[name]: scores for name, scores in y_score.items()}, qid=qid)
    (first, scores), *others = y_score.items()
    queries = read(y_true, scores, qid=qid, **data, score_name=named[first])
    checked = {first: with_columns(queries, y_true, columns_of(specs), columns or {})}
    shape = as_floats(scores, named[first]).shape
    for name, of_system in others:
        check_columns(y_true, of_system, named[name])
        if queries_in(of_system) is not None:
            refuse_other_queries(of_system, find_qid(y_true, qid), name=named[name])
        checked[name] = with_scores(checked[first], of_system, shape, mask=mask, score_name=named[name])
    given = {"y_true": y_true, named[first]: scores, "qid": qid}
    properties = check_attributes(by, clusters, queries.grouping, **given)
    _refuse_empty(specs, checked.values())
    with findings_of_systems(SYSTEMS) as seen:
        for name, queries in checked.items():
            queries.properties = properties
            results[name] = evaluate_queries(queries, specs, notes=notes)
            with collected_findings() as seen[name]:
                look_at_rows(SYSTEMS, queries, specs, y_true=y_true, y_score=y_score[name], name=names.get(name))
                look(SYSTEMS, queries=(results[name],))
    return results
