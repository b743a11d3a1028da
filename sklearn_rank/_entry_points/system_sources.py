"""Results of several systems, from arrays, from the columns of a table, and from runs; with their scores by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scipy.sparse import issparse

from sklearn_rank._chunks.columns import columns_of, read_column
from sklearn_rank._chunks.named_columns import ColumnNames, check_column_names
from sklearn_rank._chunks.tables import table_with
from sklearn_rank._entry_points.frames import refuse_two_roles
from sklearn_rank._entry_points.runs import evaluate_run
from sklearn_rank._evaluation.alignment import align_results
from sklearn_rank._evaluation.evaluate import evaluate_systems
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import parse_metrics
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import as_floats, column
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import Array
from sklearn_rank._utils.warning import collected_warnings, warn_caller

Systems = tuple[dict[str, Evaluation], dict[str, Array]]
"""Results and scores by the name of the system."""


def of_arrays(
    y_true: Any, y_score: Mapping[str, Any], metrics: MetricsLike, keywords: Mapping[str, Any], **about_rows: Any
) -> Systems:
    """Systems with an array of scores each."""
    specs = parse_metrics(metrics, **keywords)
    results = evaluate_systems(y_true, y_score, specs=specs, **about_rows)
    if any(map(issparse, y_score.values())):
        return results, {}
    return results, {name: column(as_floats(scores, name)) for name, scores in y_score.items()}


def of_columns(
    data: Any, y_score: Mapping[str, str], metrics: MetricsLike, keywords: Mapping[str, Any], *, y_true: Any, qid: Any,
    mask: Any, n_jobs: int | None, **columns: Any,
) -> Systems:  # fmt: skip
    """Systems with a column of scores each in one table, of which only the named columns are read.

    Raises
    ------
    ValueError or TypeError
        As `evaluate_frame`.
    """
    if mask is not None:
        raise TypeError("Rows of a table are documents, and no padding, so there is no mask=. Got a mask.")
    named = {"y_true": "label" if y_true is None else y_true, "qid": "qid" if qid is None else qid, **columns}
    for scores in y_score.values():
        check_column_names(ColumnNames(y_score=scores, **named))
    names = ColumnNames(y_score=[*y_score.values()], **named)
    refuse_two_roles(names)
    check_n_jobs(n_jobs)
    parse_metrics(metrics, **keywords)
    table = table_with(data, names, "data")
    found = columns_of(table, names)._asdict() | {"n_jobs": n_jobs}
    del found["y_score"]
    arrays = {name: read_column(table, scores) for name, scores in y_score.items()}
    try:
        return of_arrays(found.pop("y_true"), arrays, metrics, keywords, **found)
    except (TypeError, ValueError) as error:
        kind = TypeError if isinstance(error, TypeError) else ValueError
        raise kind(f"{error} The columns are {names}.") from error


def of_runs(judgements: Any, runs: Mapping[str, Any], **common: Any) -> Systems:
    """Systems with a run each; they must have the same queries in the end.

    Raises
    ------
    ValueError or TypeError
        As `evaluate_run`, with the name of the system.
    """
    results = {}
    for name, run in runs.items():
        results[name] = _of_run(name, judgements, run, common)
    return align_results(results, "compare_systems"), {}


def _of_run(name: str, judgements: Any, run: Any, common: Mapping[str, Any]) -> Evaluation:
    """Result of one run; what is said about it names the system."""
    with collected_warnings() as messages:
        try:
            result = evaluate_run(judgements, run, **common)
        except (TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            raise kind(f"{error} This is about the system {echo(name)}.") from error
    for message in messages:
        warn_caller(f"{message} This is about the system {echo(name)}.")
    return result
