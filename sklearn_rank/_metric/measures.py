"""Measure objects of ir_measures, which PyTerrier has too, such as ``nDCG @ 10``, made into names and keywords."""

from __future__ import annotations

from typing import Any

IR_MEASURES = {
    "AP": "map", "Bpref": "bpref", "ERR": "err", "IPrec": "iprec", "Judged": "judged", "P": "precision", "R": "recall",
    "RBP": "rbp", "RR": "mrr", "Rprec": "rprec", "SetF": "set_f", "SetP": "set_precision", "SetR": "set_recall",
    "Success": "hit", "infAP": "infap", "nDCG": "ndcg",
}  # fmt: skip
"""Metrics here, by the names of ir_measures."""


def is_measure(metric: Any) -> bool:
    """Whether this is a measure of ir_measures."""
    return type(metric).__module__.startswith("ir_measures.") and hasattr(metric, "params")


def of_measure(measure: Any) -> tuple[str, dict[str, Any]]:
    """Name here of a measure, and keywords that give its number in ir_measures."""
    params, keywords = dict(measure.params), {"convention": "ir_measures"}
    name = IR_MEASURES.get(measure.NAME)
    given: dict[str, Any] = {
        ours: params.pop(theirs)
        for theirs, ours in (("cutoff", "k"), ("rel", "min_relevance"), ("recall", "recall"), ("p", "p"))
        if theirs in params
    }
    if params.pop("judged_only", False):
        given["unjudged"] = "drop"
    if "beta" in params:
        # They hand it to trec_eval, whose parameter is beta squared.
        given["beta"] = float(params.pop("beta")) ** 0.5
    if params.pop("dcg", "log2") != "log2":
        given["gain"] = "exp2"
    if gains := params.pop("gains", None):
        given["gain"] = {level: gains.get(level, level) for level in range(max(gains) + 1)}
    if name is None or any(params.values()) or (name == "rbp" and "min_relevance" not in given):
        known = ", ".join(IR_MEASURES)
        raise ValueError(
            f"Measures of ir_measures that are metrics here are {known}; RBP needs rel=, and SetP is not relative. "
            f"Got {measure}."
        )
    return name, keywords | given
