"""Evaluate the rows of a partition on a worker: Arrow batches in, values by query out.

This module uses Arrow, not Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

import numpy as np

from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranking import Labels, Ranking
from sklearn_rank._evaluation.result import Evaluation, computed_values
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._tables.batch_validator import BatchValidator, NumberedRows, adjacent_queries
from sklearn_rank._tables.column_arguments import ColumnNames
from sklearn_rank._tables.parts import NO_ADDED, evaluate_parts, result_to_columns
from sklearn_rank._utils.echo import echo

Specs = Mapping[str, MetricSpec]
FINDINGS = "_findings"
"""Column with the evidence of a part, absent in the user's table."""
PARTS = ("numerator", "denominator", "defined")


def value_columns(part: Evaluation, specs: Specs) -> dict[str, Any]:
    """Columns of a table of values: null for queries that are left out of the mean, and parts for a pooled mean."""
    import pyarrow as pa

    columns, computed = {}, computed_values(part)
    for name, spec in specs.items():
        result = computed[name]
        left_out = result.undefined[:, 0] & np.isnan(spec["replace_undefined_by"])
        columns[column_name(name)] = pa.array(result.values()[:, 0], mask=left_out)
        if spec["average"] == "micro":
            parts = result.numerator[:, 0], result.denominator[:, 0], ~result.undefined[:, 0]
            columns[parts_name(name)] = pa.StructArray.from_arrays([*map(pa.array, parts)], names=PARTS)
    return columns


def result_columns(part: Evaluation, specs: Specs) -> dict[str, Any]:
    import pyarrow as pa

    return {name: pa.array(column) for name, column in result_to_columns(part).items()}


def evaluate_partition(
    batches: Iterator[Any], names: ColumnNames, specs: Specs,
    columns_of: Callable[[Evaluation, Specs], dict[str, Any]] = value_columns, score_name: str | None = None,
    added: Specs = NO_ADDED,
) -> Iterator[Any]:  # fmt: skip
    """Yield record batches with the id, the columns and the weight of each query."""
    # `added` are `metrics_to_add`, or none if settled queries are not asked for. If the name of the score column is
    # given, a further column holds the evidence of misuse in the parts.
    import pyarrow as pa

    batches = (batch for batch in batches if batch.num_rows)
    first = next(batches, None)
    if first is None:
        return
    validator = BatchValidator(names, specs.values(), assume_grouped=True, n_jobs=1)
    rows = _validate(validator, chain([first], batches), names, specs)
    id_type = first.schema.field(names.qid).type
    parts = evaluate_parts(adjacent_queries(rows), _in_one_order, specs, added, n_jobs=1, name=score_name)
    for part, evidence, _ in parts:
        # Queries are in the order of their numbers.
        start, stop = int(part.qid[0]), int(part.qid[-1]) + 1
        ids = validator.seen.ids_between(start, stop)
        columns = {"qid": pa.array(ids, type=id_type)} | columns_of(part, specs)
        if validator.weight is not None:
            columns["weight"] = pa.array(validator.weight[start:stop])
        for name, kept in (validator.of_queries("by") | validator.of_queries("clusters")).items():
            columns[name] = pa.array(kept[start:stop], type=first.schema.field(name).type)
        if score_name is not None:
            # One query of the part carries the evidence.
            columns[FINDINGS] = pa.array(
                [evidence.with_ids(ids).to_json(), *[None] * (stop - start - 1)], type=pa.string()
            )
        yield pa.record_batch(columns)


def _in_one_order(rows: NumberedRows, n_jobs: int | None) -> Queries:
    """Sort each query by descending score and ascending label, because sums depend on order and a shuffle has none."""
    queries = rows.queries(n_jobs)
    label, score, grouping = queries.label, queries.score, queries.grouping
    if label.ndim == 2:
        order = np.lexsort((*label.T, -score, grouping.query_of_row))
        return replace(queries, grouping=replace(grouping, order=order))
    if queries.summary.has_unjudged:
        label = np.where(np.isnan(label), queries.summary.label_range[1] + 1, label)
    score = np.maximum(score, np.finfo(score.dtype).min)  # labels order the documents that were not retrieved, too
    ranking = Ranking.by_score(Labels(label, grouping.indptr), score, ties="worst")
    return replace(queries, grouping=replace(grouping, order=ranking.order))


def column_name(metric: str) -> str:
    """Name of the column of a metric: Spark reads a dot as a field of a struct, and a backtick as a quote."""
    return metric.replace(".", "_").replace("`", "_")


def parts_name(metric: str) -> str:
    return f"{column_name(metric)}_parts"


def _validate(
    validator: BatchValidator, batches: Iterator[Any], names: ColumnNames, specs: Specs
) -> Iterator[NumberedRows]:
    """Validate rows; errors name the query, because row numbers have no meaning after a shuffle."""
    current = list[Any]()

    def watched() -> Iterator[Any]:
        for batch in batches:
            current[:] = [batch]
            yield batch

    try:
        yield from validator.validate(watched())
    except (TypeError, ValueError) as error:
        message = _error_of_a_query(current[0], names, specs) or str(error.__cause__)
        raise (TypeError if isinstance(error, TypeError) else ValueError)(message) from None


def _error_of_a_query(batch: Any, names: ColumnNames, specs: Specs) -> str | None:
    """Error about the first invalid query of a batch."""
    start = 0
    for qid, rows in groupby(batch[names.qid].to_pylist()):
        n_rows = len([*rows])
        try:
            validator = BatchValidator(names, specs.values(), assume_grouped=True, n_jobs=1)
            next(validator.validate([batch.slice(start, n_rows)]))
        except (TypeError, ValueError) as error:
            return f"{error.__cause__} Rows belong to query {echo(qid)}, in no order."
        start += n_rows
    return None
