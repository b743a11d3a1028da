"""Choices of other systems, copied by hand from docs/conventions/README.md and libraries.md."""

from math import inf, nan, nextafter

ABOVE_HALF = nextafter(0.5, 1)
FIRST_CAPPED = {"map": {"denominator": "min_k_relevant"}}
SHORT_LISTS = {"precision": {"denominator": "min_k_n"}}
POOLED_OPA = {"opa": {"ties": "worst", "average": "micro"}}
STABLE = {"ties": "stable"}
P_9 = {"rbp": {"p": 0.9}, "rbp_residual": {"p": 0.9}}
PADDING = {"unjudged": "drop", "negative": "unjudged"}
TREC = STABLE | {"unjudged": "nonrelevant", "negative": "unjudged"}


def gain(name, **more):
    return {metric: {"gain": name, **more} for metric in ("dcg", "ndcg")}


WHOLE_SETS = {name: {"threshold": -inf} for name in ("set_precision", "set_recall", "set_f")}

CHOICES = {
    "sklearn": (
        {},
        gain("linear"),
        {"map": {"precision_at": "threshold"}, "coverage_error": {"ties": "worst"}, "ranking_loss": {"ties": "worst"}},
        {"auc": {"tied_curve": "straight", "replace_undefined_by": nan}},
    ),
    "trec_eval": (TREC, gain("linear"), WHOLE_SETS, {"iprec": {"rounding": "nearest"}}, P_9),
    "ir_measures": (TREC, gain("linear"), WHOLE_SETS, {"iprec": {"rounding": "cut"}}),
    "ranx": (TREC, gain("linear")),
    "lightgbm": (STABLE | {"min_relevance": ABOVE_HALF, "replace_undefined_by": 1}, FIRST_CAPPED),
    "xgboost": (STABLE | {"replace_undefined_by": 1}, FIRST_CAPPED, SHORT_LISTS),
    "catboost": (
        {"ties": "worst", "min_relevance": ABOVE_HALF},
        gain("linear"),
        {"ndcg": {"replace_undefined_by": 1}, "recall": {"replace_undefined_by": 1}, "acg": {"denominator": "min_k_n"}},
        {"auc": {"ties": "average"}, "err": {"stop": "label"}, "pfound": {"stop": "label"}},
        FIRST_CAPPED,
        SHORT_LISTS,
        POOLED_OPA,
    ),
    "torchmetrics": (
        STABLE,
        {"ndcg": {"gain": "linear", "ties": "average"}, "map": {"denominator": "retrieved_relevant"}},
        {"precision": {"no_relevant": "undefined"}, "fallout": {"replace_undefined_by": 1}},
        {"auc": {"ties": "average", "tied_curve": "straight"}},
    ),
    "tf_ranking": (
        PADDING,
        SHORT_LISTS,
        POOLED_OPA,
        {"p_ia": {"denominator": "min_k_n"}, "relevance_position": {"average": "micro"}},
    ),
    "rax": (STABLE, SHORT_LISTS, {"opa": {"ties": "worst"}}),
    "keras_rs": (PADDING, SHORT_LISTS),
    "spark": (STABLE, FIRST_CAPPED, {"ndcg": {"gain": "binary"}}),
    "recbole": ({}, FIRST_CAPPED, gain("binary")),
    "replay": (STABLE, FIRST_CAPPED, gain("binary")),
    "lenskit": (
        STABLE,
        gain("binary", discount="jarvelin"),
        FIRST_CAPPED,
        SHORT_LISTS,
        {"recall": {"denominator": "min_k_relevant"}, "rbp": {"p": 0.85}},
    ),
}
"""Of each system what holds for all metrics, and what for single ones."""


def choices(system, metric):
    """Keywords that a system chooses for a metric."""
    of_all, *of_some = CHOICES[system]
    chosen = dict(of_all)
    for table in of_some:
        chosen |= table.get(metric, {})
    return chosen
