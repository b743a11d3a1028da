"""Ranked queries as formulas read them, with the three primitives that every metric is written with.

`Ranked` is a ranking together with the cutoffs. Ties are treated here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.block_labels import rows_at_least
from sklearn_rank._engine.kernels import agreement as agreement_kernels
from sklearn_rank._engine.kernels import cascade as cascade_kernels
from sklearn_rank._engine.kernels import sums as sums_kernels
from sklearn_rank._engine.pooled import is_pooled
from sklearn_rank._engine.ranking import NO_CUTOFF, Ranking
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.threads import heed
from sklearn_rank._utils.typing import Array, Index

Curve = Array | tuple[Array, Array]
"""Result of a formula: the value, or a numerator and a denominator, per query and cutoff."""


class Pairs(NamedTuple):
    """Pairs of documents of each query, shape (n_queries, 1) each; those alike in score and label are in none."""

    right: Array
    wrong: Array
    equal_scores: Array
    equal_labels: Array


class Ranked:
    """Ranked queries as a formula reads them: the only thing that it may read.

    Three shapes occur, and they combine by NumPy's rules of broadcasting:

    - **items** and **positions**, flat over all queries: `label`, `score`, `relevant` belong to items, `rank`
      to positions. With ``ties="average"`` the order of the items inside a tie block means nothing; the
      primitives take their expectation over it.
    - **queries**, shape (n_queries, 1): `n`, `n_relevant`.
    - **the curve**, shape (n_queries, n_cutoffs): `k` and what `cumsum` returns, the value that the metric has
      if every list stops at rank k.
    """

    def __init__(
        self, ranking: Ranking, cutoffs: Index, min_relevance: float = 1.0, *, keeps_results: bool = False
    ) -> None:
        self._ranking, self._cutoffs, self._min_relevance = ranking, cutoffs, min_relevance
        self._keeps_results = keeps_results

    @property
    def rank(self) -> Index:
        """Rank of each position, 1 to n."""
        return self._ranking.rank

    @property
    def label(self) -> Array:
        """Label of each item."""
        if not self._keeps_results:
            return self._ranking.label
        return self._ranking.shared.once("label", lambda: self._ranking.label)

    @property
    def score(self) -> Array:
        """Score of each item; ranking metrics have no use for it."""
        return self._ranking.score

    @property
    def relevant(self) -> Array:
        """Whether each item's label is at least `min_relevance`, as 0.0 or 1.0."""
        return self._once("relevant", lambda: self._ranking.of_label(self._are_relevant))

    def _are_relevant(self, label: Array) -> Array:
        return (label >= self._min_relevance).astype(np.float64)

    @property
    def judged(self) -> Array:
        """Whether each item has a label that is not NaN, as 0.0 or 1.0."""
        return self._once("judged", lambda: (self.label == self.label).astype(np.float64))

    @property
    def pooled(self) -> Array:
        """Whether each item was in the pool of documents to judge, judged or not, as 0.0 or 1.0."""
        return self._once("pooled", lambda: np.maximum(self.judged, is_pooled(self.label)))

    @property
    def n_relevant(self) -> Array:
        """Relevant documents of each query, also those not retrieved."""
        return self._once_for_labels("n_relevant", self._min_relevance)

    @property
    def n_judged(self) -> Array:
        """Judged documents of each query, also those not retrieved."""
        return self._once_for_labels("n_judged", np.finfo(np.float64).min)

    @property
    def n(self) -> Array:
        """Ranked documents of each query: all but those not retrieved."""
        return self._once("n", self._count_ranked)

    def by_label(self, function: Callable[[Array], Array]) -> Array:
        """A function of each item's label, computed once for all formulas that ask for the same function."""
        if not self._keeps_results:
            return self._ranking.of_label(function)
        return self._kept("by_label", self._ranking.of_label, function)

    def _once(self, name: str, compute: Callable[[], Array]) -> Array:
        """Compute it for the first of the formulas that share the ranking and `min_relevance`, for all to read."""
        return self._ranking.shared.once((name, self._min_relevance), compute)

    def _kept(self, name: Any, compute: Callable[..., Array], *operands: Any) -> Array:
        """Result of a primitive, which other formulas read too if no formula writes to it."""
        if not self._keeps_results:
            return compute(*operands)
        return self._ranking.shared.result(name, compute, operands)

    def _once_for_labels(self, name: str, threshold: float) -> Array:
        """Count documents with a label of at least `threshold`, for all rankings of the same labels."""
        labels, key = self._ranking.labels, (name, threshold)
        if key not in labels.shared:
            labels.shared[key] = labels.count_at_least(threshold)
            labels.shared[key].flags.writeable = False
        count: Array = labels.shared[key]
        return count

    def _count_ranked(self) -> Array:
        ranking = self._ranking
        if ranking.holds_all:
            count = ranking.length[:, None].astype(np.float64)
        else:
            count = rows_at_least(ranking.row_score, ranking.indptr, np.finfo(np.float64).min)
        return count if ranking.unlisted is None else count + ranking.unlisted.n_ranked

    @cached_property
    def k(self) -> Array:
        """Cutoff at each point of the curve; a list read to its end is cut at its length (at least 1)."""
        if self._cutoffs[-1] < NO_CUTOFF:
            return self.cutoff
        return self._kept(("k", self._cutoffs.tobytes()), self._cutoffs_or_lengths)

    def _cutoffs_or_lengths(self) -> Array:
        cutoffs = self._cutoffs[:, None]
        return np.where(cutoffs == NO_CUTOFF, np.maximum(self.n, 1.0).T, cutoffs).T

    @cached_property
    def cutoff(self) -> Array:
        """Cutoff at each point of the curve; beyond every list where there is none."""
        return self._cutoffs[None].astype(np.float64)

    @cached_property
    def ideal(self) -> Ranked:
        """The best order of all judged documents, with the same cutoffs."""
        return self._of(self._ranking.ideal)

    def over_subtopics(self, value: Callable[[Ranked], ArrayLike]) -> Array:
        """Values of a function of the ranked queries for each subtopic's labels, on a first axis."""
        return np.stack([value(self._of(s)) for s in self._ranking.subtopics])

    @cached_property
    def n_subtopics(self) -> Array:
        """Subtopics of each query that have a relevant document, also one not retrieved."""
        return self.over_subtopics(lambda s: np.minimum(s.n_relevant, 1.0)).sum(axis=0)

    def most_novel(self, alpha: float) -> Ranked:
        """All judged documents in the order in which each adds most, one subtopic's being worth less each time."""
        ranking, depth = self._ranking, int(self._cutoffs[-1])
        return self._of(
            Ranking.by_novelty(*ranking.labels.judged, depth=depth, alpha=alpha, min_relevance=self._min_relevance)
        )

    def _of(self, ranking: Ranking) -> Ranked:
        """Another ranking, read in the same way."""
        return type(self)(ranking, self._cutoffs, self._min_relevance, keeps_results=self._keeps_results)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the curve: how many queries and cutoffs there are."""
        return len(self._ranking.ptr) - 1, len(self._cutoffs)

    @property
    def tied(self) -> bool:
        """Whether the expectation over tied items is asked for, and some of those that count are tied."""
        ends = self._ranking.tie_ends
        if ends is None:
            return False
        blocks = ends - np.arange(self._n_positions) > 1
        return bool((blocks & (self.rank <= self._cutoffs[-1])).any())

    def queries(self, reader: str = "queries() of a formula") -> Iterator[tuple[Array, Array]]:
        """Labels and scores of one query after the other, copies that may be changed: for plain functions, slow."""
        self._refuse_ties_at_the_cutoff(reader)
        for start, stop in zip(self._ranking.ptr[:-1], self._ranking.ptr[1:], strict=True):
            heed()
            yield self.label[start:stop].copy(), self.score[start:stop].copy()

    def refuse_ties(self, what: str) -> None:
        """Raise ValueError if documents are tied, for what has no closed form for its expectation over them."""
        if self.tied:
            raise ValueError(
                f"{what} has no closed form for tied documents: use ties='stable', 'worst' or 'best'. "
                "Got ties='average' and equal scores."
            )

    def _refuse_ties_at_the_cutoff(self, what: str) -> None:
        """Raise ValueError if a list goes on below the cutoff, as it does to the end of a tie block alone."""
        if self._ranking.tie_end is not None and (self._ranking.length > self._cutoffs[-1]).any():
            raise ValueError(
                f"{what} has no expectation over documents tied across the cutoff: use ties='stable', or whole lists "
                "(has_cutoff=False of a formula, no k of a function). Got ties='average' and equal scores."
            )

    def of_query(self, x: ArrayLike) -> Array:
        """A value of each query, shape (n_queries, 1), at each of its positions."""
        return np.repeat(np.ravel(np.asarray(x, dtype=np.float64)), self._ranking.length)

    def ideal_sum(self, value: ArrayLike) -> Array:
        """Sum of a value of each position of `ideal`, over as many as the rank at each position says."""
        ideal, length = self._ranking.ideal, self._ranking.length
        sums = self.ideal.joint(1.0, value)
        if np.array_equal(ideal.ptr, self._ranking.ptr):  # as many in the best order as in this one
            return sums
        last = np.minimum(self.rank, np.repeat(ideal.length, length))  # tied items go on past the last cutoff
        return sums[np.repeat(ideal.ptr[:-1], length) + last - 1]

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

        The value is multiplied by a function of the label, `by_label`; the weight by a function of the rank, `by_rank`,
        and divided by the rank with `over_rank`: as ``value * r.by_label(by_label)`` and
        ``weight * by_rank(r.rank) / r.rank`` are, but for the time to make arrays of these.
        """
        operands = value, weight, by_label, by_rank, over_rank
        if not self._keeps_results:
            return self._cumsum(*operands)
        return self._kept(("cumsum", self._cutoffs.tobytes()), self._cumsum, *operands)

    def _cumsum(
        self, value: ArrayLike, weight: ArrayLike, by_label: Callable[[Array], Array] | None,
        by_rank: Callable[[Index], Any] | None, over_rank: bool,
    ) -> Array:  # fmt: skip
        out = np.empty(self.shape[::-1]).T  # sums over queries read a cutoff at a time
        sums_kernels.cumsum(
            *self._values(value, by_label),
            self._one_or_flat(weight),
            None if by_rank is None else self._of_ranks(by_rank),
            over_rank,
            self._ranking.ptr,
            self._cutoffs,
            self._ranking.tie_end,
            out,
        )
        return out

    def _values(
        self, value: ArrayLike, by_label: Callable[[Array], Array] | None
    ) -> tuple[Array, NDArray[np.uint8] | None]:
        """Value of each item and None, or of each grade and the grade of each item."""
        if by_label is None:
            return self._one_or_flat(value), None
        if not (np.ndim(value) == 0 and value == 1):
            return self._one_or_flat(np.asarray(value) * self.by_label(by_label)), None
        values, grade = self._ranking.values_of_label(by_label)
        return (self._one_or_flat(values), None) if grade is None else (values, grade)

    def _of_ranks(self, function: Callable[[Index], Any]) -> Array:
        """A function of the rank at each rank of the longest list."""
        if not self._keeps_results:
            return self._by_rank(function)
        return self._kept("by_rank", self._by_rank, function)

    def _by_rank(self, function: Callable[[Index], Any]) -> Array:
        return np.asarray(function(np.arange(1, self._ranking.longest + 1)), dtype=np.float64)

    def cascade(self, p: ArrayLike, *, upwards: bool = False) -> Array:
        """Probability of each position to be the last one seen.

        A user goes down the list, or up from its end, and stops at an item with probability `p`:
        p_i * prod over j < i (upwards: j > i) of (1 - p_j).
        """
        return self._kept("cascade", self._cascade, p, upwards)

    def _cascade(self, p: ArrayLike, upwards: bool) -> Array:
        p, ranking, out = self._flat(p), self._ranking, np.empty(self._n_positions)
        room = np.empty((5 if upwards else 1, ranking.longest + 1))
        if upwards:
            self._refuse_ties_at_the_cutoff("cascade(upwards=True) of a formula")
            valid = cascade_kernels.cascade_upwards(p, None, ranking.ptr, ranking.tie_end, room, out)
        else:
            valid = cascade_kernels.cascade(p, None, ranking.ptr, ranking.tie_end, ranking.depth, room, out)
        if not valid:
            wrong = p[~((p >= 0) & (p <= 1))][0]
            raise ValueError(f"What cascade() of a formula takes must be probabilities, from 0 to 1. Got {wrong:g}.")
        return out

    def at_tie_end(self, x: Array) -> Array:
        """Value of `x` at the end of the tie block around each position."""
        ends = self._ranking.tie_ends
        return x if ends is None else x[ends - 1]

    def joint(self, x: ArrayLike, y: ArrayLike, most: Array | None = None) -> Array:
        """`x` of the item at each position times the sum of `y` over the items down to it, inclusive.

        `most` is what that sum counts for at most, a whole number for each query; x and y are then 0 or 1, and never
        both 1.
        """
        return self._kept("joint", self._joint, x, y, most)

    def _joint(self, x: ArrayLike, y: ArrayLike, most: Array | None) -> Array:
        out, most = np.empty(self._n_positions), None if most is None else most.ravel()
        x, y, ranking = self._one_or_flat(x), self._one_or_flat(y), self._ranking
        sums_kernels.joint(x, None, y, None, most, ranking.ptr, ranking.tie_end, None, out)
        return out

    def sums_of_means(self, *, of_labels: bool = False) -> Array:
        """Sum over the relevant items down to each cutoff: of the share of relevant items down to each, or mean label.

        Where labels are grades, no array of a number for each position is made.
        """
        known = self._ranking.sums_of_means(self._cutoffs, self._min_relevance, of_labels)
        if known is not None:
            return known
        value = self.label if of_labels else self.relevant
        return self._kept(("means", self._cutoffs.tobytes()), self._sums_of_means, self.relevant, value)

    def _sums_of_means(self, relevant: Array, value: Array) -> Array:
        out = np.empty(self.shape[::-1]).T
        sums_kernels.means_of_items(
            self._flat(relevant), self._flat(value), self._ranking.ptr, self._cutoffs, self._ranking.tie_end, out
        )
        return out

    def at_cutoff(self, x: ArrayLike) -> Array:
        """Value of `x` at the last position down to each cutoff; 0 for a list without a document."""
        start, length = self._ranking.ptr[:-1, None], self._ranking.length[:, None]
        last = start + np.minimum(self._cutoffs, length) - 1
        return np.where(length > 0, np.append(self._flat(x), 0.0)[last], 0.0)

    def highest(self, x: ArrayLike) -> Array:
        """Largest `x`, not below 0, of the positions down to each cutoff."""
        start, length = self._ranking.ptr[:-1, None], self._ranking.length[:, None]
        bounds = np.stack(np.broadcast_arrays(start, start + np.minimum(self._cutoffs, length)), axis=-1)
        highest = np.maximum.reduceat(np.append(self._flat(x), 0.0), bounds.ravel())[::2]
        return np.where(length > 0, highest.reshape(bounds.shape[:2]), 0.0)

    def overlap(self) -> Array:
        """Number of items down to each position that the ideal order has down to it too, equal labels being tied."""
        if self._ranking.unlisted is not None:
            raise ValueError(
                "overlap() of a formula reads the labels of all documents: declare reads_all_labels=True. "
                "Got documents without a row."
            )
        best = Ranking.by_label(self._ranking.row_label, self._ranking.indptr, NO_CUTOFF)
        out, count = np.empty(self._n_positions), np.empty((2, int(best.length.max(initial=0))), dtype=np.int64)
        ranking = self._ranking
        agreement_kernels.overlap(self.label, best.label, ranking.ptr, best.ptr, ranking.tie_end, count, out)
        return out

    def pairs(self) -> Pairs:
        """Number of pairs of items ranked as their labels are, the other way, or tied in score or label alone."""
        self._refuse_ties_at_the_cutoff("pairs() of a formula")
        ranking, out = self._ranking, np.empty((4, self.shape[0]))
        if ranking.grade is not None:
            agreement_kernels.pairs_of_grades(ranking.grade, ranking.ptr, ranking.tie_end, ranking.labels.highest, out)
        else:
            agreement_kernels.pairs(self.label, ranking.ptr, ranking.tie_end, out, *self._room())
        return Pairs(*out[..., None])

    def centred_ranks(self, x: ArrayLike) -> Array:
        """Rank of each item by `x`, highest first, equal ones sharing their mean rank, less the query's mean rank."""
        self._refuse_ties_at_the_cutoff("centred_ranks() of a formula")
        ranking, out = self._ranking, np.empty(self._n_positions)
        if ranking.has_all_ties and x is ranking.score:
            agreement_kernels.centred_ranks_of_ties(ranking.ptr, ranking.tie_end, out)
        elif ranking.grade is not None and x is self.label:
            agreement_kernels.centred_ranks_of_grades(ranking.grade, ranking.ptr, ranking.labels.highest, out)
        else:
            agreement_kernels.centred_ranks(self._flat(x), ranking.ptr, out, *self._room())
        return out

    def _room(self) -> tuple[Array, Array, Index, Index]:
        """Room to sort the longest query in."""
        longest = max(self._ranking.longest, 1)
        return np.empty(longest), np.empty(longest), *np.empty((2, longest), dtype=np.int64)

    @property
    def _n_positions(self) -> int:
        return int(self._ranking.ptr[-1])

    def _flat(self, x: ArrayLike) -> Array:
        x = self._one_or_flat(x)
        return x if len(x) == self._n_positions else np.full(self._n_positions, x[0])

    def _one_or_flat(self, x: ArrayLike) -> Array:
        """A number as an array of one, or an array of a number for each position."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim == 0:
            return x.reshape(1)
        if x.shape != (self._n_positions,):
            raise ValueError(
                "What a formula sums must be a number, or an array of one for each ranked document, "
                f"{self._n_positions} here; of_query spreads what each query has one of. Got shape {x.shape} instead."
            )
        return np.ascontiguousarray(x)
