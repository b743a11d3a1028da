"""What a worker does: the rows of a partition in, sorted by query, the values of its queries out.

Knows Arrow, and nothing of Spark.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain, groupby
from typing import Any

import numpy as np

from sklearn_rank._chunks.adjacent import adjacent_queries
from sklearn_rank._chunks.checker import BatchValidator, Rows
from sklearn_rank._chunks.columns import Columns
from sklearn_rank._chunks.evaluate import evaluate_parts
from sklearn_rank._engine.queries import Queries
from sklearn_rank._engine.ranking import Ranking
from sklearn_rank._evaluation.result import Evaluation, computed_values
from sklearn_rank._metric.spec import MetricSpec

Specs = Mapping[str, MetricSpec]
PARTS = ("numerator", "denominator", "defined")
"""Fields of the column that a pooled mean is made of."""


def evaluate_partition(batches: Iterator[Any], names: Columns, specs: Specs) -> Iterator[Any]:
    """Record batches with the id of each query, its values and what else its means take."""
    batches = (batch for batch in batches if batch.num_rows)
    first = next(batches, None)
    if first is None:
        return
    checker = BatchValidator(names, specs.values(), grouped=True, n_jobs=1)
    rows = _checked(checker, chain([first], batches), names, specs)
    whole = map(_in_one_order, adjacent_queries(rows, n_jobs=1))
    for part in evaluate_parts(whole, specs, n_jobs=1):
        yield _record_batch(part, checker, specs, first.schema.field(names.qid).type)


def _in_one_order(queries: Queries) -> Queries:
    """Rows of each query by falling score and rising label: a shuffle brings them in any, and sums would differ."""
    label, score, indptr = queries.label, queries.score, queries.indptr
    if label.ndim == 2:
        query = np.repeat(np.arange(len(indptr) - 1), queries.n_documents)
        return replace(queries, order=np.lexsort((*label.T, -score, query)))
    if queries.has_unjudged:
        label = np.where(np.isnan(label), queries.label_range[1] + 1, label)
    return replace(queries, order=Ranking(label, score, indptr, ties="worst", keep_unretrieved=True).order)


def _record_batch(part: Evaluation, checker: BatchValidator, specs: Specs, type_of_ids: Any) -> Any:
    import pyarrow as pa

    first, last = int(part.qid[0]), int(part.qid[-1]) + 1  # queries come in the order of their numbers
    columns = {"qid": pa.array(checker.seen.ids_between(first, last), type=type_of_ids)}
    computed = computed_values(part)
    for name, spec in specs.items():
        result = computed[name]
        left_out = result.undefined[:, 0] & np.isnan(spec["replace_undefined_by"])
        columns[name] = pa.array(result.values()[:, 0], mask=left_out)
        if spec["average"] == "micro":
            parts = result.numerator[:, 0], result.denominator[:, 0], ~result.undefined[:, 0]
            columns[parts_name(name)] = pa.StructArray.from_arrays([*map(pa.array, parts)], names=PARTS)
    if checker.weight is not None:
        columns["weight"] = pa.array(checker.weight[first:last])
    return pa.record_batch(columns)


def column_name(metric: str) -> str:
    """Name of the column of a metric: to Spark a dot is a field of a struct, and a backtick a quote."""
    return metric.replace(".", "_").replace("`", "_")


def parts_name(metric: str) -> str:
    """Name of the column with the parts of a pooled mean."""
    return f"{column_name(metric)}_parts"


# --- errors --------------------------------------------------------------------------------------------------


def _checked(checker: BatchValidator, batches: Iterator[Any], names: Columns, specs: Specs) -> Iterator[Rows]:
    """Checked rows; errors name the query, as the number of a row says nothing after a shuffle."""
    at = list[Any]()

    def watched() -> Iterator[Any]:
        for batch in batches:
            at[:] = [batch]
            yield batch

    try:
        yield from checker.checked(watched())
    except (TypeError, ValueError) as error:
        found = _fault_of_a_query(at[0], names, specs) or str(error.__cause__)
        raise (TypeError if isinstance(error, TypeError) else ValueError)(found) from None


def _fault_of_a_query(batch: Any, names: Columns, specs: Specs) -> str | None:
    """What is wrong with the first query of a batch that something is wrong with by itself."""
    start = 0
    for qid, rows in groupby(batch[names.qid].to_pylist()):
        n_rows = len([*rows])
        try:
            next(BatchValidator(names, specs.values(), grouped=True, n_jobs=1).checked([batch.slice(start, n_rows)]))
        except (TypeError, ValueError) as error:
            return f"{error.__cause__} Rows are those of query {qid!r}, in no order."
        start += n_rows
    return None
