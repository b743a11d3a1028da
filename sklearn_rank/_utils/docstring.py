"""Docstrings in numpydoc's sections: taken apart and put together."""

from __future__ import annotations

import re
from collections.abc import Mapping

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "See Also", "Notes", "References", "Examples")
"""Titles in the order in which they stand."""

HEADING = re.compile(rf"\n+({'|'.join(SECTIONS)})\n-+\n")


def split_sections(text: str) -> tuple[str, dict[str, str]]:
    """Text before the first section, and the text of each section by its title."""
    head, *parts = HEADING.split(text)
    return head, dict(zip(parts[::2], parts[1::2], strict=True))


def join_sections(head: str, sections: Mapping[str, str]) -> str:
    """A docstring of a text and its sections, in the usual order."""
    texts = (f"{title}\n{'-' * len(title)}\n{sections[title]}" for title in SECTIONS if title in sections)
    return "\n\n".join([head, *texts])
