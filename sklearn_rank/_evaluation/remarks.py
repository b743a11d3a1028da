"""Remarks under a printed table: scores or orders that say nothing, hits that do not fit, lists cut at other depths."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import numpy as np

from sklearn_rank._data.look import full_lists, reads_scale
from sklearn_rank._engine.queries import LazyQueries, Queries
from sklearn_rank._engine.ranking import Labels, tied_across
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.conventions import BY_DOCUMENT_ID
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array, Index

SHARE_OF_CUT = 0.5
"""Share of the lists that have the length of the longest, if lists are cut there."""


def remarks_on(queries: Queries | LazyQueries, specs: Mapping[str, MetricSpec]) -> tuple[str, ...]:
    """Remarks on the data of one result; empty for queries that are built when they are needed."""
    if isinstance(queries, LazyQueries) or queries.has_subtopics:
        return ()
    of_metrics = *_on_full_recall(queries, specs), *_on_scale(queries, specs), _on_ties(queries, specs)
    return tuple(filter(None, (_on_scores(queries), *orders_in_words(*full_lists(queries, specs), specs), *of_metrics)))


def _on_ties(queries: Queries, specs: Mapping[str, MetricSpec]) -> str:
    """That tied rows keep their order, where a convention has an order of documents, whose ids are not known."""
    by_id = [spec for spec in specs.values() if spec["convention"] in BY_DOCUMENT_ID and spec["ties"] == "stable"]
    if not by_id or not tied_across(queries, replace(by_id[0], k=None)).any():
        return ""
    return "ties in the order of rows (trec_eval orders them by document id: tie_break=)"


def _on_scores(queries: Queries) -> str:
    grouping = queries.grouping
    n, equal = (
        grouping.n_queries,
        grouping.reduce(queries.score, np.maximum) == grouping.reduce(queries.score, np.minimum),
    )
    return f"all scores are equal in {n} of {n} queries" if n < grouping.n_rows and equal.all() else ""


def orders_in_words(full: frozenset[str], longest: int, specs: Iterable[str]) -> tuple[str, ...]:
    """That no order can change metrics, because no list is longer than their cutoff; empty if there is none."""
    names = ", ".join(display_name(name) for name in specs if name in full)
    return (f"no order can change {names}: no list has more than {longest} documents",) * bool(names)


def _on_scale(queries: Queries, specs: Mapping[str, MetricSpec]) -> Iterator[str]:
    """Metrics whose default scale has grades that no document has, and their means on the scale of the labels."""
    high = queries.summary.label_range[1]
    for name, spec in specs.items():
        if high >= 1 and "max_grade" not in spec.keywords and reads_scale(spec) and high < spec["max_grade"]:
            yield f"labels reach {high:g} and max_grade is {spec['max_grade']:g} in {display_name(name)}"
            (values,) = compute(queries, [replace(spec, keywords={**spec.keywords, "max_grade": high})])
            yield f"with max_grade={high:g} {display_name(name)} is {values.average(queries.weight)[-1]:.4g}"


def _on_full_recall(queries: Queries, specs: Mapping[str, MetricSpec]) -> Iterator[str]:
    """Queries with more relevant documents than the cutoff, where a hit needs all of them."""
    for name, spec in specs.items():
        if spec.k is None or "need" not in spec.metric.formula_params or spec["need"] != "all":
            continue
        read = queries.with_negative(spec["negative"])
        grouping = read.grouping
        n_relevant = Labels(grouping.take(read.label), grouping.indptr, read.unlisted).count_at_least(
            spec["min_relevance"]
        )
        if n := int((n_relevant > np.max(spec.k)).sum()):
            have, count = ("have", "count") if n > 1 else ("has", "counts")
            beyond = f"{have} more than {spec.k} relevant documents and {count} as 0 in {display_name(name)}"
            yield f"{n:,} of {grouping.n_queries:,} queries {beyond}"


def cut_at(queries: Queries | LazyQueries) -> int | None:
    """Number of documents at which lists are cut; None if they are not, or queries are built when they are needed."""
    if isinstance(queries, LazyQueries):
        return None
    size: Index | Array = queries.grouping.sizes
    if queries.summary.has_unretrieved:
        size = queries.grouping.reduce((queries.score > -np.inf).astype(np.int64))
    depth = int(size.max())
    return depth if len(size) > 1 and np.mean(size == depth) >= SHARE_OF_CUT else None


def depths_in_words(cut: Mapping[str, int | None], meanings: Mapping[str, str]) -> str:
    """That lists of systems are cut at different depths, and a metric reads more than the shortest."""
    depths = {name: depth for name, depth in cut.items() if depth is not None}
    shortest = min(depths.values(), default=0)
    if len({*depths.values()}) < 2 or not any(_reads_below(shortest, meaning) for meaning in meanings.values()):
        return ""
    return f"lists are cut at other depths: {', '.join(f'{name} {depth}' for name, depth in depths.items())}"


def _reads_below(depth: int, meaning: str) -> bool:
    """Whether a metric reads more than so many documents, by its meaning; one of users may."""
    cutoff = re.search(r"\(k=(\d+)", meaning)
    return cutoff is None or int(cutoff[1]) > depth
