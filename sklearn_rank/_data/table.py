"""All checks and all doors, for the page and the tests."""

from __future__ import annotations

from sklearn_rank._data import doors
from sklearn_rank._data.doors import Door
from sklearn_rank._data.judged import CHECKS_OF_SYSTEMS
from sklearn_rank._data.nothing import CHECKS_OF_EVIDENCE
from sklearn_rank._misuse.check import Check
from sklearn_rank._misuse.distances import CHECKS_OF_DISTANCES
from sklearn_rank._misuse.ids import CHECKS_OF_IDS
from sklearn_rank._misuse.models import CHECKS_OF_MODELS
from sklearn_rank._misuse.ratings import CHECKS_OF_RATINGS
from sklearn_rank._misuse.rows import CHECKS_OF_ROWS
from sklearn_rank._misuse.runs import CHECKS_OF_RUNS

ALL_CHECKS: tuple[Check, ...] = (
    *CHECKS_OF_ROWS, *CHECKS_OF_RUNS, *CHECKS_OF_IDS, *CHECKS_OF_RATINGS, *CHECKS_OF_DISTANCES, *CHECKS_OF_MODELS,
    *CHECKS_OF_SYSTEMS,
    *CHECKS_OF_EVIDENCE,
)  # fmt: skip
ALL_DOORS: tuple[Door, ...] = tuple(door for door in vars(doors).values() if isinstance(door, Door))


OF_EVALUATOR = doors.COMPARE, doors.CROSS_VALIDATE, doors.SEARCH
GROUPS_OF_DOORS: dict[str, tuple[Door, ...]] = {
    "functions of rows": (
        doors.METRIC, doors.EVALUATE, doors.TABLE, doors.PREPARE, doors.SYSTEMS,
        doors.SPARK, doors.COMMAND,
    ),
    "functions that fit": (*OF_EVALUATOR, doors.RANKER, doors.IMPORTANCE),
    "`RankingEvaluator`": OF_EVALUATOR,
    "scorers": (doors.SCORER,),
    "functions of statistics": (doors.STATISTICS,),
    "retrieval": (doors.RETRIEVAL, doors.RETRIEVAL_SCORER, doors.NEIGHBORS),
}  # fmt: skip
"""Groups of doors that often run the same checks, by their name on the page."""


def list_of_groups() -> str:
    """Groups of doors, in Markdown."""
    return "".join(f"- **{name}**: {_names(group)}\n" for name, group in GROUPS_OF_DOORS.items() if "`" not in name)


def list_of_checks() -> str:
    """Checks, and the doors that run them, in Markdown."""
    lines: dict[str, list[str]] = {}
    for check in ALL_CHECKS:
        lines.setdefault(_where(check), []).append(
            f"- **{check.name}** (`{check.says}`): {check.about}{f' Needs {check.evidence}.' * bool(check.evidence)}\n"
        )
    return "\n".join(f"{where}\n\n{''.join(checks)}" for where, checks in lines.items())


def _where(check: Check) -> str:
    """List the doors that warn and the doors that raise for a finding of the check."""
    warn, fail = (tuple(d for d in ALL_DOORS if d.outcome(check) == outcome) for outcome in ("warning", "error"))
    parts = [f"looked for by {_grouped(warn)}"] * bool(warn) + [f"raises in {_grouped(fail)}"] * bool(fail)
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}:"


def _grouped(some: tuple[Door, ...]) -> str:
    """Names of doors; a group replaces its doors."""
    left, names = [*some], []
    for name, group in GROUPS_OF_DOORS.items():
        if all(door in left for door in group):
            names.append(name)
            left = [door for door in left if door not in group]
    return ", ".join([*names, *([_names(tuple(left))] if left else [])])


def _names(some: tuple[Door, ...]) -> str:
    """Names of doors, with functions as code."""
    words = ", ".join(door.name.removesuffix(", on evidence") for door in some).split(", ")
    return ", ".join(word if " " in word else f"`{word}`" for word in words)
