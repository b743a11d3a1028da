"""Explain why two runs differ: contributions of documents of a query, and documents to judge next."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from sklearn_rank._cli.data import old_and_new, requested_metrics
from sklearn_rank._cli.output import put, show
from sklearn_rank._evaluation.explanation import Source, documents_to_judge, explanation_of, source_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.table import Table

EXPLAIN_EPILOG = (
    "QRELS, NEW and OLD are files of TREC, also packed by gzip; '-' is the standard input. With --table they "
    "are columns of a file: --y-score NEW --baseline OLD."
)


def explain(options: argparse.Namespace) -> None:
    """Print the documents of a query with their contributions to the difference, or the documents to judge."""
    metrics = requested_metrics(options)
    if len(metrics) != 1:
        raise ValueError(f"explain takes one metric. Got {', '.join(metrics)}.")
    # This import loads scipy.stats.
    from sklearn_rank._evaluation.alignment import align_results

    aligned = align_results(old_and_new(options, metrics, "explain"), "explain")
    old, new = aligned
    source = source_of(aligned, (old, new), metrics[0])
    if options.to_judge is not None and options.query is None:
        _show(documents_to_judge(source, options.to_judge), options.format)
        return
    explanation = explanation_of(source, _query(source, options.query))
    if options.to_judge is not None:
        _show(explanation.to_judge(options.to_judge), options.format)
    elif options.format in ("csv", "json"):
        about = {
            "metric": explanation.metric, "query": explanation.query, "difference": explanation.difference,
            "values": dict(zip(explanation.names, explanation.values, strict=True)), "is_sum": explanation.is_sum,
            "judged": dict(zip(explanation.names, explanation.judged, strict=True)),
        }  # fmt: skip
        _show(explanation.table, options.format, about)
    else:
        put(
            {"markdown": explanation.to_markdown, "latex": explanation.to_latex}.get(
                options.format, lambda: explanation
            )()
        )


def _show(table: Table, form: str, about: dict[str, Any] | None = None) -> None:
    nested = {"documents": [dict(zip(table.columns, row, strict=True)) for row in table.rows]}
    show(table.columns, [*table.rows], (about or {}) | nested, form, fit=True)


def _query(source: Source, name: str | None) -> Any:
    """Find the id of a query by its text; None: the query on which the new run loses most."""
    (old, new), metric = source.results, source.metric
    ids = old.qid.tolist()
    if name is None:
        gain = new.per_query[metric] - old.per_query[metric]
        gain = gain if old.greater_is_better[metric] else -gain
        return ids[int(np.argmin(np.nan_to_num(gain)))]
    found = [one for one in ids if str(one) == name]
    if not found:
        raise ValueError(f"--query must be one of {len(ids)} queries, such as {echo(str(ids[0]))}. Got {echo(name)}.")
    return found[0]
