"""All signs and all doors, for the page and the tests."""

from __future__ import annotations

from sklearn_rank._signs import doors
from sklearn_rank._signs.distances import SIGNS_OF_DISTANCES
from sklearn_rank._signs.judged import SIGNS_OF_SYSTEMS
from sklearn_rank._signs.models import SIGNS_OF_MODELS
from sklearn_rank._signs.rows import SIGNS_OF_ROWS
from sklearn_rank._signs.runs import SIGNS_OF_RUNS
from sklearn_rank._signs.sign import Door, Sign

ALL_SIGNS: tuple[Sign, ...] = (*SIGNS_OF_ROWS, *SIGNS_OF_RUNS, *SIGNS_OF_DISTANCES, *SIGNS_OF_MODELS, *SIGNS_OF_SYSTEMS)
ALL_DOORS: tuple[Door, ...] = tuple(door for door in vars(doors).values() if isinstance(door, Door))


def tables() -> str:
    """Tables of signs, and of what happens where they meet doors, in Markdown."""
    lines = ["| | sign | what was done | least evidence | its message says |", "|---|---|---|---|---|"]
    for number, sign in enumerate(ALL_SIGNS, 1):
        lines.append(f"| {number} | {sign.name} | {sign.about} | {sign.evidence} | {sign.says} |")
    numbers = range(1, len(ALL_SIGNS) + 1)
    lines += ["", f"| | {' | '.join(map(str, numbers))} |", "|---" * (len(ALL_SIGNS) + 1) + "|"]
    for door in ALL_DOORS:
        cells = [{"": " ", "warning": "w", "error": "E"}[door.outcome(sign)] for sign in ALL_SIGNS]
        lines.append(f"| {door.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
