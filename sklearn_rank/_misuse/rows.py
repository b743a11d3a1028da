"""Checks of labels, scores and ids of rows: tests of the evidence."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.queries import Queries
from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.evidence import (
    HIGHEST_GRADE,
    HIGHEST_OF_SCALES,
    MOST_GRADES,
    Evidence,
    Metrics,
    are_mask,
    have_few_values,
    may_be_constant,
    may_be_ids,
    may_run_against,
    odd_ids,
    reads_order,
    reads_relevance,
    stand_in,
)
from sklearn_rank._utils.constraints import is_word
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lower_is_better import COUNTED, is_lower_column
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array

GAIN_DIFFERS = ("dcg_score", "ndcg_score")
"""Functions with the same name in scikit-learn, which uses linear gain."""

LEAST_QUERIES = 20
"""With 20 queries, agreement in all of them has a probability below one in a million under a coin flip."""

LEAST_LONG_LISTS, LEAST_ROWS = 5, 200
"""Minimum number of queries, and of rows in them, for the same evidence."""

LEAST_ROWS_WITHOUT = 1400
"""Number of rows that are all irrelevant by chance less than once in a million if 1 in 100 is relevant."""

LEAST_ROWS_UNRETRIEVED = 20
"""Number of rows that are all not retrieved by chance once in a million if 1 in 2 is retrieved."""

LEAST_FRACTIONS = 20
"""Minimum number of distinct fractional labels that cannot be a scale of grades."""

SAMPLED_LABELS = 1024
"""Number of rows that identify a batch."""

LEAST_OTHER_LABELS = 20
"""Minimum number of rows with a label that differs from the rest, to distinguish documents."""

CLEAR = 3.0
"""Number of standard errors for agreement of labels and scores, if there is other evidence."""

LEAST_AGAINST, FAR_BELOW, CLEARLY_BELOW = 10, 5.0, 4.0
"""For scores that contradict labels: minimum queries, standard errors below chance, and below 0 over queries."""

LEAST_SOFT_ROWS = 6
"""Minimum number of rows with labels between 0 and 1 and no relevant label."""

BY_PROPENSITY = re.compile(r"(?:ips_dcg|psn?dcg|psp|snips)(?:_score)?\b", re.IGNORECASE)
"""Names of metrics that expect labels divided by propensities."""

CONSTANT = Check(
    "no order matters", "labels",
    "All labels of each query are equal, or all documents are relevant, or none is, so no order changes the metric; or "
    "all scores are on one side of the threshold of a set metric.",
    "20 lists; 1,400 rows if every label is 0, or any number in a function that fits",
    "cannot tell good rankings from bad ones here", "decision",
)  # fmt: skip
SOFT = Check(
    "threshold outside of the scale", "labels",
    "Labels are between 0 and 1, and a metric reads `min_relevance=1`.",
    "6 rows of 2 queries if no label reaches 1, else 20 lists",
    "labels lie between 0 and 1", "decision",
)  # fmt: skip
LARGE_GRADES = Check(
    "large grades", "grades",
    "A label is above 31 and gains `2**label - 1`.",
    "",
    "so that one label decides", "decision",
)  # fmt: skip
SCALE = Check(
    "another scale", "labels",
    "Labels are between 0 and 1 and a metric reads grades up to `max_grade`; or labels go up to 100 and are relevant "
    "from 1; or a label such as 99 or 999 is among grades up to 10.",
    "6 rows of 2 queries, 20 lists or one label",
    "on another scale", "decision",
)  # fmt: skip
ONE_ROW = Check(
    "queries of one row", "ids",
    "`qid` holds ids of rows or documents.",
    "20 queries, each with one row",
    "Every query has one row", "decision",
)  # fmt: skip
NO_ID = Check(
    "invalid query ids", "qid",
    '`qid` holds -1 (from `pandas.factorize`), the smallest int64, "nan" or booleans, also as text.',
    "one id; for -1, three ids without another negative id",
    "is no id of a query",
)  # fmt: skip
WORSE_THAN_CHANCE = Check(
    "worse than chance", "scores",
    "High scores go with low labels: scores are ranks, distances or losses, or labels are ranks.",
    "10 lists, and a mean agreement 5 standard errors below chance",
    "worse than a random order",
)  # fmt: skip
SWAPPED = Check(
    "labels and scores swapped", "arguments",
    "Labels have many fractions, and scores are a few whole numbers.",
    "20 different fractional labels, and equal scores in a query",
    "look swapped",
)  # fmt: skip
OF_IDS = Check(
    "ids as labels and scores", "arguments",
    "Labels and scores are whole numbers that differ in each list, as in `map_score(actual, predicted)`.",
    "2 lists, and numbers up to twice the length of a list",
    "look like ids of items",
)  # fmt: skip
NOTHING = Check(
    "nothing retrieved", "retrieved",
    "All scores are -inf, or a run has no documents.",
    "20 rows",
    "No document is retrieved in",
)  # fmt: skip
ANOTHER_GAIN = Check(
    "another gain than scikit-learn's", "form",
    "`ndcg_score` or `dcg_score` is called as in scikit-learn: two dimensions, without `gain=` and `convention=`.",
    "a grade above 1, and another value with linear gain",
    "than scikit-learn's function of the same name", can_be_meant=False,
)  # fmt: skip
NAMED = Check(
    "a column where lower is better", "names",
    "Scores named rank, position, distance, cost, loss, error, perplexity, latency or l2 are not negative.",
    "",
    "so lower seems to be better",
)  # fmt: skip
UNDIVIDED = Check(
    "labels without propensities", "grades",
    'Labels of "psndcg", "psp", "snips" or "ips_dcg" are between 0 and 1, so they were not divided by propensities.',
    "20 lists",
    "divide labels by the propensities",
)  # fmt: skip
TRANSPOSED = Check(
    "a transposed frame", "matrices",
    "The columns of a frame are queries.",
    "columns named `qid`",
    "so it is transposed", "error", can_be_meant=False,
)  # fmt: skip
MATRIX_AGAIN = Check(
    "a query in two matrices", "again",
    "Two batches of queries by documents share an id.",
    "",
    "where a row is a query", "error", can_be_meant=False,
)  # fmt: skip
BATCH_AGAIN = Check(
    "documents in two batches", "batches",
    "Batches or files number their queries from 0, and the same queries have the same labels.",
    "20 queries in a batch, and labels that differ in 20 rows",
    "so documents count twice",
)  # fmt: skip
NUMBERED_AGAIN = Check(
    "queries numbered in each batch", "batches",
    "Batches or files begin with the queries 0, 1, 2, ... or 1, 2, 3, ..., each in adjacent rows.",
    "20 queries in each of two batches",
    "number their queries",
)  # fmt: skip
CHECKS_OF_ROWS = (
    CONSTANT, SOFT, LARGE_GRADES, SCALE, ONE_ROW, NO_ID, WORSE_THAN_CHANCE, SWAPPED,
    OF_IDS, NOTHING, NAMED, ANOTHER_GAIN, UNDIVIDED, TRANSPOSED, MATRIX_AGAIN, BATCH_AGAIN, NUMBERED_AGAIN,
)  # fmt: skip


# --- tests of the evidence -------------------------------------------------------------------------------------


def findings_of(
    e: Evidence, metrics: Metrics, looked_at: frozenset[str], decides: bool, chooses: bool, *, label: str = "y_true",
    score: str = "y_score", name: Any = None, is_series: bool = False,
) -> Iterator[Finding]:  # fmt: skip
    """Yield the findings in the evidence of the kinds `looked_at`."""
    # `decides`: whether all data are there; `chooses`: whether the first metric chooses a model. `label` and `score`
    # are the names of the arguments in messages. `name` is the name of the column of scores, or of a Series.
    if "arguments" in looked_at and are_swapped(e):
        # Scores passed as labels may also have findings of labels.
        yield Finding(
            SWAPPED,
            f"{label} has many different fractions and {score} a few whole numbers, so they look swapped: labels come "
            "first. Soft labels with predicted classes look the same.",
        )
    elif "arguments" in looked_at and are_item_ids(e, metrics):
        yield Finding(
            OF_IDS,
            f"{label} and {score} have other whole numbers in each list, so they look like ids of items: to evaluate "
            "lists of ids, pass {query: relevant items} and {query: items, best first} to evaluate_run.",
        )
    elif "labels" in looked_at:
        yield from _of_labels(e, metrics, decides, chooses, label)
    # Lists of a run are sets already.
    if "arguments" in looked_at:
        yield from _of_thresholds(e, metrics)
    are_single = e.n_queries == e.n_rows >= LEAST_QUERIES and e.lowest_label < e.highest_label
    if "ids" in looked_at and are_single and any(map(reads_order, metrics.values())):
        yield Finding(
            ONE_ROW,
            "Every query has one row and cannot be ranked: qid= must name what the documents of one list "
            "have in common.",
        )
    if "qid" in looked_at and e.odd_ids:
        yield from _of_qid(e)
    if "retrieved" in looked_at and e.highest_score == -np.inf and e.n_rows >= LEAST_ROWS_UNRETRIEVED:
        yield Finding(
            NOTHING, f"No document is retrieved in {score} for any query: every score is -inf, or lists are empty."
        )
    elif "names" in looked_at and is_named_lower(name, e, is_series):
        yield Finding(
            NAMED,
            f"Scores are called {echo(name)}, so lower seems to be better: the highest ranks first, so negate them.",
        )
    elif "scores" in looked_at and is_worse(e) and is_relevance(e, metrics):
        yield Finding(
            WORSE_THAN_CHANCE,
            f"{score} puts judged documents into an order worse than a random order by {label}: the mean agreement is "
            f"{-e.agreement.z_by_chance:.0f} standard errors below chance. The highest score ranks first, and the "
            "highest label is the most relevant: negate ranks, distances and losses.",
        )


def _of_thresholds(e: Evidence, metrics: Metrics) -> Iterator[Finding]:
    """Yield the finding of metrics that choose all documents or none, because no score is on the other side."""
    outside = {
        name: least for name in reads_threshold(metrics)
        if not e.lowest_score <= (least := metrics[name]["threshold"]) < e.highest_score and least > float("-inf")
    }  # fmt: skip
    if outside and e.lowest_score < e.highest_score and e.n_lists >= LEAST_QUERIES:
        (first, least), *_ = outside.items()
        message = (
            f"{', '.join(outside)} cannot tell good rankings from bad ones here: every score is "
            f"{'above' if e.lowest_score > least else 'at most'} threshold={least:g}. Scores lie between "
            f"{e.lowest_score:g} and {e.highest_score:g}. Pass a threshold among the scores."
        )
        yield Finding(CONSTANT, message, len(outside) == len(metrics))


def reads_threshold(metrics: Metrics) -> list[str]:
    """Metrics that compare scores with a threshold."""
    return [name for name, metric in metrics.items() if "threshold" in metric.metric.formula_params]


def _of_labels(e: Evidence, metrics: Metrics, decides: bool, chooses: bool, label: str) -> Iterator[Finding]:
    """Yield findings of labels, each for the affected metrics."""
    first, soft = next(iter(metrics), ""), []
    if is_soft(e):
        soft = [name for name, metric in metrics.items() if reads_one(metric)]
    if soft:
        least = metrics[soft[0]]["min_relevance"]
        message = (
            f"Documents are relevant from min_relevance={least:g} on in {', '.join(soft)}, and labels lie between 0 "
            "and 1: pass a lower min_relevance."
        )
        yield Finding(SOFT, message, first in soft)
    for message, names in _of_scale(e, metrics):
        if names := [name for name in names if name not in soft]:
            yield Finding(SCALE, message.format(", ".join(names)), first in names)
    large = [name for name, metric in metrics.items() if is_exponential(metric) and not has_missing_grade(e)]
    if large and e.highest_label > HIGHEST_GRADE:
        message = (
            f"A label has the gain 2**label - 1 in {', '.join(large)}, and labels go up to {e.highest_label:g}, so "
            f"that one label decides: pass grades from 0 to {HIGHEST_GRADE}, or gain='linear'."
        )
        yield Finding(LARGE_GRADES, message, first in large)
    if by_propensity := [*filter(BY_PROPENSITY.match, metrics)] if 0 < e.highest_label <= 1 else []:
        message = (
            f"No label is above 1, and {', '.join(by_propensity)} needs labels divided by propensities, 1 or "
            "more for a relevant document: divide labels by the propensities."
        )
        if e.n_lists >= LEAST_QUERIES:
            yield Finding(UNDIVIDED, message, first in by_propensity)
    unmoved = [name for name in metrics if name in e.constant and name not in soft]
    reasons = {name: _reason(e, metrics[name]["min_relevance"], decides, label) for name in unmoved}
    told = [name for name, reason in reasons.items() if reason]
    if told:
        why = reasons[first if first in told else told[0]]
        spoils = first in told if chooses else len(told) == len(metrics)
        told = [name for name in told if reasons[name] == why]
        message = f"{', '.join(told)} cannot tell good rankings from bad ones here: {why}"
        yield Finding(CONSTANT, message, spoils)


def _of_scale(e: Evidence, metrics: Metrics) -> Iterator[tuple[str, list[str]]]:
    """Yield messages about the scale of labels, each with the affected metrics."""
    scaled = {name: metric for name, metric in metrics.items() if reads_scale(metric)} if is_soft(e) else {}
    for has_stop, way_out in ((True, "stop='label' for probabilities, or "), (False, "")):
        yield (
            "{} reads grades up to max_grade, and labels are from 0 to 1, on another scale: pass "
            f"{way_out}max_grade=1.",
            [name for name, metric in scaled.items() if ("stop" in metric.metric.defaults) is has_stop],
        )
    if has_missing_grade(e):
        yield (
            f"The label {e.highest_label:g} is beside grades up to {e.highest_other:g}, on another scale in {{}}: pass "
            "NaN for a document that was not judged.",
            [*metrics],
        )
    elif e.highest_label == 100 and e.highest_other > MOST_GRADES and e.n_lists >= LEAST_QUERIES:
        yield (
            "Documents are relevant from min_relevance=1 on in {}, and labels go up to 100, on another scale: pass a "
            "higher min_relevance.",
            [n for n, one in metrics.items() if one["min_relevance"] == 1 and reads_relevance(one)],
        )


def has_missing_grade(e: Evidence) -> bool:
    """Whether the highest label is a placeholder for missing labels among grades."""
    return e.highest_label in HIGHEST_OF_SCALES - {100.0} and 0 < e.highest_other <= MOST_GRADES


def reads_scale(metric: Any) -> bool:
    """Whether a metric divides gains by the gain of a `max_grade` above 1."""
    entry: Any = metric.metric
    if "max_grade" not in entry.formula_params or metric["max_grade"] <= 1:
        return False
    return is_word(metric["stop"], "exp2") if "stop" in entry.formula_params else not is_word(metric["gain"], "binary")


def _of_qid(e: Evidence) -> Iterator[Finding]:
    """Yield the finding of invalid query ids."""
    if are_mask(e.odd_ids, e.n_queries):
        yield Finding(NO_ID, "A boolean is no id of a query: pass the query of each row as qid, and a mask as mask=.")
    elif (one := stand_in(e.odd_ids, e.n_queries)) is not None:
        yield Finding(
            NO_ID,
            f"{echo(one)} in qid is no id of a query but stands for a missing one, so unrelated rows may be one query: "
            "leave these rows out.",
        )


def _reason(e: Evidence, least: float, decides: bool, label: str) -> str:
    """Return the reason why every order has the same value with this `min_relevance`; "" if that may be chance."""
    low, high = e.lowest_label, e.highest_label
    if not are_enough(e.n_lists, e.n_rows):
        return ""
    if low == high:
        way_out = "No document is relevant."
        if high > 0:
            way_out = "Add rows of other documents, or rank all items of a recommender: make_recommender_scorer."
        # If few documents are relevant, many rows may have no relevant document by chance.
        return f"every label is {low:g}. {way_out}" if decides or high > 0 or e.n_rows >= LEAST_ROWS_WITHOUT else ""
    if low >= least:
        way_out = f"If {low:g} means not relevant, pass {label} - {low:g}, or a" if low > 0 else "Pass a"
        found = f"labels from {low:g} to {high:g}, min_relevance={least:g}"
        return f"every document is relevant ({found}). {way_out} higher min_relevance."
    if high < least:
        found = f"labels from {low:g} to {high:g}, min_relevance={least:g}"
        return f"no document is relevant ({found}). Pass a lower min_relevance."
    way_out = "Add documents of other labels, or check qid=."
    return "" if e.counts.leaves_out else f"the documents of each query have one label. {way_out}"


def are_enough(n_lists: int, n_rows: int) -> bool:
    """Whether there are enough lists, or enough rows in fewer lists, to exclude chance."""
    return n_lists >= LEAST_QUERIES or (n_lists >= LEAST_LONG_LISTS and n_rows >= LEAST_ROWS)


def is_soft(e: Evidence) -> bool:
    """Whether labels are between 0 and 1, with values other than 0 and 1."""
    if e.labels_are_whole or e.lowest_label < 0 or e.highest_label > 1:
        return False
    few_do = e.highest_label < 1 and e.n_queries >= 2 and e.n_rows >= LEAST_SOFT_ROWS
    return few_do or e.n_lists >= LEAST_QUERIES


def is_exponential(metric: Any) -> bool:
    """Whether a metric gives a label the gain 2**label - 1."""
    entry: Any = metric.metric
    return "gain" in entry.formula_params and is_word(metric["gain"], "exp2")


def are_swapped(e: Evidence) -> bool:
    """Whether labels look like scores and scores like labels."""
    is_few = e.scores_are_whole and e.highest_score - e.lowest_score <= MOST_GRADES
    return is_few and e.is_tied and len(e.fractions) >= LEAST_FRACTIONS


def are_item_ids(e: Evidence, metrics: Metrics) -> bool:
    """Whether labels and scores are ids, for metrics that would find all but one relevant, or in which one decides."""
    if not e.are_ids or e.n_queries < 2:
        return False
    return any(is_exponential(one) or (one["min_relevance"] <= 1 and reads_relevance(one)) for one in metrics.values())


def is_worse(e: Evidence) -> bool:
    """Whether scores contradict labels by more than chance, consistently over queries."""
    found = e.agreement
    return found.n >= LEAST_AGAINST and found.z_by_chance < -FAR_BELOW and found.z < -CLEARLY_BELOW


def is_relevance(e: Evidence, metrics: Metrics) -> bool:
    """Whether labels are relevance; sums of gains may use another attribute, such as the novelty of items."""
    names = {metric.metric.name for metric in metrics.values()}
    are_grades = e.labels_are_whole and e.highest_label <= HIGHEST_GRADE
    return not names <= ({"cg", "acg"} if are_grades else {"cg", "acg", "dcg"})


def is_named_lower(name: Any, e: Evidence, is_series: bool) -> bool:
    """Whether the name implies that lower is better, and scores are not negated and do not agree with the labels."""
    # A Series keeps its name in calculations such as 1 - distance, so its scores must also contradict the labels.
    if not is_lower_column(name) or e.lowest_score < 0:
        return False
    if COUNTED.search(name) and not e.scores_are_whole:
        return False
    if is_series:
        return e.n_lists >= LEAST_QUERIES and e.agreement.z < -CLEAR
    return e.n_lists < LEAST_QUERIES or e.agreement.z < CLEAR


def reads_one(metric: Any) -> bool:
    """Whether a metric treats labels below 1 as not relevant."""
    return bool(metric["min_relevance"] >= 1) and reads_relevance(metric)


# --- fast tests ----------------------------------------------------------------------------------------------


def surely_passes(queries: Queries, metrics: Metrics, y_true: Any, y_score: Any) -> bool:
    """Whether arrays certainly pass all checks; a fast test, sufficient for most rows."""
    summary, high = queries.summary, queries.summary.label_range[1]
    is_usual = summary.labels_are_whole and high <= HIGHEST_GRADE and summary.score_range[1] > -np.inf
    if not (is_usual and type(y_true) is type(y_score) is np.ndarray):
        return False
    if odd_ids(queries.grouping.ids) or (high <= 1 and any(map(BY_PROPENSITY.match, metrics))):
        return False
    if reads_threshold(metrics):
        return False
    n_queries = queries.grouping.n_queries
    if may_be_ids(queries):
        return False
    if are_enough(n_queries, len(queries.score)) and may_be_constant(queries, metrics):
        return False
    return n_queries < LEAST_AGAINST or not may_run_against(queries)


def may_be_misuse(queries: Queries, metrics: Metrics, kinds: str) -> bool:
    """Whether a fast test cannot exclude a finding; for most rows it can."""
    summary, n_queries = queries.summary, queries.grouping.n_queries
    if "qid" in kinds and odd_ids(queries.grouping.ids):
        return True
    if "retrieved" in kinds and summary.score_range[1] == -np.inf:
        return True
    if summary.scores_are_whole:
        is_other = may_be_ids(queries) or (not summary.labels_are_whole and have_few_values(queries))
        if "arguments" in kinds and is_other:
            return True
    if "arguments" in kinds and reads_threshold(metrics):
        return True
    if "scores" in kinds and n_queries >= LEAST_AGAINST and may_run_against(queries):
        return True
    if "labels" not in kinds:
        return False
    if summary.label_range[1] > HIGHEST_GRADE:
        return True
    if summary.label_range[1] <= 1 and any(map(BY_PROPENSITY.match, metrics)):
        return True
    if not summary.labels_are_whole and summary.label_range[1] <= 1:
        if any(reads_one(metric) or reads_scale(metric) for metric in metrics.values()):
            return True
    if not are_enough(n_queries, len(queries.row_label)):
        return False
    return n_queries == queries.grouping.indptr[-1] or may_be_constant(queries, metrics)


def has_another_gain(function_name: str, queries: Queries, keywords: Mapping[str, Any]) -> bool:
    """Whether grades above 1 come in scikit-learn's form, without a keyword that sets the gain."""
    is_of_sklearn = function_name in GAIN_DIFFERS and queries.grouping.row_is_query
    is_said = keywords.get("gain") is not None or keywords.get("convention") is not None
    return is_of_sklearn and not is_said and queries.summary.label_range[1] > 1


