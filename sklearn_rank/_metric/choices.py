"""One line that says which choices are behind numbers: gain, discount, ties, and queries without a value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from sklearn_rank._metric.metric import NO_RELEVANT, REGISTRY, Metric
from sklearn_rank._metric.notation import display_name

GAIN_WORDS = {"exp2": "gain 2^grade - 1", "linear": "gain grade", "binary": "gain 1 if relevant"}
STOP_WORDS = {"exp2": "stops with (2^grade - 1) / 2^{max_grade}", "label": "stops with the grade"}
DISCOUNT_WORDS = {
    "log2": "log2",
    "jarvelin": "log base {base} from rank {base} on",
    "reciprocal": "1 / rank",
    "flat": "",
}
TIE_WORDS = {"average": "averaged", "stable": "in the given order", "worst": "worst first", "best": "best first"}
MAX_SHOWN_VALUE = 40
"""Characters of a gain or discount of the user's that are shown."""

IN_EACH_MEANING = {"unjudged", "replace_undefined_by", "average"}
"""Keywords that each metric has."""

ABOVE_ZERO = "no label above 0"
WITHOUT_RELEVANT = frozenset({NO_RELEVANT, "an ideal DCG of zero", "an ideal ERR of zero", ABOVE_ZERO})
"""What metrics declare that are undefined for queries without relevant documents; others are "queries with ..."."""


class QueryCounts(NamedTuple):
    """Queries behind a mean, those without a value, and those whose judgments alone fix the value, if known.

    `counts_as` is what the latter count as, NaN if they are left out; None: as the metric says. `ties` is the order of
    documents of equal score, if it is another than the given one.
    """

    n_queries: int
    n_undefined: int
    n_settled: int | None
    counts_as: float | None = None
    ties: str = ""


NO_COUNTS: Mapping[str, QueryCounts] = {}


def choices_in_words(meanings: Mapping[str, str], counts: Mapping[str, QueryCounts] = NO_COUNTS) -> str:
    """Choices behind metrics, by the names and meanings that results have; "" if they are not known.

    Queries that are undefined, or have no relevant document, are counted where there are any and `counts` has them.

    Examples
    --------
    >>> from sklearn_rank import parse_metric
    >>> choices_in_words({"ndcg@10": parse_metric("ndcg@10").meaning})
    'nDCG: gain 2^grade - 1, log2; ties averaged; queries without relevant documents score 0'
    >>> choices_in_words(
    ...     {"p@5": parse_metric("p@5").meaning}, {"p@5": QueryCounts(1000, 0, 900)}
    ... )
    'ties averaged; 900 of 1,000 queries have no relevant document and score 0'
    """
    scales, ties, undefined = dict[str, list[str]](), dict[str, list[str]](), dict[str, dict[str, list[str]]]()
    covered = set[str]()
    order = next((one.ties for one in counts.values() if one.ties), TIE_WORDS["stable"])
    words_of_ties = TIE_WORDS | {"stable": order}
    for name, meaning in meanings.items():
        shown, (function_name, keywords) = re.sub(r"@[\d,]+$", "", display_name(name)), parsed_meaning(meaning)
        if scale := _scale(keywords):
            scales.setdefault(scale, []).append(shown)
        if policy := words_of_ties.get(keywords.get("ties", "")):
            ties.setdefault(policy, []).append(shown)
        if queries := _queries_without(function_name, keywords, counts.get(name)):
            undefined.setdefault(queries[0], {}).setdefault(queries[1], []).append(shown)
            covered.add(name)
    of_others = [name for name in meanings if name not in covered]
    clauses = [f"{_listed(names)}: {scale}" for scale, names in scales.items()]
    clauses += [f"ties {_for_each(ties)}"] * bool(ties)
    # Counts of several kinds of queries each name their metrics.
    differ = len(undefined) > 1 and any(queries[0].isdigit() for queries in undefined)
    # What is not 0 or left out in some metrics is not said of the others.
    differ |= bool(of_others) and any(not re.fullmatch("scores? 0", one) for of in undefined.values() for one in of)
    clauses += [f"{queries} {_for_each(outcomes, name_all=differ)}" for queries, outcomes in undefined.items()]
    return "; ".join(clauses)


def closing_line(meanings: Mapping[str, str], counts: Mapping[str, QueryCounts], remarks: Iterable[str]) -> str:
    """Choices and remarks; the choices have the order of ties."""
    others = (remark for remark in remarks if not orders_of_ties([remark]))
    return "; ".join(filter(None, [choices_in_words(meanings, counts), *others]))


def orders_of_ties(remarks: Iterable[str]) -> list[str]:
    """Remarks that say in which order documents of equal score were read."""
    return [remark for remark in remarks if remark.startswith("ties ")]


