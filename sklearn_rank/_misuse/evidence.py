"""Evidence about labels, scores and ids: small summaries of rows, which can be joined if rows come in parts.

Each part is examined once. An examination that needs a pass over the rows runs only if the summary from `read` does not
decide, and starts with the first queries.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence, Set
from dataclasses import replace
from operator import add, mul
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import queries_of
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index

Metrics = Mapping[str, Any]
Compute = Callable[[Queries, Sequence[Any]], list[PerQuery]]

ALL_KINDS = "labels ids qid scores retrieved arguments names"
"""All kinds of checks of rows."""

LEAST_DOCUMENTS = 3
"""Minimum number of documents of a query that counts as evidence."""

SAMPLE = 64
"""Number of queries to examine first, before all queries."""

GLANCED, GLANCED_ROWS = 16, 2**12
"""Number of documents per list for a quick look in plain Python, which is three times as fast as NumPy here."""

MOST_UNJUDGED = 0.1
"""Maximum share of unjudged documents in lists, of which all judged documents are relevant, for misuse."""

LEAST_NOT_RELEVANT = 0.05
"""Minimum share of judged documents with a label of 0 or below if judgments do not just name relevant documents."""

SAMPLED_ROWS = 2**12
"""Number of rows in which distinct values are counted."""

USUAL_Z = 2.0
"""Number of standard errors that a sample often deviates by chance."""

MOST_FRACTIONS = 64
"""Maximum number of distinct values to keep."""

MOST_GRADES = 10
"""Maximum range of whole numbers on a scale of grades or classes."""

HIGHEST_OF_SCALES = frozenset({99.0, 100.0, 999.0, 9999.0, 99999.0})
"""Placeholders of missing labels among grades, or the end of a scale in percent."""

STAND_INS = frozenset({"nan", "NaN", "None", "<NA>", "NaT"})
"""Texts that other libraries create from a missing id."""

LEAST_OTHER_IDS = 2
"""Minimum number of other ids to recognize -1 as a placeholder."""

LOWEST_INT = -(2**63)
"""Integer that NumPy creates from NaN."""

OF_MASK = frozenset({"False", "True"})
"""Texts of booleans."""

NONE_WORDS = (
    frozenset(
        spell(word)
        for word in ("null", "nil", "none", "na", "n/a", "#n/a", "undefined", r"\n")
        for spell in (str.lower, str.upper, str.title)
    )
    - STAND_INS
)
"""Texts that other programs write for a missing id, and that may be ids."""

ODD_TEXTS = STAND_INS | OF_MASK | NONE_WORDS | {"-1", str(LOWEST_INT)}
"""Texts that may be placeholders of a missing id, or booleans."""

BELOW_ZERO = re.compile(r"-[1-9]\d{0,18}")
"""Pattern of a negative integer."""

FIRST_OF_ODD = "nN<-FTuU#\\"
"""First characters of possible odd ids."""

HIGHEST_GRADE = 31
"""Highest grade that LightGBM and XGBoost accept with gains of 2**grade - 1."""


class Moments(NamedTuple):
    """Number, sum and sum of squares of agreements of queries, and the variance of the sum under chance."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0
    variance: float = 0.0

    @classmethod
    def of(cls, values: Array, variance: float = 0.0) -> Moments:
        """Compute the moments of values."""
        return cls(len(values), float(values.sum()), float((values**2).sum()), variance)

    def joined(self, other: Moments) -> Moments:
        """Combine two moments."""
        n, total, squares, variance = (a + b for a, b in zip(self, other, strict=True))
        return Moments(int(n), total, squares, variance)

    @property
    def z_by_chance(self) -> float:
        """Sum divided by its standard error under chance; 0 without variation."""
        return self.total / math.sqrt(self.variance) if self.variance else 0.0

    @property
    def z(self) -> float:
        """Mean divided by its standard error; 0 if both are unknown."""
        if self.n < 2 or self.squares == 0:
            return 0.0
        mean = self.total / self.n
        variance = max(self.squares / self.n - mean**2, 0.0) * self.n / (self.n - 1)
        return math.copysign(math.inf, mean) if variance == 0 else mean / math.sqrt(variance / self.n)


