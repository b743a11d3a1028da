"""Check the user's arrays, and group their rows by query.

The result is contiguous float64 arrays, or labels as bytes where they are grades. This module knows nothing of ranking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import QueryRows, changes_with_query, constant_within
from sklearn_rank._engine.columns import check_columns, check_rows, one_column, queries_in
from sklearn_rank._engine.grouping import find_qid, group_rows, refuse_other_queries, refuse_queries_elsewhere
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._engine.kernels.checks import read_plain, read_rows
from sklearn_rank._engine.queries import DataSummary, GradedQueries, InputNames, Origin, Queries, Rows, first_row
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import SYSTEMS_HINT, refuse_misplaced, refuse_table
from sklearn_rank._utils.numbers import aligned, as_floats, as_numbers, as_reals, column, refuse_masked
from sklearn_rank._utils.threads import check_n_jobs, for_each, is_one_block, row_blocks
from sklearn_rank._utils.typing import Array, Grade, Index, MatrixLike

NAMES = InputNames()
ALL_ROWS = Origin()
"""Rows as they were given."""

READ = np.float64, np.float32, np.int64, np.int32
"""Types of labels that the kernel reads."""

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
    mask: ArrayLike | None = None,
    n_jobs: int | None = None,
    weight_may_be_zero: bool = False,
    score_name: str = "y_score",
    keeps_narrow: bool = False,
) -> Queries:
    """Check the user's arrays and group their rows by query; many float32 scores may stay what they are.

    Raises
    ------
    ValueError
        If lengths differ, qid is missing or not one id per row, a score is NaN or +inf, a label is infinite,
        or a weight is negative or varies inside a query.
    TypeError
        If labels, scores or weights are not real numbers.
    """
    check_n_jobs(n_jobs)
    try:
        if type(y_true) is type(y_score) is type(qid) is np.ndarray and sample_weight is tie_break is mask is None:
            queries = check_at_once(y_true, y_score, qid, n_jobs, _origin(score_name), keeps_narrow)
            if queries is not None:
                return queries
        try:
            label, score = _as_labels(y_true, mask), _as_scores(y_score, score_name, keeps_narrow)
            rows = {"qid": qid, "sample_weight": sample_weight, "tie_break": tie_break, "mask": mask}
            check_rows(y_true=y_true, **{score_name: y_score}, **rows)
            check, label, score, qid = _shaped(label, score, y_true, y_score, qid, mask, score_name)
            refuse_queries_elsewhere(qid, sample_weight=sample_weight, tie_break=tie_break, mask=mask)
            return check(
                label, score, qid, sample_weight=sample_weight, tie_break=tie_break, mask=mask, n_jobs=n_jobs,
                weight_may_be_zero=weight_may_be_zero, names=InputNames(score=score_name),
            )  # fmt: skip
        except Exception:
            as_floats(y_true, "y_true")  # labels that float64 would round are the first error, and seen last
            raise
    except Exception as error:
        refuse_misplaced(error, y_true, y_score, qid=qid, sample_weight=sample_weight, tie_break=tie_break)
        raise


def _origin(score_name: str) -> Origin:
    return ALL_ROWS if score_name == "y_score" else Origin(InputNames(score=score_name))


def _as_labels(y_true: MatrixLike, mask: ArrayLike | None) -> NDArray[Any]:
    """Labels as float64; many, one a row, as they are: nearly all are grades, and are read as such in one pass."""
    label = as_numbers(y_true, "y_true")
    return label if mask is None and label.ndim == 1 and len(label) > FEW_ROWS else as_floats(label, "y_true")


def _as_scores(y_score: MatrixLike, name: str, keeps_narrow: bool) -> NDArray[Any]:
    """Scores as float64; many, one a row, as float32 if that holds them, and it may."""
    score = as_reals(y_score, name)
    is_narrow = keeps_narrow and score.dtype.kind == "f" and score.dtype.itemsize <= 4
    is_kept = is_narrow and score.ndim == 1 and len(score) > FEW_ROWS
    return aligned(np.ascontiguousarray(score, dtype=np.float32 if is_kept else np.float64))


def _shaped(
    label: NDArray[Any], score: NDArray[Any], y_true: MatrixLike, y_score: MatrixLike, qid: ArrayLike | None,
    mask: ArrayLike | None, score_name: str,
) -> tuple[Callable[..., Queries], NDArray[Any], NDArray[Any], Any]:  # fmt: skip
    """What checks input of these shapes, and labels, scores and ids as it takes them."""
    if label.ndim == 2:
        refuse_table(y_true, y_score)
    named = qid is not None or queries_in(y_true) is not None or queries_in(y_score) is not None
    if label.ndim == 2 and score.ndim == 2 and not named and mask is None:
        refuse_one_column(label.shape if label.shape == score.shape else ())
    elif named and (np.ndim(as_numpy(mask)) if mask is not None else 0) < 2:
        label, score = column(label), column(score)
    is_matrix = label.ndim == score.ndim == 2
    if is_matrix:
        check_columns(y_true, y_score, score_name)
        check_columns(y_true, mask, "mask")
    else:
        label, score = column(label), column(score)
        check_shapes(label, score, score_name)
    if named or not is_matrix:
        qid = find_qid(y_true, qid)
        refuse_other_queries(y_score, qid, name=score_name)
    return check_matrix if is_matrix else _check_rows_by_query, label, score, qid


def with_scores(
    queries: Queries, y_score: MatrixLike, shape: tuple[int, ...], *, mask: ArrayLike | None, n_jobs: int | None,
    score_name: str,
) -> Queries:  # fmt: skip
    """The same queries with the scores of another system; `shape` is that of the scores that they had.

    Raises
    ------
    ValueError or TypeError
        As `check_queries`, about scores.
    """
    score, is_matrix = as_floats(y_score, score_name), queries.origin.first_query is not None
    if not is_matrix:
        score, shape = column(score), shape[:1]
    if score.shape != shape:
        raise ValueError(
            f"{score_name} must have one score for each label, as those of the other systems, so shape {shape}. "
            f"Got {score.shape} instead."
        )
    if mask is not None:
        mask = as_numpy(mask)
        score = score[as_mask(mask if is_matrix else column(np.asarray(mask)), shape)]
    origin = queries.origin._replace(names=InputNames(score=score_name))
    rows = queries.indptr, queries.qid, queries.order, queries.weight
    return queries_of(queries.label, score.ravel(), *rows, n_jobs, origin)


def _check_rows_by_query(
    label: NDArray[Any], score: NDArray[Any], qid: Any, *, sample_weight: ArrayLike | None,
    tie_break: ArrayLike | None, mask: ArrayLike | None, n_jobs: int | None, weight_may_be_zero: bool,
    names: InputNames,
) -> Queries:  # fmt: skip
    """Queries of rows, with the id of the query of each."""
    weight = None if sample_weight is None else column(as_floats(sample_weight, "sample_weight"))
    keys = None if tie_break is None else _tie_keys(tie_break, score.shape)
    if mask is None:
        origin, (ids, indptr, order) = Origin(names), group_rows(qid, len(label), n_jobs)
    else:
        kept = as_mask(column(np.asarray(as_numpy(mask))), score.shape)
        origin = Origin(names, rows=np.flatnonzero(kept), n_given=len(kept))
        ids, indptr, order = group_kept_rows(qid, kept, n_jobs)
        label, score, keys = label[kept], score[kept], None if keys is None else keys[kept]
        weight = None if weight is None else kept_rows(weight, kept, "sample_weight")
    if weight is not None:
        weight = query_weight(weight, ids, indptr, order, may_be_zero=weight_may_be_zero)
    if keys is not None:
        order = _tie_order(keys, indptr, order)
    return queries_of(label, score, indptr, ids, order, weight, n_jobs, origin)


def check_shapes(label: NDArray[Any], score: NDArray[Any], score_name: str = "y_score") -> None:
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
            f"which ranks by the expected grade. {SYSTEMS_HINT}"
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


def _tie_keys(tie_break: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Array of the keys that order rows of equal score."""
    refuse_masked(tie_break, "tie_break")
    tie_break = as_numpy(tie_break)
    if len(shape) == 1 and isinstance(tie_break, (list, tuple)):
        keys = ids_of(tie_break)
    else:
        keys = np.asarray(one_column(tie_break) if len(shape) == 1 else tie_break)
    if keys.shape != shape:
        raise ValueError(f"tie_break must have one entry per row, shape {shape}. Got shape {keys.shape} instead.")
    return keys


