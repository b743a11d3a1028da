"""The commands."""

from __future__ import annotations

import argparse
import inspect
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_rank._cli.data import (
    attribute_of,
    is_count_measure,
    old_and_new,
    requested_metrics,
    requested_names,
    results,
    results_with_baseline,
    short_names,
)
from sklearn_rank._cli.gate import EXIT_CODES, gate_of
from sklearn_rank._cli.output import by_first, put, records, show, show_result, tell, write_json
from sklearn_rank._cli.page import write_page
from sklearn_rank._data.doors import COMMAND
from sklearn_rank._data.judged import judged_note
from sklearn_rank._data.look import Finding, collected_findings, report
from sklearn_rank._data.nothing import NOTHING_COMPARED
from sklearn_rank._evaluation.alignment import align_results
from sklearn_rank._evaluation.explanation import Source, documents_to_judge, explanation_of, source_of
from sklearn_rank._evaluation.result import Evaluation, with_chance
from sklearn_rank._evaluation.several_runs import note_on_runs
from sklearn_rank._metric.choices import choices_in_words
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.notation import labeled
from sklearn_rank._tell.notes import between_runs, notes_without_settled
from sklearn_rank._tell.text import plain
from sklearn_rank._tell.verdict import headline, on_other_metrics, skewed_best
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import replacing
from sklearn_rank._utils.table import Table
from sklearn_rank.io import read_qrels, read_run

if TYPE_CHECKING:
    from sklearn_rank._comparison.paired_test import PairedTest

UNSHOWN = ("p", "effect", "tied", "queries")
"""Columns of `compare` that are omitted on a terminal."""


def evaluate_runs(options: argparse.Namespace) -> None:
    metrics = requested_metrics(options)
    of_runs = results(options, metrics, "drop" if options.convention == "trec_eval" else "zero")
    if options.chance:
        of_runs = {run: with_chance(result) for run, result in of_runs.items()}
    if options.save is not None:
        if len(of_runs) > 1:
            raise ValueError(f"--save takes exactly one run. Got {', '.join(of_runs)}.")
        next(iter(of_runs.values())).save(options.save)
    if options.by is not None:
        _show_segments(options, of_runs)
        return
    of_runs = _with_short_names(options, of_runs)
    headings = [_heading(options, metric) for metric in metrics]
    note = " ".join([*note_on_runs(of_runs), _choices(of_runs)])
    if options.per_query:
        by_query = {run: _by_query(result) for run, result in of_runs.items()}
        rows = [
            (run, str(query), *(values[query] for values in by_query[run].values()))
            for run, result in of_runs.items()
            for query in result.qid.tolist()
        ]
        show(("run", "qid", *headings), rows, by_query, options.format, note=note)
        return
    if options.chance:
        orders = {
            run: {"score": _means(result), "random": result.chance().mean(), "best": result.best().mean()}
            for run, result in of_runs.items()
        }
        rows = [
            (run, order, *map(mean.get, metrics)) for run, means in orders.items() for order, mean in means.items()
        ]  # fmt: skip
        show(("run", "order", *headings), rows, orders, options.format, note=note)
        return
    means = {run: _means(result) for run, result in of_runs.items()}
    show(("run", *headings), [(run, *mean.values()) for run, mean in means.items()], means, options.format, note=note)


def _with_short_names(options: argparse.Namespace, of_runs: Mapping[str, Evaluation]) -> dict[str, Evaluation]:
    short = short_names(options, of_runs)
    return {short[name]: result for name, result in of_runs.items()}


def _show_segments(options: argparse.Namespace, of_runs: Mapping[str, Evaluation]) -> None:
    by, short = attribute_of(options), short_names(options, of_runs)
    of_segments = {name: result.segments(by) for name, result in of_runs.items()}
    columns = next(iter(of_segments.values())).table.columns
    rows = [(short[name], *row) for name, found in of_segments.items() for row in found.table.rows]
    nested = {name: records(found.table) for name, found in of_segments.items()}
    show(("run", *columns), rows, nested, options.format, note=_choices(of_runs))


