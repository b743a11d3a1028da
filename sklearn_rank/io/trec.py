"""Files of TREC: runs and judgements (qrels), lines of fields between blanks."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from mmap import mmap
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sklearn_rank import _kernels
from sklearn_rank._check import check_scores
from sklearn_rank._grouping import find_qid, group_rows, number_together
from sklearn_rank._threads import check_n_jobs, for_each
from sklearn_rank.io._ids import ERRORS, QueryIds, Text
from sklearn_rank.io._source import name_of, open_to_write, read_bytes
from sklearn_rank.io.entries import Entries, checked

BLOCK_BYTES = 2**20  # of which what is made of them stays in memory that was used before
BYTE_ORDER_MARK = b"\xef\xbb\xbf"
RUN_FIELDS = ("query", "Q0", "document", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "document", "relevance")


def read_trec_run(path: Any, *, n_jobs: int | None = None) -> Entries:
    r"""Read a run of TREC: lines ``query Q0 document rank score tag``.

    The score alone orders documents, as in trec_eval; Q0, rank and tag are not used. Blanks are spaces and tabs, any
    number of them; lines without a field are skipped. What gzip made is unpacked.

    Parameters
    ----------
    path : str, path or binary file
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them.

    Returns
    -------
    Entries
        Their value is the score. See `join`.

    Raises
    ------
    ValueError
        If a line is not so, a score is not a finite number, or a document is in a query twice: naming the line. If
        there is no line.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_trec_run
    >>> run = read_trec_run(io.BytesIO(b"q1 Q0 d2 1 0.9 me\nq1 Q0 d1 2 0.5 me\n"))
    >>> run
    Entries of 2 rows and 1 queries
    >>> run.value
    array([0.9, 0.5])
    """
    return _read(path, "A run of TREC", RUN_FIELDS, n_jobs)


def read_trec_qrels(path: Any, *, n_jobs: int | None = None) -> Entries:
    r"""Read judgements of TREC (qrels): lines ``query iteration document relevance``.

    As `read_trec_run` reads a run; the iteration is not used.

    Parameters
    ----------
    path : str, path or binary file
    n_jobs : int or None, default=None
        Threads to use, as joblib counts them.

    Returns
    -------
    Entries
        Their value is the relevance. See `join`.

    Raises
    ------
    ValueError
        As for `read_trec_run`.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_trec_qrels
    >>> read_trec_qrels(io.BytesIO(b"q1 0 d1 2\nq1\t0\td3\t0\n")).value
    array([2., 0.])
    """
    return _read(path, "Judgements of TREC", QRELS_FIELDS, n_jobs)


def _read(path: Any, what: str, fields: Sequence[str], n_jobs: int | None) -> Entries:
    check_n_jobs(n_jobs)
    text, name = read_bytes(path), name_of(path)
    if text[-1:] != b"\n":
        text = bytes(text) + b"\n"
    parts = for_each(lambda a, b: _read_block(text, a, b, fields), _blocks(text), n_jobs)
    for at, stop, *_ in parts:
        if at < stop:
            _refuse_line(bytes(text), at, what, fields, name)
    _, _, queries, lengths, documents, document_ends, values = zip(*parts, strict=True)
    value = np.concatenate(values)
    if len(value) == 0:
        raise ValueError(f"{what} must have at least one line. Got none in {name}.")
    offset = np.cumsum([0, *map(len, documents)])
    for end, start in zip(document_ends, offset[:-1].tolist(), strict=True):
        end += start
    names, (number,) = number_together([np.concatenate(queries)])
    names = np.array(names.tolist())  # all strings, so no array of objects is needed
    qid = QueryIds(np.repeat(number.astype(np.uint32), np.concatenate(lengths)), names)
    entries = Entries(qid, Text(np.concatenate(documents), np.concatenate(document_ends)), value)
    return checked(entries, lambda row: f"in line {_line(bytes(text), row)} of {name}")


def _blocks(text: bytes | mmap) -> list[tuple[int, int]]:
    """Cut a text into (start, stop) pieces of whole lines."""
    edges = [len(BYTE_ORDER_MARK) if text[:3] == BYTE_ORDER_MARK else 0]
    while edges[-1] < len(text):
        edges.append(text.find(b"\n", min(edges[-1] + BLOCK_BYTES, len(text) - 1)) + 1)
    return list(zip(edges[:-1], edges[1:], strict=True))


def _read_block(text: bytes | mmap, start: int, stop: int, fields: Sequence[str]) -> tuple[Any, ...]:
    """Where it stopped and where it should, queries of runs of rows, their lengths, documents and values."""
    data = np.frombuffer(text, dtype=np.uint8)
    most = np.count_nonzero(data[start:stop] == ord("\n"))
    query, document = np.empty((2, stop - start), dtype=np.uint8)
    query_end, run_start = np.empty((2, most), dtype=np.int64)
    document_end, value = np.empty(most, dtype=np.int64), np.empty(most)
    at, n_rows, n_runs = _kernels.read_fields(
        data, start, stop, len(fields), len(fields) - (2 if fields is RUN_FIELDS else 1),
        query, query_end, run_start, document, document_end, value,
    )  # fmt: skip
    if at < stop:
        return at, stop, None, None, None, None, None
    ids = _decoded(query, query_end[:n_runs])
    lengths = np.diff(run_start[:n_runs], append=n_rows)
    used = document_end[n_rows - 1] if n_rows else 0
    return at, stop, ids, lengths, document[:used].copy(), document_end[:n_rows], value[:n_rows]


def _decoded(query: NDArray[np.uint8], end: NDArray[np.int64]) -> NDArray[Any]:
    data = query[: end[-1] if len(end) else 0].tobytes()
    ids = np.empty(len(end), dtype=object)
    ids[:] = [data[a:b].decode("utf-8", ERRORS) for a, b in pairwise([0, *end.tolist()])]
    return ids


def _refuse_line(text: bytes, at: int, what: str, fields: Sequence[str], name: str) -> None:
    """Say what is wrong with the line that starts at a byte."""
    line = text[at : text.index(b"\n", at)].decode("utf-8", "replace").strip()
    number = text.count(b"\n", 0, at) + 1
    place = f"in line {number} of {name}"
    found = line.encode().split()
    shown = line if len(line) <= 80 else f"{line[:77]}..."
    if len(found) != len(fields):
        raise ValueError(
            f"{what} has lines of {len(fields)} fields: {' '.join(fields)}. Got {len(found)} {place}: {shown!r}."
        )
    field = "score" if "score" in fields else "relevance"
    value = found[fields.index(field)].decode()
    raise ValueError(f"{what} must have a finite number as {field}. Got {value!r} {place}: {shown!r}.")


def _line(text: bytes, row: int) -> int:
    """Number of the line that a row was read from."""
    lines = (number for number, line in enumerate(text.split(b"\n"), 1) if line.strip())
    return next(number for i, number in enumerate(lines) if i == row)


def write_trec_run(path: Any, y_score: Any, *, qid: Any = None, doc_id: Any, tag: str = "sklearn_rank") -> None:
    """Write a run of TREC: lines ``query Q0 document rank score tag``, each query by falling score.

    Scores are written so that they are read back as they are.

    Parameters
    ----------
    path : str, path or binary file
        Through gzip if the name ends in ".gz".
    y_score : array-like of shape (n_samples,)
        Higher ranks first; documents of equal score in the order of the input. ``-inf``: not retrieved, left out.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: taken from the level "qid" of the index of `y_score`.
    doc_id : array-like of shape (n_samples,)
        Document of each row. Ids are written as ``str`` has them.
    tag : str, default="sklearn_rank"
        Name of the run.

    Raises
    ------
    ValueError
        If an id or the tag is empty or has a blank in it, which no reader could tell from two fields; if a document
        is in a query twice, a score is NaN or +inf, or lengths differ.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import write_trec_run
    >>> file = io.BytesIO()
    >>> write_trec_run(file, [0.5, 0.9], qid=["q1", "q1"], doc_id=["d1", "d2"], tag="me")
    >>> print(file.getvalue().decode(), end="")
    q1 Q0 d2 1 0.9 me
    q1 Q0 d1 2 0.5 me
    """
    score = check_scores(y_score, "y_score")
    ids, indptr, order = group_rows(find_qid(y_score, qid, name="y_score"), len(score))
    documents = _writable(np.asarray(doc_id).tolist(), "doc_id")
    if len(documents) != len(score):
        raise ValueError(f"doc_id must have one entry per row ({len(score)}). Got {len(documents)} instead.")
    queries = _writable(ids.tolist(), "qid")
    (tag,) = _writable([tag], "tag")
    order = np.arange(len(score)) if order is None else order
    query = np.repeat(np.arange(len(ids)), np.diff(indptr))
    checked(
        Entries(QueryIds(query, ids), Text.of([documents[row] for row in order.tolist()]), score),
        lambda row: f"in row {order[row]}",
    )
    with open_to_write(path) as file:
        for q, name in enumerate(queries):
            rows = order[indptr[q] : indptr[q + 1]]
            rows = rows[np.argsort(-score[rows], kind="stable")]
            rows = rows[score[rows] > -np.inf].tolist()
            lines = (
                f"{name} Q0 {documents[row]} {rank} {value!r} {tag}\n"
                for rank, (row, value) in enumerate(zip(rows, score[rows].tolist(), strict=True), 1)
            )
            file.write("".join(lines).encode("utf-8", ERRORS))


def _writable(ids: list[Any], name: str) -> list[str]:
    texts = [*map(str, ids)]
    for text in texts:
        encoded = text.encode("utf-8", ERRORS)
        if encoded.split() != [encoded]:
            raise ValueError(
                f"A run of TREC has blanks between its fields, so {name} must be without, and not empty. Got {text!r}."
            )
    return texts
