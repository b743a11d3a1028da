"""Keywords of the metric functions: default, rule and documentation of each, written once.

`SHARED` has the keywords of all metrics, `OWN` the keywords of several formulas by name; others are declared by their
metric.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from copy import copy
from numbers import Real
from typing import Any

import numpy as np

from sklearn_rank._engine.ranking import TIE_POLICIES
from sklearn_rank._metric.conventions import CONVENTIONS
from sklearn_rank._utils.constraints import Constraint, is_bool, is_count, is_real, is_word, one_of, real

TABLES = (list, dict, np.ndarray)
"""Types of keywords whose values can change."""


def unread(name: str, values: Mapping[str, Any]) -> str:
    """Condition on another keyword under which this one has an effect; "" if it has one."""
    if name == "base" and "discount" in values:
        return "" if is_word(values["discount"], "jarvelin") else "discount='jarvelin'"
    if name == "max_grade" and "stop" in values:
        return "" if is_word(values["stop"], "exp2") else "stop='exp2'"
    if name == "max_grade" and "gain" in values:
        return "a graded gain, such as gain='exp2'" if is_word(values["gain"], "binary") else ""
    return ""


def own_tables(keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Keywords with copies of their tables, such as one of gains, which a caller may change later."""
    return {name: copy(value) if isinstance(value, TABLES) else value for name, value in keywords.items()}


def _is_cutoff(k: Any) -> bool:
    if k is None or is_count(k):
        return True
    listed = isinstance(k, (list, tuple, range)) or (isinstance(k, np.ndarray) and k.ndim == 1)
    return listed and len(k) > 0 and all(map(is_count, k))


def _is_table(value: Any) -> bool:
    listed = isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim == 1)
    return listed and len(value) > 0 and all(map(is_real, value))


def _is_gain_table(value: Any) -> bool:
    if isinstance(value, Mapping):
        if not all(map(is_real, value)):
            return False
        value = [value[grade] for grade in sorted(value)]
    return _is_table(value) and all(a <= b for a, b in zip(value[:-1], value[1:], strict=True))


CUTOFF = Constraint(
    "an int >= 1, a sequence of them, or None",
    _is_cutoff,
    """k : int, sequence of int or None, default=None
    Cutoff: only the first k ranks count. None, or a k beyond the end, reads the whole list. A sequence gives one
    value per cutoff for the price of one sort.""",
)

DATA_DOC = """y_true : array-like of shape (n_samples,) or (n_queries, n_documents)
    Relevance of each document to its query. NaN: ranked but not judged, see `unjudged`.
y_score : array-like of the same shape
    Scores of the model: the highest ranks first, and only the order matters. ``-inf``: judged but not retrieved.
qid : array-like of shape (n_samples,), default=None
    Query of each row: any hashable ids, in any order. None: read from the level "qid" of the index of `y_true`.
    Two-dimensional input needs no `qid`: a row is a query. pandas objects must have equal indexes."""

SUBTOPICS_DATA_DOC = """y_true : array-like of shape (n_samples, n_subtopics) or (n_samples,)
    Relevance of each document to each subtopic of its query; one dimension is one subtopic. Subtopics without a
    relevant document do not count, so queries may have different numbers of subtopics. NaN: not judged, see `unjudged`.
y_score : array-like of shape (n_samples,)
    Scores of the model: the highest ranks first, and only the order matters. ``-inf``: judged but not retrieved.
qid : array-like of shape (n_samples,), default=None
    Query of each row: any hashable ids, in any order. None: read from the level "qid" of the index of `y_true`."""

WEIGHT_DOC = """sample_weight : array-like of shape (n_samples,), default=None
    Weight of the row's query in the mean, the same in all rows of a query. Shape (n_queries,) with two-dimensional
    input."""

MASK_DOC = """mask : array-like of bool, shape of `y_true` without subtopics, default=None
    True for a document, False for padding, which other arrays may fill with anything. Every query needs a document."""

COLUMN_DOC = """{name} : array-like of shape (n_samples,), default=None
    A finite number for each row. None: read from the level "{name}" of the index of `y_true`."""

JOBS_DOC = """n_jobs : int or None, default=None
    Threads to use, counted as in joblib. The result is the same to the last bit."""

TIE_BREAK_DOC = """tie_break : array-like of shape (n_samples,), default=None
    For ``ties="stable"``: among equal scores the higher value ranks first, and equal values keep the order of the
    input. Any values that can be sorted; document ids give trec_eval's order."""