def _compare_segments(options: argparse.Namespace, of_runs: Mapping[str, Evaluation], metrics: list[str]) -> None:
    """Print the differences from the baseline in each segment, a table for each metric."""
    from sklearn_rank._entry_points.systems import compare_systems

    by, correction = attribute_of(options), None if options.correction == "none" else options.correction
    report = compare_systems(
        dict(of_runs), baseline=options.baseline, test=options.test, correction=correction, on_misuse="warn"
    )
    tests = {metric: report.segments(by, metric=metric) for metric in metrics}
    if options.format in ("csv", "json"):
        columns = next(iter(tests.values())).table.columns
        rows = [(metric, *row) for metric, tested in tests.items() for row in tested.table.rows]
        nested = {metric: records(tested.table) for metric, tested in tests.items()}
        show(("metric", *columns), rows, nested, options.format)
        return
    written = {"markdown": "to_markdown", "latex": "to_latex"}.get(options.format, "__repr__")
    put("\n\n".join(getattr(tested, written)() for tested in tests.values()))


def _choices(of_runs: Mapping[str, Evaluation]) -> str:
    """Choices behind the means of runs; by run, if runs have different queries."""
    notes = {run: choices_in_words(r.meaning, r.counts) for run, r in of_runs.items()}
    if len({*notes.values()}) == 1:
        return next(iter(notes.values()))
    return " ".join(f"{run}: {note}." for run, note in notes.items())


def _heading(options: argparse.Namespace, metric: str) -> str:
    """Name of a metric in a table; trec_eval's names stay as they are."""
    return metric if options.convention == "trec_eval" else labeled(metric)


def _by_query(result: Evaluation) -> dict[str, dict[Any, float]]:
    values = {name: v.astype(int) if is_count_measure(name) else v for name, v in result.per_query.items()}
    return {name: dict(zip(result.qid.tolist(), v.tolist(), strict=True)) for name, v in values.items()}


def _means(result: Evaluation) -> dict[str, float]:
    return {n: int(result.per_query[n].sum()) if is_count_measure(n) else mean for n, mean in result.mean().items()}


def compare_runs(options: argparse.Namespace) -> None:
    """Print differences of runs with p-values for each metric: a minus b for all pairs, or run minus baseline."""
    from sklearn_rank._comparison.paper_table import paper_table
    from sklearn_rank.stats import compare_all

    metrics = requested_metrics(options)
    of_runs = results_with_baseline(options, metrics)
    _refuse_a_single_run(of_runs, "compare")
    if options.baseline is not None:
        options.baseline = short_names(options, of_runs)[options.baseline]
    of_runs = _with_short_names(options, of_runs)
    if options.by is not None:
        _compare_segments(options, of_runs, metrics)
        return
    is_for_paper = options.format in ("latex", "markdown")
    by_letters = options.marks == "letters"
    if by_letters and not is_for_paper:
        raise ValueError(f"--marks letters is for --format latex and markdown. Got --format {options.format}.")
    baseline: Any = next(iter(of_runs)) if is_for_paper and options.baseline is None else options.baseline
    tests: dict[str, PairedTest] = {}
    unevenly: list[Finding] = []
    for metric in metrics:
        with collected_findings() as seen:
            tests[metric] = compare_all(
                of_runs, metric=metric, baseline=None if by_letters else baseline, test=options.test,
                random_state=options.random_state,
                correction=None if options.correction == "none" else options.correction,
            )  # fmt: skip
        unevenly += [one for one in seen if one.check is not NOTHING_COMPARED]
    if all(tested.nothing for tested in tests.values()):
        raise ValueError(" ".join(tested.nothing for tested in tests.values()))
    about = notes_without_settled(tested.without_settled for tested in tests.values())
    about += [tested.nothing for tested in tests.values()]
    about.append(between_runs({metric: tested.run_means for metric, tested in tests.items()}, of_runs))
    about.append(judged_note({metric: tested.judged for metric, tested in tests.items()}))
    note = " ".join(filter(None, about))
    if is_for_paper:
        table = paper_table(of_runs, tests, systems=[*of_runs], baseline=baseline, more=note, marks=options.marks)
        put(table.to_latex() if options.format == "latex" else table.to_markdown())
    else:
        if options.format == "table":
            for line in _verdict(of_runs, tests):
                tell(line)
        _show_pairs(options, tests)
        if note:
            tell(note)
    report(COMMAND, unevenly[:1])


