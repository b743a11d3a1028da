"""Entries from runs and judgments in dictionaries of ids."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Set
from dataclasses import replace
from itertools import chain, compress, count, islice, repeat
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.columns import labels_of
from sklearn_rank._engine.grouping import Grouping, Keys
from sklearn_rank._engine.ids import (
    ids_of,
    is_missing,
    may_be_missing,
    may_have_blanks,
    refuse_rounded_ids,
    refuse_two_spellings,
    refuse_unfit_ids,
)
from sklearn_rank._misuse.evidence import LOWEST_INT, odd_ids, odd_texts
from sklearn_rank._tables.roles import candidates
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.numbers import LARGEST_EXACT, as_floats
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.io._entries import HOW_TO_REPEAT, Entries, QueryIds, match, repeated_keys, taken
from sklearn_rank.io._hits import hits_of_answers, is_hit, read_hits

TAKEN = {
    "judgments": "{query: {document: grade}}, {query: relevant documents}, a path, Qrels of ranx, a table",
    "run": "{query: {document: score}}, {query: [documents, best first]}, a path, a Run of ranx, a table",
}
READERS = "or Entries, which io.read_{}(source, value=..., qid=..., doc_id=...) reads from files and tables"
ORDER = "the judgments first, then the run"
RunLike = Entries | Mapping[Any, Any] | Iterable[Any]
JudgmentsLike = Entries | Mapping[Any, Any] | Iterable[Any]
Excluded = Mapping[Any, Iterable[Any]] | Any
"""Documents by query, or a table of both."""
SHORT = 64
"""Largest mean length of lists that are read all at once, without a step for each list. For longer lists one dictionary
of all documents does not fit the cache."""
FEW_ROWS = 2**12
"""Rows whose documents are looked up one by one, without an array of all documents."""

MOST_COLUMNS = 20

Listed = tuple[Collection[Any], Iterable[Any]]


class ListedDocuments:
    """Document of each row, in a collection for each query."""

    # Numbers of documents, maybe of more lists, and the number of each row, until rows are matched.
    codes: tuple[defaultdict[Any, int], Index] | None = None

    def __init__(self, lists: list[Collection[Any]], has_scores: bool = True) -> None:
        self.lists, self.has_scores = lists, has_scores
        self.ends = np.cumsum([0, *map(len, lists)])

    def __len__(self) -> int:
        return int(self.ends[-1])

    def __getitem__(self, rows: Any) -> Any:
        are_few = isinstance(rows, np.ndarray) and rows.dtype.kind == "i" and len(rows) <= FEW_ROWS
        if "_array" in vars(self) or not are_few:
            return self._array[rows]
        query = np.searchsorted(self.ends, rows, side="right") - 1
        lists = {one: [*self.lists[one]] for one in {*query.tolist()}}
        self._check_sizes([*lists], [*map(len, lists.values())])
        found = np.empty(len(rows), object)
        found[:] = [lists[one][at] for one, at in zip(query.tolist(), (rows - self.ends[query]).tolist(), strict=True)]
        return found

    def __getstate__(self) -> dict[str, Any]:
        """State without the numbers."""
        return {name: value for name, value in vars(self).items() if name != "codes"}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self._array.astype(dtype or object, copy=bool(copy))

    @property
    def are_short(self) -> bool:
        return len(self) <= SHORT * len(self.lists)

    @cached_property
    def has_tuples(self) -> bool:
        return any(issubclass(kind, tuple) for kind in self.types)

    @cached_property
    def types(self) -> set[type]:
        return {*map(type, chain.from_iterable(self.lists))} if self.may_have_blanks else {str}

    @cached_property
    def may_have_blanks(self) -> bool:
        """Whether some documents are no texts, are empty or have blanks; this takes no longer than to ask for types."""
        try:
            # An answer before the last list would not tell that all are texts.
            return any([*map(may_have_blanks, self.lists if self.codes is None else [self.codes[0]])])
        except TypeError:
            return True

    def refuse_two_spellings(self, *others: ListedDocuments) -> None:
        """Refuse documents that are blank, or have two spellings in these and other lists."""
        sides = self, *others
        if any(side.may_have_blanks for side in sides):
            types = {kind for side in sides for kind in side.types}
            refuse_two_spellings(*chain.from_iterable(side.lists for side in sides), types=types)

    def number(self, numbers: defaultdict[Any, int] | None) -> Index:
        """Number the documents: by `numbers` where it has them, and others next."""
        numbers = defaultdict(count().__next__) if numbers is None else numbers
        code = np.fromiter(map(numbers.__getitem__, chain.from_iterable(self.lists)), np.int64, len(self))
        self.codes = numbers, code
        return code

    @cached_property
    def _array(self) -> NDArray[Any]:
        self._check_sizes(slice(None), [*map(len, self.lists)])
        array = np.empty(len(self), dtype=object)
        array[:] = [*chain.from_iterable(self.lists)]
        return array

    def _check_sizes(self, queries: Any, sizes: list[int]) -> None:
        """Refuse changed lists: they are the user's, because a copy is a large part of an evaluation."""
        if np.diff(self.ends)[queries].tolist() != sizes:
            raise ValueError(
                "The dictionaries and lists of a run and of judgments must have the documents that were evaluated. "
                "Got a query with others, so they were changed since: evaluate again."
            )

    def odd(self) -> frozenset[Any]:
        """Documents that may stand for missing ones, for `odd_ids`."""
        odd: set[Any] = set()
        lists = self.lists if self.codes is None else [self.codes[0]]
        if any(issubclass(kind, str) for kind in self.types):
            odd |= odd_texts(*lists)
        if not all(issubclass(kind, str) for kind in self.types):
            if any(one in listed for listed in lists for one in (-1, LOWEST_INT)):
                numbers = [one for one in chain.from_iterable(self.lists) if isinstance(one, Real)]
                odd |= odd_ids(np.array(numbers, dtype=np.float64))
        return frozenset(odd)


