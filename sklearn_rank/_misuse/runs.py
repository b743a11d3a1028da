"""Checks of runs: swapped with judgments, dictionaries in the wrong direction, ranks that contradict the scores."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping, number_together
from sklearn_rank._engine.ids import ids_of
from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.evidence import LEAST_DOCUMENTS, SAMPLED_ROWS, moments_of, stand_in
from sklearn_rank._misuse.rows import CLEAR, LEAST_FRACTIONS, LEAST_QUERIES, NAMED, WORSE_THAN_CHANCE
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index

MOST_DISTINCT = 6
"""Maximum number of grades; a run with at most so many distinct scores, all integers, may be judgments."""

DIGITS = re.compile(r"\d+")

LEAST_IDS = 12
"""Minimum number of ids per side; by chance, all of one side exceed all of the other once in a million."""

SHARE_BY_CHANCE = 0.01
"""Maximum share of documents that match by chance."""

TURNED = Check(
    "run and judgments swapped", "runs",
    "A run has grades, and the judgments have scores or an order.",
    "a run with no more documents than are judged, equal grades in a query, or 20 fractional scores",
    "seem to be the other way round", can_be_meant=False,
)  # fmt: skip
RISING = Check(
    "a run worst first", "runs",
    "The scores of a run rise in the given order, and relevant documents come first.",
    "20 lists",
    "rise in the order given",
)  # fmt: skip
NO_DOCUMENT_ID = Check(
    "invalid document ids", "runs",
    'A document id is -1, the smallest int64 or "nan", also as text.',
    "one id; for -1, three ids without another negative id",
    "is no id of a document",
)  # fmt: skip
STRANGERS = Check(
    "ids without a match", "runs",
    "Less than 1 % of the documents of a run are judged for any query, none of them relevant, and the ids look "
    "different.",
    "two queries with documents; 12 ids on each side if the ids differ only in numbers",
    "document of the run is judged",
)  # fmt: skip
TWO_TYPES = Check(
    "ids of two types", "runs",
    "Document ids are texts and numbers, and the other side has only one of the types.",
    "one document of each type",
    "have ids of two types",
)  # fmt: skip
FRACTION = Check(
    "rank and score swapped in a file", "lines",
    "The rank column of a TREC run has a fraction.",
    "",
    "must have a whole number as rank", "error", can_be_meant=False,
)  # fmt: skip
CONTRADICTED = Check(
    "ranks that contradict scores", "ranks",
    "A column or field of ranks rises with the scores in all queries.",
    "20 queries with three or more different scores",
    "contradict its scores",
)  # fmt: skip
CHECKS_OF_RUNS = (TURNED, RISING, NO_DOCUMENT_ID, STRANGERS, TWO_TYPES, FRACTION, CONTRADICTED)
DIRECTIONS = (NAMED, CONTRADICTED, RISING, WORSE_THAN_CHANCE)
"""Checks of the direction of scores; only the first finding is reported."""


# --- run and judgments --------------------------------------------------------------------------------------


def turned_round(
    score: Array, code: NDArray[np.integer], grade: Array, order: str, *, is_list: bool, is_judged_by_lists: bool
) -> Iterator[Finding]:  # fmt: skip
    """A run that looks like grades, with judgments that are no shorter and look like scores or a ranking."""
    # `code` is the query of each score; `is_list` and `is_judged_by_lists` mean that documents of a query are a list.
    if not 0 < len(score) <= len(grade) or is_list or not _are_grades(score):
        return
    distinct = distinct_values(score)
    is_tied = len(distinct) == 1 or len(np.unique([code, score], axis=1)[0]) < len(score)
    fractions = distinct_values(grade[grade % 1 > 0])
    if (is_tied and (is_judged_by_lists or not _are_grades(grade))) or len(fractions) >= LEAST_FRACTIONS:
        yield Finding(
            TURNED,
            f"{order}, and these seem to be the other way round. Got a run of no more documents than are judged, with "
            f"no scores but {', '.join(map('{:g}'.format, distinct))}.",
        )


def _are_grades(values: Array) -> bool:
    """Whether values are integers with few distinct values, like grades."""
    return bool((values == np.floor(values)).all()) and len(distinct_values(values)) <= MOST_DISTINCT


# --- documents -----------------------------------------------------------------------------------------------


def documents_that_are_none(odd: frozenset[Any], n_documents: int) -> Iterator[Finding]:
    """Placeholder ids among documents."""
    if (one := stand_in(odd, n_documents)) is not None:
        yield Finding(
            NO_DOCUMENT_ID,
            f"{echo(one)} is no id of a document but stands for a missing one, and would count as one: leave it out of "
            "run and judgments.",
        )


def match_nothing(of_run: list[Any], judged: list[Any], n_judged: int) -> Iterator[Finding]:
    """Ids of a run that differ from the ids in the judgments; `n_judged` of its documents are judged."""
    if are_other_ids(of_run, judged):
        ours, theirs = echo(of_run[0]), echo(judged[0])
        yield Finding(
            STRANGERS,
            f"{'Nearly no' if n_judged else 'No'} document of the run is judged, so that all are not relevant. Ids of "
            f"documents must be the same in both. Got ids such as {ours} in the run and {theirs} in the judgments.",
        )


def are_other_ids(of_run: list[Any], judged: list[Any]) -> bool:
    """Whether the judgments contain almost no document of a run, and the ids look different."""
    # Ids are compared without their digits. If they are then equal, or all different, a poor model may be the cause, so
    # the ranges of numbers must also be disjoint.
    known, distinct, most = {*judged}, {*of_run}, SHARE_BY_CHANCE * len(of_run)
    if sum(one in known for one in of_run) >= most:
        return False
    (forms, ours) = ({*map(_form, ids)} for ids in (known, distinct))
    are_few = min(len(known), len(distinct)) < LEAST_IDS
    if sum(_form(one) in forms for one in of_run) >= most:
        numbers = [_number(one) for one in distinct], [_number(one) for one in known]
        if are_few or None in numbers[0] or None in numbers[1]:
            return False
        # Whether nearly all numbers of one side exceed nearly all numbers of the other.
        ends = [np.quantile(x, [SHARE_BY_CHANCE, 1 - SHARE_BY_CHANCE]) for x in map(np.array, numbers)]
        return bool(ends[0][1] < ends[1][0] or ends[1][1] < ends[0][0])
    return max(len(forms) / len(known), len(ours) / len(distinct)) < 0.5


def _form(one: Any) -> str:
    """An id without its digits."""
    return DIGITS.sub("", str(one))


def _number(one: Any) -> float | None:
    """The last number in an id, or None."""
    digits = DIGITS.findall(str(one))
    return float(digits[-1]) if digits else None


def ids_of_two_types(pair: tuple[Any, Any] | None) -> Iterator[Finding]:
    """Ids of two types on one side, if the other side lacks a type."""
    if pair is not None:
        one, other = map(echo, pair)
        yield Finding(
            TWO_TYPES,
            f"Documents of the run or of the judgments have ids of two types, such as {one} and {other}, so some may "
            "not match: str(id) makes strings of all.",
        )


# --- direction -----------------------------------------------------------------------------------------------


def rises(score: Array, code: NDArray[np.integer]) -> bool:
    """Whether scores increase in the given order in all queries, of which there are many; rows are adjacent."""
    for n in sorted({min(SAMPLED_ROWS, len(score)), len(score)}):
        same = code[1:n] == code[: n - 1]
        if (same & (score[1:n] < score[: n - 1])).any():
            return False
    size = np.bincount(code)
    risen = np.bincount(code[1:][same & (score[1:] > score[:-1])], minlength=len(size)) > 0
    return int(np.count_nonzero(risen & (size >= LEAST_DOCUMENTS))) >= LEAST_QUERIES


def worst_first(label: Array, score: Array, sizes: Index) -> Iterator[Finding]:
    """A run whose scores increase in the given order, if relevant documents have the lower scores."""
    # Judgments may contain only relevant documents.
    if moments_of(np.nan_to_num(label), score, Grouping.by_sizes(sizes)).z < -CLEAR:
        yield Finding(
            RISING,
            "Scores of the run rise in the order given in every query, and relevant documents have the lower ones: the "
            "highest score ranks first, so negate distances and ranks.",
        )


def rank_with_fraction(rank: str, where: str) -> Iterator[Finding]:
    """A rank of a TREC run that is not a whole number; texts that are not numbers are ignored."""
    try:
        has_fraction = float(rank) % 1 > 0
    except ValueError:
        return
    if has_fraction:
        yield Finding(
            FRACTION,
            "A run of TREC must have a whole number as rank: query Q0 document rank score tag. Rank and score seem to "
            f"be swapped. Got rank {rank} {where}.",
        )


def column_contradicts(rank: Any, score: Any, qid: Any) -> Iterator[Finding]:
    """A table whose column of ranks increases with the scores in all queries; other columns are ignored."""
    columns = [np.asarray(rank), np.asarray(score)]
    if all(column.ndim == 1 and column.dtype.kind in "iuf" for column in columns):
        yield from contradicts(columns[0], columns[1], number_together([ids_of(qid)])[1][0])


def of_one_direction(seen: Iterable[Finding]) -> list[Finding]:
    """Return the findings, with at most one about the direction of scores."""
    seen = [*seen]
    told = next((check for check in DIRECTIONS if check in [one.check for one in seen]), None)
    return [one for one in seen if one.check not in DIRECTIONS or one.check is told]


def contradicts(rank: Array, score: Array, code: NDArray[np.integer]) -> Iterator[Finding]:
    """A run whose ranks increase with the scores in all queries."""
    for n in sorted({min(SAMPLED_ROWS, len(score)), len(score)}):
        order = np.lexsort((rank[:n], code[:n]))
        same, ranked = np.diff(code[:n][order]) == 0, score[:n][order]
        up, down = same & (ranked[1:] > ranked[:-1]), same & (ranked[1:] < ranked[:-1])
        if down.any() or not up.any() or not np.isfinite(rank[:n]).all():
            return
    n_steps = np.bincount(code[order][1:][up])
    if np.count_nonzero(n_steps >= LEAST_DOCUMENTS - 1) >= LEAST_QUERIES:
        yield Finding(
            CONTRADICTED,
            "The ranks of the run contradict its scores: in every query the higher score has the lower rank. Scores "
            "alone order documents, the highest first, so negate them.",
        )
