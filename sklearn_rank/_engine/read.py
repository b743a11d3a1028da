"""Read the user's arrays: they are checked, and their rows are grouped by query.

Most rows are plain: three columns of numbers, of queries whose ids rise. They are read block by block, each by one call
of a kernel. Anything else, and what is wrong, is read carefully. This module is independent of ranking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._engine.attributes import (
    AttributesLike,
    ClustersLike,
    QueryAttributes,
    by_row,
    check_attributes,
    constant_within,
)
from sklearn_rank._engine.columns import check_columns, check_rows, labels_of, one_column, queries_in
from sklearn_rank._engine.grouping import (
    Grouping,
    Origin,
    find_qid,
    first_row,
    group_rows,
    refuse_other_queries,
    refuse_queries_elsewhere,
    together,
)
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._engine.kernels.checks import read_rows
from sklearn_rank._engine.kernels.order import longest as longest_between
from sklearn_rank._engine.queries import BYTE, DATA_NAMES, Data, DataSummary, InputNames, Queries
from sklearn_rank._utils.blocks import thread_blocks
from sklearn_rank._utils.containers import as_numpy
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.hints import SYSTEMS_HINT, refuse_misplaced, refuse_table
from sklearn_rank._utils.numbers import FLOAT64, as_floats, as_reals, column, refuse_masked
from sklearn_rank._utils.threads import check_n_jobs, map_blocks
from sklearn_rank._utils.typing import Array, Index, MatrixLike

D = TypeVar("D", bound=Data)

READ = np.float64, np.float32, np.int64, np.int32
"""Types of labels that the kernel reads."""

ID_KINDS = {"i": "int", "u": "int", "f": "float", "U": "str", "T": "str"}
"""Name of the kind of ids, by the kind of their array; any other is "object"."""

HIGHEST_WEIGHT = 1e200
"""Highest weight; a sum of these, times values, is far from the range of a float."""


def read(
    y_true: MatrixLike, y_score: MatrixLike, *, qid: ArrayLike | None = None, sample_weight: ArrayLike | None = None,
    tie_break: ArrayLike | None = None, mask: ArrayLike | None = None, n_jobs: int | None = None,
    weight_may_be_zero: bool = False, score_name: str = "y_score", keep_float32: bool = False,
) -> Queries:  # fmt: skip
    """Check the user's arrays, and group their rows by query; scores of float32 may stay what they are."""
    check_n_jobs(n_jobs)
    names = DATA_NAMES if score_name == "y_score" else InputNames(score=score_name)
    queries = None
    try:
        if type(y_true) is type(y_score) is type(qid) is np.ndarray and sample_weight is tie_break is mask is None:
            queries = _read_plain(y_true, y_score, qid, n_jobs, names, keep_float32)
        if queries is None:
            others = {"sample_weight": sample_weight, "tie_break": tie_break, "mask": mask}
            queries = _read_carefully(y_true, y_score, qid, others, n_jobs, names, weight_may_be_zero)
    except Exception as error:
        refuse_misplaced(error, y_true, y_score, qid=qid, sample_weight=sample_weight, tie_break=tie_break)
        raise
    return queries


def read_labels(
    y: ArrayLike, qid: ArrayLike, sample_weight: ArrayLike | None = None, *, by: AttributesLike = None,
    clusters: ClustersLike = None,
) -> Data:  # fmt: skip
    """Group checked rows, to be given scores later."""
    # If the index of `y` has several levels, the data keep it, because metrics may read the levels.
    label, index = column(as_floats(y, "y")), labels_of(y)
    grouping = group_rows(qid, len(label))
    weight = None if sample_weight is None else query_weight(sample_weight, grouping)
    properties = check_attributes(by, clusters, grouping, y=y)
    data = data_of(label, grouping, weight)
    data.properties, data.index = properties, index if index is not None and index.nlevels > 1 else None
    return data


