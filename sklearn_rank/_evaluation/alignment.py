"""Finished results put side by side: the same metrics, computed alike, for the same queries, labels and weights."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import number_together
from sklearn_rank._engine.values import PerQuery
from sklearn_rank._evaluation.clusters import agreed_by_query
from sklearn_rank._evaluation.given_values import GivenValues
from sklearn_rank._evaluation.kept_data import with_counts
from sklearn_rank._metric.choices import metric_of_meaning, parsed_meaning
from sklearn_rank._metric.compute import compute
from sklearn_rank._metric.spec import is_adjusted
from sklearn_rank._tell.notes import note_on_lengths
from sklearn_rank._utils.echo import echo, echo_all, query_count
from sklearn_rank._utils.typing import Index

PLAIN_KEYWORD = re.compile(r"[\w.+-]+")
"""Words and numbers in texts of meanings."""

OTHER_LENGTH = 0.1
"""Difference of the numbers of documents per query, as a share of the larger one, that is shown."""


def align_results(results: Mapping[str, Any], function_name: str) -> dict[str, Any]:
    """Results that differ in values only, all with the queries and the metrics in the order of the first one."""
    (first, expected), *others = results.items()
    for name, result in others:
        _refuse_other_metrics(first, expected, name, result, function_name)
    results = with_one_meaning(results, expected.meaning, f"{function_name} takes results of metrics")
    expected = results[first]
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
            if not np.array_equal(getattr(result, what), getattr(expected, what)):
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
            if values is not expected and not np.array_equal(values, expected):
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


def with_one_meaning(results: Mapping[str, Any], metrics: Iterable[str], rule: str) -> dict[str, Any]:
    """Results with the same text for each metric; keywords that do not change a value of a result do not count."""
    stated = dict(results)
    for metric in metrics:
        (first, expected), *others = results.items()
        if lacking := [name for name, result in others if metric not in result.meaning]:
            refuse_other_keywords(metric, {first: expected.meaning[metric], lacking[0]: "none"}, rule)
        known = [result._metric_values[metric] for result in results.values()]
        if len({values.meaning for values in known}) > 1:
            for target in known:
                alike = [values_of_meaning(result, metric, target) for result in results.values()]
                if None not in alike:
                    break
            else:
                name, other = next((n, one) for n, one in others if one.meaning[metric] != expected.meaning[metric])
                refuse_other_keywords(metric, {first: expected.meaning[metric], name: other.meaning[metric]}, rule)
            for name, values in zip(results, alike, strict=True):
                if values.meaning != results[name].meaning[metric]:
                    stated[name] = replace(stated[name], _metric_values={**stated[name]._metric_values, metric: values})
        for property_of in ("average", "greater_is_better"):
            for name, other in others:
                one, another = (getattr(result, property_of)[metric] for result in (expected, other))
                if one != another:
                    raise ValueError(
                        f"{rule}, computed alike. Got {echo(metric)} with {property_of} {one} in "
                        f"{echo(first)} and {another} in {echo(name)}."
                    )
    return stated


def values_of_meaning(result: Any, metric: str, target: Any) -> Any:
    """Values of a metric, by the keywords of other values, if these keywords do not change a value; else None."""
    values, data = result._metric_values[metric], result._kept_data.ranked
    if values.meaning == target.meaning:
        return values
    differing = differing_keywords(values.meaning, target.meaning)
    # Functions and tables that are alike for these labels may differ for others.
    are_plain = all(PLAIN_KEYWORD.fullmatch(text) for pair in differing.values() for text in pair)
    if not differing or "k" in differing or not are_plain or values.average_kind != target.average_kind:
        return None
    if data is not None and isinstance(values, PerQuery) and isinstance(target, PerQuery):
        try:
            (now,) = compute(data.queries, [target.spec])
        except (TypeError, ValueError):
            return None
        same = np.array_equal(values.values(), now.values(), equal_nan=True)
        return now if same and np.array_equal(values.undefined, now.undefined) else None
    judged, entry = result.judged.get(metric), metric_of_meaning(values.meaning)
    # Unjudged documents are refused without `unjudged=`, unless a metric reads them.
    has_none = entry is not None and not entry.reads_unjudged and "unjudged=None" in values.meaning
    has_none = has_none or (judged is not None and not (judged < 1).any())
    if not has_none or [*differing] != ["unjudged"]:
        return None
    return GivenValues(
        values.values()[:, 0], values.undefined, float(values.average(result.weight)[0]), target.meaning,
        values.average_kind, values.greater_is_better, result.is_binary[metric],
    )  # fmt: skip


def differing_keywords(one: str, other: str) -> dict[str, tuple[str, str]]:
    """Keywords with both values, if two texts of meanings are of one metric and differ by keywords; else empty."""
    (name, keywords), (another, others) = map(parsed_meaning, (one, other))
    if not name or name != another or keywords.keys() != others.keys() or is_adjusted(one) != is_adjusted(other):
        return {}
    return {key: (value, others[key]) for key, value in keywords.items() if value != others[key]}


def refuse_other_keywords(metric: str, meanings: Mapping[str, str], rule: str) -> NoReturn:
    """Raise ValueError with the keywords that differ between the meanings of a metric in two systems."""
    (first, one), (name, other) = meanings.items()
    differing = differing_keywords(one, other)
    of_first, of_other = one, other
    if differing:
        of_first, of_other = (", ".join(f"{key}={pair[i]}" for key, pair in differing.items()) for i in (0, 1))
    raise ValueError(
        f"{rule}, computed alike. Got {echo(metric)} with {of_first} in {echo(first)} and {of_other} in {echo(name)}."
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


def refuse_other_data(
    sums: Sequence[NDArray[np.uint32] | None],
    columns: Iterable[Sequence[NDArray[np.uint32] | None]],
    positions: Sequence[Any],
    ids: NDArray[Any],
    names: Sequence[str],
    function_name: str,
) -> None:
    """Refuse systems judged by other known labels or, for a metric, by other columns or vectors that it reads."""
    # `positions` are the positions of their queries in `ids`.
    for what, given in [("labels", sums), *(("columns or vectors", of_metric) for of_metric in columns)]:
        rule = (
            f"{function_name} takes systems that were judged by the same {what}; to compare anyway, pass only values, "
            "result.to_frame()[metric]."
        )
        agreed_by_query(given, positions, ids, names, rule, what)


def about_data(results: Mapping[str, Any], metric: str, positions: Sequence[Any], n_queries: int) -> tuple[str, ...]:
    """Notes on lists of other lengths, and on what one result knows of its data and another does not."""
    # `positions` are the positions of the queries of each result among all queries.
    kept = [result._kept_data for result in results.values()]
    known = {
        "labels": [one.label_fingerprints is not None for one in kept],
        f"columns or vectors that {metric} reads": [
            metric in result._column_fingerprints for result in results.values()
        ],
        "documents per query": [one.n_retrieved is not None for one in kept],
    }
    unknown = [
        f"{what} of {echo_all([name for name, is_known in zip(results, of, strict=True) if not is_known])}"
        for what, of in known.items() if any(of) and not all(of)
    ]  # fmt: skip
    notes = [f"Not known, so not compared: {'; '.join(unknown)}."] * bool(unknown)
    if not all(known["documents per query"]):
        return tuple(notes)
    lengths = np.full((len(kept), n_queries), np.nan)
    for row, one, at in zip(lengths, kept, positions, strict=True):
        row[at] = one.n_retrieved
    lengths = lengths[:, ~np.isnan(lengths).any(axis=0)]
    means = lengths.mean(axis=1) if lengths.size else np.zeros(1)
    short, long = int(means.argmin()), int(means.argmax())
    if means[short] < (1 - OTHER_LENGTH) * means[long] or (lengths[short] < lengths[long]).all() and means[long]:
        k = parsed_meaning(next(iter(results.values())).meaning[metric])[1].get("k", "")
        reads_below = not k.isdecimal() or int(k) > lengths.min()
        if reads_below or all(np.array_equal(one.n_retrieved, one.known_documents) for one in kept):
            names = [*results]
            notes.append(note_on_lengths({names[i]: float(means[i]) for i in (short, long)}))
    return tuple(notes)
