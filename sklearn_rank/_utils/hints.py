"""Which function takes what was given instead of arrays: hints for errors.

Objects are known by what they look like, so that no library is imported.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

TABLE_HINT = "A table goes to evaluate_table(data, y_true='label', y_score='score', qid='qid'), by its columns' names."
RECORDS_HINT = "A list of dicts is a table by rows: evaluate_table(pandas.DataFrame(rows))."
RUN_HINT = "Documents by query, in dictionaries or lists of ids, go to evaluate_run(judgments, run)."
SYSTEMS_HINT = "Several systems go to compare_systems(y_true, {name: y_score}, qid=qid)."
COLUMNS_HINT = (
    "Columns of several systems in a table in memory go to compare_systems(data, ['bm25', 'lgbm']); of other data "
    "evaluate each column, and pass the results: compare_systems({'bm25': result, 'lgbm': other})."
)
RESULTS_HINT = "Results go to compare_systems({name: result}), or two of them to stats.compare(a, b)."
ROWS_HINT = "Rows that were read go to evaluate as arrays: evaluate(data.y_true, data.y_score, qid=data.qid)."
ARRAYS_HINT = "Arrays go to evaluate(y_true, y_score, qid=qid)."
NAMES_HINT = "Names of columns go with their table, or with the path of a file, to evaluate_table."
FILE_HINT = "Data on disk go to evaluate_table(path), or to io.read_table, io.read_run and io.read_qrels."
POSITION_HINTS = {"compare_systems": SYSTEMS_HINT}
"""Hints for functions that are called with more by position than they take."""
RANKS_HINT = (
    "y_true is the relevance of each document, and y_score the output of the model. From ranks of the first relevant "
    "document of each query: results.Evaluation.from_values(qid, {'mrr': 1 / numpy.array(ranks)})."
)
SPARK_HINT = "A Spark DataFrame goes to sklearn_rank.spark.evaluate(data), which has the same columns and starts a job."


MODELS_FIRST = (
    "The models come first, compare({'ridge': Ridge()}, frame, 'label', qid='qid'); compare_systems(frame, ['bm25', "
    "'lgbm']) compares columns of scores."
)


def has(x: Any, name: str) -> bool:
    """Whether an object has an attribute by its type: a frame of pandas has others, named as its columns."""
    return hasattr(type(x), name)


def hint_for(x: Any) -> str:
    """Hint at the function that takes an object in place of all arrays; "" for what may be an array."""
    root = type(x).__module__.partition(".")[0]
    if isinstance(x, (str, os.PathLike)) or has(x, "get_fragments"):
        return FILE_HINT
    if has(x, "per_query") and has(x, "n_undefined"):
        return RESULTS_HINT
    if root == "sklearn_rank" and hasattr(x, "not_in_qrels"):
        return ROWS_HINT
    if root == "ranx" or (root == "sklearn_rank" and hasattr(x, "doc_id")):
        return RUN_HINT
    if root == "pyspark" and has(x, "columns"):
        return SPARK_HINT
    if isinstance(x, Mapping):
        return _hint_for_values(next(iter(x.values()), None), TABLE_HINT)
    if is_table(x):
        return TABLE_HINT
    return _hint_for_values(x[0], "") if isinstance(x, (list, tuple)) and len(x) else ""


def is_table(x: Any) -> bool:
    """Whether an object has several named columns."""
    if has(x, "collect_schema"):
        return True
    if has(x, "column_names") or has(x, "columns"):
        names = x.column_names if has(x, "column_names") else x.columns
        return not has(names, "__len__") or len(names) != 1
    return has(x, "__arrow_c_stream__") and not has(x, "dtype") and not has(x, "type")


def _hint_for_values(first: Any, otherwise: str) -> str:
    """Hint by the first of the values of a dict, or of the entries of a list, which is no table then."""
    if has(first, "per_query"):
        return RESULTS_HINT
    if isinstance(first, Mapping) and first:
        return RUN_HINT if otherwise else RECORDS_HINT
    is_list = isinstance(first, (list, tuple)) and len(first) > 0
    return RUN_HINT if isinstance(first, (set, frozenset)) or (is_list and isinstance(first[0], str)) else otherwise


def hint_for_arguments(y_true: Any, y_score: Any = None, **others: Any) -> str:
    """Hint at the function that takes these arguments; "" if they may be arrays, which have another fault."""
    if isinstance(y_true, Mapping) and isinstance(y_score, Mapping):
        return RESULTS_HINT if hint_for(y_true) == RESULTS_HINT else RUN_HINT
    hint = hint_for(y_true)
    if hint in ("", TABLE_HINT) and _is_matrix(y_true, y_score) and not _is_twice(y_true, y_score):
        return ""
    per_row = y_score, others.get("qid"), others.get("sample_weight"), others.get("tie_break")
    if hint in ("", FILE_HINT) and any(isinstance(x, str) for x in per_row):
        return NAMES_HINT
    if not hint and (isinstance(y_score, Mapping) or is_table(y_score)):
        return RUN_HINT if hint_for(y_score) == RUN_HINT else SYSTEMS_HINT
    return hint or hint_for(y_score)


def refuse_misplaced(error: Exception, y_true: Any, y_score: Any, **others: Any) -> None:
    """Refuse arguments that are no arrays, after some error about them, by the name of the function that takes them."""
    hint = hint_for_arguments(y_true, y_score, **others)
    if hint == TABLE_HINT and isinstance(error, ValueError) and len(getattr(y_score, "shape", ())) == 1:
        raise ValueError(f"{error} {hint}") from None
    if hint:
        got = f"{type(y_true).__name__} and {type(y_score).__name__}"
        raise TypeError(f"y_true and y_score must be arrays with an entry per row. {hint} Got {got} instead.") from None


def _is_matrix(y_true: Any, y_score: Any) -> bool:
    """Whether both are queries by documents, by their shapes; the shape of a relation takes a query."""
    shapes = [getattr(x, "shape", ()) if has(x, "__array__") else () for x in (y_true, y_score)]
    return len(shapes[0]) == 2 and shapes[0] == shapes[1]


def _is_twice(y_true: Any, y_score: Any) -> bool:
    """Whether both are one table; numbered columns are documents, and every order of them is ideal for itself."""
    return y_true is y_score and any(isinstance(name, str) for name in getattr(y_true, "columns", ()))


def refuse_table(y_true: Any, y_score: Any) -> None:
    """Refuse a table where a frame of labels has a column for each document or subtopic."""
    if has(y_true, "columns") and (_is_twice(y_true, y_score) or "qid" in [*y_true.columns]):
        got = "the same frame as y_score" if y_true is y_score else "a column 'qid'"
        raise TypeError(
            f"A frame as y_true has a column of labels for each document or subtopic. {TABLE_HINT} Got {got}."
        )


def hint_for_table(data: Any) -> str:
    """Hint at the function that takes an object in place of a table in memory; "" for what may be one."""
    hint = hint_for(data)
    if hint == TABLE_HINT:
        return ""
    dtype = getattr(data, "dtype", None)
    is_array = dtype is not None and not callable(dtype) and getattr(dtype, "names", None) is None
    is_array = is_array or isinstance(data, (list, tuple))
    return hint or (ARRAYS_HINT if is_array else "")
