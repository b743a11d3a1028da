"""What the page of one result says, and the lists of documents of one system or two."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from sklearn_rank._evaluation.explanation import Explanation, Source, documents_to_judge, explanations_of
from sklearn_rank._metric.notation import display_name
from sklearn_rank._report.content import (
    Attribute,
    Content,
    Difference,
    Document,
    ListsOfQuery,
    Mean,
    Means,
    Options,
    Reasons,
    Segment,
    SegmentsOfPage,
    made_of,
)
from sklearn_rank._tell.text import Parts, listed, number, p_in_words, sign_of, without_last_zeros
from sklearn_rank._utils.constraints import is_key
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array

MOST_DOCUMENTS = 100
"""Documents of a query that are kept: the largest contributions, then the first ranks."""

N_REASONS = 3

N_TO_JUDGE = 10
LEVEL = 0.95


# --- one result ----------------------------------------------------------------------------------------------


def content_of(result: Any, options: Options) -> Content:
    """What the page of one `Evaluation` says."""
    metrics = [*result.meaning]
    name, first = options.title or "result", metrics[0]
    table = result.summary(LEVEL)
    summary = [dict(zip(table.columns, row, strict=True)) for row in table.rows]
    means = [
        Means(display_name(metric), result.greater_is_better[metric],
              [Mean(name, row["mean"], row["low"], row["high"], None, False)])
        for metric, row in zip(metrics, summary, strict=True)
    ]  # fmt: skip
    heading: Parts = [("", f"{display_name(first)} {number(result[first])}")]
    if options.title:
        heading = [("name", options.title), ("", ": "), *heading]
    low, high = summary[0]["low"], summary[0]["high"]
    lead: list[Parts] = []
    if low is not None:
        lead.append([("", f"The mean over {len(result.qid):,} queries, {100 * LEVEL:g} % interval "
                          f"{number(low)} to {number(high)}.")])  # fmt: skip
    judged = [share for share in (result.judged.get(first),) if share is not None]
    content = Content(
        kind="Evaluation of a ranking", heading=heading, lead=lead, facts=facts_of(result, 1, metrics, judged),
        notes=[*result._notes(), *filter(None, [table.note])], choices=result._footer(), means=means,
        level=f"{100 * LEVEL:g} %", systems=[name], baseline=None, shown=0, metrics=[*map(display_name, metrics)],
        greater_is_better=[result.greater_is_better[metric] for metric in metrics],
        ids=result.qid.tolist(), values={(0, i): result.per_query[m] for i, m in enumerate(metrics)},
        attributes=query_attributes(result), segments=[_segments(result, by, first) for by in result.attributes],
        made=made_of([(display_name(m), text) for m, text in result.meaning.items()], result, options.code),
        text=options.text, query_text=options.query_text,
    )  # fmt: skip
    add_lists(content, result, {0: result}, None, first, options)
    return content


def _segments(result: Any, by: str, metric: str) -> SegmentsOfPage:
    try:
        found = result.segments(by, metric=metric)
    except ValueError as error:
        return SegmentsOfPage(by, str(error), [])
    p = found.pvalue[metric]
    differ = answer(p)
    rows = [Segment("", str(row[0]), row[2], Difference(*row[3:6])) for row in found.table.rows]
    return SegmentsOfPage(by, f"Do the means of segments differ? {differ.capitalize()}. {display_name(metric)}.", rows)


def answer(p: float) -> str:
    """Whether segments differ, by the p-value of their test."""
    return "not tested" if math.isnan(p) else f"{'yes' if p < 1 - LEVEL else 'not shown'} ({p_in_words(p)})"


# --- what pages of one system and of several have in common --------------------------------------------------


def facts_of(
    result: Any, n_systems: int, metrics: Sequence[str], judged: Sequence[Array]
) -> list[tuple[str, str]]:  # fmt: skip
    """Counts of queries, systems and metrics, and the share of documents that is judged."""
    facts = [(f"{n:,}", name if n == 1 else more) for n, name, more in (
        (len(result.qid), "query", "queries"), (n_systems, "system", "systems"), (len(metrics), "metric", "metrics"),
    )]  # fmt: skip
    known = [float(np.nanmean(share)) for share in judged if not np.isnan(share).all()]
    if known:
        facts.append((f"{100 * sum(known) / len(known):.3g} %", "of the documents that count are judged"))
    return facts


def query_attributes(result: Any) -> list[Attribute]:
    """Attributes of the queries."""
    made = []
    for name, values in result.attributes.items():
        is_number = all(isinstance(value, (int, float)) for value in values.tolist())
        codes = {value: i for i, value in enumerate(sorted({*values.tolist()}, key=None if is_number else str))}
        of_query = np.array([codes[value] for value in values.tolist()], np.int64)
        made.append(Attribute(name, [*codes], of_query))
    return made


def add_lists_against(content: Content, result: Any, old: Any, metric: str, options: Options) -> None:
    """Add the lists of a result against an old one to a page of the same queries, or some of them."""
    if not np.array_equal(result.qid, old.qid):
        content.why_no_lists = "There are no lists of documents: the results have their queries in another order."
        return
    at = {query: i for i, query in enumerate(old.qid.tolist())}
    add_lists(content, old, {1: result}, at, metric, options)


def add_lists(
    content: Content, old: Any, new: Mapping[int, Any], at: Mapping[Any, int] | None, metric: str, options: Options
) -> None:
    """Add lists of documents of some queries, of each of the systems `new` against the old one, and what to judge."""
    # `at` has the numbers of queries in results that have others; None: the same as on the page.
    asked = _numbers(content, options.lists)
    if options.lists in (0, []):
        content.why_no_lists = "Lists of documents were not asked for."
        return
    if not all(result._kept_data.keeps_documents for result in (old, *new.values())):
        content.why_no_lists = (
            "There are no lists of documents: results that were loaded, or made of values, batches or subsets, do not "
            "keep them."
        )
        return
    alone, names = content.baseline is None, {display_name(one): one for one in old.meaning}
    specs = {j: old._specs.get(names.get(one)) for j, one in enumerate(content.metrics)}
    specs = {j: spec for j, spec in specs.items() if spec is not None and not spec.metric.subtopics}
    others = [one for j, one in enumerate(content.metrics) if j not in specs]
    unexplained = f"{listed(others)} {'is' if len(others) == 1 else 'are'} not explained by documents."
    if not specs:
        content.why_no_lists = f"There are no lists of documents: {unexplained}"
        return
    for (system, result), (j, spec) in product(new.items(), specs.items()):
        one = names[content.metrics[j]]
        source = Source((content.systems[content.baseline or 0], content.systems[system]), (old, result), spec, one)
        is_undefined = np.isnan(old.per_query[one] + result.per_query[one])
        numbers = [(i, i if at is None else at[content.ids[i]]) for i in asked]
        numbers = [(i, of_result) for i, of_result in numbers if not is_undefined[of_result]]
        explanations = explanations_of(source, [of_result for _, of_result in numbers]) if numbers else []
        for (query, _), found in zip(numbers, explanations, strict=True):
            if (query, system) not in content.lists:
                content.lists[query, system] = _lists_of(found, alone=alone)
            documents, _, reasons = content.lists[query, system]
            reasons[j] = _reasons(found, documents, spec, alone=alone)
        if system == content.shown and one == metric and not alone and old.average[metric] == "macro" and numbers:
            table = documents_to_judge(source, N_TO_JUDGE)
            content.to_judge = tuple(map(str, table.columns)), [*table.rows]
    if len(asked) < len(content.ids):
        worst = "lowest" if content.greater_is_better[content.metric] else "highest"
        which = "are named by lists=" if isinstance(options.lists, list) else (
            f"{f'have the {worst} values' if alone else 'gain or lose most'} in {content.metrics[content.metric]}"
        )  # fmt: skip
        content.why_no_lists = (
            f"Open a query to see its documents; the file has lists of {len(asked)} queries that {which}."
        )
    if others:
        content.why_no_lists = f"{content.why_no_lists} {unexplained}".strip()
    _check_texts(content)


def _check_texts(content: Content) -> None:
    documents = {one.id for found in content.lists.values() for one in found.documents}
    for name, text, ids in (("text", content.text, documents), ("query_text", content.query_text, content.ids)):
        if text is not None and ids and all(text(one) is None for one in ids):
            raise ValueError(
                f"{name} must have texts by ids like {echo(next(iter(ids)))}. Got none for {len(ids)} ids."
            )


def _numbers(content: Content, lists: int | list[Any]) -> list[int]:
    """Queries whose lists are kept: from both ends of the gains in turn, or the named ones."""
    gain = content.gain(content.shown, content.metric)
    if isinstance(lists, list):
        at = {query: i for i, query in enumerate(content.ids)}
        if unknown := [query for query in lists if not is_key(query, at)]:
            raise ValueError(f"lists must name queries such as {echo(content.ids[0])}. Got {echo(unknown[0])}.")
        return [*dict.fromkeys(at[query] for query in lists)]
    order = [i for i in np.argsort(gain, kind="stable").tolist() if not math.isnan(gain[i])]
    if content.baseline is None:
        return order[:lists]
    in_turn = [i for pair in zip(order, reversed(order), strict=True) for i in pair]
    return [*dict.fromkeys(in_turn)][:lists]


def _lists_of(found: Explanation, *, alone: bool) -> ListsOfQuery:
    old, new = found.ranks
    first = np.where(np.isnan(np.fmin(old, new)), np.inf, np.fmin(old, new))
    listed_ones = np.isfinite(first) & (~np.isnan(new) if alone else True)
    kept = np.lexsort((first, -np.abs(found.contribution)))[:MOST_DOCUMENTS]
    rows = sorted((i for i in kept.tolist() if listed_ones[i]), key=lambda i: (first[i], i))
    documents = [
        Document(found.documents[i], _or_none(found.label[i]), None if alone else _or_none(old[i]), _or_none(new[i]))
        for i in rows
    ]
    return ListsOfQuery(documents, int(listed_ones.sum()), {})


def _reasons(found: Explanation, documents: Sequence[Document], spec: Any, *, alone: bool) -> Reasons:
    old, new = found.ranks
    relevant = found.label >= max(spec["min_relevance"], 5e-324)
    why = _relevant_ranks(new[relevant]) if alone else _why(found)
    known = dict(zip(found.documents.tolist(), found.contribution.tolist(), strict=True))
    n_neither = int((relevant & np.isnan(np.fmin(old, new))).sum())
    depth = 0 if spec.k is None else spec.depth
    return Reasons(why, [known.get(one.id, 0.0) for one in documents], n_neither, found.is_sum, depth)


def _or_none(x: float) -> float | None:
    return None if math.isnan(x) else float(x)


def _relevant_ranks(ranks: Array) -> Parts:
    known, n = sorted(ranks[~np.isnan(ranks)].tolist()), len(ranks)
    missing = n - len(known)
    if not n:
        return [("", "No document of this query is relevant.")]
    where = (
        f"at rank{'s' * (len(known) > 1)} {listed([*map(without_last_zeros, known[:10])])}" if known else "in no list"
    )
    more = f" and {len(known) - 10} below" if len(known) > 10 else ""
    gone = f"; {missing} {'was' if missing == 1 else 'were'} not retrieved" if missing and known else ""
    return [("", f"{n} relevant document{'s' * (n > 1)}: {where}{more}{gone}.")]


def _why(found: Explanation) -> Parts:
    sign = 1.0 if found.difference > 0 else -1.0
    order = np.argsort(-sign * found.contribution, kind="stable")[:N_REASONS]
    reasons = [i for i in order.tolist() if sign * found.contribution[i] > 0]
    better = sign if found.greater_is_better else -sign
    total = number(found.difference, signed=True)
    if not found.difference or not reasons:
        text = "Both lists have the same value." if not found.difference else "No document alone makes the difference."
        return [("", text)]
    parts: Parts = [("", "Most of " if found.is_sum else "Largest effects on "), (sign_of(better), total), ("", ": ")]
    for i in reasons:
        grade = found.label[i]
        known = "not judged" if math.isnan(grade) else f"grade {without_last_zeros(float(grade))}"
        old, new = (_or_none(rank) for rank in found.ranks[:, i])
        parts += [("name", str(found.documents[i])), ("", f" ({known}) {_moved(old, new)}, ")]
        parts += [(sign_of(better), number(found.contribution[i], signed=True)), ("", "; ")]
    return [*parts[:-1], ("", ".")]


def _moved(old: float | None, new: float | None) -> str:
    before, after = ("" if rank is None else without_last_zeros(rank) for rank in (old, new))
    if old is None or new is None:
        return (
            f"is gone from {before}" if new is None and before else f"is new at {after}" if after else "is in no list"
        )
    return f"stayed at {after}" if old == new else f"{'rose' if new < old else 'fell'} from {before} to {after}"
