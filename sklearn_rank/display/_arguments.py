"""Rules for the arguments of the Displays."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_rank._utils.constraints import BOOL, COUNT, SHARE, Constraint, is_count, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats

TEXT = Constraint("a str", lambda v: isinstance(v, str), "")
TEXT_OR_NONE = Constraint("a str or None", lambda v: v is None or isinstance(v, str), "")
LEVEL = Constraint("between 0 and 1, exclusive, or None", lambda v: v is None or (is_real(v) and 0 < v < 1), "")
ROUND = Constraint("an int >= 0 or None", lambda v: v is None or (is_count(v + 1) if is_real(v) else False), "")
PVALUE = Constraint("between 0 and 1, or None", lambda v: v is None or (is_real(v) and 0 <= v <= 1), "")
AXES = Constraint("axes of Matplotlib or None", lambda v: v is None or hasattr(v, "figure"), "")
RESULT = Constraint(
    "a result: of evaluate(...), or one of compare_systems(...).results",
    lambda v: hasattr(type(v), "per_query") and not isinstance(v, type),
    "",
)
YES_OR_NO = Constraint("a bool or None", lambda v: v is None or isinstance(v, (bool, np.bool_)), "")
RULES = {
    "show_points": YES_OR_NO,
    "name": TEXT_OR_NONE,
    "note": TEXT,
    "ax": AXES,
    "alpha": SHARE,
    "n_bins": COUNT,
    "result": RESULT,
}
"""Rules of the arguments that have one meaning in all methods of the Displays."""

OF_CONSTRUCTORS = {
    **RULES, "metric": TEXT, "greater_is_better": BOOL, "confidence_level": LEVEL, "best_iteration": ROUND,
    "baseline": TEXT_OR_NONE, "difference_from": TEXT_OR_NONE, "show_points": BOOL, "as_row": BOOL, "pvalue": PVALUE,
}  # fmt: skip
"""Rules of the arguments of their constructors."""


def points(**columns: ArrayLike | None) -> list[Any]:
    """Numbers to be drawn, of one dimension and all as many; None stays None.

    Raises
    ------
    TypeError
        If one is no number.
    ValueError
        If there are none, or there is another number of dimensions.
    """
    arrays = [None if x is None else as_floats(x, name) for name, x in columns.items()]
    shapes = {name: x.shape for name, x in zip(columns, arrays, strict=True) if x is not None}
    if len({*shapes.values()}) > 1 or any(len(shape) != 1 or shape[0] == 0 for shape in shapes.values()):
        names, got = " and ".join(columns), " and ".join(map(str, shapes.values()))
        raise ValueError(f"{names} must be of one dimension and have a number for each point. Got shape {got}.")
    return arrays


def required(x: ArrayLike | None, name: str) -> ArrayLike:
    """Numbers that must be given."""
    if x is None:
        raise TypeError(f"{name} must hold real numbers. Got None instead.")
    return x


def mapping(x: Any, name: str) -> dict[Any, Any]:
    """Copy of a dict."""
    if not hasattr(x, "items"):
        raise TypeError(f"{name} must be a dict. Got {echo(x)} instead.")
    return dict(x)
