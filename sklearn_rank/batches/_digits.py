"""Scores with more digits than float64 has: in a part they could be equal to others that are not there to compare."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

EXACT = 2**53
"""float64 holds every whole number up to this one."""


def refuse_lost_digits(y_score: Any) -> None:
    """Refuse whole numbers that float64 has not, and fractions of more digits than it is written with.

    Raises
    ------
    ValueError
        If there is one.
    """
    scores = np.asarray(y_score)
    if scores.dtype.kind in "iu":
        suspects: list[Any] = scores[(scores > EXACT) | (scores < -EXACT)].tolist()
    elif scores.dtype == object:
        suspects = [x for x in scores.ravel().tolist() if isinstance(x, (int, Decimal))]
    else:
        return
    for score in suspects:
        if score == score and not _stays_distinct(score):
            raise ValueError(
                "y_score must hold numbers that float64 can tell apart, of up to 15 digits, or equal ones would be "
                "ties: subtract a constant from all scores, or convert them to floats if ties do no harm. "
                f"Got {score}, which would be {float(score)!r}."
            )


def _stays_distinct(score: int | Decimal) -> bool:
    """Whether no other number that may stay is the same as float64."""
    number = float(score)
    if isinstance(score, int) or not score.is_finite() or score % 1 == 0:
        return number == score
    return Decimal(repr(number)) == score
