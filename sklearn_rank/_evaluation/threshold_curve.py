"""Quality of the set of documents above a threshold, for all thresholds in a single pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import THRESHOLDS
from sklearn_rank._data.look import look, look_at_rows
from sklearn_rank._engine.grouping import sort_by_number
from sklearn_rank._engine.label_checks import check_labels, check_one_label
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.read import read
from sklearn_rank._metric.keywords import SHARED
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.read_only import ReadOnlyArrays
from sklearn_rank._utils.table import Table
from sklearn_rank._utils.typing import Array, Index, MatrixLike

MOST_PRINTED = 11


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCurve(ReadOnlyArrays):
    """Quality of answers by score threshold, returned by `threshold_curve`.

    All attributes are ndarrays of shape (n_thresholds,). A query is answerable if it has a relevant document.

    Attributes
    ----------
    threshold : ndarray
        Thresholds in ascending order. The answer contains the documents with a score above the threshold; -inf: all
        retrieved documents.
    precision, recall, f : ndarray
        Means over answerable queries of the precision of the answer, its recall, and their harmonic mean. An empty
        answer counts as 0.
    empty : ndarray
        Share of the answerable queries whose answer is empty.
    answered : ndarray
        Share of the other queries whose answer is not empty; NaN if all are answerable.

    Examples
    --------
    >>> from sklearn_rank.retrieval import threshold_curve
    >>> curve = threshold_curve([1, 0, 0], [0.9, 0.4, 0.6], qid=["a", "a", "b"])
    >>> curve.threshold[curve.f.argmax()].item(), curve.empty, curve.answered
    (0.4, array([0., 0., 0., 1.]), array([1., 1., 0., 0.]))
    """

    threshold: Array
    precision: Array
    recall: Array
    f: Array
    empty: Array
    answered: Array

    @property
    def table(self) -> Table:
        """Values at up to 11 thresholds, including the one with the highest F, which the note names.

        "missed": answerable queries with an empty answer. "false answers": answers to queries that are not answerable.
        """
        best = int(self.f.argmax())
        chosen = distinct_values([best, *np.linspace(0, len(self.f) - 1, MOST_PRINTED - 1).round().astype(np.int64)])
        columns = (self.threshold, self.precision, self.recall, self.f, self.empty, self.answered)
        rows = zip(*(column[chosen].tolist() for column in columns), strict=True)
        note = f"highest F: {self.f[best]:.4f}, of documents above {self.threshold[best]:.4g}"
        return Table(("above", "precision", "recall", "F", "missed", "false answers"), tuple(rows), note=note)

    def __repr__(self) -> str:
        """Number of thresholds, and the table."""
        return f"ThresholdCurve of {len(self.threshold)} thresholds\n{self.table}"


@named_arguments
def threshold_curve(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    qid: ArrayLike | None = None,
    k: int | None = None,
    min_relevance: float = 1,
    unjudged: str | None = None,
) -> ThresholdCurve:
    """Compute precision and recall of the documents above a threshold, and empty answers, at all thresholds.

    Use it for systems that return only documents with a sufficient score, or no answer. Scores must be comparable
    between queries. The values at a threshold are the means of the metrics ``set_precision``, ``set_recall`` and
    ``set_f`` over the queries with a relevant document.

    Parameters
    ----------
    y_true : array-like of shape (n_samples,)
        Relevance of each document to its query.
    y_score : array-like of shape (n_samples,)
        Output of the model, higher ranks first; -inf: not retrieved.
    qid : array-like of shape (n_samples,), default=None
        Query of each row, see `sklearn_rank.evaluate`.
    k : int, default=None
        Maximum number of documents in an answer: the first k above the threshold. If scores at the cutoff are tied, the
        means are expectations over their orders. None: all.
    min_relevance : float, default=1
        A document is relevant if its label is at least `min_relevance`.
    unjudged : {"nonrelevant", "drop"} or None, default=None
        How to treat NaN labels: as label 0, or as if the document had not been ranked. None: an error.

    Returns
    -------
    ThresholdCurve
        Curve with `threshold`, `precision`, `recall`, `f`, `empty` and `answered`.

    Raises
    ------
    ValueError
        If no query has a relevant document, labels are NaN and `unjudged` is None, or the data are invalid.

    References
    ----------
    P. Rajpurkar, R. Jia and P. Liang, "Know What You Don't Know: Unanswerable Questions for SQuAD", ACL 2018, choose a
    threshold for answers in this way.

    Examples
    --------
    Query "a" has a relevant document, "b" has none. Above 0.6 only the relevant document is left:

    >>> from sklearn_rank.retrieval import threshold_curve
    >>> curve = threshold_curve([1, 0, 0], [0.9, 0.4, 0.6], qid=["a", "a", "b"])
    >>> curve.threshold
    array([-inf,  0.4,  0.6,  0.9])
    >>> curve.precision, curve.recall
    (array([0.5, 1. , 1. , 0. ]), array([1., 1., 1., 0.]))
    """
    name = "threshold_curve"
    if k is not None:
        COUNT("k", k, name)
    for keyword, value in (("min_relevance", min_relevance), ("unjudged", unjudged)):
        SHARED[keyword][1](keyword, value, name)
    queries = read(y_true, y_score, qid=qid)
    check_one_label(queries, name)
    check_labels(
        queries, name, low=None, high=None, scale="", takes_gain=False, unjudged=unjudged, reads_unjudged=False,
        min_relevance=min_relevance,
    )  # fmt: skip
    _look(queries, y_true, y_score, {"min_relevance": min_relevance, "unjudged": unjudged})
    queries = queries.in_order()
    label, score = queries.label, queries.score
    number = queries.grouping.query_of_row
    if unjudged == "drop":
        judged = ~np.isnan(label)
        label, score, number = label[judged], score[judged], number[judged]
    relevant = label >= min_relevance
    n_relevant = np.bincount(number, relevant, queries.grouping.n_queries)
    if not n_relevant.any():
        raise ValueError(
            f"A curve of thresholds needs a query with a relevant document, of label {min_relevance:g} or more. "
            f"Got none in {len(n_relevant)} queries."
        )
    return _curve(relevant, score, number, n_relevant, np.inf if k is None else k)


def _look(queries: Queries, y_true: Any, y_score: Any, keywords: dict[str, Any]) -> None:
    """Check the rows for misuse, for a metric that reads who is relevant as the curve does."""
    metric = parse_metric("map", **{name: value for name, value in keywords.items() if value is not None})
    look_at_rows(THRESHOLDS, queries, {"threshold_curve": metric}, y_true=y_true, y_score=y_score)
    look(THRESHOLDS, copies=(queries.score[:, None], queries.label, "y_score"))


def _curve(
    relevant: NDArray[np.bool_], score: Array, number: Index, n_relevant: NDArray[Any], k: float
) -> ThresholdCurve:
    """The curve of rows with the number of their query."""
    by_score = np.argsort(score, kind="stable")
    by_score = by_score[np.searchsorted(score, -np.inf, side="right", sorter=by_score) :]
    levels, level = _distinct_sorted(score[by_score])
    # One sort serves both: rows fall by score, then are dealt to their queries.
    by_query = sort_by_number(number[by_score[::-1]].astype(np.uint32), len(n_relevant), None, len(by_score), None)[1]
    rows, level = by_score[::-1][by_query], level[::-1][by_query]
    number = number[rows]
    # Documents of one query and score come and go together.
    starts = np.flatnonzero(np.append(True, (np.diff(number) != 0) | (np.diff(level) != 0))[: len(rows)])
    size, hits = np.diff(starts, append=len(rows)), np.add.reduceat(np.append(relevant[rows], 0.0), starts)
    level, number = level[starts], number[starts]
    first = np.append(True, np.diff(number) > 0)[: len(starts)]
    taken = np.asarray(size, dtype=np.float64)
    if k < np.inf:
        taken = np.clip(k - _sum_within(size, first) + size, 0, size)
        chosen = taken > 0
        level, number, first = level[chosen], number[chosen], first[chosen]
        hits, taken = (hits * taken / size)[chosen], taken[chosen]
        is_level = np.bincount(level, minlength=len(levels)) > 0
        levels, level = levels[is_level], (np.cumsum(is_level) - 1)[level]
    hits, n = _sum_within(hits, first), _sum_within(taken, first)
    answerable = n_relevant > 0
    n_answerable, n_others = np.count_nonzero(answerable), np.count_nonzero(~answerable)

    def summed(change: NDArray[Any], of: NDArray[np.bool_], at: Any = slice(None)) -> Array:
        """Sum over all queries at each threshold, from the change that each level, or each of those `at`, makes."""
        change = change if of.all() else np.where(of[number[at]], change, 0.0)
        by_level = np.bincount(level[at], change, len(levels))
        return np.append(np.cumsum(by_level[::-1])[::-1], 0.0)

    def mean(value: NDArray[Any]) -> Array:
        change = np.diff(value, prepend=0.0)
        change[first] = value[first]
        return np.clip(summed(change, answerable) / n_answerable, 0.0, 1.0)

    with np.errstate(invalid="ignore"):
        answered = summed(np.ones(first.sum()), ~answerable, first) / n_others
    wanted = n_relevant[number]
    return ThresholdCurve(
        np.append(-np.inf, levels), mean(hits / n), mean(hits / np.maximum(wanted, 1)), mean(2 * hits / (wanted + n)),
        1 - summed(np.ones(first.sum()), answerable, first) / n_answerable, answered,
    )  # fmt: skip


def _distinct_sorted(values: Array) -> tuple[Array, Index]:
    """Different values of sorted ones, and the number of each value."""
    is_new = np.append(True, np.diff(values) > 0)[: len(values)]
    return values[is_new], np.cumsum(is_new) - 1


def _sum_within(value: NDArray[Any], first: NDArray[np.bool_]) -> NDArray[Any]:
    """Running sum that begins again at each `first`."""
    total, starts = np.cumsum(value), np.flatnonzero(first)
    before = np.append(0, total)[starts]
    return total - np.repeat(before, np.diff(starts, append=len(value)))
