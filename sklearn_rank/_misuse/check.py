"""A check, and a finding of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Severity = Literal["warning", "decision", "error"]


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


class Finding(NamedTuple):
    """A finding of a check and its message; `spoils`: whether it affects the metric that decides."""

    check: Check
    message: str
    spoils: bool = True
