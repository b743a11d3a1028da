"""Runs and judgments from files and tables of any usual form: TREC, BEIR, MS MARCO, JSON, and named columns."""

from __future__ import annotations

import io
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain
from typing import Any

import numpy as np

from sklearn_rank._tables.formats import HEADER_SIZE, MAGIC, SEPARATORS, fields_of, files_of, first_line, separator_in
from sklearn_rank._tables.roles import USUAL, Roles, candidates, needed
from sklearn_rank._utils.arguments import named_arguments
from sklearn_rank._utils.constraints import one_of
from sklearn_rank._utils.docstring import described_as
from sklearn_rank._utils.echo import echo, echo_all, extended
from sklearn_rank._utils.numbers import is_number
from sklearn_rank._utils.threads import check_n_jobs
from sklearn_rank.io._columns import EXAMPLE, THREE_COLUMNS, as_scores, check_names, entries_of_frame, negated
from sklearn_rank.io._entries import DUPLICATES, Entries, joined_entries
from sklearn_rank.io._mappings import entries_of
from sklearn_rank.io._source import complete_lines, open_to_read, read_bytes, source_name
from sklearn_rank.io._tables import SEPARATOR, opened, table_in
from sklearn_rank.io._trec import QRELS_FIELDS, RUN_FIELDS, read_lines, value_field

FIELDS_OF: dict[str, dict[int, tuple[str, ...]]] = {
    "judgments": {2: ("query", "document"), 3: ("query", "document", "relevance"), 4: QRELS_FIELDS},
    "run": {3: ("query", "document", "score"), 6: RUN_FIELDS},
}
WITHOUT_TAG = RUN_FIELDS[:-1]
RANKED = ("query", "document", "rank", "score")
OF_SMART = ("query", "document", "zero", "another zero")
TREC = {"judgments": QRELS_FIELDS, "run": RUN_FIELDS}
WHAT = {RUN_FIELDS: "A run of TREC", QRELS_FIELDS: "A file of TREC's judgments"}
FORMS = (
    "lines of TREC, BEIR or MS MARCO, JSON as {query: {document: number}}, JSON lines, or a table with columns such as "
    "qid, doc_id and score"
)
FORMAT = {"judgments": one_of("trec", None, doc=""), "run": one_of("trec", "scores", "ranks", None, doc="")}
MOST_KEYS_OF_JSON = 50
SAMPLED_BYTES = 2**14
"""Bytes of a file whose lines tell ratings from judgments."""
TIME_STAMPS = 1e8, 1e20
"""Times are between: seconds, or nanoseconds, since 1970."""
MOST_RATINGS = 11
"""Different ratings, such as .5 to 5 by halves."""
LEAST_RATINGS = 20
"""Lines with so few different ratings that they are no documents."""


