"""Errors about arguments that a function does not have, or takes by name alone."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import ParamSpec, TypeVar

P = ParamSpec("P")


T = TypeVar("T")


QID = "qid= is the query of each row; qid_from_group_sizes makes it of the sizes of groups."


MEANT = {
    **dict.fromkeys(("group", "groups", "group_id", "group_ids", "group_sizes", "qids"), QID),
    **dict.fromkeys(("query", "queries", "query_id", "query_ids"), QID),
    **dict.fromkeys(("weight", "weights", "sample_weights"), "sample_weight= is the weight of each row's query."),
}
"""Keywords of other libraries, and hints to those of this one."""


CALLED_K = ("k", "at", "topk", "top_k", "n", "cutoff", "cutoffs")


IN_NAMES = "The cutoff goes into the name of a metric: 'ndcg@10'."


def meant_by(name: str, *, cutoff: str = IN_NAMES) -> str:
    """Hint to add to an error about a keyword that does not exist; `cutoff` says where one is given."""
    hint = cutoff if name in CALLED_K else MEANT.get(name)
    return f" {hint}" if hint else ""


def named_arguments(function: Callable[P, T]) -> Callable[P, T]:
    """Word the errors about arguments that a function does not have, or takes by name alone."""
    parameters = inspect.signature(function).parameters
    by_position = [n for n, p in parameters.items() if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes_others = any(p.kind is p.VAR_KEYWORD for p in parameters.values())

    @functools.wraps(function)
    def call(*args: P.args, **keywords: P.kwargs) -> T:
        if len(args) > len(by_position):
            refuse_position(function.__qualname__, [n for n in by_position if n != "self"])
        unknown = None if takes_others else next((n for n in keywords if n not in parameters), None)
        if unknown is not None:
            takes = ", ".join(n for n in parameters if n != "self")
            raise TypeError(
                f"{function.__qualname__} has no argument {unknown!r}. It takes {takes}.{meant_by(unknown)}"
            )
        return function(*args, **keywords)

    return call


def refuse_position(function_name: str, by_position: list[str]) -> None:
    """Refuse arguments by position that are to be named.

    Raises
    ------
    TypeError
        Always.
    """
    takes = ", ".join(by_position)
    raise TypeError(
        f"{function_name} takes {takes} by position and all else by name, such as qid=. Got more by position."
    )
