"""Checks of ids: ids in another spelling, words for missing ids, and repeated runs that count as queries."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from numpy.typing import NDArray

from sklearn_rank._misuse.check import Check, Finding
from sklearn_rank._misuse.evidence import NONE_WORDS, odd_ids, stand_in
from sklearn_rank._utils.echo import echo

SPELLINGS: dict[str, Callable[[str], str]] = {
    "id.casefold()": str.casefold,
    "str(int(float(id)))": lambda text: _number(text),
}
"""Calls that make ids equal, and their functions."""

LIKE_WORDS = re.compile(r"[^\W\d_]{2,}(?:[ '-][^\W\d_]+)*")
"""A text that looks like words."""

USUAL_FORMS = str.lower, str.upper, str.title, str.capitalize
SHARE_OF_FORMS = 0.9
"""Ways to write words, and the least share of them: codes such as aB have others."""

WHOLE = re.compile(r"0*(\d+)(?:\.0*)?")
SUFFIX = re.compile(r"[^0-9A-Za-z]+[0-9A-Za-z]+[^0-9A-Za-z]?$")
REPEATED = re.compile(r"(?i:run|rep(?:eat)?|trial|try|seed|iter(?:ation)?|copy)[^0-9A-Za-z]?\d+\W?$")
"""Suffix of an id that names a repetition."""
PREFIX = re.compile(r"^\W?(?i:run|rep(?:eat)?|trial|try|seed|iter(?:ation)?|copy)[^0-9A-Za-z]?\d+[^0-9A-Za-z]+(?=.)")
"""Prefix of an id that names a repetition; others, such as languages, are ordinary."""

MOST_COMPARED, SAMPLED_IDS = 2**10, 16
"""Number of compared ids on each side, and number of ids to test for suffixes."""

LEAST_LISTS, LOOKED_AT_LISTS, SAMPLED_DOCUMENTS, MOST_JUDGED = 5, 32, 10, 2**17
"""Lists of another query, examined lists, documents of each, and judgments to search."""

LEAST_REPEATED, LEAST_DIFFERENT, LEAST_VALUES = 5, 3, 6
"""Repeated queries, their distinct lists of labels, and distinct values of an attribute that may include -1."""

SPELLED = Check(
    "ids in another spelling", "runs",
    "Ids match only as numbers, 000123, 123.0 and 123, or ids of queries without case.",
    "two ids, or half of the ids without a match",
    "are spelled in another way",
)  # fmt: skip
RUNS_AS_QUERIES = Check(
    "repeated runs as queries", "queries",
    "Query ids are equal up to a suffix, as in q1#run1 and q1#run2, or a prefix such as run1-, and so are the labels.",
    "5 queries, each at least twice; 3 different lists of labels, or a suffix such as run2",
    "are no further queries",
)  # fmt: skip
NO_VALUE = Check(
    "placeholder values", "queries",
    '`by` or `clusters` holds -1, the smallest int64 or "nan", also as text.',
    "one value; for -1, three values of `clusters` or six of `by` without another negative value",
    "stands for a missing value",
)  # fmt: skip
SHIFTED = Check(
    "lists of another query", "runs",
    "No document of a list is judged for its query, and all are judged for another query.",
    "5 lists, and half of the lists without a judged document",
    "are all judged for another query",
)  # fmt: skip
CASE = Check(
    "ids that differ by case", "queries",
    "Two queries, segments or clusters look like words, and differ only by case.",
    "two ids, and 9 of 10 ids of letters in lower case, upper case or with capitals",
    "differ only by case",
)  # fmt: skip
BOTH_MISSING = Check(
    "placeholder ids that match", "runs",
    'A query or a document is "null", "NA", "undefined" or the like on both sides.',
    "one id, where most others do not look like words",
    "may stand for a missing one on both sides",
)  # fmt: skip
CHECKS_OF_IDS = (SPELLED, SHIFTED, RUNS_AS_QUERIES, NO_VALUE, CASE, BOTH_MISSING)


def _number(text: str) -> str:
    """Normalize a whole number: remove leading zeros and zero decimals; other texts are unchanged."""
    whole = WHOLE.fullmatch(text)
    return whole[1] if whole else text


def spelled_alike(
    ours: Sequence[Any], theirs: Sequence[Any], case_may_differ: bool = True
) -> tuple[int, Any, Any, str] | None:
    """Return the number of ids that match only with another spelling, a pair of them, and the call; None if few do."""
    # A spelling is skipped if it makes distinct ids of one side equal, and so is case unless it `case_may_differ`.
    a, b = ({str(one): one for one in ids[:MOST_COMPARED]} for ids in (ours, theirs))
    sides = [{text: one for text, one in side.items() if text not in a or text not in b} for side in (a, b)]
    least = min(2, (min(map(len, sides)) + 1) // 2)
    for call, spell in [*SPELLINGS.items()][not case_may_differ :]:
        spelled = [{spell(text): one for text, one in side.items()} for side in sides]
        if any(len(a) < len(b) for a, b in zip(spelled, sides, strict=True)):
            continue
        both = [text for text in spelled[0] if text in spelled[1]]
        if len(both) >= least > 0:
            return len(both), spelled[0][both[0]], spelled[1][both[0]], call
    return None


def another_spelling(ours: Sequence[Any], theirs: Sequence[Any], what: str) -> Iterator[Finding]:
    """Ids without a match that would match with another spelling."""
    if ours and theirs and (alike := spelled_alike(ours, theirs, what != "documents")) is not None:
        n, a, b, call = alike
        yield Finding(
            SPELLED,
            f"Ids of {what} are spelled in another way on the other side, so they do not match: {n} would be equal by "
            f"{call}. Spell them alike on both sides. Got {echo(a)} and {echo(b)}.",
        )


def words_on_both_sides(both: frozenset[str], ids: Sequence[Any], what: str) -> Iterator[Finding]:
    """Words for missing ids that are on `both` sides, among some `ids` of one side that do not look like words."""
    are_words = sum(LIKE_WORDS.fullmatch(str(one)) is not None for one in ids if one not in NONE_WORDS)
    if both and 2 * are_words <= len(ids) - sum(one in NONE_WORDS for one in ids):
        yield Finding(
            BOTH_MISSING,
            f"{echo(min(both))} may stand for a missing one on both sides, and matches as an id of {what}: leave it out"
            " of run and judgments.",
        )


def alike_but_for_case(ids: NDArray[Any]) -> tuple[str, str] | None:
    """Two ids that look like words and differ only by case."""
    words, folded = list[str](), dict[str, str]()
    for some in (ids[:: len(ids) // SAMPLED_IDS or 1], ids) if ids.dtype.kind in "UTO" else ():
        words = [one for one in some.tolist() if isinstance(one, str) and LIKE_WORDS.fullmatch(one)]
        if not words:
            return None
    pair = next(((folded[key], one) for one in words if folded.setdefault(key := one.casefold(), one) != one), None)
    n_usual = sum(any(form(one) == one for form in USUAL_FORMS) for one in words) if pair else 0
    return pair if n_usual >= SHARE_OF_FORMS * len(words) else None


def lists_of_another_query(
    lists: Sequence[Sequence[Any]], judged: Sequence[Any], query: Sequence[int]
) -> Iterator[Finding]:
    """Lists whose documents are not judged for their query but all for another; `query` is of the judgments."""
    listed, judged_for = {one for documents in lists for one in documents}, dict[Any, set[int]]()
    for document, number in zip(judged, query, strict=True):
        if document in listed:
            judged_for.setdefault(document, set()).add(number)
    none = set[int]()
    found = [one for one in lists if set.intersection(*(judged_for.get(document, none) for document in one))]
    if len(found) >= max(LEAST_LISTS, len(lists) / 2):
        yield Finding(
            SHIFTED,
            f"Documents of {len(found)} of {len(lists)} lists without a judged document are all judged for another "
            "query, so ids of queries may be those of other rows: compare a list with its query. Got documents such as "
            f"{echo(found[0][0])}.",
        )


def may_be_repeated(ids: NDArray[Any]) -> bool:
    """Whether ids may end in the number of a run, or start with it; tests only a few ids."""
    if ids.dtype.kind not in "UTO" or len(ids) < 2 * LEAST_REPEATED:
        return False
    some = ids[:: len(ids) // SAMPLED_IDS or 1].tolist()
    # Most ids consist of letters and digits, which is faster to test.
    texts = [one for one in some if isinstance(one, str) and not one.isalnum()]
    return 3 * sum(SUFFIX.search(one) is not None or PREFIX.search(one) is not None for one in texts) > len(some)


def findings_of_queries(result: Any) -> Iterator[Finding]:
    """Findings on the queries of a result: placeholder values, ids that differ by case, and ids of repeated runs."""
    if result.clusters is None and not result.attributes and result.qid.dtype.kind in "iuf":
        return
    given = {f"by[{echo(name)}]": values for name, values in result.attributes.items()}
    if result.clusters is not None:
        given["clusters"] = result.clusters
    for name, values in (given | {"qid": result.qid}).items():
        if (pair := alike_but_for_case(values)) is not None:
            yield Finding(
                CASE,
                f"{echo(pair[0])} and {echo(pair[1])} in {name} differ only by case, and count as two: id.casefold() "
                "makes them equal.",
            )
    for name, values in given.items():
        odd = odd_ids(values)
        n = len({*values.tolist()}) if odd else 0
        one = stand_in(odd, n)
        if one is not None and (name == "clusters" or str(one) != "-1" or n >= LEAST_VALUES):
            yield Finding(
                NO_VALUE,
                f"{echo(one)} in {name} stands for a missing value, so unrelated queries are combined: leave these "
                "queries out, or give each query its own value.",
            )
    yield from _repeated_runs(result)


def _repeated_runs(result: Any) -> Iterator[Finding]:
    """Queries of a result whose ids are equal up to a suffix or the prefix of a run, and whose labels are equal."""
    if result.clusters is not None or not may_be_repeated(result.qid) or result.label_fingerprints is None:
        return
    names = [str(one) for one in result.qid.tolist()]
    affix = PREFIX if all(map(PREFIX.search, names)) else SUFFIX
    beginnings = [affix.sub("", name) for name in names]
    known, queries = {*beginnings}, dict[str, list[tuple[str, int]]]()
    for name, beginning, labels in zip(names, beginnings, result.label_fingerprints.tolist(), strict=True):
        queries.setdefault(name if name in known else beginning, []).append((name, labels))
    if len(queries) < LEAST_REPEATED or min(map(len, queries.values())) < 2:
        return
    prints = [{labels for _, labels in runs} for runs in queries.values()]
    (a, _), (b, _), *_ = next(iter(queries.values()))
    is_sure = affix is PREFIX or REPEATED.search(b) is not None or len(set().union(*prints)) >= LEAST_DIFFERENT
    if max(map(len, prints)) == 1 and is_sure:
        yield Finding(
            RUNS_AS_QUERIES,
            f"{len(names)} ids are runs of {len(queries)} queries: {echo(a)} and {echo(b)} have the same labels. "
            "Repeated runs are no further queries, so intervals are too narrow: take the mean of each query, or pass "
            f"ids without the {'prefix' if affix is PREFIX else 'suffix'} as clusters=.",
        )
