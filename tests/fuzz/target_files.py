"""Files of any form are read or rejected, and lines and JSON are read as by simple readers."""

import gzip
import io
import json
import tempfile
from pathlib import Path

import numpy as np

from sklearn_rank.io import join, read_qrels, read_run, read_svmlight, read_table

READERS = [
    read_run,
    read_qrels,
    lambda file: read_run(file, duplicates="first", format="scores"),
    lambda file: read_qrels(file, duplicates="nonrelevant", separator=","),
    read_table,
    lambda file: read_run(file, value="score", qid="qid", doc_id="doc_id"),
    read_svmlight,
    lambda file: _joined(read_run(file)),
]
PATH = Path(tempfile.mkdtemp(), "file")


def check(data: bytes) -> None:
    """The first byte chooses the reader, and whether the file is packed, or on disk."""
    if not data:
        return
    read, content = READERS[data[0] % len(READERS)], data[1:]
    packed = gzip.compress(content, mtime=0) if data[0] & 64 else content
    file = io.BytesIO(packed)
    if data[0] & 128:
        PATH.write_bytes(packed)
        file = PATH
    try:
        result = read(file)
    except (ValueError, TypeError) as error:
        assert len(str(error)) < 2000
        return
    if read in (read_run, read_qrels):
        assert len(result.qid) == len(result.doc_id) == len(result.value) > 0
        assert np.isfinite(result.value).all()
        _compare(result, content)


def _compare(result, content: bytes) -> None:
    """Compare entries with an object of JSON, {query: {document: number}}."""
    try:
        mapping = json.loads(content)
        pairs = {(q, d): float(v) for q, of_query in mapping.items() for d, v in of_query.items()}
    except (ValueError, AttributeError, TypeError, RecursionError):
        return
    ids = zip(np.asarray(result.qid).tolist(), np.asarray(result.doc_id).tolist(), strict=True)
    if "mteb_model_meta" not in mapping:
        assert dict(zip(ids, result.value.tolist(), strict=True)) == pairs


def _joined(run):
    """The run as its own judgments, by documents of chunks."""
    judged = read_qrels(io.BytesIO(b"q\td\n"))
    return join(judged, run, document_of=lambda chunk: str(chunk)[:1])
