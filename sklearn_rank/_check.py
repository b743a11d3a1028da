"""User input in, contiguous float64 arrays by query out.

The only module that judges data and words the errors about it. It knows nothing of ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank import _kernels
from sklearn_rank._threads import check_n_jobs, for_each, row_blocks
from sklearn_rank._unlisted import Unlisted

Array = NDArray[np.float64]
Index = NDArray[np.int64]


class NoSuchRow(Exception):
    """A fault was found with documents that have no row."""


@dataclass(frozen=True)
class Queries:
    """Checked input, rows of a query adjacent, queries in order of first appearance.

    `order` is the input row of each row, None where the input was grouped already. `label` has a second axis if there
    are several labels a row, one for each subtopic. `unlisted` are documents without a row; `tie_ends` are where runs
    of equal scores end, known where the rows of each query stand by falling score already. `first_query` is the number
    of the first query where a row of the input is a query.
    """

    label: Array
    score: Array
    indptr: Index
    qid: NDArray[Any]
    order: Index | None
    weight: Array | None
    label_range: tuple[float, float]
    has_unjudged: bool
    has_unretrieved: bool
    unlisted: Unlisted | None = None
    tie_ends: Index | None = None
    first_query: int | None = None

    @cached_property
    def longest(self) -> int:
        """Most rows that a query has, counting what its ideal list may hold besides."""
        length = np.diff(self.indptr)
        return int((length if self.unlisted is None else length + self.unlisted.n_kept[:, 0]).max())

    def first_row(self, found: NDArray[np.bool_]) -> int:
        """Input row of the first row that a check found fault with.

        Raises
        ------
        NoSuchRow
            If what it found fault with is unlisted.
        """
        if not found.any():
            raise NoSuchRow
        row = int(np.argmax(found if found.ndim == 1 else found.any(axis=1)))
        if self.first_query is not None:
            return self.first_query + int(np.searchsorted(self.indptr, row, side="right")) - 1
        return row if self.order is None else int(self.order[row])


# --- the query of each row -----------------------------------------------------------------------------------

NO_QID = (
    "Ranking metrics are computed query by query, so the query of each row must be known: pass qid=, or give "
    "{y} as a pandas Series whose index has a level named 'qid'. Got neither."
)


def find_qid(y: Any, qid: Any = None, *, name: str = "y_true") -> Any:
    """Query of each row: `qid` if given, else the level "qid" of y's index; never silently one query."""
    if qid is not None:
        return qid
    index = getattr(y, "index", None)
    if index is not None and "qid" in (getattr(index, "names", None) or ()):
        return index.get_level_values("qid")
    raise ValueError(NO_QID.format(y=name))