def entries_of(
    source: Any, kind: str, *, duplicates: str, exclude: Mapping[Any, Set[Any]], judged: ListedDocuments | None = None
) -> tuple[Entries, int]:
    """Entries of a run or of judgments (`kind`) in any form, and the number of documents that were excluded."""
    # Documents that were `judged` tell whether pairs of a run are ids.
    if isinstance(source, Entries) and isinstance(source.doc_id, ListedDocuments) and not exclude:
        return source, 0
    if isinstance(source, Entries):
        duplicates = "first" if source._again is None else "nonrelevant"
        by_query = dict(documents_of_queries(source))
    else:
        mapping = _mapping_of(source, kind)
        keeps_all = duplicates == "nonrelevant" and kind == "run"
        if not exclude and not keeps_all and (plain := _plain_entries(mapping, kind, judged)) is not None:
            return plain, 0
        by_query = {query: _listed(query, given, kind, duplicates, judged) for query, given in mapping.items()}
    lists, values, n_excluded = [], [], 0
    for query, (documents, of_documents) in by_query.items():
        if out := exclude.get(query):
            n_before = len(documents)
            documents, of_documents = _without(documents, of_documents, out)
            n_excluded += n_before - len(documents)
        lists.append(documents)
        values.append(of_documents)
    has_scores = not any(isinstance(of_documents, range) for of_documents in values)
    names, listed = ids_of([*by_query]), ListedDocuments(lists, has_scores)
    refuse_unfit_documents(names, listed, kind)
    numbers = _numbers([*chain.from_iterable(values)], names, listed, kind)
    entries = _entries(names, listed, numbers)
    if duplicates == "nonrelevant" and kind == "run":
        entries = replace(entries, _again=np.fromiter(_repeated(lists), bool, len(entries)))
    if isinstance(source, Entries):
        entries = replace(entries, _told=source._told, n_blank=source.n_blank)
    return entries, n_excluded


