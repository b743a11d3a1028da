"""A metric: its formula, its properties and its keywords; the registry of all metrics."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from typing import Any, TypedDict

import numpy as np

from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._metric.canonical_text import place_of, text_of
from sklearn_rank._metric.keywords import OWN, SHARED, SUBTOPICS
from sklearn_rank._utils.constraints import Constraint
from sklearn_rank._utils.lazy import cached_property

Formula = Callable[..., Any]

NO_RELEVANT = "no relevant document"
"""Many metrics are undefined for such a query."""


REGISTRY: dict[str, Metric] = {}
"""Metrics by canonical name."""


class Properties(TypedDict, total=False):
    """Keywords of the decorator: properties of a metric, and the constraints of the formula's own keywords."""

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


@dataclass(frozen=True, eq=False)
class Metric:
    """A formula and its properties; `function` is the public function made of them."""

    name: str
    formula: Formula
    function: Callable[..., Any]
    aliases: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    parameter_constraints: Mapping[str, Constraint] = field(default_factory=dict)
    _: KW_ONLY
    # Values, undefined queries, and the mean.
    bounds: tuple[float, float] = (-math.inf, math.inf)
    greater_is_better: bool = True
    finite: bool = True
    undefined_when: str = ""
    needs_relevant: bool = False
    binary: bool | Callable[[Any], bool] = False
    supports_micro: bool = False
    transform: Callable[[Any], Any] | None = None
    # Labels and other columns that it takes, and how much of them it reads.
    labels: tuple[float | None, float | str | None] = (None, None)
    max_weight: float | None = None
    subtopics: bool = False
    reads_unjudged: bool = False
    pools_negative: bool = False
    reads_all_labels: bool = False
    columns: Sequence[str] = ()
    # How much of the order of documents it reads, and how it treats equal scores.
    has_cutoff: bool = True
    pointwise: bool = False
    defines_ties: bool = False
    reads_scores: bool = False
    keeps_unretrieved: bool = False

    @cached_property
    def is_built_in(self) -> bool:
        """Whether the library defines it: the tests ensure that its cutoffs read no rank below them."""
        return str(getattr(self.formula, "__module__", "")).startswith("sklearn_rank.metrics.")

    @cached_property
    def function_name(self) -> str:
        """Name of the public function, for messages."""
        return str(getattr(self.function, "__name__", self.name))

    @property
    def __name__(self) -> str:  # which scikit-learn prints a scorer by
        return self.function_name

    def __call__(self, *arrays: Any, **keywords: Any) -> Any:
        """Value of the metric, as the public function returns it."""
        return self.function(*arrays, **keywords)

    @property
    def score_func(self) -> Callable[..., Any]:
        """Function to give to `sklearn.metrics.make_scorer`."""
        return self.function

    @property
    def meaning(self) -> str:
        """Meaning as text: our own metrics by name, others by their formula and properties."""
        if self.function.__module__.startswith("sklearn_rank."):
            return self.function_name
        properties = {
            f.name: getattr(self, f.name)
            for f in fields(self)
            if f.name not in ("function", "aliases", "parameter_constraints", "binary")
        }
        return place_of(self.function) or f"{self.function_name} {text_of(properties)}"

    @cached_property
    def formula_params(self) -> dict[str, Any]:
        """Keywords of the formula itself, with their defaults."""
        parameters = list(inspect.signature(self.formula).parameters.values())[1:]
        return {p.name: p.default for p in parameters}

    @cached_property
    def defaults(self) -> dict[str, Any]:
        """Keywords that a name may set, with their defaults: the formula's own, then the shared ones."""
        shared = {name: default for name, (default, _) in SHARED.items()}
        if self.pointwise or self.defines_ties:
            del shared["ties"]
        if self.pointwise:
            del shared["min_relevance"]
        if self.without_chance or self.without_best:
            del shared["adjusted"]
        return self.formula_params | shared

    @property
    def without_chance(self) -> str:
        """Why no random order gives it a value; "" if one does, unless its formula refuses ties."""
        if self.pointwise or self.reads_scores:
            return "reads the values of scores, and an order has none"
        if self.defines_ties:
            return "says itself what equal scores are worth, and a random order has none"
        return "is a function of a mean, which has no expectation in closed form" if self.transform else ""

    @property
    def without_best(self) -> str:
        """Why the best order is not known; "" if it is the order by label."""
        if self.columns:
            return f"reads the column {', '.join(self.columns)}, so that the best order need not be by label"
        return "reads several labels of a document, whose best order is not known" if self.subtopics else ""

    def _rule(self, name: str) -> Constraint | None:
        """Rule for a keyword; None for one that a formula's author left free."""
        if name in self.parameter_constraints:
            return self.parameter_constraints[name]
        if self.subtopics and name in SUBTOPICS:
            return SUBTOPICS[name]
        return OWN.get(name) or (SHARED[name][1] if name in SHARED else None)

    def _takes(self, name: str, value: Any) -> bool:
        """Whether it has a keyword that may have this value."""
        rule = self._rule(name)
        return name in self.defaults and (rule is None or rule.accepts(value))

    def _ratio(self, ranked: Ranked, keywords: Mapping[str, Any]) -> tuple[Any, Any]:
        """Numerator and denominator that the formula returns, each a number or with a row per query."""
        curve, (rows, columns) = self.formula(ranked, **keywords), ranked.shape
        parts = [*map(np.asarray, curve if isinstance(curve, tuple) else (curve, 1.0))]
        shapes = (rows, columns), (rows, 1), (1, columns), ()
        right = [p for p in parts if p.shape in shapes and p.dtype.kind in "biuf"]
        if len(parts) != 2 or len(right) != 2:
            raise ValueError(
                f"The formula of {self.function_name} must return real numbers, or a numerator and a denominator of "
                f"them, of shape {(rows, columns)}: a row for each query, a column for each cutoff. "
                f"Got {' and '.join(f'{p.dtype} of shape {p.shape}' for p in parts)} instead."
            )
        return parts[0], parts[1]
