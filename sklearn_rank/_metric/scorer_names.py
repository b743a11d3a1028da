"""Metrics under the names of scorers: "neg_rmse", which is negative, or "rmse" may be typed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sklearn_rank._metric.key_signs import SIGN, ByName, Value, scorer_name
from sklearn_rank._metric.names import listed_metrics, parse_metric, parse_metrics
from sklearn_rank._metric.spec import MetricsLike, MetricSpec
from sklearn_rank._utils.echo import echo


def parse_signed(metrics: MetricsLike, /, **keywords: Any) -> dict[str, MetricSpec]:
    """Metrics by their names in results; each may be given with the sign of a scorer."""
    if not isinstance(metrics, Mapping):
        return parse_metrics([*map(without_sign, listed_metrics(metrics))], **keywords)
    names = [str(name).removeprefix(SIGN) for name in metrics]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Each metric must be given once, with {SIGN!r} or without. Got {echo(name)} twice.")
    specs = parse_metrics(dict(zip(names, map(without_sign, metrics.values()), strict=True)), **keywords)
    # Only the name of an error has a sign.
    own = zip(metrics, specs.items(), strict=True)
    return {str(given) if spec.greater_is_better else name: spec for given, (name, spec) in own}


def signed(values: Mapping[str, Value], metrics: Mapping[str, MetricSpec]) -> ByName[Value]:
    """Values of a result under the names of scorers, errors negative."""
    numbers: Mapping[str, Any] = values
    return ByName(
        (scorer_name(name, spec), numbers[name] if spec.greater_is_better else -numbers[name])
        for name, spec in metrics.items()
    )


def without_sign(name: Any) -> Any:
    """A metric by its name in results; other values stay unchanged."""
    if not isinstance(name, str):
        return name
    bare = name.strip().removeprefix(SIGN)
    if bare != name.strip() and any(parse_metric(one).greater_is_better for one in listed_metrics(bare)):
        raise ValueError(f"Only errors have a scorer with {SIGN!r}, and higher is better here. Got {echo(name)}.")
    return bare