@named_arguments
def read_run(
    source: Any, *, value: str | None = None, qid: str | Sequence[str] | None = None, doc_id: str | None = None,
    format: str | None = None, duplicates: str = "raise", separator: str | None = None, n_jobs: int | None = None,
) -> Entries:  # fmt: skip
    r"""Read a run from a file, whose format is recognized by its first line, or from a table in memory.

    - TREC: lines ``query Q0 document rank score tag``. The score orders documents, as in trec_eval. Q0 and tag are not
      used; ranks only reveal columns in another order. Fields are separated by spaces or tabs, and empty lines are
      skipped.
    - Three fields: ``query document score``; in MS MARCO's runs the third field is a rank.
    - JSON: ``{query: {document: score}}`` or ``{query: [documents, best first]}``, as for ranx and pytrec_eval, or the
      format of MTEB for one subset and split. JSON lines: an object for each row.
    - Tables: CSV with a header, Parquet or Arrow, which need the extra "arrow", and tables in memory. Columns have
      names of known libraries, such as ``query-id``, ``docno`` and ``score``, or are named by `qid`, `doc_id` and
      `value`. In CSV ids are strings, unchanged.

    `sklearn_rank.evaluate_run` and `join` also take dictionaries by query.

    Parameters
    ----------
    source : path, binary file, frame of pandas or polars, table of Arrow or DuckDB, or mapping of arrays
        Gzip is unpacked. A path may also be a list of paths, a folder, or a pattern such as ``runs/2026-*.txt``.
    value : str, default=None
        Column of the numbers. None: a column with a known name. A column "rank" has ranks, any other column has scores.
        If the name suggests that lower is better, such as "distance", pass `format`.
    qid : str or list of str, default=None
        Column, or level of the index, of queries. Of several columns, such as ``["tenant", "query_id"]``, the query is
        the tuple of their values. None: a column with a known name.
    doc_id : str, default=None
        Column of documents. None: a column with a known name.
    format : {"trec", "scores", "ranks"}, default=None
        The format, if the source can be read in two ways. "trec": lines of TREC, even if the first line looks like
        JSON, because its query begins with a bracket. "scores" or "ranks": the meaning of the numbers in a column, in
        JSON or in the third of three fields. None: recognized. The third of three fields is a rank if each query has
        1, 2, 3, ... in this order; other whole numbers that rise in every query are an error.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        Treatment of a document that is in a query twice: raise an error; take its row with the highest score; or keep
        its other rows as well, as unjudged documents.
    separator : str, default=None
        Character between the fields of a line. None: blanks, or the separator of the header: a tab, semicolon or comma.
    n_jobs : int or None, default=None
        Threads that read lines, counted as in joblib.

    Returns
    -------
    Entries
        With the score as value. See `join` and `sklearn_rank.evaluate_run`.

    Raises
    ------
    ValueError
        If the file has another format, or a line differs from the first line; if a column or all rows are missing; if a
        score is not a finite number, a rank of TREC has a fraction, an id is missing, or a document is in a query
        twice. The error names the line or the row. Also if a gzip file unpacks to more than 1 GiB and more than 100
        times its size, two columns may have one role, or numbers may be ranks or scores.
    TypeError
        If columns have no known names, numbers are text, or the source is not a file or a table.
    ImportError
        If a file of CSV, Parquet or Arrow is given and pyarrow is not installed.

    Warns
    -----
    RankingWarning
        If ranks of TREC rise with scores in all queries.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_run
    >>> read_run(io.BytesIO(b"q1 Q0 d2 1 0.9 me\nq1 Q0 d1 2 0.5 me\n")).value
    array([0.9, 0.5])
    >>> read_run(io.BytesIO(b'{"q1": {"d2": 0.9, "d1": 0.5}}')).value
    array([0.9, 0.5])
    >>> read_run(io.BytesIO(b"q1\td2\t1\nq1\td1\t2\n")).value
    array([-1., -2.])
    >>> table = {"topic": [1, 1, 2], "page": [7, 8, 7], "bm25": [0.5, 0.4, 0.1]}
    >>> read_run(table, value="bm25", doc_id="page")
    Entries of 3 rows and 2 queries
    """
    return _read("read_run", "run", source, Roles(qid, doc_id, value), format, duplicates, separator, n_jobs)


