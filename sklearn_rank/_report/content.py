"""Content of a page as numbers and texts: results fill it, and the other modules of this package render it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._tell.text import Parts, number, sign_of
from sklearn_rank._utils.table import Table
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank._version import __version__


class Difference(NamedTuple):
    """Difference of a system from the baseline: its interval, p-value, and the queries won, tied and lost."""

    # `is_shown`: whether the test shows the difference. The numbers are None if there is no test.

    difference: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    won: int | None = None
    tied: int | None = None
    lost: int | None = None
    is_shown: bool = False


class Mean(NamedTuple):
    """Mean of a system by a metric; `against` is None for the baseline, and for a single system."""

    system: str
    mean: float
    low: float | None
    high: float | None
    against: Difference | None
    is_best: bool


class Means(NamedTuple):
    """Means of all systems by a metric; `margin` is the loss that the gate allows, None without a gate."""

    metric: str
    greater_is_better: bool
    rows: list[Mean]
    margin: float | None = None


class Segment(NamedTuple):
    """A system in a segment of queries; without a baseline, `difference` holds the mean and its interval."""

    system: str
    segment: str
    n_queries: int
    difference: Difference


class SegmentsOfPage(NamedTuple):
    """Segments by an attribute: a sentence whether they differ, and the rows."""

    by: str
    answer: str
    rows: list[Segment]


class Document(NamedTuple):
    """A document of a query: grade, and ranks in both lists (None if absent)."""

    id: Any
    grade: float | None
    old: float | None
    new: float | None


class Reasons(NamedTuple):
    """Explanation of a metric: a sentence, the contribution of each document, and the depth that counts (0: all)."""

    # `n_neither` relevant documents are in neither list.

    why: Parts
    contributions: list[float]
    n_neither: int
    is_sum: bool
    depth: int


class ListsOfQuery(NamedTuple):
    """The lists of a query: documents, how many there are, and reasons by the number of the metric."""

    documents: list[Document]
    n_documents: int
    reasons: dict[int, Reasons]


class Attribute(NamedTuple):
    """Attribute of queries: distinct values, and the index of each query's value."""

    name: str
    values: list[Any]
    of_query: Index


class Options(NamedTuple):
    """Arguments of `save_html`."""

    title: str | None
    text: Callable[[Any], Any] | None
    query_text: Callable[[Any], Any] | None
    lists: int | list[Any]
    code: str | None


@dataclass(kw_only=True)
class Content:
    """Complete content of a page."""

    # `kind` is the line above the verdict, `lead` the sentences below it. `facts` are texts in bold and what follows.
    # `baseline` is the number of a system, None for a single one, and `shown` the one to show first. `level` is that of
    # the intervals of means, "" without intervals. `values` and `lists` are by the numbers of system and metric, and of
    # query and system. `to_judge` is a head and rows; `tables_below` are below the queries.

    kind: str
    heading: Parts
    lead: list[Parts]
    facts: list[tuple[str, str]]
    notes: list[str]
    choices: str
    means: list[Means]
    level: str
    systems: list[str]
    baseline: int | None
    shown: int
    metrics: list[str]
    greater_is_better: list[bool]
    ids: Sequence[Any]
    values: Mapping[tuple[int, int], Array]
    dots: str = ""
    attributes: list[Attribute] = field(default_factory=list)
    segments: list[SegmentsOfPage] = field(default_factory=list)
    lists: dict[tuple[int, int], ListsOfQuery] = field(default_factory=dict)
    why_no_lists: str = ""
    to_judge: tuple[tuple[str, ...], list[tuple[Any, ...]]] = ((), [])
    made: list[tuple[str, str]] = field(default_factory=list)
    tables: list[tuple[str, Table]] = field(default_factory=list)
    tables_below: list[tuple[str, Table]] = field(default_factory=list)
    text: Callable[[Any], Any] | None = None
    query_text: Callable[[Any], Any] | None = None

    @property
    def metric(self) -> int:
        """Number of the metric to show first: the first that has a value for some query."""
        has_values = (j for j in range(len(self.metrics)) if not np.isnan(self.gain(self.shown, j)).all())
        return next(has_values, 0)

    def gain(self, system: int, metric: int) -> NDArray[Any]:
        """Gain of each query over the baseline, positive if better; for a single system its value."""
        values = self.values[system, metric]
        difference = values if self.baseline is None else values - self.values[self.baseline, metric]
        return difference if self.greater_is_better[metric] else 0.0 - difference


def made_of(meanings: Iterable[tuple[str, str]], result: Any, code: str | None) -> list[tuple[str, str]]:
    """How numbers were made: names and meanings of metrics, fingerprint of the labels, version, and the code."""
    made = [(f"Meaning of {name}", meaning) for name, meaning in meanings if meaning]
    if result.label_fingerprints is not None:
        made.append(("Fingerprint of the labels", f"{crc32(result.label_fingerprints.tobytes()):08x}"))
    made.append(("Version", f"sklearn_rank {__version__}"))
    return [*made, *([("How to repeat", code)] if code else [])]


def instead_of(metric: str, old: float, new: float, found: Difference, gain: float, known: str) -> Parts:
    """The means of two systems, their difference, its interval (`known`), and the queries that differ."""
    counted = "" if found.won is None else f" It is better on {found.won:,} queries, worse on {found.lost:,}"
    tied = f", equal on {found.tied:,}" if found.tied else ""
    return [
        ("", f"{metric} is {number(new)} instead of {number(old)}: "),
        (sign_of(gain) if found.is_shown else "", number(found.difference, signed=True)),
        ("", f" ({known}).{counted}{tied}{'.' if counted else ''}"),
    ]