class LabelCounts(NamedTuple):
    """Numbers of judged documents, of irrelevant ones, of retrieved ones, and of those that are judged.

    `leaves_out` is 1 or more if the metrics that no order changes are those of judged and retrieved documents.
    """

    n_judged: int = 0
    n_not_relevant: int = 0
    n_listed: int = 0
    n_shown: int = 0
    leaves_out: int = 0

    @classmethod
    def of(cls, queries: Queries, leaves_out: bool) -> LabelCounts:
        """Count the documents of queries; zeros for labels by subtopic."""
        if queries.has_subtopics:
            return cls()
        label, listed = queries.grouping.take(queries.row_label), queries.grouping.take(queries.score) > -np.inf
        counted = (label == label, label <= 0, listed, (label == label) & listed)
        return cls(*(int(np.count_nonzero(one)) for one in counted))._replace(leaves_out=int(leaves_out))

    @property
    def judges_both(self) -> bool:
        """Whether some of the judged documents are not relevant, and judgments do not just name relevant ones."""
        return self.n_not_relevant >= LEAST_NOT_RELEVANT * self.n_judged


SETS_OF_EVIDENCE = ("unmoved", "fractions", "odd_ids", "full")
"""Attributes of `Evidence` that are sets."""

NO_MOMENTS = Moments()
NO_METRICS: frozenset[str] = frozenset()
NO_FRACTIONS: frozenset[float] = frozenset()
NO_IDS: frozenset[Any] = frozenset()


