"""Arguments of the command line."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from sklearn_rank._cli import commands, gate
from sklearn_rank._cli.data import is_metric
from sklearn_rank._cli.output import FORMATS, tell
from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._tables.formats import files_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._version import __version__
from sklearn_rank.io._forms import is_file
from sklearn_rank.io._join import TREATMENTS

METRICS_BY_DEFAULT = ["ndcg@10", "map"]
STATISTICAL_TESTS = ["t", "wilcoxon", "sign", "randomization", "bootstrap", "welch", "mannwhitney", "permutation"]
BASELINE = "a run, as the table names it, a further one, or a result that evaluate --save wrote; with --table a column"
FILES_OF_ROWS = ("table", "document_of", "exclude", "texts", "query_texts", "by")
"""Options that name a file to read; with --table, --by names a column."""
OUTPUTS = ("output", "save", "json", "markdown", "html")
EPILOG = (
    "QRELS and RUN are files of TREC, BEIR or MS MARCO, JSON, or tables with known columns, also gzipped; '-' is "
    "the standard input. With --table they are columns of files of CSV, JSON lines, Parquet or Arrow, and each "
    "--y-score is a run. A file may also be a folder, or a pattern in quotes, 'days/*.txt'. A run may be A=RUN, with a "
    "name, and A=RUN1 A=RUN2 are two runs of one system, such as with other seeds."
)


class Parser(argparse.ArgumentParser):
    """Parser whose errors are one line."""

    def error(self, message: str) -> NoReturn:
        tell(f"{self.prog}: error: {message}; see {self.prog} --help")
        sys.exit(2)


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parse the options; if metrics come without -m, the error says so."""
    top = parser()
    options, more = top.parse_known_args(arguments)
    if more:
        hint = "; metrics follow -m, with commas between them: -m ndcg@10,map" * any(map(is_metric, more))
        top.error(f"unrecognized arguments: {' '.join(more)}{hint}")
    options.arguments = sys.argv[1:] if arguments is None else [*arguments]
    _refuse_lost_files(vars(options))
    return options


def _refuse_lost_files(options: Mapping[str, Any]) -> None:
    """Refuse an output that would replace an input or another output, under any name of its file."""
    of_table = options.get("table") is not None
    others = [] if of_table else [*options.get("files", ()), *(options.get("baseline") or ())]
    others += [text.partition("=")[2] for text in others]
    others += [options.get(name) for name in FILES_OF_ROWS if not (of_table and name == "by")]
    kept = [("an input", "/dev/stdin" if other == "-" else other) for other in others if other]
    kept += [(what, file) for what, other in kept for file in (files_of(other) if is_file(other) else ())]
    for option in OUTPUTS:
        if (output := options.get(option)) is None:
            continue
        for what, other in kept:
            if _are_one_file(output, other):
                raise ValueError(
                    "An output replaces its file, so it must be another file than each input and other output. "
                    f"Got --{option} {echo(output)}, which is {what}: {echo(other)}."
                )
        kept.append((f"the file of --{option}", output))


def _are_one_file(first: str, second: str) -> bool:
    """Whether two paths are one regular file, or would be one; devices and pipes take several outputs."""
    if os.path.exists(first) and os.path.exists(second):
        return os.path.isfile(first) and os.path.samefile(first, second)
    return os.path.realpath(first) == os.path.realpath(second)


