"""A warning about a run and judgements that seem to be the other way round."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import warn_caller
from sklearn_rank.io._entries import Entries

MOST_GRADES = 6
"""Grades that a scale of relevance has at most; a run with no more scores, all of them whole, may be judgements."""
ORDER = {"join": "the run first, then the judgements", "evaluate_run": "the judgements first, then the run"}


def warn_if_swapped(caller: str, run: Any, judgements: Any, of_run: Entries, judged: Entries) -> None:
    """Warn if the run looks like grades, and what it is judged by is no shorter and looks like scores or a ranking.

    `of_run` and `judged` are the entries of `run` and `judgements`, which may have any form.
    """
    score, grade = of_run.value, judged.value
    if not 0 < len(score) <= len(grade) or not _are_grades(score) or isinstance(_first_value(run), Sequence):
        return
    distinct = np.unique(score)
    tied = len(distinct) == 1 or len(np.unique([of_run.qid.code, score], axis=1)[0]) < len(score)
    if tied and (isinstance(_first_value(judgements), Sequence) or not _are_grades(grade)):
        warn_caller(
            f"{caller} takes {ORDER[caller]}, and these seem to be the other way round. Got a run of no more documents "
            f"than are judged, with no scores but {', '.join(map('{:g}'.format, distinct))}."
        )


def _first_value(by_query: Any) -> Any:
    return next(iter(by_query.values()), None) if isinstance(by_query, Mapping) else None


def _are_grades(values: Array) -> bool:
    """Whether there are a few whole numbers."""
    return bool((values == np.floor(values)).all()) and len(np.unique(values)) <= MOST_GRADES
