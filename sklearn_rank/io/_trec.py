"""Files of TREC: runs and judgments (qrels), lines of fields between blanks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, takewhile
from threading import Event
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sklearn_rank._data.doors import READ_RUN
from sklearn_rank._data.look import report
from sklearn_rank._engine.columns import check_rows
from sklearn_rank._engine.grouping import find_qid, group_rows, number_together
from sklearn_rank._engine.ids import ids_of, refuse_unfit_ids
from sklearn_rank._engine.kernels import trec as trec_kernels
from sklearn_rank._engine.read import check_scores
from sklearn_rank._misuse.runs import contradicts, rank_with_fraction
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.containers import n_rows_of
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.threads import effective_n_jobs, map_items
from sklearn_rank._utils.typing import PathLike
from sklearn_rank.io._entries import ERRORS, Entries, QueryIds, Text, checked, repeated_rows
from sklearn_rank.io._source import open_to_write

MISSING_DOCUMENT = "Every row needs a document, so doc_id must not contain missing values. Got None or NaN."
RUN_FIELDS = ("query", "Q0", "document", "rank", "score", "tag")
QRELS_FIELDS = ("query", "iteration", "document", "relevance")
MOST_FIELDS = 2**10

TAG_OF_WORDS = re.compile(
    rb"^([ \t]*\S+[ \t]+\S+[ \t]+\S+[ \t]+\d+[ \t]+\S+[ \t]+[^\s\d.+-]\S*)[ \t]+\S[^\n]*$", re.MULTILINE
)
"""A line of a run whose tag has several words, and the first one is no number: else a blank may be in an id."""

LOOKS_LIKE = {
    len(QRELS_FIELDS): "This looks like a qrels file: use read_qrels. On the command line it comes first.",
    len(RUN_FIELDS): "This looks like a run: use read_run. On the command line it comes after the judgments.",
}


class _Rows(NamedTuple):
    """Fields of some lines; the text is kept if a line is invalid, and the lines of the rows if some are blank."""

    n_lines: int
    wrong: int | None
    text: bytes
    query: NDArray[Any]
    length: NDArray[np.int64]
    document: NDArray[np.uint8]
    document_end: NDArray[np.int64]
    value: NDArray[np.float64]
    rank: NDArray[np.float64] | None
    line: NDArray[np.int64] | None


def read_lines(
    pieces: Iterable[bytes], name: str, what: str, fields: Sequence[str], duplicates: str,
    n_jobs: int | None, with_scores: Callable[[Entries], Entries] | None = None,
) -> Entries:  # fmt: skip
    """Entries of pieces of a file that end with a newline; without a field of values each is 1."""
    # `with_scores` makes scores of what was read, before duplicates are looked for.
    found_wrong = Event()

    def read_piece(text: bytes) -> _Rows:
        rows = _read_lines(text, fields)
        if rows.wrong is not None and fields is RUN_FIELDS and TAG_OF_WORDS.match(text, rows.wrong):
            rows = _read_lines(TAG_OF_WORDS.sub(rb"\1", text), fields)
        if rows.wrong is not None:
            found_wrong.set()
        return rows

    # What follows an invalid line is not read.
    pieces = takewhile(lambda _: not found_wrong.is_set(), pieces)
    parts = map_items(read_piece, pieces, effective_n_jobs(n_jobs))
    for i, part in enumerate(parts):
        if part.wrong is not None:
            _refuse_line(part, sum(p.n_lines for p in parts[:i]), what, fields, name)
    value = np.concatenate([part.value for part in parts])
    if len(value) == 0:
        raise ValueError(f"{what} must have at least one line: {' '.join(fields)}. Got none in {name}.")
    start = 0
    for part in parts:
        part.document_end[:] += start
        start += len(part.document)
    names, (number,) = number_together([np.concatenate([part.query for part in parts])])
    # All are strings, so no array of objects is needed.
    names = np.array(names.tolist())
    lengths = np.concatenate([part.length for part in parts])
    documents = Text(
        np.concatenate([part.document for part in parts]), np.concatenate([part.document_end for part in parts])
    )
    kind = "run" if "score" in fields else "judgments"
    code = np.repeat(number.astype(np.uint32), lengths)
    entries = Entries(QueryIds(code, names), documents, value, kind)
    ranks = [part.rank for part in parts if part.rank is not None]
    if ranks:
        seen = [*contradicts(np.concatenate(ranks), value, code)]
        report(READ_RUN, seen)
        entries = replace(entries, _told=bool(seen))
    entries = entries if with_scores is None else with_scores(entries)
    return checked(entries, lambda row: f"in line {_line(parts, row)} of {name}", duplicates)


def _read_lines(text: bytes, fields: Sequence[str]) -> _Rows:
    # The kernel looks for the end of a line without looking for the end of the text.
    assert text.endswith(b"\n") or not text
    data = np.frombuffer(text, dtype=np.uint8)
    n_lines = int(np.count_nonzero(data == ord("\n")))
    query, document = np.empty((2, len(text)), dtype=np.uint8)
    # Each field of a row has a character, and a blank or a newline after it; the last row may be invalid.
    n_most = min(n_lines, len(text) // (2 * len(fields)) + 1)
    query_end, run_start, document_end, line = np.empty((4, n_most), dtype=np.int64)
    value, rank = np.ones(n_most), np.empty(n_most) if fields is RUN_FIELDS else None
    stopped, n_rows, n_runs = trec_kernels.read_fields(
        data, len(fields), fields.index("document"), value_field(fields),
        query, query_end, run_start, document, document_end, value, line, rank,
    )  # fmt: skip
    if b"\0" in text:
        stopped = min(stopped, text.rfind(b"\n", 0, text.index(b"\0")) + 1)
    wrong = stopped if stopped < len(text) else None
    used = document_end[n_rows - 1] if n_rows else 0
    # A view would keep what was for other lines.
    kept = np.asarray if n_rows == n_most else np.copy
    return _Rows(
        n_lines, wrong, b"" if wrong is None else text,
        _decoded(query, query_end[:n_runs]), np.diff(run_start[:n_runs], append=n_rows),
        document[:used].copy(), kept(document_end[:n_rows]), kept(value[:n_rows]),
        None if rank is None else kept(rank[:n_rows]), None if n_rows == n_lines else kept(line[:n_rows]),
    )  # fmt: skip


def value_field(fields: Sequence[str]) -> int:
    return next((fields.index(name) for name in ("score", "relevance", "rank") if name in fields), -1)


def _decoded(query: NDArray[np.uint8], end: NDArray[np.int64]) -> NDArray[Any]:
    data = query[: end[-1] if len(end) else 0].tobytes()
    ids = np.empty(len(end), dtype=object)
    ids[:] = [data[a:b].decode("utf-8", ERRORS) for a, b in pairwise([0, *end.tolist()])]
    return ids


def _refuse_line(part: _Rows, n_before: int, what: str, fields: Sequence[str], name: str) -> None:
    """Raise the error of an invalid line; `n_before` lines precede this part."""
    n_before += part.text.count(b"\n", 0, part.wrong)
    line = part.text[part.wrong : part.text.index(b"\n", part.wrong)].strip()
    shown, parts = line[:400].decode("utf-8", "replace"), line.split(None, MOST_FIELDS)
    shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
    where = f"in line {n_before + 1} of {name}: {shown!r}"
    if b"\0" in line:
        raise ValueError(f"{what} must be text in UTF-8, without NUL bytes. Got one {where}.")
    if len(parts) != len(fields):
        hint = "Ids have no blanks in them." if len(parts) > len(fields) else "Blanks part the fields."
        n_fields = f"more than {MOST_FIELDS}" if len(parts) > MOST_FIELDS else len(parts)
        if len(parts) == len(RUN_FIELDS) or parts[1:2] in ([b"0"], [b"Q0"]):
            hint = LOOKS_LIKE.get(len(parts), hint)
        hint = "There are no comments." if line.startswith(b"#") else hint
        if len(parts) > len(fields) == len(line.split(b"\t")):
            hint = r"If ids contain blanks and tabs are between the fields, pass separator='\t'."
        others = f" Of another layout make lines of three: query document {fields[value_field(fields)]}."
        raise ValueError(
            f"{what} has lines of {len(fields)} fields: {' '.join(fields)}. Got {n_fields} {where}. {hint}"
            + others * (n_before == 0 and value_field(fields) >= 0)
        )
    if fields is RUN_FIELDS:
        report(READ_RUN, rank_with_fraction(parts[fields.index("rank")].decode("utf-8", "replace"), where))
    field = fields[value_field(fields)]
    value = parts[value_field(fields)].decode("utf-8", "replace")
    raise ValueError(f"{what} must have a finite decimal number as {field}. Got {echo(value)} {where}.")


def _line(parts: list[_Rows], row: int) -> int:
    number, rest = 1, iter(parts)
    while row >= len((part := next(rest)).value):
        row -= len(part.value)
        number += part.n_lines
    return number + (row if part.line is None else int(part.line[row]))


@named_arguments
def write_run(
    path: PathLike, y_score: ArrayLike, *, qid: ArrayLike | None = None, doc_id: Any, tag: str = "sklearn_rank"
) -> None:
    """Write a run of TREC: lines ``query Q0 document rank score tag``, each query by falling score.

    Scores are written with all digits.

    Parameters
    ----------
    path : str, path or binary file
        Packed by gzip if the name ends in ".gz".
    y_score : array-like of shape (n_samples,)
        Higher scores rank first; documents of equal score keep the order of the input. Rows with ``-inf`` were not
        retrieved and are left out.
    qid : array-like of shape (n_samples,), default=None
        Query of each row. None: from the level "qid" of the index of `y_score`.
    doc_id : array-like of shape (n_samples,)
        Document of each row. Ids are written by ``str``, bytes unchanged.
    tag : str, default="sklearn_rank"
        Name of the run.

    Raises
    ------
    ValueError
        If an id or the tag is empty or contains a blank or a NUL; if a document is in a query twice, two queries have
        the same text, such as 1 and "1", a score is NaN or +inf, or lengths differ.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import write_run
    >>> file = io.BytesIO()
    >>> write_run(file, [0.5, 0.9], qid=["q1", "q1"], doc_id=["d1", "d2"], tag="me")
    >>> print(file.getvalue().decode(), end="")
    q1 Q0 d2 1 0.9 me
    q1 Q0 d1 2 0.5 me
    """
    score = check_scores(y_score, "y_score")
    check_rows(y_score=y_score, qid=qid, doc_id=doc_id)
    grouping = group_rows(find_qid(y_score, qid, name="y_score"), len(score))
    if not isinstance(tag, str):
        raise TypeError(f"tag must be a str, the name of the run. Got {echo(tag)} instead.")
    n_rows_of(doc_id, "doc_id")
    named = ids_of(doc_id, MISSING_DOCUMENT)
    refuse_unfit_ids(named, MISSING_DOCUMENT)
    documents = _writable(named.tolist(), "doc_id")
    if len(documents) != len(score):
        raise ValueError(f"doc_id must have one entry per row ({len(score)}). Got {len(documents)} instead.")
    queries = _writable(grouping.ids.tolist(), "qid")
    if len({*queries}) < len(queries):
        text = Counter(queries).most_common(1)[0][0]
        alike = [one for one, as_text in zip(grouping.ids.tolist(), queries, strict=True) if as_text == text]
        raise ValueError(f"Queries must differ as text, as TREC runs have no types. Got {echo_all(alike)} in qid.")
    (tag,) = _writable([tag], "tag")
    order, query = grouping.input_rows(), np.repeat(np.arange(grouping.n_queries), grouping.sizes)
    repeated_rows(
        Entries(QueryIds(query, grouping.ids), Text.of([documents[row] for row in order.tolist()]), score),
        lambda row: f"in row {order[row]}", what_to_do="leave one of two rows out",
    )  # fmt: skip
    with open_to_write(path) as file:
        for q, name in enumerate(queries):
            rows = grouping.input_rows(q, q + 1)
            rows = rows[np.argsort(-score[rows], kind="stable")]
            rows = rows[score[rows] > -np.inf].tolist()
            lines = (
                f"{name} Q0 {documents[row]} {rank} {value!r} {tag}\n"
                for rank, (row, value) in enumerate(zip(rows, score[rows].tolist(), strict=True), 1)
            )
            file.write("".join(lines).encode("utf-8", ERRORS))


def _writable(ids: list[Any], name: str) -> list[str]:
    texts = [one.decode("utf-8", ERRORS) if isinstance(one, bytes) else str(one) for one in ids]
    for text in texts:
        encoded = text.encode("utf-8", ERRORS)
        if encoded.split() != [encoded] or b"\0" in encoded:
            raise ValueError(
                f"Blanks separate the fields of a TREC run, so {name} must have no blank and no NUL, and not be empty. "
                f"Got {echo(text)}."
            )
    return texts