def _plain_entries(mapping: Mapping[Any, Any], kind: str, judged: ListedDocuments | None = None) -> Entries | None:
    """Entries of short lists, sets or dictionaries of texts or whole numbers, each once; None for anything else."""
    given = [*mapping.values()]
    types = {*map(type, given)}
    if len(types) != 1 or not types <= {dict, list, tuple, *(() if kind == "run" else (set, frozenset))}:
        return None
    listed = ListedDocuments(
        [*map(list, given)] if types == {list} else given, has_scores=types == {dict} or kind != "run"
    )
    if not listed.are_short:
        return None
    try:
        code = listed.number(None if judged is None or judged.codes is None else judged.codes[0])
    # An id that cannot be hashed.
    except TypeError:
        return None
    # Only a list can have a document twice.
    if not listed.types <= {str, int} or (
        types <= {list, tuple} and repeated_keys(Keys(code), Grouping.by_sizes(np.diff(listed.ends)))[0] >= 0
    ):
        return None
    names = ids_of([*mapping])
    if types == {dict}:
        value = _numbers([*chain.from_iterable(map(dict.values, given))], names, listed, kind)
    elif kind == "run":
        value = np.repeat(listed.ends[1:], np.diff(listed.ends)) - np.arange(0.0, len(listed))
    else:
        value = np.ones(len(listed))
    return _entries(names, listed, value)


def refuse_unfit_documents(names: NDArray[Any], documents: ListedDocuments, kind: str) -> None:
    """Refuse ids of documents that are missing, or may be others than they were."""
    if not may_be_missing(documents.types):
        return
    for query, listed in zip(names.tolist(), documents.lists, strict=True):
        if any(map(is_missing, listed)):
            raise ValueError(
                "Every document needs an id: remove documents without one. "
                f"Got {echo(next(filter(is_missing, listed)))} for query {echo(query)} of the {kind}."
            )
    refuse_rounded_ids(np.asarray(documents))


def match_listed(run: Entries, qrels: Entries, rows: Grouping, judged_rows: Grouping) -> Index:
    """Row of the judgments that matches each row of the run, or -1; documents are listed in both."""
    # `rows` and `judged_rows` are the rows of each query, which are read where lists are short.
    if run.doc_id.are_short:
        judged, of_run = qrels.doc_id.codes, run.doc_id.codes
        if judged is None or of_run is None or judged[0] is not of_run[0]:
            code = qrels.doc_id.number(None), run.doc_id.number(qrels.doc_id.codes[0])
        else:
            code = judged[1], of_run[1]
        qrels.doc_id.codes = run.doc_id.codes = None
        matches = match(Keys(code[0]), judged_rows, Keys(code[1]), rows)[0]
    else:
        matches = _match_long_lists(run, qrels)
    if not (matches >= 0).any():
        refuse_other_ids(run.doc_id, chain.from_iterable(qrels.doc_id.lists), "the run and in the judgments")
    return matches


def _match_long_lists(run: Entries, qrels: Entries) -> Index:
    """As `match_listed`, by a dictionary for each query."""
    judged = zip(qrels.qid.names.tolist(), qrels.doc_id.lists, qrels.doc_id.ends.tolist(), strict=False)
    rows = {q: dict(zip(documents, range(a, a + len(documents)), strict=True)).get for q, documents, a in judged}
    row_of: Iterator[Any] = (rows.get(query, {}.get) for query in run.qid.names.tolist())
    return np.fromiter(chain.from_iterable(map(map, row_of, run.doc_id.lists, repeat(repeat(-1)))), np.int64, len(run))


def refuse_other_ids(documents: ListedDocuments, others: Iterable[Any], where: str) -> None:
    """Refuse documents that the other side does not have if all ids are of other kinds, so that it cannot have them."""
    sides = [[*islice(one, 1000)] for one in (chain.from_iterable(documents.lists), others)]
    kinds = [{*map(_kind, side)} for side in sides]
    if all(kinds) and not kinds[0] & kinds[1]:
        raise ValueError(
            f"Ids of documents must be of one type in {where}; str(id) makes strings of them. "
            f"Got ids such as {echo(sides[0][0])} and {echo(sides[1][0])}, and none in both."
        )


