"""The check of judgments: what they can measure."""

from __future__ import annotations

import argparse
from dataclasses import replace

from sklearn_rank._cli.data import requested_names
from sklearn_rank._cli.output import show_result, write_json
from sklearn_rank.io import read_qrels, read_run


def check_files(options: argparse.Namespace) -> None:
    from sklearn_rank._entry_points.judgments import check_judgments  # loads scipy.special

    qrels, *runs = options.files
    twice: list[str] = []
    try:
        judged = read_qrels(qrels)
    except ValueError as error:
        judged, twice = read_qrels(qrels, duplicates="first"), [str(error)]
    found = check_judgments(judged, {run: read_run(run) for run in runs}, metrics=requested_names(options))
    found = replace(found, flaws=[*twice, *found.flaws])
    rows = {row[0]: dict(zip(found.table.columns[1:], row[1:], strict=True)) for row in found.table.rows}
    nested = {
        "queries": found.n_queries, "judged_documents": found.n_judged, "grades": found.grades,
        "relevant": found.n_relevant, "judged": found.judged, "metrics": rows, "flaws": found.flaws,
    }  # fmt: skip
    write_json(nested, options.json)
    show_result(found, found.table, nested, options.format)