def another_gain(function_name: str, queries: Queries, value: Array, linear: Array) -> Iterator[Finding]:
    """Value of a function with scikit-learn's name that differs from the value with linear gain."""
    if not np.allclose(value, linear, rtol=1e-9, atol=0, equal_nan=True):
        yield Finding(
            ANOTHER_GAIN,
            f"{function_name} has the gain 2**label - 1, and labels go up to {queries.summary.label_range[1]:g}, so it "
            "gives another number than scikit-learn's function of the same name: pass gain='linear' for scikit-learn's "
            "number, or gain='exp2' for this one.",
        )


def transposed(*given: Any) -> Iterator[Finding]:
    """Frames whose columns are queries."""
    if any(getattr(getattr(frame, "columns", None), "name", None) == "qid" for frame in given):
        yield Finding(
            TRANSPOSED,
            "The columns of a frame are named 'qid', so it is transposed: a row is a query, so pass frame.T.",
        )


# --- batches -------------------------------------------------------------------------------------------------


def matrix_again(qid: Any) -> Iterator[Finding]:
    """A query that is a row of two matrices."""
    yield Finding(
        MATRIX_AGAIN,
        "In batches of queries by documents, where a row is a query, qid must have each id once: if ids are numbered "
        f"from 0 in each batch, continue the numbers. Got query {echo(qid)} again.",
    )


