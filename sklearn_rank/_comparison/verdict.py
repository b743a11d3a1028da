"""The verdict of a comparison by each metric, from its means, tests and candidates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn_rank._comparison.paired_test import PairedTest
from sklearn_rank._data.judged import judged_note
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.text import Parts
from sklearn_rank._tell.verdict import MetricVerdict, SystemOutcome, on_other_metrics, verdict


def outcomes_of(tests: PairedTest | None) -> dict[str, SystemOutcome]:
    """Outcome of each system against the baseline by a metric, or of each pair without a baseline."""
    if tests is None:
        return {}
    sign, by_system = 1 if tests.greater_is_better else -1, tests.baseline is not None or len(tests._pair_rows) == 1
    return {
        row.a if by_system else f"{row.a} - {row.b}": SystemOutcome(sign * row.difference, row.corrected_pvalue)
        for row in tests._pair_rows
    }


def said_by(comparison: Any, metric: str) -> MetricVerdict:
    """Verdict of a comparison by a metric."""
    best = comparison._candidates.get(metric)
    names = [] if best is None else best.names
    return verdict_by(comparison.results, metric, comparison._tests_of.get(metric), names, comparison.baseline)


def verdict_by(
    results: Mapping[str, Any], metric: str, tests: PairedTest | None, best: Sequence[str], baseline: str
) -> MetricVerdict:
    """Verdict of results by a metric, its tests, the systems that may be the best, and the baseline, "" if none."""
    means, outcomes = {name: result[metric] for name, result in results.items()}, outcomes_of(tests)
    up = next(iter(results.values())).greater_is_better[metric]
    said = verdict(means, baseline, outcomes, best, display_name(metric), greater_is_better=up)
    return MetricVerdict(said, frozenset(best), outcomes, len(means))


def said_by_other_metrics(comparison: Any) -> tuple[list[Parts], list[Parts]]:
    """Sentences on the metrics after the first: those that agree or show nothing, and those that differ."""
    first, *others = next(iter(comparison.results.values())).meaning
    of_others = {m: said_by(comparison, m) if m in comparison._tests_of else None for m in others}
    return on_other_metrics({first: said_by(comparison, first), **of_others})


def note_on_judged(comparison: Any) -> str:
    """Note with the judged shares of systems; "" if all documents are judged, or it is unknown."""
    judged = comparison.judged
    metrics = next(iter(comparison.results.values())).meaning
    return judged_note({m: {name: of[m] for name, of in judged.items() if m in of} for m in metrics})
