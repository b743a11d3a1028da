"""One line that says which choices are behind numbers: gain, discount, ties, and queries without a value."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping

from sklearn_rank._metric.metric import NO_RELEVANT, REGISTRY
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

UNDEFINED_WORDS = dict.fromkeys(
    [NO_RELEVANT, "an ideal DCG of zero", "an ideal ERR of zero", "no label above 0"],
    "queries without relevant documents",
)
"""Queries without a value in words, by what the metric declares; others are "queries with ..."."""


def choices_in_words(meanings: Mapping[str, str]) -> str:
    """Choices behind metrics, by the names and meanings that results have; "" if nothing is known of them.

    Examples
    --------
    >>> from sklearn_rank import parse_metric
    >>> choices_in_words({"ndcg@10": parse_metric("ndcg@10").meaning})
    'nDCG: gain 2^grade - 1, log2; ties averaged; queries without relevant documents count as 0'
    """
    scales, ties, undefined = dict[str, list[str]](), dict[str, list[str]](), dict[str, dict[str, list[str]]]()
    for name, meaning in meanings.items():
        shown, (function_name, keywords) = re.sub(r"@[\d,]+$", "", display_name(name)), parsed_meaning(meaning)
        if scale := _scale(keywords):
            scales.setdefault(scale, []).append(shown)
        if policy := TIE_WORDS.get(keywords.get("ties", "")):
            ties.setdefault(policy, []).append(shown)
        if queries := _undefined_queries(function_name, keywords):
            value = keywords["replace_undefined_by"]
            outcome = "are left out" if value == "nan" else f"count as {value}"
            undefined.setdefault(queries, {}).setdefault(outcome, []).append(shown)
    clauses = [f"{_listed(names)}: {scale}" for scale, names in scales.items()]
    clauses += [f"ties {_for_each(ties)}"] * bool(ties)
    clauses += [f"{queries} {_for_each(outcomes)}" for queries, outcomes in undefined.items()]
    return "; ".join(clauses)


def parsed_meaning(meaning: str) -> tuple[str, dict[str, str]]:
    """Name of the function and keywords of a meaning, as `MetricSpec.meaning` writes it; no keywords of other texts."""
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
    """What labels and ranks are worth, without what all metrics have in common."""
    words = []
    if "gain" in keywords:
        words.append(GAIN_WORDS.get(keywords["gain"]) or f"gain {_short(keywords['gain'])}")
    if "stop" in keywords:
        words.append(_filled(STOP_WORDS.get(keywords["stop"], ""), keywords))
    if "discount" in keywords:
        known = DISCOUNT_WORDS.get(keywords["discount"])
        words.append(f"discount {_short(keywords['discount'])}" if known is None else _filled(known, keywords))
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


def _undefined_queries(function_name: str, keywords: Mapping[str, str]) -> str:
    """Queries on which a metric has no value, in words; "" if there are none, or the metric is not known here."""
    known = next((metric for metric in REGISTRY.values() if metric.function_name == function_name), None)
    if known is None or not known.undefined_when or keywords.get("average") == "micro":
        return ""
    # Unless unjudged documents are dropped, each document has a label, and no query is without one.
    if known.pointwise and keywords["unjudged"] != "drop":
        return ""
    return UNDEFINED_WORDS.get(known.undefined_when, f"queries with {known.undefined_when}")


def _for_each(names_by_choice: Mapping[str, Iterable[str]]) -> str:
    """The one choice, or each with the metrics that have it."""
    if len(names_by_choice) == 1:
        return next(iter(names_by_choice))
    return ", ".join(f"{choice} in {_listed(names)}" for choice, names in names_by_choice.items())


def _listed(names: Iterable[str]) -> str:
    return ", ".join(dict.fromkeys(names))