def two_types(run: ListedDocuments, judged: ListedDocuments) -> tuple[Any, Any] | None:
    """A text and a number among documents of one side, where the other side lacks one."""
    for one, other in ((run, judged), (judged, run)):
        kinds, others = ({*map(_kind_of_type, side.types)} for side in (one, other))
        if not {"number", "str"} <= kinds or not others or {"number", "str"} <= others:
            continue
        first = {_kind(document): document for document in chain.from_iterable(one.lists)}
        return first["str"], first["number"]
    return None


def _kind(document: Any) -> str:
    return _kind_of_type(type(document))


def _kind_of_type(kind: type) -> str:
    return "number" if issubclass(kind, Real) else kind.__name__.removesuffix("_")


def without_empty(judged: Entries, run: Entries) -> Entries:
    """Give a query without documents one that is neither relevant nor retrieved, so that it is counted."""
    lists: list[Collection[Any]] = judged.doc_id.lists
    if all(map(len, lists)):
        return judged
    retrieved = {query for query, listed in zip(run.qid.names.tolist(), run.doc_id.lists, strict=True) if len(listed)}
    names = judged.qid.names.tolist()
    filled = [listed if len(listed) or q in retrieved else [None] for q, listed in zip(names, lists, strict=True)]
    added = np.array([len(new) - len(old) for new, old in zip(filled, lists, strict=True)])
    value = np.insert(judged.value, judged.doc_id.ends[:-1][added > 0], 0.0)
    return replace(_entries(judged.qid.names, ListedDocuments(filled), value), n_blank=judged.n_blank)


def _entries(names: NDArray[Any], documents: ListedDocuments, value: Array) -> Entries:
    refuse_unfit_ids(names)
    documents.refuse_two_spellings()
    code = np.repeat(np.arange(len(names), dtype=np.uint32), np.diff(documents.ends))
    return Entries(QueryIds(code, names), documents, value)


def refuse_other_kind(caller: str, entries: Any, kind: str) -> None:
    """Refuse a run and judgments in the wrong order, where their type says which is which."""
    known = {"Run": "run", "Qrels": "judgments"} if type(entries).__module__.startswith("ranx.") else {}
    got = entries._kind if isinstance(entries, Entries) else known.get(type(entries).__name__)
    if got not in (None, kind):
        raise ValueError(f"{caller} takes {ORDER}. Got {got} as {echo(kind)}.")


def _mapping_of(source: Any, kind: str) -> Mapping[Any, Any]:
    if isinstance(source, Mapping):
        _refuse_columns(source, kind)
        return hits_of_answers(source) if kind == "run" else source
    if type(source).__module__.startswith("ranx."):
        of_ranx: dict[Any, Any] = source.to_dict()
        return of_ranx
    # A Series of lists.
    if hasattr(source, "to_dict") and getattr(getattr(source, "dtype", None), "kind", "") == "O":
        return by_index(source, kind)
    hint = ""
    if isinstance(source, (list, tuple)):
        hint = f" If it has a list for each query, make a dictionary: dict(zip(query_ids, {kind}))."
    reader = READERS.format("run" if kind == "run" else "qrels")
    raise TypeError(
        f"{kind.capitalize()} must be one of {TAKEN[kind]}, {reader}. Got {type(source).__name__} instead.{hint}"
    )


def _refuse_columns(by_query: Mapping[Any, Any], kind: str) -> None:
    """Refuse a dictionary whose keys are names of columns, which would be queries."""
    if len(by_query) <= MOST_COLUMNS and all(candidates(by_query, kind)[:2]):
        reader = "read_run" if kind == "run" else "read_qrels"
        raise TypeError(
            f"A dictionary as {kind} has queries as keys, and these are names of columns: "
            f"io.{reader}(pandas.DataFrame(table)) reads them. Got {echo_all([*by_query])}."
        )


