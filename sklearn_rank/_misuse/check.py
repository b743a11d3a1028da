"""Checks, doors, and the consequence of a finding at a door."""

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
        Kind of evidence that the check needs from a door.
    about : str
        Description of the mistake, for the page.
    evidence : str
        Minimum evidence, for the page; "" if one case is enough.
    says : str
        Words that occur only in the message of this check, for warning filters.
    severity : {"warning", "decision", "error"}
        Whether the check always warns, raises if the door makes a decision, or always raises.
    can_be_meant : bool
        Whether `on_misuse` or a filter can silence the check; if False, the message names the necessary change.
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
    """A public function that runs checks on its inputs.

    Attributes
    ----------
    name : str
        Name of the function or functions.
    hands : str
        Kinds of evidence that the door provides, separated by spaces.
    decides : bool
        Whether the door makes a decision, with all data available.
    may_raise : bool
        False for scorers, because scikit-learn turns their errors into NaN.
    has_keyword : bool
        Whether the door has the keyword `on_misuse`.
    words : (str, str) or None
        Names of labels and scores in messages; None: the names of the arguments.
    """

    name: str
    hands: str
    decides: bool = False
    may_raise: bool = True
    has_keyword: bool = True
    words: tuple[str, str] | None = None

    def of_columns(self, y_true: Any, y_score: Any) -> Door:
        """Return the door with names of table columns for its messages."""
        label = f"column {echo(y_true)}" if isinstance(y_true, str) else "columns y_true="
        return replace(self, words=(label, f"column {echo(y_score)}"))

    def outcome(self, check: Check) -> Consequence:
        """Consequence of a finding of the check at this door; "" if the door does not run it."""
        if check.kind not in self.hands.split():
            return ""
        raises = check.severity == "error" or (check.severity == "decision" and self.decides)
        return "error" if raises and self.may_raise else "warning"


class Finding(NamedTuple):
    """A finding of a check and its message; `spoils`: whether it affects the metric that decides."""

    check: Check
    message: str
    spoils: bool = True


_collected: ContextVar[list[Finding] | None] = ContextVar("collected", default=None)


@contextmanager
def collected_findings() -> Iterator[list[Finding]]:
    """Collect findings within the context, for a caller that reports them itself or has already run the checks."""
    seen: list[Finding] = []
    before = _collected.set(seen)
    try:
        yield seen
    finally:
        _collected.reset(before)


def report(door: Door, seen: Iterable[Finding], on_misuse: str = "raise") -> None:
    """Warn or raise according to the door. `on_misuse` is the user's choice for a door that raises.

    Raises
    ------
    ValueError
        At the first finding that is an error at this door.
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
    """Context manager that reports the findings of all systems at its end, each check once.

    It is not a generator, because the frames of a generator would hide the caller of this library.
    """

    def __init__(self, door: Door, on_misuse: str = "raise") -> None:
        self._door, self._on_misuse = door, on_misuse
        self._by_system: dict[str, list[Finding]] = {}

    def __enter__(self) -> dict[str, list[Finding]]:
        """Return the dict for the findings of each system."""
        return self._by_system

    def __exit__(self, error: object, *_: object) -> None:
        """Report the findings, unless there was an error."""
        if error is None:
            report(self._door, _merged(self._by_system), self._on_misuse)


def _merged(seen: Mapping[str, Iterable[Finding]]) -> Iterator[Finding]:
    """Yield each finding once; the message names the systems, unless all systems have the finding."""
    by_check: dict[str, dict[str, Finding]] = {}
    for system, findings in seen.items():
        for one in findings:
            by_check.setdefault(one.check.name, {})[system] = one
    for systems in by_check.values():
        first = next(iter(systems.values()))
        is_of_all = len(systems) == len(seen) and len({one.message for one in systems.values()}) == 1
        about = "" if is_of_all else f" This is about the system{'s' * (len(systems) > 1)} {echo_all(systems)}."
        yield first._replace(message=first.message + about)
