"""Entries of a run or of judgments: query, document and value, with ids as codes or as strings in one buffer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._engine.grouping import Grouping, Keys, group_numbers, hashed, number_together
from sklearn_rank._engine.ids import may_have_blanks, refuse_two_spellings
from sklearn_rank._engine.kernels import grouping as grouping_kernels
from sklearn_rank._misuse.evidence import FIRST_OF_ODD, ODD_TEXTS, odd_texts
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.lazy import cached_property
from sklearn_rank._utils.typing import Index

ERRORS = "surrogateescape"
"""Error handler that keeps bytes that are not UTF-8, so that they are written as they were read."""
DUPLICATES = one_of("raise", "first", "nonrelevant", doc="")
HOW_TO_REPEAT = (
    "duplicates='first' takes its first place, and later documents move up; duplicates='nonrelevant' keeps its other "
    "places as not relevant"
)


@dataclass(frozen=True, eq=False, repr=False)
class QueryIds:
    """Query of each row, as a number and the distinct ids by number.

    Every function with `qid` takes it. ``numpy.asarray`` converts it to an array of ids.

    Attributes
    ----------
    code : ndarray of shape (n_samples,)
        Number of the query of each row.
    names : ndarray of shape (n_queries,)
        Id of each query.
    """

    code: NDArray[Any]
    names: NDArray[Any]

    def __len__(self) -> int:
        return len(self.code)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return self.names[self.code].astype(self.names.dtype if dtype is None else dtype, copy=False)

    def factorize(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return the codes and the distinct ids, like `factorize` of pandas."""
        return self.code, self.names

    def __repr__(self) -> str:
        return f"QueryIds of {len(self.code)} rows and {len(self.names)} queries"

    @property
    def _grouping(self) -> Grouping:
        return group_numbers(self.code, len(self.names))


@dataclass(frozen=True, eq=False, repr=False)
class Text:
    """Strings as UTF-8 in one buffer.

    Attributes
    ----------
    data : ndarray of uint8
    end : ndarray of shape (n_strings,)
        End of each string in `data`.
    """

    data: NDArray[np.uint8]
    end: Index

    def __len__(self) -> int:
        return len(self.end)

    def __getstate__(self) -> dict[str, Any]:
        """State without the hashes, which differ between processes."""
        return {"data": self.data, "end": self.end}

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.strings(range(len(self))), dtype=dtype or np.str_)

    @cached_property
    def keys(self) -> Keys:
        """Hashes of the strings, and the strings."""
        return hashed(self.data, self.end)

    def encoded(self, rows: Iterable[int]) -> list[bytes]:
        stop = np.fromiter(rows, np.int64)
        start = np.where(stop > 0, self.end[stop - 1], 0)
        data = self.data.data
        return [bytes(data[a:b]) for a, b in zip(start.tolist(), self.end[stop].tolist(), strict=True)]

    def strings(self, rows: Iterable[int]) -> list[str]:
        return [s.decode("utf-8", ERRORS) for s in self.encoded(rows)]

    def odd(self) -> frozenset[Any]:
        """Strings that may stand for missing ones, for `odd_ids`."""
        size = np.diff(self.end, prepend=0)
        rows = np.flatnonzero(size <= max(map(len, ODD_TEXTS)))
        rows = rows[np.isin(self.data[self.end[rows] - size[rows]], [*map(ord, FIRST_OF_ODD)])]
        return odd_texts(self.strings(rows))

    @cached_property
    def may_have_blanks(self) -> bool:
        if not len(self) or (np.diff(self.end, prepend=0).min() > 0 and self.data.min() > 32 and self.data.max() < 127):
            return False
        return may_have_blanks(self.strings(range(len(self))))

    @classmethod
    def of(cls, strings: list[str]) -> Text:
        encoded = [s.encode("utf-8", ERRORS) for s in strings]
        end = np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), dtype=np.int64)
        return cls(np.frombuffer(b"".join(encoded), dtype=np.uint8), end)