def with_columns(data: D, y_true: Any, names: Iterable[str], given: Mapping[str, Any]) -> D:
    """Data with the columns that metrics read: given by name, or levels of the index of `y_true`."""
    # A column that is in neither is left out, which the metric refuses.
    index, found = labels_of(y_true), dict[str, Array]()
    for name in names:
        x = given.get(name)
        level = index.get_level_values(name) if index is not None and name in index.names else None
        if x is None:
            x = level
        if x is None:
            continue
        if data.grouping.row_is_query:
            refuse_column_of_matrix(name, x)
        check_rows(y_true=y_true, **{name: given.get(name)})
        # Results keep columns, and their caller may write to these.
        values, rows = column(as_floats(x, name)).copy(), data.grouping.origin.rows
        _one_per_row(values, (data.grouping.n_given,), name)
        if level is not None and x is not level and not np.array_equal(values, np.asarray(level)):
            raise ValueError(
                f"{name} and the level {name!r} of the index of y_true must have the same numbers; drop one of them, "
                f"such as with y_true.droplevel({name!r}). Got other numbers from row "
                f"{int(np.argmax(values != np.asarray(level)))} on."
            )
        if not np.isfinite(values).all():
            raise ValueError(f"{name} must be finite. Got {echo(values[~np.isfinite(values)][0])}.")
        found[name] = values if rows is None else values[rows]
    return replace(data, columns=found) if found else data


def refuse_column_of_matrix(name: str, x: Any) -> NoReturn:
    """Refuse a column that a metric reads, beside queries by documents."""
    raise ValueError(
        f"{name} has a number for each row, so labels and scores must be rows with a qid. Got queries by "
        f"documents and {name}={echo(x)}."
    )


# --- plain rows ----------------------------------------------------------------------------------------------


def _read_plain(
    y_true: NDArray[Any], y_score: NDArray[Any], qid: NDArray[Any], n_jobs: int | None, names: InputNames,
    keep_float32: bool,
) -> Queries | None:  # fmt: skip
    """Queries of three columns of numbers whose ids rise; None for what needs a closer look."""
    n_rows = qid.size
    if not (qid.ndim == 1 and y_true.shape == y_score.shape == qid.shape and qid.dtype.kind in "iu" and n_rows):
        return None
    grade = np.empty(n_rows, BYTE)

    def read_block(start: int, stop: int) -> tuple[Any, Index, NDArray[Any], int] | None:
        """What is seen of some rows; starts, ids and greatest length of the queries that begin there."""
        starts, ids = np.empty(stop - start + 1, np.int64), np.empty(stop - start, qid.dtype)
        seen = read_rows(y_true, y_score, qid, start, stop, grade, starts, ids)
        if seen is None:
            return None
        starts.resize(seen[-1], refcheck=False)
        ids.resize(seen[-1] - (stop == n_rows), refcheck=False)
        return seen, starts, ids, longest_between(starts)

    blocks = map_blocks(read_block, thread_blocks(n_rows, n_jobs), n_jobs)
    if None in blocks:
        return None
    seen, starts, ids, longest = zip(*blocks, strict=True)
    summary, are_grades, is_good = _joined(seen, qid.dtype.kind)
    if not is_good or not (are_grades or y_true.dtype is FLOAT64):
        return None
    score = y_score if keep_float32 or y_score.dtype is FLOAT64 else y_score.astype(np.float64)
    label = grade if are_grades else y_true
    grouping = Grouping(together(ids, n_jobs), together(starts, n_jobs), n_jobs=n_jobs)
    grouping.longest = max(longest)
    if len(blocks) > 1:  # a query may begin in one block and end in a later one
        edges = np.cumsum([len(part) for part in starts[:-1]])
        grouping.longest = max(*longest, *(grouping.indptr[edges] - grouping.indptr[edges - 1]).tolist())
    return Queries(label, grouping, None, summary, None, names, score=score)


def _joined(blocks: Sequence[Any], id_kind: str) -> tuple[DataSummary, bool, bool]:
    """Facts from what was seen of each block, whether labels are grades, and whether labels and scores are good."""
    label, score, are_grades, _ = blocks[0]
    if len(blocks) > 1:
        labels, scores, grades, _ = zip(*blocks, strict=True)
        label, score, are_grades = _of_all(labels), _of_all(scores), all(grades)
    low, high, has_unjudged, has_minus_inf, has_inf, are_whole = label
    score_low, score_high, has_nan, has_unretrieved, is_beyond, scores_are_whole = score
    label_range = (min(low, 0.0), max(high, 0.0)) if has_unjudged else (low, high)
    score_range, kind = (score_low, score_high), ID_KINDS.get(id_kind, "object")
    summary = DataSummary(label_range, has_unjudged, has_unretrieved, are_whole, scores_are_whole, score_range, kind)
    return summary, are_grades, not (has_minus_inf or has_inf or has_nan or is_beyond)


