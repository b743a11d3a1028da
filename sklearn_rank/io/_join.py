"""Join of judgments with a run, to the three arrays that metrics take."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank._data.doors import JOIN, RUN, Door
from sklearn_rank._data.look import report
from sklearn_rank._engine.grouping import Number, concatenate_ranges, group_numbers, number_together
from sklearn_rank._engine.kernels import trec as trec_kernels
from sklearn_rank._engine.queries import pooled_if_negative
from sklearn_rank._misuse.evidence import LEAST_DOCUMENTS, NONE_WORDS, odd_ids
from sklearn_rank._misuse.ids import (
    LEAST_LISTS,
    LOOKED_AT_LISTS,
    MOST_COMPARED,
    MOST_JUDGED,
    SAMPLED_DOCUMENTS,
    another_spelling,
    lists_of_another_query,
    spelled_alike,
    words_on_both_sides,
)
from sklearn_rank._misuse.runs import (
    SHARE_BY_CHANCE,
    documents_that_are_none,
    ids_of_two_types,
    match_nothing,
    rises,
    turned_round,
    worst_first,
)
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import BOOL, one_of
from sklearn_rank._utils.echo import echo
from sklearn_rank._utils.numbers import distinct_values
from sklearn_rank._utils.typing import Array, Index
from sklearn_rank.io._documents import AGGREGATE, DocumentOf, with_documents
from sklearn_rank.io._entries import DUPLICATES, Entries, QueryIds, Text, document_keys, match, taken
from sklearn_rank.io._forms import both_entries
from sklearn_rank.io._mappings import (
    ORDER,
    JudgmentsLike,
    ListedDocuments,
    RunLike,
    match_listed,
    refuse_other_kind,
    two_types,
)
from sklearn_rank.io._ranking_data import RankingData, documents_at

TREATMENTS = ("zero", "drop", "raise")
COMPARED_JUDGED = 256
TREATMENT = one_of(*TREATMENTS, doc="")
TIE_ORDER = one_of("input", "trec_eval", doc="")
NEGATIVE = one_of("unjudged", "keep", doc="")
DOORS = {"join": JOIN, "evaluate_run": RUN}


@named_arguments
def join(
    judgments: JudgmentsLike, run: RunLike, *, missing_from_run: str = "zero", missing_from_qrels: str = "drop",
    tie_order: str = "input", float32: bool = False, negative: str = "unjudged", duplicates: str = "raise",
    exclude: Mapping[Any, Iterable[Any]] | None = None, document_of: DocumentOf | None = None, aggregate: str = "max",
) -> RankingData:  # fmt: skip
    r"""Join judgments with a run: a row for each document that was retrieved or judged.

    A document that was judged but not retrieved has a score of ``-inf``; one that was retrieved but not judged has a
    label of NaN. Queries come in the order of the judgments, which is the same for every run.

    Parameters
    ----------
    judgments : Entries, mapping or table
        Relevance, from `read_qrels`; or ``{query: {document: grade}}``, ``{query: relevant documents}``, or another
        form of `sklearn_rank.evaluate_run`.
    run : Entries, mapping or table
        Scores, from `read_run`; or ``{query: {document: score}}``, ``{query: [documents, best first]}``, or another
        form of `sklearn_rank.evaluate_run`.
    missing_from_run : {"zero", "drop", "raise"}, default="zero"
        Queries of the judgments without retrieved documents: keep them, so that metrics count them as zero
        (trec_eval with ``-c``), leave them out (trec_eval without ``-c``), or raise.
    missing_from_qrels : {"zero", "drop", "raise"}, default="drop"
        Queries of the run without judgments, in the same way; trec_eval leaves them out.
    tie_order : {"input", "trec_eval"}, default="input"
        Order of documents of equal score, which ``ties="stable"`` reads: the order of the run, or trec_eval's, by
        falling document id as bytes.
    float32 : bool, default=False
        Whether scores are rounded to single precision first, like version 9 of trec_eval.
    negative : {"unjudged", "keep"}, default="unjudged"
        Documents of negative relevance. "unjudged": in the pool but not judged, as in trec_eval, with a NaN that infAP
        distinguishes from the NaN of a document outside the pool. "keep": the labels stay, and metrics read them by
        their own `negative`; all metrics agree with ``convention="trec_eval"``. Keep labels if pandas writes them to a
        file, where NaN becomes null.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        Treatment of a document that a list of ids repeats: raise an error; take its first place, so that later
        documents move up; or keep its other places as unjudged documents. Readers of files and tables have their own
        `duplicates`.
    exclude : mapping of query to documents, or table, default=None
        Documents to remove from the run and from the judgments, such as items of training. Queries that neither side
        has are ignored, unless all are. A table needs a column of queries or users and a column of documents or items,
        such as "user_id" and "item_id".
    document_of : mapping of chunk to document or callable, default=None
        Document of each chunk, if the run ranks chunks and the judgments name documents: a mapping, a Series with
        chunks as its index, or a function of a chunk's id. Each document is then in a query once.
    aggregate : {"max", "first", "sum"}, default="max"
        With `document_of`, the score of a document: the best score of its chunks, the score of its first chunk in the
        order of the run, or the sum of all.

    Returns
    -------
    RankingData
        With `y_true`, `y_score`, `qid`, `doc_id`, and the queries that one side lacks.

    Raises
    ------
    ValueError
        If a query is missing and the keyword is "raise", no query is in both, run and judgments are the wrong way
        round, a list repeats a document, a chunk has no document, a value is not finite, or a keyword has an invalid
        value.
    TypeError
        If ids are strings on one side only, or one side has another form.

    Warns
    -----
    RankingWarning
        If run and judgments seem to be the wrong way round, hardly a document is in both, or ids are of two types.

    Examples
    --------
    Document c was judged and not retrieved, b retrieved and not judged, and the run lacks query q2:

    >>> import io
    >>> from sklearn_rank import evaluate
    >>> from sklearn_rank.io import join, read_qrels, read_run
    >>> qrels = read_qrels(io.BytesIO(b"q1 0 a 1\nq1 0 c 1\nq2 0 a 1\n"))
    >>> run = read_run(io.BytesIO(b"q1 Q0 b 1 2.5 me\nq1 Q0 a 2 1.5 me\n"))
    >>> data = join(qrels, run)
    >>> data.doc_id
    array(['b', 'a', 'c', 'a'], dtype='<U1')
    >>> data.y_score, data.y_true
    (array([ 2.5,  1.5, -inf, -inf]), array([nan,  1.,  1.,  1.]))
    >>> data.not_in_run
    array(['q2'], dtype='<U2')
    >>> evaluate(
    ...     data.y_true, data.y_score, qid=data.qid, metrics="map", unjudged="nonrelevant"
    ... ).per_query["map"]
    array([0.25, 0.  ])
    """
    return join_for(
        "join", judgments, run, missing_from_run=missing_from_run, missing_from_qrels=missing_from_qrels,
        tie_order=tie_order, float32=float32, negative=negative, duplicates=duplicates, exclude=exclude,
        document_of=document_of, aggregate=aggregate,
    )  # fmt: skip


def join_for(
    caller: str, judgments: JudgmentsLike, run: RunLike, *, missing_from_run: str, missing_from_qrels: str,
    tie_order: str, float32: bool, negative: str, duplicates: str, exclude: Mapping[Any, Iterable[Any]] | None,
    document_of: DocumentOf | None, aggregate: str,
) -> RankingData:  # fmt: skip
    """As `join`; errors name the caller."""
    TREATMENT("missing_from_run", missing_from_run, caller)
    BOOL("float32", float32, caller)
    TREATMENT("missing_from_qrels", missing_from_qrels, caller)
    TIE_ORDER("tie_order", tie_order, caller)
    NEGATIVE("negative", negative, caller)
    DUPLICATES("duplicates", duplicates, caller)
    AGGREGATE("aggregate", aggregate, caller)
    sides = run, judgments
    if document_of is not None:
        refuse_other_kind(caller, run, "run")
        run = with_documents(run, document_of, aggregate, duplicates)
    qrels, run, n_excluded = both_entries(caller, judgments, run, duplicates, exclude)
    door = DOORS[caller]
    odd = _odd_documents(run), _odd_documents(qrels)
    _look_at_sides(door, caller, sides, run, qrels, odd[0] | odd[1])
    may_rise = not run._told and rises(run.value, run.qid.code)
    names, of_run, of_qrels = _numbered(run, qrels)
    keep, lacking = _choose(names, of_run, of_qrels, missing_from_run, missing_from_qrels)
    report(door, another_spelling(lacking[0].tolist(), lacking[1].tolist(), "queries"))
    both = NONE_WORDS.intersection(qrels.qid.names.tolist()).intersection(run.qid.names.tolist())
    report(door, words_on_both_sides(both, names[:MOST_COMPARED].tolist(), "queries"))
    of_run, of_qrels = of_run[run.qid.code], of_qrels[qrels.qid.code]
    label = qrels.value if negative == "keep" else pooled_if_negative(qrels.value)
    # Scores that become infinite are refused later.
    with np.errstate(over="ignore"):
        score = run.value.astype(np.float32).astype(np.float64) if float32 else run.value
    judged_rows, rows = group_numbers(of_qrels, len(names)), group_numbers(of_run, len(names))
    if isinstance(run.doc_id, ListedDocuments):
        matches = match_listed(run, qrels, rows, judged_rows)
    else:
        judged_keys, keys = document_keys(qrels.doc_id, run.doc_id)
        matches = match(judged_keys, judged_rows, keys, rows)[0]
    if run._again is not None:
        matches[run._again] = -1
    y_true, y_score = np.empty((2, len(run) + len(qrels)))
    source = np.empty(len(y_true), dtype=np.int64)
    retrieved = np.zeros(len(qrels), dtype=np.uint8)
    n = trec_kernels.join_rows(
        score, matches, rows.indptr, rows.order, label, judged_rows.indptr, judged_rows.order, keep.view(np.uint8),
        retrieved, y_true, y_score, source,
    )  # fmt: skip
    y_true, y_score, source = y_true[:n], y_score[:n], source[:n]
    size = rows.sizes + np.bincount(of_qrels[retrieved == 0], minlength=len(names))
    code = np.repeat(np.arange(keep.sum(), dtype=np.uint32), size[keep])
    _look_at_matches(door, run, qrels, y_true, y_score, code, source)
    _look_at_words(door, odd[0] & odd[1] & NONE_WORDS, run, qrels, source[(y_score > -np.inf) & ~np.isnan(y_true)])
    if may_rise:
        report(door, worst_first(y_true, y_score, size[keep]))
    if tie_order == "trec_eval":
        _put_in_trec_order(code, run.doc_id, [y_score, y_true, source])
    return RankingData(
        y_true, y_score, QueryIds(code, names[keep]), *lacking, missing_from_run, missing_from_qrels,
        (run.doc_id, qrels.doc_id), source, n_excluded, qrels.n_blank,
    )  # fmt: skip


def _look_at_sides(
    door: Door, caller: str, sides: tuple[Any, Any], run: Entries, qrels: Entries, odd: frozenset[Any]
) -> None:
    """Look for a run and judgments that are swapped, and for ids of documents that are none."""
    first, judged_first = (next(iter(x.values()), None) if isinstance(x, Mapping) else None for x in sides)
    report(
        door,
        turned_round(
            run.value, run.qid.code, qrels.value, f"{caller} takes {ORDER}",
            is_list=isinstance(first, Sequence), is_judged_by_lists=isinstance(judged_first, Sequence),
        ),
    )  # fmt: skip
    report(door, documents_that_are_none(odd, len(run) + len(qrels)))


def _look_at_words(door: Door, words: frozenset[Any], run: Entries, qrels: Entries, source: Index) -> None:
    """Look for words of missing ids among the documents that match; `source` holds the rows of these."""
    if words:
        some = taken(run.doc_id, np.arange(min(len(run), MOST_COMPARED))).tolist()
        matched = documents_at((run.doc_id, qrels.doc_id), source, slice(None)).tolist()
        report(door, words_on_both_sides(words.intersection(matched), some, "documents"))


def _look_at_matches(
    door: Door, run: Entries, qrels: Entries, y_true: Array, y_score: Array, code: Index, source: Index
) -> None:
    """Look for documents without a match, because their ids are others or of two types."""
    both = run.doc_id, qrels.doc_id
    if isinstance(run.doc_id, ListedDocuments):
        report(door, ids_of_two_types(two_types(*both)))
    retrieved = y_score > -np.inf
    if alike := [*another_spelling(*_without_match(both, y_true, retrieved, code, source), "documents")]:
        report(door, alike)
        return
    label, in_queries = y_true[retrieved], code[retrieved]
    report(door, lists_of_another_query(*_lists_without_match(both, qrels, label, in_queries, source[retrieved])))
    if len(label) == 0 or in_queries[0] == in_queries[-1] or not (qrels.value != 0).any() or (label > 0).any():
        return
    n_judged = int(np.count_nonzero(~np.isnan(label)))
    if n_judged < SHARE_BY_CHANCE * len(label):
        # A query without documents has None.
        of_run, judged = ([one for one in np.asarray(ids).tolist() if one is not None] for ids in both)
        report(door, match_nothing(of_run, judged, n_judged))


def _without_match(
    ids: tuple[Any, ...], y_true: Array, retrieved: NDArray[np.bool_], code: Index, source: Index
) -> tuple[list[Any], list[Any]]:
    """Some documents that were retrieved and not judged, and some of the same queries that were judged only."""
    judged_only = np.flatnonzero(~retrieved)
    judged_only = judged_only[:: len(judged_only) // COMPARED_JUDGED + 1]
    in_queries = distinct_values(code[judged_only])
    first, last = (np.searchsorted(code, in_queries, side) for side in ("left", "right"))
    n = int(np.searchsorted(np.cumsum(last - first), MOST_COMPARED)) + 1
    rows = np.concatenate([np.arange(a, b) for a, b in zip(first[:n], last[:n], strict=True)] or [judged_only])
    not_judged = rows[retrieved[rows] & np.isnan(y_true[rows])][:MOST_COMPARED]
    return tuple(documents_at(ids, source, rows).tolist() for rows in (not_judged, judged_only))


def _lists_without_match(
    ids: tuple[Any, ...], qrels: Entries, label: Array, code: Index, source: Index
) -> tuple[list[Any], list[Any], list[int]]:
    """Some lists without a judged document, and the judged documents with the number of their query."""
    n_judged, size = np.bincount(code, label == label), np.bincount(code)
    queries = np.flatnonzero((n_judged == 0) & (size >= LEAST_DOCUMENTS))[:LOOKED_AT_LISTS]
    if len(queries) < LEAST_LISTS or len(qrels) > MOST_JUDGED:
        return [], [], []
    starts = np.searchsorted(code, queries)
    rows = [np.arange(a, a + min(size[q], SAMPLED_DOCUMENTS)) for a, q in zip(starts, queries, strict=True)]
    return (
        [documents_at(ids, source, one).tolist() for one in rows],
        np.asarray(ids[1]).tolist(),
        qrels.qid.code.tolist(),
    )


def _numbered(run: Entries, qrels: Entries) -> tuple[NDArray[Any], Number, Number]:
    """Queries of both, the judgments first; number of each query of the run, and of the judgments."""
    sides = qrels.qid.names, run.qid.names
    nothing = np.empty(0, dtype=np.int64)
    names, numbers = number_together([*sides]) if sum(map(len, sides)) else (sides[0], [nothing, nothing])
    of_qrels, of_run = (number.astype(np.uint32) for number in numbers)
    if of_run.min(initial=len(of_qrels)) >= len(of_qrels):
        first = [repr(ids.tolist()[0]) if len(ids) else "none" for ids in sides]
        alike = spelled_alike(*(ids[:MOST_COMPARED].tolist() for ids in sides))
        hint = f" {echo(alike[1])} and {echo(alike[2])} would be equal by {alike[3]}." if alike else ""
        raise ValueError(
            "A run and judgments must have a query in common, and its id must be of one type. "
            f"Got ids such as {first[0]} in the judgments and {first[1]} in the run.{hint}"
        )
    return names, of_run, of_qrels


def _choose(
    names: NDArray[Any], of_run: Number, of_qrels: Number, missing_from_run: str, missing_from_qrels: str
) -> tuple[NDArray[np.bool_], tuple[NDArray[Any], NDArray[Any]]]:
    """Whether to keep each query; queries that the run lacks; queries that the judgments lack."""
    sides = ("run", of_run, missing_from_run), ("judgments", of_qrels, missing_from_qrels)
    keep, lacking = np.ones(len(names), dtype=bool), []
    for side, code, what in sides:
        has = np.zeros(len(names), dtype=bool)
        has[code] = True
        absent = names[~has]
        lacking.append(absent)
        if what == "raise" and len(absent):
            keyword = "missing_from_run" if side == "run" else "missing_from_qrels"
            raise ValueError(
                f"With {keyword}='raise' every query must be in the {side}; 'zero' counts it as zero and 'drop' leaves "
                f"it out. Got {len(absent)} missing, the first {echo(absent.tolist()[0])}."
            )
        if what == "drop":
            keep &= has
    return keep, (lacking[0], lacking[1])


def _odd_documents(entries: Entries) -> frozenset[Any]:
    documents = entries.doc_id
    return documents.odd() if isinstance(documents, ListedDocuments | Text) else odd_ids(np.asarray(documents))


def _put_in_trec_order(code: Index, documents: Any, columns: list[NDArray[Any]]) -> None:
    """Sort rows by query, descending score and descending document id; documents that were not retrieved come last."""
    # The first column holds the scores, the last one the positions of the documents.
    score = columns[0]
    same_query = code[1:] == code[:-1]
    if ((score[1:] > score[:-1]) & same_query).any():
        _move(slice(None), np.lexsort((-score, code)), columns)
    tied = (score[1:] == score[:-1]) & same_query & (score[1:] > -np.inf)
    edges = np.diff(tied.view(np.int8), prepend=0, append=0)
    rows, block = concatenate_ranges(np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) + 1)
    tied = columns[-1][rows]
    if isinstance(documents, Text):
        names = documents.encoded(tied)
    else:
        names = Text.of([*map(str, documents[tied].tolist())]).encoded(range(len(tied)))
    by_name = np.array(sorted(range(len(names)), key=names.__getitem__, reverse=True), dtype=np.int64)
    _move(rows, rows[by_name[np.argsort(block[by_name], kind="stable")]], columns)


def _move(to: Any, rows: Index, columns: list[NDArray[Any]]) -> None:
    for column in columns:
        column[to] = column[rows]