class Evidence(NamedTuple):
    """Summary of queries for the checks.

    Attributes
    ----------
    n_queries, n_lists, n_rows : int
        Queries, queries of three or more documents, and rows.
    lowest_label, highest_label, lowest_score, highest_score : float
    labels_are_whole, scores_are_whole : bool
    unmoved : frozenset of str or None
        Metrics that no order of the judged documents can change; None without a query.
    fractions : frozenset of float
        Up to `MOST_FRACTIONS` distinct fractional labels; filled only if all scores are whole numbers.
    is_tied : bool
        Whether a query has tied scores, computed only if labels have fractions and scores have none.
    are_ids : bool
        Whether labels and scores are whole numbers that differ in each list, and exceed its length.
    agreement : Moments
        Moments of the correlation of labels and scores in lists where both vary: in all queries, or in the first
        queries of a part.
    odd_ids : frozenset
        Query ids that may be placeholders for missing ids, or invalid, see `odd_ids`.
    highest_other : float
        Highest label, but for one of `HIGHEST_OF_SCALES`.
    full : frozenset of str
        Metrics whose cutoff contains every list, and that no order of a list can change.
    longest : int
        Length of the longest list of retrieved documents, computed only if a metric has a cutoff.
    counts : LabelCounts
    """

    n_queries: int = 0
    n_lists: int = 0
    n_rows: int = 0
    lowest_label: float = math.inf
    highest_label: float = -math.inf
    lowest_score: float = math.inf
    highest_score: float = -math.inf
    labels_are_whole: bool = True
    scores_are_whole: bool = True
    unmoved: frozenset[str] | None = None
    fractions: frozenset[float] = NO_FRACTIONS
    is_tied: bool = False
    are_ids: bool = False
    agreement: Moments = NO_MOMENTS
    odd_ids: frozenset[Any] = NO_IDS
    highest_other: float = -math.inf
    full: frozenset[str] = NO_METRICS
    longest: int = 0
    counts: LabelCounts = LabelCounts()

    @classmethod
    def of(
        cls, queries: Queries, metrics: Metrics, *, kinds: str = ALL_KINDS, agrees: bool = False,
        least_lists: int = 0,
    ) -> Evidence:  # fmt: skip
        """Collect the evidence of queries for given kinds of checks; `agrees`: compute the agreement in all queries."""
        # With fewer than `least_lists` lists, unmoved metrics are not computed.
        summary, size = queries.summary, _sizes(queries)
        n_lists = int(np.count_nonzero(size >= LEAST_DOCUMENTS))
        unmoved, fractions, is_tied, moments, leaves_out = NO_METRICS, NO_FRACTIONS, False, NO_MOMENTS, False
        low, high = label_range(queries)
        if "labels" in kinds and n_lists >= least_lists:
            unmoved, leaves_out = unmoved_metrics(queries, metrics)
        if "arguments" in kinds and not summary.labels_are_whole and have_few_values(queries):
            fractions, is_tied = _fractions(queries)
        are_ids = "arguments" in kinds and may_be_ids(queries) and are_different(queries)
        if (agrees or "scores" in kinds) and not queries.has_subtopics:
            drops = bool(metrics) and all(metric["unjudged"] == "drop" for metric in metrics.values())
            moments = agreement(queries, len(size) if agrees else SAMPLE, drops=drops)
        odd = odd_ids(queries.grouping.ids) if "qid" in kinds else NO_IDS
        return cls(
            len(size), n_lists, int(size.sum()), low, high, *summary.score_range, summary.labels_are_whole,
            summary.scores_are_whole, unmoved, fractions, is_tied, are_ids, moments, odd,
            _highest_other(queries.row_label, high),
            *((*full_lists(queries, metrics), LabelCounts.of(queries, leaves_out)) if "labels" in kinds else ()),
        )  # fmt: skip

    @property
    def constant(self) -> frozenset[str]:
        """Metrics that no order can change, unless judged documents are too few to know it."""
        # If only relevant documents are judged, most retrieved documents are unjudged, or lists are short.
        counts = self.counts
        least = max((1 - MOST_UNJUDGED) * counts.n_listed, LEAST_DOCUMENTS * self.n_queries)
        is_unknown = counts.leaves_out and (self.lowest_label == self.highest_label or counts.n_shown < least)
        return NO_METRICS if is_unknown or self.unmoved is None else self.unmoved

    def with_ids(self, ids: NDArray[Any]) -> Evidence:
        """Return the evidence with the ids of all queries, which parts know by their numbers."""
        return self._replace(odd_ids=odd_ids(ids))

    def to_json(self) -> str:
        """Convert the evidence to text, for a table."""
        sets = {name: sorted(getattr(self, name) or (), key=str) for name in SETS_OF_EVIDENCE}
        return json.dumps(self._asdict() | sets)

    @classmethod
    def from_json(cls, text: str) -> Evidence:
        """Read evidence from its text."""
        known = json.loads(text)
        sets = {name: frozenset(known[name]) for name in SETS_OF_EVIDENCE}
        tuples = {"agreement": Moments(*known["agreement"]), "counts": LabelCounts(*known["counts"])}
        return cls(**known | sets | tuples)

    def joined(self, other: Evidence) -> Evidence:
        """Combine two parts of evidence."""
        if self.unmoved is None or other.unmoved is None:
            return self if other.unmoved is None else other
        fractions = self.fractions or other.fractions
        if self.fractions and other.fractions:
            fractions = frozenset(sorted(self.fractions | other.fractions)[:MOST_FRACTIONS])
        return Evidence(
            self.n_queries + other.n_queries, self.n_lists + other.n_lists, self.n_rows + other.n_rows,
            min(self.lowest_label, other.lowest_label), max(self.highest_label, other.highest_label),
            min(self.lowest_score, other.lowest_score), max(self.highest_score, other.highest_score),
            self.labels_are_whole and other.labels_are_whole, self.scores_are_whole and other.scores_are_whole,
            self.unmoved & other.unmoved, fractions, self.is_tied or other.is_tied, self.are_ids and other.are_ids,
            self.agreement.joined(other.agreement), self.odd_ids | other.odd_ids,
            max(self.highest_other, other.highest_other), self.full & other.full, max(self.longest, other.longest),
            LabelCounts(*map(add, self.counts, other.counts)),
        )  # fmt: skip