def parser() -> argparse.ArgumentParser:
    """Make the parser of all commands; it sets ``command`` to the function to call."""
    top = Parser(prog="sklearn-rank", description="Ranking metrics, query by query.", allow_abbrev=False)
    top.add_argument("--version", action="version", version=__version__)
    subparsers = top.add_subparsers(required=True, metavar="COMMAND")

    def add(name: str, command: Any, text: str) -> argparse.ArgumentParser:
        sub = subparsers.add_parser(name, help=text, description=text, epilog=EPILOG, allow_abbrev=False)
        sub.set_defaults(command=command)
        sub.add_argument("--quiet", action="store_true", help="only errors on standard error: no counts or warnings")
        return sub

    sub = add("evaluate", commands.evaluate_runs, "Values of metrics for one run or several.")
    _add_data(sub, METRICS_BY_DEFAULT)
    sub.add_argument("-q", "--per-query", action="store_true", help="a value for each query, not their mean")
    sub.add_argument("--chance", action="store_true",
                     help="also the means of a random order and of the best one of the same documents")  # fmt: skip
    _add_by(sub)
    sub.add_argument("--save", metavar="FILE", help="save the result of one run, too, such as for the gate")
    _add_format(sub)

    sub = add("compare", commands.compare_runs, "Which of two runs or more is better: means, differences and p-values.")
    _add_data(sub, METRICS_BY_DEFAULT[:1])
    sub.add_argument("--test", choices=STATISTICAL_TESTS, default="t", help="statistical test (default: paired t)")
    sub.add_argument("--correction", choices=["holm", "bonferroni", "bh", "none"], default="holm",
                     help="of p-values for the number of pairs (default: holm)")  # fmt: skip
    sub.add_argument("--baseline", action="append", metavar="OLD",
                     help=f"compare all others with this run, run minus OLD: {BASELINE} (default: all pairs, a minus "
                     "b; with --format latex or markdown the first run)")  # fmt: skip
    _add_by(sub)
    sub.add_argument("--random-state", type=int, default=0, metavar="SEED", help="of tests that resample (default: 0)")
    sub.add_argument("--marks", choices=["baseline", "letters"], default="baseline",
                     help="of --format latex and markdown: what differs from the baseline, or the letters of all runs "
                     "that a run is better than (default: baseline)")  # fmt: skip
    _add_format(sub)

    sub = add("gate", gate.gate, "Whether a new run loses no more than a margin against an old one: an exit code.")
    sub.epilog = gate.GATE_EPILOG
    _add_data(sub, METRICS_BY_DEFAULT[:1], "QRELS NEW", "judgments, then the new run")
    for name, more, text in (
        ("--baseline", {"action": "append", "metavar": "OLD"},
         "the old run, or a result that evaluate --save or Evaluation.save wrote; with --table its column; not needed "
         "with a floor"),
        ("--margin", {"metavar": "X", "action": "append", "default": []},
         "loss that is still no worse, in units of the metric, such as 0.01; NAME=X for one metric, may be repeated "
         "(default: none, which only looks for a loss)"),
        ("--largest-loss", {"metavar": "X", "action": "append", "default": []},
         "largest loss that a query can have, or NAME=X for one metric (default: the range of the metric)"),
        ("--at-least", {"metavar": "NAME=X", "action": "append", "default": []},
         "floor that the mean of a metric must reach, such as recall@10=0.8; may be repeated"),
        ("--at-most", {"metavar": "NAME=X", "action": "append", "default": []},
         "the same for a metric of which lower is better"),
        ("--segment-margin", {"metavar": "X", "action": "append", "default": []},
         "with --by: margin of each segment, or SEGMENT=X for one (default: the margin of the metric)"),
        ("--alpha", {"type": float, "default": 0.05, "metavar": "X"},
         "probability of each wrong decision (default: 0.05)"),
        ("--replace-undefined-by", {"type": float, "metavar": "X"},
         "value of queries without a relevant document, such as 0, or nan (default: they are left out)"),
        ("--undecided", {"choices": ["fail", "pass"], "default": "fail"},
         "whether the exit code is 4 or 0 where queries are too few to decide (default: fail)"),
        ("--markdown", {"metavar": "FILE"}, "write the decision and its tables for a comment, too"),
        ("--json", {"metavar": "FILE"}, "write the decision and its numbers for other tools, too"),
        ("--html", {"metavar": "FILE"}, "write a page to look at, too, with the lists of the queries that lose most"),
    ):  # fmt: skip
        sub.add_argument(name, help=text, **more)
    _add_by(sub)
    _add_page(sub)
    _add_format(sub)

    text = "A page to look at: which run is better, where it loses, and the lists there."
    sub = add("report", commands.write_report, text)
    sub.epilog = commands.REPORT_EPILOG
    _add_data(sub, METRICS_BY_DEFAULT[:1], "QRELS NEW", "judgments, then a new run or several")
    for name, more, text in (
        ("--baseline", {"action": "append", "metavar": "OLD"}, f"the old run: {BASELINE} (default: the first run)"),
        ("--output", {"metavar": "FILE", "required": True}, "file to write, such as report.html"),
        ("--margin", {"metavar": "X", "action": "append", "default": []},
         "make it the page of a gate with this margin, see gate; the exit code is the gate's"),
    ):  # fmt: skip
        sub.add_argument(*(["-o"] if name == "--output" else []), name, help=text, **more)
    of_gate: dict[str, Any] = {name: [] for name in ("largest_loss", "at_least", "at_most", "segment_margin")}
    sub.set_defaults(alpha=0.05, replace_undefined_by=None, by_on_page=True, **of_gate)
    _add_by(sub)
    _add_page(sub)

    sub = add("explain", commands.explain, "Why two runs differ on a query: what each document adds to the difference.")
    sub.epilog = commands.EXPLAIN_EPILOG
    _add_data(sub, METRICS_BY_DEFAULT[:1], "QRELS NEW", "judgments, then the new run")
    sub.add_argument("--baseline", required=True, action="append", metavar="OLD",
                     help="the old run; with --table its column")  # fmt: skip
    sub.add_argument("--query", metavar="ID", help="the query (default: the one on which the new run loses most)")
    sub.add_argument("--to-judge", type=int, metavar="N", help="print the N documents whose judgment could change the "
                     "difference most, of --query or of all queries")  # fmt: skip
    _add_format(sub)

    sub = add("check", commands.check_files, "What judgments can measure, with or without runs, and their flaws.")
    sub.epilog = "Exit codes: 0; 2 invalid input, or judgments by which nothing can be measured; 1 any other failure."
    sub.add_argument("what", choices=["judgments"], help="what to check")
    sub.add_argument("files", nargs="+", metavar="QRELS RUN", help="judgments, then a run or several, or none")
    sub.add_argument("-m", "--metric", "--metrics", action="append", dest="metrics", metavar="NAME",
                     help=f"several with commas, or -m for each (default: {','.join(METRICS_BY_DEFAULT)})")  # fmt: skip
    sub.add_argument("--json", metavar="FILE", help="write all numbers for other tools, too")
    _add_format(sub)
    sub.set_defaults(default_metrics=METRICS_BY_DEFAULT, convention=None)

    sub = add("metrics", commands.list_metrics, "All metrics: names, aliases and formulas.")
    _add_format(sub)

    sub = add("plot", commands.plot, "A picture of one metric (needs the extra plot).")
    _add_data(sub, METRICS_BY_DEFAULT[:1])
    sub.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write: .png, .svg, .pdf")
    sub.add_argument("--kind", choices=sorted(commands.PICTURES), default="distribution", help="distribution of "
                     "values, cutoffs, differences from a baseline, which runs differ, or values by topic with ids "
                     "(default: distribution)")  # fmt: skip
    sub.add_argument("--baseline", action="append", metavar="OLD",
                     help=f"of --kind difference, critical and topics, which it sorts: {BASELINE} (default: the "
                     "first run; of critical all pairs)")  # fmt: skip
    sub.add_argument("--max-k", type=int, default=20, metavar="K", help="deepest cutoff of --kind cutoff (default: 20)")
    return top


