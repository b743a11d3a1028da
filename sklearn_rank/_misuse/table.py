"""All checks and all doors, for the page and the tests."""

from __future__ import annotations

from sklearn_rank._misuse import entry_points
from sklearn_rank._misuse.check import Check, Door
from sklearn_rank._misuse.distances import CHECKS_OF_DISTANCES
from sklearn_rank._misuse.ids import CHECKS_OF_IDS
from sklearn_rank._misuse.judged import CHECKS_OF_SYSTEMS
from sklearn_rank._misuse.models import CHECKS_OF_MODELS
from sklearn_rank._misuse.nothing import CHECKS_OF_EVIDENCE
from sklearn_rank._misuse.ratings import CHECKS_OF_RATINGS
from sklearn_rank._misuse.rows import CHECKS_OF_ROWS
from sklearn_rank._misuse.runs import CHECKS_OF_RUNS

ALL_CHECKS: tuple[Check, ...] = (
    *CHECKS_OF_ROWS, *CHECKS_OF_RUNS, *CHECKS_OF_IDS, *CHECKS_OF_RATINGS, *CHECKS_OF_DISTANCES, *CHECKS_OF_MODELS,
    *CHECKS_OF_SYSTEMS,
    *CHECKS_OF_EVIDENCE,
)  # fmt: skip
ALL_DOORS: tuple[Door, ...] = tuple(door for door in vars(entry_points).values() if isinstance(door, Door))


def tables() -> str:
    """Tables of checks, and of what happens where they meet doors, in Markdown."""
    lines = ["| | check | what was done | least evidence | its message says |", "|---|---|---|---|---|"]
    for number, check in enumerate(ALL_CHECKS, 1):
        lines.append(f"| {number} | {check.name} | {check.about} | {check.evidence} | {check.says} |")
    numbers = range(1, len(ALL_CHECKS) + 1)
    lines += ["", f"| | {' | '.join(map(str, numbers))} |", "|---" * (len(ALL_CHECKS) + 1) + "|"]
    for door in ALL_DOORS:
        cells = [{"": " ", "warning": "w", "error": "E"}[door.outcome(check)] for check in ALL_CHECKS]
        lines.append(f"| {door.name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"
