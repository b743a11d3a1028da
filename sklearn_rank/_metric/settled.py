"""Queries whose judgments fix the value of a metric for every ranking, such as queries without a relevant document."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sklearn_rank._metric.choices import ABOVE_ZERO, WITHOUT_RELEVANT, metric_of_meaning
from sklearn_rank._metric.metric import NO_RELEVANT, Metric
from sklearn_rank._metric.names import cached_spec
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._utils.constraints import is_word

LEAST_ABOVE_ZERO = math.ulp(0.0)
"""The lowest label that has a gain."""

UNEQUAL_LABELS = "unequal labels"
"""`undefined_when` of metrics that need two labels, and that scores can leave undefined as well."""


def settled_as_metric(spec: MetricSpec) -> MetricSpec | None:
    """Metric that is undefined where the judgments of a query alone fix the value of this one; None if unknown."""
    # It is the metric itself where that is undefined without a relevant document, or without a pair of unequal labels.
    # The values of pointwise errors depend on scores, so no judgment fixes them.
    entry, keywords = spec.metric, {name: spec[name] for name in ("unjudged", "negative")}
    if not entry.is_built_in or entry.subtopics:
        return spec if entry.needs_relevant or (entry.is_built_in and entry.undefined_when) else None
    if entry.pointwise or spec["adjusted"]:
        return spec if spec["adjusted"] else None
    if UNEQUAL_LABELS in entry.undefined_when:
        return cached_spec("opa", **keywords)
    if entry.undefined_when and not entry.reads_scores and entry.undefined_when != "a sum of gains of zero":
        return spec
    least = _least_relevant(spec)
    # The ties of the metric, so that both read one order.
    ties = {} if entry.defines_ties else {"ties": spec["ties"]}
    return None if least is None else cached_spec("hit@1", min_relevance=least, **keywords, **ties)


def _least_relevant(spec: MetricSpec) -> float | None:
    """Lowest label with a gain above 0; None if unknown, or if the metric has no gains."""
    entry = spec.metric
    if entry.name in ("judged", "rbo", "rbp_residual"):
        return None
    if "gain" in entry.formula_params and not is_word(spec["gain"], "binary"):
        return LEAST_ABOVE_ZERO if isinstance(spec["gain"], str) else None
    if "stop" in entry.formula_params or entry.name in ("cg", "acg", "pwa"):
        return LEAST_ABOVE_ZERO
    return float(spec["min_relevance"])


def other_metrics(specs: Mapping[str, MetricSpec]) -> dict[str, MetricSpec]:
    """Metrics that say which queries are settled for these, where these do not say so themselves."""
    asked = {name: settled_as_metric(spec) for name, spec in specs.items()}
    return {name: one for name, one in asked.items() if one is not None and one is not specs[name]}


def said_by_others(specs: Mapping[str, MetricSpec]) -> dict[str, str]:
    """Names of metrics whose settled queries another of these metrics says, with the name of that one."""
    by_relevance = {relevance_of(spec): name for name, spec in specs.items()}
    asked = {name: relevance_of(other) for name, other in other_metrics(specs).items()}
    return {name: by_relevance[one] for name, one in asked.items() if one is not None and one in by_relevance}


def metrics_to_add(specs: Mapping[str, MetricSpec]) -> dict[str, MetricSpec]:
    """Metrics to compute as well, so that settled queries are known for all of these; those by score count."""
    by_score = {name: spec for name, spec in specs.items() if spec.order is None}
    said = said_by_others(by_score)
    return {name: other for name, other in other_metrics(by_score).items() if name not in said}


def relevance_of(spec: MetricSpec) -> tuple[float, str] | None:
    """Lowest relevant label, and how negative labels are read, of a metric that is undefined without such a label."""
    # Metrics with the same answer are undefined for the same queries. None for other metrics.
    entry = spec.metric
    if not entry.is_built_in or entry.subtopics or spec["adjusted"] or entry.undefined_when not in WITHOUT_RELEVANT:
        return None
    least = spec["min_relevance"] if entry.undefined_when == NO_RELEVANT else _least_relevant(spec)
    if entry.undefined_when == ABOVE_ZERO:
        least = LEAST_ABOVE_ZERO
    return None if least is None else (float(least), spec["negative"])


def zero_is_nothing(meaning: str) -> bool:
    """Whether a value of 0 says that no relevant document was reached, by the meaning that results have."""
    # It is no such value where 0 is best, the worst order, or luck, or the user's own.
    entry: Metric | None = metric_of_meaning(meaning)
    if entry is None or not entry.greater_is_better or entry.name in ("judged", "bpref"):
        return False
    return entry.bounds[0] in (0, -math.inf) and not any(
        word in entry.undefined_when for word in ("pair", UNEQUAL_LABELS)
    )