def _of_all(blocks: Sequence[Any]) -> tuple[float, float, bool, bool, bool, bool]:
    """Facts about all numbers, from those about the numbers of each block."""
    low, high, has_nan, has_minus_inf, has_inf, are_whole = zip(*blocks, strict=True)
    return min(low), max(high), any(has_nan), any(has_minus_inf), any(has_inf), all(are_whole)


# --- any rows ------------------------------------------------------------------------------------------------


def _read_carefully(
    y_true: MatrixLike, y_score: MatrixLike, qid: Any, others: dict[str, Any], n_jobs: int | None, names: InputNames,
    weight_may_be_zero: bool,
) -> Queries:  # fmt: skip
    """Queries of arrays, sequences and frames of any kind: of rows with the query of each, or a row for each query."""
    name, mask = names.score, others["mask"]
    label, score = as_reals(y_true, "y_true"), as_floats(y_score, name)
    if others["sample_weight"] is not None:
        queries = queries_in(y_true) if qid is None else qid
        others["sample_weight"] = by_row(others["sample_weight"], "sample_weight", queries, len(label))
    check_rows(y_true=y_true, **{name: y_score}, qid=qid, **others)
    if label.ndim == 2:
        refuse_table(y_true, y_score)
    named = qid is not None or queries_in(y_true) is not None or queries_in(y_score) is not None
    if label.ndim == score.ndim == 2 and not named and mask is None:
        refuse_one_column(label.shape if label.shape == score.shape else ())
    elif named and (np.ndim(as_numpy(mask)) if mask is not None else 0) < 2:
        label, score = column(label), column(score)
    is_matrix = label.ndim == score.ndim == 2
    if is_matrix:
        check_columns(y_true, y_score, name)
        check_columns(y_true, mask, "mask")
    else:
        label, score = column(label), column(score)
        check_shapes(label, score, name)
    if named or not is_matrix:
        qid = find_qid(y_true, qid)
        refuse_other_queries(y_score, qid, name=name)
    refuse_queries_elsewhere(qid, **others)
    if is_matrix:
        return queries_of_matrix(
            label, score, qid, **others, n_jobs=n_jobs, weight_may_be_zero=weight_may_be_zero, names=names
        )
    return _queries_of_rows(label, score, qid, **others, n_jobs=n_jobs, may_be_zero=weight_may_be_zero, names=names)


def _queries_of_rows(
    label: Array, score: Array, qid: Any, *, sample_weight: ArrayLike | None, tie_break: ArrayLike | None,
    mask: ArrayLike | None, n_jobs: int | None, may_be_zero: bool, names: InputNames,
) -> Queries:  # fmt: skip
    """Queries of rows, with the id of the query of each."""
    weight = None if sample_weight is None else column(as_floats(sample_weight, "sample_weight"))
    keys = None if tie_break is None else _tie_keys(tie_break, score.shape)
    if mask is None:
        grouping = group_rows(qid, len(label), n_jobs)
    else:
        kept = as_mask(column(np.asarray(as_numpy(mask))), score.shape)
        grouping = _group_kept_rows(qid, kept, n_jobs)
        label, score, keys = label[kept], score[kept], None if keys is None else keys[kept]
        weight = None if weight is None else _one_per_row(weight, kept.shape, "sample_weight")[kept]
    if weight is not None:
        weight = query_weight(weight, grouping, may_be_zero=may_be_zero)
    if keys is not None:
        grouping.order = _tie_order(keys, grouping)
    return queries_of(label, score, grouping, weight, names)


def queries_of_matrix(
    label: Array, score: Array, qid: ArrayLike | None = None, *, sample_weight: ArrayLike | None = None,
    tie_break: ArrayLike | None = None, mask: ArrayLike | None = None, n_jobs: int | None = 1,
    weight_may_be_zero: bool = False, first_query: int = 0, names: InputNames = DATA_NAMES,
) -> Queries:  # fmt: skip
    """Queries of two-dimensional input, like for `sklearn.metrics.ndcg_score`: a row is a query."""
    n_queries, n_documents = check_matrix_shapes(label.shape, score.shape, names.score)
    weight = None
    if sample_weight is not None:
        weight = check_query_weight(sample_weight, n_queries, may_be_zero=weight_may_be_zero)
    ids = np.arange(n_queries) if qid is None else ids_of_matrix(qid, label.shape)
    keys = None if tie_break is None else _tie_keys(tie_break, label.shape)
    if mask is None:
        grouping = Grouping.by_matrix(ids, n_documents, first_query)
        label, score, keys = label.ravel(), score.ravel(), None if keys is None else keys.ravel()
    else:
        kept = as_mask(mask, label.shape)
        grouping = Grouping.by_sizes(_lengths(kept, label), ids, first_query)
        label, score, keys = label[kept], score[kept], None if keys is None else keys[kept]
    grouping.n_jobs = n_jobs
    if keys is not None:
        grouping.order = _tie_order(keys, grouping)
    return queries_of(label, score, grouping, weight, names)


