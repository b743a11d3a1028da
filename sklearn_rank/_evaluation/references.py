"""Chance and best of the metrics of a result: computed from its data, or kept with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple, NoReturn

from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.given_values import GivenValues
from sklearn_rank._metric.adjustment import adjusted_values
from sklearn_rank._metric.notation import display_name
from sklearn_rank._metric.spec import ORDERS, MetricSpec, is_adjusted
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

ValuesByMetric = Mapping[str, PerQuery | GivenValues]


class References(NamedTuple):
    """Values of metrics in a random order and in the best one, and values adjusted by both; each where it has them."""

    chance: ValuesByMetric
    best: ValuesByMetric
    adjusted: ValuesByMetric

    @classmethod
    def of(cls, by_score: ValuesByMetric, in_orders: Mapping[str, Mapping[str, PerQuery]]) -> References:
        """References of computed values, by score and in each of `ORDERS`."""
        chance, best = in_orders["random"], in_orders["best"]
        adjusted = {
            name: adjusted_values(adjusted_spec(values.spec), values, chance[name], best[name])
            for name, values in by_score.items()
            if name in chance and name in best and isinstance(values, PerQuery) and values.average_kind == "macro"
        }
        return cls(chance, best, adjusted)

    def taken(self, rows: Any, metrics: Sequence[str], weight: Array | None) -> References:
        """Values of some metrics for the queries at some places."""
        return References(*({n: of[n].take(rows, n, weight) for n in metrics if n in of} for of in self))


def specs_in_orders(specs: Mapping[str, MetricSpec]) -> dict[str, dict[str, MetricSpec]]:
    """Metrics in each of `ORDERS`, where they have a value in it."""
    return {
        order: {name: replace(spec, order=order) for name, spec in specs.items() if not why_without(spec, order)}
        for order in ORDERS
    }


def why_without(spec: MetricSpec, order: str) -> str:
    """Why a metric has no value in an order; "" if it has one."""
    of_best = spec.metric.without_best if order == "best" else ""
    return of_best or spec.without_chance


def refuse_without(kind: str, specs: Mapping[str, MetricSpec]) -> NoReturn:
    """Say for each metric why it has no value in a random order, in the best one, or adjusted by both."""
    orders = {"chance": ["random"], "best": ["best"], "adjusted": [*ORDERS]}[kind]
    reasons = []
    for name, spec in specs.items():
        whys = [why for order in orders if (why := why_without(spec, order))]
        pooled = f"has a {spec['average']} mean, which average='micro' adjusts"
        reasons.append(f"{echo(name)} {(whys or [pooled])[0]}")
    raise ValueError(f"{kind}() is for metrics of an order of documents. Got {'; '.join(reasons) or 'other values'}.")


def means_of(values: ValuesByMetric, weight: Array | None) -> dict[str, float]:
    """Mean of each metric over queries."""
    return {name: float(of_metric.average(weight)[0]) for name, of_metric in values.items()}


def notes_of_adjusted(meaning: Mapping[str, str]) -> list[str]:
    """A sentence that names the metrics that are adjusted for chance and whose own names leave it out, if any."""
    adjusted = [display_name(name) for name, text in meaning.items() if is_adjusted(text) and "adjusted" not in name]
    return [f"Adjusted for chance: {', '.join(adjusted)}."] if adjusted else []


def adjusted_spec(spec: Any) -> MetricSpec:
    """The metric, to be adjusted for chance."""
    return MetricSpec(spec.metric, spec.k, {**spec.keywords, "adjusted": True})


# --- metrics in other orders among those by score ------------------------------------------------------------


def with_references(specs: Mapping[str, MetricSpec]) -> dict[str, MetricSpec]:
    """Metrics by score, and the same in each of `ORDERS` under names of their own, to be computed together."""
    listed = dict(specs)
    for order, of_order in specs_in_orders(specs).items():
        for name, spec in of_order.items():
            if (added := _name_in(order, name)) in listed:
                raise ValueError(f"Each metric must be given once. Got {echo(added)} with chance=True.")
            listed[added] = spec
    return listed


def told_apart(values: Mapping[str, PerQuery]) -> tuple[dict[str, PerQuery], References | None]:
    """Values by score, and the references if there are any, from values of `with_references`."""
    by_score = {name: of_metric for name, of_metric in values.items() if by_score_alone(of_metric.spec)}
    if len(by_score) == len(values):
        return by_score, None
    in_orders = {
        order: {name: values[added] for name in by_score if (added := _name_in(order, name)) in values}
        for order in ORDERS
    }
    return by_score, References.of(by_score, in_orders)


def by_score_alone(spec: Any) -> bool:
    """Whether a metric is one that was asked for, not one of its references."""
    return getattr(spec, "order", None) is None


def _name_in(order: str, name: str) -> str:
    return f"{name} in {order} order"
