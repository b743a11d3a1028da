"""Results of runs in files, by metrics of this library or of trec_eval."""

from __future__ import annotations

import argparse
import os
import re
import sys
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sklearn_rank._cli.output import tell
from sklearn_rank._data.doors import COMMAND, RUN
from sklearn_rank._data.look import Finding, collected_findings, findings_of_systems, kinds_left
from sklearn_rank._entry_points.runs import AS_TREC_EVAL, reading_of, refuse_lost_places
from sklearn_rank._evaluation.evaluate import evaluate_rows
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.conventions import ID_ORDER
from sklearn_rank._metric.names import parse_metric
from sklearn_rank._metric.spec import MetricSpec
from sklearn_rank._metric.trec_measures import FAMILIES, SETS, own_measure
from sklearn_rank._tables.columns import read_column
from sklearn_rank._tables.formats import HEADER_SIZE, MAGIC, fields_of, files_of, first_line, separator_in
from sklearn_rank._tables.roles import Roles
from sklearn_rank._utils.constraints import COUNT
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.table import printable
from sklearn_rank.io import RankingData, join, read_qrels, read_run, read_table
from sklearn_rank.io._columns import WrongColumn, ids_in
from sklearn_rank.io._entries import Entries
from sklearn_rank.io._forms import is_file
from sklearn_rank.io._source import open_to_read
from sklearn_rank.io._tables import opened

OF_TABLES = ("y_true", "y_score")
OF_RUNS = (
    "missing_from_run", "missing_from_qrels", "keep_negative", "max_documents", "document_of", "value", "run_format",
    "exclude",
)  # fmt: skip
"""Options of a kind of input, which the other kind refuses."""
NOT_PRINTED = {"all_trec": "relstring, which is a word, and the experiments ndcg_rel, Rndcg and G"}
"""Measures that trec_eval prints and this library lacks."""


COMMA = re.compile(r",(?![^()]*\))")
"""A comma outside of parentheses."""
NUMBER = re.compile(r"-?[\d.]+(=-?[\d.]+)?")
"""A cutoff or another parameter of the preceding measure."""
PARAMETERS = re.compile(r"\w+(\.[^@()]*|[^@()]*,[^@()]*)")
"""A measure and its parameters in trec_eval's notation: P.5, utility_1,-1."""


def requested_names(options: argparse.Namespace) -> list[str]:
    for name in options.files:
        if not os.path.exists(name) and is_metric(name):
            raise ValueError(f"Metrics follow -m: -m {name}. Got {echo(name)} among the files, which does not exist.")
    return [name for given in options.metrics or options.default_metrics for name in _separate(given)]


def requested_metrics(options: argparse.Namespace) -> list[str]:
    """Return the requested metrics, with a name for each parameter of trec_eval's measures."""
    names = requested_names(options)
    return [*dict.fromkeys(expanded(names))] if options.convention == "trec_eval" else names


def is_metric(text: str) -> bool:
    try:
        return all(own_measure(name) or parse_metric(name, convention="trec_eval") for name in _separate(text))
    except (TypeError, ValueError):
        return False


def _separate(text: str) -> list[str]:
    """Split names at commas; a whole number is a cutoff of the preceding metric: "ndcg@5,10,map" has three names."""
    names: list[str] = []
    for part in map(str.strip, COMMA.split(text)):
        if not names or not NUMBER.fullmatch(part):
            names.append(part)
        elif part.isdecimal() and not PARAMETERS.fullmatch(names[-1]):
            names.append(f"{names[-1].partition('@')[0]}@{part}")
        else:
            names[-1] += f",{part}"
    return names


def results(options: argparse.Namespace, names: list[str], missing_from_run: str = "zero") -> dict[str, Evaluation]:
    systems = _systems_of(options)
    _set_given(options, [run for runs in systems.values() for run in runs])
    of_runs = _by_run(options, names, missing_from_run)
    return {name: Evaluation.of_runs([of_runs[run] for run in runs]) for name, runs in systems.items()}