@named_arguments
@described_as(read_run)
def read_qrels(
    source: Any, *, value: str | bool | None = None, qid: str | Sequence[str] | None = None, doc_id: str | None = None,
    format: str | None = None, duplicates: str = "raise", separator: str | None = None, n_jobs: int | None = None,
) -> Entries:  # fmt: skip
    r"""Read judgments (qrels) from a file, whose format is recognized by its first line, or from a table in memory.

    The formats are those of `read_run`: TREC, ``query iteration document relevance``, whose iteration is not used;
    BEIR's ``qrels/test.tsv`` with its header; three fields, ``query document relevance``; two fields, ``query
    document``, of relevant documents (MS MARCO); JSON ``{query: {document: grade}}`` or ``{query: [relevant
    documents]}``; and tables.

    Parameters
    ----------
    value : str or False, default=None
        Column of relevance. False: each row is a relevant document, or an item that a user took, with grade 1. None: a
        column with a known name. Without such a column the default is False, and an error if another column may have
        grades: a column of numbers, or of two to ten different texts, that is not an id or a time.
    format : {"trec"}, default=None
        "trec": lines of TREC, even if the first line looks like JSON, because its query begins with a bracket. None:
        recognized.
    duplicates : {"raise", "first", "nonrelevant"}, default="raise"
        Treatment of a document that is in a query twice: raise an error; the others take its row with the highest
        relevance.

    Returns
    -------
    Entries
        With the relevance as value. See `join` and `sklearn_rank.evaluate_run`.

    Raises
    ------
    ValueError
        As for `read_run`.
    TypeError
        As for `read_run`.

    Examples
    --------
    >>> import io
    >>> from sklearn_rank.io import read_qrels
    >>> read_qrels(io.BytesIO(b"q1 0 d1 2\nq1\t0\td3\t0\n")).value
    array([2., 0.])
    >>> read_qrels(io.BytesIO(b"query-id\tcorpus-id\tscore\nq1\td1\t2\n"))
    Entries of 1 rows and 1 queries
    >>> read_qrels({"user_id": [1, 1, 2], "item_id": [7, 8, 7]}).value
    array([1., 1., 1.])
    """
    given = Roles(qid, doc_id, value)
    entries = _read("read_qrels", "judgments", source, given, format, duplicates, separator, n_jobs)
    return replace(entries, value=np.ones(len(entries))) if value is False else entries


def _read(
    caller: str, kind: str, source: Any, given: Roles, format: str | None, duplicates: str,
    separator: str | None, n_jobs: int | None,
) -> Entries:  # fmt: skip
    check_n_jobs(n_jobs)
    DUPLICATES("duplicates", duplicates, caller)
    SEPARATOR("separator", separator, caller)
    FORMAT[kind]("format", format, caller)
    value_is_meant, meant = given.value is False, given
    if value_is_meant and kind == "run":
        raise TypeError("value=False is only for read_qrels, where it makes each row relevant. Got it in read_run.")
    given = given._replace(value=None) if value_is_meant else given
    check_names(None, *given.flat())
    if files := files_of(source):
        parts = [_read(caller, kind, file, meant, format, duplicates, separator, n_jobs) for file in files]
        return joined_entries(parts, files, kind, duplicates)
    is_file = isinstance(source, (str, os.PathLike)) or hasattr(source, "read")
    if format == "trec" and (given != USUAL or separator is not None or not is_file):
        raise TypeError(
            "format='trec' reads lines between blanks, without a header: leave out qid=, doc_id=, value= and "
            f"separator=. Got {_named(given, separator)} for {source_name(source)}."
        )
    of_table = partial(
        entries_of_frame, kind=kind, duplicates=duplicates, given=given, format=format, value_is_meant=value_is_meant
    )
    if not is_file:
        return of_table(opened(source, [], [], separator))
    name = source_name(source)
    with open_to_read(source) as file:
        start: bytes = file.peek(HEADER_SIZE)[:HEADER_SIZE]
        if format == "trec":
            return read_lines(complete_lines(file), name, WHAT[TREC[kind]], TREC[kind], duplicates, n_jobs)
        if start.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
            return _of_json(read_bytes(file), name, kind, duplicates, given, format, of_table)
        columns_of = partial(needed, kind=kind, given=given, value_is_meant=value_is_meant)
        if start.startswith(MAGIC):
            return of_table(table_in(file, source, columns_of))
        line = first_line(start.lstrip(b"\r\n"))
        fields, has_header = _fields(line, kind, separator, given)
        _refuse_ranks(fields, format, name)
        if fields is not None and not (has_header and value_is_meant):
            if not has_header:
                fields = _fields_by_content(start, kind, fields, name, value_is_meant)
            words = line.split() if has_header else None
            return _of_lines(complete_lines(file), name, kind, fields, words, duplicates, n_jobs, format)
        words, named = line.split(), [column for column in given.flat() if column is not None]
        of_blanks = len(words) > 1 and _is_header(words, kind, given) and not any(mark in line for mark in SEPARATORS)
        mark = separator or (" " if of_blanks else separator_in(line, named))
        columns = fields_of(line, mark)
        header = None if given != USUAL or _is_header(columns, kind) else _header(columns, kind, name)
        _refuse_ranks(header, format, name)
        if header == QRELS_FIELDS:
            _refuse_ratings(_sampled(start, mark, 4), mark, name)
        with_scores = partial(_ranked, format=format, name=name) if header == FIELDS_OF["run"][3] else None
        found = candidates(header or columns, kind, given)
        table = table_in(file, source, columns_of, [*found.qid, *found.doc_id], mark, header)
        return of_table(table, with_scores=with_scores)