def _add_data(
    sub: argparse.ArgumentParser, metrics: list[str], files: str = "QRELS RUN",
    text_of_files: str = "judgments, then a run or several",
) -> None:  # fmt: skip
    sub.add_argument("files", nargs="*", metavar=files, help=text_of_files)
    text = (
        f"such as ndcg@10, map or 'rbp(p=0.9)'; several with commas, as in ndcg@5,10,map, or -m for each (default: "
        f"{','.join(metrics)}). With --convention trec_eval its names too: P.5,10, recip_rank, official"
    )
    sub.add_argument("-m", "--metric", action="append", dest="metrics", metavar="NAME", help=text)
    sub.set_defaults(default_metrics=metrics)
    group = sub.add_argument_group("meaning of the numbers")
    group.add_argument("--convention", choices=sorted(CONVENTIONS), help="system whose choices to follow")
    group.add_argument("--ties", choices=sorted(TIE_POLICIES), help="what equal scores mean")
    group.add_argument("--unjudged", choices=["nonrelevant", "drop"],
                       help="how to read documents that were not judged (default with QRELS: nonrelevant)")  # fmt: skip
    group.add_argument("-J", action="store_const", const="drop", dest="unjudged", help="short for --unjudged drop")
    group.add_argument("-l", "--min-relevance", type=float, metavar="X",
                       help="a document is relevant from this label on")  # fmt: skip
    group.add_argument("--duplicates", choices=["raise", "first", "nonrelevant"], default="raise",
                       help="a document that is in a query twice: an error, its first place alone, or its other places "
                       "as not relevant (default: raise)")  # fmt: skip
    group = sub.add_argument_group("runs and judgments")
    group.add_argument("--value", metavar="COLUMN",
                       help="column of the grades of QRELS that are a table; false: each row is relevant")  # fmt: skip
    group.add_argument("--run-format", choices=["scores", "ranks"],
                       help="what the third field or the column of a RUN has, if it may be either")  # fmt: skip
    group.add_argument("--missing-from-run", choices=TREATMENTS,
                       help="judged queries that a run lacks (default: zero; drop when evaluating with --convention "
                       "trec_eval, like trec_eval without -c)")  # fmt: skip
    group.add_argument("-c", action="store_const", const="zero", dest="missing_from_run",
                       help="short for --missing-from-run zero")  # fmt: skip
    group.add_argument("-M", "--max-documents", type=int, metavar="N",
                       help="read the first N documents of each query; with --convention trec_eval")  # fmt: skip
    group.add_argument("--missing-from-qrels", choices=TREATMENTS,
                       help="queries of a run without judgments (default: drop)")  # fmt: skip
    group.add_argument("--keep-negative", action="store_true", help="negative relevance is a label, not 'unjudged'")
    group.add_argument("--document-of", metavar="FILE",
                       help="lines of a chunk and its document; runs rank chunks, QRELS has documents")  # fmt: skip
    group.add_argument("--exclude", metavar="FILE",
                       help="lines of a query and a document, such as training items, that no list has")  # fmt: skip
    group.add_argument("--aggregate", choices=["max", "first", "sum"], default="max",
                       help="score of a document from its chunks, with --document-of (default: max)")  # fmt: skip
    sub.add_argument("--separator", metavar="X", type=lambda text: text.replace("\\t", "\t"),
                     help="character between fields, such as ';' or '\\t' (default: blanks, or what the header has)",
    )  # fmt: skip
    group = sub.add_argument_group("tables")
    group.add_argument("--table", metavar="FILE", help="CSV, JSON lines, Parquet or Arrow, instead of QRELS and RUN")
    group.add_argument("--y-true", metavar="COLUMN", help="relevance (default: label)")
    group.add_argument("--y-score", action="append", metavar="COLUMN", help="score; may be repeated (default: score)")
    group.add_argument("--qid", metavar="COLUMN", type=lambda text: text.split(",") if "," in text else text,
                       help="query, also of QRELS and RUN; A,B: two columns that name it (default: qid)")  # fmt: skip
    group.add_argument("--doc-id", metavar="COLUMN",
                       help="document, also of QRELS and RUN; orders ties of a table in trec_eval")  # fmt: skip
    sub.add_argument("--n-jobs", type=int, metavar="N", help="threads; -1 for all")


def _add_by(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--by", metavar="FILE",
                     help="lines of a query and its segment, such as a country: values in each segment; or a column of "
                     "QRELS, or with --table of the table")  # fmt: skip


def _add_page(sub: argparse.ArgumentParser) -> None:
    group = sub.add_argument_group("the page")
    group.add_argument("--title", metavar="TEXT", help="line above the verdict")
    group.add_argument("--texts", metavar="FILE", help="texts of documents: lines of an id, a tab and a text, or JSON")
    group.add_argument("--query-texts", metavar="FILE", help="texts of queries, in the same way")
    group.add_argument("--lists", type=int, default=50, metavar="N",
                       help="queries whose lists of documents are kept (default: 50)")  # fmt: skip


def _add_format(sub: argparse.ArgumentParser) -> None:
    sub.add_argument("--format", choices=FORMATS, default="table", help="default: table")
