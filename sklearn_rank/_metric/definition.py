"""Check the definition of a metric: its name, its aliases, the keywords of its formula."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from sklearn_rank._metric.key_signs import SIGN
from sklearn_rank._metric.keywords import SHARED
from sklearn_rank._metric.metric import Formula
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.echo import echo

OF_CALLS = (
    "y_true",
    "y_score",
    "qid",
    "k",
    "sample_weight",
    "tie_break",
    "mask",
    "n_jobs",
    "by",
    "clusters",
    "metrics",
)
"""Arguments of functions that metrics are passed to."""


def refuse_bad_names(name: Any, aliases: Iterable[Any]) -> None:
    """Refuse names that `parse_metric` could not read."""
    for text in (name, *aliases):
        if not isinstance(text, str) or not re.fullmatch(r"[a-z0-9_-]+", text):
            raise ValueError(
                "The name of a metric must be a str of a-z, 0-9, '_' and '-', as in @metric(\"my_metric\"). "
                f"Got {echo(text)} instead."
            )
        if text.startswith(SIGN):
            raise ValueError(
                f"The name of a metric must not start with {SIGN!r}, which begins the names of scorers of errors. "
                f"Got {echo(text)} instead."
            )


def refuse_bad_keywords(formula: Formula) -> None:
    """Refuse a formula that cannot be called with only the ranked queries."""
    parameters = inspect.signature(formula).parameters.values()
    without = [p for p in parameters if p.default is p.empty]
    if len(without) != 1:
        raise TypeError(
            "A formula takes the ranked queries, then keywords that have defaults. "
            f"Got {formula.__name__}({', '.join(map(str, parameters))})."
        )


def refuse_bad_columns(formula: Formula, columns: Any) -> None:
    """Refuse names of columns that are no keywords, or keywords already."""
    listed = columns if isinstance(columns, (list, tuple)) else [None]
    taken = {*inspect.signature(formula).parameters, *SHARED, *OF_CALLS}
    for name in listed:
        if not isinstance(name, str) or not name.isidentifier() or name in taken:
            raise ValueError(
                "columns of a metric must be a list of names of its own, such as ['price'], which are keywords of its "
                f"function. Got {echo(columns)}."
            )


def refuse_missing_scale(formula: Formula, labels: Any, own: Iterable[str]) -> None:
    """Refuse `stop` without the scale of grades, and labels up to a keyword that is not there."""
    keywords = [*inspect.signature(formula).parameters][1:]
    named = labels[1] if isinstance(labels, tuple) and isinstance(labels[1], str) else None
    stops = "max_grade" if "stop" in keywords and "stop" not in own else None
    for missing, why in ((stops, "stop="), (named, f"labels={echo(labels)}")):
        if missing is not None and missing not in keywords:
            raise TypeError(
                f"A formula with {why} needs the keyword {missing}, the highest grade of the scale, too: "
                f"{formula.__name__}(r, *, {missing}=4, ...). Got {formula.__name__}(r, {', '.join(keywords)})."
            )


def constraints_of(rules: Mapping[str, Any], formula: Formula) -> dict[str, Constraint]:
    """Rules of a formula's keywords; a pair is made a `Constraint`, with an entry for the docstring."""
    keywords = [*inspect.signature(formula).parameters][1:]
    made = {}
    for name, rule in rules.items():
        is_pair = isinstance(rule, tuple) and len(rule) == 2 and isinstance(rule[0], str) and callable(rule[1])
        if not (is_pair or isinstance(rule, Constraint)):
            raise TypeError(
                "A rule of parameter_constraints is a pair of words and a function, such as ('a number above 0', "
                f"lambda v: v > 0), or a Constraint. Got {echo(rule)} for {echo(name)}."
            )
        if name not in keywords and name not in SHARED:
            raise ValueError(
                f"parameter_constraints has rules for keywords of the formula, {echo(keywords)} here. Got {echo(name)}."
            )
        made[name] = Constraint(rule[0], Accepts(rule[1]), _entry(name, rule[0])) if is_pair else rule
    return made


def _entry(name: str, words: str) -> str:
    """Entry of a keyword in a docstring."""
    return f"{name} : default=<default>\n    {words[:1].upper()}{words[1:]}."


class Accepts:
    """Whether a value passes a function of a metric's author; a value that it cannot take does not."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self.function = function

    def __call__(self, value: Any) -> bool:
        """Whether the value passes."""
        try:
            return bool(self.function(value))
        except (TypeError, ValueError):
            return False


def refuse_taken_names(name: str, aliases: Iterable[str], formula: Formula, known: Iterable[Any]) -> None:
    """Refuse the name of another metric; one may be defined again, as a cell of a notebook is."""
    for entry in known:
        again = (entry.formula.__module__, entry.function_name) == (formula.__module__, formula.__name__)
        taken = {name, *aliases} & {entry.name, *entry.aliases}
        if taken and not again:
            raise ValueError(
                f"The name of a metric must not be taken. Got {echo(min(taken))}, a name of {entry.function_name}."
            )