def label_range(queries: Queries) -> tuple[float, float]:
    """Lowest and highest label of judged documents; the summary includes 0 for NaN, and for gaps in a matrix."""
    low, high = queries.summary.label_range
    if queries.summary.has_unjudged and queries.unlisted is None and low == 0 < high:
        grouping = queries.grouping
        for n in sorted({min(SAMPLE, grouping.n_queries), grouping.n_queries}):
            lowest = float(np.fmin.reduce(grouping.take(queries.row_label, 0, n), axis=None, initial=high))
            if lowest == 0:
                break
        return lowest, high
    if low != 0 or not queries.grouping.row_is_query or queries.summary.has_unjudged:
        return low, high
    unlisted = queries.unlisted
    others = queries.row_label[:0] if unlisted is None else unlisted.label[unlisted.count > 0]
    return float(min(queries.row_label.min(initial=high), others.min(initial=high))), high


def _highest_other(label: Array, high: float) -> float:
    """Highest label, but for one of `HIGHEST_OF_SCALES`."""
    return float(label[label < high].max(initial=-np.inf)) if high in HIGHEST_OF_SCALES else high


def _sizes(queries: Queries) -> Index:
    """Number of documents of each query, including documents without a row."""
    if queries.unlisted is None:
        return queries.grouping.sizes
    unlisted = queries.unlisted
    n_unlisted = np.bincount(unlisted.query, unlisted.count, unlisted.n_queries).astype(np.int64)
    return queries.grouping.sizes + n_unlisted


# --- ids -----------------------------------------------------------------------------------------------------


def odd_ids(ids: NDArray[Any]) -> frozenset[Any]:
    """Return ids that may be placeholders: up to two negative ids, words such as "nan", and masked entries."""
    kind, n = ids.dtype.kind, len(ids)
    if kind in "if":
        low = min(ids.tolist()) if n <= SAMPLE else ids.min()
        return NO_IDS if low >= 0 else frozenset(distinct_values(ids[ids < 0])[:2].tolist())
    if kind == "b":
        return frozenset(ids.tolist())
    if kind == "U" and n > SAMPLE:
        first = np.ascontiguousarray(ids).view(np.uint32).reshape(n, -1)[:, 0]
        ids = ids[np.isin(first, [*map(ord, FIRST_OF_ODD)])]
    return odd_texts(ids.tolist()) if kind in "UTO" else NO_IDS


def odd_texts(*lists: Collection[Any]) -> frozenset[str]:
    """Return texts that may be placeholders for missing ids or booleans; beside -1, two texts of negative numbers."""
    odd = frozenset(
        text for ids in lists for text in (filter(ids.__contains__, ODD_TEXTS) if isinstance(ids, (dict, Set)) else
        ODD_TEXTS.intersection(ids))
    )  # fmt: skip
    if "-1" not in odd:
        return odd
    texts = {one for ids in lists for one in ids if isinstance(one, str) and BELOW_ZERO.fullmatch(one)}
    return odd | {*sorted(texts)[:2]}


def are_mask(odd: frozenset[Any], n: int) -> bool:
    """Whether the `n` distinct ids are False and True, or their texts, given the odd ids."""
    return any(type(one) is bool for one in odd) or len(odd & OF_MASK) == n


def stand_in(odd: frozenset[Any], n: int) -> Any:
    """Return the placeholder of a missing id among `n` distinct ids, given the odd ids; None if there is none."""
    # A negative number is a placeholder if it is the only negative id, and there are at least two other ids.
    texts = odd & STAND_INS
    others = odd - STAND_INS - OF_MASK - NONE_WORDS
    numbers = {int(one) if type(one) is str else one: one for one in others if type(one) is not bool}
    if LOWEST_INT in numbers:
        return numbers[LOWEST_INT]
    return min(texts) if texts else numbers[-1] if [*numbers] == [-1] and n > LEAST_OTHER_IDS else None


