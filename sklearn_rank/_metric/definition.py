"""Check the definition of a metric: its name, its aliases, the keywords of its formula."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable
from typing import Any

from sklearn_rank._metric.key_signs import SIGN
from sklearn_rank._metric.metric import Formula
from sklearn_rank._utils.echo import echo


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


def refuse_taken_names(name: str, aliases: Iterable[str], formula: Formula, known: Iterable[Any]) -> None:
    """Refuse the name of another metric; one may be defined again, as a cell of a notebook is."""
    for entry in known:
        again = (entry.formula.__module__, entry.function_name) == (formula.__module__, formula.__name__)
        taken = {name, *aliases} & {entry.name, *entry.aliases}
        if taken and not again:
            raise ValueError(
                f"The name of a metric must not be taken. Got {echo(min(taken))}, a name of {entry.function_name}."
            )
