"""A warning about labels of which every one is relevant, as those of a scale from 1 to 5 are."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Mapping

from sklearn_rank._engine.queries import Queries
from sklearn_rank._metric.spec import MetricSpec

OF_RELEVANCE = frozenset(
    {"bpref", "coverage", "f", "fallout", "hit", "infap", "iprec", "map", "mrr", "precision", "recall", "rprec"}
)
"""Metrics that say nothing about a ranking of which every document is relevant."""


def warn_if_all_relevant(queries: Queries, specs: Mapping[str, MetricSpec]) -> None:
    """Warn where metrics read graded labels of which the lowest is relevant, and all documents are judged and ranked.

    Labels of one value are those of positives alone, which their owner knows.
    """
    (lowest, highest), has_unjudged, has_unretrieved = queries.summary
    if not 0 < lowest < highest or has_unjudged or has_unretrieved or queries.unlisted is not None:
        return
    constant = [
        name for name, spec in specs.items()
        if spec.metric.name in OF_RELEVANCE and spec.metric.is_built_in and lowest >= spec["min_relevance"]
    ]  # fmt: skip
    if constant:
        warnings.warn(
            f"Every document is relevant, as labels go from {lowest:g} to {highest:g} and relevant are those >= "
            f"min_relevance={specs[constant[0]]['min_relevance']:g}: {', '.join(constant)} say nothing about the "
            f"ranking. If {lowest:g} means not relevant, pass y_true - {lowest:g}, or min_relevance above {lowest:g} "
            "(and for nDCG a table of gains).",
            UserWarning,
            stacklevel=_levels_to_the_caller(),
        )


def _levels_to_the_caller() -> int:
    """Frames from the function that warns up to the code that called this library."""
    frame, levels = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("sklearn_rank."):
        frame, levels = frame.f_back, levels + 1
    return levels
