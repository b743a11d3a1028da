"""Keywords that the functions of statistics share: the rule of each, written once."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._keywords import Keyword, is_count, is_real, one_of


def _share(doc: str = "") -> Keyword:
    return Keyword("between 0 and 1, exclusive", lambda v: is_real(v) and 0 < v < 1, doc)


def _is_random_state(value: Any) -> bool:
    if isinstance(value, (int, np.integer)):
        return bool(value >= 0)
    return value is None or isinstance(value, (np.random.RandomState, np.random.Generator))


RULES = {
    "alternative": one_of("two-sided", "greater", "less", doc=""),
    "level": _share(),
    "confidence_level": _share(),
    "alpha": _share(),
    "power": _share(),
    "n_resamples": Keyword("an int >= 1", is_count, ""),
    "random_state": Keyword("an int >= 0, a RandomState, a Generator or None", _is_random_state, ""),
    "missing": Keyword("'raise', a finite number or nan", lambda v: v == "raise" or is_real(v) or v != v, ""),
    "correction": one_of(None, "holm", "bonferroni", "bh", "tukey", doc=""),
    "method": one_of("t", "percentile", "bca", doc=""),
    "std": Keyword("a finite number >= 0", lambda v: is_real(v) and v >= 0, ""),
    "difference": Keyword("a finite number", is_real, ""),
    "n": Keyword("an int >= 2", lambda v: is_count(v) and v >= 2, ""),
    "n_train": Keyword("a finite number > 0", lambda v: is_real(v) and v > 0, ""),
    "n_test": Keyword("a finite number > 0", lambda v: is_real(v) and v > 0, ""),
}


def check_arguments(caller: str, **values: Any) -> None:
    """Raise ValueError for the first value that its rule does not accept."""
    for name, value in values.items():
        RULES[name].check(name, value, caller)
