"""The role of each column of a table of a run or of judgments: decided here, once, for every reader.

Names decide as far as they can. Where two columns could have one role, an error names both and the keyword.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from numbers import Number
from typing import Any, NamedTuple

import numpy as np

from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lower_is_better import is_lower_column
from sklearn_rank._utils.numbers import is_number

LISTS = (
    ("qid", "queryid", "queryno", "querynumber"), ("topicid", "topicno", "topicnumber"), ("userid", "uid"),
    ("sessionid",), ("requestid",), ("searchid", "srchid"), ("impressionid",), ("visitorid",), ("customerid",),
    ("reviewerid",), ("questionid",),
)  # fmt: skip
"""Names of ids of the lists that are ranked, without case, blanks and underscores; each kind of list by itself."""
LISTS_IN_WORDS_OF_ROLES = (
    "query", "topic", "user", "session", "request", "search", "impression", "visitor", "customer", "reviewer",
    "question",
)  # fmt: skip
"""Names of the same kinds of lists without an id."""
EXPLICIT = {*LISTS[0], *LISTS[1]}
"""Names that say that a list is a query, unless another id varies within it."""
DOCUMENT_IDS = {
    "docno", "docid", "documentid", "docidx", "did", "corpusid", "passageid", "pid", "chunkid", "itemid", "movieid",
    "productid", "asin", "parentasin", "articleid", "newsid", "bookid", "isbn", "songid", "trackid", "artistid",
    "videoid",
}  # fmt: skip
DOCUMENTS = {"document", "doc", "passage", "item", "movie", "product", "article"}
"""Names that are of documents where no other is; beside an id they have texts."""
OF_PYTERRIER = {"docno", "docid"}
"""PyTerrier has a number of its own beside the id of a document, which is "docno"."""
NAMES_OF_GRADES = {
    "relevance", "relevancy", "relevant", "isrelevant", "rel", "relevancelabel", "relevancegrade", "relevancelevel",
    "label", "labels", "grade", "grades", "gradedrelevance", "qrel", "qrels", "rating", "ratings", "stars", "judgment",
    "judgement", "judgments", "judgements", "gain", "gains", "target", "gold", "goldlabel", "escilabel",
    "annotation", "groundtruth", "truth", "ytrue",
}  # fmt: skip
NAMES_OF_SCORES = {"score", "similarity", "sim"}
ASIDE = re.compile(
    r"(?<!val)(?<!pa)ids?$|index$|^$|^unnamed\d*$|^indexlevel\d+$|^time(?!spent|on)|(?<!play)(?<!watch)(?<!dwell)"
    r"(?<!view)(?<!read)(?<!spent)(?<!ing)time$|^date|date$|^ts$|edat$|^iter(?:ation)?$|^q0$|^subset$|^split$"
)
"""Names that are not of grades: ids, numbers of rows, times but for how long they were, and TREC's second field."""
MOST_TEXTS = 10
WORDS_OF_ROLES = {"qid": "name the query", "doc_id": "name the document", "value": "have the values"}


class Roles(NamedTuple):
    """Names of the columns of queries, documents and values; None: unknown, or documents that are all relevant."""

    # A name, or a list of names of columns that name a query together.
    qid: Any = None
    doc_id: Any = None
    value: Any = None

    def flat(self) -> list[Any]:
        return [*(self.qid if isinstance(self.qid, (list, tuple)) else [self.qid]), self.doc_id, self.value]


class Candidates(NamedTuple):
    qid: list[Any]
    doc_id: list[Any]
    value: list[Any]


USUAL = Roles()


def normalized_name(name: Any) -> str:
    """A name without case, blanks, underscores, and the type that RecBole writes: "userId" and "user_id:token"."""
    return re.sub(r"[\s_\-.]", "", str(name).partition(":")[0].lower())


def candidates(names: Iterable[Any], kind: str, given: Roles = USUAL) -> Candidates:
    """Columns that may have each role in a run or in judgments (`kind`), by their names."""
    known = [(name, normalized_name(name)) for name in names]
    of_lists: list[Any] = []
    for ids, words in zip(LISTS, LISTS_IN_WORDS_OF_ROLES, strict=True):
        of_lists += [name for name, word in known if word in ids] or [name for name, word in known if word == words]
    documents = [name for name, word in known if word in DOCUMENT_IDS]
    if {*map(normalized_name, documents)} == OF_PYTERRIER:
        documents = [name for name in documents if normalized_name(name) == "docno"]
    documents = documents or [name for name, word in known if word in DOCUMENTS]
    if kind == "run":
        values = [name for name, word in known if word in NAMES_OF_SCORES]
        values = values or [name for name, word in known if word == "rank"]
        values = values or [name for name, _ in known if is_lower_column(name)]
    else:
        values = [name for name, word in known if word in NAMES_OF_GRADES]
        values = values or [name for name, word in known if word == "score"]
    found = Candidates(of_lists, documents, values)
    found = Candidates(*(of if own is None else [own] for own, of in zip(given, found, strict=True)))
    return found._replace(qid=given.flat()[:-2]) if given.qid is not None else found