def parsed_meaning(meaning: str) -> tuple[str, dict[str, str]]:
    """Name of the function and keywords in a text of `MetricSpec.meaning`; no keywords for other texts."""
    head, opened, rest = meaning.rpartition("(k=")
    if not opened:
        return "", {}
    keywords, depth, begin = [], 0, 0
    text = f"k={rest}"
    for i, character in enumerate(text):
        depth += (character in "([{") - (character in ")]}")
        if depth < 0 or (depth == 0 and text.startswith(", ", i)):
            keywords.append(text[begin:i].split("=", 1))
            begin = i + 2
        if depth < 0:
            break
    found = {name: value for name, value in filter(lambda pair: len(pair) == 2, keywords)}
    # A text that the user gave to Evaluation.from_values may look similar.
    return (head.rpartition(".")[2], found) if found.keys() >= IN_EACH_MEANING else ("", {})


def _scale(keywords: Mapping[str, str]) -> str:
    """Gains, discounts and thresholds of a metric, without the choices that all metrics share."""
    words = []
    if "gain" in keywords:
        words.append(GAIN_WORDS.get(keywords["gain"]) or f"gain {_short(keywords['gain'])}")
    if "stop" in keywords:
        words.append(_filled(STOP_WORDS.get(keywords["stop"], ""), keywords))
    if "discount" in keywords:
        known = DISCOUNT_WORDS.get(keywords["discount"])
        words.append(f"discount {_short(keywords['discount'])}" if known is None else _filled(known, keywords))
    if "p" in keywords:
        words.append(f"p {keywords['p']}")
    if "min_relevance" in keywords and keywords["min_relevance"] != "1" and keywords.get("gain", "binary") == "binary":
        words.append(_relevant(keywords["min_relevance"]))
    return ", ".join(filter(None, words))


def _filled(words: str, keywords: Mapping[str, str]) -> str:
    """Words with the values of keywords in them; "" if a meaning in words of the user lacks one of them."""
    try:
        return words.format(**keywords)
    except KeyError:
        return ""


def _relevant(least: str) -> str:
    """Which grades are relevant; the number after 0.5 is "above 0.5"."""
    below = repr(math.nextafter(float(least), -math.inf))
    return f"relevant above grade {below}" if len(below) < len(least) else f"relevant from grade {least} on"


def _short(value: str) -> str:
    """A table, if it is short, or the name of a function."""
    return value if len(value) <= MAX_SHOWN_VALUE else f"{value.partition(' #')[0][:MAX_SHOWN_VALUE]} ..."


def metric_of_meaning(meaning: str) -> Metric | None:
    """Metric of this library that a meaning names; None for other texts, and for values adjusted for chance."""
    function_name, keywords = parsed_meaning(meaning)
    is_plain = keywords and meaning.endswith(")")
    return next((one for one in REGISTRY.values() if one.function_name == function_name), None) if is_plain else None


def without_value(meaning: str) -> str:
    """What queries have that are settled for a metric: "no relevant document", or "no pair of unequal labels"."""
    metric = metric_of_meaning(meaning)
    if metric is None or not metric.undefined_when or metric.undefined_when in WITHOUT_RELEVANT:
        return NO_RELEVANT
    return metric.undefined_when.partition(",")[0]  # what follows is of scores


def _queries_without(
    function_name: str, keywords: Mapping[str, str], counts: QueryCounts | None
) -> tuple[str, str] | None:  # fmt: skip
    """Undefined queries in words, and how they count; None if there is no choice."""
    known = next((metric for metric in REGISTRY.values() if metric.function_name == function_name), None)
    if known is None or keywords.get("average") == "micro":
        return None
    # Unless unjudged documents are dropped, each document has a label, and no query is without one.
    if known.pointwise and keywords["unjudged"] != "drop":
        return None
    when, value = known.undefined_when, keywords["replace_undefined_by"]
    if not when and keywords.get("no_relevant") != "undefined":
        value = "0"
    are_settled = not when or when in WITHOUT_RELEVANT
    n = 0 if counts is None else counts.n_settled if are_settled else counts.n_undefined
    if counts is not None and counts.counts_as is not None and value != "empty":
        value = f"{counts.counts_as:g}"
    if value == "empty":
        value, n = "the best value if their list is empty, else the worst", counts.n_undefined if counts else 0
    if counts is None or not n:
        without = "queries without relevant documents" if are_settled else f"queries with {when}{',' * (',' in when)}"
        return (without, "are left out" if value == "nan" else f"score {value}") if when else None
    have, are, scores = ("has", "is", "scores") if n == 1 else ("have", "are", "score")
    outcome = f"{are} left out" if value == "nan" else f"{scores} {value}"
    return f"{n:,} of {counts.n_queries:,} queries {have} {NO_RELEVANT if are_settled else when} and", outcome


def _for_each(names_by_choice: Mapping[str, Iterable[str]], *, name_all: bool = False) -> str:
    """The one choice, or each with the metrics that have it; with `name_all` the one choice, too."""
    if len(names_by_choice) == 1 and not name_all:
        return next(iter(names_by_choice))
    return ", ".join(f"{choice} in {_listed(names)}" for choice, names in names_by_choice.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