def queries_of(
    label: Array, score: Array, grouping: Grouping, weight: Array | None = None, names: InputNames = DATA_NAMES
) -> Queries:  # fmt: skip
    """Queries of rows that were grouped already; refuse infinite labels, and scores that are NaN or +inf."""
    summary, row_label, is_good = summary_of(label, score, grouping.ids.dtype.kind, grouping.n_jobs)
    if not is_good:
        _refuse_infinite(label, grouping)
        refuse_scores(score, names.score, grouping.first_row)
    return Queries(row_label, grouping, weight, summary, None, names, score=score)


def data_of(label: Array, grouping: Grouping, weight: Array | None = None) -> Data:
    """Labels of rows that were grouped already; refuse infinite labels."""
    summary, row_label, is_good = summary_of(label, None, grouping.ids.dtype.kind)
    if not is_good:
        _refuse_infinite(label, grouping)
    return Data(row_label, grouping, weight, summary)


def some_rows(data: Data, rows: Index) -> Data:
    """Some of the rows, with whole queries; at least one of their weights is above 0."""
    query, grouping = data.grouping.with_rows(rows)
    weight = None if data.weight is None else data.weight[query]
    if weight is not None:
        refuse_bad_weight(weight)
    some = data_of(data.label[rows], grouping, weight)
    some.index = None if data.index is None else data.index[rows]
    attributes, clusters = data.properties
    some.properties = QueryAttributes(
        {name: values[query] for name, values in attributes.items()}, None if clusters is None else clusters[query]
    )
    return some


def summary_of(
    label: NDArray[Any] | None, score: NDArray[Any] | None, id_kind: str = "i", n_jobs: int | None = 1
) -> tuple[DataSummary, Any, bool]:
    """Facts about labels, and about scores without gaps; labels as bytes if all are grades; whether all are good."""
    # Good labels are not infinite, and good scores neither NaN nor +inf.
    if label is not None and not (label.dtype in READ and label.flags.c_contiguous and label.flags.aligned):
        label = as_floats(label, "y_true")
    grade = None if label is None or label.ndim == 2 else np.empty(len(label), BYTE)
    n_rows = len(label if score is None else score)  # type: ignore[arg-type]
    blocks = thread_blocks(n_rows, n_jobs)
    seen = map_blocks(lambda a, b: read_rows(label, score, None, a, b, grade, None, None), blocks, n_jobs)
    summary, are_grades, is_good = _joined(seen, id_kind)
    return summary, grade if are_grades or label is None else as_floats(label, "y_true"), is_good


def with_scores(
    data: Data, y_score: MatrixLike, shape: tuple[int, ...], *, mask: ArrayLike | None = None, score_name: str
) -> Queries:  # fmt: skip
    """Queries with scores of this `shape`, such as the scores of another system."""
    score, is_matrix = as_floats(y_score, score_name), data.grouping.row_is_query
    if not is_matrix:
        score, shape = column(score), shape[:1]
    if score.shape != shape:
        raise ValueError(
            f"{score_name} must have one score for each label, like the other systems: shape {shape}. "
            f"Got {score.shape} instead."
        )
    if mask is not None:
        mask = as_numpy(mask)
        score = score[as_mask(mask if is_matrix else column(np.asarray(mask)), shape)]
    score = score.ravel()
    seen, _, is_good = summary_of(None, score, n_jobs=data.n_jobs)
    if not is_good:
        refuse_scores(score, score_name, data.grouping.first_row)
    return data.with_scores(score, seen).named(InputNames(score=score_name))


# --- labels and scores ---------------------------------------------------------------------------------------


def _refuse_infinite(label: Array, grouping: Grouping) -> None:
    """Refuse infinite labels; the first row that has one is named."""
    if (infinite := np.isinf(label)).any():
        raise ValueError(f"y_true must be finite. Got an infinite label in row {grouping.first_row(infinite)}.")


def check_shapes(label: NDArray[Any], score: NDArray[Any], score_name: str = "y_score") -> None:
    """Refuse anything but one score per row, and one label, or labels of subtopics, per row."""
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


