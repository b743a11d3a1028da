"""The gate: an exit code for whether a new run is no worse than an old run."""

from __future__ import annotations

import argparse
import math
import re
from typing import TYPE_CHECKING, Any

from sklearn_rank._cli.data import attribute_of, old_and_new, requested_metrics
from sklearn_rank._cli.output import by_first, records, show_result, write_json
from sklearn_rank._cli.page import write_page
from sklearn_rank._data.doors import COMMAND
from sklearn_rank._data.look import collected_findings, report
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.storage import replacing

if TYPE_CHECKING:
    from sklearn_rank.stats._gate import GateResult

EXIT_CODES = {"no worse": 0, "no loss shown": 0, "met": 0, "worse": 3, "missed": 3, "undecided": 4}
GATE_EPILOG = (
    "QRELS and NEW are files of TREC, also packed by gzip; '-' is the standard input. With --table they are columns of "
    "a file, NEW the --y-score. Exit codes: 0 no worse, or no loss shown without --margin, and each floor met; 3 worse "
    "in some metric or segment, or a floor missed; 4 undecided (0 with --undecided pass); 2 invalid input; 1 any other "
    "failure."
)


def gate_of(options: argparse.Namespace, metrics: list[str]) -> GateResult:
    from sklearn_rank.stats import no_worse

    floors = {
        name: _by_metric(f"--{name}", given, None)
        for name, given in (("at-least", options.at_least), ("at-most", options.at_most))
    }
    if options.baseline is None and not any(floors.values()):
        raise ValueError("gate needs an old run, --baseline OLD, or a floor, --at-least NAME=X, or both. Got neither.")
    if options.baseline is None:
        if unused := [name for name in ("margin", "largest_loss", "by", "segment_margin") if vars(options)[name]]:
            option = unused[0].replace("_", "-")
            raise ValueError(f"--{option} of gate compares with an old run, so it needs --baseline. Got none.")
        metrics = [] if options.metrics is None else metrics
    margins = _by_metric("--margin", options.margin, metrics)
    losses = _by_metric("--largest-loss", options.largest_loss, metrics)
    if margins is not None and (missing := [metric for metric in metrics if metric not in margins]):
        raise ValueError(f"--margin must be given for each metric, or one number for all. Got none for {missing[0]}.")
    of_new = [*dict.fromkeys([*metrics, *(floors["at-least"] or {}), *(floors["at-most"] or {})])]
    *old, new = old_and_new(options, of_new, "gate", compared=metrics).values()
    by = None if options.by is None else attribute_of(options)
    with collected_findings() as seen:
        try:
            found = no_worse(
                new=new, old=old[0] if old else None, margin=margins, alpha=options.alpha, largest_loss=losses,
                at_least=floors["at-least"], at_most=floors["at-most"], by=by,
                segment_margin=_by_segment(options.segment_margin, by),
                replace_undefined_by=options.replace_undefined_by,
            )  # fmt: skip
        except ValueError as error:
            raise ValueError(in_options(str(error))) from None
    report(COMMAND, seen)
    return found


def gate(options: argparse.Namespace) -> int:
    found = gate_of(options, requested_metrics(options))
    if options.html is not None:
        write_page(options, found, options.html)
    if options.markdown is not None:
        with replacing(options.markdown) as file:
            file.write(f"{found.to_markdown()}\n".encode())
    table = found.table if found.table.rows else found.floors
    nested = {
        "decision": found.decision, "verdict": found.verdict, "alpha": found.alpha, "n_needed": found.n_needed,
        "metrics": by_first(found.table), "floors": by_first(found.floors), "segments": records(found.segments),
    }  # fmt: skip
    write_json(nested, options.json)
    show_result(found, table, nested, options.format)
    return 0 if found.decision == "undecided" and options.undecided == "pass" else EXIT_CODES[found.decision]


def _by_segment(given: list[str], by: dict[str, Any] | None) -> Any:
    if not given:
        return None
    if by is None:
        raise ValueError("--segment-margin is for segments: pass --by, too. Got none.")
    segments = {str(value): value for of_query in by.values() for value in of_query.values()}
    margins = _by_metric("--segment-margin", given, [*segments], "a segment") or {}
    return {segments[name]: value for name, value in margins.items()}


def in_options(message: str) -> str:
    """Replace Python's parameters in a message of `no_worse` by options of the command."""

    def option(match: re.Match[str]) -> str:
        return f"--{match[1].replace('_', '-')}"

    message = re.sub(r"Pass missing=.+?\. Got", "Without --missing-from-run drop they count as 0. Got", message)
    message = re.sub(r"The '(\w+)' parameter of no_worse", option, message)
    message = re.sub(
        r"\b(margin|largest_loss|alpha|replace_undefined_by|at_least|at_most|by|segment_margin)=",
        lambda match: f"{option(match)} ",
        message,
    )
    return message.replace("largest_loss", "--largest-loss").replace("no_worse", "gate")


def _by_metric(
    option: str, given: list[str], metrics: list[str] | None, what: str = "a metric of -m"
) -> dict[str, float] | None:
    """Number for each metric or segment, by name or the same for all; None without the option."""
    # `metrics` is None if any metric may be named, and then each must be.
    numbers: dict[str, float] = {}
    for text in given:
        name, _, number = text.rpartition("=")
        if metrics is None and not name:
            raise ValueError(f"{option} must be NAME=X, such as recall@10=0.8. Got {echo(text)}.")
        try:
            value = float(number)
        except ValueError:
            raise ValueError(f"{option} must be a number such as 0.01, or NAME=0.01. Got {echo(text)}.") from None
        above_zero = option == "--largest-loss"
        if not 0 <= value < math.inf or (above_zero and value == 0):
            rule = "above 0" if above_zero else "that is not negative"
            raise ValueError(f"{option} must be a finite number {rule}. Got {echo(text)}.")
        if name in numbers:
            raise ValueError(
                f"{option} must be given once for each {what.split()[1]}. Got {echo(text)} and another value."
            )
        if name and metrics is not None and name not in metrics:
            raise ValueError(f"{option} must name {what}: {', '.join(metrics)}. Got {echo(name)}.")
        numbers[name] = value
    if "" in numbers and metrics is not None:
        numbers = dict.fromkeys(metrics, numbers.pop("")) | numbers
    return numbers or None
