"""The entry of all checks: a door hands over what it knows of its data, and decides what follows from a finding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from sklearn_rank._data.doors import Door
from sklearn_rank._data.judged import unevenly_judged
from sklearn_rank._data.nothing import nothing_measured, without_evidence
from sklearn_rank._engine.queries import Data, Queries
from sklearn_rank._engine.read import with_scores
from sklearn_rank._misuse.check import Finding
from sklearn_rank._misuse.distances import finds_itself, largest_for_equal, neighbors_worst_first
from sklearn_rank._misuse.evidence import ALL_KINDS, Evidence, Metrics
from sklearn_rank._misuse.evidence import SAMPLE as SAMPLE
from sklearn_rank._misuse.evidence import LabelCounts as LabelCounts
from sklearn_rank._misuse.evidence import compute_with as compute_with
from sklearn_rank._misuse.evidence import full_lists as full_lists
from sklearn_rank._misuse.evidence import reads_relevance as reads_relevance
from sklearn_rank._misuse.ids import findings_of_queries
from sklearn_rank._misuse.models import copies_of_label, frozen_ranker, models_twice, ranker_without_queries
from sklearn_rank._misuse.ratings import rated_lowest, seen_pairs, stand_in_users, unknown_users
from sklearn_rank._misuse.rows import (
    LEAST_LONG_LISTS,
    another_gain,
    findings_of,
    matrix_again,
    may_be_misuse,
    surely_passes,
    transposed,
)  # fmt: skip
from sklearn_rank._misuse.rows import BatchesSeen as BatchesSeen
from sklearn_rank._misuse.rows import has_another_gain as has_another_gain
from sklearn_rank._misuse.rows import reads_scale as reads_scale
from sklearn_rank._misuse.runs import CONTRADICTED, RISING, TURNED, column_contradicts, of_one_direction
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.echo import echo_all
from sklearn_rank._utils.lower_is_better import is_lower_column
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import warn_caller

WARNING = "sklearn_rank.exceptions.RankingWarning"

ON_MISUSE = one_of("raise", "warn", "ignore", doc="")
"""Constraint of the keyword `on_misuse`."""

KINDS_OF_LABELS = "labels ids qid"
"""Kinds of checks that need no scores."""

FINDERS: dict[str, Callable[..., Iterator[Finding]]] = {
    "again": matrix_again,
    "copies": copies_of_label,
    "distances": largest_for_equal,
    "evidence": without_evidence,
    "fitted": ranker_without_queries,
    "form": another_gain,
    "frozen": frozen_ranker,
    "itself": finds_itself,
    "judged": unevenly_judged,
    "matrices": transposed,
    "measured": nothing_measured,
    "missing_users": stand_in_users,
    "models": models_twice,
    "neighbors": neighbors_worst_first,
    "pairs": seen_pairs,
    "queries": findings_of_queries,
    "ranks": column_contradicts,
    "ratings": rated_lowest,
    "users": unknown_users,
}
"""What a door may know beside its rows, and the function that looks at it."""


def findings_in(**known: tuple[Any, ...]) -> Iterator[Finding]:
    """Yield the findings in what is known; each keyword is one of `FINDERS`, with the arguments of its function."""
    for kind, given in known.items():
        yield from FINDERS[kind](*given)


def look(door: Door, on_misuse: str = "raise", **known: tuple[Any, ...]) -> None:
    """Look at what a door knows, as `findings_in`, and report what is found."""
    report(door, findings_in(**known), on_misuse)


def look_at_rows(
    door: Door, queries: Queries, metrics: Metrics, *, kinds: str = "", y_true: Any = None,
    y_score: Any = None, name: Any = None, on_misuse: str = "raise",
) -> None:  # fmt: skip
    """Look at the rows of a door."""
    # `y_true` and `y_score` are the original arguments; `name` is the name of the column of scores.
    if name is None and surely_passes(queries, metrics, y_true, y_score):
        return
    if queries.grouping.row_is_query:
        look(door, matrices=(y_true, y_score))
    is_series = name is None
    if is_series:
        name = getattr(y_score, "name", None)
    is_named, kinds = is_lower_column(name), kinds or door.hands
    if not (is_named or may_be_misuse(queries, metrics, kinds)):
        return
    label, score = door.words or queries.names[:2]
    agrees = is_named or "scores" in kinds
    evidence = Evidence.of(queries, metrics, kinds=kinds, agrees=agrees, least_lists=LEAST_LONG_LISTS)
    words = {"label": label, "score": score, "name": name, "is_series": is_series}
    report(door, findings_of(evidence, metrics, door.kinds(kinds), door.decides, door.chooses, **words), on_misuse)


def look_at_labels(door: Door, data: Data, metrics: Metrics, on_misuse: str = "raise") -> None:
    """Look at labels and ids, before a model scores them."""
    look_at_rows(door, data.all_tied, metrics, kinds=KINDS_OF_LABELS, on_misuse=on_misuse)


def look_at_parts(
    door: Door, parts: Iterable[Evidence], metrics: Metrics, *, kinds: str = "", name: Any = None,
    on_misuse: str = "raise",
) -> Evidence:  # fmt: skip
    """Look at rows that arrived in parts, by the evidence of each; return that of all."""
    evidence = Evidence()
    for part in parts:
        evidence = evidence.joined(part)
    if evidence.n_queries:
        label, score = door.words or ("y_true", "y_score")
        seen = findings_of(
            evidence, metrics, door.kinds(kinds), door.decides, door.chooses, label=label, score=score, name=name
        )  # fmt: skip
        report(door, seen, on_misuse)
    return evidence


def evidence_of(
    queries: Queries, metrics: Metrics, *, kinds: str = ALL_KINDS, name: Any = None, has_agreement: bool = False
) -> Evidence:
    """Evidence in the queries of a part."""
    # `name` names the column of scores; `has_agreement` says that enough is known of the agreement with the labels.
    if has_agreement:
        kinds = kinds.replace("scores", "")
    return Evidence.of(queries, metrics, kinds=kinds, agrees=is_lower_column(name))


def look_at_scores(door: Door, data: Data, y_score: Array, metrics: Metrics, on_misuse: str = "raise") -> None:
    """Look at scores, after the labels were looked at."""
    queries = with_scores(data, y_score, y_score.shape, score_name="y_score")
    look_at_rows(door, queries, metrics, kinds="scores", on_misuse=on_misuse)


def kinds_left(seen: Iterable[Finding], is_told: bool) -> str:
    """Kinds of checks of the rows of a run, whose problems also show in its rows."""
    # `is_told`: whether its reader has found the ranks to contradict the scores.
    found = {one.check for one in seen}
    if TURNED in found:
        return "none"
    return KINDS_OF_LABELS if is_told or found & {RISING, CONTRADICTED} else ""


# --- reports -------------------------------------------------------------------------------------------------


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
    """Warn or raise according to the door. `on_misuse` is the user's choice for a door that raises."""
    # Of findings about the direction of scores only the first is reported.
    if seen := [*seen]:
        _report(door, of_one_direction(seen), on_misuse)