def check_matrix_shapes(label: tuple[int, ...], score: tuple[int, ...], score_name: str) -> tuple[int, ...]:
    """Shape of labels of queries by documents; refuse scores of another shape, and empty ones."""
    if label != score:
        raise ValueError(f"y_true and {score_name} must have the same shape. Got {label} and {score}.")
    if 0 in label:
        raise ValueError(f"At least one row and one column are needed. Got shape {label}.")
    return label


def refuse_one_column(shape: tuple[int, ...]) -> None:
    """Refuse a single column: each row would be a query of one document, so qid is missing."""
    if shape[1:] == (1,):
        raise ValueError(
            "Two-dimensional y_true and y_score are queries by documents, so in a single column each query would have "
            "one document: pass qid=, or y_true.T and y_score.T if all rows are one query. "
            f"Got shape {shape}."
        )


def check_scores(score: Any, name: str) -> Array:
    """Check scores, one per row, and return them as float64."""
    array = column(as_floats(score, name))
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, the score of each row. Got shape {array.shape} instead.")
    if len(array) == 0:
        raise ValueError(f"At least one row is needed. Got empty {name}.")
    if not (array < np.inf).all():
        refuse_scores(array, name)
    return array


def refuse_scores(score: NDArray[Any], name: str, row_of: Callable[[NDArray[np.bool_]], int] = first_row) -> None:
    """Refuse scores because one is NaN or +inf; the first and its row are named."""
    bad = ~(score < np.inf)
    raise ValueError(
        f"{name} must not contain NaN or +inf (-inf marks a document that was judged but not retrieved). "
        f"Got {score[bad][0]} in row {row_of(bad)}."
    )


# --- ids of matrices, and keys that order ties ---------------------------------------------------------------


