"""The verdict of a gate as one sentence, which results, pages and the command line print."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

NO_WORSE, IS_WORSE, UNDECIDED, NO_LOSS_SHOWN = "no worse", "worse", "undecided", "no loss shown"


class MetricOutcome(NamedTuple):
    """Outcome of the gate by one metric.

    `difference`: new less old. `loss`: largest mean loss that is not ruled out. `n_least`: smallest number of queries
    that can show the margin if no query differs. `smallest_margin`: smallest margin that these queries can show then.
    Without a margin, `margin` and `n_least` are None.
    """

    name: str
    decision: str
    n_queries: int
    difference: float
    won: int
    lost: int
    loss: float
    margin: float | None
    n_least: int | None
    smallest_margin: float


def joint_decision(decisions: Iterable[str]) -> str:
    """Decision of all metrics: worse if one is worse, otherwise the decision that all share, or undecided."""
    decided = {*decisions}
    if IS_WORSE in decided:
        return IS_WORSE
    return decided.pop() if len(decided) == 1 else UNDECIDED


def gate_verdict(metrics: Sequence[MetricOutcome], alpha: float, *, n_identical: int | None = None) -> str:
    """Sentence with the decision and its reason; `n_identical` is the number of lists if all are identical."""
    decision = joint_decision(metric.decision for metric in metrics)
    if n_identical is not None:
        head = "No worse" if decision == NO_WORSE else "No loss is shown"
        return (
            f"{head}: the lists are identical on all {n_identical} queries, so nothing was changed here. This is not a "
            "test: other queries may differ."
        )
    if decision == NO_LOSS_SHOWN:
        return _no_loss_shown(metrics, alpha)
    if decision == NO_WORSE:
        return f"No worse: new does not lose more than the margin, alpha={alpha:g}"
    if decision == IS_WORSE:
        losing = ", ".join(metric.name for metric in metrics if metric.decision == IS_WORSE)
        more = "" if metrics[0].margin is None else " more than the margin"
        return f"Worse: new loses{more} in {losing}, alpha={alpha:g}"
    if too_few := [metric for metric in metrics if is_too_small(metric)]:
        return f"Undecided: {_needs(too_few, several=len(metrics) > 1)}"
    return f"Undecided: new may or may not lose more than the margin, alpha={alpha:g}"


def is_too_small(metric: MetricOutcome) -> bool:
    """Whether a metric is undecided because its queries are too few to show the margin."""
    return metric.decision == UNDECIDED and metric.n_least is not None and metric.n_queries < metric.n_least


def _needs(too_few: Sequence[MetricOutcome], *, several: bool) -> str:
    """Number of queries that the most demanding metric needs, and the smallest margin that these queries can show."""
    first = max(too_few, key=lambda metric: metric.n_least or 0)
    where = f" in {first.name}" if several else ""
    can = f"; {rounded_up(first.smallest_margin)} can be shown" if math.isfinite(first.smallest_margin) else ""
    return (
        f"{first.n_queries} queries cannot show a margin of {first.margin:g}{where}: {first.n_least} are the least if "
        f"nothing differs{can}."
    )


def rounded_up(x: float) -> str:
    """A positive number, rounded up to two digits."""
    step = 10.0 ** (math.floor(math.log10(x)) - 1)
    return f"{math.ceil(round(x / step, 9)) * step:.2g}"


def _no_loss_shown(metrics: Sequence[MetricOutcome], alpha: float) -> str:
    """Sentence if no loss is shown: the differences, and the losses that are not ruled out."""
    n_queries = {metric.n_queries for metric in metrics}
    several, where = len(metrics) > 1, f" on {n_queries.pop()} queries" if len(n_queries) == 1 else ""
    parts, losses = [], []
    for metric in metrics:
        queries = "" if where else f" on {metric.n_queries} queries"
        name, inside = (f"{metric.name} ", f" in {metric.name}") if several else ("", "")
        parts.append(f"{name}{metric.difference:+.4f}{queries} ({metric.won} won, {metric.lost} lost)")
        if metric.loss > 0:
            losses.append(f"about {metric.loss:.2g}{inside}")
    left = f"Losses are ruled out, alpha={alpha:g}."
    if losses:
        *most, last = losses
        left = f"Losses up to {' and '.join(filter(None, [', '.join(most), last]))} cannot be ruled out."
    return f"No loss is shown{where}: {', '.join(parts)}. {left}"
