"""Documents of chunks: a run that ranks parts of documents becomes one that ranks documents."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from itertools import chain
from typing import Any

import numpy as np

from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.typing import Index
from sklearn_rank.io._entries import Entries, QueryIds
from sklearn_rank.io._forms import from_rows
from sklearn_rank.io._mappings import ListedDocuments, by_index, entries_of

AGGREGATE = one_of("max", "first", "sum", doc="")
LEAST_OF_CHUNKS, LEAST_CHUNKS = 2, 4
"""Queries and chunks of which all are not of one document, as they may be in a small example."""

DocumentOf = Mapping[Any, Any] | Callable[[Any], Any]


def with_documents(run: Any, document_of: Any, aggregate: str, duplicates: str) -> Entries:
    """The run with the documents of its chunks, each once in a query."""
    if hasattr(document_of, "to_dict") and hasattr(document_of, "index"):
        document_of = by_index(document_of, "document_of", "chunk")
    if not isinstance(document_of, Mapping) and not callable(document_of):
        raise TypeError(
            "document_of must be {chunk: document}, or a function that takes the id of a chunk. "
            f"Got {type(document_of).__name__} instead."
        )
    known = ListedDocuments([document_of]) if isinstance(document_of, Mapping) else None
    chunks, _ = entries_of(from_rows(run, "run", duplicates), "run", duplicates=duplicates, exclude={}, judged=known)
    if aggregate == "sum" and not chunks.doc_id.has_scores:
        raise ValueError(
            "aggregate='sum' adds scores, so the run must have them, as {query: {chunk: score}} has. "
            "Got a list of ids without scores; 'max' and 'first' take the place of the first chunk."
        )
    lists, number = _documents(chunks, document_of)
    _refuse_one_document(chunks.doc_id.lists, lists)
    code, score = chunks.qid.code, chunks.value
    retrieved = score > -np.inf
    if chunks._again is not None:
        retrieved &= ~chunks._again
    # One chunk stands for each document, so documents of equal score keep the order of these chunks.
    order = np.lexsort((-score if aggregate == "max" else ~retrieved, number))
    rows = order[np.append(True, np.diff(number[order]) > 0)] if len(order) else order
    value = score[rows]
    if aggregate == "sum":
        total = np.bincount(number, np.where(retrieved, score, 0.0))[number[rows]]
        value = np.where(retrieved[rows], total, -np.inf)
    in_order = np.argsort(rows)
    rows, value = rows[in_order], value[in_order]
    ends = np.cumsum(np.bincount(code[rows], minlength=len(lists))).tolist()
    flat = [*chain.from_iterable(lists)]
    documents = [flat[row] for row in rows.tolist()]
    by_query: list[Collection[Any]] = [documents[start:end] for start, end in zip([0, *ends], ends, strict=False)]
    return Entries(QueryIds(code[rows], chunks.qid.names), ListedDocuments(by_query), value)


def _refuse_one_document(chunks: list[Any], lists: list[list[Any]]) -> None:
    distinct = {*chain.from_iterable(chunks)}
    if len(lists) >= LEAST_OF_CHUNKS and len(distinct) >= LEAST_CHUNKS and len({*chain.from_iterable(lists)}) == 1:
        raise ValueError(
            "document_of must give the document of each chunk, so chunks of a run have several documents. Got "
            f"{echo(next(chain.from_iterable(lists)))} for all {len(distinct)} chunks of {len(lists)} queries."
        )


def _documents(chunks: Entries, document_of: DocumentOf) -> tuple[list[list[Any]], Index]:
    """Document of each chunk by query, and its number: equal for chunks of one query and document."""
    find = document_of.get if isinstance(document_of, Mapping) else document_of
    lists, numbers, n_documents = [], [], 0
    for query, of_query in zip(chunks.qid.names.tolist(), chunks.doc_id.lists, strict=True):
        documents = [*map(find, of_query)]
        try:
            number = {document: n_documents + i for i, document in enumerate(dict.fromkeys(documents))}
        except TypeError as error:
            raise TypeError(f"document_of must give ids that can be hashed. Got {error}.") from None
        if None in number or any(document != document for document in number):
            missing = next(c for c, d in zip(of_query, documents, strict=True) if d is None or d != d)
            raise ValueError(
                "document_of must give each chunk of the run a document. "
                f"Got none for chunk {echo(missing)} of query {echo(query)}."
            )
        lists.append(documents)
        numbers.append([number[document] for document in documents])
        n_documents += len(number)
    return lists, np.fromiter(chain.from_iterable(numbers), np.int64)
