"""Ranked queries as formulas read them, with the primitives that every metric is written with.

`Ranked` is an order together with cutoffs. The order is one of rows (`Ranking`), or one that is not known yet and
records what a formula asks of it (`plan.RecordedOrder`). Formulas cannot tell. The primitives alone treat ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.kernels import agreement as agreement_kernels
from sklearn_rank._engine.primitives import (
    AT_RANKS,
    CASCADE,
    CASCADE_UPWARDS,
    CENTERED_RANKS,
    CUMSUM,
    JOINT,
    MEANS,
    PAIRS,
    SPREAD,
    Call,
)  # fmt: skip
from sklearn_rank._engine.queries import is_pooled
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.read_only import read_only
from sklearn_rank._utils.threads import check_interrupt
from sklearn_rank._utils.typing import Array, Index

Curve = Array | tuple[Array, Array]
"""Result of a formula: the value, or a numerator and a denominator, per query and cutoff."""


class NoClosedForm(ValueError):
    """The expectation of a formula over the orders of tied documents is not known."""


class Pairs(NamedTuple):
    """Numbers of pairs of documents, shape (n_queries, 1) each. Pairs equal in score and in label are in no field."""

    right: Array
    wrong: Array
    equal_scores: Array
    equal_labels: Array


class Ranked:
    """Ranked queries: the only input of a formula, besides its keywords.

    Three shapes occur, and they combine by NumPy's rules of broadcasting:

    - **items** and **positions**, flat over all queries: `label`, `score`, `relevant`, `column` belong to items, `rank`
      to positions. With ``ties="average"`` the order of the items inside a tie block is arbitrary; the primitives take
      their expectation over it. Documents that were not retrieved, if a metric ranks them, are a tie block under every
      policy.
    - **queries**, shape (n_queries, 1): `n`, `n_relevant`.
    - **the curve**, shape (n_queries, n_cutoffs): `k` and what `cumsum` returns, the value that the metric has
      if every list stops at rank k.

    ``docs/metrics/formula_reference.md`` has a table of all values and sums, with their shapes.
    """

    def __init__(self, order: Any, cutoffs: Index, min_relevance: float = 1.0) -> None:
        self._order, self._cutoffs, self._min_relevance = order, cutoffs, min_relevance

    # --- items, positions and queries ------------------------------------------------------------------------

    @property
    def rank(self) -> Index:
        """Rank of each position, 1 to n."""
        rank: Index = self._order.rank
        return rank

    @property
    def label(self) -> Array:
        """Label of each item."""
        label: Array = self._order.label
        return label

    @property
    def score(self) -> Array:
        """Score of each item, for metrics that read its value and not only the order."""
        score: Array = self._order.score
        return score

    def column(self, name: str) -> Array:
        """A column of the data, such as a price, of each item; declared by ``columns=["price"]``.

        Parameters
        ----------
        name : str
        """
        values: Array = self._order.column(name)
        return values

    def by_label(self, function: Callable[[Array], Array]) -> Array:
        """A function of each item's label.

        Parameters
        ----------
        function : callable
            Takes an array of labels and returns a number for each.
        """
        values: Array = self._order.of_label(function)
        return values

    @cached_property
    def relevant(self) -> Array:
        """1.0 if the label of the item is at least `min_relevance`, else 0.0."""
        return read_only(self.by_label(lambda label: (label >= self._min_relevance).astype(np.float64)))

    @cached_property
    def judged(self) -> Array:
        """1.0 if the label of the item is not NaN, else 0.0."""
        return read_only(self.by_label(lambda label: (label == label).astype(np.float64)))

    @cached_property
    def pooled(self) -> Array:
        """1.0 if the item was in the pool of documents to judge, judged or not, else 0.0."""
        return read_only(np.maximum(self.judged, is_pooled(self._order.rows.label)))

    @cached_property
    def n_relevant(self) -> Array:
        """Number of relevant documents of each query, retrieved or not."""
        return read_only(self._order.count_at_least(self._min_relevance))

    @cached_property
    def n_judged(self) -> Array:
        """Number of judged documents of each query, retrieved or not."""
        return read_only(self._order.count_at_least(np.finfo(np.float64).min))

    @cached_property
    def n(self) -> Array:
        """Number of ranked documents of each query: all that were retrieved."""
        return read_only(self._order.count_ranked())

    @cached_property
    def k(self) -> Array:
        """Cutoff at each point of the curve; a list read to its end is cut at its length (at least 1)."""
        whole = (self._cutoffs == NO_CUTOFF)[None]
        if not whole.any():
            return self.cutoff
        lengths = np.maximum(self.n, 1.0)
        return lengths if whole.all() else np.where(whole, 0.0, self.cutoff) + lengths * whole

    @cached_property
    def cutoff(self) -> Array:
        """Cutoff at each point of the curve; larger than every list if there is no cutoff."""
        return self._cutoffs[None].astype(np.float64)

    @cached_property
    def ideal(self) -> Ranked:
        """The best order of all judged documents, with the same cutoffs."""
        return self._of(self._order.ideal)

    def of_query(self, x: ArrayLike) -> Array:
        """A value of each query at each of its positions.

        Parameters
        ----------
        x : array-like of shape (n_queries, 1)
        """
        return self._apply(SPREAD, of_query=x)

    # --- primitives ------------------------------------------------------------------------------------------

    def cumsum(
        self,
        value: ArrayLike = 1.0,
        weight: ArrayLike = 1.0,
        *,
        by_label: Callable[[Array], Array] | None = None,
        by_rank: Callable[[Index], Any] | None = None,
        over_rank: bool = False,
    ) -> Array:
        """Sum of the value of each item times the weight of its position, down to each cutoff.

        Parameters
        ----------
        value : array-like of items, default=1.0
        weight : array-like of positions, default=1.0
        by_label, by_rank : callable, default=None
            Factors of the value and of the weight, ``r.by_label(by_label)`` and ``by_rank(r.rank)``, in less time.
        over_rank : bool, default=False
            Whether to divide the weight by the rank.
        """
        if by_label is not None:
            values = self.by_label(by_label)
            value = values if isinstance(value, (int, float)) and value == 1 else value * values  # type: ignore[operator]
        table = None
        if by_rank is not None:
            ranks = self._order.ranks[: self._cutoffs[-1]]
            table = np.array(by_rank(ranks), dtype=np.float64)
            if table.shape != ranks.shape:
                raise ValueError(
                    f"by_rank of cumsum() must return a number for each rank, {len(ranks)} here. "
                    f"Got shape {table.shape} instead."
                )
        return self._apply(CUMSUM, value, weight, by_rank=table, over_rank=over_rank, cutoffs=self._cutoffs)

    def joint(self, x: ArrayLike, y: ArrayLike, most: Array | None = None) -> Array:
        """`x` of the item at each position times the sum of `y` over the items down to it, inclusive.

        Parameters
        ----------
        x, y : array-like of items
        most : array of shape (n_queries, 1), default=None
            Highest value of the sum, an integer; x and y are then 0 or 1, and never both 1.
        """
        return self._apply(JOINT, x, y, of_query=most)

    def sums_of_means(self, *, of_labels: bool = False) -> Array:
        """Sum over the relevant items down to each cutoff of the share of relevant items down to each.

        Parameters
        ----------
        of_labels : bool, default=False
            Whether to sum the mean label instead of the share of relevant items.
        """
        return self._apply(MEANS, self.relevant, self.label if of_labels else self.relevant, cutoffs=self._cutoffs)

    def cascade(self, p: ArrayLike, *, upwards: bool = False) -> Array:
        """Probability of each position to be the last one seen.

        Parameters
        ----------
        p : array-like of items
            Probability that the user stops at an item: p_i * prod over j < i (upwards: j > i) of (1 - p_j).
        upwards : bool, default=False
            Whether the user goes up from the end of the list.
        """
        if upwards:
            self._refuse_ties_at_the_cutoff("cascade(upwards=True) of a formula")
        return self._apply(CASCADE_UPWARDS if upwards else CASCADE, p)

    def holds_all_relevant(self) -> Array:
        """Probability that the first items, down to each cutoff, are all relevant items of the query.

        A list goes on below the last cutoff to the end of the tie block there. If it has all relevant items, a user who
        goes up from its end stops at the last of them.
        """
        down_to_ties = self.at_cutoff(self.at_tie_end(self.joint(1.0, self.relevant)))
        has_all = down_to_ties > self.n_relevant - 0.5
        return self.cumsum(weight=self._apply(CASCADE_UPWARDS, self.relevant)) * has_all

    def ideal_sum(self, value: ArrayLike) -> Array:
        """Sum of a value of each position of `ideal`, over as many as the rank at each position says.

        Parameters
        ----------
        value : array-like of positions
        """
        return self._apply(AT_RANKS, self.ideal.joint(1.0, value))

    def pairs(self) -> Pairs:
        """Number of pairs in the right order, in the wrong order, tied only in score, and tied only in label."""
        self._refuse_ties_at_the_cutoff("pairs() of a formula")
        counts = self._apply(PAIRS, self.label)
        return Pairs(*[counts[:, i : i + 1] for i in range(4)])

    def centered_ranks(self, x: ArrayLike) -> Array:
        """Rank of each item by `x`, highest first, minus the mean rank of its query; equal items share a mean rank.

        Parameters
        ----------
        x : array-like of items
        """
        self._refuse_ties_at_the_cutoff("centered_ranks() of a formula")
        return self._apply(CENTERED_RANKS, x)

    def _apply(self, primitive: Any, x: Any = None, y: Any = None, **operands: Any) -> Array:
        result: Array = self._order.apply(Call(primitive, x, y, **operands))
        return result

    # --- what an order of rows alone can tell ----------------------------------------------------------------

    def total(self, of_label: Callable[[Array], Array]) -> Array:
        """Sum of a function of the label over all judged documents of each query, shape (n_queries, 1).

        Parameters
        ----------
        of_label : callable
            Function of an array of labels.
        """
        labels = self._order.rows.labels
        if labels.unlisted is not None:
            raise ValueError(
                "total() of a formula reads the labels of all documents: declare reads_all_labels=True. "
                "Got documents without a row."
            )
        whole = type(self)(labels.best(NO_CUTOFF), np.array([NO_CUTOFF]), self._min_relevance)
        return whole.cumsum(by_label=of_label)

    def over_subtopics(self, value: Callable[[Ranked], ArrayLike]) -> Array:
        """Values of a function of the ranked queries for each subtopic's labels, on a first axis.

        Parameters
        ----------
        value : callable
            Function of a `Ranked` with the labels of one subtopic.
        """
        return np.stack([value(self._of(s)) for s in self._order.rows.subtopics])

    @cached_property
    def n_subtopics(self) -> Array:
        """Number of subtopics of each query with a relevant document, retrieved or not."""
        return self.over_subtopics(lambda s: np.minimum(s.n_relevant, 1.0)).sum(axis=0)

    def most_novel(self, alpha: float) -> Ranked:
        """All judged documents in greedy order: each document adds most, and a covered subtopic is worth less.

        Parameters
        ----------
        alpha : float
            Share of its worth that a subtopic loses each time a document covers it.
        """
        label, indptr = self._order.rows.labels.judged
        depth = int(self._cutoffs[-1])
        return self._of(Ranking.by_novelty(label, indptr, depth=depth, alpha=alpha, min_relevance=self._min_relevance))

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the curve: how many queries and cutoffs there are."""
        return len(self._order.rows.ptr) - 1, len(self._cutoffs)

    @property
    def tied(self) -> bool:
        """Whether some items down to the last cutoff are in a tie block of several."""
        return bool((self._starts_pair & (self.rank <= self._cutoffs[-1])).any())

    @property
    def _starts_pair(self) -> NDArray[np.bool_]:
        """Whether the item at each position is tied with the next one."""
        ends = self._order.rows.tie_ends
        return np.zeros(1, bool) if ends is None else ends - np.arange(len(ends)) > 1

    def queries(self, reader: str = "queries() of a formula") -> Iterator[tuple[Array, Array]]:
        """Copies of the labels and scores, query by query; slow, for plain functions.

        Parameters
        ----------
        reader : str
            What reads them, for errors.
        """
        self._refuse_ties_at_the_cutoff(reader)
        ptr = self._order.rows.ptr
        for start, stop in zip(ptr[:-1], ptr[1:], strict=True):
            check_interrupt()
            yield self.label[start:stop].copy(), self.score[start:stop].copy()

    def refuse_ties(self, what: str) -> None:
        """Raise ValueError if documents are tied, for what has no closed form for its expectation over them.

        Parameters
        ----------
        what : str
            Its name, for the error.
        """
        if self.tied:
            raise NoClosedForm(
                f"{what} has no closed form for tied documents: "
                + self._without_ties("ties='stable', 'worst' or 'best'")
            )

    def _refuse_ties_at_the_cutoff(self, what: str) -> None:
        """Raise ValueError if a list goes on below the cutoff, which it does only to the end of a tie block."""
        if self._order.goes_on_below(self._cutoffs[-1]):
            raise NoClosedForm(
                f"{what} has no expectation over documents tied across the cutoff: "
                + self._without_ties(
                    "ties='stable', or whole lists (has_cutoff=False of a formula, no k of a function)"
                )
            )

    def _without_ties(self, policies: str) -> str:
        """What to use instead of ties: policies, which order retrieved documents; and what is tied."""
        if (self._starts_pair & (self.score > -np.inf)).any():
            return f"use {policies}. Got ties='average' and equal scores."
        return (
            "declare keeps_unretrieved=False, or give each document a score. "
            "Got documents that were not retrieved (-inf), which are tied under every policy."
        )

    def at_tie_end(self, x: Array) -> Array:
        """Value of `x` at the end of the tie block around each position.

        Parameters
        ----------
        x : array of positions
        """
        ends = self._order.rows.tie_ends
        return x if ends is None else x[ends - 1]

    def at_cutoff(self, x: ArrayLike) -> Array:
        """Value of `x` at the last position down to each cutoff; 0 for a list without a document.

        Parameters
        ----------
        x : array-like of positions
        """
        start, length = self._starts_and_lengths()
        last = start + np.minimum(self._cutoffs, length) - 1
        return np.where(length > 0, np.append(self._order.rows.flat(x), 0.0)[last], 0.0)

    def highest(self, x: ArrayLike) -> Array:
        """Largest `x`, not below 0, of the positions down to each cutoff.

        Parameters
        ----------
        x : array-like of positions
        """
        start, length = self._starts_and_lengths()
        bounds = np.stack(np.broadcast_arrays(start, start + np.minimum(self._cutoffs, length)), axis=-1)
        highest = np.maximum.reduceat(np.append(self._order.rows.flat(x), 0.0), bounds.ravel())[::2]
        return np.where(length > 0, highest.reshape(bounds.shape[:2]), 0.0)

    def _starts_and_lengths(self) -> tuple[Index, Index]:
        """First position and number of positions of each query, shape (n_queries, 1)."""
        rows = self._order.rows
        return rows.ptr[:-1, None], rows.length[:, None]

    def overlap(self) -> Array:
        """Number of items down to each position that the ideal order has down to it too, equal labels being tied."""
        rows = self._order.rows
        if rows.unlisted is not None:
            raise ValueError(
                "overlap() of a formula reads the labels of all documents: declare reads_all_labels=True. "
                "Got documents without a row."
            )
        best = Ranking.by_label(rows.row_label, rows.indptr, NO_CUTOFF)
        # The kernel looks for each label in the best order.
        assert (best.length >= rows.length).all()
        out, count = np.empty(rows.n_positions), np.empty((2, int(best.length.max(initial=0))), dtype=np.int64)
        agreement_kernels.overlap(self.label, best.label, rows.ptr, best.ptr, rows.tie_end, count, out)
        return out

    def _of(self, order: Any) -> Ranked:
        """Another order, read in the same way."""
        return type(self)(order, self._cutoffs, self._min_relevance)
