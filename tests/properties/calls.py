"""Random calls on rows: a metric, a cutoff and keywords, among all that metrics accept."""

from functools import cache
from math import nan, nextafter
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._metric.metric import REGISTRY
from sklearn_rank._metric.spec import MetricSpec


class Call(NamedTuple):
    name: str
    k: Any
    keywords: dict[str, Any]

    def __str__(self):
        given = {"k": self.k, **self.keywords} if self.k is not None else self.keywords
        words = (f"{word}={getattr(value, '__name__', value)!r}" for word, value in given.items())
        return f"{self.name}({', '.join(words)})"


def root(label):
    """A gain of labels."""
    return np.sqrt(np.maximum(label, 0))


def halving(rank):
    """A discount of ranks."""
    return 0.5 ** (np.asarray(rank) - 1.0)


OWN = {
    "gain": ["exp2", "linear", "binary", [0, 1, 1, 5, 5.5], {0: 0, 1: 0.5, 2: 1, 3: 4, 4: 4}, root],
    "discount": ["log2", "jarvelin", "reciprocal", "flat", [1, 0.9, 0.5, 0.5, 0.1, 0], halving],
    "base": [3, 2, 1.5, 10],
    "denominator": ["relevant", "min_k_relevant", "retrieved_relevant", "k", "min_k_n", "min_relevant_nonrelevant"],
    "precision_at": ["threshold"],
    "need": ["all"],
    "no_relevant": ["undefined"],
    "ranks": ["relevant"],
    "recall": [0, 0.3, 0.35, 0.55, 0.7, 1, "11pt"],
    "rounding": ["nearest", "cut"],
    "beta": [2, 0.5, 3],
    "p": [0.5, 0.95, 0.001],
    "max_grade": [1, 2, 5, 31, 1000],
    "stop": ["label"],
    "decay": [0.5, 1],
    "alpha": [0, 0.3, 1],
    "max_fpr": [0.1, 0.3, 0.5, 1],
    "tied_curve": ["straight"],
    "variant": ["a"],
    "threshold": [0.5, -1.0, 1.0, 1e308],
}
"""Values that keywords of formulas are tried with."""

SHARED = {
    "min_relevance": [2, 0.5, nextafter(0.5, 1), 3, 1.5, 0, -1, 31.5, 1e-300],
    "unjudged": ["nonrelevant", "drop"],
    "negative": ["unjudged"],
    "replace_undefined_by": [1, nan, 0.25, -3],
    "convention": [*CONVENTIONS],
    "average": [None, "micro", "geometric"],
}
"""Values that keywords of all metrics are tried with."""

TOGETHER = [
    {"discount": "jarvelin", "base": 3},
    {"gain": "binary", "min_relevance": 2},
    {"gain": "linear", "max_grade": 5},
    {"gain": "exp2", "max_grade": 4},
    {"denominator": "min_k_relevant", "min_relevance": 2},
]
"""Keywords that are read beside each other."""

CUTOFFS = [1, 2, 3, 4, 5, 7, 8, 16, 17, 40, 10**12]


def draw_call(rng, name, *, has_unjudged=False, has_keys=False):
    """A cutoff and compatible keywords that a metric reads."""
    metric, keywords = REGISTRY[name], {}
    for keyword in metric.formula_params:
        if keyword in OWN and rng.random() < 0.3:
            keywords[keyword] = rng.choice(OWN[keyword])
    if "discount" in keywords and rng.random() < 0.3:
        keywords |= {"discount": "jarvelin", "base": rng.choice(OWN["base"])}
    if "unjudged" in metric.defaults and rng.random() < (0.6 if has_unjudged else 0.05):
        keywords["unjudged"] = rng.choice(SHARED["unjudged"])
    for keyword, chance in (
        ("min_relevance", 0.3),
        ("negative", 0.1),
        ("replace_undefined_by", 0.3),
        ("convention", 0.2),
    ):
        if keyword in metric.defaults and rng.random() < chance:
            keywords[keyword] = rng.choice(SHARED[keyword])
    if rng.random() < 0.6:
        keywords["average"] = rng.choice(SHARED["average"])
    if "ties" in metric.defaults and rng.random() < 0.5:
        keywords["ties"] = rng.choice([*TIE_POLICIES])
    keywords = {word: value for word, value in keywords.items() if metric._takes(word, value)}
    if has_keys and "ties" in metric.defaults:
        keywords["ties"] = "stable"  # with another policy keys are an error
    if keywords.get("average") == "micro" and not metric.supports_micro:
        del keywords["average"]
    if keywords.get("average") == "geometric" and metric.bounds[0] < 0:
        del keywords["average"]
    for word in MetricSpec(metric, None, keywords).unread:
        del keywords[word]
    return Call(name, draw_cutoff(rng) if metric.has_cutoff else None, keywords)


def variants(name):
    """Keywords of a metric: none, each value of each keyword by itself, and some combinations."""
    metric, values = REGISTRY[name], OWN | {word: SHARED[word] for word in ("min_relevance", "unjudged", "negative")}
    alone = [{word: value} for word, several in values.items() for value in several]
    for keywords in ({}, *alone, *TOGETHER):
        taken = all(word in metric.defaults and metric._takes(word, value) for word, value in keywords.items())
        if taken and not MetricSpec(metric, None, keywords).unread:
            yield keywords


def draw_cutoff(rng):
    if rng.random() < 0.3:
        return None
    if rng.random() < 0.3:
        return [rng.choice(CUTOFFS) for _ in range(rng.randint(1, 3))]
    return rng.choice(CUTOFFS)


@cache
def names(subtopics):
    """Metrics of subtopics if there are several, otherwise metrics of one label per document."""
    return [name for name, metric in REGISTRY.items() if bool(metric.subtopics) == subtopics]
