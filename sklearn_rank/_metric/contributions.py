"""What each document adds to a metric that is a sum over documents, and the rank that each is expected to have."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.primitives import SPREAD
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking, RankingKey, rank_block
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.typing import Array, Index

ROUNDING = 1e-9
"""Relative rounding of a sum of terms."""


class NotASum(Exception):
    """The formula is not a sum of independent contributions of documents."""


class OfQueries(Ranked):
    """Ranked queries as a formula reads them, with numbers of queries repeated at each position of an order.

    So they combine with the contributions of documents. For one query the shape stays (1, 1).
    """

    def __init__(self, order: Ranking, cutoffs: Index, min_relevance: float, positions: Ranking | None = None) -> None:
        super().__init__(order, cutoffs, min_relevance)
        self._positions = order if positions is None else positions

    def _repeated(self, x: Array) -> Array:
        length = self._positions.length
        return x if len(length) == 1 else np.repeat(x, length, axis=0)

    @property
    def n_relevant(self) -> Array:
        """Relevant documents of the query of each position."""
        return self._repeated(super().n_relevant)

    @property
    def n_judged(self) -> Array:
        """Judged documents of the query of each position."""
        return self._repeated(super().n_judged)

    @property
    def n(self) -> Array:
        """Ranked documents of the query of each position."""
        return self._repeated(super().n)

    @property
    def ideal(self) -> OfQueries:
        """The best order, which is summed as ever."""
        return OfQueries(self._order.ideal, self._cutoffs, self._min_relevance, self._positions)

    def total(self, of_label: Callable[[Array], Array]) -> Array:
        """Sum over all judged documents of the query of each position."""
        return self._repeated(Ranked(self._order, self._cutoffs, self._min_relevance).total(of_label))

    def at_cutoff(self, x: ArrayLike) -> Array:
        """Value at the last position of the query of each position."""
        return self._repeated(super().at_cutoff(x))

    def highest(self, x: ArrayLike) -> Array:
        """Largest value of the query of each position."""
        return self._repeated(super().highest(x))

    def of_query(self, x: ArrayLike) -> Array:
        """A value of each query at each of its positions, where it is repeated already."""
        return super().of_query(x) if len(self._positions.length) == 1 else np.ravel(x)

    def _apply(self, primitive: Any, x: Any = None, y: Any = None, **operands: Any) -> Array:
        result = super()._apply(primitive, x, y, **operands)
        return self._repeated(result) if result.ndim == 2 else result


class ByDocument(OfQueries):
    """Ranked queries as a formula reads them, with one sum for each document in place of the sum over them.

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
            weights *= np.broadcast_to(by_rank(order.ranks), order.ranks.shape)[self.rank - 1]
        if over_rank:
            weights /= self.rank
        weights[self.rank > self._cutoffs[-1]] = 0
        return (values * mean_of_ties(order, weights))[:, None]

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the result of a formula: a row for each document."""
        return self._order.n_positions, 1

    def _apply(self, primitive: Any, x: Any = None, y: Any = None, **operands: Any) -> Array:
        if primitive != SPREAD:
            raise NotASum
        return super()._apply(primitive, x, y, **operands)

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


def contributions(queries: Queries, spec: MetricSpec, values: Array) -> tuple[Array, NDArray[np.bool_]]:
    """What each row adds to the value of its query, and whether it is a sum over documents for each query."""
    # Rows are by query. What they add is 0 in a query where the value is no sum.
    sizes, added = queries.grouping.sizes, np.zeros(len(queries.row_label))
    none = added, np.zeros(len(sizes), bool)
    if spec.metric.subtopics or spec.metric.transform is not None:
        return none
    keywords, key, longest = spec._bind(queries), RankingKey.of(spec, queries), int(np.argmax(sizes))
    order, one = (rank_block(queries, *at, key, spec.depth) for at in ((0, len(sizes)), (longest, longest + 1)))
    try:
        terms, divisor = spec.metric._ratio(ByDocument(order, spec.cutoffs, spec["min_relevance"]), keywords)
        _, of_one = spec.metric._ratio(ByDocument(one, spec.cutoffs, spec["min_relevance"]), keywords)
    except NotASum:
        return none
    kept = np.arange(len(added)) if order.labels.kept is None else np.flatnonzero(order.labels.kept)
    terms, divisor = (np.broadcast_to(x, (order.n_positions, 1))[:, 0] for x in (terms, divisor))
    added[kept[order.order]] = np.divide(terms, divisor, out=np.zeros(len(terms)), where=divisor != 0)
    query = np.repeat(np.arange(len(sizes)), sizes)
    sums, of_sizes = (np.bincount(query, x, len(sizes)) for x in (added, np.abs(added)))
    is_sum: NDArray[np.bool_] = np.abs(sums - values) <= ROUNDING * of_sizes
    # A divisor with a row for each document is itself a sum over them.
    if of_one.shape[:1] not in ((), (1,)):
        is_sum &= order.length == 1
    added[~is_sum[query]] = 0.0
    return added, is_sum


def expected_ranks(queries: Queries, spec: MetricSpec) -> Array:
    """Rank of each row of queries in order, ties broken as in the metric; NaN for a row without a rank."""
    key = RankingKey.of(spec, queries)._replace(pointwise=False, keep_unretrieved=False)
    if key.unjudged == "drop":
        key = key._replace(unjudged="nonrelevant")
    order = rank_block(queries, 0, queries.grouping.n_queries, key, NO_CUTOFF)
    ranks = np.full(len(queries.row_label), np.nan)
    ranks[order.order] = mean_of_ties(order, order.rank.astype(np.float64))
    return ranks
