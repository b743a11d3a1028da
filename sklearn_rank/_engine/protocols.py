"""Protocols of a metric for the engine: metrics themselves are defined on a higher floor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranked import Ranked
from sklearn_rank._utils.typing import Index


class MetricProperties(Protocol):
    """A formula and how its values are to be treated."""

    @property
    def name(self) -> str:
        """Canonical name."""

    @property
    def function_name(self) -> str:
        """Name of the public function, for messages."""

    @property
    def defaults(self) -> Mapping[str, Any]:
        """Keywords that a name may set, with their defaults."""

    @property
    def formula(self) -> Callable[..., Any]:
        """Function of ranked queries."""

    @property
    def is_built_in(self) -> bool:
        """Whether the formula is known not to read below a cutoff."""

    @property
    def greater_is_better(self) -> bool:
        """Whether the higher value is the better one."""

    @property
    def pointwise(self) -> bool:
        """Whether no order matters."""

    @property
    def keeps_unretrieved(self) -> bool:
        """Whether documents that were not retrieved are ranked, last and tied."""

    @property
    def needs_relevant(self) -> bool:
        """Whether it is undefined for queries without a relevant document."""

    @property
    def finite(self) -> bool:
        """Whether a value that is not finite is an error."""

    @property
    def transform(self) -> Callable[[Any], Any] | None:
        """Function applied to the ratio of numerator and denominator."""

    def ratio(self, ranked: Ranked, keywords: Mapping[str, Any]) -> tuple[Any, Any]:
        """Numerator and denominator per query and cutoff."""


class MetricRequest(Protocol):
    """A metric with its cutoffs and keywords."""

    @property
    def metric(self) -> MetricProperties:
        """The metric."""

    @property
    def meaning(self) -> str:
        """The metric with all its keywords, in words."""

    @property
    def cutoffs(self) -> Index:
        """Distinct cutoffs, ascending."""

    @property
    def depth(self) -> int:
        """Deepest cutoff."""

    @property
    def curve_key(self) -> tuple[Any, ...]:
        """Equal for metrics that differ only in their cutoffs."""

    @property
    def greater_is_better(self) -> bool:
        """Whether the higher value is the better one."""

    @property
    def averages_ratios(self) -> bool:
        """Whether its mean is the plain mean of the ratios of all queries."""

    def __getitem__(self, keyword: str) -> Any:
        """Value of a keyword."""

    def read(self, queries: Queries) -> Queries:
        """Queries with negative labels read as the keywords say."""
