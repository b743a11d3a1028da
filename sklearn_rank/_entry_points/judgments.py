"""What judgments can measure: their size, the best and a random mean, the smallest margin of a gate, and flaws."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._data.look import collected_findings
from sklearn_rank._entry_points.runs import evaluate_run
from sklearn_rank._estimates.noninferiority import Aim, UnitSums, margin_of_equals, n_for_all
from sklearn_rank._evaluation.result import Evaluation
from sklearn_rank._metric.names import DEFAULT_METRICS
from sklearn_rank._metric.notation import display_name, labeled
from sklearn_rank._metric.spec import MetricsLike
from sklearn_rank._metric.value_bounds import bounds_of
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.table import Table, TableReport
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.io._entries import Entries
from sklearn_rank.io._forms import judged_entries
from sklearn_rank.io._mappings import JudgmentsLike, RunLike

MEASURED_COLUMNS = ("metric", "queries", "settled", "best", "random", "at best", "margin", "queries for half")
OF_ORDERS = "no order matters"
"""Check whose finding says nothing if only judged documents are ranked, because the others are not relevant."""
PRINTED_FLAWS, PRINTED_GRADES = 4, 6
"""Flaws and grades that are printed."""
FEW_QUERIES, MANY = 20, 0.9
"""Queries that a gate needs at least to be of use; share of queries that is called nearly all."""
LEAST_JUDGED = 0.5
"""Share of the first documents of a run that must be judged."""
MOVED, BY = 0.1, 0.5
"""Without runs: share of the queries that a change moves, and by how much of the range of the metric."""


class Measured(NamedTuple):
    """What the judgments can measure by a metric; None where it is not known."""

    n_queries: int
    settled: float
    best: float | None
    random: float | None
    at_best: float | None
    margin: float | None
    n_for_half: int | None


@dataclass(frozen=True, repr=False, eq=False)
class JudgmentsCheck(TableReport):
    table: Table
    n_queries: int
    n_judged: int
    grades: dict[float, int]
    n_relevant: dict[str, int]
    judged: dict[str, float]
    flaws: list[str]
    _assumed: str

    def _title(self) -> str:
        of_query = self.n_judged / self.n_queries
        common = sorted(self.grades.items(), key=lambda one: (-one[1], one[0]))[:PRINTED_GRADES]
        grades = ", ".join(f"{grade:g} ({n:,} times)" for grade, n in sorted(common))
        more = f" and {len(self.grades) - len(common)} more" if len(self.grades) > len(common) else ""
        size = f"{self.n_queries:,} queries, {self.n_judged:,} judged documents, {of_query:.3g} a query"
        return f"{size}; grades {grades}{more}"

    def _notes(self) -> list[str]:
        counts = ", ".join(f"{name} in {n:,}" for name, n in self.n_relevant.items())
        notes = [f"Relevant documents: {counts} queries."]
        notes += [
            f"{row[1]} queries can decide a margin of {row[6]:.2g} in {row[0].label}; for {row[6] / 2:.2g} you need "
            f"{row[7]:,}."
            for row in self.table.rows[:1] if row[6] is not None and row[7] is not None
        ]  # fmt: skip
        notes += ["An equally good system passes the margin in 8 of 10 gates.", self._assumed]
        if self.judged:
            shares = ", ".join(f"{name} {100 * share:.3g} %" for name, share in self.judged.items())
            names = [*self.judged]
            old, new = names[0], names[-1]
            explain = (
                f"sklearn-rank explain QRELS {new} --baseline {old} --to-judge 20; in Python, "
                f"compare_systems(judgments, runs).to_judge(20, {new=}, {old=})"
            )
            notes.append(f"Judged of the first documents: {shares}." + f" Judge next: {explain}" * (len(names) > 1))
        left = len(self.flaws) - PRINTED_FLAWS
        flaws = [f"Flaw: {flaw}" for flaw in self.flaws[:PRINTED_FLAWS]]
        return notes + (flaws or ["No flaw was found."]) + [f"{left} more flaws."] * (left > 0)

    def _tables(self) -> list[Table]:
        shown = [i for i in range(len(MEASURED_COLUMNS)) if any(row[i] is not None for row in self.table.rows)]
        return [
            Table(
                tuple(MEASURED_COLUMNS[i] for i in shown),
                tuple(tuple(row[i] for i in shown) for row in self.table.rows),
            )
        ]


@named_arguments
def check_judgments(
    judgments: JudgmentsLike, runs: Mapping[str, RunLike] | None = None, *, metrics: MetricsLike = DEFAULT_METRICS
) -> Any:
    """Say what judgments can measure: how small a change, by which metrics, and which flaws they have.

    Parameters
    ----------
    judgments : mapping, table, Entries or ranx.Qrels
        As in `evaluate_run`.
    runs : dict of str to run, default=None
        Runs by name, each as in `evaluate_run`. Two or more tell how much systems differ, one or more which queries are
        at their best already and which documents lack a judgment.
    metrics : metric or list of metrics, default=DEFAULT_METRICS

    Returns
    -------
    report
        It prints in fewer than 25 lines. ``report.table`` has a row for each metric: the number of queries whose value
        a ranking can change, the share of those that it cannot (settled), the mean of the best and of a random order of
        the judged documents, the share of queries that the best run has at its best, the smallest margin that an
        equally good system passes in 8 of 10 gates at alpha = 0.05, and the number of queries for half of it.
        ``report.flaws`` lists flaws, ``report.grades``, ``report.n_relevant`` and ``report.judged`` have the counts.

    Raises
    ------
    ValueError
        If no query has a value that a ranking can change, by any metric, or a run has another form.

    Notes
    -----
    The margin is simulated: queries are drawn from the differences of each two runs with random signs, or without two
    runs from a change that moves a tenth of the queries by half the range, half of them up.

    Examples
    --------
    >>> from sklearn_rank import check_judgments
    >>> judgments = {
    ...     f"q{i}": {f"d{i + j}": int(j % 8 == 0) for j in range(16)} for i in range(40)
    ... }
    >>> print(check_judgments(judgments, metrics="recall@5"))
    40 queries, 640 judged documents, 16 a query; grades 0 (560 times), 1 (80 times)
    Relevant documents: none in 0, one in 0, more than 5 in 0 queries.
    40 queries can decide a margin of 0.12 in Recall@5; for 0.061 you need 100.
    An equally good system passes the margin in 8 of 10 gates.
    Without two runs, the margin is for a change of a tenth of the queries by half the range.
    No flaw was found.
    metric     queries   settled     best   random   margin   queries for half
    Recall@5        40    0.0000   1.0000   0.3125   0.1216                100
    """
    judged = judged_entries(judgments)
    if not len(judged):
        raise ValueError("Judgments need two queries or more whose values a ranking can change. Got no judgment.")
    runs = {} if runs is None else dict(runs)
    with collected_findings() as of_labels:
        pool = evaluate_run(judged, replace(judged, value=np.zeros(len(judged)), _kind="run"), metrics=metrics)
    with collected_findings() as of_runs:
        results = {
            name: evaluate_run(
                judgments, run, metrics=metrics, missing_from_run="zero", missing_from_qrels="drop"
            )
            for name, run in runs.items()
        }  # fmt: skip
    measured = {name: _measured(name, pool, results) for name in pool.per_query}
    if not any(one.n_queries > 1 for one in measured.values()):
        raise ValueError(
            "Judgments need two queries or more whose values a ranking can change. Got "
            f"{max(one.n_queries for one in measured.values())} of {len(pool.qid)}: the value of a query is fixed "
            "if it has no relevant document, or only relevant ones."
        )
    depth = min((spec.depth for spec in pool._specs.values() if spec.k is not None), default=0)
    n_relevant = np.bincount(judged.qid.code, judged.value > 0, minlength=len(judged.qid.names))
    counts = {"none": n_relevant == 0, "one": n_relevant == 1, f"more than {depth}": n_relevant > depth}
    first = next(iter(pool.per_query))
    shares = {name: float(np.nanmean(one.judged[first])) for name, one in results.items() if first in one.judged}
    seen = [*(one for one in of_labels if one.check.name != OF_ORDERS), *of_runs]
    flaws = [*dict.fromkeys(one.message for one in seen)]
    flaws += _flaws(judged, pool, measured, shares, n_relevant)
    return JudgmentsCheck(
        Table(MEASURED_COLUMNS, tuple((labeled(name), *one) for name, one in measured.items())), len(judged.qid.names),
        len(judged),
        {float(grade): n for grade, n in sorted(Counter(judged.value.tolist()).items())},
        {name: int(one.sum()) for name, one in counts.items() if depth or "more" not in name}, shares, flaws,
        "The margin is for differences such as those between the runs." if len(results) > 1 else
        "Without two runs, the margin is for a change of a tenth of the queries by half the range.",
    )  # fmt: skip


def _measured(metric: str, pool: Evaluation, results: Mapping[str, Evaluation]) -> Measured:
    counts = ~pool.settled[metric] if metric in pool.settled else ~np.isnan(pool.per_query[metric])
    n, best, chance = int(counts.sum()), pool._references.best.get(metric), pool._references.chance.get(metric)
    low, high = bounds_of(metric, pool.meaning[metric])
    at_best, known = None, [_values(one, metric, pool)[counts] for one in results.values()]
    if best is not None and known and n:
        at_best = max(float(np.isclose(one, best.values()[counts, 0], rtol=1e-9).mean()) for one in known)
    margin, n_for_half = None, None
    if n > 1 and math.isfinite(high - low):
        pairs = [np.nan_to_num(a - b) for a, b in combinations(known, 2)]
        differences = pairs or [np.where(np.arange(1000) < 1000 * MOVED, BY * (high - low), 0.0)]
        margins = [margin_of_equals(one, n, high - low) for one in differences]
        at = int(np.argsort(margins)[len(margins) // 2])
        margin = min(margins[at], high - low)
        n_for_half = _n_for(differences[at], margin / 2, high - low)
    best_mean, random = (
        None if one is None or not n else float(one.values()[counts, 0].mean()) for one in (best, chance)
    )
    return Measured(n, 1 - n / len(pool.qid), best_mean, random, at_best, margin, n_for_half)


def _values(result: Evaluation, metric: str, pool: Evaluation) -> Array:
    known = dict(zip(result.qid.tolist(), result.per_query[metric].tolist(), strict=True))
    return np.array([known.get(query, math.nan) for query in pool.qid.tolist()])


def _n_for(differences: Array, margin: float, largest_loss: float) -> int | None:
    squares, n = float((differences**2).sum()), len(differences)
    found = n_for_all([Aim(UnitSums(n, n, n, 0.0, squares, 0.0), n, margin, largest_loss, 0.05)], 0.8)
    return None if math.isinf(found) else int(found)


def _flaws(
    judged: Entries, pool: Evaluation, measured: Mapping[str, Measured], shares: Mapping[str, float],
    n_relevant: Index,
) -> Iterator[str]:  # fmt: skip
    n, grades = len(judged.qid.names), {*judged.value.tolist()}
    most = max(one.n_queries for one in measured.values())
    if most < FEW_QUERIES:
        yield f"A ranking can change only {most} queries; below {FEW_QUERIES} a gate shows hardly anything."
    if (without := int((n_relevant == 0).sum())) >= 0.1 * n:
        yield (
            f"{without} of {n} queries have no relevant document, so they measure nothing, not even whether the right "
            "answer is none; replace_undefined_by='empty' counts an empty list as right."
        )
    if len(grades) == 1 and len(judged) >= 5 * n:
        yield f"All {len(judged)} judged documents have the grade {min(grades):g}: it may tell nothing apart."
    if len(grades) > 2 and min(grades) >= 1:
        yield f"Grades begin with {min(grades):g}, so all are relevant; if it means no, pass a higher min_relevance."
    for name, one in measured.items():
        highest = bounds_of(name, pool.meaning[name])[1]
        if "@" in name and one.best is not None and "recall" in name and one.best < MANY * highest:
            yield f"{display_name(name)} is at most {one.best:.2f}: queries have more relevant documents than k."
        is_moved = one.best is not None and one.random is not None and one.random < one.best - 1e-9
        if is_moved and one.at_best is not None and one.n_queries >= FEW_QUERIES and one.at_best >= MANY:
            yield (
                f"{display_name(name)} is saturated: a run is at its best in {100 * one.at_best:.0f} % of the queries. "
                "If the labels were made from that run, they cannot judge it."
            )
    yield from (
        f"Only {100 * share:.0f} % of the first documents of {name} are judged; the others count as not relevant."
        for name, share in shares.items() if share < LEAST_JUDGED
    )  # fmt: skip
    yield from _flaws_of_ids(judged)


def _flaws_of_ids(judged: Entries) -> Iterator[str]:
    """Queries that are asked twice or are documents themselves, and documents in two spellings."""
    documents, names, code = np.asarray(judged.doc_id).tolist(), judged.qid.names.tolist(), judged.qid.code.tolist()
    lists: dict[int, list[tuple[str, float]]] = {}
    own = set()
    for query, document, grade in zip(code, documents, judged.value.tolist(), strict=True):
        lists.setdefault(query, []).append((str(document), grade))
        if grade > 0 and document == names[query]:
            own.add(query)
    if len(own) >= max(2, len(names) / 2):
        yield f"{len(own)} of {len(names)} queries are relevant documents of themselves, so copying the query is right."
    alike = Counter(tuple(sorted(one)) for one in lists.values() if len(one) > 1)
    if (again := sum(k - 1 for k in alike.values())) > max(1, 0.05 * len(names)):
        yield f"{again} queries have the documents and grades of another one; repeated queries are no further ones."
    spelled: dict[str, set[str]] = {}
    for document in {*map(str, documents)}:
        spelled.setdefault(document.strip().casefold().lstrip("0"), set()).add(document)
    if len(twice := [sorted(one) for one in spelled.values() if len(one) > 1]) > 1:
        yield f"{len(twice)} documents have two spellings, such as {echo(twice[0][0])} and {echo(twice[0][1])}."
