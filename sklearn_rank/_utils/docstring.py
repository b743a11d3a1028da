"""Docstrings in numpydoc's sections, and signatures: taken apart and put together of parts that functions share."""

from __future__ import annotations

import inspect
import re
from collections import ChainMap
from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples")
"""Titles in their order."""

HEADING = re.compile(rf"\n+({'|'.join(SECTIONS)})\n-+\n")


def split_sections(text: str) -> tuple[str, dict[str, str]]:
    """Text before the first section, and the text of each section by its title."""
    head, *parts = HEADING.split(text)
    return head, dict(zip(parts[::2], parts[1::2], strict=True))


def join_sections(head: str, sections: Mapping[str, str]) -> str:
    """A docstring of a text and its sections, in the usual order."""
    texts = (f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in SECTIONS if title in sections)
    return "\n\n".join([head, *texts])


def parameter_entries(target: Callable[..., Any]) -> dict[str, str]:
    """Entry of each parameter that a docstring describes, by name; an entry may describe several."""
    section = split_sections(inspect.getdoc(target) or "")[1].get("Parameters", "")
    entries: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", section):
        entries |= dict.fromkeys(re.split(r" :|\n", entry)[0].split(", "), entry)
    return entries


def completed_docstring(target: Callable[..., Any], entries: Mapping[str, str], **sections: str) -> str:
    """Docstring of a class or function, completed by the parameters of its signature and by sections."""
    head, own = split_sections(inspect.getdoc(target) or "")
    entry_of = {**entries, **parameter_entries(target)}
    parameters = inspect.signature(target).parameters.values()
    names = ["*" * (2 if p.kind is p.VAR_KEYWORD else 0) + p.name for p in parameters]
    own["Parameters"] = "\n".join(dict.fromkeys(entry_of[name] for name in names if name in entry_of))
    return join_sections(head, sections | own)


def with_arguments_of(template: Callable[P, Any], *left_out: str) -> Callable[[Callable[..., T]], Callable[P, T]]:
    """Decorate a function that passes its ``**keywords`` on: it shows the arguments of `template`, after its own."""

    def decorate(function: Callable[..., T]) -> Callable[P, T]:
        signature = inspect.signature(function)
        own = {name: p for name, p in signature.parameters.items() if p.kind is not p.VAR_KEYWORD}
        shared = {name: p for name, p in inspect.signature(template).parameters.items() if name not in left_out}
        parameters = sorted((shared | own).values(), key=lambda p: p.kind)
        function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        return described_as(template)(function)

    return decorate


def described_as(*templates: Callable[..., Any]) -> Callable[[F], F]:
    """Decorate a class or function: arguments that its docstring leaves out are described by the templates."""

    def decorate(target: F) -> F:
        # python -OO removes docstrings.
        if target.__doc__:
            target.__doc__ = completed_docstring(target, dict(ChainMap(*map(parameter_entries, templates))))
        return target

    return decorate
