"""Runs and judgements in files of any usual form: TREC, BEIR, MS MARCO, JSON, and tables with known columns."""

from __future__ import annotations

import io
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, echo_all
from sklearn_rank._utils.numbers import is_number
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank._utils.typing import PathLike
from sklearn_rank.io._columns import entries_of_frame, known_columns
from sklearn_rank.io._entries import DUPLICATES, Entries, grouped
from sklearn_rank.io._mappings import entries_of
from sklearn_rank.io._source import complete_lines, open_to_read, read_bytes, source_name
from sklearn_rank.io._tables import (
    HEADER_SIZE,
    MAGIC,
    SEPARATOR,
    SEPARATORS,
    fields_of,
    first_line,
    separator_in,
    table_in,
)
from sklearn_rank.io._trec import QRELS_FIELDS, RUN_FIELDS, read_lines, read_trec_run, value_field

FIELDS_OF: dict[str, dict[int, tuple[str, ...]]] = {
    "judgements": {2: ("query", "document"), 3: ("query", "document", "relevance"), 4: QRELS_FIELDS},
    "run": {3: ("query", "document", "score"), 6: RUN_FIELDS},
}
"""Fields of lines without a header, by their number."""
WHAT = {RUN_FIELDS: "A run of TREC", QRELS_FIELDS: "A file of TREC's judgements"}
FORMS = (
    "lines of TREC, BEIR or MS MARCO, JSON as {query: {document: number}}, JSON lines, or a table with columns such as "
    "qid, doc_id and score"
)
RANK_OR_SCORE = one_of("score", "rank", None, doc="")


@described_as(read_trec_run)
def read_run(
    path: PathLike, *, value: str | None = None, duplicates: str = "raise", separator: str | None = None,
    n_jobs: int | None = None,
) -> Entries:  # fmt: skip
    r"""Read a run from a file of any usual form, noticed by its first line.

    - Lines of TREC, ``query Q0 document rank score tag``, or of three fields, ``query document score``; MS MARCO has a
      rank in place of the score.
    - JSON, ``{query: {document: score}}`` or ``{query: [documents, best first]}``, the format of ranx and of
      pytrec_eval's users, and of MTEB for one subset and split. JSON lines, an object for each row.
    - Tables of CSV with a header, Parquet or Arrow, whose columns have names that libraries give them, such as
      ``query-id``, ``docno`` and ``score``. They need the extra "arrow".

    Parameters
    ----------
    path : str, path or binary file
        What gzip made is unpacked.
    value : {"score", "rank"}, default=None
        What the third of three fields is, if the file has no header. None: a rank if each query has 1, 2, 3, ... in
        this order, else a score.
    separator : str, default=None
        Character between the fields of a line. None: blanks, or what the header has: a tab, a semicolon or a comma.

    Returns
    -------
    Entries
        See `join` and `sklearn_rank.evaluate_run`.

    Raises
    ------
    ValueError
        If the file has another form, or a line is not as the first one: naming it. If gzip made a file small that has
        more than 1 GiB and more than 100 times the bytes.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_run
    >>> read_run(io.BytesIO(b'{"q1": {"d2": 0.9, "d1": 0.5}}')).value
    array([0.9, 0.5])
    >>> read_run(io.BytesIO(b"q1\td2\t1\nq1\td1\t2\n")).value
    array([-1., -2.])
    """
    RANK_OR_SCORE.check("value", value, "read_run")
    return _read("read_run", "run", path, value, duplicates, separator, n_jobs)