def rank_beside(names: Iterable[Any] | None, others: Iterable[Any]) -> Any:
    """The column of ranks that a table has beside others; None if it has none."""
    others = [*others]
    return next((name for name in names or () if normalized_name(name) == "rank" and name not in others), None)


def needed(names: Iterable[Any], kind: str, given: Roles = USUAL, value_is_meant: bool = False) -> list[Any]:
    """Columns that `roles_of` reads, queries and documents first; none if no column has one of these roles."""
    names = [*names]
    found = candidates(names, kind, given)
    if not found.qid or not found.doc_id or (kind == "run" and not found.value):
        return []
    others = [name for name in [rank_beside(names, [])] if name is not None] if kind == "run" else []
    if kind != "run" and not value_is_meant:
        others = _others(names, found)
    return [*dict.fromkeys([*found.qid, *found.doc_id, *found.value, *others])]


def roles_of(
    names: Iterable[Any], kind: str, given: Roles = USUAL, column: Callable[[Any], Any] | None = None,
    *, value_is_meant: bool = False,
) -> Roles:  # fmt: skip
    """The one column of each role, by names, and by the contents of those that names leave open."""
    # `given` are columns that the caller named. Without `column`, which has the column of a name, names decide alone.
    # `value_is_meant`: the caller said that each row is relevant, or it does not matter.
    names = [*names]
    found = candidates(names, kind, given)
    query = _query_of(found.qid, kind, column) if given.qid is None else given.qid
    documents, values = found.doc_id, found.value
    if value_is_meant:
        values = [] if given.value is None else [given.value]
    for role, several in (("doc_id", documents), ("value", values)):
        if len(several) > 1:
            _ask(role, several, kind)
    is_open = kind != "run" and given.value is None and not value_is_meant and query is not None and documents
    if is_open and column is not None and (not values or normalized_name(values[0]) == "score"):
        others = [name for name in _others(names, found) if may_be_grades(column(name))]
        if others and values:
            _ask("value", [*values, *others], kind)
        if others:
            raise ValueError(
                f"Which column has the grades of the judgments? Got {echo_all(names)}. io.read_qrels(table, "
                f"value={echo(others[0])}) reads that column as relevance, and value=False says that each row is "
                "relevant; on the command line --value does."
            )
    return Roles(query, documents[0] if documents else None, values[0] if values else None)


def _query_of(found: list[Any], kind: str, column: Callable[[Any], Any] | None) -> Any:
    """The column of queries: an id of queries, if no other candidate varies within one."""
    explicit = [name for name in found if normalized_name(name) in EXPLICIT]
    if len(found) > 1 and len(explicit) == 1:
        others = [name for name in found if name not in explicit]
        if column is None or not any(_varies(column(explicit[0]), column(name)) for name in others):
            return explicit[0]
    if len(found) > 1:
        _ask("qid", found, kind)
    return found[0] if found else None


def _ask(role: str, several: list[Any], kind: str) -> None:
    reader = "read_run" if kind == "run" else "read_qrels"
    option = "" if (kind, role) == ("run", "value") else f", on the command line --{role.replace('_', '-')}"
    raise ValueError(
        f"Several columns of the table could {WORDS_OF_ROLES[role]}: {echo_all(several)}. "
        f"io.{reader}(table, {role}={echo(several[0])}) takes the first; the keyword {role}= decides"
        f"{option}."
    )


def _others(names: list[Any], found: Candidates) -> list[Any]:
    """Columns that have no role, and whose names do not say that they hold no grades."""
    known = {*found.qid, *found.doc_id, *found.value}
    return [
        name for name in names
        if name not in known and not ASIDE.search(word := normalized_name(name))
        and word not in LISTS_IN_WORDS_OF_ROLES and word not in DOCUMENTS
    ]  # fmt: skip


def may_be_grades(column: Any) -> bool:
    """Whether a column holds numbers, also as text, or two to ten texts."""
    array = column if isinstance(column, list) else np.asarray(column)
    if not isinstance(array, list) and array.dtype.kind not in "OUST":
        return bool(array.dtype.kind in "biuf")
    seen: set[Any] = set()
    for value in array:
        if isinstance(value, str | bytes):
            seen.add(value)
        elif isinstance(value, Number) and value == value:
            return True
        if len(seen) > MOST_TEXTS:
            # JSON may have numbers as text.
            return all(map(is_number, seen))
    return len(seen) > 1


def _varies(query: Any, other: Any) -> bool:
    pairs = {*zip(map(str, np.asarray(query).tolist()), map(str, np.asarray(other).tolist()), strict=True)}
    return len({query for query, _ in pairs}) < len(pairs)
