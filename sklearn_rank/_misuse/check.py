"""A check, a door, and the outcome if a check finds something at a door."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import Any, Literal, NamedTuple

from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.warning import warn_caller

Severity = Literal["warning", "decision", "error"]
Consequence = Literal["", "warning", "error"]

WARNING = "sklearn_rank.exceptions.RankingWarning"

ON_MISUSE = one_of("raise", "warn", "ignore", doc="")
"""Constraint of the keyword `on_misuse`."""


@dataclass(frozen=True)
class Check:
    """A check for misuse.

    Attributes
    ----------
    name : str
    kind : str
        What a door must hand over for it.
    about : str
        The mistake, for the page.
    evidence : str
        The least evidence, for the page; "" if one case is enough.
    says : str
        Words of its message that no other message has, for filters.
    severity : {"warning", "decision", "error"}
        Whether it always warns, raises where a decision is made, or always raises.
    can_be_meant : bool
        Whether `on_misuse` or a filter silences it; if False, the message names the necessary change.
    """

    name: str
    kind: str
    about: str
    evidence: str
    says: str
    severity: Severity = "warning"
    can_be_meant: bool = True


@dataclass(frozen=True)
class Door:
    """A way in.

    Attributes
    ----------
    name : str
        The function, or the functions.
    hands : str
        Kinds of evidence that it hands over, between blanks.
    decides : bool
        Whether a decision is made here with all data at hand.
    may_raise : bool
        False for scorers, because scikit-learn turns their errors into nan.
    has_keyword : bool
        Whether it has the keyword `on_misuse`.
    words : (str, str) or None
        What its messages call labels and scores; None: as the arguments are called.
    """

    name: str
    hands: str
    decides: bool = False
    may_raise: bool = True
    has_keyword: bool = True
    words: tuple[str, str] | None = None

    def of_columns(self, y_true: Any, y_score: Any) -> Door:
        """The same door, where messages name the columns of a table."""
        label = f"column {echo(y_true)}" if isinstance(y_true, str) else "columns y_true="
        return replace(self, words=(label, f"column {echo(y_score)}"))

    def outcome(self, check: Check) -> Consequence:
        """What happens if the check finds something here; "" if it is not made."""
        if check.kind not in self.hands.split():
            return ""
        raises = check.severity == "error" or (check.severity == "decision" and self.decides)
        return "error" if raises and self.may_raise else "warning"


class Finding(NamedTuple):
    """A finding of a check and its message; `spoils`: whether it concerns the metric that decides."""

    check: Check
    message: str
    spoils: bool = True


_collected: ContextVar[list[Finding] | None] = ContextVar("collected", default=None)


@contextmanager
def collected_findings() -> Iterator[list[Finding]]:
    """Collect the findings inside, for a caller that reports them itself or ran the checks before."""
    seen: list[Finding] = []
    before = _collected.set(seen)
    try:
        yield seen
    finally:
        _collected.reset(before)


def report(door: Door, seen: Iterable[Finding], on_misuse: str = "raise") -> None:
    """Warn or raise, as the door decides. `on_misuse` is the user's choice for a door that raises.

    Raises
    ------
    ValueError
        At the first finding that is an error here.
    """
    collected = _collected.get()
    for one in seen:
        check, message, spoils = one
        if not (outcome := door.outcome(check)):
            continue
        raises = outcome == "error" and (spoils or check.severity == "error")
        has_keyword = door.has_keyword and check.can_be_meant and (door.decides or raises)
        if has_keyword and on_misuse == "ignore":
            continue
        if collected is not None:
            collected.append(one)
        elif raises and not (has_keyword and on_misuse == "warn"):
            raise ValueError(message + " If it is meant, pass on_misuse='warn' or on_misuse='ignore'." * has_keyword)
        else:
            way_out = "pass on_misuse='ignore'" if has_keyword else f"filter {WARNING}"
            about = check.name if "scorer" in door.name else ""
            warn_caller(f"{message} If it is meant, {way_out}." if check.can_be_meant else message, about)


class findings_of_systems:
    """Report the findings of all systems, each check once, at the end of a with statement.

    It is no generator, whose frames would hide the code that called this library.
    """

    def __init__(self, door: Door, on_misuse: str = "raise") -> None:
        self._door, self._on_misuse = door, on_misuse
        self._by_system: dict[str, list[Finding]] = {}

    def __enter__(self) -> dict[str, list[Finding]]:
        """The findings of each system, to be filled in."""
        return self._by_system

    def __exit__(self, error: object, *_: object) -> None:
        """Report, unless there was an error."""
        if error is None:
            report(self._door, _merged(self._by_system), self._on_misuse)


def _merged(seen: Mapping[str, Iterable[Finding]]) -> Iterator[Finding]:
    """Each check that found something in some systems, once: it says which they are, unless it is the same of all."""
    by_check: dict[str, dict[str, Finding]] = {}
    for system, findings in seen.items():
        for one in findings:
            by_check.setdefault(one.check.name, {})[system] = one
    for systems in by_check.values():
        first = next(iter(systems.values()))
        is_of_all = len(systems) == len(seen) and len({one.message for one in systems.values()}) == 1
        about = "" if is_of_all else f" This is about the system{'s' * (len(systems) > 1)} {echo_all(systems)}."
        yield first._replace(message=first.message + about)