def _by_run(options: argparse.Namespace, names: list[str], missing_from_run: str) -> dict[str, Evaluation]:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Each metric must be given once. Got {echo(name)} twice.")
    metrics = _metrics(options, names)
    refuse_lost_places(options.duplicates, metrics)
    by_id = options.table and reading_of(metrics) == AS_TREC_EVAL
    by = attribute_of(options) if getattr(options, "by_on_page", False) and options.by is not None else None
    of_runs: dict[str, Evaluation] = {}
    with findings_of_systems(COMMAND) as seen:
        for name, data, told, is_told in _systems(options, metrics, missing_from_run):
            in_trec_order = by_id and data.doc_id is not None
            with collected_findings() as found:
                of_runs[name] = evaluate_rows(
                    COMMAND, data.y_true, data.y_score, metrics, qid=data.qid, n_jobs=options.n_jobs, by=by,
                    tie_break=np.asarray([*map(str, data.doc_id)]) if in_trec_order else None,
                    kinds=COMMAND.hands if options.table else kinds_left(told, is_told) or RUN.hands,
                    documents=data.documents,
                    notes=(ID_ORDER,) * (in_trec_order or not options.table and reading_of(metrics) == AS_TREC_EVAL),
                )  # fmt: skip
            seen[name] = [*told, *found]
            if len(data.not_in_run) or len(data.not_in_qrels) or data.notes():
                tell(f"{name}: {data.counts()}")
    if not options.quiet:
        _tell_of_ties(of_runs, metrics)
    return of_runs


def runs_of(options: argparse.Namespace) -> list[str]:
    """Names of the systems: files after the judgments, columns of scores, or A of A=RUN."""
    return [*_systems_of(options)]


def _systems_of(options: argparse.Namespace) -> dict[str, list[str]]:
    """Files or columns of each system, which has one or several runs."""
    systems: dict[str, list[str]] = {}
    for text in _given(options):
        name, run = _named(options, text)
        systems.setdefault(name, []).append(run)
    both = next((name for name, runs in systems.items() if len(runs) > 1 and name in runs and {*runs} != {name}), None)
    if both is not None:
        raise ValueError(f"NAME=RUN needs a name that no other run has. Got {echo(both)}, which is a run as well.")
    return systems


def _given(options: argparse.Namespace) -> list[str]:
    return [*(options.y_score or ["score"])] if options.table is not None else options.files[1:]


def _set_given(options: argparse.Namespace, runs: list[str]) -> None:
    if options.table is not None:
        options.y_score = runs
    else:
        options.files = [*options.files[:1], *runs]


def _named(options: argparse.Namespace, text: str) -> tuple[str, str]:
    """Split A=RUN into name and run, unless a file or column with the whole name exists."""
    name, equals, run = text.partition("=")
    is_run = not equals or not name or not run or (options.table is None and os.path.exists(text))
    return (text, text) if is_run or _is_column(options, text) else (name, run)


def _is_column(options: argparse.Namespace, text: str) -> bool:
    if options.table is None or options.table == "-":
        return False
    try:
        opened(options.table, [], [text], options.separator)
    except ValueError:
        return False
    return True


def results_with_baseline(
    options: argparse.Namespace, names: list[str], compared: list[str] | None = None
) -> dict[str, Evaluation]:
    """Result of each run and of --baseline: one of the runs, or a further run or saved result, which comes first."""
    runs, old = runs_of(options), _read_baseline(options)
    baseline = options.baseline
    if baseline in runs and old != [baseline]:
        raise ValueError(f"--baseline needs a name that no run has. Got {echo(baseline)} for both.")
    if baseline is None or baseline in runs:
        return results(options, names)
    if any(os.path.isfile(run) and zipfile.is_zipfile(run) for run in old):
        saved = [_load(run, names, names if compared is None else compared) for run in old]
        return {baseline: Evaluation.of_runs(saved)} | results(options, names)
    texts = [run if run == baseline else f"{baseline}={run}" for run in old]
    _set_given(options, [*texts, *_given(options)])
    return results(options, names)


def _read_baseline(options: argparse.Namespace) -> list[str]:
    """Return the runs of the baseline, for --baseline RUN or several NAME=RUN; sets `options.baseline` to its name."""
    if isinstance(options.baseline, list):
        named = [_named(options, text) for text in options.baseline]
        names, runs = ([*dict.fromkeys(part)] for part in zip(*named, strict=True))
        if len(names) > 1 or len(runs) < len(named):
            raise ValueError(
                "--baseline needs a single system: a run, or several runs with the same name, --baseline A=run1 "
                f"--baseline A=run2. Got {', '.join(options.baseline)}."
            )
        full_name = {short: name for name, short in short_names(options, dict.fromkeys(runs_of(options))).items()}
        if names == runs and runs[0] in full_name and not os.path.exists(runs[0]):
            # The name of a run in the table.
            names = runs = [full_name[runs[0]]]
        options.baseline, options.old = names[0], runs
    return [] if options.baseline is None else [*options.old]