def ids_of_matrix(qid: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Ids of the rows of a matrix, where each row is a query."""
    n_given = np.shape(ids_of(qid))
    if n_given != shape[:1]:
        hint = " The first column of qid has one id for each row." if n_given == shape else ""
        raise ValueError(
            "With two-dimensional y_true and y_score each row is a query and qid must be None or have one id for each "
            f"row. Got shape {shape} and qid, or an index with a level 'qid', of shape {n_given}.{hint}"
        )
    grouping = group_rows(qid, shape[0])
    if grouping.n_queries < shape[0]:
        again = grouping.ids[grouping.sizes > 1].tolist()[0]
        raise ValueError(
            "With two-dimensional y_true and y_score each row is a query, so qid must have each id once; rows of "
            "documents have one label and one score each, and for class probabilities wrap the classifier in "
            f"QueryRanker. Got shape {shape} and query {echo(again)} more than once."
        )
    return grouping.ids


def _tie_keys(tie_break: ArrayLike, shape: tuple[int, ...]) -> NDArray[Any]:
    """Array of the keys that order rows of equal score."""
    refuse_masked(tie_break, "tie_break")
    tie_break = as_numpy(tie_break)
    if len(shape) == 1 and isinstance(tie_break, (list, tuple)):
        keys = ids_of(tie_break)
    else:
        keys = np.asarray(one_column(tie_break) if len(shape) == 1 else tie_break)
    return _one_per_row(keys, shape, "tie_break")


def _one_per_row(values: NDArray[Any], shape: tuple[int, ...], name: str) -> NDArray[Any]:
    """The values; refuse them if there is not one for each row."""
    if values.shape != shape:
        raise ValueError(f"{name} must have one entry per row, shape {shape}. Got shape {values.shape} instead.")
    return values


def _tie_order(keys: NDArray[Any], grouping: Grouping) -> Index:
    """Rows by query, and by falling `keys` inside each; equal ones in the order of the input."""
    try:
        _, rank = np.unique(keys, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"tie_break must hold values that sort. Got {error}.") from None
    if (keys != keys).any():
        raise ValueError("tie_break must not contain missing values. Got NaN.")
    return np.lexsort((-rank.ravel(), grouping.query_of_row))


# --- weights -------------------------------------------------------------------------------------------------


def query_weight(sample_weight: ArrayLike, grouping: Grouping, *, may_be_zero: bool = False) -> Array:
    """Weights per query from weights per row."""
    # They must not vary inside a query, be negative, infinite or all zero; of a part of the queries they may be zero.
    weight, n_rows = column(as_floats(sample_weight, "sample_weight")), grouping.n_rows
    if weight.shape != (n_rows,):
        raise ValueError(f"sample_weight must have one entry per row ({n_rows}). Got shape {weight.shape} instead.")
    refuse_bad_weight(weight, may_be_zero=may_be_zero)
    rule = "sample_weight weights whole queries, so it must be constant within each."
    return constant_within(weight, grouping, rule, lambda two: "{:g} and {:g}".format(*two))


def check_query_weight(sample_weight: ArrayLike, n_queries: int, *, may_be_zero: bool = False) -> Array:
    """Weights of queries, where a row is a query."""
    # A result keeps them, and its caller may write to these.
    weight = column(as_floats(sample_weight, "sample_weight")).copy()
    if weight.shape != (n_queries,):
        raise ValueError(
            f"Where a row is a query, sample_weight must have one entry per query ({n_queries}). "
            f"Got shape {weight.shape} instead."
        )
    refuse_bad_weight(weight, may_be_zero=may_be_zero)
    return weight


def refuse_bad_weight(weight: Array, *, may_be_zero: bool = False) -> None:
    """Refuse weights that allow no mean: one is negative or not finite, all are zero, or sums would overflow."""
    lowest, highest = weight.item(weight.argmin()), weight.item(weight.argmax())
    if not (0 <= lowest and highest < np.inf and (may_be_zero or highest > 0)):
        raise ValueError(
            f"sample_weight must be finite, not negative and not all zero. Got values from {lowest} to {highest}."
        )
    if highest > HIGHEST_WEIGHT or (highest < 1 / HIGHEST_WEIGHT and not may_be_zero):
        raise ValueError(
            f"The highest sample_weight must be from {1 / HIGHEST_WEIGHT:g} to {HIGHEST_WEIGHT:g}, so that weights can "
            f"be summed up; divide all weights by the highest. Got {highest:g}."
        )


# --- the mask of padded input --------------------------------------------------------------------------------


def as_mask(mask: ArrayLike, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """The mask as an array: True where there is a document. What is under it is never read."""
    array = np.asarray(as_numpy(mask))
    if array.dtype == object and all(isinstance(entry, (bool, np.bool_)) for entry in array.ravel().tolist()):
        array = array.astype(bool)
    if array.dtype != bool:
        raise TypeError(
            "mask must be boolean, True where there is a document: convert an attention mask of ones and zeros with "
            f"mask == 1. Got {type(mask).__name__} of dtype {array.dtype}."
        )
    if array.shape != shape:
        raise ValueError(f"mask must have the shape of y_true, {shape}. Got shape {array.shape}.")
    return array


def _lengths(mask: NDArray[np.bool_], label: Array) -> Index:
    """Number of documents of each row of a matrix; refuse a row without any, and a mask the wrong way round."""
    n_documents = np.count_nonzero(mask, axis=1)
    if n_documents[n_documents.argmin()] == 0:
        raise ValueError(
            "Every row of mask must have a document, True: drop rows without one from all arrays. If True marks the "
            "padding, as in key_padding_mask of torch, pass ~mask. "
            f"Got {np.count_nonzero(n_documents == 0)} of {len(mask)} rows without, the first is row "
            f"{int(n_documents.argmin())}."
        )
    if not mask[:, 0].any():  # every row begins with padding: is that where the labels are?
        inside, outside = label[mask], label[~mask]
        if (inside == inside[0]).all() and (outside != outside[0]).any():
            raise ValueError(
                "mask must be True where there is a document: if True marks the padding, as in key_padding_mask of "
                "torch, pass ~mask. Got a mask that is False in the first column, and label "
                f"{inside[0]:g} wherever it is True."
            )
    return n_documents


def _group_kept_rows(qid: Any, mask: NDArray[np.bool_], n_jobs: int | None) -> Grouping:
    """As `group_rows`, of the rows that are documents; refuse a query that has none."""
    of_all, rows = group_rows(qid, len(mask), n_jobs), np.flatnonzero(mask)
    query, grouping = of_all.with_rows(rows)
    ids, without = of_all.ids, np.bincount(query, minlength=of_all.n_queries) == 0
    if without.any():
        raise ValueError(
            "Every query must have a row where mask is True: take y_true[mask], y_score[mask] and qid[mask] to leave "
            f"queries out. Got {np.count_nonzero(without)} of {len(ids)} queries without, the first is "
            f"{echo(ids[without][:1].tolist()[0])}."
        )
    grouping.origin = Origin(rows=rows, n_given=len(mask))
    return grouping
