"""The gate: an exit code for whether a new run is no worse than an old run."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING

from sklearn_rank._cli.data import old_and_new, requested_metrics
from sklearn_rank._cli.output import as_json, put, show
from sklearn_rank._cli.page import write_page
from sklearn_rank._data.doors import COMMAND
from sklearn_rank._data.look import collected_findings, report
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import replacing

if TYPE_CHECKING:
    from sklearn_rank.stats._gate import GateResult

EXIT_CODES = {"no worse": 0, "no loss shown": 0, "worse": 3, "undecided": 4}
GATE_EPILOG = (
    "QRELS and NEW are files of TREC, also packed by gzip; '-' is the standard input. With --table they are columns of "
    "a file, NEW the --y-score. Exit codes: 0 no worse, or no loss shown without --margin; 3 worse; 4 undecided (0 "
    "with --undecided pass); 2 invalid input; 1 any other failure."
)


def gate_of(options: argparse.Namespace, metrics: list[str]) -> GateResult:
    """Decide whether the new run is no worse than the old run."""
    from sklearn_rank.stats import no_worse

    margins = _by_metric("--margin", options.margin, metrics)
    losses = _by_metric("--largest-loss", options.largest_loss, metrics)
    if margins is not None and (missing := [metric for metric in metrics if metric not in margins]):
        raise ValueError(f"--margin must be given for each metric, or one number for all. Got none for {missing[0]}.")
    old, new = old_and_new(options, metrics, "gate").values()
    with collected_findings() as seen:
        try:
            found = no_worse(
                new=new, old=old, margin=margins, alpha=options.alpha, largest_loss=losses,
                replace_undefined_by=options.replace_undefined_by,
            )  # fmt: skip
        except ValueError as error:
            raise ValueError(in_options(str(error))) from None
    report(COMMAND, seen)
    return found


def gate(options: argparse.Namespace) -> int:
    """Print whether the new run is no worse than the old run; return the exit code."""
    found = gate_of(options, requested_metrics(options))
    if options.html is not None:
        write_page(options, found, options.html)
    if options.markdown is not None:
        with replacing(options.markdown) as file:
            file.write(f"{found.to_markdown()}\n".encode())
    rows = found.table.rows
    of_metrics = {row[0]: dict(zip(found.table.columns[1:], row[1:], strict=True)) for row in rows}
    nested = {
        "decision": found.decision, "verdict": found.verdict, "alpha": found.alpha, "n_needed": found.n_needed,
        "metrics": of_metrics,
    }  # fmt: skip
    if options.json is not None:
        with replacing(options.json) as file:
            file.write(f"{as_json(nested)}\n".encode())
    if options.format in ("csv", "json"):
        show(found.table.columns, [*rows], nested, options.format)
    else:
        put({"markdown": found.to_markdown, "latex": found.to_latex}.get(options.format, found.__repr__)())
    return 0 if found.decision == "undecided" and options.undecided == "pass" else EXIT_CODES[found.decision]


def in_options(message: str) -> str:
    """Replace Python's parameters in a message of `no_worse` by options of the command."""

    def option(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')}"

    message = re.sub(r"Pass missing=.+?\. Got", "Without --missing-from-run drop they count as 0. Got", message)
    message = re.sub(r"The '(\w+)' parameter of no_worse", option, message)
    message = re.sub(r"\b(margin|largest_loss|alpha|replace_undefined_by)=", lambda match: f"{option(match)} ", message)
    return message.replace("largest_loss", "--largest-loss").replace("no_worse", "gate")


def _by_metric(option: str, given: list[str], metrics: list[str]) -> dict[str, float] | None:
    """Number for each metric, by name or the same for all; None without the option."""
    numbers: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{option} must be a number such as 0.01, or NAME=0.01. Got {echo(text)}.") from None
        above_zero = option == "--largest-loss"
        if not 0 <= value < math.inf or (above_zero and value == 0):
            rule = "above 0" if above_zero else "that is not negative"
            raise ValueError(f"{option} must be a finite number {rule}. Got {echo(text)}.")
        if name in numbers:
            raise ValueError(f"{option} must be given once for each metric. Got {echo(text)} and another value.")
        if name and name not in metrics:
            raise ValueError(f"{option} must name a metric of -m: {', '.join(metrics)}. Got {echo(name)}.")
        numbers[name] = value
    if "" in numbers:
        numbers = dict.fromkeys(metrics, numbers.pop("")) | numbers
    return numbers or None
