"""Labels of rows are checked for misuse once, before models score them."""

from __future__ import annotations

from collections.abc import Mapping

from sklearn_rank._engine.queries import Data
from sklearn_rank._engine.read import with_scores
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.check import Door
from sklearn_rank._misuse.evidence import Evidence
from sklearn_rank._misuse.rows import look
from sklearn_rank._utils.typing import Array

KINDS_OF_LABELS = "labels ids qid"
"""Kinds of checks that need no scores."""


def look_at_labels(
    door: Door, data: Data, metrics: Mapping[str, MetricSpec], *, on_misuse: str = "raise"
) -> None:  # fmt: skip
    """Check labels and ids for misuse; raise ValueError where they are an error."""
    look(door, data.all_tied, metrics, kinds=KINDS_OF_LABELS, on_misuse=on_misuse)


def evidence_of_labels(data: Data, metrics: Mapping[str, MetricSpec]) -> Evidence:
    """What labels and ids show."""
    return Evidence.of(data.all_tied, metrics, kinds=KINDS_OF_LABELS)


def look_at_scores(
    door: Door, data: Data, y_score: Array, metrics: Mapping[str, MetricSpec], *, on_misuse: str
) -> None:  # fmt: skip
    """Check the scores of rows for misuse."""
    queries = with_scores(data, y_score, y_score.shape, score_name="y_score")
    look(door, queries, metrics, kinds="scores", on_misuse=on_misuse)
