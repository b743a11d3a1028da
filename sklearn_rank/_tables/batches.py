"""`evaluate_batches`: evaluate data larger than memory, batch by batch."""

from __future__ import annotations

from contextlib import ExitStack, closing
from numbers import Integral
from typing import Any

from sklearn_rank._evaluation.references import with_references
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.compute import compute
from sklearn_rank._misuse.check import report
from sklearn_rank._misuse.doors import BATCHES
from sklearn_rank._misuse.evidence import Evidence, odd_ids
from sklearn_rank._misuse.rows import look_at_evidence
from sklearn_rank._tables.batch_validator import BatchRows, BatchValidator, adjacent_queries
from sklearn_rank._tables.column_arguments import column_arguments
from sklearn_rank._tables.columns import iterate_batches
from sklearn_rank._tables.parts import evaluate_parts, join_parts
from sklearn_rank._tables.scattered_queries import Part, scattered_parts
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.docstring import with_arguments_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.threads import check_n_jobs


@named_arguments
@with_arguments_of(column_arguments)
def evaluate_batches(
    data: Any,
    *,
    assume_grouped: bool = False,
    memory_limit: int = 2**28,
    folder: Any = None,
    chance: bool = False,
    n_jobs: int | None = None,
    **columns: Any,
) -> Evaluation:
    """Compute many metrics on rows that come in batches, with the same result as `evaluate` on all rows at once.

    Memory holds one batch, the largest query, and the id, the values and the weight of each query.

    Parameters
    ----------
    data : iterable, path or data set
        Batches, each a tuple of arrays ``(y_true, y_score, qid)`` or ``(y_true, y_score, qid, sample_weight)``, or a
        table as `evaluate_frame` takes it. Or the path of a Parquet file or of a folder of them, a
        ``pyarrow.dataset.Dataset``, or a relation of DuckDB, which is read in batches; only the named columns are read.
        A query may continue in other batches. Names of columns do not matter for tuples, whose fourth array is the
        weights.
    assume_grouped : bool, default=False
        Whether the rows of each query are adjacent. If so, each query is evaluated as soon as it ends, and no file is
        written; a query that comes again later is an error. Otherwise rows that exceed the memory limit are
        partitioned by query on disk first.
    memory_limit : int, default=2**28
        Bytes that rows held back from batches may take with ``assume_grouped=False``, unless a single query takes more.
        The batch itself and the results of queries are not counted.
    folder : str or path, default=None
        Where to keep rows on disk, about 20 bytes each. None: the folder of temporary files, which may be memory. The
        file has no name, so it is gone however the process ends.

    Returns
    -------
    Evaluation
        Queries in order of first appearance. It does not keep the data, so `tie_range` and `n_tied` are not available.

    Raises
    ------
    ValueError or TypeError
        As in `evaluate`, naming the batch; or if a batch lacks a column, the type of ids differs between batches, or
        rows of a query are not adjacent with ``assume_grouped=True``.
    OSError
        If rows cannot be written to `folder` or read back.
    ImportError
        If a path is given and pyarrow is not installed: it needs the extra "arrow".

    Examples
    --------
    Query "a" continues in the second batch, which has its relevant document, at rank 2:

    >>> from sklearn_rank import evaluate_batches
    >>> first = [0], [2], ["a"]
    >>> second = [1, 1, 0], [1, 2, 1], ["a", "b", "b"]
    >>> evaluate_batches([first, second], metrics=["mrr", "p@1"]).mean()
    {'mrr': 0.75, 'p@1': 0.5}
    """
    specs, names = column_arguments(data, **columns)
    check_n_jobs(n_jobs)
    if not isinstance(memory_limit, Integral) or isinstance(memory_limit, bool) or memory_limit < 1:
        raise ValueError(
            f"The 'memory_limit' parameter must be a number of bytes, an int >= 1. Got {echo(memory_limit)}."
        )
    asked = with_references(specs) if chance else specs
    validator = BatchValidator(names, specs.values(), assume_grouped, n_jobs)
    stream = iterate_batches(data, names)
    results, evidence = list[Evaluation](), Evidence()
    with ExitStack() as stack:
        if assume_grouped:
            grouped = adjacent_queries(validator.validate(stream))
            parts = evaluate_parts(grouped, BatchRows.queries, asked, n_jobs, names.y_score)
        else:
            rows = validator.validate_scattered(stream)
            scattered = scattered_parts(rows, lambda: validator.seen.n, int(memory_limit), folder, n_jobs)
            # The traceback of an error would hold the file on disk.
            stack.enter_context(closing(scattered))
            parts = evaluate_parts(scattered, Part.queries, asked, n_jobs, names.y_score)
        for part in parts:
            results.append(part.evaluation)
            evidence = evidence.joined(part.evidence)
    # Until here a query is known by its number.
    numbers, ids = [result.qid for result in results], validator.seen.ids()
    evidence = evidence._replace(odd_ids=odd_ids(ids))
    look_at_evidence(BATCHES, [evidence], specs, compute, name=names.y_score)
    report(BATCHES, validator.batches.findings())
    return join_parts(results, numbers, ids, validator.weight)