# --- metrics that do not depend on the order -------------------------------------------------------------------


_compute: Compute


def compute_with(function: Compute) -> None:
    """Set the function that computes metrics; its module, on a higher floor, calls this on import."""
    global _compute
    _compute = function


def unmoved_metrics(queries: Queries, metrics: Metrics) -> tuple[frozenset[str], bool]:
    """Metrics that no order of the judged documents can change, and whether this leaves out other documents."""
    has_one, (low, high) = one_label_each(queries), label_range(queries)
    candidates = {
        name: metric for name, metric in metrics.items()
        if reads_order(metric) and (has_one or all_on_one_side(low, high, metric))
    }  # fmt: skip
    if not candidates:
        return NO_METRICS, False
    is_partial = queries.unlisted is None and (queries.summary.has_unjudged or queries.summary.has_unretrieved)
    all_relevant = low < high and any(low >= metric["min_relevance"] for metric in candidates.values())
    leaves_out = is_partial and (all_relevant or low == high > 0)
    # If only relevant documents are judged, the others may be not relevant: `constant` decides with all documents.
    if leaves_out and low == high:
        return frozenset(candidates), True
    if leaves_out:
        queries = _judged_and_retrieved(queries)
    elif low == high > 0 and queries.summary.has_unjudged:
        return NO_METRICS, False
    # Queries with a single document have no order, and the same label has one order if all documents are retrieved.
    n_queries = queries.grouping.n_queries if len(queries.row_label) else 0
    if n_queries >= len(queries.row_label) and queries.unlisted is None:
        return NO_METRICS if queries.summary.has_unretrieved else frozenset(candidates), leaves_out
    summary = queries.summary
    if low == high and not (summary.has_unjudged or summary.has_unretrieved or queries.unlisted):
        return frozenset(candidates), leaves_out
    for part in [first_queries(queries, SAMPLE), queries] if n_queries > SAMPLE else [queries]:
        candidates = {name: candidates[name] for name in unmoved_by_order(part, candidates)}
        if not candidates:
            break
    return frozenset(candidates), leaves_out


def _judged_and_retrieved(queries: Queries) -> Queries:
    """Queries without unjudged and unretrieved documents."""
    grouping = queries.grouping
    label, listed = grouping.take(queries.label), grouping.take(queries.score) > -np.inf
    counts = listed & (label == label)
    sizes = np.diff(np.append(0, np.cumsum(counts))[grouping.indptr])
    score = np.arange(float(np.count_nonzero(counts)))
    return queries_of(label[counts], score, Grouping.by_sizes(sizes[sizes > 0]))


def reads_order(metric: Any) -> bool:
    """Whether a metric reads only the order of documents."""
    entry: Any = metric.metric
    return not (entry.pointwise or entry.reads_scores or entry.subtopics)


def all_on_one_side(low: float, high: float, metric: Any) -> bool:
    """Whether all labels are relevant, or no label is, for a metric that reads relevance."""
    return bool(low >= metric["min_relevance"] or high < metric["min_relevance"]) and reads_relevance(metric)


def may_be_constant(queries: Queries, metrics: Metrics) -> bool:
    """Whether no order may change a metric; a quick test. Judgments that only name relevant documents are usual."""
    low, high = label_range(queries)
    if queries.summary.has_unjudged and low == high > 0:
        return False
    return one_label_each(queries) or any(all_on_one_side(low, high, metric) for metric in metrics.values())


def reads_relevance(metric: Any) -> bool:
    """Whether a metric depends on `min_relevance`; tested once and stored with the metric."""
    known: dict[str, Any] = vars(metric)
    if "reads_relevance" not in known:
        # Metrics are frozen dataclasses.
        known["reads_relevance"] = reads_order(metric) and _changes_with_relevance(metric)
    return bool(known["reads_relevance"])