@described_as(read_run)
def read_qrels(
    path: PathLike, *, duplicates: str = "raise", separator: str | None = None, n_jobs: int | None = None
) -> Entries:
    r"""Read judgements (qrels) from a file of any usual form, noticed by its first line.

    As `read_run` reads a run: lines of TREC, ``query iteration document relevance``; BEIR's ``qrels/test.tsv`` with its
    header; three fields, ``query document relevance``; two, ``query document``, of relevant documents (MS MARCO); JSON
    ``{query: {document: grade}}`` or ``{query: [relevant documents]}``; and tables.

    Returns
    -------
    Entries
        See `join` and `sklearn_rank.evaluate_run`.

    Raises
    ------
    ValueError
        As for `read_run`.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_qrels
    >>> read_qrels(io.BytesIO(b"query-id\tcorpus-id\tscore\nq1\td1\t2\n"))
    Entries of 1 rows and 1 queries
    """
    return _read("read_qrels", "judgements", path, None, duplicates, separator, n_jobs)


def _read(
    caller: str, kind: str, path: Any, value: str | None, duplicates: str, separator: str | None, n_jobs: int | None
) -> Entries:
    check_n_jobs(n_jobs)
    DUPLICATES.check("duplicates", duplicates, caller)
    SEPARATOR.check("separator", separator, caller)
    name = source_name(path)
    with open_to_read(path) as file:
        start: bytes = file.peek(HEADER_SIZE)[:HEADER_SIZE]
        if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
            return _of_json(read_bytes(file), name, kind, duplicates)
        line, is_binary = first_line(start.lstrip(b"\r\n")), start.startswith(MAGIC)
        fields, has_header = (None, False) if is_binary else _fields(line, kind, separator)
        if fields is not None:
            what = WHAT.get(fields, f"A file of {kind} that begins as this one")
            pieces = complete_lines(file)
            pieces = _without_header(pieces) if has_header else pieces
            third = line.split()[2].lower() if has_header and len(fields) > 2 else value
            ranked = partial(_ranked, value=third, name=name) if fields is FIELDS_OF["run"][3] else None
            return read_lines(pieces, name, what, fields, duplicates, n_jobs, ranked)
        if is_binary:
            return entries_of_frame(table_in(file, path, partial(_needed, kind=kind)), kind, duplicates)
        mark = separator or separator_in(line, [])
        columns = fields_of(line, mark)
        header = None if _is_header(columns, kind) else _header(columns, kind, name)
        needed = partial(_needed, kind=kind)
        ids = needed(header or columns)[:2]
        ranked = partial(_ranked, value=value, name=name) if header == FIELDS_OF["run"][3] else None
        return entries_of_frame(table_in(file, path, needed, ids, mark, header), kind, duplicates, ranked)


# --- lines ---------------------------------------------------------------------------------------------------


def _fields(line: str, kind: str, separator: str | None) -> tuple[tuple[str, ...] | None, bool]:
    """Fields of lines between blanks, and whether the first line has their names; None for a table."""
    words = line.split()
    fields = FIELDS_OF[kind].get(len(words))
    if separator is not None:
        return None, False
    if _is_header(words, kind):
        in_order = [*known_columns(words, kind)][: len(words)] == words
        return (fields, True) if in_order and fields else (None, False)
    has_marks = len(words) < 2 and any(mark in line for mark in SEPARATORS)
    if has_marks or any(_is_header(fields_of(line, mark), kind) for mark in SEPARATORS):
        return None, False
    return fields or FIELDS_OF[kind][max(FIELDS_OF[kind])], False


def _needed(names: Sequence[str], kind: str) -> list[str]:
    """Columns of queries, documents and values; no column if one is missing, so that an error has all names."""
    query, document, value = known_columns(names, kind)
    if None in (query, document) or (value is None and kind == "run"):
        return []
    return [query, document, *([] if value is None else [value])]


def _is_header(names: Sequence[str], kind: str) -> bool:
    return None not in known_columns(names, kind)[:2]


def _without_header(pieces: Iterator[bytes]) -> Iterator[bytes]:
    """The pieces with an empty first line, so that lines keep their numbers."""
    first = next(pieces)
    start = len(first) - len(first.lstrip(b"\r\n"))
    yield first[:start] + first[first.index(b"\n", start) :]
    yield from pieces