def old_and_new(
    options: argparse.Namespace, names: list[str], command: str, compared: list[str] | None = None
) -> dict[str, Evaluation]:
    """Return the results of the old run, which is the baseline, if there is one, and of the new run."""
    runs, _ = runs_of(options), _read_baseline(options)
    if len(runs) != 1 or runs == [options.baseline]:
        what = "--y-score, the new run's scores" if options.table is not None else "QRELS and NEW"
        got = f"{', '.join(runs) or 'none'}{', as --baseline too' * (runs == [options.baseline])}"
        raise ValueError(f"{command} takes one new run: {what}; the old one is --baseline. Got {got}.")
    return results_with_baseline(options, names, compared)


def _load(name: str, metrics: list[str], compared: list[str]) -> Evaluation:
    """Load the metrics of a saved result; refuse one that lacks a compared metric or the fingerprints of its labels."""
    old = Evaluation.load(name)
    if not {*compared} <= old.per_query.keys():
        raise ValueError(
            f"A saved baseline must have the metrics that are compared: {', '.join(compared)}. "
            f"Got {', '.join(old.per_query)} in {echo(name)}."
        )
    if old.label_fingerprints is None:
        raise ValueError(
            "A saved baseline must have fingerprints of its labels, to check that both runs have the same labels. Save "
            f"a result of evaluate or evaluate_run. Got none in {echo(name)}."
        )
    tell(f"{name}: {len(old.qid)} queries, saved")
    return replace(old, _metric_values={name: old._metric_values[name] for name in metrics if name in old.per_query})


def _tell_of_ties(of_runs: Mapping[str, Evaluation], metrics: Mapping[str, MetricSpec]) -> None:
    """Print the number of queries with tied scores, if a metric depends on ties."""
    asking = [spec for spec in metrics.values() if "ties" in spec.metric.defaults]
    if not asking:
        return
    # Counts ties anywhere in the list, not only across a cutoff.
    whole, kept = replace(asking[0], k=None), {name: one._kept_data.ranked for name, one in of_runs.items()}
    counts = {name: data.n_tied(whole) for name, data in kept.items() if data is not None}
    tied = {name: n for name, n in counts.items() if n}
    if not tied:
        return
    policies = ", ".join(dict.fromkeys(str(spec["ties"]) for spec in asking))
    n_queries = max(len(of_runs[name].qid) for name in tied)
    least, most = min(tied.values()), max(tied.values())
    which = next(iter(tied)) if len(tied) == 1 else f"{len(tied)} of {len(of_runs)} runs"
    n_tied = f"{most}" if least == most else f"{least} to {most}"
    tell(f"{which}: tied scores in {n_tied} of {n_queries} queries, read as --ties {policies}")


def _metrics(options: argparse.Namespace, names: list[str]) -> dict[str, MetricSpec]:
    given = {
        "convention": options.convention, "ties": options.ties, "unjudged": options.unjudged,
        "min_relevance": options.min_relevance, "negative": "keep" if options.keep_negative else None,
    }  # fmt: skip
    given = {name: value for name, value in given.items() if value is not None}
    own = own_measure if options.convention == "trec_eval" else lambda name: None
    # A join has unjudged documents, and so have duplicates that keep their ranks.
    lacks_labels = options.table is None or options.duplicates == "nonrelevant"
    return {name: _with_keywords(own(name) or name, given, lacks_labels=lacks_labels) for name in names}


def _with_keywords(metric: MetricSpec | str, given: dict[str, Any], *, lacks_labels: bool) -> MetricSpec:
    """Return a metric with the keywords that it accepts; documents without labels count as not relevant."""
    entry = parse_metric(metric, convention=given.get("convention")).metric
    default = {"unjudged": "nonrelevant"} if lacks_labels else {}
    return parse_metric(metric, **default | {name: value for name, value in given.items() if name in entry.defaults})


