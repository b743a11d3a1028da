"""Check the labels for one metric: their range, missing judgments, entries in a table of gains.

Checks that hold for all metrics come before, in `check`.
"""

from __future__ import annotations

import numpy as np

from sklearn_rank._engine.queries import Queries, is_pooled
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Array


def check_labels(
    queries: Queries, function_name: str, *, low: float | None, high: float | None, scale: str, takes_gain: bool,
    unjudged: str | None, reads_unjudged: bool, min_relevance: float,
) -> None:  # fmt: skip
    """Refuse labels outside [low, high] (named `scale`), and NaN labels unless `unjudged` says how to read them."""
    if queries.summary.has_unjudged and unjudged is None and not reads_unjudged:
        missing = np.isnan(queries.label)
        what = "NaN or a negative label" if is_pooled(queries.label).any() else "NaN"
        raise ValueError(
            f"{queries.names.label} of {function_name} must not contain {what} (a document without a judgment) "
            "unless unjudged='nonrelevant' or unjudged='drop' says how to read it. "
            f"Got {missing.sum()} NaN, the first in {queries.names.place} {queries.grouping.first_row(missing)}."
        )
    filled = unjudged == "nonrelevant" or (unjudged == "drop" and queries.has_subtopics)
    if queries.summary.has_unjudged and filled and min_relevance <= 0:
        raise ValueError(
            f"unjudged={echo(unjudged)} reads documents without a judgment as label 0, so min_relevance must be "
            f"above 0. Got min_relevance={min_relevance}."
        )
    (lowest, highest), (what, _, place) = queries.summary.label_range, queries.names
    if low is not None and lowest < low:
        row = queries.grouping.first_row(queries.label < low)
        hint = " negative='unjudged' reads a negative label as a document without a judgment." * (low == 0)
        hint += " Padding is left out by mask=." * queries.grouping.row_is_query
        hint += " A table such as gain={-1: 0, 0: 0, 1: 1, 2: 3} says what each label gains." * takes_gain
        raise ValueError(
            f"{what} of {function_name} must not be below {low:g}. Got {lowest:g}, the first in {place} {row}.{hint}"
        )
    if high is not None and highest > high:
        row = queries.grouping.first_row(queries.label > high)
        raise ValueError(
            f"{what} of {function_name} must not be above {scale}. Got {highest:g}, the first in {place} {row}."
        )


def check_one_label(queries: Queries, function_name: str) -> None:
    """Refuse labels with subtopics."""
    if queries.has_subtopics:
        raise ValueError(
            f"{function_name} takes one label per document, so y_true must have one dimension, or two if y_score has "
            "two and a row is a query; labels of subtopics are for metrics such as alpha_ndcg_score. "
            f"Got shape {queries.label.shape} instead."
        )


def check_grades(
    queries: Queries, function_name: str, grades: Array, *, max_grade: float | None, unjudged: str | None
) -> None:
    """Refuse labels, and a highest grade, that a table of gains has no entry for."""
    if max_grade is not None and max_grade not in grades:
        raise ValueError(
            f"The 'gain' table of {function_name} must have an entry for max_grade. Got max_grade={max_grade}."
        )
    label = queries.label
    if queries.summary.has_unjudged:  # dropped documents need no entry; the others are read as label 0
        label = np.where(np.isnan(label), 0.0 if unjudged == "nonrelevant" else grades[0], label)
    unknown = grades[np.minimum(np.searchsorted(grades, label), len(grades) - 1)] != label
    if unknown.any():
        raise ValueError(
            f"The 'gain' table of {function_name} must have an entry for every value in {queries.names.label}. "
            f"Got {label[np.argmax(unknown)]:g} in {queries.names.place} {queries.grouping.first_row(unknown)}."
        )


def distinct_labels(queries: Queries, unjudged: str | None, top: float | None) -> Array:
    """Labels that gains are asked of, ascending, with the highest grade if there is one."""
    label, more = queries.label, [] if top is None else [top]
    if queries.summary.has_unjudged:
        label = label[~np.isnan(label)]
        more += [0.0] if unjudged == "nonrelevant" else []
    return np.union1d(label, more)


def check_exponent(queries: Queries, function_name: str) -> None:
    """Refuse labels whose 2**label is beyond the range of a float."""
    if queries.summary.label_range[1] > 1000:
        raise ValueError(
            f"With gain='exp2' {function_name} computes 2**label, so {queries.names.label} must not be above "
            f"1000; use gain='linear' or a table of gains. Got {queries.summary.label_range[1]:g}."
        )


def check_retrieved(queries: Queries, function_name: str) -> None:
    """Refuse documents without a prediction."""
    if queries.summary.has_unretrieved:
        row, words = queries.grouping.first_row(queries.score == -np.inf), queries.names
        raise ValueError(
            f"{function_name} compares predictions with labels, so every {words.score} must be finite. "
            f"Got -inf in {words.place} {row}."
        )