@dataclass(frozen=True, eq=False, repr=False)
class Entries:
    """Rows of a run or of judgments, from `read_run` or `read_qrels`.

    A query has each document at most once, unless they were read with ``duplicates="nonrelevant"``.

    Attributes
    ----------
    qid : QueryIds of shape (n_rows,)
        Query of each row; ``numpy.asarray(qid)`` is an array of ids.
    doc_id : array-like of shape (n_rows,)
        Document of each row; ``numpy.asarray(doc_id)`` is an array of ids.
    value : ndarray of shape (n_rows,)
        Score, or relevance.
    columns : dict or None
        Names of the columns of a table that were read as "qid", "doc_id" and "value"; a value of None: each row is a
        relevant document. None: it was no table.
    n_blank : int
        Rows of judgments whose grade is blank: they are not judged, and left out.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_qrels
    >>> entries = read_qrels(io.BytesIO(b"q1 0 d1 2"))
    >>> len(entries.doc_id), entries.value
    (1, array([2.]))
    """

    qid: QueryIds
    doc_id: Any
    value: NDArray[np.float64]
    # "run" or "judgments" if the file format says so.
    _kind: str | None = None
    # Rows whose document has a better place in its query, with duplicates="nonrelevant".
    _again: NDArray[np.bool_] | None = None
    columns: dict[str, Any] | None = None
    n_blank: int = 0
    # Whether it was told that ranks contradict the scores.
    _told: bool = False

    def __len__(self) -> int:
        return len(self.value)

    def __repr__(self) -> str:
        blank = f"; {self.n_blank} more without a grade are not judged" * bool(self.n_blank)
        return f"Entries of {len(self)} rows and {len(self.qid.names)} queries{blank}"


def checked(entries: Entries, where: Callable[[int], str], duplicates: str = "raise") -> Entries:
    again = repeated_rows(entries, where, duplicates)
    if again is None:
        return entries
    if duplicates == "nonrelevant" and entries._kind != "judgments":
        return replace(entries, _again=again)
    return without_rows(entries, again)


def joined_entries(parts: list[Entries], files: list[str], kind: str, duplicates: str) -> Entries:
    """Entries of several files; the list of a query must be in one file."""
    names, codes = number_together([part.qid.names for part in parts])
    if kind == "run" and sum(map(len, codes)) > len(names):
        (again,) = np.flatnonzero(np.bincount(np.concatenate(codes)) > 1)[:1].tolist()
        first, second = [file for file, code in zip(files, codes, strict=True) if again in code][:2]
        raise ValueError(
            "The list of a query must be in one file of a run: pass each file as a run of its own, or name the columns "
            "that tell lists apart, qid=['day', 'query_id']. "
            f"Got query {echo(names[again : again + 1].tolist()[0])} in {first} and in {second}."
        )
    documents = [part.doc_id for part in parts]
    if all(isinstance(one, Text) for one in documents):
        starts = np.cumsum([0, *(len(one.data) for one in documents)])
        ends = [one.end + start for one, start in zip(documents, starts, strict=False)]
        together: Any = Text(np.concatenate([one.data for one in documents]), np.concatenate(ends))
    else:
        together = np.concatenate([np.asarray(one, dtype=object) for one in documents])
    code = np.concatenate([code[part.qid.code] for part, code in zip(parts, codes, strict=True)]).astype(np.uint32)
    value, ends_of_files = np.concatenate([part.value for part in parts]), np.cumsum([*map(len, parts)])
    entries = replace(parts[0], qid=QueryIds(code, names), doc_id=together, value=value, _again=None, _kind=kind)
    return checked(entries, lambda row: f"in {files[int(np.searchsorted(ends_of_files, row, 'right'))]}", duplicates)