def _refuse_ranks(fields: tuple[str, ...] | None, format: str | None, name: str) -> None:
    if fields == RUN_FIELDS and format == "ranks":
        raise ValueError(
            f"Lines of TREC have a rank and a score, and the score orders documents. Got format='ranks' for {name}."
        )


def _named(given: Roles, separator: str | None) -> str:
    values = dict(zip(("qid", "doc_id", "value", "separator"), (*given, separator), strict=True))
    return ", ".join(f"{name}={echo(value)}" for name, value in values.items() if value is not None) or "no file"


def _of_lines(
    pieces: Iterator[bytes], name: str, kind: str, fields: tuple[str, ...], header: list[str] | None,
    duplicates: str, n_jobs: int | None, format: str | None,
) -> Entries:  # fmt: skip
    """Entries of lines of fields between blanks, whose first line may be their names."""
    what = WHAT.get(fields, f"A file of {kind} that begins as this one")
    if header is None:
        with_scores = partial(_ranked, format=format, name=name) if fields is FIELDS_OF["run"][3] else None
        return read_lines(pieces, name, what, fields, duplicates, n_jobs, with_scores)
    at = value_field(fields)
    roles = Roles(header[0], header[fields.index("document")], None if at < 0 else header[at])
    of_column = partial(as_scores, name=roles.value, format=format) if kind == "run" else None
    entries = read_lines(_without_header(pieces), name, what, fields, duplicates, n_jobs, of_column)
    return replace(entries, columns=roles._asdict())


def _fields(line: str, kind: str, separator: str | None, given: Roles) -> tuple[tuple[str, ...] | None, bool]:
    """Fields of lines between blanks, and whether the first line has their names; None for a table."""
    words = line.split()
    fields = FIELDS_OF[kind].get(len(words))
    # An index without a name leaves the first field of the header empty.
    if separator is not None or line[:1] in [*SEPARATORS]:
        return None, False
    if _is_header(words, kind, given):
        found = candidates(words, kind, given)
        at = fields and (0, fields.index("document"), value_field(fields))
        in_order = at and [*found] == [[] if place < 0 else [words[place]] for place in at]
        return (fields, True) if in_order else (None, False)
    if given != USUAL:
        return None, False
    marks = [mark for mark in SEPARATORS if mark in line]
    has_marks = len(words) < 2 and bool(marks)
    # In "1, a, 0.5" a blank follows each separator.
    has_marks = has_marks or any(all(word.endswith(mark) for word in words[:-1]) for mark in marks)
    if has_marks or any(_is_header(fields_of(line, mark), kind) for mark in SEPARATORS):
        return None, False
    return fields or FIELDS_OF[kind][max(FIELDS_OF[kind])], False


def _is_header(names: Sequence[str], kind: str, given: Roles = USUAL) -> bool:
    has_given = all(name is None or name in names for name in given.flat())
    return has_given and all(candidates(names, kind, given)[:2])


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


def _sampled(start: bytes, mark: str | None, n: int) -> list[list[str]]:
    """Fields of those of the first lines of a file that have `n`."""
    lines = start[:SAMPLED_BYTES].decode("utf-8", "replace").splitlines()
    fields = (line.split(mark) for line in lines[: len(lines) - (len(start) > SAMPLED_BYTES)])
    return [words for words in fields if len(words) == n]


