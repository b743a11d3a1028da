"""Checks of retrieval: similarities in place of distances."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.evidence import Metrics
from sklearn_rank._misuse.rows import LEAST_QUERIES
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index

ONE_IN_A_MILLION = 14
"""-log(1e-6), rounded up."""

LEAST_VECTORS = 3
"""Number of different vectors for the comparison of distances."""

NEARLY_ALL = 0.95
"""Minimum share of queries that are in the database."""

FALLING = Check(
    "similarities as distances", "neighbors",
    "Distances of neighbors fall in every row.",
    "an order that chance gives once in a million",
    "nearest first", "error", can_be_meant=False,
)  # fmt: skip
SIMILARITY_AS_DISTANCE = Check(
    "a similarity as distance", "distances",
    "A function `distance` is largest between equal vectors.",
    "three different vectors",
    "is largest between equal vectors", "error", can_be_meant=False,
)  # fmt: skip
ITSELF = Check(
    "queries in the database", "itself",
    "Nearly all queries are in the database, and `exclude_self` is False.",
    "the same object, or 20 queries",
    "finds itself first",
)  # fmt: skip
CHECKS_OF_DISTANCES = (FALLING, SIMILARITY_AS_DISTANCE, ITSELF)


def neighbors_worst_first(near: Array, items: Index, higher_is_nearer: bool) -> Iterator[Finding]:
    """Neighbors with the farthest first in every row. `near` is higher for nearer items; -1 marks no item."""
    if near.ndim != 2 or near.shape[1] < 2:
        return
    for n in (1, len(near)):
        both, before, after = (items[:n, 1:] >= 0) & (items[:n, :-1] >= 0), near[:n, :-1], near[:n, 1:]
        rises = both & (after > before)
        if (both & (after < before)).any() or not rises.any():
            return
    n_steps = np.count_nonzero(rises, axis=1)
    if sum(math.lgamma(n + 2) for n in n_steps.tolist()) >= ONE_IN_A_MILLION:
        given, other = ("rise", "False") if higher_is_nearer else ("fall", "True")
        yield Finding(
            FALLING,
            f"Neighbors come nearest first, and distances {given} in every row: pass higher_is_nearer={other}, or "
            "sort each row.",
        )


def finds_itself(
    n_found: int, n_queries: int, relevance: Any, metrics: Metrics, is_same: bool = False
) -> Iterator[Finding]:  # fmt: skip
    """Queries that are their own first neighbor (`n_found` of `n_queries`); `is_same`: the queries are the database."""
    # `relevance` may leave out an item for each query, by NaN and ``unjudged="drop"``.
    is_found = is_same or (n_queries >= LEAST_QUERIES and n_found >= NEARLY_ALL * n_queries)
    if is_found and not (_has_unjudged(relevance) and all(one["unjudged"] == "drop" for one in metrics.values())):
        yield Finding(
            ITSELF,
            "Nearly every query finds itself first, because it is in the database: pass exclude_self=True if row i of "
            "the database is query i, or leave queries out of the database.",
        )


def _has_unjudged(relevance: Any) -> bool:
    """Whether a matrix has NaN in each row."""
    if hasattr(relevance, "tocoo"):
        entries = relevance.tocoo()
        return len(distinct_values(entries.row[np.isnan(entries.data)])) == relevance.shape[0]
    return np.ndim(relevance) == 2 and bool(np.isnan(np.asarray(relevance, dtype=float)).any(axis=1).all())


def largest_for_equal(between: Array, distance: Any) -> Iterator[Finding]:
    """A distance that is larger between equal vectors than between others; `between` is a matrix of distances."""
    if len(between) < LEAST_VECTORS or not np.isfinite(between).all():
        return
    equal = np.diag(between)
    if (between <= equal[:, None]).all() and (between.min(axis=1) < equal).all():
        yield Finding(
            SIMILARITY_AS_DISTANCE,
            "distance= must be a function that is lower for nearer vectors, but this function is largest between equal "
            f"vectors: negate a similarity. Got {echo(distance)}.",
        )
