"""The page of a gate."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_rank._estimates.floors import FloorQueries
from sklearn_rank._estimates.margins import IS_WORSE, NO_WORSE, PairedQueries
from sklearn_rank._metric.notation import display_name
from sklearn_rank._report.content import Content, Difference, Mean, Means, Options, instead_of, made_of
from sklearn_rank._tell.gate import (
    GateParts,
    choices,
    notes,
    table_of_floors,
    table_of_metrics,
    table_of_segments,
    verdict_of,
)
from sklearn_rank._tell.text import between
from sklearn_rank._utils.table import LabeledName, P, Table


def page_of(gate: GateParts, old: Any, new: Any, options: Options) -> Content:
    """Content of the page; without a baseline `old` is None, and the page has one system."""
    queries: dict[str, PairedQueries | FloorQueries] = {**gate.pairs} or {**gate.floors}
    first, heading = next(iter(queries.values())), verdict_of(gate).partition(": ")
    ids, is_compared = first.qid.tolist(), bool(gate.pairs)
    systems, values, means = ["old", "new"][not is_compared :], {}, []
    for j, (metric, one) in enumerate(queries.items()):
        of_systems = [one.old, one.new] if isinstance(one, PairedQueries) else [one.values]
        for i, of_system in enumerate(of_systems):
            known = dict(zip(one.qid.tolist(), of_system.tolist(), strict=True))
            values[i, j] = np.array([known.get(query, np.nan) for query in ids])
        means.append(
            Means(display_name(metric), one.greater_is_better, _means(gate, metric), (gate.margin or {}).get(metric))
        )
    lead = [[("", heading[2][:1].upper() + heading[2][1:])]]
    if is_compared:
        metric, pair = next(iter(gate.pairs.items()))
        found = _shown(gate, metric)
        bounds = f"bounds {between(found.low, found.high, signed=True)}"
        lead.append(instead_of(means[0].metric, *pair.means, found, pair.mean_gain, bounds))
    n_metrics = len({*gate.pairs, *gate.floors})
    meanings = [(display_name(name), one.meaning) for name, one in gate.about.items()]
    return Content(
        kind="Gate: is the new system no worse than the old one?" if is_compared else "Gate: is the floor met?",
        heading=[("", heading[0])], lead=lead,
        facts=[(f"{len(ids):,}", "queries"), (f"{n_metrics}", "metric" if n_metrics == 1 else "metrics"),
               (f"{100 * (1 - gate.alpha):g} %", "level of the bounds")],
        notes=notes(gate), choices=choices(gate), means=means, level="" if is_compared else "one-sided",
        systems=systems,
        baseline=0 if is_compared else None, shown=len(systems) - 1, metrics=[*map(display_name, queries)],
        greater_is_better=[one.greater_is_better for one in means], ids=ids, values=values, text=options.text,
        query_text=options.query_text, made=made_of(meanings, old or new, options.code),
        dots=("Dots are differences, lines their one-sided bounds; right is better. Filled: the gate decides."
              + " The dashed line is the margin." * (gate.margin is not None)) * is_compared,
        tables=[(name, table) for name, table in _tables_of_page(gate) if table.rows],
        tables_below=[("Segments", of_segments)] if (of_segments := table_of_segments(gate)).rows else [],
    )  # fmt: skip


def _tables_of_page(gate: GateParts) -> list[tuple[str, Table]]:
    of_metrics = table_of_metrics(gate)
    what = "p of a loss of the margin or more" if gate.margin is not None else "p of no loss"
    head = tuple(LabeledName(name, what) if name == P else name for name in of_metrics.columns)
    return [("Decisions", Table(head, of_metrics.rows)), ("Floors", table_of_floors(gate))]


def _means(gate: GateParts, metric: str) -> list[Mean]:
    if not gate.pairs:
        test = gate.floor_tests[metric]
        return [Mean("new", test.mean, test.low, test.high, None, False)]
    pair = gate.pairs[metric]
    old, new = pair.means
    return [Mean("old", old, None, None, None, False), Mean("new", new, None, None, _shown(gate, metric), False)]


def _shown(gate: GateParts, metric: str) -> Difference:
    test, pair = gate.tests[metric], gate.pairs[metric]
    won, tied, lost_queries = (int(one.sum()) for one in (pair.gain > 0, pair.gain == 0, pair.gain < 0))
    decided = test.decision in (NO_WORSE, IS_WORSE)
    return Difference(pair.difference, *test[:3], won, tied, lost_queries, decided)