def group_rows(qid: Any, n_rows: int, n_jobs: int | None = None) -> tuple[NDArray[Any], Index, Index | None]:
    """Group rows by query, queries in order of first appearance.

    Returns
    -------
    ids : ndarray of shape (n_queries,)
    indptr : ndarray of shape (n_queries + 1,)
        Where each query starts once its rows are adjacent.
    order : ndarray of shape (n_rows,) or None
        Rows in that order; None if they are adjacent already.
    """
    ids = _id_array(qid, n_rows)
    try:
        starts = _starts(ids, n_jobs)
        heads = ids[starts]
        code, first = _factorize(heads)
    except TypeError as error:
        raise ValueError(f"Query ids must be hashable, and qid must not contain missing values. Got {error}.") from None
    _refuse_missing(heads[first])
    if len(first) == len(heads):
        return heads, np.append(starts, n_rows), None
    code = np.repeat(code, np.diff(np.append(starts, n_rows)))
    indptr, order = np.zeros(len(first) + 1, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    _kernels.group_rows(code, indptr, order)
    return heads[first], indptr, order


def _starts(ids: NDArray[Any], n_jobs: int | None) -> Index:
    """First row of each run of equal ids."""

    def find(start: int, stop: int) -> Index:
        start = max(start, 1)
        return np.flatnonzero(ids[start:stop] != ids[start - 1 : stop - 1]) + start

    return np.concatenate([[0], *for_each(find, row_blocks(len(ids)), n_jobs)])


def _id_array(qid: Any, n_rows: int) -> NDArray[Any]:
    if isinstance(qid, (list, tuple)):
        ids = np.empty(len(qid), dtype=object)  # NumPy would stack tuples, and turn 1 beside "1" into "1"
        ids[:] = qid
        if not any(isinstance(q, (str, tuple)) for q in qid) or all(isinstance(q, str) for q in qid):
            ids = np.asarray(qid)
    else:
        ids = np.asarray(qid)
    if ids.ndim != 1:
        raise ValueError(f"qid must be one-dimensional, the query of each row. Got shape {ids.shape} instead.")
    if len(ids) == n_rows:
        return ids
    message = f"qid must name the query of each row, so it needs {n_rows} entries. Got {len(ids)} instead."
    if ids.dtype.kind in "iu" and ids.sum() == n_rows:
        message += " Its sum is the number of rows: for group sizes use qid=qid_from_group_sizes(sizes)."
    elif len(ids) < n_rows:
        message += " With one id per group, repeat each id as often as its group has rows: np.repeat(ids, sizes)."
    raise ValueError(message)


def _factorize(heads: NDArray[Any]) -> tuple[Index, Index]:
    """Number the distinct values in order of first appearance: code of each entry, first entry of each code."""
    if heads.dtype == object:
        seen: dict[Any, int] = {}
        code = np.fromiter((seen.setdefault(q, len(seen)) for q in heads.tolist()), np.int64, len(heads))
        return code, np.unique(code, return_index=True)[1]
    if len(heads) == 1 or (heads.dtype.kind in "iu" and np.all(heads[1:] > heads[:-1])):
        return (count := np.arange(len(heads))), count
    _, first, code = np.unique(heads, return_index=True, return_inverse=True)
    by_appearance = np.argsort(first)
    number = np.empty_like(by_appearance)
    number[by_appearance] = np.arange(len(first))
    return number[code], first[by_appearance]


def _refuse_missing(ids: NDArray[Any]) -> None:
    missing = (q is None for q in ids.tolist()) if ids.dtype == object else iter(())
    if any(missing) or (ids.dtype.kind in "fcmMO" and (ids != ids).any()):
        raise ValueError("Every row needs a query, so qid must not contain missing values. Got None or NaN.")


# --- the three arrays ----------------------------------------------------------------------------------------


def check_queries(
    y_true: Any,
    y_score: Any,
    *,
    qid: Any = None,
    sample_weight: Any = None,
    tie_break: Any = None,
    n_jobs: int | None = None,
) -> Queries:
    """Check the user's arrays and group their rows by query.

    Raises
    ------
    ValueError
        If lengths differ, qid is missing or not one id per row, a score is NaN or +inf, a label is infinite,
        or a weight is negative or varies inside a query.
    TypeError
        If labels, scores or weights are not real numbers.
    """
    check_n_jobs(n_jobs)
    label, score = _floats(y_true, "y_true"), _floats(y_score, "y_score")
    if label.ndim == 2 and score.ndim == 2:
        return _check_matrix(label, score, qid, sample_weight, tie_break, n_jobs)
    if score.ndim != 1:
        raise ValueError(
            "y_score must be one score per row where y_true is one label per row. "
            f"Got shape {score.shape} instead; for class probabilities wrap the classifier in QueryRanker, "
            "which ranks by the expected grade."
        )
    if len(label) != len(score):
        raise ValueError(
            f"y_true and y_score must have one entry per row. Got {len(label)} and {len(score)} entries instead."
        )
    if len(label) == 0:
        raise ValueError("At least one row is needed. Got empty y_true and y_score.")
    if label.size == 0:
        raise ValueError(f"At least one subtopic is needed, a column of y_true. Got shape {label.shape} instead.")
    ids, indptr, order = group_rows(find_qid(y_true, qid), len(label), n_jobs)
    weight = None
    if sample_weight is not None:
        weight = query_weight(sample_weight, ids, indptr, order)
    if tie_break is not None:
        order = _tie_order(tie_break, score.shape, indptr, order)
    if order is not None:
        label, score = label[order], score[order]
    return _checked(label, score, indptr, ids, order, weight, n_jobs)


def _tie_order(tie_break: Any, shape: tuple[int, ...], indptr: Index, order: Index | None) -> Index:
    """Rows by query, and by falling `tie_break` inside each; equal ones in the order of the input."""
    keys = np.asarray(tie_break)
    if keys.shape != shape:
        raise ValueError(f"tie_break must have one entry per row, shape {shape}. Got shape {keys.shape} instead.")
    try:
        _, rank = np.unique(keys, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"tie_break must hold values that sort. Got {error}.") from None
    if (keys != keys).any():
        raise ValueError("tie_break must not contain missing values. Got NaN.")
    order = np.arange(keys.size) if order is None else order
    query = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    return order[np.lexsort((-rank.ravel()[order], query))]


def _check_matrix(
    label: Array, score: Array, qid: Any, sample_weight: Any, tie_break: Any, n_jobs: int | None
) -> Queries:
    """Two-dimensional input, as `sklearn.metrics.ndcg_score` takes it: a row is a query."""
    if qid is not None:
        raise ValueError(
            "With two-dimensional y_true and y_score each row is a query and qid must be None. "
            f"Got shape {label.shape} and a qid; ravel() what is a single column."
        )
    if label.shape != score.shape:
        raise ValueError(f"y_true and y_score must have the same shape. Got {label.shape} and {score.shape}.")
    n_queries, n_documents = label.shape
    if label.size == 0:
        raise ValueError(f"At least one row and one column are needed. Got shape {label.shape}.")
    weight = None
    if sample_weight is not None:
        weight = check_query_weight(sample_weight, n_queries)
    indptr, order = np.arange(n_queries + 1) * n_documents, None
    label, score, shape = label.ravel(), score.ravel(), label.shape
    if tie_break is not None:
        order = _tie_order(tie_break, shape, indptr, None)
        label, score = label[order], score[order]
    return _checked(label, score, indptr, np.arange(n_queries), order, weight, n_jobs)


def _checked(
    label: Array, score: Array, indptr: Index, ids: NDArray[Any], order: Index | None, weight: Array | None,
    n_jobs: int | None,
) -> Queries:  # fmt: skip
    (lowest, highest), unjudged = _extent(label, n_jobs), False
    if np.isnan(lowest):
        judged = label[~np.isnan(label)]
        lowest, highest, unjudged = judged.min(initial=0.0), judged.max(initial=0.0), True
    score_range = _extent(score, n_jobs)
    queries = Queries(label, score, indptr, ids, order, weight, (lowest, highest), unjudged, score_range[0] == -np.inf)
    if np.isinf(lowest) or np.isinf(highest):
        row = queries.first_row(np.isinf(label))
        raise ValueError(f"y_true must be finite. Got an infinite label in row {row}.")
    if not score_range[1] < np.inf:  # catches NaN too
        fault = ~(score < np.inf)
        raise ValueError(
            "y_score must not contain NaN or +inf (-inf marks a document that was judged but not retrieved). "
            f"Got {score[np.argmax(fault)]} in row {queries.first_row(fault)}."
        )
    return queries


def _floats(x: Any, name: str) -> Array:
    """Convert to a contiguous float64 array of one or two dimensions; missing values become NaN."""
    array = np.asarray(x)
    if array.dtype == object and array.ndim > 0:
        values = [_number(v, name) for v in array.ravel().tolist()]
        array = np.array(values, dtype=np.float64).reshape(array.shape)
    if array.dtype.kind not in "biuf":
        raise TypeError(f"{name} must hold real numbers. Got {type(x).__name__} of dtype {array.dtype} instead.")
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} must have one or two dimensions. Got {array.ndim} instead.")
    return np.ascontiguousarray(array, dtype=np.float64)


