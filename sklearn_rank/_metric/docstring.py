"""Signature and docstring of a metric's public function: the formula's own, and what all metrics share put in."""

from __future__ import annotations

import inspect

from sklearn_rank._metric.keywords import CUTOFF, DATA_DOC, JOBS_DOC, SUBTOPICS_DATA_DOC, TIE_BREAK_DOC, WEIGHT_DOC
from sklearn_rank._metric.metric import Metric

RAISES = """ValueError
    If the data or a keyword are not as described; nothing is dropped, reordered or taken for one query silently.
TypeError
    If labels, scores or weights are not real numbers, or a keyword is unknown."""


def signature_of(entry: Metric) -> inspect.Signature:
    """Parameters of the public function: data, cutoff, the formula's keywords, the shared ones."""
    data = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("y_true", "y_score")]
    cutoff = {"k": None} if entry.has_cutoff else {}
    tie_break = {} if entry.pointwise else {"tie_break": None}
    keywords = {"qid": None} | cutoff | entry.defaults | tie_break | {"sample_weight": None, "n_jobs": None}
    return inspect.Signature(
        [*data, *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in keywords.items())]
    )


def docstring_of(entry: Metric) -> str:
    """The formula's docstring with the parameters, the result and the facts put in."""
    text = inspect.getdoc(entry.formula) or ""
    head, references, tail = text.partition("References\n-")
    parameters: list[str] = [SUBTOPICS_DATA_DOC if entry.subtopics else DATA_DOC] + [CUTOFF.doc] * entry.has_cutoff
    for name, default in entry.defaults.items():
        if rule := entry.rule(name):
            parameters.append(rule.doc.replace("<default>", str(default)))
    parameters += [TIE_BREAK_DOC] * (not entry.pointwise) + [WEIGHT_DOC, JOBS_DOC]
    facts = [
        f"Bounds: {entry.bounds[0]:g} to {entry.bounds[1]:g}; "
        f"{'higher' if entry.greater_is_better else 'lower'} is better.",
        f"Undefined for a query with {entry.undefined_when}." if entry.undefined_when else "Defined for every query.",
        "Names: " + ", ".join(f'"{n}"' for n in (entry.name, *entry.aliases)) + ".",
    ]
    cutoff_axis = " An array with one value per cutoff if `k` is a sequence." if entry.has_cutoff else ""
    result = (
        "score : float or ndarray\n    Mean over queries."
        f"{cutoff_axis}\n    With ``average=None`` the first axis is queries, in order of first appearance."
    )
    return "\n".join(
        [
            head.rstrip(), "", " ".join(facts), "",
            "Parameters", "----------", *parameters, "",
            "Returns", "-------", result, "",
            "Raises", "------", RAISES, "",
            references + tail,
        ]
    )  # fmt: skip
