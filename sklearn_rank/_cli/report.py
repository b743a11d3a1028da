"""A page to look at, of one run or of several against an old one."""

from __future__ import annotations

import argparse

from sklearn_rank._cli.data import requested_metrics, results_with_baseline
from sklearn_rank._cli.gate import EXIT_CODES, gate_of
from sklearn_rank._cli.output import put
from sklearn_rank._cli.page import write_page
from sklearn_rank._report.text import plain

REPORT_EPILOG = (
    "QRELS, NEW and OLD are files of TREC, also packed by gzip. Texts are lines 'id TAB text', or JSON with _id, title "
    "and text, as in BEIR. Ids and texts stand in the page in clear. With --margin it has the exit codes of gate."
)


def write_report(options: argparse.Namespace) -> int:
    """Write the page, and print its verdict; return the exit code."""
    from sklearn_rank._entry_points.systems import compare_systems

    metrics = requested_metrics(options)
    if options.margin:
        found = gate_of(options, metrics)
        write_page(options, found, options.output)
        put(found.verdict)
        return EXIT_CODES[found.decision]
    of_runs = results_with_baseline(options, metrics)
    if len(of_runs) == 1:
        (name,) = of_runs
        content = write_page(options, of_runs[name], options.output, title=name)
    else:
        baseline = options.baseline or next(iter(of_runs))
        content = write_page(options, compare_systems(of_runs, baseline=baseline, on_misuse="warn"), options.output)
    put(plain(content.heading))
    return 0