def without_rows(entries: Entries, out: NDArray[np.bool_]) -> Entries:
    rows = np.flatnonzero(~out)
    documents = taken(entries.doc_id, rows)
    return replace(
        entries, qid=QueryIds(entries.qid.code[rows], entries.qid.names),
        doc_id=Text.of(documents.tolist()) if isinstance(entries.doc_id, Text) else documents,
        value=entries.value[rows], _again=None,
    )  # fmt: skip


def repeated_rows(
    entries: Entries, where: Callable[[int], str], duplicates: str = "raise", what_to_do: str = HOW_TO_REPEAT
) -> NDArray[np.bool_] | None:
    """Whether the document of each row has a row of higher value, or an earlier one, in its query; None if none has."""
    # `where` says in words where a row is, for the error.
    keys = document_keys(entries.doc_id)[0]
    twice = repeated_keys(keys, entries.qid._grouping)
    if twice[0] < 0:
        return None
    if duplicates == "raise":
        first, second = sorted(twice)
        query = entries.qid.names[entries.qid.code[second]]
        document = taken(entries.doc_id, [second]).tolist()[0]
        raise ValueError(
            f"A document must be in a query once: {what_to_do}. "
            f"Got document {echo(document)} of query {query!s} again {where(second)}, first {where(first)}."
        )
    (document,) = number_together([np.asarray(entries.doc_id)])[1]
    order = np.lexsort((-entries.value, document, entries.qid.code))
    same = np.diff(document[order].astype(np.int64)) == 0
    again = np.zeros(len(entries), dtype=bool)
    again[order[1:]] = same & (np.diff(entries.qid.code[order].astype(np.int64)) == 0)
    return again


def match(keys: Keys, rows: Grouping, other_keys: Keys, other_rows: Grouping) -> tuple[Index, tuple[int, int]]:
    """Match the other rows to rows with the same query and key."""
    # Returned are the row that matches each of the other rows, or -1, and two rows with the same query and key, or -1
    # twice.
    matches = np.empty(len(other_keys.key), dtype=np.int64)
    table = np.empty(4 * max(1, int(rows.sizes.max(initial=0))), dtype=np.int64)
    alike = grouping_kernels.match_rows(
        *keys, rows.indptr, rows.order, other_keys.key, other_keys.text, other_keys.end, other_rows.indptr,
        other_rows.order, table, matches,
    )  # fmt: skip
    return matches, alike


def repeated_keys(keys: Keys, rows: Grouping) -> tuple[int, int]:
    """Two rows with the same query and key, or -1 twice."""
    nothing = np.zeros(rows.n_queries, dtype=np.int64)
    return match(keys, rows, Keys(nothing[:0]), Grouping.by_sizes(nothing))[1]


def document_keys(*lists: Any) -> list[Keys]:
    """Keys of the documents in several lists: equal for equal documents."""
    strings = [isinstance(ids, Text) or _is_text(ids) for ids in lists]
    if not all(strings) and any(strings):
        other = taken(lists[strings.index(False)], [0]).tolist()[0]
        raise TypeError(
            "Document ids must be of one type in the run and in the judgments; TREC's files have strings. "
            f"Got strings and {echo(other)}; convert them by astype(str)."
        )
    if any(isinstance(ids, Text) for ids in lists):
        texts = [ids if isinstance(ids, Text) else Text.of(ids.tolist()) for ids in lists]
        if any(text.may_have_blanks for text in texts):
            refuse_two_spellings(*(text.strings(range(len(text))) for text in texts), types={str})
        return [text.keys for text in texts]
    return [Keys(code) for code in number_together([*lists])[1]]


def taken(ids: Any, rows: Any) -> NDArray[Any]:
    return np.array(ids.strings(rows)) if isinstance(ids, Text) else ids[rows]


def _is_text(ids: NDArray[Any]) -> bool:
    return ids.dtype.kind == "U" or (ids.dtype == object and all(isinstance(d, str) for d in ids.tolist()))