SHARED: dict[str, tuple[Any, Constraint]] = {
    "min_relevance": (
        1,
        real(
            "a finite number",
            lambda v: True,
            """min_relevance : float, default=1
    Lowest label of a relevant document.""",
        ),
    ),
    "ties": (
        "average",
        one_of(
            *TIE_POLICIES,
            doc="""ties : {"average", "stable", "worst", "best"}, default="average"
    How to rank equal scores: the exact mean over all orders of the tied documents, the order of the input, lower
    labels first, or higher labels first. The policy is for retrieved documents. A metric that ranks documents that were
    not retrieved is the mean over their orders under every policy.""",
        ),
    ),
    "unjudged": (
        None,
        one_of(
            None,
            "nonrelevant",
            "drop",
            doc="""unjudged : {"nonrelevant", "drop"} or None, default=None
    How to read NaN labels: as label 0, or as if the document had not been ranked. None: an error. Metrics for
    incomplete judgments (bpref, infap, judged, rbp_residual) distinguish NaN from 0, so "nonrelevant" and None are the
    same for them; "drop" removes the documents for every metric, as in trec_eval's option -J.""",
        ),
    ),
    "negative": (
        "keep",
        one_of(
            "keep",
            "unjudged",
            doc="""negative : {"keep", "unjudged"}, default="keep"
    How to read a negative label: as a label below 0; or as in TREC's files, as a document that was in the pool but not
    judged. The latter is the same as NaN, except for infAP.""",
        ),
    ),
    "replace_undefined_by": (
        0.0,
        Constraint(
            "a float, nan or 'empty'",
            lambda v: is_real(v) or (isinstance(v, Real) and math.isnan(v)) or (isinstance(v, str) and v == "empty"),
            """replace_undefined_by : float or "empty", default=0.0
    Value of a query for which the metric is undefined. ``np.nan`` leaves such queries out of every mean. Pooled means
    ignore a number: an undefined query adds its numerator and denominator. They return the number only if no query is
    defined. "empty", for runs, tables and dictionaries: the best value of the metric if no document is retrieved for
    the query, so that no answer can be the right one, else the worst.""",
        ),
    ),
    "convention": (
        None,
        one_of(
            None,
            *CONVENTIONS,
            doc=f"""convention : {{{", ".join(f'"{name}"' for name in CONVENTIONS)}}}, default=None
    Library whose choices to follow for keywords that are not passed.""",
        ),
    ),
    "adjusted": (
        False,
        Constraint(
            "True or False",
            is_bool,
            """adjusted : bool, default=False
    Whether to adjust values for chance, ``(value - chance) / (best - chance)`` for each query: 0 is a random order, 1
    the best order, and below 0 is worse than random. Higher is better, even for an error. Undefined for a query if the
    best order is no better than chance. See `Evaluation.adjusted`.""",
        ),
    ),
    "average": (
        "macro",
        one_of(
            "macro",
            "micro",
            "geometric",
            None,
            doc="""average : {"macro", "micro", "geometric"} or None, default="macro"
    "macro" is the mean over queries. "micro" is the ratio of the sums over all queries, for metrics that are ratios of
    sums. "geometric" is the geometric mean, for metrics that cannot be negative; it raises values below
    0.00001 to 0.00001. None returns the value of each query.""",
        ),
    ),
}

SUBTOPICS = {
    "ties": Constraint(
        "'average' or 'stable' (documents with labels of subtopics have no worst and no best order)",
        lambda v: isinstance(v, str) and v in ("average", "stable"),
        """ties : {"average", "stable"}, default="average"
    How to rank equal scores: the exact mean over all orders of the tied documents, or the order of the input. Of two
    documents with several labels neither need be better, so there is no worst and no best order.""",
    ),
    "unjudged": one_of(
        None,
        "nonrelevant",
        "drop",
        doc="""unjudged : {"nonrelevant", "drop"} or None, default=None
    How to read NaN labels: as label 0; or, with "drop", as if documents without any label had not been ranked, and any
    other NaN as label 0. None: an error.""",
    ),
}
"""Keywords of `SHARED` that mean something else where labels have subtopics."""

DISCOUNTS = ("log2", "jarvelin", "reciprocal", "flat")
OWN: dict[str, Constraint] = {
    "alpha": real(
        "a number between 0 and 1",
        lambda v: 0 <= v <= 1,
        """alpha : float, default=<default>
    Share of a subtopic's worth that is lost each time a document covers it: with 0 nothing is lost, and with 1 only the
    first document counts.""",
    ),
    "gain": Constraint(
        "'exp2', 'linear', 'binary', an array or mapping of gains by grade that do not fall, or a callable",
        lambda v: callable(v) or (v in ("exp2", "linear", "binary") if isinstance(v, str) else _is_gain_table(v)),
        """gain : {"exp2", "linear", "binary"}, array, mapping or callable, default="<default>"
    Gain of a label: ``2**label - 1``, the label, or 1 for a relevant document; a table by grade; or a function of an
    array of labels. The gain must not fall as the label rises.""",
    ),
    "discount": Constraint(
        "'log2', 'jarvelin', 'reciprocal', 'flat', an array of finite weights by rank, or a callable",
        lambda v: callable(v) or (v in DISCOUNTS if isinstance(v, str) else _is_table(v)),
        """discount : {"log2", "jarvelin", "reciprocal", "flat"}, array or callable, default="<default>"
    Weight of rank i: ``1/log2(1 + i)``; 1 for i < `base`, else ``1/log_base(i)``; ``1/i``; 1; the weights of
    ranks 1, 2, ...; or a function of an array of ranks.""",
    ),
    "no_relevant": one_of(
        "zero",
        "undefined",
        doc="""no_relevant : {"zero", "undefined"}, default="<default>"
    How to treat a query without a relevant document: as a list like any other, or as undefined. If it is undefined,
    `replace_undefined_by` sets its value.""",
    ),
    "stop": one_of(
        "exp2",
        "label",
        doc="""stop : {"exp2", "label"}, default="<default>"
    Probability that a document of label g stops the user: ``(2**g - 1) / 2**max_grade``, or g itself.""",
    ),
    "base": real(
        "a number > 1",
        lambda v: v > 1,
        """base : float, default=<default>
    Base of the logarithm of the "jarvelin" discount. Other discounts ignore it.""",
    ),
    "max_grade": real(
        "a number above 0 and not above 1000",
        lambda v: 0 < v <= 1000,
        """max_grade : float, default=<default>
    Highest grade of the scale, not of the data. ``stop="label"`` and a binary gain do not use it.""",
    ),
}
