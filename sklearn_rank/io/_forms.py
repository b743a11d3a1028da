"""What a run or judgments were passed as, decided once for every function, and the entries of each form."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import partial
from itertools import chain
from numbers import Real
from typing import Any

import numpy as np

from sklearn_rank._engine.ids import ids_of, refuse_two_spellings
from sklearn_rank._misuse.ids import spelled_alike
from sklearn_rank._tables.columns import column_names, find_column
from sklearn_rank._tables.formats import files_of
from sklearn_rank._tables.roles import candidates, roles_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank.io._columns import entries_in, entries_of_frame
from sklearn_rank.io._entries import Entries, without_rows
from sklearn_rank.io._files import read_qrels, read_run
from sklearn_rank.io._mappings import (
    Excluded,
    ListedDocuments,
    as_list,
    documents_of_queries,
    entries_of,
    refuse_other_ids,
    refuse_other_kind,
    refuse_unfit_documents,
    without_empty,
)

READER_OF = {"run": read_run, "judgments": read_qrels}


def is_file(source: Any) -> bool:
    """Whether a path, or a text that is the path or the pattern of a file that exists."""
    if isinstance(source, str):
        return os.path.exists(source) or (glob.has_magic(source) and bool(glob.glob(source)))
    return isinstance(source, os.PathLike) or hasattr(source, "read")


def has_queries(source: Any, kind: str) -> bool:
    """Whether a source has documents by query, in any form of a run or of judgments: no labels, scores or columns."""
    if isinstance(source, Mapping):
        first = next(iter(source.values()), None)
        # A list of numbers may be a column.
        are_ids = isinstance(first, (list, tuple)) and len(first) > 0 and not isinstance(first[0], Real)
        return kind == "run" or isinstance(first, (Mapping, Set)) or are_ids
    if isinstance(source, (Entries, Iterator)) or type(source).__module__.startswith("ranx.") or is_file(source):
        return True
    is_series = hasattr(source, "to_dict") and column_names(source) is None
    first = next(iter(source), None) if is_series else None
    return has_documents(source, kind) or isinstance(first, (list, tuple, np.ndarray, Mapping, Set))


def has_documents(source: Any, kind: str) -> bool:
    """Whether a source is a table with columns of queries and documents, or rows as ir_measures has them."""
    if isinstance(source, Mapping):
        return False
    names = column_names(source)
    if names is not None:
        return all(candidates(names, kind)[:2])
    return isinstance(source, (list, tuple)) and len(source) > 0 and hasattr(source[0], "query_id")


def from_rows(source: Any, kind: str, duplicates: str) -> Any:
    """Entries of a table, or of rows as ir_measures has them, with names for query and document; else as it is."""
    if isinstance(source, (Mapping, Entries)):
        return source
    if isinstance(source, str) or is_file(source) or files_of(source):
        return READER_OF[kind](source, duplicates=duplicates)
    if column_names(source) is not None:
        return entries_of_frame(source, kind, duplicates)
    rows = [*source] if isinstance(source, Iterator) else source
    if not has_documents(rows, kind):
        return source
    names = [name for name in ("query_id", "doc_id", "relevance", "score") if hasattr(rows[0], name)]
    return entries_of_frame({name: [getattr(row, name) for row in rows] for name in names}, kind, duplicates)


def both_entries(
    caller: str, judgments: Any, run: Any, duplicates: str, exclude: Excluded | None
) -> tuple[Entries, Entries, tuple[int, int, int]]:
    """Entries of judgments and of a run, and how many documents of the run and of the judgments were excluded."""
    # Documents are listed by query on both sides, or on neither.
    qrels, run = from_rows(judgments, "judgments", duplicates), from_rows(run, "run", duplicates)
    for entries, kind in ((qrels, "judgments"), (run, "run")):
        refuse_other_kind(caller, entries, kind)
    if exclude is None and all(
        isinstance(x, Entries) and not isinstance(x.doc_id, ListedDocuments) for x in (run, qrels)
    ):
        return qrels, run, (0, 0, 0)
    out = {} if exclude is None else _sets(exclude)
    judged, n_judged = entries_of(qrels, "judgments", duplicates=duplicates, exclude=out)
    of_run, n_run = entries_of(run, "run", duplicates=duplicates, exclude=out, judged=judged.doc_id)
    if out and not (n_judged or n_run):
        _refuse_idle(out, of_run, judged)
    if n_judged and not (judged.value > 0).any():
        raise ValueError(
            "exclude removes every relevant document: pass only documents that were known before, such as training "
            f"items. Got {n_judged} judged documents in it."
        )
    judged.doc_id.refuse_two_spellings(of_run.doc_id)
    emptied = [q for q, n in zip(judged.qid.names.tolist(), np.diff(judged.doc_id.ends), strict=True) if n == 0]
    n_emptied = len(out.keys() & {*emptied})
    return without_empty(judged, of_run), of_run, (n_run, n_judged, n_emptied)


def run_entries(run: Any, *, duplicates: str, exclude: Excluded | None) -> Entries:
    """Entries of a run that is matched with no judgments."""
    entries = from_rows(run, "run", duplicates)
    if exclude is not None or not isinstance(entries, Entries):
        out = {} if exclude is None else _sets(exclude)
        entries, n_excluded = entries_of(entries, "run", duplicates=duplicates, exclude=out)
        if out and not n_excluded:
            _refuse_idle(out, entries, entries)
    return entries if entries._again is None else without_rows(entries, entries._again)


def judged_entries(judgments: Any) -> Entries:
    """Entries of judgments that are matched with no run."""
    entries = from_rows(judgments, "judgments", "raise")
    if isinstance(entries, Entries):
        return entries
    return entries_of(entries, "judgments", duplicates="raise", exclude={})[0]


def _sets(exclude: Excluded) -> dict[Any, Set[Any]]:
    """Excluded documents of each query."""
    names = None if isinstance(exclude, Mapping) else column_names(exclude)
    if names is not None:
        query, document, _ = roles_of(names, "judgments", column=partial(find_column, exclude), value_is_meant=True)
        if query is None or document is None:
            raise TypeError(
                "exclude as a table needs a column of queries or users, such as 'user_id', and one of documents or "
                f"items, such as 'item_id'. Got {echo_all(names)}."
            )
        entries = entries_in(exclude, None, query, document, "first")
        exclude = {query: documents for query, (documents, _) in documents_of_queries(entries)}
    if is_file(exclude) or (not isinstance(exclude, (list, tuple)) and files_of(exclude)):
        exclude = read_qrels(exclude, value=False, duplicates="first")
    if isinstance(exclude, Entries):
        exclude = {query: documents for query, (documents, _) in documents_of_queries(exclude)}
    if not isinstance(exclude, Mapping):
        raise TypeError(
            f"exclude must be {{query: documents}}, or a table of both. Got {type(exclude).__name__} instead."
        )
    for query, out in exclude.items():
        if isinstance(out, (str, bytes)) or not isinstance(out, Iterable):
            raise TypeError(f"exclude must have a set or a list of documents. Got {echo(out)} for query {echo(query)}.")
    listed = {query: as_list(query, out, "documents to exclude") for query, out in exclude.items()}
    refuse_unfit_documents(ids_of([*listed]), ListedDocuments([*listed.values()]), "documents to exclude")
    try:
        return {query: frozenset(out) for query, out in listed.items()}
    except TypeError as error:
        raise TypeError(f"exclude must have ids of documents that can be hashed. Got {error}.") from None


def _refuse_idle(exclude: Mapping[Any, Set[Any]], run: Entries, judged: Entries) -> None:
    """Refuse documents to exclude that cannot be in any query, by the ids of queries or of documents."""
    if exclude.keys().isdisjoint([*run.qid.names.tolist(), *judged.qid.names.tolist()]):
        raise ValueError(
            "exclude must have a query of the run or of the judgments, and its id must be of the same type. "
            f"Got {echo(next(iter(exclude)))}, where the judgments have {echo(judged.qid.names.tolist()[0])}."
        )
    refuse_other_ids(run.doc_id, chain.from_iterable(exclude.values()), "the run and in exclude")
    out, listed = ([*dict.fromkeys(chain.from_iterable(of))] for of in (exclude.values(), run.doc_id.lists))
    refuse_two_spellings(out, listed)
    alike = spelled_alike(out, listed)
    # Ids of documents may differ by case alone.
    if alike is not None and "casefold" not in alike[3]:
        n, ours, theirs, call = alike
        raise ValueError(
            f"Ids of documents must be spelled alike in the run and in exclude. Got none in both, and {n} that would "
            f"be equal by {call}: {echo(theirs)} and {echo(ours)}."
        )
