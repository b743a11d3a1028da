"""A warning about labels of which every one is relevant, as those of a scale from 1 to 5 are."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from sklearn_rank._engine.queries import Queries
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.warning import warn_caller

OF_RELEVANCE = frozenset(
    {"bpref", "coverage", "f", "fallout", "hit", "infap", "iprec", "map", "mrr", "precision", "recall", "rprec"}
)
"""Metrics that say nothing about a ranking of which every document is relevant."""


class LabelRange(NamedTuple):
    """Lowest and highest label of some queries; NaN where a document is not judged or not ranked."""

    n_queries: int
    lowest: float
    highest: float

    @classmethod
    def of(cls, queries: Queries) -> LabelRange:
        """Range of the labels of checked queries."""
        facts = queries.facts
        lowest, highest = facts.label_range
        if facts.has_unjudged or facts.has_unretrieved:
            lowest = highest = math.nan
        return cls(len(queries.qid), lowest, highest)

    def joined(self, other: LabelRange) -> LabelRange:
        """Range of the labels of both."""
        low, high = np.minimum(self.lowest, other.lowest), np.maximum(self.highest, other.highest)  # NaN if one is
        return LabelRange(self.n_queries + other.n_queries, float(low), float(high))


NO_LABELS = LabelRange(0, math.inf, -math.inf)


def warn_if_all_relevant(labels: LabelRange, specs: Mapping[str, MetricSpec]) -> None:
    """Warn where metrics read graded labels of which the lowest is relevant, and all documents are judged and ranked.

    Labels of one value are those of positives alone, which their owner knows; those of one query are no scale.
    """
    n_queries, lowest, highest = labels
    if n_queries < 2 or not 0 < lowest < highest:
        return
    constant = [
        name for name, spec in specs.items()
        if spec.metric.name in OF_RELEVANCE and spec.metric.is_built_in and lowest >= spec["min_relevance"]
    ]  # fmt: skip
    if constant:
        warn_caller(
            f"Every document is relevant, as labels go from {lowest:g} to {highest:g} and relevant are those >= "
            f"min_relevance={specs[constant[0]]['min_relevance']:g}: {', '.join(constant)} say nothing about the "
            f"ranking. If {lowest:g} means not relevant, pass y_true - {lowest:g}, or min_relevance above {lowest:g} "
            "(and for nDCG a table of gains)."
        )
