"""Signature and docstring of a metric's public function: taken from the formula, with the shared keywords."""

from __future__ import annotations

import inspect

from sklearn_rank._metric.keywords import (
    COLUMN_DOC,
    CUTOFF,
    DATA_DOC,
    JOBS_DOC,
    MASK_DOC,
    SUBTOPICS_DATA_DOC,
    TIE_BREAK_DOC,
    WEIGHT_DOC,
)
from sklearn_rank._metric.metric import Metric
from sklearn_rank._utils.docstring import join_sections, split_sections

RAISES = """ValueError
    If the data or a keyword are not as described. The function never drops or reorders rows silently.
TypeError
    If labels, scores or weights are not real numbers, or a keyword is unknown."""


def signature_of(entry: Metric) -> inspect.Signature:
    """Parameters of the public function: data, cutoff, the formula's keywords, the shared ones."""
    data = [inspect.Parameter(n, inspect.Parameter.POSITIONAL_OR_KEYWORD) for n in ("y_true", "y_score")]
    cutoff = {"k": None} if entry.has_cutoff else {}
    tie_break = {} if entry.pointwise else {"tie_break": None}
    keywords = (
        {"qid": None}
        | dict.fromkeys(entry.columns)
        | cutoff
        | entry.defaults
        | tie_break
        | {"sample_weight": None, "mask": None, "n_jobs": None}
    )
    return inspect.Signature(
        [*data, *(inspect.Parameter(n, inspect.Parameter.KEYWORD_ONLY, default=d) for n, d in keywords.items())]
    )


def docstring_of(entry: Metric) -> str:
    """The formula's docstring, with the properties of the metric, parameters, result and errors put in."""
    head, sections = split_sections(inspect.getdoc(entry.formula) or "")
    own = [rule.doc.replace("<default>", str(d)) for name, d in entry.defaults.items() if (rule := entry._rule(name))]
    parameters = [
        SUBTOPICS_DATA_DOC if entry.subtopics else DATA_DOC, *[COLUMN_DOC.format(name=name) for name in entry.columns],
        *[CUTOFF.doc] * entry.has_cutoff, *own, *[TIE_BREAK_DOC] * (not entry.pointwise), WEIGHT_DOC, MASK_DOC,
        JOBS_DOC,
    ]  # fmt: skip
    shared = {"Parameters": "\n".join(parameters), "Returns": _returned(entry), "Raises": RAISES}
    return join_sections(f"{head}\n\n{_properties(entry)}", shared | sections)


def _properties(entry: Metric) -> str:
    low, high = entry.bounds
    better = "higher" if entry.greater_is_better else "lower"
    undefined = f"Undefined for a query with {entry.undefined_when}." if entry.undefined_when else ""
    names = ", ".join(f'"{n}"' for n in (entry.name, *entry.aliases))
    reads = " The whole list counts." * (not entry.has_cutoff)
    reads += " Documents that were not retrieved are tied last, under every tie policy." * entry.keeps_unretrieved
    return (
        f"Bounds: {low:g} to {high:g}; {better} is better. {undefined or 'Defined for every query.'} "
        f"Names: {names}.{reads}"
    )


def _returned(entry: Metric) -> str:
    cutoff_axis = " An array with one value per cutoff if `k` is a sequence." if entry.has_cutoff else ""
    return (
        f"score : float or ndarray\n    Mean over queries.{cutoff_axis}\n"
        "    With ``average=None`` the first axis is queries, in order of first appearance."
    )
