"""What each document adds to a metric that is a sum over documents, and the rank that each is expected to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._engine.primitives import SPREAD
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking, RankingKey, rank_block
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array, Index

ROUNDING = 1e-9
"""Relative rounding of a sum of terms."""


class NotASum(Exception):
    """The formula is no sum over documents of what each adds by itself."""


class ByDocument(Ranked):
    """One query as a formula reads it, with one sum for each document in place of the sum over them.

    A formula that sums once, and divides by numbers of the query, so returns what each document adds. With ties that
    is an expectation: the document's value times the mean weight of the positions that it may have.
    """

    _order: Ranking

    def cumsum(
        self, value: ArrayLike = 1.0, weight: ArrayLike = 1.0, *, by_label: Callable[[Array], Array] | None = None,
        by_rank: Callable[[Index], Any] | None = None, over_rank: bool = False,
    ) -> Array:  # fmt: skip
        """Term of each document, down to the cutoff, shape (n_documents, 1)."""
        order = self._order
        values, weights = np.array(order.flat(value)), np.array(order.flat(weight))
        if by_label is not None:
            values *= self.by_label(by_label)
        if by_rank is not None:
            weights *= by_rank(self.rank)
        if over_rank:
            weights /= self.rank
        weights[self.rank > self._cutoffs[-1]] = 0
        return (values * mean_of_ties(order, weights))[:, None]

    @property
    def ideal(self) -> Ranked:
        """The best order, which is summed as ever."""
        return Ranked(self._order.ideal, self._cutoffs, self._min_relevance)

    def total(self, of_label: Callable[[Array], Array]) -> Array:
        """Sum over all judged documents, which is a number of the query."""
        return Ranked(self._order, self._cutoffs, self._min_relevance).total(of_label)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of what a formula returns: a row for each document."""
        return self._order.n_positions, 1

    def _take(self, primitive: Any, x: Any = None, y: Any = None, **operands: Any) -> Array:
        if primitive != SPREAD:
            raise NotASum
        return super()._take(primitive, x, y, **operands)

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotASum

    over_subtopics = most_novel = at_tie_end = at_cutoff = highest = overlap = _refuse

    def queries(self, reader: str = "") -> Iterator[tuple[Array, Array]]:
        """Refuse a plain function, because it may be anything."""
        raise NotASum


def mean_of_ties(order: Ranking, x: Array) -> Array:
    """Mean of a number of each position over the tie block around it."""
    if order.tie_ends is None:
        return x
    _, block = np.unique(order.tie_ends, return_inverse=True)
    mean: Array = np.bincount(block, x) / np.bincount(block)
    return mean[block]


def contributions(query: Queries, spec: MetricSpec, value: float) -> Array | None:
    """What each row of one query adds to its value; None if the metric is no sum over documents."""
    if spec.metric.subtopics:
        return None
    keywords = spec.bind(query)
    order = rank_block(query, 0, 1, RankingKey.of(spec, query), spec.depth)
    try:
        terms, divisor = spec.metric.ratio(ByDocument(order, spec.cutoffs, spec["min_relevance"]), keywords)
    except NotASum:
        return None
    # A divisor with a row for each document is itself a sum over them.
    if divisor.shape[:1] not in ((), (1,)) or spec.metric.transform is not None:
        return None
    added = np.zeros(len(query.row_label))
    if divisor.item() != 0:
        kept = np.arange(len(added)) if order.labels.kept is None else np.flatnonzero(order.labels.kept)
        added[kept[order.order]] = np.ravel(terms) / divisor.item()
    return added if abs(added.sum() - value) <= ROUNDING * np.abs(added).sum() else None


def expected_ranks(query: Queries, spec: MetricSpec) -> Array:
    """Rank of each row of one query, ties broken as in the metric; NaN for a row without a rank."""
    key = RankingKey.of(spec, query)._replace(pointwise=False, keep_unretrieved=False)
    if key.unjudged == "drop":
        key = key._replace(unjudged="nonrelevant")
    order = rank_block(query, 0, 1, key, NO_CUTOFF)
    ranks = np.full(len(query.row_label), np.nan)
    ranks[order.order] = mean_of_ties(order, order.rank.astype(np.float64))
    return ranks