def by_index(series: Any, name: str, what: str = "query") -> dict[Any, Any]:
    """A Series or a frame of pandas as a dictionary by query, or by `what` its index has."""
    again = series.index[series.index.duplicated()].tolist()
    if again:
        raise ValueError(
            f"{name} must have each {what} once in its index. Got {what} {echo(again[0])} more than once; "
            "groupby(level=0).first() takes the first row of each, and groupby(level=0).agg(list) makes lists."
        )
    values: dict[Any, Any] = series.to_dict()
    return values


def documents_of_queries(entries: Entries) -> Iterator[tuple[Any, Listed]]:
    """Documents and values of each query; a document that is in it again has its best place first."""
    grouping = entries.qid._grouping
    rows, ends = grouping.input_rows(), grouping.indptr.tolist()
    if entries._again is not None:
        rows = rows[np.lexsort((-entries.value[rows], entries.qid.code[rows]))]
    documents, values = taken(entries.doc_id, rows).tolist(), entries.value[rows].tolist()
    for query, start, stop in zip(entries.qid.names.tolist(), ends[:-1], ends[1:], strict=True):
        yield query, (documents[start:stop], values[start:stop])


def _listed(query: Any, given: Any, kind: str, duplicates: str, judged: ListedDocuments | None) -> Listed:
    # To ask for a dict first takes less time than to ask for a Mapping alone.
    if isinstance(given, (dict, Mapping)):
        return given, given.values()
    no_list = isinstance(given, (str, bytes)) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0
    if no_list or hasattr(given, "columns"):
        raise TypeError(
            f"A query of the {kind} needs a dictionary or list of documents. Got {echo(given)} for query {echo(query)}."
            + f" One document is a list of one, [{echo(given)}]." * isinstance(given, (str, bytes, Integral))
        )
    if kind == "run" and isinstance(given, (set, frozenset)):
        raise TypeError(
            "A set has no order: pass the documents of a run as a list, best first, or as {document: score}. Only "
            f"judgments may be sets, and they come first. Got a set for query {echo(query)}."
        )
    documents = as_list(query, given, kind)
    if kind == "run" and documents and is_hit(documents[0]):
        documents = read_hits(query, documents)
    first: Any = next(iter(documents), None)
    # Beside judged tuples a pair is a tuple and its score.
    if kind == "run" and _is_pair(first) and (isinstance(first[0], tuple) or not (judged and judged.has_tuples)):
        documents, scores = _of_pairs(query, documents)
    else:
        scores = repeat(1, len(documents)) if kind == "judgments" else range(len(documents), 0, -1)
    return _distinct(query, documents, scores, kind, duplicates)


def as_list(query: Any, documents: Any, kind: str) -> list[Any]:
    # NumPy and pandas have tolist, polars has to_list.
    to_list = getattr(documents, "tolist", None) or getattr(documents, "to_list", None)
    listed: list[Any] = [*documents] if to_list is None else to_list()
    index = labels_of(documents)
    if index is None or not listed or not isinstance(listed[0], Real):
        return listed
    if [*index.names] != [None] or [*index] != [*range(len(listed))]:
        raise TypeError(
            "Numbers in a Series may be documents, or values of the documents in its index: series.tolist() makes a "
            "list of documents, and series.to_dict() makes {document: number}. "
            f"Got {echo(listed[0])} at {echo(index[0])} for query {echo(query)} of the {kind}."
        )
    return listed


def _is_pair(entry: Any) -> bool:
    return isinstance(entry, (tuple, list)) and len(entry) == 2 and isinstance(entry[1], Real)


def _of_pairs(query: Any, pairs: list[Any]) -> tuple[list[Any], Iterable[Any]]:
    """Documents and scores of pairs, which must stand by falling score: distances would rise."""
    if not all(map(_is_pair, pairs)):
        wrong = next(pair for pair in pairs if not _is_pair(pair))
        raise TypeError(f"A list of (document, score) must hold only pairs. Got {echo(wrong)} for query {echo(query)}.")
    documents, scores = [document for document, _ in pairs], [score for _, score in pairs]
    if any(a < b for a, b in zip(scores, scores[1:], strict=False)):
        raise ValueError(
            "A list of (document, score) must be in order of descending score: negate distances, or pass a dictionary "
            f"of scores, which needs no order. Got rising scores for query {echo(query)}: {echo(pairs)}."
        )
    return documents, scores