class BatchesSeen:
    """Memory of some rows of each batch, to notice a repeated batch."""

    def __init__(self) -> None:
        self._keys: set[tuple[int, bytes, bytes]] = set()
        self._is_repeated = False
        # Batches that begin with the first query and go on to the next ones, and the least number of these.
        self._n_numbered, self._least = 0, 2**32

    def add(self, number: NDArray[Any], label: NDArray[Any]) -> None:
        """Add a batch by the query number and the label of each row."""
        n_numbered = int(number[-1]) + 1
        if number[0] == 0 and n_numbered >= LEAST_QUERIES and (np.diff(number.astype(np.int64)) <= 1).all():
            if (number[1:] >= number[:-1]).all():
                self._n_numbered, self._least = self._n_numbered + 1, min(self._least, n_numbered)
        step = max(1, len(number) // SAMPLED_LABELS)
        number, label = number[::step], label[::step]
        n_other = int(np.count_nonzero(label != label[0]))
        if min(n_other, label.size - n_other) < LEAST_OTHER_LABELS or len(distinct_values(number)) < LEAST_QUERIES:
            return
        key = len(number), number.tobytes(), label.tobytes()
        self._is_repeated |= key in self._keys
        self._keys.add(key)

    def findings(self, ids: NDArray[Any]) -> Iterator[Finding]:
        """Yield the finding of a repeated batch, or of batches that number queries alike; `ids` are of all queries."""
        if self._is_repeated:
            yield Finding(
                BATCH_AGAIN,
                "A batch has the queries and the labels of an earlier batch, so documents count twice. If each batch "
                "or file numbers its queries from 0, make ids distinct; to compare systems use compare_systems.",
            )
        elif self._n_numbered > 1 and _are_numbers(ids[: self._least].tolist()):
            yield Finding(
                NUMBERED_AGAIN,
                f"{self._n_numbered} batches or files number their queries from {ids[0]}, so rows of different queries "
                "may be one list: make ids distinct, such as with the name of the file.",
            )


def _are_numbers(ids: list[Any]) -> bool:
    """Whether ids are 0, 1, 2, ... or 1, 2, 3, ..., also as texts."""
    return any([*map(str, ids)] == [*map(str, range(first, first + len(ids)))] for first in (0, 1))