def _verdict(of_runs: Mapping[str, Evaluation], tests: Mapping[str, PairedTest]) -> list[str]:
    """What the tests say by the first metric, and by those that say otherwise."""
    from sklearn_rank._comparison.candidates import candidates_of
    from sklearn_rank._comparison.verdict import verdict_by

    said, best = {}, {metric: candidates_of(of_runs, tested) for metric, tested in tests.items()}
    for metric, tested in tests.items():
        baseline = tested.baseline or (tested.pairs[0][1] if len(of_runs) == 2 else "")
        said[metric] = verdict_by(of_runs, metric, tested, best[metric].names, baseline)
    first, skewed = next(iter(said)), [metric for metric, found in best.items() if found.skewed]
    agreeing, differing = on_other_metrics(said)
    lines = [headline(said[first].sentence, first, several=len(said) > 1), *map(plain, [*differing, *agreeing])]
    return [*lines, *([skewed_best(skewed)] * (bool(skewed) and len(of_runs) > 2))]


def _show_pairs(options: argparse.Namespace, tests: Mapping[str, PairedTest]) -> None:
    """Print a row for each metric and pair; on a terminal, only the decisive columns."""
    rows: list[tuple[Any, ...]] = []
    for metric, tested in tests.items():
        columns = tested.table.columns
        shown = [i for i, name in enumerate(columns) if options.format != "table" or name not in UNSHOWN]
        for row in tested.table.rows:
            rows.append((_heading(options, metric), *(row[i] for i in shown)))
    counts = {metric: tested.counts for metric, tested in tests.items() if tested.counts is not None}
    note = choices_in_words({metric: tested.meaning for metric, tested in tests.items()}, counts)
    nested = {metric: records(tested.table) for metric, tested in tests.items()}
    show(("metric", *(columns[i] for i in shown)), rows, nested, options.format, fit=True, note=note)


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


EXPLAIN_EPILOG = (
    "QRELS, NEW and OLD are files of TREC, also packed by gzip; '-' is the standard input. With --table they "
    "are columns of a file: --y-score NEW --baseline OLD."
)


def explain(options: argparse.Namespace) -> None:
    metrics = requested_metrics(options)
    if len(metrics) != 1:
        raise ValueError(f"explain takes one metric. Got {', '.join(metrics)}.")
    aligned = align_results(old_and_new(options, metrics, "explain"), "explain")
    old, new = aligned
    source = source_of(aligned, (old, new), metrics[0])
    if options.to_judge is not None and options.query is None:
        _show_documents(documents_to_judge(source, options.to_judge), options.format)
        return
    explanation = explanation_of(source, _query(source, options.query))
    if options.to_judge is not None:
        _show_documents(explanation.to_judge(options.to_judge), options.format)
    else:
        about = {
            "metric": explanation.metric, "query": explanation.query, "difference": explanation.difference,
            "values": dict(zip(explanation.names, explanation.values, strict=True)), "is_sum": explanation.is_sum,
            "judged": dict(zip(explanation.names, explanation.judged, strict=True)),
        }  # fmt: skip
        nested = about | {"documents": records(explanation.table)}
        show_result(explanation, explanation.table, nested, options.format)


def _show_documents(table: Table, form: str) -> None:
    show(table.columns, [*table.rows], {"documents": records(table)}, form, fit=True)


def _query(source: Source, name: str | None) -> Any:
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