def _distinct(query: Any, documents: list[Any], values: Iterable[Any], kind: str, duplicates: str) -> Listed:
    """The documents of a list and their values, each once unless a run is to keep the places of the others."""
    try:
        distinct = dict.fromkeys(documents)
    except TypeError:
        wrong = next(document for document in documents if not _is_hashable(document))
        raise TypeError(
            f"Each hit needs an id, and ids of documents must be hashable: pass {{query: [ids, best first]}}, which "
            f"docs/rag/files.md#your-json makes of any JSON. Got {echo(wrong)} for query {echo(query)} of the {kind}."
        ) from None
    if isinstance(next(iter(distinct), None), float) and (fractions := [*filter(_is_fraction, documents)]):
        raise TypeError(
            f"A list must hold document ids. Got {echo(fractions[0])} for query {echo(query)} of the {kind}. Numbers "
            "go into a dictionary, {document: number}; series.to_dict() makes it of a Series with documents as its "
            "index."
        )
    if len(distinct) == len(documents) or (duplicates == "nonrelevant" and kind == "run"):
        return documents, values
    if duplicates == "raise":
        again = next(document for document, n in Counter(documents).items() if n > 1)
        raise ValueError(
            f"A document must be in a list once, or it is counted twice: {HOW_TO_REPEAT}. "
            f"Got document {echo(again)} {documents.count(again)} times for query {echo(query)} of the {kind}."
        )
    if isinstance(values, range):
        return [*distinct], range(len(distinct), 0, -1)
    first: dict[Any, Any] = {}
    for document, value in zip(documents, values, strict=True):
        first.setdefault(document, value)
    return first, first.values()


def _repeated(lists: Iterable[Collection[Any]]) -> Iterator[bool]:
    """Whether each document stands above in its list."""
    for documents in lists:
        above: set[Any] = set()
        for document in documents:
            yield document in above
            above.add(document)


def _is_fraction(document: Any) -> bool:
    return isinstance(document, float) and document == document and not document.is_integer()


def _is_hashable(document: Any) -> bool:
    try:
        hash(document)
    except TypeError:
        return False
    return True


def _without(documents: Collection[Any], values: Iterable[Any], out: Set[Any]) -> Listed:
    keep = [document not in out for document in documents]
    return [*compress(documents, keep)], [*compress(values, keep)]


def _numbers(values: list[Any], names: NDArray[Any], documents: ListedDocuments, kind: str) -> Array:
    word = "Scores" if kind == "run" else "Grades"
    try:
        floats = _exact_floats(values)
        numbers = as_floats(values, word) if floats is None else floats
        bad = np.isnan(numbers) | (numbers == np.inf) | ((numbers == -np.inf) & (kind != "run"))
        if numbers.ndim != 1:
            raise TypeError
        row = int(np.argmax(bad)) if bad.any() else None
    except TypeError:
        row = next((i for i, value in enumerate(values) if not _is_number(value)), None)
        if row is None:
            raise
    if row is None:
        return numbers
    query = int(np.searchsorted(documents.ends, row, side="right")) - 1
    document = next(islice(documents.lists[query], row - int(documents.ends[query]), None))
    raise (ValueError if _is_number(values[row]) else TypeError)(
        f"{word} must be finite real numbers. Got {echo(values[row])} for document {echo(document)} of query "
        f"{echo(names[query : query + 1].tolist()[0])}."
    )


def _exact_floats(values: list[Any]) -> Array | None:
    """Floats, and ints that floats hold exactly; None for others."""
    # `as_floats` takes all, and for long runs twice the time.
    types = {*map(type, values)}
    if not types <= {float, int, bool}:
        return None
    try:
        numbers = np.fromiter(values, np.float64, len(values))
    except OverflowError:
        return None
    return numbers if types == {float} or (np.abs(numbers) < LARGEST_EXACT).all() else None


def _is_number(value: Any) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__float__") and np.ndim(value) == 0