def _changes_with_relevance(metric: Any) -> bool:
    """Whether values for labels 0, 0.5 and 1 change with `min_relevance`; False if the metric refuses the labels."""
    # One query has no label of 1, so that a metric with a cutoff beyond the list length changes as well.
    label = np.array([0, 0.5, 1, 0, 0.5, 0, 0, 0.5, 0, 0.5])
    queries = queries_of(label, np.arange(10.0), Grouping.by_sizes(np.array([5, 5])))
    given = [replace(metric, keywords={**metric.keywords, "min_relevance": least}) for least in (0.25, 1.0)]
    try:
        low, high = [values.values() for values in _compute(queries, given)]
    # A formula may raise any exception for labels that it does not support.
    except Exception:
        return False
    return not np.array_equal(low, high, equal_nan=True)


def first_labels_differ(queries: Queries) -> bool:
    """Whether the first documents of the first query have different grades; this is the fastest test."""
    if queries.grouping.order is not None or queries.row_label.ndim == 2:
        return False
    first = queries.row_label[: min(queries.grouping.indptr[1], SAMPLE)].tolist()
    return first.count(first[0]) < len(first)


def one_label_each(queries: Queries) -> bool:
    """Whether each query has a single label."""
    if queries.has_subtopics or queries.unlisted is not None or queries.summary.has_unjudged:
        low, high = queries.summary.label_range if queries.summary.has_unjudged else label_range(queries)
        return low == high
    if first_labels_differ(queries):
        return False
    if queries.summary.label_range[0] == queries.summary.label_range[1]:
        return True
    grouping = queries.grouping
    for n in sorted({min(SAMPLE, grouping.n_queries), grouping.n_queries}):
        label, indptr = grouping.take(queries.row_label, 0, n), grouping.indptr[: n + 1]
        if (np.maximum.reduceat(label, indptr[:-1]) != np.minimum.reduceat(label, indptr[:-1])).any():
            return False
    return True


def full_lists(queries: Queries, metrics: Metrics) -> tuple[frozenset[str], int]:
    """Metrics whose cutoff contains every list and that no order of a list can change, and the longest list."""
    cuts = {name: k for name, metric in metrics.items() if (k := getattr(metric, "k", None)) is not None}
    if queries.has_subtopics or not cuts:
        return NO_METRICS, 0
    longest = int(queries.longest)
    if queries.summary.has_unretrieved or queries.unlisted is not None:
        # Queries may have no row.
        n_retrieved = np.concatenate([[0], np.cumsum(queries.grouping.take(queries.score > -np.inf))])
        longest = int(np.diff(n_retrieved[queries.grouping.indptr]).max())
    within = {
        name: metrics[name] for name, k in cuts.items() if np.min(k) >= longest > 1 and reads_order(metrics[name])
    }
    some = first_queries(queries, min(SAMPLE, queries.grouping.n_queries)) if within else queries
    return frozenset(unmoved_by_order(some, within, of_lists=True) if within else ()), longest


def unmoved_by_order(queries: Queries, metrics: Metrics, *, of_lists: bool = False) -> list[str]:
    """Metrics with the same value for the best and the worst order of every query."""
    # If some documents were not retrieved, the choice of retrieved documents matters: then the value must also be the
    # same without any retrieved document, or with `of_lists` the retrieved documents stay.
    orders = [_ordered(queries, label, sign) for label in _known_labels(queries) for sign in (1, -1)]
    if of_lists and queries.summary.has_unretrieved:
        lists = [np.where(queries.score > -np.inf, one.score, -np.inf) for one in orders]
        orders = [
            queries.with_scores(x, one.summary._replace(has_unretrieved=True))
            for x, one in zip(lists, orders, strict=True)
        ]
    elif queries.summary.has_unretrieved:
        nothing = queries.summary._replace(score_range=(np.inf, -np.inf))
        orders.append(queries.with_scores(np.full(len(queries.score), -np.inf), nothing))
    first, *others = [[values.values() for values in _compute(part, [*metrics.values()])] for part in orders]
    return [
        name for i, name in enumerate(metrics)
        if all(np.allclose(first[i], other[i], rtol=1e-12, atol=0, equal_nan=True) for other in others)
    ]  # fmt: skip