def _systems(
    options: argparse.Namespace, metrics: Mapping[str, MetricSpec], missing_from_run: str
) -> Iterator[tuple[str, RankingData, list[Finding], bool]]:
    """Yield name and data of each run, the findings of reading and joining, and whether its ranks were reported."""
    if options.table is not None:
        yield from ((*read, False) for read in _of_table(options))
        return
    if len(options.files) < 2:
        raise ValueError("Judgments and at least one run must be given, or --table. See --help.")
    _refuse(options, OF_TABLES, "names a column of a --table; pass --table, too")
    _refuse_twice(options.files)
    if options.max_documents is not None and options.convention != "trec_eval":
        raise ValueError("--max-documents reads runs in trec_eval's order, so it needs --convention trec_eval.")
    reading = {"duplicates": options.duplicates, "separator": options.separator, "n_jobs": options.n_jobs}
    value = False if options.value == "false" else options.value
    columns = _named_columns(options)
    qrels = read_qrels(_source(options.files[0]), value=value, **columns[options.files[0]], **reading)
    how = {
        "missing_from_run": options.missing_from_run or missing_from_run,
        "missing_from_qrels": options.missing_from_qrels or "drop",
        **(AS_TREC_EVAL if options.convention == "trec_eval" else reading_of(metrics)),
        "negative": "keep" if options.keep_negative else "unjudged", "document_of": _documents(options),
        "aggregate": options.aggregate, "exclude": _source(options.exclude),
    }  # fmt: skip
    runs = _given(options)
    for i, name in enumerate(runs):
        _progress(f"{i + 1}/{len(runs)} {name}")
        run: Entries = read_run(_source(name), format=options.run_format, **columns[name], **reading)
        with collected_findings() as told:
            data = join(qrels, run, **how)
        data = data if options.max_documents is None else _cut(data, options.max_documents)
        yield name, data, told, run._told