def _number(value: Any, name: str) -> float:
    if value is None or type(value).__name__ == "NAType":
        return np.nan
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__"):
        raise TypeError(f"{name} must hold real numbers. Got {value!r} instead.")
    return float(value)


def _extent(x: Array, n_jobs: int | None) -> tuple[float, float]:
    """Lowest and highest value; NaN if there is any."""
    low, high = np.transpose(for_each(lambda a, b: (x[a:b].min(), x[a:b].max()), row_blocks(len(x)), n_jobs))
    return float(low.min()), float(high.max())


def query_weight(sample_weight: Any, ids: NDArray[Any], indptr: Index, order: Index | None) -> Array:
    """One weight a query, from one weight a row; the other arguments are what `group_rows` returns.

    Raises
    ------
    ValueError
        If weights vary inside a query, are negative, not finite or all zero.
    """
    weight, n_rows = _floats(sample_weight, "sample_weight"), indptr[-1]
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry per row ({n_rows}). Got shape {weight.shape} instead.")
    _refuse_bad_weight(weight)
    if order is not None:
        weight = weight[order]
    of_query = weight[indptr[:-1]]
    differs = weight != np.repeat(of_query, np.diff(indptr))
    if differs.any():
        row = int(np.argmax(differs))
        query = int(np.searchsorted(indptr, row, side="right")) - 1
        raise ValueError(
            "sample_weight weights whole queries, so it must be constant within each. "
            f"Got {of_query[query]:g} and {weight[row]:g} in query {ids[query : query + 1].tolist()[0]!r}."
        )
    return of_query


