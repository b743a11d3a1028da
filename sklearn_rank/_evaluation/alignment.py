"""Finished results put side by side: the same metrics, computed alike, for the same queries, labels and weights."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import number_together
from sklearn_rank._evaluation.clusters import agreed_by_query
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank._utils.echo import echo, query_count
from sklearn_rank._utils.typing import Index


def align_results(results: Mapping[str, Any], function_name: str) -> dict[str, Any]:
    """Results that differ in values only, all with the queries and the metrics in the order of the first one."""
    (first, expected), *others = results.items()
    for name, result in others:
        _refuse_other_metrics(first, expected, name, result, function_name)
    known, numbers = number_together([result.qid for result in results.values()])
    _refuse_other_queries(known, dict(zip(results, numbers, strict=True)), function_name)
    columns = [[result._column_fingerprints.get(metric) for result in results.values()] for metric in expected.meaning]
    sums = [result.label_fingerprints for result in results.values()]
    refuse_other_data(sums, columns, numbers, known, [*results], function_name)
    aligned = {
        name: _in_order(result, np.argsort(number), expected)
        for (name, result), number in zip(results.items(), numbers, strict=True)
    }
    for name, result in aligned.items():
        for what in ("weight", "clusters"):
            if not _equal(getattr(result, what), getattr(expected, what)):
                raise ValueError(
                    f"{function_name} takes results whose queries have the same {what}: evaluate all systems with it, "
                    f"or all without. Got other {what} in {echo(name)} than in {echo(first)}."
                )
    _refuse_other_attributes(aligned, function_name)
    return aligned


def _refuse_other_attributes(results: Mapping[str, Any], function_name: str) -> None:
    """Refuse attributes of one name with different values: segments would belong to only one result."""
    known: dict[str, tuple[str, NDArray[Any]]] = {}
    for name, result in results.items():
        for attribute, values in result.attributes.items():
            first, expected = known.setdefault(attribute, (name, values))
            if not _equal(values, expected):
                raise ValueError(
                    f"{function_name} takes results whose queries have the same attributes, where they have the same "
                    f"name. Got another {echo(attribute)} in {echo(name)} than in {echo(first)}."
                )


def _refuse_other_metrics(first: str, expected: Any, name: str, result: Any, function_name: str) -> None:
    """Refuse a result with other metrics than the first one, or metrics that were computed otherwise."""
    if {*expected.meaning} != {*result.meaning}:
        raise ValueError(
            f"{function_name} takes results of the same metrics. "
            f"Got {', '.join(expected.meaning)} in {echo(first)} and "
            f"{', '.join(result.meaning)} in {echo(name)}."
        )
    for metric in expected.meaning:
        for property_of in ("meaning", "average", "greater_is_better"):
            one, other = (getattr(evaluation, property_of)[metric] for evaluation in (expected, result))
            if one != other:
                raise ValueError(
                    f"{function_name} takes results of metrics that were computed alike. Got {echo(metric)} with "
                    f"{property_of} {one} in {echo(first)} and {other} in {echo(name)}."
                )


def _refuse_other_queries(known: NDArray[Any], numbers: Mapping[str, Index], function_name: str) -> None:
    """Refuse results where one lacks a query that another one has."""
    present = {name: np.isin(np.arange(len(known)), number) for name, number in numbers.items()}
    for name, there in present.items():
        if not there.all():
            query = int(np.argmin(there))
            other = next(one for one, has in present.items() if has[query])
            raise ValueError(
                f"{function_name} takes results on the same queries, so evaluate all systems on the same data. "
                f"Got {query_count(int(np.count_nonzero(~there)))} that {echo(name)} lacks, the first of them "
                f"{echo(known[query : query + 1].tolist()[0])}, which {echo(other)} has."
            )


def _in_order(result: Any, order: Index, expected: Any) -> Any:
    """A result with its queries from these places, and its metrics as in another one; the means stay as they are."""
    if [*result.meaning] == [*expected.meaning] and np.array_equal(order, np.arange(len(order))):
        return result
    return with_counts(result._of_queries(order, expected.meaning), run_means=result.run_means)


def _equal(one: NDArray[Any] | None, other: NDArray[Any] | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))


def refuse_other_data(
    sums: Sequence[NDArray[np.uint32] | None],
    columns: Iterable[Sequence[NDArray[np.uint32] | None]],
    positions: Sequence[Any],
    ids: NDArray[Any],
    names: Sequence[str],
    function_name: str,
) -> None:
    """Refuse systems judged by other known labels or, for a metric, by other columns that it reads."""
    # `positions` are the positions of their queries in `ids`.
    for what, given in [("labels", sums), *(("columns", of_metric) for of_metric in columns)]:
        rule = (
            f"{function_name} takes systems that were judged by the same {what}; to compare anyway, pass only values, "
            "result.to_frame()[metric]."
        )
        agreed_by_query(given, positions, ids, names, rule, what)
