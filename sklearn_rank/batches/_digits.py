"""Scores with more digits than float64 has: in a part they could be equal to others that are not there to compare."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import numpy as np

EXACT = 2**53
"""float64 holds every whole number up to this one."""


def refuse_lost_digits(y_score: Any) -> None:
    """Refuse scores that would be another number as float64; distinct ones of up to 15 digits stay distinct.

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
        if Decimal(repr(float(score))) != score and score == score:
            raise ValueError(
                "y_score must hold numbers that float64 can tell apart, of up to 15 digits, or equal ones would be "
                "ties: subtract a constant from all scores, or convert them to floats if ties do no harm. "
                f"Got {score}, which would be {float(score)!r}."
            )
