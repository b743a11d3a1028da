"""Notes under titles and tables: how far intervals hold, queries left out, runs, judged documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from sklearn_rank._data.judged import shares_of_judges
from sklearn_rank._estimates.runs import RunMeans, sd_of
from sklearn_rank._estimates.samples import NOT_SEEN, SKEWED
from sklearn_rank._metric.choices import QueryCounts, orders_of_ties, without_value
from sklearn_rank._metric.notation import display_name
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.table import WIDTH, cell, shorten

if TYPE_CHECKING:
    from sklearn_rank._estimates.judged import JudgedValues

MOST_NAMED = 6
"""Largest number of names in a note."""


def note_of_intervals(notes: Iterable[tuple[str, str]]) -> str:
    """Sentences under the intervals of metrics, given a name for each metric with the note of an interval."""
    named: dict[str, dict[str, None]] = {SKEWED: {}, NOT_SEEN: {}, "": {}}
    for metric, note in notes:
        named[note][metric] = None
    sentences = ((skew_note, named[SKEWED]), (unseen_note, named[NOT_SEEN]))
    return " ".join(sentence([*names]) for sentence, names in sentences if names)


def notes_by_system(notes: Mapping[str, Mapping[str, str]]) -> Iterator[tuple[str, str]]:
    """Notes of intervals by metric and system for `note_of_intervals`, which name systems unless all have the note."""
    for metric, of_systems in notes.items():
        for note in dict.fromkeys(of_systems.values()):
            which = [system for system, one in of_systems.items() if one == note]
            yield display_name(metric) + f" ({', '.join(which)})" * (len(which) < len(of_systems)), note


def best_remark(metric: str, n_best: int, n_queries: int, mean: float | None) -> str:
    """That a metric cannot be better: it has its best value, or `mean` is the best that an order can have."""
    if mean is None:
        return f"{display_name(metric)} is at its best in {n_best:,} of {n_queries:,} queries"
    return f"the best possible mean of {display_name(metric)} is {cell(mean)}"


def skew_note(which: Sequence[str] = ()) -> str:
    """Note on intervals that may not keep their level; ``docs/decide/measured.md`` has figures."""
    whose = f"intervals of {_named(which)}" if which else "interval"
    return f"The {whose} may be too narrow: few queries, skewed values."


def unseen_note(which: Sequence[str]) -> str:
    """Note on intervals with a query at each bound."""
    intervals = "The interval of {} allows" if len(which) == 1 else "The intervals of {} allow"
    return f"{intervals.format(_named(which))} for values not seen."


def _named(which: Sequence[str]) -> str:
    """The first names, and the number of others."""
    return ", ".join([*which[:MOST_NAMED], *([f"{len(which) - MOST_NAMED} others"] if len(which) > MOST_NAMED else [])])


def without_settled(
    means: Mapping[str, float], counts: QueryCounts, meaning: str, metric: str, pair: tuple[str, str] | None
) -> tuple[str, str]:
    """Queries whose judgments fix the value, and the means, and the difference of the only pair, without them."""
    n = counts.n_settled or 0
    which = f"the {n:,} queries that have" if n > 1 else "the query that has"
    shown = ", ".join(f"{name} {cell(mean)}" for name, mean in means.items())
    if pair is not None:
        shown += f", {pair[0]} - {pair[1]} {cell(means[pair[0]] - means[pair[1]])}"
    return f"{which} {without_value(meaning)}", f"{metric}: {shown}"


def notes_without_settled(found: Iterable[tuple[str, str] | None]) -> list[str]:
    """Sentences of `without_settled` of several metrics: one for all metrics with the same queries."""
    by_queries: dict[str, list[str]] = {}
    for queries, means in filter(None, found):
        by_queries.setdefault(queries, []).append(means)
    return [f"Without {queries}, {'; '.join(means)}." for queries, means in by_queries.items()]


def note_on_lengths(means: Mapping[str, float]) -> str:
    """Note on systems with other numbers of documents per query, by the mean of each."""
    of = " and ".join(f"{mean:.4g} in {echo(name)}" for name, mean in means.items())
    return f"Documents per query: {of}. Other candidates or depths change a metric, too."


def constant_note(pairs: Sequence[str] = (), unit: str = "query") -> str:
    """Note on a difference that is the same for every query, of one comparison or of some pairs."""
    of = f" of {', '.join(pairs)}" if pairs else ""
    return f"The difference{of} is the same for every {unit}: it has no interval, and p counts signs."


def failure_notes(failures: Mapping[str, Mapping[int, str]], n_folds: int) -> Iterator[str]:
    """The number of failed folds of each system, and the first error."""
    for system, errors in failures.items():
        fold, error = next(iter(errors.items()))
        text = shorten(error, 2 * WIDTH)
        yield f"{system} failed in {len(errors)} of {n_folds} folds; in fold {fold}: {text}"


def untested_notes(reasons: Mapping[str, str]) -> Iterator[str]:
    """The metrics without a test, by reason."""
    for reason in dict.fromkeys(reasons.values()):
        yield f"No test of {', '.join(display_name(m) for m, why in reasons.items() if why == reason)}: {reason}."


def shared_remarks(remarks: Mapping[str, Sequence[str]]) -> list[str]:
    """Remarks on all systems, and remarks on some with the name of the system."""
    first = next(iter(remarks.values()))
    of_all = [one for one in first if all(one in of_system for of_system in remarks.values())]
    said = {*of_all, *orders_of_ties(first)}
    return of_all + [f"{name}: {one}" for name, of_system in remarks.items() for one in of_system if one not in said]


def frozen_remark(systems: Sequence[str]) -> str:
    """The systems that were not fitted; "" without any."""
    return f"frozen, not fitted in the folds: {', '.join(systems)}" if systems else ""


def between_runs(
    run_means: Mapping[str, RunMeans], systems: Iterable[str] = (), *, allowed: bool = True, has_values: bool = True
) -> str:  # fmt: skip
    """Standard deviation of the means of the runs, by metric and system; "" where no system has several runs.

    `systems`: all systems, also those with one run. `allowed`: intervals allow for the variance between runs.
    `has_values`: the values of each run are known.

    Examples
    --------
    >>> between_runs(  # doctest: +NORMALIZE_WHITESPACE
    ...     {"ndcg@10": {"A": [0.5, 0.52], "B": []}, "map": {"A": [0.3, 0.3], "B": []}}
    ... )
    'Between runs by nDCG@10: A sd 0.014 (2 runs); by MAP: A sd 0 (2 runs), allowed for. Two
    runs estimate a variance badly. B has one run: its variance is assumed to be equal.'
    >>> between_runs({"map": {"": [0.5, 0.51, 0.53]}})
    'Between runs: sd 0.015 (3 runs), allowed for.'
    """
    clauses = {}
    for metric, by_system in run_means.items():
        sds = {
            system: f"sd {sd_of(means):.2g} ({len(means)} runs)"
            for system, means in by_system.items()
            if len(means) > 1
        }
        if sds:
            clauses[display_name(metric)] = ", ".join(f"{system} {sd}".strip() for system, sd in sds.items())
    if not clauses:
        return ""
    listed = "; ".join(f"by {name}: {text}" for name, text in clauses.items())
    head = f"Between runs: {next(iter(clauses.values()))}" if len(run_means) == 1 else f"Between runs {listed}"
    if not allowed:
        return f"{head}."
    n_runs = dict.fromkeys(systems, 1)
    n_runs |= {system: len(means) for of in run_means.values() for system, means in of.items()}
    alone = [system for system, k in n_runs.items() if k < 2]
    sentences = [f"{head}, allowed for."]
    sentences += ["Two runs estimate a variance badly."] * (2 in n_runs.values())
    if alone:
        has, its = ("has", "its") if len(alone) == 1 else ("have", "their")
        sentences.append(f"{', '.join(alone)} {has} one run: {its} variance is assumed to be equal.")
    sentences += ["The values of each run were not saved, so the variance may be too large."] * (not has_values)
    return " ".join(sentences)


FEW_HUMAN = 20
"""Number of queries judged by people below which a note says that they are few."""


def notes_on_judges(values: Mapping[str, JudgedValues], *, has_runs: bool) -> tuple[str, ...]:
    """Notes on several runs, few queries, unequal judging, equal residuals and undefined queries."""
    notes = ["Intervals do not allow for the variance between runs."] * has_runs
    if (n := min(len(one.human) for one in values.values())) < FEW_HUMAN:
        notes.append(f"{n} queries judged by people are few: with fewer than {FEW_HUMAN} intervals may be too short.")
    for metric, one in values.items():
        name = display_name(metric)
        if one.people_judged_less:
            notes.append(f"The bias includes unequal judging: {shares_of_judges(one.shares, metric)}.")
        if one.residuals_are_equal:
            notes.append(
                f"The model is right, or wrong by the same, in {name} on all queries of people: the interval may be "
                "too short, or there is none."
            )
        notes += filter(None, [note_of_intervals([(name, one.note)])])
        if one.n_left_out:
            are = "query of people is" if one.n_left_out == 1 else "queries of people are"
            notes.append(f"{one.n_left_out} {are} left out of {name}: it is undefined by one judge.")
    return tuple(notes)