def _known_labels(queries: Queries) -> list[Array]:
    """Labels; if some are unknown, once with the unknown labels below all others, and once above."""
    label = queries.label
    if not queries.summary.has_unjudged:
        return [label]
    return [np.nan_to_num(label, nan=end) for end in (-np.inf, np.inf)]


def _ordered(queries: Queries, label: Array, sign: int) -> Queries:
    """Sort the queries best first, or worst first with sign -1; all documents are retrieved, without ties."""
    rows = np.arange(len(label))
    rank = np.empty(len(label))
    rank[np.lexsort((sign * rows, sign * label))] = rows
    summary = queries.summary._replace(
        has_unretrieved=False, scores_are_whole=True, score_range=(0.0, len(label) - 1.0)
    )
    return queries.with_scores(rank, summary)


def first_queries(queries: Queries, n: int) -> Queries:
    """The first `n` queries."""
    grouping = queries.grouping
    label, score = (grouping.take(x, 0, n) for x in (queries.row_label, queries.score))
    weight = None if queries.weight is None else queries.weight[:n]
    unlisted = None if queries.unlisted is None else queries.unlisted.of_queries(0, n)
    return replace(
        queries, row_label=label, score=score, grouping=grouping.first_queries(n), weight=weight, unlisted=unlisted
    )


# --- labels and scores ---------------------------------------------------------------------------------------


def _head(queries: Queries) -> tuple[NDArray[Any], Array, Index]:
    """Labels, scores and query numbers of the first rows, by query."""
    grouping = queries.grouping
    n = max(grouping.query_at(SAMPLED_ROWS), 1)
    label, score = (grouping.take(x, 0, n) for x in (queries.row_label, queries.score))
    return label, score, np.repeat(np.arange(n), grouping.sizes[:n])


def have_few_values(queries: Queries) -> bool:
    """Whether scores are a few whole numbers."""
    low, high = queries.summary.score_range
    return queries.summary.scores_are_whole and high - low <= MOST_GRADES and not queries.has_subtopics


def _fractions(queries: Queries) -> tuple[frozenset[float], bool]:
    """Distinct fractional labels, and whether a query has tied scores, in the first rows."""
    label, score, query = _head(queries)
    different = distinct_values(label[label % 1 > 0])[:MOST_FRACTIONS]
    return frozenset(different.tolist()), _are_repeated(score, query)


def _are_repeated(x: NDArray[Any], query: Index) -> bool:
    """Whether a query has equal values."""
    order = np.lexsort((x, query))
    return bool(((np.diff(query[order]) == 0) & (x[order][1:] == x[order][:-1])).any())


def may_be_ids(queries: Queries) -> bool:
    """Whether labels and scores of lists are whole numbers up to twice the length of a list; a quick test."""
    summary, longest = queries.summary, queries.longest
    are_whole = summary.labels_are_whole and summary.scores_are_whole and not summary.has_unretrieved
    (low, high), (lowest, highest) = summary.label_range, summary.score_range
    are_many = min(low, lowest) >= 0 and min(high, highest) >= 2 * longest >= 2 * LEAST_DOCUMENTS
    return are_whole and are_many and not (summary.has_unjudged or queries.has_subtopics)


def are_different(queries: Queries) -> bool:
    """Whether no list of the first rows has equal labels or equal scores, and scores are no copy of the labels."""
    label, score, query = _head(queries)
    return not (_are_repeated(label, query) or _are_repeated(score, query) or np.array_equal(label, score))


