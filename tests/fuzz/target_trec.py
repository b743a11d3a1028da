"""Files of TREC are read as the simplest reader would read them, or refused."""

import io
import re

import numpy as np

from sklearn_rank._tables.formats import BYTE_ORDER_MARK
from sklearn_rank.io import read_qrels, read_run
from sklearn_rank.io._source import GZIP, OTHER_KINDS

NUMBER = re.compile(rb"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")


def check(data: bytes) -> None:
    """The first byte says whether it is a run."""
    is_run, text = bool(data) and data[0] % 2 == 1, data[1:]
    try:
        entries = (read_run if is_run else read_qrels)(io.BytesIO(text), format="trec", n_jobs=1)
    except ValueError as error:
        assert len(str(error)) < 1000
        assert text.startswith(GZIP) or _rows(text, is_run) is None, error
        return
    if text.startswith(GZIP):
        return
    rows = _rows(text, is_run)
    assert rows is not None, "this must be refused"
    for got, expected in zip(
        (np.asarray(entries.qid), np.asarray(entries.doc_id)), list(zip(*rows, strict=True))[:2], strict=True
    ):
        assert [*map(str, got.tolist())] == [name.decode("utf-8", "surrogateescape") for name in expected]
    assert entries.value.tobytes() == np.array([value for *_, value in rows]).tobytes()


def _rows(text: bytes, is_run: bool) -> list[tuple[bytes, bytes, float]] | None:
    """Query, document and value of each line; None if the file is invalid."""
    if any(re.match(pattern, text[:16]) for pattern in OTHER_KINDS.values()) or b"\0" in text:
        return None
    lines = [fields for line in text.removeprefix(BYTE_ORDER_MARK).split(b"\n") if (fields := line.split())]
    if any(len(fields) != (6 if is_run else 4) or not NUMBER.fullmatch(fields[4 if is_run else 3]) for fields in lines):
        return None
    rows = [(fields[0], fields[2], float(fields[4 if is_run else 3])) for fields in lines]
    if any(abs(value) == np.inf for *_, value in rows) or len({row[:2] for row in rows}) < len(rows):
        return None
    return rows or None
