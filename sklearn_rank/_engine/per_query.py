"""Values per query, block by block: metrics that rank alike share one ranking of the block.

Knows no formula and no user input.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.block_labels import BlockLabels
from sklearn_rank._engine.plan import Plan
from sklearn_rank._engine.protocols import MetricRequest
from sklearn_rank._engine.queries import LazyQueries, Queries, Rows, rows_of
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._engine.sorted_queries import SortedQueries
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._utils.threads import for_each, heed, is_one_block, query_blocks

MOST_KEPT = 100
"""Arrays that formulas may leave at an ideal order: one that makes a function in each call leaves more and more."""
KnownLabels = dict[tuple[int, int], dict[Any, BlockLabels]]
"""Labels of blocks of queries, by the first and the last query and by how they are read."""


def depth_of(specs: Sequence[MetricRequest]) -> int | None:
    """Depth to which documents must have a row, None for all of them."""
    return None if any(spec.needs_all_documents for spec in specs) else max(spec.depth for spec in specs)


def fill(
    queries: Queries, curves: Sequence[tuple[PerQuery, Mapping[str, Any]]], n_jobs: int | None,
    known: KnownLabels | None = None,
) -> None:  # fmt: skip
    """Compute curves, each with the keywords of its formula; those that rank alike share one sort.

    What depends on labels alone is kept in `known`, of queries with the same labels in the same rows.
    """
    asked = [(curve, ranking_key(curve.spec, queries), keywords) for curve, keywords in curves]
    depth: dict[RankingKey, int] = {}
    for curve, key, _ in asked:
        depth[key] = max(depth.get(key, 0), curve.spec.depth)

    keeps_results = len(asked) > 1 or known is not None  # else nobody asks again

    def fill_block(first: int, last: int) -> None:
        of_block = {} if known is None else known.setdefault((first, last), {})
        rankings = {key: rank_block(queries, first, last, key, d, of_block) for key, d in depth.items()}
        with np.errstate(over="ignore", invalid="ignore"):  # each metric looks for what is not finite
            for curve, key, keywords in asked:
                heed()
                curve.fill(first, last, rankings[key], keywords, keeps_results=keeps_results)

    blocks = query_blocks(queries.indptr, n_jobs, largest=2.0 if len(asked) == 1 else 1.5)
    for_each(fill_block, blocks, n_jobs)


def fill_by_plan(queries: Queries, plan: Plan, curves: Sequence[PerQuery], n_jobs: int | None) -> bool:
    """Compute curves by the steps of a plan; return whether there is nothing that the general path must say."""
    indptr, order, grade, score = queries.indptr, queries.order, queries.grade, queries.score
    assert grade is not None
    if is_one_block(len(grade)):
        rows = Rows(grade, score, indptr) if order is None else Rows(grade.take(order), score.take(order), indptr)
        return plan.fill(rows, [(curve.numerator, curve.undefined) for curve in curves])
    blocks = query_blocks(indptr, n_jobs, largest=2.0 if len(curves) == 1 else 0.75)
    n_rows = max([int(indptr[last] - indptr[first]) for first, last in blocks])
    n_queries = max([last - first for first, last in blocks])

    def fill_block(first: int, last: int) -> bool:
        heed()
        rows = Rows(
            rows_of(grade, indptr, order, first, last),
            rows_of(score, indptr, order, first, last),
            indptr[first : last + 1] - indptr[first],
        )
        outs = [(curve.numerator[first:last], curve.undefined[first:last]) for curve in curves]
        return plan.fill(rows, outs, n_rows, n_queries)

    try:
        return all(for_each(fill_block, blocks, n_jobs))
    finally:
        plan.let_go()


def tied_across(queries: Queries | LazyQueries, spec: MetricRequest, n_jobs: int | None) -> NDArray[np.bool_]:
    """Whether equal scores stand on both sides of the deepest cutoff, query by query; anywhere, for whole lists."""
    if isinstance(queries, LazyQueries):
        blocks = queries.for_each(lambda first, last, block: tied_across(block, spec, 1), depth_of([spec]), n_jobs)
        return np.concatenate(blocks)
    depth = spec.depth
    key = ranking_key(spec, queries)._replace(pointwise=False, ties="average")

    def find(first: int, last: int) -> NDArray[np.bool_]:
        ranking = rank_block(queries, first, last, key, depth)
        ends = ranking.tie_ends
        if ends is None:
            return np.zeros(last - first, dtype=bool)
        if depth < NO_CUTOFF:  # a list goes on below its cutoff only to the end of a tie block
            return ranking.length > depth
        query = np.repeat(np.arange(last - first), ranking.length)
        tied = ends - np.arange(len(query)) > 1
        return np.bincount(query, weights=tied, minlength=last - first) > 0

    return np.concatenate(for_each(find, query_blocks(queries.indptr, n_jobs), n_jobs))


class RankingKey(NamedTuple):
    """Choices that two metrics must share to share a ranking."""

    pointwise: bool
    ties: str
    keep_unretrieved: bool
    unjudged: str | None
    negative: str


def ranking_key(spec: MetricRequest, queries: Queries) -> RankingKey:
    """Ranking that a metric asks for; choices that these data make no difference to are left out."""
    return RankingKey(
        spec.metric.pointwise,
        spec["ties"],
        spec.metric.keeps_unretrieved and queries.facts.has_unretrieved,
        spec["unjudged"] if spec.read(queries).facts.has_unjudged else None,
        spec["negative"] if queries.facts.label_range[0] < 0 else "keep",
    )


def rank_block(
    queries: Queries, first: int, last: int, key: RankingKey, depth: int, known: dict[Any, BlockLabels] | None = None
) -> Ranking:
    """Ranking of the queries `first` to `last`; labels that are not `known` are added there."""
    as_it_stands = (
        key.ties in ("average", "stable") and key.unjudged is None and not key.pointwise and depth == NO_CUTOFF
    )
    if as_it_stands and key.negative == "keep" and isinstance(queries, SortedQueries):
        return queries.ranking(first, last, key.ties)
    labels = labels_of(queries, key, {} if known is None else known, first, last)
    score = rows_of(queries.score, queries.indptr, queries.order, first, last)
    if labels.kept is not None:
        score = score[labels.kept]
    if key.pointwise:
        return Ranking.as_given(labels.label, score, labels.indptr).sharing(labels)
    label = labels.label if labels.grade is None else None
    return Ranking.by_score(
        label, score, labels.indptr, depth=depth, ties=key.ties, keep_unretrieved=key.keep_unretrieved,
        unlisted=labels.unlisted, grade=labels.grade,
    ).sharing(labels)  # fmt: skip


def labels_of(
    queries: Queries, key: RankingKey, known: dict[Any, BlockLabels], first: int = 0, last: int = -1
) -> BlockLabels:
    """Labels of the queries `first` to `last` as a ranking of theirs reads them; added to those that are `known`."""
    read = key.unjudged, key.negative
    if read not in known:
        known[read] = _labels_of(queries, first, last if last >= 0 else len(queries.indptr) - 1, *read)
    labels = known[read]
    for ranking in [*labels.shared.values()]:  # to which another thread may add
        if isinstance(ranking, Ranking) and len(ranking.shared) > MOST_KEPT:
            vars(ranking).pop("shared", None)
    return labels


def _labels_of(queries: Queries, first: int, last: int, unjudged: str | None, negative: str) -> BlockLabels:
    """Labels of the queries `first` to `last` as metrics with these keywords read them."""
    queries = queries if negative == "keep" else queries.without_negative
    indptr, unlisted = queries.indptr[first : last + 1] - queries.indptr[first], queries.unlisted
    if unlisted is not None:
        unlisted = unlisted.of_queries(first, last).read_unjudged(unjudged)
    if queries.grade is not None and unjudged is None:
        grade = rows_of(queries.grade, queries.indptr, queries.order, first, last)
        return BlockLabels(None, indptr, unlisted, grade=grade, highest=int(queries.facts.label_range[1]))
    label = rows_of(queries.label, queries.indptr, queries.order, first, last)
    judged: NDArray[np.bool_] | None = None
    if unjudged == "nonrelevant":
        label = np.nan_to_num(label)
    elif unjudged == "drop":
        missing = np.isnan(label)
        kept: NDArray[np.bool_] = ~(missing if label.ndim == 1 else np.all(missing, axis=1))
        label, judged = label[kept], kept
        if label.ndim == 2:  # judged for another subtopic
            label = np.nan_to_num(label)
        indptr = np.append(0, np.cumsum(kept))[indptr]
    return BlockLabels(label, indptr, unlisted, judged)