def _tie_order(keys: NDArray[Any], indptr: Index, order: Index | None) -> Index:
    """Rows by query, and by falling `keys` inside each; equal ones in the order of the input."""
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
    label: Array, score: Array, qid: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None,
    tie_break: ArrayLike | None = None, mask: ArrayLike | None = None, n_jobs: int | None = None,
    weight_may_be_zero: bool = False, names: InputNames = NAMES,
) -> Queries:  # fmt: skip
    """Queries of two-dimensional input, as `sklearn.metrics.ndcg_score` takes it: a row is a query.

    Raises
    ------
    ValueError
        As `check_queries` does.
    """
    if label.shape != score.shape:
        raise ValueError(f"y_true and {names.score} must have the same shape. Got {label.shape} and {score.shape}.")
    n_queries, n_documents = label.shape
    if label.size == 0:
        raise ValueError(f"At least one row and one column are needed. Got shape {label.shape}.")
    weight = None
    if sample_weight is not None:
        weight = check_query_weight(sample_weight, n_queries, may_be_zero=weight_may_be_zero)
    ids = np.arange(n_queries) if qid is None else _ids_of_matrix(qid, label.shape)
    keys = None if tie_break is None else _tie_keys(tie_break, label.shape)
    if mask is None:
        indptr = np.arange(n_queries + 1) * n_documents
        label, score, keys = label.ravel(), score.ravel(), None if keys is None else keys.ravel()
    else:
        kept = as_mask(mask, label.shape)
        indptr = np.append(0, lengths(kept, label).cumsum())
        label, score, keys = label[kept], score[kept], None if keys is None else keys[kept]
    order = None if keys is None else _tie_order(keys, indptr, None)
    return queries_of(label, score, indptr, ids, order, weight, n_jobs, Origin(names, first_query=0))