def check_files(options: argparse.Namespace) -> None:
    """Print what judgments can measure, with or without runs."""
    from sklearn_rank._entry_points.judgments import check_judgments  # loads scipy.special

    qrels, *runs = options.files
    twice: list[str] = []
    try:
        judged = read_qrels(qrels)
    except ValueError as error:
        judged, twice = read_qrels(qrels, duplicates="first"), [str(error)]
    found = check_judgments(judged, {run: read_run(run) for run in runs}, metrics=requested_names(options))
    found = replace(found, flaws=[*twice, *found.flaws])
    nested = {
        "queries": found.n_queries, "judged_documents": found.n_judged, "grades": found.grades,
        "relevant": found.n_relevant, "judged": found.judged, "metrics": by_first(found.table), "flaws": found.flaws,
    }  # fmt: skip
    write_json(nested, options.json)
    show_result(found, found.table, nested, options.format)


def list_metrics(options: argparse.Namespace) -> None:
    nested = {}
    for name, metric in sorted(REGISTRY.items()):
        text = inspect.getdoc(metric.formula) or ""
        literal = re.search(r"``(.+?)``", text, re.DOTALL)
        formula = " ".join(literal[1].split()) if literal else ""
        nested[name] = {"aliases": [*metric.aliases], "formula": formula, "about": text.partition("\n")[0]}
    rows = [(name, ", ".join(entry["aliases"]), entry["formula"]) for name, entry in nested.items()]
    show(("name", "aliases", "formula"), rows, nested, options.format)


DOTS_PER_INCH = 200


def plot(options: argparse.Namespace) -> None:
    metrics = requested_names(options)
    if len(metrics) != 1:
        raise ValueError(f"plot takes exactly one metric. Got {', '.join(metrics)}.")
    if options.baseline is not None and options.kind not in WITH_BASELINE:
        raise ValueError(
            f"--baseline is for --kind {', '.join(WITH_BASELINE[:-1])} or {WITH_BASELINE[-1]}. "
            f"Got --kind {options.kind}."
        )
    output = _with_format(options.output)
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError('A picture needs matplotlib: pip install "sklearn-rank[plot]".') from error
    matplotlib.use("agg")
    figure = picture(options, metrics[0]).figure
    with replacing(output) as file:
        figure.savefig(file, format=os.path.splitext(output)[1][1:], dpi=DOTS_PER_INCH)


def _with_format(output: str) -> str:
    """Return the name of the output file; add .png if it has no suffix."""
    if os.path.splitext(output)[1]:
        return output
    if not os.path.basename(output) or os.path.exists(output):
        raise ValueError(
            "--output must be a file to write, and end in the format of the picture: .png, .svg, .pdf. "
            f"Got {echo(output)}{', which already exists' if os.path.exists(output) else ''}."
        )
    return f"{output}.png"


PICTURES = {
    "distribution": "DistributionDisplay", "cutoff": "CutoffDisplay", "difference": "DifferenceDisplay",
    "critical": "CriticalDifferenceDisplay", "topics": "TopicsDisplay",
}  # fmt: skip
WITH_BASELINE = ("difference", "critical", "topics")


def picture(options: argparse.Namespace, metric: str) -> Any:
    from sklearn_rank import display

    kind, names = getattr(display, PICTURES[options.kind]), [metric]
    if options.kind in WITH_BASELINE:
        of_runs = results_with_baseline(options, names)
        if options.kind != "topics":
            _refuse_a_single_run(of_runs, "This picture")
        return kind.from_results(of_runs, metric, baseline=options.baseline).ax_
    if options.kind == "cutoff":
        if options.max_k < 1:
            raise ValueError(f"--max-k must be 1 or more. Got {options.max_k}.")
        metric = metric.partition("@")[0]
        names = [f"{metric}@{k}" for k in range(1, options.max_k + 1)]
    return kind.from_results(results(options, names), metric).ax_


def _refuse_a_single_run(of_runs: Mapping[str, Evaluation], what: str) -> None:
    if len(of_runs) < 2:
        raise ValueError(f"{what} needs at least two runs, or one and --baseline. Got {', '.join(of_runs)}.")
