"""Content of the page of a comparison."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from sklearn_rank._comparison.verdict import outcomes_of, said_by, said_by_other_metrics
from sklearn_rank._evaluation.page import add_lists, answer, content_of, facts_of, query_attributes
from sklearn_rank._metric.notation import display_name
from sklearn_rank._report.content import (
    Content,
    Difference,
    Mean,
    Means,
    Options,
    Segment,
    SegmentsOfPage,
    instead_of,
    made_of,
)
from sklearn_rank._tell.paper_table import CORRECTION_NAMES, TEST_NAMES
from sklearn_rank._tell.text import Parts, between, listed, number, p_in_words, plain
from sklearn_rank._tell.verdict import SHOWN_BELOW, SystemOutcome

if TYPE_CHECKING:
    from sklearn_rank._tell.pairs import PairRow

DOTS = (
    "Dots are differences from the baseline, lines their intervals; right is better. Filled: the corrected p-value is "
    "below 0.05."
)

OF_COMMON = "Differences are means over the queries where both systems have a value."


def content_of_comparison(comparison: Any, options: Options) -> Content:
    """Content of the page of a `Comparison`."""
    if len(comparison.results) == 1:
        (name,) = comparison.results
        return content_of(comparison.results[name], options._replace(title=options.title or name))
    first = comparison.results.get(comparison.baseline) or next(iter(comparison.results.values()))
    systems, metrics, up = [*comparison.results], [*first.meaning], first.greater_is_better
    means = {system: result[metrics[0]] for system, result in comparison.results.items()}
    has_baseline = comparison.baseline in systems
    baseline = systems.index(comparison.baseline) if has_baseline else 0
    others = [i for i in range(len(systems)) if i != baseline]
    sign = 1 if up[metrics[0]] else -1
    shown = max(others, key=lambda i: (_ordered(sign * means[systems[i]]), -i))
    several = len(others) > 1
    facts = facts_of(first, len(systems), metrics, [r.judged[metrics[0]] for r in comparison.results.values()
                                                    if metrics[0] in r.judged])  # fmt: skip
    if comparison._tests_of:
        corrected = (
            f"corrected by {CORRECTION_NAMES[comparison.correction]}" if several and comparison.correction else ""
        )
        facts.append((TEST_NAMES[comparison.test], corrected))
    of_systems = enumerate(comparison.results.values())
    values = {(i, j): result.per_query[m] for i, result in of_systems for j, m in enumerate(metrics)}
    summary = comparison.summary(full=True)
    is_common = not any(np.isnan(one).any() for one in values.values())
    content = Content(
        kind="Comparison of rankers", heading=said_by(comparison, metrics[0]).sentence,
        lead=_lead(comparison, metrics[0], means, systems[baseline], systems[shown]), facts=facts,
        notes=[*_notes(comparison), *filter(None, [summary.note])], choices=comparison._footer(),
        means=_means(comparison, summary), level="95 %",
        dots=DOTS if is_common else f"{DOTS} {OF_COMMON}", systems=systems,
        baseline=baseline,
        shown=shown, metrics=[*map(display_name, metrics)], greater_is_better=[up[metric] for metric in metrics],
        ids=first.qid.tolist(), values=values,
        attributes=query_attributes(first), text=options.text, query_text=options.query_text,
        made=made_of([(display_name(m), text) for m, text in first.meaning.items()], first, options.code),
    )  # fmt: skip
    if metrics[0] in comparison._tests_of:
        content.segments = [_segments(comparison, by, several=several) for by in first.attributes]
    add_lists(
        content, comparison.results[systems[baseline]], {i: comparison.results[systems[i]] for i in others}, None,
        metrics[0], options,
    )  # fmt: skip
    return content


def _ordered(x: float) -> float:
    return -math.inf if math.isnan(x) else x


def _lead(comparison: Any, metric: str, means: dict[str, float], old: str, new: str) -> list[Parts]:
    test, name = comparison._tests_of.get(metric), display_name(metric)
    if test is None and all(map(math.isnan, means.values())):
        return [[("", f"{name} is undefined for every query.")], *_others(comparison)]
    if test is None:
        said = [part for s, mean in means.items() for part in (("name", s), ("", f" {number(mean)}; "))]
        return [[*said[:-1], ("", f" {number([*means.values()][-1])} in {name}.")]]
    outcomes = outcomes_of(test)
    row = next(row for row in test._pair_rows if row.a == new)
    if math.isnan(row.difference):
        return _others(comparison)
    known = [f"95 % interval {between(*row.ends, signed=True)}"] if row.ends[0] is not None else []
    known += filter(None, [p_in_words(row.corrected_pvalue)])
    lead = instead_of(name, row.mean_b, row.mean_a, difference_of(row), outcomes[new].gain, ", ".join(known))
    values = comparison.results[old].per_query[metric] + comparison.results[new].per_query[metric]
    if (n := int((~np.isnan(values)).sum())) < len(values):
        lead.append(("", f" Both means are of the {n:,} queries where both systems have a value."))
    if len(means) > 2:
        lead = [("name", new), ("", ": "), *lead, ("", " "), *_against(old, outcomes)]
    return [lead, *_others(comparison)]


def _against(baseline: str, outcomes: dict[str, SystemOutcome]) -> Parts:
    """How many systems are better than the baseline, not shown to differ, and worse."""
    words = (("better", "better"), ("", "not shown to differ"), ("worse", "worse"))
    counts = [(sum(found.word == word for found in outcomes.values()), text) for word, text in words]
    said = listed([f"{n} {'is' if n == 1 else 'are'} {text}" for n, text in counts if n])
    return [("", f"Of {len(outcomes)} systems against "), ("name", baseline), ("", f", {said}.")]


def _others(comparison: Any) -> list[Parts]:
    said = [sentence for sentences in said_by_other_metrics(comparison) for sentence in sentences]
    line = [part for i, sentence in enumerate(said) for part in (*([("", " ")] if i else []), *sentence)]
    return [line] if line else []


def _notes(comparison: Any) -> list[str]:
    """Notes without the sentences on other metrics, which are above."""
    above = {plain(said) for sentences in said_by_other_metrics(comparison) for said in sentences}
    return [note for note in comparison._notes() if note not in above]


def _means(comparison: Any, summary: Any) -> list[Means]:
    """The means by metric, with the interval of each difference."""
    rows = [dict(zip(summary.columns, one, strict=True)) for one in summary.rows]
    made, up = [], next(iter(comparison.results.values())).greater_is_better
    for metric in up:
        of_test = comparison._tests_of.get(metric)
        best = [] if of_test is None else comparison._candidates[metric].names
        against = {} if of_test is None else {row.a: difference_of(row) for row in of_test._pair_rows}
        made.append(Means(display_name(metric), up[metric], [
            Mean(row["model"], row["mean"], row["low"], row["high"], against.get(row["model"]), row["model"] in best)
            for row in rows if row["metric"] == metric and row["model"] in comparison.results
        ]))  # fmt: skip
    return made


def difference_of(row: PairRow) -> Difference:
    """Numbers of a pair for the page."""
    p = row.corrected_pvalue
    shown = not math.isnan(p) and p < SHOWN_BELOW
    difference = None if math.isnan(row.difference) else row.difference
    return Difference(difference, *row.ends, None if math.isnan(p) else p, row.won, row.tied, row.lost, shown)


def _segments(comparison: Any, by: str, *, several: bool) -> SegmentsOfPage:
    try:
        found = comparison.segments(by)
    except ValueError as error:
        return SegmentsOfPage(by, str(error), [])
    answers = []
    for (system, _), p in found.interaction.items():
        answers.append(f"{system}: {answer(p)}" if several else answer(p).capitalize())
    rows = sorted(found._pair_rows, key=lambda row: [*comparison.results].index(row.a))
    made = [Segment(row.a, str(row.segment[0]), _count(row.n_units), difference_of(row)) for row in rows]
    metric = display_name(found.metric or "")
    return SegmentsOfPage(by, f"Do the differences vary between segments? {'; '.join(answers)}. {metric}.", made)


def _count(n: int | tuple[int, int]) -> int:
    return n if isinstance(n, int) else sum(n)