def _named_columns(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Columns of --qid and --doc-id for each file that has them; a TREC run has no column names."""
    asked = {role: name for role in ("qid", "doc_id") if (name := getattr(options, role)) is not None}
    given = {
        file: {
            role: name
            for role, name in asked.items()
            if all(_has_column(file, one, options.separator) for one in ([name] if isinstance(name, str) else name))
        }
        for file in options.files
    }
    for role, name in asked.items():
        if not any(role in of_file for of_file in given.values()):
            raise ValueError(
                f"--{role.replace('_', '-')} names a column of QRELS, of RUN or of a --table. Got {echo(name)}, and no "
                "file has it."
            )
    return given


def _has_column(file: str, name: str, separator: str | None) -> bool:
    """Whether a file may have a column with this name; True for a stream, which can be read only once."""
    first = next(iter(files_of(file)), file)
    if not os.path.isfile(first):
        return True
    with open_to_read(first) as opened_file:
        start = opened_file.peek(HEADER_SIZE)[:HEADER_SIZE]
    line = first_line(start.lstrip(b"\r\n"))
    if start.startswith(MAGIC) or line.lstrip()[:1] in ("{", "["):
        return name.encode() in start or start.startswith(MAGIC)
    return name in fields_of(line, separator or separator_in(line, [name])) or name in line.split()


def short_names(options: argparse.Namespace, of_runs: Mapping[str, Any]) -> dict[str, str]:
    """Short names of runs: file names without the folders, prefixes and suffixes that all share."""
    names = [*of_runs]
    if len(names) < 2 or options.table is not None or getattr(options, "format", "table") in ("csv", "json"):
        return {name: name for name in names}
    begin, end = os.path.commonprefix(names), os.path.commonprefix([name[::-1] for name in names])[::-1]
    begin = begin[: max(begin.rfind("/"), begin.rfind(".")) + 1]
    end = end[end.find(".") :] if "." in end else ""
    short = [name[len(begin) : len(name) - len(end)] for name in names]
    is_clear = all(short) and len({*short}) == len(names)
    return dict(zip(names, short if is_clear else names, strict=True))


def attribute_of(options: argparse.Namespace) -> dict[str, Any]:
    """Segments of queries by the name of the attribute, from a file of queries and segments, or from a column."""
    if options.table is not None:
        qid = "qid" if options.qid is None else options.qid
        table = opened(_source(options.table), Roles(qid).flat()[:-2], [options.by], options.separator)
        queries, values = ids_in(table, qid).tolist(), read_column(table, options.by).tolist()
        name = options.by
    else:
        of_file = not is_file(options.by) and _has_column(options.files[0], options.by, options.separator)
        column = {"doc_id": options.by, "qid": options.qid, "value": False, "duplicates": "first"} if of_file else {}
        file = options.files[0] if of_file else options.by
        pairs = read_qrels(_source(file), separator=options.separator, n_jobs=options.n_jobs, **column)
        queries, values = np.asarray(pairs.qid).tolist(), np.asarray(pairs.doc_id).tolist()
        name = os.path.basename(options.by).partition(".")[0]
    known = dict(zip(queries, values, strict=True))
    other = next((query for query, value in zip(queries, values, strict=True) if known[query] != value), None)
    if other is not None:
        raise ValueError(f"--by must have one segment for each query. Got several for {echo(other)}.")
    return {name: known}


def _documents(options: argparse.Namespace) -> dict[Any, Any] | None:
    if options.document_of is None:
        return None
    pairs = read_qrels(_source(options.document_of), value=False, separator=options.separator, n_jobs=options.n_jobs)
    chunks = np.asarray(pairs.qid).tolist()
    documents = dict(zip(chunks, np.asarray(pairs.doc_id).tolist(), strict=True))
    if len(documents) < len(chunks):
        twice = next(chunk for chunk in documents if chunks.count(chunk) > 1)
        raise ValueError(f"--document-of must have each chunk once. Got {echo(twice)} with several documents.")
    return documents


def _cut(data: RankingData, n: int) -> RankingData:
    """Truncate each list after `n` documents; the others count as not retrieved. Rows are in trec_eval's order."""
    COUNT("--max-documents", n, "evaluate")
    code = data.qid.code
    rank = np.arange(len(code)) - np.searchsorted(code, code)
    return replace(data, y_score=np.where(rank < n, data.y_score, -np.inf))


def _of_table(options: argparse.Namespace) -> Iterator[tuple[str, RankingData, list[Finding]]]:
    if options.files:
        how = f" Columns of scores: --y-score {' --y-score '.join(options.files)}."
        raise ValueError(f"With --table there are no other files. Got {' '.join(options.files)}.{how}")
    _refuse(options, OF_RUNS, "is for runs with judgments; the rows of a table are joined already")
    # The empty string is a valid column name.
    y_true = "label" if options.y_true is None else options.y_true
    qid = "qid" if options.qid is None else options.qid
    scores = _given(options)
    if y_true in scores:
        raise ValueError(
            "--y-score must name another column than --y-true; copy the column to rank by the labels. "
            f"Got {echo(y_true)} as both."
        )
    ids = [name for name in Roles(qid, options.doc_id).flat() if name is not None]
    role = dict.fromkeys(ids, "--qid") | {options.doc_id: "--doc-id", y_true: "--y-true"}
    try:
        table = opened(_source(options.table), ids, [y_true, *scores], options.separator, qid)
    except WrongColumn as error:
        if error.column in error.columns:
            raise
        option = role.get(error.column, "--y-score")
        raise ValueError(
            f"The table has no column {echo(error.column)}: name its column with {option}. "
            f"Got {echo_all(error.columns)}."
        ) from None
    _refuse_twice(scores)
    for name in scores:
        _progress(name)
        columns = {"y_true": y_true, "y_score": name, "qid": qid, "doc_id": options.doc_id}
        with collected_findings() as told:
            data = read_table(table, **columns, duplicates=options.duplicates)
        yield name, data, told


def _source(name: str | None) -> Any:
    if name == "-" and sys.stdin is None:
        raise ValueError("'-' is the standard input, so it must be open. Got it closed.")
    return sys.stdin.buffer if name == "-" else name


def _refuse(options: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if (given := getattr(options, name)) is not None and given is not False:
            raise ValueError(f"--{name.replace('_', '-')} {why}.")


def _refuse_twice(names: list[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"Each file or column must be given once. Got {echo(name)} {names.count(name)} times.")


def _progress(text: str) -> None:
    if sys.stderr.isatty():
        print(f"\r\x1b[K{printable(text)}", end="\r", file=sys.stderr, flush=True)


def is_count_measure(name: str) -> bool:
    """Whether trec_eval prints the sum of a measure over queries instead of its mean."""
    return name.startswith("num_")


def expanded(names: Iterable[str]) -> Iterator[str]:
    """Expand names like trec_eval: "P.5,10" is P_5 and P_10, "P" is all cutoffs, "official" is its default output."""
    for name in names:
        family, _, parameters = name.partition(".")
        if name in SETS:
            if name in NOT_PRINTED:
                print(f"{name}: without {NOT_PRINTED[name]}", file=sys.stderr)
            yield from expanded(SETS[name])
        elif family in FAMILIES:
            values = parameters.split(",") if parameters else FAMILIES[family]
            yield from (f"{family}_{value}" for value in values)
        else:
            yield name