def _report(door: Door, seen: Iterable[Finding], on_misuse: str) -> None:
    """Report all findings."""
    collected = _collected.get()
    for one in seen:
        of, message, spoils = one
        if not (outcome := door.outcome(of)):
            continue
        raises = outcome == "error" and (spoils or of.severity == "error")
        has_keyword = door.has_keyword and of.can_be_meant and (door.decides or raises)
        if has_keyword and on_misuse == "ignore":
            continue
        if collected is not None:
            collected.append(one)
        elif raises and not (has_keyword and on_misuse == "warn"):
            way_out = " If this is intended, pass on_misuse='warn' or on_misuse='ignore'."
            raise ValueError(message + way_out * has_keyword)
        else:
            way_out = "pass on_misuse='ignore'" if has_keyword else f"filter {WARNING}"
            about = of.name if "scorer" in door.name else ""
            warn_caller(f"{message} If this is intended, {way_out}." if of.can_be_meant else message, about)


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
            _report(self._door, _merged(self._by_system), self._on_misuse)


def _merged(seen: Mapping[str, Iterable[Finding]]) -> Iterator[Finding]:
    """Yield each finding once; the message names the systems, unless all systems have the finding."""
    by_check: dict[str, dict[str, Finding]] = {}
    for system, findings in seen.items():
        for one in of_one_direction(findings):
            by_check.setdefault(one.check.name, {})[system] = one
    for systems in by_check.values():
        first = next(iter(systems.values()))
        is_of_all = len(systems) == len(seen) and len({one.message for one in systems.values()}) == 1
        about = "" if is_of_all else f" This is about the system{'s' * (len(systems) > 1)} {echo_all(systems)}."
        yield first._replace(message=first.message + about)
