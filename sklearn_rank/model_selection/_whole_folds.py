"""Folds of whole queries, of any splitter or list of splits, and how often they test a row.

Uses the public API of scikit-learn alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._utils.constraints import is_count
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Index
from sklearn_rank.model_selection._folds import Split
from sklearn_rank.model_selection._routing import consumes
from sklearn_rank.model_selection._split import QueryKFold

NOTHING: Mapping[str, Any] = {}
OF_SPLITTERS = ("clusters", "time")
"""Metadata besides qid that splitters take."""


def check_splitter(cv: Any, class_name: str) -> Any:
    """Splitter of a number of folds, a splitter as it is, or a list of splits.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if is_count(cv) and cv > 1:
        return QueryKFold(cv)
    if hasattr(cv, "split") and not isinstance(cv, str):
        return cv
    splits = list(cv) if isinstance(cv, Iterable) and not isinstance(cv, (str, bytes)) else []
    if not splits or not all(isinstance(split, (tuple, list)) and len(split) == 2 for split in splits):
        is_numbers = bool(splits) and all(isinstance(one, (int, np.integer)) for one in splits)
        hint = (
            " For the number of each row's fold, -1 where it is only trained on, there is PredefinedSplit." * is_numbers
        )
        raise ValueError(
            f"The 'cv' parameter of {class_name} must be an int >= 2 or a splitter, or a list of splits, "
            f"[(train, test)], of row numbers.{hint} Got {echo(cv)} instead."
        )
    return splits


def whole_folds(cv: Any, X: Any, y: Any, number: Index, metadata: Mapping[str, Any] = NOTHING) -> list[Split]:
    """Folds of a splitter, or of a list of them, which keep queries whole; a splitter gets the metadata it asks for.

    Raises
    ------
    ValueError
        If a query is in a training set and its test set, or only some of its rows are in a test set.
    """
    if hasattr(cv, "split"):
        groups = {"groups": number} if consumes(cv, "split", "groups", "qid") else {}
        taken = {name: metadata[name] for name in OF_SPLITTERS if name in metadata and consumes(cv, "split", name)}
        folds = list(cv.split(X, y, **groups, **taken))
    else:
        folds = cv = list(cv)
    folds = [(_row_numbers(train, len(number), cv), _row_numbers(test, len(number), cv)) for train, test in folds]
    n_rows = np.bincount(number)
    for i, (train, test) in enumerate(folds):
        torn = np.intersect1d(number[train], number[test])
        if len(torn):
            raise ValueError(
                "A splitter must keep queries whole, or scores are taken on lists cut short and seen in training; "
                "use QueryKFold, QueryShuffleSplit or LeaveOneQueryOut. "
                f"Got {_shown(cv)}, which tears {len(torn)} queries apart in fold {i}."
            )
        n_tested = np.bincount(number[test], minlength=len(n_rows))
        n_cut = np.count_nonzero((n_tested > 0) & (n_tested != n_rows))
        if n_cut:
            raise ValueError(
                "A test set must have all rows of its queries, each once, or scores are taken on lists cut short. "
                f"Got {_shown(cv)}, which tests {n_cut} queries of fold {i} on other rows."
            )
    return folds


def count_repeats(folds: Sequence[Split], n_rows: int) -> int | None:
    """How often rows are tested: 1, where some may be left out, or all as often; None if it is neither.

    The same folds once more are no repeats: they would count twice what was seen once.
    """
    n_tests = np.bincount(np.concatenate([test for _, test in folds]), minlength=n_rows)
    n_repeats = int(n_tests.max())
    if n_repeats == 1:
        return 1
    n_different = len({np.sort(test).tobytes() for _, test in folds})
    return n_repeats if n_tests.min() == n_repeats and n_different * n_repeats > len(folds) else None


def refuse_unused(cv: Any, **metadata: Any) -> None:
    """Refuse metadata, given by name, that a splitter does not take.

    Raises
    ------
    TypeError
        Naming splitters that do.
    """
    for name, values in metadata.items():
        if values is not None and not (hasattr(cv, "split") and consumes(cv, "split", name)):
            takes = {"time": "QueryTimeSeriesSplit", "clusters": "QueryKFold or QueryShuffleSplit"}[name]
            raise TypeError(f"{name}= is for a splitter that takes it, such as {takes}. Got {_shown(cv)}.")


def _row_numbers(rows: Any, n_rows: int, cv: Any) -> NDArray[np.int64]:
    """Row numbers of a training or test set; a mask becomes the numbers of its rows."""
    array = np.asarray(rows)
    if array.dtype == bool and array.shape == (n_rows,):
        return np.flatnonzero(array)
    array = array if array.size else array.astype(np.int64)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(
            f"A split must be a pair (train, test) of lists of row numbers, or of masks of all {n_rows} rows. "
            f"Got {echo(rows)}."
        )
    if not array.size:
        raise ValueError(
            f"A split must have rows to train on and rows to test. Got {_shown(cv)}, of which one has none."
        )
    if array.max(initial=-1) >= n_rows or array.min(initial=0) < 0:
        raise ValueError(f"A splitter must split the {n_rows} rows it is given, as QueryKFold does. Got {_shown(cv)}.")
    return array.astype(np.int64, copy=False)


def _shown(cv: Any) -> str:
    """A splitter in a message."""
    return echo(cv) if hasattr(cv, "split") else f"a list of {len(cv)} splits"
