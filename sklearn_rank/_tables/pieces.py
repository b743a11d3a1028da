"""Evaluate data larger than memory, batch by batch."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Any

from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.entry_points import TABLE
from sklearn_rank._misuse.evidence import Evidence, odd_ids
from sklearn_rank._misuse.ids import findings_of_queries
from sklearn_rank._misuse.rows import look_at_evidence
from sklearn_rank._tables.batch_validator import BatchValidator, NumberedRows, adjacent_queries
from sklearn_rank._tables.column_arguments import ColumnNames
from sklearn_rank._tables.data_sets import iterate_batches
from sklearn_rank._tables.parts import evaluate_parts, join_parts
from sklearn_rank._tables.scattered_queries import Part, scattered_parts


def evaluate_pieces(
    data: Any, specs: Mapping[str, MetricSpec], names: ColumnNames, assume_grouped: bool, memory_limit: int,
    folder: Any, chance: bool, n_jobs: int | None,
) -> Evaluation:  # fmt: skip
    """Result of rows that come in pieces, each a batch; see `evaluate_table`."""
    asked = with_references(specs) if chance else specs
    validator = BatchValidator(names, specs.values(), assume_grouped, n_jobs)
    stream = iterate_batches(data, names)
    results, evidence = list[Evaluation](), Evidence()
    with ExitStack() as stack:
        if assume_grouped:
            grouped = adjacent_queries(validator.validate(stream))
            parts = evaluate_parts(grouped, NumberedRows.queries, asked, n_jobs, names.y_score)
        else:
            rows = validator.validate_scattered(stream)
            scattered = scattered_parts(rows, lambda: validator.seen.n, memory_limit, folder, n_jobs)
            # The traceback of an error would hold the file on disk.
            stack.enter_context(closing(scattered))
            parts = evaluate_parts(scattered, Part.queries, asked, n_jobs, names.y_score)
        for part in parts:
            results.append(part.evaluation)
            evidence = evidence.joined(part.evidence)
    # Until here a query is known by its number.
    numbers, ids = [result.qid for result in results], validator.seen.ids()
    evidence = evidence._replace(odd_ids=odd_ids(ids))
    look_at_evidence(TABLE, [evidence], specs, name=names.y_score)
    report(TABLE, validator.batches.findings())
    result = join_parts(results, numbers, ids, validator.weight)
    report(TABLE, findings_of_queries(result))
    return result
