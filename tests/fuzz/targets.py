"""Targets of the fuzzer: each takes any bytes, and raises if the package does something wrong."""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib import import_module
from pathlib import Path

CORPORA = Path(__file__).parent / "corpora"
NAMES = ["files", "groups", "names", "rank", "results", "runs", "trec"]


def load(name: str) -> Callable[[bytes], None]:
    """The function of a target, from the file of its name."""
    return import_module(f"target_{name}").check


def corpus(name: str) -> list[bytes]:
    """Saved inputs of a target, one per line, as Python bytes literals."""
    path = CORPORA / f"{name}.txt"
    return [ast.literal_eval(line) for line in path.read_text().splitlines()] if path.exists() else []


def write_corpus(name: str, inputs: list[bytes]) -> None:
    """Save inputs, short ones first."""
    ordered = sorted(inputs, key=lambda data: (len(data), data))
    (CORPORA / f"{name}.txt").write_text("".join(f"{data!r}\n" for data in ordered))
