"""Which queries of results can tell systems apart, and how many cannot because their judgments fix the value."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.nothing import Nothing, ValuesOfSystem, nothing_in
from sklearn_rank._metric.choices import QueryCounts, metric_of_meaning, orders_of_ties
from sklearn_rank._metric.settled import zero_is_nothing
from sklearn_rank._metric.spec import is_adjusted
from sklearn_rank._metric.value_bounds import bounds_of
from sklearn_rank._tell.notes import best_remark


def tells_of(result: Any) -> dict[str, NDArray[np.bool_]]:
    """Whether the value of a query can tell systems apart, by metric of an evaluation."""
    # It cannot if the judgments alone fix it, or if it is 0 because no relevant document was reached. Where 0 is best,
    # and where values are the user's own, only labels say it; without labels all values can.
    found = {}
    for name, values in result.per_query.items():
        tells = np.ones(len(values), bool) if result.weight is None else result.weight > 0
        if name in result.settled:
            tells &= ~result.settled[name]
        # Labels say of values of the user's own whether there is anything to find.
        elif metric_of_meaning(result.meaning[name]) is None and result.label_fingerprints is not None:
            tells &= result.label_fingerprints != 0
        found[name] = tells & (np.nan_to_num(values) != 0) if zero_is_nothing(result.meaning[name]) else tells
    return found


def counts_of(result: Any) -> dict[str, QueryCounts]:
    """Number of queries, of those without a value, and of those whose judgments alone fix it, and ties, by metric."""
    n_settled = {name: int(np.count_nonzero(settled)) for name, settled in result.settled.items()}
    orders = orders_of_ties(result._remarks if any("ties=stable" in one for one in result.meaning.values()) else ())
    ties = orders[0].removeprefix("ties ") if orders else ""
    return {
        name: QueryCounts(len(result.qid), n_undefined, n_settled.get(name), ties=ties)
        for name, n_undefined in result.n_undefined.items()
        # Values that are adjusted for chance are undefined for another reason.
        if not is_adjusted(result.meaning[name])
    }


FEWEST_EQUAL = 20
"""Smallest number of queries with one value that a remark says to be the best."""


def on_best(result: Any) -> Iterator[str]:
    """Remarks on metrics with the same value in every query, which no order of the documents makes better."""
    for name, values in result.per_query.items():
        at = ~np.isnan(values) & ~result.settled.get(name, np.zeros(len(values), bool))
        if result.weight is not None:
            at &= result.weight > 0
        n, known = int(at.sum()), values[at]
        if n < FEWEST_EQUAL or np.ptp(known) > 0 or result.average[name] != "macro":
            continue
        if known[0] == bounds_of(name, result.meaning[name])[result.greater_is_better[name]]:
            yield best_remark(name, n, len(values), None)
        # The best order takes as long as the evaluation, so it is computed for equal values only. If the best value
        # differs by query, chance=True shows its mean beside the mean.
        elif name in result._specs and known[0] != 0 and (best := best_values(result, name)) is not None:
            if np.array_equal(best[at], known):
                yield best_remark(name, n, len(values), result[name])


def best_values(result: Any, metric: str) -> NDArray[np.float64] | None:
    """Values of the best order of the documents; None without the data, or if no such order is known."""
    if result._kept_data.ranked is None and result._kept_references is None:
        return None
    try:
        return result.best().per_query.get(metric)
    except ValueError:  # the data were modified since, or no metric has a best order
        return None


def nothing_by_metric(results: Mapping[str, Any]) -> dict[str, Nothing | None]:
    """Why no query can tell systems apart, by metric of their evaluations."""
    return {
        metric: nothing_in(
            ValuesOfSystem(result.per_query[metric], result.tells[metric], result.settled.get(metric))
            for result in results.values()
        )
        for metric in next(iter(results.values())).meaning
    }
