"""The gate in words: its verdict, notes and tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._data.judged import judged_note
from sklearn_rank._estimates.floors import MET, MISSED, UNDECIDED, FloorQueries
from sklearn_rank._estimates.gate import CHANCE, Gate
from sklearn_rank._estimates.margins import (
    IS_WORSE,
    NO_LOSS_SHOWN,
    NO_WORSE,
    TOO_SMALL,
    PairedQueries,
    SegmentTest,
)
from sklearn_rank._estimates.runs import RunMeans
from sklearn_rank._estimates.samples import is_concentrated
from sklearn_rank._metric.choices import QueryCounts, choices_in_words
from sklearn_rank._metric.notation import display_name, labeled
from sklearn_rank._tell.notes import between_runs, skew_note
from sklearn_rank._tell.text import listed
from sklearn_rank._utils.echo import echo_all
from sklearn_rank._utils.table import P_CORRECTED, P, Table, shorten_values

IF_NO_OTHERS_GAIN = "if no query gains more than those seen"
"""Assumption of the decision "worse"."""

N_SHOWN = 5

MOST_SEGMENT_ROWS = 20
"""Rows of segments that are printed: those that lost most."""

PASSES = "no worse if"
"""Column that shows which bound decides, and the value that it must pass."""

COLUMNS = ("metric", "queries", "old", "new", "difference", "low", "high", P, "margin", PASSES, "decision")
COLUMNS_OF_ALARM = tuple(name for name in COLUMNS if name not in ("margin", PASSES))
COLUMNS_OF_FLOORS = ("metric", "queries", "mean", "low", "high", P, "met if", "least mean", "decision")
COLUMNS_OF_SEGMENTS = ("metric", "queries", "old", "new", "difference", P_CORRECTED, "margin", "decision")
ONLY_ON_PAGE = (P, "margin")
"""Columns of the first table that are left out where it is printed."""


class AboutMetric(NamedTuple):
    """What is known about the values of a metric: what they mean, what was left out, and which runs have them."""

    # `n_left_out`: undefined queries that judgments do not settle. `knows_settled`: whether it is known which queries
    # no ranking changes. `of_data`: notes on the data.

    meaning: str
    judged: Mapping[str, float]
    counts: QueryCounts | None
    run_means: RunMeans
    knows_settled: bool
    n_left_out: int
    n_filled: int
    of_data: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class GateParts(Gate):
    """A gate and what its sentences need: attributes of segments, and results without fingerprints of rankings."""

    by: tuple[str, ...]
    about: Mapping[str, AboutMetric]
    unknown_lists: tuple[str, ...]

    def of_segments(self, decision: str) -> list[SegmentTest]:
        """Tests of segments with a decision."""
        return [one for one in self.segments if one.decision == decision]


# --- the verdict -------------------------------------------------------------------------------------------------


def verdict_of(gate: GateParts) -> str:
    """The decision and its reason in one sentence."""
    decision, alpha = gate.decision, f"alpha={gate.alpha:g}"
    if decision == IS_WORSE:
        return _worse(gate)
    if decision == MISSED:
        return f"Missed: {_floors(gate, MISSED, 'is not')}, {alpha}"
    if decision == MET:
        return f"Met: {_floors(gate, MET, 'is')}, {alpha}"
    if gate.nothing and decision == UNDECIDED:
        return f"Not decided: {next(iter(gate.nothing.values()))}"
    if decision == UNDECIDED:
        return f"Not decided: {_needs(gate)}"
    floors = f" {_floors(gate, MET, 'is')}." if gate.floors else ""
    if gate.n_changed == 0:
        head = "No worse" if decision == NO_WORSE else "No loss is shown"
        n_queries = max(len(pair.qid) for pair in gate.pairs.values())
        return (
            f"{head}: the lists are identical on all {n_queries} queries, so nothing was changed here. This is not "
            f"a test: other queries may differ.{floors}"
        )
    if decision == NO_LOSS_SHOWN:
        return _no_loss_shown(gate) + floors
    floors = f", and {_floors(gate, MET, 'is')}" if gate.floors else ""
    return f"No worse: new does not lose more than the margin{floors}, {alpha}"


def _worse(gate: GateParts) -> str:
    losing = [*map(display_name, gate.of(IS_WORSE))]
    losing += [
        f"{display_name(one.metric)} of {_segment(gate, one)} ({one.difference:+.4f} on {one.n_queries} queries, "
        f"margin {one.margin:g})"
        for one in gate.of_segments(IS_WORSE)
    ]
    missed = f"; {_floors(gate, MISSED, 'is not')}" if gate.floors_with(MISSED) else ""
    more = "" if gate.margin is None and gate.of(IS_WORSE) else " more than the margin"
    return f"Worse: new loses{more} in {', '.join(losing)}{missed}, alpha={gate.alpha:g}"


def _segment(gate: GateParts, one: SegmentTest) -> str:
    return ", ".join(f"{name}={value}" for name, value in zip(gate.by, shorten_values(one.segment, 24), strict=True))


def _floors(gate: GateParts, decision: str, verb: str) -> str:
    """The floors with a decision: "recall@10 is not at least 0.8 (0.7212)"."""
    said = [
        f"{display_name(name)} {verb} at {'least' if floor.greater_is_better else 'most'} {floor.floor:g} "
        f"(mean {gate.floor_tests[name].mean:.4f})"
        for name, floor in gate.floors.items() if name in gate.floors_with(decision)
    ]  # fmt: skip
    return ", ".join(said)


def _needs(gate: GateParts) -> str:
    open_floors = gate.floors_with(UNDECIDED)
    where = f" for the floor of {', '.join(map(display_name, open_floors))}" if open_floors else ""
    needed, said = gate.n_needed, f"no number of queries would decide{where} if differences stay like these."
    if needed is None and any(pair.between.variance for pair in gate.pairs.values()):
        said = "more runs, not more queries, would decide if differences stay like these."
    if needed is not None:
        shown = [f"new is {'worse' if gate.behind else 'no worse'}"] if gate.of(UNDECIDED) else []
        shown += [
            f"the floor of {display_name(name)} is {MET if gate.floors[name].sums.mean > 0 else MISSED}"
            for name in open_floors
        ]
        like = "differences" if gate.of(UNDECIDED) else "values"
        said = f"with {like} like these about {needed} queries are needed (they would show that {listed(shown)})."
    too_few = {
        name: n for name, n in gate.n_least.items() if name in gate.of(UNDECIDED) and len(gate.pairs[name].qid) < n
    }
    if not too_few or gate.margin is None:
        return said
    metric = max(too_few, key=too_few.__getitem__)
    where, smallest = f" in {display_name(metric)}" if len(gate.pairs) > 1 else "", gate.smallest_margin[metric]
    can = f"only {rounded_up(smallest)}" if math.isfinite(smallest) else "no margin"
    return (
        f"{said} Even if no query differed, {len(gate.pairs[metric].qid)} could show {can}{where}; "
        f"{gate.margin[metric]:g} needs {too_few[metric]}."
    )


def _no_loss_shown(gate: GateParts) -> str:
    n_queries = {len(pair.qid) for pair in gate.pairs.values()}
    several, where = len(gate.pairs) > 1, f" on {n_queries.pop()} queries" if len(n_queries) == 1 else ""
    parts, losses = [], []
    for metric, pair in gate.pairs.items():
        test = gate.tests[metric]
        loss = -test.low if pair.greater_is_better else test.high
        queries = "" if where else f" on {len(pair.qid)} queries"
        name, inside = (f"{display_name(metric)} ", f" in {display_name(metric)}") if several else ("", "")
        won, lost = (pair.gain > 0).sum(), (pair.gain < 0).sum()
        parts.append(f"{name}{pair.difference:+.4f}{queries} ({won} won, {lost} lost)")
        if loss > 0:
            losses.append(f"about {loss:.2g}{inside}")
    left = (
        f"Losses up to {listed(losses)} cannot be ruled out."
        if losses
        else f"Losses are ruled out, alpha={gate.alpha:g}."
    )
    return f"No loss is shown{where}: {', '.join(parts)}. {left}"


def rounded_up(x: float) -> str:
    """A positive number, rounded up to two digits."""
    step = 10.0 ** (math.floor(math.log10(x)) - 1)
    return f"{math.ceil(round(x / step, 9)) * step:.2g}"


# --- notes -------------------------------------------------------------------------------------------------------


def notes(gate: GateParts) -> list[str]:
    """What the bounds mean, what the decision assumes, and which queries were left out."""
    said = [*_on_bounds(gate), *_on_segments(gate), *_on_floors(gate)]
    said += [text for text in gate.nothing.values() if text not in verdict_of(gate)]
    if gate.n_needed is not None:
        said.append(f"The number of needed queries decides with a chance of about {CHANCE:g}, less for rare losses.")
    said += [*_on_lists(gate), *_assumptions(gate)]
    values: dict[str, PairedQueries | FloorQueries] = {**gate.floors, **gate.pairs}
    first, about = next(iter(values.values())), gate.about
    if errors := [display_name(name) for name, one in values.items() if not one.greater_is_better]:
        said.append(f"Lower is better in {', '.join(errors)}.")
    if first.cluster is not None:
        n_clusters = len({*first.cluster.tolist()})
        said.append(f"Queries come in {n_clusters} clusters; the level holds if losses do not depend on size.")
    if first.weight is not None:
        said.append("Means are weighted; the level holds if losses do not depend on weight.")
    if concentrated := [display_name(name) for name, pair in gate.pairs.items() if is_concentrated(pair.sample)]:
        said.append(skew_note(concentrated))
    if unknown := [display_name(name) for name, one in about.items() if not one.knows_settled]:
        said.append(f"Which queries no ranking changes is not known for {', '.join(unknown)}: all queries count.")
    for name, one in about.items():
        if one.n_left_out:
            left = "queries are" if one.n_left_out > 1 else "query is"
            zero = "" if first.weight is None else " or the weight is 0"
            said.append(f"{one.n_left_out} {left} left out of {display_name(name)}: it is undefined there{zero}.")
    if n_filled := next(iter(about.values())).n_filled:
        said.append(f"{n_filled} values of missing queries are filled in.")
    said += dict.fromkeys(note for one in about.values() for note in one.of_data)
    about_runs = between_runs({name: one.run_means for name, one in about.items()}, ("new", "old"))
    return said + [*filter(None, [about_runs, judged_note({name: one.judged for name, one in about.items()})])]


def _on_bounds(gate: GateParts) -> list[str]:
    if not gate.pairs:
        return []
    level, other = 100 * (1 - gate.alpha), 100 * (1 - gate.alpha / len(gate.pairs))
    said = "The difference is new minus old; low and high are its one-sided bounds"
    if gate.n_changed == 0:
        return [f"{said}. They do not decide here."]
    if gate.margin is None:
        levels = f"{level:g} %"
        levels += f" on the side of a loss, at {other:.4g} % on the other" if len(gate.pairs) > 1 else ""
        return [f"{said}, at {levels}. Worse: new loses by both bounds of some metric, {IF_NO_OTHERS_GAIN}."]
    return [
        f"{said}. No worse: every metric passes its {PASSES!r}, whose bound is at {level:g} %. Worse: the other bound "
        f"of some metric, at {other:.4g} %, is beyond the margin, {IF_NO_OTHERS_GAIN}."
    ]


def _on_segments(gate: GateParts) -> list[str]:
    if not gate.segments:
        return []
    said = [
        f"A segment is worse if t shows a loss beyond its margin, with Holm's correction for {len(gate.segments)} "
        f"tests. All queries and the segments each call a change worse that loses no more than its margins in at most "
        f"{100 * gate.alpha:g} % of gates, together in at most {200 * gate.alpha:g} %, "
        f"{IF_NO_OTHERS_GAIN}."
    ]
    small = {_segment(gate, one): one.n_queries for one in gate.of_segments(TOO_SMALL)}
    if small:
        listed = ", ".join(f"{name} ({n})" for name, n in [*small.items()][:MOST_SEGMENT_ROWS])
        said.append(
            f"Too small to show any loss beyond the margin: {listed}{' ...' * (len(small) > MOST_SEGMENT_ROWS)}."
        )
    return said


def _on_floors(gate: GateParts) -> list[str]:
    if not gate.floors:
        return []
    level, other = 100 * (1 - gate.alpha), 100 * (1 - gate.alpha / len(gate.floors))
    said = [
        f"A floor is met if its bound at {level:g} % passes, and missed if the other, at {other:.4g} %, is beyond it."
    ]
    for name, floor in gate.floors.items():
        n, least = len(floor.qid), gate.floor_tests[name].least_mean
        must = f"{display_name(name)} must be {least:.4f} or {'more' if floor.greater_is_better else 'less'}"
        if math.isnan(least):
            must = f"no mean of {display_name(name)} can pass, because {floor.n_least(gate.alpha)} are the least"
        elif not floor.is_rate:
            must += " with values spread like these"
        beside = ""
        if floor.is_rate and floor.bounds == (0, 1):
            beside = "; " + ", ".join(f"{k} of {n} is {k / n:.3f}" for k in floor.nearest_rates() if 0 <= k <= n)
        said.append(f"{n} queries: {must}{beside}.")
    return said


def _on_lists(gate: GateParts) -> list[str]:
    """Notes if no query differs in value and the lists are not known to be identical."""
    if not gate.pairs or gate.n_changed == 0 or any(pair.gain.any() for pair in gate.pairs.values()):
        return []
    n_units = min(pair.sums.n for pair in gate.pairs.values())
    others = "queries" if next(iter(gate.pairs.values())).cluster is None else "clusters"
    share = 100 * (1 - gate.alpha ** (1 / n_units))
    said = [
        f"No query differs in value. With {100 * (1 - gate.alpha):g} % confidence at most {share:.2g} % of other "
        f"{others} do."
    ]
    if gate.unknown_lists:
        said.append(
            f"Whether the lists are identical, which would pass, is not known: {echo_all(gate.unknown_lists)} "
            f"{'has' if len(gate.unknown_lists) == 1 else 'have'} no fingerprints of rankings. Results of "
            "evaluate_run have them, and of evaluate unless all rows come in the order of their ranks; they are "
            "saved, too. Given values, subsets, batches and sparse matrices have none."
        )
    elif n := gate.n_changed:
        said.append(f"The lists of {n} queries differ." if n > 1 else "The list of 1 query differs.")
    return said


def _assumptions(gate: GateParts) -> list[str]:
    stated = dict[float, list[str]]()
    for name, pair in gate.pairs.items():
        if (loss := gate.largest_loss[name]) != pair.span:
            stated.setdefault(loss, []).append(display_name(name))
    unbounded = [display_name(name) for name, pair in gate.pairs.items() if pair.span is None]
    said = [f"Assumed: no query loses more than {loss:.4g} in {', '.join(names)}." for loss, names in stated.items()]
    if unbounded:
        said.append(f"The level is not guaranteed for {', '.join(unbounded)}: no bounds are known.")
    return said


def choices(gate: GateParts) -> str:
    """Choices behind the metrics."""
    counts = {name: one.counts for name, one in gate.about.items() if one.counts is not None}
    return choices_in_words({name: one.meaning for name, one in gate.about.items()}, counts)


# --- tables ------------------------------------------------------------------------------------------------------


def table_of_metrics(gate: GateParts) -> Table:
    """A row for each metric."""
    rows = []
    for name, pair in gate.pairs.items():
        test, margin = gate.tests[name], None if gate.margin is None else gate.margin[name]
        passes: tuple[Any, ...] = ()
        if margin is not None:
            passes = (margin, f"low > {0.0 - margin:g}" if pair.greater_is_better else f"high < {margin:g}")
        rows.append((labeled(name), len(pair.qid), *pair.means, pair.difference, *test[:3], *passes, test.decision))
    return Table(COLUMNS if gate.margin is not None else COLUMNS_OF_ALARM, tuple(rows))


def table_of_floors(gate: GateParts) -> Table:
    """A row for each floor."""
    rows = []
    for name, floor in gate.floors.items():
        test = gate.floor_tests[name]
        met = f"low > {floor.floor:g}" if floor.greater_is_better else f"high < {floor.floor:g}"
        least = None if math.isnan(test.least_mean) else test.least_mean
        rows.append((labeled(name), len(floor.qid), *test[:4], met, least, test.decision))
    return Table(COLUMNS_OF_FLOORS, tuple(rows))


def table_of_segments(gate: GateParts) -> Table:
    """A row for each segment and metric."""
    rows = (
        (*one.segment, labeled(one.metric), *one[2:6], None if math.isnan(one.pvalue) else one.pvalue, *one[7:])
        for one in gate.segments
    )
    return Table((*gate.by, *COLUMNS_OF_SEGMENTS), tuple(rows))


def lost(pair: PairedQueries, n: int) -> list[tuple[Any, ...]]:
    """The queries that lost most."""
    order = np.argsort(pair.gain, kind="stable")[: min(n, int((pair.gain < 0).sum()))]
    columns = (pair.qid, pair.old, pair.new, pair.new_less_old(pair.gain))
    return [*zip(*(column[order].tolist() for column in columns), strict=True)]


def printed_tables(gate: GateParts) -> list[Table]:
    """Tables of metrics, floors, segments, and queries that lost most."""
    found, floors = table_of_metrics(gate), table_of_floors(gate)
    tables = [_without(found, ONLY_ON_PAGE)] if found.rows else []
    tables += [_without(floors, ONLY_ON_PAGE)] if floors.rows else []
    if gate.segments:
        order = sorted(range(len(gate.segments)), key=lambda i: _rank(gate, gate.segments[i]))[:MOST_SEGMENT_ROWS]
        rows, left = table_of_segments(gate), len(gate.segments) - len(order)
        note = f"{left} rows with a smaller loss are left out." if left else ""
        tables.append(Table(rows.columns, tuple(rows.rows[i] for i in sorted(order)), note=note))
    rows_lost = tuple((labeled(name), *row) for name, pair in gate.pairs.items() for row in lost(pair, N_SHOWN))
    head = ("lost most", "query", "old", "new", "difference")
    return [*tables, Table(head, rows_lost)] if rows_lost else tables


def _rank(gate: GateParts, one: SegmentTest) -> tuple[float, float]:
    gain = one.difference if gate.pairs[one.metric].greater_is_better else -one.difference
    return (math.inf if math.isnan(one.pvalue) else one.pvalue), gain


def _without(table: Table, left_out: tuple[str, ...]) -> Table:
    shown = [i for i, name in enumerate(table.columns) if name not in left_out]
    return Table(tuple(table.columns[i] for i in shown), tuple(tuple(row[i] for i in shown) for row in table.rows))
