"""The table of a comparison: means of systems with intervals, and their tests against the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

import numpy as np

from sklearn_rank._comparison.folds import compare_folds
from sklearn_rank._comparison.verdict import note_on_judged
from sklearn_rank._evaluation.intervals import mean_intervals
from sklearn_rank._metric.notation import display_name
from sklearn_rank._tell.notes import constant_note, note_of_intervals, notes_by_system
from sklearn_rank._tell.text import count_of, ends_of, level_in_words
from sklearn_rank._utils.table import P_CORRECTED, P_OF_FOLDS, WIDTH, P, PartlyPrinted, Table, shorten, with_interval

SUMMARY_COLUMNS = (
    "model", "metric", "mean", "low", "high", "fold mean", "fold sd", "queries", "undefined", "difference", "won",
    "tied", "lost", P, P_CORRECTED, P_OF_FOLDS, "judged",
)  # fmt: skip
FOLD_COLUMNS = ("fold mean", "fold sd", P_OF_FOLDS)

PRINTED_COLUMNS = ("model", "metric", "mean", "low", "high", "difference", P_CORRECTED, "won", "lost", "queries")
"""Printed columns; in a terminal, the interval is a single column, and each metric has a block."""


def table_of_comparison(comparison: Any, confidence_level: float, *, full: bool) -> Table:
    """The table of `Comparison.summary`."""
    results = comparison.results
    found = {model: mean_intervals(result, confidence_level) for model, result in results.items()}
    metrics = [*next(iter(results.values())).meaning]
    rows = [row for metric in metrics for row in _rows(comparison, metric, {m: of[metric] for m, of in found.items()})]
    left_out = [*(() if note_on_judged(comparison) else ("judged",)), *(() if comparison.n_queries else FOLD_COLUMNS)]
    columns = tuple(name for name in SUMMARY_COLUMNS if name not in left_out)
    cells = tuple(tuple(row.get(name) for name in columns) for row in rows)
    notes = [note_of_intervals(notes_by_system({m: {s: of[m].note for s, of in found.items()} for m in metrics}))]
    if settled := [f"{row['model']} - {comparison.baseline} in {display_name(row['metric'])}"
                   for row in rows if row.get("settled")]:  # fmt: skip
        notes.append(constant_note(settled))
    note = " ".join(filter(None, notes))
    if full:
        return Table(columns, cells, note=note)
    n_queries = len(next(iter(results.values())).qid)
    return Summary(columns, cells, note=note, confidence_level=confidence_level, n_queries=n_queries)


def _rows(comparison: Any, metric: str, intervals: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """A row for each system by a metric."""
    tests, judged = comparison._tests_of.get(metric), comparison.judged
    tested = {} if tests is None else {row.a: row for row in tests._pair_rows}
    for model in comparison.fold_means or comparison.results:
        row: dict[str, Any] = {"model": model, "metric": metric}
        if comparison.n_queries:
            means = comparison.fold_means[model][metric]
            row |= {"fold mean": float(means.mean()), "fold sd": float(means.std(ddof=1)) if len(means) > 1 else None}
        if (result := comparison.results.get(model)) is not None:
            low, high = ends_of(intervals[model].ends)
            row |= {"mean": result[metric], "low": low, "high": high, "undefined": result.n_undefined[metric],
                    "queries": result.n_in_mean[metric], "judged": judged[model].get(metric)}  # fmt: skip
        if (pair := tested.get(model)) is not None:
            row |= {
                "difference": pair.difference, "won": pair.won, "tied": pair.tied, "lost": pair.lost, "p": pair.pvalue,
                "p corrected": pair.corrected_pvalue, "p folds": _fold_pvalue(comparison, model, metric),
                "settled": pair.is_constant,
            }  # fmt: skip
        yield row


def _fold_pvalue(comparison: Any, model: str, metric: str) -> float | None:
    """P-value of the corrected test over folds; None with fewer than two folds."""
    if len(comparison.n_queries) < 2:
        return None
    n_train, n_test = np.mean(comparison.n_queries, axis=0)
    scores = (comparison.fold_means[name][metric] for name in (model, comparison.baseline))
    return compare_folds(*scores, n_train=n_train, n_test=n_test).pvalue


@dataclass(frozen=True, repr=False)
class Summary(PartlyPrinted):
    """Table of models and metrics against a baseline, returned by `Comparison.summary`.

    The printed, Markdown, LaTeX and HTML forms have the mean with its interval, the difference from the baseline, the
    corrected p-value, the queries won and lost, and the number of queries in the mean (in text only if some queries are
    undefined). The text is at most 100 columns wide; long names of models are shortened. `columns`, `rows` and
    `to_frame` have all columns.

    Attributes
    ----------
    columns : tuple of str
    rows : tuple of tuples
        A row for each model and metric, with unshortened names.
    confidence_level : float
        Level of the intervals.
    n_queries : int
        Number of queries, including undefined queries.

    Examples
    --------
    >>> from sklearn_rank import compare_systems
    >>> systems = {"old": [1, 2, 1, 2], "new": [2, 1, 1, 2]}
    >>> report = compare_systems([1, 0, 1, 0], systems, qid=[7, 7, 9, 9], metrics="mrr")
    >>> [row[:3] for row in report.summary().rows]
    [('old', 'mrr', 0.5), ('new', 'mrr', 0.75)]
    """

    printed: tuple[str, ...] = field(default=PRINTED_COLUMNS, kw_only=True)
    confidence_level: float = field(default=0.95, kw_only=True)
    n_queries: int = field(default=0, kw_only=True)

    def __str__(self) -> str:
        """Format a block for each metric, with a line for each model."""
        blocks = groupby(zip(self.rows, self._printed().rows, strict=True), key=lambda pair: pair[0][1])
        texts = [f"{self._head(metric)}\n{self._block([row for _, row in pairs])}" for metric, pairs in blocks]
        return "\n".join(["\n\n".join(texts), *self._note_lines()])

    def _head(self, metric: str) -> str:
        metric_at, queries_at = (self.columns.index(name) for name in ("metric", "queries"))
        counts = [row[queries_at] for row in self.rows if row[metric_at] == metric and row[queries_at] is not None]
        name = shorten(display_name(metric), WIDTH)
        return name if min(counts) == self.n_queries else f"{name}, {count_of(counts, self.n_queries)} queries"

    __repr__ = __str__

    def _printed(self) -> Table:
        table = super()._printed()
        rows = tuple((model, display_name(metric), *rest) for model, metric, *rest in table.rows)
        return replace(table, rows=rows)

    def _block(self, rows: Sequence[tuple[Any, ...]]) -> Table:
        """Block of a metric, with the interval in a single column, and names of models shortened to fit the line."""
        interval = level_in_words(self.confidence_level)
        names, numbers = [str(row[0]) for row in rows], [with_interval(*row[2:-1]) for row in rows]

        def table(width: int) -> Table:
            shortened = [shorten(name, width) for name in names]
            # Shortened names that would be equal get their number as a prefix.
            if len(set(shortened)) < len(names):
                shortened = [shorten(f"{i} {name}", width) for i, name in enumerate(names, start=1)]
            columns = ("system", "mean", interval, "difference", P_CORRECTED, "won", "lost")
            return Table(columns, tuple((name, *row) for name, row in zip(shortened, numbers, strict=True)))

        width_of_others = max(map(len, str(table(len("system"))).splitlines())) - len("system")
        return table(WIDTH - width_of_others)