def _fields_by_content(
    start: bytes, kind: str, fields: tuple[str, ...], name: str, value_is_meant: bool
) -> tuple[str, ...]:
    """Fields of lines without a header, where the first lines show others than their number."""
    n = len(start.split(b"\n", 1)[0].split())
    rows, n_rows = _sampled(start, None, n), Counter[str]()
    if kind == "run" and n == len(WITHOUT_TAG):
        are_runs = (row[1].upper() in ("Q0", "0") and row[3].isdecimal() and is_number(row[4]) for row in rows)
        return WITHOUT_TAG if all(are_runs) else fields
    if n == 2 and len(rows) > 2 and not any(map(is_number, rows[0])):
        if any(all(map(is_number, column[1:])) for column in zip(*rows, strict=True)):
            raise ValueError(
                f"The first line of {name} has words, and numbers follow: if it names the columns, pass "
                f"qid={echo(rows[0][0])}, doc_id={echo(rows[0][1])} and value=False, or separator=' ' if it does not. "
                f"Got {' '.join(rows[0])}."
            )
    if n != 4 or not rows:
        return fields
    ranks = []
    for query, *_ in rows:
        n_rows[query] += 1
        ranks.append(str(n_rows[query]))
    # The second field has documents, which a list has once.
    are_documents = max(n_rows.values()) > 1 and len({(query, document) for query, document, *_ in rows}) == len(rows)
    if are_documents and [row[2] for row in rows] == ranks:
        if kind == "run":
            return RANKED
        raise ValueError(f"{WHAT[QRELS_FIELDS]} has documents as third field. Got ranks in {name}: use read_run.")
    if are_documents and kind != "run" and len({(third, fourth) for *_, third, fourth in rows}) == 1:
        if value_is_meant:
            return OF_SMART
        raise ValueError(
            f"The third and the fourth field of {name} are the same in all lines, as in SMART's judgments, whose "
            "first two are query and document: value=False reads them, on the command line --value false."
        )
    if kind != "run":
        _refuse_ratings(rows, None, name)
    return fields


def _refuse_ratings(rows: list[list[str]], mark: str | None, name: str) -> None:
    """Refuse four fields without a header that are user, item, rating and time, by the first lines of the file."""
    if not rows:
        return
    users, items, ratings, times = zip(*rows, strict=True)
    are_times = all(is_number(time) and TIME_STAMPS[0] <= float(time) < TIME_STAMPS[1] for time in times)
    n_ratings, size, distinct = (
        len({*ratings}),
        Counter(users),
        Counter(user for user, _ in {*zip(users, ratings, strict=True)}),
    )
    are_few = n_ratings <= MOST_RATINGS and len(rows) >= LEAST_RATINGS
    repeat = 2 * sum(distinct[user] < n for user, n in size.items()) > len(size)
    count = [*users] == [str(i) for i in range(len(rows))] and len(rows) > 2 and len({*items}) > 1
    if count and not are_times:
        raise ValueError(
            f"The first of four fields in {name} counts the lines, like the index that to_csv() writes: write the file "
            "with index=False and a header."
        )
    are_ratings = n_ratings < len({*items}) and all(map(is_number, ratings)) and (are_few or repeat)
    if are_times or are_ratings:
        why = "the fourth field is a time" if are_times else "the third field repeats, as a rating does"
        sep = echo(mark or r"\s+")
        raise ValueError(
            f"Judgments of TREC are query, iteration, document and relevance. Got lines in {name} that look like "
            f"user, item, rating and time: {why}. io.read_qrels(pandas.read_csv(path, sep={sep}, names=['user_id', "
            "'item_id', 'rating', 'time'])) reads them."
        )