def _header(columns: Sequence[str], kind: str, name: str) -> tuple[str, ...]:
    """Names for the columns of a table whose first line has none."""
    fields = FIELDS_OF[kind].get(len(columns))
    at = -1 if fields is None else value_field(fields)
    if fields is None or (at >= 0 and not is_number(columns[at])):
        raise ValueError(f"A file of {kind} has {FORMS}. Got {', '.join(columns)[:80]!r} in line 1 of {name}.")
    return fields


def _ranked(entries: Entries, value: str | None, name: str) -> Entries:
    """The entries of three fields, whose values may be ranks.

    Raises
    ------
    ValueError
        If they may be ranks or scores.
    """
    if value is None:
        starts, order = grouped(entries.qid.code, len(entries.qid.names))
        of_query = entries.value if order is None else entries.value[order]
        rank = np.arange(len(entries)) - np.repeat(starts[:-1], np.diff(starts)) + 1.0
        if (of_query == rank).all():
            value = "rank"
        elif (of_query == np.repeat(np.diff(starts), np.diff(starts)) - rank + 1).all():
            value = "score"
        elif (of_query[np.lexsort((of_query, np.repeat(np.arange(len(starts) - 1), np.diff(starts))))] == rank).all():
            raise ValueError(
                "The third field may be a rank or a score: pass value='rank' or value='score'. Got the numbers from 1 "
                f"up in every query of {name}, in no order."
            )
    return replace(entries, value=-entries.value) if value == "rank" else entries


# --- JSON ----------------------------------------------------------------------------------------------------


def _of_json(data: bytes, name: str, kind: str, duplicates: str) -> Entries:
    """Entries of a JSON file, or of a file with an object in each line."""
    twice: list[str] = []

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        mapping = dict(pairs)
        if len(mapping) < len(pairs):
            twice.extend(key for key, n in Counter(key for key, _ in pairs).items() if n > 1)
        return mapping

    try:
        read = json.loads(data, object_pairs_hook=once)
    except (ValueError, RecursionError) as error:
        try:
            read = [json.loads(line, object_pairs_hook=once) for line in io.BytesIO(data) if line.strip()]
        except (ValueError, RecursionError):
            raise ValueError(f"A file that begins with a bracket is JSON, or JSON lines. Got {name}: {error}") from None
    if twice:
        raise ValueError(f"A key must be in an object of JSON once. Got {echo(twice[0])} more than once in {name}.")
    if isinstance(read, dict) and "mteb_model_meta" in read:
        read = _of_mteb(read, name)
    if isinstance(read, dict) and _is_header([*read], kind):
        read = [read]
    if isinstance(read, list):
        return _of_rows(read, name, kind, duplicates)
    return replace(entries_of(read, kind, duplicates=duplicates, exclude={})[0], _kind=kind)


def _of_mteb(read: dict[str, Any], name: str) -> Any:
    """The run of the one subset and split that MTEB wrote."""
    subsets = {subset: splits for subset, splits in read.items() if subset != "mteb_model_meta"}
    runs = {f"{subset}/{split}": run for subset, splits in subsets.items() for split, run in splits.items()}
    if len(runs) != 1:
        raise ValueError(
            "A file of MTEB is read if it has one subset and split; of others take json.load(file)[subset][split]. "
            f"Got {echo_all([*runs])} in {name}."
        )
    (run,) = runs.values()
    return run


def _of_rows(rows: list[Any], name: str, kind: str, duplicates: str) -> Entries:
    wrong = [row for row in rows if not isinstance(row, Mapping)]
    if wrong or not rows:
        got = echo(wrong[0]) if wrong else "none"
        raise ValueError(f"Rows of JSON are objects, with keys such as qid, doc_id and score. Got {got} in {name}.")
    keys = dict.fromkeys(chain.from_iterable(rows))
    known = [key for key in known_columns(keys, kind) if key is not None]
    # Other columns are named in errors only: a column of each key of each row may be far larger than the rows.
    columns = dict.fromkeys(keys, ()) | {key: [row.get(key) for row in rows] for key in known}
    return entries_of_frame(columns, kind, duplicates)
