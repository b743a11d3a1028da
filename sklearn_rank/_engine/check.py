"""Check the user's arrays, and group their rows by query.

The result is contiguous float64 arrays. This module knows nothing of ranking.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.grouping import find_qid, group_rows, refuse_other_queries
from sklearn_rank._engine.qid import ids_of
from sklearn_rank._engine.queries import DataSummary, Queries, first_row, rows_of
from sklearn_rank._engine.rows import check_columns, check_rows, one_column, queries_in
from sklearn_rank._utils.numbers import as_floats, column, refuse_masked
from sklearn_rank._utils.threads import check_n_jobs, for_each, query_blocks, row_blocks
from sklearn_rank._utils.typing import Array, Index, MatrixLike

HIGHEST_WEIGHT = 1e200
"""Highest weight; a sum of these, times values, is far from the range of a float."""


# --- the three arrays ----------------------------------------------------------------------------------------


def check_queries(
    y_true: MatrixLike,
    y_score: MatrixLike,
    *,
    qid: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    tie_break: ArrayLike | None = None,
    n_jobs: int | None = None,
    weight_may_be_zero: bool = False,
    score_name: str = "y_score",
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
    label, score = as_floats(y_true, "y_true"), as_floats(y_score, score_name)
    check_rows(y_true=y_true, **{score_name: y_score}, qid=qid, sample_weight=sample_weight, tie_break=tie_break)
    if label.ndim == 2 and score.ndim == 2 and qid is None and queries_in(y_true) is queries_in(y_score) is None:
        refuse_one_column(label.shape if label.shape == score.shape else ())
        check_columns(y_true, y_score, score_name)
        matrices: dict[str, Any] = {"sample_weight": sample_weight, "tie_break": tie_break, "n_jobs": n_jobs}
        return check_matrix(label, score, **matrices, score_name=score_name)
    label, score = column(label), column(score)
    check_shapes(label, score, score_name)
    qid = find_qid(y_true, qid)
    refuse_other_queries(y_score, qid, name=score_name)
    ids, indptr, order = group_rows(qid, len(label), n_jobs)
    weight = None
    if sample_weight is not None:
        weight = query_weight(sample_weight, ids, indptr, order, may_be_zero=weight_may_be_zero)
    if tie_break is not None:
        order = _tie_order(_tie_keys(tie_break, 1), score.shape, indptr, order)
    return queries_of(label, score, indptr, ids, order, weight, n_jobs, score_name)


def with_scores(
    queries: Queries, y_true: MatrixLike, y_score: MatrixLike, qid: ArrayLike | None, n_jobs: int | None,
    score_name: str,
) -> Queries:  # fmt: skip
    """The same queries, labels and weights with the scores of another system, whose labels were checked.

    Raises
    ------
    ValueError or TypeError
        As `check_queries`, about the scores.
    """
    score = as_floats(y_score, score_name)
    if qid is None and queries_in(y_true) is None:  # a row is a query
        check_columns(y_true, y_score, score_name)
        shape = len(queries.qid), len(queries.label) // len(queries.qid)
        if queries_in(y_score) is not None or score.shape != shape:
            raise ValueError(
                f"Without qid a row is a query, of {score_name} too, so it must have the shape of y_true, {shape}. "
                f"Got {score.shape} instead."
            )
        score = score.ravel()
    else:
        score = column(score)
        check_shapes(queries.label, score, score_name)
        refuse_other_queries(y_score, find_qid(y_true, qid), name=score_name)
    rows = queries.indptr, queries.qid, queries.order, queries.weight
    return queries_of(queries.label, score, *rows, n_jobs, score_name)


def check_shapes(label: Array, score: Array, score_name: str = "y_score") -> None:
    """Refuse anything but one score per row, and one label, or labels of subtopics, per row.

    Raises
    ------
    ValueError
        If there is something else, or no row.
    """
    if score.ndim == label.ndim == 2:
        raise ValueError(
            f"With two-dimensional y_true and {score_name} each row is a query and qid must be None. "
            f"Got shape {label.shape} and a qid, or an index with a level 'qid', which to_numpy() leaves out."
        )
    if score.ndim != 1:
        raise ValueError(
            f"{score_name} must be one score per row where y_true is one label per row. "
            f"Got shape {score.shape} instead; for class probabilities wrap the classifier in QueryRanker, "
            "which ranks by the expected grade."
        )
    if len(label) != len(score):
        raise ValueError(
            f"y_true and {score_name} must have one entry per row. Got {len(label)} and {len(score)} entries instead."
        )
    if len(label) == 0:
        raise ValueError("At least one row is needed. Got empty y_true and y_score.")
    if label.size == 0:
        raise ValueError(f"At least one subtopic is needed, a column of y_true. Got shape {label.shape} instead.")


def refuse_one_column(shape: tuple[int, ...]) -> None:
    """Refuse a single column: each row would be a query of one document, so qid is missing.

    Raises
    ------
    ValueError
        If there is one column.
    """
    if shape[1:] == (1,):
        raise ValueError(
            "Two-dimensional y_true and y_score are queries by documents, so in a single column each query would have "
            "one document: pass qid=, or y_true.T and y_score.T if all rows are one query. "
            f"Got shape {shape}."
        )


def _tie_keys(tie_break: ArrayLike, n_dimensions: int) -> NDArray[Any]:
    """Array of the keys that order rows of equal score."""
    refuse_masked(tie_break, "tie_break")
    if n_dimensions == 1 and isinstance(tie_break, (list, tuple)):
        return ids_of(tie_break)
    return np.asarray(one_column(tie_break) if n_dimensions == 1 else tie_break)


def _tie_order(keys: NDArray[Any], shape: tuple[int, ...], indptr: Index, order: Index | None) -> Index:
    """Rows by query, and by falling `keys` inside each; equal ones in the order of the input."""
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


def check_matrix(
    label: Array,
    score: Array,
    *,
    sample_weight: ArrayLike | None = None,
    tie_break: ArrayLike | None = None,
    n_jobs: int | None = None,
    score_name: str = "y_score",
) -> Queries:
    """Queries of two-dimensional input, as `sklearn.metrics.ndcg_score` takes it: a row is a query.

    Raises
    ------
    ValueError
        As `check_queries` does.
    """
    if label.shape != score.shape:
        raise ValueError(f"y_true and {score_name} must have the same shape. Got {label.shape} and {score.shape}.")
    n_queries, n_documents = label.shape
    if label.size == 0:
        raise ValueError(f"At least one row and one column are needed. Got shape {label.shape}.")
    weight = None
    if sample_weight is not None:
        weight = check_query_weight(sample_weight, n_queries)
    indptr, order = np.arange(n_queries + 1) * n_documents, None
    label, score, shape = label.ravel(), score.ravel(), label.shape
    if tie_break is not None:
        order = _tie_order(_tie_keys(tie_break, 2), shape, indptr, None)
    return queries_of(label, score, indptr, np.arange(n_queries), order, weight, n_jobs, score_name)


def queries_of(
    label: Array, score: Array, indptr: Index, ids: NDArray[Any], order: Index | None, weight: Array | None,
    n_jobs: int | None, score_name: str = "y_score",
) -> Queries:  # fmt: skip
    """Queries of rows that were grouped already.

    Raises
    ------
    ValueError
        If a label is infinite, or a score NaN or +inf.
    """
    (lowest, highest), score_range = _ranges(label, score, n_jobs)
    unjudged = False
    if math.isnan(lowest):
        unjudged = True
        lowest, highest = (float(f.reduce(label, axis=None, initial=0.0)) for f in (np.fmin, np.fmax))  # of the others
    summary = DataSummary((lowest, highest), unjudged, score_range[0] == -np.inf)
    queries = Queries(label, score, indptr, order, ids, weight, summary)
    if math.isinf(lowest) or math.isinf(highest):
        raise ValueError(f"y_true must be finite. Got an infinite label in row {first_row(np.isinf(label))}.")
    if not score_range[1] < np.inf:  # catches NaN too
        _refuse_scores(score, score_name)
    return queries


def check_scores(score: Any, name: str) -> Array:
    """Check scores, one per row, and return them as float64.

    Raises
    ------
    ValueError
        If there is no row, more than one score a row, or one that is NaN or +inf.
    """
    array = column(as_floats(score, name))
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, the score of each row. Got shape {array.shape} instead.")
    if len(array) == 0:
        raise ValueError(f"At least one row is needed. Got empty {name}.")
    if not (array < np.inf).all():
        _refuse_scores(array, name)
    return array


def _refuse_scores(score: Array, name: str) -> None:
    row = first_row(~(score < np.inf))
    raise ValueError(
        f"{name} must not contain NaN or +inf (-inf marks a document that was judged but not retrieved). "
        f"Got {score[row]} in row {row}."
    )


def _ranges(label: Array, score: Array, n_jobs: int | None) -> list[tuple[float, float]]:
    """Lowest and highest label, lowest and highest score; NaN if there is any."""
    ranges = for_each(lambda a, b: [_range(label[a:b]), _range(score[a:b])], row_blocks(len(score)), n_jobs)
    if len(ranges) == 1:
        return ranges[0]
    low, high = np.min(ranges, axis=0)[:, 0], np.max(ranges, axis=0)[:, 1]
    return list(zip(low.tolist(), high.tolist(), strict=True))


def _range(x: Array) -> tuple[float, float]:
    """Lowest and highest value; for few rows much faster than min() and max()."""
    return x.item(x.argmin()), x.item(x.argmax())


def query_weight(
    sample_weight: ArrayLike, ids: NDArray[Any], indptr: Index, order: Index | None, *, may_be_zero: bool = False
) -> Array:
    """Weights per query from weights per row; the other arguments are returned by `group_rows`.

    Raises
    ------
    ValueError
        If weights vary inside a query, are negative, not finite or all zero; of a part of the queries they may be.
    """
    weight, n_rows = column(as_floats(sample_weight, "sample_weight")), indptr[-1]
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry per row ({n_rows}). Got shape {weight.shape} instead.")
    refuse_bad_weight(weight, may_be_zero=may_be_zero)
    of_query = weight[indptr[:-1] if order is None else order[indptr[:-1]]]

    def check(first: int, last: int) -> None:
        of_row = rows_of(weight, indptr, order, first, last)
        differs = of_row != np.repeat(of_query[first:last], np.diff(indptr[first : last + 1]))
        if differs.any():
            row = int(np.argmax(differs))
            query = int(np.searchsorted(indptr, indptr[first] + row, side="right")) - 1
            raise ValueError(
                "sample_weight weights whole queries, so it must be constant within each. "
                f"Got {of_query[query]:g} and {of_row[row]:g} in query {ids[query : query + 1].tolist()[0]!r}."
            )

    for_each(check, query_blocks(indptr), 1)
    return of_query


def check_query_weight(sample_weight: ArrayLike, n_queries: int) -> Array:
    """Weights of queries, where a row is a query.

    Raises
    ------
    ValueError
        If there is not one for each query, or they are negative, not finite or all zero.
    """
    weight = column(as_floats(sample_weight, "sample_weight"))
    if weight.shape != (n_queries,):
        raise ValueError(
            f"Where a row is a query, sample_weight must have one entry per query ({n_queries}). "
            f"Got shape {weight.shape} instead."
        )
    refuse_bad_weight(weight)
    return weight


def refuse_bad_weight(weight: Array, *, may_be_zero: bool = False) -> None:
    """Refuse weights of which no mean can be taken.

    Raises
    ------
    ValueError
        If one is negative or not finite, all are zero and may not be, or the highest is so large or small that sums are
        beyond the range of a float.
    """
    lowest, highest = _range(weight)
    if not (0 <= lowest and highest < np.inf and (may_be_zero or highest > 0)):
        raise ValueError(
            f"sample_weight must be finite, not negative and not all zero. Got values from {lowest} to {highest}."
        )
    if highest > HIGHEST_WEIGHT or (highest < 1 / HIGHEST_WEIGHT and not may_be_zero):
        raise ValueError(
            f"The highest sample_weight must be from {1 / HIGHEST_WEIGHT:g} to {HIGHEST_WEIGHT:g}, so that weights can "
            f"be summed up; divide all weights by the highest. Got {highest:g}."
        )
