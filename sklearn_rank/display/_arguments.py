"""Constraints for the arguments of the Displays."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._utils.constraints import BOOL, SHARE, Constraint, is_real
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats

STR = Constraint("a str", lambda v: isinstance(v, str), "")
STR_OR_NONE = Constraint("a str or None", lambda v: v is None or isinstance(v, str), "")
RESULT_RULE = "a result: of evaluate(...), or one of compare_systems(...), such as report['new']"
RESULT = Constraint(RESULT_RULE, lambda v: isinstance(v, Evaluation), "")
METHOD_RULES = {
    "name": STR_OR_NONE,
    "ax": Constraint("axes of Matplotlib or None", lambda v: v is None or hasattr(v, "figure"), ""),
    "alpha": SHARE,
    "result": RESULT,
}
"""Constraints of arguments with the same meaning in all methods of the Displays."""

CONSTRUCTOR_RULES = {
    **METHOD_RULES,
    "note": STR,
    "metric": STR,
    "greater_is_better": BOOL,
    "confidence_level": Constraint(
        "between 0 and 1, exclusive, or None", lambda v: v is None or (is_real(v) and 0 < v < 1), ""
    ),
    "baseline": STR_OR_NONE,
    "difference_from": STR_OR_NONE,
    "as_row": BOOL,
    "pvalue": Constraint("between 0 and 1, or None", lambda v: v is None or (is_real(v) and 0 <= v <= 1), ""),
}
"""Constraints of the arguments of constructors."""


def points(**columns: ArrayLike | None) -> list[Any]:
    """Convert columns of numbers to 1-D arrays of equal length; None stays None."""
    arrays = [None if x is None else as_floats(x, name) for name, x in columns.items()]
    shapes = {name: x.shape for name, x in zip(columns, arrays, strict=True) if x is not None}
    if len({*shapes.values()}) > 1 or any(len(shape) != 1 or shape[0] == 0 for shape in shapes.values()):
        names, got = " and ".join(columns), " and ".join(map(str, shapes.values()))
        raise ValueError(f"{names} must be one-dimensional, with a number for each point. Got shape {got}.")
    return arrays


def required(x: ArrayLike | None, name: str) -> ArrayLike:
    """Refuse None for required numbers."""
    if x is None:
        raise TypeError(f"{name} must hold real numbers. Got None instead.")
    return x


def mapping(x: Any, name: str) -> dict[Any, Any]:
    """Copy of a dict."""
    if not hasattr(x, "items"):
        raise TypeError(f"{name} must be a dict. Got {echo(x)} instead.")
    return dict(x)