def _ids_of_matrix(qid: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Ids of the rows of a matrix, each of which is a query."""
    n_given = np.shape(ids_of(qid))
    if n_given != shape[:1]:
        hint = " The first column of qid has one id for each row." if n_given == shape else ""
        raise ValueError(
            "With two-dimensional y_true and y_score each row is a query and qid must be None or have one id for each "
            f"row. Got shape {shape} and qid, or an index with a level 'qid', of shape {n_given}.{hint}"
        )
    ids, indptr, _ = group_rows(qid, shape[0])
    if len(ids) < shape[0]:
        again = ids[np.diff(indptr) > 1].tolist()[0]
        raise ValueError(
            "With two-dimensional y_true and y_score each row is a query, so qid must have each id once; rows of "
            "documents have one label and one score each, and for class probabilities wrap the classifier in "
            f"QueryRanker. Got shape {shape} and query {echo(again)} more than once."
        )
    return ids


def queries_of(
    label: NDArray[Any], score: NDArray[Any], indptr: Index, ids: NDArray[Any], order: Index | None,
    weight: Array | None, n_jobs: int | None, origin: Origin = ALL_ROWS,
) -> Queries:  # fmt: skip
    """Queries of rows that were grouped already. Labels that are grades are kept as such if they are no float64.

    Raises
    ------
    ValueError
        If a label is infinite, or float64 would round it, or a score is NaN or +inf.
    """
    summary, grade, is_good = _read_rows(label, score, n_jobs)
    rows = score, indptr, order, ids, weight, summary
    if grade is not None and not _is_read(label, np.float64):
        queries: Queries = GradedQueries(None, *rows, grade=grade, origin=origin)
    else:
        label = as_floats(label, "y_true")
        queries = Queries(label, *rows, grade=grade, origin=origin)
    if math.isinf(summary.label_range[0]) or math.isinf(summary.label_range[1]):
        raise ValueError(f"y_true must be finite. Got an infinite label in row {queries.first_row(np.isinf(label))}.")
    if not is_good:
        refuse_scores(score, origin.names.score, queries.first_row)
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
        refuse_scores(array, name)
    return array


def refuse_scores(score: NDArray[Any], name: str, row_of: Callable[[NDArray[np.bool_]], int] = first_row) -> None:
    """Refuse scores of which one is NaN or +inf.

    Raises
    ------
    ValueError
        Naming the first and its row.
    """
    bad = ~(score < np.inf)
    raise ValueError(
        f"{name} must not contain NaN or +inf (-inf marks a document that was judged but not retrieved). "
        f"Got {score[bad][0]} in row {row_of(bad)}."
    )


def _read_rows(label: NDArray[Any], score: NDArray[Any], n_jobs: int | None) -> tuple[DataSummary, Grade | None, bool]:
    """Facts about labels and scores, labels as bytes if all are grades, and whether no score is NaN or +inf."""
    grade = None if label.ndim == 2 else np.empty(len(label), dtype=np.uint8)

    def read(a: int, b: int) -> Facts:
        part = label[a:b].ravel()
        part = part if _is_read(part, *READ) else np.array(part, dtype=np.float64)  # of a block, which the cache holds
        return read_rows(part, score[a:b], None if grade is None else grade[a:b])

    blocks = for_each(read, row_blocks(len(score), n_jobs), n_jobs)
    low, high, unjudged, are_grades, unretrieved, bad = blocks[0] if len(blocks) == 1 else joined(blocks)
    if unjudged:
        low, high = min(low, 0.0), max(high, 0.0)
    return DataSummary((low, high), unjudged, unretrieved), grade if are_grades else None, not bad


def _is_read(array: NDArray[Any], *types: type) -> bool:
    """Whether a kernel reads an array as it is: of one of these types in the order of the machine, without gaps."""
    return array.dtype in types and array.flags.c_contiguous and array.flags.aligned


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
    rows = QueryRows(ids, indptr, order)
    if changes_with_query(weight, rows):
        weight = weight[indptr[:-1]]
        refuse_bad_weight(weight, may_be_zero=may_be_zero)
        return weight
    refuse_bad_weight(weight, may_be_zero=may_be_zero)
    rule = "sample_weight weights whole queries, so it must be constant within each."
    return constant_within(weight, rows, rule, lambda two: "{:g} and {:g}".format(*two))


def check_query_weight(sample_weight: ArrayLike, n_queries: int, *, may_be_zero: bool = False) -> Array:
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
    refuse_bad_weight(weight, may_be_zero=may_be_zero)
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


# --- many rows at a time ------------------------------------------------------------------------------------

Facts = tuple[float, float, bool, bool, bool, bool]
"""Lowest and highest label, whether one is NaN and all are grades, whether a score is -inf, and one is bad."""

FEW_ROWS = 4096
"""Rows of which labels and scores become float64, as nothing is gained by other types."""

N_SAMPLED = 16
"""Ids that are looked at to tell whether those of many rows rise."""

FLOAT64 = np.dtype(np.float64)


def check_at_once(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None, origin: Origin,
    keeps_narrow: bool,
) -> Queries | None:  # fmt: skip
    """Queries of plain arrays whose ids rise, each block by one call of a kernel; None for what needs a closer look.

    A call on ten rows is two thirds shorter by it, and one on 10,000 a quarter.
    """
    n_rows = qid.size
    grade = np.empty(n_rows, dtype=np.uint8)
    if is_one_block(n_rows):
        part = _read_plain(y_true, y_score, qid, grade, 0, n_rows)
        if part is None:
            return None
        facts, indptr, ids = part
    else:
        read = partial(_read_plain, y_true, y_score, qid, grade)
        parts = [] if falls_somewhere(qid) else for_each(read, row_blocks(n_rows, n_jobs), n_jobs)
        found = [part for part in parts if part is not None]
        if len(found) < max(len(parts), 1):
            return None
        facts, starts, heads = zip(*found, strict=True)
        facts = joined(facts)
        n_threads = 1 if is_one_block(sum(map(len, heads))) else n_jobs
        indptr, ids = for_each(lambda i, _: np.concatenate((starts, heads)[i]), [(0, 1), (1, 2)], n_threads)
    lowest, highest, unjudged, are_grades, unretrieved, bad = facts
    label, score = y_true if y_true.dtype is FLOAT64 else None, y_score
    if unjudged or bad or math.isinf(lowest) or math.isinf(highest) or (label is None and not are_grades):
        return None
    if score.dtype is not FLOAT64 and not (keeps_narrow and n_rows > FEW_ROWS):
        score = score.astype(np.float64)
    rows = score, indptr, None, ids, None
    summary = DataSummary((lowest, highest), False, unretrieved)
    queries: Callable[..., Queries] = Queries if label is not None else GradedQueries
    return queries(label, *rows, summary, grade=grade if are_grades else None, origin=origin)


def _read_plain(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], grade: Grade, start: int, stop: int
) -> tuple[Facts, Index, NDArray[Any]] | None:
    """Facts about some rows, and starts and ids of the queries that start there; None for what needs a closer look."""
    starts, ids = np.empty(stop - start + 1, dtype=np.int64), np.empty(stop - start, dtype=qid.dtype)
    found = read_plain(y_true, y_score, qid, start, stop, grade, starts, ids) if stop else None
    if found is None:
        return None
    facts, n, _, _ = found
    starts, ids = starts[:n], ids[: n - (stop == len(qid))]
    return (facts, starts, ids) if stop - start <= FEW_ROWS else (facts, starts.copy(), ids.copy())  # no views


class PlainBlock(NamedTuple):
    """Whole queries: their rows, how many the longest has, and the highest grade."""

    rows: Rows
    longest: int
    highest: int


class NotPlain(Exception):
    """There are rows of which the general path has more to say."""


def read_block(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], grade: Grade, starts: Index
) -> PlainBlock:  # fmt: skip
    """Check and group rows of whole queries, whose scores are all finite.

    The block has views of `grade` and `starts`, which have room for as many rows and one start more.

    Raises
    ------
    NotPlain
        If the rows need a closer look.
    """
    n_rows = len(qid)
    grade = grade[:n_rows]
    found = read_plain(y_true, y_score, qid, 0, n_rows, grade, starts, None)
    if found is None:
        raise NotPlain
    (_, highest, _, are_grades, unretrieved, bad), n, longest, is_constant = found
    if unretrieved or bad or not are_grades:
        raise NotPlain
    return PlainBlock(Rows(grade, y_score, starts[:n], is_constant), longest, int(highest))


def next_start(qid: NDArray[Any], row: int, most: int) -> int:
    """First row from `row` on at which an id rises, or one of the ends.

    Raises
    ------
    NotPlain
        If it is more than `most` rows away.
    """
    last = min(row + most, len(qid))
    found = row + int(qid[row:last].searchsorted(qid[row - 1], side="right")) if row else 0
    if found == last < len(qid):
        raise NotPlain
    return found


def whole_queries(qid: NDArray[Any], blocks: Iterable[tuple[int, int]], most: int) -> Iterator[tuple[int, int]]:
    """Blocks that go on to the end of their last query; empty ones are left out.

    Raises
    ------
    NotPlain
        If that is more than `most` rows further down.
    """
    start = 0
    for _, row in blocks:
        stop = next_start(qid, row, most)
        if start < stop:
            yield start, stop
        start = stop


def falls_somewhere(qid: NDArray[Any]) -> bool:
    """Whether a sample shows that ids fall; also of ids that are not a column of whole numbers."""
    if qid.ndim != 1 or qid.dtype.kind not in "iu":
        return True
    sample = qid[:: 1 + len(qid) // N_SAMPLED]
    return bool((sample[1:] < sample[:-1]).any())


def joined(blocks: Sequence[Facts]) -> Facts:
    """Facts about all rows from those about blocks of them."""
    lowest, highest, unjudged, are_grades, unretrieved, bad = zip(*blocks, strict=True)
    return min(lowest), max(highest), any(unjudged), all(are_grades), any(unretrieved), any(bad)


Mask = NDArray[np.bool_]


def as_mask(mask: ArrayLike, shape: tuple[int, ...]) -> Mask:
    """Check the mask, and return it as an array.

    Raises
    ------
    TypeError
        If it holds anything but booleans.
    ValueError
        If it has another shape than the labels.
    """
    array = np.asarray(as_numpy(mask))
    if array.dtype == object and all(isinstance(entry, (bool, np.bool_)) for entry in array.ravel().tolist()):
        array = array.astype(bool)
    if array.dtype != bool:
        raise TypeError(
            "mask must hold booleans, True where there is a document: of an attention mask of ones and zeros take "
            f"mask == 1. Got {type(mask).__name__} of dtype {array.dtype}."
        )
    if array.shape != shape:
        raise ValueError(f"mask must have the shape of y_true, {shape}. Got shape {array.shape}.")
    return array


def lengths(mask: Mask, label: Array) -> Index:
    """Number of documents of each row of a matrix.

    Raises
    ------
    ValueError
        If a row has none, or the mask seems to be the wrong way round.
    """
    n_documents = np.count_nonzero(mask, axis=1)
    if n_documents[n_documents.argmin()] == 0:
        raise ValueError(
            "Every row of mask must have a document, True: leave rows without any out of all arrays. If True marks the "
            "padding, as in key_padding_mask of torch, pass ~mask. "
            f"Got {np.count_nonzero(n_documents == 0)} of {len(mask)} rows without, the first is row "
            f"{int(n_documents.argmin())}."
        )
    if not mask[:, 0].any():
        _refuse_inverted(mask, label)
    return n_documents


def _refuse_inverted(mask: Mask, label: Array) -> None:
    """Refuse a mask of which every row begins with padding, if all labels are one number there and only there."""
    inside, outside = label[mask], label[~mask]
    if (inside == inside[0]).all() and (outside != outside[0]).any():
        raise ValueError(
            "mask must be True where there is a document: if True marks the padding, as in key_padding_mask of torch, "
            f"pass ~mask. Got a mask that is False in the first column, and label {inside[0]:g} wherever it is True."
        )


def kept_rows(values: NDArray[Any], mask: Mask, name: str) -> NDArray[Any]:
    """Entries of rows that are documents.

    Raises
    ------
    ValueError
        If there is not one for each row.
    """
    if values.shape != mask.shape:
        raise ValueError(f"{name} must have one entry per row, shape {mask.shape}. Got shape {values.shape} instead.")
    return values[mask]


def group_kept_rows(qid: Any, mask: Mask, n_jobs: int | None = None) -> tuple[NDArray[Any], Index, Index | None]:
    """As `group_rows`, of the rows that are documents.

    Raises
    ------
    ValueError
        If a query has none.
    """
    ids, indptr, order = group_rows(qid, len(mask), n_jobs)
    number = np.repeat(np.arange(len(ids)), np.diff(indptr))
    if order is not None:
        number[order] = number.copy()
    number = number[mask]
    without = np.bincount(number, minlength=len(ids)) == 0
    if without.any():
        raise ValueError(
            "Every query must have a row where mask is True: take y_true[mask], y_score[mask] and qid[mask] to leave "
            f"queries out. Got {np.count_nonzero(without)} of {len(ids)} queries without, the first is "
            f"{echo(ids[without][:1].tolist()[0])}."
        )
    kept, indptr, order = group_rows(number, len(number), n_jobs)
    return ids[kept], indptr, order
