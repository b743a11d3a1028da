"""Sources of random numbers."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_random_state

from sklearn_rank._utils.constraints import RANDOM_STATE
from sklearn_rank._utils.typing import RandomState


def random_of(random_state: RandomState, function_name: str) -> np.random.RandomState:
    """Source of random numbers of a function, as scikit-learn makes it.

    Raises
    ------
    ValueError
        If `random_state` is no such thing.
    """
    RANDOM_STATE.check("random_state", random_state, function_name)
    return check_random_state(random_state)