def _ranked(entries: Entries, format: str | None, name: str) -> Entries:
    """The entries of three fields, whose values may be ranks."""
    if format is None:
        grouping = entries.qid._grouping
        starts, value = grouping.indptr, grouping.take(entries.value)
        inside = np.ones(max(len(value) - 1, 0), dtype=bool)
        inside[starts[1:-1] - 1] = False
        step, size = np.diff(value), grouping.sizes
        rank = np.arange(len(value)) - np.repeat(starts[:-1], size) + 1.0
        if (value == rank).all():
            format = "ranks"
        elif (step[inside] > 0).any() and (step[inside] >= 0).all():
            is_open = (value >= 0).all() and (value % 1 == 0).all()
        else:
            by_value = value[np.lexsort((value, np.repeat(np.arange(len(size)), size)))]
            is_open = (step[inside] >= 0).any() and ((by_value == rank).all() or (by_value == rank - 1).all())
        if format is None and is_open:
            raise ValueError(
                "The third field may be a rank or a score: pass format='ranks' or format='scores', or --run-format on "
                "the command line. Got whole numbers that rise by steps, or count in no order, in every query of "
                f"{name}."
            )
    return negated(entries) if format == "ranks" else entries


def _of_json(
    data: bytes, name: str, kind: str, duplicates: str, given: Roles, format: str | None,
    of_table: Callable[[Any], Entries],
) -> Entries:  # fmt: skip
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
    if isinstance(read, dict) and _is_header([*read], kind, given):
        read = _rows_of_columns(read)
    if isinstance(read, list):
        return of_table(_columns_of_rows(read, name, kind, given))
    if given != USUAL:
        raise ValueError(
            "qid=, doc_id= and value= name the keys of rows in JSON, and JSON by query has none. "
            f"Got {_named(given, None)} for {name}."
        )
    if isinstance(read, dict):
        read = {q: {d: _number(v) for d, v in of.items()} if isinstance(of, dict) else of for q, of in read.items()}
    try:
        entries = replace(entries_of(read, kind, duplicates=duplicates, exclude={})[0], _kind=kind)
    except TypeError as error:
        raise extended(error, f"Of another layout: {THREE_COLUMNS.format(EXAMPLE[kind])}") from error
    # Lists have no numbers.
    return negated(entries) if format == "ranks" and entries.doc_id.has_scores else entries


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


def _rows_of_columns(read: dict[str, Any]) -> list[Any]:
    """Rows of an object by column, as to_json() of pandas writes it: {column: {row: value}}; else the one row it is."""
    index = [*column] if isinstance(column := next(iter(read.values())), dict) else []
    if not index or not all(isinstance(one, dict) and [*one] == index for one in read.values()):
        return [read]
    return [{name: column[row] for name, column in read.items()} for row in index]


def _columns_of_rows(rows: list[Any], name: str, kind: str, given: Roles) -> dict[str, Any]:
    """Columns of rows of JSON, those that are not read without entries."""
    wrong = [row for row in rows if not isinstance(row, Mapping)]
    if wrong or not rows:
        got = echo(wrong[0]) if wrong else "none"
        raise ValueError(
            f"Each JSON row must be an object with keys such as qid, doc_id and score. Got {got} in {name}."
        )
    keys = dict.fromkeys(chain.from_iterable(rows))
    listed = [*candidates(keys, kind, given).qid, *(key for key in keys if isinstance(rows[0].get(key), list))]
    known = [key for key in needed(keys, kind, given) or listed if key in keys]
    values = candidates(keys, kind, given).value
    # Other columns are named in errors only: a column of each key of each row may be far larger than the rows.
    columns: dict[str, Any] = dict.fromkeys(keys, ())
    for key in known[:MOST_KEYS_OF_JSON]:
        columns[key] = [_number(row.get(key)) if key in values else row.get(key) for row in rows]
    return columns


def _number(value: Any) -> Any:
    """A number from text in JSON, like all numbers in CSV; anything else unchanged."""
    if isinstance(value, str) and is_number(value):
        return float(value)
    return [*map(_number, value)] if isinstance(value, list) else value
