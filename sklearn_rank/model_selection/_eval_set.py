"""Validation rows of the user's own: ``fit(..., eval_set=(X, y, qid))``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import validate_data

from sklearn_rank._engine.grouping import find_qid, number_together
from sklearn_rank._utils.echo import echo
from sklearn_rank.model_selection._fit_rows import read_rows
from sklearn_rank.model_selection._query_data import QueryData

FORM = (
    "eval_set must be a tuple (X, y, qid) or (X, y, qid, sample_weight) of validation rows, or (X, y) where the index "
    "of y has the level 'qid'."
)
CONTENTS = (
    "X, y and qid in eval_set must be as fit takes them, X with the same columns; without qid the index of y must have "
    "the level 'qid'."
)


def read_eval_set(ranker: Any, eval_set: Any) -> QueryData:
    """Check validation rows against the features that `ranker` is fitted on, and group them.

    Raises
    ------
    TypeError
        If `eval_set` is no tuple of two to four.
    ValueError
        If columns differ from those of the training rows, or there is no qid.
    """
    if not isinstance(eval_set, tuple) or not 2 <= len(eval_set) <= 4:
        raise TypeError(f"{FORM} Got {_form_of(eval_set)}.")
    X, y, qid, sample_weight = (*eval_set, None, None)[:4]
    try:
        validate_data(ranker, X, skip_check_array=True, reset=False)
        X, y, weight = read_rows(X, y, qid, sample_weight)
        X, y = (x if hasattr(x, "shape") else np.asarray(x) for x in (X, y))
        return QueryData.of(X, y, find_qid(y, qid, name="y"), weight)
    except ValueError as error:
        raise ValueError(f"{CONTENTS} {error}") from None


def refuse_trained_on(ids: NDArray[Any], eval_ids: NDArray[Any]) -> None:
    """Refuse validation queries that are among those to train on.

    Raises
    ------
    ValueError
        With the number of them, and one.
    """
    if ids.dtype.kind != eval_ids.dtype.kind:  # NumPy would turn 1 into "1"
        ids, eval_ids = ids.astype(object), eval_ids.astype(object)
    number = number_together([ids, eval_ids])[1][1]
    (shared,) = np.nonzero(number < len(ids))
    if len(shared):
        one = eval_ids[shared[0]]
        raise ValueError(
            "Queries of eval_set must not be trained on, or the model would be judged by what it has seen. If these "
            "are other queries whose ids are numbered from 0 again, make them distinct: "
            "qid = np.char.add('eval-', qid.astype(str)). "
            f"Got {len(shared)} of {len(eval_ids)} queries in both, one of them "
            f"{echo(one.item() if isinstance(one, np.generic) else one)}."
        )


def _form_of(eval_set: Any) -> str:
    """Type of what was given, and its length."""
    name = type(eval_set).__name__
    return f"{name} of {len(eval_set)}" if isinstance(eval_set, (tuple, list)) else name