def check_query_weight(sample_weight: Any, n_queries: int) -> Array:
    """Weights of queries, where a row is a query.

    Raises
    ------
    ValueError
        If there is not one for each query, or they are negative, not finite or all zero.
    """
    weight = _floats(sample_weight, "sample_weight")
    if weight.shape != (n_queries,):
        raise ValueError(
            f"Where a row is a query, sample_weight must have one entry per query ({n_queries}). "
            f"Got shape {weight.shape} instead."
        )
    _refuse_bad_weight(weight)
    return weight


def _refuse_bad_weight(weight: Array) -> None:
    if not (np.isfinite(weight).all() and weight.min() >= 0 and weight.max() > 0):
        raise ValueError(
            "sample_weight must be finite, not negative and not all zero. "
            f"Got values from {weight.min()} to {weight.max()}."
        )


# --- what one metric asks of the labels ----------------------------------------------------------------------


def check_labels(
    queries: Queries, caller: str, *, low: float | None, high: float | None, scale: str,
    unjudged: str | None, reads_unjudged: bool, min_relevance: float,
) -> None:  # fmt: skip
    """Refuse labels outside [low, high] (named `scale`), and NaN labels unless `unjudged` says how to read them.

    Raises
    ------
    ValueError
        If a label is out of range, or NaN while `unjudged` is None and the metric cannot read it.
    """
    if queries.has_unjudged and unjudged is None and not reads_unjudged:
        missing = np.isnan(queries.label)
        raise ValueError(
            f"y_true of {caller} must not contain NaN (a document without a judgement) unless "
            "unjudged='nonrelevant' or unjudged='drop' says how to read it. "
            f"Got {missing.sum()} NaN, the first in row {queries.first_row(missing)}."
        )
    filled = unjudged == "nonrelevant" or (unjudged == "drop" and queries.label.ndim == 2)
    if queries.has_unjudged and filled and min_relevance <= 0:
        raise ValueError(
            f"unjudged={unjudged!r} reads documents without a judgement as label 0, so min_relevance must be "
            f"above 0. Got min_relevance={min_relevance}."
        )
    lowest, highest = queries.label_range
    if low is not None and lowest < low:
        row = queries.first_row(queries.label < low)
        raise ValueError(f"y_true of {caller} must not be below {low:g}. Got {lowest:g}, the first in row {row}.")
    if high is not None and highest > high:
        row = queries.first_row(queries.label > high)
        raise ValueError(f"y_true of {caller} must not be above {scale}. Got {highest:g}, the first in row {row}.")


def check_one_label(queries: Queries, caller: str) -> None:
    """Refuse labels with subtopics.

    Raises
    ------
    ValueError
        If `y_true` has a second axis.
    """
    if queries.label.ndim == 2:
        raise ValueError(
            f"{caller} takes one label per document, so y_true must have one dimension, or two if y_score has two and "
            "a row is a query; labels of subtopics are for metrics such as alpha_ndcg_score. "
            f"Got shape {queries.label.shape} instead; pass y_true.ravel() if it is a single column."
        )


def check_grades(
    queries: Queries, caller: str, grades: Array, *, max_grade: float | None, unjudged: str | None
) -> None:
    """Refuse labels, and a highest grade, that a table of gains has no entry for.

    Raises
    ------
    ValueError
        Naming the first such label.
    """
    if max_grade is not None and max_grade not in grades:
        raise ValueError(f"The 'gain' table of {caller} must have an entry for max_grade. Got max_grade={max_grade}.")
    label = queries.label
    if queries.has_unjudged:  # dropped documents need no entry; the others are read as label 0
        label = np.where(np.isnan(label), 0.0 if unjudged == "nonrelevant" else grades[0], label)
    unknown = grades[np.minimum(np.searchsorted(grades, label), len(grades) - 1)] != label
    if unknown.any():
        raise ValueError(
            f"The 'gain' table of {caller} must have an entry for every label in y_true. "
            f"Got label {label[np.argmax(unknown)]:g} in row {queries.first_row(unknown)}."
        )


def check_exponent(queries: Queries, caller: str) -> None:
    """Refuse labels for which 2**label is beyond the range of a float.

    Raises
    ------
    ValueError
        If a label is above 1000.
    """
    if queries.label_range[1] > 1000:
        raise ValueError(
            f"With gain='exp2' {caller} computes 2**label, so labels must not be above 1000; use gain='linear' or a "
            f"table of gains. Got {queries.label_range[1]:g}."
        )


def check_retrieved(queries: Queries, caller: str) -> None:
    """Refuse documents without a prediction.

    Raises
    ------
    ValueError
        If a score is -inf.
    """
    if queries.has_unretrieved:
        row = queries.first_row(queries.score == -np.inf)
        raise ValueError(
            f"{caller} compares predictions with labels, so every y_score must be finite. Got -inf in row {row}."
        )
