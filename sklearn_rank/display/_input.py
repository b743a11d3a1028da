"""Values for plots, from results: a metric, its cutoffs, two systems by query."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import STATISTICS
from sklearn_rank._data.look import look
from sklearn_rank._engine.grouping import number_together
from sklearn_rank._evaluation.alignment import refuse_other_data, with_one_meaning
from sklearn_rank._evaluation.evaluate import evaluate
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.key_signs import known_metric
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricLike, MetricSpec
from sklearn_rank._utils.constraints import is_count, is_key
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.typing import Array
from sklearn_rank.display._arguments import RESULT


def at_cutoffs(metric: MetricLike, k: Iterable[int]) -> list[MetricSpec]:
    """Return a metric at each cutoff."""
    cutoffs: list[Any] = [] if isinstance(k, (str, bytes)) or not isinstance(k, Iterable) else list(k)
    if not cutoffs or not all(map(is_count, cutoffs)):
        raise ValueError(f"The 'k' parameter must be a sequence of int >= 1, such as range(1, 21). Got {echo(k)}.")
    spec = parse_metric(metric)
    if spec.k is not None:
        raise ValueError(f"Pass the cutoffs as k, not in the metric's name. Got {echo(metric)}.")
    return [parse_metric(spec, k=cutoff) for cutoff in dict.fromkeys(cutoffs)]


def specs_in(result: Evaluation) -> dict[str, MetricSpec]:
    """Parsed metrics of a result by name, without plain functions and user-defined names."""
    specs = {}
    for name in result.per_query:
        with suppress(ValueError):
            specs[name] = parse_metric(name)
    return specs


def names_at_cutoffs(result: Evaluation, metric: MetricLike | None) -> list[str]:
    """Names in a result for a metric without cutoff (None: the only metric), by ascending cutoff."""
    known: dict[str, dict[int, str]] = {}
    for name, spec in specs_in(result).items():
        if spec.k is not None:
            known.setdefault(str(replace(spec, k=None)), {})[spec.k] = name
    wanted = str(parse_metric(metric)) if metric is not None else next(iter(known), "")
    if wanted not in known or (metric is None and len(known) > 1):
        raise ValueError(
            "A plot of cutoffs needs a metric at several cutoffs in the result, such as 'ndcg@1' and "
            "'ndcg@5'; name it with metric='ndcg'. "
            f"Got metric={echo(metric)} and a result of {', '.join(result.per_query)}."
        )
    return [name for _, name in sorted(known[wanted].items())]


def name_in(result: Evaluation, metric: str | None) -> str:
    """Name of a metric of the result; None: the only metric."""
    only = metric is None and len(result.per_query) == 1
    return next(iter(result.per_query)) if only else known_metric(result, metric)


def choices_of(results: Any, metric: str) -> str:
    """Choices behind a metric of one or several results, at any cutoff; "" for other objects."""
    first = next(iter(results.values()), None) if isinstance(results, Mapping) else results
    if not isinstance(first, Evaluation):
        return ""
    known = {n: text for n, text in first.meaning.items() if metric in (n, n.partition("@")[0])}
    return choices_in_words(known, first.counts)


def check_results(results: Any) -> None:
    """Raise TypeError unless the value is a dict of results by name, at least one; ValueError if two are one object."""
    if not isinstance(results, Mapping) or not results or not all(map(RESULT.accepts, results.values())):
        raise TypeError(f"results must be a dict of results by name, at least one. Got {echo(results)}.")
    refuse_one_object(results)


def refuse_one_object(results: Mapping[str, Any]) -> None:
    """Raise ValueError if two systems are one result."""
    look(STATISTICS, models=(results,))


def refuse_other_metrics(results: Mapping[str, Evaluation], metrics: Iterable[str]) -> None:
    """Refuse systems whose metric was computed in different ways."""
    with_one_meaning(results, metrics, "A plot takes systems with metrics")


def baseline_in(systems: Mapping[str, Any], baseline: str | None) -> str:
    """Check the name of the baseline; None: the first system."""
    baseline = next(iter(systems)) if baseline is None else baseline
    if not is_key(baseline, systems):
        raise ValueError(f"The 'baseline' must be one of {echo_all(systems)}. Got {echo(baseline)}.")
    return baseline


def evaluate_each(y_true: ArrayLike, y_score: Mapping[str, Any], **common: Any) -> dict[str, Evaluation]:
    """Evaluate each system; return results by name."""
    if not isinstance(y_score, Mapping):
        raise TypeError(
            f"y_score must be a dict of the scores of each system, by its name. Got {type(y_score).__name__}."
        )
    return {name: evaluate(y_true, scores, **common) for name, scores in y_score.items()}


def paired(first: Evaluation, second: Evaluation, metric: str) -> tuple[NDArray[Any], Array, Array]:
    """Return query ids and the values of two systems, in the order of the first."""
    refuse_other_metrics({"the first": first, "the second": second}, [metric])
    known, (one, other) = number_together([first.qid, second.qid])
    if not len(known) == len(one) == len(other):
        raise ValueError(
            "Two systems must have the same queries. "
            f"Got {len(one)} and {len(other)} queries; {len(one) + len(other) - len(known)} are in both."
        )
    sums = [first.label_fingerprints, second.label_fingerprints]
    columns = [[result._column_fingerprints.get(metric) for result in (first, second)]]
    refuse_other_data(sums, columns, [one, other], known, ["the first", "the second"], "A plot of two systems")
    return first.qid, first.per_query[metric], second.per_query[metric][np.argsort(other)]
