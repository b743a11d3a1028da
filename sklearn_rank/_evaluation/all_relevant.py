"""A warning about labels of which every one is relevant, as those of a scale from 1 to 5 are."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

from sklearn_rank._engine.queries import Queries
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.caller import levels_to_caller

OF_RELEVANCE = frozenset(
    {"bpref", "coverage", "f", "fallout", "hit", "infap", "iprec", "map", "mrr", "precision", "recall", "rprec"}
)
"""Metrics that say nothing about a ranking of which every document is relevant."""


def warn_if_all_relevant(queries: Queries, specs: Mapping[str, MetricSpec]) -> None:
    """Warn where metrics read graded labels of which the lowest is relevant, and all documents are judged and ranked.

    Labels of one value are those of positives alone, which their owner knows.
    """
    label_range, has_unjudged, has_unretrieved = queries.summary
    if not (has_unjudged or has_unretrieved or queries.unlisted is not None):
        warn_if_all_labels_are_relevant(*label_range, specs)


def warn_if_all_labels_are_relevant(lowest: float, highest: float, specs: Mapping[str, MetricSpec]) -> None:
    """The same of the lowest and the highest of all labels; NaN where a document is not judged."""
    if not 0 < lowest < highest:
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
            stacklevel=levels_to_caller(),
        )
