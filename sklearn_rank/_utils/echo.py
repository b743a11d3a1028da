"""Values in error messages, shortened to one line."""

from __future__ import annotations

from typing import Any


def echo(value: Any, width: int = 60) -> str:
    """The value's repr on one line, cut in the middle where it is longer than `width`."""
    text = " ".join(repr(value).split())
    return text if len(text) <= width else f"{text[: width - 20]} ... {text[-15:]}"
