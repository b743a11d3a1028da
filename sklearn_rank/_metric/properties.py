"""Properties that an author declares of a metric: of its values, of the labels it takes, of the order it reads.

Only `Metric`, which has them all, is ever made.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from sklearn_rank._utils.constraints import Constraint


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class ValueProperties:
    """Values of a metric, undefined queries, and the mean."""

    bounds: tuple[float, float] = (-math.inf, math.inf)
    greater_is_better: bool = True
    finite: bool = True
    undefined_when: str = ""
    needs_relevant: bool = False
    binary: bool | Callable[[Any], bool] = False
    supports_micro: bool = False
    transform: Callable[[Any], Any] | None = None


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class LabelProperties:
    """Which labels and other columns a metric takes, and how much of them it reads."""

    labels: tuple[float | None, float | str | None] = (None, None)
    max_weight: float | None = None
    subtopics: bool = False
    reads_unjudged: bool = False
    pools_negative: bool = False
    reads_all_labels: bool = False
    columns: Sequence[str] = ()


@dataclass(frozen=True, eq=False, repr=False, init=False, kw_only=True)
class OrderProperties:
    """How much of the order of documents a metric reads, and how it treats equal scores."""

    has_cutoff: bool = True
    pointwise: bool = False
    defines_ties: bool = False
    reads_scores: bool = False
    keeps_unretrieved: bool = False


class Properties(TypedDict, total=False):
    """Keywords of the decorator: all of the above, and the constraints of the formula's own keywords."""

    bounds: tuple[float, float]
    greater_is_better: bool
    finite: bool
    undefined_when: str
    needs_relevant: bool
    binary: bool | Callable[[Any], bool]
    supports_micro: bool
    transform: Callable[[Any], Any] | None
    labels: tuple[float | None, float | str | None]
    max_weight: float | None
    subtopics: bool
    reads_unjudged: bool
    pools_negative: bool
    reads_all_labels: bool
    columns: Sequence[str]
    has_cutoff: bool
    pointwise: bool
    defines_ties: bool
    reads_scores: bool
    keeps_unretrieved: bool
    parameter_constraints: Mapping[str, Constraint | tuple[str, Callable[[Any], Any]]]