def may_run_against(queries: Queries) -> bool:
    """Whether scores of the first queries may contradict their labels; a quick test before `agreement`."""
    if queries.has_subtopics:
        return False
    grouping = queries.grouping
    n = min(grouping.n_queries, SAMPLE)
    if grouping.order is None and len(queries.row_label) <= GLANCED_ROWS and _some_agree(queries, n):
        return False
    if not (queries.summary.has_unjudged or queries.summary.has_unretrieved):
        starts = grouping.indptr[:n]
        label, score = (grouping.take(x, 0, n) for x in (queries.row_label, queries.score))
        of_label = np.add.reduceat(label, starts, dtype=np.float64)
        mean_label = of_label / np.diff(grouping.indptr[: n + 1])
        # Sums of very large scores may be infinite; then `agreement` decides.
        with np.errstate(over="ignore", invalid="ignore"):
            if np.dot(label, score) >= np.dot(mean_label, np.add.reduceat(score, starts)):
                return False
    return agreement(queries, n).z_by_chance < -USUAL_Z


def _some_agree(queries: Queries, n: int) -> bool:
    """Whether scores increase with labels in some of the first `n` lists, judging by their first documents."""
    ends, covariance = queries.grouping.indptr[: n + 1].tolist(), 0.0
    for query in {0, n // 2, n - 1}:
        start, stop = ends[query], min(ends[query + 1], ends[query] + GLANCED)
        label, score = queries.row_label[start:stop].tolist(), queries.score[start:stop].tolist()
        if queries.summary.has_unjudged or queries.summary.has_unretrieved:
            listed = [(x if x == x else 0.0, y) for x, y in zip(label, score, strict=True) if y > -math.inf]
            label, score = zip(*listed, strict=True) if listed else ([0], [0])
            stop = start + len(label)
        covariance += sum(map(mul, label, score)) - sum(label) * sum(score) / (stop - start)
    return covariance > 0


def agreement(queries: Queries, n: int, *, drops: bool = False) -> Moments:
    """Moments of the agreement in the first `n` queries; `drops`: unjudged documents are left out."""
    grouping = queries.grouping
    n = min(n, grouping.n_queries)
    low, high = queries.summary.label_range
    if queries.longest < LEAST_DOCUMENTS or (low == high and not queries.summary.has_unjudged):
        return NO_MOMENTS
    label, score = (grouping.take(x, 0, n).astype(np.float64) for x in (queries.row_label, queries.score))
    if drops:
        score = np.where(label == label, score, -np.inf)
    return moments_of(label, score, grouping.first_queries(n))


def moments_of(label: Array, score: Array, grouping: Grouping) -> Moments:
    """Moments of the correlation of labels and scores of judged, retrieved documents, in lists where both vary."""
    # Over all orders of the documents, the correlation has mean 0 and variance 1 / (n - 1). In a pool, the low
    # documents of a list may be judged only because another system found them, so they are more relevant than others.
    # Therefore the correlation counts unjudged documents with label 0 if that yields a higher value, or judged labels
    # are equal.
    listed, judged = np.isfinite(score), label == label
    if not grouping.sizes.all():
        grouping = Grouping.by_sizes(grouping.sizes[grouping.sizes > 0])
    if not len(label):
        return NO_MOMENTS
    values = _correlations(label, score, listed & judged, grouping)
    n = grouping.reduce((listed & judged).astype(np.int64))
    if not judged.all():
        n = np.where(np.isfinite(values), n, grouping.reduce(listed.astype(np.int64)))
        values = np.fmax(values, _correlations(np.nan_to_num(label), score, listed, grouping))
    varies = np.isfinite(values) & (n >= LEAST_DOCUMENTS)
    return Moments.of(values[varies], float((1 / (n[varies] - 1)).sum()))


def _correlations(label: Array, score: Array, counts: NDArray[np.bool_], grouping: Grouping) -> Array:
    """Correlation over the counted documents of each list; not finite if labels or scores are constant."""
    n, sizes, total = np.maximum(grouping.reduce(counts.astype(np.float64)), 1.0), grouping.sizes, grouping.reduce

    def centered(x: Array) -> Array:
        x = np.where(counts, x, 0.0)
        return np.where(counts, x - np.repeat(total(x) / n, sizes), 0.0)

    with np.errstate(all="ignore"):
        label, score = centered(label), centered(score)
        return np.asarray(total(label * score) / np.sqrt(total(label**2) * total(score**2)))
